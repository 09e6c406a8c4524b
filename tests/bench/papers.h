/* The tables of P2 to P5 (doc/references.md) beside the same measurements here: meshes by element
 * counts, published numbers, and the measurements that only these tables need. */
#ifndef PAPERS_H
#define PAPERS_H

#include "app/matrix/matrix_bench.h"

/* State of the measurements. */
typedef struct hx_paper_bench {
    hx_bench shared;     /* device, bandwidth, and what was checked */
    int64_t most;        /* elements of the largest mesh */
    int64_t most_stream; /* elements of the largest mesh if rows are made in ranges */
    int64_t most_patch;  /* size of the largest spline patch, by pairs of points */
} hx_paper_bench;

/* Elements in P2 to P5. */
typedef enum {
    HX_BENCH_HEX8,
    HX_BENCH_HEX20,
    HX_BENCH_TET4,
    HX_BENCH_TET10,
    HX_BENCH_N_ELEMENT
} hx_bench_element;

typedef enum { HX_BENCH_CUBE, HX_BENCH_CYLINDER, HX_BENCH_ROD } hx_bench_shape;

/* The name of an element, such as "TET4", and the element of a name; hx_bench_element_find returns
 * 0 if there is none. */
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

/* Add a cell: "-" for NaN, and a count with separators. */
void hx_bench_add_fixed(hx_table *table, int decimals, double value);
void hx_bench_add_count(hx_table *table, int64_t n);
/* Prints a line about sizes above the limit. */
void hx_bench_say_limit(const hx_paper_bench *bench);

/* Results that P2, P3 and P4 give for their own programs and machines (paper_published.c). */
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

/* Each prints its tables, even with results that were measured before a failure. */
int hx_bench_p2(hx_paper_bench *bench);
int hx_bench_p3(hx_paper_bench *bench);
int hx_bench_p4(hx_paper_bench *bench);
int hx_bench_p5(hx_paper_bench *bench); /* paper_p5.h */

#endif
