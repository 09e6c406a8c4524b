/* Position of elements within a cell of multigrid's first coarse grid, by which congruent cells are
 * recognized; for the backends, on hosts and in kernels. `d_` names memory of the calling device.
 * Not installed. */
#ifndef HX_MULTIGRID_PLACE_H
#define HX_MULTIGRID_PLACE_H

#include <math.h>

#include "../base/host_device.h"
#include "multigrid.h"

HX_C_BEGIN

/* Limits for both: the search considers few cells as models, and a class needs a minimum size to be
 * worth a table. */
enum {
    HX_MG_PLACE_SAMPLES = 4096, /* cells among which models are searched */
    HX_MG_PLACE_MODELS = 16,    /* cells that others are compared with */
    HX_MG_PLACE_ELEMS = 128,    /* maximum number of elements in a cell of a class */
    HX_MG_PLACE_LEAST = 8       /* minimum number of cells in a class */
};

typedef struct hx_mg_places {
    const int32_t *d_conn, *d_cell; /* [n_elem][8] nodes, [n_cell][3] grid coordinates */
    const double *d_xyz;
    const float *d_position;
    double origin[3], size[3];
} hx_mg_places;

static inline hx_mg_places hx_mg_places_of(const hx_mg_mesh *mesh)
{
    hx_mg_places p = {mesh->model->d_conn, mesh->d_cell,    mesh->model->d_xyz,
                      mesh->d_position,    {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < 3; i++) {
        p.origin[i] = mesh->origin[i];
        p.size[i] = mesh->size[i];
    }
    return p;
}

/* 1 if a cell with n_elem elements may belong to a class. On a distributed mesh a cell may have no
 * elements on this rank. */
static HX_HD int hx_mg_place_takes(int32_t n_elem)
{
    return n_elem > 0 && n_elem <= HX_MG_PLACE_ELEMS;
}

/* Position of a node in a cell: grid coordinates, and the distance from the cell's corner divided
 * by the cell's edges. */
static HX_HD void hx_mg_find_place(const hx_mg_places *p, int64_t cell, int64_t node,
                                   float place[6])
{
    const int32_t *at = p->d_cell + 3 * cell;
    for (int i = 0; i < 3; i++) {
        const double x = p->d_xyz[3 * node + i] - p->origin[i];
        place[i] = p->d_position[3 * node + i] - (float)at[i];
        place[3 + i] = (float)(x / p->size[i] - at[i]);
    }
}

/* Sort key of an element by its position in the cell, because the elements of a cell may be
 * numbered along any curve. */
static HX_HD uint32_t hx_mg_place_number(const hx_mg_places *p, int64_t cell, int64_t elem)
{
    float sum[3] = {0.0f, 0.0f, 0.0f};
    uint32_t number = 0;
    for (int a = 0; a < 8; a++) {
        float place[6];
        hx_mg_find_place(p, cell, p->d_conn[8 * elem + a], place);
        for (int i = 0; i < 3; i++) sum[i] += place[3 + i];
    }
    for (int i = 0; i < 3; i++) { /* offset from whole numbers, where rounding would decide */
        const float at = 256.0f * (0.125f * sum[i] + 0.5f) + 0.37f;
        number = number << 10 | (uint32_t)fminf(fmaxf(at, 0.0f), 1023.0f);
    }
    return number;
}

/* 1 if two nodes have the same position in their cells, with a tolerance of `alike` times the
 * edge. */
static HX_HD int hx_mg_places_agree(const hx_mg_places *p, int64_t cell, int64_t node,
                                    int64_t other_cell, int64_t other, float alike)
{
    float a[6], b[6];
    int same = 1;
    hx_mg_find_place(p, cell, node, a);
    hx_mg_find_place(p, other_cell, other, b);
    for (int i = 0; i < 6; i++) same = same && fabsf(a[i] - b[i]) <= alike;
    return same;
}

HX_C_END

#endif
