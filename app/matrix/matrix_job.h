/* hextop matrix: its options, the rows of K in ranges, and the files that belong to them. */
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
    HX_N_MATRIX_OPTION
};

typedef struct hx_matrix_plan {
    const char *config;
    const char *output, *rhs, *fixed, *near_null; /* names of files; NULL: not requested */
    /* file of the order beside the output, with --order curve (owned); NULL: none */
    char *order_file;
    const char *density;   /* a result (borrowed from result); NULL: the config's first design */
    hx_result_path result; /* (owned) */
    int eliminate;         /* eliminates supports */
    int lower, curve;
    hx_half half; /* of the output */
    /* bytes of a range of rows, on the device and as many on the host; NaN: the free memory */
    double memory;
    hx_build build;
    const char *fill; /* name of the fill, which is checked when the device is known */
    int bench;        /* --bench all: measures, and writes no files */
} hx_matrix_plan;

/* The output files. */
enum {
    HX_MATRIX_FILE_K,
    HX_MATRIX_FILE_RHS,
    HX_MATRIX_FILE_FIXED,
    HX_MATRIX_FILE_NEAR_NULL,
    HX_MATRIX_FILE_ORDER,
    HX_N_MATRIX_FILE
};

/* Names of the planned files; NULL: not requested. */
void hx_matrix_files(const hx_matrix_plan *plan, const char *file[HX_N_MATRIX_FILE]);

/* Reads the options. HX_EINPUT, which is raised before any long work: invalid endings, names that
 * conflict, options that exclude each other. hx_matrix_plan_free frees the plan's memory. */
int hx_matrix_plan_read(hx_matrix_plan *plan, const hx_options *options);
/* Accepts a zeroed struct. */
void hx_matrix_plan_free(hx_matrix_plan *plan);

/* Selects the device of the config; with "auto" the first one that can run here and make matrices
 * of its physics and elements. */
int hx_matrix_choose_device(hx_session *s);

/* Names the file of the order beside K, with the same ending. */
int hx_matrix_name_order(hx_matrix_plan *plan);
/* HX_EINPUT: a file cannot be written, two files are the same, or one is the config or the
 * result. */
int hx_matrix_check_names(const hx_matrix_plan *plan);
/* The names of all files of the plan. */
void hx_matrix_output_names(const hx_matrix_plan *plan, hx_output_names *names);

/* The entries of K that are written to the file. */
typedef struct hx_matrix_cut {
    hx_half half;
    int components;       /* unknowns per point, 3 or 1 */
    const uint8_t *fixed; /* [n_point] HX_FIX_* of unknowns that are eliminated; NULL: none are */
} hx_matrix_cut;

/* Rows of scalar entries. The arrays are kept from range to range, since allocating new memory
 * costs more than filling it. */
typedef struct hx_number_rows {
    int64_t *ptr; /* (owned, like all) */
    int32_t *point, *col;
    double *value;
    int64_t room_row, room_block, room_number; /* capacities of the arrays */
    hx_csr_rows rows;                          /* view of these arrays */
} hx_number_rows;

/* Totals over all rows of K. */
typedef struct hx_matrix_counts {
    int64_t n_block;  /* blocks in the part that the device makes */
    int64_t n_number; /* entries that are written */
    /* upper bound of the number of digits of their row and column numbers, counted from 1 */
    int64_t n_digit;
    int widest; /* largest number of blocks in a row */
} hx_matrix_counts;

/* Counts the rows of a space; blocks[n_point]: blocks in each point's row, in that part. O(sum of
 * the cells' squares). */
int hx_matrix_count(const hx_space *space, const hx_matrix_cut *cut, hx_part part, int32_t *blocks,
                    hx_matrix_counts *counts);

/* Converts the blocks of a range to scalar rows in the space's unknowns, and adds springs and
 * convection. HX_ENOMEM. */
int hx_matrix_cut_rows(const hx_matrix_cut *cut, const hx_problem *problem,
                       const hx_row_range *range, const hx_matrix_rows *blocks,
                       hx_number_rows *out);
void hx_number_rows_free(hx_number_rows *rows);
/* Index of the first node with convection at or after `node`. */
int64_t hx_matrix_first_film(const hx_films *films, int64_t node);

/* Loads of each case and held unknowns. Temperatures are absolute, as in the config, not relative
 * to the problem's reference. */
