/* hextop compare: its options, the figures measured for each operator, and their reports. */
#ifndef HX_COMPARE_H
#define HX_COMPARE_H

#include "../session/session.h"
#include "../text/options.h"

/* A mesh of --paper: one of the generator's sizes as in P1, or element counts like mesh.nx, ny,
 * nz. */
typedef struct hx_compare_size {
    int size, nx, ny, nz;
} hx_compare_size;

enum { HX_COMPARE_MAX_SIZE = 12, HX_COMPARE_MAX_OPERATOR = 64 };

typedef struct hx_compare_plan {
    int paper, all_devices, pcg;
    int repeats;    /* number of timed products; 0: as many as take about half a second, 7 to 101 */
    int iterations; /* largest number of PCG iterations; 0: solver.max_iterations */
    size_t n_operator;
    char operators[HX_COMPARE_MAX_OPERATOR][32]; /* [n_operator]; none: all */
    size_t n_size;
    hx_compare_size size[HX_COMPARE_MAX_SIZE];
    const char *output; /* folder; NULL: output.directory/compare (borrowed) */
} hx_compare_plan;

/* All figures of an operator, in seconds, bytes and their quotients; NaN: unknown. The output files
 * use these names. */
#define HX_COMPARE_FIGURES(X)                                                                      \
    X(error)             /* |K x - reference| / |reference| for a random x */                      \
    X(error_bound)       /* largest error that the operator allows */                              \
    X(symmetry)          /* |z'Kx - x'Kz| / (|z| |Kx|) for random x and z */                       \
    X(bytes_per_element) /* stored on the device for the product, without mesh and vectors */      \
    X(nominal_bytes_per_element)                                                                   \
    X(device_bytes) /* with vectors, densities and filter */                                       \
    X(setup_seconds)                                                                               \
    X(product_repeats)                                                                             \
    X(product_median_seconds)                                                                      \
    X(product_min_seconds)                                                                         \
    X(product_max_seconds)                                                                         \
    X(product_lower_quartile_seconds)                                                              \
    X(product_upper_quartile_seconds)                                                              \
    X(product_spread)          /* (upper - lower quartile) / median */                             \
    X(elements_per_second)     /* this and the following from the median */                        \
    X(dof_per_second)          /* counts all three of every point, for heat one */                 \
    X(bytes_per_second)        /* from the data that a product must move: compare_figures.c */     \
    X(copy_bandwidth_fraction) /* bytes_per_second / copy bandwidth of the same run */             \
    X(speedup_over_ebe)        /* over ebe rowmajor on the same device and mesh */                 \
    X(speedup_over_p1)         /* over the fastest of the operators of P1 there, in any layout */  \
    X(speedup_over_otf)        /* over the fastest layout of otf on the same device and mesh */    \
    X(pattern_seconds)         /* for stored matrices, like the next four; made once */            \
    X(fill_seconds)            /* median time of computing its values, once per design */          \
    X(fill_spread)             /* (upper - lower quartile) / median */                             \
    X(matrix_bytes)            /* of matrix and pattern, on the device */                          \
    X(break_even_products)     /* least number per design with which it beats otf; or none */      \
    X(pcg_iterations)          /* over all load cases, from zero */                                \
    X(pcg_residual)            /* largest |r| / |f| */                                             \
    X(pcg_seconds)             /* wall time */                                                     \
    X(pcg_spmv_seconds)        /* time of the products in it, estimated from samples */            \
    X(pcg_vector_seconds)      /* the rest */                                                      \
    X(pcg_spmv_share)          /* pcg_spmv_seconds / pcg_seconds */                                \
    X(pcg_iteration_seconds)   /* pcg_seconds / pcg_iterations */                                  \
    X(pcg_iteration_products)  /* pcg_iteration_seconds / product_median_seconds */                \
    X(pcg_speedup_over_ebe)    /* in pcg_seconds, over ebe rowmajor */                             \
    X(spmv_speedup_over_ebe)   /* in pcg_spmv_seconds */                                           \
    X(stage_precomputation_seconds) /* one design iteration (P1, Figure 15), --paper only */       \
    X(stage_pcg_seconds)                                                                           \
    X(stage_compliance_seconds)                                                                    \
    X(stage_filter_seconds)                                                                        \
    X(stage_update_seconds)                                                                        \
    X(stage_output_seconds)

