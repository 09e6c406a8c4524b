/* The fused coarse cycle (fused_cycle.h): its first level, its steps, and which node needs whose
 * values.
 *
 * No step waits for all nodes, so before a word is overwritten, everyone who needs it must have
 * read it. Let W(k) be the k-th iterate of a level. A node that writes W(k) over W(k - 3) has
 * gathered W(k - 2) or a later one from its neighbours (in SMOOTH, in the RESIDUAL before RETURN,
 * or in the last SMOOTH before START), and they wrote that after they had gathered W(k - 3). RETURN
 * reads an iterate for the node's children and their neighbours. These then write their results,
 * and the children gather them before they write the RESIDUAL that the node's RESTRICT before its
 * next START waits for. A residual is overwritten after RETURN has received values of all parents,
 * who wrote them after RESTRICT. A new solution of the last level needs all of its b, which implies
 * that all RETURN of the previous solution are done, as above. The b of the last level, which every
 * block reads, has two copies: b(v + 2) follows solution v + 1, which follows all of b(v + 1).
 * These follow the RESIDUAL of all nodes of the level above, of which every block has at least one
 * and computes it after it has read b(v). */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../operator/interface_ops.h"
#include "multigrid_internal.h"

static const char *const WHAT = "fused coarse cycle";
enum { NEAR_STRIDE = 32, CORNERS = 8 };

/* Which step wrote the newest version of each vector, while the list of steps is made. */
typedef struct written {
    int x[HX_FUSED_LEVELS + 1], x_copy[HX_FUSED_LEVELS + 1], r[HX_FUSED_LEVELS + 1];
    int half[HX_FUSED_LEVELS + 1]; /* buffer of the newest near values */
    int b, b_copy;
} written;

static int next_copy(written *w, int l)
{
    return w->x_copy[l] = (w->x_copy[l] + 1) % HX_FUSED_COPIES;
}

/* Appends a step on level l, counted from the first one, and notes what it writes. */
static void add_step(hx_mg_fused *r, written *w, hx_fused_kind kind, int l, int i)
{
    const int now = r->n_step++;
    int by = 0, from = 0, to = 0;
    if (now >= HX_FUSED_STEPS) return;
    switch (kind) {
    case HX_FUSED_START:
        to = next_copy(w, l);
        break;
    case HX_FUSED_SMOOTH:
        by = w->x[l];
        from = w->x_copy[l];
        to = next_copy(w, l);
        w->half[l] = !w->half[l];
        break;
    case HX_FUSED_RESIDUAL:
        by = w->x[l];
        from = w->x_copy[l];
        w->r[l] = now;
        w->half[l] = !w->half[l];
        break;
    case HX_FUSED_RESTRICT:
        by = w->r[l];
        if (l + 1 < r->n_level) break; /* b of a smoothed level is read by its own node only */
        w->b = now;
        to = w->b_copy = !w->b_copy;
        break;
    case HX_FUSED_DIRECT:
        by = w->b;
        from = w->b_copy;
        break;
    case HX_FUSED_RETURN:
        by = w->x[l + 1];
        from = l + 1 < r->n_level ? w->x_copy[l + 1] : 0;
        to = next_copy(w, l);
        break;
    }
    if (kind != HX_FUSED_RESIDUAL && kind != HX_FUSED_RESTRICT) w->x[l] = now;
    r->step[now] = (hx_fused_step){.kind = (uint8_t)kind,
                                   .level = (uint8_t)l,
                                   .i = (uint8_t)i,
                                   .by = (uint8_t)by,
                                   .from = (uint8_t)from,
                                   .to = (uint8_t)to,
                                   .half = (uint8_t)w->half[l]};
}

/* Lists the steps of hx_mg_cycle. */
static void list_steps(const hx_multigrid *mg, hx_mg_fused *r, written *w, int l)
{
    /* the second condition is for the compiler's bounds check */
    if (l == r->n_level || l == HX_FUSED_LEVELS) {
        add_step(r, w, HX_FUSED_DIRECT, l, 0);
        return;
    }
    const hx_mg_smoothing smoothing = hx_mg_smoothing_of(mg, r->first + l);
    for (int visit = 0; visit <= smoothing.visits; visit++) {
        add_step(r, w, visit == 0 ? HX_FUSED_START : HX_FUSED_RETURN, l, 0);
        for (int i = 1; i < smoothing.chebyshev.degree; i++) add_step(r, w, HX_FUSED_SMOOTH, l, i);
        if (visit == smoothing.visits) break;
        add_step(r, w, HX_FUSED_RESIDUAL, l, 0);
        add_step(r, w, HX_FUSED_RESTRICT, l, 0);
        list_steps(mg, r, w, l + 1);
    }
}

