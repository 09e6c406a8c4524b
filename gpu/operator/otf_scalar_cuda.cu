// otf with one unknown per node (heat conduction): no stored Ke, one thread per element
// (hex8_conduction.cuh), one block per patch of 128 elements (core/operator/patches.h). Sums are in
// the order of the patch's lists, without atomics, and bitwise reproducible.
//
// Memory: 16 bytes of corners per element; 74 bytes per row of its patch (about 1.9 rows per
// element in a good numbering), and 12 more per row once a product in single precision has been
// requested.
#include <cstdlib>

#include "core/mesh/hex8_conduction.h"
#include "core/operator/operator_kind.h"
#include "hex8_conduction.cuh"
#include "operator_setup.cuh"
#include "otf_cuda.cuh"

namespace
{

constexpr int SIZE = 128, ROWS = 256;

// Blocks per multiprocessor: 4 blocks of 128 threads leave 128 registers per thread; 6 blocks leave
// 80.
template <class T> constexpr int N_RESIDENT = sizeof(T) == 8 ? 4 : 6;

struct otf_scalar {
    hx_device *dev;
    const hx_device_model *model;
    hx_cuda_patches patches;
    int64_t n_boundary;      // number of patches with interface nodes, which come first
    double *d_row_xyz;       // [n_row][3]
    float *d_row_xyz_single; // nullptr until prepared
};

template <class T> struct lists {
    const double *modulus;
    const T *row_xyz;
    T *partial;
    T scale;
};

// The rows' values by position, then one force per corner and place.
template <class T> struct shared_values {
    T xyz[3 * ROWS], nodal[ROWS], force[8 * (SIZE + 1)];
};

template <class T>
__device__ __forceinline__ void load_rows(const hx_patch_view &g, const hx_span &span,
                                          const T *__restrict__ row_xyz, const T *__restrict__ x,
                                          shared_values<T> &shared)
{
    const T *const from = row_xyz + 3 * (span.begin - g.first_row);
    for (int k = static_cast<int>(threadIdx.x); k < 3 * span.n; k += SIZE) shared.xyz[k] = from[k];
    for (int k = static_cast<int>(threadIdx.x); k < span.n; k += SIZE)
        shared.nodal[g.row_position[span.begin + k]] = x[g.row_node[span.begin + k] & INT32_MAX];
}

template <class T>
__device__ __forceinline__ void compute(const hx_eight &corner, T scale, shared_values<T> &shared)
{
    hx_field<T> geometry;
    T v[8], m[HX_N_MODE];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        hx_gather_corners(shared.xyz, corner, i, v);
        hx_to_modes(v, m);
        hx_field_set(m, i, geometry);
    }
#pragma unroll
    for (int c = 0; c < 8; c++) v[c] = shared.nodal[corner.v[c]];
    hx_conduction_element(geometry, scale, v);
#pragma unroll
    for (int c = 0; c < 8; c++) shared.force[c * (SIZE + 1) + threadIdx.x] = v[c];
}

// Sums the forces in the slots of each row, to y or to the row's partial sum.
template <class T>
__device__ __forceinline__ void sum_rows(const hx_patch_view &g, const hx_span &span,
                                         const shared_values<T> &shared, T *__restrict__ partial,
                                         T *__restrict__ y)
{
    for (int k = static_cast<int>(threadIdx.x); k < span.n; k += SIZE) {
        const int64_t row = span.begin + k;
        const hx_eight slot = g.row_slot[row];
        const int32_t tag = g.row_node[row];
        T sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (slot.v[i] != HX_NO_SLOT) sum += shared.force[slot.v[i]];
        if (tag < 0)
            partial[span.partial + k] = sum;
        else
            y[tag] = sum;
    }
}

