/* The preconditioner `multigrid`: one symmetric multigrid cycle in single precision. The smoother
 * on the mesh is matrix-free. The coarse levels are Cartesian grids laid over the mesh (coarse.h),
 * with Galerkin matrices of the current modulus, which keeps the iteration count low at any
 * contrast. A new design changes only values, not the structure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "coarse_springs.h"
#include "multigrid_internal.h"
#include "plan_coarse.h"

#define LEAST_BYTES ((HX_COARSE_LEVELS + 1) * sizeof(double))

static int put_mesh(hx_multigrid *mg, const hx_operator *op, const hx_coarse *coarse,
                    const uint8_t *held)
{
    hx_device *dev = mg->dev;
    hx_mg_mesh *m = &mg->mesh;
    const size_t n_cell = (size_t)coarse->n_cell, n_elem = (size_t)op->model.n_elem,
                 n_node = (size_t)op->model.n_point, word = sizeof(int32_t);
    m->model = &op->model;
    m->n_cell = coarse->n_cell;
    m->unit = coarse->unit;
    memcpy(m->origin, coarse->origin, sizeof m->origin);
    memcpy(m->size, coarse->size, sizeof m->size);
    memcpy(m->colour_at, coarse->colour_at, sizeof m->colour_at);
    HX_TRY(hx_device_put(dev, &m->d_cell, coarse->cell, n_cell * 3 * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_corner, coarse->cell_corner, n_cell * 8 * word));
    HX_TRY(hx_device_put(dev, &m->d_node_cell, coarse->node_cell,
                         8 * (size_t)coarse->level[0].n_node * word));
    HX_TRY(dev->ops->alloc(dev, n_cell * 8 * (size_t)mg->dof * sizeof(float), &m->d_partial));
    HX_TRY(hx_device_put(dev, &m->d_cell_elem, coarse->cell_elem, n_elem * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_elem_at, coarse->cell_elem_at, (n_cell + 1) * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_node, coarse->cell_node, n_node * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_node_at, coarse->cell_node_at, (n_cell + 1) * word));
    HX_TRY(hx_device_put(dev, &m->d_coloured, coarse->coloured, n_cell * word));
    HX_TRY(hx_device_put(dev, &m->d_position, coarse->position, n_node * 3 * sizeof(float)));
    HX_TRY(hx_device_put(dev, &m->d_fixed, held, n_node));
    const hx_mg_transfer_ops *const transfer = mg->ops->transfer;
    return transfer->mesh_prepare && !mg->rows ? transfer->mesh_prepare(dev, m) : HX_OK;
}

/* Allocates what updates of the first coarse matrix keep from design to design. */
static int put_kept(hx_multigrid *mg)
{
    hx_device *const dev = mg->dev;
    hx_mg_mesh *const m = &mg->mesh;
    const size_t n_cell = (size_t)m->n_cell, n_elem = (size_t)m->model->n_elem;
    if (mg->rows || !mg->ops->transfer->mesh_update) return HX_OK;
    HX_TRY(dev->ops->alloc(dev, n_elem * sizeof *m->d_kept, &m->d_kept));
    HX_TRY(dev->ops->zero(dev, m->d_kept, n_elem * sizeof *m->d_kept));
    return dev->ops->alloc(dev, (n_cell + 2) * sizeof *m->d_changed, &m->d_changed);
}

/* The stored contributions of cells are optional. Allocates them before the first update, when
 * everything else that a run needs has been allocated. Without them, all cells are computed in
 * each update. */
static int put_local(hx_multigrid *mg)
{
    hx_device *const dev = mg->dev;
    hx_mg_mesh *const m = &mg->mesh;
    const hx_mg_update_params *const update = &mg->params->update;
    const size_t bytes = (size_t)m->n_cell * HX_MG_SHARE * sizeof *m->d_share;
    size_t n_free, n_total;
    if (mg->has_looked) return HX_OK;
    mg->has_looked = 1;
    HX_TRY(dev->ops->memory(dev, &n_free, &n_total));
    if ((double)bytes > update->stored_bytes &&
        (double)n_free < (double)bytes + update->stored_room * (double)n_total)
        return HX_OK;
    if (dev->ops->alloc(dev, bytes, &m->d_share) < 0) { /* optional: continue without them */
        m->d_share = NULL;
        hx_error_clear();
    }
    return HX_OK;
}

