#define _GNU_SOURCE /* gethostname */
#include "transport.h"

#include <string.h>
#include <unistd.h>

#include "../base/clock.h"

enum { HOST = 64, LEAST_HALF = 4096, LINE = 256 };
#define PATIENCE 5.0 /* seconds to wait for the values of a test exchange */

/* What ranks announce: the identity of the machine and device (place), and the handle of the buffer
 * (offer). */
typedef struct place {
    char host[HOST];
    unsigned char device[HX_TRANSPORT_DEVICE];
    int32_t is_known;
} place;

typedef struct offer {
    unsigned char handle[HX_TRANSPORT_HANDLE];
    int32_t is_there;
} offer;

static void close_others(hx_transport *transport)
{
    for (int r = 0; r < transport->comm->size; r++) {
        if (transport->d_other[r])
            transport->ops->close(transport->dev, transport->d_other[r],
                                  HX_TRANSPORT_HEAD + 2 * transport->half);
        transport->d_other[r] = NULL;
    }
}

static void release_own(hx_transport *transport)
{
    if (transport->d_remote)
        transport->ops->release(transport->dev, transport->d_remote,
                                HX_TRANSPORT_HEAD + 2 * transport->half, transport->handle);
    transport->d_remote = NULL;
}

void hx_transport_free(hx_transport *transport)
{
    if (transport->ops) {
        transport->dev->ops->sync(transport->dev);
        close_others(transport);
        release_own(transport);
        if (transport->ops->leave) transport->ops->leave(transport->dev);
    }
    memset(transport, 0, sizeof *transport);
}

/* *all := 1 if `own` is 1 on all ranks. */
static int agree(const hx_transport *transport, int own, int *all)
{
    int32_t mine = own, each[HX_TRANSPORT_RANKS];
    HX_TRY(transport->comm->ops->all_gather(transport->comm, &mine, sizeof mine, each));
    *all = 1;
    for (int r = 0; r < transport->comm->size; r++) *all = *all && each[r];
    return HX_OK;
}

/* Turns the result of an attempt that may fail into 1 or 0 and clears its error message. */
static int worked(int rc)
{
    if (rc < 0) hx_error_clear();
    return rc == HX_OK;
}

static int find_transport_place(const hx_transport *transport, place *own)
{
    memset(own, 0, sizeof *own);
    if (gethostname(own->host, HOST - 1) != 0)
        return HX_RAISE(HX_EENV, "the name of this machine cannot be determined");
    return transport->ops->tell_device ? transport->ops->tell_device(transport->dev, own->device)
                                       : HX_OK;
}

/* *can := 1 if the transport is possible between the devices of all ranks, equal on all ranks. This
 * is decided before any rank starts, since a rank that found out by itself would leave the
 * others waiting. */
static int can_reach(hx_transport *transport, int *can)
{
    const int is_boxes = transport->ops->join == NULL;
    place own, all[HX_TRANSPORT_RANKS];
    own.is_known = worked(find_transport_place(transport, &own));
    HX_TRY(transport->comm->ops->all_gather(transport->comm, &own, sizeof own, all));
    *can = 1;
    transport->has_same = 0;
    for (int r = 0; r < transport->comm->size; r++) {
        *can = *can && all[r].is_known && (!is_boxes || strcmp(all[r].host, all[0].host) == 0);
        for (int s = 0; s < r && transport->ops->tell_device; s++)
            transport->has_same |= strcmp(all[r].host, all[s].host) == 0 &&
                                   memcmp(all[r].device, all[s].device, HX_TRANSPORT_DEVICE) == 0;
    }
    *can = *can && (!transport->has_same || (is_boxes && transport->takes_same));
    return HX_OK;
}

