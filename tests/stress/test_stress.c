/* Stresses at Gauss points and nodes for given displacements: constant stresses on every kind of
 * distorted cell, linear or quadratic, in any numbering of the corners; linear stresses on affine
 * quadratic cells; heat fluxes; work, von Mises and principal stresses; nodes at which the modulus
 * jumps; means weighted by volume, and quantiles. */
#include <stdlib.h>

#include "core/stress/stress.h"
#include "tests/lib/space_box.h"

enum { XX, YY, ZZ, XY, YZ, XZ };

/* A displacement of degree 1 or 2, and its gradient. */
static void field(int degree, const double x[3], double u[3], double h[3][3])
{
    static const double a[3][3] = {{0.2, -0.1, 0.4}, {0.5, 0.3, 0.1}, {-0.3, 0.2, -0.2}};
    static const double b[3][3] = {{0.3, -0.2, 0.1}, {0.15, 0.25, -0.4}, {0.6, 0.05, 0.35}};
    for (int i = 0; i < 3; i++) {
        u[i] = 0.1;
        for (int k = 0; k < 3; k++) {
            const int l = (k + 1) % 3;
            u[i] += a[i][k] * x[k] + (degree > 1 ? b[i][k] * x[k] * x[l] : 0.0);
            h[i][k] = a[i][k];
        }
        for (int k = 0; degree > 1 && k < 3; k++) {
            const int l = (k + 1) % 3;
            h[i][k] += b[i][k] * x[l];
            h[i][l] += b[i][k] * x[k];
        }
    }
}

/* Hooke's law, implemented independently. */
static void exact_stress(const hx_problem *p, int degree, const double x[3], double s[6])
{
    double u[3], h[3][3];
    const double shear = p->young / (2.0 * (1.0 + p->poisson));
    const double bulk = p->young / (3.0 * (1.0 - 2.0 * p->poisson));
    field(degree, x, u, h);
    const double trace = h[0][0] + h[1][1] + h[2][2];
    for (int i = 0; i < 3; i++) s[i] = bulk * trace + 2.0 * shear * (h[i][i] - trace / 3.0);
    s[XY] = shear * (h[0][1] + h[1][0]);
    s[YZ] = shear * (h[1][2] + h[2][1]);
    s[XZ] = shear * (h[0][2] + h[2][0]);
}

static void exact_flux(const hx_problem *p, int degree, const double x[3], double q[3])
{
    double u[3], h[3][3];
    field(degree, x, u, h);
    for (int i = 0; i < 3; i++) q[i] = -p->young * h[0][i];
}

static void exact_value(const hx_problem *p, int degree, const double x[3], double value[6])
{
    if (hx_problem_is_heat(p))
        exact_flux(p, degree, x, value);
    else
        exact_stress(p, degree, x, value);
}

typedef struct seen {
    const hx_stress *stress;
    const double *modulus;
    hx_nodal_stress nodal;
    int degree;
    int64_t n_cell, n_point;
    double worst, worst_volume, volume, work;
} seen;

static int see(void *context, int64_t first, int64_t n, const hx_cell_stress *cell)
{
    seen *s = context;
    const hx_problem *p = s->stress->problem;
    CHECK(first == s->n_cell);
    s->n_cell += n;
    for (int64_t k = 0; k < n; k++) {
        double volume = 0.0, exact[6];
        for (int q = 0; q < cell[k].n; q++) {
            exact_value(p, s->degree, cell[k].x[q], exact);
            for (int i = 0; i < s->stress->n_component; i++)
                test_worst(&s->worst, fabs(cell[k].value[q][i] - exact[i]) / p->young);
            volume += cell[k].volume[q];
        }
        s->n_point += cell[k].n;
        s->volume += volume;
        s->work += hx_stress_work(s->stress, &cell[k], s->modulus[first + k]);
    }
    hx_nodal_stress_add(&s->nodal, first, n, cell);
    return HX_OK;
}

