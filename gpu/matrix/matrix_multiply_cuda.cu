// y = A x for matrices on the GPU, each row in an order that depends only on that row; also x'y in
// the same pass: one sum per thread block, added in the order of the blocks.
#include <cstdlib>

#include "../device/vector_cuda.cuh"
#include "block_stream.cuh"
#include "core/base/memory.h"
#include "core/operator/interface_points.h"
#include "product_cuda.cuh"

namespace
{

// Rows of blocks: warps per thread block, and rows per warp.
constexpr int BSR_WARPS = 4, BSR_ROWS = 16;
// Rows of numbers: threads per row, and numbers that a thread processes at a time.
constexpr int LONG_ROW = 16, LONG_EACH = 6, SHORT_ROW = 8, SHORT_EACH = 4;
constexpr int SLICED_BLOCK = 128;
// Number of blocks of the sliced product per multiprocessor, limited by registers.
template <class T, int C> constexpr int SLICED_RESIDENT = sizeof(T) * C > 12 ? 12 : 16;

// partial[block] = sum over the threads in a fixed order. All threads call it.
template <int N_THREAD> __device__ void sum_block(double mine, double *partial)
{
    __shared__ double of_warp[N_THREAD / 32];
    const int thread = static_cast<int>(threadIdx.x);
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(HX_ALL_LANES, mine, step);
    if (thread % 32 == 0) of_warp[thread / 32] = mine;
    __syncthreads();
    if (thread != 0) return;
    double sum = 0.0;
    for (int w = 0; w < N_THREAD / 32; w++) sum += of_warp[w];
    partial[blockIdx.x] = sum;
}

// bsr with 3 unknowns.
template <class T>
__global__ void __launch_bounds__(32 * BSR_WARPS, 6)
    bsr3_kernel(const int32_t *__restrict__ block, int64_t n_row,
                const int64_t *__restrict__ row_ptr, const int32_t *__restrict__ col,
                const T *__restrict__ value, const double *__restrict__ x, double *__restrict__ y,
                double *__restrict__ partial)
{
    using stream = hx_block_stream<T, sizeof(T) == 8 ? 8 : 16, 8>;
    __shared__ typename stream::ring rings[BSR_WARPS];
    __shared__ double sums[BSR_WARPS][3 * BSR_ROWS];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int e = lane % 9, j = lane / 9;
    const int64_t first = (hx_block_at(block) * BSR_WARPS + warp) * BSR_ROWS;
    const int n = n_row - first >= BSR_ROWS ? BSR_ROWS
                  : n_row > first           ? static_cast<int>(n_row - first)
                                            : 0;
    stream s(rings[warp], row_ptr, col, value, first, n);
    for (int row = 0; row < n; row++) {
        const int stop = s.row_end(row);
        double sum[3] = {0.0, 0.0, 0.0};
        while (s.at < stop) {
            const int n_here = s.next(stop);
            double xj[3];
#pragma unroll
            for (int g = 0; g < 3; g++) {
                const bool is_there = j < 3 && 9 * g + e < n_here;
                xj[g] = is_there ? x[3 * static_cast<int64_t>(s.column(9 * g + e)) + j] : 0.0;
            }
#pragma unroll
            for (int g = 0; g < 3; g++) {
                if (j >= 3 || 9 * g + e >= n_here) continue;
                const T *const a = s.block(9 * g + e) + j;
                for (int i = 0; i < 3; i++) sum[i] += static_cast<double>(a[3 * i]) * xj[g];
            }
            s.at += n_here;
        }
        const double total = hx_sum_lanes(sum, lane);
        if (e == 0 && j < 3) sums[warp][3 * row + j] = total;
    }
    __syncwarp();
    double dot = 0.0;
    for (int k = lane; k < 3 * n; k += 32) {
        const double sum = sums[warp][k];
        y[3 * first + k] = sum;
        if (partial) dot += x[3 * first + k] * sum;
    }
    if (partial) sum_block<32 * BSR_WARPS>(dot, partial);
}

// Sliced format: one thread per row of points; the lanes of a warp are a slice.
template <class T, int C>
__global__ void __launch_bounds__(SLICED_BLOCK, SLICED_RESIDENT<T, C>)
    sliced_kernel(const int32_t *__restrict__ block, int64_t n_row,
                  const int64_t *__restrict__ slice_ptr, const int32_t *__restrict__ col,
                  const T *__restrict__ value, const double *__restrict__ x, double *__restrict__ y,
                  double *__restrict__ partial)
{
    const int64_t r = hx_block_at(block) * SLICED_BLOCK + threadIdx.x;
    const int64_t slice = r / HX_SLICE;
    double dot = 0.0;
    if (r < n_row) {
        const int64_t begin = slice_ptr[slice];
        const int width = static_cast<int>((slice_ptr[slice + 1] - begin) / HX_SLICE);
        const int lane = static_cast<int>(r % HX_SLICE);
        const int32_t *const c = col + begin + lane;
        const T *const a = value + begin * (C * C) + lane;
        double sum[C] = {};
#pragma unroll 3
        for (int k = 0; k < width; k++) {
            const double *const xk = x + C * static_cast<int64_t>(c[HX_SLICE * k]);
            const T *const ak = a + static_cast<int64_t>(HX_SLICE * C * C) * k;
#pragma unroll
            for (int j = 0; j < C; j++) {
                const double xj = xk[j];
#pragma unroll
                for (int i = 0; i < C; i++)
                    sum[i] += static_cast<double>(ak[(C * i + j) * HX_SLICE]) * xj;
            }
        }
        for (int i = 0; i < C; i++) {
            y[C * r + i] = sum[i];
            if (partial) dot += x[C * r + i] * sum[i];
        }
    }
    if (partial) sum_block<SLICED_BLOCK>(dot, partial);
}

// Where a row of numbers begins. csr stores it; for coo, whose rows ascend, and for bsr with one
// unknown per point it follows from the pattern's pointers.
struct by_pointers {
    const int64_t *ptr;
    __device__ __forceinline__ int64_t operator()(int64_t row) const
    {
        return ptr[row];
    }
};

struct by_pattern {
    const int64_t *ptr;
    __device__ __forceinline__ int64_t operator()(int64_t row) const
    {
        const int64_t r = row / 3, begin = ptr[r];
        const int i = static_cast<int>(row - 3 * r);
        return 9 * begin + (i ? 3 * i * (ptr[r + 1] - begin) : 0);
    }
};

// GROUP threads per row, each with EACH numbers at a time.
template <class T, int GROUP, int EACH, class Begin>
__global__ void __launch_bounds__(HX_BLOCK)
    numbers_kernel(const int32_t *__restrict__ block, int64_t n, Begin row_begin,
                   const int32_t *__restrict__ col, const T *__restrict__ value,
                   const double *__restrict__ x, double *__restrict__ y,
                   double *__restrict__ partial)
{
    const int lane = static_cast<int>(threadIdx.x) % GROUP;
    const int64_t row = (hx_block_at(block) * HX_BLOCK + threadIdx.x) / GROUP;
    const int64_t end = row < n ? row_begin(row + 1) : 0;
    double sum = 0.0, dot = 0.0;
    for (int64_t k = row < n ? row_begin(row) + lane : 0; k < end; k += GROUP * EACH) {
        double a[EACH], b[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const bool is_there = k + GROUP * i < end;
            a[i] = is_there ? static_cast<double>(value[k + GROUP * i]) : 0.0;
            b[i] = is_there ? x[col[k + GROUP * i]] : 0.0;
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) sum += a[i] * b[i];
    }
#pragma unroll
    for (int step = GROUP / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(HX_ALL_LANES, sum, step, GROUP);
    if (lane == 0 && row < n) {
        y[row] = sum;
        if (partial) dot = x[row] * sum;
    }
    if (partial) sum_block<HX_BLOCK>(dot, partial);
}

// One thread per row of numbers.
template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    ell_kernel(const int32_t *__restrict__ block, int64_t n, int width,
               const int32_t *__restrict__ col, const T *__restrict__ value,
               const double *__restrict__ x, double *__restrict__ y, double *__restrict__ partial)
{
    const int64_t row = hx_block_at(block) * HX_BLOCK + threadIdx.x;
    double dot = 0.0;
    if (row < n) {
        double sum = 0.0;
#pragma unroll 9
        for (int k = 0; k < width; k++)
            sum += static_cast<double>(value[k * n + row]) * x[col[k * n + row]];
        y[row] = sum;
        if (partial) dot = x[row] * sum;
    }
    if (partial) sum_block<HX_BLOCK>(dot, partial);
}

__global__ void __launch_bounds__(HX_BLOCK)
    sum_partial_kernel(int64_t n, const double *__restrict__ part, double *partial,
                       unsigned *ticket, double *to)
{
    const int64_t stride = static_cast<int64_t>(gridDim.x) * HX_BLOCK;
    double sum[1] = {0.0};
    for (int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x; k < n; k += stride)
        sum[0] += part[k];
    if (hx_finish_sums(sum, partial, ticket)) *to = sum[0];
}

__global__ void __launch_bounds__(HX_BLOCK)
    dot_kernel(int64_t n, const double *__restrict__ x, const double *__restrict__ y,
               double *partial, unsigned *ticket, double *to)
{
    double sum[1] = {hx_sum_products(n, x, y)};
    if (hx_finish_sums(sum, partial, ticket)) *to = sum[0];
}

template <class From, class To>
__global__ void convert_kernel(int64_t n, const From *__restrict__ from, To *__restrict__ to)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    if (k < n) to[k] = static_cast<To>(from[k]);
}

// Converts c numbers per row, for some rows.
__global__ void to_single_kernel(hx_cuda_rows rows, int c, const double *__restrict__ from,
                                 float *__restrict__ to)
{
    const int64_t thread = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    const int64_t at = thread / c, row = hx_row_at(rows, at);
    const int64_t k = c * row + (thread - c * at);
    if (row >= 0) to[k] = static_cast<float>(from[k]);
}

int64_t rows_of_numbers(const hx_matrix *m)
{
    return m->spec.components * m->pattern.n_row;
}

// Number of rows of a thread block, and number of rows per point.
struct block_shape {
    int components, each;
};

block_shape shape_of(const hx_matrix_spec *spec)
{
    const int c = spec->components;
    switch (spec->format) {
    case HX_FORMAT_BSR:
        return {1, c == 3 ? BSR_WARPS * BSR_ROWS : HX_BLOCK / SHORT_ROW};
    case HX_FORMAT_BSRS:
        return {1, SLICED_BLOCK};
    case HX_FORMAT_ELL:
        return {c, HX_BLOCK};
    default:
        return {c, HX_BLOCK / (c == 3 ? LONG_ROW : SHORT_ROW)};
    }
}

// Number of thread blocks of a product; it depends only on the shape of the matrix.
int64_t count_blocks(const hx_matrix_spec *spec, int64_t n_row)
{
    const block_shape shape = shape_of(spec);
    return (shape.components * n_row + shape.each - 1) / shape.each;
}

// Arguments of one product.
struct task {
    const hx_matrix *m;
    hx_block_run run;
    const double *x;
    double *y, *partial; // partial: nullptr if x'y is not needed
};

template <class T> void launch_sliced(const task &t)
{
    const hx_matrix *m = t.m;
    const T *const value = static_cast<const T *>(m->d_value);
    if (m->spec.components == 3)
        sliced_kernel<T, 3><<<t.run.n, SLICED_BLOCK, 0, t.run.stream>>>(
            t.run.block, m->pattern.n_row, m->d_ptr, m->d_col, value, t.x, t.y, t.partial);
    else
        sliced_kernel<T, 1><<<t.run.n, SLICED_BLOCK, 0, t.run.stream>>>(
            t.run.block, m->pattern.n_row, m->d_ptr, m->d_col, value, t.x, t.y, t.partial);
}

template <class T> void launch_numbers(const task &t)
{
    const hx_matrix *m = t.m;
    const T *const value = static_cast<const T *>(m->d_value);
    const int32_t *const col = m->d_col ? m->d_col : m->pattern.d_col;
    const int64_t n = rows_of_numbers(m);
    if (m->spec.components == 1)
        numbers_kernel<T, SHORT_ROW, SHORT_EACH><<<t.run.n, HX_BLOCK, 0, t.run.stream>>>(
            t.run.block, n, by_pointers{m->pattern.d_row_ptr}, col, value, t.x, t.y, t.partial);
    else if (m->d_ptr)
        numbers_kernel<T, LONG_ROW, LONG_EACH><<<t.run.n, HX_BLOCK, 0, t.run.stream>>>(
            t.run.block, n, by_pointers{m->d_ptr}, col, value, t.x, t.y, t.partial);
    else
        numbers_kernel<T, LONG_ROW, LONG_EACH><<<t.run.n, HX_BLOCK, 0, t.run.stream>>>(
            t.run.block, n, by_pattern{m->pattern.d_row_ptr}, col, value, t.x, t.y, t.partial);
}

template <class T> void launch(const task &t)
{
    const hx_matrix *m = t.m;
    const T *const value = static_cast<const T *>(m->d_value);
    if (m->spec.format == HX_FORMAT_BSRS)
        launch_sliced<T>(t);
    else if (m->spec.format == HX_FORMAT_ELL)
        ell_kernel<T><<<t.run.n, HX_BLOCK, 0, t.run.stream>>>(
            t.run.block, rows_of_numbers(m), m->width, m->d_col, value, t.x, t.y, t.partial);
    else if (m->spec.format == HX_FORMAT_BSR && m->spec.components == 3)
        bsr3_kernel<T><<<t.run.n, 32 * BSR_WARPS, 0, t.run.stream>>>(
            t.run.block, m->pattern.n_row, m->pattern.d_row_ptr, m->pattern.d_col, value, t.x, t.y,
            t.partial);
    else
        launch_numbers<T>(t);
}

// Finds the plan of a matrix. HX_EINTERNAL: a range of rows has none.
int find_plan(const hx_matrix *m, const hx_cuda_product **plan)
{
    *plan = static_cast<const hx_cuda_product *>(m->plan);
    if (*plan) return HX_OK;
    return HX_RAISE(HX_EINTERNAL, "products with a range of rows of a matrix are not supported");
}

// d_partial: only for the whole product.
int multiply_full(hx_device *dev, const hx_matrix *m, hx_product_part part, const double *d_x,
                  double *d_y, double *d_partial)
{
    const hx_cuda_product *plan = static_cast<const hx_cuda_product *>(m->plan);
    const hx_block_run run = hx_blocks_of(plan->blocks, part, hx_cuda_of(dev)->stream);
    const task t = {m, run, d_x, d_y, d_partial};
    if (run.n == 0) return HX_OK;
    if (m->spec.single)
        launch<float>(t);
    else
        launch<double>(t);
    return HX_LAUNCHED("product of a matrix");
}

// Six thread blocks on a multiprocessor with 228 kB suffice to saturate the memory bandwidth; the
// remaining shared memory is used to cache x.
int prefer_cache(const hx_matrix *m)
{
    constexpr int percent = 58;
    if (m->spec.format != HX_FORMAT_BSR || m->spec.components != 3) return HX_OK;
    return HX_CUDA(
        m->spec.single
            ? cudaFuncSetAttribute(bsr3_kernel<float>,
                                   cudaFuncAttributePreferredSharedMemoryCarveout, percent)
            : cudaFuncSetAttribute(bsr3_kernel<double>,
                                   cudaFuncAttributePreferredSharedMemoryCarveout, percent));
}

} // namespace

