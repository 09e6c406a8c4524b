/* Width of the cells of the first coarse grid, and the device memory of multigrid that follows from
 * their number, before anything is allocated. */
#include <math.h>

#include "../operator/interface_ops.h"
#include "../operator/plan_operator.h"
#include "multigrid_internal.h"
#include "plan_coarse.h"

int hx_mg_degree(const hx_problem *problem)
{
    const hx_spline_rule *const rule = problem->space.spline_rule;
    int degree = 0;
    if (problem->space.element != HX_ELEMENT_SPLINE) return 0;
    for (int k = 0; k < rule->n_patch; k++)
        for (int d = 0; d < 3; d++)
            if (rule->patch[k].degree[d] > degree) degree = rule->patch[k].degree[d];
    return degree;
}

int hx_mg_is_narrow(const hx_problem *problem, const hx_device_ops *device)
{
    const hx_problem *const whole = hx_problem_whole(problem);
    const hx_mg_params *const params = hx_mg_params_of(problem);
    return device->multigrid && device->multigrid->fused &&
           hx_mesh_n_elem_all(whole->mesh) <= params->coarsening.narrow_most &&
           hx_coarse_plan_aspect(whole) > params->lines.aspect;
}

double hx_mg_coarsening(const hx_problem *problem, const hx_device_ops *device)
{
    const hx_mg_coarsening_params *const c = &hx_mg_params_of(problem)->coarsening;
    if (problem->space.element == HX_ELEMENT_SPLINE)
        return c->elements_other * hx_mg_degree(problem);
    if (hx_problem_is_heat(problem) || problem->space.element != HX_ELEMENT_LINEAR)
        return c->elements_other;
    return hx_mg_is_narrow(problem, device) ? c->elements_narrow : c->elements;
}

/* Nodes and cells of the first coarse grid for a spline, whose cells are enlarged if basis
 * functions extend further. Returns 0 if they could not be counted. */
static int count_spline(const hx_problem *problem, double coarsening, double *n_node,
                        double *n_cell)
{
    hx_coarse_draft *draft;
    if (problem->space.element != HX_ELEMENT_SPLINE) return 0;
    if (hx_coarse_begin(&draft, &problem->space, hx_mg_params_of(problem), coarsening) < 0) {
        hx_error_clear();
        return 0;
    }
    hx_coarse_draft_size(draft, n_node, n_cell);
    hx_coarse_draft_free(draft);
    return 1;
}

/* Nodes and cells of the first coarse grid. */
static void count_coarse(const hx_problem *problem, const hx_device_ops *device, double *n_node,
                         double *n_cell)
{
    problem = hx_problem_whole(problem);
    const hx_coarse_plan *const plan = problem->coarse_plan;
    const double coarsening = hx_mg_coarsening(problem, device);
    if (!plan || plan->mesh != problem->mesh || plan->coarsening != coarsening) {
        if (count_spline(problem, coarsening, n_node, n_cell)) return;
        hx_coarse_estimate(problem->mesh, hx_mg_params_of(problem), coarsening, n_node, n_cell);
        return;
    }
    *n_node = plan->n_coarse_node;
    *n_cell = plan->n_cell;
}

/* Estimate of how many of n nodes or cells of the first coarse grid a subdomain has. If that grid
 * is distributed: the same fraction as of the elements, plus a layer around them as if they formed
 * a cube. */
static double count_here(const hx_problem *problem, double n_node, double n)
{
    if (!problem->whole || n_node <= HX_COARSE_WHOLE) return n;
    const double own =
        n * (double)problem->mesh->n_elem / (double)hx_mesh_n_elem_all(problem->whole->mesh);
    return fmin(n, own + 8.0 * cbrt(own * own));
}

/* Bytes for the product in single precision. */
static size_t product_bytes(const hx_problem *problem, const hx_device_ops *device,
                            const hx_operator_kind *op_kind)
{
    const hx_mesh *mesh = problem->mesh;
    const hx_operator_kind *const free =
        hx_operator_kind_of(device->matrix_free, problem->components);
    const size_t n_elem = (size_t)mesh->n_elem;
    if (problem->space.element != HX_ELEMENT_LINEAR)
        return 2 * (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    const hx_operator_plan *const plan = hx_operator_plan_of(problem, op_kind);
    if (plan) return plan->single_bytes;
    if (op_kind->single_bytes) return op_kind->single_bytes(mesh);
    if (op_kind->apply_single || !free) return (size_t)op_kind->single_bytes_per_elem * n_elem;
    return free->bytes(mesh, HX_LAYOUT_INTERLEAVED) + (size_t)free->single_bytes_per_elem * n_elem;
}

/* Bytes for moduli and contributions of cells; the latter only if they are stored in any case. */
static double kept_bytes(const hx_problem *problem, const hx_device_ops *device, double n_cell)
{
    const double shares = (double)(HX_MG_SHARE * sizeof(float)) * n_cell;
    const hx_multigrid_ops *const ops = hx_mg_ops_of(problem, device);
    if (problem->space.element != HX_ELEMENT_LINEAR || !ops || !ops->transfer->mesh_update)
        return 0.0;
    return 4.0 * (double)problem->mesh->n_elem + 4.0 * n_cell +
           (shares <= hx_mg_params_of(problem)->update.stored_bytes ? shares : 0.0);
}

size_t hx_mg_bytes(const hx_problem *problem, const hx_device_ops *device,
                   const hx_operator_kind *op_kind)
{
    const hx_mesh *mesh = problem->mesh;
    const hx_multigrid_ops *const ops = hx_mg_ops_of(problem, device);
    const double n_point = (double)problem->space.n_point;
    const double dof = hx_problem_is_heat(problem) ? 1.0 : HX_MG_DOF;
    double n_whole, n_cell;
    count_coarse(problem, device, &n_whole, &n_cell);
    const double n_node = count_here(problem, n_whole, n_whole);
    n_cell = count_here(problem, n_whole, n_cell);
    const double vectors = 5.0 * 4.0 * problem->components * n_point;
    const double lists =
        17.0 * n_point + 4.0 * (double)mesh->n_elem + (56.0 + 32.0 * dof) * n_cell + 32.0 * n_node;
    const double levels =
        8.0 / 7.0 * n_node * (27.0 * 4.0 * dof * dof + 24.0 * dof + 62.0 * 4.0 + 1.0);
    const double prepared = ops && ops->transfer->mesh_prepare
                                ? ops->transfer->prepared_bytes(mesh->n_elem, n_cell)
                                : 0.0;
    const double factors =
        ops ? hx_mg_direct_bytes(ops, hx_mg_params_of(problem), (int)dof, n_whole, mesh->n_elem)
            : 0.0;
    const double blocks = hx_mg_blocks_bytes(problem, device) +
                          hx_mg_lines_bytes(problem, device, op_kind) +
                          hx_mg_level_lines_bytes(problem, device, 8.0 / 7.0 * n_node) +
                          hx_mg_fused_bytes(ops, 8.0 / 7.0 * n_whole);
    const double kept = kept_bytes(problem, device, n_cell);
    return (size_t)(vectors + lists + levels + prepared + factors + blocks + kept) +
           product_bytes(problem, device, op_kind);
}
