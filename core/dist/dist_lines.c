/* Line smoothing across subdomains (../multigrid/multigrid_lines.c). A rank smooths the segments of
 * lines inside its subdomain, and then each line that leaves it as a whole, with the residual at
 * its other points received from their owners. Every rank that has a point of a line therefore
 * computes the same value there as a single process. Few lines leave a subdomain, so little is
 * computed twice. */
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../multigrid/line_block.h"
#include "dist.h"
#include "exchange.h"

static const char what[] = "lines across subdomains";
enum { N_VECTOR = 3, N_BLOCK = 6, N_COUPLING = 9, MOST_BYTES = N_BLOCK * sizeof(double) };

/* The lines that leave the subdomain, as a whole. Their points: first those of the subdomain, then
 * those of other ranks ("guests"), grouped by owner. */
typedef struct crossing {
    hx_mg_lines lines; /* over those points; owns its d_factor and d_block */
    float *d_m, *d_t;  /* [n_own + n_guest][3] */
    int64_t n_own, n_guest;
    /* entries of the subdomain's points in vectors, diagonal blocks and factors of the subdomain */
    int64_t *d_vector, *d_block, *d_coupling;
    /* [n_own + n_guest] position of a point in the lines, on the host (owned, like all below) */
    int32_t *place;
    hx_exchange exchange; /* exchange of guests' values */
    int32_t *out;         /* points to send */
    char *value;          /* MOST_BYTES per point */
    double *residual;     /* [n_own][3] */
    float *factor;        /* [n_own + n_guest][HX_LINE_NUMBERS] */
    void *d_value;        /* [n_own] MOST_BYTES */
} crossing;

/* Examines one line: the ranks of each point, and of the line. */
typedef struct view {
    const hx_subdomain *subdomain;
    int rank, size;
    int *n_rank, *dist;    /* [points of the longest line], [..][size] */
    int n_all, *all;       /* [size] */
    uint8_t *is_in;        /* [size] */
    uint8_t *is_interface; /* [lines] 1: several ranks have a point of the line */
} view;

static int has(const view *v, int64_t i, int rank)
{
    for (int k = 0; k < v->n_rank[i]; k++)
        if (v->dist[i * v->size + k] == rank) return 1;
    return 0;
}

/* Returns 1 if this rank has some of the n points, and not all points have the same ranks. */
static int find_line_ranks(view *v, int64_t n, const int32_t *point)
{
    int differ = 0;
    v->n_all = 0;
    for (int64_t i = 0; i < n; i++) {
        int *const dist = v->dist + i * v->size;
        v->n_rank[i] = hx_subdomain_ranks_of(v->subdomain, v->size, point[i], dist);
        differ |= v->n_rank[i] != v->n_rank[0] ||
                  memcmp(dist, v->dist, (size_t)v->n_rank[0] * sizeof *dist) != 0;
        for (int k = 0; k < v->n_rank[i]; k++) {
            if (v->is_in[dist[k]]) continue;
            v->is_in[dist[k]] = 1;
            v->all[v->n_all++] = dist[k];
        }
    }
    const int mine = v->is_in[v->rank];
    for (int k = 0; k < v->n_all; k++) v->is_in[v->all[k]] = 0;
    return differ && mine;
}

/* Lists of the crossing lines: counted in a first pass, filled in a second. */
typedef struct list {
    int64_t n_line, n_point, n_own, n_guest;
    /* [size] points from and to each rank; in the second pass the next position of each rank */
    int64_t *n_from, *n_to;
    int32_t *first, *point; /* NULL during counting; lines in the crossing's numbering */
    int32_t *own;           /* [n_own] in the subdomain's numbering */
    int32_t *out;
} list;

