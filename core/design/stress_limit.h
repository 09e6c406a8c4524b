/* What the two kinds of stress limits share (response_stress.c, stress_lagrangian.c): elements that
 * count, their largest stresses, and either the scaled norm of all or the multipliers of the
 * augmented Lagrangian. */
#ifndef HX_STRESS_LIMIT_H
#define HX_STRESS_LIMIT_H

#include "response.h"
#include "schedule.h"
#include "stress_ops.h"

/* The stresses of one load case. */
typedef struct hx_stress_case {
    double largest;   /* of rho^relaxation s in the analysed design */
    int64_t elem;     /* where, among the elements of this process; -1: on another one */
    double sum;       /* of (v / largest)^8 */
    double *d_lambda; /* field of the multipliers; NULL: the norm (owned) */
} hx_stress_case;

typedef struct hx_stress_limit {
    uint8_t *d_counts;  /* [n_elem] 1: the element counts (owned, like the next two) */
    uint8_t *d_at;      /* [n_elem] see hx_stress_ops.von_mises; NULL: one point per element */
    double *d_own;      /* scratch field; NULL: the optimizer lends one */
    int64_t n_counted;  /* of all processes */
    int n_case;         /* of the problem */
    hx_stress_case *of; /* [n_case] (owned) */
    double norm, ratio, scale; /* ratio: largest / norm; scale = 0: not yet known */
    double weight;             /* mu of the augmented Lagrangian */
    double margin;             /* the augmented Lagrangian has margin times the limit, (0, 1] */
    int n_design;              /* designs with the present multipliers */
} hx_stress_limit;

/* The augmented Lagrangian of all stress limits with that method, which the optimizer adds to the
 * objective: params.data is an hx_stress_list. */
typedef struct hx_stress_list {
    int n;
    const hx_response *const *limit; /* [n] responses of kind hx_response_stress_lagrangian */
} hx_stress_list;

extern const hx_response_kind hx_response_stress, hx_response_stress_lagrangian,
    hx_response_stress_joined;

/* After a proposal: every few designs lambda += mu h and a larger mu (stress_lagrangian.c), by the
 * stresses of the analysed design. d_work: a field. */
int hx_stress_advance(const hx_stress_list *list, double *d_work);

/* The part of the limits that the augmented Lagrangian has from now on, times `factor`: what is made
 * of a design may exceed the limits that the design itself meets. */
void hx_stress_tighten(const hx_stress_list *list, double factor);

/* What the convexity of the sum in an update by asymptotes needs in addition (mma.h), if the
 * densities are the design. */
double hx_stress_convexity(const hx_stress_list *list);

/* mu of the first designs. */
extern const double hx_stress_first_weight;

/* The exponent of SIMP that designs under these limits need: from 3 to 4. With 3 a member whose
 * density stays at about 0.5, because the filter makes it no denser, carries an eighth of what a
 * solid one does, and a part without it misses the limit
 * (doc/notebook/2026-11-30-robust-brackets.md). */
extern const hx_schedule hx_stress_penalty;

/* ---- entries of both tables, and what they use (stress_limit.c) ---- */

/* HX_EINPUT: heat, a spline, an exponent out of range, a set that is unknown or has no elements. */
int hx_stress_limit_check(const hx_problem *problem, const hx_response_params *params);
size_t hx_stress_limit_bytes(const hx_problem *problem, const hx_response_params *params);
int hx_stress_limit_create(hx_response *o);
/* The largest stresses and, for the norm, the sums of all cases. */
int hx_stress_limit_prepare(hx_response *o);
int hx_stress_limit_report(const hx_response *o, double *value);
void hx_stress_limit_destroy(hx_response *o);

/* 1 if the limit applies to a case. */
int hx_stress_limit_has(const hx_response_params *params, int load_case);
/* The law of a case; its reference is the largest stress. */
hx_device_stress hx_stress_limit_law(const hx_response *o, int load_case);
/* d_s := stresses of a case. */
int hx_stress_limit_find(const hx_response *o, int load_case, double *d_s);
/* d_load := sum of d_weight[e] ds_e/du, over all processes. */
int hx_stress_limit_load(const hx_response *o, int load_case, const double *d_weight,
                         double *d_load);
/* The scratch field. */
double *hx_stress_limit_scratch(const hx_response *o);

#endif
