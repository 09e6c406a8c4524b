/* Renumbering of a mesh: randomly, and along a Hilbert curve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomics.h"
#include "../base/hash.h"
#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/random.h"
#include "../base/sum.h"
#include "hex8.h"
#include "hilbert.h"
#include "mesh.h"
#include "mesh_internal.h"

/* orig[new] := the original number of old, for old -> number_new[old]. */
static int compose(int32_t **orig, int64_t n, const int32_t *number_new)
{
    int32_t *composed = NULL;
    HX_TRY(hx_alloc_raw(&composed, (size_t)n, sizeof *composed, "original numbers"));
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) composed[number_new[i]] = *orig ? (*orig)[i] : (int32_t)i;
    free(*orig);
    *orig = composed;
    return HX_OK;
}

int hx_mesh_invert(int64_t n, const int32_t *orig, int32_t **inverse)
{
    *inverse = NULL;
    if (!orig) return HX_OK;
    HX_TRY(hx_alloc_raw(inverse, (size_t)n, sizeof **inverse, "numbers as they were"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) (*inverse)[orig[i]] = (int32_t)i;
    return HX_OK;
}

/* Moves the coordinates to node_new[old] and renumbers the nodes of the elements. */
static int renumber_nodes(hx_mesh *mesh, const int32_t *node_new)
{
    double *xyz = NULL;
    HX_TRY(hx_alloc_raw(&xyz, (size_t)mesh->n_node * 3, sizeof *xyz, "renumbered coordinates"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++)
        memcpy(xyz + (size_t)node_new[a] * 3, mesh->xyz + (size_t)a * 3, 3 * sizeof *xyz);
    hx_free_large(mesh->xyz, 3 * (size_t)mesh->n_node * sizeof *xyz);
    mesh->xyz = xyz;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 8 * mesh->n_elem; i++) mesh->conn[i] = node_new[mesh->conn[i]];
    hx_middles_renumber(&mesh->middles, node_new);
    return HX_OK;
}

/* Moves the elements' own volumes to elem_new[old]. */
static int renumber_volumes(hx_mesh *mesh, const int32_t *elem_new)
{
    double *volume = NULL;
    if (!mesh->volume) return HX_OK;
    HX_TRY(hx_alloc_raw(&volume, (size_t)mesh->n_elem, sizeof *volume, "volumes"));
    for (int64_t e = 0; e < mesh->n_elem; e++) volume[elem_new[e]] = mesh->volume[e];
    free(mesh->volume);
    mesh->volume = volume;
    return HX_OK;
}

/* Applies node_new[old], elem_new[old] to everything the mesh holds. */
static int renumber(hx_mesh *mesh, const int32_t *node_new, const int32_t *elem_new)
{
    int32_t *conn = NULL;
    HX_TRY(renumber_nodes(mesh, node_new));
    HX_TRY(hx_alloc_raw(&conn, (size_t)mesh->n_elem * 8, sizeof *conn, "renumbered elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        memcpy(conn + (size_t)elem_new[e] * 8, mesh->conn + (size_t)e * 8, 8 * sizeof *conn);
    hx_free_large(mesh->conn, 8 * (size_t)mesh->n_elem * sizeof *conn);
    mesh->conn = conn;
    HX_TRY(renumber_volumes(mesh, elem_new));
    HX_TRY(hx_mesh_renumber_sets(mesh, node_new, elem_new));
    HX_TRY(compose(&mesh->node_orig, mesh->n_node, node_new));
    return compose(&mesh->elem_orig, mesh->n_elem, elem_new);
}

static int refuse_finished(const hx_mesh *mesh)
{
    if (!mesh->node_elem_ptr) return HX_OK;
    return HX_RAISE(HX_EINTERNAL, "%s: a finished mesh keeps its order", mesh->name);
}

/* Makes a random permutation by sorting random keys of 33 bits. Items with equal keys keep their
 * order. */
static int permutation(int32_t **list, int64_t n, uint64_t seed)
{
    enum { KEY_BITS = 33 };
    uint64_t *key = NULL;
    HX_TRY(hx_alloc_raw(list, (size_t)n, sizeof **list, "a permutation"));
    HX_TRY(hx_alloc_raw(&key, (size_t)n, sizeof *key, "random keys"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint64_t state = seed + (uint64_t)i * HX_RANDOM_STEP; /* entry i of a single sequence */
        key[i] = hx_random_next(&state) >> (64 - KEY_BITS);
    }
    const int rc = hx_radix_sort(key, *list, n, KEY_BITS);
    free(key);
    return rc;
}

int hx_mesh_shuffle(hx_mesh *mesh, uint64_t seed)
{
    int rc = HX_OK;
    uint64_t state = seed;
    const uint64_t node_seed = hx_random_next(&state), elem_seed = hx_random_next(&state);
    int32_t *node_new = NULL, *elem_new = NULL;
    HX_TRY(refuse_finished(mesh));
    HX_TRY_FAIL(permutation(&node_new, mesh->n_node, node_seed));
    HX_TRY_FAIL(permutation(&elem_new, mesh->n_elem, elem_seed));
    HX_TRY_FAIL(renumber(mesh, node_new, elem_new));
fail:
    free(node_new);
    free(elem_new);
    return rc;
}

/* Mean volume of the elements, approximated by parallelepipeds; 0 if it is not positive. */
static double mean_volume(const hx_mesh *mesh)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum = 0.0, inverse[3][3];
        const int64_t end = hx_part_begin(mesh->n_elem, i + 1);
        for (int64_t e = hx_part_begin(mesh->n_elem, i); e < end; e++) {
            double x[24];
            for (int a = 0; a < 8; a++)
                memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a], 3 * sizeof *x);
            sum += 8.0 * hx_hex8_jacobian(x, 0.0, 0.0, 0.0, inverse);
        }
        part[i] = sum;
    }
    const double mean = hx_sum_parts(part) / (double)mesh->n_elem;
    return mean > 0.0 ? mean : 0.0;
}

