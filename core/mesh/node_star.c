#include "node_star.h"

#include <string.h>

enum { MOST = 16 };

/* The ends of the three edges at each corner, and the opposite corner of the face between each edge
 * and the next one. */
static const int edge_end[8][3] = {{1, 3, 4}, {0, 2, 5}, {1, 3, 6}, {0, 2, 7},
                                   {0, 5, 7}, {1, 4, 6}, {2, 5, 7}, {3, 4, 6}};
static const int across[8][3] = {{2, 7, 5}, {3, 6, 4}, {0, 7, 5}, {1, 6, 4},
                                 {1, 6, 3}, {0, 7, 2}, {1, 4, 3}, {0, 5, 2}};

typedef struct face {
    int elem; /* index of the first element at the node that has the face */
    int32_t across;
    int is_open; /* 1: no other element has it */
} face;

typedef struct finder {
    int n_end;
    int32_t end[MOST];           /* of the edges at the node */
    uint8_t face_of[MOST][MOST]; /* number of the face between two edges, from 1; 0: none */
    int n_face, n_open;          /* n_open: number of faces of only one element */
    face face[3 * MOST];
    unsigned next[MOST]; /* bits of the elements with which each one has a common face */
} finder;

/* Number of the edge with that end; MOST: too many. */
static int find_edge(finder *f, int32_t end)
{
    int i = 0;
    while (i < f->n_end && f->end[i] != end) i++;
    if (i < f->n_end || i == MOST) return i;
    memset(f->face_of[i], 0, sizeof f->face_of[i]);
    f->end[f->n_end++] = end;
    return i;
}

/* Adds the face of an element between edges a and b, or finds it; returns 0 if another face lies
 * between the same edges. */
static int add_star_face(finder *f, int elem, int a, int b, int32_t node)
{
    uint8_t *const number = a < b ? &f->face_of[a][b] : &f->face_of[b][a];
    if (*number == 0) {
        f->face[f->n_face] = (face){elem, node, 1};
        *number = (uint8_t)++f->n_face;
        f->n_open++;
        return 1;
    }
    face *const met = &f->face[*number - 1];
    f->n_open -= met->is_open;
    met->is_open = 0;
    f->next[elem] |= 1u << met->elem;
    f->next[met->elem] |= 1u << elem;
    return met->across == node;
}

static int add_star_element(finder *f, int elem, const int32_t conn[8], int corner)
{
    int edge[3], is_plain = 1;
    f->next[elem] = 0;
    for (int i = 0; i < 3; i++) edge[i] = find_edge(f, conn[edge_end[corner][i]]);
    if (edge[0] == MOST || edge[1] == MOST || edge[2] == MOST) return 0;
    for (int i = 0; i < 3; i++)
        is_plain &= add_star_face(f, elem, edge[i], edge[(i + 1) % 3], conn[across[corner][i]]);
    return is_plain;
}

/* Returns 1 if elements 0 .. n - 1 are all reached from the first one. */
static int is_connected(const finder *f, int n)
{
    const unsigned all = (1u << n) - 1;
    unsigned reached = 1, before = 0;
    while (reached != before && reached != all) {
        before = reached;
        for (int i = 0; i < n; i++)
            if (reached >> i & 1) reached |= f->next[i];
    }
    return reached == all;
}

/* For a node that is corner a of one element and corner b, along an edge from it, of the next: 0 if
 * the three corners of a (u, v, w) and of b (x, y, z) on their common face are equal. */
static inline int32_t apart(const int32_t *const at[8], int a, int b, int u, int x, int v, int y,
                            int w, int z)
{
    return (at[a][u] ^ at[b][x]) | (at[a][v] ^ at[b][y]) | (at[a][w] ^ at[b][z]);
}

/* at[a] := the nodes of the element that has the node as its corner a. Returns 0 if a corner has
 * none. */
static int find_corners(const hx_mesh *mesh, const uint32_t list[8], const int32_t *at[8])
{
    unsigned corners = 0;
    for (int i = 0; i < 8; i++) {
        at[list[i] % 8] = mesh->conn + 8 * (int64_t)(list[i] / 8);
        corners |= 1u << list[i] % 8;
    }
    return corners == 0xff;
}

/* Returns 1 if all elements are connected by faces, for elements with the same directions of r, s
 * and t: four faces along r, then along s, then along t. */
static int hang_together(const int32_t *const at[8])
{
    const int32_t r = apart(at, 0, 1, 3, 2, 4, 5, 7, 6) | apart(at, 3, 2, 0, 1, 7, 6, 4, 5) |
                      apart(at, 4, 5, 7, 6, 0, 1, 3, 2) | apart(at, 7, 6, 4, 5, 3, 2, 0, 1);
    const int32_t s = apart(at, 0, 3, 1, 2, 4, 7, 5, 6) | apart(at, 4, 7, 5, 6, 0, 3, 1, 2);
    return (r | s | apart(at, 0, 4, 1, 5, 3, 7, 2, 6)) == 0;
}

/* Returns 1 if the node is inside a grid whose elements all have the same directions of r, s and t:
 * the node is a different corner of each, and neighbours have the same edges and faces in common.
 * No edge has the same end as the opposite one, so there are 6 edges and 12 faces, each shared by
 * two elements. */
static int is_in_grid(const int32_t *const at[8])
{
    const int32_t s = apart(at, 1, 2, 0, 3, 5, 6, 4, 7) | apart(at, 5, 6, 4, 7, 1, 2, 0, 3);
    const int32_t t = apart(at, 1, 5, 0, 4, 2, 6, 3, 7) | apart(at, 2, 6, 3, 7, 1, 5, 0, 4) |
                      apart(at, 3, 7, 2, 6, 0, 4, 1, 5);
    return hang_together(at) && (s | t) == 0 && at[0][1] != at[1][0] && at[0][3] != at[3][0] &&
           at[0][4] != at[4][0];
}

hx_node_star hx_node_star_of(const hx_mesh *mesh, int64_t node)
{
    const uint32_t *const list = mesh->node_elem + mesh->node_elem_ptr[node];
    const int64_t n = mesh->node_elem_ptr[node + 1] - mesh->node_elem_ptr[node];
    const int32_t *at[8];
    finder f;
    if (n == 8 && find_corners(mesh, list, at) && is_in_grid(at)) return (hx_node_star){1, 1};
    f.n_end = f.n_face = f.n_open = 0; /* the rest is initialised when needed */
    if (n < 1 || n > MOST) return (hx_node_star){0, 0};
    for (int i = 0; i < (int)n; i++)
        if (!add_star_element(&f, i, mesh->conn + 8 * (int64_t)(list[i] / 8), (int)(list[i] % 8)))
            return (hx_node_star){0, 0};
    return (hx_node_star){is_connected(&f, (int)n), f.n_open == 0};
}

int hx_node_star_is_connected(const hx_mesh *mesh, int64_t node)
{
    const uint32_t *const list = mesh->node_elem + mesh->node_elem_ptr[node];
    const int64_t n = mesh->node_elem_ptr[node + 1] - mesh->node_elem_ptr[node];
    const int32_t *at[8];
    return (n == 8 && find_corners(mesh, list, at) && hang_together(at)) ||
           hx_node_star_of(mesh, node).is_connected;
}