static int compare_crossings(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Returns the local number of a node of the whole that the subdomain has: own nodes and other nodes
 * ascend separately. */
static int32_t number_of(const hx_subdomain *subdomain, int32_t node)
{
    const size_t n_own = (size_t)subdomain->n_own, n_other = (size_t)subdomain->mesh.n_node - n_own;
    const int32_t *at = bsearch(&node, subdomain->node, n_own, sizeof node, compare_crossings);
    if (!at) at = bsearch(&node, subdomain->node + n_own, n_other, sizeof node, compare_crossings);
    return (int32_t)(at - subdomain->node);
}

/* Handles point i of a crossing line if this rank has it: its owner sends it to all ranks of the
 * line that do not have the point. */
static void list_own(const view *v, int64_t i, int32_t node, list *l)
{
    const int32_t number = (int32_t)l->n_own++;
    if (l->first) {
        l->own[number] = number_of(v->subdomain, node);
        l->point[l->n_point] = number;
    }
    if (v->dist[i * v->size] != v->rank) return;
    for (int k = 0; k < v->n_all; k++) {
        if (has(v, i, v->all[k])) continue;
        const int64_t at = l->n_to[v->all[k]]++;
        if (l->first) l->out[at] = number;
    }
}

static void list_guest(const view *v, int64_t i, list *l)
{
    const int64_t number = l->n_from[v->dist[i * v->size]]++;
    if (l->first) l->point[l->n_point] = (int32_t)number;
    l->n_guest++;
}

/* Consecutive points of a line belong to one element, so a line without interface points lies on
 * one rank. */
static void find_interface(const view *v, int64_t n, const int32_t *first, const int32_t *point)
{
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < n; line++) {
        int is_interface = 0;
        for (int32_t i = first[line]; i < first[line + 1] && !is_interface; i++)
            is_interface = hx_subdomain_is_interface(v->subdomain, v->size, point[i]);
        v->is_interface[line] = (uint8_t)is_interface;
    }
}

static void list_lines(view *v, int64_t n, const int32_t *first, const int32_t *point, list *l)
{
    l->n_line = l->n_point = l->n_own = l->n_guest = 0;
    for (int64_t line = 0; line < n; line++) {
        const int64_t n_point = first[line + 1] - first[line];
        const int32_t *const node = point + first[line];
        if (!v->is_interface[line] || !find_line_ranks(v, n_point, node)) continue;
        for (int64_t i = 0; i < n_point; i++, l->n_point++)
            if (has(v, i, v->rank))
                list_own(v, i, node[i], l);
            else
                list_guest(v, i, l);
        l->n_line++;
        if (l->first) l->first[l->n_line] = (int32_t)l->n_point;
    }
}

/* Makes the exchange with the peers; the counts in `l` become the next position of each rank. */
static int find_peers(crossing *c, const hx_dist *dist, list *l)
{
    hx_exchange *const r = &c->exchange;
    HX_TRY(hx_exchange_create(r, dist->comm, l->n_to, l->n_from, MOST_BYTES));
    for (int k = 0; k < r->n_peer; k++) {
        l->n_from[r->peer[k]] = l->n_own + r->in[k];
        l->n_to[r->peer[k]] = r->out[k];
    }
    return HX_OK;
}

static int alloc_lists(crossing *c, list *l)
{
    const size_t n_out = (size_t)c->exchange.out[c->exchange.n_peer];
    HX_TRY(hx_alloc(&l->first, (size_t)l->n_line + 1, sizeof *l->first, what));
    HX_TRY(hx_alloc_raw(&l->point, (size_t)l->n_point, sizeof *l->point, what));
    HX_TRY(hx_alloc_raw(&l->own, (size_t)l->n_own, sizeof *l->own, what));
    return hx_alloc_raw(&l->out, n_out, sizeof *l->out, what);
}

/* Makes the entries of the subdomain's points in vectors, in blocks and in the factors of its
 * segments; place[] is the position of a point in the segments. */
