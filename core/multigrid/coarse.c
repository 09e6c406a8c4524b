#include "coarse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "coarse_grid.h"
#include "coarse_size.h"
#include "mg_params.h"

static const char *const WHAT = "multigrid coarse grids";

/* Like fmax, which is slower because it handles NaN. */
static double larger_coordinate(double a, double b)
{
    return a > b ? a : b;
}

typedef hx_coarse_grid grid;

/* End of the run of equal keys that begins at i. */
static int64_t run_end(const int32_t *key, int64_t i, int64_t n)
{
    const int32_t of = key[i];
    while (++i < n && key[i] == of) continue;
    return i;
}

/* Sorts items 0 .. n-1 by key (0 .. n_key-1), ascending within a key; at[n_key + 1] are the first
 * places. Fast if neighbouring items mostly have equal keys. */
static void sort_by_key(const int32_t *key, int64_t n, int32_t *list, int32_t *at, int64_t n_key)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k <= n_key; k++) at[k] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t stop = hx_part_begin(n, part + 1);
        for (int64_t i = hx_part_begin(n, part), end; i < stop; i = end) {
            end = run_end(key, i, stop);
#pragma omp atomic
            at[key[i]] += (int32_t)(end - i);
        }
    }
    /* ends, which become beginnings below */
    for (int64_t k = 1; k <= n_key; k++) at[k] += at[k - 1];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t stop = hx_part_begin(n, part + 1);
        for (int64_t i = hx_part_begin(n, part), end; i < stop; i = end) {
            int32_t to;
            end = run_end(key, i, stop);
#pragma omp atomic capture
            to = at[key[i]] -= (int32_t)(end - i);
            for (int64_t k = i; k < end; k++) list[to++] = (int32_t)k;
        }
    }
    at[n_key] = (int32_t)n;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n_key; k++) hx_sort_few_i32(list + at[k], at[k + 1] - at[k]);
}

/* Removes layers of cells at the far end that contain no centroid, because coarser cells there
 * would be half empty. The first layer always contains one, since elements are no wider than a
 * cell. place[e]: index of the element's cell within the resulting n. */
static int trim(const hx_coarse *coarse, const hx_mesh *mesh, int64_t n[3], int32_t *place)
{
    enum { BLOCK = 64 };
    const int64_t before[2] = {n[0], n[1]};
    int64_t last0 = 0, last1 = 0, last2 = 0;
#pragma omp parallel for schedule(static) reduction(max : last0, last1, last2)
    for (int64_t begin = 0; begin < mesh->n_elem; begin += BLOCK) {
        const int n_here = mesh->n_elem - begin < BLOCK ? (int)(mesh->n_elem - begin) : BLOCK;
        double c[3][BLOCK];
        hx_mesh_centroids(mesh, begin, n_here, (double *const[3]){c[0], c[1], c[2]});
        for (int k = 0; k < n_here; k++) {
            int64_t at[3];
            for (int i = 0; i < 3; i++) at[i] = hx_coarse_cell_along(coarse, i, c[i][k], n[i]);
            last0 = at[0] > last0 ? at[0] : last0;
            last1 = at[1] > last1 ? at[1] : last1;
            last2 = at[2] > last2 ? at[2] : last2;
            place[begin + k] = (int32_t)((at[2] * before[1] + at[1]) * before[0] + at[0]);
        }
    }
    double last[3] = {(double)last0, (double)last1, (double)last2};
    HX_TRY(hx_reduce_max(hx_mesh_reduce(mesh), 3, last));
    for (int i = 0; i < 3; i++) n[i] = (int64_t)last[i] + 1;
    if (n[0] == before[0] && n[1] == before[1]) return HX_OK;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int64_t row = place[e] / before[0], i = place[e] % before[0];
        place[e] = (int32_t)((row / before[1] * n[1] + row % before[1]) * n[0] + i);
    }
    return HX_OK;
}

/* Flags the cells that contain elements. */
static void flag_cells(grid *g, int64_t n_elem, const int32_t *place)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) {
#pragma omp atomic write
        g->cell[place[e]] = 1;
    }
}

