/* Quadratic cells on the CPU, with their points in vector lanes. */
#ifndef HX_POINTS_CPU_H
#define HX_POINTS_CPU_H

#include <math.h>
#include <string.h>

#include "../../base/vectorised.h"
#include "../../matrix/pattern.h"
#include "../../operator/device_mesh.h"
#include "../../operator/element_ops.h"
#include "../../problem/problem.h"

/* The operations of element_ops.h and conduction_ops.h for a model with points (points_cpu.c). */
int hx_cpu_points_diagonal(const hx_device_model *model, double *d_diag);
int hx_cpu_points_block_diagonal(const hx_device_model *model, double *d_block);
int hx_cpu_points_energy(const hx_device_model *model, const double *d_u, double *d_energy);
int hx_cpu_points_conduction_diagonal(const hx_device_model *model, double *d_diag);
int hx_cpu_points_conduction_energy(const hx_device_model *model, const double *d_t,
                                    double *d_energy);
int hx_cpu_points_body_force(const hx_device_model *model, const hx_body_field *field,
                             const double *d_rho, const double *d_static, double *d_f);
int hx_cpu_points_body_work(const hx_device_model *model, const hx_body_field *field, double factor,
                            const double *d_rho, const double *d_u, double *d_dc);

int hx_cpu_points_expansion_force(const hx_device_model *model,
                                  const hx_device_expansion *expansion, const double *d_static,
                                  double *d_f);
int hx_cpu_points_expansion_work(const hx_device_model *model, const hx_device_expansion *expansion,
                                 double factor, double least, double penalty, const double *d_rho,
                                 const double *d_u, double *d_dc);

enum { HX_POINT_LANES = HX_RULE_POINTS };

/* Coordinates or displacements, v[i][a]; 0 after the last point. */
typedef double hx_point_lanes[3][HX_POINT_LANES];

HX_INLINED void hx_points_load(const hx_incidence *in, int64_t cell, const double *nodal,
                               hx_point_lanes v)
{
    const int32_t *const point = in->point + hx_incidence_first(in, cell);
    const int n = hx_incidence_count(in, cell);
    memset(v, 0, sizeof(hx_point_lanes));
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) v[i][a] = nodal[3 * (int64_t)point[a] + i];
}

/* Jacobian j[k][i] = dx_i / dxi_k at a Gauss point; adjoint[i][k] = det times dxi_k / dx_i. Returns
 * det. */
HX_INLINED double hx_points_jacobian(const double gradient[3][HX_POINT_LANES], hx_point_lanes x,
                                     double adjoint[3][3])
{
    double j[3][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int a = 0; a < HX_POINT_LANES; a++) sum += gradient[k][a] * x[i][a];
            j[k][i] = sum;
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            adjoint[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    return j[0][0] * adjoint[0][0] + j[0][1] * adjoint[1][0] + j[0][2] * adjoint[2][0];
}

/* h[i][a] = scale times the derivative of point a's shape function with respect to x_i, without the
 * division by det. */
HX_INLINED void hx_points_gradients(const double gradient[3][HX_POINT_LANES], double adjoint[3][3],
                                    double scale, hx_point_lanes h)
{
    for (int i = 0; i < 3; i++) {
        const double c0 = scale * adjoint[i][0], c1 = scale * adjoint[i][1],
                     c2 = scale * adjoint[i][2];
        for (int a = 0; a < HX_POINT_LANES; a++)
            h[i][a] = c0 * gradient[0][a] + c1 * gradient[1][a] + c2 * gradient[2][a];
    }
}

#endif
