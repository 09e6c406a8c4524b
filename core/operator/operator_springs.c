#include "operator_springs.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "interface_points.h"

static const char what[] = "springs and films";

/* *order[n], owned by the caller: a permutation of n items that starts with the *n_interface items
 * at interface points. The point of an item is that of its degree of freedom, or its node. */
static int find_order(int64_t n, const int64_t *dof, int components, const int32_t *node,
                      const uint8_t *is_interface, int64_t *n_interface, int64_t **order)
{
    int64_t n_found = 0;
    HX_TRY(hx_alloc_raw(order, (size_t)n, sizeof **order, what));
    for (int want = 1; want >= 0; want--) {
        for (int64_t i = 0; i < n; i++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): dof or node is given */
            if (is_interface[dof ? dof[i] / components : node[i]] == want) (*order)[n_found++] = i;
        if (want == 1) *n_interface = n_found;
    }
    return HX_OK;
}

static int upload_springs(hx_operator *op, const hx_springs *springs)
{
    const size_t n = (size_t)springs->n;
    op->n_spring = springs->n;
    HX_TRY(hx_device_put(op->dev, &op->d_spring_dof, springs->dof, n * sizeof(int64_t)));
    return hx_device_put(op->dev, &op->d_spring, springs->stiffness, n * sizeof(double));
}

static int put_springs(hx_operator *op, const hx_problem *problem, const uint8_t *is_interface)
{
    const hx_springs *const from = &problem->springs;
    hx_springs to = {.n = from->n};
    int64_t *order = NULL;
    int rc;
    if (from->n == 0) return HX_OK;
    if (!is_interface) return upload_springs(op, from);
    HX_TRY_FAIL(find_order(from->n, from->dof, problem->components, NULL, is_interface,
                           &op->n_spring_interface, &order));
    HX_TRY_FAIL(hx_alloc_raw(&to.dof, (size_t)to.n, sizeof *to.dof, what));
    HX_TRY_FAIL(hx_alloc_raw(&to.stiffness, (size_t)to.n, sizeof *to.stiffness, what));
    for (int64_t i = 0; i < to.n; i++) {
        to.dof[i] = from->dof[order[i]];
        to.stiffness[i] = from->stiffness[order[i]];
    }
    rc = upload_springs(op, &to);
fail:
    free(order);
    free(to.dof);
    free(to.stiffness);
    return rc;
}

static int upload_films(hx_operator *op, const hx_films *films)
{
    const size_t n = (size_t)films->n, n_entry = (size_t)films->ptr[n];
    op->films.n = films->n;
    HX_TRY(hx_device_put(op->dev, &op->films.d_node, films->node, n * sizeof(int32_t)));
    HX_TRY(hx_device_put(op->dev, &op->films.d_ptr, films->ptr, (n + 1) * sizeof(int64_t)));
    HX_TRY(hx_device_put(op->dev, &op->films.d_col, films->col, n_entry * sizeof(int32_t)));
    return hx_device_put(op->dev, &op->films.d_value, films->value, n_entry * sizeof(double));
}

static int put_films(hx_operator *op, const hx_problem *problem, const uint8_t *is_interface)
{
    const hx_films *const from = &problem->films;
    hx_films to = {.n = from->n};
    int64_t *order = NULL;
    int rc;
    if (from->n == 0) return HX_OK;
    if (!is_interface) return upload_films(op, from);
    const size_t n = (size_t)from->n, n_entry = (size_t)from->ptr[n];
    HX_TRY_FAIL(
        find_order(from->n, NULL, 1, from->node, is_interface, &op->n_film_interface, &order));
    HX_TRY_FAIL(hx_alloc_raw(&to.node, n, sizeof *to.node, what));
    HX_TRY_FAIL(hx_alloc(&to.ptr, n + 1, sizeof *to.ptr, what));
    HX_TRY_FAIL(hx_alloc_raw(&to.col, n_entry, sizeof *to.col, what));
    HX_TRY_FAIL(hx_alloc_raw(&to.value, n_entry, sizeof *to.value, what));
    for (int64_t i = 0; i < from->n; i++) {
        const int64_t begin = from->ptr[order[i]];
        const size_t n_col = (size_t)(from->ptr[order[i] + 1] - begin);
        to.node[i] = from->node[order[i]];
        to.ptr[i + 1] = to.ptr[i] + (int64_t)n_col;
        memcpy(to.col + to.ptr[i], from->col + begin, n_col * sizeof *to.col);
        memcpy(to.value + to.ptr[i], from->value + begin, n_col * sizeof *to.value);
    }
    rc = upload_films(op, &to);
fail:
    free(order);
    free(to.node);
    free(to.ptr);
    free(to.col);
    free(to.value);
    return rc;
}

