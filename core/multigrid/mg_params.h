/* All tuned constants of multigrid: one struct of structs and one default object. The config group
 * solver.multigrid has a key for each member. Comments state the meaning and, in brackets, the
 * unit; a member without a unit is a ratio or a count. Defaults are in mg_params.c.
 *
 * Constants that size arrays or are compiled into kernels are not here; README.md of this room
 * lists them. */
#ifndef HX_MG_PARAMS_H
#define HX_MG_PARAMS_H

#include "../krylov/precond.h"

HX_C_BEGIN

/* A rule for a direction of a coarse grid that has few cells: if all conditions of a rule hold, the
 * next coarse grid keeps these cells; if no rule applies, the direction is coarsened. Notebook:
 * 2026-11-28-thin-parts.md, 2026-11-29-rules-of-multigrid.md. */
typedef struct hx_mg_thin {
    int cells_from, cells_to; /* the direction has a number of cells in this range [cells] */
    double longest;           /* the longest direction has at least this many times as many cells */
    int nodes_most;           /* the grid has at most this many nodes; 0: any number [nodes] */
} hx_mg_thin;

enum { HX_MG_THIN_RULES = 16 }; /* maximum number of rules */

/* Width of cells, and the sequence of coarse grids. Notebook: 2026-11-28-multigrid.md for elements,
 * 2026-11-24-heat.md and 2026-11-23-multigrid-from-rows.md for elements_other,
 * 2026-11-28-thin-parts.md for elements_narrow, narrow_most and slender_*, 2026-11-26-lines.md for
 * the rest. */
typedef struct hx_mg_coarsening_params {
    double elements; /* across a cell of the first coarse grid, in each direction [elements] */
    /* the same on meshes with line smoothing, on a device where coarse grids are cheap
     * [elements] */
    double elements_narrow;
    int narrow_most; /* largest mesh that gets cells of elements_narrow [elements] */
    /* for heat conduction and quadratic elements, and times the degree for splines [elements] */
    double elements_other;
    /* Mean aspect ratio of elements above which cell edges follow the root of the mean element's
     * proportions instead of these proportions. */
    double proportion_aspect;
    /* Cells are no wider than the largest element along short edges if that is this many times the
     * mean, because stiff sheets between soft layers move independently. */
    double sheet_ratio;
    double sheet_elements; /* only for cells of more elements across than this [elements] */
    /* a part of more cells than this along one direction is slender [cells] */
    double slender_along;
    double slender_across;   /* number of cells across a slender part [cells] */
    double slender_elements; /* smallest number of elements across these cells [elements] */
    int places;     /* largest number of grid places per element of the mesh, a limit for memory */
    int sample;     /* approximate number of elements measured for the cell size [elements] */
    int last_nodes; /* no further coarse grid follows one of at most this many nodes [nodes] */
    int n_thin;     /* number of rules for thin directions */
    hx_mg_thin thin[HX_MG_THIN_RULES];
} hx_mg_coarsening_params;

/* Line smoothing. Notebook: 2026-11-26-lines.md. */
typedef struct hx_mg_line_params {
    /* mean aspect ratio of elements above which a mesh gets line smoothers, and above which
     * sheet_ratio applies */
    double aspect;
    double element_aspect; /* aspect ratio of an element above which its short edges join a line */
    int longest;           /* maximum length of a line; nodes are processed one by one [nodes] */
} hx_mg_line_params;

/* A Chebyshev smoother. */
typedef struct hx_mg_chebyshev {
    int degree;   /* of the polynomial: products per smoothing */
    double ratio; /* of the largest to the smallest eigenvalue that it covers */
} hx_mg_chebyshev;

/* The smoother of a level and the cycle below it. */
typedef struct hx_mg_smoothing {
    hx_mg_chebyshev chebyshev;
    int visits;    /* of the level below: 2 gives a W-cycle; on the mesh always 1 */
    double weight; /* factor of the correction from the level below; on the mesh always 1 */
} hx_mg_smoothing;

/* Smoothers by where a level stands. Notebook: 2026-11-26-where-iterations-were-many.md for the
 * mesh, 2026-11-28-overcorrection.md for weights, 2026-11-23-multigrid-from-rows.md for rows,
 * 2026-11-28-rigid-motions-and-rounding.md for few. */
typedef struct hx_mg_smoothing_params {
    /* Smoothers on a mesh of linear elements, by the mean number of elements across a cell of the
     * first coarse grid: errors with wavelengths shorter than a cell must be smoothed, and their
     * eigenvalues decrease with the square of that number. */
    hx_mg_chebyshev mesh_few;
    hx_mg_chebyshev mesh_many;    /* also on quadratic elements and splines of degree 2 */
    hx_mg_chebyshev mesh_most;    /* also on splines of a higher degree */
    double few_below, many_below; /* elements across for the first two [elements] */
    hx_mg_chebyshev first;        /* on the first coarse grid */
    hx_mg_chebyshev others;       /* on the other coarse grids */
    hx_mg_chebyshev few;          /* on a small one above the direct solve, visited often enough */
    int few_nodes;                /* largest grid for `few`: it has few modes left [nodes] */
    /* of the next coarse grid by the first one, and by the others if coarse matrices are corrected
     * for rigid motions (hx_mg_restores) [visits] */
    int visits;
    double weight; /* factor of a correction by more than one visit */
} hx_mg_smoothing_params;