static int put_level(hx_multigrid *mg, const hx_coarse *coarse, int l, int is_smoothed)
{
    const hx_coarse_level *from = &coarse->level[l];
    hx_mg_level *to = &mg->level[l];
    hx_device *dev = mg->dev;
    const hx_device_ops *ops = dev->ops;
    const size_t n = (size_t)from->n_node, word = sizeof(int32_t), dof = (size_t)mg->dof;
    const size_t vector = dof * n * sizeof(float);
    float **const vectors[] = {&to->d_m, &to->d_b, &to->d_x, &to->d_y, &to->d_d, &to->d_v};
    to->n_node = from->n_node;
    to->n_own = from->n_own;
    to->local = from->local;
    for (int i = 0; i < 3; i++) to->step[i] = (float)from->step[i];
    memcpy(to->mode, from->mode, sizeof to->mode);
    HX_TRY(hx_device_put(dev, &to->d_neighbour, from->neighbour, 27 * n * word));
    if (from->child) HX_TRY(hx_device_put(dev, &to->d_child, from->child, 27 * n * word));
    if (from->parent) HX_TRY(hx_device_put(dev, &to->d_parent, from->parent, 8 * n * word));
    if (from->divided) HX_TRY(hx_device_put(dev, &to->d_divided, from->divided, n));
    HX_TRY(ops->alloc(dev, 27 * dof * dof * n * sizeof(float), &to->d_matrix));
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        HX_TRY(ops->alloc(dev, vector, vectors[i]));
    HX_TRY(ops->alloc(dev, sizeof *to->d_smoother, &to->d_smoother));
    if (is_smoothed) HX_TRY(hx_mg_level_lines_create(mg, from, to));
    return ops->zero(dev, to->d_smoother, sizeof *to->d_smoother);
}

static int put_levels(hx_multigrid *mg, const hx_operator *op, const hx_coarse *coarse,
                      const uint8_t *held)
{
    int n_level;
    HX_TRY(put_mesh(mg, op, coarse, held));
    HX_TRY(put_kept(mg));
    HX_TRY(hx_mg_direct_choose(mg, coarse, hx_mesh_n_elem_all(hx_problem_whole(op->problem)->mesh),
                               &n_level));
    for (int l = 0; l < n_level; l++) {
        mg->n_level = l + 1; /* so that `destroy_multigrid` frees this level */
        HX_TRY(put_level(mg, coarse, l, l + 1 < n_level));
    }
    for (int l = 1; l < n_level; l++)
        mg->level[l].scale = (float)(1.0 / hx_mg_smoothing_of(mg, l - 1).weight);
    mg->added = hx_mg_direct_added(mg);
    return hx_mg_fused_create(mg, coarse);
}

static int put_springs(hx_multigrid *mg, const hx_problem *problem, const hx_coarse *coarse,
                       const uint8_t *held)
{
    hx_coarse_springs springs;
    int rc;
    HX_TRY(hx_problem_is_heat(problem) ? hx_coarse_films_create(&springs, coarse, problem, held)
                                       : hx_coarse_springs_create(&springs, coarse, problem, held));
    /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): at most 36 */
    const size_t n = (size_t)springs.n, block = (size_t)(mg->dof * mg->dof);
    mg->n_spring_block = springs.n;
    if (n > 0)
        HX_TRY_FAIL(hx_device_put(mg->dev, &mg->d_spring_at, springs.at, n * sizeof *springs.at));
    if (n > 0)
        HX_TRY_FAIL(hx_device_put(mg->dev, &mg->d_spring_block, springs.block,
                                  n * block * sizeof *springs.block));
    rc = HX_OK;
fail:
    hx_coarse_springs_free(&springs);
    return rc;
}

static int alloc_vectors(hx_multigrid *mg, int64_t n_dof)
{
    const hx_device_ops *ops = mg->dev->ops;
    const size_t bytes = (size_t)((n_dof + 63) / 64 * 64) * sizeof(float);
    HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_m));
    /* also used for the diagonal, in double precision */
    HX_TRY(ops->alloc(mg->dev, 2 * bytes, &mg->d_x));
    mg->d_t = mg->d_x + bytes / sizeof(float);
    HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_v));
    HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_d));
    HX_TRY(ops->alloc(mg->dev, LEAST_BYTES, &mg->d_least));
    HX_TRY(ops->zero(mg->dev, mg->d_least, LEAST_BYTES));
    HX_TRY(ops->alloc(mg->dev, sizeof *mg->d_smoother, &mg->d_smoother));
    return ops->zero(mg->dev, mg->d_smoother, sizeof *mg->d_smoother);
}

