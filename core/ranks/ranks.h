/* Processes that solve one problem, each a share of it (share.h).
 *
 * hx_ranks.dev is the device on which a share is solved: the backend's, with its table but for what
 * needs the other processes. Vectors hold the values of all points of a share, the same in every
 * process that has a point; sums run over a share's own points and are added in the order of the
 * ranks, products are completed by what the others add at points in common: the same bits in all
 * processes and on every run with as many. Values of points go from device to device where the
 * machine lets them (mail.h), else through host memory, as all else does: the operations wait then.
 *
 * One process leads: it has the whole, proposes designs and says what is written; the others
 * follow, doing what hx_ranks_call names (design/analysis_whole.c, design/optimizer_ranks.c). */
#ifndef HX_RANKS_H
#define HX_RANKS_H

#include "../solver/common_ops.h"
#include "../solver/conduction_ops.h"
#include "../solver/element_ops.h"
#include "../solver/multigrid.h"
#include "../solver/pcg_ops.h"
#include "../solver/vector_ops.h"
#include "../team/team_all.h"
#include "mail.h"
#include "share.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_RANKS_LEADER = 0, HX_RANKS_ENTRIES = 3, HX_RANKS_WORDS = 4 };

/* hx_ranks_call.what of whoever sets hx_ranks.answer: this and above. */
enum { HX_RANKS_OTHER = 1000 };

/* What the leader asks of the others, with numbers that belong to it. */
typedef struct hx_ranks_call {
    int32_t what; /* of the caller; 0: it is over */
    int32_t number;
    double value;
} hx_ranks_call;

/* What exchanges took since hx_ranks_create: of the host, which does not wait for what goes from
 * device to device; sums do. */
typedef struct hx_ranks_figures {
    int64_t n_exchange, n_sum; /* exchanges of points in common; sums over all */
    double exchange_seconds, sum_seconds, lattice_seconds;
    int64_t exchange_bytes;     /* sent by this rank */
    int64_t n_halo, halo_bytes; /* the same of values of elements that filters look at */
    double halo_seconds;
    double solve_seconds; /* of the designs' solves, exchanges and sums included */
} hx_ranks_figures;

/* Of one rank: its share, what it took and holds. */
typedef struct hx_ranks_report {
    int64_t n_elem, n_node;
    int64_t n_lattice;    /* nodes of lattices that lie in shares, those of others among them */
    int64_t host_bytes;   /* most that the process has held */
    int64_t device_bytes; /* hx_ranks.device_bytes */
    hx_ranks_figures figures;
} hx_ranks_report;

typedef struct hx_level_share hx_level_share; /* level_share.h */

typedef struct hx_ranks {
    hx_device dev; /* first: operations find the rest behind it */
    const hx_team *team;
    const hx_device_ops *plain; /* of the backend */
    hx_device *device;          /* whose memory and queue dev works on (borrowed) */
    hx_share share;
    hx_team_all all;     /* the team */
    hx_common_host host; /* what its processes say to each other about points in common */
    hx_device_ops ops;
    hx_vector_ops vector;
    hx_pcg_ops pcg;
    const hx_multigrid_ops *multigrid_plain;
    hx_multigrid_ops multigrid, scalar; /* scalar: of heat */
    hx_conduction_ops conduction;
    hx_body_ops body;

    /* Points in common by unknowns a point: 1, 3, 6. */
    hx_mail mail;
    hx_mail_route to_peers; /* of those points */
    int32_t *d_common_of;   /* what goes and what is added up, of share (owned, like the next) */
    int64_t *d_from;
    int32_t *d_source;
    int components[HX_RANKS_ENTRIES];
    int64_t *d_at[HX_RANKS_ENTRIES]; /* [n_common * components] entries of a vector (owned) */
    void *d_values;                  /* [n_common * 6] doubles (owned, like all below) */
    double *values, *send, *receive; /* [n_common * 6], [with * 6] twice, host */
    hx_message *message;             /* [n_peer] of an exchange */
    double *d_own;                   /* [n] of own points, 0 elsewhere (owned, like the next) */
    float *d_own_single;             /* [n], as is the next */
    float *d_own_again;
    int other_components[HX_RANKS_ENTRIES]; /* as above, of points of others */
    int64_t *d_other[HX_RANKS_ENTRIES];     /* [n_other * components] */
    hx_pcg_state *d_sums;                   /* this process' sums of a step of PCG */
    double *d_power;                        /* [2] those of a power iteration */
    double *field;                          /* [n_elem of the share] host */
    double *whole;      /* [n_elem of the whole], where the leader has the design on its device */
    int64_t most_whole; /* nodes of a lattice that is not shared out */
    hx_level_share *level; /* those that are (owned) */
    float *lattice;        /* what of a lattice is on its way, host */
    size_t lattice_floats;
    hx_ranks_figures figures, at_record; /* the second at the beginning of a recording */
    int divides;    /* 1: products run in parts, beside the exchange; before operators are made */
    int waits;      /* 1: a step of PCG has operations that wait for others on the host */
    void *design;   /* the table of design_ranks.h; NULL: the leader has the design (owned) */
    void *d_design; /* what it works on (owned) */
    size_t device_bytes; /* that this process takes; its owner fills it, for reports */
    /* In a follower: what is called for that is neither the analysis' nor the optimizer's. */
    int (*answer)(void *context, const hx_ranks_call *call);
    void *context; /* (borrowed) */
    int is_lost;   /* 1: an operation failed on the way: the processes no longer agree */
} hx_ranks;