typedef struct hx_compare_figures {
#define HX_COMPARE_MEMBER(name) double name;
    HX_COMPARE_FIGURES(HX_COMPARE_MEMBER)
#undef HX_COMPARE_MEMBER
} hx_compare_figures;

typedef enum {
    HX_COMPARE_OK,
    HX_COMPARE_WRONG,   /* error or asymmetry above the bound */
    HX_COMPARE_SKIPPED, /* not measured: does not fit into memory */
    HX_COMPARE_REFUSED  /* not measured: the device does not support it */
} hx_compare_status;

typedef struct hx_compare_row {
    size_t group;
    const hx_operator_kind *op_kind;
    hx_layout layout;
    hx_compare_status status;
    char note[256];           /* reason why it was skipped or has no PCG; "" */
    hx_pcg_reason pcg_reason; /* HX_PCG_RUNNING: no PCG */
    hx_compare_figures f;
} hx_compare_row;

/* One mesh on one device. */
typedef struct hx_compare_group {
    char mesh[64], size[32]; /* "cantilever", "3"; size is "" without --paper */
    int64_t n_elem, n_node;
    int64_t n_point, n_dof; /* of the space: nodes and mid-side nodes */
    hx_element element;
    char kinds[64]; /* "hex8", "hex20 and tet10" */
    hx_physics physics;
    double mesh_seconds; /* time of making mesh and problem; with --paper, also the filter */
    const hx_device_ops *ops;
    char description[160];
    double copy_bandwidth;   /* bytes/s */
    size_t first_row, n_row; /* rows of this group */
    /* operators that do not support this group's physics or elements; "": none */
    char without[512];
} hx_compare_group;

/* Forecast of the remaining time for one mesh on one device. */
typedef struct hx_compare_forecast {
    int n_row, n_done;  /* numbers of operators and layouts: all, and measured so far */
    int is_given;       /* 1: the forecast has been printed */
    int chose_precond;  /* 1: the preconditioner of the config is "auto" */
    double begin;       /* start time of the first row */
    double iterations;  /* estimated number of PCG iterations over all load cases */
    double all_seconds; /* forecast seconds, once is_given */
} hx_compare_forecast;

typedef struct hx_compare {
    hx_compare_plan plan;
    hx_session session; /* config, and the current mesh and device */
    hx_compare_forecast forecast;
    size_t n_group, n_row, group_capacity, row_capacity;
    hx_compare_group *group; /* [n_group] (owned) */
    hx_compare_row *row;     /* [n_row] (owned) */
} hx_compare;

/* Host vectors for checking an operator: the product with a random x, computed from the element
 * formulas. */
typedef struct hx_compare_reference {
    int64_t n_dof;   /* components * points */
    double *density; /* [n_elem] analysed densities (owned) */
    double *modulus; /* [n_elem] their moduli (owned) */
    double *x, *z;   /* [n_dof] in [-1, 1] (owned) */
    double *kx;      /* [n_dof] K x for all rows, also held ones (owned) */
    double *y;       /* [n_dof] scratch (owned) */
    double z_norm, kx_norm;
} hx_compare_reference;

/* The options of `hextop compare`. */
enum {
    HX_COMPARE_PAPER,
    HX_COMPARE_SIZES,
    HX_COMPARE_OPERATORS,
    HX_COMPARE_ALL_DEVICES,
    HX_COMPARE_NO_PCG,
    HX_COMPARE_ITERATIONS,
    HX_COMPARE_REPEATS,
    HX_COMPARE_OUTPUT
};

