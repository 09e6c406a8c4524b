/* Exchange between ranks from device to device (device/transport_ops.h): choice of the transport,
 * buffers, and repeated exchanges. Private to the room. */
#ifndef HX_TRANSPORT_H
#define HX_TRANSPORT_H

#include "../comm/comm.h"
#include "../device/transport_ops.h"

/* Transports, tried in this order: remote buffers, for ranks on one machine with a device each; a
 * library; none (messages through the host). */
typedef enum {
    HX_TRANSPORT_ANY,
    HX_TRANSPORT_DIRECT,  /* remote buffers, even if ranks share a device; otherwise none */
    HX_TRANSPORT_LIBRARY, /* the library; otherwise none */
    HX_TRANSPORT_NONE
} hx_transport_kind;

typedef struct hx_transport {
    const hx_transport_ops *ops; /* NULL: exchanges go through host memory */
    const hx_comm *comm;
    int takes_same;    /* 1: remote buffers also between ranks that share a device */
    hx_device *dev;    /* the backend's device (borrowed, like the communicator) */
    int has_same;      /* 1: two ranks share a device */
    uint64_t turn;     /* number of the last exchange begun, not counting replayed ones */
    size_t half;       /* bytes of half a buffer */
    uint64_t n_opened; /* how often buffers have been opened; recordings refer to it */
    unsigned char handle[HX_TRANSPORT_HANDLE];
    char *d_remote;                    /* this rank's buffer (owned) */
    char *d_other[HX_TRANSPORT_RANKS]; /* buffers of the other ranks, opened on this rank */
} hx_transport;

/* Items of a repeated exchange, by rank. */
typedef struct hx_transport_exchange {
    /* first item sent to and received from each rank */
    int64_t first[HX_TRANSPORT_RANKS + 1], in[HX_TRANSPORT_RANKS + 1];
    /* position of the first item among those that the other rank receives */
    int64_t there[HX_TRANSPORT_RANKS];
} hx_transport_exchange;

/* Selects a transport and tests it. Afterwards ops is NULL on all ranks if the device or the
 * machines support none, and also if two ranks share a device, unless way is HX_TRANSPORT_DIRECT.
 * Collective, like all functions below. dev and comm must outlive *transport, which must be
 * zeroed. */
int hx_transport_create(hx_transport *transport, const hx_comm *comm, hx_device *dev,
                        hx_transport_kind way);
/* Not collective. Accepts a zeroed struct. */
void hx_transport_free(hx_transport *transport);

/* Makes halves of at least that many bytes, the largest request of any rank. If that fails, ops is
 * NULL afterwards and exchanges go through host memory. */
int hx_transport_need(hx_transport *transport, size_t half);

/* Makes a repeated exchange of n_out[size] and n_in[size] items to and from each rank, of at most
 * `most` bytes each. The counts of the other ranks must match. */
int hx_transport_exchange_create(hx_transport *transport, const int64_t *n_out, const int64_t *n_in,
                                 size_t most, hx_transport_exchange *exchange);

/* Begins an exchange: sends items of `components` numbers, selected as described at
 * hx_transport_items. The values received must be read by hx_transport_add or hx_transport_take
 * before the next exchange. */
int hx_transport_send(hx_transport *transport, const hx_transport_exchange *exchange,
                      int components, const int32_t *d_item, const int64_t *d_at,
                      const double *d_y);
int hx_transport_send_single(hx_transport *transport, const hx_transport_exchange *exchange,
                             int components, const int32_t *d_item, const int64_t *d_at,
                             const float *d_y);

/* Adds up the values received, in the order of the ranks, or copies the first n numbers
 * received. */
int hx_transport_add(hx_transport *transport, const hx_transport_sums *sums, double *d_y);
int hx_transport_add_single(hx_transport *transport, const hx_transport_sums *sums, float *d_y);
int hx_transport_take(hx_transport *transport, int64_t n, double *d_y);
int hx_transport_take_single(hx_transport *transport, int64_t n, float *d_y);

/* Returns 1 if an exchange of that size can be sent and received by one launch,
 * hx_transport_swap_single; otherwise hx_transport_send_single and hx_transport_take_single give
 * the same result. */
int hx_transport_can_swap(const hx_transport *transport, const hx_transport_exchange *exchange,
                          int components, int64_t n);

/* A complete exchange: sends `components` numbers of each item at[..] to its rank, and copies the
 * first n numbers received to d_taken. */
int hx_transport_swap_single(hx_transport *transport, const hx_transport_exchange *exchange,
                             int components, const int64_t *d_at, const float *d_y, int64_t n,
                             float *d_taken);

/* y[n] := sum over all ranks, in the order of the ranks. Needs halves of (size - 1) n numbers
 * (hx_transport_need). */
int hx_transport_sum(hx_transport *transport, int64_t n, double *d_y);
int hx_transport_sum_single(hx_transport *transport, int64_t n, float *d_y);

#endif
