/* Supports and forces of an Abaqus input file: *STEP, *BOUNDARY, *CLOAD. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"

enum { MOST_STEPS = 1000 };

int hx_abaqus_begin_step(hx_abaqus_reader *r)
{
    hx_condition *added;
    if (r->in_step) return HX_ABAQUS_RAISE(&r->scan, "*STEP within a step; *END STEP is missing");
    if (r->conditions.n_step == MOST_STEPS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d steps", MOST_STEPS);
    r->in_step = 1;
    r->step_used = r->step_renewed = 0;
    r->step_is_other = 0;
    r->step_has_heat = 0;
    r->conditions.n_step++;
    HX_TRY(hx_grow(&r->procedure, r->n_procedure, &r->procedure_capacity, sizeof *r->procedure,
                   "steps of a file"));
    r->procedure[r->n_procedure++] = (hx_abaqus_procedure){.line = r->scan.keyword_line};
    const char *const large = hx_abaqus_parameter(&r->scan, "NLGEOM");
    if (large && strcasecmp(large, "NO") != 0)
        HX_TRY(hx_unread_add(&r->import.unread, 0, "*STEP, NLGEOM",
                             "small displacements are assumed", 1, hx_abaqus_scan_path(&r->scan),
                             r->scan.keyword_line));
    if (!hx_abaqus_parameter(&r->scan, "PERTURBATION")) return HX_OK;
    if (r->conditions.n_step > 1)
        HX_TRY(
            hx_notes_add(r->notes, HX_NOTE_INFO,
                         "%s:%lld: PERTURBATION: the stress stiffness from loads of earlier steps "
                         "is left out",
                         hx_abaqus_scan_path(&r->scan), (long long)r->scan.keyword_line));
    const hx_condition none = {.kind = HX_CONDITION_NO_FORCES, .step = r->conditions.n_step};
    return hx_import_conditions_add(&r->conditions, &none, &added);
}

int hx_abaqus_begin_end_step(hx_abaqus_reader *r)
{
    const int64_t step = r->conditions.n_step;
    const int is_other = r->in_step && r->step_is_other;
    r->in_step = r->step_is_other = 0;
    return is_other ? hx_numbers_append(&r->other_step, 1, &step) : HX_OK;
}

/* Counts the static steps up to each step, of_step[0] to of_step[n_step]; *n_static in total. */
static int count_static(const hx_abaqus_reader *r, int **of_step, int *n_static)
{
    const int n = r->conditions.n_step;
    HX_TRY(hx_alloc_raw(of_step, (size_t)n + 1, sizeof **of_step, "steps of a file"));
    for (int step = 0; step <= n; step++) (*of_step)[step] = step > 0;
    for (int64_t i = 0; i < r->other_step.n; i++) (*of_step)[hx_numbers_get(&r->other_step, i)] = 0;
    for (int step = 1; step <= n; step++) (*of_step)[step] += (*of_step)[step - 1];
    *n_static = (*of_step)[n];
    return HX_OK;
}

/* Gives a condition the number of its static step. *stays = 0: the condition is left out. In
 * CalculiX, loads and supports stay active in later steps, whatever the type of their own step. */
static int number_static_step(hx_abaqus_reader *r, const int *of_step, int n_static,
                              hx_condition *c, int *stays)
{
    const int step = c->step, before = step > 0 ? of_step[step - 1] : 0;
    const int is_static = step == 0 || of_step[step] > before;
    *stays = 1;
    c->step = is_static ? of_step[step] : before + 1;
    if (is_static) return HX_OK;
    const int is_last = before == n_static;
    if (c->kind == HX_CONDITION_SUPPORT || c->kind == HX_CONDITION_NO_SUPPORTS) {
        if (n_static == 0) c->step = 0;
        c->is_late |= step > 1 && n_static == 0;
        *stays = n_static == 0 || !is_last;
        return HX_OK;
    }
    *stays = 0;
    if (is_last) return HX_OK;
    return hx_set_fault(
        &r->conditions.load_fault,
        "%s:%lld: a load of step %d, which is not static, stays active in the static steps after "
        "it: define it in a static step",
        r->import.path, (long long)c->line, step);
}

