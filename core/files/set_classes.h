/* Groups items by the sets that contain them. Formats that allow only one group per item (in Gmsh,
 * an element lies on one entity) need a group for each combination of sets. Not installed. */
#ifndef HX_SET_CLASSES_H
#define HX_SET_CLASSES_H

#include <stdint.h>

#include "../base/error.h"

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

#endif
