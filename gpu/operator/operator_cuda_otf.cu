// otf: no stored Ke. The product of an element is computed from its coordinates (hex8_otf.cuh),
// with one thread per element and one block per patch of 64 elements at a time (patches_cuda.cuh),
// or of 384 if the mesh is large and the GPU can compute such patches (patches_wide.cuh).
// Tetrahedra are in patches of their own (tetra_cuda.cuh), with common partial sums for the nodes
// that patches share.
//
// Memory: 16 bytes of corners per element; 50 bytes per row of its patch (about 2.0 rows per
// element in a good numbering, 1.6 for wide patches, 0.7 for tetrahedra); 24 bytes per partial sum
// (1.6 and 1.0 per element); 12 more bytes per row once a product in single precision has been
// requested; 4 bytes per element if the mesh has both tetrahedra and other elements.
#include <cstdlib>

#include "core/operator/operator_kind.h"
#include "diagonal_cuda.cuh"
#include "operator_setup.cuh"
#include "otf_cuda.cuh"
#include "tetra_cuda.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_otf_scalar; // otf_scalar_cuda.cu

namespace
{

struct otf {
    hx_device *dev;
    const hx_device_model *model;
    hx_cuda_patches patches;    // of other elements, then of tetrahedra, if there are any
    int64_t n_boundary[2];      // patches of a group with interface nodes, which come first
    int32_t *d_elem;            // items of both; nullptr: item = element
    double *d_row_xyz[2];       // [n_row][3] of a group
    float *d_row_xyz_single[2]; // nullptr until prepared
    int n_block[2], n_block_single[2];
};

// Groups of all elements. *elem, owned by the caller, has their items if the mesh has elements of
// both groups; otherwise nullptr.
struct grouping {
    int n_group;
    hx_patch_group group[2];
    int32_t *elem;
};

int make_groups(const hx_mesh *mesh, bool can_be_wide, grouping *to)
{
    const int64_t n_tetra = mesh->n_kind[HX_CELL_TETRAHEDRON];
    int64_t n_other = mesh->n_elem - n_tetra;
    *to = {};
    to->n_group = n_tetra > 0 ? 2 : 1;
    const bool is_wide = can_be_wide && n_other >= hx_patches_wide_from();
    to->group[0].size = is_wide ? HX_WIDE_PATCH : HX_OTF_PATCH;
    to->group[0].max_row = is_wide ? HX_WIDE_ROWS : HX_OTF_ROWS;
    to->group[1].size = HX_TETRA_PATCH;
    to->group[1].max_row = HX_TETRA_ROWS;
    to->group[1].is_tetrahedral = 1;
    if (n_tetra > 0 && n_other > 0) {
        HX_TRY(hx_patches_list_tetrahedra(mesh, &n_other, &to->elem));
        to->group[0].elem = to->elem;
        to->group[1].elem = to->elem + n_other;
    }
    to->group[0].n_item = n_other;
    to->group[1].n_item = n_tetra;
    return HX_OK;
}

size_t bytes(const hx_mesh *mesh, hx_layout)
{
    grouping groups;
    size_t n_byte = sizeof(int32_t) * static_cast<size_t>(mesh->n_elem);
    if (make_groups(mesh, hx_cuda_may_run_90a(), &groups) == HX_OK && !groups.elem) n_byte = 0;
    n_byte += hx_patches_bytes(mesh, groups.n_group, groups.group, 3 * sizeof(double));
    free(groups.elem);
    return n_byte;
}

const int32_t *items(const otf &s, int group)
{
    return s.d_elem ? s.d_elem + (group > 0 ? s.patches.group[0].n_item : 0) : nullptr;
}

void teardown(void *state)
{
    otf *s = static_cast<otf *>(state);
    for (int g = 0; g < 2; g++) {
        s->dev->ops->release(s->dev, s->d_row_xyz[g]);
        s->dev->ops->release(s->dev, s->d_row_xyz_single[g]);
    }
    s->dev->ops->release(s->dev, s->d_elem);
    hx_cuda_patches_free(&s->patches);
    free(s);
}

// Data of the set-up, on the host.
struct plan {
    grouping groups;
    hx_patches patches;
};

void plan_free(void *lists)
{
    plan *p = static_cast<plan *>(lists);
    hx_patches_free(&p->patches);
    free(p->groups.elem);
    free(p);
}

int make_plan(void **lists, const hx_mesh *mesh, bool can_be_wide)
{
    plan *p;
    *lists = nullptr;
    HX_TRY(hx_alloc(&p, 1, sizeof *p, "operator otf"));
    int rc = make_groups(mesh, can_be_wide, &p->groups);
    if (rc == HX_OK) {
        rc = hx_patches_create(&p->patches, mesh, p->groups.n_group, p->groups.group);
        if (rc < 0) hx_error_prefix("operator 'otf': ");
    }
    if (rc < 0)
        plan_free(p);
    else
        *lists = p;
    return rc;
}

int plan_lists(void **lists, const hx_mesh *mesh)
{
    return make_plan(lists, mesh, hx_cuda_may_run_90a());
}

bool is_wide(const hx_patch_group &group)
{
    return group.size == HX_WIDE_PATCH;
}

size_t n_item(const plan *p)
{
    return static_cast<size_t>(p->groups.group[0].n_item + p->groups.group[1].n_item);
}

size_t plan_bytes(const void *lists, size_t *n_single)
{
    const plan *p = static_cast<const plan *>(lists);
    *n_single = static_cast<size_t>(p->patches.n_row) * 3 * sizeof(float);
    return hx_patches_held(&p->patches, 3 * sizeof(double)) +
           (p->groups.elem ? sizeof(int32_t) * n_item(p) : 0);
}

int put_patches(otf *s, const plan *p)
{
    const int n_group = p->patches.n_group;
    int64_t first[3] = {};
    for (int g = 0; g < n_group; g++) first[g + 1] = first[g] + p->patches.group[g].n_patch;
    HX_TRY(hx_cuda_patches_put_split(&s->patches, *s->model, s->dev, &p->patches, n_group, first,
                                     s->n_boundary));
    if (!p->groups.elem) return HX_OK;
    return hx_device_put(s->dev, &s->d_elem, p->groups.elem, n_item(p) * sizeof *p->groups.elem);
}

template <class T> int put_coordinates(otf *s, T *d_row_xyz[2], int n_block[2])
{
    for (int g = 0; g < s->patches.n_group; g++)
        if (!d_row_xyz[g]) // otherwise they remain from a call that failed
            HX_TRY(hx_otf_coordinates<T>(s->patches, g, *s->model, &d_row_xyz[g]));
    HX_TRY(hx_otf_blocks<T>(s->patches, 0, &n_block[0]));
    return s->patches.n_group > 1 ? hx_tetra_blocks<T>(s->patches, 1, &n_block[1]) : HX_OK;
}

int put(otf *s, const hx_mesh *mesh)
{
    void *own = nullptr;
    const plan *const given = static_cast<const plan *>(s->model->lists);
    const bool can_be_wide = hx_cuda_of(s->dev)->runs_90a;
    // planned before the GPU was known
    if (!given || (is_wide(given->groups.group[0]) && !can_be_wide))
        HX_TRY(make_plan(&own, mesh, can_be_wide));
    const int rc = put_patches(s, own ? static_cast<const plan *>(own) : given);
    if (own) plan_free(own);
    HX_TRY(rc);
    return put_coordinates<double>(s, s->d_row_xyz, s->n_block);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    return hx_operator_kind_setup<otf>(state, dev, model, "operator otf", teardown,
                                       [&](otf *s) { return put(s, mesh); });
}

// Data of a product in T besides the patches.
template <class T> struct resources {
    T *const *d_row_xyz;
    const int *n_block;
};

template <class T>
int launch(const otf &s, const resources<T> &r, hx_product_part part, const T *d_x, T *d_y)
{
    const hx_patch_group *g = s.patches.group;
    const auto patches = [&](int k) { return hx_slice_of(part, s.n_boundary[k], g[k].n_patch); };
    HX_TRY(hx_otf_launch<T>(s.patches, 0, patches(0), *s.model, items(s, 0), r.d_row_xyz[0],
                            r.n_block[0], d_x, d_y));
    if (s.patches.n_group > 1)
        HX_TRY(hx_tetra_launch<T>(s.patches, 1, patches(1), *s.model, items(s, 1), r.d_row_xyz[1],
                                  r.n_block[1], d_x, d_y));
    return hx_cuda_add_shared<T>(s.patches, part, d_y);
}

int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const otf &s = *static_cast<otf *>(state);
    return launch<double>(s, {s.d_row_xyz, s.n_block}, part, d_x, d_y);
}

