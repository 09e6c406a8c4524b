/* Bodies of a distributed mesh: those of each rank's own elements, joined at the nodes that ranks
 * share. If only some elements are flagged, an own node may belong to a flagged element of another
 * rank only; bodies are then found among all local elements, which include every element at an own
 * node. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sort.h"
#include "../comm/comm_alltoall.h"
#include "../mesh/mesh_quality.h"
#include "dist_mesh.h"

static const char what[] = "bodies of a distributed mesh";

/* A pair of bodies that are the same. Bodies are numbered globally, rank after rank. */
typedef struct graph {
    int64_t n_body, first; /* number of all bodies; global number of the first one of this rank */
    int32_t *body;         /* [n_node] local body of nodes of own elements; -1: none (owned) */
    int64_t n_edge;
    int64_t *edge; /* [n_edge][2] (owned) */
} graph;

/* Sent to the owner of a node. */
typedef struct rim_node {
    int64_t node; /* global number */
    int64_t body; /* global number of the sender's body */
} rim_node;

/* Finds the bodies of own elements, or of all flagged local elements. */
static int find_here(const hx_mesh *mesh, const uint8_t *is_there, int32_t *body, int64_t *n_body)
{
    const int64_t begin = hx_mesh_own_begin(mesh), end = hx_mesh_own_end(mesh);
    const hx_mesh own = {
        .n_node = mesh->n_node, .n_elem = end - begin, .conn = mesh->conn + 8 * begin};
    const hx_connections here = {.n_point = mesh->n_node,
                                 .n_cell = mesh->n_elem,
                                 .n_per_cell = 8,
                                 .point = mesh->conn,
                                 .is_there = is_there};
    return is_there ? hx_find_bodies(&here, body, n_body) : hx_mesh_bodies(&own, body, n_body);
}

/* Removes the body number of nodes that only ghosts have, because this rank may not see to which
 * body they belong. */
static int forget_others(const hx_mesh *mesh, int32_t *body)
{
    const int64_t begin = 8 * hx_mesh_own_begin(mesh), end = 8 * hx_mesh_own_end(mesh);
    uint8_t *is_own;
    HX_TRY(hx_alloc(&is_own, (size_t)mesh->n_node, 1, what));
    for (int64_t i = begin; i < end; i++) is_own[mesh->conn[i]] = 1;
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (!is_own[a]) body[a] = -1;
    free(is_own);
    return HX_OK;
}

/* Numbers the bodies at nodes of own elements 0, 1, ...; other nodes have none. */
static int find_own(const hx_mesh *mesh, const uint8_t *is_there, graph *g, int64_t *n_own)
{
    const int64_t begin = 8 * hx_mesh_own_begin(mesh), end = 8 * hx_mesh_own_end(mesh);
    int32_t *number = NULL;
    int64_t n_all;
    int rc;
    *n_own = 0;
    HX_TRY_FAIL(hx_alloc_raw(&g->body, (size_t)mesh->n_node, sizeof *g->body, what));
    HX_TRY_FAIL(find_here(mesh, is_there, g->body, &n_all));
    if (is_there) HX_TRY_FAIL(forget_others(mesh, g->body));
    HX_TRY_FAIL(hx_alloc_raw(&number, (size_t)n_all, sizeof *number, what));
    memset(number, 0xff, (size_t)n_all * sizeof *number);
    for (int64_t i = begin; i < end; i++) {
        const int32_t body = g->body[mesh->conn[i]];
        if (body >= 0 && number[body] < 0) number[body] = (int32_t)(*n_own)++;
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++)
        g->body[a] = g->body[a] < 0 ? -1 : number[g->body[a]];
fail:
    free(number);
    return rc;
}

/* end[rank] := end of the range of nodes that the rank owns; nodes are numbered rank after rank. */
static void find_owners(const hx_mesh *mesh, int me, int64_t *end)
{
    const hx_mesh_ownership *const w = mesh->ownership;
    int32_t last = -1;
    for (int r = 0; r <= me; r++) {
        for (int64_t i = 8 * w->first[r]; i < 8 * w->first[r + 1]; i++)
            last = mesh->conn[i] > last ? mesh->conn[i] : last;
        end[r] = (int64_t)last + 1;
    }
}

/* (*rim)[first[size]] := nodes of own elements that lower ranks own, by rank; the caller frees
 * it. */
