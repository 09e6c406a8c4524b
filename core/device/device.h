/* A device: memory, the queue of its work, time stamps; and the tables of what the components of
 * the solver and the design do on it. One const table per backend, hx_device_ops_<name>.
 *
 * `d_` names memory of the device. Operations are queued in order; only download, sync and what
 * returns a result to the host wait. */
#ifndef HX_DEVICE_H
#define HX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about HX_EDEVICE, in messages. */
#define HX_DEVICE_REMEDY                                                                           \
    "run again or elsewhere (solver.device = \"cpu\"); if it happens again, nvidia-smi and the "   \
    "kernel's log (Xid) say what the GPU met"

typedef struct hx_device hx_device;

/* Slots of `mark`. */
enum { HX_N_MARK = 8 };

typedef struct hx_device_ops {
    const char *name, *help;
    int look_every; /* PCG iterations worth queuing between looks at the state */
    /* 1 if it can run here; else 0 and why (one line). */
    int (*available)(char *why, size_t n_why);
    int (*open)(hx_device *dev);
    void (*close)(hx_device *dev);
    /* Free and total bytes of its memory; 0: unknown. */
    int (*memory)(hx_device *dev, size_t *n_free, size_t *n_total);

    int (*alloc)(hx_device *dev, size_t bytes, void *d_out);
    void (*release)(hx_device *dev, void *d_p);
    int (*upload)(hx_device *dev, void *d_to, const void *from, size_t bytes);
    int (*download)(hx_device *dev, void *to, const void *d_from, size_t bytes); /* waits */
    int (*copy)(hx_device *dev, void *d_to, const void *d_from, size_t bytes);
    int (*zero)(hx_device *dev, void *d_to, size_t bytes);
    int (*sync)(hx_device *dev);

    /* Time stamps in the queue: mark now, ask after a sync. */
    int (*mark)(hx_device *dev, int slot);
    int (*elapsed)(hx_device *dev, int from, int to, double *seconds);

    /* Copy bandwidth in bytes/s, reads plus writes counted, from a large warm copy. Cold. */
    int (*copy_bandwidth)(hx_device *dev, double *bytes_per_second);

    /* Tables of the components, required. */
    const struct hx_vector_ops *vector;   /* vector_ops.h */
    const struct hx_pcg_ops *pcg;         /* pcg_ops.h */
    const struct hx_element_ops *element; /* element_ops.h */
    const struct hx_design_ops *design;   /* design_ops.h */

    /* Optional, NULL: what needs them is refused. */
    const struct hx_rigid_ops *rigid;         /* rigid_ops.h: rigid sets */
    const struct hx_body_ops *body;           /* element_ops.h: loads by mass */
    const struct hx_multigrid_ops *multigrid; /* multigrid.h: the preconditioner */
    const struct hx_helmholtz_ops *helmholtz; /* helmholtz.h: the filter */
    const struct hx_matrix_ops *matrix;       /* matrix.h: sparse matrices */
    const struct hx_strategy *matrix_free;    /* its product without a matrix, with apply_single */
    const struct hx_conduction_ops *conduction; /* conduction_ops.h: physics = "heat" */

    /* Optional: sparse matrices of a spline patch (interaction_ops.h). */
    const struct hx_interaction_ops *interaction;

    /* Optional: of a device that has a share of a mesh, sums over the points it has in common with
     * other processes (common_ops.h). NULL: it has the whole. */
    const struct hx_common_ops *common;
    /* Optional: memory into which other processes write; a library of messages (mail_ops.h). */
    const struct hx_mail_ops *mail, *mail_far;
    /* Optional: marks of where its time goes (timeline_ops.h). */
    const struct hx_timeline_ops *timeline;

    /* Optional, all or none; NULL: it has one queue. Work beside it: what is queued between
     * beside_begin and beside_end runs after what came before beside_from, beside what came since,
     * which goes first where both are ready. What follows beside_end waits for all. beside_end also
     * ends what failed. To be recorded as a whole. */
    int (*beside_from)(hx_device *dev);
    int (*beside_begin)(hx_device *dev);
    int (*beside_end)(hx_device *dev);

    /* Optional: does ahead what available and open at a place would wait for (a driver); any
     * thread may call it beside other work. Fails silently: open will say why. */
    void (*prepare)(int place);
    /* Optional, all or none: NULL where queuing costs nothing. What is queued between record_begin
     * and record_end is kept instead of run; replay queues it at once, time stamps included.
     * record_end also ends a recording that failed: HX_EDEVICE, and nothing was queued. */
    int (*record_begin)(hx_device *dev);
    int (*record_end)(hx_device *dev, void **recording);
    int (*replay)(hx_device *dev, void *recording);
    void (*record_free)(hx_device *dev, void *recording);
} hx_device_ops;

struct hx_device {
    const hx_device_ops *ops;
    int place;                    /* which of several of its kind, counted round; 0 at first */
    void *impl;                   /* (owned by the backend) */
    char description[160];        /* "NVIDIA H200, 141 GB" or "OpenMP, 2 threads" */
    char model[160];              /* of a GPU: "NVIDIA H200, compute capability 9.0"; else "" */
    char software[96];            /* beneath it: "driver for CUDA 13.0, runtime 13.0" */
    struct hx_device_mesh *mesh;  /* those on it, each shared by its holders (device_mesh.h) */
    struct hx_timeline *timeline; /* what it marks (timeline.h), or NULL: nothing (borrowed) */
};

/* Opens a backend by table. HX_EENV says why it cannot run here. */
int hx_device_open(hx_device *dev, const hx_device_ops *ops);
/* The same of the device at a place, of as many as there are counted round: of process 3 on a
 * machine with two GPUs the second. */
int hx_device_open_at(hx_device *dev, const hx_device_ops *ops, int place);
/* Allocates *(void **)d_out on the device and fills it from the host; the caller releases it, also
 * after a failure. */
int hx_device_put(hx_device *dev, void *d_out, const void *from, size_t bytes);
/* Accepts a zeroed struct. */
void hx_device_close(hx_device *dev);

#ifdef __cplusplus
}
#endif

#endif
