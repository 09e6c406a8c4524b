/* Heat-transfer jobs step by step. Nodes, elements and faces with the same history become sets, and
 * for each steady step the loads, films and temperatures on these sets are determined (rules in
 * abaqus_reader.h). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "abaqus_reader.h"
#include "abaqus_write.h"

enum { MOST_GROUPS = 2000, SIDES = 8, WHOLE_SURFACE = SIDES };

/* --- groups --- */

static int is_at_nodes(hx_file_heat_kind kind)
{
    return kind == HX_FILE_TEMPERATURE || kind == HX_FILE_NODE_HEAT;
}

static int is_on_faces(hx_file_heat_kind kind)
{
    return kind == HX_FILE_FLUX || kind == HX_FILE_FILM;
}

/* Index of a set among the sets of the import. */
static int64_t index_of(const hx_abaqus_reader *r, const hx_import_set *set)
{
    size_t i = 0;
    while (r->import.set[i] != set) i++;
    return (int64_t)i;
}

/* Returns 1 if the element has that side; otherwise records why the heat data are incomplete. */
static int has_side(hx_abaqus_reader *r, const hx_abaqus_heat *heat, int64_t elem, int side,
                    int *has)
{
    const int is_solid = hx_number_index_find(&r->elem_place, elem) >= 0;
    *has = is_solid && (side == 0 || hx_abaqus_face[hx_abaqus_kind_of(r, elem)][side] >= 0);
    if (*has) return HX_OK;
    return hx_abaqus_heat_fault(r, heat->line, "element %s %s", HX_IMPORT_NUMBER(&r->import, elem),
                                is_solid ? "has no such side" : "is not a solid of the file");
}

/* Appends the items of a line to list[*n], which has room for them. */
static int list_line(hx_abaqus_reader *r, const hx_abaqus_heat *heat, hx_abaqus_face_load *list,
                     size_t *n)
{
    const int is_whole = heat->item.n == 0;
    hx_abaqus_face_load item = {.line = heat->line,
                                .step = heat->step,
                                .family = heat->family,
                                .value = heat->value,
                                .ambient = heat->ambient};
    for (int64_t i = 0; i < heat->item.n + is_whole; i++) {
        int has = 1;
        item.elem = is_whole ? index_of(r, heat->named) : hx_numbers_get(&heat->item, i);
        item.side = is_whole                ? WHOLE_SURFACE
                    : heat->item_side.n > 0 ? (int)hx_numbers_get(&heat->item_side, i)
                                            : heat->side;
        if (!is_at_nodes(heat->kind) && !is_whole)
            HX_TRY(has_side(r, heat, item.elem, item.side, &has));
        item.place = (int64_t)*n;
        if (has) list[(*n)++] = item;
    }
    return HX_OK;
}

/* Sorted distinct members of the set that a line names, as item * SIDES + side. */
static int list_members(const hx_abaqus_heat *heat, int64_t **key, int64_t *n)
{
    *n = heat->item.n;
    HX_TRY(hx_alloc_raw(key, (size_t)*n, sizeof **key, "members of a set"));
    for (int64_t i = 0; i < *n; i++)
        (*key)[i] = hx_numbers_get(&heat->item, i) * SIDES +
                    (heat->item_side.n > 0 ? hx_numbers_get(&heat->item_side, i) : heat->side);
    hx_sort_i64(*key, *n);
    *n = hx_unique_i64(*key, *n);
    return HX_OK;
}

/* 1 if the line's set has exactly the items of the group. */
static int is_group(const hx_abaqus_heat *heat, const hx_abaqus_history *first, size_t n_item,
                    int *is_same)
{
    int64_t *key = NULL, n;
    HX_TRY(list_members(heat, &key, &n));
    *is_same = (size_t)n == n_item;
    for (size_t i = 0; *is_same && i < n_item; i++) {
        const int64_t sought = first[i].begin->elem * SIDES + first[i].begin->side;
        const int64_t at = hx_count_below_i64(key, n, sought);
        *is_same = at < n && key[at] == sought;
    }
    free(key);
    return HX_OK;
}