static int open_others(hx_transport *transport, size_t bytes, int *opened)
{
    const int rank = transport->comm->rank;
    offer own, all[HX_TRANSPORT_RANKS];
    memset(&own, 0, sizeof own);
    own.is_there = transport->d_remote != NULL;
    memcpy(own.handle, transport->handle, sizeof own.handle);
    HX_TRY(transport->comm->ops->all_gather(transport->comm, &own, sizeof own, all));
    *opened = 1;
    for (int r = 0; r < transport->comm->size; r++) *opened = *opened && all[r].is_there;
    for (int r = 0; *opened && r < transport->comm->size; r++)
        if (r != rank)
            *opened = worked(
                transport->ops->open(transport->dev, all[r].handle, bytes, &transport->d_other[r]));
    return HX_OK;
}

/* Abandons the transport on all ranks. */
static int give_up(hx_transport *transport)
{
    int all;
    HX_TRY(transport->dev->ops->sync(transport->dev));
    close_others(transport);
    HX_TRY(agree(transport, 1, &all)); /* all ranks have closed the buffers of the others */
    release_own(transport);
    if (transport->ops->leave) transport->ops->leave(transport->dev);
    transport->ops = NULL;
    return HX_OK;
}

/* Opens new buffers on all ranks, or abandons the transport if one rank fails. */
static int open_boxes(hx_transport *transport, size_t half)
{
    const size_t bytes = HX_TRANSPORT_HEAD + 2 * half;
    int all;
    transport->half = half;
    transport->turn = 0;
    transport->n_opened++;
    if (!worked(
            transport->ops->alloc(transport->dev, bytes, &transport->d_remote, transport->handle)))
        transport->d_remote = NULL;
    all = transport->d_remote != NULL;
    if (transport->ops->open) HX_TRY(open_others(transport, bytes, &all));
    HX_TRY(agree(transport, all, &all));
    return all ? HX_OK : give_up(transport);
}

int hx_transport_need(hx_transport *transport, size_t half)
{
    uint64_t own = half, each[HX_TRANSPORT_RANKS];
    int all;
    if (!transport->ops) return HX_OK;
    HX_TRY(transport->comm->ops->all_gather(transport->comm, &own, sizeof own, each));
    for (int r = 0; r < transport->comm->size; r++)
        if (each[r] > own) own = each[r];
    if (own <= transport->half) return HX_OK;
    HX_TRY(transport->dev->ops->sync(transport->dev));
    close_others(transport);
    HX_TRY(agree(transport, 1, &all));
    release_own(transport);
    return open_boxes(transport, ((size_t)own + LINE - 1) / LINE * LINE);
}

int hx_transport_exchange_create(hx_transport *transport, const int64_t *n_out, const int64_t *n_in,
                                 size_t most, hx_transport_exchange *exchange)
{
    const int size = transport->comm->size, rank = transport->comm->rank;
    int64_t all[HX_TRANSPORT_RANKS][HX_TRANSPORT_RANKS + 1];
    if (!transport->ops) return HX_OK;
    memset(exchange, 0, sizeof *exchange);
    for (int r = 0; r < size; r++) {
        exchange->in[r + 1] = exchange->in[r] + n_in[r];
        exchange->first[r + 1] = exchange->first[r] + n_out[r];
    }
    HX_TRY(
        transport->comm->ops->all_gather(transport->comm, exchange->in, sizeof exchange->in, all));
    for (int r = 0; r < size; r++) exchange->there[r] = all[r][rank];
    const int64_t n =
        exchange->in[size] > exchange->first[size] ? exchange->in[size] : exchange->first[size];
    return hx_transport_need(transport, (size_t)n * most);
}

static hx_transport_items begin_turn(hx_transport *transport, const hx_transport_exchange *exchange,
                                     int components, size_t number)
{
    hx_transport_items items = {.n_rank = transport->comm->size, .components = components};
    items.d_remote = transport->d_remote;
    items.half = transport->half;
    transport->turn++;
    memcpy(items.first, exchange->first, sizeof items.first);
    memcpy(items.in, exchange->in, sizeof items.in);
    for (int r = 0; r < items.n_rank; r++) {
        char *const box = transport->d_other[r];
        if (!box) continue;
        items.d_to[r] =
            box + HX_TRANSPORT_HEAD + (size_t)exchange->there[r] * (size_t)components * number;
        items.d_head[r] = (uint64_t *)(void *)box + transport->comm->rank;
    }
    return items;
}

