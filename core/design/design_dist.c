/* Operations on distributed element fields: the backend's operation on the subdomain, completed
 * with contributions of the other processes. Sums are added in rank order, so all processes get the
 * same result. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "design_dist.h"
#include "groups_dist.h"
#include "mma.h"
#include "oc.h"

static const hx_design_ops *plain(hx_device *dev)
{
    return hx_dist_of(dev)->plain->design;
}

static int measure_dist_design(hx_device *dev, int64_t n, const double *d_rho,
                               const double *d_volume, const double *d_passive, double *mass,
                               double *grey)
{
    double sum[2];
    HX_TRY(plain(dev)->measure(dev, n, d_rho, d_volume, d_passive, &sum[0], &sum[1]));
    HX_TRY(hx_dist_sum(hx_dist_of(dev), 2, sum));
    *mass = sum[0];
    *grey = sum[1];
    return HX_OK;
}

static int sum_positive(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                        const double *d_passive, double sum[2])
{
    HX_TRY(plain(dev)->sum_positive(dev, n, d_dc, d_dv, d_passive, sum));
    return hx_dist_sum(hx_dist_of(dev), 2, sum);
}

/* Computes the common state from the sums of each process. */
static int end_sums(hx_dist *dist, int is_begin, int n, hx_oc_state *d_state)
{
    hx_oc_state *const d_sums = dist->d_design;
    HX_TRY(hx_dist_sum_few(dist, n, d_sums->sum));
    return dist->plain->design->oc_take(&dist->dev, is_begin, d_sums, d_state);
}

/* Begins the same step for this process' elements with a local state. */
static int begin_sums(hx_dist *dist, const hx_device_oc *oc, hx_device_oc *alone)
{
    hx_device *const dev = &dist->dev;
    if (!dist->d_design) HX_TRY(dist->plain->alloc(dev, sizeof(hx_oc_state), &dist->d_design));
    *alone = *oc;
    alone->d_state = dist->d_design;
    return dist->plain->copy(dev, alone->d_state, oc->d_state, sizeof(hx_oc_state));
}

/* Another shift means other t. */
static void note_shift(const hx_device_oc *oc)
{
    struct hx_linked *const linked = oc->groups ? oc->groups->linked : NULL;
    if (!linked) return;
    if (linked->shift != oc->shift) linked->has_largest = 0;
    linked->shift = oc->shift;
}

static int oc_begin(hx_device *dev, const hx_device_oc *oc)
{
    hx_dist *const dist = hx_dist_of(dev);
    hx_device_oc alone;
    note_shift(oc);
    HX_TRY(begin_sums(dist, oc, &alone));
    HX_TRY(plain(dev)->oc_begin(dev, &alone));
    return end_sums(dist, 1, 2, oc->d_state);
}

static int oc_pass(hx_device *dev, const hx_device_oc *oc)
{
    hx_dist *const dist = hx_dist_of(dev);
    hx_device_oc alone;
    HX_TRY(begin_sums(dist, oc, &alone));
    HX_TRY(plain(dev)->oc_pass(dev, &alone));
    return end_sums(dist, 0, HX_OC_TRIALS, oc->d_state);
}

static int oc_end(hx_device *dev, const hx_device_oc *oc)
{
    hx_oc_state state;
    HX_TRY(plain(dev)->oc_end(dev, oc));
    HX_TRY(dev->ops->download(dev, &state, oc->d_state, sizeof state));
    HX_TRY(hx_reduce_max(&hx_dist_of(dev)->reduce.base, 1, &state.change));
    return dev->ops->upload(dev, oc->d_state, &state, sizeof state);
}

static int mma_begin(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    HX_TRY(plain(dev)->mma_begin(dev, mma, sum));
    return hx_dist_sum(hx_dist_of(dev), 2 + mma->m, sum);
}

static int mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum)
{
    HX_TRY(plain(dev)->mma_dual(dev, mma, sum));
    return hx_dist_sum(hx_dist_of(dev), 2 + mma->m * (mma->m + 3) / 2, sum);
}