/* Rearranges conn into the given order. */
static int permute_elements(hx_mesh *mesh, const int32_t *order)
{
    int32_t *conn = NULL;
    HX_TRY(hx_alloc_raw(&conn, (size_t)mesh->n_elem * 8, sizeof *conn, "renumbered elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        memcpy(conn + (size_t)e * 8, mesh->conn + (size_t)order[e] * 8, 8 * sizeof *conn);
    hx_free_large(mesh->conn, 8 * (size_t)mesh->n_elem * sizeof *conn);
    mesh->conn = conn;
    return HX_OK;
}

int64_t hx_number_by_first_use(int64_t n_place, const int32_t *conn, uint32_t *number)
{
    int64_t first_number[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = 0;
        for (int64_t i = hx_part_begin(n_place, part); i < hx_part_begin(n_place, part + 1); i++)
            n += number[(uint32_t)conn[i]] == (uint32_t)i;
        first_number[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) first_number[part + 1] += first_number[part];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first_number[part];
        for (int64_t i = hx_part_begin(n_place, part); i < hx_part_begin(n_place, part + 1); i++) {
            uint32_t *const of = &number[(uint32_t)conn[i]];
            if (hx_atomic_load(of) == (uint32_t)i) hx_atomic_store(of, (uint32_t)next++);
        }
    }
    return first_number[HX_N_PART];
}

/* Composes elem_orig with `order`, and takes ownership of it. */
static void compose_elements(hx_mesh *mesh, int32_t *order)
{
    if (mesh->elem_orig) {
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < mesh->n_elem; e++) order[e] = mesh->elem_orig[order[e]];
        free(mesh->elem_orig);
    }
    mesh->elem_orig = order;
}

/* Sorts the elements in Hilbert order; the caller frees *order. */
static int hilbert_order(const hx_mesh *mesh, int32_t **order)
{
    uint64_t *key = NULL;
    HX_TRY(hx_alloc_raw(&key, (size_t)mesh->n_elem, sizeof *key, "Hilbert keys"));
    int rc = hx_alloc_raw(order, (size_t)mesh->n_elem, sizeof **order, "element order");
    if (rc == HX_OK) {
        double low[3], high[3];
        hx_hilbert curve;
        hx_mesh_bounds(mesh, low, high);
        hx_hilbert_lay(&curve, low, high, mean_volume(mesh));
#pragma omp parallel for schedule(static)
        for (int64_t begin = 0; begin < mesh->n_elem; begin += HX_HILBERT_BLOCK) {
            const int64_t rest = mesh->n_elem - begin;
            const int n = rest < HX_HILBERT_BLOCK ? (int)rest : HX_HILBERT_BLOCK;
            double centre[HX_HILBERT_BLOCK][3];
            for (int i = 0; i < n; i++) hx_mesh_centroid(mesh, begin + i, centre[i]);
            hx_hilbert_keys(&curve, n, (const double(*)[3])centre, key + begin);
        }
        rc = hx_radix_sort(key, *order, mesh->n_elem, 3 * HX_HILBERT_BITS);
    }
    hx_free_large(key, (size_t)mesh->n_elem * sizeof *key);
    return rc;
}

int hx_mesh_reorder(hx_mesh *mesh)
{
    int rc = HX_OK;
    int32_t *order = NULL, *elem_new = NULL, *node_new = NULL;
    HX_TRY(refuse_finished(mesh));
    HX_TRY_FAIL(hilbert_order(mesh, &order));
    HX_TRY_FAIL(permute_elements(mesh, order));
    HX_TRY_FAIL(hx_alloc_raw(&node_new, (size_t)mesh->n_node, sizeof *node_new, "node numbers"));
    /* nodes in order of their first use; nodes of no element come last */
    uint32_t *const number = (uint32_t *)node_new;
    const int32_t *const conn = mesh->conn;
    const int64_t n_place = 8 * mesh->n_elem;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) number[a] = UINT32_MAX;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_place; i++) hx_atomic_min(&number[conn[i]], (uint32_t)i);
    int64_t next = hx_number_by_first_use(n_place, conn, number);
    for (int64_t a = 0; next < mesh->n_node; a++)
        if (number[a] == UINT32_MAX) number[a] = (uint32_t)next++;
    HX_TRY_FAIL(renumber_nodes(mesh, node_new));
    HX_TRY_FAIL(hx_alloc_raw(&elem_new, (size_t)mesh->n_elem, sizeof *elem_new, "element numbers"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) elem_new[order[e]] = (int32_t)e;
    HX_TRY_FAIL(hx_mesh_renumber_sets(mesh, node_new, elem_new));
    HX_TRY_FAIL(renumber_volumes(mesh, elem_new));
    hx_free_large(elem_new, (size_t)mesh->n_elem * sizeof *elem_new);
    elem_new = NULL;
    HX_TRY_FAIL(compose(&mesh->node_orig, mesh->n_node, node_new));
    compose_elements(mesh, order);
    order = NULL;
fail:
    free(order);
    free(elem_new);
    hx_free_large(node_new, (size_t)mesh->n_node * sizeof *node_new);
    return rc;
}

