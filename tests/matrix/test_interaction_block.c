/* The steps of a GPU's block for K of a patch (interaction_block.h), one thread after the other, as
 * gpu/fill_spline_cuda.cu runs them, against the CPU's K: every number in its place, written once,
 * nothing read that was not written before, nothing outside of the block's memory. */
#include "core/base/memory.h"
#include "core/matrix/interaction_block.h"
#include "core/matrix/interaction_ops.h"
#include "tests/lib/patch_sample.h"

static hx_device device;

typedef struct block {
    const hx_interaction *in;
    int order;
    hx_gather_bundle bundle;
    hx_gather_memory s;
} block;

/* A warp's tile of 16 by 8, as its lanes have it. */
static void run_tile(const block *b, const hx_gather_cell *cell, int tile, double d[32][4])
{
    const int stride = hx_gather_stride(b->order), n = 4 * hx_gather_fours(b->order);
    for (int lane = 0; lane < 32; lane++)
        for (int k = 0; k < 4; k++) {
            const int l = lane / 4 + 8 * (k / 2), c = 8 * tile + 2 * (lane % 4) + k % 2;
            const double *const own = b->s.h + hx_gather_own_line(cell, l) * stride;
            const double *const other = b->s.h + hx_gather_column(cell, c) * stride;
            for (int q = 0; q < n; q++) d[lane][k] += own[q] * other[q];
        }
}

static void add_tile(const block *b, const hx_gather_cell *cell, int tile, double d[32][4])
{
    for (int lane = 0; lane < 32; lane++)
        for (int k = 0; k < 4; k++)
            hx_gather_add(b->in, b->order, &b->s, &b->bundle, cell, lane / 4 + 8 * (k / 2),
                          8 * tile + 2 * (lane % 4) + k % 2, d[lane][k]);
}

static void run_cell(const block *b, int c0, int c1, int c2)
{
    const int order = b->order, cube = hx_gather_cube(order);
    static double d[64][32][4];
    hx_gather_cell cell;
    hx_gather_visit(b->in, order, &b->bundle, c0, c1, c2, &cell);
    const int n_tile = (cell.n_column + 7) / 8;
    CHECK(cell.n_line >= 3 && cell.n_line <= 16 && n_tile <= 64);
    for (int i = 0; i < 3 * cube * hx_gather_stride(order); i++) b->s.h[i] = NAN;
    for (int i = 0; i < hx_gather_table_size(order); i++)
        hx_gather_load(b->in, order, &b->s, &cell, i);
    for (int i = cube - 1; i >= 0; i--) hx_gather_map0(b->in, order, &b->s, &cell, i);
    for (int i = cube - 1; i >= 0; i--) hx_gather_map1(order, &b->s, i);
    for (int i = 0; i < cube; i++) hx_gather_frames(b->in, order, &b->s, &cell, i);
    memset(d, 0, sizeof d);
    for (int batch = 0; batch < order / hx_gather_layers(order); batch++) {
        for (int i = 4 * hx_gather_fours(order) * cell.n_pair - 1; i >= 0; i--)
            hx_gather_gradients(b->in, order, &b->s, &cell, batch, i);
        for (int tile = 0; tile < n_tile; tile++) run_tile(b, &cell, tile, d[tile]);
    }
    for (int tile = 0; tile < n_tile; tile++) add_tile(b, &cell, tile, d[tile]);
}

static void run_block(block *b, int bundle, int r1, int r2, double *value)
{
    const hx_interaction *const in = b->in;
    hx_gather_begin(in, b->order, bundle, r1, r2, &b->bundle);
    memset(b->s.sum, 0, (size_t)hx_gather_sum_size(b->order) * sizeof(double));
    for (int c2 = b->bundle.first[2]; c2 <= b->bundle.last[2]; c2++)
        for (int c1 = b->bundle.first[1]; c1 <= b->bundle.last[1]; c1++)
            for (int c0 = b->bundle.first[0]; c0 <= b->bundle.last[0]; c0++)
                run_cell(b, c0, c1, c2);
    for (int row = 0; row < b->bundle.n_row; row++) {
        const int r[3] = {b->bundle.r[0] + row, r1, r2};
        const int64_t *const ptr = in->row_ptr + hx_interaction_point(in, r);
        for (int at = 0; at < 9 * (ptr[1] - ptr[0]); at++) {
            double *const to = &value[9 * ptr[0] + at];
            CHECK(isnan(*to)); /* once */
            *to = hx_gather_number(in, b->order, &b->s, row, at);
        }
    }
}

static void expect(const hx_interaction *in, double *value)
{
    const hx_interaction_ops *const ops = device.ops->interaction;
    hx_interaction_time time;
    void *state = NULL;
    CHECK_OK(ops->open(&state, &device, in));
    CHECK_OK(ops->run(state, HX_WAY_PAIRS, (size_t)1 << 30, &time));
    CHECK_OK(ops->values(state, value));
    ops->close(state);
}

static void test_blocks(int degree, const int n[3], int rational)
{
    patch_sample s;
    double *value = NULL, *expected = NULL, *memory = NULL;
    patch_make(&s, 3, degree, n, 1, rational, 1);
    const size_t n_value = 9 * (size_t)s.patch.n_block;
    const int order = degree + 1, most = hx_gather_rows(order);
    block b = {.in = &s.patch, .order = order};
    CHECK_OK(hx_alloc(&value, n_value, sizeof *value, "blocks"));
    CHECK_OK(hx_alloc(&expected, n_value, sizeof *expected, "blocks"));
    CHECK_OK(hx_alloc(&memory, (size_t)hx_gather_size(order), sizeof *memory, "shared memory"));
    CHECK(hx_gather_size(order) * sizeof(double) <= 227 * 1024);
    b.s = hx_gather_divide(order, memory);
    CHECK(b.s.table + hx_gather_table_size(order) == memory + hx_gather_size(order));
    expect(&s.patch, expected);
    for (size_t i = 0; i < n_value; i++) value[i] = NAN;
    for (int r2 = 0; r2 < n[2]; r2++)
        for (int r1 = 0; r1 < n[1]; r1++)
            for (int k = 0; k * most < n[0]; k++) run_block(&b, k, r1, r2, value);
    double largest = 0.0;
    for (size_t i = 0; i < n_value; i++) test_worst(&largest, fabs(expected[i]));
    const double off = test_max_difference(n_value, value, expected) / largest;
    CHECK_MSG(off <= 1e-13, "degree %d%s: off by %g", degree, rational ? " rational" : "", off);
    free(value);
    free(expected);
    free(memory);
    patch_free(&s);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status) return status;
    fixture_set_threads(1);
    for (int degree = 1; degree <= 4; degree++) {
        /* more rows than a block has, and fewer */
        const int most = hx_gather_rows(degree + 1);
        const int longer[3] = {most > degree ? most + 2 : degree + 2, degree + 2, degree + 1};
        const int shorter[3] = {degree + 2, degree + 3, degree + 1};
        test_blocks(degree, longer, 1);
        test_blocks(degree, shorter, 0);
    }
    hx_device_close(&device);
    TEST_END();
}
