/* hextop matrix --bench: times of patterns, fills and products on a device, by themselves and
 * beside the tables of P2 to P5. Uses only hx_matrix_ops, so that any device can be measured. */
#ifndef HX_MATRIX_BENCH_H
#define HX_MATRIX_BENCH_H

#include "../text/table.h"
#include "core/matrix/matrix.h"
#include "core/problem/problem.h"
#include "matrix_meter.h"

typedef enum {
    HX_BENCH_NONE,
    HX_BENCH_PAPERS,
    HX_BENCH_ALL,
    HX_BENCH_P2, /* the tables of one paper */
    HX_BENCH_P3,
    HX_BENCH_P4,
    HX_BENCH_P5
} hx_bench_kind;

/* State of a benchmark. */
typedef struct hx_bench {
    hx_device *dev;      /* (borrowed) */
    double copy;         /* bytes/s of a copy; NaN: there was no memory for it */
    int64_t most;        /* elements of the largest mesh */
    int64_t most_stream; /* elements of the largest mesh if rows are made in ranges */
    int64_t most_patch;  /* size of the largest spline patch, by pairs of points */
    /* number of products compared with a reference, of double and of single precision */
    int n_checked[2];
    /* number of results that are wrong, or differ although the bits should be the same */
    int n_wrong;
    double worst[2]; /* largest error of these; NaN is kept */
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
    hx_device *dev;                /* (borrowed) */
    hx_matrix_meter *meter;        /* of the open device (borrowed); NULL: none is open */
    int64_t n_elem;                /* cells */
    hx_fill_input input;           /* with the points' places; its rule is the space's */
    hx_spline_rule spline;         /* of a spline: the input's, its arrays on the device */
    void *d_own[HX_BENCH_N_ARRAY]; /* (owned) */
} hx_bench_site;

/* modulus: NULL for 1 everywhere. The site borrows the space and must not move. The caller closes
 * it, even after a failure. */
int hx_bench_site_open(hx_bench_site *site, hx_device *dev, const hx_space *space, hx_form form,
                       const double *modulus);
/* Accepts a zeroed struct. */
void hx_bench_site_close(hx_bench_site *site);

/* Elements in P2 to P5. */
typedef enum {
    HX_BENCH_HEX8,
    HX_BENCH_HEX20,
    HX_BENCH_TET4,
    HX_BENCH_TET10,
    HX_BENCH_N_ELEMENT
} hx_bench_element;

typedef enum { HX_BENCH_CUBE, HX_BENCH_CYLINDER, HX_BENCH_ROD } hx_bench_shape;

/* "TET4", and the element of that name, for which 0 is returned if there is none. */
const char *hx_bench_element_name(hx_bench_element element);
int hx_bench_element_find(const char *name, hx_bench_element *element);
const char *hx_bench_shape_name(hx_bench_shape shape);

/* A mesh before it is made. */
typedef struct hx_bench_plan {
    hx_bench_shape shape;
    hx_bench_element element;
    /* hexahedra in each direction: of the cube; of the cylinder in radial, circumferential and
     * axial direction; of the rod n[0] across its width and n[2] in its thickness */
    int n[3];
    int64_t n_elem, n_point; /* planned numbers */
} hx_bench_plan;

/* Plans a mesh with about n_elem elements or, if n_elem is 0, about n_point points: the number of
 * layers is chosen last. */
int hx_bench_plan_make(hx_bench_plan *plan, hx_bench_shape shape, hx_bench_element element,
                       int64_t n_elem, int64_t n_point);
int hx_bench_plan_is_same(const hx_bench_plan *a, const hx_bench_plan *b);
/* Number of linear hexahedra with as many pairs of points, which --most limits. */
double hx_bench_plan_size(const hx_bench_plan *plan);

/* A finished mesh in the order of the solver, and its space. It must not move. */
typedef struct hx_bench_part {
    hx_mesh mesh;
    hx_space space;
} hx_bench_part;

/* The caller frees it. */
int hx_bench_part_make(hx_bench_part *part, const hx_bench_plan *plan);
/* Accepts a zeroed struct. */
void hx_bench_part_free(hx_bench_part *part);

