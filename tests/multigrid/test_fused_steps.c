/* The steps and lists of the fused coarse cycle (core/multigrid/fused_cycle.h), executed by a
 * simulated machine of blocks and warps in any order that the rules allow: a warp proceeds when the
 * words it needs carry the step that it waits for; if values come through shared memory, together
 * with all warps of its block. No word is overwritten before all have read it, and there is no
 * deadlock, whichever warps are fast or slow. With one copy fewer of the iterates, the test must
 * detect an error.
 *
 *     test_fused_steps */
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/box_part.h"

enum { WARPS = 28, MOST_BLOCKS = 24 };

static hx_device device;
static const char *context;
static int n_block_wanted, warps_wanted;

/* One word per node: the launch's first step + the step that wrote it. */
typedef struct machine {
    const hx_mg_fused *r;
    const hx_coarse_level *level; /* first level of the cycle */
    /* HX_FUSED_COPIES, or one less: then the last copy shares memory with the first */
    int n_copy;
    uint32_t *x[HX_FUSED_LEVELS], *residual[HX_FUSED_LEVELS], *b, *y;
    int32_t *own[HX_FUSED_LEVELS + 1], *near[HX_FUSED_LEVELS], *above[HX_FUSED_LEVELS];
    uint32_t first_tag;
    /* steps that a block has finished gathering for */
    int step[MOST_BLOCKS][WARPS], passed[MOST_BLOCKS];
    int is_late; /* 1: a word carried a later step than the expected one */
} machine;

typedef enum { ANY, FASTEST, SLOWEST, N_ORDER } order;

static void room(hx_device *dev, int *n_block, int *n_node)
{
    (void)dev;
    *n_block = n_block_wanted;
    *n_node = warps_wanted;
}

static int fits(hx_device *dev, const hx_mg_fused *r, const hx_mg_level *level)
{
    (void)dev;
    (void)r;
    (void)level;
    return 1;
}

static int64_t begin_of(const machine *m, int l, int block)
{
    return m->level[l].n_node * block / m->r->n_block;
}

/* The node of a level that a warp computes, or -1. */
static int64_t node_of(const machine *m, int l, int block, int warp)
{
    const int64_t k = begin_of(m, l, block) + warp;
    return k < begin_of(m, l, block + 1) ? m->own[l][k] : -1;
}

/* 1 if a word has arrived. */
static int is_there(machine *m, uint32_t word, int by)
{
    const uint32_t tag = m->first_tag + (uint32_t)by;
    if (word > tag) m->is_late = 1;
    return word == tag;
}

static uint32_t *iterate(const machine *m, int l, int copy)
{
    return m->x[l] + (copy % m->n_copy) * m->level[l].n_node;
}

static int all_are_there(machine *m, const int32_t *node, int most, const uint32_t *word, int by)
{
    for (int j = 0; j < most && node[j] >= 0; j++)
        if (!is_there(m, word[node[j]], by)) return 0;
    return 1;
}

/* 1 if all warps of a block are at a step that gathers, and what they gather has arrived. */
static int may_pass(machine *m, int block, const hx_fused_step *step, int s)
{
    const int l = step->level;
    for (int w = 0; w < warps_wanted; w++)
        if (m->step[block][w] != s) return 0;
    if (step->kind == HX_FUSED_DIRECT) {
        const int64_t n = m->level[m->r->n_level].n_node;
        for (int64_t a = 0; a < n; a++)
            if (!is_there(m, m->b[step->from * n + a], step->by)) return 0;
        return 1;
    }
    const hx_fused_part *const part = &m->r->part[l];
    if (step->kind == HX_FUSED_RETURN)
        return all_are_there(m, m->above[l] + (int64_t)block * part->most_above, part->most_above,
                             l + 1 < m->r->n_level ? iterate(m, l + 1, step->from) : m->y,
                             step->by);
    return all_are_there(m, m->near[l] + (int64_t)block * part->most_near, part->most_near,
                         iterate(m, l, step->from), step->by);
}

/* 1 if the residuals of all children of a node of the level below have arrived. */
static int are_there(machine *m, const hx_fused_step *step, int64_t a)
{
    const int l = step->level;
    const hx_coarse_level *const coarse = &m->level[l + 1];
    for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
        const int32_t child = coarse->child[o * coarse->n_node + a];
        if (child >= 0 && !is_there(m, m->residual[l][child], step->by)) return 0;
    }
    return 1;
}

/* Rows of the last level are distributed to warps in turn; the word of a node, and so of its first
 * row, stands for all its rows. */
static void leave_rows(machine *m, int block, int warp, uint32_t tag)
{
    const int64_t n = m->level[m->r->n_level].n_node;
    for (int64_t a = (int64_t)warp * m->r->n_block + block; a < n;
         a += (int64_t)warps_wanted * m->r->n_block)
        m->y[a] = tag;
}