/* Lists nodes along a Morton curve. */
static int list_own(const hx_coarse_level *level, int32_t *own)
{
    enum { BITS = 16 }; /* per direction */
    const size_t n = (size_t)level->n_node;
    uint64_t *key;
    HX_TRY(hx_alloc(&key, n, sizeof *key, WHAT));
    for (size_t a = 0; a < n; a++)
        for (int bit = 0; bit < BITS; bit++)
            for (int i = 0; i < 3; i++)
                key[a] |= (uint64_t)(level->place[3 * a + (size_t)i] >> bit & 1) << (3 * bit + i);
    const int rc = hx_radix_sort(key, own, level->n_node, 3 * BITS);
    free(key);
    return rc;
}

static int64_t begin_of(int64_t n_node, int n_block, int block)
{
    return n_node * block / n_block;
}

/* Lists made for a level. */
typedef struct part_lists {
    int32_t *own, *near, *above;
    /* [nodes of the level or the next] index of a node within the current block, or -1 */
    int32_t *met_at;
    uint16_t *place, *parent;
} part_lists;

/* Index of a node within a block, in the order of first occurrence. */
static uint16_t meet_node(int32_t node, int32_t *met_at, int32_t *met, int *n)
{
    if (met_at[node] < 0) {
        met[*n] = node;
        met_at[node] = (*n)++;
    }
    return (uint16_t)met_at[node];
}

static void reset(int32_t *met_at, const int32_t *met, int n)
{
    for (int j = 0; j < n; j++) met_at[met[j]] = -1;
}

/* Lists the nodes that nodes begin .. end of `own` read, and the index of each neighbour among
 * them; returns how many. */
static int list_near(const hx_coarse_level *level, int64_t begin, int64_t end, part_lists *p,
                     int32_t *near)
{
    int n = 0;
    for (int64_t k = begin; k < end; k++)
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int32_t a = p->own[k], b = level->neighbour[o * level->n_node + a];
            p->place[NEAR_STRIDE * (int64_t)a + o] = meet_node(b, p->met_at, near, &n);
        }
    reset(p->met_at, near, n);
    return n;
}

/* Lists the parents of these nodes, and the index of each parent among them; returns how many. */
static int list_above(const hx_coarse_level *level, int n_near, const int32_t *near,
                      int32_t *met_at, int32_t *above, uint16_t *parent)
{
    int n = 0;
    for (int j = 0; j < n_near; j++)
        for (int c = 0; c < CORNERS; c++) {
            const int32_t b = level->parent[c * level->n_node + near[j]];
            if (b >= 0) parent[CORNERS * j + c] = meet_node(b, met_at, above, &n);
        }
    reset(met_at, above, n);
    return n;
}

/* Shortens consecutive lists from `from` to `to` bytes each. */
static void shorten_lists(void *list, int n_list, size_t from, size_t to)
{
    char *const first = list;
    for (size_t k = 1; k < (size_t)n_list; k++) memmove(first + k * to, first + k * from, to);
}

/* Allocates `met_at` and lists of the maximum length. */
static int make_lists(const hx_coarse_level *level, int64_t n_next, int n_block, size_t most_near,
                      part_lists *p)
{
    const size_t n_near = (size_t)n_block * most_near, n_above = (size_t)n_block * (size_t)n_next,
                 n_node = (size_t)level->n_node;
    const size_t n_place = n_node > (size_t)n_next ? n_node : (size_t)n_next;
    HX_TRY(hx_alloc_raw(&p->met_at, n_place, sizeof *p->met_at, WHAT));
    HX_TRY(hx_alloc_raw(&p->own, n_node, sizeof *p->own, WHAT));
    HX_TRY(hx_alloc(&p->place, NEAR_STRIDE * n_node, sizeof *p->place, WHAT));
    HX_TRY(hx_alloc_raw(&p->near, n_near, sizeof *p->near, WHAT));
    HX_TRY(hx_alloc_raw(&p->above, n_above, sizeof *p->above, WHAT));
    HX_TRY(hx_alloc_raw(&p->parent, CORNERS * n_near, sizeof *p->parent, WHAT));
    /* 0xffff: -1, and HX_FUSED_NO_PARENT */
    memset(p->met_at, 0xff, n_place * sizeof *p->met_at);
    memset(p->near, 0xff, n_near * sizeof *p->near);
    memset(p->above, 0xff, n_above * sizeof *p->above);
    memset(p->parent, 0xff, CORNERS * n_near * sizeof *p->parent);
    return list_own(level, p->own);
}

