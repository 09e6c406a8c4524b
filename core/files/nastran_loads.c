/* Supports and loads of Nastran bulk data, and the selections of the subcases. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "nastran_reader.h"

/* --- case control --- */

static int64_t number_behind(const char *text)
{
    text += strcspn(text, "=0123456789");
    if (*text == '=') text++;
    return strtoll(text, NULL, 10);
}

static int open_case(hx_nastran_reader *r, int64_t number)
{
    HX_TRY(hx_grow(&r->list, r->n_case, &r->case_capacity, sizeof *r->list, "subcases"));
    r->list[r->n_case] = r->all;
    r->list[r->n_case].line = r->scan.line;
    r->list[r->n_case++].number = number;
    return HX_OK;
}

/* STEP of SOL 400: each step is a load case. The first step is the subcase itself, with the
 * selections stated above it; later steps begin with these selections. */
static int open_step(hx_nastran_reader *r, int64_t number)
{
    if (r->n_case == 0) HX_TRY(open_case(r, 1));
    const hx_nastran_case *const last = &r->list[r->n_case - 1];
    if (last->step == 0) {
        r->above_steps = *last;
    } else {
        HX_TRY(open_case(r, last->number));
        r->list[r->n_case - 1] = r->above_steps;
    }
    r->list[r->n_case - 1].step = number;
    r->list[r->n_case - 1].line = r->scan.line;
    return HX_OK;
}

/* Words may be abbreviated to four characters. */
static int is_word(const char *text, const char *word)
{
    enum { SIGNIFICANT = 4 };
    size_t n = 0;
    while (isalnum((unsigned char)text[n])) n++;
    return strncasecmp(text, word, n) == 0 && (n == strlen(word) || n >= SIGNIFICANT);
}

/* Text after the word: with or without "=", and after options in parentheses. */
static const char *value_behind(const char *text)
{
    text += strcspn(text, "( \t=,");
    text += strspn(text, " \t");
    if (*text == '(') text += strcspn(text, ")");
    return text + strspn(text, ") \t=,");
}

/* SOL 101 */
static void take_solution(hx_nastran_reader *r, const char *text)
{
    text += strcspn(text, " \t=");
    text += strspn(text, " \t=");
    snprintf(r->solution, sizeof r->solution, "%.*s", (int)strcspn(text, " \t,\r"), text);
    r->solution_line = r->scan.line;
}

/* ANALYSIS = STATICS, or another analysis, in which case the subcase is left out. */
static int is_static_word(const char *text)
{
    static const char *const word[] = {"STAT", "LINSTAT", "NLSTAT", "SESTAT"};
    const char *const value = value_behind(text);
    for (int i = 0; i < 4; i++)
        if (strncasecmp(value, word[i], strlen(word[i])) == 0) return 1;
    return 0;
}

/* Marks a subcase as a modal, buckling or response analysis. */
static void take_analysis(hx_nastran_reader *r, hx_nastran_case *here, const char *text)
{
    static const char *const other[] = {"METHOD",    "CMETHOD", "TSTEP",
                                        "FREQUENCY", "FREQ",    "STATSUB"};
    if (is_word(text, "ANALYSIS")) here->is_other = !is_static_word(text);
    for (size_t i = 0; i < sizeof other / sizeof other[0] && r->n_case > 0; i++)
        if (is_word(text, other[i]) && strcmp(r->solution, "101") != 0) here->is_other = 1;
}

/* SPC = 1 */
static void take_set(hx_nastran_reader *r, const char *text, int64_t *sid, int64_t *line)
{
    *sid = number_behind(text);
    *line = r->scan.line;
}

/* INREL = -2, and PARAM,INREL,-1: inertia relief; 0 is none. */
static void take_relief(hx_nastran_reader *r, const char *text)
{
    r->relief_line = strtol(value_behind(text), NULL, 10) != 0 ? r->scan.line : 0;
}

/* PARAM,LGDISP,1 */
static void take_control_param(hx_nastran_reader *r, const char *text)
{
    text += 5 + strspn(text + 5, " \t,");
    if (is_word(text, "INREL")) take_relief(r, text);
    if (!is_word(text, "LGDISP")) return;
    r->large_line = strtol(value_behind(text), NULL, 10) > 0 ? r->scan.line : 0;
}

