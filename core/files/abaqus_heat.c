/* Heat-transfer data of an Abaqus input file: temperatures, concentrated fluxes, surface fluxes,
 * sources and films, as sets with values. A config states them in its own way; the file's
 * heat-transfer steps do not become load cases. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"

static const char *const single_name[] = {"temperature", "heat", "flux", "source", "film"};

/* Records an error of the heat data; only the first one has an effect. */
static int heat_fault(hx_abaqus_reader *r, const char *fmt, ...) HX_PRINTF(2, 3);
static int heat_fault(hx_abaqus_reader *r, const char *fmt, ...)
{
    char text[200], whole[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (r->heat_fault) return HX_OK;
    snprintf(whole, sizeof whole, "%.600s:%lld: %s", hx_abaqus_scan_path(&r->scan),
             (long long)hx_abaqus_scan_number(&r->scan), text);
    return hx_strdup(&r->heat_fault, whole);
}

static int add_heat(hx_abaqus_reader *r, const hx_abaqus_heat *heat)
{
    HX_TRY(hx_grow(&r->heat, r->n_heat, &r->heat_capacity, sizeof *r->heat, "loads of heat"));
    r->heat[r->n_heat++] = *heat;
    return HX_OK;
}

static int is_equal(double a, double b)
{
    return !(a < b || a > b);
}

/* Finds or makes the set "flux-1" and so on of single nodes or elements with these values. */
static int single_set(hx_abaqus_reader *r, hx_abaqus_heat *heat)
{
    const hx_set_kind kind = heat->kind <= HX_FILE_NODE_HEAT ? HX_KIND_NODES
                             : heat->kind == HX_FILE_SOURCE  ? HX_KIND_ELEMS
                                                             : HX_KIND_FACES;
    char name[40];
    int number = 0;
    for (size_t i = 0; i < r->n_heat; i++) {
        const hx_abaqus_heat *const other = &r->heat[i];
        heat->set = other->set;
        if (other->is_single && other->kind == heat->kind && is_equal(other->value, heat->value) &&
            is_equal(other->ambient, heat->ambient))
            return HX_OK;
    }
    do snprintf(name, sizeof name, "%s-%d", single_name[heat->kind], ++number);
    while (hx_abaqus_find_set(r, HX_N_SET_KIND, name));
    heat->is_single = 1;
    HX_TRY(hx_import_set_of(&r->import, name, kind, &heat->set));
    heat->set->is_of_loads = 1;
    return add_heat(r, heat);
}

/* Adds a value at the nodes of a set, or at one node. */
static int add_at_nodes(hx_abaqus_reader *r, char *target, hx_abaqus_heat *heat)
{
    hx_abaqus_reference to;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, target, &to));
    if (!to.is_number && (!to.set || to.set->node.n == 0))
        return heat_fault(r, "no set of nodes '%.60s' above this line", target);
    heat->set = to.set;
    if (to.set) return add_heat(r, heat);
    HX_TRY(single_set(r, heat));
    return hx_numbers_append(&heat->set->node, 1, &to.number);
}

int hx_abaqus_hold_temperature(hx_abaqus_reader *r, char *target, double value)
{
    hx_abaqus_heat heat = {.kind = HX_FILE_TEMPERATURE, .value = value};
    return add_at_nodes(r, target, &heat);
}

/* Adds a value on one side of elements, or inside them (side = 0). */
static int add_at_elements(hx_abaqus_reader *r, char *target, int side, hx_abaqus_heat *heat)
{
    char name[230];
    hx_abaqus_reference to;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_ELEMS, target, &to));
    if (!to.is_number && (!to.set || to.set->elem.n == 0))
        return heat_fault(r, "no set of elements '%.60s' above this line", target);
    heat->set = to.set;
    if (to.set && side == 0) return add_heat(r, heat);
    if (to.is_number) {
        HX_TRY(single_set(r, heat));
        if (side == 0) return hx_numbers_append(&heat->set->elem, 1, &to.number);
        r->set = heat->set;
        return hx_abaqus_append_side(r, &to, side);
    }
    snprintf(name, sizeof name, "%.200s.S%d", target, side);
    heat->set = hx_abaqus_find_set(r, HX_KIND_FACES, name);
    if (!heat->set) {
        HX_TRY(hx_abaqus_open_set(r, HX_KIND_FACES, name, &heat->set));
        r->set = heat->set;
        HX_TRY(hx_abaqus_append_side(r, &to, side));
        heat->set->is_of_loads = 1;
    }
    return add_heat(r, heat);
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
    char *target, *field;
    hx_abaqus_heat heat = {.kind = HX_FILE_NODE_HEAT};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (hx_abaqus_field(&line, &field) && *field && strcmp(field, "0") != 0 &&
        strcmp(field, "11") != 0)
        return heat_fault(r, "*CFLUX of component %.20s", field);
    HX_TRY(read_value(r, &line, &heat.value));
    return add_at_nodes(r, target, &heat);
}

