#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const char what[] = "values of all ranks";

/* *out := every[size] of `bytes` each; the caller frees it. */
static int gather_values(const hx_reduce *reduce, size_t bytes, const void *own, void *out)
{
    void **const every = out;
    HX_TRY(hx_alloc_raw(every, (size_t)reduce->size, bytes, what));
    const int rc = reduce->gather(reduce, own, bytes, *every);
    if (rc < 0) free(*every);
    return rc;
}

int hx_reduce_sum(const hx_reduce *reduce, int n, double *value)
{
    double *every;
    if (!reduce) return HX_OK;
    HX_TRY(gather_values(reduce, (size_t)n * sizeof *value, value, &every));
    for (int i = 0; i < n; i++) {
        value[i] = every[i];
        for (int r = 1; r < reduce->size; r++) value[i] += every[r * n + i];
    }
    free(every);
    return HX_OK;
}

int hx_reduce_sum_i64(const hx_reduce *reduce, int n, int64_t *value)
{
    int64_t *every;
    if (!reduce) return HX_OK;
    HX_TRY(gather_values(reduce, (size_t)n * sizeof *value, value, &every));
    for (int i = 0; i < n; i++) {
        uint64_t sum = 0; /* unsigned, since hashes wrap around */
        for (int r = 0; r < reduce->size; r++) sum += (uint64_t)every[r * n + i];
        value[i] = (int64_t)sum;
    }
    free(every);
    return HX_OK;
}

int hx_reduce_max(const hx_reduce *reduce, int n, double *value)
{
    double *every;
    if (!reduce) return HX_OK;
    HX_TRY(gather_values(reduce, (size_t)n * sizeof *value, value, &every));
    for (int i = 0; i < n; i++)
        for (int r = 0; r < reduce->size; r++)
            if (every[r * n + i] > value[i]) value[i] = every[r * n + i];
    free(every);
    return HX_OK;
}

int hx_reduce_first(const hx_reduce *reduce, void *p, size_t bytes)
{
    char *every;
    if (!reduce) return HX_OK;
    HX_TRY(gather_values(reduce, bytes, p, &every));
    memcpy(p, every, bytes);
    free(every);
    return HX_OK;
}

int hx_reduce_exscan(const hx_reduce *reduce, int64_t value, int64_t *before)
{
    int64_t *every;
    *before = 0;
    if (!reduce) return HX_OK;
    HX_TRY(gather_values(reduce, sizeof value, &value, &every));
    for (int r = 0; r < reduce->rank; r++) *before += every[r];
    free(every);
    return HX_OK;
}

enum { BLOCK = 1 << 19 };

int hx_reduce_min_u16(const hx_reduce *reduce, int64_t n, uint16_t *value)
{
    uint16_t *every;
    int rc = HX_OK;
    if (!reduce) return HX_OK;
    HX_TRY(hx_alloc_raw(&every, (size_t)reduce->size * BLOCK, sizeof *every, what));
    for (int64_t at = 0; rc == HX_OK && at < n; at += BLOCK) {
        const int64_t m = n - at < BLOCK ? n - at : BLOCK;
        rc = reduce->gather(reduce, value + at, (size_t)m * sizeof *value, every);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < m; i++)
            for (int r = 0; r < reduce->size; r++)
                if (every[r * m + i] < value[at + i]) value[at + i] = every[r * m + i];
    }
    free(every);
    return rc;
}