static hx_transport_arrivals came(const hx_transport *transport)
{
    return (hx_transport_arrivals){.n_rank = transport->comm->size,
                                   .own = transport->comm->rank,
                                   .is_over = transport->ops->join != NULL,
                                   .d_remote = transport->d_remote,
                                   .half = transport->half};
}

/* If two ranks share a device, the queue waits instead of a kernel that would occupy the device. */
static int wait_aside(const hx_transport *transport)
{
    const hx_transport_arrivals from = came(transport);
    if (!transport->has_same || !transport->ops->wait) return HX_OK;
    return transport->ops->wait(transport->dev, &from, transport->turn);
}

#define REAL double
#define NAME(x) x
#include "transport_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "transport_real.inc"
#undef REAL
#undef NAME

static hx_transport_exchange exchange_with_all(const hx_transport *transport, int64_t n)
{
    const int rank = transport->comm->rank;
    hx_transport_exchange exchange = {{0}, {0}, {0}};
    for (int r = 0; r < transport->comm->size; r++) {
        exchange.first[r + 1] = exchange.first[r] + (r == rank ? 0 : n);
        exchange.in[r + 1] = exchange.first[r + 1];
        exchange.there[r] = n * (rank < r ? rank : rank - 1);
    }
    return exchange;
}

/* A single launch; only if no two ranks share a device. */
static int sum_few(hx_transport *transport, int64_t n, double *d_y)
{
    const hx_transport_exchange exchange = exchange_with_all(transport, n);
    const hx_transport_items items = begin_turn(transport, &exchange, 1, sizeof *d_y);
    const hx_transport_arrivals from = came(transport);
    return transport->ops->sum_few(transport->dev, &items, &from, n, d_y);
}

int hx_transport_sum(hx_transport *transport, int64_t n, double *d_y)
{
    const hx_transport_exchange exchange = exchange_with_all(transport, n);
    if (transport->ops->sum_few && n <= HX_TRANSPORT_FEW && !transport->has_same)
        return sum_few(transport, n, d_y);
    HX_TRY(hx_transport_send(transport, &exchange, 1, NULL, NULL, d_y));
    return add_all(transport, n, d_y);
}

int hx_transport_sum_single(hx_transport *transport, int64_t n, float *d_y)
{
    const hx_transport_exchange exchange = exchange_with_all(transport, n);
    HX_TRY(hx_transport_send_single(transport, &exchange, 1, NULL, NULL, d_y));
    return add_all_single(transport, n, d_y);
}

int hx_transport_can_swap(const hx_transport *transport, const hx_transport_exchange *exchange,
                          int components, int64_t n)
{
    const int64_t n_out = components * exchange->first[transport->comm->size];
    return transport->ops->swap_single && !transport->has_same && n <= HX_TRANSPORT_SWAP &&
           n_out <= HX_TRANSPORT_SWAP;
}

int hx_transport_swap_single(hx_transport *transport, const hx_transport_exchange *exchange,
                             int components, const int64_t *d_at, const float *d_y, int64_t n,
                             float *d_taken)
{
    hx_transport_items items = begin_turn(transport, exchange, components, sizeof *d_y);
    const hx_transport_arrivals from = came(transport);
    items.d_at = d_at;
    return transport->ops->swap_single(transport->dev, &items, &from, d_y, n, d_taken);
}

/* --- test of a transport --- */

/* Waits on the host, at most PATIENCE seconds, so that values that never arrive do no harm. */
static int has_come(const hx_transport *transport, int *came)
{
    const double begin = hx_clock();
    *came = 1;
    if (transport->ops->join) return HX_OK; /* libraries wait by themselves */
    for (*came = 0; !*came && hx_clock() - begin < PATIENCE;) {
        uint64_t head[HX_TRANSPORT_RANKS];
        HX_TRY(
            transport->dev->ops->download(transport->dev, head, transport->d_remote, sizeof head));
        *came = 1;
        for (int r = 0; r < transport->comm->size; r++)
            *came = *came && (r == transport->comm->rank || head[r] >= transport->turn);
    }
    return HX_OK;
}