/* TEMPERATURE(LOAD) = 3. Only the temperature load counts, not the initial temperature or that for
 * material properties. */
static void take_temperature(hx_nastran_reader *r, hx_nastran_case *here, const char *text)
{
    if (!is_word(text, "TEMPERATURE")) return;
    const char *choice = text + strcspn(text, "(= \t");
    choice += strspn(choice, "( \t");
    const int is_other = strncasecmp(choice, "INIT", 4) == 0 || strncasecmp(choice, "MATE", 4) == 0;
    if (is_other && here->temperature > 0) return;
    take_set(r, text, &here->temperature, &here->temperature_line);
}

/* Records nested cases, which are not read. */
static int lose_cases(hx_nastran_reader *r, const char *text)
{
    static const char *const word[] = {"SUBCOM", "SUBSEQ", "SUBSTEP", "SYM", "SYMCOM", "SYMSEQ"};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        const size_t n = strlen(word[i]);
        if (strncasecmp(text, word[i], n) == 0 && !isalnum((unsigned char)text[n]))
            HX_TRY(hx_nastran_lose(r, word[i]));
    }
    return HX_OK;
}

int hx_nastran_read_control(hx_nastran_reader *r)
{
    char line[HX_NASTRAN_LINE];
    int found;
    for (;;) {
        HX_TRY(hx_nastran_control(&r->scan, line, sizeof line, &found));
        if (!found) return HX_OK;
        const char *const text = line + strspn(line, " \t");
        hx_nastran_case *const here = r->n_case > 0 ? &r->list[r->n_case - 1] : &r->all;
        r->has_control = 1;
        /* SUBCASE may be abbreviated, but not to an abbreviation of SUBCOM */
        if (strncasecmp(text, "SUBCA", 5) == 0 && is_word(text, "SUBCASE"))
            HX_TRY(open_case(r, number_behind(text)));
        if (is_word(text, "STEP")) HX_TRY(open_step(r, number_behind(text)));
        if (is_word(text, "SPC")) take_set(r, text, &here->spc, &here->spc_line);
        if (is_word(text, "LOAD")) take_set(r, text, &here->load, &here->load_line);
        if (is_word(text, "MPC")) take_set(r, text, &here->mpc, &here->mpc_line);
        if (is_word(text, "SOL")) take_solution(r, text);
        take_temperature(r, here, text);
        if (is_word(text, "INREL")) take_relief(r, text);
        HX_TRY(lose_cases(r, text));
        if (is_word(text, "NLPARM")) r->nlparm_line = r->scan.line;
        if (is_word(text, "PARAM")) take_control_param(r, text);
        take_analysis(r, here, text);
    }
}

/* --- supports --- */

int hx_nastran_components(hx_nastran_reader *r, const char *word, unsigned *components)
{
    *components = 0;
    for (const char *c = word; *c; c++) {
        if (*c < '0' || *c > '6')
            return HX_NASTRAN_RAISE(&r->scan, "components '%s'; digits 1 to 6 are expected", word);
        if (*c >= '1' && *c <= '3') *components |= 1u << (*c - '1');
    }
    return HX_OK;
}

int hx_nastran_add_support(hx_nastran_reader *r, int64_t sid, int64_t node, unsigned components,
                           double value)
{
    if (components == 0) return HX_OK; /* only rotations, which nodes of solids do not have */
    HX_TRY(
        hx_grow(&r->support, r->n_support, &r->support_capacity, sizeof *r->support, "supports"));
    r->support[r->n_support++] =
        (hx_nastran_support){sid, r->scan.line, node, 0, components, value};
    return HX_OK;
}

static int read_sid(hx_nastran_reader *r, int64_t *sid)
{
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, sid));
    if (*sid > 0) return HX_OK;
    return HX_NASTRAN_RAISE(&r->scan, "the number of a set is expected");
}

/* Reads the set of a support and records that the deck has it. */
static int read_support_set(hx_nastran_reader *r, int64_t *sid)
{
    hx_numbers *const list = &r->support_set;
    HX_TRY(read_sid(r, sid));
    if (list->n > 0 && hx_numbers_get(list, list->n - 1) == *sid) return HX_OK;
    return hx_numbers_append(list, 1, sid);
}

