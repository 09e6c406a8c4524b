/* Elasticity against closed-form solutions: patch tests on distorted shuffled meshes, a cantilever
 * against beam theory, equilibrium, units, stored stiffness.
 *
 *     test_physics [cpu | cuda] [quick] */
#include <float.h>

#include "core/mesh/hex8.h"
#include "tests/lib/fixture.h"

static hx_device device;

typedef struct matrix {
    double at[3][3];
} matrix;

/* A box, a problem on it and its analysis. */
typedef struct analysis {
    hx_mesh mesh;
    hx_problem problem;
    fixture_solver solver;
    hx_iteration record;
    double *u; /* [n_node][3] displacements of load case 1 */
} analysis;

/* Takes ownership of the raw mesh; messages begin with the label. */
static int analyse(analysis *a, fixture_order order, const hx_problem_params *params,
                   const fixture_settings *settings)
{
    HX_TRY(fixture_finish(&a->mesh, order));
    HX_TRY(hx_problem_create(&a->problem, &a->mesh, params));
    HX_TRY(fixture_solver_create(&a->solver, &device, &a->problem, settings));
    HX_TRY(hx_optimizer_step(&a->solver.opt, &a->record));
    a->u = calloc((size_t)a->mesh.n_node * 3, sizeof *a->u);
    if (!a->u) return HX_RAISE(HX_ENOMEM, "displacements");
    return hx_analysis_displacement(&a->solver.analysis, 0, a->u);
}

static void analysis_free(analysis *a)
{
    free(a->u);
    fixture_solver_free(&a->solver);
    hx_problem_free(&a->problem);
    hx_mesh_free(&a->mesh);
}

/* Largest |u - (h x + c)| relative to the largest |u|. */
static double linear_error(const analysis *a, const matrix *h, const double c[3])
{
    double error = 0.0, largest = 0.0;
    for (int64_t node = 0; node < a->mesh.n_node; node++) {
        const double *x = a->mesh.xyz + 3 * node;
        for (int i = 0; i < 3; i++) {
            const double *row = h->at[i];
            const double exact = c[i] + row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
            test_worst(&error, fabs(a->u[3 * node + i] - exact));
            test_worst(&largest, fabs(exact));
        }
    }
    return error / largest;
}

/* Hooke's law from E and nu in textbook form. */
static matrix hooke(double young, double nu, const matrix *h)
{
    matrix stress;
    const double c = young / ((1.0 + nu) * (1.0 - 2.0 * nu)), g = young / (2.0 * (1.0 + nu));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) stress.at[i][j] = g * (h->at[i][j] + h->at[j][i]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        stress.at[i][i] = c * ((1.0 - nu) * h->at[i][i] + nu * (h->at[j][j] + h->at[k][k]));
    }
    return stress;
}

static double von_mises(const matrix *s)
{
    const double a = s->at[0][0] - s->at[1][1], b = s->at[1][1] - s->at[2][2];
    const double c = s->at[2][2] - s->at[0][0];
    const double xy = s->at[0][1], yz = s->at[1][2], xz = s->at[0][2];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (xy * xy + yz * yz + xz * xz));
}

/* Compares the stress at every Gauss point with the constant one, and the von Mises stress. */
static void check_constant_stress(const analysis *a, const matrix *h, const char *label)
{
    const hx_problem *p = &a->problem;
    const matrix exact = hooke(p->young, p->poisson, h);
    double scale = 0.0, error = 0.0, mises_error = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) test_worst(&scale, fabs(exact.at[i][j]));
    for (int64_t e = 0; e < a->mesh.n_elem; e++) {
        const int32_t *conn = a->mesh.conn + 8 * e;
        double x[24], u[24];
        matrix found;
        for (int m = 0; m < 24; m++) {
            x[m] = a->mesh.xyz[3 * (int64_t)conn[m / 3] + m % 3];
            u[m] = a->u[3 * (int64_t)conn[m / 3] + m % 3];
        }
        for (int q = 0; q < 8; q++) {
            hx_hex8_displacement_gradient(x, u, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1),
                                          hx_hex8_gauss(q, 2), found.at);
            const matrix stress = hooke(p->young, p->poisson, &found);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    test_worst(&error, fabs(stress.at[i][j] - exact.at[i][j]) / scale);
        }
        const double middle[3] = {0.0, 0.0, 0.0};
        const double mises = p->young * hx_hex8_von_mises(x, u, p->lambda, p->mu, middle);
        test_worst(&mises_error, fabs(mises - von_mises(&exact)) / scale);
    }
    CHECK_MSG(error <= 1e-9, "%s: stress off by %.3g of the largest", label, error);
    CHECK_MSG(mises_error <= 1e-9, "%s: von Mises stress off by %.3g", label, mises_error);
}

