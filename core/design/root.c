#include "root.h"

#include <math.h>

/* The last step left this share of the value, so the next one needs no bracket. */
#define CLOSE 0.5

/* Only one side is known: the secant step, times 1.5 to get past the root unless the last step came
 * close to it, but at most 8 times the last step; twice the last step if the function is flat. The
 * first step has the expected slope, or assumes 1. */
static double extrapolate(const hx_root *root, double x, double value)
{
    if (root->n == 1) return x - (root->slope > 0.0 ? value / root->slope : value);
    const double run = fabs(x - root->last), rise = fabs(value - root->last_value);
    const double past = fabs(value) < CLOSE * fabs(root->last_value) ? 1.0 : 1.5;
    const double step = rise > 1e-6 * fabs(value) ? past * fabs(value) * run / rise : 2.0 * run;
    return x - copysign(fmin(step, 8.0 * run), value);
}

double hx_root_next(hx_root *root, double x, double value)
{
    const int side = value < 0.0 ? -1 : 1;
    double next;
    if (root->n > 0 && x != root->last) root->slope = (value - root->last_value) / (x - root->last);
    root->n++;
    if (side < 0) {
        root->low = x;
        root->low_value = value;
        root->has_low = 1;
        if (root->side < 0) root->high_value *= 0.5;
    } else {
        root->high = x;
        root->high_value = value;
        root->has_high = 1;
        if (root->side > 0) root->low_value *= 0.5;
    }
    root->side = side;
    if (root->has_low && root->has_high) {
        const double width = root->high - root->low;
        next = root->low - root->low_value * width / (root->high_value - root->low_value);
        if (!(next > root->low && next < root->high)) next = root->low + 0.5 * width;
    } else {
        next = extrapolate(root, x, value);
    }
    root->last = x;
    root->last_value = value;
    return next;
}
