/* Element fields on the device to test and on the CPU with one thread, with comparisons of both. */
#ifndef HX_TEST_DESIGN_FIELDS_H
#define HX_TEST_DESIGN_FIELDS_H

#include "fixture.h"

static hx_device device, cpu;

enum { N_FIELD = 7 };
enum { RHO, DC, VOLUME, PASSIVE, ENERGY, MODULUS, OUT };

typedef struct fields {
    size_t n;
    double *host[N_FIELD], *d[N_FIELD], *c[N_FIELD]; /* c: on the CPU device */
    double *found;
} fields;

static void fill(fields *f, size_t n, const double *volume)
{
    uint64_t seed = 5;
    f->n = n;
    f->found = malloc(n * sizeof *f->found);
    for (int i = 0; i < N_FIELD; i++) f->host[i] = malloc(n * sizeof *f->host[i]);
    for (size_t e = 0; e < n; e++) {
        f->host[RHO][e] = fixture_uniform(&seed, 0.01, 1.0);
        f->host[DC][e] = -pow(10.0, fixture_uniform(&seed, -4.0, 0.0));
        f->host[VOLUME][e] = volume ? volume[e] : fixture_uniform(&seed, 0.5, 1.5);
        f->host[PASSIVE][e] = e % 11 == 3 ? f->host[RHO][e] : NAN;
        f->host[ENERGY][e] = fixture_uniform(&seed, 0.0, 3.0);
        f->host[MODULUS][e] = f->host[OUT][e] = 0.0;
    }
    for (int i = 0; i < N_FIELD; i++) {
        f->d[i] = fixture_put(&device, n, f->host[i]);
        f->c[i] = fixture_put(&cpu, n, f->host[i]);
    }
}

static void release(fields *f)
{
    for (int i = 0; i < N_FIELD; i++) {
        device.ops->release(&device, f->d[i]);
        cpu.ops->release(&cpu, f->c[i]);
        free(f->host[i]);
    }
    free(f->found);
}

static int is_free(const fields *f, int passive, size_t e)
{
    return !passive || isnan(f->host[PASSIVE][e]);
}

static int same_device(void)
{
    return device.ops == cpu.ops;
}

static void check_value(double found, double want, double tolerance, const char *what)
{
    if (same_device())
        CHECK_MSG(memcmp(&found, &want, sizeof found) == 0, "%s: %.17g, not %.17g", what, found,
                  want);
    else
        CHECK_MSG(fabs(found - want) <= tolerance * fabs(want), "%s: %.17g, not %.17g", what, found,
                  want);
}

/* Compares every entry of field i on both devices; the CPU's is copied to the host's. */
static void check_field(fields *f, int i, double tolerance, const char *what)
{
    double error = 0.0;
    fixture_get(&device, f->n, f->found, f->d[i]);
    fixture_get(&cpu, f->n, f->host[i], f->c[i]);
    for (size_t e = 0; e < f->n; e++) {
        const double off = fabs(f->found[e] - f->host[i][e]);
        test_worst(&error, off == 0.0 ? 0.0 : off / fabs(f->host[i][e]));
    }
    CHECK_MSG(error <= (same_device() ? 0.0 : tolerance), "%s, n = %zu: off by %.3g", what, f->n,
              error);
}

/* The mean of the positive derivatives among derivatives of both signs. */
static void check_positive(fields *f)
{
    const int64_t n = (int64_t)f->n;
    double mean[2], sum[2], dc = 0.0, dv = 0.0;
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        CHECK_OK(dev->ops->copy(dev, x[MODULUS], x[ENERGY], f->n * sizeof(double)));
        CHECK_OK(dev->ops->vector->axpy(dev, n, -1.3, x[VOLUME], x[MODULUS]));
        CHECK_OK(dev->ops->design->sum_positive(dev, n, x[MODULUS], x[VOLUME], x[PASSIVE], sum));
        mean[k] = sum[0] / sum[1];
    }
    check_value(mean[0], mean[1], 1e-14, "mean of the positive");
    for (size_t e = 0; e < f->n; e++) {
        if (!isnan(f->host[PASSIVE][e])) continue;
        dc += fmax(0.0, f->host[ENERGY][e] - 1.3 * f->host[VOLUME][e]);
        dv += f->host[VOLUME][e];
    }
    CHECK_REL(mean[1], dc / dv, 1e-12);
}

/* Compares the device's sums with a plain loop, relative to the sum of the terms' magnitudes. */
static void check_sums(const fields *f, const double *sum, double mass, double grey, int passive)
{
    double all = 0.0, size = 0.0, v_rho = 0.0, v_grey = 0.0;
    for (size_t e = 0; e < f->n; e++) {
        const double rho = f->host[RHO][e], v = f->host[VOLUME][e];
        all += f->host[OUT][e];
        size += fabs(f->host[OUT][e]);
        v_rho += v * rho;
        if (is_free(f, passive, e)) v_grey += v * rho * (1.0 - rho);
    }
    if (sum) CHECK_ABS(*sum, all, 1e-12 * size);
    CHECK_REL(mass, v_rho, 1e-12);
    CHECK_REL(grey, v_grey, 1e-12);
}

#endif
