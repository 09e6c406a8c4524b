/* Exchange of numbers between devices without a detour through the host. The transport is either
 * memory that other processes of this machine have opened (hx_device_ops.transport), or a
 * message-passing library, also between machines (hx_device_ops.transport_far). `d_` names memory
 * of the device, either its own or that of another process that it has opened.
 *
 * Each process has a receive buffer (`box`) and writes into the buffers of the others: first the
 * values, then, in the head of the buffer, a flag that they have arrived. Exchanges are numbered
 * (`turn`), and all processes queue them in the same order. An exchange begins with `put`; each
 * process then calls at least one of the operations that read what has arrived, and that operation
 * waits for all of it. A buffer has two halves that alternate: the values of exchange k + 2 are
 * written when the other processes have sent exchange k + 1, and have therefore read exchange k.
 * The number of the exchange is stored in the buffer itself, so queued work does not contain it and
 * may be recorded and replayed. Nothing waits on the host.
 *
 * With a library, the first half of the buffer receives values and the second half holds the packed
 * values to send. Each exchange is complete, in the order of the queue, before the next one begins,
 * and no number needs to be awaited. */
#ifndef HX_TRANSPORT_OPS_H
#define HX_TRANSPORT_OPS_H

#include "device.h"

HX_C_BEGIN

/* bytes of a handle by which another process opens a buffer, and of an identifier of a device;
 * maximum number of processes */
enum { HX_TRANSPORT_HANDLE = 80, HX_TRANSPORT_DEVICE = 32, HX_TRANSPORT_RANKS = 32 };

/* bytes of the identifier by which processes join a library's communicator */
enum { HX_TRANSPORT_ID = 128 };

/* A buffer begins with the number of the last exchange that has arrived from each process, 8 bytes
 * each, and the number of the last exchange that its own process has begun; the two halves
 * follow. */
enum { HX_TRANSPORT_TURN = HX_TRANSPORT_RANKS, HX_TRANSPORT_HEAD = 512 };

/* What is sent in an exchange: items of several numbers each; items first[r] .. first[r + 1] go to
 * process r. Item i is y[at[item[i]][components]]; without `item`, y[at[i]]; without `item` and
 * `at`, y[(i - first[r])], the same values to all. */
typedef struct hx_transport_items {
    int n_rank, components;
    char *d_remote; /* this process's buffer */
    size_t half;    /* bytes of a half, for all buffers */
    int64_t first[HX_TRANSPORT_RANKS + 1];
    int64_t in[HX_TRANSPORT_RANKS + 1]; /* `first` for the items that are received */
    char *d_to[HX_TRANSPORT_RANKS]; /* destination of the items in the first half of each buffer */
    /* flag of the last exchange in the destination's buffer; NULL: this process */
    uint64_t *d_head[HX_TRANSPORT_RANKS];
    const int32_t *d_item;
    const int64_t *d_at; /* [..][components] */
} hx_transport_items;

/* Where values arrive. An operation that reads them waits until all other processes have sent the
 * exchange whose number is stored in this process's buffer. */
typedef struct hx_transport_arrivals {
    int n_rank, own;
    int is_over;          /* 1: no waiting; the values arrived earlier in the queue */
    const char *d_remote; /* this process's buffer */
    size_t half;
} hx_transport_arrivals;

/* Summation of received values: y[at[i][components]] := the sum of its sources
 * first[i] .. first[i + 1], in that order. A source is the index of a received item, or -1 for the
 * value of y itself. */
typedef struct hx_transport_sums {
    int components;
    int64_t n; /* 0: only wait */
    const int64_t *d_first;
    const int32_t *d_source;
    const int64_t *d_at;
} hx_transport_sums;

