#include "subdomain.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"

static const char what[] = "subdomain of a rank";

int hx_subdomain_check(const hx_problem *whole)
{
    if (whole->space.element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINPUT,
                        "solver.element = \"%s\" supports only one process; linear and quadratic "
                        "elements support several",
                        hx_element_name(whole->space.element));
    return HX_OK;
}

/* Finds each rank's run of elements: the parts of the mesh, or a partition along the curve. */
static int find_runs(hx_subdomain *subdomain, const hx_comm *comm)
{
    const hx_mesh *const mesh = subdomain->whole->mesh;
    hx_partition partition;
    HX_TRY(hx_alloc(&subdomain->first, (size_t)comm->size + 1, sizeof *subdomain->first, what));
    if (mesh->ownership) {
        memcpy(subdomain->first, mesh->ownership->first,
               ((size_t)comm->size + 1) * sizeof *subdomain->first);
        return HX_OK;
    }
    if (mesh->parts.n == comm->size) {
        memcpy(subdomain->first, mesh->parts.first,
               ((size_t)comm->size + 1) * sizeof *subdomain->first);
        return HX_OK;
    }
    HX_TRY(hx_partition_make(&partition, mesh, HX_PARTITION_CURVE, comm->size));
    for (int r = 1; r <= comm->size; r++) /* ranks ascend along the curve */
        subdomain->first[r] = hx_count_below_i32(partition.rank, mesh->n_elem, r);
    hx_partition_free(&partition);
    return HX_OK;
}

static int count_elements(hx_subdomain *subdomain, const hx_comm *comm)
{
    const int64_t *const first = subdomain->first;
    const int64_t n_own = first[comm->rank + 1] - first[comm->rank];
    HX_TRY(hx_alloc(&subdomain->n_elem_of, (size_t)comm->size, sizeof *subdomain->n_elem_of, what));
    if (subdomain->whole->mesh->ownership)
        return comm->ops->all_gather(comm, &n_own, sizeof n_own, subdomain->n_elem_of);
    for (int r = 0; r < comm->size; r++) subdomain->n_elem_of[r] = first[r + 1] - first[r];
    return HX_OK;
}

int hx_subdomain_rank_of(const hx_subdomain *subdomain, int n_rank, int64_t elem)
{
    int low = 0, high = n_rank;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (subdomain->first[middle] <= elem)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Return the first and the last element of a point of the whole, which belong to the lowest and the
 * highest of its ranks. */
static int64_t first_element(const hx_subdomain *subdomain, int64_t point)
{
    const hx_space *const space = &subdomain->whole->space;
    return hx_space_cell(space, space->point_place[space->point_ptr[point]]);
}

static int64_t last_element(const hx_subdomain *subdomain, int64_t point)
{
    const hx_space *const space = &subdomain->whole->space;
    return hx_space_cell(space, space->point_place[space->point_ptr[point + 1] - 1]);
}

int hx_subdomain_owner(const hx_subdomain *subdomain, int n_rank, int64_t point)
{
    return hx_subdomain_rank_of(subdomain, n_rank, first_element(subdomain, point));
}

/* Returns 1 if a lower rank owns a point of the subdomain. */
static int is_others(const hx_subdomain *subdomain, const hx_comm *comm, int64_t point)
{
    return first_element(subdomain, point) < subdomain->first[comm->rank];
}

/* place[] := 0 at the nodes of the subdomain, -1 elsewhere. */
static void mark_nodes(const hx_subdomain *subdomain, const hx_comm *comm, int32_t *place)
{
    const int32_t *const conn = subdomain->whole->mesh->conn;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < subdomain->whole->space.n_point; a++) place[a] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t k = 8 * subdomain->first[comm->rank]; k < 8 * subdomain->first[comm->rank + 1];
         k++) {
#pragma omp atomic write
        place[conn[k]] = 0;
    }
}

/* begin[part][0] := local number of the first own node in each part of the whole's nodes,
 * begin[part][1] := that of the first node of other ranks; own nodes come first. Returns the number
 * of nodes. */
static int64_t count_nodes(hx_subdomain *subdomain, const hx_comm *comm, const int32_t *place,
                           int64_t (*begin)[2])
{
    const int64_t n_node = subdomain->whole->mesh->n_node;
    int64_t n = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_node, part + 1);
        for (int64_t a = hx_part_begin(n_node, part); a < end; a++)
            if (place[a] == 0) begin[part][is_others(subdomain, comm, a)]++;
    }
    for (int is_other = 0; is_other < 2; is_other++) {
        for (int part = 0; part < HX_N_PART; part++) {
            const int64_t count = begin[part][is_other];
            begin[part][is_other] = n;
            n += count;
        }
        if (!is_other) subdomain->n_own = n;
    }
    return n;
}