/* SID, G1, C1, D1, G2, C2, D2 */
int hx_nastran_take_spc(hx_nastran_reader *r)
{
    int64_t sid, node;
    unsigned components;
    double value;
    HX_TRY(read_support_set(r, &sid));
    for (size_t k = 1; k <= 4; k += 3) {
        HX_TRY(hx_nastran_int(&r->scan, k, 0, &node));
        HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, k + 1), &components));
        HX_TRY(hx_nastran_real(&r->scan, k + 2, 0.0, &value));
        if (node > 0) HX_TRY(hx_nastran_add_support(r, sid, node, components, value));
    }
    return HX_OK;
}

/* SID, C, G1, G2, ... or SID, C, G1, THRU, G2 */
int hx_nastran_take_spc1(hx_nastran_reader *r)
{
    int64_t sid, node = 0, last;
    unsigned components;
    HX_TRY(read_support_set(r, &sid));
    HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, 1), &components));
    for (size_t i = 2; i < r->scan.n_field; i++) {
        if (!*hx_nastran_text(&r->scan, i)) continue;
        if (strcasecmp(hx_nastran_text(&r->scan, i), "THRU") != 0) {
            HX_TRY(hx_nastran_int(&r->scan, i, 0, &node));
            HX_TRY(hx_nastran_add_support(r, sid, node, components, 0.0));
            continue;
        }
        HX_TRY(hx_nastran_int(&r->scan, i + 1, -1, &last));
        if (last < node || node < 1)
            return HX_NASTRAN_RAISE(&r->scan, "%lld THRU %lld", (long long)node, (long long)last);
        if (components) r->support[r->n_support - 1].last = last;
        i++;
    }
    return HX_OK;
}

static int add_part(hx_nastran_reader *r, int64_t of, int64_t sid, double factor)
{
    HX_TRY(hx_grow(&r->part, r->n_part, &r->part_capacity, sizeof *r->part, "sets of sets"));
    r->part[r->n_part++] = (hx_nastran_part){of, sid, r->scan.line, factor};
    return HX_OK;
}

/* SID, S1, S2, ... */
int hx_nastran_take_spcadd(hx_nastran_reader *r)
{
    int64_t sid, other;
    HX_TRY(read_sid(r, &sid));
    for (size_t i = 1; i < r->scan.n_field; i++) {
        HX_TRY(hx_nastran_int(&r->scan, i, 0, &other));
        /* a negative number separates it from the numbers of loads */
        if (other > 0) HX_TRY(add_part(r, -sid, -other, 1.0));
    }
    return HX_OK;
}

/* SID, S1, S2, ... */
int hx_nastran_take_mpcadd(hx_nastran_reader *r)
{
    int64_t sid, other;
    HX_TRY(hx_nastran_lose(r, r->scan.name));
    HX_TRY(read_sid(r, &sid));
    for (size_t i = 1; i < r->scan.n_field; i++) {
        HX_TRY(hx_nastran_int(&r->scan, i, 0, &other));
        if (other < 1) continue;
        HX_TRY(hx_grow(&r->mpc_part, r->n_mpc_part, &r->mpc_part_capacity, sizeof *r->mpc_part,
                       "sets of sets"));
        r->mpc_part[r->n_mpc_part++] = (hx_nastran_part){sid, other, r->scan.line, 1.0};
    }
    return HX_OK;
}

/* --- loads --- */

static int add_nastran_load(hx_nastran_reader *r, const hx_nastran_load *load)
{
    HX_TRY(hx_grow(&r->load, r->n_load, &r->load_capacity, sizeof *r->load, "loads"));
    r->load[r->n_load] = *load;
    r->load[r->n_load++].line = r->scan.line;
    return HX_OK;
}

/* SID, G, CID, F, N1, N2, N3 */
int hx_nastran_take_force(hx_nastran_reader *r)
{
    hx_nastran_load load = {.kind = HX_NASTRAN_FORCE};
    int64_t system;
    double size;
    HX_TRY(read_sid(r, &load.sid));
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &load.node[0]));
    HX_TRY(hx_nastran_int(&r->scan, 2, 0, &system));
    HX_TRY(hx_nastran_real(&r->scan, 3, 0.0, &size));
    for (size_t d = 0; d < 3; d++) {
        HX_TRY(hx_nastran_real(&r->scan, 4 + d, 0.0, &load.value[d]));
        load.value[d] *= size;
    }
    return system == 0 ? add_nastran_load(r, &load)
                       : hx_nastran_lose(r, "FORCE of a coordinate system");
}

