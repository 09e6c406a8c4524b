// The plan of the fill `gather`: rows in blocks that fit into shared memory, and the cells of each
// block.
#ifndef HX_GATHER_PLAN_CUDA_CUH
#define HX_GATHER_PLAN_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_gather
{

enum {
    WARPS = 8,
    SM_BLOCKS = 2,          // per multiprocessor
    ROWS = 2 * WARPS,       // maximum number of rows of a block
    MOST_PLACES = 8 * ROWS, // maximum number of places of its rows
    MOST_CELLS = 8 * WARPS, // maximum number of cells of a block
    MOST_ENTRIES = 27,      // maximum number of entries of a row in a grid of hexahedra
};

// Bits of the reference coordinates of corner a.
__device__ __forceinline__ int corner_bits(int a)
{
    return a ^ (a >> 1 & 1);
}

struct block_range {
    int64_t place;      // first place of its rows
    int64_t cell_begin; // in plan.d_cell
    int32_t row, n_place;
    uint8_t n_row, n_cell;
    uint16_t irregular; // bits of the rows that are not as in a grid
};

struct plan {
    int64_t n_block, n_cell, n_place, n_slow;
    block_range *d_block; // [n_block]
    int32_t *d_cell;      // [n_cell] cells of each block, ascending
    uint8_t *d_local;     // [n_place] index of each place's cell in its block
    int32_t *d_slow;      // [n_slow] rows processed by a kernel of their own
    void *d_memory;       // memory of all these arrays (owned)
    size_t bytes;
};

// The plan must be zeroed. The caller releases `d_memory`, also after a failure. Waits.
int create_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in);

} // namespace hx_gather

#endif
