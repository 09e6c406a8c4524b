#include "black_white.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"

/* Sorts elements by descending density. The bit patterns of non-negative numbers have the same
 * order as the numbers. */
static int sort_by_density(int64_t n, const double *density, int32_t *order)
{
    uint64_t *key = NULL;
    HX_TRY(hx_alloc_raw(&key, (size_t)n, sizeof *key, "densities"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) {
        uint64_t bits;
        const double rho = density[e] + 0.0; /* -0 becomes 0 */
        memcpy(&bits, &rho, sizeof bits);
        key[e] = ~bits;
    }
    const int rc = hx_radix_sort(key, order, n, 64);
    free(key);
    return rc;
}

int hx_threshold_of_volume(int64_t n, const double *volume, const double *density, double target,
                           double *threshold)
{
    int32_t *order = NULL;
    double taken = 0.0, nearest = INFINITY;
    HX_TRY(hx_alloc_raw(&order, (size_t)n, sizeof *order, "densities"));
    const int rc = sort_by_density(n, density, order);
    for (int64_t i = 0; rc == HX_OK && i < n; i++) {
        const double rho = density[order[i]];
        taken += volume[order[i]];
        /* elements of equal density are selected together */
        if (i + 1 < n && density[order[i + 1]] >= rho) continue;
        const double off = fabs(taken - target);
        if (off >= nearest) break;
        nearest = off;
        *threshold = rho;
    }
    free(order);
    return rc;
}

/* --- pieces --- */

static int32_t root_of_element(int32_t *parent, int32_t e)
{
    while (parent[e] != e) {
        parent[e] = parent[parent[e]];
        e = parent[e];
    }
    return e;
}

static void join_pieces(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t root_a = root_of_element(parent, a), root_b = root_of_element(parent, b);
    if (root_a < root_b)
        parent[root_b] = root_a;
    else
        parent[root_a] = root_b;
}

static void join_at_nodes(const hx_mesh *mesh, const uint8_t *is_solid, int32_t *parent)
{
    for (int64_t a = 0; a < mesh->n_node; a++) {
        int32_t first = -1;
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
            const int32_t e = (int32_t)(mesh->node_elem[k] >> 3);
            if (!is_solid[e]) continue;
            if (first >= 0) join_pieces(parent, first, e);
            first = e;
        }
    }
}

/* The solid element with a smaller number across a face, or -1. */
static int32_t neighbour(const hx_mesh *mesh, const uint8_t *is_solid, int32_t e, int face)
{
    int32_t node[4];
    const int n = hx_cell_face(mesh->conn + 8 * (int64_t)e, face, node);
    const int64_t other = n < 3 ? -1 : hx_mesh_face_neighbour(mesh, e, n, node);
    return other < e && other >= 0 && is_solid[other] ? (int32_t)other : -1;
}

static void join_at_faces(const hx_mesh *mesh, const uint8_t *is_solid, int32_t *parent)
{
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int face = 0; is_solid[e] && face < 6; face++) {
            const int32_t other = neighbour(mesh, is_solid, (int32_t)e, face);
            if (other >= 0) join_pieces(parent, (int32_t)e, other);
        }
}

typedef struct piece {
    double volume;
    int64_t n_elem;
    int32_t root;
} piece;

static int larger_first(const void *a, const void *b)
{
    const piece *const p = a, *const q = b;
    if (p->volume > q->volume || p->volume < q->volume) return p->volume > q->volume ? -1 : 1;
    return p->root < q->root ? -1 : 1;
}

/* place[e]: index in the list of the piece with root e. */
static int list_pieces(hx_pieces *pieces, int64_t n_elem, const uint8_t *is_solid,
                       const double *volume, int32_t *parent, int32_t *place)
{
    int rc;
    piece *list = NULL;
    for (int64_t e = 0; e < n_elem; e++)
        if (is_solid[e] && parent[e] == e) place[e] = (int32_t)pieces->n++;
    const size_t n = (size_t)pieces->n;
    HX_TRY_FAIL(hx_alloc(&list, n, sizeof *list, "pieces"));
    HX_TRY_FAIL(hx_alloc(&pieces->n_elem, n, sizeof *pieces->n_elem, "pieces"));
    HX_TRY_FAIL(hx_alloc(&pieces->volume, n, sizeof *pieces->volume, "pieces"));
    for (int64_t e = 0; e < n_elem; e++) {
        if (!is_solid[e]) continue;
        const int32_t root = root_of_element(parent, (int32_t)e);
        piece *const p = &list[place[root]];
        p->root = root;
        p->n_elem++;
        p->volume += volume[e];
    }
    qsort(list, n, sizeof *list, larger_first);
    for (int32_t i = 0; i < (int32_t)n; i++) {
        place[list[i].root] = i;
        pieces->n_elem[i] = list[i].n_elem;
        pieces->volume[i] = list[i].volume;
    }
    for (int64_t e = 0; e < n_elem; e++)
        pieces->of[e] = is_solid[e] ? place[root_of_element(parent, (int32_t)e)] : -1;
fail:
    free(list);
    return rc;
}

int hx_pieces_create(hx_pieces *pieces, const hx_mesh *mesh, const uint8_t *is_solid,
                     const double *volume, hx_pieces_kind kind)
{
    int rc;
    int32_t *parent = NULL, *place = NULL;
    const size_t n = (size_t)mesh->n_elem;
    memset(pieces, 0, sizeof *pieces);
    HX_TRY_FAIL(hx_alloc_raw(&pieces->of, n, sizeof *pieces->of, "pieces"));
    HX_TRY_FAIL(hx_alloc_raw(&parent, n, sizeof *parent, "pieces"));
    HX_TRY_FAIL(hx_alloc_raw(&place, n, sizeof *place, "pieces"));
    for (size_t e = 0; e < n; e++) parent[e] = (int32_t)e;
    if (kind == HX_PIECES_BY_NODES)
        join_at_nodes(mesh, is_solid, parent);
    else
        join_at_faces(mesh, is_solid, parent);
    HX_TRY_FAIL(list_pieces(pieces, mesh->n_elem, is_solid, volume, parent, place));
fail:
    free(parent);
    free(place);
    if (rc < 0) hx_pieces_free(pieces);
    return rc;
}

void hx_pieces_free(hx_pieces *pieces)
{
    free(pieces->of);
    free(pieces->n_elem);
    free(pieces->volume);
    memset(pieces, 0, sizeof *pieces);
}
