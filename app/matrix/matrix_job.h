/* What `hextop matrix` is asked, and what it makes: K's rows, range by range, and what belongs to
 * them. */
#ifndef HX_MATRIX_JOB_H
#define HX_MATRIX_JOB_H

#include <pthread.h>

#include "../session/session.h"
#include "../text/options.h"
#include "core/matrix/matrix.h"
#include "core/matrix/row_range.h"
#include "core/matrix/write_matrix.h"
#include "matrix_bench.h"

/* The options of `hextop matrix`. */
enum {
    HX_MATRIX_OUTPUT,
    HX_MATRIX_RHS,
    HX_MATRIX_FIXED,
    HX_MATRIX_NEAR_NULL,
    HX_MATRIX_SUPPORTS,
    HX_MATRIX_LOWER,
    HX_MATRIX_DENSITY,
    HX_MATRIX_ORDER,
    HX_MATRIX_MEMORY,
    HX_MATRIX_BUILD,
    HX_MATRIX_FILL,
    HX_MATRIX_BENCH,
    HX_MATRIX_MOST,
    HX_N_MATRIX_OPTION
};

typedef struct hx_matrix_plan {
    const char *config;
    const char *output, *rhs, *fixed, *near_null; /* names of files; NULL: not asked for */
    char *order_file;    /* beside the output, with --order curve (owned); NULL: none */
    const char *density; /* a result; NULL: the config's first design */
    int eliminate;       /* supports */
    int lower, curve;
    hx_half half;  /* of the output */
    double memory; /* bytes of a range of rows, on the device and again on the host; NaN: what is
                      free */
    hx_build build;
    const char *fill; /* its name: the device says whether it has it */
    hx_bench_kind bench;
    int64_t most; /* elements of the meshes of --bench papers; 0: as the device can */
} hx_matrix_plan;

/* HX_EINPUT: what cannot be, before anything takes time: endings, names taken, files of another
 * kind. The plan's own memory is freed by hx_matrix_plan_free. */
int hx_matrix_plan_read(hx_matrix_plan *plan, const hx_options *options);
/* Accepts a zeroed struct. */
void hx_matrix_plan_free(hx_matrix_plan *plan);

/* Which numbers of K go to the file. */
typedef struct hx_matrix_cut {
    hx_half half;
    const uint8_t *fixed; /* [n_node] HX_FIX_* of unknowns that are eliminated; NULL: none is */
} hx_matrix_cut;

/* Rows of numbers: arrays that are kept from range to range, since fresh memory costs more than
 * what is done in it. */
typedef struct hx_number_rows {
    int64_t *ptr; /* (owned, like all) */
    int32_t *point, *col;
    double *value;
    int64_t room_row, room_block, room_number; /* of the arrays */
    hx_csr_rows rows;                          /* of these */
} hx_number_rows;

/* Numbers of the three rows of point a that has blocks with the points col[n]. */
void hx_matrix_cut_count(const hx_matrix_cut *cut, int64_t a, int64_t n, const int32_t *col,
                         int64_t count[3]);

/* What the rows of a mesh will have: blocks[n_node] of each point's row, all of them; in all the
 * number of blocks, and of the numbers that the cut leaves. O(sum of the cells' squares). */
int hx_matrix_count(const hx_mesh *mesh, const hx_matrix_cut *cut, int32_t *blocks,
                    int64_t *n_block, int64_t *n_number, int *widest);

/* Blocks of a range as numbers, in the mesh's unknowns, springs added to the diagonal. HX_ENOMEM.
 */
int hx_matrix_cut_rows(const hx_matrix_cut *cut, const hx_problem *problem,
                       const hx_row_range *range, const hx_matrix_rows *blocks,
                       hx_number_rows *out);
void hx_number_rows_free(hx_number_rows *rows);