/* Uses the rows of an operator that stores K. */
static int find_rows(hx_multigrid *mg, const hx_operator *op)
{
    const hx_matrix_ops *matrix = mg->dev->ops->matrix;
    if (!op->op_kind->assembled || !matrix || !matrix->multiply_single)
        return HX_RAISE(HX_EINPUT,
                        "preconditioner 'multigrid' needs a stored matrix for quadratic elements, "
                        "which operator '%s' on device '%s' does not have: use %s",
                        op->op_kind->name, mg->dev->ops->name,
                        mg->dof == 1 ? "jacobi" : "block-jacobi");
    mg->rows = op->op_kind->assembled(op->state);
    return mg->dev->ops->alloc(mg->dev, 2 * (size_t)op->linear.n * sizeof(double), &mg->d_work);
}

/* Uses the operator's own product in single precision, or the device's matrix-free one. */
static int find_product(hx_multigrid *mg, const hx_operator *op)
{
    if (op->model.points) return find_rows(mg, op);
    mg->op_kind = op->op_kind;
    mg->state = op->state;
    if (!op->op_kind->apply_single) {
        mg->op_kind = hx_operator_kind_of(mg->dev->ops->matrix_free, op->linear.components);
        if (!mg->op_kind)
            return HX_RAISE(HX_EINPUT,
                            "preconditioner 'multigrid' needs a product in single precision, which "
                            "device '%s' does not have",
                            mg->dev->ops->name);
        HX_TRY(mg->op_kind->setup(&mg->own_state, mg->dev, &op->model, op->problem->mesh,
                                  HX_LAYOUT_INTERLEAVED));
        mg->state = mg->own_state;
    }
    return mg->op_kind->prepare_single ? mg->op_kind->prepare_single(mg->state) : HX_OK;
}

static void release_level(hx_device *dev, hx_mg_level *level)
{
    void *const owned[] = {level->d_neighbour, level->d_child,   level->d_parent, level->d_matrix,
                           level->d_held,      level->d_divided, level->d_m,      level->d_b,
                           level->d_x,         level->d_y,       level->d_d,      level->d_v,
                           level->d_smoother};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
    hx_mg_level_lines_free(dev, &level->lines);
    if (level->local) dev->ops->interface->free_level(dev, level->local);
}

static void destroy_multigrid(hx_precond *pc)
{
    hx_multigrid *mg = pc->impl;
    if (!mg) return;
    hx_device *dev = mg->dev;
    const hx_mg_mesh *m = &mg->mesh;
    void *const owned[] = {m->d_cell,         m->d_cell_corner, m->d_cell_elem,
                           m->d_cell_elem_at, m->d_cell_node,   m->d_cell_node_at,
                           m->d_coloured,     m->d_position,    m->d_node_cell,
                           m->d_partial,      m->d_fixed,       mg->d_m,
                           mg->d_x,           mg->d_v,          mg->d_d,
                           mg->d_smoother,    mg->d_spring_at,  mg->d_spring_block,
                           mg->d_work,        mg->d_least,      m->d_kept,
                           m->d_changed,      m->d_share};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
    if (mg->ops && mg->ops->transfer->mesh_release) mg->ops->transfer->mesh_release(dev, &mg->mesh);
    for (int l = 0; l < mg->n_level; l++) release_level(dev, &mg->level[l]);
    hx_mg_fused_free(mg);
    hx_mg_blocks_free(mg);
    hx_mg_lines_free(mg);
    hx_mg_direct_free(mg);
    hx_mg_rigid_free(mg);
    hx_mg_deflation_free(mg);
    if (mg->own_state) mg->op_kind->teardown(mg->own_state);
    free(mg);
    pc->impl = NULL;
}

