#include "filter.h"

#include <math.h>
#include <string.h>

#include "../base/kind_table.h"
#include "../dist/dist.h"

/* Steepness of the projection of the first design. */
static double first_beta(const hx_filter_params *params)
{
    return params->design ? params->design->beta.value : hx_design_defaults.beta.value;
}

int hx_filter_kind_maps_design(const hx_filter_kind *kind, const hx_filter_params *params)
{
    return kind->maps_design || first_beta(params) > 0.0 || params->sweep != NULL;
}

/* 1 if physical densities have slope 1 in the filtered ones at all free elements: there is no
 * projection, and the filter stays in the design's range, so that the limits never act. */
static int has_even_slope(const hx_filter_kind *kind, double beta)
{
    return kind->keeps_range && !(beta > 0.0);
}

int hx_filter_kind_sums(const hx_filter_kind *kind, const hx_filter_params *params)
{
    const int is_even = has_even_slope(kind, first_beta(params)) && !params->sweep;
    return is_even && kind->sums_pairs > 1 ? 1 : kind->sums_pairs;
}

static int check_params(const hx_filter_kind *kind, const hx_filter_params *params)
{
    const hx_design_params *const design = params->design ? params->design : &hx_design_defaults;
    const double beta = design->beta.value, eta = design->eta;
    if (kind->needs_radius && !(params->radius > 0.0 && isfinite(params->radius)))
        return HX_RAISE(HX_EINPUT, "filter '%s' needs a radius above 0, but it is %g", kind->name,
                        params->radius);
    if (!(beta >= 0.0 && beta <= HX_PROJECTION_MOST_BETA))
        return HX_RAISE(HX_EINPUT, "beta = %g of the projection must be in [0, %g]", beta,
                        HX_PROJECTION_MOST_BETA);
    if (beta > 0.0 && !(eta > 0.0 && eta < 1.0))
        return HX_RAISE(HX_EINPUT, "eta = %g of the projection must be between 0 and 1", eta);
    if (beta > 0.0 && !(design->erosion >= 0.0 && design->dilation >= 0.0 &&
                        eta + design->erosion < 1.0 && eta - design->dilation > 0.0))
        return HX_RAISE(HX_EINPUT,
                        "the thresholds of the eroded and the dilated design, %g and %g, must be "
                        "between 0 and 1, and eta = %g between them",
                        eta + design->erosion, eta - design->dilation, eta);
    if (!(beta > 0.0) && (design->erosion != 0.0 || design->dilation != 0.0))
        return HX_RAISE(HX_EINPUT, "an eroded or dilated design needs a projection");
    if (beta > 0.0 && kind->is_heuristic)
        return HX_RAISE(HX_EINPUT,
                        "filter '%s' filters only derivatives, but a projection needs filtered "
                        "densities: use \"density\" or \"helmholtz\"",
                        kind->name);
    if (params->sweep && kind->is_heuristic)
        return HX_RAISE(
            HX_EINPUT,
            "filter '%s' filters only derivatives, but %s needs filtered densities: use "
            "\"density\" or \"helmholtz\"",
            kind->name, hx_sweep_name(params->sweep->params.kind));
    return HX_OK;
}

size_t hx_filter_bytes(const hx_filter_kind *kind, const hx_problem *problem,
                       const hx_filter_params *params)
{
    const size_t field = (size_t)problem->mesh->n_elem * sizeof(double);
    hx_filter_params local = *params;
    local.n_point = problem->whole ? problem->space.n_point : 0;
    return kind->bytes(problem->mesh, &local) +
           (hx_filter_kind_maps_design(kind, params) ? field : 0) +
           (problem->passive.density ? field : 0) +
           (params->sweep ? hx_sweep_bytes(params->sweep) : 0);
}

int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, hx_device *dev,
                     const hx_problem *problem, const hx_filter_params *params)
{
    const size_t bytes = (size_t)problem->mesh->n_elem * sizeof(double);
    int rc;
    const hx_kind_entry entry[] = {HX_ENTRY(kind, name),    HX_ENTRY(kind, help),
                                   HX_ENTRY(kind, bytes),   HX_ENTRY(kind, create),
                                   HX_ENTRY(kind, forward), HX_ENTRY(kind, backward),
                                   HX_ENTRY(kind, destroy)};
    memset(filter, 0, sizeof *filter);
    HX_TRY(hx_kind_check("filter", kind->name, sizeof entry / sizeof entry[0], entry));
    HX_TRY(check_params(kind, params));
    if (dev->ops->interface && !kind->is_distributed)
        return HX_RAISE(HX_EINPUT, "filter '%s' supports only one process", kind->name);
    filter->kind = kind;
    filter->dev = dev;
    filter->swept = HX_NOT_SWEPT;
    filter->problem = problem;
    filter->params = *params;
    filter->design = params->design ? params->design : &hx_design_defaults;
    filter->projection =
        (hx_projection){filter->design->beta.value, filter->design->eta, filter->design->rho_min};
    if (hx_filter_has_variants(filter) && !filter->design->analyses_all)
        filter->analysed = HX_DESIGN_ERODED;
    if (hx_filter_kind_maps_design(kind, params))
        HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &filter->d_filtered));
    if (problem->passive.density)
        HX_TRY_FAIL(hx_device_put(dev, &filter->d_passive, problem->passive.density, bytes));
    if (params->sweep)
        HX_TRY_FAIL(
            hx_sweep_stage_create(&filter->sweep, dev, params->sweep, filter->design->rho_min));
    HX_TRY_FAIL(kind->create(filter));
    filter->params.voxels = NULL;
    filter->params.sweep = NULL;
    return HX_OK;
