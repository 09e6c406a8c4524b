/* When a solve calls its preconditioner to enable deflation (`enable_deflation`) or to refresh
 * estimates (`refresh`): after which iterations, depending on the decrease of the residual; how
 * often; and what happens with the result. */
#include <math.h>

#include "core/krylov/pcg_internal.h"
#include "core/multigrid/mg_params.h"
#include "tests/lib/test.h"

static int answer;                       /* return value of both functions */
static int n_deflation_check, n_refresh; /* numbers of calls */
static int indefinite_at;                /* iteration after which r'z is below 0; 0: never */

static int enable_deflation(hx_precond *pc)
{
    (void)pc;
    n_deflation_check++;
    return answer;
}

static int refresh(hx_precond *pc)
{
    (void)pc;
    n_refresh++;
    return answer;
}

/* Decades of the residual left after k iterations, out of five. */
typedef double (*history)(int k);

static double steady_45(int k)
{
    return 5.0 * (1.0 - k / 45.0);
}
static double steady_49(int k)
{
    return 5.0 * (1.0 - k / 49.0);
}
static double steady_70(int k)
{
    return 5.0 * (1.0 - k / 70.0);
}
static double steady_110(int k)
{
    return 5.0 * (1.0 - k / 110.0);
}
static double stalls_at_18(int k)
{
    return k < 18 ? 5.0 - 0.1 * k : 3.2;
}
static double stalls_at_the_end(int k)
{
    return k < 16 ? 4.7 - 0.24 * k : 0.9;
}
static double stalls_a_decade_off(int k)
{
    return k < 16 ? 4.7 - 0.23 * k : 1.1;
}
static double stalls_at_45(int k)
{
    return k < 45 ? 4.6 - 0.1 * k : 0.15;
}
static double grows(int k)
{
    return 5.0 + 0.01 * k;
}
/* Five decades in 64 iterations, with a rise in every fourth one, which calls nothing. */
static double rises_in_fours(int k)
{
    return 5.0 * (1.0 - k / 64.0) + (k > 0 && k % 4 == 0 ? 0.1 : 0.0);
}
/* Five decades in 60 iterations, alternating between slow and fast. */
static double wavy(int k)
{
    return 5.0 * (1.0 - k / 60.0) + 0.05 * (k % 2);
}

typedef struct calls {
    int enable_deflation, refresh, again; /* iteration of the first and second call; 0: none */
} calls;

static int monitor(hx_pcg_run *s, int n_done, int *changed)
{
    s->state.iterations = n_done;
    return hx_pcg_monitor(s, changed);
}

static calls watch(history left, int criterion, int n_iteration)
{
    static const hx_precond_kind kind = {
        .name = "watched", .enable_deflation = enable_deflation, .refresh = refresh};
    hx_precond pc = {.kind = &kind, .monitoring = &hx_mg_defaults.monitoring};
    hx_pcg_run s = {.pc = &pc};
    calls when = {0, 0, 0};
    n_deflation_check = n_refresh = answer = 0;
    s.state.criterion = criterion;
    s.state.stop = 1e-10;
    for (int k = 0; k <= n_iteration && (k == 0 || left(k) > 0.0); k++) {
        const int before[2] = {n_deflation_check, n_refresh};
        int changed = -1;
        s.state.rr = s.state.rz = s.state.stop * pow(10.0, 2.0 * left(k));
        if (k > 0 && k == indefinite_at) s.state.rz = -s.state.rz;
        if (k == 0) hx_pcg_begin_monitoring(&s);
        if (k == 0) continue;
        CHECK(monitor(&s, k, &changed) == HX_OK && changed == 0);
        if (n_deflation_check > before[0]) when.enable_deflation = k;
        if (n_refresh > before[1]) *(when.refresh == 0 ? &when.refresh : &when.again) = k;
    }
    CHECK(n_deflation_check <= 1 && n_refresh <= 2);
    return when;
}

static void check(const char *name, history left, int criterion, int n, calls expected)
{
    const calls got = watch(left, criterion, n);
    CHECK_MSG(got.enable_deflation == expected.enable_deflation &&
                  got.refresh == expected.refresh && got.again == expected.again,
              "%s: called after %d, %d, %d iterations, not %d, %d, %d", name, got.enable_deflation,
              got.refresh, got.again, expected.enable_deflation, expected.refresh, expected.again);
}

