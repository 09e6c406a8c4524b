/* Largest displacements with their places, and heat fluxes, for all analyses of `hextop verify`. */
#include <math.h>
#include <string.h>

#include "../output/output.h"
#include "verify.h"

void hx_verify_offer_displacement(const hx_space *space, const hx_mesh *mesh,
                                  const int32_t *node_map, const int32_t *elem_map,
                                  const uint8_t *is_counted, int components, int load_case,
                                  const double *u, hx_verify_peak *peak)
{
    hx_space_largest found;
    hx_space_find_largest(space, is_counted, components, 1.0, u, &found);
    if (!found.is_set || (peak->load_case > 0 && !(found.value > peak->value))) return;
    *peak = (hx_verify_peak){.value = found.value, .load_case = load_case};
    peak->place = hx_place_of(&found, mesh, node_map, elem_map);
    memcpy(peak->point, found.x, sizeof peak->point);
}

void hx_verify_find_fluxes(const hx_problem *problem, const double *modulus, double *u, float *flux,
                           float *size)
{
    for (int64_t a = 0; a < problem->space.n_point; a++) u[a] += problem->reference;
    hx_output_heat_flux(problem, modulus, u, flux);
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        const float *const q = flux + 3 * e;
        size[e] = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    }
}
