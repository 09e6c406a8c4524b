/* An operator kind (`hx_operator_kind`): one way to compute the product y = K(E) x on one device.
 * Each file defines one const table named hx_operator_<device>_<name>.
 *
 * Vectors have 3 unknowns per node, or 1 in the tables that `scalar` points to.
 *
 * An operator kind owns the layout of its stored data. It handles neither boundary conditions
 * (operator.h masks them) nor structured grids. The modulus of each element is model->d_modulus. A
 * kind reads it in every product, or stores data derived from it (entries of an assembled K(E), an
 * approximate inverse) in `update`, which hx_operator_update calls after each change and only then.
 * "Hot" marks functions that run in every PCG iteration. */
#ifndef HX_OPERATOR_KIND_H
#define HX_OPERATOR_KIND_H

#include "../matrix/product_part.h"
#include "../mesh/mesh.h"
#include "../space/space.h"
#include "device_mesh.h"

HX_C_BEGIN

typedef enum { HX_LAYOUT_ROWMAJOR, HX_LAYOUT_INTERLEAVED, HX_N_LAYOUT } hx_layout;

/* How promising an operator kind is on a given mesh, for the automatic choice (choose.h). */
typedef enum {
    HX_PROMISE_NONE, /* no gain over kinds that store as little, so its set-up is not worthwhile */
    HX_PROMISE_SOME, /* decided by timing */
    HX_PROMISE_SURE  /* faster than all other kinds, whose set-up is therefore not worthwhile */
} hx_promise;

typedef struct hx_operator_kind {
    const char *name;   /* value of the key solver.operator */
    const char *device; /* "cpu" or "cuda" */
    const char *help;   /* one line for `hextop list` */
    int deterministic;  /* 1: results are bitwise reproducible */
    int bytes_per_elem; /* nominal bytes that the product needs per element, for `hextop list` */
    double error;       /* bound on the relative error of a product; 0: rounding only (1e-12) */
    /* If `error` is not 0: the kind on the same device whose product has no such error, for linear
     * elements. Solves are refined with it (pcg.h). NULL: there is none. */
    const struct hx_operator_kind *exact;
    unsigned layouts; /* bit (1u << hx_layout) is set for each supported layout */

    /* Upper bound on the device bytes that `setup` will hold for this mesh. O(n_elem). */
    size_t (*bytes)(const hx_mesh *mesh, hx_layout layout);
    /* The bound for a quadratic space. If it is there, `setup` accepts models with the points of
     * such a space. Takes as long as counting the neighbours. NULL: only linear elements are
     * supported. */
    size_t (*space_bytes)(const hx_space *space, hx_layout layout);
    /* Estimate from a sample of a mesh of linear elements. O(1). NULL: HX_PROMISE_SOME on every
     * mesh. */
    hx_promise (*promise)(const hx_mesh *mesh);
    /* Optional, all three or none, for linear elements. `plan` builds the lists that `setup` needs
     * on the host, without a device. `setup` takes them from model->lists if they are there, and
     * builds them otherwise. plan_bytes returns the values of `bytes` and `single_bytes`, counted
     * on the lists. */
    int (*plan)(void **lists, const hx_mesh *mesh);
    size_t (*plan_bytes)(const void *lists, size_t *single_bytes);
    void (*plan_free)(void *lists);
    /* *state belongs to the kind until `teardown`. The model must outlive it. */
    int (*setup)(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                 hx_layout layout);
    /* Called once per design, after model->d_modulus has changed, to bring stored values of K(E) up
     * to date. The work is queued and uses only memory allocated in `setup`, so that PCG's
     * recordings stay valid. The modulus is undefined before the first call, and no product is
     * computed until then. NULL: no stored data depends on the modulus. */
    int (*update)(void *state);
    /* y = K(E) x over all degrees of freedom; y is overwritten. Hot. */
    int (*apply)(void *state, const double *d_x, double *d_y);
    /* One part of the product, divided by the interface points that `setup` found
     * (model->interface). It does at most what product_part.h states for that part. All four parts
     * together equal the whole product, bitwise if the kind is deterministic. NULL: only the whole
     * product is available. Hot. */
    int (*apply_part)(void *state, hx_product_part part, const double *d_x, double *d_y);
    /* `apply` that also returns *d_sum = x'y, summed in a fixed order. NULL: not available. Hot. */
    int (*apply_dot)(void *state, const double *d_x, double *d_y, double *d_sum);
    /* d_diag[n_dof] = diagonal of K(E), summed in a fixed order. Called once per design. NULL: the
     * device's own diagonal is at least as fast. */
    int (*diagonal)(void *state, double *d_diag);
    /* 1: the products or the set-up read the model's node lists, which the device's own diagonal
     * also reads */
    int reads_node_lists;
    /* K x in single precision, with a relative error of about 1e-6. The product must take
     * differences of an element's nodal values first; otherwise rounded matrix entries do not
     * cancel rigid translations, and PCG needs a fifth more iterations. prepare_single is called
     * once before the first product; NULL: there is nothing to prepare. apply_single = NULL: not
     * available. Hot. */
    int single_bytes_per_elem; /* nominal bytes that prepare_single adds */
    /* Bytes that prepare_single adds, counted on the mesh. O(n_elem). NULL: they do not depend on
     * the mesh. */
    size_t (*single_bytes)(const hx_mesh *mesh);
    int (*prepare_single)(void *state);
    int (*apply_single)(void *state, const float *d_x, float *d_y);
    /* A part of apply_single(). */
    int (*apply_part_single)(void *state, hx_product_part part, const float *d_x, float *d_y);
    /* For tests, if the product exists for several instruction sets: selects the i-th variant that
     * runs on this machine, the fastest first, and returns its name. Past the last one it returns
     * NULL and changes nothing. NULL: there is only one variant. */
    const char *(*variant)(void *state, int i);
    /* The stored matrix (assembled.h) of an assembled operator. NULL: no matrix is stored. */
    const struct hx_assembled *(*assembled)(const void *state);
    void (*teardown)(void *state);
    /* The operator kind for one unknown per node (heat conduction). K is the conductivity matrix
     * and the modulus is the conductivity. NULL: heat is not supported. */
    const struct hx_operator_kind *scalar;
} hx_operator_kind;

/* Returns the table for 3 or 1 unknowns per node. NULL: the kind does not support that number. */
static inline const hx_operator_kind *hx_operator_kind_of(const hx_operator_kind *op_kind,
                                                          int components)
{
    return op_kind && components == 1 ? op_kind->scalar : op_kind;
}

/* 1 if the operator, with linear elements, reads the node lists of the mesh on the device. */
static inline int hx_operator_kind_needs_lists(const hx_operator_kind *op_kind)
{
    return op_kind->reads_node_lists || !op_kind->diagonal;
}

#define HX_LAYOUT_BIT(layout) (1u << (layout))
const char *hx_layout_name(hx_layout layout);
/* First layout that the kind supports. */
hx_layout hx_layout_first(const hx_operator_kind *op_kind);

HX_C_END

#endif
