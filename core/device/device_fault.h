/* Faults of devices in a build for tests (../base/fault.h): the memory and the queue of any device
 * fail when told to. */
#ifndef HX_DEVICE_FAULT_H
#define HX_DEVICE_FAULT_H

#include "../base/fault.h"
#include "device.h"

#ifdef HX_FAULT_INJECTION

/* The same table with hooks of kind "device" before its calls; a site is the name of the call and
 * the place that it comes from, "alloc+6703": tests need no more than that it is the same one in
 * every run of a program. Later calls with the same table get the same answer. */
const hx_device_ops *hx_device_faulty(const hx_device_ops *ops);

/* Until it is called with NULL: the place that calls come from, in this thread. */
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
