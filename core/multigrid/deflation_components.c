/* Groups stiff elements into the components of a design (deflation_internal.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomics.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/mesh_internal.h"
#include "deflation_internal.h"

static const char what[] = "floating components";

/* ---- faces ---- */

static int is_new(const hx_component_grouping *g, int64_t e)
{
    return hx_component_modulus(g, e) < g->joined;
}

/* Joins a new stiff element to the element on the other side of a face. */
static void join_face(hx_component_grouping *g, int64_t e, int n, const int32_t *node)
{
    const int32_t *const conn = g->problem->mesh->conn;
    const uint32_t root = hx_component_root(g, e);
    for (int64_t k = g->node_elem_ptr[node[0]]; k < g->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = g->node_elem[k] >> 3;
        if (other == e || !hx_component_is_stiff(g, other)) continue;
        if (other > e && is_new(g, other)) continue; /* that element joins itself to this one */
        if (hx_component_root(g, other) == root) continue;
        if (hx_component_has_all(conn + 8 * other, n, node)) {
            hx_component_join(g->parent, (uint32_t)other, (uint32_t)e);
            return; /* the only element on the other side */
        }
    }
}

static void join_here(hx_component_grouping *g)
{
    const hx_mesh *const mesh = g->problem->mesh;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!hx_component_is_stiff(g, e) || !is_new(g, e)) continue;
        for (int f = 0; f < 6; f++) {
            int32_t node[4];
            const int n = hx_cell_face(mesh->conn + 8 * e, f, node);
            if (n >= 3) join_face(g, e, n, node);
        }
    }
    g->joined = g->least;
}

/* The number of an element in the file or generator, which does not depend on the order or
 * distribution of the mesh. */
static uint32_t number_of(const hx_problem *problem, int64_t e)
{
    const int32_t *const orig = hx_problem_whole(problem)->mesh->elem_orig;
    const int64_t elem = problem->whole ? problem->whole_elem[e] : e;
    return (uint32_t)(orig ? orig[elem] : elem);
}

/* Sets label[] of the roots on this rank; g->n_part := their number. */
static void label_roots(hx_component_grouping *g)
{
    const int64_t n_elem = g->problem->mesh->n_elem;
    int64_t n_part = 0;
    memset(g->label, 0xff, (size_t)n_elem * sizeof *g->label);
#pragma omp parallel for schedule(static) reduction(+ : n_part)
    for (int64_t e = 0; e < n_elem; e++) {
        if (!hx_component_is_stiff(g, e)) continue;
        const uint32_t root = hx_component_root(g, e);
        hx_atomic_min(&g->label[root], number_of(g->problem, e));
        n_part += root == (uint32_t)e;
    }
    g->n_part = n_part;
}

int hx_component_join_faces(hx_component_grouping *g)
{
    join_here(g);
    label_roots(g);
    const int rc = g->others ? hx_component_join_interface(g) : HX_OK;
    return hx_interface_sum_i64(g->others, rc, 1, &g->n_part);
}

/* ---- numbers ---- */

/* A component, or the part of it on this rank. */
typedef struct sized {
    int64_t n_elem;
    uint32_t lowest;
    int32_t number;
} sized;

static int by_lowest(const void *a, const void *b)
{
    const sized *const x = a, *const y = b;
    return x->lowest < y->lowest ? -1 : x->lowest > y->lowest;
}

static int larger_first(const void *a, const void *b)
{
    const sized *const x = a, *const y = b;
    if (x->n_elem != y->n_elem) return x->n_elem > y->n_elem ? -1 : 1;
    return by_lowest(a, b);
}

/* Merges entries with equal labels. */
static int64_t add_up_sizes(sized *list, int64_t n)
{
    int64_t n_kept = 0;
    qsort(list, (size_t)n, sizeof *list, by_lowest);
    for (int64_t i = 0; i < n; i++) {
        if (n_kept > 0 && list[n_kept - 1].lowest == list[i].lowest)
            list[n_kept - 1].n_elem += list[i].n_elem;
        else
            list[n_kept++] = list[i];
    }
    return n_kept;
}

