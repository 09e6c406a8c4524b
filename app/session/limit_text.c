/* Texts and verdicts of limits, without a problem. */
#include <math.h>
#include <stdio.h>

#include "core/base/fit.h"
#include "session.h"

const char *hx_response_text(const hx_response_kind *kind, const hx_response_params *params,
                             char *text, size_t n_text)
{
    const double *const d = params->direction;
    char set[160] = "", direction[128] = "", load_case[32] = "", radius[32] = "";
    const int has_direction = fabs(d[0]) > 0.0 || fabs(d[1]) > 0.0 || fabs(d[2]) > 0.0;
    if (params->set)
        hx_fit(set, sizeof set, ", %sset '%s'%s%s%s", params->of_largest ? "largest of " : "",
               params->set, params->set_2 ? " minus set '" : "", params->set_2 ? params->set_2 : "",
               params->set_2 ? "'" : "");
    if (has_direction)
        hx_fit(direction, sizeof direction, ", %sdirection [%g, %g, %g]",
               params->is_magnitude ? "magnitude along " : "", d[0], d[1], d[2]);
    if (params->load_case >= 0)
        snprintf(load_case, sizeof load_case, ", case %d", params->load_case + 1);
    if (params->radius > 0.0) snprintf(radius, sizeof radius, ", radius %g", params->radius);
    hx_fit(text, n_text, "%s%s%s%s%s", kind->name, radius, set, direction, load_case);
    return text;
}

const char *hx_bound_text(double max, double min, const char *unit, char *text, size_t n_text)
{
    if (isnan(min))
        snprintf(text, n_text, "at most %g%s", max, unit);
    else if (isnan(max))
        snprintf(text, n_text, "at least %g%s", min, unit);
    else
        snprintf(text, n_text, "%g to %g%s", min, max, unit);
    return text;
}

const char *hx_response_unit_text(const hx_session *s, const hx_response_kind *kind)
{
    const hx_units *const u = &s->cfg.units;
    switch (hx_response_unit_of(kind, &s->problem)) {
    case HX_VALUE_LENGTH:
        return u->length;
    case HX_VALUE_FORCE:
        return u->force;
    case HX_VALUE_ENERGY:
    case HX_VALUE_POWER_TEMPERATURE:
        return u->work;
    case HX_VALUE_MASS:
        return u->mass;
    case HX_VALUE_TEMPERATURE:
        return u->temperature;
    case HX_VALUE_POWER:
        return u->power;
    case HX_VALUE_VOLUME:
        return u->volume;
    case HX_VALUE_STRESS:
        return u->stress;
    default:
        return "";
    }
}

double hx_limit_violation(const hx_limits *limits, int i, double value)
{
    const hx_constraint_spec *const spec = &limits->spec[i];
    return hx_limits_exceeded(value, spec->max, spec->min, limits->zero ? limits->zero[i] : 0.0);
}

int hx_limits_are_met(const hx_iteration *it, const hx_update_kind *update)
{
    return !update->is_upper_limit || (!(it->violation > HX_LIMIT_MET) && !it->volume_missed);
}
