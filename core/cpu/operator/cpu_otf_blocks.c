/* The blocks of otf on the CPU (cpu_otf.h), and the passes over them. The blocks are distributed
 * over the threads; a product is two parallel loops, and every sum has a fixed order.
 *
 * Memory: 16 bytes of corners per element; 4 bytes per row (about 1.8 rows per element in a good
 * numbering, 8 in a random one); 28 bytes per shared row (about 1.2 per element, or 8), or 12 for
 * heat conduction; 12 bytes per shared node; 8 bytes per block and per chunk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/sum.h"
#include "../../base/vector_unit.h"
#include "../../mesh/cell.h"
#include "cpu_otf.h"

/* Numbers of rows of all blocks, of shared rows among them, and of shared nodes. */
typedef struct counts {
    int64_t n_row, n_slot, n_shared;
} counts;

/* Counts in holders[n_node] (zeroed) the blocks that contain each node. stamp[n_node] is
 * scratch. */
static counts count_rows(const hx_mesh *mesh, int32_t *stamp, int32_t *holders)
{
    counts n = {0};
    for (int64_t a = 0; a < mesh->n_node; a++) stamp[a] = -1;
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++) {
        const int32_t node = mesh->conn[k], block = (int32_t)(k / (8 * HX_OTF_BLOCK));
        if (stamp[node] == block) continue;
        stamp[node] = block;
        holders[node]++;
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        n.n_row += holders[a];
        if (holders[a] < 2) continue;
        n.n_slot += holders[a];
        n.n_shared++;
    }
    return n;
}

static int64_t count_blocks(const hx_mesh *mesh)
{
    return (mesh->n_elem + HX_OTF_BLOCK - 1) / HX_OTF_BLOCK;
}

static int64_t count_sums(int64_t n_block, int64_t n_shared)
{
    return n_block + (n_shared + HX_OTF_CHUNK - 1) / HX_OTF_CHUNK;
}

size_t hx_cpu_otf_bytes(const hx_mesh *mesh, int components)
{
    const size_t n_node = (size_t)mesh->n_node, n_block = (size_t)count_blocks(mesh);
    /* for a mesh without any order */
    counts n = {8 * mesh->n_elem, 8 * mesh->n_elem, mesh->n_node};
    int32_t *stamp = NULL, *holders = NULL;
    if (hx_alloc_raw(&stamp, n_node, sizeof *stamp, "blocks of otf") == HX_OK &&
        hx_alloc(&holders, n_node, sizeof *holders, "blocks of otf") == HX_OK)
        n = count_rows(mesh, stamp, holders);
    free(stamp);
    free(holders);
    return n_block * (sizeof(hx_otf_block) + HX_OTF_BLOCK * 8 * sizeof(uint16_t)) +
           (size_t)n.n_row * sizeof(int32_t) +
           (size_t)n.n_slot * ((size_t)components * sizeof(double) + sizeof(uint32_t)) +
           (size_t)n.n_shared * (sizeof(int32_t) + sizeof(int64_t)) + sizeof(int64_t) +
           (size_t)count_sums((int64_t)n_block, n.n_shared) * sizeof(double) +
           (components == 3 ? n_block + HX_OTF_SHAPES * sizeof(hx_otf_shape) : 0) +
           (components == 3 && mesh->n_kind[HX_CELL_TETRAHEDRON] > 0 ? n_block : 0);
}

/* Lists the rows of a block whose nodes other blocks also contain (shared = 1) or do not contain,
 * in order of first use, and stores their 4 * row in local[node]. Returns the number of rows so
 * far. */
static int32_t list_rows(hx_cpu_otf *s, const hx_mesh *mesh, int64_t block, int shared,
                         int32_t n_row, const int32_t *holders, int32_t *stamp, int32_t *local)
{
    const int64_t first = block * HX_OTF_BLOCK;
    const int64_t last = first + HX_OTF_BLOCK < mesh->n_elem ? first + HX_OTF_BLOCK : mesh->n_elem;
    for (int64_t k = 8 * first; k < 8 * last; k++) {
        const int32_t node = mesh->conn[k];
        if ((holders[node] > 1) != shared || stamp[node] == block) continue;
        stamp[node] = (int32_t)block;
        local[node] = 4 * n_row;
        s->row_node[s->block[block].row + n_row++] = node;
    }
    return n_row;
}

/* Marks the blocks that contain only tetrahedra. */
static void find_tetrahedra(hx_cpu_otf *s, const hx_mesh *mesh)
{
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < s->n_block; block++) {
        const int64_t first = block * HX_OTF_BLOCK;
        int64_t e = first;
        while (e < mesh->n_elem && e < first + HX_OTF_BLOCK &&
               hx_cell_kind_of(mesh->conn + 8 * e) == HX_CELL_TETRAHEDRON)
            e++;
        if (e < mesh->n_elem && e < first + HX_OTF_BLOCK) continue;
        s->is_tetrahedral[block] = 1;
        for (int64_t k = 0; k < HX_OTF_BLOCK; k++) {
            e = first + k < mesh->n_elem ? first + k : mesh->n_elem - 1;
            uint16_t *const corner = s->corner + 8 * (first + k), point[4];
            int at[4];
            hx_cell_tetrahedron(mesh->xyz, mesh->conn + 8 * e, at);
            for (int i = 0; i < 4; i++) point[i] = corner[at[i]]; /* the points come first */
            memcpy(corner, point, sizeof point);
        }
    }
}

