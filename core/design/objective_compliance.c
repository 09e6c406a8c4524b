/* Compliance, the work of the loads (P1). Self-adjoint: lambda is the weight times u. */
#include "design_ops.h"
#include "response.h"

static int value(const hx_response *o, double *compliance)
{
    return hx_analysis_compliance(o->analysis, compliance);
}

/* dC/drho_e = -p rho_e^(p-1) E u_e' Ke u_e, also with prescribed displacements. */
static int derivative(const hx_response *o, const double *d_energy, double *d_dc)
{
    hx_analysis *const a = o->analysis;
    hx_device *dev = a->dev;
    HX_TRY(dev->ops->design->sensitivity(dev, a->fields->mesh->n_elem, a->problem->least,
                                         a->penalty, a->d_modulus, a->d_rho, d_energy, d_dc));
    return hx_analysis_body_work(a, d_dc); /* 2 u' df/drho_e, also with prescribed displacements */
}

const hx_objective_kind hx_objective_compliance = {
    .name = "compliance",
    .help =
        "work of the loads, as a weighted sum over the load cases; minimal for the stiffest part",
    .is_distributed = 1,
    .value = value,
    .derivative = derivative,
};
