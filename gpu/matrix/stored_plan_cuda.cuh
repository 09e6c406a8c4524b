// Data kept by the fill `stored`: the tile of every entry in each of its cells, for unit modulus.
#ifndef HX_STORED_PLAN_CUDA_CUH
#define HX_STORED_PLAN_CUDA_CUH

#include "matrix_cuda.cuh"

namespace hx_stored
{

constexpr int THREADS = 192;    // threads of a block, which processes a record
constexpr int MOST_ENTRY = 192; // maximum number of entries of a record
constexpr uint32_t NONE = UINT32_MAX;

// For elasticity a tile off the diagonal has 9 numbers, one on the diagonal 6: xx yy zz xy xz yz yx
// zx zy. They have 48 significant bits (rounded, with an error of at most 2^-48 of each), times a
// common power of two. First come the leading bits of each as a float, then the 24 bits that
// continue it, three numbers in nine bytes: off the diagonal, all contiguous; on the diagonal, two
// words and one byte of the last word per half. For heat conduction a tile is a double.
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

// The entries that are kept are those without an earlier mirror image: those on and below the
// diagonal, and those whose mirror image is in no row of the matrix. In their order they are
// divided into records, each as long as a block of threads has room for. In a record, the entries
// of a part are sorted by descending number of cells; level l contains cell number l of the first
// entries, as many as have that many cells.
struct record_head {
    uint32_t first; // first kept entry
    uint32_t n_term[N_PART];
    uint16_t n_entry, n_diagonal, n_mirror, n_cell;
    uint16_t n_run, n_mirror_run;
    uint16_t n_level[N_PART];
    uint32_t unused;
};
static_assert(sizeof(record_head) % 16 == 0, "records are copied 16 bytes at a time");

// Offsets of the lists of a record, from its head on. `Local` is the type of indices of its cells.
template <class Local> struct record_lists {
    uint32_t cell;        // int32_t [n_cell]
    uint32_t base;        // uint32_t [n_run] index of entry q of the record is base[run[q]] + q
    uint32_t mirror_base; // uint32_t [n_mirror_run] likewise for mirror image j, in ascending order
    // uint16_t [n_level of both] number of entries with more cells than the level's index
    uint32_t level;
    uint32_t local;      // Local [n_term of both] index of the cell of each term
    uint32_t place;      // uint8_t [n_entry] index in the record of each sorted entry
    uint32_t run;        // uint8_t [n_entry]
    uint32_t mirror_run; // uint8_t [n_mirror]
    uint32_t source;     // uint8_t [n_mirror] entry that it is the mirror image of
    uint32_t bytes;      // total size, including the head

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

// Number of words of its tiles, which are stored level by level, those on the diagonal last: word 0
// of all entries of a level, then word 1, and so on.
template <int C> __host__ __device__ __forceinline__ uint32_t record_words(const record_head &h)
{
    return tile_words<C>(OFF) * h.n_term[OFF] + tile_words<C>(DIAGONAL) * h.n_term[DIAGONAL];
}

// Where a record begins; it ends where the next one begins. Lists and words are counted in units of
// 16 bytes.
struct record_at {
    uint32_t list, word;
};

struct plan {
    int64_t n_kept, n_record;
    record_at *d_at;  // [n_record + 1]
    char *d_list;     // heads and lists
    uint32_t *d_word; // tiles
    int most_list;    // size of the largest record's lists in bytes
    int most_word;    // size of the largest record's tiles in bytes
    int most_entry;   // largest number of entries of a record
    int most_cell;    // largest number of cells of a record; above 256, terms use 16 bits (`Local`)
    int power;        // a tile is 2^power times the stored numbers
    int32_t *d_row;   // [n_kept] row; nullptr for bsr, like the next two
    uint32_t *d_entry;  // [n_kept] index of the entry in the pattern
    uint32_t *d_mirror; // [n_kept] index of its mirror image, or NONE
    void *d_memory[6];  // (owned)
    size_t bytes;
};

// The plan must be zeroed. For any cells except those of splines; records have about record_bytes
// bytes. `release` accepts an incomplete plan. Waits. HX_EENV: not enough device memory.
int create(plan *p, const hx_cuda_filling *f, int record_bytes);
void release(plan *p, hx_device *dev);

} // namespace hx_stored

#endif
