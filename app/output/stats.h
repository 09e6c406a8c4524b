/* Totals of a run over its iterations: seconds per stage (P1, Figure 15), PCG iterations. */
#ifndef HX_STATS_H
#define HX_STATS_H

#include "../diag/diag.h"
#include "core/design/optimizer.h"

enum { HX_STATS_RECENT = 6 };

/* If a run took at least this many seconds, its result is synced to the disk. A shorter run is
 * quickly repeated. */
#define HX_STATS_LONG 10.0

/* A design that does not minimize the compliance and has so many times the first one's has lost the
 * connection between its loads and supports. Continuation of the penalty raises it less. */
#define HX_STATS_LOOSE 1e3

/* A limit that so many designs in succession do not meet is reported. */
enum { HX_STATS_PATIENCE = 20 };

/* A limit over the designs of a run. */
typedef struct hx_stats_limit {
    int n_unmet;             /* designs in succession up to the last that do not meet it */
    int n_long;              /* how often that number has reached HX_STATS_PATIENCE */
    int best;                /* iteration with the smallest violation; 0: none */
    double violation, value; /* of that design */
} hx_stats_limit;

typedef struct hx_stats {
    double begin;             /* hx_clock at the start of the command */
    double stage[HX_N_STAGE]; /* seconds */
    double spmv, precond;     /* parts of the PCG stage */
    double total;             /* seconds from begin to the end, set by hx_stats_stop */
    double first_product;     /* seconds from begin to the first solve */
    int n_iteration, capacity;
    double *iteration_seconds; /* [n_iteration] (owned) */
    int64_t pcg_iterations;    /* of all solves */
    int64_t *case_iterations;  /* [n_case] (owned) */
    int n_fell_back;        /* solves in mixed precision that were finished in double precision */
    int64_t n_refinement;   /* corrections of solves by an exact product (pcg.h) */
    int n_took_exact;       /* solves that were finished with the exact product */
    int n_unconverged;      /* design iterations with a solve that did not converge */
    int64_t n_solve_failed; /* solves that did not converge */
    int n_missed;           /* designs whose volume is not the target */
    int n_flat;             /* designs that no density improves (optimizer.h) */
    /* compliance of the first design, and number of designs with HX_STATS_LOOSE times as much */
    double first_compliance;
    int n_loose;
    int n_limit;
    hx_stats_limit *limit; /* [n_limit] in the order of hx_session.limits (owned) */
    hx_iteration last;     /* the last iteration, or the result that replaces it */
    /* mass of the last design, set at the end of a run by hx_session_measure_mass; 0: not measured */
    double mass;
    /* number of designs in `recent`: the latest designs with the penalty and beta of the last one,
     * at most HX_STATS_RECENT */
    int n_recent;
    hx_diag_record recent[HX_STATS_RECENT]; /* most recent first */
    hx_diag_span span;
} hx_stats;

/* Parts of the PCG stage of an iteration: set-up and application of the preconditioner; everything
 * else except the operator's products. */
double hx_stats_precond(const hx_iteration *it);
double hx_stats_vector(const hx_iteration *it);

int hx_stats_begin(hx_stats *stats, int max_iterations, int n_case, int n_limit);
/* output_seconds: time of writing the files of this iteration. */
void hx_stats_add(hx_stats *stats, const hx_iteration *it, int n_case, double output_seconds);
/* The result is an earlier design, which was analysed again: adds the costs of that, and makes it
 * the last one. */
void hx_stats_replace(hx_stats *stats, const hx_iteration *it, double output_seconds);
void hx_stats_stop(hx_stats *stats);

/* For a resumed run with this update, volume fraction (NaN: none is prescribed) and limits: takes
 * the earlier values of the objective and the limits from the text of its history.csv. objective:
 * its kind, the column of files of earlier versions. */
void hx_stats_recall(hx_stats *stats, const char *history, const hx_update_kind *update,
                     double volume_fraction, const char *objective, const hx_limits *limits);

/* Median, smallest and largest seconds of a design iteration; 0 without any. */
void hx_stats_iteration_seconds(const hx_stats *stats, double *median, double *min, double *max);

/* Expected seconds of n more iterations, from the mean of the last few; includes writing of output
 * files. */
double hx_stats_time_left(const hx_stats *stats, int n);

/* Prints the table of stages. */
void hx_stats_print(const hx_stats *stats);

void hx_stats_free(hx_stats *stats);

#endif
