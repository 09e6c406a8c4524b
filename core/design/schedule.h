/* Continuation schedule (`schedule`): a number that rises in steps between design iterations. */
#ifndef HX_SCHEDULE_H
#define HX_SCHEDULE_H

#include "../base/c_linkage.h"

HX_C_BEGIN

typedef struct hx_schedule {
    double value, last;
    double factor, step; /* the next value is factor * value + step, and at most `last` */
    int every;           /* design iterations per value, at most; 0: it never rises */
    int spent;           /* iterations spent at this value */
} hx_schedule;

/* Returns 1 if the value is the last one. */
int hx_schedule_ended(const hx_schedule *schedule);

/* Call after a design iteration. settled: the design hardly changes, so waiting gains nothing.
 * Returns 1 if the value has risen. */
int hx_schedule_advance(hx_schedule *schedule, int settled);

/* Upper bound of the design iterations before those with the last value. */
int hx_schedule_iterations(const hx_schedule *schedule);

HX_C_END

#endif
