/* Inside of the search for loose parts (loose.h): elements grouped into parts, by one process or by
 * several that have a share of them each. */
#ifndef HX_LOOSE_INTERNAL_H
#define HX_LOOSE_INTERNAL_H

#include "../base/atomics.h"
#include "loose.h"

#define HX_LOOSE_NO_PART UINT32_MAX

/* Parts of one share of the largest modulus. All processes have the same parts in the same order;
 * of elements and nodes each has its own share's. */
typedef struct hx_loose_grouping {
    const hx_problem *problem;
    const hx_common_host *others; /* NULL: one process has all */
    const double *modulus;
    int64_t n_elem_all, n_node_all, n_own; /* of all processes; own nodes are the first */
    double least;                          /* modulus of stiff elements */
    double joined; /* the same of those whose faces are joined already: least only falls */
    const int64_t *node_elem_ptr; /* as the mesh has them */
    const uint32_t *node_elem;
    int64_t *own_ptr; /* the same where the mesh has them no more (owned, like all below) */
    uint32_t *own_list;
    int32_t *held; /* [n_held] own nodes that supports or springs are on, ascending */
    int64_t n_held;
    int32_t *place;   /* [n_node] among points in common, -1: not there; NULL: one process */
    uint32_t *label;  /* [n_elem] of a root: the lowest number of its part's elements in the file */
    uint32_t *parent; /* [n_elem] union-find of the elements here, roots are the lowest */
    uint32_t *owner;  /* [n_node] number of the part, HX_LOOSE_NO_PART: none */
    int32_t *number;  /* [n_elem] of the part of a root */
    int64_t n_part;
    int64_t *count;   /* [n_part] elements, most first */
    uint32_t *lowest; /* [n_part] label, by which parts of as many elements are in order */
    int64_t *first;   /* [n_part + 1] */
    int32_t *node;    /* [first[n_part]] of each part here, ascending: own ones first */
} hx_loose_grouping;

/* others and modulus outlive it. Collective, as all here; free it in any case. Groupings of ever
 * smaller `least` may follow each other. */
int hx_loose_grouping_create(hx_loose_grouping *g, const hx_problem *problem,
                             const hx_common_host *others, const double *modulus);
void hx_loose_grouping_free(hx_loose_grouping *g);

static inline int hx_loose_is_stiff(const hx_loose_grouping *g, int64_t e)
{
    return g->modulus[e] >= g->least;
}

/* The root of i. Threads may join meanwhile: what is above an entry stays above it. */
static inline uint32_t hx_loose_find(uint32_t *parent, uint32_t i)
{
    for (uint32_t up = hx_atomic_load(&parent[i]); up != i; up = hx_atomic_load(&parent[i])) {
        const uint32_t further = hx_atomic_load(&parent[up]);
        if (further != up) hx_atomic_store(&parent[i], further);
        i = further;
    }
    return i;
}

/* The higher root gets the lower one above it: the same roots in whatever order. */
static inline void hx_loose_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = hx_loose_find(parent, a);
        b = hx_loose_find(parent, b);
        if (a == b) return;
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (hx_atomic_replace(&parent[high], high, low)) return;
    }
}

static inline uint32_t hx_loose_root(const hx_loose_grouping *g, int64_t e)
{
    return hx_loose_find(g->parent, (uint32_t)e);
}

/* The number of an element's part. */
static inline uint32_t hx_loose_number(const hx_loose_grouping *g, int64_t e)
{
    return (uint32_t)g->number[hx_loose_root(g, e)];
}

/* 1 if a cell has all n nodes. */
static inline int hx_loose_has_all(const int32_t conn[8], int n, const int32_t *node)
{
    int n_found = 0;
    for (int i = 0; i < n; i++) {
        int a = 0;
        while (a < 8 && conn[a] != node[i]) a++;
        n_found += a < 8;
    }
    return n_found == n;
}

/* Stiff elements that have faces in common become parts: n_part of them, without numbers. O(n_elem)
 */
int hx_loose_join_faces(hx_loose_grouping *g);
/* Numbers, counts and nodes of these parts. A node is the largest one's. O(n_elem) */
int hx_loose_number_parts(hx_loose_grouping *g);
/* Numbered parts that have nodes in common become one, numbers and nodes anew; *touch = 0: none
 * have. */
int hx_loose_join_nodes(hx_loose_grouping *g, int *touch);

/* loose_chains.c. Marks those of part[n_part] that are soft, and what hangs on them by hinges.
 * Collective. O(n_elem) where any is soft. */
int hx_loose_choose_chains(const hx_loose_grouping *g, hx_loose_part *part);

/* loose_border.c, of several processes, a part of the three above. Labels of roots, of parts that
 * go on elsewhere too; g->n_part := parts whose lowest element is here. */
int hx_loose_join_border(hx_loose_grouping *g);
/* owner[] of points in common := the least of all processes'. */
int hx_loose_settle_owners(hx_loose_grouping *g);
/* Joins of n parts what any process has joined. */
int hx_loose_join_told(const hx_common_host *others, uint32_t *above, int64_t n);

/* K Z of points in common, of each process' elements, to the sums over all, in the order of the
 * ranks; parts gain such points. Collective. */
int hx_loose_complete_forces(const hx_common_host *others, hx_loose_part *part, int n_part);

#endif
