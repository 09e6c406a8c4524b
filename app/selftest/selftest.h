/* hextop selftest: results of this build on a device of this machine, compared with references that
 * are computed independently. A check is a function of the parts that it judges, so that a test can
 * pass a wrong one. Nothing is printed here. */
#ifndef HX_SELFTEST_H
#define HX_SELFTEST_H

#include <math.h>

#include "core/registry.h"

/* The parts that are checked. All lists end with NULL and are borrowed. */
typedef struct hx_selftest_parts {
    const hx_device_ops *device;
    const hx_operator_kind *const *op_kinds; /* operators of other devices are skipped */
    const hx_precond_kind *const *preconds;
    const hx_filter_kind *const *filters;
} hx_selftest_parts;

/* All parts of this build. */
hx_selftest_parts hx_selftest_all(const hx_device_ops *device);

typedef struct hx_selftest_line {
    const char *device, *section; /* constants */
    char what[64];
    char against[80];
    /* passed if error <= bound, both finite. For bits: the number of differing values */
    double error, bound;
    double seconds;
    int passed;
    char note[256]; /* "12 iterations", or the reason of the failure; "" */
} hx_selftest_line;

typedef struct hx_selftest {
    hx_selftest_parts parts;
    hx_device device; /* zeroed outside of hx_selftest_run */
    /* Called before and after each check; may be NULL. */
    void (*begin)(void *context, const char *section, const char *what);
    void (*end)(void *context, const hx_selftest_line *line);
    void *context;
    const char *only; /* only this section in hx_selftest_run; NULL: all */

    const char *section;
    hx_selftest_line line; /* the current check */
    double begun;
    size_t n, capacity, n_failed;
    hx_selftest_line *lines; /* [n] over all devices so far, in order (owned) */
    char folder[256];        /* for files of the checks; "": not made yet */
} hx_selftest;

/* Runs all sections on a device, which is opened and closed. A failure is a failed line, not an
 * error. HX_ENOMEM: no memory for lines. */
int hx_selftest_run(hx_selftest *t, const hx_selftest_parts *parts);
/* Checks that need only the host: files and surfaces. */
int hx_selftest_run_host(hx_selftest *t);
/* Tests that many bytes of the device's memory with patterns; only on request. */
int hx_selftest_run_memory(hx_selftest *t, const hx_selftest_parts *parts, double bytes);
/* Removes its files. Accepts a zeroed struct. */
void hx_selftest_free(hx_selftest *t);

/* --- for the checks --- */

/* Begin and end each check; rc: an error code makes a failed line with its message. */
void hx_selftest_begin(hx_selftest *t, const char *fmt, ...) HX_PRINTF(2, 3);
void hx_selftest_note(hx_selftest *t, const char *fmt, ...) HX_PRINTF(2, 3);
int hx_selftest_end(hx_selftest *t, int rc, double error, double bound, const char *against);

/* A path in the folder of the checks, which is made in TMPDIR or /tmp. HX_EIO. */
int hx_selftest_path(hx_selftest *t, const char *name, char *path, size_t n_path);

/* The sections. */
int hx_selftest_elements(hx_selftest *t);
int hx_selftest_operators(hx_selftest *t);
int hx_selftest_matrices(hx_selftest *t);
int hx_selftest_solvers(hx_selftest *t);
int hx_selftest_filters(hx_selftest *t);
int hx_selftest_sensitivities(hx_selftest *t);
int hx_selftest_design(hx_selftest *t);

/* The operator used by other sections: exact and deterministic, with that many unknowns per point
 * and this element; NULL: the device has none. */
const hx_operator_kind *hx_selftest_operator(const hx_selftest *t, int components,
                                             hx_element element);

/* Keeps the largest value; NaN or infinity sets it to NaN permanently. */
static inline void hx_selftest_worst(double *worst, double d)
{
    if (!isfinite(*worst) || !isfinite(d))
        *worst = NAN;
    else if (d > *worst)
        *worst = d;
}

/* |a - b| / |b|, or |a - b| if b is 0. */
double hx_selftest_difference(int64_t n, const double *a, const double *b);
/* Number of the n values that have other bits, or are NaN. */
double hx_selftest_other_bits(int64_t n, const double *a, const double *b);
double hx_selftest_dot(int64_t n, const double *a, const double *b);

/* Allocates n doubles on the device, all NaN; the caller releases them. */
int hx_selftest_poisoned(hx_device *dev, int64_t n, double **d_out);

#endif
