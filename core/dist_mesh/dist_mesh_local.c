/* The local part of a distributed mesh, with nodes numbered by first use. */
#include <stdlib.h>
#include <string.h>

#include "../base/atomics.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/mesh_internal.h"
#include "dist_mesh_internal.h"

static const char what[] = "a part of a distributed mesh";

/* Hash table of nodes by their numbers in the source: open addressing, with eight consecutive
 * numbers in adjacent slots, since elements name consecutive nodes. */
typedef struct node_table {
    uint64_t mask;   /* slots - 1 */
    int64_t *node;   /* [slots] -1: empty (owned, like the next) */
    uint32_t *first; /* [slots] first position that names the node, later its local number */
    int is_full;
} node_table;

static void free_table(node_table *t)
{
    free(t->node);
    free(t->first);
    memset(t, 0, sizeof *t);
}

static int create_table(node_table *t, int bits)
{
    const size_t n = (size_t)1 << bits;
    memset(t, 0, sizeof *t);
    t->mask = n - 1;
    HX_TRY(hx_alloc_raw(&t->node, n, sizeof *t->node, what));
    HX_TRY(hx_alloc_raw(&t->first, n, sizeof *t->first, what));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        t->node[i] = -1;
        t->first[i] = UINT32_MAX;
    }
    return HX_OK;
}

static uint64_t home_of(const node_table *t, int64_t node)
{
    uint64_t h = ((uint64_t)node >> 3) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    return (h << 3 | ((uint64_t)node & 7)) & t->mask;
}

/* Returns the slot of a node, and inserts the node if it is new. */
static uint32_t slot_of(node_table *t, int64_t node)
{
    enum { PROBES = 1 << 12 };
    uint64_t at = home_of(t, node);
    for (int i = 0; i < PROBES; i++) {
        int64_t there = __atomic_load_n(&t->node[at], __ATOMIC_RELAXED);
        if (there == node) return (uint32_t)at;
        if (there == -1) {
            if (__atomic_compare_exchange_n(&t->node[at], &there, node, 0, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED) ||
                there == node)
                return (uint32_t)at;
        }
        at = (at + 1) & t->mask;
    }
#pragma omp atomic write
    t->is_full = 1;
    return 0;
}

/* Direct-mapped cache of nodes that a thread has seen recently; most are named by the next element
 * again. */
enum { RECENT = 2048 };
typedef struct recent {
    int64_t node[RECENT];
    uint32_t slot[RECENT];
} recent;

/* Returns the slot of the node named at position `at`. A thread processes positions in ascending
 * order, so a cached node already has an earlier position. */
static uint32_t name_place(node_table *t, recent *r, int64_t node, int64_t at)
{
    const uint32_t i = (uint32_t)node & (RECENT - 1);
    if (r->node[i] == node) return r->slot[i];
    const uint32_t slot = slot_of(t, node);
    hx_atomic_min(&t->first[slot], (uint32_t)at);
    r->node[i] = node;
    r->slot[i] = slot;
    return slot;
}

static void name_block(node_table *t, const hx_dist_mesh_block *b, int64_t at, int32_t *conn,
                       uint64_t *in_set)
{
#pragma omp parallel
    {
        recent r;
        for (int i = 0; i < RECENT; i++) r.node[i] = -1;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < 8 * b->n; k++)
            conn[8 * at + k] = (int32_t)name_place(t, &r, b->node[k], 8 * at + k);
    }
    if (in_set) memcpy(in_set + at, b->in_set, (size_t)b->n * sizeof *in_set);
}

/* conn[n][8] := slots; in_set[n] may be NULL. */
static int name_nodes(const hx_dist_mesh_task *task, node_table *t, int64_t n, const int64_t *elem,
                      int32_t *conn, uint64_t *in_set)
{
    hx_dist_mesh_block block = {0};
    int64_t n_block;
    int rc;
    HX_TRY_FAIL(hx_dist_mesh_block_create(&block, n));
    HX_TRY_FAIL(hx_dist_mesh_n_block(task, n, &n_block));
    for (int64_t i = 0; i < n_block; i++) {
        const int64_t at = hx_dist_mesh_block_take(&block, i, n, elem, 0);
        HX_TRY_FAIL(hx_dist_mesh_block_fill(task, &block, 0));
        name_block(t, &block, at, conn, in_set);
    }
fail:
    hx_dist_mesh_block_free(&block);
    return rc;
}

/* Like name_nodes, with a table that is large enough. The first size assumes as many nodes as
 * elements. If the table of one rank is full, all ranks repeat, since a source may have to be
 * queried by all ranks at once. */
static int make_table(const hx_dist_mesh_task *task, node_table *t, int64_t n, const int64_t *elem,
                      int32_t *conn, uint64_t *in_set)
{
    int bits = 10;
    while ((double)((int64_t)1 << bits) < 1.5 * (double)n) bits++;
    for (;; bits++) {
        double is_full;
        HX_TRY(create_table(t, bits));
        HX_TRY(name_nodes(task, t, n, elem, conn, in_set));
        is_full = t->is_full;
        HX_TRY(hx_reduce_max(task->reduce, 1, &is_full));
        if (is_full == 0.0) return HX_OK;
        free_table(t);
        if (bits == 31)
            return HX_RAISE(HX_EINPUT, "%s: too many nodes in one process; use more processes",
                            task->source->name);
    }
}

/* Turns slots into local numbers; (*node)[*n_node] := numbers in the source, which the caller
 * frees. */
