#include "stress_zone_edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/radix_sort.h"
#include "core/base/vec3.h"
#include "stress_zone_nodes.h"

/* Cosine of the least turn: facets of a round hole turn by less. */
static const double most_cosine = 0.8660254037844387;

/* The faces of passive solids on the boundary of the part, and their edges. */
typedef struct hull {
    const hx_mesh *mesh;
    const double *density; /* NULL: all elements are solid */
    /* of hx_stress_zone_sharp_edges; NULL: edges whose elements are all passive (borrowed) */
    const uint8_t *part_faces, *is_passive;
    int64_t n, n_edge;
    int64_t *face;  /* [n] element * 6 + local face (owned) */
    uint64_t *key;  /* [n_edge] the nodes of an edge (owned) */
    int32_t *of;    /* [n_edge] its face (owned) */
    int32_t *order; /* [n_edge] edges, ascending by key (owned) */
} hull;

static int is_solid(const hull *h, int64_t e)
{
    return !h->density || h->density[e] > HX_ZONE_MOST_VOID;
}

static int is_void(const hull *h, int64_t e)
{
    return h->density && h->density[e] <= HX_ZONE_MOST_VOID;
}

/* Lists the faces; face = NULL: counts them. */
static int64_t list_faces(const hull *h, int64_t *face)
{
    int64_t n = 0;
    for (int64_t e = 0; e < h->mesh->n_elem; e++)
        for (int f = 0; is_solid(h, e) && f < 6; f++) {
            int32_t corner[4];
            const int n_corner = hx_cell_face(h->mesh->conn + 8 * e, f, corner);
            if (n_corner < 3) continue;
            const int64_t other = hx_mesh_face_neighbour(h->mesh, e, n_corner, corner);
            if (other >= 0 && !is_void(h, other)) continue;
            if (face) face[n] = 6 * e + f;
            n++;
        }
    return n;
}

static int corners_of(const hull *h, int64_t k, int32_t corner[4])
{
    return hx_cell_face(h->mesh->conn + 8 * (h->face[k] / 6), (int)(h->face[k] % 6), corner);
}

static int list_edges(hull *h)
{
    const int bits = hx_bits((uint64_t)h->mesh->n_node);
    const size_t most = 4 * (size_t)h->n + 1;
    uint64_t *scratch = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&h->key, most, sizeof *h->key, "edges of the boundary"));
    HX_TRY_FAIL(hx_alloc_raw(&h->of, most, sizeof *h->of, "edges of the boundary"));
    HX_TRY_FAIL(hx_alloc_raw(&h->order, most, sizeof *h->order, "edges of the boundary"));
    HX_TRY_FAIL(hx_alloc_raw(&scratch, most, sizeof *scratch, "edges of the boundary"));
    for (int64_t k = 0; k < h->n; k++) {
        int32_t corner[4];
        const int n = corners_of(h, k, corner);
        for (int i = 0; i < n; i++) {
            const uint64_t a = (uint64_t)corner[i], b = (uint64_t)corner[(i + 1) % n];
            h->key[h->n_edge] = a < b ? a << bits | b : b << bits | a;
            h->of[h->n_edge++] = (int32_t)k;
        }
    }
    memcpy(scratch, h->key, (size_t)h->n_edge * sizeof *scratch);
    rc = hx_radix_sort(scratch, h->order, h->n_edge, 2 * bits);
fail:
    free(scratch);
    return rc;
}

/* Middle and outward unit normal of a face. */
static void face_plane(const hull *h, int64_t k, double middle[3], double normal[3])
{
    const int64_t e = h->face[k] / 6;
    int32_t corner[4];
    double x[4][3] = {{0.0}}, inside[3], u[3], v[3], outward = 0.0;
    const int n = corners_of(h, k, corner);
    for (int i = 0; i < 3; i++) {
        middle[i] = 0.0;
        for (int a = 0; a < n; a++) x[a][i] = h->mesh->xyz[3 * (int64_t)corner[a] + i];
        for (int a = 0; a < n; a++) middle[i] += x[a][i] / n;
        u[i] = x[2][i] - x[0][i];
        v[i] = x[n - 1][i] - x[1][i];
    }
    hx_cross3(u, v, normal);
    hx_mesh_centroid(h->mesh, e, inside);
    for (int i = 0; i < 3; i++) outward += (middle[i] - inside[i]) * normal[i];
    const double size = hx_norm3(normal);
    for (int i = 0; i < 3 && size > 0.0; i++) normal[i] *= (outward < 0.0 ? -1.0 : 1.0) / size;
}