static int list_rim(const hx_mesh *mesh, const graph *g, const hx_comm *comm, int64_t *first,
                    rim_node **rim)
{
    int64_t *end = NULL, n = 0;
    const int64_t n_lower = mesh->ownership->own_node;
    HX_TRY(hx_alloc(&end, (size_t)comm->size + 1, sizeof *end, what));
    find_owners(mesh, comm->rank, end);
    for (int64_t a = 0; a < n_lower; a++) n += g->body[a] >= 0;
    const int rc = hx_alloc_raw(rim, (size_t)n, sizeof **rim, what);
    int64_t node = 0;
    n = 0;
    for (int r = 0; r < comm->size && rc == HX_OK; r++) {
        first[r] = n;
        for (; r < comm->rank && node < end[r]; node++)
            if (g->body[node] >= 0)
                (*rim)[n++] = (rim_node){mesh->node_orig[node], g->first + g->body[node]};
    }
    first[comm->size] = n;
    free(end);
    return rc;
}

/* Sorts own nodes by global number. */
static int sort_own(const hx_mesh *mesh, int32_t *order)
{
    const hx_mesh_ownership *const w = mesh->ownership;
    uint64_t *key;
    HX_TRY(hx_alloc_raw(&key, (size_t)w->n_own_node, sizeof *key, what));
    for (int64_t i = 0; i < w->n_own_node; i++) key[i] = (uint32_t)mesh->node_orig[w->own_node + i];
    const int rc = hx_radix_sort(key, order, w->n_own_node, 32);
    free(key);
    return rc;
}

/* Returns the own node with that global number. */
static int64_t find_node(const hx_mesh *mesh, const int32_t *order, int64_t number)
{
    const int32_t *const orig = mesh->node_orig + mesh->ownership->own_node;
    int64_t low = 0, high = mesh->ownership->n_own_node - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (orig[order[middle]] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return mesh->ownership->own_node + order[low];
}

static int compare_edges(const void *a, const void *b)
{
    const int64_t *const x = a, *const y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Lists the pairs of bodies that meet at own nodes, each pair once. */
static int list_edges(const hx_mesh *mesh, graph *g, int64_t n, const rim_node *said)
{
    int32_t *order = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)mesh->ownership->n_own_node, sizeof *order, what));
    HX_TRY_FAIL(sort_own(mesh, order));
    HX_TRY_FAIL(hx_alloc_raw(&g->edge, 2 * (size_t)n, sizeof *g->edge, what));
    for (int64_t i = 0; i < n; i++) {
        g->edge[2 * i] = g->first + g->body[find_node(mesh, order, said[i].node)];
        g->edge[2 * i + 1] = said[i].body;
    }
    if (n > 0) qsort(g->edge, (size_t)n, 2 * sizeof *g->edge, compare_edges);
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && compare_edges(g->edge + 2 * i, g->edge + 2 * (i - 1)) == 0) continue;
        memmove(g->edge + 2 * g->n_edge++, g->edge + 2 * i, 2 * sizeof *g->edge);
    }
fail:
    free(order);
    return rc;
}

static int trade_rim(const hx_mesh *mesh, const hx_comm *comm, graph *g)
{
    int64_t *out_first = NULL, *in_first = NULL;
    rim_node *out = NULL, *in = NULL;
    const size_t n = (size_t)comm->size + 1;
    int rc;
    HX_TRY_FAIL(hx_alloc(&out_first, n, sizeof *out_first, what));
    HX_TRY_FAIL(hx_alloc(&in_first, n, sizeof *in_first, what));
    HX_TRY_FAIL(list_rim(mesh, g, comm, out_first, &out));
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, out_first, in_first));
    HX_TRY_FAIL(hx_alloc_raw(&in, (size_t)in_first[comm->size], sizeof *in, what));
    HX_TRY_FAIL(hx_comm_alltoallv(comm, out_first, in_first, sizeof *in, out, in));
    rc = list_edges(mesh, g, in_first[comm->size], in);
fail:
    free(out_first);
    free(in_first);
    free(out);
    free(in);
    return rc;
}

