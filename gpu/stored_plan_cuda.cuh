// What the fill `stored` keeps: the tile of every entry in each of its cells, of modulus 1.
#ifndef HX_STORED_PLAN_CUDA_CUH
#define HX_STORED_PLAN_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_stored
{

constexpr int THREADS = 192;    // of a block, which works on a record
constexpr int MOST_ENTRY = 192; // of a record
constexpr uint32_t NONE = UINT32_MAX;

// Of elasticity a tile off the diagonal is 9 numbers, one on it 6: xx yy zz xy xz yz yx zx zy. They
// have 48 significant bits (rounded: within 2^-48 of each), times a power of two that is the same
// for all: first the float each begins with, then the 24 bits that go on after it, three in nine
// bytes: off the diagonal all side by side; on it two words and a byte of the last word each half.
// Of conduction a tile is a double.
enum { OFF, DIAGONAL, N_PART };

template <int C> __host__ __device__ constexpr int tile_words(int part)
{
    return C == 1 ? 2 : part == OFF ? 16 : 11;
}

// Row and column of number t.
__host__ __device__ constexpr int row_of(int t)
{
    return t < 3 ? t : t < 5 ? 0 : t < 7 ? 1 : 2;
}

__host__ __device__ constexpr int column_of(int t)
{
    return t < 3 ? t : t == 3 ? 1 : t < 6 ? 2 : t == 8 ? 1 : 0;
}

// Of a matrix' entries those are kept that have no mirror image before them: on the diagonal and
// below, and those whose mirror image is in no row of the matrix. In their order they are cut into
// records, each as long as a block of threads has room for. In a record a part's entries are sorted
// by falling number of cells; level l has the cells number l of the first so many of them.
struct record_head {
    uint32_t first; // kept entry
    uint32_t n_term[N_PART];
    uint16_t n_entry, n_diagonal, n_mirror, n_cell;
    uint16_t n_run, n_mirror_run;
    uint16_t n_level[N_PART];
    uint32_t unused;
};
static_assert(sizeof(record_head) % 16 == 0, "records are copied 16 bytes at a time");

// Where the lists of a record stand, from its head; `Local` counts its cells.
template <class Local> struct record_lists {
    uint32_t cell;        // int32_t [n_cell]
    uint32_t base;        // uint32_t [n_run] entry number q of the record is base[run[q]] + q ...
    uint32_t mirror_base; // uint32_t [n_mirror_run] ... and image number j, ascending, likewise
    uint32_t level;       // uint16_t [n_level of both] entries that have so many cells
    uint32_t local;       // Local [n_term of both] the cell of each term
    uint32_t place;       // uint8_t [n_entry] which entry of the record the sorted one is
    uint32_t run;         // uint8_t [n_entry]
    uint32_t mirror_run;  // uint8_t [n_mirror]
    uint32_t source;      // uint8_t [n_mirror] the entry that it is the image of
    uint32_t bytes;       // of all, the head included

    __host__ __device__ __forceinline__ explicit record_lists(const record_head &h)
    {
        cell = sizeof h;
        base = cell + 4 * h.n_cell;
        mirror_base = base + 4 * h.n_run;
        level = mirror_base + 4 * h.n_mirror_run;
        local = level + 2 * (h.n_level[OFF] + h.n_level[DIAGONAL]);
        place = local + static_cast<uint32_t>(sizeof(Local)) * (h.n_term[OFF] + h.n_term[DIAGONAL]);
        run = place + h.n_entry;
        mirror_run = run + h.n_entry;
        source = mirror_run + h.n_mirror;
        bytes = source + h.n_mirror;
    }
};

// Its tiles, level by level, those on the diagonal last: word w of all its entries, w after w.
template <int C> __host__ __device__ __forceinline__ uint32_t record_words(const record_head &h)
{
    return tile_words<C>(OFF) * h.n_term[OFF] + tile_words<C>(DIAGONAL) * h.n_term[DIAGONAL];
}

// Where a record begins; its end is where the next one does. Lists and words are counted by 16
// bytes.
struct record_at {
    uint32_t list, word;
};

struct plan {
    int64_t n_kept, n_record;
    record_at *d_at;    // [n_record + 1]
    char *d_list;       // heads and lists
    uint32_t *d_word;   // tiles
    int most_list;      // bytes of a record's lists
    int most_word;      // bytes of its tiles
    int most_entry;     // of a record
    int most_cell;      // of a record; more than 256 take 16 bits a term, `Local`
    int power;          // tiles are 2^power times what is kept
    int32_t *d_row;     // [n_kept] its row, NULL for bsr, which has no use for it nor the next two
    uint32_t *d_entry;  // [n_kept] the entry in the pattern
    uint32_t *d_mirror; // [n_kept] its mirror image, or NONE
    void *d_memory[6];  // (owned)
    size_t bytes;
};

// From a zeroed plan, for any cells but those of splines, in records of about so many bytes;
// release takes half of one too. Waits. HX_EENV: the device lacks memory.
int create(plan *p, const hx_cuda_filling *f, int record_bytes);
void release(plan *p, hx_device *dev);

} // namespace hx_stored

#endif
