/* Makes triangles by elements and boundary faces, then vertices by sorting: the key of a vertex
 * encodes its position in the mesh, so that neighbours share the same vertices. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"
#include "surface_internal.h"
#include "surface_patch.h"

/* Keys: (a, a) for node a, (a, b) with a < b for a point on an edge; above them, the middles of
 * loops and faces with 16 keys per element. */
typedef struct keys {
    int node_bits;   /* bits of a node number */
    int middle_bits; /* bit that marks middles */
} keys;

/* Unconnected triangles whose corners are given by keys. */
typedef struct soup {
    keys keys;
    int64_t n;       /* number of triangles */
    uint64_t *key;   /* [n][3] (owned) */
    uint8_t *is_cap; /* [n] (owned) */
} soup;

static void soup_free(soup *s)
{
    free(s->key);
    free(s->is_cap);
}

static uint64_t key_of_corner(const keys *k, const hx_mesh *mesh, int64_t e, int local, int in_face)
{
    const int32_t *conn = mesh->conn + 8 * e;
    if (local >= HX_PATCH_MIDDLE)
        return (uint64_t)1 << k->middle_bits |
               (uint64_t)(16 * e + in_face + local - HX_PATCH_MIDDLE);
    const int is_node = local >= HX_PATCH_NODE;
    const uint64_t a = (uint64_t)conn[is_node ? local - HX_PATCH_NODE : hx_hex_edge[local][0]];
    const uint64_t b = (uint64_t)conn[is_node ? local - HX_PATCH_NODE : hx_hex_edge[local][1]];
    return a < b ? a << k->node_bits | b : b << k->node_bits | a;
}

static void put_patch(soup *s, const hx_mesh *mesh, int64_t e, const hx_surface_patch *patch,
                      int in_face, int64_t *at)
{
    for (int i = 0; i < patch->n_tri; i++, ++*at) {
        for (int k = 0; k < 3; k++)
            s->key[3 * *at + k] = key_of_corner(&s->keys, mesh, e, patch->tri[i][k], in_face);
        s->is_cap[*at] = in_face != 0;
    }
}

/* Writes the triangles of part i starting at *at. */
static void fill_part(const hx_surface_field *field, double threshold, int i, soup *s, int64_t *at)
{
    const int64_t n_elem = field->mesh->n_elem;
    hx_surface_patch patch;
    for (int64_t e = hx_part_begin(n_elem, i); e < hx_part_begin(n_elem, i + 1); e++) {
        const unsigned mask = hx_surface_mask(field, threshold, e);
        if (mask == 0 || mask == 255) continue;
        hx_surface_cut_cell(field, threshold, e, &patch);
        put_patch(s, field->mesh, e, &patch, 0, at);
    }
    for (int64_t f = hx_part_begin(field->n_face, i); f < hx_part_begin(field->n_face, i + 1);
         f++) {
        const int64_t face = field->face[f];
        hx_surface_cut_face(field, threshold, face, &patch);
        put_patch(s, field->mesh, face / 6, &patch, 8 + (int)(face % 6), at);
    }
}

static int make_soup(const hx_surface_field *field, double threshold, soup *s)
{
    int64_t first[HX_N_PART + 1] = {0}, end[HX_N_PART];
    const int node_bits = hx_bits((uint64_t)field->mesh->n_node);
    const int elem_bits = hx_bits((uint64_t)field->mesh->n_elem * 16);
    const keys k = {node_bits, 2 * node_bits > elem_bits ? 2 * node_bits : elem_bits};
    s->keys = k;
/* Upper bound of the triangles in part i. */
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < HX_N_PART; i++) {
        const int64_t n_elem = field->mesh->n_elem;
        int64_t count = 0;
        for (int64_t e = hx_part_begin(n_elem, i); e < hx_part_begin(n_elem, i + 1); e++)
            count += hx_surface_crossings(hx_surface_mask(field, threshold, e));
        for (int64_t f = hx_part_begin(field->n_face, i); f < hx_part_begin(field->n_face, i + 1);
             f++)
            if (hx_surface_mask(field, threshold, field->face[f] / 6)) count += HX_PATCH_MOST_CAP;
        first[i + 1] = count;
    }
    for (int i = 0; i < HX_N_PART; i++) first[i + 1] += first[i];
    const size_t most = (size_t)first[HX_N_PART];
    HX_TRY(hx_alloc_raw(&s->key, 3 * most, sizeof *s->key, "triangles of the surface"));
    HX_TRY(hx_alloc_raw(&s->is_cap, most, 1, "triangles of the surface"));
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < HX_N_PART; i++) {
        end[i] = first[i];
        fill_part(field, threshold, i, s, &end[i]);
    }
    for (int i = 0; i < HX_N_PART; i++) { /* close the gaps */
        const size_t n = (size_t)(end[i] - first[i]);
        memmove(s->key + 3 * s->n, s->key + 3 * first[i], 3 * n * sizeof *s->key);
        memmove(s->is_cap + s->n, s->is_cap + first[i], n);
        s->n += (int64_t)n;
    }
    if (s->n == 0)
        return HX_RAISE(HX_EINPUT, "no density is above the threshold %g, so there is no surface",
                        threshold);
    if (3 * s->n > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the surface would have %lld %s; at most %d are supported",
                        (long long)s->n, hx_noun(s->n, "triangle", "triangles"), INT32_MAX / 3);
    return HX_OK;
}

