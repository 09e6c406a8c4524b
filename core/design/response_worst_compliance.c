/* The largest compliance of a load case, each times its weight. The optimizer minimises it as the
 * bound z of the cases (update.h), so that no derivative of the largest of them is needed; what
 * stands here is the value, and the derivative of the case that is largest. */
#include "../linalg/vector_ops.h"
#include "response.h"

static int worst_case(const hx_analysis *a, double *largest)
{
    int worst = 0;
    for (int c = 0; c < a->problem->cases.n; c++) {
        const double value = a->problem->cases.weight[c] * a->load_case[c].compliance;
        if (c > 0 && value <= *largest) continue;
        *largest = value;
        worst = c;
    }
    return worst;
}

static int worst_value(const hx_response *o, double *largest)
{
    double sum;
    HX_TRY(hx_analysis_compliance(o->analysis, &sum));
    worst_case(o->analysis, largest);
    return HX_OK;
}

static int worst_derivative(const hx_response *o, const double *d_energy, double *d_dc)
{
    const hx_analysis *const a = o->analysis;
    double largest;
    hx_response one = *o;
    one.params.load_case = worst_case(a, &largest);
    HX_TRY(hx_response_compliance.derivative(&one, d_energy, d_dc));
    const double weight = a->problem->cases.weight[one.params.load_case];
    if (weight == 1.0) return HX_OK;
    return a->dev->ops->vector->axpy(a->dev, a->fields->mesh->n_elem, weight - 1.0, d_dc, d_dc);
}

const hx_response_kind hx_response_worst_compliance = {
    .name = "worst_compliance",
    .help = "largest compliance of a load case, each times its weight",
    .is_objective = 1,
    .is_distributed = 1,
    .is_worst_case = 1,
    .unit = HX_VALUE_ENERGY,
    .heat_unit = HX_VALUE_POWER_TEMPERATURE,
    .value = worst_value,
    .derivative = worst_derivative,
};