/* SID, P, G1, G2, G3, G4 */
int hx_nastran_take_pload(hx_nastran_reader *r)
{
    hx_nastran_load load = {.kind = HX_NASTRAN_PLOAD};
    HX_TRY(read_sid(r, &load.sid));
    HX_TRY(hx_nastran_real(&r->scan, 1, 0.0, &load.value[0]));
    for (size_t k = 0; k < 4; k++) {
        HX_TRY(hx_nastran_int(&r->scan, 2 + k, 0, &load.node[k]));
        if (load.node[k] < 1 && k < 3)
            return HX_NASTRAN_RAISE(&r->scan, "three or four corners are expected");
    }
    return add_nastran_load(r, &load);
}

/* SID, EID, P1, P2, P3, P4, G1, G3 or G4; CID, N1, N2, N3, SORL, LDIR */
int hx_nastran_take_pload4(hx_nastran_reader *r)
{
    hx_nastran_load load = {.kind = HX_NASTRAN_PLOAD4};
    double p;
    HX_TRY(read_sid(r, &load.sid));
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &load.elem));
    HX_TRY(hx_nastran_real(&r->scan, 2, 0.0, &load.value[0]));
    for (size_t k = 3; k < 6; k++) {
        HX_TRY(hx_nastran_real(&r->scan, k, load.value[0], &p));
        if (p < load.value[0] || p > load.value[0])
            return hx_nastran_lose(r, "PLOAD4 that varies over a face");
    }
    for (size_t k = 8; k < r->scan.n_field; k++) {
        const char *const text = hx_nastran_text(&r->scan, k);
        if (*text && strcmp(text, "0") != 0 && (k < 12 || strcasecmp(text, "SURF") != 0) &&
            (k < 12 || strcasecmp(text, "NORM") != 0))
            return hx_nastran_lose(r, "PLOAD4 with a direction");
    }
    if (strcasecmp(hx_nastran_text(&r->scan, 6), "THRU") == 0 || !*hx_nastran_text(&r->scan, 6))
        return hx_nastran_lose(r, "PLOAD4 of shells");
    HX_TRY(hx_nastran_int(&r->scan, 6, 0, &load.node[0]));
    HX_TRY(hx_nastran_int(&r->scan, 7, 0, &load.node[1]));
    return add_nastran_load(r, &load);
}

/* SID, S, S1, L1, S2, L2, ... */
int hx_nastran_take_load(hx_nastran_reader *r)
{
    int64_t sid, other;
    double all, factor;
    HX_TRY(read_sid(r, &sid));
    HX_TRY(hx_nastran_real(&r->scan, 1, 1.0, &all));
    for (size_t i = 2; i + 1 < r->scan.n_field; i += 2) {
        HX_TRY(hx_nastran_real(&r->scan, i, 1.0, &factor));
        HX_TRY(hx_nastran_int(&r->scan, i + 1, 0, &other));
        if (other > 0) HX_TRY(add_part(r, sid, other, all * factor));
    }
    return HX_OK;
}

/* --- what the case control selects --- */

/* Records a component of a node whose displacements are in a coordinate system of its own; a fully
 * held node does not depend on its system. */
static int name_turned(hx_nastran_reader *r, const hx_condition *c, int64_t node)
{
    if (r->turned.n == 0 || (c->components == 7u && c->value == 0.0)) return HX_OK;
    const int64_t at = hx_number_index_find(&r->turned_index, node);
    if (at < 0 || r->turned_named[at]) return HX_OK; /* each node is counted only once */
    r->turned_named[at] = 1;
    return hx_import_unread(&r->import, HX_UNREAD_SUPPORT, "GRID CD",
                            "supports in the coordinate system of a node", 1, c->line);
}

static int is_of_solid(const hx_nastran_reader *r, int64_t node)
{
    return hx_import_node_index(&r->import, node) >= 0 || hx_import_middle(&r->import, node) >= 0;
}

static int add_component(hx_nastran_reader *r, hx_condition *condition, int64_t node)
{
    hx_condition *added;
    if (condition->kind == HX_CONDITION_SUPPORT && is_of_solid(r, node))
        HX_TRY(name_turned(r, condition, node));
    HX_TRY(hx_import_conditions_add(&r->conditions, condition, &added));
    return hx_numbers_append(&added->node, 1, &node);
}