/* Finds the set of the file with exactly the items of a group; *set = NULL: there is none. */
static int find_named(hx_abaqus_reader *r, hx_file_heat_kind kind, const hx_abaqus_history *first,
                      size_t n_item, hx_import_set **set)
{
    *set = NULL;
    for (size_t i = 0; i < r->n_heat && !*set; i++) {
        const hx_abaqus_heat *const heat = &r->heat[i];
        int is_same;
        char name[230];
        if (heat->kind != kind || !heat->named || heat->line != first->begin->line) continue;
        HX_TRY(is_group(heat, first, n_item, &is_same));
        if (!is_same) continue;
        *set = heat->named;
        if (heat->side == 0) continue;
        snprintf(name, sizeof name, "%.200s.S%d", heat->named->name, heat->side);
        *set = hx_abaqus_find_set(r, HX_N_SET_KIND, name);
        if (!*set) HX_TRY(hx_import_set_of(&r->import, name, HX_KIND_FACES, set));
        if (!(*set)->is_of_loads && (*set)->face_elem.n > 0) *set = NULL; /* a set of the file */
    }
    return HX_OK;
}

/* Opens "flux-1" or the next such name that is not a set yet. */
static int open_set(hx_abaqus_reader *r, hx_file_heat_kind kind, hx_import_set **set)
{
    static const char *const word[] = {"temperature", "heat", "flux", "source", "film"};
    const hx_set_kind of = is_at_nodes(kind)        ? HX_KIND_NODES
                           : kind == HX_FILE_SOURCE ? HX_KIND_ELEMS
                                                    : HX_KIND_FACES;
    int number = 0;
    return hx_abaqus_open_loads(r, word[kind], &number, of, set);
}

static int fill_set(hx_import_set *set, hx_file_heat_kind kind, const hx_abaqus_history *first,
                    size_t n_item)
{
    hx_numbers *const to = is_at_nodes(kind)        ? &set->node
                           : kind == HX_FILE_SOURCE ? &set->elem
                                                    : &set->face_elem;
    set->is_of_loads = 1;
    for (size_t i = 0; i < n_item; i++) {
        const int64_t number = first[i].begin->elem, side = first[i].begin->side;
        HX_TRY(hx_numbers_append(to, 1, &number));
        if (is_on_faces(kind)) HX_TRY(hx_numbers_append(&set->face_local, 1, &side));
    }
    return HX_OK;
}

/* Finds or makes the set of a group of items. */
static int make_set(hx_abaqus_reader *r, hx_file_heat_kind kind, const hx_abaqus_history *first,
                    size_t n_item, hx_import_set **set)
{
    if (first->begin->side == WHOLE_SURFACE) {
        *set = r->import.set[first->begin->elem];
        return HX_OK;
    }
    HX_TRY(find_named(r, kind, first, n_item, set));
    if (!*set) HX_TRY(open_set(r, kind, set));
    const int is_filled = (*set)->node.n + (*set)->elem.n + (*set)->face_elem.n > 0;
    return is_filled ? HX_OK : fill_set(*set, kind, first, n_item);
}

static int add_group(hx_abaqus_reader *r, hx_file_heat_kind kind, const hx_abaqus_history *first,
                     const hx_abaqus_history *end)
{
    hx_abaqus_face_load *const list = r->heat_item[kind];
    hx_import_set *set = NULL;
    size_t n_item = 1;
    while (first + n_item < end && hx_abaqus_is_next(first + n_item, first)) n_item++;
    HX_TRY(make_set(r, kind, first, n_item, &set));
    for (size_t i = 0; i < n_item; i++)
        list[first[i].begin - list].place = (int64_t)r->n_heat_group;
    HX_TRY(hx_grow(&r->heat_group, r->n_heat_group, &r->heat_group_capacity, sizeof *r->heat_group,
                   "loads of heat"));
    r->heat_group[r->n_heat_group++] = (hx_abaqus_heat_group){kind, set, *first};
    return HX_OK;
}

static int group_kind(hx_abaqus_reader *r, hx_file_heat_kind kind)
{
    hx_abaqus_groups groups = {0};
    hx_abaqus_face_load **const list = &r->heat_item[kind];
    const int replaces = kind == HX_FILE_TEMPERATURE || kind == HX_FILE_FILM;
    size_t most = 0, n = 0;
    int rc = HX_OK;
    for (size_t i = 0; i < r->n_heat; i++)
        if (r->heat[i].kind == kind) most += (size_t)r->heat[i].item.n + 1;
    if (most == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(list, most, sizeof **list, "loads of heat"));
    for (size_t i = 0; i < r->n_heat; i++)
        if (r->heat[i].kind == kind && !r->heat[i].is_reset)
            HX_TRY(list_line(r, &r->heat[i], *list, &n));
    if (n == 0) return HX_OK;
    HX_TRY_FAIL(hx_abaqus_make_groups(&groups, *list, &n, replaces));
    r->n_heat_item[kind] = n;
    if (groups.n > MOST_GROUPS)
        rc = hx_abaqus_heat_fault(r, (*list)[0].line,
                                  "more than %d groups of heat loads with different values: give "
                                  "them on sets",
                                  MOST_GROUPS);
    for (size_t i = 0; rc == HX_OK && groups.n <= MOST_GROUPS && i < groups.n; i++)
        rc = add_group(r, kind, groups.group[i], groups.item + groups.n_item);
fail:
    hx_abaqus_free_groups(&groups);
    return rc;
}

