/* The pattern of neighbours in three stages (P2): the cells of each point are listed by counting
 * sort; the neighbours of each point are made unique with a small hash table and sorted; offsets
 * are computed. */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/threads.h"
#include "pattern_internal.h"

const char *hx_build_name(hx_build build)
{
    static const char *const name[HX_N_BUILD] = {"three-stage", "sort"};
    return build < HX_N_BUILD ? name[build] : NULL;
}

static int is_tetrahedral(const hx_mesh *mesh)
{
    return mesh->n_elem > 0 && mesh->n_kind[HX_CELL_TETRAHEDRON] == mesh->n_elem;
}

hx_incidence hx_incidence_of_mesh(const hx_mesh *mesh)
{
    return (hx_incidence){.n_cell = mesh->n_elem,
                          .n_point = mesh->n_node,
                          .n_place = 8 * mesh->n_elem,
                          .n_per_cell = 8,
                          .point = mesh->conn,
                          .is_tetrahedral = is_tetrahedral(mesh),
                          .point_ptr = mesh->node_elem_ptr,
                          .point_place = mesh->node_elem};
}

hx_incidence hx_incidence_of_space(const hx_space *space)
{
    return (hx_incidence){.n_cell = space->mesh->n_elem,
                          .n_point = space->n_point,
                          .n_place = space->n_place,
                          .n_per_cell = space->n_per_cell,
                          .cell_ptr = space->cell_ptr,
                          .pair_ptr = space->pair_ptr,
                          .place_cell = space->place_cell,
                          .kind = space->kind,
                          .spline = space->spline_rule,
                          .point = space->point,
                          .is_tetrahedral =
                              space->element == HX_ELEMENT_LINEAR && is_tetrahedral(space->mesh),
                          .point_ptr = space->point_ptr,
                          .point_place = space->point_place};
}

/* Insertion sort, because the lists are short. */
static void sort_places(uint32_t *place, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const uint32_t moved = place[i];
        int64_t k = i;
        for (; k > 0 && place[k - 1] > moved; k--) place[k] = place[k - 1];
        place[k] = moved;
    }
}

/* Fills each list backwards from its end ptr[a + 1], like P2, then sorts it in ascending order.
 * Leaves ptr unchanged. */
static void fill_places(const hx_incidence *in, int64_t *ptr, uint32_t *list)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < in->n_place; k++) {
        int64_t place;
#pragma omp atomic capture
        place = --ptr[in->point[k]];
        list[place] = (uint32_t)k;
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < in->n_point; a++) sort_places(list + ptr[a], ptr[a + 1] - ptr[a]);
}

int hx_pattern_lists(hx_pattern *p, const hx_incidence *in, hx_incidence *with_lists,
                     hx_stepper *stepper)
{
    *with_lists = *in;
    if (in->point_ptr) return HX_OK;
    const size_t n_point = (size_t)in->n_point;
    HX_TRY(hx_alloc(&p->point_ptr, n_point + 1, sizeof *p->point_ptr, "cells of each point"));
    HX_TRY(hx_alloc_raw(&p->point_place, (size_t)in->n_place, sizeof *p->point_place,
                        "cells of each point"));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < in->n_place; k++) {
#pragma omp atomic
        p->point_ptr[in->point[k]]++;
    }
    hx_stepper_end(stepper, "count");
    for (size_t a = 0; a < n_point; a++) p->point_ptr[a + 1] += p->point_ptr[a];
    hx_stepper_end(stepper, "scan");
    p->point_ptr[n_point] = in->n_place;
    fill_places(in, p->point_ptr, p->point_place);
    hx_stepper_end(stepper, "fill");
    with_lists->point_ptr = p->point_ptr;
    with_lists->point_place = p->point_place;
    return HX_OK;
}

/* The neighbours of one point found so far, with a hash table of them. */
typedef struct row {
    int32_t *found; /* [bound] */
    int32_t *table; /* [mask + 1] index into found + 1; 0: empty */
    int32_t *used;  /* [bound] occupied positions of the table */
    int32_t *rank;  /* [bound] rank of found[i] in ascending order */
    uint32_t mask;
    int n;
} row;

/* Upper bound of the neighbours of a point in the spec's rows: points of its cells, with
 * repetition. */
