/* Matrices of a device - each format, part, precision and fill that it supports - against a dense K
 * from independently written element matrices: values, arrays, products, diagonal, rigid motions;
 * the fill `gather` is bitwise reproducible for any number of threads and any range of rows.
 *
 *     test_matrix [cpu | cuda] [quick]
 *
 * quick: smaller meshes except for the widest rows, no rigid motions, for tools that slow a device
 * down. */
#include "core/base/clock.h"
#include "core/matrix/matrix.h"
#include "tests/lib/dense_model.h"
#include "tests/lib/fan.h"

static const double nu = 0.3;
static int quick;

/* A mesh on the device, its moduli, and the dense matrix with c unknowns per node. */
typedef struct sample {
    hx_mesh mesh;
    int c;
    size_t n_dof;
    double *modulus, *k, largest; /* k[n_dof][n_dof]; its largest entry */
    hx_fill_input input;
    void *d_owned[5];
} sample;

static void add_element(sample *s, const int32_t conn[8], double modulus)
{
    const double lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu = 0.5 / (1.0 + nu);
    double x[8][3], ke[24][24];
    const int c = s->c;
    for (int a = 0; a < 8; a++) memcpy(x[a], s->mesh.xyz + 3 * conn[a], sizeof x[a]);
    element_stiffness(x, nu, ke);
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            double *const to = s->k + (size_t)(c * conn[a]) * s->n_dof + c * conn[b];
            for (int i = 0; i < c && c == 3; i++)
                for (int j = 0; j < 3; j++)
                    to[(size_t)i * s->n_dof + j] += modulus * ke[3 * a + i][3 * b + j];
            /* the trace of a tile is (lambda + 4 mu) times the entry of conduction */
            if (c == 1)
                to[0] += modulus *
                         (ke[3 * a][3 * b] + ke[3 * a + 1][3 * b + 1] + ke[3 * a + 2][3 * b + 2]) /
                         (lambda + 4.0 * mu);
        }
}

static void make_dense(sample *s)
{
    uint64_t state = 5;
    s->n_dof = (size_t)s->c * (size_t)s->mesh.n_node;
    s->k = calloc(s->n_dof * s->n_dof, sizeof *s->k);
    s->modulus = malloc((size_t)s->mesh.n_elem * sizeof *s->modulus);
    if (!s->k || !s->modulus) abort();
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        s->modulus[e] = pow(10.0, fixture_uniform(&state, -9.0, 0.0));
        add_element(s, s->mesh.conn + 8 * e, s->modulus[e]);
    }
    s->largest = 0.0;
    for (size_t i = 0; i < s->n_dof * s->n_dof; i++) test_worst(&s->largest, fabs(s->k[i]));
}

static void *put(sample *s, int i, const void *from, size_t bytes)
{
    CHECK_OK(hx_device_put(&device, &s->d_owned[i], from, bytes));
    return s->d_owned[i];
}

static void make_sample(sample *s, int c)
{
    const size_t n_node = (size_t)s->mesh.n_node, n_elem = (size_t)s->mesh.n_elem;
    hx_incidence in = hx_incidence_of_mesh(&s->mesh);
    s->c = c;
    make_dense(s);
    in.point = put(s, 0, in.point, n_elem * 8 * sizeof *in.point);
    in.point_ptr = put(s, 1, in.point_ptr, (n_node + 1) * sizeof *in.point_ptr);
    in.point_place = put(s, 2, in.point_place, n_elem * 8 * sizeof *in.point_place);
    s->input = (hx_fill_input){.incidence = in,
                               .form = {c == 3 ? HX_FORM_ELASTICITY : HX_FORM_CONDUCTION,
                                        nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)},
                               .d_xyz = put(s, 3, s->mesh.xyz, n_node * 3 * sizeof(double)),
                               .d_modulus = put(s, 4, s->modulus, n_elem * sizeof(double))};
}

static void free_sample(sample *s)
{
    for (int i = 0; i < 5; i++) device.ops->release(&device, s->d_owned[i]);
    free(s->k);
    free(s->modulus);
}

