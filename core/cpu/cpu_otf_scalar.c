/* otf on the CPU with one unknown a node (heat): the blocks of strategy_cpu_otf.c, a kernel of its
 * own. Two parallel loops a product, every sum in one order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../base/vectorised.h"
#include "../mesh/hex8_conduction.h"
#include "cpu_otf.h"
#include "cpu_otf_vectors.h"

#define HX_OTF_GAUSS 0.57735026918962576451 /* 1 / sqrt(3) */

#define REAL double
#define LANES 8
#define NAME(x) x##_double
#define COMPUTE compute
#include "cpu_otf_scalar_lanes.inc"

#define REAL float
#define LANES 16
#define NAME(x) x##_single
#define COMPUTE compute_single
#include "cpu_otf_scalar_lanes.inc"

static int any_runs(void)
{
    return 1;
}

#if defined __x86_64__
static int avx2_runs(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int avx512_runs(void)
{
    return avx2_runs() && __builtin_cpu_supports("avx512f");
}
#endif

static const hx_cpu_otf_scalar kernels[] = {
#if defined __x86_64__
    {"avx512", avx512_runs, compute_avx512_double, compute_avx512_single},
    {"avx2", avx2_runs, compute_avx2_double, compute_avx2_single},
#endif
    {"any", any_runs, compute_any_double, compute_any_single},
    {0},
};

static size_t bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_cpu_otf_bytes(mesh, 1);
}

static void teardown(void *state)
{
    hx_cpu_otf_free(state);
}

static int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                 hx_layout layout)
{
    hx_cpu_otf *s;
    (void)dev;
    (void)layout;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator otf"));
    s->model = model;
    s->scalar = kernels;
    while (!s->scalar->runs_here()) s->scalar++;
    const int rc = hx_cpu_otf_build(s, mesh, 1);
    if (rc < 0)
        teardown(s);
    else
        *state = s;
    return rc;
}

static int64_t chunk_end(const hx_cpu_otf *s, int64_t first)
{
    return first + HX_OTF_CHUNK < s->n_shared ? first + HX_OTF_CHUNK : s->n_shared;
}

static double dot_nodes(int64_t n, const int32_t *node, const double *x, const double *y)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[node[k]] * y[node[k]];
    return sum;
}

/* y = K x; sum, unless NULL: x'y of the nodes of each block alone, then of each chunk of shared
 * ones. */
static void multiply(const hx_cpu_otf *s, const double *x, double *y, double *sum)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) {
            block_double(s, b, x, y);
            if (sum) sum[b] = dot_nodes(s->block[b].n_own, s->row_node + s->block[b].row, x, y);
        }
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK) {
            const int64_t end = chunk_end(s, k);
            shared_double(s, k, end, y);
            if (sum)
                sum[s->n_block + k / HX_OTF_CHUNK] = dot_nodes(end - k, s->shared_node + k, x, y);
        }
    }
}

static int apply(void *state, const double *d_x, double *d_y)
{
    multiply(state, d_x, d_y, NULL);
    return HX_OK;
}

static int apply_dot(void *state, const double *d_x, double *d_y, double *d_sum)
{
    const hx_cpu_otf *s = state;
    multiply(s, d_x, d_y, s->sum);
    *d_sum = hx_sum(hx_cpu_otf_count_sums(s->n_block, s->n_shared), s->sum);
    return HX_OK;
}

static int apply_single(void *state, const float *d_x, float *d_y)
{
    const hx_cpu_otf *s = state;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) block_single(s, b, d_x, d_y);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK)
            shared_single(s, k, chunk_end(s, k), d_y);
    }
    return HX_OK;
}

/* Adds the diagonal of an element to the rows of its corners, those of one node as one. */
static void add_diagonal(const double x[24], const uint16_t *corner, double modulus, double *row)
{
    int first[8];
    double d[8];
    for (int a = 0; a < 8; a++) {
        first[a] = 0;
        while (corner[first[a]] != corner[a]) first[a]++;
    }
    hx_hex8_conduction_diagonals(x, first, d);
    for (int a = 0; a < 8; a++) row[corner[a] / 4] += modulus * d[a];
}

static void block_diagonal(const hx_cpu_otf *s, int64_t block, double *d_diag)
{
    const hx_device_model *model = s->model;
    const hx_otf_block *b = s->block + block;
    const int64_t first = block * HX_OTF_BLOCK;
    const int64_t last =
        first + HX_OTF_BLOCK < model->n_elem ? first + HX_OTF_BLOCK : model->n_elem;
    double row[HX_OTF_MAX_ROW] = {0.0}, x[24];
    for (int64_t e = first; e < last; e++) {
        for (int a = 0; a < 8; a++)
            memcpy(x + 3 * a, model->d_xyz + 3 * (int64_t)model->d_conn[8 * e + a], 3 * sizeof *x);
        add_diagonal(x, s->corner + 8 * e, model->d_modulus[e], row);
    }
    for (int32_t k = 0; k < b->n_own; k++) d_diag[s->row_node[b->row + k]] = row[k];
    memcpy((double *)s->partial + b->slot, row + b->n_own, (size_t)b->n_shared * sizeof *row);
}

static int diagonal(void *state, double *d_diag)
{
    const hx_cpu_otf *s = state;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->n_block; b++) block_diagonal(s, b, d_diag);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->n_shared; k += HX_OTF_CHUNK)
            shared_double(s, k, chunk_end(s, k), d_diag);
    }
    return HX_OK;
}

static const char *variant(void *state, int i)
{
    hx_cpu_otf *s = state;
    for (const hx_cpu_otf_scalar *kernel = kernels; kernel->name; kernel++) {
        if (!kernel->runs_here() || i-- > 0) continue;
        s->scalar = kernel;
        return kernel->name;
    }
    return NULL;
}

const hx_strategy hx_strategy_cpu_otf_scalar = {
    .name = "otf",
    .device = "cpu",
    .help = "no stored Ke: on the fly from coordinates, elements in vector lanes, in blocks",
    .deterministic = 1,
    .bytes_per_elem = 44,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = bytes,
    .setup = setup,
    .apply = apply,
    .apply_dot = apply_dot,
    .diagonal = diagonal,
    .apply_single = apply_single,
    .variant = variant,
    .teardown = teardown,
};