template <class T>
__global__ void __launch_bounds__(SIZE, N_RESIDENT<T>)
    product_kernel(hx_patch_view g, lists<T> l, const T *__restrict__ x, T *__restrict__ y)
{
    __shared__ shared_values<T> shared;
    const hx_span span = g.span[blockIdx.x];
    const int place = static_cast<int>(threadIdx.x);
    load_rows(g, span, l.row_xyz, x, shared);
    __syncthreads();
    if (place < span.count)
        compute(g.corner[blockIdx.x * static_cast<int64_t>(SIZE) + place],
                l.scale * static_cast<T>(l.modulus[span.first + place]), shared);
    __syncthreads();
    sum_rows(g, span, shared, l.partial, y);
}

// The element's diagonal. The entry of a node that it names several times is at the first corner.
__device__ __forceinline__ void compute_diagonal(const hx_eight &corner, double modulus,
                                                 shared_values<double> &shared)
{
    double x[24], d[8];
    int first[8];
#pragma unroll
    for (int a = 0; a < 8; a++) {
        first[a] = a;
#pragma unroll
        for (int b = 7; b >= 0; b--)
            if (b < a && corner.v[b] == corner.v[a]) first[a] = b;
#pragma unroll
        for (int i = 0; i < 3; i++) x[3 * a + i] = shared.xyz[3 * corner.v[a] + i];
    }
    hx_hex8_conduction_diagonals(x, first, d);
#pragma unroll
    for (int a = 0; a < 8; a++) shared.force[a * (SIZE + 1) + threadIdx.x] = modulus * d[a];
}

__global__ void __launch_bounds__(SIZE)
    diagonal_kernel(hx_patch_view g, lists<double> l, double *__restrict__ y)
{
    __shared__ shared_values<double> shared;
    const hx_span span = g.span[blockIdx.x];
    const int place = static_cast<int>(threadIdx.x);
    const double *const from = l.row_xyz + 3 * (span.begin - g.first_row);
    for (int k = place; k < 3 * span.n; k += SIZE) shared.xyz[k] = from[k];
    __syncthreads();
    if (place < span.count)
        compute_diagonal(g.corner[blockIdx.x * static_cast<int64_t>(SIZE) + place],
                         l.modulus[span.first + place], shared);
    __syncthreads();
    sum_rows(g, span, shared, l.partial, y);
}

// y of the nodes that patches share, in the order of their rows.
template <class T>
__global__ void shared_kernel(int64_t n, const int32_t *__restrict__ node,
                              const int32_t *__restrict__ ptr, const int32_t *__restrict__ row,
                              const T *__restrict__ partial, T *__restrict__ y)
{
    const int64_t k = hx_grid_thread();
    if (k >= n) return;
    T sum = 0;
    for (int32_t r = ptr[k]; r < ptr[k + 1]; r++) sum += partial[row[r]];
    y[node[k]] = sum;
}

template <class T> int add_shared(const hx_cuda_patches &p, hx_product_part part, T *d_y)
{
    const hx_slice nodes = hx_sums_of(part, p.n_shared_boundary, p.n_shared);
    return hx_launch(p.dev, "scalar shared nodes", nodes.n, shared_kernel<T>, nodes.n,
                     p.d_shared_node + nodes.first, p.d_shared_ptr + nodes.first, p.d_shared_sum,
                     reinterpret_cast<const T *>(p.d_partial), d_y);
}

template <class T>
int launch(const otf_scalar &s, hx_product_part part, const T *d_row_xyz, const T *d_x, T *d_y)
{
    const hx_cuda_patches &p = s.patches;
    const cudaStream_t stream = hx_cuda_of(s.dev)->stream;
    T *const d_partial = reinterpret_cast<T *>(p.d_partial);
    const lists<T> l = {s.model->d_modulus, d_row_xyz, d_partial, static_cast<T>(1.0 / 512.0)};
    const hx_slice patches = hx_slice_of(part, s.n_boundary, p.group[0].n_patch);
    if (patches.n > 0) {
        product_kernel<T><<<static_cast<unsigned>(patches.n), SIZE, 0, stream>>>(
            hx_view(p, 0, patches), l, d_x, d_y);
        HX_TRY_LAUNCH("scalar otf");
    }
    return add_shared<T>(p, part, d_y);
}

