#include "blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../linalg/vector_ops.h"
#include "../mesh/voxel_grid.h"

static const char what[] = "blocks of elements";

/* The grid of blocks over the whole mesh. */
typedef struct layout {
    const hx_mesh *mesh;
    int is_aligned;           /* 1: blocks of voxels */
    double lower[3], step[3]; /* lower corner, edges of a block */
    int64_t n[3];
} layout;

/* Blocks on the host, in the order of their sizes. */
typedef struct numbering {
    int64_t n;
    int most;
    int32_t *of;    /* [elements] block of an element (owned, like the next) */
    int32_t *elem;  /* [elements] by block */
    int64_t *start; /* [n + 1] first place of a block in elem */
} numbering;

static void lay_out(layout *g, const hx_mesh *mesh, int wide, double edge)
{
    hx_voxel_grid grid;
    g->mesh = mesh;
    g->is_aligned = hx_voxel_grid_find(&grid, mesh);
    for (int d = 0; d < 3; d++) {
        double extent = mesh->box_max[d] - mesh->box_min[d];
        g->lower[d] = mesh->box_min[d];
        g->step[d] = wide * edge;
        if (g->is_aligned) {
            g->lower[d] = grid.lower[d] - 0.5 * grid.step[d];
            g->step[d] = fmax(1.0, floor(wide * edge / grid.step[d] + 0.5)) * grid.step[d];
            extent = (double)grid.n[d] * grid.step[d];
        }
        g->n[d] = (int64_t)fmax(1.0, ceil(extent / g->step[d] - 1e-6));
    }
}

static uint64_t block_at(const layout *g, const double x[3])
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        const double cell = floor((x[d] - g->lower[d]) / g->step[d]);
        at[d] = cell < 0.0 ? 0 : cell < (double)g->n[d] ? (int64_t)cell : g->n[d] - 1;
    }
    return (uint64_t)((at[2] * g->n[1] + at[1]) * g->n[0] + at[0]);
}

/* Elements by cell; cell[n_elem] in that order. */
static int sort_by_cell(const layout *g, int32_t *elem, uint64_t *cell)
{
    const int64_t n = g->mesh->n_elem;
    uint64_t *key;
    HX_TRY(hx_alloc_raw(&key, (size_t)n, sizeof *key, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) {
        double x[3];
        hx_mesh_centroid(g->mesh, e, x);
        cell[e] = key[e] = block_at(g, x);
    }
    const int rc = hx_radix_sort(key, elem, n, 64);
    for (int64_t k = 0; k < n && rc == HX_OK; k++) key[k] = cell[elem[k]];
    memcpy(cell, key, (size_t)n * sizeof *cell);
    free(key);
    return rc;
}

/* Runs of equal cells are blocks; the largest come first, equal ones in the order of the grid. */
static int order_blocks(numbering *b, int64_t n_elem, const int32_t *by_cell, const uint64_t *cell)
{
    int rc;
    int64_t *first = NULL, n = 0;
    uint64_t *key = NULL;
    int32_t *order = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&first, (size_t)n_elem + 1, sizeof *first, what));
    for (int64_t k = 0; k < n_elem; k++)
        if (k == 0 || cell[k] != cell[k - 1]) first[n++] = k;
    first[n] = n_elem;
    b->n = n;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, what));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, what));
    for (int64_t i = 0; i < n; i++) key[i] = (uint64_t)(n_elem - (first[i + 1] - first[i]));
    HX_TRY_FAIL(hx_radix_sort(key, order, n, 64));
    HX_TRY_FAIL(hx_alloc(&b->start, (size_t)n + 1, sizeof *b->start, what));
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = first[order[i]], count = first[order[i] + 1] - begin;
        b->start[i + 1] = b->start[i] + count;
        memcpy(b->elem + b->start[i], by_cell + begin, (size_t)count * sizeof *b->elem);
        for (int64_t k = begin; k < begin + count; k++) b->of[by_cell[k]] = (int32_t)i;
    }
    b->most = n > 0 ? (int)b->start[1] : 0;
