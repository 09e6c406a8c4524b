/* Finds repeated elements, faces that meet different faces, and nodes on faces that do not use
 * them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "mesh_check.h"
#include "mesh_internal.h"
#include "node_grid.h"

/* A node lies on a face if it is nearer than this fraction of the face's size. */
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

/* Returns an element below e with the nodes of e, or -1. */
static int64_t find_twin(const hx_mesh *mesh, int64_t e)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    const int64_t sum = sum_of_nodes(conn, is_mixed), end = mesh->node_elem_ptr[conn[0] + 1];
    for (int64_t k = mesh->node_elem_ptr[conn[0]]; k < end; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        if (other >= e) break; /* elements ascend */
        if (sum_of_nodes(mesh->conn + 8 * other, is_mixed) != sum) continue;
        if (hx_cell_has_same_points(conn, mesh->conn + 8 * other)) return other;
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
                    "%s: elements %lld and %lld have the same nodes (%lld such %s): the file has "
                    "them twice; keep one of the two",
                    mesh->name, (long long)hx_mesh_elem_number(mesh, find_twin(mesh, last)),
                    (long long)hx_mesh_elem_number(mesh, last), (long long)n,
                    hx_noun(n, "pair", "pairs"));
}

/* --- triangles against other faces --- */

/* The boundary for a search. is_boundary[e] has bit f set if face f is on the boundary. */
typedef struct boundary {
    const hx_mesh *mesh;
    int64_t n_face, *face; /* (owned) */
    uint8_t *is_boundary;  /* NULL if no cells are collapsed (owned) */
} boundary;

/* Returns an element that a boundary face meets incorrectly, -1: none. */
typedef int64_t find_other(const boundary *b, int64_t face);

/* Counts the boundary faces that meet another one incorrectly, and names the first of them with the
 * element that it meets: in a warning if the mesh is kept as it is, otherwise in an error. Both
 * texts take the mesh's name, the elements and the number of triangles. */
static int check_meeting(const boundary *b, find_other *find, const char *warning,
                         const char *error, int keep_apart, hx_notes *notes)
{
    const hx_mesh *mesh = b->mesh;
    int64_t n = 0, first = INT64_MAX;
    if (!b->is_boundary) return HX_OK;
#pragma omp parallel for schedule(static) reduction(+ : n) reduction(min : first)
    for (int64_t i = 0; i < b->n_face; i++) {
        if (find(b, b->face[i]) < 0) continue;
        n++;
        if (b->face[i] < first) first = b->face[i];
    }
    if (n == 0) return HX_OK;
    const long long one = (long long)hx_mesh_elem_number(mesh, first / 6);
    const long long other = (long long)hx_mesh_elem_number(mesh, find(b, first));
    const char *const noun = hx_noun(n, "triangle", "triangles");
    if (keep_apart)
        return hx_notes_add(notes, HX_NOTE_WARNING, warning, mesh->name, one, other, (long long)n,
                            noun);
    return HX_RAISE(HX_EINPUT, error, mesh->name, one, other, (long long)n, noun);
}

/* --- quadrilaterals against triangles --- */

/* Returns another element with a quadrilateral face that has all corners of a triangle, -1:
 * none. */
static int64_t find_quadrilateral(const hx_mesh *mesh, int64_t e, const int32_t node[3])
{
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        for (int f = 0; other != e && f < 6; f++) {
            int32_t own[4];
            int n_interface = 0;
            if (hx_cell_face(mesh->conn + 8 * other, f, own) < 4) continue;
            for (int i = 0; i < 12; i++) n_interface += own[i % 4] == node[i / 4];
            if (n_interface == 3) return other;
        }
    }
    return -1;
}

static int64_t find_below(const boundary *b, int64_t face)
{
    int32_t node[4];
    if (hx_cell_face(b->mesh->conn + 8 * (face / 6), (int)(face % 6), node) != 3) return -1;
    return find_quadrilateral(b->mesh, face / 6, node);
}

/* A bilinear face against two linear ones: displacements agree at the nodes, but not between
 * them. */
static int check_kinds(const boundary *b, int keep_apart, hx_notes *notes)
{
    return check_meeting(
        b, find_below,
        "%s: a triangle of element %lld lies on a quadrilateral of element %lld (%lld such %s): "
        "they are connected only at its nodes",
        "%s: a triangle of element %lld lies on a quadrilateral of element %lld (%lld such %s): "
        "elements must meet at whole faces, so put pyramids between hexahedra and tetrahedra, or "
        "mesh both sides equally (mesh.merge = 0.0 accepts them unchanged)",
        keep_apart, notes);
}

