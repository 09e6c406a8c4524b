/* Collapsed cells in the solver: K of every operator against dense rows (for tetrahedra, those of
 * the constant-strain element from barycentric gradients), linear displacements that a patch of any
 * cell kind must reproduce, and equal solutions from every preconditioner in about as many
 * iterations as for hexahedra. checkop checks the products themselves, on larger meshes.
 *
 *     test_collapsed [cpu | cuda] */
#include "tests/lib/dense_model.h"
#include "tests/lib/mixed_model.h"

/* ---- dense rows ---- */

/* Gradients of the barycentric coordinates of points x[4], from cofactors; returns the volume. */
static double barycentric(double x[4][3], double g[4][3])
{
    double edge[3][3], volume;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) edge[k][i] = x[k + 1][i] - x[0][i];
    volume = 0.0;
    for (int k = 0; k < 3; k++) {
        const double *p = edge[(k + 1) % 3], *q = edge[(k + 2) % 3];
        for (int i = 0; i < 3; i++)
            g[k + 1][i] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
        volume += k == 0 ? edge[0][0] * g[1][0] + edge[0][1] * g[1][1] + edge[0][2] * g[1][2] : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 1; k < 4; k++) g[k][i] /= volume;
        g[0][i] = -(g[1][i] + g[2][i] + g[3][i]);
    }
    return volume / 6.0;
}

/* Adds a constant-strain tetrahedron to K. */
static void add_tetrahedron(const mixed_model *m, const int32_t conn[8], double modulus, double *k)
{
    const int64_t n = 3 * m->mesh.n_node;
    const double lambda = m->problem.lambda, mu = m->problem.mu;
    int corner[8];
    double x[4][3], g[4][3];
    (void)hx_cell_distinct(conn, corner);
    for (int a = 0; a < 4; a++)
        memcpy(x[a], m->mesh.xyz + 3 * (int64_t)conn[corner[a]], sizeof x[a]);
    const double volume = fabs(barycentric(x, g));
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const double dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    k[(3 * conn[corner[a]] + i) * n + 3 * conn[corner[b]] + j] +=
                        modulus * volume *
                        (lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] +
                         (i == j ? mu * dot : 0.0));
        }
}

static void add_cell(const mixed_model *m, const int32_t conn[8], double modulus, double *k)
{
    const int64_t n = 3 * m->mesh.n_node;
    double x[8][3], ke[24][24];
    for (int a = 0; a < 8; a++) memcpy(x[a], m->mesh.xyz + 3 * (int64_t)conn[a], sizeof x[a]);
    element_stiffness(x, m->problem.poisson, ke);
    for (int r = 0; r < 24; r++)
        for (int c = 0; c < 24; c++)
            k[(3 * conn[r / 3] + r % 3) * n + 3 * conn[c / 3] + c % 3] += modulus * ke[r][c];
}

static double *dense_rows(const mixed_model *m, const double *modulus)
{
    const size_t n = 3 * (size_t)m->mesh.n_node;
    double *const k = calloc(n * n, sizeof *k);
    if (!k) abort();
    for (int64_t e = 0; e < m->mesh.n_elem; e++) {
        const int32_t *conn = m->mesh.conn + 8 * e;
        if (hx_cell_kind_of(conn) == HX_CELL_TETRAHEDRON)
            add_tetrahedron(m, conn, modulus[e], k);
        else
            add_cell(m, conn, modulus[e], k);
    }
    return k;
}

static double *new_moduli(const hx_mesh *mesh, double contrast)
{
    double *const modulus = malloc((size_t)mesh->n_elem * sizeof *modulus);
    uint64_t seed = 77;
    if (!modulus) abort();
    for (int64_t e = 0; e < mesh->n_elem; e++)
        modulus[e] = pow(contrast, -fixture_uniform(&seed, 0.0, 1.0));
    return modulus;
}

/* Computes every column of K with the operator; returns the largest difference relative to the
 * largest entry. */
