/* A design run on a sample, with the parts that are checked. */
#ifndef HX_SELFTEST_JOB_H
#define HX_SELFTEST_JOB_H

#include "core/design/optimizer.h"
#include "selftest_solve.h"

typedef struct hx_selftest_job_params {
    const char *filter;
    double radius;
    hx_design_params design;
    const char *precond; /* NULL: the diagonal */
    double tolerance;
    const double *density; /* [n_elem]; NULL: uniform */
} hx_selftest_job_params;

/* Its parts point to each other, so it must not move. */
typedef struct hx_selftest_job {
    hx_analysis analysis;
    hx_design_params design;
    hx_filter filter;
    hx_optimizer opt;
} hx_selftest_job;

/* NULL: the parts have no such filter. */
const hx_filter_kind *hx_selftest_filter(const hx_selftest *t, const char *name);

/* Half of the volume, projected with this beta at 0.5; 0: no projection. */
hx_design_params hx_selftest_half(double beta);

/* HX_EINPUT: the parts lack something that is requested. Close it, even after a failure. */
int hx_selftest_job_open(hx_selftest_job *job, hx_selftest *t, const hx_problem *problem,
                         const hx_selftest_job_params *params);
/* Analyses a design; HX_ENUMERIC: PCG did not converge. */
int hx_selftest_job_step(hx_selftest_job *job, double *compliance);
/* Accepts a zeroed struct. */
void hx_selftest_job_close(hx_selftest_job *job);

#endif
