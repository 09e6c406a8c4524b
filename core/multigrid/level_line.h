/* Line smoother on a coarse grid: the factors of a block tridiagonal matrix with 6 x 6 blocks along
 * a line of coarse nodes,
 *
 *     A = (I + L) D (I + L)',  L below the diagonal of blocks, D diagonal blocks.
 *
 * A node in a line has HX_LEVEL_LINE_NUMBERS floats: D^-1, then its block of L, both row after
 * row. */
#ifndef HX_LEVEL_LINE_H
#define HX_LEVEL_LINE_H

#include "multigrid.h"

HX_C_BEGIN

enum { HX_LEVEL_BLOCK = HX_MG_DOF * HX_MG_DOF, HX_LEVEL_LINE_NUMBERS = 2 * HX_LEVEL_BLOCK };

/* Fraction of the diagonal that is added to the blocks of a line: unknowns of a node at the border
 * of the mesh may be almost linearly dependent, so that only rounding separates them. This amount
 * does not change the iteration counts (doc/notebook/2026-11-26-lines.md). */
#define HX_LEVEL_LINE_ADDED 1e-3
/* An unknown is left out (its row and column of D^-1 are 0) if its pivot is below
 * HX_LEVEL_LINE_PIVOT times its diagonal entry, which happens only by rounding, or if its diagonal
 * entry is below HX_LEVEL_LINE_LEAST times the largest of its node, such as a rotation about a
 * coarse node that coincides with the only mesh point near it. */
#define HX_LEVEL_LINE_PIVOT (0.1 * HX_LEVEL_LINE_ADDED)
#define HX_LEVEL_LINE_LEAST 1e-6

HX_C_END

#endif
