/* ebe on the CPU (P1): element by element, y_e += E_e Ke x_e, colour by colour, so that threads
 * never write to the same node and every sum has a fixed order.
 *
 * rowmajor: Ke[e][24][24] in element order, one element at a time.
 *
 * interleaved: batches of W elements of one colour, Ke[batch][24 * 24][W], so that the W products
 * run in vector lanes; sanitizers check a whole vector at once. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../mesh/hex8.h"
#include "../../operator/operator_kind.h"
#include "colouring.h"

enum { W = 8 };

typedef double lanes
    __attribute__((vector_size(W * sizeof(double)), aligned(sizeof(double)), may_alias));

typedef struct ebe {
    const hx_device_model *model; /* (borrowed) */
    hx_layout layout;
    hx_colouring colouring;
    int64_t *batch_begin; /* [n_colour + 1] first batch of each colour (owned) */
    double *ke;           /* (owned) */
} ebe;

static size_t ebe_bytes(const hx_mesh *mesh, hx_layout layout)
{
    const size_t n_stored = layout == HX_LAYOUT_ROWMAJOR
                                ? (size_t)mesh->n_elem
                                : ((size_t)mesh->n_elem / W + (size_t)hx_colouring_most(mesh)) * W;
    return n_stored * 576 * sizeof(double) + (size_t)mesh->n_elem * sizeof(int32_t);
}

static void element_stiffness(const hx_device_model *model, int64_t elem, double *ke)
{
    double x[24];
    hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
    hx_hex8_stiffness(x, model->lambda, model->mu, ke);
}

/* Element in a lane of a batch, or -1 beyond the end of the colour. */
static int64_t lane_element(const ebe *s, int colour, int64_t batch, int lane)
{
    const int64_t k = s->colouring.begin[colour] + (batch - s->batch_begin[colour]) * W + lane;
    return k < s->colouring.begin[colour + 1] ? s->colouring.elem[k] : -1;
}

static void fill_interleaved(ebe *s)
{
    for (int c = 0; c < s->colouring.n_colour; c++) {
#pragma omp parallel for schedule(static)
        for (int64_t b = s->batch_begin[c]; b < s->batch_begin[c + 1]; b++)
            for (int lane = 0; lane < W; lane++) {
                const int64_t e = lane_element(s, c, b, lane);
                double ke[576];
                if (e < 0) continue; /* the lane stays 0 */
                element_stiffness(s->model, e, ke);
                for (int i = 0; i < 576; i++) s->ke[(576 * b + i) * W + lane] = ke[i];
            }
    }
}

static void teardown(void *state)
{
    ebe *s = state;
    hx_colouring_free(&s->colouring);
    free(s->batch_begin);
    free(s->ke);
    free(s);
}

static int setup_ebe(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
{
    ebe *s;
    int rc;
    (void)dev;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator ebe"));
    s->model = model;
    s->layout = layout;
    HX_TRY_FAIL(hx_colouring_create(&s->colouring, mesh));
    HX_TRY_FAIL(hx_alloc(&s->batch_begin, (size_t)s->colouring.n_colour + 1, sizeof *s->batch_begin,
                         "ebe's batches"));
    for (int c = 0; c < s->colouring.n_colour; c++)
        s->batch_begin[c + 1] =
            s->batch_begin[c] + (s->colouring.begin[c + 1] - s->colouring.begin[c] + W - 1) / W;
    if (layout == HX_LAYOUT_ROWMAJOR) {
        HX_TRY_FAIL(hx_alloc_raw(&s->ke, (size_t)mesh->n_elem * 576, sizeof *s->ke, "ebe's Ke"));
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < s->model->n_elem; e++)
            element_stiffness(s->model, e, s->ke + 576 * e);
    } else {
        HX_TRY_FAIL(hx_alloc(&s->ke, (size_t)s->batch_begin[s->colouring.n_colour] * W * 576,
                             sizeof *s->ke, "ebe's Ke"));
        fill_interleaved(s);
    }
    *state = s;
    return HX_OK;
fail:
    teardown(s);
    return rc;
}

static void apply_element(const ebe *s, int64_t e, const double *x, double *y)
{
    const int32_t *conn = s->model->d_conn + 8 * e;
    const double *ke = s->ke + 576 * e, modulus = s->model->d_modulus[e];
    double xe[24];
    hx_hex8_gather(conn, x, xe);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            const double *row = ke + (3 * a + i) * 24;
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < 24; j++) sum += row[j] * xe[j];
            y[3 * (int64_t)conn[a] + i] += modulus * sum;
        }
}

static void apply_batch(const ebe *s, int colour, int64_t batch, const double *x, double *y)
{
    const double *ke = s->ke + 576 * W * batch;
    double xe[24][W];
    for (int lane = 0; lane < W; lane++) {
        const int64_t e = lane_element(s, colour, batch, lane);
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++)
                xe[3 * a + i][lane] = e < 0 ? 0.0 : x[3 * (int64_t)s->model->d_conn[8 * e + a] + i];
    }
    for (int lane = 0; lane < W; lane++) {
        const int64_t e = lane_element(s, colour, batch, lane);
        const double modulus = e < 0 ? 0.0 : s->model->d_modulus[e];
        for (int j = 0; j < 24; j++) xe[j][lane] *= modulus;
    }
    for (int a = 0; a < 8; a++) {
        double sum[3][W];
        for (int i = 0; i < 3; i++) {
            const lanes *k = (const lanes *)(ke + (3 * a + i) * 24 * W);
            lanes sums = {0.0};
            for (int j = 0; j < 24; j++) sums += k[j] * *(const lanes *)xe[j];
            *(lanes *)sum[i] = sums;
        }
        for (int lane = 0; lane < W; lane++) {
            const int64_t e = lane_element(s, colour, batch, lane);
            if (e < 0) break;
            double *ya = y + 3 * (int64_t)s->model->d_conn[8 * e + a];
            for (int i = 0; i < 3; i++) ya[i] += sum[i][lane];
        }
    }
}

static int apply_ebe(void *state, const double *d_x, double *d_y)
{
    const ebe *s = state;
    const hx_colouring *colouring = &s->colouring;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < 3 * s->model->n_node; k++) d_y[k] = 0.0;
        for (int c = 0; c < colouring->n_colour; c++) {
            if (s->layout == HX_LAYOUT_ROWMAJOR) {
#pragma omp for schedule(static)
                for (int64_t k = colouring->begin[c]; k < colouring->begin[c + 1]; k++)
                    apply_element(s, colouring->elem[k], d_x, d_y);
            } else {
#pragma omp for schedule(static)
                for (int64_t b = s->batch_begin[c]; b < s->batch_begin[c + 1]; b++)
                    apply_batch(s, c, b, d_x, d_y);
            }
        }
    }
    return HX_OK;
}

const hx_operator_kind hx_operator_cpu_ebe = {
    .name = "ebe",
    .device = "cpu",
    .help = "element by element, race-free by colouring; interleaved: 8 elements in vector lanes",
    .deterministic = 1,
    .bytes_per_elem = 4608,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = ebe_bytes,
    .setup = setup_ebe,
    .apply = apply_ebe,
    .teardown = teardown,
};
