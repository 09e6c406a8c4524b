#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/beside.h"
#include "../device/timeline.h"
#include "../problem/rigid_set.h"
#include "../solver/rigid_ops.h"
#include "level_share.h"

static const char what[] = "exchange between ranks";
enum {
    MOST_COMPONENTS = 6,
    MOST_MAILED = 1 << 20 /* floats that a rank receives at once in a sum over all ranks */
};

static int sum_of_host(hx_ranks *ranks, int n, double *sum)
{
    const double begin = hx_clock();
    const int rc = hx_comm_sum(ranks->comm, n, sum);
    ranks->figures.n_sum++;
    ranks->figures.sum_seconds += hx_clock() - begin;
    return rc;
}

int hx_ranks_sum(hx_ranks *ranks, int n, double *sum)
{
    HX_IN_SPAN_OF_HOST(&ranks->dev, HX_SPAN_SUM, -1, sum_of_host(ranks, n, sum));
    return HX_OK;
}

static int sum_few(hx_ranks *ranks, int n, double *d_sum)
{
    const double begin = hx_clock();
    double sum[HX_MAIL_FEW];
    if (ranks->mail.ops) {
        HX_TRY(hx_mail_sum(&ranks->mail, n, d_sum));
        ranks->figures.n_sum++;
        ranks->figures.sum_seconds += hx_clock() - begin;
        return HX_OK;
    }
    HX_TRY(ranks->plain->download(&ranks->dev, sum, d_sum, (size_t)n * sizeof *sum));
    HX_TRY(sum_of_host(ranks, n, sum));
    return ranks->plain->upload(&ranks->dev, d_sum, sum, (size_t)n * sizeof *sum);
}

int hx_ranks_sum_few(hx_ranks *ranks, int n, double *d_sum)
{
    HX_IN_SPAN(&ranks->dev, HX_SPAN_SUM, -1, sum_few(ranks, n, d_sum));
    return HX_OK;
}

int hx_ranks_need_power(hx_ranks *ranks)
{
    if (ranks->d_power) return HX_OK;
    return ranks->plain->alloc(&ranks->dev, 2 * sizeof *ranks->d_power, &ranks->d_power);
}

static int dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    HX_TRY(hx_ranks_own(ranks, n, d_a, &n, &d_a));
    HX_TRY(ranks->plain->vector->dot(dev, n, d_a, d_b, result));
    return hx_ranks_sum(ranks, 1, result);
}

static int dots(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                const double *const d_b[], double *result)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    const hx_vector_ops *const vector = ranks->plain->vector;
    if (hx_ranks_has_own_first(ranks))
        HX_TRY(vector->dots(dev, hx_ranks_count_own(ranks, n), n_dot, d_a, d_b, result));
    for (int k = 0; k < n_dot && !hx_ranks_has_own_first(ranks); k++) {
        const double *d_own; /* overwritten by the next product */
        int64_t n_own;
        HX_TRY(hx_ranks_own(ranks, n, d_a[k], &n_own, &d_own));
        HX_TRY(vector->dot(dev, n_own, d_own, d_b[k], &result[k]));
    }
    return hx_ranks_sum(ranks, n_dot, result);
}

static int field_dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                     double *result)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    HX_TRY(ranks->plain->vector->dot(dev, n, d_a, d_b, result));
    return hx_ranks_sum(ranks, 1, result);
}

static int sum(hx_device *dev, int64_t n, const double *d_a, double *result)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    HX_TRY(hx_ranks_own(ranks, n, d_a, &n, &d_a));
    HX_TRY(ranks->plain->vector->sum(dev, n, d_a, result));
    return hx_ranks_sum(ranks, 1, result);
}