int hx_cuda_matrix_multiply_part(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                 const double *d_x, double *d_y)
{
    const hx_cuda_product *plan;
    HX_TRY(find_plan(m, &plan));
    if (m->spec.part == HX_PART_LOWER) return hx_cuda_lower_multiply(dev, m, plan, part, d_x, d_y);
    return multiply_full(dev, m, part, d_x, d_y, nullptr);
}

int hx_cuda_matrix_multiply(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y)
{
    return hx_cuda_matrix_multiply_part(dev, m, HX_PRODUCT_WHOLE, d_x, d_y);
}

int hx_cuda_matrix_multiply_dot(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                                double *d_sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const hx_cuda_product *plan;
    HX_TRY(find_plan(m, &plan));
    if (m->spec.part == HX_PART_LOWER) {
        const int64_t n = rows_of_numbers(m);
        HX_TRY(hx_cuda_lower_multiply(dev, m, plan, HX_PRODUCT_WHOLE, d_x, d_y));
        dot_kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0, impl->stream>>>(
            n, d_x, d_y, impl->d_partial, impl->d_ticket, d_sum);
        return HX_LAUNCHED("x'y");
    }
    HX_TRY(multiply_full(dev, m, HX_PRODUCT_WHOLE, d_x, d_y, plan->d_partial));
    sum_partial_kernel<<<hx_sum_blocks<double>(impl, plan->blocks.n, 1), HX_BLOCK, 0,
                         impl->stream>>>(plan->blocks.n, plan->d_partial, impl->d_partial,
                                         impl->d_ticket, d_sum);
    return HX_LAUNCHED("x'y");
}

