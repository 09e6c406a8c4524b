#include "patches.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"

enum {
    MAX_INCIDENCE = 8 * HX_MAX_PATCH,
    MAX_HASH = 8192, /* a power of 2, of at least 2 MAX_INCIDENCE */
    MAX_GROUP = MAX_INCIDENCE / HX_PATCH_BANK,
    BANK = HX_PATCH_BANK
};

static int64_t wide_from = 150000;

int64_t hx_patches_wide_from(void)
{
    return wide_from;
}

void hx_patches_set_wide_from(int64_t n_elem)
{
    wide_from = n_elem;
}

/* Rows of one patch by node: a hash table, and the rows in order of first use. */
typedef struct row_table {
    int32_t key[MAX_HASH]; /* node, -1: free */
    int16_t row[MAX_HASH]; /* its last row */
    uint32_t n_hash;       /* entries in use, a power of 2 */
    int n;
    int32_t node[MAX_INCIDENCE];
    uint8_t count[MAX_INCIDENCE]; /* incidences of each row, at most 8 */
} row_table;

/* Empty, for a patch of up to `size` elements. */
static void table_clear(row_table *table, int size)
{
    table->n_hash = 16;
    while (table->n_hash < 16 * (uint32_t)size) table->n_hash *= 2;
    memset(table->key, 0xff, table->n_hash * sizeof *table->key);
    table->n = 0;
}

static int add_row(row_table *table, int32_t node, int times)
{
    table->node[table->n] = node;
    table->count[table->n] = (uint8_t)times;
    return table->n++;
}

/* The row for so many more incidences of a node, 8 at most; a ninth opens a further row. */
static int table_add(row_table *table, int32_t node, int times)
{
    const uint32_t mask = table->n_hash - 1;
    uint32_t at = (uint32_t)node * 2654435761u >> 16 & mask;
    while (table->key[at] != -1 && table->key[at] != node) at = (at + 1) & mask;
    if (table->key[at] == -1) {
        table->key[at] = node;
        table->row[at] = (int16_t)add_row(table, node, times);
    } else if (table->count[table->row[at]] + times > 8) {
        table->row[at] = (int16_t)add_row(table, node, times);
    } else {
        table->count[table->row[at]] = (uint8_t)(table->count[table->row[at]] + times);
    }
    return table->row[at];
}

static int64_t item_element(const hx_patch_group *group, int64_t item)
{
    return group->elem ? group->elem[item] : item;
}

/* Of an element of this group: its points, or corners. */
static int n_corner(const hx_patch_group *group)
{
    return group->is_tetrahedral ? 4 : 8;
}

/* The rows of an element's corners: those that name one node have one. */
static void add_element(row_table *table, const hx_patch_group *group, const hx_mesh *mesh,
                        int64_t e, int16_t row[8])
{
    const int32_t *conn = mesh->conn + 8 * e;
    if (group->is_tetrahedral) {
        int corner[4];
        hx_cell_tetrahedron(mesh->xyz, conn, corner);
        for (int k = 0; k < 4; k++) row[k] = (int16_t)table_add(table, conn[corner[k]], 1);
        return;
    }
    if (!hx_cell_is_collapsed(conn)) {
        for (int a = 0; a < 8; a++) row[a] = (int16_t)table_add(table, conn[a], 1);
        return;
    }
    for (int a = 0; a < 8; a++) {
        int first = 0, times = 1;
        while (conn[first] != conn[a]) first++;
        for (int b = a + 1; b < 8; b++) times += conn[b] == conn[a];
        row[a] = first < a ? row[first] : (int16_t)table_add(table, conn[a], times);
    }
}

static int round_up(int n)
{
    return (n + BANK - 1) / BANK * BANK;
}

/* Rows of a patch; row_of[place][corner] before they are placed. */
static void number_rows(const hx_patch_group *group, const hx_mesh *mesh, const hx_span *span,
                        row_table *table, int16_t (*row_of)[8])
{
    table_clear(table, group->size);
    for (int k = 0; k < span->count; k++) {
        const int64_t e = item_element(group, span->first + k);
        add_element(table, group, mesh, e, row_of[k]);
    }
}

