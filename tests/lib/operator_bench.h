/* The time of a product by every operator and layout of a device, as a table. */
#ifndef HX_TEST_OPERATOR_BENCH_H
#define HX_TEST_OPERATOR_BENCH_H

#include <stdio.h>

#include "tests/lib/operator_model.h"

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { N_REPEAT = 21 };

/* Seconds of single products, sorted. */
static inline int time_products(hx_operator *op, vectors *v, double seconds[N_REPEAT])
{
    const hx_device_ops *ops = op->dev->ops;
    for (int i = 0; i < 3; i++) HX_TRY(hx_operator_apply(op, v->d_x, v->d_y));
    for (int i = 0; i < N_REPEAT; i++) {
        HX_TRY(ops->mark(op->dev, 0));
        HX_TRY(op->op_kind->apply(op->state, v->d_x, v->d_y));
        HX_TRY(ops->mark(op->dev, 1));
        HX_TRY(ops->sync(op->dev));
        HX_TRY(ops->elapsed(op->dev, 0, 1, &seconds[i]));
    }
    qsort(seconds, N_REPEAT, sizeof *seconds, by_value);
    return HX_OK;
}

/* Table of the time per product, including zeroing of the output. Bytes: the stored Ke,
 * connectivity and modulus of each element; x and y are read, and y is written, once. */
static inline int bench_device(hx_device *dev, int nx, int ny, int nz, int kind)
{
    const hx_generate_params params = {.nx = nx, .ny = ny, .nz = nz};
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {nx, ny, nz}, .distort = 0.1, .seed = 5};
    model m;
    vectors v;
    double bandwidth, reference = 0.0;
    CHECK_OK(kind == MIXED_HEXAHEDRA ? make_model(&m, "cantilever", &params, 0.3, 0, AS_IT_IS)
                                     : make_mixed_model(&m, &box, 0));
    CHECK_OK(make_vectors(&v, dev, &m.mesh));
    for (int64_t i = 0; i < v.n_dof; i++) v.x[i] = uniform(-1.0, 1.0);
    CHECK_OK(dev->ops->upload(dev, v.d_x, v.x, (size_t)v.n_dof * sizeof(double)));
    CHECK_OK(dev->ops->copy_bandwidth(dev, &bandwidth));
    printf("%s: box %d x %d x %d, %lld elements, copy bandwidth %.0f GB/s\n", dev->description, nx,
           ny, nz, (long long)m.mesh.n_elem, bandwidth * 1e-9);
    printf("%-8s %-12s %10s %10s %10s %10s %8s %8s %9s\n", "operator", "layout", "median ms",
           "min ms", "max ms", "Gel/s", "GB/s", "of copy", "speedup");
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, dev->ops->name) != 0) continue;
        for (int layout = 0; layout < HX_N_LAYOUT; layout++) {
            hx_operator op;
            double seconds[N_REPEAT];
            if (!(op_kind->layouts & HX_LAYOUT_BIT(layout))) continue;
            CHECK_OK(hx_operator_create(&op, dev, op_kind, (hx_layout)layout, &m.problem, 0));
            CHECK_OK(hx_operator_set_modulus(&op, v.modulus));
            CHECK_OK(time_products(&op, &v, seconds));
            const double median = seconds[N_REPEAT / 2];
            const double bytes =
                (double)m.mesh.n_elem * (op_kind->bytes_per_elem + 40.0) + (double)v.n_dof * 16.0;
            if (strcmp(op_kind->name, "ebe") == 0 && layout == HX_LAYOUT_ROWMAJOR)
                reference = median;
            printf("%-8s %-12s %10.3f %10.3f %10.3f %10.3f %8.0f %7.0f%% ", op_kind->name,
                   hx_layout_name((hx_layout)layout), 1e3 * median, 1e3 * seconds[0],
                   1e3 * seconds[N_REPEAT - 1], (double)m.mesh.n_elem / median * 1e-9,
                   bytes / median * 1e-9, 100.0 * bytes / median / bandwidth);
            if (reference > 0.0)
                printf("%8.2fx\n", reference / median);
            else
                printf("%9s\n", "-");
            hx_operator_free(&op);
        }
    }
    printf("speedup: over ebe rowmajor, in this run\n");
    free_vectors(&v, dev);
    free_model(&m);
    TEST_END();
}

#endif
