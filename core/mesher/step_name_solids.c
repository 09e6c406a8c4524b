/* Finds the file's solids among those of the mesh: a solid matches if it has all corners of the
 * body. A body around a plug also has the plug's corners, so unambiguous solids are settled
 * first. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "step_names.h"

/* Rounds of settling; more deeply nested solids get no name. */
enum { MOST_ROUNDS = 32 };

typedef struct body {
    char name[HX_STEP_NAME]; /* "": none */
    size_t begin, end;       /* range of its corners in state.corner */
    int64_t solid;           /* index in state.set; -1: not found */
} body;

typedef struct state {
    const hx_step_naming *naming;
    size_t n, capacity, n_corner, corner_capacity, n_set, n_pair, pair_capacity;
    body *body;      /* [n] (owned) */
    int32_t *corner; /* [n_corner] nodes; -1: no node is at the corner (owned) */
    size_t *set;     /* [n_set] the sets solid-N (owned) */
    int64_t *pair;   /* [n_pair] corner's node << 32 | solid, ascending (owned) */
    uint8_t *taken;  /* [n_set] (owned) */
} state;

static hx_step_text follow(const state *s, hx_step_text item, const char *keyword)
{
    return hx_step_record(hx_step_find(s->naming->file, hx_step_number(item)), keyword);
}

static int add_corner(state *s, hx_step_text vertex)
{
    const hx_step_text point =
        follow(s, hx_step_item(follow(s, vertex, "VERTEX_POINT"), 1), "CARTESIAN_POINT");
    hx_step_text list = hx_step_list(hx_step_item(point, 1)), item;
    double x[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3 && hx_step_next(&list, &item); c++)
        x[c] = s->naming->scale * hx_step_real(item);
    HX_TRY(hx_grow(&s->corner, s->n_corner, &s->corner_capacity, sizeof *s->corner, "corners"));
    s->corner[s->n_corner++] = (int32_t)hx_step_node_at(s->naming, x);
    return HX_OK;
}

/* Adds the ends of the edges of a shell, CLOSED_SHELL(name, (face, ...)). */
static int add_corners(state *s, hx_step_text shell)
{
    hx_step_text faces = hx_step_list(hx_step_item(follow(s, shell, "CLOSED_SHELL"), 1)), face;
    while (hx_step_next(&faces, &face)) {
        hx_step_text bounds = hx_step_list(hx_step_item(follow(s, face, "ADVANCED_FACE"), 1)), item;
        while (hx_step_next(&bounds, &item)) {
            hx_step_text bound = follow(s, item, "FACE_OUTER_BOUND"), edge;
            if (!bound.at) bound = follow(s, item, "FACE_BOUND");
            hx_step_text loop =
                hx_step_list(hx_step_item(follow(s, hx_step_item(bound, 1), "EDGE_LOOP"), 1));
            while (hx_step_next(&loop, &edge)) {
                const hx_step_text curve =
                    follow(s, hx_step_item(follow(s, edge, "ORIENTED_EDGE"), 3), "EDGE_CURVE");
                HX_TRY(add_corner(s, hx_step_item(curve, 1)));
                HX_TRY(add_corner(s, hx_step_item(curve, 2)));
                /* a file that was made to be slow */
                if (s->n_corner > 16 * s->naming->file->n) return HX_OK;
            }
        }
    }
    return HX_OK;
}

/* Finds the corners of each solid of the mesh. */
static int find_pairs(state *s)
{
    const hx_mesh *const mesh = s->naming->mesh;
    uint8_t *is_corner = NULL;
    int rc = HX_OK;
    HX_TRY_FAIL(hx_alloc(&is_corner, (size_t)mesh->n_node, 1, "flags of corners"));
    for (size_t i = 0; i < s->n_corner; i++)
        if (s->corner[i] >= 0) is_corner[s->corner[i]] = 1;
    for (size_t k = 0; k < s->n_set; k++) {
        const hx_set *const set = &mesh->set[s->set[k]];
        for (int64_t i = 0; i < 8 * set->n_elem; i++) {
            const int32_t node = mesh->conn[8 * (size_t)set->elem[i / 8] + (size_t)(i % 8)];
            if (!is_corner[node]) continue;
            HX_TRY_FAIL(
                hx_grow(&s->pair, s->n_pair, &s->pair_capacity, sizeof *s->pair, "corners"));
            s->pair[s->n_pair++] = (int64_t)node << 32 | (int64_t)k;
        }
    }
    hx_sort_i64(s->pair, (int64_t)s->n_pair);
    s->n_pair = (size_t)hx_unique_i64(s->pair, (int64_t)s->n_pair);
fail:
    free(is_corner);
    return rc;
}

