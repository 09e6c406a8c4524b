#include "operator.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../linalg/vector_ops.h"
#include "../matrix/matrix.h"
#include "element_ops.h"
#include "interface_ops.h"
#include "operator_springs.h"
#include "plan_operator.h"
#include "product.h"
#include "rigid_ops.h"

const char *hx_layout_name(hx_layout layout)
{
    return layout == HX_LAYOUT_ROWMAJOR ? "rowmajor" : "interleaved";
}

hx_layout hx_layout_first(const hx_operator_kind *op_kind)
{
    int layout = 0;
    while (layout + 1 < HX_N_LAYOUT && !(op_kind->layouts & HX_LAYOUT_BIT(layout))) layout++;
    return (hx_layout)layout;
}

/* begin[part] := index of the first fixed degree of freedom in each part of the points. Returns the
 * total number. */
static int64_t count_fixed(const hx_problem *problem, int64_t begin[HX_N_PART + 1])
{
    const int64_t n_point = problem->space.n_point;
    begin[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_point, part + 1);
        int64_t n = 0;
        for (int64_t p = hx_part_begin(n_point, part); p < end; p++)
            for (int i = 0; i < problem->components; i++) n += problem->supports.fixed[p] >> i & 1;
        begin[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) begin[part + 1] += begin[part];
    return begin[HX_N_PART];
}

/* The device memory without the terms that the problem adds. */
static void add_model(hx_account *account, const hx_mesh *mesh, int has_lists)
{
    hx_device_mesh_account(account, mesh, has_lists);
    hx_account_add(account, "modulus", (size_t)mesh->n_elem * sizeof(double));
}

/* Quadratic points have their own lists, but springs and films use the lists of the mesh. */
static int needs_lists(const hx_problem *problem, const hx_operator_kind *op_kind)
{
    return hx_operator_kind_needs_lists(op_kind) || hx_problem_loads_vary(problem) ||
           problem->space.element != HX_ELEMENT_LINEAR;
}

size_t hx_operator_bytes(const hx_mesh *mesh, const hx_operator_kind *op_kind, hx_layout layout)
{
    hx_account account = {0};
    add_model(&account, mesh, hx_operator_kind_needs_lists(op_kind));
    return hx_account_sum(&account) + op_kind->bytes(mesh, layout);
}

static size_t factor_bytes(const hx_problem *problem)
{
    return (size_t)problem->materials.n * sizeof(double);
}

static size_t film_bytes(const hx_films *films)
{
    if (films->n == 0) return 0;
    return (size_t)films->n * (sizeof(int32_t) + sizeof(int64_t)) + sizeof(int64_t) +
           (size_t)films->ptr[films->n] * (sizeof(int32_t) + sizeof(double));
}

/* Returns the kind whose product is exact if that of `op_kind` is rounded; for linear elements. */
static const hx_operator_kind *exact_of(const hx_problem *problem, const hx_operator_kind *op_kind)
{
    if (problem->space.element != HX_ELEMENT_LINEAR) return NULL;
    return hx_operator_kind_of(op_kind->exact, problem->components);
}

