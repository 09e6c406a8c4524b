// otf: no stored Ke. The product of an element comes from its coordinates (hex8_otf.cuh), a thread
// an element, a block a patch of 64 consecutive elements at a time.
//
// A patch loads the coordinates and displacements of its nodes once into shared memory; its threads
// gather from there, and leave their 24 forces there; then a thread a node sums the forces of that
// node in a fixed order. Nodes inside one patch are written at once. Nodes that patches share get
// one partial sum per patch in memory, and a second kernel adds those in the order of the patches:
// no atomics, the same bits on every run. What is loaded next is on its way (cp.async) while a
// patch computes.
//
// Memory: per element 16 bytes of corners, 20 per node of its patch (about 2.2 nodes an element in
// a good order), 24 per shared node of a patch.
#include <cuda_pipeline.h>

#include <cstdlib>

#include "core/memory.h"
#include "core/strategy.h"
#include "hex8_otf.cuh"

namespace
{

constexpr int PATCH = 64;        // elements, threads a block
constexpr int BLOCKS_PER_SM = 5; // registers: 168 a thread
constexpr unsigned NO_SLOT = 0xffff;
constexpr int32_t SHARED = INT32_MIN; // flag in a row's node: other patches hold it too

// 8 indices of 16 bits. A patch has at most 8 * 64 nodes.
struct alignas(16) eight {
    uint16_t v[8];
};

// Rows begin .. begin + n of a patch: its nodes.
struct span {
    int32_t begin, n;
};

struct otf {
    hx_device *dev;
    const hx_device_model *model;
    cudaStream_t stream;
    int64_t n_patch, n_shared;
    int max_row;            // rows of the largest patch
    int n_block;            // as many as fit on the GPU
    span *d_span;           // [n_patch]
    int32_t *d_row_node;    // [n_row] node, or node + SHARED
    eight *d_row_slot;      // [n_row] where its forces stand in shared memory; NO_SLOT: unused
    eight *d_corner;        // [n_patch][PATCH] 3 * local row of each corner
    double *d_partial;      // [n_row][3] of shared rows
    int32_t *d_shared_node; // [n_shared]
    int32_t *d_shared_ptr;  // [n_shared + 1]
    int32_t *d_shared_row;  // rows of each shared node, ascending
};

struct arguments {
    int64_t n_elem, n_patch;
    double lambda, mu;
    int max_row;
    const span *patch;
    const int32_t *row_node;
    const eight *row_slot, *corner;
    const double *modulus, *xyz;
    double *partial;
};

// Corner values of one component to modes.
__device__ __forceinline__ void gather(const double *nodal, const unsigned corner[8],
                                       double m[HX_N_MODE])
{
    double v[8];
#pragma unroll
    for (int c = 0; c < 8; c++) v[c] = nodal[corner[c]];
    hx_to_modes(v, m);
}

// The element of this thread: nodal values in, 24 forces out, column[(3 corner + i) * PATCH].
__device__ __forceinline__ void element(const double *coordinates, const double *displacements,
                                        const eight &packed, double lambda, double mu, double scale,
                                        double *column)
{
    unsigned corner[8];
    double m[HX_N_MODE], x[HX_N_MODE][3], u[HX_N_MODE][3], f[HX_N_MODE][3];
#pragma unroll
    for (int c = 0; c < 8; c++) corner[c] = packed.v[c];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        gather(coordinates + i, corner, m);
#pragma unroll
        for (int k = 0; k < HX_N_MODE; k++) x[k][i] = m[k];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        gather(displacements + i, corner, m);
#pragma unroll
        for (int k = 0; k < HX_N_MODE; k++) {
            u[k][i] = m[k];
            f[k][i] = 0.0;
        }
    }
    hx_element_modes(x, u, lambda, mu, scale, f);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        double v[8];
#pragma unroll
        for (int k = 0; k < HX_N_MODE; k++) m[k] = f[k][i];
        hx_from_modes(m, v);
#pragma unroll
        for (int c = 0; c < 8; c++) column[(3 * c + i) * PATCH] = v[c];
    }
}

