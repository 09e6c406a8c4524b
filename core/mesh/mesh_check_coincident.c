/* Coincident nodes: merged, kept, or refused if they separate bodies that should be one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "mesh_check.h"
#include "mesh_check_merge.h"
#include "mesh_internal.h"
#include "mesh_quality.h"
#include "node_grid.h"

static int all_finite(const hx_mesh *mesh)
{
    int finite = 1;
#pragma omp parallel for schedule(static) reduction(& : finite)
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) finite &= isfinite(mesh->xyz[i]) != 0;
    return finite;
}

/* Mean length of the elements' diagonal from node 0 to 6, divided by the root of 3. */
static double mean_edge(const hx_mesh *mesh)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        const int64_t end = hx_part_begin(mesh->n_elem, p + 1);
        part[p] = 0.0;
        for (int64_t e = hx_part_begin(mesh->n_elem, p); e < end; e++) {
            const double *const a = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e];
            const double *const b = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + 6];
            double square = 0.0;
            for (int d = 0; d < 3; d++) square += (b[d] - a[d]) * (b[d] - a[d]);
            part[p] += sqrt(square / 3.0);
        }
    }
    return hx_sum_parts(part) / (double)mesh->n_elem;
}

/* rep[n_node] := the first node within `radius`, possibly the node itself. */
static int find_coincident(const hx_mesh *mesh, double radius, int32_t *rep, int64_t *n_double)
{
    hx_node_grid grid;
    *n_double = 0;
    HX_TRY(hx_node_grid_create(&grid, mesh->n_node, mesh->xyz, mesh->n_node, 16.0 * radius));
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int32_t found = hx_node_grid_nearest(&grid, mesh->xyz + 3 * a, radius);
        rep[a] = found >= 0 ? found : (int32_t)a;
        if (found >= 0)
            (*n_double)++;
        else
            hx_node_grid_put(&grid, (int32_t)a);
    }
    hx_node_grid_free(&grid);
    return HX_OK;
}

/* --- merging --- */

/* Removes the merged nodes: coordinates, numbers, elements, sets. */
static int drop_doubles(hx_mesh *mesh, const int32_t *rep, int32_t *node_new)
{
    hx_numbers number = {0};
    int32_t *elem_same = NULL;
    int64_t n = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t file_number = hx_mesh_node_number(mesh, a);
        node_new[a] = rep[a] == a ? (int32_t)n : node_new[rep[a]];
        if (rep[a] != a) continue;
        memmove(mesh->xyz + 3 * n++, mesh->xyz + 3 * a, 3 * sizeof *mesh->xyz);
        const int rc = hx_numbers_append(&number, 1, &file_number);
        if (rc < 0) {
            hx_numbers_free(&number);
            return rc;
        }
    }
    mesh->n_node = n;
    hx_numbers_free(&mesh->node_number);
    mesh->node_number = number;
    for (int64_t i = 0; i < 8 * mesh->n_elem; i++) mesh->conn[i] = node_new[mesh->conn[i]];
    hx_middles_renumber(&mesh->middles, node_new);
    HX_TRY(hx_alloc_raw(&elem_same, (size_t)mesh->n_elem, sizeof *elem_same, "elements"));
    for (int64_t e = 0; e < mesh->n_elem; e++) elem_same[e] = (int32_t)e;
    const int rc = hx_mesh_renumber_sets(mesh, node_new, elem_same);
    free(elem_same);
    return rc;
}

static int merge_nodes(hx_mesh *mesh, const int32_t *rep, int64_t n_double, double merge,
                       int32_t **merged, hx_notes *notes)
{
    int32_t *node_new = NULL;
    HX_TRY(hx_alloc_raw(&node_new, (size_t)mesh->n_node, sizeof *node_new, "new numbers"));
    const int rc = drop_doubles(mesh, rep, node_new);
    if (rc == HX_OK && merged)
        *merged = node_new;
    else
        free(node_new);
    HX_TRY(rc);
    return hx_notes_add(notes, HX_NOTE_INFO,
                        "%s: %lld %s within %g of another one were merged with it", mesh->name,
                        (long long)n_double, hx_noun(n_double, "node", "nodes"), merge);
}

/* --- what merging would join --- */

/* A face between coincident nodes. */
typedef struct double_face {
    int32_t place[4]; /* ascending: first nodes at the positions; for a triangle -1 comes first */
    int32_t node[4];  /* ascending: its own nodes, in the same form */
    int64_t elem;
} double_face;

