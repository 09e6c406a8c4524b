#include "device_fault.h"

#include <stdio.h>
#include <string.h>

int hx_device_open(hx_device *dev, const hx_device_ops *ops)
{
    return hx_device_open_at(dev, ops, 0);
}

int hx_device_open_at(hx_device *dev, const hx_device_ops *ops, int place)
{
    char why[256] = "";
    memset(dev, 0, sizeof *dev);
    if (!ops->available(why, sizeof why))
        return HX_RAISE(HX_EENV, "device '%s' is not available here: %s", ops->name, why);
    dev->place = place;
    dev->ops = hx_device_faulty(ops);
    const int rc = dev->ops->open(dev);
    if (rc < 0) hx_device_close(dev);
    return rc;
}

int hx_device_put(hx_device *dev, void *d_out, const void *from, size_t bytes)
{
    void *d_p;
    HX_DEVICE_FAULT_FROM_CALLER();
    int rc = dev->ops->alloc(dev, bytes, d_out);
    memcpy(&d_p, d_out, sizeof d_p);
    if (rc == HX_OK && bytes > 0) rc = dev->ops->upload(dev, d_p, from, bytes);
    HX_DEVICE_FAULT_FROM_HERE();
    return rc;
}

void hx_device_close(hx_device *dev)
{
    if (dev->ops) dev->ops->close(dev);
    memset(dev, 0, sizeof *dev);
}
