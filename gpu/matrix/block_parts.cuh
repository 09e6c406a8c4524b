// Products in parts, for kernels whose thread blocks each have some elements or rows: a list of
// thread blocks, those with interface points first (core/operator/block_split.h). Without interface
// points there is no list, and the blocks are numbered as in an undivided product.
#ifndef HX_BLOCK_PARTS_CUH
#define HX_BLOCK_PARTS_CUH

#include "../device/cuda_device.cuh"
#include "core/operator/block_split.h"
#include "product_parts.cuh"

// The thread blocks of one product.
struct hx_cuda_blocks {
    int64_t n, n_boundary;
    int32_t *d_block; // [n] (owned); nullptr: no interface points
};

// The thread blocks of one launch.
struct hx_block_run {
    unsigned n;           // number of thread blocks
    const int32_t *block; // [n]; nullptr: the first n blocks
    cudaStream_t stream;
};

inline size_t hx_cuda_blocks_bytes(int64_t n)
{
    return static_cast<size_t>(n) * sizeof(int32_t);
}

// From a list of the same n blocks.
inline int hx_cuda_blocks_put(hx_cuda_blocks *to, hx_device *dev, const hx_block_split &split)
{
    to->n_boundary = split.n_boundary;
    return hx_device_put(dev, &to->d_block, split.block, hx_cuda_blocks_bytes(split.n_block));
}

// For thread blocks of `each` elements.
inline int hx_cuda_blocks_of_elements(hx_cuda_blocks *to, hx_device *dev, const hx_mesh *mesh,
                                      int64_t n_interface, const int32_t *interface, int64_t each)
{
    hx_block_split split;
    *to = {(mesh->n_elem + each - 1) / each, 0, nullptr};
    if (n_interface == 0) return HX_OK;
    int rc = hx_block_split_elements(&split, mesh, n_interface, interface, each);
    if (rc == HX_OK) rc = hx_cuda_blocks_put(to, dev, split);
    hx_block_split_free(&split);
    return rc;
}

// For thread blocks of `each` rows, with `components` rows per point.
inline int hx_cuda_blocks_of_rows(hx_cuda_blocks *to, hx_device *dev, int64_t n_point,
                                  int64_t n_interface, const int32_t *interface, int components,
                                  int64_t each)
{
    hx_block_split split;
    *to = {(components * n_point + each - 1) / each, 0, nullptr};
    if (n_interface == 0) return HX_OK;
    int rc = hx_block_split_rows(&split, n_point, n_interface, interface, components, each);
    if (rc == HX_OK) rc = hx_cuda_blocks_put(to, dev, split);
    hx_block_split_free(&split);
    return rc;
}

inline hx_block_run hx_blocks_of(const hx_cuda_blocks &blocks, hx_product_part part,
                                 cudaStream_t stream)
{
    const hx_slice slice = hx_slice_of(part, blocks.n_boundary, blocks.n);
    const bool is_listed = blocks.d_block && part != HX_PRODUCT_WHOLE;
    return {static_cast<unsigned>(slice.n), is_listed ? blocks.d_block + slice.first : nullptr,
            stream};
}

#ifdef __CUDACC__
// Index of this thread block in the product.
__device__ __forceinline__ int64_t hx_block_at(const int32_t *__restrict__ block)
{
    return block ? block[blockIdx.x] : static_cast<int64_t>(blockIdx.x);
}
#endif

#endif
