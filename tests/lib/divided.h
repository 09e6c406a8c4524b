/* An operator for tests of products in parts: computed on the host for any device, with elements at
 * interface points first. It waits, so its work cannot be recorded. */
#ifndef HX_TEST_DIVIDED_H
#define HX_TEST_DIVIDED_H

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "core/mesh/hex8_conduction.h"
#include "core/operator/interface_points.h"
#include "fixture.h"

/* Nodes by the kind of elements around them. */
enum { DIVIDED_INSIDE = 1, DIVIDED_OUTSIDE = 2 };

typedef struct divided {
    hx_device *dev;
    const hx_device_model *model;
    int components; /* unknowns per node: 3, or 1 for heat */
    int64_t n_elem, n_node;
    int32_t *conn;
    double *ke, *modulus; /* [n_elem][8 components][8 components], [n_elem] */
    double *sum[2];       /* [components n_node] sums so far over elements inside, and outside */
    /* 1 at interface nodes; at elements with such nodes; kind of each node */
    uint8_t *is_interface, *is_outside, *of_node;
} divided;

static inline void divided_teardown(void *state)
{
    divided *const d = state;
    void *const owned[] = {d->conn,   d->ke,           d->modulus,    d->sum[0],
                           d->sum[1], d->is_interface, d->is_outside, d->of_node};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(d);
}

/* Element matrix of unit conductivity. */
static inline void divided_conduction(const double x[24], double ke[64])
{
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[8][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) hx_hex8_gradient(a, r, s, t, inv, g[a]);
        for (int k = 0; k < 64; k++)
            for (int d = 0; d < 3; d++) ke[k] += det * g[k / 8][d] * g[k % 8][d];
    }
}

static inline void divided_look_at(divided *d, const hx_mesh *mesh, int64_t e)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    double x[24];
    for (int a = 0; a < 8; a++) {
        memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
        d->is_outside[e] |= d->is_interface[conn[a]];
    }
    for (int a = 0; a < 8; a++)
        d->of_node[conn[a]] |= d->is_outside[e] ? DIVIDED_OUTSIDE : DIVIDED_INSIDE;
    if (d->components == 1)
        divided_conduction(x, d->ke + 64 * e);
    else
        hx_hex8_stiffness(x, d->model->lambda, d->model->mu, d->ke + 576 * e);
}

static inline int divided_fill(divided *d, const hx_mesh *mesh)
{
    const char *const what = "divided";
    const size_t n_elem = (size_t)mesh->n_elem, n_node = (size_t)mesh->n_node,
                 each = (size_t)d->components;
    HX_TRY(hx_alloc(&d->conn, 8 * n_elem, sizeof *d->conn, what));
    HX_TRY(hx_alloc(&d->ke, 64 * each * each * n_elem, sizeof *d->ke, what));
    HX_TRY(hx_alloc(&d->modulus, n_elem, sizeof *d->modulus, what));
    for (int i = 0; i < 2; i++)
        HX_TRY(hx_alloc(&d->sum[i], each * n_node, sizeof *d->sum[i], what));
    HX_TRY(hx_alloc(&d->is_outside, n_elem, 1, what));
    HX_TRY(hx_alloc(&d->of_node, n_node, 1, what));
    HX_TRY(hx_mark_interface(mesh->n_node, d->model->n_interface, d->model->interface,
                             &d->is_interface));
    memcpy(d->conn, mesh->conn, 8 * n_elem * sizeof *d->conn);
    for (int64_t e = 0; e < mesh->n_elem; e++) divided_look_at(d, mesh, e);
    return HX_OK;
}

static inline int divided_make(void **state, hx_device *dev, const hx_device_model *model,
                               const hx_mesh *mesh, int components)
{
    divided *d;
    HX_TRY(hx_alloc(&d, 1, sizeof *d, "divided"));
    d->dev = dev;
    d->model = model;
    d->components = components;
    d->n_elem = mesh->n_elem;
    d->n_node = mesh->n_node;
    const int rc = divided_fill(d, mesh);
    if (rc < 0)
        divided_teardown(d);
    else
        *state = d;
    return rc;
}

static inline int divided_setup(void **state, hx_device *dev, const hx_device_model *model,
                                const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return divided_make(state, dev, model, mesh, 3);
}

static inline int divided_setup_scalar(void **state, hx_device *dev, const hx_device_model *model,
                                       const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return divided_make(state, dev, model, mesh, 1);
}

/* A number of a vector in double or single precision. */
static inline double divided_get(const void *v, size_t each, int64_t i)
{
    return each == sizeof(float) ? ((const float *)v)[i] : ((const double *)v)[i];
}

/* Sums over the elements inside or outside. */
static inline void divided_add(divided *d, int outside, size_t each, const void *x)
{
    const int c = d->components, n = 8 * c;
    for (int64_t e = 0; e < d->n_elem; e++) {
        const int32_t *const conn = d->conn + 8 * e;
        if (d->is_outside[e] != outside) continue;
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += d->ke[n * n * e + n * i + k] *
                       divided_get(x, each, c * (int64_t)conn[k / c] + k % c);
            d->sum[outside][c * (int64_t)conn[i / c] + i % c] += d->modulus[e] * sum;
        }
    }
}

