#include "patches.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "patches_place.h"

static int64_t wide_from = 150000;

int64_t hx_patches_wide_from(void)
{
    return wide_from;
}

void hx_patches_set_wide_from(int64_t n_elem)
{
    wide_from = n_elem;
}

/* Cuts the next patch from `item` on, at most up to `end`: finds its items and its number of rows,
 * which fill whole banks. */
static hx_span cut_patch(const hx_patch_group *group, const hx_mesh *mesh, int64_t item,
                         int64_t end, hx_patch_rows *rows)
{
    hx_span span = {0};
    int16_t row[8];
    while (item < end && hx_patch_item(group, item) < 0) item++;
    span.first = (int32_t)item;
    hx_patch_rows_clear(rows, group->size);
    for (; item < end && span.count < group->size; item++, span.count++) {
        const int64_t e = hx_patch_item(group, item);
        if (e < 0) break;
        hx_patch_rows_add(rows, group, mesh, e, row);
        if (rows->n > group->max_row) break;
        span.n = (int16_t)rows->n;
    }
    span.n = (int16_t)((span.n + HX_PATCH_BANK - 1) / HX_PATCH_BANK * HX_PATCH_BANK);
    return span;
}

enum { CHUNK = 8192 };

/* Number of items that one thread cuts at a time: a whole number of full patches. A patch ends with
 * its chunk. */
static int64_t chunk_of(const hx_patch_group *group)
{
    return CHUNK - CHUNK % group->size;
}

static int64_t n_chunk(const hx_patch_group *group)
{
    return (group->n_item + chunk_of(group) - 1) / chunk_of(group);
}

/* Cuts one chunk into span[n_room], which may be NULL; returns the number of its patches and adds
 * their rows to *n_row. */
static int64_t cut_chunk(const hx_patch_group *group, const hx_mesh *mesh, int64_t chunk,
                         hx_patch_rows *rows, int64_t n_room, hx_span *span, int64_t *n_row)
{
    const int64_t begin = chunk * chunk_of(group), whole = begin + chunk_of(group);
    const int64_t end = whole < group->n_item ? whole : group->n_item;
    int64_t n = 0, item = begin;
    while (item < end) {
        const hx_span cut = cut_patch(group, mesh, item, end, rows);
        if (cut.count == 0) break; /* only separators (-1) were left */
        if (span && n < n_room) span[n] = cut;
        *n_row += cut.n;
        n++;
        item = cut.first + cut.count;
    }
    return n;
}

/* n_cut[chunk + 1] := number of patches of each chunk. If span is given, the first n_room patches
 * of a chunk start at span[chunk * n_room]. *n_row: total number of rows. */
static int cut_chunks(const hx_patch_group *group, const hx_mesh *mesh, int64_t *n_cut,
                      int64_t n_room, hx_span *span, int64_t *n_row)
{
    int failed = 0;
    int64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        hx_patch_rows *rows = malloc(sizeof *rows);
#pragma omp atomic
        failed += !rows;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < n_chunk(group); i++)
            if (rows)
                n_cut[i + 1] =
                    cut_chunk(group, mesh, i, rows, n_room, span ? span + i * n_room : NULL, &sum);
        free(rows);
    }
    *n_row = sum;
    return failed ? HX_RAISE(HX_ENOMEM, "out of memory: patches") : HX_OK;
}

static int fill_patches(hx_patches *p, const hx_mesh *mesh)
{
    int failed = 0;
#pragma omp parallel
    {
        hx_patch_placing *w = malloc(sizeof *w);
#pragma omp atomic
        failed += !w;
        for (int g = 0; g < p->n_group; g++) {
#pragma omp for schedule(dynamic, 64)
            for (int64_t i = 0; i < p->group[g].n_patch; i++)
                if (w) hx_patch_place(p, &p->group[g], mesh, i, w);
        }
        free(w);
    }
    return failed ? HX_RAISE(HX_ENOMEM, "out of memory: patches") : HX_OK;
}

