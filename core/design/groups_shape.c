#include "groups_shape.h"

#include <math.h>
#include <string.h>

#include "../base/vec3.h"
#include "../mesh/hex8.h"

static void add_vector(hx_group_shape *shape, const double v[3], double margin)
{
    memcpy(shape->toward[shape->n++], v, 3 * sizeof *v);
    shape->slack = fmax(shape->slack, margin * hx_norm3(v));
}

/* Adds a face whose plane is normal . x = normal . middle, with `middle` relative to the
 * centroid. */
static void add_shape_face(hx_group_shape *shape, const hx_mesh *mesh, const int32_t *conn, int f,
                           const double x[3], double margin)
{
    const int *const at = hx_hex_face[f];
    double corner[4][3], middle[3], diagonal[2][3], v[3];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 4; c++) corner[c][i] = mesh->xyz[3 * (int64_t)conn[at[c]] + i] - x[i];
        middle[i] = 0.25 * ((corner[0][i] + corner[2][i]) + (corner[1][i] + corner[3][i]));
        diagonal[0][i] = corner[2][i] - corner[0][i];
        diagonal[1][i] = corner[3][i] - corner[1][i];
    }
    hx_cross3(diagonal[0], diagonal[1], v);
    const double scale = hx_dot3(v, middle);
    for (int i = 0; i < 3; i++) v[i] /= scale;
    add_vector(shape, v, margin);
}

void hx_group_shape_find(hx_group_shape *shape, const hx_mesh *mesh, int64_t elem, double margin)
{
    const int32_t *const conn = mesh->conn + 8 * elem;
    double x[24], inv[3][3], centre[3];
    int32_t node[4];
    shape->n = 0;
    shape->slack = 0.0;
    shape->is_even = !hx_cell_is_collapsed(conn);
    if (shape->is_even) {
        for (int64_t a = 0; a < 8; a++)
            memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
        (void)hx_hex8_jacobian(x, 0.0, 0.0, 0.0, inv);
        for (int k = 0; k < 3; k++) {
            const double v[3] = {inv[0][k], inv[1][k], inv[2][k]};
            add_vector(shape, v, margin);
        }
        return;
    }
    hx_mesh_centroid(mesh, elem, centre);
    for (int f = 0; f < 6; f++)
        if (hx_cell_face(conn, f, node) >= 3) add_shape_face(shape, mesh, conn, f, centre, margin);
}

double hx_group_shape_offset(const hx_group_shape *shape, const double d[3])
{
    double most = 0.0;
    for (int k = 0; k < shape->n; k++) {
        const double along = hx_dot3(shape->toward[k], d);
        most = fmax(most, shape->is_even ? fabs(along) : along);
    }
    return most;
}

/* For a collapsed cell from its corners; for a hexahedron from the parallelepiped at its centre: a
 * corner of the unit cell's image is at most the sum of the half axes away. */
double hx_group_shape_reach(const hx_group_shape *shape, const hx_mesh *mesh, int64_t elem)
{
    double centre[3], most = 0.0;
    if (shape->is_even) {
        const double(*const v)[3] = shape->toward;
        double axis[3], volume, sum = 0.0;
        for (int k = 0; k < 3; k++) { /* columns of the Jacobian */
            hx_cross3(v[(k + 1) % 3], v[(k + 2) % 3], axis);
            volume = hx_dot3(v[k], axis);
            sum += hx_norm3(axis) / fabs(volume);
        }
        return sum;
    }
    hx_mesh_centroid(mesh, elem, centre);
    for (int a = 0; a < 8; a++) {
        const double *const c = mesh->xyz + 3 * (int64_t)mesh->conn[8 * elem + a];
        const double d[3] = {c[0] - centre[0], c[1] - centre[1], c[2] - centre[2]};
        most = fmax(most, hx_norm3(d));
    }
    return most;
}