/* Some rows of a matrix are equal to those of the whole. */
static void check_some_rows(const hx_matrix *m, const hx_matrix_rows *whole, int64_t first,
                            int64_t n_row, const char *label)
{
    const size_t block = (size_t)(m->spec.components * m->spec.components);
    const int64_t begin = whole->ptr[first];
    hx_matrix_rows some;
    CHECK_OK(device.ops->matrix->rows(&device, m, first, n_row, &some));
    const size_t n = (size_t)some.ptr[n_row];
    for (int64_t r = 0; r <= n_row; r++)
        CHECK_MSG(some.ptr[r] == whole->ptr[first + r] - begin, "%s: some rows", label);
    CHECK_MSG(some.first == first && some.n_row == n_row &&
                  memcmp(some.col, whole->col + begin, n * sizeof *some.col) == 0 &&
                  memcmp(some.value, whole->value + (size_t)begin * block,
                         n * block * sizeof *some.value) == 0,
              "%s: some rows are others", label);
    hx_matrix_rows_free(&some);
}

/* Values of the rows against the dense matrix, including zeros outside the pattern. Lower: also
 * that no entry is missing within these rows. */
static void check_rows(const sample *s, const hx_matrix *m, double bound, const char *label)
{
    const int64_t n_row = m->pattern.n_row, first = m->pattern.row_first;
    const int c = s->c;
    double *const left = malloc(s->n_dof * s->n_dof * sizeof *left), worst = 0.0;
    hx_matrix_rows rows;
    if (!left) abort();
    memcpy(left, s->k, s->n_dof * s->n_dof * sizeof *left);
    CHECK_OK(device.ops->matrix->rows(&device, m, 0, n_row, &rows));
    for (int64_t r = 0; r < n_row; r++)
        for (int64_t k = rows.ptr[r]; k < rows.ptr[r + 1]; k++)
            for (int t = 0; t < c * c; t++) {
                const size_t i = (size_t)(c * (first + r) + t / c);
                const size_t j = (size_t)(c * rows.col[k] + t % c);
                left[i * s->n_dof + j] -= rows.value[k * c * c + t];
                if (m->spec.part == HX_PART_LOWER && rows.col[k] < first + r)
                    left[j * s->n_dof + i] -= rows.value[k * c * c + t];
            }
    for (size_t i = 0; i < s->n_dof * s->n_dof; i++) {
        const int64_t row = (int64_t)(i / s->n_dof) / c, col = (int64_t)(i % s->n_dof) / c;
        const int is_mirrored = m->spec.part == HX_PART_LOWER && col >= first + n_row;
        /* covered by later rows */
        if (row < first || row >= first + n_row || is_mirrored) continue;
        test_worst(&worst, fabs(left[i]) / s->largest);
    }
    CHECK_MSG(worst <= bound, "%s: a value is off by %.3g", label, worst);
    check_some_rows(m, &rows, n_row / 3, n_row / 2, label);
    check_some_rows(m, &rows, n_row - 1, 1, label);
    hx_matrix_rows_free(&rows);
    free(left);
}

/* A matrix' own arrays (see matrix.h) in host memory. */
typedef struct arrays {
    int64_t *ptr;
    int32_t *row, *col;
    double *value;
} arrays;

static void *get(const void *d_from, size_t n, size_t size)
{
    void *const to = malloc(n * size + 1);
    if (!to) abort();
    if (d_from) CHECK_OK(device.ops->download(&device, to, d_from, n * size));
    return to;
}

static arrays get_arrays(const hx_matrix *m)
{
    const size_t n = (size_t)m->n_value, c = (size_t)m->spec.components;
    const size_t n_row = (size_t)m->pattern.n_row, n_block = n / (c * c);
    const int sliced = m->spec.format == HX_FORMAT_BSRS;
    arrays a = {.ptr = get(m->d_ptr, sliced ? (n_row + HX_SLICE - 1) / HX_SLICE + 1 : c * n_row + 1,
                           sizeof *a.ptr),
                .row = get(m->d_row, n, sizeof *a.row),
                .col = get(m->d_col, sliced ? n_block : n, sizeof *a.col)};
    if (m->spec.single) {
        float *const single = get(m->d_value, n, sizeof *single);
        a.value = get(NULL, n, sizeof *a.value);
        for (size_t k = 0; k < n; k++) a.value[k] = (double)single[k];
        free(single);
    } else {
        a.value = get(m->d_value, n, sizeof *a.value);
    }
    return a;
}

