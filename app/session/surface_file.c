/* Transfers supports and forces of a mesh's file to the mesh of a surface: over the faces that
 * their nodes span, by position, or at the nearest nodes if they span none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/point_grid.h"
#include "surface_sets.h"

/* Largest distance between a node and the node that replaces it, relative to the element size. */
static const double at_node = 0.4;

/* Nodes of the mesh with a support or force, and their places on the raw mesh of the surface. */
typedef struct patch {
    const hx_mesh *mesh, *raw;
    int64_t n_node, n_from, n_to;
    int32_t *node; /* [n_node] */
    double *xyz;   /* [3 n_node] */
    /* [n_from] faces of the mesh that the nodes span; [n_to] those of the raw mesh */
    int64_t *from, *to;
    /* [n_node of the mesh], [n_node of raw] area of these faces per node */
    double *area, *area_raw;
    hx_point_grid grid, grid_raw; /* over xyz[]; over all nodes of raw */
} patch;

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

static int list_nodes(patch *p, const uint8_t *flag)
{
    for (int64_t a = 0; a < p->mesh->n_node; a++) p->n_node += flag[a];
    HX_TRY(hx_alloc_raw(&p->node, (size_t)p->n_node, sizeof *p->node, "nodes of a file"));
    HX_TRY(hx_alloc_raw(&p->xyz, (size_t)p->n_node, 3 * sizeof *p->xyz, "nodes of a file"));
    for (int64_t a = 0, n = 0; a < p->mesh->n_node; a++) {
        if (!flag[a]) continue;
        memcpy(p->xyz + 3 * n, p->mesh->xyz + 3 * a, 3 * sizeof *p->xyz);
        p->node[n++] = (int32_t)a;
    }
    return hx_point_grid_create(&p->grid, p->n_node, p->xyz);
}

static void free_patch(patch *p)
{
    free(p->node);
    free(p->xyz);
    free(p->from);
    free(p->to);
    free(p->area);
    free(p->area_raw);
    hx_point_grid_free(&p->grid);
    hx_point_grid_free(&p->grid_raw);
}

/* flag[n_node]: 1: the node has a support or force. */
static int make_patch(patch *p, const hx_mesh *mesh, const hx_mesh *raw, const uint8_t *flag)
{
    memset(p, 0, sizeof *p);
    p->mesh = mesh;
    p->raw = raw;
    HX_TRY(list_nodes(p, flag));
    HX_TRY(hx_point_grid_create(&p->grid_raw, raw->n_node, raw->xyz));
    HX_TRY(hx_mesh_boundary_faces(mesh, flag, &p->n_from, &p->from));
    if (p->n_from > 0) HX_TRY(hx_surface_faces_on(mesh, p->n_from, p->from, raw, &p->n_to, &p->to));
    HX_TRY(add_areas(mesh, p->n_from, p->from, &p->area));
    return add_areas(raw, p->n_to, p->to, &p->area_raw);
}

/* The node of the patch nearest to a node of raw. */
static int32_t nearest_of(const patch *p, int64_t raw_node)
{
    int64_t k = -1;
    for (double reach = p->mesh->elem_size; k < 0; reach *= 2.0)
        k = hx_point_grid_nearest(&p->grid, p->raw->xyz + 3 * raw_node, reach);
    return p->node[k];
}

/* The node of raw at node k of the patch; -1: none. */
static int64_t raw_node_at(const patch *p, int64_t k)
{
    return hx_point_grid_nearest(&p->grid_raw, p->xyz + 3 * k, at_node * p->mesh->elem_size);
}

/* --- supports --- */

