/* Sets of nodes that move as one rigid body (the rigid coupling of a remote force), in every load
 * case.
 *
 * The solver works in the space of vectors u = P u, where P is the orthogonal projector onto
 * vectors that are rigid motions v + w x (x - c) on each set and arbitrary elsewhere: conjugate
 * gradients on P K P with the preconditioner P M^-1 P; all residuals and directions are in the
 * range of P. With the set's n nodes, their centre c and d_a = x_a - c,
 *
 *     (P y)_a = v + w x d_a,   v = sum y_a / n,   w = J^-1 sum d_a x y_a,
 *     J = sum (|d_a|^2 I - d_a d_a'),
 *
 * so only the resultant force and moment on a set matter. If the motion of a point of the set is
 * partly prescribed, P projects onto the remaining motions: with a basis B of these (v, w) and G =
 * diag(n I, J), (v, w) = B (B'G B)^-1 B' (sum y_a, sum d_a x y_a). Prescribed values other than 0
 * are in hx_supports.prescribed, from which the solver starts. */
#ifndef HX_RIGID_SET_H
#define HX_RIGID_SET_H

#include "../base/host_device.h"
#include "problem.h"

HX_C_BEGIN

/* Adds y and d x y of a node to the sums of force and moment. */
static HX_HD void hx_rigid_add(const hx_rigid_set *set, const double *x, const double *y,
                               double sum[6])
{
    const double d[3] = {x[0] - set->centre[0], x[1] - set->centre[1], x[2] - set->centre[2]};
    for (int i = 0; i < 3; i++) sum[i] += y[i];
    sum[3] += d[1] * y[2] - d[2] * y[1];
    sum[4] += d[2] * y[0] - d[0] * y[2];
    sum[5] += d[0] * y[1] - d[1] * y[0];
}

/* Computes v and w from the sums. */
static HX_HD void hx_rigid_motion(const hx_rigid_set *set, const double sum[6], double motion[6])
{
    for (int i = 0; set->held && i < 6; i++) {
        motion[i] = 0.0;
        for (int j = 0; j < 6; j++) motion[i] += set->free[i][j] * sum[j];
    }
    for (int i = 0; !set->held && i < 3; i++) {
        motion[i] = sum[i] / (double)set->n_all;
        motion[3 + i] =
            set->inverse[i][0] * sum[3] + set->inverse[i][1] * sum[4] + set->inverse[i][2] * sum[5];
    }
}

static HX_HD void hx_rigid_apply(const hx_rigid_set *set, const double *x, const double motion[6],
                                 double *y)
{
    const double d[3] = {x[0] - set->centre[0], x[1] - set->centre[1], x[2] - set->centre[2]};
    y[0] = motion[0] + motion[4] * d[2] - motion[5] * d[1];
    y[1] = motion[1] + motion[5] * d[0] - motion[3] * d[2];
    y[2] = motion[2] + motion[3] * d[1] - motion[4] * d[0];
}

HX_C_END

#endif
