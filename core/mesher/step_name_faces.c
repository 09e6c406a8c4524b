/* Finds the file's faces among those of the mesh by their geometry. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/cell.h"
#include "step_face.h"
#include "step_names.h"

/* Limit of the number of comparisons and of edges read, per entity of the file. A part with a
 * million faces stays below it; a file made to be slow does not. */
static const double most_work = 1e9;
enum { MOST_EDGES = 16 };

/* Sets are searched linearly by name; files with more names than this are not practical. */
enum { MOST_NAMES = 4096 };

typedef struct named_face {
    char name[HX_STEP_NAME];
    int64_t number; /* of its entity */
    int64_t place;  /* index among the model's faces; -1: not found */
    int is_for_all; /* every face of its shell has this name */
} named_face;

/* The sets face-N: the edges that bound them, and the faces of each node. */
typedef struct model {
    const hx_step_naming *naming;
    hx_mesh *mesh;
    size_t n;
    size_t *set;       /* [n] index in mesh->set (owned) */
    size_t *rim_start; /* [n + 1] (owned) */
    int32_t *rim;      /* [][2] edges of only one face of the set (owned) */
    int64_t n_pair;
    int64_t *pair; /* [n_pair] node << 32 | face, ascending (owned) */
    double work;
} model;

/* --- the faces of the mesh --- */

static int find_rims(model *m)
{
    int64_t n_face = 0, *edge = NULL;
    size_t n_rim = 0;
    int rc = HX_OK;
    for (size_t i = 0; i < m->n; i++) n_face += m->mesh->set[m->set[i]].n_face;
    HX_TRY_FAIL(hx_alloc(&m->rim_start, m->n + 1, sizeof *m->rim_start, "faces of the model"));
    HX_TRY_FAIL(hx_alloc_raw(&m->rim, 4 * (size_t)n_face, 2 * sizeof *m->rim, "edges of faces"));
    HX_TRY_FAIL(hx_alloc_raw(&m->pair, 4 * (size_t)n_face, sizeof *m->pair, "nodes of faces"));
    HX_TRY_FAIL(hx_alloc_raw(&edge, 4 * (size_t)n_face, sizeof *edge, "edges of faces"));
    for (size_t i = 0; i < m->n; i++) {
        const hx_set *const set = &m->mesh->set[m->set[i]];
        int64_t n_edge = 0;
        for (int64_t k = 0; k < set->n_face; k++) {
            int32_t node[4];
            const int n =
                hx_cell_face(m->mesh->conn + 8 * (set->face[k] / 6), (int)(set->face[k] % 6), node);
            for (int a = 0; a < n; a++) {
                const int32_t b = node[(a + 1) % n];
                edge[n_edge++] =
                    node[a] < b ? (int64_t)node[a] << 32 | b : (int64_t)b << 32 | node[a];
                m->pair[m->n_pair++] = (int64_t)node[a] << 32 | (int64_t)i;
            }
        }
        /* Appends the edges that occur once in the list to m->rim. */
        hx_sort_i64(edge, n_edge);
        for (int64_t k = 0, end; k < n_edge; k = end) {
            for (end = k + 1; end < n_edge && edge[end] == edge[k];) end++;
            if (end > k + 1) continue;
            m->rim[2 * n_rim] = (int32_t)(edge[k] >> 32);
            m->rim[2 * n_rim + 1] = (int32_t)(edge[k] & 0xffffffff);
            ++n_rim;
        }
        m->rim_start[i + 1] = n_rim;
    }
    hx_sort_i64(m->pair, m->n_pair);
    m->n_pair = hx_unique_i64(m->pair, m->n_pair);
fail:
    free(edge);
    return rc;
}

static int make_model(model *m)
{
    hx_mesh *const mesh = m->naming->mesh;
    m->mesh = mesh;
    HX_TRY(hx_alloc(&m->set, mesh->n_set, sizeof *m->set, "faces of the model"));
    for (size_t i = 0; i < mesh->n_set; i++)
        if (mesh->set[i].n_face > 0 && strncmp(mesh->set[i].name, "face-", 5) == 0)
            m->set[m->n++] = i;
    return find_rims(m);
}

