/* Lines of coarse nodes along the shortest step of a coarse grid, for line smoothing. If elements
 * are stretched, so are the cells, and a node is coupled with its neighbours in that direction more
 * strongly than with all others. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "level_line.h"
#include "multigrid_internal.h"

static const char *const WHAT = "lines of a coarse grid";

/* Offset of the next node along the shortest step. */
static int next_of(const hx_coarse_level *level)
{
    static const int next[3] = {HX_COARSE_CENTRE + 1, HX_COARSE_CENTRE + 3, HX_COARSE_CENTRE + 9};
    int axis = -1;
    for (int i = 0; i < 3; i++)
        if (level->layer[i] > 1 && (axis < 0 || level->step[i] < level->step[axis])) axis = i;
    return axis < 0 ? 0 : next[axis];
}

/* The owned node at an offset, or -1. */
static int64_t own_at(const hx_coarse_level *level, int offset, int64_t a)
{
    const int64_t b = level->neighbour[offset * level->n_node + a];
    return b == a || b >= level->n_own ? -1 : b;
}

/* Lists lines of owned nodes in the order of their first nodes, cut after `longest` nodes;
 * returns how many. */
static int64_t walk_level_lines(const hx_coarse_level *level, int next, int longest, int32_t *first,
                                int32_t *node)
{
    const int before = HX_COARSE_OFFSETS - 1 - next;
    int64_t n = 0, at = 0;
    for (int64_t end = 0; end < level->n_own; end++) {
        int length = 0;
        if (own_at(level, before, end) >= 0) continue;
        for (int64_t a = end; a >= 0; a = own_at(level, next, a)) {
            if (length++ % longest == 0) first[n++] = (int32_t)at;
            node[at++] = (int32_t)a;
        }
    }
    first[n] = (int32_t)at;
    return n;
}

static int put_level_lines(hx_device *dev, hx_mg_level_lines *lines, int64_t n_own,
                           const int32_t *first, const int32_t *node)
{
    for (int64_t k = 0; k < lines->n; k++)
        if (first[k + 1] - first[k] > lines->most) lines->most = first[k + 1] - first[k];
    HX_TRY(hx_device_put(dev, &lines->d_first, first, ((size_t)lines->n + 1) * sizeof *first));
    HX_TRY(hx_device_put(dev, &lines->d_node, node, (size_t)n_own * sizeof *node));
    return dev->ops->alloc(dev, HX_LEVEL_LINE_NUMBERS * (size_t)n_own * sizeof *lines->d_factor,
                           &lines->d_factor);
}

int hx_mg_level_lines_create(hx_multigrid *mg, const hx_coarse_level *from, hx_mg_level *to)
{
    int32_t *first = NULL, *node = NULL;
    int rc;
    if (mg->lines.n_point == 0) return HX_OK;
    to->lines.next = next_of(from);
    if (to->lines.next == 0) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&first, (size_t)from->n_own + 1, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)from->n_own, sizeof *node, WHAT));
    to->lines.n = walk_level_lines(from, to->lines.next, mg->params->lines.longest, first, node);
    rc = put_level_lines(mg->dev, &to->lines, from->n_own, first, node);
fail:
    free(first);
    free(node);
    return rc;
}

double hx_mg_level_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                               double n_node)
{
    if (!hx_mg_needs_lines(problem, device)) return 0.0;
    return (4.0 * HX_LEVEL_LINE_NUMBERS + 8.0) * n_node;
}

void hx_mg_level_lines_free(hx_device *dev, hx_mg_level_lines *lines)
{
    dev->ops->release(dev, lines->d_first);
    dev->ops->release(dev, lines->d_node);
    dev->ops->release(dev, lines->d_factor);
    memset(lines, 0, sizeof *lines);
}
