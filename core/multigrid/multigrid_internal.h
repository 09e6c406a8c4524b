/* Internals of the preconditioner `multigrid`, shared by its files. */
#ifndef HX_MULTIGRID_INTERNAL_H
#define HX_MULTIGRID_INTERNAL_H

#include "../krylov/precond.h"
#include "../operator/assembled.h"
#include "../operator/conduction_ops.h"
#include "mg_params.h"
#include "multigrid.h"

/* Rigid sets. Their nodes are held in the multigrid cycle M0, and a direct solve for the motions c
 * of all sets is added (two subspaces, additive):
 *
 *     M^-1 = M0^-1 + R E^-1 R',   R = Q - P0 Y,   E = R'K R.
 *
 * Q contains the motions on the sets and 0 elsewhere, P0 is the prolongation from the first coarse
 * grid, and Y ~ A^-1 P0'K Q. R is therefore nearly orthogonal to all else in the energy inner
 * product, like the elastic extensions of the motions. Each set has 6 columns on the coarse grid,
 * computed once per design. */
typedef struct hx_mg_rigid {
    int n_column;        /* 6 per set; 0: there are no rigid sets */
    int64_t n_dof;       /* number of degrees of freedom of their nodes */
    int64_t *d_dof;      /* [n_dof] */
    double *d_w;         /* [n_dof of the mesh] */
    double *d_sum, *d_c; /* [n_column] R'r; E^-1 R'r */
    double *d_inverse;   /* [n_column][n_column] of E */
    float *d_y, *d_b;    /* [n_column][6 n], [6 n] on the first coarse grid */
    double *matrix; /* [4 n_column][n_column] on the host: E, its inverse, Q'K Q, and one column */
} hx_mg_rigid;

/* Floating components of the design (deflation.h). The multigrid cycle M0 is combined with a
 * deflation space Z of their rigid-body motions, which is solved for before and after the cycle
 * (multiplicative; balancing, Mandel, Commun. Numer. Methods Eng. 9, 1993),
 *
 *     M^-1 = Q + (I - Q K) M0^-1 (I - K Q),   Q = Z (Z'K Z)^-1 Z'.
 *
 * M is symmetric and positive definite if M0 is. K Z is 0 inside the components and otherwise
 * computed exactly, so that the small forces that move a component are not lost in the rounding of
 * a single precision product. */
enum {
    HX_MG_DEFLATION_MOTION,  /* Z */
    HX_MG_DEFLATION_SUMS,    /* Z' */
    HX_MG_DEFLATION_FORCES,  /* K Z */
    HX_MG_DEFLATION_WORK,    /* (K Z)' */
    HX_MG_DEFLATION_INVERSE, /* (Z'K Z)^-1 */
    HX_MG_DEFLATION_ROWS
};

/* Written to checkpoints as it is. */
typedef struct hx_mg_deflation_state {
    /* 1: the last design had floating components, so this design is searched for them */
    int32_t is_on;
    /* number of designs that are not searched because an earlier search found none */
    int32_t pause;
    int32_t last; /* length of the last pause */
} hx_mg_deflation_state;

typedef struct hx_mg_deflation {
    hx_mg_deflation_state state;
    int n_column; /* 0: no floating components on any rank */
    hx_mg_rows rows[HX_MG_DEFLATION_ROWS];
    double *d_sum, *d_c; /* [n_column] sums over the points of this rank */
    double *d_all;       /* [n_column] sums over all ranks */
    double *d_r; /* [n_dof] right-hand side of the multigrid cycle; NULL until it is needed */
} hx_mg_deflation;

/* Number of the mesh as a level; that of the first coarse grid is 0. */
enum { HX_MG_MESH = -1 };

typedef struct hx_multigrid {
    hx_device *dev;
    const hx_mg_params *params;  /* of the problem (borrowed) */
    const hx_multigrid_ops *ops; /* for the problem's physics (borrowed) */
    int dof;                     /* unknowns per coarse node: HX_MG_DOF, or 1 for heat conduction */
    const hx_operator_kind *op_kind; /* operator kind of the single precision products */
    void *state, *own_state; /* own_state: used if the operator has no such product (owned) */
    /* For quadratic elements: the rows of K, which replace products and element matrices
     * (borrowed); NULL: linear elements. */
    const hx_assembled *rows;
    double *d_work; /* [2 n_dof] work space for products with the rows */
    /* blocks of a spline's control points, if the device has a block smoother */
    hx_mg_blocks blocks;
    /* lines of a mesh of stretched elements, if the device has a line smoother */
    hx_mg_lines lines;
    double *d_none; /* [n_dof] zeros, with blocks or lines; NULL: point Jacobi smoother */
    const hx_mg_smoother_ops *smoother; /* on the mesh: the diagonal, blocks or lines */
    hx_mg_splitting splitting;          /* for it */
    hx_mg_mesh mesh;
    double across;           /* mean number of elements across a cell of the first coarse grid */
    hx_mg_chebyshev on_mesh; /* smoother on a mesh of linear elements */
    hx_mg_chebyshev on_rows; /* smoother if there are rows */
    int n_level;
    hx_mg_level level[HX_COARSE_LEVELS];
    int64_t n_spring_block;
    int64_t *d_spring_at;  /* [n_spring_block] as in coarse_springs.h */
    float *d_spring_block; /* [n_spring_block][dof][dof] */
    hx_mg_direct direct;   /* direct solve on the last level */
    int is_begun; /* 1: the inverse is being computed, concurrently with other work on the device */
    hx_mg_fused fused;
    /* fraction of the diagonal that is added to the last matrix; increased if rounding noise
     * exceeds it */
    double added;
    float *d_m, *d_x, *d_t, *d_v, *d_d; /* [n_dof] on the mesh; d_d only if the degree is above 1 */
    hx_mg_smoother *d_smoother;
    hx_mg_rigid rigid;
    hx_mg_deflation deflation;
    /* [HX_COARSE_LEVELS + 1] lower bounds of the estimated eigenvalues, the mesh first */
    double *d_least;
    int n_setup;
    /* 1: the stored moduli come from a checkpoint, or the stored blocks use other mean strains */
    int is_restored;
    int is_hard;    /* 1: a solve took so long that cell blocks are computed exactly from now on */
    int has_looked; /* 1: the memory for cell blocks has been checked */
} hx_multigrid;

