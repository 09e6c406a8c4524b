/* Detects whether an assembly in a STEP file moves parts away from the coordinates of their
 * points. */
#ifndef HX_STEP_PLACED_H
#define HX_STEP_PLACED_H

#include "step_file.h"

/* *has_placed := 1 if an assembly moves a part or contains it more than once. HX_ENOMEM. O(text),
 * and O(n log n) for n uses of parts. */
int hx_step_find_placed(const hx_step_file *file, int *has_placed);

#endif
