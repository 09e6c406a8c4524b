/* Transfers supports and forces of a mesh's file to the mesh of a surface: over the faces that
 * their nodes span, by position, or at the nearest nodes if they span none. Connected nodes form a
 * group. If part of a group is not on the surface, its other nodes take over the forces of that
 * part, so that the sum stays; a group that is not on the surface at all is refused. A group all of
 * whose faces are on the surface also keeps its moment. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/moment_share.h"
#include "../session/node_groups.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/point_grid.h"
#include "surface_sets.h"

/* Largest distance between a node and the node that replaces it, relative to the element size. */
static const double at_node = 0.4;

/* If at least this fraction of a group's area is on the surface, the group counts as being on the
 * surface as a whole. */
static const double whole = 0.99;

/* Values of at[] for a node that is carried over by its faces, and for one that is not found. */
enum { BY_FACES = -2, NOT_FOUND = -1 };

typedef struct group {
    /* number of nodes: all; those carried over one by one; those of these that are found */
    int64_t n_node, n_point, n_found;
    double area;             /* area of its faces on raw, summed over nodes of raw */
    double sum[3], lacks[3]; /* its forces; the part of them that no node of raw has yet */
    double area_from;        /* area of its faces on the mesh, summed over nodes */
    double off[3], work; /* moment about x[] that the forces on raw lack; sum of |force| |arm| */
    const double *x;     /* its first node (borrowed) */
    hx_moment_share share;
} group;

/* Nodes of the mesh with a support or force, and their places on the raw mesh of the surface. */
typedef struct patch {
    const hx_mesh *mesh, *raw;
    /* [n_node], [n_elem] of raw: < 0: on a piece that is left out; NULL: all pieces are kept
     * (borrowed) */
    const int32_t *new_node, *new_elem;
    int64_t n_node, n_from, n_to;
    int32_t *node; /* [n_node] */
    double *xyz;   /* [3 n_node] */
    /* [n_from] faces of the mesh that the nodes span; [n_to] those of the raw mesh */
    int64_t *from, *to;
    /* [n_node of the mesh], [n_node of raw] area of these faces per node */
    double *area, *area_raw;
    /* [n_node of raw] index of the nearest of node[], if area_raw > 0; otherwise -1 */
    int32_t *near;
    int32_t *at; /* [n_node] node of raw that replaces node[], BY_FACES or NOT_FOUND */
    int64_t n_group;
    int32_t *group_of;            /* [n_node of the mesh] group of the node, -1: none */
    group *group;                 /* [n_group] */
    hx_point_grid grid, grid_raw; /* sum over xyz[]; sum over all nodes of raw */
} patch;

/* The data with which the values of a file are transferred, and scratch memory for this. */
typedef struct places {
    const hx_session *session;
    const hx_mesh *raw;
    const int32_t *new_node, *new_elem; /* as in patch */
    double *old, *now;                  /* [3 n_node] of the mesh and of raw (owned) */
    uint8_t *flag;                      /* [n_node of the mesh] (owned) */
} places;

/* --- where --- */

static int add_areas(const hx_mesh *mesh, int64_t n_face, const int64_t *face, double **area)
{
    HX_TRY(hx_alloc(area, (size_t)mesh->n_node, sizeof **area, "areas of nodes"));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[f], node, point);
        for (int k = 0; k < 16; k++) {
            const double *const n = point[k / 4].normal;
            (*area)[node[k % 4]] +=
                point[k / 4].shape[k % 4] * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        }
    }
    return HX_OK;
}

static void free_patch(patch *p)
{
    free(p->node);
    free(p->xyz);
    free(p->from);
    free(p->to);
    free(p->area);
    free(p->area_raw);
    free(p->near);
    free(p->at);
    free(p->group_of);
    free(p->group);
    hx_point_grid_free(&p->grid);
    hx_point_grid_free(&p->grid_raw);
}