static void fill_lists(const hx_coarse_level *level, int64_t n_next, int n_block, size_t most_near,
                       hx_fused_part *part, part_lists *p)
{
    for (int b = 0; b < n_block; b++) {
        int32_t *const near = p->near + (size_t)b * most_near;
        int32_t *const above = p->above + (size_t)b * (size_t)n_next;
        uint16_t *const parent = p->parent + CORNERS * (size_t)b * most_near;
        const int n_near = list_near(level, begin_of(level->n_node, n_block, b),
                                     begin_of(level->n_node, n_block, b + 1), p, near),
                  n_above = list_above(level, n_near, near, p->met_at, above, parent);
        if (n_near > part->most_near) part->most_near = n_near;
        if (n_above > part->most_above) part->most_above = n_above;
    }
    const size_t n_near = (size_t)part->most_near, n_above = (size_t)part->most_above;
    shorten_lists(p->near, n_block, most_near * sizeof *p->near, n_near * sizeof *p->near);
    shorten_lists(p->above, n_block, (size_t)n_next * sizeof *p->above, n_above * sizeof *p->above);
    shorten_lists(p->parent, n_block, CORNERS * most_near * sizeof *p->parent,
                  CORNERS * n_near * sizeof *p->parent);
}

/* For a level that has a next one. */
static int put_part(hx_device *dev, const hx_coarse_level *level, int n_block, hx_fused_part *part)
{
    const int64_t n_node = level->n_node, n_next = level[1].n_node;
    part_lists p = {NULL, NULL, NULL, NULL, NULL, NULL};
    int rc;
    part->most_node = (int)((n_node + n_block - 1) / n_block);
    const size_t most_near = HX_COARSE_OFFSETS * (size_t)part->most_node;
    HX_TRY_FAIL(make_lists(level, n_next, n_block, most_near, &p));
    fill_lists(level, n_next, n_block, most_near, part, &p);
    const size_t n_near = (size_t)n_block * (size_t)part->most_near,
                 n_above = (size_t)n_block * (size_t)part->most_above;
    HX_TRY_FAIL(hx_device_put(dev, &part->d_own, p.own, (size_t)n_node * sizeof *p.own));
    HX_TRY_FAIL(hx_device_put(dev, &part->d_near, p.near, n_near * sizeof *p.near));
    HX_TRY_FAIL(hx_device_put(dev, &part->d_above, p.above, n_above * sizeof *p.above));
    HX_TRY_FAIL(hx_device_put(dev, &part->d_parent, p.parent, CORNERS * n_near * sizeof *p.parent));
    rc =
        hx_device_put(dev, &part->d_place, p.place, NEAR_STRIDE * (size_t)n_node * sizeof *p.place);
fail:
    free(p.met_at);
    free(p.own);
    free(p.near);
    free(p.above);
    free(p.parent);
    free(p.place);
    return rc;
}

/* Allocates all words, marked as not written by any step. */
static int put_words(hx_multigrid *mg, hx_mg_fused *r)
{
    const hx_device_ops *const ops = mg->dev->ops;
    const hx_mg_level *const level = mg->level + r->first;
    const size_t n_last = (size_t)level[r->n_level].n_node;
    size_t n_byte = n_last * (2 * HX_FUSED_NODE_BYTES + HX_MG_DOF * HX_FUSED_ROW_BYTES);
    for (int l = 0; l < r->n_level; l++)
        n_byte += (HX_FUSED_COPIES + 1) * HX_FUSED_NODE_BYTES * (size_t)level[l].n_node;
    HX_TRY(ops->alloc(mg->dev, n_byte, &r->d_word));
    HX_TRY(ops->zero(mg->dev, r->d_word, n_byte));
    char *next = r->d_word;
    for (int l = 0; l < r->n_level; l++) {
        const size_t one = HX_FUSED_NODE_BYTES * (size_t)level[l].n_node;
        r->part[l].d_x = next;
        next += HX_FUSED_COPIES * one;
        r->part[l].d_r = next;
        next += one;
    }
    r->d_b = next;
    r->d_y = (uint64_t *)(next + 2 * HX_FUSED_NODE_BYTES * n_last);
    const uint32_t count[2] = {1, 0}; /* steps are numbered from 1 */
    return hx_device_put(mg->dev, &r->d_count, count, sizeof count);
}

