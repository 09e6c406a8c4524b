// voxels: a mesh of equal bricks at places of a regular grid (core/operator/voxel_lists.h), in any
// order, is multiplied place by place; any other mesh as by dedup.
//
// A thread processes a column of nodes along z and the column of elements above it; a block has
// WIDE x HIGH such columns. It proceeds upwards layer by layer. For each layer of nodes it keeps
// the sums and differences over the four node columns of its elements, which together with those of
// the next layer are the modes of the trilinear map (hex8_otf.cuh), and the forces to which
// elements above still contribute. Values and forces are exchanged with neighbouring threads
// through shared memory, once per layer. A warp has 8 x 4 columns, whose nodes and elements a
// space-filling curve has numbered close to each other. The outermost columns of a block overlap
// with other blocks. There are no lists except two of places, and no partial sums; results are
// bitwise reproducible.
#include <cstdlib>

#include "../device/fields_cuda.cuh"
#include "../matrix/product_parts.cuh"
#include "core/operator/voxel_blocks.h"
#include "hex8_parity.cuh"
#include "operator_setup.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_dedup;

namespace
{

// Numbers of columns of a block and of a warp, and of a block's own columns; number of layers of a
// block, at most so many that blocks on a subdomain, which fills only some of its grid, are not
// mostly empty.
constexpr int WIDE = 8, HIGH = 8, WARP_WIDE = 8, WARP_HIGH = 4;
constexpr int THREADS = WIDE * HIGH, OWN_X = WIDE - 2, OWN_Y = HIGH - 2, LEAST_DEPTH = 8,
              MOST_DEPTH = 32;

// Distance of rows in shared memory, such that the four rows of a warp are in different banks.
constexpr int PITCH = WIDE % 16 == 8 ? WIDE : WIDE + 8;
static_assert(PITCH % 16 == 8, "the rows of a warp would be in the same banks");

// Number of blocks per multiprocessor, limited by registers.
template <class T> constexpr int N_RESIDENT = sizeof(T) == 8 ? 8 : 12;

template <class T> struct parity {
    T matrix[HX_N_PARITY];
};

struct grid_view {
    int n[3];             // numbers of elements along x, y, z
    int tile[2];          // numbers of blocks along x and y
    int depth;            // number of layers of nodes of a block
    int32_t *elem, *node; // element and node at a place; -1: none
    int32_t *block;       // blocks that have nodes, tile by tile and in each tile layer by layer
};

struct plan {
    hx_voxel_lists lists; // n[0] = 0: `other` has the mesh
    void *other;          // plan of dedup
};

struct voxels {
    hx_device *dev;
    const hx_device_model *model;
    grid_view grid; // its lists are owned; n[0] = 0: `other` multiplies
    // number of blocks; number of blocks with interface nodes, which come first
    int n_block, n_boundary;
    parity<double> matrices;
    parity<float> matrices_single;
    double diagonal[3]; // contribution of each element to a node's diagonal entry, for unit modulus
    hx_device_model other_model;
    void *other;
};

// What a column of elements keeps of a layer of nodes, for one component: the value at its own node
// and, over the four nodes, the sum of the differences from it and the differences along x, along
// y, and along both.
template <class T> struct layer_modes {
    T own, sum, x, y, xy;
};

template <class T> __device__ __forceinline__ layer_modes<T> modes_of(T v00, T v10, T v01, T v11)
{
    const T d0 = v10 - v00, d1 = v11 - v01, e0 = v01 - v00;
    layer_modes<T> m;
    m.own = v00;
    m.x = d0 + d1;
    m.xy = d1 - d0;
    m.y = (e0 + e0) + m.xy;
    m.sum = (d0 + e0) + (e0 + d1);
    return m;
}

// The modes of an element between two layers, times its modulus.
template <class T>
__device__ __forceinline__ void join_layers(const layer_modes<T> &low, const layer_modes<T> &high,
                                            T modulus, int i, T (&u)[HX_N_MODE][3])
{
    const T lift = high.own - low.own;
    u[HX_R][i] = (high.x + low.x) * modulus;
    u[HX_S][i] = (high.y + low.y) * modulus;
    u[HX_T][i] = ((high.sum - low.sum) + static_cast<T>(4) * lift) * modulus;
    u[HX_RS][i] = (high.xy + low.xy) * modulus;
    u[HX_RT][i] = (high.x - low.x) * modulus;
    u[HX_ST][i] = (high.y - low.y) * modulus;
    u[HX_RST][i] = (high.xy - low.xy) * modulus;
}

// Forces on a layer: the parts that are constant, along x, along y, and along both.
template <class T> struct layer_forces {
    T constant, x, y, xy;
};

// Adds an element's forces to the layer below, which is then complete; returns those on the layer
// above.
template <class T>
__device__ __forceinline__ layer_forces<T> split_forces(const T (&f)[HX_N_MODE],
                                                        layer_forces<T> &low)
{
    low.constant -= f[HX_T];
    low.x += f[HX_R] - f[HX_RT];
    low.y += f[HX_S] - f[HX_ST];
    low.xy += f[HX_RS] - f[HX_RST];
    return {f[HX_T], f[HX_R] + f[HX_RT], f[HX_S] + f[HX_ST], f[HX_RS] + f[HX_RST]};
}

// The data of a column in memory, loaded at least one layer before it is used.
template <class T> struct column {
    const grid_view &g;
    const double *__restrict__ modulus;
    const T *__restrict__ x;
    const int32_t *node, *elem; // at layer 0
    bool has_node, has_elem;

    __device__ __forceinline__ int32_t node_at(int layer) const
    {
        const bool is_there = has_node && layer >= 0 && layer <= g.n[2];
        return is_there ? node[static_cast<int64_t>(layer) * (g.n[0] + 1) * (g.n[1] + 1)] : -1;
    }
    __device__ __forceinline__ int32_t elem_at(int layer) const
    {
        const bool is_there = has_elem && layer >= 0 && layer < g.n[2];
        return is_there ? elem[static_cast<int64_t>(layer) * g.n[0] * g.n[1]] : -1;
    }
    __device__ __forceinline__ void load(int32_t id, T (&v)[3]) const
    {
        const T *const from = x + 3 * static_cast<int64_t>(id);
#pragma unroll
        for (int a = 0; a < 3; a++) v[a] = id >= 0 ? from[a] : static_cast<T>(0);
    }
    __device__ __forceinline__ T modulus_of(int32_t id) const
    {
        return id >= 0 ? static_cast<T>(modulus[id]) : static_cast<T>(0);
    }
};

// Data exchanged with neighbouring threads, in alternating buffers: nodal values, and forces on the
// next nodes along x, along y, and along both.
template <class T> struct shared_columns {
    T value[2][3][HIGH * PITCH], force[2][3][3][HIGH * PITCH];
};

template <class T>
__device__ __forceinline__ layer_modes<T> modes_at(T own, const T (&value)[HIGH * PITCH], int at)
{
    return modes_of(own, value[at + 1], value[at + PITCH], value[at + PITCH + 1]);
}

// Distributes the forces on a layer: returns the part of the thread's own node, and stores those of
// the others for their threads.
template <class T>
__device__ __forceinline__ T pass_on(const layer_forces<T> &f, T (&force)[3][HIGH * PITCH], int at)
{
    const T low = f.constant - f.y, high = f.constant + f.y, a = f.x - f.xy, b = f.x + f.xy;
    force[0][at] = low + a;
    force[1][at] = high - b;
    force[2][at] = high + b;
    return low - a;
}

template <class T> __device__ __forceinline__ T passed_on(const T (&force)[3][HIGH * PITCH], int at)
{
    return force[0][at - 1] + (force[1][at - PITCH] + force[2][at - PITCH - 1]);
}

// Processes the layers of nodes [begin, end) of the column at place `at` of a block. inner: for the
// outermost columns, which lack neighbours, the nearest column that has all of them.
template <class T>
__device__ __forceinline__ void climb(const column<T> &c, const parity<T> &k, int begin, int end,
                                      int at, int inner, bool is_own, shared_columns<T> &shared,
                                      T *__restrict__ y)
{
    // nodes of layers l - 1 .. l + 2
    int32_t id[4] = {-1, -1, c.node_at(begin), c.node_at(begin + 1)};
    int32_t elem = c.elem_at(begin); // element of layer l + 1
    T modulus = c.modulus_of(c.elem_at(begin - 1)), v[3], own[3] = {};
    layer_modes<T> low[3];
    layer_forces<T> sum[3] = {};
    c.load(c.node_at(begin - 1), v);
#pragma unroll
    for (int a = 0; a < 3; a++) shared.value[0][a][at] = v[a];
    __syncthreads();
#pragma unroll
    for (int a = 0; a < 3; a++) low[a] = modes_at(v[a], shared.value[0][a], inner);
    c.load(id[2], v); // values of layer l + 1
    for (int l = begin - 1, turn = 1;; l++, turn ^= 1) {
#pragma unroll
        for (int a = 0; a < 3; a++) shared.value[turn][a][at] = v[a];
        __syncthreads();
        if (is_own && l > begin && id[0] >= 0) { // the layer below is complete
            T *const to = y + 3 * static_cast<int64_t>(id[0]);
#pragma unroll
            for (int a = 0; a < 3; a++) to[a] = own[a] + passed_on(shared.force[turn ^ 1][a], at);
        }
        if (l == end) break;
        const T here = modulus;
        T u[HX_N_MODE][3];
#pragma unroll
        for (int a = 0; a < 3; a++) {
            const layer_modes<T> high = modes_at(v[a], shared.value[turn][a], inner);
            join_layers(low[a], high, here, a, u);
            low[a] = high;
        }
        c.load(id[3], v);
        modulus = c.modulus_of(elem);
        elem = c.elem_at(l + 2);
#pragma unroll
        for (int n = 0; n < 3; n++) id[n] = id[n + 1];
        id[3] = c.node_at(l + 3);
#pragma unroll
        for (int a = 0; a < 3; a++) {
            T f[HX_N_MODE];
            hx_parity_product<true>(k.matrix, u, a, f);
            const layer_forces<T> above = split_forces(f, sum[a]);
            own[a] = pass_on(sum[a], shared.force[turn][a], at);
            sum[a] = above;
        }
    }
}

template <class T>
__global__ void __launch_bounds__(THREADS, N_RESIDENT<T>)
    product_kernel(const __grid_constant__ grid_view g, const __grid_constant__ parity<T> k,
                   const double *__restrict__ modulus, const T *__restrict__ x, T *__restrict__ y)
{
    extern __shared__ __align__(16) char memory[];
    shared_columns<T> &shared = *reinterpret_cast<shared_columns<T> *>(memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int column_x = warp % (WIDE / WARP_WIDE) * WARP_WIDE + lane % WARP_WIDE,
              column_y = warp / (WIDE / WARP_WIDE) * WARP_HIGH + lane / WARP_WIDE;
    const int block = g.block[blockIdx.x], tile = block % (g.tile[0] * g.tile[1]);
    const int i = tile % g.tile[0] * OWN_X + column_x - 1,
              j = tile / g.tile[0] * OWN_Y + column_y - 1;
    const int begin = block / (g.tile[0] * g.tile[1]) * g.depth,
              end = min(begin + g.depth, g.n[2] + 1);
    const bool is_own = column_x > 0 && column_x <= OWN_X && column_y > 0 && column_y <= OWN_Y;
    const column<T> c = {g,
                         modulus,
                         x,
                         g.node + j * (g.n[0] + 1) + i,
                         g.elem + j * g.n[0] + i,
                         i >= 0 && i <= g.n[0] && j >= 0 && j <= g.n[1],
                         i >= 0 && i < g.n[0] && j >= 0 && j < g.n[1]};
    climb(c, k, begin, end, column_y * PITCH + column_x,
          min(column_y, HIGH - 2) * PITCH + min(column_x, WIDE - 2), is_own, shared, y);
}

// The diagonal, one thread per place of a node: each of its elements contributes the same number
// times its modulus.
__global__ void __launch_bounds__(HX_BLOCK)
    diagonal_kernel(const __grid_constant__ grid_view g, const double *__restrict__ modulus,
                    double dx, double dy, double dz, double *__restrict__ diag)
{
    const int64_t p = hx_grid_thread();
    const int nx = g.n[0] + 1, ny = g.n[1] + 1;
    if (p >= static_cast<int64_t>(nx) * ny * (g.n[2] + 1)) return;
    const int32_t id = g.node[p];
    const int i = static_cast<int>(p % nx), j = static_cast<int>(p / nx % ny),
              k = static_cast<int>(p / nx / ny);
    if (id < 0) return;
    double sum = 0.0;
    for (int c = 0; c < 8; c++) {
        const int x = i - (c & 1), y = j - (c >> 1 & 1), z = k - (c >> 2);
        if (x < 0 || y < 0 || z < 0 || x >= g.n[0] || y >= g.n[1] || z >= g.n[2]) continue;
        const int32_t elem = g.elem[(static_cast<int64_t>(z) * g.n[1] + y) * g.n[0] + x];
        if (elem >= 0) sum += modulus[elem];
    }
    double *const to = diag + 3 * static_cast<int64_t>(id);
    to[0] = dx * sum;
    to[1] = dy * sum;
    to[2] = dz * sum;
}

// --- set-up ---

void free_plan(plan *p)
{
    hx_voxel_lists_free(&p->lists);
    if (p->other) hx_operator_cuda_dedup.plan_free(p->other);
    free(p);
}

int plan_lists(void **lists, const hx_mesh *mesh)
{
    plan *p;
    *lists = nullptr;
    HX_TRY(hx_alloc(&p, 1, sizeof *p, "operator voxels"));
    int rc = hx_voxel_lists_create(&p->lists, mesh);
    if (rc == HX_OK && p->lists.n[0] == 0) rc = hx_operator_cuda_dedup.plan(&p->other, mesh);
    if (rc < 0)
        free_plan(p);
    else
        *lists = p;
    return rc;
}

size_t list_bytes(const hx_voxel_lists *v)
{
    return sizeof(int32_t) * static_cast<size_t>(hx_voxel_lists_elems(v) + hx_voxel_lists_nodes(v) +
                                                 1 + hx_voxel_lists_nodes(v) / LEAST_DEPTH);
}

size_t plan_bytes(const void *lists, size_t *n_single)
{
    const plan *const p = static_cast<const plan *>(lists);
    if (p->lists.n[0] == 0) return hx_operator_cuda_dedup.plan_bytes(p->other, n_single);
    *n_single = 0;
    return list_bytes(&p->lists);
}

void plan_free(void *lists)
{
    free_plan(static_cast<plan *>(lists));
}

size_t bytes(const hx_mesh *mesh, hx_layout layout)
{
    hx_voxel_lists v;
    size_t n_byte = 0;
    if (hx_voxel_lists_create(&v, mesh) < 0) hx_error_clear();
    if (v.n[0] > 0) n_byte = list_bytes(&v);
    hx_voxel_lists_free(&v);
    return n_byte > 0 ? n_byte : hx_operator_cuda_dedup.bytes(mesh, layout);
}

size_t single_bytes(const hx_mesh *mesh)
{
    hx_voxel_lists v;
    if (hx_voxel_lists_create(&v, mesh) < 0) hx_error_clear();
    const bool has_grid = v.n[0] > 0;
    hx_voxel_lists_free(&v);
    return has_grid ? 0 : hx_operator_cuda_dedup.single_bytes(mesh);
}

hx_promise promise(const hx_mesh *mesh)
{
    return hx_voxel_grid_is_likely(mesh) ? HX_PROMISE_SURE : HX_PROMISE_NONE;
}

// Sets the matrices of boxes with these edges; the diagonal is computed with unit displacements.
void set_matrices(voxels *s, const double edge[3])
{
    double j[3][3] = {};
    for (int d = 0; d < 3; d++) j[d][d] = 0.5 * edge[d];
    hx_parity_matrices(j, s->model->lambda, s->model->mu, s->matrices.matrix);
    for (int n = 0; n < HX_N_PARITY; n++)
        s->matrices_single.matrix[n] = static_cast<float>(s->matrices.matrix[n]);
    for (int i = 0; i < 3; i++) {
        double v[8] = {1.0}, m[HX_N_MODE], u[HX_N_MODE][3] = {};
        hx_to_modes(v, m);
        for (int n = 0; n < HX_N_MODE; n++) u[n][i] = m[n];
        hx_parity_product<true>(s->matrices.matrix, u, i, m);
        hx_from_modes(m, 1.0, v);
        s->diagonal[i] = v[0];
    }
}

// Lists the blocks that have nodes.
int put_blocks(voxels *s, const hx_voxel_lists &v)
{
    grid_view &g = s->grid;
    const hx_voxel_tiling tiling = {{OWN_X, OWN_Y}, {g.tile[0], g.tile[1]}, g.depth};
    const hx_device_model *m = s->model;
    int32_t *block;
    int rc = hx_voxel_blocks_list(&v, &tiling, m->n_node, m->n_interface, m->interface, &s->n_block,
                                  &s->n_boundary, &block);
    if (rc == HX_OK)
        rc =
            hx_device_put(s->dev, &g.block, block, static_cast<size_t>(s->n_block) * sizeof *block);
    free(block);
    return rc;
}

template <class T> int allow_memory()
{
    return HX_CUDA(cudaFuncSetAttribute(product_kernel<T>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(sizeof(shared_columns<T>))));
}

int put_lists(voxels *s, const hx_voxel_lists &v)
{
    grid_view &g = s->grid;
    for (int d = 0; d < 3; d++) g.n[d] = static_cast<int>(v.n[d]);
    g.tile[0] = (g.n[0] + OWN_X) / OWN_X;
    g.tile[1] = (g.n[1] + OWN_Y) / OWN_Y;
    // such that there are several blocks for each place where one can run
    const int want = 8 * hx_cuda_of(s->dev)->n_sm, n_tile = g.tile[0] * g.tile[1];
    const int parts = want / n_tile > 1 ? want / n_tile : 1;
    const int depth = (g.n[2] + parts) / parts;
    g.depth = depth < LEAST_DEPTH ? LEAST_DEPTH : depth < MOST_DEPTH ? depth : MOST_DEPTH;
    set_matrices(s, v.edge);
    HX_TRY(allow_memory<double>());
    HX_TRY(allow_memory<float>());
    HX_TRY(put_blocks(s, v));
    HX_TRY(hx_device_put(s->dev, &g.elem, v.elem,
                         static_cast<size_t>(hx_voxel_lists_elems(&v)) * sizeof *v.elem));
    return hx_device_put(s->dev, &g.node, v.node,
                         static_cast<size_t>(hx_voxel_lists_nodes(&v)) * sizeof *v.node);
}

int put_plan(voxels *s, const plan *p, const hx_mesh *mesh)
{
    if (p->lists.n[0] > 0) return put_lists(s, p->lists);
    s->other_model = *s->model;
    s->other_model.lists = p->other;
    const int rc = hx_operator_cuda_dedup.setup(&s->other, s->dev, &s->other_model, mesh,
                                                HX_LAYOUT_INTERLEAVED);
    s->other_model.lists = nullptr;
    return rc;
}

void teardown(void *state)
{
    voxels *s = static_cast<voxels *>(state);
    s->dev->ops->release(s->dev, s->grid.elem);
    s->dev->ops->release(s->dev, s->grid.node);
    s->dev->ops->release(s->dev, s->grid.block);
    if (s->other) hx_operator_cuda_dedup.teardown(s->other);
    free(s);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    return hx_operator_kind_setup<voxels>(
        state, dev, model, "operator voxels", teardown, [&](voxels *s) {
            void *own = nullptr;
            if (!model->lists) HX_TRY(plan_lists(&own, mesh));
            const void *const lists = own ? own : model->lists;
            const int rc = put_plan(s, static_cast<const plan *>(lists), mesh);
            if (own) plan_free(own);
            return rc;
        });
}

// --- products ---

template <class T>
int launch(const voxels &s, const parity<T> &matrices, const hx_slice &blocks, const T *d_x, T *d_y)
{
    if (blocks.n == 0) return HX_OK;
    grid_view grid = s.grid;
    grid.block += blocks.first;
    product_kernel<T><<<static_cast<unsigned>(blocks.n), THREADS, sizeof(shared_columns<T>),
                        hx_cuda_of(s.dev)->stream>>>(grid, matrices, s.model->d_modulus, d_x, d_y);
    return HX_LAUNCHED("voxels");
}

int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const voxels &s = *static_cast<voxels *>(state);
    if (s.other) return hx_operator_cuda_dedup.apply_part(s.other, part, d_x, d_y);
    return launch<double>(s, s.matrices, hx_slice_of(part, s.n_boundary, s.n_block), d_x, d_y);
}

int diagonal(void *state, double *d_diag)
{
    const voxels &s = *static_cast<voxels *>(state);
    if (s.other) return hx_operator_cuda_dedup.diagonal(s.other, d_diag);
    const grid_view &g = s.grid;
    const int64_t n = static_cast<int64_t>(g.n[0] + 1) * (g.n[1] + 1) * (g.n[2] + 1);
    return hx_launch(s.dev, "diagonal of voxels", n, diagonal_kernel, g, s.model->d_modulus,
                     s.diagonal[0], s.diagonal[1], s.diagonal[2], d_diag);
}

int prepare_single(void *state)
{
    const voxels &s = *static_cast<voxels *>(state);
    return s.other ? hx_operator_cuda_dedup.prepare_single(s.other) : HX_OK;
}

int apply_part_single(void *state, hx_product_part part, const float *d_x, float *d_y)
{
    const voxels &s = *static_cast<voxels *>(state);
    if (s.other) return hx_operator_cuda_dedup.apply_part_single(s.other, part, d_x, d_y);
    return launch<float>(s, s.matrices_single, hx_slice_of(part, s.n_boundary, s.n_block), d_x,
                         d_y);
}

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_voxels = {
    .name = "voxels",
    .device = "cuda",
    .help =
        "for grids of equal bricks, in grid order without connectivity; other meshes like dedup",
    .deterministic = 1,
    .bytes_per_elem = 128, // for other meshes; 8 for voxels
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
    .single_bytes_per_elem = 28,
    .single_bytes = single_bytes,
    .prepare_single = prepare_single,
    .apply_single = hx_whole_product<apply_part_single>,
    .apply_part_single = apply_part_single,
    .teardown = teardown,
};
