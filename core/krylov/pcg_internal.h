/* Shared by the files pcg*.c: pcg.c has the loop and calls the others, none of which calls it. */
#ifndef HX_PCG_INTERNAL_H
#define HX_PCG_INTERNAL_H

#include "pcg.h"

/* Event marks within an iteration, for timing. */
typedef enum {
    HX_PCG_MARK_BEGIN,
    HX_PCG_MARK_PRODUCT,
    HX_PCG_MARK_PRODUCT_END,
    HX_PCG_MARK_PRECOND,
    HX_PCG_MARK_PRECOND_END,
    HX_PCG_MARK_END
} hx_pcg_mark;

/* Decides when, in the course of one solve, PCG calls the preconditioner to enable deflation
 * (`enable_deflation`) or to refresh its estimates (`refresh`). */
typedef struct hx_pcg_monitoring {
    double left; /* decades of the residual left to reduce after `judged` iterations */
    int judged, deflated, patience;
} hx_pcg_monitoring;

/* Progress of the refinement with the exact operator in one solve. */
typedef struct hx_pcg_refinement {
    double best; /* smallest r'r with the exact K; INFINITY at first */
    int n_lost, n;
} hx_pcg_refinement;

/* Tracks whether single precision still makes progress. */
typedef struct hx_pcg_replacement {
    double best, largest; /* r'r: smallest true value; largest value since the last replacement */
    int replaced_at, n_lost;
} hx_pcg_replacement;

/* State of a solve in progress. */
typedef struct hx_pcg_run {
    hx_pcg *pcg;
    hx_device *dev;
    const hx_pcg_ops *ops; /* of the device */
    const hx_linear *a;
    hx_precond *pc;
    const hx_load *load;
    double *d_u;
    hx_pcg_result *result;
    double norm;        /* |f| */
    double energy;      /* 2 f'u - u'Ku of the initial guess */
    hx_pcg_state state; /* copy of the device state at the last status check */
    /* 1: iterations in single precision, for K u / |f| = f / |f| */
    int is_single;
    int is_stalled;    /* 1: single precision makes no further progress */
    const double *d_m; /* M^-1, a diagonal that the fused passes apply; NULL: z is a vector */
    int is_z_vector;   /* 1: z = M^-1 r is a vector; 0: single precision, or d_m */
    /* 1: an iteration begins by computing z of the last residual, so that no z is computed for a
     * residual that ends the solve. Not for the criterion `absolute`, which tests r'z. */
    int is_z_late;
    /* 1: z of the current residual exists; 0: every iteration, except possibly the first, starts by
     * computing it */
    int has_z;
    int is_recording;                                  /* 1: the batch is being recorded */
    int is_marked;                                     /* 1: the iteration sets event marks */
    double spmv_sampled, precond_sampled, all_sampled; /* seconds, summed over the samples */
    int n_look;  /* number of status checks after iterations */
    int n_begun; /* iterations that were done before the ones in this precision */
    hx_pcg_monitoring monitoring;
    hx_pcg_refinement refinement;
    hx_pcg_replacement replacement;
} hx_pcg_run;

static inline int hx_pcg_mark_event(const hx_pcg_run *s, hx_pcg_mark mark)
{
    return s->is_marked ? s->dev->ops->mark(s->dev, mark) : HX_OK;
}

/* Bound on |r| of the criterion `relative`, over that of the tolerance (hx_pcg.enough). */
static inline double hx_pcg_ease(const hx_pcg_run *s)
{
    const double most = 10.0;
    const double ease = s->pcg->enough / (s->pcg->params.tolerance * s->norm);
    return ease > most ? most : ease > 1.0 ? ease : 1.0;
}

/* pcg_start.c: norms, residuals, and the start from a residual. */

/* s->norm: of the load on free degrees of freedom, including the load from prescribed
 * displacements. Uses r, p and q as scratch. Waits. */
int hx_pcg_load_norm(hx_pcg_run *s);
/* *d_f: the load as a full vector, expanded into d_scratch if it is a list of entries. */
int hx_pcg_full_load(const hx_pcg_run *s, double *d_scratch, const double **d_f);
/* y = A x on all rows, with the exact operator if there is one. */
int hx_pcg_exact_product(const hx_linear *a, const double *d_x, double *d_y);
/* Uploads the initial state. With is_single, the system solved is K u / |f| = f / |f|. */
int hx_pcg_put_state(hx_pcg_run *s);
/* Uploads 2 f'u - u'Ku, given q = K u, for the criterion `compliance`. Waits. */
int hx_pcg_put_energy(hx_pcg_run *s, const double *d_f);
/* Downloads the state. Waits. */
int hx_pcg_read_state(hx_pcg_run *s);
/* z = P M^-1 r, into memory. */
int hx_pcg_precondition(hx_pcg_run *s);
/* r = f - K u with the exact K on the free degrees of freedom, q = K u. p may hold f until it is
 * set to 0. */
int hx_pcg_residual(hx_pcg_run *s);
/* p = 0, z = M^-1 r, and the first test of convergence. Waits. */
int hx_pcg_start_from_residual(hx_pcg_run *s);
/* The state, the residual and the start from it, in double precision. Waits. */
int hx_pcg_start(hx_pcg_run *s);

/* pcg_batch.c: iterations between two status checks, recorded and replayed if the device can. */

/* Returns the number of iterations to queue now: 0 if the batch is recorded already. */
int hx_pcg_begin_batch(hx_pcg_run *s);
int hx_pcg_begin_iteration(hx_pcg_run *s, int is_marked);
int hx_pcg_end_iteration(hx_pcg_run *s);
/* rc: the error of the iterations just queued, or HX_OK. Replays a recorded batch,
 * reads the state, and samples the time of the first iteration. Waits. *has_run: 0 if recording
 * failed; the next batch is then queued without a recording. Forwards other errors. */
int hx_pcg_end_batch(hx_pcg_run *s, int rc, int *has_run);
/* Frees the recordings, so that the next iterations are recorded newly. */
void hx_pcg_reset_recordings(hx_pcg *pcg);

/* pcg_mixed.c: residual replacement in mixed precision. */

/* Starts in single precision, with the true residual. Waits. */
int hx_pcg_start_mixed(hx_pcg_run *s);
/* After a status check: adds the increment to u and replaces the residual by the true one if it
 * is time to. state.reason becomes HX_PCG_CONVERGED or HX_PCG_MAX_ITER only by a true residual;
 * any other outcome, and is_stalled, must be examined in double precision. u holds the progress
 * made. */
int hx_pcg_replace_residual(hx_pcg_run *s);

/* After a status check in double precision (pcg_refine.c). Continues a solve whose recurrence, with
 * the operator as it is stored, satisfies the criterion, from the residual of the exact operator if
 * that does not (iterative refinement). u holds the sum of the corrections. If the corrections gain
 * nothing more, or if the stored operator is not positive definite, the solve continues with the
 * exact operator. Waits. */
int hx_pcg_refine(hx_pcg_run *s);

/* pcg_monitor.c. Called with the state at the start of a solve. */
void hx_pcg_begin_monitoring(hx_pcg_run *s);
/* Called after a status check. *changed: 1 if the preconditioner has changed, so that the solve
 * must restart from its current u. */
int hx_pcg_monitor(hx_pcg_run *s, int *changed);

#endif
