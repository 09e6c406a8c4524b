/* Ratios and percentages of compliances. */
#ifndef HX_COMPLIANCE_RATIO_H
#define HX_COMPLIANCE_RATIO_H

#include "session.h"

/* 1 if the zero of the compliance f'u - r'u_p depends on the frame of reference, so that neither
 * its sign nor a ratio has a meaning: a displacement other than 0 is prescribed, or heat flows
 * between several prescribed or ambient temperatures. */
int hx_compliance_is_shifted(const hx_session *s);

/* 100 (b / a - 1); NaN if the zero is shifted, or if one of them is not positive. */
double hx_compliance_percent(int is_shifted, double a, double b);

#endif
