/* Functions in versions for the vector units that there may be; the fitting one is taken when the
 * program starts. For leaves: what OpenMP outlines from them would be left out. */
#ifndef HX_VECTORISED_H
#define HX_VECTORISED_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HX_VECTORISED __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define HX_VECTORISED
#endif

/* Callees of such functions, compiled into each version. */
#if defined(__GNUC__)
#define HX_INLINED static inline __attribute__((always_inline))
#else
#define HX_INLINED static inline
#endif

#endif
