/* Sums over all ranks, the entries of own points, and sums at the interface points. */
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/concurrent.h"
#include "../device/timeline.h"
#include "dist.h"

static const char what[] = "exchange between ranks";

static int sum_of_host(hx_dist *dist, int n, double *sum)
{
    const double begin = hx_clock();
    const int rc = hx_comm_sum(dist->comm, n, sum);
    dist->figures.n_sum++;
    dist->figures.sum_seconds += hx_clock() - begin;
    return rc;
}

int hx_dist_sum(hx_dist *dist, int n, double *sum)
{
    HX_IN_SPAN_OF_HOST(&dist->dev, HX_SPAN_SUM, -1, sum_of_host(dist, n, sum));
    return HX_OK;
}

static int sum_few(hx_dist *dist, int n, double *d_sum)
{
    const double begin = hx_clock();
    double sum[HX_TRANSPORT_FEW];
    if (dist->transport.ops) {
        HX_TRY(hx_transport_sum(&dist->transport, n, d_sum));
        dist->figures.n_sum++;
        dist->figures.sum_seconds += hx_clock() - begin;
        return HX_OK;
    }
    HX_TRY(dist->plain->download(&dist->dev, sum, d_sum, (size_t)n * sizeof *sum));
    HX_TRY(sum_of_host(dist, n, sum));
    return dist->plain->upload(&dist->dev, d_sum, sum, (size_t)n * sizeof *sum);
}

int hx_dist_sum_few(hx_dist *dist, int n, double *d_sum)
{
    HX_IN_SPAN(&dist->dev, HX_SPAN_SUM, -1, sum_few(dist, n, d_sum));
    return HX_OK;
}

int hx_dist_need_power(hx_dist *dist)
{
    if (dist->d_power) return HX_OK;
    return dist->plain->alloc(&dist->dev, 2 * sizeof *dist->d_power, &dist->d_power);
}

int hx_dist_put_entries(hx_device *dev, int64_t n, const int32_t *node, int64_t stride,
                        int64_t offset, int components, int64_t **d_at)
{
    const int64_t count = n * components;
    int64_t *at;
    HX_TRY(hx_alloc_raw(&at, (size_t)count, sizeof *at, what));
    for (int64_t k = 0; k < count; k++)
        at[k] = stride * node[k / components] + offset + k % components;
    const int rc = hx_device_put(dev, d_at, at, (size_t)count * sizeof *at);
    free(at);
    return rc;
}

/* *d_at := entries of some points in a vector, made at the first use and kept in held[] and
 * d_held[] by unknowns per point. */
static int find_entries_of(hx_dist *dist, int64_t n_point, const int32_t *point, int components,
                           int held[HX_DIST_ENTRIES], int64_t *d_held[HX_DIST_ENTRIES],
                           const int64_t **d_at)
{
    int k = 0;
    while (held[k] != components && held[k] != 0) k++;
    if (held[k] == 0)
        HX_TRY(
            hx_dist_put_entries(&dist->dev, n_point, point, components, 0, components, &d_held[k]));
    held[k] = components;
    *d_at = d_held[k];
    return HX_OK;
}

/* Entries of interface points. */
static int find_entries(hx_dist *dist, int components, const int64_t **d_at)
{
    return find_entries_of(dist, dist->subdomain.n_interface, dist->subdomain.interface, components,
                           dist->components, dist->d_at, d_at);
}

/* Entries of points owned by other ranks, in a vector of n unknowns. */
static int find_others(hx_dist *dist, int64_t n, int64_t *n_at, const int64_t **d_at)
{
    const int components = hx_dist_components(dist, n);
    *n_at = dist->subdomain.n_other * components;
    return find_entries_of(dist, dist->subdomain.n_other, dist->subdomain.other, components,
                           dist->other_components, dist->d_other, d_at);
}

/* A vector begins with its own entries for linear elements, or if all points are own points. */
int hx_dist_has_own_first(const hx_dist *dist)
{
    return dist->subdomain.space.element == HX_ELEMENT_LINEAR || dist->subdomain.n_other == 0;
}

int64_t hx_dist_count_own(const hx_dist *dist, int64_t n)
{
    return hx_dist_components(dist, n) * (dist->subdomain.space.n_point - dist->subdomain.n_other);
}

int hx_dist_zero_others(hx_dist *dist, int64_t n, double *d_v)
{
    const int64_t n_own = hx_dist_count_own(dist, n);
    const int64_t *d_at;
    int64_t n_at;
    if (n_own == n) return HX_OK;
    if (hx_dist_has_own_first(dist))
        return dist->plain->zero(&dist->dev, d_v + n_own, (size_t)(n - n_own) * sizeof *d_v);
    HX_TRY(find_others(dist, n, &n_at, &d_at));
    return dist->plain->vector->zero_entries(&dist->dev, n_at, d_at, d_v);
}

int hx_dist_zero_others_single(hx_dist *dist, int64_t n, float *d_v)
{
    const int64_t n_own = hx_dist_count_own(dist, n);
    const int64_t *d_at;
    int64_t n_at;
    if (n_own == n) return HX_OK;
    if (hx_dist_has_own_first(dist))
        return dist->plain->zero(&dist->dev, d_v + n_own, (size_t)(n - n_own) * sizeof *d_v);
    HX_TRY(find_others(dist, n, &n_at, &d_at));
    return dist->plain->vector->zero_entries_single(&dist->dev, n_at, d_at, d_v);
}

