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

/* Position of a node relative to the surface. */
enum { HX_CUT_OUT = -1, HX_CUT_ON = 0, HX_CUT_IN = 1 };

/* A cut while it is made. */
typedef struct hx_cutter {
    hx_triangle_tree tree;
    hx_tet_lattice lattice;
    int8_t *side;       /* [n_node] HX_CUT_* (owned) */
    uint8_t *is_beside; /* [n_node] 1: of a removed tetrahedron (owned) */
    uint8_t *was_in;    /* [n_node] 1: inside before nodes moved (owned) */
    double *share;      /* [n_edge] position of the cut from the lower node, NaN: none (owned) */
    hx_incidence edges, tets, faces; /* incidences of nodes */
    int64_t n_moved, n_cut;
    hx_tet_lattice result;
} hx_cutter;

static inline double *hx_cut_place(const hx_cutter *c, int64_t node)
{
    return c->lattice.xyz + 3 * node;
}

/* Removes tetrahedra that only touch the surface from outside; sets edges, boundary and incidences
 * of the others, and sides and shares. O(n log n). */
int hx_cut_find_sides(hx_cutter *cutter);

/* For items of n nodes each. O(n). */
int hx_incidence_create(hx_incidence *incidence, int64_t n_node, int64_t n_item, int n,
                        const int32_t *node);
void hx_incidence_free(hx_incidence *incidence);

/* *mesh := the tetrahedra and their nodes; sets pieces and quality in *piece and *report. */
int hx_cut_to_mesh(hx_mesh *mesh, hx_tet_lattice *lattice, int32_t **piece, hx_cut_report *report);

#endif
