/* What kinds of responses about a set of points have in common: up to three linear functions m_i
 * of the displacements or temperatures, such as the components of a mean displacement, and a value
 * that follows from them: m_1, |m_1| or |m|. The derivative by u is a sum of vectors that do not
 * depend on the design. Not installed. */
#ifndef HX_RESPONSE_SET_H
#define HX_RESPONSE_SET_H

#include "response.h"

/* A vector that is mostly 0. */
typedef struct hx_sparse_vector {
    int64_t n;
    int64_t *d_at;   /* [n] entries (owned, like the next) */
    double *d_value; /* [n] */
} hx_sparse_vector;

typedef struct hx_response_set {
    int n_vector; /* 1: a direction or a temperature; otherwise one per component */
    hx_sparse_vector vector[3];
    double (*now)[3];           /* [n_case] m_i of the analysed design (owned) */
    struct hx_largest *largest; /* the largest value in place of a mean; NULL: a mean (owned) */
} hx_response_set;

/* l[n_point][3] += the mean over a set in a direction of unit length, as weights of displacements:
 * those by which a total force is distributed over the set, so that under such a load lambda is a
 * multiple of u. They are areas if the set spans boundary faces, otherwise equal at all its nodes.
 * HX_EINPUT: the set is unknown or has no nodes. */
int hx_add_set_mean(const hx_problem *problem, const char *set, const char *origin,
                    const double direction[3], double *l);

/* l[n_point][components] of m_i: the mean over the set, minus that over set_2. The caller frees it.
 * HX_EINPUT like hx_add_set_mean. */
int hx_response_set_mean(const hx_problem *problem, const hx_response_params *params, int i,
                         double **l);

/* Number of functions m_i. */
int hx_response_set_vectors(const hx_problem *problem, const hx_response_params *params);

/* Upper bound of the device bytes of a response about `set` and `set_2`. */
size_t hx_response_set_bytes(const hx_problem *problem, const hx_response_params *params);

/* Creates o->impl; `make` makes l of m_i. */
int hx_response_set_create(hx_response *o,
                           int (*make)(const hx_problem *problem, const hx_response_params *params,
                                       int i, double **l));

/* `prepare` of means: m_i = l_i'u in every case. */
int hx_response_set_prepare(hx_response *o);
/* m_i := l_i'x of a case. */
int hx_response_set_measure(hx_response *o, int load_case, const double *d_x);
/* The value of a case, and its derivatives by m_i. */
double hx_response_set_value(const hx_response *o, int load_case, double slope[3]);
/* Vector d_load := sum of factor times slope_i times l_i. */
int hx_response_set_load(const hx_response *o, double factor, const double slope[3],
                         double *d_load);

/* Accepts a half-created response. */
void hx_response_set_destroy(hx_response *o);

/* HX_EINPUT: a name is that of no set, or of one without nodes. Collective if the mesh is
 * distributed, like all checks and the creation of responses. */
int hx_response_check_set(const hx_problem *problem, const char *set, const char *origin);

/* ---- entries of hx_response_kind for means and largest values (response_field.c) ---- */

int hx_field_value(const hx_response *o, double *value);
/* *value as for records: with true maxima. */
int hx_field_report(const hx_response *o, double *value);
int hx_field_load(const hx_response *o, int load_case, double *d_load);
int hx_field_prepare(hx_response *o);
int hx_field_accept(hx_response *o);
int hx_field_create(hx_response *o);
int hx_field_snapshot(hx_response *o, hx_snapshot *image);
void hx_field_destroy(hx_response *o);
/* HX_EINPUT: supports prescribe what is asked for everywhere, so no design changes it. what: "the
 * displacement of". */
int hx_field_check(const hx_problem *problem, const hx_response_params *params, const char *kind,
                   const char *what);

/* ---- the largest value (response_largest.c) ---- */

/* The largest of the values q at the nodes of a set: signed along a direction or as a temperature,
 * otherwise sizes. The maximum has no derivative, so it is replaced by a p-norm scaled like that of
 * Le et al. (2010), c (1/n sum max(q + s, 0)^8)^(1/8) - s. The constants c and s do not change
 * while designs are compared, so all of these have the function whose derivative was used. s is of
 * the last accepted design: 0 unless the largest is small or negative beside the lowest. c is half
 * the factor that makes the expression equal to the maximum there, and half the c before; otherwise
 * designs alternate whose largest value is at another node. As designs converge, the expression
 * becomes the maximum. Records have the maximum (hx_field_report). */
typedef struct hx_largest hx_largest;

enum { HX_LARGEST_POWER = 8 };

typedef struct hx_largest_constants {
    double scale, shift; /* c, s */
} hx_largest_constants;

int hx_largest_create(hx_response *o, hx_largest **largest);
int hx_largest_prepare(hx_response *o, hx_largest *largest);
/* Once per accepted design: the constants of the designs that follow. */
int hx_largest_accept(const hx_response *o, hx_largest *largest);
/* The value of a case: the expression above; in the first design the maximum. */
double hx_largest_value(const hx_largest *largest, int load_case);
double hx_largest_maximum(const hx_largest *largest, int load_case);
/* The constants of a case, from the design accepted last. */
hx_largest_constants *hx_largest_constants_of(hx_largest *largest, int load_case);
/* Vector d_load := factor times the derivative of hx_largest_value. */
int hx_largest_load(const hx_response *o, const hx_largest *largest, int load_case, double factor,
                    double *d_load);
int hx_largest_snapshot(hx_response *o, hx_largest *largest, hx_snapshot *image);
void hx_largest_free(hx_device *dev, hx_largest *largest);

#endif
