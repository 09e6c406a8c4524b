/* Heights along a direction, and the order by height. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/vec3.h"
#include "sweep.h"

double hx_sweep_height(const hx_mesh *mesh, int64_t e, const double direction[3], double *extent)
{
    double low = INFINITY, high = -INFINITY, centroid[3];
    for (int a = 0; a < 8; a++) {
        const double h = hx_dot3(mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a], direction);
        low = fmin(low, h);
        high = fmax(high, h);
    }
    hx_mesh_centroid(mesh, e, centroid);
    *extent = high - low;
    return hx_dot3(centroid, direction);
}

/* A key that orders unsigned integers like the numbers. */
static uint64_t ordered_bits(double x)
{
    uint64_t bits;
    const double plain = x + 0.0; /* no negative zero */
    memcpy(&bits, &plain, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

int hx_sweep_sort(int64_t n, const double *key, int32_t *order)
{
    uint64_t *bits;
    HX_TRY(hx_alloc_raw(&bits, (size_t)n, sizeof *bits, "heights"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) bits[e] = ordered_bits(key[e]);
    const int rc = hx_radix_sort(bits, order, n, 64);
    free(bits);
    return rc;
}
