/* The filter by a Helmholtz equation (Lazarov and Sigmund, Int. J. Numer. Meth. Engng 86, 2011):
 *
 *     -r^2 lap(x) + x = rho,  no flux through the boundary,  r = R / (2 sqrt(3)),
 *
 * solved on the nodes; the filtered density of an element is the mean of its corners. With v the
 * volumes, N the sums elements -> nodes and E the means nodes -> elements:
 *
 *     filtered = E A^-1 N v rho,    dc <- v E A^-1 N dc.
 *
 * The matrix-free operator of core/design/helmholtz.h is an hx_linear, so it uses the same Jacobi
 * preconditioner and hx_pcg as K. The tolerance is small enough for exact derivatives. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/filter.h"
#include "core/design/helmholtz.h"
#include "core/krylov/pcg.h"
#include "core/linalg/vector_ops.h"
#include "core/operator/interface_ops.h"
#include "core/registry.h"

typedef struct helmholtz_filter {
    hx_device *dev;
    const hx_device_mesh *mesh; /* a reference, dropped by hx_device_mesh_drop */
    hx_device_helmholtz field;
    /* Has no fixed unknowns. With several ranks its vectors are those of the subdomain's points,
     * with 0 at points that are no nodes. */
    hx_linear a;
    hx_precond pc;
    hx_pcg pcg;
    /* [a.n] right-hand side, solution, solution of the last forward */
    double *d_f, *d_x, *d_warm;
} helmholtz_filter;

enum { NODAL_VECTORS = 7 }; /* the three above, PCG's r, p and q, and the preconditioner's */
#define TOLERANCE 1e-10

/* Completes sums over elements at the nodes by those of other ranks. */
static int complete(const helmholtz_filter *impl, double *d_y)
{
    const int64_t n_node = impl->field.n_node;
    hx_device *dev = impl->dev;
    if (impl->a.n > n_node)
        HX_TRY(dev->ops->zero(dev, d_y + n_node, (size_t)(impl->a.n - n_node) * sizeof *d_y));
    return hx_interface_add(dev, 1, d_y);
}

static int apply_helmholtz(const hx_linear *a, const double *d_x, double *d_y)
{
    const helmholtz_filter *impl = a->context;
    HX_TRY(a->dev->ops->helmholtz->apply(a->dev, &impl->field, d_x, d_y));
    return complete(impl, d_y);
}

static int helmholtz_diagonal(const hx_linear *a, double *d_diagonal)
{
    const helmholtz_filter *impl = a->context;
    HX_TRY(a->dev->ops->helmholtz->diagonal(a->dev, &impl->field, d_diagonal));
    return complete(impl, d_diagonal);
}

static int to_nodes(const helmholtz_filter *impl, const double *d_value, double *d_node)
{
    HX_TRY(impl->dev->ops->helmholtz->to_nodes(impl->dev, &impl->field, d_value, d_node));
    return complete(impl, d_node);
}

static size_t helmholtz_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    const int64_t n = params->n_point > 0 ? params->n_point : mesh->n_node;
    /* PCG rounds its vectors up to 64 entries */
    return hx_device_helmholtz_bytes(mesh) + NODAL_VECTORS * ((size_t)n + 64) * sizeof(double);
}

static int create_helmholtz(hx_filter *filter)
{
    static const hx_pcg_params params = {
        .criterion = HX_PCG_RELATIVE, .tolerance = TOLERANCE, .max_iterations = 5000};
    hx_device *dev = filter->dev;
    const int64_t n =
        dev->ops->interface ? filter->problem->space.n_point : filter->problem->mesh->n_node;
    const size_t nodal = (size_t)n * sizeof(double);
    helmholtz_filter *impl;
    if (!dev->ops->helmholtz)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support filter 'helmholtz'",
                        dev->ops->name);
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "helmholtz filter"));
    filter->impl = impl;
    impl->dev = dev;
    HX_TRY(hx_device_mesh_take(&impl->mesh, dev, filter->problem->mesh));
    HX_TRY(hx_device_helmholtz_create(&impl->field, dev, impl->mesh, filter->problem,
                                      filter->params.radius / (2.0 * sqrt(3.0))));
    impl->a = (hx_linear){.dev = dev,
                          .name = "helmholtz",
                          .n = n,
                          .components = 1,
                          .context = impl,
                          .apply = apply_helmholtz,
                          .diagonal = helmholtz_diagonal};
    HX_TRY(hx_precond_create(&impl->pc, hx_precond_find("jacobi"), &impl->a, NULL));
    HX_TRY(hx_precond_setup(&impl->pc));
    HX_TRY(hx_pcg_create(&impl->pcg, &params, &impl->a, &impl->pc));
    HX_TRY(dev->ops->alloc(dev, nodal, &impl->d_f));
    HX_TRY(dev->ops->alloc(dev, nodal, &impl->d_x));
    HX_TRY(dev->ops->alloc(dev, nodal, &impl->d_warm));
    return dev->ops->zero(dev, impl->d_warm, nodal);
}

