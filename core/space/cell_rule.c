#include "cell_rule.h"

#include <string.h>

#include "../mesh/mesh.h"
#include "hex20.h"
#include "pyramid13.h"
#include "tet10.h"
#include "wedge15.h"

typedef struct cell_table {
    const char *name;
    int n_corner, n_edge, n_gauss;
    int edge[HX_RULE_EDGES][2];
    double centre[3]; /* mean of the corners in reference coordinates */
    double (*shape)(int a, const double x[3], double d[3]);
    double (*gauss)(int q, double x[3]);
} cell_table;

static const cell_table tables[HX_N_CELL_RULE] = {
    [HX_CELL_HEXAHEDRON] = {"hex20",
                            8,
                            12,
                            HX_HEX20_GAUSS,
                            {{0, 1},
                             {1, 2},
                             {2, 3},
                             {3, 0},
                             {4, 5},
                             {5, 6},
                             {6, 7},
                             {7, 4},
                             {0, 4},
                             {1, 5},
                             {2, 6},
                             {3, 7}},
                            {0.0, 0.0, 0.0},
                            hx_hex20_shape,
                            hx_hex20_gauss},
    [HX_CELL_WEDGE] = {"wedge15",
                       6,
                       9,
                       HX_WEDGE15_GAUSS,
                       {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
                       {1.0 / 3.0, 1.0 / 3.0, 0.0},
                       hx_wedge15_shape,
                       hx_wedge15_gauss},
    [HX_CELL_PYRAMID] = {"pyramid13",
                         5,
                         8,
                         HX_PYRAMID13_GAUSS,
                         {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}},
                         {0.0, 0.0, 0.2},
                         hx_pyramid13_shape,
                         hx_pyramid13_gauss},
    [HX_CELL_TETRAHEDRON] = {"tet10",
                             4,
                             6,
                             HX_TET10_GAUSS,
                             {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
                             {0.25, 0.25, 0.25},
                             hx_tet10_shape,
                             hx_tet10_gauss},
};

const char *hx_cell_rule_name(hx_cell_kind kind)
{
    return tables[kind].name;
}

int hx_cell_rule_points(hx_cell_kind kind)
{
    return tables[kind].n_corner + tables[kind].n_edge;
}

double hx_cell_rule_shape(hx_cell_kind kind, int a, const double x[3], double d[3])
{
    return tables[kind].shape(a, x, d);
}

void hx_cell_rule_make(int index, hx_cell_rule *rule)
{
    const int is_fine = index == HX_RULE_TET10_FINE;
    const cell_table *t = &tables[is_fine ? HX_CELL_TETRAHEDRON : index];
    double (*const gauss)(int, double[3]) = is_fine ? hx_tet10_fine_gauss : t->gauss;
    double x[3], d[3];
    memset(rule, 0, sizeof *rule);
    rule->name = t->name;
    rule->n_corner = t->n_corner;
    rule->n_edge = t->n_edge;
    rule->n_point = t->n_corner + t->n_edge;
    rule->n_gauss = is_fine ? HX_TET10_FINE_GAUSS : t->n_gauss;
    memcpy(rule->edge, t->edge, sizeof rule->edge);
    for (int a = 0; a < rule->n_point; a++) {
        for (int q = 0; q < rule->n_gauss; q++) {
            rule->weight[q] = gauss(q, x);
            rule->shape[q][a] = t->shape(a, x, d);
            for (int k = 0; k < 3; k++) rule->gradient[q][k][a] = d[k];
        }
        t->shape(a, t->centre, d);
        for (int k = 0; k < 3; k++) rule->centre[k][a] = d[k];
    }
}

/* Distinct corners of a face, clockwise as seen from outside, so right-handed looking inwards. */
static int list_inwards(const int32_t conn[8], int face, int32_t ring[4])
{
    const int *const corner = hx_hex_face[face];
    int n = 0;
    for (int i = 3; i >= 0; i--)
        if (conn[corner[i]] != conn[corner[(i + 3) % 4]]) ring[n++] = conn[corner[i]];
    return n;
}

static int is_among(int32_t point, int n, const int32_t *list)
{
    int i = 0;
    while (i < n && list[i] != point) i++;
    return i < n;
}

/* The corner of a wedge that is not in the triangle and is connected to corner a by an edge. */
static int32_t opposite(const int32_t conn[8], const int32_t triangle[3], int32_t a)
{
    for (int f = 0; f < 6; f++) {
        int32_t ring[4];
        if (list_inwards(conn, f, ring) != 4) continue;
        for (int i = 0; i < 4; i++) {
            if (ring[i] != a) continue;
            const int32_t before = ring[(i + 3) % 4], after = ring[(i + 1) % 4];
            return is_among(before, 3, triangle) ? after : before;
        }
    }
    return -1;
}

int hx_cell_rule_corners(hx_cell_kind kind, const int32_t conn[8], int32_t corner[8])
{
    if (kind > HX_CELL_TETRAHEDRON) return 0;
    const int n = tables[kind].n_corner, n_ring = kind == HX_CELL_PYRAMID ? 4 : 3;
    if (kind == HX_CELL_HEXAHEDRON) {
        memcpy(corner, conn, 8 * sizeof *corner);
        return n;
    }
    int32_t ring[4];
    /* the first face with n_ring corners */
    int f = 0;
    while (f < 5 && list_inwards(conn, f, ring) != n_ring) f++;
    list_inwards(conn, f, ring);
    memcpy(corner, ring, (size_t)n_ring * sizeof *corner);
    if (kind == HX_CELL_WEDGE) {
        for (int i = 0; i < 3; i++) corner[3 + i] = opposite(conn, ring, ring[i]);
        return n;
    }
    for (int a = 0; a < 8; a++)
        if (!is_among(conn[a], n_ring, ring)) corner[n_ring] = conn[a];
    return n;
}

void hx_cell_displacement_gradient(double j[3][3], double du[3][3], double h[3][3])
{
    double inverse[3][3], det = 0.0; /* inverse times det */
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            inverse[k][i] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    for (int i = 0; i < 3; i++) det += j[0][i] * inverse[0][i];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            h[i][d] = 0.0;
            for (int k = 0; k < 3; k++) h[i][d] += du[i][k] * inverse[k][d] / det;
        }
}
