#define _GNU_SOURCE /* gethostname */
#include "mail.h"

#include <string.h>
#include <unistd.h>

#include "../base/clock.h"

enum { HOST = 64, LEAST_HALF = 4096, LINE = 256 };
#define PATIENCE 5.0 /* seconds to wait for the values of a test exchange */

/* What ranks announce: the identity of the machine and device (place), and the handle of the buffer
 * (offer). */
typedef struct place {
    char host[HOST];
    unsigned char device[HX_MAIL_DEVICE];
    int32_t is_known;
} place;

typedef struct offer {
    unsigned char handle[HX_MAIL_HANDLE];
    int32_t is_there;
} offer;

static void close_others(hx_mail *mail)
{
    for (int r = 0; r < mail->comm->size; r++) {
        if (mail->d_other[r])
            mail->ops->close(mail->dev, mail->d_other[r], HX_MAIL_HEAD + 2 * mail->half);
        mail->d_other[r] = NULL;
    }
}

static void release_own(hx_mail *mail)
{
    if (mail->d_box)
        mail->ops->release(mail->dev, mail->d_box, HX_MAIL_HEAD + 2 * mail->half, mail->handle);
    mail->d_box = NULL;
}

void hx_mail_free(hx_mail *mail)
{
    if (mail->ops) {
        mail->dev->ops->sync(mail->dev);
        close_others(mail);
        release_own(mail);
        if (mail->ops->leave) mail->ops->leave(mail->dev);
    }
    memset(mail, 0, sizeof *mail);
}

/* *all := 1 if `own` is 1 on all ranks. */
static int agree(const hx_mail *mail, int own, int *all)
{
    int32_t mine = own, each[HX_MAIL_RANKS];
    HX_TRY(mail->comm->ops->all_gather(mail->comm, &mine, sizeof mine, each));
    *all = 1;
    for (int r = 0; r < mail->comm->size; r++) *all = *all && each[r];
    return HX_OK;
}

/* Turns the result of an attempt that may fail into 1 or 0 and clears its error message. */
static int worked(int rc)
{
    if (rc < 0) hx_error_clear();
    return rc == HX_OK;
}

static int find_place(const hx_mail *mail, place *own)
{
    memset(own, 0, sizeof *own);
    if (gethostname(own->host, HOST - 1) != 0)
        return HX_RAISE(HX_EENV, "the name of this machine cannot be determined");
    return mail->ops->tell_device ? mail->ops->tell_device(mail->dev, own->device) : HX_OK;
}

/* *can := 1 if the transport is possible between the devices of all ranks, equal on all ranks. This
 * is decided before any rank starts, since a rank that found out by itself would leave the
 * others waiting. */
static int can_reach(hx_mail *mail, int *can)
{
    const int is_boxes = mail->ops->join == NULL;
    place own, all[HX_MAIL_RANKS];
    own.is_known = worked(find_place(mail, &own));
    HX_TRY(mail->comm->ops->all_gather(mail->comm, &own, sizeof own, all));
    *can = 1;
    mail->has_same = 0;
    for (int r = 0; r < mail->comm->size; r++) {
        *can = *can && all[r].is_known && (!is_boxes || strcmp(all[r].host, all[0].host) == 0);
        for (int s = 0; s < r && mail->ops->tell_device; s++)
            mail->has_same |= strcmp(all[r].host, all[s].host) == 0 &&
                              memcmp(all[r].device, all[s].device, HX_MAIL_DEVICE) == 0;
    }
    *can = *can && (!mail->has_same || (is_boxes && mail->takes_same));
    return HX_OK;
}

static int open_others(hx_mail *mail, size_t bytes, int *opened)
{
    const int rank = mail->comm->rank;
    offer own, all[HX_MAIL_RANKS];
    memset(&own, 0, sizeof own);
    own.is_there = mail->d_box != NULL;
    memcpy(own.handle, mail->handle, sizeof own.handle);
    HX_TRY(mail->comm->ops->all_gather(mail->comm, &own, sizeof own, all));
    *opened = 1;
    for (int r = 0; r < mail->comm->size; r++) *opened = *opened && all[r].is_there;
    for (int r = 0; *opened && r < mail->comm->size; r++)
        if (r != rank)
            *opened = worked(mail->ops->open(mail->dev, all[r].handle, bytes, &mail->d_other[r]));
    return HX_OK;
}

/* Abandons the transport on all ranks. */
static int give_up(hx_mail *mail)
{
    int all;
    HX_TRY(mail->dev->ops->sync(mail->dev));
    close_others(mail);
    HX_TRY(agree(mail, 1, &all)); /* all ranks have closed the buffers of the others */
    release_own(mail);
    if (mail->ops->leave) mail->ops->leave(mail->dev);
    mail->ops = NULL;
    return HX_OK;
}

/* Opens new buffers on all ranks, or abandons the transport if one rank fails. */
static int open_boxes(hx_mail *mail, size_t half)
{
    const size_t bytes = HX_MAIL_HEAD + 2 * half;
    int all;
    mail->half = half;
    mail->turn = 0;
    mail->n_opened++;
    if (!worked(mail->ops->alloc(mail->dev, bytes, &mail->d_box, mail->handle))) mail->d_box = NULL;
    all = mail->d_box != NULL;
    if (mail->ops->open) HX_TRY(open_others(mail, bytes, &all));
    HX_TRY(agree(mail, all, &all));
    return all ? HX_OK : give_up(mail);
}

