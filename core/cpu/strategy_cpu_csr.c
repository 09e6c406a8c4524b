/* csr on the CPU: K as rows of numbers. */
#include "../solver/assembled.h"
#include "matrix_cpu.h"

static const hx_matrix_spec spec = {.format = HX_FORMAT_CSR, .part = HX_PART_FULL, .components = 3};

static size_t bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_cpu_matrix_expected(mesh, &spec);
}

static size_t space_bytes(const hx_space *space, hx_layout layout)
{
    (void)layout;
    return hx_cpu_space_expected(space, &spec);
}

static int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                 hx_layout layout)
{
    (void)layout;
    return hx_assembled_setup(state, dev, model, mesh, &spec);
}

/* Of heat. */
static const hx_matrix_spec scalar_spec = {
    .format = HX_FORMAT_CSR, .part = HX_PART_FULL, .components = 1};

static size_t scalar_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_cpu_matrix_expected(mesh, &scalar_spec);
}

static size_t scalar_space_bytes(const hx_space *space, hx_layout layout)
{
    (void)layout;
    return hx_cpu_space_expected(space, &scalar_spec);
}

static int scalar_setup(void **state, hx_device *dev, const hx_device_model *model,
                        const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_assembled_setup(state, dev, model, mesh, &scalar_spec);
}

static const hx_strategy scalar = {
    .name = "csr",
    .device = "cpu",
    .help = "assembled: rows of numbers, as other programs take them",
    .deterministic = 1,
    .bytes_per_elem = 530,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR),
    .bytes = scalar_bytes,
    .space_bytes = scalar_space_bytes,
    .promise = hx_assembled_promise,
    .setup = scalar_setup,
    .update = hx_assembled_update,
    .apply = hx_assembled_apply,
    .apply_dot = hx_assembled_apply_dot,
    .diagonal = hx_assembled_diagonal,
    .assembled = hx_assembled_of,
    .teardown = hx_assembled_teardown,
};

const hx_strategy hx_strategy_cpu_csr = {
    .name = "csr",
    .device = "cpu",
    .help = "assembled: rows of numbers, as other programs take them",
    .deterministic = 1,
    .bytes_per_elem = 3170,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR),
    .bytes = bytes,
    .space_bytes = space_bytes,
    .promise = hx_assembled_promise,
    .setup = setup,
    .update = hx_assembled_update,
    .apply = hx_assembled_apply,
    .apply_dot = hx_assembled_apply_dot,
    .diagonal = hx_assembled_diagonal,
    .assembled = hx_assembled_of,
    .teardown = hx_assembled_teardown,
    .scalar = &scalar,
};
