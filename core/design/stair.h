/* Continuation: a number that rises in steps between design iterations. */
#ifndef HX_STAIR_H
#define HX_STAIR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_stair {
    double value, last;
    double factor, step; /* the next value is factor * value + step, and at most `last` */
    int every;           /* design iterations with a value, at most; 0: it never rises */
    int spent;           /* of them */
} hx_stair;

/* 1 once there is nothing to climb. */
int hx_stair_ended(const hx_stair *stair);

/* After a design iteration. settled: the design hardly changes, nothing is gained by waiting.
 * Returns 1 if the value has risen. */
int hx_stair_climb(hx_stair *stair, int settled);

/* Design iterations before those with the last value, at most. */
int hx_stair_iterations(const hx_stair *stair);

#ifdef __cplusplus
}
#endif

#endif