static int put_all_entries(crossing *c, hx_device *dev, const list *l, const int32_t *place)
{
    int32_t *own;
    HX_TRY(hx_dist_put_entries(dev, l->n_own, l->own, N_VECTOR, 0, N_VECTOR, &c->d_vector));
    HX_TRY(hx_dist_put_entries(dev, l->n_own, l->own, N_BLOCK, 0, N_BLOCK, &c->d_block));
    HX_TRY(hx_alloc_raw(&own, (size_t)l->n_own, sizeof *own, what));
    for (int64_t i = 0; i < l->n_own; i++) own[i] = place[l->own[i]];
    const int rc = hx_dist_put_entries(dev, l->n_own, own, HX_LINE_NUMBERS, HX_LINE_COUPLING,
                                       N_COUPLING, &c->d_coupling);
    free(own);
    return rc;
}

static int put_lines(crossing *c, hx_device *dev, const list *l)
{
    const size_t n = (size_t)l->n_point;
    hx_mg_lines *const lines = &c->lines;
    HX_TRY(
        hx_device_put(dev, &lines->d_first, l->first, ((size_t)l->n_line + 1) * sizeof(int32_t)));
    HX_TRY(hx_device_put(dev, &lines->d_point, l->point, n * sizeof(int32_t)));
    HX_TRY(dev->ops->alloc(dev, HX_LINE_NUMBERS * n * sizeof(float), &lines->d_factor));
    HX_TRY(dev->ops->alloc(dev, N_BLOCK * n * sizeof(double), &lines->d_block));
    HX_TRY(dev->ops->alloc(dev, N_VECTOR * n * sizeof(float), &c->d_m));
    HX_TRY(dev->ops->alloc(dev, N_VECTOR * n * sizeof(float), &c->d_t));
    HX_TRY(dev->ops->alloc(dev, (size_t)l->n_own * MOST_BYTES, &c->d_value));
    lines->n = l->n_line;
    lines->n_point = l->n_point;
    return HX_OK;
}

static int alloc_host(crossing *c, list *l)
{
    const size_t n = (size_t)l->n_point;
    HX_TRY(hx_alloc_raw(&c->place, n, sizeof *c->place, what));
    HX_TRY(hx_alloc_raw(&c->value, n, MOST_BYTES, what));
    HX_TRY(hx_alloc_raw(&c->residual, N_VECTOR * (size_t)l->n_own, sizeof *c->residual, what));
    HX_TRY(hx_alloc(&c->factor, HX_LINE_NUMBERS * n, sizeof *c->factor, what));
    for (size_t p = 0; p < n; p++) c->place[l->point[p]] = (int32_t)p;
    c->n_own = l->n_own;
    c->n_guest = l->n_guest;
    c->out = l->out;
    l->out = NULL;
    return HX_OK;
}

/* (*place)[] := position of each of the subdomain's points in its segments; the caller frees it. */
static int find_places(hx_device *dev, const hx_mg_lines *lines, int32_t **place)
{
    const size_t n = (size_t)lines->n_point;
    int32_t *point;
    HX_TRY(hx_alloc_raw(&point, n, sizeof *point, what));
    int rc = hx_alloc_raw(place, n, sizeof **place, what);
    if (rc == HX_OK) rc = dev->ops->download(dev, point, lines->d_point, n * sizeof *point);
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < (rc == HX_OK ? n : 0); p++) (*place)[point[p]] = (int32_t)p;
    free(point);
    return rc;
}

/* Data of hx_mg_lines.interface: entries of the couplings at interface points in the factors of the
 * segments, and the crossing lines. */
typedef struct local_lines {
    int64_t *d_interface; /* [n_interface][N_COUPLING] */
    crossing crossing;
} local_lines;

static int put_interface(local_lines *s, hx_dist *dist, const int32_t *place)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    int32_t *interface;
    HX_TRY(hx_alloc_raw(&interface, (size_t)subdomain->n_interface, sizeof *interface, what));
    for (int64_t i = 0; i < subdomain->n_interface; i++)
        interface[i] = place[subdomain->interface[i]];
    const int rc =
        hx_dist_put_entries(&dist->dev, subdomain->n_interface, interface, HX_LINE_NUMBERS,
                            HX_LINE_COUPLING, N_COUPLING, &s->d_interface);
    free(interface);
    return rc;
}