int hx_mail_need(hx_mail *mail, size_t half)
{
    uint64_t own = half, each[HX_MAIL_RANKS];
    int all;
    if (!mail->ops) return HX_OK;
    HX_TRY(mail->comm->ops->all_gather(mail->comm, &own, sizeof own, each));
    for (int r = 0; r < mail->comm->size; r++)
        if (each[r] > own) own = each[r];
    if (own <= mail->half) return HX_OK;
    HX_TRY(mail->dev->ops->sync(mail->dev));
    close_others(mail);
    HX_TRY(agree(mail, 1, &all));
    release_own(mail);
    return open_boxes(mail, ((size_t)own + LINE - 1) / LINE * LINE);
}

int hx_mail_route_create(hx_mail *mail, const int64_t *n_out, const int64_t *n_in, size_t most,
                         hx_mail_route *route)
{
    const int size = mail->comm->size, rank = mail->comm->rank;
    int64_t all[HX_MAIL_RANKS][HX_MAIL_RANKS + 1];
    if (!mail->ops) return HX_OK;
    memset(route, 0, sizeof *route);
    for (int r = 0; r < size; r++) {
        route->in[r + 1] = route->in[r] + n_in[r];
        route->first[r + 1] = route->first[r] + n_out[r];
    }
    HX_TRY(mail->comm->ops->all_gather(mail->comm, route->in, sizeof route->in, all));
    for (int r = 0; r < size; r++) route->there[r] = all[r][rank];
    const int64_t n = route->in[size] > route->first[size] ? route->in[size] : route->first[size];
    return hx_mail_need(mail, (size_t)n * most);
}

static hx_mail_items begin_turn(hx_mail *mail, const hx_mail_route *route, int components,
                                size_t number)
{
    hx_mail_items items = {.n_rank = mail->comm->size, .components = components};
    items.d_box = mail->d_box;
    items.half = mail->half;
    mail->turn++;
    memcpy(items.first, route->first, sizeof items.first);
    memcpy(items.in, route->in, sizeof items.in);
    for (int r = 0; r < items.n_rank; r++) {
        char *const box = mail->d_other[r];
        if (!box) continue;
        items.d_to[r] = box + HX_MAIL_HEAD + (size_t)route->there[r] * (size_t)components * number;
        items.d_head[r] = (uint64_t *)(void *)box + mail->comm->rank;
    }
    return items;
}

static hx_mail_came came(const hx_mail *mail)
{
    return (hx_mail_came){.n_rank = mail->comm->size,
                          .own = mail->comm->rank,
                          .is_over = mail->ops->join != NULL,
                          .d_box = mail->d_box,
                          .half = mail->half};
}

/* If two ranks share a device, the queue waits instead of a kernel that would occupy the device. */
static int wait_aside(const hx_mail *mail)
{
    const hx_mail_came from = came(mail);
    if (!mail->has_same || !mail->ops->wait) return HX_OK;
    return mail->ops->wait(mail->dev, &from, mail->turn);
}

#define REAL double
#define NAME(x) x
#include "mail_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "mail_real.inc"
#undef REAL
#undef NAME

static hx_mail_route route_to_all(const hx_mail *mail, int64_t n)
{
    const int rank = mail->comm->rank;
    hx_mail_route route = {{0}, {0}, {0}};
    for (int r = 0; r < mail->comm->size; r++) {
        route.first[r + 1] = route.first[r] + (r == rank ? 0 : n);
        route.in[r + 1] = route.first[r + 1];
        route.there[r] = n * (rank < r ? rank : rank - 1);
    }
    return route;
}

/* A single launch; only if no two ranks share a device. */
static int sum_few(hx_mail *mail, int64_t n, double *d_y)
{
    const hx_mail_route route = route_to_all(mail, n);
    const hx_mail_items items = begin_turn(mail, &route, 1, sizeof *d_y);
    const hx_mail_came from = came(mail);
    return mail->ops->sum_few(mail->dev, &items, &from, n, d_y);
}

int hx_mail_sum(hx_mail *mail, int64_t n, double *d_y)
{
    const hx_mail_route route = route_to_all(mail, n);
    if (mail->ops->sum_few && n <= HX_MAIL_FEW && !mail->has_same) return sum_few(mail, n, d_y);
    HX_TRY(hx_mail_send(mail, &route, 1, NULL, NULL, d_y));
    return add_all(mail, n, d_y);
}

int hx_mail_sum_single(hx_mail *mail, int64_t n, float *d_y)
{
    const hx_mail_route route = route_to_all(mail, n);
    HX_TRY(hx_mail_send_single(mail, &route, 1, NULL, NULL, d_y));
    return add_all_single(mail, n, d_y);
}

