/* From filtered to physical densities, element by element: limited to [rho_min, 1] and, with
 * beta > 0, pushed towards both ends by the tanh step (Wang, Lazarov and Sigmund, Struct.
 * Multidisc. Optim. 43, 2011)
 *
 *     H(t) = (tanh(beta eta) + tanh(beta (t - eta))) / (tanh(beta eta) + tanh(beta (1 - eta))),
 *
 * of which rho_min and 1 are fixed points: t = (rho - rho_min) / (1 - rho_min). One formula for
 * host and device. */
#ifndef HX_PROJECTION_H
#define HX_PROJECTION_H

#include <math.h>

#include "../base/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_projection {
    double beta;    /* steepness; 0: no step, only the limits */
    double eta;     /* where the step is, (0, 1) */
    double rho_min; /* (0, 1) */
} hx_projection;

/* Largest steepness that leaves a slope other than 0 everywhere, in double precision. */
#define HX_PROJECTION_MOST_BETA 512.0

/* What rounding and a filter's own solver may leave outside of the limits: the slope stays. */
#define HX_PROJECTION_MARGIN 1e-8

static HX_HD double hx_projection_value(const hx_projection *p, double rho)
{
    const double raised = rho > p->rho_min ? rho : p->rho_min;
    const double limited = raised < 1.0 ? raised : 1.0;
    if (!(p->beta > 0.0)) return rho == rho ? limited : rho; /* NaN is for others to find */
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

#ifdef __cplusplus
}
#endif

#endif