/* The next patch from `item` on, before `end`: its items and number of rows. */
static hx_span cut_patch(const hx_patch_group *group, const hx_mesh *mesh, int64_t item,
                         int64_t end, row_table *table)
{
    hx_span span = {0};
    int16_t row[8];
    while (item < end && item_element(group, item) < 0) item++;
    span.first = (int32_t)item;
    table_clear(table, group->size);
    for (; item < end && span.count < group->size; item++, span.count++) {
        const int64_t e = item_element(group, item);
        if (e < 0) break;
        add_element(table, group, mesh, e, row);
        if (table->n > group->max_row) break;
        span.n = (int16_t)table->n;
    }
    span.n = (int16_t)round_up(span.n);
    return span;
}

/* What placing a patch's rows works on. */
typedef struct placing {
    row_table table;
    int16_t row_of[HX_MAX_PATCH][8];
    uint16_t incidence[MAX_INCIDENCE][8]; /* of each row: place * 8 + corner */
    uint8_t used[MAX_GROUP][BANK];        /* rows that a half-warp reads from each bank */
    int64_t order[MAX_INCIDENCE];         /* by slots descending, then by keys: node, row */
    uint16_t position[MAX_INCIDENCE];
} placing;

enum { ROW_BITS = 12 }; /* of a row in a key; 31 of a node above */

/* Ascending (Shell 1959; the gaps of Ciura 2001). */
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

/* Rows of as many slots together, each such range sorted. */
static void order_rows(placing *w)
{
    int begin[10] = {0}; /* of the rows with 8, 7 ... slots; one place up while they are counted */
    for (int row = 0; row < w->table.n; row++) begin[9 - w->table.count[row]]++;
    for (int few = 0; few < 8; few++) begin[few + 1] += begin[few];
    for (int row = 0; row < w->table.n; row++) {
        const int64_t few = 8 - w->table.count[row], node = w->table.node[row];
        w->order[begin[few]++] = node << ROW_BITS | row;
    }
    for (int few = 0, first = 0; few < 8; first = begin[few++])
        sort_keys(w->order + first, begin[few] - first);
}

static int ordered_row(const placing *w, int k)
{
    return (int)(w->order[k] & ((1 << ROW_BITS) - 1));
}

static void list_incidences(placing *w, int n_elem, int n_corner_each)
{
    uint8_t n[MAX_INCIDENCE];
    memset(n, 0, (size_t)w->table.n);
    for (int k = 0; k < n_elem; k++)
        for (int a = 0; a < n_corner_each; a++) {
            const int row = w->row_of[k][a];
            w->incidence[row][n[row]++] = (uint16_t)(8 * k + a);
        }
}

/* The half-warp and corner that an incidence is read in. */
static int reader(int incidence)
{
    return incidence / (8 * BANK) * 8 + incidence % 8;
}

typedef uint8_t banks __attribute__((vector_size(BANK)));

/* A bank's key: cost, fill, number; FULL puts it behind all others. */
enum { ONE_FILL = 1 << 4, ONE_COST = 1 << 12, FULL = 1 << 28 };

/* The bank where a row's readers meet the fewest others; of several the emptiest, of those the
 * first. */