static int list_crossing(crossing *c, hx_dist *dist, view *v, int64_t n, const int32_t *first,
                         const int32_t *point, list *l)
{
    find_interface(v, n, first, point);
    list_lines(v, n, first, point, l);
    HX_TRY(find_peers(c, dist, l));
    HX_TRY(alloc_lists(c, l));
    list_lines(v, n, first, point, l);
    HX_TRY(put_lines(c, &dist->dev, l));
    return alloc_host(c, l);
}

static int make_crossing(crossing *c, hx_dist *dist, int64_t n, const int32_t *first,
                         const int32_t *point, const int32_t *place)
{
    const size_t size = (size_t)dist->comm->size;
    view v = {.subdomain = &dist->subdomain, .rank = dist->comm->rank, .size = dist->comm->size};
    list l = {0};
    size_t longest = 0;
    int rc;
    for (int64_t i = 0; i < n; i++)
        if ((size_t)(first[i + 1] - first[i]) > longest)
            longest = (size_t)(first[i + 1] - first[i]);
    HX_TRY_FAIL(hx_alloc_raw(&v.n_rank, longest, sizeof *v.n_rank, what));
    HX_TRY_FAIL(hx_alloc_raw(&v.dist, longest * size, sizeof *v.dist, what));
    HX_TRY_FAIL(hx_alloc_raw(&v.all, size, sizeof *v.all, what));
    HX_TRY_FAIL(hx_alloc(&v.is_in, size, 1, what));
    HX_TRY_FAIL(hx_alloc_raw(&v.is_interface, (size_t)n, 1, what));
    HX_TRY_FAIL(hx_alloc(&l.n_from, size, sizeof *l.n_from, what));
    HX_TRY_FAIL(hx_alloc(&l.n_to, size, sizeof *l.n_to, what));
    HX_TRY_FAIL(list_crossing(c, dist, &v, n, first, point, &l));
    HX_TRY_FAIL(put_all_entries(c, &dist->dev, &l, place));
fail:
    free(v.n_rank);
    free(v.dist);
    free(v.all);
    free(v.is_in);
    free(v.is_interface);
    free(l.n_from);
    free(l.n_to);
    free(l.first);
    free(l.point);
    free(l.own);
    free(l.out);
    return rc;
}

int hx_dist_split_lines(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                        hx_mg_lines *lines)
{
    hx_dist *const dist = hx_dist_of(dev);
    local_lines *s;
    int32_t *place = NULL;
    int rc;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, what));
    lines->interface = s;
    dist->waits = 1;
    hx_dist_set_recording(dist);
    HX_TRY_FAIL(find_places(dev, lines, &place));
    HX_TRY_FAIL(put_interface(s, dist, place));
    HX_TRY_FAIL(make_crossing(&s->crossing, dist, n, first, point, place));
fail:
    free(place); /* on failure, everything made is freed with the lines */
    return rc;
}

void hx_dist_free_lines(hx_device *dev, hx_mg_lines *lines)
{
    const hx_device_ops *const ops = hx_dist_of(dev)->plain;
    local_lines *const s = lines->interface;
    crossing *const c = &s->crossing;
    void *const on_device[] = {
        s->d_interface,   c->lines.d_first, c->lines.d_point, c->lines.d_factor,
        c->lines.d_block, c->d_m,           c->d_t,           c->d_vector,
        c->d_block,       c->d_coupling,    c->d_value};
    for (size_t i = 0; i < sizeof on_device / sizeof on_device[0]; i++)
        ops->release(dev, on_device[i]);
    free(c->place);
    hx_exchange_free(&c->exchange);
    free(c->out);
    free(c->value);
    free(c->residual);
    free(c->factor);
    free(s);
    lines->interface = NULL;
}

