/* Ranks that solve one problem together, each on its subdomain (`hx_subdomain`, subdomain.h).
 *
 * hx_dist.dev is the device on which a subdomain is solved: the backend's, with every operation
 * replaced that needs other ranks. A vector holds the values of all points of a subdomain, equal on
 * every rank that has the point. Sums run over the rank's own points and are added in the order of
 * the ranks; products are completed by the contributions of other ranks at the interface points.
 * Results are therefore bitwise the same on all ranks, and in every run with as many ranks. Values
 * of points go from device to device if the machine supports it (transport.h). Everything else, and
 * those values otherwise, goes through host memory, and then the operations block.
 *
 * All ranks run the same program and call the same collective functions in the same order. The
 * first one, the root, also prints and writes files. */
#ifndef HX_DIST_H
#define HX_DIST_H

#include "../comm/comm_reduce.h"
#include "../device/snapshot.h"
#include "../krylov/pcg_ops.h"
#include "../linalg/block_ops.h"
#include "../linalg/vector_ops.h"
#include "../multigrid/multigrid.h"
#include "../operator/conduction_ops.h"
#include "../operator/element_ops.h"
#include "../operator/interface_ops.h"
#include "subdomain.h"
#include "transport.h"

HX_C_BEGIN

enum {
    HX_DIST_ROOT = 0,
    HX_DIST_ENTRIES = 3,
    HX_DIST_RECEIVED = 1 << 20 /* floats that a rank receives at once in a sum over all ranks */
};

/* Time and data volume of exchanges since hx_dist_create. Seconds are host time: exchanges from
 * device to device do not block the host, sums do. */
typedef struct hx_dist_stats {
    int64_t n_exchange, n_sum; /* exchanges of interface points; sums over all ranks */
    double exchange_seconds, sum_seconds, coarse_seconds;
    int64_t exchange_bytes;     /* sent by this rank */
    int64_t n_halo, halo_bytes; /* exchanges of element values for filters */
    double halo_seconds;
    double solve_seconds; /* solution of the designs, exchanges and sums included */
} hx_dist_stats;

/* Figures of one rank: its subdomain, time and memory. */
typedef struct hx_dist_report {
    int64_t n_elem, n_node;
    int64_t n_coarse;     /* nodes of distributed coarse grids, including ghosts */
    int64_t host_bytes;   /* largest resident memory of the process */
    int64_t device_bytes; /* hx_dist.device_bytes */
    hx_dist_stats figures;
} hx_dist_report;

typedef struct hx_local_level hx_local_level; /* local_level.h */

/* Tables of multigrid in which operations that need other ranks are replaced. */
typedef struct hx_dist_multigrid {
    hx_multigrid_ops ops; /* names those below, and the backend's for the rest */
    hx_mg_smoother_ops diagonal, lines;
    hx_mg_transfer_ops transfer;
    hx_mg_level_ops level;
} hx_dist_multigrid;

typedef struct hx_dist {
    hx_device dev; /* first member, so that operations can reach the rest */
    const hx_comm *comm;
    const hx_device_ops *plain; /* operations of the backend */
    hx_device *device; /* the backend's device, whose memory and queue `dev` uses (borrowed) */
    hx_subdomain subdomain;
    hx_comm_reduce reduce;  /* the communicator behind the interface of base/reduce.h */
    hx_interface_host host; /* exchanges on the host about interface points */
    hx_device_ops ops;
    hx_vector_ops vector;
    hx_pcg_ops pcg;
    const hx_multigrid_ops *multigrid_plain; /* of the backend, for the problem's physics */
    hx_dist_multigrid multigrid;
    hx_conduction_ops conduction;
    hx_body_ops body;
    hx_block_ops block;
    hx_expansion_ops expansion;

    /* Interface points; entries for 1, 3 and 6 unknowns per point are made as needed. */
    hx_transport transport;
    hx_transport_exchange to_peers; /* exchange of interface points */
    int32_t *
        d_interface_of; /* lists of `subdomain` for sending and adding (owned, like the next two) */
    int64_t *d_from;
    int32_t *d_source;
    int components[HX_DIST_ENTRIES];
    int64_t *d_at[HX_DIST_ENTRIES]; /* [n_interface * components] entries of a vector (owned) */
    void *d_values;                 /* [n_interface * 6] doubles (owned, like all below) */
    /* on the host: [n_interface * 6], and [with[n_peer] * 6] for each of the other two */
    double *values, *send, *receive;
    hx_message *message; /* [n_peer] messages of an exchange */
    double *d_own;       /* [n] values at own points, 0 elsewhere (owned, like the next two) */
    float *d_own_single; /* [n], like the next */
    float *d_own_again;
    int other_components[HX_DIST_ENTRIES]; /* as above, for points owned by other ranks */
    int64_t *d_other[HX_DIST_ENTRIES];     /* [n_other * components] */
    hx_pcg_state *d_sums;                  /* this rank's sums of a step of PCG */
    double *d_power;                       /* [2] sums of a power iteration */
    double *field;                         /* [n_elem of the subdomain] on the host */
    int64_t most_whole;    /* most nodes of a replicated coarse grid; larger ones are distributed */
    hx_local_level *level; /* the distributed levels (owned) */
    float *coarse;         /* buffer for a coarse grid's values on the host */
    size_t coarse_floats;
    hx_dist_stats figures, at_record; /* at_record: figures at the start of a recording */
    /* 1: products run in parts, overlapped with the exchange; set before operators are made */
    int divides;
    int waits;      /* 1: a step of PCG has operations that wait on the host for other ranks */
    void *design;   /* table of design_dist.h; NULL: not made yet (owned) */
    void *d_design; /* device memory of that table (owned) */
    /* device memory of this rank, set by the owner of the struct, for reports */
    size_t device_bytes;
    int is_lost; /* 1: an operation failed, so the ranks are no longer in step */
} hx_dist;

