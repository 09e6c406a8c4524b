// P'KP of the mesh from the mean strains of its elements. If the strain of an element of volume V
// is replaced by its mean, B u / V with B = dV/dx, then K = B'DB / V (Flanagan and Belytschko, Int.
// J. Numer. Meth. Eng. 17, 1981, without their hourglass control). This is exact for a uniform
// strain and too soft otherwise. In a cell with several layers of elements, the motions of its
// eight corners give nearly uniform strains in the elements. It takes a fifth of the operations of
// P'KP with the full K.
#include "galerkin_means_cuda.cuh"

using namespace hx_galerkin;

namespace
{

// --- selection of the cells, once per mesh ---

constexpr int WARP = 32;
// number of threads of a block, and of elements at a time
constexpr int JUDGES = 128, JUDGED = JUDGES / CORNERS;

__device__ __forceinline__ float energy_of(float lambda, float mu, const float normal[3],
                                           const float shear[3])
{
    const float trace = normal[0] + normal[1] + normal[2];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        squares = fmaf(normal[i], normal[i], squares);
        sum = fmaf(shear[i], shear[i], sum);
    }
    return lambda * trace * trace + mu * (2.0f * squares + sum);
}

// Energies of the six motions of a corner, times a factor. The gradients of the motions are
// g (translations) and h (the same gradients times coordinates relative to the corner,
// h[coordinate][derivative]).
__device__ __forceinline__ void add_energies(float lambda, float mu, float factor, const float g[3],
                                             const float h[3][3], float sum[DOF])
{
#pragma unroll
    for (int m = 0; m < 3; m++) {
        const int p = (m + 1) % 3, q = (m + 2) % 3;
        float normal[3] = {}, shear[3] = {}; // shear[i]: in the plane normal to axis i
        normal[m] = g[m];
        shear[q] = g[p];
        shear[p] = g[q];
        sum[m] += factor * energy_of(lambda, mu, normal, shear);
        normal[m] = 0.0f;
        normal[p] = -h[q][p];
        normal[q] = h[p][q];
        shear[m] = h[p][p] - h[q][q];
        shear[q] = -h[q][m];
        shear[p] = h[p][m];
        sum[3 + m] += factor * energy_of(lambda, mu, normal, shear);
    }
}

