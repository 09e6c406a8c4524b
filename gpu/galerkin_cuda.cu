// Galerkin matrices of multigrid: from the mesh to its first lattice, from a lattice to the next.
#include "galerkin_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, CELL = CORNERS * DOF;

// ---- from the mesh: a block a cell, four teams of 24 threads, a thread two columns ----
//
// A thread keeps two columns of the cell's 48 x 48 matrix in registers over all elements of the
// cell, the same component of corners k and k + 4. With w_b the weight of its corner at node b, a
// column of K_e P_e is sum_b w_b M_b, where M holds Ke's columns (translations) and their moments
// x_b x Ke (rotations about the cell's first corner); so P_e, 24 x 48, is never formed: 450 instead
// of 1,150 FMAs a column. What M costs is to be read from shared memory, hence two columns at once.
// Of the rows, which come about the same way, only half are summed: the matrix is symmetric. Cells
// of a colour share no corner, so what they add needs no atomics and has one order.

constexpr int PAIRS = 4, TEAM = PAIRS * DOF, TEAMS = 4, THREADS = TEAMS * TEAM;
constexpr int BATCH = TEAMS;    // elements that a block has at once
constexpr int N_ROW_CORNER = 5; // of column k: corners k, k + 1 .. k + 4; of k + 4: k + 4 .. k + 7

struct alignas(16) element_data {
    float4 column[24][2][DOF]; // M: [row][half of the nodes][component], four nodes
    float weight[8][12];       // [node][corner], the first four once more
    float gradient[8][3][8];   // [point][component][corner]
    float det[8];              // times the modulus
    float x[8][4];             // from the cell's first corner, over the unit; 3 are used
    unsigned fixed[8];
};

union shared_data {
    element_data element[BATCH];
    float sum[CELL][N_ROW_CORNER * DOF + 1];
};

struct galerkin_input {
    hx_mg_cells cells;
    const int32_t *elem, *elem_at, *conn;
    const uint8_t *fixed;
    const double *modulus; // or, if there are any, those that are kept
    const float *kept;
    float lambda, mu; // times the unit
};

__device__ __forceinline__ float modulus_of(const galerkin_input &in, int32_t elem)
{
    return in.kept ? in.kept[elem] : static_cast<float>(in.modulus[elem]);
}

__device__ __forceinline__ float sign_of(int a, int direction)
{
    const int bit = direction == 0   ? ((a + 1) >> 1) & 1
                    : direction == 1 ? (a >> 1) & 1
                                     : (a >> 2) & 1;
    return bit ? 1.0f : -1.0f;
}

__device__ void load_node(const galerkin_input &in, int64_t cell, int64_t elem, int a,
                          element_data &e)
{
    const int64_t node = in.conn[8 * elem + a];
    float w[8], x[3];
    hx_mg_locate(in.cells, cell, node, w, x);
#pragma unroll
    for (int c = 0; c < 12; c++) e.weight[a][c] = w[c % 8];
    for (int i = 0; i < 3; i++) e.x[a][i] = x[i];
    e.fixed[a] = in.fixed[node];
}

// Derivatives of corner a's shape function by (r, s, t) at a point.
__device__ __forceinline__ void reference_gradient(int a, const float at[3], float d[3])
{
    const float s0 = sign_of(a, 0), s1 = sign_of(a, 1), s2 = sign_of(a, 2);
    const float f0 = 1.0f + s0 * at[0], f1 = 1.0f + s1 * at[1], f2 = 1.0f + s2 * at[2];
    d[0] = 0.125f * s0 * f1 * f2;
    d[1] = 0.125f * s1 * f0 * f2;
    d[2] = 0.125f * s2 * f0 * f1;
}

