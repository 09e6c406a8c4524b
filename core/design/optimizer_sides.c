/* The eroded and the dilated design beside the one that is made, each with displacements of its own
 * (Wang, Lazarov and Sigmund 2011): the largest of the three objectives is minimised, and all three
 * designs meet the limits. The design that is made is analysed last, so that operator, displacements
 * and derivatives in the vectors of PCG are its own after a step. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "analysis_internal.h"
#include "optimizer_internal.h"

static const struct {
    hx_design_variant variant;
    const char *name;
} side_list[HX_OPTIMIZER_SIDES] = {{HX_DESIGN_ERODED, "eroded"}, {HX_DESIGN_DILATED, "dilated"}};

/* The response of a side for one of the design that is made. */
static int create_response(hx_optimizer *opt, hx_optimizer_side *side, const hx_response *of)
{
    hx_response *const g = &side->response[side->n];
    char role[HX_RESPONSE_ROLE];
    snprintf(role, sizeof role, "%s %d", side->name, side->n + 1);
    HX_TRY(hx_response_create(g, of->kind, role, &side->analysis, &side->measured, &of->params));
    side->n++;
    HX_TRY(hx_optimizer_take_field(opt, NULL, &side->d_derivative[side->n - 1]));
    g->d_derivative = side->d_derivative[side->n - 1];
    return HX_OK;
}

/* 1 if a side has a value of its own: volumes and mass are those of the design that is made. */
static int differs(const hx_response *g)
{
    return !g->kind->is_linear && !g->kind->is_of_made;
}

/* Rows for a side's responses, as those of the design that is made have: the objective is its first
 * one. */
static void add_rows(hx_optimizer *opt, const hx_optimizer_side *side, int n_row)
{
    int k = 1;
    opt->row[opt->update.n_row] = opt->row[n_row - 1];
    opt->row[opt->update.n_row++].response = &side->response[0];
    for (int i = 0; i < n_row - 1; i++) {
        hx_limit_row row = opt->row[i];
        if (!differs(row.response)) continue;
        row.response = &side->response[k];
        opt->row[opt->update.n_row++] = row;
        k += i + 2 == n_row || opt->row[i + 1].response != opt->row[i].response;
    }
}

static int create_side(hx_optimizer *opt, int i, int n_row)
{
    hx_optimizer_side *const side = &opt->side[i];
    const hx_analysis *const a = opt->analysis;
    const size_t n = 1 + (size_t)opt->n_constraint;
    side->variant = side_list[i].variant;
    side->name = side_list[i].name;
    side->measured = opt->measured;
    HX_TRY(hx_alloc(&side->response, n, sizeof *side->response, "constraints"));
    HX_TRY(hx_alloc(&side->d_derivative, n, sizeof *side->d_derivative, "constraints"));
    HX_TRY(hx_analysis_create(&side->analysis, a->op, a->pc, a->pcg, a->warm_start));
    HX_TRY(create_response(opt, side, &opt->objective));
    for (int k = opt->has_volume; k < opt->n_constraint; k++)
        if (differs(&opt->constraint[k])) HX_TRY(create_response(opt, side, &opt->constraint[k]));
    add_rows(opt, side, n_row);
    return HX_OK;
}

/* HX_EINPUT: a problem that has no sides. */
static int check(const hx_optimizer *opt)
{
    if (opt->lagrangian.sum.kind)
        return HX_RAISE(HX_EINPUT, "three designs cannot be analysed under stress limits by the "
                                   "augmented Lagrangian; take analysed = \"eroded\", or method = "
                                   "\"p-norm\"");
    if (opt->objective.kind->is_linear || opt->objective.kind->is_worst_case)
        return HX_RAISE(HX_EINPUT,
                        "three designs cannot be analysed to minimise the %s; take analysed = "
                        "\"eroded\"",
                        opt->objective.kind->name);
    return HX_OK;
}

int hx_optimizer_create_sides(hx_optimizer *opt)
{
    if (!opt->design->analyses_all) return HX_OK;
    HX_TRY(check(opt));
    opt->row[opt->update.n_row++] = (hx_limit_row){.response = &opt->objective,
                                                   .sign = 1.0,
                                                   .bound = 1.0,
                                                   .in_largest = 1,
                                                   .is_signed = 1,
                                                   .weight = 1.0};
    const int n_row = opt->update.n_row;
    for (int i = 0; i < HX_OPTIMIZER_SIDES; i++) HX_TRY(create_side(opt, i, n_row));
    return HX_OK;
}