static void leave(machine *m, const hx_fused_step *step, int64_t a, uint32_t tag)
{
    const int l = step->level;
    if (step->kind == HX_FUSED_RESIDUAL)
        m->residual[l][a] = tag;
    else if (step->kind != HX_FUSED_RESTRICT)
        iterate(m, l, step->to)[a] = tag;
    else if (l + 1 == m->r->n_level)
        m->b[step->to * m->level[l + 1].n_node + a] = tag;
}

/* Executes a warp's next step if possible; returns 1 if it did. */
static int go_on(machine *m, int block, int warp)
{
    const int s = m->step[block][warp];
    if (s == m->r->n_step) return 0;
    const hx_fused_step *const step = &m->r->step[s];
    const int l = step->level, kind = step->kind;
    const uint32_t tag = m->first_tag + (uint32_t)s;
    const int gathers = kind != HX_FUSED_START && kind != HX_FUSED_RESTRICT;
    if (gathers && m->passed[block] <= s) {
        if (!may_pass(m, block, step, s)) return 0;
        m->passed[block] = s + 1;
    }
    if (kind == HX_FUSED_DIRECT) {
        leave_rows(m, block, warp, tag);
    } else {
        const int64_t a = node_of(m, kind == HX_FUSED_RESTRICT ? l + 1 : l, block, warp);
        if (a >= 0 && kind == HX_FUSED_RESTRICT && !are_there(m, step, a)) return 0;
        if (a >= 0) leave(m, step, a, tag);
    }
    m->step[block][warp]++;
    return 1;
}

/* Executes steps of a warp as long as possible. */
static int go_far(machine *m, int block, int warp, int most)
{
    int n = 0;
    while (n < most && go_on(m, block, warp)) n++;
    return n;
}

/* Runs all warps except those of one block, and that block only when nothing else can run; or the
 * reverse. */
static int go_unevenly(machine *m, int block, int is_fast)
{
    int n = 0, more = 1;
    while (more) {
        more = 0;
        for (int b = 0; b < m->r->n_block; b++)
            for (int w = 0; w < warps_wanted && (b == block) == is_fast; w++)
                more += go_far(m, b, w, m->r->n_step);
        n += more;
    }
    for (int b = 0; b < m->r->n_block; b++)
        for (int w = 0; w < warps_wanted && (b == block) != is_fast; w++) {
            const int here = go_far(m, b, w, 1);
            n += here;
            if (here > 0 && is_fast) return n;
        }
    return n;
}

/* One launch; returns 1 if all warps finished and no word was late. */
static int launch(machine *m, order how, uint64_t *seed)
{
    const int n_block = m->r->n_block, slow = (int)fixture_uniform(seed, 0.0, n_block - 0.001);
    int64_t left = (int64_t)n_block * warps_wanted * m->r->n_step;
    memset(m->step, 0, sizeof m->step);
    memset(m->passed, 0, sizeof m->passed);
    while (left > 0 && !m->is_late) {
        int n = 0;
        if (how != ANY) {
            n = go_unevenly(m, slow, how == FASTEST);
        } else {
            for (int k = 0; k < n_block * warps_wanted; k++) {
                const int at = (int)fixture_uniform(seed, 0.0, n_block * warps_wanted - 0.001);
                n += go_far(m, at / warps_wanted, at % warps_wanted,
                            1 + (int)fixture_uniform(seed, 0.0, 3.9));
            }
            for (int at = 0; n == 0 && at < n_block * warps_wanted; at++)
                n += go_on(m, at / warps_wanted, at % warps_wanted);
        }
        if (n == 0) return 0;
        left -= n;
    }
    m->first_tag += (uint32_t)m->r->n_step;
    return !m->is_late;
}

static void *get(size_t bytes, const void *d_from)
{
    void *const to = malloc(bytes > 0 ? bytes : 1);
    if (!to) abort();
    CHECK_OK(device.ops->download(&device, to, d_from, bytes));
    return to;
}

static uint32_t *words(int64_t n)
{
    uint32_t *const w = calloc((size_t)n, sizeof *w);
    if (!w) abort();
    return w;
}

static void free_machine(machine *m)
{
    for (int l = 0; l < m->r->n_level; l++) {
        free(m->x[l]);
        free(m->residual[l]);
        free(m->near[l]);
        free(m->above[l]);
        free(m->own[l]);
    }
    free(m->own[m->r->n_level]);
    free(m->b);
    free(m->y);
}

