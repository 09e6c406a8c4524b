/* Shared by pcg.c, pcg_ask.c, pcg_create.c and pcg_refine.c. */
#ifndef HX_PCG_INTERNAL_H
#define HX_PCG_INTERNAL_H

#include "pcg.h"

/* State of a solve in progress. */
typedef struct hx_pcg_run {
    hx_pcg *pcg;
    const hx_linear *a;
    hx_precond *pc;
    const hx_load *load;
    double *d_u;
    double norm;        /* |f| */
    double energy;      /* 2 f'u - u'Ku of the initial guess */
    hx_pcg_state state; /* copy of the device state at the last status check */
    double spmv_sampled, precond_sampled, all_sampled; /* seconds, summed over the samples */
    int n_look; /* number of status checks after iterations */
    /* 1: z of the current residual exists; 0: every iteration, except possibly the first, starts by
     * computing it */
    int has_z;
    int (*iterate)(struct hx_pcg_run *, int marked); /* queues one iteration */
} hx_pcg_run;

/* Frees the recording, so that the next iterations are recorded newly. */
void hx_pcg_reset_recording(hx_pcg *pcg);

/* Decides when, in the course of one solve, PCG calls the preconditioner to enable deflation
 * (`enable_deflation`) or to refresh its estimates (`refresh`). */
typedef struct hx_pcg_asking {
    double left; /* decades of the residual left to reduce after `judged` iterations */
    int judged, deflated, patience;
    /* decades left after `late_judged` iterations, shortly before `patience` is reached */
    double late_left;
    int late_judged;
    double rr;  /* r'r at the last call */
    int n_rise; /* number of calls at which r'r had increased */
} hx_pcg_asking;

void hx_pcg_begin_asking(hx_pcg_asking *a, const hx_pcg_state *state);

/* Called after n_done iterations, with the state of the last status check. *changed: 1 if the
 * preconditioner has changed, so that the solve must restart from its current u. */
int hx_pcg_ask(hx_pcg_run *s, int n_done, hx_pcg_asking *a, int *changed);

/* Progress of the refinement in one solve. Initialize with best = INFINITY. */
typedef struct hx_pcg_refinement {
    double best; /* smallest r'r with the exact K */
    int n_lost, n;
} hx_pcg_refinement;

/* Counts the correction, after which r'r is rr. Returns 1 if the refinement ends. */
int hx_pcg_refinement_is_over(hx_pcg_refinement *p, double rr);

/* Uploads the bound for the next correction, which starts with |r|; with the exact operator, the
 * bound of the solve. */
int hx_pcg_put_refinement_stop(const hx_pcg_run *s, double rr);

#endif
