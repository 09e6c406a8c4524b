/* Functions shared by the files that open a session. */
#ifndef HX_SESSION_INTERNAL_H
#define HX_SESSION_INTERNAL_H

#include "session.h"

/* session_base.c, below the others. */

/* Puts the key's place before messages about the user's input or machine; returns rc. */
int hx_session_blame(const hx_session *s, const char *key, int rc);
hx_filter_params hx_session_filter_params(const hx_session *s);
void hx_session_generate_params(const hx_session *s, hx_generate_params *params);

/* For mesh.file, whose path is absolute: hx_session_check_model refuses keys that contradict a
 * model's unit or apply only to models; hx_session_read_file reads the mesh with its conditions,
 * and sets the config's element size if it was chosen automatically. */
int hx_session_check_model(const hx_session *s);
int hx_session_read_file(hx_session *s);

/* HX_EINPUT: a parameter of the objective is missing or wrong, or it does not support so many
 * processes. */
int hx_session_check_objective(const hx_session *s, int n_rank);

/* session_parts.c. With a communicator: divides the mesh by solver.partition, identically on all
 * processes, and sets the key to the partition used. Nothing with one process. */
int hx_session_distribute_mesh(hx_session *s);

/* session_dist_mesh.c. With a communicator, if allowed and unless the whole mesh is needed: makes
 * the raw distributed mesh (core/dist_mesh), s->mesh.ownership, and sets solver.partition to the
 * partition used. Else does nothing. */
int hx_session_make_dist_mesh(hx_session *s);
/* Collective: computes what all processes need to know about a distributed mesh. */
int hx_session_agree_dist_mesh(hx_session *s);

/* session_dist.c. With a communicator: makes the subdomain of this process on the device that was
 * started. Nothing with one process. */
int hx_session_create_subdomain(hx_session *s);
/* The root's selections: the other processes receive them before they would choose, and are
 * compared with the root; the root broadcasts them after it has chosen. Nothing with one
 * process. HX_EENV: this process cannot take part in the root's run. */
int hx_session_receive_choice(hx_session *s);
int hx_session_broadcast_choice(hx_session *s);

/* session_measure.c. Waits for the measurement begun by hx_session_measure_meanwhile. */
void hx_session_end_measuring(hx_session *s);

/* Chooses operator, layout and preconditioner by solver.*. */
int hx_session_choose_solver(hx_session *s);

/* After a lack of device memory: returns 1 if a selection of "auto" is replaced by one that stores
 * less, with a warning. Without a communicator optimizer, analysis and the parts of the solver are
 * freed. 0: the message states what would fit. */
int hx_session_take_less(hx_session *s, int rc);

/* Appends to the message of a lack of device memory what would fit instead; returns rc. */
int hx_session_suggest(hx_session *s, int rc);

/* sweep_input.c. Makes the sweep of optimization.overhang, draw or milling, if one is given.
 * HX_EINPUT: bad input (sweep.h). */
int hx_session_make_sweep(hx_session *s);

/* session_memory.c. Computes voxel_bytes: whether the filter treats the design of this process as
 * voxels. O(n_elem). */
void hx_session_count_voxels(hx_session *s);
/* Computes load_bytes of the solved problem once, since memory accounts need it repeatedly.
 * O(n_dof). */
void hx_session_count_loads(hx_session *s);
/* Adds the device memory besides operator, preconditioner and PCG. */
void hx_session_design_account(const hx_session *s, hx_account *account);

#endif