// Shared memory of a block, in order: forces, nodal values, slots, corners, moduli, rows of two
// patches.
struct layout {
    int n;
    __host__ __device__ size_t coordinates() const
    {
        return 24 * PATCH * sizeof(double);
    }
    __host__ __device__ size_t displacements() const
    {
        return coordinates() + 24 * static_cast<size_t>(n);
    }
    __host__ __device__ size_t slot() const
    {
        return coordinates() + 48 * static_cast<size_t>(n);
    }
    __host__ __device__ size_t corner() const
    {
        return slot() + 16 * static_cast<size_t>(n);
    }
    __host__ __device__ size_t modulus() const
    {
        return corner() + 16 * PATCH;
    }
    __host__ __device__ size_t node() const
    {
        return modulus() + 8 * PATCH;
    }
    __host__ __device__ size_t bytes() const
    {
        return node() + 8 * static_cast<size_t>(n);
    }
};

__global__ void __launch_bounds__(PATCH, BLOCKS_PER_SM)
    kernel(arguments g, const double *__restrict__ x, double *__restrict__ y)
{
    extern __shared__ __align__(16) char memory[];
    const layout at = {g.max_row};
    const int thread = static_cast<int>(threadIdx.x);
    double *const force = reinterpret_cast<double *>(memory);
    double *const coordinates = reinterpret_cast<double *>(memory + at.coordinates());
    double *const displacements = reinterpret_cast<double *>(memory + at.displacements());
    eight *const slot = reinterpret_cast<eight *>(memory + at.slot());
    eight *const corner = reinterpret_cast<eight *>(memory + at.corner());
    double *const modulus = reinterpret_cast<double *>(memory + at.modulus());
    int32_t *const node = reinterpret_cast<int32_t *>(memory + at.node());
    int parity = 0; // which half of node[2][max_row] belongs to the patch at hand

    // A thread copies, and later reads, rows thread, thread + PATCH, ... and the corner and modulus
    // of its own element; only nodal values and forces pass between threads, across the two
    // barriers.
    auto load_rows = [&](const span &s, int64_t patch, int32_t *to) {
        for (int k = thread; k < s.n; k += PATCH)
            __pipeline_memcpy_async(to + k, g.row_node + s.begin + k, 4);
        const int64_t e = patch * PATCH + thread;
        __pipeline_memcpy_async(corner + thread, g.corner + e, 16);
        if (e < g.n_elem) __pipeline_memcpy_async(modulus + thread, g.modulus + e, 8);
    };
    auto load_nodal = [&](const span &s, const int32_t *from) {
        for (int k = thread; k < s.n; k += PATCH) {
            const int64_t a = from[k] & INT32_MAX;
#pragma unroll
            for (int i = 0; i < 3; i++) {
                __pipeline_memcpy_async(coordinates + 3 * k + i, g.xyz + 3 * a + i, 8);
                __pipeline_memcpy_async(displacements + 3 * k + i, x + 3 * a + i, 8);
            }
        }
    };

    int patch = static_cast<int>(blockIdx.x);
    const int step = static_cast<int>(gridDim.x), n_patch = static_cast<int>(g.n_patch);
    span now = g.patch[patch];
    load_rows(now, patch, node);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    load_nodal(now, node);
    __pipeline_commit();

    for (; patch < n_patch; patch += step) {
        const bool more = patch + step < n_patch;
        span next = {0, 0};
        if (more) next = g.patch[patch + step];
        const eight my_corner = corner[thread];
        const bool mine = static_cast<int64_t>(patch) * PATCH + thread < g.n_elem;
        const double scale = mine ? modulus[thread] * (1.0 / 512.0) : 0.0;
        __pipeline_wait_prior(0);
        __syncthreads(); // nodal values are there, forces of the last patch used up

        for (int k = thread; k < now.n; k += PATCH)
            __pipeline_memcpy_async(slot + k, g.row_slot + now.begin + k, 16);
        if (more) load_rows(next, patch + step, node + (parity ^ 1) * g.max_row);
        __pipeline_commit();

        if (mine)
            element(coordinates, displacements, my_corner, g.lambda, g.mu, scale, force + thread);
        __pipeline_wait_prior(0);
        __syncthreads(); // forces are there, nodal values used up

        if (more) load_nodal(next, node + (parity ^ 1) * g.max_row);
        __pipeline_commit();
        for (int k = thread; k < now.n; k += PATCH) {
            const eight slots = slot[k];
            double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                if (slots.v[i] == NO_SLOT) continue;
                const double *from = force + slots.v[i];
                sum[0] += from[0];
                sum[1] += from[PATCH];
                sum[2] += from[2 * PATCH];
            }
            const int32_t tag = node[parity * g.max_row + k];
            double *to = tag < 0 ? g.partial + 3 * static_cast<int64_t>(now.begin + k)
                                 : y + 3 * static_cast<int64_t>(tag);
#pragma unroll
            for (int i = 0; i < 3; i++) to[i] = sum[i];
        }
        parity ^= 1;
        now = next;
    }
}

