// otf: no stored Ke. The product of an element comes from its coordinates (hex8_otf.cuh), a thread
// an element, a block a patch of 64 elements at a time (patches_cuda.cuh).
//
// Memory: per element 16 bytes of corners, 74 per row of its patch (about 2.3 rows an element in a
// good order), 12 more per row once a product in single precision was asked for.
#include <cstdlib>

#include "core/solver/strategy.h"
#include "diagonal_cuda.cuh"
#include "otf_cuda.cuh"
#include "strategy_setup.cuh"

extern "C" const hx_strategy hx_strategy_cuda_otf_scalar; // otf_scalar_cuda.cu

namespace
{

struct otf {
    hx_device *dev;
    const hx_device_model *model;
    hx_cuda_patches patches;
    double *d_row_xyz;       // [n_row][3]
    float *d_row_xyz_single; // nullptr until prepared
    int n_block, n_block_single;
};

size_t bytes(const hx_mesh *mesh, hx_layout)
{
    return hx_patches_bytes(mesh, HX_OTF_PATCH, HX_OTF_ROWS, 3 * sizeof(double));
}

void teardown(void *state)
{
    otf *s = static_cast<otf *>(state);
    s->dev->ops->release(s->dev, s->d_row_xyz);
    s->dev->ops->release(s->dev, s->d_row_xyz_single);
    hx_cuda_patches_free(&s->patches);
    free(s);
}

int put(otf *s, const hx_mesh *mesh)
{
    hx_patches patches;
    hx_patch_group group = {};
    group.size = HX_OTF_PATCH;
    group.max_row = HX_OTF_ROWS;
    group.n_item = mesh->n_elem;
    int rc = hx_patches_create(&patches, mesh, 1, &group);
    if (rc < 0) return hx_error_prefix("operator 'otf': "), rc;
    rc = hx_cuda_patches_put(&s->patches, s->dev, &patches);
    hx_patches_free(&patches);
    if (rc < 0) return rc;
    HX_TRY(hx_otf_coordinates<double>(s->patches, 0, *s->model, &s->d_row_xyz));
    return hx_otf_blocks<double>(s->patches, 0, &s->n_block);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    return hx_strategy_setup<otf>(state, dev, model, "operator otf", teardown,
                                  [&](otf *s) { return put(s, mesh); });
}

int apply(void *state, const double *d_x, double *d_y)
{
    const otf &s = *static_cast<otf *>(state);
    HX_TRY(
        hx_otf_launch<double>(s.patches, 0, *s.model, nullptr, s.d_row_xyz, s.n_block, d_x, d_y));
    return hx_cuda_add_shared<double>(s.patches, d_y);
}

int diagonal(void *state, double *d_diag)
{
    const otf &s = *static_cast<otf *>(state);
    HX_TRY(
        (hx_diagonal_launch<HX_OTF_PATCH, HX_OTF_ROWS>(s.patches, 0, *s.model, nullptr, d_diag)));
    return hx_cuda_add_shared<double>(s.patches, d_diag);
}

int prepare_single(void *state)
{
    otf *s = static_cast<otf *>(state);
    if (s->d_row_xyz_single) return HX_OK;
    HX_TRY(hx_otf_coordinates<float>(s->patches, 0, *s->model, &s->d_row_xyz_single));
    return hx_otf_blocks<float>(s->patches, 0, &s->n_block_single);
}

int apply_single(void *state, const float *d_x, float *d_y)
{
    const otf &s = *static_cast<otf *>(state);
    HX_TRY(hx_otf_launch<float>(s.patches, 0, *s.model, nullptr, s.d_row_xyz_single,
                                s.n_block_single, d_x, d_y));
    return hx_cuda_add_shared<float>(s.patches, d_y);
}

hx_strategy table()
{
    hx_strategy t = {};
    t.name = "otf";
    t.device = "cuda";
    t.help = "no stored Ke: on the fly from coordinates, patches of 64 elements, no atomics";
    t.deterministic = 1;
    t.bytes_per_elem = 172;
    t.layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    t.bytes = bytes;
    t.setup = setup;
    t.apply = apply;
    t.diagonal = diagonal;
    t.single_bytes_per_elem = 28;
    t.prepare_single = prepare_single;
    t.apply_single = apply_single;
    t.teardown = teardown;
    t.scalar = &hx_strategy_cuda_otf_scalar;
    return t;
}

} // namespace

extern "C" const hx_strategy hx_strategy_cuda_otf = table();
