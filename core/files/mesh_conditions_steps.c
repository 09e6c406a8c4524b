/* Turns the steps of a mesh file into load cases: supports and forces at the end of each step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "mesh_conditions.h"
#include "mesh_import_internal.h"

/* State at the end of a step, for the mesh's nodes followed by the nodes of second order that the
 * mesh omits: n_place in total. */
typedef struct state {
    int64_t n_node, n_place;
    double *force;             /* [n_place][3] */
    double *value;             /* [n_place][3] prescribed displacements */
    int *step;                 /* [n_place][3] step in which the force was last set */
    uint8_t *fixed;            /* [n_place] bits as in hx_condition.components */
    uint8_t *awaits;           /* [n_place] supports that this step must state again (owned) */
    int64_t renewal_line;      /* line of the keyword that requires it; -1: none in this step */
    hx_import_conditions *all; /* (borrowed) */
    const hx_import *import;
    const hx_mesh *mesh;
    hx_middle_report middles;
    hx_set_loads *loads;                   /* (owned) */
    int64_t n_idle, first_idle, idle_line; /* supports of nodes that no element has */
} state;

static void state_free(state *s)
{
    free(s->force);
    free(s->value);
    free(s->step);
    free(s->fixed);
    free(s->awaits);
    hx_set_loads_free(s->loads);
}

/* "FILE:LINE", or "FILE" if the line is not known. */
static const char *condition_place(const state *s, const hx_condition *c, char *text, size_t n_text)
{
    char line[24] = "";
    if (c->line > 0) snprintf(line, sizeof line, ":%lld", (long long)c->line);
    snprintf(text, n_text, "%.300s%s", s->import->path, line);
    return text;
}

static int add_force(state *s, const hx_condition *c, int64_t place)
{
    for (int d = 0; d < 3; d++) {
        const int64_t k = 3 * place + d;
        if (!(c->components >> d & 1u)) continue;
        s->force[k] = (s->step[k] == c->step ? s->force[k] : 0.0) + c->value;
        s->step[k] = c->step;
    }
    return HX_OK;
}

static int add_support(state *s, const hx_condition *c, int64_t at, int64_t number)
{
    char text[340];
    for (int d = 0; d < 3; d++) {
        if (!(c->components >> d & 1u)) continue;
        const int held = s->fixed[at] >> d & 1;
        if (c->step > 1 && (!held || s->value[3 * at + d] != c->value))
            return hx_set_fault(
                &s->all->support_fault,
                "%s: node %s has other supports than in step 1, but all load cases must have the "
                "same supports: write one file per set of supports",
                condition_place(s, c, text, sizeof text), HX_IMPORT_NUMBER(s->import, number));
        s->value[3 * at + d] = c->value;
        s->fixed[at] |= (uint8_t)(1u << d);
        if (s->awaits) s->awaits[at] &= (uint8_t) ~(1u << d);
    }
    return HX_OK;
}

/* Index of the node with that number in the state, -1: neither the mesh nor the omitted nodes have
 * it. */
static int64_t find_node_place(const state *s, int64_t number)
{
    const int64_t node = hx_import_node_index(s->import, number);
    const int64_t middle = node < 0 ? hx_import_middle(s->import, number) : -1;
    return middle < 0 ? node : s->n_node + middle;
}

static int note_idle(const state *s)
{
    const hx_condition at = {.line = s->idle_line};
    char text[340];
    if (s->n_idle == 0) return HX_OK;
    return hx_notes_add(
        s->import->notes, HX_NOTE_INFO,
        "%s: supports of nodes that no element has are left out: %lld, the first on node %s",
        condition_place(s, &at, text, sizeof text), (long long)s->n_idle,
        HX_IMPORT_NUMBER(s->import, s->first_idle));
}

/* Applies a force or support at a node. */
static int apply_at(state *s, const hx_condition *c, int64_t number)
{
    const int is_force = c->kind == HX_CONDITION_FORCE;
    const int64_t at = find_node_place(s, number);
    char text[340];
    int is_taken;
    HX_TRY(hx_set_loads_at_node(s->loads, c, number, at >= 0, &is_taken));
    if (is_taken) return HX_OK;
    if (c->components > 7u && is_force)
        return hx_set_fault(
            &s->all->load_fault,
            "%s: a moment on node %s, which has no rotations; only reference nodes have them",
            condition_place(s, c, text, sizeof text), HX_IMPORT_NUMBER(s->import, number));
    if ((c->components & 7u) == 0) return HX_OK; /* only rotations */
    if (at >= 0) return is_force ? add_force(s, c, at) : add_support(s, c, at, number);
    const int is_missing = hx_number_index_find(&s->import->node_index, number) < 0;
    if (c->is_of_set && is_missing) return HX_OK; /* the set is noted separately */
    if (!is_force && !is_missing) { /* a node of no element and of no coupling that is read */
        if (s->n_idle++ > 0) return HX_OK;
        s->first_idle = number;
        s->idle_line = c->line;
        return HX_OK;
    }
    return hx_set_fault(
        is_force ? &s->all->load_fault : &s->all->support_fault,
        "%s: a %s on node %s, which belongs to no element and is not the reference node of a "
        "coupling that is read",
        condition_place(s, c, text, sizeof text), is_force ? "force" : "support",
        HX_IMPORT_NUMBER(s->import, number));
}

