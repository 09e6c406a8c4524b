/* Work that runs concurrently with a device's queue (hx_device_ops.fork_point). On a device with a
 * single queue, all work runs in the order in which it is queued. */
#ifndef HX_CONCURRENT_H
#define HX_CONCURRENT_H

#include "device.h"

static inline int hx_fork_point(hx_device *dev)
{
    return dev->ops->fork_point ? dev->ops->fork_point(dev) : HX_OK;
}

static inline int hx_fork(hx_device *dev)
{
    return dev->ops->fork ? dev->ops->fork(dev) : HX_OK;
}

static inline int hx_join(hx_device *dev)
{
    return dev->ops->join ? dev->ops->join(dev) : HX_OK;
}

#endif
