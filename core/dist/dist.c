/* The table of operations of a subdomain, and its start and end. */
#include "dist.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../operator/rigid_ops.h"
#include "../problem/rigid_set.h"
#include "local_level.h"

static const char what[] = "exchange between ranks";
enum { MOST_COMPONENTS = 6 };

static int dot_dist(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(hx_dist_own(dist, n, d_a, &n, &d_a));
    HX_TRY(dist->plain->vector->dot(dev, n, d_a, d_b, result));
    return hx_dist_sum(dist, 1, result);
}

static int dots(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                const double *const d_b[], double *result)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_vector_ops *const vector = dist->plain->vector;
    if (hx_dist_has_own_first(dist))
        HX_TRY(vector->dots(dev, hx_dist_count_own(dist, n), n_dot, d_a, d_b, result));
    for (int k = 0; k < n_dot && !hx_dist_has_own_first(dist); k++) {
        const double *d_own; /* overwritten by the next product */
        int64_t n_own;
        HX_TRY(hx_dist_own(dist, n, d_a[k], &n_own, &d_own));
        HX_TRY(vector->dot(dev, n_own, d_own, d_b[k], &result[k]));
    }
    return hx_dist_sum(dist, n_dot, result);
}

static int gram(hx_device *dev, int64_t n, int n_a, const double *const d_a[], int n_b,
                const double *const d_b[], double *g)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_block_ops *const block = dist->plain->block;
    if (hx_dist_has_own_first(dist))
        HX_TRY(block->gram(dev, hx_dist_count_own(dist, n), n_a, d_a, n_b, d_b, g));
    for (int i = 0; i < n_a && !hx_dist_has_own_first(dist); i++) {
        const double *d_own; /* overwritten by the next product */
        int64_t n_own;
        HX_TRY(hx_dist_own(dist, n, d_a[i], &n_own, &d_own));
        HX_TRY(block->gram(dev, n_own, 1, &d_own, n_b, d_b, g + (int64_t)i * n_b));
    }
    return hx_dist_sum(dist, n_a * n_b, g);
}

static int field_dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                     double *result)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(dist->plain->vector->dot(dev, n, d_a, d_b, result));
    return hx_dist_sum(dist, 1, result);
}

static int sum(hx_device *dev, int64_t n, const double *d_a, double *result)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(hx_dist_own(dist, n, d_a, &n, &d_a));
    HX_TRY(dist->plain->vector->sum(dev, n, d_a, result));
    return hx_dist_sum(dist, 1, result);
}

/* Interface points take the value of their owner, to which the other ranks add 0. */
static int make_consistent(hx_device *dev, int components, double *d_y)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(hx_dist_zero_others(dist, components * dist->subdomain.space.n_point, d_y));
    return hx_dist_add_interface(dev, components, d_y);
}

static int make_consistent_single(hx_device *dev, int components, float *d_y)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(hx_dist_zero_others_single(dist, components * dist->subdomain.space.n_point, d_y));
    return hx_dist_add_interface_single(dev, components, d_y);
}

static int64_t interface_points(hx_device *dev, const int32_t **point)
{
    const hx_dist *const dist = hx_dist_of(dev);
    *point = dist->subdomain.interface;
    return dist->divides ? dist->subdomain.n_interface : 0;
}

static int interface_version(hx_device *dev)
{
    return (int)hx_dist_of(dev)->transport.n_opened;
}

static const hx_interface_ops interface_ops = {
    .points = interface_points,
    .add = hx_dist_add_interface,
    .add_single = hx_dist_add_interface_single,
    .add_parts = hx_dist_add_parts,
    .add_parts_single = hx_dist_add_parts_single,
    .make_consistent = make_consistent,
    .make_consistent_single = make_consistent_single,
    .sum = hx_dist_sum_own,
    .version = interface_version,
    .host = hx_dist_host,
    .split_coarse = hx_dist_split_coarse,
    .most_whole = hx_dist_most_whole,
    .free_level = hx_dist_free_level,
    .add_coarse = hx_dist_add_coarse,
    .make_level_consistent = hx_dist_make_level_consistent,
    .level_power = hx_dist_level_power,
    .split_lines = hx_dist_split_lines,
    .add_lines = hx_dist_add_lines,
    .free_lines = hx_dist_free_lines,
};

