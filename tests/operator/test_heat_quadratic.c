/* Heat conduction with quadratic elements: linear temperatures on every kind of cell, straight and
 * curved; the parabola of a source; a ring with a film against its logarithmic solution; energies
 * and diagonals against matrix rows; derivatives; resultants; solution and iterations of multigrid.
 *
 *     test_heat_quadratic [cpu | cuda] */
#include "core/mesh/region.h"
#include "core/operator/conduction_ops.h"
#include "tests/lib/space_box.h"

static hx_device device;

/* A map whose determinant and cofactors are linear; the faces x = 0 and x = 2 become curved. */
static void shear(const double x[3], double y[3])
{
    y[0] = x[0] + 0.04 * x[0] * x[0] + 0.1 * x[1] * x[1] + 0.08 * x[1] * x[2];
    y[1] = x[1];
    y[2] = x[2];
}

static void plain(const double x[3], double y[3])
{
    memcpy(y, x, 3 * sizeof *y);
}

/* Names the sides of the box by the positions of nodes before the map. */
static int make_mesh(space_box *b, const mixed_box *box, curved_map map)
{
    static const char *const name[4] = {"left", "right", "front", "back"};
    memset(b, 0, sizeof *b);
    HX_TRY(mixed_create(&b->mesh, box));
    mixed_turn(&b->mesh, 7);
    for (int s = 0; s < 4; s++)
        for (int32_t a = 0; a < (int32_t)b->mesh.n_node; a++) {
            const double length = box->length[s / 2] > 0.0 ? box->length[s / 2] : box->n[s / 2];
            if (b->mesh.xyz[3 * (int64_t)a + s / 2] == (s % 2 ? length : 0.0))
                HX_TRY(hx_mesh_add_node_set(&b->mesh, name[s], 1, &a));
        }
    HX_TRY(curved_bend(&b->mesh, map));
    if (map == plain) hx_middles_free(&b->mesh.middles);
    HX_TRY(hx_mesh_shuffle(&b->mesh, 4));
    HX_TRY(hx_mesh_finish(&b->mesh));
    return hx_space_create(&b->space, &b->mesh, HX_ELEMENT_QUADRATIC);
}

static hx_problem_params heat_problem(const space_box *b)
{
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    params.space = &b->space;
    return params;
}

/* T - reference at all points; freed by the caller. */
static double *solve_by(const space_box *b, const char *op, const char *precond, double tolerance,
                        int *iterations)
{
    double *const t = malloc((size_t)b->space.n_point * sizeof *t);
    if (!t) abort();
    CHECK_OK(space_box_solve(b, &device, op, precond, tolerance, t, iterations));
    return t;
}

static double *solve(const space_box *b, const char *precond, double tolerance, int *iterations)
{
    return solve_by(b, "csr", precond, tolerance, iterations);
}

/* T = 10 + 3 x + 2 y - z is prescribed on the whole boundary and must be reproduced inside. */
static void check_linear(mixed_kind kind, curved_map map)
{
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}, .distort = map == plain ? 0.12 : 0.0};
    const hx_support_spec support[2] = {{"left", "test", HX_FIX_X, {1.0}},
                                        {"right", "test", HX_FIX_X, {0.0}}};
    space_box b;
    double worst = 0.0;
    int64_t n, *face, n_free = 0;
    CHECK_OK(make_mesh(&b, &box, map));
    hx_problem_params params = heat_problem(&b);
    params.support = support, params.n_support = 2;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    CHECK_OK(hx_mesh_boundary_faces(&b.mesh, NULL, &n, &face));
    for (int64_t f = 0; f < n; f++) {
        hx_space_face at;
        hx_space_face_of(&b.space, face[f], &at);
        for (int a = 0; a < at.n; a++) b.problem.supports.fixed[at.point[a]] = HX_FIX_X;
    }
    for (int64_t a = 0; a < b.space.n_point; a++) {
        const double *const x = b.space.xyz + 3 * a;
        n_free += !b.problem.supports.fixed[a];
        if (b.problem.supports.fixed[a])
            b.problem.supports.prescribed[a] = 10.0 + 3.0 * x[0] + 2.0 * x[1] - x[2];
    }
    double *const t = solve(&b, "jacobi", 1e-14, NULL);
    for (int64_t a = 0; a < b.space.n_point; a++) {
        const double *const x = b.space.xyz + 3 * a;
        test_worst(&worst, fabs(t[a] - (10.0 + 3.0 * x[0] + 2.0 * x[1] - x[2])));
    }
    CHECK(n_free > 0);
    CHECK_MSG(worst <= 1e-10, "%s: %.3g", mixed_name[kind], worst);
    free(face);
    free(t);
    space_box_free(&b);
}