/* Every node of the surface is displaced by u = h x + c: the inside follows, the stress is
 * constant, and the objective is -u'Ku = -volume * stress : strain. */
static void check_displacement_patch(const hx_operator_kind *op_kind, hx_layout layout, double nu,
                                     double young)
{
    static const matrix h = {{{1e-3, 4e-4, -7e-4}, {2e-4, -5e-4, 3e-4}, {6e-4, -1e-4, 8e-4}}};
    static const double c[3] = {2e-3, -1e-3, 5e-4};
    const fixture_box box = {{4, 4, 3}, {2.0, 1.5, 0.9}, 0.2, 1};
    enum { N_NODE = 5 * 5 * 4 };
    hx_support_spec support[N_NODE];
    char name[N_NODE][24], label[96];
    analysis a = {.u = NULL};
    size_t n = 0;
    snprintf(label, sizeof label, "displacement patch, %s %s, nu %g, E %g", op_kind->name,
             hx_layout_name(layout), nu, young);
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    for (int32_t node = 0; node < N_NODE; node++) {
        const int i = node % 5, j = node / 5 % 5, k = node / 25;
        const double *x = a.mesh.xyz + 3 * (int64_t)node;
        if (i % 4 != 0 && j % 4 != 0 && k % 3 != 0) continue;
        snprintf(name[n], sizeof name[n], "surface-%d", node);
        CHECK_OK(hx_mesh_add_node_set(&a.mesh, name[n], 1, &node));
        support[n] = (hx_support_spec){
            .set = name[n], .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
        for (int d = 0; d < 3; d++)
            support[n].value[d] = c[d] + h.at[d][0] * x[0] + h.at[d][1] * x[1] + h.at[d][2] * x[2];
        n++;
    }
    CHECK(n == N_NODE - 3 * 3 * 2);
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    params.young = young;
    params.poisson = nu;
    params.support = support;
    params.n_support = n;
    settings.op_kind = op_kind;
    settings.layout = layout;
    CHECK_OK(analyse(&a, FIXTURE_SHUFFLED, &params, &settings));
    CHECK_MSG(a.record.reason == HX_PCG_CONVERGED, "%s: %s", label,
              hx_pcg_reason_name(a.record.reason));
    const double error = linear_error(&a, &h, c);
    CHECK_MSG(error <= 1e-9, "%s: displacement off by %.3g of the largest", label, error);
    check_constant_stress(&a, &h, label);
    const matrix stress = hooke(young, nu, &h);
    double work = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) work += stress.at[i][j] * h.at[i][j];
    CHECK_REL(a.record.compliance, -work * a.mesh.total_volume, 1e-9);
    analysis_free(&a);
}

typedef enum { PULL_TRACTION, PULL_PRESSURE, PULL_ALL_SIDES } pull;

/* Surface loads in equilibrium on a body held at six degrees of freedom: uniaxial tension by
 * traction or by (negative) pressure on both ends, or the same pressure on the whole surface. */
