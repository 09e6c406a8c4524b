/* Starts the driver of the device in another thread while the mesh is made. */
#ifndef HX_DEVICE_START_H
#define HX_DEVICE_START_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/device/device.h"

typedef struct hx_device_start {
    pthread_t thread;
    int running;
    atomic_int is_done;
    const hx_device_ops *ops[8]; /* devices to prepare; NULL after the last */
    int place;                   /* index among several devices, as in hx_device_open_at */
    int n_thread;                /* OpenMP threads before the start took one; 0: it took none */
} hx_device_start;

/* Prepares the device of that name, or with "auto" all devices of this build, unless a session of
 * this process has done so. A device that cannot be started now is started when it is opened.
 * *start must not move until the end. Until the start is complete (hx_device_start_look) OpenMP
 * uses one thread less if it had one per core. */
void hx_device_start_begin(hx_device_start *start, const char *name, int place);

/* 1 until the start is complete; other work can be done meanwhile. */
int hx_device_start_is_running(const hx_device_start *start);

/* Call between steps: gives OpenMP its thread back once the driver has started or failed. */
void hx_device_start_look(hx_device_start *start);

/* Waits for the thread. Accepts a zeroed or ended struct. */
void hx_device_start_end(hx_device_start *start);

#endif
