/* Times K of a file's splines: the fill `gather`, and the product.
 *
 *     splinebench cpu|cuda FILE DEGREE A B C [MB ...]
 *
 * DEGREE and A B C like mesh.degree and mesh.refine (0: unchanged). MB: budgets of the buffer for
 * lines of cells in which a GPU fills, instead of its own choice; the values are compared with
 * those of the first budget. Prints medians and quartiles of the device time. */
#include <stdio.h>

#include "core/base/quantile.h"
#include "core/files/mesh_files.h"
#include "core/registry.h"
#include "core/space/space.h"
#include "tests/lib/fill_sample.h"

enum { N_WARM = 3, N_RUN = 21 };

typedef struct bench {
    hx_device dev;
    hx_spline spline;
    hx_mesh mesh;
    hx_space space;
    fill_sample sample;
    hx_device_pattern pattern;
    hx_matrix matrix;
    double *d_x, *d_y;
    void *fill;
    hx_matrix_rows first; /* rows of the first budget */
} bench;

static int product(bench *b)
{
    return b->dev.ops->matrix->multiply(&b->dev, &b->matrix, b->d_x, b->d_y);
}

static int run_fill(bench *b)
{
    return b->dev.ops->matrix->fill_run(b->fill);
}

/* Quartiles of the time of `work`, in seconds. */
static int measure(bench *b, int (*work)(bench *), double q[3])
{
    double seconds[N_RUN];
    const hx_device_ops *const ops = b->dev.ops;
    for (int i = -N_WARM; i < N_RUN; i++) {
        HX_TRY(ops->mark(&b->dev, 0));
        HX_TRY(work(b));
        HX_TRY(ops->mark(&b->dev, 1));
        HX_TRY(ops->sync(&b->dev));
        if (i >= 0) HX_TRY(ops->elapsed(&b->dev, 0, 1, &seconds[i]));
    }
    hx_sort_values(seconds, N_RUN);
    for (int i = 0; i < 3; i++) q[i] = hx_quantile(seconds, N_RUN, 0.25 * (i + 1));
    return HX_OK;
}

/* Sets *is_same to 1 if K is bitwise that of the first budget, which the first call stores. */
static int compare(bench *b, int *is_same)
{
    hx_matrix_rows rows = {0};
    const int64_t n = b->pattern.n_row, c = b->matrix.spec.components;
    *is_same = 1;
    if (b->first.n_row == 0) return b->dev.ops->matrix->rows(&b->dev, &b->matrix, 0, n, &b->first);
    HX_TRY(b->dev.ops->matrix->rows(&b->dev, &b->matrix, 0, n, &rows));
    const size_t bytes = (size_t)(rows.ptr[n] * c * c) * sizeof *rows.value;
    *is_same = memcmp(rows.value, b->first.value, bytes) == 0;
    hx_matrix_rows_free(&rows);
    return HX_OK;
}

static int run_budget(bench *b, size_t bytes)
{
    const hx_matrix_ops *const ops = b->dev.ops->matrix;
    double q[3];
    int is_same = 0;
    b->sample.input.buffer = bytes;
    int rc = ops->fill_create(&b->fill, &b->dev, HX_FILL_GATHER, &b->matrix, &b->sample.input);
    if (rc == HX_OK) rc = measure(b, run_fill, q);
    if (rc == HX_OK) rc = compare(b, &is_same);
    if (rc == HX_OK)
        printf("  fill    %9.4f ms  (%.4f to %.4f)  keeps %.1f MB, asked for %.0f%s\n", 1e3 * q[1],
               1e3 * q[0], 1e3 * q[2], 1e-6 * (double)ops->fill_bytes(b->fill),
               1e-6 * (double)bytes, is_same ? "" : "  OTHER BITS");
    ops->fill_free(b->fill);
    b->fill = NULL;
    return rc;
}