/* Finds the faces of raw that lie on those of the mesh and are kept. */
static int find_faces(patch *p, const uint8_t *flag)
{
    int64_t n = 0;
    HX_TRY(hx_mesh_boundary_faces(p->mesh, flag, &p->n_from, &p->from));
    if (p->n_from > 0)
        HX_TRY(hx_surface_faces_on(p->mesh, p->n_from, p->from, p->raw, &p->n_to, &p->to));
    for (int64_t f = 0; f < p->n_to; f++)
        if (!p->new_elem || p->new_elem[p->to[f] / 6] >= 0) p->to[n++] = p->to[f];
    p->n_to = n;
    HX_TRY(add_areas(p->mesh, p->n_from, p->from, &p->area));
    return add_areas(p->raw, p->n_to, p->to, &p->area_raw);
}

/* The node of the patch nearest to a node of raw. */
static int32_t nearest_of(const patch *p, int64_t raw_node)
{
    int64_t k = -1;
    for (double reach = p->mesh->elem_size; k < 0; reach *= 2.0)
        k = hx_point_grid_nearest(&p->grid, p->raw->xyz + 3 * raw_node, reach);
    return p->node[k];
}

/* The node of raw at the position of node k of the patch, on any piece; -1: none. */
static int64_t raw_node_at(const patch *p, int64_t k)
{
    return hx_point_grid_nearest(&p->grid_raw, p->xyz + 3 * k, at_node * p->mesh->elem_size);
}

static group *group_at(const patch *p, int32_t node)
{
    return &p->group[p->group_of[node]];
}

/* flag[n_node]: 1: the node has a support or force. */
static int make_patch(patch *p, const places *at)
{
    memset(p, 0, sizeof *p);
    p->mesh = &at->session->mesh;
    p->raw = at->raw;
    p->new_node = at->new_node;
    p->new_elem = at->new_elem;
    for (int64_t a = 0; a < p->mesh->n_node; a++) p->n_node += at->flag[a];
    HX_TRY(hx_alloc_raw(&p->node, (size_t)p->n_node, sizeof *p->node, "nodes of a file"));
    HX_TRY(hx_alloc_raw(&p->xyz, (size_t)p->n_node, 3 * sizeof *p->xyz, "nodes of a file"));
    for (int64_t a = 0, n = 0; a < p->mesh->n_node; a++) {
        if (!at->flag[a]) continue;
        memcpy(p->xyz + 3 * n, p->mesh->xyz + 3 * a, 3 * sizeof *p->xyz);
        p->node[n++] = (int32_t)a;
    }
    HX_TRY(hx_point_grid_create(&p->grid, p->n_node, p->xyz));
    HX_TRY(hx_point_grid_create(&p->grid_raw, p->raw->n_node, p->raw->xyz));
    HX_TRY(find_faces(p, at->flag));
    HX_TRY(hx_node_groups_create(p->mesh, at->flag, &p->n_group, &p->group_of));
    HX_TRY(hx_alloc(&p->group, (size_t)p->n_group, sizeof *p->group, "nodes of a file"));
    /* A group that has no face on the surface is carried over node by node. */
    HX_TRY(hx_alloc_raw(&p->near, (size_t)p->raw->n_node, sizeof *p->near, "nodes of a file"));
    HX_TRY(hx_alloc_raw(&p->at, (size_t)p->n_node, sizeof *p->at, "nodes of a file"));
    for (int64_t r = 0; r < p->raw->n_node; r++) {
        p->near[r] = p->area_raw[r] > 0.0 ? nearest_of(p, r) : -1;
        if (p->near[r] >= 0) group_at(p, p->near[r])->area += p->area_raw[r];
    }
    for (int64_t k = 0; k < p->n_node; k++) {
        const int32_t a = p->node[k];
        group *const g = group_at(p, a);
        if (g->n_node++ == 0) g->x = p->xyz + 3 * k;
        g->area_from += p->area[a];
        p->at[k] = BY_FACES;
        if (p->area[a] > 0.0 && g->area > 0.0) continue;
        const int64_t r = raw_node_at(p, k);
        const int is_found = r >= 0 && (!p->new_node || p->new_node[r] >= 0);
        p->at[k] = is_found ? (int32_t)r : NOT_FOUND;
        g->n_point++;
        g->n_found += is_found;
    }
    return HX_OK;
}

static int is_lost(const group *g)
{
    return !(g->area > 0.0) && g->n_found == 0;
}

/* Raises HX_EINPUT for node k of the patch, whose group is not on the surface; `what` describes its
 * value. */
