/* The three stages of P2 on one mesh, and their tables. */
#ifndef PAPER_STAGES_H
#define PAPER_STAGES_H

#include "papers.h"

enum { HX_BENCH_N_SOLVE = 2 };
/* "jacobi", "block-jacobi". */
extern const char *const hx_bench_preconds[HX_BENCH_N_SOLVE];

typedef struct hx_bench_stages {
    const hx_p2_row *paper;
    hx_bench_plan plan;     /* plan of the mesh used here */
    double s1;              /* sum of the steps; NaN: not measured, like all below */
    hx_bench_time call, s2; /* wall times of S1 and S2, with allocation */
    double s1_bytes, s2_bytes, s3_bytes;
    double bytes; /* matrix and pattern */
    /* as counted in P2: for each node, 8 per neighbour of the widest row */
    double paper_bytes;
    hx_bench_fill fill[HX_N_FILL];
    hx_bench_solve solve[HX_BENCH_N_SOLVE];
    char note[192]; /* reason why it was left out, or "" */
} hx_bench_stages;

/* Resets it: nothing is measured. */
void hx_bench_stages_clear(hx_bench_stages *s, const hx_p2_row *paper, const hx_bench_plan *plan);
/* Measures the stages, for cubes of hex8 also the solves. Rows above the limit stay unmeasured. */
int hx_bench_stages_run(hx_paper_bench *bench, hx_bench_stages *s);
int hx_bench_stages_is_measured(const hx_bench_stages *s);
double hx_bench_stages_fill(const hx_bench_stages *s, hx_fill fill);
/* Sum of S1, S2 and S3 with that fill and its preparation. */
double hx_bench_stages_sum(const hx_bench_stages *s, hx_fill fill);
/* The format of P2 if the device has it. */
hx_format hx_bench_stages_format(const hx_matrix_ops *ops);

/* Tables 2 and 4: the steps of the preprocessor. */
int hx_bench_p2_steps(hx_paper_bench *bench);

/* Tables of rows, cubes first. */
void hx_bench_print_bandwidth(const hx_paper_bench *bench, const hx_bench_stages *s, int n);
void hx_bench_print_fills(const hx_bench_stages *s, int n);
void hx_bench_print_shares(const hx_bench_stages *s, int n);
/* Prints a line for each reason for which rows were left out. */
void hx_bench_print_left_out(const hx_bench_stages *s, int n);

#endif