/* (*rank)[places of n[3]], owned by the caller, as in hx_coarse_grid; own_low, own_high: range of
 * the cells that contain this rank's own elements. */
static int find_ranks(const hx_mesh *mesh, const int64_t n[3], const int32_t *place,
                      uint16_t **rank, int64_t own_low[3], int64_t own_high[3])
{
    const int64_t begin = hx_mesh_own_begin(mesh), end = hx_mesh_own_end(mesh);
    const int64_t n_place = n[0] * n[1] * n[2];
    int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {0, 0, 0};
    HX_TRY(hx_alloc_raw(rank, (size_t)n_place, sizeof **rank, WHAT));
    uint16_t *const of = *rank;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_place; i++) of[i] = HX_COARSE_NO_RANK;
#pragma omp parallel for schedule(static) reduction(min : low[:3]) reduction(max : high[:3])
    for (int64_t e = begin; e < end; e++) {
        const int64_t at[3] = {place[e] % n[0], place[e] / n[0] % n[1], place[e] / n[0] / n[1]};
        __atomic_store_n(&of[place[e]], (uint16_t)mesh->ownership->reduce->rank, __ATOMIC_RELAXED);
        for (int i = 0; i < 3; i++) {
            low[i] = at[i] < low[i] ? at[i] : low[i];
            high[i] = at[i] + 1 > high[i] ? at[i] + 1 : high[i];
        }
    }
    memcpy(own_low, low, sizeof low);
    memcpy(own_high, high, sizeof high);
    return hx_reduce_min_u16(mesh->ownership->reduce, n_place, of);
}

static void list_cells(hx_coarse *coarse, const grid *g)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = g->low[2]; k < g->high[2]; k++)
        for (int64_t j = g->low[1]; j < g->high[1]; j++)
            for (int64_t i = g->low[0]; i < g->high[0]; i++) {
                const int64_t cell = hx_coarse_grid_cell(g, i, j, k);
                const int32_t place[3] = {(int32_t)i, (int32_t)j, (int32_t)k};
                if (cell < 0) continue;
                memcpy(coarse->cell + 3 * cell, place, sizeof place);
                for (int c = 0; c < 8; c++)
                    coarse->cell_corner[8 * cell + c] =
                        hx_coarse_grid_node(g, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
            }
}

/* Lists the cells around each node of level 0. */
static void list_node_cells(hx_coarse *coarse, int64_t n_node)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 8 * n_node; k++) coarse->node_cell[k] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < coarse->n_cell; cell++)
        for (int64_t c = 0; c < 8; c++)
            coarse->node_cell[c * n_node + coarse->cell_corner[8 * cell + c]] = (int32_t)cell;
}

static void colour_cells(hx_coarse *coarse)
{
    int32_t n = 0;
    for (int colour = 0; colour < 8; colour++) {
        coarse->colour_at[colour] = n;
        for (int64_t c = 0; c < coarse->n_cell; c++) {
            const int32_t *at = coarse->cell + 3 * c;
            if ((at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1) == colour)
                coarse->coloured[n++] = (int32_t)c;
        }
    }
    coarse->colour_at[8] = n;
}

/* Grid coordinates of a point whose cells range from low to high. */
static void place_point(const hx_coarse *coarse, const double x[3], const int32_t low[3],
                        const int32_t high[3], float position[3])
{
    for (int i = 0; i < 3; i++) {
        const double at = (x[i] - coarse->origin[i]) / coarse->size[i];
        const double above = larger_coordinate(at, low[i]),
                     inside = above < low[i] + 1.0 ? above : low[i] + 1;
        position[i] = (float)(high[i] > low[i] ? high[i] : inside);
    }
}

