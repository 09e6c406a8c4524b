/* The design's element fields on a device (hx_device_ops.design): n = n_elem doubles. Sums are
 * added in a fixed order. All entries but cone_cells are required. */
#ifndef HX_DESIGN_OPS_H
#define HX_DESIGN_OPS_H

#include "../device/device.h"
#include "../problem/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_device_cells hx_device_cells; /* cells.h */
typedef struct hx_device_oc hx_device_oc;       /* oc.h */
struct hx_oc_state;                             /* oc.h */
typedef struct hx_device_ties hx_device_ties;   /* ties.h */
typedef struct hx_projection hx_projection;     /* projection.h */

typedef struct hx_design_ops {
    /* E(rho) = least + (E - least) rho^p (simp.h) */
    int (*modulus)(hx_device *dev, int64_t n, double least, double young, double penalty,
                   const double *d_rho, double *d_modulus);
    /* dc = -p (E(rho) - least) / rho * energy */
    int (*sensitivity)(hx_device *dev, int64_t n, double least, double penalty,
                       const double *d_modulus, const double *d_rho, const double *d_energy,
                       double *d_dc);
    /* Sums of v rho, and of v rho (1 - rho) over the free elements: where passive is NaN or NULL.
     * Waits. */
    int (*measure)(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                   const double *d_passive, double *mass, double *grey);
    /* Sums of the positive dc and of dv, of the free elements. Waits. */
    int (*sum_positive)(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                        const double *d_passive, double sum[2]);
    /* Filtered -> physical densities (projection.h), in place or not: passive elements, where
     * d_passive is not NaN, have theirs. project_backward: a *= the derivative. zero_passive: a = 0
     * at passive elements. */
    int (*project)(hx_device *dev, int64_t n, const hx_projection *law, const double *d_passive,
                   const double *d_filtered, double *d_physical);
    int (*project_backward)(hx_device *dev, int64_t n, const hx_projection *law,
                            const double *d_passive, const double *d_filtered, double *d_a);
    int (*zero_passive)(hx_device *dev, int64_t n, const double *d_passive, double *d_a);
    /* Optimality criteria, see oc.h: t, its sums and the first trial scales; volumes at the trials
     * and the next ones (nothing once done); the proposal and its largest change. */
    int (*oc_begin)(hx_device *dev, const hx_device_oc *oc);
    int (*oc_pass)(hx_device *dev, const hx_device_oc *oc);
    int (*oc_end)(hx_device *dev, const hx_device_oc *oc);
    /* Where several processes have parts of the elements: each makes oc_begin or a pass with a
     * state of its own, beside the one of all, which then takes their sums, added up. */
    int (*oc_take)(hx_device *dev, int is_begin, const struct hx_oc_state *d_sums,
                   struct hx_oc_state *d_state);
    /* Groups of tied elements: dc = dv (sum of dc) / (sum of dv) over the group, so that all have
     * the same dc / dv, 0 where no dv is above 0; x = the largest of the group. */
    int (*tie)(hx_device *dev, const hx_device_ties *ties, const double *d_dv, double *d_dc);
    int (*copy_largest)(hx_device *dev, const hx_device_ties *ties, double *d_x);
    /* Cells of the elements that sums within the radius run over (cells.h); NULL: of the mesh. */
    int (*cone_cells)(hx_device *dev, const hx_problem *problem, double radius, int n_field,
                      hx_device_cells *cells);
    /* sum[e] = sum over i of max(0, radius - |x_e - x_i|) value[i], x the centroids, of n_field
     * fields, at most as many as the cells were made for, weights rounded where the cells say so.
     * In place or not: no field's sum is another's value. */
    int (*cone_sum)(hx_device *dev, const hx_device_cells *cells, double radius, int n_field,
                    const double *const d_value[], double *const d_sum[]);
    double cone_rounding; /* how far single weights may be off, of the radius; 0: as others */
} hx_design_ops;

#ifdef __cplusplus
}
#endif

#endif
