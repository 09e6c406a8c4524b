/* Monotonic wall clock. */
#ifndef HX_CLOCK_H
#define HX_CLOCK_H

#include "c_linkage.h"

HX_C_BEGIN

/* Seconds since an arbitrary start. */
double hx_clock(void);

HX_C_END

#endif
