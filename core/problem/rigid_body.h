/* Bodies as rigid ones: which motions of theirs nothing holds, and whether a load drives one of
 * them (rigid_body.c, problem_rigid.c). */
#ifndef HX_RIGID_BODY_H
#define HX_RIGID_BODY_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The motions are u = t + omega x d; d is the distance from the middle of the body's box.
 * Translations along an axis are free if no point holds that component. Rotations are judged about
 * the centres of the points that hold each component, one eigenvector of `spread` after the other,
 * so that neither the body's slenderness nor where it is held counts. */
typedef struct hx_rigid_body {
    double lower[3], upper[3];
    int64_t n_fixed, first_node;  /* components that are held; first_node: or point */
    double n_held[3], mean[3][3]; /* points that hold component i, and the mean of their d */
    double spread[3][3];          /* sum of squares that rotations move held components, length^2 */
    double turn[3][3];            /* unit axes of rotation: eigenvectors of `spread` */
    double sum[3], reach[3]; /* what such a rotation by 1 moves them: sum of squares, largest */
    double edge;             /* shortest edge at a held point, inf: not looked for */
    int n_free;
    double free[6][6]; /* unit: translation, then rotation times half the body's length */
} hx_rigid_body;

/* body[n_body] := the extents of their points. body_of[n_point]: the body of a point of the
 * problem's space, -1: none; a body without a point has first_node -1. Of a window, whose bodies
 * are numbered in all, of all processes (collective). O(n_point). */
int hx_rigid_bodies_measure(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                            hx_rigid_body *body);

/* The motions of measured bodies, all else 0, that supports, springs and held points of rigid sets
 * leave free; of a window those of all processes (collective). O(n_point). */
int hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                         hx_rigid_body *body);

/* Adds up n numbers of each body over the processes of a window, value[n_body][n]; a whole mesh's
 * stay. Collective. */
int hx_rigid_bodies_sum(const hx_problem *problem, int64_t n_body, int n, double *value);

/* work[6] += what a force at x does at each of the six motions. */
void hx_rigid_body_add_work(const hx_rigid_body *body, const double *x, const double *force,
                            double work[6]);

/* 1 if work[6] of forces whose magnitudes add up to `size` drives a motion that nothing holds. */
int hx_rigid_body_is_driven(const hx_rigid_body *body, const double work[6], double size);

/* is := 1 if prescribed displacements move each of the measured bodies like a rigid one (of heat:
 * if each has one temperature), to 1e-12 of the largest, and neither springs, convection nor held
 * points of rigid sets act beside them. Of a whole mesh whose points are nodes and middles;
 * otherwise 0. */
int hx_rigid_bodies_are_moved(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                              const hx_rigid_body *body, int *is);

/* --- for problem_rigid.c: passes over the components that are held --- */

/* Component i of a point x at mesh node `near` holds the body; i of 3 to 5: a rotation, whose x is
 * not used. The passes follow each other in this order, with a finish between them. */
void hx_rigid_body_count(const hx_mesh *mesh, int64_t near, const double *x, int i,
                         hx_rigid_body *body);
void hx_rigid_body_spread(const hx_mesh *mesh, int64_t near, const double *x, int i,
                          hx_rigid_body *body);
void hx_rigid_body_reach(const hx_mesh *mesh, int64_t near, const double *x, int i,
                         hx_rigid_body *body);
void hx_rigid_body_edge(const hx_mesh *mesh, int64_t near, const double *x, int i,
                        hx_rigid_body *body);

void hx_rigid_body_finish_count(hx_rigid_body *body);
void hx_rigid_body_finish_spread(hx_rigid_body *body);
/* 1 if the shortest edge decides, so that the pass of edges is needed. */
int hx_rigid_body_needs_edge(const hx_rigid_body *body);
void hx_rigid_body_finish(hx_rigid_body *body);

/* 1 if rotation k about the axis turn[k] is held. */
int hx_rigid_body_holds_turn(const hx_rigid_body *body, int k);

/* Coefficients of omega in component i of the motion at x, about the mean of that component. */
void hx_rigid_body_turn_at(const hx_rigid_body *body, const double *x, int i, double row[3]);

/* "translation along x" or "rotation about an axis along z through (1, 2, 3)". */
void hx_rigid_body_describe(const hx_rigid_body *body, const double motion[6], char *text,
                            size_t n_text);

#ifdef __cplusplus
}
#endif

#endif
