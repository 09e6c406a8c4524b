// Shared by the files of multigrid. The contract of each function is in core/multigrid/multigrid.h.
#ifndef HX_MULTIGRID_CUDA_CUH
#define HX_MULTIGRID_CUDA_CUH

#include "../device/early_cuda.cuh"
#include "../device/vector_cuda.cuh"
#include "galerkin_cuda.cuh"

// The vector of a product with an inverse, in double precision in shared memory: the first two of
// each four entries, then the last two of each four, so that lanes read 16 adjacent bytes.
struct hx_fours {
    double2 *value;
    int n; // number of groups of four

    __device__ __forceinline__ void put(int k, float v) const
    {
        double2 *const two = value + (k & 2 ? n : 0) + k / 4;
        (k & 1 ? two->y : two->x) = static_cast<double>(v);
    }
    // Adds the products of the four numbers of a row of the inverse from 4 k on.
    __device__ __forceinline__ void add(int k, float4 row, double (&sum)[2]) const
    {
        const double2 low = value[k], high = value[n + k];
        sum[0] = fma(static_cast<double>(row.x), low.x, sum[0]);
        sum[1] = fma(static_cast<double>(row.y), low.y, sum[1]);
        sum[0] = fma(static_cast<double>(row.z), high.x, sum[0]);
        sum[1] = fma(static_cast<double>(row.w), high.y, sum[1]);
    }
};

// multigrid_cuda.cu: the tables and entries of the diagonal that do not depend on the number of
// unknowns per node, which heat conduction shares
extern const hx_mg_vector_ops hx_cuda_mg_vector_ops;
extern const hx_mg_smoother_ops hx_cuda_mg_blocks_ops;
int hx_cuda_mg_diagonal_invert(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cuda_mg_diagonal_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                              const float *d_s, float *d_v, hx_mg_smoother *d_smoother);
// multigrid_transfer_cuda.cu
int hx_cuda_mg_mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                             const float *d_t, const hx_mg_level *level);
int hx_cuda_mg_mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y,
                            const float *d_m, float *d_x);
// multigrid_coarse_cuda.cu
int hx_cuda_mg_multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
int hx_cuda_mg_power_next(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
int hx_cuda_mg_residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
int hx_cuda_mg_smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x,
                      float *d_y);
int hx_cuda_mg_restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                           const hx_mg_level *coarse);
int hx_cuda_mg_prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                            const hx_mg_level *fine, float *d_x);
int hx_cuda_mg_restore_rigid(hx_device *dev, const hx_mg_level *level);
int hx_cuda_mg_level_diagonal(hx_device *dev, const hx_mg_level *level);
int hx_cuda_mg_dense(hx_device *dev, const hx_mg_level *level, double *matrix);
int hx_cuda_mg_add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                          const float *d_block);
// multigrid_inverse_cuda.cu
int hx_cuda_mg_inverse(hx_device *dev, const hx_mg_level *level, double added,
                       hx_mg_direct *direct);
int hx_cuda_mg_inverse_scalar(hx_device *dev, const hx_mg_level *level, double added,
                              hx_mg_direct *direct);
int hx_cuda_mg_inverse_fits(hx_device *dev, const hx_mg_level *level, double added,
                            hx_mg_direct *direct, int *fits);
int hx_cuda_mg_inverse_multiply(hx_device *dev, const hx_mg_level *level,
                                const hx_mg_direct *direct, const float *d_b, float *d_x);
// multigrid_blocks_cuda.cu
int hx_cuda_mg_blocks_invert(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cuda_mg_blocks_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                            float *d_t);
int hx_cuda_mg_blocks_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                            const float *d_s, float *d_v, hx_mg_smoother *d_smoother);
// multigrid_lines_cuda.cu; hx_cuda_mg_unit sets the nonzero entries of m to 1
int hx_cuda_mg_lines_couple(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines);
int hx_cuda_mg_lines_factorise(hx_device *dev, const hx_mg_splitting *splitting);
int hx_cuda_mg_lines_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                           float *d_t);
int hx_cuda_mg_unit(hx_device *dev, int64_t n, float *d_m);
// multigrid_level_lines_cuda.cu; hx_cuda_mg_level_step is step i of `smooth`; y contains b - A x
// or, if x is nullptr, anything
int hx_cuda_mg_level_factorise(hx_device *dev, const hx_mg_level *level);
int hx_cuda_mg_level_solve(hx_device *dev, const hx_mg_level *level, float *d_t);
int hx_cuda_mg_level_step(hx_device *dev, const hx_mg_level *level, int i, const float *d_x,
                          float *d_y);
// multigrid_fused_cuda.cu
void hx_cuda_mg_fused_room(hx_device *dev, int *n_block, int *n_node);
int hx_cuda_mg_fused_fits(hx_device *dev, const hx_mg_fused *fused, const hx_mg_level *level);
int hx_cuda_mg_fused_cycle(hx_device *dev, const hx_mg_fused *fused, const hx_mg_level *level,
                           const float *d_inverse);
// multigrid_deflation_cuda.cu
int hx_cuda_mg_rows_add(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                        const float *d_x_single, double *d_y, float *d_y_single);
// multigrid_rigid_cuda.cu
int hx_cuda_mg_match_entries(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r,
                             float *d_t);
int hx_cuda_mg_column_dots(hx_device *dev, int64_t n, int n_column, const float *d_y,
                           const float *d_b, double *d_sum);
int hx_cuda_mg_column_combine(hx_device *dev, int64_t n, int n_column, const float *d_y,
                              const double *d_c, float *d_x);
int hx_cuda_mg_add(hx_device *dev, int64_t n, const float *d_x, float *d_y);
int hx_cuda_mg_small_multiply(hx_device *dev, int n_column, const double *d_inverse,
                              const double *d_sum, double *d_c);

#endif
