/* Whether parts of a STEP file stand elsewhere than their points say. */
#ifndef HX_STEP_PLACED_H
#define HX_STEP_PLACED_H

#include "step_file.h"

/* 1 if an assembly moves a part or has it more than once. O(text), O(n log n) of the usages. */
int hx_step_has_placed(const hx_step_file *file);

#endif
