/* Peak of the memory of a device. */
#ifndef HX_MATRIX_METER_H
#define HX_MATRIX_METER_H

#include "core/device/device.h"

/* A table of operations that replaces that of an open device and calls the one below. */
typedef struct hx_device_layer {
    /* the device's table while it is open; must be first, so that the struct is found from it */
    hx_device_ops ops;
    const hx_device_ops *under; /* the table that it replaced; NULL: closed */
} hx_device_layer;

/* Counts allocations while it is open. For one thread; it must not move. */
typedef struct hx_matrix_meter {
    hx_device_layer layer;    /* must be first */
    hx_device *dev;           /* (borrowed) */
    struct hx_metered *block; /* (owned) */
    int n;
    size_t room;
    size_t used, most;  /* bytes: current, and peak since the meter was opened */
    size_t most_lately; /* peak since hx_matrix_meter_restart */
} hx_matrix_meter;

/* Other layers must be opened after it, and closed before. */
void hx_matrix_meter_open(hx_matrix_meter *meter, hx_device *dev);
/* Memory allocated meanwhile stays valid. Accepts a zeroed struct. */
void hx_matrix_meter_close(hx_matrix_meter *meter);
void hx_matrix_meter_restart(hx_matrix_meter *meter);

/* "1.2 GB of the host, 3 GB of the device": the peaks of this process, on the device at least
 * `known` bytes. Returns text. */
const char *hx_matrix_peaks(const hx_matrix_meter *meter, size_t known, char *text, size_t n_text);

#endif