/* Sets number[] of each root to the number of its elements; returns the number of roots. */
static int64_t count_elements(hx_component_grouping *g)
{
    const int64_t n_elem = g->problem->mesh->n_elem;
    int64_t n_root = 0;
    memset(g->number, 0, (size_t)n_elem * sizeof *g->number);
#pragma omp parallel reduction(+ : n_root)
    {
        uint32_t root = 0; /* of the preceding elements, which often have the same root */
        int32_t n = 0;
#pragma omp for schedule(static)
        for (int64_t e = 0; e < n_elem; e++) {
            if (!hx_component_is_stiff(g, e)) continue;
            const uint32_t here = hx_component_root(g, e);
            if (here != root) {
                hx_atomic_add(&g->number[root], n);
                root = here;
                n = 0;
            }
            n++;
            n_root += here == (uint32_t)e;
        }
        hx_atomic_add(&g->number[root], n);
    }
    return n_root;
}

/* Lists the parts of all components on this rank. */
static int count_here(hx_component_grouping *g, sized **list, int64_t *n)
{
    const int64_t n_root = count_elements(g);
    HX_TRY(hx_alloc(list, (size_t)n_root, sizeof **list, what));
    *n = 0;
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++)
        if (g->number[e] > 0) (*list)[(*n)++] = (sized){g->number[e], g->label[e], 0};
    *n = add_up_sizes(*list, *n);
    return HX_OK;
}

/* Fills the table of components, sorted. */
static int put_parts(hx_component_grouping *g, sized *list, int64_t n)
{
    free(g->count);
    free(g->lowest);
    free(g->first);
    g->count = g->first = NULL;
    g->lowest = NULL;
    g->n_part = n;
    HX_TRY(hx_alloc_raw(&g->count, (size_t)n, sizeof *g->count, what));
    HX_TRY(hx_alloc_raw(&g->lowest, (size_t)n, sizeof *g->lowest, what));
    HX_TRY(hx_alloc_raw(&g->first, (size_t)n + 1, sizeof *g->first, what));
    qsort(list, (size_t)n, sizeof *list, larger_first);
    for (int64_t p = 0; p < n; p++) {
        g->count[p] = list[p].n_elem;
        g->lowest[p] = list[p].lowest;
    }
    return HX_OK;
}

/* Sets number[] of the roots on this rank to component numbers. */
static void number_roots(hx_component_grouping *g, sized *list)
{
    for (int64_t p = 0; p < g->n_part; p++) list[p].number = (int32_t)p;
    qsort(list, (size_t)g->n_part, sizeof *list, by_lowest);
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++) {
        if (g->number[e] <= 0) continue;
        const sized key = {.lowest = g->label[e]};
        const sized *const found = bsearch(&key, list, (size_t)g->n_part, sizeof *list, by_lowest);
        g->number[e] = found->number;
    }
}

static int number_parts(hx_component_grouping *g)
{
    sized *here = NULL, *all = NULL;
    int64_t n_here = 0, n;
    int rc = count_here(g, &here, &n_here);
    HX_TRY_FAIL(hx_interface_gather(g->others, rc, n_here, sizeof *here, here, &all, &n));
    n = add_up_sizes(all, n);
    rc = put_parts(g, all, n);
    if (rc == HX_OK) number_roots(g, all);
fail:
    free(here);
    free(all);
    return rc;
}

/* ---- nodes ---- */

/* Number of ranges into which nodes are divided to list them in parallel; each range counts its
 * nodes of every component. */
enum { RANGES = 32 };

static int64_t range_begin(const hx_component_grouping *g, int range)
{
    return g->problem->mesh->n_node * range / RANGES;
}

/* at[RANGES][n_part]: number of nodes of each component in each range, then their first places. */
static void count_ranges(const hx_component_grouping *g, int64_t *at)
{
#pragma omp parallel for schedule(static, 1)
    for (int r = 0; r < RANGES; r++)
        for (int64_t i = range_begin(g, r); i < range_begin(g, r + 1); i++)
            if (g->owner[i] != HX_NO_COMPONENT) at[g->n_part * r + g->owner[i]]++;
    int64_t sum = 0;
    for (int64_t p = 0; p < g->n_part; p++) {
        g->first[p] = sum;
        for (int r = 0; r < RANGES; r++) {
            const int64_t n = at[g->n_part * r + p];
            at[g->n_part * r + p] = sum;
            sum += n;
        }
    }
    g->first[g->n_part] = sum;
}

