#include "line_plan.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"

void hx_line_plan_free(hx_line_plan *p)
{
    free(p->patch);
    free(p->first_cell);
    free(p->point_at);
    free(p->buffer_at);
    free(p->line_at);
    free(p->ring);
    free(p->integers);
    free(p->step);
    free(p->turn_at);
    free(p->row);
    *p = (hx_line_plan){0};
}

/* The order of all patches and directions, or 0 if they differ. */
static int order_of(int n_patch, const hx_spline_rule_patch *patch)
{
    for (int k = 0; k < 3 * n_patch; k++)
        if (patch[k / 3].degree[k % 3] != patch[0].degree[0]) return 0;
    return patch[0].degree[0] + 1;
}

/* --- axes --- */

/* Sets the sizes. The functions of an axis end with those of the last span. */
static void size_axes(hx_line_plan *p, const hx_spline_rule_patch *patch, const int32_t *from)
{
    for (int k = 0; k < p->n_patch; k++) {
        hx_interaction *const in = &p->patch[k];
        *in = (hx_interaction){.dim = 3, .n_point = 1, .n_cell = 1};
        for (int d = 0; d < 3; d++) {
            const int n_cell = patch[k].n_span[d];
            in->axis[d] = (hx_interaction_axis){
                .degree = p->order - 1, .n = from[n_cell - 1] + p->order, .n_cell = n_cell};
            from += n_cell;
            in->n_point *= in->axis[d].n;
            in->n_cell *= n_cell;
            p->n_integer += n_cell + 4 * (int64_t)in->axis[d].n;
        }
        p->point_at[k + 1] = p->point_at[k] + in->n_point;
        p->first_cell[k] = patch[k].first_cell;
    }
}

static int make_axes(hx_line_plan *p, const hx_spline_rule_patch *patch, const int32_t *from)
{
    size_axes(p, patch, from);
    HX_TRY(hx_alloc(&p->integers, (size_t)p->n_integer, sizeof *p->integers, "axes"));
    int32_t *to = p->integers;
    for (int k = 0; k < 3 * p->n_patch; k++) {
        hx_interaction_axis *const axis = &p->patch[k / 3].axis[k % 3];
        int32_t *const cells = to + axis->n_cell, *const reach = cells + 2 * (size_t)axis->n;
        memcpy(to, from, (size_t)axis->n_cell * sizeof *to);
        axis->first = to;
        hx_interaction_reach(axis, cells, reach);
        axis->cells = cells;
        axis->reach = reach;
        to = reach + 2 * (size_t)axis->n;
        from += axis->n_cell;
    }
    return HX_OK;
}

/* --- the buffer --- */

/* Sizes, in values, of a line of cells and of a layer of lines. */
static int64_t line_of(const hx_line_plan *p, int k)
{
    return (int64_t)p->patch[k].axis[0].n * hx_line_part(p->order);
}

static int64_t layer_of(const hx_line_plan *p, int k)
{
    return p->patch[k].axis[1].n_cell * line_of(p, k);
}

static int64_t whole_of(const hx_line_plan *p, int k)
{
    return layer_of(p, k) * p->patch[k].axis[2].n_cell;
}

/* Number of values that the budget allows: its number of lines at their mean length, or its
 * bytes. */
static int64_t allowed(const hx_line_plan *p, const hx_line_budget *budget, int64_t all)
{
    int64_t n_line = 0;
    if (budget->bytes > 0) return (int64_t)(budget->bytes / sizeof(double));
    for (int k = 0; k < p->n_patch; k++)
        n_line += (int64_t)p->patch[k].axis[1].n_cell * p->patch[k].axis[2].n_cell;
    return (int64_t)((double)all * (double)budget->n_line / (double)n_line);
}

/* Number of layers of a patch that the buffer must hold, unless the patch has fewer: the layers
 * that the rows of the next step reach back to, and the lines of one step. If the budget is given
 * in bytes, a step may be a single layer. */
static int64_t least_layers(const hx_line_plan *p, const hx_line_budget *budget, int k)
{
    const int64_t each = p->patch[k].axis[1].n_cell;
    return p->order - 1 + (budget->bytes > 0 ? 1 : (budget->n_line + each - 1) / each);
}

