#include "lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "lattice_size.h"

static const char *const WHAT = "multigrid lattice";

/* The larger one; fmax, which asks for NaN, is a call. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The places of one lattice, and which of them are used. */
typedef struct grid {
    int64_t n[3];     /* cells */
    int64_t layer[3]; /* of nodes: one more than cells, or 1 where they have collapsed */
    int32_t *cell;    /* [n0 n1 n2] number of the cell, or -1 */
    int32_t *node;    /* [layer0 layer1 layer2] number of the node, or -1 */
    int32_t *place;   /* [n_node][3] */
    int64_t n_cell, n_node;
} grid;

static int64_t cell_at(const grid *g, int64_t i, int64_t j, int64_t k)
{
    return (k * g->n[1] + j) * g->n[0] + i;
}

static int64_t node_at(const grid *g, int64_t i, int64_t j, int64_t k)
{
    return (k * g->layer[1] + j) * g->layer[0] + i;
}

static int64_t n_cell_place(const grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

static int64_t n_node_place(const grid *g)
{
    return g->layer[0] * g->layer[1] * g->layer[2];
}

static void free_grid(grid *g)
{
    free(g->cell);
    free(g->node);
    free(g->place);
    memset(g, 0, sizeof *g);
}

static int alloc_grid(grid *g, const int64_t n[3], const int64_t layer[3])
{
    memset(g, 0, sizeof *g);
    memcpy(g->n, n, sizeof g->n);
    memcpy(g->layer, layer, sizeof g->layer);
    HX_TRY(hx_alloc(&g->cell, (size_t)n_cell_place(g), sizeof *g->cell, WHAT));
    return hx_alloc(&g->node, (size_t)n_node_place(g), sizeof *g->node, WHAT);
}

/* Flags (0 or 1) to numbers in order, -1 where 0; returns how many. */
static int64_t number_flags(int32_t *flag, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) flag[i] = flag[i] ? (int32_t)count++ : -1;
    return count;
}

/* Numbers the flagged cells and their corners. */
static int number_grid(grid *g)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < g->layer[2]; k++)
        for (int64_t j = 0; j < g->layer[1]; j++)
            for (int64_t i = 0; i < g->layer[0]; i++) {
                int used = 0;
                for (int c = 0; c < 8; c++) { /* the cells around; of a collapsed one, cell 0 */
                    const int64_t x = i - (c & 1), y = j - (c >> 1 & 1), z = k - (c >> 2);
                    if (x >= 0 && y >= 0 && z >= 0 && x < g->n[0] && y < g->n[1] && z < g->n[2])
                        used |= g->cell[cell_at(g, x, y, z)];
                }
                g->node[node_at(g, i, j, k)] = used;
            }
    g->n_cell = number_flags(g->cell, n_cell_place(g));
    g->n_node = number_flags(g->node, n_node_place(g));
    HX_TRY(hx_alloc_raw(&g->place, (size_t)g->n_node, 3 * sizeof *g->place, WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < g->layer[2]; k++)
        for (int64_t j = 0; j < g->layer[1]; j++)
            for (int64_t i = 0; i < g->layer[0]; i++) {
                const int64_t node = g->node[node_at(g, i, j, k)];
                const int32_t place[3] = {(int32_t)i, (int32_t)j, (int32_t)k};
                if (node >= 0) memcpy(g->place + 3 * node, place, sizeof place);
            }
    return HX_OK;
}

/* Past the end of the run of equal keys that begins at i. */
static int64_t run_end(const int32_t *key, int64_t i, int64_t n)
{
    const int32_t of = key[i];
    while (++i < n && key[i] == of) continue;
    return i;
}

/* Items 0 .. n-1 by key (0 .. n_key-1), ascending within a key; at[n_key + 1]. Items that follow
 * each other have the same key, mostly. */
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
    for (int64_t k = 1; k <= n_key; k++) at[k] += at[k - 1]; /* ends; they become beginnings */
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