int hx_ranks_put_entries(hx_device *dev, int64_t n, const int32_t *node, int64_t stride,
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
static int find_entries_of(hx_ranks *ranks, int64_t n_point, const int32_t *point, int components,
                           int held[HX_RANKS_ENTRIES], int64_t *d_held[HX_RANKS_ENTRIES],
                           const int64_t **d_at)
{
    int k = 0;
    while (held[k] != components && held[k] != 0) k++;
    if (held[k] == 0)
        HX_TRY(hx_ranks_put_entries(&ranks->dev, n_point, point, components, 0, components,
                                    &d_held[k]));
    held[k] = components;
    *d_at = d_held[k];
    return HX_OK;
}

/* Entries of interface points. */
static int find_entries(hx_ranks *ranks, int components, const int64_t **d_at)
{
    return find_entries_of(ranks, ranks->share.n_common, ranks->share.common, components,
                           ranks->components, ranks->d_at, d_at);
}

/* Entries of points owned by other ranks, in a vector of n unknowns. */
static int find_others(hx_ranks *ranks, int64_t n, int64_t *n_at, const int64_t **d_at)
{
    const int components = hx_ranks_components(ranks, n);
    *n_at = ranks->share.n_other * components;
    return find_entries_of(ranks, ranks->share.n_other, ranks->share.other, components,
                           ranks->other_components, ranks->d_other, d_at);
}

/* A vector begins with its own entries for linear elements, or if all points are own points. */
int hx_ranks_has_own_first(const hx_ranks *ranks)
{
    return ranks->share.space.element == HX_ELEMENT_LINEAR || ranks->share.n_other == 0;
}

int64_t hx_ranks_count_own(const hx_ranks *ranks, int64_t n)
{
    return hx_ranks_components(ranks, n) * (ranks->share.space.n_point - ranks->share.n_other);
}

int hx_ranks_leave_own(hx_ranks *ranks, int64_t n, double *d_v)
{
    const int64_t n_own = hx_ranks_count_own(ranks, n);
    const int64_t *d_at;
    int64_t n_at;
    if (n_own == n) return HX_OK;
    if (hx_ranks_has_own_first(ranks))
        return ranks->plain->zero(&ranks->dev, d_v + n_own, (size_t)(n - n_own) * sizeof *d_v);
    HX_TRY(find_others(ranks, n, &n_at, &d_at));
    return ranks->plain->vector->zero_entries(&ranks->dev, n_at, d_at, d_v);
}

int hx_ranks_leave_own_single(hx_ranks *ranks, int64_t n, float *d_v)
{
    const int64_t n_own = hx_ranks_count_own(ranks, n);
    const int64_t *d_at;
    int64_t n_at;
    if (n_own == n) return HX_OK;
    if (hx_ranks_has_own_first(ranks))
        return ranks->plain->zero(&ranks->dev, d_v + n_own, (size_t)(n - n_own) * sizeof *d_v);
    HX_TRY(find_others(ranks, n, &n_at, &d_at));
    return ranks->plain->vector->zero_entries_single(&ranks->dev, n_at, d_at, d_v);
}

int hx_ranks_own(hx_ranks *ranks, int64_t n, const double *d_v, int64_t *n_own,
                 const double **d_own)
{
    const size_t bytes = (size_t)n * sizeof *d_v;
    *n_own = hx_ranks_has_own_first(ranks) ? hx_ranks_count_own(ranks, n) : n;
    *d_own = d_v;
    if (hx_ranks_has_own_first(ranks)) return HX_OK;
    if (!ranks->d_own) HX_TRY(ranks->plain->alloc(&ranks->dev, bytes, &ranks->d_own));
    *d_own = ranks->d_own;
    HX_TRY(ranks->plain->copy(&ranks->dev, ranks->d_own, d_v, bytes));
    return hx_ranks_leave_own(ranks, n, ranks->d_own);
}

int hx_ranks_own_single(hx_ranks *ranks, int64_t n, const float *d_v, float **d_copy,
                        int64_t *n_own, const float **d_own)
{
    const size_t bytes = (size_t)n * sizeof *d_v;
    *n_own = hx_ranks_has_own_first(ranks) ? hx_ranks_count_own(ranks, n) : n;
    *d_own = d_v;
    if (hx_ranks_has_own_first(ranks)) return HX_OK;
    if (!*d_copy) HX_TRY(ranks->plain->alloc(&ranks->dev, bytes, d_copy));
    *d_own = *d_copy;
    HX_TRY(ranks->plain->copy(&ranks->dev, *d_copy, d_v, bytes));
    return hx_ranks_leave_own_single(ranks, n, *d_copy);
}

/* Exchanges `bytes` per interface point with all peers. */
static int exchange(hx_ranks *ranks, size_t bytes)
{
    const hx_share *const share = &ranks->share;
    for (int k = 0; k < share->n_peer; k++) {
        const size_t at = (size_t)share->with[k] * bytes;
        ranks->message[k] = (hx_message){share->peer[k], (size_t)share->with[k + 1] * bytes - at,
                                         (char *)ranks->send + at, (char *)ranks->receive + at};
    }
    const int rc = ranks->comm->ops->exchange(ranks->comm, share->n_peer, ranks->message);
    ranks->figures.n_exchange++;
    ranks->figures.exchange_bytes += (int64_t)((size_t)share->with[share->n_peer] * bytes);
    return rc;
}

/* Exchanges from device to device involve all ranks, even a rank without interface points. */
static int has_nothing(const hx_ranks *ranks)
{
    return !ranks->mail.ops && ranks->share.n_common == 0;
}

static int mark_interior(hx_device *dev, const hx_product_parts *parts)
{
    HX_TRY(hx_span_mark_beside(dev, HX_SPAN_INTERIOR, 0));
    HX_TRY(parts->run(parts->context, HX_PRODUCT_INTERIOR));
    return hx_span_mark_beside(dev, HX_SPAN_INTERIOR, 1);
}

/* Runs concurrently with what was queued since hx_beside_from, if the device supports it. */
static int run_interior(hx_device *dev, const hx_product_parts *parts)
{
    int rc = hx_beside_begin(dev);
    if (rc == HX_OK) rc = mark_interior(dev, parts);
    const int end = hx_beside_end(dev);
    return rc < 0 ? rc : end;
}

#define REAL double
#define NAME(x) x
#define ENTRIES(x) x
#include "ranks_real.inc"
#undef REAL
#undef NAME
#undef ENTRIES
#define REAL float
#define NAME(x) x##_single
#define ENTRIES(x) x##_single
#include "ranks_real.inc"
#undef REAL
#undef NAME
#undef ENTRIES

static int sum_device(hx_ranks *ranks, size_t n, float *d_sum)
{
    hx_device *const dev = &ranks->dev;
    const double begin = hx_clock();
    if (ranks->mail.ops) {
        const size_t most = MOST_MAILED / ((size_t)ranks->comm->size - 1);
        for (size_t k = 0; k < n; k += most)
            HX_TRY(hx_mail_sum_single(&ranks->mail, (int64_t)(n - k < most ? n - k : most),
                                      d_sum + k));
        ranks->figures.lattice_seconds += hx_clock() - begin;
        return HX_OK;
    }
    if (ranks->lattice_floats < n) {
        free(ranks->lattice);
        ranks->lattice = NULL;
        ranks->lattice_floats = 0;
        HX_TRY(hx_alloc_raw(&ranks->lattice, n, sizeof(float), what));
        ranks->lattice_floats = n;
    }
    HX_TRY(ranks->plain->download(dev, ranks->lattice, d_sum, n * sizeof(float)));
    HX_TRY(hx_comm_sum_single(ranks->comm, (int64_t)n, ranks->lattice));
    HX_TRY(ranks->plain->upload(dev, d_sum, ranks->lattice, n * sizeof(float)));
    ranks->figures.lattice_seconds += hx_clock() - begin;
    return HX_OK;
}

int hx_ranks_sum_device(hx_ranks *ranks, size_t n, float *d_sum)
{
    HX_IN_SPAN(&ranks->dev, HX_SPAN_SUM, -1, sum_device(ranks, n, d_sum));
    return HX_OK;
}

/* For any entries of a vector, as long as the values of a point fit (MOST_COMPONENTS doubles). */
int hx_ranks_add_at(hx_ranks *ranks, int components, const int64_t *d_at, float *d_y)
{
    return has_nothing(ranks) ? HX_OK : add_at_single(ranks, components, d_at, d_y);
}

/* Interface points take the value of their owner, to which the other ranks add 0. */
static int settle(hx_device *dev, int components, double *d_y)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    HX_TRY(hx_ranks_leave_own(ranks, components * ranks->share.space.n_point, d_y));
    return add(dev, components, d_y);
}

