/* Finds a root of an increasing function of one variable that is expensive to evaluate: secant
 * steps, kept within a bracket as soon as there is one (the Illinois rule). The first step takes the
 * slope of a search before, if there is one. */
#ifndef HX_ROOT_H
#define HX_ROOT_H

typedef struct hx_root {
    double low, high;             /* where the function is known to be below and above 0 */
    double low_value, high_value; /* function values there */
    double last, last_value;
    int n, has_low, has_high, side;
    double slope; /* expected, for the first step; then that of the last one; 0: unknown */
} hx_root;

/* Start from a root that is zero apart from its slope: takes f(x) = value and returns the next x to evaluate. */
double hx_root_next(hx_root *root, double x, double value);

#endif
