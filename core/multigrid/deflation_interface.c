/* Components of a design that extend over several subdomains (deflation_internal.h). Each rank has
 * joined its own elements; connections to other ranks are exchanged at interface points. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "deflation_internal.h"

static const char what[] = "floating components";

/* ---- faces between ranks ---- */

/* A face of a stiff element, sent by the rank that has the element. Its nodes have numbers that are
 * the same on all ranks. */
typedef struct face {
    int32_t n, node[4];
    uint32_t label;
} face;

typedef struct pair {
    uint32_t low, high; /* labels of parts of the same component */
} pair;

/* The number of a subdomain's node that is the same on all ranks. */
static int32_t node_in_all(const hx_problem *problem, int32_t node)
{
    const hx_mesh *const whole = problem->whole->mesh;
    const int32_t n = problem->whole_node[node];
    return whole->ownership ? whole->node_orig[n] : n;
}

/* Lists the faces of stiff elements that have only interface nodes, each at its first node. first[]
 * counts them if list is NULL, and otherwise contains the next free places. */
static void list_interface_faces(const hx_component_grouping *g, int64_t *first, face *list)
{
    const hx_mesh *const mesh = g->problem->mesh;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int f = 0; f < 6 && hx_component_is_stiff(g, e); f++) {
            int32_t node[4];
            const int n = hx_cell_face(mesh->conn + 8 * e, f, node);
            int n_interface = 0;
            for (int i = 0; i < n; i++) n_interface += g->place[node[i]] >= 0;
            if (n < 3 || n_interface < n) continue;
            const int64_t at = first[g->place[node[0]]]++;
            if (!list) continue;
            list[at] = (face){.n = n, .label = g->label[hx_component_root(g, e)]};
            for (int i = 0; i < n; i++) list[at].node[i] = node_in_all(g->problem, node[i]);
        }
}

/* Turns counts into first places; end_lists restores the first places after the lists have been
 * filled. */
static void begin_lists(int64_t n, int64_t *first)
{
    int64_t sum = 0;
    for (int64_t i = 0; i <= n; i++) {
        const int64_t count = first[i];
        first[i] = sum;
        sum += count;
    }
}

