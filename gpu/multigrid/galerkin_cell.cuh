// The contribution of a cell to P'KP, from its elements. Shared by galerkin_cuda.cu and
// galerkin_classes_cuda.cu.
#ifndef HX_GALERKIN_CELL_CUH
#define HX_GALERKIN_CELL_CUH

#include "galerkin_cuda.cuh"

namespace hx_galerkin
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, CELL = CORNERS * DOF;

// --- from the mesh: one block per cell, four teams of 24 threads, two columns per thread ---
//
// A thread keeps two columns of the cell's 48 x 48 matrix in registers over all elements of the
// cell, for the same component of corners k and k + 4. With w_b the weight of its corner at node b,
// a column of K_e P_e is sum_b w_b M_b, where M contains Ke's columns (translations) and their
// moments x_b x Ke (rotations about the cell's first corner). P_e, 24 x 48, is therefore never
// formed, which takes 450 instead of 1,150 FMAs per column. The cost is in reading M from shared
// memory, hence two columns at a time. The rows are transformed in the same way, but only half of
// them are summed, because the matrix is symmetric. Cells of one colour share no corner, so they
// add their contributions without atomics and in a fixed order.

constexpr int PAIRS = 4, GROUP = PAIRS * DOF, GROUPS = 4, THREADS = GROUPS * GROUP;
constexpr int BATCH = GROUPS; // number of elements in shared memory at a time
// rows of column k: corners k, k + 1 .. k + 4; of column k + 4: k + 4 .. k + 7
constexpr int N_ROW_CORNER = 5;

struct alignas(16) element_points {
    float gradient[8][3][8]; // [point][component][corner]
    float x[8][4];           // relative to the cell's first corner, divided by the unit; 3 are used
    float det[8];            // times the modulus
};

struct alignas(16) element_data : element_points {
    float4 column[24][2][DOF]; // M: [row][half of the nodes][component], four nodes
    float weight[8][12];       // [node][corner], the first four corners repeated
    unsigned fixed[8];
};

// Contribution of a cell: for each column, the rows of corners from the column's own corner on.
typedef float cell_sum[CELL][N_ROW_CORNER * DOF + 1];

union shared_data {
    element_data element[BATCH];
    cell_sum sum;
};

struct galerkin_input {
    hx_mg_cells cells;
    const int32_t *elem, *elem_at, *conn;
    const uint8_t *fixed;
    const double *modulus; // the design's moduli; `kept`, if not nullptr, is used instead
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

__device__ inline void load_node(const galerkin_input &in, int64_t cell, int64_t elem, int a,
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

// Derivatives of corner a's shape function with respect to (r, s, t) at a point.
__device__ __forceinline__ void reference_gradient(int a, const float at[3], float d[3])
{
    const float s0 = sign_of(a, 0), s1 = sign_of(a, 1), s2 = sign_of(a, 2);
    const float f0 = 1.0f + s0 * at[0], f1 = 1.0f + s1 * at[1], f2 = 1.0f + s2 * at[2];
    d[0] = 0.125f * s0 * f1 * f2;
    d[1] = 0.125f * s1 * f0 * f2;
    d[2] = 0.125f * s2 * f0 * f1;
}

// Gradients of the corners' shape functions at Gauss point q.
__device__ inline void find_gradients(int q, float modulus, element_points &e)
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

// Rows of node a for the four nodes of a half: their entries of Ke, without fixed degrees of
// freedom, and their moments.
__device__ inline void fill_rows(int a, int half, float lambda, float mu, element_data &e)
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

// Two columns, by row corner: of corner k and of corner k + 4.
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

// Adds an element to the columns; moments are about the cell's first corner.
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

// v[3 .. 5]: converts moments about the cell's first corner to moments about `corner`.
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
    return HX_COARSE_CENTRE + ((to & 1) - (from & 1)) + 3 * ((to >> 1 & 1) - (from >> 1 & 1)) +
           9 * ((to >> 2) - (from >> 2));
}

// Rows of corner + d in the column, with the rotation about the column's corner and moments about
// the rows' corners.
__device__ __forceinline__ void find_rows(const float edge[3], int corner, int component, int d,
                                          const cell_sum &column, float v[DOF])
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

__device__ __forceinline__ void add_sums(float *to, const float *from, int n, bool first)
{
    for (int i = 0; i < n; i++) to[i] = first ? from[i] : to[i] + from[i];
}

// Sums the columns of the cell in data.sum, with moments and rotations about its first corner. All
// threads call it.
__device__ __forceinline__ void sum_cell(const galerkin_input &in, int64_t cell, shared_data &data)
{
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    const int thread = static_cast<int>(threadIdx.x), group = thread / GROUP, t = thread % GROUP;
    const int corner = t / DOF, component = t % DOF;
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
        if (group < n) add_element(data.element[group], corner, component, sum);
        __syncthreads();
    }
    for (int from = 0; from < GROUPS; from++) {
        if (group == from) {
            add_sums(data.sum[t], sum.first[0], N_ROW_CORNER * DOF, from == 0);
            add_sums(data.sum[t + GROUP], sum.second[0], (N_ROW_CORNER - 1) * DOF, from == 0);
        }
        __syncthreads();
    }
}

// Index, among the stored blocks of a cell, of the block with rows of corner column + d and columns
// of corner `column`. Only one of a block and its mirror image is stored.
__device__ __forceinline__ int place_of(int column, int d)
{
    return d < PAIRS ? CORNERS * d + column : CORNERS * PAIRS + column;
}

__device__ __forceinline__ bool is_stored(int column, int row)
{
    const int d = (row - column) & 7;
    return d < PAIRS || (d == PAIRS && column < PAIRS);
}

// Adds the column's blocks and their mirror images to the coarse matrix.
__device__ inline void write_column(const hx_mg_cells &cells, int64_t cell, int corner,
                                    int component, const cell_sum &column, const hx_mg_level &level)
{
    const int32_t *node = cells.corner + 8 * cell;
    const int64_t here = node[corner];
#pragma unroll
    for (int d = 0; d < N_ROW_CORNER; d++) {
        if (d == PAIRS && corner >= PAIRS) continue; // computed for the opposite corner
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

// Writes the cell's contribution from its sums: blocks of pairs of corners, the one that is_stored
// of each pair. All N_THREAD threads call it; threads beyond the last complete set of columns do
// nothing.
template <int N_THREAD>
__device__ __forceinline__ void write_share(const float edge[3], const cell_sum &sum, float *share)
{
    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % CELL, corner = column / DOF, component = column % DOF;
    if (thread >= N_THREAD / CELL * CELL) return;
    for (int d = thread / CELL; d < N_ROW_CORNER; d += N_THREAD / CELL) {
        if (!is_stored(corner, (corner + d) & 7)) continue;
        float v[DOF];
        find_rows(edge, corner, component, d, sum, v);
        float2 *to =
            reinterpret_cast<float2 *>(share + DOF * (DOF * place_of(corner, d) + component));
#pragma unroll
        for (int r = 0; r < DOF; r += 2) to[r / 2] = make_float2(v[r], v[r + 1]);
    }
}

inline galerkin_input input_of(const hx_mg_mesh *mesh)
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

} // namespace hx_galerkin

#endif
