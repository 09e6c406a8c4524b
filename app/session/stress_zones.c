#include "stress_zones.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/point_grid.h"

/* A passive element of at most this density is void, and no zone makes it solid. */
static const double most_void = 0.5;

/* --- names --- */

static int add_names(const hx_mesh *mesh, const hx_config_words *list, int n,
                     const char *name[HX_MOST_ZONES])
{
    for (size_t i = 0; i < list->n && n < HX_MOST_ZONES - 1; i++) {
        int known = hx_mesh_find_set(mesh, list->word[i]) == NULL; /* named by the response */
        for (int k = 0; k < n; k++) known |= strcmp(name[k], list->word[i]) == 0;
        if (!known) name[n++] = list->word[i];
    }
    return n;
}

int hx_stress_zone_names(const hx_config *cfg, const hx_mesh *mesh, const char *name[HX_MOST_ZONES])
{
    const hx_config_constraint *const c = cfg->optimization.constraints.entry;
    int n = add_names(mesh, &cfg->optimization.objective.exclude, 0, name);
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        n = add_names(mesh, &c[i].exclude, n, name);
    if (hx_mesh_find_set(mesh, HX_STRESS_ZONE)) name[n++] = HX_STRESS_ZONE;
    return n;
}

/* --- radius --- */

static void widen(const char *kind, double wanted, double usual, double *radius)
{
    if (!kind || strcmp(kind, "stress") != 0) return;
    *radius = fmax(*radius, isnan(wanted) ? usual : wanted);
}

/* The largest radius of all stresses; 0: no zone. */
static double zone_radius(const hx_config *cfg, const hx_mesh *mesh, double filter_radius)
{
    const hx_config_constraint *const c = cfg->optimization.constraints.entry;
    const double usual = fmax(2.0 * filter_radius, 2.0 * mesh->elem_size);
    double radius = 0.0;
    widen(cfg->optimization.objective.kind, cfg->optimization.objective.exclude_radius, usual,
          &radius);
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        widen(c[i].kind, c[i].exclude_radius, usual, &radius);
    return radius;
}

/* --- nodes about which zones lie --- */

static void mark_nodes(const hx_set *set, uint8_t *is_marked)
{
    for (int64_t k = 0; k < set->n_node; k++) is_marked[set->node[k]] = 1;
}

/* Nodes of a support that also belong to a boundary face outside it. */
static int mark_rim(const hx_mesh *mesh, const hx_set *set, uint8_t *is_marked)
{
    int64_t n_face, *face = NULL, n_own, *own = NULL;
    uint8_t *is_in = NULL;
    int rc;
    HX_TRY_FAIL(hx_load_faces(mesh, set, &n_own, &own));
    if (n_own == 0) mark_nodes(set, is_marked);
    if (n_own == 0) goto fail;
    HX_TRY_FAIL(hx_alloc(&is_in, (size_t)mesh->n_node, 1, "nodes of a support"));
    mark_nodes(set, is_in);
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    for (int64_t k = 0; k < n_face; k++) {
        int32_t corner[4];
        int n_in = 0;
        const int n = hx_cell_face(mesh->conn + 8 * (face[k] / 6), (int)(face[k] % 6), corner);
        for (int i = 0; i < n; i++) n_in += is_in[corner[i]];
        for (int i = 0; n_in < n && i < n; i++)
            if (is_in[corner[i]]) is_marked[corner[i]] = 1;
    }
fail:
    free(own);
    free(face);
    free(is_in);
    return rc;
}

static int mark_supports(const hx_config *cfg, const hx_mesh *mesh, uint8_t *is_marked)
{
    const hx_config_support *const support = cfg->supports.entry;
    for (size_t i = 0; i < cfg->supports.n; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, support[i].set);
        /* one component, as of a symmetry plane, leaves stresses finite */
        if (!set || !support[i].fix || strlen(support[i].fix) < 2) continue;
        HX_TRY(mark_rim(mesh, set, is_marked));
    }
    return HX_OK;
}

/* Loads that act at points: forces of nodes, and totals or moments on sets that span no face. */
static int mark_loads(const hx_config *cfg, const hx_mesh *mesh, uint8_t *is_marked)
{
    const hx_config_load *const load = cfg->loads.entry;
    for (size_t i = 0; i < cfg->loads.n; i++) {
        const hx_set *const set = load[i].set ? hx_mesh_find_set(mesh, load[i].set) : NULL;
        const int is_remote = !isnan(load[i].remote_force[0]) || !isnan(load[i].moment[0]);
        int64_t n_face, *face = NULL;
        if (!set) continue;
        int is_point =
            !isnan(load[i].node_force[0]) || (is_remote && load[i].coupling == HX_COUPLING_RIGID);
        if (!is_point && (is_remote || !isnan(load[i].total_force[0]))) {
            HX_TRY(hx_load_faces(mesh, set, &n_face, &face));
            free(face);
            is_point = n_face == 0;
        }
        if (is_point) mark_nodes(set, is_marked);
    }
    return HX_OK;
}

