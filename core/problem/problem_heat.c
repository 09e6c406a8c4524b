/* Parts of a problem that are specific to heat: the conductivity, the reference temperature,
 * sources, total heats and fluxes as power at nodes, and whether the temperature of each body is
 * determined. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "../mesh/hex8.h"
#include "../mesh/load_faces.h"
#include "../mesh/mesh_quality.h"
#include "problem_internal.h"

int hx_problem_check_conduction(const hx_problem_params *params)
{
    const double k = params->conductivity, least = params->conductivity_min;
    if (!(k > 0.0) || k > 1e300)
        return HX_RAISE(HX_EINPUT,
                        "%s: material.conductivity = %g is out of range; it must be above 0",
                        params->origin, k);
    if (!(least >= 0.0) || !(least < k))
        return HX_RAISE(HX_EINPUT,
                        "%s: material.conductivity_min = %g is out of range; it must be at "
                        "least 0 and below material.conductivity = %g, or no density changes "
                        "anything",
                        params->origin, least, k);
    return HX_OK;
}

/* Includes a temperature. */
static void meet_temperature(double temperature, int *n, double *lowest, int *is_mixed)
{
    *is_mixed |= *n > 0 && temperature != *lowest;
    if (*n == 0 || temperature < *lowest) *lowest = temperature;
    (*n)++;
}

void hx_problem_find_reference(hx_problem *problem, const hx_problem_params *params)
{
    double lowest = 0.0;
    int n = 0;
    for (size_t i = 0; i < params->n_support; i++)
        meet_temperature(params->support[i].value[0], &n, &lowest, &problem->is_mixed);
    for (size_t i = 0; i < params->n_convection; i++)
        meet_temperature(params->convection[i].ambient, &n, &lowest, &problem->is_mixed);
    problem->reference = isfinite(lowest) ? lowest : 0.0;
}

int hx_load_is_heat(const hx_load_spec *load)
{
    return load->kind == HX_LOAD_SOURCE || load->kind == HX_LOAD_HEAT ||
           load->kind == HX_LOAD_FLUX || load->kind == HX_LOAD_NODE_HEAT;
}

/* power[point] += rate int N dV of a spline cell; returns its volume. */
static double add_span(const hx_space *space, int64_t cell, double rate, double *power)
{
    double f[HX_SPLINE_LANES], one[HX_SPLINE_LANES], volume = 0.0;
    hx_spline_cell tables;
    hx_spline_place place;
    hx_space_spline_cell(space, cell, &tables, &place);
    for (int q = 0; q < tables.n; q++) {
        volume += place.volume[q];
        one[q] = 1.0;
    }
    if (!power) return volume;
    hx_spline_cell_integrate(&tables, &place, one, f);
    for (int a = 0; a < tables.n; a++) power[tables.point[a]] += rate * f[a];
    return volume;
}

/* Adds the same integral for a quadratic cell. */
static double add_quadratic_cell(const hx_space *space, int64_t cell, double rate, double *power)
{
    if (space->element == HX_ELEMENT_SPLINE) return add_span(space, cell, rate, power);
    const int index = hx_cell_load_rule(space->kind[cell], hx_space_is_curved(space));
    const hx_cell_rule *rule = &space->rule[index];
    double volume = 0.0;
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    for (int q = 0; q < rule->n_gauss; q++) {
        double at[3];
        const double share = rule->weight[q] * hx_space_map_by(space, cell, rule, q, at);
        volume += share;
        for (int a = 0; power && a < n; a++) power[point[a]] += rate * share * rule->shape[q][a];
    }
    return volume;
}