fail:
    hx_filter_free(filter);
    return rc;
}

int hx_filter_has_variants(const hx_filter *filter)
{
    return hx_design_has_variants(filter->design);
}

int hx_filter_maps_design(const hx_filter *filter)
{
    return filter->d_filtered != NULL;
}

int hx_filter_is_linear(const hx_filter *filter)
{
    return has_even_slope(filter->kind, filter->design->beta.value) && filter->sweep.n_graph == 0;
}

static int is_even_now(const hx_filter *filter)
{
    return has_even_slope(filter->kind, filter->projection.beta) && filter->sweep.n_graph == 0;
}

static hx_projection projection_of(const hx_filter *filter, hx_design_variant variant)
{
    hx_projection projection = filter->projection;
    if (variant == HX_DESIGN_ERODED) projection.eta += filter->design->erosion;
    if (variant == HX_DESIGN_DILATED) projection.eta -= filter->design->dilation;
    return projection;
}

int hx_filter_forward_unprojected(hx_filter *filter, const double *d_design)
{
    filter->keeps_dv = 0;
    return filter->kind->forward(filter, d_design, filter->d_filtered);
}

/* The projection of d_filtered[n_elem] to a variant, the sweep, and passive elements. swept: the
 * variant, or HX_NOT_SWEPT if none of them has this projection. */
static int finish(hx_filter *filter, const hx_projection *projection, int swept,
                  const double *d_filtered, double *d_physical)
{
    hx_device *dev = filter->dev;
    const int64_t n = filter->problem->mesh->n_elem;
    const hx_projection limits = {.eta = projection->eta, .rho_min = projection->rho_min};
    const int sweeps = filter->sweep.n_graph > 0;
    HX_TRY(dev->ops->design->project(dev, n, projection, filter->d_passive, d_filtered,
                                     sweeps ? filter->sweep.d_x : d_physical));
    if (!sweeps) return HX_OK;
    filter->swept = swept;
    HX_TRY(hx_sweep_stage_forward(&filter->sweep, d_physical));
    return dev->ops->design->project(dev, n, &limits, filter->d_passive, d_physical, d_physical);
}

int hx_filter_finish(hx_filter *filter, const hx_projection *projection, double *d_physical)
{
    return finish(filter, projection, HX_NOT_SWEPT, filter->d_filtered, d_physical);
}

static int forward(hx_filter *filter, hx_design_variant variant, const double *d_design,
                   double *d_physical)
{
    const hx_projection projection = projection_of(filter, variant);
    if (!filter->d_filtered) return filter->kind->forward(filter, d_design, d_physical);
    double *const d_filtered = is_even_now(filter) ? d_physical : filter->d_filtered;
    if (d_filtered == filter->d_filtered) filter->keeps_dv = 0;
    HX_TRY(filter->kind->forward(filter, d_design, d_filtered));
    return finish(filter, &projection, (int)variant, d_filtered, d_physical);
}

int hx_filter_forward(hx_filter *filter, const double *d_design, double *d_physical)
{
    return forward(filter, filter->analysed, d_design, d_physical);
}

int hx_filter_project(hx_filter *filter, hx_design_variant variant, double *d_physical)
{
    const hx_projection projection = projection_of(filter, variant);
    return finish(filter, &projection, (int)variant, filter->d_filtered, d_physical);
}

static int zero_passive(const hx_filter *filter, double *d_a)
{
    hx_device *dev = filter->dev;
    if (!filter->d_passive) return HX_OK;
    return dev->ops->design->zero_passive(dev, filter->problem->mesh->n_elem, filter->d_passive,
                                          d_a);
}

/* The sweep of a variant again, whose fields the derivatives need, if the last one was of another. */
static int sweep_again(hx_filter *filter, const hx_projection *projection,
                       hx_design_variant variant)
{
    hx_device *dev = filter->dev;
    if (filter->swept == (int)variant) return HX_OK;
    HX_TRY(dev->ops->design->project(dev, filter->problem->mesh->n_elem, projection,
                                     filter->d_passive, filter->d_filtered, filter->sweep.d_x));
    filter->swept = (int)variant;
    return hx_sweep_stage_forward(&filter->sweep, NULL);
}

