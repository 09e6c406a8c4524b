/* A halo from its lists, and its values, which are exchanged before each sum. */
#include <stdlib.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "halo.h"

static const char what[] = "elements of other ranks";

static int64_t total(const hx_dist *dist, const int64_t *n)
{
    int64_t sum = 0;
    for (int r = 0; r < dist->comm->size; r++) sum += n[r];
    return sum;
}

static int fill_lists(hx_halo *h, const int64_t *n_out, const int64_t *out, const int64_t *n_in,
                      int n_field)
{
    hx_device *const dev = &h->dist->dev;
    const int64_t n_sent = total(h->dist, n_out),
                  n_most = n_sent > h->n_beyond ? n_sent : h->n_beyond;
    HX_TRY(hx_exchange_create(&h->exchange, h->dist->comm, n_out, n_in, sizeof(double)));
    HX_TRY(
        hx_transport_exchange_create(&h->dist->transport, n_out, n_in, sizeof(double), &h->direct));
    HX_TRY(hx_device_put(dev, &h->d_out, out, (size_t)n_sent * sizeof *out));
    HX_TRY(dev->ops->alloc(dev, (size_t)n_sent * sizeof *h->d_send, &h->d_send));
    HX_TRY(hx_alloc_raw(&h->host, (size_t)n_most, sizeof *h->host, what));
    for (int i = 0; i < n_field; i++)
        HX_TRY(dev->ops->alloc(dev, (size_t)(h->n_own + h->n_beyond) * sizeof(double),
                               &h->d_value[i]));
    return HX_OK;
}

int hx_halo_create(hx_halo **halo, hx_dist *dist, const int64_t *n_out, const int64_t *out,
                   const int64_t *n_in, int n_field)
{
    hx_halo *h;
    *halo = NULL;
    HX_TRY(hx_alloc(&h, 1, sizeof *h, what));
    h->dist = dist;
    h->n_own = dist->subdomain.mesh.n_elem;
    h->n_beyond = total(dist, n_in);
    const int rc = fill_lists(h, n_out, out, n_in, n_field);
    if (rc < 0)
        hx_halo_free(h);
    else
        *halo = h;
    return rc;
}

/* Exchanges the values of the halo elements from device to device, to d_to. */
static int fill_direct(hx_halo *h, const double *d_own, double *d_to)
{
    hx_transport *const transport = &h->dist->transport;
    HX_TRY(hx_transport_send(transport, &h->direct, 1, NULL, h->d_out, d_own));
    return hx_transport_take(transport, h->n_beyond, d_to);
}

static int fill_by_host(hx_halo *h, const double *d_own, double *d_to)
{
    hx_device *const dev = &h->dist->dev;
    hx_exchange *const r = &h->exchange;
    const int64_t n_out = r->out[r->n_peer];
    HX_TRY(dev->ops->vector->take_entries(dev, n_out, h->d_out, d_own, h->d_send));
    HX_TRY(dev->ops->download(dev, h->host, h->d_send, (size_t)n_out * sizeof *h->host));
    hx_exchange_pack(r, sizeof *h->host, h->host);
    HX_TRY(hx_exchange_run(h->dist->comm, r, sizeof *h->host));
    hx_exchange_unpack(r, sizeof *h->host, h->host);
    return dev->ops->upload(dev, d_to, h->host, (size_t)h->n_beyond * sizeof *h->host);
}

int hx_halo_fill(hx_halo *h, int field, const double *d_own)
{
    hx_dist *const dist = h->dist;
    hx_device *const dev = &dist->dev;
    double *const d_value = h->d_value[field], *const d_beyond = d_value + h->n_own;
    const double begin = hx_clock();
    HX_TRY(dev->ops->copy(dev, d_value, d_own, (size_t)h->n_own * sizeof *d_own));
    HX_IN_SPAN(dev, HX_SPAN_HALO, -1,
               dist->transport.ops ? fill_direct(h, d_own, d_beyond)
                                   : fill_by_host(h, d_own, d_beyond));
    dist->figures.n_halo++;
    dist->figures.halo_bytes += hx_exchange_bytes(&h->exchange, sizeof *h->host);
    dist->figures.halo_seconds += hx_clock() - begin;
    return HX_OK;
}

void hx_halo_free(hx_halo *h)
{
    if (!h) return;
    hx_device *const dev = &h->dist->dev;
    dev->ops->release(dev, h->d_out);
    dev->ops->release(dev, h->d_send);
    for (int i = 0; i < HX_CELLS_FIELDS; i++) dev->ops->release(dev, h->d_value[i]);
    hx_exchange_free(&h->exchange);
    free(h->host);
    free(h);
}
