#include "../../problem/rigid_set.h"

#include <string.h>

#include "../../base/sum.h"
#include "../device/cpu_ops.h"

enum { FEW = 4096 }; /* sets with at most this many nodes are processed by one thread */

static int cpu_sum(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                   const double *d_xyz, const double *d_y, double *d_sum)
{
    const int32_t *node = d_node + set->first;
    double part[HX_N_PART][6];
    (void)dev;
#pragma omp parallel for schedule(static) if (set->n > FEW)
    for (int p = 0; p < HX_N_PART; p++) {
        memset(part[p], 0, sizeof part[p]);
        for (int64_t k = hx_part_begin(set->n, p); k < hx_part_begin(set->n, p + 1); k++)
            hx_rigid_add(set, d_xyz + 3 * (int64_t)node[k], d_y + 3 * (int64_t)node[k], part[p]);
    }
    memset(d_sum, 0, 6 * sizeof *d_sum);
    for (int p = 0; p < HX_N_PART; p++)
        for (int i = 0; i < 6; i++) d_sum[i] += part[p][i];
    return HX_OK;
}

static int cpu_spread(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                      const double *d_xyz, const double *d_motion, double *d_y)
{
    const int32_t *node = d_node + set->first;
    (void)dev;
#pragma omp parallel for schedule(static) if (set->n > FEW)
    for (int64_t k = 0; k < set->n; k++)
        hx_rigid_apply(set, d_xyz + 3 * (int64_t)node[k], d_motion, d_y + 3 * (int64_t)node[k]);
    return HX_OK;
}

static int cpu_project(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                       const double *d_xyz, double *d_motion, double *d_y)
{
    double sum[6];
    HX_TRY(cpu_sum(dev, set, d_node, d_xyz, d_y, sum));
    hx_rigid_motion(set, sum, d_motion);
    return cpu_spread(dev, set, d_node, d_xyz, d_motion, d_y);
}

const hx_rigid_ops hx_cpu_rigid_ops = {
    .sum = cpu_sum,
    .spread = cpu_spread,
    .project = cpu_project,
};
