/* What `hextop matrix` is asked, and what it makes: K's rows, range by range, and what belongs to
 * them. */
#ifndef HX_MATRIX_JOB_H
#define HX_MATRIX_JOB_H

#include <pthread.h>

#include "../session/result_path.h"
#include "../session/session.h"
#include "../text/options.h"
#include "core/matrix/matrix.h"
#include "core/matrix/row_range.h"
#include "core/matrix/write_matrix.h"
#include "matrix_bench.h"
#include "matrix_meter.h"

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
    char *order_file;      /* beside the output, with --order curve (owned); NULL: none */
    const char *density;   /* a result (borrowed from result); NULL: the config's first design */
    hx_result_path result; /* (owned) */
    int eliminate;         /* supports */
    int lower, curve;
    hx_half half;  /* of the output */
    double memory; /* bytes of a range of rows, on the device and again on the host; NaN: what is
                      free */
    hx_build build;
    const char *fill; /* its name: the device says whether it has it */
    hx_bench_kind bench;
    int64_t most; /* elements of the meshes of --bench papers; 0: as the device can */
} hx_matrix_plan;

/* Its files. */
enum {
    HX_MATRIX_FILE_K,
    HX_MATRIX_FILE_RHS,
    HX_MATRIX_FILE_FIXED,
    HX_MATRIX_FILE_NEAR_NULL,
    HX_MATRIX_FILE_ORDER,
    HX_N_MATRIX_FILE
};

/* Names in the plan; NULL: not asked for. */
void hx_matrix_files(const hx_matrix_plan *plan, const char *file[HX_N_MATRIX_FILE]);

/* HX_EINPUT: what cannot be, before anything takes time: endings, names taken, files of another
 * kind. The plan's own memory is freed by hx_matrix_plan_free. */
int hx_matrix_plan_read(hx_matrix_plan *plan, const hx_options *options);
/* Accepts a zeroed struct. */
void hx_matrix_plan_free(hx_matrix_plan *plan);

/* The file beside K, whose ending is known. */
int hx_matrix_name_order(hx_matrix_plan *plan);
/* HX_EINPUT: one cannot be written, two are one file, or one is the config or the result. */
int hx_matrix_check_names(const hx_matrix_plan *plan);
/* HX_EINPUT: one is the file `input`, NULL: none; what: "the config". */
int hx_matrix_check_input(const hx_matrix_plan *plan, const char *input, const char *what);