// One block per cell; one thread per node of an element, then per Gauss point, then per corner of
// the cell. Mean strains are allowed if, with equal moduli, none of the corners' motions loses more
// than a given fraction of its energy.
__global__ void __launch_bounds__(JUDGES)
    judge_kernel(galerkin_input in, const uint8_t *__restrict__ of, uint8_t *__restrict__ mean)
{
    __shared__ element_points points[JUDGED];
    __shared__ float weight[JUDGED][CORNERS][CORNERS]; // [node][corner]
    __shared__ float joined[2][JUDGES / WARP][CORNERS][DOF];
    const int64_t cell = blockIdx.x;
    const int begin = in.elem_at[cell], n = in.elem_at[cell + 1] - begin;
    const int thread = static_cast<int>(threadIdx.x), mine = thread / CORNERS, k = thread % CORNERS;
    element_points &e = points[mine];
    float exact[DOF] = {}, less[DOF] = {}, edge[3];
    bool may = n >= HX_MG_MEAN_ELEMS && !(of && of[cell] < HX_CELL_CLASSES);
#pragma unroll
    for (int i = 0; i < 3; i++) edge[i] = k >> i & 1 ? in.cells.edge[i] : 0.0f;
    for (int first = 0; first < n && may; first += JUDGED) {
        const bool has = first + mine < n;
        bool fixed = false;
        if (has) {
            const int64_t node =
                in.conn[CORNERS * static_cast<int64_t>(in.elem[begin + first + mine]) + k];
            hx_mg_locate(in.cells, cell, node, weight[mine][k], e.x[k]);
            fixed = in.fixed[node] != 0;
        }
        may = !__syncthreads_or(fixed ? 1 : 0);
        if (has) find_gradients(k, 1.0f, e);
        __syncthreads();
        if (has) {
            float volume = 0.0f, g_mean[3] = {}, h_mean[3][3] = {};
#pragma unroll 1
            for (int q = 0; q < 8; q++) {
                const float det = e.det[q];
                float g[3] = {}, h[3][3] = {};
#pragma unroll
                for (int a = 0; a < CORNERS; a++) {
                    const float w = weight[mine][a][k];
#pragma unroll
                    for (int j = 0; j < 3; j++) {
                        const float v = w * e.gradient[q][j][a];
                        g[j] += v;
#pragma unroll
                        for (int l = 0; l < 3; l++) h[l][j] = fmaf(e.x[a][l] - edge[l], v, h[l][j]);
                    }
                }
                add_energies(in.lambda, in.mu, det, g, h, exact);
                volume += det;
#pragma unroll
                for (int j = 0; j < 3; j++) {
                    g_mean[j] = fmaf(det, g[j], g_mean[j]);
#pragma unroll
                    for (int l = 0; l < 3; l++) h_mean[l][j] = fmaf(det, h[l][j], h_mean[l][j]);
                }
            }
            add_energies(in.lambda, in.mu, 1.0f / volume, g_mean, h_mean, less);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < DOF; i++) {
        for (int by = WARP / 2; by >= CORNERS; by /= 2) {
            exact[i] += __shfl_xor_sync(0xffffffffu, exact[i], by);
            less[i] += __shfl_xor_sync(0xffffffffu, less[i], by);
        }
        if (thread % WARP < CORNERS) {
            joined[0][thread / WARP][k][i] = exact[i];
            joined[1][thread / WARP][k][i] = less[i];
        }
    }
    __syncthreads();
    bool keeps = true;
    if (thread < CELL) {
        float sum[2] = {};
        for (int w = 0; w < JUDGES / WARP; w++)
            for (int i = 0; i < 2; i++) sum[i] += joined[i][w][thread / DOF][thread % DOF];
        keeps = sum[1] >= HX_MG_MEAN_ENERGY * sum[0];
    }
    may = __syncthreads_and(may && keeps ? 1 : 0) != 0;
    if (thread == 0) mean[cell] = may ? HX_MG_MAY_MEAN : 0;
}

// --- contribution of a cell: one block; some warps process one element each and 32 of the 36 pairs
// of corners; one more warp processes the other four pairs, for eight elements ---
//
// With s = sqrt(E mu / V), the strains of corner k's motions are s times sums over the element's
// nodes of w B (translations) and w x B' (rotations, with x relative to the cell's first corner). A
// block of the contribution is the sum over elements of the strains of one corner times D / mu
// times those of another.

constexpr int MEAN_WARPS = 3, MEAN_THREADS = WARP * (MEAN_WARPS + 1), MEAN_BLOCKS = 4,
              // number of elements in shared memory at a time
    MEAN_BATCH = WARP / CORNERS * MEAN_WARPS, SLICES = WARP / PAIRS, BLOCK = DOF * DOF;

// Strains of a corner's motions. For the rotation about m, with (m, p, q) cyclic and H the sum of w
// x B':
struct alignas(16) corner_strain {
    float g[3];         // translations: B
    float twist[3];     // H_pp - H_qq: shear in the plane (p, q)
    float lg[3];        // lambda / mu times g
    float trace[3];     // lambda / mu times (H_pq - H_qp)
    float pm[3], qm[3]; // H_pm; -H_qm: shears (m, q) and (m, p)
    float np[3], nq[3]; // D / mu times the strain: normal components p and q
};
constexpr int CORNER_FLOATS = sizeof(corner_strain) / sizeof(float), CORNER_STRIDE = 28,
              // strides that avoid bank conflicts between corners and between elements
    STRAIN_STRIDE = CORNERS * CORNER_STRIDE + 16;
static_assert(CORNER_FLOATS == 24, "six loads of 16 bytes");

struct mean_data {
    // of nodes relative to the cell's first corner; w: weight along x
    float4 place[MEAN_BATCH][CORNERS + 1];
    float4 gradient[MEAN_BATCH][CORNERS + 1]; // B; w: weight along y
    float by_z[MEAN_BATCH][CORNERS];          // weight along z
    union {
        alignas(16) float strain[MEAN_BATCH][STRAIN_STRIDE];
        float part[MEAN_WARPS / 2][BLOCK][WARP];
    };
    cell_sum sum;
};

__device__ __forceinline__ void load_strain(const float *from, corner_strain &s)
{
    float v[CORNER_FLOATS];
#pragma unroll
    for (int i = 0; i < CORNER_FLOATS; i += 4) {
        const float4 u = *reinterpret_cast<const float4 *>(from + i);
        v[i] = u.x, v[i + 1] = u.y, v[i + 2] = u.z, v[i + 3] = u.w;
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        s.g[i] = v[i], s.twist[i] = v[3 + i], s.lg[i] = v[6 + i], s.trace[i] = v[9 + i];
        s.pm[i] = v[12 + i], s.qm[i] = v[15 + i], s.np[i] = v[18 + i], s.nq[i] = v[21 + i];
    }
}

__device__ __forceinline__ void store_strain(const corner_strain &s, float *to)
{
    float v[CORNER_FLOATS];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        v[i] = s.g[i], v[3 + i] = s.twist[i], v[6 + i] = s.lg[i], v[9 + i] = s.trace[i];
        v[12 + i] = s.pm[i], v[15 + i] = s.qm[i], v[18 + i] = s.np[i], v[21 + i] = s.nq[i];
    }
#pragma unroll
    for (int i = 0; i < CORNER_FLOATS; i += 4)
        *reinterpret_cast<float4 *>(to + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
}

// sum[row][column] += strains of the rows' corner times D / mu times those of the columns' corner.
__device__ __forceinline__ void add_pair(const corner_strain &a, const corner_strain &k,
                                         float sum[DOF][DOF])
{
    const float dot = fmaf(a.g[2], k.g[2], fmaf(a.g[1], k.g[1], a.g[0] * k.g[0]));
#pragma unroll
    for (int r = 0; r < 3; r++) {
#pragma unroll
        for (int c = 0; c < 3; c++)
            sum[r][c] = fmaf(a.g[c], k.g[r], fmaf(a.g[r], k.lg[c], sum[r][c]));
        sum[r][r] += dot;
    }
#pragma unroll
    for (int m = 0; m < 3; m++) {
        const int p = (m + 1) % 3, q = (m + 2) % 3;
        // translations with a rotation, and a rotation with translations
        sum[m][3 + m] =
            fmaf(a.g[m], k.trace[m], fmaf(a.g[p], k.qm[m], fmaf(a.g[q], k.pm[m], sum[m][3 + m])));
        sum[p][3 + m] =
            fmaf(a.g[p], k.np[m], fmaf(a.g[q], k.twist[m], fmaf(a.g[m], k.qm[m], sum[p][3 + m])));
        sum[q][3 + m] =
            fmaf(a.g[q], k.nq[m], fmaf(a.g[p], k.twist[m], fmaf(a.g[m], k.pm[m], sum[q][3 + m])));
        sum[3 + m][m] =
            fmaf(k.g[m], a.trace[m], fmaf(k.g[p], a.qm[m], fmaf(k.g[q], a.pm[m], sum[3 + m][m])));
        sum[3 + m][p] =
            fmaf(k.g[p], a.np[m], fmaf(k.g[q], a.twist[m], fmaf(k.g[m], a.qm[m], sum[3 + m][p])));
        sum[3 + m][q] =
            fmaf(k.g[q], a.nq[m], fmaf(k.g[p], a.twist[m], fmaf(k.g[m], a.pm[m], sum[3 + m][q])));
    }
    // Rotations with rotations. For the rows: the normal strains of the rotation about axis i are
    // -H_qp and H_pq, half of what D adds to the trace.
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int ip = (i + 1) % 3, iq = (i + 2) % 3;
        float normal[3], shear[3];
        normal[i] = 0.0f;
        normal[ip] = 0.5f * (a.np[i] - a.trace[i]);
        normal[iq] = 0.5f * (a.nq[i] - a.trace[i]);
        shear[i] = a.twist[i];
        shear[iq] = a.qm[i];
        shear[ip] = a.pm[i];
#pragma unroll
        for (int m = 0; m < 3; m++) {
            const int p = (m + 1) % 3, q = (m + 2) % 3;
            float v = sum[3 + i][3 + m];
            if (m != i) v = fmaf(normal[m], k.trace[m], v);
            if (p != i) v = fmaf(normal[p], k.np[m], v);
            if (q != i) v = fmaf(normal[q], k.nq[m], v);
            v = fmaf(shear[m], k.twist[m], v);
            v = fmaf(shear[q], k.qm[m], v);
            v = fmaf(shear[p], k.pm[m], v);
            sum[3 + i][3 + m] = v;
        }
    }
}

