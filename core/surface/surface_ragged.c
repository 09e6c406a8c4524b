/* Finds bodies of hexahedra whose interface inside the mesh consists of steps. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/union_find.h"
#include "surface_internal.h"

/* A body is ragged if more than this fraction of its faces are steps. A few ledges on a body that
 * otherwise follows the elements do not make it ragged. */
static const double most_steps = 0.05;

/* Faces of forced-solid elements against free ones. */
typedef struct border {
    const hx_mesh *mesh;
    int64_t n;
    int64_t *face;  /* [n] element * 6 + local face (owned) */
    uint64_t *key;  /* [4 n] nodes of an edge (owned) */
    int32_t *order; /* [4 n] (owned) */
    int8_t
        *bend; /* [4 n] at edge i of a face: 1 convex, -1 concave by more than 45 degrees (owned) */
    int32_t *parent; /* [n_node] union-find of the nodes of a body (owned) */
    int32_t *count;  /* [n_node][2] at a body's root: numbers of faces and of steps (owned) */
} border;

static int64_t list_solid_faces(const hx_mesh *mesh, const uint8_t *is_solid, int64_t *face)
{
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int f = 0; is_solid[e] && f < 6; f++) {
            int32_t node[4];
            const int n_node = hx_cell_face(mesh->conn + 8 * e, f, node);
            const int64_t other = hx_mesh_face_neighbour(mesh, e, n_node, node);
            if (other < 0 || is_solid[other]) continue;
            if (face) face[n] = 6 * e + f;
            n++;
        }
    return n;
}

static int32_t node_of(const border *b, int64_t face, int corner)
{
    return b->mesh->conn[8 * (b->face[face] / 6) + hx_hex_face[b->face[face] % 6][corner % 4]];
}

static uint64_t edge_key(const border *b, int64_t i)
{
    const uint64_t a = (uint64_t)node_of(b, i / 4, (int)(i % 4));
    const uint64_t c = (uint64_t)node_of(b, i / 4, (int)(i % 4) + 1);
    return a < c ? a << 31 | c : c << 31 | a;
}

/* Centre and outward unit normal of a face. */
static void face_plane(const border *b, int64_t face, double middle[3], double normal[3])
{
    double d[2][3];
    for (int k = 0; k < 3; k++) {
        double x[4];
        for (int c = 0; c < 4; c++) x[c] = b->mesh->xyz[3 * (int64_t)node_of(b, face, c) + k];
        middle[k] = 0.25 * (x[0] + x[1] + x[2] + x[3]);
        d[0][k] = x[2] - x[0];
        d[1][k] = x[3] - x[1];
    }
    hx_cross3(d[0], d[1], normal);
    const double size = hx_norm3(normal);
    for (int k = 0; k < 3; k++) normal[k] /= size > 0.0 ? size : 1.0;
}

static int8_t bend_of(const border *b, int64_t face, int64_t other)
{
    double x[2][3], n[2][3], to[3];
    face_plane(b, face, x[0], n[0]);
    face_plane(b, other, x[1], n[1]);
    for (int k = 0; k < 3; k++) to[k] = x[1][k] - x[0][k];
    if (hx_dot3(n[0], n[1]) > 0.707) return 0;
    return hx_dot3(to, n[0]) > 0.0 ? -1 : 1;
}

static int border_create(border *b, const uint8_t *is_solid)
{
    const size_t n_node = (size_t)b->mesh->n_node;
    b->n = list_solid_faces(b->mesh, is_solid, NULL);
    const size_t n = (size_t)b->n;
    HX_TRY(hx_alloc_raw(&b->face, n, sizeof *b->face, "faces of the solid elements"));
    HX_TRY(hx_alloc_raw(&b->key, 4 * n, sizeof *b->key, "edges of the solid elements"));
    HX_TRY(hx_alloc_raw(&b->order, 4 * n, sizeof *b->order, "edges of the solid elements"));
    HX_TRY(hx_alloc(&b->bend, 4 * n, sizeof *b->bend, "edges of the solid elements"));
    HX_TRY(hx_alloc_raw(&b->parent, n_node, sizeof *b->parent, "nodes of the solid elements"));
    HX_TRY(hx_alloc(&b->count, 2 * n_node, sizeof *b->count, "nodes of the solid elements"));
    list_solid_faces(b->mesh, is_solid, b->face);
    const int64_t n_side = 4 * b->n;
    for (int64_t i = 0; i < n_side; i++) b->key[i] = edge_key(b, i);
    HX_TRY(hx_radix_sort(b->key, b->order, n_side, 62));
    for (int64_t i = 0, end; i < n_side; i = end) {
        for (end = i + 1; end < n_side && edge_key(b, b->order[end]) == edge_key(b, b->order[i]);)
            end++;
        if (end - i != 2) continue;
        const int8_t bend = bend_of(b, b->order[i] / 4, b->order[i + 1] / 4);
        b->bend[b->order[i]] = b->bend[b->order[i + 1]] = bend;
    }
    for (int64_t a = 0; a < b->mesh->n_node; a++) b->parent[a] = (int32_t)a;
    for (int64_t e = 0; e < b->mesh->n_elem; e++) {
        const int32_t *const conn = b->mesh->conn + 8 * e;
        for (int i = 1; is_solid[e] && i < 8; i++) hx_unite(b->parent, conn[0], conn[i]);
    }
    /* Counts steps: faces at which the interface bends at two opposite edges, inwards and
     * outwards. */
    for (int64_t i = 0; i < b->n; i++) {
        const int8_t *const bend = b->bend + 4 * i;
        int32_t *const count = b->count + 2 * (int64_t)hx_root(b->parent, node_of(b, i, 0));
        count[0]++;
        count[1] += bend[0] * bend[2] < 0 || bend[1] * bend[3] < 0;
    }
    return HX_OK;
}

int hx_surface_find_ragged(const hx_mesh *mesh, const uint8_t *is_solid, uint8_t *is_ragged)
{
    border b = {.mesh = mesh};
    const int rc = border_create(&b, is_solid);
    for (int64_t e = 0; rc == HX_OK && e < mesh->n_elem; e++) {
        const int32_t *const count = b.count + 2 * (int64_t)hx_root(b.parent, mesh->conn[8 * e]);
        is_ragged[e] = is_solid[e] && count[1] > most_steps * count[0];
    }
    free(b.face);
    free(b.key);
    free(b.order);
    free(b.bend);
    free(b.parent);
    free(b.count);
    return rc;
}
