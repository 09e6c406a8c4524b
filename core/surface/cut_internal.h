/* Shared by the cut_*.c files; not installed. */
#ifndef HX_CUT_INTERNAL_H
#define HX_CUT_INTERNAL_H

#include "cut_mesh.h"
#include "surface_internal.h"
#include "tet_lattice.h"
#include "triangle_tree.h"

/* Items that contain each node: item[first[a] .. first[a + 1]), ascending. */
typedef struct hx_incidence {
    int64_t *first; /* [n_node + 1] (owned) */
    int32_t *item;  /* (owned) */
} hx_incidence;

/* For items of n nodes each. O(n). */
int hx_incidence_create(hx_incidence *incidence, int64_t n_node, int64_t n_item, int n,
                        const int32_t *node);
void hx_incidence_free(hx_incidence *incidence);

/* *mesh := the tetrahedra and their nodes; sets pieces and quality in *piece and *report. */
int hx_cut_to_mesh(hx_mesh *mesh, hx_tet_lattice *lattice, int32_t **piece, hx_cut_report *report);

#endif
