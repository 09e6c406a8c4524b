/* Traverses the control points of a side in the order of another side; not installed. */
#ifndef HX_SPLINE_SIDES_H
#define HX_SPLINE_SIDES_H

#include "spline.h"

/* Control point (i, j) of a side is base + i step[0] + j step[1] of its patch. */
typedef struct hx_spline_grid {
    int64_t base, step[2];
    int n[2];
} hx_spline_grid;

/* The directions along a side, ascending. */
static inline void hx_spline_tangents(int side, int along[2])
{
    along[0] = side / 2 == 0 ? 1 : 0;
    along[1] = side / 2 == 2 ? 1 : 2;
}

/* Grid of a side of a patch with n[d] points along direction d: control points, or corners of
 * spans. i runs along direction along[0], backwards if flip[0]; j likewise along direction
 * along[1]. */
static inline hx_spline_grid hx_spline_grid_of(const int n[3], int side, const int along[2],
                                               const int flip[2])
{
    const int64_t stride[3] = {1, n[0], (int64_t)n[0] * n[1]};
    hx_spline_grid grid;
    grid.base = side % 2 ? stride[side / 2] * (n[side / 2] - 1) : 0;
    for (int k = 0; k < 2; k++) {
        grid.n[k] = n[along[k]];
        grid.step[k] = stride[along[k]];
        if (!flip[k]) continue;
        grid.base += grid.step[k] * (grid.n[k] - 1);
        grid.step[k] = -grid.step[k];
    }
    return grid;
}

static inline int64_t hx_spline_grid_at(const hx_spline_grid *grid, int i, int j)
{
    return grid->base + i * grid->step[0] + j * grid->step[1];
}

/* Grids of both sides of an interface, with b's points in the order of a's; n[patches]. */
static inline void hx_spline_grids(int (*n)[3], const hx_spline_interface *interface,
                                   hx_spline_grid *a, hx_spline_grid *b)
{
    static const int plain[2] = {0, 0};
    int along[2], there[2], flip[2];
    hx_spline_tangents(interface->a.side, along);
    for (int k = 0; k < 2; k++) {
        there[k] = interface->along[along[k]];
        flip[k] = interface->flip[along[k]];
    }
    *a = hx_spline_grid_of(n[interface->a.patch], interface->a.side, along, plain);
    *b = hx_spline_grid_of(n[interface->b.patch], interface->b.side, there, flip);
}

/* Merges coincident points over all patches with n[patch][3] points. root[first[k] + i] := the
 * first point that point i of patch k is glued to, or the point itself. *first [patches + 1]:
 * offsets. The caller frees both. HX_EINPUT: more than 2^31 - 1 points. O(points). */
int hx_spline_unite(const hx_spline *spline, int (*n)[3], int64_t **first, int32_t **root);

/* The interface of two sides whose first and second tangential directions correspond, or correspond
 * crosswise; backwards if flip. */
hx_spline_interface hx_spline_interface_of(hx_spline_side a, hx_spline_side b, int is_crosswise,
                                           const int flip[2]);

/* HX_EINPUT: a patch, side or direction does not exist. */
int hx_spline_check_interface(const hx_spline *spline, const hx_spline_interface *interface);

/* Diagonal of the bounding box of all control points. */
double hx_spline_diagonal(const hx_spline *spline);

#endif
