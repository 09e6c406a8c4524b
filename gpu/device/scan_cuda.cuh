// Prefix sums over arrays, and sorts of pairs: all functions of CUB that are used. Only
// scan_cuda.cu includes CUB's headers, which take longer to compile than most sources here; it
// instantiates the types named below.
#ifndef HX_SCAN_CUDA_CUH
#define HX_SCAN_CUDA_CUH

#include "scratch_cuda.cuh"

// Counts of the groups of a plan, summed together.
struct hx_plan_counts {
    int64_t block, cell, slow;
    __host__ __device__ hx_plan_counts operator+(const hx_plan_counts &b) const
    {
        return {block + b.block, cell + b.cell, slow + b.slow};
    }
};

// Prefix sums of n numbers in place: hx_sum_before excludes the number itself
// (uint32_t, int64_t, hx_plan_counts), hx_sum_with includes it (uint32_t, int64_t).
template <class T> int hx_sum_before(hx_device *dev, T *d_number, int64_t n);
template <class T> int hx_sum_with(hx_device *dev, T *d_number, int64_t n);

// Number of bits of the numbers 0 .. most.
inline int hx_bits_of(int64_t most)
{
    int bits = 1;
    while (most >> bits) bits++;
    return bits;
}

// Sorts n pairs by the lowest bits of their keys; the sort is stable. Keys and values: uint32_t and
// int32_t, uint64_t and uint32_t, int32_t and int32_t, int32_t and uint64_t.
template <class Key, class Value>
int hx_sort_by_key(hx_device *dev, const Key *d_key, Key *d_key_to, const Value *d_value,
                   Value *d_value_to, int64_t n, int bits);

// Versions that use memory of the caller. If d_work is nullptr, they only set *n_work to the number
// of bytes needed, and read no other argument.

// ptr[n + 1] from n counts (uint32_t, int32_t); an (n + 1)-th number is read but ignored.
template <class Count>
cudaError_t hx_queue_offsets(void *d_work, size_t *n_work, const Count *d_count, int64_t *d_ptr,
                             int64_t n, cudaStream_t stream);
// entry[i] = number of elements of the sorted key[0 .. i] that are below `end` and differ from the
// preceding one.
cudaError_t hx_queue_entry_numbers(void *d_work, size_t *n_work, const uint64_t *d_key,
                                   uint64_t end, uint32_t *d_entry, int n, cudaStream_t stream);
// Sorts between two arrays of keys and two of values, and swaps the pointers so that the first ones
// have the result. Keys and n: uint64_t and uint32_t, uint32_t and int64_t.
template <class Key, class N>
cudaError_t hx_queue_sort(void *d_work, size_t *n_work, Key *d_key[2], uint32_t *d_value[2], N n,
                          int bits, cudaStream_t stream);

#endif
