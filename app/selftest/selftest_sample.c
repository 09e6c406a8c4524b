/* Samples: problems on small boxes, and K summed on the host. */
#include "selftest_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

void hx_sample_field(const double x[3], double u[3])
{
    static const double a[3][4] = {
        {0.02, 0.013, -0.007, 0.3}, {-0.004, 0.011, 0.017, -0.2}, {0.009, -0.015, -0.006, 0.1}};
    for (int i = 0; i < 3; i++)
        u[i] = 1e-1 * (a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2] + a[i][3]);
}

/* --- element matrices --- */

enum { MOST_POINT = HX_RULE_POINTS };

/* Derivatives of the shape functions by reference coordinates, and the weight. */
typedef struct gauss_point {
    double gradient[MOST_POINT][3], weight;
} gauss_point;

/* The trilinear hexahedron at Gauss point q: N_a = (1 + r r_a) (1 + s s_a) (1 + t t_a) / 8. */
static void hexahedron_point(int q, gauss_point *g)
{
    static const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    g->weight = 1.0;
    for (int a = 0; a < 8; a++)
        for (int k = 0; k < 3; k++) {
            g->gradient[a][k] = 0.125 * corner[a][k];
            for (int m = 0; m < 3; m++)
                if (m != k) g->gradient[a][k] *= 1.0 + corner[a][m] * corner[q][m] / sqrt(3.0);
        }
}

static int gauss_points(const hx_space *space, int64_t e, gauss_point g[HX_RULE_GAUSS])
{
    if (space->element == HX_ELEMENT_LINEAR) {
        for (int q = 0; q < 8; q++) hexahedron_point(q, &g[q]);
        return 8;
    }
    const hx_cell_rule *const rule = &space->rule[space->kind[e]];
    for (int q = 0; q < rule->n_gauss; q++) {
        g[q].weight = rule->weight[q];
        for (int a = 0; a < rule->n_point; a++)
            for (int k = 0; k < 3; k++) g[q].gradient[a][k] = rule->gradient[q][k][a];
    }
    return rule->n_gauss;
}

static double determinant(double m[3][3])
{
    double det = 0.0;
    for (int i = 0; i < 3; i++)
        det += m[0][i] *
               (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
    return det;
}

/* grad[a] by x, by Cramer's rule; returns det J. */
static double map(const hx_space *space, int n, const int32_t *point, const gauss_point *g,
                  double grad[MOST_POINT][3])
{
    double jac[3][3] = {{0.0}}; /* [k][i] = dx_i / dxi_k */
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) /* NOLINTNEXTLINE(clang-analyzer-core*): n points */
                jac[k][i] += g->gradient[a][k] * space->xyz[3 * (int64_t)point[a] + i];
    const double det = determinant(jac);
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) {
            double m[3][3];
            memcpy(m, jac, sizeof m);
            for (int k = 0; k < 3; k++) m[k][i] = g->gradient[a][k];
            grad[a][i] = determinant(m) / det;
        }
    return det;
}

/* The force on point a along i from a unit displacement of b along j, by Hooke's law. */
static double stress_entry(const double ga[3], const double gb[3], int i, int j, double nu)
{
    const double mu = 0.5 / (1.0 + nu), lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    /* NOLINTNEXTLINE(clang-analyzer-core*): gradients of n points */
    const double same = i == j ? ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2] : 0.0;
    /* NOLINTNEXTLINE(clang-analyzer-core*): gradients of n points */
    return lambda * ga[i] * gb[j] + mu * (ga[j] * gb[i] + same);
}

