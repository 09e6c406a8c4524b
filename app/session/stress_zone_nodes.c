#include "stress_zone_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/mesh/load_faces.h"
#include "stress_zone_edges.h"

typedef struct zone_nodes {
    const hx_config *cfg;
    const hx_mesh *mesh;
    const hx_conditions *file;
    uint8_t *is_marked;
    unsigned kinds;
    char *text; /* what has no zone */
    size_t n_text;
} zone_nodes;

static void name_unzoned(zone_nodes *z, const char *set, const char *why)
{
    const size_t used = strlen(z->text);
    char item[512];
    hx_fit(item, sizeof item, "%s%s%s (%s)", set ? "'" : "", set ? set : "the mesh file",
           set ? "'" : "", why);
    if (strstr(z->text, item)) return; /* it is loaded in several cases */
    hx_fit(z->text + used, z->n_text - used, "%s%s", used ? ", " : "", item);
}

static void mark(zone_nodes *z, int32_t node, unsigned kind)
{
    z->is_marked[node] = 1;
    z->kinds |= kind;
}

static void mark_set(zone_nodes *z, const hx_set *set, unsigned kind)
{
    for (int64_t k = 0; k < set->n_node; k++) mark(z, set->node[k], kind);
}

/* --- nodes that are held, by a mask of components --- */

static int is_firm(unsigned components)
{
    return (components & 1u) + (components >> 1 & 1u) + (components >> 2 & 1u) >= 2;
}

/* Components that all corners of a face have. */
static unsigned common(int n, const int32_t *corner, const uint8_t *held)
{
    unsigned all = 7;
    for (int i = 0; i < n; i++) all &= held[corner[i]];
    return all;
}

/* spread[n_node] := components that a node shares with all corners of a boundary face or of an
 * element. */
static void find_spread(const hx_mesh *mesh, int64_t n_face, const int64_t *face,
                        const uint8_t *held, uint8_t *spread)
{
    int32_t corner[4];
    for (int64_t k = 0; k < n_face; k++) {
        const int n = hx_cell_face(mesh->conn + 8 * (face[k] / 6), (int)(face[k] % 6), corner);
        const unsigned all = common(n, corner, held);
        for (int i = 0; all && i < n; i++) spread[corner[i]] |= (uint8_t)all;
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        const unsigned all = common(8, conn, held);
        for (int i = 0; all && i < 8; i++) spread[conn[i]] |= (uint8_t)all;
    }
}

/* Marks the corners of firmly held faces that also belong to other boundary faces. firm[n_node] is
 * 0 before. */
static void mark_rims(zone_nodes *z, int64_t n_face, const int64_t *face, const uint8_t *held,
                      uint8_t *firm, unsigned kind)
{
    for (int is_other = 0; is_other < 2; is_other++)
        for (int64_t k = 0; k < n_face; k++) {
            int32_t corner[4];
            const int n =
                hx_cell_face(z->mesh->conn + 8 * (face[k] / 6), (int)(face[k] % 6), corner);
            if (is_firm(common(n, corner, held)) == is_other) continue;
            for (int i = 0; i < n; i++) {
                if (!is_other) firm[corner[i]] = 1;
                if (is_other && firm[corner[i]]) mark(z, corner[i], kind);
            }
        }
}

/* Marks held nodes outside of held faces, and rims if asked for. */
static int mark_held(zone_nodes *z, const uint8_t *held, int has_rims, unsigned kind)
{
    const size_t n_node = (size_t)z->mesh->n_node;
    int64_t n_face, *face = NULL;
    uint8_t *spread = NULL, *firm = NULL;
    int rc;
    HX_TRY_FAIL(hx_mesh_boundary_faces(z->mesh, NULL, &n_face, &face));
    HX_TRY_FAIL(hx_alloc(&spread, n_node, 1, "nodes of zones"));
    HX_TRY_FAIL(hx_alloc(&firm, n_node, 1, "nodes of zones"));
    find_spread(z->mesh, n_face, face, held, spread);
    for (int32_t a = 0; a < z->mesh->n_node; a++)
        if (held[a] & ~(unsigned)spread[a]) mark(z, a, kind);
    if (has_rims) mark_rims(z, n_face, face, held, firm, kind);
fail:
    free(face);
    free(spread);
    free(firm);
    return rc;
}

/* --- supports and springs --- */

