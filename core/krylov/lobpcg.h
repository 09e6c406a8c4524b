/* The lowest eigenvalues of K x = lambda M x: locally optimal block preconditioned conjugate
 * gradients (LOBPCG; Knyazev, SIAM J. Sci. Comput. 23, 2001), independent of any device: all work
 * goes through hx_block_ops, hx_vector_ops, the operators and the preconditioner.
 *
 * An iteration minimises the Rayleigh quotients over the span of the block X, the preconditioned
 * residuals W and the last directions P. Per vector it takes a product with K, one with M and one
 * application of the preconditioner; products of X and P follow from their combinations. X, W and P
 * are made orthogonal by Cholesky factors of scaled Gram matrices, from which dependent vectors are
 * left out, and P is made orthogonal to the new X in the space of coefficients (Hetmaniuk and
 * Lehoucq, J. Comput. Phys. 218, 2006; Duersch et al., SIAM J. Sci. Comput. 40, 2018). A vector
 * whose residual is small enough stays in X but gets no more W or P (soft locking, Knyazev et al.,
 * SIAM J. Sci. Comput. 29, 2007).
 *
 * Rigid motions of a free part, whose eigenvalues are 0, are given in advance (`deflate`) and kept
 * out of all vectors. */
#ifndef HX_LOBPCG_H
#define HX_LOBPCG_H

#include "../operator/mass.h"
#include "precond.h"

HX_C_BEGIN

/* maximum numbers of vectors in the block and of rigid motions */
enum { HX_LOBPCG_MOST = 32, HX_LOBPCG_MOTIONS = 6 };

typedef struct hx_lobpcg_params {
    int n_wanted; /* eigenpairs that must converge */
    int n_block;  /* vectors: n_wanted plus guard vectors; 0: hx_lobpcg_block(n_wanted) */
    /* |K x - lambda M x| <= tolerance lambda |M x|; the relative error of lambda is about its
     * square. A residual that is only rounding error of K x counts as small too. */
    double tolerance;
    int max_iterations;
} hx_lobpcg_params;

typedef struct hx_lobpcg_result {
    int n_converged; /* of the wanted ones, from the first on; all: n_wanted */
    int iterations;
    int n_product; /* products with K, as many with M and applications of M^-1 */
    double seconds;
    double value[HX_LOBPCG_MOST];    /* [n_block] eigenvalues, ascending */
    double residual[HX_LOBPCG_MOST]; /* [n_block] |K x - lambda M x| / (lambda |M x|) */
    /* [n_block] the part of `residual` that rounding of K x explains */
    double rounding[HX_LOBPCG_MOST];
} hx_lobpcg_result;

/* A block of vectors and its products. */
typedef struct hx_lobpcg_block {
    double *d_v[HX_LOBPCG_MOST], *d_kv[HX_LOBPCG_MOST], *d_mv[HX_LOBPCG_MOST]; /* [n] (owned) */
} hx_lobpcg_block;

typedef struct hx_lobpcg {
    hx_lobpcg_params params;
    hx_device *dev;     /* (borrowed) */
    const hx_linear *k; /* (borrowed, like the next two) */
    const hx_mass *mass;
    hx_precond *pc;
    int64_t n;
    hx_lobpcg_block x, w, p;
    double *d_diagonal, *d_scratch; /* [n] of K; (owned) */
    int n_motion;
    double *d_motion[HX_LOBPCG_MOTIONS], *d_mass_motion[HX_LOBPCG_MOTIONS]; /* [n] (owned) */
    int n_direction; /* vectors of p in use */
    int is_known;    /* 1: the Gram matrices of [X P] follow from the last combination */
    int has_start;   /* 1: x holds vectors to start from */
    double *work;    /* dense matrices on the host (owned) */
    double value[HX_LOBPCG_MOST], residual[HX_LOBPCG_MOST], rounding[HX_LOBPCG_MOST];
    uint8_t is_small[HX_LOBPCG_MOST]; /* 1: the residual is small enough */
    int n_product;
    /* Called after each iteration: iterations, and the largest residual of the wanted vectors.
     * NULL: none. */
    void (*watch)(void *context, int iterations, double residual);
    void *context; /* (borrowed) */
} hx_lobpcg;

/* Number of vectors for so many wanted ones: a third more, at least 2. */
int hx_lobpcg_block_size(int n_wanted);

/* Number of device vectors of n doubles that a solver holds. */
int hx_lobpcg_vectors(int n_block, int n_motion);

/* `pc` belongs to `k`, whose mass is `mass`; all must outlive the solver. HX_EINPUT: more vectors
 * than HX_LOBPCG_MOST or than there are free degrees of freedom. HX_ENOMEM, HX_EENV. */
int hx_lobpcg_create(hx_lobpcg *e, const hx_lobpcg_params *params, const hx_linear *k,
                     hx_precond *pc, const hx_mass *mass);

/* Keeps these motions, with K r = 0, out of all vectors. motion[n_motion]: host vectors of n
 * entries, independent. Called after `create`, or after a change of M with n_motion = -1, which
 * keeps the motions. */
int hx_lobpcg_deflate(hx_lobpcg *e, int n_motion, const double *const motion[]);

/* Solves, from the block of the last solve if there is one, otherwise from smooth fields that
 * depend on coordinates only. K, M and the preconditioner must be set up. If too few vectors
 * converge, the result shows it; that is no error. HX_ENUMERIC: values that are not finite, or no
 * independent vectors. Waits. */
int hx_lobpcg_solve(hx_lobpcg *e, hx_lobpcg_result *result);

/* Downloads vector[n] k of the block: x'M x = 1, and the entry of largest magnitude, the first of
 * those that agree to rounding, is positive. */
int hx_lobpcg_vector(const hx_lobpcg *e, int k, double *vector);

/* Accepts a zeroed struct. */
void hx_lobpcg_free(hx_lobpcg *e);

HX_C_END

#endif
