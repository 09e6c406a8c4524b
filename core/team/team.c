/* The communicator of one rank, and sums. */
#include "team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "team_internal.h"

static int stay(const hx_team *team, int from, void *data, size_t bytes)
{
    (void)team;
    (void)from;
    (void)data;
    (void)bytes;
    return HX_OK;
}

static int copy_own(const hx_team *team, const void *own, size_t bytes, void *all)
{
    (void)team;
    if (bytes > 0) memcpy(all, own, bytes);
    return HX_OK;
}

static int gather_own(const hx_team *team, int to, const void *own, const size_t *bytes, void *all)
{
    (void)to;
    return copy_own(team, own, bytes[0], all);
}

static int scatter_own(const hx_team *team, int from, const void *all, const size_t *bytes,
                       void *own)
{
    (void)from;
    return copy_own(team, all, bytes[0], own);
}

static int exchange_nothing(const hx_team *team, int n, const hx_message *message)
{
    (void)team;
    (void)n;
    (void)message;
    return HX_OK;
}

static int meet_oneself(const hx_team *team, double seconds)
{
    (void)team;
    (void)seconds;
    return 1;
}

static int open_stream(const hx_team *team, FILE *stream, const char *path, void **opened)
{
    (void)team;
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
    (void)is_synced; /* the owner of the stream closes it */
    return HX_OK;
}

static void end_alone(const hx_team *team, int status)
{
    (void)team;
    (void)status;
}

static void leave_alone(hx_team *team)
{
    (void)team;
}

static const hx_team_ops alone = {
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

void hx_team_alone(hx_team *team)
{
    *team = (hx_team){.ops = &alone, .size = 1, .host_size = 1, .can_write = 1};
}

static const char what[] = "sums over ranks";

int hx_team_create_work(hx_team *team)
{
    const size_t size = (size_t)team->size;
    HX_TRY(hx_alloc(&team->work, 1, sizeof *team->work, what));
    HX_TRY(hx_alloc_raw(&team->work->scalars, size * HX_TEAM_FEW, sizeof(double), what));
    return hx_alloc_raw(&team->work->message, size, sizeof(hx_message), what);
}

static void free_work(hx_team_work *work)
{
    if (!work) return;
    free(work->scalars);
    free(work->message);
    free(work->out);
    free(work->pieces);
    free(work);
}

void hx_team_leave(hx_team *team)
{
    if (team->ops) team->ops->leave(team);
    free_work(team->work);
    hx_team_alone(team);
}

/* The result of one rank: 0, or an error code with its message. */
typedef struct verdict {
    int32_t rc;
    char why[HX_TEAM_WHY];
} verdict;

int hx_team_agree(const hx_team *team, int own)
{
    verdict mine = {.rc = own}, *all;
    if (team->size == 1) return own;
    if (own < 0) snprintf(mine.why, sizeof mine.why, "%s", hx_error_message());
    HX_TRY(hx_alloc_raw(&all, (size_t)team->size, sizeof *all, "processes"));
    int rc = team->ops->all_gather(team, &mine, sizeof mine, all);
    for (int r = 0; rc == HX_OK && r < team->size; r++)
        if (all[r].rc < 0) rc = HX_RAISE(all[r].rc, "%s", all[r].why);
    free(all);
    return rc;
}

int hx_team_sum(const hx_team *team, int n, double *sum)
{
    if (team->size == 1) return HX_OK;
    if (n > HX_TEAM_FEW) return HX_RAISE(HX_EINTERNAL, "%d sums at once", n);
    double *const all = team->work->scalars;
    HX_TRY(team->ops->all_gather(team, sum, (size_t)n * sizeof *sum, all));
    for (int i = 0; i < n; i++) {
        sum[i] = all[i];
        for (int r = 1; r < team->size; r++) sum[i] += all[r * n + i];
    }
    return HX_OK;
}

/* Collects every rank's copy of this rank's piece in pieces[size][longest]. All messages have the
 * same size, so pieces are padded to the longest. */
static int trade_pieces(const hx_team *team, int64_t n, int64_t longest, const float *sum)
{
    hx_team_work *const work = team->work;
    const size_t bytes = (size_t)longest * sizeof *sum;
    int n_message = 0;
    for (int r = 0; r < team->size; r++) {
        const int64_t begin = hx_team_piece(team, n, r),
                      own = hx_team_piece(team, n, r + 1) - begin;
        float *const to = work->out + r * longest, *const from = work->pieces + r * longest;
        memcpy(to, sum + begin, (size_t)own * sizeof *sum);
        for (int64_t i = own; i < longest; i++) to[i] = 0.0f;
        if (r == team->rank)
            memcpy(from, to, bytes);
        else
            work->message[n_message++] = (hx_message){r, bytes, to, from};
    }
    return team->ops->exchange(team, n_message, work->message);
}

static int sum_block(const hx_team *team, int64_t n, float *sum)
{
    const int64_t longest = n / team->size + 1;
    float *const out = team->work->out, *const pieces = team->work->pieces;
    HX_TRY(trade_pieces(team, n, longest, sum));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < longest; i++)
        for (int r = 1; r < team->size; r++) pieces[i] += pieces[r * longest + i];
    HX_TRY(team->ops->all_gather(team, pieces, (size_t)longest * sizeof *sum, out));
    for (int r = 0; r < team->size; r++)
        memcpy(sum + hx_team_piece(team, n, r), out + r * longest,
               (size_t)(hx_team_piece(team, n, r + 1) - hx_team_piece(team, n, r)) * sizeof *sum);
    return HX_OK;
}

/* Provides buffers for blocks of n floats; each rank's piece may be one float longer than its
 * part. */
static int need_floats(const hx_team *team, int64_t n)
{
    hx_team_work *const work = team->work;
    const size_t n_float = (size_t)(n + team->size);
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

int hx_team_sum_single(const hx_team *team, int64_t n, float *sum)
{
    if (team->size == 1) return HX_OK;
    HX_TRY(need_floats(team, n < HX_TEAM_BLOCK ? n : HX_TEAM_BLOCK));
    for (int64_t at = 0; at < n; at += HX_TEAM_BLOCK)
        HX_TRY(sum_block(team, n - at < HX_TEAM_BLOCK ? n - at : HX_TEAM_BLOCK, sum + at));
    return HX_OK;
}