/* Chooses the size of the buffer: room for everything, or as much as the budget allows, but at
 * least least_layers() of each patch. Below 2^31 values per patch. */
static void choose_rings(hx_line_plan *p, const hx_line_budget *budget)
{
    int64_t all = 0;
    for (int k = 0; k < p->n_patch; k++) all += whole_of(p, k);
    int64_t n = allowed(p, budget, all);
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t some = least_layers(p, budget, k) * layer_of(p, k), whole = whole_of(p, k);
        if (n < some && n < whole) n = some < whole ? some : whole;
    }
    p->n_buffer = all < n ? all : n;
    for (int k = 0; k < p->n_patch; k++) {
        const int64_t layer = layer_of(p, k);
        int64_t ring = p->n_buffer / layer;
        if (ring * layer > INT32_MAX) ring = INT32_MAX / layer;
        p->ring[k] = (int)(ring < p->patch[k].axis[2].n_cell ? ring : p->patch[k].axis[2].n_cell);
    }
}

/* --- steps --- */

static int is_whole(const hx_line_plan *p, int k)
{
    return p->ring[k] == p->patch[k].axis[2].n_cell;
}

/* Number of layers of a patch that a step computes: the ring without the layers needed by the last
 * rows. */
static int layers_of(const hx_line_plan *p, int k)
{
    return is_whole(p, k) ? p->patch[k].axis[2].n_cell : p->ring[k] - p->order + 1;
}

/* Places patch k behind the `numbers` values and `lines` lines that its step already has. */
static void place_patch(hx_line_plan *p, int k, int64_t *numbers, int64_t *lines)
{
    p->buffer_at[k] = *numbers;
    p->line_at[k] = *lines;
    *numbers += layer_of(p, k) * p->ring[k];
    *lines += (int64_t)p->patch[k].axis[1].n_cell * p->ring[k];
}

/* Groups patches that fit together; other patches are divided into layers. */
static int make_steps(hx_line_plan *p)
{
    int most = 0;
    int64_t needed = 0;
    for (int k = 0; k < p->n_patch; k++)
        most += (p->patch[k].axis[2].n_cell + layers_of(p, k) - 1) / layers_of(p, k);
    HX_TRY(hx_alloc(&p->step, (size_t)most, sizeof *p->step, "steps"));
    for (int k = 0, end; k < p->n_patch; k = end) {
        const int n_layer = p->patch[k].axis[2].n_cell, each = layers_of(p, k);
        int64_t n = 0, line = 0;
        place_patch(p, k, &n, &line);
        for (end = k + 1; is_whole(p, k) && end < p->n_patch && is_whole(p, end) &&
                          n + whole_of(p, end) <= p->n_buffer;
             end++)
            place_patch(p, end, &n, &line);
        for (int layer = 0; layer < n_layer; layer += each) {
            const int layer_end = layer + each < n_layer ? layer + each : n_layer;
            if (!is_whole(p, k)) line = (int64_t)p->patch[k].axis[1].n_cell * (layer_end - layer);
            p->step[p->n_step++] = (hx_line_step){k, end, layer, layer_end, 0, 0, line};
        }
        if (n > needed) needed = n;
    }
    p->n_buffer = needed;
    return HX_OK;
}

int hx_line_plan_make(hx_line_plan *p, const hx_spline_rule *rule,
                      const hx_spline_rule_patch *patch, const hx_line_budget *budget)
{
    const size_t n = (size_t)rule->n_patch;
    *p = (hx_line_plan){.n_patch = rule->n_patch, .order = order_of(rule->n_patch, patch)};
    if (p->order == 0 || !rule->first) return 1;
    HX_TRY(hx_alloc(&p->patch, n, sizeof *p->patch, "patches"));
    HX_TRY(hx_alloc(&p->first_cell, n, sizeof *p->first_cell, "patches"));
    HX_TRY(hx_alloc(&p->point_at, n + 1, sizeof *p->point_at, "patches"));
    HX_TRY(hx_alloc(&p->buffer_at, n, sizeof *p->buffer_at, "patches"));
    HX_TRY(hx_alloc(&p->line_at, n, sizeof *p->line_at, "patches"));
    HX_TRY(hx_alloc(&p->ring, n, sizeof *p->ring, "patches"));
    HX_TRY(make_axes(p, patch, rule->first));
    if (p->point_at[p->n_patch] > INT32_MAX) return 1;
    choose_rings(p, budget);
    for (int k = 0; k < p->n_patch; k++) /* one layer would have 2^31 values or more */
        if (p->ring[k] < p->order && !is_whole(p, k)) return 1;
    return make_steps(p);
}