static void end_lists(int64_t n, int64_t *first)
{
    for (int64_t i = n; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
}

static int exchange_faces(const hx_component_grouping *g, hx_interface_messages *received)
{
    const int64_t n = g->others->n_interface;
    int64_t *first = NULL;
    face *list = NULL;
    int rc = hx_alloc(&first, (size_t)n + 1, sizeof *first, what);
    if (rc == HX_OK) {
        list_interface_faces(g, first, NULL);
        begin_lists(n, first);
        rc = hx_alloc_raw(&list, (size_t)first[n], sizeof *list, what);
    }
    if (rc == HX_OK) {
        list_interface_faces(g, first, list);
        end_lists(n, first);
    }
    rc = hx_interface_agree(g->others, rc);
    if (rc == HX_OK) rc = g->others->exchange(g->others, first, sizeof *list, list, received);
    free(first);
    free(list);
    return rc;
}

/* The stiff element on this rank that has a face received at a node; -1: none. */
static int64_t element_at(const hx_component_grouping *g, int32_t node, const face *f)
{
    for (int64_t k = g->node_elem_ptr[node]; k < g->node_elem_ptr[node + 1]; k++) {
        const int64_t e = g->node_elem[k] >> 3;
        int32_t conn[8];
        if (!hx_component_is_stiff(g, e)) continue;
        for (int a = 0; a < 8; a++)
            conn[a] = node_in_all(g->problem, g->problem->mesh->conn[8 * e + a]);
        if (hx_component_has_all(conn, f->n, f->node)) return e;
    }
    return -1;
}

static int by_labels(const void *a, const void *b)
{
    const pair *const x = a, *const y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

/* Pairs of labels that a face joins, each once. Only faces received from higher ranks are used; the
 * lower rank of a pair handles it. */
static int find_pairs(const hx_component_grouping *g, const hx_interface_messages *received,
                      pair **list, int64_t *n)
{
    const hx_reduce *const reduce = g->others->reduce;
    const int64_t begin = received->first[reduce->rank + 1], end = received->first[reduce->size];
    const face *const f = received->item;
    *n = 0;
    HX_TRY(hx_alloc_raw(list, (size_t)(end - begin), sizeof **list, what));
    for (int64_t i = begin; i < end; i++) {
        const int64_t e = element_at(g, g->others->interface[received->at[i]], &f[i]);
        if (e < 0) continue;
        const uint32_t a = g->label[hx_component_root(g, e)], b = f[i].label;
        (*list)[(*n)++] = a < b ? (pair){a, b} : (pair){b, a};
    }
    qsort(*list, (size_t)*n, sizeof **list, by_labels);
    int64_t n_kept = 0;
    for (int64_t i = 0; i < *n; i++)
        if (n_kept == 0 || by_labels(&(*list)[n_kept - 1], &(*list)[i]) != 0)
            (*list)[n_kept++] = (*list)[i];
    *n = n_kept;
    return HX_OK;
}

/* Union-find of the labels of all pairs: each label once, ascending; the root is the lowest of its
 * component. */
typedef struct label_tree {
    int64_t n;
    int32_t *label; /* (owned, like the next) */
    uint32_t *parent;
} label_tree;

static uint32_t place_of_label(const label_tree *t, uint32_t label)
{
    return (uint32_t)hx_count_below_i32(t->label, t->n, (int64_t)label);
}

static int grow_tree(label_tree *t, const pair *list, int64_t n)
{
    HX_TRY(hx_alloc_raw(&t->label, 2 * (size_t)n, sizeof *t->label, what));
    for (int64_t i = 0; i < n; i++) {
        t->label[2 * i] = (int32_t)list[i].low; /* element numbers have 31 bits */
        t->label[2 * i + 1] = (int32_t)list[i].high;
    }
    hx_sort_i32(t->label, 2 * n);
    t->n = hx_unique_i32(t->label, 2 * n);
    HX_TRY(hx_alloc_raw(&t->parent, (size_t)t->n, sizeof *t->parent, what));
    for (int64_t i = 0; i < t->n; i++) t->parent[i] = (uint32_t)i;
    for (int64_t i = 0; i < n; i++)
        hx_component_join(t->parent, place_of_label(t, list[i].low),
                          place_of_label(t, list[i].high));
    return HX_OK;
}

static void free_tree(label_tree *t)
{
    free(t->label);
    free(t->parent);
}

/* Sets the labels of components that extend to other ranks; g->n_part := components whose lowest
 * element is on this rank. */
static void relabel(hx_component_grouping *g, const label_tree *t)
{
    g->n_part = 0;
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++) {
        if (!hx_component_is_stiff(g, e) || hx_component_root(g, e) != (uint32_t)e) continue;
        const uint32_t at = place_of_label(t, g->label[e]);
        const int is_there = at < t->n && (uint32_t)t->label[at] == g->label[e];
        const uint32_t lowest =
            is_there ? (uint32_t)t->label[hx_component_find(t->parent, at)] : g->label[e];
        g->n_part += lowest == g->label[e];
        g->label[e] = lowest;
    }
}

int hx_component_join_interface(hx_component_grouping *g)
{
    hx_interface_messages received = {0};
    label_tree tree = {0};
    pair *own = NULL, *all = NULL;
    int64_t n_own = 0, n_all;
    int rc;
    HX_TRY_FAIL(exchange_faces(g, &received));
    rc = find_pairs(g, &received, &own, &n_own);
    HX_TRY_FAIL(hx_interface_gather(g->others, rc, n_own, sizeof *own, own, &all, &n_all));
    rc = grow_tree(&tree, all, n_all);
    if (rc == HX_OK) relabel(g, &tree);
fail:
    hx_interface_messages_free(&received);
    free_tree(&tree);
    free(own);
    free(all);
    return rc;
}

/* ---- owners of nodes ---- */

/* Lists the owners of interface points on this rank, each at its point. */
static void list_owners(const hx_component_grouping *g, int64_t *first, uint32_t *own)
{
    int64_t n = 0;
    for (int64_t i = 0; i < g->others->n_interface; i++) {
        const uint32_t owner = g->owner[g->others->interface[i]];
        first[i] = n;
        if (owner != HX_NO_COMPONENT) own[n++] = owner;
    }
    first[g->others->n_interface] = n;
}

int hx_component_agree_owners(hx_component_grouping *g)
{
    const hx_interface_host *const others = g->others;
    const size_t n = (size_t)others->n_interface;
    hx_interface_messages received = {0};
    int64_t *first = NULL;
    uint32_t *own = NULL;
    int rc = hx_alloc_raw(&first, n + 1, sizeof *first, what);
    if (rc == HX_OK) rc = hx_alloc_raw(&own, n, sizeof *own, what);
    if (rc == HX_OK) list_owners(g, first, own);
    HX_TRY_FAIL(hx_interface_agree(others, rc));
    HX_TRY_FAIL(others->exchange(others, first, sizeof *own, own, &received));
    const uint32_t *const theirs = received.item;
    for (int64_t i = 0; i < received.first[others->reduce->size]; i++) {
        uint32_t *const owner = &g->owner[others->interface[received.at[i]]];
        if (theirs[i] < *owner) *owner = theirs[i];
    }
    rc = HX_OK;
fail:
    hx_interface_messages_free(&received);
    free(first);
    free(own);
    return rc;
}

/* ---- components that touch ---- */

enum { BLOCK = 1 << 16 };

/* Joins, among all components, those that other ranks have joined. */
int hx_component_join_messages(const hx_interface_host *others, uint32_t *above, int64_t n)
{
    const int size = others->reduce->size;
    uint32_t *every = NULL;
    int rc = others->agree(others, hx_alloc_raw(&every, (size_t)size * BLOCK, sizeof *every, what));
    for (int64_t at = 0; rc == HX_OK && at < n; at += BLOCK) {
        const int64_t m = n - at < BLOCK ? n - at : BLOCK;
        rc = others->reduce->gather(others->reduce, above + at, (size_t)m * sizeof *above, every);
        for (int64_t i = 0; rc == HX_OK && i < size * m; i++)
            hx_component_join(above, (uint32_t)(at + i % m), every[i]);
    }
    free(every);
    return rc;
}

/* ---- K Z at interface points ---- */

enum { ENTRIES = 3 * HX_DEFLATION_MOTIONS };

/* Contribution of a rank's elements to the forces of a component's motions at a point. */
typedef struct share_of_force {
    int64_t part;
    double force[ENTRIES];
} share_of_force;

/* Lists the touched interface points of the components. first[] counts them if list is NULL, and
 * otherwise contains the next free places. */
static void list_shares(const int32_t *place, const hx_floating_component *part, int n_part,
                        int64_t *first, share_of_force *list)
{
    for (int p = 0; p < n_part; p++)
        for (int64_t t = 0; t < part[p].n_touched; t++) {
            const int32_t i = place[part[p].touched[t]];
            if (i < 0) continue;
            const int64_t at = first[i]++;
            if (!list) continue;
            list[at].part = p;
            memcpy(list[at].force, part[p].force + ENTRIES * t, sizeof list[at].force);
        }
}

/* place[n_node]: index among the interface points, -1 elsewhere; for all nodes up to the highest
 * that occurs in components. */
static int list_places(const hx_interface_host *others, const hx_floating_component *part,
                       int n_part, int32_t **place)
{
    int32_t n_node = 0;
    for (int64_t i = 0; i < others->n_interface; i++)
        if (others->interface[i] >= n_node) n_node = others->interface[i] + 1;
    for (int p = 0; p < n_part; p++) {
        const int64_t n = part[p].n_touched;
        if (n > 0 && part[p].touched[n - 1] >= n_node) n_node = part[p].touched[n - 1] + 1;
    }
    HX_TRY(hx_alloc_raw(place, (size_t)n_node, sizeof **place, what));
    memset(*place, 0xff, (size_t)n_node * sizeof **place);
    for (int64_t i = 0; i < others->n_interface; i++) (*place)[others->interface[i]] = (int32_t)i;
    return HX_OK;
}

static int exchange_forces(const hx_interface_host *others, const hx_floating_component *part,
                           int n_part, hx_interface_messages *received)
{
    const int64_t n = others->n_interface;
    int64_t *first = NULL;
    int32_t *place = NULL;
    share_of_force *list = NULL;
    int rc = hx_alloc(&first, (size_t)n + 1, sizeof *first, what);
    if (rc == HX_OK) rc = list_places(others, part, n_part, &place);
    if (rc == HX_OK) {
        list_shares(place, part, n_part, first, NULL);
        begin_lists(n, first);
        rc = hx_alloc_raw(&list, (size_t)first[n], sizeof *list, what);
    }
    if (rc == HX_OK) {
        list_shares(place, part, n_part, first, list);
        end_lists(n, first);
    }
    rc = hx_interface_agree(others, rc);
    if (rc == HX_OK) rc = others->exchange(others, first, sizeof *list, list, received);
    free(first);
    free(place);
    free(list);
    return rc;
}

static void add_force(const hx_floating_component *part, double *force, int32_t node,
                      const double *more)
{
    double *const to = force + ENTRIES * hx_count_below_i32(part->touched, part->n_touched, node);
    for (int i = 0; i < ENTRIES; i++) to[i] += more[i];
}

/* Adds up the forces of a component in rank order: those of lower ranks, its own, those of higher
 * ranks. list[n]: the items that belong to it. */
static int add_shares(const hx_interface_host *others, const hx_interface_messages *received,
                      const int64_t *list, int64_t n, hx_floating_component *part)
{
    const share_of_force *const theirs = received->item;
    const int64_t n_own = part->n_touched, above = received->first[others->reduce->rank + 1];
    int32_t *const own = part->touched;
    double *const own_force = part->force;
    double *force = NULL;
    int64_t i = 0;
    HX_TRY(hx_alloc_raw(&part->touched, (size_t)(n_own + n), sizeof *part->touched, what));
    part->force = NULL;
    if (n_own > 0) memcpy(part->touched, own, (size_t)n_own * sizeof *own);
    for (int64_t k = 0; k < n; k++)
        part->touched[n_own + k] = others->interface[received->at[list[k]]];
    hx_sort_i32(part->touched, n_own + n);
    part->n_touched = hx_unique_i32(part->touched, n_own + n);
    const int rc = hx_alloc(&force, ENTRIES * (size_t)part->n_touched, sizeof *force, what);
    if (rc == HX_OK) {
        for (; i < n && list[i] < above; i++)
            add_force(part, force, others->interface[received->at[list[i]]], theirs[list[i]].force);
        for (int64_t t = 0; t < n_own; t++) add_force(part, force, own[t], own_force + ENTRIES * t);
        for (; i < n; i++)
            add_force(part, force, others->interface[received->at[list[i]]], theirs[list[i]].force);
    }
    part->force = force;
    free(own);
    free(own_force);
    return rc;
}

/* by_part[first[p]]: indices of the items that belong to component p, in rank order. */
static int sort_by_part(const share_of_force *item, int64_t n, int n_part, int64_t *first,
                        int64_t **by_part)
{
    HX_TRY(hx_alloc_raw(by_part, (size_t)n, sizeof **by_part, what));
    for (int64_t i = 0; i < n; i++) first[item[i].part]++;
    begin_lists(n_part, first);
    for (int64_t i = 0; i < n; i++) (*by_part)[first[item[i].part]++] = i;
    end_lists(n_part, first);
    return HX_OK;
}

int hx_component_complete_forces(const hx_interface_host *others, hx_floating_component *part,
                                 int n_part)
{
    hx_interface_messages received = {0};
    int64_t *first = NULL, *by_part = NULL;
    int rc;
    if (!others) return HX_OK;
    HX_TRY_FAIL(exchange_forces(others, part, n_part, &received));
    rc = hx_alloc(&first, (size_t)n_part + 1, sizeof *first, what);
    if (rc == HX_OK)
        rc = sort_by_part(received.item, received.first[others->reduce->size], n_part, first,
                          &by_part);
    for (int p = 0; p < n_part && rc == HX_OK; p++)
        rc = add_shares(others, &received, by_part + first[p], first[p + 1] - first[p], &part[p]);
    rc = hx_interface_agree(others, rc);
fail:
    hx_interface_messages_free(&received);
    free(first);
    free(by_part);
    return rc;
}
