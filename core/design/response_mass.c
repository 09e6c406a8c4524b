/* Mass of the part that the design becomes: volume times physical density times the mass density of
 * the element's material, summed over all elements, passive ones included. It is linear in the
 * density. Loads by mass follow another law below a density of 0.1 (body_force.h), which only keeps
 * void from sagging under its own weight: by that law, material of low density would be almost free
 * of mass. */
#include <stdlib.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "response.h"

static int check(const hx_problem *problem, const hx_response_params *params)
{
    if (problem->density > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: the mass needs material.density, the mass per volume",
                    params->origin ? params->origin : "mass");
}

static size_t mass_bytes(const hx_problem *problem, const hx_response_params *params)
{
    (void)params;
    return (size_t)problem->mesh->n_elem * sizeof(double);
}

/* Mass of an element of density 1. */
static double solid_mass(const hx_problem *problem, int64_t e)
{
    return hx_problem_mass_factor(problem, e) * hx_problem_whole(problem)->density *
           problem->volume[e];
}

static int create(hx_response *o)
{
    const hx_problem *const problem = o->analysis->fields;
    const size_t n = (size_t)problem->mesh->n_elem;
    double *mass, *d_mass = NULL;
    HX_TRY(hx_alloc_raw(&mass, n, sizeof *mass, "masses of the elements"));
    for (size_t e = 0; e < n; e++) mass[e] = solid_mass(problem, (int64_t)e);
    const int rc = hx_device_put(o->analysis->dev, &d_mass, mass, n * sizeof *mass);
    free(mass);
    o->impl = d_mass;
    return rc;
}

static int mass_value(const hx_response *o, double *mass)
{
    hx_device *const dev = o->analysis->dev;
    return dev->ops->vector->field_dot(dev, o->analysis->fields->mesh->n_elem, o->impl,
                                       o->measured->d_made, mass);
}

static int mass_derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    const hx_analysis *const a = o->analysis;
    (void)d_energy;
    return a->dev->ops->copy(a->dev, d_dg, o->impl, (size_t)a->fields->mesh->n_elem * sizeof *d_dg);
}

static void destroy(hx_response *o)
{
    o->analysis->dev->ops->release(o->analysis->dev, o->impl);
}

const hx_response_kind hx_response_mass = {
    .name = "mass",
    .help = "mass of the design, passive elements included",
    .is_objective = 1,
    .is_constraint = 1,
    .is_linear = 1,
    .is_distributed = 1,
    .unit = HX_VALUE_MASS,
    .heat_unit = HX_VALUE_MASS,
    .check = check,
    .bytes = mass_bytes,
    .create = create,
    .value = mass_value,
    .derivative = mass_derivative,
    .destroy = destroy,
};
