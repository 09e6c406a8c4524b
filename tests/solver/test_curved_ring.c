/* Quadratic elements with curved edges: linear fields on a mesh whose cofactors the quadrature
 * integrates exactly, and a thick ring under inner pressure against Lame's solution, compared with
 * the same ring with straight edges.
 *
 *     test_curved_ring [cpu | cuda] */
#include "tests/lib/space_box.h"

static hx_device device;

/* A map as in test_curved.c, whose determinant and cofactors are linear. */
static void shear(const double x[3], double y[3])
{
    y[0] = x[0] + 0.08 * x[0] * x[0] - 0.05 * x[1] * x[1] + 0.06 * x[1] * x[2];
    y[1] = x[1];
    y[2] = x[2];
}

static void linear_field(const double x[3], double u[3])
{
    u[0] = 0.3 + 0.2 * x[0] - 0.1 * x[1] + 0.4 * x[2];
    u[1] = -0.2 + 0.5 * x[0] + 0.3 * x[1] + 0.1 * x[2];
    u[2] = 0.1 - 0.3 * x[0] + 0.2 * x[1] - 0.2 * x[2];
}

/* Flags the points of boundary faces, including mid-edge points. */
static void flag_boundary(const hx_space *s, uint8_t *flag)
{
    int64_t n, *face;
    CHECK_OK(hx_mesh_boundary_faces(s->mesh, NULL, &n, &face));
    for (int64_t f = 0; f < n; f++) {
        hx_space_face at;
        hx_space_face_of(s, face[f], &at);
        for (int a = 0; a < at.n; a++) flag[at.point[a]] = 1;
    }
    free(face);
}

static void hold(space_box *b, const uint8_t *flag)
{
    for (int64_t a = 0; a < b->space.n_point; a++) {
        b->problem.supports.fixed[a] = flag[a] ? HX_FIX_X | HX_FIX_Y | HX_FIX_Z : 0;
        if (flag[a]) linear_field(b->space.xyz + 3 * a, b->problem.supports.prescribed + 3 * a);
    }
}

static void test_patch(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}};
    const hx_support_spec moved = {"origin", "test", HX_FIX_X, {1e-3, 0.0, 0.0}},
                          pulled = {"corner-x", "test", HX_FIX_X, {2e-3, 0.0, 0.0}};
    hx_support_spec held[FIXTURE_N_DETERMINATE + 2];
    hx_problem_params params = fixture_problem();
    space_box b;
    double worst = 0.0;
    int64_t n_inner = 0;
    CHECK_OK(space_box_bent(&b, &box, HX_ELEMENT_QUADRATIC, shear));
    memcpy(held, fixture_determinate, sizeof fixture_determinate);
    held[0].fix = HX_FIX_Y | HX_FIX_Z;
    held[FIXTURE_N_DETERMINATE] = moved;
    held[FIXTURE_N_DETERMINATE + 1] = pulled;
    params.support = held;
    params.n_support = FIXTURE_N_DETERMINATE + 2;
    params.space = &b.space;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    double *const u = malloc(3 * (size_t)b.space.n_point * sizeof *u);
    uint8_t *const flag = calloc((size_t)b.space.n_point, 1);
    if (!u || !flag) abort();
    flag_boundary(&b.space, flag);
    hold(&b, flag);
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-14, u, NULL));
    for (int64_t a = 0; a < b.space.n_point; a++) {
        double expected[3];
        n_inner += !flag[a];
        linear_field(b.space.xyz + 3 * a, expected);
        for (int i = 0; i < 3; i++) test_worst(&worst, fabs(u[3 * a + i] - expected[i]));
    }
    printf("%s, curved: %lld inner points off by %.1e\n", mixed_name[kind], (long long)n_inner,
           worst);
    CHECK(n_inner > 0);
    CHECK_MSG(worst <= 1e-10, "%.3g", worst);
    free(u);
    free(flag);
    space_box_free(&b);
}

/* --- the ring --- */

#define INNER 1.0
#define OUTER 2.0
#define PRESSURE 0.1

/* Maps the box [0, 1] x [0, 1] x [0, 1/2] to a quarter of the ring, with x along the angle. */
static void ring(const double x[3], double y[3])
{
    const double angle = 1.57079632679489661923 * x[0], r = OUTER - (OUTER - INNER) * x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2];
}

