#include "row_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"

/* A set of numbers below n as bits, with the number of members before each word, so that the rank
 * of a member takes one lookup. */
typedef struct bit_set {
    int64_t n, n_word, n_member;
    uint64_t *word;
    int32_t *before;
} bit_set;

enum { WORD = 64 };

static int create_set(bit_set *set, int64_t n)
{
    set->n = n;
    set->n_word = (n + WORD - 1) / WORD;
    HX_TRY(hx_alloc(&set->word, (size_t)set->n_word, sizeof *set->word, "marks"));
    return hx_alloc(&set->before, (size_t)set->n_word, sizeof *set->before, "marks");
}

static void free_set(bit_set *set)
{
    free(set->word);
    free(set->before);
    memset(set, 0, sizeof *set);
}

/* Thread-safe. Most numbers are members already, so the word is read before the atomic
 * operation. */
static void put_in(bit_set *set, int64_t i)
{
    const uint64_t bit = (uint64_t)1 << (i % WORD);
    uint64_t *const word = set->word + i / WORD;
    uint64_t now;
#pragma omp atomic read
    now = *word;
    if (now & bit) return;
#pragma omp atomic
    *word |= bit;
}

/* Inserts first .. first + n - 1; one thread. */
static void put_in_all(bit_set *set, int64_t first, int64_t n)
{
    int64_t i = first, end = first + n;
    for (; i < end && i % WORD; i++) set->word[i / WORD] |= (uint64_t)1 << (i % WORD);
    for (; i + WORD <= end; i += WORD) set->word[i / WORD] = UINT64_MAX;
    for (; i < end; i++) set->word[i / WORD] |= (uint64_t)1 << (i % WORD);
}

static int count_bits(uint64_t w)
{
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(w * 0x0101010101010101u >> 56);
}

static void count_members(bit_set *set)
{
    set->n_member = 0;
    for (int64_t k = 0; k < set->n_word; k++) {
        set->before[k] = (int32_t)set->n_member;
        set->n_member += count_bits(set->word[k]);
    }
}

static int32_t rank_of(const bit_set *set, int64_t i)
{
    const uint64_t lower = ((uint64_t)1 << (i % WORD)) - 1;
    return set->before[i / WORD] + count_bits(set->word[i / WORD] & lower);
}

/* Members are usually clustered: with static scheduling few threads would get all of them. */
static int list_members(const bit_set *set, int32_t **member)
{
    HX_TRY(hx_alloc_raw(member, (size_t)set->n_member, sizeof **member, "rows of a range"));
    int32_t *const to = *member;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t k = 0; k < set->n_word; k++) {
        int64_t n = set->before[k];
        for (uint64_t w = set->word[k]; w; w &= w - 1)
            to[n++] = (int32_t)(k * WORD + count_bits((w & (~w + 1)) - 1));
    }
    return HX_OK;
}

/* Collects the cells of the rows, and their points. */
static int list_mesh(hx_row_range *range, bit_set *cells, bit_set *points)
{
    const hx_mesh *const mesh = range->mesh;
    const int64_t begin = mesh->node_elem_ptr[range->first],
                  end = mesh->node_elem_ptr[range->first + range->n];
#pragma omp parallel for schedule(static)
    for (int64_t k = begin; k < end; k++) put_in(cells, mesh->node_elem[k] >> 3);
    count_members(cells);
    HX_TRY(list_members(cells, &range->own_cell));
    put_in_all(points, range->first, range->n); /* most of the points */
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < cells->n_member; c++)
        for (int a = 0; a < 8; a++) {
            const int64_t point = mesh->conn[8 * (int64_t)range->own_cell[c] + a];
            if (point < range->first || point >= range->first + range->n) put_in(points, point);
        }
    count_members(points);
    return list_members(points, &range->own_point);
}

/* Offsets of the arrays in the caller's memory. */
typedef struct lent_arrays {
    size_t conn, xyz, place, ptr, end;
} lent_arrays;

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static lent_arrays lay_out(int64_t n_cell, int64_t n_point, int places)
{
    const size_t n_place = 8 * (size_t)n_cell;
    lent_arrays at = {0};
    at.xyz = at.conn + aligned(n_place * sizeof(int32_t));
    at.place = at.xyz + aligned(3 * (size_t)n_point * sizeof(double));
    at.ptr = at.place + (places ? aligned(n_place * sizeof(uint32_t)) : 0);
    at.end = at.ptr + (places ? aligned(((size_t)n_point + 2) * sizeof(int64_t)) : 0);
    return at;
}

size_t hx_row_range_bytes(int64_t n_cell, int64_t n_point, int places)
{
    return lay_out(n_cell, n_point, places).end;
}

