/* Supports and forces of an Abaqus input file: *STEP, *BOUNDARY, *CLOAD. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "abaqus_reader.h"

enum { MOST_STEPS = 1000 };

static int support_fault(hx_abaqus_reader *r, const char *what)
{
    return hx_import_conditions_set_support_fault(
        &r->conditions, "%s:%lld: %s", hx_abaqus_scan_path(&r->scan),
        (long long)r->scan.file[r->scan.depth - 1].line, what);
}

int hx_abaqus_load_fault(hx_abaqus_reader *r, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hx_import_conditions_set_load_fault(
        &r->conditions, "%s:%lld: %s", hx_abaqus_scan_path(&r->scan),
        (long long)r->scan.file[r->scan.depth - 1].line, text);
}

int hx_abaqus_begin_step(hx_abaqus_reader *r)
{
    hx_condition *added;
    if (r->in_step) return HX_ABAQUS_RAISE(&r->scan, "*STEP within a step; *END STEP is missing");
    if (r->conditions.n_step == MOST_STEPS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d steps", MOST_STEPS);
    r->in_step = 1;
    r->step_is_new = 1;
    r->conditions.n_step++;
    const char *const large = hx_abaqus_parameter(&r->scan, "NLGEOM");
    if (large && strcasecmp(large, "NO") != 0)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_INFO, "%s:%lld: NLGEOM is not read: small strains",
                            hx_abaqus_scan_path(&r->scan), (long long)r->scan.keyword_line));
    if (!hx_abaqus_parameter(&r->scan, "PERTURBATION")) return HX_OK;
    const hx_condition none = {.kind = HX_CONDITION_NO_FORCES, .step = r->conditions.n_step};
    return hx_import_conditions_add(&r->conditions, &none, &added);
}

int hx_abaqus_begin_end_step(hx_abaqus_reader *r)
{
    r->in_step = 0;
    return HX_OK;
}

/* Adds r->condition for a node or set. */
static int add_condition(hx_abaqus_reader *r, char *target)
{
    hx_condition *added;
    hx_abaqus_reference to;
    r->condition.line = hx_abaqus_scan_number(&r->scan);
    r->condition.step = r->conditions.n_step;
    HX_TRY(hx_abaqus_refer(r, 0, target, &to));
    if (!to.is_number && (!to.set || to.set->node.n == 0))
        return HX_ABAQUS_RAISE(&r->scan, "no set of nodes '%.60s' above this line", target);
    HX_TRY(hx_import_conditions_add(&r->conditions, &r->condition, &added));
    return to.is_number ? hx_numbers_append(&added->node, 1, &to.number)
                        : hx_numbers_copy(&added->node, &to.set->node);
}

/* Components of a named type, 0 if it is not known. Only reference nodes have rotations. */
static unsigned named_components(const char *name)
{
    static const struct {
        const char *name;
        unsigned components;
    } type[] = {{"ENCASTRE", 63},  {"PINNED", 7},     {"XSYMM", 1 + 48},  {"YSYMM", 2 + 40},
                {"ZSYMM", 4 + 24}, {"XASYMM", 6 + 8}, {"YASYMM", 5 + 16}, {"ZASYMM", 3 + 32}};
    for (size_t i = 0; i < sizeof type / sizeof type[0]; i++)
        if (strcasecmp(type[i].name, name) == 0) return type[i].components;
    return 0;
}