/* Grid coordinates of the points; key[point] := the cell of its first element. */
static void place_points(hx_coarse *coarse, const hx_space *space, const int32_t *elem_cell,
                         int32_t *key)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < space->n_point; a++) {
        const int64_t begin = space->point_ptr[a], end = space->point_ptr[a + 1];
        int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {0, 0, 0}, last = -1;
        key[a] = elem_cell[hx_space_cell(space, space->point_place[begin])];
        for (int64_t k = begin; k < end; k++) {
            const int32_t cell = elem_cell[hx_space_cell(space, space->point_place[k])];
            const int32_t *const at = coarse->cell + 3 * (int64_t)cell;
            /* most elements of a point are in the same cell */
            if (cell == last || cell < 0) continue;
            last = cell;
            for (int i = 0; i < 3; i++) {
                low[i] = at[i] < low[i] ? at[i] : low[i];
                high[i] = at[i] > high[i] ? at[i] : high[i];
            }
        }
        if (last < 0) memset(low, 0, sizeof low); /* far from this rank's own cells */
        place_point(coarse, space->xyz + 3 * a, low, high, coarse->position + 3 * a);
    }
}

/* Replaces places of cells by their numbers; -1: not listed. */
static void find_cells(const grid *g, int64_t n, int32_t *key)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        key[e] = hx_coarse_grid_cell(g, key[e] % g->n[0], key[e] / g->n[0] % g->n[1],
                                     key[e] / g->n[0] / g->n[1]);
}

/* sort_by_key for cells. Items in cells that are not listed come last and belong to no cell. */
static void sort_listed(const grid *g, int64_t n, int32_t *key, int32_t *list, int32_t *at)
{
    if (!g->rank) {
        sort_by_key(key, n, list, at, g->n_cell);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        if (key[i] < 0) key[i] = (int32_t)g->n_cell;
    sort_by_key(key, n, list, at, g->n_cell + 1);
}

/* key[n_elem]: places of the elements' cells; overwritten. */
static int lay_over_mesh(hx_coarse *coarse, const hx_space *space, grid *g, int32_t *key)
{
    const hx_mesh *mesh = space->mesh;
    const size_t n_elem = (size_t)mesh->n_elem, n_node = (size_t)space->n_point;
    int32_t *node_key = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&node_key, n_node, sizeof *node_key, WHAT));
    const size_t n_cell = (size_t)g->n_cell;
    coarse->n_cell = g->n_cell;
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell, n_cell, 3 * sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell_corner, n_cell, 8 * sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->node_cell, 8 * (size_t)g->n_node, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell_elem, n_elem, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell_elem_at, n_cell + 2, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell_node, n_node, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->cell_node_at, n_cell + 2, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->position, n_node, 3 * sizeof(float), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&coarse->coloured, n_cell, sizeof(int32_t), WHAT));
    list_cells(coarse, g);
    list_node_cells(coarse, g->n_node);
    colour_cells(coarse);
    find_cells(g, mesh->n_elem, key);
    place_points(coarse, space, key, node_key);
    sort_listed(g, mesh->n_elem, key, coarse->cell_elem, coarse->cell_elem_at);
    sort_listed(g, space->n_point, node_key, coarse->cell_node, coarse->cell_node_at);
    rc = HX_OK;
fail:
    hx_free_large(node_key, n_node * sizeof *node_key);
    return rc;
}

