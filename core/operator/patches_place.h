/* Layout of one patch (patches.h): places of elements, positions of nodal values, slots of
 * forces. */
#ifndef HX_PATCHES_PLACE_H
#define HX_PATCHES_PLACE_H

#include "patches_rows.h"

enum { HX_PATCH_READERS = HX_PATCH_INCIDENCES / HX_PATCH_BANK };

/* Work space of one thread; its contents are undefined on entry. */
typedef struct hx_patch_placing {
    hx_patch_rows rows;
    int16_t row_of[HX_MAX_PATCH][8];            /* [place][corner] */
    uint16_t incidence[HX_PATCH_INCIDENCES][8]; /* incidences of each row: place * 8 + corner */
    /* number of rows that a half-warp reads from each bank */
    uint8_t used[HX_PATCH_READERS][HX_PATCH_BANK];
    /* sorted by number of slots, descending, then by keys: node, row */
    int64_t order[HX_PATCH_INCIDENCES];
    uint16_t position[HX_PATCH_INCIDENCES];
    uint8_t row_colour[HX_PATCH_INCIDENCES], elem_colour[HX_MAX_PATCH];
} hx_patch_placing;

/* Fills the rows and corners of a patch whose elements are fixed, and reorders its items if its
 * group permutes. */
void hx_patch_place(hx_patches *p, const hx_patch_group *group, const hx_mesh *mesh, int64_t patch,
                    hx_patch_placing *w);

#endif