static int choose_bank(const placing *w, int row, const int32_t fill[BANK])
{
    banks sum = {0}; /* at most 8 * 16 each */
    uint8_t cost[BANK];
    int32_t best = INT32_MAX;
    for (int i = 0; i < w->table.count[row]; i++) {
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

/* Each row in order to its bank. Positions left over go to unused rows. */
static void place_rows(placing *w, int n_level)
{
    int32_t fill[BANK]; /* keys without their costs */
    int next = w->table.n;
    memset(w->used, 0, sizeof w->used);
    for (int b = 0; b < BANK; b++) fill[b] = b;
    for (int k = 0; k < w->table.n; k++) {
        const int row = ordered_row(w, k), bank = choose_bank(w, row, fill);
        for (int i = 0; i < w->table.count[row]; i++) w->used[reader(w->incidence[row][i])][bank]++;
        w->position[k] = (uint16_t)(BANK * (fill[bank] / ONE_FILL) + bank);
        fill[bank] += ONE_FILL;
        if (fill[bank] / ONE_FILL == n_level) fill[bank] += FULL;
    }
    for (int b = 0; b < BANK; b++)
        for (int level = fill[b] % FULL / ONE_FILL; level < n_level; level++)
            w->position[next++] = (uint16_t)(BANK * level + b);
}

/* The eight slots by how many of 16 rows read a bank in them: slot s with n reads is bit 8 n + s,
 * of `many` with n - 8. */
typedef struct reads {
    uint64_t few, many;
} reads;

#define EACH_COUNT 0x0101010101010101u /* of reads, of slot 0 */

/* The free slot with the fewest reads of the bank, of several the first: it has one more, and is
 * not free any more. is_free: as `reads` has it, for each count. */
static int take_slot(reads *bank, uint64_t *is_free)
{
    uint64_t *const word = bank->few & *is_free ? &bank->few : &bank->many;
    const int at = __builtin_ctzll(*word & *is_free), slot = at % 8;
    *word ^= (uint64_t)0x101 << at; /* a sixteenth row is the last one */
    if (at >= 56 && word == &bank->few) bank->many |= (uint64_t)1 << slot;
    *is_free &= ~(EACH_COUNT << slot);
    return slot;
}

static void fill_patch(hx_patches *p, const hx_patch_group *group, const hx_mesh *mesh,
                       int64_t patch, placing *w)
{
    const hx_span *span = &p->span[group->first_patch + patch];
    int32_t *node = p->row_node + span->begin;
    hx_eight *slot = p->row_slot + span->begin;
    hx_eight *corner = p->corner + group->first_place + patch * group->size;
    number_rows(group, mesh, span, &w->table, w->row_of);
    list_incidences(w, span->count, n_corner(group));
    order_rows(w);
    place_rows(w, span->n / BANK);
    memcpy(p->row_position + span->begin, w->position, (size_t)span->n * sizeof *w->position);
    memset(slot, 0xff, (size_t)span->n * sizeof *slot);
    memset(corner, 0, (size_t)group->size * sizeof *corner);
    reads bank[BANK]; /* of 16 rows */
    int n_slot = 0;   /* of 16 rows, the first has the most */
    for (int k = 0; k < w->table.n; k++) {
        const int row = ordered_row(w, k);
        if (k % BANK == 0) n_slot = w->table.count[row];
        for (int b = 0; k % BANK == 0 && b < BANK; b++) bank[b] = (reads){0xff, 0};
        uint64_t is_free = EACH_COUNT * (0xffu >> (8 - n_slot));
        node[k] = w->table.node[row];
        for (int i = 0; i < w->table.count[row]; i++) {
            const int place = w->incidence[row][i] / 8, a = w->incidence[row][i] % 8;
            const int at = hx_patch_slot(group->size, a, place);
            const int s = take_slot(&bank[at % BANK], &is_free);
            slot[k].v[s] = (uint16_t)at;
            corner[place].v[a] = w->position[k];
        }
    }
    /* An unused row loads a node of the patch and sums nothing into a partial sum that nobody
     * reads. */
    for (int k = w->table.n; k < span->n; k++) node[k] = w->table.node[0] | HX_SHARED_ROW;
}

enum { CHUNK = 8192 };

/* Items that are cut by one thread, whole patches where they are full; a patch ends with its
 * chunk. */
static int64_t chunk_of(const hx_patch_group *group)
{
    return CHUNK - CHUNK % group->size;
}

static int64_t n_chunk(const hx_patch_group *group)
{
    return (group->n_item + chunk_of(group) - 1) / chunk_of(group);
}

/* Patches of a chunk that there is room for at first: twice as many as full ones, unless that is
 * too few. */
static int64_t usual_room(const hx_patch_group *group)
{
    return 2 * CHUNK / group->size + 16;
}

/* Cuts one chunk into span[n_room], if given; returns the number of its patches. Adds to n_row. */
static int64_t cut_chunk(const hx_patch_group *group, const hx_mesh *mesh, int64_t chunk,
                         row_table *table, int64_t n_room, hx_span *span, int64_t *n_row)
{
    const int64_t begin = chunk * chunk_of(group), whole = begin + chunk_of(group);
    const int64_t end = whole < group->n_item ? whole : group->n_item;
    int64_t n = 0, item = begin;
    while (item < end) {
        const hx_span cut = cut_patch(group, mesh, item, end, table);
        if (cut.count == 0) break; /* separators alone */
        if (span && n < n_room) span[n] = cut;
        *n_row += cut.n;
        n++;
        item = cut.first + cut.count;
    }
    return n;
}

/* n_cut[chunk + 1] = patches of a chunk; if span is given, the first n_room of them are from
 * span[chunk * n_room] on. *n_row: rows of all. */
static int cut_chunks(const hx_patch_group *group, const hx_mesh *mesh, int64_t *n_cut,
                      int64_t n_room, hx_span *span, int64_t *n_row)
{
    int failed = 0;
    int64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        row_table *table = malloc(sizeof *table);
#pragma omp atomic
        failed += !table;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < n_chunk(group); i++)
            if (table)
                n_cut[i + 1] =
                    cut_chunk(group, mesh, i, table, n_room, span ? span + i * n_room : NULL, &sum);
        free(table);
    }
    *n_row = sum;
    return failed ? HX_RAISE(HX_ENOMEM, "out of memory: patches") : HX_OK;
}