static int64_t common_points(hx_device *dev, const int32_t **point)
{
    const hx_ranks *const ranks = hx_ranks_of(dev);
    *point = ranks->share.common;
    return ranks->divides ? ranks->share.n_common : 0;
}

static const hx_common_ops common_ops = {
    .points = common_points,
    .add = add,
    .add_single = add_single,
    .add_parts = add_parts,
    .add_parts_single = add_parts_single,
    .settle = settle,
    .sum = hx_ranks_sum_own,
    .host = hx_ranks_host,
    .share_lattice = hx_ranks_share_lattice,
    .most_whole = hx_ranks_most_whole,
    .free_level = hx_ranks_free_level,
    .add_lattice = hx_ranks_add_lattice,
    .settle_level = hx_ranks_settle_level,
    .level_power = hx_ranks_level_power,
    .share_lines = hx_ranks_share_lines,
    .add_lines = hx_ranks_add_lines,
    .free_lines = hx_ranks_free_lines,
};

/* f := d_static + the sum over the elements of all ranks. */
static int body_force(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                      const double *d_rho, const double *d_static, double *d_f)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    const size_t bytes = 3 * (size_t)model->n_point * sizeof(double);
    double *d_sum = NULL;
    if (!d_static || d_static != d_f) {
        HX_TRY(ranks->plain->body->force(dev, model, field, d_rho, NULL, d_f));
        HX_TRY(add(dev, 3, d_f));
        return d_static ? ranks->plain->vector->axpy(dev, 3 * model->n_point, 1.0, d_static, d_f)
                        : HX_OK;
    }
    HX_TRY(ranks->plain->alloc(dev, bytes, &d_sum));
    int rc = ranks->plain->body->force(dev, model, field, d_rho, NULL, d_sum);
    if (rc == HX_OK) rc = add(dev, 3, d_sum);
    if (rc == HX_OK) rc = ranks->plain->vector->axpy(dev, 3 * model->n_point, 1.0, d_sum, d_f);
    ranks->plain->release(dev, d_sum);
    return rc;
}

