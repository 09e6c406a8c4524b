/* The vector unit of the processor that the functions of vectorised.h, and other code compiled for
 * several units, use: one unit for the whole program. It determines the last bits of results: fused
 * multiply-add rounds once, and the baseline has none. */
#ifndef HX_VECTOR_UNIT_H
#define HX_VECTOR_UNIT_H

#include "c_linkage.h"

HX_C_BEGIN

/* Each unit includes those before it. On x86-64: SSE2, AVX2 with FMA, AVX-512F. On other processors
 * only the first, which is the target that the compiler was given. */
typedef enum { HX_VECTOR_BASELINE, HX_VECTOR_AVX2, HX_VECTOR_AVX512, HX_N_VECTOR } hx_vector_unit;

/* "baseline", "avx2", "avx512". */
const char *hx_vector_unit_name(hx_vector_unit unit);

/* Returns 1 if this build, this processor and this operating system support the unit. */
int hx_vector_unit_runs(hx_vector_unit unit);

/* Selects the unit of that name; "auto", "" or NULL selects the best one that runs here, which is
 * also the default. Must be called before anything is computed. HX_EINPUT: no such unit. HX_EENV:
 * it does not run here. */
int hx_vector_unit_pin(const char *name);

/* Selects the unit for a process that runs several computations, possibly in threads. The first
 * call decides; a later call must give "auto" or the same unit. HX_EINPUT and HX_EENV like
 * hx_vector_unit_pin; also HX_EENV if another unit is in use. */
int hx_vector_unit_fix(const char *name);

/* Behind hx_vector_unit_used(); -1: not chosen yet. */
extern int hx_vector_unit_taken;
hx_vector_unit hx_vector_unit_choose(void);

/* Returns the unit in use. Thread-safe; costs one load. */
static inline hx_vector_unit hx_vector_unit_used(void)
{
#if defined(__GNUC__)
    const int unit = __atomic_load_n(&hx_vector_unit_taken, __ATOMIC_RELAXED);
#else
    const int unit = hx_vector_unit_taken;
#endif
    return unit >= 0 ? (hx_vector_unit)unit : hx_vector_unit_choose();
}

HX_C_END

#endif