static crossing *crossing_of(const hx_mg_lines *lines)
{
    return &((local_lines *)lines->interface)->crossing;
}

/* Fills value[n_own ..], `bytes` per point, with the values of the guests from their owners, which
 * send theirs from value[.. n_own - 1]. */
static int fill_guests(hx_dist *dist, crossing *c, size_t bytes)
{
    hx_exchange *const r = &c->exchange;
    const double begin = hx_clock();
    for (int k = 0; k < r->n_peer; k++) {
        char *const to = hx_exchange_sent(r, k, bytes);
        for (int64_t i = r->out[k]; i < r->out[k + 1]; i++)
            memcpy(to + (size_t)(i - r->out[k]) * bytes, c->value + (size_t)c->out[i] * bytes,
                   bytes);
    }
    HX_TRY(hx_exchange_run(dist->comm, r, bytes));
    hx_dist_count(dist, hx_exchange_bytes(r, bytes));
    hx_exchange_unpack(r, bytes, c->value + (size_t)c->n_own * bytes);
    dist->figures.exchange_seconds += hx_clock() - begin;
    return HX_OK;
}

/* Copies entries of the subdomain's points to the host. */
static int take_crossing(hx_dist *dist, const crossing *c, int components, const int64_t *d_at,
                         const double *d_x, void *value)
{
    const int64_t n = c->n_own * components;
    HX_TRY(dist->plain->vector->take_entries(&dist->dev, n, d_at, d_x, c->d_value));
    return dist->plain->download(&dist->dev, value, c->d_value, (size_t)n * sizeof *d_x);
}

static int take_single(hx_dist *dist, const crossing *c, int components, const int64_t *d_at,
                       const float *d_x, void *value)
{
    const int64_t n = c->n_own * components;
    HX_TRY(dist->plain->vector->take_entries_single(&dist->dev, n, d_at, d_x, c->d_value));
    return dist->plain->download(&dist->dev, value, c->d_value, (size_t)n * sizeof *d_x);
}

/* Copies the couplings of crossing lines before the factors of the segments overwrite them. */
static int take_couplings(hx_dist *dist, crossing *c, const hx_mg_lines *lines)
{
    HX_TRY(take_single(dist, c, N_COUPLING, c->d_coupling, lines->d_factor, c->value));
    HX_TRY(fill_guests(dist, c, N_COUPLING * sizeof(float)));
    for (int64_t i = 0; i < c->n_own + c->n_guest; i++)
        memcpy(c->factor + HX_LINE_NUMBERS * (int64_t)c->place[i] + HX_LINE_COUPLING,
               c->value + (size_t)i * N_COUPLING * sizeof(float), N_COUPLING * sizeof(float));
    return dist->plain->upload(&dist->dev, c->lines.d_factor, c->factor,
                               HX_LINE_NUMBERS * (size_t)c->lines.n_point * sizeof(float));
}

int hx_dist_add_lines(hx_device *dev, const hx_mg_lines *lines)
{
    hx_dist *const dist = hx_dist_of(dev);
    const local_lines *const s = lines->interface;
    crossing *const c = crossing_of(lines);
    HX_TRY(hx_dist_add_at(dist, N_COUPLING, s->d_interface, lines->d_factor));
    return c->lines.n > 0 ? take_couplings(dist, c, lines) : HX_OK;
}

