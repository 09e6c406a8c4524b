/* Coarse grids of multigrid over meshes of every kind: the guarantees of coarse.h, checked with
 * the mesh and the lists only. */
#include "core/multigrid/coarse.h"
#include "core/multigrid/mg_params.h"
#include "tests/lib/box_part.h"

enum { MOST_THREADS = 3 };
typedef long long ll;

static int touch_at_node(int i, int j, int k)
{
    return i == j && j == k;
}

static int touch_at_edge(int i, int j, int k)
{
    return i == j && k == 0;
}

/* A slot, one element wide, from one end to the middle. */
static int with_slot(int i, int j, int k)
{
    (void)k;
    return j != 4 || i >= 8;
}

/* A structure of thin struts, which has many more grid places than cells. */
static int struts(int i, int j, int k)
{
    return (i % 6 == 0) + (j % 6 == 0) + (k % 6 == 0) >= 2;
}

typedef struct sample {
    const char *name;
    const char *generator; /* NULL: a part of a box */
    hx_generate_params params;
    box_part part;
    int shuffled;
} sample;

static const sample samples[] = {
    {.name = "box", .generator = "cantilever", .params = {.nx = 12}},
    {.name = "shuffled", .generator = "cantilever", .params = {.nx = 13, .ny = 7}, .shuffled = 1},
    {.name = "distorted",
     .generator = "cantilever",
     .params = {.nx = 14, .distort = 0.3, .seed = 3},
     .shuffled = 1},
    {.name = "L-beam", .generator = "lbeam", .params = {.nx = 20, .ny = 3}, .shuffled = 1},
    {.name = "Michell", .generator = "michell", .params = {.nx = 24}},
    {.name = "conrod", .generator = "conrod", .params = {.nx = 24}},
    {.name = "conrod, distorted", .generator = "conrod", .params = {.nx = 24, .distort = 0.3}},
    {.name = "one element", .part = {.n = {1, 1, 1}}},
    {.name = "one distorted", .part = {.n = {1, 1, 1}, .distort = 0.2}},
    {.name = "two at a node", .part = {.n = {2, 2, 2}, .keep = touch_at_node}},
    {.name = "chain at nodes", .part = {.n = {9, 9, 9}, .keep = touch_at_node}},
    {.name = "two at an edge", .part = {.n = {2, 2, 1}, .keep = touch_at_edge}},
    {.name = "chain at edges", .part = {.n = {9, 9, 1}, .keep = touch_at_edge, .distort = 0.1}},
    {.name = "rod", .part = {.n = {1, 1, 40}}},
    {.name = "slender", .part = {.n = {8, 70, 9}}, .shuffled = 1},
    {.name = "thin", .part = {.n = {36, 40, 14}}, .shuffled = 1},
    {.name = "plate", .part = {.n = {21, 1, 17}, .distort = 0.1}, .shuffled = 1},
    {.name = "graded", .part = {.n = {16, 8, 12}, .ratio = 10.0}},
    {.name = "graded, distorted", .part = {.n = {12, 8, 5}, .ratio = 10.0, .distort = 0.15}},
    {.name = "layers", .part = {.n = {12, 8, 24}, .layers = 12.0}, .shuffled = 1},
    {.name = "slot", .part = {.n = {16, 9, 4}, .keep = with_slot}},
    {.name = "struts", .part = {.n = {25, 25, 25}, .keep = struts}, .shuffled = 1},
    {.name = "far away", .part = {.n = {12, 6, 5}, .offset = 1e6, .distort = 0.2}},
    {.name = "far away below", .part = {.n = {12, 6, 5}, .offset = -1e6}},
    {.name = "tiny", .part = {.n = {12, 6, 5}, .scale = 1e-6, .distort = 0.2}},
    {.name = "huge", .part = {.n = {12, 6, 5}, .scale = 1e6, .distort = 0.2}},
    {.name = "huge and far away", .part = {.n = {9, 6, 5}, .scale = 1e6, .offset = 1e6}},
};
enum { N_SAMPLE = sizeof samples / sizeof samples[0] };

static const char *context; /* name of the current sample */
static int n_stay;          /* number of directions that were not coarsened, over all levels */

