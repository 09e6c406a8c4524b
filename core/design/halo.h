/* Elements of other processes within a radius of those of a share: sums over balls (cone.h) run
 * over the share's elements and these, whose values come from their owners before each sum. */
#ifndef HX_HALO_H
#define HX_HALO_H

#include "../ranks/ranks.h"
#include "../ranks/route.h"
#include "cells.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_halo {
    hx_ranks *ranks;         /* (borrowed) */
    int64_t n_own, n_beyond; /* elements of the share; of others, behind them */
    hx_route route;          /* of what others have of the share, and of those beyond (owned, like
                                all below) */
    hx_mail_route direct;    /* the same from device to device */
    int64_t *d_out;          /* elements of the share to send */
    double *d_send;          /* their values */
    double *host;            /* what goes or comes */
    double *d_value[HX_CELLS_FIELDS]; /* [n_own + n_beyond] */
} hx_halo;

/* Of the share of ranks, for sums of n_field fields at a time, and its elements with those beyond
 * in cells, which own it. Every process looks at the whole mesh, nothing travels. O(n_elem of the
 * whole), and 4.3 bytes an element of it while it is made, besides those near the border. */
int hx_halo_create_cells(hx_device_cells *cells, hx_ranks *ranks, double radius, int n_field);

/* d_value[field][n_own + n_beyond] := d_own[n_own] and what the owners have there. Waits where
 * nothing goes from device to device. */
int hx_halo_fill(hx_halo *halo, int field, const double *d_own);

/* Device bytes besides the cells of the share, as far as the nodes in common tell. */
size_t hx_halo_bytes(const hx_ranks *ranks, double radius, int n_field);

/* Accepts NULL. */
void hx_halo_free(hx_halo *halo);

#ifdef __cplusplus
}
#endif

#endif
