/* Ranks that solve one problem together, each on its subdomain (`hx_share`, share.h).
 *
 * hx_ranks.dev is the device on which a subdomain is solved: the backend's, with every operation
 * replaced that needs other ranks. A vector holds the values of all points of a subdomain, equal on
 * every rank that has the point. Sums run over the rank's own points and are added in the order of
 * the ranks; products are completed by the contributions of other ranks at the interface points.
 * Results are therefore bitwise the same on all ranks, and in every run with as many ranks. Values
 * of points go from device to device if the machine supports it (mail.h). Everything else, and
 * those values otherwise, goes through host memory, and then the operations block.
 *
 * One rank leads: it has the whole problem, proposes designs and decides what is written. The
 * others follow and perform the steps named in hx_ranks_call (design/analysis_whole.c,
 * design/optimizer_ranks.c). */
#ifndef HX_RANKS_H
#define HX_RANKS_H

#include "../comm/comm_reduce.h"
#include "../solver/common_ops.h"
#include "../solver/conduction_ops.h"
#include "../solver/element_ops.h"
#include "../solver/multigrid.h"
#include "../solver/pcg_ops.h"
#include "../solver/vector_ops.h"
#include "mail.h"
#include "share.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_RANKS_LEADER = 0, HX_RANKS_ENTRIES = 3, HX_RANKS_WORDS = 4 };

/* Values of hx_ranks_call.what from here on are reserved for the owner of hx_ranks.answer. */
enum { HX_RANKS_OTHER = 1000 };

/* A step that the leader requests from the other ranks, with its arguments. */
typedef struct hx_ranks_call {
    int32_t what; /* defined by the caller; 0: the run is over */
    int32_t number;
    double value;
} hx_ranks_call;

/* Time and data volume of exchanges since hx_ranks_create. Seconds are host time: exchanges from
 * device to device do not block the host, sums do. */
typedef struct hx_ranks_figures {
    int64_t n_exchange, n_sum; /* exchanges of interface points; sums over all ranks */
    double exchange_seconds, sum_seconds, lattice_seconds;
    int64_t exchange_bytes;     /* sent by this rank */
    int64_t n_halo, halo_bytes; /* exchanges of element values for filters */
    double halo_seconds;
    double solve_seconds; /* solution of the designs, exchanges and sums included */
} hx_ranks_figures;

/* Figures of one rank: its subdomain, time and memory. */
typedef struct hx_ranks_report {
    int64_t n_elem, n_node;
    int64_t n_lattice;    /* nodes of distributed coarse grids, including ghosts */
    int64_t host_bytes;   /* largest resident memory of the process */
    int64_t device_bytes; /* hx_ranks.device_bytes */
    hx_ranks_figures figures;
} hx_ranks_report;

typedef struct hx_level_share hx_level_share; /* level_share.h */

typedef struct hx_ranks {
    hx_device dev; /* first member, so that operations can reach the rest */
    const hx_comm *comm;
    const hx_device_ops *plain; /* operations of the backend */
    hx_device *device; /* the backend's device, whose memory and queue `dev` uses (borrowed) */
    hx_share share;
    hx_comm_reduce all;  /* the communicator behind the interface of base/reduce.h */
    hx_common_host host; /* exchanges on the host about interface points */
    hx_device_ops ops;
    hx_vector_ops vector;
    hx_pcg_ops pcg;
    const hx_multigrid_ops *multigrid_plain;
    hx_multigrid_ops multigrid, scalar; /* scalar: of heat conduction */
    hx_conduction_ops conduction;
    hx_body_ops body;

    /* Interface points; entries for 1, 3 and 6 unknowns per point are made as needed. */
    hx_mail mail;
    hx_mail_route to_peers; /* exchange of interface points */
    int32_t *d_common_of;   /* lists of `share` for sending and adding (owned, like the next two) */
    int64_t *d_from;
    int32_t *d_source;
    int components[HX_RANKS_ENTRIES];
    int64_t *d_at[HX_RANKS_ENTRIES]; /* [n_common * components] entries of a vector (owned) */
    void *d_values;                  /* [n_common * 6] doubles (owned, like all below) */
    /* on the host: [n_common * 6], and [with[n_peer] * 6] for each of the other two */
    double *values, *send, *receive;
    hx_message *message; /* [n_peer] messages of an exchange */
    double *d_own;       /* [n] values at own points, 0 elsewhere (owned, like the next two) */
    float *d_own_single; /* [n], like the next */
    float *d_own_again;
    int other_components[HX_RANKS_ENTRIES]; /* as above, for points owned by other ranks */
    int64_t *d_other[HX_RANKS_ENTRIES];     /* [n_other * components] */
    hx_pcg_state *d_sums;                   /* this rank's sums of a step of PCG */
    double *d_power;                        /* [2] sums of a power iteration */
    double *field;                          /* [n_elem of the subdomain] on the host */
    double *whole; /* [n_elem of the whole] on the leader, if it has the design on its device */
    int64_t most_whole;    /* most nodes of a replicated coarse grid; larger ones are distributed */
    hx_level_share *level; /* the distributed levels (owned) */
    float *lattice;        /* buffer for a coarse grid's values on the host */
    size_t lattice_floats;
    hx_ranks_figures figures, at_record; /* at_record: figures at the start of a recording */
    /* 1: products run in parts, overlapped with the exchange; set before operators are made */
    int divides;
    int waits;      /* 1: a step of PCG has operations that wait on the host for other ranks */
    void *design;   /* table of design_ranks.h; NULL: the leader has the design (owned) */
    void *d_design; /* device memory of that table (owned) */
    /* device memory of this rank, set by the owner of the struct, for reports */
    size_t device_bytes;
    /* On a follower: handles calls that belong neither to the analysis nor to the optimizer. */
    int (*answer)(void *context, const hx_ranks_call *call);
    void *context; /* (borrowed) */
    int is_lost;   /* 1: an operation failed, so the ranks are no longer in step */
} hx_ranks;

