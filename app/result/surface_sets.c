#include "surface_sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/face_tree.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/point_grid.h"
#include "part.h"

/* Largest distance, relative to the element size, of a face of the surface from the faces of a set,
 * and of a node from the node that replaces it. */
static const double on_face = 0.05, at_node = 0.4;

/* If less than this fraction of its area or nodes is found, a set is reported to be found in
 * part. */
static const double whole = 0.99;

/* The data with which sets are searched. */
typedef struct place {
    const hx_mesh *mesh, *raw;
    hx_point_grid grid; /* nodes of raw */
} place;

/* --- one set --- */

/* 1 if corners and centre of a triangle are near the faces of the tree. */
static int lies_on(const hx_face_tree *tree, const hx_mesh *raw, int64_t face, double reach)
{
    int32_t node[4];
    double centre[3] = {0.0, 0.0, 0.0};
    const int n = hx_cell_face(raw->conn + 8 * (face / 6), (int)(face % 6), node);
    for (int a = 0; a < n; a++) {
        const double *const x = raw->xyz + 3 * (int64_t)node[a];
        for (int d = 0; d < 3; d++) centre[d] += x[d] / n;
        if (hx_face_tree_distance(tree, x, reach) >= reach) return 0;
    }
    return hx_face_tree_distance(tree, centre, reach) < reach;
}

/* Marks the faces of raw that belong to the set: is_found[n]. */
static int64_t mark_faces(const hx_face_tree *tree, const hx_mesh *raw, double reach, int64_t n,
                          const int64_t *face, uint8_t *is_found)
{
    int64_t n_found = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : n_found)
    for (int64_t f = 0; f < n; f++) {
        is_found[f] = (uint8_t)lies_on(tree, raw, face[f], reach);
        n_found += is_found[f];
    }
    return n_found;
}

int hx_surface_faces_on(const hx_mesh *mesh, int64_t n_face, const int64_t *face,
                        const hx_mesh *raw, int64_t *n_found, int64_t **found)
{
    int rc;
    hx_face_tree tree = {0};
    int64_t n = 0, *all = NULL;
    uint8_t *is_found = NULL;
    *n_found = 0;
    HX_TRY_FAIL(hx_mesh_boundary_faces(raw, NULL, &n, &all));
    HX_TRY_FAIL(hx_face_tree_create(&tree, mesh, n_face, face, 0, NULL));
    HX_TRY_FAIL(hx_alloc(&is_found, (size_t)n, 1, "faces of a set"));
    const int64_t n_on = mark_faces(&tree, raw, on_face * mesh->elem_size, n, all, is_found);
    HX_TRY_FAIL(hx_alloc_raw(found, (size_t)n_on, sizeof **found, "faces of a set"));
    for (int64_t f = 0; f < n; f++)
        if (is_found[f]) (*found)[(*n_found)++] = all[f];
fail:
    free(all);
    free(is_found);
    hx_face_tree_free(&tree);
    return rc;
}

/* Finds those nodes of the set with flag 0, as the nearest nodes. */
static int find_nodes(const place *at, const hx_set *from, const uint8_t *flag, hx_surface_set *set)
{
    HX_TRY(hx_alloc_raw(&set->node, (size_t)from->n_node, sizeof *set->node, "nodes of a set"));
    for (int64_t i = 0; i < from->n_node; i++) {
        const int32_t node = from->node[i];
        if (flag && flag[node]) continue;
        const int64_t near = hx_point_grid_nearest(&at->grid, at->mesh->xyz + 3 * (int64_t)node,
                                                   at_node * at->mesh->elem_size);
        set->n_node++;
        if (near >= 0) set->node[set->n_found++] = (int32_t)near;
    }
    return HX_OK;
}

/* Finds the set's boundary faces, and the nodes that are on none of these; for a set by nodes, only
 * the nodes. */
static int find_set(const place *at, const hx_set *from, hx_surface_set *set)
{
    int rc = HX_OK;
    int64_t n_face = 0, *face = NULL;
    uint8_t *flag = NULL;
    if (set->by_nodes) return find_nodes(at, from, NULL, set);
    if (hx_load_faces(at->mesh, from, &n_face, &face) != HX_OK) {
        hx_error_clear();
        n_face = 0;
        face = NULL;
    }
    HX_TRY_FAIL(hx_alloc(&flag, (size_t)at->mesh->n_node, 1, "nodes of a set"));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        const int n = hx_cell_face(at->mesh->conn + 8 * (face[f] / 6), (int)(face[f] % 6), node);
        for (int a = 0; a < n; a++) flag[node[a]] = 1;
    }
    if (n_face > 0) {
        set->area = hx_faces_area(at->mesh, n_face, face);
        HX_TRY_FAIL(hx_surface_faces_on(at->mesh, n_face, face, at->raw, &set->n_face, &set->face));
        set->found_area = hx_faces_area(at->raw, set->n_face, set->face);
    }
    HX_TRY_FAIL(find_nodes(at, from, flag, set));