/* Converts the derivative `a` by the physical density to that by the filtered density. */
static int project_backward(hx_filter *filter, hx_design_variant variant, double *d_a)
{
    hx_device *dev = filter->dev;
    const hx_projection projection = projection_of(filter, variant);
    if (is_even_now(filter)) return zero_passive(filter, d_a);
    if (filter->sweep.n_graph > 0) {
        HX_TRY(sweep_again(filter, &projection, variant));
        HX_TRY(zero_passive(filter, d_a));
        HX_TRY(hx_sweep_stage_backward(&filter->sweep, d_a));
    }
    return dev->ops->design->project_backward(dev, filter->problem->mesh->n_elem, &projection,
                                              filter->d_passive, filter->d_filtered, d_a);
}

/* Derivatives of two variants. */
static int backward(hx_filter *filter, const double *d_design, hx_design_variant of_dc,
                    double *d_dc, hx_design_variant of_dv, double *d_dv)
{
    if (!filter->d_filtered) return filter->kind->backward(filter, d_design, d_dc, d_dv);
    HX_TRY(project_backward(filter, of_dc, d_dc));
    if (d_dv) HX_TRY(project_backward(filter, of_dv, d_dv));
    HX_TRY(filter->kind->backward(filter, d_design, d_dc, d_dv));
    return d_dv ? zero_passive(filter, d_dv) : HX_OK;
}

int hx_filter_backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    return backward(filter, d_design, filter->analysed, d_dc, filter->analysed, d_dv);
}

int hx_filter_backward_variant(hx_filter *filter, hx_design_variant variant, const double *d_design,
                               double *d_dc)
{
    return backward(filter, d_design, variant, d_dc, variant, NULL);
}

/* Sets d_filtered to the derivative of the volume by the design. */
static int keep_dv(hx_filter *filter, const double *d_design, const double *d_volume)
{
    hx_device *dev = filter->dev;
    if (filter->keeps_dv) return HX_OK;
    HX_TRY(dev->ops->copy(dev, filter->d_filtered, d_volume,
                          (size_t)filter->problem->mesh->n_elem * sizeof(double)));
    HX_TRY(hx_filter_backward(filter, d_design, filter->d_filtered, NULL));
    HX_TRY(zero_passive(filter, filter->d_filtered));
    filter->keeps_dv = 1;
    return HX_OK;
}

int hx_filter_backward_volume(hx_filter *filter, const double *d_design, const double *d_volume,
                              double *d_dc, double *d_dv)
{
    hx_device *dev = filter->dev;
    const size_t bytes = (size_t)filter->problem->mesh->n_elem * sizeof(double);
    if (!filter->d_filtered || !is_even_now(filter)) {
        HX_TRY(dev->ops->copy(dev, d_dv, d_volume, bytes));
        return backward(filter, d_design, filter->analysed, d_dc, HX_DESIGN_DILATED, d_dv);
    }
    HX_TRY(keep_dv(filter, d_design, d_volume));
    HX_TRY(dev->ops->copy(dev, d_dv, filter->d_filtered, bytes));
    return hx_filter_backward(filter, d_design, d_dc, NULL);
}

int hx_filter_mass(hx_filter *filter, const double *d_design, const double *d_volume, double *mass)
{
    hx_device *dev = filter->dev;
    double *const d_physical = filter->d_filtered; /* in place */
    double grey;
    HX_TRY(forward(filter, HX_DESIGN_MADE, d_design, d_physical));
    return dev->ops->design->measure(dev, filter->problem->mesh->n_elem, d_physical, d_volume, NULL,
                                     mass, &grey);
}

int hx_filter_snapshot_nodes(hx_filter *filter, hx_snapshot *image, const char *name, double *d_x)
{
    const int64_t n_node = hx_mesh_n_node_all(hx_problem_whole(filter->problem)->mesh);
    if (filter->dev->ops->interface)
        return hx_dist_snapshot_vector(hx_dist_of(filter->dev), image, name, 1, n_node, d_x);
    return hx_snapshot_device(image, name, filter->dev, d_x, (size_t)n_node * sizeof *d_x);
}

void hx_filter_free(hx_filter *filter)
{
    hx_device *dev = filter->dev;
    if (filter->kind) filter->kind->destroy(filter);
    hx_sweep_stage_free(&filter->sweep);
    if (dev) dev->ops->release(dev, filter->d_filtered);
    if (dev) dev->ops->release(dev, filter->d_passive);
    memset(filter, 0, sizeof *filter);
}