static inline int hx_ranks_leads(const hx_ranks *ranks)
{
    return ranks->comm->rank == HX_RANKS_LEADER;
}

/* Marks the ranks as out of step after an error. */
static inline int hx_ranks_judge(hx_ranks *ranks, int rc)
{
    if (rc < 0) ranks->is_lost = 1;
    return rc;
}

/* Makes the subdomain of this rank, to be solved on the device. *ranks must not move. `device` and
 * `whole` must outlive it. HX_EINPUT of hx_share_create. */
int hx_ranks_create(hx_ranks *ranks, const hx_comm *comm, hx_device *device,
                    const hx_problem *whole);
void hx_ranks_free(hx_ranks *ranks);

/* From here on exchanges go from device to device if possible; otherwise ranks->mail.ops is NULL.
 * To be called before the first operation. Collective. */
int hx_ranks_connect(hx_ranks *ranks, hx_mail_way way);

/* Returns the device memory of the exchanges except those of coarse grids and filters. Before
 * hx_ranks_connect it assumes exchanges from device to device. O(1). */
size_t hx_ranks_bytes(const hx_ranks *ranks);

/* Returns the name of the transport for messages: "CUDA IPC", "NCCL", "host memory". */
const char *hx_ranks_transport(const hx_ranks *ranks);
/* Returns the transport in use, never HX_MAIL_ANY. */
hx_mail_way hx_ranks_way(const hx_ranks *ranks);

/* The leader announces the next step (tell); the other ranks wait for it (listen). */
int hx_ranks_tell(hx_ranks *ranks, const hx_ranks_call *call);
int hx_ranks_listen(hx_ranks *ranks, hx_ranks_call *call);

/* spread: d_share[n_elem of the subdomain] on every rank := d_whole[n_elem of the whole] on the
 * leader's device; d_whole is NULL on other ranks. collect is the reverse. Blocking. */
int hx_ranks_spread(hx_ranks *ranks, const double *d_whole, double *d_share);
int hx_ranks_collect(hx_ranks *ranks, const double *d_share, double *d_whole);

/* own[n_elem of the subdomain] on every host := whole[n_elem of the whole] on the leader's host. */
int hx_ranks_spread_host(hx_ranks *ranks, const double *whole, double *own);

/* Like hx_ranks_collect and hx_ranks_spread, with whole[n_elem of the whole] on the leader's host,
 * NULL on other ranks. Blocking. With a distributed mesh (mesh.h), `whole` has the elements of all
 * ranks in the order of the file; vectors below likewise have its nodes in that order. */
int hx_ranks_collect_field(hx_ranks *ranks, const double *d_share, double *whole);
int hx_ranks_spread_field(hx_ranks *ranks, const double *whole, double *d_share);

/* collect: whole[n_point of the whole][components] on the leader's host, NULL on other ranks, :=
 * vectors of the subdomains. spread is the reverse. Blocking. O(n). */
int hx_ranks_collect_vector(hx_ranks *ranks, int components, const double *d_share, double *whole);
int hx_ranks_spread_vector(hx_ranks *ranks, int components, const double *whole, double *d_share);