/* --- quadrilaterals cut along both diagonals --- */

static double square_distance(const double *a, const double *b)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++) square += (a[d] - b[d]) * (a[d] - b[d]);
    return square;
}

/* Barycentric coordinates (u, v) of the projection of p on the plane of a triangle, x0 + u (x1 -
 * x0) + v (x2 - x0); returns 0 if p is farther than eps from the plane. */
static int find_shares(const double *x0, const double *x1, const double *x2, const double *p,
                       double eps, double *u, double *v)
{
    double a[3], b[3], r[3], normal[3], turned[3];
    for (int d = 0; d < 3; d++) {
        a[d] = x1[d] - x0[d];
        b[d] = x2[d] - x0[d];
        r[d] = p[d] - x0[d];
    }
    hx_cross3(a, b, normal);
    const double square = hx_dot3(normal, normal);
    if (!(square > 0.0) || !(fabs(hx_dot3(normal, r)) < eps * sqrt(square))) return 0;
    hx_cross3(r, b, turned);
    *u = hx_dot3(turned, normal) / square;
    hx_cross3(a, r, turned);
    *v = hx_dot3(turned, normal) / square;
    return 1;
}

/* Returns 1 if the triangles b c a and b c d overlap: they lie on the same side of their edge, in
 * one plane up to a fraction of its length, and other edges of them cross. If one contained the
 * other's third corner, that would be a hanging node. */
static int do_cross(const double *a, const double *b, const double *c, const double *d, double flat)
{
    const double eps = flat * sqrt(fmax(square_distance(a, b), square_distance(c, b)));
    double s, t;
    if (!find_shares(b, c, a, d, eps, &s, &t) || t <= on_face) return 0;
    return (s > on_face && s + t > 1.0 + on_face) || (s < -on_face && s + t < 1.0 - on_face);
}

/* Returns 1 if a face of the element is a triangle on the boundary with an edge b c; *d: its third
 * corner. */
static int has_triangle(const hx_mesh *mesh, const uint8_t *is_boundary, int64_t e, int f,
                        int32_t b, int32_t c, int32_t *d)
{
    int32_t own[4];
    int n_interface = 0;
    if (!(is_boundary[e] >> f & 1u) || hx_cell_face(mesh->conn + 8 * e, f, own) != 3) return 0;
    for (int i = 0; i < 3; i++) {
        n_interface += own[i] == b || own[i] == c;
        if (own[i] != b && own[i] != c) *d = own[i];
    }
    return n_interface == 2;
}

static int is_on_boundary(const hx_mesh *mesh, const uint8_t *is_boundary, int32_t a, int32_t b,
                          int32_t c)
{
    int32_t d = -1;
    for (int64_t k = mesh->node_elem_ptr[b]; k < mesh->node_elem_ptr[b + 1]; k++)
        for (int f = 0; f < 6; f++)
            if (has_triangle(mesh, is_boundary, mesh->node_elem[k] / 8, f, b, c, &d) && d == a)
                return 1;
    return 0;
}

/* Returns 1 if the triangles of an edge b c with a and with d overlap: in a plane, or, for a warped
 * quadrilateral, as two of four triangles that enclose no volume. */
static int lie_across(const hx_mesh *mesh, const uint8_t *is_boundary, int32_t a, int32_t b,
                      int32_t c, int32_t d)
{
    static const double bent = 0.2;
    const double *const xyz = mesh->xyz;
    const double *const x[4] = {xyz + 3 * (int64_t)a, xyz + 3 * (int64_t)b, xyz + 3 * (int64_t)c,
                                xyz + 3 * (int64_t)d};
    if (a == d || !do_cross(x[0], x[1], x[2], x[3], bent)) return 0;
    return do_cross(x[0], x[1], x[2], x[3], on_face) ||
           (is_on_boundary(mesh, is_boundary, a, b, d) &&
            is_on_boundary(mesh, is_boundary, a, c, d));
}

/* Returns another element with a triangle on the boundary that overlaps that of node[3] and shares
 * its edge starting at node[edge], -1: none. */