static int has_heat_step(const hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_procedure; i++)
        if (r->procedure[i].kind != HX_STEP_OTHER) return 1;
    return 0;
}

int hx_abaqus_group_heat(hx_abaqus_reader *r)
{
    if (r->n_heat == 0 || !has_heat_step(r)) return HX_OK;
    HX_TRY(hx_abaqus_update_places(r));
    for (int kind = 0; kind < HX_N_FILE_HEAT; kind++)
        HX_TRY(group_kind(r, (hx_file_heat_kind)kind));
    return HX_OK;
}

/* --- state of a group in a step --- */

typedef struct acting {
    int is_on;
    double value, ambient;
} acting;

/* Returns 1 for loads: they add up within a step and may differ between the steps. */
static int is_load(hx_file_heat_kind kind)
{
    return kind != HX_FILE_TEMPERATURE && kind != HX_FILE_FILM;
}

/* Returns the last step up to `step` whose OP=NEW ends earlier statements; 0: none. */
static int last_reset(const hx_abaqus_reader *r, hx_file_heat_kind kind, int family, int step)
{
    int last = 0;
    if (kind == HX_FILE_SOURCE) kind = HX_FILE_FLUX; /* *DFLUX states both */
    for (size_t i = 0; i < r->n_heat; i++)
        if (r->heat[i].is_reset && r->heat[i].kind == kind && r->heat[i].family == family &&
            r->heat[i].step <= step && r->heat[i].step > last)
            last = r->heat[i].step;
    return last;
}

/* State of a group at the end of a step, as stated by the lines of one family. */
static acting evaluate_family(const hx_abaqus_reader *r, const hx_abaqus_heat_group *group,
                              int family, int step)
{
    const int from = last_reset(r, group->kind, family, step), adds = is_load(group->kind);
    acting now = {0, 0.0, 0.0};
    int last = -1;
    for (const hx_abaqus_face_load *e = group->history.begin; e < group->history.end; e++) {
        if (e->family != family || e->step < from || e->step > step) continue;
        now = (acting){1, e->value + (adds && last == e->step ? now.value : 0.0), e->ambient};
        last = e->step;
    }
    return now;
}

static int evaluate_heat_step(hx_abaqus_reader *r, const hx_abaqus_heat_group *group, int step,
                              acting *now)
{
    const acting other = evaluate_family(r, group, HX_LOADS_OF_ELEMENTS, step);
    *now = evaluate_family(r, group, HX_LOADS_OF_SURFACES, step);
    if (now->is_on && other.is_on && group->kind == HX_FILE_FILM)
        HX_TRY(hx_abaqus_heat_fault(r, group->history.begin->line,
                                    "*FILM and *SFILM on the same face"));
    if (!now->is_on)
        *now = other;
    else
        now->value += other.value;
    if (group->kind != HX_FILE_TEMPERATURE && now->value == 0.0) now->is_on = 0;
    return HX_OK;
}

/* Appends "job.inp:53: step 2, *STATIC, WHAT" or, after the first, "line 53: ...". */
static int add_note(hx_abaqus_reader *r, size_t step, const char *what, hx_conditions *to)
{
    const hx_abaqus_procedure *const p = &r->procedure[step - 1];
    const char *const before = to->heat_note ? to->heat_note : r->import.path;
    char text[2000];
    snprintf(text, sizeof text, "%.1600s%s%lld: step %zu%s%s, %s", before,
             to->heat_note ? "; line " : ":", (long long)p->line, step, p->name[0] ? ", " : "",
             p->name, what);
    free(to->heat_note);
    to->heat_note = NULL;
    return hx_strdup(&to->heat_note, text);
}

/* Lists the steps that become load cases, step[*n]: the steady ones or, if there are none,
 * transient ones, with the reason in heat_fault. */