/* Adds components of a set to held[n_node]; a set that spans no face is marked. */
static int hold_set(zone_nodes *z, const char *name, unsigned components, uint8_t *held,
                    unsigned kind)
{
    const hx_set *const set = name ? hx_mesh_find_set(z->mesh, name) : NULL;
    int64_t n_face, *face = NULL;
    int32_t corner[4];
    if (!set || components == 0) return HX_OK; /* the problem names an unknown set */
    HX_TRY(hx_load_faces(z->mesh, set, &n_face, &face));
    for (int64_t k = 0; k < n_face; k++) {
        const int n = hx_cell_face(z->mesh->conn + 8 * (face[k] / 6), (int)(face[k] % 6), corner);
        for (int i = 0; i < n; i++) held[corner[i]] |= (uint8_t)components;
    }
    free(face);
    for (int64_t k = 0; n_face > 0 && k < set->n_node; k++)
        held[set->node[k]] |= (uint8_t)components;
    if (n_face == 0) mark_set(z, set, kind);
    /* as a plane of symmetry, which leaves stresses finite */
    else if (!is_firm(components))
        name_unzoned(z, name,
                     kind == HX_ZONE_SPRING ? "sprung along one axis" : "held along one axis");
    return HX_OK;
}

static unsigned components_of(const hx_config_support *support)
{
    unsigned components = 0;
    for (unsigned i = 0; support->fix && i < 3; i++)
        if (strchr(support->fix, "xyz"[i])) components |= 1u << i;
    return components;
}

/* Supports that the mesh file states; rigid sets that it holds entirely are supports, too. */
static int hold_file(zone_nodes *z, uint8_t *held)
{
    const hx_conditions *const file = z->file;
    int32_t *node = NULL;
    int is_single = 0;
    HX_TRY(hx_conditions_nodes(z->mesh, file->n_support, file->support, &node));
    for (int64_t i = 0; i < file->n_support; i++)
        held[node[i]] |= (uint8_t)(1u << (unsigned)file->support[i].component);
    for (int64_t i = 0; i < file->n_support; i++) is_single |= !is_firm(held[node[i]]);
    free(node);
    if (is_single) name_unzoned(z, NULL, "faces that it holds along one axis");
    for (int64_t i = 0; i < file->n_rigid; i++)
        if (file->rigid[i].held == HX_FILE_HELD_ALL)
            HX_TRY(hold_set(z, file->rigid[i].set, 7, held, HX_ZONE_SUPPORT));
    return HX_OK;
}

static int mark_supports(zone_nodes *z)
{
    const hx_config_support *const support = z->cfg->supports.entry;
    uint8_t *held;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&held, (size_t)z->mesh->n_node, 1, "nodes of supports"));
    for (size_t i = 0; rc == HX_OK && i < z->cfg->supports.n; i++)
        rc = support[i].from
                 ? hold_file(z, held)
                 : hold_set(z, support[i].set, components_of(&support[i]), held, HX_ZONE_SUPPORT);
    if (rc == HX_OK) rc = mark_held(z, held, 1, HX_ZONE_SUPPORT);
    free(held);
    return rc;
}

/* Springs hold as supports do, and stiff ones as firmly. */
static int mark_springs(zone_nodes *z)
{
    const hx_config_spring *const spring = z->cfg->springs.entry;
    uint8_t *held;
    int rc = HX_OK;
    if (z->cfg->springs.n == 0) return HX_OK;
    HX_TRY(hx_alloc(&held, (size_t)z->mesh->n_node, 1, "nodes of springs"));
    for (size_t i = 0; rc == HX_OK && i < z->cfg->springs.n; i++) {
        unsigned components = 0;
        for (unsigned k = 0; k < 3; k++)
            if (spring[i].stiffness[k] > 0.0) components |= 1u << k;
        rc = hold_set(z, spring[i].set, components, held, HX_ZONE_SPRING);
    }
    if (rc == HX_OK) rc = mark_held(z, held, 1, HX_ZONE_SPRING);
    free(held);
    return rc;
}

/* --- loads --- */

/* Marks a set on which a total acts if it spans no face. */
static int mark_total(zone_nodes *z, const hx_set *set)
{
    int64_t n_face, *face = NULL;
    HX_TRY(hx_load_faces(z->mesh, set, &n_face, &face));
    free(face);
    if (n_face == 0)
        mark_set(z, set, HX_ZONE_POINT_LOAD);
    else
        name_unzoned(z, set->name, "load spread over faces");
    return HX_OK;
}

static int acts_in(const hx_conditions *file, const hx_config_load *load, int step)
{
    const int of_case = file->n_case == 1 && load->load_case > 0 ? load->load_case : step;
    return load->load_case == 0 || of_case == load->load_case;
}

