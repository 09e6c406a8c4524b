/* Loads by the part's own mass: the fields of gravity and rotation, and the resulting forces on the
 * host. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../base/vec3.h"
#include "body_force.h"
#include "problem_internal.h"

/* b(x) = speed^2 (d - (d.a) a) with d = x - point and the unit axis a. */
static int add_rotation(const hx_load_spec *load, double density, hx_body_field *field)
{
    const double *v = load->value, length = hx_norm3(v);
    const double size = density * load->speed * load->speed;
    if (!(length > 0.0) || !isfinite(length))
        return HX_RAISE(HX_EINPUT, "%s: the axis [%g, %g, %g] has no direction", load->origin, v[0],
                        v[1], v[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double g = size * ((i == j) - v[i] / length * (v[j] / length));
            field->gradient[i][j] += g;
            field->at_origin[i] -= g * load->point[j];
        }
    return HX_OK;
}

int hx_problem_add_body(hx_problem *problem, const hx_problem_params *params,
                        const hx_load_spec *load)
{
    const double density = params->density;
    if (!(density > 0.0))
        return HX_RAISE(HX_EINPUT,
                        "%s: a load by mass needs material.density, the mass per volume in "
                        "consistent units (for N, mm and MPa: t/mm^3, steel has 7.85e-9)",
                        load->origin);
    if (!problem->cases.body)
        HX_TRY(hx_alloc(&problem->cases.body, (size_t)problem->cases.n, sizeof *problem->cases.body,
                        "loads"));
    hx_body_field *field = &problem->cases.body[load->load_case - 1];
    double *const size = &problem->cases.body_size[load->load_case - 1];
    /* Checks the largest force per volume in the field's coefficients: squares of forces must
     * not underflow. */
    const int rotates = load->kind == HX_LOAD_CENTRIFUGAL;
    double largest = rotates ? load->speed * load->speed : 0.0;
    for (int i = 0; !rotates && i < 3; i++) largest = fmax(largest, fabs(load->value[i]));
    largest *= density;
    if (!isfinite(largest))
        return HX_RAISE(HX_EINPUT, "%s: a load of %g is not finite", load->origin, largest);
    if (largest > 0.0 && largest < 1e-140)
        return HX_RAISE(HX_EINPUT,
                        "%s: a force of %g per volume is too small for double precision; use other "
                        "units",
                        load->origin, largest);
    if (load->kind == HX_LOAD_CENTRIFUGAL) return add_rotation(load, density, field);
    for (int i = 0; i < 3; i++) {
        field->at_origin[i] += density * load->value[i];
        *size = fmax(*size, fabs(density * load->value[i]));
    }
    return HX_OK;
}

int hx_problem_has_forces(const hx_problem *problem, int load_case, int *any)
{
    const int64_t n_dof = problem->components * problem->space.n_point;
    const double *const force = problem->cases.force[load_case];
    int64_t n;
    int mine = 0;
#pragma omp parallel for schedule(static) reduction(| : mine)
    for (int64_t k = 0; k < n_dof; k++) mine |= fabs(force[k]) > 0.0;
    HX_TRY(hx_mesh_count_all(problem->mesh, mine, &n));
    *any = n > 0;
    return HX_OK;
}

int hx_problem_finish_body(hx_problem *problem)
{
    for (int c = 0; problem->cases.body && c < problem->cases.n; c++) {
        hx_body_field *field = &problem->cases.body[c];
        /* The field exceeds the rounding error of accelerations that cancel. */
        int acts = 0;
        for (int i = 0; i < 3; i++) {
            acts |= fabs(field->at_origin[i]) > HX_LOADS_CANCEL * problem->cases.body_size[c];
            for (int j = 0; j < 3; j++) acts |= fabs(field->gradient[i][j]) > 0.0;
        }
        if (!acts) memset(field->at_origin, 0, sizeof field->at_origin);
        field->acts = acts;
        field->is_fine = hx_space_is_curved(&problem->space) || !hx_body_is_uniform(field);
        int any;
        HX_TRY(hx_problem_has_forces(problem, c, &any));
        field->alone = !any;
    }
    return HX_OK;
}

static void corners(const hx_mesh *mesh, int64_t elem, double x[24])
{
    for (int a = 0; a < 8; a++)
        memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)mesh->conn[8 * elem + a], 3 * sizeof *x);
}

static double density_of(const hx_problem *problem, const double *rho, int64_t e)
{
    if (rho) return rho[e];
    return problem->passive.density && !isnan(problem->passive.density[e])
               ? problem->passive.density[e]
               : 1.0;
}

/* Mass per volume of an element, relative to solid material 0. */
static double mass_of(const hx_problem *problem, const double *rho, int64_t e)
{
    return hx_problem_mass_factor(problem, e) * hx_mass_of(density_of(problem, rho, e));
}

