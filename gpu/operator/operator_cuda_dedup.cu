// dedup: congruent parallelepipeds share one stiffness matrix, applied in the modes of the
// trilinear map (hex8_parity.cuh); all other elements are computed on the fly, as in otf. It
// supports any connectivity and any order, because classes are found from the geometry only.
//
// There are patches of 256 elements of one class, and patches of 64 general elements, with common
// partial sums for the nodes that patches share.
#include <cstdlib>

#include "core/base/memory.h"
#include "core/operator/congruence.h"
#include "core/operator/operator_kind.h"
#include "diagonal_cuda.cuh"
#include "hex8_parity.cuh"
#include "operator_setup.cuh"
#include "otf_cuda.cuh"

namespace
{

constexpr int SIZE = HX_DEDUP_PATCH, ROWS = HX_DEDUP_ROWS;
using forces = hx_coloured_forces<SIZE>;
constexpr int N_RESIDENT = 2; // blocks per multiprocessor, limited by shared memory

// The matrices of a class. They are a parameter of the kernel, so that the multiplications use them
// as constants.
template <class T> struct parity {
    T matrix[HX_N_PARITY];
};

template <class T, bool BOX> struct body {
    const parity<T> &k;

    __device__ __forceinline__ void element(const hx_eight &corner, const T *,
                                            const T *displacements, T modulus, T *column) const
    {
        T v[8], m[HX_N_MODE], u[HX_N_MODE][3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_gather_corners(displacements, corner, i, v);
            hx_drop_translation(v);
            hx_to_modes(v, m);
#pragma unroll
            for (int n = 0; n < HX_N_MODE; n++) u[n][i] = m[n] * modulus;
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_parity_product<BOX>(k.matrix, u, i, m);
            hx_from_modes(m, static_cast<T>(1), v);
#pragma unroll
            for (int a = 0; a < 8; a++) column[forces::at(i, a)] = v[a];
        }
    }
};

template <class T, bool BOX>
__global__ void __launch_bounds__(SIZE, N_RESIDENT)
    kernel(hx_patch_view g, const __grid_constant__ parity<T> k, const int32_t *__restrict__ elem,
           const double *__restrict__ modulus, T *__restrict__ partial, const T *__restrict__ x,
           T *__restrict__ y)
{
    const body<T, BOX> b = {k};
    hx_run_patches<T, SIZE, 1, ROWS, forces>(g, elem, modulus, nullptr, partial, x, y, b);
}

template <class T> constexpr int N_BYTE = hx_patch_memory<T, SIZE, 1, ROWS, forces>::bytes;

struct element_class {
    bool is_box;
    // n_boundary: number of patches with interface nodes, which come first
    int64_t first_patch, n_patch, n_boundary;
    parity<double> matrices;
    parity<float> matrices_single;
};

struct dedup {
    hx_device *dev;
    const hx_device_model *model;
    hx_cuda_patches patches; // patches of the classes, then of the general elements
    int n_class;
    element_class elements[HX_MAX_CLASS];
    int64_t n_boundary;                // n_boundary of the general patches
    int32_t *d_elem;                   // items of both groups
    double *d_row_xyz;                 // of the general rows
    float *d_row_xyz_single;           // nullptr until prepared
    int n_block[2], n_block_single[2]; // numbers of resident blocks: classes, general elements
};

// Data of the set-up, on the host.
struct plan {
    hx_congruence congruence;
    hx_patch_group group[2];
    int32_t *elem; // items of both groups: each class followed by -1; then the general elements
    hx_patches patches;
};

void free_plan(plan *p)
{
    hx_congruence_free(&p->congruence);
    hx_patches_free(&p->patches);
    free(p->elem);
    free(p);
}

bool is_box(const double j[3][3])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (i != k && fabs(j[k][i]) > HX_CONGRUENCE_TOLERANCE * fabs(j[k][k])) return false;
    return true;
}

