/* The functions of one direction: a knot vector, its spans, values and derivatives. */
#ifndef HX_KNOTS_H
#define HX_KNOTS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_SPLINE_MAX_DEGREE = 4, HX_SPLINE_MAX_ORDER = HX_SPLINE_MAX_DEGREE + 1 };

/* A knot vector that is open: the first and the last knot stand degree + 1 times. A span s is empty
 * where knot[s] == knot[s + 1] (P5's trivial spans); on any other, functions s - degree .. s alone
 * are not 0. */
typedef struct hx_knots {
    int degree;   /* 1 to HX_SPLINE_MAX_DEGREE */
    int n;        /* functions */
    double *knot; /* [n + degree + 1] never falling (owned) */
    int n_span;   /* those that are not empty */
    int *span;    /* [n_span] s of each, ascending (owned) */
} hx_knots;

/* Copies n + degree + 1 knots. HX_EINPUT, naming what is wrong and the index of the knot (from 0):
 * degree out of range, fewer than degree + 1 functions, a knot that is no number or falls, an end
 * that is not degree + 1 fold, an inner knot more than degree fold (the functions would part).
 * O(n). Half-made objects are freed. */
int hx_knots_create(hx_knots *knots, int degree, int n, const double *knot);

/* The non-empty span that t lies in, an index into `span`; a knot belongs to the span after it, the
 * last to the one before; t is taken to the nearest end where it is outside. O(log n_span). */
int hx_knots_find(const hx_knots *knots, double t);

/* value[k], slope[k]: of function span[i] - degree + k at t and its derivative, k = 0 .. degree, by
 * the recurrence of Cox and de Boor (P5, equations 1 and 2; the derivative from degree - 1). They
 * are non-negative and sum to 1, the slopes to 0. t need not lie in the span: the polynomials of
 * the span go on. */
void hx_knots_values(const hx_knots *knots, int i, double t, double value[HX_SPLINE_MAX_ORDER],
                     double slope[HX_SPLINE_MAX_ORDER]);

/* How often a value stands among the knots. */
int hx_knots_multiplicity(const hx_knots *knots, double t);

/* Accepts a zeroed object. */
void hx_knots_free(hx_knots *knots);

#ifdef __cplusplus
}
#endif

#endif
