#include "tet_lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "surface_internal.h"

const int hx_tet_edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
const int hx_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* Below this quality a cell is split from a node at its centre. */
static const double poor = 0.1;

double hx_tet_volume6(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return hx_triple3(u, v, w);
}

double hx_tet_quality(const double *a, const double *b, const double *c, const double *d)
{
    const double *const x[4] = {a, b, c, d};
    double square = 0.0;
    for (int e = 0; e < 6; e++)
        for (int i = 0; i < 3; i++) {
            const double step = x[hx_tet_edge[e][1]][i] - x[hx_tet_edge[e][0]][i];
            square += step * step;
        }
    const double length = sqrt(square / 6.0);
    return length > 0.0 ? sqrt(2.0) * hx_tet_volume6(a, b, c, d) / (length * length * length) : 0.0;
}

int hx_tet_lattice_add_node(hx_tet_lattice *l, const double x[3], int32_t *node)
{
    if (l->n_node >= INT32_MAX - 1)
        return HX_RAISE(HX_EINPUT, "the cut mesh would have too many nodes");
    HX_TRY(hx_grow(&l->xyz, (size_t)l->n_node, &l->node_room, 3 * sizeof *l->xyz, "cut cells"));
    memcpy(l->xyz + 3 * l->n_node, x, 3 * sizeof *x);
    *node = (int32_t)l->n_node++;
    return HX_OK;
}

static const double *at(const hx_tet_lattice *l, int32_t node)
{
    return l->xyz + 3 * (int64_t)node;
}

int hx_tet_lattice_add_tet(hx_tet_lattice *l, const int32_t node[4])
{
    const double volume =
        hx_tet_volume6(at(l, node[0]), at(l, node[1]), at(l, node[2]), at(l, node[3]));
    if (!(fabs(volume) > 0.0)) return HX_OK;
    if (l->n_tet >= HX_MAX_ELEM)
        return HX_RAISE(HX_EINPUT, "the cut mesh would have too many tetrahedra");
    HX_TRY(hx_grow(&l->tet, (size_t)l->n_tet, &l->tet_room, 4 * sizeof *l->tet, "cut cells"));
    int32_t *const tet = l->tet + 4 * l->n_tet++;
    memcpy(tet, node, 4 * sizeof *tet);
    if (volume < 0.0) {
        tet[2] = node[3];
        tet[3] = node[2];
    }
    return HX_OK;
}

static int lowest(int n, const int32_t *node)
{
    int low = 0;
    for (int i = 1; i < n; i++)
        if (node[i] < node[low]) low = i;
    return low;
}

static int has(int n, const int32_t *list, int32_t node)
{
    for (int i = 0; i < n; i++)
        if (list[i] == node) return 1;
    return 0;
}

/* Joins the triangles of the faces that do not contain node `from` to it. */
static int add_fans(hx_tet_lattice *l, int32_t from, int n_face, const int *n_corner,
                    int32_t (*face)[8])
{
    for (int f = 0; f < n_face; f++) {
        const int n = n_corner[f], low = lowest(n, face[f]);
        if (has(n, face[f], from)) continue;
        for (int i = 1; i + 1 < n; i++) {
            const int32_t tet[4] = {from, face[f][low], face[f][(low + i) % n],
                                    face[f][(low + i + 1) % n]};
            HX_TRY(hx_tet_lattice_add_tet(l, tet));
        }
    }
    return HX_OK;
}

int hx_tet_lattice_add_solid(hx_tet_lattice *l, int n_face, const int *n_corner, int32_t (*face)[8])
{
    int32_t from = INT32_MAX;
    for (int f = 0; f < n_face; f++) {
        const int32_t node = face[f][lowest(n_corner[f], face[f])];
        if (node < from) from = node;
    }
    return add_fans(l, from, n_face, n_corner, face);
}

/* The worst quality of the tetrahedra of a cell, which begin at `first`. */
static double worst_since(const hx_tet_lattice *l, int64_t first)
{
    double worst = 1.0;
    for (int64_t t = first; t < l->n_tet; t++) {
        const int32_t *const tet = l->tet + 4 * t;
        worst =
            fmin(worst, hx_tet_quality(at(l, tet[0]), at(l, tet[1]), at(l, tet[2]), at(l, tet[3])));
    }
    return worst;
}

static double volume_since(const hx_tet_lattice *l, int64_t first)
{
    double sum = 0.0;
    for (int64_t t = first; t < l->n_tet; t++) {
        const int32_t *const tet = l->tet + 4 * t;
        sum += hx_tet_volume6(at(l, tet[0]), at(l, tet[1]), at(l, tet[2]), at(l, tet[3]));
    }
    return sum / 6.0;
}

/* The volume enclosed by the triangles of the faces, split as above. It is less than the volume of
 * the tetrahedra if some of these were reoriented. */