static void fill_blocks(hx_cpu_otf *s, const hx_mesh *mesh, const int32_t *holders, int32_t *stamp,
                        int32_t *local)
{
    int64_t row = 0, slot = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) stamp[a] = -1;
    for (int64_t block = 0; block < s->n_block; block++) {
        hx_otf_block *b = s->block + block;
        b->row = row;
        b->slot = slot;
        b->n_own = list_rows(s, mesh, block, 0, 0, holders, stamp, local);
        row += list_rows(s, mesh, block, 1, b->n_own, holders, stamp, local);
        b->n_shared = (int32_t)(row - b->row) - b->n_own;
        slot += b->n_shared;
        for (int64_t k = 0; k < HX_OTF_BLOCK; k++) {
            const int64_t e = block * HX_OTF_BLOCK + k;
            const int32_t *conn = mesh->conn + 8 * (e < mesh->n_elem ? e : mesh->n_elem - 1);
            for (int a = 0; a < 8; a++)
                s->corner[8 * (block * HX_OTF_BLOCK + k) + a] = (uint16_t)local[conn[a]];
        }
    }
}

/* Lists the slots of shared nodes; number[n_node] is scratch. */
static void list_shared(hx_cpu_otf *s, const hx_mesh *mesh, int32_t *holders, int32_t *number)
{
    int64_t k = 0, slot = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (holders[a] < 2) continue;
        s->shared_node[k] = (int32_t)a;
        s->shared_begin[k + 1] = s->shared_begin[k] + holders[a];
        holders[a] = 0; /* from here on: number of slots listed so far */
        number[a] = (int32_t)k++;
    }
    for (int64_t block = 0; block < s->n_block; block++) {
        const hx_otf_block *b = s->block + block;
        for (int32_t i = 0; i < b->n_shared; i++, slot++) {
            const int32_t node = s->row_node[b->row + b->n_own + i];
            s->shared_slot[s->shared_begin[number[node]] + holders[node]++] = (uint32_t)slot;
        }
    }
}

static int alloc_blocks(hx_cpu_otf *s, counts n)
{
    const char *what = "blocks of otf";
    const size_t n_slot = (size_t)n.n_slot, n_shared = (size_t)n.n_shared;
    s->n_row = n.n_row;
    s->n_slot = n.n_slot;
    s->n_shared = n.n_shared;
    HX_TRY(hx_alloc(&s->block, (size_t)s->n_block, sizeof *s->block, what));
    HX_TRY(hx_alloc(&s->row_node, (size_t)n.n_row, sizeof *s->row_node, what));
    HX_TRY(hx_alloc(&s->corner, (size_t)s->n_block * HX_OTF_BLOCK, 8 * sizeof *s->corner, what));
    HX_TRY(hx_alloc(&s->partial, n_slot, (size_t)s->components * sizeof(double), what));
    HX_TRY(hx_alloc(&s->shared_node, n_shared, sizeof *s->shared_node, what));
    HX_TRY(hx_alloc(&s->shared_begin, n_shared + 1, sizeof *s->shared_begin, what));
    HX_TRY(hx_alloc(&s->shared_slot, n_slot, sizeof *s->shared_slot, what));
    return hx_alloc(&s->sum, (size_t)count_sums(s->n_block, n.n_shared), sizeof *s->sum, what);
}

static int build(hx_cpu_otf *s, const hx_mesh *mesh, int components)
{
    const size_t n_node = (size_t)mesh->n_node;
    int32_t *stamp = NULL, *holders = NULL, *local = NULL;
    int rc, exponent;
    frexp(mesh->elem_size, &exponent);
    s->unit = ldexp(1.0, exponent);
    s->components = components;
    HX_TRY_FAIL(hx_alloc_raw(&stamp, n_node, sizeof *stamp, "blocks of otf"));
    HX_TRY_FAIL(hx_alloc(&holders, n_node, sizeof *holders, "blocks of otf"));
    HX_TRY_FAIL(hx_alloc_raw(&local, n_node, sizeof *local, "blocks of otf"));
    s->n_block = count_blocks(mesh);
    HX_TRY_FAIL(alloc_blocks(s, count_rows(mesh, stamp, holders)));
    if (components == 3 && mesh->n_kind[HX_CELL_TETRAHEDRON] > 0)
        HX_TRY_FAIL(hx_alloc(&s->is_tetrahedral, (size_t)s->n_block, 1, "blocks of otf"));
    fill_blocks(s, mesh, holders, stamp, local);
    if (s->is_tetrahedral) find_tetrahedra(s, mesh);
    list_shared(s, mesh, holders, local);
    if (components == 3) HX_TRY_FAIL(hx_cpu_otf_find_shapes(s, mesh));
    rc = HX_OK;
fail:
    free(stamp);
    free(holders);
    free(local);
    return rc;
}