int hx_mail_can_trade(const hx_mail *mail, const hx_mail_route *route, int components, int64_t n)
{
    const int64_t n_out = components * route->first[mail->comm->size];
    return mail->ops->trade_single && !mail->has_same && n <= HX_MAIL_TRADE &&
           n_out <= HX_MAIL_TRADE;
}

int hx_mail_trade_single(hx_mail *mail, const hx_mail_route *route, int components,
                         const int64_t *d_at, const float *d_y, int64_t n, float *d_taken)
{
    hx_mail_items items = begin_turn(mail, route, components, sizeof *d_y);
    const hx_mail_came from = came(mail);
    items.d_at = d_at;
    return mail->ops->trade_single(mail->dev, &items, &from, d_y, n, d_taken);
}

/* --- test of a transport --- */

/* Waits on the host, at most PATIENCE seconds, so that values that never arrive do no harm. */
static int has_come(const hx_mail *mail, int *came)
{
    const double begin = hx_clock();
    *came = 1;
    if (mail->ops->join) return HX_OK; /* libraries wait by themselves */
    for (*came = 0; !*came && hx_clock() - begin < PATIENCE;) {
        uint64_t head[HX_MAIL_RANKS];
        HX_TRY(mail->dev->ops->download(mail->dev, head, mail->d_box, sizeof head));
        *came = 1;
        for (int r = 0; r < mail->comm->size; r++)
            *came = *came && (r == mail->comm->rank || head[r] >= mail->turn);
    }
    return HX_OK;
}

/* Sums one number over all ranks; *is_right := 1 if the result is correct. */
static int try_sum(hx_mail *mail, float *d_y, int *is_right)
{
    const int size = mail->comm->size;
    const float own = (float)(1 << mail->comm->rank % 20);
    const hx_mail_route route = route_to_all(mail, 1);
    hx_mail_items items = begin_turn(mail, &route, 1, sizeof own);
    float sum = 0.0f, right = 0.0f;
    for (int r = 0; r < size; r++) right += (float)(1 << r % 20);
    HX_TRY(mail->dev->ops->upload(mail->dev, d_y, &own, sizeof own));
    HX_TRY(mail->ops->put_single(mail->dev, &items, d_y));
    HX_TRY(has_come(mail, is_right));
    if (!*is_right) return HX_OK;
    HX_TRY(add_all_single(mail, 1, d_y));
    HX_TRY(mail->dev->ops->download(mail->dev, &sum, d_y, sizeof sum));
    *is_right = sum == right;
    return HX_OK;
}

/* Several exchanges, so that both halves of the buffers are used more than once. */
static int try_box(hx_mail *mail, int *works)
{
    float *d_y = NULL;
    *works = worked(mail->dev->ops->alloc(mail->dev, sizeof *d_y, &d_y));
    for (int k = 0; k < 4; k++) { /* all ranks take part in each agreement */
        int is_right = 0;
        if (*works) *works = worked(try_sum(mail, d_y, &is_right)) && is_right;
        HX_TRY(agree(mail, *works, works));
        if (!*works) break;
    }
    mail->dev->ops->release(mail->dev, d_y);
    return HX_OK;
}

/* Joins the communicator of a library, on all ranks or on none. */
static int join_library(hx_mail *mail, int *joined)
{
    const hx_comm *const comm = mail->comm;
    unsigned char id[HX_MAIL_ID] = {0};
    int32_t has_id = 1;
    HX_TRY(agree(mail, worked(mail->ops->has_library()), joined));
    if (!*joined) return HX_OK;
    if (comm->rank == 0) has_id = worked(mail->ops->identify(id));
    HX_TRY(comm->ops->broadcast(comm, 0, &has_id, sizeof has_id));
    *joined = has_id;
    if (!has_id) return HX_OK;
    HX_TRY(comm->ops->broadcast(comm, 0, id, sizeof id));
    return agree(mail, worked(mail->ops->join(mail->dev, comm->rank, comm->size, id)), joined);
}

/* Tries one transport; mail->ops is NULL afterwards if it does not work. */
static int try_way(hx_mail *mail, const hx_mail_ops *ops)
{
    int works;
    mail->ops = ops;
    HX_TRY(can_reach(mail, &works));
    if (works && ops->join) HX_TRY(join_library(mail, &works));
    if (!works) return give_up(mail);
    HX_TRY(open_boxes(mail, LEAST_HALF));
    if (!mail->ops) return HX_OK;
    HX_TRY(try_box(mail, &works));
    return works ? HX_OK : give_up(mail);
}

int hx_mail_create(hx_mail *mail, const hx_comm *comm, hx_device *dev, hx_mail_way way)
{
    const hx_mail_ops *const boxes = dev->ops->mail, *const far = dev->ops->mail_far;
    mail->comm = comm;
    mail->takes_same = way == HX_MAIL_DIRECT;
    mail->dev = dev;
    if (comm->size < 2 || comm->size > HX_MAIL_RANKS || way == HX_MAIL_NONE) return HX_OK;
    if (boxes && way != HX_MAIL_LIBRARY) HX_TRY(try_way(mail, boxes));
    if (mail->ops || !far || way == HX_MAIL_DIRECT || mail->has_same) return HX_OK;
    return try_way(mail, far);
}
