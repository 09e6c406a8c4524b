/* Universal files: which data sets are read. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_readers.h"
#include "unv_reader.h"

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
static int read_units(unv_reader *r)
{
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

static int read_data(unv_reader *r, int64_t number)
{
    switch (number) {
    case 2411:
    case 781:
        return hx_unv_read_nodes(r);
    case 15:
        return hx_unv_read_short_nodes(r);
    case 2412:
        return hx_unv_read_elements(r, 6);
    case 780:
        return hx_unv_read_elements(r, 8);
    case 2435:
    case 2452:
    case 2467:
    case 2477:
        return hx_unv_read_groups(r, 4);
    case 2417:
    case 2429:
    case 2430:
    case 2432:
        return hx_unv_read_groups(r, 2);
    case 752:
        return pass_groups(r, number);
    case 164:
        return read_units(r);
    case 2420:
        return hx_unv_read_systems(r);
    case 754:
    case 755:
    case 756:
    case 757:
    case 758:
    case 782:
    case 790:
    case 791:
    case 792:
    case 793:
        return name_data(r, number);
    case 747:
    case 772:
    case 776:
    case 788:
    case 789:
    case 1703:
    case 1710:
    case 1716:
    case 2437:
    case 2438:
    case 2448:
    case 2470:
        return read_properties(r, number);
    default:
        return skip_data(r, number);
    }
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

static int name_skins(unv_reader *r)
{
    char word[40];
    for (size_t i = 0; i < r->n_skin && r->has_properties; i++) {
        snprintf(word, sizeof word, "element %lld", (long long)r->skin[i].kind);
        HX_TRY(hx_import_unread(&r->import, HX_UNREAD_CARRIES | HX_UNREAD_MASS, word,
                                r->skin[i].name, r->skin[i].n, r->skin[i].line));
    }
    return HX_OK;
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
    HX_TRY_FAIL(name_skins(&r));
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
