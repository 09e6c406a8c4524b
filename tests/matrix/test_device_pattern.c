/* A device's pattern is bitwise the host's: meshes and cells of all kinds, both builders, both
 * parts, ranges of rows, with the points' lists given or counted; rows that 16 bits cannot count
 * are refused.
 *
 *     test_device_pattern [cpu | cuda] */
#include "core/matrix/matrix.h"
#include "core/matrix/pattern.h"
#include "tests/lib/fan.h"
#include "tests/lib/fixture.h"
#include "tests/lib/incidences.h"

static hx_device device;

/* An incidence on the device. */
typedef struct upload {
    hx_incidence in;
    void *d_owned[6];
    int n_owned;
} upload;

static const void *put(upload *u, const void *from, int64_t n, size_t size)
{
    void **const d_to = &u->d_owned[u->n_owned++];
    *d_to = NULL;
    if (from) CHECK_OK(hx_device_put(&device, d_to, from, (size_t)n * size));
    return *d_to;
}

static upload upload_create(const hx_incidence *in)
{
    upload u = {.in = *in};
    u.in.cell_ptr = put(&u, in->cell_ptr, in->n_cell + 1, sizeof *in->cell_ptr);
    u.in.pair_ptr = put(&u, in->pair_ptr, in->n_cell + 1, sizeof *in->pair_ptr);
    u.in.place_cell = put(&u, in->place_cell, in->n_place, sizeof *in->place_cell);
    u.in.point = put(&u, in->point, in->n_place, sizeof *in->point);
    u.in.point_ptr = put(&u, in->point_ptr, in->n_point + 1, sizeof *in->point_ptr);
    u.in.point_place = put(&u, in->point_place, in->n_place, sizeof *in->point_place);
    return u;
}

static void upload_free(upload *u)
{
    for (int i = 0; i < u->n_owned; i++)
        if (u->d_owned[i]) device.ops->release(&device, u->d_owned[i]);
}

/* 1 if an array on the device has these bytes. */
static int same(const void *d_array, const void *expected, int64_t n, size_t size)
{
    const size_t bytes = (size_t)n * size;
    if (!d_array) return 0;
    if (bytes == 0) return 1;
    char *const found = malloc(bytes);
    if (!found) abort();
    CHECK_OK(device.ops->download(&device, found, d_array, bytes));
    const int equal = memcmp(found, expected, bytes) == 0;
    free(found);
    return equal;
}

static void check_same(const hx_device_pattern *d, const hx_pattern *p, const char *label)
{
    const size_t slot = (size_t)p->slot_bytes;
    CHECK_MSG(d->part == p->part && d->row_first == p->row_first && d->n_row == p->n_row &&
                  d->n_point == p->n_point && d->n_pair == p->n_pair,
              "%s: another size", label);
    CHECK_MSG(d->n_entry == p->n_entry, "%s: %lld entries, not %lld", label, (long long)d->n_entry,
              (long long)p->n_entry);
    CHECK_MSG(d->max_row == p->max_row && d->slot_bytes == p->slot_bytes,
              "%s: widest row %d, not %d; %d bytes a slot, not %d", label, d->max_row, p->max_row,
              d->slot_bytes, p->slot_bytes);
    if (d->n_entry != p->n_entry || d->slot_bytes != p->slot_bytes) return;
    CHECK_MSG(same(d->d_row_ptr, p->row_ptr, p->n_row + 1, sizeof *p->row_ptr), "%s: rows", label);
    CHECK_MSG(same(d->d_col, p->col, p->n_entry, sizeof *p->col), "%s: columns", label);
    CHECK_MSG(same(d->d_slot, p->slot, p->n_pair, slot), "%s: slots", label);
}

/* Checks the lists that the builder had to count. */
static void check_lists(const hx_device_pattern *d, const hx_incidence *listed, int counted,
                        const char *label)
{
    if (!counted) {
        CHECK_MSG(!d->d_point_ptr && !d->d_point_place, "%s: lists that none asked for", label);
        return;
    }
    CHECK_MSG(
        same(d->d_point_ptr, listed->point_ptr, listed->n_point + 1, sizeof *listed->point_ptr) &&
            same(d->d_point_place, listed->point_place, listed->n_place,
                 sizeof *listed->point_place),
        "%s: lists", label);
}

static void check_steps(const hx_steps *steps, const char *label)
{
    CHECK_MSG(steps->n >= 3 && steps->n <= HX_MAX_STEP, "%s: %d steps", label, steps->n);
    for (int i = 0; i < steps->n; i++)
        CHECK_MSG(steps->step[i].name && steps->step[i].seconds >= 0.0 &&
                      steps->step[i].seconds < 60.0,
                  "%s: step %d", label, i);
}

