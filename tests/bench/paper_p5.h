/* P5, isogeometric analysis by interaction: its published results, and the same measurements
 * here. */
#ifndef PAPER_P5_H
#define PAPER_P5_H

#include "core/matrix/interaction_ops.h"
#include "papers.h"

enum { HX_P5_N_ROW = 18 };

/* Tables 6 to 8 and 11 to 16: n functions of degree p in each direction. Seconds of one core (EW:
 * element-wise; IW: by interaction, shape functions and assembly) and of a GTX 680, its two kernels
 * with non-coalesced and coalesced memory. */
typedef struct hx_p5_row {
    int dim, p, n;
    int64_t n_point, n_dof, n_cell, n_gauss, n_stored;
    double skyline; /* numbers of the skyline over those stored */
    double ew_sparse, ew_skyline, iw_shape, iw_assembly, plain[2], coalesced[2];
} hx_p5_row;
extern const hx_p5_row hx_p5_rows[HX_P5_N_ROW];

/* A method on one patch. */
typedef struct hx_p5_measured {
    int n; /* runs; 0: not measured */
    hx_interaction_time time;
    char note[192]; /* reason why it was left out, or "" */
} hx_p5_measured;

typedef struct hx_p5_result {
    const hx_p5_row *paper; /* NULL: a size that P5 does not have */
    int dim, p, n;
    hx_p5_measured way[HX_N_WAY];
} hx_p5_result;

/* Print Tables 1 to 5, 9 and 10; for each row Tables 6 to 8; Tables 11 to 16
 * (paper_p5_tables.c). */
void hx_bench_p5_print_points(void);
void hx_bench_p5_print_counts(void);
void hx_bench_p5_print_times(const hx_paper_bench *bench, const hx_p5_result *result, int n);

#endif
