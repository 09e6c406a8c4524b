/* nbn on the CPU (P1): node by node. Each node gathers, from every element that it belongs to, its
 * three rows of Ke times the element's displacements, and writes the sum once, without a race.
 *
 * rowmajor: Ke[e][24][24] in element order; a node reads three rows in each of its elements.
 *
 * interleaved: the three rows of an incidence are contiguous, [incidence][24][3], in node order, so
 * that a sweep over the nodes streams through memory. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../mesh/hex8.h"
#include "../../operator/operator_kind.h"

typedef struct nbn {
    const hx_device_model *model; /* (borrowed) */
    hx_layout layout;
    double *ke;
} nbn;

static size_t nbn_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return (size_t)mesh->n_elem * 576 * sizeof(double);
}

/* The rows of Ke of corner a, [3][24]. */
static void element_rows(const hx_device_model *model, const double x[24], int a, double rows[72])
{
    for (int b = 0; b < 8; b++) {
        double tile[3][3];
        hx_hex8_tile(x, a, b, model->lambda, model->mu, tile);
        for (int i = 0; i < 3; i++) memcpy(rows + 24 * i + 3 * b, tile[i], sizeof tile[i]);
    }
    hx_hex8_balance(a, rows);
}

static void fill_interleaved(nbn *s)
{
    const hx_device_model *model = s->model;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++)
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int a = (int)(model->d_node_elem[k] & 7u);
            double x[24], rows[72];
            hx_hex8_gather(model->d_conn + 8 * (model->d_node_elem[k] >> 3), model->d_xyz, x);
            element_rows(model, x, a, rows);
            for (int j = 0; j < 24; j++)
                for (int i = 0; i < 3; i++) s->ke[72 * k + 3 * j + i] = rows[24 * i + j];
        }
}

static void teardown(void *state)
{
    nbn *s = state;
    free(s->ke);
    free(s);
}

static int setup_nbn(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
{
    nbn *s;
    int rc;
    (void)dev;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator nbn"));
    s->model = model;
    s->layout = layout;
    HX_TRY_FAIL(hx_alloc_raw(&s->ke, (size_t)mesh->n_elem * 576, sizeof *s->ke, "nbn's Ke"));
    if (layout == HX_LAYOUT_ROWMAJOR) {
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < model->n_elem; e++) {
            double x[24];
            hx_hex8_gather(model->d_conn + 8 * e, model->d_xyz, x);
            hx_hex8_stiffness(x, model->lambda, model->mu, s->ke + 576 * e);
        }
    } else
        fill_interleaved(s);
    *state = s;
    return HX_OK;
fail:
    teardown(s);
    return rc;
}

/* Rows 3 a .. 3 a + 2 of Ke times x_e, with entry (i, j) at
 * k[i * row_stride + j * column_stride]. */
static void three_rows(const double *k, int row_stride, int column_stride, const double xe[24],
                       double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int j = 0; j < 24; j++)
        for (int i = 0; i < 3; i++) sum[i] += k[i * row_stride + j * column_stride] * xe[j];
}

static int apply_nbn(void *state, const double *d_x, double *d_y)
{
    const nbn *s = state;
    const hx_device_model *model = s->model;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double y[3] = {0.0, 0.0, 0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t e = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            double xe[24], sum[3];
            hx_hex8_gather(model->d_conn + 8 * e, d_x, xe);
            if (s->layout == HX_LAYOUT_ROWMAJOR)
                three_rows(s->ke + 576 * e + 72 * a, 24, 1, xe, sum);
            else
                three_rows(s->ke + 72 * k, 1, 3, xe, sum);
            for (int i = 0; i < 3; i++) y[i] += model->d_modulus[e] * sum[i];
        }
        memcpy(d_y + 3 * node, y, sizeof y);
    }
    return HX_OK;
}

const hx_operator_kind hx_operator_cpu_nbn = {
    .name = "nbn",
    .device = "cpu",
    .help =
        "node by node: each node gathers its rows of Ke; interleaved: rows stored in node order",
    .deterministic = 1,
    .bytes_per_elem = 4608,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = nbn_bytes,
    .setup = setup_nbn,
    .apply = apply_nbn,
    .teardown = teardown,
};
