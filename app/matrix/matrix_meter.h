/* How much of a device's memory is taken at its peak. */
#ifndef HX_MATRIX_METER_H
#define HX_MATRIX_METER_H

#include "core/device/device.h"

/* A table of operations laid over that of an open device, which goes on to the one below. */
typedef struct hx_device_layer {
    hx_device_ops ops;          /* the device's, while it is open: first, to be found from there */
    const hx_device_ops *under; /* what the device had; NULL: closed */
} hx_device_layer;

/* Counts what is allocated while it is open. For one thread; it must not move. */
typedef struct hx_matrix_meter {
    hx_device_layer layer;    /* first */
    hx_device *dev;           /* (borrowed) */
    struct hx_metered *block; /* (owned) */
    int n, room;
    size_t used, most;  /* bytes: now, and at most since the meter was opened */
    size_t most_lately; /* since hx_matrix_meter_restart */
} hx_matrix_meter;

/* Other layers are opened after it, and closed before. */
void hx_matrix_meter_open(hx_matrix_meter *meter, hx_device *dev);
/* What was allocated meanwhile stays. Accepts a zeroed struct. */
void hx_matrix_meter_close(hx_matrix_meter *meter);
void hx_matrix_meter_restart(hx_matrix_meter *meter);

/* "1.2 GB of the host, 3 GB of the device": the peaks of this process, of which at least `known`
 * bytes on the device. Returns text. */
const char *hx_matrix_peaks(const hx_matrix_meter *meter, size_t known, char *text, size_t n_text);

#endif