static int refuse_patch_node(const hx_surface_part *part, const patch *p, int64_t k,
                             const char *what)
{
    const hx_mesh *const mesh = p->mesh;
    const double *const x = p->xyz + 3 * k;
    char others[64] = "";
    const int64_t n = group_at(p, p->node[k])->n_node - 1;
    if (n > 0)
        snprintf(others, sizeof others, " and %lld connected node%s", (long long)n,
                 n == 1 ? "" : "s");
    for (int64_t i = k; i < p->n_node; i++)
        if (p->group_of[p->node[i]] == p->group_of[p->node[k]] && raw_node_at(p, i) >= 0)
            return HX_RAISE(HX_EINPUT,
                            "%s at node %lld (%.6g, %.6g, %.6g)%s is on a piece of the surface "
                            "that is not connected to a support and is left out: it would act on "
                            "nothing%s",
                            what, (long long)hx_mesh_node_number(mesh, p->node[k]), x[0], x[1],
                            x[2], others, hx_surface_piece_advice(part));
    return HX_RAISE(HX_EINPUT,
                    "%s at node %lld (%.6g, %.6g, %.6g)%s is not on the surface: check that the "
                    "surface belongs to this part, its place and its unit",
                    what, (long long)hx_mesh_node_number(mesh, p->node[k]), x[0], x[1], x[2],
                    others);
}

/* --- supports --- */

/* A support may be lost, but a prescribed displacement may not. Marks nodes whose support is lost
 * in flag[]. */
static int check_component(const hx_surface_part *part, const patch *p, int component,
                           const double *held, uint8_t *flag)
{
    for (int64_t k = 0; k < p->n_node; k++) {
        const int32_t a = p->node[k];
        const int none = is_lost(group_at(p, a));
        if (none && held[3 * (int64_t)a + component] != 0.0)
            return refuse_patch_node(part, p, k, "a prescribed displacement of the mesh's file");
        if (none || p->at[k] == NOT_FOUND) flag[a] = 1;
    }
    return HX_OK;
}

static int keep_values(const hx_mesh *raw, const double *value, int load_case, int64_t *n,
                       hx_file_value **list)
{
    int64_t count = 0;
    hx_file_value *longer;
    for (int64_t k = 0; k < 3 * raw->n_node; k++) count += !isnan(value[k]);
    longer = realloc(*list, (size_t)(*n + count + 1) * sizeof **list);
    if (!longer) return HX_RAISE(HX_ENOMEM, "no memory for the supports and forces of a file");
    *list = longer;
    for (int64_t k = 0; k < 3 * raw->n_node; k++)
        if (!isnan(value[k]))
            longer[(*n)++] = (hx_file_value){.node = (int32_t)(k / 3),
                                             .component = (int16_t)(k % 3),
                                             .load_case = (int16_t)load_case,
                                             .value = value[k]};
    return HX_OK;
}

static int note_supports(hx_surface_part *part, const places *at, const uint8_t *lost)
{
    const hx_mesh *const mesh = &at->session->mesh;
    int64_t n = 0, n_all = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const double *const held = at->old + 3 * a;
        n += lost[a];
        n_all += !isnan(held[0]) || !isnan(held[1]) || !isnan(held[2]);
    }
    if (n == 0) return HX_OK;
    return hx_notes_add(&part->notes, HX_NOTE_WARNING,
                        "%lld of the %lld nodes that the mesh's file supports are not on the "
                        "surface: their supports are left out",
                        (long long)n, (long long)n_all);
}

static int find_supports(hx_surface_part *part, const places *at)
{
    const double *const held = at->old;
    uint8_t *lost = NULL;
    int rc = hx_alloc(&lost, (size_t)at->session->mesh.n_node, 1, "supports of a file");
    for (int64_t k = 0; k < 3 * at->raw->n_node; k++) at->now[k] = (double)NAN;
    for (int d = 0; rc == HX_OK && d < 3; d++) {
        patch p;
        for (int64_t a = 0; a < at->session->mesh.n_node; a++)
            at->flag[a] = (uint8_t)(isnan(held[3 * a + d]) ? 0 : 1);
        rc = make_patch(&p, at);
        if (rc == HX_OK) rc = check_component(part, &p, d, held, lost);
        /* Computes now[3 n_node of raw] from held[3 n_node] (NaN: free), for one component. */
        if (rc == HX_OK) {
            for (int64_t r = 0; r < p.raw->n_node; r++)
                if (p.near[r] >= 0) at->now[3 * r + d] = held[3 * (int64_t)p.near[r] + d];
            for (int64_t k = 0; k < p.n_node; k++)
                if (p.at[k] >= 0)
                    at->now[3 * (int64_t)p.at[k] + d] = held[3 * (int64_t)p.node[k] + d];
        }
        free_patch(&p);
    }
    if (rc == HX_OK) rc = note_supports(part, at, lost);
    if (rc == HX_OK)
        rc = keep_values(at->raw, at->now, 0, &part->conditions.n_support,
                         &part->conditions.support);
    free(lost);
    return rc;
}