static inline int hx_ranks_leads(const hx_ranks *ranks)
{
    return ranks->team->rank == HX_RANKS_LEADER;
}

/* What went wrong on the way leaves the processes at different places. */
static inline int hx_ranks_judge(hx_ranks *ranks, int rc)
{
    if (rc < 0) ranks->is_lost = 1;
    return rc;
}

/* A share of the whole for this process, solved on the device. *ranks must not move. Both outlive
 * it. HX_EINPUT of hx_share_create. */
int hx_ranks_create(hx_ranks *ranks, const hx_team *team, hx_device *device,
                    const hx_problem *whole);
void hx_ranks_free(hx_ranks *ranks);

/* From here on what can goes from device to device; ranks->mail.ops is NULL where none does. Before
 * the first operation. Collective. */
int hx_ranks_connect(hx_ranks *ranks, hx_mail_way way);

/* Device memory that exchanges take, but for those of lattices and filters; before the processes
 * are connected as if they went from device to device. O(1). */
size_t hx_ranks_bytes(const hx_ranks *ranks);

/* How values of points go, for messages: "CUDA IPC", "NCCL", "host memory". */
const char *hx_ranks_transport(const hx_ranks *ranks);
/* The way that was taken, never HX_MAIL_ANY. */
hx_mail_way hx_ranks_way(const hx_ranks *ranks);

/* By the leader: the others are told what follows. By the others: waits for it. */
int hx_ranks_tell(hx_ranks *ranks, const hx_ranks_call *call);
int hx_ranks_listen(hx_ranks *ranks, hx_ranks_call *call);

/* d_share[n_elem of the share] of each := d_whole[n_elem of the whole] of the leader's device, NULL
 * elsewhere; and back. Waits. */
int hx_ranks_spread(hx_ranks *ranks, const double *d_whole, double *d_share);
int hx_ranks_collect(hx_ranks *ranks, const double *d_share, double *d_whole);

/* own[n_elem of the share] of each host := whole[n_elem of the whole] of the leader's. */
int hx_ranks_spread_host(hx_ranks *ranks, const double *whole, double *own);

/* The same with whole[n_elem of the whole] of the leader's host, NULL elsewhere. Waits. Where the
 * whole is a window (mesh.h): of all, in the order of the file; so are vectors of its nodes. */
int hx_ranks_collect_field(hx_ranks *ranks, const double *d_share, double *whole);
int hx_ranks_spread_field(hx_ranks *ranks, const double *whole, double *d_share);

/* whole[n_point of the whole][components] of the leader's host := vectors of the shares; elsewhere
 * NULL. And back. Waits. */
/* O(n). */
int hx_ranks_collect_vector(hx_ranks *ranks, int components, const double *d_share, double *whole);
int hx_ranks_spread_vector(hx_ranks *ranks, int components, const double *whole, double *d_share);

/* report[size] := of every rank, in all processes. */
int hx_ranks_gather_report(hx_ranks *ranks, hx_ranks_report *report);