static int list_component_nodes(hx_component_grouping *g)
{
    int64_t *at;
    HX_TRY(hx_alloc(&at, RANGES * (size_t)g->n_part, sizeof *at, what));
    count_ranges(g, at);
#pragma omp parallel for schedule(static, 1)
    for (int r = 0; r < RANGES; r++)
        for (int64_t i = range_begin(g, r); i < range_begin(g, r + 1); i++)
            if (g->owner[i] != HX_NO_COMPONENT)
                g->node[at[g->n_part * r + g->owner[i]]++] = (int32_t)i;
    free(at);
    return HX_OK;
}

/* Finds the owner of each node, and the nodes of each component. rc: result of the numbering. */
static int find_nodes(hx_component_grouping *g, int rc)
{
    const hx_mesh *const mesh = g->problem->mesh;
    HX_TRY(hx_interface_agree(g->others, rc));
    memset(g->owner, 0xff, (size_t)mesh->n_node * sizeof *g->owner); /* HX_NO_COMPONENT */
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!hx_component_is_stiff(g, e)) continue;
        const uint32_t p = hx_component_number(g, e);
        for (int a = 0; a < 8; a++) hx_atomic_min(&g->owner[mesh->conn[8 * e + a]], p);
    }
    if (g->others) HX_TRY(hx_component_agree_owners(g));
    return hx_interface_agree(g->others, list_component_nodes(g));
}

int hx_component_number_all(hx_component_grouping *g)
{
    return find_nodes(g, number_parts(g));
}

/* ---- components that touch ---- */

/* above[n_part] := union-find of components that share nodes. */
static int join_parts(const hx_component_grouping *g, uint32_t *above)
{
    const hx_mesh *const mesh = g->problem->mesh;
    for (int64_t p = 0; p < g->n_part; p++) above[p] = (uint32_t)p;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!hx_component_is_stiff(g, e)) continue;
        const uint32_t here = hx_component_number(g, e);
        for (int a = 0; a < 8; a++) {
            const uint32_t there = g->owner[mesh->conn[8 * e + a]];
            if (there != here) hx_component_join(above, there, here);
        }
    }
    return g->others ? hx_component_join_messages(g->others, above, g->n_part) : HX_OK;
}

/* Fills the table of the joined components; new_number[] maps the previous numbers. */
static int merge_parts(hx_component_grouping *g, uint32_t *above, sized *list, int32_t *new_number)
{
    const int64_t n = g->n_part;
    int64_t n_kept = 0;
    for (int64_t p = 0; p < n; p++) {
        const uint32_t root = hx_component_find(above, (uint32_t)p);
        if (root == (uint32_t)p) {
            /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated it */
            new_number[p] = (int32_t)n_kept;
            list[n_kept++] = (sized){0, g->lowest[p], (int32_t)p};
        }
        /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated it */
        sized *const to = &list[new_number[root]];
        to->n_elem += g->count[p];
        if (g->lowest[p] < to->lowest) to->lowest = g->lowest[p];
    }
    HX_TRY(put_parts(g, list, n_kept));
    for (int64_t p = 0; p < n_kept; p++) new_number[list[p].number] = (int32_t)p;
    for (int64_t p = 0; p < n; p++)
        new_number[p] = new_number[hx_component_find(above, (uint32_t)p)];
    return HX_OK;
}

static void renumber_roots(const hx_component_grouping *g, const int32_t *new_number)
{
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++)
        if (hx_component_is_stiff(g, e) && hx_component_root(g, e) == (uint32_t)e)
            g->number[e] = new_number[g->number[e]];
}

