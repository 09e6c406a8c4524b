/* Device memory that is kept from range to range. Sizes of ranges differ slightly, so blocks are
 * rounded up by at most an eighth and can be reused. */
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "matrix_job.h"

typedef struct hx_kept_block {
    void *d_p;
    size_t bytes;
    int is_used;
} hx_kept_block;

enum { LEAST_STEP = 512 };

static size_t rounded(size_t bytes)
{
    size_t step = LEAST_STEP;
    while (bytes > 16 * step) step *= 2;
    return bytes > 0 ? (bytes + step - 1) / step * step : LEAST_STEP;
}

static hx_matrix_memory *of_device(hx_device *dev)
{
    return (hx_matrix_memory *)dev->ops;
}

static void release_unused(hx_matrix_memory *m)
{
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        if (m->block[i].is_used) {
            m->block[n++] = m->block[i];
            continue;
        }
        m->held -= m->block[i].bytes;
        m->layer.under->release(m->dev, m->block[i].d_p);
    }
    m->n = n;
}

static hx_kept_block *find_unused(hx_matrix_memory *m, size_t bytes)
{
    for (int i = 0; i < m->n; i++)
        if (!m->block[i].is_used && m->block[i].bytes == bytes) return &m->block[i];
    return NULL;
}

static int alloc(hx_device *dev, size_t bytes, void *d_out)
{
    hx_matrix_memory *const m = of_device(dev);
    const size_t n = rounded(bytes);
    hx_kept_block *block = find_unused(m, n);
    memset(d_out, 0, sizeof(void *));
    if (!block) {
        void *d_p = NULL;
        if ((double)(m->held + n) > m->limit) release_unused(m);
        HX_TRY(hx_grow(&m->block, (size_t)m->n, &m->room, sizeof *m->block, "list of blocks"));
        int rc = m->layer.under->alloc(m->dev, n, &d_p);
        if (rc < 0) { /* freeing the kept memory may make the allocation possible */
            release_unused(m);
            rc = m->layer.under->alloc(m->dev, n, &d_p);
        }
        if (rc < 0) return rc;
        block = &m->block[m->n++];
        *block = (hx_kept_block){.d_p = d_p, .bytes = n};
        m->held += n;
        if (m->held > m->most_held) m->most_held = m->held;
    }
    block->is_used = 1;
    m->used += n;
    if (m->used > m->most) m->most = m->used;
    memcpy(d_out, &block->d_p, sizeof block->d_p);
    return HX_OK;
}

/* Memory that is not in the list was allocated earlier, or by the device itself. */
static void release_in_memory(hx_device *dev, void *d_p)
{
    hx_matrix_memory *const m = of_device(dev);
    for (int i = 0; d_p && i < m->n; i++)
        if (m->block[i].d_p == d_p) {
            m->block[i].is_used = 0;
            m->used -= m->block[i].bytes;
            return;
        }
    m->layer.under->release(dev, d_p);
}

static int memory(hx_device *dev, size_t *n_free, size_t *n_total)
{
    const hx_matrix_memory *const m = of_device(dev);
    HX_TRY(m->layer.under->memory(dev, n_free, n_total));
    if (*n_free > 0) *n_free += m->held - m->used;
    return HX_OK;
}

void hx_matrix_memory_open(hx_matrix_memory *m, hx_device *dev, double limit)
{
    memset(m, 0, sizeof *m);
    m->dev = dev;
    m->layer.under = dev->ops;
    m->limit = limit;
    m->layer.ops = *dev->ops;
    m->layer.ops.alloc = alloc;
    m->layer.ops.release = release_in_memory;
    m->layer.ops.memory = memory;
    dev->ops = &m->layer.ops;
}

void hx_matrix_memory_close(hx_matrix_memory *m)
{
    if (!m->layer.under) return;
    for (int i = 0; i < m->n; i++) m->layer.under->release(m->dev, m->block[i].d_p);
    free(m->block);
    m->dev->ops = m->layer.under;
    memset(m, 0, sizeof *m);
}
