// Classes of equal cells, determined once per mesh, and their contributions to P'KP. On a regular
// mesh they are nearly all cells. The others, and those that touch a support, are computed element
// by element (galerkin_cuda.cu).
#include <cstdlib>

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "galerkin_cell.cuh"
#include "galerkin_classes_cuda.cuh"

using namespace hx_galerkin;

namespace
{

// Tolerance for positions, relative to the edge of a cell. Grid coordinates are floats, which have
// such errors in grids of some 100 cells.
constexpr float ALIKE = 1e-5f;
constexpr int MODELS = HX_CELL_CLASSES, OTHERS = HX_CELL_CLASSES, CANDIDATE = OTHERS + 1;
constexpr int MOST_ELEMS = HX_MG_PLACE_ELEMS, SAMPLES = HX_MG_PLACE_SAMPLES,
              LEAST = HX_MG_PLACE_LEAST;
constexpr int LEAST_SHARE = 8;   // classes pay off if at least one cell in this many is in one
constexpr int MOST_TABLES = 512; // maximum number of elements of all classes
constexpr int WARP = 32, WARPS = 8;

struct classes {
    hx_cell_classes seen; // as seen by kernels; the arrays it points to are owned
    int n_table;          // number of elements of all tables
};

// --- sorting the elements of a cell by their places ---

// One block per cell, one thread per element. Cells that have elements and no support are
// candidates for a class.
__global__ void __launch_bounds__(MOST_ELEMS)
    sort_kernel(galerkin_input in, hx_mg_places places, int32_t *__restrict__ elem,
                uint8_t *__restrict__ of)
{
    __shared__ uint64_t key[MOST_ELEMS];
    const int64_t cell = blockIdx.x;
    const int begin = in.elem_at[cell], n = in.elem_at[cell + 1] - begin;
    const int k = static_cast<int>(threadIdx.x);
    bool refused = !hx_mg_place_takes(n);
    if (!refused && k < n) {
        const int32_t e = elem[begin + k];
        const uint64_t number = hx_mg_place_number(&places, cell, e);
        for (int a = 0; a < CORNERS; a++)
            refused |= in.fixed[in.conn[CORNERS * static_cast<int64_t>(e) + a]] != 0;
        key[k] = number << 32 | static_cast<uint32_t>(e);
    }
    refused = __syncthreads_or(refused ? 1 : 0) != 0;
    if (k == 0) of[cell] = refused ? OTHERS : CANDIDATE;
    if (refused || k >= n) return;
    int rank = 0;
    for (int i = 0; i < n; i++) rank += key[i] < key[k] ? 1 : 0;
    elem[begin + rank] = static_cast<int32_t>(key[k] & 0xffffffffu);
}

// --- models, and the cells that match one ---

// All lanes of a warp call it.
__device__ bool is_alike(const galerkin_input &in, const hx_mg_places &places, int64_t cell,
                         int64_t model)
{
    const int first = in.elem_at[cell], other = in.elem_at[model];
    const int n = in.elem_at[cell + 1] - first;
    if (n != in.elem_at[model + 1] - other) return false;
    for (int k = 0; k < CORNERS * n; k += WARP) {
        const int at = k + static_cast<int>(threadIdx.x % WARP);
        bool same = true;
        if (at < CORNERS * n) {
            const int64_t one = in.elem[first + at / CORNERS], two = in.elem[other + at / CORNERS];
            same = hx_mg_places_agree(&places, cell, in.conn[CORNERS * one + at % CORNERS], model,
                                      in.conn[CORNERS * two + at % CORNERS], ALIKE) != 0;
        }
        if (!__all_sync(0xffffffffu, same)) return false;
    }
    return true;
}

struct sample {
    int64_t n, stride;
    uint8_t *is_open; // [n] candidates that match no model yet
    int32_t *model;   // [MODELS] cells; -1: none
};

__global__ void open_kernel(sample s, const uint8_t *__restrict__ of)
{
    const int64_t k = hx_grid_thread();
    if (k < s.n) s.is_open[k] = of[k * s.stride] == CANDIDATE;
    if (k < MODELS) s.model[k] = -1;
}

// The first open cell of the sample becomes model m. One block.
__global__ void model_kernel(sample s, int m)
{
    __shared__ int first;
    if (threadIdx.x == 0) first = SAMPLES;
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < s.n; k += static_cast<int>(blockDim.x))
        if (s.is_open[k]) atomicMin(&first, k);
    __syncthreads();
    if (threadIdx.x == 0 && first < SAMPLES) s.model[m] = static_cast<int32_t>(first * s.stride);
}

