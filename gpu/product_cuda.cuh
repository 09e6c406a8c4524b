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
    // In parts: rows in common are complete with the sums that boundary runs leave aside.
    int64_t n_common;
    int32_t *d_common;    // [n_common] rows
    uint8_t *d_is_common; // [n_row]
};

// m->plan.
struct hx_cuda_product {
    hx_cuda_blocks blocks; // of a full product
    double *d_partial;     // [blocks.n] x'y of each
    hx_cuda_lower lower;
};

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
int hx_cuda_lower_divide(hx_device *dev, const hx_matrix *m, hx_cuda_lower *lower, int64_t n,
                         const int32_t *point);
int hx_cuda_lower_multiply(hx_device *dev, const hx_matrix *m, const hx_cuda_lower *lower,
                           hx_product_part part, const double *d_x, double *d_y);

// The value of a matrix' number.
__device__ __forceinline__ double hx_number(const hx_matrix &m, int64_t at)
{
    return m.spec.single ? static_cast<double>(static_cast<const float *>(m.d_value)[at])
                         : static_cast<const double *>(m.d_value)[at];
}

#endif
