/* Internals of the analysis, and the functions of analysis and optimizer in which all ranks
 * join. */
#ifndef HX_ANALYSIS_INTERNAL_H
#define HX_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* Values of hx_dist_call.what; 0 dismisses the followers. */
enum {
    HX_CALL_DISMISS,
    HX_CALL_STEP,
    HX_CALL_ADVANCE,
    HX_CALL_UNDO,
    HX_CALL_DENSITY,
    HX_CALL_SENSITIVITY,
    HX_CALL_ENERGY,
    HX_CALL_STIFFNESS_ERROR,
    HX_CALL_SAVE,
    HX_CALL_LOAD,
    HX_CALL_MODULUS,
    HX_CALL_DISPLACEMENT,
    HX_CALL_TOTAL_LOAD,
    HX_CALL_REACTION,
    HX_CALL_REPORT
};

/* Begins a collective function; with one rank nothing is announced. */
static inline int hx_analysis_announce(const hx_analysis *a, int32_t what, int32_t number)
{
    return a->dist ? hx_dist_announce(a->dist, what, number) : HX_OK;
}

/* Number of entries of a vector of the whole problem. If the mesh is distributed (`ownership`,
 * mesh.h), it counts the nodes of all processes. */
static inline int64_t hx_analysis_whole_entries(const hx_analysis *a)
{
    const hx_space *const space = &a->problem->space;
    return a->problem->components *
           (space->mesh->ownership ? hx_mesh_n_node_all(space->mesh) : space->n_point);
}

/* analysis_sums.c: contributions of own points or elements to the applied forces and the reactions
 * of a case, summed over the ranks into total[3]. */
int hx_analysis_sum_load(const hx_analysis *a, int load_case, double total[3]);
int hx_analysis_sum_reaction(hx_analysis *a, int load_case, double total[3]);

/* Downloads a field into host[n_elem of the whole] on the root, gathered from all processes if
 * fields are distributed. host: NULL in a follower. */
int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host);
/* The reverse. */
int hx_analysis_upload(const hx_analysis *a, const double *host, double *d_field);

/* Saves or loads a field whatever the number of ranks (optimizer_snapshot.c). Waits. */
int hx_analysis_snapshot_field(hx_analysis *a, hx_snapshot *image, const char *name,
                               double *d_field);

/* d_q of PCG = K u - f of a case on all rows; overwrites its d_p. */
int hx_analysis_find_residual(const hx_analysis *a, int load_case);
/* Displacements of the previous design; an image has them if the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image);
/* Serializes an image to bytes, and back. */
size_t hx_snapshot_packed_bytes(const hx_snapshot *image);
void hx_snapshot_pack(const hx_snapshot *image, char *to);
int hx_snapshot_unpack(hx_snapshot *image, char *from, size_t bytes);

#endif
