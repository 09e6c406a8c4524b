/* Work that runs concurrently with a device's queue (hx_device_ops.beside_from). On a device with a
 * single queue, all of it runs in the order in which it is queued. */
#ifndef HX_BESIDE_H
#define HX_BESIDE_H

#include "device.h"

static inline int hx_beside_from(hx_device *dev)
{
    return dev->ops->beside_from ? dev->ops->beside_from(dev) : HX_OK;
}

static inline int hx_beside_begin(hx_device *dev)
{
    return dev->ops->beside_begin ? dev->ops->beside_begin(dev) : HX_OK;
}

static inline int hx_beside_end(hx_device *dev)
{
    return dev->ops->beside_end ? dev->ops->beside_end(dev) : HX_OK;
}

#endif
