/* Memory of the optimizer's fields. */
#include "../base/grow.h"
#include "optimizer_internal.h"

int hx_optimizer_take_field(hx_optimizer *opt, double *d_there, double **d_field)
{
    hx_device *dev = opt->analysis->dev;
    const size_t bytes = (size_t)opt->problem->mesh->n_elem * sizeof(double);
    *d_field = d_there;
    if (d_there) return HX_OK;
    HX_TRY(hx_resize(&opt->field, (size_t)opt->n_field, (size_t)opt->n_field + 1,
                     sizeof *opt->field, "fields"));
    HX_TRY(dev->ops->alloc(dev, bytes, d_field));
    opt->field[opt->n_field++] = *d_field;
    return HX_OK;
}