/* x = A^-1 f, starting from the given x. All solves use the same vectors, so that PCG's iterations
 * are recorded (as a CUDA graph) only once. */
static int solve_helmholtz(helmholtz_filter *impl)
{
    hx_pcg_result result;
    impl->pc.version = hx_interface_version(impl->dev); /* PCG records again if it differs */
    HX_TRY(hx_pcg_solve(&impl->pcg, &impl->a, &impl->pc, impl->d_f, impl->d_x, &result));
    if (result.reason == HX_PCG_NAN || result.reason == HX_PCG_INDEFINITE) { /* restart from 0 */
        HX_TRY(impl->dev->ops->zero(impl->dev, impl->d_x, (size_t)impl->a.n * sizeof(double)));
        HX_TRY(hx_pcg_solve(&impl->pcg, &impl->a, &impl->pc, impl->d_f, impl->d_x, &result));
    }
    if (result.reason == HX_PCG_CONVERGED) return HX_OK;
    return HX_RAISE(HX_ENUMERIC,
                    "filter 'helmholtz': PCG did not converge (%s after %d %s, |r|/|f| = %.2g); "
                    "try another radius, or filter \"density\", which solves no equation",
                    hx_pcg_reason_name(result.reason), result.iterations,
                    hx_noun(result.iterations, "iteration", "iterations"), result.residual);
}

static int forward_helmholtz(hx_filter *filter, const double *d_design, double *d_filtered)
{
    helmholtz_filter *impl = filter->impl;
    hx_device *dev = impl->dev;
    const hx_helmholtz_ops *ops = dev->ops->helmholtz;
    const size_t nodal = (size_t)impl->a.n * sizeof(double);
    HX_TRY(dev->ops->vector->multiply(dev, impl->field.n_elem, impl->field.d_weight, d_design,
                                      d_filtered));
    HX_TRY(to_nodes(impl, d_filtered, impl->d_f));
    HX_TRY(dev->ops->copy(dev, impl->d_x, impl->d_warm, nodal));
    HX_TRY(solve_helmholtz(impl));
    HX_TRY(dev->ops->copy(dev, impl->d_warm, impl->d_x, nodal));
    return ops->to_elements(dev, &impl->field, impl->d_x, d_filtered);
}

static int transpose(helmholtz_filter *impl, double *d_a)
{
    hx_device *dev = impl->dev;
    const hx_helmholtz_ops *ops = dev->ops->helmholtz;
    HX_TRY(to_nodes(impl, d_a, impl->d_f));
    HX_TRY(dev->ops->zero(dev, impl->d_x, (size_t)impl->a.n * sizeof(double)));
    HX_TRY(solve_helmholtz(impl));
    HX_TRY(ops->to_elements(dev, &impl->field, impl->d_x, d_a));
    return dev->ops->vector->multiply(dev, impl->field.n_elem, impl->field.d_weight, d_a, d_a);
}

static int backward_helmholtz(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    (void)d_design;
    HX_TRY(transpose(filter->impl, d_dc));
    return d_dv ? transpose(filter->impl, d_dv) : HX_OK;
}

static int snapshot(hx_filter *filter, hx_snapshot *image)
{
    helmholtz_filter *impl = filter->impl;
    return hx_filter_snapshot_nodes(filter, image, "helmholtz.x", impl->d_warm);
}

static int reset(hx_filter *filter)
{
    helmholtz_filter *impl = filter->impl;
    return impl->dev->ops->zero(impl->dev, impl->d_warm, (size_t)impl->a.n * sizeof *impl->d_warm);
}

static void destroy_helmholtz(hx_filter *filter)
{
    helmholtz_filter *impl = filter->impl;
    hx_device *dev = filter->dev;
    if (!impl) return;
    hx_pcg_free(&impl->pcg);
    hx_precond_free(&impl->pc);
    hx_device_helmholtz_free(&impl->field, dev);
    hx_device_mesh_drop(dev, impl->mesh);
    dev->ops->release(dev, impl->d_f);
    dev->ops->release(dev, impl->d_x);
    dev->ops->release(dev, impl->d_warm);
    free(impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_helmholtz = {
    .name = "helmholtz",
    .help =
        "densities smoothed by a Helmholtz equation, in a time that hardly depends on the radius",
    .needs_radius = 1,
    .maps_design = 1,
    .is_distributed = 1,
    .bytes_per_elem = 120,
    .bytes = helmholtz_bytes,
    .create = create_helmholtz,
    .forward = forward_helmholtz,
    .backward = backward_helmholtz,
    .snapshot = snapshot,
    .reset = reset,
    .destroy = destroy_helmholtz,
};
