// What the fill `stored` keeps: the tile of every entry in each of its cells, of modulus 1.
#ifndef HX_STORED_PLAN_CUDA_CUH
#define HX_STORED_PLAN_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_stored
{

constexpr int GROUP = 32; // entries of a warp
constexpr uint32_t NONE = UINT32_MAX;

// Where what belongs to a group begins; the end is where the next one does.
struct group {
    int64_t number; // in plan.d_number
    uint32_t term;  // in plan.d_cell
    uint32_t mask;  // in plan.d_mask
};

// Of a matrix' entries those are kept that have no mirror image before them: on the diagonal and
// below, and those whose mirror image is in no row of the matrix. In their order they are cut into
// groups. A term is an entry in one of its cells, cells ascending; a level, the terms number l of
// all entries of a group that have so many, which lie together in the order of the entries:
//
//     d_mask    of a group: the entries on the diagonal, as bits; then of each level those that
//     have
//               it
//     d_cell    of a level: the cells
//     d_number  of a level: number t of the tile of all its entries, t after t. Of elasticity t are
//               xx yy zz xy xz yz yx zx zy, the last three not of entries on the diagonal
struct plan {
    int64_t n_kept, n_group, n_term, n_number;
    group *d_group; // [n_group + 1]
    uint32_t *d_mask;
    int32_t *d_cell;    // [n_term]
    double *d_number;   // [n_number]
    uint32_t *d_entry;  // [n_kept] the entry in the pattern; NULL: all are kept
    uint32_t *d_mirror; // [n_kept] its mirror image, or NONE; NULL: none has one
    int32_t *d_row;     // [n_kept] its row; NULL for bsr, which has no use for it
    void *d_memory[6];  // (owned)
    size_t bytes;
};

// Of elasticity: numbers that all tiles have, and row and column of number t.
constexpr int EVEN = 6;

__host__ __device__ constexpr int row_of(int t)
{
    return t < 3 ? t : t < 5 ? 0 : t < 7 ? 1 : 2;
}

__host__ __device__ constexpr int column_of(int t)
{
    return t < 3 ? t : t == 3 ? 1 : t < EVEN ? 2 : t == 8 ? 1 : 0;
}

// Numbers of a level of n entries of C unknowns a point, n_off of them off the diagonal.
template <int C> __host__ __device__ constexpr int level_numbers(int n, int n_off)
{
    return C == 3 ? EVEN * n + (9 - EVEN) * n_off : n;
}

// From a zeroed plan, for any cells but those of splines; release takes half of one too. Waits.
// HX_EENV: the device lacks memory.
int create(plan *p, const hx_cuda_filling *f);
void release(plan *p, hx_device *dev);

} // namespace hx_stored

#endif