/* The tables of a device for the physics of a problem; NULL: it has none. */
static inline const hx_multigrid_ops *hx_mg_ops_of(const hx_problem *problem,
                                                   const hx_device_ops *device)
{
    if (!hx_problem_is_heat(problem)) return device->multigrid;
    return device->conduction ? device->conduction->multigrid : NULL;
}

/* multigrid_cycle.c. The smoother on the mesh, for `across` elements across a cell of the first
 * coarse grid. */
hx_mg_chebyshev hx_mg_smoothing_for(const hx_mg_smoothing_params *s, double across);
/* The smoother on a mesh with line smoothing. Lines damp errors along short edges regardless of the
 * number of elements there, so across_next is the number in the next direction. is_narrow: cells
 * have few elements, on a device where coarse grids are cheap. */
hx_mg_chebyshev hx_mg_smoothing_lines(const hx_mg_smoothing_params *s, double across_next,
                                      int is_narrow);
/* The smoother with rows, for quadratic elements (degree 0) or splines of the given degree. */
hx_mg_chebyshev hx_mg_smoothing_rows(const hx_mg_smoothing_params *s, int degree);
/* The smoother of level l. On the mesh the degree is always above 1. */
hx_mg_smoothing hx_mg_smoothing_of(const hx_multigrid *mg, int l);
/* y = K x on the mesh, including springs, with 0 at supports. */
int hx_mg_product(const hx_multigrid *mg, const hx_operator *op, const float *d_x, float *d_y);
/* Estimates the largest eigenvalues on all levels for a new design: starting from random vectors
 * the first time, later from the vectors of the previous design. */
int hx_mg_estimate(hx_multigrid *mg, const hx_operator *op, int is_first);
/* Estimates the eigenvalues from random vectors and updates the smoothers whose interval they
 * exceed. Returns 1 if there is any. */
int hx_mg_refresh(hx_multigrid *mg, const hx_operator *op);
/* One multigrid cycle from level l down. On a coarse grid: solves approximately for the grid's
 * right-hand side; d_r and d_z are not used. On the mesh: z = M^-1 r, with deflation and without
 * rigid sets; if d_z is NULL, the result is left in d_x. *d_solution points to the level's newest
 * iterate, in single precision. */
int hx_mg_cycle(hx_multigrid *mg, const hx_operator *op, int l, const double *d_r, double *d_z,
                float **d_solution);

/* multigrid_restore.c. 1 if coarse matrices are corrected such that rigid motions cause no forces;
 * needed if further levels follow the first, where such forces have more weight. */
int hx_mg_restores(const hx_multigrid *mg);
/* held[n_point]: HX_FIX_* flags of supports, and all three at nodes of rigid sets. */
void hx_mg_flag_held(const hx_problem *problem, size_t n_point, uint8_t *held);
/* Corrects coarse grid l of a new design, after the levels above: forces by rigid motions that are
 * mere rounding become 0 at nodes where nothing is held. */
int hx_mg_restore(hx_multigrid *mg, const hx_operator *op, int l);

/* multigrid_direct.c. Chooses the level that is solved directly and becomes the last: on a device
 * with factors, the first whose factorization costs little compared with a solve per design; on a
 * device that inverts, the first with a few hundred nodes; otherwise the coarsest. */
int hx_mg_direct_choose(hx_multigrid *mg, const hx_coarse *coarse, int64_t n_elem, int *n_level);
/* Initial fraction of the diagonal that is added. It is larger with more levels, because the
 * rounding noise of (nearly) dependent modes grows from each level to the next. */
double hx_mg_direct_added(const hx_multigrid *mg);
/* Bytes of the factors, or of the inverse on the device, estimated from the number of nodes of the
 * first coarse grid. */
double hx_mg_direct_bytes(const hx_multigrid_ops *ops, const hx_mg_params *params, int dof,
                          double n_node, int64_t n_elem);
