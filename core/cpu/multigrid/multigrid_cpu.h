/* Internals of multigrid on the CPU: positions of mesh nodes in their cells. Not installed. */
#ifndef HX_MULTIGRID_CPU_H
#define HX_MULTIGRID_CPU_H

#include "../../base/vectorised.h"
#include "../../multigrid/multigrid.h"

/* level->d_matrix = P'K P from the elements of the mesh: hx_mg_transfer_ops.mesh_galerkin. */
int hx_cpu_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level);
/* mesh_galerkin with the stored moduli: hx_mg_transfer_ops.mesh_update. */
int hx_cpu_mesh_update(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                       hx_mg_update holds);

/* hx_mg_smoother_ops.level_invert and level_apply of lines; hx_cpu_level_step is step i of `smooth`
 * from x to y. y contains b - A x or, if x is NULL, anything (multigrid_level_lines_cpu.c). */
int hx_cpu_level_factorise(hx_device *dev, const hx_mg_level *level);
int hx_cpu_level_solve(hx_device *dev, const hx_mg_level *level, float *d_t);
int hx_cpu_level_step(const hx_mg_level *level, int i, const float *d_x, float *d_y);

/* hx_mg_level_ops.restore_rigid (multigrid_restore_cpu.c). */
int hx_cpu_restore_rigid(hx_device *dev, const hx_mg_level *level);

/* Modulus of an element that the current matrix uses. */
static inline float hx_cpu_modulus(const hx_mg_mesh *mesh, int64_t elem)
{
    return mesh->d_kept ? mesh->d_kept[elem] : (float)mesh->model->d_modulus[elem];
}

/* share[HX_MG_PAIRS][6][6] = contribution to P'K P of an element of the cell with unit modulus, in
 * blocks [column][row]. */
void hx_cpu_element_share(const hx_mg_mesh *mesh, int64_t cell, int32_t elem, float *share);

/* hx_mg_transfer_ops.mesh_prepare, mesh_release and prepared_bytes: classes of equal cells
 * (multigrid_classes_cpu.c, multigrid_tables_cpu.c). */
int hx_cpu_classes_create(hx_device *dev, hx_mg_mesh *mesh);
void hx_cpu_classes_free(hx_device *dev, hx_mg_mesh *mesh);
double hx_cpu_classes_bytes(int64_t n_elem, double n_cell);
/* Returns 1 and the contribution of a cell, in the layout above, if its class has tables; otherwise
 * 0. */
int hx_cpu_classes_share(const hx_mg_mesh *mesh, int64_t cell, float *share);

/* Weights of a node in a cell, by corner, and its distance from the cell's first corner divided by
 * the unit. */
HX_INLINED void hx_cpu_locate(const hx_mg_mesh *mesh, int64_t cell, int64_t node, float w[8],
                              float distance[3])
{
    const int32_t *at = mesh->d_cell + 3 * cell;
    const double *x = mesh->model->d_xyz + 3 * node;
    float s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = mesh->d_position[3 * node + i] - (float)at[i];
        distance[i] = (float)((x[i] - mesh->origin[i] - at[i] * mesh->size[i]) / mesh->unit);
    }
    for (int c = 0; c < 8; c++)
        w[c] = (c & 1 ? s[0] : 1.0f - s[0]) * (c & 2 ? s[1] : 1.0f - s[1]) *
               (c & 4 ? s[2] : 1.0f - s[2]);
}

/* Offset of the fine node at `to`, as a child of the coarse node at offset p; -1: it is not a child
 * of it. `to` is relative to the same coarse node as p. */
static inline int hx_cpu_child_offset(const hx_mg_level *coarse, const int to[3], int p)
{
    const int at[3] = {p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1};
    int e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = to[i] - hx_coarse_stride(coarse->mode[i]) * at[i];
        if (e[i] < hx_coarse_low(coarse->mode[i]) || e[i] > hx_coarse_high(coarse->mode[i]))
            return -1;
    }
    return (e[2] + 1) * 9 + (e[1] + 1) * 3 + e[0] + 1;
}

/* Edges of a cell divided by the unit. */
static inline void hx_cpu_cell_edges(const hx_mg_mesh *mesh, float edge[3])
{
    for (int i = 0; i < 3; i++) edge[i] = (float)(mesh->size[i] / mesh->unit);
}

#endif