void hx_operator_account(hx_account *account, const hx_problem *problem,
                         const hx_operator_kind *op_kind, hx_layout layout)
{
    const hx_mesh *mesh = problem->mesh;
    int64_t begin[HX_N_PART + 1];
    size_t supports = (size_t)count_fixed(problem, begin) * sizeof(int64_t);
    if (problem->rigid.n > 0)
        supports += (size_t)problem->rigid.n_node * sizeof(int32_t) + 6 * sizeof(double);
    supports += (size_t)problem->springs.n * (sizeof(int64_t) + sizeof(double));
    if (problem->supports.prescribed)
        supports += (size_t)problem->space.n_point * (size_t)problem->components * sizeof(double);
    supports += film_bytes(&problem->films);
    add_model(account, mesh, needs_lists(problem, op_kind));
    if (problem->materials.n)
        hx_account_add(account, "materials", (size_t)mesh->n_elem + 2 * factor_bytes(problem));
    hx_account_add(account, "supports", supports);
    if (problem->space.element == HX_ELEMENT_LINEAR) {
        const hx_operator_plan *const plan = hx_operator_plan_of(problem, op_kind);
        hx_account_add(account, "operator", plan ? plan->bytes : op_kind->bytes(mesh, layout));
        const hx_operator_kind *const exact = exact_of(problem, op_kind);
        if (exact)
            hx_account_add(account, "exact product", exact->bytes(mesh, hx_layout_first(exact)));
    } else {
        hx_account_add(account, "points", hx_device_space_bytes(&problem->space));
        hx_account_add(account, "operator",
                       op_kind->space_bytes ? op_kind->space_bytes(&problem->space, layout) : 0);
    }
}

static int check_memory(const hx_operator *op, const hx_mesh *mesh, size_t extra_bytes)
{
    /* device memory of the mesh that another operator or a filter has already allocated */
    hx_account shared = {0};
    const hx_device_mesh *found = hx_device_mesh_find(op->dev, mesh);
    if (found)
        hx_device_mesh_account(&shared, mesh,
                               found->d_node_elem && needs_lists(op->problem, op->op_kind));
    const size_t wanted = op->device_bytes - hx_account_sum(&shared) + extra_bytes;
    size_t n_free, n_total;
    char want_text[32], free_text[32];
    HX_TRY(op->dev->ops->memory(op->dev, &n_free, &n_total));
    if (n_free == 0 || wanted <= n_free) return HX_OK; /* n_free = 0: unknown */
    return HX_RAISE(
        HX_EENV,
        "operator '%s' and the solver's vectors need %s on device '%s', but only %s is free: take "
        "a smaller mesh or an operator that stores less (`hextop list`)",
        op->op_kind->name, hx_format_bytes((double)wanted, want_text, sizeof want_text),
        op->dev->ops->name, hx_format_bytes((double)n_free, free_text, sizeof free_text));
}

/* Uploads the fixed degrees of freedom and the prescribed displacements. */
static int put_supports(hx_operator *op, const hx_problem *problem)
{
    int64_t *fixed = NULL, begin[HX_N_PART + 1];
    int rc;
    op->n_fixed = count_fixed(problem, begin);
    HX_TRY_FAIL(hx_alloc_raw(&fixed, (size_t)op->n_fixed, sizeof *fixed, "fixed dofs"));
    const int64_t n_point = problem->space.n_point;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_point, part + 1);
        int64_t n = begin[part];
        for (int64_t p = hx_part_begin(n_point, part); p < end; p++)
            for (int i = 0; problem->supports.fixed[p] && i < problem->components; i++)
                if (problem->supports.fixed[p] >> i & 1) fixed[n++] = problem->components * p + i;
    }
    HX_TRY_FAIL(hx_device_put(op->dev, &op->d_fixed, fixed, (size_t)op->n_fixed * sizeof *fixed));
    if (problem->supports.prescribed)
        HX_TRY_FAIL(hx_device_put(op->dev, &op->d_prescribed, problem->supports.prescribed,
                                  (size_t)op->linear.n * sizeof(double)));
    op->linear.d_prescribed = op->exact_linear.d_prescribed = op->d_prescribed;
    rc = HX_OK;
fail:
    free(fixed);
    return rc;
}

static int put_materials(hx_operator *op, const hx_problem *problem)
{
    const hx_materials *const from = &problem->materials;
    const size_t bytes = factor_bytes(problem);
    if (from->n == 0) return HX_OK;
    HX_TRY(hx_device_put(op->dev, &op->d_material, from->number, (size_t)problem->mesh->n_elem));
    HX_TRY(hx_device_put(op->dev, &op->d_stiffness_factor, from->stiffness, bytes));
    HX_TRY(hx_device_put(op->dev, &op->d_mass_factor, from->mass, bytes));
    op->model.materials =
        (hx_device_materials){op->d_material, op->d_stiffness_factor, op->d_mass_factor};
    return HX_OK;
}