/* G1 THRU G2: adds the nodes that exist in this range; those without an element are counted and
 * left out later, like single ones. */
static int add_range(hx_nastran_reader *r, hx_condition *condition, int64_t first, int64_t last)
{
    for (int64_t i = 0; i < r->import.node_number.n; i++) {
        const int64_t node = hx_numbers_get(&r->import.node_number, i);
        if (node >= first && node <= last) HX_TRY(add_component(r, condition, node));
    }
    return HX_OK;
}

static int add_supports(hx_nastran_reader *r, int64_t sid)
{
    for (size_t i = 0; i < r->n_support; i++) {
        const hx_nastran_support *const s = &r->support[i];
        if (s->sid != sid) continue;
        hx_condition condition = {HX_CONDITION_SUPPORT, s->components, 0, s->line, s->value, {0}};
        HX_TRY(s->last > 0 ? add_range(r, &condition, s->node, s->last)
                           : add_component(r, &condition, s->node));
    }
    return HX_OK;
}

/* Adds a set of supports and the sets that it includes. */
static int add_support_set(hx_nastran_reader *r, int64_t sid)
{
    HX_TRY(add_supports(r, sid));
    for (size_t i = 0; i < r->n_part; i++)
        if (r->part[i].of == -sid) HX_TRY(add_supports(r, -r->part[i].sid));
    return HX_OK;
}

static int add_vector(hx_nastran_reader *r, int step, int64_t line, int64_t node, const double f[3])
{
    for (int d = 0; d < 3; d++) {
        hx_condition condition = {HX_CONDITION_FORCE, 1u << d, step, line, f[d], {0}};
        if (f[d] != 0.0) HX_TRY(add_component(r, &condition, node));
    }
    return HX_OK;
}

/* Adds a pressure in the direction of the normal of n corners (nodes of the mesh). */
static int add_pressure(hx_nastran_reader *r, const hx_mesh *mesh, int step, int64_t line,
                        double pressure, int n, const int32_t *node)
{
    hx_face_pressure unit;
    hx_face_pressure_find(&r->middles, n, node, &unit);
    for (int k = 0; k < n; k++) {
        for (int d = 0; d < 3; d++) unit.corner[k][d] *= pressure;
        HX_TRY(add_vector(r, step, line, hx_mesh_node_number(mesh, node[k]), unit.corner[k]));
        for (int d = 0; d < 3; d++) {
            const hx_file_middle m = {.end = {node[k], node[(k + 1) % n]},
                                      .component = (int16_t)d,
                                      .load_case = (int16_t)step,
                                      .value = pressure * unit.middle[k][d]};
            const hx_file_middle more = {.end = {node[k], node[k]},
                                         .component = (int16_t)d,
                                         .load_case = (int16_t)step,
                                         .is_corner = 1,
                                         .value = pressure * unit.more[k][d]};
            if (m.value != 0.0) HX_TRY(hx_import_conditions_add_middle(&r->conditions, &m));
            if (more.value != 0.0) HX_TRY(hx_import_conditions_add_middle(&r->conditions, &more));
        }
    }
    return HX_OK;
}

/* Records a load on something that is not a solid. It is recorded once, even if several subcases
 * contain it. */
static int name_load(hx_nastran_reader *r, const hx_nastran_load *l, const char *word,
                     const char *what)
{
    hx_nastran_load *const own = &r->load[l - r->load];
    if (own->is_named) return HX_OK;
    own->is_named = 1;
    return hx_import_unread(&r->import, HX_UNREAD_LOAD, word, what, 1, l->line);
}

static int add_pload(hx_nastran_reader *r, const hx_mesh *mesh, int step, const hx_nastran_load *l,
                     double factor)
{
    int32_t node[4];
    const int n = l->node[3] > 0 ? 4 : 3;
    for (int k = 0; k < n; k++) {
        const int64_t index = hx_import_node_index(&r->import, l->node[k]);
        if (index < 0)
            return name_load(r, l, "PLOAD of shells", "on nodes that are not corners of solids");
        node[k] = (int32_t)index;
    }
    return add_pressure(r, mesh, step, l->line, factor * l->value[0], n, node);
}

