/* A device: memory, the few vector operations that PCG needs, and those of the design's element
 * fields. One const table per backend.
 *
 * Vectors have n = 3 * n_node doubles, or floats where the name ends in _single; they begin at a
 * multiple of 16 bytes. `d_` names memory of the device. Operations are queued in order; only
 * download, sync and what returns a result to the host wait. Scalars of PCG live on the device, so
 * an iteration never does. */
#ifndef HX_DEVICE_H
#define HX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_PCG_RUNNING = 0,
    HX_PCG_CONVERGED,
    HX_PCG_MAX_ITER,
    HX_PCG_INDEFINITE, /* p' K p <= 0 */
    HX_PCG_NAN
} hx_pcg_reason;

typedef enum {
    HX_PCG_RELATIVE, /* |r| <= tolerance * |f| */
    HX_PCG_ABSOLUTE  /* r' z <= tolerance (the paper's) */
} hx_pcg_criterion;

/* Scalars of one solve, in device memory. Once reason != HX_PCG_RUNNING every pcg_* operation
 * leaves all vectors as they are, so queued iterations past the end do no harm. */
typedef struct hx_pcg_state {
    double rz;    /* r' z */
    double rr;    /* r' r */
    double pq;    /* p' K p */
    double alpha; /* rz / pq */
    double beta;  /* rz / previous rz; 0: the next direction is z alone */
    double stop;  /* bound on rr (relative, squared) or on rz (absolute) */
    int32_t criterion;
    int32_t iterations, max_iterations;
    int32_t reason;
} hx_pcg_state;

/* The scalar steps of PCG, one formula for host and device: each takes a finished sum. */
static HX_HD void hx_pcg_state_test(hx_pcg_state *s)
{
    const double tested = s->criterion == HX_PCG_RELATIVE ? s->rr : s->rz;
    if (!(s->rr >= 0.0) || !(s->rz - s->rz == 0.0))
        s->reason = HX_PCG_NAN; /* NaN or infinite */
    else if (tested <= s->stop)
        s->reason = HX_PCG_CONVERGED;
    else if (s->iterations >= s->max_iterations)
        s->reason = HX_PCG_MAX_ITER;
}

/* A residual that was computed, not updated. beta stays: 0 from the host at the beginning, later
 * that of the direction, whose conjugacy the new residual does not change. */
static HX_HD void hx_pcg_state_start(hx_pcg_state *s, double rz, double rr)
{
    s->rz = rz;
    s->rr = rr;
    s->reason = HX_PCG_RUNNING;
    hx_pcg_state_test(s);
}

static HX_HD void hx_pcg_state_alpha(hx_pcg_state *s, double pq)
{
    s->pq = pq;
    s->alpha = s->rz / pq;
    if (!(pq - pq == 0.0))
        s->reason = HX_PCG_NAN;
    else if (!(pq > 0.0))
        s->reason = HX_PCG_INDEFINITE;
}

static HX_HD void hx_pcg_state_update(hx_pcg_state *s, double rr)
{
    s->rr = rr;
    s->iterations++;
}

static HX_HD void hx_pcg_state_beta(hx_pcg_state *s, double rz)
{
    s->beta = rz / s->rz;
    s->rz = rz;
    hx_pcg_state_test(s);
}

/* The flexible rule, for a preconditioner that is not the same linear map at every step (rounded
 * to single precision): beta = z'(r - r_old) / rz_old, where r - r_old = -alpha q (Notay, SIAM J.
 * Sci. Comput. 22, 2000). */
static HX_HD void hx_pcg_state_beta_flexible(hx_pcg_state *s, double rz, double zq)
{
    s->beta = -s->alpha * zq / s->rz;
    s->rz = rz;
    hx_pcg_state_test(s);
}

/* What kernels see of the mesh and material. */
typedef struct hx_device_model {
    int64_t n_node, n_elem;
    double lambda, mu;        /* for unit modulus */
    double *d_xyz;            /* [n_node][3] */
    int32_t *d_conn;          /* [n_elem][8] */
    int64_t *d_node_elem_ptr; /* [n_node + 1] */
    uint32_t *d_node_elem;    /* [8 n_elem], element * 8 + local node */
    double *d_modulus;        /* [n_elem] E * rho^p */
} hx_device_model;

typedef struct hx_device hx_device;
typedef struct hx_device_cells hx_device_cells; /* cells.h */
typedef struct hx_device_oc hx_device_oc;       /* oc.h */
typedef struct hx_device_ties hx_device_ties;   /* ties.h */
typedef struct hx_rigid_set hx_rigid_set;       /* problem.h */
typedef struct hx_body_field hx_body_field;     /* body_force.h */
typedef struct hx_projection hx_projection;     /* projection.h */

/* Slots of `mark`. */
enum { HX_N_MARK = 8 };