/* A slab of length 2 with T = 300 at x = 0 and a source of 3; at x = 2 a flux of 7 (film = 0), or a
 * film with h = 1.5 and ambient temperature 280. Affine elements represent the parabola exactly. */
static void check_source(mixed_kind kind, int film)
{
    const int affine = kind == MIXED_TETRAHEDRA || kind == MIXED_TETRAHEDRA_5;
    const mixed_box box = {
        .kind = kind, .n = {3, 2, 5}, .length = {2.0, 1.0, 1.0}, .distort = affine ? 0.12 : 0.0};
    const hx_support_spec support = {"left", "test", HX_FIX_X, {300.0}};
    const hx_load_spec load[2] = {{NULL, "test", HX_LOAD_SOURCE, {3.0}, 1},
                                  {"right", "test", HX_LOAD_FLUX, {7.0}, 1}};
    const hx_convection_spec cooled = {"right", "test", 1.5, 280.0};
    space_box b;
    double worst = 0.0, heat, total[3];
    CHECK_OK(make_mesh(&b, &box, plain));
    hx_problem_params params = heat_problem(&b);
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = film ? 1 : 2;
    params.convection = &cooled, params.n_convection = film ? 1 : 0;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    hx_problem_total_force(&b.problem, 0, total);
    CHECK_REL(total[0], film ? 6.0 : 13.0, 1e-12);
    double *const t = solve(&b, "jacobi", 1e-14, NULL);
    /* k T' at x = 0: 3 L + 7, or with the film k c = 3 L - 1.5 (T(2) - 280) */
    const double k = 2.5, own = 300.0 - 3.0 / k * 2.0;
    const double slope = film ? (6.0 - 1.5 * (own - 280.0)) / (k + 3.0) : 13.0 / k;
    for (int64_t a = 0; a < b.space.n_point; a++) {
        const double x = b.space.xyz[3 * a];
        test_worst(&worst,
                   fabs(t[a] + b.problem.reference - (300.0 + slope * x - 1.5 / k * x * x)));
    }
    CHECK_MSG(worst <= 1e-9, "%s, film %d: %.3g", mixed_name[kind], film, worst);
    if (film) { /* int h N N' dA applied to a constant */
        heat = 0.0;
        for (int64_t j = 0; j < b.problem.films.ptr[b.problem.films.n]; j++)
            heat += b.problem.films.value[j];
        CHECK_REL(heat, 1.5, 1e-12);
    }
    free(t);
    space_box_free(&b);
}

