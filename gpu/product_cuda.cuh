// Inside of the products of the GPU's matrices.
#ifndef HX_PRODUCT_CUDA_CUH
#define HX_PRODUCT_CUDA_CUH

#include "block_parts.cuh"
#include "matrix_cuda.cuh"

// Of a lower matrix (matrix_lower_cuda.cu). In general a row finds the blocks of its column by a
// list. bsr of 3 unknowns: runs of rows, each a thread block's, which reads its blocks once: what
// they add to rows of the run is summed in shared memory, what they add to rows of earlier runs,
// the outer rows, is kept aside and added by a second kernel. All sums run in the order of the
// rows.
struct hx_cuda_lower {
    int64_t n_off; // blocks beside the diagonal

    // Runs; n_each 0: by lists.
    int n_each;             // rows of a run
    int most_block;         // of a run, the diagonal's too
    int most_outer;         // outer rows of a run
    int64_t n_run, n_outer; // n_outer: of all runs
    uint16_t
        *d_code; // [n_off + n_row] of each block: its row and the point of its column in its run
    uint16_t *d_list; // [run] its blocks beside the diagonal by column, from its first block on
    uint16_t *d_end;  // [run] of its outer rows, then its own rows: end of their blocks in the
                      // run's list. Both from hx_lower_place(...) on
    int64_t *d_outer_begin; // [n_run + 1]
    int32_t *d_outer_row;   // [n_outer] of each run ascending
    double *d_aside;        // [n_outer][3]
    int32_t *d_part_ptr;    // [n_row + 1] sums of a row that lie aside,
    int32_t *d_part;        // [n_outer] ascending

    // Lists.
    int64_t *d_column_ptr; // [n_row + 1]
    int32_t *d_row;        // [n_off] of each block of a column, ascending
    uint16_t *d_entry;     // [n_off] its place in that row

    hx_cuda_blocks blocks; // runs; of lists thread blocks
};

// Rows of points in common with other processes, which are complete after BOUNDARY.
struct hx_cuda_common {
    int64_t n;
    int32_t *d_row;       // [n] (owned); nullptr, like the next, where there are none
    uint8_t *d_is_common; // [n_row] (owned)
};

// m->plan.
struct hx_cuda_product {
    hx_cuda_blocks blocks; // of a full product
    double *d_partial;     // [blocks.n] x'y of each
    hx_cuda_lower lower;
    hx_cuda_common common;
};

// Some of a matrix' rows of points.
struct hx_cuda_rows {
    int64_t n;
    const int32_t *row;  // [n]; nullptr: the first n
    const uint8_t *skip; // of each row, 1: it is left out; nullptr: none is
};

// Those that a part completes, whose sums are there: in common after BOUNDARY, elsewhere after all.
inline hx_cuda_rows hx_rows_after(const hx_cuda_common &common, int64_t n_row, hx_product_part part)
{
    if (part == HX_PRODUCT_BOUNDARY) return {common.n, common.d_row, nullptr};
    if (part == HX_PRODUCT_WHOLE) return {n_row, nullptr, nullptr};
    return {part == HX_PRODUCT_REST ? n_row : 0, nullptr, common.d_is_common};
}

// The row of thread `at` of those; -1: none.
__device__ __forceinline__ int64_t hx_row_at(const hx_cuda_rows &rows, int64_t at)
{
    if (at >= rows.n) return -1;
    const int64_t row = rows.row ? rows.row[at] : at;
    return rows.skip && rows.skip[row] ? -1 : row;
}

// First place of a run's numbers of 2 bytes in an array of all runs', `before` of which belong to
// earlier runs: at multiples of 16 bytes.
static HX_HD int64_t hx_lower_place(int64_t before, int64_t run)
{
    return (before + 8 * run) & ~static_cast<int64_t>(7);
}

int hx_cuda_lower_create(hx_device *dev, const hx_matrix *m, hx_cuda_lower *lower);
void hx_cuda_lower_free(hx_device *dev, hx_cuda_lower *lower);
size_t hx_cuda_lower_bytes(const hx_matrix *m, const hx_cuda_lower *lower);
int hx_cuda_lower_expected(const hx_incidence *incidence, const hx_matrix_spec *spec,
                           size_t *bytes);
// point[common.n]: those in common.
int hx_cuda_lower_divide(hx_device *dev, const hx_matrix *m, const hx_cuda_common &common,
                         const int32_t *point, hx_cuda_lower *lower);
int hx_cuda_lower_multiply(hx_device *dev, const hx_matrix *m, const hx_cuda_product *plan,
                           hx_product_part part, const double *d_x, double *d_y);

// The value of a matrix' number.
__device__ __forceinline__ double hx_number(const hx_matrix &m, int64_t at)
{
    return m.spec.single ? static_cast<double>(static_cast<const float *>(m.d_value)[at])
                         : static_cast<const double *>(m.d_value)[at];
}

#endif