fail:
    free(first);
    free(key);
    free(order);
    return rc;
}

static int number_blocks(numbering *b, const layout *g)
{
    int rc;
    const size_t n = (size_t)g->mesh->n_elem;
    int32_t *by_cell = NULL;
    uint64_t *cell = NULL;
    memset(b, 0, sizeof *b);
    HX_TRY_FAIL(hx_alloc_raw(&by_cell, n, sizeof *by_cell, what));
    HX_TRY_FAIL(hx_alloc_raw(&cell, n, sizeof *cell, what));
    HX_TRY_FAIL(hx_alloc_raw(&b->of, n, sizeof *b->of, what));
    HX_TRY_FAIL(hx_alloc_raw(&b->elem, n, sizeof *b->elem, what));
    HX_TRY_FAIL(sort_by_cell(g, by_cell, cell));
    rc = order_blocks(b, g->mesh->n_elem, by_cell, cell);
fail:
    free(by_cell);
    free(cell);
    return rc;
}

static void free_numbering(numbering *b)
{
    free(b->of);
    free(b->elem);
    free(b->start);
}

/* Where block i lies: the middle of its cell, or the mean centroid of its elements. */
static void place_block(const layout *g, const numbering *b, int64_t i, double x[3])
{
    double y[3];
    hx_mesh_centroid(g->mesh, b->elem[b->start[i]], x);
    if (g->is_aligned) {
        for (int d = 0; d < 3; d++)
            x[d] = g->lower[d] + (floor((x[d] - g->lower[d]) / g->step[d]) + 0.5) * g->step[d];
        return;
    }
    for (int64_t k = b->start[i] + 1; k < b->start[i + 1]; k++) {
        hx_mesh_centroid(g->mesh, b->elem[k], y);
        for (int d = 0; d < 3; d++) x[d] += y[d];
    }
    for (int d = 0; d < 3; d++) x[d] /= (double)(b->start[i + 1] - b->start[i]);
}