static int make_problem(space_box *b, hx_physics physics)
{
    const hx_support_spec held = {"origin", "test", HX_FIX_X, {0.0}};
    const hx_load_spec heat = {NULL, "test", HX_LOAD_SOURCE, {1.0}, 1};
    const hx_support_spec moved = {"origin", "test", HX_FIX_X, {1e-3, 0.0, 0.0}},
                          pulled = {"corner-x", "test", HX_FIX_X, {2e-3, 0.0, 0.0}};
    hx_support_spec all[FIXTURE_N_DETERMINATE + 2];
    hx_problem_params params = fixture_problem();
    memcpy(all, fixture_determinate, sizeof fixture_determinate);
    all[0].fix = HX_FIX_Y | HX_FIX_Z;
    all[FIXTURE_N_DETERMINATE] = moved;
    all[FIXTURE_N_DETERMINATE + 1] = pulled;
    params.support = all, params.n_support = FIXTURE_N_DETERMINATE + 2;
    params.young = 2.5, params.space = &b->space;
    if (physics == HX_PHYSICS_HEAT) {
        params.physics = physics, params.conductivity = 2.5;
        params.support = &held, params.n_support = 1;
        params.load = &heat, params.n_load = 1;
    }
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* The field at all points, evaluated at Gauss points and nodes. */
static void test_field(mixed_kind kind, hx_element element, hx_physics physics, int degree)
{
    const mixed_box box = {
        .kind = kind, .n = {3, 2, 5}, .distort = degree > 1 ? 0.0 : 0.15, .seed = 3};
    space_box b;
    hx_stress stress;
    double *u = NULL, *modulus = NULL, worst = 0.0, work = 0.0;
    CHECK_OK(space_box_mesh(&b, &box, element));
    CHECK_OK(make_problem(&b, physics));
    const int c = b.problem.components;
    CHECK_OK(hx_alloc(&u, (size_t)(c * b.space.n_point), sizeof *u, "test"));
    CHECK_OK(hx_alloc(&modulus, (size_t)b.mesh.n_elem, sizeof *modulus, "test"));
    for (int64_t a = 0; a < b.space.n_point; a++) {
        double v[3], h[3][3];
        field(degree, b.space.xyz + 3 * a, v, h);
        memcpy(u + c * a, v, (size_t)c * sizeof *u);
    }
    for (int64_t e = 0; e < b.mesh.n_elem; e++) modulus[e] = 2.5;
    hx_stress_create(&stress, &b.problem);
    seen s = {.stress = &stress, .modulus = modulus, .degree = degree};
    CHECK_OK(hx_nodal_stress_create(&s.nodal, &stress, modulus));
    hx_nodal_stress_begin(&s.nodal);
    CHECK_OK(hx_stress_each(&stress, modulus, u, see, &s));
    hx_nodal_stress_finish(&s.nodal);
    CHECK(s.n_cell == b.mesh.n_elem && s.n_point >= s.n_cell && s.nodal.n_mixed == 0);
    CHECK_MSG(s.worst < 1e-12, "%s, degree %d: %g at Gauss points", mixed_name[kind], degree,
              s.worst);
    CHECK_REL(s.volume, b.mesh.total_volume, 1e-12);
    for (int64_t a = 0; a < b.mesh.n_node; a++) {
        double exact[6];
        exact_value(&b.problem, degree, b.mesh.xyz + 3 * a, exact);
        for (int i = 0; i < stress.n_component; i++)
            test_worst(&worst, fabs(s.nodal.value[stress.n_component * a + i] - exact[i]) / 2.5);
    }
    CHECK_MSG(worst < 2e-12, "%s, degree %d: %g at nodes", mixed_name[kind], degree, worst);
    if (degree == 1) { /* the work density is constant */
        double v[3], h[3][3], value[6];
        field(1, b.mesh.xyz, v, h);
        exact_value(&b.problem, 1, b.mesh.xyz, value);
        if (c == 1) {
            work = -(value[0] * h[0][0] + value[1] * h[0][1] + value[2] * h[0][2]);
        } else {
            work = value[XX] * h[0][0] + value[YY] * h[1][1] + value[ZZ] * h[2][2];
            work += value[XY] * (h[0][1] + h[1][0]) + value[YZ] * (h[1][2] + h[2][1]) +
                    value[XZ] * (h[0][2] + h[2][0]);
        }
        CHECK_REL(s.work, work * b.mesh.total_volume, 1e-12);
    }
    hx_nodal_stress_free(&s.nodal);
    free(u);
    free(modulus);
    space_box_free(&b);
}

/* Nodes between two different moduli have the stress of the stiffer side; with similar moduli both
 * sides count. */
static void test_jump(double soft)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 1, 1}};
    space_box b;
    hx_stress stress;
    double *u = NULL, *modulus = NULL, exact[6];
    int64_t n_between = 0;
    CHECK_OK(space_box_mesh(&b, &box, HX_ELEMENT_LINEAR));
    CHECK_OK(make_problem(&b, HX_PHYSICS_ELASTICITY));
    CHECK_OK(hx_alloc(&u, (size_t)(3 * b.mesh.n_node), sizeof *u, "test"));
    CHECK_OK(hx_alloc(&modulus, (size_t)b.mesh.n_elem, sizeof *modulus, "test"));
    for (int64_t a = 0; a < b.mesh.n_node; a++) {
        double h[3][3];
        field(1, b.mesh.xyz + 3 * a, u + 3 * a, h);
    }
    const double middle = 0.5 * (b.mesh.box_min[0] + b.mesh.box_max[0]);
    for (int64_t e = 0; e < b.mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&b.mesh, e, x);
        modulus[e] = 2.5 * (x[0] < middle ? soft : 1.0);
    }
    hx_stress_create(&stress, &b.problem);
    exact_stress(&b.problem, 1, b.mesh.xyz, exact);
    seen s = {.stress = &stress, .modulus = modulus, .degree = 1};
    CHECK_OK(hx_nodal_stress_create(&s.nodal, &stress, modulus));
    hx_nodal_stress_begin(&s.nodal);
    CHECK_OK(hx_stress_each(&stress, modulus, u, see, &s));
    hx_nodal_stress_finish(&s.nodal);
    for (int64_t a = 0; a < b.mesh.n_node; a++) {
        const double x = b.mesh.xyz[3 * a];
        const double between = soft < 0.5 ? 1.0 : 0.5 * (1.0 + soft);
        const int is_between = fabs(x - middle) < 1e-9;
        const double share = is_between ? between : x < middle ? soft : 1.0;
        n_between += is_between;
        for (int i = 0; i < 6; i++) CHECK_ABS(s.nodal.value[6 * a + i], share * exact[i], 1e-12);
    }
    CHECK(n_between == 4 && s.nodal.n_mixed == (soft < 0.5 ? n_between : 0));
    hx_nodal_stress_free(&s.nodal);
    free(u);
    free(modulus);
    space_box_free(&b);
}