/* tri := ranks of the corners' keys in ascending order; *vertex_key: the keys, which the caller
 * frees. */
static int number_vertices(const soup *s, hx_surface *surface, uint64_t **vertex_key)
{
    int rc;
    const size_t n = 3 * (size_t)s->n;
    uint64_t *key = NULL;
    int32_t *order = NULL;
    int64_t count = 0;
    HX_TRY_FAIL(hx_alloc_raw(&key, n, sizeof *key, "vertices of the surface"));
    HX_TRY_FAIL(hx_alloc_raw(&order, n, sizeof *order, "vertices of the surface"));
    HX_TRY_FAIL(hx_alloc_raw(&surface->tri, n, sizeof *surface->tri, "triangles of the surface"));
    memcpy(key, s->key, n * sizeof *key);
    HX_TRY_FAIL(hx_radix_sort(key, order, (int64_t)n, s->keys.middle_bits + 1));
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || s->key[order[i]] != s->key[order[i - 1]]) key[count++] = s->key[order[i]];
        surface->tri[order[i]] = (int32_t)(count - 1);
    }
    surface->n_vertex = count;
    *vertex_key = key;
    free(order);
    return HX_OK;
fail:
    free(key);
    free(order);
    return rc;
}

static void place_vertex(const hx_surface_field *field, double threshold, const keys *k,
                         uint64_t key, double x[3], int32_t edge[2])
{
    if (key >> k->middle_bits) {
        edge[0] = edge[1] = -1;
        const uint64_t number = key & (((uint64_t)1 << k->middle_bits) - 1);
        const int64_t e = (int64_t)(number / 16);
        const int i = (int)(number % 16);
        hx_surface_patch patch;
        if (i >= 8)
            hx_surface_cut_face(field, threshold, 6 * e + i - 8, &patch);
        else
            hx_surface_cut_cell(field, threshold, e, &patch);
        memcpy(x, patch.x[HX_PATCH_MIDDLE + (i >= 8 ? 0 : i)], sizeof patch.x[0]);
        return;
    }
    const int32_t a = (int32_t)(key >> k->node_bits);
    const int32_t b = (int32_t)(key & (((uint64_t)1 << k->node_bits) - 1));
    const double u_a = field->value[a] - threshold, u_b = field->value[b] - threshold;
    edge[0] = u_a > 0.0 ? a : b;
    edge[1] = u_a > 0.0 ? b : a;
    const double *in = field->mesh->xyz + 3 * (int64_t)edge[0];
    if (a == b)
        memcpy(x, in, 3 * sizeof *x);
    else
        hx_surface_cut(in, field->mesh->xyz + 3 * (int64_t)edge[1],
                       u_a > 0.0 ? hx_surface_share(u_a, u_b) : hx_surface_share(u_b, u_a), x);
}

int hx_surface_extract(hx_surface *surface, const hx_surface_field *field, double threshold)
{
    int rc;
    soup s;
    uint64_t *key = NULL;
    memset(surface, 0, sizeof *surface);
    memset(&s, 0, sizeof s);
    HX_TRY_FAIL(make_soup(field, threshold, &s));
    HX_TRY_FAIL(number_vertices(&s, surface, &key));
    const size_t n_vertex = (size_t)surface->n_vertex;
    HX_TRY_FAIL(hx_alloc_raw(&surface->xyz, 3 * n_vertex, sizeof(double), "surface vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&surface->edge, 2 * n_vertex, sizeof(int32_t), "surface vertices"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < surface->n_vertex; i++)
        place_vertex(field, threshold, &s.keys, key[i], surface->xyz + 3 * i,
                     surface->edge + 2 * i);
    surface->n_tri = s.n;
    surface->is_cap = s.is_cap;
    s.is_cap = NULL;
    HX_TRY_FAIL(hx_surface_make_manifold(surface));
    soup_free(&s);
    free(key);
    return HX_OK;
fail:
    soup_free(&s);
    free(key);
    hx_surface_free(surface);
    return rc;
}

void hx_surface_free(hx_surface *surface)
{
    free(surface->xyz);
    free(surface->tri);
    free(surface->is_cap);
    free(surface->edge);
    memset(surface, 0, sizeof *surface);
}
