/* The start of the device's driver in a thread of its own, beside the making of the mesh. */
#ifndef HX_DEVICE_START_H
#define HX_DEVICE_START_H

#include <pthread.h>

#include "core/device/device.h"

typedef struct hx_device_start {
    pthread_t thread;
    int running;
    const hx_device_ops *ops[8]; /* to prepare; NULL after the last */
} hx_device_start;

/* Prepares the device of that name, or with "auto" all that are built in, where no session of this
 * process has. What cannot be started
 * now starts when the device is opened. *start must stay where it is until the end. */
void hx_device_start_begin(hx_device_start *start, const char *name);

/* Waits for it. Accepts a zeroed or ended struct. */
void hx_device_start_end(hx_device_start *start);

#endif
