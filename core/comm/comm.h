/* The communicator of a run (`hx_comm`): its ranks, and how bytes go from one to another. Unless
 * stated otherwise, functions are collective: every rank calls them in the same order with the same
 * sizes. All data are in host memory. */
#ifndef HX_COMM_H
#define HX_COMM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/error.h"

HX_C_BEGIN

typedef struct hx_comm hx_comm;
typedef struct hx_comm_work hx_comm_work;

/* A two-way exchange with one other rank. */
typedef struct hx_message {
    int rank;
    size_t bytes; /* in each direction */
    const void *send;
    void *receive;
} hx_message;

typedef struct hx_comm_ops {
    const char *name;
    int (*broadcast)(const hx_comm *comm, int from, void *data, size_t bytes);
    /* all[size][bytes] := `own` of every rank, in the order of the ranks. */
    int (*all_gather)(const hx_comm *comm, const void *own, size_t bytes, void *all);
    /* all[] of rank `to` := bytes[r] bytes of each rank r, one after the other; on other ranks all
     * may be NULL. scatter is the reverse. */
    int (*gather)(const hx_comm *comm, int to, const void *own, const size_t *bytes, void *all);
    int (*scatter)(const hx_comm *comm, int from, const void *all, const size_t *bytes, void *own);
    /* Performs all messages of this rank at once. None is empty, and each has its counterpart on
     * the other rank. */
    int (*exchange)(const hx_comm *comm, int n, const hx_message *message);
    /* Returns 1 if all ranks call it within the given number of seconds, otherwise 0. To be called
     * at most once. */
    int (*meet)(const hx_comm *comm, double seconds);
    /* A file that all ranks write; hx_comm_file (comm_file.h) creates and renames it. stream: on
     * the first rank its own stream, NULL on the others; path: the path for all ranks. Opening and
     * closing wait for no other rank. is_synced = 1: on return the bytes written by this rank are
     * on the disk. */
    int (*open_file)(const hx_comm *comm, FILE *stream, const char *path, void **opened);
    /* Writes bytes of this rank at an offset of the file, from any thread, one at a time. Returns 0
     * or an errno. Not collective. */
    int (*write_at)(void *opened, uint64_t at, const void *data, size_t bytes);
    int (*close_file)(void *opened, int is_synced);
    /* Terminates all ranks with that exit status. With one rank it returns, and the caller
     * exits. */
    void (*abort)(const hx_comm *comm, int status);
    void (*leave)(hx_comm *comm);
} hx_comm_ops;

struct hx_comm {
    const hx_comm_ops *ops;
    int rank, size;
    int host_rank, host_size; /* rank and size among the ranks of this machine */
    int can_write;            /* 1: open_file is supported */
    void *impl;               /* (owned by the backend) */
    hx_comm_work *work;       /* scratch memory of sums (owned); NULL with one rank */
};

/* Makes the communicator of one rank; never fails. */
void hx_comm_self(hx_comm *comm);

/* Returns 1 if mpirun (or srun) started this process as one of several. It reads the environment,
 * so that a single process never loads the MPI runtime. */
int hx_comm_is_started(void);

/* Rank of this process as the environment states it, for use before hx_comm_join; 0 for a single
 * process, or if the rank is unknown. */
int hx_comm_started_rank(void);

/* Returns 1 if this build has MPI. */
int hx_comm_available(void);

/* Makes the communicator of all processes that were started together. HX_EENV: there are several,
 * but this build has no MPI, or another one than that of mpirun. */
int hx_comm_join(hx_comm *comm);

/* To be called before the process ends; afterwards the struct is the communicator of one rank. */
void hx_comm_leave(hx_comm *comm);

/* First of n items in the piece of a rank; n for rank = size. */
static inline int64_t hx_comm_piece(const hx_comm *comm, int64_t n, int rank)
{
    return n / comm->size * rank + n % comm->size * rank / comm->size;
}

/* Turns an error of any rank into an error of all ranks: each passes 0 or an error code with its
 * message recorded, and all return the first error in the order of the ranks. */
int hx_comm_agree(const hx_comm *comm, int own);

/* sum[n] := sums over all ranks, added in the order of the ranks, so the result is bitwise the same
 * on every rank and in every run with as many ranks. */
int hx_comm_sum(const hx_comm *comm, int n, double *sum);

/* Like hx_comm_sum, for long arrays of floats: each rank adds one piece of them. O(n); uses at most
 * 32 MB of host memory, which is kept for later sums. */
int hx_comm_sum_single(const hx_comm *comm, int64_t n, float *sum);

HX_C_END

#endif
