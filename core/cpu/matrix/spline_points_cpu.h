/* Cells of a spline on the CPU: the operations of points_cpu.h for a model whose points are control
 * points (spline_points_cpu.c). */
#ifndef HX_SPLINE_POINTS_CPU_H
#define HX_SPLINE_POINTS_CPU_H

#include "../../matrix/pattern.h"
#include "../../operator/device_mesh.h"
#include "../../problem/problem.h"
#include "../../spline/spline_cell.h"

/* The tables of a cell. */
static inline void hx_cpu_spline_cell(const hx_incidence *in, int64_t cell, hx_spline_cell *out)
{
    hx_spline_cell_of(in->spline, cell, in->point + hx_incidence_first(in, cell), out);
}

int hx_cpu_spline_diagonal(const hx_device_model *model, double *d_diag);
int hx_cpu_spline_block_diagonal(const hx_device_model *model, double *d_block);
int hx_cpu_spline_energy(const hx_device_model *model, const double *d_u, double *d_energy);
int hx_cpu_spline_conduction_diagonal(const hx_device_model *model, double *d_diag);
int hx_cpu_spline_conduction_energy(const hx_device_model *model, const double *d_t,
                                    double *d_energy);
int hx_cpu_spline_body_force(const hx_device_model *model, const hx_body_field *field,
                             const double *d_rho, const double *d_static, double *d_f);
int hx_cpu_spline_body_work(const hx_device_model *model, const hx_body_field *field, double factor,
                            const double *d_rho, const double *d_u, double *d_dc);

#endif
