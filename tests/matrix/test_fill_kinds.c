/* The fills `gather` and `stored` on every kind of cell, linear and quadratic, against B'DB summed
 * here: formats, parts, precisions and ranges of rows of a device. Earlier values have no effect;
 * two runs and any ranges are bitwise equal; on a GPU K of quadratic cells and of tetrahedra is
 * bitwise symmetric.
 *
 *     test_fill_kinds [cpu | cuda] [quick] */
#include "core/mesh/hex8.h"
#include "core/space/space.h"
#include "tests/lib/fan.h"
#include "tests/lib/fill_sample.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

static hx_device device;
static int quick;

/* A mesh, its space on the device, and K with c unknowns per point. */
typedef struct model {
    const char *name;
    hx_mesh mesh;
    hx_space space;
    fill_sample sample;
    int c, is_symmetric; /* bitwise symmetric */
    size_t n_dof;
    double *k, largest; /* [n_dof][n_dof] */
} model;

/* Derivatives of the shape functions by reference coordinates, and the weight, at a Gauss point. */
typedef struct gauss_point {
    double gradient[HX_RULE_POINTS][3], weight;
} gauss_point;

/* Computes the Gauss points of a cell; returns their number. */
static int find_points(const hx_space *space, int64_t cell, gauss_point g[HX_RULE_GAUSS])
{
    if (space->rule) {
        const hx_cell_rule *const rule = &space->rule[space->kind[cell]];
        for (int q = 0; q < rule->n_gauss; q++) {
            g[q].weight = rule->weight[q];
            for (int a = 0; a < rule->n_point; a++)
                for (int d = 0; d < 3; d++) g[q].gradient[a][d] = rule->gradient[q][d][a];
        }
        return rule->n_gauss;
    }
    for (int q = 0; q < 8; q++) {
        g[q].weight = 1.0;
        for (int a = 0; a < 8; a++)
            hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1),
                                       hx_hex8_gauss(q, 2), g[q].gradient[a]);
    }
    return 8;
}

/* grad[a] by x; det: det J. */
static double map_gradients(const hx_space *space, const int32_t *point, int n,
                            const gauss_point *g, double grad[HX_RULE_POINTS][3])
{
    double j[3][3] = {{0}}, inverse[3][3], det = 0.0;
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                j[k][i] += g->gradient[a][k] * space->xyz[3 * (int64_t)point[a] + i];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            inverse[i][k] = j[(k + 1) % 3][(i + 1) % 3] * j[(k + 2) % 3][(i + 2) % 3] -
                            j[(k + 1) % 3][(i + 2) % 3] * j[(k + 2) % 3][(i + 1) % 3];
    for (int i = 0; i < 3; i++) det += j[0][i] * inverse[i][0];
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) {
            grad[a][i] = 0.0;
            for (int k = 0; k < 3; k++) grad[a][i] += inverse[i][k] * g->gradient[a][k] / det;
        }
    return det;
}

/* tile += factor Ba' D Bb in Voigt order xx yy zz xy yz zx. */
static void add_elasticity(double factor, const hx_form *form, const double ga[3],
                           const double gb[3], double *to, size_t stride)
{
    double b[2][6][3] = {{{0}}}, d[6][6] = {{0}};
    for (int which = 0; which < 2; which++) {
        const double *const g = which ? gb : ga;
        for (int i = 0; i < 3; i++) {
            b[which][i][i] = g[i];
            b[which][3 + i][i] = g[(i + 1) % 3];
            b[which][3 + i][(i + 1) % 3] = g[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) d[i][j] = form->lambda;
        d[i][i] += 2.0 * form->mu;
        d[3 + i][3 + i] = form->mu;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int s = 0; s < 6; s++)
                for (int t = 0; t < 6; t++) sum += b[0][s][i] * d[s][t] * b[1][t][j];
            to[(size_t)i * stride + (size_t)j] += factor * sum;
        }
}

