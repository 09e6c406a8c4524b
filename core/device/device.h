/* A device: its memory, its queue of work, time stamps, and the tables of operations that the
 * components of the solver and the design run on it. Each backend is one const table,
 * hx_device_ops_<name>.
 *
 * `d_` names device memory. Operations are queued in order. Only `download`, `sync` and operations
 * that return a result to the host wait. */
#ifndef HX_DEVICE_H
#define HX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

HX_C_BEGIN

/* Advice for the user in messages about HX_EDEVICE. */
#define HX_DEVICE_REMEDY                                                                           \
    "run again, or on another device (solver.device = \"cpu\"); if the error persists, "           \
    "nvidia-smi and the kernel log (Xid) show what went wrong on the GPU"

typedef struct hx_device hx_device;

/* number of slots of `mark` */
enum { HX_N_MARK = 8 };

typedef struct hx_device_ops {
    const char *name, *help;
    int look_every; /* PCG iterations to queue between two status checks */
    /* Returns 1 if the backend can run on this machine; otherwise returns 0 and writes the reason,
     * one line, to `why`. */
    int (*available)(char *why, size_t n_why);
    int (*open)(hx_device *dev);
    void (*close)(hx_device *dev);
    /* Free and total bytes of device memory; 0: unknown. */
    int (*memory)(hx_device *dev, size_t *n_free, size_t *n_total);

    int (*alloc)(hx_device *dev, size_t bytes, void *d_out);
    void (*release)(hx_device *dev, void *d_p);
    int (*upload)(hx_device *dev, void *d_to, const void *from, size_t bytes);
    int (*download)(hx_device *dev, void *to, const void *d_from, size_t bytes); /* waits */
    int (*copy)(hx_device *dev, void *d_to, const void *d_from, size_t bytes);
    int (*zero)(hx_device *dev, void *d_to, size_t bytes);
    int (*sync)(hx_device *dev);

    /* Time stamps in the queue: `mark` now, query `elapsed` after a sync. */
    int (*mark)(hx_device *dev, int slot);
    int (*elapsed)(hx_device *dev, int from, int to, double *seconds);

    /* Copy bandwidth in bytes/s, counting reads and writes, from a large copy after a warm-up. Not
     * for hot paths. */
    int (*copy_bandwidth)(hx_device *dev, double *bytes_per_second);

    /* Tables of the components; all are required. */
    const struct hx_vector_ops *vector;   /* vector_ops.h */
    const struct hx_pcg_ops *pcg;         /* pcg_ops.h */
    const struct hx_element_ops *element; /* element_ops.h */
    const struct hx_design_ops *design;   /* design_ops.h */

    /* Optional tables. If one is NULL, features that need it are refused. */
    const struct hx_rigid_ops *rigid;         /* rigid_ops.h: rigid sets */
    const struct hx_body_ops *body;           /* element_ops.h: loads proportional to mass */
    const struct hx_expansion_ops *expansion; /* element_ops.h: loads by thermal expansion */
    const struct hx_mass_ops *mass;           /* mass_ops.h: the mass matrix, for vibrations */
    const struct hx_block_ops *block;         /* block_ops.h: blocks of vectors, like `mass` */
    const struct hx_multigrid_ops *multigrid; /* multigrid.h: the preconditioner `multigrid` */
    const struct hx_helmholtz_ops *helmholtz; /* helmholtz.h: the filter `helmholtz` */
    const struct hx_stress_ops *stress;       /* stress_ops.h: the response `stress` */
    /* the backend's product without a matrix, with apply_single */
    const struct hx_matrix_ops *matrix;
    /* the backend's product without a matrix, with apply_single */
    const struct hx_operator_kind *matrix_free;
    const struct hx_conduction_ops *conduction; /* conduction_ops.h: physics = "heat" */

    /* Optional: sparse matrices of a spline patch (interaction_ops.h). */
    const struct hx_interaction_ops *interaction;

    /* Optional: sums over interface points, for a device that holds a subdomain (interface_ops.h).
     * NULL: it holds the whole mesh. */
    const struct hx_interface_ops *interface;
    /* Optional: memory into which other processes write, and a message-passing library
     * (transport_ops.h). */
    const struct hx_transport_ops *transport, *transport_far;
    /* Optional: time marks in the device's queue (timeline_ops.h). */
    const struct hx_timeline_ops *timeline;

    /* Optional, all or none; NULL: the device has one queue. Concurrent work is queued between fork
     * and join. It runs after everything queued before fork_point and concurrently with everything
     * queued since; the latter has priority when both are ready. Work queued after join waits for
     * both. Call join also after a failure. A recording must contain all three calls or none. */
    int (*fork_point)(hx_device *dev);
    int (*fork)(hx_device *dev);
    int (*join)(hx_device *dev);

    /* Optional: does in advance what `available` and `open` of this backend would wait for, such as
     * loading a driver. Any thread may call it concurrently with other work. It reports no errors;
     * `open` does. */
    void (*prepare)(int place);
    /* Optional, all or none; NULL if queuing costs nothing. Work queued between record_begin and
     * record_end is recorded instead of run. `replay` queues all of it at once, time stamps
     * included. record_end also ends a recording that failed; it then returns HX_EDEVICE, and
     * nothing was queued. */
    int (*record_begin)(hx_device *dev);
    int (*record_end)(hx_device *dev, void **recording);
    int (*replay)(hx_device *dev, void *recording);
    void (*record_free)(hx_device *dev, void *recording);
} hx_device_ops;

struct hx_device {
    const hx_device_ops *ops;
    int place;  /* index among the devices of this kind, modulo their number; 0 by default */
    void *impl; /* (owned by the backend) */
    char description[160]; /* "NVIDIA H200, 141 GB" or "OpenMP, 2 threads" */
    char model[160];       /* GPUs: "NVIDIA H200, compute capability 9.0"; otherwise "" */
    char software[96];     /* driver and runtime: "driver for CUDA 13.0, runtime 13.0" */
    /* meshes on the device, each shared by its holders (device_mesh.h) */
    struct hx_device_mesh *mesh;
    /* timeline that records marks (timeline.h); NULL: none (borrowed) */
    struct hx_timeline *timeline;
};

/* Opens a backend by its table. HX_EENV with the reason if it cannot run on this machine. */
int hx_device_open(hx_device *dev, const hx_device_ops *ops);
/* hx_device_open for the device with index `place` modulo the number of devices: on a machine with
 * two GPUs, process 3 gets the second one. */
int hx_device_open_at(hx_device *dev, const hx_device_ops *ops, int place);
/* Allocates *(void **)d_out on the device and fills it from the host. The caller releases it, also
 * after a failure. */
int hx_device_put(hx_device *dev, void *d_out, const void *from, size_t bytes);
/* Accepts a zeroed struct. */
void hx_device_close(hx_device *dev);

HX_C_END

#endif
