/* Number of elements of each kind in part of a mesh, and the length of an element. Not
 * installed. */
#ifndef HX_MESH_KINDS_H
#define HX_MESH_KINDS_H

#include "mesh.h"

/* Sums over elements by kind; zeroed: no elements. */
typedef struct hx_kinds {
    int64_t n[HX_N_SOLID];
    double volume[HX_N_SOLID]; /* their sum, length^3 */
    double edge[HX_N_SOLID];   /* sum over elements of the mean edge, length; 0 for hexahedra */
} hx_kinds;

/* Adds an element; a cell that is not a solid is ignored. */
void hx_kinds_add(hx_kinds *kinds, const double *xyz, const int32_t conn[8]);

void hx_kinds_join(hx_kinds *to, const hx_kinds *more);

/* kinds := sum over all ranks; reduce may be NULL. Collective. */
int hx_kinds_sum(const hx_reduce *reduce, hx_kinds *kinds);

/* Length of an element: hx_mesh.elem_size. */
double hx_kinds_size(const hx_kinds *kinds);

#endif