static inline int hx_dist_is_root(const hx_dist *dist)
{
    return dist->comm->rank == HX_DIST_ROOT;
}

/* Marks the ranks as out of step after an error. */
static inline int hx_dist_note_error(hx_dist *dist, int rc)
{
    if (rc < 0) dist->is_lost = 1;
    return rc;
}

/* Makes the subdomain of this rank, to be solved on the device. *dist must not move. `device` and
 * `whole` must outlive it. HX_EINPUT of hx_subdomain_create. */
int hx_dist_create(hx_dist *dist, const hx_comm *comm, hx_device *device, const hx_problem *whole);
void hx_dist_free(hx_dist *dist);

/* From here on exchanges go from device to device if possible; otherwise dist->transport.ops is
 * NULL. To be called before the first operation. Collective. */
int hx_dist_connect(hx_dist *dist, hx_transport_kind way);

/* Returns the device memory of the exchanges except those of coarse grids and filters. Before
 * hx_dist_connect it assumes exchanges from device to device. O(1). */
size_t hx_dist_bytes(const hx_dist *dist);

/* Returns the name of the transport for messages: "CUDA IPC", "NCCL", "host memory". */
const char *hx_dist_transport(const hx_dist *dist);
/* Returns the transport in use, never HX_TRANSPORT_ANY. */
hx_transport_kind hx_dist_transport_kind(const hx_dist *dist);

/* HX_EDEVICE if an earlier error left the ranks out of step: a collective function would wait for
 * ranks that do not take part. */
int hx_dist_check(const hx_dist *dist);

/* Turns an error of any rank into an error of all (hx_comm_agree). If it has left the ranks out of
 * step, only this rank returns it. */
int hx_dist_agree(hx_dist *dist, int own);

/* gather: whole[n_elem of the whole] on the root's host, NULL on other ranks, := fields of the
 * subdomains. scatter is the reverse. Blocking. With a distributed mesh (mesh.h), `whole` has the
 * elements of all ranks in the order of the file; vectors below likewise have its nodes in that
 * order. */
int hx_dist_gather_field(hx_dist *dist, const double *d_local, double *whole);
int hx_dist_scatter_field(hx_dist *dist, const double *whole, double *d_local);

/* gather: whole[n_point of the whole][components] on the root's host, NULL on other ranks, :=
 * vectors of the subdomains. scatter is the reverse. Blocking. O(n). */
int hx_dist_gather_vector(hx_dist *dist, int components, const double *d_local, double *whole);
int hx_dist_scatter_vector(hx_dist *dist, int components, const double *whole, double *d_local);

/* An entry with the first n_point points of such a vector of the whole; the others are 0. */
int hx_dist_snapshot_vector(hx_dist *dist, hx_snapshot *image, const char *name, int components,
                            int64_t n_point, double *d_local);

/* report[size] := figures of every rank, on all ranks. */
int hx_dist_gather_report(hx_dist *dist, hx_dist_report *report);