int hx_component_join_nodes(hx_component_grouping *g, int *touch)
{
    const size_t n = (size_t)g->n_part;
    uint32_t *above = NULL;
    int32_t *new_number = NULL;
    sized *list = NULL;
    *touch = 0;
    if (n < 2) return HX_OK;
    int rc = hx_alloc_raw(&above, n, sizeof *above, what);
    if (rc == HX_OK) rc = hx_alloc_raw(&new_number, n, sizeof *new_number, what);
    if (rc == HX_OK) rc = hx_alloc_raw(&list, n, sizeof *list, what);
    HX_TRY_FAIL(hx_interface_agree(g->others, rc));
    HX_TRY_FAIL(join_parts(g, above));
    for (size_t p = 0; p < n; p++) *touch |= hx_component_find(above, (uint32_t)p) != p;
    if (!*touch) goto fail; /* no components touch */
    rc = merge_parts(g, above, list, new_number);
    if (rc == HX_OK) renumber_roots(g, new_number);
    rc = find_nodes(g, rc);
fail:
    free(above);
    free(new_number);
    free(list);
    return rc;
}

/* ---- creation and destruction ---- */

/* Lists the owned nodes that are held. The degrees of freedom of springs are ascending. */
static int list_held(hx_component_grouping *g)
{
    const hx_springs *const springs = &g->problem->springs;
    const uint8_t *const fixed = g->problem->supports.fixed;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) HX_TRY(hx_alloc_raw(&g->held, (size_t)g->n_held, sizeof *g->held, what));
        g->n_held = 0;
        for (int64_t i = 0, s = 0; i < g->n_own; i++) {
            int is_held = fixed[i] != 0;
            for (; s < springs->n && springs->dof[s] < 3 * (i + 1); s++)
                is_held |= springs->stiffness[s] > 0.0;
            if (is_held && pass) g->held[g->n_held] = (int32_t)i;
            g->n_held += is_held;
        }
    }
    return HX_OK;
}

static int alloc_here(hx_component_grouping *g)
{
    const hx_mesh *const mesh = g->problem->mesh;
    const size_t n_elem = (size_t)mesh->n_elem, n_node = (size_t)mesh->n_node;
    HX_TRY(hx_alloc_raw(&g->parent, n_elem, sizeof *g->parent, what));
    HX_TRY(hx_alloc_raw(&g->label, n_elem, sizeof *g->label, what));
    HX_TRY(hx_alloc_raw(&g->number, n_elem, sizeof *g->number, what));
    HX_TRY(hx_alloc_raw(&g->owner, n_node, sizeof *g->owner, what));
    HX_TRY(hx_alloc_raw(&g->node, n_node, sizeof *g->node, what));
    g->node_elem_ptr = mesh->node_elem_ptr;
    g->node_elem = mesh->node_elem;
    if (!mesh->node_elem_ptr) {
        HX_TRY(hx_mesh_build_incidence(mesh, &g->own_ptr, &g->own_list));
        g->node_elem_ptr = g->own_ptr;
        g->node_elem = g->own_list;
    }
    HX_TRY(list_held(g));
    for (size_t e = 0; e < n_elem; e++) g->parent[e] = (uint32_t)e;
    if (!g->others) return HX_OK;
    HX_TRY(hx_alloc_raw(&g->place, n_node, sizeof *g->place, what));
    memset(g->place, 0xff, n_node * sizeof *g->place);
    for (int64_t i = 0; i < g->others->n_interface; i++)
        g->place[g->others->interface[i]] = (int32_t)i;
    return HX_OK;
}

int hx_component_grouping_create(hx_component_grouping *g, const hx_problem *problem,
                                 const hx_interface_host *others, const double *modulus)
{
    const hx_mesh *const whole = hx_problem_whole(problem)->mesh;
    *g = (hx_component_grouping){.problem = problem,
                                 .others = others,
                                 .modulus = modulus,
                                 .joined = INFINITY,
                                 .n_node_all = hx_mesh_n_node_all(whole),
                                 .n_own = others ? others->n_own : problem->mesh->n_node};
    return hx_interface_agree(others, alloc_here(g));
}

void hx_component_grouping_free(hx_component_grouping *g)
{
    free(g->own_ptr);
    free(g->own_list);
    free(g->held);
    free(g->place);
    free(g->label);
    free(g->parent);
    free(g->owner);
    free(g->number);
    free(g->count);
    free(g->lowest);
    free(g->first);
    free(g->node);
}