int hx_mesh_part(hx_mesh *mesh, int n_part, const int32_t *part)
{
    hx_mesh_parts *const parts = &mesh->parts;
    const size_t n = (size_t)mesh->n_elem;
    if (!mesh->node_elem_ptr || parts->n > 0)
        return HX_RAISE(HX_EINTERNAL, "%s: not finished, or already divided into parts",
                        mesh->name);
    HX_TRY(hx_alloc(&parts->first, (size_t)n_part + 1, sizeof *parts->first, "parts of a mesh"));
    HX_TRY(hx_alloc_raw(&parts->before, n, sizeof *parts->before, "parts of a mesh"));
    /* compute first[n_part + 1], and order the elements part by part */
    int64_t *next;
    for (int64_t e = 0; e < mesh->n_elem; e++) parts->first[part[e] + 1]++;
    for (int p = 0; p < n_part; p++) {
        if (parts->first[p + 1] == 0)
            return HX_RAISE(HX_EINPUT, "%s: part %d of %d has no element", mesh->name, p, n_part);
        parts->first[p + 1] += parts->first[p];
    }
    HX_TRY(hx_alloc_raw(&next, (size_t)n_part, sizeof *next, "parts of a mesh"));
    memcpy(next, parts->first, (size_t)n_part * sizeof *next);
    for (int64_t e = 0; e < mesh->n_elem; e++) parts->before[next[part[e]]++] = (int32_t)e;
    free(next);
    /* renumber everything in a finished mesh that refers to elements */
    int32_t *elem_new, *copy;
    HX_TRY(hx_alloc_raw(&elem_new, (size_t)mesh->n_elem, sizeof *elem_new, "element numbers"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) elem_new[parts->before[e]] = (int32_t)e;
    int rc = permute_elements(mesh, parts->before);
    if (rc == HX_OK) rc = hx_mesh_renumber_sets(mesh, NULL, elem_new);
    if (rc == HX_OK) rc = renumber_volumes(mesh, elem_new);
    free(elem_new);
    HX_TRY(rc);
    HX_TRY(hx_alloc_raw(&copy, (size_t)mesh->n_elem, sizeof *copy, "element order"));
    memcpy(copy, parts->before, (size_t)mesh->n_elem * sizeof *copy);
    compose_elements(mesh, copy);
    hx_mesh_free_lists(mesh);
    HX_TRY(hx_mesh_build_incidence(mesh, &mesh->node_elem_ptr, &mesh->node_elem));
    hx_hash h = {(uint64_t)n_part, 0};
    for (int64_t e = 0; e < mesh->n_elem; e++) hx_hash_next(&h, (uint64_t)parts->before[e]);
    parts->hash = h.a;
    parts->n = n_part;
    return HX_OK;
}
