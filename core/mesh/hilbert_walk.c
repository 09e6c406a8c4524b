/* Recursive halving: the curve passes through the eight octants of a cube one after the other, each
 * in one of a few orientations of the curve. The orientations are derived from the keys of corners,
 * so that the curve is defined by a single formula. */
#include "hilbert_walk.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "hilbert.h"

/* A thread processes blocks with this many cubes along an edge. */
enum { BLOCK = 16, MOST_TURNS = 48 };

/* One orientation of the curve in a cube. */
typedef struct turn {
    uint8_t octant[8]; /* in the order of the curve; bit d: the upper half along d */
    uint8_t inside[8]; /* the orientation in each octant */
} turn;

/* First occurrence of an orientation: a cube of 2^(bit + 1) steps of the curve. */
typedef struct sample {
    uint32_t corner[3];
    int bit;
} sample;

typedef struct block {
    int64_t low[3], first; /* position of its first cube */
    int turn;
} block;

typedef struct walk {
    int64_t n[3];
    int n_turn;
    turn turn[MOST_TURNS];
    int64_t n_block, next; /* so far */
    block *block;
    int32_t *order;
    uint32_t *place_of;
} walk;

static sample octant_of(const sample *s, int octant)
{
    /* NOLINTNEXTLINE(clang-analyzer-core*): met has n_turn cubes */
    sample inner = {.bit = s->bit - 1};
    for (int d = 0; d < 3; d++)
        inner.corner[d] = s->corner[d] + ((uint32_t)(octant >> d & 1) << s->bit);
    return inner;
}

/* Returns the number of the orientation in a cube, and adds the orientation if it is new. */
static int find_turn(walk *w, sample *met, const sample *s)
{
    uint8_t octant[8];
    /* the octants by the keys of their lower corners */
    static const hx_hilbert steps = {.scale = 1.0};
    double x[8][3];
    uint64_t key[8];
    for (int o = 0; o < 8; o++)
        for (int d = 0; d < 3; d++) x[o][d] = octant_of(s, o).corner[d];
    hx_hilbert_keys(&steps, 8, (const double(*)[3])x, key);
    for (int o = 0; o < 8; o++) {
        int before = 0;
        for (int i = 0; i < 8; i++) before += key[i] < key[o];
        octant[before] = (uint8_t)o;
    }
    for (int t = 0; t < w->n_turn; t++)
        if (memcmp(w->turn[t].octant, octant, sizeof octant) == 0) return t;
    memcpy(w->turn[w->n_turn].octant, octant, sizeof octant);
    met[w->n_turn] = *s;
    return w->n_turn++;
}

/* Number of cubes of a block along an axis. */
static int64_t extent(const walk *w, const int64_t low[3], int64_t size, int d)
{
    return low[d] + size < w->n[d] ? size : w->n[d] - low[d];
}

/* Lists the blocks of a cube of `size` at low[], in order. */
static void list_blocks(walk *w, const int64_t low[3], int64_t size, int way)
{
    if (size <= BLOCK) {
        block *const b = &w->block[w->n_block++];
        memcpy(b->low, low, sizeof b->low);
        b->turn = way;
        b->first = w->next;
        w->next += extent(w, low, size, 0) * extent(w, low, size, 1) * extent(w, low, size, 2);
        return;
    }
    for (int i = 0; i < 8; i++) {
        const int octant = w->turn[way].octant[i];
        int64_t at[3];
        for (int d = 0; d < 3; d++) at[d] = low[d] + (octant >> d & 1) * (size / 2);
        if (at[0] < w->n[0] && at[1] < w->n[1] && at[2] < w->n[2])
            list_blocks(w, at, size / 2, w->turn[way].inside[i]);
    }
}

/* Writes the cubes of a cube of `size` at (i, j, k) in order, from `place`; returns the end. */
static int64_t put_cubes(const walk *w, int64_t i, int64_t j, int64_t k, int64_t size, int way,
                         int64_t place)
{
    if (size == 1) {
        const int64_t cube = (k * w->n[1] + j) * w->n[0] + i;
        w->order[place] = (int32_t)cube;
        w->place_of[cube] = (uint32_t)place;
        return place + 1;
    }
    const int64_t half = size / 2;
    for (int o = 0; o < 8; o++) {
        const int octant = w->turn[way].octant[o];
        const int64_t x = i + (octant & 1) * half, y = j + (octant >> 1 & 1) * half,
                      z = k + (octant >> 2) * half;
        if (x < w->n[0] && y < w->n[1] && z < w->n[2])
            place = put_cubes(w, x, y, z, half, w->turn[way].inside[o], place);
    }
    return place;
}

int hx_hilbert_walk(const int64_t n[3], int32_t *order, uint32_t *place_of)
{
    static const int64_t origin[3] = {0, 0, 0};
    walk w = {.n = {n[0], n[1], n[2]}, .order = order, .place_of = place_of};
    int64_t size = 1, n_block = 1;
    for (int d = 0; d < 3; d++) {
        while (size < n[d]) size *= 2;
        n_block *= (n[d] + BLOCK - 1) / BLOCK;
    }
    HX_TRY(hx_alloc_raw(&w.block, (size_t)n_block, sizeof *w.block, "blocks of a grid"));
    /* find all orientations, starting with the one in the largest cube */
    sample met[MOST_TURNS];
    const sample whole = {.bit = HX_HILBERT_BITS - 1};
    find_turn(&w, met, &whole);
    for (int t = 0; t < w.n_turn; t++)
        for (int i = 0; i < 8; i++) {
            const sample inner = octant_of(&met[t], w.turn[t].octant[i]);
            w.turn[t].inside[i] = (uint8_t)find_turn(&w, met, &inner);
        }
    list_blocks(&w, origin, size, 0);
    const int64_t of_block = size < BLOCK ? size : BLOCK;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < w.n_block; b++) {
        const block *const at = &w.block[b];
        put_cubes(&w, at->low[0], at->low[1], at->low[2], of_block, at->turn, at->first);
    }
    free(w.block);
    return HX_OK;
}