/* sum[6] := force and moment on a rigid set over all ranks, on the host. */
static int rigid_sums(hx_ranks *ranks, const hx_rigid_set *set, const int32_t *d_node,
                      const double *d_xyz, const double *d_y, double *d_sum, double sum[6])
{
    hx_rigid_set own = *set;
    const size_t bytes = 6 * sizeof *sum;
    own.n = set->n_own;
    memset(sum, 0, bytes);
    if (own.n > 0) {
        HX_TRY(ranks->plain->rigid->sum(&ranks->dev, &own, d_node, d_xyz, d_y, d_sum));
        HX_TRY(ranks->plain->download(&ranks->dev, sum, d_sum, bytes));
    }
    return hx_ranks_sum(ranks, 6, sum);
}

static int rigid_sum(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                     const double *d_xyz, const double *d_y, double *d_sum)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    double sum[6];
    HX_TRY(rigid_sums(ranks, set, d_node, d_xyz, d_y, d_sum, sum));
    return ranks->plain->upload(dev, d_sum, sum, sizeof sum);
}

static int rigid_spread(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                        const double *d_xyz, const double *d_motion, double *d_y)
{
    const hx_rigid_ops *const plain = hx_ranks_of(dev)->plain->rigid;
    return set->n > 0 ? plain->spread(dev, set, d_node, d_xyz, d_motion, d_y) : HX_OK;
}

static int rigid_project(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, double *d_motion, double *d_y)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    double sum[6], motion[6];
    HX_TRY(rigid_sums(ranks, set, d_node, d_xyz, d_y, d_motion, sum));
    hx_rigid_motion(set, sum, motion);
    HX_TRY(ranks->plain->upload(dev, d_motion, motion, sizeof motion));
    return rigid_spread(dev, set, d_node, d_xyz, d_motion, d_y);
}

