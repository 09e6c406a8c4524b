/* The state of a limit on the local volume (response_local_volume.c). */
#ifndef HX_LOCAL_VOLUME_H
#define HX_LOCAL_VOLUME_H

#include "ball.h"
#include "response.h"

HX_C_BEGIN

typedef struct hx_local_volume {
    hx_ball ball;
    uint8_t *d_counts; /* [n_elem] 1: the element is a centre (owned, like the next three) */
    double *d_weight;  /* [n_elem] volume of a centre, else 0 */
    double *d_mean;    /* [n_elem] means of the analysed design */
    double *d_own;     /* scratch field; NULL: the optimizer lends one */
    double total;      /* volume of the centres of all processes */
    double largest, norm, ratio, scale; /* ratio: largest / norm; scale = 0: not yet known */
} hx_local_volume;

extern const hx_response_kind hx_response_local_volume;

HX_C_END

#endif