/* Energies x'K x and the diagonal for random conductivities, from matrix rows and from cells. */
static void check_rows(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}, .distort = 0.08, .seed = 6};
    const hx_support_spec support = {"left", "test", HX_FIX_X, {0.0}};
    const hx_load_spec load = {NULL, "test", HX_LOAD_SOURCE, {1.0}, 1};
    const hx_conduction_ops *ops = device.ops->conduction;
    space_box b;
    hx_operator op;
    uint64_t state = 5;
    double uku = 0.0, total = 0.0, worst = 0.0;
    CHECK_OK(make_mesh(&b, &box, shear));
    hx_problem_params params = heat_problem(&b);
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    const hx_operator_kind *csr =
        hx_operator_kind_of(hx_operator_kind_find(device.ops->name, "csr"), 1);
    CHECK_OK(hx_operator_create(&op, &device, csr, hx_layout_first(csr), &b.problem, 0));
    const size_t n = (size_t)b.space.n_point, n_elem = (size_t)b.mesh.n_elem;
    double *const x = malloc((3 * n + 2 * n_elem) * sizeof *x), *const y = x + n, *const d = y + n,
                  *const modulus = d + n, *const energy = modulus + n_elem;
    if (!x) abort();
    for (size_t k = 0; k < n; k++) x[k] = fixture_uniform(&state, -1.0, 1.0);
    for (size_t e = 0; e < n_elem; e++) modulus[e] = fixture_uniform(&state, 0.1, 1.0);
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    double *const d_x = fixture_put(&device, n, x), *const d_y = fixture_put(&device, n, NULL);
    double *const d_energy = fixture_put(&device, n_elem, NULL);
    CHECK_OK(hx_operator_apply_unmasked(&op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    CHECK_OK(hx_operator_energy(&op, d_x, d_energy));
    fixture_get(&device, n_elem, energy, d_energy);
    for (size_t k = 0; k < n; k++) uku += x[k] * y[k];
    for (size_t e = 0; e < n_elem; e++) total += modulus[e] * energy[e];
    CHECK_REL(total, uku, 1e-12);
    CHECK_OK(csr->diagonal(op.state, d_y));
    fixture_get(&device, n, y, d_y);
    CHECK_OK(ops->diagonal(&device, &op.model, d_y));
    fixture_get(&device, n, d, d_y);
    for (size_t k = 0; k < n; k++) test_worst(&worst, fabs(d[k] / y[k] - 1.0));
    CHECK_MSG(worst <= 1e-12, "%s: %.3g", mixed_name[kind], worst);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    device.ops->release(&device, d_energy);
    free(x);
    hx_operator_free(&op);
    space_box_free(&b);
}

static double compliance_at(fixture_solver *s, int64_t e, double rho, double moved)
{
    hx_iteration record;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    return record.compliance;
}

/* Derivatives of the thermal compliance with respect to densities, on curved meshes, against
 * central differences. */
static void check_derivatives(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {2, 1, 5}, .distort = 0.08, .seed = 4};
    const hx_support_spec support = {"left", "test", HX_FIX_X, {20.0}};
    const hx_convection_spec film = {"right", "test", 0.7, 20.0};
    const hx_load_spec load = {NULL, "test", HX_LOAD_SOURCE, {1.0}, 1};
    space_box b;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    uint64_t state = 99;
    double worst = 0.0, largest = 0.0;
    settings.design.volume_fraction = 0.5;
    CHECK_OK(make_mesh(&b, &box, shear));
    hx_problem_params params = heat_problem(&b);
    params.support = &support, params.n_support = 1;
    params.convection = &film, params.n_convection = 1;
    params.load = &load, params.n_load = 1;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    const size_t n = (size_t)b.mesh.n_elem;
    double *const density = malloc(2 * n * sizeof *density), *const dc = density + n;
    if (!density) abort();
    for (size_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, 0.15, 0.95);
    settings.op_kind = hx_operator_kind_of(hx_operator_kind_find(device.ops->name, "csr"), 1);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (size_t e = 0; e < n; e++) test_worst(&largest, fabs(dc[e]));
    for (size_t e = 0; e < n; e += n / 5) {
        const double h = 1e-3 * density[e], rho = density[e];
        double c[4];
        for (int k = 0; k < 4; k++)
            c[k] = compliance_at(&s, (int64_t)e, rho, rho + (k < 2 ? 1.0 : 2.0) * (k % 2 ? -h : h));
        const double slope = (8.0 * (c[0] - c[1]) - (c[2] - c[3])) / (12.0 * h);
        test_worst(&worst, fabs(dc[e] - slope) / largest);
    }
    printf("%s: derivatives off by %.1e\n", mixed_name[kind], worst);
    CHECK(largest > 0.0);
    CHECK_MSG(worst <= 1e-6, "%.3g", worst);
    fixture_solver_free(&s);
    free(density);
    space_box_free(&b);
}

/* Maps the box [0, 1]^3 to a quarter of a ring with radii 1 and 2, with x along the angle. */
static void ring(const double x[3], double y[3])
{
    const double angle = 1.57079632679489661923 * x[0], r = 2.0 - x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2];
}

/* T = 100 at r = 2, and a film with h = 4 and ambient temperature 0 at r = 1: the largest
 * difference from 100 - b log(2 / r). */