/* Fill their tables of operations (dist_pcg.c, dist_multigrid.c, dist_lines.c). */
void hx_dist_set_pcg(hx_dist *dist);
void hx_dist_set_multigrid(hx_dist *dist);
void hx_dist_set_lines(hx_dist *dist);

/* Enables recordings if they are possible (dist_record.c). */
void hx_dist_set_recording(hx_dist *dist);

/* Frees the levels that have not been freed individually. */
void hx_dist_free_levels(hx_dist *dist);

/* dist->host and entries of hx_interface_ops (dist_host.c). */
void hx_dist_set_host(hx_dist *dist);
const hx_interface_host *hx_dist_host(hx_device *dev);
int hx_dist_sum_own(hx_device *dev, int64_t n, const double *d_own, double *d_all);

/* Entries of hx_interface_ops (dist_lines.c). */
int hx_dist_split_lines(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                        struct hx_mg_lines *lines);
int hx_dist_add_lines(hx_device *dev, const struct hx_mg_lines *lines);
void hx_dist_free_lines(hx_device *dev, struct hx_mg_lines *lines);

/* Entries of hx_interface_ops (dist_points.c). */
int hx_dist_add_interface(hx_device *dev, int components, double *d_y);
int hx_dist_add_interface_single(hx_device *dev, int components, float *d_y);
int hx_dist_add_parts(hx_device *dev, int components, const hx_product_parts *parts, double *d_y);
int hx_dist_add_parts_single(hx_device *dev, int components, const hx_product_parts *parts,
                             float *d_y);

/* Adds one exchange to the figures. */
static inline void hx_dist_count(hx_dist *dist, int64_t bytes)
{
    dist->figures.n_exchange++;
    dist->figures.exchange_bytes += bytes;
}

/* d_at[n][components] := entries stride * node[i] + offset + k, on the device. */
int hx_dist_put_entries(hx_device *dev, int64_t n, const int32_t *node, int64_t stride,
                        int64_t offset, int components, int64_t **d_at);

/* y[at[n_interface of the subdomain][components]] := sum over the ranks that have the point.
 * components: at most 12. */
int hx_dist_add_at(hx_dist *dist, int components, const int64_t *d_at, float *d_y);

static inline hx_dist *hx_dist_of(hx_device *dev)
{
    return (hx_dist *)dev; /* its first member */
}

/* Returns the unknowns per point of a vector of length n. */
static inline int hx_dist_components(const hx_dist *dist, int64_t n)
{
    return (int)(n / dist->subdomain.space.n_point);
}

/* has_own_first: 1 if a vector begins with the entries of own points. count_own: number of own
 * entries among n. */
int hx_dist_has_own_first(const hx_dist *dist);
int64_t hx_dist_count_own(const hx_dist *dist, int64_t n);

/* Restricts a vector of n unknowns to own points, for sums. Linear elements: *d_own is d_v, and
 * sums run over its first *n_own entries. Quadratic elements: *n_own is n, and *d_own is a copy
 * with 0 at points of other ranks, owned by `dist` and valid until the next call. O(n). */
int hx_dist_own(hx_dist *dist, int64_t n, const double *d_v, int64_t *n_own, const double **d_own);
int hx_dist_own_single(hx_dist *dist, int64_t n, const float *d_v, float **d_copy, int64_t *n_own,
                       const float **d_own);

/* d_v := 0 at points owned by other ranks. */
int hx_dist_zero_others(hx_dist *dist, int64_t n, double *d_v);
int hx_dist_zero_others_single(hx_dist *dist, int64_t n, float *d_v);

/* d_sum[n] := sum over all ranks. Blocking. */
int hx_dist_sum_device(hx_dist *dist, size_t n, float *d_sum);

/* sum[n] := sum over all ranks, with its time in the figures. */
int hx_dist_sum(hx_dist *dist, int n, double *sum);

/* Allocates d_power[2] at the first call. */
int hx_dist_need_power(hx_dist *dist);

/* Like hx_dist_sum_device for at most HX_TRANSPORT_FEW doubles on the device; blocking only if
 * exchanges go through the host. */
int hx_dist_sum_few(hx_dist *dist, int n, double *d_sum);

/* hx_mg_smoother_ops.power of lines over a subdomain's first n_own entries, corrected to the result
 * over all ranks; n entries of v are scaled. In dist_lines.c. */
int hx_dist_power_of_own(hx_dist *dist, int64_t n_own, int64_t n, const float *d_m,
                         const float *d_t, const float *d_s, float *d_v,
                         hx_mg_smoother *d_smoother);

HX_C_END

#endif
