/* Elements that were inverted because a node lies outside the elements around it. Another order of
 * nodes makes each of these elements valid, but the mesh remains wrong. */
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "mesh_check.h"
#include "mesh_internal.h"

typedef struct sides {
    const hx_mesh *mesh;
    const uint8_t *repaired; /* [n_elem] (borrowed) */
    int64_t *ptr;            /* incidences, as in hx_mesh (owned) */
    uint32_t *list;
    int repaired_are_few; /* 1: corrected elements are assumed to be wrong, not the others */
} sides;

/* Returns 1 if two rings of n nodes are equal with the same orientation. Rings run
 * counter-clockwise seen from outside, so valid elements with equal rings lie on one side of the
 * face. */
static int run_alike(int n, const int32_t *a, const int32_t *b)
{
    int first = 0, n_same = 0;
    while (first < n && b[first] != a[0]) first++;
    for (int i = 0; first < n && i < n; i++) n_same += b[(first + i) % n] == a[i];
    return n_same == n;
}

static int has_ring(const int32_t conn[8], int n, const int32_t *ring)
{
    for (int f = 0; f < 6; f++) {
        int32_t own[4];
        if (hx_cell_face(conn, f, own) == n && run_alike(n, ring, own)) return 1;
    }
    return 0;
}

/* Returns a valid element on the same side of a face of e as e, -1: none. Equal elements are a
 * different error. */
static int64_t find_beside(const sides *s, int64_t e, int face)
{
    const hx_mesh *mesh = s->mesh;
    const int32_t *const own = mesh->conn + 8 * e;
    int32_t ring[4];
    const int n = hx_cell_face(own, face, ring);
    if (n < 3) return -1;
    for (int64_t k = s->ptr[ring[0]]; k < s->ptr[ring[0] + 1]; k++) {
        const int64_t other = s->list[k] / 8;
        const int32_t *const conn = mesh->conn + 8 * other;
        if (other == e || !has_ring(conn, n, ring) || hx_cell_has_same_points(own, conn)) continue;
        if (hx_mesh_is_valid_element(mesh->xyz, conn)) return other;
    }
    return -1;
}

/* Counts the faces of corrected element e that have another element on the same side; *other: that
 * element at the first such face. */
static int count_beside(const sides *s, int64_t e, int64_t *other)
{
    int n = 0;
    *other = -1;
    if (!s->repaired[e] || !hx_mesh_is_valid_element(s->mesh->xyz, s->mesh->conn + 8 * e)) return 0;
    for (int f = 0; f < 6; f++) {
        const int64_t beside = find_beside(s, e, f);
        n += beside >= 0;
        if (*other < 0) *other = beside;
    }
    return n;
}

static int is_at_fault(const sides *s, int64_t e)
{
    return (s->repaired[e] != 0) == s->repaired_are_few;
}

/* Counts the wrong elements at a node, and computes the node's distance from the middle of all its
 * elements. */
static int64_t look_around(const sides *s, int32_t node, double *distance)
{
    const hx_mesh *mesh = s->mesh;
    double off[3] = {0.0, 0.0, 0.0};
    int64_t n = 0, n_elem = 0, last = -1;
    for (int64_t k = s->ptr[node]; k < s->ptr[node + 1]; k++) {
        double c[3];
        const int64_t e = s->list[k] / 8;
        if (e == last) continue; /* corners of one element are consecutive */
        last = e;
        n_elem++;
        n += is_at_fault(s, e);
        hx_cell_centroid(mesh->xyz, mesh->conn + 8 * e, c);
        for (int d = 0; d < 3; d++) off[d] += c[d] - mesh->xyz[3 * (int64_t)node + d];
    }
    *distance = hx_norm3(off) / (double)n_elem;
    return n;
}

/* Returns the corner of e that belongs to the most wrong elements; among several the most distant
 * one. */
static int32_t find_moved(const sides *s, int64_t e)
{
    int32_t moved = -1;
    int64_t most = -1;
    double furthest = 0.0;
    for (int a = 0; a < 8; a++) {
        double distance;
        const int32_t node = s->mesh->conn[8 * e + a];
        const int64_t n = look_around(s, node, &distance);
        if (n < most || (n == most && distance <= furthest)) continue;
        most = n;
        furthest = distance;
        moved = node;
    }
    return moved;
}

static int refuse_overlap(const sides *s, int64_t e, int64_t other, int64_t n_elem)
{
    const hx_mesh *mesh = s->mesh;
    const int32_t node = find_moved(s, is_at_fault(s, e) ? e : other);
    const double *const x = mesh->xyz + 3 * (int64_t)node;
    return HX_RAISE(HX_EINPUT,
                    "%s: elements %lld and %lld lie on the same side of the face that they share "
                    "(%lld such %s), so elements overlap: node %lld at (%g, %g, %g) seems to lie "
                    "outside the elements around it; move it inside, or remesh",
                    mesh->name, (long long)hx_mesh_elem_number(mesh, e),
                    (long long)hx_mesh_elem_number(mesh, other), (long long)n_elem,
                    hx_noun(n_elem, "element", "elements"),
                    (long long)hx_mesh_node_number(mesh, node), x[0], x[1], x[2]);
}

static int check_sides(sides *s, int64_t n_repaired)
{
    const int64_t n_elem = s->mesh->n_elem;
    int64_t n = 0, first = INT64_MAX, other;
    s->repaired_are_few = 2 * n_repaired <= n_elem;
    HX_TRY(hx_mesh_build_incidence(s->mesh, &s->ptr, &s->list));
#pragma omp parallel for schedule(static) reduction(+ : n) reduction(min : first)
    for (int64_t e = 0; e < n_elem; e++) {
        int64_t beside;
        if (count_beside(s, e, &beside) == 0) continue;
        n++;
        if (e < first) first = e;
    }
    if (n == 0) return HX_OK;
    (void)count_beside(s, first, &other);
    return refuse_overlap(s, first, other, n);
}

int hx_mesh_check_repaired(const hx_mesh *mesh, const uint8_t *repaired)
{
    sides s = {.mesh = mesh, .repaired = repaired};
    int64_t n_repaired = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_repaired)
    for (int64_t e = 0; e < mesh->n_elem; e++) n_repaired += repaired[e] != 0;
    const int rc = n_repaired > 0 ? check_sides(&s, n_repaired) : HX_OK;
    free(s.ptr);
    free(s.list);
    return rc;
}
