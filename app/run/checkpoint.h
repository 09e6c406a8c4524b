/* Checkpoints of a run: one file in the output folder from which `hextop run FILE --resume` goes on
 * as if the run had not ended. What a design leaves behind is listed by core
 * (optimizer_snapshot.c), what the run adds (history, files, timings) here. */
#ifndef HX_CHECKPOINT_H
#define HX_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>

#include "../output/history.h"
#include "../output/output.h"
#include "../output/stats.h"
#include "../session/identity.h"
#include "core/device/snapshot.h"

/* In output.directory; the one before is kept. */
#define HX_CHECKPOINT_FILE "checkpoint.state"
#define HX_CHECKPOINT_PREVIOUS "checkpoint.previous.state"

/* What of a run goes into it (all borrowed). */
typedef struct hx_checkpoint_parts {
    hx_session *session;
    hx_output *output;
    hx_stats *stats;
    const char *history; /* path of history.csv */
} hx_checkpoint_parts;

typedef struct hx_checkpoint {
    char *path, *previous; /* (owned) */
    double interval;       /* seconds; NaN: 100 times what the last one took; 0: none by time */
    double due;            /* hx_clock of the next one */
    double copied;         /* seconds that the run waited for the one being written */
    double written;        /* and those of the thread */
    double seconds;        /* that the last one took, both */
    hx_snapshot image;     /* of the one being written */
    pthread_t thread;
    int is_writing; /* the thread runs, or waits to be joined */
    atomic_int is_written;
    int rc; /* of the thread */
    char message[1024];
    int n_written;
} hx_checkpoint;

/* After hx_output_open. Removes checkpoints of earlier runs in the folder, unless this one goes on
 * from them. */
int hx_checkpoint_open(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts, int is_resumed);

/* After an iteration has been recorded, before hx_optimizer_advance: copies and has a thread write,
 * if one is due and none is being written. A checkpoint that cannot be written is warned of. */
void hx_checkpoint_offer(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts);

/* The same in any case, at the end of a run, and waits until it is written. A checkpoint that
 * failed leaves the one before, is warned of and returns its error. */
int hx_checkpoint_write(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts);

/* 1 if this run has written one, or goes on from one. */
int hx_checkpoint_exists(const hx_checkpoint *checkpoint);

/* Reads the checkpoint of the folder that cfg names, before the session is opened: operator, layout
 * and preconditioner that "auto" stood for. HX_EINPUT: there is none, or it is damaged; says
 * whether the previous one would do. */
int hx_checkpoint_read(hx_checkpoint *checkpoint, hx_config *cfg);

/* Into an open session and an open output. *history: the text of history.csv so far, the caller's
 * to free. HX_EINPUT: of another mesh or other settings, with the first that differs. */
int hx_checkpoint_load(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts, char **history,
                       size_t *n_history);

/* The command that goes on, for n more iterations, with the run that a result file is of. Returns 0
 * if there is none: no checkpoint and config.cfg beside the file, or the text is too short. */
int hx_checkpoint_command(const char *result, int n, char *text, size_t n_text);

/* Waits for the thread; accepts a zeroed struct. */
void hx_checkpoint_free(hx_checkpoint *checkpoint);

#endif
