/* Postprocessing of cut tetrahedra: pieces, quality, conversion to a mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/union_find.h"
#include "cut_internal.h"

int hx_incidence_create(hx_incidence *in, int64_t n_node, int64_t n_item, int n,
                        const int32_t *node)
{
    HX_TRY(hx_alloc(&in->first, (size_t)n_node + 2, sizeof *in->first, "cut cells"));
    HX_TRY(hx_alloc_raw(&in->item, (size_t)(n * n_item), sizeof *in->item, "cut cells"));
    for (int64_t k = 0; k < n * n_item; k++) in->first[node[k] + 2]++;
    for (int64_t a = 0; a < n_node; a++) in->first[a + 2] += in->first[a + 1];
    for (int64_t k = 0; k < n * n_item; k++) in->item[in->first[node[k] + 1]++] = (int32_t)(k / n);
    return HX_OK;
}

void hx_incidence_free(hx_incidence *in)
{
    free(in->first);
    free(in->item);
    memset(in, 0, sizeof *in);
}

static uint64_t face_key(const int32_t *tet, int64_t f, uint64_t n_node)
{
    int32_t v[3];
    for (int i = 0; i < 3; i++) v[i] = tet[4 * (f / 4) + hx_tet_face[f % 4][i]];
    const int32_t low = v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
    const int32_t high = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
    return (uint64_t)low * n_node + (uint64_t)high;
}

static int32_t face_sum(const int32_t *tet, int64_t f)
{
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) sum += tet[4 * (f / 4) + hx_tet_face[f % 4][i]];
    return (int32_t)(sum % INT32_MAX);
}

/* Unites tetrahedra with a common face, identified by the lowest node, the highest node and the sum
 * of all three. */
static int join_faces(int64_t n_node, int64_t n_tet, const int32_t *tet, int32_t *parent)
{
    int rc;
    uint64_t *key = NULL;
    int32_t *order = NULL;
    const int64_t n = 4 * n_tet;
    const uint64_t base = (uint64_t)n_node;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, "faces of cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, "faces of cut cells"));
    for (int64_t f = 0; f < n; f++) key[f] = face_key(tet, f, base);
    HX_TRY_FAIL(hx_radix_sort(key, order, n, hx_bits(base * base)));
    for (int64_t t = 0; t < n_tet; t++) parent[t] = (int32_t)t;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1;
             k < n && face_key(tet, order[k], base) == face_key(tet, order[i], base); k++) {
            if (face_sum(tet, order[k]) != face_sum(tet, order[i])) continue;
            hx_unite(parent, order[i] / 4, order[k] / 4);
        }
fail:
    free(key);
    free(order);
    return rc;
}

typedef struct size_of {
    int64_t n;
    int32_t root;
} size_of;

/* Larger pieces first, equal ones in their original order. */
static int compare_pieces(const void *a, const void *b)
{
    const size_of *const x = a, *const y = b;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return x->root < y->root ? -1 : x->root > y->root;
}

/* piece[n_tet] := rank of the piece by size, from the roots. */
static int number_pieces(int64_t n_tet, int32_t *parent, int32_t *piece, int64_t *n_piece)
{
    size_of *size = NULL;
    int64_t n = 0;
    HX_TRY(hx_alloc(&size, (size_t)n_tet, sizeof *size, "pieces"));
    for (int64_t t = 0; t < n_tet; t++) piece[t] = -1;
    for (int64_t t = 0; t < n_tet; t++) {
        const int32_t root = hx_root(parent, (int32_t)t);
        if (piece[root] < 0) {
            piece[root] = (int32_t)n;
            size[n++].root = root;
        }
        size[piece[root]].n++;
    }
    qsort(size, (size_t)n, sizeof *size, compare_pieces);
    for (int64_t i = 0; i < n; i++) piece[size[i].root] = (int32_t)i;
    for (int64_t t = 0; t < n_tet; t++) piece[t] = piece[hx_root(parent, (int32_t)t)];
    *n_piece = n;
    free(size);
    return HX_OK;
}

/* Removes nodes that no tetrahedron uses and renumbers the others. */
static int compact(hx_tet_lattice *l)
{
    int32_t *number = NULL;
    int64_t n = 0;
    HX_TRY(hx_alloc(&number, (size_t)l->n_node, sizeof *number, "cut cells"));
    for (int64_t k = 0; k < 4 * l->n_tet; k++) number[l->tet[k]] = 1;
    for (int64_t a = 0; a < l->n_node; a++) {
        if (!number[a]) continue;
        memmove(l->xyz + 3 * n, l->xyz + 3 * a, 3 * sizeof *l->xyz);
        number[a] = (int32_t)n++;
    }
    for (int64_t k = 0; k < 4 * l->n_tet; k++) l->tet[k] = number[l->tet[k]];
    l->n_node = n;
    free(number);
    return HX_OK;
}

int hx_cut_to_mesh(hx_mesh *mesh, hx_tet_lattice *l, int32_t **piece, hx_cut_report *report)
{
    static const int corner[8] = {0, 1, 2, 2, 3, 3, 3, 3};
    int32_t *conn = NULL;
    HX_TRY(compact(l));
    int32_t *parent = NULL;
    HX_TRY(hx_alloc_raw(piece, (size_t)l->n_tet, sizeof **piece, "pieces"));
    HX_TRY(hx_alloc_raw(&parent, (size_t)l->n_tet, sizeof *parent, "pieces"));
    int rc = join_faces(l->n_node, l->n_tet, l->tet, parent);
    if (rc == HX_OK) rc = number_pieces(l->n_tet, parent, *piece, &report->n_piece);
    free(parent);
    HX_TRY(rc);
    double sum = 0.0;
    report->worst = 1.0;
    report->volume = 0.0;
    report->n_tet = l->n_tet;
    for (int64_t t = 0; t < l->n_tet; t++) {
        const double *x[4];
        for (int i = 0; i < 4; i++) x[i] = l->xyz + 3 * (int64_t)l->tet[4 * t + i];
        const double quality = hx_tet_quality(x[0], x[1], x[2], x[3]);
        report->worst = fmin(report->worst, quality);
        report->n_poor += quality < 0.05;
        sum += quality;
        report->volume += hx_tet_volume6(x[0], x[1], x[2], x[3]) / 6.0;
    }
    report->mean = sum / (double)l->n_tet;
    HX_TRY(hx_alloc_raw(&conn, 8 * (size_t)l->n_tet, sizeof *conn, "cut cells"));
    for (int64_t k = 0; k < 8 * l->n_tet; k++) conn[k] = l->tet[4 * (k / 8) + corner[k % 8]];
    double *const xyz = l->xyz;
    l->xyz = NULL;
    return hx_mesh_create(mesh, "surface", l->n_node, xyz, l->n_tet, conn);
}