/* Drops the supports stated so far, or requires that the step states them again. */
static int renew_supports(state *s, const hx_condition *c)
{
    const int awaits = c->step > 1 || c->is_late;
    hx_set_loads_renew(s->loads, awaits);
    if (!awaits) {
        memset(s->fixed, 0, (size_t)s->n_place);
        memset(s->value, 0, 3 * (size_t)s->n_place * sizeof *s->value);
        return HX_OK;
    }
    if (!s->awaits) HX_TRY(hx_alloc(&s->awaits, (size_t)s->n_place, 1, "supports of a file"));
    memcpy(s->awaits, s->fixed, (size_t)s->n_place);
    s->renewal_line = c->line;
    return HX_OK;
}

/* The file's number of the node at a place that a support names. */
static int64_t number_at(const state *s, int64_t at)
{
    for (size_t i = 0; i < s->all->n; i++) {
        const hx_condition *const c = &s->all->list[i];
        for (int64_t k = 0; c->kind == HX_CONDITION_SUPPORT && k < c->node.n; k++)
            if (find_node_place(s, hx_numbers_get(&c->node, k)) == at)
                return hx_numbers_get(&c->node, k);
    }
    return -1;
}

/* Refuses supports that a step drops and does not state again. */
static int check_renewed(state *s)
{
    const hx_condition from = {.line = s->renewal_line};
    char text[340];
    int64_t at = 0, number;
    if (s->renewal_line < 0) return HX_OK;
    s->renewal_line = -1;
    const int is_lost = hx_set_loads_lost(s->loads, &number);
    while (at < s->n_place && s->awaits[at] == 0) at++;
    if (at == s->n_place && !is_lost) return HX_OK;
    if (!is_lost) number = number_at(s, at);
    memset(s->awaits, 0, (size_t)s->n_place);
    return hx_set_fault(
        &s->all->support_fault,
        "%s: *BOUNDARY, OP=NEW ends a support of node %s, but all load cases must have the same "
        "supports: write one file per set of supports",
        condition_place(s, &from, text, sizeof text), HX_IMPORT_NUMBER(s->import, number));
}

static int apply_condition(state *s, const hx_condition *c)
{
    if (c->kind == HX_CONDITION_NO_SUPPORTS) return renew_supports(s, c);
    if (c->kind == HX_CONDITION_NO_FORCES) {
        memset(s->force, 0, 3 * (size_t)s->n_place * sizeof *s->force);
        hx_set_loads_reset(s->loads);
        return HX_OK;
    }
    if (c->kind != HX_CONDITION_FORCE && c->kind != HX_CONDITION_SUPPORT)
        return hx_set_loads_apply(s->loads, c);
    for (int64_t i = 0; i < c->node.n; i++) HX_TRY(apply_at(s, c, hx_numbers_get(&c->node, i)));
    return HX_OK;
}

/* Appends the entries to a list that already holds n. */
static int emit(const state *s, const double *value, int load_case, int64_t *n,
                hx_file_value **list)
{
    int64_t more = 0;
    const int is_support = load_case == 0;
    for (int64_t k = 0; k < 3 * s->n_node; k++)
        more += is_support ? s->fixed[k / 3] >> (k % 3) & 1 : value[k] != 0.0;
    if (more == 0) return HX_OK;
    HX_TRY(hx_resize_raw(list, (size_t)*n, (size_t)(*n + more), sizeof **list, "forces of a file"));
    for (int64_t k = 0; k < 3 * s->n_node; k++)
        if (is_support ? s->fixed[k / 3] >> (k % 3) & 1 : value[k] != 0.0)
            (*list)[(*n)++] =
                (hx_file_value){(int32_t)(k / 3), (int16_t)(k % 3), (int16_t)load_case, value[k]};
    return HX_OK;
}

