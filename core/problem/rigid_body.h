/* Rigid motions of bodies: which of them are free, and whether a load drives one (rigid_body.c,
 * problem_rigid.c). */
#ifndef HX_RIGID_BODY_H
#define HX_RIGID_BODY_H

#include "problem.h"

/* The motions are u = t + omega x d; d is the distance from the middle of the body's box.
 * Translations along an axis are free if no point holds that component. Rotations are judged about
 * the centres of the points that hold each component, one eigenvector of `spread` after the other,
 * so that neither the slenderness of the body nor the place of its supports matters. */
typedef struct hx_rigid_body {
    double lower[3], upper[3];
    int64_t n_fixed, first_node;  /* number of held components; first node or point */
    double n_held[3], mean[3][3]; /* number of points that hold component i, and their mean d */
    double spread[3][3];          /* sum of squared motions of held components, length^2 */
    double turn[3][3];            /* unit axes of rotation: eigenvectors of `spread` */
    double sum[3], reach[3];      /* motion by a unit rotation: sum of squares, largest */
    double edge;                  /* shortest edge at a held point; inf: not computed */
    int n_free;
    double free[6][6]; /* unit vectors: translation, then rotation times half the body's length */
} hx_rigid_body;

/* body[n_body] := the extents of their points. body_of[n_point]: the body of each point of the
 * problem's space, -1: none; a body without a point has first_node -1. If the mesh is distributed,
 * bodies are numbered globally and all processes take part (collective). O(n_point). */
int hx_rigid_bodies_measure(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                            hx_rigid_body *body);

/* Computes which motions of measured bodies, all other members 0, supports, springs and prescribed
 * motions of rigid sets leave free, over all processes if the mesh is distributed (collective).
 * O(n_point). */
int hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                         hx_rigid_body *body);

/* Sums value[n_body][n] over the processes of a distributed mesh; otherwise does nothing.
 * Collective. */
int hx_rigid_bodies_sum(const hx_problem *problem, int64_t n_body, int n, double *value);

/* work[6] += work of a force at x in each of the six motions. */
void hx_rigid_body_add_work(const hx_rigid_body *body, const double *x, const double *force,
                            double work[6]);

/* 1 if forces with work[6], whose magnitudes add up to `size`, drive a motion that is free. */
int hx_rigid_body_is_driven(const hx_rigid_body *body, const double work[6], double size);

/* is := 1 if prescribed displacements move each of the measured bodies like a rigid one (of heat:
 * if each has one temperature), to 1e-12 of the largest, and neither springs nor convection act
 * beside them. Of a whole mesh whose points are nodes and middles; otherwise 0. */
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

/* Coefficients of omega in component i of the motion at x, for a held component of
 * hx_rigid_body_count; a rotation counts with half the body's length. */
void hx_rigid_body_held_row(const hx_rigid_body *body, const double *x, int i, double row[3]);

/* "translation along x" or "rotation about an axis along z through (1, 2, 3)". */
void hx_rigid_body_describe(const hx_rigid_body *body, const double motion[6], char *text,
                            size_t n_text);

#endif
