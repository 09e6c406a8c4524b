/* The steps of a GPU's thread blocks for K of a patch (interaction_line.h), one thread after the
 * other, like gpu/matrix/fill_spline_cuda.cu, against the CPU's K: every value in its place and
 * written once, nothing read before it is written, nothing outside the block's memory; the smallest
 * possible ring of layers changes no bit. */
#include "core/base/memory.h"
#include "core/matrix/interaction_line.h"
#include "core/matrix/interaction_ops.h"
#include "tests/lib/patch_sample.h"

static hx_device device;

enum { MOST_LINES = 80, MOST_PAIRS = 15 };

typedef struct line {
    const hx_interaction *in;
    int order, layers, ring;
    hx_line_memory s;
    double *buffer;
    double (*sum)[MOST_LINES][MOST_LINES]; /* [pairs of planes]: what the warps hold in registers */
} line;

/* Index of the pair of planes low and low + apart. */
static int pair_of(int order, int apart, int low)
{
    return apart * order - apart * (apart - 1) / 2 + low;
}

static void multiply(const line *l)
{
    const int order = l->order, lines = hx_line_lines(order), end = (lines + 15) / 16 * 16;
    const int stride = hx_line_stride(order, l->layers), n = 4 * hx_line_fours(order, l->layers);
    for (int p = 0; p < order; p++)
        for (int q = 0; q <= p; q++)
            for (int a = 0; a < end; a++)
                for (int b = 0; b < end; b++) {
                    const double *const own =
                        l->s.h + (p * lines + hx_line_clamp(order, a)) * stride;
                    const double *const other =
                        l->s.h + (q * lines + hx_line_clamp(order, b)) * stride;
                    double *const to = &l->sum[pair_of(order, p - q, q)][a][b];
                    for (int k = 0; k < n; k++) *to += own[k] * other[k];
                }
}

/* Writes the lowest plane to the buffer and moves the others down. */
static void leave(const line *l, double *to)
{
    const int order = l->order, lines = hx_line_lines(order), width = hx_line_width(order);
    for (int apart = 0; apart < order; apart++) {
        for (int a = 0; a < lines; a++)
            for (int b = 0; b < width; b++)
                if (apart > 0 || b / 8 <= a / 16 * 2 + 1) {
                    double *const at = to + (apart * lines + a) * width + b;
                    *at = l->sum[pair_of(order, apart, 0)][a][b];
                }
        for (int low = 0; low + apart < order; low++)
            if (low + apart + 1 < order)
                memcpy(l->sum[pair_of(order, apart, low)], l->sum[pair_of(order, apart, low + 1)],
                       sizeof *l->sum);
            else
                memset(l->sum[pair_of(order, apart, low)], 0, sizeof *l->sum);
    }
}

static void run_group(const line *l, const hx_line_cells *cells)
{
    const int order = l->order, n = cells->n * hx_line_cube(order);
    for (int i = 0; i < hx_line_size(order, l->layers); i++) l->s.h[i] = NAN;
    for (int i = 0; i < hx_line_load_items(order); i++) hx_line_load(l->in, order, &l->s, cells, i);
    for (int i = n - 1; i >= 0; i--) hx_line_map0(l->in, order, &l->s, cells, i);
    for (int i = n - 1; i >= 0; i--) hx_line_map1(order, &l->s, i);
    for (int i = 0; i < n; i++) hx_line_frames(l->in, order, &l->s, cells, i);
    for (int g = 0; g < cells->n; g++) {
        for (int batch = 0; batch < order / l->layers; batch++) {
            for (int i = 0; i < hx_line_h_size(order, l->layers); i++) l->s.h[i] = NAN;
            for (int i = hx_line_gradient_items(order, l->layers) - 1; i >= 0; i--)
                hx_line_gradients(l->in, order, l->layers, &l->s, g, batch, i);
            multiply(l);
        }
        const int c = cells->c[0] + g, f = l->in->axis[0].first[c];
        for (int k = 0; k < hx_line_left(l->in, order, c); k++)
            leave(l, l->buffer +
                         hx_line_place(l->in, order, l->ring, f + k, cells->c[1], cells->c[2]));
    }
}

static void run_layer(const line *l, int c2)
{
    const hx_interaction_axis *const axis = l->in->axis;
    const int group = hx_line_group(l->order);
    const int64_t layer = (int64_t)axis[1].n_cell * axis[0].n * hx_line_part(l->order);
    for (int64_t i = 0; i < layer; i++) l->buffer[c2 % l->ring * layer + i] = NAN;
    for (int c1 = 0; c1 < axis[1].n_cell; c1++) {
        memset(l->sum, 0, MOST_PAIRS * sizeof *l->sum);
        for (int c0 = 0; c0 < axis[0].n_cell; c0 += group) {
            const int left = axis[0].n_cell - c0;
            const hx_line_cells cells = {{c0, c1, c2}, left < group ? left : group};
            run_group(l, &cells);
        }
    }
}

