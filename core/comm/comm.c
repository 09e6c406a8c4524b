/* The communicator of one rank, and sums. */
#include "comm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "comm_internal.h"

static int stay(const hx_comm *comm, int from, void *data, size_t bytes)
{
    (void)comm;
    (void)from;
    (void)data;
    (void)bytes;
    return HX_OK;
}

static int copy_own(const hx_comm *comm, const void *own, size_t bytes, void *all)
{
    (void)comm;
    if (bytes > 0) memcpy(all, own, bytes);
    return HX_OK;
}

static int gather_own(const hx_comm *comm, int to, const void *own, const size_t *bytes, void *all)
{
    (void)to;
    return copy_own(comm, own, bytes[0], all);
}

static int scatter_own(const hx_comm *comm, int from, const void *all, const size_t *bytes,
                       void *own)
{
    (void)from;
    return copy_own(comm, all, bytes[0], own);
}

static int exchange_nothing(const hx_comm *comm, int n, const hx_message *message)
{
    (void)comm;
    (void)n;
    (void)message;
    return HX_OK;
}

static int meet_oneself(const hx_comm *comm, double seconds)
{
    (void)comm;
    (void)seconds;
    return 1;
}

static int open_stream(const hx_comm *comm, FILE *stream, const char *path, void **opened)
{
    (void)comm;
    (void)path;
    *opened = stream;
    return HX_OK;
}

/* A single rank writes a file from beginning to end, so there is no gap and `at` is not needed. */
static int write_stream(void *opened, uint64_t at, const void *data, size_t bytes)
{
    (void)at;
    errno = 0;
    if (fwrite(data, 1, bytes, (FILE *)opened) == bytes) return 0;
    return errno ? errno : EIO;
}

static int leave_stream(void *opened, int is_synced)
{
    (void)opened;
    (void)is_synced; /* the stream's owner closes it */
    return HX_OK;
}

static void end_alone(const hx_comm *comm, int status)
{
    (void)comm;
    (void)status;
}

static void leave_alone(hx_comm *comm)
{
    (void)comm;
}

static const hx_comm_ops alone = {
    .name = "alone",
    .broadcast = stay,
    .all_gather = copy_own,
    .gather = gather_own,
    .scatter = scatter_own,
    .exchange = exchange_nothing,
    .meet = meet_oneself,
    .open_file = open_stream,
    .write_at = write_stream,
    .close_file = leave_stream,
    .abort = end_alone,
    .leave = leave_alone,
};

void hx_comm_self(hx_comm *comm)
{
    *comm = (hx_comm){.ops = &alone, .size = 1, .host_size = 1, .can_write = 1};
}

static const char what[] = "sums over ranks";

int hx_comm_create_work(hx_comm *comm)
{
    const size_t size = (size_t)comm->size;
    HX_TRY(hx_alloc(&comm->work, 1, sizeof *comm->work, what));
    HX_TRY(hx_alloc_raw(&comm->work->scalars, size * HX_COMM_FEW, sizeof(double), what));
    return hx_alloc_raw(&comm->work->message, size, sizeof(hx_message), what);
}

static void free_work(hx_comm_work *work)
{
    if (!work) return;
    free(work->scalars);
    free(work->message);
    free(work->out);
    free(work->pieces);
    free(work);
}

void hx_comm_leave(hx_comm *comm)
{
    if (comm->ops) comm->ops->leave(comm);
    free_work(comm->work);
    hx_comm_self(comm);
}

/* The result of one rank: 0, or an error code with its message. */
typedef struct verdict {
    int32_t rc;
    char why[HX_COMM_WHY];
} verdict;

int hx_comm_agree(const hx_comm *comm, int own)
{
    verdict mine = {.rc = own}, *all;
    if (comm->size == 1) return own;
    if (own < 0) snprintf(mine.why, sizeof mine.why, "%s", hx_error_message());
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, "processes"));
    int rc = comm->ops->all_gather(comm, &mine, sizeof mine, all);
    for (int r = 0; rc == HX_OK && r < comm->size; r++)
        if (all[r].rc < 0) rc = r == comm->rank ? own : HX_RAISE(all[r].rc, "%s", all[r].why);
    free(all);
    return rc;
}