/* sum[row][column] += a value of the arrays. */
static void add_number(const sample *s, double *sum, int64_t row, int64_t col, double value,
                       const char *label)
{
    const int is_one = col >= 0 && col < (int64_t)s->n_dof;
    CHECK_MSG(is_one, "%s: column %lld", label, (long long)col);
    if (is_one) sum[(size_t)row * s->n_dof + (size_t)col] += value;
}

static void add_slices(const sample *s, const hx_matrix *m, const arrays *a, double *sum,
                       const char *label)
{
    const int64_t n_row = m->pattern.n_row;
    const int c = s->c;
    for (int64_t r = 0; r < (n_row + HX_SLICE - 1) / HX_SLICE * HX_SLICE; r++)
        for (int64_t k = a->ptr[r / HX_SLICE]; k < a->ptr[r / HX_SLICE + 1]; k += HX_SLICE)
            for (int t = 0; t < c * c; t++) {
                const double v = a->value[k * c * c + t * HX_SLICE + r % HX_SLICE];
                const int64_t col = c * (int64_t)a->col[k + r % HX_SLICE] + t % c;
                CHECK_MSG(r < n_row || v == 0.0, "%s: %g in a row that is not there", label, v);
                add_number(s, sum, c * (r < n_row ? r : n_row - 1) + t / c, col, v, label);
            }
}

static void add_numbers(const sample *s, const hx_matrix *m, const arrays *a, double *sum,
                        const char *label)
{
    const int64_t n_row = s->c * m->pattern.n_row;
    int64_t row = 0;
    for (int64_t k = 0; k < m->n_value; k++) {
        if (m->spec.format == HX_FORMAT_ELL)
            row = k % n_row;
        else if (m->spec.format == HX_FORMAT_COO)
            row = a->row[k];
        else
            while (row < n_row && k >= a->ptr[row + 1]) row++;
        CHECK_MSG(row < n_row &&
                      (m->spec.format != HX_FORMAT_COO || k == 0 || row >= a->row[k - 1]),
                  "%s: row %lld", label, (long long)row);
        if (row < n_row) add_number(s, sum, row, a->col[k], a->value[k], label);
    }
    if (m->spec.format == HX_FORMAT_CSR) CHECK(a->ptr[0] == 0 && a->ptr[n_row] == m->n_value);
}

/* The sum of the stored values is K, or its part. */
static void check_arrays(const sample *s, const hx_matrix *m, double bound, const char *label)
{
    const int64_t n_row = s->c * m->pattern.n_row, first = s->c * m->pattern.row_first;
    const int sliced = m->spec.format == HX_FORMAT_BSRS, c = s->c;
    double *const sum = calloc((size_t)n_row * s->n_dof, sizeof *sum), worst = 0.0;
    arrays a = get_arrays(m);
    if (!sum) abort();
    if (sliced)
        add_slices(s, m, &a, sum, label);
    else
        add_numbers(s, m, &a, sum, label);
    for (int64_t i = 0; i < n_row; i++)
        for (int64_t j = 0; j < (int64_t)s->n_dof; j++) {
            const int64_t last = sliced ? (first + i) / c * c + c - 1 : first + i;
            const int is_left_out = m->spec.part == HX_PART_LOWER && j > last;
            const double k = s->k[(size_t)(first + i) * s->n_dof + (size_t)j];
            test_worst(&worst,
                       fabs(sum[(size_t)i * s->n_dof + (size_t)j] - (is_left_out ? 0.0 : k)) /
                           s->largest);
        }
    CHECK_MSG(worst <= bound, "%s: a number in the arrays is off by %.3g", label, worst);
    free(a.ptr);
    free(a.row);
    free(a.col);
    free(a.value);
    free(sum);
}

