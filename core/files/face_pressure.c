#include "face_pressure.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"

/* --- mid-side nodes --- */

/* An edge with its number, for sorting. */
typedef struct edge {
    int32_t end[2];
    int64_t at;
} edge;

static int by_ends(const void *a, const void *b)
{
    const edge *const x = a, *const y = b;
    if (x->end[0] != y->end[0]) return x->end[0] < y->end[0] ? -1 : 1;
    if (x->end[1] != y->end[1]) return x->end[1] < y->end[1] ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

int hx_middle_index_create(hx_middle_index *index, const hx_mesh *mesh)
{
    edge *list = NULL;
    const int64_t n = mesh->middles.n;
    *index = (hx_middle_index){.mesh = mesh};
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&list, (size_t)n, sizeof *list, "mid-side nodes"));
    const int rc = hx_alloc_raw(&index->at, (size_t)n, sizeof *index->at, "mid-side nodes");
    for (int64_t k = 0; rc == HX_OK && k < n; k++)
        list[k] = (edge){{mesh->middles.end[2 * k], mesh->middles.end[2 * k + 1]}, k};
    if (rc == HX_OK) qsort(list, (size_t)n, sizeof *list, by_ends);
    for (int64_t k = 0; rc == HX_OK && k < n; k++) index->at[k] = list[k].at;
    free(list);
    return rc;
}

void hx_middle_index_free(hx_middle_index *index)
{
    free(index->at);
    memset(index, 0, sizeof *index);
}

/* Position of the middle between two nodes; NULL: none. */
static const double *find_middle(const hx_middle_index *index, int32_t a, int32_t b)
{
    const hx_middles *const all = &index->mesh->middles;
    const edge wanted = {{a < b ? a : b, a < b ? b : a}, 0};
    int64_t low = 0, high = index->at ? all->n : 0;
    while (low < high) {
        const int64_t half = (low + high) / 2, k = index->at[half];
        const edge found = {{all->end[2 * k], all->end[2 * k + 1]}, k};
        if (by_ends(&found, &wanted) < 0)
            low = half + 1;
        else
            high = half;
    }
    if (!index->at || low == all->n) return NULL;
    const int64_t k = index->at[low];
    if (all->end[2 * k] != wanted.end[0] || all->end[2 * k + 1] != wanted.end[1]) return NULL;
    return all->xyz + 3 * k;
}

/* --- flat faces --- */

static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

/* Normal of a quadrangle (right-hand rule) or triangle (n = 3) with corners x, at the coordinates
 * (a, b). Its length is the area density there. */
static void face_normal(int n, double x[4][3], double a, double b, double normal[3])
{
    double u[3] = {0}, v[3] = {0};
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) {
            const double du =
                n == 4 ? 0.25 * corner[k][0] * (1 + corner[k][1] * b) : (k == 1) - (k == 0);
            const double dv =
                n == 4 ? 0.25 * corner[k][1] * (1 + corner[k][0] * a) : (k == 2) - (k == 0);
            u[d] += du * x[k][d];
            v[d] += dv * x[k][d];
        }
    hx_cross3(u, v, normal);
}

/* Forces of a unit pressure along the normal. force[4]: integrals of the corners' linear functions,
 * by 2 x 2 points; middle[4]: integrals of the quadratic functions of the edges k, k + 1. Both are
 * exact. */
static void flat_forces(int n, double x[4][3], double force[4][3], double middle[4][3])
{
    static const double gauss[2] = {-0.57735026918962576451, 0.57735026918962576451};
    for (int q = 0; q < (n == 4 ? 4 : 1); q++) {
        double normal[3];
        const double a = n == 4 ? gauss[q % 2] : 0.0, b = n == 4 ? gauss[q / 2] : 0.0;
        const double side[4] = {0.5 * (1 - a * a) * (1 - b), 0.5 * (1 + a) * (1 - b * b),
                                0.5 * (1 - a * a) * (1 + b), 0.5 * (1 - a) * (1 - b * b)};
        face_normal(n, x, a, b, normal);
        for (int k = 0; k < n; k++) {
            const double value =
                n == 4 ? 0.25 * (1 + corner[k][0] * a) * (1 + corner[k][1] * b) : 1.0 / 6.0;
            for (int d = 0; d < 3; d++) {
                force[k][d] += value * normal[d];
                middle[k][d] += (n == 4 ? side[k] : 1.0 / 6.0) * normal[d];
            }
        }
    }
}

/* --- curved faces --- */

/* A function with its derivatives. */
typedef struct shape {
    double value, du, dv;
} shape;