/* --- is this face of the mesh that of the file? --- */

static int is_near_edge(const model *m, const hx_step_edge *edge, int32_t node)
{
    return hx_step_edge_distance(edge, m->mesh->xyz + 3 * (size_t)node) <= m->naming->tolerance;
}

static int has_corners(const model *m, const hx_step_face *face, size_t i)
{
    for (size_t k = 0; k < face->n_edge; k++)
        for (int end = 0; end < 2; end++) {
            const int64_t node = hx_step_node_at(m->naming, face->edge[k].end[end]);
            const int64_t pair = node << 32 | (int64_t)i;
            if (node < 0) return 0;
            const int64_t place = hx_count_below_i64(m->pair, m->n_pair, pair);
            if (place == m->n_pair || m->pair[place] != pair) return 0;
        }
    return 1;
}

/* Returns 1 if each edge of the mesh around the face lies along one of the file's. */
static int has_rim(model *m, const hx_step_face *face, size_t i)
{
    size_t at = 0;
    for (size_t k = m->rim_start[i]; k < m->rim_start[i + 1]; k++) {
        const int32_t *const node = m->rim + 2 * k;
        size_t tried = 0;
        while (tried < face->n_edge && !(is_near_edge(m, &face->edge[at], node[0]) &&
                                         is_near_edge(m, &face->edge[at], node[1]))) {
            at = (at + 1) % face->n_edge;
            tried++;
            m->work += 1.0 + (double)face->edge[at].n_point;
        }
        if (tried == face->n_edge || m->work > most_work) return 0;
    }
    return 1;
}

static int is_on_surface(model *m, const hx_step_face *face, size_t i)
{
    const hx_set *const set = &m->mesh->set[m->set[i]];
    if (face->kind == HX_STEP_FREE) return m->rim_start[i] < m->rim_start[i + 1];
    for (int64_t k = 0; k < set->n_face; k++) {
        int32_t node[4];
        const int n =
            hx_cell_face(m->mesh->conn + 8 * (set->face[k] / 6), (int)(set->face[k] % 6), node);
        for (int a = 0; a < n; a++)
            if (hx_step_surface_distance(face, m->mesh->xyz + 3 * (size_t)node[a]) >
                m->naming->tolerance)
                return 0;
    }
    m->work += (double)set->n_face;
    return m->work <= most_work;
}

/* The only face of the mesh that matches, or -1. */
static int64_t find_face(model *m, const hx_step_face *face)
{
    int64_t found = -1;
    if (face->n_edge == 0) { /* a whole sphere, a whole torus */
        for (size_t i = 0; i < m->n; i++) {
            m->work += 1.0;
            if (m->rim_start[i] < m->rim_start[i + 1] || !is_on_surface(m, face, i)) continue;
            if (found >= 0) return -1;
            found = (int64_t)i;
        }
        return found;
    }
    const int64_t node = hx_step_node_at(m->naming, face->edge[0].end[0]);
    if (node < 0) return -1;
    for (int64_t p = hx_count_below_i64(m->pair, m->n_pair, node << 32);
         p < m->n_pair && m->pair[p] >> 32 == node; p++) {
        const size_t i = (size_t)(m->pair[p] & 0xffffffff);
        if (!(has_corners(m, face, i) && is_on_surface(m, face, i) && has_rim(m, face, i)))
            continue;
        if (found >= 0) return -1;
        found = (int64_t)i;
    }
    return found;
}

/* --- the names of the file --- */

static int find_names(const hx_step_file *file, named_face **list, size_t *n)
{
    size_t capacity = 0;
    for (size_t i = 0; i < file->n; i++) {
        const hx_step_text entity = hx_step_entity_text(file, i);
        hx_step_text parameters = hx_step_record(entity, "ADVANCED_FACE");
        char name[HX_STEP_NAME];
        if (!parameters.at) parameters = hx_step_record(entity, "FACE_SURFACE");
        if (!parameters.at) continue;
        if (!hx_step_take_name(parameters, name)) continue;
        HX_TRY(hx_grow(list, *n, &capacity, sizeof **list, "names of faces"));
        named_face *const face = &(*list)[(*n)++];
        memset(face, 0, sizeof *face);
        memcpy(face->name, name, sizeof name);
        face->number = file->entity[i].number;
        face->place = -1;
    }
    return HX_OK;
}

