/* The reference for the products of operators, computed only from the element formulas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/base/sum.h"
#include "core/base/vec3.h"
#include "core/mesh/hex8_conduction.h"

/* Uniform in [-1, 1], determined by index and stream. */
static double random_entry(uint64_t index, uint64_t stream)
{
    return 2.0 * hx_random_unit(hx_random_mix((index + 1) * HX_RANDOM_STEP + stream)) - 1.0;
}

/* The densities with which the first design iteration starts, before any filter. */
static int make_density(hx_session *s, double **density)
{
    const hx_problem *problem = &s->problem;
    const int64_t n = s->mesh.n_elem;
    HX_TRY(hx_session_read_initial(s, density));
    const int given = *density != NULL;
    const double uniform = hx_design_initial_density(&s->design, problem);
    if (!given) HX_TRY(hx_alloc_raw(density, (size_t)n, sizeof **density, "densities"));
    for (int64_t e = 0; e < n; e++) {
        double rho = given ? (*density)[e] : uniform;
        if (problem->passive.density && !isnan(problem->passive.density[e]))
            rho = problem->passive.density[e];
        if (!(rho >= 0.0 && rho <= 1.0))
            return hx_config_blame(&s->cfg, "optimization.initial",
                                   HX_RAISE(HX_EINPUT,
                                            "density of element %lld is %g, not in "
                                            "[0, 1]",
                                            (long long)hx_mesh_elem_number(&s->mesh, e), rho));
        (*density)[e] = fmax(rho, s->design.rho_min);
    }
    return HX_OK;
}

/* Adds modulus Ke x_e of one element at its points. */
typedef void element_of(const hx_session *s, double modulus, const double *x, int64_t e,
                        double *force);

static void element_forces(const hx_session *s, double modulus, const double *x, int64_t e,
                           double *force)
{
    const int32_t *conn = s->mesh.conn + 8 * e;
    double xe[24], ue[24], ke[576];
    for (int a = 0; a < 8; a++) {
        memcpy(xe + 3 * a, s->mesh.xyz + 3 * (int64_t)conn[a], 3 * sizeof *xe);
        memcpy(ue + 3 * a, x + 3 * (int64_t)conn[a], 3 * sizeof *ue);
    }
    hx_hex8_stiffness(xe, s->problem.lambda, s->problem.mu, ke);
    for (int m = 0; m < 24; m++) {
        double sum = 0.0;
        for (int n = 0; n < 24; n++) sum += ke[24 * m + n] * ue[n];
        force[m] = modulus * sum;
    }
}

static void element_heat(const hx_session *s, double modulus, const double *x, int64_t e,
                         double *heat)
{
    const int32_t *conn = s->mesh.conn + 8 * e;
    double xe[24], te[8];
    for (int a = 0; a < 8; a++) {
        memcpy(xe + 3 * a, s->mesh.xyz + 3 * (int64_t)conn[a], 3 * sizeof *xe);
        te[a] = x[conn[a]];
        heat[a] = 0.0;
    }
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), t = hx_hex8_gauss(q, 1), u = hx_hex8_gauss(q, 2);
        double inverse[3][3], flux[3];
        const double det = hx_hex8_temperature_gradient(xe, te, r, t, u, flux);
        hx_hex8_jacobian(xe, r, t, u, inverse);
        for (int a = 0; a < 8; a++) {
            double g[3];
            hx_hex8_gradient(a, r, t, u, inverse, g);
            heat[a] += modulus * det * hx_dot3(g, flux);
        }
    }
}

