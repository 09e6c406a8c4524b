// Tetrahedra in the fill `gather`: four points and one integration point instead of eight.
#ifndef HX_FILL_TETRA_CUDA_CUH
#define HX_FILL_TETRA_CUDA_CUH

#include "core/mesh/cell.h"
#include "gather_windows_cuda.cuh"

namespace hx_tetra_fill
{

enum {
    // bits of a term: index of the cell in its window; above them corners a and b, and an end mark
    CELL_BITS = 11,
    CAPACITY = 1000 // weight of a window; it has at most as many cells
};

static_assert(CAPACITY < 1 << CELL_BITS, "a cell fits into its bits");

// A product h_a h_b' of an entry.
__host__ __device__ constexpr uint16_t make_term(int cell, int a, int b, bool is_last)
{
    return static_cast<uint16_t>(cell | a << CELL_BITS | b << (CELL_BITS + 2) |
                                 (is_last ? 1 << (CELL_BITS + 4) : 0));
}

// The points of cells and the terms of entries.
struct plan {
    hx_dist_meshs::plan windows;
    int32_t *d_point; // [n_cell][4] (owned, like d_term and d_begin)
    // [4 windows.n_own] terms of a window from index 4 d_first_own[d_visit[window]] on, by entry,
    // cells ascending
    uint16_t *d_term;
    // [n_entry] first term of an entry, relative to its window; unused for wide rows
    uint16_t *d_begin;
    size_t bytes;
};

// The plan must be zeroed. Call free_plan also after a failure. Waits.
int create_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in);
void free_plan(plan *p, hx_device *dev);

// Upper bound on its bytes for a whole matrix.
size_t expected(const hx_incidence *incidence);

} // namespace hx_tetra_fill

#endif
