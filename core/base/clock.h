/* Monotonic wall clock. */
#ifndef HX_CLOCK_H
#define HX_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since an arbitrary start. */
double hx_clock(void);

#ifdef __cplusplus
}
#endif

#endif
