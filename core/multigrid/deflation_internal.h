/* Internals of the search for floating components (deflation.h): grouping of elements into
 * components, on one process or on several ranks that have a subdomain each. */
#ifndef HX_DEFLATION_INTERNAL_H
#define HX_DEFLATION_INTERNAL_H

#include "../base/atomics.h"
#include "deflation.h"

#define HX_NO_COMPONENT UINT32_MAX

/* The components for one fraction of the largest modulus. All ranks have the same components in the
 * same order, but only the elements and nodes of their own subdomain. */
typedef struct hx_component_grouping {
    const hx_problem *problem;
    const hx_interface_host *others; /* NULL: a single process has the whole mesh */
    const double *modulus;
    int is_absolute; /* 1: moduli of different materials are compared; set after creation */
    /* on all ranks; n_own: nodes owned by this rank, which come first */
    int64_t n_node_all, n_own;
    double least; /* smallest hx_component_modulus of stiff elements */
    /* value of `least` for which faces have been joined already; `least` only decreases */
    double joined;
    const int64_t *node_elem_ptr; /* lists of the mesh */
    const uint32_t *node_elem;
    int64_t *own_ptr; /* lists made here if the mesh has released its own (owned, like all below) */
    uint32_t *own_list;
    int32_t *held; /* [n_held] owned nodes with supports or springs, ascending */
    int64_t n_held;
    /* [n_node] index among the interface points, -1: not one of them; NULL: a single process */
    int32_t *place;
    uint32_t *label; /* [n_elem] for a root: lowest file number of the elements of its component */
    /* [n_elem] union-find of the elements of this rank; the root is the lowest index */
    uint32_t *parent;
    uint32_t *owner; /* [n_node] number of the component, HX_NO_COMPONENT: none */
    int32_t *number; /* [n_elem] for a root: number of its component */
    int64_t n_part;
    int64_t *count;   /* [n_part] number of elements, in descending order */
    uint32_t *lowest; /* [n_part] label; sorts components with equal numbers of elements */
    int64_t *first;   /* [n_part + 1] */
    /* [first[n_part]] nodes of each component on this rank, ascending; own nodes come first
     * (owned) */
    int32_t *node;
} hx_component_grouping;

/* `others` and `modulus` must outlive the grouping. Collective, like all functions here. Free the
 * grouping also after an error. Components for ever smaller values of `least` may be found one
 * after the other. */
int hx_component_grouping_create(hx_component_grouping *g, const hx_problem *problem,
                                 const hx_interface_host *others, const double *modulus);
void hx_component_grouping_free(hx_component_grouping *g);

/* The modulus that is compared. Relative to the element's material, an insert of a stiffer or softer
 * material is not a component of its own. */
static inline double hx_component_modulus(const hx_component_grouping *g, int64_t e)
{
    return g->is_absolute ? g->modulus[e]
                          : g->modulus[e] / hx_problem_stiffness_factor(g->problem, e);
}

static inline int hx_component_is_stiff(const hx_component_grouping *g, int64_t e)
{
    return hx_component_modulus(g, e) >= g->least;
}

/* The root of i. Other threads may join at the same time, because an ancestor of an entry always
 * remains one. */
static inline uint32_t hx_component_find(uint32_t *parent, uint32_t i)
{
    for (uint32_t up = hx_atomic_load(&parent[i]); up != i; up = hx_atomic_load(&parent[i])) {
        const uint32_t further = hx_atomic_load(&parent[up]);
        if (further != up) hx_atomic_store(&parent[i], further);
        i = further;
    }
    return i;
}

/* Makes the lower of two roots the parent of the higher one; the final roots do not depend on the
 * order of calls. */
static inline void hx_component_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = hx_component_find(parent, a);
        b = hx_component_find(parent, b);
        if (a == b) return;
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (hx_atomic_replace(&parent[high], high, low)) return;
    }
}

static inline uint32_t hx_component_root(const hx_component_grouping *g, int64_t e)
{
    return hx_component_find(g->parent, (uint32_t)e);
}

/* Number of the component that contains an element. */
static inline uint32_t hx_component_number(const hx_component_grouping *g, int64_t e)
{
    return (uint32_t)g->number[hx_component_root(g, e)];
}

/* 1 if a cell has all n nodes. */
static inline int hx_component_has_all(const int32_t conn[8], int n, const int32_t *node)
{
    int n_found = 0;
    for (int i = 0; i < n; i++) {
        int a = 0;
        while (a < 8 && conn[a] != node[i]) a++;
        n_found += a < 8;
    }
    return n_found == n;
}

/* Joins stiff elements with common faces into components and counts them (n_part); they have no
 * numbers yet. O(n_elem). */
int hx_component_join_faces(hx_component_grouping *g);
/* Assigns numbers and finds the element counts and nodes of these components. A node belongs to the
 * largest component that contains it. O(n_elem). */
int hx_component_number_all(hx_component_grouping *g);
/* Joins numbered components that touch at nodes and updates their numbers and nodes; *touch = 0:
 * none do. */
int hx_component_join_nodes(hx_component_grouping *g, int *touch);

/* deflation_chains.c. Sets is_chosen for the soft components among part[n_part] and for those
 * connected to them by hinges. Collective. O(n_elem) if any component is soft. */
int hx_component_choose_chains(const hx_component_grouping *g, hx_floating_component *part);

/* deflation_interface.c, for several ranks: parts of the three functions above. Updates the labels
 * of the roots of components that extend to other ranks; g->n_part := components whose lowest
 * element is on this rank. */
int hx_component_join_interface(hx_component_grouping *g);
/* owner[] at interface points := the smallest value of all ranks. */
int hx_component_agree_owners(hx_component_grouping *g);
/* Joins, among n components, those that any rank has joined. */
int hx_component_join_messages(const hx_interface_host *others, uint32_t *above, int64_t n);

/* Sums K Z at interface points over the elements of all ranks, in rank order; components gain
 * points by this. Collective. */
int hx_component_complete_forces(const hx_interface_host *others, hx_floating_component *part,
                                 int n_part);

#endif