// All elements of the mesh, of any kind.
hx_patch_group whole_mesh(const hx_mesh *mesh)
{
    hx_patch_group group = {};
    group.size = SIZE;
    group.max_row = ROWS;
    group.n_item = mesh->n_elem;
    return group;
}

size_t bytes(const hx_mesh *mesh, hx_layout)
{
    const hx_patch_group group = whole_mesh(mesh);
    return hx_patches_bytes(mesh, 1, &group, 3 * sizeof(double));
}

void teardown(void *state)
{
    otf_scalar *s = static_cast<otf_scalar *>(state);
    s->dev->ops->release(s->dev, s->d_row_xyz);
    s->dev->ops->release(s->dev, s->d_row_xyz_single);
    hx_cuda_patches_free(&s->patches);
    free(s);
}

int put(otf_scalar *s, const hx_mesh *mesh)
{
    hx_patches patches;
    const hx_patch_group group = whole_mesh(mesh);
    int rc = hx_patches_create(&patches, mesh, 1, &group);
    if (rc < 0) return hx_error_prefix("operator 'otf': "), rc;
    const int64_t first[2] = {0, patches.n_patch};
    rc = hx_cuda_patches_put_split(&s->patches, *s->model, s->dev, &patches, 1, first,
                                   &s->n_boundary);
    hx_patches_free(&patches);
    if (rc < 0) return rc;
    return hx_otf_coordinates<double>(s->patches, 0, *s->model, &s->d_row_xyz);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    return hx_operator_kind_setup<otf_scalar>(state, dev, model, "operator otf", teardown,
                                              [&](otf_scalar *s) { return put(s, mesh); });
}

int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const otf_scalar &s = *static_cast<otf_scalar *>(state);
    return launch<double>(s, part, s.d_row_xyz, d_x, d_y);
}

int diagonal(void *state, double *d_diag)
{
    const otf_scalar &s = *static_cast<otf_scalar *>(state);
    const hx_patch_group &g = s.patches.group[0];
    const lists<double> l = {s.model->d_modulus, s.d_row_xyz, s.patches.d_partial, 1.0};
    diagonal_kernel<<<static_cast<unsigned>(g.n_patch), SIZE, 0, hx_cuda_of(s.dev)->stream>>>(
        hx_view(s.patches, 0, hx_slice{0, g.n_patch}), l, d_diag);
    HX_TRY_LAUNCH("scalar diagonal");
    return add_shared<double>(s.patches, HX_PRODUCT_WHOLE, d_diag);
}

int prepare_single(void *state)
{
    otf_scalar *s = static_cast<otf_scalar *>(state);
    if (s->d_row_xyz_single) return HX_OK;
    return hx_otf_coordinates<float>(s->patches, 0, *s->model, &s->d_row_xyz_single);
}

int apply_part_single(void *state, hx_product_part part, const float *d_x, float *d_y)
{
    const otf_scalar &s = *static_cast<otf_scalar *>(state);
    return launch<float>(s, part, s.d_row_xyz_single, d_x, d_y);
}

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_otf_scalar = {
    .name = "otf",
    .device = "cuda",
    .help = "no stored Ke: computed on the fly from coordinates, in patches of 128 elements, "
            "without atomics",
    .deterministic = 1,
    .bytes_per_elem = 157,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = bytes,
    .setup = setup,
    .apply = hx_whole_product<apply_part>,
    .apply_part = apply_part,
    .diagonal = diagonal,
    .single_bytes_per_elem = 23,
    .prepare_single = prepare_single,
    .apply_single = hx_whole_product<apply_part_single>,
    .apply_part_single = apply_part_single,
    .teardown = teardown,
};