/* A mesh of the blocks with only the members that cells need. The caller frees xyz and conn. */
static int make_mesh(hx_mesh *mesh, const layout *g, const numbering *b)
{
    if (b->n > INT32_MAX / 8)
        return HX_RAISE(HX_EINPUT,
                        "the balls have more than %d blocks of elements; give a larger "
                        "radius",
                        INT32_MAX / 8);
    *mesh = (hx_mesh){.n_node = 8 * b->n, .n_elem = b->n};
    mesh->total_volume = (double)b->n * g->step[0] * g->step[1] * g->step[2];
    mesh->elem_size = cbrt(g->step[0] * g->step[1] * g->step[2]);
    HX_TRY(hx_alloc_raw(&mesh->xyz, 24 * (size_t)b->n, sizeof *mesh->xyz, what));
    HX_TRY(hx_alloc_raw(&mesh->conn, 8 * (size_t)b->n, sizeof *mesh->conn, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < b->n; i++) {
        double x[3];
        place_block(g, b, i, x);
        for (int a = 0; a < 8; a++) {
            const int at[3] = {(a & 1) ^ (a >> 1 & 1), a >> 1 & 1, a >> 2};
            double *const y = mesh->xyz + 3 * (8 * i + a);
            mesh->conn[8 * i + a] = (int32_t)(8 * i + a);
            for (int d = 0; d < 3; d++) y[d] = x[d] + (at[d] - 0.5) * g->step[d];
        }
    }
    return HX_OK;
}

static int put_cells(hx_blocks *blocks, const layout *g, const numbering *b, double radius)
{
    int rc;
    hx_mesh mesh = {0};
    HX_TRY_FAIL(make_mesh(&mesh, g, b));
    blocks->outer_radius = radius + 0.5 * mesh.elem_size;
    blocks->inner_radius = radius - 0.5 * mesh.elem_size;
    HX_TRY_FAIL(
        hx_device_bins_create(&blocks->outer, blocks->dev, &mesh, blocks->outer_radius, 1, NULL));
    if (blocks->inner_radius > 0.0)
        HX_TRY_FAIL(hx_device_bins_create(&blocks->inner, blocks->dev, &mesh, blocks->inner_radius,
                                          1, NULL));
fail:
    free(mesh.xyz);
    free(mesh.conn);
    return rc;
}

/* Lists for sums over the elements of blocks, and the block of each own element. */
static int put_lists(hx_blocks *blocks, const numbering *b, int64_t first)
{
    int rc;
    int64_t *list = NULL, n = b->n;
    const int64_t longest = n > blocks->n_own ? n : blocks->n_own;
    hx_device *const dev = blocks->dev;
    HX_TRY_FAIL(hx_alloc(&blocks->n_with, (size_t)b->most, sizeof *blocks->n_with, what));
    HX_TRY_FAIL(hx_alloc(&blocks->d_member, (size_t)b->most, sizeof *blocks->d_member, what));
    HX_TRY_FAIL(hx_alloc_raw(&list, (size_t)longest, sizeof *list, what));
    blocks->most = b->most;
    for (int k = 0; k < b->most; k++) {
        while (n > 0 && b->start[n] - b->start[n - 1] <= k) n--;
        blocks->n_with[k] = n;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            list[i] = blocks->halo ? hx_halo_place(blocks->halo, first, b->elem[b->start[i] + k])
                                   : b->elem[b->start[i] + k];
        HX_TRY_FAIL(hx_device_put(dev, &blocks->d_member[k], list, (size_t)n * sizeof *list));
    }
    for (int64_t e = 0; e < blocks->n_own; e++) list[e] = b->of[first + e];
    rc = hx_device_put(dev, &blocks->d_block, list, (size_t)blocks->n_own * sizeof *list);
fail:
    free(list);
    return rc;
}

/* d_sum := sums over the elements of each block of a field of the own elements. */
static int sum_blocks(hx_blocks *blocks, const double *d_a)
{
    hx_device *const dev = blocks->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    const double *d_all = d_a;
    if (blocks->halo) {
        HX_TRY(hx_halo_fill(blocks->halo, 0, d_a));
        d_all = blocks->halo->d_value[0];
    }
    for (int k = 0; k < blocks->most; k++) {
        double *const d_to = k == 0 ? blocks->d_sum : blocks->d_part;
        HX_TRY(vector->take_entries(dev, blocks->n_with[k], blocks->d_member[k], d_all, d_to));
        if (k > 0) HX_TRY(vector->axpy(dev, blocks->n_with[k], 1.0, blocks->d_part, blocks->d_sum));
    }
    return HX_OK;
}

/* The sums of this process alone: all of them have all blocks. */
static int sum_cone(const hx_blocks *blocks, const hx_device_bins *cells, double radius,
                    const double *d_a, double *d_to)
{
    hx_device *const dev = blocks->dev;
    const hx_design_ops *const ops =
        dev->ops->interface ? hx_dist_of(dev)->plain->design : dev->ops->design;
    return ops->cone_sum(dev, cells, radius, 1, &d_a, &d_to);
}

/* d_sum := sums over the balls of the blocks, in place. */
static int sum_balls(const hx_blocks *blocks)
{
    hx_device *const dev = blocks->dev;
    double *const d_sum = blocks->d_sum, *const d_part = blocks->d_part;
    if (blocks->inner_radius > 0.0)
        HX_TRY(sum_cone(blocks, &blocks->inner, blocks->inner_radius, d_sum, d_part));
    HX_TRY(sum_cone(blocks, &blocks->outer, blocks->outer_radius, d_sum, d_sum));
    if (!(blocks->inner_radius > 0.0)) return HX_OK;
    return dev->ops->vector->subtract(dev, blocks->n, d_sum, d_part, d_sum);
}

static int make_lists(hx_blocks *blocks, const hx_problem *problem, const layout *g, double radius)
{
    int rc;
    numbering b;
    hx_dist *const dist = blocks->dev->ops->interface ? hx_dist_of(blocks->dev) : NULL;
    HX_TRY_FAIL(number_blocks(&b, g));
    blocks->n = b.n;
    blocks->n_own = problem->mesh->n_elem;
    if (dist) HX_TRY_FAIL(hx_halo_create_all(&blocks->halo, dist, 1));
    HX_TRY_FAIL(put_lists(blocks, &b, dist ? dist->subdomain.first[dist->comm->rank] : 0));
    rc = put_cells(blocks, g, &b, radius);
fail:
    free_numbering(&b);
    return rc;
}

int hx_blocks_create(hx_blocks *blocks, hx_device *dev, const hx_problem *problem, int wide,
                     double edge, double radius)
{
    int rc;
    layout g;
    double *d_volume = NULL;
    memset(blocks, 0, sizeof *blocks);
    blocks->dev = dev;
    lay_out(&g, hx_problem_whole(problem)->mesh, wide, edge);
    HX_TRY_FAIL(make_lists(blocks, problem, &g, radius));
    const size_t bytes = (size_t)blocks->n * sizeof(double);
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &blocks->d_sum));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &blocks->d_part));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &blocks->d_total));
    HX_TRY_FAIL(
        hx_device_put(dev, &d_volume, problem->volume, (size_t)blocks->n_own * sizeof *d_volume));
    HX_TRY_FAIL(sum_blocks(blocks, d_volume));
    HX_TRY_FAIL(sum_balls(blocks));
    rc = dev->ops->copy(dev, blocks->d_total, blocks->d_sum, bytes);