static int put_rigid_sets(hx_operator *op, const hx_problem *problem)
{
    op->n_rigid = problem->rigid.n;
    if (problem->rigid.n == 0) return HX_OK;
    if (!op->dev->ops->rigid)
        return HX_RAISE(
            HX_EINPUT,
            "device '%s' does not support rigid couplings; use coupling = \"distributing\"",
            op->dev->ops->name);
    HX_TRY(op->dev->ops->alloc(op->dev, 6 * sizeof(double), &op->d_motion));
    return hx_device_put(op->dev, &op->d_rigid_node, problem->rigid.node,
                         (size_t)problem->rigid.n_node * sizeof(int32_t));
}

static int apply_operator(const hx_linear *a, const double *d_x, double *d_y)
{
    return hx_operator_apply(a->context, d_x, d_y);
}

static int apply_all(const hx_linear *a, const double *d_x, double *d_y)
{
    return hx_operator_apply_unmasked(a->context, d_x, d_y);
}

static int apply_dot(const hx_linear *a, const double *d_x, double *d_y, double *d_sum)
{
    return hx_operator_apply_dot(a->context, d_x, d_y, d_sum);
}

static int apply_single(const hx_linear *a, const float *d_x, float *d_y)
{
    return hx_operator_apply_single(a->context, d_x, d_y);
}

static int prepare_single(const hx_linear *a)
{
    const hx_operator *op = a->context;
    return op->op_kind->prepare_single(op->state);
}

static int apply_exact_all(const hx_linear *a, const double *d_x, double *d_y)
{
    return hx_operator_apply_exact(a->context, d_x, d_y);
}

static int apply_exact(const hx_linear *a, const double *d_x, double *d_y)
{
    HX_TRY(hx_operator_apply_exact(a->context, d_x, d_y));
    return hx_operator_restrict(a->context, d_y);
}

static int prepare_exact(const hx_linear *a)
{
    return hx_operator_prepare_exact(a->context);
}

static int constrain(const hx_linear *a, double *d_y)
{
    return hx_operator_restrict(a->context, d_y);
}

static int constrain_single(const hx_linear *a, float *d_y)
{
    const hx_operator *op = a->context;
    return op->dev->ops->vector->zero_entries_single(op->dev, op->n_fixed, op->d_fixed, d_y);
}

static int project_operator(const hx_linear *a, double *d_z)
{
    return hx_operator_project(a->context, d_z);
}

static int operator_diagonal(const hx_linear *a, double *d_diagonal)
{
    return hx_operator_diagonal(a->context, d_diagonal);
}

static int block_diagonal(const hx_linear *a, double *d_block)
{
    return hx_operator_block_diagonal(a->context, d_block);
}

/* Fills `linear` with the functions that the operator kind, the springs and the rigid sets
 * allow. */
static void set_linear(hx_operator *op, const hx_problem *problem)
{
    const hx_operator_kind *op_kind = op->op_kind;
    const hx_problem *const whole = hx_problem_whole(problem);
    /* then sums must not depend on whether it divides */
    const int may_divide = op_kind->apply_part && problem->whole;
    /* 1: no springs or films are added */
    const int is_all = whole->springs.n == 0 && whole->films.n == 0;
    op->linear = (hx_linear){
        .dev = op->dev,
        .name = op_kind->name,
        .n = problem->components * problem->space.n_point,
        .components = problem->components,
        .context = op,
        .apply = apply_operator,
        .diagonal = operator_diagonal,
        .apply_all = apply_all,
        .constrain = constrain,
        .constrain_single = constrain_single,
        .project = problem->rigid.n > 0 ? project_operator : NULL,
        .apply_dot = op_kind->apply_dot && is_all && !may_divide ? apply_dot : NULL,
        .apply_single = op_kind->apply_single ? apply_single : NULL,
        .prepare_single = op_kind->prepare_single ? prepare_single : NULL,
        .block_diagonal = problem->components == 3 ? block_diagonal : NULL,
    };
    if (!op->exact) return;
    op->exact_linear = op->linear;
    op->exact_linear.name = op->exact->name;
    op->exact_linear.apply = apply_exact;
    op->exact_linear.apply_all = apply_exact_all;
    op->exact_linear.apply_dot = NULL;
    op->exact_linear.apply_single = NULL;
    op->exact_linear.prepare_single = NULL;
    op->linear.exact = &op->exact_linear;
    op->linear.prepare_exact = prepare_exact;
}