static int fill_patches(hx_patches *p, const hx_mesh *mesh)
{
    int failed = 0;
#pragma omp parallel
    {
        placing *w = malloc(sizeof *w);
#pragma omp atomic
        failed += !w;
        for (int g = 0; g < p->n_group; g++) {
#pragma omp for schedule(dynamic, 64)
            for (int64_t i = 0; i < p->group[g].n_patch; i++)
                if (w) fill_patch(p, &p->group[g], mesh, i, w);
        }
        free(w);
    }
    return failed ? HX_RAISE(HX_ENOMEM, "out of memory: patches") : HX_OK;
}

/* The patches of one group, as cut_chunks left them, to p->span. */
static void gather_spans(hx_patches *p, const hx_patch_group *group, const int64_t *n_cut,
                         int64_t n_room, const hx_span *cut)
{
    hx_span *span = p->span + group->first_patch;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_chunk(group); i++)
        memcpy(span + n_cut[i], cut + i * n_room, (size_t)(n_cut[i + 1] - n_cut[i]) * sizeof *span);
}

/* Where the rows of each patch, and of the group, begin. */
static int place_spans(hx_patches *p, hx_patch_group *group)
{
    hx_span *span = p->span + group->first_patch;
    group->first_row = p->n_row;
    for (int64_t i = 0; i < group->n_patch; i++) {
        span[i].begin = (int32_t)p->n_row;
        p->n_row += span[i].n;
        if (p->n_row > INT32_MAX)
            return HX_RAISE(HX_EENV, "more than 2147483647 rows: switch mesh.reorder on");
    }
    return HX_OK;
}

/* Cuts the chunks of one group: n_cut[chunk + 1] patches of each, from (*cut)[chunk * *n_room] on.
 */
static int cut_group(hx_patch_group *group, const hx_mesh *mesh, int64_t *n_cut, int64_t *n_room,
                     hx_span **cut)
{
    const int64_t n = n_chunk(group);
    int64_t most = 0;
    for (*n_room = usual_room(group);; *n_room = most) {
        HX_TRY(hx_alloc_raw(cut, (size_t)(n * *n_room), sizeof **cut, "patches"));
        HX_TRY(cut_chunks(group, mesh, n_cut, *n_room, *cut, &group->n_row));
        for (int64_t i = 0; i < n; i++) most = n_cut[i + 1] > most ? n_cut[i + 1] : most;
        if (most <= *n_room) return HX_OK;
        free(*cut);
        *cut = NULL;
    }
}

