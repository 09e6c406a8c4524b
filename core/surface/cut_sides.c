/* Which nodes of the tetrahedra are inside the surface, and where it crosses edges.
 *
 * The surface may lie on faces, edges and nodes of the mesh: caps on its boundary, and any flat
 * side at a plane of its nodes. A ray from a node that the surface contains decides nothing, so
 * such a node is classified by its tetrahedra, each seen from a point inside it: a node of which
 * all are inside is inside, though it lies on a cap; one with tetrahedra on both sides is on the
 * surface. Tetrahedra that only touch the surface from outside are removed first, so that its sides
 * on planes of the mesh become the boundary: nodes slide along it, and edges on it are cut. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "cut_internal.h"

/* A node on the mesh's boundary is classified at a point this fraction of the way to the centre of
 * its tetrahedra, because the surface may almost coincide with the boundary. */
static const double inwards = 1e-3;

/* The point from which a tetrahedron is seen at one of its nodes: this fraction of the way from the
 * node to its centre. */
static const double into_tet = 2e-3;

/* A node contains the surface within this fraction of its mean edge, and within the rounding of
 * coordinates in single precision, in which files store them. */
static const double on_node = 1e-5, single_rounding = 1.2e-7;

/* The crossing of an edge on the boundary is searched slightly inwards, and then moves to the edge
 * itself by at most this fraction of it. */
static const double beside = 0.02;

static void find_middle(const hx_tet_lattice *l, int64_t t, double x[3])
{
    for (int d = 0; d < 3; d++) {
        x[d] = 0.0;
        for (int i = 0; i < 4; i++) x[d] += 0.25 * l->xyz[3 * (int64_t)l->tet[4 * t + i] + d];
    }
}

/* x := the point at which node a is classified: on the boundary slightly inwards. */
static void find_seen(const hx_cutter *c, int64_t a, double x[3])
{
    const int64_t begin = c->tets.first[a], end = c->tets.first[a + 1];
    double sum[3] = {0.0, 0.0, 0.0}, middle[3];
    memcpy(x, hx_cut_place(c, a), sizeof middle);
    if (!c->lattice.is_border[a] || end == begin) return;
    for (int64_t k = begin; k < end; k++) {
        find_middle(&c->lattice, c->tets.item[k], middle);
        for (int d = 0; d < 3; d++) sum[d] += middle[d];
    }
    for (int d = 0; d < 3; d++) x[d] += inwards * (sum[d] / (double)(end - begin) - x[d]);
}

/* The distance within which node a contains the surface: length. */
static double tolerance(const hx_cutter *c, int64_t a)
{
    const hx_tet_lattice *const l = &c->lattice;
    const double *const x = hx_cut_place(c, a);
    const int64_t begin = c->edges.first[a], end = c->edges.first[a + 1];
    double sum = 0.0, most = 0.0;
    for (int64_t k = begin; k < end; k++) {
        const int32_t *const node = l->end + 2 * (int64_t)c->edges.item[k];
        double step[3];
        for (int d = 0; d < 3; d++)
            step[d] = hx_cut_place(c, node[1])[d] - hx_cut_place(c, node[0])[d];
        sum += hx_norm3(step);
    }
    for (int d = 0; d < 3; d++) most = fmax(most, fabs(x[d]));
    return fmax(end > begin ? on_node * sum / (double)(end - begin) : 0.0, single_rounding * most);
}

static int touches(const hx_cutter *c, int64_t a)
{
    return hx_triangle_tree_touches(&c->tree, hx_cut_place(c, a), tolerance(c, a));
}

/* 1 if tetrahedron t is inside the surface near its node a. */
static int is_inside_at(const hx_cutter *c, int64_t t, int64_t a)
{
    double x[3];
    find_middle(&c->lattice, t, x);
    for (int d = 0; d < 3; d++) {
        const double here = hx_cut_place(c, a)[d];
        x[d] = here + into_tet * (x[d] - here);
    }
    return hx_triangle_tree_inside(&c->tree, x);
}

/* The side of a node that contains the surface, by its tetrahedra. */
static int side_by_tets(const hx_cutter *c, int64_t a)
{
    const int64_t begin = c->tets.first[a], end = c->tets.first[a + 1];
    int64_t n_in = 0;
    for (int64_t k = begin; k < end; k++) {
        n_in += is_inside_at(c, c->tets.item[k], a);
        if (n_in > 0 && n_in < k - begin + 1) return HX_CUT_ON;
    }
    return n_in > 0 ? HX_CUT_IN : HX_CUT_OUT;
}

static int side_of(const hx_cutter *c, int64_t a)
{
    double x[3];
    if (touches(c, a)) return side_by_tets(c, a);
    find_seen(c, a, x);
    return hx_triangle_tree_inside(&c->tree, x) ? HX_CUT_IN : HX_CUT_OUT;
}

/* The ends between which the crossing of the edge from a to b is searched. Where tetrahedra were
 * removed, those that are left at b may lie on the wrong side of the boundary, so both ends move
 * into one tetrahedron of the edge. */