static int check_spline(const hx_operator_kind *op_kind, const hx_problem *problem,
                        const hx_device_ops *ops)
{
    if (!ops->matrix || !ops->matrix->splines)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' does not support splines: use device = \"cpu\", or element = "
                        "\"linear\" or \"quadratic\" on the same file",
                        ops->name);
    if (hx_problem_is_heat(problem) && !ops->conduction->splines)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' does not support splines with physics = \"heat\": use device "
                        "= \"cpu\", or element = \"linear\" on the same file",
                        ops->name);
    if (op_kind->space_bytes) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "operator '%s' does not support splines: use one that stores a matrix (bsr, "
                    "bsrsym, csr), or auto",
                    op_kind->name);
}

/* HX_EINPUT if the operator kind supports linear elements only. */
static int check_element(const hx_operator *op, const hx_problem *problem)
{
    const hx_device_ops *const ops = op->dev->ops;
    if (problem->space.element == HX_ELEMENT_LINEAR) return HX_OK;
    if (problem->space.element == HX_ELEMENT_SPLINE) return check_spline(op->op_kind, problem, ops);
    if (hx_problem_is_heat(problem) && !ops->conduction->quadratic)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' does not support quadratic elements with physics = \"heat\": "
                        "use device = \"cpu\", or element = \"linear\"",
                        ops->name);
    if (op->op_kind->space_bytes) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "operator '%s' does not support quadratic elements: use one that stores a "
                    "matrix (bsr, bsrsym, csr), or auto",
                    op->op_kind->name);
}

int hx_operator_create(hx_operator *op, hx_device *dev, const hx_operator_kind *op_kind,
                       hx_layout layout, const hx_problem *problem, size_t extra_bytes)
{
    const hx_mesh *mesh = problem->mesh;
    int rc;
    memset(op, 0, sizeof *op);
    op->dev = dev;
    op->problem = problem;
    op->op_kind = op_kind;
    op->layout = layout;
    op->exact = exact_of(problem, op_kind);
    if (!(op_kind->layouts & HX_LAYOUT_BIT(layout)))
        return HX_RAISE(HX_EINPUT, "operator '%s' on device '%s' does not support layout '%s'",
                        op_kind->name, op_kind->device, hx_layout_name(layout));
    if (hx_problem_is_heat(problem) && !dev->ops->conduction)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support physics = \"heat\"",
                        dev->ops->name);
    HX_TRY(check_element(op, problem));
    set_linear(op, problem);
    hx_operator_account(&op->account, problem, op_kind, layout);
    op->device_bytes = hx_account_sum(&op->account);
    HX_TRY(check_memory(op, mesh, extra_bytes));

    HX_TRY_FAIL(hx_device_mesh_take(&op->mesh, dev, mesh));
    if (needs_lists(problem, op_kind)) HX_TRY_FAIL(hx_device_mesh_need_lists(dev, op->mesh));
    op->model = (hx_device_model){
        .n_node = mesh->n_node,
        .n_elem = mesh->n_elem,
        .has_collapsed = op->mesh->has_collapsed,
        .lambda = problem->lambda,
        .mu = problem->mu,
        .d_xyz = op->mesh->d_xyz,
        .d_conn = op->mesh->d_conn,
        .d_node_elem_ptr = op->mesh->d_node_elem_ptr,
        .d_node_elem = op->mesh->d_node_elem,
    };
    HX_TRY_FAIL(hx_device_space_create(&op->space, dev, &problem->space));
    op->model.n_point = problem->space.n_point;
    if (problem->space.element != HX_ELEMENT_LINEAR) {
        op->model.d_xyz = op->space.d_xyz;
        op->model.points = &op->space.points;
        op->model.rule = problem->space.rule;
    }
    HX_TRY_FAIL(dev->ops->alloc(dev, (size_t)mesh->n_elem * sizeof(double), &op->model.d_modulus));
    op->model.n_interface = hx_interface_points(dev, &op->model.interface);
    HX_TRY_FAIL(put_materials(op, problem));
    HX_TRY_FAIL(put_supports(op, problem));
    HX_TRY_FAIL(hx_operator_put_springs(op, problem));
    HX_TRY_FAIL(put_rigid_sets(op, problem));
    const hx_operator_plan *const plan = hx_operator_plan_of(problem, op_kind);
    op->model.lists = plan ? plan->lists : NULL;
    rc = op_kind->setup(&op->state, dev, &op->model, mesh, layout);
    op->model.lists = NULL;
    HX_TRY_FAIL(rc);
    return HX_OK;
