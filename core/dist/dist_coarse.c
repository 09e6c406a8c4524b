/* Distributed coarse grids. Each rank has the nodes of a large grid that surround its elements:
 * complete rows for its own nodes, and ghosts, which are coupled with own nodes or receive
 * values from them. The backend's operations run over all local nodes as if they were a grid of
 * their own; afterwards ghosts receive the values of their owners. Quantities summed over
 * elements or finer nodes (matrices, right-hand sides) are partial sums at first; the owner of a
 * node adds the contributions of other ranks in the order of the ranks. Small grids are
 * replicated on every rank. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../multigrid/coarse_local.h"
#include "local_level.h"

static const char what[] = "a distributed coarse grid";
enum { OFFSETS = HX_COARSE_OFFSETS, CORNERS = 8 };

/* --- the local part of a coarse grid --- */

enum { TOUCHED = 1, NEEDED = 2 };

static void free_view(hx_level_view *v)
{
    free(v->owner);
    free(v->number);
    free(v->node);
    free(v->code);
    free(v->n_touch);
    free(v->n_ghost);
    free(v->first);
}

static int create_view(hx_level_view *v, int64_t n, int size)
{
    v->n = n;
    HX_TRY(hx_alloc_raw(&v->owner, (size_t)n, sizeof *v->owner, what));
    HX_TRY(hx_alloc_raw(&v->number, (size_t)n, sizeof *v->number, what));
    HX_TRY(hx_alloc(&v->n_touch, (size_t)size, sizeof *v->n_touch, what));
    HX_TRY(hx_alloc(&v->n_ghost, (size_t)size, sizeof *v->n_ghost, what));
    return hx_alloc(&v->first, (size_t)size, sizeof *v->first, what);
}

/* The owner of a node is the lowest rank with an element in a cell around it; the elements of a
 * cell are listed in ascending order. */
static void own_finest(const hx_dist *dist, const hx_coarse *coarse, hx_level_view *v)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < v->n; a++) {
        int32_t least = INT32_MAX;
        for (int c = 0; c < CORNERS; c++) {
            const int32_t cell = coarse->node_cell[c * v->n + a];
            if (cell < 0) continue;
            const int32_t elem = coarse->cell_elem[coarse->cell_elem_at[cell]];
            least = elem < least ? elem : least;
        }
        v->owner[a] = hx_subdomain_rank_of(&dist->subdomain, dist->comm->size, least);
    }
}

/* Owners on any level of a distributed mesh, where each node already has its rank. */
static void own_by_ranks(const hx_coarse_level *level, hx_level_view *v)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < v->n; a++) v->owner[a] = level->rank[a];
}

/* The owner of a node is the lowest owner of its children. */
static void own_coarser(const hx_coarse_level *level, const hx_level_view *fine, hx_level_view *v,
                        int size)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < v->n; a++) {
        v->owner[a] = size;
        for (int o = 0; o < OFFSETS; o++) {
            const int32_t child = level->child[o * v->n + a];
            if (child >= 0 && fine->owner[child] < v->owner[a]) v->owner[a] = fine->owner[child];
        }
    }
}

/* Marks the corners of this rank's cells. Must come first, since it overwrites `state`. */
static void touch_cells(const hx_coarse *coarse, uint8_t *state)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < CORNERS * coarse->n_cell; k++) {
#pragma omp atomic write
        state[coarse->cell_corner[k]] = TOUCHED;
    }
}

/* Marks own nodes and their neighbours. If b is the neighbour of a at an offset, then a is the
 * neighbour of b at the opposite offset, so looking up owners of neighbours is sufficient. */
static void need_neighbours(const hx_coarse_level *level, const hx_level_view *v, int rank,
                            uint8_t *state)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < v->n; a++)
        for (int o = 0; o < OFFSETS; o++)
            if (v->owner[level->neighbour[o * v->n + a]] == rank) state[a] |= NEEDED;
}

/* Parents of own nodes receive contributions from this rank; parents of all local nodes provide
 * values for prolongation. */
static void touch_parents(const hx_coarse_level *level, const hx_level_view *fine, int64_t n,
                          uint8_t *state)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++)
        for (int o = 0; o < OFFSETS; o++) {
            const int32_t child = level->child[o * n + a];
            if (child < 0 || fine->number[child] < 0) continue;
            state[a] |= fine->number[child] < fine->n_own ? TOUCHED : NEEDED;
        }
}

