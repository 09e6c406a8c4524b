/* Internals of the analysis. */
#ifndef HX_ANALYSIS_INTERNAL_H
#define HX_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* A collective function begins by this. HX_EDEVICE: an earlier error left the ranks out of step, so
 * that the others would not take part. */
static inline int hx_analysis_check_ranks(const hx_analysis *a)
{
    return a->dist ? hx_dist_check(a->dist) : HX_OK;
}

/* Number of entries of a vector of the whole problem. If the mesh is distributed (`ownership`,
 * mesh.h), it counts the nodes of all processes. */
static inline int64_t hx_analysis_whole_entries(const hx_analysis *a)
{
    const hx_space *const space = &a->problem->space;
    return a->problem->components *
           (space->mesh->ownership ? hx_mesh_n_node_all(space->mesh) : space->n_point);
}

/* analysis_loads.c: uploads the strains of a case, unless they are uniform. */
int hx_analysis_put_strains(hx_analysis *a, int load_case);
/* f = static part + the loads that depend on the densities and the moduli, which are set. */
int hx_analysis_update_loads(const hx_analysis *a);

/* analysis_sums.c: contributions of own points or elements to the applied forces and the reactions
 * of a case, summed over the ranks into total[3]. */
int hx_analysis_sum_load(const hx_analysis *a, int load_case, double total[3]);
int hx_analysis_sum_reaction(hx_analysis *a, int load_case, double total[3]);

/* Downloads a field into host[n_elem of the whole] on the root, gathered from all processes if
 * fields are distributed. host: NULL on other ranks. */
int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host);
/* The reverse. */
int hx_analysis_upload(const hx_analysis *a, const double *host, double *d_field);

/* Saves or loads a field whatever the number of ranks (optimizer_snapshot.c). Waits. */
int hx_analysis_snapshot_field(hx_analysis *a, hx_snapshot *image, const char *name,
                               double *d_field);

/* *has_room: 1 if n_vector vectors of extrapolation fit (hx_analysis_follow). Collective. */
int hx_analysis_has_room(const hx_analysis *a, int n_vector, int *has_room);
/* *d_last := zero displacements, so that the first change is u itself. */
int hx_analysis_alloc_last(const hx_analysis *a, float **d_last);
/* Moves the first guess to u + s d, where d = u - last is the change from the previous design and s
 * = d'(f - K u) / d'K d minimises the energy on that line; last := u. d_f may be the d_r of PCG,
 * whose other vectors it overwrites. */
int hx_analysis_go_along(hx_analysis *a, const double *d_f, double *d_u, float *d_last);

/* d_q of PCG = K u - f of a case on all rows; overwrites its d_p. */
int hx_analysis_find_residual(const hx_analysis *a, int load_case);
/* Displacements of the previous design; an image has them if the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image);
/* Serializes an image to bytes, and back. */
size_t hx_snapshot_packed_bytes(const hx_snapshot *image);
void hx_snapshot_pack(const hx_snapshot *image, char *to);
int hx_snapshot_unpack(hx_snapshot *image, char *from, size_t bytes);

#endif
