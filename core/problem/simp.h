/* The SIMP law (Bendsoe 1989; P1, equation 2): one formula for host and device. */
#ifndef HX_SIMP_H
#define HX_SIMP_H

#include <math.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"

HX_C_BEGIN

/* E rho^p; young: modulus of solid (force/length^2), rho in (0, 1]. */
static HX_HD double hx_simp_modulus(double young, double penalty, double rho)
{
    return young * (penalty == 3.0 ? rho * rho * rho : pow(rho, penalty));
}

/* least + (solid - least) rho^p; bitwise equal to hx_simp_modulus if least is 0. */
static HX_HD double hx_simp_between(double least, double solid, double penalty, double rho)
{
    return least + hx_simp_modulus(solid - least, penalty, rho);
}

/* The derivative of hx_simp_between by rho, from its value. */
static HX_HD double hx_simp_slope(double least, double penalty, double modulus, double rho)
{
    return penalty * (modulus - least) / rho;
}

HX_C_END

#endif
