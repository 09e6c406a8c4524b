/* Ranges of rows cut from a mesh on the device are bitwise the rows of the whole matrix, for any
 * order of the mesh.
 *
 *     test_cut [cpu | cuda] [quick] */
#include "core/matrix/matrix.h"
#include "tests/lib/fixture.h"

static hx_device device;

static hx_fill_input put_mesh(const hx_mesh *mesh, void **d, int c)
{
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    double *const modulus = malloc(n_elem * sizeof *modulus);
    uint64_t state = 11;
    if (!modulus) abort();
    for (size_t e = 0; e < n_elem; e++) modulus[e] = fixture_uniform(&state, 0.5, 2.0);
    CHECK_OK(hx_device_put(&device, &d[0], mesh->conn, n_elem * 8 * sizeof(int32_t)));
    CHECK_OK(hx_device_put(&device, &d[1], mesh->xyz, n_node * 3 * sizeof(double)));
    CHECK_OK(hx_device_put(&device, &d[2], modulus, n_elem * sizeof(double)));
    free(modulus);
    return (hx_fill_input){
        .incidence = {.n_cell = mesh->n_elem,
                      .n_point = mesh->n_node,
                      .n_place = 8 * mesh->n_elem,
                      .n_per_cell = 8,
                      .point = d[0]},
        .form = {c == 3 ? HX_FORM_ELASTICITY : HX_FORM_CONDUCTION, 0.6, 0.4},
        .d_xyz = d[1],
        .d_modulus = d[2],
    };
}

/* Row pointers are shifted by `by`. */
static void check_pointers(const hx_device_pattern *pattern, int64_t by)
{
    int64_t before, after;
    CHECK_OK(
        device.ops->download(&device, &before, pattern->d_row_ptr + pattern->n_row, sizeof before));
    CHECK_OK(device.ops->matrix->shift(&device, pattern, 0, by));
    CHECK_OK(
        device.ops->download(&device, &after, pattern->d_row_ptr + pattern->n_row, sizeof after));
    CHECK(before == pattern->n_entry && after == before + by);
}

/* Rows first .. first + n - 1 in the input's own numbers; columns are shifted by `by`. */
static hx_matrix_rows make_rows(hx_fill_input in, hx_part part, int64_t first, int64_t n,
                                int32_t by)
{
    const hx_matrix_ops *const ops = device.ops->matrix;
    const hx_pattern_spec spec = {HX_BUILD_THREE_STAGE, part, first, n};
    const hx_matrix_spec bsr = {HX_FORMAT_BSR, part, 0, hx_form_components(&in.form)};
    hx_device_pattern pattern = {0};
    hx_matrix m = {0};
    hx_matrix_rows rows = {0};
    void *fill = NULL;
    CHECK_OK(ops->pattern(&device, &in.incidence, &spec, &pattern, NULL));
    in.incidence.point_ptr = pattern.d_point_ptr;
    in.incidence.point_place = pattern.d_point_place;
    CHECK_OK(hx_matrix_create(&m, &device, &pattern, &bsr));
    CHECK_OK(ops->fill_create(&fill, &device, HX_FILL_GATHER, &m, &in));
    CHECK_OK(ops->fill_run(fill));
    CHECK_OK(ops->shift(&device, &pattern, by, 0));
    CHECK_OK(ops->rows(&device, &m, 0, n, &rows));
    check_pointers(&pattern, 1000);
    ops->fill_free(fill);
    hx_matrix_free(&m, &device);
    hx_device_pattern_free(&pattern, &device);
    return rows;
}

static void check_range(void *cutter, const hx_fill_input *in, const hx_matrix_rows *whole,
                        hx_part part, int64_t first, int64_t n)
{
    const size_t block = (size_t)(hx_form_components(&in->form) * hx_form_components(&in->form));
    const int64_t begin = whole->ptr[first], n_entry = whole->ptr[first + n] - begin;
    hx_device_cut cut;
    CHECK_OK(device.ops->matrix->cut(cutter, first, n, &cut));
    hx_fill_input part_of = *in;
    part_of.incidence.n_cell = cut.n_cell;
    part_of.incidence.n_place = 8 * cut.n_cell;
    part_of.incidence.n_point = cut.n_point;
    part_of.incidence.point = cut.d_point;
    part_of.d_xyz = in->d_xyz + 3 * cut.first_point;
    part_of.d_modulus = cut.d_modulus;
    hx_matrix_rows rows =
        make_rows(part_of, part, first - cut.first_point, n, (int32_t)cut.first_point);
    for (int64_t r = 0; r <= n; r++) CHECK(rows.ptr[r] == whole->ptr[first + r] - begin);
    CHECK_MSG(memcmp(rows.col, whole->col + begin, (size_t)n_entry * sizeof *rows.col) == 0,
              "rows %lld + %lld: other columns", (long long)first, (long long)n);
    CHECK_MSG(memcmp(rows.value, whole->value + (size_t)begin * block,
                     (size_t)n_entry * block * sizeof *rows.value) == 0,
              "rows %lld + %lld: other values", (long long)first, (long long)n);
    hx_matrix_rows_free(&rows);
    hx_device_cut_free(&cut, &device);
}

static void check_mesh(fixture_order order, int c, hx_part part, int size)
{
    const fixture_box box = {{2 * size, size, size}, {2.0, 1.0, 1.0}, 0.2, 1};
    void *d[3] = {NULL, NULL, NULL};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, order));
    const hx_fill_input in = put_mesh(&mesh, d, c);
    const int64_t n_row = mesh.n_node, length[] = {1, 37, n_row / 2 + 1, n_row};
    hx_matrix_rows whole = make_rows(in, part, 0, n_row, 0);
    void *cutter;
    CHECK_OK(device.ops->matrix->cutter_create(&cutter, &device, &in));
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++)
        for (int64_t first = 0; first < n_row; first += (i == 0 ? 29 : 1) * length[i])
            check_range(cutter, &in, &whole, part, first,
                        length[i] < n_row - first ? length[i] : n_row - first);
    device.ops->matrix->cutter_free(cutter);
    hx_matrix_rows_free(&whole);
    for (int i = 0; i < 3; i++) device.ops->release(&device, d[i]);
    hx_mesh_free(&mesh);
}

/* A range beyond the last point, which no cell touches, is empty. */
static void test_nothing(void)
{
    const fixture_box box = {{2, 1, 1}, {2.0, 1.0, 1.0}, 0.0, 0};
    void *d[3] = {NULL, NULL, NULL};
    hx_device_cut cut;
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    const hx_fill_input in = put_mesh(&mesh, d, 1);
    void *cutter;
    CHECK_OK(device.ops->matrix->cutter_create(&cutter, &device, &in));
    CHECK_OK(device.ops->matrix->cut(cutter, mesh.n_node, 5, &cut));
    device.ops->matrix->cutter_free(cutter);
    CHECK(cut.n_cell == 0 && cut.n_point == 0);
    hx_device_cut_free(&cut, &device);
    for (int i = 0; i < 3; i++) device.ops->release(&device, d[i]);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    test_nothing();
    for (int order = FIXTURE_IN_ORDER; order <= FIXTURE_REORDERED; order++) {
        check_mesh((fixture_order)order, 1, HX_PART_LOWER, quick ? 3 : 5);
        check_mesh((fixture_order)order, 3, HX_PART_FULL, quick ? 2 : 4);
        if (!quick)
            check_mesh((fixture_order)order, 1, HX_PART_FULL, 12); /* several groups of cells */
    }
    hx_device_close(&device);
    TEST_END();
}
