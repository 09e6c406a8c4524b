/* A rank's piece of the source's elements, and global properties of the mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"
#include "../mesh/hex8.h"
#include "../mesh/hilbert.h"
#include "../mesh/mesh_kinds.h"
#include "dist_mesh_internal.h"

static const char what[] = "a part of a distributed mesh";

int hx_dist_mesh_block_create(hx_dist_mesh_block *b, int64_t n_elem)
{
    const size_t n = n_elem < 1                    ? 1
                     : n_elem < HX_DIST_MESH_BLOCK ? (size_t)n_elem
                                                   : HX_DIST_MESH_BLOCK;
    memset(b, 0, sizeof *b);
    HX_TRY(hx_alloc_raw(&b->elem, n, sizeof *b->elem, what));
    HX_TRY(hx_alloc_raw(&b->node, 8 * n, sizeof *b->node, what));
    HX_TRY(hx_alloc_raw(&b->in_set, n, sizeof *b->in_set, what));
    return hx_alloc_raw(&b->xyz, 24 * n, sizeof *b->xyz, what);
}

void hx_dist_mesh_block_free(hx_dist_mesh_block *b)
{
    free(b->elem);
    free(b->node);
    free(b->xyz);
    free(b->in_set);
    memset(b, 0, sizeof *b);
}

int hx_dist_mesh_n_block(const hx_dist_mesh_task *task, int64_t n, int64_t *n_block)
{
    /* NOLINTNEXTLINE(bugprone-integer-division): rounded up */
    double most = (double)((n + HX_DIST_MESH_BLOCK - 1) / HX_DIST_MESH_BLOCK);
    HX_TRY(hx_reduce_max(task->reduce, 1, &most));
    *n_block = (int64_t)most;
    return HX_OK;
}

int64_t hx_dist_mesh_block_take(hx_dist_mesh_block *b, int64_t i, int64_t n, const int64_t *elem,
                                int64_t first)
{
    const int64_t at = i * HX_DIST_MESH_BLOCK, left = n - at;
    b->n = left < 0 ? 0 : left < HX_DIST_MESH_BLOCK ? left : HX_DIST_MESH_BLOCK;
    for (int64_t k = 0; k < b->n; k++) b->elem[k] = elem ? elem[at + k] : first + at + k;
    return at;
}

int hx_dist_mesh_block_fill(const hx_dist_mesh_task *task, hx_dist_mesh_block *b, int corners)
{
    HX_TRY(hx_source_elements(task->source, b->n, b->elem, b->node, b->in_set));
    return corners ? hx_source_nodes(task->source, 8 * b->n, b->node, b->xyz, NULL) : HX_OK;
}

void hx_dist_mesh_block_conn(const hx_dist_mesh_block *b, int64_t k, int32_t conn[8])
{
    const int64_t *const node = b->node + 8 * k;
    for (int a = 0; a < 8; a++) {
        int first = 0;
        while (node[first] != node[a]) first++;
        conn[a] = (int32_t)(8 * k + first);
    }
}

/* Properties of a number of elements. */
typedef struct findings {
    double low[3], high[3], half[3], volume, aspect;
    hx_kinds kinds;
    int is_mixed, is_exact; /* is_exact: compute the exact volume of hexahedra in `kinds` */
} findings;

static const findings nothing = {.low = {INFINITY, INFINITY, INFINITY},
                                 .high = {-INFINITY, -INFINITY, -INFINITY}};

/* faster than fmin and fmax, which are function calls */
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger_bound(double a, double b)
{
    return a > b ? a : b;
}

/* Returns longest over shortest edge of the bounding box of eight points. */
static double aspect_of(const double x[24])
{
    double least = INFINITY, most = 0.0;
    for (int d = 0; d < 3; d++) {
        double low = x[d], high = x[d];
        for (int a = 1; a < 8; a++) {
            low = smaller(low, x[3 * a + d]);
            high = larger_bound(high, x[3 * a + d]);
        }
        least = smaller(least, high - low);
        most = larger_bound(most, high - low);
    }
    return most / least;
}

static void look_at_element(const hx_dist_mesh_block *b, int64_t k, double centroid[3],
                            uint8_t *weight, findings *f)
{
    const double *const x = b->xyz + 24 * k;
    int32_t conn[8];
    double inverse[3][3];
    hx_dist_mesh_block_conn(b, k, conn);
    hx_cell_centroid(b->xyz, conn, centroid);
    *weight = (uint8_t)hx_partition_weight(conn);
    const double volume = 8.0 * hx_hex8_jacobian(x, 0.0, 0.0, 0.0, inverse);
    f->is_mixed |= *weight != 8;
    f->volume += volume;
    if (*weight != 8 || f->is_exact) {
        hx_kinds_add(&f->kinds, b->xyz, conn);
    } else {
        f->kinds.n[HX_CELL_HEXAHEDRON]++;
        f->kinds.volume[HX_CELL_HEXAHEDRON] += volume;
    }
    f->aspect += aspect_of(x);
    for (int a = 0; a < 8; a++)
        for (int d = 0; d < 3; d++) {
            f->low[d] = smaller(f->low[d], x[3 * a + d]);
            f->high[d] = larger_bound(f->high[d], x[3 * a + d]);
            f->half[d] = larger_bound(f->half[d], fabs(x[3 * a + d] - centroid[d]));
        }
}

