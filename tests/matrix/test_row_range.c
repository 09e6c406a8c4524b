/* Ranges of rows: their cells, points and columns are those of the whole, and a plan of ranges uses
 * its budget fully without exceeding it. */
#include <stdlib.h>
#include <string.h>

#include "../lib/box_part.h"
#include "../lib/test.h"
#include "core/matrix/row_range.h"

static int has_cell(const hx_row_range *range, int64_t e)
{
    for (int64_t c = 0; c < range->incidence.n_cell; c++)
        if (range->cell[c] == e) return 1;
    return 0;
}

/* Exactly the cells with a point of the range, and the points of these cells, in order. */
static void check_mesh(const hx_mesh *mesh, const hx_row_range *range)
{
    const hx_incidence *const in = &range->incidence;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int touches = 0;
        for (int a = 0; a < 8; a++) {
            const int32_t p = mesh->conn[8 * e + a];
            touches |= p >= range->first && p < range->first + range->n;
        }
        CHECK(touches == has_cell(range, e));
    }
    for (int64_t c = 0; c < in->n_cell; c++) {
        CHECK(c == 0 || range->cell[c] > range->cell[c - 1]);
        for (int a = 0; a < 8; a++) {
            const int32_t p = in->point[8 * c + a];
            CHECK(p >= 0 && p < in->n_point &&
                  range->point[p] == mesh->conn[8 * (int64_t)range->cell[c] + a]);
        }
    }
    for (int64_t p = 0; p < in->n_point; p++) {
        CHECK(p == 0 || range->point[p] > range->point[p - 1]);
        CHECK(memcmp(range->xyz + 3 * p, mesh->xyz + 3 * (int64_t)range->point[p], 24) == 0);
        for (int64_t k = in->point_ptr[p]; k < in->point_ptr[p + 1]; k++)
            CHECK(in->point[in->point_place[k]] == p &&
                  (k == in->point_ptr[p] || in->point_place[k] > in->point_place[k - 1]));
    }
    CHECK(in->point_ptr[0] == 0 && in->point_ptr[in->n_point] == in->n_place);
    CHECK(range->point[range->local_first] == range->first);
}

/* The rows of the range's own pattern, renumbered, are the whole's. */
static void check_pattern(const hx_pattern *whole, const hx_row_range *range)
{
    const hx_pattern_spec spec = {HX_BUILD_THREE_STAGE, HX_PART_FULL, range->local_first, range->n};
    hx_pattern part;
    CHECK_OK(hx_pattern_build(&part, &range->incidence, &spec, NULL));
    for (int64_t r = 0; r < range->n; r++) {
        const int64_t n = part.row_ptr[r + 1] - part.row_ptr[r], at = range->first + r;
        CHECK(n == whole->row_ptr[at + 1] - whole->row_ptr[at]);
        for (int64_t k = 0; k < n; k++)
            CHECK(range->point[part.col[part.row_ptr[r] + k]] ==
                  whole->col[whole->row_ptr[at] + k]);
    }
    hx_pattern_free(&part);
}

static void test_ranges(const hx_mesh *mesh, const hx_pattern *whole)
{
    static const int64_t length[] = {1, 7, 64, 65, 130};
    double *const value = calloc((size_t)mesh->n_elem, sizeof *value);
    double *const taken = calloc((size_t)mesh->n_elem, sizeof *taken);
    if (!value || !taken) abort();
    for (int64_t e = 0; e < mesh->n_elem; e++) value[e] = (double)e + 0.5;
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++)
        for (int64_t first = 0; first + length[i] <= mesh->n_node; first += 61) {
            hx_row_range range;
            CHECK_OK(hx_row_range_create(&range, mesh, first, length[i], 1));
            check_mesh(mesh, &range);
            check_pattern(whole, &range);
            hx_row_range_take(&range, value, taken);
            for (int64_t c = 0; c < range.incidence.n_cell; c++)
                CHECK_REL(taken[c], range.cell[c] + 0.5, 0.0);
            hx_row_range_free(&range);
        }
    free(value);
    free(taken);
}

/* Ranges in memory of the caller, which has no effect on the range even if it holds an earlier
 * one. */
static void test_lent(const hx_mesh *mesh)
{
    const size_t n = hx_row_range_bytes(mesh->n_elem, mesh->n_node, 1);
    double *const memory = aligned_alloc(64, n);
    if (!memory) abort();
    memset(memory, 0x5a, n);
    for (int64_t first = 0; first + 40 <= mesh->n_node; first += 37) {
        hx_row_range own, lent;
        CHECK_OK(hx_row_range_create(&own, mesh, first, 40, 1));
        const hx_incidence *const in = &own.incidence;
        const size_t bytes = hx_row_range_bytes(in->n_cell, in->n_point, 1);
        CHECK_OK(hx_row_range_create_in(&lent, mesh, first, 40, 1, memory, bytes));
        CHECK(lent.incidence.n_cell == in->n_cell && lent.incidence.n_point == in->n_point &&
              lent.local_first == own.local_first);
        CHECK(memcmp(lent.incidence.point, in->point, (size_t)in->n_place * 4) == 0);
        CHECK(memcmp(lent.xyz, own.xyz, (size_t)in->n_point * 24) == 0);
        CHECK(memcmp(lent.incidence.point_ptr, in->point_ptr, (size_t)(in->n_point + 1) * 8) == 0);
        CHECK(memcmp(lent.incidence.point_place, in->point_place, (size_t)in->n_place * 4) == 0);
        CHECK((const char *)lent.xyz >= (const char *)memory &&
              (const char *)(lent.xyz + 3 * in->n_point) <= (const char *)memory + bytes);
        hx_row_range_free(&lent);
        CHECK_FAILS(hx_row_range_create_in(&lent, mesh, first, 40, 1, memory, bytes - 1),
                    HX_EINTERNAL, "exceeds its memory");
        hx_row_range_free(&own);
    }
    free(memory);
}

