/* Face sets of a distributed mesh: each rank finds the faces of its elements. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/face_match.h"
#include "dist_mesh_internal.h"

static const char what[] = "face sets of a distributed mesh";

/* Numbers of the source, with their local numbers. */
typedef struct places {
    int64_t n;
    int64_t *number; /* [n] ascending (owned, like the next) */
    int32_t *here;   /* [n] -1: not on this rank */
} places;

static void free_places(places *p)
{
    free(p->number);
    free(p->here);
}

static int64_t find_in_places(const places *p, int64_t number)
{
    const int64_t at = hx_count_below_i64(p->number, p->n, number);
    return at < p->n && p->number[at] == number ? at : -1;
}

static int32_t place_of_number(const places *p, int64_t number)
{
    const int64_t at = find_in_places(p, number);
    return at < 0 ? -1 : p->here[at];
}

/* Sorts p->number[n], which may be in any order with repetitions, and finds the local numbers;
 * orig[n_here]: numbers in the source. */
static int index_places(places *p, int64_t n, int64_t n_here, const int32_t *orig)
{
    hx_sort_i64(p->number, n);
    p->n = hx_unique_i64(p->number, n);
    HX_TRY(hx_alloc_raw(&p->here, (size_t)p->n, sizeof *p->here, what));
    memset(p->here, 0xff, (size_t)p->n * sizeof *p->here);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_here; i++) {
        const int64_t at = find_in_places(p, orig[i]);
        if (at >= 0) p->here[at] = (int32_t)i;
    }
    return HX_OK;
}

static int64_t count_faces(const hx_mesh_source *source)
{
    int64_t n = 0;
    for (int i = 0; i < source->n_faces; i++) n += source->faces[i].n;
    return n;
}

static int place_nodes(const hx_mesh_source *source, const hx_mesh *mesh, places *node)
{
    const size_t n = 4 * (size_t)count_faces(source);
    int64_t next = 0;
    HX_TRY(hx_alloc_raw(&node->number, n, sizeof *node->number, what));
    for (int i = 0; i < source->n_faces; i++) {
        const hx_source_faces *const f = &source->faces[i];
        if (f->n > 0) memcpy(node->number + next, f->node, (size_t)f->n * sizeof *f->node);
        next += 4 * f->n;
    }
    return index_places(node, next, mesh->n_node, mesh->node_orig);
}

/* Finds the elements that face sets refer to. */
static int place_elems(const hx_mesh_source *source, const hx_mesh *mesh, places *elem)
{
    int64_t next = 0;
    HX_TRY(hx_alloc_raw(&elem->number, (size_t)count_faces(source), sizeof *elem->number, what));
    for (int i = 0; i < source->n_faces; i++)
        for (int64_t k = 0; k < source->faces[i].n; k++)
            if (source->faces[i].elem[k] >= 0) elem->number[next++] = source->faces[i].elem[k];
    return index_places(elem, next, mesh->n_elem, mesh->elem_orig);
}

/* The local part of a set. */
typedef struct found {
    int64_t n_face, n_node;
    int64_t *face;     /* [n] (owned, like the next two) */
    int32_t *node;     /* [3 n] corners of triangles that are no element's face */
    uint16_t *missing; /* [n] 1: the face is no element's face */
} found;

static void free_found(found *f)
{
    free(f->face);
    free(f->node);
    free(f->missing);
}

/* Returns the face of element e with those nodes; -1: none. */
static int64_t face_with(const hx_mesh *mesh, int64_t e, const int32_t node[4])
{
    for (int f = 0; f < 6; f++) {
        int n_in = 0, n_named = 0;
        int32_t corner[4];
        const int n = hx_cell_face(mesh->conn + 8 * e, f, corner);
        for (int k = 0; k < n; k++)
            n_in += corner[k] == node[0] || corner[k] == node[1] || corner[k] == node[2] ||
                    corner[k] == node[3];
        for (int k = 0; k < 4; k++) {
            int j = 0;
            while (j < n && corner[j] != node[k]) j++;
            n_named += j < n;
        }
        if (n >= 3 && n_in == n && n_named == 4) return 6 * e + f;
    }
    return -1;
}

