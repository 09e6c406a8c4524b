/* Fault injection for devices, in a build for tests (../base/fault.h): memory and queue operations
 * of any device fail on request. */
#ifndef HX_DEVICE_FAULT_H
#define HX_DEVICE_FAULT_H

#include "../base/fault.h"
#include "device.h"

#ifdef HX_FAULT_INJECTION

/* Returns a copy of the table with hooks of kind "device" before its calls. A site is the name of
 * the call and the place it is called from, such as "alloc+6703"; tests only need it to be
 * identical in every run of a program. Later calls with this table return the same pointer. */
const hx_device_ops *hx_device_faulty(const hx_device_ops *ops);

/* Sets the place that calls in this thread appear to come from, until it is called with NULL. */
void hx_device_fault_from(const void *place);
#define HX_DEVICE_FAULT_FROM_CALLER() hx_device_fault_from(__builtin_return_address(0))
#define HX_DEVICE_FAULT_FROM_HERE() hx_device_fault_from(NULL)

#else

#define HX_DEVICE_FAULT_FROM_CALLER() ((void)0)
#define HX_DEVICE_FAULT_FROM_HERE() ((void)0)

static inline const hx_device_ops *hx_device_faulty(const hx_device_ops *ops)
{
    return ops;
}

#endif

#endif
