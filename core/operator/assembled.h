/* Operators that store K(E) as a sparse matrix: set-up builds pattern and matrix, each update
 * computes the values. The work is done by the device's table of matrix operations (matrix.h), so
 * an operator kind of this sort consists of a matrix specification and these functions. */
#ifndef HX_ASSEMBLED_H
#define HX_ASSEMBLED_H

#include "../matrix/matrix.h"
#include "operator_kind.h"

HX_C_BEGIN

typedef struct hx_assembled {
    hx_device *dev; /* (borrowed) */
    hx_device_pattern pattern;
    hx_steps steps; /* timings of the pattern's build */
    hx_matrix matrix;
    hx_fill_input input;
    void *fill; /* state of the fill method `gather` */
} hx_assembled;

/* Device bytes of pattern and matrix, found by counting the neighbours, which takes as long as the
 * build. The operator kind adds the bytes that the device's products and fills need. */
size_t hx_assembled_space_bytes(const hx_space *space, const hx_matrix_spec *spec, int has_slots);

/* Implementations of the entries of hx_operator_kind; `state` is an hx_assembled. */
int hx_assembled_setup(void **state, hx_device *dev, const hx_device_model *model,
                       const hx_mesh *mesh, const hx_matrix_spec *spec);
int hx_assembled_update(void *state);
int hx_assembled_apply(void *state, const double *d_x, double *d_y);
/* Requires multiply_part in the device's matrix operations. */
int hx_assembled_apply_part(void *state, hx_product_part part, const double *d_x, double *d_y);
int hx_assembled_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum);
int hx_assembled_diagonal(void *state, double *d_diag);
const hx_assembled *hx_assembled_of(const void *state);
void hx_assembled_teardown(void *state);

/* Always HX_PROMISE_NONE: on hexahedra no stored matrix is as fast as a matrix-free product. */
hx_promise hx_assembled_promise(const hx_mesh *mesh);

HX_C_END

#endif
