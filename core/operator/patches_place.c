#include "patches_place.h"

#include <string.h>

enum { BANK = HX_PATCH_BANK, COLOURS = HX_PATCH_COLOURS, NO_COLOUR = 255 };

enum { ROW_BITS = 12 }; /* bits of the row in a key; the node has 31 bits above */

/* Sorts ascending (Shell 1959; gaps of Ciura 2001). */
static void sort_keys(int64_t *key, int n)
{
    static const int gap[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gap / sizeof gap[0]; g++)
        for (int i = gap[g]; i < n; i++) {
            const int64_t value = key[i];
            int k = i;
            for (; k >= gap[g] && key[k - gap[g]] > value; k -= gap[g]) key[k] = key[k - gap[g]];
            key[k] = value;
        }
}

/* Sorts rows by their number of slots, and by node within equal numbers. */
static void order_rows(hx_patch_placing *w)
{
    int begin[10] = {0}; /* first row with 8, 7, ... slots; shifted by one while counting */
    for (int row = 0; row < w->rows.n; row++) begin[9 - w->rows.count[row]]++;
    for (int few = 0; few < 8; few++) begin[few + 1] += begin[few];
    for (int row = 0; row < w->rows.n; row++) {
        const int64_t few = 8 - w->rows.count[row], node = w->rows.node[row];
        w->order[begin[few]++] = node << ROW_BITS | row;
    }
    for (int few = 0, first = 0; few < 8; first = begin[few++])
        sort_keys(w->order + first, begin[few] - first);
}

static int ordered_row(const hx_patch_placing *w, int k)
{
    return (int)(w->order[k] & ((1 << ROW_BITS) - 1));
}

/* The half-warp and corner by which an incidence is read. */
static int reader(int incidence)
{
    return incidence / (8 * BANK) * 8 + incidence % 8;
}

typedef uint8_t banks __attribute__((vector_size(BANK)));

/* Key of a bank: cost, fill level, number. FULL makes a bank the last choice. */
enum { ONE_FILL = 1 << 4, ONE_COST = 1 << 12, FULL = 1 << 28 };

/* Chooses the bank in which a row's readers conflict with the fewest others; among equal banks the
 * emptiest, then the first. */
static int choose_bank(const hx_patch_placing *w, int row, const int32_t fill[BANK])
{
    banks sum = {0}; /* at most 8 * 16 each */
    uint8_t cost[BANK];
    int32_t best = INT32_MAX;
    for (int i = 0; i < w->rows.count[row]; i++) {
        banks used;
        memcpy(&used, w->used[reader(w->incidence[row][i])], sizeof used);
        sum += used;
    }
    memcpy(cost, &sum, sizeof cost);
    for (int b = 0; b < BANK; b++) {
        const int32_t key = cost[b] * ONE_COST + fill[b];
        best = key < best ? key : best;
    }
    return best % ONE_FILL;
}

/* Assigns each row, in order, to a bank. The remaining positions go to unused rows. */
static void place_rows(hx_patch_placing *w, int n_level)
{
    int32_t fill[BANK]; /* keys without costs */
    int next = w->rows.n;
    memset(w->used, 0, sizeof w->used);
    for (int b = 0; b < BANK; b++) fill[b] = b;
    for (int k = 0; k < w->rows.n; k++) {
        const int row = ordered_row(w, k), bank = choose_bank(w, row, fill);
        for (int i = 0; i < w->rows.count[row]; i++) w->used[reader(w->incidence[row][i])][bank]++;
        w->position[k] = (uint16_t)(BANK * (fill[bank] / ONE_FILL) + bank);
        fill[bank] += ONE_FILL;
        if (fill[bank] / ONE_FILL == n_level) fill[bank] += FULL;
    }
    for (int b = 0; b < BANK; b++)
        for (int level = fill[b] % FULL / ONE_FILL; level < n_level; level++)
            w->position[next++] = (uint16_t)(BANK * level + b);
}

/* Colours rows as on a regular grid whose cells all number their corners in the same way. The first
 * corner of an element that already has a colour determines the others. The colour of an element is
 * that of its first corner. */
static void colour(hx_patch_placing *w, int n_elem)
{
    memset(w->row_colour, NO_COLOUR, (size_t)w->rows.n);
    for (int k = 0; k < n_elem; k++) {
        const int16_t *const row = w->row_of[k];
        int known = 0, first = 0;
        while (known < 8 && w->row_colour[row[known]] == NO_COLOUR) known++;
        if (known < 8) first = w->row_colour[row[known]] - hx_patch_colour(known);
        w->elem_colour[k] = (uint8_t)(first & (COLOURS - 1));
        for (int a = 0; a < 8; a++)
            if (w->row_colour[row[a]] == NO_COLOUR)
                w->row_colour[row[a]] = (uint8_t)((first + hx_patch_colour(a)) & (COLOURS - 1));
    }
}

/* Assigns items, in order, to the first free place that equals their colour modulo COLOURS. Items
 * that find none go to other places, if possible in the same bank of doubles. */