/* 1 if the boundary turns inwards between two faces that share an edge. */
static int is_inward(const hull *h, int64_t a, int64_t b)
{
    double middle[2][3], normal[2][3], ahead = 0.0;
    face_plane(h, a, middle[0], normal[0]);
    face_plane(h, b, middle[1], normal[1]);
    for (int i = 0; i < 3; i++) ahead += (middle[1][i] - middle[0][i]) * normal[0][i];
    return ahead > 0.0 && hx_dot3(normal[0], normal[1]) < most_cosine;
}

/* 1 if all elements with both nodes are passive solid or void. */
static int is_fixed(const hull *h, int32_t a, int32_t b)
{
    const hx_mesh *const mesh = h->mesh;
    for (int64_t i = mesh->node_elem_ptr[a]; i < mesh->node_elem_ptr[a + 1]; i++) {
        const int64_t e = mesh->node_elem[i] / 8;
        int has_both = 0;
        for (int k = 0; k < 8; k++) has_both |= mesh->conn[8 * e + k] == b;
        if (has_both && !is_solid(h, e) && !is_void(h, e)) return 0;
    }
    return 1;
}

/* 1 if no design can round the edge between two faces. */
static int is_sharp(const hull *h, int64_t a, int64_t b)
{
    const int64_t face[2] = {h->face[a], h->face[b]};
    int n = 0;
    for (int i = 0; i < 2; i++) {
        if (h->is_passive[face[i] / 6]) return 1;
        n += h->part_faces[face[i] / 6] >> (face[i] % 6) & 1;
    }
    return n == 2;
}

static uint64_t sorted_key(const hull *h, int64_t i)
{
    return i >= 0 && i < h->n_edge ? h->key[h->order[i]] : UINT64_MAX;
}

/* Returns the number of edges. */
static int64_t mark_edges(const hull *h, uint8_t *is_marked)
{
    int64_t n = 0;
    const int bits = hx_bits((uint64_t)h->mesh->n_node);
    for (int64_t i = 0; i + 1 < h->n_edge; i++) {
        const uint64_t key = sorted_key(h, i);
        const int32_t a = (int32_t)(key >> bits), b = (int32_t)(key & (((uint64_t)1 << bits) - 1));
        if (sorted_key(h, i + 1) != key) continue;
        if (sorted_key(h, i - 1) == key || sorted_key(h, i + 2) == key)
            continue; /* several parts */
        const int64_t of = h->of[h->order[i]], other = h->of[h->order[i + 1]];
        if (!is_inward(h, of, other)) continue;
        if (!(h->part_faces ? is_sharp(h, of, other) : is_fixed(h, a, b))) continue;
        is_marked[a] = is_marked[b] = 1;
        n++;
    }
    return n;
}

/* Finds the edges of a hull with its mesh, which it frees. */
static int find_edges(hull *h, uint8_t *is_marked, int64_t *n_edge)
{
    int rc;
    h->n = list_faces(h, NULL);
    HX_TRY_FAIL(hx_alloc_raw(&h->face, (size_t)h->n + 1, sizeof *h->face, "faces at edges"));
    list_faces(h, h->face);
    HX_TRY_FAIL(list_edges(h));
    *n_edge = mark_edges(h, is_marked);
fail:
    free(h->face);
    free(h->key);
    free(h->order);
    free(h->of);
    return rc;
}

int hx_stress_zone_edges(const hx_mesh *mesh, const double *density, uint8_t *is_marked,
                         int *is_any)
{
    hull h = {.mesh = mesh, .density = density};
    int64_t n = 0;
    HX_TRY(find_edges(&h, is_marked, &n));
    if (n > 0) *is_any = 1;
    return HX_OK;
}

int hx_stress_zone_sharp_edges(const hx_mesh *mesh, const uint8_t *part_faces,
                               const uint8_t *is_passive, uint8_t *is_marked, int64_t *n_edge)
{
    hull h = {.mesh = mesh, .part_faces = part_faces, .is_passive = is_passive};
    return find_edges(&h, is_marked, n_edge);
}