int hx_cuda_matrix_multiply_part_single(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                        const float *d_x, float *d_y, double *d_work)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const int c = m->spec.components;
    const int64_t n = rows_of_numbers(m);
    double *const d_product = d_work + n;
    const hx_cuda_product *plan;
    HX_TRY(find_plan(m, &plan));
    const hx_cuda_rows rows = hx_rows_after(plan->interface, m->pattern.n_row, part);
    if (part == HX_PRODUCT_WHOLE || part == HX_PRODUCT_BEGIN) {
        HX_TRY(hx_launch(dev, "x in double", n, convert_kernel<float, double>, n, d_x, d_work));
    }
    HX_TRY(hx_cuda_matrix_multiply_part(dev, m, part, d_work, d_product));
    if (rows.n == 0) return HX_OK;
    if (part == HX_PRODUCT_WHOLE)
        convert_kernel<<<hx_blocks(n, HX_BLOCK), HX_BLOCK, 0, stream>>>(n, d_product, d_y);
    else
        to_single_kernel<<<hx_blocks(c * rows.n, HX_BLOCK), HX_BLOCK, 0, stream>>>(rows, c,
                                                                                   d_product, d_y);
    return HX_LAUNCHED("y in single precision");
}

int hx_cuda_matrix_multiply_single(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                                   double *d_work)
{
    return hx_cuda_matrix_multiply_part_single(dev, m, HX_PRODUCT_WHOLE, d_x, d_y, d_work);
}

