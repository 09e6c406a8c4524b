#include "moment_share.h"

#include "core/base/vec3.h"
#include "core/problem/symmetric.h"

void hx_moment_share_place(hx_moment_share *s, double weight, const double x[3])
{
    s->weight += weight;
    for (int d = 0; d < 3; d++) s->centroid[d] += weight * x[d];
}

void hx_moment_share_centre(hx_moment_share *s)
{
    for (int d = 0; d < 3; d++) s->centroid[d] /= s->weight;
}

void hx_moment_share_spread(hx_moment_share *s, double weight, const double x[3])
{
    double arm[3];
    for (int d = 0; d < 3; d++) arm[d] = x[d] - s->centroid[d];
    const double square = hx_dot3(arm, arm);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s->spread[i][j] += weight * ((i == j ? square : 0.0) - arm[i] * arm[j]);
}

void hx_moment_share_solve(hx_moment_share *s, const double moment[3])
{
    static const double least = 1e-10; /* of the largest principal value of T */
    double t[3][3], value[3], axis[3][3];
    memcpy(t, s->spread, sizeof t);
    hx_symmetric3_eigen(t, value, axis);
    for (int k = 0; k < 3; k++) {
        if (!(value[k] > least * value[2])) continue;
        const double turn = hx_dot3(axis[k], moment) / value[k];
        for (int d = 0; d < 3; d++) s->theta[d] += turn * axis[k][d];
    }
}

void hx_moment_share_add(const hx_moment_share *s, double weight, const double x[3], double *force)
{
    double arm[3], turn[3];
    for (int d = 0; d < 3; d++) arm[d] = x[d] - s->centroid[d];
    hx_cross3(s->theta, arm, turn);
    for (int d = 0; d < 3; d++) force[d] += weight * turn[d];
}