static int64_t widest_star(const hx_incidence *in, const hx_pattern_spec *spec)
{
    int64_t most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t r = 0; r < spec->n_row; r++) {
        const int64_t a = spec->row_first + r;
        int64_t n = 0;
        for (int64_t k = in->point_ptr[a]; k < in->point_ptr[a + 1]; k++)
            n += hx_incidence_count(in, hx_incidence_cell(in, in->point_place[k]));
        if (n > most) most = n;
    }
    return most;
}

typedef struct rows {
    row *row;        /* [thread] */
    int32_t *memory; /* memory of the lists above (owned, like row) */
} rows;

static int rows_create(rows *s, const hx_incidence *in, const hx_pattern_spec *spec)
{
    const int64_t bound = widest_star(in, spec);
    const int n_thread = hx_most_threads();
    int64_t n_table = 64;
    while (n_table < 2 * bound) n_table *= 2;
    const size_t n_each = (size_t)(3 * bound + n_table + 16);
    HX_TRY(hx_alloc(&s->row, (size_t)n_thread, sizeof *s->row, "neighbours"));
    HX_TRY(hx_alloc(&s->memory, (size_t)n_thread * n_each, sizeof(int32_t), "neighbours"));
    for (int t = 0; t < n_thread; t++) {
        int32_t *const memory = s->memory + (size_t)t * n_each;
        s->row[t] = (row){
            memory, memory + 3 * bound, memory + bound, memory + 2 * bound, (uint32_t)(n_table - 1),
            0};
    }
    return HX_OK;
}

static void rows_free(rows *s)
{
    free(s->row);
    free(s->memory);
}

/* Index of a point in `found`, or -1; *place: its position in the table, or a free one. */
static int find_point(const row *r, int32_t point, uint32_t *place)
{
    uint32_t k = (uint32_t)point * 2654435761u >> 7 & r->mask;
    while (r->table[k] && r->found[r->table[k] - 1] != point) k = (k + 1) & r->mask;
    *place = k;
    return r->table[k] - 1;
}

static void clear(row *r)
{
    for (int i = 0; i < r->n; i++) r->table[r->used[i]] = 0;
    r->n = 0;
}

/* Collects the neighbours of point a that are in the part, unordered. */
static void find_neighbours(row *r, const hx_incidence *in, hx_part part, int64_t a)
{
    for (int64_t k = in->point_ptr[a]; k < in->point_ptr[a + 1]; k++) {
        const int64_t cell = hx_incidence_cell(in, in->point_place[k]);
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        const int n = hx_incidence_count(in, cell);
        for (int b = 0; b < n; b++) {
            uint32_t place;
            if ((part == HX_PART_LOWER && point[b] > a) || find_point(r, point[b], &place) >= 0)
                continue;
            r->used[r->n] = (int32_t)place;
            r->found[r->n] = point[b];
            r->table[place] = ++r->n;
        }
    }
}

/* col = found in ascending order; sets rank. */
static void order_neighbours(row *r, int32_t *col)
{
    for (int i = 0; i < r->n; i++) {
        int k = i;
        for (; k > 0 && col[k - 1] > r->found[i]; k--) col[k] = col[k - 1];
        col[k] = r->found[i];
    }
    for (int i = 0; i < r->n; i++) {
        uint32_t place;
        r->rank[find_point(r, col[i], &place)] = i;
    }
}

/* Sets the slots of all pairs (a, b). */
static void set_slots(const row *r, hx_pattern *p, const hx_incidence *in, int64_t a)
{
    for (int64_t k = in->point_ptr[a]; k < in->point_ptr[a + 1]; k++) {
        const int64_t cell = hx_incidence_cell(in, in->point_place[k]);
        const int64_t first = hx_incidence_first(in, cell);
        const int n = hx_incidence_count(in, cell);
        const int64_t pair = hx_incidence_pair(in, cell) + (in->point_place[k] - first) * n;
        for (int b = 0; b < n; b++) {
            uint32_t place;
            const int i = find_point(r, in->point[first + b], &place);
            hx_pattern_set_slot(p, pair + b, i < 0 ? -1 : r->rank[i]);
        }
    }
}

int hx_pattern_count_rows(const hx_incidence *in, const hx_pattern_spec *spec, int32_t *count)
{
    rows scratch = {0};
    int rc;
    HX_TRY_FAIL(rows_create(&scratch, in, spec));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < spec->n_row; i++) {
        row *const r = &scratch.row[hx_this_thread()];
        find_neighbours(r, in, spec->part, spec->row_first + i);
        count[i] = r->n;
        clear(r);
    }
    rc = HX_OK;