static int find_steps(hx_abaqus_reader *r, int *step, int *n, hx_conditions *to)
{
    *n = 0;
    for (size_t i = 0; i < r->n_procedure; i++)
        if (r->procedure[i].kind == HX_STEP_STEADY) step[(*n)++] = (int)i + 1;
    const int is_steady = *n > 0;
    for (size_t i = 0; i < r->n_procedure; i++) {
        const hx_abaqus_step_kind kind = r->procedure[i].kind;
        if (kind == HX_STEP_TRANSIENT && !is_steady) step[(*n)++] = (int)i + 1;
        if (kind == HX_STEP_TRANSIENT)
            HX_TRY(add_note(r, i + 1, "lacks STEADY STATE: hextop computes only the steady state",
                            to));
        if (kind == HX_STEP_OTHER)
            HX_TRY(add_note(r, i + 1,
                            "is not heat transfer: physics=elasticity makes a config for what it "
                            "states",
                            to));
    }
    if (is_steady) return HX_OK;
    return hx_abaqus_heat_fault(r, r->procedure[step[0] - 1].line,
                                "*HEAT TRANSFER without STEADY STATE: hextop computes only the "
                                "steady state");
}

static int emit(const hx_abaqus_heat_group *group, const acting *now, int load_case, size_t *room,
                hx_conditions *to)
{
    HX_TRY(hx_grow(&to->heat, (size_t)to->n_heat, room, sizeof *to->heat, "loads of heat"));
    hx_file_heat *const heat = &to->heat[to->n_heat++];
    *heat = (hx_file_heat){group->kind, NULL, load_case, now->value, now->ambient};
    return hx_strdup(&heat->set, group->set->name);
}

static int is_same_heat(const acting *a, const acting *b)
{
    return a->is_on == b->is_on &&
           (!a->is_on || (!(a->value < b->value || a->value > b->value) &&
                          !(a->ambient < b->ambient || a->ambient > b->ambient)));
}

/* Emits a temperature or a film, which acts in all load cases. */
static int emit_common(hx_abaqus_reader *r, const hx_abaqus_heat_group *group, const int *step,
                       int n, size_t *room, hx_conditions *to)
{
    acting first, now;
    int differs = 0;
    HX_TRY(evaluate_heat_step(r, group, step[0], &first));
    for (int i = 1; i < n; i++) {
        HX_TRY(evaluate_heat_step(r, group, step[i], &now));
        differs |= !is_same_heat(&first, &now);
    }
    if (!differs) return first.is_on ? emit(group, &first, 0, room, to) : HX_OK;
    for (int i = 0; i < n; i++) {
        HX_TRY(evaluate_heat_step(r, group, step[i], &now));
        if (now.is_on) HX_TRY(emit(group, &now, i + 1, room, to));
    }
    return hx_abaqus_heat_fault(r, group->history.end[-1].line,
                                "%s of set '%.60s' differ between the steps, but all load cases "
                                "have the same ones: write one config per step",
                                group->kind == HX_FILE_FILM ? "films" : "temperatures",
                                group->set->name);
}

/* of_step[i] := number of the load case of each step that has a load; 0: none. */
static int number_cases(hx_abaqus_reader *r, const int *step, int n, int *of_step,
                        hx_conditions *to)
{
    to->n_heat_case = 0;
    for (int i = 0; i < n; i++) {
        int has_load = 0;
        for (size_t k = 0; k < r->n_heat_group; k++) {
            acting now;
            HX_TRY(evaluate_heat_step(r, &r->heat_group[k], step[i], &now));
            has_load |= is_load(r->heat_group[k].kind) && now.is_on;
        }
        of_step[i] = has_load ? ++to->n_heat_case : 0;
    }
    for (int i = 0; i < n && to->n_heat_case > 0; i++)
        if (of_step[i] == 0)
            HX_TRY(add_note(r, (size_t)step[i], "has no load of heat, so it is no load case", to));
    if (to->n_heat_case == 0) to->n_heat_case = 1;
    return HX_OK;
}

/* --- checks that need the mesh --- */

/* Checks an item whose node is not a node of the mesh. group_of[n_node]: group (from 1) of each
 * node of the mesh whose temperature is held. */
static int check_other_node(hx_abaqus_reader *r, const hx_mesh *mesh, hx_file_heat_kind kind,
                            const hx_abaqus_face_load *item, const int32_t *group_of)
{
    const int64_t middle = hx_import_middle(&r->import, item->elem);
    int32_t corner[HX_SOLID_CORNERS];
    int n = 0;
    if (middle < 0 && kind == HX_FILE_TEMPERATURE) return HX_OK; /* it has no effect */
    if (kind == HX_FILE_NODE_HEAT)
        return hx_abaqus_heat_fault(r, item->line, "a *CFLUX at node %s, which %s",
                                    HX_IMPORT_NUMBER(&r->import, item->elem),
                                    middle < 0 ? "no element has"
                                               : "lies in the middle of an edge or face");
    const int n_corner = hx_import_middle_corners(&r->import, mesh, middle, corner);
    while (n < n_corner && group_of[corner[n]] == (int32_t)item->place + 1) n++;
    if (n == n_corner) return HX_OK;
    return hx_abaqus_heat_fault(r, item->line,
                                "a temperature at node %s, in the middle of an edge or face whose "
                                "corners do not have it",
                                HX_IMPORT_NUMBER(&r->import, item->elem));
}

