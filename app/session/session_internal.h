/* Shared by the files that open a session. */
#ifndef HX_SESSION_INTERNAL_H
#define HX_SESSION_INTERNAL_H

#include "session.h"

/* Puts the key's place before messages about the user's input or machine; returns rc. */
int hx_session_blame(const hx_session *s, const char *key, int rc);

/* Of mesh.file, whose path is absolute: what of the config contradicts a model's unit or is for
 * models only; the mesh with its conditions, the config gets the element size that was chosen. */
int hx_session_check_model(const hx_session *s);
int hx_session_read_file(hx_session *s);

hx_filter_params hx_session_filter_params(const hx_session *s);

/* session_parts.c. With a team: the mesh in the parts that solver.partition asks for, the same in
 * all processes; the key becomes the way taken. Nothing without. */
int hx_session_share_mesh(hx_session *s);

/* session_window.c. With a team that may, and unless something asks for the whole: the raw mesh as
 * a window (core/window), s->mesh.window; else nothing. The key solver.partition becomes the way
 * taken.
 */
int hx_session_make_window(hx_session *s);
void hx_session_generate_params(const hx_session *s, hx_generate_params *params);
/* What all processes have to find together of a window before one is asked for it. */
int hx_session_agree_window(hx_session *s);

/* session_ranks.c. With a team: this process' share, on the device that was started; nothing
 * without.
 */
int hx_session_share(hx_session *s);
/* What the leader chose goes to the others, which are compared with it. */
int hx_session_tell_choice(hx_session *s);

/* session_measure.c. Waits for what hx_session_measure_meanwhile began. */
void hx_session_end_measuring(hx_session *s);

/* Of the words in solver.*: strategy, layout and preconditioner. */
int hx_session_find_named(hx_session *s);

/* After a lack of device memory: 1 if something that "auto" chose is replaced by what stores less,
 * which is warned of; operator, preconditioner and PCG are then freed. 0: the message says what
 * would fit. */
int hx_session_take_less(hx_session *s, int rc);

/* Puts behind the message of a lack of device memory what would fit in place of all that the run
 * holds; returns rc. */
int hx_session_suggest(hx_session *s, int rc);

/* session_memory.c. Whether the filter takes the design for voxels: voxel_bytes, for what this
 * process has of it. O(n_elem). */
void hx_session_count_voxels(hx_session *s);
/* load_bytes of what is solved, unless they were counted: what device memory is told by asks for
 * them again and again. O(n_dof). */
void hx_session_count_loads(hx_session *s);
/* Adds what the device holds besides the operator. */
void hx_session_other_account(const hx_session *s, hx_account *account);
/* The sum. */
size_t hx_session_other_bytes(const hx_session *s);
/* The same without preconditioner and PCG. */
size_t hx_session_design_bytes(const hx_session *s);

#endif
