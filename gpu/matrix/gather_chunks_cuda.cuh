// The plan of fills that integrate cells into a buffer and sum rows from it: chunks of rows, by the
// lowest of their cells, and for each chunk the ascending list of cells of its rows, which fit into
// the buffer.
#ifndef HX_GATHER_CHUNKS_CUDA_CUH
#define HX_GATHER_CHUNKS_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_chunks
{

// bits of a place: index of the row's point in the cell; above them the index of the cell in its
// chunk
enum { POINT_BITS = 5 };

static_assert(HX_MAX_CELL_POINT <= 1 << POINT_BITS, "points of a cell fit into their bits");

struct plan {
    int64_t n_narrow, n_wide, n_chunk, n_visit, n_own;
    int32_t *d_row;          // [n_narrow + n_wide] rows chunk by chunk, then the wide ones
    uint32_t *d_first_place; // [n_narrow + 1] first index of each row in d_place
    uint32_t *d_place;       // [n_own] places of each row, cells ascending
    int32_t *d_cell;         // [n_visit] cells of each chunk, ascending
    void *d_memory[3];       // memory of all these arrays (owned)
    // [3][n_chunk + 1] on the host: first row, place and cell of each chunk (owned)
    uint32_t *start;
    size_t bytes; // of device memory

    uint32_t first_row(int64_t chunk) const
    {
        return start[chunk];
    }
    uint32_t first_cell(int64_t chunk) const
    {
        return start[2 * (n_chunk + 1) + chunk];
    }
};

// The plan must be zeroed. A chunk has at most `capacity` cells. Rows with more than `widest`
// entries, with more than capacity / 2 cells, or with none, are wide and in no chunk. Waits.
int create(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in,
           int64_t capacity, int widest);
void release(plan *p, hx_device *dev); // accepts an incomplete plan

// Upper bound on its bytes for a whole matrix.
size_t expected(const hx_incidence *incidence, int64_t capacity);

} // namespace hx_chunks

#endif
