/* Nodal forces of a load: point forces, distributed totals, and consistent loads of tractions on
 * faces. */
#include <math.h>
#include <stdlib.h>

#include "../base/names.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"

static int note_inner_faces(const hx_problem_params *params, const hx_mesh *mesh, const char *name,
                            const char *origin)
{
    const hx_set *set = name ? hx_mesh_find_set(mesh, name) : NULL;
    for (size_t i = 0; set && set->rule != HX_SET_NOT && i < set->n_part; i++)
        HX_TRY(note_inner_faces(params, mesh, set->part[i], origin));
    const int64_t n = set ? hx_set_inner_faces(mesh, set) : 0;
    if (n == 0) return HX_OK;
    return hx_notes_add(params->notes, HX_NOTE_WARNING,
                        "%s: %lld of the %lld %s of set '%s' lie between two elements, not on the "
                        "boundary of the part, and are ignored",
                        origin, (long long)n, (long long)set->n_face,
                        hx_noun(set->n_face, "face", "faces"), name);
}

int hx_problem_note_faces(const hx_mesh *mesh, const hx_problem_params *params)
{
    if (!params->notes) return HX_OK;
    for (size_t i = 0; i < params->n_load; i++)
        if (params->load[i].kind != HX_LOAD_NODE_FORCE && params->load[i].kind != HX_LOAD_SOURCE &&
            params->load[i].kind != HX_LOAD_NODE_HEAT)
            HX_TRY(note_inner_faces(params, mesh, params->load[i].set, params->load[i].origin));
    for (int64_t i = 0; hx_params_load_by_file(params) && i < params->conditions->n_load; i++)
        HX_TRY(note_inner_faces(params, mesh, params->conditions->load[i].set, mesh->name));
    for (size_t i = 0; i < params->n_spring; i++)
        if (params->spring[i].per != HX_SPRING_NODE)
            HX_TRY(note_inner_faces(params, mesh, params->spring[i].set, params->spring[i].origin));
    for (size_t i = 0; i < params->n_convection; i++)
        HX_TRY(note_inner_faces(params, mesh, params->convection[i].set,
                                params->convection[i].origin));
    for (size_t i = 0; i < params->n_passive; i++)
        if (params->passive[i].skin > 0.0)
            HX_TRY(
                note_inner_faces(params, mesh, params->passive[i].set, params->passive[i].origin));
    return HX_OK;
}

/* Adds the traction t (force per area) or, if t is NULL, the pressure p against the outward
 * normal. */
static void add_traction(const hx_space *space, int64_t n_face, const int64_t *face,
                         const double *t, double p, double *force)
{
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(space, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++) {
            const double *const normal = at.at[q].normal, area = hx_norm3(normal);
            for (int a = 0; a < at.n; a++)
                for (int i = 0; i < 3; i++)
                    force[3 * (int64_t)at.point[a] + i] +=
                        at.shape[q][a] * (t ? t[i] * area : -p * normal[i]);
        }
    }
}

/* Also refuses NaN. */
static int check_value(const hx_load_spec *load, const double value[3])
{
    for (int i = 0; i < 3; i++) {
        const double size = fabs(value[i]);
        if (!isfinite(size))
            return HX_RAISE(HX_EINPUT, "%s: a load of %g is not finite", load->origin, value[i]);
        if (size > 0.0 && size < 1e-140) /* its square, and so the norm of the load, would be 0 */
            return HX_RAISE(HX_EINPUT,
                            "%s: a load of %g is too small for double precision; use other units",
                            load->origin, value[i]);
    }
    return HX_OK;
}

static int is_remote(const hx_load_spec *load)
{
    return load->kind == HX_LOAD_REMOTE || load->kind == HX_LOAD_REMOTE_RIGID;
}

static int check_values(const hx_load_spec *load)
{
    HX_TRY(check_value(load, load->value));
    if (!is_remote(load)) return HX_OK;
    HX_TRY(check_value(load, load->moment));
    for (int i = 0; i < 3; i++)
        if (!isfinite(load->point[i]))
            return HX_RAISE(HX_EINPUT, "%s: point[%d] = %g is not finite", load->origin, i,
                            load->point[i]);
    return HX_OK;
}

/* For a set that spans no boundary face. */
static int add_without_faces(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                             int64_t n_node, double *force)
{
    if (load->kind == HX_LOAD_TOTAL_FORCE) {
        hx_problem_add_at_nodes(space, set, 3, load->value, 1.0 / (double)n_node, force);
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' spans no boundary face (%lld %s), but a %s needs a surface; name "
                    "a set of faces, or use total_force or node_force",
                    load->origin, load->set, (long long)n_node, hx_noun(n_node, "node", "nodes"),
                    load->kind == HX_LOAD_PRESSURE ? "pressure" : "traction");
}

/* Adds loads on faces, and total forces of sets without faces. */
static int add_surface_load(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                            int64_t n_node, double *force)
{
    int64_t n_face = 0, *face = NULL, n_all;
    double area, t[3];
    HX_TRY(hx_problem_faces(space->mesh, set, load->origin, &n_face, &face));
    int rc = hx_problem_measure_faces(space, n_face, face, &n_all, &area);
    for (int i = 0; rc == HX_OK && i < 3; i++)
        t[i] = load->kind == HX_LOAD_TOTAL_FORCE ? load->value[i] / area : load->value[i];
    if (rc == HX_OK && n_all == 0)
        rc = add_without_faces(space, set, load, n_node, force);
    else if (rc == HX_OK)
        add_traction(space, n_face, face, load->kind == HX_LOAD_PRESSURE ? NULL : t, load->value[0],
                     force);
    free(face);
    return rc;
}

int hx_problem_add_load(const hx_space *space, const hx_load_spec *load, double *force)
{
    const hx_set *set;
    int64_t n_node;
    HX_TRY(check_values(load));
    HX_TRY(hx_problem_find_set(space->mesh, load->set, load->origin, &set));
    HX_TRY(hx_problem_count_takers(space->mesh, set, load->origin,
                                   load->kind != HX_LOAD_NODE_FORCE && !is_remote(load), &n_node));
    switch (load->kind) {
    case HX_LOAD_NODE_FORCE:
        hx_problem_add_at_nodes(space, set, 3, load->value, 1.0, force);
        return HX_OK;
    case HX_LOAD_BEARING:
        return hx_load_add_bearing(space, load, force);
    case HX_LOAD_REMOTE:
    case HX_LOAD_REMOTE_RIGID: /* on a rigid set only the resultant force and moment matter */
        return hx_load_add_remote(space, set, load, force);
    default:
        return add_surface_load(space, set, load, n_node, force);
    }
}
