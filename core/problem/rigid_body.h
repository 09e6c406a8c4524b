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
    double gram[6][6]; /* of its motions over the components that are held */
    int64_t n_fixed, first_node;
} hx_rigid_body;

/* body[n_body], zeroed before, with the extents of their nodes, and all that supports, springs,
 * and held points of rigid sets hold of them. body_of[n_node]: the body of a node, -1: none; a body
 * without a node has first_node -1. O(n_node). */
void hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                          hx_rigid_body *body);

/* work[6] += what a force at x does at each of the six motions. */
void hx_rigid_body_add_work(const hx_rigid_body *body, const double *x, const double *force,
                            double work[6]);

/* 1 if work[6] of forces whose magnitudes add up to `size` drives a motion that nothing holds. */
int hx_rigid_body_is_driven(const hx_rigid_body *body, const double work[6], double size);

#ifdef __cplusplus
}
#endif

#endif
