#include "cut_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "cut_internal.h"

/* A node moves onto the surface if the surface is within this fraction of an edge (`near`). A node
 * that must not move counts as on the surface within the fraction `at_node`. */
static const double near = 0.3, at_node = 0.08;

/* After a move, every tetrahedron must have at least this quality, or this fraction of its former
 * quality. */
static const double good = 0.2, kept_share = 0.5;

/* Cells within this fraction of their size of the surface are kept, so that nodes which are on it
 * within `at_node` have cells on both sides. */
static const double beside = 0.1;

/* Cuts keep this fraction of an edge from both ends. */
static const double margin = 0.04;

static void cutter_free(hx_cutter *c)
{
    hx_triangle_tree_free(&c->tree);
    hx_tet_lattice_free(&c->lattice);
    hx_tet_lattice_free(&c->result);
    hx_incidence_free(&c->edges);
    hx_incidence_free(&c->tets);
    hx_incidence_free(&c->faces);
    free(c->side);
    free(c->is_beside);
    free(c->was_in);
    free(c->share);
}

/* --- cells around the surface --- */

static int is_around(const hx_triangle_tree *tree, const hx_mesh *mesh, int64_t e)
{
    double low[3], high[3], middle[3];
    for (int d = 0; d < 3; d++) {
        low[d] = HUGE_VAL;
        high[d] = -HUGE_VAL;
        for (int a = 0; a < 8; a++) {
            const double x = mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d];
            low[d] = fmin(low[d], x);
            high[d] = fmax(high[d], x);
        }
    }
    for (int d = 0; d < 3; d++) {
        const double more = beside * (high[d] - low[d]);
        low[d] -= more;
        high[d] += more;
    }
    if (hx_triangle_tree_meets(tree, low, high)) return 1;
    hx_mesh_centroid(mesh, e, middle);
    return hx_triangle_tree_inside(tree, middle);
}

static int select_cells(const hx_triangle_tree *tree, const hx_mesh *mesh, uint8_t **is_kept)
{
    HX_TRY(hx_alloc_raw(is_kept, (size_t)mesh->n_elem, 1, "cells to cut"));
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t e = 0; e < mesh->n_elem; e++) (*is_kept)[e] = (uint8_t)is_around(tree, mesh, e);
    return HX_OK;
}

static int split_cells(hx_cutter *c, const hx_surface *surface, const hx_mesh *mesh)
{
    uint8_t *is_kept = NULL;
    HX_TRY(hx_triangle_tree_create(&c->tree, surface));
    int rc = select_cells(&c->tree, mesh, &is_kept);
    if (rc == HX_OK) rc = hx_tet_lattice_split(&c->lattice, mesh, is_kept);
    free(is_kept);
    return rc;
}

int hx_cut_mesh_count(const hx_surface *surface, const hx_mesh *mesh, int64_t *n_tet)
{
    hx_cutter c;
    memset(&c, 0, sizeof c);
    const int rc = split_cells(&c, surface, mesh);
    *n_tet = c.lattice.n_tet;
    cutter_free(&c);
    return rc;
}

/* --- nodes onto the surface --- */

static int has_node(const int32_t *tet, int32_t node)
{
    return tet[0] == node || tet[1] == node || tet[2] == node || tet[3] == node;
}

/* 1 if the tetrahedron at this boundary face of node a had no node inside before nodes moved. */
static int is_face_outside(const hx_cutter *c, int64_t a, const int32_t face[3])
{
    for (int64_t k = c->tets.first[a]; k < c->tets.first[a + 1]; k++) {
        const int32_t *const t = c->lattice.tet + 4 * (int64_t)c->tets.item[k];
        if (!has_node(t, face[0]) || !has_node(t, face[1]) || !has_node(t, face[2])) continue;
        return !c->was_in[t[0]] && !c->was_in[t[1]] && !c->was_in[t[2]] && !c->was_in[t[3]];
    }
    return 0;
}

/* A boundary node must stay on the boundary, so the step must lie in all boundary faces of the
 * node. Faces outside do not count: they may be where the cells around the surface end. */