/* place[n_point of the whole] := local node number; -1: not in the subdomain. */
static int number_subdomain_nodes(hx_subdomain *subdomain, const hx_comm *comm, int32_t *place,
                                  int64_t *n)
{
    const int64_t n_node = subdomain->whole->mesh->n_node;
    int64_t next[HX_N_PART][2] = {{0}};
    mark_nodes(subdomain, comm, place);
    *n = count_nodes(subdomain, comm, place, next);
    HX_TRY(hx_alloc_raw(&subdomain->node, (size_t)*n, sizeof *subdomain->node, what));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_node, part + 1);
        for (int64_t a = hx_part_begin(n_node, part); a < end; a++) {
            if (place[a] < 0) continue;
            place[a] = (int32_t)next[part][is_others(subdomain, comm, a)]++;
            subdomain->node[place[a]] = (int32_t)a;
        }
    }
    return HX_OK;
}

static int make_subdomain_mesh(hx_subdomain *subdomain, const hx_comm *comm, int64_t n_node,
                               const int32_t *place)
{
    const hx_mesh *const mesh = subdomain->whole->mesh;
    const int64_t begin = subdomain->first[comm->rank],
                  n_elem = subdomain->first[comm->rank + 1] - begin;
    double *xyz = NULL;
    int32_t *conn = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&subdomain->elem, (size_t)n_elem, sizeof *subdomain->elem, what));
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)n_node, sizeof *xyz, what));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)n_elem, sizeof *conn, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) subdomain->elem[e] = (int32_t)(begin + e);
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_node; a++)
        memcpy(xyz + 3 * a, mesh->xyz + 3 * (int64_t)subdomain->node[a], 3 * sizeof *xyz);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 8 * n_elem; k++) conn[k] = place[mesh->conn[8 * begin + k]];
    rc = hx_mesh_create(&subdomain->mesh, mesh->name, n_node, xyz, n_elem, conn);
    return rc < 0 ? rc : hx_mesh_finish(&subdomain->mesh);
fail:
    free(xyz);
    free(conn);
    return rc;
}

/* Returns the mid-edge point of local edge k as a point of the whole; -1: the meshes do not
 * match. */
static int64_t middle_of(const hx_subdomain *subdomain, int64_t k)
{
    const int32_t *const end = subdomain->space.edge + 2 * k;
    return hx_space_middle(&subdomain->whole->space, subdomain->node[end[0]],
                           subdomain->node[end[1]]);
}

/* Numbers mid-edge points: local to whole, whole to local, and their coordinates. */
static int number_middles(hx_subdomain *subdomain, int32_t *place)
{
    const hx_space *const whole = &subdomain->whole->space;
    const int64_t n_node = subdomain->mesh.n_node;
    HX_TRY(hx_resize_raw(&subdomain->node, (size_t)n_node, (size_t)subdomain->space.n_point,
                         sizeof *subdomain->node, what));
    for (int64_t k = 0; k < subdomain->space.n_edge; k++) {
        const int64_t middle = middle_of(subdomain, k);
        if (middle < 0)
            return HX_RAISE(HX_EINTERNAL, "an edge of a subdomain is missing in the whole mesh");
        subdomain->node[n_node + k] = (int32_t)middle;
        place[middle] = (int32_t)(n_node + k);
        memcpy(subdomain->space.xyz + 3 * (n_node + k), whole->xyz + 3 * middle,
               3 * sizeof(double));
    }
    return HX_OK;
}

static int list_others(hx_subdomain *subdomain, const hx_comm *comm)
{
    const int64_t n = subdomain->space.n_point;
    HX_TRY(hx_alloc_raw(&subdomain->other, (size_t)(n - subdomain->n_own), sizeof *subdomain->other,
                        what));
    for (int64_t p = subdomain->n_own; p < n; p++)
        if (is_others(subdomain, comm, subdomain->node[p]))
            subdomain->other[subdomain->n_other++] = (int32_t)p;
    return HX_OK;
}

static int make_space(hx_subdomain *subdomain, const hx_comm *comm, int32_t *place)
{
    HX_TRY(hx_space_create(&subdomain->space, &subdomain->mesh, subdomain->whole->space.element));
    if (subdomain->space.element != HX_ELEMENT_LINEAR) HX_TRY(number_middles(subdomain, place));
    return list_others(subdomain, comm);
}

int hx_subdomain_ranks_of(const hx_subdomain *subdomain, int n_rank, int64_t point, int rank[])
{
    const hx_space *const space = &subdomain->whole->space;
    int n = 0;
    for (int64_t k = space->point_ptr[point]; k < space->point_ptr[point + 1]; k++) {
        const int r =
            hx_subdomain_rank_of(subdomain, n_rank, hx_space_cell(space, space->point_place[k]));
        if (n == 0 || rank[n - 1] != r) rank[n++] = r;
    }
    return n;
}

