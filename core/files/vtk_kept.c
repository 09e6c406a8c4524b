#include "vtk_kept.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "../comm/comm_alltoall.h"

static const char what[] = "elements of the VTK file";

/* (*list)[*n], which the caller frees: indices with value >= least, ascending. */
static int list_kept(int64_t n_all, const double *value, double least, int32_t **list, int64_t *n)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t i = hx_part_begin(n_all, part); i < hx_part_begin(n_all, part + 1); i++)
            first[part + 1] += value[i] >= least;
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    *n = first[HX_N_PART];
    HX_TRY(hx_alloc_raw(list, (size_t)*n, sizeof **list, what));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first[part];
        for (int64_t i = hx_part_begin(n_all, part); i < hx_part_begin(n_all, part + 1); i++)
            if (value[i] >= least) (*list)[next++] = (int32_t)i;
    }
    return HX_OK;
}

/* The nodes that this rank's elements name, and the requests for them to their home ranks, which
 * write these nodes. */
typedef struct node_query {
    int64_t n;
    int32_t *node;                 /* [n] in the whole mesh, ascending (owned, like the rest) */
    int32_t *number;               /* [n] index in the file */
    int64_t *out_first, *in_first; /* [size + 1] */
    int64_t (*count)[2];           /* [size] numbers of nodes and elements that each rank writes */
    int32_t *queried; /* [in_first[size]] nodes that others request, and their numbers */
} node_query;

/* Local preparation. Every home rank has a consecutive piece of the nodes. */
static int prepare_kept(hx_vtk_kept *k, node_query *a, const hx_comm *comm, int64_t n_node,
                        const hx_vtk_piece *piece, const double *value, double least)
{
    const size_t size = (size_t)comm->size;
    HX_TRY(list_kept(piece->n[HX_VTK_CELL], value, least, &k->elem, &k->n_own_elem));
    /* list the nodes of kept elements, each once */
    const int64_t n = 8 * k->n_own_elem;
    HX_TRY(hx_alloc_raw(&a->node, (size_t)n, sizeof *a->node, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < k->n_own_elem; e++)
        memcpy(a->node + 8 * e, piece->conn + 8 * (int64_t)k->elem[e], 8 * sizeof *a->node);
    hx_sort_i32(a->node, n);
    a->n = hx_unique_i32(a->node, n);
    HX_TRY(hx_alloc_raw(&a->number, (size_t)a->n, sizeof *a->number, what));
    HX_TRY(hx_alloc_raw(&k->conn, 8 * (size_t)k->n_own_elem, sizeof *k->conn, what));
    HX_TRY(hx_alloc(&a->out_first, size + 1, sizeof *a->out_first, what));
    HX_TRY(hx_alloc(&a->in_first, size + 1, sizeof *a->in_first, what));
    HX_TRY(hx_alloc(&a->count, size, sizeof *a->count, what));
    for (int r = 1; r <= comm->size; r++)
        a->out_first[r] = hx_count_below_i32(a->node, a->n, hx_comm_piece(comm, n_node, r));
    return HX_OK;
}

/* Collective, like the next two functions: if one of them fails on one rank, it fails on all. */
static int exchange_queries(node_query *a, const hx_comm *comm)
{
    HX_TRY(hx_comm_alltoall_counts(comm, a->out_first, a->in_first));
    HX_TRY(hx_comm_agree(
        comm,
        /* NOLINTNEXTLINE(clang-analyzer-core*): prepare_kept has allocated in_first */
        hx_alloc_raw(&a->queried, (size_t)a->in_first[comm->size], sizeof *a->queried, what)));
    return hx_comm_alltoallv(comm, a->out_first, a->in_first, sizeof *a->node, a->node, a->queried);
}

/* number[n of the piece] := 1 if some rank requests the node, otherwise 0; then the new numbers. */
static int number_requested_nodes(hx_vtk_kept *k, const node_query *a, const hx_comm *comm,
                                  const hx_vtk_piece *piece, int32_t *number)
{
    const int64_t first = piece->first[HX_VTK_POINT], n = piece->n[HX_VTK_POINT];
    int64_t own[2] = {0, k->n_own_elem};
    /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated number */
    for (int64_t i = 0; i < a->in_first[comm->size]; i++) number[a->queried[i] - first] = 1;
    /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated number */
    for (int64_t i = 0; i < n; i++) k->n_own_node += number[i];
    own[0] = k->n_own_node;
    HX_TRY(comm->ops->all_gather(comm, own, sizeof own, a->count));
    for (int r = 0; r < comm->size; r++) {
        if (r == comm->rank) {
            k->node_before = k->n_node;
            k->elem_before = k->n_elem;
        }
        k->n_node += a->count[r][0];
        k->n_elem += a->count[r][1];
    }
    HX_TRY(
        hx_comm_agree(comm, hx_alloc_raw(&k->node, (size_t)k->n_own_node, sizeof *k->node, what)));
    for (int64_t i = 0, next = 0; i < n; i++) {
        if (!number[i]) continue;
        k->node[next] = (int32_t)i;
        number[i] = (int32_t)(k->node_before + next++);
    }
    return HX_OK;
}

/* Receives the answers of the home ranks, and renumbers the nodes of elements. */
static int name_nodes(hx_vtk_kept *k, node_query *a, const hx_comm *comm, const hx_vtk_piece *piece,
                      const int32_t *number)
{
    const int64_t first = piece->first[HX_VTK_POINT];
    for (int64_t i = 0; i < a->in_first[comm->size]; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated number */
        a->queried[i] = number[a->queried[i] - first];
    HX_TRY(hx_comm_alltoallv(comm, a->in_first, a->out_first, sizeof *a->number, a->queried,
                             a->number));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < k->n_own_elem; e++)
        for (int c = 0; c < 8; c++) {
            const int32_t node = piece->conn[8 * (int64_t)k->elem[e] + c];
            k->conn[8 * e + c] = a->number[hx_count_below_i32(a->node, a->n, node)];
        }
    return HX_OK;
}

int hx_vtk_keep(hx_vtk_kept *k, const hx_comm *comm, int64_t n_node, const hx_vtk_piece *piece,
                const double *value, double least)
{
    node_query a = {.n = 0};
    int32_t *number = NULL;
    int rc;
    memset(k, 0, sizeof *k);
    rc = prepare_kept(k, &a, comm, n_node, piece, value, least);
    if (rc == HX_OK) rc = hx_alloc(&number, (size_t)piece->n[HX_VTK_POINT], sizeof *number, what);
    HX_TRY_FAIL(hx_comm_agree(comm, rc));
    HX_TRY_FAIL(exchange_queries(&a, comm));
    HX_TRY_FAIL(number_requested_nodes(k, &a, comm, piece, number));
    rc = name_nodes(k, &a, comm, piece, number);
fail:
    free(number);
    free(a.node);
    free(a.number);
    free(a.out_first);
    free(a.in_first);
    free(a.count);
    free(a.queried);
    if (rc < 0) hx_vtk_kept_free(k);
    return rc;
}

void hx_vtk_kept_free(hx_vtk_kept *k)
{
    free(k->node);
    free(k->elem);
    free(k->conn);
    memset(k, 0, sizeof *k);
}