// One warp per cell of the sample.
__global__ void __launch_bounds__(WARP *WARPS)
    match_kernel(galerkin_input in, hx_mg_places places, sample s, int m)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(WARPS) + threadIdx.x / WARP;
    if (k >= s.n || s.model[m] < 0 || !s.is_open[k]) return;
    const bool alike = is_alike(in, places, k * s.stride, s.model[m]);
    __syncwarp();
    if (alike && threadIdx.x % WARP == 0) s.is_open[k] = 0;
}

// All numbers that the host needs, contiguous: number of cells that match each model, and last the
// number that match none; the models' cells, -1: none; their numbers of elements, 0 if there is no
// model.
struct numbers {
    int32_t count[MODELS + 1], model[MODELS], n_elem[MODELS];
};

// One warp per cell of the coarse grid: finds the first model that it matches. No model matches an
// earlier one.
__global__ void __launch_bounds__(WARP *WARPS)
    classify_kernel(galerkin_input in, hx_mg_places places, const int32_t *__restrict__ model,
                    uint8_t *__restrict__ of, int32_t *__restrict__ count,
                    int32_t *__restrict__ n_elem)
{
    const int64_t cell = blockIdx.x * static_cast<int64_t>(WARPS) + threadIdx.x / WARP;
    int m = OTHERS;
    if (cell >= in.cells.n_cell) return;
    if (of[cell] == CANDIDATE)
        for (m = 0; m < MODELS; m++) {
            if (model[m] < 0)
                m = MODELS - 1; // there are no further models
            else if (is_alike(in, places, cell, model[m]))
                break;
        }
    __syncwarp();
    if (threadIdx.x % WARP > 0) return;
    of[cell] = static_cast<uint8_t>(m);
    atomicAdd(count + m, 1);
    if (m < MODELS && model[m] == cell) n_elem[m] = in.elem_at[cell + 1] - in.elem_at[cell];
}

struct new_names {
    uint8_t of[MODELS + 1];
};

__global__ void rename_kernel(int64_t n_cell, new_names names, uint8_t *__restrict__ of)
{
    const int64_t cell = hx_grid_thread();
    if (cell < n_cell) of[cell] = names.of[of[cell]];
}

// --- tables ---

// P of an element and K P, from which the table of P'K P is computed, in double precision. A
// rounding error of a table is the same in all cells of its class and would accumulate over a part
// to a spurious stiffness against its softest motions.
struct element_product {
    double x[CORNERS][3], weight[CORNERS][CORNERS], distance[CORNERS][CORNERS][3]; // [node][corner]
    double k[24][24], kp[24][CELL];
};

// Row 3 a + i of P in the column of a corner and component.
__device__ double entry_of_p(const element_product &e, int a, int i, int corner, int component)
{
    const double w = e.weight[a][corner];
    if (component < 3) return component == i ? w : 0.0;
    const int axis = component - 3, j = (axis + 1) % 3, m = (axis + 2) % 3;
    if (i == j) return -w * e.distance[a][corner][m];
    return i == m ? w * e.distance[a][corner][j] : 0.0;
}

__device__ void load_element(const galerkin_input &in, int64_t cell, int64_t elem, double unit,
                             int a, element_product &e)
{
    const int64_t node = in.conn[CORNERS * elem + a];
    double s[3];
    for (int i = 0; i < 3; i++) {
        const int at = in.cells.cell[3 * cell + i];
        e.x[a][i] = in.cells.xyz[3 * node + i];
        s[i] = static_cast<double>(in.cells.position[3 * node + i]) - at;
        for (int c = 0; c < CORNERS; c++)
            e.distance[a][c][i] =
                (e.x[a][i] - in.cells.origin[i] - (at + (c >> i & 1)) * in.cells.size[i]) / unit;
    }
    for (int c = 0; c < CORNERS; c++) {
        e.weight[a][c] = 1.0;
        for (int i = 0; i < 3; i++) e.weight[a][c] *= c >> i & 1 ? s[i] : 1.0 - s[i];
    }
}