/* Asynchronous downloads with both slots at once. */
static void check_fetch(const hx_matrix *m, const char *label)
{
    const hx_matrix_ops *ops = device.ops->matrix;
    const size_t bytes = (size_t)m->n_value * (m->spec.single ? sizeof(float) : sizeof(double));
    char *const expected = get(m->d_value, bytes, 1), *to[2];
    for (int slot = 0; slot < 2; slot++) {
        CHECK_OK(ops->host_alloc(&device, bytes, &to[slot]));
        memset(to[slot], 1, bytes);
    }
    for (int slot = 0; slot < 2; slot++)
        CHECK_OK(ops->fetch(&device, slot, to[slot], m->d_value, bytes));
    for (int slot = 0; slot < 2; slot++) {
        CHECK_OK(ops->fetch_wait(&device, slot));
        CHECK_MSG(memcmp(to[slot], expected, bytes) == 0, "%s: slot %d fetches other bytes", label,
                  slot);
        ops->host_release(&device, to[slot]);
    }
    ops->host_release(&device, NULL);
    free(expected);
}

static void dense_product(const sample *s, const double *x, double *y)
{
    for (size_t i = 0; i < s->n_dof; i++) {
        long double sum = 0.0L;
        for (size_t j = 0; j < s->n_dof; j++) sum += (long double)s->k[i * s->n_dof + j] * x[j];
        y[i] = (double)sum;
    }
}

/* y = A x on the device, and x'y if it supports that. */
static void product(const sample *s, const hx_matrix *m, const double *x, double *y, double *dot)
{
    const hx_matrix_ops *ops = device.ops->matrix;
    double *const d_x = fixture_put(&device, s->n_dof, x);
    double *const d_y = fixture_put(&device, s->n_dof, x), *const d_sum =
                                                               fixture_put(&device, 1, x);
    if (dot) CHECK_OK(ops->multiply_dot(&device, m, d_x, d_y, d_sum));
    if (dot) fixture_get(&device, 1, dot, d_sum);
    if (!dot) CHECK_OK(ops->multiply(&device, m, d_x, d_y));
    fixture_get(&device, s->n_dof, y, d_y);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    device.ops->release(&device, d_sum);
}

static void check_products(const sample *s, const hx_matrix *m, double bound, const char *label)
{
    double *const x = malloc(4 * s->n_dof * sizeof *x);
    uint64_t state = 9;
    if (!x) abort();
    double *const y = x + s->n_dof, *const expected = y + s->n_dof,
                  *const again = expected + s->n_dof;
    for (size_t i = 0; i < s->n_dof; i++) x[i] = fixture_uniform(&state, -1.0, 1.0);
    dense_product(s, x, expected);
    product(s, m, x, y, NULL);
    const double worst = test_max_difference(s->n_dof, y, expected) / s->largest;
    CHECK_MSG(worst <= bound, "%s: a product is off by %.3g", label, worst);
    if (device.ops->matrix->multiply_dot) {
        double dot, sum = 0.0;
        product(s, m, x, again, &dot);
        CHECK_MSG(memcmp(y, again, s->n_dof * sizeof *y) == 0, "%s: another product with dot",
                  label);
        for (size_t i = 0; i < s->n_dof; i++) sum += x[i] * y[i];
        CHECK_MSG(fabs(dot - sum) <= 1e-13 * (double)s->n_dof * s->largest, "%s: x'y", label);
    }
    double *const d_diag = fixture_put(&device, s->n_dof, x);
    CHECK_OK(device.ops->matrix->diagonal(&device, m, d_diag));
    fixture_get(&device, s->n_dof, y, d_diag);
    for (size_t i = 0; i < s->n_dof; i++)
        CHECK_MSG(fabs(y[i] - s->k[i * s->n_dof + i]) <= bound * s->largest, "%s: diagonal", label);
    device.ops->release(&device, d_diag);
    free(x);
}

