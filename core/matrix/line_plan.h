/* In what steps a GPU fills K of glued patches line by line of cells (interaction_line.h), from the
 * patches alone: which lines of cells are integrated at a time into a buffer, and which rows are
 * made from it then.
 *
 * A step is some whole patches, or of a single patch that the buffer does not hold whole some
 * layers of lines by its third direction, which stay for the rows of the next step in a ring. A row
 * of K is made patch by patch: a patch's part once all lines that it touches there are done. Points
 * that several patches share take turns: the first patch of a point writes its row, the second adds
 * to it, and so on, ascending. So neither the steps nor the buffer change a sum. */
#ifndef HX_LINE_PLAN_H
#define HX_LINE_PLAN_H

#include "interaction_line.h"
#include "pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lines of cells and rows of points that are made at a time. */
typedef struct hx_line_step {
    int patch, end;       /* of these patches */
    int layer, layer_end; /* of a single patch the layers of lines; else all */
    int turn, turn_end;   /* its parts of the list of rows, one a turn */
    int64_t n_line;       /* of all its patches */
} hx_line_step;

typedef struct hx_line_plan {
    int n_patch, order;    /* degree + 1, the same everywhere */
    hx_interaction *patch; /* [n_patch] axes, without tables and points (owned, like all) */
    int64_t *first_cell;   /* [n_patch] cells of the patches before */
    int64_t *point_at;     /* [n_patch + 1] points of the patches before, shared ones in each */
    int64_t *buffer_at;    /* [n_patch] numbers before a patch's in its step */
    int64_t *line_at;      /* [n_patch] lines before a patch's in its step */
    int *ring;             /* [n_patch] layers of lines that lie in the buffer */
    int32_t *integers;     /* [n_integer] of all axes */
    int64_t n_integer;
    int64_t n_buffer; /* numbers of the buffer: what the largest step takes */
    int n_step, n_turn;
    hx_line_step *step;
    int64_t *turn_at; /* [n_turn + 1] rows before; hx_line_plan_rows */
    int32_t *row;     /* [point_at[n_patch]] points of patches in the order of their turns */
} hx_line_plan;

/* What the buffer is to hold: as many lines as a device runs at a time; or so many bytes where that
 * is not 0, but a layer of lines beside those that the next rows reach back to. */
typedef struct hx_line_budget {
    int64_t n_line;
    size_t bytes;
} hx_line_budget;

/* All but the rows, from a rule's patches (host arrays, as rule->first; nothing of them is kept).
 * Returns 1 where patches are not for this fill: degrees that differ, rule->first that is missing,
 * more than 2^31 - 1 points or numbers of some layers of a patch. HX_ENOMEM. O(cells of a
 * direction). Freed by the caller in any case. */
int hx_line_plan_make(hx_line_plan *p, const hx_spline_rule *rule,
                      const hx_spline_rule_patch *patch, const hx_line_budget *budget);

/* The rows: number[point_at[n_patch]] is the point of the whole, of n_point, of each patch's.
 * Returns 1 where a patch has a point twice, or 256 patches share one. HX_ENOMEM. O(rows x
 * steps). */
int hx_line_plan_rows(hx_line_plan *p, const int32_t *number, int64_t n_point);

/* The same numbers on the host, from the cells of a glued spline. O(places). */
void hx_line_plan_number(const hx_line_plan *p, const hx_incidence *in, int32_t *number);

/* Accepts a zeroed or half-made plan. */
void hx_line_plan_free(hx_line_plan *p);

/* Where the point of a patch lies among all patches' that is point a of a cell; the cell counts in
 * the patch. */
static HX_HD int64_t hx_line_point_of(const hx_interaction *in, int order, int64_t cell, int a)
{
    const hx_interaction_axis *const axis = in->axis;
    const int at[3] = {(int)(cell % axis[0].n_cell), (int)(cell / axis[0].n_cell % axis[1].n_cell),
                       (int)(cell / axis[0].n_cell / axis[1].n_cell)};
    const int r[3] = {axis[0].first[at[0]] + a % order, axis[1].first[at[1]] + a / order % order,
                      axis[2].first[at[2]] + a / order / order};
    return hx_interaction_point(in, r);
}

#ifdef __cplusplus
}
#endif

#endif
