/* Exchanges on the host about interface points (operator/interface_host.h), and short sums of
 * numbers on a device. */
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../comm/comm_alltoall.h"
#include "../device/timeline.h"
#include "dist.h"

static const char what[] = "data about interface points";

static hx_dist *ranks_of(const hx_interface_host *host)
{
    return (hx_dist *)((char *)host - offsetof(hx_dist, host));
}

static int agree(const hx_interface_host *host, int rc)
{
    return hx_comm_agree(ranks_of(host)->comm, rc);
}

/* A parcel: the position of the point among the interface points with the receiver, then the
 * item. */
typedef struct parcel {
    size_t bytes; /* bytes: size of an item; stride: size of a parcel */
    size_t stride;
    int64_t *out, *in; /* [size + 1] first parcel to and from each rank (owned, like all below) */
    char *sent, *received;
} parcel;

/* Counts the parcels to each rank, and packs them if p->sent is allocated. */
static void pack_parcels(const hx_subdomain *subdomain, int size, const int64_t *first,
                         const char *item, parcel *p)
{
    int64_t n = 0;
    for (int r = 0, k = 0; r < size; r++) {
        p->out[r] = n;
        if (k == subdomain->n_peer || subdomain->peer[k] != r) continue;
        for (int64_t j = subdomain->with[k]; j < subdomain->with[k + 1]; j++) {
            const int32_t i = subdomain->interface_of[j], place = (int32_t)(j - subdomain->with[k]);
            for (int64_t l = first[i]; l < first[i + 1]; l++, n++) {
                if (!p->sent) continue;
                char *const to = p->sent + (size_t)n * p->stride;
                memcpy(to, &place, sizeof place);
                /* NOLINTNEXTLINE(clang-analyzer-core*): parcels have items */
                memcpy(to + sizeof place, item + (size_t)l * p->bytes, p->bytes);
            }
        }
        k++;
    }
    p->out[size] = n;
}

/* Unpacks parcels and translates positions into this rank's interface points. */
static void unpack(const hx_subdomain *subdomain, int size, const parcel *p,
                   hx_interface_messages *received)
{
    for (int r = 0, k = 0; r < size; r++) {
        if (k == subdomain->n_peer || subdomain->peer[k] != r) continue;
        for (int64_t n = p->in[r]; n < p->in[r + 1]; n++) {
            const char *const from = p->received + (size_t)n * p->stride;
            int32_t place;
            memcpy(&place, from, sizeof place);
            received->at[n] = subdomain->interface_of[subdomain->with[k] + place];
            memcpy((char *)received->item + (size_t)n * p->bytes, from + sizeof place, p->bytes);
        }
        k++;
    }
}

static int alloc_sent(const hx_subdomain *subdomain, int size, const int64_t *first, parcel *p)
{
    HX_TRY(hx_alloc(&p->out, (size_t)size + 1, sizeof *p->out, what));
    HX_TRY(hx_alloc(&p->in, (size_t)size + 1, sizeof *p->in, what));
    pack_parcels(subdomain, size, first, NULL, p);
    return hx_alloc_raw(&p->sent, (size_t)p->out[size], p->stride, what);
}

static int alloc_received(int size, parcel *p, hx_interface_messages *received)
{
    const size_t n = (size_t)p->in[size];
    HX_TRY(hx_alloc_raw(&p->received, n, p->stride, what));
    HX_TRY(hx_alloc_raw(&received->first, (size_t)size + 1, sizeof *received->first, what));
    HX_TRY(hx_alloc_raw(&received->at, n, sizeof *received->at, what));
    HX_TRY(hx_alloc_raw(&received->item, n, p->bytes, what));
    memcpy(received->first, p->in, ((size_t)size + 1) * sizeof *received->first);
    return HX_OK;
}

static int exchange_parcels(const hx_interface_host *host, const int64_t *first, size_t bytes,
                            const void *item, hx_interface_messages *received)
{
    const hx_dist *const dist = ranks_of(host);
    const hx_comm *const comm = dist->comm;
    const int size = comm->size;
    parcel p = {.bytes = bytes, .stride = sizeof(int32_t) + bytes};
    int rc;
    memset(received, 0, sizeof *received);
    HX_TRY_FAIL(hx_comm_agree(comm, alloc_sent(&dist->subdomain, size, first, &p)));
    pack_parcels(&dist->subdomain, size, first, item, &p);
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, p.out, p.in));
    HX_TRY_FAIL(hx_comm_agree(comm, alloc_received(size, &p, received)));
    HX_TRY_FAIL(hx_comm_alltoallv(comm, p.out, p.in, p.stride, p.sent, p.received));
    unpack(&dist->subdomain, size, &p, received);
fail:
    free(p.out);
    free(p.in);
    free(p.sent);
    free(p.received);
    if (rc < 0) hx_interface_messages_free(received);
    return rc;
}

void hx_dist_set_host(hx_dist *dist)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    hx_comm_reduce_of(&dist->reduce, dist->comm);
    dist->host = (hx_interface_host){.reduce = &dist->reduce.base,
                                     .n_own = subdomain->n_own,
                                     .n_interface = subdomain->n_interface,
                                     .interface = subdomain->interface,
                                     .exchange = exchange_parcels,
                                     .agree = agree};
}

const hx_interface_host *hx_dist_host(hx_device *dev)
{
    return &hx_dist_of(dev)->host;
}

/* Sums through the host. */
static int sum_by_host(hx_dist *dist, int64_t n, double *d_sum)
{
    hx_device *const dev = &dist->dev;
    const size_t bytes = (size_t)n * sizeof *d_sum;
    double *sum;
    HX_TRY(hx_alloc_raw(&sum, (size_t)n, sizeof *sum, what));
    int rc = dist->plain->download(dev, sum, d_sum, bytes);
    if (rc == HX_OK) rc = hx_reduce_sum(&dist->reduce.base, (int)n, sum);
    if (rc == HX_OK) rc = dist->plain->upload(dev, d_sum, sum, bytes);
    free(sum);
    return rc;
}

/* Sums from device to device, as many numbers at once as the buffers hold. */
static int sum_by_transport(hx_dist *dist, int64_t n, double *d_sum)
{
    const int64_t most = (int64_t)(dist->transport.half / sizeof *d_sum) / (dist->comm->size - 1);
    for (int64_t k = 0; k < n; k += most)
        HX_TRY(hx_transport_sum(&dist->transport, n - k < most ? n - k : most, d_sum + k));
    return HX_OK;
}

static int sum(hx_dist *dist, int64_t n, const double *d_own, double *d_all)
{
    const double begin = hx_clock();
    HX_TRY(dist->plain->copy(&dist->dev, d_all, d_own, (size_t)n * sizeof *d_all));
    HX_TRY(dist->transport.ops ? sum_by_transport(dist, n, d_all) : sum_by_host(dist, n, d_all));
    dist->figures.n_sum++;
    dist->figures.sum_seconds += hx_clock() - begin;
    return HX_OK;
}

int hx_dist_sum_own(hx_device *dev, int64_t n, const double *d_own, double *d_all)
{
    HX_IN_SPAN(dev, HX_SPAN_SUM, -1, sum(hx_dist_of(dev), n, d_own, d_all));
    return HX_OK;
}