static void make_machine(machine *m, const hx_mg_fused *r, const hx_coarse *coarse)
{
    memset(m, 0, sizeof *m);
    m->r = r;
    m->level = &coarse->level[r->first];
    m->n_copy = HX_FUSED_COPIES;
    m->first_tag = 1;
    for (int l = 0; l < r->n_level; l++) {
        const int64_t n = m->level[l].n_node;
        const hx_fused_part *const part = &r->part[l];
        m->x[l] = words(HX_FUSED_COPIES * n);
        m->residual[l] = words(n);
        m->own[l] = get((size_t)n * sizeof *m->own[l], part->d_own);
        m->near[l] =
            get((size_t)r->n_block * (size_t)part->most_near * sizeof *m->near[l], part->d_near);
        m->above[l] =
            get((size_t)r->n_block * (size_t)part->most_above * sizeof *m->above[l], part->d_above);
    }
    const int64_t n = m->level[r->n_level].n_node;
    m->b = words(2 * n);
    m->y = words(n);
    m->own[r->n_level] = (int32_t *)words(n);
    for (int64_t a = 0; a < n; a++) m->own[r->n_level][a] = (int32_t)a;
}

/* The near nodes of a block find their parents in the list, and the list has no others. */
static void check_above(const machine *m, int l)
{
    enum { CORNERS = 8 };
    const hx_coarse_level *const level = &m->level[l];
    const hx_fused_part *const part = &m->r->part[l];
    const size_t n_parent = CORNERS * (size_t)m->r->n_block * (size_t)part->most_near;
    uint16_t *const parent = get(n_parent * sizeof *parent, part->d_parent);
    for (int b = 0; b < m->r->n_block; b++) {
        const int32_t *const near = m->near[l] + (int64_t)b * part->most_near,
                             *const above = m->above[l] + (int64_t)b * part->most_above;
        int32_t *const met = (int32_t *)words(part->most_above);
        for (int j = 0; j < part->most_near; j++)
            for (int c = 0; c < CORNERS; c++) {
                const int place = parent[CORNERS * ((int64_t)b * part->most_near + j) + c];
                const int32_t node = near[j] < 0 ? -1 : level->parent[c * level->n_node + near[j]];
                CHECK((node < 0) == (place == HX_FUSED_NO_PARENT));
                if (node < 0) continue;
                CHECK(place < part->most_above && above[place] == node);
                met[place] = 1;
            }
        for (int j = 0; j < part->most_above; j++) {
            CHECK(met[j] == (above[j] >= 0));
            CHECK(above[j] >= 0 || j + 1 == part->most_above || above[j + 1] < 0);
        }
        free(met);
    }
    free(parent);
}

/* RETURN adds to what the step that wrote the residuals has read, and no buffer is overwritten
 * while warps may still be reading it: not in the gathering that follows immediately. */
static void check_halves(const hx_mg_fused *r)
{
    int half[HX_FUSED_LEVELS], residual[HX_FUSED_LEVELS];
    for (int l = 0; l < r->n_level; l++) half[l] = residual[l] = -1;
    for (int s = 0; s < r->n_step; s++) {
        const hx_fused_step *const step = &r->step[s];
        const int l = step->level;
        if (step->kind == HX_FUSED_SMOOTH || step->kind == HX_FUSED_RESIDUAL) {
            CHECK(step->half < 2 && step->half != half[l]);
            half[l] = step->half;
            residual[l] = step->kind == HX_FUSED_RESIDUAL;
        } else if (step->kind == HX_FUSED_RETURN) {
            CHECK(residual[l] == 1 && step->half == half[l] && step->i == 0);
            residual[l] = 0;
        }
    }
}

/* Each node belongs to one block, no block has more nodes than warps, and a node finds each of its
 * neighbours in the list, and no others. */
static void check_lists(const machine *m, int l)
{
    const int64_t n = m->level[l].n_node;
    const hx_fused_part *const part = &m->r->part[l];
    uint16_t *const place = get(32 * (size_t)n * sizeof *place, part->d_place);
    int32_t *const seen = (int32_t *)words(n);
    for (int b = 0; b < m->r->n_block; b++) {
        const int32_t *const near = m->near[l] + (int64_t)b * part->most_near;
        const int64_t begin = begin_of(m, l, b), end = begin_of(m, l, b + 1);
        CHECK(end - begin <= part->most_node && part->most_node <= warps_wanted);
        for (int64_t k = begin; k < end; k++) {
            const int32_t a = m->own[l][k];
            CHECK(++seen[a] == 1);
            for (int o = 0; o < HX_COARSE_OFFSETS; o++)
                CHECK(near[place[32 * (int64_t)a + o]] == m->level[l].neighbour[o * n + a]);
            for (int o = HX_COARSE_OFFSETS; o < 32; o++) CHECK(place[32 * (int64_t)a + o] == 0);
        }
        for (int j = 0; j < part->most_near; j++) {
            int is_needed = near[j] < 0;
            for (int64_t k = begin; k < end && !is_needed; k++)
                for (int o = 0; o < HX_COARSE_OFFSETS; o++)
                    is_needed += m->level[l].neighbour[o * n + m->own[l][k]] == near[j];
            CHECK(is_needed);
            CHECK(near[j] >= 0 || j + 1 == part->most_near || near[j + 1] < 0);
        }
    }
    free(place);
    free(seen);
}

