/* Operators that store K(E) as a sparse matrix: pattern and matrix at set-up, values at each
 * update. What a device does stands in its table (matrix.h), so a strategy of this kind is a
 * specification and these functions. */
#ifndef HX_ASSEMBLED_H
#define HX_ASSEMBLED_H

#include "../matrix/matrix.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_assembled {
    hx_device *dev; /* (borrowed) */
    hx_device_pattern pattern;
    hx_steps steps; /* of the pattern's build */
    hx_matrix matrix;
    hx_fill_input input;
    void *fill; /* state of the fill `gather` */
} hx_assembled;

/* Device bytes of pattern and matrix, from a count of the neighbours: as long as a build. What the
 * device's products and fills keep besides is the strategy's to add. */
size_t hx_assembled_space_bytes(const hx_space *space, const hx_matrix_spec *spec, int has_slots);

/* Of a strategy's entries; `state` is an hx_assembled. */
int hx_assembled_setup(void **state, hx_device *dev, const hx_device_model *model,
                       const hx_mesh *mesh, const hx_matrix_spec *spec);
int hx_assembled_update(void *state);
int hx_assembled_apply(void *state, const double *d_x, double *d_y);
/* Where the device's matrices have multiply_part. */
int hx_assembled_apply_part(void *state, hx_product_part part, const double *d_x, double *d_y);
int hx_assembled_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum);
int hx_assembled_diagonal(void *state, double *d_diag);
const hx_assembled *hx_assembled_of(const void *state);
void hx_assembled_teardown(void *state);

/* HX_PROMISE_NONE: on hexahedra no matrix is as fast as a product without one. */
hx_promise hx_assembled_promise(const hx_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