/* Each builder, with and without given lists, against the host's pattern. */
static void check_builds(const upload *u, const hx_incidence *listed, const hx_pattern_spec *asked,
                         const char *name)
{
    hx_pattern expected;
    CHECK_OK(hx_pattern_build(&expected, listed, asked, NULL));
    for (int build = 0; build < HX_N_BUILD; build++)
        for (int given = 0; given < 2; given++) {
            hx_pattern_spec spec = *asked;
            hx_incidence in = u->in;
            hx_device_pattern pattern;
            hx_steps steps;
            char label[160];
            if (!given) in.point_ptr = NULL, in.point_place = NULL;
            spec.build = (hx_build)build;
            snprintf(label, sizeof label, "%s, %s, rows %lld from %lld, %s%s", name,
                     spec.part ? "lower" : "full", (long long)spec.n_row, (long long)spec.row_first,
                     hx_build_name(spec.build), given ? "" : ", no lists");
            CHECK_OK(device.ops->matrix->pattern(&device, &in, &spec, &pattern, &steps));
            check_same(&pattern, &expected, label);
            check_lists(&pattern, listed, !given && build == HX_BUILD_THREE_STAGE, label);
            check_steps(&steps, label);
            hx_device_pattern_free(&pattern, &device);
            CHECK_OK(device.ops->matrix->pattern(&device, &in, &spec, &pattern, NULL));
            check_same(&pattern, &expected, label);
            hx_device_pattern_free(&pattern, &device);
        }
    hx_pattern_free(&expected);
}

/* All rows, a range, one row, the last row. */
static void check_pattern(const hx_incidence *in, const char *name)
{
    const hx_pattern_spec list_spec = {0};
    const int64_t n = in->n_point;
    const int64_t range[4][2] = {{0, 0}, {n / 3, n / 3 + 1}, {n / 2, 1}, {n - 1, 1}};
    hx_incidence listed = *in;
    hx_pattern lists;
    listed.point_ptr = NULL;
    listed.point_place = NULL;
    CHECK_OK(hx_pattern_build(&lists, &listed, &list_spec, NULL));
    listed.point_ptr = lists.point_ptr;
    listed.point_place = lists.point_place;
    upload u = upload_create(&listed);
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 4; i++) {
            const hx_pattern_spec spec = {
                .part = (hx_part)part, .row_first = range[i][0], .n_row = range[i][1]};
            check_builds(&u, &listed, &spec, name);
        }
    upload_free(&u);
    hx_pattern_free(&lists);
}

static void check_mesh(hx_mesh *mesh, fixture_order order, const char *name)
{
    CHECK_OK(fixture_finish(mesh, order));
    const hx_incidence in = hx_incidence_of_mesh(mesh);
    check_pattern(&in, name);
    hx_mesh_free(mesh);
}

static void test_meshes(void)
{
    const fixture_box one = {{1, 1, 1}, {1.0, 1.0, 1.0}, 0.0, 0};
    const fixture_box box = {{5, 4, 3}, {2.0, 1.0, 1.0}, 0.2, 1};
    const fixture_box cube = {{12, 12, 12}, {1.0, 1.0, 1.0}, 0.2, 0};
    /* a node on the inner axis has 6 n + 3 neighbours */
    static const int fan[4] = {5, 45, 50, 130};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &one));
    check_mesh(&mesh, FIXTURE_IN_ORDER, "one element");
    CHECK_OK(fixture_box_create(&mesh, &box));
    check_mesh(&mesh, FIXTURE_SHUFFLED, "shuffled box");
    CHECK_OK(fixture_box_create(&mesh, &cube));
    check_mesh(&mesh, FIXTURE_REORDERED, "distorted cube");
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "fan of %d", fan[i]);
        CHECK_OK(fan_create(&mesh, fan[i], i < 2 ? 3 : 2));
        check_mesh(&mesh, i % 2 ? FIXTURE_REORDERED : FIXTURE_SHUFFLED, name);
    }
}

static void check_cells(cells c, const char *name)
{
    check_pattern(&c.in, name);
    cells_free(&c);
}

static void test_cells(void)
{
    static const int kinds[6] = {4, 5, 6, 8, 20, 27};
    check_cells(cells_mixed(60, 90, 6, kinds), "mixed cells");
    check_cells(cells_mixed(400, 1500, 6, kinds), "mixed cells of many points");
    check_cells(cells_mixed(900, 90, 6, kinds), "mixed cells at few points");
    check_cells(cells_uniform(150, 400, 27), "cells of 27 points");
    check_cells(cells_uniform(700, 500, 20), "cells of 20 points");
    check_cells(cells_uniform(500, 130, 4), "cells of 4 points");
    check_cells(cells_uniform(300, 100, 1), "cells of 1 point");
    check_cells(cells_random(300, 400), "random hexahedra"); /* rows of 33 to 64 entries */
    check_cells(cells_random(1200, 300),
                "crowded hexahedra"); /* 32 cells per point: 255 candidates */
    check_cells(cells_collapsed(200, 150), "collapsed hexahedra");
    check_cells(cells_star(31, 8), "31 cells at a point");
    check_cells(cells_star(32, 8), "32 cells at a point");
    check_cells(cells_star(600, 4), "600 cells at a point"); /* rows with two bytes per slot */
}

static void test_too_wide(void)
{
    cells c = cells_star(22000, 4);
    upload u = upload_create(&c.in);
    for (int build = 0; build < HX_N_BUILD; build++) {
        const hx_pattern_spec spec = {.build = (hx_build)build};
        hx_device_pattern pattern;
        u.in.cell_ptr = u.in.pair_ptr = u.in.point_ptr = NULL;
        CHECK_FAILS(device.ops->matrix->pattern(&device, &u.in, &spec, &pattern, NULL), HX_EINPUT,
                    "66001 neighbours");
        CHECK(!pattern.d_row_ptr && !pattern.d_slot && !pattern.d_point_ptr);
    }
    upload_free(&u);
    cells_free(&c);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    CHECK(device.ops->matrix->builds == (1u << HX_N_BUILD) - 1);
    test_meshes();
    test_cells();
    test_too_wide();
    hx_device_close(&device);
    TEST_END();
}
