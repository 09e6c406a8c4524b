/* What a condition acts on: a set with its faces, nodes and points, and the values that it
 * prescribes or adds there. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"

int hx_problem_find_set(const hx_mesh *mesh, const char *name, const char *origin,
                        const hx_set **set)
{
    const char *names[64];
    char hint[1024];
    size_t n = 0, i = 0;
    *set = hx_mesh_find_set(mesh, name);
    if (*set) return HX_OK;
    for (; i < mesh->n_set && n < sizeof names / sizeof names[0]; i++)
        if (!mesh->set[i].is_internal) names[n++] = mesh->set[i].name;
    return HX_RAISE(HX_EINPUT, "%s: the mesh has no set '%s'%s", origin, name,
                    hx_name_hint(name, names, n, hint, sizeof hint));
}

int hx_problem_faces(const hx_mesh *mesh, const hx_set *set, const char *origin, int64_t *n_face,
                     int64_t **face)
{
    const int rc = hx_load_faces(mesh, set, n_face, face);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", origin);
    return rc;
}

int hx_problem_measure_faces(const hx_space *space, int64_t n_face, const int64_t *face,
                             int64_t *n_all, double *area)
{
    const hx_mesh *const mesh = space->mesh;
    const int64_t begin = 6 * hx_mesh_own_begin(mesh), end = 6 * hx_mesh_own_end(mesh);
    int64_t *own;
    *n_all = 0;
    HX_TRY(hx_alloc_raw(&own, (size_t)n_face, sizeof *own, "load faces"));
    for (int64_t f = 0; f < n_face; f++)
        if (face[f] >= begin && face[f] < end) own[(*n_all)++] = face[f];
    *area = hx_space_faces_area(space, *n_all, own);
    free(own);
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), 1, n_all));
    return hx_reduce_sum(hx_mesh_reduce(mesh), 1, area);
}

int hx_problem_count_nodes(const hx_mesh *mesh, const hx_set *set, int64_t *n_all)
{
    *n_all = 0;
    for (int64_t k = 0; k < set->n_node; k++) *n_all += hx_mesh_owns_node(mesh, set->node[k]);
    return hx_reduce_sum_i64(hx_mesh_reduce(mesh), 1, n_all);
}

int hx_problem_count_takers(const hx_mesh *mesh, const hx_set *set, const char *origin,
                            int by_faces, int64_t *n_all)
{
    int64_t n_face;
    HX_TRY(hx_problem_count_nodes(mesh, set, n_all));
    HX_TRY(hx_mesh_count_all(mesh, by_faces ? set->n_face : 0, &n_face));
    if (*n_all > 0 || n_face > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: set '%s' contains no node for the load to act on", origin,
                    set->name);
}

int hx_problem_set_points(const hx_space *space, const hx_set *set, const char *origin, int64_t *n,
                          int32_t **point)
{
    const int rc = hx_space_set_points(space, set, n, point);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", origin);
    return rc;
}

int hx_problem_refuse_spline(const hx_space *space, const char *origin, const char *what)
{
    if (space->element != HX_ELEMENT_SPLINE) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: %s, but nodes are not control points of a spline; name a set of faces, or "
                    "use element = \"linear\"",
                    origin, what);
}

void hx_problem_add_at_nodes(const hx_space *space, const hx_set *set, int components,
                             const double *value, double share, double *to)
{
    for (int64_t k = 0; k < set->n_node; k++) {
        int32_t point[HX_SPLINE_CELL_POINTS];
        double part[HX_SPLINE_CELL_POINTS];
        const int n = hx_space_node_points(space, set->node[k], point, part);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < components; i++)
                to[components * (int64_t)point[a] + i] += part[a] * (share * value[i]);
    }
}

int hx_params_hold_by_file(const hx_problem_params *params)
{
    for (size_t i = 0; params->conditions && i < params->n_support; i++)
        if (!params->support[i].set) return 1;
    return 0;
}

int hx_params_load_by_file(const hx_problem_params *params)
{
    for (size_t i = 0; params->conditions && i < params->n_load; i++)
        if (params->load[i].kind == HX_LOAD_FROM_FILE) return 1;
    return 0;
}

static int refuse_other_value(const hx_problem *problem, const char *origin, int64_t point, int i,
                              double before, double wanted)
{
    const char *const component[] = {"x", "y", "z"};
    const int is_heat = hx_problem_is_heat(problem);
    const int64_t node = hx_space_near_node(&problem->space, point);
    return HX_RAISE(HX_EINPUT,
                    "%s: node %lld%s: an earlier support prescribes %s = %g, this one %g; supports "
                    "with common nodes must agree",
                    origin, (long long)hx_mesh_node_number(problem->mesh, node),
                    problem->space.element == HX_ELEMENT_SPLINE ? " (a control point near it)"
                    : point < problem->mesh->n_node             ? ""
                                                                : " (the middle of an edge there)",
                    is_heat ? "temperature" : component[i],
                    before + (is_heat ? problem->reference : 0.0), wanted);
}

int hx_problem_hold(hx_problem *problem, const char *origin, int64_t node, int i, double wanted)
{
    double zero = 0.0; /* displacement of all nodes if no list is stored */
    double *value = problem->supports.prescribed
                        ? problem->supports.prescribed + problem->components * node + i
                        : &zero;
    const double counted = hx_problem_is_heat(problem) ? wanted - problem->reference : wanted;
    if (!isfinite(wanted) && hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: temperature = %g is not finite", origin, wanted);
    if (!isfinite(wanted))
        return HX_RAISE(HX_EINPUT, "%s: value[%d] = %g is not a finite displacement", origin, i,
                        wanted);
    if (problem->supports.fixed[node] >> i & 1 && *value != counted)
        return refuse_other_value(problem, origin, node, i, *value, wanted);
    *value = counted;
    problem->supports.fixed[node] |= (uint8_t)(1u << i);
    return HX_OK;
}

void hx_problem_measure_case(hx_problem *problem, int load_case)
{
    const int64_t n_dof = problem->components * problem->space.n_point;
    const double *const force = problem->cases.force[load_case];
    double most = problem->cases.size[load_case];
#pragma omp parallel for simd schedule(static) reduction(max : most)
    for (int64_t k = 0; k < n_dof; k++) most = fmax(most, fabs(force[k]));
    problem->cases.size[load_case] = most;
}