/* Members of other ranks keep no value of the last proposal. */
static int mma_end(hx_device *dev, const hx_device_mma *mma)
{
    if (mma->groups && mma->groups->linked) mma->groups->linked->has_largest = 0;
    return plain(dev)->mma_end(dev, mma);
}

static int mma_measure(hx_device *dev, const hx_device_mma *mma, double *largest)
{
    HX_TRY(plain(dev)->mma_measure(dev, mma, largest));
    return hx_reduce_max(&hx_dist_of(dev)->reduce.base, HX_MMA_MEASURED, largest);
}

static int copy_own(hx_device *dev, const hx_halo *halo, int field, double *d_x)
{
    return dev->ops->copy(dev, d_x, halo->d_value[field], (size_t)halo->n_own * sizeof *d_x);
}

static int link_dist(hx_device *dev, const hx_device_groups *groups, const double *d_dv,
                     double *d_dc)
{
    struct hx_linked *const linked = groups->linked;
    hx_halo *const halo = linked->halo;
    HX_TRY(hx_halo_fill(halo, 0, d_dv));
    HX_TRY(hx_halo_fill(halo, 1, d_dc));
    linked->has_largest = 0;
    if (groups->n_group == 0) return HX_OK;
    HX_TRY(plain(dev)->link(dev, groups, halo->d_value[0], halo->d_value[1]));
    return copy_own(dev, halo, 1, d_dc);
}

/* The t of a step are the same at each of its trials, so members of other ranks keep the largest
 * of their group. */
static int copy_largest_dist(hx_device *dev, const hx_device_groups *groups, double *d_x)
{
    struct hx_linked *const linked = groups->linked;
    hx_halo *const halo = linked->halo;
    HX_TRY(linked->has_largest
               ? dev->ops->copy(dev, halo->d_value[0], d_x, (size_t)halo->n_own * sizeof *d_x)
               : hx_halo_fill(halo, 0, d_x));
    linked->has_largest = 1;
    if (groups->n_group == 0) return HX_OK;
    HX_TRY(plain(dev)->copy_largest(dev, groups, halo->d_value[0]));
    return copy_own(dev, halo, 0, d_x);
}

static int cone_cells(hx_device *dev, const hx_problem *problem, double radius, int n_field,
                      hx_device_bins *cells)
{
    (void)problem; /* the subdomain is used instead */
    return hx_halo_create_bins(cells, hx_dist_of(dev), radius, n_field);
}

static int cone_sum(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                    const double *const d_value[], double *const d_sum[])
{
    hx_halo *const halo = cells->halo;
    const double *d_all[HX_CELLS_FIELDS] = {NULL};
    for (int i = 0; i < n_field; i++) {
        HX_TRY(hx_halo_fill(halo, i, d_value[i]));
        d_all[i] = halo->d_value[i];
    }
    HX_TRY(plain(dev)->cone_sum(dev, cells, radius, n_field, d_all, halo->d_value));
    for (int i = 0; i < n_field; i++)
        HX_TRY(dev->ops->copy(dev, d_sum[i], halo->d_value[i],
                              (size_t)halo->n_own * sizeof *d_sum[i]));
    return HX_OK;
}

int hx_design_distribute(hx_dist *dist)
{
    hx_design_ops *ops;
    HX_TRY(hx_alloc(&ops, 1, sizeof *ops, "operations of a subdomain"));
    *ops = *dist->plain->design;
    ops->measure = measure_dist_design;
    ops->sum_positive = sum_positive;
    ops->oc_begin = oc_begin;
    ops->oc_pass = oc_pass;
    ops->oc_end = oc_end;
    ops->mma_begin = mma_begin;
    ops->mma_dual = mma_dual;
    ops->mma_end = mma_end;
    ops->mma_measure = mma_measure;
    ops->link = link_dist;
    ops->copy_largest = copy_largest_dist;
    ops->cone_cells = cone_cells;
    ops->cone_sum = cone_sum;
    dist->ops.design = ops;
    dist->design = ops;
    return HX_OK;
}