/* Writes y at nodes whose elements are all of this kind. */
static inline void divided_write(const divided *d, int of_node, size_t each, void *y)
{
    for (int64_t i = 0; i < d->components * d->n_node; i++) {
        const double sum = d->sum[1][i] + d->sum[0][i];
        if (d->of_node[i / d->components] != of_node) continue;
        if (each == sizeof(float))
            ((float *)y)[i] = (float)sum;
        else
            ((double *)y)[i] = sum;
    }
}

/* Kind of the nodes that a part writes; 0: none, -1: all. */
static inline int divided_written(hx_product_part part)
{
    static const int of_node[] = {
        [HX_PRODUCT_WHOLE] = -1,
        [HX_PRODUCT_BOUNDARY] = DIVIDED_OUTSIDE,
        [HX_PRODUCT_INTERIOR] = DIVIDED_INSIDE,
        [HX_PRODUCT_REST] = DIVIDED_INSIDE | DIVIDED_OUTSIDE,
    };
    return part == HX_PRODUCT_BEGIN ? 0 : of_node[part];
}

/* Uploads only what a part has written: others may work on the rest of y. */
static inline int divided_upload(const divided *d, hx_product_part part, size_t each, const char *y,
                                 char *d_y)
{
    const int of = divided_written(part);
    const size_t node = each * (size_t)d->components;
    for (int64_t a = 0, b; a < d->n_node; a = b + 1) {
        for (b = a; b < d->n_node && (of == -1 || d->of_node[b] == of); b++) continue;
        if (b > a)
            HX_TRY(d->dev->ops->upload(d->dev, d_y + node * (size_t)a, y + node * (size_t)a,
                                       node * (size_t)(b - a)));
    }
    return HX_OK;
}

/* Computes on the host; sums are kept from part to part. */
static inline void divided_compute(divided *d, hx_product_part part, size_t each, const void *x,
                                   void *y)
{
    const int is_whole = part == HX_PRODUCT_WHOLE;
    const size_t bytes = (size_t)(d->components * d->n_node) * sizeof(double);
    if (is_whole || part == HX_PRODUCT_BEGIN)
        for (int i = 0; i < 2; i++) memset(d->sum[i], 0, bytes);
    if (is_whole || part == HX_PRODUCT_BOUNDARY) {
        divided_add(d, 1, each, x);
        divided_write(d, DIVIDED_OUTSIDE, each, y);
    }
    if (is_whole || part == HX_PRODUCT_INTERIOR) {
        divided_add(d, 0, each, x);
        divided_write(d, DIVIDED_INSIDE, each, y);
    }
    if (is_whole || part == HX_PRODUCT_REST)
        divided_write(d, DIVIDED_INSIDE | DIVIDED_OUTSIDE, each, y);
}

static inline int divided_run(divided *d, hx_product_part part, size_t each, const void *d_x,
                              void *d_y)
{
    const hx_device_ops *const ops = d->dev->ops;
    const size_t bytes = (size_t)(d->components * d->n_node) * each;
    void *const x = malloc(bytes), *const y = malloc(bytes);
    int rc = x && y ? HX_OK : HX_ENOMEM;
    if (rc == HX_OK) rc = ops->download(d->dev, x, d_x, bytes);
    if (rc == HX_OK)
        rc = ops->download(d->dev, d->modulus, d->model->d_modulus,
                           (size_t)d->n_elem * sizeof *d->modulus);
    if (rc == HX_OK) divided_compute(d, part, each, x, y);
    if (rc == HX_OK) rc = divided_upload(d, part, each, y, d_y);
    free(x);
    free(y);
    return rc;
}

static inline int divided_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    return divided_run(state, part, sizeof *d_x, d_x, d_y);
}

static inline int divided_part_single(void *state, hx_product_part part, const float *d_x,
                                      float *d_y)
{
    return divided_run(state, part, sizeof *d_x, d_x, d_y);
}

static inline int divided_apply(void *state, const double *d_x, double *d_y)
{
    return divided_part(state, HX_PRODUCT_WHOLE, d_x, d_y);
}

static inline int divided_apply_single(void *state, const float *d_x, float *d_y)
{
    return divided_part_single(state, HX_PRODUCT_WHOLE, d_x, d_y);
}

static inline size_t divided_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)mesh, (void)layout;
    return 0;
}

#define DIVIDED(set_up, of_heat)                                                                   \
    {                                                                                              \
        .name = "divided", .device = "any", .help = "for tests", .deterministic = 1,               \
        .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED), .bytes = divided_bytes, .setup = set_up,  \
        .apply = divided_apply, .apply_part = divided_part, .apply_single = divided_apply_single,  \
        .apply_part_single = divided_part_single, .teardown = divided_teardown, .scalar = of_heat  \
    }

static const hx_operator_kind divided_scalar = DIVIDED(divided_setup_scalar, NULL);
static const hx_operator_kind divided_kind = DIVIDED(divided_setup, &divided_scalar);

#endif
