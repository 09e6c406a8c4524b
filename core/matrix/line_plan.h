/* The schedule by which a GPU fills K of glued patches line by line of cells (interaction_line.h),
 * derived from the patches only: which lines of cells are integrated into the buffer at a time, and
 * which rows are then computed from it.
 *
 * A step consists of whole patches, or of some layers of lines (in the third direction) of a single
 * patch that does not fit the buffer; these layers remain in a ring for the rows of the next step.
 * A row of K is computed patch by patch, each part once all lines that it touches in the patch are
 * done. For points of several patches the parts have a fixed order: the first patch writes the row,
 * the second adds to it, and so on, ascending. Sums therefore depend neither on the steps nor on
 * the size of the buffer. */
#ifndef HX_LINE_PLAN_H
#define HX_LINE_PLAN_H

#include "interaction_line.h"
#include "pattern.h"

HX_C_BEGIN

/* Lines of cells and rows of points that are computed at a time. */
typedef struct hx_line_step {
    int patch, end;       /* range of patches */
    int layer, layer_end; /* range of layers of lines of a single patch; otherwise all */
    int turn, turn_end;   /* range of turns in the list of rows */
    int64_t n_line;       /* number of lines of all its patches */
} hx_line_step;

typedef struct hx_line_plan {
    int n_patch, order;    /* degree + 1, equal for all patches */
    hx_interaction *patch; /* [n_patch] axes without tables and points (owned, like all) */
    int64_t *first_cell;   /* [n_patch] number of cells in the patches before */
    /* [n_patch + 1] number of points in the patches before; shared ones count in each */
    int64_t *point_at;
    int64_t *buffer_at; /* [n_patch] offset of a patch's values in its step */
    int64_t *line_at;   /* [n_patch] number of lines before a patch's in its step */
    int *ring;          /* [n_patch] layers of lines in the buffer */
    int32_t *integers;  /* [n_integer] data of all axes */
    int64_t n_integer;
    int64_t n_buffer; /* number of values in the buffer, which the largest step needs */
    int n_step, n_turn;
    hx_line_step *step;
    int64_t *turn_at; /* [n_turn + 1] number of rows before each turn; set by hx_line_plan_rows */
    int32_t *row;     /* [point_at[n_patch]] points of patches in the order of their turns */
} hx_line_plan;

/* Capacity of the buffer: the lines that a device runs concurrently, or this many bytes if not 0.
 * It holds at least one layer of lines in addition to those that the next rows need. */
typedef struct hx_line_budget {
    int64_t n_line;
    size_t bytes;
} hx_line_budget;

/* Makes everything except the rows from a rule's patches (host arrays, including rule->first), and
 * keeps no reference to them. Returns 1 if this fill does not support the patches: different
 * degrees, rule->first missing, or more than 2^31 - 1 points or values of some layers of a patch.
 * HX_ENOMEM. O(cells per direction). The caller frees the plan in any case. */
int hx_line_plan_make(hx_line_plan *p, const hx_spline_rule *rule,
                      const hx_spline_rule_patch *patch, const hx_line_budget *budget);

/* Makes the rows. number[point_at[n_patch]]: global number, below n_point, of each patch's point.
 * Returns 1 if a patch contains a point twice, or 256 patches share one. HX_ENOMEM. O(rows x
 * steps). */
int hx_line_plan_rows(hx_line_plan *p, const int32_t *number, int64_t n_point);

/* Computes the same numbers on the host from the cells of a glued spline. O(places). */
void hx_line_plan_number(const hx_line_plan *p, const hx_incidence *in, int32_t *number);

/* Accepts a zeroed or partial plan. */
void hx_line_plan_free(hx_line_plan *p);

/* Index, among the points of a patch, of point a of a cell; the cell is numbered within the
 * patch. */
static HX_HD int64_t hx_line_point_of(const hx_interaction *in, int order, int64_t cell, int a)
{
    const hx_interaction_axis *const axis = in->axis;
    const int at[3] = {(int)(cell % axis[0].n_cell), (int)(cell / axis[0].n_cell % axis[1].n_cell),
                       (int)(cell / axis[0].n_cell / axis[1].n_cell)};
    const int r[3] = {axis[0].first[at[0]] + a % order, axis[1].first[at[1]] + a / order % order,
                      axis[2].first[at[2]] + a / order / order};
    return hx_interaction_point(in, r);
}

HX_C_END

#endif
