/* The start of the device's driver in a thread of its own, beside the making of the mesh. */
#ifndef HX_DEVICE_START_H
#define HX_DEVICE_START_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/device/device.h"

typedef struct hx_device_start {
    pthread_t thread;
    int running;
    atomic_int is_done;
    const hx_device_ops *ops[8]; /* to prepare; NULL after the last */
    int place;                   /* of several devices, as hx_device_open_at counts */
    int n_thread;                /* of OpenMP, before one of them left its core; 0: none has */
} hx_device_start;

/* Prepares the device of that name, or with "auto" all that are built in, where no session of this
 * process has. What cannot be started
 * now starts when the device is opened. *start must stay where it is until the end. Until it is
 * done (hx_device_start_look) OpenMP has one thread less where it had one a core. */
void hx_device_start_begin(hx_device_start *start, const char *name, int place);

/* 1 until it is done: what is worth doing meanwhile may be done. */
int hx_device_start_is_running(const hx_device_start *start);

/* Between steps: gives OpenMP its thread back if the driver is there, or has failed. */
void hx_device_start_look(hx_device_start *start);

/* Waits for it. Accepts a zeroed or ended struct. */
void hx_device_start_end(hx_device_start *start);

#endif