/* HX_EINPUT: the message names the option. */
int hx_compare_plan_read(hx_compare_plan *plan, const hx_options *options);
/* 1 if the plan includes the operator. */
int hx_compare_plan_includes(const hx_compare_plan *plan, const char *name);

/* Computes density and modulus from the config, and K x on the host, in about 2 us per element and
 * thread. The result is bitwise independent of the number of threads. Needs mesh and problem. */
int hx_compare_reference_create(hx_compare_reference *ref, hx_session *s);
void hx_compare_reference_free(hx_compare_reference *ref);

/* Sets up s->solver.op_kind in s->solver.layout on the open device, checks and times it, solves
 * with it, stores the figures in the row, and frees it. If the operator does not fit into memory,
 * the row is skipped and no error is returned. `mesh_seconds` counts as pre-computation. */
int hx_compare_measure(hx_session *s, const hx_compare_plan *plan, const hx_compare_reference *ref,
                       double mesh_seconds, hx_compare_forecast *forecast, hx_compare_row *row);

/* Called before a row is solved. For the first row, prints the preconditioner and the estimated
 * time of all rows. warm: seconds of a solve with one iteration. */
void hx_compare_forecast_solve(hx_compare_forecast *forecast, const hx_session *s,
                               const hx_compare_row *row, double warm);
/* Prints the remaining time while the solves of a row run. After the first second, a terminal shows
 * it on a line that is rewritten; otherwise it is printed once per minute, or every two seconds
 * with -v. likely: estimated iterations per load case. */
typedef struct hx_compare_meter {
    hx_session *s; /* (borrowed) */
    int n_case, load_case, last, n_before;
    double likely, begin, shown, first_residual;
} hx_compare_meter;
void hx_compare_meter_begin(hx_compare_meter *meter, hx_session *s, double likely);
void hx_compare_meter_end(hx_compare_meter *meter);

/* After a row, prints the remaining time if it is long. */
void hx_compare_forecast_left(hx_compare_forecast *forecast, const hx_compare_row *row);

/* Sets every figure to NaN. */
void hx_compare_clear_figures(hx_compare_figures *f);

/* Computes those figures of the group's rows that follow from other figures. */
void hx_compare_derive(hx_compare *c, size_t index);
/* The variant of the operator for the session's physics and elements; NULL: there is none. */
const hx_operator_kind *hx_compare_operator(const hx_session *s, const hx_operator_kind *op_kind);
/* Returns 0 if the row was skipped or refused. */
int hx_compare_is_measured(const hx_compare_row *row);
/* 1 for the operators of P1. */
int hx_compare_is_paper(const hx_operator_kind *op_kind);
/* 1 for operators that store a matrix. */
int hx_compare_is_matrix(const hx_operator_kind *op_kind);

/* 1e9 ("G") if the fastest of the rows reaches a tenth of it in elements per second, else 1e6
 * ("M"). */
double hx_compare_unit(const hx_compare *c, size_t first_row, size_t n_row, const char **letter);

/* 1 if a row of the group stores a matrix and was measured. */
int hx_compare_has_matrix(const hx_compare *c, const hx_compare_group *group);

/* "otf", or "ebe rowmajor" for an operator with several layouts. */
const char *hx_compare_label(const hx_compare_row *row, char *text, size_t n_text);

/* Print tables on the terminal. */
void hx_compare_print_group(const hx_compare *c, size_t index);
void hx_compare_print_notes(const hx_compare *c);
void hx_compare_print_paper(const hx_compare *c);

/* Write DIR/compare.csv, DIR/compare.json. HX_EIO. */
int hx_compare_write_csv(const hx_compare *c, const char *directory);
int hx_compare_write_json(const hx_compare *c, const char *directory);

/* Writes DIR/compare.gp, and with gnuplot, if installed, its SVG files; prints a line about the
 * result. HX_EIO. */
int hx_compare_plot(const hx_compare *c, const char *directory);

#endif
