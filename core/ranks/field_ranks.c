/* Element fields of all subdomains as one field of the whole, on the leader's host or device. */
#include <stdlib.h>

#include "../base/memory.h"
#include "ranks.h"

static const char what[] = "a field of all ranks";

/* (*bytes)[size] := bytes of each rank's run of elements. */
static int run_bytes(const hx_ranks *ranks, size_t **bytes)
{
    const int size = ranks->comm->size;
    HX_TRY(hx_alloc_raw(bytes, (size_t)size, sizeof **bytes, what));
    for (int r = 0; r < size; r++) (*bytes)[r] = (size_t)ranks->share.n_elem_of[r] * sizeof(double);
    return HX_OK;
}

/* Allocates host memory for a field of the subdomain at the first call. */
static int need_field(hx_ranks *ranks)
{
    if (ranks->field) return HX_OK;
    return hx_alloc_raw(&ranks->field, (size_t)ranks->share.mesh.n_elem, sizeof *ranks->field,
                        what);
}

static int need_whole(hx_ranks *ranks)
{
    if (ranks->whole || !hx_ranks_leads(ranks)) return HX_OK;
    return hx_alloc_raw(&ranks->whole, (size_t)ranks->share.whole->mesh->n_elem,
                        sizeof *ranks->whole, what);
}

/* With a distributed mesh, the leader's fields of the whole are in the order of the file. On the
 * leader (*orig)[n_elem of all ranks] := position of each element in the file, rank after rank; the
 * caller frees it. */
static int gather_places(hx_ranks *ranks, int32_t **orig)
{
    const hx_mesh *const window = ranks->share.whole->mesh;
    size_t *bytes;
    *orig = NULL;
    if (hx_ranks_leads(ranks))
        HX_TRY(hx_alloc_raw(orig, (size_t)hx_mesh_n_elem_all(window), sizeof **orig, what));
    HX_TRY(run_bytes(ranks, &bytes));
    for (int r = 0; r < ranks->comm->size; r++) bytes[r] /= sizeof(double) / sizeof **orig;
    const int rc = ranks->comm->ops->gather(
        ranks->comm, HX_RANKS_LEADER, window->elem_orig + hx_mesh_own_begin(window), bytes, *orig);
    free(bytes);
    return rc;
}

/* Converts the leader's field between the order of the file and that of the ranks. */
static int reorder(hx_ranks *ranks, const double *from, double *to, int to_file)
{
    const int64_t n = hx_mesh_n_elem_all(ranks->share.whole->mesh);
    int32_t *orig;
    int rc = gather_places(ranks, &orig);
    if (rc == HX_OK && hx_ranks_leads(ranks)) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            if (to_file)
                to[orig[i]] = from[i];
            else
                to[i] = from[orig[i]];
        }
    }
    free(orig);
    return rc;
}

/* Allocates a temporary field of the whole on the leader. */
static int alloc_way(const hx_ranks *ranks, double **way)
{
    *way = NULL;
    if (!hx_ranks_leads(ranks)) return HX_OK;
    return hx_alloc_raw(way, (size_t)hx_mesh_n_elem_all(ranks->share.whole->mesh), sizeof **way,
                        what);
}

static int scatter_field(hx_ranks *ranks, const double *whole, double *own)
{
    size_t *bytes;
    HX_TRY(run_bytes(ranks, &bytes));
    const int rc = ranks->comm->ops->scatter(ranks->comm, HX_RANKS_LEADER, whole, bytes, own);
    free(bytes);
    return rc;
}

static int gather_field(hx_ranks *ranks, const double *own, double *whole)
{
    size_t *bytes;
    HX_TRY(run_bytes(ranks, &bytes));
    const int rc = ranks->comm->ops->gather(ranks->comm, HX_RANKS_LEADER, own, bytes, whole);
    free(bytes);
    return rc;
}

static int scatter_from_file(hx_ranks *ranks, const double *whole, double *own)
{
    double *way;
    HX_TRY(alloc_way(ranks, &way));
    int rc = reorder(ranks, whole, way, 0);
    if (rc == HX_OK) rc = scatter_field(ranks, way, own);
    free(way);
    return rc;
}

static int gather_to_file(hx_ranks *ranks, const double *own, double *whole)
{
    double *way;
    HX_TRY(alloc_way(ranks, &way));
    int rc = gather_field(ranks, own, way);
    if (rc == HX_OK) rc = reorder(ranks, way, whole, 1);
    free(way);
    return rc;
}

int hx_ranks_spread_host(hx_ranks *ranks, const double *whole, double *own)
{
    return hx_ranks_judge(ranks, ranks->share.whole->mesh->window
                                     ? scatter_from_file(ranks, whole, own)
                                     : scatter_field(ranks, whole, own));
}

static int spread_host(hx_ranks *ranks, const double *whole, double *d_share)
{
    const size_t n_share = (size_t)ranks->share.mesh.n_elem * sizeof(double);
    HX_TRY(need_field(ranks));
    HX_TRY(hx_ranks_spread_host(ranks, whole, ranks->field));
    return ranks->plain->upload(&ranks->dev, d_share, ranks->field, n_share);
}

static int collect_host(hx_ranks *ranks, const double *d_share, double *whole)
{
    const size_t n_share = (size_t)ranks->share.mesh.n_elem * sizeof(double);
    HX_TRY(need_field(ranks));
    HX_TRY(ranks->plain->download(&ranks->dev, ranks->field, d_share, n_share));
    return ranks->share.whole->mesh->window ? gather_to_file(ranks, ranks->field, whole)
                                            : gather_field(ranks, ranks->field, whole);
}

static int spread(hx_ranks *ranks, const double *d_whole, double *d_share)
{
    const size_t n_whole = (size_t)ranks->share.whole->mesh->n_elem * sizeof(double);
    HX_TRY(need_whole(ranks));
    if (hx_ranks_leads(ranks))
        HX_TRY(ranks->plain->download(&ranks->dev, ranks->whole, d_whole, n_whole));
    return spread_host(ranks, ranks->whole, d_share);
}

static int collect(hx_ranks *ranks, const double *d_share, double *d_whole)
{
    const size_t n_whole = (size_t)ranks->share.whole->mesh->n_elem * sizeof(double);
    HX_TRY(need_whole(ranks));
    HX_TRY(collect_host(ranks, d_share, ranks->whole));
    return hx_ranks_leads(ranks) ? ranks->plain->upload(&ranks->dev, d_whole, ranks->whole, n_whole)
                                 : HX_OK;
}

int hx_ranks_collect_field(hx_ranks *ranks, const double *d_share, double *whole)
{
    return hx_ranks_judge(ranks, collect_host(ranks, d_share, whole));
}

int hx_ranks_spread_field(hx_ranks *ranks, const double *whole, double *d_share)
{
    return hx_ranks_judge(ranks, spread_host(ranks, whole, d_share));
}

int hx_ranks_spread(hx_ranks *ranks, const double *d_whole, double *d_share)
{
    return hx_ranks_judge(ranks, spread(ranks, d_whole, d_share));
}

int hx_ranks_collect(hx_ranks *ranks, const double *d_share, double *d_whole)
{
    return hx_ranks_judge(ranks, collect(ranks, d_share, d_whole));
}