// Converts a corner numbered by the bits x, y, z, as used here, to the numbering of hex8.
__device__ __forceinline__ int corner_of_hex8(int a)
{
    return ((a ^ a >> 1) & 1) | (a & 6);
}

__device__ __forceinline__ void subtract(const float4 &x, const float4 &y, float d[3])
{
    d[0] = x.x - y.x, d[1] = x.y - y.y, d[2] = x.z - y.z;
}

// sum += a x b
__device__ __forceinline__ void add_cross(const float a[3], const float b[3], float sum[3])
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        sum[i] = fmaf(a[j], b[k], fmaf(-a[k], b[j], sum[i]));
    }
}

// dV/dx of corner a, from its neighbours along edges and across faces, relative to the corner.
__device__ __forceinline__ void find_volume_gradient(const float4 *place, int a, float b[3])
{
    const float4 here = place[a];
    float e[3][3], f[3][3], sum[3] = {}; // f[i]: opposite corner of the face normal to axis i
#pragma unroll
    for (int i = 0; i < 3; i++) {
        subtract(place[a ^ 1 << i], here, e[i]);
        subtract(place[a ^ 7 ^ 1 << i], here, f[i]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        float d[3]; // difference of the faces at edge i, minus the edge that continues
#pragma unroll
        for (int c = 0; c < 3; c++) d[c] = f[j][c] - f[k][c] - e[j][c];
        add_cross(e[i], d, sum);
    }
    const float scale = __popc(a) & 1 ? -1.0f / 12.0f : 1.0f / 12.0f;
#pragma unroll
    for (int i = 0; i < 3; i++) b[i] = scale * sum[i];
}

// Strains of a corner's motions in an element of the batch.
__device__ __forceinline__ void find_strain(const mean_data &data, int e, int corner, float modulus,
                                            float ratio, corner_strain &s)
{
    float g[3] = {}, h[3][3] = {}, volume = 0.0f; // 3 times the volume
    const float sign[3] = {corner & 1 ? 1.0f : -1.0f, corner & 2 ? 1.0f : -1.0f,
                           corner & 4 ? 1.0f : -1.0f},
                at0[3] = {corner & 1 ? 0.0f : 1.0f, corner & 2 ? 0.0f : 1.0f,
                          corner & 4 ? 0.0f : 1.0f};
#pragma unroll
    for (int b = 0; b < CORNERS; b++) {
        const float4 p = data.place[e][b], v = data.gradient[e][b];
        const float x[3] = {p.x, p.y, p.z}, w = fmaf(sign[0], p.w, at0[0]) *
                                                fmaf(sign[1], v.w, at0[1]) *
                                                fmaf(sign[2], data.by_z[e][b], at0[2]);
        const float wv[3] = {w * v.x, w * v.y, w * v.z};
        volume = fmaf(p.x, v.x, fmaf(p.y, v.y, fmaf(p.z, v.z, volume)));
#pragma unroll
        for (int j = 0; j < 3; j++) {
            g[j] += wv[j];
#pragma unroll
            for (int l = 0; l < 3; l++) h[l][j] = fmaf(x[l], wv[j], h[l][j]);
        }
    }
    const float scale = volume > 0.0f ? sqrtf(3.0f * modulus / volume) : 0.0f;
#pragma unroll
    for (int m = 0; m < 3; m++) {
        const int p = (m + 1) % 3, q = (m + 2) % 3;
        s.g[m] = scale * g[m];
        s.lg[m] = ratio * s.g[m];
        s.twist[m] = scale * (h[p][p] - h[q][q]);
        s.pm[m] = scale * h[p][m];
        s.qm[m] = -scale * h[q][m];
        s.trace[m] = ratio * scale * (h[p][q] - h[q][p]);
        s.np[m] = s.trace[m] - 2.0f * scale * h[q][p];
        s.nq[m] = s.trace[m] + 2.0f * scale * h[p][q];
    }
}

// Adds the sums of all warps in data.sum.
__device__ __forceinline__ void join_warps(float sum[DOF][DOF], mean_data &data)
{
    const int warp = static_cast<int>(threadIdx.x) / WARP,
              lane = static_cast<int>(threadIdx.x) % WARP;
    for (int n = MEAN_WARPS, half; n > 1; n = half) {
        half = (n + 1) / 2;
        __syncthreads();
        if (warp >= half && warp < n)
#pragma unroll
            for (int i = 0; i < BLOCK; i++) data.part[warp - half][i][lane] = sum[i / DOF][i % DOF];
        __syncthreads();
        if (warp < n - half)
#pragma unroll
            for (int i = 0; i < BLOCK; i++) sum[i / DOF][i % DOF] += data.part[warp][i][lane];
    }
    const bool rest = warp == MEAN_WARPS;
    if (rest)
#pragma unroll
        for (int i = 0; i < BLOCK; i++)
            for (int by = 16; by >= 4; by /= 2)
                sum[i / DOF][i % DOF] += __shfl_xor_sync(0xffffffffu, sum[i / DOF][i % DOF], by);
    if (warp > 0 && !(rest && lane < PAIRS)) return;
    const int corner = lane % (rest ? PAIRS : CORNERS), d = rest ? PAIRS : lane / CORNERS;
#pragma unroll
    for (int i = 0; i < BLOCK; i++)
        data.sum[DOF * corner + i % DOF][DOF * d + i / DOF] = sum[i / DOF][i % DOF];
}

// sum_cell with mean strains. All threads call it.
__device__ __forceinline__ void sum_means(const galerkin_input &in, int64_t cell, mean_data &data)
{
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    const int thread = static_cast<int>(threadIdx.x), warp = thread / WARP, lane = thread % WARP;
    const int mine = thread / CORNERS, a = thread % CORNERS;
    const bool rest = warp == MEAN_WARPS;
    const int corner = lane % (rest ? PAIRS : CORNERS), d = rest ? PAIRS : lane / CORNERS,
              from = rest ? lane / PAIRS : warp, step = rest ? SLICES : MEAN_WARPS;
    const float ratio = in.lambda / in.mu;
    const int32_t *const conn = in.conn + corner_of_hex8(a);
    float sum[DOF][DOF] = {};
    int32_t elem = 0, node = 0; // of the next batch
    if (mine < min(end - begin, MEAN_BATCH)) {
        elem = in.elem[begin + mine];
        node = conn[CORNERS * static_cast<int64_t>(elem)];
    }
    for (int first = begin; first < end; first += MEAN_BATCH) {
        const int n = min(end - first, MEAN_BATCH),
                  n_next = min(end - first - MEAN_BATCH, MEAN_BATCH);
        corner_strain s;
        int32_t next = 0;
        if (mine < n_next) next = in.elem[first + MEAN_BATCH + mine];
        if (mine < n) { // one thread per node, with the nodes of an element in one warp
            const int here = min(n - warp * (WARP / CORNERS), WARP / CORNERS);
            const unsigned lanes = 0xffffffffu >> (WARP - CORNERS * here);
            float w[3], x[3], b[3];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const int at = in.cells.cell[3 * cell + i];
                w[i] =
                    in.cells.position[3 * static_cast<int64_t>(node) + i] - static_cast<float>(at);
                x[i] = static_cast<float>((in.cells.xyz[3 * static_cast<int64_t>(node) + i] -
                                           in.cells.origin[i] - at * in.cells.size[i]) *
                                          in.cells.per_unit);
            }
            const float modulus = modulus_of(in, elem) * in.mu;
            data.place[mine][a] = make_float4(x[0], x[1], x[2], w[0]);
            data.by_z[mine][a] = w[2];
            __syncwarp(lanes);
            find_volume_gradient(data.place[mine], a, b);
            data.gradient[mine][a] = make_float4(b[0], b[1], b[2], w[1]);
            __syncwarp(lanes);
            find_strain(data, mine, a, modulus, ratio, s);
        }
        __syncthreads(); // all threads have finished the preceding batch
        if (mine < n) store_strain(s, data.strain[mine] + CORNER_STRIDE * a);
        elem = next;
        if (mine < n_next) node = conn[CORNERS * static_cast<int64_t>(next)];
        __syncthreads();
#pragma unroll 1
        for (int e = from; e < n; e += step) {
            corner_strain row, column;
            load_strain(data.strain[e] + CORNER_STRIDE * corner, column);
            load_strain(data.strain[e] + CORNER_STRIDE * ((corner + d) & 7), row);
            add_pair(row, column, sum);
        }
    }
    join_warps(sum, data);
    __syncthreads();
}

