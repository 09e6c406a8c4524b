/* The pattern of neighbours against a table of all pairs, on shuffled, distorted and unstructured
 * meshes, on meshes with a node of 33 neighbours and of more than 255, and on mixed cells; both
 * builders, both parts, ranges of rows, any number of threads. Counts of P3's Table 1; its larger
 * meshes only without `quick`.
 *
 *     test_pattern [quick] */
#include "core/matrix/matrix.h"
#include "core/matrix/pattern.h"
#include "tests/lib/fan.h"
#include "tests/lib/fixture.h"
#include "tests/lib/incidences.h"

/* table[row][column]: 1 if a cell contains both. The caller frees it. */
static unsigned char *make_table(const hx_incidence *in)
{
    const size_t n = (size_t)in->n_point;
    unsigned char *const table = calloc(n * n, 1);
    if (!table) abort();
    for (int64_t cell = 0; cell < in->n_cell; cell++) {
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        for (int a = 0; a < hx_incidence_count(in, cell); a++)
            for (int b = 0; b < hx_incidence_count(in, cell); b++)
                table[(size_t)point[a] * n + (size_t)point[b]] = 1;
    }
    return table;
}

static int slot_of(const hx_pattern *p, int64_t pair)
{
    return hx_slot_at(p->slot, p->slot_bytes, pair);
}

static int has_entry(const hx_pattern *p, int64_t row, int64_t col)
{
    return row >= p->row_first && row < p->row_first + p->n_row &&
           (p->part == HX_PART_FULL || col <= row);
}

static void check_rows(const hx_pattern *p, const unsigned char *table, const char *label)
{
    int64_t n_wrong = 0, k = 0;
    int widest = 0;
    for (int64_t r = 0; r < p->n_row; r++) {
        n_wrong += p->row_ptr[r] != k;
        for (int64_t col = 0; col < p->n_point; col++)
            if (table[(p->row_first + r) * p->n_point + col] && has_entry(p, p->row_first + r, col))
                n_wrong += k >= p->n_entry || p->col[k++] != col;
        if (k - p->row_ptr[r] > widest) widest = (int)(k - p->row_ptr[r]);
    }
    CHECK_MSG(n_wrong == 0 && k == p->n_entry && p->row_ptr[p->n_row] == k,
              "%s: %lld wrong columns or rows", label, (long long)n_wrong);
    CHECK_MSG(p->max_row == widest, "%s: widest row %d, not %d", label, p->max_row, widest);
    CHECK_MSG(p->slot_bytes == (widest <= 255 ? 1 : 2), "%s: %d bytes a slot", label,
              p->slot_bytes);
}

static void check_slots(const hx_pattern *p, const hx_incidence *in, const char *label)
{
    int64_t n_wrong = 0, n_pair = 0;
    for (int64_t cell = 0; cell < in->n_cell; cell++) {
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        const int n = hx_incidence_count(in, cell);
        for (int k = 0; k < n * n; k++, n_pair++) {
            const int32_t row = point[k / n], col = point[k % n];
            const int slot = slot_of(p, hx_incidence_pair(in, cell) + k);
            n_wrong += has_entry(p, row, col)
                           ? slot < 0 || p->col[p->row_ptr[row - p->row_first] + slot] != col
                           : slot != -1;
        }
    }
    CHECK_MSG(n_wrong == 0 && n_pair == p->n_pair, "%s: %lld wrong slots", label,
              (long long)n_wrong);
}