static int may_slide(const hx_cutter *c, int64_t a, const double step[3])
{
    const hx_tet_lattice *const l = &c->lattice;
    if (!l->is_border[a]) return 1;
    const double length = hx_norm3(step);
    for (int64_t k = c->faces.first[a]; k < c->faces.first[a + 1]; k++) {
        const int32_t *const face = l->face + 3 * (int64_t)c->faces.item[k];
        double n[3];
        if (is_face_outside(c, a, face)) continue;
        hx_triangle_normal2(hx_cut_place(c, face[0]), hx_cut_place(c, face[1]),
                            hx_cut_place(c, face[2]), n);
        if (fabs(hx_dot3(n, step)) > 0.02 * hx_norm3(n) * length) return 0;
    }
    return 1;
}

/* 1 if the tetrahedra of node a keep a sufficient quality with a at x. */
static int may_move(hx_cutter *c, int64_t a, const double x[3])
{
    const hx_tet_lattice *const l = &c->lattice;
    const double old[3] = {hx_cut_place(c, a)[0], hx_cut_place(c, a)[1], hx_cut_place(c, a)[2]};
    int is_good = 1;
    for (int64_t k = c->tets.first[a]; is_good && k < c->tets.first[a + 1]; k++) {
        const int32_t *const t = l->tet + 4 * (int64_t)c->tets.item[k];
        const double before = hx_tet_quality(hx_cut_place(c, t[0]), hx_cut_place(c, t[1]),
                                             hx_cut_place(c, t[2]), hx_cut_place(c, t[3]));
        memcpy(hx_cut_place(c, a), x, sizeof old);
        const double now = hx_tet_quality(hx_cut_place(c, t[0]), hx_cut_place(c, t[1]),
                                          hx_cut_place(c, t[2]), hx_cut_place(c, t[3]));
        memcpy(hx_cut_place(c, a), old, sizeof old);
        is_good = now >= fmin(good, kept_share * before);
    }
    return is_good;
}

/* Moves the node to the nearest admissible cut; returns 1 if it is on the surface now. */
static int snap(hx_cutter *c, int64_t a)
{
    double best = HUGE_VAL, place[3] = {0.0, 0.0, 0.0}, least = 1.0;
    for (int64_t k = c->edges.first[a]; k < c->edges.first[a + 1]; k++) {
        const int64_t edge = c->edges.item[k];
        int32_t other;
        double step[3], x[3];
        if (isnan(c->share[edge])) continue;
        /* The other node of an edge, and the fraction of the edge from a to its cut. */
        const int32_t *const end = c->lattice.end + 2 * edge;
        other = end[0] == a ? end[1] : end[0];
        const double share = end[0] == a ? c->share[edge] : 1.0 - c->share[edge];
        if (c->side[other] == HX_CUT_ON) continue;
        least = fmin(least, share);
        for (int d = 0; d < 3; d++) {
            step[d] = share * (hx_cut_place(c, other)[d] - hx_cut_place(c, a)[d]);
            x[d] = hx_cut_place(c, a)[d] + step[d];
        }
        const double length = hx_norm3(step);
        if (share > near || length >= best) continue;
        if (length > 0.0 && (!may_slide(c, a, step) || !may_move(c, a, x))) continue;
        best = length;
        memcpy(place, x, sizeof place);
    }
    if (best < HUGE_VAL) {
        memcpy(hx_cut_place(c, a), place, sizeof place);
        c->n_moved++;
        return 1;
    }
    return least < at_node;
}

/* --- cutting --- */

static int local_edge(int i, int k)
{
    for (int e = 0; e < 6; e++)
        if ((hx_tet_edge[e][0] == i && hx_tet_edge[e][1] == k) ||
            (hx_tet_edge[e][0] == k && hx_tet_edge[e][1] == i))
            return e;
    return 0;
}

/* Lists the corners of the part of a tetrahedron's face that is not outside; returns their
 * number. */
