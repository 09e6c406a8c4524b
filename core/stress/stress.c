#include "stress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/hex8_conduction.h"
#include "../problem/expansion.h"
#include "../problem/symmetric.h"

enum { BLOCK = 256, N_GAUSS = 8 };

/* --- fits --- */

/* b := inverse(a) b by elimination; a[n][n] is symmetric and positive definite. */
static void solve_dense(int n, double a[HX_RULE_POINTS][HX_RULE_POINTS],
                        double b[HX_RULE_POINTS][HX_RULE_GAUSS], int n_column)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            const double f = a[i][k] / a[k][k];
            for (int j = k; j < n; j++) a[i][j] -= f * a[k][j];
            for (int j = 0; j < n_column; j++) b[i][j] -= f * b[k][j];
        }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n_column; j++) b[k][j] /= a[k][k];
}

/* fit[c][q]: weight of the value at point q in the coefficient of shape function c. shape[q][c]:
 * value of function c at point q. */
static void make_fit(int n, int n_gauss, double shape[HX_RULE_GAUSS][HX_RULE_POINTS], int n_corner,
                     double fit[8][HX_RULE_GAUSS])
{
    double normal[HX_RULE_POINTS][HX_RULE_POINTS], right[HX_RULE_POINTS][HX_RULE_GAUSS];
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            normal[a][b] = 0.0;
            for (int q = 0; q < n_gauss; q++) normal[a][b] += shape[q][a] * shape[q][b];
        }
        for (int q = 0; q < n_gauss; q++) right[a][q] = shape[q][a];
    }
    solve_dense(n, normal, right, n_gauss);
    for (int c = 0; c < n_corner; c++) /* NOLINTNEXTLINE(clang-analyzer-core*): n_corner <= n */
        for (int q = 0; q < n_gauss; q++) fit[c][q] = right[c][q];
}

/* Maps each corner of a collapsed hexahedron to its point. Returns the number of points. */
static int name_points(const int32_t conn[8], int point[8])
{
    int corner[8];
    const int n = hx_cell_distinct(conn, corner);
    for (int a = 0; a < 8; a++) {
        point[a] = 0;
        while (conn[corner[point[a]]] != conn[a]) point[a]++;
    }
    return n;
}

/* Fit for linear cells in any numbering. */
static void fit_linear(const int32_t conn[8], double fit[8][HX_RULE_GAUSS])
{
    double shape[HX_RULE_GAUSS][HX_RULE_POINTS] = {{0.0}};
    int point[8];
    const int n = name_points(conn, point);
    for (int q = 0; q < N_GAUSS; q++)
        for (int a = 0; a < 8; a++)
            shape[q][point[a]] +=
                hx_hex8_shape(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2));
    make_fit(n, N_GAUSS, shape, n, fit);
}

/* If there are fewer points than shape functions, the corners' linear functions are fitted: each
 * consists of the corner's function and half of the mid-edge functions of its edges. */
static void fit_quadratic(const hx_cell_rule *rule, double fit[8][HX_RULE_GAUSS])
{
    double shape[HX_RULE_GAUSS][HX_RULE_POINTS];
    const int is_few = rule->n_gauss < rule->n_point;
    memcpy(shape, rule->shape, sizeof shape);
    for (int q = 0; is_few && q < rule->n_gauss; q++)
        for (int k = 0; k < rule->n_edge; k++)
            for (int i = 0; i < 2; i++)
                shape[q][rule->edge[k][i]] += 0.5 * rule->shape[q][rule->n_corner + k];
    make_fit(is_few ? rule->n_corner : rule->n_point, rule->n_gauss, shape, rule->n_corner, fit);
}

/* The numbering of solid.h. */
static const int32_t usual[HX_N_SOLID][8] = {[HX_CELL_HEXAHEDRON] = {0, 1, 2, 3, 4, 5, 6, 7},
                                             [HX_CELL_WEDGE] = {0, 1, 2, 2, 3, 4, 5, 5},
                                             [HX_CELL_PYRAMID] = {0, 1, 2, 3, 4, 4, 4, 4},
                                             [HX_CELL_TETRAHEDRON] = {0, 1, 2, 2, 3, 3, 3, 3}};

void hx_stress_create(hx_stress *s, const hx_problem *problem)
{
    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->n_component = hx_problem_is_heat(problem) ? HX_FLUX_COMPONENTS : HX_STRESS_COMPONENTS;
    if (problem->space.element == HX_ELEMENT_SPLINE) return; /* needs no fit */
    for (int kind = 0; kind < HX_N_SOLID; kind++)
        if (problem->space.element != HX_ELEMENT_LINEAR)
            fit_quadratic(&problem->space.rule[kind], s->fit[kind]);
        else if (kind != HX_CELL_TETRAHEDRON)
            fit_linear(usual[kind], s->fit[kind]);
        else
            for (int a = 0; a < 4; a++) s->fit[kind][a][0] = 1.0;
}

