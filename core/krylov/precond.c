#include "precond.h"

#include <string.h>

#include "../base/kind_table.h"

int hx_precond_create(hx_precond *pc, const hx_precond_kind *kind, const hx_linear *a,
                      const hx_operator *op)
{
    const hx_kind_entry entry[] = {HX_ENTRY(kind, name), HX_ENTRY(kind, help),
                                   HX_ENTRY(kind, create), HX_ENTRY(kind, setup),
                                   HX_ENTRY(kind, destroy)};
    memset(pc, 0, sizeof *pc);
    HX_TRY(hx_kind_check("preconditioner", kind->name, sizeof entry / sizeof entry[0], entry));
    if (kind->needs_operator && !op)
        return HX_RAISE(
            HX_EINPUT,
            "preconditioner '%s' needs the stiffness matrix of a mesh and cannot be used for '%s'",
            kind->name, a->name);
    pc->kind = kind;
    pc->a = a;
    pc->op = op;
    const int rc = kind->create(pc);
    if (rc < 0) hx_precond_free(pc);
    return rc;
}

int hx_precond_setup(hx_precond *pc)
{
    const int rc = pc->kind->setup(pc);
    pc->iterations = 0;
    return rc;
}

size_t hx_precond_bytes(const hx_precond_kind *kind, const hx_problem *problem,
                        const hx_device_ops *device, const hx_operator_kind *op_kind)
{
    const int n = kind->vectors + (problem->rigid.n > 0 ? kind->rigid_vectors : 0);
    return (size_t)n * (size_t)problem->components * (size_t)problem->space.n_point *
               sizeof(double) +
           (kind->bytes ? kind->bytes(problem, device, op_kind) : 0);
}

void hx_precond_free(hx_precond *pc)
{
    if (pc->kind) pc->kind->destroy(pc);
    memset(pc, 0, sizeof *pc);
}