static void make(hx_mesh *mesh, const sample *s)
{
    if (s->generator)
        CHECK_OK(hx_generate(hx_generator_find(s->generator), mesh, &s->params));
    else
        CHECK_OK(box_part_create(mesh, &s->part));
    CHECK_OK(fixture_finish(mesh, s->shuffled ? FIXTURE_SHUFFLED : FIXTURE_IN_ORDER));
}

#define NONE(wrong) CHECK_MSG((wrong) == 0, "%s: %lld", context, (ll)(wrong))

/* Places of the nodes of a level, and the node at each place. */
typedef struct places {
    int64_t n_node;
    int32_t *at;   /* [n_node][3] */
    int32_t n[3];  /* number of places along the axes */
    int32_t *node; /* [n0 n1 n2] node, -1: none */
} places;

static void free_places(places *p)
{
    free(p->at);
    free(p->node);
    memset(p, 0, sizeof *p);
}

static int32_t node_at(const places *p, const int32_t at[3])
{
    for (int i = 0; i < 3; i++)
        if (at[i] < 0 || at[i] >= p->n[i]) return -1;
    return p->node[((int64_t)at[2] * p->n[1] + at[1]) * p->n[0] + at[0]];
}

/* Builds the index by place; each place has at most one node. */
static void index_places(places *p)
{
    int64_t n = 1, wrong = 0;
    for (int i = 0; i < 3; i++) {
        p->n[i] = 1;
        for (int64_t a = 0; a < p->n_node; a++) {
            const int32_t at = p->at[3 * a + i];
            wrong += at < 0;
            if (at + 1 > p->n[i]) p->n[i] = at + 1;
        }
        n *= p->n[i];
    }
    NONE(wrong);
    p->node = malloc((size_t)n * sizeof *p->node);
    if (!p->node || wrong) abort();
    for (int64_t k = 0; k < n; k++) p->node[k] = -1;
    for (int64_t a = 0; a < p->n_node; a++) {
        const int32_t *at = p->at + 3 * a;
        wrong += node_at(p, at) >= 0;
        p->node[((int64_t)at[2] * p->n[1] + at[1]) * p->n[0] + at[0]] = (int32_t)a;
    }
    NONE(wrong);
}

static void alloc_places(places *p, int64_t n_node)
{
    p->n_node = n_node;
    p->at = malloc(3 * (size_t)n_node * sizeof *p->at);
    if (!p->at) abort();
    for (int64_t k = 0; k < 3 * n_node; k++) p->at[k] = -1;
}

/* Sets the place of a node, or reports 1 if it has another one. */
static int64_t set_place(places *p, int64_t node, const int32_t at[3])
{
    int32_t *here = p->at + 3 * node;
    if (node < 0 || node >= p->n_node) return 1;
    if (here[0] < 0) memcpy(here, at, 3 * sizeof *at);
    return memcmp(here, at, 3 * sizeof *at) != 0;
}

/* Each corner of a cell has one place, no corner is missing or superfluous, and node_cell is the
 * inverse of cell_corner. */
static void check_cells(const hx_coarse *l, places *p)
{
    const int64_t n_node = l->level[0].n_node;
    int64_t wrong = 0, n_linked = 0;
    alloc_places(p, n_node);
    for (int64_t c = 0; c < l->n_cell; c++)
        for (int k = 0; k < 8; k++) {
            const int32_t at[3] = {l->cell[3 * c] + (k & 1), l->cell[3 * c + 1] + (k >> 1 & 1),
                                   l->cell[3 * c + 2] + (k >> 2)};
            const int64_t node = l->cell_corner[8 * c + k];
            wrong += set_place(p, node, at) || l->node_cell[k * n_node + node] != c;
        }
    NONE(wrong);
    for (int64_t k = 0; k < 8 * n_node; k++) n_linked += l->node_cell[k] >= 0;
    CHECK(n_linked == 8 * l->n_cell);
    index_places(p); /* a node without a cell would have no place */
}

/* Each of n items occurs once in the list, ascending between the marks at[n_key + 1]. */
static void check_partition(const int32_t *list, const int32_t *at, int64_t n, int64_t n_key)
{
    uint8_t *seen = calloc((size_t)n, 1);
    int64_t wrong = at[0] != 0 || at[n_key] != n;
    if (!seen) abort();
    for (int64_t k = 0; k < n_key; k++)
        for (int32_t i = at[k]; i < at[k + 1]; i++) {
            wrong += list[i] < 0 || list[i] >= n || seen[list[i]]++;
            wrong += i > at[k] && list[i] <= list[i - 1];
        }
    NONE(wrong);
    free(seen);
}

