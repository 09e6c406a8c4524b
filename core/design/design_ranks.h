/* The design in shares: every process has the element fields of its own elements, and all take the
 * steps of the optimizer together. */
#ifndef HX_DESIGN_RANKS_H
#define HX_DESIGN_RANKS_H

#include "../ranks/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From here on ranks->dev works on element fields of the share; analyses that are created on it
 * then are of fields in shares (analysis.h). Before any is. In all processes alike. */
int hx_design_share(hx_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