/* Numbers own nodes first, then ghosts by owner, those to which this rank contributes first; each
 * group ascends. */
static int number_level_nodes(hx_level_view *v, int rank, int size, const uint8_t *state)
{
    int64_t n = 0;
    for (int64_t a = 0; a < v->n; a++) {
        v->number[a] = -1;
        if (!state[a]) continue;
        if (v->owner[a] == rank) {
            v->number[a] = (int32_t)v->n_own++;
            continue;
        }
        v->n_ghost[v->owner[a]]++;
        v->n_touch[v->owner[a]] += state[a] & TOUCHED;
    }
    n = v->n_own;
    for (int r = 0; r < size; r++) {
        v->first[r] = n;
        n += v->n_ghost[r];
    }
    v->n_local = n;
    HX_TRY(hx_alloc_raw(&v->node, (size_t)n, sizeof *v->node, what));
    for (int is_last = 0; is_last < 2; is_last++)
        for (int64_t a = 0; a < v->n; a++) {
            const int is_touched = (state[a] & TOUCHED) != 0;
            if (!state[a] || v->owner[a] == rank || is_touched == is_last) continue;
            v->number[a] = (int32_t)v->first[v->owner[a]]++;
        }
    for (int r = 0; r < size; r++) v->first[r] -= v->n_ghost[r];
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < v->n; a++)
        if (v->number[a] >= 0) v->node[v->number[a]] = (int32_t)a;
    return HX_OK;
}

/* Makes v[l] of levels 0 .. n - 1. The owners of level 0 are known, and the cells of the coarse
 * grid are already those of the subdomain. */
static int find_views(const hx_dist *dist, const hx_coarse *coarse, int n, hx_level_view *v)
{
    const int rank = dist->comm->rank, size = dist->comm->size;
    for (int l = 0; l < n; l++) {
        const hx_coarse_level *const level = &coarse->level[l];
        uint8_t *state;
        if (l > 0) HX_TRY(create_view(&v[l], level->n_node, size));
        if (l > 0 && level->rank)
            own_by_ranks(level, &v[l]);
        else if (l > 0)
            own_coarser(level, &v[l - 1], &v[l], size);
        HX_TRY(hx_alloc(&state, (size_t)level->n_node, 1, what));
        if (l == 0)
            touch_cells(coarse, state);
        else
            touch_parents(level, &v[l - 1], level->n_node, state);
        need_neighbours(level, &v[l], rank, state);
        const int rc = number_level_nodes(&v[l], rank, size, state);
        free(state);
        HX_TRY(rc);
    }
    return HX_OK;
}

/* --- restriction of the grid's lists to local nodes --- */

static int take_list(int32_t **list, int n_row, const hx_level_view *v, const int32_t *number)
{
    int32_t *to;
    HX_TRY(hx_alloc_raw(&to, (size_t)n_row * (size_t)v->n_local, sizeof *to, what));
    for (int o = 0; o < n_row; o++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < v->n_local; i++) {
            const int32_t from = (*list)[o * v->n + v->node[i]];
            to[o * v->n_local + i] = from >= 0 && number ? number[from] : from;
        }
    free(*list);
    *list = to;
    return HX_OK;
}

/* With a distributed mesh, lists cover only a part of the grid, so nodes get global numbers
 * computed from their grid positions. */
static int find_codes(const hx_coarse_level *level, hx_level_view *v)
{
    if (!level->rank) return HX_OK;
    HX_TRY(hx_alloc_raw(&v->code, (size_t)v->n_local, sizeof *v->code, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < v->n_local; i++) {
        const int32_t *const at = level->place + 3 * (int64_t)v->node[i];
        v->code[i] = (at[2] * level->layer[1] + at[1]) * level->layer[0] + at[0];
    }
    return HX_OK;
}

static int take_places(hx_coarse_level *level, const hx_level_view *v)
{
    int32_t *to;
    HX_TRY(hx_alloc_raw(&to, 3 * (size_t)v->n_local, sizeof *to, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < v->n_local; i++)
        memcpy(to + 3 * i, level->place + 3 * (int64_t)v->node[i], 3 * sizeof *to);
    free(level->place);
    level->place = to;
    return HX_OK;
}

/* Removes children that are not own nodes: the contribution of their owner includes them. */
static void drop_children(int32_t *child, int64_t n, int64_t n_own)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < OFFSETS * n; k++)
        if (child[k] >= n_own) child[k] = -1;
}