/* Which numbers of K go to the file. */
typedef struct hx_matrix_cut {
    hx_half half;
    int components;       /* unknowns of a point, 3 or 1 */
    const uint8_t *fixed; /* [n_point] HX_FIX_* of unknowns that are eliminated; NULL: none is */
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

/* Numbers of each row of point a that has blocks with the points col[n]: count[components]. */
void hx_matrix_cut_count(const hx_matrix_cut *cut, int64_t a, int64_t n, const int32_t *col,
                         int64_t *count);

/* What all rows have. */
typedef struct hx_matrix_counts {
    int64_t n_block;  /* in the part that the device makes */
    int64_t n_number; /* that the cut leaves */
    int64_t n_digit;  /* of the rows' and columns' numbers of these, from 1; of a half at most */
    int widest;       /* blocks of a row */
} hx_matrix_counts;

/* What the rows of a space will have; blocks[n_point] of each point's row in that part. O(sum of
 * the cells' squares). */
int hx_matrix_count(const hx_space *space, const hx_matrix_cut *cut, hx_part part, int32_t *blocks,
                    hx_matrix_counts *counts);

/* Blocks of a range as numbers, in the space's unknowns, springs and films added. HX_ENOMEM. */
int hx_matrix_cut_rows(const hx_matrix_cut *cut, const hx_problem *problem,
                       const hx_row_range *range, const hx_matrix_rows *blocks,
                       hx_number_rows *out);
void hx_number_rows_free(hx_number_rows *rows);
/* The first of the films' nodes that is not before `node`. */
int64_t hx_matrix_first_film(const hx_films *films, int64_t node);

/* Loads of each case, and what is held. Temperatures are those of the config, not differences from
 * the problem's reference. */
typedef struct hx_matrix_sides {
    int n_case;
    double **load; /* [n_case] -> [n_point][components] (owned) */
    int moves;     /* supports are eliminated, and some are displaced, or their temperature not 0 */
    int64_t n_held; /* held unknowns, where they are asked for */
    int32_t *held;  /* [n_held], and their values (owned) */
    double *held_value;
    int32_t *number; /* [n_point] the order, where it is asked for (owned) */
} hx_matrix_sides;

/* 1 if what is held may be held at other values than 0: K's columns then go to the loads. */
int hx_matrix_may_move(const hx_problem *problem);

int hx_matrix_sides_create(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                           const hx_matrix_plan *plan);
/* load -= K u_p of the rows, which are whole. */
void hx_matrix_sides_move(hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_row_range *range, const hx_matrix_rows *blocks);
void hx_matrix_sides_free(hx_matrix_sides *sides);

/* Bytes of the small files of the plan, at most. */
int hx_matrix_sides_bytes(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, int64_t bytes[HX_N_MATRIX_FILE]);
/* These files. */
int hx_matrix_write_sides(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, hx_write_set *set);

/* Rows on the device: what of a range stays until they are on the host. */
typedef struct hx_matrix_made {
    hx_device_pattern pattern;
    hx_matrix matrix;
    size_t bytes;  /* with them */
    int mark;      /* time stamps of its fill: this and the next */
    int is_queued; /* the fill's time is still to be asked for */
} hx_matrix_made;

/* Made on the device: pattern, matrix, values of a range of rows. */
typedef struct hx_matrix_stages {
    hx_device *dev; /* (borrowed) */
    const hx_matrix_ops *ops;
    hx_form form;
    const hx_cell_rule *rule; /* of quadratic elements (borrowed); else NULL */
    int64_t n_cell_point;     /* points of a cell, at most */
    hx_build build;
    hx_part part;
    hx_fill fill;
    int repeats; /* of the fill, for its time; at least 1 */
    /* of the range at hand */
    hx_fill_input input;
    hx_spline_rule spline; /* of a spline: the input's, its arrays on the device */
    char *d_mesh;          /* what the input points to */
    void *fill_state;
    hx_matrix_made made;
    hx_matrix_made old; /* the range before, on its way to the host */
    /* of all ranges */
    hx_steps steps;
    double upload_seconds, pattern_seconds, prepare_seconds, fill_seconds;
    int64_t n_value;
    size_t range_bytes, most_bytes; /* on the device: of the largest range, and at once */
} hx_matrix_stages;

/* HX_EINPUT: the device has no matrices, not that builder or fill. */
int hx_matrix_stages_open(hx_matrix_stages *st, hx_session *s, const hx_matrix_plan *plan);
/* The range's mesh and its modulus[n_cell] to the device; once it is there, the host's is free. */
int hx_matrix_stages_load(hx_matrix_stages *st, const hx_row_range *range, const double *modulus);
/* Its values, queued; what they were made from is let go. */
int hx_matrix_stages_make(hx_matrix_stages *st, const hx_row_range *range);
/* Queues their way to `to`, in the slot; *rows borrows from there, complete after fetch_wait. */
int hx_matrix_stages_fetch(hx_matrix_stages *st, int slot, char *to, hx_matrix_rows *rows);
/* Bytes of `to`. */
size_t hx_matrix_stages_room(const hx_matrix_stages *st, int64_t n_row, int64_t n_entry);
/* Lets go of the range before, whose rows have arrived; what is made now is the next such. */
int hx_matrix_stages_next(hx_matrix_stages *st);
/* Frees what belongs to ranges. */
void hx_matrix_stages_drop(hx_matrix_stages *st);

/* What one of each takes, for the plan of ranges: of `several`, two live at once on the device,
 * three on the host. is_fetched, is_written: rows come to the host, and go on as numbers. */
void hx_matrix_stages_cost(const hx_matrix_stages *st, int widest, int several, int is_fetched,
                           int is_written, hx_range_cost *cost);

/* Memory of the device that is kept from range to range, as its alloc and release: the system's
 * would make the device wait for all that is queued, downloads included. For one thread, and work
 * that is queued in one order. */
typedef struct hx_matrix_memory {
    hx_device_layer layer;       /* first */
    hx_device *dev;              /* (borrowed) */
    struct hx_kept_block *block; /* (owned) */
    int n, room;
    double limit;                       /* bytes held, unless there is no other way */
    size_t held, used, most, most_held; /* most: of what was used */
} hx_matrix_memory;

void hx_matrix_memory_open(hx_matrix_memory *memory, hx_device *dev, double limit);
/* All that was allocated meanwhile is released. Accepts a zeroed struct. */
void hx_matrix_memory_close(hx_matrix_memory *memory);

/* A thread that does one thing after the other. All zero: it has not begun. */
typedef struct hx_matrix_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int runs, ends, n_thread; /* n_thread: of OpenMP, as who gave it its first work has */
    int (*work)(void *what);  /* NULL: nothing to do */
    void *what;
    int rc; /* of the last, with its message, until it was asked for */
    char message[512];
} hx_matrix_worker;

