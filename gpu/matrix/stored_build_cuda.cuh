// Internals of the fill `stored`: the construction of its plan.
#ifndef HX_STORED_BUILD_CUDA_CUH
#define HX_STORED_BUILD_CUDA_CUH

#include "core/space/cell_rule.h"
#include "stored_plan_cuda.cuh"

namespace hx_stored
{

constexpr int MOST_CELL = 2048;   // of a record
constexpr int NO_POWER = -100000; // exponent smaller than that of any number
constexpr int LINEAR =
    HX_N_CELL_RULE; // index of the rule for hexahedra with 8 points, and for what they collapse to
constexpr int N_RULE = HX_N_CELL_RULE + 1;

// Sizes of the largest record, and an upper bound on the exponent (power of two) of the numbers of
// tiles.
struct bounds {
    int list, word, n_entry, n_cell, power;
};

// The state of a build, as seen by kernels.
struct building {
    hx_incidence in;
    hx_form form;
    hx_device_pattern pattern;
    const double *xyz;
    const hx_cell_rule *rule;  // [N_RULE]
    int most_gauss;            // largest number of integration points of a cell
    int wide;                  // 1: terms use 16 bits for their cell
    int64_t record_bytes;      // target size
    uint32_t *first;           // [n_row + 1] number of kept entries before each row
    int32_t *row;              // [n_kept]
    uint32_t *entry, *mirror;  // [n_kept]
    uint64_t *key;             // [n_kept] sort key of each entry; nullptr: entries are not sorted
    uint32_t *n_term;          // [n_kept] number of its cells
    int64_t *weight;           // [n_kept + 1] bytes of the kept entries before each one
    uint32_t *n_begin;         // [n_kept + 1] records that begin before each kept entry
    uint32_t *record_first;    // [n_record + 1] first kept entry
    uint32_t *n_list, *n_word; // [n_record + 1] sizes before each record, in the units of record_at
    bounds *most;
    double *root; // [n_cell][most_gauss][9] sqrt(weight det J) d xi_k / d x_i
    plan p;
};

// Iterates over the cells of an entry in ascending order. For each cell, bit sets of the points
// that are the row's, and of those that are the column's; a collapsed cell may have several.
struct walk {
    int64_t at, end, cell;
    int slot; // slot of the entry in its row
    unsigned own, others;

    __device__ __forceinline__ bool next(const building &b)
    {
        const hx_device_pattern &p = b.pattern;
        while (at < end) {
            const int64_t place = b.in.point_place[at];
            cell = hx_incidence_cell(&b.in, place);
            const int64_t first = hx_incidence_first(&b.in, cell);
            const int n = hx_incidence_count(&b.in, cell);
            own = others = 0;
            for (; at < end; at++) {
                const int64_t a = b.in.point_place[at] - first;
                if (a >= n) break; // belongs to a later cell
                own |= 1u << a;
            }
            const int64_t pair = hx_incidence_pair(&b.in, cell) + (place - first) * n;
            for (int k = 0; k < n; k++)
                others |=
                    static_cast<unsigned>(hx_slot_at(p.d_slot, p.slot_bytes, pair + k) == slot)
                    << k;
            if (others) return true;
        }
        return false;
    }
};

// Begins a walk for a kept entry; empty beyond the last one.
__device__ __forceinline__ walk begin_walk(const building &b, int64_t kept)
{
    walk w = {};
    if (kept >= b.p.n_kept) return w;
    const hx_device_pattern &p = b.pattern;
    const int64_t row = b.row[kept], point = p.row_first + row;
    w.at = b.in.point_ptr[point];
    w.end = b.in.point_ptr[point + 1];
    w.slot = static_cast<int>(b.entry[kept] - p.d_row_ptr[row]);
    return w;
}

__device__ __forceinline__ bool is_diagonal(const building &b, int64_t kept)
{
    return kept < b.p.n_kept && b.pattern.d_col[b.entry[kept]] == b.pattern.row_first + b.row[kept];
}

// stored_records_cuda.cu: queues the work for all records, or cells. Sizes are stored in b.n_list,
// b.n_word and b.most; roots in b.root; records in b.p.
int start_roots(const building &b, cudaStream_t stream);
int start_measure(const building &b, cudaStream_t stream);
int start_store(const building &b, cudaStream_t stream);

} // namespace hx_stored

#endif