static void element_matrix(const hx_sample *s, int64_t e, double *ke)
{
    gauss_point g[HX_RULE_GAUSS];
    double grad[MOST_POINT][3];
    int n;
    const int32_t *const point = hx_space_points(&s->problem.space, e, &n);
    const int n_gauss = gauss_points(&s->problem.space, e, g), m = s->c * n;
    for (int q = 0; q < n_gauss; q++) {
        const double w = g[q].weight * map(&s->problem.space, n, point, &g[q], grad);
        for (int r = 0; r < m; r++)
            for (int t = 0; t < m; t++) {
                const double *const ga = grad[r / s->c], *const gb = grad[t / s->c];
                ke[r * m + t] +=
                    w * (s->c == 3 ? stress_entry(ga, gb, r % 3, t % 3, s->problem.poisson)
                                   /* NOLINTNEXTLINE(clang-analyzer-core*): gradients of n points */
                                   : ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
            }
    }
}

/* --- problems --- */

static int make_held(hx_sample *s, hx_problem_params params)
{
    /* arbitrary values, which allocate the prescribed ones that are set below; two different ones,
     * since for heat a single one would be the reference */
    const unsigned fix =
        params.physics == HX_PHYSICS_HEAT ? HX_FIX_X : HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
    const hx_support_spec support[2] = {{"left", "selftest", fix, {1e-3}},
                                        {"right", "selftest", fix, {2e-3}}};
    params.support = support;
    params.n_support = 2;
    HX_TRY(hx_problem_create(&s->problem, &s->mesh, &params));
    const hx_space *const space = &s->problem.space;
    const int c = s->problem.components;
    if (!s->problem.supports.prescribed) return HX_RAISE(HX_EINTERNAL, "nothing is prescribed");
    for (int64_t a = 0; a < space->n_point; a++) {
        const double *const x = space->xyz + 3 * a;
        double u[3];
        int is_on = 0;
        for (int d = 0; d < 3; d++) is_on |= x[d] <= 1e-9 || x[d] >= s->spec.length[d] - 1e-9;
        if (!is_on) continue;
        hx_sample_field(x, u);
        s->problem.supports.fixed[a] = c == 3 ? HX_FIX_X | HX_FIX_Y | HX_FIX_Z : HX_FIX_X;
        for (int i = 0; i < c; i++)
            s->problem.supports.prescribed[c * a + i] =
                /* NOLINTNEXTLINE(clang-analyzer-core*): the field has c components */
                u[i] - (c == 1 ? s->problem.reference : 0.0);
    }
    return HX_OK;
}

static int make_loaded(hx_sample *s, hx_problem_params params)
{
    const int is_heat = params.physics == HX_PHYSICS_HEAT;
    const int is_bar = s->spec.hold == HX_SAMPLE_BAR;
    const hx_support_spec clamped = {"left", "selftest", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_support_spec bar[3] = {{"left", "selftest", HX_FIX_X, {0.0}},
                                    {"origin", "selftest", HX_FIX_Y | HX_FIX_Z, {0.0}},
                                    {"corner-y", "selftest", HX_FIX_Z, {0.0}}};
    const hx_load_spec load = {"right",
                               "selftest",
                               is_heat ? HX_LOAD_FLUX : HX_LOAD_TRACTION,
                               {is_bar || is_heat ? 1.0 : 0.0, 0.0, is_bar || is_heat ? 0.0 : -1.0},
                               1};
    params.support = is_heat || is_bar ? bar : &clamped;
    params.n_support = is_bar && !is_heat ? 3 : 1;
    params.load = &load;
    params.n_load = 1;
    return hx_problem_create(&s->problem, &s->mesh, &params);
}

int hx_sample_create(hx_sample *s, const hx_sample_spec *spec)
{
    memset(s, 0, sizeof *s);
    s->spec = *spec;
    HX_TRY(hx_sample_make_mesh(&s->mesh, spec));
    HX_TRY(hx_mesh_shuffle(&s->mesh, 4));
    HX_TRY(hx_mesh_finish(&s->mesh));
    HX_TRY(hx_space_create(&s->space, &s->mesh, spec->element));
    hx_problem_params params = hx_problem_defaults();
    params.origin = "selftest";
    params.physics = s->spec.physics;
    params.conductivity = params.physics == HX_PHYSICS_HEAT ? 1.0 : 0.0;
    params.conductivity_min = params.physics == HX_PHYSICS_HEAT ? 1e-10 : 0.0;
    if (s->spec.no_poisson) params.poisson = 0.0;
    params.space = &s->space;
    HX_TRY(s->spec.hold == HX_SAMPLE_HELD ? make_held(s, params) : make_loaded(s, params));
    s->c = s->problem.components;
    s->n = s->c * s->problem.space.n_point;
    const size_t n_elem = (size_t)s->mesh.n_elem;
    int most = 0;
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        int n;
        (void)hx_space_points(&s->problem.space, e, &n);
        if (s->c * n > most) most = s->c * n;
    }
    s->order = most;
    HX_TRY(hx_alloc(&s->ke, n_elem * (size_t)(most * most), sizeof *s->ke, "element matrices"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) element_matrix(s, e, s->ke + e * most * most);
    HX_TRY(hx_alloc_raw(&s->modulus, n_elem, sizeof *s->modulus, "moduli"));
    HX_TRY(hx_alloc_raw(&s->density, n_elem, sizeof *s->density, "densities"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double least = s->problem.least;
        s->modulus[e] = pow(s->spec.contrast, -hx_sample_random(3, e, 0.0, 1.0));
        s->density[e] = (s->modulus[e] - least) / (1.0 - least);
    }
    return HX_OK;
}

void hx_sample_free(hx_sample *s)
{
    free(s->ke);
    free(s->modulus);
    free(s->density);
    hx_problem_free(&s->problem);
    hx_space_free(&s->space);
    hx_mesh_free(&s->mesh);
    memset(s, 0, sizeof *s);
}

/* --- what is compared with --- */

void hx_sample_product(const hx_sample *s, const double *x, double *y, double *diagonal,
                       double *energy)
{
    memset(y, 0, (size_t)s->n * sizeof *y);
    if (diagonal) memset(diagonal, 0, (size_t)s->n * sizeof *diagonal);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double *const ke = s->ke + e * s->order * s->order;
        int n;
        const int32_t *const point = hx_space_points(&s->problem.space, e, &n);
        const int c = s->c, m = c * n;
        double work = 0.0;
        for (int r = 0; r < m; r++) {
            const int64_t row = (int64_t)c * point[r / c] + r % c;
            double sum = 0.0;
            for (int t = 0; t < m; t++) {
                const int64_t col = (int64_t)c * point[t / c] + t % c;
                sum += ke[r * m + t] * x[col];
                if (diagonal && row == col) diagonal[row] += s->modulus[e] * ke[r * m + t];
            }
            y[row] += s->modulus[e] * sum;
            work += sum * x[row];
        }
        if (energy) energy[e] = work;
    }
}

void hx_sample_dense(const hx_sample *s, double *k)
{
    memset(k, 0, (size_t)s->n * (size_t)s->n * sizeof *k);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double *const ke = s->ke + e * s->order * s->order;
        int n;
        const int32_t *const point = hx_space_points(&s->problem.space, e, &n);
        const int c = s->c, m = c * n;
        for (int r = 0; r < m; r++)
            for (int t = 0; t < m; t++)
                k[((int64_t)c * point[r / c] + r % c) * s->n + (int64_t)c * point[t / c] + t % c] +=
                    s->modulus[e] * ke[r * m + t];
    }
}

typedef struct gradients {
    const hx_sample *s;
    double *u, *r, *p, *q, *d;
} gradients;

static double norm_of(const gradients *g, const double *a)
{
    double sum = 0.0;
    for (int64_t i = 0; i < g->s->n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

static int iterate(const gradients *g)
{
    const int64_t n = g->s->n;
    const double target = norm_of(g, g->r);
    double rho = 0.0, norm = target;
    memset(g->p, 0, (size_t)n * sizeof *g->p);
    for (int k = 0; k < 20000 && norm > 1e-14 * target; k++) {
        double next = 0.0, pq = 0.0;
        for (int64_t i = 0; i < n; i++) next += g->r[i] * g->r[i] / g->d[i];
        for (int64_t i = 0; i < n; i++)
            g->p[i] = g->r[i] / g->d[i] + (k > 0 ? next / rho : 0.0) * g->p[i];
        /* q = K p for free rows. */
        hx_sample_product(g->s, g->p, g->q, NULL, NULL);
        for (int64_t i = 0; i < g->s->n; i++)
            if (hx_sample_is_fixed(g->s, i)) g->q[i] = 0.0;
        for (int64_t i = 0; i < n; i++) pq += g->p[i] * g->q[i];
        for (int64_t i = 0; i < n; i++) g->u[i] += next / pq * g->p[i];
        for (int64_t i = 0; i < n; i++) g->r[i] -= next / pq * g->q[i];
        rho = next;
        norm = norm_of(g, g->r);
    }
    if (norm <= 1e-12 * target) return HX_OK;
    return HX_RAISE(HX_ENUMERIC, "the reference did not converge");
}

int hx_sample_solve(const hx_sample *s, double *u)
{
    const size_t n = (size_t)s->n;
    const double *const up = s->problem.supports.prescribed;
    double *work;
    HX_TRY(hx_alloc(&work, 4 * n, sizeof *work, "the reference's vectors"));
    const gradients g = {s, u, work, work + n, work + 2 * n, work + 3 * n};
    for (size_t i = 0; i < n; i++) u[i] = up ? up[i] : 0.0;
    hx_sample_product(s, u, g.q, g.d, NULL);
    for (int64_t i = 0; i < s->n; i++) {
        const int is_fixed = hx_sample_is_fixed(s, i);
        g.r[i] = is_fixed ? 0.0 : s->problem.cases.force[0][i] - g.q[i];
        if (is_fixed) g.d[i] = 1.0;
    }
    const int rc = iterate(&g);
    free(work);
    return rc;
}