/* The cell that holds an element's centroid, of n[3]. */
static void find_cell(const hx_lattice *lattice, const hx_mesh *mesh, int64_t e, const int64_t n[3],
                      int64_t at[3])
{
    double c[3];
    hx_mesh_centroid(mesh, e, c);
    for (int i = 0; i < 3; i++) {
        at[i] = (int64_t)floor((c[i] - lattice->origin[i]) / lattice->size[i]);
        at[i] = at[i] < 0 ? 0 : at[i] >= n[i] ? n[i] - 1 : at[i];
    }
}

/* Takes off a last layer of cells that no centroid lies in: coarser cells would stand half empty
 * for it. The first layer has one, elements being no wider than a cell. place[e]: of the element's
 * cell among the n as they are then. */
static int trim(const hx_lattice *lattice, const hx_mesh *mesh, int64_t n[3], int32_t *place)
{
    const int64_t before[2] = {n[0], n[1]};
    int64_t last0 = 0, last1 = 0, last2 = 0;
#pragma omp parallel for schedule(static) reduction(max : last0, last1, last2)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int64_t at[3];
        find_cell(lattice, mesh, e, n, at);
        last0 = at[0] > last0 ? at[0] : last0;
        last1 = at[1] > last1 ? at[1] : last1;
        last2 = at[2] > last2 ? at[2] : last2;
        place[e] = (int32_t)((at[2] * before[1] + at[1]) * before[0] + at[0]);
    }
    double last[3] = {(double)last0, (double)last1, (double)last2};
    HX_TRY(hx_all_most(hx_mesh_all(mesh), 3, last));
    for (int i = 0; i < 3; i++) n[i] = (int64_t)last[i] + 1;
    if (n[0] == before[0] && n[1] == before[1]) return HX_OK;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int64_t row = place[e] / before[0], i = place[e] % before[0];
        place[e] = (int32_t)((row / before[1] * n[1] + row % before[1]) * n[0] + i);
    }
    return HX_OK;
}

/* Flags the cells that elements are in. */
static void flag_cells(grid *g, int64_t n_elem, const int32_t *place)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) {
#pragma omp atomic write
        g->cell[place[e]] = 1;
    }
}

enum { NO_RANK = UINT16_MAX };

/* (*rank)[places], the caller's: the lowest process with an own element in a cell. Flags those that
 * any has. */
static int flag_ranks(grid *g, const hx_mesh *mesh, const int32_t *place, uint16_t **rank)
{
    const int64_t begin = hx_mesh_own_begin(mesh), end = hx_mesh_own_end(mesh);
    const int64_t n = n_cell_place(g);
    HX_TRY(hx_alloc_raw(rank, (size_t)n, sizeof **rank, WHAT));
    uint16_t *const of = *rank;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) of[i] = NO_RANK;
#pragma omp parallel for schedule(static)
    for (int64_t e = begin; e < end; e++)
        __atomic_store_n(&of[place[e]], (uint16_t)mesh->window->all->rank, __ATOMIC_RELAXED);
    HX_TRY(hx_all_least_u16(mesh->window->all, n, of));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) g->cell[i] = of[i] != NO_RANK;
    return HX_OK;
}

/* rank[] of places becomes that of cells, in place: a cell's number is at most its place. */
static void pack_ranks(const grid *g, uint16_t *rank)
{
    for (int64_t i = 0; i < n_cell_place(g); i++)
        if (g->cell[i] >= 0) rank[g->cell[i]] = rank[i];
}

static void list_cells(hx_lattice *lattice, const grid *g)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < g->n[2]; k++)
        for (int64_t j = 0; j < g->n[1]; j++)
            for (int64_t i = 0; i < g->n[0]; i++) {
                const int64_t cell = g->cell[cell_at(g, i, j, k)];
                const int32_t place[3] = {(int32_t)i, (int32_t)j, (int32_t)k};
                if (cell < 0) continue;
                memcpy(lattice->cell + 3 * cell, place, sizeof place);
                for (int c = 0; c < 8; c++)
                    lattice->cell_corner[8 * cell + c] =
                        g->node[node_at(g, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
            }
}

/* The cells around each node of level 0. */
static void list_node_cells(hx_lattice *lattice, int64_t n_node)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 8 * n_node; k++) lattice->node_cell[k] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < lattice->n_cell; cell++)
        for (int64_t c = 0; c < 8; c++)
            lattice->node_cell[c * n_node + lattice->cell_corner[8 * cell + c]] = (int32_t)cell;
}

