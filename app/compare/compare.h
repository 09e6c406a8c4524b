/* hextop compare: what is asked for, what is measured of each operator, and the reports of it. */
#ifndef HX_COMPARE_H
#define HX_COMPARE_H

#include "../session/session.h"
#include "../text/options.h"

/* A mesh of the sweep: one of the paper's sizes, or element counts as in mesh.nx, ny, nz. */
typedef struct hx_compare_size {
    int size, nx, ny, nz;
} hx_compare_size;

enum { HX_COMPARE_MAX_SIZE = 12, HX_COMPARE_MAX_OPERATOR = 64 };

typedef struct hx_compare_plan {
    int paper, all_devices, pcg;
    int repeats;    /* timed products; 0: as many as take about half a second, 7 to 101 */
    int iterations; /* of PCG at most; 0: solver.max_iterations */
    size_t n_operator;
    char operators[HX_COMPARE_MAX_OPERATOR][32]; /* [n_operator]; none: all */
    size_t n_size;
    hx_compare_size size[HX_COMPARE_MAX_SIZE];
    const char *output; /* folder; NULL: output.directory/compare (borrowed) */
} hx_compare_plan;

/* All figures of an operator, in seconds, bytes and their quotients; NaN: not known. Files name
 * them as they are named here. */
#define HX_COMPARE_FIGURES(X)                                                                      \
    X(error)             /* |K x - reference| / |reference| for a random x */                      \
    X(error_bound)       /* what the operator promises */                                          \
    X(symmetry)          /* |z'Kx - x'Kz| / (|z| |Kx|) for random x and z */                       \
    X(bytes_per_element) /* held on the device for the product, mesh and vectors aside */          \
    X(nominal_bytes_per_element)                                                                   \
    X(device_bytes) /* with the vectors, densities and filter */                                   \
    X(setup_seconds)                                                                               \
    X(product_repeats)                                                                             \
    X(product_median_seconds)                                                                      \
    X(product_min_seconds)                                                                         \
    X(product_max_seconds)                                                                         \
    X(product_lower_quartile_seconds)                                                              \
    X(product_upper_quartile_seconds)                                                              \
    X(product_spread)        /* (upper - lower quartile) / median */                               \
    X(elements_per_second)   /* the following from the median */                                   \
    X(dof_per_second)        /* all three of every point, of heat one */                           \
    X(bytes_per_second)      /* what a product must move: see hx_compare_product_bytes */          \
    X(of_copy_bandwidth)     /* bytes_per_second / copy bandwidth of the same run */               \
    X(speedup_over_ebe)      /* over ebe rowmajor on the same device and mesh */                   \
    X(speedup_over_paper)    /* over the fastest of the paper's five there, in any layout */       \
    X(speedup_over_otf)      /* over the fastest layout of otf on the same device and mesh */      \
    X(pattern_seconds)       /* of operators that store a matrix, like the next five: made once */ \
    X(fill_seconds)          /* median of its values, at every design */                           \
    X(fill_spread)           /* (upper - lower quartile) / median */                               \
    X(matrix_bytes)          /* on the device: matrix and pattern */                               \
    X(break_even_products)   /* that take up a fill against otf; none: speedup_over_otf <= 1 */    \
    X(pcg_iterations)        /* of all load cases, from zero */                                    \
    X(pcg_residual)          /* largest |r| / |f| */                                               \
    X(pcg_seconds)           /* wall time */                                                       \
    X(pcg_spmv_seconds)      /* part of it in products, sampled */                                 \
    X(pcg_vector_seconds)    /* the rest */                                                        \
    X(pcg_spmv_share)        /* pcg_spmv_seconds / pcg_seconds */                                  \
    X(pcg_iteration_seconds) /* pcg_seconds / pcg_iterations */                                    \
    X(pcg_iteration_products)       /* pcg_iteration_seconds / product_median_seconds */           \
    X(pcg_speedup_over_ebe)         /* in pcg_seconds, over ebe rowmajor */                        \
    X(spmv_speedup_over_ebe)        /* in pcg_spmv_seconds */                                      \
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
    HX_COMPARE_SKIPPED, /* not measured: does not fit */
    HX_COMPARE_REFUSED  /* not measured: the device does not do it */
} hx_compare_status;

typedef struct hx_compare_row {
    size_t group;
    const hx_strategy *strategy;
    hx_layout layout;
    hx_compare_status status;
    char note[256];           /* why it was skipped or has no PCG; "" */
    hx_pcg_reason pcg_reason; /* HX_PCG_RUNNING: no PCG */
    hx_compare_figures f;
} hx_compare_row;

/* One mesh on one device. */
typedef struct hx_compare_group {
    char mesh[64], size[32]; /* "cantilever", "3"; size is "" without --paper */
    int64_t n_elem, n_node;
    int64_t n_point, n_dof; /* of the space: nodes, and middles of edges */
    hx_element element;
    char kinds[64]; /* "hex8", "hex20 and tet10" */
    hx_physics physics;
    double mesh_seconds; /* mesh and problem, with --paper the filter too */
    const hx_device_ops *ops;
    char description[160];
    double copy_bandwidth;   /* bytes/s */
    size_t first_row, n_row; /* its rows */
    char without[512];       /* operators that lack its physics or elements; "" */
} hx_compare_group;

