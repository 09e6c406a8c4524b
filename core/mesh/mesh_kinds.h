/* How many elements of each kind there are in some of a mesh, and how long an element is. Not
 * installed. */
#ifndef HX_MESH_KINDS_H
#define HX_MESH_KINDS_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What some elements have of each kind; zeroed: of none. */
typedef struct hx_kinds {
    int64_t n[HX_N_SOLID];
    double volume[HX_N_SOLID]; /* their sum, length^3 */
    double edge[HX_N_SOLID];   /* the sum of each one's mean edge, length; of hexahedra 0 */
} hx_kinds;

/* Adds an element; one that is no solid counts nothing. */
void hx_kinds_add(hx_kinds *kinds, const double *xyz, const int32_t conn[8]);

void hx_kinds_join(hx_kinds *to, const hx_kinds *more);

/* *kinds := of all processes; all may be NULL. Collective. */
int hx_kinds_sum(const hx_all *all, hx_kinds *kinds);

/* The element as a unit of length: hx_mesh.elem_size. */
double hx_kinds_size(const hx_kinds *kinds);

#ifdef __cplusplus
}
#endif

#endif
