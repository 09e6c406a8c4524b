/* A distributed level of the coarse grid: its exchanges. */
#include "local_level.h"

#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/timeline.h"

static const char what[] = "a distributed level of the coarse grid";

static int64_t larger_count(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Largest number of values per node in one exchange: of vectors, and of a block of the matrix. */
enum { NUMBERS = HX_MG_DOF, BLOCK = HX_MG_DOF * HX_MG_DOF };

/* Prepares the exchanges from device to device. */
static int connect_level(hx_dist *dist, hx_local_level *s, const int64_t *n_serve,
                         const int64_t *n_ghost, const int64_t *n_touch, const int64_t *n_part)
{
    hx_transport *const transport = &dist->transport;
    HX_TRY(hx_transport_exchange_create(transport, n_serve, n_ghost, NUMBERS * sizeof(float),
                                        &s->values));
    return hx_transport_exchange_create(transport, n_touch, n_part, BLOCK * sizeof(float),
                                        &s->parts);
}

/* Prepares the exchanges through the host. All ranks gather their numbers of ghosts and
 * contributions, since an owner does not have the numbers of its nodes on other ranks. */
static int create_exchanges(hx_local_level *s, hx_dist *dist, const hx_level_view *v)
{
    const hx_comm *const comm = dist->comm;
    const size_t size = (size_t)comm->size;
    int64_t *own = NULL, *all = NULL, *n_serve, *n_part;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&own, 4 * size, sizeof *own, what));
    HX_TRY_FAIL(hx_alloc_raw(&all, 2 * size * size, sizeof *all, what));
    n_serve = own + 2 * size;
    n_part = own + 3 * size;
    memcpy(own, v->n_ghost, size * sizeof *own);
    memcpy(own + size, v->n_touch, size * sizeof *own);
    HX_TRY_FAIL(comm->ops->all_gather(comm, own, 2 * size * sizeof *own, all));
    for (size_t r = 0; r < size; r++) {
        n_serve[r] = all[2 * size * r + (size_t)comm->rank];
        n_part[r] = all[2 * size * r + size + (size_t)comm->rank];
    }
    HX_TRY_FAIL(hx_exchange_create(&s->value, comm, n_serve, v->n_ghost, NUMBERS * sizeof(float)));
    HX_TRY_FAIL(hx_exchange_create(&s->part, comm, v->n_touch, n_part, BLOCK * sizeof(float)));
    s->n_own = v->n_own;
    s->n_ghost = s->value.in[s->value.n_peer];
    s->n_serve = s->value.out[s->value.n_peer];
    s->n_touch = s->part.out[s->part.n_peer];
    HX_TRY_FAIL(connect_level(dist, s, n_serve, v->n_ghost, v->n_touch, n_part));
fail:
    free(own);
    free(all);
    return rc;
}

static int alloc_values(hx_local_level *s, hx_device *dev)
{
    const int64_t n_part = larger_count(s->n_touch, s->part.in[s->part.n_peer]),
                  n = larger_count(NUMBERS * larger_count(s->n_serve, s->n_ghost), BLOCK * n_part);
    HX_TRY(hx_alloc_raw(&s->host, (size_t)n, sizeof *s->host, what));
    return dev->ops->alloc(dev, (size_t)n * sizeof *s->d_value, &s->d_value);
}

