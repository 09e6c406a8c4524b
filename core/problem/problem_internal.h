/* Shared by the files that build a problem. */
#ifndef HX_PROBLEM_INTERNAL_H
#define HX_PROBLEM_INTERNAL_H

#include "problem.h"

/* The set of that name, or HX_EINPUT led by origin, with the nearest name. */
int hx_problem_find_set(const hx_mesh *mesh, const char *name, const char *origin,
                        const hx_set **set);

/* hx_load_faces with origin before its message. */
int hx_problem_faces(const hx_mesh *mesh, const hx_set *set, const char *origin, int64_t *n_face,
                     int64_t **face);

/* Faces that all windows of the mesh have (a whole one's own n_face), and their area. */
int hx_problem_measure_faces(const hx_space *space, int64_t n_face, const int64_t *face,
                             int64_t *n_all, double *area);

/* Nodes of a set that all windows have. */
int hx_problem_count_nodes(const hx_mesh *mesh, const hx_set *set, int64_t *n_all);

/* Nodes that all windows have of a set that takes a load. HX_EINPUT: it has none, and no face where
 * faces take it. A difference may have faces whose nodes all belong to the set that was taken away.
 */
int hx_problem_count_takers(const hx_mesh *mesh, const hx_set *set, const char *origin,
                            int by_faces, int64_t *n_all);

/* hx_space_set_points with origin before its message. */
int hx_problem_set_points(const hx_space *space, const hx_set *set, const char *origin, int64_t *n,
                          int32_t **point);

/* HX_EINPUT where something is done at nodes that are no points of the spline's. */
int hx_problem_refuse_spline(const hx_space *space, const char *origin, const char *what);

/* Adds share times value[components] at each node of a set: at what it is made of. */
void hx_problem_add_at_nodes(const hx_space *space, const hx_set *set, int components,
                             const double *value, double share, double *to);

/* Notes the faces of sets that loads, springs and skins leave out. */
int hx_problem_note_faces(const hx_mesh *mesh, const hx_problem_params *params);

/* Adds one load to force[n_point][3]. HX_EINPUT: the set has nothing that such a load acts on. */
int hx_problem_add_load(const hx_space *space, const hx_load_spec *load, double *force);

/* Prescribes component i of a node. HX_EINPUT: not finite, or prescribed otherwise before. */
int hx_problem_hold(hx_problem *problem, const char *origin, int64_t node, int i, double value);

/* What the mesh's file states (problem_file.c); NULL: nothing. HX_EINPUT: that, or not all that
 * acts. */
int hx_conditions_move(const hx_conditions *conditions); /* 1 if a support moves */
int hx_problem_add_file_supports(hx_problem *problem, const hx_conditions *conditions,
                                 const hx_support_spec *support);
int hx_problem_add_file_forces(hx_problem *problem, const hx_problem_params *params,
                               const hx_load_spec *load);
/* 1 if a support, or a load, is from the file. */
int hx_params_hold_by_file(const hx_problem_params *params);
int hx_params_load_by_file(const hx_problem_params *params);

/* The highest load case that a load acts in. */
int hx_load_last_case(const hx_conditions *conditions, const hx_load_spec *load);
/* Adds a HX_LOAD_BEARING to force[n_point][3]; errors and cost of hx_bearing_fit. */
int hx_load_add_bearing(const hx_space *space, const hx_load_spec *load, double *force);

/* Takes the largest value of a case (from 0) into cases.size. O(n_point). */
void hx_problem_measure_case(hx_problem *problem, int load_case);

/* Adds gravity or a rotation to the fields of the problem, once n_case is known. HX_EINPUT: no
 * density, no axis, or nothing that double precision could square. */
int hx_problem_add_body(hx_problem *problem, const hx_problem_params *params,
                        const hx_load_spec *load);

/* Component i of the motion of a node that goes with a reference point: displacements value[0..2],
 * rotations value[3..5]. */
static inline double hx_follow_point(const hx_file_rigid *rigid, const double *x, int i)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double *const w = rigid->value + 3;
    return rigid->value[i] + w[j] * (x[k] - rigid->point[k]) - w[k] * (x[j] - rigid->point[j]);
}

/* What of the fields depends on the other forces. */
int hx_problem_finish_body(hx_problem *problem);

/* Of heat (problem_heat.c). The temperature that others are counted from; before supports. */
void hx_problem_find_reference(hx_problem *problem, const hx_problem_params *params);
int hx_problem_check_conduction(const hx_problem_params *params);
/* Adds one load to power[n_point]. HX_EINPUT: not finite, or the set has nothing that it acts on.
 */
int hx_problem_add_heat(const hx_space *space, const hx_load_spec *load, double *power);
/* Fills in the films. HX_EINPUT: a coefficient or ambient out of range, a set without boundary
 * faces. */
int hx_problem_add_films(hx_problem *problem, const hx_problem_params *params);
/* 1 for the loads of heat. */
int hx_load_is_heat(const hx_load_spec *load);

static inline int hx_load_is_body(const hx_load_spec *load)
{
    return load->kind == HX_LOAD_GRAVITY || load->kind == HX_LOAD_CENTRIFUGAL;
}
/* Adds a HX_LOAD_REMOTE to force[n_point][3]. HX_EINPUT: a moment about the line, or in the point,
 * that all nodes of the set lie on. O(n_point). */
int hx_load_add_remote(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                       double *force);

/* Fills in the list of springs. HX_EINPUT: stiffness out of range, a set without what it needs. */
int hx_problem_add_springs(hx_problem *problem, const hx_problem_params *params);

/* Lists the sets of rigid couplings. HX_EINPUT: a node in two of them, or held by a support. */
int hx_problem_add_rigid_sets(hx_problem *problem, const hx_problem_params *params);
/* Centre and inverse second moment of set->n nodes. */
void hx_rigid_measure(const hx_space *space, const int32_t *node, hx_rigid_set *set);
/* What is held of the set's point, after that. */
void hx_rigid_hold(const hx_space *space, const int32_t *node, hx_rigid_set *set);

/* *is := 1 if the prescribed displacements move every body like a rigid one, to 1e-12 of the
 * largest, and neither springs nor held points of rigid sets act beside them, so that a case
 * without another load deforms nothing. 0 for heat, whose temperatures count from one that all
 * share. Collective if the mesh is a window. Four passes over the prescribed points
 * (problem_rigid.c). */
int hx_problem_is_moved_rigidly(const hx_problem *problem, int *is);

#endif
