/* Processes that work on one run: who there is, and how bytes go from one to another. All are
 * collective: every process of the team calls the same function with the same sizes. Host memory.
 */
#ifndef HX_TEAM_H
#define HX_TEAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_team hx_team;
typedef struct hx_team_work hx_team_work;

/* What goes to one other process and what comes from it. */
typedef struct hx_message {
    int rank;
    size_t bytes; /* each way */
    const void *send;
    void *receive;
} hx_message;

typedef struct hx_team_ops {
    const char *name;
    int (*broadcast)(const hx_team *team, int from, void *data, size_t bytes);
    /* all[size][bytes], by rank. */
    int (*all_gather)(const hx_team *team, const void *own, size_t bytes, void *all);
    /* At rank `to` all[] one after the other, bytes[size] of each rank; elsewhere all may be NULL.
     * scatter is the reverse. */
    int (*gather)(const hx_team *team, int to, const void *own, const size_t *bytes, void *all);
    int (*scatter)(const hx_team *team, int from, const void *all, const size_t *bytes, void *own);
    /* All messages of this process at once; none is empty, and each has its answer. */
    int (*exchange)(const hx_team *team, int n, const hx_message *message);
    /* 1 if all have come here within the seconds given, else 0. At most once. */
    int (*meet)(const hx_team *team, double seconds);
    /* A file for all to write, each by itself; hx_team_file (team_file.h) has its name and its end.
     * stream: the first process' own, NULL elsewhere; path: where all find it. Nobody waits, as in
     * closing. is_synced: what this process wrote is on the disk then. */
    int (*open_file)(const hx_team *team, FILE *stream, const char *path, void **opened);
    /* Bytes at a place of the file, by this process; in any thread, one at a time. 0 or the reason,
     * an errno. */
    int (*write_at)(void *opened, uint64_t at, const void *data, size_t bytes);
    int (*close_file)(void *opened, int is_synced);
    /* Ends all processes with that exit status; one alone it leaves to its caller. */
    void (*abort)(const hx_team *team, int status);
    void (*leave)(hx_team *team);
} hx_team_ops;

struct hx_team {
    const hx_team_ops *ops;
    int rank, size;
    int host_rank, host_size; /* among those of this machine */
    int can_write;            /* 1: files can be written by all (open_file) */
    void *impl;               /* (owned by the backend) */
    hx_team_work *work;       /* of sums (owned); NULL alone */
};

/* A team of one; never fails. */
void hx_team_alone(hx_team *team);

/* 1 if mpirun (or srun) started this process as one of several: told from the environment, so that
 * a process alone never loads MPI's machinery. */
int hx_team_is_started(void);

/* 1 if this build has MPI. */
int hx_team_available(void);

/* All processes that were started together. HX_EENV: there are several, but this build has no MPI.
 */
int hx_team_join(hx_team *team);

/* Before the process ends; the struct is a team of one then. */
void hx_team_leave(hx_team *team);

/* First of n items of a rank's piece, of the rank after the last one n. */
static inline int64_t hx_team_piece(const hx_team *team, int64_t n, int rank)
{
    return n / team->size * rank + n % team->size * rank / team->size;
}

/* What each process comes to, 0 or an error code with its message, becomes that of all: the first
 * one's by rank that failed. */
int hx_team_agree(const hx_team *team, int own);

/* sum[n] := the sums over all processes, added in the order of the ranks: the same bits
 * everywhere and on every run. */
int hx_team_sum(const hx_team *team, int n, double *sum);

/* The same of long arrays of floats: each process adds a piece of them. O(n); goes through at most
 * 32 MB of host memory, kept for the next. */
int hx_team_sum_single(const hx_team *team, int64_t n, float *sum);

#ifdef __cplusplus
}
#endif

#endif
