#include "vector_unit.h"

#include <pthread.h>
#include <string.h>

#include "error.h"
#include "names.h"

int hx_vector_unit_taken = -1;

static const char *const unit_name[HX_N_VECTOR] = {"baseline", "avx2", "avx512"};

const char *hx_vector_unit_name(hx_vector_unit unit)
{
    return unit_name[unit];
}

int hx_vector_unit_runs(hx_vector_unit unit)
{
#if defined(__x86_64__) && defined(__GNUC__)
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (unit == HX_VECTOR_AVX2) return avx2;
    if (unit == HX_VECTOR_AVX512) return avx2 && __builtin_cpu_supports("avx512f");
#endif
    return unit == HX_VECTOR_BASELINE;
}

static void take_vector_unit(hx_vector_unit unit)
{
#if defined(__GNUC__)
    __atomic_store_n(&hx_vector_unit_taken, (int)unit, __ATOMIC_RELAXED);
#else
    hx_vector_unit_taken = (int)unit;
#endif
}

static hx_vector_unit find_best(void)
{
    int unit = HX_N_VECTOR - 1;
    while (!hx_vector_unit_runs((hx_vector_unit)unit)) unit--;
    return (hx_vector_unit)unit;
}

hx_vector_unit hx_vector_unit_choose(void)
{
    const hx_vector_unit unit = find_best();
    take_vector_unit(unit);
    return unit;
}

int hx_vector_unit_pin(const char *name)
{
    static const char *const valid[] = {"auto", "baseline", "avx2", "avx512"};
    char hint[128];
    if (!name || !name[0] || strcmp(name, "auto") == 0) {
        (void)hx_vector_unit_choose();
        return HX_OK;
    }
    for (int unit = 0; unit < HX_N_VECTOR; unit++) {
        if (strcmp(name, unit_name[unit]) != 0) continue;
        if (!hx_vector_unit_runs((hx_vector_unit)unit))
            return HX_RAISE(HX_EENV,
                            "this processor or this build does not support vector unit '%s'; the "
                            "best supported one is '%s'",
                            name, unit_name[find_best()]);
        take_vector_unit((hx_vector_unit)unit);
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "unknown vector unit '%s'%s", name,
                    hx_name_hint(name, valid, sizeof valid / sizeof valid[0], hint, sizeof hint));
}

int hx_vector_unit_fix(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int is_fixed;
    const int is_auto = !name || !name[0] || strcmp(name, "auto") == 0;
    int rc = HX_OK;
    pthread_mutex_lock(&lock);
    if (!is_fixed)
        rc = hx_vector_unit_pin(name);
    else if (!is_auto && strcmp(name, unit_name[hx_vector_unit_used()]) != 0)
        rc = HX_RAISE(HX_EENV,
                      "this process already uses vector unit '%s' and cannot change to '%s': "
                      "start another process",
                      unit_name[hx_vector_unit_used()], name);
    if (rc == HX_OK) is_fixed = 1;
    pthread_mutex_unlock(&lock);
    return rc;
}
