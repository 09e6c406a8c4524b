// The plan of the fill `gather`: rows in blocks that fit into shared memory, and the cells of each.
#ifndef HX_GATHER_PLAN_CUDA_CUH
#define HX_GATHER_PLAN_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_gather
{

enum {
    WARPS = 8,
    SM_BLOCKS = 2,          // on a multiprocessor
    ROWS = 2 * WARPS,       // of a block at most
    MOST_PLACES = 8 * ROWS, // of its rows
    MOST_CELLS = 8 * WARPS, // of it
    MOST_ENTRIES = 27,      // of a row that is as in a grid
};

// Bits of the reference coordinates of corner a.
__device__ __forceinline__ int corner_bits(int a)
{
    return a ^ (a >> 1 & 1);
}

struct block_range {
    int64_t place;      // first of its rows
    int64_t cell_begin; // in plan.cell
    int32_t row, n_place;
    uint8_t n_row, n_cell;
    uint16_t irregular; // bits of the rows that are not as in a grid
};

struct plan {
    int64_t n_block, n_cell, n_place, n_slow;
    block_range *d_block; // [n_block]
    int32_t *d_cell;      // [n_cell] cells of each block, ascending
    uint8_t *d_local;     // [n_place] of the rows' places: the cell's index in its block
    int32_t *d_slow;      // [n_slow] rows that are left to the kernel of their own
    void *d_memory;       // all of these (owned)
    size_t bytes;
};

// From a zeroed plan; memory is `d_memory`, also after a failure. Waits.
int create_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in);

} // namespace hx_gather

#endif
