/* Memory of a session, on the device item by item. */
#include "core/design/groups_dist.h"
#include "session_internal.h"

size_t hx_session_mesh_bytes(const hx_session *s)
{
    return hx_mesh_bytes(&s->mesh) + hx_conditions_bytes(&s->conditions) +
           hx_space_bytes(&s->space) + hx_spline_bytes(&s->spline);
}

/* Makes the voxels while the driver of a device is starting. Returns 0 if memory is missing or no
 * driver is starting. */
static int make_voxels(hx_session *s)
{
    hx_voxels_free(&s->voxels);
    if (!hx_device_start_is_running(&s->device_start)) return 0;
    if (hx_voxels_create(&s->voxels, &s->mesh, s->filter_radius) == HX_OK) return 1;
    hx_error_clear();
    return 0;
}

void hx_session_count_voxels(hx_session *s)
{
    const double radius = s->filter_radius;
    if (!hx_filter_find(s->cfg.optimization.filter.kind)->sums_pairs)
        s->voxel_bytes = 0;
    else if (s->dist.comm)
        s->voxel_bytes = hx_voxels_bytes_around(&s->dist.subdomain.mesh, &s->mesh, radius);
    else if (make_voxels(s))
        s->voxel_bytes = hx_voxels_taken(&s->voxels);
    else
        s->voxel_bytes = hx_voxels_bytes(&s->mesh, radius);
}

size_t hx_session_filter_bytes(const hx_session *s)
{
    const hx_filter_params params = hx_session_filter_params(s);
    const hx_filter_kind *const kind = hx_filter_find(s->cfg.optimization.filter.kind);
    const int n_sum = hx_filter_kind_sums(kind, &params);
    const size_t halo =
        s->dist.comm && n_sum > 0 ? hx_halo_bytes(&s->dist, params.radius, n_sum) : 0;
    const size_t swept =
        s->dist.comm && params.sweep
            ? hx_halo_all_bytes(s->sweep.n, s->dist.subdomain.mesh.n_elem, s->dist.comm->size, 2)
            : 0;
    return hx_filter_bytes(kind, hx_session_solved(s), &params) + halo + swept;
}

static size_t groups_bytes(const hx_session *s)
{
    const hx_comm *const comm = s->dist.comm;
    if (!comm) return hx_groups_bytes(&s->groups);
    return hx_groups_rank_bytes(&s->groups, &s->dist.subdomain, comm->size, comm->rank);
}

static hx_optimizer_params optimizer_params(const hx_session *s)
{
    return (hx_optimizer_params){.objective = hx_session_objective(s),
                                 .objective_params = hx_session_objective_params(s),
                                 .n_constraint = s->limits.n,
                                 .constraint = s->limits.spec,
                                 .update = hx_session_update(s),
                                 .keep_within = s->limits.n > 0 ? HX_LIMIT_MET : 0.0};
}

size_t hx_session_optimizer_bytes(const hx_session *s)
{
    const hx_filter_params params = hx_session_filter_params(s);
    const hx_optimizer_params optimizer = optimizer_params(s);
    return hx_optimizer_bytes(hx_session_solved(s), &optimizer,
                              hx_filter_find(s->cfg.optimization.filter.kind), &params,
                              s->solver.precond) +
           groups_bytes(s);
}

void hx_session_count_loads(hx_session *s)
{
    const hx_problem *const solved = hx_session_solved(s);
    if (s->loads_of == solved) return;
    s->load_bytes = hx_analysis_load_bytes(solved, s->cfg.solver.precision);
    s->loads_of = solved;
}

void hx_session_design_account(const hx_session *s, hx_account *account)
{
    const hx_problem *const solved = hx_session_solved(s);
    const size_t vector =
        (size_t)solved->components * (size_t)solved->space.n_point * sizeof(double);
    const size_t n_case = (size_t)s->problem.cases.n;
    const hx_optimizer_params optimizer = optimizer_params(s);
    const size_t objective = hx_optimizer_response_bytes(solved, &optimizer);
    const size_t loads = s->loads_of == solved
                             ? s->load_bytes
                             : hx_analysis_load_bytes(solved, s->cfg.solver.precision);
    if (s->dist.comm) hx_account_add(account, "exchanges", hx_dist_bytes(&s->dist));
    hx_account_add(account, "displacements",
                   n_case * vector + (s->cfg.solver.warm_start
                                          ? hx_analysis_follow_bytes(solved, s->problem.cases.n)
                                          : 0));
    hx_account_add(account, "loads", loads);
    if (objective > 0) hx_account_add(account, s->limits.n > 0 ? "limits" : "objective", objective);
    hx_account_add(account, "densities", hx_session_optimizer_bytes(s));
    hx_account_add(account, "filter", hx_session_filter_bytes(s));
}

void hx_session_device_account(const hx_session *s, hx_account *account)
{
    const hx_problem *const solved = hx_session_solved(s);
    hx_operator_account(account, solved, s->solver.op_kind, s->solver.layout);
    hx_choose_account(account, s->device.ops, solved, s->solver.op_kind, s->solver.precond);
    hx_session_design_account(s, account);
}

size_t hx_session_device_bytes(const hx_session *s)
{
    hx_account account = {0};
    hx_session_device_account(s, &account);
    return hx_account_sum(&account);
}

/* Number of load cases with adjoint displacements, summed over objective and limits. */
static size_t count_adjoint(const hx_session *s)
{
    const size_t n_case = (size_t)s->problem.cases.n;
    size_t n = 0;
    if (hx_session_objective(s)->adjoint_load)
        n = s->cfg.optimization.objective.load_case > 0 ? 1 : n_case;
    for (int i = 0; i < s->limits.n; i++)
        if (s->limits.spec[i].kind->adjoint_load)
            n += s->limits.spec[i].params.load_case >= 0 ? 1 : n_case;
    return n;
}

size_t hx_session_checkpoint_bytes(const hx_session *s)
{
    const hx_problem *problem = &s->problem;
    const size_t n_dof = (size_t)problem->components * (size_t)hx_session_n_point(s);
    const size_t n_u = s->cfg.solver.warm_start ? (size_t)problem->cases.n : 0;
    const size_t n_adjoint = n_u > 0 ? count_adjoint(s) : 0;
    const size_t n_analysis = s->design.analyses_all ? 1 + HX_OPTIMIZER_SIDES : 1;
    const hx_optimizer_params params = optimizer_params(s);
    const size_t n_design = 1 + (size_t)hx_optimizer_count_kept(&params);
    return n_design * (size_t)hx_mesh_n_elem_all(&s->mesh) * sizeof(double) +
           n_dof * (n_u * (n_analysis * sizeof(double) + sizeof(float)) +
                    n_analysis * n_adjoint * sizeof(double) + sizeof(float));
}
