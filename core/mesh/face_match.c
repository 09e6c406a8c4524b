#include "face_match.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"

static uint64_t hash_four(const int32_t v[4])
{
    uint64_t h = 0;
    for (int k = 0; k < 4; k++) {
        h = (h ^ (uint64_t)(uint32_t)v[k]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* Slot of the face with those ascending nodes, or an empty one. */
static int32_t *quad_slot(const hx_face_match *q, const int32_t node[4])
{
    uint64_t at = hash_four(node) & q->mask;
    while (q->slot[at] >= 0 && memcmp(q->node[q->slot[at]], node, sizeof q->node[0]) != 0)
        at = (at + 1) & q->mask;
    return &q->slot[at];
}

int hx_face_match_create(hx_face_match *q, int64_t n, int64_t n_node)
{
    uint64_t n_slot = 64;
    memset(q, 0, sizeof *q);
    while (n_slot < 2 * (uint64_t)n) n_slot *= 2;
    q->mask = n_slot - 1;
    HX_TRY(hx_alloc_raw(&q->node, (size_t)n, sizeof *q->node, "faces of a set"));
    HX_TRY(hx_alloc_raw(&q->face, (size_t)n, sizeof *q->face, "faces of a set"));
    HX_TRY(hx_alloc(&q->shared, (size_t)n, 1, "faces of a set"));
    HX_TRY(hx_alloc_raw(&q->slot, (size_t)n_slot, sizeof *q->slot, "lookup of faces"));
    HX_TRY(hx_alloc(&q->marked, (size_t)n_node, 1, "nodes of faces"));
    memset(q->slot, 0xff, n_slot * sizeof *q->slot);
    return HX_OK;
}

/* Key of a face, independent of the order of its nodes; returns 0 for an edge or a point. */
static int find_key(const int32_t node[4], int32_t key[4])
{
    int n_same = 0;
    memcpy(key, node, 4 * sizeof *key);
    hx_sort_four(key);
    for (int k = 1; k < 4; k++)
        if (key[k] == key[k - 1]) {
            key[k - 1] = -1;
            n_same++;
        }
    if (n_same > 0) hx_sort_four(key);
    return n_same < 2;
}

int64_t hx_face_match_add(hx_face_match *q, const int32_t node[4])
{
    int32_t sorted[4];
    if (!find_key(node, sorted)) return -1;
    int32_t *const slot = quad_slot(q, sorted);
    if (*slot >= 0) return *slot;
    *slot = (int32_t)q->n;
    memcpy(q->node[q->n], sorted, sizeof sorted);
    q->face[q->n++] = -1;
    for (int k = 0; k < 4; k++) q->marked[node[k]] = 1;
    return *slot;
}

/* Returns 1 if a face (element * 6 + local face) has precedence over another one. */
static int is_before(const hx_mesh *mesh, int64_t face, int64_t other)
{
    const int32_t *const orig = mesh->elem_orig;
    if (!orig) return face < other;
    const int64_t elem = orig[face / 6], other_elem = orig[other / 6];
    return elem != other_elem ? elem < other_elem : face < other;
}

void hx_face_match_find(hx_face_match *q, const hx_mesh *mesh)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int n_marked = 0;
        for (int k = 0; k < 8; k++) n_marked += q->marked[conn[k]];
        for (int f = 0; f < 6 && n_marked >= 3; f++) {
            int32_t node[4], key[4];
            for (int k = 0; k < 4; k++) node[k] = conn[hx_hex_face[f][k]];
            if (!find_key(node, key)) continue;
            const int32_t found = *quad_slot(q, key);
            if (found < 0) continue;
#pragma omp critical(hx_match_faces)
            {
                q->shared[found] = q->face[found] >= 0;
                if (q->face[found] < 0 || is_before(mesh, 6 * e + f, q->face[found]))
                    q->face[found] = 6 * e + f;
            }
        }
    }
}

void hx_face_match_free(hx_face_match *q)
{
    free(q->node);
    free(q->face);
    free(q->shared);
    free(q->slot);
    free(q->marked);
    memset(q, 0, sizeof *q);
}