/* Waits for what it has, then starts the next. The errors are those of what it had. */
int hx_matrix_worker_give(hx_matrix_worker *worker, int (*work)(void *what), void *what);
int hx_matrix_worker_wait(hx_matrix_worker *worker);
/* Waits, and ends the thread; accepts a zeroed struct. */
void hx_matrix_worker_end(hx_matrix_worker *worker);

typedef struct hx_matrix_job hx_matrix_job;

/* A range on its way through the host. */
typedef struct hx_matrix_chunk {
    hx_matrix_job *job;     /* (borrowed) */
    int slot, is_coming;    /* is_coming: a fetch is queued */
    hx_row_range range;     /* (owned) */
    hx_matrix_rows blocks;  /* in the slot's buffer (borrowed) */
    hx_number_rows numbers; /* (owned) */
} hx_matrix_chunk;

enum { HX_MATRIX_SLOTS = 2 };

/* All rows, range by range: one thread prepares the mesh of the next range, this one has the device
 * make its rows, a second takes those of the range before as they arrive and cuts them to numbers,
 * a third writes these. */
typedef struct hx_matrix_chunks {
    int is_fetched;          /* the rows come to the host */
    int is_chunked;          /* they are asked for or needed in ranges, and reported so */
    int64_t n_range, *first; /* (owned) */
    hx_range_most most;
    double device_budget;
    hx_matrix_memory device;
    char *host; /* buffers of the slots, then room for a mesh: pinned (owned) */
    size_t buffer_bytes, room_bytes;
    hx_matrix_chunk chunk[HX_MATRIX_SLOTS];
    hx_matrix_worker preparer, hand, writer;
    int64_t next; /* the preparer's: range, its mesh and modulus */
    hx_row_range prepared;
    const double *modulus;
    int64_t n_cell, n_byte; /* of all ranges: integrated, downloaded */
    double pinned_seconds, loop_seconds, prepare_seconds, prepare_wait, hand_wait, copy_rate;
} hx_matrix_chunks;

/* The ranges, from the job's counts. HX_EINPUT: no range is small enough. */
int hx_matrix_chunks_plan(hx_matrix_job *job);
int hx_matrix_chunks_run(hx_matrix_job *job);
/* Ends the threads and frees all; accepts a zeroed struct. */
void hx_matrix_chunks_free(hx_matrix_job *job);

/* The thread that takes rows: moved to the loads, cut, given on to be written. what: a chunk. */
int hx_matrix_hand_work(void *what);

struct hx_matrix_job {
    hx_session session;
    hx_matrix_meter meter; /* of its device */
    hx_matrix_plan plan;
    hx_matrix_stages stages;
    hx_matrix_sides sides;
    hx_matrix_cut cut;
    double *rho, *modulus; /* [n_elem] (owned) */
    int32_t *blocks;       /* [n_point] (owned) */
    hx_matrix_counts counts;
    hx_matrix_chunks chunks;
    hx_write_set *files;      /* (owned) */
    hx_matrix_writer *writer; /* of K (owned) */
    int notes_signals;        /* since there are files */
    int64_t file_bytes;
    double download_seconds, cut_seconds, write_seconds;
};

/* All files, open; before the first range. Signals are noted from here on, and end the writing;
 * after all is dropped hx_matrix_end_signals lets them do what they do. */
int hx_matrix_open_files(hx_matrix_job *job);
/* What else is to be written; then all files get their names. */
int hx_matrix_close_files(hx_matrix_job *job);
/* Removes what is unfinished. */
void hx_matrix_drop_files(hx_matrix_job *job);
/* May not return. */
void hx_matrix_end_signals(const hx_matrix_job *job);
/* HX_EIO: a signal was noted. */
int hx_matrix_go_on(const hx_matrix_job *job);

/* On the terminal: before the first range, and after the last. */
void hx_matrix_report_sizes(const hx_matrix_job *job);
int hx_matrix_report_times(hx_matrix_job *job);
void hx_matrix_report_files(const hx_matrix_job *job);

#endif
