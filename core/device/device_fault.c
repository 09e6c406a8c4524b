#include "device_fault.h"

#ifdef HX_FAULT_INJECTION

#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 4 };

static struct {
    const hx_device_ops *real;
    hx_device_ops faulty;
} device[MOST_DEVICES];

static _Thread_local const void *caller;

void hx_device_fault_from(const void *place)
{
    caller = place;
}

/* Tests copy tables, so the name identifies the device. */
static const hx_device_ops *real_of(const hx_device *dev)
{
    int i = 0;
    while (strcmp(device[i].real->name, dev->ops->name) != 0) i++;
    return device[i].real;
}

/* Returns the error with which a call is to fail; HX_OK: it is not to fail. */
static int fail(const char *call, const void *from)
{
    char site[64];
    if (caller) from = caller;
    snprintf(site, sizeof site, "%s%+td", call, (const char *)from - (const char *)&device);
    switch (hx_fault_at("device", site, 0)) {
    case HX_FAULT_NONE:
        return HX_OK;
    case HX_FAULT_MEMORY:
        return HX_RAISE(HX_ENOMEM, "out of device memory (injected, %s)", site);
    default:
        return HX_RAISE(HX_EDEVICE, "the device failed (injected, %s): %s", site, HX_DEVICE_REMEDY);
    }
}

#define TRY_FAULT(call) HX_TRY(fail(call, __builtin_return_address(0)))

/* faulty_NAME: the operation NAME of the device, unless it is to fail. */
#define FAULTY(name, parameters, arguments)                                                        \
    static int faulty_##name parameters                                                            \
    {                                                                                              \
        TRY_FAULT(#name);                                                                          \
        return real_of(dev)->name arguments;                                                       \
    }
FAULTY(open, (hx_device * dev), (dev))
FAULTY(memory, (hx_device * dev, size_t *n_free, size_t *n_total), (dev, n_free, n_total))
FAULTY(upload, (hx_device * dev, void *d_to, const void *from, size_t bytes),
       (dev, d_to, from, bytes))
FAULTY(download, (hx_device * dev, void *to, const void *d_from, size_t bytes),
       (dev, to, d_from, bytes))
FAULTY(copy, (hx_device * dev, void *d_to, const void *d_from, size_t bytes),
       (dev, d_to, d_from, bytes))
FAULTY(zero, (hx_device * dev, void *d_to, size_t bytes), (dev, d_to, bytes))
FAULTY(sync, (hx_device * dev), (dev))
FAULTY(mark, (hx_device * dev, int slot), (dev, slot))
FAULTY(elapsed, (hx_device * dev, int from, int to, double *seconds), (dev, from, to, seconds))
FAULTY(record_begin, (hx_device * dev), (dev))
FAULTY(replay, (hx_device * dev, void *recording), (dev, recording))

static int faulty_alloc(hx_device *dev, size_t bytes, void *d_out)
{
    void *const none = NULL;
    memcpy(d_out, &none, sizeof none);
    TRY_FAULT("alloc");
    return real_of(dev)->alloc(dev, bytes, d_out);
}

/* Ends the recording in any case. */
static int faulty_record_end(hx_device *dev, void **recording)
{
    const hx_device_ops *const real = real_of(dev);
    const int failed = fail("record_end", __builtin_return_address(0));
    const int rc = real->record_end(dev, recording);
    if (failed == HX_OK) return rc;
    if (rc == HX_OK) real->record_free(dev, *recording);
    *recording = NULL;
    return failed;
}

const hx_device_ops *hx_device_faulty(const hx_device_ops *ops)
{
    hx_device_ops *f;
    int i = 0;
    while (device[i].real && device[i].real != ops && &device[i].faulty != ops) i++;
    f = &device[i].faulty;
    if (device[i].real) return f;
    device[i].real = ops;
    *f = *ops;
    f->open = faulty_open;
    f->memory = faulty_memory;
    f->alloc = faulty_alloc;
    f->upload = faulty_upload;
    f->download = faulty_download;
    f->copy = faulty_copy;
    f->zero = faulty_zero;
    f->sync = faulty_sync;
    f->mark = faulty_mark;
    f->elapsed = faulty_elapsed;
    if (!ops->record_begin) return f;
    f->record_begin = faulty_record_begin;
    f->record_end = faulty_record_end;
    f->replay = faulty_replay;
    return f;
}

#else

typedef int hx_device_fault_is_off; /* ISO C forbids an empty translation unit */

#endif
