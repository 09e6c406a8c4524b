// Heat conduction on the GPU (core/operator/conduction_ops.h): one thread per node, element or row
// of the films. Sums are in the order of the lists.
#include "../device/fields_cuda.cuh"
#include "../matrix/points_cuda.cuh"
#include "core/mesh/hex8_conduction.h"
#include "core/operator/conduction_ops.h"

extern const struct hx_multigrid_ops hx_cuda_multigrid_scalar_ops; // multigrid_scalar_cuda.cu

namespace
{

__device__ __forceinline__ void gather(const hx_device_model &model, int64_t e, int32_t conn[8],
                                       double x[24])
{
#pragma unroll
    for (int a = 0; a < 8; a++) {
        conn[a] = model.d_conn[8 * e + a];
#pragma unroll
        for (int i = 0; i < 3; i++)
            x[3 * a + i] = model.d_xyz[3 * static_cast<int64_t>(conn[a]) + i];
    }
}

struct diagonal_body {
    hx_device_model model;
    double *diagonal;
    __device__ void operator()(int64_t node) const
    {
        double sum = 0.0;
        for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
            const uint32_t at = model.d_node_elem[k];
            const int64_t e = at >> 3;
            int32_t conn[8];
            double x[24];
            gather(model, e, conn, x);
            sum += model.d_modulus[e] *
                   hx_hex8_conduction_diagonal(x, conn, static_cast<int>(at & 7u));
        }
        diagonal[node] = sum;
    }
};

struct energy_body {
    hx_device_model model;
    const double *temperature;
    double *energy;
    __device__ void operator()(int64_t e) const
    {
        int32_t conn[8];
        double x[24], t[8];
        gather(model, e, conn, x);
        for (int a = 0; a < 8; a++) t[a] = temperature[conn[a]];
        energy[e] = hx_hex8_conduction_energy(x, t);
    }
};

struct mutual_body {
    hx_device_model model;
    const double *s, *t;
    double *mutual;
    __device__ void operator()(int64_t e) const
    {
        int32_t conn[8];
        double x[24], se[8], te[8];
        gather(model, e, conn, x);
        for (int a = 0; a < 8; a++) {
            se[a] = s[conn[a]];
            te[a] = t[conn[a]];
        }
        mutual[e] = hx_hex8_conduction_mutual(x, se, te);
    }
};

template <class T> struct film_body {
    hx_device_films films;
    const T *x; // nullptr: compute the diagonal
    T *y;
    __device__ void operator()(int64_t k) const
    {
        const int32_t row = films.d_node[k];
        T sum = 0;
        for (int64_t j = films.d_ptr[k]; j < films.d_ptr[k + 1]; j++) {
            const int32_t column = films.d_col[j];
            const T value = static_cast<T>(films.d_value[j]);
            if (x)
                sum += value * x[column];
            else if (column == row)
                sum += value;
        }
        y[row] += sum;
    }
};

int diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    if (model->points) return hx_cuda_spline_conduction_diagonal(dev, model, d_diag);
    return hx_for_each(dev, model->n_node, diagonal_body{*model, d_diag});
}

int energy(hx_device *dev, const hx_device_model *model, const double *d_t, double *d_energy)
{
    if (model->points) return hx_cuda_spline_conduction_energy(dev, model, d_t, d_energy);
    return hx_for_each(dev, model->n_elem, energy_body{*model, d_t, d_energy});
}

int mutual(hx_device *dev, const hx_device_model *model, const double *d_s, const double *d_t,
           double *d_mutual)
{
    return hx_for_each(dev, model->n_elem, mutual_body{*model, d_s, d_t, d_mutual});
}

int film_add(hx_device *dev, const hx_device_films *films, const double *d_x, double *d_y)
{
    return hx_for_each(dev, films->n, film_body<double>{*films, d_x, d_y});
}

int film_add_single(hx_device *dev, const hx_device_films *films, const float *d_x, float *d_y)
{
    return hx_for_each(dev, films->n, film_body<float>{*films, d_x, d_y});
}

} // namespace

const hx_conduction_ops hx_cuda_conduction_ops = {
    diagonal, energy, mutual, film_add, film_add_single, &hx_cuda_multigrid_scalar_ops, 0, 1};