fail:
    dev->ops->release(dev, d_volume);
    if (rc < 0) hx_blocks_free(blocks);
    return rc;
}

size_t hx_blocks_bytes(const hx_problem *problem, int wide, double edge)
{
    const hx_mesh *const whole = hx_problem_whole(problem)->mesh;
    layout g;
    lay_out(&g, whole, wide, edge);
    const double cells = (double)g.n[0] * (double)g.n[1] * (double)g.n[2];
    const size_t n_elem = (size_t)whole->n_elem,
                 n = cells < (double)n_elem ? (size_t)cells : n_elem;
    const size_t lists = (n_elem + (size_t)problem->mesh->n_elem) * sizeof(int64_t);
    /* voxels have padded lines and tables instead of bins */
    const size_t sums = hx_device_bins_bytes((int64_t)n, 1) + 32 * n + (1 << 16);
    const size_t halo = problem->whole ? 3 * n_elem * sizeof(double) : 0;
    return lists + 2 * sums + 3 * n * sizeof(double) + halo;
}

int hx_blocks_mean(hx_blocks *blocks, const double *d_a, double *d_mean)
{
    hx_device *const dev = blocks->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    HX_TRY(sum_blocks(blocks, d_a));
    HX_TRY(sum_balls(blocks));
    HX_TRY(vector->divide(dev, blocks->n, blocks->d_sum, blocks->d_total, blocks->d_sum));
    return vector->take_entries(dev, blocks->n_own, blocks->d_block, blocks->d_sum, d_mean);
}

int hx_blocks_transpose(hx_blocks *blocks, double *d_a)
{
    hx_device *const dev = blocks->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    HX_TRY(sum_blocks(blocks, d_a));
    HX_TRY(vector->divide(dev, blocks->n, blocks->d_sum, blocks->d_total, blocks->d_sum));
    HX_TRY(sum_balls(blocks));
    return vector->take_entries(dev, blocks->n_own, blocks->d_block, blocks->d_sum, d_a);
}

void hx_blocks_free(hx_blocks *blocks)
{
    hx_device *const dev = blocks->dev;
    if (!dev) return;
    for (int k = 0; k < blocks->most && blocks->d_member; k++)
        dev->ops->release(dev, blocks->d_member[k]);
    free(blocks->d_member);
    free(blocks->n_with);
    dev->ops->release(dev, blocks->d_block);
    dev->ops->release(dev, blocks->d_sum);
    dev->ops->release(dev, blocks->d_part);
    dev->ops->release(dev, blocks->d_total);
    hx_device_bins_free(&blocks->outer, dev);
    hx_device_bins_free(&blocks->inner, dev);
    hx_halo_free(blocks->halo);
    memset(blocks, 0, sizeof *blocks);
}