static void test_whole(const hx_mesh *mesh)
{
    hx_row_range range;
    CHECK_OK(hx_row_range_create(&range, mesh, 0, mesh->n_node, 0));
    CHECK(range.incidence.point == mesh->conn && range.xyz == mesh->xyz && !range.point &&
          !range.cell && range.local_first == 0 && range.incidence.n_cell == mesh->n_elem);
    hx_row_range_free(&range);
}

static const hx_range_cost cost = {.device_cell = 144,
                                   .device_point = 32,
                                   .device_row = 8,
                                   .device_entry = 76,
                                   .host_cell = 20,
                                   .host_point = 16,
                                   .host_row = 32,
                                   .host_entry = 188};

/* Independent count of the cost of rows first .. end - 1. */
static void count_cost(const hx_mesh *mesh, const hx_pattern *whole, int64_t first, int64_t end,
                       double *device, double *host, hx_range_most *most)
{
    hx_row_range range;
    const double n = (double)(end - first);
    const double n_entry = (double)(whole->row_ptr[end] - whole->row_ptr[first]);
    CHECK_OK(hx_row_range_create(&range, mesh, first, end - first, 0));
    *device = 144.0 * (double)range.incidence.n_cell + 32.0 * (double)range.incidence.n_point +
              8.0 * n + 76.0 * n_entry;
    *host = 20.0 * (double)range.incidence.n_cell + 16.0 * (double)range.incidence.n_point +
            32.0 * n + 188.0 * n_entry;
    if (most) {
        if (range.incidence.n_cell > most->cell) most->cell = range.incidence.n_cell;
        if (range.incidence.n_point > most->point) most->point = range.incidence.n_point;
        if (end - first > most->row) most->row = end - first;
        if (whole->row_ptr[end] - whole->row_ptr[first] > most->entry)
            most->entry = whole->row_ptr[end] - whole->row_ptr[first];
    }
    hx_row_range_free(&range);
}

static void check_plan(const hx_mesh *mesh, const hx_pattern *whole, const int32_t *n_entry,
                       double device_budget, double host_budget, int least_ranges)
{
    int64_t n_range = 0, *first = NULL;
    double device, host;
    hx_range_most most, counted = {0};
    CHECK_OK(hx_row_ranges_plan(mesh, n_entry, &cost, device_budget, host_budget, &n_range, &first,
                                &most));
    CHECK(n_range >= least_ranges && first[0] == 0 && first[n_range] == mesh->n_node);
    for (int64_t k = 0; k < n_range; k++) {
        CHECK(first[k + 1] > first[k]);
        count_cost(mesh, whole, first[k], first[k + 1], &device, &host, &counted);
        CHECK(device <= device_budget && host <= host_budget);
        if (k + 1 == n_range) continue;
        count_cost(mesh, whole, first[k], first[k + 1] + 1, &device, &host, NULL);
        CHECK(device > device_budget || host > host_budget); /* the range is as long as possible */
    }
    CHECK(most.cell == counted.cell && most.point == counted.point && most.row == counted.row &&
          most.entry == counted.entry);
    free(first);
}

static void test_plan(const hx_mesh *mesh, const hx_pattern *whole)
{
    int32_t *const n_entry = malloc((size_t)mesh->n_node * sizeof *n_entry);
    int64_t n_range, *first = NULL;
    double most = 0.0, device, host;
    if (!n_entry) abort();
    for (int64_t a = 0; a < mesh->n_node; a++) {
        n_entry[a] = (int32_t)(whole->row_ptr[a + 1] - whole->row_ptr[a]);
        count_cost(mesh, whole, a, a + 1, &device, &host, NULL);
        test_worst(&most, device);
        test_worst(&most, host);
    }
    check_plan(mesh, whole, n_entry, HUGE_VAL, HUGE_VAL, 1);
    check_plan(mesh, whole, n_entry, 1e5, HUGE_VAL, 3);
    check_plan(mesh, whole, n_entry, HUGE_VAL, 1e5, 3);
    check_plan(mesh, whole, n_entry, 3e4, 4e4, 10);
    check_plan(mesh, whole, n_entry, most, most, 50);
    char least[64];
    snprintf(least, sizeof least, "at least %.0f bytes", most);
    CHECK_FAILS(
        hx_row_ranges_plan(mesh, n_entry, &cost, most - 1.0, most - 1.0, &n_range, &first, NULL),
        HX_EINPUT, least);
    CHECK(first == NULL);
    free(n_entry);
}

static void test_mesh(uint64_t shuffle)
{
    static const box_part part = {.n = {7, 5, 4}, .distort = 0.2};
    const hx_pattern_spec spec = {.build = HX_BUILD_THREE_STAGE};
    hx_mesh mesh;
    hx_pattern whole;
    CHECK_OK(box_part_create(&mesh, &part));
    if (shuffle) CHECK_OK(hx_mesh_shuffle(&mesh, shuffle));
    CHECK_OK(hx_mesh_finish(&mesh));
    const hx_incidence in = hx_incidence_of_mesh(&mesh);
    CHECK_OK(hx_pattern_build(&whole, &in, &spec, NULL));
    test_ranges(&mesh, &whole);
    test_lent(&mesh);
    test_whole(&mesh);
    test_plan(&mesh, &whole);
    hx_pattern_free(&whole);
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_mesh(0);
    test_mesh(5);
    TEST_END();
}