void hx_cpu_otf_teardown(void *state)
{
    hx_cpu_otf *const s = state;
    void *const owned[] = {s->block,          s->row_node,     s->corner,      s->partial,
                           s->shared_node,    s->shared_begin, s->shared_slot, s->sum,
                           s->is_tetrahedral, s->block_shape,  s->shape};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(s);
}

int hx_cpu_otf_setup(void **state, const hx_device_model *model, const hx_mesh *mesh,
                     int components, const hx_cpu_otf_kernel *const *kernels,
                     hx_cpu_otf_block_diagonal *block_diagonal)
{
    hx_cpu_otf *s;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator otf"));
    s->model = model;
    s->kernels = kernels;
    s->block_diagonal = block_diagonal;
    hx_cpu_otf_variant(s, 0);
    const int rc = build(s, mesh, components);
    if (rc < 0)
        hx_cpu_otf_teardown(s);
    else
        *state = s;
    return rc;
}

/* --- products --- */

static int64_t chunk_end(const hx_cpu_otf *s, int64_t first)
{
    return first + HX_OTF_CHUNK < s->n_shared ? first + HX_OTF_CHUNK : s->n_shared;
}

static double dot_numbers(int64_t n, const int32_t *node, const double *x, const double *y)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[node[k]] * y[node[k]];
    return sum;
}

static double dot_vectors(int64_t n, const int32_t *node, const double *x, const double *y)
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++)
            sum[i] += x[3 * (int64_t)node[k] + i] * y[3 * (int64_t)node[k] + i];
    return sum[0] + sum[1] + sum[2];
}

/* y = K x. If `sum` is not NULL, also x'y over the unshared nodes of each block, then over each
 * chunk of shared nodes, computed while they are in the cache. */
static void multiply_blocks(const hx_cpu_otf *s, const double *x, double *y, double *sum)
{
    double (*const dot)(int64_t, const int32_t *, const double *, const double *) =
        s->components == 3 ? dot_vectors : dot_numbers;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) {
            const hx_cpu_otf_kernel *const k = s->kernel;
            if (hx_cpu_otf_is_tetrahedral(s, b))
                k->tetrahedra(s, b, x, y);
            else
                (hx_cpu_otf_has_shape(s, b) ? k->one_shape : k->block)(s, b, x, y);
            if (sum) sum[b] = dot(s->block[b].n_own, s->row_node + s->block[b].row, x, y);
        }
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK) {
            const int64_t end = chunk_end(s, k);
            s->kernel->shared(s, k, end, y);
            if (sum) sum[s->n_block + k / HX_OTF_CHUNK] = dot(end - k, s->shared_node + k, x, y);
        }
    }
}

int hx_cpu_otf_apply(void *state, const double *d_x, double *d_y)
{
    multiply_blocks(state, d_x, d_y, NULL);
    return HX_OK;
}

int hx_cpu_otf_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum)
{
    const hx_cpu_otf *s = state;
    multiply_blocks(s, d_x, d_y, s->sum);
    *d_sum = hx_sum(count_sums(s->n_block, s->n_shared), s->sum);
    return HX_OK;
}

int hx_cpu_otf_apply_single(void *state, const float *d_x, float *d_y)
{
    const hx_cpu_otf *s = state;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) {
            const hx_cpu_otf_kernel *const k = s->kernel;
            if (hx_cpu_otf_is_tetrahedral(s, b))
                k->tetrahedra_single(s, b, d_x, d_y);
            else
                (hx_cpu_otf_has_shape(s, b) ? k->one_shape_single : k->block_single)(s, b, d_x,
                                                                                     d_y);
        }
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK)
            s->kernel->shared_single(s, k, chunk_end(s, k), d_y);
    }
    return HX_OK;
}

int hx_cpu_otf_diagonal(void *state, double *d_diag)
{
    const hx_cpu_otf *s = state;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) s->block_diagonal(s, b, d_diag);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK)
            s->kernel->shared(s, k, chunk_end(s, k), d_diag);
    }
    return HX_OK;
}

const char *hx_cpu_otf_variant(void *state, int i)
{
    hx_cpu_otf *s = state;
    for (const hx_cpu_otf_kernel *const *k = s->kernels; *k; k++) {
        if (!(*k)->runs_here() || i-- > 0) continue;
        s->kernel = *k;
        return s->kernel->name;
    }
    return NULL;
}

/* --- instruction sets: that of the vector unit in use, and those below it --- */

int hx_cpu_any_runs(void)
{
    return 1;
}

#if defined __x86_64__
int hx_cpu_avx2_runs(void)
{
    return hx_vector_unit_used() >= HX_VECTOR_AVX2;
}

int hx_cpu_avx512_runs(void)
{
    return hx_vector_unit_used() >= HX_VECTOR_AVX512;
}
#endif