/* Cuts all groups: patches, places and rows are counted, spans filled. */
static int cut_groups(hx_patches *p, const hx_mesh *mesh)
{
    int rc;
    int64_t *n_cut[2] = {NULL, NULL}, n_room[2];
    hx_span *cut[2] = {NULL, NULL}; /* n_room places a chunk */
    for (int g = 0; g < p->n_group; g++) {
        hx_patch_group *group = &p->group[g];
        const int64_t n = n_chunk(group);
        HX_TRY_FAIL(hx_alloc(&n_cut[g], (size_t)n + 1, sizeof *n_cut[g], "patches"));
        HX_TRY_FAIL(cut_group(group, mesh, n_cut[g], &n_room[g], &cut[g]));
        for (int64_t i = 0; i < n; i++) n_cut[g][i + 1] += n_cut[g][i];
        group->first_patch = p->n_patch;
        group->n_patch = n_cut[g][n];
        group->first_place = p->n_place;
        p->n_patch += group->n_patch;
        p->n_place += group->n_patch * group->size;
    }
    HX_TRY_FAIL(hx_alloc_raw(&p->span, (size_t)p->n_patch, sizeof *p->span, "patches"));
    for (int g = 0; g < p->n_group; g++) {
        gather_spans(p, &p->group[g], n_cut[g], n_room[g], cut[g]);
        HX_TRY_FAIL(place_spans(p, &p->group[g]));
    }
    rc = HX_OK;
fail:
    for (int g = 0; g < 2; g++) {
        free(n_cut[g]);
        free(cut[g]);
    }
    return rc;
}

/* Used rows of each node into n_of. */
static void count_by_node(const hx_patches *p, const hx_mesh *mesh, int32_t *n_of)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) n_of[a] = 0;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < p->n_row; row++) {
        if (p->row_node[row] < 0) continue;
#pragma omp atomic
        n_of[p->row_node[row]]++;
    }
}

/* Where the shared nodes, and their rows, of each part of the nodes begin. */
typedef struct shared_begin {
    int64_t node[HX_N_PART + 1], row[HX_N_PART + 1];
} shared_begin;

static void count_shared(const hx_mesh *mesh, const int32_t *n_of, shared_begin *begin)
{
    memset(begin, 0, sizeof *begin);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_node, part + 1);
        int64_t n = 0, n_row = 0;
        for (int64_t a = hx_part_begin(mesh->n_node, part); a < end; a++) {
            n += n_of[a] > 1;
            n_row += n_of[a] > 1 ? n_of[a] : 0;
        }
        begin->node[part + 1] = n;
        begin->row[part + 1] = n_row;
    }
    for (int part = 0; part < HX_N_PART; part++) {
        begin->node[part + 1] += begin->node[part];
        begin->row[part + 1] += begin->row[part];
    }
}

/* shared_node and shared_ptr; n_of becomes the number among the shared nodes, or -1. */
static void number_shared(hx_patches *p, const hx_mesh *mesh, const shared_begin *begin,
                          int32_t *n_of)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_node, part + 1);
        int64_t k = begin->node[part], row = begin->row[part];
        for (int64_t a = hx_part_begin(mesh->n_node, part); a < end; a++) {
            const int32_t n_row = n_of[a];
            n_of[a] = -1;
            if (n_row < 2) continue;
            p->shared_node[k] = (int32_t)a;
            p->shared_ptr[k] = (int32_t)row;
            n_of[a] = (int32_t)k++;
            row += n_row;
        }
    }
    p->shared_ptr[p->n_shared] = (int32_t)p->n_shared_row;
}