/* Sums one number over all ranks; *is_right := 1 if the result is correct. */
static int try_sum(hx_transport *transport, float *d_y, int *is_right)
{
    const int size = transport->comm->size;
    const float own = (float)(1 << transport->comm->rank % 20);
    const hx_transport_exchange exchange = exchange_with_all(transport, 1);
    hx_transport_items items = begin_turn(transport, &exchange, 1, sizeof own);
    float sum = 0.0f, right = 0.0f;
    for (int r = 0; r < size; r++) right += (float)(1 << r % 20);
    HX_TRY(transport->dev->ops->upload(transport->dev, d_y, &own, sizeof own));
    HX_TRY(transport->ops->put_single(transport->dev, &items, d_y));
    HX_TRY(has_come(transport, is_right));
    if (!*is_right) return HX_OK;
    HX_TRY(add_all_single(transport, 1, d_y));
    HX_TRY(transport->dev->ops->download(transport->dev, &sum, d_y, sizeof sum));
    *is_right = sum == right;
    return HX_OK;
}

/* Several exchanges, so that both halves of the buffers are used more than once. */
static int try_box(hx_transport *transport, int *works)
{
    float *d_y = NULL;
    *works = worked(transport->dev->ops->alloc(transport->dev, sizeof *d_y, &d_y));
    for (int k = 0; k < 4; k++) { /* all ranks take part in each agreement */
        int is_right = 0;
        if (*works) *works = worked(try_sum(transport, d_y, &is_right)) && is_right;
        HX_TRY(agree(transport, *works, works));
        if (!*works) break;
    }
    transport->dev->ops->release(transport->dev, d_y);
    return HX_OK;
}

/* Joins the communicator of a library, on all ranks or on none. */
static int join_library(hx_transport *transport, int *joined)
{
    const hx_comm *const comm = transport->comm;
    unsigned char id[HX_TRANSPORT_ID] = {0};
    int32_t has_id = 1;
    HX_TRY(agree(transport, worked(transport->ops->has_library()), joined));
    if (!*joined) return HX_OK;
    if (comm->rank == 0) has_id = worked(transport->ops->identify(id));
    HX_TRY(comm->ops->broadcast(comm, 0, &has_id, sizeof has_id));
    *joined = has_id;
    if (!has_id) return HX_OK;
    HX_TRY(comm->ops->broadcast(comm, 0, id, sizeof id));
    return agree(transport,
                 worked(transport->ops->join(transport->dev, comm->rank, comm->size, id)), joined);
}

/* Tries one transport; transport->ops is NULL afterwards if it does not work. */
static int try_way(hx_transport *transport, const hx_transport_ops *ops)
{
    int works;
    transport->ops = ops;
    HX_TRY(can_reach(transport, &works));
    if (works && ops->join) HX_TRY(join_library(transport, &works));
    if (!works) return give_up(transport);
    HX_TRY(open_boxes(transport, LEAST_HALF));
    if (!transport->ops) return HX_OK;
    HX_TRY(try_box(transport, &works));
    return works ? HX_OK : give_up(transport);
}

int hx_transport_create(hx_transport *transport, const hx_comm *comm, hx_device *dev,
                        hx_transport_kind way)
{
    const hx_transport_ops *const boxes = dev->ops->transport, *const far = dev->ops->transport_far;
    transport->comm = comm;
    transport->takes_same = way == HX_TRANSPORT_DIRECT;
    transport->dev = dev;
    if (comm->size < 2 || comm->size > HX_TRANSPORT_RANKS || way == HX_TRANSPORT_NONE) return HX_OK;
    if (boxes && way != HX_TRANSPORT_LIBRARY) HX_TRY(try_way(transport, boxes));
    if (transport->ops || !far || way == HX_TRANSPORT_DIRECT || transport->has_same) return HX_OK;
    return try_way(transport, far);
}