/* report[size] := figures of every rank, on all ranks. */
int hx_ranks_gather_report(hx_ranks *ranks, hx_ranks_report *report);

/* Fill their tables of operations (pcg_ranks.c, multigrid_ranks.c, lines_ranks.c). */
void hx_ranks_set_pcg(hx_ranks *ranks);
void hx_ranks_set_multigrid(hx_ranks *ranks);
void hx_ranks_set_lines(hx_ranks *ranks);

/* Enables recordings if they are possible (record_ranks.c). */
void hx_ranks_set_recording(hx_ranks *ranks);

/* Frees the levels that have not been freed individually. */
void hx_ranks_free_levels(hx_ranks *ranks);

/* ranks->host and entries of hx_common_ops (host_ranks.c). */
void hx_ranks_set_host(hx_ranks *ranks);
const hx_common_host *hx_ranks_host(hx_device *dev);
int hx_ranks_sum_own(hx_device *dev, int64_t n, const double *d_own, double *d_all);

/* Entries of hx_common_ops (lines_ranks.c). */
int hx_ranks_share_lines(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                         struct hx_mg_lines *lines);
int hx_ranks_add_lines(hx_device *dev, const struct hx_mg_lines *lines);
void hx_ranks_free_lines(hx_device *dev, struct hx_mg_lines *lines);

/* Adds one exchange to the figures. */
static inline void hx_ranks_count(hx_ranks *ranks, int64_t bytes)
{
    ranks->figures.n_exchange++;
    ranks->figures.exchange_bytes += bytes;
}

/* d_at[n][components] := entries stride * node[i] + offset + k, on the device. */
int hx_ranks_put_entries(hx_device *dev, int64_t n, const int32_t *node, int64_t stride,
                         int64_t offset, int components, int64_t **d_at);

/* y[at[n_common of the subdomain][components]] := sum over the ranks that have the point; at most
 * 12 components. */
int hx_ranks_add_at(hx_ranks *ranks, int components, const int64_t *d_at, float *d_y);

static inline hx_ranks *hx_ranks_of(hx_device *dev)
{
    return (hx_ranks *)dev; /* its first member */
}

/* Returns the unknowns per point of a vector of length n. */
static inline int hx_ranks_components(const hx_ranks *ranks, int64_t n)
{
    return (int)(n / ranks->share.space.n_point);
}

/* has_own_first: 1 if a vector begins with the entries of own points. count_own: number of own
 * entries among n. */
int hx_ranks_has_own_first(const hx_ranks *ranks);
int64_t hx_ranks_count_own(const hx_ranks *ranks, int64_t n);

/* Restricts a vector of n unknowns to own points, for sums. Linear elements: *d_own is d_v, and
 * sums run over its first *n_own entries. Quadratic elements: *n_own is n, and *d_own is a copy
 * with 0 at points of other ranks, owned by `ranks` and valid until the next call. O(n). */
int hx_ranks_own(hx_ranks *ranks, int64_t n, const double *d_v, int64_t *n_own,
                 const double **d_own);
int hx_ranks_own_single(hx_ranks *ranks, int64_t n, const float *d_v, float **d_copy,
                        int64_t *n_own, const float **d_own);

/* d_v := 0 at points owned by other ranks. */
int hx_ranks_leave_own(hx_ranks *ranks, int64_t n, double *d_v);
int hx_ranks_leave_own_single(hx_ranks *ranks, int64_t n, float *d_v);

/* d_sum[n] := sum over all ranks. Blocking. */
int hx_ranks_sum_device(hx_ranks *ranks, size_t n, float *d_sum);

/* sum[n] := sum over all ranks, with its time in the figures. */
int hx_ranks_sum(hx_ranks *ranks, int n, double *sum);

/* Allocates d_power[2] at the first call. */
int hx_ranks_need_power(hx_ranks *ranks);

/* Like hx_ranks_sum_device for at most HX_MAIL_FEW doubles on the device; blocking only if
 * exchanges go through the host. */
int hx_ranks_sum_few(hx_ranks *ranks, int n, double *d_sum);

/* hx_multigrid_ops.blocks_power over a subdomain's first n_own entries, corrected to the result
 * over all ranks; n entries of v are scaled. In lines_ranks.c. */
int hx_ranks_power_of_own(hx_ranks *ranks, int64_t n_own, int64_t n, const float *d_m,
                          const float *d_t, const float *d_s, float *d_v,
                          hx_mg_smoother *d_smoother);

#ifdef __cplusplus
}
#endif

#endif