typedef struct hx_device_ops {
    const char *name, *help;
    /* Its product without a stored matrix, which has apply_single; NULL: it has none. */
    const struct hx_strategy *matrix_free;
    int look_every; /* PCG iterations worth queuing between looks at the state */
    /* 1 if it can run here; else 0 and why (one line). */
    int (*available)(char *why, size_t n_why);
    /* Does ahead what available and open would wait for (the start of a driver); any thread may
     * call it beside other work. Fails silently: open will say why. NULL: nothing to wait for. */
    void (*prepare)(void);
    int (*open)(hx_device *dev);
    void (*close)(hx_device *dev);
    /* Free and total bytes of its memory. */
    int (*memory)(hx_device *dev, size_t *n_free, size_t *n_total);

    int (*alloc)(hx_device *dev, size_t bytes, void *d_out);
    void (*release)(hx_device *dev, void *d_p);
    int (*upload)(hx_device *dev, void *d_to, const void *from, size_t bytes);
    int (*download)(hx_device *dev, void *to, const void *d_from, size_t bytes); /* waits */
    int (*copy)(hx_device *dev, void *d_to, const void *d_from, size_t bytes);
    int (*zero)(hx_device *dev, void *d_to, size_t bytes);
    int (*sync)(hx_device *dev);

    /* Time stamps in the queue: mark now, ask after a sync. */
    int (*mark)(hx_device *dev, int slot);
    int (*elapsed)(hx_device *dev, int from, int to, double *seconds);

    /* What is queued between record_begin and record_end is kept instead of run; replay queues it
     * at once, time stamps included. record_end also ends a recording that failed: HX_EDEVICE, and
     * nothing was queued. All NULL where queuing costs nothing. */
    int (*record_begin)(hx_device *dev);
    int (*record_end)(hx_device *dev, void **recording);
    int (*replay)(hx_device *dev, void *recording);
    void (*record_free)(hx_device *dev, void *recording);

    /* y[dof[i]] = 0 */
    int (*zero_entries)(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_y);
    int (*zero_entries_single)(hx_device *dev, int64_t n, const int64_t *d_dof, float *d_y);
    /* y[dof[i]] += k[i] x[dof[i]], x NULL for 1, no dof twice */
    int (*spring_add)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                      const double *d_x, double *d_y);
    int (*spring_add_single)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                             const float *d_x, float *d_y);
    /* Rigid sets (rigid_set.h), nodes d_node[first ..]. rigid_sum: force and moment about the
     * centre of y[n_node][3], in a fixed order. rigid_spread: y := the motion, on the set's nodes.
     * rigid_project: y := P y there, d_motion scratch. */
    int (*rigid_sum)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                     const double *d_xyz, const double *d_y, double d_sum[6]);
    int (*rigid_spread)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                        const double *d_xyz, const double d_motion[6], double *d_y);
    int (*rigid_project)(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, double *d_motion, double *d_y);
    /* c = a - b */
    int (*subtract)(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c);
    /* c = scale * (a - b), rounded once; b may be NULL for 0 */
    int (*subtract_single)(hx_device *dev, int64_t n, double scale, const double *d_a,
                           const double *d_b, float *d_c);
    /* y += scale * x, x = 0 */
    int (*flush_single)(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y);
    /* Waits. The order of the sum is fixed: the same bits every time. */
    int (*dot)(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result);
    /* d[i] = 1 / d[i]; entries that are not positive become 1. */
    int (*invert)(hx_device *dev, int64_t n, double *d_d);
    /* Symmetric 3x3 blocks d_block[n_node][6] (block3.h), one a node. block_fix: row and column of
     * each dof[i] (3 node + component) become those of the identity. block_add: k[i] is added to
     * the diagonal entry of each dof[i]. block_invert: each block becomes its inverse, one that is
     * not positive definite the identity. block_apply: z = block r, not in place. */
    int (*block_fix)(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block);
    int (*block_add)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                     double *d_block);
    int (*block_invert)(hx_device *dev, int64_t n_node, double *d_block);
    int (*block_apply)(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                       double *d_z);

    /* PCG, fused. d_m is the inverse diagonal of the preconditioner, applied on the fly (z is then
     * NULL), or NULL and z = M^-1 r comes from the preconditioner's own apply.
     *   start:      rz = r'z, rr = r'r, convergence test
     *   direction:  p = z + beta p
     *   alpha:      pq = p'q, alpha = rz / pq
     *   alpha_from: the same, p'q already summed
     *   update:     u += alpha p, r -= alpha q, rr = r'r, iterations++; with d_m also as `beta`
     *   beta:       beta = r'z / rz, rz = r'z, convergence test (only without d_m); with q the
     *               flexible rule
     * In single precision there is always d_m; sums and scalars are double. */
    int (*pcg_start)(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                     const double *d_r, hx_pcg_state *d_state);
    int (*pcg_direction)(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                         const double *d_r, double *d_p, hx_pcg_state *d_state);
    int (*pcg_alpha)(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                     hx_pcg_state *d_state);
    int (*pcg_alpha_from)(hx_device *dev, const double *d_sum, hx_pcg_state *d_state);
    int (*pcg_update)(hx_device *dev, int64_t n, const double *d_m, const double *d_p,
                      const double *d_q, double *d_u, double *d_r, hx_pcg_state *d_state);
    int (*pcg_beta)(hx_device *dev, int64_t n, const double *d_r, const double *d_z,
                    const double *d_q, hx_pcg_state *d_state);
    int (*pcg_start_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                            hx_pcg_state *d_state);
    int (*pcg_direction_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                                float *d_p, hx_pcg_state *d_state);
    int (*pcg_alpha_single)(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                            hx_pcg_state *d_state);
    int (*pcg_update_single)(hx_device *dev, int64_t n, const float *d_m, const float *d_p,
                             const float *d_q, float *d_u, float *d_r, hx_pcg_state *d_state);

    /* From coordinates, no stored Ke: d_diag[3 n_node] = diagonal of K(E), summed in a fixed order.
     */
    int (*diagonal)(hx_device *dev, const hx_device_model *model, double *d_diag);
    /* Likewise d_block[n_node][6] = the 3x3 diagonal blocks of K(E). */
    int (*block_diagonal)(hx_device *dev, const hx_device_model *model, double *d_block);
    /* d_energy[n_elem] = u_e' Ke u_e for unit modulus. */
    int (*element_energy)(hx_device *dev, const hx_device_model *model, const double *d_u,
                          double *d_energy);
    /* Loads by mass (body_force.h). f[n_node][3] = static + sum of m(rho) int N b dV, static NULL
     * for 0, or f itself; summed in a fixed order. dc[n_elem] += factor m'(rho) int u . b dV. */
    int (*body_force)(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                      const double *d_rho, const double *d_static, double *d_f);
    int (*body_work)(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                     double factor, const double *d_rho, const double *d_u, double *d_dc);
    /* Of the preconditioner `multigrid` (multigrid.h); NULL: not there. */
    const struct hx_multigrid_ops *multigrid;
    /* Of the filter `helmholtz` (helmholtz.h). */
    const struct hx_helmholtz_ops *helmholtz;

    /* Element fields: n = n_elem doubles. Sums in a fixed order; inputs and outputs of multiply,
     * divide and cone_sum may be the same field. */
    int (*multiply)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                    double *d_c); /* c = a b */
    int (*divide)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                  double *d_c); /* c = a / b */
    int (*axpy)(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y); /* y += a x */
    int (*sum)(hx_device *dev, int64_t n, const double *d_a, double *result);         /* waits */
    /* E rho^p */
    int (*modulus)(hx_device *dev, int64_t n, double young, double penalty, const double *d_rho,
                   double *d_modulus);
    /* dc = -p E(rho) / rho * energy */
    int (*sensitivity)(hx_device *dev, int64_t n, double penalty, const double *d_modulus,
                       const double *d_rho, const double *d_energy, double *d_dc);
    /* Sums of v rho, and of v rho (1 - rho) over the free elements: where passive is NaN or NULL.
     * Waits. */
    int (*measure)(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                   const double *d_passive, double *mass, double *grey);
    /* Sum of the positive dc over that of dv, of the free elements. Waits. */
    int (*mean_positive)(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                         const double *d_passive, double *mean);
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
    /* Groups of tied elements: dc = dv (sum of dc) / (sum of dv) over the group, so that all have
     * the same dc / dv, 0 where no dv is above 0; x = the largest of the group. */
    int (*tie)(hx_device *dev, const hx_device_ties *ties, const double *d_dv, double *d_dc);
    int (*copy_largest)(hx_device *dev, const hx_device_ties *ties, double *d_x);
    /* sum[e] = sum over i of max(0, radius - |x_e - x_i|) value[i], x the centroids. */
    int (*cone_sum)(hx_device *dev, const hx_device_cells *cells, double radius,
                    const double *d_value, double *d_sum);

    /* Copy bandwidth in bytes/s, reads plus writes counted, from a large warm copy. Cold. */
    int (*copy_bandwidth)(hx_device *dev, double *bytes_per_second);
} hx_device_ops;

struct hx_device {
    const hx_device_ops *ops;
    void *impl;            /* (owned by the backend) */
    char description[160]; /* "NVIDIA H200, 141 GB" or "OpenMP, 2 threads" */
};

/* Opens a backend by table. HX_EENV says why it cannot run here. */
int hx_device_open(hx_device *dev, const hx_device_ops *ops);
/* Allocates *(void **)d_out on the device and fills it from the host; the caller releases it, also
 * after a failure. */
int hx_device_put(hx_device *dev, void *d_out, const void *from, size_t bytes);
/* Accepts a zeroed struct. */
void hx_device_close(hx_device *dev);

#ifdef __cplusplus
}
#endif

#endif