static void check_load_patch(pull kind, double nu, double young, double size, int bulge)
{
    static const char *const kind_name[] = {"traction", "pressure", "pressure on all sides"};
    const fixture_box box = {{5, 3, 3}, {2.0 * size, 1.1 * size, 0.9 * size}, 0.2, bulge};
    /* strains of one, so that rounding does not depend on the size */
    const double stress = 0.7 * young;
    analysis a = {.u = NULL};
    char label[96];
    snprintf(label, sizeof label, "%s, nu %g, E %g, size %g", kind_name[kind], nu, young, size);
    const hx_load_spec load[3][2] = {{{"left", "test", HX_LOAD_TRACTION, {-stress, 0.0, 0.0}, 1},
                                      {"right", "test", HX_LOAD_TRACTION, {stress, 0.0, 0.0}, 1}},
                                     {{"left", "test", HX_LOAD_PRESSURE, {-stress, 0.0, 0.0}, 1},
                                      {"right", "test", HX_LOAD_PRESSURE, {-stress, 0.0, 0.0}, 1}},
                                     {{"surface", "test", HX_LOAD_PRESSURE, {-stress}, 1}}};
    hx_problem_params params = fixture_problem();
    const fixture_settings settings = fixture_defaults();
    params.young = young;
    params.poisson = nu;
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = load[kind];
    params.n_load = kind == PULL_ALL_SIDES ? 1 : 2;
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    for (int32_t node = 0; node < (int32_t)a.mesh.n_node; node++) {
        const int i = node % 6, j = node / 6 % 4, k = node / 24;
        if (i % 5 == 0 || j % 3 == 0 || k % 3 == 0)
            CHECK_OK(hx_mesh_add_node_set(&a.mesh, "surface", 1, &node));
    }
    CHECK_OK(analyse(&a, FIXTURE_REORDERED, &params, &settings));
    matrix h = {{{0.0}}};
    const double strain = stress / young, zero[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++)
        h.at[i][i] = kind == PULL_ALL_SIDES ? strain * (1.0 - 2.0 * nu)
                     : i == 0               ? strain
                                            : -nu * strain;
    const double error = linear_error(&a, &h, zero);
    CHECK_MSG(error <= 1e-9, "%s: displacement off by %.3g of the largest", label, error);
    check_constant_stress(&a, &h, label);
    const double strains = kind == PULL_ALL_SIDES ? 3.0 * (1.0 - 2.0 * nu) : 1.0;
    CHECK_REL(a.record.compliance, strains * stress * strain * a.mesh.total_volume, 1e-9);
    double reaction[3];
    CHECK_OK(hx_analysis_reaction(&a.solver.analysis, 0, reaction));
    for (int i = 0; i < 3; i++) CHECK_ABS(reaction[i], 0.0, 1e-9 * stress * size * size);
    analysis_free(&a);
}

/* A bar between x = 0 and x = l stretched by a prescribed displacement, free to contract: the
 * reaction at the pulled end is E A delta / l. Three symmetry planes hold the rest. */
static void check_prescribed_bar(double nu, double young)
{
    const fixture_box box = {{6, 3, 2}, {3.0, 1.2, 0.8}, 0.2, 0};
    const double delta = 0.02, area = 1.2 * 0.8;
    const hx_support_spec support[] = {{"left", "test", HX_FIX_X, {0.0, 0.0, 0.0}},
                                       {"front", "test", HX_FIX_Y, {0.0, 0.0, 0.0}},
                                       {"bottom", "test", HX_FIX_Z, {0.0, 0.0, 0.0}},
                                       {"right", "test", HX_FIX_X, {delta, 0.0, 0.0}}};
    analysis a = {.u = NULL};
    hx_problem_params params = fixture_problem();
    const fixture_settings settings = fixture_defaults();
    params.young = young;
    params.poisson = nu;
    params.support = support;
    params.n_support = 4;
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    CHECK_OK(analyse(&a, FIXTURE_SHUFFLED, &params, &settings));
    const double e = delta / 3.0, zero[3] = {0.0, 0.0, 0.0};
    const matrix h = {{{e, 0.0, 0.0}, {0.0, -nu * e, 0.0}, {0.0, 0.0, -nu * e}}};
    CHECK(linear_error(&a, &h, zero) <= 1e-9);

    /* reactions: K u at the nodes of an end */
    const size_t n_dof = 3 * (size_t)a.mesh.n_node;
    double *force = malloc(n_dof * sizeof *force), *const d_q = a.solver.pcg.d_q;
    CHECK(force != NULL);
    if (!force) return;
    CHECK_OK(hx_operator_apply_unmasked(&a.solver.op, a.solver.analysis.d_u[0], d_q));
    CHECK_OK(device.ops->download(&device, force, d_q, n_dof * sizeof *force));
    const hx_set *const end[2] = {hx_mesh_find_set(&a.mesh, "left"),
                                  hx_mesh_find_set(&a.mesh, "right")};
    for (int side = 0; side < 2; side++) {
        double sum = 0.0;
        for (int64_t i = 0; i < end[side]->n_node; i++)
            sum += force[3 * (int64_t)end[side]->node[i]];
        CHECK_REL(sum, (side == 0 ? -1.0 : 1.0) * young * area * e, 1e-9);
    }
    CHECK_REL(a.record.compliance, -young * area * delta * delta / 3.0, 1e-9);
    free(force);
    analysis_free(&a);
}