/* xyz[n][3] := coordinates of the marked nodes; the caller frees it. */
static int list_marked(const hx_mesh *mesh, const uint8_t *is_marked, int64_t *n, double **xyz)
{
    *n = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) *n += is_marked[a];
    HX_TRY(hx_alloc(xyz, 3 * (size_t)*n + 3, sizeof **xyz, "nodes of zones"));
    for (int64_t a = 0, k = 0; a < mesh->n_node; a++)
        if (is_marked[a]) memcpy(*xyz + 3 * k++, mesh->xyz + 3 * a, 3 * sizeof **xyz);
    return HX_OK;
}

/* --- elements --- */

static void leave_void(const hx_config *cfg, const hx_mesh *mesh, uint8_t *is_in)
{
    const hx_config_passive *const passive = cfg->passive.entry;
    for (size_t i = 0; i < cfg->passive.n; i++) {
        const hx_set *const set = passive[i].set ? hx_mesh_find_set(mesh, passive[i].set) : NULL;
        if (!set || !(passive[i].density <= most_void)) continue;
        for (int64_t k = 0; k < set->n_elem; k++) is_in[set->elem[k]] = 0;
    }
}

static int add_set(const hx_config *cfg, hx_mesh *mesh, const hx_point_grid *grid, double radius)
{
    uint8_t *is_in;
    int64_t n = 0;
    HX_TRY(hx_alloc(&is_in, (size_t)mesh->n_elem, 1, "elements of zones"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        is_in[e] = hx_point_grid_nearest(grid, x, radius) >= 0;
    }
    leave_void(cfg, mesh, is_in);
    for (int64_t e = 0; e < mesh->n_elem; e++) n += is_in[e];
    const int rc = n > 0 ? hx_mesh_name_elems(mesh, HX_STRESS_ZONE, is_in) : HX_OK;
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, HX_STRESS_ZONE) == 0) mesh->set[i].is_internal = 1;
    free(is_in);
    return rc;
}

int hx_stress_zones_add(const hx_config *cfg, hx_mesh *mesh, double filter_radius)
{
    const double radius = zone_radius(cfg, mesh, filter_radius);
    hx_point_grid grid = {0};
    uint8_t *is_marked = NULL;
    double *xyz = NULL;
    int64_t n;
    int rc = HX_OK;
    if (!(radius > 0.0) || hx_mesh_find_set(mesh, HX_STRESS_ZONE)) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&is_marked, (size_t)mesh->n_node, 1, "nodes of zones"));
    HX_TRY_FAIL(mark_loads(cfg, mesh, is_marked));
    HX_TRY_FAIL(mark_supports(cfg, mesh, is_marked));
    HX_TRY_FAIL(list_marked(mesh, is_marked, &n, &xyz));
    if (n == 0) goto fail;
    HX_TRY_FAIL(hx_point_grid_create(&grid, n, xyz));
    rc = add_set(cfg, mesh, &grid, radius);
fail:
    hx_point_grid_free(&grid);
    free(is_marked);
    free(xyz);
    return rc;
}

/* --- text --- */

const char *hx_stress_zone_text(const hx_config *cfg, const hx_problem *problem, char *text,
                                size_t n_text)
{
    const char *name[HX_MOST_ZONES];
    const int n = hx_stress_zone_names(cfg, problem->mesh, name);
    double volume = 0.0;
    int64_t n_elem = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        const hx_set *const set = hx_mesh_find_set(problem->mesh, name[i]);
        n_elem += set->n_elem;
        for (int64_t k = 0; k < set->n_elem; k++) volume += problem->volume[set->elem[k]];
        if (set->is_internal)
            hx_fit(text + used, n_text - used, "%selements near supports and point loads",
                   i ? ", " : "");
        else
            hx_fit(text + used, n_text - used, "%s'%s'", i ? ", " : "", name[i]);
        used = strlen(text);
    }
    if (n == 0) return text;
    hx_fit(text + used, n_text - used, ": %lld %s, %.2g %% of the volume", (long long)n_elem,
           hx_noun(n_elem, "element", "elements"), 100.0 * volume / problem->total_volume);
    return text;
}
