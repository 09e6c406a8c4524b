/* Curved edges: mid-edge points of the mesh's file, and the resulting cells and faces. */
#include <math.h>
#include <string.h>

#include "../base/names.h"
#include "../base/vec3.h"
#include "space_internal.h"

/* A det J below this fraction of a right-angled corner's counts as zero, as in hx_mesh_finish. */
static const double degenerate = 1e-10;

/* --- points --- */

static double edge_length(const hx_mesh *mesh, const int32_t end[2])
{
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = mesh->xyz[3 * (int64_t)end[1] + i] - mesh->xyz[3 * (int64_t)end[0] + i];
    return hx_norm3(d);
}

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return hx_norm3(d);
}

static int raise_two_middles(const hx_mesh *mesh, const int32_t end[2], double apart)
{
    return HX_RAISE(HX_EINPUT,
                    "%s: the edge between nodes %lld and %lld has two mid-side nodes, %.2g of its "
                    "length apart; elements that share an edge must share its mid-side node, or "
                    "use element = \"linear\"",
                    mesh->name, (long long)hx_mesh_node_number(mesh, end[0]),
                    (long long)hx_mesh_node_number(mesh, end[1]), apart);
}

/* Edges and mid-edge points are both in ascending order. */
static int place_middles(hx_space *s)
{
    const hx_middles *m = &s->mesh->middles;
    int64_t k = 0, last = -1; /* last edge whose middle has been set */
    for (int64_t i = 0; i < m->n; i++) {
        const int32_t *const end = m->end + 2 * i;
        while (k < s->n_edge && (s->edge[2 * k] < end[0] ||
                                 (s->edge[2 * k] == end[0] && s->edge[2 * k + 1] < end[1])))
            k++;
        if (k == s->n_edge) break;
        if (s->edge[2 * k] != end[0] || s->edge[2 * k + 1] != end[1]) continue;
        double *const x = s->xyz + 3 * (s->mesh->n_node + k);
        if (last == k) {
            const double apart = distance(x, m->xyz + 3 * i) / edge_length(s->mesh, end);
            if (!(apart <= HX_SAME_MIDDLE)) return raise_two_middles(s->mesh, end, apart);
            continue;
        }
        memcpy(x, m->xyz + 3 * i, 3 * sizeof *x);
        last = k;
    }
    return HX_OK;
}

/* --- cells --- */

/* Smallest det J over the Gauss points, relative to that of a right-angled corner. *det: its value,
 * *at: its point. */
static double least_jacobian(const hx_space *s, int64_t cell, double *det, int *at)
{
    const hx_cell_rule *rule = &s->rule[s->kind[cell]];
    double least = INFINITY;
    int n;
    const int32_t *const point = hx_space_points(s, cell, &n);
    for (int q = 0; q < rule->n_gauss; q++) {
        double j[3][3] = {{0.0}};
        for (int a = 0; a < n; a++)
            for (int k = 0; k < 3; k++)
                for (int i = 0; i < 3; i++)
                    j[k][i] += rule->gradient[q][k][a] * s->xyz[3 * (int64_t)point[a] + i];
        const double here = hx_triple3(j[0], j[1], j[2]);
        const double box = hx_norm3(j[0]) * hx_norm3(j[1]) * hx_norm3(j[2]);
        const double share = box > 0.0 ? here / box : 0.0;
        if (share >= least) continue;
        least = share;
        *det = here;
        *at = q;
    }
    return least;
}

/* The edge of a cell whose mid-edge point is furthest from the middle; *off: that distance relative
 * to the edge's length. */
static int64_t worst_edge(const hx_space *s, int64_t cell, double *off)
{
    const hx_cell_rule *rule = &s->rule[s->kind[cell]];
    int64_t worst = -1;
    int n;
    const int32_t *const point = hx_space_points(s, cell, &n);
    *off = -1.0;
    for (int i = 0; i < rule->n_edge; i++) {
        const int32_t middle = point[rule->n_corner + i];
        const int64_t edge = middle - s->mesh->n_node;
        const int32_t *const end = s->edge + 2 * edge;
        double mean[3];
        for (int d = 0; d < 3; d++)
            mean[d] = 0.5 * (s->xyz[3 * (int64_t)end[0] + d] + s->xyz[3 * (int64_t)end[1] + d]);
        const double share =
            distance(s->xyz + 3 * (int64_t)middle, mean) / edge_length(s->mesh, end);
        if (share <= *off) continue;
        *off = share;
        worst = edge;
    }
    return worst;
}

