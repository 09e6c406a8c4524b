/* Operations on the design's element fields on a device (hx_device_ops.design): n = n_elem doubles.
 * Sums are added in a fixed order. All entries except cone_cells are required. */
#ifndef HX_DESIGN_OPS_H
#define HX_DESIGN_OPS_H

#include "../device/device.h"
#include "../operator/device_mesh.h"
#include "../problem/problem.h"

HX_C_BEGIN

typedef struct hx_device_bins hx_device_bins;     /* bins.h */
typedef struct hx_device_oc hx_device_oc;         /* oc.h */
struct hx_oc_state;                               /* oc.h */
typedef struct hx_device_groups hx_device_groups; /* groups.h */
typedef struct hx_projection hx_projection;       /* projection.h */
typedef struct hx_device_mma hx_device_mma;       /* mma.h */
typedef struct hx_device_sweep hx_device_sweep;   /* sweep_law.h */

typedef struct hx_design_ops {
    /* E(rho) = least + (E - least) rho^p (simp.h), with E = young times the element's factor;
     * materials = NULL: one material */
    int (*modulus)(hx_device *dev, int64_t n, const hx_device_materials *materials, double least,
                   double young, double penalty, const double *d_rho, double *d_modulus);
    /* dc = -p (E(rho) - least) / rho * energy */
    int (*sensitivity)(hx_device *dev, int64_t n, double least, double penalty,
                       const double *d_modulus, const double *d_rho, const double *d_energy,
                       double *d_dc);
    /* Sums of v rho over all elements and of v rho (1 - rho) over the free elements (those whose
     * passive value is NaN, or all if d_passive is NULL). Waits. */
    int (*measure)(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                   const double *d_passive, double *mass, double *grey);
    /* Sums over the free elements of the positive dc and of dv. Waits. */
    int (*sum_positive)(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                        const double *d_passive, double sum[2]);
    /* Maps filtered to physical densities (projection.h), optionally in place. Passive elements,
     * where d_passive is not NaN, take that value. project_backward: a *= the derivative.
     * zero_passive: a = 0 at passive elements. */
    int (*project)(hx_device *dev, int64_t n, const hx_projection *law, const double *d_passive,
                   const double *d_filtered, double *d_physical);
    int (*project_backward)(hx_device *dev, int64_t n, const hx_projection *law,
                            const double *d_passive, const double *d_filtered, double *d_a);
    int (*zero_passive)(hx_device *dev, int64_t n, const double *d_passive, double *d_a);
    /* Optimality criteria (oc.h). oc_begin computes t, its sums and the first trial scales; oc_pass
     * computes the volumes at the trials and chooses the next ones (does nothing once done); oc_end
     * computes the proposal and its largest change. */
    int (*oc_begin)(hx_device *dev, const hx_device_oc *oc);
    int (*oc_pass)(hx_device *dev, const hx_device_oc *oc);
    int (*oc_end)(hx_device *dev, const hx_device_oc *oc);
    /* If several processes hold parts of the elements, each runs oc_begin or a pass on a local
     * state. The common state then takes the sums added over the processes. */
    int (*oc_take)(hx_device *dev, int is_begin, const struct hx_oc_state *d_sums,
                   struct hx_oc_state *d_state);
    /* The method of moving asymptotes (mma.h); sums run over the free elements. mma_begin: the
     * number of elements, and |g_i| of each function, scaled. mma_dual: at mma->lambda, the value,
     * the distance, the gradient, and the upper triangle of minus the Hessian (hx_mma_entry).
     * mma_end: the proposal. mma_measure: the largest values of an element (HX_MMA_MEASURED).
     * mma_settle: the asymptotes of the next design. All but mma_end and mma_settle wait. */
    int (*mma_begin)(hx_device *dev, const hx_device_mma *mma, double *sum);
    int (*mma_dual)(hx_device *dev, const hx_device_mma *mma, double *sum);
    int (*mma_end)(hx_device *dev, const hx_device_mma *mma);
    int (*mma_measure)(hx_device *dev, const hx_device_mma *mma, double *largest);
    int (*mma_settle)(hx_device *dev, const hx_device_mma *mma);
    /* Groups of linked elements. tie: dc = dv (sum of dc) / (sum of dv) over the group, so that all
     * its members have the same dc / dv, or 0 if no dv is positive. copy_largest: x = largest of
     * the group. */
    int (*link)(hx_device *dev, const hx_device_groups *groups, const double *d_dv, double *d_dc);
    int (*copy_largest)(hx_device *dev, const hx_device_groups *groups, double *d_x);
    /* Sweeps over the elements (sweep_law.h): y from x level by level, and the derivative a by y,
     * which becomes that by x. sweep_join: the smooth minimum of fields; sweep_share: a times its
     * derivative by one of them, not in place. */
    int (*sweep_forward)(hx_device *dev, const hx_device_sweep *sweep);
    int (*sweep_backward)(hx_device *dev, const hx_device_sweep *sweep, double *d_a);
    int (*sweep_join)(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                      double *d_y);
    int (*sweep_share)(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                       int which, const double *d_a, double *d_share);
    /* Cells of the elements that sums within the radius run over (bins.h); NULL: those of the
     * mesh. */
    int (*cone_cells)(hx_device *dev, const hx_problem *problem, double radius, int n_field,
                      hx_device_bins *cells);
    /* sum[e] = sum over i of max(0, radius - |x_e - x_i|) value[i] with centroids x, for n_field
     * fields, at most as many as the cells were made for. Weights are rounded if the cells say
     * `single`. May be in place, but no field's sum may overwrite another field's values. */
    int (*cone_sum)(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                    const double *const d_value[], double *const d_sum[]);
    /* largest error of single-precision weights, relative to the radius; 0: not rounded */
    double cone_rounding;
} hx_design_ops;

HX_C_END

#endif