int hx_subdomain_is_interface(const hx_subdomain *subdomain, int n_rank, int64_t point)
{
    const int rank = hx_subdomain_rank_of(subdomain, n_rank, first_element(subdomain, point));
    return last_element(subdomain, point) >= subdomain->first[rank + 1];
}

/* Returns 1 if a point of the subdomain is an interface point. */
static int is_interface(const hx_subdomain *subdomain, const hx_comm *comm, int64_t point)
{
    return is_others(subdomain, comm, point) ||
           last_element(subdomain, point) >= subdomain->first[comm->rank + 1];
}

/* (*node)[*n] := interface points, in numbers of the whole, ascending; the caller frees it. */
static int list_points(const hx_subdomain *subdomain, const hx_comm *comm, int64_t *n,
                       int32_t **node)
{
    const int64_t n_point = subdomain->space.n_point;
    int64_t begin[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_point, part + 1);
        for (int64_t p = hx_part_begin(n_point, part); p < end; p++)
            begin[part + 1] += is_interface(subdomain, comm, subdomain->node[p]);
    }
    for (int part = 0; part < HX_N_PART; part++) begin[part + 1] += begin[part];
    *n = begin[HX_N_PART];
    HX_TRY(hx_alloc_raw(node, (size_t)*n, sizeof **node, what));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = begin[part];
        const int64_t end = hx_part_begin(n_point, part + 1);
        for (int64_t p = hx_part_begin(n_point, part); p < end; p++)
            if (is_interface(subdomain, comm, subdomain->node[p]))
                (*node)[next++] = subdomain->node[p];
    }
    hx_sort_i32(*node, *n);
    return HX_OK;
}

/* Counts for the lists of interface points, made before the lists are filled. */
typedef struct census {
    int64_t *with; /* [size] interface points with each rank */
    int64_t n_source;
} census;

static void count_interface(const hx_subdomain *subdomain, const hx_comm *comm, int64_t n,
                            const int32_t *node, int *rank, census *c)
{
    for (int64_t i = 0; i < n; i++) {
        const int n_rank = hx_subdomain_ranks_of(subdomain, comm->size, node[i], rank);
        c->n_source += n_rank;
        for (int k = 0; k < n_rank; k++)
            if (rank[k] != comm->rank) c->with[rank[k]]++;
    }
}

static int alloc_interface(hx_subdomain *subdomain, const hx_comm *comm, int64_t n, const census *c)
{
    HX_TRY(hx_alloc(&subdomain->peer, (size_t)comm->size, sizeof *subdomain->peer, what));
    HX_TRY(hx_alloc(&subdomain->with, (size_t)comm->size + 1, sizeof *subdomain->with, what));
    for (int r = 0; r < comm->size; r++) {
        if (c->with[r] == 0) continue;
        subdomain->peer[subdomain->n_peer++] = r;
        subdomain->with[subdomain->n_peer] = subdomain->with[subdomain->n_peer - 1] + c->with[r];
    }
    HX_TRY(hx_alloc(&subdomain->interface, (size_t)n, sizeof *subdomain->interface, what));
    HX_TRY(hx_alloc(&subdomain->interface_of, (size_t)subdomain->with[subdomain->n_peer],
                    sizeof(int32_t), what));
    HX_TRY(hx_alloc(&subdomain->from, (size_t)n + 1, sizeof *subdomain->from, what));
    return hx_alloc(&subdomain->source, (size_t)c->n_source, sizeof *subdomain->source, what);
}

static void list_interface(hx_subdomain *subdomain, const hx_comm *comm, int64_t n,
                           const int32_t *node, const int32_t *place, int *rank, int64_t *next)
{
    int64_t n_source = 0;
    for (int k = 0; k < subdomain->n_peer; k++) next[subdomain->peer[k]] = subdomain->with[k];
    for (int64_t i = 0; i < n; i++) {
        const int n_rank = hx_subdomain_ranks_of(subdomain, comm->size, node[i], rank);
        for (int k = 0; k < n_rank; k++) {
            if (rank[k] != comm->rank)
                subdomain->interface_of[next[rank[k]]] = (int32_t)subdomain->n_interface;
            subdomain->source[n_source++] = rank[k] == comm->rank ? -1 : (int32_t)next[rank[k]]++;
        }
        subdomain->interface[subdomain->n_interface++] = place[node[i]];
        subdomain->from[subdomain->n_interface] = n_source;
    }
}

