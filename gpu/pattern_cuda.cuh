// Inside of the pattern's builders: steps timed by events, temporaries in one allocation, and the
// parts that lie in files of their own.
#ifndef HX_PATTERN_CUDA_CUH
#define HX_PATTERN_CUDA_CUH

#include "matrix_cuda.cuh"

constexpr unsigned HX_FULL_WARP = 0xffffffffu;
constexpr int HX_WARP = 32;

// Times of the steps on the device's own clock: what the host allocates or waits for between two
// steps is in neither.
struct hx_step_clock {
    hx_steps *steps; // NULL: nobody listens
    cudaStream_t stream;
    double start;
    int n;
    const char *name[HX_MAX_STEP];
    cudaEvent_t begin[HX_MAX_STEP], end[HX_MAX_STEP];
};
int hx_step_begin(hx_step_clock *clock, const char *name);
int hx_step_end(hx_step_clock *clock);

// One allocation for many arrays. Laid out twice: without memory first, for the bytes.
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

// Device memory; HX_EENV where there is not enough.
int hx_take_memory(hx_device *dev, size_t bytes, void *d_out, const char *what);

// What the device found out about the rows.
struct hx_found {
    unsigned long long n_candidate; // points of the cells of all huge rows
    int64_t n_entry;                // of all rows
    unsigned n_wide, n_huge;        // rows in the lists
    unsigned widest;                // entries of the widest row
    unsigned n_taken;               // candidates of huge rows that have their place
    unsigned n_overflow;            // huge rows of more entries than a set takes
};

// A build on its way.
struct hx_building {
    hx_device *dev;
    cudaStream_t stream;
    hx_incidence in; // device arrays; with lists once they are there
    hx_pattern_spec spec;
    hx_device_pattern *p;
    hx_step_clock *clock;
};

// Rows whose neighbours are looked for: what kernels see.
struct hx_row_job {
    hx_incidence in;
    int64_t row_first, n_row;
    int lower;
    int32_t *count;  // [n_row] entries
    uint8_t *slot;   // [n_pair]
    int32_t *narrow; // [n_row][HX_NARROW] columns of rows of up to so many; a first one below 0:
                     // the row is not here. May be NULL: none is
    int32_t *wide;   // [n_row] list of rows with more places than the kernel of hexahedra takes
    int32_t *huge;   // [n_row] list of rows with more candidates than a warp takes
    hx_found *found;
};
constexpr int HX_NARROW = 32;

// The cell of a place, without a division of 64 bits.
static __device__ __forceinline__ int64_t hx_cell_of(const hx_incidence &in, uint32_t place)
{
    return in.n_per_cell ? place / static_cast<uint32_t>(in.n_per_cell)
                         : static_cast<uint32_t>(in.place_cell[place]);
}

static __device__ __forceinline__ bool hx_has_entry(int lower, int64_t row, int32_t col)
{
    return !lower || col <= row;
}

int hx_bits_of(int64_t n);

// pattern_rows_cuda.cu. Whether the kernel of hexahedra can run, which wants `narrow` and `wide`.
bool hx_takes_hexahedra(const hx_incidence *in);
// Counts and one-byte slots of all rows but the huge ones, which go to a list.
int hx_queue_rows(const hx_building *b, const hx_row_job *job);
// Columns of all rows, from `narrow` or from their slots.
int hx_queue_columns(const hx_building *b, const hx_row_job *job);

// Pairs sorted by row and column; equal ones are one entry.
struct hx_sorted_pairs {
    int64_t n, n_row;    // n up to INT32_MAX
    int bits;            // of a column, in a key; above it the row, n_row for no entry
    uint64_t *key[2];    // [n] filled first, sorted to the first; the second is then free
    uint32_t *order[2];  // likewise: 0 .. n - 1, and which is where
    uint32_t *entry;     // [n] entries up to this one, itself included; where key[1] was
    int64_t *row_ptr;    // [n_row + 1]
    const int64_t *pair; // [n] which pair of the incidence, NULL: the same number
    void *d_work;
    size_t n_work; // bytes that CUB wants
};

// pattern_sort_cuda.cu
int hx_sorted_pairs_lay_out(hx_sorted_pairs *s, hx_arena *arena, int64_t n, int64_t n_row,
                            int64_t n_point);
int hx_sort_pairs(const hx_building *b, hx_sorted_pairs *s);
// Entries and row_ptr.
int hx_number_entries(const hx_building *b, const hx_sorted_pairs *s);
// The slots of all its pairs, and the columns (d_col may be NULL).
int hx_place_pairs(const hx_building *b, const hx_sorted_pairs *s, int32_t *d_col);
int hx_build_by_sort(hx_building *b);

// Rows with more candidates than a warp takes, by sorting these.
struct hx_huge_rows {
    int64_t n;
    const int32_t *d_row; // (borrowed)
    char *d_memory;
    hx_sorted_pairs pairs;
};
// Their counts into job->count.
int hx_huge_rows_count(hx_huge_rows *huge, const hx_building *b, const hx_row_job *job,
                       const hx_found *found);

// pattern_sets_cuda.cu: the huge rows of splines, each in the shared memory of a thread block;
// which rows these are, job->huge says. Counts into job->count, found->n_overflow of those of more
// entries, whose counts are none.
int hx_queue_set_counts(const hx_building *b, const hx_row_job *job, unsigned n_row);
// Their slots and columns, from the offsets.
int hx_queue_sets(const hx_building *b, const hx_row_job *job, unsigned n_row);

// pattern_cuda.cu
// *d_widest = the largest of *d_widest and the differences of ptr[0 .. n].
int hx_queue_widest(const hx_building *b, int64_t n, const int64_t *d_ptr, unsigned *d_widest);
// What was found, and n_entry. Waits.
int hx_read_offsets(const hx_building *b, hx_found *d_found, hx_found *found);
// max_row and slot_bytes; HX_EINPUT where it is too wide.
int hx_judge_rows(const hx_building *b, unsigned widest);

#endif