fail:
    rows_free(&scratch);
    return rc;
}

static int build_rows(hx_pattern *p, const hx_incidence *in, const hx_pattern_spec *spec,
                      hx_stepper *stepper)
{
    rows scratch = {0};
    int32_t *count = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&count, (size_t)spec->n_row, sizeof *count, "neighbours"));
    HX_TRY_FAIL(hx_pattern_count_rows(in, spec, count));
    hx_stepper_end(stepper, "neighbours");
    HX_TRY_FAIL(hx_pattern_offsets(p, count));
    hx_stepper_end(stepper, "offsets");
    HX_TRY_FAIL(rows_create(&scratch, in, spec));
    if (spec->n_row < in->n_point) /* pairs of rows that are not built */
        memset(p->slot, 0xff, (size_t)p->n_pair * (size_t)p->slot_bytes);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < spec->n_row; i++) {
        row *const r = &scratch.row[hx_this_thread()];
        find_neighbours(r, in, spec->part, spec->row_first + i);
        order_neighbours(r, p->col + p->row_ptr[i]);
        set_slots(r, p, in, spec->row_first + i);
        clear(r);
    }
    hx_stepper_end(stepper, "slots");
    rc = HX_OK;
fail:
    rows_free(&scratch);
    free(count);
    return rc;
}

/* Completes and checks the spec: its number of rows. */
static int complete_spec(const hx_incidence *in, hx_pattern_spec *spec)
{
    if (spec->n_row == 0) {
        spec->row_first = 0;
        spec->n_row = in->n_point;
    }
    if (in->n_place > UINT32_MAX)
        return HX_RAISE(HX_EENV,
                        "the mesh has %lld corners of cells; a matrix supports at most 2^32",
                        (long long)in->n_place);
    if (spec->row_first < 0 || spec->row_first + spec->n_row > in->n_point)
        return HX_RAISE(HX_EINTERNAL, "the rows extend beyond the last point");
    return HX_OK;
}

int hx_pattern_build(hx_pattern *p, const hx_incidence *in, const hx_pattern_spec *requested,
                     hx_steps *steps)
{
    hx_pattern_spec spec = *requested;
    hx_incidence with_lists;
    hx_stepper stepper = hx_stepper_begin(steps);
    int rc;
    memset(p, 0, sizeof *p);
    HX_TRY(complete_spec(in, &spec));
    p->part = spec.part;
    p->row_first = spec.row_first;
    p->n_row = spec.n_row;
    p->n_point = in->n_point;
    p->n_pair =
        in->n_per_cell ? in->n_cell * in->n_per_cell * in->n_per_cell : in->pair_ptr[in->n_cell];
    if (spec.build == HX_BUILD_SORT) {
        HX_TRY_FAIL(hx_pattern_build_sort(p, in, &spec, &stepper));
    } else {
        HX_TRY_FAIL(hx_pattern_lists(p, in, &with_lists, &stepper));
        HX_TRY_FAIL(build_rows(p, &with_lists, &spec, &stepper));
    }
    return HX_OK;
fail:
    hx_pattern_free(p);
    return rc;
}

size_t hx_device_pattern_bytes(const hx_device_pattern *p)
{
    return ((size_t)p->n_row + 1) * sizeof(int64_t) + (size_t)p->n_entry * sizeof(int32_t) +
           (size_t)p->n_pair * (size_t)p->slot_bytes;
}

void hx_pattern_free(hx_pattern *p)
{
    free(p->row_ptr);
    free(p->col);
    free(p->slot);
    free(p->point_ptr);
    free(p->point_place);
    memset(p, 0, sizeof *p);
}

void hx_device_pattern_free(hx_device_pattern *p, hx_device *dev)
{
    void *const owned[] = {p->d_row_ptr, p->d_col, p->d_slot, p->d_point_ptr, p->d_point_place};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i]) dev->ops->release(dev, owned[i]);
    memset(p, 0, sizeof *p);
}

void hx_device_pattern_release_slots(hx_device_pattern *p, hx_device *dev)
{
    if (p->d_slot) dev->ops->release(dev, p->d_slot);
    p->d_slot = NULL;
    p->slot_bytes = 0;
}
