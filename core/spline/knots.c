#include "knots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"

static int check_knot_vector(int degree, int n, const double *knot)
{
    const int last = n + degree;
    if (degree < 1 || degree > HX_SPLINE_MAX_DEGREE)
        return HX_RAISE(HX_EINPUT, "the degree is %d; it must be 1 to %d", degree,
                        HX_SPLINE_MAX_DEGREE);
    if (n < degree + 1)
        return HX_RAISE(HX_EINPUT, "there are %d %s; degree %d needs at least %d", n,
                        hx_noun(n, "function", "functions"), degree, degree + 1);
    for (int i = 0; i <= last; i++) {
        if (!isfinite(knot[i])) return HX_RAISE(HX_EINPUT, "knot %d is not finite", i);
        if (i > 0 && knot[i] < knot[i - 1])
            return HX_RAISE(HX_EINPUT,
                            "the knots decrease from %g to %g at knot %d; they must not decrease",
                            knot[i - 1], knot[i], i);
    }
    if (knot[0] != knot[degree] || knot[n] != knot[last])
        return HX_RAISE(HX_EINPUT,
                        "the knot vector is not open: degree %d needs the first and the last knot "
                        "%d times",
                        degree, degree + 1);
    for (int i = 1; i + degree < last; i++)
        if (knot[i] == knot[i + degree])
            return HX_RAISE(HX_EINPUT,
                            "knot %g occurs more than %d times (from knot %d), so the spline would "
                            "have two pieces",
                            knot[i], degree, i);
    return 0;
}

int hx_knots_create(hx_knots *knots, int degree, int n, const double *knot)
{
    const size_t n_knot = (size_t)n + (size_t)degree + 1;
    *knots = (hx_knots){.degree = degree, .n = n};
    HX_TRY(check_knot_vector(degree, n, knot));
    int rc = hx_alloc(&knots->knot, n_knot, sizeof *knots->knot, "knots");
    if (rc == 0) rc = hx_alloc(&knots->span, (size_t)n, sizeof *knots->span, "spans");
    if (rc < 0) {
        hx_knots_free(knots);
        return rc;
    }
    memcpy(knots->knot, knot, n_knot * sizeof *knot);
    for (int s = degree; s < n; s++)
        if (knot[s] < knot[s + 1]) knots->span[knots->n_span++] = s;
    return 0;
}

int hx_knots_find(const hx_knots *knots, double t)
{
    int low = 0, high = knots->n_span - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (knots->knot[knots->span[middle]] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void hx_knots_values(const hx_knots *knots, int i, double t, double value[HX_SPLINE_MAX_ORDER],
                     double slope[HX_SPLINE_MAX_ORDER])
{
    const int p = knots->degree, s = knots->span[i];
    const double *const u = knots->knot;
    double lower[HX_SPLINE_MAX_ORDER] = {0.0}; /* values of degree p - 1 */
    value[0] = 1.0;
    for (int d = 1; d <= p; d++) {
        double carried = 0.0;
        if (d == p) memcpy(lower, value, (size_t)d * sizeof *lower);
        for (int k = 0; k < d; k++) {
            const double left = u[s + 1 + k - d], right = u[s + 1 + k];
            const double share = value[k] / (right - left);
            value[k] = carried + (right - t) * share;
            carried = (t - left) * share;
        }
        value[d] = carried;
    }
    for (int k = 0; k <= p; k++) {
        const double up = k > 0 ? lower[k - 1] / (u[s + k] - u[s + k - p]) : 0.0;
        const double down = k < p ? lower[k] / (u[s + k + 1] - u[s + k + 1 - p]) : 0.0;
        slope[k] = p * (up - down);
    }
}

int hx_knots_multiplicity(const hx_knots *knots, double t)
{
    int count = 0;
    for (int i = 0; i <= knots->n + knots->degree; i++) count += knots->knot[i] == t;
    return count;
}

void hx_knots_free(hx_knots *knots)
{
    free(knots->knot);
    free(knots->span);
    *knots = (hx_knots){0};
}