static int has_corners(const state *s, const body *b, int64_t solid)
{
    for (size_t i = b->begin; i < b->end; i++) {
        const int64_t pair = (int64_t)s->corner[i] << 32 | solid;
        const size_t place = (size_t)hx_count_below_i64(s->pair, (int64_t)s->n_pair, pair);
        if (place == s->n_pair || s->pair[place] != pair) return 0;
    }
    return 1;
}

/* The only remaining solid that has the body's corners, or -1. */
static int64_t find_solid(const state *s, const body *b)
{
    int64_t found = -1;
    if (b->begin == b->end || s->corner[b->begin] < 0) return -1;
    const int64_t node = s->corner[b->begin];
    for (size_t p = (size_t)hx_count_below_i64(s->pair, (int64_t)s->n_pair, node << 32);
         p < s->n_pair && s->pair[p] >> 32 == node; p++) {
        const int64_t solid = s->pair[p] & 0xffffffff;
        if (s->taken[solid] || !has_corners(s, b, solid)) continue;
        if (found >= 0) return -1;
        found = solid;
    }
    return found;
}

static void assign_solids(state *s)
{
    int has_changed = 1;
    for (int round = 0; round < MOST_ROUNDS && has_changed; round++) {
        has_changed = 0;
        for (size_t i = 0; i < s->n; i++) {
            body *const b = &s->body[i];
            if (b->solid >= 0) continue;
            b->solid = find_solid(s, b);
            if (b->solid < 0) continue;
            s->taken[b->solid] = 1;
            has_changed = 1;
        }
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const body *)a)->name, ((const body *)b)->name);
}

/* Bodies that share a name form one set, if all of them are found. */
static int add_sets(state *s, size_t *n_lost, char lost[HX_STEP_NAME])
{
    hx_mesh *const mesh = s->naming->mesh;
    qsort(s->body, s->n, sizeof *s->body, by_name);
    for (size_t i = 0, end; i < s->n; i = end) {
        const body *const first = &s->body[i];
        int is_found = 1;
        for (end = i; end < s->n && strcmp(s->body[end].name, first->name) == 0; end++)
            is_found &= s->body[end].solid >= 0;
        /* a label already named it */
        if (!first->name[0] || hx_mesh_find_set(mesh, first->name)) continue;
        if (!is_found && (*n_lost)++ == 0) memcpy(lost, first->name, HX_STEP_NAME);
        for (size_t k = i; k < end && is_found; k++) {
            const hx_set *const set = &mesh->set[s->set[s->body[k].solid]];
            HX_TRY(hx_mesh_add_elem_set(mesh, first->name, set->n_elem, set->elem));
        }
    }
    return HX_OK;
}

int hx_step_name_solids(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME])
{
    state s = {.naming = naming};
    const hx_mesh *const mesh = naming->mesh;
    int rc = HX_OK;
    HX_TRY_FAIL(hx_alloc(&s.set, mesh->n_set, sizeof *s.set, "solids"));
    HX_TRY_FAIL(hx_alloc(&s.taken, mesh->n_set, 1, "solids"));
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strncmp(mesh->set[i].name, "solid-", 6) == 0) s.set[s.n_set++] = i;
    if (s.n_set < 2) goto fail; /* one solid is the whole part */
    const hx_step_file *const file = s.naming->file;
    for (size_t i = 0; i < file->n; i++) {
        hx_step_text list = hx_step_record(hx_step_entity_text(file, i), "MANIFOLD_SOLID_BREP");
        if (!list.at) list = hx_step_record(hx_step_entity_text(file, i), "BREP_WITH_VOIDS");
        if (!list.at) continue;
        HX_TRY_FAIL(hx_grow(&s.body, s.n, &s.capacity, sizeof *s.body, "solids"));
        body *const b = &s.body[s.n++];
        if (!hx_step_take_name(list, b->name)) b->name[0] = '\0';
        b->solid = -1;
        b->begin = s.n_corner;
        HX_TRY_FAIL(add_corners(&s, hx_step_item(list, 1)));
        b->end = s.n_corner;
        hx_sort_i32(s.corner + b->begin, (int64_t)(b->end - b->begin));
        s.n_corner =
            b->begin + (size_t)hx_unique_i32(s.corner + b->begin, (int64_t)(b->end - b->begin));
        b->end = s.n_corner;
    }
    if (s.n != s.n_set) goto fail; /* cut into pieces */
    HX_TRY_FAIL(find_pairs(&s));
    assign_solids(&s);
    HX_TRY_FAIL(add_sets(&s, n_lost, lost));
fail:
    free(s.body);
    free(s.corner);
    free(s.set);
    free(s.pair);
    free(s.taken);
    return rc;
}
