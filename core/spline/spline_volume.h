/* The volume of a spline, span by span. */
#ifndef HX_SPLINE_VOLUME_H
#define HX_SPLINE_VOLUME_H

#include "../base/c_linkage.h"
#include "spline.h"

HX_C_BEGIN

/* volume[spline->n_cell] of every cell of a glued spline (length^3), with as many Gauss points as
 * make B-splines exact, plus three (at most 8) if there are weights. HX_EINPUT: det J is not
 * positive at one of these or at a Gauss point of the analysis (degree + 1 per direction), with
 * patch, span and value. Bitwise equal for any number of threads. O(n_cell). */
int hx_spline_volumes(const hx_spline *spline, double *volume);

/* Volume of a patch, glued or not; negative if it is left-handed. O(cells). */
double hx_spline_patch_volume(const hx_spline_patch *patch);

/* Evaluates the map within a cell at n[d] parameters t[d] per direction: x[n[2]][n[1]][n[0]][3],
 * and j in the same order with [3][3] as in hx_spline_map (NULL: not needed). Sums are factorised
 * by direction. */
enum { HX_SPLINE_MAX_SAMPLES = 8 };
void hx_spline_sample(const hx_spline_patch *patch, const int span[3], const int n[3],
                      double t[3][HX_SPLINE_MAX_SAMPLES], double *x, double *j);

HX_C_END

#endif