/* Entries of the longest vector of the subdomain: filters solve for fewer unknowns per point. */
static size_t most_entries(const hx_dist *dist, int64_t n)
{
    const int64_t of_problem = dist->subdomain.problem.components * dist->subdomain.space.n_point;
    return (size_t)(n > of_problem ? n : of_problem);
}

int hx_dist_own(hx_dist *dist, int64_t n, const double *d_v, int64_t *n_own, const double **d_own)
{
    const size_t bytes = (size_t)n * sizeof *d_v;
    *n_own = hx_dist_has_own_first(dist) ? hx_dist_count_own(dist, n) : n;
    *d_own = d_v;
    if (hx_dist_has_own_first(dist)) return HX_OK;
    if (!dist->d_own)
        HX_TRY(dist->plain->alloc(&dist->dev, most_entries(dist, n) * sizeof *d_v, &dist->d_own));
    *d_own = dist->d_own;
    HX_TRY(dist->plain->copy(&dist->dev, dist->d_own, d_v, bytes));
    return hx_dist_zero_others(dist, n, dist->d_own);
}

int hx_dist_own_single(hx_dist *dist, int64_t n, const float *d_v, float **d_copy, int64_t *n_own,
                       const float **d_own)
{
    const size_t bytes = (size_t)n * sizeof *d_v;
    *n_own = hx_dist_has_own_first(dist) ? hx_dist_count_own(dist, n) : n;
    *d_own = d_v;
    if (hx_dist_has_own_first(dist)) return HX_OK;
    if (!*d_copy)
        HX_TRY(dist->plain->alloc(&dist->dev, most_entries(dist, n) * sizeof *d_v, d_copy));
    *d_own = *d_copy;
    HX_TRY(dist->plain->copy(&dist->dev, *d_copy, d_v, bytes));
    return hx_dist_zero_others_single(dist, n, *d_copy);
}

/* Exchanges `bytes` per interface point with all peers. */
static int exchange(hx_dist *dist, size_t bytes)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    for (int k = 0; k < subdomain->n_peer; k++) {
        const size_t at = (size_t)subdomain->with[k] * bytes;
        dist->message[k] =
            (hx_message){subdomain->peer[k], (size_t)subdomain->with[k + 1] * bytes - at,
                         (char *)dist->send + at, (char *)dist->receive + at};
    }
    const int rc = dist->comm->ops->exchange(dist->comm, subdomain->n_peer, dist->message);
    dist->figures.n_exchange++;
    dist->figures.exchange_bytes += (int64_t)((size_t)subdomain->with[subdomain->n_peer] * bytes);
    return rc;
}

/* Exchanges from device to device involve all ranks, even a rank without interface points. */
static int has_nothing(const hx_dist *dist)
{
    return !dist->transport.ops && dist->subdomain.n_interface == 0;
}

static int mark_interior(hx_device *dev, const hx_product_parts *parts)
{
    HX_TRY(hx_span_mark_concurrent(dev, HX_SPAN_INTERIOR, 0));
    HX_TRY(parts->run(parts->context, HX_PRODUCT_INTERIOR));
    return hx_span_mark_concurrent(dev, HX_SPAN_INTERIOR, 1);
}

/* Runs concurrently with what was queued since hx_fork_point, if the device supports it. */
static int run_interior(hx_device *dev, const hx_product_parts *parts)
{
    int rc = hx_fork(dev);
    if (rc == HX_OK) rc = mark_interior(dev, parts);
    const int end = hx_join(dev);
    return rc < 0 ? rc : end;
}

#define REAL double
#define NAME(x) x
#define ENTRIES(x) x
#include "dist_real.inc"
#undef REAL
#undef NAME
#undef ENTRIES
#define REAL float
#define NAME(x) x##_single
#define ENTRIES(x) x##_single
#include "dist_real.inc"
#undef REAL
#undef NAME
#undef ENTRIES

static int sum_device(hx_dist *dist, size_t n, float *d_sum)
{
    hx_device *const dev = &dist->dev;
    const double begin = hx_clock();
    if (dist->transport.ops) {
        const size_t most = HX_DIST_RECEIVED / ((size_t)dist->comm->size - 1);
        for (size_t k = 0; k < n; k += most)
            HX_TRY(hx_transport_sum_single(&dist->transport, (int64_t)(n - k < most ? n - k : most),
                                           d_sum + k));
        dist->figures.coarse_seconds += hx_clock() - begin;
        return HX_OK;
    }
    if (dist->coarse_floats < n) {
        free(dist->coarse);
        dist->coarse = NULL;
        dist->coarse_floats = 0;
        HX_TRY(hx_alloc_raw(&dist->coarse, n, sizeof(float), what));
        dist->coarse_floats = n;
    }
    HX_TRY(dist->plain->download(dev, dist->coarse, d_sum, n * sizeof(float)));
    HX_TRY(hx_comm_sum_single(dist->comm, (int64_t)n, dist->coarse));
    HX_TRY(dist->plain->upload(dev, d_sum, dist->coarse, n * sizeof(float)));
    dist->figures.coarse_seconds += hx_clock() - begin;
    return HX_OK;
}

int hx_dist_sum_device(hx_dist *dist, size_t n, float *d_sum)
{
    HX_IN_SPAN(&dist->dev, HX_SPAN_SUM, -1, sum_device(dist, n, d_sum));
    return HX_OK;
}

/* For any entries of a vector, as long as the values of a point fit (MOST_COMPONENTS doubles). */
int hx_dist_add_at(hx_dist *dist, int components, const int64_t *d_at, float *d_y)
{
    return has_nothing(dist) ? HX_OK : add_at_single(dist, components, d_at, d_y);
}