/* Number of steps of hx_mg_cycle, derived independently: visits, smoothing and the levels below. */
static int count_steps(const hx_multigrid *mg, int l)
{
    if (l + 1 == mg->n_level) return 1;
    const hx_mg_smoothing s = hx_mg_smoothing_of(mg, l);
    return s.visits * (s.chebyshev.degree + 2 + count_steps(mg, l + 1)) + s.chebyshev.degree;
}

static int run(machine *m, int n_copy)
{
    uint64_t seed = 3;
    int right = 1;
    m->n_copy = n_copy;
    for (int how = ANY; how < N_ORDER && right; how++) right = launch(m, (order)how, &seed);
    return right;
}

static void check(const box_part *part, double coarsening, int n_last, int n_block, int n_level)
{
    static const hx_mg_fused_ops fused = {.room = room, .fits = fits};
    static hx_multigrid mg;
    hx_multigrid_ops ops = *device.ops->multigrid;
    hx_mesh mesh;
    hx_coarse coarse;
    machine m;
    CHECK_OK(box_part_create(&mesh, part));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_coarse_create(&coarse, &mesh, &hx_mg_defaults, coarsening, n_last));
    memset(&mg, 0, sizeof mg);
    mg.dev = &device;
    mg.params = &hx_mg_defaults;
    ops.fused = &fused;
    mg.ops = &ops;
    mg.dof = HX_MG_DOF;
    mg.n_level = coarse.n_level;
    for (int l = 0; l < coarse.n_level; l++) mg.level[l].n_node = coarse.level[l].n_node;
    n_block_wanted = n_block;
    warps_wanted = WARPS;
    CHECK_OK(hx_mg_fused_create(&mg, &coarse));
    CHECK_MSG(mg.fused.n_level == n_level, "%s: %d levels of %d", context, mg.fused.n_level,
              coarse.n_level);
    if (mg.fused.n_level > 0) {
        const hx_mg_fused *const r = &mg.fused;
        CHECK(r->first + r->n_level + 1 == mg.n_level);
        CHECK(r->n_step == count_steps(&mg, r->first));
        CHECK(r->n_block <= coarse.level[mg.n_level - 2].n_node);
        make_machine(&m, r, &coarse);
        for (int l = 0; l < r->n_level; l++) check_lists(&m, l);
        for (int l = 0; l < r->n_level; l++) check_above(&m, l);
        check_halves(r);
        CHECK_MSG(run(&m, HX_FUSED_COPIES), "%s: a word is late or never arrives", context);
        printf("%s: %d blocks, %d levels, %d steps\n", context, r->n_block, r->n_level, r->n_step);
        free_machine(&m);
        if (r->n_block > 2) {
            make_machine(&m, r, &coarse);
            CHECK_MSG(!run(&m, HX_FUSED_COPIES - 1), "%s: an early write is not detected", context);
            free_machine(&m);
        }
    }
    hx_mg_fused_free(&mg);
    CHECK(mg.fused.n_level == 0 && !mg.fused.d_word);
    hx_coarse_free(&coarse);
    hx_mesh_free(&mesh);
}

static int with_hole(int i, int j, int k)
{
    (void)k;
    return i < 3 || i >= 6 || j < 2 || j >= 4;
}

int main(void)
{
    CHECK_OK(hx_device_open(&device, hx_device_find("cpu")));
    context = "a box";
    check(&(box_part){.n = {10, 6, 6}}, 1.0, 40, 24, 2);
    check(&(box_part){.n = {10, 6, 6}}, 1.0, 40, 21, 2);
    check(&(box_part){.n = {10, 6, 6}}, 1.0, 4, 12, 3); /* four smoothed levels */
    context = "a box of few blocks";                    /* the first coarse grid has 539 nodes */
    check(&(box_part){.n = {10, 6, 6}}, 1.0, 4, 3, 2);
    context = "a block";
    check(&(box_part){.n = {5, 3, 3}}, 2.0, 4, 1, 1);
    context = "a hole";
    check(&(box_part){.n = {9, 6, 5}, .keep = with_hole}, 1.0, 40, 20, 2);
    context = "a plate";
    check(&(box_part){.n = {16, 12, 1}}, 1.0, 4, 15, 3);
    context = "a rod";
    check(&(box_part){.n = {60, 1, 1}}, 1.0, 4, 11, 3);
    context = "no room";
    check(&(box_part){.n = {10, 6, 6}}, 1.0, 4, 0, 0);
    hx_device_close(&device);
    TEST_END();
}
