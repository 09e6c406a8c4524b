/* The rigid motions that supports, springs and rigid sets leave to a part, for vibrations. */
#ifndef HX_FREE_MOTIONS_H
#define HX_FREE_MOTIONS_H

#include "problem.h"

HX_C_BEGIN

/* motion[0 .. *n) := the free motions of all bodies as displacements [n_point][3] of the space,
 * 0 at fixed degrees of freedom and in other bodies; the caller frees each. HX_EINPUT: more than
 * `most`. Not of a distributed mesh. O(n_point). */
int hx_problem_free_motions(const hx_problem *problem, int most, int *n, double *motion[]);

HX_C_END

#endif
