/* Keywords of heat-transfer jobs in an Abaqus input file: *CFLUX, *DFLUX, *DSFLUX, *FILM, *SFILM
 * and temperatures of *BOUNDARY, recorded line by line. A config states them with its own keys; the
 * file's heat-transfer steps do not become load cases of elasticity. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"

enum { ON_ELEMENTS = HX_LOADS_OF_ELEMENTS, ON_SURFACES = HX_LOADS_OF_SURFACES };

/* Records a statement about heat that is not read, such as "*DFLUX, AMPLITUDE". */
static int heat_unread(hx_abaqus_reader *r, const char *what)
{
    char word[96];
    r->data = NULL;
    snprintf(word, sizeof word, "*%.30s, %.40s", r->scan.keyword_shown, what);
    for (char *c = word; *c; c++) *c = (char)toupper((unsigned char)*c);
    HX_TRY(hx_abaqus_heat_fault(r, 0, "%s is not read", word));
    return hx_abaqus_unread(r, HX_UNREAD_LOAD, word, "of heat");
}

static int add_heat(hx_abaqus_reader *r, const hx_abaqus_heat *heat, hx_abaqus_heat **added)
{
    HX_TRY(hx_grow(&r->heat, r->n_heat, &r->heat_capacity, sizeof *r->heat, "loads of heat"));
    *added = &r->heat[r->n_heat++];
    **added = *heat;
    (*added)->step = r->conditions.n_step;
    (*added)->line = hx_abaqus_scan_number(&r->scan);
    return HX_OK;
}

/* Begins a keyword of a kind and family. OP=NEW ends what earlier steps stated with that
 * keyword. */
static int begin_kind(hx_abaqus_reader *r, hx_file_heat_kind kind, int family)
{
    const char *const op = hx_abaqus_parameter(&r->scan, "OP");
    const int is_reset = op && strcasecmp(op, "NEW") == 0 && r->conditions.n_step > 0;
    const unsigned bit = 1u << (2 * (int)kind + family);
    const int is_first = !(r->step_has_heat & bit);
    const hx_abaqus_heat reset = {.kind = kind, .family = family, .is_reset = 1};
    hx_abaqus_heat *added;
    r->step_has_heat |= bit;
    if (!is_reset) return HX_OK;
    if (!is_first)
        return hx_abaqus_heat_fault(r, 0,
                                    "OP=NEW on another *%s than the first of the step; CalculiX "
                                    "ignores it: put it on the first",
                                    r->scan.keyword_shown);
    return add_heat(r, &reset, &added);
}

/* Adds a value at the nodes of a set, or at one node. */
static int add_at_nodes(hx_abaqus_reader *r, char *target, hx_abaqus_heat *heat)
{
    hx_abaqus_heat *added;
    hx_abaqus_reference to;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, target, &to));
    if (!to.is_number && (!to.set || to.set->node.n == 0))
        return hx_abaqus_heat_fault(r, 0, "no set of nodes '%.60s' above this line", target);
    if (to.set && to.set->is_shortened && heat->kind == HX_FILE_NODE_HEAT)
        return hx_abaqus_heat_fault(r, 0, "set '%.60s' repeats its members too often", target);
    heat->named = to.set;
    HX_TRY(add_heat(r, heat, &added));
    return to.set ? hx_numbers_copy(&added->item, &to.set->node)
                  : hx_numbers_append(&added->item, 1, &to.number);
}

int hx_abaqus_hold_temperature(hx_abaqus_reader *r, char *target, double value)
{
    hx_abaqus_heat heat = {.kind = HX_FILE_TEMPERATURE, .value = value};
    return add_at_nodes(r, target, &heat);
}

int hx_abaqus_drop_temperatures(hx_abaqus_reader *r)
{
    return begin_kind(r, HX_FILE_TEMPERATURE, ON_ELEMENTS);
}

static int read_value(hx_abaqus_reader *r, char **line, double *value)
{
    char *field;
    *value = 0.0;
    if (!hx_abaqus_field(line, &field) || !*field) return HX_OK;
    return hx_abaqus_real(&r->scan, field, "a number", value);
}

/* node or set, component, heat */
static int cflux_line(hx_abaqus_reader *r, char *line)
{
    char *target, *field, what[60];
    hx_abaqus_heat heat = {.kind = HX_FILE_NODE_HEAT};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (hx_abaqus_field(&line, &field) && *field && strcmp(field, "0") != 0 &&
        strcmp(field, "11") != 0) {
        snprintf(what, sizeof what, "component %.20s", field);
        return heat_unread(r, what);
    }
    HX_TRY(read_value(r, &line, &heat.value));
    return add_at_nodes(r, target, &heat);
}

/* Returns the side of "S4", "F4": 1 to 6; 0 for "BF"; -1: another label. */
static int side_of_label(const char *label, char letter)
{
    if (letter == 'S' && strcasecmp(label, "BF") == 0) return 0;
    const int is_side = toupper((unsigned char)label[0]) == letter && label[1] >= '1' &&
                        label[1] <= '6' && label[2] == '\0';
    return is_side ? label[1] - '0' : -1;
}

