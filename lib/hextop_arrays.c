/* Arrays of a session in the order of the mesh file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/files/solid.h"
#include "core/mesh/hex_jacobian.h"
#include "handle.h"

typedef enum { OF_ELEMENTS, OF_NODES, OF_CASES } rows_of;

typedef struct array_kind {
    const char *name;
    rows_of rows;
    int n_comp;
    int needs_design, has_cases;
    int physics; /* hx_physics in which the array exists; -1: both */
    /* writes value[rows][n_comp] in the internal order of the mesh */
    int (*fill)(hextop *h, int load_case, double *value);
} array_kind;

static int fill_points(hextop *h, int load_case, double *value)
{
    (void)load_case;
    memcpy(value, h->session.mesh.xyz, 3 * (size_t)h->session.mesh.n_node * sizeof *value);
    return HX_OK;
}

static int fill_volumes(hextop *h, int load_case, double *value)
{
    const hx_mesh *const mesh = &h->session.mesh;
    (void)load_case;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        value[e] = hx_hex_volume(&map);
    }
    return HX_OK;
}

static int fill_density(hextop *h, int load_case, double *value)
{
    (void)load_case;
    return hx_optimizer_density(&h->session.opt, value);
}

static int fill_sensitivity(hextop *h, int load_case, double *value)
{
    (void)load_case;
    return hx_optimizer_sensitivity(&h->session.opt, value);
}

static int fill_energy(hextop *h, int load_case, double *value)
{
    (void)load_case;
    return hx_optimizer_energy(&h->session.opt, value);
}

static int fill_compliance(hextop *h, int load_case, double *value)
{
    const hx_analysis *const analysis = &h->session.analysis;
    (void)load_case;
    for (int c = 0; c < h->session.problem.cases.n; c++)
        value[c] = analysis->load_case[c].compliance;
    return HX_OK;
}

static int fill_displacement(hextop *h, int load_case, double *value)
{
    return hx_analysis_displacement(&h->session.analysis, load_case, value);
}

/* The solution is the difference to the problem's reference temperature. */
static int fill_temperature(hextop *h, int load_case, double *value)
{
    HX_TRY(hx_analysis_displacement(&h->session.analysis, load_case, value));
    for (int64_t i = 0; i < h->session.mesh.n_node; i++) value[i] += h->session.problem.reference;
    return HX_OK;
}

/* Returns the unknowns of all points, increased by `add`, and the moduli; the caller frees both. */
static int get_solution(hextop *h, int load_case, double add, double **u, double **modulus)
{
    hx_session *const s = &h->session;
    const int64_t n = s->problem.components * s->space.n_point;
    HX_TRY(hx_alloc_raw(u, (size_t)n, sizeof **u, "displacements"));
    HX_TRY(hx_alloc_raw(modulus, (size_t)s->mesh.n_elem, sizeof **modulus, "moduli"));
    HX_TRY(hx_analysis_point_displacement(&s->analysis, load_case, *u));
    for (int64_t i = 0; i < n; i++) (*u)[i] += add;
    return hx_analysis_modulus(&s->analysis, *modulus);
}

static int fill_von_mises(hextop *h, int load_case, double *value)
{
    int rc;
    double *u = NULL, *modulus = NULL;
    float *stress = NULL;
    const int64_t n = h->session.mesh.n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&stress, (size_t)n, sizeof *stress, "stresses"));
    HX_TRY_FAIL(get_solution(h, load_case, 0.0, &u, &modulus));
    hx_output_von_mises(&h->session.problem, modulus, u, stress);
    for (int64_t e = 0; e < n; e++) value[e] = (double)stress[e];
fail:
    free(stress);
    free(u);
    free(modulus);
    return rc;
}

static int fill_heat_flux(hextop *h, int load_case, double *value)
{
    int rc;
    double *u = NULL, *modulus = NULL;
    float *flux = NULL;
    const int64_t n = 3 * h->session.mesh.n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&flux, (size_t)n, sizeof *flux, "heat fluxes"));
    HX_TRY_FAIL(get_solution(h, load_case, h->session.problem.reference, &u, &modulus));
    hx_output_heat_flux(&h->session.problem, modulus, u, flux);
    for (int64_t i = 0; i < n; i++) value[i] = (double)flux[i];