/* K times each rigid motion (for conduction a constant). */
static void check_motions(const sample *s, const hx_matrix *m, double bound, const char *label)
{
    double *const x = malloc(2 * s->n_dof * sizeof *x), *const y = x + s->n_dof;
    if (!x) abort();
    for (int mode = 0; mode < (s->c == 3 ? 6 : 1); mode++) {
        double moved = 0.0, force = 0.0;
        for (size_t i = 0; i < s->n_dof; i++) {
            const double *const p = s->mesh.xyz + 3 * (i / (size_t)s->c);
            const int d = (int)(i % (size_t)s->c), axis = mode - 3;
            x[i] = mode < 3              ? (double)(d == mode)
                   : d == (axis + 1) % 3 ? -p[(axis + 2) % 3]
                   : d == (axis + 2) % 3 ? p[(axis + 1) % 3]
                                         : 0.0;
            test_worst(&moved, fabs(x[i]));
        }
        product(s, m, x, y, NULL);
        for (size_t i = 0; i < s->n_dof; i++) test_worst(&force, fabs(y[i]));
        CHECK_MSG(force <= bound * s->largest * moved, "%s: motion %d gives %.3g", label, mode,
                  force / (s->largest * moved));
    }
    free(x);
}

static void check_matrix(const sample *s, const hx_device_pattern *pattern,
                         const hx_matrix_spec *spec, const char *label)
{
    const hx_matrix_ops *ops = device.ops->matrix;
    const double bound = spec->single ? 1e-6 : 1e-13;
    const int is_range = pattern->n_row < pattern->n_point;
    for (int fill = 0; fill < HX_N_FILL; fill++) {
        char what[128];
        hx_matrix m;
        void *state;
        if (!(ops->fills & 1u << fill)) continue;
        if (is_range && fill != HX_FILL_GATHER && fill != HX_FILL_STORED) continue;
        snprintf(what, sizeof what, "%s, %s", label, hx_fill_kinds[fill].name);
        CHECK_OK(hx_matrix_create(&m, &device, pattern, spec));
        CHECK_OK(ops->fill_create(&state, &device, (hx_fill)fill, &m, &s->input));
        for (int repeat = 0; repeat < 2; repeat++) { /* two designs in sequence */
            CHECK_OK(ops->fill_run(state));
            check_rows(s, &m, bound, what);
            if (spec->format != HX_FORMAT_BSR) check_arrays(s, &m, bound, what);
        }
        if (fill == HX_FILL_GATHER) check_fetch(&m, what);
        if (!is_range) {
            check_products(s, &m, 10.0 * bound, what);
            if (!quick) check_motions(s, &m, spec->single ? 1e-5 : 1e-12, what);
        }
        ops->fill_free(state);
        hx_matrix_free(&m, &device);
    }
}

/* Tests every format and precision over one pattern. */
static void check_pattern(const sample *s, const hx_pattern_spec *pattern_spec, const char *name)
{
    const hx_matrix_ops *ops = device.ops->matrix;
    const int part = pattern_spec->part;
    const unsigned formats = part ? ops->lower_formats : ops->formats;
    hx_device_pattern pattern;
    CHECK_OK(ops->pattern(&device, &s->input.incidence, pattern_spec, &pattern, NULL));
    for (int format = 0; format < HX_N_FORMAT; format++)
        for (int single = 0; single < 2; single++) {
            const hx_matrix_spec spec = {(hx_format)format, (hx_part)part, single, s->c};
            char label[96];
            if (!(formats & 1u << format)) continue;
            if (single && !(ops->single_formats & 1u << format)) continue;
            snprintf(label, sizeof label, "%s, %d unknowns, %s %s%s%s", name, s->c,
                     part ? "lower" : "full", hx_format_name(spec.format), single ? " single" : "",
                     pattern_spec->n_row ? ", some rows" : "");
            check_matrix(s, &pattern, &spec, label);
        }
    hx_device_pattern_free(&pattern, &device);
}

static void check_formats(const sample *s, const char *name)
{
    const int64_t n = s->mesh.n_node;
    for (int part = 0; part < 2; part++)
        for (int build = 0; build < HX_N_BUILD; build++) {
            const hx_pattern_spec whole = {.build = (hx_build)build, .part = (hx_part)part};
            const hx_pattern_spec some = {(hx_build)build, (hx_part)part, n / 5, n / 2};
            if (!(device.ops->matrix->builds & 1u << build)) continue;
            check_pattern(s, &whole, name);
            check_pattern(s, &some, name);
        }
}