/* Sets the first row of each patch and of the group. */
static int place_spans(hx_patches *p, hx_patch_group *group)
{
    hx_span *span = p->span + group->first_patch;
    group->first_row = p->n_row;
    for (int64_t i = 0; i < group->n_patch; i++) {
        span[i].begin = (int32_t)p->n_row;
        p->n_row += span[i].n;
        if (p->n_row > INT32_MAX)
            return HX_RAISE(
                HX_EENV, "the mesh needs more than 2147483647 patch rows: set mesh.reorder = true");
    }
    return HX_OK;
}

/* Cuts the chunks of one group: n_cut[chunk + 1] patches each, starting at (*cut)[chunk *
 * *n_room]. */
static int cut_group(hx_patch_group *group, const hx_mesh *mesh, int64_t *n_cut, int64_t *n_room,
                     hx_span **cut)
{
    const int64_t n = n_chunk(group);
    int64_t most = 0;
    /* room at first for twice the number of full patches, plus a margin */
    for (*n_room = 2 * CHUNK / group->size + 16;; *n_room = most) {
        HX_TRY(hx_alloc_raw(cut, (size_t)(n * *n_room), sizeof **cut, "patches"));
        HX_TRY(cut_chunks(group, mesh, n_cut, *n_room, *cut, &group->n_row));
        for (int64_t i = 0; i < n; i++) most = n_cut[i + 1] > most ? n_cut[i + 1] : most;
        if (most <= *n_room) return HX_OK;
        free(*cut);
        *cut = NULL;
    }
}

/* Cuts all groups; counts patches, places and rows, and fills the spans. */
static int cut_groups(hx_patches *p, const hx_mesh *mesh)
{
    int rc;
    int64_t *n_cut[2] = {NULL, NULL}, n_room[2];
    hx_span *cut[2] = {NULL, NULL}; /* n_room places per chunk */
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
        const hx_patch_group *const group = &p->group[g];
        hx_span *span = p->span + group->first_patch;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n_chunk(group); i++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): cut_group set n_room[g] */
            memcpy(span + n_cut[g][i], cut[g] + i * n_room[g],
                   (size_t)(n_cut[g][i + 1] - n_cut[g][i]) * sizeof *span);
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

/* Start of the shared nodes of each part of the nodes, and of their rows. */
typedef struct shared_begin {
    int64_t node[HX_N_PART + 1], row[HX_N_PART + 1];
} shared_begin;

/* n_of[node] := number of used rows of each node. */
static void count_shared(const hx_patches *p, const hx_mesh *mesh, int32_t *n_of,
                         shared_begin *begin)
{
    memset(begin, 0, sizeof *begin);
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) n_of[a] = 0;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < p->n_row; row++) {
        if (p->row_node[row] < 0) continue;
#pragma omp atomic
        n_of[p->row_node[row]]++;
    }
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

/* Fills shared_node and shared_ptr; n_of becomes the index among the shared nodes, or -1. */
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

/* Numbers the partial sums. Those of a patch start at its first row that has one. */
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

/* Lists the partial sums of shared nodes and marks their rows. */
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
    /* [n_node] number of rows, later the index among the shared nodes, or -1 */
    int32_t *n_of = NULL;
    int32_t *listed = NULL; /* [n_shared] number of rows listed so far */
    shared_begin begin;
    HX_TRY_FAIL(hx_alloc_raw(&n_of, (size_t)mesh->n_node, sizeof *n_of, "patches"));
    count_shared(p, mesh, n_of, &begin);
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
    /* first places by part: other elements, then tetrahedra */
    int64_t next[HX_N_PART][2] = {{0}}, place = 0;
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
    /* upper bound if memory does not suffice to count them */
    size_t n_patch = (size_t)group->n_item, n_row = 8 * n_patch;
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
