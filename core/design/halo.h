/* Halo of a subdomain: the elements of other ranks that its own ones need, for sums over balls
 * (cone.h) those within a radius, for linked variables (groups_dist.h) those in a group with an own
 * element. A sum runs over own and halo elements; a halo exchange brings the values of the latter
 * from their owners before each sum. */
#ifndef HX_HALO_H
#define HX_HALO_H

#include "../dist/dist.h"
#include "../dist/exchange.h"
#include "bins.h"

HX_C_BEGIN

typedef struct hx_halo {
    hx_dist *dist;           /* (borrowed) */
    int64_t n_own, n_beyond; /* own elements, and halo elements stored after them */
    hx_exchange
        exchange; /* own elements that others need, and halo elements (owned, like all below) */
    hx_transport_exchange direct;     /* from device to device */
    int64_t *d_out;                   /* own elements to send */
    double *d_send;                   /* their values */
    double *host;                     /* send or receive buffer */
    double *d_value[HX_CELLS_FIELDS]; /* [n_own + n_beyond] */
} hx_halo;

/* Creates a halo of the subdomain of `dist` with n_field fields: the n_out[size] own elements that
 * each rank needs, rank after rank in out[], and the n_in[size] elements of each rank, both
 * ascending. The lists of all ranks must match. */
int hx_halo_create(hx_halo **halo, hx_dist *dist, const int64_t *n_out, const int64_t *out,
                   const int64_t *n_in, int n_field);

/* Creates a halo of all elements of all other ranks, in the order of the whole, with n_field
 * fields. Only if each process has the whole mesh. */
int hx_halo_create_all(hx_halo **halo, hx_dist *dist, int n_field);
/* The place of an element of the whole in that halo; first: the first own element. */
static inline int64_t hx_halo_place(const hx_halo *halo, int64_t first, int64_t elem)
{
    if (elem < first) return elem + halo->n_own;
    return elem < first + halo->n_own ? elem - first : elem;
}
/* Device bytes of that halo. n: elements of the whole; n_own: of this rank of n_rank. */
size_t hx_halo_all_bytes(int64_t n, int64_t n_own, int n_rank, int n_field);

/* Creates, for the subdomain of `dist` and sums of n_field fields at a time, the halo and cells of
 * own and halo elements; the cells own the halo. Every process searches the whole mesh, so nothing
 * is communicated. O(n_elem of the whole), with 4.3 bytes per element of the whole during creation
 * plus those of the elements near the interface. */
int hx_halo_create_bins(hx_device_bins *cells, hx_dist *dist, double radius, int n_field);

/* d_value[field][n_own + n_beyond] := d_own[n_own] followed by the owners' values. Waits unless the
 * exchange is from device to device. */
int hx_halo_fill(hx_halo *halo, int field, const double *d_own);

/* Device bytes of the halo without the cells of the subdomain, estimated from the interface
 * nodes. */
size_t hx_halo_bytes(const hx_dist *dist, double radius, int n_field);

/* Accepts NULL. */
void hx_halo_free(hx_halo *halo);

HX_C_END

#endif