static double ring_error(mixed_kind kind, int n)
{
    const mixed_box box = {.kind = kind, .n = {2 * n, n, n}, .length = {1.0, 1.0, 1.0}};
    const hx_support_spec support = {"front", "test", HX_FIX_X, {100.0}};
    const hx_convection_spec film = {"back", "test", 4.0, 0.0};
    space_box b;
    double worst = 0.0;
    CHECK_OK(make_mesh(&b, &box, ring));
    hx_problem_params params = heat_problem(&b);
    params.support = &support, params.n_support = 1;
    params.convection = &film, params.n_convection = 1;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    double *const t = solve(&b, "multigrid", 1e-12, NULL);
    const double slope = 400.0 / (2.5 + 4.0 * log(2.0)); /* k b = 4 T(1) */
    for (int64_t a = 0; a < b.space.n_point; a++) {
        const double r = hypot(b.space.xyz[3 * a], b.space.xyz[3 * a + 1]);
        test_worst(&worst, fabs(t[a] + b.problem.reference - (100.0 - slope * log(2.0 / r))));
    }
    free(t);
    space_box_free(&b);
    return worst / 100.0;
}

static void check_ring(mixed_kind kind)
{
    const double coarse = ring_error(kind, 2), fine = ring_error(kind, 4);
    printf("%s: ring off by %.2e and %.2e\n", mixed_name[kind], coarse, fine);
    CHECK(fine < 1e-3);
    CHECK_MSG(fine < coarse / 5.0, "%s: %.3g after %.3g", mixed_name[kind], fine, coarse);
}

/* Both preconditioners give the same temperatures, multigrid in few iterations. */
static void check_multigrid(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {10, 8, 10}, .distort = 0.08, .seed = 2};
    const hx_support_spec support = {"left", "test", HX_FIX_X, {20.0}};
    const hx_convection_spec film = {"right", "test", 0.7, 10.0};
    const hx_load_spec load = {NULL, "test", HX_LOAD_SOURCE, {1.0}, 1};
    space_box b;
    int n_diagonal = 0, n_multigrid = 0;
    double size = 0.0;
    CHECK_OK(make_mesh(&b, &box, shear));
    hx_problem_params params = heat_problem(&b);
    params.support = &support, params.n_support = 1;
    params.convection = &film, params.n_convection = 1;
    params.load = &load, params.n_load = 1;
    CHECK_OK(hx_problem_create(&b.problem, &b.mesh, &params));
    double *const one = solve(&b, "jacobi", 1e-11, &n_diagonal);
    double *const two = solve(&b, "multigrid", 1e-11, &n_multigrid);
    for (int64_t a = 0; a < b.space.n_point; a++) test_worst(&size, fabs(one[a]));
    CHECK(test_max_difference((size_t)b.space.n_point, one, two) <= 1e-8 * size);
    for (int o = 0; o < 2; o++) { /* rows of the other operators give the same coarse grids */
        int n;
        double *const other = solve_by(&b, o ? "bsrsym" : "bsr", "multigrid", 1e-11, &n);
        CHECK(test_max_difference((size_t)b.space.n_point, one, other) <= 1e-8 * size);
        CHECK_MSG(n == n_multigrid, "%d, not %d", n, n_multigrid);
        free(other);
    }
    printf("%s: iterations to 1e-11: jacobi %d, multigrid %d\n", mixed_name[kind], n_diagonal,
           n_multigrid);
    CHECK(n_diagonal > 2 * n_multigrid && n_multigrid <= 45);
    free(one);
    free(two);
    space_box_free(&b);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    if (!device.ops->conduction || !device.ops->conduction->quadratic) {
        hx_device_close(&device);
        TEST_SKIP("the device does not support heat conduction with quadratic elements");
    }
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        check_linear((mixed_kind)kind, plain);
        check_linear((mixed_kind)kind, shear);
        check_source((mixed_kind)kind, 0);
        check_source((mixed_kind)kind, 1);
        check_rows((mixed_kind)kind);
        check_derivatives((mixed_kind)kind);
    }
    for (int kind = 0; kind < MIXED_TETRAHEDRA_5; kind++) check_ring((mixed_kind)kind);
    check_multigrid(MIXED_HEXAHEDRA);
    check_multigrid(MIXED_TETRAHEDRA);
    hx_device_close(&device);
    TEST_END();
}