/* Cell of each element, from the lists. */
static int32_t *cells_of(const hx_coarse *l, int64_t n, const int32_t *list, const int32_t *at)
{
    int32_t *cell = malloc((size_t)n * sizeof *cell);
    if (!cell) abort();
    for (int64_t c = 0; c < l->n_cell; c++)
        for (int32_t i = at[c]; i < at[c + 1]; i++) cell[list[i]] = (int32_t)c;
    return cell;
}

/* Elements are in the cell that contains their centroid, nodes in that of their first element, and
 * every cell has elements. */
static void check_lists(const hx_coarse *l, const hx_mesh *mesh, const int32_t *elem_cell)
{
    int64_t wrong = 0, empty = 0;
    int32_t *node_cell = cells_of(l, mesh->n_node, l->cell_node, l->cell_node_at);
    for (int64_t c = 0; c < l->n_cell; c++) empty += l->cell_elem_at[c + 1] == l->cell_elem_at[c];
    NONE(empty);
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int i = 0; i < 3; i++) {
            double x = 0.0;
            for (int a = 0; a < 8; a++) x += mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + i];
            const double at = (x / 8.0 - l->origin[i]) / l->size[i] - l->cell[3 * elem_cell[e] + i];
            wrong += !(at >= -1e-6 && at <= 1.0 + 1e-6);
        }
    NONE(wrong);
    for (int64_t a = 0; a < mesh->n_node; a++)
        wrong += node_cell[a] != elem_cell[mesh->node_elem[mesh->node_elem_ptr[a]] / 8];
    NONE(wrong);
    free(node_cell);
}

/* Nodes lie within the cells of all their elements: at their own place, or on the plane between
 * cells. */
static void check_positions(const hx_coarse *l, const hx_mesh *mesh, const int32_t *elem_cell)
{
    int64_t outside = 0, wrong = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int k = 0; k < 24; k++) {
            const int64_t node = mesh->conn[8 * e + k / 3];
            const float s =
                l->position[3 * node + k % 3] - (float)l->cell[3 * elem_cell[e] + k % 3];
            outside += !(s >= 0.0f && s <= 1.0f);
        }
    NONE(outside);
    for (int64_t a = 0; a < mesh->n_node; a++)
        for (int i = 0; i < 3; i++) {
            const double own = (mesh->xyz[3 * a + i] - l->origin[i]) / l->size[i];
            int32_t low = INT32_MAX, high = 0;
            for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
                const int32_t at = l->cell[3 * elem_cell[mesh->node_elem[k] / 8] + i];
                low = at < low ? at : low;
                high = at > high ? at : high;
            }
            const double expected = high > low ? high : fmin(fmax(own, low), low + 1.0);
            wrong += !(fabs((double)l->position[3 * a + i] - expected) <= 1e-7 * (1.0 + expected));
        }
    NONE(wrong);
}

/* At every node of the mesh, the hat functions of the existing coarse nodes sum up to one. */
static void check_weights(const hx_coarse *l, const hx_mesh *mesh, const places *p)
{
    double off = 0.0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const float *x = l->position + 3 * a;
        double sum = 0.0;
        for (int k = 0; k < 8; k++) {
            const int32_t at[3] = {(int32_t)x[0] + (k & 1), (int32_t)x[1] + (k >> 1 & 1),
                                   (int32_t)x[2] + (k >> 2)};
            double w = node_at(p, at) >= 0;
            for (int i = 0; i < 3; i++) w *= fmax(0.0, 1.0 - fabs((double)x[i] - at[i]));
            sum += w;
        }
        test_worst(&off, fabs(sum - 1.0));
    }
    CHECK_MSG(off <= 1e-12, "%s: weights sum to 1 but %g", context, off);
}

