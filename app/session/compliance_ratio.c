#include "compliance_ratio.h"

#include <math.h>

int hx_compliance_is_shifted(const hx_session *s)
{
    const hx_config_support *const support = s->cfg.supports.entry;
    if (hx_config_is_heat(&s->cfg)) return s->problem.is_mixed;
    if (s->problem.supports.prescribed) return 1;
    /* if each rank has a subdomain, the degrees of freedom may be those of another rank */
    for (size_t i = 0; i < s->cfg.supports.n; i++)
        for (int k = 0; k < 3; k++)
            if (!support[i].from && fabs(support[i].value[k]) > 0.0) return 1;
    return 0;
}

double hx_compliance_percent(int is_shifted, double a, double b)
{
    return !is_shifted && a > 0.0 && b > 0.0 ? 100.0 * (b / a - 1.0) : (double)NAN;
}
