/* Operations computed from the coordinates of the elements, without stored Ke
 * (hx_device_ops.element), and loads by mass and by expansion (hx_device_ops.body, .expansion).
 * Sums are added in a fixed order. `d_` names device memory. */
#ifndef HX_ELEMENT_OPS_H
#define HX_ELEMENT_OPS_H

#include "device_mesh.h"

HX_C_BEGIN

typedef struct hx_body_field hx_body_field; /* problem.h */

/* All entries are required, and accept models with points unless the entry says otherwise. */
typedef struct hx_element_ops {
    /* d_diag[3 n_point] = diagonal of K(E). */
    int (*diagonal)(hx_device *dev, const hx_device_model *model, double *d_diag);
    /* d_energy[n_elem] = u_e' Ke u_e for unit modulus. */
    int (*energy)(hx_device *dev, const hx_device_model *model, const double *d_u,
                  double *d_energy);
    /* d_mutual[n_elem] = u_e' Ke v_e for unit modulus; not for models with points. */
    int (*mutual)(hx_device *dev, const hx_device_model *model, const double *d_u,
                  const double *d_v, double *d_mutual);
    /* Symmetric 3x3 blocks d_block[n_point][6] (block3.h), one per point. block_diagonal computes
     * those of K(E). block_fix replaces row and column of each dof[i] (3 node + component) by those
     * of the identity. block_add adds k[i] to the diagonal entry of each dof[i]. block_invert
     * replaces each block by its inverse, or by the identity if the block is not positive definite.
     * block_apply computes z = block r, not in place. */
    int (*block_diagonal)(hx_device *dev, const hx_device_model *model, double *d_block);
    int (*block_fix)(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block);
    int (*block_add)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                     double *d_block);
    int (*block_invert)(hx_device *dev, int64_t n_node, double *d_block);
    int (*block_apply)(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                       double *d_z);
} hx_element_ops;

/* Loads proportional to mass (body_force.h). All entries are required, also for models with
 * points. */
typedef struct hx_body_ops {
    /* f[n_point][3] = static + sum of m(rho) int N b dV. static = NULL stands for 0; static may be
     * f itself. */
    int (*force)(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                 const double *d_rho, const double *d_static, double *d_f);
    /* dc[n_elem] += factor m'(rho) int u . b dV. */
    int (*work)(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                double factor, const double *d_rho, const double *d_u, double *d_dc);
} hx_body_ops;

/* Strains of free thermal expansion. */
typedef struct hx_device_expansion {
    double uniform;         /* of every element, if d_strain is NULL */
    const double *d_strain; /* [n_elem] (borrowed) */
} hx_device_expansion;

static HX_HD double hx_device_strain(const hx_device_expansion *expansion, int64_t e)
{
    return expansion->d_strain ? expansion->d_strain[e] : expansion->uniform;
}

/* Loads by thermal expansion (expansion.h), not of splines. All entries are required. */
typedef struct hx_expansion_ops {
    /* f[n_point][3] = static + sum of E(rho) (3 lambda + 2 mu) strain int grad N dV, with the
     * model's modulus and lists of elements per node; static as above. Linear cells: the lists and
     * 256 bytes of coordinates per element, most of them in caches. */
    int (*force)(hx_device *dev, const hx_device_model *model, const hx_device_expansion *expansion,
                 const double *d_static, double *d_f);
    /* dc[n_elem] += factor E'(rho) (3 lambda + 2 mu) strain int div u dV, with E' = penalty (E(rho)
     * - least) / rho. */
    int (*work)(hx_device *dev, const hx_device_model *model, const hx_device_expansion *expansion,
                double factor, double least, double penalty, const double *d_rho, const double *d_u,
                double *d_dc);
} hx_expansion_ops;

HX_C_END

#endif