static void check_colours(const hx_coarse *l)
{
    int32_t *colour = malloc((size_t)l->level[0].n_node * sizeof *colour);
    uint8_t *seen = calloc((size_t)l->n_cell, 1);
    int64_t wrong = 0;
    if (!colour || !seen) abort();
    for (int64_t a = 0; a < l->level[0].n_node; a++) colour[a] = -1;
    CHECK(l->colour_at[0] == 0 && l->colour_at[8] == l->n_cell);
    for (int32_t c = 0; c < 8; c++)
        for (int32_t i = l->colour_at[c]; i < l->colour_at[c + 1]; i++) {
            const int32_t cell = l->coloured[i];
            wrong += seen[cell]++;
            for (int k = 0; k < 8; k++) {
                int32_t *of = &colour[l->cell_corner[8 * cell + k]];
                wrong += *of == c;
                *of = c;
            }
        }
    NONE(wrong);
    free(colour);
    free(seen);
}

/* Every node is found at each offset, and vice versa. */
static void check_neighbours(const hx_coarse_level *level, const places *p)
{
    const int64_t n = level->n_node;
    int64_t wrong = 0;
    for (int64_t a = 0; a < n; a++)
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int32_t at[3] = {p->at[3 * a] + o % 3 - 1, p->at[3 * a + 1] + o / 3 % 3 - 1,
                                   p->at[3 * a + 2] + o / 9 - 1};
            const int32_t there = node_at(p, at), b = level->neighbour[o * n + a];
            wrong += b != (there >= 0 ? there : (int32_t)a);
            wrong += there >= 0 && level->neighbour[(26 - o) * n + b] != a;
        }
    NONE(wrong);
}

/* Derives the places of the coarse nodes from those of their children, which must agree, and checks
 * both lists: 2 I + offset, and parents with nonzero weight, in directions that are halved; one of
 * each in directions that stay; otherwise two layers collapse into one, or one remains. */
static void check_links(const hx_coarse_level *fine, const places *p, const hx_coarse_level *coarse,
                        places *up)
{
    const int64_t n = fine->n_node, n_up = coarse->n_node;
    int64_t wrong = 0, n_child = 0, n_parent = 0;
    alloc_places(up, n_up);
    for (int64_t a = 0; a < n_up; a++)
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int to[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
            const int32_t b = coarse->child[o * n_up + a];
            int32_t at[3];
            if (b < 0) continue;
            n_child++;
            for (int i = 0; i < 3; i++) {
                const int mode = coarse->mode[i];
                const int32_t from = p->at[3 * b + i] - to[i];
                wrong += mode == HX_COARSE_HALVE && from % 2 != 0;
                wrong += mode == HX_COARSE_COLLAPSE && (from != 0 || to[i] < 0);
                wrong += mode == HX_COARSE_SINGLE && (from != 0 || to[i] != 0);
                wrong += mode == HX_COARSE_KEEP && to[i] != 0;
                at[i] = mode == HX_COARSE_HALVE ? from / 2 : mode == HX_COARSE_KEEP ? from : 0;
            }
            wrong += set_place(up, a, at);
        }
    NONE(wrong);
    index_places(up);
    for (int64_t a = 0; a < n; a++) {
        int n_odd = 0, count = 0;
        for (int i = 0; i < 3; i++)
            n_odd += coarse->mode[i] == HX_COARSE_HALVE && p->at[3 * a + i] % 2 != 0;
        for (int c = 0; c < 8; c++) {
            const int32_t b = fine->parent[c * n + a];
            int32_t at[3], offset = 0;
            if (b < 0) continue;
            count++;
            for (int i = 2; i >= 0; i--) {
                const int mode = coarse->mode[i], from = p->at[3 * a + i], bit = c >> i & 1;
                const int stride = mode == HX_COARSE_KEEP ? 1 : 2;
                at[i] = mode == HX_COARSE_HALVE  ? from / 2 + bit
                        : mode == HX_COARSE_KEEP ? from
                                                 : 0;
                offset = 3 * offset + from - stride * at[i] + 1;
                wrong += mode == HX_COARSE_KEEP && bit != 0;
                wrong += (mode == HX_COARSE_COLLAPSE || mode == HX_COARSE_SINGLE) && from != bit;
            }
            wrong += node_at(up, at) != b || coarse->child[offset * n_up + b] != a;
        }
        wrong += count != 1 << n_odd; /* weights of 1 / 2^n_odd, which sum up to 1 */
        n_parent += count;
    }
    NONE(wrong);
    CHECK_MSG(n_child == n_parent, "%s: %lld, %lld", context, (ll)n_child, (ll)n_parent);
}