/* --- forces --- */

/* Computes what each group lacks if the nodes of raw near its faces get the traction of the nearest
 * node, now[]; f[] are the forces. */
static void spread_lost_force(const patch *p, const double *f, double *now)
{
    for (int64_t k = 0; k < p->n_node; k++) {
        const int32_t a = p->node[k];
        group *const g = group_at(p, a);
        for (int d = 0; d < 3; d++) {
            const double force = f[3 * (int64_t)a + d];
            g->sum[d] += force;
            if (p->at[k] < 0) g->lacks[d] += force;
        }
    }
    for (int64_t r = 0; r < p->raw->n_node; r++) {
        const int64_t a = p->near[r];
        if (a < 0) continue;
        group *const g = group_at(p, p->near[r]);
        for (int d = 0; d < 3; d++) {
            /* a node without area receives its own force */
            now[3 * r + d] = p->area[a] > 0.0 ? p->area_raw[r] * f[3 * a + d] / p->area[a] : 0.0;
            g->lacks[d] -= now[3 * r + d];
        }
    }
    /* Distributes what a group lacks to its faces, by area */
    for (int64_t r = 0; r < p->raw->n_node; r++) {
        if (p->near[r] < 0) continue;
        const group *const g = group_at(p, p->near[r]);
        for (int d = 0; d < 3; d++) now[3 * r + d] += p->area_raw[r] / g->area * g->lacks[d];
    }
}

/* On quadratic triangles the whole traction acts at mid-side nodes, those of the faces' edges. */
static int add_middles(const patch *p, const double *now, int load_case, hx_conditions *to)
{
    hx_file_middle *const longer =
        realloc(to->middle, (size_t)(to->n_middle + 9 * p->n_to + 1) * sizeof *longer);
    if (!longer) return HX_RAISE(HX_ENOMEM, "no memory for the forces of a file");
    to->middle = longer;
    for (int64_t f = 0; f < p->n_to; f++) {
        int32_t node[4];
        const double area = hx_faces_area(p->raw, 1, &p->to[f]);
        hx_cell_face(p->raw->conn + 8 * (p->to[f] / 6), (int)(p->to[f] % 6), node);
        for (int k = 0; k < 9; k++) {
            const int32_t a = node[k / 3], b = node[(k / 3 + 1) % 3];
            const double traction = 0.5 * (now[3 * (int64_t)a + k % 3] / p->area_raw[a] +
                                           now[3 * (int64_t)b + k % 3] / p->area_raw[b]);
            longer[to->n_middle++] = (hx_file_middle){.end = {a, b},
                                                      .component = (int16_t)(k % 3),
                                                      .load_case = (int16_t)load_case,
                                                      .value = area / 3.0 * traction};
        }
    }
    return HX_OK;
}

/* The force of a node that is not carried over by faces goes to the node that replaces it. If its
 * group has no faces on raw at all, the replacing nodes that are found take equal shares of the
 * remaining force. */
static void add_points(const patch *p, const double *f, double *now)
{
    for (int64_t k = 0; k < p->n_node; k++) {
        const int64_t a = p->node[k], r = p->at[k];
        const group *const g = group_at(p, p->node[k]);
        if (r < 0) continue;
        for (int d = 0; d < 3; d++) {
            double *const to = &now[3 * r + d];
            *to = (isnan(*to) ? 0.0 : *to) + f[3 * a + d];
            if (!(g->area > 0.0) && g->n_found < g->n_point)
                *to += g->lacks[d] / (double)g->n_found;
        }
    }
}

