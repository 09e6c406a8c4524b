/* Transfers sets of a config to the mesh of a surface, for surface_part.c. */
#ifndef HX_SURFACE_SETS_H
#define HX_SURFACE_SETS_H

#include "surface_part.h"

/* Fills part->set and part->cfg with the parts of the sets of supports, springs and loads that lie
 * on the boundary of `raw` (finished). Supports and springs without any are noted and left out.
 * HX_EINPUT: a load without any. */
int hx_surface_sets_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* 1 if a support, spring or rigid coupling of the config uses this set. */
int hx_surface_set_holds(const hx_config *cfg, const char *set);

/* Called once the pieces are chosen; new_node[] and new_elem[] are < 0 for what is left out of raw.
 * Removes these from the sets, notes which sets are found in part, and scales values per node so
 * that their sum stays. HX_EINPUT: nothing of a load is left. */
int hx_surface_sets_trim(hx_surface_part *part, const hx_mesh *raw, const int32_t *new_node,
                         const int32_t *new_elem);

/* Adds the sets to part->mesh, which is not finished; new_node[] and new_elem[] have its
 * numbers. */
int hx_surface_sets_add(hx_surface_part *part, const int32_t *new_node, const int32_t *new_elem);

/* Gives the tetrahedra of part->mesh, which is not finished, the materials of the elements of the
 * session's mesh at their centroids: adds their sets and notes them in part->cfg. Entries without
 * tetrahedra are left out. */
int hx_surface_materials_add(hx_surface_part *part, const hx_session *s);

/* Finds the boundary faces of `raw` that lie on given faces of the mesh (each element * 6 + local
 * face). The caller frees *found. */
int hx_surface_faces_on(const hx_mesh *mesh, int64_t n_face, const int64_t *face,
                        const hx_mesh *raw, int64_t *n_found, int64_t **found);

/* *n := number of nodes with a support or force of the mesh's file that span no face with other
 * such nodes. Displacements at such nodes grow as the mesh becomes finer. */
int hx_surface_file_alone(const hx_session *s, int64_t *n);

/* Fills part->conditions with the supports of the mesh's file, by nodes of raw, and with statements
 * that refer to sets. Lost supports are noted. HX_EINPUT: a prescribed displacement is not on the
 * surface. */
int hx_surface_file_supports(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* Adds the forces of the steps that the config uses, by nodes of raw, on the pieces that are kept
 * as in hx_surface_sets_trim(). The sum of the forces on connected nodes stays. HX_EINPUT: none of
 * the connected nodes is on the surface. */
int hx_surface_file_forces(hx_surface_part *part, const hx_session *s, const hx_mesh *raw,
                           const int32_t *new_node, const int32_t *new_elem);

/* Renumbers the conditions by new_node[] to nodes of part->mesh. */
void hx_surface_file_renumber(hx_surface_part *part, const int32_t *new_node);

/* 1 if a support or load has from = "file". */
int hx_config_is_by_file(const hx_config *cfg);

/* 1 if a load with from = "file" uses this step of the file. */
int hx_config_loads_by_step(const hx_config *cfg, const hx_conditions *conditions, int step);

/* Text for the end of a message: how to make the surface's mesh connected if pieces are lost; "":
 * nothing helps. */
const char *hx_surface_piece_advice(const hx_surface_part *part);

#endif