/* Computes now[3 n_node of raw] from held[3 n_node] (NaN: free), for one component. */
static int find_component(hx_surface_part *part, const patch *p, int component, const double *held,
                          double *now)
{
    for (int64_t r = 0; r < p->raw->n_node; r++)
        if (p->area_raw[r] > 0.0)
            now[3 * r + component] = held[3 * (int64_t)nearest_of(p, r) + component];
    for (int64_t k = 0; k < p->n_node; k++) {
        if (p->area[p->node[k]] > 0.0) continue;
        const int64_t r = raw_node_at(p, k);
        part->n_value++;
        part->n_value_lost += r < 0;
        if (r >= 0) now[3 * r + component] = held[3 * (int64_t)p->node[k] + component];
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

static int find_supports(hx_surface_part *part, const hx_session *s, const hx_mesh *raw,
                         const double *held, uint8_t *flag, double *now)
{
    for (int64_t k = 0; k < 3 * raw->n_node; k++) now[k] = (double)NAN;
    for (int d = 0; d < 3; d++) {
        patch p;
        for (int64_t a = 0; a < s->mesh.n_node; a++)
            flag[a] = (uint8_t)(isnan(held[3 * a + d]) ? 0 : 1);
        int rc = make_patch(&p, &s->mesh, raw, flag);
        if (rc == HX_OK) rc = find_component(part, &p, d, held, now);
        free_patch(&p);
        HX_TRY(rc);
    }
    return keep_values(raw, now, 0, &part->conditions.n_support, &part->conditions.support);
}

/* --- forces --- */

/* Computes now[], forces at nodes of raw: the traction of the nearest node, and the remainder of
 * the sum evenly; f[] NaN: none. */
static void spread(const patch *p, const double *f, double *now)
{
    double lacks[3] = {0.0, 0.0, 0.0}, area = 0.0;
    for (int64_t k = 0; k < p->n_node; k++)
        for (int d = 0; d < 3; d++)
            if (p->area[p->node[k]] > 0.0) lacks[d] += f[3 * (int64_t)p->node[k] + d];
    for (int64_t r = 0; r < p->raw->n_node; r++) {
        if (!(p->area_raw[r] > 0.0)) continue;
        const int64_t a = nearest_of(p, r);
        area += p->area_raw[r];
        for (int d = 0; d < 3; d++) {
            /* a node without area receives its own force */
            now[3 * r + d] = p->area[a] > 0.0 ? p->area_raw[r] * f[3 * a + d] / p->area[a] : 0.0;
            lacks[d] -= now[3 * r + d];
        }
    }
    for (int64_t k = 0; k < 3 * p->raw->n_node; k++)
        if (p->area_raw[k / 3] > 0.0) now[k] += p->area_raw[k / 3] / area * lacks[k % 3];
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

static void add_points(hx_surface_part *part, const patch *p, const double *f, double *now)
{
    for (int64_t k = 0; k < p->n_node; k++) {
        const int64_t a = p->node[k];
        if (p->n_to > 0 && p->area[a] > 0.0) continue;
        const int64_t r = raw_node_at(p, k);
        part->n_value++;
        part->n_value_lost += r < 0;
        for (int d = 0; r >= 0 && d < 3; d++)
            now[3 * r + d] = (isnan(now[3 * r + d]) ? 0.0 : now[3 * r + d]) + f[3 * a + d];
    }
}

static int note_area(hx_surface_part *part, const patch *p, int load_case)
{
    const double from = hx_faces_area(p->mesh, p->n_from, p->from);
    const double to = hx_faces_area(p->raw, p->n_to, p->to);
    if (!(from > 0.0) || to > 0.99 * from) return HX_OK;
    return hx_notes_add(&part->notes, HX_NOTE_WARNING,
                        "step %d of the mesh's file: %.3g %% of the loaded area is on the surface",
                        load_case, 100.0 * to / from);
}

static int find_forces(hx_surface_part *part, const hx_session *s, const hx_mesh *raw,
                       int load_case, const double *f, uint8_t *flag, double *now)
{
    patch p;
    hx_conditions *const to = &part->conditions;
    int rc, any = 0;
    for (int64_t k = 0; k < 3 * raw->n_node; k++) now[k] = (double)NAN;
    memset(flag, 0, (size_t)s->mesh.n_node);
    for (int64_t a = 0; a < s->mesh.n_node; a++) {
        if (f[3 * a] == 0.0 && f[3 * a + 1] == 0.0 && f[3 * a + 2] == 0.0) continue;
        flag[a] = 1;
        any = 1;
    }
    if (!any) return HX_OK;
    HX_TRY_FAIL(make_patch(&p, &s->mesh, raw, flag));
    spread(&p, f, now);
    HX_TRY_FAIL(add_middles(&p, now, load_case, to));
    add_points(part, &p, f, now);
    HX_TRY_FAIL(note_area(part, &p, load_case));
    rc = keep_values(raw, now, load_case, &to->n_force, &to->force);
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

/* Adds to *n the flagged nodes that span no boundary face with others. */
static int count_alone(const hx_mesh *mesh, uint8_t *flag, int64_t *n)
{
    int64_t n_face = 0, *face = NULL;
    HX_TRY(hx_mesh_boundary_faces(mesh, flag, &n_face, &face));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        const int m = hx_cell_face(mesh->conn + 8 * (face[f] / 6), (int)(face[f] % 6), node);
        for (int k = 0; k < m; k++) flag[node[k]] = 0;
    }
    for (int64_t a = 0; a < mesh->n_node; a++) *n += flag[a];
    free(face);
    return HX_OK;
}

/* flag[n_node]: nodes with a support of component i or, for i >= 3, with a force of step i - 2. */
static void flag_values(const hx_conditions *c, const int32_t *support, const int32_t *force, int i,
                        int64_t n_node, uint8_t *flag)
{
    memset(flag, 0, (size_t)n_node);
    for (int64_t k = 0; i < 3 && k < c->n_support; k++)
        if (c->support[k].component == i) flag[support[k]] = 1;
    for (int64_t k = 0; i >= 3 && k < c->n_force; k++)
        if (c->force[k].load_case == i - 2 && c->force[k].value != 0.0) flag[force[k]] = 1;
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
        flag_values(c, support, force, i, s->mesh.n_node, flag);
        HX_TRY_FAIL(count_alone(&s->mesh, flag, n));
    }
    rc = HX_OK;
fail:
    free(support);
    free(force);
    free(flag);
    return rc;
}

int hx_surface_file_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw)
{
    int rc;
    const hx_conditions *const from = &s->conditions;
    hx_conditions *const to = &part->conditions;
    double *old = NULL, *now = NULL;
    uint8_t *flag = NULL;
    to->n_case = from->n_case;
    HX_TRY(hx_conditions_copy_named(to, from));
    if (from->n_support + from->n_force == 0) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&old, (size_t)s->mesh.n_node, 3 * sizeof *old, "supports of a file"));
    HX_TRY_FAIL(hx_alloc_raw(&now, (size_t)raw->n_node, 3 * sizeof *now, "supports of a file"));
    HX_TRY_FAIL(hx_alloc_raw(&flag, (size_t)s->mesh.n_node, 1, "supports of a file"));
    if (from->n_support > 0) {
        HX_TRY_FAIL(scatter(&s->mesh, from->n_support, from->support, 0, (double)NAN, old));
        HX_TRY_FAIL(find_supports(part, s, raw, old, flag, now));
    }
    for (int i = 1; i <= last_step(from); i++) {
        HX_TRY_FAIL(scatter(&s->mesh, from->n_force, from->force, i, 0.0, old));
        HX_TRY_FAIL(find_forces(part, s, raw, i, old, flag, now));
    }
    if (part->n_value_lost > 0)
        HX_TRY_FAIL(hx_notes_add(&part->notes, HX_NOTE_WARNING,
                                 "%lld of the %lld %s of the mesh's file with a support or force "
                                 "of their own are not on the surface and are left out",
                                 (long long)part->n_value_lost, (long long)part->n_value,
                                 hx_noun(part->n_value, "node", "nodes")));
fail:
    free(old);
    free(now);
    free(flag);
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
