/* Elements that are there twice, quadrilaterals against triangles, and nodes that lie on faces
 * which do not use them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "mesh_check.h"
#include "mesh_internal.h"
#include "node_grid.h"

/* A node counts as lying on a face when it is nearer than this share of the face's size. */
static const double on_face = 1e-6;

/* --- elements that are there twice --- */

/* Sum of a cell's nodes, each counted once. */
static int64_t sum_of_nodes(const int32_t conn[8], int is_mixed)
{
    int corner[8];
    int64_t sum = 0;
    if (is_mixed) {
        const int n = hx_cell_distinct(conn, corner);
        for (int k = 0; k < n; k++) sum += conn[corner[k]];
        return sum;
    }
    for (int k = 0; k < 8; k++) sum += conn[k];
    return sum;
}

/* Whether a names every node that b does. */
static int names_all(const int32_t a[8], const int32_t b[8])
{
    int n = 0;
    for (int k = 0; k < 8; k++) {
        int named = 0;
        for (int i = 0; i < 8; i++) named |= a[i] == b[k];
        n += named;
    }
    return n == 8;
}

static int have_same_nodes(const int32_t a[8], const int32_t b[8])
{
    return names_all(a, b) && names_all(b, a);
}

/* An element below e with the nodes of e, or -1. */
static int64_t find_twin(const hx_mesh *mesh, int64_t e)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    const int64_t sum = sum_of_nodes(conn, is_mixed), end = mesh->node_elem_ptr[conn[0] + 1];
    for (int64_t k = mesh->node_elem_ptr[conn[0]]; k < end; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        if (other >= e) break; /* they ascend */
        if (sum_of_nodes(mesh->conn + 8 * other, is_mixed) != sum) continue;
        if (have_same_nodes(conn, mesh->conn + 8 * other)) return other;
    }
    return -1;
}

static int refuse_twins(const hx_mesh *mesh)
{
    int64_t n = 0, last = -1;
#pragma omp parallel for schedule(static) reduction(+ : n) reduction(max : last)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (find_twin(mesh, e) < 0) continue;
        n++;
        if (e > last) last = e;
    }
    if (n == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: elements %lld and %lld have the same nodes (%lld such pairs): the mesh "
                    "must hold each of them once",
                    mesh->name, (long long)hx_mesh_elem_number(mesh, find_twin(mesh, last)),
                    (long long)hx_mesh_elem_number(mesh, last), (long long)n);
}

/* --- quadrilaterals against triangles --- */

/* Another element with a quadrilateral face that has all corners of a triangle, -1: none. */
static int64_t find_quadrilateral(const hx_mesh *mesh, int64_t e, const int32_t node[3])
{
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        for (int f = 0; other != e && f < 6; f++) {
            int32_t own[4];
            int n_common = 0;
            if (hx_cell_face(mesh->conn + 8 * other, f, own) < 4) continue;
            for (int i = 0; i < 12; i++) n_common += own[i % 4] == node[i / 4];
            if (n_common == 3) return other;
        }
    }
    return -1;
}

/* Nodes agree there, displacements do not: a bilinear face against two linear ones. */
static int check_kinds(const hx_mesh *mesh, int64_t n_face, const int64_t *face, int keep_apart,
                       hx_notes *notes)
{
    int64_t n = 0, first = INT64_MAX;
    int32_t node[4];
    if (!hx_mesh_is_collapsed(mesh)) return HX_OK;
#pragma omp parallel for schedule(static) reduction(+ : n) reduction(min : first) private(node)
    for (int64_t i = 0; i < n_face; i++) {
        const int64_t e = face[i] / 6;
        if (hx_cell_face(mesh->conn + 8 * e, (int)(face[i] % 6), node) != 3) continue;
        if (find_quadrilateral(mesh, e, node) < 0) continue;
        n++;
        if (face[i] < first) first = face[i];
    }
    if (n == 0) return HX_OK;
    (void)hx_cell_face(mesh->conn + 8 * (first / 6), (int)(first % 6), node);
    const long long one = (long long)hx_mesh_elem_number(mesh, first / 6);
    const long long other =
        (long long)hx_mesh_elem_number(mesh, find_quadrilateral(mesh, first / 6, node));
    if (keep_apart)
        return hx_notes_add(notes, HX_NOTE_WARNING,
                            "%s: a triangle of element %lld lies on a quadrilateral of element "
                            "%lld (%lld such triangles): they are connected at its nodes only",
                            mesh->name, one, other, (long long)n);
    return HX_RAISE(HX_EINPUT,
                    "%s: a triangle of element %lld lies on a quadrilateral of element %lld (%lld "
                    "such triangles): elements must meet at whole faces, so put pyramids between "
                    "hexahedra and tetrahedra, or mesh the two sides alike (mesh.merge = 0.0 "
                    "takes them as they are)",
                    mesh->name, one, other, (long long)n);
}