static int64_t find_across(const hx_mesh *mesh, const uint8_t *is_boundary, int64_t e,
                           const int32_t node[3], int edge)
{
    const int32_t b = node[edge], c = node[(edge + 1) % 3], a = node[(edge + 2) % 3];
    for (int64_t k = mesh->node_elem_ptr[b]; k < mesh->node_elem_ptr[b + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        for (int f = 0; other != e && f < 6; f++) {
            int32_t d = -1;
            if (has_triangle(mesh, is_boundary, other, f, b, c, &d) &&
                lie_across(mesh, is_boundary, a, b, c, d))
                return other;
        }
    }
    return -1;
}

static int64_t find_crossing(const boundary *b, int64_t face)
{
    int32_t node[4];
    int64_t other = -1;
    if (hx_cell_face(b->mesh->conn + 8 * (face / 6), (int)(face % 6), node) != 3) return -1;
    for (int edge = 0; edge < 3 && other < 0; edge++)
        other = find_across(b->mesh, b->is_boundary, face / 6, node, edge);
    return other;
}

/* Checks for overlapping triangles. */
static int check_diagonals(const boundary *b, int keep_apart, hx_notes *notes)
{
    return check_meeting(
        b, find_crossing,
        "%s: triangles of elements %lld and %lld overlap without being equal (%lld such %s): they "
        "are connected only at their nodes",
        "%s: triangles of elements %lld and %lld overlap without being equal (%lld such %s), like "
        "those of a quadrilateral that is cut along different diagonals on its two sides: elements "
        "must meet at whole faces, so mesh both sides equally (mesh.merge = 0.0 accepts them "
        "unchanged)",
        keep_apart, notes);
}

/* --- hanging nodes --- */

/* A boundary face, and the result of a search on it. */
typedef struct face_search {
    const hx_mesh *mesh;
    int n; /* number of corners: 4 or 3 */
    int32_t node[4];
    double x[4][3];
    double low[3], high[3]; /* its bounding box, widened by eps */
    double eps;
    int32_t hanging; /* the hanging node found, or -1 */
} face_search;

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

/* One Newton step towards the (u, v) in [-1, 1]^2 of the point on the face nearest to p. */
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

static int lies_on_triangle(const face_search *s, const double p[3])
{
    double u, v;
    if (!find_shares(s->x[0], s->x[1], s->x[2], p, s->eps, &u, &v)) return 0;
    return u >= -on_face && v >= -on_face && u + v <= 1.0 + on_face;
}

static int lies_on_face(const face_search *s, const double p[3])
{
    if (s->n == 3) return lies_on_triangle(s, p);
    double uv[2] = {0.0, 0.0}, distance = INFINITY;
    for (int step = 0; step < 8; step++) newton_step(s->x, p, uv, &distance);
    return distance < s->eps && fabs(uv[0]) <= 1.0 + on_face && fabs(uv[1]) <= 1.0 + on_face;
}

/* Examines a node near the face; nodes at its corners are coincident, not hanging. */
static int look_at_near_node(void *context, int32_t node)
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

/* Makes a grid of the nodes of the faces, with cells about twice the size of a face. */
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
    (void)hx_node_grid_visit(grid, s.low, s.high, look_at_near_node, &s);
    const long long node = (long long)hx_mesh_node_number(mesh, s.hanging);
    const long long elem = (long long)hx_mesh_elem_number(mesh, face / 6);
    if (keep_apart)
        return hx_notes_add(notes, HX_NOTE_WARNING,
                            "%s: node %lld lies on a face of element %lld, which does not use it "
                            "(%lld such %s): they are not connected there",
                            mesh->name, node, elem, (long long)n, hx_noun(n, "face", "faces"));
    return HX_RAISE(HX_EINPUT,
                    "%s: node %lld is a hanging node: it lies on a face of element %lld, which "
                    "does not use it (%lld such %s); elements must meet at whole faces, so mesh "
                    "both sides equally (mesh.merge = 0.0 keeps them separate)",
                    mesh->name, node, elem, (long long)n, hx_noun(n, "face", "faces"));
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
        if (!hx_node_grid_visit(&grid, s.low, s.high, look_at_near_node, &s)) continue;
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
    boundary b = {.mesh = mesh};
    int rc;
    HX_TRY(refuse_twins(mesh));
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &b.n_face, &b.face));
    if (hx_mesh_is_collapsed(mesh))
        HX_TRY_FAIL(hx_alloc(&b.is_boundary, (size_t)mesh->n_elem, 1, "flags of boundary faces"));
    for (int64_t i = 0; b.is_boundary && i < b.n_face; i++)
        b.is_boundary[b.face[i] / 6] |= (uint8_t)(1u << b.face[i] % 6);
    HX_TRY_FAIL(check_kinds(&b, keep_apart, notes));
    HX_TRY_FAIL(check_diagonals(&b, keep_apart, notes));
    HX_TRY_FAIL(check_hanging(mesh, b.n_face, b.face, keep_apart, notes));
fail:
    free(b.face);
    free(b.is_boundary);
    return rc;
}