static int find_ops(hx_multigrid *mg, const hx_problem *problem)
{
    const hx_device_ops *const device = mg->dev->ops;
    mg->ops = hx_mg_ops_of(problem, device);
    if (!mg->ops)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support preconditioner 'multigrid'%s",
                        device->name, device->multigrid ? " for physics = \"heat\"" : "");
    mg->dof = hx_problem_is_heat(problem) ? 1 : HX_MG_DOF;
    return hx_multigrid_ops_check(mg->ops, device->name);
}

/* Takes the coarse grids from the plan or makes new ones; for a subdomain, those of the whole
 * mesh. */
static int make_coarse(hx_device *dev, hx_coarse *coarse, const hx_problem *problem)
{
    const double coarsening = hx_mg_coarsening(problem, dev->ops);
    const hx_problem *const whole = hx_problem_whole(problem);
    memset(coarse, 0, sizeof *coarse);
    if (!problem->whole && hx_coarse_plan_take_finished(problem, coarsening, coarse)) return HX_OK;
    hx_coarse_draft *draft = hx_coarse_plan_take_draft(whole, coarsening);
    if (!draft)
        HX_TRY(hx_coarse_begin(&draft, &whole->space, hx_mg_params_of(problem), coarsening));
    const hx_interface_ops *const interface = problem->whole ? dev->ops->interface : NULL;
    HX_TRY(hx_coarse_finish(coarse, &whole->space, draft,
                            hx_mg_params_of(problem)->coarsening.last_nodes,
                            interface ? interface->most_whole(dev) : 0));
    if (!problem->whole) return HX_OK;
    const int rc = interface->split_coarse(dev, coarse);
    if (rc < 0) hx_coarse_free(coarse);
    return rc;
}

/* Chooses the smoother on the mesh. */
static void choose_smoothers(hx_multigrid *mg, const hx_operator *op, const hx_coarse *coarse)
{
    const hx_mg_smoothing_params *const s = &mg->params->smoothing;
    const hx_problem *const problem = op->problem;
    mg->smoother = mg->lines.n > 0    ? mg->ops->lines
                   : mg->blocks.n > 0 ? mg->ops->blocks
                                      : mg->ops->diagonal;
    mg->splitting = (hx_mg_splitting){.n = op->linear.n,
                                      .components = op->linear.components,
                                      .matrix = mg->rows ? &mg->rows->matrix : NULL,
                                      .blocks = &mg->blocks,
                                      .lines = &mg->lines,
                                      .d_m = mg->d_m};
    mg->across = coarse->across;
    mg->on_mesh = mg->lines.n > 0 ? hx_mg_smoothing_lines(s, coarse->across_next,
                                                          hx_mg_is_narrow(problem, mg->dev->ops))
                                  : hx_mg_smoothing_for(s, coarse->across);
    mg->on_rows = hx_mg_smoothing_rows(s, hx_mg_degree(problem));
}

static int check_params(const hx_mg_params *params)
{
    const char *member;
    const int rc = hx_mg_params_check(params, &member);
    if (rc < 0) hx_error_prefix("parameter %s of multigrid: ", member);
    return rc;
}

static int create_multigrid(hx_precond *pc)
{
    const hx_operator *op = pc->op;
    const size_t n_node = (size_t)op->model.n_point;
    hx_coarse coarse;
    hx_multigrid *mg;
    uint8_t *held; /* degrees of freedom that M0 leaves unchanged: supports and rigid sets */
    HX_TRY(hx_alloc(&mg, 1, sizeof *mg, "multigrid"));
    pc->impl = mg;
    mg->dev = op->dev;
    mg->params = hx_mg_params_of(op->problem);
    pc->monitoring = &mg->params->monitoring;
    HX_TRY(check_params(mg->params));
    HX_TRY(find_ops(mg, op->problem));
    HX_TRY(find_product(mg, op));
    HX_TRY(hx_mg_blocks_create(mg, op));
    HX_TRY(hx_mg_lines_create(mg, op));
    HX_TRY(alloc_vectors(mg, op->linear.n));
    HX_TRY(make_coarse(mg->dev, &coarse, op->problem));
    choose_smoothers(mg, op, &coarse);
    int rc = hx_alloc_raw(&held, n_node, 1, "multigrid");
    if (rc == HX_OK) {
        hx_mg_flag_held(op->problem, n_node, held);
        rc = put_levels(mg, op, &coarse, held);
    }
    if (rc == HX_OK) rc = put_springs(mg, op->problem, &coarse, held);
    if (rc == HX_OK) rc = hx_mg_rigid_create(mg, op);
    free(held);
    hx_coarse_free(&coarse);
    return rc;
}

