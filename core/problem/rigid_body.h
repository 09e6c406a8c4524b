/* Rigid motions of bodies: which of them are free, and whether a load drives one
 * (problem_rigid.c). */
#ifndef HX_RIGID_BODY_H
#define HX_RIGID_BODY_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_rigid_body {
    double lower[3], upper[3];
    double gram[6][6]; /* Gram matrix of its motions over the prescribed components */
    /* number of prescribed components; first_node: first node or point */
    int64_t n_fixed, first_node;
} hx_rigid_body;

/* body[n_body] := the extents of their points. body_of[n_point]: the body of each point of the
 * problem's space, -1: none; a body without a point has first_node -1. If the mesh is distributed,
 * bodies are numbered globally and all processes take part (collective). O(n_point). */
int hx_rigid_bodies_measure(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                            hx_rigid_body *body);

/* Adds to measured bodies everything that supports, springs and prescribed motions of rigid sets
 * hold, over all processes if the mesh is distributed (collective). O(n_point). */
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

#ifdef __cplusplus
}
#endif

#endif