int hx_abaqus_keep_static_steps(hx_abaqus_reader *r)
{
    hx_import_conditions *const all = &r->conditions;
    int *of_step = NULL, n_static, rc = HX_OK;
    size_t n = 0;
    HX_TRY(hx_abaqus_begin_end_step(r)); /* *END STEP may be missing */
    if (r->other_step.n == 0) return HX_OK;
    HX_TRY(count_static(r, &of_step, &n_static));
    for (size_t i = 0; i < all->n; i++) {
        int stays = 1;
        if (rc == HX_OK) rc = number_static_step(r, of_step, n_static, &all->list[i], &stays);
        if (stays)
            all->list[n++] = all->list[i];
        else
            hx_numbers_free(&all->list[i].node);
    }
    all->n = n;
    all->n_step = n_static;
    free(of_step);
    return rc;
}

/* Adds r->condition for a node or set. */
static int add_condition(hx_abaqus_reader *r, char *target)
{
    hx_condition *added;
    hx_abaqus_reference to;
    r->condition.line = hx_abaqus_scan_number(&r->scan);
    r->condition.step = r->conditions.n_step;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, target, &to));
    if (!to.is_number && (!to.set || to.set->node.n == 0))
        return HX_ABAQUS_RAISE(&r->scan, "no set of nodes '%.60s' above this line", target);
    HX_TRY(hx_import_conditions_add(&r->conditions, &r->condition, &added));
    added->is_of_set = to.set != NULL;
    if (to.set) hx_abaqus_mark_taken(r, to.set, r->condition.kind == HX_CONDITION_SUPPORT);
    return to.is_number ? hx_numbers_append(&added->node, 1, &to.number)
                        : hx_numbers_copy(&added->node, &to.set->node);
}

/* Components of a named type, 0 if it is unknown. Only reference nodes have rotations. */
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

/* Records "*CLOAD, component 11": temperatures, fluid pressures and similar components. */
static int unread_component(hx_abaqus_reader *r, int64_t component)
{
    const int is_force = strcmp(r->scan.keyword, "CLOAD") == 0;
    const unsigned heat = component == 11 && !is_force ? HX_UNREAD_HEAT : 0;
    char word[64];
    snprintf(word, sizeof word, "*%.20s, component %lld", r->scan.keyword_shown,
             (long long)component);
    if (component >= 11 && !heat) HX_TRY(hx_abaqus_heat_fault(r, 0, "%s is not read", word));
    return hx_abaqus_unread(r, HX_UNREAD_LOAD | heat, word,
                            component == 11 ? "temperatures" : NULL);
}