/* element or set, label, flux; for films, ambient temperature and coefficient */
static int element_line(hx_abaqus_reader *r, char *line)
{
    const char letter = strcmp(r->scan.keyword, "FILM") == 0 ? 'F' : 'S';
    char *target, *label;
    hx_abaqus_heat heat = {.kind = letter == 'F' ? HX_FILE_FILM : HX_FILE_FLUX};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label))
        return hx_abaqus_heat_fault(r, 0, "a thermal load without a label");
    const int side = side_of_label(label, letter);
    if (side < 0) return heat_unread(r, label);
    if (side == 0) heat.kind = HX_FILE_SOURCE;
    if (letter == 'F') HX_TRY(read_value(r, &line, &heat.ambient));
    HX_TRY(read_value(r, &line, &heat.value));
    /* add a value on one side of elements, or inside them (side = 0) */
    hx_abaqus_heat *added;
    hx_abaqus_reference to;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_ELEMS, target, &to));
    if (!to.is_number && (!to.set || to.set->elem.n == 0))
        return hx_abaqus_heat_fault(r, 0, "no set of elements '%.60s' above this line", target);
    if (to.set && to.set->is_shortened && heat.kind != HX_FILE_FILM)
        return hx_abaqus_heat_fault(r, 0, "set '%.60s' repeats its members too often", target);
    heat.named = to.set;
    heat.side = side;
    HX_TRY(add_heat(r, &heat, &added));
    return to.set ? hx_numbers_copy(&added->item, &to.set->elem)
                  : hx_numbers_append(&added->item, 1, &to.number);
}

/* surface, label S or F, numbers as above. The faces of a surface that is not given by sides of
 * elements are known only once the mesh is made; then `item` is empty. */
static int surface_line(hx_abaqus_reader *r, char *line)
{
    const char letter = strcmp(r->scan.keyword, "SFILM") == 0 ? 'F' : 'S';
    char *target, *label;
    hx_abaqus_heat *added;
    hx_abaqus_reference to;
    hx_abaqus_heat heat = {.kind = letter == 'F' ? HX_FILE_FILM : HX_FILE_FLUX,
                           .family = ON_SURFACES};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label) || toupper((unsigned char)label[0]) != letter || label[1])
        return heat_unread(r, label ? label : "without a label");
    HX_TRY(hx_abaqus_refer(r, HX_KIND_FACES, target, &to));
    if (!to.set) return hx_abaqus_heat_fault(r, 0, "no surface '%.60s' above this line", target);
    if (letter == 'F') HX_TRY(read_value(r, &line, &heat.ambient));
    HX_TRY(read_value(r, &line, &heat.value));
    heat.named = to.set;
    HX_TRY(add_heat(r, &heat, &added));
    if (to.set->face_elem.n == 0 || to.set->elem.n + to.set->free_elem.n + to.set->node.n > 0)
        return HX_OK;
    HX_TRY(hx_numbers_copy(&added->item, &to.set->face_elem));
    return hx_numbers_copy(&added->item_side, &to.set->face_local);
}

int hx_abaqus_add_procedure(hx_abaqus_reader *r, hx_abaqus_step_kind kind)
{
    if (!r->in_step || r->n_procedure == 0) return HX_OK;
    hx_abaqus_procedure *const to = &r->procedure[r->n_procedure - 1];
    if (to->name[0]) return HX_OK;
    snprintf(to->name, sizeof to->name, "*%.30s", r->scan.keyword_shown);
    for (char *c = to->name; *c; c++) *c = (char)toupper((unsigned char)*c);
    to->line = r->scan.keyword_line;
    to->kind = kind;
    return HX_OK;
}

/* Begins a keyword of heat with its data lines. */
static int begin_lines(hx_abaqus_reader *r, int (*line)(hx_abaqus_reader *r, char *line))
{
    for (int k = 0; k < r->scan.n_parameter; k++)
        if (strcmp(r->scan.parameter[k].name, "OP") != 0)
            return heat_unread(r, r->scan.parameter[k].name);
    r->soft = HX_ABAQUS_OF_LOADS;
    r->data = line;
    return r->in_step ? HX_OK
                      : hx_abaqus_heat_fault(r, 0, "*%s outside a *STEP", r->scan.keyword_shown);
}

int hx_abaqus_begin_heat(hx_abaqus_reader *r)
{
    static const struct {
        const char *keyword;
        int (*line)(hx_abaqus_reader *r, char *line);
        hx_file_heat_kind kind;
        int family;
    } load[] = {{"CFLUX", cflux_line, HX_FILE_NODE_HEAT, ON_ELEMENTS},
                {"DFLUX", element_line, HX_FILE_FLUX, ON_ELEMENTS},
                {"DSFLUX", surface_line, HX_FILE_FLUX, ON_SURFACES},
                {"FILM", element_line, HX_FILE_FILM, ON_ELEMENTS},
                {"SFILM", surface_line, HX_FILE_FILM, ON_SURFACES}};
    static const char *const others[] = {"RADIATE", "SRADIATE", "CRADIATE", "CFILM", "MASSFLOW"};
    const char *const keyword = r->scan.keyword;
    if (strcmp(keyword, "HEATTRANSFER") == 0)
        return hx_abaqus_add_procedure(
            r, hx_abaqus_parameter(&r->scan, "STEADY STATE") ? HX_STEP_STEADY : HX_STEP_TRANSIENT);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(keyword, others[i]) == 0)
            return hx_abaqus_heat_fault(r, 0, "*%s is not read", r->scan.keyword_shown);
    for (size_t i = 0; i < sizeof load / sizeof load[0]; i++) {
        if (strcmp(load[i].keyword, keyword) != 0) continue;
        HX_TRY(begin_kind(r, load[i].kind, load[i].family));
        return begin_lines(r, load[i].line);
    }
    return HX_OK;
}

void hx_abaqus_free_heat(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_heat; i++) {
        hx_numbers_free(&r->heat[i].item);
        hx_numbers_free(&r->heat[i].item_side);
    }
    for (int kind = 0; kind < HX_N_FILE_HEAT; kind++) free(r->heat_item[kind]);
    free(r->heat);
    free(r->heat_group);
    free(r->procedure);
    free(r->heat_fault);
}