/* Numbers the partial sums: those of a patch from its first row that has one on. */
static void number_partial(hx_patches *p, const int32_t *n_of)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n_patch; i++) {
        hx_span *span = &p->span[i];
        const int32_t *const node = p->row_node + span->begin;
        int32_t k = 0;
        while (k < span->n && node[k] >= 0 && n_of[node[k]] < 0) k++;
        span->partial = k;
    }
    for (int64_t i = 0; i < p->n_patch; i++) {
        const int32_t before = p->span[i].partial;
        p->span[i].partial = (int32_t)(p->n_partial - before);
        p->n_partial += p->span[i].n - before;
    }
}

/* Lists the partial sums of shared nodes, and marks their rows. */
static void list_partial(hx_patches *p, const int32_t *n_of, int32_t *listed)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n_patch; i++) {
        const hx_span *span = &p->span[i];
        int32_t *const node = p->row_node + span->begin;
        for (int32_t k = 0; k < span->n; k++) {
            const int32_t number = node[k] < 0 ? -1 : n_of[node[k]];
            int32_t at;
            if (number < 0) continue;
#pragma omp atomic capture
            at = listed[number]++;
            p->shared_sum[p->shared_ptr[number] + at] = span->partial + k;
            node[k] |= HX_SHARED_ROW;
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n_shared; i++)
        hx_sort_few_i32(p->shared_sum + p->shared_ptr[i], listed[i]);
}

/* Lists the rows of shared nodes. */
static int list_shared(hx_patches *p, const hx_mesh *mesh)
{
    int rc;
    int32_t *n_of = NULL;   /* [n_node] rows; then the number among the shared nodes, or -1 */
    int32_t *listed = NULL; /* [n_shared] rows listed */
    shared_begin begin;
    HX_TRY_FAIL(hx_alloc_raw(&n_of, (size_t)mesh->n_node, sizeof *n_of, "patches"));
    count_by_node(p, mesh, n_of);
    count_shared(mesh, n_of, &begin);
    p->n_shared = begin.node[HX_N_PART];
    p->n_shared_row = begin.row[HX_N_PART];
    const size_t n = (size_t)p->n_shared;
    HX_TRY_FAIL(hx_alloc_raw(&p->shared_node, n, sizeof *p->shared_node, "patches"));
    HX_TRY_FAIL(hx_alloc_raw(&p->shared_ptr, n + 1, sizeof *p->shared_ptr, "patches"));
    HX_TRY_FAIL(
        hx_alloc_raw(&p->shared_sum, (size_t)p->n_shared_row, sizeof *p->shared_sum, "patches"));
    HX_TRY_FAIL(hx_alloc(&listed, n, sizeof *listed, "patches"));
    number_shared(p, mesh, &begin, n_of);
    number_partial(p, n_of);
    list_partial(p, n_of, listed);
    rc = HX_OK;
fail:
    hx_free_large(n_of, (size_t)mesh->n_node * sizeof *n_of);
    hx_free_large(listed, (size_t)p->n_shared * sizeof *listed);
    return rc;
}

int hx_patches_create(hx_patches *p, const hx_mesh *mesh, int n_group, const hx_patch_group *group)
{
    int rc;
    memset(p, 0, sizeof *p);
    p->n_group = n_group;
    for (int g = 0; g < n_group; g++) p->group[g] = group[g];
    HX_TRY_FAIL(cut_groups(p, mesh));
    const size_t n_row = (size_t)p->n_row;
    HX_TRY_FAIL(hx_alloc_raw(&p->corner, (size_t)p->n_place, sizeof *p->corner, "patches"));
    HX_TRY_FAIL(hx_alloc_raw(&p->row_node, n_row, sizeof *p->row_node, "patches"));
    HX_TRY_FAIL(hx_alloc_raw(&p->row_position, n_row, sizeof *p->row_position, "patches"));
    HX_TRY_FAIL(hx_alloc_raw(&p->row_slot, n_row, sizeof *p->row_slot, "patches"));
    HX_TRY_FAIL(fill_patches(p, mesh));
    HX_TRY_FAIL(list_shared(p, mesh));
    return HX_OK;
fail:
    hx_patches_free(p);
    return rc;
}

