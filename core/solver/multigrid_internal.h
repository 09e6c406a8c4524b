/* Inside of the preconditioner multigrid: what its files share. */
#ifndef HX_MULTIGRID_INTERNAL_H
#define HX_MULTIGRID_INTERNAL_H

#include "assembled.h"
#include "multigrid.h"
#include "precond.h"

/* Steps of a smoother, the part of the spectrum it is for, and how often the next level is visited
 * (with a smoothing in between). */
typedef struct hx_mg_smoothing {
    int degree;
    double ratio;
    int visits;    /* of the level below */
    double weight; /* of what it says; doc/notebook/2026-11-28-overcorrection.md */
} hx_mg_smoothing;

/* Rigid sets: their nodes are held in the V-cycle M0, and a direct solve for the motions c of all
 * sets is added (two subspaces, additive):
 *
 *     M^-1 = M0^-1 + R E^-1 R',   R = Q - P0 Y,   E = R'K R,
 *
 * Q the motions on the sets and 0 elsewhere, P0 from the first lattice, Y ~ A^-1 P0'K Q, so that R
 * is nearly orthogonal to the rest in the energy product, as the motions continued elastically are.
 * 6 columns a set on the lattice, found anew for each design. */
typedef struct hx_mg_rigid {
    int n_column;        /* 6 a set; 0: no rigid sets */
    int64_t n_dof;       /* of their nodes */
    int64_t *d_dof;      /* [n_dof] */
    double *d_w;         /* [n_dof of the mesh] */
    double *d_sum, *d_c; /* [n_column] R'r; E^-1 R'r */
    double *d_inverse;   /* [n_column][n_column] of E */
    float *d_y, *d_b;    /* [n_column][6 n], [6 n] of the first lattice */
    double *matrix;      /* [4 n_column][n_column] on the host: E, its inverse, Q'K Q, a column */
} hx_mg_rigid;

/* Loose parts of the design (loose.h): their motions Z are solved for before and after the V-cycle
 * M0, which sees what these leave (multiplicative; balancing, Mandel, Commun. Numer. Methods Eng.
 * 9, 1993),
 *
 *     M^-1 = Q + (I - Q K) M0^-1 (I - K Q),   Q = Z (Z'K Z)^-1 Z',
 *
 * symmetric and positive definite as M0 is. K Z is 0 inside of parts and exact, so that what makes
 * a part move is not lost in the noise of a product in single precision. */
enum {
    HX_MG_LOOSE_MOTION,  /* Z */
    HX_MG_LOOSE_SUMS,    /* Z' */
    HX_MG_LOOSE_FORCES,  /* K Z */
    HX_MG_LOOSE_WORK,    /* (K Z)' */
    HX_MG_LOOSE_INVERSE, /* (Z'K Z)^-1 */
    HX_MG_LOOSE_ROWS
};

/* Goes into the checkpoint as it is. */
typedef struct hx_mg_loose_state {
    int32_t is_on; /* the last design had loose parts: those of this one are looked for */
    int32_t pause; /* so many designs are not looked at, since one had none */
    int32_t last;  /* the last pause */
} hx_mg_loose_state;

typedef struct hx_mg_loose {
    hx_mg_loose_state state;
    int n_column; /* 0: no loose parts, in any process */
    hx_mg_rows rows[HX_MG_LOOSE_ROWS];
    double *d_sum, *d_c; /* [n_column] sums over own points */
    double *d_all;       /* [n_column] over those of all processes */
    double *d_r;         /* [n_dof] what the V-cycle sees; NULL until needed */
} hx_mg_loose;

