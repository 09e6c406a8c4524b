/* Which of the processor's vector units the leaves of vectorised.h, and what else is compiled for
 * several, run on: one for the whole program. It decides on the last bits of results: fused
 * multiplications round once, and the baseline has none. */
#ifndef HX_VECTOR_UNIT_H
#define HX_VECTOR_UNIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each has what those before it have. Of x86-64: SSE2, AVX2 with FMA, AVX-512F; of other processors
 * the first alone, which is what the compiler was told of. */
typedef enum { HX_VECTOR_BASELINE, HX_VECTOR_AVX2, HX_VECTOR_AVX512, HX_N_VECTOR } hx_vector_unit;

/* "baseline", "avx2", "avx512". */
const char *hx_vector_unit_name(hx_vector_unit unit);

/* 1 if this build has it, and this processor and its system. */
int hx_vector_unit_runs(hx_vector_unit unit);

/* Takes the unit of that name from now on, "auto", "" or NULL: the best that runs here, which is
 * what is taken if nobody pins one. Before anything is computed. HX_EINPUT: no such unit. HX_EENV:
 * not here.
 */
int hx_vector_unit_pin(const char *name);

/* Pins the unit of a process that computes several things, in threads too: the first call decides;
 * later ones with "auto" pass, and others must name the same unit. HX_EINPUT, HX_EENV as there;
 * HX_EENV: another one was taken. */
int hx_vector_unit_fix(const char *name);

/* Of hx_vector_unit_used; -1: not chosen yet. */
extern int hx_vector_unit_taken;
hx_vector_unit hx_vector_unit_choose(void);

/* The one taken; any thread, a load. */
static inline hx_vector_unit hx_vector_unit_used(void)
{
#if defined(__GNUC__)
    const int unit = __atomic_load_n(&hx_vector_unit_taken, __ATOMIC_RELAXED);
#else
    const int unit = hx_vector_unit_taken;
#endif
    return unit >= 0 ? (hx_vector_unit)unit : hx_vector_unit_choose();
}

#ifdef __cplusplus
}
#endif

#endif