static const hx_rigid_ops rigid_ops = {
    .sum = rigid_sum, .spread = rigid_spread, .project = rigid_project};

static void keep_open(hx_device *dev)
{
    (void)dev; /* the backend's device is closed by its owner */
}

static void set_tables(hx_ranks *ranks)
{
    ranks->ops = *ranks->plain;
    ranks->vector = *ranks->plain->vector;
    ranks->vector.dot = dot;
    ranks->vector.dots = dots;
    ranks->vector.field_dot = field_dot;
    ranks->vector.sum = sum;
    ranks->ops.vector = &ranks->vector;
    ranks->ops.common = &common_ops;
    ranks->ops.close = keep_open;
    if (ranks->plain->rigid) ranks->ops.rigid = &rigid_ops;
    ranks->ops.helmholtz = NULL;
    ranks->ops.interaction = NULL;
    ranks->waits = ranks->share.whole->rigid.n > 0;
    hx_ranks_set_recording(ranks); /* none until the ranks are connected */
    ranks->body = ranks->plain->body ? *ranks->plain->body : (hx_body_ops){0};
    ranks->body.force = body_force;
    if (ranks->plain->body) ranks->ops.body = &ranks->body;
    hx_ranks_set_pcg(ranks);
    hx_ranks_set_multigrid(ranks);
    ranks->dev = *ranks->device;
    ranks->dev.mesh = NULL;
    ranks->dev.ops = &ranks->ops;
}

static int alloc_buffers(hx_ranks *ranks)
{
    const hx_share *const share = &ranks->share;
    const size_t n = MOST_COMPONENTS * (size_t)share->n_common,
                 n_sent = MOST_COMPONENTS * (size_t)share->with[share->n_peer];
    HX_TRY(ranks->plain->alloc(&ranks->dev, n * sizeof(double), &ranks->d_values));
    HX_TRY(hx_alloc_raw(&ranks->message, (size_t)share->n_peer, sizeof *ranks->message, what));
    HX_TRY(hx_alloc_raw(&ranks->values, n, sizeof *ranks->values, what));
    HX_TRY(hx_alloc_raw(&ranks->send, n_sent, sizeof *ranks->send, what));
    return hx_alloc_raw(&ranks->receive, n_sent, sizeof *ranks->receive, what);
}

int hx_ranks_create(hx_ranks *ranks, const hx_comm *comm, hx_device *device,
                    const hx_problem *whole)
{
    int rc;
    memset(ranks, 0, sizeof *ranks);
    ranks->comm = comm;
    ranks->device = device;
    ranks->plain = device->ops;
    ranks->most_whole = HX_LATTICE_WHOLE;
    HX_TRY(hx_share_create(&ranks->share, comm, whole));
    hx_ranks_set_host(ranks);
    set_tables(ranks);
    HX_TRY_FAIL(alloc_buffers(ranks));
    return HX_OK;
fail:
    hx_ranks_free(ranks);
    return rc;
}

/* Puts the lists of interface points on the device. */
static int put_common(hx_ranks *ranks)
{
    const hx_share *const share = &ranks->share;
    hx_device *const dev = &ranks->dev;
    const size_t n = (size_t)share->n_common, n_sent = (size_t)share->with[share->n_peer],
                 n_source = (size_t)share->from[n];
    HX_TRY(hx_device_put(dev, &ranks->d_common_of, share->common_of,
                         n_sent * sizeof *share->common_of));
    HX_TRY(hx_device_put(dev, &ranks->d_from, share->from, (n + 1) * sizeof *share->from));
    return hx_device_put(dev, &ranks->d_source, share->source, n_source * sizeof *share->source);
}

/* Returns 1 if products in parts pay off: the device can run concurrently with an exchange, and
 * exchanges take longer than splitting a product costs. */
static int gains_by_parts(const hx_ranks *ranks)
{
    const hx_mail_ops *const mail = ranks->mail.ops;
    return ranks->plain->beside_from && !(mail && mail->is_quick);
}

