/* What a run adds up over its iterations: seconds by stage (P1, Figure 15), PCG iterations. */
#ifndef HX_STATS_H
#define HX_STATS_H

#include "../doubt/doubt.h"
#include "core/design/optimizer.h"

enum { HX_STATS_RECENT = 6 };

/* Seconds of a run from which its result is synced to the disk: a shorter one is as quickly made
 * again. */
#define HX_STATS_LONG 10.0

typedef struct hx_stats {
    double begin;             /* hx_clock at the start of the command */
    double stage[HX_N_STAGE]; /* seconds */
    double spmv, precond;     /* parts of the PCG stage */
    double total;             /* seconds from begin, set by hx_stats_stop */
    double first_product;     /* seconds from begin to the first solve */
    int n_iteration, capacity;
    double *iteration_seconds; /* [n_iteration] (owned) */
    int64_t pcg_iterations;    /* of all solves */
    int64_t *case_iterations;  /* [n_case] (owned) */
    int n_fell_back;           /* solves in mixed precision that had to be finished in double */
    int64_t n_refinement;      /* corrections of solves by an exact product (pcg.h) */
    int n_took_exact;          /* solves finished with that product itself */
    int n_unconverged;         /* design iterations with a solve that did not converge */
    int64_t n_solve_failed;    /* solves that did not converge */
    int n_missed;              /* designs whose volume is not the one asked for */
    hx_iteration last;         /* the last one */
    int n_recent;              /* designs known of the last ones with the penalty and beta of the
                                  last one, at most HX_STATS_RECENT */
    hx_doubt_record recent[HX_STATS_RECENT]; /* the last first */
} hx_stats;

/* Parts of an iteration's PCG stage: setting the preconditioner up and applying it; all else but
 * the operator's products. */
double hx_stats_precond(const hx_iteration *it);
double hx_stats_vector(const hx_iteration *it);

int hx_stats_begin(hx_stats *stats, int max_iterations, int n_case);
/* output_seconds: what writing this iteration's files took. */
void hx_stats_add(hx_stats *stats, const hx_iteration *it, int n_case, double output_seconds);
void hx_stats_stop(hx_stats *stats);

/* Of a run that goes on: the last compliances, from the text of its history.csv. */
void hx_stats_recall(hx_stats *stats, const char *history);

/* Median, smallest and largest seconds of a design iteration; 0 without any. */
void hx_stats_iteration_seconds(const hx_stats *stats, double *median, double *min, double *max);

/* Expected seconds for n more iterations: by the mean of the last few, files included. */
double hx_stats_time_left(const hx_stats *stats, int n);

/* Prints the table of stages. */
void hx_stats_print(const hx_stats *stats);

void hx_stats_free(hx_stats *stats);

#endif
