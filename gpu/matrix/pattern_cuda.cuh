// Internals of the pattern's builders: steps timed by events, temporaries in one allocation, and
// the parts that are in files of their own.
#ifndef HX_PATTERN_CUDA_CUH
#define HX_PATTERN_CUDA_CUH

#include "matrix_cuda.cuh"

constexpr unsigned HX_FULL_WARP = 0xffffffffu;
constexpr int HX_WARP = 32;

// Times of the steps on the device's own clock (pattern_steps_cuda.cu). Time in which the host
// allocates or waits between two steps belongs to neither of them.
struct hx_step_clock {
    hx_steps *steps; // nullptr: no times are needed
    cudaStream_t stream;
    double start;
    int n;
    const char *name[HX_MAX_STEP];
    cudaEvent_t begin[HX_MAX_STEP], end[HX_MAX_STEP];
};
int hx_step_begin(hx_step_clock *clock, const char *name);
int hx_step_end(hx_step_clock *clock);

// One allocation for many arrays. Arrays are laid out twice: first without memory, to count the
// bytes.
struct hx_arena {
    char *d_base;
    size_t n_byte;
    template <class T> T *take(int64_t n)
    {
        const size_t at = n_byte;
        n_byte += (static_cast<size_t>(n) * sizeof(T) + 255) / 256 * 256;
        return d_base ? reinterpret_cast<T *>(d_base + at) : nullptr;
    }
};

// Allocates device memory; HX_EENV if there is not enough.
int hx_take_memory(hx_device *dev, size_t bytes, void *d_out, const char *what);

// Properties of the rows, found by the device.
struct hx_found {
    unsigned long long n_candidate; // number of points of the cells of all huge rows
    int64_t n_entry;                // number of entries of all rows
    unsigned n_wide, n_huge;        // numbers of rows in the lists
    unsigned widest;                // number of entries of the widest row
    unsigned n_taken;               // number of candidates of huge rows that have been placed
    unsigned n_overflow;            // number of huge rows with more entries than a set can hold
};

// The state of a build.
struct hx_building {
    hx_device *dev;
    cudaStream_t stream;
    hx_incidence in; // device arrays; includes the lists once they exist
    hx_pattern_spec spec;
    hx_device_pattern *p;
    hx_step_clock *clock;
};

// Rows whose neighbours are to be found, as seen by kernels.
struct hx_row_job {
    hx_incidence in;
    int64_t row_first, n_row;
    int lower;
    int32_t *count; // [n_row] number of entries
    uint8_t *slot;  // [n_pair]
    // [n_row][HX_NARROW] columns of rows with at most HX_NARROW entries; first column < 0: the row
    // is not here; nullptr: no row is
    int32_t *narrow;
    int32_t *wide; // [n_row] list of rows with more places than the kernel for hexahedra supports
    int32_t *huge; // [n_row] list of rows with more candidates than a warp can process
    hx_found *found;
};
constexpr int HX_NARROW = 32;

// The cell of a place, without a 64-bit division.
static __device__ __forceinline__ int64_t hx_cell_of(const hx_incidence &in, uint32_t place)
{
    return in.n_per_cell ? place / static_cast<uint32_t>(in.n_per_cell)
                         : static_cast<uint32_t>(in.place_cell[place]);
}

static __device__ __forceinline__ bool hx_has_entry(int lower, int64_t row, int32_t col)
{
    return !lower || col <= row;
}

// pattern_rows_cuda.cu. Whether the kernel for hexahedra can run, which needs `narrow` and `wide`.
bool hx_takes_hexahedra(const hx_incidence *in);
// Counts and one-byte slots of all rows except the huge ones, which are added to a list.
int hx_queue_rows(const hx_building *b, const hx_row_job *job);
// Columns of all rows, from `narrow` or from their slots.
int hx_queue_columns(const hx_building *b, const hx_row_job *job);

// Pairs sorted by row and column; equal pairs are one entry.
struct hx_sorted_pairs {
    int64_t n, n_row; // n: at most INT32_MAX
    int bits;         // bits of the column in a key; above them the row, or n_row for no entry
    uint64_t *key[2]; // [n] key[0]: filled by the caller, then sorted; key[1]: scratch
    // [n] order[0]: 0 .. n - 1, then the index of each sorted pair; order[1] is scratch
    uint32_t *order[2];
    // [n] number of entries up to and including this pair; uses the memory of key[1]
    uint32_t *entry;
    int64_t *row_ptr;    // [n_row + 1]
    const int64_t *pair; // [n] index of each pair in the incidence; nullptr: the same index
    void *d_work;
    size_t n_work; // number of bytes that CUB needs
};

// pattern_sort_cuda.cu
int hx_sorted_pairs_lay_out(hx_sorted_pairs *s, hx_arena *arena, int64_t n, int64_t n_row,
                            int64_t n_point);
int hx_sort_pairs(const hx_building *b, hx_sorted_pairs *s);
// Computes entries and row_ptr.
int hx_number_entries(const hx_building *b, const hx_sorted_pairs *s);
// Computes the slots of all its pairs, and the columns (d_col may be nullptr).
int hx_place_pairs(const hx_building *b, const hx_sorted_pairs *s, int32_t *d_col);
int hx_build_by_sort(hx_building *b);

// Rows with more candidates than a warp can process, built by sorting the candidates.
struct hx_huge_rows {
    int64_t n;
    const int32_t *d_row; // (borrowed)
    char *d_memory;
    hx_sorted_pairs pairs;
};
// Stores their counts in job->count.
int hx_huge_rows_count(hx_huge_rows *huge, const hx_building *b, const hx_row_job *job,
                       const hx_found *found);

// pattern_sets_cuda.cu: the huge rows of splines, listed in job->huge, each processed in the shared
// memory of a thread block. Stores the counts in job->count; found->n_overflow is the number of
// rows with more entries, whose counts are invalid.
int hx_queue_set_counts(const hx_building *b, const hx_row_job *job, unsigned n_row);
// Their slots and columns, from the offsets.
int hx_queue_sets(const hx_building *b, const hx_row_job *job, unsigned n_row);

// pattern_steps_cuda.cu: *d_widest = the largest of *d_widest and the differences of ptr[0 .. n].
int hx_queue_widest(const hx_building *b, int64_t n, const int64_t *d_ptr, unsigned *d_widest);
// Reads the properties of the rows, and n_entry. Waits.
int hx_read_offsets(const hx_building *b, hx_found *d_found, hx_found *found);
// Sets max_row and slot_bytes; HX_EINPUT if a row is too wide.
int hx_judge_rows(const hx_building *b, unsigned widest);

#endif