/* coarser: the view of the next level; NULL if that is replicated. */
static int localise(hx_coarse_level *level, hx_level_view *v, const hx_level_view *finer,
                    const hx_level_view *coarser)
{
    HX_TRY(find_codes(level, v));
    HX_TRY(take_places(level, v));
    HX_TRY(take_list(&level->neighbour, OFFSETS, v, v->number));
#pragma omp parallel for schedule(static)
    /* a ghost's neighbour that is not local: use the ghost itself */
    for (int64_t k = 0; k < OFFSETS * v->n_local; k++)
        if (level->neighbour[k] < 0) level->neighbour[k] = (int32_t)(k % v->n_local);
    if (finer) {
        HX_TRY(take_list(&level->child, OFFSETS, v, finer->number));
        drop_children(level->child, v->n_local, finer->n_own);
    }
    HX_TRY(take_list(&level->parent, CORNERS, v, coarser ? coarser->number : NULL));
    level->n_node = v->n_local;
    level->n_own = v->n_own;
    free(level->rank); /* ranks of the original nodes */
    level->rank = NULL;
    return HX_OK;
}

static int localise_all(hx_coarse *coarse, int n, hx_level_view *v)
{
    hx_coarse_level *const whole = &coarse->level[n];
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < CORNERS * coarse->n_cell; k++)
        /* NOLINTNEXTLINE(clang-analyzer-core*): find_views made v[0].number */
        coarse->cell_corner[k] = v[0].number[coarse->cell_corner[k]];
    HX_TRY(take_list(&coarse->node_cell, CORNERS, &v[0], NULL));
    for (int l = 0; l < n; l++)
        HX_TRY(localise(&coarse->level[l], &v[l], l > 0 ? &v[l - 1] : NULL,
                        l + 1 < n ? &v[l + 1] : NULL));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < OFFSETS * whole->n_node; k++)
        if (whole->child[k] >= 0) whole->child[k] = v[n - 1].number[whole->child[k]];
    drop_children(whole->child, whole->n_node, v[n - 1].n_own);
    return HX_OK;
}

/* Returns the number of distributed levels: the finest ones, as long as they are large; at least
 * one level stays replicated. */
static int count_shared(const hx_dist *dist, const hx_coarse *coarse)
{
    const hx_problem *const whole = dist->subdomain.whole;
    int n = 0;
    if (whole->space.element != HX_ELEMENT_LINEAR || whole->rigid.n > 0) return 0;
    while (n + 1 < coarse->n_level && coarse->level[n].n_all > dist->most_whole) n++;
    return n;
}

/* Marks rows that are sums over several ranks, and rows of other ranks. */
static int mark_divided(hx_coarse_level *level)
{
    const hx_local_level *const s = level->local;
    HX_TRY(hx_alloc(&level->divided, (size_t)level->n_node, sizeof *level->divided, what));
    memset(level->divided + s->n_own, 1, (size_t)(level->n_node - s->n_own));
    for (int64_t i = 0; i < s->n_sum; i++) level->divided[s->sum[i]] = 1;
    return HX_OK;
}

int64_t hx_dist_most_whole(hx_device *dev)
{
    return hx_dist_of(dev)->most_whole;
}

int hx_dist_split_coarse(hx_device *dev, hx_coarse *coarse)
{
    hx_dist *const dist = hx_dist_of(dev);
    const int n = count_shared(dist, coarse);
    hx_level_view v[HX_COARSE_LEVELS] = {{0}};
    int rc;
    if (n > 0) {
        HX_TRY_FAIL(create_view(&v[0], coarse->level[0].n_node, dist->comm->size));
        if (coarse->level[0].rank)
            own_by_ranks(&coarse->level[0], &v[0]);
        else
            own_finest(dist, coarse, &v[0]);
    }
    HX_TRY_FAIL(hx_coarse_cut(coarse, &dist->subdomain.problem));
    if (n == 0) return HX_OK;
    HX_TRY_FAIL(find_views(dist, coarse, n, v));
    HX_TRY_FAIL(localise_all(coarse, n, v));
    for (int l = 0; l < n; l++) {
        HX_TRY_FAIL(hx_local_level_create(dist, &v[l], &coarse->level[l].local));
        HX_TRY_FAIL(mark_divided(&coarse->level[l]));
    }
    coarse->n_shared = n;
fail:
    for (int l = 0; l < n; l++) free_view(&v[l]);
    return rc;
}