// Gradients of the corners' shape functions at Gauss point q.
__device__ void find_gradients(int q, float modulus, element_data &e)
{
    constexpr float g = 0.57735026918962576f;
    const float at[3] = {q & 1 ? g : -g, q & 2 ? g : -g, q & 4 ? g : -g};
    float j[3][3] = {}, inverse[3][3];
#pragma unroll
    for (int a = 1; a < 8; a++) {
        float d[3];
        reference_gradient(a, at, d);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) j[k][i] += d[k] * (e.x[a][i] - e.x[0][i]);
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            inverse[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    const float det = j[0][0] * inverse[0][0] + j[0][1] * inverse[1][0] + j[0][2] * inverse[2][0];
    const float f = 1.0f / det;
#pragma unroll
    for (int a = 0; a < 8; a++) {
        float d[3];
        reference_gradient(a, at, d);
        for (int i = 0; i < 3; i++)
            e.gradient[q][i][a] =
                f * (inverse[i][0] * d[0] + inverse[i][1] * d[1] + inverse[i][2] * d[2]);
    }
    e.det[q] = det * modulus;
}

// Rows of node a and the four nodes of a half: their entries of Ke, without fixed degrees of
// freedom, and their moments.
__device__ void fill_rows(int a, int half, float lambda, float mu, element_data &e)
{
    float k[3][3][4] = {}, dot[4] = {};
#pragma unroll 2
    for (int q = 0; q < 8; q++) {
        const float f = e.det[q], fl = f * lambda, fm = f * mu;
        const float ga[3] = {e.gradient[q][0][a], e.gradient[q][1][a], e.gradient[q][2][a]};
        float gb[3][4];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float4 v = *reinterpret_cast<const float4 *>(&e.gradient[q][i][4 * half]);
            gb[i][0] = v.x, gb[i][1] = v.y, gb[i][2] = v.z, gb[i][3] = v.w;
        }
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int b = 0; b < 4; b++) {
                const float m = fm * gb[i][b], l = fl * ga[i];
#pragma unroll
                for (int j = 0; j < 3; j++)
                    k[i][j][b] = fmaf(l, gb[j][b], fmaf(m, ga[j], k[i][j][b]));
                dot[b] = fmaf(m, ga[i], dot[b]);
            }
    }
    const unsigned fa = e.fixed[a];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float moment[3][4];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const unsigned fb = e.fixed[4 * half + b];
            const float *x = e.x[4 * half + b];
            k[i][i][b] += dot[b];
#pragma unroll
            for (int j = 0; j < 3; j++)
                if ((fa >> i & 1u) || (fb >> j & 1u)) k[i][j][b] = 0.0f;
            moment[0][b] = x[1] * k[i][2][b] - x[2] * k[i][1][b];
            moment[1][b] = x[2] * k[i][0][b] - x[0] * k[i][2][b];
            moment[2][b] = x[0] * k[i][1][b] - x[1] * k[i][0][b];
        }
        float4 *to = e.column[3 * a + i][half];
#pragma unroll
        for (int j = 0; j < 3; j++) {
            to[j] = make_float4(k[i][j][0], k[i][j][1], k[i][j][2], k[i][j][3]);
            to[3 + j] = make_float4(moment[j][0], moment[j][1], moment[j][2], moment[j][3]);
        }
    }
}

// Two columns, by row corner: those of corner k and of corner k + 4.
struct column_pair {
    float first[N_ROW_CORNER][DOF], second[N_ROW_CORNER - 1][DOF];
};

__device__ __forceinline__ void add_rows(float w, const float f[3], const float m[3],
                                         float sum[DOF])
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        sum[i] = fmaf(w, f[i], sum[i]);
        sum[3 + i] = fmaf(w, m[i], sum[3 + i]);
    }
}

__device__ __forceinline__ float weigh(const float4 &u, const float4 &v, const float w[8])
{
    const float s = fmaf(u.w, w[3], fmaf(u.z, w[2], fmaf(u.y, w[1], u.x * w[0])));
    return fmaf(v.w, w[7], fmaf(v.z, w[6], fmaf(v.y, w[5], fmaf(v.x, w[4], s))));
}

__device__ __forceinline__ void cross(const float4 &x, const float f[3], float m[3])
{
    m[0] = x.y * f[2] - x.z * f[1];
    m[1] = x.z * f[0] - x.x * f[2];
    m[2] = x.x * f[1] - x.y * f[0];
}