/* Adds it for a linear cell; a node that the cell names twice gets both shares. */
static void add_heat_element(const hx_space *space, int64_t e, double rate, double *power)
{
    const hx_mesh *mesh = space->mesh;
    const int32_t *conn = mesh->conn + 8 * e;
    double x[24], inverse[3][3];
    if (space->element != HX_ELEMENT_LINEAR) {
        (void)add_quadratic_cell(space, e, rate, power);
        return;
    }
    for (int a = 0; a < 8; a++) memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        const double share = rate * hx_hex8_jacobian(x, r, s, t, inverse);
        for (int a = 0; a < 8; a++) power[conn[a]] += share * hx_hex8_shape(a, r, s, t);
    }
}

static double volume_of(const hx_space *space, int64_t e)
{
    const hx_mesh *mesh = space->mesh;
    const int32_t *conn = mesh->conn + 8 * e;
    double x[24];
    if (space->element != HX_ELEMENT_LINEAR) return add_quadratic_cell(space, e, 0.0, NULL);
    for (int a = 0; a < 8; a++) memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
    return hx_hex8_volume(x);
}

static int add_source(const hx_space *space, const hx_load_spec *load, double *power)
{
    const hx_mesh *mesh = space->mesh;
    const hx_set *set;
    if (!load->set) {
        for (int64_t e = 0; e < mesh->n_elem; e++)
            add_heat_element(space, e, load->value[0], power);
        return HX_OK;
    }
    int64_t n_elem;
    HX_TRY(hx_problem_find_set(mesh, load->set, load->origin, &set));
    HX_TRY(hx_mesh_count_all(mesh, set->n_elem, &n_elem));
    if (n_elem == 0)
        return HX_RAISE(
            HX_EINPUT,
            "%s: set '%s' contains no element (%lld %s), but a source needs a volume; name a set "
            "of elements, omit `set` for the whole part, or use flux or heat",
            load->origin, load->set, (long long)set->n_node, hx_noun(set->n_node, "node", "nodes"));
    for (int64_t k = 0; k < set->n_elem; k++)
        add_heat_element(space, set->elem[k], load->value[0], power);
    return HX_OK;
}

static void add_flux(const hx_space *space, int64_t n_face, const int64_t *face, double flux,
                     double *power)
{
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(space, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++) {
            const double share = flux * hx_norm3(at.at[q].normal);
            for (int a = 0; a < at.n; a++) power[at.point[a]] += share * at.shape[q][a];
        }
    }
}

/* Adds fluxes, and total heats of sets without volume; n_node: nodes of the set. */
static int add_to_surface(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                          int64_t n_node, double *power)
{
    int64_t n_face = 0, *face = NULL, n_all;
    const int is_total = load->kind == HX_LOAD_HEAT;
    double area;
    HX_TRY(hx_problem_faces(space->mesh, set, load->origin, &n_face, &face));
    const int rc = hx_problem_measure_faces(space, n_face, face, &n_all, &area);
    if (rc == HX_OK && n_all > 0)
        add_flux(space, n_face, face, load->value[0] / (is_total ? area : 1.0), power);
    else if (rc == HX_OK && is_total)
        hx_problem_add_at_nodes(space, set, 1, load->value, 1.0 / (double)n_node, power);
    free(face);
    if (rc < 0 || n_all > 0 || is_total) return rc;
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' spans no boundary face (%lld %s), but a flux needs a surface; "
                    "name a set of faces, or use heat",
                    load->origin, load->set, (long long)n_node, hx_noun(n_node, "node", "nodes"));
}