/* A load that is a field over the elements. */
typedef struct field_load {
    const hx_body_field *body; /* NULL: it is the next */
    const hx_device_expansion *expansion;
    const double *d_rho;
} field_load;

/* The force of the elements of this rank. */
static int own_force(hx_device *dev, const hx_device_model *model, const field_load *load,
                     double *d_f)
{
    const hx_device_ops *const plain = hx_dist_of(dev)->plain;
    return load->body ? plain->body->force(dev, model, load->body, load->d_rho, NULL, d_f)
                      : plain->expansion->force(dev, model, load->expansion, NULL, d_f);
}

/* f := d_static + the sum over the elements of all ranks. */
static int field_force(hx_device *dev, const hx_device_model *model, const field_load *load,
                       const double *d_static, double *d_f)
{
    hx_dist *const dist = hx_dist_of(dev);
    const size_t bytes = 3 * (size_t)model->n_point * sizeof(double);
    double *d_sum = NULL;
    if (!d_static || d_static != d_f) {
        HX_TRY(own_force(dev, model, load, d_f));
        HX_TRY(hx_dist_add_interface(dev, 3, d_f));
        return d_static ? dist->plain->vector->axpy(dev, 3 * model->n_point, 1.0, d_static, d_f)
                        : HX_OK;
    }
    HX_TRY(dist->plain->alloc(dev, bytes, &d_sum));
    int rc = own_force(dev, model, load, d_sum);
    if (rc == HX_OK) rc = hx_dist_add_interface(dev, 3, d_sum);
    if (rc == HX_OK) rc = dist->plain->vector->axpy(dev, 3 * model->n_point, 1.0, d_sum, d_f);
    dist->plain->release(dev, d_sum);
    return rc;
}

static int body_force(hx_device *dev, const hx_device_model *model, const hx_body_field *field,
                      const double *d_rho, const double *d_static, double *d_f)
{
    const field_load load = {.body = field, .d_rho = d_rho};
    return field_force(dev, model, &load, d_static, d_f);
}

static int expansion_force(hx_device *dev, const hx_device_model *model,
                           const hx_device_expansion *expansion, const double *d_static,
                           double *d_f)
{
    const field_load load = {.expansion = expansion};
    return field_force(dev, model, &load, d_static, d_f);
}

/* sum[6] := force and moment on a rigid set over all ranks, on the host. */
static int rigid_sums(hx_dist *dist, const hx_rigid_set *set, const int32_t *d_node,
                      const double *d_xyz, const double *d_y, double *d_sum, double sum[6])
{
    hx_rigid_set own = *set;
    const size_t bytes = 6 * sizeof *sum;
    own.n = set->n_own;
    memset(sum, 0, bytes);
    if (own.n > 0) {
        HX_TRY(dist->plain->rigid->sum(&dist->dev, &own, d_node, d_xyz, d_y, d_sum));
        HX_TRY(dist->plain->download(&dist->dev, sum, d_sum, bytes));
    }
    return hx_dist_sum(dist, 6, sum);
}

static int rigid_sum(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                     const double *d_xyz, const double *d_y, double *d_sum)
{
    hx_dist *const dist = hx_dist_of(dev);
    double sum[6];
    HX_TRY(rigid_sums(dist, set, d_node, d_xyz, d_y, d_sum, sum));
    return dist->plain->upload(dev, d_sum, sum, sizeof sum);
}

static int rigid_spread(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                        const double *d_xyz, const double *d_motion, double *d_y)
{
    const hx_rigid_ops *const plain = hx_dist_of(dev)->plain->rigid;
    return set->n > 0 ? plain->spread(dev, set, d_node, d_xyz, d_motion, d_y) : HX_OK;
}

