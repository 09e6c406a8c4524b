/* Shared by the tests of responses: rows that name a response, an update that keeps the design, and
 * the values and constants of a solver's responses. */
#ifndef HX_TEST_RESPONSE_ROWS_H
#define HX_TEST_RESPONSE_ROWS_H

#include "core/design/local_volume.h"
#include "core/design/response_set.h"
#include "fixture.h"

enum { MOST_SPEC = 26 };

/* An update that keeps the design. */
static inline int keeper_create(hx_update *update)
{
    (void)update;
    return HX_OK;
}

static inline int keeper_propose(hx_update *update, hx_update_step *step)
{
    return update->dev->ops->copy(update->dev, step->d_proposal, step->d_design,
                                  (size_t)update->problem->mesh->n_elem * sizeof(double));
}

static inline void keeper_destroy(hx_update *update)
{
    (void)update;
}

static const hx_update_kind keeper = {.name = "keeper",
                                      .help = "keeps the design",
                                      .most_rows = 2 * MOST_SPEC,
                                      .is_upper_limit = 1,
                                      .create = keeper_create,
                                      .propose = keeper_propose,
                                      .destroy = keeper_destroy};

static inline const hx_operator_kind *operator_of(const hx_device *dev, const hx_problem *problem,
                                                  const char *name)
{
    return hx_operator_kind_of(hx_operator_kind_find(dev->ops->name, name), problem->components);
}

/* A response of a test. */
typedef struct row {
    const char *kind, *set, *set_2;
    double direction[3];
    int is_magnitude, of_largest, load_case;
    double relaxation, radius;
} row;

static inline int spec_is_upper(const row *r)
{
    const hx_response_kind *const kind = hx_response_kind_find(r->kind);
    return kind && kind->is_upper;
}

static inline void put_specs(const row *rows, int n, hx_constraint_spec *spec)
{
    for (int i = 0; i < n; i++)
        spec[i] = (hx_constraint_spec){.kind = hx_response_kind_find(rows[i].kind),
                                       .params = {.set = rows[i].set,
                                                  .set_2 = rows[i].set_2,
                                                  .is_magnitude = rows[i].is_magnitude,
                                                  .of_largest = rows[i].of_largest,
                                                  .load_case = rows[i].load_case,
                                                  .relaxation = rows[i].relaxation,
                                                  .radius = rows[i].radius},
                                       .max = 1.0,
                                       .min = i % 2 || spec_is_upper(&rows[i]) ? NAN : -1.0};
    for (int i = 0; i < n; i++)
        memcpy(spec[i].params.direction, rows[i].direction, sizeof rows[i].direction);
}

/* 1: the value is a norm over elements with a changing scale. */
static inline int has_scale(const hx_response_kind *kind)
{
    return kind == &hx_response_stress || kind == &hx_response_local_volume;
}

/* The constants of a largest value; NULL: the response has none. */
static inline hx_largest_constants *constants_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    const int is_set = g->kind->prepare && !has_scale(g->kind);
    const hx_response_set *const of_set = is_set ? g->impl : NULL;
    return of_set && of_set->largest ? hx_largest_constants_of(of_set->largest, g->params.load_case)
                                     : NULL;
}

/* The changing scale of a norm over elements, which its derivative contains. */
static inline double scale_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    if (g->kind == &hx_response_local_volume) return ((const hx_local_volume *)g->impl)->scale;
    return g->kind == &hx_response_stress ? ((const hx_stress_limit *)g->impl)->scale : 1.0;
}

/* The value; of a norm over elements without that scale. */
static inline double value_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    if (g->kind == &hx_response_local_volume) return ((const hx_local_volume *)g->impl)->norm;
    return g->kind == &hx_response_stress ? ((const hx_stress_limit *)g->impl)->norm
                                          : s->opt.record[i].value;
}

/* Sets the design to design + t p. */
static inline void response_move(fixture_solver *s, const double *design, const double *p, double t)
{
    const int64_t n = s->opt.problem->mesh->n_elem;
    hx_device *const dev = s->analysis.dev;
    double *const moved = malloc((size_t)n * sizeof *moved);
    if (!moved) abort();
    for (int64_t e = 0; e < n; e++) moved[e] = design[e] + t * p[e];
    CHECK_OK(dev->ops->upload(dev, s->opt.d_design, moved, (size_t)n * sizeof *moved));
    free(moved);
}

/* Analyses design + t p like a step, up to the values of the responses: no adjoint solves, which
 * are most of a step with many responses. */
static inline void response_analyse(fixture_solver *s, const double *design, const double *p,
                                    double t)
{
    hx_optimizer *const opt = &s->opt;
    hx_device *const dev = s->analysis.dev;
    double mass, grey;
    response_move(s, design, p, t);
    if (hx_filter_maps_design(opt->filter))
        CHECK_OK(hx_filter_forward(opt->filter, opt->d_design, opt->d_physical));
    CHECK_OK(hx_analysis_solve(&s->analysis, opt->d_physical, opt->penalty.value));
    CHECK_MSG(s->analysis.record.reason == HX_PCG_CONVERGED, "%s",
              hx_pcg_reason_name(s->analysis.record.reason));
    CHECK_OK(hx_response_prepare(&opt->objective));
    for (int i = 0; i < opt->n_constraint; i++) CHECK_OK(hx_response_prepare(&opt->constraint[i]));
    CHECK_OK(dev->ops->design->measure(dev, opt->problem->mesh->n_elem, opt->d_physical,
                                       opt->d_volume, opt->filter->d_passive, &mass, &grey));
    opt->measured.volume = mass / opt->total_volume;
}

static inline double *random_density(const hx_problem *problem)
{
    double *const density = malloc((size_t)problem->mesh->n_elem * sizeof *density);
    uint64_t state = 99;
    if (!density) abort();
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        density[e] = fixture_uniform(&state, 0.2, 0.9);
    return density;
}

/* lambda_e = 0.02 (1 + e mod 3) and mu = 10, which steps must not have changed. */
static inline void set_multipliers(fixture_solver *s, int64_t n_elem)
{
    double *const lambda = malloc((size_t)n_elem * sizeof *lambda);
    hx_device *const dev = s->analysis.dev;
    if (!lambda) abort();
    for (int64_t e = 0; e < n_elem; e++) lambda[e] = 0.02 * (1 + (double)(e % 3));
    for (int i = 0; i < s->opt.lagrangian.list.n; i++) {
        hx_stress_limit *const limit = s->opt.lagrangian.limit[i]->impl;
        limit->weight = 10.0;
        limit->n_design = 0;
        for (int c = 0; c < limit->n_case; c++)
            if (limit->of[c].d_lambda)
                CHECK_OK(dev->ops->upload(dev, limit->of[c].d_lambda, lambda,
                                          (size_t)n_elem * sizeof *lambda));
    }
    free(lambda);
}

#endif
