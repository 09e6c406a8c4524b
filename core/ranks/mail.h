/* Numbers that go between processes from device to device (mail_ops.h): the way they take, boxes,
 * and what goes again and again. Inside of the room. */
#ifndef HX_MAIL_H
#define HX_MAIL_H

#include "../device/mail_ops.h"
#include "../team/team.h"

/* Ways that are tried, in this order: into the boxes of others, of processes on one machine with a
 * device each; by a library; by none. */
typedef enum {
    HX_MAIL_ANY,
    HX_MAIL_DIRECT,  /* into boxes, also where processes share a device, or by none */
    HX_MAIL_LIBRARY, /* or by none */
    HX_MAIL_NONE
} hx_mail_way;

typedef struct hx_mail {
    const hx_mail_ops *ops; /* NULL: nothing goes this way */
    const hx_team *team;
    int takes_same;    /* 1: boxes also between processes that share a device */
    hx_device *dev;    /* the backend's (borrowed, like the team) */
    int has_same;      /* 1: two share a device */
    uint64_t turn;     /* the last that was begun, unless turns were replayed */
    size_t half;       /* bytes */
    uint64_t n_opened; /* times that boxes were opened: what is recorded names them */
    unsigned char handle[HX_MAIL_HANDLE];
    char *d_box;                  /* own (owned) */
    char *d_other[HX_MAIL_RANKS]; /* those of the others, opened */
} hx_mail;

/* Items that go again and again, by rank. */
typedef struct hx_mail_route {
    int64_t first[HX_MAIL_RANKS + 1], in[HX_MAIL_RANKS + 1]; /* what goes, what comes */
    int64_t there[HX_MAIL_RANKS]; /* place of the first one in what comes there */
} hx_mail_route;

/* Finds a way and tries it. ops is NULL after it where the device or the machines have none, in all
 * processes, and so where two are on one device unless HX_MAIL_DIRECT. Collective, as all below.
 * dev and team outlive it; *mail must be zeroed. */
int hx_mail_create(hx_mail *mail, const hx_team *team, hx_device *dev, hx_mail_way way);
/* Not collective. Accepts a zeroed struct. */
void hx_mail_free(hx_mail *mail);

/* Halves of at least so many bytes, the most that a process asks for. They may be lost: ops. */
int hx_mail_need(hx_mail *mail, size_t half);

/* n_out[size], n_in[size] items to and from each rank, of `most` bytes at most; the numbers at the
 * others are the reverse of these. */
int hx_mail_route_create(hx_mail *mail, const int64_t *n_out, const int64_t *n_in, size_t most,
                         hx_mail_route *route);

/* A turn: items of so many numbers as hx_mail_items says. What came is to be looked at before the
 * next turn, by hx_mail_add or hx_mail_take. */
int hx_mail_send(hx_mail *mail, const hx_mail_route *route, int components, const int32_t *d_item,
                 const int64_t *d_at, const double *d_y);
int hx_mail_send_single(hx_mail *mail, const hx_mail_route *route, int components,
                        const int32_t *d_item, const int64_t *d_at, const float *d_y);

/* What came, in the order of the ranks, added up, or the first n numbers of it. */
int hx_mail_add(hx_mail *mail, const hx_mail_sums *sums, double *d_y);
int hx_mail_add_single(hx_mail *mail, const hx_mail_sums *sums, float *d_y);
int hx_mail_take(hx_mail *mail, int64_t n, double *d_y);
int hx_mail_take_single(hx_mail *mail, int64_t n, float *d_y);

/* Whether a turn of so many numbers can go and come by one launch, for hx_mail_trade_single; else
 * hx_mail_send_single and hx_mail_take_single do the same. */
int hx_mail_can_trade(const hx_mail *mail, const hx_mail_route *route, int components, int64_t n);

/* A turn of values: `components` of each item at[..] to their peers, and the first n numbers that
 * come, to another place. */
int hx_mail_trade_single(hx_mail *mail, const hx_mail_route *route, int components,
                         const int64_t *d_at, const float *d_y, int64_t n, float *d_taken);

/* y[n] of each process := the sum over all, in the order of the ranks, if halves are so large
 * (hx_mail_need, (size - 1) n numbers). */
int hx_mail_sum(hx_mail *mail, int64_t n, double *d_y);
int hx_mail_sum_single(hx_mail *mail, int64_t n, float *d_y);

#endif