/* The return value is passed to the solve; after a change no further function is called. */
static void test_answers(void)
{
    static const hx_precond_kind both = {.name = "both",
                                         .enable_deflation = enable_deflation,
                                         .refresh = refresh},
                                 none = {.name = "none"};
    hx_precond pc = {.kind = &both, .monitoring = &hx_mg_defaults.monitoring};
    hx_pcg_run s = {.pc = &pc};
    int changed = 0;
    s.state.criterion = HX_PCG_COMPLIANCE;
    n_deflation_check = n_refresh = 0;
    hx_pcg_begin_monitoring(&s);
    answer = 1;
    CHECK(monitor(&s, 40, &changed) == HX_OK && changed == 1);
    CHECK(n_deflation_check == 1 && n_refresh == 0);
    CHECK(monitor(&s, 41, &changed) == HX_OK && changed == 1);
    CHECK(n_deflation_check == 1 && n_refresh == 1);
    hx_pcg_begin_monitoring(&s);
    n_deflation_check = n_refresh = 0;
    s.state = (hx_pcg_state){.criterion = HX_PCG_RELATIVE, .stop = 1e-10, .rr = 1.0, .rz = 1.0};
    for (int k = 6; k < 10; k++) { /* after 7 iterations r'z < 0: one refresh */
        s.state.rz = k < 7 ? 1.0 : -1.0;
        CHECK(monitor(&s, k, &changed) == HX_OK && changed == (k == 7));
        CHECK(n_deflation_check == 0 && n_refresh == (k >= 7));
    }
    answer = HX_EDEVICE;
    hx_pcg_begin_monitoring(&s);
    CHECK(monitor(&s, 7, &changed) == HX_EDEVICE);
    s.state = (hx_pcg_state){.criterion = HX_PCG_COMPLIANCE};
    hx_pcg_begin_monitoring(&s);
    CHECK(monitor(&s, 30, &changed) == HX_EDEVICE);
    CHECK(monitor(&s, 40, &changed) == HX_EDEVICE);
    pc.kind = &none;
    hx_pcg_begin_monitoring(&s);
    CHECK(monitor(&s, 1000, &changed) == HX_OK && changed == 0);
}

/* A preconditioner that is not positive definite does not end a solve by r'z < 0. */
static void test_absolute(void)
{
    hx_pcg_state s = {.criterion = HX_PCG_ABSOLUTE, .stop = 1e-10, .rr = 1.0, .max_iterations = 9};
    s.rz = -1e-3;
    hx_pcg_state_test(&s);
    CHECK(s.reason == HX_PCG_RUNNING);
    s.rz = 1e-11;
    hx_pcg_state_test(&s);
    CHECK(s.reason == HX_PCG_CONVERGED);
}

int main(void)
{
    check("done in 45", steady_45, HX_PCG_RELATIVE, 44, (calls){30, 40, 0});
    check("done in 70", steady_70, HX_PCG_RELATIVE, 69, (calls){16, 40, 0});
    check("done in 49", steady_49, HX_PCG_RELATIVE, 48, (calls){30, 40, 0});
    check("done in 110", steady_110, HX_PCG_RELATIVE, 109, (calls){16, 40, 80});
    check("the same, absolute", steady_110, HX_PCG_ABSOLUTE, 109, (calls){16, 40, 80});
    check("stalls after 18", stalls_at_18, HX_PCG_RELATIVE, 100, (calls){20, 40, 80});
    check("stalls at the end", stalls_at_the_end, HX_PCG_RELATIVE, 29, (calls){0, 0, 0});
    check("the same, longer", stalls_at_the_end, HX_PCG_RELATIVE, 39, (calls){30, 0, 0});
    check("stalls a decade off", stalls_a_decade_off, HX_PCG_RELATIVE, 29, (calls){20, 0, 0});
    check("stalls after 45", stalls_at_45, HX_PCG_RELATIVE, 100, (calls){30, 40, 80});
    check("grows", grows, HX_PCG_RELATIVE, 100, (calls){16, 40, 80});
    check("rises in fours", rises_in_fours, HX_PCG_RELATIVE, 59, (calls){16, 40, 0});
    check("the same, absolute", rises_in_fours, HX_PCG_ABSOLUTE, 59, (calls){16, 40, 0});
    check("the same, by compliance", rises_in_fours, HX_PCG_COMPLIANCE, 59, (calls){30, 40, 0});
    indefinite_at = 7;
    check("not positive definite after 7", steady_45, HX_PCG_RELATIVE, 44, (calls){30, 7, 0});
    check("the same, absolute", steady_45, HX_PCG_ABSOLUTE, 44, (calls){30, 7, 0});
    check("the same, by compliance", steady_45, HX_PCG_COMPLIANCE, 44, (calls){30, 40, 0});
    indefinite_at = 39;
    check("not positive definite near the end", steady_45, HX_PCG_RELATIVE, 44, (calls){30, 40, 0});
    indefinite_at = 0;
    check("slow and fast", wavy, HX_PCG_RELATIVE, 59, (calls){16, 40, 0});
    check("by compliance", steady_45, HX_PCG_COMPLIANCE, 44, (calls){30, 40, 0});
    test_answers();
    test_absolute();
    TEST_END();
}
