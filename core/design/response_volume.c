/* The volume of the design as a fraction of the mesh, passive elements included. */
#include "../linalg/vector_ops.h"
#include "response.h"

static int volume_value(const hx_response *o, double *volume)
{
    *volume = o->measured->volume;
    return HX_OK;
}

static int volume_derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    const hx_analysis *const a = o->analysis;
    const int64_t n = a->fields->mesh->n_elem;
    (void)d_energy;
    HX_TRY(a->dev->ops->zero(a->dev, d_dg, (size_t)n * sizeof *d_dg));
    return a->dev->ops->vector->axpy(a->dev, n, 1.0 / a->fields->total_volume,
                                     o->measured->d_volume, d_dg);
}

const hx_response_kind hx_response_volume = {
    .name = "volume",
    .help = "volume of the design as a fraction of the mesh, passive elements included",
    .is_objective = 1,
    .is_constraint = 1,
    .is_linear = 1,
    .is_distributed = 1,
    .value = volume_value,
    .derivative = volume_derivative,
};