/* Returns the local number of the own node with that code, by bisection; -1: none. */
static int32_t find_code(const hx_level_view *v, int64_t code)
{
    int64_t low = 0, high = v->n_own;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (v->code[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->n_own && v->code[low] == code ? (int32_t)low : -1;
}

/* find_served for nodes with global codes. */
static int find_served_codes(hx_local_level *s, hx_dist *dist, const hx_level_view *v)
{
    int64_t *code;
    int missing = 0;
    HX_TRY(hx_alloc_raw(&code, (size_t)s->n_serve, sizeof *code, what));
    const int rc =
        hx_exchange_reverse(dist->comm, &s->value, sizeof *code, v->code + v->n_own, code);
    for (int64_t i = 0; rc == HX_OK && i < s->n_serve; i++) {
        s->serve[i] = find_code(v, code[i]);
        missing |= s->serve[i] < 0;
    }
    free(code);
    if (rc < 0 || !missing) return rc;
    return HX_RAISE(HX_EINTERNAL, "a node of the coarse grid is missing on its owner");
}

/* Finds the own nodes that are ghosts on each peer, in the order of the peer's ghosts. */
static int find_served(hx_local_level *s, hx_dist *dist, const hx_level_view *v)
{
    HX_TRY(hx_alloc_raw(&s->serve, (size_t)s->n_serve, sizeof *s->serve, what));
    if (v->code) return find_served_codes(s, dist, v);
    HX_TRY(
        hx_exchange_reverse(dist->comm, &s->value, sizeof *s->serve, v->node + v->n_own, s->serve));
    for (int64_t i = 0; i < s->n_serve; i++) s->serve[i] = v->number[s->serve[i]];
    return HX_OK;
}

/* Return the position of a rank's first item among those sent, or those received; -1: none. */
static int64_t first_out(const hx_exchange *r, int rank)
{
    for (int k = 0; k < r->n_peer; k++)
        if (r->peer[k] == rank) return r->out[k];
    return -1;
}

static int64_t first_in(const hx_exchange *r, int rank)
{
    for (int k = 0; k < r->n_peer; k++)
        if (r->peer[k] == rank) return r->in[k];
    return -1;
}

/* Finds the own nodes to which other ranks contribute, and the ghosts to which this rank
 * contributes. */
static int find_sums(hx_local_level *s)
{
    const hx_exchange *const part = &s->part;
    int32_t *place;
    HX_TRY(hx_alloc_raw(&s->touch, (size_t)s->n_touch, sizeof *s->touch, what));
    HX_TRY(hx_alloc_raw(&s->sum, (size_t)s->n_own, sizeof *s->sum, what));
    HX_TRY(hx_alloc_raw(&s->sum_of, (size_t)part->in[part->n_peer], sizeof *s->sum_of, what));
    HX_TRY(hx_alloc_raw(&place, (size_t)s->n_own, sizeof *place, what));
    for (int64_t a = 0; a < s->n_own; a++) place[a] = -1;
    /* contributions are the first ones of each peer's ghosts, so positions differ by a constant */
    for (int k = 0; k < part->n_peer; k++) {
        const int64_t ghost = s->n_own + first_in(&s->value, part->peer[k]) - part->out[k],
                      serve = first_out(&s->value, part->peer[k]) - part->in[k];
        for (int64_t i = part->out[k]; i < part->out[k + 1]; i++)
            s->touch[i] = (int32_t)(ghost + i);
        for (int64_t i = part->in[k]; i < part->in[k + 1]; i++) {
            const int32_t a = s->serve[serve + i];
            if (place[a] < 0) {
                place[a] = (int32_t)s->n_sum;
                s->sum[s->n_sum++] = a;
            }
            s->sum_of[i] = place[a];
        }
    }
    free(place);
    return HX_OK;
}

/* Puts the lists for adding contributions on the device. */
static int put_sums(hx_dist *dist, hx_local_level *s)
{
    const int64_t n_came = s->part.in[s->part.n_peer];
    const size_t n = (size_t)s->n_sum;
    int64_t *first = NULL;
    int32_t *source = NULL;
    int rc;
    if (!dist->transport.ops) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&first, n + 2, sizeof *first, what));
    HX_TRY_FAIL(hx_alloc_raw(&source, n + (size_t)n_came, sizeof *source, what));
    for (int64_t k = 0; k < n_came; k++) first[s->sum_of[k] + 2]++;
    for (int64_t i = 0; i < s->n_sum; i++) first[i + 2] += first[i + 1] + 1;
    for (int64_t i = 0; i < s->n_sum; i++) source[first[i + 1]++] = -1;
    for (int64_t k = 0; k < n_came; k++) source[first[s->sum_of[k] + 1]++] = (int32_t)k;
    HX_TRY_FAIL(hx_device_put(&dist->dev, &s->d_first, first, (n + 1) * sizeof *first));
    HX_TRY_FAIL(
        hx_device_put(&dist->dev, &s->d_source, source, (n + (size_t)n_came) * sizeof *source));
    rc = HX_OK;
fail:
    free(first);
    free(source);
    return rc;
}

static void free_subdomain(hx_device *dev, hx_local_level *s)
{
    void *const on_device[] = {s->d_serve,     s->d_touch, s->d_sum,   s->d_touch_block,
                               s->d_sum_block, s->d_value, s->d_first, s->d_source};
    for (size_t i = 0; i < sizeof on_device / sizeof on_device[0]; i++)
        dev->ops->release(dev, on_device[i]);
    hx_exchange_free(&s->value);
    hx_exchange_free(&s->part);
    free(s->serve);
    free(s->touch);
    free(s->sum);
    free(s->sum_of);
    free(s->host);
    free(s);
}

int64_t hx_dist_coarse_nodes(const hx_dist *dist)
{
    int64_t n = 0;
    for (const hx_local_level *s = dist->level; s; s = s->next) n += s->n_own + s->n_ghost;
    return n;
}