/* Deflection under the end load (its work divided by its size) of a clamped beam with nz elements
 * over its height, cubes in x and z; nu = 0, so that one element across the width is exact. */
static double beam_deflection(int nz, double length, double total)
{
    const fixture_box box = {{(int)length * nz, 1, nz}, {length, 1.0, 1.0}, 0.0, 0};
    const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.0, -total}, 1};
    analysis a = {.u = NULL};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    double reaction[3];
    params.poisson = 0.0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    settings.pcg.tolerance = 1e-10;
    CHECK_OK(fixture_box_create(&a.mesh, &box));
    CHECK_OK(analyse(&a, FIXTURE_REORDERED, &params, &settings));
    CHECK_OK(hx_analysis_reaction(&a.solver.analysis, 0, reaction));
    CHECK_ABS(reaction[0], 0.0, 1e-7 * total);
    CHECK_REL(reaction[2], total, 1e-7);
    const double deflection = a.record.compliance / total;
    analysis_free(&a);
    return deflection;
}

/* Timoshenko beam: P l^3 / (3 E I) + P l / (k G A), k = 5/6. The trilinear element is too stiff in
 * bending by a fraction proportional to (h / height)^2: halving h divides the error by four. */
static void check_beam(int quick)
{
    const double length = 10.0, total = 3.0, inertia = 1.0 / 12.0, shear = 0.5;
    const double exact =
        total * length * length * length / (3.0 * inertia) + total * length / (5.0 / 6.0 * shear);
    double before = 0.0;
    for (int nz = 2; nz <= (quick ? 8 : 16); nz *= 2) {
        const double found = beam_deflection(nz, length, total), error = 1.0 - found / exact;
        printf("beam, %2d elements over the height: deflection %.4f, beam theory %.4f, %.3f %% "
               "too stiff\n",
               nz, found, exact, 100.0 * error);
        /* (1 + s) w = exact, s(h) ~ h^2: fractions of the exact compliance */
        const double share = exact / found - 1.0;
        if (nz > 2) CHECK_MSG(before / share > 3.8 && before / share < 4.2, "%g", before / share);
        before = share;
    }
    CHECK(before < (quick ? 0.01 : 0.0025));
}