__global__ void __launch_bounds__(MEAN_THREADS, MEAN_BLOCKS)
    mean_share_kernel(galerkin_input in, const int32_t *__restrict__ list,
                      float *__restrict__ share)
{
    __shared__ mean_data data;
    const int n = list[in.cells.n_cell + 1];
    for (int i = static_cast<int>(blockIdx.x); i < n; i += static_cast<int>(gridDim.x)) {
        const int64_t cell = list[in.cells.n_cell - 1 - i];
        sum_means(in, cell, data);
        write_share<MEAN_THREADS>(in.cells.edge, data.sum, share + HX_MG_SHARE * cell);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(MEAN_THREADS, MEAN_BLOCKS)
    mean_add_kernel(galerkin_input in, const uint8_t *__restrict__ mean,
                    const int32_t *__restrict__ coloured, hx_mg_level level)
{
    __shared__ mean_data data;
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t cell = coloured[blockIdx.x];
    if (!(mean[cell] & HX_MG_IS_MEAN)) return;
    sum_means(in, cell, data);
    if (thread < CELL) write_column(in.cells, cell, thread / DOF, thread % DOF, data.sum, level);
}

} // namespace

int hx_cuda_mesh_prepare(hx_device *dev, hx_mg_mesh *mesh)
{
    HX_TRY(hx_cuda_classes_create(dev, mesh));
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(mesh->n_cell), &mesh->d_mean));
    judge_kernel<<<static_cast<unsigned>(mesh->n_cell), JUDGES, 0, hx_cuda_of(dev)->stream>>>(
        input_of(mesh), hx_cuda_classes_of(mesh).of, mesh->d_mean);
    return HX_LAUNCHED("mean strains");
}

