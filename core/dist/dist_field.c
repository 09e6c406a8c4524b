/* Element fields of all subdomains as one field of the whole, on the root's host. */
#include <stdlib.h>

#include "../base/memory.h"
#include "dist.h"

static const char what[] = "a field of all ranks";

/* (*bytes)[size] := bytes of each rank's run of elements. */
static int run_bytes(const hx_dist *dist, size_t **bytes)
{
    const int size = dist->comm->size;
    HX_TRY(hx_alloc_raw(bytes, (size_t)size, sizeof **bytes, what));
    for (int r = 0; r < size; r++)
        (*bytes)[r] = (size_t)dist->subdomain.n_elem_of[r] * sizeof(double);
    return HX_OK;
}

/* Allocates host memory for a field of the subdomain at the first call. */
static int need_field(hx_dist *dist)
{
    if (dist->field) return HX_OK;
    return hx_alloc_raw(&dist->field, (size_t)dist->subdomain.mesh.n_elem, sizeof *dist->field,
                        what);
}

/* With a distributed mesh, the root's fields of the whole are in the order of the file. On the
 * root (*orig)[n_elem of all ranks] := position of each element in the file, rank after rank; the
 * caller frees it. */
static int gather_places(hx_dist *dist, int32_t **orig)
{
    const hx_mesh *const ownership = dist->subdomain.whole->mesh;
    size_t *bytes;
    *orig = NULL;
    if (hx_dist_is_root(dist))
        HX_TRY(hx_alloc_raw(orig, (size_t)hx_mesh_n_elem_all(ownership), sizeof **orig, what));
    HX_TRY(run_bytes(dist, &bytes));
    for (int r = 0; r < dist->comm->size; r++) bytes[r] /= sizeof(double) / sizeof **orig;
    const int rc =
        dist->comm->ops->gather(dist->comm, HX_DIST_ROOT,
                                ownership->elem_orig + hx_mesh_own_begin(ownership), bytes, *orig);
    free(bytes);
    return rc;
}

/* Converts the root's field between the order of the file and that of the ranks. */
static int reorder(hx_dist *dist, const double *from, double *to, int to_file)
{
    const int64_t n = hx_mesh_n_elem_all(dist->subdomain.whole->mesh);
    int32_t *orig;
    int rc = gather_places(dist, &orig);
    if (rc == HX_OK && hx_dist_is_root(dist)) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            if (to_file) /* NOLINTNEXTLINE(clang-analyzer-core*): the root has both fields */
                to[orig[i]] = from[i];
            else
                /* NOLINTNEXTLINE(clang-analyzer-core*): the root has both fields */
                to[i] = from[orig[i]];
        }
    }
    free(orig);
    return rc;
}

/* Allocates a temporary field of the whole on the root. */
static int alloc_way(const hx_dist *dist, double **way)
{
    *way = NULL;
    if (!hx_dist_is_root(dist)) return HX_OK;
    return hx_alloc_raw(way, (size_t)hx_mesh_n_elem_all(dist->subdomain.whole->mesh), sizeof **way,
                        what);
}

static int scatter_field(hx_dist *dist, const double *whole, double *own)
{
    size_t *bytes;
    HX_TRY(run_bytes(dist, &bytes));
    const int rc = dist->comm->ops->scatter(dist->comm, HX_DIST_ROOT, whole, bytes, own);
    free(bytes);
    return rc;
}

static int gather_field(hx_dist *dist, const double *own, double *whole)
{
    size_t *bytes;
    HX_TRY(run_bytes(dist, &bytes));
    const int rc = dist->comm->ops->gather(dist->comm, HX_DIST_ROOT, own, bytes, whole);
    free(bytes);
    return rc;
}

static int scatter_from_file(hx_dist *dist, const double *whole, double *own)
{
    double *way;
    HX_TRY(alloc_way(dist, &way));
    int rc = reorder(dist, whole, way, 0);
    if (rc == HX_OK) rc = scatter_field(dist, way, own);
    free(way);
    return rc;
}

static int gather_to_file(hx_dist *dist, const double *own, double *whole)
{
    double *way;
    HX_TRY(alloc_way(dist, &way));
    int rc = gather_field(dist, own, way);
    if (rc == HX_OK) rc = reorder(dist, way, whole, 1);
    free(way);
    return rc;
}

static int spread_host(hx_dist *dist, const double *whole, double *d_local)
{
    const size_t n_local = (size_t)dist->subdomain.mesh.n_elem * sizeof(double);
    HX_TRY(need_field(dist));
    HX_TRY(dist->subdomain.whole->mesh->ownership ? scatter_from_file(dist, whole, dist->field)
                                                  : scatter_field(dist, whole, dist->field));
    return dist->plain->upload(&dist->dev, d_local, dist->field, n_local);
}

static int collect_host(hx_dist *dist, const double *d_local, double *whole)
{
    const size_t n_local = (size_t)dist->subdomain.mesh.n_elem * sizeof(double);
    HX_TRY(need_field(dist));
    HX_TRY(dist->plain->download(&dist->dev, dist->field, d_local, n_local));
    return dist->subdomain.whole->mesh->ownership ? gather_to_file(dist, dist->field, whole)
                                                  : gather_field(dist, dist->field, whole);
}

int hx_dist_gather_field(hx_dist *dist, const double *d_local, double *whole)
{
    HX_TRY(hx_dist_check(dist));
    return hx_dist_note_error(dist, collect_host(dist, d_local, whole));
}

int hx_dist_scatter_field(hx_dist *dist, const double *whole, double *d_local)
{
    HX_TRY(hx_dist_check(dist));
    return hx_dist_note_error(dist, spread_host(dist, whole, d_local));
}
