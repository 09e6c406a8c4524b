/* A part as splines: NURBS volumes, glued at common faces.
 *
 * The directions of a patch are 0, 1, 2 ("u", "v", "w"), its sides 2 direction + (0: start, 1:
 * end). In arrays over a patch the first direction is fastest. */
#ifndef HX_SPLINE_H
#define HX_SPLINE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/c_linkage.h"
#include "knots.h"

HX_C_BEGIN

typedef struct hx_spline_patch {
    hx_knots axis[3];
    double *point;  /* [axis[2].n][axis[1].n][axis[0].n][3] control points (owned) */
    double *weight; /* [points] above 0; NULL: a B-spline, all 1 (owned) */
    /* [points] global number of each control point; set by hx_spline_glue (owned) */
    int32_t *number;
    int is_turned; /* 1: its third direction is reversed relative to the file (spline_turn.h) */
    /* number of the cell of span (0, 0, 0); the patch's other cells follow. Set by
     * hx_spline_glue */
    int64_t first_cell;
} hx_spline_patch;

typedef struct hx_spline_side {
    int patch, side;
} hx_spline_side;

/* Side b coincides with side a. Direction d of a's patch runs along direction along[d] of b's,
 * backwards if flip[d]. The directions across the two sides also correspond. */
typedef struct hx_spline_interface {
    hx_spline_side a, b;
    int along[3], flip[3];
} hx_spline_interface;

/* Sides with a common name: the file's boundary attributes. */
typedef struct hx_spline_boundary {
    char *name; /* (owned) */
    int n_side;
    hx_spline_side *side; /* (owned) */
} hx_spline_boundary;

typedef struct hx_spline {
    int n_patch, n_interface, n_boundary;
    hx_spline_patch *patch; /* (owned, like all below) */
    hx_spline_interface *interface;
    hx_spline_boundary *boundary;
    /* number of global control points, where glued ones count once; set by hx_spline_glue */
    int64_t n_point;
    int64_t n_cell; /* non-empty spans of all patches */
} hx_spline;

/* Writes "patch1:u-" for side s of patch k; patches count from 1. Returns text. */
const char *hx_spline_side_text(hx_spline_side side, char *text, size_t n_text);

/* Like hx_spline_side_text, with the file's side names if the patch was reversed; for messages. */
const char *hx_spline_side_name(const struct hx_spline *spline, hx_spline_side side, char *text,
                                size_t n_text);

/* The highest degree over all patches and directions. */
int hx_spline_degree(const hx_spline *spline);

/* Writes "2 patches of degree 2 2 1, 48 spans, 105 control points"; "1 to 3" if degrees differ.
 * Returns text. */
const char *hx_spline_text(const hx_spline *spline, char *text, size_t n_text);

/* Number of functions of a patch. */
static inline int64_t hx_spline_patch_points(const hx_spline_patch *patch)
{
    return (int64_t)patch->axis[0].n * patch->axis[1].n * patch->axis[2].n;
}

/* Number of non-empty spans of a patch. */
static inline int64_t hx_spline_patch_cells(const hx_spline_patch *patch)
{
    return (int64_t)patch->axis[0].n_span * patch->axis[1].n_span * patch->axis[2].n_span;
}

/* The spans of a cell in the three directions of a patch. */
static inline void hx_spline_patch_spans(const hx_spline_patch *patch, int64_t cell, int span[3])
{
    const int64_t k = cell - patch->first_cell;
    span[0] = (int)(k % patch->axis[0].n_span);
    span[1] = (int)(k / patch->axis[0].n_span % patch->axis[1].n_span);
    span[2] = (int)(k / patch->axis[0].n_span / patch->axis[1].n_span);
}

/* x at parameters t of a patch, and j[k][i] = dx_i / dt_k (NULL: not needed); by the quotient rule
 * if the patch has weights (P5, equations 19 and 20). O(order^3). */
void hx_spline_map(const hx_spline_patch *patch, const double t[3], double x[3], double j[3][3]);

/* Bytes of host memory. */
size_t hx_spline_bytes(const hx_spline *spline);

/* Accepts a zeroed or partial object. */
void hx_spline_free(hx_spline *spline);

HX_C_END

#endif