void hx_stress_select(hx_stress *s, int load_case)
{
    s->expansion = hx_problem_expands(s->problem, load_case);
}

/* --- one cell --- */

/* Computes the value from h[i][k] = du_i / dx_k; for heat h[0] is the gradient. */
static void set_value(const hx_stress *s, double h[3][3], double modulus, double *value)
{
    const double lambda = modulus * s->problem->lambda, mu = modulus * s->problem->mu;
    const double p = lambda * (h[0][0] + h[1][1] + h[2][2]);
    if (s->n_component == HX_FLUX_COMPONENTS) {
        for (int i = 0; i < 3; i++) value[i] = -modulus * h[0][i];
        return;
    }
    for (int i = 0; i < 3; i++) value[i] = p + 2.0 * mu * h[i][i];
    value[3] = mu * (h[0][1] + h[1][0]);
    value[4] = mu * (h[1][2] + h[2][1]);
    value[5] = mu * (h[0][2] + h[2][0]);
}

/* x[24] and u[8 components] at the corners. */
static void linear_point(const hx_stress *s, const double *x, const double *u, const double at[3],
                         double modulus, hx_cell_stress *out)
{
    double h[3][3];
    const int q = out->n++;
    if (s->n_component == HX_FLUX_COMPONENTS)
        out->volume[q] = hx_hex8_temperature_gradient(x, u, at[0], at[1], at[2], h[0]);
    else
        out->volume[q] = hx_hex8_displacement_gradient(x, u, at[0], at[1], at[2], h);
    memset(out->x[q], 0, sizeof out->x[q]);
    for (int a = 0; a < 8; a++) {
        const double n = hx_hex8_shape(a, at[0], at[1], at[2]);
        for (int i = 0; i < 3; i++) out->x[q][i] += n * x[3 * a + i];
    }
    set_value(s, h, modulus, out->value[q]);
}

static void linear_cell(const hx_stress *s, int64_t cell, hx_cell_kind kind, double modulus,
                        const double *u, hx_cell_stress *out)
{
    const hx_problem *problem = s->problem;
    const int32_t *const conn = problem->mesh->conn + 8 * cell;
    const size_t c = (size_t)problem->components;
    double x[24], ue[24], at[3];
    for (size_t a = 0; a < 8; a++) {
        const size_t node = (size_t)conn[a];
        memcpy(x + 3 * a, problem->mesh->xyz + 3 * node, 3 * sizeof *x);
        memcpy(ue + c * a, u + c * node, c * sizeof *ue);
    }
    if (kind == HX_CELL_TETRAHEDRON) {
        hx_cell_middle(conn, at);
        linear_point(s, x, ue, at, modulus, out);
        hx_mesh_centroid(problem->mesh, cell, out->x[0]);
        out->volume[0] = problem->volume[cell];
        return;
    }
    for (int q = 0; q < N_GAUSS; q++) {
        for (int i = 0; i < 3; i++) at[i] = hx_hex8_gauss(q, i);
        linear_point(s, x, ue, at, modulus, out);
    }
}

static void quadratic_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                           hx_cell_stress *out)
{
    const hx_space *space = &s->problem->space;
    const hx_cell_rule *rule = &space->rule[space->kind[cell]];
    const int c = s->problem->components;
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    out->n = rule->n_gauss;
    for (int q = 0; q < rule->n_gauss; q++) {
        double j[3][3] = {{0.0}}, du[3][3] = {{0.0}}, h[3][3];
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) {
                    j[k][i] += rule->gradient[q][k][a] * space->xyz[3 * (int64_t)point[a] + i];
                    if (i < c) du[i][k] += rule->gradient[q][k][a] * u[c * (int64_t)point[a] + i];
                }
        hx_cell_displacement_gradient(j, du, h);
        out->volume[q] = rule->weight[q] * hx_space_map(space, cell, q, out->x[q]);
        set_value(s, h, modulus, out->value[q]);
    }
}