fail:
    free(flag);
    free(face);
    return rc;
}

static int is_empty(const hx_surface_set *set)
{
    return set->n_face == 0 && set->n_found == 0;
}

/* Notes sets of loads and springs that are found only in part. A support may be held by part of its
 * faces. */
static int note_part(hx_surface_part *p, const hx_surface_set *set)
{
    if (set->area > 0.0 && !(set->found_area >= whole * set->area))
        return hx_notes_add(&p->notes, HX_NOTE_WARNING,
                            "set '%s': %.3g %% of its area is on the surface", set->from,
                            100.0 * set->found_area / set->area);
    if (set->n_node > 0 && (double)set->n_found < whole * (double)set->n_node &&
        (set->by_nodes || !(set->area > 0.0)))
        return hx_notes_add(&p->notes, HX_NOTE_WARNING,
                            "set '%s': %lld of its %lld %s are on the surface", set->from,
                            (long long)set->n_found, (long long)set->n_node,
                            hx_noun(set->n_node, "node", "nodes"));
    return HX_OK;
}

/* Returns the set of that name; the first call searches it. */
static int use_set(hx_surface_part *p, const place *at, const char *name, int by_nodes,
                   const hx_surface_set **found)
{
    char text[256];
    const hx_set *const from = hx_mesh_find_set(at->mesh, name);
    for (size_t i = 0; i < p->n_set; i++) {
        *found = &p->set[i];
        if (p->set[i].by_nodes == by_nodes && strcmp(p->set[i].from, name) == 0) return HX_OK;
    }
    if (!from) return HX_RAISE(HX_EINPUT, "unknown set '%s'", name);
    hx_surface_set *const set = &p->set[p->n_set++];
    snprintf(text, sizeof text, "%.240s%s", name, by_nodes ? " (nodes)" : "");
    set->from = name;
    set->by_nodes = by_nodes;
    *found = set;
    HX_TRY(hx_strdup(&set->name, text));
    return find_set(at, from, set);
}

/* --- the config's lists --- */

/* Scales a value that acts on each node, so that the sum over the nodes stays the same. */
static void keep_sum(const hx_surface_set *set, double value[3])
{
    for (int d = 0; d < 3; d++) value[d] *= (double)set->n_node / (double)set->n_found;
}

static int copy_list(const hx_config_list *from, size_t size, hx_config_list *to)
{
    to->entry = NULL;
    to->n = 0;
    HX_TRY(hx_alloc(&to->entry, from->n, size, "supports and loads"));
    if (from->n > 0) memcpy(to->entry, from->entry, from->n * size);
    to->n = from->n;
    return HX_OK;
}

static int note_lost(hx_surface_part *p, const char *origin, const char *set)
{
    return hx_notes_add(&p->notes, HX_NOTE_WARNING,
                        "%s: no part of set '%s' is on the surface: it is left out", origin, set);
}

static int map_supports(hx_surface_part *p, const hx_session *s, const place *at)
{
    hx_config_support *entry = p->cfg.supports.entry;
    size_t n = 0;
    for (size_t i = 0; i < p->cfg.supports.n; i++) {
        const hx_surface_set *set = NULL;
        hx_config_support support = entry[i];
        if (support.set) HX_TRY(use_set(p, at, support.set, 0, &set));
        if (set && is_empty(set)) {
            if (hx_part_is_driven_by(s, &support)) {
                const char *const what =
                    hx_config_is_heat(&s->cfg) ? "temperature" : "displacement";
                return HX_RAISE(
                    HX_EINPUT,
                    "%s: no part of set '%s', whose prescribed %s drives the part, is on the "
                    "surface: `hextop surface` with loads in --preserve (the default) makes the "
                    "elements behind it solid; otherwise check that the surface belongs to this "
                    "part, its place and its unit",
                    support.origin, support.set, what);
            }
            HX_TRY(note_lost(p, support.origin, support.set));
            continue;
        }
        if (set) support.set = set->name;
        entry[n++] = support;
    }
    p->cfg.supports.n = n;
    return HX_OK;
}

