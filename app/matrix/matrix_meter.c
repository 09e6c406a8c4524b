/* Counts allocations and releases of a device. */
#include "matrix_meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/memory.h"

typedef struct hx_metered {
    void *d_p;
    size_t bytes;
} hx_metered;

static int alloc(hx_device *dev, size_t bytes, void *d_out);

/* Layers that were opened after the meter may be above it. */
static hx_matrix_meter *of_device(hx_device *dev)
{
    const hx_device_ops *ops = dev->ops;
    while (ops->alloc != alloc) ops = ((const hx_device_layer *)ops)->under;
    return (hx_matrix_meter *)ops;
}

static int alloc(hx_device *dev, size_t bytes, void *d_out)
{
    hx_matrix_meter *const m = of_device(dev);
    hx_metered block = {.bytes = bytes};
    memset(d_out, 0, sizeof(void *));
    HX_TRY(hx_grow(&m->block, (size_t)m->n, &m->room, sizeof *m->block, "list of blocks"));
    HX_TRY(m->layer.under->alloc(dev, bytes, &block.d_p));
    memcpy(d_out, &block.d_p, sizeof block.d_p);
    m->block[m->n++] = block;
    m->used += bytes;
    if (m->used > m->most) m->most = m->used;
    if (m->used > m->most_lately) m->most_lately = m->used;
    return HX_OK;
}

/* Memory that is not in the list was allocated before the meter was opened. The search begins with
 * the last block, which is the most likely one. */
static void release_in_meter(hx_device *dev, void *d_p)
{
    hx_matrix_meter *const m = of_device(dev);
    int i = d_p ? m->n - 1 : -1;
    while (i >= 0 && m->block[i].d_p != d_p) i--;
    if (i >= 0) {
        m->used -= m->block[i].bytes;
        m->block[i] = m->block[--m->n];
    }
    m->layer.under->release(dev, d_p);
}

void hx_matrix_meter_open(hx_matrix_meter *m, hx_device *dev)
{
    memset(m, 0, sizeof *m);
    m->dev = dev;
    m->layer.under = dev->ops;
    m->layer.ops = *dev->ops;
    m->layer.ops.alloc = alloc;
    m->layer.ops.release = release_in_meter;
    dev->ops = &m->layer.ops;
}

void hx_matrix_meter_close(hx_matrix_meter *m)
{
    if (!m->layer.under) return;
    free(m->block);
    m->dev->ops = m->layer.under;
    memset(m, 0, sizeof *m);
}

void hx_matrix_meter_restart(hx_matrix_meter *m)
{
    m->most_lately = m->used;
}

const char *hx_matrix_peaks(const hx_matrix_meter *m, size_t known, char *text, size_t n_text)
{
    const int is_shared = strcmp(m->dev->ops->name, "cpu") == 0;
    const size_t most = m->most > known ? m->most : known;
    char host[32], device[32];
    hx_format_bytes((double)hx_host_memory_peak(), host, sizeof host);
    hx_format_bytes((double)most, device, sizeof device);
    if (is_shared)
        snprintf(text, n_text, "%s of the host, whose memory the device shares", host);
    else
        snprintf(text, n_text, "%s of the host, %s of the device", host, device);
    return text;
}
