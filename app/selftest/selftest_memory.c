/* Patterns written to a device's memory and read back: each word depends on its place, then all
 * bits are inverted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/random.h"
#include "selftest.h"

enum { CHUNK = 1 << 23, MOST_CHUNK = 4096 }; /* words of 8 bytes: 64 MB */

typedef struct memory_test {
    hx_device *dev;
    int n;                   /* number of chunks */
    uint64_t *d[MOST_CHUNK]; /* (owned) */
    uint64_t *word;          /* [CHUNK] (owned) */
} memory_test;

static uint64_t pattern(int chunk, int64_t i, int pass)
{
    const uint64_t bits = hx_random_mix(((uint64_t)chunk << 32) + (uint64_t)i);
    return pass ? ~bits : bits;
}

static int take_memory(memory_test *m, double bytes)
{
    const double size = CHUNK * sizeof(uint64_t);
    while (m->n < MOST_CHUNK && (double)m->n * size < bytes) {
        HX_TRY(m->dev->ops->alloc(m->dev, CHUNK * sizeof(uint64_t), &m->d[m->n]));
        m->n++;
    }
    return HX_OK;
}

/* Checks the free memory, with some left for others. */
static int check_room(const memory_test *m, double bytes)
{
    char want[32], have[32];
    size_t n_free = 0, n_total = 0;
    HX_TRY(m->dev->ops->memory(m->dev, &n_free, &n_total));
    if (n_free == 0) n_free = hx_host_memory_available();
    if (n_free == 0 || bytes <= 0.9 * (double)n_free) return HX_OK;
    return HX_RAISE(HX_EENV, "%s of %s that are free; give a smaller number",
                    hx_format_bytes(bytes, want, sizeof want),
                    hx_format_bytes((double)n_free, have, sizeof have));
}

/* Everything is written before anything is read. */
static int pass(memory_test *m, int number, double *n_wrong)
{
    for (int c = 0; c < m->n; c++) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < CHUNK; i++) m->word[i] = pattern(c, i, number);
        HX_TRY(m->dev->ops->upload(m->dev, m->d[c], m->word, CHUNK * sizeof *m->word));
        HX_TRY(m->dev->ops->sync(m->dev));
    }
    for (int c = 0; c < m->n; c++) {
        int64_t wrong = 0;
        HX_TRY(m->dev->ops->download(m->dev, m->word, m->d[c], CHUNK * sizeof *m->word));
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (int64_t i = 0; i < CHUNK; i++) wrong += m->word[i] != pattern(c, i, number);
        *n_wrong += (double)wrong;
    }
    return HX_OK;
}

static int check_memory_test(hx_selftest *t, memory_test *m, double bytes)
{
    char text[32];
    double n_wrong = 0.0;
    hx_selftest_begin(t, "%s written and read, twice", hx_format_bytes(bytes, text, sizeof text));
    int rc = hx_alloc_raw(&m->word, CHUNK, sizeof *m->word, "a pattern");
    if (rc >= 0) rc = check_room(m, bytes);
    if (rc >= 0) rc = take_memory(m, bytes);
    for (int i = 0; i < 2 && rc >= 0; i++) rc = pass(m, i, &n_wrong);
    while (m->n > 0) m->dev->ops->release(m->dev, m->d[--m->n]);
    free(m->word);
    return hx_selftest_end(t, rc, n_wrong, 0.0, "wrong words");
}

int hx_selftest_run_memory(hx_selftest *t, const hx_selftest_parts *parts, double bytes)
{
    memory_test m = {.dev = &t->device};
    t->parts = *parts;
    t->section = "memory";
    int rc = hx_device_open(&t->device, parts->device);
    if (rc < 0) {
        char why[200];
        snprintf(why, sizeof why, "%.199s", hx_error_message());
        hx_selftest_begin(t, "open %s", parts->device->name);
        return hx_selftest_end(t, HX_RAISE(rc, "%s", why), NAN, 0.0, "-");
    }
    rc = check_memory_test(t, &m, bytes);
    hx_device_close(&t->device);
    memset(&t->device, 0, sizeof t->device);
    return rc;
}