static int map_springs(hx_surface_part *p, const place *at)
{
    hx_config_spring *entry = p->cfg.springs.entry;
    size_t n = 0;
    for (size_t i = 0; i < p->cfg.springs.n; i++) {
        const hx_surface_set *set = NULL;
        hx_config_spring spring = entry[i];
        HX_TRY(use_set(p, at, spring.set, spring.per == HX_SPRING_NODE, &set));
        if (is_empty(set)) {
            HX_TRY(note_lost(p, spring.origin, spring.set));
            continue;
        }
        p->set[set - p->set].is_shared = 1;
        if (spring.per == HX_SPRING_NODE) keep_sum(set, spring.stiffness);
        spring.set = set->name;
        entry[n++] = spring;
    }
    p->cfg.springs.n = n;
    return HX_OK;
}

static int map_loads(hx_surface_part *p, const place *at)
{
    hx_config_load *entry = p->cfg.loads.entry;
    for (size_t i = 0; i < p->cfg.loads.n; i++) {
        hx_config_load *const load = &entry[i];
        const hx_surface_set *set = NULL;
        const int by_nodes = !isnan(load->node_force[0]);
        if (!load->set) continue;
        HX_TRY(use_set(p, at, load->set, by_nodes, &set));
        if (is_empty(set))
            return HX_RAISE(HX_EINPUT,
                            "%s: no part of set '%s' is on the surface: check that it belongs to "
                            "this part, its place and its unit",
                            load->origin, load->set);
        p->set[set - p->set].is_shared = 1;
        load->set = set->name;
    }
    return HX_OK;
}

/* Transfers sets on which loads of the mesh's file act, and sets that the file ties to a point. */
static int map_file(hx_surface_part *p, const hx_conditions *from, const place *at)
{
    for (int64_t i = 0; i < from->n_load + from->n_rigid; i++) {
        const int is_load = i < from->n_load;
        const char *const name = is_load ? from->load[i].set : from->rigid[i - from->n_load].set;
        const hx_surface_set *set = NULL;
        if (!name) continue;
        if (is_load && !hx_config_loads_by_step(&p->cfg, from, from->load[i].load_case)) continue;
        HX_TRY(use_set(p, at, name, 0, &set));
        if (is_empty(set))
            return HX_RAISE(
                HX_EINPUT,
                "no part of set '%s', on which a load or coupling of the mesh's file acts, is on "
                "the surface: check that the surface belongs to this part, its place and its unit",
                name);
        p->set[set - p->set].is_shared = 1;
        if (!is_load) p->set[set - p->set].holds = 1;
    }
    return HX_OK;
}

/* Sets whose values are limited; one that is not on the surface is judged later. */
static int map_limits(hx_surface_part *p, const hx_limits *limits, const place *at)
{
    for (int i = 0; i < limits->n; i++) {
        const hx_response_params *const params = &limits->spec[i].params;
        const char *const name[2] = {params->set, params->set_2};
        for (int k = 0; k < 2; k++) {
            const hx_surface_set *set;
            const size_t n_before = p->n_set;
            if (!name[k]) continue;
            HX_TRY(use_set(p, at, name[k], 0, &set));
            if (p->n_set > n_before) p->set[n_before].is_only_measured = 1;
        }
    }
    return HX_OK;
}

const char *hx_surface_part_set(const hx_surface_part *p, const char *from)
{
    if (!from) return NULL;
    for (size_t i = 0; i < p->n_set; i++)
        if (!p->set[i].by_nodes && strcmp(p->set[i].from, from) == 0 && !is_empty(&p->set[i]))
            return p->set[i].name;
    return "";
}

static int map_lists(hx_surface_part *p, const hx_session *s, const place *at)
{
    const hx_config *const cfg = &s->cfg;
    HX_TRY(copy_list(&cfg->supports, sizeof(hx_config_support), &p->cfg.supports));
    HX_TRY(copy_list(&cfg->springs, sizeof(hx_config_spring), &p->cfg.springs));
    HX_TRY(copy_list(&cfg->loads, sizeof(hx_config_load), &p->cfg.loads));
    p->cfg.passive.n = 0;
    const size_t n_file = (size_t)(s->conditions.n_load + s->conditions.n_rigid);
    const size_t n_limit = 2 * (size_t)s->limits.n;
    HX_TRY(hx_alloc(&p->set, cfg->supports.n + cfg->springs.n + cfg->loads.n + n_file + n_limit,
                    sizeof *p->set, "sets"));
    HX_TRY(map_supports(p, s, at));
    HX_TRY(map_springs(p, at));
    HX_TRY(map_loads(p, at));
    if (hx_config_is_by_file(cfg)) HX_TRY(map_file(p, &s->conditions, at));
    return map_limits(p, &s->limits, at);
}

