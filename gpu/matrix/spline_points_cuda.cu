// Operations of element_ops.h computed from the control points of a spline's cells: one thread
// block per cell, or per control point, which processes its cells in ascending order. The threads
// are the Gauss points, and their sums have a fixed order. Not performance-critical.
#include "core/linalg/block3.h"
#include "core/matrix/form.h"
#include "core/problem/body_force.h"
#include "points_cuda.cuh"
#include "spline_cells.cuh"

namespace
{

using namespace hx_spline_gpu;

constexpr int WARP = 32, THREADS = 128;
static_assert(THREADS >= MOST, "one thread per Gauss point");

struct shared_memory {
    tables t;
    double work[WORK * 4 * MOST];
    double part[THREADS / WARP][8];
};

// Sums N numbers over the block; thread 0 has the results.
template <int N> __device__ __forceinline__ void sum_threads(shared_memory &s, double (&v)[N])
{
    const int lane = static_cast<int>(threadIdx.x) % WARP,
              warp = static_cast<int>(threadIdx.x) / WARP;
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2)
            v[i] += __shfl_down_sync(0xffffffffu, v[i], step);
        if (lane == 0) s.part[warp][i] = v[i];
    }
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = s.part[0][i];
            for (int k = 1; k < THREADS / WARP; k++) v[i] += s.part[k][i];
        }
}

// Evaluates u at the Gauss points of a cell, in work in the layout of `evaluate`.
__device__ __forceinline__ void evaluate_field(const space &s, const cell &c,
                                               const double *__restrict__ u, shared_memory &m)
{
    __syncthreads(); // all threads have read the numbers of their frames
    load_fields(s, c, u, m.work);
    __syncthreads();
    evaluate(c, m.t, 3, m.work);
}

// u' Ke u of a cell for unit modulus.
__global__ void __launch_bounds__(THREADS)
    energy_kernel(space s, double lambda, double mu, const double *__restrict__ u,
                  double *__restrict__ energy)
{
    __shared__ shared_memory m;
    const int q = static_cast<int>(threadIdx.x);
    const cell c = load_cell(s, blockIdx.x, m.t);
    frame f;
    double mine[1] = {0.0};
    map_cell(s, c, m.t, m.work, f);
    evaluate_field(s, c, u, m);
    if (q < c.n) {
        double h[3][3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const double *const at = m.work + 4 * i * c.n + q;
            const shape whole = {at[0], {at[c.n], at[2 * c.n], at[3 * c.n]}};
            gradient(f, whole, h[i]);
        }
        const double trace = h[0][0] + h[1][1] + h[2][2];
        const double xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
        mine[0] =
            f.volume * (lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
                        2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2]));
    }
    sum_threads(m, mine);
    if (q == 0) energy[blockIdx.x] = mine[0];
}

// Calls `visit` for each cell of a control point, with the point's index in the cell, after loading
// the tables and computing the frames of threads q < n.
template <class Visit>
__device__ __forceinline__ void visit_cells(const space &s, int64_t point, shared_memory &m,
                                            Visit visit)
{
    for (int64_t k = s.in.point_ptr[point]; k < s.in.point_ptr[point + 1]; k++) {
        const uint32_t place = s.in.point_place[k];
        const int number = cell_of_place(s.in, place);
        __syncthreads(); // all threads have finished the preceding cell
        const cell c = load_cell(s, number, m.t);
        frame f;
        map_cell(s, c, m.t, m.work, f);
        if (static_cast<int>(threadIdx.x) < c.n)
            visit(number, c, f, static_cast<int>(place - c.first));
    }
}

// The tile of a control point: sum of modulus (lambda m + mu m' + mu tr m I), m = int g g' dV.
// Either its six different numbers, or the three of its diagonal.
template <bool WHOLE>
__global__ void __launch_bounds__(THREADS)
    tile_kernel(space s, double lambda, double mu, const double *__restrict__ modulus,
                double *__restrict__ out)
{
    __shared__ shared_memory shared;
    const int64_t point = blockIdx.x;
    double m[6] = {};
    visit_cells(s, point, shared, [&](int number, const cell &c, const frame &f, int a) {
        double g[3];
        gradient(f, shape_at(s, c, shared.t, static_cast<int>(threadIdx.x), a), g);
        const double w = modulus[number] * f.volume;
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int k = i; k < 3; k++) m[hx_block3_at(i, k)] += w * g[i] * g[k];
    });
    sum_threads(shared, m);
    if (threadIdx.x != 0) return;
    double full[3][3], tile[3][3];
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) full[i][k] = m[hx_block3_at(i, k)];
    hx_form_elasticity(1.0, lambda, mu, full, tile);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = i; k < 3; k++) {
            if (WHOLE)
                out[6 * point + hx_block3_at(i, k)] = tile[i][k];
            else if (i == k)
                out[3 * point + i] = tile[i][i];
        }
}

