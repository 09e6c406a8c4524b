/* Exchange between ranks from device to device (device/mail_ops.h): choice of the transport,
 * buffers, and repeated exchanges. Private to the room. */
#ifndef HX_MAIL_H
#define HX_MAIL_H

#include "../comm/comm.h"
#include "../device/mail_ops.h"

/* Transports, tried in this order: remote buffers, for ranks on one machine with a device each; a
 * library; none (messages through the host). */
typedef enum {
    HX_MAIL_ANY,
    HX_MAIL_DIRECT,  /* remote buffers, even if ranks share a device; otherwise none */
    HX_MAIL_LIBRARY, /* the library; otherwise none */
    HX_MAIL_NONE
} hx_mail_way;

typedef struct hx_mail {
    const hx_mail_ops *ops; /* NULL: exchanges go through host memory */
    const hx_comm *comm;
    int takes_same;    /* 1: remote buffers also between ranks that share a device */
    hx_device *dev;    /* the backend's device (borrowed, like the communicator) */
    int has_same;      /* 1: two ranks share a device */
    uint64_t turn;     /* number of the last exchange begun, not counting replayed ones */
    size_t half;       /* bytes of half a buffer */
    uint64_t n_opened; /* how often buffers have been opened; recordings refer to it */
    unsigned char handle[HX_MAIL_HANDLE];
    char *d_box;                  /* this rank's buffer (owned) */
    char *d_other[HX_MAIL_RANKS]; /* buffers of the other ranks, opened on this rank */
} hx_mail;

/* Items of a repeated exchange, by rank. */
typedef struct hx_mail_route {
    /* first item sent to and received from each rank */
    int64_t first[HX_MAIL_RANKS + 1], in[HX_MAIL_RANKS + 1];
    /* position of the first item among those that the other rank receives */
    int64_t there[HX_MAIL_RANKS];
} hx_mail_route;

/* Selects a transport and tests it. Afterwards ops is NULL on all ranks if the device or the
 * machines support none, and also if two ranks share a device, unless way is HX_MAIL_DIRECT.
 * Collective, like all functions below. dev and team must outlive *mail, which must be zeroed. */
int hx_mail_create(hx_mail *mail, const hx_comm *comm, hx_device *dev, hx_mail_way way);
/* Not collective. Accepts a zeroed struct. */
void hx_mail_free(hx_mail *mail);

/* Makes halves of at least that many bytes, the largest request of any rank. If that fails, ops is
 * NULL afterwards and exchanges go through host memory. */
int hx_mail_need(hx_mail *mail, size_t half);

/* Makes a repeated exchange of n_out[size] and n_in[size] items to and from each rank, of at most
 * `most` bytes each. The counts of the other ranks must match. */
int hx_mail_route_create(hx_mail *mail, const int64_t *n_out, const int64_t *n_in, size_t most,
                         hx_mail_route *route);

/* Begins an exchange: sends items of `components` numbers, selected as described at hx_mail_items.
 * The values received must be read by hx_mail_add or hx_mail_take before the next exchange. */
int hx_mail_send(hx_mail *mail, const hx_mail_route *route, int components, const int32_t *d_item,
                 const int64_t *d_at, const double *d_y);
int hx_mail_send_single(hx_mail *mail, const hx_mail_route *route, int components,
                        const int32_t *d_item, const int64_t *d_at, const float *d_y);

/* Adds up the values received, in the order of the ranks, or copies the first n numbers
 * received. */
int hx_mail_add(hx_mail *mail, const hx_mail_sums *sums, double *d_y);
int hx_mail_add_single(hx_mail *mail, const hx_mail_sums *sums, float *d_y);
int hx_mail_take(hx_mail *mail, int64_t n, double *d_y);
int hx_mail_take_single(hx_mail *mail, int64_t n, float *d_y);

/* Returns 1 if an exchange of that size can be sent and received by one launch,
 * hx_mail_trade_single; otherwise hx_mail_send_single and hx_mail_take_single give the same
 * result. */
int hx_mail_can_trade(const hx_mail *mail, const hx_mail_route *route, int components, int64_t n);

/* A complete exchange: sends `components` numbers of each item at[..] to its rank, and copies the
 * first n numbers received to d_taken. */
int hx_mail_trade_single(hx_mail *mail, const hx_mail_route *route, int components,
                         const int64_t *d_at, const float *d_y, int64_t n, float *d_taken);

/* y[n] := sum over all ranks, in the order of the ranks. Needs halves of (size - 1) n numbers
 * (hx_mail_need). */
int hx_mail_sum(hx_mail *mail, int64_t n, double *d_y);
int hx_mail_sum_single(hx_mail *mail, int64_t n, float *d_y);

#endif
