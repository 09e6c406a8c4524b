// The plan of the fill of tetrahedra, whose blocks own rows that need not be neighbours: rows in
// windows by the lowest of their cells, as many as fit into a block's shared memory, and the cells
// that touch each window, ascending, with the window's rows in them.
#ifndef HX_GATHER_WINDOWS_CUDA_CUH
#define HX_GATHER_WINDOWS_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_windows
{

enum {
    LEAST_WEIGHT = 8, // of a row, in entries: bounds a window's rows
    POINT_BITS = 5,   // of a row in a cell: its point
    ROW_BITS = 11,    // its number in the window; above it its rank among the row's cells
};

static_assert(HX_MAX_CELL_POINT <= 1 << POINT_BITS, "points of a cell");

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
    int32_t *d_row;        // [n_narrow + n_wide] rows window after window, then wide ones
    int32_t *d_window_row; // [n_window + 1] in d_row
    uint32_t *d_visit;     // [n_window + 1] in the next two
    int32_t *d_cell;       // [n_visit] cells of a window, ascending
    uint32_t *d_first_own; // [n_visit + 1] in d_own
    uint32_t *d_own;       // [n_own] the window's rows in the cell
    void *d_memory[3];     // (owned)
    size_t bytes;
};

// From a zeroed plan. A row weighs as much as it has entries or cells, whichever are more; a
// window's rows weigh up to `capacity` (2^ROW_BITS LEAST_WEIGHT at most), rows of more than half of
// that, or of no cell, are wide. Waits.
int create(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in,
           int capacity);
void release(plan *p, hx_device *dev); // also half of one

// Bytes of it at most, of whole matrices.
size_t expected(const hx_incidence *incidence);

} // namespace hx_windows

#endif
