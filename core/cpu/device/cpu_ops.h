/* The CPU's tables, one per file. Their contracts are in the headers of their types. Not
 * installed. */
#ifndef HX_CPU_OPS_H
#define HX_CPU_OPS_H

#include "../../design/design_ops.h"
#include "../../design/helmholtz.h"
#include "../../design/stress_ops.h"
#include "../../device/timeline_ops.h"
#include "../../device/transport_ops.h"
#include "../../krylov/pcg_ops.h"
#include "../../linalg/block_ops.h"
#include "../../linalg/vector_ops.h"
#include "../../matrix/interaction_ops.h"
#include "../../matrix/matrix.h"
#include "../../multigrid/multigrid.h"
#include "../../operator/conduction_ops.h"
#include "../../operator/element_ops.h"
#include "../../operator/mass_ops.h"
#include "../../operator/rigid_ops.h"

extern const hx_vector_ops hx_cpu_vector_ops;         /* vector_cpu.c */
extern const hx_pcg_ops hx_cpu_pcg_ops;               /* pcg_cpu.c */
extern const hx_element_ops hx_cpu_element_ops;       /* element_cpu.c */
extern const hx_rigid_ops hx_cpu_rigid_ops;           /* rigid_set_cpu.c */
extern const hx_body_ops hx_cpu_body_ops;             /* body_force_cpu.c */
extern const hx_expansion_ops hx_cpu_expansion_ops;   /* expansion_cpu.c */
extern const hx_mass_ops hx_cpu_mass_ops;             /* mass_cpu.c */
extern const hx_block_ops hx_cpu_block_ops;           /* block_cpu.c */
extern const hx_design_ops hx_cpu_design_ops;         /* design_cpu.c */
extern const hx_matrix_ops hx_cpu_matrix_ops;         /* matrix_cpu.c */
extern const hx_multigrid_ops hx_cpu_multigrid_ops;   /* multigrid_cpu.c */
extern const hx_helmholtz_ops hx_cpu_helmholtz_ops;   /* helmholtz_cpu.c */
extern const hx_conduction_ops hx_cpu_conduction_ops; /* conduction_cpu.c */
extern const hx_stress_ops hx_cpu_stress_ops;         /* stress_cpu.c */

extern const hx_transport_ops hx_cpu_transport_ops;     /* transport_cpu.c */
extern const hx_timeline_ops hx_cpu_timeline_ops;       /* timeline_cpu.c */
extern const hx_interaction_ops hx_cpu_interaction_ops; /* interaction_cpu.c */

/* Multigrid for one unknown per node (multigrid_scalar_cpu.c), and the tables and entries that it
 * shares with elasticity, because they do not depend on that number (multigrid_cpu.c). */
extern const hx_multigrid_ops hx_cpu_multigrid_scalar_ops;
extern const hx_mg_vector_ops hx_cpu_mg_vector_ops;
extern const hx_mg_smoother_ops hx_cpu_mg_blocks_ops;
int hx_cpu_diagonal_invert(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cpu_diagonal_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                          const float *d_s, float *d_v, hx_mg_smoother *d_smoother);

/* Entries rows_galerkin of the two transfer tables: elasticity (multigrid_rows_cpu.c) and heat
 * conduction (multigrid_rows_scalar_cpu.c). */
int hx_cpu_rows_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                         const hx_mg_level *level);
int hx_cpu_rows_galerkin_scalar(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                                const hx_mg_level *level);

/* Entries of both multigrid tables, for any number of unknowns per node
 * (multigrid_blocks_cpu.c). */
int hx_cpu_blocks_invert(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cpu_blocks_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                        float *d_t);
int hx_cpu_blocks_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                        const float *d_s, float *d_v, hx_mg_smoother *d_smoother);

/* Entries of the multigrid table for line smoothing (multigrid_lines_cpu.c). */
int hx_cpu_lines_couple(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines);
int hx_cpu_lines_factorise(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cpu_lines_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                       float *d_t);

/* y += factor A x: hx_mg_vector_ops.rows_add. */
int hx_cpu_rows_add(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                    const float *d_x_single, double *d_y, float *d_y_single);

/* diagonal[last - first][8][3]: diagonals of the stiffness matrices of elements first .. last - 1,
 * for unit modulus; 8-node hexahedra only (element_cpu.c). */
void hx_cpu_diagonals(const hx_device_model *model, int64_t first, int64_t last,
                      double (*diagonal)[24]);

/* Entries of both multigrid tables for the direct solve on the coarsest grid
 * (multigrid_direct_cpu.c). */
int hx_cpu_direct_factorise(hx_device *dev, const hx_mg_level *level, double added,
                            hx_mg_direct *direct, int *fits);
int hx_cpu_direct_solve(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                        const float *d_b, float *d_x);
int hx_cpu_direct_factorise_scalar(hx_device *dev, const hx_mg_level *level, double added,
                                   hx_mg_direct *direct, int *fits);
int hx_cpu_direct_solve_scalar(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                               const float *d_b, float *d_x);

/* Entries of the design's table (cone_cpu.c, mma_cpu.c). */
int hx_cpu_cone_sum(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                    const double *const d_value[], double *const d_sum[]);
int hx_cpu_sweep_forward(hx_device *dev, const hx_device_sweep *sweep);
int hx_cpu_sweep_backward(hx_device *dev, const hx_device_sweep *sweep, double *d_a);
int hx_cpu_sweep_join(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                      double *d_y);
int hx_cpu_sweep_share(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                       int which, const double *d_a, double *d_share);
int hx_cpu_mma_begin(hx_device *dev, const hx_device_mma *mma, double *sum);
int hx_cpu_mma_dual(hx_device *dev, const hx_device_mma *mma, double *sum);
int hx_cpu_mma_end(hx_device *dev, const hx_device_mma *mma);
int hx_cpu_mma_measure(hx_device *dev, const hx_device_mma *mma, double *largest);
int hx_cpu_mma_settle(hx_device *dev, const hx_device_mma *mma);

#endif