/* Loads of each case, and what is held. */
typedef struct hx_matrix_sides {
    int n_case;
    double **load; /* [n_case] -> [n_node][3] (owned) */
    int moves;     /* supports are eliminated, and some are displaced */
} hx_matrix_sides;

int hx_matrix_sides_create(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                           const hx_matrix_plan *plan);
/* load -= K u_p of the rows, which are whole. */
void hx_matrix_sides_move(hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_row_range *range, const hx_matrix_rows *blocks);
void hx_matrix_sides_free(hx_matrix_sides *sides);

/* The small files of the plan. */
int hx_matrix_write_sides(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan);

/* Made on the device: pattern, matrix, values of a range of rows. */
typedef struct hx_matrix_stages {
    hx_device *dev; /* (borrowed) */
    const hx_matrix_ops *ops;
    hx_form form;
    hx_build build;
    hx_part part;
    hx_fill fill;
    int repeats; /* of the fill, for its time; at least 1 */
    /* of the range at hand */
    hx_fill_input input;
    double *d_xyz, *d_modulus;
    int32_t *d_point;
    int64_t *d_point_ptr;
    uint32_t *d_point_place;
    hx_device_pattern pattern;
    hx_matrix matrix;
    void *fill_state;
    double *modulus; /* [n_cell] of the range (owned) */
    /* of all ranges */
    hx_steps steps;
    double pattern_seconds, prepare_seconds, fill_seconds, download_seconds;
    int64_t n_value;
    size_t most_bytes; /* on the device at once */
} hx_matrix_stages;

/* HX_EINPUT: the device has no matrices, not that builder or fill. */
int hx_matrix_stages_open(hx_matrix_stages *st, hx_session *s, const hx_matrix_plan *plan);
/* The range's values on the device, from modulus[n_elem] of the whole mesh. */
int hx_matrix_stages_run(hx_matrix_stages *st, const hx_row_range *range, const double *modulus);
/* *rows is the caller's to free. */
int hx_matrix_stages_rows(hx_matrix_stages *st, hx_matrix_rows *rows);
/* Frees what belongs to the range. */
void hx_matrix_stages_drop(hx_matrix_stages *st);

/* What one of each takes, for the plan of ranges. */
void hx_matrix_stages_cost(const hx_matrix_stages *st, int widest, hx_range_cost *cost);

typedef struct hx_matrix_job hx_matrix_job;

/* The host's work on a range, in a thread of its own while the device makes the next. */
typedef struct hx_matrix_hand {
    hx_matrix_job *job; /* (borrowed) */
    hx_row_range range; /* (owned, like its rows) */
    hx_matrix_rows blocks;
    pthread_t thread;
    int running;
    int rc;
    char message[512]; /* of its error */
} hx_matrix_hand;

/* Ends what it has, then takes over range and rows, which are zeroed, also on failure. The errors
 * are those of the range before. */
int hx_matrix_hand_give(hx_matrix_hand *hand, hx_row_range *range, hx_matrix_rows *blocks);
/* Waits for what it has. Accepts a zeroed struct. */
int hx_matrix_hand_end(hx_matrix_hand *hand);

struct hx_matrix_job {
    hx_session session;
    hx_matrix_plan plan;
    hx_matrix_stages stages;
    hx_matrix_sides sides;
    hx_matrix_cut cut;
    double *rho, *modulus; /* [n_elem] (owned) */
    int32_t *blocks;       /* [n_node] (owned) */
    int64_t n_block, n_number;
    int widest;
    int64_t n_range, *first;  /* (owned) */
    hx_matrix_writer *writer; /* (owned) */
    hx_matrix_hand hand;
    hx_number_rows numbers; /* the hand's */
    int64_t file_bytes;
    double cut_seconds, write_seconds;
};

/* On the terminal: before the first range, and after the last. */
void hx_matrix_report_sizes(const hx_matrix_job *job);
int hx_matrix_report_times(hx_matrix_job *job);
void hx_matrix_report_files(const hx_matrix_job *job);

#endif