static int compare_faces(const void *a, const void *b)
{
    const double_face *const x = a, *const y = b;
    for (int k = 0; k < 4; k++)
        if (x->place[k] != y->place[k]) return x->place[k] > y->place[k] ? 1 : -1;
    for (int k = 0; k < 4; k++)
        if (x->node[k] != y->node[k]) return x->node[k] > y->node[k] ? 1 : -1;
    return (x->elem > y->elem) - (x->elem < y->elem);
}

/* Fills face (NULL: only counts) with the faces at all of whose corners several nodes coincide. */
static int64_t list_double_faces(const hx_mesh *mesh, const int32_t *rep, const uint8_t *is_double,
                                 double_face *face)
{
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int n_in = 0;
        for (int k = 0; k < 8; k++) n_in += is_double[conn[k]];
        for (int f = 0; f < 6 && n_in >= 4; f++) {
            double_face one = {{-1, -1, -1, -1}, {-1, -1, -1, -1}, e};
            const int n_corner = hx_cell_face(conn, f, one.node);
            int k = 0;
            while (k < n_corner && is_double[one.node[k]]) k++;
            if (k < n_corner || k < 3) continue;
            for (k = 0; k < n_corner; k++) one.place[k] = rep[one.node[k]];
            if (n_corner == 3) one.node[3] = -1; /* not a node */
            hx_sort_four(one.node);
            hx_sort_four(one.place);
            if (face) face[n] = one;
            n++;
        }
    }
    return n;
}

typedef struct joints {
    int64_t n;        /* pairs of faces that merging would join */
    int64_t n_bodies; /* of these, pairs between bodies without common nodes */
    double_face a, b; /* the first of them */
} joints;

static int count_joints(const hx_mesh *mesh, const int32_t *rep, const int32_t *body, joints *found)
{
    int rc = HX_OK;
    uint8_t *is_double = NULL;
    double_face *face = NULL;
    memset(found, 0, sizeof *found);
    HX_TRY_FAIL(hx_alloc(&is_double, (size_t)mesh->n_node, 1, "coincident nodes"));
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (rep[a] != a) is_double[a] = is_double[rep[a]] = 1;
    const int64_t n = list_double_faces(mesh, rep, is_double, NULL);
    HX_TRY_FAIL(hx_alloc_raw(&face, (size_t)n, sizeof *face, "coincident faces"));
    (void)list_double_faces(mesh, rep, is_double, face);
    if (n > 0) qsort(face, (size_t)n, sizeof *face, compare_faces);
    for (int64_t i = 1; i < n; i++) {
        const double_face *const a = &face[i - 1], *const b = &face[i];
        if (memcmp(a->place, b->place, sizeof a->place) != 0 ||
            memcmp(a->node, b->node, sizeof a->node) == 0)
            continue;
        const int parts = body[a->node[3]] != body[b->node[3]];
        if (found->n == 0 || (parts && found->n_bodies == 0)) {
            found->a = *a;
            found->b = *b;
        }
        found->n++;
        found->n_bodies += parts;
    }
fail:
    free(is_double);
    free(face);
    return rc;
}

/* What is wrong, and the remedy. */
typedef struct finding {
    joints joints;
    hx_merge_trial trial;
    int64_t n_double, node[2]; /* the file's numbers of the first pair */
    double radius;
} finding;

static int examine_coincident(const hx_mesh *mesh, const int32_t *rep, finding *f)
{
    int32_t *body = NULL;
    int64_t n_body = 0, first = 0;
    HX_TRY(hx_alloc_raw(&body, (size_t)mesh->n_node, sizeof *body, "bodies"));
    int rc = hx_mesh_bodies(mesh, body, &n_body);
    if (rc == HX_OK) rc = count_joints(mesh, rep, body, &f->joints);
    free(body);
    HX_TRY(rc);
    while (rep[first] == first) first++;
    f->node[0] = hx_mesh_node_number(mesh, rep[first]);
    f->node[1] = hx_mesh_node_number(mesh, first);
    return hx_mesh_try_merge(mesh, rep, &f->trial);
}

