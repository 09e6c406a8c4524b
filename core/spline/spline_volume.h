/* The volume of a spline, span by span. */
#ifndef HX_SPLINE_VOLUME_H
#define HX_SPLINE_VOLUME_H

#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* volume[spline->n_cell] of every cell of a glued spline (length^3): by as many Gauss points as
 * make B-splines exact, and three more (8 at most) where there are weights. HX_EINPUT: det J is not
 * above 0 at a Gauss point of analysis (degree + 1 a direction) or of these, with patch, span and
 * value. The same bits for any number of threads. O(n_cell). */
int hx_spline_volumes(const hx_spline *spline, double *volume);

/* Of a patch, glued or not; below 0 where it is left-handed. O(cells). */
double hx_spline_patch_volume(const hx_spline_patch *patch);

/* n[d] parameters t[d] a direction within a cell: x[n[2]][n[1]][n[0]][3] of the map there, and j
 * likewise with [3][3] as hx_spline_map gives it; NULL: not asked for. By sums over one direction
 * after the other. */
enum { HX_SPLINE_MAX_SAMPLES = 8 };
void hx_spline_sample(const hx_spline_patch *patch, const int span[3], const int n[3],
                      double t[3][HX_SPLINE_MAX_SAMPLES], double *x, double *j);

#ifdef __cplusplus
}
#endif

#endif