/* g[a] = gradient of point a at Gauss point q. Returns det J. */
static double point_gradients(const hx_cell_rule *rule, int q, double x[][3], double g[][3])
{
    double j[3][3] = {{0.0}}, adjoint[3][3]; /* j[k] = dx / dxi_k */
    for (int a = 0; a < rule->n_point; a++)
        for (int k = 0; k < 3; k++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): the rule has n points */
            for (int i = 0; i < 3; i++) j[k][i] += rule->gradient[q][k][a] * x[a][i];
    for (int k = 0; k < 3; k++) hx_cross3(j[(k + 1) % 3], j[(k + 2) % 3], adjoint[k]);
    const double det = hx_dot3(j[0], adjoint[0]);
    for (int a = 0; a < rule->n_point; a++)
        for (int i = 0; i < 3; i++) {
            g[a][i] = 0.0;
            for (int k = 0; k < 3; k++) g[a][i] += rule->gradient[q][k][a] * adjoint[k][i] / det;
        }
    return det;
}

/* Stress for unit modulus from h[i][k] = du_i / dx_k. */
static void stress_of(const hx_problem *problem, double h[3][3], double stress[3][3])
{
    const double trace = h[0][0] + h[1][1] + h[2][2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            stress[i][k] =
                problem->mu * (h[i][k] + h[k][i]) + (i == k ? problem->lambda * trace : 0.0);
}

static void quadratic_forces(const hx_session *s, double modulus, const double *x, int64_t e,
                             double *force)
{
    const hx_space *const space = &s->problem.space;
    const hx_cell_rule *const rule = &space->rule[space->kind[e]];
    double xe[HX_RULE_POINTS][3], g[HX_RULE_POINTS][3];
    int n;
    const int32_t *const point = hx_space_points(space, e, &n);
    for (int a = 0; a < n; a++) memcpy(xe[a], space->xyz + 3 * (int64_t)point[a], sizeof xe[a]);
    for (int m = 0; m < 3 * n; m++) force[m] = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double h[3][3] = {{0.0}}, stress[3][3];
        const double w = modulus * rule->weight[q] * point_gradients(rule, q, xe, g);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) h[i][k] += x[3 * (int64_t)point[a] + i] * g[a][k];
        stress_of(&s->problem, h, stress);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) force[3 * a + i] += w * hx_dot3(stress[i], g[a]);
    }
}

static void quadratic_heat(const hx_session *s, double modulus, const double *x, int64_t e,
                           double *heat)
{
    const hx_space *const space = &s->problem.space;
    const hx_cell_rule *const rule = &space->rule[space->kind[e]];
    double xe[HX_RULE_POINTS][3], g[HX_RULE_POINTS][3];
    int n;
    const int32_t *const point = hx_space_points(space, e, &n);
    for (int a = 0; a < n; a++) memcpy(xe[a], space->xyz + 3 * (int64_t)point[a], sizeof xe[a]);
    for (int a = 0; a < n; a++) heat[a] = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double slope[3] = {0.0};
        const double w = modulus * rule->weight[q] * point_gradients(rule, q, xe, g);
        for (int a = 0; a < n; a++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): the rule has n points */
            for (int i = 0; i < 3; i++) slope[i] += x[point[a]] * g[a][i];
        for (int a = 0; a < n; a++) heat[a] += w * hx_dot3(slope, g[a]);
    }
}

/* The forces of a span, from its fields at the Gauss points. */
static void spline_forces(const hx_session *s, double modulus, const double *x, int64_t e,
                          double *force)
{
    const hx_problem *const problem = &s->problem;
    const int c = problem->components;
    double slope[3][3][HX_SPLINE_LANES], h[3][3] = {{0.0}}, g[3][HX_SPLINE_LANES], w[125];
    hx_spline_cell cell;
    hx_spline_place place;
    hx_space_spline_cell(&problem->space, e, &cell, &place);
    for (int i = 0; i < c; i++) hx_spline_cell_field(&cell, &place, x, c, i, NULL, slope[i]);
    for (int a = 0; cell.weight && a < cell.n; a++) w[a] = cell.weight[cell.point[a]];
    for (int m = 0; m < c * cell.n; m++) force[m] = 0.0;
    for (int q = 0; q < cell.n; q++) {
        double stress[3][3];
        for (int i = 0; i < c; i++)
            for (int k = 0; k < 3; k++) h[i][k] = slope[i][k][q];
        if (c == 3)
            stress_of(problem, h, stress);
        else
            memcpy(stress[0], h[0], sizeof stress[0]);
        hx_spline_cell_gradients(&cell, &place, cell.weight ? w : NULL, q, 1.0, g);
        for (int a = 0; a < cell.n; a++)
            for (int i = 0; i < c; i++)
                force[c * a + i] +=
                    modulus * place.volume[q] *
                    (stress[i][0] * g[0][a] + stress[i][1] * g[1][a] + stress[i][2] * g[2][a]);
    }
}

