/* K(E) on one device seen through one strategy, with springs and films added and the supports
 * masked: rows of fixed degrees of freedom give 0; and projected where sets are rigid. `linear` is
 * what PCG and the preconditioners see of it. */
#ifndef HX_OPERATOR_H
#define HX_OPERATOR_H

#include "../base/memory.h"
#include "../problem/problem.h"
#include "conduction_ops.h"
#include "device_space.h"
#include "linear.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its `linear` points at it: it must not move. */
typedef struct hx_operator {
    hx_linear linear;            /* n = components of the problem * n_point */
    hx_linear exact_linear;      /* linear.exact, where there is one */
    hx_device *dev;              /* (borrowed) */
    const hx_problem *problem;   /* (borrowed) */
    const hx_strategy *strategy; /* (borrowed) */
    hx_layout layout;
    void *state;                /* of the strategy (owned) */
    const hx_strategy *exact;   /* whose product is not rounded; NULL: that of `strategy` is not,
                                   or none (borrowed) */
    void *exact_state;          /* of it, once prepared (owned) */
    const hx_device_mesh *mesh; /* held: shared with the filter */
    hx_device_space space;      /* of quadratic elements (owned) */
    hx_device_model model;      /* modulus (owned) */
    int64_t n_fixed;
    int64_t *d_fixed; /* [n_fixed] fixed degrees of freedom, ascending (owned) */
    int64_t n_spring;
    int64_t *d_spring_dof; /* [n_spring] of the problem, ascending (owned) */
    double *d_spring;      /* [n_spring] stiffness on the diagonal of K (owned) */
    hx_device_films films; /* of the problem (owned) */
    /* The first springs, nodes of films: at points in common, ascending too; 0 where products are
     * whole. */
    int64_t n_spring_common, n_film_common;
    int n_rigid;           /* of the problem; 0 where the problem is another one than K's */
    int32_t *d_rigid_node; /* of the problem; NULL: no rigid sets (owned) */
    double *d_motion;      /* [6] of a rigid set, scratch (owned) */
    double
        *d_prescribed;   /* [linear.n] prescribed displacements, 0 elsewhere; NULL: all 0 (owned) */
    hx_account account;  /* of device memory, the shared mesh (device_mesh.h) among it */
    size_t device_bytes; /* its sum */
} hx_operator;

/* Adds the device bytes of an operator: those of the mesh (hx_mesh_account), modulus, supports, and
 * what the strategy stores. O(n_elem). */
void hx_operator_account(hx_account *account, const hx_problem *problem,
                         const hx_strategy *strategy, hx_layout layout);

/* Device bytes of an operator (mesh, modulus and the strategy's), supports left out. */
size_t hx_operator_bytes(const hx_mesh *mesh, const hx_strategy *strategy, hx_layout layout);

/* Takes the mesh (uploaded, unless it is on the device already) and sets the strategy up. The
 * modulus is undefined until set. HX_EENV before anything is allocated when the device has too
 * little memory free for it plus `extra_bytes` (what the caller is going to allocate besides), with
 * both numbers. HX_EINPUT: the strategy does not know the layout, or not the problem's quadratic
 * elements; of heat, the device has none. `strategy` is that of the problem's
 * components (hx_strategy_of). */
int hx_operator_create(hx_operator *op, hx_device *dev, const hx_strategy *strategy,
                       hx_layout layout, const hx_problem *problem, size_t extra_bytes);

/* Host -> device, n_elem doubles, and hx_operator_update. Cold. */
int hx_operator_set_modulus(hx_operator *op, const double *modulus);

/* model.d_modulus has changed: whoever writes it calls this before the next product. What stands on
 * the operator (hx_precond_setup) is the caller's to set up again. Once a design. */
int hx_operator_update(hx_operator *op);

/* y := P y, rigid motions on rigid sets (rigid_set.h); nothing without them. Hot. */
int hx_operator_project(const hx_operator *op, double *d_y);

/* y := 0 on fixed degrees of freedom, and projected: a residual as PCG needs it. */
int hx_operator_restrict(const hx_operator *op, double *d_y);

/* y = K x, rows of fixed degrees of freedom 0, projected; x = P x. Hot. */
int hx_operator_apply(const hx_operator *op, const double *d_x, double *d_y);

/* The same in single precision, rigid sets left out; the strategy must have apply_single. Hot. */
int hx_operator_apply_single(const hx_operator *op, const float *d_x, float *d_y);

/* The same with *d_sum = x'K x, x being 0 at fixed degrees of freedom. Only where linear.apply_dot
 * is given: the strategy has apply_dot, no springs or films come after it, and products never run
 * in parts. Hot. */
int hx_operator_apply_dot(const hx_operator *op, const double *d_x, double *d_y, double *d_sum);

/* y += the share of springs and films in K x on all rows; x = NULL: in K's diagonal. Hot. */
int hx_operator_add_springs(const hx_operator *op, const double *d_x, double *d_y);

/* The same of K x in single precision. Hot. */
int hx_operator_add_springs_single(const hx_operator *op, const float *d_x, float *d_y);

/* y = K x on all rows, springs and films included (reactions). */
int hx_operator_apply_unmasked(const hx_operator *op, const double *d_x, double *d_y);

/* What hx_operator_apply_exact needs; nothing where it is there or `exact` is NULL. Cold. */
int hx_operator_prepare_exact(hx_operator *op);

/* y = K x on all rows, springs and films included, of `exact` if that is prepared, else as
 * hx_operator_apply_unmasked. */
int hx_operator_apply_exact(const hx_operator *op, const double *d_x, double *d_y);

/* d_diag[linear.n] = diagonal of K; fixed entries are 1 after hx_vector_ops.invert. */
int hx_operator_diagonal(const hx_operator *op, double *d_diag);

/* d_block[n_point][6] = the 3x3 diagonal blocks of K (block3.h), rows and columns of fixed degrees
 * of freedom those of the identity. Cold. */
int hx_operator_block_diagonal(const hx_operator *op, double *d_block);

/* d_energy[n_elem] = u_e' Ke u_e for unit modulus. */
int hx_operator_energy(const hx_operator *op, const double *d_u, double *d_energy);

void hx_operator_free(hx_operator *op);

#ifdef __cplusplus
}
#endif

#endif