/* Linear functions of the corners, and quadratic functions of the edges from corner k to k + 1. The
 * quadratic function of a corner is its linear function minus half of those of its two edges. */
static void quad_shapes(double a, double b, shape linear[4], shape side[4])
{
    for (int k = 0; k < 4; k++) {
        const double p = corner[k][0], q = corner[k][1];
        linear[k] = (shape){0.25 * (1 + p * a) * (1 + q * b), 0.25 * p * (1 + q * b),
                            0.25 * q * (1 + p * a)};
    }
    side[0] = (shape){0.5 * (1 - a * a) * (1 - b), -a * (1 - b), -0.5 * (1 - a * a)};
    side[1] = (shape){0.5 * (1 + a) * (1 - b * b), 0.5 * (1 - b * b), -(1 + a) * b};
    side[2] = (shape){0.5 * (1 - a * a) * (1 + b), -a * (1 + b), 0.5 * (1 - a * a)};
    side[3] = (shape){0.5 * (1 - a) * (1 - b * b), -0.5 * (1 - b * b), -(1 - a) * b};
}

static void triangle_shapes(double s, double t, shape linear[4], shape side[4])
{
    linear[0] = (shape){1 - s - t, -1, -1};
    linear[1] = (shape){s, 1, 0};
    linear[2] = (shape){t, 0, 1};
    for (int k = 0; k < 3; k++) {
        const shape *const one = &linear[k], *const two = &linear[(k + 1) % 3];
        side[k] =
            (shape){4 * one->value * two->value, 4 * (one->du * two->value + one->value * two->du),
                    4 * (one->dv * two->value + one->value * two->dv)};
    }
}

/* Computes the shape functions at Gauss point q of 3 x 3 and returns its weight. A triangle uses
 * the points of the square that collapses to it, which are exact for degree 4. */
static double curved_point(int n, int q, shape linear[4], shape side[4])
{
    static const double gauss[3] = {-0.77459666924148337704, 0.0, 0.77459666924148337704};
    static const double weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    const double a = gauss[q % 3], b = gauss[q / 3], w = weight[q % 3] * weight[q / 3];
    if (n == 4) {
        quad_shapes(a, b, linear, side);
        return w;
    }
    triangle_shapes(0.25 * (1 + a) * (1 - b), 0.5 * (1 + b), linear, side);
    return 0.125 * w * (1 - b);
}

/* bulge[4]: vector from the middle of each straight edge to that of the curved edge. force[4]:
 * integrals of the linear functions. */
static void curved_forces(int n, double x[4][3], double bulge[4][3], double force[4][3],
                          double middle[4][3])
{
    for (int q = 0; q < 9; q++) {
        shape linear[4], side[4];
        double u[3] = {0}, v[3] = {0}, normal[3];
        const double w = curved_point(n, q, linear, side);
        for (int k = 0; k < n; k++)
            for (int d = 0; d < 3; d++) {
                u[d] += linear[k].du * x[k][d] + side[k].du * bulge[k][d];
                v[d] += linear[k].dv * x[k][d] + side[k].dv * bulge[k][d];
            }
        hx_cross3(u, v, normal);
        for (int k = 0; k < n; k++)
            for (int d = 0; d < 3; d++) {
                force[k][d] += w * linear[k].value * normal[d];
                middle[k][d] += w * side[k].value * normal[d];
            }
    }
}

void hx_face_pressure_find(const hx_middle_index *index, int n, const int32_t *node,
                           hx_face_pressure *pressure)
{
    double x[4][3], bulge[4][3] = {{0.0}}, force[4][3] = {{0.0}};
    const double *const xyz = index->mesh->xyz;
    memset(pressure, 0, sizeof *pressure);
    for (int k = 0; k < n; k++) memcpy(x[k], xyz + 3 * (int64_t)node[k], sizeof x[k]);
    for (int k = 0; k < n; k++) {
        const double *const at = find_middle(index, node[k], node[(k + 1) % n]);
        for (int d = 0; at && d < 3; d++) {
            bulge[k][d] = at[d] - 0.5 * (x[k][d] + x[(k + 1) % n][d]);
            pressure->is_curved |= bulge[k][d] != 0.0;
        }
    }
    flat_forces(n, x, pressure->corner, pressure->middle);
    if (!pressure->is_curved) return;
    memset(pressure->middle, 0, sizeof pressure->middle);
    curved_forces(n, x, bulge, force, pressure->middle);
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) pressure->more[k][d] = force[k][d] - pressure->corner[k][d];
}
