/* Lines of a lattice's nodes: the factors of a block tridiagonal matrix of 6 x 6 blocks,
 *
 *     A = (I + L) D (I + L)',  L below the diagonal of blocks, D diagonal blocks.
 *
 * A place in a line has HX_LEVEL_LINE_NUMBERS floats: D^-1, then its block of L, both row after
 * row. */
#ifndef HX_LEVEL_LINE_H
#define HX_LEVEL_LINE_H

#include "multigrid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_LEVEL_BLOCK = HX_MG_DOF * HX_MG_DOF, HX_LEVEL_LINE_NUMBERS = 2 * HX_LEVEL_BLOCK };

/* Share of the diagonal that a line's blocks have besides: unknowns of a node at the border of what
 * the mesh fills may be all but dependent, and what tells them apart is rounding. Iterations stay
 * as they are with this much of it (doc/notebook/2026-11-26-lines.md). */
#define HX_LEVEL_LINE_ADDED 1e-3
/* Left out, its row and column of D^-1 being 0, is an unknown whose pivot is below this share of
 * its diagonal, which no pivot is but for rounding, and one whose diagonal is below that share of
 * the largest of its node: a rotation about a lattice node that lies on the only point near it. */
#define HX_LEVEL_LINE_PIVOT (0.1 * HX_LEVEL_LINE_ADDED)
#define HX_LEVEL_LINE_LEAST 1e-6

#ifdef __cplusplus
}
#endif

#endif
