/* Loads that depend on the density: by mass and by thermal expansion. */
#include "../operator/element_ops.h"
#include "analysis_internal.h"

/* The strains of a case that expands. */
static hx_device_expansion expansion_of(const hx_analysis *a, int c)
{
    return (hx_device_expansion){a->op->problem->cases.expansion[c].uniform, a->load[c].d_strain};
}

int hx_analysis_put_strains(hx_analysis *a, int c)
{
    const hx_expansion_field *const field = hx_problem_expands(a->op->problem, c);
    if (!field || !field->strain) return HX_OK;
    return hx_device_put(a->op->dev, &a->load[c].d_strain, field->strain,
                         (size_t)a->op->model.n_elem * sizeof *field->strain);
}

int hx_analysis_update_loads(const hx_analysis *a)
{
    hx_device *const dev = a->op->dev;
    for (int c = 0; c < a->problem->cases.n; c++) {
        const hx_body_field *const body = hx_problem_body(a->problem, c);
        const hx_case_load *const load = &a->load[c];
        const double *d_static = load->d_static;
        if (body) {
            HX_TRY(dev->ops->body->force(dev, &a->op->model, body, a->d_rho, d_static, load->d_f));
            d_static = load->d_f;
        }
        if (!hx_problem_expands(a->problem, c)) continue;
        const hx_device_expansion expansion = expansion_of(a, c);
        HX_TRY(dev->ops->expansion->force(dev, &a->op->model, &expansion, d_static, load->d_f));
    }
    return HX_OK;
}

int hx_analysis_load_work(const hx_analysis *a, int c, double factor, const double *d_v,
                          double *d_dg)
{
    hx_device *const dev = a->op->dev;
    const hx_body_field *const body = hx_problem_body(a->problem, c);
    if (body) HX_TRY(dev->ops->body->work(dev, &a->op->model, body, factor, a->d_rho, d_v, d_dg));
    if (!hx_problem_expands(a->problem, c)) return HX_OK;
    const hx_device_expansion expansion = expansion_of(a, c);
    return dev->ops->expansion->work(dev, &a->op->model, &expansion, factor, a->problem->least,
                                     a->penalty, a->d_rho, d_v, d_dg);
}