// Lists the items of both groups, each class and the general elements in ascending order.
int list_elements(plan *p, const hx_mesh *mesh)
{
    int64_t n_item;
    HX_TRY(hx_congruence_list(&p->congruence, mesh->n_elem, &p->elem, &n_item));
    p->group[0].size = SIZE;
    p->group[0].max_row = ROWS;
    p->group[0].n_item = n_item;
    p->group[0].elem = p->elem;
    p->group[0].permutes = 1;
    p->group[1].size = HX_OTF_PATCH;
    p->group[1].max_row = HX_OTF_ROWS;
    p->group[1].n_item = mesh->n_elem + p->congruence.n_class - n_item;
    p->group[1].elem = p->elem + n_item;
    return HX_OK;
}

int classify(plan *p, const hx_mesh *mesh)
{
    const int64_t few = mesh->n_elem / 256; // smaller classes do not justify a launch of their own
    HX_TRY(hx_congruence_create(&p->congruence, mesh, few > SIZE / 4 ? few : SIZE / 4));
    return list_elements(p, mesh);
}

int make_plan(plan *p, const hx_mesh *mesh)
{
    HX_TRY(classify(p, mesh));
    const int rc = hx_patches_create(&p->patches, mesh, 2, p->group);
    if (rc < 0) hx_error_prefix("operator 'dedup': ");
    return rc;
}

// The patches of a class are consecutive, with classes in order.
void set_classes(dedup *s, const plan *p)
{
    const hx_patch_group &g = p->patches.group[0];
    s->n_class = p->congruence.n_class;
    for (int k = 0; k < s->n_class; k++) {
        element_class &c = s->elements[k];
        c.is_box = is_box(p->congruence.jacobian[k]);
        hx_parity_matrices(p->congruence.jacobian[k], s->model->lambda, s->model->mu,
                           c.matrices.matrix);
        for (int i = 0; i < HX_N_PARITY; i++)
            c.matrices_single.matrix[i] = static_cast<float>(c.matrices.matrix[i]);
    }
    for (int64_t i = 0; i < g.n_patch; i++) {
        const int32_t first = p->elem[p->patches.span[g.first_patch + i].first];
        element_class &c = s->elements[p->congruence.elem_class[first]];
        if (c.n_patch++ == 0) c.first_patch = i;
    }
}

template <class T> int put(hx_device *dev, T **d_to, const T *from, int64_t n)
{
    const size_t n_bytes = static_cast<size_t>(n) * sizeof(T);
    HX_TRY(dev->ops->alloc(dev, n_bytes, d_to));
    return dev->ops->upload(dev, *d_to, from, n_bytes);
}

template <class T> int count_blocks(const dedup *s, int n_block[2])
{
    int general = 0;
    HX_TRY(hx_fused_blocks(s->dev, kernel<T, true>, SIZE, N_BYTE<T>, &n_block[0]));
    HX_TRY(hx_fused_blocks(s->dev, kernel<T, false>, SIZE, N_BYTE<T>, &general));
    if (general < n_block[0]) n_block[0] = general;
    return hx_otf_blocks<T>(s->patches, 1, &n_block[1]);
}

// Uploads the patches. In each class, and among the general elements, patches with interface nodes
// come first.
int put_patches(dedup *s, const hx_patches *patches)
{
    const int n = s->n_class;
    int64_t first[HX_MAX_CLASS + 2] = {}, n_boundary[HX_MAX_CLASS + 1];
    for (int k = 0; k < n; k++) first[k + 1] = first[k] + s->elements[k].n_patch;
    first[n + 1] = patches->n_patch;
    HX_TRY(hx_cuda_patches_put_split(&s->patches, *s->model, s->dev, patches, n + 1, first,
                                     n_boundary));
    for (int k = 0; k < n; k++) s->elements[k].n_boundary = n_boundary[k];
    s->n_boundary = n_boundary[n];
    return HX_OK;
}

int put_plan(dedup *s, const plan *p)
{
    set_classes(s, p);
    HX_TRY(put_patches(s, &p->patches));
    HX_TRY(put(s->dev, &s->d_elem, p->elem, p->group[0].n_item + p->group[1].n_item));
    HX_TRY(hx_otf_coordinates<double>(s->patches, 1, *s->model, &s->d_row_xyz));
    return count_blocks<double>(s, s->n_block);
}