/* Means weighted by volume: a constant stress at all nodes, and cells that do not count. A linear
 * stress is the mean over the corners' values, each of which is exact. */
static void test_smooth(mixed_kind kind, hx_element element, int degree)
{
    const mixed_box box = {
        .kind = kind, .n = {3, 2, 5}, .distort = degree > 1 ? 0.0 : 0.15, .seed = 3};
    space_box b;
    hx_stress stress;
    hx_smooth_stress all, part;
    double *u = NULL, *modulus = NULL, sum[2] = {0.0}, volume[2] = {0.0}, worst = 0.0;
    uint8_t *counts = NULL;
    CHECK_OK(space_box_mesh(&b, &box, element));
    CHECK_OK(make_problem(&b, HX_PHYSICS_ELASTICITY));
    CHECK_OK(hx_alloc(&u, 3 * (size_t)b.space.n_point, sizeof *u, "test"));
    CHECK_OK(hx_alloc(&modulus, (size_t)b.mesh.n_elem, sizeof *modulus, "test"));
    CHECK_OK(hx_alloc(&counts, (size_t)b.mesh.n_elem, 1, "test"));
    for (int64_t a = 0; a < b.space.n_point; a++) {
        double h[3][3];
        field(degree, b.space.xyz + 3 * a, u + 3 * a, h);
    }
    hx_stress_create(&stress, &b.problem);
    for (int64_t e = 0; e < b.mesh.n_elem; e++) {
        modulus[e] = b.problem.young;
        counts[e] = e % 3 == 0;
        volume[0] += b.problem.volume[e];
        volume[1] += counts[e] ? b.problem.volume[e] : 0.0;
    }
    CHECK_OK(hx_smooth_stress_create(&all, &stress, modulus, u, NULL));
    CHECK_OK(hx_smooth_stress_create(&part, &stress, modulus, u, counts));
    for (int64_t a = 0; a < b.mesh.n_node; a++) {
        double exact[6];
        exact_stress(&b.problem, degree, b.mesh.xyz + 3 * a, exact);
        test_worst(&worst, fabs(all.value[a] / hx_von_mises(exact) - 1.0));
        if (part.volume[a] > 0.0)
            test_worst(&worst, fabs(part.value[a] / hx_von_mises(exact) - 1.0));
        else
            CHECK(!(part.value[a] > 0.0));
        sum[0] += all.volume[a];
        sum[1] += part.volume[a];
    }
    CHECK_ABS(worst, 0.0, 1e-11);
    for (int i = 0; i < 2; i++) CHECK_REL(sum[i], volume[i], 1e-12);
    hx_smooth_stress_free(&all);
    hx_smooth_stress_free(&part);
    free(u);
    free(modulus);
    free(counts);
    space_box_free(&b);
}

