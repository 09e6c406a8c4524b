/* Universal files: which data sets are read. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_readers.h"
#include "unv_reader.h"
#include "word_rows.h"

static int pass_data(unv_reader *r)
{
    int more = 1;
    while (more) HX_TRY(hx_unv_next_line(r, &more));
    return HX_OK;
}

static int skip_data(unv_reader *r, int64_t number)
{
    const size_t n = strlen(r->skipped);
    if (n + 24 < sizeof r->skipped)
        snprintf(r->skipped + n, sizeof r->skipped - n, "%s%lld", n > 0 ? ", " : "",
                 (long long)number);
    return pass_data(r);
}

/* Records supports, loads and constraints of a model, none of which are read. */
static int name_data(unv_reader *r, int64_t number)
{
    char word[40];
    snprintf(word, sizeof word, "data set %lld", (long long)number);
    HX_TRY(hx_import_unread(&r->import, HX_UNREAD_LOAD | HX_UNREAD_SUPPORT, word,
                            "restraints, loads or constraints", 1, r->scan.word_line));
    return pass_data(r);
}

/* Code, description in 20 columns, temperature mode; then factors. No number is converted. */
static int read_units(unv_reader *r, int64_t number)
{
    (void)number;
    char text[21] = "";
    double factor[3] = {0.0}; /* units of length, force and temperature per SI unit */
    int more;
    HX_TRY(hx_unv_next_line(r, &more));
    if (!more) return HX_OK;
    if (strlen(r->line) > 10) snprintf(text, sizeof text, "%.20s", r->line + 10);
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
        text[n - 1] = '\0';
    r->import.units = hx_file_units_of_unv(atoi(r->line), text + strspn(text, " "));
    HX_TRY(hx_notes_add(r->import.notes, HX_NOTE_INFO,
                        "%s:%lld: the file states its units, '%s'; no number is converted",
                        r->scan.path, (long long)r->scan.word_line, text + strspn(text, " ")));
    HX_TRY(hx_unv_next_line(r, &more));
    if (!more) return HX_OK;
    for (char *c = r->line; *c; c++)
        if (*c == 'D' || *c == 'd') *c = 'e';
    if (sscanf(r->line, "%lf %lf %lf", &factor[0], &factor[1], &factor[2]) >= 2)
        hx_file_units_set_factors(&r->import.units, 1.0 / factor[0], 1.0 / factor[1]);
    return pass_data(r);
}

/* An older layout of groups, for which there is no public description. */
static int pass_groups(unv_reader *r, int64_t number)
{
    HX_TRY(hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                        "%s:%lld: data set %lld: groups in a layout that is not read, so they make "
                        "no sets: write data set 2467 instead",
                        r->scan.path, (long long)r->scan.word_line, (long long)number));
    return skip_data(r, number);
}

static int read_properties(unv_reader *r, int64_t number)
{
    r->has_properties = 1;
    return skip_data(r, number);
}

/* Data sets by their numbers; all others are skipped. */
static const struct {
    const char *numbers;
    int (*read)(unv_reader *r, int64_t number);
} data_sets[] = {
    {"2411, 781, 15", hx_unv_read_nodes},
    {"2412, 780", hx_unv_read_elements},
    {"2435, 2452, 2467, 2477, 2417, 2429, 2430, 2432", hx_unv_read_groups},
    {"752", pass_groups},
    {"164", read_units},
    {"2420", hx_unv_read_systems},
    {"754, 755, 756, 757, 758, 782, 790, 791, 792, 793", name_data},
    {"747, 772, 776, 788, 789, 1703, 1710, 1716, 2437, 2438, 2448, 2470", read_properties},
};

static int read_data(unv_reader *r, int64_t number)
{
    char word[24];
    snprintf(word, sizeof word, "%lld", (long long)number);
    for (size_t i = 0; i < sizeof data_sets / sizeof data_sets[0]; i++)
        if (hx_has_word(data_sets[i].numbers, word)) return data_sets[i].read(r, number);
    return skip_data(r, number);
}

static int read_unv_file(unv_reader *r)
{
    int found, more, n;
    int64_t number;
    for (;;) {
        HX_TRY(hx_file_scan_line(&r->scan, r->line, sizeof r->line, &found));
        if (!found) break;
        if (r->line[strspn(r->line, " \t")] == '\0') continue;
        HX_TRY(hx_unv_take_integers(r, 1, 1, &number, &n));
        if (number != -1)
            return HX_FILE_RAISE(&r->scan, "a line of -1, which begins a data set, is expected");
        HX_TRY(hx_unv_next_line(r, &more));
        if (!more) return HX_FILE_RAISE(&r->scan, "the number of a data set is expected");
        HX_TRY(hx_unv_take_integers(r, 1, 1, &number, &n));
        HX_TRY(read_data(r, number));
    }
    if (!r->skipped[0]) return HX_OK;
    return hx_notes_add(r->import.notes, HX_NOTE_DETAIL, "%s: data sets that are not read: %s",
                        r->scan.path, r->skipped);
}

int hx_unv_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK;
    unv_reader r;
    if (conditions) memset(conditions, 0, sizeof *conditions);
    memset(&r, 0, sizeof r);
    memset(mesh, 0, sizeof *mesh);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    HX_TRY_FAIL(hx_file_scan_open(&r.scan, path));
    HX_TRY_FAIL(read_unv_file(&r));
    HX_TRY_FAIL(hx_unv_check_systems(&r));
    HX_TRY_FAIL(hx_unv_resolve_members(&r));
    HX_TRY_FAIL(hx_unv_name_groups(&r));
    HX_TRY_FAIL(hx_unv_note_groups(&r));
    char word[40];
    for (size_t i = 0; i < r.n_skin && r.has_properties; i++) {
        snprintf(word, sizeof word, "element %lld", (long long)r.skin[i].kind);
        HX_TRY_FAIL(hx_import_unread(&r.import, HX_UNREAD_CARRIES | HX_UNREAD_MASS, word,
                                     r.skin[i].name, r.skin[i].n, r.skin[i].line));
    }
    HX_TRY_FAIL(hx_import_finish(&r.import, mesh));
    hx_import_give_unread(&r.import, conditions);
fail:
    hx_file_scan_free(&r.scan);
    hx_import_free(&r.import);
    hx_numbers_free(&r.cell_number);
    hx_numbers_free(&r.cell_corner);
    free(r.member);
    free(r.skin);
    free(r.system);
    free(r.use);
    for (size_t i = 0; i < r.n_group; i++) free(r.group[i].name);
    free(r.group);
    return rc;
}