/* off += moment of a force about the group's first node; returns |force| |arm|. */
static double add_moment(group *g, const double *x, const double *f, double sign)
{
    double arm[3], moment[3];
    for (int d = 0; d < 3; d++) arm[d] = x[d] - g->x[d];
    hx_cross3(arm, f, moment);
    for (int d = 0; d < 3; d++) g->off[d] += sign * moment[d];
    return hx_norm3(arm) * hx_norm3(f);
}

/* Measures off[] and work of each group; now[]: all forces on raw. */
static void measure_moments(const patch *p, const double *f, const double *now)
{
    for (int64_t k = 0; k < p->n_node; k++) {
        const int64_t a = p->node[k], r = p->at[k];
        group *const g = group_at(p, p->node[k]);
        double share[3]; /* as in add_points */
        g->work += add_moment(g, p->xyz + 3 * k, f + 3 * a, 1.0);
        if (r < 0) continue;
        const int takes = !(g->area > 0.0) && g->n_found < g->n_point;
        for (int d = 0; d < 3; d++)
            share[d] = f[3 * a + d] + (takes ? g->lacks[d] / (double)g->n_found : 0.0);
        add_moment(g, p->raw->xyz + 3 * r, share, -1.0);
    }
    for (int64_t r = 0; r < p->raw->n_node; r++)
        if (p->near[r] >= 0)
            add_moment(group_at(p, p->near[r]), p->raw->xyz + 3 * r, now + 3 * r, -1.0);
}

/* Restores the moments of groups that are on the surface as a whole. If only a part of a group is
 * there, only the sum of its forces is kept, since restoring the moment would bend the part. */
static void restore_moments(const patch *p, double *now)
{
    static const double rounding = 1e-12;
    for (int64_t r = 0; r < p->raw->n_node; r++)
        if (p->near[r] >= 0)
            hx_moment_share_place(&group_at(p, p->near[r])->share, p->area_raw[r],
                                  p->raw->xyz + 3 * r);
    for (int64_t i = 0; i < p->n_group; i++)
        if (p->group[i].area > 0.0) hx_moment_share_centre(&p->group[i].share);
    for (int64_t r = 0; r < p->raw->n_node; r++)
        if (p->near[r] >= 0)
            hx_moment_share_spread(&group_at(p, p->near[r])->share, p->area_raw[r],
                                   p->raw->xyz + 3 * r);
    for (int64_t i = 0; i < p->n_group; i++) {
        group *const g = &p->group[i];
        if (!(g->area > whole * g->area_from) || !(hx_norm3(g->off) > rounding * g->work)) continue;
        hx_moment_share_solve(&g->share, g->off);
        memset(g->off, 0, sizeof g->off);
    }
    for (int64_t r = 0; r < p->raw->n_node; r++)
        if (p->near[r] >= 0)
            hx_moment_share_add(&group_at(p, p->near[r])->share, p->area_raw[r],
                                p->raw->xyz + 3 * r, now + 3 * r);
}

/* Notes the change of the moment of groups that are on the surface in part. */
static int note_moments(hx_surface_part *part, const patch *p, int load_case)
{
    static const double least = 0.01;
    double off[3] = {0.0}, work = 0.0;
    for (int64_t i = 0; i < p->n_group; i++) {
        for (int d = 0; d < 3; d++) off[d] += p->group[i].off[d];
        work += p->group[i].work;
    }
    if (!(hx_norm3(off) > least * work)) return HX_OK;
    return hx_notes_add(&part->notes, HX_NOTE_WARNING,
                        "step %d of the mesh's file: the forces keep their sum, but their moment "
                        "changes by (%.6g, %.6g, %.6g)",
                        load_case, -off[0], -off[1], -off[2]);
}

/* HX_EINPUT: a group is not on the surface at all. */
static int check_forces(const hx_surface_part *part, const patch *p, int load_case)
{
    char what[160];
    for (int64_t k = 0; k < p->n_node; k++) {
        const group *const g = group_at(p, p->node[k]);
        if (!is_lost(g)) continue;
        snprintf(what, sizeof what,
                 "step %d of the mesh's file: the force (%.6g, %.6g, %.6g in all)", load_case,
                 g->sum[0], g->sum[1], g->sum[2]);
        return refuse_patch_node(part, p, k, what);
    }
    return HX_OK;
}