// One block per element of the model.
constexpr int TABLE_THREADS = 64;

__global__ void __launch_bounds__(TABLE_THREADS)
    table_kernel(galerkin_input in, double lambda, double mu, double unit, int64_t model,
                 double *__restrict__ table)
{
    __shared__ element_product e;
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t elem = in.elem[in.elem_at[model] + static_cast<int>(blockIdx.x)];
    if (thread < CORNERS) load_element(in, model, elem, unit, thread, e);
    __syncthreads();
    {
        const int a = thread / CORNERS, b = thread % CORNERS;
        double tile[3][3];
        hx_hex8_tile(&e.x[0][0], a, b, lambda, mu, tile);
        for (int k = 0; k < 9; k++) e.k[3 * a + k / 3][3 * b + k % 3] = tile[k / 3][k % 3];
    }
    __syncthreads();
    for (int at = thread; at < 24 * CELL; at += TABLE_THREADS) {
        const int row = at / CELL, column = at % CELL;
        double sum = 0.0;
        for (int k = 0; k < 24; k++)
            sum += e.k[row][k] * entry_of_p(e, k / 3, k % 3, column / DOF, column % DOF);
        e.kp[row][column] = sum;
    }
    __syncthreads();
    table += HX_MG_SHARE * static_cast<int64_t>(blockIdx.x);
    for (int at = thread; at < CORNERS * CORNERS * DOF * DOF; at += TABLE_THREADS) {
        const int r = at % DOF, q = at / DOF % DOF, corner = at / (DOF * DOF) % CORNERS,
                  d = at / (DOF * DOF * CORNERS), other = (corner + d) & 7;
        double sum = 0.0;
        if (!is_stored(corner, other)) continue;
        for (int k = 0; k < 24; k++)
            sum += entry_of_p(e, k / 3, k % 3, other, r) * e.kp[k][DOF * corner + q];
        table[DOF * (DOF * place_of(corner, d) + q) + r] = sum;
    }
}

// A block processes some cells of a class, and a thread two numbers of each: [cells][n_elem] moduli
// times [n_elem][HX_MG_SHARE] of the table, each sum in the order of the elements.
constexpr int TILE = 16, SUM_THREADS = HX_MG_SHARE / 2;

__global__ void __launch_bounds__(SUM_THREADS, 1)
    sum_tables_kernel(hx_cell_classes classes, const int32_t *__restrict__ list,
                      const int32_t *__restrict__ elem, const int32_t *__restrict__ elem_at,
                      const float *__restrict__ kept, float *__restrict__ share)
{
    __shared__ alignas(16) double modulus[MOST_ELEMS][TILE];
    __shared__ int32_t cells[TILE];
    const int thread = static_cast<int>(threadIdx.x);
    int tile = static_cast<int>(blockIdx.x), c = 0;
    for (;; tile += static_cast<int>(gridDim.x)) {
        int n_tile = 0;
        for (; c < MODELS; c++, tile -= n_tile) {
            n_tile = (classes.count[c] + TILE - 1) / TILE;
            if (tile < n_tile) break;
        }
        if (c == MODELS) return;
        const int n = classes.n_elem[c], first = TILE * tile;
        const int n_here = min(classes.count[c] - first, TILE);
        __syncthreads();
        if (thread < TILE)
            cells[thread] = thread < n_here ? list[classes.begin[c] + first + thread] : -1;
        __syncthreads();
        for (int k = thread; k < n * TILE; k += SUM_THREADS) {
            const int32_t cell = cells[k / n];
            modulus[k % n][k / n] =
                cell >= 0 ? static_cast<double>(kept[elem[elem_at[cell] + k % n]]) : 0.0;
        }
        __syncthreads();
        const double2 *table = reinterpret_cast<const double2 *>(classes.table[c]) + thread;
        double2 sum[TILE] = {};
#pragma unroll 2
        for (int k = 0; k < n; k++) {
            const double2 t = __ldg(table + k * SUM_THREADS);
#pragma unroll
            for (int i = 0; i < TILE; i += 2) {
                const double2 e = *reinterpret_cast<const double2 *>(&modulus[k][i]);
                sum[i].x = fma(e.x, t.x, sum[i].x);
                sum[i].y = fma(e.x, t.y, sum[i].y);
                sum[i + 1].x = fma(e.y, t.x, sum[i + 1].x);
                sum[i + 1].y = fma(e.y, t.y, sum[i + 1].y);
            }
        }
#pragma unroll
        for (int i = 0; i < TILE; i++)
            if (i < n_here)
                reinterpret_cast<float2 *>(share +
                                           HX_MG_SHARE * static_cast<int64_t>(cells[i]))[thread] =
                    make_float2(static_cast<float>(sum[i].x), static_cast<float>(sum[i].y));
    }
}