static double columns_apart(hx_operator *op, size_t n, const double *k)
{
    double worst = 0.0, largest = 0.0;
    double *const x = calloc(n, sizeof *x), *const y = calloc(n, sizeof *y);
    double *const d_x = fixture_put(&device, n, NULL), *const d_y = fixture_put(&device, n, NULL);
    if (!x || !y) abort();
    for (size_t c = 0; c < n; c++) {
        x[c] = 1.0;
        CHECK_OK(device.ops->upload(&device, d_x, x, n * sizeof *x));
        x[c] = 0.0;
        CHECK_OK(hx_operator_apply_unmasked(op, d_x, d_y));
        fixture_get(&device, n, y, d_y);
        for (size_t r = 0; r < n; r++) {
            test_worst(&worst, fabs(y[r] - k[r * n + c]));
            test_worst(&largest, fabs(k[r * n + c]));
        }
    }
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    free(x);
    free(y);
    return worst / largest;
}

static void check_rows(mixed_kind kind)
{
    const mixed_box box = {.kind = kind,
                           .n = {2, 2, kind == MIXED_LAYERS ? 5 : 2},
                           .length = {2.0, 1.6, 2.3},
                           .distort = 0.15,
                           .seed = 3 + (uint64_t)kind};
    const hx_operator_kind *op_kind;
    mixed_model m;
    size_t i = 0;
    int next = 0;
    hx_layout layout;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_SHUFFLED));
    double *const modulus = new_moduli(&m.mesh, 10.0), *const k = dense_rows(&m, modulus);
    while ((op_kind = fixture_next_operator_kind(&device, &i, &next, &layout)) != NULL) {
        hx_operator op;
        CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, &m.problem, 0));
        CHECK_OK(hx_operator_set_modulus(&op, modulus));
        const double apart = columns_apart(&op, 3 * (size_t)m.mesh.n_node, k);
        CHECK_MSG(apart <= 1e-13, "%s, %s %s: rows off by %.3g", mixed_name[kind], op_kind->name,
                  hx_layout_name(layout), apart);
        if (layout == HX_LAYOUT_INTERLEAVED)
            printf("%-24s %-8s rows off by %.1e\n", mixed_name[kind], op_kind->name, apart);
        hx_operator_free(&op);
    }
    free(modulus);
    free(k);
    mixed_model_free(&m);
}

/* ---- patch test ---- */

static void linear_field(const double x[3], double u[3])
{
    static const double slope[3][3] = {{0.3, -0.2, 0.1}, {0.05, 0.4, -0.3}, {-0.1, 0.25, 0.15}};
    for (int i = 0; i < 3; i++)
        u[i] = 0.7 - i + slope[i][0] * x[0] + slope[i][1] * x[1] + slope[i][2] * x[2];
}

/* The surface is moved by the linear field, and the inside must follow. */
static int create_patch(mixed_model *m, const mixed_box *box)
{
    static const hx_support_spec support = {
        "surface", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {1.0, 1.0, 1.0}};
    hx_notes moved = {0}; /* until its values are those of the field, it is one rigid motion */
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.lacking = &moved;
    memset(m, 0, sizeof *m);
    HX_TRY(mixed_create_part(&m->mesh, box, FIXTURE_REORDERED));
    HX_TRY(hx_problem_create(&m->problem, &m->mesh, &params));
    hx_notes_free(&moved);
    for (int64_t a = 0; a < m->mesh.n_node; a++)
        if (m->problem.supports.fixed[a])
            linear_field(m->mesh.xyz + 3 * a, m->problem.supports.prescribed + 3 * a);
    return HX_OK;
}

/* Solves with one modulus per element, starting from the prescribed displacements or 0 in u. */
static hx_pcg_result solve_model(const mixed_model *m, const char *precond, double tolerance,
                                 const double *modulus, double *u)
{
    const size_t n = 3 * (size_t)m->mesh.n_node;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    double *const zero = calloc(n, sizeof *zero), *const prescribed =
                                                      m->problem.supports.prescribed;
    double *const d_f = fixture_put(&device, n, m->problem.cases.force[0]);
    double *const d_u = fixture_put(&device, n, prescribed ? prescribed : zero);
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.precond = precond;
    settings.pcg.tolerance = tolerance;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, d_f, d_u, &result));
    fixture_get(&device, n, u, d_u);
    CHECK_MSG(result.reason == HX_PCG_CONVERGED, "%s with %s: %s", m->mesh.name, precond,
              hx_pcg_reason_name(result.reason));
    fixture_solver_free(&s);
    device.ops->release(&device, d_f);
    device.ops->release(&device, d_u);
    free(zero);
    return result;
}