/* Computes the factors or the inverse of a new design's last matrix. A device that inverts starts
 * in hx_mg_direct_begin, concurrently with work that does not touch the last level, and finishes in
 * hx_mg_direct_wait, which must precede any solve on the last level and does nothing if no
 * inversion is under way. A device that factorizes does so in hx_mg_direct_setup. */
int hx_mg_direct_begin(hx_multigrid *mg);
int hx_mg_direct_setup(hx_multigrid *mg);
int hx_mg_direct_wait(hx_multigrid *mg);
void hx_mg_direct_free(hx_multigrid *mg);

/* multigrid_blocks.c. Block smoother for splines, which couple neighbouring control points almost
 * as strongly as a point with itself: blocks of several points reduce the iterations to between a
 * third and a half. */
int hx_mg_blocks_create(hx_multigrid *mg, const hx_operator *op);
/* Device bytes of the blocks of a problem. */
double hx_mg_blocks_bytes(const hx_problem *problem, const hx_device_ops *device);
void hx_mg_blocks_free(hx_multigrid *mg);

/* multigrid_lines.c. Lines of nodes for line smoothing if the mean element is stretched; otherwise
 * none. Only for hexahedra with 8 nodes; the decision is the same on all subdomains. */
int hx_mg_needs_lines(const hx_problem *problem, const hx_device_ops *device);
int hx_mg_lines_create(hx_multigrid *mg, const hx_operator *op);
/* Factorizes the lines of a new design. */
int hx_mg_lines_setup(hx_multigrid *mg, const hx_operator *op);
/* Device bytes of the lines of a problem. */
double hx_mg_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                         const hx_operator_kind *op_kind);
void hx_mg_lines_free(hx_multigrid *mg);

/* multigrid_level_lines.c. Lines of coarse nodes if the mesh has lines; otherwise none. On a
 * distributed level each rank smooths lines of the nodes it owns, cut where another rank owns the
 * next node. */
int hx_mg_level_lines_create(hx_multigrid *mg, const hx_coarse_level *from, hx_mg_level *to);
/* Device bytes, for n_node nodes of all levels together. */
double hx_mg_level_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                               double n_node);
void hx_mg_level_lines_free(hx_device *dev, hx_mg_level_lines *lines);

/* multigrid_fused.c. The cycle over the last coarse grids in one kernel launch (fused coarse
 * cycle), if the device supports it and has room; hx_mg_cycle then uses it. All levels must exist,
 * but their values are not needed. */
int hx_mg_fused_create(hx_multigrid *mg, const hx_coarse *coarse);
/* Device bytes, for n_node nodes of all levels together. */
double hx_mg_fused_bytes(const hx_multigrid_ops *ops, double n_node);
void hx_mg_fused_free(hx_multigrid *mg);

/* multigrid_rigid.c. These functions do nothing without rigid sets. The rigid sets are those of the
 * operator. */
int hx_mg_rigid_create(hx_multigrid *mg, const hx_operator *op);
/* Computes Y, E and its inverse for a new design, after the coarse grids are set up. */
int hx_mg_rigid_setup(hx_multigrid *mg, const hx_operator *op);
/* z += R E^-1 R'r. */
int hx_mg_rigid_add(const hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z);
void hx_mg_rigid_free(hx_multigrid *mg);

/* multigrid_deflation.c. For a new design, after the coarse grids are set up: searches for floating
 * components if the previous design had any. *changed: 1 if deflation is used now or was used
 * before, so that recordings of the cycle are invalid. */
int hx_mg_deflation_setup(hx_multigrid *mg, const hx_operator *op, int *changed);
/* Searches for floating components when a solve takes long. Returns 1 if there are any. */
int hx_mg_enable_deflation(hx_multigrid *mg, const hx_operator *op);
/* Before the cycle: *d_r := r - K Q r in a vector of its own. */
int hx_mg_deflate_residual(hx_multigrid *mg, const hx_operator *op, const double **d_r);
/* After it: z += Q (r - K z), with z in d_z or, if that is NULL, in d_x. */
int hx_mg_deflate_solution(hx_multigrid *mg, double *d_z);
int hx_mg_deflation_snapshot(hx_multigrid *mg, hx_snapshot *image);
void hx_mg_deflation_reset(hx_multigrid *mg);
void hx_mg_deflation_free(hx_multigrid *mg);

/* --- cells of the first coarse grid and memory (multigrid_bytes.c) --- */

/* Highest degree of a spline; 0 for a mesh. */
int hx_mg_degree(const hx_problem *problem);

/* 1 if cells of few elements are used; for linear elements in elasticity. */
int hx_mg_is_narrow(const hx_problem *problem, const hx_device_ops *device);

/* Number of elements across a cell of the first coarse grid. */
double hx_mg_coarsening(const hx_problem *problem, const hx_device_ops *device);

/* `bytes` of the preconditioner (precond.h). */
size_t hx_mg_bytes(const hx_problem *problem, const hx_device_ops *device,
                   const hx_operator_kind *op_kind);

#endif