/* n x n x n cubes in the order of the solver, finished. */
int hx_bench_cube(hx_mesh *mesh, int n);
/* Elements along a side of the cube whose number of nodes is nearest. */
int hx_bench_cube_of_nodes(int64_t n_node);

/* A pattern, and the times of building it. */
typedef struct hx_bench_pattern {
    hx_device *dev;            /* (borrowed) */
    hx_device_pattern pattern; /* (owned) */
    hx_steps steps;            /* medians */
    double in_steps;           /* their sum */
    hx_bench_time call;        /* wall time of the whole call, including allocation */
} hx_bench_pattern;

/* places: 1 if the places of points are given, as for a mesh, else they are counted. The caller
 * frees p, even after a failure. */
int hx_bench_pattern_make(hx_bench_pattern *p, const hx_bench_site *site, hx_build build,
                          hx_part part, int places);
/* Accepts a zeroed struct. */
void hx_bench_pattern_free(hx_bench_pattern *p);
/* Bytes that a step must read and write once, by its name; NaN: not known. */
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
    double prepare_seconds; /* preparation that is kept from design to design, done once */
    hx_bench_time run;      /* computing the values of a design */
    hx_steps steps;         /* steps of the last such run; n = 0: it has none */
    size_t kept_bytes;
    size_t most_bytes; /* peak on the device during preparation, with the kept memory; 0: unknown */
    double error;      /* relative error of a product; NaN: not checked */
    hx_bench_bits bits; /* bits of the product, compared over several runs */
    char note[192];     /* reason why it was left out, or "" */
} hx_bench_fill;

/* check: NULL, or results are checked and counted in its bench. A lack of memory becomes a note,
 * not an error. The form of the site is that of the matrix. */
int hx_bench_fill_run(hx_bench_fill *out, const hx_bench_site *site, const hx_matrix *m,
                      hx_fill fill, hx_bench_check *check);
/* Times preparation and run together, with nothing kept. No time if memory is missing. */
int hx_bench_fill_anew(hx_bench_time *time, const hx_bench_site *site, const hx_matrix *m,
                       hx_fill fill);

/* Times products of a filled matrix with the vector of `check`. */
int hx_bench_product(hx_bench_time *time, const hx_matrix *m, const hx_bench_check *check);
/* Bytes that a product must read and write: stored values and indices, x and y. */
double hx_bench_product_bytes(const hx_matrix *m);

/* The index stage of P2: wall time of hx_matrix_create, with allocation. *m is the last matrix,
 * which the caller frees, even after a failure. */
int hx_bench_create(hx_bench_time *time, hx_matrix *m, hx_device *dev,
                    const hx_device_pattern *pattern, const hx_matrix_spec *spec);

/* The lower scalar matrix of a mesh (only its cells and coordinates are needed) in the host's
 * pinned memory, made in ranges of rows while the whole mesh stays on the device. */
typedef struct hx_bench_stream {
    double seconds;        /* from the mesh on the host to the last row there */
    double upload_seconds; /* part of it */
    /* parts for which the host waits */
    double cut_seconds, pattern_seconds, value_seconds, wait_seconds;
    double pinned_seconds; /* before that: allocation of host memory */
    double upload_bytes, host_bytes, device_bytes;
    double copy_rate; /* bytes/s of a download by itself */
    int64_t n_range, n_entry;
    int is_right;
    char note[192]; /* reason why it was left out, or "" */
} hx_bench_stream;
/* n_entry: upper bound of the matrix' entries. budget: bytes of the device. */
int hx_bench_stream_run(hx_bench_stream *out, hx_device *dev, const hx_mesh *mesh,
                        const double *modulus, int64_t n_entry, double budget);

/* A cube held at one side and pulled at the other, solved by PCG to 1e-6 with operator bsr. */
typedef struct hx_bench_solve {
    int iterations; /* 0: the device does not have the operator */
    int converged;
    double seconds;
} hx_bench_solve;
int hx_bench_solve_cube(hx_bench_solve *out, hx_device *dev, const hx_mesh *mesh,
                        const char *precond);

/* 1 if the error is a lack of memory or an operation that the device does not support: it is
 * cleared and its text copied to note. */
