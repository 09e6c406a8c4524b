/* Detects whether parts of a STEP file are moved from the coordinates of their points. */
#ifndef HX_STEP_PLACED_H
#define HX_STEP_PLACED_H

#include "step_file.h"

/* *has_placed := 1 if an assembly moves a part or contains it more than once. HX_ENOMEM. O(text),
 * O(n log n) in the usages. */
int hx_step_find_placed(const hx_step_file *file, int *has_placed);

#endif
