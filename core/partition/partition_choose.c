/* The method "auto": the partition whose largest halo is smallest. */
#include <string.h>

#include "partition.h"

static int64_t largest_halo(const hx_partition_figures *figures, int n_rank)
{
    int64_t most = 0;
    for (int r = 0; r < n_rank; r++)
        if (figures->subdomain[r].n_halo > most) most = figures->subdomain[r].n_halo;
    return most;
}

static int measure_partition(const hx_partition *p, const hx_mesh *mesh, int64_t *halo,
                             double *balance)
{
    hx_partition_figures figures;
    HX_TRY(hx_partition_measure(&figures, p, mesh));
    *halo = largest_halo(&figures, p->n_rank);
    *balance = figures.balance;
    hx_partition_figures_free(&figures);
    return HX_OK;
}

/* *is_better := 1 if b is better than a. */
static int compare_partitions(const hx_partition *a, const hx_partition *b, const hx_mesh *mesh,
                              int *is_better)
{
    int64_t halo_a, halo_b;
    double balance_a, balance_b;
    HX_TRY(measure_partition(a, mesh, &halo_a, &balance_a));
    HX_TRY(measure_partition(b, mesh, &halo_b, &balance_b));
    *is_better = halo_b < halo_a && balance_b <= HX_PARTITION_BALANCE;
    return HX_OK;
}

/* Replaces p by the partition of another method if that is better. */
static int try_way(hx_partition *p, const hx_mesh *mesh, hx_partition_kind kind)
{
    hx_partition other;
    int is_better = 0;
    if (!hx_partition_available(kind)) return HX_OK;
    if (hx_partition_make(&other, mesh, kind, p->n_rank) < 0) {
        hx_error_clear(); /* METIS fails if there are too many or too few elements */
        return HX_OK;
    }
    const int rc = compare_partitions(p, &other, mesh, &is_better);
    hx_partition_free(rc == HX_OK && is_better ? p : &other);
    if (rc == HX_OK && is_better) *p = other;
    return rc;
}

int hx_partition_choose(hx_partition *p, const hx_mesh *mesh, hx_partition_kind requested,
                        int n_rank)
{
    if (requested != HX_PARTITION_AUTO) return hx_partition_make(p, mesh, requested, n_rank);
    HX_TRY(hx_partition_make(p, mesh, HX_PARTITION_CURVE, n_rank));
    if (n_rank == 1) return HX_OK;
    int rc = try_way(p, mesh, HX_PARTITION_BISECTION);
    if (rc == HX_OK) rc = try_way(p, mesh, HX_PARTITION_GRAPH);
    if (rc < 0) hx_partition_free(p);
    return rc;
}