/* What is still to come of a mesh on a device. */
typedef struct hx_compare_forecast {
    int n_row, n_done;  /* operators and layouts: all, measured */
    int is_given;       /* 1: it was printed */
    int chose_precond;  /* 1: the config leaves the preconditioner to "auto" */
    double begin;       /* of the first */
    double iterations;  /* of PCG in all load cases, guessed */
    double all_seconds; /* forecast, once is_given */
} hx_compare_forecast;

typedef struct hx_compare {
    hx_compare_plan plan;
    hx_session session; /* config, mesh and device in hand */
    hx_compare_forecast forecast;
    size_t n_group, n_row, group_capacity, row_capacity;
    hx_compare_group *group; /* [n_group] (owned) */
    hx_compare_row *row;     /* [n_row] (owned) */
} hx_compare;

/* Host vectors of the check: a product of random x by the element formulas. */
typedef struct hx_compare_reference {
    int64_t n_dof;   /* components * points */
    double *density; /* [n_elem] analysed (owned) */
    double *modulus; /* [n_elem] of it (owned) */
    double *x, *z;   /* [n_dof] in [-1, 1] (owned) */
    double *kx;      /* [n_dof] K x on all rows (owned) */
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

/* HX_EINPUT names the option that is wrong. */
int hx_compare_plan_read(hx_compare_plan *plan, const hx_options *options);
/* 1 if the plan asks for the operator. */
int hx_compare_plan_wants(const hx_compare_plan *plan, const char *name);

/* Density and modulus as the config says, and K x on the host, about 2 us an element and thread;
 * the same bits for any number of threads. Needs mesh and problem. */
int hx_compare_reference_create(hx_compare_reference *ref, hx_session *s);
void hx_compare_reference_free(hx_compare_reference *ref);

/* Sets up s->strategy in s->layout on the open device, checks, times and solves with it, fills the
 * row's measured figures, and frees it. What does not fit is a skipped row, no error.
 * `mesh_seconds` counts as pre-computation. */
int hx_compare_measure(hx_session *s, const hx_compare_plan *plan, const hx_compare_reference *ref,
                       double mesh_seconds, hx_compare_forecast *forecast, hx_compare_row *row);

/* Before a row is solved: prints, for the first one, with which preconditioner and how long all
 * rows will take. warm: seconds of a solve of one iteration. */
void hx_compare_forecast_solve(hx_compare_forecast *forecast, const hx_session *s,
                               const hx_compare_row *row, double warm);
/* What is left of the solves of a row, while they run: from the second second on a line that a
 * terminal rewrites; elsewhere one a minute, with -v one every two seconds. likely: iterations that
 * a load case is thought to take. */
typedef struct hx_compare_meter {
    hx_session *s; /* (borrowed) */
    int n_case, load_case, last, n_before;
    double likely, begin, shown, first_residual;
} hx_compare_meter;
void hx_compare_meter_begin(hx_compare_meter *meter, hx_session *s, double likely);
void hx_compare_meter_end(hx_compare_meter *meter);

/* After a row, what is left, if that takes long. */
void hx_compare_forecast_left(hx_compare_forecast *forecast, const hx_compare_row *row);

/* Sets every figure to NaN. */
void hx_compare_clear_figures(hx_compare_figures *f);

/* The figures of the group's rows that follow from others. */
void hx_compare_derive(hx_compare *c, size_t group);
/* Bytes that a product must move: stored data, modulus (8) and connectivity (32) of the elements, x
 * read and y written once (16 a degree of freedom). Of quadratic elements, whose operators store a
 * matrix, that and the vectors. */
double hx_compare_product_bytes(const hx_compare_group *group, const hx_compare_row *row);
/* The operator for the session's physics and elements; NULL: it has none. */
const hx_strategy *hx_compare_strategy(const hx_session *s, const hx_strategy *strategy);
/* 0: it was skipped or refused. */
int hx_compare_is_measured(const hx_compare_row *row);
/* 1 for the operators of the paper. */
int hx_compare_is_paper(const hx_strategy *strategy);
/* 1 for operators that store a matrix. */
int hx_compare_is_matrix(const hx_strategy *strategy);
/* ebe rowmajor among the group's rows, measured; NULL: none. */
const hx_compare_row *hx_compare_baseline(const hx_compare *c, const hx_compare_group *group);

/* 1e9 ("G") if the fastest of the rows does a tenth of it in elements a second, else 1e6 ("M"). */
double hx_compare_unit(const hx_compare *c, size_t first_row, size_t n_row, const char **letter);

/* 1 if a row of the group stores a matrix and was measured. */
int hx_compare_has_matrix(const hx_compare *c, const hx_compare_group *group);

/* "otf", or "ebe rowmajor" for an operator with several layouts. */
const char *hx_compare_label(const hx_compare_row *row, char *text, size_t n_text);

/* Tables on the terminal. */
void hx_compare_print_group(const hx_compare *c, size_t group);
void hx_compare_print_notes(const hx_compare *c);
void hx_compare_print_paper(const hx_compare *c);

/* DIR/compare.csv, DIR/compare.json. HX_EIO. */
int hx_compare_write_csv(const hx_compare *c, const char *directory);
int hx_compare_write_json(const hx_compare *c, const char *directory);

/* DIR/compare.gp, and the SVG files that gnuplot makes of it if it is installed; says what it did.
 * HX_EIO. */
int hx_compare_plot(const hx_compare *c, const char *directory);

#endif