/* Nodal forces that the mesh file states are loads of points unless they span a face. */
static int mark_file_forces(zone_nodes *z, const hx_config_load *load)
{
    const hx_conditions *const file = z->file;
    int32_t *node = NULL;
    uint8_t *forced = NULL;
    int rc, any = 0;
    HX_TRY_FAIL(hx_conditions_nodes(z->mesh, file->n_force, file->force, &node));
    HX_TRY_FAIL(hx_alloc(&forced, (size_t)z->mesh->n_node, 1, "nodes of forces"));
    for (int64_t i = 0; i < file->n_force; i++) {
        if (!acts_in(file, load, file->force[i].load_case)) continue;
        forced[node[i]] = 1;
        any = 1;
    }
    if (any) rc = mark_held(z, forced, 0, HX_ZONE_POINT_LOAD);
fail:
    free(node);
    free(forced);
    return rc;
}

static int mark_file_loads(zone_nodes *z, const hx_config_load *load)
{
    int is_spread = 0;
    HX_TRY(mark_file_forces(z, load));
    for (int64_t i = 0; i < z->file->n_load; i++) {
        const hx_file_load *const from = &z->file->load[i];
        const hx_set *const set = from->set ? hx_mesh_find_set(z->mesh, from->set) : NULL;
        if (!acts_in(z->file, load, from->load_case)) continue;
        if (set && from->kind == HX_FILE_REMOTE) HX_TRY(mark_total(z, set));
        is_spread |= from->kind == HX_FILE_PRESSURE;
    }
    if (is_spread) name_unzoned(z, NULL, "pressures");
    return HX_OK;
}

static int mark_load(zone_nodes *z, const hx_config_load *load)
{
    const hx_set *const set = load->set ? hx_mesh_find_set(z->mesh, load->set) : NULL;
    const int is_remote = !isnan(load->remote_force[0]) || !isnan(load->moment[0]);
    if (load->from) return mark_file_loads(z, load);
    if (!set) return HX_OK;
    if (!isnan(load->node_force[0]))
        mark_set(z, set, HX_ZONE_POINT_LOAD);
    else if (is_remote && load->coupling == HX_COUPLING_RIGID)
        mark_set(z, set, HX_ZONE_RIGID);
    else if (is_remote || !isnan(load->total_force[0]))
        HX_TRY(mark_total(z, set));
    else if (!isnan(load->pressure) || !isnan(load->traction[0]) || !isnan(load->bearing_force[0]))
        name_unzoned(z, set->name, "load spread over faces");
    return HX_OK;
}

static int mark_loads(zone_nodes *z)
{
    const hx_config_load *const load = z->cfg->loads.entry;
    for (size_t i = 0; i < z->cfg->loads.n; i++) HX_TRY(mark_load(z, &load[i]));
    return HX_OK;
}

/* Rigid sets of the mesh file act with any of its supports or loads. */
static void mark_file_rigid(zone_nodes *z)
{
    const hx_config_support *const support = z->cfg->supports.entry;
    const hx_config_load *const load = z->cfg->loads.entry;
    int is_by_file = 0;
    for (size_t i = 0; i < z->cfg->supports.n; i++) is_by_file |= support[i].from != NULL;
    for (size_t i = 0; i < z->cfg->loads.n; i++) is_by_file |= load[i].from != NULL;
    for (int64_t i = 0; is_by_file && i < z->file->n_rigid; i++) {
        const hx_set *const set = hx_mesh_find_set(z->mesh, z->file->rigid[i].set);
        if (set && z->file->rigid[i].held != HX_FILE_HELD_ALL) mark_set(z, set, HX_ZONE_RIGID);
    }
}

int hx_stress_zone_nodes(const hx_config *cfg, const hx_mesh *mesh, const hx_conditions *conditions,
                         const double *density, uint8_t *is_marked, unsigned *kinds, char *unzoned,
                         size_t n_unzoned)
{
    zone_nodes z = {cfg, mesh, conditions, is_marked, 0, unzoned, n_unzoned};
    int is_any = 0;
    unzoned[0] = '\0';
    HX_TRY(mark_loads(&z));
    HX_TRY(mark_supports(&z));
    HX_TRY(mark_springs(&z));
    mark_file_rigid(&z);
    if (density) HX_TRY(hx_stress_zone_edges(mesh, density, is_marked, &is_any));
    if (is_any) z.kinds |= HX_ZONE_PASSIVE;
    *kinds = z.kinds;
    return HX_OK;
}