/* Finds the local nodes of face k; returns 0 if some are not on this rank. */
static int nodes_here(const hx_source_faces *f, int64_t k, const places *node, int32_t here[4])
{
    int all = 1;
    for (int j = 0; j < 4; j++) {
        here[j] = place_of_number(node, f->node[k][j]);
        all &= here[j] >= 0;
    }
    return all;
}

/* match_of[n] := index in `match` of each face; -1: none. */
static int match_faces(const hx_source_faces *f, const hx_mesh *mesh, const places *node,
                       hx_face_match *match, int64_t *match_of)
{
    HX_TRY(hx_face_match_create(match, f->n, mesh->n_node));
    for (int64_t k = 0; k < f->n; k++) {
        int32_t here[4];
        match_of[k] =
            f->elem[k] < 0 && nodes_here(f, k, node, here) ? hx_face_match_add(match, here) : -1;
    }
    hx_face_match_find(match, mesh);
    return HX_OK;
}

static int find_faces(const hx_source_faces *f, const hx_mesh *mesh, const places *node,
                      const places *elem, found *to)
{
    hx_face_match match = {0};
    int64_t *match_of = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&match_of, (size_t)f->n, sizeof *match_of, what));
    HX_TRY_FAIL(match_faces(f, mesh, node, &match, match_of));
    for (int64_t k = 0; k < f->n; k++) {
        int32_t here[4];
        int64_t face = match_of[k] >= 0 ? match.face[match_of[k]] : -1;
        const int32_t e = f->elem[k] >= 0 ? place_of_number(elem, f->elem[k]) : -1;
        if (e >= 0 && nodes_here(f, k, node, here)) face = face_with(mesh, e, here);
        to->missing[k] = face < 0;
        if (face >= 0) to->face[to->n_face++] = face;
    }
fail:
    hx_face_match_free(&match);
    free(match_of);
    return rc;
}

/* Handles faces that no rank has found. */
static void take_missing(hx_source_faces *f, const places *node, found *to)
{
    f->n_missing = 0;
    for (int64_t k = 0; k < f->n; k++) {
        if (!to->missing[k]) continue;
        if (f->node[k][3] != f->node[k][2]) {
            f->n_missing++;
            continue;
        }
        for (int j = 0; j < 3; j++) {
            const int32_t here = place_of_number(node, f->node[k][j]);
            if (here >= 0) to->node[to->n_node++] = here;
        }
    }
}

static int add_face_set(const hx_dist_mesh_task *task, hx_source_faces *f, const places *node,
                        const places *elem, hx_mesh *mesh)
{
    found here = {0};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&here.face, (size_t)f->n, sizeof *here.face, what));
    HX_TRY_FAIL(hx_alloc_raw(&here.node, 3 * (size_t)f->n, sizeof *here.node, what));
    HX_TRY_FAIL(hx_alloc_raw(&here.missing, (size_t)f->n, sizeof *here.missing, what));
    HX_TRY_FAIL(find_faces(f, mesh, node, elem, &here));
    HX_TRY_FAIL(hx_reduce_min_u16(task->reduce, f->n, here.missing));
    take_missing(f, node, &here);
    if (here.n_node > 0) HX_TRY_FAIL(hx_mesh_add_node_set(mesh, f->name, here.n_node, here.node));
    rc = hx_mesh_add_face_set(mesh, f->name, here.n_face, here.face);
fail:
    free_found(&here);
    return rc;
}

int hx_dist_mesh_faces(const hx_dist_mesh_task *task, hx_mesh *mesh)
{
    const hx_mesh_source *const source = task->source;
    places node = {0}, elem = {0};
    int rc;
    if (source->n_faces == 0) return HX_OK;
    HX_TRY_FAIL(place_nodes(source, mesh, &node));
    HX_TRY_FAIL(place_elems(source, mesh, &elem));
    for (int i = 0; i < source->n_faces; i++)
        HX_TRY_FAIL(add_face_set(task, &source->faces[i], &node, &elem, mesh));
fail:
    free_places(&node);
    free_places(&elem);
    return rc;
}