typedef struct hx_transport_ops {
    const char *name; /* name of the transport, for messages: "CUDA IPC" */
    /* 1: an exchange takes less time than splitting a product to hide it would cost */
    int is_quick;
    /* Identifier that distinguishes the device from the others of the machine for this transport.
     * Processes on one device run one after the other, and one that waits keeps the other from
     * running for a while. NULL: processes never share a device. HX_EENV. */
    int (*tell_device)(hx_device *dev, unsigned char id[HX_TRANSPORT_DEVICE]);
    /* For a library, all four; otherwise NULL. A library has no `open` and no `close`. has_library:
     * whether the library is available; HX_EENV with the reason if not. identify: called by one
     * process; creates the identifier by which the others join. join: collective, each process with
     * a device of its own; waits for all of them. The open communicator uses the buffer; at most
     * one is open. */
    int (*has_library)(void);
    int (*identify)(unsigned char id[HX_TRANSPORT_ID]);
    int (*join)(hx_device *dev, int rank, int n_rank, const unsigned char id[HX_TRANSPORT_ID]);
    void (*leave)(hx_device *dev);
    /* Creates a buffer filled with 0, and the handle by which other processes open it. HX_EENV: not
     * available. */
    int (*alloc)(hx_device *dev, size_t bytes, void *d_out,
                 unsigned char handle[HX_TRANSPORT_HANDLE]);
    void (*release)(hx_device *dev, void *d_remote, size_t bytes,
                    const unsigned char handle[HX_TRANSPORT_HANDLE]);
    /* Opens the buffer of another process. HX_EENV. */
    int (*open)(hx_device *dev, const unsigned char handle[HX_TRANSPORT_HANDLE], size_t bytes,
                void *d_out);
    void (*close)(hx_device *dev, void *d_remote, size_t bytes);
    int (*put)(hx_device *dev, const hx_transport_items *items, const double *d_y);
    int (*put_single)(hx_device *dev, const hx_transport_items *items, const float *d_y);
    /* Optional; NULL: it would gain nothing. For processes that share a device: work queued from
     * now on runs once all other processes have sent exchange number `turn`, so that reading its
     * values needs no waiting. Must not be recorded. */
    int (*wait)(hx_device *dev, const hx_transport_arrivals *came, uint64_t turn);
    int (*add)(hx_device *dev, const hx_transport_arrivals *came, const hx_transport_sums *sums,
               double *d_y);
    int (*add_single)(hx_device *dev, const hx_transport_arrivals *came,
                      const hx_transport_sums *sums, float *d_y);
    /* y[n] := the first n numbers received. */
    int (*take)(hx_device *dev, const hx_transport_arrivals *came, int64_t n, double *d_y);
    int (*take_single)(hx_device *dev, const hx_transport_arrivals *came, int64_t n, float *d_y);
    /* y[n] := the sum over all ranks in their order; this rank (`own`) contributes y, each other
     * rank the n numbers received from it. */
    int (*add_all)(hx_device *dev, const hx_transport_arrivals *came, int64_t n, double *d_y);
    int (*add_all_single)(hx_device *dev, const hx_transport_arrivals *came, int64_t n, float *d_y);
    /* Optional; NULL: use `put` and `add_all`. Both in one operation, for the same n numbers to all
     * processes, n <= HX_TRANSPORT_FEW. */
    int (*sum_few)(hx_device *dev, const hx_transport_items *items,
                   const hx_transport_arrivals *came, int64_t n, double *d_y);
    /* Optional; NULL: use `put` and `take`. Both in one operation, for at most HX_TRANSPORT_SWAP
     * numbers; d_taken must not overlap what is sent. Not for processes that share a device. */
    int (*swap_single)(hx_device *dev, const hx_transport_items *items,
                       const hx_transport_arrivals *came, const float *d_y, int64_t n,
                       float *d_taken);
} hx_transport_ops;

/* maximum number of values of sum_few; maximum number that trade_single sends, and that it
 * receives */
enum { HX_TRANSPORT_FEW = 64, HX_TRANSPORT_SWAP = 1 << 18 };

HX_C_END

#endif