static void colour_cells(hx_lattice *lattice)
{
    int32_t n = 0;
    for (int colour = 0; colour < 8; colour++) {
        lattice->colour_at[colour] = n;
        for (int64_t c = 0; c < lattice->n_cell; c++) {
            const int32_t *at = lattice->cell + 3 * c;
            if ((at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1) == colour)
                lattice->coloured[n++] = (int32_t)c;
        }
    }
    lattice->colour_at[8] = n;
}

/* Lattice coordinates of a point whose cells lie from low to high. */
static void place_point(const hx_lattice *lattice, const double x[3], const int32_t low[3],
                        const int32_t high[3], float position[3])
{
    for (int i = 0; i < 3; i++) {
        const double at = (x[i] - lattice->origin[i]) / lattice->size[i];
        const double above = larger(at, low[i]), inside = above < low[i] + 1.0 ? above : low[i] + 1;
        position[i] = (float)(high[i] > low[i] ? high[i] : inside);
    }
}

/* Lattice coordinates of the points; key[point] := the cell of its first element. */
static void place_points(hx_lattice *lattice, const hx_space *space, const int32_t *elem_cell,
                         int32_t *key)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < space->n_point; a++) {
        const int64_t begin = space->point_ptr[a], end = space->point_ptr[a + 1];
        int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {0, 0, 0}, last = -1;
        key[a] = elem_cell[hx_space_cell(space, space->point_place[begin])];
        for (int64_t k = begin; k < end; k++) {
            const int32_t cell = elem_cell[hx_space_cell(space, space->point_place[k])];
            const int32_t *const at = lattice->cell + 3 * (int64_t)cell;
            if (cell == last) continue; /* as most of a point's are */
            last = cell;
            for (int i = 0; i < 3; i++) {
                low[i] = at[i] < low[i] ? at[i] : low[i];
                high[i] = at[i] > high[i] ? at[i] : high[i];
            }
        }
        place_point(lattice, space->xyz + 3 * a, low, high, lattice->position + 3 * a);
    }
}

/* key[n_elem]: the places of the elements' cells; what is in it afterwards is of no use. */
static int lay_over_mesh(hx_lattice *lattice, const hx_space *space, grid *g, int32_t *key)
{
    const hx_mesh *mesh = space->mesh;
    const size_t n_elem = (size_t)mesh->n_elem, n_node = (size_t)space->n_point;
    int32_t *node_key = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&node_key, n_node, sizeof *node_key, WHAT));
    const size_t n_cell = (size_t)g->n_cell;
    lattice->n_cell = g->n_cell;
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell, n_cell, 3 * sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell_corner, n_cell, 8 * sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->node_cell, 8 * (size_t)g->n_node, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell_elem, n_elem, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell_elem_at, n_cell + 1, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell_node, n_node, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->cell_node_at, n_cell + 1, sizeof(int32_t), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->position, n_node, 3 * sizeof(float), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&lattice->coloured, n_cell, sizeof(int32_t), WHAT));
    list_cells(lattice, g);
    list_node_cells(lattice, g->n_node);
    colour_cells(lattice);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) key[e] = g->cell[key[e]];
    place_points(lattice, space, key, node_key);
    sort_by_key(key, mesh->n_elem, lattice->cell_elem, lattice->cell_elem_at, lattice->n_cell);
    sort_by_key(node_key, space->n_point, lattice->cell_node, lattice->cell_node_at,
                lattice->n_cell);
    rc = HX_OK;
fail:
    free(node_key);
    return rc;
}