void hx_dist_free_levels(hx_dist *dist)
{
    while (dist->level) {
        hx_local_level *const s = dist->level;
        dist->level = s->next;
        free_subdomain(&dist->dev, s);
    }
}

void hx_dist_free_level(hx_device *dev, hx_local_level *local)
{
    hx_local_level **at = &hx_dist_of(dev)->level;
    while (*at && *at != local) at = &(*at)->next;
    if (!*at) return;
    *at = local->next;
    free_subdomain(dev, local);
}

int hx_local_level_create(hx_dist *dist, const hx_level_view *v, hx_local_level **local)
{
    hx_local_level *s;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, what));
    s->next = dist->level; /* freed with the level, or at the latest with `dist` */
    dist->level = *local = s;
    HX_TRY(create_exchanges(s, dist, v));
    HX_TRY(alloc_values(s, &dist->dev));
    HX_TRY(find_served(s, dist, v));
    HX_TRY(find_sums(s));
    return put_sums(dist, s);
}

/* *d_at := entries of the nodes' first blocks in a matrix of n_node rows. */
static int put_block_entries(hx_device *dev, int64_t n, const int32_t *node, int dof,
                             int64_t n_node, int by_columns, int64_t **d_at)
{
    const int64_t block = (int64_t)dof * dof, count = n * block;
    int64_t *at;
    HX_TRY(hx_alloc_raw(&at, (size_t)count, sizeof *at, what));
    for (int64_t k = 0; k < count; k++) {
        const int64_t a = node[k / block], j = k % block;
        at[k] =
            by_columns ? (j / dof * n_node + a) * dof + j % dof : HX_COARSE_OFFSETS * block * a + j;
    }
    const int rc = hx_device_put(dev, d_at, at, (size_t)count * sizeof *at);
    free(at);
    return rc;
}

/* Made with the first matrix, which defines the number of unknowns per node. */
static int prepare_level(hx_dist *dist, hx_local_level *s, int dof, int64_t n_node)
{
    const int by_columns = dist->multigrid_plain->level->matrix_by_columns;
    hx_device *const dev = &dist->dev;
    if (s->dof == dof) return HX_OK;
    HX_TRY(hx_dist_put_entries(dev, s->n_serve, s->serve, dof, 0, dof, &s->d_serve));
    HX_TRY(hx_dist_put_entries(dev, s->n_touch, s->touch, dof, 0, dof, &s->d_touch));
    HX_TRY(hx_dist_put_entries(dev, s->n_sum, s->sum, dof, 0, dof, &s->d_sum));
    HX_TRY(
        put_block_entries(dev, s->n_touch, s->touch, dof, n_node, by_columns, &s->d_touch_block));
    HX_TRY(put_block_entries(dev, s->n_sum, s->sum, dof, n_node, by_columns, &s->d_sum_block));
    s->block_step = by_columns ? dof * dof * n_node : dof * dof;
    s->dof = dof;
    return HX_OK;
}

/* Copies entries of a vector to the host. */
static int take_level_entries(hx_dist *dist, hx_local_level *s, int64_t n, const int64_t *d_at,
                              const float *d_y)
{
    HX_TRY(dist->plain->vector->take_entries_single(&dist->dev, n, d_at, d_y, s->d_value));
    return dist->plain->download(&dist->dev, s->host, s->d_value, (size_t)n * sizeof *s->host);
}

/* One launch sends, waits and copies if possible; otherwise one sends and another copies. */
static int make_consistent_transport(hx_dist *dist, hx_local_level *s, float *d_y)
{
    hx_transport *const transport = &dist->transport;
    const int dof = s->dof;
    const int64_t n = dof * s->n_ghost;
    float *const d_ghost = d_y + dof * s->n_own;
    if (hx_transport_can_swap(transport, &s->values, dof, n)) {
        HX_IN_SPAN(
            &dist->dev, HX_SPAN_PUT, -1,
            hx_transport_swap_single(transport, &s->values, dof, s->d_serve, d_y, n, d_ghost));
    } else {
        HX_IN_SPAN(&dist->dev, HX_SPAN_PUT, -1,
                   hx_transport_send_single(transport, &s->values, dof, NULL, s->d_serve, d_y));
        HX_IN_SPAN(&dist->dev, HX_SPAN_ADD, -1, hx_transport_take_single(transport, n, d_ghost));
    }
    hx_dist_count(dist, s->n_serve * dof * (int64_t)sizeof *d_y);
    return HX_OK;
}

