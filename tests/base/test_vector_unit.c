/* The vector unit: selected by name, and used by functions compiled in several versions. */
#include <math.h>
#include <string.h>

#include "../lib/test.h"
#include "core/base/error.h"
#include "core/base/vector_unit.h"
#include "core/base/vectorised.h"

/* x x - y: rounded once if multiplication and addition are fused, otherwise twice. */
HX_INLINED double less_lanes(double x, double y)
{
    return x * x - y;
}
HX_VERSIONS_OF(double, less, (double x, double y), (x, y))

HX_INLINED void put_lanes(double x, double y, double *out)
{
    *out = x * x - y;
}
HX_VERSIONS(put, (double x, double y, double *out), (x, y, out))

HX_INLINED void put_unfused_lanes(double x, double y, double *out)
{
    *out = x * x - y;
}
HX_VERSIONS_UNFUSED(put_unfused, (double x, double y, double *out), (x, y, out))

static void check_unit(hx_vector_unit unit)
{
    const volatile double x = 1.0 + ldexp(1.0, -30), square = x * x;
    double put_there = NAN, unfused = NAN;
    CHECK_OK(hx_vector_unit_pin(hx_vector_unit_name(unit)));
    CHECK(hx_vector_unit_used() == unit);
    const double rest = less(x, square);
    put(x, square, &put_there);
    CHECK(rest == put_there);
    put_unfused(x, square, &unfused);
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__FMA__)
    CHECK(rest == (unit == HX_VECTOR_BASELINE ? 0.0 : ldexp(1.0, -60)));
    CHECK(unfused == 0.0);
#else
    CHECK(unfused == rest);
#endif
}

int main(void)
{
    int best = HX_VECTOR_BASELINE;
    CHECK(hx_vector_unit_runs(HX_VECTOR_BASELINE));
    for (int unit = 0; unit < HX_N_VECTOR; unit++) {
        if (!hx_vector_unit_runs((hx_vector_unit)unit)) continue;
        CHECK(unit == 0 || hx_vector_unit_runs((hx_vector_unit)(unit - 1)));
        best = unit;
    }
    CHECK((int)hx_vector_unit_used() == best); /* the default, before any selection */
    for (int unit = best; unit >= 0; unit--) check_unit((hx_vector_unit)unit);
    CHECK_FAILS(hx_vector_unit_pin("avx51"), HX_EINPUT, "did you mean 'avx512'?");
    CHECK(hx_vector_unit_used() == HX_VECTOR_BASELINE); /* unchanged */
    if (best + 1 < HX_N_VECTOR) {
        const char *const unit_text = hx_vector_unit_name((hx_vector_unit)best);
        const char *const missing = hx_vector_unit_name((hx_vector_unit)(best + 1));
        CHECK_FAILS(hx_vector_unit_pin(missing), HX_EENV, unit_text);
    }
    CHECK_OK(hx_vector_unit_pin("auto"));
    CHECK((int)hx_vector_unit_used() == best);
    check_unit(HX_VECTOR_BASELINE);
    CHECK_OK(hx_vector_unit_pin(NULL));
    CHECK((int)hx_vector_unit_used() == best);
    TEST_END();
}