static void check_patch(mixed_kind kind)
{
    const mixed_box box = {.kind = kind,
                           .n = {4, 3, 5},
                           .length = {2.0, 1.1, 2.3},
                           .distort = 0.15,
                           .seed = 3 + (uint64_t)kind};
    mixed_model m;
    double worst = 0.0;
    int64_t n_inside = 0;
    CHECK_OK(create_patch(&m, &box));
    double *const modulus = new_moduli(&m.mesh, 1.0);
    double *const u = calloc(3 * (size_t)m.mesh.n_node, sizeof *u);
    if (!u) abort();
    solve_model(&m, "jacobi", 1e-14, modulus, u);
    for (int64_t a = 0; a < m.mesh.n_node; a++) {
        double exact[3];
        linear_field(m.mesh.xyz + 3 * a, exact);
        n_inside += m.problem.supports.fixed[a] == 0;
        for (int i = 0; i < 3; i++) test_worst(&worst, fabs(u[3 * a + i] - exact[i]));
    }
    CHECK_MSG(worst <= 1e-10 && n_inside > 10, "%s: a patch of linear displacements is off by %.3g",
              mixed_name[kind], worst);
    printf("%-24s patch of %lld inner nodes off by %.1e\n", mixed_name[kind], (long long)n_inside,
           worst);
    free(modulus);
    free(u);
    mixed_model_free(&m);
}

/* ---- preconditioners ---- */

/* Iterations of each preconditioner to 1e-10, with solutions that agree within 1e-7; returns those
 * of multigrid. */
static int check_solutions(mixed_kind kind, double contrast)
{
    const mixed_box box = {.kind = kind, .n = {15, 6, 10}, .distort = 0.1, .seed = 9};
    mixed_model m;
    int iterations = 0, n_solved = 0;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_SHUFFLED));
    const size_t n = 3 * (size_t)m.mesh.n_node;
    double *const modulus = new_moduli(&m.mesh, contrast), size = 0.0;
    double *const u = calloc(n, sizeof *u), *const first = calloc(n, sizeof *first);
    if (!u || !first) abort();
    printf("%-24s %6lld elements, contrast %g:", mixed_name[kind], (long long)m.mesh.n_elem,
           contrast);
    for (int i = 0; hx_preconds[i]; i++) {
        const char *const name = hx_preconds[i]->name;
        if (contrast > 1.0 && strcmp(name, "none") == 0) continue;
        double *const to = n_solved++ == 0 ? first : u;
        const hx_pcg_result result = solve_model(&m, name, 1e-10, modulus, to);
        printf(" %s %d", name, result.iterations);
        if (strcmp(name, "multigrid") == 0) iterations = result.iterations;
        for (size_t k = 0; k < n && to == first; k++) test_worst(&size, fabs(first[k]));
        const double apart = test_max_difference(n, to, first) / size;
        CHECK_MSG(apart <= 1e-7, "%s with %s: another solution, by %.3g", mixed_name[kind], name,
                  apart);
    }
    printf("\n");
    free(modulus);
    free(u);
    free(first);
    mixed_model_free(&m);
    return iterations;
}

int main(int argc, char **argv)
{
    static const double contrast[2] = {1.0, 1e3};
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_rows((mixed_kind)kind);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_patch((mixed_kind)kind);
    for (int c = 0; c < 2; c++) {
        const int hexahedra = check_solutions(MIXED_HEXAHEDRA, contrast[c]);
        for (int kind = 1; kind < MIXED_N_KIND; kind++) {
            const int n = check_solutions((mixed_kind)kind, contrast[c]);
            CHECK_MSG(n > 0 && n <= 2 * hexahedra,
                      "%s: multigrid takes %d iterations, hexahedra %d", mixed_name[kind], n,
                      hexahedra);
        }
    }
    hx_device_close(&device);
    TEST_END();
}