static int list_neighbours(hx_coarse_level *level, const grid *g)
{
    const int64_t n = g->n_node;
    level->n_node = level->n_own = n;
    HX_TRY(hx_alloc_raw(&level->neighbour, (size_t)n, 27 * sizeof(int32_t), WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++) {
        const int32_t *at = g->place + 3 * a;
        for (int o = 0; o < 27; o++) {
            const int32_t b =
                hx_coarse_grid_node(g, at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1);
            level->neighbour[o * n + a] = b >= 0 ? b : (int32_t)a;
        }
    }
    return HX_OK;
}

/* The child, at an offset, of the coarse node at `at`, or -1. */
static int32_t find_child(const grid *fine, const int mode[3], const int32_t at[3], int offset)
{
    const int to[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    int64_t place[3];
    for (int i = 0; i < 3; i++) {
        if (to[i] < hx_coarse_low(mode[i]) || to[i] > hx_coarse_high(mode[i])) return -1;
        place[i] = (int64_t)hx_coarse_stride(mode[i]) * at[i] + to[i];
    }
    return hx_coarse_grid_node(fine, place[0], place[1], place[2]);
}

/* The parent, by corner of its coarse cell, of the fine node at `at`; -1 if its weight is 0. */
static int32_t find_parent(const grid *coarse, const int mode[3], const int32_t at[3], int corner)
{
    int64_t up[3];
    for (int i = 0; i < 3; i++) {
        const int bit = corner >> i & 1, stride = hx_coarse_stride(mode[i]);
        up[i] = 0;
        if (mode[i] == HX_COARSE_HALVE || mode[i] == HX_COARSE_KEEP) {
            if (bit && at[i] % stride == 0) return -1;
            up[i] = at[i] / stride + bit;
        } else if (bit != at[i]) {
            return -1;
        }
    }
    return hx_coarse_grid_node(coarse, up[0], up[1], up[2]);
}

/* Links a level (`fine`) with the next one (`coarse`). */
static int link_levels(hx_coarse_level *fine, const grid *g, hx_coarse_level *coarse,
                       const grid *next)
{
    const int64_t n = g->n_node, n_next = next->n_node;
    for (int i = 0; i < 3; i++) {
        const int mode = hx_coarse_grid_mode(g, i),
                  has_cells = mode == HX_COARSE_HALVE || mode == HX_COARSE_KEEP;
        coarse->mode[i] = mode;
        coarse->step[i] = has_cells ? hx_coarse_stride(mode) * fine->step[i] : 0.0;
    }
    HX_TRY(hx_alloc_raw(&fine->parent, (size_t)n, 8 * sizeof(int32_t), WHAT));
    HX_TRY(hx_alloc_raw(&coarse->child, (size_t)n_next, 27 * sizeof(int32_t), WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++)
        for (int c = 0; c < 8; c++)
            fine->parent[c * n + a] = find_parent(next, coarse->mode, g->place + 3 * a, c);
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_next; a++)
        for (int o = 0; o < 27; o++)
            coarse->child[o * n_next + a] = find_child(g, coarse->mode, next->place + 3 * a, o);
    return HX_OK;
}

static int32_t *take_places(grid *g)
{
    int32_t *const place = g->place;
    g->place = NULL;
    return place;
}

static int is_last(const grid *g, int n_level, int64_t n_last)
{
    const int single = g->n[0] == 1 && g->n[1] == 1 && g->n[2] == 1;
    return g->n_all <= n_last || single || n_level == HX_COARSE_LEVELS;
}

int hx_coarse_create(hx_coarse *coarse, const hx_mesh *mesh, const hx_mg_params *params,
                     double coarsening, int64_t n_last)
{
    const hx_space space = hx_space_linear(mesh);
    return hx_coarse_create_under(coarse, &space, params, coarsening, n_last);
}

/* 1 if the elements of some point lie in three or more cells along a direction. This happens for
 * splines, whose basis functions extend over degree + 1 spans. */
static int reaches_too_far(const hx_coarse *coarse, const hx_space *space, const int64_t n[3])
{
    int far = 0;
    if (space->element != HX_ELEMENT_SPLINE) return 0;
#pragma omp parallel for schedule(static) reduction(| : far)
    for (int64_t a = 0; a < space->n_point; a++) {
        int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {0, 0, 0};
        for (int64_t k = space->point_ptr[a]; k < space->point_ptr[a + 1]; k++) {
            int64_t at[3];
            hx_coarse_find_cell(coarse, space->mesh, hx_space_cell(space, space->point_place[k]), n,
                                at);
            for (int i = 0; i < 3; i++) {
                low[i] = at[i] < low[i] ? at[i] : low[i];
                high[i] = at[i] > high[i] ? at[i] : high[i];
            }
        }
        for (int i = 0; i < 3; i++) far |= high[i] > low[i] + 1;
    }
    return far;
}

struct hx_coarse_draft {
    hx_coarse coarse;        /* only its sizes are set */
    grid here;               /* numbered; on a distributed mesh only its ranks, and counted */
    int32_t *place;          /* [n_elem] place of the element's cell within the grid */
    int64_t low[3], high[3]; /* on a distributed mesh: cells of this rank's own elements */
};

void hx_coarse_draft_free(hx_coarse_draft *draft)
{
    if (!draft) return;
    hx_coarse_grid_free(&draft->here);
    free(draft->place);
    free(draft);
}

/* Numbers the finest grid, or counts it if the mesh is distributed. */
static int begin_grid(hx_coarse_draft *draft, const hx_mesh *mesh,
                      const hx_mg_coarsening_params *params, const int64_t n[3],
                      const int64_t layer[3])
{
    uint16_t *rank = NULL;
    if (!mesh->ownership) {
        HX_TRY(hx_coarse_grid_alloc(&draft->here, params, n, layer));
        flag_cells(&draft->here, mesh->n_elem, draft->place);
        return hx_coarse_grid_number(&draft->here);
    }
    const int rc = find_ranks(mesh, n, draft->place, &rank, draft->low, draft->high);
    hx_coarse_grid_begin(&draft->here, params, n, layer, rank);
    if (rc == HX_OK) hx_coarse_grid_count(&draft->here);
    return rc;
}

int hx_coarse_begin(hx_coarse_draft **out, const hx_space *space, const hx_mg_params *params,
                    double coarsening)
{
    const hx_mesh *mesh = space->mesh;
    const int is_linear = space->element == HX_ELEMENT_LINEAR;
    hx_coarse_draft *draft;
    int64_t n[3], layer[3];
    int rc;
    *out = NULL;
    HX_TRY(hx_alloc(&draft, 1, sizeof *draft, WHAT));
    hx_coarse *const coarse = &draft->coarse;
    HX_TRY_FAIL(hx_coarse_choose_size(coarse, mesh, params, coarsening, is_linear, n));
    while (reaches_too_far(coarse, space, n))
        HX_TRY_FAIL(hx_coarse_choose_size(coarse, mesh, params, coarsening *= 1.25, is_linear, n));
    HX_TRY_FAIL(hx_alloc_raw(&draft->place, (size_t)mesh->n_elem, sizeof *draft->place, WHAT));
    HX_TRY_FAIL(trim(coarse, mesh, n, draft->place));
    for (int i = 0; i < 3; i++) layer[i] = n[i] + 1;
    HX_TRY_FAIL(begin_grid(draft, mesh, &params->coarsening, n, layer));
    *out = draft;
    return HX_OK;
fail:
    hx_coarse_draft_free(draft);
    return rc;
}

void hx_coarse_draft_size(const hx_coarse_draft *draft, double *n_node, double *n_cell)
{
    *n_node = (double)draft->here.n_all;
    *n_cell = (double)draft->here.n_cell_all;
}

/* Which part of a level is listed: only that around own cells, if all finer levels are distributed
 * and it is large, or the whole. */
typedef struct listing {
    int64_t n_last, most_whole;
    int64_t low[3], high[3]; /* cells of this rank's own elements */
    int is_shared;           /* 1: the previous level is distributed */
} listing;

/* Numbers a level of a distributed mesh: around own cells if it is large, otherwise completely. */
static int list_level(listing *l, grid *g, int n_level)
{
    l->is_shared = l->is_shared && g->n_all > l->most_whole && !is_last(g, n_level, l->n_last);
    HX_TRY(l->is_shared ? hx_coarse_grid_list(g, l->low, l->high)
                        : hx_coarse_grid_list(g, NULL, NULL));
    return hx_coarse_grid_number(g);
}

static int next_level(listing *l, const grid *g, grid *next, int n_level)
{
    HX_TRY(hx_coarse_grid_coarsen(g, next));
    if (!next->rank) return hx_coarse_grid_number(next);
    for (int i = 0; i < 3; i++) {
        if (hx_coarse_grid_mode(g, i) == HX_COARSE_KEEP) continue;
        l->low[i] /= 2;
        l->high[i] = (l->high[i] + 1) / 2;
    }
    hx_coarse_grid_count(next);
    return list_level(l, next, n_level);
}

/* (level->rank)[n_node]: lowest rank with an element in a cell around the node. */
static int list_ranks(hx_coarse_level *level, const grid *g)
{
    if (!g->rank) return HX_OK;
    HX_TRY(hx_alloc_raw(&level->rank, (size_t)g->n_node, sizeof *level->rank, WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < g->n_node; a++) {
        const int32_t *const at = g->place + 3 * a;
        level->rank[a] = HX_COARSE_NO_RANK;
        for (int c = 0; c < 8; c++) {
            const int64_t x = at[0] - (c & 1), y = at[1] - (c >> 1 & 1), z = at[2] - (c >> 2);
            if (x < 0 || y < 0 || z < 0 || x >= g->n[0] || y >= g->n[1] || z >= g->n[2]) continue;
            const uint16_t rank = g->rank[hx_coarse_grid_place(g, x, y, z)];
            level->rank[a] = rank < level->rank[a] ? rank : level->rank[a];
        }
    }
    return HX_OK;
}

static int list_level_nodes(hx_coarse_level *level, const grid *g)
{
    level->n_all = g->n_all;
    memcpy(level->layer, g->layer, sizeof level->layer);
    HX_TRY(list_ranks(level, g));
    return list_neighbours(level, g);
}

static int list_levels(hx_coarse *coarse, grid *here, listing *l)
{
    grid next;
    for (;;) {
        hx_coarse_level *level = &coarse->level[coarse->n_level++];
        HX_TRY(list_level_nodes(level, here));
        if (is_last(here, coarse->n_level, l->n_last)) break;
        memset(&next, 0, sizeof next);
        int rc = next_level(l, here, &next, coarse->n_level + 1);
        if (rc == HX_OK) rc = link_levels(level, here, level + 1, &next);
        if (rc < 0) hx_coarse_grid_free(&next);
        HX_TRY(rc);
        level->place = take_places(here);
        hx_coarse_grid_free(here);
        *here = next;
    }
    coarse->level[coarse->n_level - 1].place = take_places(here);
    return HX_OK;
}

int hx_coarse_finish(hx_coarse *coarse, const hx_space *space, hx_coarse_draft *draft,
                     int64_t n_last, int64_t most_whole)
{
    grid *const here = &draft->here;
    listing l = {.n_last = n_last, .most_whole = most_whole, .is_shared = 1};
    int rc;
    *coarse = draft->coarse;
    memcpy(l.low, draft->low, sizeof l.low);
    memcpy(l.high, draft->high, sizeof l.high);
    if (here->rank) HX_TRY_FAIL(list_level(&l, here, 1));
    HX_TRY_FAIL(lay_over_mesh(coarse, space, here, draft->place));
    hx_free_large(draft->place, (size_t)space->mesh->n_elem * sizeof *draft->place);
    draft->place = NULL;
    for (int i = 0; i < 3; i++) coarse->level[0].step[i] = coarse->size[i] / coarse->unit;
    rc = list_levels(coarse, here, &l);
fail:
    hx_coarse_draft_free(draft);
    if (rc < 0) hx_coarse_free(coarse);
    return rc;
}

int hx_coarse_create_under(hx_coarse *coarse, const hx_space *space, const hx_mg_params *params,
                           double coarsening, int64_t n_last)
{
    hx_coarse_draft *draft;
    memset(coarse, 0, sizeof *coarse);
    HX_TRY(hx_coarse_begin(&draft, space, params, coarsening));
    return hx_coarse_finish(coarse, space, draft, n_last, 0);
}

void hx_coarse_free(hx_coarse *coarse)
{
    for (int l = 0; l < HX_COARSE_LEVELS; l++) {
        free(coarse->level[l].neighbour);
        free(coarse->level[l].place);
        free(coarse->level[l].rank);
        free(coarse->level[l].child);
        free(coarse->level[l].parent);
        free(coarse->level[l].divided);
    }
    free(coarse->cell);
    free(coarse->cell_corner);
    free(coarse->node_cell);
    free(coarse->cell_elem);
    free(coarse->cell_elem_at);
    free(coarse->cell_node);
    free(coarse->cell_node_at);
    free(coarse->position);
    free(coarse->coloured);
    memset(coarse, 0, sizeof *coarse);
}