static int factorise(hx_device *dev, const hx_mg_splitting *splitting)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_mg_lines *const lines = splitting->lines;
    crossing *const c = crossing_of(lines);
    const hx_mg_splitting of_crossing = {.lines = &c->lines, .d_m = c->d_m};
    const size_t n = (size_t)c->lines.n_point;
    HX_TRY(dist->multigrid_plain->lines->invert(dev, splitting));
    if (c->lines.n == 0) return HX_OK;
    HX_TRY(take_crossing(dist, c, N_BLOCK, c->d_block, lines->d_block, c->value));
    HX_TRY(fill_guests(dist, c, N_BLOCK * sizeof(double)));
    HX_TRY(dist->plain->upload(dev, c->lines.d_block, c->value, n * N_BLOCK * sizeof(double)));
    HX_TRY(take_single(dist, c, N_VECTOR, c->d_vector, splitting->d_m, c->value));
    HX_TRY(fill_guests(dist, c, N_VECTOR * sizeof(float)));
    HX_TRY(dist->plain->upload(dev, c->d_m, c->value, n * N_VECTOR * sizeof(float)));
    return dist->multigrid_plain->lines->invert(dev, &of_crossing);
}

/* t - r at the points of crossing lines. */
static int take_residual(hx_dist *dist, crossing *c, const double *d_r, const float *d_t)
{
    const size_t n = (size_t)c->lines.n_point;
    float *const t = (float *)c->value;
    HX_TRY(take_single(dist, c, N_VECTOR, c->d_vector, d_t, t));
    if (d_r) {
        HX_TRY(take_crossing(dist, c, N_VECTOR, c->d_vector, d_r, c->residual));
        for (int64_t k = 0; k < N_VECTOR * c->n_own; k++) t[k] -= (float)c->residual[k];
    }
    HX_TRY(fill_guests(dist, c, N_VECTOR * sizeof(float)));
    return dist->plain->upload(&dist->dev, c->d_t, t, n * N_VECTOR * sizeof(float));
}

static int solve_dist_lines(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                            float *d_t)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_mg_smoother_ops *const plain = dist->multigrid_plain->lines;
    crossing *const c = crossing_of(splitting->lines);
    const hx_mg_splitting of_crossing = {.lines = &c->lines, .d_m = c->d_m};
    if (c->lines.n > 0) HX_TRY(take_residual(dist, c, d_r, d_t));
    HX_TRY(plain->apply(dev, splitting, d_r, d_t));
    if (c->lines.n == 0) return HX_OK;
    HX_TRY(plain->apply(dev, &of_crossing, NULL, c->d_t));
    return dist->plain->vector->put_entries_single(dev, N_VECTOR * c->n_own, c->d_vector, c->d_t,
                                                   d_t);
}

int hx_dist_power_of_own(hx_dist *dist, int64_t n_own, int64_t n, const float *d_m,
                         const float *d_t, const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    hx_device *const dev = &dist->dev;
    const hx_multigrid_ops *const plain = dist->multigrid_plain;
    hx_mg_smoother smoother;
    HX_TRY(plain->lines->power(dev, n_own, d_m, d_t, d_s, d_v, d_smoother));
    HX_TRY(dist->plain->download(dev, &smoother, d_smoother, sizeof smoother));
    double sum[2] = {1.0, smoother.lambda * smoother.lambda};
    HX_TRY(hx_dist_sum(dist, 1, &sum[1]));
    HX_TRY(hx_dist_need_power(dist));
    HX_TRY(dist->plain->upload(dev, dist->d_power, sum, sizeof sum));
    return plain->vector->power_end(dev, n, d_m, d_s, dist->d_power, d_v, d_smoother);
}

/* Lines exist only for linear elements, whose own points come first. */
static int lines_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                       const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    hx_dist *const dist = hx_dist_of(dev);
    return hx_dist_power_of_own(dist, N_VECTOR * dist->subdomain.n_own, n, d_m, d_t, d_s, d_v,
                                d_smoother);
}

void hx_dist_set_lines(hx_dist *dist)
{
    dist->multigrid.lines = *dist->multigrid_plain->lines;
    dist->multigrid.ops.lines = &dist->multigrid.lines;
    dist->multigrid.lines.power = lines_power;
    dist->multigrid.lines.invert = factorise;
    dist->multigrid.lines.apply = solve_dist_lines;
}