/* Names sets of nodes by their position in the box. */
static int name_sides(hx_mesh *mesh)
{
    static const char *const name[6] = {"start", "stop", "outside", "bore", "low", "high"};
    const double side[6] = {0.0, 1.0, 0.0, 1.0, 0.0, 0.5};
    for (int s = 0; s < 6; s++)
        for (int32_t a = 0; a < (int32_t)mesh->n_node; a++)
            if (mesh->xyz[3 * (int64_t)a + s / 2] == side[s])
                HX_TRY(hx_mesh_add_node_set(mesh, name[s], 1, &a));
    return HX_OK;
}

/* E = 1, nu = 0.3; symmetry at both ends, no motion along z. */
static int make_ring(space_box *b, mixed_kind kind, int fine, int curved)
{
    const hx_support_spec support[4] = {{"start", "test", HX_FIX_Y, {0.0}},
                                        {"stop", "test", HX_FIX_X, {0.0}},
                                        {"low", "test", HX_FIX_Z, {0.0}},
                                        {"high", "test", HX_FIX_Z, {0.0}}};
    const hx_load_spec load = {"bore", "test", HX_LOAD_PRESSURE, {PRESSURE}, 1};
    const mixed_box box = {
        .kind = kind, .n = {3 * fine, 2 * fine, fine}, .length = {1.0, 1.0, 0.5}};
    hx_problem_params params = fixture_problem();
    memset(b, 0, sizeof *b);
    HX_TRY(mixed_create(&b->mesh, &box));
    HX_TRY(name_sides(&b->mesh));
    HX_TRY(curved_bend(&b->mesh, ring));
    if (!curved) hx_middles_free(&b->mesh.middles);
    HX_TRY(hx_mesh_shuffle(&b->mesh, 4));
    HX_TRY(hx_mesh_finish(&b->mesh));
    HX_TRY(hx_space_create(&b->space, &b->mesh, HX_ELEMENT_QUADRATIC));
    params.support = support, params.n_support = 4;
    params.load = &load, params.n_load = 1;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* Lame's solution for plane strain. */
static double radial_displacement(double r)
{
    const double nu = 0.3, a2 = INNER * INNER, b2 = OUTER * OUTER;
    return 1.3 * PRESSURE * a2 / (b2 - a2) * ((1.0 - 2.0 * nu) * r + b2 / r);
}

/* Largest difference from the solution at the nodes, relative to the largest displacement. */
static double ring_error(mixed_kind kind, int fine, int curved)
{
    space_box b;
    double worst = 0.0;
    CHECK_OK(make_ring(&b, kind, fine, curved));
    double *const u = malloc(3 * (size_t)b.space.n_point * sizeof *u);
    if (!u) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-11, u, NULL));
    for (int64_t a = 0; a < b.mesh.n_node; a++) {
        const double *const x = b.space.xyz + 3 * a, r = hypot(x[0], x[1]);
        const double size = radial_displacement(r) / r;
        for (int d = 0; d < 2; d++) test_worst(&worst, fabs(u[3 * a + d] - size * x[d]));
        test_worst(&worst, fabs(u[3 * a + 2]));
    }
    /* resultant of the pressure on a quarter: p r L along x and y */
    double sum[3] = {0.0};
    hx_problem_total_force(&b.problem, 0, sum);
    if (curved) CHECK_REL(sum[0], PRESSURE * INNER * 0.5, 1e-12);
    if (curved) CHECK_REL(sum[1], PRESSURE * INNER * 0.5, 1e-12);
    free(u);
    space_box_free(&b);
    return worst / radial_displacement(INNER);
}

static void test_ring(mixed_kind kind, double most)
{
    const double coarse = ring_error(kind, 2, 1), fine = ring_error(kind, 4, 1);
    const double straight = ring_error(kind, 4, 0);
    printf("%s: ring off by %.2e and %.2e, by %.2e with straight edges\n", mixed_name[kind], coarse,
           fine, straight);
    CHECK_MSG(fine <= most, "%s: %.3g", mixed_name[kind], fine);
    CHECK_MSG(fine <= coarse / 5.0, "%s: %.3g after %.3g", mixed_name[kind], fine, coarse);
    CHECK_MSG(fine <= straight / 10.0, "%s: %.3g, straight %.3g", mixed_name[kind], fine, straight);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (int kind = 0; kind < MIXED_N_KIND; kind++) test_patch((mixed_kind)kind);
    test_ring(MIXED_HEXAHEDRA, 4e-6);
    test_ring(MIXED_WEDGES, 3e-4);
    test_ring(MIXED_PYRAMIDS, 1e-4);
    test_ring(MIXED_TETRAHEDRA, 5e-4);
    hx_device_close(&device);
    TEST_END();
}
