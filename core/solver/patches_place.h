/* Where elements, nodal values and forces of one patch stand (patches.h): places, positions and
 * slots. */
#ifndef HX_PATCHES_PLACE_H
#define HX_PATCHES_PLACE_H

#include "patches_rows.h"

enum { HX_PATCH_READERS = HX_PATCH_INCIDENCES / HX_PATCH_BANK };

/* What it works on; of one thread, and undefined before. */
typedef struct hx_patch_placing {
    hx_patch_rows rows;
    int16_t row_of[HX_MAX_PATCH][8];               /* [place][corner] */
    uint16_t incidence[HX_PATCH_INCIDENCES][8];    /* of each row: place * 8 + corner */
    uint8_t used[HX_PATCH_READERS][HX_PATCH_BANK]; /* rows that a half-warp reads from each bank */
    int64_t order[HX_PATCH_INCIDENCES]; /* by slots descending, then by keys: node, row */
    uint16_t position[HX_PATCH_INCIDENCES];
    uint8_t row_colour[HX_PATCH_INCIDENCES], elem_colour[HX_MAX_PATCH];
} hx_patch_placing;

/* Fills the rows and corners of a patch that is cut, and permutes its items where its group says
 * so. */
void hx_patch_place(hx_patches *p, const hx_patch_group *group, const hx_mesh *mesh, int64_t patch,
                    hx_patch_placing *w);

#endif