static int by_number(const void *a, const void *b)
{
    const named_face *const x = a, *const y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_name(const void *a, const void *b)
{
    const int order = strcmp(((const named_face *)a)->name, ((const named_face *)b)->name);
    return order ? order : by_number(a, b);
}

/* CATIA writes the name of a body at each of the body's faces. Such a name does not belong to the
 * faces and is marked. The list is sorted by number. */
static void mark_shells(const hx_step_file *file, named_face *list, size_t n)
{
    for (size_t i = 0; i < file->n; i++) {
        const hx_step_text entity = hx_step_entity_text(file, i);
        hx_step_text shell = hx_step_record(entity, "CLOSED_SHELL"), item;
        named_face *first = NULL, key = {0};
        size_t n_face = 0;
        if (!shell.at) shell = hx_step_record(entity, "OPEN_SHELL");
        shell = hx_step_list(hx_step_item(shell, 1));
        while (hx_step_next(&shell, &item)) {
            key.number = hx_step_number(item);
            named_face *const face = bsearch(&key, list, n, sizeof *list, by_number);
            if (!face || (first && strcmp(face->name, first->name) != 0)) break;
            if (!first) first = face;
            n_face++;
            if (shell.at == shell.end && n_face > 1) first->is_for_all = 1;
        }
    }
}

/* --- */

static int add_named_set(model *m, const named_face *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hx_set *const set = &m->mesh->set[m->set[list[i].place]];
        HX_TRY(hx_mesh_add_face_set(m->mesh, list[i].name, set->n_face, set->face));
    }
    return HX_OK;
}

/* Names the faces list[0] to list[n - 1], which share one name: either all of them get it, or none.
 * *is_lost = 1: none. */
static int name_group(model *m, named_face *list, size_t n, size_t *n_edge, int *is_lost)
{
    const hx_step_file *const file = m->naming->file;
    int is_found = !hx_mesh_find_set(m->mesh, list[0].name);
    for (size_t i = 0; i < n; i++)
        if (list[i].is_for_all) return HX_OK;
    for (size_t i = 0; i < n && is_found; i++) {
        hx_step_face face;
        int rc = HX_EINPUT;
        if (m->work <= most_work && *n_edge <= MOST_EDGES * file->n)
            rc = hx_step_face_read(file, list[i].number, m->naming->scale, &face);
        if (rc == HX_ENOMEM) return rc;
        if (rc == HX_OK) {
            list[i].place = find_face(m, &face);
            *n_edge += face.n_edge;
            hx_step_face_free(&face);
        }
        is_found = list[i].place >= 0;
    }
    *is_lost = !is_found;
    return is_found ? add_named_set(m, list, n) : HX_OK;
}

int hx_step_name_faces(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME])
{
    model m = {.naming = naming};
    named_face *list = NULL;
    size_t n = 0, n_edge = 0, n_tried = 0;
    int rc = find_names(naming->file, &list, &n);
    if (rc == HX_OK && n > 0) rc = make_model(&m);
    if (n > 0) {
        mark_shells(naming->file, list, n);
        qsort(list, n, sizeof *list, by_name);
    }
    for (size_t i = 0, end; i < n && rc == HX_OK; i = end) {
        int is_lost = 0;
        for (end = i + 1; end < n && strcmp(list[end].name, list[i].name) == 0;) end++;
        if (n_tried++ < MOST_NAMES)
            rc = name_group(&m, list + i, end - i, &n_edge, &is_lost);
        else
            is_lost = 1;
        if (is_lost && (*n_lost)++ == 0) memcpy(lost, list[i].name, HX_STEP_NAME);
    }
    free(m.set);
    free(m.rim_start);
    free(m.rim);
    free(m.pair);
    free(list);
    return rc;
}
