#include "cone.h"

#include <string.h>

#include "../linalg/vector_ops.h"

size_t hx_cone_bytes(const hx_mesh *mesh, size_t voxel_bytes, int volume_weighted, int n_field)
{
    const size_t field = (size_t)mesh->n_elem * sizeof(double);
    const size_t cells =
        voxel_bytes > 0 ? voxel_bytes : hx_device_bins_bytes(mesh->n_elem, n_field);
    return cells + (volume_weighted ? 2 : 1) * field;
}

/* Sets d_sum_weight from the volumes or from ones. */
static int sum_weights(hx_cone *cone, const hx_problem *problem, int volume_weighted)
{
    const size_t n = (size_t)problem->mesh->n_elem;
    hx_device *dev = cone->dev;
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &cone->d_sum_weight));
    if (volume_weighted) {
        HX_TRY(hx_device_put(dev, &cone->d_volume, problem->volume, n * sizeof(double)));
        HX_TRY(dev->ops->copy(dev, cone->d_sum_weight, cone->d_volume, n * sizeof(double)));
    } else {
        HX_TRY(dev->ops->vector->fill(dev, (int64_t)n, 1.0, cone->d_sum_weight));
    }
    const double *const d_weight = cone->d_sum_weight;
    return hx_cone_sum(cone, 1, &d_weight, &cone->d_sum_weight);
}

static int create_cells(hx_cone *cone, const hx_problem *problem, hx_voxels *made, int n_field)
{
    hx_device *dev = cone->dev;
    const hx_design_ops *ops = dev->ops->design;
    if (ops->cone_cells) return ops->cone_cells(dev, problem, cone->radius, n_field, &cone->cells);
    return hx_device_bins_create(&cone->cells, dev, problem->mesh, cone->radius, n_field, made);
}

int hx_cone_create(hx_cone *cone, hx_device *dev, const hx_problem *problem,
                   const hx_filter_params *params, int n_field, int single)
{
    int rc;
    memset(cone, 0, sizeof *cone);
    cone->dev = dev;
    cone->radius = params->radius;
    cone->n_field = n_field;
    HX_TRY_FAIL(create_cells(cone, problem, params->voxels, n_field));
    cone->cells.single = single;
    HX_TRY_FAIL(sum_weights(cone, problem, params->volume_weighted));
    return HX_OK;
fail:
    hx_cone_free(cone);
    return rc;
}

int hx_cone_sum(const hx_cone *cone, int n_field, const double *const d_value[],
                double *const d_sum[])
{
    for (int i = 0; i < n_field; i += cone->n_field) {
        const int n = n_field - i < cone->n_field ? n_field - i : cone->n_field;
        HX_TRY(cone->dev->ops->design->cone_sum(cone->dev, &cone->cells, cone->radius, n,
                                                d_value + i, d_sum + i));
    }
    return HX_OK;
}

void hx_cone_free(hx_cone *cone)
{
    hx_device *dev = cone->dev;
    if (!dev) return;
    hx_device_bins_free(&cone->cells, dev);
    dev->ops->release(dev, cone->d_sum_weight);
    dev->ops->release(dev, cone->d_volume);
    memset(cone, 0, sizeof *cone);
}
