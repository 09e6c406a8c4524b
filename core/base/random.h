/* Random numbers that depend only on seed and index (splitmix64: Steele, Lea, Flood 2014). */
#ifndef HX_RANDOM_H
#define HX_RANDOM_H

#include <stdint.h>

/* The increment of a sequence's state from one number to the next. */
#define HX_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Mixes the bits of a number (Stafford's variant 13); a bijection. */
static inline uint64_t hx_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Advances *state, which may start with any value, and returns the next number of the sequence. */
static inline uint64_t hx_random_next(uint64_t *state)
{
    return hx_random_mix(*state += HX_RANDOM_STEP);
}

/* Returns a number uniformly distributed in [0, 1), from the upper 53 bits. */
static inline double hx_random_unit(uint64_t number)
{
    return (double)(number >> 11) * 0x1p-53;
}

#endif
