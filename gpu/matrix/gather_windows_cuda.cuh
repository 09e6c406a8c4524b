// The plan of the fill for tetrahedra, whose blocks own rows that need not be adjacent: windows of
// rows, by the lowest of their cells, with as many rows as fit into a block's shared memory; and
// the ascending list of cells that touch each window, with the window's rows in each cell.
#ifndef HX_GATHER_WINDOWS_CUDA_CUH
#define HX_GATHER_WINDOWS_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_dist_meshs
{

enum {
    // minimum weight of a row, in entries; it bounds the number of rows of a window
    LEAST_WEIGHT = 8,
    // A row in a cell is coded by its point in the cell (lowest bits), its index in the window, and
    // the rank of the cell among the row's cells (highest bits).
    POINT_BITS = 5,
    ROW_BITS = 11,
};

static_assert(HX_MAX_CELL_POINT <= 1 << POINT_BITS, "points of a cell fit into their bits");

__device__ __forceinline__ int point_of(uint32_t own)
{
    return static_cast<int>(own & ((1u << POINT_BITS) - 1));
}

__device__ __forceinline__ int row_of(uint32_t own)
{
    return static_cast<int>(own >> POINT_BITS & ((1u << ROW_BITS) - 1));
}

__device__ __forceinline__ unsigned rank_of(uint32_t own)
{
    return own >> (POINT_BITS + ROW_BITS);
}

struct plan {
    int64_t n_window, n_narrow, n_wide, n_visit, n_own;
    int32_t *d_row;        // [n_narrow + n_wide] rows window by window, then the wide ones
    int32_t *d_window_row; // [n_window + 1] first row of each window in d_row
    uint32_t *d_visit;     // [n_window + 1] first index of each window in d_cell and d_first_own
    int32_t *d_cell;       // [n_visit] cells of a window, ascending
    uint32_t *d_first_own; // [n_visit + 1] first index in d_own
    uint32_t *d_own;       // [n_own] rows of the window in each cell
    void *d_memory[3];     // (owned)
    size_t bytes;
};

// The plan must be zeroed. The weight of a row is its number of entries or of cells, whichever is
// larger. The weight of a window is at most `capacity` (which is at most 2^ROW_BITS LEAST_WEIGHT).
// Rows with more than half of that, or without cells, are wide. Waits.
int create(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in,
           int capacity);
void release(plan *p, hx_device *dev); // accepts an incomplete plan

// Upper bound on its bytes for whole matrices.
size_t expected(const hx_incidence *incidence);

} // namespace hx_dist_meshs

#endif