template <class T> int get(hx_device *dev, size_t n, T **d_out)
{
    return dev->ops->alloc(dev, n * sizeof(T), d_out);
}

// Data found while the mesh is classified.
struct found : numbers {
    uint8_t *d_of, *d_open;
    numbers *d_numbers; // begins with the counters that kernels use later
};

int find_classes(hx_device *dev, const hx_mg_mesh *mesh, found *f)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const galerkin_input in = input_of(mesh);
    const hx_mg_places places = hx_mg_places_of(mesh);
    sample s = {};
    s.stride = mesh->n_cell / SAMPLES + 1;
    s.n = (mesh->n_cell + s.stride - 1) / s.stride;
    HX_TRY(get(dev, static_cast<size_t>(mesh->n_cell), &f->d_of));
    HX_TRY(get(dev, SAMPLES, &f->d_open));
    HX_TRY(get(dev, 1, &f->d_numbers));
    s.is_open = f->d_open;
    s.model = f->d_numbers->model;
    HX_TRY(dev->ops->zero(dev, f->d_numbers, sizeof *f->d_numbers));
    sort_kernel<<<static_cast<unsigned>(mesh->n_cell), MOST_ELEMS, 0, stream>>>(
        in, places, mesh->d_cell_elem, f->d_of);
    HX_TRY_LAUNCH("cells' elements");
    HX_TRY(hx_launch(dev, "classes of equal cells", SAMPLES, open_kernel, s, f->d_of));
    for (int m = 0; m < MODELS; m++) {
        model_kernel<<<1, HX_BLOCK, 0, stream>>>(s, m);
        HX_TRY_LAUNCH("classes of equal cells");
        match_kernel<<<hx_blocks(s.n, WARPS), WARP * WARPS, 0, stream>>>(in, places, s, m);
        HX_TRY_LAUNCH("classes of equal cells");
    }
    classify_kernel<<<hx_blocks(mesh->n_cell, WARPS), WARP * WARPS, 0, stream>>>(
        in, places, s.model, f->d_of, f->d_numbers->count, f->d_numbers->n_elem);
    HX_TRY_LAUNCH("classes of equal cells");
    return dev->ops->download(dev, static_cast<numbers *>(f), f->d_numbers, sizeof *f->d_numbers);
}

// The largest class that has no new name yet and whose tables fit; -1: there is none.
int next_class(const found *f, const classes *c, const new_names &names)
{
    int best = -1;
    for (int m = 0; m < MODELS; m++)
        if (names.of[m] == OTHERS && f->count[m] >= LEAST &&
            c->n_table + f->n_elem[m] <= MOST_TABLES && (best < 0 || f->count[m] > f->count[best]))
            best = m;
    return best;
}

