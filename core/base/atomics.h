/* Atomic operations on array entries that several threads update (relaxed: they imply no order
 * between entries). */
#ifndef HX_ATOMICS_H
#define HX_ATOMICS_H

#include <stdint.h>

static inline uint32_t hx_atomic_load(const uint32_t *entry)
{
    return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

static inline void hx_atomic_store(uint32_t *entry, uint32_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

/* Returns 1 if the entry was `expected` and has been replaced by `value`. */
static inline int hx_atomic_replace(uint32_t *entry, uint32_t expected, uint32_t value)
{
    return __atomic_compare_exchange_n(entry, &expected, value, 0, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static inline void hx_atomic_min(uint32_t *entry, uint32_t value)
{
    uint32_t now = hx_atomic_load(entry);
    while (value < now && !hx_atomic_replace(entry, now, value)) now = hx_atomic_load(entry);
}

static inline void hx_atomic_add(int32_t *entry, int32_t value)
{
    __atomic_fetch_add(entry, value, __ATOMIC_RELAXED);
}

#endif
