/* Materials of element sets: their line in the output, and the mass of a design made of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "session_internal.h"

const char *hx_session_material_text(const hx_session *s, size_t i, char *text, size_t n_text)
{
    const hx_units *const u = &s->cfg.units;
    const hx_config_material *const m = (const hx_config_material *)s->cfg.materials.entry + i;
    const int is_heat = hx_config_is_heat(&s->cfg);
    const double density = isnan(m->density) ? s->cfg.material.density : m->density;
    const double stiffness = s->problem.young * s->problem.materials.stiffness[i + 1];
    const int64_t n = s->problem.materials.count[i + 1];
    char count[32];
    size_t used = hx_fit(text, n_text, "%s: %s %g%s", m->set, is_heat ? "conductivity" : "E",
                         stiffness, is_heat ? u->conductivity : u->stress);
    if (!isnan(density))
        used += hx_fit(text + used, n_text - used, ", density %g%s", density, u->density);
    hx_fit(text + used, n_text - used, "; %s %s, %.3g %% of the volume",
           hx_format_count(n, count, sizeof count), hx_noun(n, "element", "elements"),
           100.0 * s->problem.materials.volume[i + 1] / s->problem.total_volume);
    return text;
}

int hx_session_measure_mass(hx_session *s, double volume_fraction, double *mass)
{
    const hx_problem *const problem = s->opt.problem;
    double *rho = NULL, volume = (double)NAN;
    *mass = hx_session_mass(s, volume_fraction);
    if (s->problem.materials.n == 0 || isnan(*mass)) return HX_OK;
    int rc = hx_alloc_raw(&rho, (size_t)problem->mesh->n_elem, sizeof *rho, "densities");
    if (rc == HX_OK) rc = hx_optimizer_own_field(&s->opt, HX_DESIGN_DENSITY, rho);
    if (rc == HX_OK) rc = hx_problem_mass_volume(problem, rho, &volume);
    free(rho);
    HX_TRY(hx_session_agree(s, rc));
    if (s->dist.comm) HX_TRY(hx_dist_sum(&s->dist, 1, &volume));
    *mass = s->cfg.material.density * volume;
    return HX_OK;
}