static void add_cell(model *m, int64_t cell)
{
    gauss_point g[HX_RULE_GAUSS];
    int n;
    const int32_t *const point = hx_space_points(&m->space, cell, &n);
    const int n_gauss = find_points(&m->space, cell, g);
    for (int q = 0; q < n_gauss; q++) {
        double grad[HX_RULE_POINTS][3];
        const double det = map_gradients(&m->space, point, n, &g[q], grad);
        const double factor = m->sample.modulus[cell] * g[q].weight * det;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                double *const to =
                    m->k + (size_t)(m->c * point[a]) * m->n_dof + (size_t)(m->c * point[b]);
                if (m->c == 3)
                    add_elasticity(factor, &m->sample.input.form, grad[a], grad[b], to, m->n_dof);
                else
                    for (int i = 0; i < 3; i++) to[0] += factor * grad[a][i] * grad[b][i];
            }
    }
}

static void make_dense(model *m)
{
    m->n_dof = (size_t)m->c * (size_t)m->space.n_point;
    m->k = calloc(m->n_dof * m->n_dof, sizeof *m->k);
    m->largest = 0.0;
    if (!m->k) abort();
    for (int64_t e = 0; e < m->mesh.n_elem; e++) add_cell(m, e);
    for (size_t i = 0; i < m->n_dof * m->n_dof; i++) test_worst(&m->largest, fabs(m->k[i]));
}

static void *get(const void *d_from, size_t n, size_t size)
{
    void *const to = malloc(n * size + 1);
    if (!to) abort();
    if (d_from) CHECK_OK(device.ops->download(&device, to, d_from, n * size));
    return to;
}

/* Overwrites every value with NaN, except padding. */
static void poison(const hx_matrix *m)
{
    const size_t n_row = (size_t)m->pattern.n_row, size = m->spec.single ? sizeof(float) : 8;
    const size_t n_slice = (n_row + HX_SLICE - 1) / HX_SLICE;
    const int c = m->spec.components;
    hx_matrix host = *m;
    char *const value = get(m->d_value, (size_t)m->n_value, size);
    host.pattern.d_row_ptr = get(m->pattern.d_row_ptr, n_row + 1, sizeof(int64_t));
    host.d_ptr =
        get(m->spec.format == HX_FORMAT_BSRS ? m->d_ptr : NULL, n_slice + 1, sizeof(int64_t));
    for (int64_t r = 0; r < m->pattern.n_row; r++) {
        const int n = (int)(host.pattern.d_row_ptr[r + 1] - host.pattern.d_row_ptr[r]);
        for (int k = 0; k < n; k++)
            for (int t = 0; t < c * c; t++) {
                const int64_t at = hx_matrix_place(&host, r, n, k, t / c, t % c);
                if (at >= 0 && m->spec.single) ((float *)value)[at] = NAN;
                if (at >= 0 && !m->spec.single) ((double *)value)[at] = NAN;
            }
    }
    CHECK_OK(device.ops->upload(&device, m->d_value, value, (size_t)m->n_value * size));
    CHECK_OK(device.ops->sync(&device));
    free(value);
    free(host.pattern.d_row_ptr);
    free(host.d_ptr);
}

/* Compares rows with K; a lower matrix has no column beyond the row's point. */
static void check_rows(const model *m, const hx_matrix *matrix, const hx_matrix_rows *rows,
                       const char *label)
{
    const int c = m->c, is_lower = matrix->spec.part == HX_PART_LOWER;
    double *const row = malloc(m->n_dof * sizeof *row), worst = 0.0;
    if (!row) abort();
    for (int64_t r = 0; r < rows->n_row; r++)
        for (int i = 0; i < c; i++) {
            const int64_t point = matrix->pattern.row_first + r;
            const double *const k = m->k + (size_t)(c * point + i) * m->n_dof;
            memset(row, 0, m->n_dof * sizeof *row);
            for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
                for (int j = 0; j < c; j++)
                    row[c * rows->col[e] + j] = rows->value[(e * c + i) * c + j];
            for (int64_t j = 0; j < (is_lower ? c * (point + 1) : (int64_t)m->n_dof); j++)
                test_worst(&worst, fabs(row[j] - k[j]) / m->largest);
        }
    CHECK_MSG(worst <= (matrix->spec.single ? 1e-6 : 1e-13), "%s: a value is off by %.3g", label,
              worst);
    free(row);
}