static void check_levels(const hx_coarse *l, places *p, int64_t n_last)
{
    const hx_coarse_level *last = &l->level[l->n_level - 1];
    CHECK(l->level[0].child == NULL && last->parent == NULL);
    for (int i = 0; i < 3; i++) CHECK_REL(l->level[0].step[i], l->size[i] / l->unit, 1e-14);
    check_neighbours(&l->level[0], p);
    for (int k = 0; k + 1 < l->n_level; k++) {
        const hx_coarse_level *fine = &l->level[k], *coarse = fine + 1;
        places up;
        int longest = 0;
        for (int i = 0; i < 3; i++) longest = p->n[i] > longest ? p->n[i] : longest;
        for (int i = 0; i < 3; i++) { /* the number of cells is one less than that of places */
            const int n = p->n[i] - 1, some = n > 5 ? n <= 8 && fine->n_node <= 4000 : n >= 3;
            const int mode = some && longest - 1 >= 2 * n ? HX_COARSE_KEEP
                             : n > 1                      ? HX_COARSE_HALVE
                             : n > 0                      ? HX_COARSE_COLLAPSE
                                                          : HX_COARSE_SINGLE;
            CHECK(coarse->mode[i] == mode);
            CHECK(coarse->step[i] == (mode == HX_COARSE_HALVE  ? 2.0 * fine->step[i]
                                      : mode == HX_COARSE_KEEP ? fine->step[i]
                                                               : 0.0));
            n_stay += mode == HX_COARSE_KEEP;
        }
        CHECK(fine->n_node > n_last && coarse->n_node < fine->n_node);
        check_links(fine, p, coarse, &up);
        check_neighbours(coarse, &up);
        free_places(p);
        *p = up;
    }
    CHECK_MSG(last->n_node <= n_last || (p->n[0] <= 2 && p->n[1] <= 2 && p->n[2] <= 2),
              "%s: ends at %lld nodes", context, (ll)last->n_node);
}

static int64_t n_different(const void *a, const void *b, int64_t n, size_t size)
{
    return n > 0 && (!a || !b || memcmp(a, b, (size_t)n * size) != 0);
}

static void check_same(const hx_coarse *a, const hx_coarse *b, const hx_mesh *mesh)
{
    const size_t word = sizeof(int32_t);
    const int64_t n = a->n_cell, n0 = a->level[0].n_node;
    int64_t wrong = n != b->n_cell || a->n_level != b->n_level || a->unit != b->unit;
    NONE(wrong);
    if (wrong) return;
    wrong += n_different(a->origin, b->origin, 3, sizeof(double));
    wrong += n_different(a->size, b->size, 3, sizeof(double));
    wrong += n_different(a->cell, b->cell, 3 * n, word);
    wrong += n_different(a->cell_corner, b->cell_corner, 8 * n, word);
    wrong += n_different(a->node_cell, b->node_cell, 8 * n0, word);
    wrong += n_different(a->cell_elem, b->cell_elem, mesh->n_elem, word);
    wrong += n_different(a->cell_elem_at, b->cell_elem_at, n + 1, word);
    wrong += n_different(a->cell_node, b->cell_node, mesh->n_node, word);
    wrong += n_different(a->cell_node_at, b->cell_node_at, n + 1, word);
    wrong += n_different(a->position, b->position, 3 * mesh->n_node, sizeof(float));
    wrong += n_different(a->coloured, b->coloured, n, word);
    wrong += n_different(a->colour_at, b->colour_at, 9, word);
    NONE(wrong);
    for (int l = 0; l < a->n_level; l++) {
        const hx_coarse_level *x = &a->level[l], *y = &b->level[l];
        wrong += x->n_node != y->n_node;
        if (x->n_node != y->n_node) break;
        wrong += n_different(x->step, y->step, 3, sizeof(double));
        wrong += n_different(x->mode, y->mode, 3, sizeof(int));
        wrong += n_different(x->neighbour, y->neighbour, 27 * x->n_node, word);
        if (l > 0) wrong += n_different(x->child, y->child, 27 * x->n_node, word);
        if (l + 1 < a->n_level) wrong += n_different(x->parent, y->parent, 8 * x->n_node, word);
    }
    NONE(wrong);
}

