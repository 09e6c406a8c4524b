/* Meshes of parts of a box that the generators do not make. Elements may be left out, edges may
 * grow along the axes, and the whole may be moved and scaled. */
#ifndef HX_TEST_BOX_PART_H
#define HX_TEST_BOX_PART_H

#include "fixture.h"

typedef struct box_part {
    int n[3];
    double ratio;                     /* last edge over the first, in each direction; 0: 1 */
    double scale, offset;             /* x := scale (x + offset); scale 0: 1 */
    double flat;                      /* z := z / flat; 0: 1 */
    int (*keep)(int i, int j, int k); /* NULL: every element */
    double distort;                   /* fraction of an edge by which any node moves */
    double layers;                    /* divides the last four of every eight edges along z; 0: 1 */
} box_part;

/* Coordinate along d of plane i of n whose distances grow geometrically from 1 to ratio. */
static inline double box_part_plane(const box_part *part, int d, int i, int n)
{
    const double growth = part->ratio > 0.0 && n > 1 ? pow(part->ratio, 1.0 / (n - 1)) : 1.0;
    double x = 0.0, edge = 1.0;
    for (int k = 0; k < i; k++, edge *= growth)
        x += d == 2 && part->layers > 0.0 && k % 8 >= 4 ? edge / part->layers : edge;
    return x;
}

static inline int box_part_keeps(const box_part *part, int i, int j, int k)
{
    return !part->keep || part->keep(i, j, k);
}

/* Numbers the node at each position, -1 if no element has it; returns their number. */
static inline int32_t box_part_number(const box_part *part, int32_t *number)
{
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int *n = part->n, n_place = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    int32_t count = 0;
    for (int p = 0; p < n_place; p++) number[p] = -1;
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                for (int a = 0; a < 8 && box_part_keeps(part, i, j, k); a++) {
                    const int *c = corner[a];
                    number[((k + c[2]) * (n[1] + 1) + j + c[1]) * (n[0] + 1) + i + c[0]] = 0;
                }
    for (int p = 0; p < n_place; p++)
        if (number[p] == 0) number[p] = count++;
    return count;
}

static inline void box_part_place(const box_part *part, const int32_t *number, double *xyz)
{
    const int *n = part->n;
    uint64_t seed = 77;
    for (int k = 0, p = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++, p++) {
                const int at[3] = {i, j, k};
                for (int d = 0; d < 3; d++) {
                    const double here = box_part_plane(part, d, at[d], n[d]),
                                 move = fixture_uniform(&seed, -1.0, 1.0) * part->distort,
                                 next = box_part_plane(part, d, at[d] + 1, n[d]);
                    if (number[p] < 0) continue;
                    const double flat = d == 2 && part->flat > 0.0 ? part->flat : 1.0;
                    xyz[3 * number[p] + d] = (part->scale > 0.0 ? part->scale : 1.0) / flat *
                                             (here + part->offset + move * (next - here));
                }
            }
}

/* The raw mesh (the caller calls fixture_finish), with node sets left and right at its ends in
 * x. */
static inline int box_part_create(hx_mesh *mesh, const box_part *part)
{
    const int *n = part->n, nx = n[0] + 1, ny = n[1] + 1, n_place = nx * ny * (n[2] + 1);
    int32_t *number = malloc((size_t)n_place * sizeof *number), n_left = 0, n_right = 0, count;
    int32_t *conn = malloc((size_t)(8 * n[0] * n[1] * n[2]) * sizeof *conn);
    int32_t *left = malloc((size_t)n_place * sizeof *left);
    int32_t *right = malloc((size_t)n_place * sizeof *right);
    double *xyz = malloc(3 * (size_t)n_place * sizeof *xyz);
    int64_t n_elem = 0;
    if (!number || !conn || !left || !right || !xyz) abort();
    count = box_part_number(part, number);
    box_part_place(part, number, xyz);
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                const int32_t *low = number + (k * ny + j) * nx + i, *high = low + nx * ny;
                const int32_t elem[8] = {low[0],  low[1],  low[nx + 1],  low[nx],
                                         high[0], high[1], high[nx + 1], high[nx]};
                if (!box_part_keeps(part, i, j, k)) continue;
                memcpy(conn + 8 * n_elem++, elem, sizeof elem);
            }
    for (int p = 0; p < n_place; p++) {
        if (number[p] >= 0 && p % nx == 0) left[n_left++] = number[p];
        if (number[p] >= 0 && p % nx == n[0]) right[n_right++] = number[p];
    }
    int rc = hx_mesh_create(mesh, "part of a box", count, xyz, n_elem, conn);
    if (rc == HX_OK) rc = hx_mesh_add_node_set(mesh, "left", n_left, left);
    if (rc == HX_OK) rc = hx_mesh_add_node_set(mesh, "right", n_right, right);
    free(number);
    free(left);
    free(right);
    return rc;
}

#endif