static int64_t root_of_body(int64_t *parent, int64_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* number[n_body of all ranks] := 0, 1, ..., by joined body, in the order of first bodies. */
static void number_roots(int64_t *parent, int64_t n, int32_t *number)
{
    int32_t next = 0;
    for (int64_t i = 0; i < n; i++) number[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t root = root_of_body(parent, i);
        if (number[root] < 0) number[root] = next++;
        parent[i] = root;
    }
    for (int64_t i = n; i-- > 0;)
        if (parent[i] != i) number[i] = number[parent[i]];
}

/* *n_body := number of bodies left after joining all pairs; number[g->n_body] or NULL. */
static int join_body_pairs(const graph *g, int64_t n_edge, const int64_t *edge, int64_t *n_body,
                           int32_t *number)
{
    int64_t *parent;
    HX_TRY(hx_alloc_raw(&parent, (size_t)g->n_body, sizeof *parent, what));
    for (int64_t i = 0; i < g->n_body; i++) parent[i] = i;
    *n_body = g->n_body;
    for (int64_t i = 0; i < n_edge; i++) {
        const int64_t a = root_of_body(parent, edge[2 * i]),
                      b = root_of_body(parent, edge[2 * i + 1]);
        *n_body -= a != b;
        parent[a] = b;
    }
    if (number) number_roots(parent, g->n_body, number);
    free(parent);
    return HX_OK;
}

/* The first rank joins the pairs of all ranks and broadcasts the result. number[g->n_body] on all
 * ranks, or NULL on all. */
static int join_all(const hx_comm *comm, const graph *g, int64_t *n_body, int32_t *number)
{
    const size_t n = (size_t)comm->size + 1;
    int64_t *out_first = NULL, *in_first = NULL, *edge = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&out_first, n, sizeof *out_first, what));
    HX_TRY_FAIL(hx_alloc(&in_first, n, sizeof *in_first, what));
    for (size_t r = 1; r < n; r++) out_first[r] = g->n_edge;
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, out_first, in_first));
    const size_t n_edge = (size_t)in_first[comm->size];
    HX_TRY_FAIL(hx_alloc_raw(&edge, 2 * n_edge, sizeof *edge, what));
    HX_TRY_FAIL(hx_comm_alltoallv(comm, out_first, in_first, 2 * sizeof *edge, g->edge, edge));
    if (comm->rank == 0) HX_TRY_FAIL(join_body_pairs(g, (int64_t)n_edge, edge, n_body, number));
    HX_TRY_FAIL(comm->ops->broadcast(comm, 0, n_body, sizeof *n_body));
    if (number && g->n_body > 0)
        rc = comm->ops->broadcast(comm, 0, number, (size_t)g->n_body * sizeof *number);
fail:
    free(out_first);
    free(in_first);
    free(edge);
    return rc;
}

/* Finds the bodies of this rank and the pairs shared with other ranks. */
static int make_graph(const hx_mesh *mesh, const hx_comm *comm, const uint8_t *is_there, graph *g)
{
    int64_t n_own;
    HX_TRY(find_own(mesh, is_there, g, &n_own));
    HX_TRY(hx_reduce_exscan(mesh->ownership->reduce, n_own, &g->first));
    g->n_body = n_own;
    HX_TRY(hx_reduce_sum_i64(mesh->ownership->reduce, 1, &g->n_body));
    return trade_rim(mesh, comm, g);
}

int hx_dist_mesh_bodies(const hx_mesh *mesh, const hx_comm *comm, int64_t *n_body)
{
    graph g = {0};
    int rc = make_graph(mesh, comm, NULL, &g);
    if (rc == HX_OK) rc = join_all(comm, &g, n_body, NULL);
    free(g.body);
    free(g.edge);
    return rc;
}

int hx_dist_mesh_pieces(const hx_mesh *mesh, const hx_comm *comm, const uint8_t *is_there,
                        int32_t *body, int64_t *n_body)
{
    graph g = {0};
    int32_t *number = NULL;
    int rc;
    HX_TRY_FAIL(make_graph(mesh, comm, is_there, &g));
    HX_TRY_FAIL(hx_alloc_raw(&number, (size_t)g.n_body, sizeof *number, what));
    HX_TRY_FAIL(join_all(comm, &g, n_body, number));
    for (int64_t a = 0; a < mesh->n_node; a++)
        body[a] = g.body[a] < 0 ? -1 : number[g.first + g.body[a]];
fail:
    free(number);
    free(g.body);
    free(g.edge);
    return rc;
}