static double volume_of(const hx_tet_lattice *l, int n_face, const int *n_corner,
                        int32_t (*face)[8])
{
    double sum = 0.0;
    for (int f = 0; f < n_face; f++) {
        const int n = n_corner[f], low = lowest(n, face[f]);
        for (int i = 1; i + 1 < n; i++)
            sum += hx_tet_volume6(at(l, face[0][0]), at(l, face[f][low]),
                                  at(l, face[f][(low + i) % n]), at(l, face[f][(low + i + 1) % n]));
    }
    return fabs(sum) / 6.0;
}

static int split_cell(hx_tet_lattice *l, const hx_mesh *mesh, int64_t e, const int32_t *number)
{
    int32_t face[6][8], from;
    int n_corner[6], n_face = 0;
    double middle[3];
    for (int f = 0; f < 6; f++) {
        int32_t node[4];
        const int n = hx_cell_face(mesh->conn + 8 * e, f, node);
        if (n < 3) continue;
        for (int i = 0; i < n; i++) face[n_face][i] = number[node[i]];
        n_corner[n_face++] = n;
    }
    const int64_t first = l->n_tet;
    HX_TRY(hx_tet_lattice_add_solid(l, n_face, n_corner, face));
    const double volume = volume_of(l, n_face, n_corner, face);
    if (volume_since(l, first) <= (1.0 + 1e-6) * volume &&
        (l->n_tet - first == 1 || worst_since(l, first) > poor))
        return HX_OK;
    l->n_tet = first;
    hx_mesh_centroid(mesh, e, middle);
    HX_TRY(hx_tet_lattice_add_node(l, middle, &from));
    return add_fans(l, from, n_face, n_corner, face);
}

int hx_tet_lattice_split(hx_tet_lattice *l, const hx_mesh *mesh, const uint8_t *is_kept)
{
    int rc = HX_OK;
    int32_t *number = NULL;
    HX_TRY(hx_alloc(&number, (size_t)mesh->n_node, sizeof *number, "cut cells"));
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++)
        if (is_kept[k / 8]) number[mesh->conn[k]] = 1;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (number[a]) HX_TRY_FAIL(hx_tet_lattice_add_node(l, mesh->xyz + 3 * a, &number[a]));
    }
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (is_kept[e]) HX_TRY_FAIL(split_cell(l, mesh, e, number));
fail:
    free(number);
    return rc;
}

/* --- edges and border --- */

static uint64_t edge_key(const int32_t *tet, int e)
{
    const uint32_t a = (uint32_t)tet[hx_tet_edge[e][0]], b = (uint32_t)tet[hx_tet_edge[e][1]];
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static int join_edges(hx_tet_lattice *l)
{
    int rc;
    uint64_t *key = NULL, last = UINT64_MAX;
    int32_t *order = NULL;
    const int64_t n = 6 * l->n_tet;
    if (n > INT32_MAX) return HX_RAISE(HX_EINPUT, "the cut mesh would have too many tetrahedra");
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, "edges of cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, "edges of cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&l->tet_edge, (size_t)n, sizeof *l->tet_edge, "edges of cut cells"));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++) key[k] = edge_key(l->tet + 4 * (k / 6), (int)(k % 6));
    HX_TRY_FAIL(hx_radix_sort(key, order, n, 32 + hx_bits((uint64_t)l->n_node)));
    l->n_edge = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t now = edge_key(l->tet + 4 * (int64_t)(order[i] / 6), order[i] % 6);
        l->n_edge += now != last;
        l->tet_edge[order[i]] = (int32_t)(l->n_edge - 1);
        last = now;
    }
    HX_TRY_FAIL(hx_alloc_raw(&l->end, 2 * (size_t)l->n_edge, sizeof *l->end, "edges of cut cells"));
    for (int64_t k = 0; k < n; k++) {
        const uint64_t now = edge_key(l->tet + 4 * (k / 6), (int)(k % 6));
        l->end[2 * (int64_t)l->tet_edge[k]] = (int32_t)(now >> 32);
        l->end[2 * (int64_t)l->tet_edge[k] + 1] = (int32_t)(now & 0xffffffffu);
    }
fail:
    free(key);
    free(order);
    return rc;
}

/* A face is identified by its two edges at its lowest node. */
static uint64_t face_key(const hx_tet_lattice *l, int64_t f)
{
    const int lack = (int)(f % 4);
    int32_t edge[3];
    int n = 0;
    for (int e = 0; e < 6; e++)
        if (hx_tet_edge[e][0] != lack && hx_tet_edge[e][1] != lack)
            edge[n++] = l->tet_edge[6 * (f / 4) + e];
    const int32_t low = edge[0] < edge[1] ? (edge[0] < edge[2] ? edge[0] : edge[2])
                                          : (edge[1] < edge[2] ? edge[1] : edge[2]);
    const int32_t high = edge[0] > edge[1] ? (edge[0] > edge[2] ? edge[0] : edge[2])
                                           : (edge[1] > edge[2] ? edge[1] : edge[2]);
    return (uint64_t)(uint32_t)low << 32 | (uint32_t)high;
}

