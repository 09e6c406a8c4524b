/* hextop selftest: what this build computes on a device of this machine, against references that
 * are computed otherwise. A check is a function of the parts that it judges, so that a test can
 * hand it a wrong one. Nothing is printed here. */
#ifndef HX_SELFTEST_H
#define HX_SELFTEST_H

#include <math.h>

#include "core/registry.h"

/* What is judged. All lists end with NULL and are borrowed. */
typedef struct hx_selftest_parts {
    const hx_device_ops *device;
    const hx_strategy *const *strategies; /* those of other devices are passed over */
    const hx_precond_kind *const *preconds;
    const hx_filter_kind *const *filters;
} hx_selftest_parts;

/* All of this build. */
hx_selftest_parts hx_selftest_all(const hx_device_ops *device);

typedef struct hx_selftest_line {
    const char *device, *section; /* constants */
    char what[64];
    char against[80];
    double error, bound; /* passed: error <= bound, both finite. Of bits: how many numbers differ */
    double seconds;
    int passed;
    char note[256]; /* "12 iterations", or why it failed; "": nothing to say */
} hx_selftest_line;

typedef struct hx_selftest {
    hx_selftest_parts parts;
    hx_device device; /* zeroed outside of hx_selftest_run */
    /* Before and after each check; may be NULL. */
    void (*begin)(void *context, const char *section, const char *what);
    void (*end)(void *context, const hx_selftest_line *line);
    void *context;
    const char *only; /* this section of hx_selftest_run alone; NULL: all */

    const char *section;
    hx_selftest_line line; /* under way */
    double begun;
    size_t n, capacity, n_failed;
    hx_selftest_line *lines; /* [n] of the devices so far, in order (owned) */
    char folder[256];        /* for files of the checks; "": none yet */
} hx_selftest;

/* All sections of a device, which is opened and closed. What goes wrong is a failed line, not an
 * error. HX_ENOMEM: no room for lines. */
int hx_selftest_run(hx_selftest *t, const hx_selftest_parts *parts);
/* Of the host alone: files and surfaces. */
int hx_selftest_run_host(hx_selftest *t);
/* Patterns in so many bytes of its memory, for those who ask. */
int hx_selftest_run_memory(hx_selftest *t, const hx_selftest_parts *parts, double bytes);
/* Removes its files. Accepts a zeroed struct. */
void hx_selftest_free(hx_selftest *t);

/* --- for the checks --- */

/* Every check is between these two; rc: an error code is a failed line with its message. */
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

/* The operator that other sections work with: exact and deterministic, of that many unknowns and
 * this element; NULL: the device has none. */
const hx_strategy *hx_selftest_strategy(const hx_selftest *t, int components, hx_element element);

/* Keeps the largest; NaN or infinity once, NaN for good. */
static inline void hx_selftest_worst(double *worst, double d)
{
    if (!isfinite(*worst) || !isfinite(d))
        *worst = NAN;
    else if (d > *worst)
        *worst = d;
}

/* |a - b| / |b|, or |a - b| where b is 0. */
double hx_selftest_difference(int64_t n, const double *a, const double *b);
/* How many of n numbers have other bits, or are none. */
double hx_selftest_other_bits(int64_t n, const double *a, const double *b);
double hx_selftest_dot(int64_t n, const double *a, const double *b);

/* n doubles on the device, all NaN: the caller's to release. */
int hx_selftest_poisoned(hx_device *dev, int64_t n, double **d_out);

#endif
