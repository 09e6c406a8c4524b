#include "cell.h"

#include <string.h>

#include "../base/vec3.h"
#include "hex8.h"
#include "mesh.h"

int hx_cell_face(const int32_t conn[8], int face, int32_t node[4])
{
    const int *const corner = hx_hex_face[face];
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (conn[corner[i]] != conn[corner[(i + 3) % 4]]) node[n++] = conn[corner[i]];
    return n;
}

int hx_cell_find_face(const int32_t conn[8], int n, const int32_t *node)
{
    for (int f = 0; f < 6; f++) {
        int32_t own[4];
        int n_interface = 0;
        if (hx_cell_face(conn, f, own) != n) continue;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) n_interface += own[i] == node[k];
        if (n_interface == n) return f;
    }
    return -1;
}

int hx_cell_edges(const int32_t conn[8], int32_t edge[12][2])
{
    static const int line[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                    {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    int n = 0;
    for (int i = 0; i < 12; i++) {
        const int32_t a = conn[line[i][0]], b = conn[line[i][1]];
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        int known = low == high;
        for (int k = 0; k < n; k++) known |= edge[k][0] == low && edge[k][1] == high;
        if (known) continue;
        edge[n][0] = low;
        edge[n++][1] = high;
    }
    return n;
}

/* Returns 1 if a names every point that b does. */
static int names_all(const int32_t a[8], const int32_t b[8])
{
    int n = 0;
    for (int k = 0; k < 8; k++) {
        int named = 0;
        for (int i = 0; i < 8; i++) named |= a[i] == b[k];
        n += named;
    }
    return n == 8;
}

int hx_cell_has_same_points(const int32_t a[8], const int32_t b[8])
{
    return names_all(a, b) && names_all(b, a);
}

/* The numbers of points, triangles and quadrilaterals identify the solid, once cells are excluded
 * in which a point has less than three faces: two faces then lie on each other. */
hx_cell_kind hx_cell_kind_of(const int32_t conn[8])
{
    int corner[8], n_face_at[8] = {0}, n_face[5] = {0};
    const int n = hx_cell_distinct(conn, corner);
    for (int f = 0; f < 6; f++) {
        int32_t ring[4];
        const int n_ring = hx_cell_face(conn, f, ring);
        if (n_ring < 3) continue;
        n_face[n_ring]++;
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n_ring; i++) n_face_at[k] += ring[i] == conn[corner[k]];
    }
    for (int k = 0; k < n; k++)
        if (n_face_at[k] < 3) return HX_CELL_OTHER;
    if (n == 8) return HX_CELL_HEXAHEDRON;
    if (n == 6 && n_face[3] == 2 && n_face[4] == 3) return HX_CELL_WEDGE;
    if (n == 5 && n_face[3] == 4 && n_face[4] == 1) return HX_CELL_PYRAMID;
    return n == 4 && n_face[3] == 4 && n_face[4] == 0 ? HX_CELL_TETRAHEDRON : HX_CELL_OTHER;
}

void hx_cell_collapsed_centroid(const double *xyz, const int32_t conn[8], double x[3])
{
    int corner[8];
    const int n = hx_cell_distinct(conn, corner);
    for (int i = 0; i < 3; i++) {
        double value[8], sum = 0.0; /* ascending, so that the numbering does not matter */
        for (int k = 0; k < n; k++) {
            const double next = xyz[3 * (int64_t)conn[corner[k]] + i];
            int place = k;
            for (; place > 0 && value[place - 1] > next; place--) value[place] = value[place - 1];
            value[place] = next;
        }
        for (int k = 0; k < n; k++) sum += value[k];
        x[i] = sum / n;
    }
}

void hx_cell_middle(const int32_t conn[8], double middle[3])
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < 8; a++) {
        const double share = hx_cell_share(conn, a);
        for (int i = 0; i < 3; i++) sum[i] += share * hx_hex8_sign(a, i);
    }
    memcpy(middle, sum, sizeof sum);
}

void hx_cell_tetrahedron(const double *xyz, const int32_t conn[8], int corner[4])
{
    int at[8];
    double edge[3][3];
    (void)hx_cell_distinct(conn, at);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            edge[k][i] = xyz[3 * (int64_t)conn[at[k + 1]] + i] - xyz[3 * (int64_t)conn[at[0]] + i];
    const int turns_right = hx_triple3(edge[0], edge[1], edge[2]) > 0.0;
    corner[0] = at[0];
    corner[1] = at[turns_right ? 1 : 2];
    corner[2] = at[turns_right ? 2 : 1];
    corner[3] = at[3];
}