/* Through the host: own values that are ghosts on other ranks go out, and those of this rank's
 * ghosts come in. */
static int serve(hx_dist *dist, hx_local_level *s, const float *d_y)
{
    HX_TRY(take_level_entries(dist, s, s->dof * s->n_serve, s->d_serve, d_y));
    hx_exchange_pack(&s->value, (size_t)s->dof * sizeof *d_y, s->host);
    return HX_OK;
}

static int receive(hx_dist *dist, hx_local_level *s, float *d_y)
{
    const size_t bytes = (size_t)s->dof * sizeof *d_y;
    HX_TRY(hx_exchange_run(dist->comm, &s->value, bytes));
    hx_exchange_unpack(&s->value, bytes, s->host);
    hx_dist_count(dist, hx_exchange_bytes(&s->value, bytes));
    return dist->plain->upload(&dist->dev, d_y + s->dof * s->n_own, s->host,
                               (size_t)s->n_ghost * bytes);
}

static int make_consistent_by_host(hx_dist *dist, hx_local_level *s, float *d_y)
{
    HX_IN_SPAN(&dist->dev, HX_SPAN_PUT, -1, serve(dist, s, d_y));
    HX_IN_SPAN(&dist->dev, HX_SPAN_ADD, -1, receive(dist, s, d_y));
    return HX_OK;
}

/* y at ghosts := values of their owners. */
static int make_consistent(hx_dist *dist, hx_local_level *s, float *d_y)
{
    const double begin = hx_clock();
    HX_TRY(dist->transport.ops ? make_consistent_transport(dist, s, d_y)
                               : make_consistent_by_host(dist, s, d_y));
    dist->figures.coarse_seconds += hx_clock() - begin;
    return HX_OK;
}

/* Entries of nodes, `components` each, to which several ranks contribute: those that go to the
 * owner (d_touch), and those where the owner adds (d_sum). */
typedef struct parts {
    int components;
    const int64_t *d_touch, *d_sum;
} parts;

static int add_parts_transport(hx_dist *dist, hx_local_level *s, const parts *p, float *d_y)
{
    hx_transport *const transport = &dist->transport;
    const hx_transport_sums sums = {.components = p->components,
                                    .n = s->n_sum,
                                    .d_first = s->d_first,
                                    .d_source = s->d_source,
                                    .d_at = p->d_sum};
    HX_IN_SPAN(
        &dist->dev, HX_SPAN_PUT, -1,
        hx_transport_send_single(transport, &s->parts, p->components, NULL, p->d_touch, d_y));
    HX_IN_SPAN(&dist->dev, HX_SPAN_ADD, -1, hx_transport_add_single(transport, &sums, d_y));
    hx_dist_count(dist, s->n_touch * p->components * (int64_t)sizeof *d_y);
    return HX_OK;
}

/* Through the host. */
static int hand_over(hx_dist *dist, hx_local_level *s, const parts *p, const float *d_y)
{
    HX_TRY(take_level_entries(dist, s, p->components * s->n_touch, p->d_touch, d_y));
    hx_exchange_pack(&s->part, (size_t)p->components * sizeof *d_y, s->host);
    return HX_OK;
}

static void add_received(hx_local_level *s, int components)
{
    const hx_exchange *const r = &s->part;
    for (int k = 0; k < r->n_peer; k++) {
        const float *const from =
            (const float *)hx_exchange_received(r, k, (size_t)components * sizeof *from);
        for (int64_t i = r->in[k]; i < r->in[k + 1]; i++)
            for (int j = 0; j < components; j++)
                s->host[components * (int64_t)s->sum_of[i] + j] +=
                    from[components * (i - r->in[k]) + j];
    }
}

static int gather_parts(hx_dist *dist, hx_local_level *s, const parts *p, float *d_y)
{
    const int64_t n = p->components * s->n_sum;
    const size_t bytes = (size_t)p->components * sizeof *d_y;
    HX_TRY(hx_exchange_run(dist->comm, &s->part, bytes));
    hx_dist_count(dist, hx_exchange_bytes(&s->part, bytes));
    HX_TRY(take_level_entries(dist, s, n, p->d_sum, d_y));
    add_received(s, p->components);
    HX_TRY(dist->plain->upload(&dist->dev, s->d_value, s->host, (size_t)n * sizeof *s->host));
    return dist->plain->vector->put_entries_single(&dist->dev, n, p->d_sum, s->d_value, d_y);
}