__global__ void shared_nodes_kernel(int64_t n, const int32_t *__restrict__ node,
                                    const int32_t *__restrict__ ptr,
                                    const int32_t *__restrict__ row,
                                    const double *__restrict__ partial, double *__restrict__ y)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (k >= n) return;
    double sum[3] = {0.0, 0.0, 0.0};
    for (int32_t r = ptr[k]; r < ptr[k + 1]; r++) {
        const double *from = partial + 3 * static_cast<int64_t>(row[r]);
        for (int i = 0; i < 3; i++) sum[i] += from[i];
    }
    for (int i = 0; i < 3; i++) y[3 * static_cast<int64_t>(node[k]) + i] = sum[i];
}

// The patches of a mesh, on the host.
struct patches {
    int64_t n_patch, n_row, n_shared, n_shared_row;
    int max_row;
    span *patch;
    int32_t *row_node, *shared_node, *shared_ptr, *shared_row;
    eight *row_slot, *corner;
    int32_t *stamp, *local, *rows_of; // [n_node]: last patch, its row there, rows in all
};

void free_patches(patches *p)
{
    free(p->patch);
    free(p->row_node);
    free(p->shared_node);
    free(p->shared_ptr);
    free(p->shared_row);
    free(p->row_slot);
    free(p->corner);
    free(p->stamp);
    free(p->local);
    free(p->rows_of);
}

int add_row(patches *p, int32_t node, int *n)
{
    const int64_t row = p->n_row++;
    p->row_node[row] = node;
    for (int i = 0; i < 8; i++) p->row_slot[row].v[i] = NO_SLOT;
    p->rows_of[node]++;
    return (*n)++;
}

// Rows of a patch in order of first use. A node of more than 8 elements of the patch gets further
// rows, which makes it a shared one.
void fill_patch(patches *p, const hx_mesh *mesh, int64_t patch)
{
    const int64_t first = patch * PATCH;
    const int64_t last = first + PATCH < mesh->n_elem ? first + PATCH : mesh->n_elem;
    const int64_t begin = p->n_row;
    int n = 0;
    for (int64_t e = first; e < last; e++)
        for (int a = 0; a < 8; a++) {
            const int32_t node = mesh->conn[8 * e + a];
            if (p->stamp[node] != patch) {
                p->stamp[node] = static_cast<int32_t>(patch);
                p->local[node] = add_row(p, node, &n);
            }
            int free_slot = 0;
            while (free_slot < 8 && p->row_slot[begin + p->local[node]].v[free_slot] != NO_SLOT)
                free_slot++;
            if (free_slot == 8) {
                p->local[node] = add_row(p, node, &n);
                free_slot = 0;
            }
            p->corner[e].v[a] = static_cast<uint16_t>(3 * p->local[node]);
            p->row_slot[begin + p->local[node]].v[free_slot] =
                static_cast<uint16_t>(3 * a * PATCH + (e - first));
        }
    p->patch[patch] = {static_cast<int32_t>(begin), n};
    if (n > p->max_row) p->max_row = n;
}

