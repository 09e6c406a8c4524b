#include "hinges.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/union_find.h"
#include "../mesh/node_star.h"

/* A face of a solid element that contains the node: the neighbours of the node along the face,
 * which are the other ends of its edges there, and the solid element beyond, -1: none. Elements are
 * positions in the star's list. */
typedef struct side {
    int32_t elem, beyond, end[2];
} side;

/* The solid elements at a node, and what connects them there. */
typedef struct star {
    int64_t n, n_side, n_end;
    int32_t *elem;    /* [n] */
    side *of;         /* [n_side] */
    int32_t *end;     /* [n_end] other ends of the edges at the node */
    int32_t *by_face; /* [n] groups (union_find.h) by faces that contain the node */
    int32_t *by_any;  /* [n] these, joined by edges at the node */
    int32_t *at_edge; /* [n] groups around one edge; -1: the element does not have it */
} star;

enum { FACES = 6, ENDS = 2 * FACES };

static int create_star(star *s, size_t most)
{
    static const char what[] = "elements at a node";
    memset(s, 0, sizeof *s);
    HX_TRY(hx_alloc_raw(&s->elem, most, sizeof *s->elem, what));
    HX_TRY(hx_alloc_raw(&s->of, FACES * most, sizeof *s->of, what));
    HX_TRY(hx_alloc_raw(&s->end, ENDS * most, sizeof *s->end, what));
    HX_TRY(hx_alloc_raw(&s->by_face, most, sizeof *s->by_face, what));
    HX_TRY(hx_alloc_raw(&s->by_any, most, sizeof *s->by_any, what));
    return hx_alloc_raw(&s->at_edge, most, sizeof *s->at_edge, what);
}

static void free_star(star *s)
{
    free(s->elem);
    free(s->of);
    free(s->end);
    free(s->by_face);
    free(s->by_any);
    free(s->at_edge);
}

static int64_t count_groups(int32_t *parent, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += parent[i] >= 0 && hx_root(parent, (int32_t)i) == i;
    return count;
}

static void add_end(star *s, int32_t end)
{
    for (int64_t k = 0; k < s->n_end; k++)
        if (s->end[k] == end) return;
    s->end[s->n_end++] = end;
}

/* Adds a local face of an element of the star if it contains the node. */
static void add_side(const hx_mesh *mesh, star *s, int64_t node, int32_t i, int face)
{
    int32_t ring[4];
    const int n = hx_cell_face(mesh->conn + 8 * (int64_t)s->elem[i], face, ring);
    int at = 0;
    while (at < n && ring[at] != node) at++;
    if (n < 3 || at == n) return;
    side *const found = &s->of[s->n_side++];
    *found = (side){.elem = i, .beyond = -1, .end = {ring[(at + n - 1) % n], ring[(at + 1) % n]}};
    for (int k = 0; k < 2; k++) add_end(s, found->end[k]);
    const int64_t other = hx_mesh_face_neighbour(mesh, s->elem[i], n, ring);
    for (int64_t k = 0; k < s->n; k++)
        if (s->elem[k] == other) found->beyond = (int32_t)k;
}

/* Lists the solid elements at a node and their faces there; s->n_side = 0 if these form no hinge
 * obviously. */
static void list_star(const hx_mesh *mesh, const uint8_t *is_solid, int64_t node, star *s)
{
    int64_t n_void = 0;
    s->n = s->n_side = s->n_end = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int32_t e = (int32_t)(mesh->node_elem[k] >> 3);
        if (!is_solid[e])
            n_void++;
        else if (s->n == 0 || s->elem[s->n - 1] != e) /* each once, from incidences */
            s->elem[s->n++] = e;
    }
    if (s->n < 2) return;
    if (n_void == 0 && !hx_mesh_is_collapsed(mesh) && hx_node_star_is_connected(mesh, node)) return;
    for (int32_t i = 0; i < s->n; i++)
        for (int face = 0; face < FACES; face++) add_side(mesh, s, node, i, face);
}

/* Joins in by_any what has the edge to node `end`. Returns 1 if the edge is a hinge: the elements
 * around it form several groups by faces that contain it. */
static int join_at_edge(star *s, int32_t end)
{
    int32_t first = -1;
    for (int64_t i = 0; i < s->n; i++) s->at_edge[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < s->n_side; k++) {
            const side *const of = &s->of[k];
            if (of->end[0] != end && of->end[1] != end) continue;
            if (pass == 0)
                s->at_edge[of->elem] = of->elem;
            else if (of->beyond >= 0)
                hx_unite(s->at_edge, of->elem, of->beyond);
        }
    for (int32_t i = 0; i < s->n; i++) {
        if (s->at_edge[i] < 0) continue;
        if (first < 0) first = i;
        hx_unite(s->by_any, first, i);
    }
    return count_groups(s->at_edge, s->n) > 1;
}

/* 1: the node, or an edge there, is a hinge. Leaves the star and its groups by faces. */
static int has_hinge(const hx_mesh *mesh, const uint8_t *is_solid, int64_t node, star *s)
{
    int any = 0;
    list_star(mesh, is_solid, node, s);
    if (s->n_side == 0) return 0;
    for (int32_t i = 0; i < s->n; i++) s->by_face[i] = s->by_any[i] = i;
    for (int64_t k = 0; k < s->n_side; k++)
        if (s->of[k].beyond >= 0) hx_unite(s->by_face, s->of[k].elem, s->of[k].beyond);
    if (count_groups(s->by_face, s->n) > 1) return 1;
    for (int64_t k = 0; k < s->n_end && !any; k++) any = join_at_edge(s, s->end[k]);
    return any;
}

