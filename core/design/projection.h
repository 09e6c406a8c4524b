/* Maps filtered to physical densities element by element: limits them to [rho_min, 1] and, with
 * beta > 0, pushes them towards both ends by the smoothed Heaviside function (Wang, Lazarov and
 * Sigmund, Struct. Multidisc. Optim. 43, 2011)
 *
 *     H(t) = (tanh(beta eta) + tanh(beta (t - eta))) / (tanh(beta eta) + tanh(beta (1 - eta))),
 *
 * with t = (rho - rho_min) / (1 - rho_min); rho_min and 1 are fixed points. Host and device use one
 * formula. */
#ifndef HX_PROJECTION_H
#define HX_PROJECTION_H

#include <math.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"

HX_C_BEGIN

typedef struct hx_projection {
    double beta;    /* steepness; 0: no projection, only the limits */
    double eta;     /* threshold, (0, 1) */
    double rho_min; /* (0, 1) */
} hx_projection;

/* Largest steepness whose slope is nonzero everywhere in double precision. */
#define HX_PROJECTION_MOST_BETA 512.0

/* Tolerance outside the limits, for rounding and a filter's own solver, within which the slope is
 * kept. */
#define HX_PROJECTION_MARGIN 1e-8

static HX_HD double hx_projection_value(const hx_projection *p, double rho)
{
    const double raised = rho > p->rho_min ? rho : p->rho_min;
    const double limited = raised < 1.0 ? raised : 1.0;
    if (!(p->beta > 0.0)) return rho == rho ? limited : rho; /* callers detect NaN */
    const double b = p->beta, t = (limited - p->rho_min) / (1.0 - p->rho_min);
    const double low = tanh(b * p->eta), high = tanh(b * (1.0 - p->eta));
    const double step = (low + tanh(b * (t - p->eta))) / (low + high);
    return rho == rho ? p->rho_min + (1.0 - p->rho_min) * step : rho;
}

/* Its derivative by rho. */
static HX_HD double hx_projection_slope(const hx_projection *p, double rho)
{
    if (rho < p->rho_min - HX_PROJECTION_MARGIN || rho > 1.0 + HX_PROJECTION_MARGIN) return 0.0;
    if (!(p->beta > 0.0)) return 1.0;
    const double b = p->beta, t = (rho - p->rho_min) / (1.0 - p->rho_min);
    const double c = cosh(b * (t - p->eta));
    return b / (c * c) / (tanh(b * p->eta) + tanh(b * (1.0 - p->eta)));
}

HX_C_END

#endif
