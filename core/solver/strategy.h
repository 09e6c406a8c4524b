/* An SpMV strategy: how y = K(E) x is computed on one device. One const table per file, named
 * hx_strategy_<device>_<name>.
 *
 * Vectors have 3 unknowns a node, or 1 in the tables that `scalar` names.
 *
 * A strategy owns the layout of what it stores. It knows nothing of supports (operator.h masks) nor
 * of a grid. The modulus of each element is model->d_modulus: a strategy reads it at every apply,
 * or stores what it makes of it (entries of an assembled K(E), an approximate inverse) in `update`,
 * which hx_operator_update calls after each change, and only then. */
#ifndef HX_STRATEGY_H
#define HX_STRATEGY_H

#include "../matrix/product_part.h"
#include "../mesh/mesh.h"
#include "../space/space.h"
#include "device_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { HX_LAYOUT_ROWMAJOR, HX_LAYOUT_INTERLEAVED, HX_N_LAYOUT } hx_layout;

/* What a choice of the fastest operator may expect of one on a mesh. */
typedef enum {
    HX_PROMISE_NONE, /* no gain over others that store as little: not worth its set-up */
    HX_PROMISE_SOME, /* a timing decides */
    HX_PROMISE_SURE  /* faster than all others: not worth theirs */
} hx_promise;

typedef struct hx_strategy {
    const char *name;   /* the word in solver.operator */
    const char *device; /* "cpu" or "cuda" */
    const char *help;   /* one line */
    int deterministic;  /* the same bits on every run */
    int bytes_per_elem; /* nominal, for `list`; what is stored for the product */
    double error;       /* relative error of a product, at most; 0: rounding (1e-12) */
    /* Where `error` is not 0: the strategy of the same device whose product has no such error, for
     * linear elements; NULL: there is none. Solves are refined by it (pcg.h). */
    const struct hx_strategy *exact;
    unsigned layouts; /* bit (1u << hx_layout) for each supported one */

    /* Device bytes that setup will hold for this mesh, at most. O(n_elem). */
    size_t (*bytes)(const hx_mesh *mesh, hx_layout layout);
    /* The same of a quadratic space, whose points the model then has: setup takes them. NULL: the
     * operator knows linear elements only. As long as a count of the neighbours. */
    size_t (*space_bytes)(const hx_space *space, hx_layout layout);
    /* Judged from a sample of the mesh, of linear elements; NULL: HX_PROMISE_SOME on every mesh.
     * O(1). */
    hx_promise (*promise)(const hx_mesh *mesh);
    /* Optional, all three or none: what setup lists of a mesh of linear elements on the host, for
     * which it needs no device; setup finds it in model->lists, or makes it. plan_bytes: what
     * `bytes` and single_bytes say, counted on it. */
    int (*plan)(void **lists, const hx_mesh *mesh);
    size_t (*plan_bytes)(const void *lists, size_t *single_bytes);
    void (*plan_free)(void *lists);
    /* *state is the strategy's (owned by it until teardown). The model outlives the state. */
    int (*setup)(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                 hx_layout layout);
    /* model->d_modulus has changed: stored values of K(E) are to follow. Queued, on the memory that
     * setup took: PCG's recordings stay valid. The modulus is undefined before the first call, and
     * no product is asked for until then. NULL: nothing depends on it. Once a design. */
    int (*update)(void *state);
    /* y = K(E) x over all degrees of freedom; y is overwritten. Hot. */
    int (*apply)(void *state, const double *d_x, double *d_y);
    /* One part of it, by the points in common that setup found (model->common): at most what the
     * part says (product_part.h). All four are the whole, to the bit where it is deterministic.
     * NULL: only the whole. Hot. */
    int (*apply_part)(void *state, hx_product_part part, const double *d_x, double *d_y);
    /* The same, and *d_sum = x'y, summed in a fixed order; NULL if there is none. Hot. */
    int (*apply_dot)(void *state, const double *d_x, double *d_y, double *d_sum);
    /* d_diag[n_dof] = diagonal of K(E), summed in a fixed order, where that is faster than the
     * device's own; else NULL. Once a design. */
    int (*diagonal)(void *state, double *d_diag);
    /* 1: products or set-up read the model's node lists, as the device's own diagonal does. */
    int reads_node_lists;
    /* K x in single precision, relative error about 1e-6; NULL if there is none. Hot. Differences
     * of an element's nodal values come first: rounded entries do not cancel its translation, and
     * PCG then takes a fifth more iterations. Once before: prepare_single, NULL if there is nothing
     * to prepare. */
    int single_bytes_per_elem; /* nominal; what prepare_single adds */
    /* The same counted, where it depends on the mesh; else NULL. O(n_elem). */
    size_t (*single_bytes)(const hx_mesh *mesh);
    int (*prepare_single)(void *state);
    int (*apply_single)(void *state, const float *d_x, float *d_y);
    /* As apply_part. */
    int (*apply_part_single)(void *state, hx_product_part part, const float *d_x, float *d_y);
    /* Where the same product is there for several instruction sets: takes the i-th that runs here,
     * the fastest first, and returns its name; past the last NULL, and nothing changes. NULL: there
     * is one. For tests. */
    const char *(*variant)(void *state, int i);
    /* The matrix behind it, of operators that store one (assembled.h); else NULL. */
    const struct hx_assembled *(*assembled)(const void *state);
    void (*teardown)(void *state);
    /* The same with one unknown a node (heat), a table of its own: K is that of conduction, the
     * modulus the conductivity. NULL: there is none. */
    const struct hx_strategy *scalar;
} hx_strategy;

/* The strategy for that many unknowns a node, 3 or 1; NULL: it has none. */
static inline const hx_strategy *hx_strategy_of(const hx_strategy *strategy, int components)
{
    return strategy && components == 1 ? strategy->scalar : strategy;
}

/* 1 if an operator of linear elements reads the node lists of the mesh on the device. */
static inline int hx_strategy_needs_lists(const hx_strategy *strategy)
{
    return strategy->reads_node_lists || !strategy->diagonal;
}

#define HX_LAYOUT_BIT(layout) (1u << (layout))
const char *hx_layout_name(hx_layout layout);
/* The first layout that the strategy knows. */
hx_layout hx_layout_first(const hx_strategy *strategy);

#ifdef __cplusplus
}
#endif

#endif
