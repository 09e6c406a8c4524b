/* Continuation schedule (`stair`): a number that rises in steps between design iterations. */
#ifndef HX_STAIR_H
#define HX_STAIR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_stair {
    double value, last;
    double factor, step; /* the next value is factor * value + step, and at most `last` */
    int every;           /* design iterations per value, at most; 0: it never rises */
    int spent;           /* iterations spent at this value */
} hx_stair;

/* Returns 1 if the value is the last one. */
int hx_stair_ended(const hx_stair *stair);

/* Call after a design iteration. settled: the design hardly changes, so waiting gains nothing.
 * Returns 1 if the value has risen. */
int hx_stair_climb(hx_stair *stair, int settled);

/* Upper bound of the design iterations before those with the last value. */
int hx_stair_iterations(const hx_stair *stair);

#ifdef __cplusplus
}
#endif

#endif
