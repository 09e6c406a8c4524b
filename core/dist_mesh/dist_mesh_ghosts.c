/* Ghosts: each rank marks the cells of a global grid that lie within reach of its own elements, and
 * every other rank sends its elements in those cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../comm/comm_alltoall.h"
#include "../mesh/cell_marks.h"
#include "dist_mesh_internal.h"

static const char what[] = "a part of a distributed mesh";

/* A grid over the global mesh, with the cells of own elements. */
typedef struct near_grid {
    double low[3], size;
    int64_t n[3], n_cell, width[3];
    int32_t *cell; /* [n_own] cell of the centroid (owned, like the next two) */
    uint8_t *mark; /* [n_cell] */
    uint8_t *bits; /* [reduce->size][n_byte] cells marked by each rank */
    size_t n_byte;
} near_grid;

static void free_grid(near_grid *g)
{
    free(g->cell);
    free(g->mark);
    free(g->bits);
}

double hx_dist_mesh_reach(const hx_dist_mesh_task *task, const hx_dist_mesh_piece *p)
{
    return task->params->reach * (task->params->in_elements ? p->elem_size : 1.0);
}

/* Cells are two element edges wide, or wider if the mesh fills little of its bounding box. */
static void lay_grid(near_grid *g, const hx_dist_mesh_task *task, const hx_dist_mesh_piece *p)
{
    const double n_elem = (double)task->source->n_elem, size = cbrt(p->volume / n_elem);
    const double reach = hx_dist_mesh_reach(task, p);
    const double most = fmin(n_elem + 64.0, (double)(1 << 28));
    double n_cell = INFINITY;
    g->size = 2.0 * size;
    for (; n_cell > most; g->size *= 1.25) {
        n_cell = 1.0;
        for (int d = 0; d < 3; d++) n_cell *= floor((p->high[d] - p->low[d]) / g->size) + 1.0;
        if (n_cell <= most) break;
    }
    g->n_cell = 1;
    for (int d = 0; d < 3; d++) {
        g->low[d] = p->low[d];
        g->n[d] = (int64_t)floor((p->high[d] - p->low[d]) / g->size) + 1;
        g->n_cell *= g->n[d];
        g->width[d] = hx_cell_marks_reach(fmax(reach, 2.0 * p->half[d]), g->size);
    }
}

static int64_t cell_at(const near_grid *g, const double x[3])
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = (int64_t)floor((x[d] - g->low[d]) / g->size);
        at[d] = at[d] < 0 ? 0 : at[d] >= g->n[d] ? g->n[d] - 1 : at[d];
    }
    return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

static void mark_block(near_grid *g, const hx_dist_mesh_block *b, int64_t at)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < b->n; k++) {
        double x[3];
        int32_t conn[8];
        hx_dist_mesh_block_conn(b, k, conn);
        hx_cell_centroid(b->xyz, conn, x);
        const int64_t cell = cell_at(g, x);
        g->cell[at + k] = (int32_t)cell;
#pragma omp atomic write
        g->mark[cell] = 1;
    }
}

static int mark_own(const hx_dist_mesh_task *task, near_grid *g, int64_t n_own, const int64_t *own)
{
    hx_dist_mesh_block block = {0};
    int64_t n_block;
    int rc;
    HX_TRY_FAIL(hx_dist_mesh_block_create(&block, n_own));
    HX_TRY_FAIL(hx_dist_mesh_n_block(task, n_own, &n_block));
    for (int64_t i = 0; i < n_block; i++) {
        const int64_t at = hx_dist_mesh_block_take(&block, i, n_own, own, 0);
        HX_TRY_FAIL(hx_dist_mesh_block_fill(task, &block, 1));
        mark_block(g, &block, at);
    }
fail:
    hx_dist_mesh_block_free(&block);
    return rc;
}

