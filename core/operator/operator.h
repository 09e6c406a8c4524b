/* The stiffness matrix K(E) on one device, computed by one operator kind (operator_kind.h). Springs
 * and convection terms (`films`) are added, rows of fixed degrees of freedom return 0, and vectors
 * are projected if there are rigid sets. PCG and the preconditioners use it through `linear`.
 *
 * "Hot" marks functions that run in every PCG iteration, "Cold" those that run at set-up. */
#ifndef HX_OPERATOR_H
#define HX_OPERATOR_H

#include "../base/memory.h"
#include "../linalg/linear.h"
#include "../problem/problem.h"
#include "conduction_ops.h"
#include "device_space.h"
#include "operator_kind.h"

HX_C_BEGIN

/* An operator must not be moved in memory, because its `linear` points to it. */
typedef struct hx_operator {
    hx_linear linear;                /* n = components of the problem * n_point */
    hx_linear exact_linear;          /* target of linear.exact, if there is one */
    hx_device *dev;                  /* (borrowed) */
    const hx_problem *problem;       /* (borrowed) */
    const hx_operator_kind *op_kind; /* (borrowed) */
    hx_layout layout;
    void *state; /* data of the operator kind (owned) */
    /* kind whose product is not rounded; NULL: the product of `op_kind` is not rounded, or there is
     * no such kind (borrowed) */
    const hx_operator_kind *exact;
    void *exact_state;          /* data of `exact`, once it is prepared (owned) */
    const hx_device_mesh *mesh; /* reference to the device mesh, which the filter shares */
    hx_device_space space;      /* points of a quadratic or spline space (owned) */
    hx_device_model model;      /* includes the modulus (owned) */
    /* materials of the elements, to which model.materials refers; NULL: one material (owned) */
    uint8_t *d_material;
    double *d_stiffness_factor, *d_mass_factor;
    int64_t n_fixed;
    int64_t *d_fixed; /* [n_fixed] fixed degrees of freedom, ascending (owned) */
    int64_t n_spring;
    int64_t *d_spring_dof; /* [n_spring] degrees of freedom with springs, ascending (owned) */
    double *d_spring;      /* [n_spring] stiffness added to the diagonal of K (owned) */
    hx_device_films films; /* convection terms of the problem (owned) */
    /* Springs at interface points, and film nodes there, come first in their lists, also in
     * ascending order. Both counts are 0 if products are not divided. */
    int64_t n_spring_interface, n_film_interface;
    int n_rigid; /* number of rigid sets; 0 if this operator is not the K of the problem */
    int32_t *d_rigid_node; /* nodes of the rigid sets; NULL: there are none (owned) */
    double *d_motion;      /* [6] scratch for the motion of a rigid set (owned) */
    double
        /* [linear.n] prescribed displacements, also of rigid sets, 0 elsewhere; NULL: all are 0
         * (owned) */
        *d_prescribed;
    hx_account account;  /* of device memory, including the shared mesh (device_mesh.h) */
    size_t device_bytes; /* sum of the account */
} hx_operator;

/* Adds the device bytes of an operator: the mesh (hx_mesh_account), the modulus, the supports, and
 * the data of the operator kind. O(n_elem). */
void hx_operator_account(hx_account *account, const hx_problem *problem,
                         const hx_operator_kind *op_kind, hx_layout layout);

/* Device bytes of an operator: mesh, modulus and data of the operator kind, without supports. */
size_t hx_operator_bytes(const hx_mesh *mesh, const hx_operator_kind *op_kind, hx_layout layout);

/* Takes a reference to the mesh on the device (uploading it if necessary) and sets up the operator
 * kind. `op_kind` must be the table for the problem's components (hx_operator_kind_of). The modulus
 * is undefined until it is set.
 *
 * HX_EENV if the free device memory does not suffice for the operator plus `extra_bytes`, which the
 * caller will allocate; the message contains both numbers, and nothing has been allocated.
 * HX_EINPUT if the operator kind does not support the layout or the problem's quadratic elements,
 * or if the device does not support heat conduction. */
int hx_operator_create(hx_operator *op, hx_device *dev, const hx_operator_kind *op_kind,
                       hx_layout layout, const hx_problem *problem, size_t extra_bytes);

/* Copies n_elem values from the host and calls hx_operator_update. Cold. */
int hx_operator_set_modulus(hx_operator *op, const double *modulus);

/* Must be called after a change of model.d_modulus and before the next product. The caller must
 * then set up everything that depends on the operator (hx_precond_setup). Once per design. */
int hx_operator_update(hx_operator *op);

/* y := P y, which restricts rigid sets to rigid-body motions (rigid_set.h); does nothing if there
 * are none. Hot. */
int hx_operator_project(const hx_operator *op, double *d_y);

/* y := 0 at fixed degrees of freedom, then P y: makes y a valid residual for PCG. */
int hx_operator_restrict(const hx_operator *op, double *d_y);

/* y = K x with 0 in rows of fixed degrees of freedom, projected; x must satisfy x = P x. Hot. */
int hx_operator_apply(const hx_operator *op, const double *d_x, double *d_y);

/* hx_operator_apply in single precision, without rigid sets. The kind must have apply_single.
 * Hot. */
int hx_operator_apply_single(const hx_operator *op, const float *d_x, float *d_y);

/* hx_operator_apply that also returns *d_sum = x'K x for x that is 0 at fixed degrees of freedom.
 * Available only if linear.apply_dot is set: the kind has apply_dot, no springs or films are added
 * afterwards, and products are never divided into parts. Hot. */
int hx_operator_apply_dot(const hx_operator *op, const double *d_x, double *d_y, double *d_sum);

/* y += (contribution of springs and films to K) x on all rows; x = NULL adds their diagonal.
 * Hot. */
int hx_operator_add_springs(const hx_operator *op, const double *d_x, double *d_y);

/* hx_operator_add_springs in single precision. Hot. */
int hx_operator_add_springs_single(const hx_operator *op, const float *d_x, float *d_y);

/* y = K x on all rows, including springs and films (for reactions). */
int hx_operator_apply_unmasked(const hx_operator *op, const double *d_x, double *d_y);

/* Prepares hx_operator_apply_exact. Does nothing if it is already prepared or if `exact` is NULL.
 * Cold. */
int hx_operator_prepare_exact(hx_operator *op);

/* y = K x on all rows, including springs and films. Uses `exact` if it is prepared; otherwise this
 * is hx_operator_apply_unmasked. */
int hx_operator_apply_exact(const hx_operator *op, const double *d_x, double *d_y);

/* d_diag[linear.n] = diagonal of K, 0 at fixed entries (hx_vector_ops.invert turns these into
 * 1). */
int hx_operator_diagonal(const hx_operator *op, double *d_diag);

/* d_block[n_point][6] = the 3x3 diagonal blocks of K (block3.h); rows and columns of fixed degrees
 * of freedom are those of the identity. Cold. */
int hx_operator_block_diagonal(const hx_operator *op, double *d_block);

/* d_energy[n_elem] = u_e' Ke u_e for unit modulus. */
int hx_operator_energy(const hx_operator *op, const double *d_u, double *d_energy);

/* d_mutual[n_elem] = u_e' Ke v_e for unit modulus, of a space of linear cells (model.points is
 * NULL). Relative error near rounding for any scales of u and v. */
int hx_operator_mutual(const hx_operator *op, const double *d_u, const double *d_v,
                       double *d_mutual);

void hx_operator_free(hx_operator *op);

HX_C_END

#endif
