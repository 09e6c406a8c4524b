/* A part as splines: NURBS volumes, glued where their faces meet.
 *
 * Directions of a patch are 0, 1, 2 ("u", "v", "w"), its sides 2 direction + (0: start, 1: end).
 * Arrays over a patch run through its first direction fastest. */
#ifndef HX_SPLINE_H
#define HX_SPLINE_H

#include <stddef.h>
#include <stdint.h>

#include "knots.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_spline_patch {
    hx_knots axis[3];
    double *point;      /* [axis[2].n][axis[1].n][axis[0].n][3] control points (owned) */
    double *weight;     /* of each, above 0; NULL: a B-spline, all 1 (owned) */
    int32_t *number;    /* of each: its control point of the whole; by hx_spline_glue (owned) */
    int is_turned;      /* 1: its third direction is the file's backwards (spline_turn.h) */
    int64_t first_cell; /* cell of span (0, 0, 0), the others after it; by hx_spline_glue */
} hx_spline_patch;

typedef struct hx_spline_side {
    int patch, side;
} hx_spline_side;

/* Side b is side a: direction along[d] of b's patch runs along direction d of a's (that across a's
 * side goes to that across b's), backwards where flip[d]. */
typedef struct hx_spline_interface {
    hx_spline_side a, b;
    int along[3], flip[3];
} hx_spline_interface;

/* Sides under one name: the file's boundary attributes. */
typedef struct hx_spline_boundary {
    char *name; /* (owned) */
    int n_side;
    hx_spline_side *side; /* (owned) */
} hx_spline_boundary;

typedef struct hx_spline {
    int n_patch, n_interface, n_boundary;
    hx_spline_patch *patch;         /* (owned, like all below) */
    hx_spline_interface *interface; /* */
    hx_spline_boundary *boundary;
    int64_t n_point; /* control points of the whole, glued ones once; by hx_spline_glue */
    int64_t n_cell;  /* non-empty spans of all patches */
} hx_spline;

/* "patch1:u-": of side s of patch k, patches counted from 1. Returns text. */
const char *hx_spline_side_text(hx_spline_side side, char *text, size_t n_text);

/* The same as the file has it, where the patch was turned: what users are told. */
const char *hx_spline_side_name(const struct hx_spline *spline, hx_spline_side side, char *text,
                                size_t n_text);

/* The highest of all patches and directions. */
int hx_spline_degree(const hx_spline *spline);

/* "2 patches of degree 2 2 1, 48 spans, 105 control points"; of several degrees "1 to 3". Returns
 * text. */
const char *hx_spline_text(const hx_spline *spline, char *text, size_t n_text);

/* Functions of a patch. */
static inline int64_t hx_spline_patch_points(const hx_spline_patch *patch)
{
    return (int64_t)patch->axis[0].n * patch->axis[1].n * patch->axis[2].n;
}

/* Spans of a patch that are not empty. */
static inline int64_t hx_spline_patch_cells(const hx_spline_patch *patch)
{
    return (int64_t)patch->axis[0].n_span * patch->axis[1].n_span * patch->axis[2].n_span;
}

/* The spans of a cell of a patch. */
static inline void hx_spline_patch_spans(const hx_spline_patch *patch, int64_t cell, int span[3])
{
    const int64_t k = cell - patch->first_cell;
    span[0] = (int)(k % patch->axis[0].n_span);
    span[1] = (int)(k / patch->axis[0].n_span % patch->axis[1].n_span);
    span[2] = (int)(k / patch->axis[0].n_span / patch->axis[1].n_span);
}

/* x at parameters t of a patch, and j[k][i] = dx_i / dt_k (NULL: not asked for); by the quotient
 * rule where it has weights (P5, equations 19 and 20). O(order^3). */
void hx_spline_map(const hx_spline_patch *patch, const double t[3], double x[3], double j[3][3]);

/* Bytes of host memory that it holds. */
size_t hx_spline_bytes(const hx_spline *spline);

/* Accepts a zeroed or half-made object. */
void hx_spline_free(hx_spline *spline);

#ifdef __cplusplus
}
#endif

#endif
