// The plan of the fill `stored`: which entries are kept, their cells, and the tiles. A warp is a
// group, a lane an entry, which walks the cells of its row for those that hold its column too.
#include <cub/device/device_scan.cuh>

#include <cstdlib>

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "core/space/cell_rule.h"
#include "stored_plan_cuda.cuh"

namespace
{

using namespace hx_stored;

constexpr unsigned ALL = 0xffffffffu;
constexpr int LINEAR =
    HX_N_CELL_RULE; // of the rules: hexahedra of 8 points, and what they collapse to
constexpr int N_RULE = HX_N_CELL_RULE + 1;

// A plan on its way: what kernels see.
struct building {
    hx_incidence in;
    hx_form form;
    hx_device_pattern pattern;
    const double *xyz;
    const hx_cell_rule *rule; // [N_RULE]
    int most_gauss;           // integration points of any cell
    uint32_t *first;          // [n_row + 1] kept entries before a row
    int32_t *row;             // [n_kept]
    uint32_t *entry, *mirror; // [n_kept]
    int64_t *n_number;        // [n_group + 1] numbers before a group, likewise
    uint32_t *n_term, *n_mask;
    double *root; // [n_cell][most_gauss][9] sqrt(weight det J) d xi_k / d x_i
    plan p;
};

__device__ __forceinline__ int64_t global_thread()
{
    return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}

// Whether the entry of a column has its mirror image before it.
__device__ __forceinline__ bool is_image(const hx_device_pattern &p, int64_t row, int64_t column)
{
    return column > p.row_first + row && column < p.row_first + p.n_row;
}

__global__ void count_kernel(building b)
{
    const hx_device_pattern &p = b.pattern;
    const int64_t row = global_thread();
    if (row > p.n_row) return;
    uint32_t n = 0;
    if (row < p.n_row)
        for (int64_t e = p.d_row_ptr[row]; e < p.d_row_ptr[row + 1]; e++)
            n += !is_image(p, row, p.d_col[e]);
    b.first[row] = n;
}

// The entry of a column in a row, ascending; it is there.
__device__ uint32_t find_entry(const hx_device_pattern &p, int64_t row, int64_t column)
{
    int64_t low = p.d_row_ptr[row], high = p.d_row_ptr[row + 1] - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (p.d_col[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return static_cast<uint32_t>(low);
}

__global__ void list_kernel(building b)
{
    const hx_device_pattern &p = b.pattern;
    const int64_t row = global_thread(), point = p.row_first + row;
    if (row >= p.n_row) return;
    uint32_t to = b.first[row];
    for (int64_t e = p.d_row_ptr[row]; e < p.d_row_ptr[row + 1]; e++) {
        const int64_t column = p.d_col[e], other = column - p.row_first;
        if (is_image(p, row, column)) continue;
        b.row[to] = static_cast<int32_t>(row);
        b.entry[to] = static_cast<uint32_t>(e);
        if (b.mirror)
            b.mirror[to] = column < point && other >= 0 ? find_entry(p, other, point) : NONE;
        to++;
    }
}

// The cells of an entry, ascending: of a cell the points that are the row's, and the column's, as
// bits; a collapsed cell has several.
struct walk {
    int64_t at, end, cell;
    int slot; // of the entry in its row
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
                if (a >= n) break; // of a later cell
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

// Of a kept entry; past the last one of none.
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

__device__ __forceinline__ int count_terms(const building &b, int64_t kept)
{
    walk w = begin_walk(b, kept);
    int n = 0;
    while (w.next(b)) n++;
    return n;
}

__device__ __forceinline__ bool is_diagonal(const building &b, int64_t kept)
{
    return kept < b.p.n_kept && b.pattern.d_col[b.entry[kept]] == b.pattern.row_first + b.row[kept];
}

template <int C> __global__ void measure_kernel(building b)
{
    const int64_t kept = global_thread(), g = kept / GROUP;
    if (g > b.p.n_group) return;
    const int n = count_terms(b, kept), n_off = is_diagonal(b, kept) ? 0 : n;
    const int n_level = __reduce_max_sync(ALL, n), n_term = __reduce_add_sync(ALL, n);
    const int n_off_term = __reduce_add_sync(ALL, n_off);
    if (kept % GROUP) return;
    b.n_term[g] = static_cast<uint32_t>(n_term);
    b.n_number[g] = level_numbers<C>(n_term, n_off_term);
    b.n_mask[g] = g < b.p.n_group ? static_cast<uint32_t>(n_level) + 1 : 0;
}

__global__ void groups_kernel(building b)
{
    const int64_t g = global_thread();
    if (g <= b.p.n_group) b.p.d_group[g] = {b.n_number[g], b.n_term[g], b.n_mask[g]};
}

__device__ __forceinline__ const hx_cell_rule *rule_of(const building &b, int64_t cell)
{
    return b.rule + (b.in.kind ? static_cast<int>(b.in.kind[cell]) : LINEAR);
}

__global__ void roots_kernel(building b)
{
    const int64_t i = global_thread(), cell = i / b.most_gauss;
    const int q = static_cast<int>(i % b.most_gauss);
    if (cell >= b.in.n_cell) return;
    const hx_cell_rule *const rule = rule_of(b, cell);
    if (q >= rule->n_gauss) return;
    const int32_t *const point = b.in.point + hx_incidence_first(&b.in, cell);
    double j[3][3] = {}, root[3][3];
    for (int a = 0; a < rule->n_point; a++) {
        const double *const x = b.xyz + 3 * static_cast<int64_t>(point[a]);
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) j[k][d] += rule->gradient[q][k][a] * x[d];
    }
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 3; k++) {
            const int d1 = (d + 1) % 3, d2 = (d + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            root[d][k] = j[k1][d1] * j[k2][d2] - j[k1][d2] * j[k2][d1];
        }
    const double det = j[0][0] * root[0][0] + j[0][1] * root[1][0] + j[0][2] * root[2][0];
    const double f = sqrt(rule->weight[q] / det);
    for (int t = 0; t < 9; t++) b.root[9 * i + t] = f * root[t / 3][t % 3];
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

// The tile of an entry in a cell, of modulus 1, and of conduction its one number.
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

template <int C> __global__ void store_kernel(building b)
{
    const int64_t kept = global_thread(), g = kept / GROUP;
    const int lane = static_cast<int>(kept % GROUP);
    if (g >= b.p.n_group) return;
    const bool diagonal = is_diagonal(b, kept);
    const unsigned before = (1u << lane) - 1, on_diagonal = __ballot_sync(ALL, diagonal);
    group at = b.p.d_group[g];
    walk w = begin_walk(b, kept);
    if (lane == 0) b.p.d_mask[at.mask] = on_diagonal;
    for (;;) {
        const bool has = w.next(b);
        const unsigned mask = __ballot_sync(ALL, has), off = mask & ~on_diagonal;
        if (!mask) return;
        if (lane == 0) b.p.d_mask[++at.mask] = mask;
        const int n = __popc(mask), n_off = __popc(off), rank = __popc(mask & before);
        if (has) {
            double k[3][3], *const to = b.p.d_number + at.number;
            make_tile(b, w, k);
            b.p.d_cell[at.term + rank] = static_cast<int32_t>(w.cell);
            for (int t = 0; t < (C == 3 ? EVEN : 1); t++)
                to[t * n + rank] = k[row_of(t)][column_of(t)];
            for (int t = EVEN; t < C * C && !diagonal; t++)
                to[EVEN * n + (t - EVEN) * n_off + __popc(off & before)] =
                    k[row_of(t)][column_of(t)];
        }
        at.term += static_cast<uint32_t>(n);
        at.number += level_numbers<C>(n, n_off);
    }
}

struct worker {
    const hx_cuda_filling *f;
    hx_device *dev;
    cudaStream_t stream;
    building b;
    plan *p;
};

unsigned blocks(int64_t n)
{
    return hx_blocks(n, HX_BLOCK);
}

// In place: sums before each number.
template <class T> int scan(const worker *w, T *d, int64_t n)
{
    hx_cuda_scratch scratch(w->dev);
    size_t n_work = 0;
    char *d_work = nullptr;
    HX_TRY_CUDA(cub::DeviceScan::ExclusiveSum(d_work, n_work, d, d, n, w->stream));
    HX_TRY(scratch.take(&d_work, static_cast<int64_t>(n_work)));
    HX_TRY_CUDA(cub::DeviceScan::ExclusiveSum(d_work, n_work, d, d, n, w->stream));
    return HX_OK;
}

template <class T> int take(worker *w, int i, int64_t count, T **d_out)
{
    const size_t bytes = static_cast<size_t>(count) * sizeof **d_out;
    HX_TRY(w->dev->ops->alloc(w->dev, bytes, &w->p->d_memory[i]));
    *d_out = static_cast<T *>(w->p->d_memory[i]);
    w->p->bytes += bytes;
    return HX_OK;
}

template <class T> int get(const worker *w, T *to, const T *d_from)
{
    return w->dev->ops->download(w->dev, to, d_from, sizeof *to);
}

void make_linear(hx_cell_rule *rule)
{
    rule->n_point = rule->n_corner = rule->n_gauss = 8;
    for (int q = 0; q < 8; q++) {
        rule->weight[q] = 1.0;
        for (int a = 0; a < 8; a++) {
            double d[3];
            hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1),
                                       hx_hex8_gauss(q, 2), d);
            for (int k = 0; k < 3; k++) rule->gradient[q][k][a] = d[k];
        }
    }
}

// The rules to the device; `most_gauss`.
int put_rules(worker *w, hx_cuda_scratch *scratch)
{
    hx_cell_rule *rule, *d_rule;
    HX_TRY(scratch->take(&d_rule, N_RULE));
    HX_TRY(hx_alloc(&rule, N_RULE, sizeof *rule, "rules of cells"));
    make_linear(&rule[LINEAR]);
    for (int kind = 0; kind < HX_N_CELL_RULE && w->b.in.kind; kind++)
        rule[kind] = w->f->input.rule[kind];
    for (int kind = 0; kind < N_RULE; kind++)
        if (rule[kind].n_gauss > w->b.most_gauss) w->b.most_gauss = rule[kind].n_gauss;
    const int rc = w->dev->ops->upload(w->dev, d_rule, rule, N_RULE * sizeof *rule);
    w->b.rule = d_rule;
    free(rule);
    return rc == HX_OK ? w->dev->ops->sync(w->dev) : rc;
}

int count_kept(worker *w)
{
    building *b = &w->b;
    uint32_t n_kept;
    count_kernel<<<blocks(b->pattern.n_row + 1), HX_BLOCK, 0, w->stream>>>(*b);
    HX_TRY_LAUNCH("stored's count_kernel");
    HX_TRY(scan(w, b->first, b->pattern.n_row + 1));
    HX_TRY(get(w, &n_kept, b->first + b->pattern.n_row));
    w->p->n_kept = n_kept;
    w->p->n_group = (w->p->n_kept + GROUP - 1) / GROUP;
    return HX_OK;
}

int list_kept(worker *w, hx_cuda_scratch *scratch)
{
    building *b = &w->b;
    plan *p = w->p;
    if (w->f->m->spec.format == HX_FORMAT_BSR) {
        HX_TRY(scratch->take(&b->row, p->n_kept));
    } else {
        HX_TRY(take(w, 0, p->n_kept, &b->row));
        p->d_row = b->row;
    }
    if (p->n_kept == b->pattern.n_entry) {
        HX_TRY(scratch->take(&b->entry, p->n_kept));
    } else {
        HX_TRY(take(w, 1, p->n_kept, &b->entry));
        HX_TRY(take(w, 2, p->n_kept, &b->mirror));
        p->d_entry = b->entry;
        p->d_mirror = b->mirror;
    }
    b->p = *p;
    list_kernel<<<blocks(b->pattern.n_row), HX_BLOCK, 0, w->stream>>>(*b);
    HX_TRY_LAUNCH("stored's list_kernel");
    return HX_OK;
}

// Groups, with room for what they have.
int measure(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    plan *p = w->p;
    group last;
    const int64_t n = p->n_group + 1;
    HX_TRY(scratch.take(&b->n_number, n));
    HX_TRY(scratch.take(&b->n_term, n));
    HX_TRY(scratch.take(&b->n_mask, n));
    HX_TRY(take(w, 3, n, &p->d_group));
    b->p = *p;
    const auto kernel = hx_form_components(&b->form) == 3 ? measure_kernel<3> : measure_kernel<1>;
    kernel<<<blocks(n * GROUP), HX_BLOCK, 0, w->stream>>>(*b);
    HX_TRY_LAUNCH("stored's measure_kernel");
    HX_TRY(scan(w, b->n_number, n));
    HX_TRY(scan(w, b->n_term, n));
    HX_TRY(scan(w, b->n_mask, n));
    groups_kernel<<<blocks(n), HX_BLOCK, 0, w->stream>>>(*b);
    HX_TRY_LAUNCH("stored's groups_kernel");
    HX_TRY(get(w, &last, p->d_group + p->n_group));
    p->n_number = last.number;
    p->n_term = last.term;
    const auto n_root = static_cast<size_t>(b->in.n_cell) * static_cast<size_t>(9 * b->most_gauss);
    HX_TRY(
        hx_check_fill_bytes(w->dev, HX_FILL_STORED,
                            (static_cast<size_t>(p->n_number) + n_root) * sizeof(double) +
                                (static_cast<size_t>(p->n_term) + last.mask) * sizeof(uint32_t)));
    HX_TRY(take(w, 4, p->n_number, &p->d_number));
    HX_TRY(take(w, 5, p->n_term + last.mask, &p->d_cell));
    p->d_mask = reinterpret_cast<uint32_t *>(p->d_cell + p->n_term);
    return HX_OK;
}

int store(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    const int64_t n_root = b->in.n_cell * b->most_gauss;
    HX_TRY(scratch.take(&b->root, 9 * n_root));
    b->p = *w->p;
    if (n_root > 0) {
        roots_kernel<<<blocks(n_root), HX_BLOCK, 0, w->stream>>>(*b);
        HX_TRY_LAUNCH("stored's roots_kernel");
    }
    const auto kernel = hx_form_components(&b->form) == 3 ? store_kernel<3> : store_kernel<1>;
    kernel<<<blocks(b->p.n_group * GROUP), HX_BLOCK, 0, w->stream>>>(*b);
    HX_TRY_LAUNCH("stored's store_kernel");
    return HX_OK;
}

// Terms are counted in 32 bits: a pair of points of a cell is one at most.
int check_counts(const worker *w)
{
    const hx_device_pattern *const p = &w->b.pattern;
    const int64_t most = p->n_pair > p->n_entry ? p->n_pair : p->n_entry;
    if (!w->b.in.point_ptr)
        return HX_RAISE(HX_EINTERNAL, "fill 'stored' needs the places of each point");
    if (most < UINT32_MAX) return HX_OK;
    return HX_RAISE(HX_EENV,
                    "fill 'stored' counts pairs in 32 bits, there are %lld: take fill gather",
                    static_cast<long long>(most));
}

} // namespace

int hx_stored::create(plan *p, const hx_cuda_filling *f)
{
    worker w = {f, f->dev, hx_cuda_of(f->dev)->stream, {}, p};
    hx_cuda_scratch scratch(f->dev);
    w.b.in = f->input.incidence;
    w.b.form = f->input.form;
    w.b.pattern = f->m->pattern;
    w.b.xyz = f->input.d_xyz;
    if (w.b.pattern.n_row == 0) return HX_OK;
    HX_TRY(check_counts(&w));
    HX_TRY(put_rules(&w, &scratch));
    HX_TRY(scratch.take(&w.b.first, w.b.pattern.n_row + 1));
    HX_TRY(count_kept(&w));
    if (p->n_kept == 0) return HX_OK;
    HX_TRY(list_kept(&w, &scratch));
    HX_TRY(measure(&w));
    return store(&w);
}

void hx_stored::release(plan *p, hx_device *dev)
{
    for (void *memory : p->d_memory) dev->ops->release(dev, memory);
}