fail:
    hx_operator_free(op);
    return rc;
}

int hx_operator_set_modulus(hx_operator *op, const double *modulus)
{
    HX_TRY(op->dev->ops->upload(op->dev, op->model.d_modulus, modulus,
                                (size_t)op->model.n_elem * sizeof *modulus));
    return hx_operator_update(op);
}

int hx_operator_update(hx_operator *op)
{
    if (op->op_kind->update) HX_TRY(op->op_kind->update(op->state));
    if (op->exact_state && op->exact->update) HX_TRY(op->exact->update(op->exact_state));
    return HX_OK;
}

int hx_operator_project(const hx_operator *op, double *d_y)
{
    for (int i = 0; i < op->n_rigid; i++)
        HX_TRY(op->dev->ops->rigid->project(op->dev, &op->problem->rigid.set[i], op->d_rigid_node,
                                            op->model.d_xyz, op->d_motion, d_y));
    return HX_OK;
}

int hx_operator_restrict(const hx_operator *op, double *d_y)
{
    HX_TRY(op->dev->ops->vector->zero_entries(op->dev, op->n_fixed, op->d_fixed, d_y));
    return hx_operator_project(op, d_y);
}

int hx_operator_apply(const hx_operator *op, const double *d_x, double *d_y)
{
    HX_TRY(hx_operator_apply_unmasked(op, d_x, d_y));
    return hx_operator_restrict(op, d_y);
}

int hx_operator_apply_single(const hx_operator *op, const float *d_x, float *d_y)
{
    HX_TRY(hx_operator_multiply_single(op, op->op_kind, op->state, d_x, d_y));
    return op->dev->ops->vector->zero_entries_single(op->dev, op->n_fixed, op->d_fixed, d_y);
}

int hx_operator_apply_dot(const hx_operator *op, const double *d_x, double *d_y, double *d_sum)
{
    HX_TRY(op->op_kind->apply_dot(op->state, d_x, d_y, d_sum));
    HX_TRY(hx_interface_add(op->dev, op->linear.components, d_y));
    return hx_operator_restrict(op, d_y);
}

int hx_operator_apply_unmasked(const hx_operator *op, const double *d_x, double *d_y)
{
    return hx_operator_multiply(op, op->op_kind, op->state, d_x, d_y);
}