fail:
    free(flux);
    free(u);
    free(modulus);
    return rc;
}

static const array_kind kinds[] = {
    {"points", OF_NODES, 3, 0, 0, -1, fill_points},
    {"volumes", OF_ELEMENTS, 1, 0, 0, -1, fill_volumes},
    {"density", OF_ELEMENTS, 1, 1, 0, -1, fill_density},
    {"sensitivity", OF_ELEMENTS, 1, 1, 0, -1, fill_sensitivity},
    {"energy", OF_ELEMENTS, 1, 1, 0, -1, fill_energy},
    {"compliance", OF_CASES, 1, 1, 0, -1, fill_compliance},
    {"displacement", OF_NODES, 3, 1, 1, HX_PHYSICS_ELASTICITY, fill_displacement},
    {"von_mises", OF_ELEMENTS, 1, 1, 1, HX_PHYSICS_ELASTICITY, fill_von_mises},
    {"temperature", OF_NODES, 1, 1, 1, HX_PHYSICS_HEAT, fill_temperature},
    {"heat_flux", OF_ELEMENTS, 3, 1, 1, HX_PHYSICS_HEAT, fill_heat_flux},
};
enum { N_KIND = sizeof kinds / sizeof kinds[0] };

/* Reports an unknown name together with the valid ones. */
static int unknown(const char *name, const char *const *valid, size_t n)
{
    char hint[512];
    return HX_RAISE(HX_EINPUT, "unknown array '%s'%s", name,
                    hx_name_hint(name, valid, n, hint, sizeof hint));
}

static int find_kind(hextop *h, const char *name, int load_case, const array_kind **kind)
{
    const char *names[N_KIND];
    *kind = NULL;
    for (size_t i = 0; i < N_KIND; i++) {
        names[i] = kinds[i].name;
        if (strcmp(kinds[i].name, name) == 0) *kind = &kinds[i];
    }
    if (!*kind) return unknown(name, names, N_KIND);
    HX_TRY(hx_handle_prepare(h));
    if ((*kind)->physics >= 0 && (*kind)->physics != (int)hx_config_physics(&h->session.cfg))
        return HX_RAISE(HX_EINPUT, "array '%s' does not exist for this config's physics", name);
    if ((*kind)->needs_design) HX_TRY(hx_handle_need_design(h));
    const int n_case = (*kind)->has_cases ? h->session.problem.cases.n : 1;
    if (load_case >= 0 && load_case < n_case) return HX_OK;
    return HX_RAISE(HX_EINPUT, "array '%s' has no load case %d: there are %d, counted from 0", name,
                    load_case, n_case);
}

/* Finds the handle's array of that kind and load case, or creates it. */
static int find_array(hextop *h, const void *kind, int load_case, int64_t n, int64_t n_comp,
                      size_t size, hx_handle_array **array)
{
    for (size_t i = 0; i < h->n_array; i++) {
        *array = &h->array[i];
        if ((*array)->kind == kind && (*array)->load_case == load_case) return HX_OK;
    }
    HX_TRY(hx_grow(&h->array, h->n_array, &h->capacity, sizeof *h->array, "arrays"));
    *array = &h->array[h->n_array];
    **array = (hx_handle_array){kind, load_case, -1, n, n_comp, NULL};
    HX_TRY(hx_alloc_raw(&(*array)->value, (size_t)(n * n_comp), size, "array"));
    h->n_array++;
    return HX_OK;
}

/* to[orig[i]] = from[i] with rows of n_comp; orig = NULL: identity. */
static void to_file_order(int64_t n, int64_t n_comp, const int32_t *orig, const double *from,
                          double *to)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + n_comp * (orig ? orig[i] : i), from + n_comp * i,
               (size_t)n_comp * sizeof *from);
}

static int fill_array(hextop *h, const array_kind *kind, hx_handle_array *array)
{
    int rc;
    double *own = NULL;
    const hx_mesh *const mesh = &h->session.mesh;
    const int32_t *const orig = kind->rows == OF_ELEMENTS ? mesh->elem_orig
                                : kind->rows == OF_NODES  ? mesh->node_orig
                                                          : NULL;
    if (!orig) return kind->fill(h, array->load_case, array->value);
    HX_TRY_FAIL(hx_alloc_raw(&own, (size_t)(array->n * array->n_comp), sizeof *own, "array"));
    HX_TRY_FAIL(kind->fill(h, array->load_case, own));
    to_file_order(array->n, array->n_comp, orig, own, array->value);
fail:
    free(own);
    return rc;
}

