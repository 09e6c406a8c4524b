/* The basis functions of one direction: a knot vector, its spans, values and derivatives. */
#ifndef HX_KNOTS_H
#define HX_KNOTS_H

#include "../base/c_linkage.h"

HX_C_BEGIN

enum { HX_SPLINE_MAX_DEGREE = 4, HX_SPLINE_MAX_ORDER = HX_SPLINE_MAX_DEGREE + 1 };

/* An open knot vector: the first and the last knot have multiplicity degree + 1. A span s is empty
 * if knot[s] == knot[s + 1] (P5: trivial span); on any other span only the functions s - degree ..
 * s are nonzero. */
typedef struct hx_knots {
    int degree;   /* 1 to HX_SPLINE_MAX_DEGREE */
    int n;        /* number of functions */
    double *knot; /* [n + degree + 1] non-decreasing (owned) */
    int n_span;   /* number of non-empty spans */
    int *span;    /* [n_span] s of each, ascending (owned) */
} hx_knots;

/* Copies n + degree + 1 knots. HX_EINPUT, naming the error and the index of the knot (from 0):
 * degree out of range, fewer than degree + 1 functions, a knot that is not finite or decreases, an
 * end whose multiplicity is not degree + 1, an inner knot of multiplicity above degree (the
 * functions would separate). O(n). Frees partial objects on failure. */
int hx_knots_create(hx_knots *knots, int degree, int n, const double *knot);

/* The non-empty span that contains t, as an index into `span`. A knot belongs to the span after it,
 * the last knot to the span before it; t outside the range is clamped. O(log n_span). */
int hx_knots_find(const hx_knots *knots, double t);

/* value[k], slope[k]: value and derivative of function span[i] - degree + k at t, k = 0 .. degree,
 * by the Cox-de Boor recurrence (P5, equations 1 and 2; the derivative from degree - 1). Values are
 * non-negative and sum to 1, slopes sum to 0. t may lie outside the span: the polynomials of the
 * span are extrapolated. */
void hx_knots_values(const hx_knots *knots, int i, double t, double value[HX_SPLINE_MAX_ORDER],
                     double slope[HX_SPLINE_MAX_ORDER]);

/* Multiplicity of a value among the knots. */
int hx_knots_multiplicity(const hx_knots *knots, double t);

/* Accepts a zeroed object. */
void hx_knots_free(hx_knots *knots);

HX_C_END

#endif