/* Decides whether contributions of cells may use mean strains: not if the mesh, or a rank's
 * subdomain, has few cells, whose exact contributions are all computed at the same time anyway;
 * not for the first design, whose difficulty is unknown; and not after any solve that took long,
 * because mean strains may increase its iterations. */
static void choose_means(const hx_precond *pc)
{
    hx_multigrid *const mg = pc->impl;
    const int before = mg->mesh.takes_means;
    if (mg->n_setup > 0 && pc->iterations > mg->params->update.means_iterations) mg->is_hard = 1;
    mg->mesh.takes_means = mg->mesh.d_mean && mg->mesh.n_cell >= mg->params->update.means_cells &&
                           mg->n_setup > 0 && !mg->is_hard;
    if (mg->mesh.takes_means != before) mg->is_restored = 1; /* recompute all contributions */
}

/* Computes the matrix of the first coarse grid, without springs. */
static int find_first(hx_multigrid *mg)
{
    const hx_mg_transfer_ops *const ops = mg->ops->transfer;
    const hx_mg_level *const first = &mg->level[0];
    if (mg->rows) return ops->rows_galerkin(mg->dev, &mg->mesh, &mg->rows->matrix, first);
    if (!mg->mesh.d_kept) return ops->mesh_galerkin(mg->dev, &mg->mesh, first);
    const hx_mg_update holds = mg->n_setup == 0  ? HX_MG_NEW
                               : mg->is_restored ? HX_MG_RESTORED
                                                 : HX_MG_CHANGED;
    mg->is_restored = 0;
    return ops->mesh_update(mg->dev, &mg->mesh, first, holds);
}

/* Computes the matrix of coarse grid l, and its diagonal. */
static int make_level(hx_multigrid *mg, const hx_operator *op, int l)
{
    const hx_multigrid_ops *const ops = mg->ops;
    hx_mg_level *const level = &mg->level[l];
    if (l > 0) {
        HX_TRY(ops->transfer->galerkin(mg->dev, level - 1, level));
    } else {
        HX_TRY(find_first(mg));
        HX_TRY(ops->level->add_blocks(mg->dev, level, mg->n_spring_block, mg->d_spring_at,
                                      mg->d_spring_block));
        HX_TRY(hx_interface_add_coarse(mg->dev, mg->dof, level));
    }
    HX_TRY(hx_mg_restore(mg, op, l));
    HX_TRY(ops->diagonal->level_invert(mg->dev, level));
    return level->lines.next ? ops->lines->level_invert(mg->dev, level) : HX_OK;
}

static int setup_multigrid(hx_precond *pc)
{
    hx_multigrid *mg = pc->impl;
    const hx_operator *op = pc->op;
    double *d_diag = (double *)mg->d_x;
    HX_TRY(hx_mg_direct_wait(mg)); /* from a design for which no solve was run */
    if (mg->own_state && mg->op_kind->update) HX_TRY(mg->op_kind->update(mg->own_state));
    HX_TRY(hx_operator_diagonal(op, d_diag));
    HX_TRY(mg->dev->ops->vector->zero_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_diag));
    mg->splitting.d_diag = d_diag;
    HX_TRY(mg->ops->diagonal->invert(mg->dev, &mg->splitting));
    if (mg->blocks.n > 0) HX_TRY(mg->ops->blocks->invert(mg->dev, &mg->splitting));
    if (mg->lines.n > 0) HX_TRY(hx_mg_lines_setup(mg, op));
    choose_means(pc);
    if (mg->mesh.d_kept) HX_TRY(put_local(mg));
    for (int l = 0; l < mg->n_level; l++)
        HX_IN_SPAN(mg->dev, HX_SPAN_GALERKIN, l + 1, make_level(mg, op, l));
    HX_IN_SPAN(mg->dev, HX_SPAN_FACTORS, -1, hx_mg_direct_begin(mg));
    HX_IN_SPAN(mg->dev, HX_SPAN_EIGENVALUES, -1, hx_mg_estimate(mg, op, mg->n_setup == 0));
    HX_IN_SPAN(mg->dev, HX_SPAN_FACTORS, -1, hx_mg_direct_setup(mg));
    if (mg->rigid.n_column > 0) {
        HX_TRY(hx_mg_direct_wait(mg)); /* its columns use the coarse grids */
        HX_TRY(hx_mg_rigid_setup(mg, op));
    }
    int changed;
    HX_TRY(hx_mg_deflation_setup(mg, op, &changed));
    pc->version += changed;
    mg->n_setup++;
    return HX_OK;
}

