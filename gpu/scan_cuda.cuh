// Sums up to each number of an array, and sorts of pairs: all that is taken of CUB, whose headers
// take the compiler longer than most sources here. They are read in scan_cuda.cu only, which has
// the types named below.
#ifndef HX_SCAN_CUDA_CUH
#define HX_SCAN_CUDA_CUH

#include "matrix_cuda.cuh"

// What the groups of a plan hold, counted together.
struct hx_plan_counts {
    int64_t block, cell, slow;
    __host__ __device__ hx_plan_counts operator+(const hx_plan_counts &b) const
    {
        return {block + b.block, cell + b.cell, slow + b.slow};
    }
};

// In place, of n numbers: what stands before each is summed (uint32_t, int64_t, hx_plan_counts), or
// with it (uint32_t, int64_t).
template <class T> int hx_sum_before(hx_device *dev, T *d_number, int64_t n);
template <class T> int hx_sum_with(hx_device *dev, T *d_number, int64_t n);

// Sorts n pairs by the lowest bits of their keys; equal ones keep their order. Keys and values:
// uint32_t and int32_t, uint64_t and uint32_t, int32_t and int32_t, int32_t and uint64_t.
template <class Key, class Value>
int hx_sort_by_key(hx_device *dev, const Key *d_key, Key *d_key_to, const Value *d_value,
                   Value *d_value_to, int64_t n, int bits);

// The same in memory of the caller's. Without it (d_work NULL) *n_work becomes its bytes, and
// nothing else is read or done.

// ptr[n + 1] from n counts (uint32_t, int32_t) and one more number that does not count.
template <class Count>
cudaError_t hx_queue_offsets(void *d_work, size_t *n_work, const Count *d_count, int64_t *d_ptr,
                             int64_t n, cudaStream_t stream);
// entry[i] = how many of key[0 .. i], which are sorted, are below end and differ from the one
// before.
cudaError_t hx_queue_entry_numbers(void *d_work, size_t *n_work, const uint64_t *d_key,
                                   uint64_t end, uint32_t *d_entry, int n, cudaStream_t stream);
// Between two arrays of keys and two of values: those that have the result come to be the first.
// Keys and n: uint64_t and uint32_t, uint32_t and int64_t.
template <class Key, class N>
cudaError_t hx_queue_sort(void *d_work, size_t *n_work, Key *d_key[2], uint32_t *d_value[2], N n,
                          int bits, cudaStream_t stream);

#endif