/* Gathers the marked cells of all ranks. */
static int share_marks(const hx_dist_mesh_task *task, near_grid *g)
{
    const int me = task->comm->rank;
    g->n_byte = ((size_t)g->n_cell + 7) / 8;
    HX_TRY(hx_alloc(&g->bits, (size_t)task->comm->size * g->n_byte, 1, what));
    uint8_t *const own = g->bits + (size_t)me * g->n_byte;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < g->n_byte; i++)
        for (int b = 0; b < 8; b++) {
            const int64_t cell = (int64_t)(8 * i) + b;
            if (cell < g->n_cell && g->mark[cell]) own[i] |= (uint8_t)(1 << b);
        }
    uint8_t *copy;
    HX_TRY(hx_alloc_raw(&copy, g->n_byte, 1, what));
    memcpy(copy, own, g->n_byte);
    const int rc = task->comm->ops->all_gather(task->comm, copy, g->n_byte, g->bits);
    free(copy);
    return rc;
}

static int needs_cell(const near_grid *g, int rank, int64_t cell)
{
    return g->bits[(size_t)rank * g->n_byte + (size_t)cell / 8] >> (cell % 8) & 1;
}

/* Lists own elements in the cells marked by a rank; returns their number. out may be NULL. */
static int64_t list_for(const near_grid *g, int rank, int64_t n_own, const int64_t *own,
                        int64_t *out)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = 0;
        for (int64_t e = hx_part_begin(n_own, part); e < hx_part_begin(n_own, part + 1); e++)
            n += needs_cell(g, rank, g->cell[e]);
        first[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    if (!out) return first[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first[part];
        for (int64_t e = hx_part_begin(n_own, part); e < hx_part_begin(n_own, part + 1); e++)
            if (needs_cell(g, rank, g->cell[e])) out[next++] = own[e];
    }
    return first[HX_N_PART];
}

/* *out := elements sent to each rank, and all own elements for this rank; the caller frees it. */
static int list_all(const hx_dist_mesh_task *task, const near_grid *g, int64_t n_own,
                    const int64_t *own, int64_t *out_first, int64_t **out)
{
    const int size = task->comm->size, me = task->comm->rank;
    out_first[0] = 0;
    for (int r = 0; r < size; r++)
        out_first[r + 1] = out_first[r] + (r == me ? n_own : list_for(g, r, n_own, own, NULL));
    HX_TRY(hx_alloc_raw(out, (size_t)out_first[size], sizeof **out, what));
    for (int r = 0; r < size; r++) {
        if (r == me)
            memcpy(*out + out_first[r], own, (size_t)n_own * sizeof *own);
        else
            list_for(g, r, n_own, own, *out + out_first[r]);
    }
    return HX_OK;
}

int hx_dist_mesh_find_ghosts(const hx_dist_mesh_task *task, const hx_dist_mesh_piece *p,
                             int64_t n_own, const int64_t *own, int64_t *first, int64_t **elem)
{
    const hx_comm *const comm = task->comm;
    near_grid g = {.cell = NULL};
    int64_t *out_first = NULL, *out = NULL;
    int rc;
    *elem = NULL;
    lay_grid(&g, task, p);
    HX_TRY_FAIL(hx_alloc_raw(&g.cell, (size_t)n_own, sizeof *g.cell, what));
    HX_TRY_FAIL(hx_alloc(&g.mark, (size_t)g.n_cell, 1, what));
    HX_TRY_FAIL(mark_own(task, &g, n_own, own));
    hx_cell_marks_widen(g.mark, g.n, g.width);
    HX_TRY_FAIL(share_marks(task, &g));
    HX_TRY_FAIL(hx_alloc(&out_first, (size_t)comm->size + 1, sizeof *out_first, what));
    HX_TRY_FAIL(list_all(task, &g, n_own, own, out_first, &out));
    free_grid(&g);
    memset(&g, 0, sizeof g);
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, out_first, first));
    HX_TRY_FAIL(hx_alloc_raw(elem, (size_t)first[comm->size], sizeof **elem, what));
    rc = hx_comm_alltoallv(comm, out_first, first, sizeof **elem, out, *elem);
fail:
    free_grid(&g);
    free(out_first);
    free(out);
    return rc;
}
