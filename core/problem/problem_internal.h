/* Shared by the files that build a problem. */
#ifndef HX_PROBLEM_INTERNAL_H
#define HX_PROBLEM_INTERNAL_H

#include "problem.h"

/* Finds a set by name, or HX_EINPUT with `origin` as prefix and the nearest name. */
int hx_problem_find_set(const hx_mesh *mesh, const char *name, const char *origin,
                        const hx_set **set);

/* hx_load_faces with `origin` as prefix of its message. */
int hx_problem_faces(const hx_mesh *mesh, const hx_set *set, const char *origin, int64_t *n_face,
                     int64_t **face);

/* Number of these faces over all processes (for a mesh that is not distributed: n_face) and their
 * area. */
int hx_problem_measure_faces(const hx_space *space, int64_t n_face, const int64_t *face,
                             int64_t *n_all, double *area);

/* Number of nodes of a set over all processes. */
int hx_problem_count_nodes(const hx_mesh *mesh, const hx_set *set, int64_t *n_all);

/* Number of nodes, over all processes, of a set that receives a load. HX_EINPUT: it has none, or no
 * face if the load acts on faces. A difference of sets may have faces all of whose nodes belong to
 * the subtracted set. */
int hx_problem_count_takers(const hx_mesh *mesh, const hx_set *set, const char *origin,
                            int by_faces, int64_t *n_all);

/* hx_space_set_points with `origin` as prefix of its message. */
int hx_problem_set_points(const hx_space *space, const hx_set *set, const char *origin, int64_t *n,
                          int32_t **point);

/* HX_EINPUT if a condition at nodes is applied to a spline, whose nodes are not its control
 * points. */
int hx_problem_refuse_spline(const hx_space *space, const char *origin, const char *what);

/* Warns of faces of sets that loads, springs and skins leave out. */
int hx_problem_note_faces(const hx_mesh *mesh, const hx_problem_params *params);

/* Adds the materials of element sets (problem_materials.c). HX_EINPUT: an unknown or empty set,
 * sets that overlap, a value out of range. */
int hx_problem_add_materials(hx_problem *problem, const hx_problem_params *params);

/* Prescribes component i of a node. HX_EINPUT: not finite, or already prescribed with another
 * value. */
int hx_problem_hold(hx_problem *problem, const char *origin, int64_t node, int i, double wanted);

/* Conditions of the mesh file (problem_file.c); NULL: none. HX_EINPUT: there are none, or they
 * cannot be applied completely. */
/* 1 if a support prescribes a nonzero displacement */
int hx_conditions_move(const hx_conditions *conditions);
int hx_problem_add_file_supports(hx_problem *problem, const hx_conditions *conditions,
                                 const hx_support_spec *support);
int hx_problem_add_file_forces(hx_problem *problem, const hx_problem_params *params,
                               const hx_load_spec *load);
/* 1 if a support, or a load, comes from the file. */
int hx_params_hold_by_file(const hx_problem_params *params);
int hx_params_load_by_file(const hx_problem_params *params);

/* The highest load case in which a load acts. */
int hx_load_last_case(const hx_conditions *conditions, const hx_load_spec *load);
/* Adds an HX_LOAD_BEARING to force[n_point][3]; errors and cost like hx_bearing_fit. */
int hx_load_add_bearing(const hx_space *space, const hx_load_spec *load, double *force);

/* Updates cases.size with the largest value of a case (0-based). O(n_point). */
void hx_problem_measure_case(hx_problem *problem, int load_case);

/* Adds gravity or a rotation to the fields of the problem, once n_case is known. HX_EINPUT: no
 * density, no axis, or a value whose square overflows. */
int hx_problem_add_body(hx_problem *problem, const hx_problem_params *params,
                        const hx_load_spec *load);

/* Component i of the motion of a node that follows a reference point: displacements value[0..2],
 * rotations value[3..5]. */
static inline double hx_follow_point(const hx_file_rigid *rigid, const double *x, int i)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double *const w = rigid->value + 3;
    return rigid->value[i] + w[j] * (x[k] - rigid->point[k]) - w[k] * (x[j] - rigid->point[j]);
}

/* Sets the members of the fields that depend on other forces. */
int hx_problem_finish_body(hx_problem *problem);

/* Adds a temperature change to the fields of the problem, once n_case is known. HX_EINPUT: no
 * expansion, a spline, a set without elements, or a value that is not finite. */
int hx_problem_add_temperature(hx_problem *problem, const hx_problem_params *params,
                               const hx_load_spec *load);
/* Turns temperature changes into strains, once materials are known. */
int hx_problem_finish_expansion(hx_problem *problem);
void hx_problem_free_expansion(hx_problem *problem);

/* *any := 1 if a force acts on a node in a case, in any process. */
int hx_problem_has_forces(const hx_problem *problem, int load_case, int *any);

/* Heat (problem_heat.c). Finds the reference temperature; call it before adding supports. */
void hx_problem_find_reference(hx_problem *problem, const hx_problem_params *params);
int hx_problem_check_conduction(const hx_problem_params *params);
/* Adds one load to power[n_point]. HX_EINPUT: not finite, or the set has no entity on which it
 * acts. */
int hx_problem_add_heat(const hx_space *space, const hx_load_spec *load, double *power);
/* Fills in the films. HX_EINPUT: a coefficient or ambient out of range, or a set without boundary
 * faces. */
int hx_problem_add_films(hx_problem *problem, const hx_problem_params *params);
/* 1 for loads of heat problems. */
int hx_load_is_heat(const hx_load_spec *load);

static inline int hx_load_is_body(const hx_load_spec *load)
{
    return load->kind == HX_LOAD_GRAVITY || load->kind == HX_LOAD_CENTRIFUGAL;
}

/* 1 if the load is a field over the elements instead of forces on nodes. */
static inline int hx_load_is_field(const hx_load_spec *load)
{
    return hx_load_is_body(load) || load->kind == HX_LOAD_TEMPERATURE_CHANGE;
}

/* Adds an HX_LOAD_REMOTE to force[n_point][3]. HX_EINPUT: all nodes of the set lie on a line or in
 * a point about which the moment acts. O(n_point). */
int hx_load_add_remote(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                       double *force);

/* Fills in the list of springs. HX_EINPUT: stiffness out of range, or a set without the required
 * entities. */
int hx_problem_add_springs(hx_problem *problem, const hx_problem_params *params);

/* Lists the sets of rigid couplings. HX_EINPUT: a node is in two of them, or held by a support. */
int hx_problem_add_rigid_sets(hx_problem *problem, const hx_problem_params *params);
/* Centre and inverse second moment of set->n nodes. */
void hx_rigid_measure(const hx_space *space, const int32_t *node, hx_rigid_set *set);
/* Sets the prescribed motion of the set's point; call it after hx_rigid_measure. */
void hx_rigid_hold(const hx_space *space, const int32_t *node, hx_rigid_set *set);

/* *is := 1 if the prescribed displacements move every body rigidly (to 1e-12 of the largest) and
 * neither springs nor prescribed motions of rigid sets act, so that a case without another load
 * deforms nothing. 0 for heat, whose temperatures are relative to a common one. Collective if the
 * mesh is distributed. *n_body := number of bodies, or 1 if it is distributed. Four passes over the
 * prescribed points (problem_rigid.c). */
int hx_problem_is_moved_rigidly(const hx_problem *problem, int *is, int64_t *n_body);

#endif