// Adds an element to the columns, moments about the cell's first corner.
__device__ __forceinline__ void add_element(const element_data &e, int corner, int component,
                                            column_pair &sum)
{
    float w1[8], w2[8];
#pragma unroll
    for (int b = 0; b < 8; b++) {
        w1[b] = e.weight[b][corner];
        w2[b] = e.weight[b][corner + 4];
    }
#pragma unroll 1
    for (int a = 0; a < 8; a++) {
        float f1[3], f2[3], m1[3], m2[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float4 u = e.column[3 * a + i][0][component],
                         v = e.column[3 * a + i][1][component];
            f1[i] = weigh(u, v, w1);
            f2[i] = weigh(u, v, w2);
        }
        const float4 x = *reinterpret_cast<const float4 *>(e.x[a]);
        cross(x, f1, m1);
        cross(x, f2, m2);
#pragma unroll
        for (int d = 0; d < 2 * PAIRS; d++) {
            const float w = e.weight[a][corner + d];
            if (d < N_ROW_CORNER) add_rows(w, f1, m1, sum.first[d]);
            if (d >= PAIRS) add_rows(w, f2, m2, sum.second[d - PAIRS]);
        }
    }
}

// v[3 .. 5]: moments about the cell's first corner to moments about `corner`.
__device__ __forceinline__ void shift_moment(const float edge[3], int corner, float v[DOF])
{
    const float x0 = corner & 1 ? edge[0] : 0.0f, x1 = corner & 2 ? edge[1] : 0.0f,
                x2 = corner & 4 ? edge[2] : 0.0f;
    v[3] -= x1 * v[2] - x2 * v[1];
    v[4] -= x2 * v[0] - x0 * v[2];
    v[5] -= x0 * v[1] - x1 * v[0];
}

__device__ __forceinline__ int offset_between(int from, int to)
{
    return HX_LATTICE_CENTRE + ((to & 1) - (from & 1)) + 3 * ((to >> 1 & 1) - (from >> 1 & 1)) +
           9 * ((to >> 2) - (from >> 2));
}

// Rows of corner + d in the column, its rotation about its own corner and moments about the rows'.
__device__ __forceinline__ void find_rows(const float edge[3], int corner, int component, int d,
                                          const float column[CELL][N_ROW_CORNER * DOF + 1],
                                          float v[DOF])
{
    const int axis = component - 3, first = DOF * corner, j = (axis + 1) % 3, m = (axis + 2) % 3;
    const float xj = axis >= 0 && (corner >> j & 1) ? edge[j] : 0.0f,
                xm = axis >= 0 && (corner >> m & 1) ? edge[m] : 0.0f;
#pragma unroll
    for (int r = 0; r < DOF; r++) {
        v[r] = column[first + component][DOF * d + r];
        if (axis >= 0)
            v[r] -= xj * column[first + m][DOF * d + r] - xm * column[first + j][DOF * d + r];
    }
    shift_moment(edge, (corner + d) & 7, v);
}

// Adds the column's blocks to the lattice's matrix, and their mirror images.
__device__ void write_column(const hx_mg_cells &cells, int64_t cell, int corner, int component,
                             const float column[CELL][N_ROW_CORNER * DOF + 1],
                             const hx_mg_level &level)
{
    const int32_t *node = cells.corner + 8 * cell;
    const int64_t here = node[corner];
#pragma unroll
    for (int d = 0; d < N_ROW_CORNER; d++) {
        if (d == PAIRS && corner >= PAIRS) continue; // the other one's
        const int other = (corner + d) & 7;
        const int64_t there = node[other];
        float v[DOF];
        find_rows(cells.edge, corner, component, d, column, v);
        float *to =
            level.d_matrix +
            ((DOF * offset_between(other, corner) + component) * level.n_node + there) * DOF;
        for (int r = 0; r < DOF; r++) to[r] += v[r];
        if (d == 0) continue;
        float *mirror = level.d_matrix +
                        (DOF * offset_between(corner, other) * level.n_node + here) * DOF +
                        component;
        for (int r = 0; r < DOF; r++) mirror[r * DOF * level.n_node] += v[r];
    }
}

__device__ __forceinline__ void add_sums(float *to, const float *from, int n, bool first)
{
    for (int i = 0; i < n; i++) to[i] = first ? from[i] : to[i] + from[i];
}

