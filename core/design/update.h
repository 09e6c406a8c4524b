/* Proposes the next design from the derivatives: one const table per file, hx_update_<name>. */
#ifndef HX_UPDATE_H
#define HX_UPDATE_H

#include "filter.h"
#include "groups.h"
#include "response.h"

HX_C_BEGIN

typedef struct hx_update hx_update;

/* Maximum number of trials, and the relative volume error that ends them, if the physical density
 * is not the design and the volume must be found by iteration. */
enum { HX_VOLUME_TRIALS = 40 };
#define HX_VOLUME_EXACT 1e-6

/* One proposal. Fields are [n_elem] on the device. */
typedef struct hx_update_step {
    const double *d_design; /* the analysed design */
    const double *d_dc;     /* derivative of the objective by the design */
    double value;           /* of the objective */
    /* added to the convexity of its approximation (mma.h), which cannot see the curvature of a
     * quadratic penalty; 0: none */
    double convexity;
    int is_augmented;   /* 1: the objective contains an augmented Lagrangian */
    double *d_proposal; /* out: within [rho_min, 1], meeting the constraints */
    int is_worse;       /* 1: the objective increased from the previous design */
    /* 1: this is the first design, or the previous one had another penalty or projection, so that
     * their values must not be compared */
    int is_other;
    int is_again;  /* 1: second proposal of this iteration, because the projection changed */
    double change; /* out: largest change of a density */
    int trials;    /* out, incremented: proposals until the volume was right */
    int is_flat;   /* out, 1: no density changes the objective (oc.h) */
    /* out: largest derivative of the Lagrangian that no bound balances, relative to that of the
     * first design, 0 at an optimum (mma.h); NAN: the update does not compute it */
    double kkt;
    /* out of `judge`, 1: the analysed design is rejected, and the proposal replaces it */
    int is_rejected;
    /* out: largest change, relative to what the update's own limits permit (asymptotes, convexity),
     * times the move limit; at least `change`. The design has settled if it is small. */
    double free_change;
} hx_update_step;

/* A limit: sign (value - bound) <= 0. A response with both limits has two rows in succession. */
typedef struct hx_limit_row {
    const hx_response *response; /* with value and derivative of the analysed design (borrowed) */
    double sign, bound;
    double zero; /* hx_response_zero: the bound's size is its distance from this value */
    /* 1: in place of the objective, the largest `weight` times value of these rows is minimised;
     * they have no bound */
    int in_largest;
    int is_signed; /* 1: such a value may be negative */
    double weight;
} hx_limit_row;

typedef struct hx_update_kind {
    const char *name, *help; /* name: value of optimization.update */
    int most_rows;           /* number of limits that it supports */
    int needs_volume;        /* 1: volume_fraction must be given, and is the first row */
    int is_distributed;      /* 1: supports a distributed design */
    int is_upper_limit;      /* 1: the volume may be smaller than prescribed; 0: it is met */
    size_t bytes;            /* device memory that does not depend on the mesh */
    int bytes_per_elem;      /* additional device memory per element, and per response in a row */
    int bytes_per_response;
    int (*create)(hx_update *update);
    /* Sees the values of the analysed design, before its derivatives are computed, and may reject
     * it: then step->d_proposal is analysed instead, in the same iteration. NULL: never. Waits. */
    int (*judge)(hx_update *update, hx_update_step *step);
    /* Waits. */
    int (*propose)(hx_update *update, hx_update_step *step);
    /* State that the next step reuses (snapshot.h). NULL: none. */
    int (*snapshot)(hx_update *update, hx_snapshot *image);
    void (*destroy)(hx_update *update);
} hx_update_kind;

extern const hx_update_kind hx_update_oc;

/* Constant from step to step. */
struct hx_update {
    const hx_update_kind *kind;
    hx_device *dev; /* (borrowed, like the next three) */
    const hx_problem *problem;
    const hx_design_params *design;
    hx_filter *filter;
    hx_analysis *analysis;
    int n_row;
    const hx_limit_row
        *row;         /* [n_row]; that of volume_fraction, if given, is the first (borrowed) */
    int changes_sign; /* 1: derivatives of the objective may be positive */
    double total_volume;
    const double *d_volume;         /* [n_elem] (borrowed) */
    const hx_device_groups *groups; /* groups of linked elements; NULL: none (borrowed) */
    void *impl;                     /* (owned by the kind) */
};

HX_C_END

#endif