/* Provides the arrays that the device reads: owned, or in the caller's memory. */
static int find_room(hx_row_range *range, int places, char *memory, size_t bytes)
{
    const int64_t n_cell = range->incidence.n_cell, n_point = range->incidence.n_point;
    const size_t n_place = 8 * (size_t)n_cell;
    range->is_lent = memory != NULL;
    if (memory) {
        const lent_arrays at = lay_out(n_cell, n_point, places);
        if (at.end > bytes) return HX_RAISE(HX_EINTERNAL, "a range exceeds its memory");
        range->own_conn = (int32_t *)(void *)(memory + at.conn);
        range->own_xyz = (double *)(void *)(memory + at.xyz);
        range->own_point_place = (uint32_t *)(void *)(memory + at.place);
        range->own_point_ptr = (int64_t *)(void *)(memory + at.ptr);
        return HX_OK;
    }
    HX_TRY(hx_alloc_raw(&range->own_conn, n_place, sizeof(int32_t), "cells of a range"));
    HX_TRY(hx_alloc_raw(&range->own_xyz, 3 * (size_t)n_point, sizeof(double), "points of a range"));
    if (!places) return HX_OK;
    HX_TRY(hx_alloc_raw(&range->own_point_place, n_place, sizeof(uint32_t), "places"));
    return hx_alloc_raw(&range->own_point_ptr, (size_t)n_point + 2, sizeof(int64_t), "places");
}

static void copy_mesh(hx_row_range *range, const bit_set *points)
{
    const hx_mesh *const mesh = range->mesh;
    const int64_t n_cell = range->incidence.n_cell, n_point = range->incidence.n_point;
    const int64_t first = range->first, end = first + range->n;
    const int32_t rank_first = rank_of(points, first);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < n_cell; c++)
        for (int a = 0; a < 8; a++) {
            const int64_t point = mesh->conn[8 * (int64_t)range->own_cell[c] + a];
            range->own_conn[8 * c + a] = point >= first && point < end
                                             ? rank_first + (int32_t)(point - first)
                                             : rank_of(points, point);
        }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_point; a++)
        memcpy(range->own_xyz + 3 * a, mesh->xyz + 3 * (int64_t)range->own_point[a],
               3 * sizeof *range->own_xyz);
}

static int make_own(hx_row_range *range, int places, void *memory, size_t bytes, bit_set *cells,
                    bit_set *points)
{
    HX_TRY(create_set(cells, range->mesh->n_elem));
    HX_TRY(create_set(points, range->mesh->n_node));
    HX_TRY(list_mesh(range, cells, points));
    range->incidence.n_cell = cells->n_member;
    range->incidence.n_point = points->n_member;
    range->incidence.n_place = 8 * cells->n_member;
    HX_TRY(find_room(range, places, memory, bytes));
    copy_mesh(range, points);
    range->local_first = rank_of(points, range->first);
    range->incidence.point = range->own_conn;
    range->incidence.point_ptr = NULL;
    range->incidence.point_place = NULL;
    if (places) {
        /* count, scan and fill, so that the places of a point ascend */
        const int64_t n_place = range->incidence.n_place, n_point = range->incidence.n_point;
        /* at the end, the first place of the following point */
        int64_t *const next = range->own_point_ptr + 1;
        memset(range->own_point_ptr, 0, ((size_t)n_point + 2) * sizeof(int64_t));
        for (int64_t k = 0; k < n_place; k++) next[range->own_conn[k] + 1]++;
        for (int64_t a = 0; a < n_point; a++) next[a + 1] += next[a];
        for (int64_t k = 0; k < n_place; k++)
            range->own_point_place[next[range->own_conn[k]]++] = (uint32_t)k;
        range->incidence.point_ptr = range->own_point_ptr;
        range->incidence.point_place = range->own_point_place;
    }
    range->xyz = range->own_xyz;
    range->point = range->own_point;
    range->cell = range->own_cell;
    return HX_OK;
}

int hx_row_range_create_in(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                           int places, void *memory, size_t bytes)
{
    bit_set cells = {0}, points = {0};
    memset(range, 0, sizeof *range);
    range->first = range->local_first = first;
    range->n = n;
    range->mesh = mesh;
    range->incidence = hx_incidence_of_mesh(mesh);
    range->xyz = mesh->xyz;
    if (first == 0 && n == mesh->n_node) return HX_OK;
    const int rc = make_own(range, places, memory, bytes, &cells, &points);
    free_set(&cells);
    free_set(&points);
    if (rc < 0) hx_row_range_free(range);
    return rc;
}

int hx_row_range_create(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                        int places)
{
    return hx_row_range_create_in(range, mesh, first, n, places, NULL, 0);
}

void hx_row_range_take(const hx_row_range *range, const double *value, double *of_range)
{
    const int64_t n = range->incidence.n_cell;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < n; c++) of_range[c] = value[range->cell ? range->cell[c] : c];
}

void hx_row_range_free(hx_row_range *range)
{
    free(range->own_point);
    free(range->own_cell);
    if (!range->is_lent) {
        free(range->own_conn);
        free(range->own_point_ptr);
        free(range->own_point_place);
        free(range->own_xyz);
    }
    memset(range, 0, sizeof *range);
}