typedef struct hx_multigrid {
    hx_device *dev;
    const hx_multigrid_ops *ops; /* = &table */
    hx_multigrid_ops table;
    int dof;                     /* of a lattice's node: HX_MG_DOF, or 1 of heat */
    const hx_strategy *strategy; /* of the products in single precision */
    void *state, *own_state;     /* own_state: where the operator has no such product (owned) */
    /* Of quadratic elements: the rows of K in place of a product and element matrices (borrowed);
     * NULL: linear. */
    const hx_assembled *rows;
    double *d_work;      /* [2 n_dof] of the rows' product */
    hx_mg_blocks blocks; /* of a spline's control points, on a device that smoothes by them */
    hx_mg_lines lines;   /* of a mesh of stretched elements, likewise */
    double *d_none;      /* [n_dof] zeros, with blocks or lines; NULL: the diagonal smoothes */
    hx_mg_mesh mesh;
    hx_mg_smoothing on_mesh; /* of linear elements */
    hx_mg_smoothing on_rows; /* where there are rows */
    int n_level;
    hx_mg_level level[HX_LATTICE_LEVELS];
    int64_t n_spring_block;
    int64_t *d_spring_at;  /* [n_spring_block], see lattice_springs.h */
    float *d_spring_block; /* [n_spring_block][dof][dof] */
    hx_mg_direct
        direct;       /* of the last level's matrix, where the device solves with factors; else: */
    float *d_inverse; /* of that matrix */
    double *d_sweep;  /* on the way to it */
    int is_begun;     /* it is on its way, beside what the device does until it is asked for */
    hx_mg_resident resident;
    double added; /* share of its diagonal that is added, raised where noise is above it */
    float *d_m, *d_x, *d_t, *d_v, *d_d; /* [n_dof] on the mesh; d only with more than one step */
    hx_mg_smoother *d_smoother;
    hx_mg_rigid rigid;
    hx_mg_loose loose;
    double *d_least; /* [HX_LATTICE_LEVELS + 1] what eigenvalues are at least, of the mesh first */
    int n_setup;
    int is_restored; /* the moduli kept come from a checkpoint, or parts are of other strains */
    int is_hard;     /* a solve took so long that cells' parts are to be exact */
    int has_looked;  /* whether cells' parts have room */
} hx_multigrid;

/* multigrid_cycle.c. On a mesh with so many elements across a cell of the first lattice. */
hx_mg_smoothing hx_mg_smoothing_for(double across);
/* With lines, which smooth along short edges whatever their number: across in the next direction.
 * is_narrow: cells are of few elements, on a device to which lattices cost little. */
hx_mg_smoothing hx_mg_smoothing_lines(double across_next, int is_narrow);
/* From rows: of quadratic elements (degree 0), or of splines of that degree. */
hx_mg_smoothing hx_mg_smoothing_rows(int degree);
/* Of lattice l, or of the mesh (-1): its degree is above 1 there. */
hx_mg_smoothing hx_mg_smoothing_of(const hx_multigrid *mg, int l);
/* y = K x on the mesh, springs included, 0 at supports. */
int hx_mg_product(const hx_multigrid *mg, const hx_operator *op, const float *d_x, float *d_y);
/* The largest eigenvalues on all levels: of a new design, from noise the first time and from the
 * last design's vectors later. */
int hx_mg_estimate(hx_multigrid *mg, const hx_operator *op, int is_first);
/* Eigenvalues from noise; a smoother whose interval they leave gets a new one: 1 if one has. */
int hx_mg_revise(hx_multigrid *mg, const hx_operator *op);
/* Solves lattice l for its right-hand side, roughly; *d_solution is one of its iterates. After
 * hx_mg_direct_wait. */
int hx_mg_cycle(const hx_multigrid *mg, int l, float **d_solution);
/* z = M0^-1 r: a V-cycle from the mesh down. */
int hx_mg_apply(hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z);

/* multigrid_restore.c. Whether lattices' rows are kept from making forces of rigid motions: where
 * lattices follow the first, in which such forces weigh more. */
int hx_mg_restores(const hx_multigrid *mg);
/* held[n_point]: HX_FIX_* of supports, and of all three where a rigid set is. */
void hx_mg_flag_held(const hx_problem *problem, size_t n_point, uint8_t *held);
/* Of a new design's lattice l, those above done: rounding becomes 0 where nothing is held. */
int hx_mg_restore(hx_multigrid *mg, const hx_operator *op, int l);

/* multigrid_direct.c. The lattice that is solved directly becomes the last: on a device with
 * factors the first one whose factors cost little beside a design's solve, on one that inverts the
 * first of a few hundred nodes, or else the coarsest. */
int hx_mg_direct_choose(hx_multigrid *mg, const hx_lattice *lattice, int64_t n_elem, int *n_level);
/* Share of the diagonal that is added at first: noise in the motions that a lattice has twice grows
 * from one to the next. */
double hx_mg_direct_added(const hx_multigrid *mg);
/* Bytes of the factors or of the device's inverse, estimated from the nodes of the first lattice.
 */
