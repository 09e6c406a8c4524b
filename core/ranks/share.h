/* A rank's share of a problem: a run of the elements (a part of a mesh in parts, hx_mesh_part, else
 * cut along the curve), the nodes they name, and which of those other
 * ranks have too.
 *
 * A point (space.h) belongs to the lowest rank that has it. A share's own nodes come first, then
 * those that it has in common with lower ranks, each in the order of the whole: sums over vectors
 * of linear elements run over the first `n_own` nodes. Middles of edges, which come after all nodes
 * in the order of their ends, are of both kinds: sums over vectors of quadratic elements leave out
 * the points that `other` lists. */
#ifndef HX_SHARE_H
#define HX_SHARE_H

#include "../partition/partition.h"
#include "../problem/problem.h"
#include "../team/team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_share {
    const hx_problem *whole; /* (borrowed) */
    int64_t *first;          /* [size + 1] first element of each rank's run (owned) */
    int64_t *n_elem_of;      /* [size] elements of each rank; under a window (mesh.h) it has more of
                                them than the run here (owned) */
    hx_mesh mesh;            /* of the run (owned) */
    hx_space space;          /* on it (owned) */
    hx_problem problem;      /* likewise (owned) */
    int64_t n_own;           /* nodes */
    int32_t *node;   /* [space.n_point] points of the whole, nodes first (owned, like the next) */
    int32_t *elem;   /* [mesh.n_elem] elements of the whole */
    int64_t n_other; /* points that belong to lower ranks */
    int32_t *other;  /* [n_other] ascending */

    /* Points in common with others, by this rank's number of them, ascending by the whole's. */
    int64_t n_common;
    int32_t *common; /* [n_common] (owned, like all below) */
    int n_peer;
    int *peer;          /* [n_peer] ranks, ascending */
    int64_t *with;      /* [n_peer + 1] first place in `common_of` of each */
    int32_t *common_of; /* [with[n_peer]] places in `common`, in the same order at the peer */
    int64_t *from;      /* [n_common + 1] first place in `source` */
    int32_t *source;    /* [from[n_common]] where a common point's values come from, in the order of
                           ranks: the place in `common_of`, -1: this rank */
} hx_share;

/* Of this rank of the team. The whole outlives it. HX_EINPUT: what no share can have (splines), too
 * few elements. O(n_elem), and O(log n_edge) a middle; 4 bytes a point of the
 * whole while it is made. */
int hx_share_create(hx_share *share, const hx_team *team, const hx_problem *whole);

/* The one of n_rank that has an element of the whole. */
int hx_share_rank_of(const hx_share *share, int n_rank, int64_t elem);

/* The lowest rank of n_rank that has a point of the whole. */
int hx_share_owner(const hx_share *share, int n_rank, int64_t point);

/* rank[] := those of n_rank that have a point of the whole, ascending; returns how many. The first
 * one owns it. */
int hx_share_ranks_of(const hx_share *share, int n_rank, int64_t point, int rank[]);

/* 1 if several of n_rank have a point of the whole. */
int hx_share_is_common(const hx_share *share, int n_rank, int64_t point);

/* HX_EINPUT with what it is, before anything is made. */
int hx_share_check(const hx_problem *whole);

/* Accepts a zeroed struct. */
void hx_share_free(hx_share *share);

#ifdef __cplusplus
}
#endif

#endif
