#include "stress_zones.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/point_grid.h"
#include "core/mesh/skin.h"
#include "stress_zone_nodes.h"

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

/* density[n_elem] of the passive elements of the config, NaN elsewhere; *density = NULL: none. The
 * caller frees it. */
static int find_passive(const hx_config *cfg, const hx_mesh *mesh, double **density)
{
    const hx_config_passive *const passive = cfg->passive.entry;
    uint8_t *flag = NULL;
    int64_t n;
    int rc = HX_OK;
    *density = NULL;
    if (cfg->passive.n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(density, (size_t)mesh->n_elem, sizeof **density, "passive elements"));
    for (int64_t e = 0; e < mesh->n_elem; e++) (*density)[e] = (double)NAN;
    for (size_t i = 0; rc == HX_OK && i < cfg->passive.n; i++) {
        const hx_set *const set = passive[i].set ? hx_mesh_find_set(mesh, passive[i].set) : NULL;
        if (!set) continue; /* the problem names it */
        if (!(passive[i].skin > 0.0)) {
            for (int64_t k = 0; k < set->n_elem; k++) (*density)[set->elem[k]] = passive[i].density;
            continue;
        }
        HX_TRY_FAIL(hx_alloc(&flag, (size_t)mesh->n_elem, 1, "elements of a skin"));
        rc = hx_skin_flag(mesh, set, passive[i].skin, flag, &n);
        if (rc == HX_EINPUT) hx_error_prefix("%s: ", passive[i].origin);
        for (int64_t e = 0; rc == HX_OK && e < mesh->n_elem; e++)
            if (flag[e]) (*density)[e] = passive[i].density;
        free(flag);
        flag = NULL;
    }
fail:
    return rc;
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

/* is_zone[n_elem] := 1 for elements whose centroids are within the radius of a marked node; others
 * stay. density: NaN where free; NULL: all are. Passive void stays so. */
static int mark_near(const hx_mesh *mesh, const uint8_t *is_marked, double radius,
                     const double *density, uint8_t *is_zone)
{
    hx_point_grid grid = {0};
    double *xyz = NULL;
    int64_t n;
    int rc;
    HX_TRY_FAIL(list_marked(mesh, is_marked, &n, &xyz));
    if (n == 0) goto fail;
    HX_TRY_FAIL(hx_point_grid_create(&grid, n, xyz));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        is_zone[e] |= (uint8_t)(!(density && density[e] <= HX_ZONE_MOST_VOID) &&
                                hx_point_grid_nearest(&grid, x, radius) >= 0);
    }
fail:
    hx_point_grid_free(&grid);
    free(xyz);
    return rc;
}

int hx_stress_zones_mark_near(const hx_mesh *mesh, const uint8_t *is_marked, double radius,
                              uint8_t *is_zone)
{
    return mark_near(mesh, is_marked, radius, NULL, is_zone);
}

int hx_stress_zones_mark(const hx_config *cfg, const hx_mesh *mesh, const hx_conditions *conditions,
                         double radius, uint8_t *is_zone)
{
    hx_stress_zones about;
    uint8_t *is_marked = NULL;
    int rc = HX_OK;
    if (!(radius > 0.0)) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&is_marked, (size_t)mesh->n_node, 1, "nodes of zones"));
    HX_TRY_FAIL(hx_stress_zone_nodes(cfg, mesh, conditions, NULL, is_marked, &about.kinds,
                                     about.unzoned, sizeof about.unzoned));
    HX_TRY_FAIL(mark_near(mesh, is_marked, radius, NULL, is_zone));
fail:
    free(is_marked);
    return rc;
}

static int add_set(hx_mesh *mesh, const uint8_t *is_zone)
{
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) n += is_zone[e];
    const int rc = n > 0 ? hx_mesh_name_elems(mesh, HX_STRESS_ZONE, is_zone) : HX_OK;
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, HX_STRESS_ZONE) == 0) mesh->set[i].is_internal = 1;
    return rc;
}

int hx_stress_zones_add(hx_stress_zones *zones, const hx_config *cfg, hx_mesh *mesh,
                        const hx_conditions *conditions, double filter_radius)
{
    const double radius = zone_radius(cfg, mesh, filter_radius);
    uint8_t *is_marked = NULL, *is_zone = NULL;
    double *density = NULL;
    int rc = HX_OK;
    if (!(radius > 0.0) || hx_mesh_find_set(mesh, HX_STRESS_ZONE)) return HX_OK;
    zones->radius = radius;
    HX_TRY_FAIL(find_passive(cfg, mesh, &density));
    HX_TRY_FAIL(hx_alloc(&is_marked, (size_t)mesh->n_node, 1, "nodes of zones"));
    HX_TRY_FAIL(hx_alloc(&is_zone, (size_t)mesh->n_elem, 1, "elements of zones"));
    HX_TRY_FAIL(hx_stress_zone_nodes(cfg, mesh, conditions, density, is_marked, &zones->kinds,
                                     zones->unzoned, sizeof zones->unzoned));
    HX_TRY_FAIL(mark_near(mesh, is_marked, radius, density, is_zone));
    rc = add_set(mesh, is_zone);
fail:
    free(is_marked);
    free(is_zone);
    free(density);
    return rc;
}

/* --- text --- */

/* "elements near supports, springs and point loads". */
static const char *kinds_text(unsigned kinds, char *text, size_t n_text)
{
    static const char *const word[] = {"supports", "springs", "point loads", "rigid sets",
                                       "re-entrant edges of passive solids"};
    unsigned left = kinds;
    size_t used = hx_fit(text, n_text, "elements near ");
    for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++) {
        if (!(kinds >> i & 1u)) continue;
        const int is_first = left == kinds;
        left &= ~(1u << i);
        used += hx_fit(text + used, n_text - used, "%s%s",
                       is_first ? ""
                       : left   ? ", "
                                : " and ",
                       word[i]);
    }
    return text;
}

const char *hx_stress_zone_text(const hx_stress_zones *zones, const hx_config *cfg,
                                const hx_problem *problem, char *text, size_t n_text)
{
    const char *name[HX_MOST_ZONES];
    const int n = hx_stress_zone_names(cfg, problem->mesh, name);
    double volume = 0.0;
    int64_t n_elem = 0;
    size_t used = 0;
    char kinds[160];
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        const hx_set *const set = hx_mesh_find_set(problem->mesh, name[i]);
        n_elem += set->n_elem;
        for (int64_t k = 0; k < set->n_elem; k++) volume += problem->volume[set->elem[k]];
        used += set->is_internal
                    ? hx_fit(text + used, n_text - used, "%s%s", i ? ", " : "",
                             kinds_text(zones->kinds, kinds, sizeof kinds))
                    : hx_fit(text + used, n_text - used, "%s'%s'", i ? ", " : "", name[i]);
    }
    if (n == 0) return text;
    hx_fit(text + used, n_text - used, ": %lld %s, %.2g %% of the volume", (long long)n_elem,
           hx_noun(n_elem, "element", "elements"), 100.0 * volume / problem->total_volume);
    return text;
}