static int number_local_nodes(node_table *t, int64_t n, int32_t *conn, int64_t *n_node,
                              int64_t **node)
{
    *n_node = hx_number_by_first_use(8 * n, conn, t->first);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 8 * n; k++) conn[k] = (int32_t)t->first[(uint32_t)conn[k]];
    HX_TRY(hx_alloc_raw(node, (size_t)*n_node, sizeof **node, what));
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->node[i] >= 0) (*node)[t->first[i]] = t->node[i];
    return HX_OK;
}

/* Converts numbers to 32 bits, which are sufficient for the source. */
static int take_numbers(int64_t n, const int64_t *number, int32_t **orig)
{
    HX_TRY(hx_alloc_raw(orig, (size_t)n, sizeof **orig, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) (*orig)[i] = (int32_t)number[i];
    return HX_OK;
}

/* Returns the number of nodes first used by elements 0 .. end - 1. */
static int64_t count_nodes(const int32_t *conn, int64_t end)
{
    int32_t last = -1;
#pragma omp parallel for schedule(static) reduction(max : last)
    for (int64_t k = 0; k < 8 * end; k++) last = conn[k] > last ? conn[k] : last;
    return (int64_t)last + 1;
}

/* Makes mesh->ownership; takes ownership of `first`. */
static int make_dist_mesh(const hx_dist_mesh_task *task, int64_t *first, hx_mesh *mesh)
{
    const int me = task->comm->rank;
    hx_mesh_ownership *w;
    int64_t n_node;
    int rc = hx_alloc(&mesh->ownership, 1, sizeof *mesh->ownership, what);
    if (rc < 0) free(first);
    HX_TRY(rc);
    w = mesh->ownership;
    w->reduce = task->reduce;
    w->first = first;
    w->n_elem = task->source->n_elem;
    w->own_node = count_nodes(mesh->conn, first[me]);
    w->n_own_node = count_nodes(mesh->conn, first[me + 1]) - w->own_node;
    HX_TRY(hx_reduce_exscan(task->reduce, first[me + 1] - first[me], &w->elem_before));
    HX_TRY(hx_reduce_exscan(task->reduce, w->n_own_node, &w->node_before));
    n_node = w->n_own_node;
    HX_TRY(hx_reduce_sum_i64(task->reduce, 1, &n_node));
    w->n_node = n_node;
    if (n_node == task->source->n_node) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: %lld %s no stiffness; remove them from the mesh",
                    task->source->name, (long long)(task->source->n_node - n_node),
                    hx_noun(task->source->n_node - n_node, "node belongs to no element and has",
                            "nodes belong to no element and have"));
}

/* Sets the file's numbers of nodes and elements; node[mesh->n_node]: numbers in the source. */
static int name_numbers(const hx_dist_mesh_task *task, const int64_t *node, hx_mesh *mesh)
{
    const hx_mesh_source *const source = task->source;
    int64_t *number = NULL;
    int rc;
    if (!source->has_numbers) return HX_OK;
    HX_TRY(hx_numbers_append_run(&mesh->elem_number, source->n_elem, source->first_elem));
    if (!source->node_numbers)
        return hx_numbers_append_run(&mesh->node_number, source->n_node, source->first_node);
    HX_TRY_FAIL(hx_alloc_raw(&number, (size_t)mesh->n_node, sizeof *number, what));
    HX_TRY_FAIL(source->node_numbers(source, mesh->n_node, node, number));
    rc = hx_numbers_append(&mesh->node_number, mesh->n_node, number);
    mesh->ownership->has_numbers = 1;
fail:
    free(number);
    return rc;
}

int hx_dist_mesh_make_local(const hx_dist_mesh_task *task, const int64_t *elem, int64_t *first,
                            hx_mesh *mesh)
{
    const hx_mesh_source *const source = task->source;
    const int64_t n = first[task->comm->size];
    uint64_t *in_set[2] = {NULL, NULL};
    node_table table = {0};
    int64_t n_node = 0, *node = NULL;
    int32_t *conn = NULL;
    double *xyz = NULL;
    int rc;
    memset(mesh, 0, sizeof *mesh);
    if (hx_source_has_sets(source, 1))
        HX_TRY_FAIL(hx_alloc_raw(&in_set[1], (size_t)n, sizeof(uint64_t), what));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)n, sizeof *conn, what));
    HX_TRY_FAIL(make_table(task, &table, n, elem, conn, in_set[1]));
    HX_TRY_FAIL(number_local_nodes(&table, n, conn, &n_node, &node));
    free_table(&table);
    if (hx_source_has_sets(source, 0))
        HX_TRY_FAIL(hx_alloc_raw(&in_set[0], (size_t)n_node, sizeof(uint64_t), what));
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)n_node, sizeof *xyz, what));
    HX_TRY_FAIL(hx_source_nodes(source, n_node, node, xyz, in_set[0]));
    rc = hx_mesh_create(mesh, source->name, n_node, xyz, n, conn);
    xyz = NULL; /* owned by the mesh, even after an error */
    conn = NULL;
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(take_numbers(n_node, node, &mesh->node_orig));
    HX_TRY_FAIL(take_numbers(n, elem, &mesh->elem_orig));
    int64_t *const taken = first;
    first = NULL;
    HX_TRY_FAIL(make_dist_mesh(task, taken, mesh));
    HX_TRY_FAIL(name_numbers(task, node, mesh));
    HX_TRY_FAIL(hx_source_add_sets(source, mesh, in_set));
    rc = hx_dist_mesh_faces(task, mesh);
fail:
    free_table(&table);
    free(first);
    free(node);
    free(conn);
    free(xyz);
    free(in_set[0]);
    free(in_set[1]);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}