// Names the classes, the largest first, and creates their lists and tables. Returns 0 if they do
// not pay off.
int make_tables(hx_device *dev, const hx_mg_mesh *mesh, const found *f, classes *c)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const galerkin_input in = input_of(mesh);
    new_names names;
    double *d_table = nullptr;
    int64_t n_alike = 0;
    int n = 0, model[MODELS];
    for (int m = 0; m <= MODELS; m++) names.of[m] = OTHERS;
    for (int m; (m = next_class(f, c, names)) >= 0;) {
        c->seen.n_elem[n] = f->n_elem[m];
        c->seen.begin[n] = static_cast<int32_t>(n_alike);
        c->n_table += f->n_elem[m];
        n_alike += f->count[m];
        model[n] = f->model[m];
        names.of[m] = static_cast<uint8_t>(n++);
    }
    c->seen.begin[OTHERS] = static_cast<int32_t>(n_alike);
    if (LEAST_SHARE * n_alike < mesh->n_cell) return 0;
    HX_TRY(get(dev, static_cast<size_t>(c->n_table) * HX_MG_SHARE, &d_table));
    c->seen.table[0] = d_table;
    for (int k = 0; k < n; k++) {
        table_kernel<<<c->seen.n_elem[k], TABLE_THREADS, 0, stream>>>(
            in, mesh->model->lambda, mesh->model->mu, mesh->unit, model[k], d_table);
        HX_TRY_LAUNCH("cells' tables");
        c->seen.table[k] = d_table;
        d_table += static_cast<size_t>(c->seen.n_elem[k]) * HX_MG_SHARE;
    }
    HX_TRY(hx_launch(dev, "classes of equal cells", mesh->n_cell, rename_kernel, mesh->n_cell,
                     names, f->d_of));
    return 1;
}

} // namespace

int hx_cuda_classes_create(hx_device *dev, hx_mg_mesh *mesh)
{
    found f = {};
    classes *c = nullptr;
    int rc = hx_alloc(&c, 1, sizeof *c, "classes of equal cells");
    if (rc < 0) return rc;
    mesh->own = c;
    rc = find_classes(dev, mesh, &f);
    c->seen.of = f.d_of;
    c->seen.count = f.d_numbers ? f.d_numbers->count : nullptr;
    if (rc == HX_OK) rc = make_tables(dev, mesh, &f, c);
    dev->ops->release(dev, f.d_open);
    if (rc <= 0) hx_cuda_classes_free(dev, mesh);
    return rc < 0 ? rc : HX_OK;
}

void hx_cuda_classes_free(hx_device *dev, hx_mg_mesh *mesh)
{
    classes *const c = static_cast<classes *>(mesh->own);
    if (!c) return;
    dev->ops->release(dev, const_cast<uint8_t *>(c->seen.of));
    dev->ops->release(dev, c->seen.count);
    dev->ops->release(dev, const_cast<double *>(c->seen.table[0]));
    free(c);
    mesh->own = nullptr;
}

double hx_cuda_classes_bytes(int64_t n_elem, double n_cell)
{
    const double table = HX_MG_SHARE * sizeof(double);
    const double of_elems = table * static_cast<double>(n_elem) / LEAST;
    return n_cell + SAMPLES + (of_elems < MOST_TABLES * table ? of_elems : MOST_TABLES * table);
}

hx_cell_classes hx_cuda_classes_of(const hx_mg_mesh *mesh)
{
    const hx_cell_classes none = {};
    return mesh->own ? static_cast<const classes *>(mesh->own)->seen : none;
}

int hx_cuda_classes_share(hx_device *dev, const hx_mg_mesh *mesh)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const int64_t n_tile = mesh->n_cell / TILE + MODELS,
                  most = 2 * static_cast<int64_t>(impl->n_sm);
    const unsigned n_block = static_cast<unsigned>(n_tile < most ? n_tile : most);
    if (!mesh->own) return HX_OK;
    sum_tables_kernel<<<n_block, SUM_THREADS, 0, impl->stream>>>(
        hx_cuda_classes_of(mesh), mesh->d_changed, mesh->d_cell_elem, mesh->d_cell_elem_at,
        mesh->d_kept, mesh->d_share);
    return HX_LAUNCHED("contributions of equal cells");
}