static int run_part(bench *b, hx_part part, int n_budget, char **budget)
{
    const hx_matrix_ops *const ops = b->dev.ops->matrix;
    const hx_pattern_spec pattern = {.part = part};
    const hx_matrix_spec spec = {HX_FORMAT_BSR, part, 0, 3};
    double q[3];
    HX_TRY(ops->pattern(&b->dev, &b->sample.input.incidence, &pattern, &b->pattern, NULL));
    HX_TRY(hx_matrix_create(&b->matrix, &b->dev, &b->pattern, &spec));
    printf("bsr %s: %.1f MB\n", part ? "lower" : "full",
           1e-6 * (double)(hx_device_pattern_bytes(&b->pattern) +
                           hx_matrix_bytes(&b->matrix, &b->dev)));
    HX_TRY(run_budget(b, 0));
    for (int i = 0; i < n_budget; i++) HX_TRY(run_budget(b, (size_t)(1e6 * atof(budget[i]))));
    HX_TRY(measure(b, product, q));
    printf("  product %9.4f ms  (%.4f to %.4f)\n", 1e3 * q[1], 1e3 * q[0], 1e3 * q[2]);
    return HX_OK;
}

static void free_part(bench *b)
{
    hx_matrix_rows_free(&b->first);
    hx_matrix_free(&b->matrix, &b->dev);
    hx_device_pattern_free(&b->pattern, &b->dev);
    b->first = (hx_matrix_rows){0};
}

static int make_vectors(bench *b)
{
    const size_t n = 3 * (size_t)b->space.n_point;
    double *x = NULL;
    HX_TRY(hx_alloc(&x, n, sizeof *x, "a vector"));
    for (size_t i = 0; i < n; i++) x[i] = 1.0 / (double)(i + 1);
    int rc = hx_device_put(&b->dev, &b->d_x, x, n * sizeof *x);
    if (rc == HX_OK) rc = b->dev.ops->alloc(&b->dev, n * sizeof *x, &b->d_y);
    free(x);
    return rc;
}

static int make(bench *b, char **argv)
{
    const hx_device_ops *const ops = hx_device_find(argv[1]);
    hx_spline_options options = {.degree = atoi(argv[3])};
    hx_notes notes = {0};
    int part[3];
    if (!ops) return HX_RAISE(HX_EINPUT, "no device '%s'", argv[1]);
    if (!ops->matrix || !ops->matrix->splines)
        return HX_RAISE(HX_EINPUT, "device '%s' fills no matrices of splines", argv[1]);
    for (int d = 0; d < 3; d++) part[d] = atoi(argv[4 + d]) > 0 ? atoi(argv[4 + d]) : 1;
    options.part = part;
    options.n_part = 3;
    HX_TRY(hx_device_open(&b->dev, ops));
    const int rc = hx_mesh_read_spline(argv[2], &options, &b->spline, &b->mesh, &notes);
    hx_notes_free(&notes);
    HX_TRY(rc);
    HX_TRY(hx_mesh_finish(&b->mesh));
    HX_TRY(hx_space_create_spline(&b->space, &b->mesh, &b->spline));
    HX_TRY(fill_sample_create(&b->sample, &b->dev, &b->space, 3));
    return make_vectors(b);
}

static void free_bench(bench *b)
{
    free_part(b);
    if (b->dev.ops) {
        b->dev.ops->release(&b->dev, b->d_x);
        b->dev.ops->release(&b->dev, b->d_y);
        fill_sample_free(&b->sample);
    }
    hx_space_free(&b->space);
    hx_mesh_free(&b->mesh);
    hx_spline_free(&b->spline);
    hx_device_close(&b->dev);
}

static int run(bench *b, int argc, char **argv)
{
    HX_TRY(make(b, argv));
    printf("%s: %s, %lld spans, %lld points\n", b->dev.description, argv[2],
           (long long)b->mesh.n_elem, (long long)b->space.n_point);
    HX_TRY(run_part(b, HX_PART_FULL, argc - 7, argv + 7));
    free_part(b);
    return run_part(b, HX_PART_LOWER, argc - 7, argv + 7);
}

int main(int argc, char **argv)
{
    static bench b; /* its parts refer to each other */
    if (argc < 7) {
        fprintf(stderr, "usage: splinebench cpu|cuda FILE DEGREE A B C [MB ...]\n");
        return 2;
    }
    const int rc = run(&b, argc, argv);
    if (rc < 0) fprintf(stderr, "splinebench: %s\n", hx_error_message());
    free_bench(&b);
    return rc < 0 ? 1 : 0;
}
