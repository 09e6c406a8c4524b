/* Leaf functions compiled for several vector units; each call runs the version for the unit of
 * vector_unit.h. They must be leaves, since a function that OpenMP outlines from them would not be
 * compiled for the unit.
 *
 *     HX_INLINED void scale_lanes(int64_t n, double *x) { ... }
 *     HX_VERSIONS(scale, (int64_t n, double *x), (n, x))
 *
 * defines scale() from scale_lanes(). HX_VERSIONS_UNFUSED compiles without fused multiply-add, and
 * therefore without AVX-512, so its versions give bitwise the results of the baseline. The versions
 * are written out instead of using target_clones, because the choice of target_clones cannot be
 * overridden, and it selects processors by name, which excludes equivalent ones of other makers. */
#ifndef HX_VECTORISED_H
#define HX_VECTORISED_H

#include "vector_unit.h"

/* Functions that are inlined into each version. */
#if defined(__GNUC__)
#define HX_INLINED static inline __attribute__((always_inline))
#else
#define HX_INLINED static inline
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HX_VERSIONS_(type, give, name, parameters, arguments)                                      \
    __attribute__((target("avx2,fma,avx512f"))) static type name##_avx512 parameters               \
    {                                                                                              \
        give name##_lanes arguments;                                                               \
    }                                                                                              \
    __attribute__((target("avx2,fma"))) static type name##_avx2 parameters                         \
    {                                                                                              \
        give name##_lanes arguments;                                                               \
    }                                                                                              \
    static type name##_baseline parameters                                                         \
    {                                                                                              \
        give name##_lanes arguments;                                                               \
    }                                                                                              \
    static type name parameters                                                                    \
    {                                                                                              \
        const hx_vector_unit unit_ = hx_vector_unit_used();                                        \
        if (unit_ == HX_VECTOR_AVX512)                                                             \
            give name##_avx512 arguments;                                                          \
        else if (unit_ == HX_VECTOR_AVX2)                                                          \
            give name##_avx2 arguments;                                                            \
        else                                                                                       \
            give name##_baseline arguments;                                                        \
    }
#define HX_VERSIONS_UNFUSED(name, parameters, arguments)                                           \
    __attribute__((target("avx2"))) static void name##_avx2 parameters                             \
    {                                                                                              \
        name##_lanes arguments;                                                                    \
    }                                                                                              \
    static void name##_baseline parameters                                                         \
    {                                                                                              \
        name##_lanes arguments;                                                                    \
    }                                                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        if (hx_vector_unit_used() >= HX_VECTOR_AVX2)                                               \
            name##_avx2 arguments;                                                                 \
        else                                                                                       \
            name##_baseline arguments;                                                             \
    }
#else
#define HX_VERSIONS_UNFUSED(name, parameters, arguments)                                           \
    HX_VERSIONS_(void, (void), name, parameters, arguments)
#define HX_VERSIONS_(type, give, name, parameters, arguments)                                      \
    static type name parameters                                                                    \
    {                                                                                              \
        give name##_lanes arguments;                                                               \
    }
#endif

/* For functions without and with a return value. */
#define HX_VERSIONS(name, parameters, arguments)                                                   \
    HX_VERSIONS_(void, (void), name, parameters, arguments)
#define HX_VERSIONS_OF(type, name, parameters, arguments)                                          \
    HX_VERSIONS_(type, return, name, parameters, arguments)

#endif