int hx_bench_is_left_out(int rc, char *note, size_t n_note);

/* Add cells with that many significant digits and a unit, "-" for NaN. */
void hx_bench_add(hx_table *table, int digits, double value, const char *unit);
void hx_bench_add_fixed(hx_table *table, int decimals, double value);
/* Milliseconds. */
void hx_bench_add_ms(hx_table *table, double seconds);
/* Median in milliseconds, and the middle half over it: two cells. */
void hx_bench_add_time(hx_table *table, const hx_bench_time *time);
void hx_bench_add_words(hx_table *table, const char *const *word, size_t n);
void hx_bench_add_count(hx_table *table, int64_t n);
/* Prints a line about sizes above the limit. */
void hx_bench_say_limit(const hx_bench *bench);
/* Prints the table immediately, also into a pipe. */
void hx_bench_end_table(hx_table *table);
/* 1: nothing needs to be printed. */
int hx_bench_is_quiet(void);
/* "bsr lower single"; returns text. */
const char *hx_bench_spec_name(const hx_matrix_spec *spec, char *text, size_t n_text);

/* Results that P2, P3 and P4 give for their own programs and machines
 * (matrix_bench_published.c). */
enum {
    HX_P2_N_MESH = 6,
    HX_P2_N_FUNCTION = 8,
    HX_P2_N_ROW = 20,
    HX_P3_N_ROW = 11,
    HX_P4_N_ROW = 5
};

/* P2, Tables 2 (cylinder) and 4 (rod): functions of the preprocessor. */
typedef struct hx_p2_mesh {
    const char *name;
    int64_t n_node;
    double seconds[HX_P2_N_FUNCTION];
} hx_p2_mesh;
extern const char *const hx_p2_function[HX_P2_N_FUNCTION];
extern const hx_p2_mesh hx_p2_meshes[HX_P2_N_MESH];

/* P2, Tables 1, 3 and 5. NaN: not in the table. */
typedef struct hx_p2_row {
    int table;
    const char *element;
    int64_t n_node, n_elem;
    double s1, s2, s3; /* seconds */
    double megabytes;
} hx_p2_row;
extern const hx_p2_row hx_p2_rows[HX_P2_N_ROW];
/* The papers call it HEX20, but its counts, n^3 elements and (n + 1)^3 nodes, are those of HEX8. */
int hx_p2_is_cube(const hx_p2_row *row);
/* The rod in Table 5, the cylinder in other tables. */
hx_bench_shape hx_p2_shape(const hx_p2_row *row);
/* Elements along a side of the cube of hex8 with about its number of elements; 0: not hexahedra, or
 * of Table 1, which has no stages. */
int hx_p2_side(const hx_p2_row *row);

/* P3, Tables 1 and 2. 0, NaN: not in the table. */
typedef struct hx_p3_row {
    int n; /* elements along a side */
    int64_t n_triplet, n_csc;
    double triplet_megabytes, csc_megabytes;
    double seconds, integration; /* total time, and the fraction of integration */
} hx_p3_row;
extern const hx_p3_row hx_p3_rows[HX_P3_N_ROW];

/* P4, Tables I and II. */
typedef struct hx_p4_row {
    const char *name;
    int64_t n_dof, n_elem, n_entry;
    double gpu_seconds, cpu_seconds;
} hx_p4_row;
extern const hx_p4_row hx_p4_rows[HX_P4_N_ROW];

/* Each prints its tables, including what was measured before a failure. */
int hx_bench_p2(hx_bench *bench);
int hx_bench_p3(hx_bench *bench);
int hx_bench_p4(hx_bench *bench);
int hx_bench_p5(hx_bench *bench); /* matrix_bench_p5.h */

/* Runs one or all four on an open device, with meshes of at most `most` elements (0: what the
 * device does in minutes). Returns 1 if a result is wrong. */
int hx_matrix_bench_papers(hx_device *dev, hx_bench_kind papers, int64_t most);
/* Measures every builder, fill and format of the device on the problem's mesh, whose meter is open.
 * Returns 1 if a result is wrong. */
int hx_matrix_bench_all(hx_device *dev, const hx_problem *problem, const double *modulus,
                        hx_matrix_meter *meter);

#endif