/* Enables deflation if the design has floating components. */
static int enable_deflation(hx_precond *pc)
{
    const int changed = hx_mg_enable_deflation(pc->impl, pc->op);
    pc->version += changed > 0;
    return changed;
}

/* Refreshes the eigenvalue estimates, because a solve takes long. */
static int refresh(hx_precond *pc)
{
    return hx_mg_refresh(pc->impl, pc->op);
}

/* Saves or restores the vectors and bounds of the power iterations, the fraction added to the last
 * matrix, the moduli of the first coarse matrix, and whether solves were hard. Everything else is
 * computed from these and the design. */
static int snapshot(hx_precond *pc, hx_snapshot *image)
{
    hx_multigrid *mg = pc->impl;
    char name[HX_SNAPSHOT_NAME];
    HX_TRY(hx_snapshot_device(image, "multigrid.least", mg->dev, mg->d_least, LEAST_BYTES));
    HX_TRY(hx_mg_deflation_snapshot(mg, image));
    HX_TRY(hx_snapshot_host(image, "multigrid.setups", &mg->n_setup, sizeof mg->n_setup));
    HX_TRY(hx_snapshot_newer(image, "multigrid.added", &mg->added, sizeof mg->added));
    if (image->mode == HX_SNAPSHOT_SAVE || hx_snapshot_has(image, "multigrid.hard")) {
        HX_TRY(hx_snapshot_host(image, "multigrid.hard", &mg->is_hard, sizeof mg->is_hard));
        HX_TRY(hx_snapshot_host(image, "multigrid.iterations", &pc->iterations,
                                sizeof pc->iterations));
    }
    if (mg->mesh.d_kept)
        HX_TRY(hx_snapshot_device(image, "multigrid.modulus", mg->dev, mg->mesh.d_kept,
                                  (size_t)mg->mesh.model->n_elem * sizeof *mg->mesh.d_kept));
    mg->is_restored = image->mode == HX_SNAPSHOT_LOAD;
    HX_TRY(hx_snapshot_device(image, "multigrid.vector", mg->dev, mg->d_v,
                              (size_t)pc->op->linear.n * sizeof *mg->d_v));
    for (int l = 0; l < mg->n_level; l++) {
        snprintf(name, sizeof name, "multigrid.vector %d", l);
        HX_TRY(hx_snapshot_device(image, name, mg->dev, mg->level[l].d_v,
                                  (size_t)(mg->dof * mg->level[l].n_node) * sizeof(float)));
    }
    return HX_OK;
}

/* Resets the state, so that power iterations start from random vectors and all cells are
 * recomputed, as in the first set-up. */
static void reset(hx_precond *pc)
{
    hx_multigrid *mg = pc->impl;
    mg->n_setup = 0;
    mg->is_hard = 0;
    hx_mg_deflation_reset(mg);
    mg->added = hx_mg_direct_added(mg);
}

static int apply_multigrid(hx_precond *pc, const double *d_r, double *d_z)
{
    hx_multigrid *const mg = pc->impl;
    float *d_x;
    HX_TRY(hx_mg_cycle(mg, pc->op, HX_MG_MESH, d_r, d_z, &d_x));
    return mg->rigid.n_column > 0 ? hx_mg_rigid_add(mg, pc->op, d_r, d_z) : HX_OK;
}

static int plan_coarse(hx_coarse_plan *plan, const hx_problem *problem, const hx_device_ops *device)
{
    plan->aspect = hx_coarse_aspect(problem->mesh, hx_mg_params_of(problem));
    const double coarsening = hx_mg_coarsening(problem, device);
    HX_TRY(hx_coarse_begin(&plan->draft, &problem->space, hx_mg_params_of(problem), coarsening));
    hx_coarse_draft_size(plan->draft, &plan->n_coarse_node, &plan->n_cell);
    plan->coarsening = coarsening;
    return HX_OK;
}