/* Rows of a range of the matrix, filled by gather; the caller frees them. */
static hx_matrix_rows gather_rows(const sample *s, hx_part part, int64_t first, int64_t n_row,
                                  int threads)
{
    const hx_pattern_spec pattern_spec = {.part = part, .row_first = first, .n_row = n_row};
    const hx_matrix_spec spec = {HX_FORMAT_BSR, part, 0, s->c};
    const hx_matrix_ops *ops = device.ops->matrix;
    hx_device_pattern pattern;
    hx_matrix m;
    hx_matrix_rows rows;
    void *state;
    fixture_set_threads(threads);
    CHECK_OK(ops->pattern(&device, &s->input.incidence, &pattern_spec, &pattern, NULL));
    CHECK_OK(hx_matrix_create(&m, &device, &pattern, &spec));
    CHECK_OK(ops->fill_create(&state, &device, HX_FILL_GATHER, &m, &s->input));
    CHECK_OK(ops->fill_run(state));
    CHECK_OK(ops->rows(&device, &m, 0, n_row, &rows));
    ops->fill_free(state);
    hx_matrix_free(&m, &device);
    hx_device_pattern_free(&pattern, &device);
    fixture_set_threads(1);
    return rows;
}

static void check_bits(const sample *s, const char *name)
{
    const int64_t n = s->mesh.n_node, cut[4] = {0, n / 5, n - 2, n};
    const size_t block = (size_t)(s->c * s->c) * sizeof(double);
    for (int part = 0; part < 2; part++) {
        hx_matrix_rows whole = gather_rows(s, (hx_part)part, 0, n, 1);
        hx_matrix_rows again = gather_rows(s, (hx_part)part, 0, n, 2);
        const size_t bytes = (size_t)whole.ptr[n] * block;
        CHECK_MSG(memcmp(whole.value, again.value, bytes) == 0, "%s: other bits by 2 threads",
                  name);
        for (int i = 0; i < 3; i++) {
            hx_matrix_rows range =
                gather_rows(s, (hx_part)part, cut[i], cut[i + 1] - cut[i], 1 + i % 2);
            const int64_t n_entry = whole.ptr[cut[i + 1]] - whole.ptr[cut[i]];
            CHECK_MSG(range.ptr[range.n_row] == n_entry &&
                          memcmp(range.value,
                                 (const char *)whole.value + (size_t)whole.ptr[cut[i]] * block,
                                 (size_t)n_entry * block) == 0 &&
                          memcmp(range.col, whole.col + whole.ptr[cut[i]],
                                 (size_t)n_entry * sizeof *range.col) == 0,
                      "%s: other bits in a range of rows", name);
            hx_matrix_rows_free(&range);
        }
        hx_matrix_rows_free(&whole);
        hx_matrix_rows_free(&again);
    }
}

/* An entry is bitwise the transpose of its mirror image. */
static void check_symmetry(const sample *s, const char *name)
{
    const int64_t n = s->mesh.n_node;
    double *const dense = calloc(s->n_dof * s->n_dof, sizeof *dense);
    hx_matrix_rows rows = gather_rows(s, HX_PART_FULL, 0, n, 1);
    int64_t n_wrong = 0;
    if (!dense) abort();
    for (int64_t r = 0; r < n; r++)
        for (int64_t k = rows.ptr[r]; k < rows.ptr[r + 1]; k++)
            for (int t = 0; t < s->c * s->c; t++)
                dense[(size_t)(s->c * r + t / s->c) * s->n_dof +
                      (size_t)(s->c * rows.col[k] + t % s->c)] = rows.value[k * s->c * s->c + t];
    for (size_t i = 0; i < s->n_dof; i++)
        for (size_t j = 0; j < i; j++)
            n_wrong += !(dense[i * s->n_dof + j] == dense[j * s->n_dof + i]);
    CHECK_MSG(n_wrong == 0, "%s: %lld entries are not symmetric", name, (long long)n_wrong);
    hx_matrix_rows_free(&rows);
    free(dense);
}