static int raise_folded(const hx_space *s, int64_t cell, int64_t n_bad)
{
    const hx_mesh *mesh = s->mesh;
    double det = 0.0, off;
    int at = 0;
    (void)least_jacobian(s, cell, &det, &at);
    const int32_t *const end = s->edge + 2 * worst_edge(s, cell, &off);
    return HX_RAISE(HX_EINPUT,
                    "%s: the curved edges of element %lld fold it over: its Jacobian determinant "
                    "is %.6g at Gauss point %d, but must be positive (%lld such %s); its mid-side "
                    "node between nodes %lld and %lld is off the middle of their edge by %.2g of "
                    "its length; move it, or use element = \"linear\"",
                    mesh->name, (long long)hx_mesh_elem_number(mesh, cell), det, at,
                    (long long)n_bad, hx_noun(n_bad, "element", "elements"),
                    (long long)hx_mesh_node_number(mesh, end[0]),
                    (long long)hx_mesh_node_number(mesh, end[1]), off);
}

int hx_space_curve(hx_space *s)
{
    if (s->mesh->middles.n == 0) return HX_OK;
    HX_TRY(place_middles(s));
    /* name the bad element with the lowest number in the file */
    int64_t bad = INT64_MAX, n_bad = 0, cell = 0;
#pragma omp parallel for schedule(static) reduction(min : bad) reduction(+ : n_bad)
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        double det;
        int at;
        if (least_jacobian(s, e, &det, &at) > degenerate) continue;
        const int64_t number = hx_mesh_elem_number(s->mesh, e);
        if (number < bad) bad = number;
        n_bad++;
    }
    if (n_bad == 0) return HX_OK;
    while (hx_mesh_elem_number(s->mesh, cell) != bad) cell++;
    return raise_folded(s, cell, n_bad);
}

/* --- faces --- */

/* An integration point of a face in the face's coordinates: for quad8 in [-1, 1]^2, for tri6 x, y
 * >= 0, x + y <= 1. */
typedef struct face_gauss {
    double x[2], weight;
} face_gauss;

/* 3x3 points: exact for a pressure, whose integrand has degree 5 in each direction. */
static face_gauss gauss_of_quad(int q)
{
    static const double x[3] = {-0.77459666924148337704, 0.0, 0.77459666924148337704};
    static const double w[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    return (face_gauss){{x[q % 3], x[q / 3]}, w[q % 3] * w[q / 3]};
}

/* Six points of degree 4, symmetric in the corners (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985):
 * exact for a pressure on a curved triangle, and for products of two shape functions on a straight
 * one. */
static face_gauss gauss_of_triangle(int q)
{
    static const double far[2] = {0.81684757298045851308, 0.10810301816807022736};
    static const double near[2] = {0.09157621350977074346, 0.44594849091596488632};
    static const double weight[2] = {0.05497587182766093704, 0.11169079483900573297};
    const int group = q / 3, corner = q % 3;
    return (face_gauss){
        {corner == 1 ? far[group] : near[group], corner == 2 ? far[group] : near[group]},
        weight[group]};
}

/* Shape functions of quad8 and their derivatives. */
static void shape_quad8(const double x[2], double shape[8], double d[2][8])
{
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    for (int a = 0; a < 4; a++) {
        const double p = sign[a][0], q = sign[a][1], f = 1.0 + p * x[0], g = 1.0 + q * x[1];
        const double sum = p * x[0] + q * x[1] - 1.0;
        shape[a] = 0.25 * f * g * sum;
        d[0][a] = 0.25 * p * g * (sum + f);
        d[1][a] = 0.25 * q * f * (sum + g);
    }
    for (int a = 0; a < 4; a++) { /* middles of y = -1, x = 1, y = 1, x = -1 */
        const int along = a % 2, across = 1 - along;
        const double sign_of = a == 0 || a == 3 ? -1.0 : 1.0;
        const double bubble = 1.0 - x[along] * x[along], line = 1.0 + sign_of * x[across];
        shape[4 + a] = 0.5 * bubble * line;
        d[along][4 + a] = -x[along] * line;
        d[across][4 + a] = 0.5 * sign_of * bubble;
    }
}

/* Shape functions of tri6 and their derivatives. */
static void shape_tri6(const double x[2], double shape[8], double d[2][8])
{
    static const double slope[2][3] = {{-1.0, 1.0, 0.0}, {-1.0, 0.0, 1.0}};
    const double l[3] = {1.0 - x[0] - x[1], x[0], x[1]};
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3;
        shape[a] = l[a] * (2.0 * l[a] - 1.0);
        shape[3 + a] = 4.0 * l[a] * l[b];
        for (int k = 0; k < 2; k++) {
            d[k][a] = slope[k][a] * (4.0 * l[a] - 1.0);
            d[k][3 + a] = 4.0 * (slope[k][a] * l[b] + l[a] * slope[k][b]);
        }
    }
}

