/* Quality of triangles: the worst one, and a quantile. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/quantile.h"
#include "../base/sum.h"
#include "surface_internal.h"

/* Bins between the qualities 0 and 1. Only triangles in the bins below the quantile are sorted. */
enum { N_BIN = 256 };

static const double share = 0.01;

static int bin_of(double quality)
{
    return quality < 1.0 ? (int)(quality * N_BIN) : N_BIN - 1;
}

int hx_surface_quality(const double *xyz, int64_t n_tri, const int32_t *tri, double *worst,
                       double *low)
{
    int64_t count[N_BIN] = {0}, n_low = 0, n = 0;
    double *quality, *sorted = NULL;
    int rc, last = 0;
    *worst = *low = 0.0;
    if (n_tri == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&quality, (size_t)n_tri, sizeof *quality, "qualities of triangles"));
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < n_tri; t++)
        quality[t] =
            hx_triangle_quality(xyz + 3 * (int64_t)tri[3 * t], xyz + 3 * (int64_t)tri[3 * t + 1],
                                xyz + 3 * (int64_t)tri[3 * t + 2]);
    for (int64_t t = 0; t < n_tri; t++) count[bin_of(quality[t])]++;
    /* the quantile lies between two neighbours in the sorted list, and both must be in it */
    const int64_t n_want = (int64_t)(share * (double)(n_tri - 1)) + 2;
    for (n_low = count[0]; n_low < n_want && last < N_BIN - 1;) n_low += count[++last];
    HX_TRY_FAIL(hx_alloc_raw(&sorted, (size_t)n_low, sizeof *sorted, "qualities of triangles"));
    for (int64_t t = 0; t < n_tri; t++)
        if (bin_of(quality[t]) <= last) sorted[n++] = quality[t];
    hx_sort_values(sorted, (size_t)n);
    *worst = sorted[0];
    *low = hx_quantile(sorted, (size_t)n, share * (double)(n_tri - 1) / fmax((double)(n - 1), 1.0));
fail:
    free(quality);
    free(sorted);
    return rc;
}