/* Compliance = f'u = u'Ku, reactions = -loads, for every kind of load on a distorted mesh. */
static void check_equilibrium(void)
{
    static const hx_load_kind kind[] = {HX_LOAD_NODE_FORCE, HX_LOAD_TOTAL_FORCE, HX_LOAD_TRACTION,
                                        HX_LOAD_PRESSURE};
    const fixture_box box = {{6, 4, 3}, {3.0, 2.0, 1.0}, 0.2, 1};
    const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        const hx_load_spec load[2] = {
            {"top", "test", kind[k], {0.3, -0.5, -1.0}, 1},
            {"right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.1, 0.2, -0.1}, 1}};
        analysis a = {.u = NULL};
        hx_problem_params params = fixture_problem();
        fixture_settings settings = fixture_defaults();
        double applied[3], reaction[3], work = 0.0, energy = 0.0;
        settings.design.volume_fraction = 0.5;
        params.young = 3.0;
        params.support = &support;
        params.n_support = 1;
        params.load = load;
        params.n_load = 2;
        CHECK_OK(fixture_box_create(&a.mesh, &box));
        CHECK_OK(analyse(&a, FIXTURE_SHUFFLED, &params, &settings));
        hx_problem_total_force(&a.problem, 0, applied);
        CHECK_OK(hx_analysis_reaction(&a.solver.analysis, 0, reaction));
        for (int i = 0; i < 3; i++)
            CHECK_MSG(fabs(reaction[i] + applied[i]) <= 1e-9, "load kind %d: %g against %g",
                      (int)kind[k], reaction[i], applied[i]);
        for (int64_t i = 0; i < 3 * a.mesh.n_node; i++)
            work += a.problem.cases.force[0][i] * a.u[i];
        double element[6 * 4 * 3];
        CHECK_OK(hx_optimizer_energy(&a.solver.opt, element));
        for (int64_t e = 0; e < a.mesh.n_elem; e++) energy += element[e];
        CHECK(work > 0.0);
        CHECK_REL(a.record.compliance, work, 1e-12);
        CHECK_REL(a.record.compliance, energy, 1e-9);
        CHECK_REL(a.record.load_case[0].compliance, work, 1e-12);
        CHECK_REL(a.record.volume, 0.5, 1e-12);
        analysis_free(&a);
    }
}

/* ---- stored stiffness ---- */

/* The forces of a translation are the rounding errors of the diagonal tiles, whatever the shape of
 * the element. */
static void check_translations(void)
{
    uint64_t state = 19;
    for (int n = 0; n < 100; n++) {
        double x[24], ke[576];
        for (int i = 0; i < 24; i++) {
            const double flat = i % 3 == 2 ? 0.1 : 1.0;
            x[i] = flat * (hx_hex8_sign(i / 3, i % 3) + fixture_uniform(&state, -0.3, 0.3));
        }
        hx_hex8_stiffness(x, 0.6, 0.4, ke);
        for (int i = 0; i < 24; i++)
            for (int c = 0; c < 3; c++) {
                long double force = 0.0L;
                for (int b = 0; b < 8; b++) force += ke[24 * i + 3 * b + c];
                const double own = fabs(ke[24 * i + 3 * (i / 3) + c]);
                CHECK_MSG(fabsl(force) <= 0.50001L * DBL_EPSILON * own, "row %d: %Lg of %g", i,
                          force, own);
            }
    }
}

int main(int argc, char **argv)
{
    static const double nu[] = {0.0, 0.3, 0.45, -0.4};
    int quick, layout = 0;
    size_t next = 0;
    hx_layout found;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    for (const hx_operator_kind *s;
         (s = fixture_next_operator_kind(&device, &next, &layout, &found));)
        for (int i = 0; i < 4; i++)
            check_displacement_patch(s, found, nu[i], i % 2 == 0 ? 1.0 : 2e5);
    for (int i = 0; i < 4; i++) {
        check_load_patch(PULL_TRACTION, nu[i], 1.0, 1.0, 0);
        check_load_patch(PULL_PRESSURE, nu[i], 2e5, 1.0, 0);
        check_load_patch(PULL_ALL_SIDES, nu[i], 1.0, 1.0, 1);
        check_prescribed_bar(nu[i], i % 2 == 0 ? 1.0 : 2e5);
    }
    check_load_patch(PULL_TRACTION, 0.3, 2.1e11, 1e-3, 0);
    check_load_patch(PULL_ALL_SIDES, 0.3, 2.1e5, 1e3, 1);
    check_equilibrium();
    check_translations();
    check_beam(quick);
    hx_device_close(&device);
    TEST_END();
}