/* 1 if one of the face's edges is curved. */
static int is_curved(const hx_space *s, const hx_space_face *face)
{
    const int n = face->n / 2;
    int curved = 0;
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) {
            const double one = s->xyz[3 * (int64_t)face->point[a] + i];
            const double two = s->xyz[3 * (int64_t)face->point[(a + 1) % n] + i];
            curved |= s->xyz[3 * (int64_t)face->point[n + a] + i] != 0.5 * (one + two);
        }
    return curved;
}

void hx_space_curve_face(const hx_space *s, int always, hx_space_face *face)
{
    if (face->n < 6) return;
    if (!always && (s->mesh->middles.n == 0 || !is_curved(s, face))) return;
    face->n_gauss = face->n == 8 ? 9 : 6;
    for (int q = 0; q < face->n_gauss; q++) {
        const face_gauss at = face->n == 8 ? gauss_of_quad(q) : gauss_of_triangle(q);
        double d[2][8], tangent[2][3] = {{0.0}};
        hx_face_point *const point = &face->at[q];
        if (face->n == 8)
            shape_quad8(at.x, face->shape[q], d);
        else
            shape_tri6(at.x, face->shape[q], d);
        memset(point, 0, sizeof *point);
        for (int a = 0; a < face->n; a++) {
            const double *const x = s->xyz + 3 * (int64_t)face->point[a];
            for (int i = 0; i < 3; i++) {
                point->x[i] += face->shape[q][a] * x[i];
                for (int k = 0; k < 2; k++) tangent[k][i] += d[k][a] * x[i];
            }
        }
        hx_cross3(tangent[0], tangent[1], point->normal);
        for (int i = 0; i < 3; i++) point->normal[i] *= at.weight;
    }
}

void hx_space_triangle_points(const hx_mesh *mesh, const int32_t node[3], const int first[3],
                              hx_space_face *face)
{
    const double *x[3];
    double side[2][3], normal[3]; /* its length is twice the area */
    for (int a = 0; a < 3; a++) x[a] = mesh->xyz + 3 * (int64_t)node[a];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) side[k][i] = x[k + 1][i] - x[0][i];
    hx_cross3(side[0], side[1], normal);
    face->n_gauss = 6;
    for (int q = 0; q < 6; q++) {
        const face_gauss at = gauss_of_triangle(q);
        const double l[3] = {1.0 - at.x[0] - at.x[1], at.x[0], at.x[1]};
        hx_face_point *const point = &face->at[q];
        memset(point, 0, sizeof *point);
        memset(face->shape[q], 0, sizeof face->shape[q]);
        for (int a = 0; a < 3; a++) {
            face->shape[q][first[a]] = point->shape[first[a]] = l[a];
            for (int i = 0; i < 3; i++) point->x[i] += l[a] * x[a][i];
        }
        for (int i = 0; i < 3; i++) point->normal[i] = at.weight * normal[i];
    }
}
