/* Means and largest values of displacements or temperatures (response_set.h). */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/reduce.h"
#include "../base/vec3.h"
#include "response_set.h"

int hx_field_create(hx_response *o)
{
    const int is_signed =
        hx_norm3(o->params.direction) > 0.0 || hx_problem_is_heat(o->analysis->problem);
    hx_response_set *own;
    o->has_constant_load = is_signed && !o->params.is_magnitude && !o->params.of_largest;
    if (!o->params.of_largest) return hx_response_set_create(o, hx_response_set_mean);
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "response about a set"));
    o->impl = own;
    return hx_largest_create(o, &own->largest);
}

int hx_field_prepare(hx_response *o)
{
    hx_response_set *const own = o->impl;
    return own->largest ? hx_largest_prepare(o, own->largest) : hx_response_set_prepare(o);
}

int hx_field_accept(hx_response *o)
{
    hx_response_set *const own = o->impl;
    return own->largest ? hx_largest_accept(o, own->largest) : HX_OK;
}

int hx_field_value(const hx_response *o, double *value)
{
    const hx_response_set *const own = o->impl;
    double slope[3];
    *value = 0.0;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        if (!hx_response_has_case(o, c)) continue;
        *value += hx_response_weight(o, c) * (own->largest ? hx_largest_value(own->largest, c)
                                                           : hx_response_set_value(o, c, slope));
    }
    return HX_OK;
}

int hx_field_report(const hx_response *o, double *value)
{
    const hx_response_set *const own = o->impl;
    if (!own->largest) return hx_field_value(o, value);
    *value = 0.0;
    for (int c = 0; c < o->analysis->problem->cases.n; c++)
        if (hx_response_has_case(o, c))
            *value += hx_response_weight(o, c) * hx_largest_maximum(own->largest, c);
    return HX_OK;
}

int hx_field_load(const hx_response *o, int c, double *d_load)
{
    const hx_response_set *const own = o->impl;
    const double weight = hx_response_weight(o, c);
    double slope[3];
    if (own->largest) return hx_largest_load(o, own->largest, c, weight, d_load);
    hx_response_set_value(o, c, slope);
    return hx_response_set_load(o, weight, slope, d_load);
}

int hx_field_snapshot(hx_response *o, hx_snapshot *image)
{
    hx_response_set *const own = o->impl;
    return own->largest ? hx_largest_snapshot(o, own->largest, image) : HX_OK;
}

void hx_field_destroy(hx_response *o)
{
    hx_response_set *const own = o->impl;
    if (own) hx_largest_free(o->analysis->dev, own->largest);
    hx_response_set_destroy(o);
}

int hx_field_check(const hx_problem *problem, const hx_response_params *params, const char *kind,
                   const char *what)
{
    const char *const origin = params->origin ? params->origin : kind;
    const int c = problem->components, n = hx_response_set_vectors(problem, params);
    double left = 0.0;
    if (params->of_largest && params->set_2)
        return HX_RAISE(HX_EINPUT,
                        "%s: set_2 is subtracted from a mean; it cannot be combined with the "
                        "largest value over a set",
                        origin);
    for (int i = 0; i < n; i++) {
        double *l;
        HX_TRY(hx_response_set_mean(problem, params, i, &l));
        for (int64_t k = 0; k < c * problem->space.n_point; k++)
            if (!(problem->supports.fixed[k / c] >> (k % c) & 1)) left += fabs(l[k]);
        free(l);
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(problem->mesh), 1, &left));
    if (left > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: supports prescribe %s set '%s'%s, so no design changes it",
                    origin, what, params->set,
                    c == 3 && hx_norm3(params->direction) > 0.0 ? " in this direction" : "");
}