/* The node at a place, or -1. */
static int32_t find_node(const grid *g, int64_t i, int64_t j, int64_t k)
{
    if (i < 0 || j < 0 || k < 0 || i >= g->layer[0] || j >= g->layer[1] || k >= g->layer[2])
        return -1;
    return g->node[node_at(g, i, j, k)];
}

static int list_neighbours(hx_lattice_level *level, const grid *g)
{
    const int64_t n = g->n_node;
    level->n_node = level->n_own = n;
    HX_TRY(hx_alloc_raw(&level->neighbour, (size_t)n, 27 * sizeof(int32_t), WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++) {
        const int32_t *at = g->place + 3 * a;
        for (int o = 0; o < 27; o++) {
            const int32_t b =
                find_node(g, at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1);
            level->neighbour[o * n + a] = b >= 0 ? b : (int32_t)a;
        }
    }
    return HX_OK;
}

/* What becomes of direction i on the next level. */
static hx_lattice_mode mode_of(const grid *g, int i)
{
    if (g->n[i] > 1) return HX_LATTICE_HALVE;
    return g->layer[i] > 1 ? HX_LATTICE_COLLAPSE : HX_LATTICE_KEEP;
}

/* The child of the coarse node at `at` at an offset, or -1. */
static int32_t find_child(const grid *fine, const int mode[3], const int32_t at[3], int offset)
{
    const int to[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    int64_t place[3];
    for (int i = 0; i < 3; i++) {
        if (to[i] < hx_lattice_low(mode[i]) || to[i] > hx_lattice_high(mode[i])) return -1;
        place[i] = (int64_t)hx_lattice_stride(mode[i]) * at[i] + to[i];
    }
    return find_node(fine, place[0], place[1], place[2]);
}

/* The parent of the fine node at `at` by corner of its coarse cell, or -1 where its weight is 0. */
static int32_t find_parent(const grid *coarse, const int mode[3], const int32_t at[3], int corner)
{
    int64_t up[3];
    for (int i = 0; i < 3; i++) {
        const int bit = corner >> i & 1;
        up[i] = 0;
        if (mode[i] == HX_LATTICE_HALVE) {
            if (bit && at[i] % 2 == 0) return -1;
            up[i] = at[i] / 2 + bit;
        } else if (bit != at[i]) {
            return -1;
        }
    }
    return find_node(coarse, up[0], up[1], up[2]);
}

/* Links a level (`fine`) with the next (`coarse`). */
static int link_levels(hx_lattice_level *fine, const grid *g, hx_lattice_level *coarse,
                       const grid *next)
{
    const int64_t n = g->n_node, n_next = next->n_node;
    for (int i = 0; i < 3; i++) {
        coarse->mode[i] = mode_of(g, i);
        coarse->step[i] = coarse->mode[i] == HX_LATTICE_HALVE ? 2.0 * fine->step[i] : 0.0;
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

/* Cells of 2 x 2 x 2, used where one of the eight is. */
static int coarsen(const grid *g, grid *next)
{
    int64_t n[3], layer[3];
    for (int i = 0; i < 3; i++) {
        n[i] = (g->n[i] + 1) / 2;
        layer[i] = mode_of(g, i) == HX_LATTICE_HALVE ? n[i] + 1 : 1;
    }
    HX_TRY(alloc_grid(next, n, layer));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++) {
                int used = 0;
                for (int c = 0; c < 8; c++) {
                    const int64_t x = 2 * i + (c & 1), y = 2 * j + (c >> 1 & 1),
                                  z = 2 * k + (c >> 2);
                    if (x < g->n[0] && y < g->n[1] && z < g->n[2])
                        used |= g->cell[cell_at(g, x, y, z)] >= 0;
                }
                next->cell[cell_at(next, i, j, k)] = used;
            }
    return number_grid(next);
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
    return g->n_node <= n_last || single || n_level == HX_LATTICE_LEVELS;
}

int hx_lattice_create(hx_lattice *lattice, const hx_mesh *mesh, double coarsening, int64_t n_last)
{
    const hx_space space = hx_space_linear(mesh);
    return hx_lattice_create_under(lattice, &space, coarsening, n_last);
}

/* 1 if the elements of some point lie in three cells or more along a direction: of splines, whose
 * functions reach over degree + 1 spans. */
static int reaches_too_far(const hx_lattice *lattice, const hx_space *space, const int64_t n[3])
{
    int far = 0;
    if (space->element != HX_ELEMENT_SPLINE) return 0;
#pragma omp parallel for schedule(static) reduction(| : far)
    for (int64_t a = 0; a < space->n_point; a++) {
        int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {0, 0, 0};
        for (int64_t k = space->point_ptr[a]; k < space->point_ptr[a + 1]; k++) {
            int64_t at[3];
            find_cell(lattice, space->mesh, hx_space_cell(space, space->point_place[k]), n, at);
            for (int i = 0; i < 3; i++) {
                low[i] = at[i] < low[i] ? at[i] : low[i];
                high[i] = at[i] > high[i] ? at[i] : high[i];
            }
        }
        for (int i = 0; i < 3; i++) far |= high[i] > low[i] + 1;
    }
    return far;
}

struct hx_lattice_draft {
    hx_lattice lattice; /* its sizes alone */
    grid here;          /* numbered */
    int32_t *place;     /* [n_elem] of the element's cell among those of the grid */
    uint16_t *rank;     /* [n_cell] of hx_lattice.cell_rank */
};

void hx_lattice_draft_free(hx_lattice_draft *draft)
{
    if (!draft) return;
    free_grid(&draft->here);
    free(draft->place);
    free(draft->rank);
    free(draft);
}

int hx_lattice_begin(hx_lattice_draft **out, const hx_space *space, double coarsening)
{
    const hx_mesh *mesh = space->mesh;
    hx_lattice_draft *draft;
    int64_t n[3], layer[3];
    int rc;
    *out = NULL;
    HX_TRY(hx_alloc(&draft, 1, sizeof *draft, WHAT));
    hx_lattice *const lattice = &draft->lattice;
    HX_TRY_FAIL(hx_lattice_choose_size(lattice, mesh, coarsening, n));
    while (reaches_too_far(lattice, space, n))
        HX_TRY_FAIL(hx_lattice_choose_size(lattice, mesh, coarsening *= 1.25, n));
    HX_TRY_FAIL(hx_alloc_raw(&draft->place, (size_t)mesh->n_elem, sizeof *draft->place, WHAT));
    HX_TRY_FAIL(trim(lattice, mesh, n, draft->place));
    for (int i = 0; i < 3; i++) layer[i] = n[i] + 1;
    HX_TRY_FAIL(alloc_grid(&draft->here, n, layer));
    if (mesh->window)
        HX_TRY_FAIL(flag_ranks(&draft->here, mesh, draft->place, &draft->rank));
    else
        flag_cells(&draft->here, mesh->n_elem, draft->place);
    HX_TRY_FAIL(number_grid(&draft->here));
    if (draft->rank) pack_ranks(&draft->here, draft->rank);
    *out = draft;
    return HX_OK;
fail:
    hx_lattice_draft_free(draft);
    return rc;
}

void hx_lattice_draft_size(const hx_lattice_draft *draft, double *n_node, double *n_cell)
{
    *n_node = (double)draft->here.n_node;
    *n_cell = (double)draft->here.n_cell;
}

int hx_lattice_finish(hx_lattice *lattice, const hx_space *space, hx_lattice_draft *draft,
                      int64_t n_last)
{
    grid next, *const here = &draft->here;
    int rc;
    *lattice = draft->lattice;
    memset(&next, 0, sizeof next);
    HX_TRY_FAIL(lay_over_mesh(lattice, space, here, draft->place));
    free(draft->place);
    draft->place = NULL;
    lattice->cell_rank = draft->rank;
    draft->rank = NULL;
    for (int i = 0; i < 3; i++) lattice->level[0].step[i] = lattice->size[i] / lattice->unit;
    for (;;) {
        hx_lattice_level *level = &lattice->level[lattice->n_level++];
        HX_TRY_FAIL(list_neighbours(level, here));
        if (is_last(here, lattice->n_level, n_last)) break;
        HX_TRY_FAIL(coarsen(here, &next));
        HX_TRY_FAIL(link_levels(level, here, level + 1, &next));
        level->place = take_places(here);
        free_grid(here);
        *here = next;
        memset(&next, 0, sizeof next);
    }
    lattice->level[lattice->n_level - 1].place = take_places(here);
    rc = HX_OK;
fail:
    free_grid(&next);
    hx_lattice_draft_free(draft);
    if (rc < 0) hx_lattice_free(lattice);
    return rc;
}

int hx_lattice_create_under(hx_lattice *lattice, const hx_space *space, double coarsening,
                            int64_t n_last)
{
    hx_lattice_draft *draft;
    memset(lattice, 0, sizeof *lattice);
    HX_TRY(hx_lattice_begin(&draft, space, coarsening));
    return hx_lattice_finish(lattice, space, draft, n_last);
}

/* Cells that hold a centroid, and their corners, of n[3]. */
static int count_used(const hx_lattice *lattice, const hx_mesh *mesh, const int64_t n[3],
                      double *n_node, double *n_cell)
{
    const int64_t layer[3] = {n[0] + 1, n[1] + 1, n[2] + 1};
    grid g;
    int rc;
    HX_TRY_FAIL(alloc_grid(&g, n, layer));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int64_t at[3];
        find_cell(lattice, mesh, e, n, at);
        const int64_t place = cell_at(&g, at[0], at[1], at[2]);
#pragma omp atomic write
        g.cell[place] = 1;
    }
    HX_TRY_FAIL(number_grid(&g));
    *n_cell = (double)g.n_cell;
    *n_node = (double)g.n_node;
    rc = HX_OK;
fail:
    free_grid(&g);
    return rc;
}

void hx_lattice_estimate(const hx_mesh *mesh, double coarsening, double *n_node, double *n_cell)
{
    const double ideal = (double)hx_mesh_n_elem_all(mesh) / (coarsening * coarsening * coarsening);
    hx_lattice lattice;
    int64_t n[3];
    if (mesh->window) { /* nobody asks the others */
        *n_cell = *n_node = 1.2 * ideal + 100.0;
        return;
    }
    if (hx_lattice_choose_size(&lattice, mesh, coarsening, n) == HX_OK &&
        count_used(&lattice, mesh, n, n_node, n_cell) == HX_OK)
        return;
    hx_error_clear(); /* too little memory to count */
    const double places = (double)n[0] * (double)n[1] * (double)n[2];
    const double volume = lattice.size[0] * lattice.size[1] * lattice.size[2];
    /* a layer of cells around what the mesh fills */
    const double side = cbrt(fmax(1.0, fmin(ideal, mesh->total_volume / volume)));
    *n_cell = fmin(places, (side + 2.0) * (side + 2.0) * (side + 2.0) * 1.2);
    *n_node =
        fmin((double)(n[0] + 1) * (double)(n[1] + 1) * (double)(n[2] + 1), 2.0 * *n_cell + 100.0);
}

void hx_lattice_free(hx_lattice *lattice)
{
    for (int l = 0; l < HX_LATTICE_LEVELS; l++) {
        free(lattice->level[l].neighbour);
        free(lattice->level[l].place);
        free(lattice->level[l].child);
        free(lattice->level[l].parent);
    }
    free(lattice->cell);
    free(lattice->cell_rank);
    free(lattice->cell_corner);
    free(lattice->node_cell);
    free(lattice->cell_elem);
    free(lattice->cell_elem_at);
    free(lattice->cell_node);
    free(lattice->cell_node_at);
    free(lattice->position);
    free(lattice->coloured);
    memset(lattice, 0, sizeof *lattice);
}