void hx_cuda_mesh_release(hx_device *dev, hx_mg_mesh *mesh)
{
    hx_cuda_classes_free(dev, mesh);
    dev->ops->release(dev, mesh->d_mean);
    mesh->d_mean = nullptr;
}

double hx_cuda_prepared_bytes(int64_t n_elem, double n_cell)
{
    return hx_cuda_classes_bytes(n_elem, n_cell) + n_cell;
}

int hx_cuda_means_share(hx_device *dev, const hx_mg_mesh *mesh, const galerkin_input &in)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const int64_t most = MEAN_BLOCKS * static_cast<int64_t>(impl->n_sm);
    const unsigned n_block = static_cast<unsigned>(mesh->n_cell < most ? mesh->n_cell : most);
    if (!mesh->d_mean || !mesh->takes_means) return HX_OK;
    mean_share_kernel<<<n_block, MEAN_THREADS, 0, impl->stream>>>(in, mesh->d_changed,
                                                                  mesh->d_share);
    return HX_LAUNCHED("mean strains");
}

int hx_cuda_means_add(hx_device *dev, const hx_mg_mesh *mesh, const galerkin_input &in,
                      const int32_t *d_coloured, int n, const hx_mg_level *level)
{
    mean_add_kernel<<<n, MEAN_THREADS, 0, hx_cuda_of(dev)->stream>>>(in, mesh->d_mean, d_coloured,
                                                                     *level);
    return HX_LAUNCHED("mean strains");
}