int hx_ranks_connect(hx_ranks *ranks, hx_mail_way way)
{
    const hx_share *const share = &ranks->share;
    const size_t size = (size_t)ranks->comm->size;
    int64_t *n;
    HX_TRY(hx_mail_create(&ranks->mail, ranks->comm, ranks->device, way));
    ranks->divides = gains_by_parts(ranks);
    if (!ranks->mail.ops) return HX_OK;
    HX_TRY(put_common(ranks));
    HX_TRY(hx_alloc(&n, size, sizeof *n, what));
    for (int k = 0; k < share->n_peer; k++) n[share->peer[k]] = share->with[k + 1] - share->with[k];
    int rc = hx_mail_route_create(&ranks->mail, n, n, MOST_COMPONENTS * sizeof(double),
                                  &ranks->to_peers);
    free(n);
    if (rc == HX_OK) rc = hx_mail_need(&ranks->mail, MOST_MAILED * sizeof(float));
    if (rc == HX_OK) hx_ranks_set_recording(ranks);
    return rc;
}

size_t hx_ranks_bytes(const hx_ranks *ranks)
{
    /* Bytes per interface point: its values, its entries in vectors of 3 and 6 unknowns, its
     * lists. */
    enum {
        EACH =
            MOST_COMPONENTS * sizeof(double) + (3 + 6 + 1) * sizeof(int64_t) + 3 * sizeof(int32_t)
    };
    size_t half = 0;
    if (ranks->mail.ops)
        half = ranks->mail.half;
    else if (!ranks->device)
        half = MOST_MAILED * sizeof(float);
    return EACH * (size_t)ranks->share.n_common + (half > 0 ? HX_MAIL_HEAD + 2 * half : 0);
}

const char *hx_ranks_transport(const hx_ranks *ranks)
{
    return ranks->mail.ops ? ranks->mail.ops->name : "host memory";
}

hx_mail_way hx_ranks_way(const hx_ranks *ranks)
{
    const hx_mail_ops *const ops = ranks->mail.ops;
    if (!ops) return HX_MAIL_NONE;
    return ops == ranks->device->ops->mail ? HX_MAIL_DIRECT : HX_MAIL_LIBRARY;
}

void hx_ranks_free(hx_ranks *ranks)
{
    hx_device *const dev = &ranks->dev;
    if (!ranks->comm) return;
    void *const owned[] = {
        ranks->d_power,      ranks->d_design,   ranks->d_values,   ranks->d_own,
        ranks->d_own_single, ranks->d_at[0],    ranks->d_at[1],    ranks->d_at[2],
        ranks->d_other[0],   ranks->d_other[1], ranks->d_other[2], ranks->d_own_again,
        ranks->d_common_of,  ranks->d_sums,     ranks->d_from,     ranks->d_source};
    hx_mail_free(&ranks->mail);
    for (size_t i = 0; dev->ops && i < sizeof owned / sizeof owned[0]; i++)
        ranks->plain->release(dev, owned[i]);
    free(ranks->message);
    free(ranks->values);
    free(ranks->send);
    free(ranks->receive);
    free(ranks->lattice);
    free(ranks->field);
    free(ranks->whole);
    free(ranks->design);
    hx_ranks_free_levels(ranks);
    hx_share_free(&ranks->share);
    memset(ranks, 0, sizeof *ranks);
}

static int check_lost(const hx_ranks *ranks)
{
    if (!ranks->is_lost) return HX_OK;
    return HX_RAISE(HX_EDEVICE,
                    "the processes are out of step after an earlier error; start the run "
                    "again with --resume to continue from the last checkpoint");
}

int hx_ranks_tell(hx_ranks *ranks, const hx_ranks_call *call)
{
    hx_ranks_call copy = *call;
    HX_TRY(check_lost(ranks));
    return hx_ranks_judge(
        ranks, ranks->comm->ops->broadcast(ranks->comm, HX_RANKS_LEADER, &copy, sizeof copy));
}

int hx_ranks_listen(hx_ranks *ranks, hx_ranks_call *call)
{
    return ranks->comm->ops->broadcast(ranks->comm, HX_RANKS_LEADER, call, sizeof *call);
}
