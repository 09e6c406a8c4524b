#include "schedule.h"

#include <limits.h>

static double next_value(const hx_schedule *schedule)
{
    const double next = schedule->factor * schedule->value + schedule->step;
    /* a value within rounding of the end is the end */
    return next < schedule->last * (1.0 - 1e-12) ? next : schedule->last;
}

int hx_schedule_ended(const hx_schedule *schedule)
{
    return schedule->every <= 0 || !(schedule->value < schedule->last);
}

int hx_schedule_advance(hx_schedule *schedule, int settled)
{
    if (hx_schedule_ended(schedule)) return 0;
    if (++schedule->spent < schedule->every && !settled) return 0;
    schedule->value = next_value(schedule);
    schedule->spent = 0;
    return 1;
}

int hx_schedule_iterations(const hx_schedule *schedule)
{
    hx_schedule walk = *schedule;
    long long n = 0;
    while (!hx_schedule_ended(&walk) && n < INT_MAX) {
        const double next = next_value(&walk);
        if (!(next > walk.value)) return INT_MAX; /* it does not rise */
        walk.value = next;
        n += walk.every;
    }
    return n < INT_MAX ? (int)n : INT_MAX;
}