static int add_parts_by_host(hx_dist *dist, hx_local_level *s, const parts *p, float *d_y)
{
    HX_IN_SPAN(&dist->dev, HX_SPAN_PUT, -1, hand_over(dist, s, p, d_y));
    HX_IN_SPAN(&dist->dev, HX_SPAN_ADD, -1, gather_parts(dist, s, p, d_y));
    return HX_OK;
}

/* Adds the contributions of other ranks to own entries, in the order of the ranks; a node's owner
 * is the lowest rank that has it, so its own contribution comes first. */
static int add_parts(hx_dist *dist, hx_local_level *s, int components, const int64_t *d_touch,
                     const int64_t *d_sum, float *d_y)
{
    const double begin = hx_clock();
    const parts p = {components, d_touch, d_sum};
    HX_TRY(dist->transport.ops ? add_parts_transport(dist, s, &p, d_y)
                               : add_parts_by_host(dist, s, &p, d_y));
    dist->figures.coarse_seconds += hx_clock() - begin;
    return HX_OK;
}

int hx_dist_add_coarse(hx_device *dev, int dof, const hx_mg_level *level)
{
    hx_dist *const dist = hx_dist_of(dev);
    hx_local_level *const s = level->local;
    if (!s) {
        const size_t n = (size_t)(HX_COARSE_OFFSETS * dof * dof) * (size_t)level->n_node;
        return hx_dist_sum_device(dist, n, level->d_matrix);
    }
    HX_TRY(prepare_level(dist, s, dof, level->n_node));
    for (int o = 0; o < HX_COARSE_OFFSETS; o++)
        HX_TRY(add_parts(dist, s, dof * dof, s->d_touch_block, s->d_sum_block,
                         level->d_matrix + o * s->block_step));
    return HX_OK;
}

int hx_dist_add_right_side(hx_dist *dist, const hx_mg_level *level)
{
    hx_local_level *const s = level->local;
    const int dof = hx_dist_coarse_dof(dist);
    if (s) return add_parts(dist, s, dof, s->d_touch, s->d_sum, level->d_b);
    return hx_dist_sum_device(dist, (size_t)dof * (size_t)level->n_node, level->d_b);
}

int hx_dist_make_level_consistent(hx_device *dev, const hx_mg_level *level, float *d_y)
{
    return level->local ? make_consistent(hx_dist_of(dev), level->local, d_y) : HX_OK;
}

/* Power iteration with the line smoother of own nodes. */
static int power_by_lines(hx_dist *dist, const hx_mg_level *level, int64_t n)
{
    hx_device *const dev = &dist->dev;
    HX_TRY(dev->ops->copy(dev, level->d_d, level->d_y, (size_t)n * sizeof *level->d_d));
    HX_TRY(dist->multigrid_plain->lines->level_apply(dev, level, level->d_d));
    HX_TRY(hx_dist_power_of_own(dist, n, n, level->d_m, level->d_y, level->d_d, level->d_v,
                                level->d_smoother));
    return make_consistent(dist, level->local, level->d_v);
}

int hx_dist_level_power(hx_device *dev, int dof, const hx_mg_level *level)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_mg_vector_ops *const plain = dist->multigrid_plain->vector;
    const int64_t n = dof * level->local->n_own;
    if (level->lines.next) return power_by_lines(dist, level, n);
    HX_TRY(hx_dist_need_power(dist));
    HX_TRY(plain->power_sums(dev, n, level->d_m, level->d_y, level->d_v, dist->d_power));
    HX_TRY(hx_dist_sum_few(dist, 2, dist->d_power));
    HX_TRY(plain->power_end(dev, n, level->d_m, level->d_y, dist->d_power, level->d_v,
                            level->d_smoother));
    return make_consistent(dist, level->local, level->d_v);
}

static int smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    HX_TRY(hx_dist_of(dev)->multigrid_plain->level->smooth(dev, level, i, d_x, d_y));
    return hx_dist_make_level_consistent(dev, level, d_y);
}

static int restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                       const hx_mg_level *coarse)
{
    hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(dist->multigrid_plain->transfer->restrict_to(dev, fine, d_r, coarse));
    return fine->local ? hx_dist_add_right_side(dist, coarse) : HX_OK;
}

static int galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    const hx_dist *const dist = hx_dist_of(dev);
    HX_TRY(dist->multigrid_plain->transfer->galerkin(dev, fine, coarse));
    return fine->local ? hx_dist_add_coarse(dev, hx_dist_coarse_dof(dist), coarse) : HX_OK;
}

void hx_dist_set_levels(hx_dist_multigrid *tables)
{
    tables->level.smooth = smooth;
    tables->transfer.restrict_to = restrict_to;
    tables->transfer.galerkin = galerkin;
}