/* The steps of a run are part of its time; asynchronous fills report none. */
static void check_run_steps(void *state, hx_fill fill)
{
    hx_steps steps = {.n = -1};
    double sum = 0.0;
    int n_done = 0;
    CHECK_OK(device.ops->sync(&device));
    const double begin = hx_clock();
    CHECK_OK(device.ops->matrix->fill_run(state));
    const double seconds = hx_clock() - begin;
    device.ops->matrix->fill_steps(state, &steps);
    for (int i = 0; i < steps.n; i++) {
        sum += steps.step[i].seconds;
        n_done += steps.step[i].seconds > 0.0;
    }
    if (fill == HX_FILL_TRIPLETS)
        CHECK_MSG(steps.n >= 2 && strcmp(steps.step[0].name, HX_STEP_INTEGRATION) == 0 &&
                      n_done == steps.n && sum <= seconds,
                  "%d steps of triplets, %g s of %g s", steps.n, sum, seconds);
    else if (fill == HX_FILL_GATHER)
        CHECK_MSG(steps.n == 0, "%d steps of gather", steps.n);
}

static void check_steps(const sample *s)
{
    const hx_pattern_spec whole = {.part = HX_PART_FULL};
    const hx_matrix_spec spec = {.format = HX_FORMAT_BSR, .components = s->c};
    const hx_matrix_ops *ops = device.ops->matrix;
    hx_device_pattern pattern;
    hx_matrix m;
    void *state;
    if (!ops->fill_steps) return;
    CHECK_OK(ops->pattern(&device, &s->input.incidence, &whole, &pattern, NULL));
    CHECK_OK(hx_matrix_create(&m, &device, &pattern, &spec));
    for (int fill = 0; fill < HX_N_FILL; fill++) {
        if (!(ops->fills & 1u << fill)) continue;
        CHECK_OK(ops->fill_create(&state, &device, (hx_fill)fill, &m, &s->input));
        check_run_steps(state, (hx_fill)fill);
        ops->fill_free(state);
    }
    hx_matrix_free(&m, &device);
    hx_device_pattern_free(&pattern, &device);
}

static void check_mesh(sample *s, fixture_order order, const char *name)
{
    CHECK_OK(fixture_finish(&s->mesh, order));
    for (int c = 1; c <= 3; c += 2) {
        make_sample(s, c);
        check_formats(s, name);
        check_bits(s, name);
        check_symmetry(s, name);
        check_steps(s);
        free_sample(s);
    }
    hx_mesh_free(&s->mesh);
}

static void test_refusals(void)
{
    hx_fill fill;
    const unsigned has = 1u << HX_FILL_GATHER | 1u << HX_FILL_SORT;
    CHECK_OK(hx_fill_find("sort", has, "cpu", &fill));
    CHECK(fill == HX_FILL_SORT);
    CHECK_FAILS(hx_fill_find("gathr", has, "cpu", &fill), HX_EINPUT, "did you mean 'gather'");
    CHECK_FAILS(hx_fill_find("atomic", has, "cpu", &fill), HX_EINPUT,
                "device 'cpu' does not support fill 'atomic'");
    for (int i = 0; i < HX_N_FILL; i++) CHECK(hx_fill_kinds[i].name && hx_fill_kinds[i].help);
}

int main(int argc, char **argv)
{
    static const fixture_box box = {{5, 3, 3}, {2.0, 1.0, 1.0}, 0.2, 1};
    static const fixture_box small_box = {{3, 2, 2}, {2.0, 1.0, 1.0}, 0.2, 1};
    const int status = fixture_open(&device, argc, argv, &quick);
    sample s = {0};
    if (status != 0) return status;
    fixture_set_threads(1);
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    test_refusals();
    CHECK_OK(fixture_box_create(&s.mesh, quick ? &small_box : &box));
    check_mesh(&s, FIXTURE_SHUFFLED, "shuffled box");
    CHECK_OK(fan_create(&s.mesh, 5, quick ? 1 : 3));
    check_mesh(&s, FIXTURE_SHUFFLED, "fan of 5");
    CHECK_OK(fan_create(&s.mesh, 45, 2));
    check_mesh(&s, FIXTURE_REORDERED, "fan of 45");
    hx_device_close(&device);
    TEST_END();
}