/* --- hanging nodes --- */

/* A boundary face, and what a search on it found. */
typedef struct face_search {
    const hx_mesh *mesh;
    int n; /* corners: 4, or 3 */
    int32_t node[4];
    double x[4][3];
    double low[3], high[3]; /* its box, widened by eps */
    double eps;
    int32_t hanging; /* the node found, or -1 */
} face_search;

static double square_distance(const double *a, const double *b)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++) square += (a[d] - b[d]) * (a[d] - b[d]);
    return square;
}

static void open_face(const hx_mesh *mesh, int64_t face, face_search *s)
{
    double size = 0.0;
    s->mesh = mesh;
    s->hanging = -1;
    s->n = hx_cell_face(mesh->conn + 8 * (face / 6), (int)(face % 6), s->node);
    for (int k = 0; k < s->n; k++)
        memcpy(s->x[k], mesh->xyz + 3 * (int64_t)s->node[k], sizeof s->x[k]);
    for (int k = 0; k < s->n; k++)
        size = fmax(size, square_distance(s->x[k], s->x[(k + 1) % s->n]));
    s->eps = on_face * sqrt(size);
    for (int d = 0; d < 3; d++) {
        s->low[d] = s->high[d] = s->x[0][d];
        for (int k = 1; k < s->n; k++) {
            s->low[d] = fmin(s->low[d], s->x[k][d]);
            s->high[d] = fmax(s->high[d], s->x[k][d]);
        }
        s->low[d] -= s->eps;
        s->high[d] += s->eps;
    }
}

/* One Newton step towards the (u, v) in [-1, 1]^2 whose place on the face is nearest to p. */
static void newton_step(const double x[4][3], const double p[3], double uv[2], double *distance)
{
    double a[3], b[3], r[3], aa = 0.0, ab = 0.0, bb = 0.0, ar = 0.0, br = 0.0, rr = 0.0;
    const double u = uv[0], v = uv[1];
    for (int d = 0; d < 3; d++) {
        const double at =
            0.25 * ((1.0 - u) * (1.0 - v) * x[0][d] + (1.0 + u) * (1.0 - v) * x[1][d] +
                    (1.0 + u) * (1.0 + v) * x[2][d] + (1.0 - u) * (1.0 + v) * x[3][d]);
        a[d] = 0.25 * ((1.0 - v) * (x[1][d] - x[0][d]) + (1.0 + v) * (x[2][d] - x[3][d]));
        b[d] = 0.25 * ((1.0 - u) * (x[3][d] - x[0][d]) + (1.0 + u) * (x[2][d] - x[1][d]));
        r[d] = p[d] - at;
        aa += a[d] * a[d];
        ab += a[d] * b[d];
        bb += b[d] * b[d];
        ar += a[d] * r[d];
        br += b[d] * r[d];
        rr += r[d] * r[d];
    }
    *distance = sqrt(rr);
    const double det = aa * bb - ab * ab;
    if (!(det > 0.0)) return;
    uv[0] += (bb * ar - ab * br) / det;
    uv[1] += (aa * br - ab * ar) / det;
}

/* By the shares of the corners in the point's foot on the plane. */
static int lies_on_triangle(const face_search *s, const double p[3])
{
    double a[3], b[3], r[3], normal[3], turned[3];
    for (int d = 0; d < 3; d++) {
        a[d] = s->x[1][d] - s->x[0][d];
        b[d] = s->x[2][d] - s->x[0][d];
        r[d] = p[d] - s->x[0][d];
    }
    hx_cross3(a, b, normal);
    const double square = hx_dot3(normal, normal);
    if (!(square > 0.0) || !(fabs(hx_dot3(normal, r)) < s->eps * sqrt(square))) return 0;
    hx_cross3(r, b, turned);
    const double u = hx_dot3(turned, normal) / square;
    hx_cross3(a, r, turned);
    const double v = hx_dot3(turned, normal) / square;
    return u >= -on_face && v >= -on_face && u + v <= 1.0 + on_face;
}

