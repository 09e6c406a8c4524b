/* Inside of the analysis: what a process does with its share, or the whole where it is alone. Each
 * is as the function of analysis.h without `_share`; with ranks all processes call it together. */
#ifndef HX_ANALYSIS_INTERNAL_H
#define HX_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* The densities that the share is of. */
static inline const double *hx_analysis_rho(const hx_analysis *a)
{
    return a->d_rho_share ? a->d_rho_share : a->d_rho;
}

/* hx_ranks_call.what of the analysis and of the optimizer (optimizer_ranks.c); 0 dismisses. */
enum {
    HX_CALL_DISMISS,
    HX_CALL_SOLVE,
    HX_CALL_COMPLIANCE,
    HX_CALL_ENERGY,
    HX_CALL_BODY_WORK,
    HX_CALL_STIFFNESS_ERROR,
    HX_CALL_DENSITY,
    HX_CALL_MODULUS,
    HX_CALL_DISPLACEMENT,
    HX_CALL_RESIDUAL,
    HX_CALL_FORGET,
    HX_CALL_SAVE,
    HX_CALL_LOAD,
    HX_CALL_REPORT,
    HX_CALL_APPLIED,
    HX_CALL_REACTION,
    HX_CALL_OPTIMIZER /* and above */
};

/* Entries of a vector of the whole: under a window (mesh.h) of all. */
static inline int64_t hx_analysis_whole_entries(const hx_analysis *a)
{
    const hx_space *const space = &a->problem->space;
    return a->problem->components *
           (space->mesh->window ? hx_mesh_n_node_all(space->mesh) : space->n_point);
}

/* analysis_sums.c: what own points, or elements, have of the applied forces and the reactions of a
 * case, added up over the processes: total[3] in all. */
int hx_analysis_applied_share(const hx_analysis *a, int load_case, double total[3]);
int hx_analysis_reaction_share(hx_analysis *a, int load_case, double total[3]);

/* In a follower: does what is called for. */
int hx_analysis_answer(hx_analysis *a, const hx_ranks_call *call);

/* A field as host[n_elem of the whole]: the leader's, of all processes where fields are in shares;
 * NULL in a follower. */
int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host);

int hx_analysis_solve_share(hx_analysis *a, double penalty);
int hx_analysis_compliance_share(hx_analysis *a, double *compliance);
int hx_analysis_stiffness_error_share(hx_analysis *a, double *d_work, double *error);
int hx_analysis_energy_share(const hx_analysis *a, double *d_energy, double *d_work);
int hx_analysis_body_work_share(const hx_analysis *a, double *d_dc);
int hx_analysis_residual_share(hx_analysis *a, int load_case); /* into pcg->d_q */
int hx_analysis_forget_share(hx_analysis *a);
/* Displacements of the design before, which an image has where the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image);
/* An image as bytes, and back. */
size_t hx_snapshot_packed_bytes(const hx_snapshot *image);
void hx_snapshot_pack(const hx_snapshot *image, char *to);
int hx_snapshot_unpack(hx_snapshot *image, char *from, size_t bytes);
/* image: of the leader and of one alone, NULL elsewhere. */
int hx_analysis_snapshot_share(hx_analysis *a, hx_snapshot *image, hx_snapshot_mode mode);

#endif
