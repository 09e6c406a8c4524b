/* Cone sums of a device against their formula and against those of the CPU. */
#ifndef HX_TEST_CONE_CHECK_H
#define HX_TEST_CONE_CHECK_H

#include "core/design/bins.h"
#include "design_fields.h"

/* sum_i max(0, radius - |x_e - x_i|) a_i over all elements, for every seventh e, with x the means
 * of the corners. */
static void check_cone_formula(const fields *f, const hx_mesh *mesh, double radius, const double *a,
                               int i, const char *what)
{
    double(*const x)[3] = calloc(f->n, sizeof *x), error = 0.0;
    fixture_get(&device, f->n, f->found, f->d[i]);
    for (size_t m = 0; m < 24 * f->n; m++)
        x[m / 24][m % 3] += 0.125 * mesh->xyz[3 * (int64_t)mesh->conn[m / 3] + (int64_t)(m % 3)];
    for (size_t e = 0; e < f->n; e += 7) {
        double sum = 0.0;
        for (size_t j = 0; j < f->n; j++) {
            const double d[3] = {x[e][0] - x[j][0], x[e][1] - x[j][1], x[e][2] - x[j][2]};
            sum += fmax(0.0, radius - sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])) * a[j];
        }
        test_worst(&error, fabs(f->found[e] / sum - 1.0));
    }
    CHECK_MSG(error <= 1e-11, "%s, radius %g: off the formula by %.3g", what, radius, error);
    free(x);
}

static void check_cone(fields *f, const hx_mesh *mesh, double radius)
{
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        hx_device_bins cells;
        hx_voxels made = {{0}};
        if (k == 0) { /* the other call makes its own */
            CHECK_OK(hx_voxels_create(&made, mesh, radius));
            CHECK(hx_voxels_taken(&made) == hx_voxels_bytes(mesh, radius));
        }
        CHECK_OK(hx_device_bins_create(&cells, dev, mesh, radius, 2, &made));
        CHECK(made.n[0] == 0 && !made.elem && !made.width && !made.weight);
        fixture_set_threads(k == 0 ? 2 : 1);
        const double *const value[2] = {x[DC], x[RHO]}, *const out = x[OUT];
        CHECK_OK(dev->ops->design->cone_sum(dev, &cells, radius, 2, value,
                                            (double *[2]){x[OUT], x[ENERGY]}));
        CHECK_OK(dev->ops->copy(dev, x[MODULUS], x[OUT], f->n * sizeof(double)));
        CHECK_OK(dev->ops->design->cone_sum(dev, &cells, radius, 1, &out, &x[OUT])); /* in place */
        hx_device_bins_free(&cells, dev);
        hx_device_bins_free(&cells, dev);
    }
    check_field(f, MODULUS, 1e-12, "cone sum");
    check_field(f, ENERGY, 1e-12, "cone sum of a second field");
    check_field(f, OUT, 1e-12, "cone sum of a cone sum");
    check_cone_formula(f, mesh, radius, f->host[DC], MODULUS, "cone sum");
    check_cone_formula(f, mesh, radius, f->host[RHO], ENERGY, "cone sum of a second field");
    check_cone_formula(f, mesh, radius, f->host[MODULUS], OUT, "cone sum of a cone sum");
}

static int n_rounded; /* sums whose single-precision weights make a difference */

/* Contribution of a centroid's neighbours to the bound: their |a|. */
static double sum_near(const fields *f, const double *x, size_t e, double radius)
{
    double sum = 0.0;
    for (size_t j = 0; j < f->n; j++) {
        const double *const a = x + 3 * e, *const b = x + 3 * j,
                            d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < 1.00001 * radius * radius)
            sum += fabs(f->host[DC][j]);
    }
    return sum;
}

/* An element's own contribution with single-precision weights is bitwise the same wherever it lies,
 * so that subdomains give the same results as the whole mesh. */
static void check_own(const fields *f, const hx_device_bins *cells, double radius)
{
    /* if all weights are double, three elements suffice */
    const size_t n_sample = device.ops->design->cone_rounding > 0.0 ? 30 : 3;
    double *const one = calloc(f->n, sizeof *one), first = 0.0;
    for (size_t k = 0; k < n_sample; k++) {
        const size_t e = k * (f->n - 1) / (n_sample - 1);
        one[e] = 1.0;
        double *const d_one = fixture_put(&device, f->n, one);
        const double *const value = d_one;
        CHECK_OK(device.ops->design->cone_sum(&device, cells, radius, 1, &value, &f->d[OUT]));
        fixture_get(&device, f->n, f->found, f->d[OUT]);
        device.ops->release(&device, d_one);
        one[e] = 0.0;
        if (k == 0) first = f->found[e];
        CHECK_MSG(f->found[e] == first, "radius %g: own weights differ by %.3g of it", radius,
                  (f->found[e] - first) / radius);
    }
    CHECK_REL(first, radius, device.ops->design->cone_rounding);
    free(one);
}

/* Single-precision weights: within cone_rounding of the radius of the double-precision ones (for
 * voxels equal to them), for every seventh element; symmetric up to rounding, and bitwise
 * reproducible. */
static void check_single(fields *f, const hx_mesh *mesh, double radius)
{
    const size_t bytes = f->n * sizeof(double);
    double *const x = malloc(3 * bytes), *const exact = malloc(bytes), *const again = malloc(bytes),
                  forth = 0.0, back = 0.0, error = 0.0;
    const double *const dc = f->d[DC], *const rho = f->d[RHO];
    hx_device_bins cells;
    CHECK_OK(hx_device_bins_create(&cells, &device, mesh, radius, 1, NULL));
    CHECK(!cells.single);
    CHECK_OK(device.ops->design->cone_sum(&device, &cells, radius, 1, &dc, &f->d[OUT]));
    fixture_get(&device, f->n, exact, f->d[OUT]);
    cells.single = 1;
    check_own(f, &cells, radius);
    CHECK_OK(device.ops->design->cone_sum(&device, &cells, radius, 1, &rho, &f->d[OUT]));
    fixture_get(&device, f->n, f->found, f->d[OUT]);
    for (size_t e = 0; e < f->n; e++) forth += f->found[e] * f->host[DC][e];
    for (int repeat = 0; repeat < 2; repeat++) {
        CHECK_OK(device.ops->design->cone_sum(&device, &cells, radius, 1, &dc, &f->d[OUT]));
        fixture_get(&device, f->n, repeat == 0 ? f->found : again, f->d[OUT]);
    }
    CHECK(memcmp(f->found, again, bytes) == 0);
    const double most = cells.voxels.n[0] > 0 ? 0.0 : device.ops->design->cone_rounding;
    hx_device_bins_free(&cells, &device);
    for (size_t e = 0; e < f->n; e++) {
        hx_mesh_centroid(mesh, (int64_t)e, x + 3 * e);
        back += f->found[e] * f->host[RHO][e];
        n_rounded += f->found[e] != exact[e];
    }
    for (size_t e = 0; e < f->n; e += 7)
        test_worst(&error, fabs(f->found[e] - exact[e]) / (radius * sum_near(f, x, e, radius)));
    CHECK_MSG(error <= most, "radius %g: single weights are off by %.3g", radius, error);
    CHECK_REL(forth, back, 1e-12);
    free(x);
    free(exact);
    free(again);
}

#endif