int hx_cuda_product_create(hx_device *dev, hx_matrix *m)
{
    hx_cuda_product *plan;
    HX_TRY(hx_alloc(&plan, 1, sizeof *plan, "products of the matrix"));
    m->plan = plan; // freed with the matrix
    if (m->spec.part == HX_PART_LOWER) return hx_cuda_lower_create(dev, m, &plan->lower);
    plan->blocks.n = count_blocks(&m->spec, m->pattern.n_row);
    if (plan->blocks.n > INT32_MAX)
        return HX_RAISE(HX_EENV, "a product of %lld rows is more than a GPU index can count",
                        static_cast<long long>(rows_of_numbers(m)));
    HX_TRY(prefer_cache(m));
    return dev->ops->alloc(dev, static_cast<size_t>(plan->blocks.n) * sizeof(double),
                           &plan->d_partial);
}

int hx_cuda_product_divide(hx_device *dev, hx_matrix *m, int64_t n, const int32_t *point)
{
    auto *plan = static_cast<hx_cuda_product *>(m->plan);
    const block_shape shape = shape_of(&m->spec);
    hx_cuda_interface *const interface = &plan->interface;
    uint8_t *is_interface;
    HX_TRY(hx_mark_interface(m->pattern.n_row, n, point, &is_interface));
    const int rc = hx_device_put(dev, &interface->d_is_interface, is_interface,
                                 static_cast<size_t>(m->pattern.n_row));
    free(is_interface);
    HX_TRY(rc);
    interface->n = n;
    HX_TRY(hx_device_put(dev, &interface->d_row, point, static_cast<size_t>(n) * sizeof *point));
    if (m->spec.part == HX_PART_LOWER)
        return hx_cuda_lower_divide(dev, m, plan->interface, point, &plan->lower);
    return hx_cuda_blocks_of_rows(&plan->blocks, dev, m->pattern.n_row, n, point, shape.components,
                                  shape.each);
}