static int rigid_project(hx_device *dev, const hx_rigid_set *set, const int32_t *d_node,
                         const double *d_xyz, double *d_motion, double *d_y)
{
    hx_dist *const dist = hx_dist_of(dev);
    double sum[6], motion[6];
    HX_TRY(rigid_sums(dist, set, d_node, d_xyz, d_y, d_motion, sum));
    hx_rigid_motion(set, sum, motion);
    HX_TRY(dist->plain->upload(dev, d_motion, motion, sizeof motion));
    return rigid_spread(dev, set, d_node, d_xyz, d_motion, d_y);
}

static const hx_rigid_ops rigid_ops = {
    .sum = rigid_sum, .spread = rigid_spread, .project = rigid_project};

static void keep_open(hx_device *dev)
{
    (void)dev; /* the backend's device is closed by its owner */
}

static void set_tables(hx_dist *dist)
{
    dist->ops = *dist->plain;
    dist->vector = *dist->plain->vector;
    dist->vector.dot = dot_dist;
    dist->vector.dots = dots;
    dist->vector.field_dot = field_dot;
    dist->vector.sum = sum;
    dist->ops.vector = &dist->vector;
    dist->ops.interface = &interface_ops;
    dist->ops.close = keep_open;
    if (dist->plain->rigid) dist->ops.rigid = &rigid_ops;
    dist->ops.interaction = NULL;
    dist->waits = dist->subdomain.whole->rigid.n > 0;
    hx_dist_set_recording(dist); /* none until the ranks are connected */
    dist->body = dist->plain->body ? *dist->plain->body : (hx_body_ops){0};
    dist->body.force = body_force;
    if (dist->plain->body) dist->ops.body = &dist->body;
    dist->block = dist->plain->block ? *dist->plain->block : (hx_block_ops){0};
    dist->block.gram = gram;
    if (dist->plain->block) dist->ops.block = &dist->block;
    dist->expansion = dist->plain->expansion ? *dist->plain->expansion : (hx_expansion_ops){0};
    dist->expansion.force = expansion_force;
    if (dist->plain->expansion) dist->ops.expansion = &dist->expansion;
    hx_dist_set_pcg(dist);
    hx_dist_set_multigrid(dist);
    dist->dev = *dist->device;
    dist->dev.mesh = NULL;
    dist->dev.ops = &dist->ops;
}

static int alloc_buffers(hx_dist *dist)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    const size_t n = MOST_COMPONENTS * (size_t)subdomain->n_interface,
                 n_sent = MOST_COMPONENTS * (size_t)subdomain->with[subdomain->n_peer];
    HX_TRY(dist->plain->alloc(&dist->dev, n * sizeof(double), &dist->d_values));
    HX_TRY(hx_alloc_raw(&dist->message, (size_t)subdomain->n_peer, sizeof *dist->message, what));
    HX_TRY(hx_alloc_raw(&dist->values, n, sizeof *dist->values, what));
    HX_TRY(hx_alloc_raw(&dist->send, n_sent, sizeof *dist->send, what));
    return hx_alloc_raw(&dist->receive, n_sent, sizeof *dist->receive, what);
}

int hx_dist_create(hx_dist *dist, const hx_comm *comm, hx_device *device, const hx_problem *whole)
{
    int rc;
    memset(dist, 0, sizeof *dist);
    dist->comm = comm;
    dist->device = device;
    dist->plain = device->ops;
    dist->most_whole = HX_COARSE_WHOLE;
    HX_TRY(hx_subdomain_create(&dist->subdomain, comm, whole));
    hx_dist_set_host(dist);
    set_tables(dist);
    HX_TRY_FAIL(alloc_buffers(dist));
    return HX_OK;
fail:
    hx_dist_free(dist);
    return rc;
}

/* Puts the lists of interface points on the device. */
static int put_interface(hx_dist *dist)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    hx_device *const dev = &dist->dev;
    const size_t n = (size_t)subdomain->n_interface,
                 n_sent = (size_t)subdomain->with[subdomain->n_peer],
                 n_source = (size_t)subdomain->from[n];
    HX_TRY(hx_device_put(dev, &dist->d_interface_of, subdomain->interface_of,
                         n_sent * sizeof *subdomain->interface_of));
    HX_TRY(hx_device_put(dev, &dist->d_from, subdomain->from, (n + 1) * sizeof *subdomain->from));
    return hx_device_put(dev, &dist->d_source, subdomain->source,
                         n_source * sizeof *subdomain->source);
}