static void find_ends(const hx_cutter *c, int64_t a, int64_t b, double x[3], double y[3])
{
    double middle[3];
    find_seen(c, a, x);
    find_seen(c, b, y);
    if (!c->is_beside[a] && !c->is_beside[b]) return;
    for (int64_t k = c->tets.first[a]; k < c->tets.first[a + 1]; k++) {
        const int32_t *const tet = c->lattice.tet + 4 * (int64_t)c->tets.item[k];
        if (tet[0] != b && tet[1] != b && tet[2] != b && tet[3] != b) continue;
        find_middle(&c->lattice, c->tets.item[k], middle);
        for (int d = 0; d < 3; d++) {
            x[d] = hx_cut_place(c, a)[d] + inwards * (middle[d] - hx_cut_place(c, a)[d]);
            y[d] = hx_cut_place(c, b)[d] + inwards * (middle[d] - hx_cut_place(c, b)[d]);
        }
        return;
    }
}

/* Moves the crossing found near an edge on the boundary to where the edge itself
 * from a to b meets the plane of that triangle, so that flat sides remain flat. */
static double share_on_edge(const hx_cutter *c, int64_t a, int64_t b, int32_t tri, double share)
{
    const double *p[3], *const x = hx_cut_place(c, a);
    double n[3], way[3], from[3];
    hx_triangle_corners(c->tree.surface, c->tree.surface->xyz, tri, p);
    hx_triangle_normal2(p[0], p[1], p[2], n);
    for (int d = 0; d < 3; d++) {
        way[d] = hx_cut_place(c, b)[d] - x[d];
        from[d] = p[0][d] - x[d];
    }
    const double along = hx_dot3(n, way);
    if (!(fabs(along) > 0.0)) return share;
    const double exact = hx_dot3(n, from) / along;
    return fabs(exact - share) <= beside ? fmin(fmax(exact, 0.0), 1.0) : share;
}

/* Finds crossings of edges between the two sides. If rounding prevents it, the cut is placed at the
 * outside node. */
static int find_crossings(hx_cutter *c)
{
    const hx_tet_lattice *const l = &c->lattice;
    HX_TRY(hx_alloc_raw(&c->share, (size_t)l->n_edge, sizeof *c->share, "cut cells"));
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t e = 0; e < l->n_edge; e++) {
        const int32_t *const end = l->end + 2 * e;
        const int is_first_in = c->side[end[0]] == HX_CUT_IN;
        const int64_t in = end[!is_first_in], out = end[is_first_in];
        double share = 1.0, x[3], y[3];
        int32_t tri;
        c->share[e] = (double)NAN;
        if (c->side[end[0]] * c->side[end[1]] >= 0) continue;
        find_ends(c, in, out, x, y);
        if (!hx_triangle_tree_first(&c->tree, x, y, &share, &tri))
            share = 1.0;
        else if (l->is_border[in] || l->is_border[out])
            share = share_on_edge(c, in, out, tri, share);
        c->share[e] = is_first_in ? share : 1.0 - share;
    }
    return HX_OK;
}

/* 1 if tetrahedron t only touches the surface from outside. */
static int is_beside(const hx_cutter *c, int64_t t)
{
    const int32_t *const tet = c->lattice.tet + 4 * t;
    int n_on = 0;
    for (int i = 0; i < 4; i++) {
        if (c->side[tet[i]] == HX_CUT_IN) return 0;
        n_on += c->side[tet[i]] == HX_CUT_ON;
    }
    for (int i = 0; n_on > 0 && i < 4; i++)
        if (c->side[tet[i]] == HX_CUT_ON && is_inside_at(c, t, tet[i])) return 0;
    return n_on > 0;
}

/* Removes these tetrahedra; their number goes to *n_gone. */
static int drop_beside(hx_cutter *c, int64_t *n_gone)
{
    hx_tet_lattice *const l = &c->lattice;
    uint8_t *is_gone = NULL;
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&is_gone, (size_t)l->n_tet, 1, "cut cells"));
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < l->n_tet; t++) is_gone[t] = (uint8_t)is_beside(c, t);
    for (int64_t t = 0; t < l->n_tet; t++)
        if (is_gone[t])
            for (int i = 0; i < 4; i++) c->is_beside[l->tet[4 * t + i]] = 1;
        else
            memmove(l->tet + 4 * n++, l->tet + 4 * t, 4 * sizeof *l->tet);
    *n_gone = l->n_tet - n;
    l->n_tet = n;
    free(is_gone);
    return HX_OK;
}

static int join_tetrahedra(hx_cutter *c)
{
    hx_tet_lattice *const l = &c->lattice;
    hx_incidence_free(&c->edges);
    hx_incidence_free(&c->tets);
    hx_incidence_free(&c->faces);
    HX_TRY(hx_tet_lattice_join(l));
    HX_TRY(hx_incidence_create(&c->edges, l->n_node, l->n_edge, 2, l->end));
    HX_TRY(hx_incidence_create(&c->tets, l->n_node, l->n_tet, 4, l->tet));
    return hx_incidence_create(&c->faces, l->n_node, l->n_face, 3, l->face);
}

static void classify_nodes(hx_cutter *c)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t a = 0; a < c->lattice.n_node; a++) c->side[a] = (int8_t)side_of(c, a);
}

int hx_cut_find_sides(hx_cutter *c)
{
    int64_t n_gone = 0;
    HX_TRY(join_tetrahedra(c));
    HX_TRY(hx_alloc_raw(&c->side, (size_t)c->lattice.n_node, 1, "cut cells"));
    HX_TRY(hx_alloc(&c->is_beside, (size_t)c->lattice.n_node, 1, "cut cells"));
    classify_nodes(c);
    HX_TRY(drop_beside(c, &n_gone));
    if (n_gone > 0) {
        HX_TRY(join_tetrahedra(c));
        classify_nodes(c);
    }
    return find_crossings(c);
}