/* Returns the side of "S4", "F4": 1 to 6; 0 for "BF"; -1: another label. */
static int side_of(const char *label, char letter)
{
    if (letter == 'S' && strcasecmp(label, "BF") == 0) return 0;
    const int is_side = toupper((unsigned char)label[0]) == letter && label[1] >= '1' &&
                        label[1] <= '6' && label[2] == '\0';
    return is_side ? label[1] - '0' : -1;
}

/* element or set, label, flux; for films the ambient temperature before the coefficient */
static int element_line(hx_abaqus_reader *r, char *line, char letter)
{
    char *target, *label;
    hx_abaqus_heat heat = {.kind = letter == 'F' ? HX_FILE_FILM : HX_FILE_FLUX};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label)) return heat_fault(r, "a thermal load without a label");
    const int side = side_of(label, letter);
    if (side < 0) return heat_fault(r, "*%s with label %.20s", r->scan.keyword_shown, label);
    if (side == 0) heat.kind = HX_FILE_SOURCE;
    if (letter == 'F') HX_TRY(read_value(r, &line, &heat.ambient));
    HX_TRY(read_value(r, &line, &heat.value));
    return add_at_elements(r, target, side, &heat);
}

static int dflux_line(hx_abaqus_reader *r, char *line)
{
    return element_line(r, line, 'S');
}

static int film_line(hx_abaqus_reader *r, char *line)
{
    return element_line(r, line, 'F');
}

/* surface, label S or F, numbers as above */
static int surface_line(hx_abaqus_reader *r, char *line, char letter)
{
    char *target, *label;
    hx_abaqus_reference to;
    hx_abaqus_heat heat = {.kind = letter == 'F' ? HX_FILE_FILM : HX_FILE_FLUX};
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label) || toupper((unsigned char)label[0]) != letter || label[1])
        return heat_fault(r, "*%s with a label other than %c", r->scan.keyword_shown, letter);
    HX_TRY(hx_abaqus_refer(r, HX_KIND_FACES, target, &to));
    if (!to.set) return heat_fault(r, "no surface '%.60s' above this line", target);
    if (letter == 'F') HX_TRY(read_value(r, &line, &heat.ambient));
    HX_TRY(read_value(r, &line, &heat.value));
    heat.set = to.set;
    return add_heat(r, &heat);
}

static int dsflux_line(hx_abaqus_reader *r, char *line)
{
    return surface_line(r, line, 'S');
}

static int sfilm_line(hx_abaqus_reader *r, char *line)
{
    return surface_line(r, line, 'F');
}

static int begin_step(hx_abaqus_reader *r)
{
    if (r->n_heat_step++ > 0) return heat_fault(r, "a second heat-transfer step");
    if (hx_abaqus_parameter(&r->scan, "STEADY STATE")) return HX_OK;
    return heat_fault(r,
                      "*HEAT TRANSFER without STEADY STATE: hextop computes only the steady state");
}

int hx_abaqus_begin_heat(hx_abaqus_reader *r)
{
    static const struct {
        const char *keyword;
        int (*line)(hx_abaqus_reader *r, char *line);
    } load[] = {{"CFLUX", cflux_line},
                {"DFLUX", dflux_line},
                {"DSFLUX", dsflux_line},
                {"FILM", film_line},
                {"SFILM", sfilm_line}};
    if (strcmp(r->scan.keyword, "HEATTRANSFER") == 0) return begin_step(r);
    if (strcmp(r->scan.keyword, "RADIATE") == 0 || strcmp(r->scan.keyword, "CFILM") == 0)
        return heat_fault(r, "*%s", r->scan.keyword_shown);
    for (size_t i = 0; i < sizeof load / sizeof load[0]; i++) {
        if (strcmp(load[i].keyword, r->scan.keyword) != 0) continue;
        for (int k = 0; k < r->scan.n_parameter; k++)
            if (strcmp(r->scan.parameter[k].name, "OP") != 0)
                return heat_fault(r, "*%s, %.40s", r->scan.keyword_shown,
                                  r->scan.parameter[k].name);
        r->soft = HX_ABAQUS_OF_LOADS;
        r->data = load[i].line;
    }
    return HX_OK;
}

int hx_abaqus_give_heat(hx_abaqus_reader *r, hx_conditions *to)
{
    if (r->n_heat_step == 0) return HX_OK;
    to->is_heat = 1;
    to->heat_fault = r->heat_fault;
    r->heat_fault = NULL;
    HX_TRY(hx_alloc(&to->heat, r->n_heat, sizeof *to->heat, "loads of heat"));
    for (size_t i = 0; i < r->n_heat; i++) {
        const hx_abaqus_heat *const from = &r->heat[i];
        hx_file_heat *const heat = &to->heat[to->n_heat++];
        *heat = (hx_file_heat){from->kind, NULL, from->value, from->ambient};
        HX_TRY(hx_strdup(&heat->set, from->set->name));
    }
    return HX_OK;
}

void hx_abaqus_free_heat(hx_abaqus_reader *r)
{
    free(r->heat);
    free(r->heat_fault);
}