/* f[a] = mass int N_a b dV for the points of a quadratic cell. */
static void cell_body(const hx_space *space, int64_t cell, const hx_body_field *field, double mass,
                      double f[HX_SPLINE_LANES][3])
{
    if (space->element == HX_ELEMENT_SPLINE) {
        /* f[a] = mass int N_a b dV for the control points of a spline cell. */
        double b[3][HX_SPLINE_LANES], sum[HX_SPLINE_LANES];
        hx_spline_cell tables;
        hx_spline_place place;
        hx_space_spline_cell(space, cell, &tables, &place);
        for (int q = 0; q < tables.n; q++) {
            const double x[3] = {place.x[0][q], place.x[1][q], place.x[2][q]};
            double at[3];
            hx_body_at(field, x, at);
            for (int i = 0; i < 3; i++) b[i][q] = mass * at[i];
        }
        for (int i = 0; i < 3; i++) {
            hx_spline_cell_integrate(&tables, &place, b[i], sum);
            for (int a = 0; a < tables.n; a++) f[a][i] = sum[a];
        }
        return;
    }
    const hx_cell_rule *rule = &space->rule[hx_body_rule(field, space->kind[cell])];
    memset(f, 0, HX_RULE_POINTS * sizeof *f);
    for (int q = 0; q < rule->n_gauss; q++) {
        double at[3], b[3];
        const double w = mass * rule->weight[q] * hx_space_map_by(space, cell, rule, q, at);
        hx_body_at(field, at, b);
        for (int a = 0; a < rule->n_point; a++)
            for (int i = 0; i < 3; i++) f[a][i] += w * rule->shape[q][a] * b[i];
    }
}

/* force += the loads by mass on the points of quadratic cells. */
static void add_point_force(const hx_problem *problem, const hx_body_field *field,
                            const double *rho, double *force)
{
    const hx_space *space = &problem->space;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        double f[HX_SPLINE_LANES][3];
        int n;
        const int32_t *const point = hx_space_points(space, e, &n);
        cell_body(space, e, field, mass_of(problem, rho, e), f);
        for (int a = 0; a < n; a++) /* NOLINTNEXTLINE(clang-analyzer-core*): cell_body sets f[n] */
            for (int i = 0; i < 3; i++) force[3 * (int64_t)point[a] + i] += f[a][i];
    }
}

/* Their sum, because shape functions add up to 1. */
static void total_point_body(const hx_problem *problem, const hx_body_field *field,
                             const double *rho, double total[3])
{
    double part[3][HX_N_PART];
    const int64_t n_elem = problem->mesh->n_elem;
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        double sum[3] = {0.0};
        for (int64_t e = hx_part_begin(n_elem, p); e < hx_part_begin(n_elem, p + 1); e++) {
            double f[HX_SPLINE_LANES][3];
            int n;
            (void)hx_space_points(&problem->space, e, &n);
            cell_body(&problem->space, e, field, mass_of(problem, rho, e), f);
            for (int a = 0; a < n; a++)
                for (int i = 0; i < 3; i++) sum[i] += f[a][i];
        }
        for (int i = 0; i < 3; i++) part[i][p] = sum[i];
    }
    for (int i = 0; i < 3; i++) total[i] = hx_sum_parts(part[i]);
}

void hx_problem_total_body(const hx_problem *problem, int load_case, const double *rho,
                           double total[3])
{
    const hx_mesh *mesh = problem->mesh;
    const hx_body_field *field = hx_problem_body(problem, load_case);
    if (field && problem->space.element != HX_ELEMENT_LINEAR) {
        total_point_body(problem, field, rho, total);
        return;
    }
    for (int i = 0; i < 3; i++) {
        double part[HX_N_PART];
        /* the work of the unit displacement along i */
        double u[24];
        for (int k = 0; k < 24; k++) u[k] = k % 3 == i;
        total[i] = 0.0;
        if (!field) continue;
#pragma omp parallel for schedule(static)
        for (int p = 0; p < HX_N_PART; p++) {
            part[p] = 0.0;
            for (int64_t e = hx_part_begin(mesh->n_elem, p); e < hx_part_begin(mesh->n_elem, p + 1);
                 e++) {
                double x[24];
                corners(mesh, e, x);
                part[p] += mass_of(problem, rho, e) * hx_hex8_body_work(x, u, field);
            }
        }
        total[i] = hx_sum_parts(part);
    }
}

int hx_problem_nodal_force(const hx_problem *problem, int load_case, const double *rho,
                           double *force)
{
    const hx_mesh *mesh = problem->mesh;
    const hx_body_field *field = hx_problem_body(problem, load_case);
    memcpy(force, problem->cases.force[load_case],
           (size_t)problem->components * (size_t)problem->space.n_point * sizeof *force);
    if (!field) return HX_OK;
    if (problem->space.element != HX_ELEMENT_LINEAR) {
        add_point_force(problem, field, rho, force);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < mesh->n_node; node++)
        for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
            const int64_t elem = mesh->node_elem[k] >> 3;
            const double mass = mass_of(problem, rho, elem);
            double x[24], f[3];
            corners(mesh, elem, x);
            hx_hex8_body_force(x, (int)(mesh->node_elem[k] & 7u), field, f);
            for (int i = 0; i < 3; i++) force[3 * node + i] += mass * f[i];
        }
    return HX_OK;
}
