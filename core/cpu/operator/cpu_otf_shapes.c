/* Blocks of otf whose elements are translated copies of one parallelepiped. The Jacobian is the
 * same at every point, so modes couple only through 3 x 3 tiles (cpu_otf_shape_lanes.inc), which
 * are shared by the whole block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/vec3.h"
#include "../../mesh/hex8.h"
#include "cpu_otf.h"

/* Tolerance for equal modes, relative to the shortest edge: coordinates are rounded to 1e-16 of the
 * mesh, which may be a thousand elements long. */
#define ALIKE 2e-13

/* Modes {r, s, t, rs, rt, st, rst} of the coordinates, times 8. */
static void find_modes(const hx_mesh *mesh, int64_t elem, double mode[7][3])
{
    const int32_t *conn = mesh->conn + 8 * elem;
    const double *origin = mesh->xyz + 3 * (int64_t)conn[0];
    memset(mode, 0, 7 * sizeof mode[0]);
    for (int a = 0; a < 8; a++) {
        const double r = hx_hex8_sign(a, 0), s = hx_hex8_sign(a, 1), t = hx_hex8_sign(a, 2);
        const double sign[7] = {r, s, t, r * s, r * t, s * t, r * s * t};
        for (int i = 0; i < 3; i++) {
            const double x = mesh->xyz[3 * (int64_t)conn[a] + i] - origin[i];
            for (int m = 0; m < 7; m++) mode[m][i] += sign[m] * x;
        }
    }
}

/* Returns 1 if an element with these modes is a parallelepiped with these edges. */
static int is_alike(double mode[7][3], double edge[3][3])
{
    double least = INFINITY;
    for (int k = 0; k < 3; k++) least = fmin(least, sqrt(hx_dot3(edge[k], edge[k])));
    const double most = ALIKE * least;
    int alike = 1;
    for (int m = 0; m < 7; m++)
        for (int i = 0; i < 3; i++) alike &= fabs(mode[m][i] - (m < 3 ? edge[m][i] : 0.0)) <= most;
    return alike;
}

/* Returns 1 if the elements of a block have one shape; sets the edges of the first one. */
static int find_edges(const hx_mesh *mesh, int64_t block, double edge[3][3])
{
    const int64_t first = block * HX_OTF_BLOCK;
    const int64_t last = first + HX_OTF_BLOCK < mesh->n_elem ? first + HX_OTF_BLOCK : mesh->n_elem;
    double mode[7][3], normal[3];
    find_modes(mesh, first, mode);
    memcpy(edge, mode, 3 * sizeof edge[0]);
    hx_cross3(edge[1], edge[2], normal);
    if (!(hx_dot3(edge[0], normal) > 0.0)) return 0;
    for (int64_t e = first; e < last; e++) {
        find_modes(mesh, e, mode);
        if (!is_alike(mode, edge)) return 0;
    }
    return 1;
}

/* With a_k the rows of adj(J), tile (k, l) = c (lambda a_k a_l' + mu a_l a_k' + mu (a_k . a_l) I).
 * It maps the displacement derivative with respect to l to the force conjugate to the derivative
 * with respect to k. c includes the weights of the eight points and the factors of the modes. */
static void fill_tiles(const hx_device_model *model, hx_otf_shape *shape)
{
    double adj[3][3];
    for (int k = 0; k < 3; k++)
        hx_cross3(shape->edge[(k + 1) % 3], shape->edge[(k + 2) % 3], adj[k]);
    const double c = 8.0 / 512.0 / hx_dot3(shape->edge[0], adj[0]);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            const double dot = model->mu * hx_dot3(adj[k], adj[l]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    shape->tile[3 * k + l][3 * i + j] =
                        c * (model->lambda * adj[k][i] * adj[l][j] +
                             model->mu * adj[l][i] * adj[k][j] + (i == j ? dot : 0.0));
        }
    for (int n = 0; n < 9; n++) {
        const double r = shape->tile[0][n], s = shape->tile[4][n], t = shape->tile[8][n];
        shape->tile[HX_OTF_RS][n] = r + s;
        shape->tile[HX_OTF_RT][n] = r + t;
        shape->tile[HX_OTF_ST][n] = s + t;
        shape->tile[HX_OTF_RST][n] = r + s + t;
    }
    for (int m = 0; m < HX_OTF_TILES; m++)
        for (int n = 0; n < 9; n++) shape->tile_single[m][n] = (float)shape->tile[m][n];
}

static void fill_shape(const hx_device_model *model, const hx_mesh *mesh, int64_t elem,
                       double edge[3][3], hx_otf_shape *shape)
{
    double x[24];
    memcpy(shape->edge, edge, sizeof shape->edge);
    shape->is_box = 1;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) shape->is_box &= i == k || edge[k][i] == 0.0;
    fill_tiles(model, shape);
    hx_hex8_gather(mesh->conn + 8 * elem, mesh->xyz, x);
    for (int a = 0; a < 8; a++)
        hx_hex8_diagonal(x, a, model->lambda, model->mu, shape->diagonal[a]);
}

/* Index of the shape with these edges, which is added if it is new; HX_OTF_NO_SHAPE if there are
 * too many. */
static uint8_t number_of(hx_cpu_otf *s, const hx_mesh *mesh, int64_t elem, double edge[3][3])
{
    double mode[7][3] = {{0.0}};
    memcpy(mode, edge, 3 * sizeof mode[0]);
    for (int n = s->n_shape - 1; n >= 0; n--)
        if (is_alike(mode, s->shape[n].edge)) return (uint8_t)n;
    if (s->n_shape == HX_OTF_SHAPES) return HX_OTF_NO_SHAPE;
    fill_shape(s->model, mesh, elem, edge, &s->shape[s->n_shape]);
    return (uint8_t)s->n_shape++;
}

int hx_cpu_otf_find_shapes(hx_cpu_otf *s, const hx_mesh *mesh)
{
    double(*edge)[3][3];
    HX_TRY(hx_alloc_raw(&edge, (size_t)s->n_block, sizeof *edge, "blocks of otf"));
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&s->block_shape, (size_t)s->n_block, 1, "blocks of otf"));
    HX_TRY_FAIL(hx_alloc(&s->shape, HX_OTF_SHAPES, sizeof *s->shape, "blocks of otf"));
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < s->n_block; b++)
        s->block_shape[b] = find_edges(mesh, b, edge[b]) ? 0 : HX_OTF_NO_SHAPE;
    for (int64_t b = 0; b < s->n_block; b++)
        if (s->block_shape[b] != HX_OTF_NO_SHAPE)
            s->block_shape[b] = number_of(s, mesh, b * HX_OTF_BLOCK, edge[b]);
    rc = HX_OK;
fail:
    free(edge);
    return rc;
}