// Sums the cell's columns in data.sum, moments and rotations about its first corner. All threads.
__device__ __forceinline__ void sum_cell(const galerkin_input &in, int64_t cell, shared_data &data)
{
    const int thread = static_cast<int>(threadIdx.x), team = thread / TEAM, t = thread % TEAM;
    const int corner = t / DOF, component = t % DOF;
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    column_pair sum = {};
    for (int first = begin; first < end; first += BATCH) {
        const int n = end - first < BATCH ? end - first : BATCH;
        if (thread < 8 * n)
            load_node(in, cell, in.elem[first + thread / 8], thread % 8, data.element[thread / 8]);
        __syncthreads();
        if (thread < 8 * n)
            find_gradients(thread % 8, modulus_of(in, in.elem[first + thread / 8]),
                           data.element[thread / 8]);
        __syncthreads();
        if (thread < 16 * n)
            fill_rows(thread % 8, thread / 8 % 2, in.lambda, in.mu, data.element[thread / 16]);
        __syncthreads();
        if (team < n) add_element(data.element[team], corner, component, sum);
        __syncthreads();
    }
    for (int from = 0; from < TEAMS; from++) {
        if (team == from) {
            add_sums(data.sum[t], sum.first[0], N_ROW_CORNER * DOF, from == 0);
            add_sums(data.sum[t + TEAM], sum.second[0], (N_ROW_CORNER - 1) * DOF, from == 0);
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(THREADS, 5)
    mesh_galerkin_kernel(galerkin_input in, const int32_t *__restrict__ coloured, hx_mg_level level)
{
    __shared__ shared_data data;
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t cell = coloured[blockIdx.x];
    sum_cell(in, cell, data);
    if (thread < CELL) write_column(in.cells, cell, thread / DOF, thread % DOF, data.sum, level);
}

// ---- blocks of a lattice's matrix ----

// Threads find blocks up to the centre, and write the others as their mirror images; or they find
// all of them, where a level lies in pieces and each process adds what its own nodes do.
unsigned found_blocks(bool mirrored)
{
    return mirrored ? HX_LATTICE_CENTRE + 1 : HX_LATTICE_OFFSETS;
}

// Where a block of node a goes, and its image, if it has one. A block after the centre that is no
// image, for want of a node there, is 0.
struct block_place {
    float *to, *image, *none; // column after column, n_row apart; NULL: none
    int64_t n_row;
};

__device__ __forceinline__ block_place place_block(const hx_mg_level &level, int64_t a, int offset,
                                                   bool mirrored)
{
    const int back = HX_LATTICE_OFFSETS - 1 - offset;
    block_place p = {};
    p.n_row = DOF * level.n_node;
    p.to = level.d_matrix + DOF * (offset * p.n_row + a);
    if (!mirrored || offset == back) return p;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    if (b != a) p.image = level.d_matrix + DOF * (back * p.n_row + b);
    if (level.d_neighbour[back * level.n_node + a] == a)
        p.none = level.d_matrix + DOF * (back * p.n_row + a);
    return p;
}

// block: [column][row].
__device__ __forceinline__ void store_block(const block_place &p, const float block[DOF][DOF])
{
#pragma unroll
    for (int i = 0; i < DOF; i++)
#pragma unroll
        for (int j = 0; j < DOF; j += 2) {
            const int64_t at = i * p.n_row + j;
            *reinterpret_cast<float2 *>(p.to + at) = make_float2(block[i][j], block[i][j + 1]);
            if (p.image)
                *reinterpret_cast<float2 *>(p.image + at) =
                    make_float2(block[j][i], block[j + 1][i]);
            if (p.none) *reinterpret_cast<float2 *>(p.none + at) = make_float2(0.0f, 0.0f);
        }
}

__device__ __forceinline__ void store_entry(const block_place &p, int column, int row, float value)
{
    p.to[column * p.n_row + row] = value;
    if (p.image) p.image[row * p.n_row + column] = value;
    if (p.none) p.none[column * p.n_row + row] = 0.0f;
}

// ---- the same from cells' parts, of which only those that changed are made again ----

// Place of the block of rows of corner `row` in columns of corner `column` among a cell's, or of
// its mirror image, of which one is there.
__device__ __forceinline__ int place_of(int column, int d)
{
    return d < PAIRS ? CORNERS * d + column : CORNERS * PAIRS + column;
}

__device__ __forceinline__ bool is_stored(int column, int row)
{
    const int d = (row - column) & 7;
    return d < PAIRS || (d == PAIRS && column < PAIRS);
}

// A warp a cell: moduli that are kept become the design's where one of the cell's has changed. The
// cells whose parts are to be made are listed, in any order, their number last.
__global__ void keep_moduli_kernel(galerkin_input in, hx_mg_update holds, float *__restrict__ kept,
                                   int32_t *__restrict__ list)
{
    const int64_t cell = (blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (cell >= in.cells.n_cell) return;
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    bool changed = holds == HX_MG_NEW;
    for (int k = begin + lane; k < end; k += 32) {
        const int32_t e = in.elem[k];
        changed = changed || hx_mg_has_changed(kept[e], static_cast<float>(in.modulus[e]));
    }
    changed = __any_sync(0xffffffffu, changed);
    for (int k = begin + lane; k < end && changed; k += 32)
        kept[in.elem[k]] = static_cast<float>(in.modulus[in.elem[k]]);
    if (lane == 0 && (changed || holds != HX_MG_CHANGED))
        list[atomicAdd(list + in.cells.n_cell, 1)] = static_cast<int32_t>(cell);
}

constexpr int SHARE_BLOCKS = 5; // on a multiprocessor

__global__ void __launch_bounds__(THREADS, SHARE_BLOCKS)
    share_kernel(galerkin_input in, const int32_t *__restrict__ list, float *__restrict__ share)
{
    __shared__ shared_data data;
    const int thread = static_cast<int>(threadIdx.x), n = list[in.cells.n_cell];
    const int column = thread % CELL, corner = column / DOF, component = column % DOF;
    for (int i = static_cast<int>(blockIdx.x); i < n; i += static_cast<int>(gridDim.x)) {
        const int64_t cell = list[i];
        sum_cell(in, cell, data);
        for (int d = thread / CELL; d < N_ROW_CORNER; d += THREADS / CELL) {
            if (!is_stored(corner, (corner + d) & 7)) continue;
            float v[DOF];
            find_rows(in.cells.edge, corner, component, d, data.sum, v);
            float2 *to = reinterpret_cast<float2 *>(share + HX_MG_SHARE * cell +
                                                    DOF * (DOF * place_of(corner, d) + component));
#pragma unroll
            for (int r = 0; r < DOF; r += 2) to[r / 2] = make_float2(v[r], v[r + 1]);
        }
        __syncthreads();
    }
}

// A thread a block of the matrix: the sum over the up to eight cells that hold both nodes, in the
// order of their places around the node.
__global__ void __launch_bounds__(128)
    sum_shares_kernel(const float *__restrict__ share, const int32_t *__restrict__ node_cell,
                      hx_mg_level level, bool mirrored)
{
    const int64_t a = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int offset = static_cast<int>(blockIdx.y);
    const int p[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    float sum[DOF][DOF] = {}; // [column][row]
    if (a >= level.n_node) return;
    for (int c = 0; c < CORNERS; c++) {
        const int x = (c & 1) + p[0], y = (c >> 1 & 1) + p[1], z = (c >> 2) + p[2];
        if ((x | y | z) & ~1) continue; // the other node is not of this cell
        const int64_t cell = node_cell[c * level.n_node + a];
        if (cell < 0) continue;
        const int other = x + 2 * y + 4 * z;
        const bool stored = is_stored(other, c);
        const int place = stored ? place_of(other, (c - other) & 7) : place_of(c, (other - c) & 7);
        const float4 *from =
            reinterpret_cast<const float4 *>(share + HX_MG_SHARE * cell + DOF * DOF * place);
        float v[DOF * DOF];
#pragma unroll
        for (int k = 0; k < DOF * DOF / 4; k++) {
            const float4 u = __ldg(from + k);
            v[4 * k] = u.x, v[4 * k + 1] = u.y, v[4 * k + 2] = u.z, v[4 * k + 3] = u.w;
        }
#pragma unroll
        for (int q = 0; q < DOF; q++)
#pragma unroll
            for (int r = 0; r < DOF; r++) sum[q][r] += stored ? v[DOF * q + r] : v[DOF * r + q];
    }
    store_block(place_block(level, a, offset, mirrored), sum);
}

// ---- from a lattice: a few threads a block of the coarse matrix ----

// sum += w T(di)' A T(dk), T(d) = [1, theta x d; 0, 1]; block [column][row].
__device__ void add_block(const float *__restrict__ block, int64_t stride, float w,
                          const float di[3], const float dk[3], float sum[DOF][DOF])
{
    float a[DOF][DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int r = 0; r < DOF; r += 2) {
            const float2 v = *reinterpret_cast<const float2 *>(block + c * stride + r);
            a[c][r] = w * v.x;
            a[c][r + 1] = w * v.y;
        }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
#pragma unroll
        for (int r = 0; r < DOF; r++) a[3 + i][r] += dk[j] * a[l][r] - dk[l] * a[j][r];
    }
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum[c][i] += a[c][i];
            sum[c][3 + i] += a[c][3 + i] + di[j] * a[c][l] - di[l] * a[c][j];
        }
}

// Children of a node that a thread takes, and threads that share a block of the coarse matrix.
constexpr int TAKEN = 3, SHARERS = HX_LATTICE_OFFSETS / TAKEN, NODES = 32;
constexpr int64_t SMALL_NODES = 8000; // of a lattice whose blocks are shared

// Child o's part of the block of node a and the node at p.
__device__ __forceinline__ void add_child(const hx_mg_level &fine, const hx_mg_level &coarse,
                                          int64_t a, int o, const int p[3], float sum[DOF][DOF])
{
    const int64_t n_row = DOF * fine.n_node, i = coarse.d_child[o * coarse.n_node + a];
    const int at[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
    int low[3], high[3], step[3]; // offsets from i of the children of the node at p
    float di[3];
    if (i < 0) return;
    for (int k = 0; k < 3; k++) {
        const int mode = coarse.mode[k];
        step[k] = hx_lattice_stride(mode) * p[k];
        low[k] = max(step[k] - at[k] + hx_lattice_low(mode), -1);
        high[k] = min(step[k] - at[k] + hx_lattice_high(mode), 1);
    }
    const float wi = hx_mg_child(&fine, &coarse, o, di);
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const int n = (z + 1) * 9 + (y + 1) * 3 + x + 1;
                if (n != HX_LATTICE_CENTRE && fine.d_neighbour[n * fine.n_node + i] == i) continue;
                const int e = (at[2] + z - step[2] + 1) * 9 + (at[1] + y - step[1] + 1) * 3 +
                              at[0] + x - step[0] + 1;
                float dk[3];
                const float w = wi * hx_mg_child(&fine, &coarse, e, dk);
                add_block(fine.d_matrix + DOF * n * n_row + DOF * i, n_row, w, di, dk, sum);
            }
}

// Of a large lattice: a thread a block.
__global__ void __launch_bounds__(128)
    galerkin_kernel(hx_mg_level fine, hx_mg_level coarse, bool mirrored)
{
    const int64_t a = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int parent = static_cast<int>(blockIdx.y);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    float sum[DOF][DOF] = {};
    if (a >= coarse.n_node) return;
    for (int o = 0; o < HX_LATTICE_OFFSETS; o++) add_child(fine, coarse, a, o, p, sum);
    store_block(place_block(coarse, a, parent, mirrored), sum);
}

// Of a small one, where that would be a chain of up to 729 products, each waiting for its loads.
__global__ void __launch_bounds__(NODES *SHARERS, 2)
    small_galerkin_kernel(hx_mg_level fine, hx_mg_level coarse, bool mirrored)
{
    __shared__ float part[SHARERS][DOF * DOF][NODES];
    const int lane = static_cast<int>(threadIdx.x), sharer = static_cast<int>(threadIdx.y);
    const int64_t a = blockIdx.x * static_cast<int64_t>(NODES) + lane;
    const int parent = static_cast<int>(blockIdx.y);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    float sum[DOF][DOF] = {};
    if (a < coarse.n_node)
        for (int o = 0; o < TAKEN; o++) add_child(fine, coarse, a, TAKEN * sharer + o, p, sum);
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int r = 0; r < DOF; r++) part[sharer][DOF * c + r][lane] = sum[c][r];
    __syncthreads();
    if (a >= coarse.n_node) return;
    const block_place place = place_block(coarse, a, parent, mirrored);
    for (int e = sharer; e < DOF * DOF; e += SHARERS) {
        float all = part[0][e][lane];
        for (int k = 1; k < SHARERS; k++) all += part[k][e][lane];
        store_entry(place, e / DOF, e % DOF, all);
    }
}

} // namespace

static galerkin_input input_of(const hx_mg_mesh *mesh)
{
    galerkin_input in = {};
    in.cells = hx_mg_cells_of(mesh);
    in.elem = mesh->d_cell_elem;
    in.elem_at = mesh->d_cell_elem_at;
    in.conn = mesh->model->d_conn;
    in.fixed = mesh->d_fixed;
    in.modulus = mesh->model->d_modulus;
    in.lambda = static_cast<float>(mesh->model->lambda * mesh->unit);
    in.mu = static_cast<float>(mesh->model->mu * mesh->unit);
    return in;
}

static int multiply_cells(hx_device *dev, const hx_mg_mesh *mesh, const galerkin_input &in,
                          const hx_mg_level *level)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    HX_TRY_CUDA(cudaMemsetAsync(
        level->d_matrix, 0, static_cast<size_t>(level->n_node) * 27 * 36 * sizeof(float), stream));
    for (int colour = 0; colour < 8; colour++) {
        const int n = mesh->colour_at[colour + 1] - mesh->colour_at[colour];
        if (n == 0) continue;
        mesh_galerkin_kernel<<<n, THREADS, 0, stream>>>(
            in, mesh->d_coloured + mesh->colour_at[colour], *level);
        HX_TRY_LAUNCH("mesh Galerkin");
    }
    return HX_OK;
}

