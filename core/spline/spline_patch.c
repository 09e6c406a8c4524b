#include "spline_patch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"

static int make_axes(hx_spline_patch *patch, const hx_spline_raw *raw)
{
    for (int d = 0; d < 3; d++) {
        const int64_t degree = raw->degree[d], n = raw->n_knot[d] - degree - 1;
        int rc = HX_OK;
        if (degree < 0 || degree > INT_MAX)
            rc = HX_RAISE(HX_EINPUT, "the degree is %lld; it must be 1 to %d", (long long)degree,
                          HX_SPLINE_MAX_DEGREE);
        else if (n < 1 || n > INT_MAX / 2)
            rc = HX_RAISE(HX_EINPUT, "there are %lld %s; degree %lld needs at least %lld",
                          (long long)raw->n_knot[d], hx_noun(raw->n_knot[d], "knot", "knots"),
                          (long long)degree, (long long)(2 * degree + 2));
        else
            rc = hx_knots_create(&patch->axis[d], (int)degree, (int)n, raw->knot[d]);
        if (rc < 0) hx_error_prefix("direction %c: ", "uvw"[d]);
        if (rc < 0) return rc;
    }
    return HX_OK;
}

/* HX_EINPUT unless n is `each` times the product of the numbers of functions. */
static int check_count(const hx_spline_patch *patch, int64_t n, int each, const char *what)
{
    const hx_knots *const axis = patch->axis;
    /* as double: it may overflow integers */
    const double wanted = (double)each * axis[0].n * axis[1].n * axis[2].n;
    if ((double)n == wanted) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "there are %lld %s, but %d x %d x %d control %s need %.0f (n knots of degree p "
                    "define n - p - 1 control points)",
                    (long long)n, what, axis[0].n, axis[1].n, axis[2].n,
                    hx_noun(axis[2].n, "point", "points"), wanted);
}

static int copy_weights(hx_spline_patch *patch, const hx_spline_raw *raw)
{
    int is_rational = 0;
    HX_TRY(check_count(patch, raw->n_weight, 1, "weights"));
    for (int64_t i = 0; i < raw->n_weight; i++) {
        const double w = raw->weight[i];
        if (!(w > 0.0) || !isfinite(w))
            return HX_RAISE(HX_EINPUT, "control point %lld has weight %g; weights must be above 0",
                            (long long)i, w);
        is_rational |= w != 1.0;
    }
    if (!is_rational) return HX_OK;
    HX_TRY(hx_alloc_raw(&patch->weight, (size_t)raw->n_weight, sizeof *patch->weight,
                        "weights of points"));
    memcpy(patch->weight, raw->weight, (size_t)raw->n_weight * sizeof *patch->weight);
    return HX_OK;
}

static int make_spline_patch(hx_spline_patch *patch, const hx_spline_raw *raw)
{
    HX_TRY(make_axes(patch, raw));
    HX_TRY(check_count(patch, raw->n_coordinate, 3, "coordinates"));
    for (int64_t i = 0; i < raw->n_coordinate; i++)
        if (!isfinite(raw->coordinate[i]))
            return HX_RAISE(HX_EINPUT, "control point %lld: coordinate %c is not finite",
                            (long long)(i / 3), "xyz"[i % 3]);
    if (raw->weight) HX_TRY(copy_weights(patch, raw));
    HX_TRY(hx_alloc_raw(&patch->point, (size_t)raw->n_coordinate, sizeof *patch->point,
                        "control points"));
    memcpy(patch->point, raw->coordinate, (size_t)raw->n_coordinate * sizeof *patch->point);
    return HX_OK;
}

int hx_spline_patch_make(hx_spline_patch *patch, const hx_spline_raw *raw)
{
    *patch = (hx_spline_patch){0};
    const int rc = make_spline_patch(patch, raw);
    if (rc < 0) hx_spline_patch_free(patch);
    return rc;
}

void hx_spline_patch_free(hx_spline_patch *patch)
{
    for (int d = 0; d < 3; d++) hx_knots_free(&patch->axis[d]);
    free(patch->point);
    free(patch->weight);
    free(patch->number);
    *patch = (hx_spline_patch){0};
}