static void test_quantile(void)
{
    const double value[5] = {3.0, 9.0, 1.0, 5.0, 100.0}, weight[5] = {2.0, 1.0, 4.0, 3.0, 0.0};
    const struct {
        double share, expected;
    } row[] = {{0.0, 1.0},  {0.4, 1.0}, {0.41, 3.0}, {0.6, 3.0},
               {0.61, 5.0}, {0.9, 5.0}, {1.0, 9.0}};
    double found;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        CHECK_OK(hx_weighted_quantile(5, value, weight, row[i].share, &found));
        CHECK_ABS(found, row[i].expected, 0.0);
    }
    CHECK_OK(hx_weighted_quantile(1, value, weight + 4, 0.5, &found));
    CHECK_ABS(found, 0.0, 0.0);
}

/* Rotated tensors have the same invariants. */
static void test_tensor(void)
{
    const double pure[6] = {7.0, 7.0, 7.0, 0.0, 0.0, 0.0},
                 shear[6] = {0.0, 0.0, 0.0, 2.0, 0.0, 0.0};
    const double c = cos(0.7), s = sin(0.7), value[3] = {5.0, 1.0, -4.0};
    /* Q diag Q' with a rotation about z, then about x */
    const double q[3][3] = {{c, -s, 0.0}, {s * c, c * c, -s}, {s * s, c * s, c}};
    double t[3][3] = {{0.0}}, p[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) t[i][j] += value[k] * q[i][k] * q[j][k];
    const double turned[6] = {t[0][0], t[1][1], t[2][2], t[0][1], t[1][2], t[0][2]};
    CHECK_ABS(hx_von_mises(pure), 0.0, 1e-15);
    CHECK_REL(hx_von_mises(shear), 2.0 * sqrt(3.0), 1e-15);
    CHECK_REL(hx_von_mises(turned), sqrt(0.5 * (16.0 + 25.0 + 81.0)), 1e-14);
    hx_principal_stresses(turned, p);
    for (int i = 0; i < 3; i++) CHECK_ABS(p[i], value[i], 1e-13);
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int physics = 0; physics < HX_N_PHYSICS; physics++) {
            test_field((mixed_kind)kind, HX_ELEMENT_LINEAR, (hx_physics)physics, 1);
            test_field((mixed_kind)kind, HX_ELEMENT_QUADRATIC, (hx_physics)physics, 1);
            test_field((mixed_kind)kind, HX_ELEMENT_QUADRATIC, (hx_physics)physics, 2);
        }
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        test_smooth((mixed_kind)kind, HX_ELEMENT_LINEAR, 1);
        test_smooth((mixed_kind)kind, HX_ELEMENT_QUADRATIC, 1);
    }
    test_smooth(MIXED_HEXAHEDRA, HX_ELEMENT_QUADRATIC, 2);
    test_quantile();
    test_jump(0.3);
    test_jump(0.8);
    test_tensor();
    TEST_END();
}
