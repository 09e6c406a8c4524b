/* Linked variables over several ranks: a rank has the groups with elements of its own. Members of
 * other ranks are numbered behind its elements, as in a halo, which brings their values, so every
 * rank adds the members of a group in their order in the whole mesh, like a single process. */
#ifndef HX_GROUPS_DIST_H
#define HX_GROUPS_DIST_H

#include "groups.h"
#include "halo.h"

HX_C_BEGIN

/* What a device with several ranks needs beside hx_device_groups. */
struct hx_linked {
    hx_halo *halo; /* members of other ranks (owned); two fields */
    /* 1: field 0 of the halo has the largest t of each group at its members of other ranks, for
     * this shift and the derivatives of the last `link` (oc.h) */
    int has_largest;
    double shift;
};

/* own: the groups with elements of this rank; the caller frees it. *halo: the caller's. Every rank
 * has all groups, so nothing is communicated. O(ranks * members), with 5 bytes per element of the
 * whole while it runs. */
int hx_groups_take_own(hx_groups *own, hx_halo **halo, hx_dist *dist, const hx_groups *groups);

/* Upper bound of the device bytes of both on a rank of n_rank. O(members). */
size_t hx_groups_rank_bytes(const hx_groups *groups, const hx_subdomain *subdomain, int n_rank,
                            int rank);

HX_C_END

#endif