static void spread_colours(const uint8_t *colour_of, int n, int n_place, uint16_t *place)
{
    int next[COLOURS], n_left = 0;
    int16_t left[HX_PATCH_INCIDENCES];
    for (int c = 0; c < COLOURS; c++) next[c] = c;
    for (int k = 0; k < n; k++) {
        int *const at = &next[colour_of[k]];
        if (*at >= n_place) {
            left[n_left++] = (int16_t)k;
            continue;
        }
        place[k] = (uint16_t)*at;
        *at += COLOURS;
    }
    for (int i = 0; i < n_left; i++) {
        int c = colour_of[left[i]] ^ BANK;
        while (next[c] >= n_place) c = (c + 1) % COLOURS;
        place[left[i]] = (uint16_t)next[c];
        next[c] += COLOURS;
    }
}

/* Moves each element to a place of its colour, so that 32 places find 32 colours at each of their
 * corners. */
static void permute_elements(hx_patch_placing *w, int32_t *elem, int n)
{
    int16_t row_of[HX_MAX_PATCH][8];
    int32_t from[HX_MAX_PATCH];
    uint16_t place[HX_MAX_PATCH];
    spread_colours(w->elem_colour, n, n, place);
    memcpy(row_of, w->row_of, (size_t)n * sizeof *row_of);
    memcpy(from, elem, (size_t)n * sizeof *from);
    for (int k = 0; k < n; k++) {
        memcpy(w->row_of[place[k]], row_of[k], sizeof *row_of);
        elem[place[k]] = from[k];
    }
}

/* Tracks how often one bank is read in each of the eight slots by 16 rows. Slot s with n reads is
 * bit 8 n + s of `few` if n < 8, otherwise bit 8 (n - 8) + s of `many`. */
typedef struct reads {
    uint64_t few, many;
} reads;

#define EACH_COUNT 0x0101010101010101u /* one bit per count, for slot 0 */

/* Takes the free slot in which the bank has the fewest reads, the first among equals. The count of
 * that slot increases by one, and the slot is no longer free for this row. is_free: bits as in
 * `reads`, for each count. */
static int take_slot(reads *bank, uint64_t *is_free)
{
    uint64_t *const word = bank->few & *is_free ? &bank->few : &bank->many;
    const int at = __builtin_ctzll(*word & *is_free), slot = at % 8;
    /* a count of 16 need not be stored, since no row follows then */
    *word ^= (uint64_t)0x101 << at;
    if (at >= 56 && word == &bank->few) bank->many |= (uint64_t)1 << slot;
    *is_free &= ~(EACH_COUNT << slot);
    return slot;
}

void hx_patch_place(hx_patches *p, const hx_patch_group *group, const hx_mesh *mesh, int64_t patch,
                    hx_patch_placing *w)
{
    const hx_span *span = &p->span[group->first_patch + patch];
    int32_t *node = p->row_node + span->begin;
    hx_eight *slot = p->row_slot + span->begin;
    hx_eight *corner = p->corner + group->first_place + patch * group->size;
    hx_patch_rows_clear(&w->rows, group->size);
    for (int k = 0; k < span->count; k++) {
        const int64_t e = hx_patch_item(group, span->first + k);
        hx_patch_rows_add(&w->rows, group, mesh, e, w->row_of[k]);
    }
    if (group->permutes) {
        colour(w, span->count);
        permute_elements(w, group->elem + span->first, span->count);
    }
    uint8_t n[HX_PATCH_INCIDENCES];
    memset(n, 0, (size_t)w->rows.n);
    for (int k = 0; k < span->count; k++)
        for (int a = 0; a < (group->is_tetrahedral ? 4 : 8); a++) {
            const int row = w->row_of[k][a];
            w->incidence[row][n[row]++] = (uint16_t)(8 * k + a);
        }
    order_rows(w);
    if (group->permutes) { /* unused rows go to the remaining positions */
        uint8_t colour_of[HX_PATCH_INCIDENCES];
        for (int k = 0; k < span->n; k++)
            colour_of[k] =
                (uint8_t)(k < w->rows.n ? w->row_colour[ordered_row(w, k)] : k % COLOURS);
        spread_colours(colour_of, span->n, group->max_row, w->position);
    } else
        place_rows(w, span->n / BANK);
    memcpy(p->row_position + span->begin, w->position, (size_t)span->n * sizeof *w->position);
    memset(slot, 0xff, (size_t)span->n * sizeof *slot);
    memset(corner, 0, (size_t)group->size * sizeof *corner);
    reads bank[BANK]; /* for 16 rows */
    int n_slot = 0;   /* for 16 rows, of which the first has the most */
    for (int k = 0; k < w->rows.n; k++) {
        const int row = ordered_row(w, k);
        if (k % BANK == 0) n_slot = w->rows.count[row];
        for (int b = 0; k % BANK == 0 && b < BANK; b++) bank[b] = (reads){0xff, 0};
        uint64_t is_free = EACH_COUNT * (0xffu >> (8 - n_slot));
        node[k] = w->rows.node[row];
        for (int i = 0; i < w->rows.count[row]; i++) {
            const int place = w->incidence[row][i] / 8, a = w->incidence[row][i] % 8;
            const int at = hx_patch_slot_of(group, a, place);
            const int s = take_slot(&bank[at % BANK], &is_free);
            slot[k].v[s] = (uint16_t)at;
            corner[place].v[a] = w->position[k];
        }
    }
    /* An unused row loads a node of the patch and writes zeros to a partial sum that is never
     * read. */
    for (int k = w->rows.n; k < span->n; k++) node[k] = w->rows.node[0] | HX_SHARED_ROW;
}