int hx_surface_sets_find(hx_surface_part *p, const hx_session *s, const hx_mesh *raw)
{
    place at = {.mesh = &s->mesh, .raw = raw};
    p->cfg = s->cfg;
    p->cfg.supports.entry = p->cfg.springs.entry = p->cfg.loads.entry = NULL;
    p->cfg.materials.entry = NULL;
    p->cfg.materials.n = 0;
    int rc = hx_point_grid_create(&at.grid, raw->n_node, raw->xyz);
    if (rc == HX_OK) rc = map_lists(p, s, &at);
    hx_point_grid_free(&at.grid);
    return rc;
}

int hx_surface_set_holds(const hx_config *cfg, const char *set)
{
    const hx_config_support *support = cfg->supports.entry;
    const hx_config_spring *spring = cfg->springs.entry;
    const hx_config_load *load = cfg->loads.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->supports.n; i++)
        any |= support[i].set && strcmp(support[i].set, set) == 0;
    for (size_t i = 0; i < cfg->springs.n; i++) any |= strcmp(spring[i].set, set) == 0;
    for (size_t i = 0; i < cfg->loads.n; i++)
        any |=
            load[i].set && load[i].coupling == HX_COUPLING_RIGID && strcmp(load[i].set, set) == 0;
    return any;
}

/* --- on the new mesh --- */

const char *hx_surface_piece_advice(const hx_surface_part *p)
{
    return p->n_fragment > 0 ? "; the surface is connected there, --refine with a larger number "
                               "follows it more closely"
                             : "";
}

/* Removes from a set what is left out of the mesh. HX_EINPUT: nothing remains. */
static int trim_set(hx_surface_part *p, hx_surface_set *set, const hx_mesh *raw,
                    const int32_t *new_node, const int32_t *new_elem)
{
    const int64_t n_face_before = set->n_face;
    int64_t n_node = 0, n_face = 0;
    for (int64_t i = 0; i < set->n_found; i++)
        if (new_node[set->node[i]] >= 0) set->node[n_node++] = set->node[i];
    for (int64_t i = 0; i < set->n_face; i++)
        if (new_elem[set->face[i] / 6] >= 0) set->face[n_face++] = set->face[i];
    if (n_node + n_face == 0 &&
        !set->is_only_measured) /* pieces with supports are never left out */
        return HX_RAISE(HX_EINPUT,
                        "set '%s' is on a piece of the surface that is not connected to a support "
                        "and is left out: its load would act on nothing%s",
                        set->name, hx_surface_piece_advice(p));
    set->n_found = n_node;
    set->n_face = n_face;
    if (n_face < n_face_before) set->found_area = hx_faces_area(raw, n_face, set->face);
    return HX_OK;
}

int hx_surface_sets_trim(hx_surface_part *p, const hx_mesh *raw, const int32_t *new_node,
                         const int32_t *new_elem)
{
    hx_config_load *const load = p->cfg.loads.entry;
    for (size_t i = 0; i < p->n_set; i++) {
        hx_surface_set *const set = &p->set[i];
        if (is_empty(set)) continue;
        HX_TRY(trim_set(p, set, raw, new_node, new_elem));
        if (set->is_shared) HX_TRY(note_part(p, set));
        for (size_t k = 0; set->by_nodes && k < p->cfg.loads.n; k++)
            if (load[k].set == set->name && !isnan(load[k].node_force[0]))
                keep_sum(set, load[k].node_force);
    }
    return HX_OK;
}

static int add_surface_set(hx_mesh *mesh, const hx_surface_set *set, const int32_t *new_node,
                           const int32_t *new_elem)
{
    int rc;
    int32_t *node = NULL;
    int64_t *face = NULL, n_node = 0, n_face = 0;
    HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)set->n_found, sizeof *node, "nodes of a set"));
    HX_TRY_FAIL(hx_alloc_raw(&face, (size_t)set->n_face, sizeof *face, "faces of a set"));
    for (int64_t i = 0; i < set->n_found; i++) node[n_node++] = new_node[set->node[i]];
    for (int64_t i = 0; i < set->n_face; i++)
        face[n_face++] = 6 * (int64_t)new_elem[set->face[i] / 6] + set->face[i] % 6;
    if (n_face > 0) HX_TRY_FAIL(hx_mesh_add_face_set(mesh, set->name, n_face, face));
    if (n_node > 0) HX_TRY_FAIL(hx_mesh_add_node_set(mesh, set->name, n_node, node));
fail:
    free(node);
    free(face);
    return rc;
}

int hx_surface_sets_add(hx_surface_part *p, const int32_t *new_node, const int32_t *new_elem)
{
    for (size_t i = 0; i < p->n_set; i++)
        if (!is_empty(&p->set[i]))
            HX_TRY(add_surface_set(&p->mesh, &p->set[i], new_node, new_elem));
    return HX_OK;
}
