/* Fields of VTK files: memory of the requested ones, and their values for the design just
 * analysed. */
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "core/mesh/hex8_conduction.h"
#include "output_dist.h"

/* Allocates scratch memory and counts it with the fields. A plan only counts it. */
static int add_scratch(hx_output *out, double **array, size_t n, const char *what)
{
    out->fields.bytes += n * sizeof **array;
    return out->fields.planning ? HX_OK : hx_alloc_raw(array, n, sizeof **array, what);
}

static int add_heat_fields(hx_output *out)
{
    const hx_config *cfg = &out->session->cfg;
    const hx_mesh *mesh = &out->session->mesh;
    const size_t n_case = (size_t)out->session->problem.cases.n;
    char name[64];
    if (hx_config_has_field(cfg, HX_FIELD_TEMPERATURE)) {
        HX_TRY(hx_alloc(&out->temperature, n_case, sizeof(double *), "fields"));
        for (size_t c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 1,
                                 hx_fields_case_name("temperature", (int)c, name, sizeof name),
                                 &out->temperature[c]));
    }
    if (!hx_config_has_field(cfg, HX_FIELD_HEAT_FLUX)) return HX_OK;
    HX_TRY(hx_alloc(&out->heat_flux, n_case, sizeof(float *), "fields"));
    for (size_t c = 0; c < n_case; c++)
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 3,
                             hx_fields_case_name("heat_flux", (int)c, name, sizeof name),
                             &out->heat_flux[c]));
    return HX_OK;
}

/* Returns 1 if an array of the unknowns of all points is needed in addition to the nodal fields:
 * for fields that processes send to each other, and for derived fields that cannot be computed in
 * place. */
static int needs_scratch(const hx_output *out)
{
    const int is_linear = out->session->problem.space.element == HX_ELEMENT_LINEAR;
    const int has_nodes = out->displacement || out->temperature,
              has_cells = out->von_mises || out->heat_flux;
    if (out->dist) return has_nodes || has_cells;
    return has_cells && !(has_nodes && is_linear);
}

int hx_output_add_fields(hx_output *out)
{
    const hx_config *cfg = &out->session->cfg;
    const hx_mesh *mesh = &out->session->mesh;
    const int n_case = out->session->problem.cases.n;
    const hx_problem *const own = hx_session_solved(out->session);
    char name[64];
    HX_TRY(add_scratch(out, &out->physical, (size_t)hx_output_n_elem(out), "densities"));
    if (hx_config_has_field(cfg, HX_FIELD_SENSITIVITY) ||
        hx_config_has_field(cfg, HX_FIELD_ENERGY) || hx_config_has_field(cfg, HX_FIELD_VON_MISES) ||
        hx_config_has_field(cfg, HX_FIELD_HEAT_FLUX))
        HX_TRY(add_scratch(out, &out->scalar, (size_t)own->mesh->n_elem, "fields"));
    if (hx_config_has_field(cfg, HX_FIELD_DENSITY))
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density",
                             &out->density));
    if (hx_config_has_field(cfg, HX_FIELD_SENSITIVITY))
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "sensitivity",
                             &out->sensitivity));
    if (hx_config_has_field(cfg, HX_FIELD_ENERGY))
        HX_TRY(
            hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "energy", &out->energy));
    if (hx_config_has_field(cfg, HX_FIELD_DISPLACEMENT)) {
        HX_TRY(hx_alloc(&out->displacement, (size_t)n_case, sizeof(double *), "fields"));
        for (int c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 3,
                                 hx_fields_case_name("displacement", c, name, sizeof name),
                                 &out->displacement[c]));
    }
    if (hx_config_has_field(cfg, HX_FIELD_VON_MISES)) {
        HX_TRY(hx_alloc(&out->von_mises, (size_t)n_case, sizeof(float *), "fields"));
        for (int c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1,
                                 hx_fields_case_name("von_mises", c, name, sizeof name),
                                 &out->von_mises[c]));
    }
    HX_TRY(add_heat_fields(out));
    if (needs_scratch(out))
        HX_TRY(add_scratch(out, &out->scratch, (size_t)own->components * (size_t)own->space.n_point,
                           "unknowns"));
    if (hx_config_has_field(cfg, HX_FIELD_SETS)) HX_TRY(hx_fields_add_sets(&out->fields, mesh));
    return HX_OK;
}

/* h[i][k] = du_i / dx_k at the centre of a quadratic cell or of a span, u[n_point][components]. */
static void point_gradient(const hx_problem *problem, int64_t cell, const double *u, double h[3][3])
{
    const hx_space *space = &problem->space;
    if (space->element == HX_ELEMENT_SPLINE) {
        const double middle[3] = {0.5, 0.5, 0.5};
        hx_space_spline_gradient(space, cell, middle, problem->components, u, h);
        return;
    }
    const hx_cell_rule *rule = &space->rule[space->kind[cell]];
    double j[3][3] = {{0.0}}, du[3][3] = {{0.0}};
    const int c = problem->components;
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                j[k][i] += rule->centre[k][a] * space->xyz[3 * (int64_t)point[a] + i];
                if (i < c) du[i][k] += rule->centre[k][a] * u[c * (int64_t)point[a] + i];
            }
    hx_cell_displacement_gradient(j, du, h);
}

static double point_stress(const hx_problem *problem, int64_t cell, const double *u)
{
    double h[3][3];
    point_gradient(problem, cell, u, h);
    return hx_hex8_stress_of(h, problem->lambda, problem->mu);
}

