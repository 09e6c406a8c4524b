#include "members.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/design/black_white.h"
#include "core/mesh/hex_jacobian.h"

/* solid[n_elem] := 1 for the elements of the 0/1 design. */
static int find_solid(const hx_mesh *mesh, const double *rho, const uint8_t *is_solid,
                      double target, double threshold, uint8_t *solid)
{
    int rc;
    int64_t n = 0;
    double *volume = NULL, *density = NULL, least = threshold;
    const size_t n_elem = (size_t)mesh->n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&volume, n_elem, sizeof *volume, "volumes of elements"));
    HX_TRY_FAIL(hx_alloc_raw(&density, n_elem, sizeof *density, "densities"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        volume[n] = hx_hex_volume(&map);
        density[n] = rho[e] > 0.0 ? rho[e] : 0.0;
        if (is_solid && is_solid[e])
            target -= volume[n];
        else
            n++;
    }
    if (target <= 0.0) least = HUGE_VAL;
    if (n > 0 && target > 0.0)
        HX_TRY_FAIL(hx_threshold_of_volume(n, volume, density, target, &least));
    for (int64_t e = 0; e < mesh->n_elem; e++)
        solid[e] = (is_solid && is_solid[e]) || rho[e] >= least;
fail:
    free(volume);
    free(density);
    return rc;
}

int hx_members_repair(hx_surface_field *field, const hx_fine_image *fine, const hx_mesh *mesh,
                      const double *rho, const uint8_t *is_solid, double target, double *threshold,
                      hx_surface_repairs *result, hx_thickness *least)
{
    int rc;
    hx_surface surface = {0};
    uint8_t *coarse = NULL, *solid = NULL, *forced = NULL;
    const int64_t n = field->mesh->n_elem, per_element = fine->n > 1 ? n / mesh->n_elem : 1;
    HX_TRY_FAIL(hx_alloc_raw(&coarse, (size_t)mesh->n_elem, 1, "solid elements"));
    HX_TRY_FAIL(find_solid(mesh, rho, is_solid, target, *threshold, coarse));
    HX_TRY_FAIL(hx_alloc_raw(&solid, (size_t)n, 1, "solid elements"));
    HX_TRY_FAIL(hx_alloc(&forced, (size_t)n, 1, "solid elements"));
    for (int64_t e = 0; e < n; e++) solid[e] = coarse[e / per_element];
    for (int64_t e = 0; is_solid && e < n; e++) forced[e] = is_solid[e / per_element] != 0;
    HX_TRY_FAIL(hx_surface_repair(field, solid, target, threshold, result));
    if (!least) goto fail;
    HX_TRY_FAIL(hx_surface_of_elements(field->mesh, solid, forced, &surface));
    rc = hx_surface_thickness(&surface, HX_THICKNESS_OF_MEMBERS, least);
fail:
    hx_surface_free(&surface);
    free(coarse);
    free(solid);
    free(forced);
    return rc;
}