/* node or set, first component, last component, value; or node or set, type */
static int boundary_line(hx_abaqus_reader *r, char *line)
{
    char *target, *field;
    int64_t first, last;
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    r->condition.kind = HX_CONDITION_SUPPORT;
    r->condition.value = 0.0;
    if (!hx_abaqus_field(&line, &field) || !*field)
        return HX_ABAQUS_RAISE(&r->scan,
                               "a boundary condition needs a component, 1 to 3, or a type "
                               "such as ENCASTRE");
    if (isalpha((unsigned char)*field)) {
        r->condition.components = named_components(field);
        if (r->condition.components == 0)
            return HX_ABAQUS_RAISE(&r->scan,
                                   "unknown boundary condition '%.20s'; ENCASTRE, PINNED, XSYMM, "
                                   "YSYMM, ZSYMM, XASYMM, YASYMM, ZASYMM are read",
                                   field);
        return add_condition(r, target);
    }
    HX_TRY(hx_abaqus_int(&r->scan, field, "a component", &first));
    last = first;
    if (hx_abaqus_field(&line, &field) && *field)
        HX_TRY(hx_abaqus_int(&r->scan, field, "the last component", &last));
    if (hx_abaqus_field(&line, &field) && *field)
        HX_TRY(hx_abaqus_real(&r->scan, field, "a displacement", &r->condition.value));
    if (first < 1 || last < first || last > 1000)
        return HX_ABAQUS_RAISE(&r->scan, "components %lld to %lld; 1 to 3 are x to z",
                               (long long)first, (long long)last);
    r->condition.components = 0;
    for (int64_t i = first; i <= last && i <= 6; i++) r->condition.components |= 1u << (i - 1);
    return r->condition.components ? add_condition(r, target) : HX_OK; /* else temperatures */
}

int hx_abaqus_begin_boundary(hx_abaqus_reader *r)
{
    const char *const op = hx_abaqus_parameter(&r->scan, "OP");
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    r->data = boundary_line;
    if (op && strcasecmp(op, "NEW") == 0 && r->conditions.n_step > 0 && r->has_support)
        HX_TRY(support_fault(r,
                             "*BOUNDARY, OP=NEW takes supports away; all load cases have the same "
                             "supports here: write one file a set of supports"));
    if ((type && strcasecmp(type, "DISPLACEMENT") != 0) ||
        hx_abaqus_parameter(&r->scan, "AMPLITUDE") || hx_abaqus_parameter(&r->scan, "FIXED") ||
        hx_abaqus_parameter(&r->scan, "USER") || hx_abaqus_parameter(&r->scan, "SUBMODEL"))
        HX_TRY(support_fault(
            r, "*BOUNDARY with TYPE, AMPLITUDE, FIXED, USER or SUBMODEL is not read"));
    r->has_support = 1;
    return HX_OK;
}

/* node or set, component, value */
static int cload_line(hx_abaqus_reader *r, char *line)
{
    char *target, *field;
    int64_t component = 0;
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    r->condition.kind = HX_CONDITION_FORCE;
    r->condition.value = 0.0;
    if (!hx_abaqus_field(&line, &field))
        return HX_ABAQUS_RAISE(&r->scan, "a force needs a component, 1 to 3, and its value");
    HX_TRY(hx_abaqus_int(&r->scan, field, "a component", &component));
    if (hx_abaqus_field(&line, &field))
        HX_TRY(hx_abaqus_real(&r->scan, field, "a force", &r->condition.value));
    if (component < 1 || component > 6)
        return HX_ABAQUS_RAISE(&r->scan,
                               "component %lld of a force; 1 to 3 are x to z, 4 to 6 moments",
                               (long long)component);
    r->condition.components = 1u << (component - 1);
    return add_condition(r, target);
}

int hx_abaqus_check_load(hx_abaqus_reader *r)
{
    static const char *const unread[] = {"AMPLITUDE", "FOLLOWER", "LOADCASE",
                                         "USER",      "SECTOR",   "SUBMODEL"};
    if (!r->in_step) return HX_ABAQUS_RAISE(&r->scan, "*%s outside a *STEP", r->scan.keyword);
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (hx_abaqus_parameter(&r->scan, unread[i]))
            return hx_abaqus_load_fault(
                r, "*%s with AMPLITUDE, FOLLOWER, LOAD CASE, USER, SECTOR or SUBMODEL is not read",
                r->scan.keyword);
    return HX_OK;
}

int hx_abaqus_begin_cload(hx_abaqus_reader *r)
{
    const char *const op = hx_abaqus_parameter(&r->scan, "OP");
    hx_condition *added;
    r->data = cload_line;
    HX_TRY(hx_abaqus_check_load(r));
    const int forget = op && strcasecmp(op, "NEW") == 0 && r->step_is_new;
    r->step_is_new = 0;
    if (!forget) return HX_OK;
    const hx_condition none = {.kind = HX_CONDITION_NO_FORCES, .step = r->conditions.n_step};
    return hx_import_conditions_add(&r->conditions, &none, &added);
}