/* Lists the distinct corners of a face; returns their number. */
static int face_corners(const int32_t *conn, int face, int32_t node[4])
{
    int n = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t a = conn[hx_hex_face[face][k]];
        if (n > 0 && (node[n - 1] == a || node[0] == a)) continue;
        node[n++] = a;
    }
    return n;
}

static int place_in(const int32_t *node, int n, int64_t a)
{
    for (int k = 0; k < n; k++)
        if (node[k] == a) return k;
    return -1;
}

/* Returns 1 if PLOAD4 refers to this face. The face must have corner G1 and, diagonally opposite,
 * G3. For a triangle of a wedge, G1 suffices; a face of a tetrahedron has G1 but not G4. g: nodes
 * of the mesh, -1: none. */
static int is_meant(const int32_t *node, int n, const int64_t g[2], int is_tetrahedron)
{
    const int first = place_in(node, n, g[0]), second = g[1] < 0 ? -1 : place_in(node, n, g[1]);
    if (n < 3 || first < 0) return 0;
    if (is_tetrahedron) return g[1] >= 0 && second < 0;
    if (n == 3) return g[1] < 0;
    return second >= 0 && (first - second == 2 || second - first == 2);
}

static int add_pload4(hx_nastran_reader *r, const hx_mesh *mesh, int step, const hx_nastran_load *l,
                      double factor)
{
    const int64_t elem = hx_import_elem_index(&r->import, l->elem);
    int64_t g[2];
    int n_meant = 0, n = 0;
    int32_t node[4], found[4];
    if (elem < 0) return name_load(r, l, "PLOAD4 of shells", "on elements that are not solids");
    for (int k = 0; k < 2; k++)
        g[k] = l->node[k] > 0 ? hx_import_node_index(&r->import, l->node[k]) : -1;
    const int32_t *const conn = mesh->conn + 8 * elem;
    const int is_tetrahedron = hx_solid_of_cell(conn) == HX_SOLID_TET4;
    for (int f = 0; f < 6; f++) {
        const int n_corner = face_corners(conn, f, node);
        if (!is_meant(node, n_corner, g, is_tetrahedron)) continue;
        n_meant++;
        n = n_corner;
        memcpy(found, node, sizeof node);
    }
    if (n_meant == 1) return add_pressure(r, mesh, step, l->line, -factor * l->value[0], n, found);
    return HX_IMPORT_RAISE(&r->import, l->line,
                           "PLOAD4: nodes %lld and %lld do not define a face of element %lld",
                           (long long)l->node[0], (long long)l->node[1], (long long)l->elem);
}

static int add_loads(hx_nastran_reader *r, const hx_mesh *mesh, int step, int64_t sid,
                     double factor)
{
    for (size_t i = 0; i < r->n_load; i++) {
        const hx_nastran_load *const l = &r->load[i];
        if (l->sid != sid) continue;
        if (l->kind == HX_NASTRAN_FORCE) {
            const double f[3] = {factor * l->value[0], factor * l->value[1], factor * l->value[2]};
            HX_TRY(add_vector(r, step, l->line, l->node[0], f));
        } else {
            const int rc = l->kind == HX_NASTRAN_PLOAD ? add_pload(r, mesh, step, l, factor)
                                                       : add_pload4(r, mesh, step, l, factor);
            HX_TRY(hx_nastran_soften(r, HX_UNREAD_LOAD, rc));
        }
    }
    return HX_OK;
}

/* Without case control: all supports apply, and each set of loads that no other includes is a load
 * case. */
static int choose_all(hx_nastran_reader *r)
{
    for (size_t i = 0; i < r->n_part + r->n_load; i++) {
        const int64_t sid = i < r->n_part ? r->part[i].of : r->load[i - r->n_part].sid;
        int is_known = sid < 0;
        for (size_t k = 0; k < r->n_part; k++) is_known |= r->part[k].sid == sid;
        for (size_t k = 0; k < r->n_case; k++) is_known |= r->list[k].load == sid;
        if (is_known) continue;
        HX_TRY(open_case(r, (int64_t)r->n_case + 1));
        r->list[r->n_case - 1].load = sid;
    }
    if (r->n_case < 2) return HX_OK;
    return hx_notes_add(r->notes, HX_NOTE_INFO,
                        "%s: no case control: each of its %zu sets of loads is a load case",
                        r->import.path, r->n_case);
}