static int append_middle(hx_import_conditions *all, const hx_file_middle *middle, hx_conditions *to)
{
    HX_TRY(hx_grow(&to->middle, (size_t)to->n_middle, &all->middle_capacity, sizeof *to->middle,
                   "forces of a file"));
    to->middle[to->n_middle++] = *middle;
    return HX_OK;
}

/* Appends the statements about middles of edges: forces of a step, or supports (step 0). */
static int emit_middles(const state *s, int step, hx_conditions *to)
{
    const double *const value = step > 0 ? s->force : s->value;
    for (int64_t k = 3 * s->n_node; k < 3 * s->n_place; k++) {
        int32_t corner[HX_SOLID_CORNERS];
        if (step > 0 ? value[k] == 0.0 : !(s->fixed[k / 3] >> (k % 3) & 1)) continue;
        if (hx_import_middle_corners(s->import, s->mesh, k / 3 - s->n_node, corner) != 2) continue;
        const hx_file_middle middle = {.end = {corner[0], corner[1]},
                                       .component = (int16_t)(k % 3),
                                       .load_case = (int16_t)step,
                                       .value = value[k]};
        HX_TRY(append_middle(s->all, &middle, to));
    }
    return HX_OK;
}

/* Appends the forces of a step; those of omitted nodes are distributed to their corners. */
static int emit_forces(state *s, int step, hx_conditions *to)
{
    double *shared = NULL;
    if (s->n_place == s->n_node) return emit(s, s->force, step, &to->n_force, &to->force);
    HX_TRY(emit_middles(s, step, to));
    HX_TRY(hx_share_forces(s->import, s->mesh, s->force, &shared, &s->middles));
    const int rc = emit(s, shared, step, &to->n_force, &to->force);
    free(shared);
    return rc;
}

static int run_steps(state *s, hx_conditions *to)
{
    size_t next = 0;
    for (int step = 0; step <= s->all->n_step; step++) {
        for (size_t i = next; i < s->all->n && s->all->list[i].step <= step; i++)
            hx_set_loads_restate(s->loads, &s->all->list[i]);
        for (; next < s->all->n && s->all->list[next].step <= step; next++)
            HX_TRY(apply_condition(s, &s->all->list[next]));
        HX_TRY(check_renewed(s));
        if (step > 0) HX_TRY(emit_forces(s, step, to));
        if (step > 0) HX_TRY(hx_set_loads_emit(s->loads, step, to));
    }
    HX_TRY(hx_set_loads_finish(s->loads, to));
    HX_TRY(emit_middles(s, 0, to));
    hx_share_supports(s->import, s->mesh, s->fixed, s->value, &s->middles);
    HX_TRY(hx_note_shared(s->import, &s->middles));
    HX_TRY(note_idle(s));
    return emit(s, s->value, 0, &to->n_support, &to->support);
}

int hx_import_conditions_finish(hx_import_conditions *conditions, hx_import *import,
                                const hx_mesh *mesh, hx_conditions *to)
{
    int rc = HX_OK;
    const size_t n_place = (size_t)(mesh->n_node + import->n_middle);
    state s = {.n_node = mesh->n_node,
               .n_place = mesh->n_node + import->n_middle,
               .renewal_line = -1,
               .all = conditions,
               .import = import,
               .mesh = mesh};
    if (!to) return HX_OK;
    to->n_case = conditions->n_step;
    to->is_second_order = import->n_middle > 0;
    if (conditions->n > 0 || conditions->n_coupling > 0) {
        HX_TRY_FAIL(hx_alloc(&s.force, 3 * n_place, sizeof *s.force, "forces of a file"));
        HX_TRY_FAIL(hx_alloc(&s.value, 3 * n_place, sizeof *s.value, "supports of a file"));
        HX_TRY_FAIL(hx_alloc(&s.step, 3 * n_place, sizeof *s.step, "forces of a file"));
        HX_TRY_FAIL(hx_alloc(&s.fixed, n_place, 1, "supports of a file"));
        HX_TRY_FAIL(hx_set_loads_create(&s.loads, conditions, import, mesh));
        HX_TRY_FAIL(run_steps(&s, to));
    }
    for (size_t i = 0; i < conditions->n_middle; i++)
        HX_TRY_FAIL(append_middle(conditions, &conditions->middle[i], to));
    HX_TRY_FAIL(hx_strdup(&to->fault, conditions->fault));
    HX_TRY_FAIL(hx_strdup(&to->support_fault, conditions->support_fault));
    HX_TRY_FAIL(hx_strdup(&to->load_fault, conditions->load_fault));
    hx_import_give_unread(import, to);
fail:
    state_free(&s);
    return rc;
}