// Number of bytes for a mesh whose classes could not be counted: without classes.
size_t bytes_without_classes(const hx_mesh *mesh)
{
    hx_patch_group all = {};
    all.size = HX_OTF_PATCH;
    all.max_row = HX_OTF_ROWS;
    all.n_item = mesh->n_elem;
    return hx_patches_bytes(mesh, 1, &all, 3 * sizeof(double)) +
           sizeof(int32_t) * static_cast<size_t>(mesh->n_elem);
}

// Number of bytes for the coordinates of the general rows.
size_t row_bytes(const plan *p, const hx_mesh *mesh, size_t each)
{
    return hx_patches_bytes(mesh, 1, &p->group[1], each) -
           hx_patches_bytes(mesh, 1, &p->group[1], 0);
}

// Classes store no coordinates, and their larger patches have fewer rows.
size_t count_held(const plan *p, const hx_mesh *mesh)
{
    const int64_t n_item = p->group[0].n_item + p->group[1].n_item;
    return hx_patches_bytes(mesh, 2, p->group, 0) + row_bytes(p, mesh, 3 * sizeof(double)) +
           sizeof(int32_t) * static_cast<size_t>(n_item);
}

size_t count_single(const plan *p, const hx_mesh *mesh)
{
    return row_bytes(p, mesh, 3 * sizeof(float));
}

template <class F> size_t count(const hx_mesh *mesh, F bytes_of, size_t unknown)
{
    plan *p;
    size_t n_byte = unknown;
    if (hx_alloc(&p, 1, sizeof *p, "operator dedup") < 0) return hx_error_clear(), unknown;
    if (classify(p, mesh) == HX_OK)
        n_byte = bytes_of(p, mesh);
    else
        hx_error_clear();
    free_plan(p);
    return n_byte;
}

size_t bytes(const hx_mesh *mesh, hx_layout)
{
    const size_t n_byte = count(mesh, count_held, 0);
    return n_byte > 0 ? n_byte : bytes_without_classes(mesh);
}

constexpr int SINGLE_BYTES = 28; // per element

size_t single_bytes(const hx_mesh *mesh)
{
    return count(mesh, count_single, SINGLE_BYTES * static_cast<size_t>(mesh->n_elem));
}

// Elements in no class are computed as in otf, whose products take twice as long as those of a
// class; but tetrahedra are computed with otf's eight points.
hx_promise promise(const hx_mesh *mesh)
{
    const double share = hx_congruence_share(mesh);
    if (share < 0.05) return HX_PROMISE_NONE;
    return share > 0.5 && mesh->n_kind[HX_CELL_TETRAHEDRON] == 0 ? HX_PROMISE_SURE
                                                                 : HX_PROMISE_SOME;
}

void teardown(void *state)
{
    dedup *s = static_cast<dedup *>(state);
    void *const owned[] = {s->d_elem, s->d_row_xyz, s->d_row_xyz_single};
    for (void *d_p : owned) s->dev->ops->release(s->dev, d_p);
    hx_cuda_patches_free(&s->patches);
    free(s);
}

int plan_lists(void **lists, const hx_mesh *mesh)
{
    plan *p;
    *lists = nullptr;
    HX_TRY(hx_alloc(&p, 1, sizeof *p, "operator dedup"));
    const int rc = make_plan(p, mesh);
    if (rc < 0)
        free_plan(p);
    else
        *lists = p;
    return rc;
}

size_t plan_bytes(const void *lists, size_t *n_single)
{
    const plan *p = static_cast<const plan *>(lists);
    const size_t n_general = static_cast<size_t>(p->patches.group[1].n_row);
    const int64_t n_item = p->group[0].n_item + p->group[1].n_item;
    *n_single = n_general * 3 * sizeof(float);
    return hx_patches_held(&p->patches, 0) + n_general * 3 * sizeof(double) +
           sizeof(int32_t) * static_cast<size_t>(n_item);
}

void plan_free(void *lists)
{
    free_plan(static_cast<plan *>(lists));
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    return hx_operator_kind_setup<dedup>(
        state, dev, model, "operator dedup", teardown, [&](dedup *s) {
            void *own = nullptr;
            if (!model->lists) HX_TRY(plan_lists(&own, mesh));
            const int rc = put_plan(s, static_cast<const plan *>(own ? own : model->lists));
            if (own) plan_free(own);
            return rc;
        });
}

