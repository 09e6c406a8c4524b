/* Groups items by the sets that contain them. Formats that allow only one group per item (in Gmsh,
 * an element lies on one entity) need a group for each combination of sets. Not installed. */
#ifndef HX_SET_CLASSES_H
#define HX_SET_CLASSES_H

#include <stdint.h>

#include "../base/error.h"
#include "../mesh/mesh.h"

/* Items that are in the same sets form a class. Class 0: in no set. Class c: in set[c] and in the
 * sets of class parent[c] < c. */
typedef struct hx_set_classes {
    int64_t n_item, n, capacity;
    int32_t *of;     /* [n_item] class of an item (owned) */
    int32_t *parent; /* [n] (owned) */
    int32_t *set;    /* [n] (owned) */
    /* [n] class to which items of this class move if they are in the current set (owned) */
    int32_t *child;
    int64_t *count; /* [n] number of items in the class; may be 0 (owned) */
} hx_set_classes;

int hx_set_classes_create(hx_set_classes *classes, int64_t n_item);

/* Adds item[n], all different, to one more set. Sets must come in ascending order. O(n). */
int hx_set_classes_add(hx_set_classes *classes, int32_t set, int64_t n, const int32_t *item);

void hx_set_classes_free(hx_set_classes *classes);

/* --- what a reader concludes from the nodes of a set --- */

/* flag[n_node] := value at the nodes of the set's elements and of its first n_face faces. */
void hx_flag_set_nodes(const hx_mesh *mesh, const hx_set *set, int64_t n_face, uint8_t *flag,
                       uint8_t value);

/* Returns 1 if the nodes of the set contain all nodes of an element that is not in the set. A
 * reader adds such an element to a set read as nodes, but not to one read as faces. flag[n_node] is
 * 1 for the nodes of the set. */
int hx_nodes_hold_more(const hx_mesh *mesh, const hx_set *set, const uint8_t *flag);

#endif