/* State of the planner: the range in which each cell and point was last counted. */
typedef struct planner {
    const hx_mesh *mesh;
    const int32_t *n_entry;
    const hx_range_cost *cost;
    int32_t *cell_seen, *point_seen; /* (owned) */
    /* counts of the current range, and the same without its last row */
    hx_range_most now, before;
    int64_t device, host; /* bytes of the current range */
} planner;

/* Adds the row of point a to the range whose mark is mark_of (counted from 1). */
static void add_range_row(planner *p, int64_t a, int32_t mark_of)
{
    const hx_mesh *const mesh = p->mesh;
    const hx_range_cost *const cost = p->cost;
    hx_range_most *const now = &p->now;
    p->before = *now;
    now->row++;
    now->entry += p->n_entry[a];
    for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
        const int64_t e = mesh->node_elem[k] >> 3;
        if (p->cell_seen[e] == mark_of) continue;
        p->cell_seen[e] = mark_of;
        now->cell++;
        for (int c = 0; c < 8; c++) {
            const int32_t b = mesh->conn[8 * e + c];
            now->point += p->point_seen[b] != mark_of;
            p->point_seen[b] = mark_of;
        }
    }
    p->device = cost->device_cell * now->cell + cost->device_point * now->point +
                cost->device_row * now->row + cost->device_entry * now->entry;
    p->host = cost->host_cell * now->cell + cost->host_point * now->point +
              cost->host_row * now->row + cost->host_entry * now->entry;
}

static int64_t larger_size(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void note_most(hx_range_most *most, const hx_range_most *range)
{
    most->cell = larger_size(most->cell, range->cell);
    most->point = larger_size(most->point, range->point);
    most->row = larger_size(most->row, range->row);
    most->entry = larger_size(most->entry, range->entry);
}

/* Bytes that the row would need as a range of its own: the larger of device and host. */
static int64_t row_alone(planner *p, int64_t a, int32_t mark_of)
{
    memset(&p->now, 0, sizeof p->now);
    add_range_row(p, a, mark_of);
    return larger_size(p->device, p->host);
}

/* HX_EINPUT with the smallest sufficient budget. */
static int refuse_budget(planner *p, double budget)
{
    int64_t most = 0;
    char least[32], given[32];
    for (int64_t a = 0; a < p->mesh->n_node; a++) {
        /* a row that is measured on its own gets its own mark */
        most = larger_size(most, row_alone(p, a, -1 - (int32_t)a));
    }
    return HX_RAISE(
        HX_EINPUT,
        "a budget of %s is too small for one range of rows; at least %lld %s (%s) are needed",
        hx_format_bytes(budget, given, sizeof given), (long long)most,
        hx_noun(most, "byte", "bytes"), hx_format_bytes((double)most, least, sizeof least));
}

static int plan(planner *p, double device_budget, double host_budget, int64_t *n_range,
                int64_t *first, hx_range_most *most)
{
    int32_t mark_of = 1;
    *n_range = 0;
    first[0] = 0;
    for (int64_t a = 0; a < p->mesh->n_node; a++) {
        add_range_row(p, a, mark_of);
        if ((double)p->device <= device_budget && (double)p->host <= host_budget) continue;
        note_most(most, &p->before);
        mark_of++;
        row_alone(p, a, mark_of);
        if ((double)p->device > device_budget || (double)p->host > host_budget)
            return refuse_budget(p, fmin(device_budget, host_budget));
        if (a > first[*n_range]) first[++*n_range] = a;
    }
    note_most(most, &p->now);
    first[++*n_range] = p->mesh->n_node;
    return HX_OK;
}

int hx_row_ranges_plan(const hx_mesh *mesh, const int32_t *n_entry, const hx_range_cost *cost,
                       double device_budget, double host_budget, int64_t *n_range, int64_t **first,
                       hx_range_most *most)
{
    planner p = {.mesh = mesh, .n_entry = n_entry, .cost = cost};
    hx_range_most unasked;
    int rc;
    *first = NULL;
    if (!most) most = &unasked;
    memset(most, 0, sizeof *most);
    HX_TRY_FAIL(hx_alloc(&p.cell_seen, (size_t)mesh->n_elem, sizeof(int32_t), "marks"));
    HX_TRY_FAIL(hx_alloc(&p.point_seen, (size_t)mesh->n_node, sizeof(int32_t), "marks"));
    HX_TRY_FAIL(hx_alloc_raw(first, (size_t)mesh->n_node + 1, sizeof **first, "ranges of rows"));
    HX_TRY_FAIL(plan(&p, device_budget, host_budget, n_range, *first, most));
fail:
    free(p.cell_seen);
    free(p.point_seen);
    if (rc < 0) {
        free(*first);
        *first = NULL;
    }
    return rc;
}