static int find_interface(hx_subdomain *subdomain, const hx_comm *comm, const int32_t *place)
{
    census c = {0};
    int64_t n;
    int32_t *node = NULL;
    int64_t *next = NULL;
    int rc, *rank = NULL;
    HX_TRY_FAIL(hx_alloc(&c.with, (size_t)comm->size, sizeof *c.with, what));
    HX_TRY_FAIL(hx_alloc(&next, (size_t)comm->size, sizeof *next, what));
    HX_TRY_FAIL(hx_alloc(&rank, (size_t)comm->size, sizeof *rank, what));
    HX_TRY_FAIL(list_points(subdomain, comm, &n, &node));
    count_interface(subdomain, comm, n, node, rank, &c);
    HX_TRY_FAIL(alloc_interface(subdomain, comm, n, &c));
    list_interface(subdomain, comm, n, node, place, rank, next);
    rc = HX_OK;
fail:
    free(c.with);
    free(next);
    free(rank);
    free(node);
    return rc;
}

/* Returns the lowest rank that has both points; two points of a face have one. rank[]: scratch. */
static int rank_of_pair(const hx_subdomain *subdomain, int n_rank, int64_t a, int64_t b, int *rank)
{
    const int n_a = hx_subdomain_ranks_of(subdomain, n_rank, a, rank),
              n_b = hx_subdomain_ranks_of(subdomain, n_rank, b, rank + n_rank);
    for (int i = 0; i < n_a; i++)
        for (int k = 0; k < n_b; k++)
            if (rank[i] == rank[n_rank + k]) return rank[i];
    return -1;
}

/* is_own[] := 1 for the convection entries that belong to this rank. */
static void divide_films(const hx_subdomain *subdomain, const hx_comm *comm, int *rank,
                         uint8_t *is_own)
{
    const hx_films *const films = &subdomain->whole->films;
    for (int64_t k = 0; k < films->n; k++)
        for (int64_t j = films->ptr[k]; j < films->ptr[k + 1]; j++)
            is_own[j] = rank_of_pair(subdomain, comm->size, films->node[k], films->col[j], rank) ==
                        comm->rank;
}

static int make_problem(hx_subdomain *subdomain, const hx_comm *comm)
{
    const hx_films *const films = &subdomain->whole->films;
    const size_t n_entry = films->n > 0 ? (size_t)films->ptr[films->n] : 0,
                 n_point = (size_t)subdomain->space.n_point;
    uint8_t *is_own = NULL, *has_point = NULL;
    int rc, *rank = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&is_own, n_entry, sizeof *is_own, what));
    HX_TRY_FAIL(hx_alloc_raw(&has_point, n_point, sizeof *has_point, what));
    memset(has_point, 1, n_point);
    for (int64_t k = 0; k < subdomain->n_other; k++) has_point[subdomain->other[k]] = 0;
    HX_TRY_FAIL(hx_alloc_raw(&rank, 2 * (size_t)comm->size, sizeof *rank, what));
    divide_films(subdomain, comm, rank, is_own);
    const hx_subdomain_of own = {has_point, is_own};
    rc = hx_problem_create_local(&subdomain->problem, subdomain->whole, &subdomain->space,
                                 subdomain->node, subdomain->elem, &own);
fail:
    free(is_own);
    free(has_point);
    free(rank);
    return rc;
}

int hx_subdomain_create(hx_subdomain *subdomain, const hx_comm *comm, const hx_problem *whole)
{
    int32_t *place = NULL;
    int64_t n_node = 0;
    int rc;
    memset(subdomain, 0, sizeof *subdomain);
    subdomain->whole = whole;
    HX_TRY_FAIL(hx_subdomain_check(whole));
    HX_TRY_FAIL(find_runs(subdomain, comm));
    HX_TRY_FAIL(count_elements(subdomain, comm));
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)whole->space.n_point, sizeof *place, what));
    HX_TRY_FAIL(number_subdomain_nodes(subdomain, comm, place, &n_node));
    HX_TRY_FAIL(make_subdomain_mesh(subdomain, comm, n_node, place));
    HX_TRY_FAIL(make_space(subdomain, comm, place));
    HX_TRY_FAIL(find_interface(subdomain, comm, place));
    HX_TRY_FAIL(make_problem(subdomain, comm));
fail:
    free(place);
    if (rc < 0) hx_subdomain_free(subdomain);
    return rc;
}

void hx_subdomain_free(hx_subdomain *subdomain)
{
    hx_problem_free(&subdomain->problem);
    hx_space_free(&subdomain->space);
    hx_mesh_free(&subdomain->mesh);
    free(subdomain->first);
    free(subdomain->n_elem_of);
    free(subdomain->node);
    free(subdomain->elem);
    free(subdomain->other);
    free(subdomain->interface);
    free(subdomain->peer);
    free(subdomain->with);
    free(subdomain->interface_of);
    free(subdomain->from);
    free(subdomain->source);
    memset(subdomain, 0, sizeof *subdomain);
}
