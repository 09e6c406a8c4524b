/* The distributed design: every process holds the element fields of its own elements, and all
 * processes execute the steps of the optimizer together. */
#ifndef HX_DESIGN_DIST_H
#define HX_DESIGN_DIST_H

#include "../dist/dist.h"

HX_C_BEGIN

/* After this call dist->dev works on element fields of the subdomain, and analyses created on it
 * have distributed fields (analysis.h). Call it before any analysis exists, in all processes. */
int hx_design_distribute(hx_dist *dist);

HX_C_END

#endif