static void add_findings(findings *to, const findings *f)
{
    for (int d = 0; d < 3; d++) {
        to->low[d] = smaller(to->low[d], f->low[d]);
        to->high[d] = larger_bound(to->high[d], f->high[d]);
        to->half[d] = larger_bound(to->half[d], f->half[d]);
    }
    to->volume += f->volume;
    hx_kinds_join(&to->kinds, &f->kinds);
    to->aspect += f->aspect;
    to->is_mixed |= f->is_mixed;
}

static void look_at_block(const hx_dist_mesh_block *b, int64_t at, hx_dist_mesh_piece *p,
                          findings *f)
{
    findings part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        part[i] = nothing;
        part[i].is_exact = f->is_exact;
        for (int64_t k = hx_part_begin(b->n, i); k < hx_part_begin(b->n, i + 1); k++)
            look_at_element(b, k, p->centroid[at + k], &p->weight[at + k], &part[i]);
    }
    for (int i = 0; i < HX_N_PART; i++) add_findings(f, &part[i]);
}

static int look_at_all(const hx_dist_mesh_task *task, hx_dist_mesh_piece *p, hx_dist_mesh_block *b,
                       findings *f)
{
    int64_t n_block;
    HX_TRY(hx_dist_mesh_n_block(task, p->n, &n_block));
    for (int64_t i = 0; i < n_block; i++) {
        const int64_t at = hx_dist_mesh_block_take(b, i, p->n, NULL, p->first);
        HX_TRY(hx_dist_mesh_block_fill(task, b, 1));
        look_at_block(b, at, p, f);
    }
    return HX_OK;
}

/* Combines the properties over all ranks. */
static int join_findings(const hx_dist_mesh_task *task, hx_dist_mesh_piece *p, findings *f)
{
    double most[10];
    for (int d = 0; d < 3; d++) {
        most[d] = -f->low[d];
        most[3 + d] = f->high[d];
        most[6 + d] = f->half[d];
    }
    most[9] = f->is_mixed;
    HX_TRY(hx_reduce_max(task->reduce, 10, most));
    double sum[2] = {f->volume, f->aspect};
    HX_TRY(hx_reduce_sum(task->reduce, 2, sum));
    for (int d = 0; d < 3; d++) {
        p->low[d] = -most[d];
        p->high[d] = most[3 + d];
        p->half[d] = most[6 + d];
    }
    p->volume = sum[0];
    p->aspect = sum[1] / (double)task->source->n_elem;
    HX_TRY(hx_kinds_sum(task->reduce, &f->kinds));
    p->elem_size = hx_kinds_size(&f->kinds);
    if (!(p->volume > 0.0) || !(p->elem_size > 0.0) || !isfinite(p->volume))
        return HX_RAISE(HX_EINPUT,
                        "%s: the total volume of the elements is %g; elements are inside out, or "
                        "coordinates of nodes are wrong",
                        task->source->name, p->volume);
    if (most[9] != 0.0) return HX_OK;
    free(p->weight);
    p->weight = NULL;
    return HX_OK;
}

static int sort_keys(const hx_dist_mesh_task *task, hx_dist_mesh_piece *p)
{
    hx_hilbert curve;
    uint64_t *copy;
    hx_hilbert_lay(&curve, p->low, p->high, p->volume / (double)task->source->n_elem);
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < p->n; at += HX_HILBERT_BLOCK) {
        const int64_t left = p->n - at;
        hx_hilbert_keys(&curve, left < HX_HILBERT_BLOCK ? (int)left : HX_HILBERT_BLOCK,
                        (const double(*)[3])p->centroid + at, p->key + at);
    }
    HX_TRY(hx_alloc_raw(&copy, (size_t)p->n, sizeof *copy, what));
    memcpy(copy, p->key, (size_t)p->n * sizeof *copy);
    const int rc = hx_radix_sort(copy, p->sorted, p->n, 3 * HX_HILBERT_BITS);
    free(copy);
    return rc;
}

int hx_dist_mesh_piece_create(hx_dist_mesh_piece *p, const hx_dist_mesh_task *task)
{
    hx_dist_mesh_block block = {0};
    findings f = nothing;
    int rc;
    f.is_exact = !task->source->is_local;
    memset(p, 0, sizeof *p);
    p->first = hx_comm_piece(task->comm, task->source->n_elem, task->comm->rank);
    p->n = hx_comm_piece(task->comm, task->source->n_elem, task->comm->rank + 1) - p->first;
    HX_TRY_FAIL(hx_alloc_raw(&p->centroid, (size_t)p->n, sizeof *p->centroid, what));
    HX_TRY_FAIL(hx_alloc_raw(&p->weight, (size_t)p->n, sizeof *p->weight, what));
    HX_TRY_FAIL(hx_alloc_raw(&p->key, (size_t)p->n, sizeof *p->key, what));
    HX_TRY_FAIL(hx_alloc_raw(&p->sorted, (size_t)p->n, sizeof *p->sorted, what));
    HX_TRY_FAIL(hx_dist_mesh_block_create(&block, p->n));
    HX_TRY_FAIL(look_at_all(task, p, &block, &f));
    HX_TRY_FAIL(join_findings(task, p, &f));
    rc = sort_keys(task, p);
fail:
    hx_dist_mesh_block_free(&block);
    if (rc < 0) hx_dist_mesh_piece_free(p);
    return rc;
}

void hx_dist_mesh_piece_free(hx_dist_mesh_piece *p)
{
    free(p->centroid);
    free(p->weight);
    free(p->key);
    free(p->sorted);
    p->centroid = NULL;
    p->weight = NULL;
    p->key = NULL;
    p->sorted = NULL;
}