/* Stress at the Gauss points of a span, and evaluated at its corners. */
static void spline_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                        hx_cell_stress *out)
{
    const hx_problem *problem = s->problem;
    const int32_t *const conn = problem->mesh->conn + 8 * cell;
    const int c = problem->components;
    double slope[3][3][HX_SPLINE_LANES], h[3][3] = {{0.0}};
    hx_spline_cell tables;
    hx_spline_place place;
    int corner[8];
    hx_space_spline_cell(&problem->space, cell, &tables, &place);
    for (int i = 0; i < c; i++) hx_spline_cell_field(&tables, &place, u, c, i, NULL, slope[i]);
    out->n = tables.n;
    for (int q = 0; q < tables.n; q++) {
        for (int i = 0; i < c; i++)
            for (int k = 0; k < 3; k++) h[i][k] = slope[i][k][q];
        for (int i = 0; i < 3; i++) out->x[q][i] = place.x[i][q];
        out->volume[q] = place.volume[q];
        set_value(s, h, modulus, out->value[q]);
    }
    out->n_corner = hx_cell_distinct(conn, corner);
    for (int a = 0; a < out->n_corner; a++) {
        const int b = corner[a];
        const double at[3] = {(b + 1) >> 1 & 1, b >> 1 & 1, b >> 2 & 1};
        hx_space_spline_gradient(&problem->space, cell, at, c, u, h);
        set_value(s, h, modulus, out->corner[a]);
        out->node[a] = conn[b];
    }
}

/* Returns 1 if the corners of a cell are numbered like `usual`. */
static int is_usual(const int32_t conn[8], hx_cell_kind kind)
{
    int point[8], same = 1;
    name_points(conn, point);
    for (int a = 0; a < 8; a++) same &= point[a] == usual[kind][a];
    return same;
}

static void set_corners(const hx_stress *s, double fit[8][HX_RULE_GAUSS], hx_cell_stress *out)
{
    for (int a = 0; a < out->n_corner; a++)
        for (int i = 0; i < s->n_component; i++) {
            double sum = 0.0;
            for (int q = 0; q < out->n; q++) sum += fit[a][q] * out->value[q][i];
            out->corner[a][i] = sum;
        }
}

/* The stress of the whole strain. */
static void set_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                     hx_cell_stress *out)
{
    const hx_space *space = &s->problem->space;
    const int32_t *const conn = s->problem->mesh->conn + 8 * cell;
    hx_stress *const fits = (hx_stress *)(uintptr_t)s; /* all threads only read the fits */
    double own[8][HX_RULE_GAUSS];
    int corner[8];
    out->n = 0;
    if (space->element == HX_ELEMENT_SPLINE) {
        spline_cell(s, cell, modulus, u, out);
        return;
    }
    if (space->element != HX_ELEMENT_LINEAR) {
        const hx_cell_kind kind = (hx_cell_kind)space->kind[cell];
        int n;
        quadratic_cell(s, cell, modulus, u, out);
        out->n_corner = space->rule[kind].n_corner;
        memcpy(out->node, hx_space_points(space, cell, &n),
               (size_t)out->n_corner * sizeof *out->node);
        set_corners(s, fits->fit[kind], out);
        return;
    }
    const int is_collapsed = hx_mesh_is_collapsed(s->problem->mesh) && hx_cell_is_collapsed(conn);
    const hx_cell_kind kind = is_collapsed ? hx_cell_kind_of(conn) : HX_CELL_HEXAHEDRON;
    linear_cell(s, cell, kind, modulus, u, out);
    out->n_corner = hx_cell_distinct(conn, corner);
    for (int a = 0; a < out->n_corner; a++) out->node[a] = conn[corner[a]];
    if (!is_collapsed || kind == HX_CELL_TETRAHEDRON || is_usual(conn, kind)) {
        set_corners(s, fits->fit[kind], out);
        return;
    }
    fit_linear(conn, own);
    set_corners(s, own, out);
}

void hx_stress_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                    hx_cell_stress *out)
{
    set_cell(s, cell, modulus, u, out);
    if (!s->expansion) return;
    /* that of the free strain is uniform in the cell, so the fits at the corners contain it */
    const double p = modulus * hx_expansion_stiffness(s->problem->lambda, s->problem->mu) *
                     hx_expansion_strain(s->expansion, cell);
    for (int q = 0; q < out->n; q++)
        for (int i = 0; i < 3; i++) out->value[q][i] -= p;
    for (int a = 0; a < out->n_corner; a++)
        for (int i = 0; i < 3; i++) out->corner[a][i] -= p;
}

