/* Responses of a test as rows, in an optimizer that keeps its design. */
#ifndef HX_TEST_RESPONSE_ROWS_H
#define HX_TEST_RESPONSE_ROWS_H

#include "core/design/response_set.h"
#include "fixture.h"

static hx_device device; /* opened by the test */

enum { MOST_SPEC = 24, DIRECTIONS = 2 };

/* An update that keeps the design. */
static inline int create_nothing(hx_update *update)
{
    (void)update;
    return HX_OK;
}

static inline int keep(hx_update *update, hx_update_step *step)
{
    return device.ops->copy(&device, step->d_proposal, step->d_design,
                            (size_t)update->problem->mesh->n_elem * sizeof(double));
}

static inline void destroy_nothing(hx_update *update)
{
    (void)update;
}

static const hx_update_kind keeper = {.name = "keeper",
                                      .help = "keeps the design",
                                      .most_rows = 2 * MOST_SPEC,
                                      .is_upper_limit = 1,
                                      .create = create_nothing,
                                      .propose = keep,
                                      .destroy = destroy_nothing};

static inline const hx_operator_kind *operator_of(const hx_problem *problem, const char *name)
{
    return hx_operator_kind_of(hx_operator_kind_find(device.ops->name, name), problem->components);
}

/* A response of a test. */
typedef struct row {
    const char *kind, *set, *set_2;
    double direction[3];
    int is_magnitude, of_largest, load_case;
} row;

static inline void put_specs(const row *rows, int n, hx_constraint_spec *spec)
{
    for (int i = 0; i < n; i++)
        spec[i] = (hx_constraint_spec){.kind = hx_response_kind_find(rows[i].kind),
                                       .params = {.set = rows[i].set,
                                                  .set_2 = rows[i].set_2,
                                                  .is_magnitude = rows[i].is_magnitude,
                                                  .of_largest = rows[i].of_largest,
                                                  .load_case = rows[i].load_case},
                                       .max = 1.0,
                                       .min = i % 2 ? NAN : -1.0};
    for (int i = 0; i < n; i++)
        memcpy(spec[i].params.direction, rows[i].direction, sizeof rows[i].direction);
}

/* The value without the changing scale of the largest. */
static inline double value_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    const hx_response_set *const of_set = g->kind->prepare ? g->impl : NULL;
    const double value = s->opt.record[i].value, reference = s->analysis.problem->reference;
    const int c = g->params.load_case;
    if (!of_set || !of_set->largest) return value;
    return (value - reference) / hx_largest_scale(of_set->largest, c);
}

static inline double scale_of(const fixture_solver *s, int i)
{
    const hx_response *const g = &s->opt.constraint[i];
    const hx_response_set *const of_set = g->kind->prepare ? g->impl : NULL;
    return of_set && of_set->largest ? hx_largest_scale(of_set->largest, g->params.load_case) : 1.0;
}

#endif
