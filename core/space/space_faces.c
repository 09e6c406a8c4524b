/* Sets and faces of a space with mid-edge points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "space_internal.h"

/* The middle of a cell's edge between two of its nodes, or -1. */
static int32_t middle_between(const hx_space *s, int64_t cell, int32_t a, int32_t b)
{
    const hx_cell_rule *rule = &s->rule[s->kind[cell]];
    int n;
    const int32_t *const point = hx_space_points(s, cell, &n);
    for (int i = 0; i < rule->n_edge; i++) {
        const int32_t one = point[rule->edge[i][0]], two = point[rule->edge[i][1]];
        if ((one == a && two == b) || (one == b && two == a)) return point[rule->n_corner + i];
    }
    return -1;
}

/* Lists the distinct corners of a face in order; merged[i]: index among them of local corner i. */
static int list_ring(const int32_t node[4], int32_t ring[4], int merged[4])
{
    int n = 0;
    for (int i = 0; i < 4; i++) {
        int k = 0;
        while (k < n && ring[k] != node[i]) k++;
        if (k == n) ring[n++] = node[i];
        merged[i] = k;
    }
    return n;
}

/* Shape functions of quad8 from those of quad4. */
static void shape_quad8(const double corner[4], double *shape)
{
    const double x = -corner[0] + corner[1] + corner[2] - corner[3];
    const double y = -corner[0] - corner[1] + corner[2] + corner[3];
    shape[4] = 0.5 * (1.0 - x * x) * (1.0 - y);
    shape[5] = 0.5 * (1.0 - y * y) * (1.0 + x);
    shape[6] = 0.5 * (1.0 - x * x) * (1.0 + y);
    shape[7] = 0.5 * (1.0 - y * y) * (1.0 - x);
    for (int a = 0; a < 4; a++)
        shape[a] = corner[a] - 0.5 * (shape[4 + a] + shape[4 + (a + 3) % 4]);
}

/* Shape functions of tri6 from the area coordinates. */
static void shape_tri6(const double corner[3], double *shape)
{
    for (int a = 0; a < 3; a++) {
        shape[a] = corner[a] * (2.0 * corner[a] - 1.0);
        shape[3 + a] = 4.0 * corner[a] * corner[(a + 1) % 3];
    }
}

void hx_space_face_of(const hx_space *s, int64_t face, hx_space_face *out)
{
    int32_t node[4], ring[4];
    int merged[4];
    if (s->element == HX_ELEMENT_SPLINE) {
        hx_space_spline_face(s, face, out);
        return;
    }
    hx_face_points(s->mesh, face, node, out->at);
    out->n_gauss = 4;
    if (s->element == HX_ELEMENT_LINEAR) {
        out->n = out->n_corner = 4;
        out->has_sums = 1;
        for (int a = 0; a < 4; a++) out->point[a] = out->corner[a] = node[a];
        for (int q = 0; q < 4; q++) memcpy(out->shape[q], out->at[q].shape, 4 * sizeof(double));
        return;
    }
    const int n = list_ring(node, ring, merged);
    out->n = 2 * n;
    out->n_corner = n;
    out->has_sums = 0;
    for (int a = 0; a < n; a++) {
        out->point[a] = out->corner[a] = ring[a];
        out->point[n + a] = middle_between(s, face / 6, ring[a], ring[(a + 1) % n]);
    }
    for (int q = 0; q < 4; q++) {
        double corner[4] = {0.0};
        for (int i = 0; i < 4; i++) corner[merged[i]] += out->at[q].shape[i];
        if (n == 4)
            shape_quad8(corner, out->shape[q]);
        else
            shape_tri6(corner, out->shape[q]);
    }
    hx_space_curve_face(s, 0, out);
}

void hx_space_face_fine(const hx_space *s, int64_t face, hx_space_face *out)
{
    hx_space_face_of(s, face, out);
    if (s->element == HX_ELEMENT_QUADRATIC && out->n_gauss == 4) hx_space_curve_face(s, 1, out);
}

void hx_space_face_symmetric(const hx_space *s, int64_t face, hx_space_face *out)
{
    int32_t ring[4];
    int merged[4], first[3];
    hx_space_face_of(s, face, out);
    if (s->element == HX_ELEMENT_QUADRATIC && out->n == 6) hx_space_curve_face(s, 1, out);
    if (s->element != HX_ELEMENT_LINEAR || list_ring(out->point, ring, merged) != 3) return;
    for (int a = 3; a >= 0; a--) first[merged[a]] = a;
    hx_space_triangle_points(s->mesh, ring, first, out);
}

void hx_space_face_lump(const hx_space_face *face, double share[HX_FACE_POINTS])
{
    double area[HX_FACE_GAUSS], total = 0.0, mass = 0.0;
    for (int q = 0; q < face->n_gauss; q++) {
        const double *n = face->at[q].normal;
        area[q] = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        total += area[q];
    }
    for (int a = 0; a < face->n; a++) {
        share[a] = 0.0;
        for (int q = 0; q < face->n_gauss; q++)
            share[a] += area[q] * (face->has_sums ? face->shape[q][a]
                                                  : face->shape[q][a] * face->shape[q][a]);
        mass += share[a];
    }
    for (int a = 0; a < face->n && !face->has_sums; a++) share[a] *= total / mass;
}

double hx_space_faces_area(const hx_space *s, int64_t n_face, const int64_t *face)
{
    double area = 0.0;
    if (s->element == HX_ELEMENT_LINEAR ||
        (s->element == HX_ELEMENT_QUADRATIC && s->mesh->middles.n == 0))
        return hx_faces_area(s->mesh, n_face, face);
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(s, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++) area += hx_norm3(at.at[q].normal);
    }
    return area;
}

