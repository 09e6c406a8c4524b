/* Compliance, the work of the loads (P1). Self-adjoint: lambda is the weight times u. */
#include "design_ops.h"
#include "response.h"

static int compliance_value(const hx_response *o, double *compliance)
{
    hx_analysis *const a = o->analysis;
    HX_TRY(hx_analysis_compliance(a, compliance));
    if (o->params.load_case != HX_ALL_CASES)
        *compliance = a->load_case[o->params.load_case].compliance;
    return HX_OK;
}

/* d_dc += 2 weight u' df/drho_e of the response's cases, also with prescribed displacements. */
static int add_load_work(const hx_response *o, double *d_dc)
{
    const hx_analysis *const a = o->analysis;
    for (int c = 0; c < a->problem->cases.n; c++)
        if (hx_response_has_case(o, c))
            HX_TRY(hx_analysis_load_work(a, c, 2.0 * hx_response_weight(o, c), a->d_u[c], d_dc));
    return HX_OK;
}

/* dC/drho_e = -p rho_e^(p-1) E u_e' Ke u_e + 2 u' df/drho_e, also with prescribed displacements. */
static int compliance_derivative(const hx_response *o, const double *d_energy, double *d_dc)
{
    hx_analysis *const a = o->analysis;
    hx_device *dev = a->dev;
    const int c = o->params.load_case;
    if (c != HX_ALL_CASES) {
        HX_TRY(hx_operator_energy(a->op, a->d_u[c], d_dc));
        d_energy = d_dc;
    }
    HX_TRY(dev->ops->design->sensitivity(dev, a->fields->mesh->n_elem, a->problem->least,
                                         a->penalty, a->d_modulus, a->d_rho, d_energy, d_dc));
    return add_load_work(o, d_dc);
}

const hx_response_kind hx_response_compliance = {
    .name = "compliance",
    .help =
        "work of the loads, as a weighted sum over the load cases; minimal for the stiffest part",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_CASE,
    .is_distributed = 1,
    .unit = HX_VALUE_ENERGY,
    .heat_unit = HX_VALUE_POWER_TEMPERATURE,
    .value = compliance_value,
    .derivative = compliance_derivative,
};
