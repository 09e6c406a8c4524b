/* Host-side lists of an operator kind, made before the device is available (while its driver
 * starts). Memory estimates are counted on these lists, and the operator's set-up takes them over.
 * hx_problem has at most one such plan; without one, each set-up makes its own lists. */
#ifndef HX_PLAN_OPERATOR_H
#define HX_PLAN_OPERATOR_H

#include "../problem/problem.h"
#include "operator_kind.h"

HX_C_BEGIN

typedef struct hx_operator_plan {
    const hx_mesh *mesh; /* the mesh of the lists (borrowed); NULL: nothing has been made */

    const hx_operator_kind *op_kind; /* operator kind of the lists; NULL: none */
    void *lists; /* from hx_operator_kind.plan, until `setup` takes them (owned) */
    /* values of hx_operator_kind.bytes and single_bytes, counted on the lists */
    size_t bytes, single_bytes;
} hx_operator_plan;

/* Makes the lists of an operator kind unless they exist, and frees those of another kind or mesh.
 * If the kind has no plan function or memory runs out, it makes none and reports nothing, since the
 * set-up will report that. O(n_elem). */
void hx_operator_plan_make(hx_operator_plan *plan, const hx_problem *problem,
                           const hx_operator_kind *op_kind);

/* The problem's plan, if it has or had the lists of this operator kind, in which case `bytes` is
 * valid; otherwise NULL. */
const hx_operator_plan *hx_operator_plan_of(const hx_problem *problem,
                                            const hx_operator_kind *op_kind);

/* Frees the lists after `setup` has used them. */
void hx_operator_plan_drop_lists(hx_operator_plan *plan);

/* Accepts a zeroed struct. */
void hx_operator_plan_free(hx_operator_plan *plan);

HX_C_END

#endif