typedef struct hx_matrix_sides {
    int n_case;
    double **load; /* [n_case] -> [n_point][components] (owned) */
    int moves; /* 1: supports are eliminated, and some have nonzero displacements or temperatures */
    int64_t n_held; /* number of held unknowns, if requested */
    int32_t *held;  /* [n_held], and their values (owned) */
    double *held_value;
    int32_t *number; /* [n_point] the order, if requested (owned) */
} hx_matrix_sides;

/* 1 if held unknowns may have nonzero values, so that columns of K are moved to the loads. */
int hx_matrix_may_move(const hx_problem *problem);

int hx_matrix_sides_create(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                           const double *modulus, const hx_matrix_plan *plan);
/* load -= K u_p for complete rows. */
void hx_matrix_sides_move(hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_row_range *range, const hx_matrix_rows *blocks);
void hx_matrix_sides_free(hx_matrix_sides *sides);

/* Upper bounds of the bytes of the small planned files. */
int hx_matrix_sides_bytes(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, int64_t bytes[HX_N_MATRIX_FILE]);
/* Writes these files. */
int hx_matrix_write_sides(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, hx_write_set *set);

/* Device memory of one range of rows, kept until the rows have been downloaded. */
typedef struct hx_matrix_made {
    hx_device_pattern pattern;
    hx_matrix matrix;
    size_t bytes;  /* including pattern and matrix */
    int mark;      /* time stamps `mark` and `mark` + 1 enclose its fill */
    int is_queued; /* 1: the time of the fill has not been read yet */
} hx_matrix_made;

/* Pattern, matrix and values of a range of rows, made on the device. */
typedef struct hx_matrix_stages {
    hx_device *dev; /* (borrowed) */
    const hx_matrix_ops *ops;
    hx_form form;
    const hx_cell_rule *rule; /* for quadratic elements (borrowed); else NULL */
    int64_t n_cell_point;     /* largest number of points of a cell */
    hx_build build;
    hx_part part;
    hx_fill fill;
    int repeats; /* repetitions of the fill, for its time; at least 1 */
    /* for the current range */
    hx_fill_input input;
    hx_spline_rule spline; /* for a spline: that of the input, with arrays on the device */
    char *d_mesh;          /* memory to which `input` points */
    void *fill_state;
    hx_matrix_made made;
    hx_matrix_made old; /* the previous range, which is copied to the host */
    /* over all ranges */
    hx_steps steps;
    double upload_seconds, pattern_seconds, prepare_seconds, fill_seconds;
    int64_t n_value;
    size_t range_bytes, most_bytes; /* device memory: of the largest range, and the peak */
} hx_matrix_stages;

/* HX_EINPUT: the device does not support matrices, or that builder or fill. */
int hx_matrix_stages_open(hx_matrix_stages *st, hx_session *s, const hx_matrix_plan *plan);
/* Copies the range's mesh and its modulus[n_cell] to the device; on return the host's arrays can be
 * changed. */
int hx_matrix_stages_load(hx_matrix_stages *st, const hx_row_range *range, const double *modulus);
/* Queues the computation of its values, then releases the memory of the input. */
int hx_matrix_stages_make(hx_matrix_stages *st, const hx_row_range *range);
/* Queues the copy of the rows to `to`, with that slot; *rows borrows from there and is complete
 * after fetch_wait. */
int hx_matrix_stages_fetch(hx_matrix_stages *st, int slot, char *to, hx_matrix_rows *rows);
/* Number of bytes of `to`. */
size_t hx_matrix_stages_room(const hx_matrix_stages *st, int64_t n_row, int64_t n_entry);
/* Releases the previous range, whose rows have arrived; the current one becomes the previous
 * one. */
int hx_matrix_stages_next(hx_matrix_stages *st);
/* Frees the memory of ranges. */
void hx_matrix_stages_drop(hx_matrix_stages *st);

/* Memory per row, point and cell, for planning the ranges. several: two ranges are on the device at
 * once, and three on the host. is_fetched, is_written: rows are copied to the host; they are
 * converted to scalar rows. */
void hx_matrix_stages_cost(const hx_matrix_stages *st, int widest, int several, int is_fetched,
                           int is_written, hx_range_cost *cost);

/* Device memory that is kept from range to range, behind the device's alloc and release; a real
 * allocation would wait for all queued work, downloads included. For one thread, and for work that
 * is queued in one order. */
typedef struct hx_matrix_memory {
    hx_device_layer layer;       /* must be first */
    hx_device *dev;              /* (borrowed) */
    struct hx_kept_block *block; /* (owned) */
    int n;
    size_t room;
    /* limit of the bytes kept, which is exceeded only if necessary */
    double limit;
    size_t held, used, most, most_held; /* current and largest numbers of bytes, held and used */
} hx_matrix_memory;