// Marks shared rows and lists them by node.
int list_shared(patches *p, const hx_mesh *mesh)
{
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (p->rows_of[a] < 2) continue;
        p->n_shared++;
        p->n_shared_row += p->rows_of[a];
    }
    const size_t n = static_cast<size_t>(p->n_shared);
    HX_TRY(hx_alloc(&p->shared_node, n, sizeof *p->shared_node, "shared nodes of otf"));
    HX_TRY(hx_alloc(&p->shared_ptr, n + 1, sizeof *p->shared_ptr, "shared nodes of otf"));
    HX_TRY(hx_alloc(&p->shared_row, static_cast<size_t>(p->n_shared_row), sizeof *p->shared_row,
                    "shared nodes of otf"));
    int64_t k = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        p->local[a] = -1; // from here: number among the shared nodes
        if (p->rows_of[a] < 2) continue;
        p->shared_node[k] = static_cast<int32_t>(a);
        p->shared_ptr[k + 1] = p->shared_ptr[k] + p->rows_of[a];
        p->local[a] = static_cast<int32_t>(k++);
        p->rows_of[a] = 0; // from here: rows listed so far
    }
    for (int64_t row = 0; row < p->n_row; row++) {
        const int32_t a = p->row_node[row];
        if (p->local[a] < 0) continue;
        p->shared_row[p->shared_ptr[p->local[a]] + p->rows_of[a]++] = static_cast<int32_t>(row);
        p->row_node[row] = a | SHARED;
    }
    return HX_OK;
}

// Rows that fill_patch will make, exactly; the caller's stamp[n_node] holds -1.
int64_t count_rows(const hx_mesh *mesh, int32_t *stamp, int32_t *count)
{
    int64_t n_row = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int a = 0; a < 8; a++) {
            const int32_t node = mesh->conn[8 * e + a], patch = static_cast<int32_t>(e / PATCH);
            if (stamp[node] != patch) {
                stamp[node] = patch;
                count[node] = 0;
            }
            n_row += count[node]++ % 8 == 0;
        }
    return n_row;
}

int build_patches(patches *p, const hx_mesh *mesh)
{
    const size_t n_node = static_cast<size_t>(mesh->n_node);
    p->n_patch = (mesh->n_elem + PATCH - 1) / PATCH;
    const size_t n_patch = static_cast<size_t>(p->n_patch);
    HX_TRY(hx_alloc_raw(&p->stamp, n_node, sizeof *p->stamp, "patches of otf"));
    HX_TRY(hx_alloc(&p->local, n_node, sizeof *p->local, "patches of otf"));
    HX_TRY(hx_alloc(&p->rows_of, n_node, sizeof *p->rows_of, "patches of otf"));
    for (size_t a = 0; a < n_node; a++) p->stamp[a] = -1;
    const int64_t n_row = count_rows(mesh, p->stamp, p->local);
    for (size_t a = 0; a < n_node; a++) p->stamp[a] = -1;
    if (n_row > INT32_MAX)
        return HX_RAISE(HX_EENV,
                        "operator 'otf': %lld rows, at most 2147483647: switch mesh.reorder on",
                        static_cast<long long>(n_row));
    HX_TRY(hx_alloc(&p->patch, n_patch, sizeof *p->patch, "patches of otf"));
    HX_TRY(hx_alloc(&p->corner, n_patch * PATCH, sizeof *p->corner, "patches of otf"));
    HX_TRY(
        hx_alloc(&p->row_node, static_cast<size_t>(n_row), sizeof *p->row_node, "patches of otf"));
    HX_TRY(
        hx_alloc(&p->row_slot, static_cast<size_t>(n_row), sizeof *p->row_slot, "patches of otf"));
    for (int64_t patch = 0; patch < p->n_patch; patch++) fill_patch(p, mesh, patch);
    return list_shared(p, mesh);
}

template <class T> int put(hx_device *dev, T **d_to, const T *from, int64_t n)
{
    const size_t n_bytes = static_cast<size_t>(n) * sizeof(T);
    HX_TRY(dev->ops->alloc(dev, n_bytes, d_to));
    return dev->ops->upload(dev, *d_to, from, n_bytes);
}

int put_patches(otf *s, const patches &p)
{
    hx_device *dev = s->dev;
    s->n_patch = p.n_patch;
    s->n_shared = p.n_shared;
    s->max_row = p.max_row;
    HX_TRY(put(dev, &s->d_span, p.patch, p.n_patch));
    HX_TRY(put(dev, &s->d_row_node, p.row_node, p.n_row));
    HX_TRY(put(dev, &s->d_row_slot, p.row_slot, p.n_row));
    HX_TRY(put(dev, &s->d_corner, p.corner, p.n_patch * PATCH));
    HX_TRY(put(dev, &s->d_shared_node, p.shared_node, p.n_shared));
    HX_TRY(put(dev, &s->d_shared_ptr, p.shared_ptr, p.n_shared + 1));
    HX_TRY(put(dev, &s->d_shared_row, p.shared_row, p.n_shared_row));
    return dev->ops->alloc(dev, static_cast<size_t>(p.n_row) * 3 * sizeof(double), &s->d_partial);
}

