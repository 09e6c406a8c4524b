/* Compliance, the work of the loads (P1). Self-adjoint: lambda is the weight times u. */
#include "../solver/element_ops.h"
#include "design_ops.h"
#include "objective.h"

static int value(const hx_objective *o, double *compliance)
{
    return hx_analysis_compliance(o->analysis, compliance);
}

/* Loads by mass give 2 u' df/drho_e besides, also where displacements are prescribed. */
static int add_body_work(const hx_analysis *a, double *d_dc)
{
    hx_device *dev = a->op->dev;
    for (int c = 0; c < a->problem->cases.n; c++) {
        const hx_body_field *body = hx_problem_body(a->problem, c);
        if (!body) continue;
        HX_TRY(dev->ops->body->work(dev, &a->op->model, body, 2.0 * a->problem->cases.weight[c],
                                    a->d_rho, a->d_u[c], d_dc));
    }
    return HX_OK;
}

/* dC/drho_e = -p rho_e^(p-1) E u_e' Ke u_e, with prescribed displacements too. */
static int derivative(const hx_objective *o, const double *d_energy, double *d_dc)
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    HX_TRY(dev->ops->design->sensitivity(dev, a->op->model.n_elem, a->problem->least, a->penalty,
                                         a->op->model.d_modulus, a->d_rho, d_energy, d_dc));
    return add_body_work(a, d_dc);
}

const hx_objective_kind hx_objective_compliance = {
    .name = "compliance",
    .help = "work of the loads, weighted over the load cases: the stiffest part",
    .value = value,
    .derivative = derivative,
};
