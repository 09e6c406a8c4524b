// The records of the fill `stored`: one block per record, one thread per entry, which walks over
// the cells of its row for those that also contain its column.
#include "stored_build_cuda.cuh"

namespace
{

using namespace hx_stored;

constexpr unsigned ALL = 0xffffffffu;

constexpr int TABLE = 4096; // size of a record's hash table of cells
static_assert(MOST_CELL <= TABLE / 2, "at most half of the table is used, or searches take long");
constexpr int32_t FREE = -1;

// A record while its block arranges it; one thread per entry.
struct arrangement {
    int32_t key[TABLE];
    uint16_t number[TABLE];
    uint32_t used[TABLE / 32];
    // mirror: sorted in ascending order at the end
    uint32_t n_term[THREADS], entry[THREADS], mirror[THREADS];
    uint8_t part[THREADS], source[THREADS];
    int n_cell;
    record_head head;
};

__device__ __forceinline__ uint32_t find_cell(arrangement &s, int64_t cell)
{
    const auto key = static_cast<int32_t>(cell);
    uint32_t at = static_cast<uint32_t>(key) * 2654435769u >> 20;
    static_assert(TABLE == 1 << 12, "the shift above");
    for (;; at = (at + 1) % TABLE) {
        const int32_t before = atomicCAS(&s.key[at], FREE, key);
        if (before == key) return at;
        if (before != FREE) continue;
        // too many cells; the record will be refused
        if (atomicAdd(&s.n_cell, 1) >= MOST_CELL) atomicExch(&s.key[at], FREE);
        return at;
    }
}

// Finds the cells of a record and numbers them in the order of the table.
__device__ void number_cells(const building &b, arrangement &s, int64_t kept)
{
    const int k = static_cast<int>(threadIdx.x);
    for (int i = k; i < TABLE; i += THREADS) s.key[i] = FREE;
    if (k == 0) s.n_cell = 0;
    __syncthreads();
    walk w = begin_walk(b, kept);
    while (w.next(b)) find_cell(s, w.cell);
    __syncthreads();
    for (int i = k; i < TABLE; i += THREADS) {
        const unsigned used = __ballot_sync(ALL, s.key[i] != FREE);
        if (k % 32 == 0) s.used[i / 32] = used;
    }
    __syncthreads();
    for (int i = k; i < TABLE; i += THREADS) {
        if (s.key[i] == FREE) continue;
        int n = __popc(s.used[i / 32] & ((1u << i % 32) - 1));
        for (int word = 0; word < i / 32; word++) n += __popc(s.used[word]);
        s.number[i] = static_cast<uint16_t>(n);
    }
}

// Number of gaps in an ascending list up to index k: places where a number does not follow directly
// on the preceding one.
__device__ __forceinline__ int run_of(const uint32_t *list, int k)
{
    int n = 0;
    for (int j = 1; j <= k; j++) n += list[j] != list[j - 1] + 1;
    return n;
}

// Rank of the thread's entry among those of its part, by descending number of cells.
__device__ __forceinline__ int rank_of(const arrangement &s, int k, int n_entry)
{
    int rank = 0;
    for (int j = 0; j < n_entry; j++)
        rank += s.part[j] == s.part[k] &&
                (s.n_term[j] > s.n_term[k] || (s.n_term[j] == s.n_term[k] && j < k));
    return rank;
}

__device__ __forceinline__ int count_level(const arrangement &s, int n_entry, int part, uint32_t l)
{
    int n = 0;
    for (int j = 0; j < n_entry; j++) n += s.part[j] == part && s.n_term[j] > l;
    return n;
}

// Sorts mirror images in the order of their destinations.
__device__ void sort_images(arrangement &s, int n_entry)
{
    const int k = static_cast<int>(threadIdx.x);
    const uint32_t own = k < n_entry ? s.mirror[k] : NONE;
    int rank = 0;
    for (int j = 0; j < n_entry; j++) rank += s.mirror[j] < own;
    const int n = __syncthreads_count(own != NONE);
    if (own != NONE) {
        s.mirror[rank] = own;
        s.source[rank] = static_cast<uint8_t>(k);
    }
    if (k == 0) s.head.n_mirror = static_cast<uint16_t>(n);
    __syncthreads();
    if (k == 0) s.head.n_mirror_run = static_cast<uint16_t>(n ? run_of(s.mirror, n - 1) + 1 : 0);
}

// Arranges a record completely, except for writing it; the head is complete. All threads call it.
__device__ void arrange(const building &b, int64_t record, arrangement &s)
{
    const uint32_t first = b.record_first[record];
    const int n = static_cast<int>(b.record_first[record + 1] - first);
    const int k = static_cast<int>(threadIdx.x);
    const int64_t kept = k < n ? static_cast<int64_t>(first) + k : b.p.n_kept;
    const int part = is_diagonal(b, kept) ? DIAGONAL : OFF;
    s.part[k] = static_cast<uint8_t>(part);
    s.n_term[k] = k < n ? b.n_term[kept] : 0;
    s.entry[k] = k < n ? b.entry[kept] : NONE;
    s.mirror[k] = k < n && b.mirror ? b.mirror[kept] : NONE;
    if (k == 0) s.head = {};
    number_cells(b, s, kept);
    const int n_diagonal = __syncthreads_count(part == DIAGONAL);
    sort_images(s, n);
    if (k == 0) {
        s.head.first = first;
        s.head.n_entry = static_cast<uint16_t>(n);
        s.head.n_diagonal = static_cast<uint16_t>(n_diagonal);
        s.head.n_cell = static_cast<uint16_t>(s.n_cell);
        s.head.n_run = static_cast<uint16_t>(run_of(s.entry, n - 1) + 1);
        for (int j = 0; j < n; j++) {
            uint16_t *const n_level = &s.head.n_level[s.part[j]];
            s.head.n_term[s.part[j]] += s.n_term[j];
            if (s.n_term[j] > *n_level) *n_level = static_cast<uint16_t>(s.n_term[j]);
        }
    }
    __syncthreads();
}

// Number of bytes, rounded up, in units of 16.
__device__ __forceinline__ uint32_t by_16(uint32_t bytes)
{
    return (bytes + 15) / 16;
}

template <int C> __global__ void __launch_bounds__(THREADS) measure_kernel(building b)
{
    __shared__ arrangement s;
    const int64_t record = blockIdx.x;
    arrange(b, record, s);
    if (threadIdx.x) return;
    const uint32_t list =
        by_16(b.wide ? record_lists<uint16_t>(s.head).bytes : record_lists<uint8_t>(s.head).bytes);
    const uint32_t word = by_16(4 * record_words<C>(s.head));
    if (record == 0) b.n_list[b.p.n_record] = b.n_word[b.p.n_record] = 0;
    b.n_list[record] = list;
    b.n_word[record] = word;
    atomicMax(&b.most->list, static_cast<int>(16 * list));
    atomicMax(&b.most->word, static_cast<int>(16 * word));
    atomicMax(&b.most->n_entry, s.head.n_entry);
    atomicMax(&b.most->n_cell, s.n_cell);
}

__device__ __forceinline__ const hx_cell_rule *rule_of(const building &b, int64_t cell)
{
    return b.rule + (b.in.kind ? static_cast<int>(b.in.kind[cell]) : LINEAR);
}

// Computes the roots at integration point q of a cell. Returns an upper bound on the contribution
// of this point to any number of a tile, for Lame's constants equal to 1.
__device__ __forceinline__ double make_root(const building &b, int64_t cell, int q, double *to)
{
    const hx_cell_rule *const rule = rule_of(b, cell);
    const int32_t *const point = b.in.point + hx_incidence_first(&b.in, cell);
    double j[3][3] = {}, root[3][3], length = 0.0, norm = 0.0;
    for (int a = 0; a < rule->n_point; a++) {
        const double *const x = b.xyz + 3 * static_cast<int64_t>(point[a]);
        for (int k = 0; k < 3; k++) {
            const double d_k = rule->gradient[q][k][a];
            length += fabs(d_k);
            for (int d = 0; d < 3; d++) j[k][d] += d_k * x[d];
        }
    }
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 3; k++) {
            const int d1 = (d + 1) % 3, d2 = (d + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            root[d][k] = j[k1][d1] * j[k2][d2] - j[k1][d2] * j[k2][d1];
        }
    const double det = j[0][0] * root[0][0] + j[0][1] * root[1][0] + j[0][2] * root[2][0];
    const double f = sqrt(rule->weight[q] / det);
    for (int t = 0; t < 9; t++) {
        to[t] = f * root[t / 3][t % 3];
        norm += to[t] * to[t];
    }
    return norm * length * length;
}

__global__ void roots_kernel(building b)
{
    const int64_t i = hx_grid_thread(), cell = i / b.most_gauss;
    const int q = static_cast<int>(i % b.most_gauss);
    int power = NO_POWER;
    if (cell < b.in.n_cell && q < rule_of(b, cell)->n_gauss) {
        const double most = make_root(b, cell, q, b.root + 9 * i);
        const double lame = fabs(b.form.lambda) + 4.0 * fabs(b.form.mu);
        const double all = most * lame * b.most_gauss;
        if (all > 0.0 && isfinite(all)) power = ilogb(all) + 1;
    }
    power = __reduce_max_sync(ALL, power);
    if (threadIdx.x % 32 == 0) atomicMax(&b.most->power, power);
}

// The sum of sqrt(weight det J) times the gradients of some points at integration point q.
__device__ __forceinline__ void add_gradients(const hx_cell_rule *rule, const double *root, int q,
                                              unsigned points, double h[3])
{
    double d[3] = {};
    for (; points; points &= points - 1) {
        const int a = __ffs(static_cast<int>(points)) - 1;
        for (int k = 0; k < 3; k++) d[k] += rule->gradient[q][k][a];
    }
    for (int i = 0; i < 3; i++)
        h[i] = root[3 * i] * d[0] + root[3 * i + 1] * d[1] + root[3 * i + 2] * d[2];
}

// The tile of an entry in a cell for unit modulus; for heat conduction, its only number.
__device__ __forceinline__ void make_tile(const building &b, const walk &w, double k[3][3])
{
    const hx_cell_rule *const rule = rule_of(b, w.cell);
    double m[3][3] = {};
    for (int q = 0; q < rule->n_gauss; q++) {
        const double *const root = b.root + 9 * (w.cell * b.most_gauss + q);
        double ha[3], hb[3];
        add_gradients(rule, root, q, w.own, ha);
        add_gradients(rule, root, q, w.others, hb);
        hx_form_add(ha, hb, m);
    }
    if (b.form.kind == HX_FORM_ELASTICITY)
        hx_form_elasticity(1.0, b.form.lambda, b.form.mu, m, k);
    else
        k[0][0] = hx_form_conduction(1.0, m);
}

// Splits a number into its leading bits as a float, truncated, and the next 24 bits, rounded.
__device__ __forceinline__ void split_number(double v, float *head, uint32_t *tail)
{
    // Rounds to 48 bits.
    const long long bits = __double_as_longlong(v);
    const long long rounded =
        (bits + 16) & ~31ll; // drops 52 - 47 bits; a carry increments the exponent
    const double kept = __longlong_as_double(rounded);
    *head = __double2float_rz(kept);
    *tail = static_cast<uint32_t>(rounded >> 5) & 0xffffff;
}

// Writes a tile to word `at` and to words at a distance of `stride`.
__device__ __forceinline__ void put_tile(const double k[3][3], int part, int power, uint32_t *at,
                                         int stride)
{
    const int n = part == OFF ? 9 : 6, n_low = part == OFF ? 7 : 5;
    uint32_t low[7] = {};
    for (int t = 0; t < n; t++) {
        float head;
        uint32_t tail;
        split_number(ldexp(k[row_of(t)][column_of(t)], -power), &head, &tail);
        at[t * stride] = __float_as_uint(head);
        for (int i = 0; i < 3; i++) {
            const int byte = part == OFF         ? 3 * t + i
                             : t % 3 * 3 + i < 8 ? 8 * (t / 3) + t % 3 * 3 + i
                                                 : 16 + t / 3;
            low[byte / 4] |= (tail >> 8 * i & 0xff) << 8 * (byte % 4);
        }
    }
    for (int w = 0; w < n_low; w++) at[(n + w) * stride] = low[w];
}

template <int C>
__device__ __forceinline__ void put_numbers(const double k[3][3], int part, int power, uint32_t *at,
                                            int stride)
{
    if constexpr (C == 1) {
        at[0] = static_cast<uint32_t>(__double2loint(k[0][0]));
        at[1] = static_cast<uint32_t>(__double2hiint(k[0][0]));
    } else {
        put_tile(k, part, power, at, stride);
    }
}

// Writes the data that a record has once.
template <class Local>
__device__ void put_lists(const arrangement &s, const record_lists<Local> &at, char *to)
{
    const record_head &h = s.head;
    const int k = static_cast<int>(threadIdx.x);
    if (k == 0) *reinterpret_cast<record_head *>(to) = h;
    auto *const cell = reinterpret_cast<int32_t *>(to + at.cell);
    for (int i = k; i < TABLE; i += THREADS)
        if (s.key[i] != FREE) cell[s.number[i]] = s.key[i];
    auto *const level = reinterpret_cast<uint16_t *>(to + at.level);
    for (int part = 0, first = 0; part < N_PART; first += h.n_level[part++])
        for (int l = k; l < h.n_level[part]; l += THREADS)
            level[first + l] =
                static_cast<uint16_t>(count_level(s, h.n_entry, part, static_cast<uint32_t>(l)));
    if (k < h.n_entry) {
        const int run = run_of(s.entry, k), rank = rank_of(s, k, h.n_entry);
        const int sorted = s.part[k] == OFF ? rank : h.n_entry - h.n_diagonal + rank;
        to[at.run + k] = static_cast<char>(run);
        to[at.place + sorted] = static_cast<char>(k);
        if (k == 0 || s.entry[k] != s.entry[k - 1] + 1)
            reinterpret_cast<uint32_t *>(to + at.base)[run] = s.entry[k] - static_cast<uint32_t>(k);
    }
    if (k < h.n_mirror) {
        const int run = run_of(s.mirror, k);
        to[at.mirror_run + k] = static_cast<char>(run);
        to[at.source + k] = static_cast<char>(s.source[k]);
        if (k == 0 || s.mirror[k] != s.mirror[k - 1] + 1)
            reinterpret_cast<uint32_t *>(to + at.mirror_base)[run] =
                s.mirror[k] - static_cast<uint32_t>(k);
    }
}

template <int C, class Local> __global__ void __launch_bounds__(THREADS) store_kernel(building b)
{
    __shared__ arrangement s;
    const int64_t record = blockIdx.x;
    arrange(b, record, s);
    const record_head &h = s.head;
    const record_lists<Local> at(h);
    const record_at begin = b.p.d_at[record];
    char *const to = b.p.d_list + 16 * static_cast<int64_t>(begin.list);
    const int k = static_cast<int>(threadIdx.x);
    put_lists(s, at, to);
    __syncthreads(); // the levels are read below
    if (k >= h.n_entry) return;
    const int part = s.part[k], rank = rank_of(s, k, h.n_entry);
    const uint16_t *level =
        reinterpret_cast<const uint16_t *>(to + at.level) + (part == OFF ? 0 : h.n_level[OFF]);
    uint32_t *word = b.p.d_word + 4 * static_cast<int64_t>(begin.word) +
                     (part == OFF ? 0 : tile_words<C>(OFF) * h.n_term[OFF]);
    Local *local = reinterpret_cast<Local *>(to + at.local) + (part == OFF ? 0 : h.n_term[OFF]);
    for (walk w = begin_walk(b, static_cast<int64_t>(h.first) + k); w.next(b);) {
        const int n = *level++;
        double tile[3][3];
        make_tile(b, w, tile);
        put_numbers<C>(tile, part, b.p.power, word + (C == 1 ? 2 : 1) * rank, C == 1 ? 0 : n);
        local[rank] = static_cast<Local>(s.number[find_cell(s, w.cell)]);
        word += tile_words<C>(part) * n;
        local += n;
    }
}

} // namespace

int hx_stored::start_roots(const building &b, cudaStream_t stream)
{
    const int64_t n = b.in.n_cell * b.most_gauss;
    if (n == 0) return HX_OK;
    roots_kernel<<<hx_blocks(n), HX_BLOCK, 0, stream>>>(b);
    return HX_LAUNCHED("stored's roots_kernel");
}

int hx_stored::start_measure(const building &b, cudaStream_t stream)
{
    const auto kernel = hx_form_components(&b.form) == 3 ? measure_kernel<3> : measure_kernel<1>;
    kernel<<<static_cast<unsigned>(b.p.n_record), THREADS, 0, stream>>>(b);
    return HX_LAUNCHED("stored's measure_kernel");
}

int hx_stored::start_store(const building &b, cudaStream_t stream)
{
    const bool elastic = hx_form_components(&b.form) == 3;
    const auto kernel = elastic  ? b.wide ? store_kernel<3, uint16_t> : store_kernel<3, uint8_t>
                         : b.wide ? store_kernel<1, uint16_t>
                                 : store_kernel<1, uint8_t>;
    kernel<<<static_cast<unsigned>(b.p.n_record), THREADS, 0, stream>>>(b);
    return HX_LAUNCHED("stored's store_kernel");
}