/* The first coarse grid such that it and all coarser ones have at most `most` nodes and point
 * smoothers; -1: none. */
static int find_first(const hx_multigrid *mg, const hx_coarse *coarse, int64_t most)
{
    int first = -1;
    if (mg->level[mg->n_level - 1].n_node > most) return first;
    for (int l = mg->n_level - 2; l >= coarse->n_shared; l--) {
        if (mg->n_level - 1 - l > HX_FUSED_LEVELS || mg->level[l].lines.next ||
            mg->level[l].n_node > most)
            break;
        first = l;
    }
    return first;
}

static int try_first(hx_multigrid *mg, const hx_coarse *coarse, int first, int n_block)
{
    hx_mg_fused *const r = &mg->fused;
    written w;
    memset(&w, 0, sizeof w);
    r->first = first;
    r->n_level = mg->n_level - 1 - first;
    r->n_block = n_block;
    list_steps(mg, r, &w, 0);
    if (r->n_step > HX_FUSED_STEPS) return 0;
    for (int l = 0; l < r->n_level; l++)
        HX_TRY(put_part(mg->dev, &coarse->level[first + l], n_block, &r->part[l]));
    HX_TRY(put_words(mg, r));
    return mg->ops->fused->fits(mg->dev, r, mg->level + first);
}

/* The fused cycle sums the terms of a row in another order than separate launches, so all ranks
 * must use it from the same level, or not at all. fits: result of try_first. */
static int agree(hx_multigrid *mg, int fits)
{
    const hx_interface_host *const host = hx_interface_host_of(mg->dev);
    const int64_t taken = fits > 0 ? mg->fused.first + 1 : 0;
    /* equal on all ranks if sum[0] * sum[2] = sum[1]^2 */
    int64_t sum[3] = {1, taken, taken * taken};
    HX_TRY(hx_interface_sum_i64(host, fits < 0 ? fits : HX_OK, 3, sum));
    if (sum[0] * sum[2] != sum[1] * sum[1]) hx_mg_fused_free(mg);
    return HX_OK;
}

int hx_mg_fused_create(hx_multigrid *mg, const hx_coarse *coarse)
{
    int n_block, n_node, fits = 0;
    if (!mg->ops->fused || mg->n_level < 2) return HX_OK;
    mg->ops->fused->room(mg->dev, &n_block, &n_node);
    /* each block must have at least one of its nodes */
    const int64_t lowest = mg->level[mg->n_level - 2].n_node;
    if (lowest < n_block) n_block = (int)lowest;
    const int first = find_first(mg, coarse, (int64_t)n_block * n_node);
    for (int l = first; l >= 0 && l < mg->n_level - 1 && fits == 0; l++) {
        fits = try_first(mg, coarse, l, n_block);
        if (fits <= 0) hx_mg_fused_free(mg);
    }
    if (fits == HX_ENOMEM) { /* optional: continue without it */
        hx_error_clear();
        fits = 0;
    }
    return agree(mg, fits);
}

double hx_mg_fused_bytes(const hx_multigrid_ops *ops, double n_node)
{
    /* MOST: number of nodes that fit, rounded up. MOST_NEAR: near nodes per node, which are more if
     * a block has few nodes. */
    enum { MOST = 8192, MOST_NEAR = 10 };
    if (!ops || !ops->fused) return 0.0;
    const double n = n_node < MOST ? n_node : MOST;
    return 1.3 * n *
           ((HX_FUSED_COPIES + 1) * (double)HX_FUSED_NODE_BYTES + NEAR_STRIDE * 2.0 +
            MOST_NEAR * (2.0 * sizeof(int32_t) + CORNERS * sizeof(uint16_t)));
}

void hx_mg_fused_free(hx_multigrid *mg)
{
    hx_mg_fused *const r = &mg->fused;
    const hx_device_ops *const ops = mg->dev->ops;
    for (int l = 0; l < HX_FUSED_LEVELS; l++) {
        ops->release(mg->dev, r->part[l].d_own);
        ops->release(mg->dev, r->part[l].d_near);
        ops->release(mg->dev, r->part[l].d_place);
        ops->release(mg->dev, r->part[l].d_above);
        ops->release(mg->dev, r->part[l].d_parent);
    }
    ops->release(mg->dev, r->d_word);
    ops->release(mg->dev, r->d_count);
    memset(r, 0, sizeof *r);
}
