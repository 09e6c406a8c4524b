/* Contribution P'F P of convection to the matrix of the first coarse grid, where P interpolates
 * from coarse nodes to nodes of the mesh. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "coarse_springs.h"

enum { CORNERS = 8 };
static const char *const WHAT = "convection terms of the coarse grid";

/* A node of the mesh within its cell. */
typedef struct place {
    const int32_t *corner, *at;
    double weight[CORNERS];
} place;

static place find_coarse_place(const hx_coarse *coarse, const int32_t *cell_of, int64_t node)
{
    const int64_t cell = cell_of[node];
    place p = {.corner = coarse->cell_corner + CORNERS * cell, .at = coarse->cell + 3 * cell};
    for (int c = 0; c < CORNERS; c++) {
        p.weight[c] = 1.0;
        for (int i = 0; i < 3; i++) {
            const double s = (double)coarse->position[3 * node + i] - p.at[i];
            p.weight[c] *= c >> i & 1 ? s : 1.0 - s;
        }
    }
    return p;
}

/* Offset from corner a of p to corner b of q. The nodes of one element depend only on the corners
 * of its cell, so corners with nonzero weight are neighbours. */
static int offset_of(const place *p, int a, const place *q, int b)
{
    static const int stride[3] = {1, 3, 9};
    int offset = HX_COARSE_CENTRE;
    for (int i = 0; i < 3; i++)
        offset += stride[i] * (q->at[i] + (b >> i & 1) - p->at[i] - (a >> i & 1));
    return offset;
}

static void add_entry(const place *p, const place *q, double value, double *sum)
{
    for (int a = 0; a < CORNERS; a++) {
        if (p->weight[a] == 0.0) continue;
        double *row = sum + HX_COARSE_OFFSETS * (int64_t)p->corner[a];
        for (int b = 0; b < CORNERS; b++)
            if (q->weight[b] != 0.0)
                row[offset_of(p, a, q, b)] += value * p->weight[a] * q->weight[b];
    }
}

static void add_films(const hx_coarse *coarse, const hx_films *films, const uint8_t *held,
                      const int32_t *cell_of, double *sum)
{
    for (int64_t k = 0; k < films->n; k++) {
        if (held[films->node[k]]) continue;
        const place p = find_coarse_place(coarse, cell_of, films->node[k]);
        for (int64_t j = films->ptr[k]; j < films->ptr[k + 1]; j++) {
            if (held[films->col[j]]) continue;
            const place q = find_coarse_place(coarse, cell_of, films->col[j]);
            add_entry(&p, &q, films->value[j], sum);
        }
    }
}

static int list_sums(hx_coarse_springs *films, int64_t n, const double *sum)
{
    int64_t n_entry = 0;
    for (int64_t k = 0; k < n; k++) n_entry += sum[k] != 0.0;
    HX_TRY(hx_alloc_raw(&films->at, (size_t)n_entry, sizeof *films->at, WHAT));
    HX_TRY(hx_alloc_raw(&films->block, (size_t)n_entry, sizeof *films->block, WHAT));
    for (int64_t k = 0; k < n; k++) {
        if (sum[k] == 0.0) continue;
        films->at[films->n] = k;
        films->block[films->n++] = (float)sum[k];
    }
    return HX_OK;
}

int hx_coarse_films_create(hx_coarse_springs *films, const hx_coarse *coarse,
                           const hx_problem *problem, const uint8_t *held)
{
    const int64_t n = HX_COARSE_OFFSETS * coarse->level[0].n_node;
    int32_t *cell_of = NULL;
    double *sum = NULL;
    int rc;
    memset(films, 0, sizeof *films);
    if (problem->films.n == 0) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&cell_of, (size_t)problem->space.n_point, sizeof *cell_of, WHAT));
    HX_TRY_FAIL(hx_alloc(&sum, (size_t)n, sizeof *sum, WHAT));
    for (int64_t cell = 0; cell < coarse->n_cell; cell++)
        for (int32_t l = coarse->cell_node_at[cell]; l < coarse->cell_node_at[cell + 1]; l++)
            cell_of[coarse->cell_node[l]] = (int32_t)cell;
    add_films(coarse, &problem->films, held, cell_of, sum);
    HX_TRY_FAIL(list_sums(films, n, sum));
fail:
    free(cell_of);
    free(sum);
    if (rc < 0) hx_coarse_springs_free(films);
    return rc;
}
