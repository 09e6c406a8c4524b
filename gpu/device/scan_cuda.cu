// Prefix sums and sorts of CUB, for the types that other files use.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "scan_cuda.cuh"

namespace
{

// 1 if an entry begins at key i.
struct is_entry {
    const uint64_t *key;
    uint64_t end; // keys from here on have no entry
    __host__ __device__ uint32_t operator()(int64_t i) const
    {
        return key[i] < end && (i == 0 || key[i] != key[i - 1]);
    }
};

struct sum_64 {
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const
    {
        return a + b;
    }
};

} // namespace

template <class T> int hx_sum_before(hx_device *dev, T *d_number, int64_t n)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    hx_cuda_scratch scratch(dev);
    size_t n_work = 0;
    char *d_work;
    HX_TRY_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, n_work, d_number, d_number, n, stream));
    HX_TRY(scratch.take(&d_work, static_cast<int64_t>(n_work)));
    return HX_CUDA(cub::DeviceScan::ExclusiveSum(d_work, n_work, d_number, d_number, n, stream));
}

template <class T> int hx_sum_with(hx_device *dev, T *d_number, int64_t n)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    hx_cuda_scratch scratch(dev);
    size_t n_work = 0;
    char *d_work;
    HX_TRY_CUDA(cub::DeviceScan::InclusiveSum(nullptr, n_work, d_number, d_number, n, stream));
    HX_TRY(scratch.take(&d_work, static_cast<int64_t>(n_work)));
    return HX_CUDA(cub::DeviceScan::InclusiveSum(d_work, n_work, d_number, d_number, n, stream));
}

template <class Key, class Value>
int hx_sort_by_key(hx_device *dev, const Key *d_key, Key *d_key_to, const Value *d_value,
                   Value *d_value_to, int64_t n, int bits)
{
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    hx_cuda_scratch scratch(dev);
    size_t n_work = 0;
    char *d_work;
    HX_TRY_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, n_work, d_key, d_key_to, d_value,
                                                d_value_to, n, 0, bits, stream));
    HX_TRY(scratch.take(&d_work, static_cast<int64_t>(n_work)));
    return HX_CUDA(cub::DeviceRadixSort::SortPairs(d_work, n_work, d_key, d_key_to, d_value,
                                                   d_value_to, n, 0, bits, stream));
}

template <class Count>
cudaError_t hx_queue_offsets(void *d_work, size_t *n_work, const Count *d_count, int64_t *d_ptr,
                             int64_t n, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveScan(d_work, *n_work, d_count, d_ptr, sum_64(),
                                          static_cast<int64_t>(0), n + 1, stream);
}

cudaError_t hx_queue_entry_numbers(void *d_work, size_t *n_work, const uint64_t *d_key,
                                   uint64_t end, uint32_t *d_entry, int n, cudaStream_t stream)
{
    const auto starts = thrust::make_transform_iterator(
        thrust::make_counting_iterator(static_cast<int64_t>(0)), is_entry{d_key, end});
    return cub::DeviceScan::InclusiveSum(d_work, *n_work, starts, d_entry, n, stream);
}

template <class Key, class N>
cudaError_t hx_queue_sort(void *d_work, size_t *n_work, Key *d_key[2], uint32_t *d_value[2], N n,
                          int bits, cudaStream_t stream)
{
    cub::DoubleBuffer<Key> key(d_key[0], d_key[1]);
    cub::DoubleBuffer<uint32_t> value(d_value[0], d_value[1]);
    const cudaError_t status =
        cub::DeviceRadixSort::SortPairs(d_work, *n_work, key, value, n, 0, bits, stream);
    if (!d_work) return status;
    d_key[0] = key.Current();
    d_key[1] = key.Alternate();
    d_value[0] = value.Current();
    d_value[1] = value.Alternate();
    return status;
}

template int hx_sum_before(hx_device *, uint32_t *, int64_t);
template int hx_sum_before(hx_device *, int64_t *, int64_t);
template int hx_sum_before(hx_device *, hx_plan_counts *, int64_t);
template int hx_sum_with(hx_device *, uint32_t *, int64_t);
template int hx_sum_with(hx_device *, int64_t *, int64_t);
template int hx_sort_by_key(hx_device *, const uint32_t *, uint32_t *, const int32_t *, int32_t *,
                            int64_t, int);
template int hx_sort_by_key(hx_device *, const uint64_t *, uint64_t *, const uint32_t *, uint32_t *,
                            int64_t, int);
template int hx_sort_by_key(hx_device *, const int32_t *, int32_t *, const int32_t *, int32_t *,
                            int64_t, int);
template int hx_sort_by_key(hx_device *, const int32_t *, int32_t *, const uint64_t *, uint64_t *,
                            int64_t, int);
template cudaError_t hx_queue_offsets(void *, size_t *, const uint32_t *, int64_t *, int64_t,
                                      cudaStream_t);
template cudaError_t hx_queue_offsets(void *, size_t *, const int32_t *, int64_t *, int64_t,
                                      cudaStream_t);
template cudaError_t hx_queue_sort(void *, size_t *, uint64_t *[2], uint32_t *[2], uint32_t, int,
                                   cudaStream_t);
template cudaError_t hx_queue_sort(void *, size_t *, uint32_t *[2], uint32_t *[2], int64_t, int,
                                   cudaStream_t);
