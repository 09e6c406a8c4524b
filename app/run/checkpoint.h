/* Checkpoints of a run: one file in the output folder, from which `hextop run FILE --resume`
 * continues as if the run had not ended. optimizer_snapshot.c in core saves the state of a design;
 * this file adds the state of the run (history, files, times). */
#ifndef HX_CHECKPOINT_H
#define HX_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>

#include "../output/history.h"
#include "../output/output.h"
#include "../output/stats.h"
#include "../session/identity.h"
#include "core/device/snapshot.h"

/* In output.directory; the previous checkpoint is kept. */
#define HX_CHECKPOINT_FILE "checkpoint.state"
#define HX_CHECKPOINT_PREVIOUS "checkpoint.previous.state"

/* Parts of a run that a checkpoint contains (all borrowed). */
typedef struct hx_checkpoint_parts {
    hx_session *session;
    hx_output *output;
    hx_stats *stats;
    const char *history; /* path of history.csv */
} hx_checkpoint_parts;

typedef struct hx_checkpoint {
    char *path, *previous; /* (owned) */
    /* interval in seconds; NaN: 100 times the duration of the last checkpoint; 0: none by time */
    double interval;
    double due;        /* hx_clock at which the next checkpoint is due */
    double copied;     /* seconds that the run waited for the checkpoint being written */
    double written;    /* seconds that the thread took to write it */
    double seconds;    /* seconds of copying and writing the last checkpoint */
    hx_snapshot image; /* image of the checkpoint being written */
    pthread_t thread;
    int is_writing; /* the thread runs, or has not been joined */
    atomic_int is_written;
    int rc; /* of the thread */
    char message[HX_MESSAGE_SIZE];
    int n_written;
} hx_checkpoint;

/* Called after hx_output_open. Removes checkpoints of earlier runs in the folder, unless this run
 * resumes from them. */
int hx_checkpoint_open(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts, int is_resumed);

/* 1 if the time has come and no checkpoint is being written. */
int hx_checkpoint_is_due(hx_checkpoint *checkpoint);

/* Copies the state and starts a thread that writes it. Called after an iteration has been recorded
 * and before hx_optimizer_advance. Warns if a checkpoint cannot be written. Collective. */
void hx_checkpoint_begin(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts);

/* Writes a checkpoint in any case, at the end of a run, and waits until it is complete. On failure
 * the previous one is left, a warning is printed, and the error is returned. Collective. */
int hx_checkpoint_write(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts);

/* 1 if this run has written a checkpoint, or was resumed from one. */
int hx_checkpoint_exists(const hx_checkpoint *checkpoint);

/* Reads the checkpoint in the folder of cfg before the session is opened, and sets operator, layout
 * and preconditioner to those selected for "auto". HX_EINPUT: there is no checkpoint, or it is
 * damaged; the message states whether the previous one is complete. */
int hx_checkpoint_read(hx_checkpoint *checkpoint, hx_config *cfg);

/* Restores an open session and an open output. *history: on the first process the text of
 * history.csv so far, which the caller frees. Collective. HX_EINPUT: the checkpoint belongs to
 * another mesh or other settings; the message names the first that differs. */
int hx_checkpoint_load(hx_checkpoint *checkpoint, const hx_checkpoint_parts *parts, char **history,
                       size_t *n_history);

/* Writes the command that continues, for n more iterations, the run to which a result file belongs.
 * Returns 0 if there is none: there is no checkpoint or config.cfg beside the file, or the text is
 * too short. */
int hx_checkpoint_command(const char *result, int n, char *text, size_t n_text);

/* Waits for the thread; accepts a zeroed struct. */
void hx_checkpoint_free(hx_checkpoint *checkpoint);

#endif