static int same(const hx_pattern *a, const hx_pattern *b)
{
    return a->n_row == b->n_row && a->n_entry == b->n_entry && a->slot_bytes == b->slot_bytes &&
           memcmp(a->row_ptr, b->row_ptr, ((size_t)a->n_row + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col, b->col, (size_t)a->n_entry * sizeof *a->col) == 0 &&
           memcmp(a->slot, b->slot, (size_t)(a->n_pair * a->slot_bytes)) == 0;
}

/* Each builder, with the points' lists and without, on one and two threads, against the first. */
static void check_builds(const hx_incidence *in, const hx_pattern_spec *asked,
                         const hx_pattern *first, const char *label)
{
    hx_incidence bare = *in;
    bare.point_ptr = NULL;
    bare.point_place = NULL;
    for (int build = 0; build < HX_N_BUILD; build++)
        for (int threads = 1; threads <= 2; threads++) {
            hx_pattern_spec spec = *asked;
            hx_pattern p;
            hx_steps steps;
            spec.build = (hx_build)build;
            fixture_set_threads(threads);
            CHECK_OK(hx_pattern_build(&p, threads == 1 ? &bare : in, &spec, &steps));
            CHECK_MSG(same(&p, first), "%s: %s, %d threads", label, hx_build_name(spec.build),
                      threads);
            CHECK(steps.n >= 3 && steps.n <= HX_MAX_STEP);
            hx_pattern_free(&p);
        }
    fixture_set_threads(1);
}

static void check_pattern(const hx_incidence *in, const char *name)
{
    unsigned char *const table = make_table(in);
    const int64_t third = in->n_point / 3;
    for (int part = 0; part < 2; part++)
        for (int range = 0; range < 2; range++) {
            hx_pattern_spec spec = {.part = (hx_part)part};
            hx_pattern p;
            char label[96];
            if (range) spec.row_first = third, spec.n_row = third + 1;
            snprintf(label, sizeof label, "%s, %s%s", name, part ? "lower" : "full",
                     range ? ", a range of rows" : "");
            CHECK_OK(hx_pattern_build(&p, in, &spec, NULL));
            check_rows(&p, table, label);
            check_slots(&p, in, label);
            check_builds(in, &spec, &p, label);
            int64_t n_entry;
            int max_row;
            CHECK_OK(hx_pattern_count(in, spec.part, &n_entry, &max_row));
            if (!range) CHECK(n_entry == p.n_entry && max_row == p.max_row);
            hx_pattern_free(&p);
        }
    free(table);
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
    const fixture_box box = {{5, 4, 3}, {2.0, 1.0, 1.0}, 0.2, 1};
    const fixture_box one = {{1, 1, 1}, {1.0, 1.0, 1.0}, 0.0, 0};
    const hx_generate_params rod = {.nx = 10, .ny = 2};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &one));
    check_mesh(&mesh, FIXTURE_IN_ORDER, "one element");
    CHECK_OK(fixture_box_create(&mesh, &box));
    check_mesh(&mesh, FIXTURE_SHUFFLED, "shuffled box");
    CHECK_OK(hx_generate(hx_generator_find("conrod"), &mesh, &rod));
    check_mesh(&mesh, FIXTURE_REORDERED, "connecting rod");
    CHECK_OK(fan_create(&mesh, 50, 3));
    check_mesh(&mesh, FIXTURE_SHUFFLED, "fan of 50");
}

static void test_33_neighbours(void)
{
    hx_mesh mesh;
    int64_t n_entry;
    int max_row;
    CHECK_OK(fan_create(&mesh, 5, 3));
    CHECK_OK(hx_mesh_finish(&mesh));
    const hx_incidence in = hx_incidence_of_mesh(&mesh);
    CHECK_OK(hx_pattern_count(&in, HX_PART_FULL, &n_entry, &max_row));
    CHECK_MSG(max_row == 33, "%d", max_row);
    check_pattern(&in, "fan of 5");
    hx_mesh_free(&mesh);
}

/* Cells of 4 to 27 points given by pointers, with some points in many cells. */
static void test_mixed(void)
{
    static const int kinds[6] = {4, 5, 6, 8, 20, 27};
    cells c = cells_mixed(60, 90, 6, kinds);
    check_pattern(&c.in, "mixed cells");
    cells_free(&c);
}

/* P3, Table 1: (3 n + 1)^3 entries on n^3 elements, of which the table counts the lower half with
 * the diagonal. On small meshes also all entries and the widest row, with shuffled elements. */
static void check_paper_count(int n, int64_t lower)
{
    const int64_t full = (int64_t)(3 * n + 1) * (3 * n + 1) * (3 * n + 1);
    const int64_t n_node = (int64_t)(n + 1) * (n + 1) * (n + 1);
    int64_t found;
    int max_row;
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, n, n, n, 1.0, 1.0, 1.0));
    if (n <= 40) CHECK_OK(hx_mesh_shuffle(&mesh, 3));
    const hx_incidence in = {.n_cell = mesh.n_elem,
                             .n_point = mesh.n_node,
                             .n_place = 8 * mesh.n_elem,
                             .n_per_cell = 8,
                             .point = mesh.conn};
    CHECK_OK(hx_pattern_count(&in, HX_PART_LOWER, &found, NULL));
    CHECK_MSG(found == lower && found == (full + n_node) / 2, "n = %d: %lld", n, (long long)found);
    if (n <= 80) {
        CHECK_OK(hx_pattern_count(&in, HX_PART_FULL, &found, &max_row));
        CHECK(found == full && max_row == 27);
    }
    hx_mesh_free(&mesh);
}

static void test_paper_counts(int quick)
{
    static const struct {
        int n;
        int64_t lower;
    } paper[] = {{10, 15561},     {20, 118121},    {40, 920241},    {80, 7264481},
                 {120, 24408721}, {140, 38710841}, {160, 57728961}, {180, 82135081}};
    for (size_t i = 0; i < sizeof paper / sizeof *paper && !(quick && paper[i].n > 80); i++)
        check_paper_count(paper[i].n, paper[i].lower);
}

/* One point in so many cells that 16 bits cannot count its neighbours. */
static void test_too_wide(void)
{
    const hx_pattern_spec spec = {0};
    cells c = cells_star(22000, 4);
    hx_pattern p;
    CHECK_FAILS(hx_pattern_build(&p, &c.in, &spec, NULL), HX_EINPUT, "66001 neighbours");
    CHECK(p.row_ptr == NULL && p.slot == NULL);
    cells_free(&c);
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    test_meshes();
    test_33_neighbours();
    test_mixed();
    test_paper_counts(quick);
    test_too_wide();
    TEST_END();
}