static void run_row(const line *l, const int r[3], double *value)
{
    static double m[9 * 9 * 9 * 5];
    const hx_interaction *const in = l->in;
    const int64_t *const ptr = in->row_ptr + hx_interaction_point(in, r);
    const int most = hx_line_most(l->order), n = (int)(9 * (ptr[1] - ptr[0]));
    const int is_whole = hx_line_is_whole(in, l->order, r);
    CHECK((size_t)most <= sizeof m / sizeof *m);
    for (int i = 0; i < most; i++) m[i] = NAN;
    hx_line_row row;
    memset(&row, 0x7f, sizeof row); /* an invalid offset in the buffer */
    for (int i = 0; i < hx_line_row_items(l->order); i++)
        hx_line_row_make(in, l->order, l->ring, r, i, &row);
    for (int i = 0; i < hx_line_sum_items(in, l->order, r); i++)
        hx_line_sum_lower(in, l->order, l->buffer, &row, r, i, m);
    for (int i = 0; i < hx_line_sum_items(in, l->order, r) / 3; i++)
        hx_line_block(in, 3, m + 9 * i);
    for (int i = 0; i < most; i++) {
        const int at = hx_line_in_row(in, l->order, r, is_whole, n, i);
        if (at < 0) continue;
        CHECK(at < n && isnan(value[9 * ptr[0] + at])); /* written once */
        value[9 * ptr[0] + at] = m[i];
    }
}

/* Processes `n` layers at a time. */
static void run_patch(line *l, int n, double *value)
{
    const hx_interaction_axis *const axis = l->in->axis;
    int row = 0;
    for (int64_t i = 0; i < 9 * l->in->n_block; i++) value[i] = NAN;
    for (int layer = 0; layer < axis[2].n_cell; layer += n) {
        const int end = layer + n < axis[2].n_cell ? layer + n : axis[2].n_cell;
        for (int c2 = layer; c2 < end; c2++) run_layer(l, c2);
        for (; row < axis[2].n && axis[2].cells[2 * row + 1] <= end; row++)
            for (int r1 = 0; r1 < axis[1].n; r1++)
                for (int r0 = 0; r0 < axis[0].n; r0++) {
                    const int r[3] = {r0, r1, row};
                    run_row(l, r, value);
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

static void test_lines(int degree, int layers, const int n[3], int rational)
{
    patch_sample s;
    double *value = NULL, *again = NULL, *expected = NULL, *memory = NULL;
    patch_make(&s, 3, degree, n, 1, rational, 1);
    const size_t n_value = 9 * (size_t)s.patch.n_block;
    const int order = degree + 1, n_layer = s.patch.axis[2].n_cell;
    const size_t layer =
        (size_t)s.patch.axis[1].n_cell * (size_t)n[0] * (size_t)hx_line_part(order);
    line l = {.in = &s.patch, .order = order, .layers = layers};
    CHECK_OK(hx_alloc(&value, n_value, sizeof *value, "blocks"));
    CHECK_OK(hx_alloc(&again, n_value, sizeof *again, "blocks"));
    CHECK_OK(hx_alloc(&expected, n_value, sizeof *expected, "blocks"));
    CHECK_OK(hx_alloc(&memory, (size_t)hx_line_size(order, layers), sizeof *memory, "shared"));
    CHECK_OK(hx_alloc(&l.buffer, layer * (size_t)(n_layer + order), sizeof *l.buffer, "lines"));
    CHECK_OK(hx_alloc(&l.sum, MOST_PAIRS, sizeof *l.sum, "sums"));
    CHECK((size_t)hx_line_size(order, layers) * sizeof(double) <= 227 * 1024);
    l.s = hx_line_divide(order, layers, memory);
    CHECK(l.s.table + (hx_line_group(order) + 2) * hx_line_table(order) ==
          memory + hx_line_size(order, layers));
    expect(&s.patch, expected);
    l.ring = n_layer;
    run_patch(&l, n_layer, value);
    l.ring = order;
    run_patch(&l, 1, again);
    double largest = 0.0;
    for (size_t i = 0; i < n_value; i++) test_worst(&largest, fabs(expected[i]));
    const double off = test_max_difference(n_value, value, expected) / largest;
    CHECK_MSG(off <= 1e-13, "degree %d%s: off by %g", degree, rational ? " rational" : "", off);
    CHECK_MSG(memcmp(value, again, n_value * sizeof *value) == 0, "degree %d: other bits in a ring",
              degree);
    free(value);
    free(again);
    free(expected);
    free(memory);
    free(l.buffer);
    free(l.sum);
    patch_free(&s);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status) return status;
    fixture_set_threads(1);
    for (int degree = 1; degree <= 4; degree++) {
        /* more cells than a group has, and fewer */
        const int longer[3] = {degree + hx_line_group(degree + 1) + 2, degree + 2, degree + 3};
        const int shorter[3] = {degree + 1, degree + 3, degree + (degree < 4 ? 2 : 1)};
        test_lines(degree, degree < 4 ? degree + 1 : 1, longer, 1);
        test_lines(degree, degree == 3 ? 2 : 1, shorter, 0);
    }
    hx_device_close(&device);
    TEST_END();
}
