/* The subdomain of a rank: a run of the elements (a part of a mesh in parts, hx_mesh_part,
 * otherwise a piece of the space-filling curve), their nodes, and which of these are also on other
 * ranks (interface points).
 *
 * A point (space.h) is owned by the lowest rank that has it. A subdomain's own nodes come first,
 * then those owned by lower ranks, each group in the order of the whole, so sums over vectors of
 * linear elements run over the first `n_own` nodes. Mid-edge points come after all nodes, in the
 * order of their end nodes, and may be of either kind; sums over vectors of quadratic elements
 * leave out the points listed in `other`. */
#ifndef HX_SUBDOMAIN_H
#define HX_SUBDOMAIN_H

#include "../comm/comm.h"
#include "../partition/partition.h"
#include "../problem/problem.h"

HX_C_BEGIN

typedef struct hx_subdomain {
    const hx_problem *whole; /* (borrowed) */
    int64_t *first;          /* [size + 1] first element of each rank's run (owned) */
    /* [size] elements of each rank; with a distributed mesh other ranks have more elements than
     * their runs in `first` (owned) */
    int64_t *n_elem_of;
    hx_mesh mesh;       /* the run's elements (owned) */
    hx_space space;     /* the space on `mesh` (owned) */
    hx_problem problem; /* the problem on `mesh` (owned) */
    int64_t n_own;      /* own nodes */
    int32_t *node;   /* [space.n_point] points of the whole, nodes first (owned, like the next) */
    int32_t *elem;   /* [mesh.n_elem] elements of the whole */
    int64_t n_other; /* points owned by lower ranks */
    int32_t *other;  /* [n_other] ascending */

    /* Interface points: local numbers, in ascending order of their numbers in the whole. */
    int64_t n_interface;
    int32_t *interface; /* [n_interface] (owned, like all below) */
    int n_peer;
    int *peer;     /* [n_peer] ranks, ascending */
    int64_t *with; /* [n_peer + 1] first position in `interface_of` of each peer */
    /* [with[n_peer]] positions in `interface`, in the same order as on the peer */
    int32_t *interface_of;
    int64_t *from; /* [n_interface + 1] first position in `source` */
    /* [from[n_interface]] sources of an interface point's values in the order of the ranks: the
     * position in `interface_of`, or -1 for this rank */
    int32_t *source;
} hx_subdomain;

/* Makes the subdomain of this rank. `whole` must outlive it. HX_EINPUT: the problem cannot be
 * divided (splines), or there are too few elements. O(n_elem), and O(log n_edge) per mid-edge
 * point; 4 bytes per point of the whole during the call. */
int hx_subdomain_create(hx_subdomain *subdomain, const hx_comm *comm, const hx_problem *whole);

/* Returns the rank (of n_rank) that has an element of the whole. */
int hx_subdomain_rank_of(const hx_subdomain *subdomain, int n_rank, int64_t elem);

/* Returns the lowest rank (of n_rank) that has a point of the whole. */
int hx_subdomain_owner(const hx_subdomain *subdomain, int n_rank, int64_t point);

/* rank[] := ranks (of n_rank) that have a point of the whole, ascending; the first one owns it.
 * Returns their number. */
int hx_subdomain_ranks_of(const hx_subdomain *subdomain, int n_rank, int64_t point, int rank[]);

/* Returns 1 if several ranks (of n_rank) have a point of the whole. */
int hx_subdomain_is_interface(const hx_subdomain *subdomain, int n_rank, int64_t point);

/* HX_EINPUT with the reason if the problem cannot be divided; to be called before anything is
 * made. */
int hx_subdomain_check(const hx_problem *whole);

/* Accepts a zeroed struct. */
void hx_subdomain_free(hx_subdomain *subdomain);

HX_C_END

#endif