int hx_problem_add_heat(const hx_space *space, const hx_load_spec *load, double *power)
{
    const hx_set *set;
    const double size = fabs(load->value[0]);
    if (!isfinite(size) || (size > 0.0 && size < 1e-140))
        return HX_RAISE(HX_EINPUT, "%s: a load of %g is %s", load->origin, load->value[0],
                        isfinite(size) ? "too small for double precision; use other units"
                                       : "not finite");
    if (load->kind == HX_LOAD_SOURCE) return add_source(space, load, power);
    int64_t n_node, n_elem;
    HX_TRY(hx_problem_find_set(space->mesh, load->set, load->origin, &set));
    if (load->kind == HX_LOAD_NODE_HEAT) {
        HX_TRY(hx_problem_count_takers(space->mesh, set, load->origin, 0, &n_node));
        hx_problem_add_at_nodes(space, set, 1, load->value, 1.0, power);
        return HX_OK;
    }
    HX_TRY(hx_problem_count_nodes(space->mesh, set, &n_node));
    HX_TRY(hx_mesh_count_all(space->mesh, set->n_elem, &n_elem));
    if (n_elem == 0) HX_TRY(hx_problem_count_takers(space->mesh, set, load->origin, 1, &n_node));
    if (load->kind == HX_LOAD_HEAT && n_elem > 0 &&
        (set->n_face == 0 || set->rule != HX_SET_PLAIN)) {
        const int64_t begin = hx_mesh_own_begin(space->mesh), end = hx_mesh_own_end(space->mesh);
        double volume = 0.0;
        for (int64_t k = 0; k < set->n_elem; k++)
            if (set->elem[k] >= begin && set->elem[k] < end)
                volume += volume_of(space, set->elem[k]);
        HX_TRY(hx_reduce_sum(hx_mesh_reduce(space->mesh), 1, &volume));
        for (int64_t k = 0; k < set->n_elem; k++)
            add_heat_element(space, set->elem[k], load->value[0] / volume, power);
        return HX_OK;
    }
    return add_to_surface(space, set, load, n_node, power);
}

static int raise_not_held(const char *origin, const char *which)
{
    return HX_RAISE(
        HX_EINPUT,
        "%s: %s has no prescribed temperature and no convection, so its temperature is "
        "not determined; add supports = ( { set = \"...\"; temperature = 0.0; } ) or an "
        "entry to convection",
        origin, which);
}

/* HX_EINPUT with the first body whose temperature is not determined. */
static int check_bodies(const hx_mesh *mesh, const int32_t *body_of, int64_t n_body,
                        const uint8_t *is_held, const char *origin)
{
    char which[96] = "the model";
    int64_t node = 0;
    while (node < mesh->n_node && is_held[body_of[node]]) node++;
    if (node == mesh->n_node) return HX_OK;
    if (n_body > 1)
        snprintf(which, sizeof which, "the body that contains node %lld (one of %lld %s)",
                 (long long)hx_mesh_node_number(mesh, node), (long long)n_body,
                 hx_noun(n_body, "body", "bodies"));
    return raise_not_held(origin, which);
}

int hx_problem_check_held(hx_problem *problem, const char *origin)
{
    const hx_mesh *mesh = problem->mesh;
    int32_t *body_of = NULL;
    uint8_t *is_held = NULL;
    int64_t n_body = 0;
    int rc;
    /* For a distributed mesh, which is treated as one body. */
    if (mesh->ownership) {
        int64_t n_held = problem->films.n;
        problem->n_body = 1;
        for (int64_t a = 0; a < problem->space.n_point; a++)
            n_held += problem->supports.fixed[a] != 0;
        HX_TRY(hx_mesh_count_all(problem->mesh, n_held, &n_held));
        return n_held > 0 ? HX_OK : raise_not_held(origin, "the model");
    }
    HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)mesh->n_node, sizeof *body_of, "bodies"));
    HX_TRY_FAIL(hx_mesh_bodies(mesh, body_of, &n_body));
    problem->n_body = n_body;
    HX_TRY_FAIL(hx_alloc(&is_held, (size_t)n_body, 1, "bodies"));
    const hx_space *const space = &problem->space;
    for (int64_t point = 0; point < space->n_point; point++)
        if (problem->supports.fixed[point]) is_held[body_of[hx_space_near_node(space, point)]] = 1;
    for (int64_t k = 0; k < problem->films.n; k++)
        is_held[body_of[hx_space_near_node(space, problem->films.node[k])]] = 1;
    HX_TRY_FAIL(check_bodies(mesh, body_of, n_body, is_held, origin));
fail:
    free(body_of);
    free(is_held);
    return rc;
}
