/* Sets of a config found again on the mesh of a surface, for surface_part.c. */
#ifndef HX_SURFACE_SETS_H
#define HX_SURFACE_SETS_H

#include "surface_part.h"

/* part->set and part->cfg: what of the sets in supports, springs and loads lies on the boundary of
 * `raw` (finished). Supports and springs on nothing are noted and go. HX_EINPUT: a load on nothing.
 */
int hx_surface_sets_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* 1 if a support, spring or rigid coupling of the config has this set. */
int hx_surface_set_holds(const hx_config *cfg, const char *set);

/* Puts them on part->mesh, not finished, whose nodes and elements new_node[] and new_elem[] say. */
int hx_surface_sets_add(hx_surface_part *part, const int32_t *new_node, const int32_t *new_elem);

/* The boundary faces of raw that lie on faces of the mesh (element * 6 + local face each); *found
 * is the caller's to free. */
int hx_surface_faces_on(const hx_mesh *mesh, int64_t n_face, const int64_t *face,
                        const hx_mesh *raw, int64_t *n_found, int64_t **found);

/* *n := nodes with a support or force of the mesh's file that span no face with others: the finer a
 * mesh, the more it gives way at these. */
int hx_surface_file_alone(const hx_session *s, int64_t *n);

/* part->conditions: what the mesh's file states, by nodes of raw; forces keep their sum. */
int hx_surface_file_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* The same by nodes of part->mesh, as new_node[] says. */
void hx_surface_file_renumber(hx_surface_part *part, const int32_t *new_node);

/* 1 if a support or load is from = "file". */
int hx_config_is_by_file(const hx_config *cfg);

#endif