static void put_shape(const hx_handle_array *array, int64_t *shape)
{
    if (!shape) return;
    shape[0] = array->n;
    shape[1] = array->n_comp;
}

static int get_array(hextop *h, const char *name, int load_case, int64_t *shape, double **value)
{
    const array_kind *kind = NULL;
    hx_handle_array *array = NULL;
    HX_TRY(find_kind(h, name, load_case, &kind));
    const int64_t n = kind->rows == OF_ELEMENTS ? h->session.mesh.n_elem
                      : kind->rows == OF_NODES  ? h->session.mesh.n_node
                                                : h->session.problem.cases.n;
    const int now = kind->needs_design ? h->stats.last.iteration : 0;
    HX_TRY(find_array(h, kind, load_case, n, kind->n_comp, sizeof **value, &array));
    if (array->iteration != now) HX_TRY(fill_array(h, kind, array));
    array->iteration = now;
    put_shape(array, shape);
    *value = array->value;
    return HX_OK;
}

const double *hextop_array(hextop *h, const char *name, int load_case, int64_t *shape)
{
    double *value = NULL;
    hx_handle_enter(h);
    (void)hx_handle_leave(h, get_array(h, name, load_case, shape, &value));
    return value;
}

/* The VTK solid of a cell. */
static hx_solid_id array_solid_of(const int32_t conn[8])
{
    const hx_solid_id id = hx_solid_of_cell(conn);
    return id == HX_SOLID_WEDGE6 ? HX_SOLID_VTK_WEDGE6 : id;
}

static void fill_cells(const hx_mesh *mesh, int32_t *value)
{
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        const hx_solid_id id = array_solid_of(conn);
        const int *const corner = hx_solid_nodes(id);
        int32_t *const to = value + 8 * (int64_t)(mesh->elem_orig ? mesh->elem_orig[e] : e);
        for (int k = 0; k < 8; k++) {
            const int32_t a = k < hx_solids[id].n_node ? conn[corner[k]] : -1;
            to[k] = a >= 0 && mesh->node_orig ? mesh->node_orig[a] : a;
        }
    }
}

static void fill_types(const hx_mesh *mesh, int32_t *value)
{
    static const int32_t type[HX_N_SOLID_ID] = {[HX_SOLID_HEX8] = 12,
                                                [HX_SOLID_TET4] = 10,
                                                [HX_SOLID_VTK_WEDGE6] = 13,
                                                [HX_SOLID_PYRAMID5] = 14};
    for (int64_t e = 0; e < mesh->n_elem; e++)
        value[mesh->elem_orig ? mesh->elem_orig[e] : e] = type[array_solid_of(mesh->conn + 8 * e)];
}

static int get_indices(hextop *h, const char *name, int64_t *shape, int32_t **value)
{
    static const struct {
        const char *name;
        int n_comp;
        void (*fill)(const hx_mesh *mesh, int32_t *value);
    } kind[] = {{"cells", 8, fill_cells}, {"cell_types", 1, fill_types}};
    const char *const names[] = {kind[0].name, kind[1].name};
    hx_handle_array *array = NULL;
    size_t k = 0;
    while (k < 2 && strcmp(kind[k].name, name) != 0) k++;
    if (k == 2) return unknown(name, names, 2);
    HX_TRY(hx_handle_prepare(h));
    HX_TRY(
        find_array(h, &kind[k], 0, h->session.mesh.n_elem, kind[k].n_comp, sizeof **value, &array));
    if (array->iteration < 0) kind[k].fill(&h->session.mesh, array->value);
    array->iteration = 0;
    put_shape(array, shape);
    *value = array->value;
    return HX_OK;
}

const int32_t *hextop_indices(hextop *h, const char *name, int64_t *shape)
{
    int32_t *value = NULL;
    hx_handle_enter(h);
    (void)hx_handle_leave(h, get_indices(h, name, shape, &value));
    return value;
}
