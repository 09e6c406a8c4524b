#include "mesh_readers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "ansys_reader.h"
#include "mesh_import_internal.h"
#include "word_rows.h"

/* --- nodes --- */

static int add_node(hx_ansys_reader *r, int64_t number, const double x[6])
{
    const int is_rotated = x[3] != 0.0 || x[4] != 0.0 || x[5] != 0.0;
    if (is_rotated) HX_TRY(hx_numbers_append(&r->rotated, 1, &number));
    return hx_import_add_nodes(&r->import, 1, &number, x, r->line);
}

/* Number, two fields of the solid model, x, y, z, angles; zeros at the end may be omitted. */
static int read_nblock(hx_ansys_reader *r)
{
    hx_ansys_layout l;
    HX_TRY(hx_ansys_layout_read(r, "NBLOCK", &l));
    if (l.n_real < 3) return HX_ANSYS_RAISE(r, "the format of NBLOCK lacks three coordinates");
    for (;;) {
        double x[6] = {0.0};
        int64_t number;
        HX_TRY(hx_ansys_need_line(r, "NBLOCK"));
        if (hx_ansys_is_end(r)) return HX_OK;
        HX_TRY(hx_ansys_int(r, &l, 0, &number));
        for (int k = 0; k < 6 && k < l.n_real; k++) HX_TRY(hx_ansys_real(r, &l, k, &x[k]));
        HX_TRY(add_node(r, number, x));
    }
}

static int take_real(hx_ansys_reader *r, int k, double *value)
{
    char word[HX_ANSYS_WORD];
    if (hx_ansys_number(r, k, value)) return HX_OK;
    return HX_ANSYS_RAISE(r,
                          "'%.*s' where a number is expected; only ANSYS evaluates expressions: "
                          "write the archive in ANSYS with CDWRITE,DB",
                          HX_ANSYS_SHOWN, hx_ansys_word(r, k, word));
}

/* N,number,x,y,z,angles; or, unblocked, N,R5.3,LOC,number,,,x,y,z and N,R5.3,ANG,... */
static int read_n(hx_ansys_reader *r)
{
    double x[6] = {0.0};
    int64_t number;
    char word[HX_ANSYS_WORD];
    const int is_unblocked = hx_ansys_is(r, 2, "LOC") || hx_ansys_is(r, 2, "ANG");
    const int first = is_unblocked ? 6 : 2;
    HX_TRY(hx_ansys_integer(r, is_unblocked ? 3 : 1, &number));
    if (number < 0) return HX_OK; /* ends a block */
    for (int k = 0; k < (is_unblocked ? 3 : 6); k++) HX_TRY(take_real(r, first + k, &x[k]));
    if (hx_ansys_is(r, 2, "ANG"))
        return x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0
                   ? hx_numbers_append(&r->rotated, 1, &number)
                   : HX_OK;
    if (!is_unblocked && (r->csys || !*hx_ansys_word(r, 1, word) || hx_ansys_is_nested(r)))
        return HX_ANSYS_RAISE(
            r, "N without a number, in a coordinate system other than the global one or within a "
               "loop is not read: write the archive in ANSYS with CDWRITE,DB");
    return add_node(r, number, x);
}

/* NROTAT,node,NEND,NINC and NANG,node rotate the coordinate systems of nodes. */
static int read_nrotat(hx_ansys_reader *r)
{
    double first, last, step;
    const hx_numbers *const all = &r->import.node_number;
    const int is_range = hx_ansys_is_command(r, "NROTAT");
    int is_one = hx_ansys_number(r, 1, &first) && first >= 1.0 && !hx_ansys_is(r, 1, "");
    is_one = hx_ansys_number(r, 2, &last) && hx_ansys_number(r, 3, &step) && is_one;
    if (is_one && (!is_range || last < first)) {
        const int64_t number = (int64_t)first;
        return hx_numbers_append(&r->rotated, 1, &number);
    }
    /* the nodes are a range or selection, any of which may be rotated */
    for (int64_t i = 0; i < all->n; i++) {
        const int64_t number = hx_numbers_get(all, i);
        if (!is_one || ((double)number >= first && (double)number <= last))
            HX_TRY(hx_numbers_append(&r->rotated, 1, &number));
    }
    return HX_OK;
}