/* Estimates of the largest eigenvalues by power iteration. Notebook:
 * 2026-11-26-where-iterations-were-many.md, 2026-11-28-rigid-motions-and-rounding.md for
 * steps_refresh, 2026-11-28-small-coarse-grids.md for steps_unscaled. */
typedef struct hx_mg_spectrum_params {
    double safety;   /* upper bound over the estimate, because localized modes are found late */
    double kept;     /* lower bound of an estimate over that of the last design */
    int steps_begin; /* on all levels, for the first design [power steps] */
    int steps_mesh;  /* on the mesh, for a later design [power steps] */
    /* for a later design on a mesh of unequal elements, where localized modes are likely
     * [power steps] */
    int steps_uneven;
    int steps_first; /* on the first coarse grid, for a later design [power steps] */
    /* on the other coarse grids, for a later design; products are cheap there, and a missed mode
     * costs many iterations [power steps] */
    int steps_others;
    int steps_refresh;  /* from a random vector, when a solve takes long [power steps] */
    int steps_unscaled; /* before the vector of a coarse grid is scaled [power steps] */
} hx_mg_spectrum_params;

/* The direct solve on the last level. Notebook: 2026-11-28-multigrid.md for operations and added,
 * 2026-11-28-coarse-matrices-on-a-gpu.md for inverse_nodes. */
typedef struct hx_mg_direct_params {
    double operations;   /* of a factorization, at most, per element of the mesh and design */
    int factor_nodes;    /* larger coarse grids are not factorized [nodes] */
    int inverse_nodes;   /* largest coarse grid that a device inverts [nodes] */
    double added;        /* fraction of the diagonal that is added at first, with a single level */
    double added_factor; /* factor by which it grows while rounding noise exceeds it */
    double added_most;   /* its upper limit */
} hx_mg_direct_params;

/* Updates of the first coarse matrix. Notebook: 2026-11-26-only-what-changed.md for shares,
 * 2026-11-28-mean-strains.md for means. */
typedef struct hx_mg_update_params {
    double stored_bytes;  /* contributions of cells of up to this size are always stored [bytes] */
    double stored_room;   /* larger ones if this fraction of the device memory remains free */
    int means_iterations; /* mean strains only while no solve takes more than this [iterations] */
    int means_cells;      /* mean strains only for meshes of at least this many cells [cells] */
} hx_mg_update_params;

/* Rigid sets. Notebook: 2026-11-21-springs-and-rigid-sets.md. */
typedef struct hx_mg_rigid_params {
    int cycles;   /* multigrid cycles that extend a motion elastically into the part [cycles] */
    double added; /* fraction of the energy without extension that is added to the diagonal */
} hx_mg_rigid_params;

/* Deflation of floating components. Notebook: 2026-11-28-loose-parts.md. */
typedef struct hx_mg_deflation_params {
    /* Fractions of the largest modulus above which an element is stiff, descending; each gives
     * components of its own. */
    double stiff[3];
    double softness;      /* smallest softness for which deflating a component pays off */
    int components;       /* largest number of components, the softest [components] */
    int spare_nodes;      /* nodes of all components together, beyond those of the mesh [nodes] */
    int held_nodes;       /* a larger component that supports hold is never deflated [nodes] */
    double diagonal;      /* an element's part of the diagonal of K over modulus times edge */
    double held_pivot;    /* smallest relative pivot of the supports that hold a component */
    double energy_pivot;  /* smallest relative pivot of energies; below, a motion is missing */
    double column_pivot;  /* smallest pivot of Z'Z; below, a column depends on earlier ones */
    double coupled_pivot; /* smallest pivot of Z'K Z; below, only rounding is left */
    int pause; /* designs not searched after a search without result, doubled each time [designs] */
} hx_mg_deflation_params;

typedef struct hx_mg_params {
    hx_mg_coarsening_params coarsening;
    hx_mg_line_params lines;
    hx_mg_smoothing_params smoothing;
    hx_mg_spectrum_params spectrum;
    hx_mg_direct_params direct;
    hx_mg_update_params update;
    hx_mg_rigid_params rigid;
    hx_mg_deflation_params deflation;
    hx_precond_monitoring monitoring; /* krylov/precond.h */
} hx_mg_params;

extern const hx_mg_params hx_mg_defaults;

/* The parameters of a problem: its own, or the defaults. */
static inline const hx_mg_params *hx_mg_params_of(const hx_problem *problem)
{
    return problem->multigrid ? problem->multigrid : &hx_mg_defaults;
}

/* HX_EINPUT: a member is outside of what the code can handle; *member is its name, such as
 * "deflation.stiff". */
int hx_mg_params_check(const hx_mg_params *params, const char **member);

HX_C_END

#endif
