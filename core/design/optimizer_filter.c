/* From the design to its densities, and the derivatives back: which of the variants of a filtered
 * design (hx_design_variant) each value and derivative belongs to.
 *
 * The eroded design is analysed, because it is the weakest of the three: its members, and those of
 * the two others, are then no thinner than the length of the filter and its threshold (Wang, Lazarov
 * and Sigmund 2011; Qian and Sigmund 2013). Volume and mass are those of the design that is made,
 * with the derivative of the dilated design, scaled by the ratio of their volumes: at an optimum the
 * multiplier of a limit on the dilated volume, renewed from the design that is made, differs from it
 * only by that ratio. So the volume is met by the design that is made in each step. */
#include "../linalg/vector_ops.h"
#include "optimizer_internal.h"

int hx_optimizer_filter(hx_optimizer *opt)
{
    if (!hx_filter_maps_design(opt->filter)) {
        opt->d_physical = opt->d_design; /* the filter would only copy it */
        opt->d_made = opt->d_physical;
        return HX_OK;
    }
    HX_TRY(hx_filter_forward(opt->filter, opt->d_design, opt->d_physical));
    if (!hx_filter_has_variants(opt->filter)) return HX_OK;
    return hx_filter_project(opt->filter, HX_DESIGN_MADE, opt->d_made);
}

static int measure(const hx_optimizer *opt, const double *d_rho, double *mass, double *grey)
{
    hx_device *const dev = opt->analysis->dev;
    return dev->ops->design->measure(dev, opt->problem->mesh->n_elem, d_rho, opt->d_volume,
                                     opt->filter->d_passive, mass, grey);
}

int hx_optimizer_measure(hx_optimizer *opt, hx_iteration *record)
{
    double mass, dilated, grey, unused;
    HX_TRY(measure(opt, opt->d_made, &mass, &grey));
    record->volume = mass / opt->total_volume;
    record->volume_missed = opt->has_volume && hx_volume_is_missed(opt->update.kind, record->volume,
                                                                   opt->design->volume_fraction);
    record->greyness = 4.0 * grey / opt->problem->design_volume;
    record->is_eroded = opt->filter->analysed == HX_DESIGN_ERODED;
    opt->measured.d_physical = opt->d_physical;
    opt->measured.d_made = opt->d_made;
    opt->measured.d_volume = opt->d_volume;
    opt->measured.volume = record->volume;
    opt->made_share = 1.0;
    if (!(opt->design->dilation > 0.0)) return HX_OK;
    HX_TRY(hx_filter_project(opt->filter, HX_DESIGN_DILATED, opt->d_proposal));
    HX_TRY(measure(opt, opt->d_proposal, &dilated, &unused));
    opt->made_share = mass / dilated;
    return HX_OK;
}

/* The derivative of a response by the densities becomes that by the design. */
static int response_backward(hx_optimizer *opt, const hx_response_kind *kind, double *d_dg)
{
    hx_device *const dev = opt->analysis->dev;
    if (kind->is_of_made && hx_filter_has_variants(opt->filter))
        return hx_filter_backward_variant(opt->filter, HX_DESIGN_MADE, opt->d_design, d_dg);
    if (!kind->is_linear || !hx_filter_has_variants(opt->filter))
        return hx_filter_backward(opt->filter, opt->d_design, d_dg, NULL);
    HX_TRY(hx_filter_backward_variant(opt->filter, HX_DESIGN_DILATED, opt->d_design, d_dg));
    return dev->ops->vector->axpy(dev, opt->problem->mesh->n_elem, opt->made_share - 1.0, d_dg,
                                  d_dg);
}

/* d_dc := derivative of the objective times its weight, plus that of the augmented Lagrangian. */
static int join_lagrangian(hx_optimizer *opt)
{
    hx_device *const dev = opt->analysis->dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    const int64_t n = opt->problem->mesh->n_elem;
    HX_TRY(vector->axpy(dev, n, opt->lagrangian.scale - 1.0, opt->d_dc, opt->d_dc));
    return vector->axpy(dev, n, 1.0, opt->lagrangian.d_derivative, opt->d_dc);
}

/* 1 if objective and augmented Lagrangian are derived from one variant, so that their sum is. */
static int joins_before_filter(const hx_optimizer *opt)
{
    return !opt->objective.kind->is_linear || !hx_filter_has_variants(opt->filter);
}

int hx_optimizer_add_lagrangian(hx_optimizer *opt, double *const d_work[2])
{
    const hx_response *const sum = &opt->lagrangian.sum;
    if (!sum->kind) return HX_OK;
    HX_TRY(hx_response_derivative(sum, opt->d_energy, opt->lagrangian.d_derivative, d_work));
    return joins_before_filter(opt) ? join_lagrangian(opt) : HX_OK;
}

/* The derivatives of the volume, with the objective's in the same sums of the filter if it is
 * derived from the analysed variant. */
static int volume_backward(hx_optimizer *opt)
{
    hx_device *const dev = opt->analysis->dev;
    const int64_t n = opt->problem->mesh->n_elem;
    if (joins_before_filter(opt)) {
        HX_TRY(hx_filter_backward_volume(opt->filter, opt->d_design, opt->d_volume, opt->d_dc,
                                         opt->d_dv));
    } else {
        HX_TRY(dev->ops->copy(dev, opt->d_dv, opt->d_volume, (size_t)n * sizeof(double)));
        HX_TRY(
            hx_filter_backward_variant(opt->filter, HX_DESIGN_DILATED, opt->d_design, opt->d_dv));
        HX_TRY(response_backward(opt, opt->objective.kind, opt->d_dc));
    }
    if (!(opt->design->dilation > 0.0)) return HX_OK;
    return dev->ops->vector->axpy(dev, n, opt->made_share - 1.0, opt->d_dv, opt->d_dv);
}

int hx_optimizer_filter_backward(hx_optimizer *opt)
{
    hx_device *const dev = opt->analysis->dev;
    HX_TRY(volume_backward(opt));
    for (int i = opt->has_volume; i < opt->n_constraint; i++)
        if (opt->d_more[i]) HX_TRY(response_backward(opt, opt->constraint[i].kind, opt->d_more[i]));
    if (opt->lagrangian.sum.kind && !joins_before_filter(opt)) {
        HX_TRY(hx_filter_backward(opt->filter, opt->d_design, opt->lagrangian.d_derivative, NULL));
        HX_TRY(join_lagrangian(opt));
    }
    if (!opt->update.groups) return HX_OK;
    for (int i = opt->has_volume; i < opt->n_constraint; i++)
        if (opt->d_more[i])
            HX_TRY(dev->ops->design->link(dev, &opt->groups, opt->d_dv, opt->d_more[i]));
    HX_TRY(hx_optimizer_link_sides(opt));
    return dev->ops->design->link(dev, &opt->groups, opt->d_dv, opt->d_dc);
}
