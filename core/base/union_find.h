/* Union-find: parent[i] leads from item i to the root of its group, which is its own parent. */
#ifndef HX_UNION_FIND_H
#define HX_UNION_FIND_H

#include <stdint.h>

/* The root of i's group; halves the path to it. */
static inline int32_t hx_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Unites two groups; the lower root remains, so that the root of a group is its first item. */
static inline void hx_unite(int32_t *parent, int32_t a, int32_t b)
{
    a = hx_root(parent, a);
    b = hx_root(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

#endif