static int sum_few(const hx_comm *comm, int n, double *sum)
{
    double *const all = comm->work->scalars;
    HX_TRY(comm->ops->all_gather(comm, sum, (size_t)n * sizeof *sum, all));
    for (int i = 0; i < n; i++) {
        sum[i] = all[i];
        for (int r = 1; r < comm->size; r++) sum[i] += all[r * n + i];
    }
    return HX_OK;
}

int hx_comm_sum(const hx_comm *comm, int n, double *sum)
{
    for (int at = 0; at < n && comm->size > 1; at += HX_COMM_FEW)
        HX_TRY(sum_few(comm, n - at < HX_COMM_FEW ? n - at : HX_COMM_FEW, sum + at));
    return HX_OK;
}

/* Collects every rank's copy of this rank's piece in pieces[size][longest]. All messages have the
 * same size, so pieces are padded to the longest. */
static int trade_pieces(const hx_comm *comm, int64_t n, int64_t longest, const float *sum)
{
    hx_comm_work *const work = comm->work;
    const size_t bytes = (size_t)longest * sizeof *sum;
    int n_message = 0;
    for (int r = 0; r < comm->size; r++) {
        const int64_t begin = hx_comm_piece(comm, n, r),
                      own = hx_comm_piece(comm, n, r + 1) - begin;
        float *const to = work->out + r * longest, *const from = work->pieces + r * longest;
        memcpy(to, sum + begin, (size_t)own * sizeof *sum);
        for (int64_t i = own; i < longest; i++) to[i] = 0.0f;
        if (r == comm->rank)
            memcpy(from, to, bytes);
        else
            work->message[n_message++] = (hx_message){r, bytes, to, from};
    }
    return comm->ops->exchange(comm, n_message, work->message);
}

static int sum_block(const hx_comm *comm, int64_t n, float *sum)
{
    const int64_t longest = n / comm->size + 1;
    float *const out = comm->work->out, *const pieces = comm->work->pieces;
    HX_TRY(trade_pieces(comm, n, longest, sum));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < longest; i++)
        for (int r = 1; r < comm->size; r++) pieces[i] += pieces[r * longest + i];
    HX_TRY(comm->ops->all_gather(comm, pieces, (size_t)longest * sizeof *sum, out));
    for (int r = 0; r < comm->size; r++)
        memcpy(sum + hx_comm_piece(comm, n, r), out + r * longest,
               (size_t)(hx_comm_piece(comm, n, r + 1) - hx_comm_piece(comm, n, r)) * sizeof *sum);
    return HX_OK;
}

/* Provides buffers for blocks of n floats; each rank's piece may be one float longer than its
 * part. */
static int need_floats(const hx_comm *comm, int64_t n)
{
    hx_comm_work *const work = comm->work;
    const size_t n_float = (size_t)(n + comm->size);
    if (work->n_float >= n_float) return HX_OK;
    free(work->out);
    free(work->pieces);
    work->out = work->pieces = NULL;
    work->n_float = 0;
    HX_TRY(hx_alloc_raw(&work->out, n_float, sizeof(float), what));
    HX_TRY(hx_alloc_raw(&work->pieces, n_float, sizeof(float), what));
    work->n_float = n_float;
    return HX_OK;
}

int hx_comm_sum_single(const hx_comm *comm, int64_t n, float *sum)
{
    if (comm->size == 1) return HX_OK;
    HX_TRY(need_floats(comm, n < HX_COMM_BLOCK ? n : HX_COMM_BLOCK));
    for (int64_t at = 0; at < n; at += HX_COMM_BLOCK)
        HX_TRY(sum_block(comm, n - at < HX_COMM_BLOCK ? n - at : HX_COMM_BLOCK, sum + at));
    return HX_OK;
}