// Rows as they will be built (2.2 an element in a good order, up to 8 without any), every node as
// if it were shared.
size_t bytes(const hx_mesh *mesh, hx_layout)
{
    const size_t n_patch = static_cast<size_t>((mesh->n_elem + PATCH - 1) / PATCH);
    int32_t *stamp, *count;
    size_t n_row = 8 * static_cast<size_t>(mesh->n_elem);
    const size_t n_node = static_cast<size_t>(mesh->n_node);
    if (hx_alloc(&stamp, n_node, sizeof *stamp, "patches") == HX_OK) {
        if (hx_alloc(&count, n_node, sizeof *count, "patches") == HX_OK) {
            for (size_t a = 0; a < n_node; a++) stamp[a] = -1;
            n_row = static_cast<size_t>(count_rows(mesh, stamp, count));
            free(count);
        }
        free(stamp);
    }
    return n_patch * (sizeof(span) + PATCH * sizeof(eight)) +
           n_row * (sizeof(int32_t) + sizeof(eight) + 3 * sizeof(double) + sizeof(int32_t)) +
           (2 * n_node + 1) * sizeof(int32_t);
}

void teardown(void *state)
{
    otf *s = static_cast<otf *>(state);
    void *const owned[] = {s->d_span,    s->d_row_node,    s->d_row_slot,   s->d_corner,
                           s->d_partial, s->d_shared_node, s->d_shared_ptr, s->d_shared_row};
    for (void *d_p : owned) s->dev->ops->release(s->dev, d_p);
    free(s);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    otf *s;
    patches p = {};
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator otf"));
    s->dev = dev;
    s->model = model;
    s->stream = hx_cuda_of(dev)->stream;
    int rc = build_patches(&p, mesh);
    if (rc == HX_OK) rc = put_patches(s, p);
    free_patches(&p);
    if (rc < 0) {
        teardown(s);
        return rc;
    }
    *state = s; // from here the caller tears down
    const size_t n_bytes = layout{s->max_row}.bytes();
    int per_sm = 0;
    HX_TRY_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(n_bytes)));
    HX_TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, PATCH, n_bytes));
    const int64_t resident = static_cast<int64_t>(per_sm) * hx_cuda_of(dev)->n_sm;
    s->n_block = static_cast<int>(resident < s->n_patch ? resident : s->n_patch);
    return HX_OK;
}

int apply(void *state, const double *d_x, double *d_y)
{
    const otf &s = *static_cast<otf *>(state);
    const hx_device_model &m = *s.model;
    const arguments g = {m.n_elem,   s.n_patch,   m.lambda,     m.mu,
                         s.max_row,  s.d_span,    s.d_row_node, s.d_row_slot,
                         s.d_corner, m.d_modulus, m.d_xyz,      s.d_partial};
    kernel<<<s.n_block, PATCH, layout{s.max_row}.bytes(), s.stream>>>(g, d_x, d_y);
    HX_TRY_LAUNCH("otf");
    if (s.n_shared == 0) return HX_OK;
    shared_nodes_kernel<<<hx_blocks(s.n_shared, HX_BLOCK), HX_BLOCK, 0, s.stream>>>(
        s.n_shared, s.d_shared_node, s.d_shared_ptr, s.d_shared_row, s.d_partial, d_y);
    HX_TRY_LAUNCH("otf, shared nodes");
    return HX_OK;
}

hx_strategy table()
{
    hx_strategy t = {};
    t.name = "otf";
    t.device = "cuda";
    t.help = "no stored Ke: on the fly from coordinates, patches of 64 elements, no atomics";
    t.deterministic = 1;
    t.bytes_per_elem = 140;
    t.layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    t.bytes = bytes;
    t.setup = setup;
    t.apply = apply;
    t.teardown = teardown;
    return t;
}

} // namespace

extern "C" const hx_strategy hx_strategy_cuda_otf = table();
