/* Operator kinds of the CPU that store K: each is a matrix specification (assembled.h), with 3
 * unknowns per node or, for heat conduction, 1. Not installed. */
#ifndef HX_ASSEMBLED_CPU_H
#define HX_ASSEMBLED_CPU_H

#include "../../operator/assembled.h"
#include "../matrix/matrix_cpu.h"

/* Defines the functions of an operator kind (WHAT_bytes and so on) for the matrix
 * (hx_matrix_spec){...}. */
#define HX_CPU_ASSEMBLED(what, ...)                                                                \
    static const hx_matrix_spec what##_spec = {__VA_ARGS__};                                       \
    static size_t what##_bytes(const hx_mesh *mesh, hx_layout layout)                              \
    {                                                                                              \
        (void)layout;                                                                              \
        return hx_cpu_matrix_expected(mesh, &what##_spec);                                         \
    }                                                                                              \
    static size_t what##_space_bytes(const hx_space *space, hx_layout layout)                      \
    {                                                                                              \
        (void)layout;                                                                              \
        return hx_cpu_space_expected(space, &what##_spec);                                         \
    }                                                                                              \
    static int what##_setup(void **state, hx_device *dev, const hx_device_model *model,            \
                            const hx_mesh *mesh, hx_layout layout)                                 \
    {                                                                                              \
        (void)layout;                                                                              \
        return hx_assembled_setup(state, dev, model, mesh, &what##_spec);                          \
    }

/* The entries of its table, except name, help, bytes_per_elem and scalar. */
#define HX_CPU_ASSEMBLED_TABLE(what)                                                               \
    .device = "cpu", .deterministic = 1, .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR),             \
    .bytes = what##_bytes, .space_bytes = what##_space_bytes, .promise = hx_assembled_promise,     \
    .setup = what##_setup, .update = hx_assembled_update, .apply = hx_assembled_apply,             \
    .apply_dot = hx_assembled_apply_dot, .diagonal = hx_assembled_diagonal, .reads_node_lists = 1, \
    .assembled = hx_assembled_of, .teardown = hx_assembled_teardown

#endif