/* Finishes the draft for a whole mesh. On several ranks each lists its own subdomain later, in
 * `create_multigrid`. */
static int finish_coarse(hx_coarse_plan *plan, const hx_problem *problem)
{
    hx_coarse *finished;
    if (!plan->draft || problem->whole || problem->mesh->ownership) return HX_OK;
    HX_TRY(hx_alloc(&finished, 1, sizeof *finished, "multigrid coarse grids"));
    const int rc = hx_coarse_finish(finished, &problem->space, plan->draft,
                                    hx_mg_params_of(problem)->coarsening.last_nodes, 0);
    plan->draft = NULL; /* also if that failed; `create_multigrid` then starts over */
    if (rc < 0)
        free(finished);
    else
        plan->finished = finished;
    return rc;
}

static const float *single_z(const hx_precond *pc)
{
    const hx_multigrid *mg = pc->impl;
    return mg->d_x;
}

static void describe_level(const hx_multigrid *mg, int l, char *text, size_t n_text)
{
    static const char *const mode[] = {[HX_COARSE_HALVE] = "halved",
                                       [HX_COARSE_COLLAPSE] = "collapsed",
                                       [HX_COARSE_SINGLE] = "single",
                                       [HX_COARSE_KEEP] = "kept"};
    const hx_mg_level *const level = &mg->level[l];
    const hx_mg_smoothing s = hx_mg_smoothing_of(mg, l);
    size_t n = (size_t)snprintf(text, n_text, "coarse grid %d of %lld %s", l + 1,
                                (long long)level->n_own, hx_noun(level->n_own, "node", "nodes"));
    if (l > 0)
        n += (size_t)snprintf(text + n, n_text - n, ", x %s, y %s, z %s", mode[level->mode[0]],
                              mode[level->mode[1]], mode[level->mode[2]]);
    if (l + 1 == mg->n_level)
        snprintf(text + n, n_text - n, ": solved directly by %s",
                 mg->ops->direct->begin ? "its inverse" : "Cholesky factors");
    else
        snprintf(text + n, n_text - n, ": degree %d, ratio %g, %d %s, weight %g%s",
                 s.chebyshev.degree, s.chebyshev.ratio, s.visits,
                 hx_noun(s.visits, "visit", "visits"), s.weight,
                 level->lines.next ? ", by lines" : "");
}

static void describe(const hx_precond *pc, void (*print)(void *context, const char *line),
                     void *context)
{
    const hx_multigrid *const mg = pc->impl;
    const hx_mg_smoothing s = hx_mg_smoothing_of(mg, -1);
    char text[256];
    snprintf(text, sizeof text, "mesh: cells of %.3g elements, %.3g across; degree %d, ratio %g%s",
             hx_mg_coarsening(pc->op->problem, mg->dev->ops), mg->across, s.chebyshev.degree,
             s.chebyshev.ratio,
             mg->lines.n > 0    ? ", by lines"
             : mg->blocks.n > 0 ? ", by blocks"
                                : "");
    print(context, text);
    for (int l = 0; l < mg->n_level; l++) {
        describe_level(mg, l, text, sizeof text);
        print(context, text);
    }
    if (mg->fused.n_level == 0) return;
    snprintf(text, sizeof text, "coarse grids %d to %d in one launch", mg->fused.first + 1,
             mg->n_level);
    print(context, text);
}

static int runs_on(const hx_device_ops *device)
{
    return device->multigrid != NULL;
}

const hx_precond_kind hx_precond_multigrid = {
    .name = "multigrid",
    .help = "W-cycle in single precision, Galerkin coarse grids over the mesh",
    .rounded = 1,
    .rigid_vectors = 1,
    .needs_operator = 1, /* reads the mesh, its single precision product, springs and rigid sets */
    .iterations = 15,
    .chosen_from = 500, /* smaller meshes are solved as fast with a diagonal */
    .runs_on = runs_on,
    .bytes = hx_mg_bytes,
    .plan = plan_coarse,
    .plan_more = finish_coarse,
    .create = create_multigrid,
    .setup = setup_multigrid,
    .apply = apply_multigrid,
    .single_z = single_z,
    .snapshot = snapshot,
    .reset = reset,
    .refresh = refresh,
    .enable_deflation = enable_deflation,
    .destroy = destroy_multigrid,
    .describe = describe,
};