static int note_forces(hx_surface_part *part, const patch *p, int load_case)
{
    const double from = hx_faces_area(p->mesh, p->n_from, p->from);
    const double to = hx_faces_area(p->raw, p->n_to, p->to);
    int64_t n_lost = 0;
    for (int64_t k = 0; k < p->n_node; k++) n_lost += p->at[k] == NOT_FOUND;
    if (from > 0.0 && !(to > whole * from))
        HX_TRY(hx_notes_add(&part->notes, HX_NOTE_WARNING,
                            "step %d of the mesh's file: %.3g %% of the loaded area is on the "
                            "surface",
                            load_case, 100.0 * to / from));
    if (n_lost == 0) return HX_OK;
    return hx_notes_add(&part->notes, HX_NOTE_WARNING,
                        "step %d of the mesh's file: %lld of the %lld loaded nodes are not on the "
                        "surface: their forces act on the nodes connected with them",
                        load_case, (long long)n_lost, (long long)p->n_node);
}

static int find_forces(hx_surface_part *part, const places *at, int load_case)
{
    patch p;
    hx_conditions *const to = &part->conditions;
    const double *const f = at->old;
    int rc, any = 0;
    for (int64_t k = 0; k < 3 * at->raw->n_node; k++) at->now[k] = (double)NAN;
    for (int64_t a = 0; a < at->session->mesh.n_node; a++) {
        at->flag[a] = f[3 * a] != 0.0 || f[3 * a + 1] != 0.0 || f[3 * a + 2] != 0.0;
        any |= at->flag[a];
    }
    if (!any) return HX_OK;
    HX_TRY_FAIL(make_patch(&p, at));
    spread_lost_force(&p, f, at->now);
    HX_TRY_FAIL(check_forces(part, &p, load_case));
    measure_moments(&p, f, at->now);
    restore_moments(&p, at->now);
    HX_TRY_FAIL(add_middles(&p, at->now, load_case, to));
    add_points(&p, f, at->now);
    HX_TRY_FAIL(note_forces(part, &p, load_case));
    HX_TRY_FAIL(note_moments(part, &p, load_case));
    rc = keep_values(at->raw, at->now, load_case, &to->n_force, &to->force);
fail:
    free_patch(&p);
    return rc;
}

/* --- all of it --- */

/* Fills value[3 n_node] with the values of a load case, and `other` elsewhere. */
static int scatter(const hx_mesh *mesh, int64_t n, const hx_file_value *from, int load_case,
                   double other, double *value)
{
    int32_t *node = NULL;
    for (int64_t k = 0; k < 3 * mesh->n_node; k++) value[k] = other;
    HX_TRY(hx_conditions_nodes(mesh, n, from, &node));
    for (int64_t i = 0; i < n; i++) {
        double *const to = &value[3 * (int64_t)node[i] + from[i].component];
        if (from[i].load_case != load_case) continue;
        *to = isnan(*to) || load_case == 0 ? from[i].value : *to + from[i].value;
    }
    free(node);
    return HX_OK;
}

static int last_step(const hx_conditions *c)
{
    int last = 0;
    for (int64_t i = 0; i < c->n_force; i++)
        if (c->force[i].load_case > last) last = c->force[i].load_case;
    return last;
}

int hx_surface_file_alone(const hx_session *s, int64_t *n)
{
    int rc;
    const hx_conditions *const c = &s->conditions;
    int32_t *support = NULL, *force = NULL;
    uint8_t *flag = NULL;
    *n = 0;
    HX_TRY_FAIL(hx_conditions_nodes(&s->mesh, c->n_support, c->support, &support));
    HX_TRY_FAIL(hx_conditions_nodes(&s->mesh, c->n_force, c->force, &force));
    HX_TRY_FAIL(hx_alloc_raw(&flag, (size_t)s->mesh.n_node, 1, "supports of a file"));
    for (int i = 0; i < 3 + last_step(c); i++) {
        /* flag[n_node] := 1 for nodes with a support of component i or, if i >= 3, with a
         * force of step i - 2. */
        memset(flag, 0, (size_t)s->mesh.n_node);
        for (int64_t k = 0; i < 3 && k < c->n_support; k++)
            if (c->support[k].component == i) flag[support[k]] = 1;
        for (int64_t k = 0; i >= 3 && k < c->n_force; k++)
            if (c->force[k].load_case == i - 2 && c->force[k].value != 0.0) flag[force[k]] = 1;
        /* Adds to *n the number of flagged nodes that do not span a boundary face with others. */
        int64_t n_face = 0, *face = NULL;
        HX_TRY_FAIL(hx_mesh_boundary_faces(&s->mesh, flag, &n_face, &face));
        for (int64_t f = 0; f < n_face; f++) {
            int32_t node[4];
            const int m = hx_cell_face(s->mesh.conn + 8 * (face[f] / 6), (int)(face[f] % 6), node);
            for (int k = 0; k < m; k++) flag[node[k]] = 0;
        }
        for (int64_t a = 0; a < s->mesh.n_node; a++) *n += flag[a];
        free(face);
    }
    rc = HX_OK;
fail:
    free(support);
    free(force);
    free(flag);
    return rc;
}