void hx_matrix_memory_open(hx_matrix_memory *memory, hx_device *dev, double limit);
/* Releases everything that was allocated meanwhile. Accepts a zeroed struct. */
void hx_matrix_memory_close(hx_matrix_memory *memory);

/* A thread that runs one task after the other. Zeroed: not started. */
typedef struct hx_matrix_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    /* n_thread: number of OpenMP threads, as in the thread that gave the first task */
    int runs, ends, n_thread;
    int (*work)(void *what); /* NULL: nothing to do */
    void *what;
    int rc; /* result of the last task with its message, until the caller reads it */
    char message[HX_MESSAGE_SIZE];
} hx_matrix_worker;

/* Waits for the current task, then starts the next. Returns the error of the task that ended. */
int hx_matrix_worker_give(hx_matrix_worker *worker, int (*work)(void *what), void *what);
int hx_matrix_worker_wait(hx_matrix_worker *worker);
/* Waits for the current task and ends the thread; accepts a zeroed struct. */
void hx_matrix_worker_end(hx_matrix_worker *worker);

typedef struct hx_matrix_job hx_matrix_job;

/* A range of rows on the host. */
typedef struct hx_matrix_chunk {
    hx_matrix_job *job;     /* (borrowed) */
    int slot, is_coming;    /* is_coming: a copy to the host is queued */
    hx_row_range range;     /* (owned) */
    hx_matrix_rows blocks;  /* in the slot's buffer (borrowed) */
    hx_number_rows numbers; /* (owned) */
} hx_matrix_chunk;

enum { HX_MATRIX_SLOTS = 2 };

/* All rows, range by range: one thread prepares the mesh of the next range, the calling thread lets
 * the device make rows, a second thread takes the rows of the previous range and converts them to
 * scalar rows, and a third writes those. */
typedef struct hx_matrix_chunks {
    int is_fetched;          /* rows are copied to the host */
    int is_chunked;          /* 1: ranges were requested or are needed; they are then reported */
    int64_t n_range, *first; /* (owned) */
    hx_range_most most;
    double device_budget;
    hx_matrix_memory device;
    char *host; /* buffers of the slots, then room for a mesh: pinned (owned) */
    size_t buffer_bytes, room_bytes;
    hx_matrix_chunk chunk[HX_MATRIX_SLOTS];
    hx_matrix_worker preparer, hand, writer;
    int64_t next; /* range, mesh and modulus of the preparing thread */
    hx_row_range prepared;
    const double *modulus;
    int64_t n_cell, n_byte; /* over all ranges: cells integrated, bytes copied to the host */
    double pinned_seconds, loop_seconds, prepare_seconds, prepare_wait, hand_wait, copy_rate;
} hx_matrix_chunks;

/* Plans the ranges from the job's counts. HX_EINPUT: even the smallest range is too large. */
int hx_matrix_chunks_plan(hx_matrix_job *job);
int hx_matrix_chunks_run(hx_matrix_job *job);
/* Ends the threads and frees everything; accepts a zeroed struct. */
void hx_matrix_chunks_free(hx_matrix_job *job);

/* Task of the thread that takes rows: moves columns to the loads, converts the rows, and passes
 * them on for writing. what: a chunk. */
int hx_matrix_hand_work(void *what);

struct hx_matrix_job {
    hx_session session;
    hx_output_names outputs; /* names of the plan */
    hx_matrix_meter meter;   /* memory of its device */
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
    int notes_signals;        /* 1: signals are recorded, since there are incomplete files */
    int64_t file_bytes;
    double download_seconds, cut_seconds, write_seconds;
};

/* Opens all files; called before the first range. From here on signals are recorded and stop the
 * writing. Once everything is removed, hx_matrix_end_signals raises them. */
int hx_matrix_open_files(hx_matrix_job *job);
/* Writes the remaining data, then gives all files their names. */
int hx_matrix_close_files(hx_matrix_job *job);
/* Removes incomplete files. */
void hx_matrix_drop_files(hx_matrix_job *job);
/* May not return. */
void hx_matrix_end_signals(const hx_matrix_job *job);
/* HX_EIO: a signal was recorded. */
int hx_matrix_go_on(const hx_matrix_job *job);

/* Reports on the terminal: before the first range, and after the last. */
void hx_matrix_report_sizes(const hx_matrix_job *job);
int hx_matrix_report_times(hx_matrix_job *job);
void hx_matrix_report_files(const hx_matrix_job *job);

#endif