int64_t hx_space_middle(const hx_space *s, int32_t a, int32_t b)
{
    const int32_t first = a < b ? a : b, second = a < b ? b : a;
    int64_t low = 0, high = s->n_edge;
    while (low < high) {
        const int64_t at = (low + high) / 2;
        const int32_t *const end = s->edge + 2 * at;
        if (end[0] < first || (end[0] == first && end[1] < second))
            low = at + 1;
        else
            high = at;
    }
    if (low == s->n_edge || s->edge[2 * low] != first || s->edge[2 * low + 1] != second) return -1;
    return s->mesh->n_node + low;
}

/* flag[edge] := 1 for edges between flagged nodes. */
static void flag_between(const hx_space *s, const uint8_t *node, uint8_t *flag)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < s->n_edge; k++)
        flag[k] = node[s->edge[2 * k]] && node[s->edge[2 * k + 1]];
}

int64_t hx_space_near_node(const hx_space *s, int64_t point)
{
    if (s->element == HX_ELEMENT_SPLINE)
        return s->mesh->conn[8 * hx_space_cell(s, s->point_place[s->point_ptr[point]])];
    return point < s->mesh->n_node ? point : s->edge[2 * (point - s->mesh->n_node)];
}

int hx_space_set_points(const hx_space *s, const hx_set *set, int64_t *n, int32_t **point)
{
    int32_t *middle = NULL;
    int64_t n_middle;
    *n = 0;
    *point = NULL;
    if (s->element == HX_ELEMENT_SPLINE) return hx_space_spline_points(s, set, n, point);
    HX_TRY(hx_space_set_middles(s, set, &n_middle, &middle));
    const int rc =
        hx_alloc_raw(point, (size_t)(set->n_node + n_middle), sizeof **point, "points of a set");
    if (rc == HX_OK) {
        *n = set->n_node + n_middle;
        memcpy(*point, set->node, (size_t)set->n_node * sizeof **point);
        if (n_middle > 0) memcpy(*point + set->n_node, middle, (size_t)n_middle * sizeof **point);
    }
    free(middle);
    return rc;
}

/* flag[edge] := 1 for edges of a plain set. node[] is 0 on entry and on exit. */
static void flag_of_plain(const hx_space *s, const hx_set *set, uint8_t *node, uint8_t *flag)
{
    if (set->n_face > 0) {
        for (int64_t i = 0; i < set->n_face; i++) {
            hx_space_face face;
            hx_space_face_of(s, set->face[i], &face);
            for (int a = face.n / 2; a < face.n; a++)
                if (face.point[a] >= 0) flag[face.point[a] - s->mesh->n_node] = 1;
        }
        return;
    }
    for (int64_t i = 0; i < set->n_middle; i++) {
        const int64_t point = hx_space_middle(s, set->middle[2 * i], set->middle[2 * i + 1]);
        if (point >= 0) flag[point - s->mesh->n_node] = 1;
    }
    if (set->n_middle > 0) return;
    for (int64_t i = 0; i < set->n_node; i++) node[set->node[i]] = 1;
    flag_between(s, node, flag);
    for (int64_t i = 0; i < set->n_node; i++) node[set->node[i]] = 0;
}

/* flag[edge] := 1 for the edges of a set; flag[] is 0 on entry. For a combined set, the rule
 * combines the edges of the parts. */
static int flag_edges(const hx_space *s, const hx_set *set, uint8_t *node, uint8_t *flag)
{
    uint8_t *in_part = NULL;
    int rc = HX_OK;
    if (set->rule == HX_SET_PLAIN) {
        flag_of_plain(s, set, node, flag);
        return HX_OK;
    }
    HX_TRY(hx_alloc_raw(&in_part, (size_t)s->n_edge, 1, "edges of a set"));
    memset(flag, set->rule != HX_SET_OR, (size_t)s->n_edge);
    for (size_t i = 0; i < set->n_part; i++) {
        const hx_set *const part = hx_mesh_find_set(s->mesh, set->part[i]);
        memset(in_part, 0, (size_t)s->n_edge);
        if (part) HX_TRY_FAIL(flag_edges(s, part, node, in_part));
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < s->n_edge; k++)
            flag[k] = set->rule == HX_SET_OR    ? flag[k] | in_part[k]
                      : set->rule == HX_SET_AND ? flag[k] & in_part[k]
                                                : flag[k] & !in_part[k];
    }
fail:
    free(in_part);
    return rc;
}

int hx_space_set_middles(const hx_space *s, const hx_set *set, int64_t *n, int32_t **point)
{
    uint8_t *node = NULL, *flag = NULL;
    int rc;
    *n = 0;
    *point = NULL;
    if (s->element != HX_ELEMENT_QUADRATIC) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&node, (size_t)s->mesh->n_node, 1, "points of a set"));
    HX_TRY_FAIL(hx_alloc(&flag, (size_t)s->n_edge, 1, "points of a set"));
    HX_TRY_FAIL(flag_edges(s, set, node, flag));
    int64_t k = 0;
    for (int64_t i = 0; i < s->n_edge; i++) k += flag[i];
    HX_TRY_FAIL(hx_alloc_raw(point, (size_t)k, sizeof **point, "points of a set"));
    *n = k;
    k = 0;
    for (int64_t i = 0; i < s->n_edge; i++)
        if (flag[i]) (*point)[k++] = (int32_t)(s->mesh->n_node + i);
    rc = HX_OK;
fail:
    free(node);
    free(flag);
    return rc;
}
