/* Classes of equal cells of multigrid's first coarse grid. Not installed. */
#ifndef HX_MULTIGRID_CLASSES_CPU_H
#define HX_MULTIGRID_CLASSES_CPU_H

#include "../../multigrid/multigrid_place.h"
#include "multigrid_cpu.h"

enum { HX_CPU_STRIP = 72 }; /* numbers of a table that are summed at a time */

/* Elements of a class, and their tables in strips:
 * [HX_MG_SHARE / HX_CPU_STRIP][n_elem][HX_CPU_STRIP] (owned). */
typedef struct hx_cpu_class {
    int32_t model; /* one of its cells */
    int n_elem;
    float *table;
} hx_cpu_class;

struct hx_cpu_classes {
    int n;
    hx_cpu_class of[HX_MG_PLACE_MODELS];
    uint8_t *cell; /* [n_cell] class of each cell, or HX_MG_PLACE_MODELS (owned) */
    int32_t *elem; /* [n_elem] sorted by cell as in d_cell_elem, then by place (owned) */
};

#endif
