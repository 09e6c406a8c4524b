// Internals of the products of the GPU's matrices.
#ifndef HX_PRODUCT_CUDA_CUH
#define HX_PRODUCT_CUDA_CUH

#include "block_parts.cuh"
#include "matrix_cuda.cuh"

// Data for the product of a lower matrix (matrix_lower_cuda.cu). In general a row finds the blocks
// of its column by a list. For bsr with 3 unknowns there are runs of rows, each processed by one
// thread block, which reads its blocks once: contributions to rows of the run are summed in shared
// memory; contributions to rows of earlier runs, the outer rows, are stored separately and added by
// a second kernel. All sums are in the order of the rows.
struct hx_cuda_lower {
    int64_t n_off; // number of blocks off the diagonal

    // Runs; n_each = 0: lists are used instead.
    int n_each;             // number of rows of a run
    int most_block;         // largest number of blocks of a run, including the diagonal
    int most_outer;         // largest number of outer rows of a run
    int64_t n_run, n_outer; // n_outer: total over all runs
    uint16_t
        // [n_off + n_row] for each block: its row in the run, and the point of its column in the
        // run
        *d_code;
    // [run] its blocks off the diagonal, sorted by column, numbered from its first block on
    uint16_t *d_list;
    // [run] for its outer rows, then for its own rows: end of their blocks in the run's list. The
    // data of a run in both arrays begins at hx_lower_place(...).
    uint16_t *d_end;
    int64_t *d_outer_begin; // [n_run + 1]
    int32_t *d_outer_row;   // [n_outer] ascending within each run
    double *d_aside;        // [n_outer][3]
    int32_t *d_part_ptr;    // [n_row + 1] first contribution to each row in d_part
    int32_t *d_part;        // [n_outer] indices in d_aside, ascending within each row

    // Lists.
    int64_t *d_column_ptr; // [n_row + 1]
    int32_t *d_row;        // [n_off] row of each block of a column, ascending
    uint16_t *d_entry;     // [n_off] its index in that row

    hx_cuda_blocks blocks; // runs, or thread blocks if lists are used
};

// Interface rows, which are complete after BOUNDARY.
struct hx_cuda_interface {
    int64_t n;
    int32_t *d_row;          // [n] (owned); nullptr, like d_is_interface, if there are none
    uint8_t *d_is_interface; // [n_row] (owned)
};

// m->plan.
struct hx_cuda_product {
    hx_cuda_blocks blocks; // of a full product
    double *d_partial;     // [blocks.n] x'y of each block
    hx_cuda_lower lower;
    hx_cuda_interface interface;
};

// Some rows of points of a matrix.
struct hx_cuda_rows {
    int64_t n;
    const int32_t *row;  // [n]; nullptr: the first n
    const uint8_t *skip; // 1: the row is left out; nullptr: no row is left out
};

// The rows that a part of a product completes: interface rows after BOUNDARY, the others after all
// parts.
inline hx_cuda_rows hx_rows_after(const hx_cuda_interface &interface, int64_t n_row,
                                  hx_product_part part)
{
    if (part == HX_PRODUCT_BOUNDARY) return {interface.n, interface.d_row, nullptr};
    if (part == HX_PRODUCT_WHOLE) return {n_row, nullptr, nullptr};
    return {part == HX_PRODUCT_REST ? n_row : 0, nullptr, interface.d_is_interface};
}

// The row of thread `at` in a selection; -1: none.
__device__ __forceinline__ int64_t hx_row_at(const hx_cuda_rows &rows, int64_t at)
{
    if (at >= rows.n) return -1;
    const int64_t row = rows.row ? rows.row[at] : at;
    return rows.skip && rows.skip[row] ? -1 : row;
}

// First index of a run's 16-bit numbers in an array for all runs, a multiple of 16 bytes; `before`:
// count of the numbers of earlier runs.
static HX_HD int64_t hx_lower_place(int64_t before, int64_t run)
{
    return (before + 8 * run) & ~static_cast<int64_t>(7);
}

int hx_cuda_lower_create(hx_device *dev, const hx_matrix *m, hx_cuda_lower *lower);
void hx_cuda_lower_free(hx_device *dev, hx_cuda_lower *lower);
size_t hx_cuda_lower_bytes(const hx_matrix *m, const hx_cuda_lower *lower);
int hx_cuda_lower_expected(const hx_incidence *incidence, const hx_matrix_spec *spec,
                           size_t *bytes);
// point[interface.n]: the interface points.
int hx_cuda_lower_divide(hx_device *dev, const hx_matrix *m, const hx_cuda_interface &interface,
                         const int32_t *point, hx_cuda_lower *lower);
int hx_cuda_lower_multiply(hx_device *dev, const hx_matrix *m, const hx_cuda_product *plan,
                           hx_product_part part, const double *d_x, double *d_y);

// The value of a number of the matrix.
__device__ __forceinline__ double hx_number(const hx_matrix &m, int64_t at)
{
    return m.spec.single ? static_cast<double>(static_cast<const float *>(m.d_value)[at])
                         : static_cast<const double *>(m.d_value)[at];
}

#endif
