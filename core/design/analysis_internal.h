/* Inside of the analysis: what a process does with its share, or the whole where it is alone. Each
 * is as the function of analysis.h without `_share`; with ranks all processes call it together. */
#ifndef HX_ANALYSIS_INTERNAL_H
#define HX_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* The densities that the share is of. */
static inline const double *hx_analysis_rho(const hx_analysis *a)
{
    return a->ranks ? a->d_rho_share : a->d_rho;
}

int hx_analysis_solve_share(hx_analysis *a, double penalty);
int hx_analysis_compliance_share(hx_analysis *a, double *compliance);
int hx_analysis_stiffness_error_share(hx_analysis *a, double *d_work, double *error);
int hx_analysis_energy_share(const hx_analysis *a, double *d_energy, double *d_work);
int hx_analysis_body_work_share(const hx_analysis *a, double *d_dc);
int hx_analysis_residual_share(hx_analysis *a, int load_case); /* into pcg->d_q */
int hx_analysis_forget_share(hx_analysis *a);
/* Displacements of the design before, which an image has where the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image);
/* image: of the leader and of one alone, NULL elsewhere. */
int hx_analysis_snapshot_share(hx_analysis *a, hx_snapshot *image, hx_snapshot_mode mode);

#endif
