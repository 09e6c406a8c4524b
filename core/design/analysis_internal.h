/* Internals of the analysis: the work of one process on its subdomain, or on the whole problem if
 * there is only one process. Each function matches the one of analysis.h without `_local`; with
 * ranks all processes call it together. */
#ifndef HX_ANALYSIS_INTERNAL_H
#define HX_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* Values of hx_dist_call.what for the analysis and the optimizer (optimizer_dist.c); 0 dismisses
 * the followers. */
enum {
    HX_CALL_DISMISS,
    HX_CALL_DENSITY,
    HX_CALL_MODULUS,
    HX_CALL_DISPLACEMENT,
    HX_CALL_RESIDUAL,
    HX_CALL_REPORT,
    HX_CALL_APPLIED,
    HX_CALL_REACTION,
    HX_CALL_OPTIMIZER /* and above */
};

/* Number of entries of a vector of the whole problem. If the mesh is distributed (`ownership`,
 * mesh.h), it counts the nodes of all processes. */
static inline int64_t hx_analysis_whole_entries(const hx_analysis *a)
{
    const hx_space *const space = &a->problem->space;
    return a->problem->components *
           (space->mesh->ownership ? hx_mesh_n_node_all(space->mesh) : space->n_point);
}

/* analysis_sums.c: contributions of own points or elements to the applied forces and the reactions
 * of a case, summed over the processes into total[3]. */
int hx_analysis_applied_local(const hx_analysis *a, int load_case, double total[3]);
int hx_analysis_reaction_local(hx_analysis *a, int load_case, double total[3]);

/* In a follower: performs the operation of `call`. */
int hx_analysis_answer(hx_analysis *a, const hx_dist_call *call);

/* Downloads a field into host[n_elem of the whole] on the root, gathered from all processes if
 * fields are distributed. host: NULL in a follower. */
int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host);
/* The reverse. */
int hx_analysis_upload(const hx_analysis *a, const double *host, double *d_field);

int hx_analysis_residual_local(hx_analysis *a, int load_case); /* writes pcg->d_q */
/* Displacements of the previous design; an image has them if the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image);
/* Serializes an image to bytes, and back. */
size_t hx_snapshot_packed_bytes(const hx_snapshot *image);
void hx_snapshot_pack(const hx_snapshot *image, char *to);
int hx_snapshot_unpack(hx_snapshot *image, char *from, size_t bytes);

#endif