int hx_operator_put_springs(hx_operator *op, const hx_problem *problem)
{
    uint8_t *is_interface = NULL;
    int rc = HX_OK;
    if (problem->springs.n == 0 && problem->films.n == 0) return HX_OK;
    if (op->model.n_interface > 0)
        HX_TRY(hx_mark_interface(op->model.n_point, op->model.n_interface, op->model.interface,
                                 &is_interface));
    HX_TRY_FAIL(put_springs(op, problem, is_interface));
    HX_TRY_FAIL(put_films(op, problem, is_interface));
fail:
    free(is_interface);
    return rc;
}

/* The items first .. end - 1 that belong to one part of a product. */
typedef struct stretch {
    int64_t first, end;
} stretch;

static stretch stretch_of(hx_product_part part, int64_t n_interface, int64_t n)
{
    switch (part) {
    case HX_PRODUCT_WHOLE:
        return (stretch){0, n};
    case HX_PRODUCT_BOUNDARY:
        return (stretch){0, n_interface};
    case HX_PRODUCT_REST:
        return (stretch){n_interface, n};
    default:
        return (stretch){0, 0};
    }
}

static hx_device_films films_of(const hx_operator *op, hx_product_part part)
{
    const stretch of = stretch_of(part, op->n_film_interface, op->films.n);
    hx_device_films films = op->films;
    films.n = of.end - of.first;
    if (films.n == 0) return films;
    films.d_node += of.first;
    films.d_ptr += of.first;
    return films;
}

int hx_operator_add_springs_part(const hx_operator *op, hx_product_part part, const double *d_x,
                                 double *d_y)
{
    const hx_device_films films = films_of(op, part);
    const stretch of = stretch_of(part, op->n_spring_interface, op->n_spring);
    if (films.n > 0) HX_TRY(op->dev->ops->conduction->film_add(op->dev, &films, d_x, d_y));
    if (of.first == of.end) return HX_OK;
    return op->dev->ops->vector->spring_add(op->dev, of.end - of.first, op->d_spring_dof + of.first,
                                            op->d_spring + of.first, d_x, d_y);
}

int hx_operator_add_springs_part_single(const hx_operator *op, hx_product_part part,
                                        const float *d_x, float *d_y)
{
    const hx_device_films films = films_of(op, part);
    const stretch of = stretch_of(part, op->n_spring_interface, op->n_spring);
    if (films.n > 0) HX_TRY(op->dev->ops->conduction->film_add_single(op->dev, &films, d_x, d_y));
    if (of.first == of.end) return HX_OK;
    return op->dev->ops->vector->spring_add_single(
        op->dev, of.end - of.first, op->d_spring_dof + of.first, op->d_spring + of.first, d_x, d_y);
}

int hx_operator_add_springs(const hx_operator *op, const double *d_x, double *d_y)
{
    return hx_operator_add_springs_part(op, HX_PRODUCT_WHOLE, d_x, d_y);
}

int hx_operator_add_springs_single(const hx_operator *op, const float *d_x, float *d_y)
{
    return hx_operator_add_springs_part_single(op, HX_PRODUCT_WHOLE, d_x, d_y);
}