void hx_cuda_product_free(hx_device *dev, void *plan)
{
    auto *product = static_cast<hx_cuda_product *>(plan);
    if (!product) return;
    dev->ops->release(dev, product->d_partial);
    dev->ops->release(dev, product->blocks.d_block);
    dev->ops->release(dev, product->interface.d_row);
    dev->ops->release(dev, product->interface.d_is_interface);
    hx_cuda_lower_free(dev, &product->lower);
    free(product);
}

// Memory for n interface rows out of n_row rows.
static size_t interface_bytes(int64_t n_row, int64_t n)
{
    return static_cast<size_t>(n_row) * sizeof(uint8_t) + static_cast<size_t>(n) * sizeof(int32_t);
}

size_t hx_cuda_product_bytes(const hx_matrix *m)
{
    const auto *plan = static_cast<const hx_cuda_product *>(m->plan);
    const int64_t n_interface = plan->interface.n;
    size_t bytes = n_interface > 0 ? interface_bytes(m->pattern.n_row, n_interface) : 0;
    if (m->spec.part == HX_PART_LOWER) return bytes + hx_cuda_lower_bytes(m, &plan->lower);
    if (plan->blocks.d_block) bytes += hx_cuda_blocks_bytes(plan->blocks.n);
    return bytes + static_cast<size_t>(plan->blocks.n) * sizeof(double);
}

int hx_cuda_product_expected(const hx_incidence *incidence, const hx_matrix_spec *spec,
                             size_t *bytes)
{
    const int64_t n_row = incidence->n_point, n_block = count_blocks(spec, n_row);
    if (spec->part == HX_PART_LOWER)
        HX_TRY(hx_cuda_lower_expected(incidence, spec, bytes));
    else
        *bytes = static_cast<size_t>(n_block) * sizeof(double) + hx_cuda_blocks_bytes(n_block);
    *bytes += interface_bytes(n_row, n_row);
    return HX_OK;
}
