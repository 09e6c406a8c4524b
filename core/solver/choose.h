/* What "auto" means: which operator and which preconditioner run a problem on a device.
 *
 * Operators. Candidates are the exact ones of the device, with `deterministic` only those that are,
 * in mixed precision only those with a product in single precision; with keep_layout those that
 * know the layout come in no other. They are ordered by what they store, most first, the
 * interleaved layout after others. Of these are left out: what promises no gain on the mesh; all
 * others, once one is sure to be the fastest; on meshes that no cache holds (16 MB), what stores
 * more than 8 times as much as the one that stores least (of quadratic elements, where all store a
 * matrix, 2 times); and what does not fit into the device's memory. If several are left, the
 * products of each are timed on the problem's own mesh, in this order, so that the most promising
 * is set up last and need not be set up again, and the fastest is taken. With `deterministic`
 * nothing is timed, since two runs could then choose differently: the one that stores least is
 * taken.
 *
 * Preconditioners. Of the kinds that may be chosen (hx_precond_kind.chosen_from) the one for the
 * largest meshes not larger than this; in mixed precision, or with the absolute criterion, which
 * measures r by the preconditioner, only of those that are a diagonal. */
#ifndef HX_CHOOSE_H
#define HX_CHOOSE_H

#include <math.h>

#include "pcg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_choose_params {
    const hx_strategy *const *strategies;   /* to choose from, NULL-terminated (borrowed) */
    const hx_precond_kind *const *preconds; /* likewise */
    hx_precision precision;
    hx_pcg_criterion criterion;
    int deterministic;
    int keep_layout; /* 1: `layout` is asked for */
    hx_layout layout;
    size_t other_bytes; /* device bytes needed besides operator, preconditioner and PCG */
    /* Says a line about each operator that is left out or timed; NULL: nobody listens. */
    void (*say)(void *context, const char *line);
    void *context;
} hx_choose_params;

typedef struct hx_choice {
    const hx_strategy *strategy;
    hx_layout layout;
    char note[128]; /* why: "auto: 1.2 ms a product; next ebe interleaved 2 ms" */
} hx_choice;

/* The elements that a choice of a preconditioner counts, those of hexahedra with as many unknowns:
 * of a finished mesh of hexahedra its own; of tetrahedra, which are several times more, at most as
 * many as nodes; of quadratic elements, which take several times more iterations with a diagonal,
 * the points; of splines these times how much wider than a hexahedron's 27 rows are. */
static inline int64_t hx_choose_size(const hx_space *space)
{
    const hx_mesh *mesh = space->mesh;
    if (space->element == HX_ELEMENT_SPLINE) {
        const double order = cbrt((double)space->n_place / (double)mesh->n_elem);
        return (int64_t)((double)space->n_point * pow(2.0 * order - 1.0, 3.0) / 27.0);
    }
    if (space->element != HX_ELEMENT_LINEAR) return space->n_point;
    const int64_t n_elem = hx_mesh_n_elem_all(mesh), n_node = hx_mesh_n_node_all(mesh);
    return !hx_mesh_is_collapsed(mesh) || n_elem < n_node ? n_elem : n_node;
}

/* For n_elem elements (hx_choose_size); NULL if none of the kinds may be chosen. */
const hx_precond_kind *hx_choose_precond(const hx_choose_params *params,
                                         const hx_device_ops *device, int64_t n_elem);

/* op: zeroed, or an operator that is freed; holds the one chosen if that was timed last. HX_EINPUT:
 * no operator of the device does what is asked. One that does not fit is left for
 * hx_operator_create to refuse when none does. */
int hx_choose_operator(hx_choice *choice, const hx_choose_params *params, hx_device *dev,
                       const hx_problem *problem, const hx_precond_kind *kind, hx_operator *op);

/* The operator that it will choose without timing any, told from the tables and the mesh alone;
 * NULL if several will be timed, or none does what is asked. */
const hx_strategy *hx_choose_foresee(const hx_choose_params *params, const hx_device_ops *device,
                                     const hx_problem *problem);

/* *kind: the next smaller kind in its place, where it does not fit into the device's memory and
 * that does; held_bytes are already taken. */
int hx_choose_smaller_precond(const hx_choose_params *params, hx_device *dev,
                              const hx_problem *problem, const hx_strategy *strategy,
                              hx_layout layout, size_t held_bytes, const hx_precond_kind **kind);

/* Device bytes of all that a solve needs with them, params->other_bytes included. A pass over the
 * mesh. */
size_t hx_choose_bytes(const hx_choose_params *params, const hx_device_ops *device,
                       const hx_problem *problem, const hx_strategy *strategy, hx_layout layout,
                       const hx_precond_kind *kind);

/* 1 if "auto" may take it in this layout, fast or not. */
int hx_choose_is_candidate(const hx_choose_params *params, const hx_device_ops *device,
                           const hx_problem *problem, const hx_strategy *strategy,
                           hx_layout layout);

/* --- choose_less.c: when memory that was foretold cannot be had --- */

/* What may be replaced, and what replaces it. */
typedef struct hx_choose_less {
    int may_operator, may_precond; /* 1: it was chosen, not named */
    hx_choice *choice;
    const hx_precond_kind **kind;
} hx_choose_less;

/* After HX_ENOMEM or HX_EENV: in place of the operator the one that stores least, where that is
 * markedly less; else of the preconditioner the next smaller one. 1: one of them has changed, and
 * the choice's note says why; 0: nothing takes less. */
int hx_choose_take_less(const hx_choose_params *params, const hx_device *dev,
                        const hx_problem *problem, const hx_choose_less *less);

/* Puts behind the message of a lack of memory what would fit now, with held_bytes given back:
 * "; these operators would fit: otf (1.2 GB), ..."; returns rc. */
int hx_choose_suggest(const hx_choose_params *params, hx_device *dev, const hx_problem *problem,
                      const hx_precond_kind *kind, size_t held_bytes, int rc);

#ifdef __cplusplus
}
#endif

#endif
