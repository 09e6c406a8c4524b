/* The control points of a side, walked through as another side's are; not installed. */
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

/* Of a patch with n[d] points along direction d: control points, or corners of spans. i runs along
 * direction along[0], from its end where flip[0]; j likewise. */
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

/* Both sides of an interface, a's points in their order and b's in a's; n[patches]. */
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

/* Points of all patches, n[patch][3] of each: which are one. root[first[k] + i] of point i of patch
 * k := the first that it is glued to, itself if it is none; *first [patches + 1], where they begin.
 * Both are the caller's to free. HX_EINPUT: more than 2^31 - 1. O(points). */
int hx_spline_unite(const hx_spline *spline, int (*n)[3], int64_t **first, int64_t **root);

/* An interface of two sides: the first and second direction along a's run along the first and
 * second of b's, or crosswise, backwards where flip. */
hx_spline_interface hx_spline_interface_of(hx_spline_side a, hx_spline_side b, int is_crosswise,
                                           const int flip[2]);

/* HX_EINPUT: patches, sides or directions that there are not. */
int hx_spline_check_interface(const hx_spline *spline, const hx_spline_interface *interface);

/* Diagonal of the box around all control points. */
double hx_spline_diagonal(const hx_spline *spline);

#endif