/* NMODIF,node,x,y,z,angles: angles without coordinates rotate the node's coordinate system. */
static int read_nmodif(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    for (int k = 2; k < 5; k++)
        if (*hx_ansys_word(r, k, word))
            return HX_ANSYS_RAISE(r, "NMODIF moves nodes within ANSYS and is not read: write the "
                                     "archive in ANSYS, after this command, with CDWRITE,DB");
    return read_nrotat(r);
}

/* --- components --- */

/* A negative number ends a range that starts at the previous number. */
static int component_member(hx_ansys_reader *r, hx_numbers *list, int64_t n_all, int64_t value)
{
    if (value >= 0) return hx_numbers_append(list, 1, &value);
    const int64_t first = list->n > 0 ? hx_numbers_get(list, list->n - 1) + 1 : -1;
    if (first < 1 || -value < first || -value - first >= n_all)
        return HX_ANSYS_RAISE(r, "%lld does not end a range of numbers that the file has",
                              (long long)value);
    return hx_numbers_append_run(list, -value - first + 1, first);
}

/* Components of keypoints, lines, areas and volumes are geometry. */
static int is_geometry(const char *word)
{
    static const char *const kind[] = {"KP", "LINE", "AREA", "VOLU"};
    for (int i = 0; i < 4; i++)
        if (strncasecmp(word, kind[i], strlen(kind[i])) == 0) return 1;
    return 0;
}

/* CMBLOCK,NAME,NODE,count */
static int read_cmblock(hx_ansys_reader *r)
{
    char name[HX_ANSYS_WORD], word[HX_ANSYS_WORD];
    hx_ansys_layout l;
    int64_t n;
    hx_import_set *set;
    hx_ansys_word(r, 1, name);
    const int is_elem = strncasecmp(hx_ansys_word(r, 2, word), "ELEM", 4) == 0;
    const int is_other = is_geometry(word);
    if (!name[0] || (!is_elem && !is_other && strncasecmp(word, "NODE", 4) != 0))
        return HX_ANSYS_RAISE(r, "CMBLOCK needs a name and NODE or ELEM");
    HX_TRY(hx_ansys_integer(r, 3, &n));
    HX_TRY(hx_ansys_layout_read(r, "CMBLOCK", &l));
    if (is_other) {
        for (int64_t i = 0; i < n; i += l.n_int) HX_TRY(hx_ansys_need_line(r, "CMBLOCK"));
        return hx_notes_add(r->notes, HX_NOTE_DETAIL,
                            "%s: component '%.60s' contains geometry and is left out",
                            r->import.path, name);
    }
    HX_TRY(hx_import_set_named(&r->import, name, &set));
    const int64_t n_all = is_elem ? r->import.n_elem + INT16_MAX : r->import.n_node;
    for (int64_t i = 0; i < n; i++) {
        int64_t value;
        if (i % l.n_int == 0) HX_TRY(hx_ansys_need_line(r, "CMBLOCK"));
        HX_TRY(hx_ansys_int(r, &l, (int)(i % l.n_int), &value));
        if (value == 0)
            return HX_ANSYS_RAISE(r, "component '%.60s' has fewer than %lld numbers", name,
                                  (long long)n);
        HX_TRY(component_member(r, is_elem ? &set->elem : &set->node, n_all, value));
    }
    return HX_OK;
}

/* --- commands --- */

/* TYPE, REAL and CSYS: the number applies to the commands that follow. */
static int read_current(hx_ansys_reader *r)
{
    double value;
    const int is_known = hx_ansys_number(r, 1, &value);
    if (hx_ansys_is_command(r, "TYPE")) r->current_type = is_known ? (int64_t)value : 0;
    if (hx_ansys_is_command(r, "MAT")) r->current_material = is_known ? (int64_t)value : 0;
    if (hx_ansys_is_command(r, "REAL")) r->current_real = is_known ? (int64_t)value : 0;
    if (hx_ansys_is_command(r, "CSYS")) r->csys = !is_known || value != 0.0;
    return HX_OK;
}

/* LOCAL,n,... and similar commands make a coordinate system and activate it. */
static int read_local(hx_ansys_reader *r)
{
    r->csys = 1;
    return HX_OK;
}

typedef struct command {
    const char *names;
    int (*take)(hx_ansys_reader *r);
} command;

