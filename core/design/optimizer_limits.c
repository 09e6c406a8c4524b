/* Whether values meet their limits. */
#include <math.h>

#include "optimizer.h"

int hx_volume_is_missed(const hx_update_kind *update, double volume, double wanted)
{
    const double excess = volume - wanted;
    return !((update->is_upper_limit ? excess : fabs(excess)) <= HX_VOLUME_TOLERANCE * wanted);
}

double hx_limits_exceeded(double value, double max, double min, double zero)
{
    return value > max   ? (value - max) / fabs(max - zero)
           : value < min ? (min - value) / fabs(min - zero)
                         : 0.0;
}
