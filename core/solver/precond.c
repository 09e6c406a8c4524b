#include "precond.h"

#include <string.h>

int hx_precond_create(hx_precond *pc, const hx_precond_kind *kind, const hx_linear *a,
                      const hx_operator *op)
{
    memset(pc, 0, sizeof *pc);
    if (kind->needs_operator && !op)
        return HX_RAISE(HX_EINPUT,
                        "preconditioner '%s' works on the stiffness of a mesh, not on '%s'",
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
    return pc->kind->setup(pc);
}

void hx_precond_free(hx_precond *pc)
{
    if (pc->kind) pc->kind->destroy(pc);
    memset(pc, 0, sizeof *pc);
}
