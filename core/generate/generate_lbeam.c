/* The L-beam (P1, example LB): a square less its upper right (3/5 x 3/5) square. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "generate.h"
#include "generate_internal.h"

/* In units of the edge: the square's side n, the arms' width w, the thickness t along y. */
typedef struct l_shape {
    int64_t n, w, t;
} l_shape;

static int64_t count_points(const l_shape *l)
{
    return (l->t + 1) * ((l->w + 1) * (l->n + 1) + (l->n - l->w) * (l->w + 1));
}

/* Points go row by row in z: full rows up to z = w, then rows of the upright arm, t + 1 deep. */
static int64_t point_index(const l_shape *l, int64_t i, int64_t j, int64_t k)
{
    const int64_t before =
        k <= l->w ? k * (l->n + 1) : (l->w + 1) * (l->n + 1) + (k - l->w - 1) * (l->w + 1);
    return (before + i) * (l->t + 1) + j;
}

/* A node set of all points with x in i0..i1 and z in k0..k1. */
static int add_line_set(hx_mesh *mesh, const char *name, const l_shape *l, int64_t i0, int64_t i1,
                        int64_t k0, int64_t k1)
{
    int32_t *node = NULL;
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&node, (size_t)((i1 - i0 + 1) * (k1 - k0 + 1) * (l->t + 1)), sizeof *node,
                        "nodes of a set"));
    for (int64_t k = k0; k <= k1; k++)
        for (int64_t i = i0; i <= i1; i++)
            for (int64_t j = 0; j <= l->t; j++) node[n++] = (int32_t)point_index(l, i, j, k);
    const int rc = hx_mesh_add_node_set(mesh, name, n, node);
    free(node);
    return rc;
}

static void fill_mesh(const l_shape *l, double *xyz, int32_t *conn)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k <= l->n; k++) {
        const int64_t last = k <= l->w ? l->n : l->w;
        for (int64_t i = 0; i <= last; i++)
            for (int64_t j = 0; j <= l->t; j++) {
                double *const x = xyz + (size_t)point_index(l, i, j, k) * 3;
                x[0] = (double)i;
                x[1] = (double)j;
                x[2] = (double)k;
            }
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < l->n; k++) {
        const int64_t last = k < l->w ? l->n : l->w;
        int64_t e = (k <= l->w ? k * l->n : l->w * l->n + (k - l->w) * l->w) * l->t;
        for (int64_t i = 0; i < last; i++)
            for (int64_t j = 0; j < l->t; j++, e++)
                for (int c = 0; c < 8; c++) {
                    const int64_t di = c % 4 == 1 || c % 4 == 2, dj = c % 4 >= 2, dk = c >= 4;
                    conn[(size_t)e * 8 + (size_t)c] =
                        (int32_t)point_index(l, i + di, j + dj, k + dk);
                }
    }
}

static int choose_shape(l_shape *l, const hx_generate_params *params)
{
    static const int side[6] = {0, 80, 110, 145, 190, 250}, thickness[6] = {0, 8, 11, 14, 19, 25};
    HX_TRY(hx_generate_check("lbeam", params));
    const int n = params->nx > 0 ? params->nx : side[params->size];
    if (n % 5 != 0 && n < 5)
        return HX_RAISE(HX_EINPUT, "lbeam: nx = %d must be a multiple of 5: 5 is the smallest", n);
    if (n % 5 != 0)
        return HX_RAISE(HX_EINPUT, "lbeam: nx = %d must be a multiple of 5: %d is the nearest", n,
                        n % 5 < 3 ? n - n % 5 : n - n % 5 + 5);
    if (params->nz > 0 && params->nz != n)
        return HX_RAISE(HX_EINPUT,
                        "lbeam: nz = %d, but the outline is a square of nx = %d: leave nz out",
                        params->nz, n);
    l->n = n;
    l->w = n / 5 * 2;
    l->t = params->ny > 0 ? params->ny : thickness[params->size];
    if (l->t == 0) l->t = n > 10 ? n / 10 : 1;
    return hx_generate_check_count("lbeam", 0.64 * (double)n * (double)n * (double)l->t,
                                   params->other_bytes);
}

static int generate_lbeam(hx_mesh *mesh, const hx_generate_params *params)
{
    int rc = HX_OK;
    double *xyz = NULL;
    int32_t *conn = NULL;
    l_shape l;
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(choose_shape(&l, params));
    const int64_t n_node = count_points(&l), n_elem = (l.n * l.n - (l.n - l.w) * (l.n - l.w)) * l.t;
    HX_TRY_FAIL(hx_alloc_raw(&xyz, (size_t)n_node * 3, sizeof *xyz, "coordinates"));
    rc = hx_alloc_raw(&conn, (size_t)n_elem * 8, sizeof *conn, "elements");
    if (rc < 0) {
        free(xyz);
        goto fail;
    }
    fill_mesh(&l, xyz, conn);
    HX_TRY_FAIL(hx_mesh_create(mesh, "lbeam", n_node, xyz, n_elem, conn));
    HX_TRY_FAIL(add_line_set(mesh, "top", &l, 0, l.w, l.n, l.n));
    HX_TRY_FAIL(add_line_set(mesh, "tip", &l, l.n, l.n, 0, l.w));
    HX_TRY_FAIL(add_line_set(mesh, "tip-lower-edge", &l, l.n, l.n, 0, 0));
    HX_TRY_FAIL(add_line_set(mesh, "tip-upper-edge", &l, l.n, l.n, l.w, l.w));
    HX_TRY_FAIL(hx_mesh_distort(mesh, params->distort, params->seed));
    return HX_OK;
fail:
    hx_mesh_free(mesh);
    return rc;
}

const hx_generator hx_generator_lbeam = {
    .name = "lbeam",
    .help = "nx x nx square of unit cubes in x, z (z up) less its upper right 3/5 x 3/5, ny thick "
            "along y (nx a multiple of 5; without a size ny = nx / 10; no nz); node sets top (of "
            "the upright arm), tip (x = nx), tip-lower-edge, tip-upper-edge",
    .generate = generate_lbeam,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
