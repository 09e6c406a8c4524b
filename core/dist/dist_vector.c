/* Vectors of all subdomains as one vector of the whole, on the root's host or in its checkpoint. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "dist.h"

static const char what[] = "a vector of all ranks";

/* On the root: the points of all ranks, by their numbers in the whole. */
typedef struct points {
    int64_t *n;     /* [size] points of each rank */
    size_t *bytes;  /* [size] bytes moved for each rank */
    int32_t *node;  /* numbers of all points, rank after rank; NULL on other ranks */
    double *values; /* [sum of n][components] */
} points;

static void free_points(points *p)
{
    free(p->n);
    free(p->bytes);
    free(p->node);
    free(p->values);
}

static void set_bytes(const hx_dist *dist, points *p, size_t each)
{
    for (int r = 0; r < dist->comm->size; r++) p->bytes[r] = (size_t)p->n[r] * each;
}

/* Returns the number of points that this rank exchanges: all of the subdomain, or only own nodes
 * with a distributed mesh. */
static int64_t count_points(const hx_dist *dist)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    return subdomain->whole->mesh->ownership ? subdomain->n_own : subdomain->space.n_point;
}

/* (*number)[points] := their numbers in the whole, or in the file with a distributed mesh; the
 * caller frees it. */
static int list_numbers(const hx_dist *dist, int32_t **number)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    const int32_t *const orig = subdomain->whole->mesh->node_orig;
    const int64_t n = count_points(dist);
    HX_TRY(hx_alloc_raw(number, (size_t)n, sizeof **number, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        (*number)[i] =
            subdomain->whole->mesh->ownership ? orig[subdomain->node[i]] : subdomain->node[i];
    return HX_OK;
}

static int find_points(hx_dist *dist, int components, points *p)
{
    const size_t size = (size_t)dist->comm->size;
    const int64_t n_here = count_points(dist);
    int64_t n = 0;
    int32_t *number;
    HX_TRY(hx_alloc(&p->n, size, sizeof *p->n, what));
    HX_TRY(hx_alloc(&p->bytes, size, sizeof *p->bytes, what));
    HX_TRY(dist->comm->ops->all_gather(dist->comm, &n_here, sizeof n_here, p->n));
    for (size_t r = 0; r < size; r++) n += p->n[r];
    if (hx_dist_is_root(dist)) {
        HX_TRY(hx_alloc_raw(&p->node, (size_t)n, sizeof *p->node, what));
        HX_TRY(hx_alloc_raw(&p->values, (size_t)(n * components), sizeof(double), what));
    }
    set_bytes(dist, p, sizeof *p->node);
    HX_TRY(list_numbers(dist, &number));
    const int rc = dist->comm->ops->gather(dist->comm, HX_DIST_ROOT, number, p->bytes, p->node);
    free(number);
    set_bytes(dist, p, (size_t)components * sizeof(double));
    return rc;
}

/* Copies between the whole and the values of all ranks. Values at interface points are equal on all
 * ranks, so the order does not matter. */
static void move_values(const hx_dist *dist, int components, points *p, double *whole, int to_whole)
{
    const size_t bytes = (size_t)components * sizeof(double);
    int64_t n = 0;
    for (int r = 0; r < dist->comm->size; r++) n += p->n[r];
    for (int64_t i = 0; i < n; i++) {
        double *const one = p->values + components * i, *const of = whole + components *
                                                                                (int64_t)p->node[i];
        memcpy(to_whole ? of : one, to_whole ? one : of, bytes);
    }
}

static int collect(hx_dist *dist, int components, const double *d_local, double *whole, points *p,
                   double *own)
{
    const size_t bytes = (size_t)(dist->subdomain.space.n_point * components) * sizeof(double);
    HX_TRY(find_points(dist, components, p));
    HX_TRY(dist->plain->download(&dist->dev, own, d_local, bytes));
    HX_TRY(dist->comm->ops->gather(dist->comm, HX_DIST_ROOT, own, p->bytes, p->values));
    if (hx_dist_is_root(dist)) move_values(dist, components, p, whole, 1);
    return HX_OK;
}

/* With a distributed mesh, points of other ranks get their owner's value by adding all ranks'
 * values, which are 0 except the owner's. */
static int spread_to_others(hx_dist *dist, int components, double *d_local)
{
    const hx_interface_ops *const interface = dist->dev.ops->interface;
    return dist->subdomain.whole->mesh->ownership ? interface->add(&dist->dev, components, d_local)
                                                  : HX_OK;
}

static int spread_vector(hx_dist *dist, int components, const double *whole, double *d_local,
                         points *p, double *own)
{
    const size_t n = (size_t)(dist->subdomain.space.n_point * components);
    HX_TRY(find_points(dist, components, p));
    if (hx_dist_is_root(dist)) move_values(dist, components, p, (double *)whole, 0);
    memset(own, 0, n * sizeof *own);
    HX_TRY(dist->comm->ops->scatter(dist->comm, HX_DIST_ROOT, p->values, p->bytes, own));
    HX_TRY(dist->plain->upload(&dist->dev, d_local, own, n * sizeof *own));
    return spread_to_others(dist, components, d_local);
}

static int move(hx_dist *dist, int components, const double *d_from, double *d_to,
                const double *from, double *to)
{
    points p = {0};
    double *own;
    HX_TRY(hx_dist_check(dist));
    int rc =
        hx_alloc_raw(&own, (size_t)(dist->subdomain.space.n_point * components), sizeof *own, what);
    if (rc == HX_OK)
        rc = d_from ? collect(dist, components, d_from, to, &p, own)
                    : spread_vector(dist, components, from, d_to, &p, own);
    free_points(&p);
    free(own);
    if (rc < 0) dist->is_lost = 1;
    return rc;
}

int hx_dist_gather_vector(hx_dist *dist, int components, const double *d_local, double *whole)
{
    return move(dist, components, d_local, NULL, NULL, whole);
}

int hx_dist_scatter_vector(hx_dist *dist, int components, const double *whole, double *d_local)
{
    return move(dist, components, NULL, d_local, whole, NULL);
}

int hx_dist_snapshot_vector(hx_dist *dist, hx_snapshot *image, const char *name, int components,
                            int64_t n_point, double *d_local)
{
    const hx_space *const space = &dist->subdomain.whole->space;
    const int64_t n_all = space->mesh->ownership ? hx_mesh_n_node_all(space->mesh) : space->n_point;
    const size_t each = (size_t)components * sizeof(double);
    double *whole = NULL;
    int rc = HX_OK;
    if (hx_dist_is_root(dist)) HX_TRY(hx_alloc(&whole, (size_t)n_all, each, what));
    if (image->mode == HX_SNAPSHOT_SAVE)
        rc = hx_dist_gather_vector(dist, components, d_local, whole);
    if (rc == HX_OK) rc = hx_snapshot_first(image, name, whole, (size_t)n_point * each);
    if (rc == HX_OK && image->mode == HX_SNAPSHOT_LOAD)
        rc = hx_dist_scatter_vector(dist, components, whole, d_local);
    free(whole);
    return rc;
}