int hx_optimizer_solve_side(hx_optimizer *opt, hx_optimizer_side *side)
{
    hx_analysis *const a = &side->analysis;
    opt->filter->analysed = side->variant;
    HX_TRY(hx_filter_forward(opt->filter, opt->d_design, opt->d_physical));
    HX_TRY(hx_analysis_solve(a, opt->d_physical, opt->penalty.value));
    side->measured.d_physical = opt->d_physical;
    side->measured.d_made = opt->d_physical;
    side->measured.d_volume = opt->d_volume;
    side->measured.d_scratch = opt->d_proposal;
    for (int i = 0; i < side->n; i++) HX_TRY(hx_response_prepare(&side->response[i]));
    for (int i = 0; i < side->n; i++) HX_TRY(hx_response_solve_adjoint(&side->response[i]));
    return HX_OK;
}

int hx_optimizer_differentiate_side(hx_optimizer *opt, hx_optimizer_side *side)
{
    hx_analysis *const a = &side->analysis;
    double *const d_work[2] = {opt->d_dv, opt->d_proposal}, compliance;
    HX_TRY(hx_analysis_compliance(a, &compliance));
    HX_TRY(hx_analysis_energy(a, opt->d_energy, opt->d_dv));
    for (int i = 0; i < side->n; i++) {
        hx_response *const g = &side->response[i];
        HX_TRY(g->kind->value(g, &g->now));
        HX_TRY(hx_response_derivative(g, opt->d_energy, side->d_derivative[i], d_work));
    }
    for (int i = 0; i < side->n; i++)
        HX_TRY(hx_filter_backward(opt->filter, opt->d_design, side->d_derivative[i], NULL));
    opt->filter->analysed = HX_DESIGN_MADE;
    return HX_OK;
}

int hx_optimizer_link_sides(hx_optimizer *opt)
{
    hx_device *const dev = opt->analysis->dev;
    for (int s = 0; s < HX_OPTIMIZER_SIDES; s++)
        for (int i = 0; i < opt->side[s].n; i++)
            HX_TRY(
                dev->ops->design->link(dev, &opt->groups, opt->d_dv, opt->side[s].d_derivative[i]));
    return HX_OK;
}

int hx_optimizer_reset_sides(hx_optimizer *opt)
{
    for (int s = 0; s < HX_OPTIMIZER_SIDES; s++) {
        hx_optimizer_side *const side = &opt->side[s];
        if (!side->name) continue;
        for (int i = 0; i < side->n; i++) HX_TRY(hx_response_reset(&side->response[i]));
        HX_TRY(hx_analysis_reset(&side->analysis));
    }
    return HX_OK;
}

static int snapshot_displacements(hx_optimizer_side *side, hx_snapshot *image)
{
    hx_analysis *const a = &side->analysis;
    char name[HX_SNAPSHOT_NAME];
    for (int c = 0; a->warm_start && c < a->problem->cases.n; c++) {
        snprintf(name, sizeof name, "%s.u %d", side->name, c + 1);
        HX_TRY(hx_analysis_snapshot_vector(a, image, name, a->d_u[c]));
    }
    return HX_OK;
}

int hx_optimizer_snapshot_sides(hx_optimizer *opt, hx_snapshot *image)
{
    for (int s = 0; s < HX_OPTIMIZER_SIDES; s++) {
        hx_optimizer_side *const side = &opt->side[s];
        if (!side->name) continue;
        for (int i = 0; i < side->n; i++) HX_TRY(hx_response_snapshot(&side->response[i], image));
        HX_TRY(snapshot_displacements(side, image));
    }
    return HX_OK;
}

size_t hx_optimizer_side_bytes(const hx_problem *problem, const hx_design_params *design)
{
    const size_t vector = (size_t)problem->components * (size_t)problem->space.n_point;
    if (!design || !design->analyses_all) return 0;
    return HX_OPTIMIZER_SIDES * ((size_t)problem->cases.n * vector * sizeof(double) +
                                 hx_analysis_load_bytes(problem, HX_PRECISION_MIXED));
}

void hx_optimizer_free_sides(hx_optimizer *opt)
{
    for (int s = 0; s < HX_OPTIMIZER_SIDES; s++) {
        hx_optimizer_side *const side = &opt->side[s];
        for (int i = 0; i < side->n; i++) hx_response_free(&side->response[i]);
        free(side->response);
        free(side->d_derivative);
        if (side->name) hx_analysis_free(&side->analysis);
    }
}