// The energy for heat conduction with one unknown per point: T' Ke T of a cell, for unit
// conductivity.
__global__ void __launch_bounds__(THREADS)
    conduction_energy_kernel(space s, const double *__restrict__ t, double *__restrict__ energy)
{
    __shared__ shared_memory m;
    const int q = static_cast<int>(threadIdx.x);
    const cell c = load_cell(s, blockIdx.x, m.t);
    frame f;
    double mine[1] = {0.0};
    map_cell(s, c, m.t, m.work, f);
    __syncthreads(); // all threads have read the numbers of their frames
    if (q < c.n) {
        const int64_t point = s.in.point[c.first + q];
        m.work[q] = (s.rule.weight ? s.rule.weight[point] : 1.0) * t[point];
    }
    __syncthreads();
    evaluate(c, m.t, 1, m.work);
    if (q < c.n) {
        const double *const at = m.work + q;
        double g[3];
        gradient(f, {at[0], {at[c.n], at[2 * c.n], at[3 * c.n]}}, g);
        mine[0] = f.volume * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    sum_threads(m, mine);
    if (q == 0) energy[blockIdx.x] = mine[0];
}

// The diagonal for heat conduction.
__global__ void __launch_bounds__(THREADS)
    conduction_diagonal_kernel(space s, const double *__restrict__ modulus,
                               double *__restrict__ diagonal)
{
    __shared__ shared_memory shared;
    double sum[1] = {0.0};
    visit_cells(s, blockIdx.x, shared, [&](int number, const cell &c, const frame &f, int a) {
        double g[3];
        gradient(f, shape_at(s, c, shared.t, static_cast<int>(threadIdx.x), a), g);
        sum[0] += modulus[number] * f.volume * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    });
    sum_threads(shared, sum);
    if (threadIdx.x == 0) diagonal[blockIdx.x] = sum[0];
}

// f = static + sum over cells of m(rho) int R b dV.
__global__ void __launch_bounds__(THREADS)
    body_force_kernel(space s, hx_body_field field, hx_device_materials materials,
                      const double *__restrict__ rho, const double *fixed_part, double *f)
{
    __shared__ shared_memory shared;
    const int64_t point = blockIdx.x;
    double sum[3] = {};
    visit_cells(s, point, shared, [&](int number, const cell &c, const frame &at, int a) {
        double b[3];
        hx_body_at(&field, at.x, b);
        const shape r = shape_at(s, c, shared.t, static_cast<int>(threadIdx.x), a);
        const double mass = hx_mass_factor(&materials, number) * hx_mass_of(rho[number]);
        const double w = mass * at.volume * r.value / at.w;
#pragma unroll
        for (int i = 0; i < 3; i++) sum[i] += w * b[i];
    });
    sum_threads(shared, sum);
    if (threadIdx.x != 0) return;
#pragma unroll
    for (int i = 0; i < 3; i++)
        f[3 * point + i] = fixed_part ? fixed_part[3 * point + i] + sum[i] : sum[i];
}

// dc += factor m'(rho) int u . b dV.
__global__ void __launch_bounds__(THREADS)
    body_work_kernel(space s, hx_body_field field, hx_device_materials materials, double factor,
                     const double *__restrict__ rho, const double *__restrict__ u,
                     double *__restrict__ dc)
{
    __shared__ shared_memory m;
    const int q = static_cast<int>(threadIdx.x);
    const cell c = load_cell(s, blockIdx.x, m.t);
    frame f;
    double mine[1] = {0.0};
    map_cell(s, c, m.t, m.work, f);
    evaluate_field(s, c, u, m);
    if (q < c.n) {
        double b[3];
        hx_body_at(&field, f.x, b);
#pragma unroll
        for (int i = 0; i < 3; i++) mine[0] += b[i] * m.work[4 * i * c.n + q];
        mine[0] *= f.volume / f.w;
    }
    sum_threads(m, mine);
    if (q != 0) return;
    const double slope = hx_mass_factor(&materials, blockIdx.x) * hx_mass_slope(rho[blockIdx.x]);
    dc[blockIdx.x] += factor * slope * mine[0];
}

space view(const hx_device_model *model)
{
    return space_of(model->points, model->d_xyz);
}

} // namespace

int hx_cuda_spline_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    return hx_launch<THREADS>(dev, "diagonal of a spline", THREADS * model->n_point,
                              tile_kernel<false>, view(model), model->lambda, model->mu,
                              model->d_modulus, d_diag);
}

int hx_cuda_spline_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    return hx_launch<THREADS>(dev, "diagonal blocks of a spline", THREADS * model->n_point,
                              tile_kernel<true>, view(model), model->lambda, model->mu,
                              model->d_modulus, d_block);
}

int hx_cuda_spline_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                          double *d_energy)
{
    return hx_launch<THREADS>(dev, "energy of a spline's cells", THREADS * model->n_elem,
                              energy_kernel, view(model), model->lambda, model->mu, d_u, d_energy);
}

int hx_cuda_spline_body_force(hx_device *dev, const hx_device_model *model,
                              const hx_body_field *field, const double *d_rho,
                              const double *d_static, double *d_f)
{
    return hx_launch<THREADS>(dev, "body force of a spline", THREADS * model->n_point,
                              body_force_kernel, view(model), *field, model->materials, d_rho,
                              d_static, d_f);
}

int hx_cuda_spline_body_work(hx_device *dev, const hx_device_model *model,
                             const hx_body_field *field, double factor, const double *d_rho,
                             const double *d_u, double *d_dc)
{
    return hx_launch<THREADS>(dev, "body work of a spline", THREADS * model->n_elem,
                              body_work_kernel, view(model), *field, model->materials, factor,
                              d_rho, d_u, d_dc);
}

int hx_cuda_spline_conduction_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    return hx_launch<THREADS>(dev, "diagonal of a spline's conduction", THREADS * model->n_point,
                              conduction_diagonal_kernel, view(model), model->d_modulus, d_diag);
}

int hx_cuda_spline_conduction_energy(hx_device *dev, const hx_device_model *model,
                                     const double *d_t, double *d_energy)
{
    return hx_launch<THREADS>(dev, "conduction energy of a spline's cells", THREADS * model->n_elem,
                              conduction_energy_kernel, view(model), d_t, d_energy);
}