static int clip_face(const hx_cutter *c, int64_t t, int f, const int32_t *number, int32_t corner[8])
{
    const int32_t *const tet = c->lattice.tet + 4 * t;
    int n = 0, n_in = 0;
    for (int i = 0; i < 3; i++) {
        const int here = hx_tet_face[f][i], next = hx_tet_face[f][(i + 1) % 3];
        if (c->side[tet[here]] != HX_CUT_OUT) corner[n++] = tet[here];
        n_in += c->side[tet[here]] == HX_CUT_IN;
        if (c->side[tet[here]] * c->side[tet[next]] < 0)
            corner[n++] = number[c->lattice.tet_edge[6 * t + local_edge(here, next)]];
    }
    return n >= 3 && (n_in > 0 || n == 3) ? n : 0;
}

/* The face on the surface, through the cuts and the nodes on it, in cyclic order. */
static int cut_face(const hx_cutter *c, int64_t t, const int32_t *number, int32_t corner[8])
{
    const int32_t *const tet = c->lattice.tet + 4 * t;
    int in[4], out[4], n_in = 0, n_out = 0, n = 0;
    for (int i = 0; i < 4; i++) {
        if (c->side[tet[i]] == HX_CUT_IN) in[n_in++] = i;
        if (c->side[tet[i]] == HX_CUT_OUT) out[n_out++] = i;
        if (c->side[tet[i]] == HX_CUT_ON) corner[n++] = tet[i];
    }
    for (int i = 0; i < n_in; i++)
        for (int k = 0; k < n_out; k++) {
            /* cyclic order if there are two nodes on each side */
            const int turn = i % 2 ? n_out - 1 - k : k;
            corner[n++] = number[c->lattice.tet_edge[6 * t + local_edge(in[i], out[turn])]];
        }
    return n;
}

static int is_middle_inside(const hx_cutter *c, const int32_t *tet)
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = 0.25 * (hx_cut_place(c, tet[0])[d] + hx_cut_place(c, tet[1])[d] +
                       hx_cut_place(c, tet[2])[d] + hx_cut_place(c, tet[3])[d]);
    return hx_triangle_tree_inside(&c->tree, x);
}

static int keep_tet(hx_cutter *c, int64_t t, const int32_t *number)
{
    const int32_t *const tet = c->lattice.tet + 4 * t;
    int n_in = 0, n_out = 0;
    for (int i = 0; i < 4; i++) {
        n_in += c->side[tet[i]] == HX_CUT_IN;
        n_out += c->side[tet[i]] == HX_CUT_OUT;
    }
    if (n_in > 0 && n_out > 0) {
        int32_t face[5][8];
        int n_corner[5], n_face = 0;
        for (int f = 0; f < 4; f++) {
            n_corner[n_face] = clip_face(c, t, f, number, face[n_face]);
            n_face += n_corner[n_face] > 0;
        }
        n_corner[n_face] = cut_face(c, t, number, face[n_face]);
        n_face++;
        c->n_cut++;
        return hx_tet_lattice_add_solid(&c->result, n_face, n_corner, face);
    }
    if (n_in > 0 || (n_out == 0 && is_middle_inside(c, tet)))
        return hx_tet_lattice_add_tet(&c->result, tet);
    return HX_OK;
}

static int cut_all(hx_cutter *c)
{
    int rc = HX_OK;
    int32_t *number = NULL;
    const hx_tet_lattice *const l = &c->lattice;
    HX_TRY(hx_alloc_raw(&number, (size_t)l->n_edge, sizeof *number, "cut cells"));
    HX_TRY_FAIL(hx_alloc_raw(&c->result.xyz, (size_t)l->n_node, 3 * sizeof *l->xyz, "cut cells"));
    if (l->n_node > 0) memcpy(c->result.xyz, l->xyz, 3 * (size_t)l->n_node * sizeof *l->xyz);
    c->result.n_node = l->n_node;
    c->result.node_room = (size_t)l->n_node;
    /* Creates a node at each cut; number[edge]: its number. */
    for (int64_t e = 0; e < l->n_edge; e++) {
        const int32_t *const end = l->end + 2 * e;
        double x[3];
        number[e] = -1;
        if (c->side[end[0]] * c->side[end[1]] >= 0) continue;
        const double share = fmin(fmax(c->share[e], margin), 1.0 - margin);
        for (int d = 0; d < 3; d++)
            x[d] = hx_cut_place(c, end[0])[d] +
                   share * (hx_cut_place(c, end[1])[d] - hx_cut_place(c, end[0])[d]);
        HX_TRY_FAIL(hx_tet_lattice_add_node(&c->result, x, &number[e]));
    }
    for (int64_t t = 0; t < l->n_tet; t++) HX_TRY_FAIL(keep_tet(c, t, number));
fail:
    free(number);
    return rc;
}