static element_of *element_of_problem(const hx_problem *problem)
{
    const int is_linear = problem->space.element == HX_ELEMENT_LINEAR;
    if (problem->space.element == HX_ELEMENT_SPLINE) return spline_forces;
    if (hx_problem_is_heat(problem)) return is_linear ? element_heat : quadratic_heat;
    return is_linear ? element_forces : quadratic_forces;
}

/* kx = K x: elements of a chunk are computed in parallel, and their forces added in order. */
static int product(const hx_session *s, hx_compare_reference *ref)
{
    enum { CHUNK = 2048, MOST = 3 * HX_SPLINE_CELL_POINTS };
    const int64_t n_elem = s->mesh.n_elem, c = s->problem.components;
    const hx_space *const space = &s->problem.space;
    element_of *const of_element = element_of_problem(&s->problem);
    double *force;
    HX_TRY(hx_alloc_raw(&force, (size_t)CHUNK * MOST, sizeof *force, "element forces"));
    memset(ref->kx, 0, (size_t)ref->n_dof * sizeof *ref->kx);
    for (int64_t first = 0; first < n_elem; first += CHUNK) {
        const int64_t n = first + CHUNK < n_elem ? CHUNK : n_elem - first;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            of_element(s, ref->modulus[first + i], ref->x, first + i, force + MOST * i);
        for (int64_t i = 0; i < n; i++) {
            int n_point;
            const int32_t *const point = hx_space_points(space, first + i, &n_point);
            for (int a = 0; a < n_point; a++)
                for (int64_t k = 0; k < c; k++)
                    ref->kx[c * point[a] + k] += force[MOST * i + c * a + k];
        }
    }
    free(force);
    return HX_OK;
}

static int fill_reference(hx_compare_reference *ref, hx_session *s)
{
    const size_t n = (size_t)ref->n_dof;
    double **const vector[] = {&ref->x, &ref->z, &ref->kx, &ref->y};
    HX_TRY(hx_alloc_raw(&ref->modulus, (size_t)s->mesh.n_elem, sizeof *ref->modulus, "moduli"));
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
        HX_TRY(hx_alloc_raw(vector[i], n, sizeof **vector[i], "vectors of the check"));
    HX_TRY(make_density(s, &ref->density));
    hx_problem_modulus(&s->problem, s->design.penalty.last, ref->density, ref->modulus);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < ref->n_dof; i++) {
        ref->x[i] = random_entry((uint64_t)i, 1);
        ref->z[i] = random_entry((uint64_t)i, 2);
    }
    HX_TRY(product(s, ref));
    ref->z_norm = sqrt(hx_dot(ref->n_dof, ref->z, ref->z));
    ref->kx_norm = sqrt(hx_dot(ref->n_dof, ref->kx, ref->kx));
    return HX_OK;
}

int hx_compare_reference_create(hx_compare_reference *ref, hx_session *s)
{
    memset(ref, 0, sizeof *ref);
    ref->n_dof = s->problem.components * s->problem.space.n_point;
    const int rc = fill_reference(ref, s);
    if (rc < 0) hx_compare_reference_free(ref);
    return rc;
}

void hx_compare_reference_free(hx_compare_reference *ref)
{
    free(ref->density);
    free(ref->modulus);
    free(ref->x);
    free(ref->z);
    free(ref->kx);
    free(ref->y);
    memset(ref, 0, sizeof *ref);
}