int hx_patches_list_tetrahedra(const hx_mesh *mesh, int64_t *n_other, int32_t **elem)
{
    int64_t next[HX_N_PART][2] = {{0}}, place = 0; /* of a part: of others, of tetrahedra */
    uint8_t *is_one;
    HX_TRY(hx_alloc_raw(elem, (size_t)mesh->n_elem, sizeof **elem, "patches"));
    const int rc = hx_alloc_raw(&is_one, (size_t)mesh->n_elem, 1, "patches");
    if (rc < 0) {
        free(*elem);
        *elem = NULL;
        return rc;
    }
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++) {
            is_one[e] = hx_cell_kind_of(mesh->conn + 8 * e) == HX_CELL_TETRAHEDRON;
            next[part][is_one[e]]++;
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int part = 0; part < HX_N_PART; part++) {
            const int64_t n = next[part][kind];
            next[part][kind] = place;
            place += n;
        }
        if (kind == 0) *n_other = place;
    }
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++)
            (*elem)[next[part][is_one[e]]++] = (int32_t)e;
    }
    free(is_one);
    return HX_OK;
}

static size_t group_bytes(const hx_patch_group *group, const hx_mesh *mesh, size_t extra)
{
    size_t n_patch = (size_t)group->n_item, n_row = 8 * n_patch; /* if they cannot be counted */
    int64_t *n_cut = NULL, rows;
    if (hx_alloc(&n_cut, (size_t)n_chunk(group) + 1, sizeof *n_cut, "patches") == HX_OK &&
        cut_chunks(group, mesh, n_cut, 0, NULL, &rows) == HX_OK) {
        n_patch = 0;
        for (int64_t i = 0; i < n_chunk(group); i++) n_patch += (size_t)n_cut[i + 1];
        n_row = (size_t)rows;
    }
    free(n_cut);
    return n_patch * (sizeof(hx_span) + (size_t)group->size * sizeof(hx_eight)) +
           n_row * (sizeof(hx_eight) + sizeof(uint16_t) + 2 * sizeof(int32_t) + 3 * sizeof(double) +
                    extra);
}

size_t hx_patches_bytes(const hx_mesh *mesh, int n_group, const hx_patch_group *group, size_t extra)
{
    size_t bytes = (2 * (size_t)mesh->n_node + 1) * sizeof(int32_t);
    for (int g = 0; g < n_group; g++) bytes += group_bytes(&group[g], mesh, extra);
    return bytes;
}

size_t hx_patches_held(const hx_patches *p, size_t extra)
{
    return (size_t)p->n_patch * sizeof *p->span + (size_t)p->n_place * sizeof *p->corner +
           (size_t)p->n_row *
               (sizeof *p->row_node + sizeof *p->row_position + sizeof *p->row_slot + extra) +
           (size_t)p->n_partial * 3 * sizeof(double) +
           (2 * (size_t)p->n_shared + 1 + (size_t)p->n_shared_row) * sizeof(int32_t);
}

void hx_patches_free(hx_patches *p)
{
    const size_t n_row = (size_t)p->n_row, n_shared = (size_t)p->n_shared;
    free(p->span);
    hx_free_large(p->corner, (size_t)p->n_place * sizeof *p->corner);
    hx_free_large(p->row_node, n_row * sizeof *p->row_node);
    hx_free_large(p->row_position, n_row * sizeof *p->row_position);
    hx_free_large(p->row_slot, n_row * sizeof *p->row_slot);
    hx_free_large(p->shared_node, n_shared * sizeof *p->shared_node);
    hx_free_large(p->shared_ptr, n_shared * sizeof *p->shared_ptr);
    hx_free_large(p->shared_sum, (size_t)p->n_shared_row * sizeof *p->shared_sum);
    memset(p, 0, sizeof *p);
}