static void check_symmetry(const model *m, const hx_matrix_rows *rows, const char *label)
{
    double *const dense = calloc(m->n_dof * m->n_dof, sizeof *dense);
    const int c = m->c;
    int64_t n_wrong = 0;
    if (!dense) abort();
    for (int64_t r = 0; r < rows->n_row; r++)
        for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
            for (int t = 0; t < c * c; t++)
                dense[(size_t)(c * r + t / c) * m->n_dof + (size_t)(c * rows->col[e] + t % c)] =
                    rows->value[e * c * c + t];
    for (size_t i = 0; i < m->n_dof; i++)
        for (size_t j = 0; j < i; j++)
            n_wrong += !(dense[i * m->n_dof + j] == dense[j * m->n_dof + i]);
    CHECK_MSG(n_wrong == 0, "%s: %lld entries are not symmetric", label, (long long)n_wrong);
    free(dense);
}

/* The matrix over a pattern, filled twice; the caller frees *rows. */
static void check_matrix(const model *m, const hx_device_pattern *pattern,
                         const hx_matrix_spec *spec, hx_fill fill, const char *label,
                         hx_matrix_rows *rows)
{
    const hx_matrix_ops *const ops = device.ops->matrix;
    hx_matrix matrix;
    hx_matrix_rows again;
    void *state;
    CHECK_OK(hx_matrix_create(&matrix, &device, pattern, spec));
    CHECK_OK(ops->fill_create(&state, &device, fill, &matrix, &m->sample.input));
    poison(&matrix);
    CHECK_OK(ops->fill_run(state));
    CHECK_OK(ops->rows(&device, &matrix, 0, pattern->n_row, rows));
    check_rows(m, &matrix, rows, label);
    poison(&matrix);
    CHECK_OK(ops->fill_run(state));
    CHECK_OK(ops->rows(&device, &matrix, 0, pattern->n_row, &again));
    CHECK_MSG(memcmp(rows->value, again.value,
                     (size_t)rows->ptr[rows->n_row] * (size_t)(m->c * m->c) * sizeof(double)) == 0,
              "%s: other bits on the second run", label);
    hx_matrix_rows_free(&again);
    ops->fill_free(state);
    hx_matrix_free(&matrix, &device);
}

/* Some rows are bitwise those of the whole. */
static void check_range(const model *m, const hx_matrix_spec *spec, hx_fill fill, int64_t first,
                        int64_t n_row, const hx_matrix_rows *whole, const char *label)
{
    const hx_pattern_spec some = {.part = spec->part, .row_first = first, .n_row = n_row};
    const size_t block = (size_t)(m->c * m->c) * sizeof(double);
    hx_device_pattern pattern;
    hx_matrix_rows rows;
    CHECK_OK(
        device.ops->matrix->pattern(&device, &m->sample.input.incidence, &some, &pattern, NULL));
    check_matrix(m, &pattern, spec, fill, label, &rows);
    const int64_t n = whole->ptr[first + n_row] - whole->ptr[first];
    CHECK_MSG(rows.ptr[n_row] == n &&
                  memcmp(rows.value, (const char *)whole->value + (size_t)whole->ptr[first] * block,
                         (size_t)n * block) == 0,
              "%s: other bits in rows %lld to %lld", label, (long long)first,
              (long long)(first + n_row - 1));
    hx_matrix_rows_free(&rows);
    hx_device_pattern_free(&pattern, &device);
}

/* The fill `stored` adds each entry once, so its K is symmetric for any cells. */
static void check_fill(const model *m, const hx_device_pattern *pattern, const hx_matrix_spec *spec,
                       hx_fill fill)
{
    const int64_t n = m->space.n_point;
    const int is_cpu = strcmp(device.ops->name, "cpu") == 0;
    hx_matrix_rows rows;
    char label[160];
    snprintf(label, sizeof label, "%s, %d unknowns, %s %s%s, %s", m->name, m->c,
             spec->part ? "lower" : "full", hx_format_name(spec->format),
             spec->single ? " single" : "", hx_fill_kinds[fill].name);
    check_matrix(m, pattern, spec, fill, label, &rows);
    if (!spec->part && (fill == HX_FILL_STORED || (m->is_symmetric && !is_cpu)))
        check_symmetry(m, &rows, label);
    if (spec->format == HX_FORMAT_BSR || !quick) {
        check_range(m, spec, fill, 0, n / 5, &rows, label);
        check_range(m, spec, fill, n / 5, n / 2, &rows, label);
        check_range(m, spec, fill, n - 2, 2, &rows, label);
    }
    hx_matrix_rows_free(&rows);
}