static const command commands[] = {
    {"NBLOCK", read_nblock},
    {"EBLOCK", hx_ansys_eblock},
    {"CMBLOCK", read_cmblock},
    {"KEYOPT", hx_ansys_keyopt},
    {"ETBLOCK", hx_ansys_etblock},
    {"ET", hx_ansys_et},
    {"N", read_n},
    {"EN", hx_ansys_en},
    {"E", hx_ansys_e},
    {"EMORE", hx_ansys_emore},
    {"D, F", hx_ansys_condition},
    {"DDELE, FDELE", hx_ansys_delete},
    {"DBLOCK", hx_ansys_dblock},
    {"DCUM, FCUM", hx_ansys_cum},
    {"CMSEL", hx_ansys_cmsel},
    {"NSEL, NSLE, NSLA, NSLV, NSLL, NSLK", hx_ansys_nsel},
    {"ALLSEL", hx_ansys_allsel},
    {"ESEL, ESLN, ESLA, ESLV, ESLL", hx_ansys_esel},
    {"CM", hx_ansys_cm},
    {"TYPE, REAL, CSYS, MAT", read_current},
    {"LOCAL, CLOCAL, CS, CSKP, CSWPLA", read_local},
    {"R, RMODIF", hx_ansys_constants},
    {"RLBLOCK", hx_ansys_rlblock},
    {"NROTAT, NANG", read_nrotat},
    {"NMODIF", read_nmodif},
    {"MP", hx_ansys_mp},
    {"MPDATA", hx_ansys_mpdata},
    {"MPDELE", hx_ansys_mpdele},
    {"TB", hx_ansys_tb},
};

/* /EOF, /EXIT and *RETURN end the file. In an undecided branch or loop, this is recorded as unread.
 * *GO and *IF,...,:label jump, and *REPEAT runs the previous command with other numbers. */
static int follow_end(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    for (const char *at = "/EOF, /EXIT, *RETURN"; hx_next_word(&at, word);) {
        if (!hx_ansys_is_command(r, word)) continue;
        if (hx_ansys_is_nested(r))
            return hx_ansys_unread(r, HX_UNREAD_CARRIES, word, "an end of the file in a branch",
                                   r->line);
        r->is_over = 1;
    }
    if (hx_ansys_is_command(r, "*GO"))
        return hx_ansys_unread(r, HX_UNREAD_CARRIES, "*GO", "a branch to a label", r->line);
    if (hx_ansys_is_command(r, "*REPEAT"))
        return hx_ansys_unread(r, HX_UNREAD_CARRIES, "*REPEAT", "a command that is repeated",
                               r->line);
    hx_ansys_word(r, 4, word);
    if (hx_ansys_is_command(r, "*IF") && (word[0] == ':' || strcasecmp(word, "STOP") == 0))
        return hx_ansys_unread(r, HX_UNREAD_CARRIES, "*IF", "a branch to a label", r->line);
    return HX_OK;
}

/* NAME=value, where the "=" comes before any comma; or *SET,NAME,value */
static int read_assignment(hx_ansys_reader *r, int *taken)
{
    char name[HX_ANSYS_WORD], value[HX_ANSYS_WORD];
    hx_ansys_word(r, 0, name);
    *taken = 1;
    if (strcasecmp(name, "*GET") == 0 && hx_ansys_is(r, 2, "ACTIVE") && hx_ansys_is(r, 4, "INT"))
        return hx_ansys_assign_session(r, hx_ansys_word(r, 1, name));
    if (strcasecmp(name, "*GET") == 0 || strcasecmp(name, "*DO") == 0 ||
        strcasecmp(name, "*ASK") == 0)
        /* a value that only ANSYS can compute */
        return hx_ansys_assign(r, hx_ansys_word(r, 1, name), "");
    if (strcasecmp(name, "*SET") == 0)
        return hx_ansys_assign(r, hx_ansys_word(r, 1, name), hx_ansys_word(r, 2, value));
    char *const equals = strchr(name, '=');
    *taken = equals && name[0] != '/' && name[0] != '*';
    if (!*taken) return HX_OK;
    snprintf(value, sizeof value, "%s", equals + 1 + strspn(equals + 1, " \t"));
    *equals = '\0';
    name[strcspn(name, " \t")] = '\0';
    return hx_ansys_assign(r, name, value);
}