static int check_nodes(hx_abaqus_reader *r, const hx_mesh *mesh)
{
    int32_t *group_of = NULL;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&group_of, (size_t)mesh->n_node, sizeof *group_of, "loads of heat"));
    for (int kind = 0; kind < HX_N_FILE_HEAT && rc == HX_OK; kind++) {
        const hx_abaqus_face_load *const list = r->heat_item[kind];
        const size_t n = is_at_nodes((hx_file_heat_kind)kind) ? r->n_heat_item[kind] : 0;
        for (size_t i = 0; i < n && kind == HX_FILE_TEMPERATURE; i++) {
            const int64_t node = hx_import_node_index(&r->import, list[i].elem);
            const int is_first = i == 0 || list[i].elem != list[i - 1].elem;
            if (node >= 0 && is_first) group_of[node] = (int32_t)list[i].place + 1;
        }
        for (size_t i = 0; i < n && rc == HX_OK; i++) {
            const int is_first = i == 0 || list[i].elem != list[i - 1].elem;
            if (is_first && hx_import_node_index(&r->import, list[i].elem) < 0)
                rc = check_other_node(r, mesh, (hx_file_heat_kind)kind, &list[i], group_of);
        }
    }
    free(group_of);
    return rc;
}

/* Surfaces whose faces are known only now may share faces with other surfaces. One load would then
 * replace only a part of the other. */
static int check_surfaces(hx_abaqus_reader *r, const hx_mesh *mesh)
{
    for (size_t i = 0; i < r->n_heat_group; i++)
        for (size_t k = 0; k < r->n_heat_group; k++) {
            const hx_abaqus_heat_group *const a = &r->heat_group[i], *const b = &r->heat_group[k];
            const int is_whole = a->history.begin->side == WHOLE_SURFACE;
            const int adds = a->kind == HX_FILE_FLUX && r->n_procedure == 1;
            if (i == k || !is_whole || a->kind != b->kind || adds || !is_on_faces(a->kind))
                continue;
            if (hx_sets_share_faces(mesh, a->set->name, b->set->name))
                HX_TRY(hx_abaqus_heat_fault(r, a->history.begin->line,
                                            "surface '%.60s' overlaps '%.60s': name each face in "
                                            "one of them",
                                            a->set->name, b->set->name));
        }
    return HX_OK;
}

int hx_abaqus_give_heat(hx_abaqus_reader *r, const hx_mesh *mesh, hx_conditions *to)
{
    int *step = NULL, n = 0, rc;
    if (!has_heat_step(r)) return HX_OK;
    to->is_heat = 1;
    HX_TRY_FAIL(hx_alloc(&step, 2 * r->n_procedure, sizeof *step, "steps of a file"));
    HX_TRY_FAIL(find_steps(r, step, &n, to));
    int *const of_step = step + r->n_procedure;
    size_t room = 0;
    HX_TRY_FAIL(number_cases(r, step, n, of_step, to));
    for (size_t k = 0; k < r->n_heat_group; k++)
        if (!is_load(r->heat_group[k].kind))
            HX_TRY_FAIL(emit_common(r, &r->heat_group[k], step, n, &room, to));
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < r->n_heat_group; k++) {
            acting now;
            if (!is_load(r->heat_group[k].kind)) continue;
            HX_TRY_FAIL(evaluate_heat_step(r, &r->heat_group[k], step[i], &now));
            if (now.is_on) HX_TRY_FAIL(emit(&r->heat_group[k], &now, of_step[i], &room, to));
        }
    HX_TRY_FAIL(check_nodes(r, mesh));
    HX_TRY_FAIL(check_surfaces(r, mesh));
    /* A film coefficient that is not above 0 does not describe convection. */
    for (int64_t i = 0; i < to->n_heat; i++)
        if (to->heat[i].kind == HX_FILE_FILM && !(to->heat[i].value > 0.0))
            HX_TRY_FAIL(
                hx_abaqus_heat_fault(r, r->heat[0].line,
                                     "a film coefficient of %g on set '%.60s'; it must be above "
                                     "0",
                                     to->heat[i].value, to->heat[i].set));
    to->heat_fault = r->heat_fault;
    r->heat_fault = NULL;
fail:
    free(step);
    return rc;
}