template <class T> const parity<T> &matrices(const element_class &c);
template <> const parity<double> &matrices<double>(const element_class &c)
{
    return c.matrices;
}
template <> const parity<float> &matrices<float>(const element_class &c)
{
    return c.matrices_single;
}

template <class T>
int launch_class(const dedup &s, const element_class &c, const hx_slice &patches, int n_block,
                 const T *d_x, T *d_y)
{
    const auto run = c.is_box ? kernel<T, true> : kernel<T, false>;
    if (patches.n == 0) return HX_OK;
    run<<<hx_grid(n_block, patches.n), SIZE, N_BYTE<T>, hx_cuda_of(s.dev)->stream>>>(
        hx_view(s.patches, 0, {c.first_patch + patches.first, patches.n}), matrices<T>(c), s.d_elem,
        s.model->d_modulus, reinterpret_cast<T *>(s.patches.d_partial), d_x, d_y);
    return HX_LAUNCHED("dedup");
}

template <class T>
int launch(const dedup &s, hx_product_part part, const T *row_xyz, const int n_block[2],
           const T *d_x, T *d_y)
{
    for (int k = 0; k < s.n_class; k++) {
        const element_class &c = s.elements[k];
        const hx_slice patches = hx_slice_of(part, c.n_boundary, c.n_patch);
        HX_TRY(launch_class<T>(s, c, patches, n_block[0], d_x, d_y));
    }
    const hx_slice general = hx_slice_of(part, s.n_boundary, s.patches.group[1].n_patch);
    HX_TRY(hx_otf_launch<T>(s.patches, 1, general, *s.model, s.d_elem + s.patches.group[0].n_item,
                            row_xyz, n_block[1], d_x, d_y));
    return hx_cuda_add_shared<T>(s.patches, part, d_y);
}

int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const dedup &s = *static_cast<dedup *>(state);
    return launch<double>(s, part, s.d_row_xyz, s.n_block, d_x, d_y);
}

int diagonal(void *state, double *d_diag)
{
    const dedup &s = *static_cast<dedup *>(state);
    const int32_t *general = s.d_elem + s.patches.group[0].n_item;
    HX_TRY(hx_patches_diagonal(s.patches, 0, *s.model, s.d_elem, d_diag));
    HX_TRY(hx_patches_diagonal(s.patches, 1, *s.model, general, d_diag));
    return hx_cuda_add_shared<double>(s.patches, HX_PRODUCT_WHOLE, d_diag);
}

int prepare_single(void *state)
{
    dedup *s = static_cast<dedup *>(state);
    if (s->n_block_single[1] > 0) return HX_OK; // set last
    if (!s->d_row_xyz_single)                   // otherwise it remains from a call that failed
        HX_TRY(hx_otf_coordinates<float>(s->patches, 1, *s->model, &s->d_row_xyz_single));
    return count_blocks<float>(s, s->n_block_single);
}

int apply_part_single(void *state, hx_product_part part, const float *d_x, float *d_y)
{
    const dedup &s = *static_cast<dedup *>(state);
    return launch<float>(s, part, s.d_row_xyz_single, s.n_block_single, d_x, d_y);
}

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_dedup = {
    .name = "dedup",
    .device = "cuda",
    .help = "one Ke for all congruent parallelepipeds; other elements like otf",
    .deterministic = 1,
    .bytes_per_elem = 128,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = bytes,
    .promise = promise,
    .plan = plan_lists,
    .plan_bytes = plan_bytes,
    .plan_free = plan_free,
    .setup = setup,
    .apply = hx_whole_product<apply_part>,
    .apply_part = apply_part,
    .diagonal = diagonal,
    .single_bytes_per_elem = SINGLE_BYTES,
    .single_bytes = single_bytes,
    .prepare_single = prepare_single,
    .apply_single = hx_whole_product<apply_part_single>,
    .apply_part_single = apply_part_single,
    .teardown = teardown,
};