int hx_operator_prepare_exact(hx_operator *op)
{
    if (!op->exact) return HX_OK;
    if (!op->exact_state)
        HX_TRY(op->exact->setup(&op->exact_state, op->dev, &op->model, op->problem->mesh,
                                hx_layout_first(op->exact)));
    return HX_OK;
}

int hx_operator_apply_exact(const hx_operator *op, const double *d_x, double *d_y)
{
    if (!op->exact_state) return hx_operator_apply_unmasked(op, d_x, d_y);
    return hx_operator_multiply(op, op->exact, op->exact_state, d_x, d_y);
}

int hx_operator_diagonal(const hx_operator *op, double *d_diag)
{
    if (op->op_kind->diagonal)
        HX_TRY(op->op_kind->diagonal(op->state, d_diag));
    else if (op->linear.components == 1)
        HX_TRY(op->dev->ops->conduction->diagonal(op->dev, &op->model, d_diag));
    else
        HX_TRY(op->dev->ops->element->diagonal(op->dev, &op->model, d_diag));
    HX_TRY(hx_operator_add_springs(op, NULL, d_diag));
    HX_TRY(hx_interface_add(op->dev, op->linear.components, d_diag));
    return op->dev->ops->vector->zero_entries(op->dev, op->n_fixed, op->d_fixed, d_diag);
}

int hx_operator_block_diagonal(const hx_operator *op, double *d_block)
{
    hx_device_model model = op->model;
    /* only the first call does anything */
    HX_TRY(hx_device_mesh_need_lists(op->dev, op->mesh));
    model.d_node_elem_ptr = op->mesh->d_node_elem_ptr;
    model.d_node_elem = op->mesh->d_node_elem;
    HX_TRY(op->dev->ops->element->block_diagonal(op->dev, &model, d_block));
    if (op->n_spring > 0)
        HX_TRY(op->dev->ops->element->block_add(op->dev, op->n_spring, op->d_spring_dof,
                                                op->d_spring, d_block));
    HX_TRY(hx_interface_add(op->dev, 6, d_block));
    return op->dev->ops->element->block_fix(op->dev, op->n_fixed, op->d_fixed, d_block);
}

int hx_operator_energy(const hx_operator *op, const double *d_u, double *d_energy)
{
    if (op->linear.components == 1)
        return op->dev->ops->conduction->energy(op->dev, &op->model, d_u, d_energy);
    return op->dev->ops->element->energy(op->dev, &op->model, d_u, d_energy);
}

int hx_operator_mutual(const hx_operator *op, const double *d_u, const double *d_v,
                       double *d_mutual)
{
    if (op->linear.components == 1)
        return op->dev->ops->conduction->mutual(op->dev, &op->model, d_u, d_v, d_mutual);
    return op->dev->ops->element->mutual(op->dev, &op->model, d_u, d_v, d_mutual);
}

void hx_operator_free(hx_operator *op)
{
    hx_device *dev = op->dev;
    if (!dev) return;
    if (op->state) op->op_kind->teardown(op->state);
    if (op->exact_state) op->exact->teardown(op->exact_state);
    hx_device_mesh_drop(dev, op->mesh);
    hx_device_space_free(&op->space, dev);
    dev->ops->release(dev, op->model.d_modulus);
    dev->ops->release(dev, op->d_material);
    dev->ops->release(dev, op->d_stiffness_factor);
    dev->ops->release(dev, op->d_mass_factor);
    dev->ops->release(dev, op->d_fixed);
    dev->ops->release(dev, op->d_prescribed);
    dev->ops->release(dev, op->d_rigid_node);
    dev->ops->release(dev, op->d_motion);
    dev->ops->release(dev, op->d_spring_dof);
    dev->ops->release(dev, op->d_spring);
    dev->ops->release(dev, op->films.d_node);
    dev->ops->release(dev, op->films.d_ptr);
    dev->ops->release(dev, op->films.d_col);
    dev->ops->release(dev, op->films.d_value);
    memset(op, 0, sizeof *op);
}
