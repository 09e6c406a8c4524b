/* Times of patterns, fills and products on a device: for `hextop matrix --bench all` and for the
 * tables of papers in tests/bench. Uses only hx_matrix_ops, so that any device can be measured. */
#ifndef HX_MATRIX_BENCH_H
#define HX_MATRIX_BENCH_H

#include "../text/table.h"
#include "core/matrix/matrix.h"
#include "core/problem/problem.h"
#include "matrix_meter.h"

/* State of a benchmark. */
typedef struct hx_bench {
    hx_device *dev; /* (borrowed) */
    double copy;    /* bytes/s of a copy; NaN: there was no memory for it */
    /* number of products compared with a reference, in double and in single precision */
    int n_checked[2];
    /* number of results that are wrong, or that differ although their bits should be the same */
    int n_wrong;
    double worst[2]; /* largest error of these products; a NaN is kept */
} hx_bench;

/* Measures the copy bandwidth, and prints device and bandwidth. HX_EINPUT: the device does not
 * support matrices. */
int hx_bench_begin(hx_bench *bench);
/* Returns 1, with a warning, if a result is wrong, else 0. */
int hx_bench_verdict(const hx_bench *bench);

/* Median and middle half of n measurements, in seconds; n = 0: NaN, nothing was measured. */
typedef struct hx_bench_time {
    int n;
    double median, lower, upper;
} hx_bench_time;
extern const hx_bench_time hx_bench_no_time;

enum { HX_BENCH_N_ARRAY = 12 };

/* A space on a device, with moduli: the input of patterns and fills. */
typedef struct hx_bench_site {
    hx_device *dev;         /* (borrowed) */
    hx_matrix_meter *meter; /* of the open device (borrowed); NULL: none is open */
    int64_t n_elem;         /* cells */
    hx_fill_input input;    /* has the places of points, and the quadrature rule of the space */
    hx_spline_rule spline;  /* rule of `input` for a spline; its arrays are on the device */
    void *d_own[HX_BENCH_N_ARRAY]; /* (owned) */
} hx_bench_site;

/* modulus: NULL for 1 everywhere. The site borrows the space and must not move. The caller closes
 * it, even after a failure. */
int hx_bench_site_open(hx_bench_site *site, hx_device *dev, const hx_space *space, hx_form form,
                       const double *modulus);
/* Accepts a zeroed struct. */
void hx_bench_site_close(hx_bench_site *site);

/* A pattern, and the times of building it. */
typedef struct hx_bench_pattern {
    hx_device *dev;            /* (borrowed) */
    hx_device_pattern pattern; /* (owned) */
    hx_steps steps;            /* medians */
    double in_steps;           /* their sum */
    hx_bench_time call;        /* wall time of the whole call, including allocation */
} hx_bench_pattern;

/* places = 1: the places of points are given, as for a mesh; otherwise the build counts them. The
 * caller frees p, even after a failure. */
int hx_bench_pattern_make(hx_bench_pattern *p, const hx_bench_site *site, hx_build build,
                          hx_part part, int places);
/* Accepts a zeroed struct. */
void hx_bench_pattern_free(hx_bench_pattern *p);
/* Bytes that the step of that name must read and write once; NaN: not known. */
double hx_bench_step_bytes(const char *step, const hx_bench_site *site,
                           const hx_device_pattern *pattern);
/* Bytes that a whole build must read and write: cells, places of the points (read or written), all
 * arrays written. */
double hx_bench_pattern_bytes(const hx_bench_site *site, const hx_device_pattern *pattern);

/* A product with a fixed vector, compared with a reference and bit by bit. */
typedef struct hx_bench_check {
    hx_bench *bench; /* (borrowed) */
    hx_device *dev;  /* (borrowed) */
    size_t n;
    int has_reference;
    double norm;                      /* of the reference */
    double *x, *y, *again, *expected; /* [n] (owned) */
    double *d_x, *d_y;                /* [n] (owned) */
} hx_bench_check;

/* For matrices of n unknowns. The caller closes it, even after a failure. */
int hx_bench_check_open(hx_bench_check *check, hx_bench *bench, hx_device *dev, int64_t n);
/* Accepts a zeroed struct. */
void hx_bench_check_close(hx_bench_check *check);
/* Takes d_y as the reference. Without this call the first checked matrix is the reference. */
int hx_bench_check_expect(hx_bench_check *check);

typedef enum { HX_BITS_UNKNOWN, HX_BITS_SAME, HX_BITS_VARY } hx_bench_bits;

typedef struct hx_bench_fill {
    /* time of the preparation, which is done once and kept from design to design */
    double prepare_seconds;
    hx_bench_time run; /* time of computing the values of a design */
    hx_steps steps;    /* steps of the last such run; n = 0: it has none */
    size_t kept_bytes;
    size_t most_bytes; /* peak on the device during preparation, with the kept memory; 0: unknown */
    double error;      /* relative error of a product; NaN: not checked */
    hx_bench_bits bits; /* bits of the product, compared over several runs */
    char note[192];     /* reason why it was left out, or "" */
} hx_bench_fill;

/* Times a fill. check: verifies the values and counts the checks in its bench; NULL: no check. If
 * memory is missing, there is a note about it, and HX_OK is returned. The site and the matrix must
 * have the same form. */
int hx_bench_fill_run(hx_bench_fill *out, const hx_bench_site *site, const hx_matrix *m,
                      hx_fill fill, hx_bench_check *check);
/* Times preparation and run together, with nothing kept from earlier. If memory is missing, there
 * is no time. */
int hx_bench_fill_anew(hx_bench_time *time, const hx_bench_site *site, const hx_matrix *m,
                       hx_fill fill);

/* Times products of a filled matrix with the vector of `check`. */
int hx_bench_product(hx_bench_time *time, const hx_matrix *m, const hx_bench_check *check);
/* Bytes that a product must read and write: stored values and indices, x and y. */
double hx_bench_product_bytes(const hx_matrix *m);

/* The index stage of P2: wall time of hx_matrix_create, including allocation. *m: the last matrix,
 * which the caller frees, even after a failure. */
int hx_bench_create(hx_bench_time *time, hx_matrix *m, hx_device *dev,
                    const hx_device_pattern *pattern, const hx_matrix_spec *spec);

/* Returns 1 if the error is a lack of memory, or an operation that the device does not support. The
 * error is then cleared, and its text is copied to note. */
int hx_bench_is_left_out(int rc, char *note, size_t n_note);

/* Add cells with that many significant digits and a unit, "-" for NaN. */
void hx_bench_add(hx_table *table, int digits, double value, const char *unit);
/* Milliseconds. */
void hx_bench_add_ms(hx_table *table, double seconds);
/* Adds two cells: the median in milliseconds, and the middle half relative to it. */
void hx_bench_add_time(hx_table *table, const hx_bench_time *time);
/* Prints the table immediately, even into a pipe. */
void hx_bench_end_table(hx_table *table);
/* 1: the table need not be printed. */
int hx_bench_is_quiet(void);
/* "bsr lower single"; returns text. */
const char *hx_bench_spec_name(const hx_matrix_spec *spec, char *text, size_t n_text);

/* Measures every builder, fill and format of the device on the problem's mesh; its meter must be
 * open. Returns 1 if a result is wrong. */
int hx_matrix_bench_all(hx_device *dev, const hx_problem *problem, const double *modulus,
                        hx_matrix_meter *meter);

#endif