static void check_formats(const model *m, hx_part part)
{
    const hx_matrix_ops *const ops = device.ops->matrix;
    const hx_pattern_spec pattern_spec = {.part = part};
    const unsigned formats = part ? ops->lower_formats : ops->formats;
    hx_device_pattern pattern;
    CHECK_OK(ops->pattern(&device, &m->sample.input.incidence, &pattern_spec, &pattern, NULL));
    for (int format = 0; format < HX_N_FORMAT; format++)
        for (int single = 0; single < 2; single++) {
            const hx_matrix_spec spec = {(hx_format)format, part, single, m->c};
            if (!(formats & 1u << format)) continue;
            if (single && !(ops->single_formats & 1u << format)) continue;
            check_fill(m, &pattern, &spec, HX_FILL_GATHER);
            if (ops->fills & 1u << HX_FILL_STORED) check_fill(m, &pattern, &spec, HX_FILL_STORED);
        }
    hx_device_pattern_free(&pattern, &device);
}

/* Tests a raw mesh, which it frees. */
static void check_mesh(hx_mesh *mesh, hx_element element, int is_symmetric, const char *name)
{
    model m = {.name = name, .is_symmetric = is_symmetric};
    CHECK_OK(hx_mesh_shuffle(mesh, 4));
    CHECK_OK(hx_mesh_finish(mesh));
    m.mesh = *mesh;
    CHECK_OK(hx_space_create(&m.space, &m.mesh, element));
    for (m.c = 1; m.c <= 3; m.c += 2) {
        CHECK_OK(fill_sample_create(&m.sample, &device, &m.space, m.c));
        make_dense(&m);
        for (int part = 0; part < 2; part++) check_formats(&m, (hx_part)part);
        free(m.k);
        fill_sample_free(&m.sample);
    }
    hx_space_free(&m.space);
    hx_mesh_free(&m.mesh);
}

static void check_kind(mixed_kind kind, hx_element element)
{
    const int is_tetrahedra = kind == MIXED_TETRAHEDRA || kind == MIXED_TETRAHEDRA_5;
    const int is_symmetric = element == HX_ELEMENT_QUADRATIC || is_tetrahedra;
    const mixed_box box = {kind, {2, 2, kind == MIXED_LAYERS ? 5 : 2}, {0}, 0.15, 3};
    char name[64];
    hx_mesh mesh;
    snprintf(name, sizeof name, "%s %s", hx_element_name(element), mixed_name[kind]);
    CHECK_OK(mixed_create(&mesh, &box));
    mixed_turn(&mesh, 7);
    check_mesh(&mesh, element, is_symmetric, name);
}

/* Rows with very many cells. */
static void check_fans(void)
{
    hx_mesh mesh;
    CHECK_OK(fan_create(&mesh, quick ? 20 : 70, 1));
    check_mesh(&mesh, HX_ELEMENT_QUADRATIC, 1, "fan of hex20");
    CHECK_OK(fan_create_tetrahedra(&mesh, quick ? 40 : 200));
    check_mesh(&mesh, HX_ELEMENT_QUADRATIC, 1, "fan of tet10");
    CHECK_OK(fan_create_tetrahedra(&mesh, quick ? 40 : 600));
    check_mesh(&mesh, HX_ELEMENT_LINEAR, 1, "fan of tetrahedra");
}

int main(int argc, char **argv)
{
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        check_kind((mixed_kind)kind, HX_ELEMENT_QUADRATIC);
        if (kind != MIXED_HEXAHEDRA) check_kind((mixed_kind)kind, HX_ELEMENT_LINEAR);
    }
    check_fans();
    hx_device_close(&device);
    TEST_END();
}