double hx_mg_direct_bytes(const hx_multigrid_ops *ops, int dof, double n_node, int64_t n_elem);
/* Factors or inverse of a new design's matrix. A device that inverts begins with the first, beside
 * what does not touch the last lattice, and has it with the third, which is called before the last
 * lattice is solved, and does nothing where nothing is on its way; another has its factors with
 * the second. */
int hx_mg_direct_begin(hx_multigrid *mg);
int hx_mg_direct_setup(hx_multigrid *mg);
int hx_mg_direct_wait(hx_multigrid *mg);
/* x = A^-1 b on the last lattice. */
int hx_mg_direct_solve(const hx_multigrid *mg, float *d_x);
void hx_mg_direct_free(hx_multigrid *mg);

/* multigrid_blocks.c. Splines couple neighbouring control points nearly as much as a point with
 * itself: a smoother by blocks of some of them takes a third to a half of the iterations. */
int hx_mg_blocks_create(hx_multigrid *mg, const hx_operator *op);
/* d_t := M^-1 (d_t - d_r) with blocks or lines, the sign as a step takes it; d_r NULL: 0. */
int hx_mg_blocks_solve(const hx_multigrid *mg, const hx_operator *op, const double *d_r,
                       float *d_t);
/* Device bytes of a problem's. */
double hx_mg_blocks_bytes(const hx_problem *problem, const hx_device_ops *device);
void hx_mg_blocks_free(hx_multigrid *mg);

/* multigrid_lines.c. Lines of nodes where the mean element is stretched; else nothing. Of hexahedra
 * of 8 nodes; the same for all shares. */
int hx_mg_wants_lines(const hx_problem *problem, const hx_device_ops *device);
int hx_mg_lines_create(hx_multigrid *mg, const hx_operator *op);
/* Factors of a new design's lines. */
int hx_mg_lines_setup(hx_multigrid *mg, const hx_operator *op);
/* Device bytes of a problem's. */
double hx_mg_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                         const hx_strategy *strategy);
void hx_mg_lines_free(hx_multigrid *mg);

/* multigrid_level_lines.c. Lines of nodes of a lattice where the mesh has lines; else nothing. Of a
 * level in shares each process smooths those of its own nodes, cut where others own the next. */
int hx_mg_level_lines_create(hx_multigrid *mg, const hx_lattice_level *from, hx_mg_level *to);
/* Device bytes, of so many nodes of all lattices. */
double hx_mg_level_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                               double n_node);
void hx_mg_level_lines_free(hx_device *dev, hx_mg_level_lines *lines);

/* multigrid_resident.c. The cycle of the last lattices in one launch, where the device can and has
 * room; hx_mg_cycle takes it. All levels are there, their values not needed. */
int hx_mg_resident_create(hx_multigrid *mg, const hx_lattice *lattice);
/* Device bytes, of so many nodes of all lattices. */
double hx_mg_resident_bytes(const hx_multigrid_ops *ops, int dof, double n_node);
void hx_mg_resident_free(hx_multigrid *mg);

/* multigrid_rigid.c. Nothing without rigid sets. Each takes what it is given by the operator. */
int hx_mg_rigid_create(hx_multigrid *mg, const hx_operator *op);
/* Y, E and its inverse of a new design, the lattices being set up. */
int hx_mg_rigid_setup(hx_multigrid *mg, const hx_operator *op);
/* z += R E^-1 R'r. */
int hx_mg_rigid_add(const hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z);
void hx_mg_rigid_free(hx_multigrid *mg);

/* multigrid_loose.c. Of a new design, the lattices being set up: its loose parts where the last one
 * had any. *changed: hx_mg_apply alone is not, or was not, all there is. */
int hx_mg_loose_setup(hx_multigrid *mg, const hx_operator *op, int *changed);
/* A solve takes long: looks for loose parts. 1: there are. */
int hx_mg_loose_mend(hx_multigrid *mg, const hx_operator *op);
/* z = M^-1 r with loose parts; d_z NULL: in d_x. */
int hx_mg_loose_apply(hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z);
int hx_mg_loose_snapshot(hx_multigrid *mg, hx_snapshot *image);
void hx_mg_loose_forget(hx_multigrid *mg);
void hx_mg_loose_free(hx_multigrid *mg);

#endif