/* --- rows --- */

/* 1 if a step completes a patch's part of the row of a point. */
static int is_of_step(const hx_line_plan *p, const hx_line_step *s, int k, int64_t point)
{
    const hx_interaction_axis *const axis = p->patch[k].axis;
    const int r = (int)(point / axis[0].n / axis[1].n);
    const int last = axis[2].cells[2 * r + 1];
    return s->end - s->patch > 1 || (last > s->layer && last <= s->layer_end);
}

/* Turn of each point of each patch: the number of earlier patches that contain the point. *most:
 * number of turns; -1 if a patch contains a point twice or there are too many turns. */
static int count_turns(const hx_line_plan *p, const int32_t *number, int64_t n_point, uint8_t *turn,
                       int *most)
{
    int32_t *last = NULL;
    uint8_t *n = NULL;
    HX_TRY(hx_alloc(&last, (size_t)n_point, sizeof *last, "points"));
    const int rc = hx_alloc(&n, (size_t)n_point, sizeof *n, "points");
    *most = 0;
    for (int k = 0; rc == HX_OK && k < p->n_patch; k++)
        for (int64_t i = p->point_at[k]; i < p->point_at[k + 1]; i++) {
            const int32_t a = number[i];
            if (last[a] == k + 1 || n[a] == UINT8_MAX) *most = -1;
            last[a] = k + 1;
            turn[i] = n[a]++;
            if (*most >= 0 && n[a] > *most) *most = n[a];
        }
    free(last);
    free(n);
    return rc;
}

/* Lists the rows of each step and turn. */
static int list_rows(hx_line_plan *p, const uint8_t *turn, int most)
{
    const int64_t n_point = p->point_at[p->n_patch];
    int64_t n = 0;
    HX_TRY(hx_alloc(&p->row, (size_t)n_point, sizeof *p->row, "rows"));
    HX_TRY(hx_alloc(&p->turn_at, (size_t)p->n_step * (size_t)most + 1, sizeof *p->turn_at, "rows"));
    for (int i = 0; i < p->n_step; i++) {
        hx_line_step *const s = &p->step[i];
        s->turn = p->n_turn;
        for (int t = 0; t < most; t++) {
            for (int k = s->patch; k < s->end; k++)
                for (int64_t a = p->point_at[k]; a < p->point_at[k + 1]; a++)
                    if (turn[a] == t && is_of_step(p, s, k, a - p->point_at[k]))
                        p->row[n++] = (int32_t)a;
            p->turn_at[++p->n_turn] = n;
        }
        s->turn_end = p->n_turn;
    }
    return n == n_point ? HX_OK
                        : HX_RAISE(HX_EINTERNAL, "the plan does not cover all rows of the spline");
}

int hx_line_plan_rows(hx_line_plan *p, const int32_t *number, int64_t n_point)
{
    uint8_t *turn = NULL;
    int most = 0;
    HX_TRY(hx_alloc(&turn, (size_t)p->point_at[p->n_patch], sizeof *turn, "rows"));
    int rc = count_turns(p, number, n_point, turn, &most);
    if (rc == HX_OK) rc = most < 0 ? 1 : list_rows(p, turn, most);
    free(turn);
    return rc;
}

void hx_line_plan_number(const hx_line_plan *p, const hx_incidence *in, int32_t *number)
{
    const int cube = hx_line_cube(p->order);
    for (int k = 0; k < p->n_patch; k++)
        for (int64_t e = 0; e < p->patch[k].n_cell; e++) {
            const int32_t *const point = in->point + hx_incidence_first(in, p->first_cell[k] + e);
            for (int a = 0; a < cube; a++)
                number[p->point_at[k] + hx_line_point_of(&p->patch[k], p->order, e, a)] = point[a];
        }
}