void hx_output_von_mises(const hx_problem *problem, const double *modulus, const double *u,
                         float *stress)
{
    const hx_mesh *mesh = problem->mesh;
    if (problem->space.element != HX_ELEMENT_LINEAR) {
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < mesh->n_elem; e++)
            stress[e] = (float)(modulus[e] * point_stress(problem, e, u));
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        double x[24], ue[24], middle[3];
        hx_cell_middle(conn, middle);
        for (size_t a = 0; a < 8; a++) {
            const size_t node = (size_t)conn[a];
            memcpy(x + 3 * a, mesh->xyz + 3 * node, 3 * sizeof *x);
            memcpy(ue + 3 * a, u + 3 * node, 3 * sizeof *ue);
        }
        stress[e] =
            (float)(modulus[e] * hx_hex8_von_mises(x, ue, problem->lambda, problem->mu, middle));
    }
}

void hx_output_heat_flux(const hx_problem *problem, const double *conductivity,
                         const double *temperature, float *flux)
{
    const hx_mesh *mesh = problem->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *conn = mesh->conn + 8 * e;
        double x[24], t[8], h[3][3], *const gradient = h[0], middle[3];
        if (problem->space.element != HX_ELEMENT_LINEAR) {
            point_gradient(problem, e, temperature, h);
        } else {
            hx_cell_middle(conn, middle);
            for (int a = 0; a < 8; a++) {
                memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
                /* NOLINTNEXTLINE(clang-analyzer-core*): not NULL, see needs_scratch */
                t[a] = temperature[conn[a]];
            }
            hx_hex8_temperature_gradient(x, t, middle[0], middle[1], middle[2], gradient);
        }
        for (int i = 0; i < 3; i++) flux[3 * e + i] = (float)(-conductivity[e] * gradient[i]);
    }
}

static void to_single(int64_t n, const double *from, float *to)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t e = 0; e < n; e++) to[e] = (float)from[e];
}

static void shift(int64_t n, double by, double *value)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) value[i] += by;
}

static int64_t count_own(const hx_output *out)
{
    return hx_session_solved(out->session)->mesh->n_elem;
}

static int bring_single(hx_output *out, int n_comp, const float *own, float *data)
{
    return hx_output_bring(out, HX_VTK_CELL, (size_t)n_comp * sizeof *own, own, data);
}

/* A field of the design, in single precision. */
static int fill_design(hx_output *out, hx_design_field field, float *data)
{
    float *const own = hx_output_own(out, data);
    HX_TRY(hx_output_own_design(out, field, out->scalar));
    to_single(count_own(out), out->scalar, own);
    return bring_single(out, 1, own, data);
}

/* Unknowns are temperatures relative to the problem's reference. */
static int fill_heat_fields(hx_output *out)
{
    hx_session *s = out->session;
    const hx_problem *const solved = hx_session_solved(s);
    const double reference = s->problem.reference;
    if (out->heat_flux) HX_TRY(hx_analysis_own_modulus(&s->analysis, out->scalar));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double *const t = out->temperature ? out->temperature[c] : NULL;
        if (out->scratch) {
            HX_TRY(hx_analysis_own_displacement(&s->analysis, c, out->scratch));
            shift(solved->space.n_point, reference, out->scratch);
        }
        if (t && out->dist)
            HX_TRY(hx_output_bring(out, HX_VTK_POINT, sizeof *t, out->scratch, t));
        else if (t) {
            HX_TRY(hx_analysis_displacement(&s->analysis, c, t));
            shift(s->mesh.n_node, reference, t);
        }
        if (!out->heat_flux) continue;
        float *const flux = hx_output_own(out, out->heat_flux[c]);
        hx_output_heat_flux(solved, out->scalar, out->scratch ? out->scratch : t, flux);
        HX_TRY(bring_single(out, 3, flux, out->heat_flux[c]));
    }
    return HX_OK;
}

static int fill_displacement_fields(hx_output *out)
{
    hx_session *s = out->session;
    const hx_problem *const solved = hx_session_solved(s);
    if (out->von_mises) HX_TRY(hx_analysis_own_modulus(&s->analysis, out->scalar));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double *const u = out->displacement ? out->displacement[c] : NULL;
        if (out->scratch) HX_TRY(hx_analysis_own_displacement(&s->analysis, c, out->scratch));
        if (u && out->dist)
            HX_TRY(hx_output_bring(out, HX_VTK_POINT, 3 * sizeof *u, out->scratch, u));
        else if (u)
            HX_TRY(hx_analysis_displacement(&s->analysis, c, u));
        if (!out->von_mises) continue;
        float *const stress = hx_output_own(out, out->von_mises[c]);
        hx_output_von_mises(solved, out->scalar, out->scratch ? out->scratch : u, stress);
        HX_TRY(bring_single(out, 1, stress, out->von_mises[c]));
    }
    return HX_OK;
}

int hx_output_fill_fields(hx_output *out)
{
    double *const own = hx_output_own(out, out->physical);
    HX_TRY(hx_output_own_design(out, HX_DESIGN_DENSITY, own));
    HX_TRY(hx_output_bring(out, HX_VTK_CELL, sizeof *own, own, out->physical));
    if (out->density)
        memcpy(out->density, out->physical, (size_t)hx_output_n_elem(out) * sizeof *out->density);
    if (out->sensitivity) HX_TRY(fill_design(out, HX_DESIGN_SENSITIVITY, out->sensitivity));
    if (out->energy) HX_TRY(fill_design(out, HX_DESIGN_ENERGY, out->energy));
    return hx_config_is_heat(&out->session->cfg) ? fill_heat_fields(out)
                                                 : fill_displacement_fields(out);
}
