#include "stair.h"

#include <limits.h>

static double next_value(const hx_stair *stair)
{
    const double next = stair->factor * stair->value + stair->step;
    /* a value within rounding of the end is the end */
    return next < stair->last * (1.0 - 1e-12) ? next : stair->last;
}

int hx_stair_ended(const hx_stair *stair)
{
    return stair->every <= 0 || !(stair->value < stair->last);
}

int hx_stair_climb(hx_stair *stair, int settled)
{
    if (hx_stair_ended(stair)) return 0;
    if (++stair->spent < stair->every && !settled) return 0;
    stair->value = next_value(stair);
    stair->spent = 0;
    return 1;
}

int hx_stair_iterations(const hx_stair *stair)
{
    hx_stair walk = *stair;
    long long n = 0;
    while (!hx_stair_ended(&walk) && n < INT_MAX) {
        const double next = next_value(&walk);
        if (!(next > walk.value)) return INT_MAX; /* it does not rise */
        walk.value = next;
        n += walk.every;
    }
    return n < INT_MAX ? (int)n : INT_MAX;
}
