/* Reduces coarse grids of the whole mesh to the lists of a subdomain. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "coarse_local.h"

/* Maps the cells and points of the whole mesh to their numbers in the subdomain; -1: not in it. */
typedef struct cut {
    const hx_problem *local;
    int32_t *place;    /* [n_point of the whole] */
    int32_t *cell_new; /* [n_cell] */
    int64_t n_cell;
    int64_t first, end; /* elements of the subdomain, a contiguous range of the whole */
} cut;

static int has_elem(const cut *c, int32_t elem)
{
    return elem >= c->first && elem < c->end;
}

static int is_needed(const cut *c, const hx_coarse *coarse, int64_t cell)
{
    for (int32_t k = coarse->cell_elem_at[cell]; k < coarse->cell_elem_at[cell + 1]; k++)
        if (has_elem(c, coarse->cell_elem[k])) return 1;
    for (int32_t k = coarse->cell_node_at[cell]; k < coarse->cell_node_at[cell + 1]; k++)
        if (c->place[coarse->cell_node[k]] >= 0) return 1;
    return 0;
}

static int begin_cut(cut *c, const hx_coarse *coarse, const hx_problem *local)
{
    const int64_t n_whole = local->whole->space.n_point, n_point = local->space.n_point;
    c->local = local;
    c->first = local->whole_elem[0];
    c->end = c->first + local->mesh->n_elem;
    HX_TRY(hx_alloc_raw(&c->place, (size_t)n_whole, sizeof *c->place, "coarse grids"));
    HX_TRY(hx_alloc_raw(&c->cell_new, (size_t)coarse->n_cell, sizeof *c->cell_new, "coarse grids"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_whole; a++) c->place[a] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_point; a++) c->place[local->whole_node[a]] = (int32_t)a;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < coarse->n_cell; cell++)
        c->cell_new[cell] = is_needed(c, coarse, cell);
    for (int64_t cell = 0; cell < coarse->n_cell; cell++)
        c->cell_new[cell] = c->cell_new[cell] ? (int32_t)c->n_cell++ : -1;
    return HX_OK;
}

/* Number of an element or a point in the subdomain; -1: not in it. */
static int32_t new_element(const cut *c, int32_t elem)
{
    return has_elem(c, elem) ? elem - (int32_t)c->first : -1;
}

static int32_t new_point(const cut *c, int32_t point)
{
    return c->place[point];
}

/* Reduces (*list)[] and (*at)[], sorted by cell, to the entries that new_number keeps. */
static int cut_list(const cut *c, int64_t n_cell, int32_t (*new_number)(const cut *c, int32_t),
                    int32_t **list, int32_t **at)
{
    int32_t *to = NULL, *begin = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&begin, (size_t)c->n_cell + 1, sizeof *begin, "coarse grids"));
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < n_cell; cell++)
        for (int32_t k = (*at)[cell]; c->cell_new[cell] >= 0 && k < (*at)[cell + 1]; k++)
            begin[c->cell_new[cell] + 1] += new_number(c, (*list)[k]) >= 0;
    for (int64_t cell = 0; cell < c->n_cell; cell++) begin[cell + 1] += begin[cell];
    HX_TRY_FAIL(hx_alloc_raw(&to, (size_t)begin[c->n_cell], sizeof *to, "coarse grids"));
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < n_cell; cell++) {
        int32_t next = c->cell_new[cell] < 0 ? 0 : begin[c->cell_new[cell]];
        for (int32_t k = (*at)[cell]; c->cell_new[cell] >= 0 && k < (*at)[cell + 1]; k++) {
            const int32_t number = new_number(c, (*list)[k]);
            if (number >= 0) to[next++] = number;
        }
    }
    free(*list);
    free(*at);
    *list = to;
    *at = begin;
    return HX_OK;
fail:
    free(begin);
    return rc;
}

/* Reduces places and corners of the cells, and their colours. */
static void cut_cells(const cut *c, hx_coarse *coarse)
{
    int32_t n = 0;
    for (int64_t cell = 0; cell < coarse->n_cell; cell++) {
        const int64_t to = c->cell_new[cell];
        if (to < 0) continue;
        memmove(coarse->cell + 3 * to, coarse->cell + 3 * cell, 3 * sizeof(int32_t));
        memmove(coarse->cell_corner + 8 * to, coarse->cell_corner + 8 * cell, 8 * sizeof(int32_t));
    }
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 8 * coarse->level[0].n_node; k++)
        if (coarse->node_cell[k] >= 0) coarse->node_cell[k] = c->cell_new[coarse->node_cell[k]];
    for (int colour = 0, begin = 0; colour < 8; colour++) {
        const int32_t end = coarse->colour_at[colour + 1];
        coarse->colour_at[colour] = n;
        for (int32_t k = begin; k < end; k++)
            if (c->cell_new[coarse->coloured[k]] >= 0)
                coarse->coloured[n++] = c->cell_new[coarse->coloured[k]];
        begin = end;
    }
    coarse->colour_at[8] = n;
}

static int cut_positions(const cut *c, hx_coarse *coarse)
{
    const int64_t n = c->local->space.n_point;
    float *position;
    HX_TRY(hx_alloc_raw(&position, 3 * (size_t)n, sizeof *position, "coarse grids"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++)
        memcpy(position + 3 * a, coarse->position + 3 * (int64_t)c->local->whole_node[a],
               3 * sizeof *position);
    free(coarse->position);
    coarse->position = position;
    return HX_OK;
}

int hx_coarse_cut(hx_coarse *coarse, const hx_problem *local)
{
    cut c = {0};
    int rc = begin_cut(&c, coarse, local);
    if (rc == HX_OK) rc = cut_positions(&c, coarse);
    if (rc == HX_OK)
        rc = cut_list(&c, coarse->n_cell, new_element, &coarse->cell_elem, &coarse->cell_elem_at);
    if (rc == HX_OK)
        rc = cut_list(&c, coarse->n_cell, new_point, &coarse->cell_node, &coarse->cell_node_at);
    if (rc == HX_OK) {
        cut_cells(&c, coarse);
        coarse->n_cell = c.n_cell;
    }
    free(c.place);
    free(c.cell_new);
    return rc;
}