static int run_cutter(hx_cutter *c, const hx_surface *surface, const hx_mesh *mesh, int n_refine)
{
    HX_TRY(split_cells(c, surface, mesh));
    for (int i = 0; i < n_refine; i++) {
        HX_TRY(hx_tet_lattice_join(&c->lattice));
        HX_TRY(hx_tet_lattice_refine(&c->lattice));
    }
    HX_TRY(hx_cut_find_sides(c));
    HX_TRY(hx_alloc_raw(&c->was_in, (size_t)c->lattice.n_node, 1, "cut cells"));
    for (int64_t a = 0; a < c->lattice.n_node; a++) c->was_in[a] = c->side[a] == HX_CUT_IN;
    for (int64_t a = 0; a < c->lattice.n_node; a++)
        if (snap(c, a)) c->side[a] = HX_CUT_ON;
    HX_TRY(cut_all(c));
    if (c->result.n_tet > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "the surface encloses no part of the mesh");
}

int hx_cut_mesh_create(hx_mesh *cut, const hx_surface *surface, const hx_mesh *mesh, int n_refine,
                       int32_t **piece, hx_cut_report *report)
{
    hx_cutter c;
    memset(&c, 0, sizeof c);
    memset(report, 0, sizeof *report);
    *piece = NULL;
    int rc = run_cutter(&c, surface, mesh, n_refine);
    if (rc == HX_OK) rc = hx_cut_to_mesh(cut, &c.result, piece, report);
    report->n_refine = n_refine;
    report->n_moved = c.n_moved;
    report->n_cut = c.n_cut;
    cutter_free(&c);
    return rc;
}

static int take_tets(hx_tet_lattice *l, const hx_mesh *made)
{
    l->n_node = made->n_node;
    l->n_tet = made->n_elem;
    l->node_room = (size_t)made->n_node;
    l->tet_room = (size_t)made->n_elem;
    HX_TRY(hx_alloc_raw(&l->xyz, l->node_room, 3 * sizeof *l->xyz, "tetrahedra"));
    HX_TRY(hx_alloc_raw(&l->tet, l->tet_room, 4 * sizeof *l->tet, "tetrahedra"));
    memcpy(l->xyz, made->xyz, 3 * l->node_room * sizeof *l->xyz);
    for (int64_t t = 0; t < made->n_elem; t++) {
        int corner[4];
        hx_cell_tetrahedron(made->xyz, made->conn + 8 * t, corner);
        for (int i = 0; i < 4; i++) l->tet[4 * t + i] = made->conn[8 * t + corner[i]];
    }
    return HX_OK;
}

int hx_cut_mesh_take(hx_mesh *mesh, const hx_mesh *made, int n_refine, int32_t **piece,
                     hx_cut_report *report)
{
    hx_tet_lattice l = {0};
    memset(report, 0, sizeof *report);
    *piece = NULL;
    int rc = take_tets(&l, made);
    for (int i = 0; rc == HX_OK && i < n_refine; i++) {
        rc = hx_tet_lattice_join(&l);
        if (rc == HX_OK) rc = hx_tet_lattice_refine(&l);
    }
    if (rc == HX_OK) rc = hx_cut_to_mesh(mesh, &l, piece, report);
    report->n_refine = n_refine;
    hx_tet_lattice_free(&l);
    return rc;
}