static int holds_by_file(const hx_config *cfg)
{
    const hx_config_support *const support = cfg->supports.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->supports.n; i++) any |= support[i].from != NULL;
    return any;
}

static int open_places(places *at, const hx_session *s, const hx_mesh *raw)
{
    *at = (places){.session = s, .raw = raw};
    HX_TRY(
        hx_alloc_raw(&at->old, (size_t)s->mesh.n_node, 3 * sizeof *at->old, "supports of a file"));
    HX_TRY(hx_alloc_raw(&at->now, (size_t)raw->n_node, 3 * sizeof *at->now, "supports of a file"));
    return hx_alloc_raw(&at->flag, (size_t)s->mesh.n_node, 1, "supports of a file");
}

static void close_places(places *at)
{
    free(at->old);
    free(at->now);
    free(at->flag);
}

int hx_surface_file_supports(hx_surface_part *part, const hx_session *s, const hx_mesh *raw)
{
    places at = {0};
    int rc;
    const hx_conditions *const from = &s->conditions;
    part->conditions.n_case = from->n_case;
    HX_TRY(hx_conditions_copy_named(&part->conditions, from));
    if (from->n_support == 0 || !holds_by_file(&s->cfg)) return HX_OK;
    HX_TRY_FAIL(open_places(&at, s, raw));
    HX_TRY_FAIL(scatter(&s->mesh, from->n_support, from->support, 0, (double)NAN, at.old));
    HX_TRY_FAIL(find_supports(part, &at));
fail:
    close_places(&at);
    return rc;
}

int hx_surface_file_forces(hx_surface_part *part, const hx_session *s, const hx_mesh *raw,
                           const int32_t *new_node, const int32_t *new_elem)
{
    places at = {0};
    int rc;
    const hx_conditions *const from = &s->conditions;
    if (from->n_force == 0) return HX_OK;
    HX_TRY_FAIL(open_places(&at, s, raw));
    at.new_node = new_node;
    at.new_elem = new_elem;
    for (int i = 1; i <= last_step(from); i++) {
        if (!hx_config_loads_by_step(&s->cfg, from, i)) continue;
        HX_TRY_FAIL(scatter(&s->mesh, from->n_force, from->force, i, 0.0, at.old));
        HX_TRY_FAIL(find_forces(part, &at, i));
    }
    rc = HX_OK;
fail:
    close_places(&at);
    return rc;
}

static int64_t renumber(int64_t n, hx_file_value *value, const int32_t *new_node)
{
    int64_t n_kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (new_node[value[i].node] < 0) continue;
        value[n_kept] = value[i];
        value[n_kept++].node = new_node[value[i].node];
    }
    return n_kept;
}

void hx_surface_file_renumber(hx_surface_part *part, const int32_t *new_node)
{
    hx_conditions *const c = &part->conditions;
    int64_t n = 0;
    c->n_support = renumber(c->n_support, c->support, new_node);
    c->n_force = renumber(c->n_force, c->force, new_node);
    for (int64_t i = 0; i < c->n_middle; i++) {
        const int32_t a = new_node[c->middle[i].end[0]], b = new_node[c->middle[i].end[1]];
        if (a < 0 || b < 0) continue;
        c->middle[n] = c->middle[i];
        c->middle[n].end[0] = a;
        c->middle[n++].end[1] = b;
    }
    c->n_middle = n;
}