static void check_coarse(const hx_mesh *mesh, double coarsening, int64_t n_last)
{
    hx_coarse l, other;
    places p;
    double n_node, n_cell;
    CHECK_OK(hx_coarse_create(&l, mesh, &hx_mg_defaults, coarsening, n_last));
    check_cells(&l, &p);
    check_partition(l.cell_elem, l.cell_elem_at, mesh->n_elem, l.n_cell);
    check_partition(l.cell_node, l.cell_node_at, mesh->n_node, l.n_cell);
    int32_t *elem_cell = cells_of(&l, mesh->n_elem, l.cell_elem, l.cell_elem_at);
    check_lists(&l, mesh, elem_cell);
    check_positions(&l, mesh, elem_cell);
    check_weights(&l, mesh, &p);
    check_colours(&l);
    check_levels(&l, &p, n_last);
    hx_coarse_estimate(mesh, &hx_mg_defaults, coarsening, &n_node, &n_cell);
    CHECK(n_cell >= 0.5 * (double)l.n_cell && n_node >= 0.5 * (double)l.level[0].n_node);
    printf("%-18s %.0f: %5lld cells (%5.0f), %5lld nodes (%5.0f), %d levels, last %lld\n", context,
           coarsening, (ll)l.n_cell, n_cell, (ll)l.level[0].n_node, n_node, l.n_level,
           (ll)l.level[l.n_level - 1].n_node);
    fixture_set_threads(MOST_THREADS);
    const hx_space space = hx_space_linear(mesh);
    hx_coarse_draft *draft; /* the same in two halves */
    CHECK_OK(hx_coarse_begin(&draft, &space, &hx_mg_defaults, coarsening));
    hx_coarse_draft_size(draft, &n_node, &n_cell);
    CHECK(n_cell == (double)l.n_cell && n_node == (double)l.level[0].n_node);
    CHECK_OK(hx_coarse_finish(&other, &space, draft, n_last, 0));
    fixture_set_threads(1);
    check_same(&l, &other, mesh);
    hx_coarse_free(&other);
    free_places(&p);
    free(elem_cell);
    hx_coarse_free(&l);
    CHECK(l.n_level == 0 && l.cell == NULL); /* freeing twice does no harm */
    hx_coarse_free(&l);
}

/* Layers of nodes of the first coarse grid over a box of cubes, with cells of four elements: one
 * more than cells. */
static void check_across(const int n[3], const int layers[3])
{
    const box_part part = {.n = {n[0], n[1], n[2]}};
    hx_mesh mesh;
    hx_coarse l;
    CHECK_OK(box_part_create(&mesh, &part));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_coarse_create(&l, &mesh, &hx_mg_defaults, 4.0, 64));
    for (int i = 0; i < 3; i++)
        CHECK_MSG(l.level[0].layer[i] == layers[i], "%d x %d x %d, axis %d: %lld", n[0], n[1], n[2],
                  i, (ll)l.level[0].layer[i]);
    hx_coarse_free(&l);
    hx_mesh_free(&mesh);
}

/* Three cells across a slender part with enough elements; cells of four elements in plates and
 * bars. */
static void check_slender(void)
{
    const int n[][3] = {{80, 8, 8}, {6, 8, 60}, {80, 5, 8}, {40, 4, 4}, {80, 12, 16}, {40, 40, 8}};
    const int layers[][3] = {{21, 4, 4}, {4, 4, 16}, {21, 3, 4},
                             {11, 2, 2}, {21, 4, 5}, {11, 11, 3}};
    for (size_t k = 0; k < sizeof n / sizeof n[0]; k++) check_across(n[k], layers[k]);
}

int main(void)
{
    fixture_set_threads(1);
    check_slender();
    for (int i = 0; i < N_SAMPLE; i++) {
        hx_mesh mesh;
        context = samples[i].name;
        make(&mesh, &samples[i]);
        check_coarse(&mesh, 4.0, 64); /* the parameters of multigrid */
        check_coarse(&mesh, 1.0, 8);
        check_coarse(&mesh, 2.0, 1);
        hx_mesh_free(&mesh);
    }
    CHECK_MSG(n_stay > 10, "%d directions stayed", n_stay);
    TEST_END();
}
