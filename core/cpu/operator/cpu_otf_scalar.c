/* otf on the CPU with one unknown per node (heat conduction): the same blocks with other
 * kernels. */
#include <string.h>

#include "../../base/vectorised.h"
#include "../../mesh/hex8_conduction.h"
#include "cpu_otf.h"
#include "cpu_otf_vectors.h"

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

#define KERNEL(isa)                                                                                \
    {                                                                                              \
        .name = #isa, .runs_here = hx_cpu_##isa##_runs, .block = block_double,                     \
        .shared = shared_double, .block_single = block_single, .shared_single = shared_single,     \
        .compute = compute_##isa##_double, .compute_single = compute_##isa##_single                \
    }

#if defined __x86_64__
static const hx_cpu_otf_kernel avx512 = KERNEL(avx512), avx2 = KERNEL(avx2);
#endif
static const hx_cpu_otf_kernel any = KERNEL(any);

static const hx_cpu_otf_kernel *const kernels[] = {
#if defined __x86_64__
    &avx512,
    &avx2,
#endif
    &any,
    NULL,
};

static size_t otf_heat_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_cpu_otf_bytes(mesh, 1);
}

/* Adds the diagonal of an element to the rows of its corners. Corners that name one node count as
 * one. */
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
        hx_hex8_gather(model->d_conn + 8 * e, model->d_xyz, x);
        add_diagonal(x, s->corner + 8 * e, model->d_modulus[e], row);
    }
    for (int32_t k = 0; k < b->n_own; k++) d_diag[s->row_node[b->row + k]] = row[k];
    memcpy((double *)s->partial + b->slot, row + b->n_own, (size_t)b->n_shared * sizeof *row);
}

static int setup_otf_heat(void **state, hx_device *dev, const hx_device_model *model,
                          const hx_mesh *mesh, hx_layout layout)
{
    (void)dev;
    (void)layout;
    return hx_cpu_otf_setup(state, model, mesh, 1, kernels, block_diagonal);
}

const hx_operator_kind hx_operator_cpu_otf_scalar = {
    .name = "otf",
    .device = "cpu",
    .help = "no stored Ke: computed on the fly from coordinates, in blocks, with elements in "
            "vector lanes",
    .deterministic = 1,
    .bytes_per_elem = 44,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = otf_heat_bytes,
    .setup = setup_otf_heat,
    .apply = hx_cpu_otf_apply,
    .apply_dot = hx_cpu_otf_apply_dot,
    .diagonal = hx_cpu_otf_diagonal,
    .apply_single = hx_cpu_otf_apply_single,
    .variant = hx_cpu_otf_variant,
    .teardown = hx_cpu_otf_teardown,
};