/* Finds the subcase whose SPC applies: the first static one, or the first one if none is static.
 * *chosen = NULL: the subcases have different SPCs, so the supports are refused. */
static int choose_spc(hx_nastran_reader *r, const hx_nastran_case **chosen)
{
    size_t first = 0;
    for (first = 0; first < r->n_case && r->list[first].is_other; first++) continue;
    const int none_is_static = first == r->n_case;
    if (none_is_static) first = 0;
    *chosen = r->n_case > 0 ? &r->list[first] : &r->all;
    const int64_t spc = (*chosen)->spc;
    for (size_t i = first + 1; r->has_control && i < r->n_case; i++) {
        if (r->list[i].spc == spc || (r->list[i].is_other && !none_is_static)) continue;
        char other[60], here[60];
        hx_nastran_case_text(&r->list[i], other);
        hx_nastran_case_text(&r->list[first], here);
        HX_TRY(hx_set_fault(
            &r->conditions.support_fault,
            "%s: %s has SPC = %lld, %s SPC = %lld, but all load cases must have the same supports: "
            "write one file per set of supports",
            r->import.path, other, (long long)r->list[i].spc, here, (long long)spc));
        *chosen = NULL;
        break;
    }
    return HX_OK;
}

static int add_all_supports(hx_nastran_reader *r)
{
    const hx_nastran_case *chosen;
    HX_TRY(choose_spc(r, &chosen));
    if (!chosen) return HX_OK;
    HX_TRY(add_supports(r, 0));
    if (r->has_control) {
        HX_TRY(hx_nastran_check_supports(r, chosen));
        return chosen->spc > 0 ? add_support_set(r, chosen->spc) : HX_OK;
    }
    int64_t last = 0; /* sets in order of first occurrence */
    for (size_t i = 0; i < r->n_support; i++) {
        int is_known = r->support[i].sid == last || r->support[i].sid == 0;
        for (size_t k = 0; k < i && !is_known; k++)
            is_known = r->support[k].sid == r->support[i].sid;
        if (is_known) continue;
        last = r->support[i].sid;
        HX_TRY(add_supports(r, last));
    }
    return HX_OK;
}

/* Subcases that are not static analyses are recorded and do not become load cases. */
static int leave_out_cases(hx_nastran_reader *r)
{
    char text[60];
    const int is_static = hx_nastran_is_static(r);
    if (!is_static) {
        snprintf(text, sizeof text, "SOL %s", r->solution);
        HX_TRY(hx_import_unread(&r->import, HX_UNREAD_STEP, text, "no static analysis", 1,
                                r->solution_line));
    }
    for (size_t i = 0; i < r->n_case; i++) {
        hx_nastran_case *const here = &r->list[i];
        if (is_static && here->is_other) {
            hx_nastran_case_text(here, text);
            for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
            HX_TRY(hx_import_unread(&r->import, HX_UNREAD_STEP, text, "no static analysis", 1,
                                    here->line));
        }
        here->is_other |= !is_static;
    }
    return HX_OK;
}

int hx_nastran_finish(hx_nastran_reader *r, const hx_mesh *mesh)
{
    int step = 0;
    HX_TRY(hx_middle_index_create(&r->middles, mesh));
    if (r->has_control && r->n_case == 0) HX_TRY(open_case(r, 1));
    if (!r->has_control) HX_TRY(choose_all(r));
    HX_TRY(leave_out_cases(r));
    HX_TRY(add_all_supports(r));
    if (r->has_control) HX_TRY(hx_nastran_check_loads(r));
    for (size_t i = 0; i < r->n_case; i++) HX_TRY(hx_nastran_check_parts(r, &r->list[i]));
    for (size_t i = 0; i < r->n_case; i++) {
        if (r->list[i].is_other) continue;
        const hx_condition none = {.kind = HX_CONDITION_NO_FORCES, .step = ++step};
        hx_condition *added;
        if (step > 1) HX_TRY(hx_import_conditions_add(&r->conditions, &none, &added));
        if (r->list[i].load > 0) {
            HX_TRY(add_loads(r, mesh, step, r->list[i].load, 1.0));
            for (size_t j = 0; j < r->n_part; j++)
                if (r->part[j].of == r->list[i].load)
                    HX_TRY(add_loads(r, mesh, step, r->part[j].sid, r->part[j].factor));
        }
    }
    r->conditions.n_step = step;
    return HX_OK;
}
