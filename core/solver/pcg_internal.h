/* Between pcg.c, pcg_ask.c, pcg_create.c and pcg_refine.c. */
#ifndef HX_PCG_INTERNAL_H
#define HX_PCG_INTERNAL_H

#include "pcg.h"

/* A solve on its way. */
typedef struct hx_pcg_run {
    hx_pcg *pcg;
    const hx_linear *a;
    hx_precond *pc;
    const hx_load *load;
    double *d_u;
    double norm;                                       /* |f| */
    double energy;                                     /* 2 f'u - u'Ku of the first guess */
    hx_pcg_state state;                                /* as seen at the last look */
    double spmv_sampled, precond_sampled, all_sampled; /* seconds */
    int n_look;                                        /* after iterations */
    int has_z; /* of the residual reached; else, after the first iteration, each begins with it */
    int (*iterate)(struct hx_pcg_run *, int marked); /* one iteration, queued */
} hx_pcg_run;

/* r = f - K u of the exact K on free degrees of freedom, q = K u. Until p becomes 0 it may hold f.
 */
int hx_pcg_find_residual(hx_pcg_run *s);

/* p = 0, z = M^-1 r, first test; waits. The first iteration has its z then. */
int hx_pcg_start_from_residual(hx_pcg_run *s);

/* The next iterations are recorded anew. */
void hx_pcg_forget_recording(hx_pcg *pcg);

/* When the preconditioner is asked, in one solve. */
typedef struct hx_pcg_asking {
    double left; /* decades to go after `judged` iterations */
    int judged, mended, patience;
    double late_left; /* the same after `late_judged`, some before the patience ends */
    int late_judged;
    double rr;  /* r'r at the last asking, */
    int n_rise; /* and how often it was more than at the one before */
} hx_pcg_asking;

void hx_pcg_begin_asking(hx_pcg_asking *a, const hx_pcg_state *state);

/* After n_done iterations, as seen at the last look. *changed: whether the preconditioner has, and
 * the solve begins anew from its u. */
int hx_pcg_ask(hx_pcg_run *s, int n_done, hx_pcg_asking *a, int *changed);

/* Of a solve: how far the corrections have come. Begins with best = INFINITY. */
typedef struct hx_pcg_refinement {
    double best; /* r'r of the exact K */
    int n_lost, n;
} hx_pcg_refinement;

/* A solve whose recurrence, with the operator as it is stored, meets the criterion: goes on from
 * the residual of the exact operator where that does not (iterative refinement). u holds the sum of
 * the corrections. Where they gain no more, or the stored operator is not positive definite, the
 * solve goes on with the exact one. Waits. */
int hx_pcg_refine(hx_pcg_run *s, hx_pcg_refinement *refinement, hx_pcg_result *result);

#endif