static int join_border(hx_tet_lattice *l)
{
    int rc;
    uint64_t *key = NULL;
    int32_t *order = NULL;
    const int64_t n = 4 * l->n_tet;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, "faces of cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, "faces of cut cells"));
    HX_TRY_FAIL(hx_alloc(&l->is_border, (size_t)l->n_node, 1, "border of cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&l->face, 3 * (size_t)n, sizeof *l->face, "border of cut cells"));
#pragma omp parallel for schedule(static)
    for (int64_t f = 0; f < n; f++) key[f] = face_key(l, f);
    HX_TRY_FAIL(hx_radix_sort(key, order, n, 32 + hx_bits((uint64_t)l->n_edge)));
    l->n_face = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        const uint64_t now = face_key(l, order[i]);
        for (end = i + 1; end < n && face_key(l, order[end]) == now; end++) {
        }
        if (end - i > 1) continue;
        int32_t *const face = l->face + 3 * l->n_face++;
        for (int k = 0; k < 3; k++)
            face[k] = l->tet[4 * (order[i] / 4) + hx_tet_face[order[i] % 4][k]];
        for (int k = 0; k < 3; k++) l->is_border[face[k]] = 1;
    }
fail:
    free(key);
    free(order);
    return rc;
}

static void drop_joints(hx_tet_lattice *l)
{
    free(l->end);
    free(l->tet_edge);
    free(l->is_border);
    free(l->face);
    l->end = l->tet_edge = l->face = NULL;
    l->is_border = NULL;
    l->n_edge = l->n_face = 0;
}

int hx_tet_lattice_join(hx_tet_lattice *l)
{
    drop_joints(l);
    HX_TRY(join_edges(l));
    return join_border(l);
}

/* --- refinement --- */

/* Four corner tetrahedra, and the octahedron between them split along its shortest diagonal. */
static int refine_tet(hx_tet_lattice *fine, const int32_t *tet, const int32_t *edge, int64_t n_node)
{
    static const int at_corner[4][3] = {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};
    static const int diagonal[3][2] = {{0, 5}, {1, 4}, {2, 3}};
    static const int around[3][4] = {{1, 2, 4, 3}, {0, 2, 5, 3}, {0, 1, 5, 4}};
    int32_t middle[6];
    int best = 0;
    double shortest = HUGE_VAL;
    for (int e = 0; e < 6; e++) middle[e] = (int32_t)(n_node + edge[e]);
    for (int c = 0; c < 4; c++) {
        const int32_t small[4] = {tet[c], middle[at_corner[c][0]], middle[at_corner[c][1]],
                                  middle[at_corner[c][2]]};
        HX_TRY(hx_tet_lattice_add_tet(fine, small));
    }
    for (int k = 0; k < 3; k++) {
        const double *const a = at(fine, middle[diagonal[k][0]]), *const b = at(
                                                                      fine, middle[diagonal[k][1]]);
        double step[3];
        for (int d = 0; d < 3; d++) step[d] = b[d] - a[d];
        const double length = hx_norm3(step);
        if (!(length < shortest)) continue;
        shortest = length;
        best = k;
    }
    for (int i = 0; i < 4; i++) {
        const int32_t small[4] = {middle[diagonal[best][0]], middle[diagonal[best][1]],
                                  middle[around[best][i]], middle[around[best][(i + 1) % 4]]};
        HX_TRY(hx_tet_lattice_add_tet(fine, small));
    }
    return HX_OK;
}

int hx_tet_lattice_refine(hx_tet_lattice *l)
{
    int rc = HX_OK;
    hx_tet_lattice fine = {.xyz = l->xyz, .n_node = l->n_node, .node_room = l->node_room};
    const int64_t n_node = l->n_node;
    l->xyz = NULL;
    for (int64_t e = 0; e < l->n_edge; e++) {
        double x[3];
        int32_t node;
        for (int d = 0; d < 3; d++)
            x[d] = 0.5 * (at(&fine, l->end[2 * e])[d] + at(&fine, l->end[2 * e + 1])[d]);
        HX_TRY_FAIL(hx_tet_lattice_add_node(&fine, x, &node));
    }
    for (int64_t t = 0; t < l->n_tet; t++)
        HX_TRY_FAIL(refine_tet(&fine, l->tet + 4 * t, l->tet_edge + 6 * t, n_node));
    hx_tet_lattice_free(l);
    *l = fine;
    return HX_OK;
fail:
    hx_tet_lattice_free(&fine);
    return rc;
}

void hx_tet_lattice_free(hx_tet_lattice *l)
{
    drop_joints(l);
    free(l->xyz);
    free(l->tet);
    memset(l, 0, sizeof *l);
}
