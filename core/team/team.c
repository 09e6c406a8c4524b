/* A team of one, and sums. */
#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

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
    .abort = end_alone,
    .leave = leave_alone,
};

void hx_team_alone(hx_team *team)
{
    *team = (hx_team){.ops = &alone, .size = 1, .host_size = 1};
}

void hx_team_leave(hx_team *team)
{
    if (team->ops) team->ops->leave(team);
    hx_team_alone(team);
}

enum { FEW = 8 };

int hx_team_sum(const hx_team *team, int n, double *sum)
{
    if (team->size == 1) return HX_OK;
    if (n > FEW) return HX_RAISE(HX_EINTERNAL, "%d sums at once", n);
    double *all;
    HX_TRY(hx_alloc_raw(&all, (size_t)team->size * (size_t)n, sizeof *all, "sums of a team"));
    const int rc = team->ops->all_gather(team, sum, (size_t)n * sizeof *sum, all);
    for (int i = 0; rc == HX_OK && i < n; i++) {
        sum[i] = all[i];
        for (int r = 1; r < team->size; r++) sum[i] += all[r * n + i];
    }
    free(all);
    return rc;
}

/* First entry of a rank's piece. */
static int64_t piece(int64_t n, const hx_team *team, int rank)
{
    return n * rank / team->size;
}

/* Every rank's copy of this rank's piece into pieces[size][own]; all messages have one size, so
 * pieces are as long as the longest. */
static int trade_pieces(const hx_team *team, int64_t n, int64_t longest, const float *sum,
                        float *out, float *pieces)
{
    hx_message *message;
    const size_t bytes = (size_t)longest * sizeof *sum;
    HX_TRY(hx_alloc_raw(&message, (size_t)team->size, sizeof *message, "sums of a team"));
    int n_message = 0;
    for (int r = 0; r < team->size; r++) {
        const int64_t begin = piece(n, team, r), own = piece(n, team, r + 1) - begin;
        float *const to = out + r * longest;
        memcpy(to, sum + begin, (size_t)own * sizeof *sum);
        for (int64_t i = own; i < longest; i++) to[i] = 0.0f;
        if (r == team->rank) {
            memcpy(pieces + r * longest, to, bytes);
            continue;
        }
        message[n_message++] = (hx_message){r, bytes, to, pieces + r * longest};
    }
    const int rc = team->ops->exchange(team, n_message, message);
    free(message);
    return rc;
}

int hx_team_sum_single(const hx_team *team, int64_t n, float *sum)
{
    const int64_t longest = n / team->size + 1;
    float *out = NULL, *pieces = NULL;
    int rc;
    if (team->size == 1) return HX_OK;
    const size_t n_all = (size_t)longest * (size_t)team->size;
    HX_TRY_FAIL(hx_alloc_raw(&out, n_all, sizeof *out, "sums of a team"));
    HX_TRY_FAIL(hx_alloc_raw(&pieces, n_all, sizeof *pieces, "sums of a team"));
    HX_TRY_FAIL(trade_pieces(team, n, longest, sum, out, pieces));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < longest; i++)
        for (int r = 1; r < team->size; r++) pieces[i] += pieces[r * longest + i];
    rc = team->ops->all_gather(team, pieces, (size_t)longest * sizeof *sum, out);
    for (int r = 0; rc == HX_OK && r < team->size; r++)
        memcpy(sum + piece(n, team, r), out + r * longest,
               (size_t)(piece(n, team, r + 1) - piece(n, team, r)) * sizeof *sum);
fail:
    free(out);
    free(pieces);
    return rc;
}