static int read_command(hx_ansys_reader *r)
{
    int taken;
    char name[HX_LISTED_WORD];
    const char *const text = r->command + strspn(r->command, " \t");
    if (!*text || *text == '!') return HX_OK;
    if (hx_ansys_follow_branches(r)) return HX_OK;
    if (r->in_creation) return HX_OK; /* a macro, which is not executed */
    HX_TRY(follow_end(r));
    if (r->is_over) return HX_OK;
    if (!hx_ansys_is_command(r, "EN") && !hx_ansys_is_command(r, "EMORE"))
        HX_TRY(hx_ansys_close_element(r));
    HX_TRY(read_assignment(r, &taken));
    if (taken) return HX_OK;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (const char *at = commands[i].names; hx_next_word(&at, name);)
            if (hx_ansys_is_command(r, name)) return commands[i].take(r);
    return hx_ansys_other_command(r);
}

/* Handles the commands of a line, which are separated by "$"; a title may contain a "$". A command
 * that reads further lines, such as EBLOCK, replaces r->text and must be the last one. */
static int read_commands(hx_ansys_reader *r)
{
    const char first = r->text[strspn(r->text, " \t")];
    const int may_hold_several = first != '/' && first != '*' && first != '!';
    const int64_t line = r->line;
    r->command = r->text;
    while (may_hold_several) {
        char *const end = strchr(r->command, '$');
        if (!end) break;
        *end = '\0';
        HX_TRY(read_command(r));
        if (r->is_over) return HX_OK;
        if (r->line != line)
            return HX_IMPORT_RAISE(&r->import, line,
                                   "a command that takes the lines after it is followed by another "
                                   "command after \"$\": write each on a line of its own");
        r->command = end + 1;
    }
    HX_TRY(read_command(r));
    return r->line == line ? hx_ansys_skip_format(r) : HX_OK;
}

static int read_ansys(hx_ansys_reader *r)
{
    int found = 1;
    const char *why;
    r->stream = hx_input_open(r->import.path, &why);
    if (!r->stream) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", r->import.path, why);
    HX_TRY(hx_alloc(&r->type, HX_ANSYS_NUMBERS, sizeof *r->type, "types of elements"));
    HX_TRY(hx_alloc(&r->option, HX_ANSYS_NUMBERS, sizeof *r->option, "types of elements"));
    HX_TRY(hx_alloc(&r->solids, HX_ANSYS_NUMBERS, sizeof *r->solids, "types of elements"));
    HX_TRY(hx_alloc(&r->has_constants, HX_ANSYS_NUMBERS, 1, "sets of real constants"));
    while (found && !r->is_over) {
        if (!r->is_kept) HX_TRY(hx_ansys_line(r, &found));
        r->is_kept = 0;
        if (found) HX_TRY(read_commands(r));
    }
    HX_TRY(hx_ansys_close_element(r));
    HX_TRY(hx_ansys_finish_loads(r));
    HX_TRY(hx_ansys_finish_unread(r));
    return hx_ansys_name_solids(r);
}

int hx_ansys_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc;
    hx_ansys_reader r = {.notes = notes,
                         .current_type = 1,
                         .current_material = 1,
                         .cumulate = {{HX_ANSYS_REPLACE, 1.0}, {HX_ANSYS_REPLACE, 1.0}},
                         .uniform = NAN,
                         .reference = NAN};
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.shape_hint = "SOLID185, SOLID186, SOLID187, SOLID285 and similar elements";
    r.import.empty_hint = "CDWRITE,DB writes nodes and elements as NBLOCK and EBLOCK";
    HX_TRY_FAIL(read_ansys(&r));
    HX_TRY_FAIL(hx_ansys_name_materials(&r));
    HX_TRY_FAIL(hx_import_finish(&r.import, mesh));
    HX_TRY_FAIL(hx_import_conditions_finish(&r.conditions, &r.import, mesh, conditions));
    if (conditions) HX_TRY_FAIL(hx_ansys_find_material(&r, &conditions->material));
fail:
    if (rc < 0) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    if (r.stream) fclose(r.stream);
    free(r.text);
    free(r.type);
    free(r.option);
    free(r.solids);
    hx_materials_free(&r.materials);
    free(r.has_constants);
    free(r.parameter);
    free(r.chosen);
    free(r.entry);
    hx_numbers_free(&r.rotated);
    hx_import_free(&r.import);
    hx_import_conditions_free(&r.conditions);
    return rc;
}