/* pcg_ranks.c, multigrid_ranks.c, lines_ranks.c: fill their tables. */
void hx_ranks_set_pcg(hx_ranks *ranks);
void hx_ranks_set_multigrid(hx_ranks *ranks);
void hx_ranks_set_lines(hx_ranks *ranks);

/* record_ranks.c: recordings, where they are possible. */
void hx_ranks_set_recording(hx_ranks *ranks);

/* What is left of levels that nobody has freed. */
void hx_ranks_free_levels(hx_ranks *ranks);

/* host_ranks.c: ranks->host; of hx_common_ops. */
void hx_ranks_set_host(hx_ranks *ranks);
const hx_common_host *hx_ranks_host(hx_device *dev);
int hx_ranks_sum_own(hx_device *dev, int64_t n, const double *d_own, double *d_all);

/* lines_ranks.c: of hx_common_ops. */
int hx_ranks_share_lines(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                         struct hx_mg_lines *lines);
int hx_ranks_add_lines(hx_device *dev, const struct hx_mg_lines *lines);
void hx_ranks_free_lines(hx_device *dev, struct hx_mg_lines *lines);

/* Adds an exchange of a route to the figures. */
static inline void hx_ranks_count(hx_ranks *ranks, int64_t bytes)
{
    ranks->figures.n_exchange++;
    ranks->figures.exchange_bytes += bytes;
}

/* d_at[n][components] := entries stride node[i] + offset + k, on the device. */
int hx_ranks_put_entries(hx_device *dev, int64_t n, const int32_t *node, int64_t stride,
                         int64_t offset, int components, int64_t **d_at);

/* y[at[n_common of the share][components]] := the sum over the processes that have the point; up to
 * 12 components. */
int hx_ranks_add_at(hx_ranks *ranks, int components, const int64_t *d_at, float *d_y);

static inline hx_ranks *hx_ranks_of(hx_device *dev)
{
    return (hx_ranks *)dev; /* its first member */
}

/* Unknowns a point of a vector of n. */
static inline int hx_ranks_components(const hx_ranks *ranks, int64_t n)
{
    return (int)(n / ranks->share.space.n_point);
}

/* Whether own entries of vectors on the share's points are the first, and how many of n are own. */
int hx_ranks_has_own_first(const hx_ranks *ranks);
int64_t hx_ranks_count_own(const hx_ranks *ranks, int64_t n);

/* The own part of a vector of n unknowns on the share's points, for sums: what of it a sum runs
 * over. Linear elements: its first *n_own entries, nothing is done. Quadratic ones: all n, *d_own a
 * copy (of hx_ranks, until the next call) with 0 at the points of others. O(n). */
int hx_ranks_own(hx_ranks *ranks, int64_t n, const double *d_v, int64_t *n_own,
                 const double **d_own);
int hx_ranks_own_single(hx_ranks *ranks, int64_t n, const float *d_v, float **d_copy,
                        int64_t *n_own, const float **d_own);

/* d_v := 0 at the points of others. */
int hx_ranks_leave_own(hx_ranks *ranks, int64_t n, double *d_v);
int hx_ranks_leave_own_single(hx_ranks *ranks, int64_t n, float *d_v);

/* d_sum[n] of each process := the sum over all. Waits. */
int hx_ranks_sum_device(hx_ranks *ranks, size_t n, float *d_sum);

/* sum[n] over the processes, timed. */
int hx_ranks_sum(hx_ranks *ranks, int n, double *sum);

/* d_power[2], made at the first call. */
int hx_ranks_need_power(hx_ranks *ranks);

/* The same of up to HX_MAIL_FEW numbers on the device; waits only where nothing goes from device to
 * device. */
int hx_ranks_sum_few(hx_ranks *ranks, int n, double *d_sum);

/* hx_multigrid_ops.blocks_power of a share's first n_own entries, put right to that of all; of n
 * entries v is scaled. lines_ranks.c */
int hx_ranks_power_of_own(hx_ranks *ranks, int64_t n_own, int64_t n, const float *d_m,
                          const float *d_t, const float *d_s, float *d_v,
                          hx_mg_smoother *d_smoother);

#ifdef __cplusplus
}
#endif

#endif