/* Refuses bodies that meet at equal faces. */
static int refuse_bodies(const hx_mesh *mesh, const finding *f)
{
    char advice[640];
    if (f->trial.is_sound)
        snprintf(advice, sizeof advice,
                 "mesh.merge = %.2g joins them, mesh.merge = 0.0 keeps them separate", f->radius);
    else
        snprintf(advice, sizeof advice,
                 "merging these nodes does not give a conforming mesh (%s); mesh.merge = 0.0 keeps "
                 "them separate",
                 f->trial.why);
    return HX_RAISE(HX_EINPUT,
                    "%s: bodies without common nodes meet at %lld %s of equal faces (elements %lld "
                    "and %lld; %lld %s coincide with another one, such as %lld and %lld): %s",
                    mesh->name, (long long)f->joints.n_bodies,
                    hx_noun(f->joints.n_bodies, "pair", "pairs"),
                    (long long)hx_mesh_elem_number(mesh, f->joints.a.elem),
                    (long long)hx_mesh_elem_number(mesh, f->joints.b.elem), (long long)f->n_double,
                    hx_noun(f->n_double, "node", "nodes"), (long long)f->node[0],
                    (long long)f->node[1], advice);
}

static int judge_coincident(const hx_mesh *mesh, const int32_t *rep, int64_t n_double,
                            double radius, hx_notes *notes)
{
    finding f = {.n_double = n_double, .radius = radius};
    char faces[128] = "no faces between them are equal", advice[640];
    HX_TRY(examine_coincident(mesh, rep, &f));
    if (f.trial.n_twin > 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: elements %lld and %lld occupy the same place with different nodes "
                        "(%lld such %s): the file contains this body twice; keep one of the two",
                        mesh->name, (long long)f.trial.twin[0], (long long)f.trial.twin[1],
                        (long long)f.trial.n_twin, hx_noun(f.trial.n_twin, "pair", "pairs"));
    if (f.joints.n_bodies > 0) return refuse_bodies(mesh, &f);
    if (f.joints.n > 0)
        snprintf(faces, sizeof faces, "%lld %s not joined, perhaps a crack", (long long)f.joints.n,
                 hx_noun(f.joints.n, "pair of faces between them is",
                         "pairs of faces between them are"));
    if (f.trial.is_sound)
        snprintf(advice, sizeof advice, "mesh.merge = %.2g joins %s", radius,
                 f.joints.n > 0 ? "them" : "the nodes");
    else
        snprintf(advice, sizeof advice, "merging them does not give a conforming mesh: %s",
                 f.trial.why);
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "%s: %lld %s with another one (nodes %lld and %lld), %s; %s", mesh->name,
                        (long long)n_double, hx_noun(n_double, "node coincides", "nodes coincide"),
                        (long long)f.node[0], (long long)f.node[1], faces, advice);
}

/* Distance within which nodes count as coincident if the mesh does not specify it: length. */
static double same_place(const hx_mesh *mesh)
{
    return 1e-9 * mean_edge(mesh);
}

int hx_mesh_count_coincident(const hx_mesh *mesh, int64_t *n)
{
    int32_t *rep = NULL;
    const double radius = same_place(mesh);
    *n = 0;
    if (!all_finite(mesh) || !(radius > 0.0) || !isfinite(radius)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rep, (size_t)mesh->n_node, sizeof *rep, "coincident nodes"));
    const int rc = find_coincident(mesh, radius, rep, n);
    free(rep);
    return rc;
}

int hx_mesh_repair_coincident(hx_mesh *mesh, double merge, int32_t **merged, hx_notes *notes)
{
    int32_t *rep = NULL;
    int64_t n_double = 0;
    if (merged) *merged = NULL;
    if (!isnan(merge) && !(merge > 0.0)) return HX_OK;
    if (!all_finite(mesh)) return HX_OK; /* hx_mesh_finish reports where */
    const double radius = isnan(merge) ? same_place(mesh) : merge;
    if (!(radius > 0.0) || !isfinite(radius)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rep, (size_t)mesh->n_node, sizeof *rep, "coincident nodes"));
    int rc = find_coincident(mesh, radius, rep, &n_double);
    if (rc == HX_OK && n_double > 0)
        rc = isnan(merge) ? judge_coincident(mesh, rep, n_double, radius, notes)
                          : merge_nodes(mesh, rep, n_double, merge, merged, notes);
    free(rep);
    return rc;
}

int hx_mesh_merge_helps(const hx_mesh *mesh, double radius, int *helps)
{
    int32_t *rep = NULL;
    int64_t n_double = 0;
    hx_merge_trial trial;
    *helps = 0;
    HX_TRY(hx_alloc_raw(&rep, (size_t)mesh->n_node, sizeof *rep, "coincident nodes"));
    int rc = find_coincident(mesh, radius, rep, &n_double);
    if (rc == HX_OK && n_double > 0) {
        rc = hx_mesh_try_merge(mesh, rep, &trial);
        *helps = rc == HX_OK && trial.is_sound;
    }
    free(rep);
    return rc;
}