int diagonal(void *state, double *d_diag)
{
    const otf &s = *static_cast<otf *>(state);
    HX_TRY(hx_patches_diagonal(s.patches, 0, *s.model, items(s, 0), d_diag));
    if (s.patches.n_group > 1)
        HX_TRY(hx_tetra_diagonal_launch(s.patches, 1, *s.model, items(s, 1), d_diag));
    return hx_cuda_add_shared<double>(s.patches, HX_PRODUCT_WHOLE, d_diag);
}

int prepare_single(void *state)
{
    otf *s = static_cast<otf *>(state);
    const int last = s->patches.n_group - 1;
    if (s->n_block_single[last] > 0) return HX_OK; // set last
    return put_coordinates<float>(s, s->d_row_xyz_single, s->n_block_single);
}

int apply_part_single(void *state, hx_product_part part, const float *d_x, float *d_y)
{
    const otf &s = *static_cast<otf *>(state);
    return launch<float>(s, {s.d_row_xyz_single, s.n_block_single}, part, d_x, d_y);
}

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_otf = {
    .name = "otf",
    .device = "cuda",
    .help = "no stored Ke: computed on the fly from coordinates, in patches of 64 or 384 "
            "elements, without atomics",
    .deterministic = 1,
    .bytes_per_elem = 172,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = bytes,
    .plan = plan_lists,
    .plan_bytes = plan_bytes,
    .plan_free = plan_free,
    .setup = setup,
    .apply = hx_whole_product<apply_part>,
    .apply_part = apply_part,
    .diagonal = diagonal,
    .single_bytes_per_elem = 28,
    .prepare_single = prepare_single,
    .apply_single = hx_whole_product<apply_part_single>,
    .apply_part_single = apply_part_single,
    .teardown = teardown,
    .scalar = &hx_operator_cuda_otf_scalar,
};