static int lies_on_face(const face_search *s, const double p[3])
{
    if (s->n == 3) return lies_on_triangle(s, p);
    double uv[2] = {0.0, 0.0}, distance = INFINITY;
    for (int step = 0; step < 8; step++) newton_step(s->x, p, uv, &distance);
    return distance < s->eps && fabs(uv[0]) <= 1.0 + on_face && fabs(uv[1]) <= 1.0 + on_face;
}

/* Of a node near the face; nodes at its corners are coincident, not hanging. */
static int look_at(void *context, int32_t node)
{
    face_search *const s = context;
    const double *const p = s->mesh->xyz + 3 * (int64_t)node;
    for (int d = 0; d < 3; d++)
        if (p[d] < s->low[d] || p[d] > s->high[d]) return 0;
    for (int k = 0; k < s->n; k++)
        if (node == s->node[k] || square_distance(p, s->x[k]) <= s->eps * s->eps) return 0;
    if (!lies_on_face(s, p)) return 0;
    s->hanging = node;
    return 1;
}

/* A grid with the nodes of the faces, of cells about twice a face's size. */
static int make_grid(const hx_mesh *mesh, int64_t n_face, const int64_t *face, hx_node_grid *grid)
{
    uint8_t *is_in = NULL;
    double size = 0.0;
    for (int64_t i = 0; i < n_face; i++) {
        face_search s;
        open_face(mesh, face[i], &s);
        size += s.eps / on_face / (double)n_face;
    }
    HX_TRY(hx_alloc(&is_in, (size_t)mesh->n_node, 1, "nodes of the boundary"));
    const int rc = hx_node_grid_create(grid, mesh->n_node, mesh->xyz, n_face, 2.0 * size);
    for (int64_t i = 0; i < 4 * n_face && rc == HX_OK; i++) {
        const int32_t a = mesh->conn[8 * (face[i / 4] / 6) + hx_hex_face[face[i / 4] % 6][i % 4]];
        if (!is_in[a]) hx_node_grid_put(grid, a);
        is_in[a] = 1;
    }
    free(is_in);
    return rc;
}

static int report_hanging(const hx_mesh *mesh, int64_t face, int64_t n, int keep_apart,
                          const hx_node_grid *grid, hx_notes *notes)
{
    face_search s;
    open_face(mesh, face, &s);
    (void)hx_node_grid_visit(grid, s.low, s.high, look_at, &s);
    const long long node = (long long)hx_mesh_node_number(mesh, s.hanging);
    const long long elem = (long long)hx_mesh_elem_number(mesh, face / 6);
    if (keep_apart)
        return hx_notes_add(notes, HX_NOTE_WARNING,
                            "%s: node %lld lies on a face of element %lld, which does not use it "
                            "(%lld such faces): they are not connected there",
                            mesh->name, node, elem, (long long)n);
    return HX_RAISE(HX_EINPUT,
                    "%s: node %lld hangs: it lies on a face of element %lld, which does not use it "
                    "(%lld such faces); elements must meet at whole faces, so mesh the two sides "
                    "alike (mesh.merge = 0.0 keeps them apart)",
                    mesh->name, node, elem, (long long)n);
}

static int check_hanging(const hx_mesh *mesh, int64_t n_face, const int64_t *face, int keep_apart,
                         hx_notes *notes)
{
    int rc = HX_OK;
    int64_t n = 0, first = INT64_MAX;
    hx_node_grid grid;
    memset(&grid, 0, sizeof grid);
    HX_TRY_FAIL(make_grid(mesh, n_face, face, &grid));
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : n) reduction(min : first)
    for (int64_t i = 0; i < n_face; i++) {
        face_search s;
        open_face(mesh, face[i], &s);
        if (!hx_node_grid_visit(&grid, s.low, s.high, look_at, &s)) continue;
        n++;
        if (face[i] < first) first = face[i];
    }
    if (n > 0) rc = report_hanging(mesh, first, n, keep_apart, &grid, notes);
fail:
    hx_node_grid_free(&grid);
    return rc;
}

int hx_mesh_check_conforming(const hx_mesh *mesh, int keep_apart, hx_notes *notes)
{
    int rc;
    int64_t n_face = 0, *face = NULL;
    HX_TRY(refuse_twins(mesh));
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    HX_TRY_FAIL(check_kinds(mesh, n_face, face, keep_apart, notes));
    HX_TRY_FAIL(check_hanging(mesh, n_face, face, keep_apart, notes));
fail:
    free(face);
    return rc;
}