/* Places: nodes of hinges, joined by the edges that are hinges. */
typedef struct places {
    uint8_t *is_at;  /* [n_node] 1: the node belongs to a hinge (owned, like all below) */
    int32_t *parent; /* [n_node] union_find.h */
    int32_t *size;   /* [n_node] hinges that are counted at a node; later of a place, at its root */
    int32_t *lowest; /* [n_node] the lowest node of a place, at its root */
} places;

/* The hinges at a node where has_hinge() is 1; an edge is counted at the lower of its ends. */
static void count_at_node(star *s, int32_t node, hx_hinges *h, places *p)
{
    memcpy(s->by_any, s->by_face, (size_t)s->n * sizeof *s->by_any);
    for (int64_t k = 0; k < s->n_end; k++) {
        const int32_t end = s->end[k];
        if (!join_at_edge(s, end) || end < node) continue;
        p->is_at[node] = p->is_at[end] = 1;
        hx_unite(p->parent, node, end);
        p->size[node]++;
        h->n_edge++;
    }
    if (count_groups(s->by_any, s->n) == 1) return;
    p->is_at[node] = 1;
    p->size[node]++;
    h->n_point++;
}

/* 1: node a is lower than b, by x, then y, then z. */
static int is_lower(const hx_mesh *mesh, int32_t a, int32_t b)
{
    const double *const x = mesh->xyz + 3 * (int64_t)a, *const y = mesh->xyz + 3 * (int64_t)b;
    for (int d = 0; d < 3; d++)
        if (x[d] < y[d] || x[d] > y[d]) return x[d] < y[d];
    return 0;
}

static void find_largest(const hx_mesh *mesh, hx_hinges *h, places *p)
{
    for (int32_t a = 0; a < mesh->n_node; a++) {
        if (!p->is_at[a]) continue;
        const int32_t root = hx_root(p->parent, a);
        if (root == a) {
            p->lowest[a] = a;
            h->n_place++;
            continue;
        }
        p->size[root] += p->size[a];
        if (is_lower(mesh, a, p->lowest[root])) p->lowest[root] = a;
    }
    for (int32_t a = 0; a < mesh->n_node; a++) {
        if (!p->is_at[a] || p->parent[a] != a) continue;
        const int is_equal = p->size[a] == h->largest;
        if (p->size[a] < h->largest) continue;
        if (is_equal && !is_lower(mesh, p->lowest[a], (int32_t)h->node)) continue;
        h->largest = p->size[a];
        h->node = p->lowest[a];
    }
}

static size_t most_elements(const hx_mesh *mesh)
{
    int64_t most = 1;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t n = mesh->node_elem_ptr[a + 1] - mesh->node_elem_ptr[a];
        most = n > most ? n : most;
    }
    return (size_t)most;
}

/* hinged[n_node] := has_hinge(). */
static int find_hinged(const hx_mesh *mesh, const uint8_t *is_solid, size_t most, uint8_t *hinged)
{
    int worst = HX_OK;
#pragma omp parallel
    {
        star s;
        const int rc = create_star(&s, most);
#pragma omp critical(hx_hinges)
        {
            if (rc < 0) worst = rc;
        }
#pragma omp for schedule(static)
        for (int64_t a = 0; a < mesh->n_node; a++)
            hinged[a] = rc == HX_OK && has_hinge(mesh, is_solid, a, &s);
        free_star(&s);
    }
    return worst;
}

int hx_hinges_find(const hx_mesh *mesh, const uint8_t *is_solid, hx_hinges *h)
{
    static const char what[] = "hinges";
    const size_t n = (size_t)mesh->n_node + 1, most = most_elements(mesh);
    uint8_t *hinged = NULL;
    places p = {0};
    star s = {0};
    int rc;
    *h = (hx_hinges){.node = -1};
    HX_TRY_FAIL(hx_alloc(&hinged, n, sizeof *hinged, what));
    HX_TRY_FAIL(hx_alloc(&p.is_at, n, sizeof *p.is_at, what));
    HX_TRY_FAIL(hx_alloc(&p.size, n, sizeof *p.size, what));
    HX_TRY_FAIL(hx_alloc_raw(&p.parent, n, sizeof *p.parent, what));
    HX_TRY_FAIL(hx_alloc_raw(&p.lowest, n, sizeof *p.lowest, what));
    HX_TRY_FAIL(create_star(&s, most));
    HX_TRY_FAIL(find_hinged(mesh, is_solid, most, hinged));
    for (int32_t a = 0; a < mesh->n_node; a++) p.parent[a] = a;
    for (int32_t a = 0; a < mesh->n_node; a++)
        if (hinged[a] && has_hinge(mesh, is_solid, a, &s)) count_at_node(&s, a, h, &p);
    find_largest(mesh, h, &p);
fail:
    free_star(&s);
    free(hinged);
    free(p.is_at);
    free(p.size);
    free(p.parent);
    free(p.lowest);
    return rc;
}
