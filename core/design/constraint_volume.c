/* The volume that volume_fraction prescribes, passive elements included, in units of volume. */
#include "response.h"

static int value(const hx_response *o, double *volume)
{
    *volume = o->measured->volume * o->analysis->fields->total_volume;
    return HX_OK;
}

static int derivative(const hx_response *o, const double *d_energy, double *d_dg)
{
    const hx_analysis *const a = o->analysis;
    (void)d_energy;
    return a->dev->ops->copy(a->dev, d_dg, o->measured->d_volume,
                             (size_t)a->fields->mesh->n_elem * sizeof *d_dg);
}

const hx_response_kind hx_constraint_volume = {
    .name = "volume",
    .help = "volume of the design",
    .is_linear = 1,
    .is_distributed = 1,
    .value = value,
    .derivative = derivative,
};
