/* Bodies as rigid ones: which motions of theirs nothing holds, and whether a load drives one of
 * them (problem_rigid.c). */
#ifndef HX_RIGID_BODY_H
#define HX_RIGID_BODY_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_rigid_body {
    double lower[3], upper[3];
    double gram[6][6];           /* of its motions over the components that are held */
    int64_t n_fixed, first_node; /* components that are held; first_node: or point */
} hx_rigid_body;

/* body[n_body] := the extents of their points. body_of[n_point]: the body of a point of the
 * problem's space, -1: none; a body without a point has first_node -1. Of a window, whose bodies
 * are numbered in all, of all processes (collective). O(n_point). */
int hx_rigid_bodies_measure(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                            hx_rigid_body *body);

/* Adds to measured bodies all that supports, springs, and held points of rigid sets hold of them;
 * of a window those of all processes (collective). O(n_point). */
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

#ifdef __cplusplus
}
#endif

#endif