/* node or set, first component, last component, value; or node or set, type */
static int boundary_line(hx_abaqus_reader *r, char *line)
{
    char *target, *field;
    int64_t first, last;
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    r->condition.kind = HX_CONDITION_SUPPORT;
    r->condition.value = 0.0;
    r->condition.is_type = 0;
    if (!hx_abaqus_field(&line, &field) || !*field)
        return HX_ABAQUS_RAISE(&r->scan,
                               "a boundary condition needs a component, 1 to 3, or a type "
                               "such as ENCASTRE");
    if (isalpha((unsigned char)*field)) {
        r->condition.components = named_components(field);
        r->condition.is_type = 1;
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
    if (first < 0 || last < first || last > 1000)
        return HX_ABAQUS_RAISE(&r->scan, "components %lld to %lld; components 1 to 3 are x to z",
                               (long long)first, (long long)last);
    r->condition.components = 0;
    for (int64_t i = first > 0 ? first : 1; i <= last && i <= 6; i++)
        r->condition.components |= 1u << (i - 1);
    if (first <= 11 && last >= 11)
        HX_TRY(hx_abaqus_hold_temperature(r, target, r->condition.value));
    if (first == 0 || last > 6) HX_TRY(unread_component(r, first == 0 ? 0 : last));
    return r->condition.components ? add_condition(r, target) : HX_OK;
}

/* A parameter other than the known ones may change the meaning of the data: it is recorded as
 * unread, and the data are skipped. */
static int passes_over(hx_abaqus_reader *r, unsigned role, const char *const *read)
{
    for (int i = 0; i < r->scan.n_parameter; i++) {
        char word[96];
        const char *const name = r->scan.parameter[i].name;
        const char *const *known = read;
        while (*known && strcmp(*known, name) != 0) known++;
        if (*known) continue;
        snprintf(word, sizeof word, "*%s, %.40s", r->scan.keyword_shown, name);
        r->data = NULL;
        return hx_abaqus_unread(r, role, word, NULL);
    }
    return HX_OK;
}

/* Abaqus requires the same OP for every use of a keyword in a step; CalculiX takes the first. */
int hx_abaqus_read_op(hx_abaqus_reader *r, int keyword, int *renews)
{
    const char *const op = hx_abaqus_parameter(&r->scan, "OP");
    const unsigned bit = 1u << keyword;
    const int is_new = op && strcasecmp(op, "NEW") == 0, is_first = !(r->step_used & bit);
    *renews = is_new && is_first;
    r->step_used |= bit;
    if (*renews) r->step_renewed |= bit;
    if (!is_new || is_first || (r->step_renewed & bit)) return HX_OK;
    return hx_notes_add(r->notes, HX_NOTE_INFO,
                        "%s:%lld: *%s, OP=NEW after another *%s of the same step has no effect, as "
                        "in CalculiX",
                        hx_abaqus_scan_path(&r->scan), (long long)r->scan.keyword_line,
                        r->scan.keyword_shown, r->scan.keyword_shown);
}

int hx_abaqus_begin_boundary(hx_abaqus_reader *r)
{
    static const char *const read[] = {"OP", "TYPE", NULL}, *const read_other[] = {"OP", NULL};
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    hx_condition none = {.kind = HX_CONDITION_NO_SUPPORTS}, *added;
    int renews = 0;
    const int is_plain = !type || strcasecmp(type, "DISPLACEMENT") == 0;
    r->soft = HX_ABAQUS_OF_SUPPORTS;
    r->data = boundary_line;
    if (r->in_step) HX_TRY(hx_abaqus_read_op(r, HX_ABAQUS_OP_BOUNDARY, &renews));
    none.step = r->conditions.n_step;
    none.line = hx_abaqus_scan_number(&r->scan);
    if (renews) HX_TRY(hx_import_conditions_add(&r->conditions, &none, &added));
    HX_TRY(hx_abaqus_drop_temperatures(r));
    return passes_over(r, HX_UNREAD_SUPPORT, is_plain ? read : read_other);
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
    if (component < 1 || component > 6) return unread_component(r, component);
    r->condition.components = 1u << (component - 1);
    return add_condition(r, target);
}

int hx_abaqus_check_load(hx_abaqus_reader *r)
{
    static const char *const read[] = {"OP", NULL};
    r->soft = HX_ABAQUS_OF_LOADS;
    if (!r->in_step) return HX_ABAQUS_RAISE(&r->scan, "*%s outside a *STEP", r->scan.keyword_shown);
    return passes_over(r, HX_UNREAD_LOAD, read);
}

int hx_abaqus_begin_cload(hx_abaqus_reader *r)
{
    hx_condition *added;
    int renews;
    r->data = cload_line;
    HX_TRY(hx_abaqus_check_load(r));
    HX_TRY(hx_abaqus_read_op(r, HX_ABAQUS_OP_CLOAD, &renews));
    if (!renews) return HX_OK;
    const hx_condition none = {.kind = HX_CONDITION_NO_FORCES, .step = r->conditions.n_step};
    return hx_import_conditions_add(&r->conditions, &none, &added);
}
