/* Sets selected by geometry (planes, boxes, cylinders, spheres), and combinations of sets. */
#ifndef HX_REGION_H
#define HX_REGION_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

typedef enum {
    HX_REGION_PLANE,    /* |(x - point) . normal| <= tolerance */
    HX_REGION_BOX,      /* min - tolerance <= x <= max + tolerance, per coordinate */
    HX_REGION_CYLINDER, /* inner - tol <= distance from the axis <= radius + tol, within the length
                         */
    HX_REGION_SPHERE,   /* inner - tol <= distance from point <= radius + tol */
    HX_REGION_AND,      /* in all named sets */
    HX_REGION_OR,       /* in any named set */
    HX_REGION_NOT       /* in none of the named sets */
} hx_region_kind;

typedef struct hx_region {
    hx_region_kind kind;
    double point[3];      /* plane, cylinder (start of the axis), sphere (centre); box: min */
    double axis[3];       /* plane: normal, cylinder: direction (any length); box: max */
    double radius, inner; /* cylinder, sphere; inner = 0: solid */
    double length;    /* cylinder, measured from point along axis; 0: infinite in both directions */
    double tolerance; /* length; < 0: 1e-6 times the diagonal of the mesh's bounding box */
    size_t n_operand;
    const char *const *operand; /* names of sets (borrowed): and, or, not */
} hx_region;

/* Adds set `name` to a finished mesh: nodes by position, elements by centroid. A combination
 * combines nodes, elements, boundary faces and edges of its operands separately (mesh.h), so that a
 * union has the faces of its parts and a difference the remaining ones. HX_EINPUT: unknown operand,
 * name already in use, zero normal or axis, no match (neither a node nor an element). O(n_node +
 * n_elem). */
int hx_mesh_add_region(hx_mesh *mesh, const char *name, const hx_region *region);

HX_C_END

#endif
