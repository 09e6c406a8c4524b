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
 * over the area of the boundary faces that the set spans, else over the volume of its elements, else
 * over the length of the edges between its nodes, so that it does not depend on the density of the
 * mesh or on the numbering; single nodes count equally. HX_EINPUT: the set is unknown or has no
 * nodes. */
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

/* HX_EINPUT: a name is that of no set, or of one without nodes. */
int hx_response_check_set(const hx_problem *problem, const char *set, const char *origin);

/* ---- entries of hx_response_kind for means and largest values (response_field.c) ---- */

int hx_field_value(const hx_response *o, double *value);
int hx_field_load(const hx_response *o, int load_case, double *d_load);
int hx_field_prepare(hx_response *o);
void hx_field_accept(hx_response *o);
int hx_field_create(hx_response *o);
int hx_field_snapshot(hx_response *o, hx_snapshot *image);
void hx_field_destroy(hx_response *o);
/* HX_EINPUT: supports prescribe what is asked for everywhere, so no design changes it. what: "the
 * displacement of". */
int hx_field_check(const hx_problem *problem, const hx_response_params *params, const char *kind,
                   const char *what);

/* ---- the largest value (response_largest.c) ---- */

/* The largest of the values q at the nodes of a set, by a p-norm in place of the maximum, which has
 * no derivative: c (1/n sum q^8)^(1/8). c is the ratio of the largest value to the norm, half of it
 * that of the design before (Le et al. 2010), a constant in the derivative. */
typedef struct hx_largest hx_largest;

enum { HX_LARGEST_POWER = 8 };

int hx_largest_create(hx_response *o, hx_largest **largest);
int hx_largest_prepare(hx_response *o, hx_largest *largest);
void hx_largest_accept(hx_largest *largest);
/* The scaled norm, and its scale c, of a case. */
double hx_largest_value(const hx_largest *largest, int load_case);
double hx_largest_scale(const hx_largest *largest, int load_case);
/* Vector d_load := factor times the derivative of hx_largest_value. */
int hx_largest_load(const hx_response *o, const hx_largest *largest, int load_case, double factor,
                    double *d_load);
int hx_largest_snapshot(hx_response *o, hx_largest *largest, hx_snapshot *image);
void hx_largest_free(hx_device *dev, hx_largest *largest);

#endif