int hx_stress_each(const hx_stress *s, const double *modulus, const double *u,
                   hx_stress_visit visit, void *context)
{
    const int64_t n_elem = s->problem->mesh->n_elem;
    hx_cell_stress *block = NULL;
    int rc = HX_OK;
    HX_TRY(hx_alloc_raw(&block, BLOCK, sizeof *block, "stresses"));
    for (int64_t first = 0; rc == HX_OK && first < n_elem; first += BLOCK) {
        const int64_t n = n_elem - first < BLOCK ? n_elem - first : BLOCK;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            hx_stress_cell(s, first + i, modulus[first + i], u, &block[i]);
        rc = visit(context, first, n, block);
    }
    free(block);
    return rc;
}

/* For an isotropic material the strain follows from the stress. */
double hx_stress_work(const hx_stress *s, const hx_cell_stress *cell, double modulus)
{
    const double nu = s->problem->poisson;
    double work = 0.0;
    for (int q = 0; q < cell->n; q++) {
        const double *const v = cell->value[q];
        const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        if (s->n_component == HX_FLUX_COMPONENTS) {
            work += cell->volume[q] * square;
            continue;
        }
        const double shear = v[3] * v[3] + v[4] * v[4] + v[5] * v[5], trace = v[0] + v[1] + v[2];
        work += cell->volume[q] * ((1.0 + nu) * (square + 2.0 * shear) - nu * trace * trace);
    }
    return work / modulus;
}

/* --- of a tensor --- */

double hx_von_mises(const double s[HX_STRESS_COMPONENTS])
{
    const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

void hx_principal_stresses(const double s[HX_STRESS_COMPONENTS], double principal[3])
{
    double a[3][3] = {{s[0], s[3], s[5]}, {s[3], s[1], s[4]}, {s[5], s[4], s[2]}}, axis[3][3];
    double value[3];
    hx_symmetric3_eigen(a, value, axis);
    for (int i = 0; i < 3; i++) principal[i] = value[2 - i];
}

/* --- means at nodes --- */

int hx_nodal_stress_create(hx_nodal_stress *nodal, const hx_stress *s, const double *modulus)
{
    int rc;
    const hx_mesh *mesh = s->problem->mesh;
    const size_t n = (size_t)mesh->n_node;
    memset(nodal, 0, sizeof *nodal);
    nodal->mesh = mesh;
    nodal->modulus = modulus;
    nodal->n_component = s->n_component;
    HX_TRY_FAIL(hx_alloc_raw(&nodal->value, n * (size_t)s->n_component, sizeof *nodal->value,
                             "stresses at nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&nodal->stiffest, n, sizeof *nodal->stiffest, "stresses at nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&nodal->count, n, sizeof *nodal->count, "stresses at nodes"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        double most = 0.0;
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++)
            most = fmax(most, modulus[mesh->node_elem[k] >> 3]);
        nodal->stiffest[a] = most;
    }
    return HX_OK;
fail:
    hx_nodal_stress_free(nodal);
    return rc;
}

void hx_nodal_stress_begin(hx_nodal_stress *nodal)
{
    const size_t n = (size_t)nodal->mesh->n_node;
    memset(nodal->value, 0, n * (size_t)nodal->n_component * sizeof *nodal->value);
    memset(nodal->count, 0, n * sizeof *nodal->count);
}

void hx_nodal_stress_add(hx_nodal_stress *nodal, int64_t first, int64_t n,
                         const hx_cell_stress *cell)
{
    const int n_component = nodal->n_component;
    for (int64_t k = 0; k < n; k++)
        for (int a = 0; a < cell[k].n_corner; a++) {
            const int64_t node = cell[k].node[a];
            if (nodal->modulus[first + k] < 0.5 * nodal->stiffest[node]) continue;
            nodal->count[node]++;
            for (int i = 0; i < n_component; i++)
                nodal->value[n_component * node + i] += cell[k].corner[a][i];
        }
}

/* Number of cells at a node; a cell that names it at several corners counts once. */
static int32_t cells_at(const hx_mesh *mesh, int64_t node)
{
    int32_t n = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        n += k == mesh->node_elem_ptr[node] ||
             mesh->node_elem[k] >> 3 != mesh->node_elem[k - 1] >> 3;
    return n;
}

void hx_nodal_stress_finish(hx_nodal_stress *nodal)
{
    int64_t n_mixed = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_mixed)
    for (int64_t a = 0; a < nodal->mesh->n_node; a++) {
        n_mixed += nodal->count[a] < cells_at(nodal->mesh, a);
        for (int i = 0; i < nodal->n_component; i++)
            nodal->value[nodal->n_component * a + i] /= nodal->count[a];
    }
    nodal->n_mixed = n_mixed;
}

void hx_nodal_stress_free(hx_nodal_stress *nodal)
{
    free(nodal->value);
    free(nodal->stiffest);
    free(nodal->count);
    memset(nodal, 0, sizeof *nodal);
}
