// The plan of fills that integrate cells into a buffer and sum rows from it: rows in chunks by the
// lowest of their cells, and the cells of each chunk's rows, ascending, which fit into the buffer.
#ifndef HX_GATHER_CHUNKS_CUDA_CUH
#define HX_GATHER_CHUNKS_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_chunks
{

enum { POINT_BITS = 5 }; // of a place: the row's point in the cell; above it the cell in its chunk

static_assert(HX_MAX_CELL_POINT <= 1 << POINT_BITS, "points of a cell");

struct plan {
    int64_t n_narrow, n_wide, n_chunk, n_visit, n_own;
    int32_t *d_row;          // [n_narrow + n_wide] rows chunk after chunk, then wide ones
    uint32_t *d_first_place; // [n_narrow + 1] of a row in d_place
    uint32_t *d_place;       // [n_own] of a row, cells ascending
    int32_t *d_cell;         // [n_visit] cells of each chunk, ascending
    void *d_memory[3];       // all of these (owned)
    uint32_t *start;         // [3][n_chunk + 1], the host's: first row, place, cell (owned)
    size_t bytes;            // of the device's

    uint32_t first_row(int64_t chunk) const
    {
        return start[chunk];
    }
    uint32_t first_cell(int64_t chunk) const
    {
        return start[2 * (n_chunk + 1) + chunk];
    }
};

// From a zeroed plan. A chunk has up to `capacity` cells. Rows of more than `widest` entries, of
// more than capacity / 2 cells, or of none, are wide: in no chunk. Waits.
int create(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in,
           int64_t capacity, int widest);
void release(plan *p, hx_device *dev); // also half of one

// Bytes of it at most, of a whole matrix.
size_t expected(const hx_incidence *incidence, int64_t capacity);

} // namespace hx_chunks

#endif