int hx_cuda_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    return multiply_cells(dev, mesh, input_of(mesh), level);
}

int hx_cuda_mesh_update(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                        hx_mg_update holds)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    galerkin_input in = input_of(mesh);
    HX_TRY_CUDA(cudaMemsetAsync(mesh->d_changed + mesh->n_cell, 0, sizeof(int32_t), impl->stream));
    keep_moduli_kernel<<<hx_blocks(32 * mesh->n_cell, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(
        in, holds, mesh->d_kept, mesh->d_changed);
    HX_TRY_LAUNCH("kept moduli");
    in.kept = mesh->d_kept;
    if (!mesh->d_share) return multiply_cells(dev, mesh, in, level);
    const int64_t most = SHARE_BLOCKS * static_cast<int64_t>(impl->n_sm);
    const unsigned n_block = static_cast<unsigned>(mesh->n_cell < most ? mesh->n_cell : most);
    share_kernel<<<n_block, THREADS, 0, impl->stream>>>(in, mesh->d_changed, mesh->d_share);
    HX_TRY_LAUNCH("mesh Galerkin");
    const bool mirrored = !level->share;
    const dim3 grid(hx_blocks(level->n_node, 128), found_blocks(mirrored));
    sum_shares_kernel<<<grid, 128, 0, impl->stream>>>(mesh->d_share, mesh->d_node_cell, *level,
                                                      mirrored);
    HX_TRY_LAUNCH("cells' parts");
    return HX_OK;
}

int hx_cuda_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const bool mirrored = !fine->share && !coarse->share;
    const unsigned n_block = found_blocks(mirrored);
    if (coarse->n_node > SMALL_NODES)
        galerkin_kernel<<<dim3(hx_blocks(coarse->n_node, 128), n_block), 128, 0, stream>>>(
            *fine, *coarse, mirrored);
    else
        small_galerkin_kernel<<<dim3(hx_blocks(coarse->n_node, NODES), n_block),
                                dim3(NODES, SHARERS), 0, stream>>>(*fine, *coarse, mirrored);
    HX_TRY_LAUNCH("Galerkin");
    return HX_OK;
}