/* Returns 1 if products in parts pay off: the device can run concurrently with an exchange, and
 * exchanges take longer than splitting a product costs. */
static int gains_by_parts(const hx_dist *dist)
{
    const hx_transport_ops *const transport = dist->transport.ops;
    return dist->plain->fork_point && !(transport && transport->is_quick);
}

int hx_dist_connect(hx_dist *dist, hx_transport_kind way)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    const size_t size = (size_t)dist->comm->size;
    int64_t *n;
    HX_TRY(hx_transport_create(&dist->transport, dist->comm, dist->device, way));
    dist->divides = gains_by_parts(dist);
    if (!dist->transport.ops) return HX_OK;
    HX_TRY(put_interface(dist));
    HX_TRY(hx_alloc(&n, size, sizeof *n, what));
    for (int k = 0; k < subdomain->n_peer; k++)
        n[subdomain->peer[k]] = subdomain->with[k + 1] - subdomain->with[k];
    int rc = hx_transport_exchange_create(&dist->transport, n, n, MOST_COMPONENTS * sizeof(double),
                                          &dist->to_peers);
    free(n);
    if (rc == HX_OK) rc = hx_transport_need(&dist->transport, HX_DIST_RECEIVED * sizeof(float));
    if (rc == HX_OK) hx_dist_set_recording(dist);
    return rc;
}

size_t hx_dist_bytes(const hx_dist *dist)
{
    /* Bytes per interface point: its values, its entries in vectors of 3 and 6 unknowns, its
     * lists. */
    enum {
        EACH =
            MOST_COMPONENTS * sizeof(double) + (3 + 6 + 1) * sizeof(int64_t) + 3 * sizeof(int32_t)
    };
    size_t half = 0;
    if (dist->transport.ops)
        half = dist->transport.half;
    else if (!dist->device)
        half = HX_DIST_RECEIVED * sizeof(float);
    return EACH * (size_t)dist->subdomain.n_interface +
           (half > 0 ? HX_TRANSPORT_HEAD + 2 * half : 0);
}

const char *hx_dist_transport(const hx_dist *dist)
{
    return dist->transport.ops ? dist->transport.ops->name : "host memory";
}

hx_transport_kind hx_dist_transport_kind(const hx_dist *dist)
{
    const hx_transport_ops *const ops = dist->transport.ops;
    if (!ops) return HX_TRANSPORT_NONE;
    return ops == dist->device->ops->transport ? HX_TRANSPORT_DIRECT : HX_TRANSPORT_LIBRARY;
}

void hx_dist_free(hx_dist *dist)
{
    hx_device *const dev = &dist->dev;
    if (!dist->comm) return;
    void *const owned[] = {
        dist->d_power,        dist->d_design,   dist->d_values,   dist->d_own,
        dist->d_own_single,   dist->d_at[0],    dist->d_at[1],    dist->d_at[2],
        dist->d_other[0],     dist->d_other[1], dist->d_other[2], dist->d_own_again,
        dist->d_interface_of, dist->d_sums,     dist->d_from,     dist->d_source};
    hx_transport_free(&dist->transport);
    for (size_t i = 0; dev->ops && i < sizeof owned / sizeof owned[0]; i++)
        dist->plain->release(dev, owned[i]);
    free(dist->message);
    free(dist->values);
    free(dist->send);
    free(dist->receive);
    free(dist->coarse);
    free(dist->field);
    free(dist->design);
    hx_dist_free_levels(dist);
    hx_subdomain_free(&dist->subdomain);
    memset(dist, 0, sizeof *dist);
}

int hx_dist_check(const hx_dist *dist)
{
    if (!dist->is_lost) return HX_OK;
    return HX_RAISE(HX_EDEVICE,
                    "the processes are out of step after an earlier error; start the run "
                    "again with --resume to continue from the last checkpoint");
}

int hx_dist_agree(hx_dist *dist, int own)
{
    if (own < 0 && dist->is_lost) return own;
    HX_TRY(hx_dist_check(dist));
    return hx_comm_agree(dist->comm, own);
}
