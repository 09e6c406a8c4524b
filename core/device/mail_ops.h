/* Numbers that go from device to device, past the host: into memory that other processes of this
 * machine have opened (hx_device_ops.mail), or by a library of messages, between machines too
 * (hx_device_ops.mail_far). `d_` names memory of the device, its own or another process' that it
 * has opened.
 *
 * A process has a box, and writes into those of the others: what it puts there, then in the box's
 * head that it came. All goes by turns, which all processes queue alike: a turn begins with `put`,
 * and each process then looks at what came, by one call at least, which waits for all of it. A box
 * has two halves by turns: what goes in turn k + 2 is put when the others have sent k + 1, and so
 * have read k. The number of the turn is kept in the box itself: what is queued names none, and may
 * be recorded and replayed. Nothing waits on the host.
 *
 * With a library a box' first half is where what came is, the second what is packed for it: each
 * turn is over, in the queue, when the next begins, and nobody waits for a number. */
#ifndef HX_MAIL_OPS_H
#define HX_MAIL_OPS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes by which another process finds a box, by which a device is known; processes at most. */
enum { HX_MAIL_HANDLE = 80, HX_MAIL_DEVICE = 32, HX_MAIL_RANKS = 32 };

/* Bytes by which processes find each other in a library. */
enum { HX_MAIL_ID = 128 };

/* A box begins with the last turn that came of each process, 8 bytes each, and the last one that
 * its own process began; its halves follow. */
enum { HX_MAIL_TURN = HX_MAIL_RANKS, HX_MAIL_HEAD = 512 };

/* What goes in a turn: items of several numbers, those to process r from first[r] to first[r + 1].
 * Item i is y[at[item[i]][components]]; without `item` y[at[i]]; without both, the same to all,
 * y[(i - first[r])]. */
typedef struct hx_mail_items {
    int n_rank, components;
    char *d_box; /* own */
    size_t half; /* bytes of a half of all boxes */
    int64_t first[HX_MAIL_RANKS + 1];
    int64_t in[HX_MAIL_RANKS + 1];   /* the same of what comes here */
    char *d_to[HX_MAIL_RANKS];       /* where they go in the first half */
    uint64_t *d_head[HX_MAIL_RANKS]; /* the turn that came, there; NULL: this process */
    const int32_t *d_item;
    const int64_t *d_at; /* [..][components] */
} hx_mail_items;

/* Where it came: who looks waits until all others have sent the own box's turn. */
typedef struct hx_mail_came {
    int n_rank, own;
    int is_over;       /* 1: nobody waits, it came before in the queue */
    const char *d_box; /* own */
    size_t half;
} hx_mail_came;

/* What is added up of what came: y[at[i][components]] := the sum of its sources first[i] ..
 * first[i + 1], in that order: items that came, or -1: what y has. */
typedef struct hx_mail_sums {
    int components;
    int64_t n; /* 0: waits alone */
    const int64_t *d_first;
    const int32_t *d_source;
    const int64_t *d_at;
} hx_mail_sums;

typedef struct hx_mail_ops {
    const char *name; /* how it goes, for messages: "CUDA IPC" */
    int is_quick; /* 1: what goes is there before a product divided for it has made up for that */
    /* What tells its device from the others of the machine, as this way takes them for one: its
     * processes take turns, and who waits there keeps the other from running for a while. NULL:
     * none do. HX_EENV */
    int (*tell_device)(hx_device *dev, unsigned char id[HX_MAIL_DEVICE]);
    /* Of a library, all four, else NULL, and there is no open, close. Whether it is here: HX_EENV
     * says why not. By one process: what the others join by. By all, each with a device of its own;
     * waits for them. A box is used by the link that is open; at most one is. */
    int (*has_library)(void);
    int (*identify)(unsigned char id[HX_MAIL_ID]);
    int (*join)(hx_device *dev, int rank, int n_rank, const unsigned char id[HX_MAIL_ID]);
    void (*leave)(hx_device *dev);
    /* A box, all 0, and by what others find it. HX_EENV: not to be had here. */
    int (*alloc)(hx_device *dev, size_t bytes, void *d_out, unsigned char handle[HX_MAIL_HANDLE]);
    void (*release)(hx_device *dev, void *d_box, size_t bytes,
                    const unsigned char handle[HX_MAIL_HANDLE]);
    /* That of another process. HX_EENV */
    int (*open)(hx_device *dev, const unsigned char handle[HX_MAIL_HANDLE], size_t bytes,
                void *d_out);
    void (*close)(hx_device *dev, void *d_box, size_t bytes);
    int (*put)(hx_device *dev, const hx_mail_items *items, const double *d_y);
    int (*put_single)(hx_device *dev, const hx_mail_items *items, const float *d_y);
    /* Optional; NULL: nothing is gained. For processes that share a device: what is queued next
     * runs when all others have sent the turn, which is said, so that looking waits no more; not
     * to be recorded. */
    int (*wait)(hx_device *dev, const hx_mail_came *came, uint64_t turn);
    int (*add)(hx_device *dev, const hx_mail_came *came, const hx_mail_sums *sums, double *d_y);
    int (*add_single)(hx_device *dev, const hx_mail_came *came, const hx_mail_sums *sums,
                      float *d_y);
    /* y[n] := the first n numbers that came. */
    int (*take)(hx_device *dev, const hx_mail_came *came, int64_t n, double *d_y);
    int (*take_single)(hx_device *dev, const hx_mail_came *came, int64_t n, float *d_y);
    /* y[n] := the sum over the ranks in their order, `own` having y, of the others n came each. */
    int (*add_all)(hx_device *dev, const hx_mail_came *came, int64_t n, double *d_y);
    int (*add_all_single)(hx_device *dev, const hx_mail_came *came, int64_t n, float *d_y);
    /* Optional; NULL: put and add_all. The same at once, where the items are the n to all: up to
     * HX_MAIL_FEW numbers. */
    int (*sum_few)(hx_device *dev, const hx_mail_items *items, const hx_mail_came *came, int64_t n,
                   double *d_y);
    /* Optional; NULL: put and take. The same at once, of up to HX_MAIL_TRADE numbers; what is taken
     * is none of what goes. Not between processes that share a device. */
    int (*trade_single)(hx_device *dev, const hx_mail_items *items, const hx_mail_came *came,
                        const float *d_y, int64_t n, float *d_taken);
} hx_mail_ops;

/* Numbers of a sum_few; of a trade, of what goes and of what comes. */
enum { HX_MAIL_FEW = 64, HX_MAIL_TRADE = 1 << 18 };

#ifdef __cplusplus
}
#endif

#endif
