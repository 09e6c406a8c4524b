/* The solver against a dense K and its Cholesky factors, written independently of the core: what
 * its stopping rules promise, its reasons, the same answer from every operator.
 *
 *     test_pcg [cpu | cuda] [quick] */
#include "wrapper.h"

static hx_device device;

enum { NX = 6, NY = 3, NZ = 3, N_NODE = (NX + 1) * (NY + 1) * (NZ + 1), N_DOF = 3 * N_NODE };

/* Ke by the textbook: strain of a unit displacement of corner b along j, its stress by Hooke's law,
 * the force on corner a. */
static void element_stiffness(double x[8][3], double nu, double ke[24][24])
{
    static const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    memset(ke, 0, 24 * sizeof ke[0]);
    for (int q = 0; q < 8; q++) {
        double dn[8][3], jac[3][3] = {{0.0}}, grad[8][3], det = 0.0;
        for (int a = 0; a < 8; a++)
            for (int k = 0; k < 3; k++) {
                dn[a][k] = corner[a][k] / 8.0;
                for (int m = 0; m < 3; m++)
                    if (m != k) dn[a][k] *= 1.0 + corner[a][m] * corner[q][m] / sqrt(3.0);
                for (int i = 0; i < 3; i++) jac[k][i] += dn[a][k] * x[a][i];
            }
        for (int i = 0; i < 3; i++)
            det += jac[0][i] * (jac[1][(i + 1) % 3] * jac[2][(i + 2) % 3] -
                                jac[1][(i + 2) % 3] * jac[2][(i + 1) % 3]);
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++) { /* Cramer: column i of the Jacobian replaced by dn */
                double m[3][3];
                memcpy(m, jac, sizeof m);
                for (int k = 0; k < 3; k++) m[k][i] = dn[a][k];
                grad[a][i] = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                              m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                             det;
            }
        for (int b = 0; b < 24; b++) {
            double stress[3][3];
            const double *g = grad[b / 3], trace = g[b % 3];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double strain =
                        0.5 * ((i == b % 3 ? g[j] : 0.0) + (j == b % 3 ? g[i] : 0.0));
                    stress[i][j] =
                        (strain + (i == j ? nu / (1.0 - 2.0 * nu) * trace : 0.0)) / (1.0 + nu);
                }
            for (int a = 0; a < 24; a++)
                for (int j = 0; j < 3; j++) ke[a][b] += det * stress[a % 3][j] * grad[a / 3][j];
        }
    }
}

/* The model: a distorted shuffled beam with a modulus of its own in every element. */
typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
    double *k, *modulus; /* dense [N_DOF][N_DOF]; [n_elem] */
    double f[N_DOF], exact[N_DOF], u[N_DOF];
    double *d_f, *d_u;
} model;

static int is_fixed(const model *m, int dof)
{
    return m->problem.fixed[dof / 3] >> (dof % 3) & 1;
}

static void assemble(model *m)
{
    memset(m->k, 0, (size_t)N_DOF * N_DOF * sizeof *m->k);
    for (int64_t e = 0; e < m->mesh.n_elem; e++) {
        const int32_t *conn = m->mesh.conn + 8 * e;
        double x[8][3], ke[24][24];
        for (int a = 0; a < 8; a++) memcpy(x[a], m->mesh.xyz + 3 * (int64_t)conn[a], sizeof x[a]);
        element_stiffness(x, m->problem.poisson, ke);
        for (int r = 0; r < 24; r++)
            for (int c = 0; c < 24; c++)
                m->k[(3 * conn[r / 3] + r % 3) * N_DOF + 3 * conn[c / 3] + c % 3] +=
                    m->modulus[e] * ke[r][c];
    }
}

/* exact: K u = f on free, u = prescribed on fixed degrees of freedom, by Cholesky. */
static void solve_dense(model *m)
{
    long double *l = malloc((size_t)N_DOF * N_DOF * sizeof *l), y[N_DOF];
    CHECK(l != NULL);
    if (!l) return;
    for (int i = 0; i < N_DOF; i++) {
        const double *up = m->problem.prescribed;
        y[i] = is_fixed(m, i) ? (up ? up[i] : 0.0L) : m->f[i];
        for (int j = 0; j < N_DOF; j++) {
            const int apart = is_fixed(m, i) || is_fixed(m, j);
            l[i * N_DOF + j] = apart ? (i == j) : m->k[i * N_DOF + j];
            if (up && !is_fixed(m, i) && is_fixed(m, j))
                y[i] -= (long double)m->k[i * N_DOF + j] * up[j];
        }
    }
    for (int i = 0; i < N_DOF; i++)
        for (int j = 0; j <= i; j++) {
            long double sum = l[i * N_DOF + j];
            for (int k = 0; k < j; k++) sum -= l[i * N_DOF + k] * l[j * N_DOF + k];
            l[i * N_DOF + j] = i == j ? sqrtl(sum) : sum / l[j * N_DOF + j];
        }
    for (int i = 0; i < N_DOF; i++) {
        for (int k = 0; k < i; k++) y[i] -= l[i * N_DOF + k] * y[k];
        y[i] /= l[i * N_DOF + i];
    }
    for (int i = N_DOF - 1; i >= 0; i--) {
        for (int k = i + 1; k < N_DOF; k++) y[i] -= l[k * N_DOF + i] * y[k];
        y[i] /= l[i * N_DOF + i];
        m->exact[i] = (double)y[i];
    }
    free(l);
}

/* |f - K u| and r' D^-1 r of u on free degrees of freedom. */
static double residual_of(const model *m, double *rz)
{
    double rr = 0.0;
    *rz = 0.0;
    for (int i = 0; i < N_DOF; i++) {
        double r = m->f[i];
        if (is_fixed(m, i)) continue;
        for (int j = 0; j < N_DOF; j++) r -= m->k[i * N_DOF + j] * m->u[j];
        rr += r * r;
        *rz += r * r / m->k[i * N_DOF + i];
    }
    return sqrt(rr);
}

/* |f| on free degrees of freedom, that of prescribed displacements included. */
static double load_norm(model *m)
{
    double rz, norm, u[N_DOF];
    memcpy(u, m->u, sizeof u);
    for (int i = 0; i < N_DOF; i++)
        m->u[i] = m->problem.prescribed ? m->problem.prescribed[i] : 0.0;
    norm = residual_of(m, &rz);
    memcpy(m->u, u, sizeof u);
    return norm;
}

/* Largest difference from the dense solution, over the largest displacement. */
static double error_of(const model *m)
{
    double error = 0.0, largest = 0.0;
    for (int i = 0; i < N_DOF; i++) {
        const double off = fabs(m->u[i] - m->exact[i]);
        error = off <= error ? error : off;
        largest = fmax(largest, fabs(m->exact[i]));
    }
    return error / largest;
}

static void set_modulus(model *m, double contrast, uint64_t seed)
{
    for (int64_t e = 0; e < m->mesh.n_elem; e++)
        m->modulus[e] = pow(contrast, -fixture_uniform(&seed, 0.0, 1.0));
    if (contrast > 1.0) m->modulus[0] = 1.0, m->modulus[1] = 1.0 / contrast;
    assemble(m);
    solve_dense(m);
}

static int make_model(model *m, int prescribed)
{
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.0, 1.0}, 0.15, 1};
    const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"right-lower-edge", "test", HX_FIX_X | HX_FIX_Z, {0.1, 0.0, -0.2}}};
    const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.2, 0.1, -1.0}, 1},
                                  {"top", "test", HX_LOAD_PRESSURE, {0.5}, 1}};
    const size_t bytes = N_DOF * sizeof(double);
    hx_problem_params params = fixture_problem();
    memset(m, 0, sizeof *m);
    params.support = support;
    params.n_support = prescribed ? 2 : 1;
    params.load = load;
    params.n_load = 2;
    HX_TRY(fixture_box_create(&m->mesh, &box));
    HX_TRY(fixture_finish(&m->mesh, FIXTURE_SHUFFLED));
    HX_TRY(hx_problem_create(&m->problem, &m->mesh, &params));
    m->k = malloc((size_t)N_DOF * N_DOF * sizeof *m->k);
    m->modulus = malloc((size_t)m->mesh.n_elem * sizeof *m->modulus);
    if (!m->k || !m->modulus) return HX_RAISE(HX_ENOMEM, "dense K");
    memcpy(m->f, m->problem.force[0], bytes);
    HX_TRY(device.ops->alloc(&device, bytes, &m->d_f));
    HX_TRY(device.ops->alloc(&device, bytes, &m->d_u));
    HX_TRY(device.ops->upload(&device, m->d_f, m->f, bytes));
    set_modulus(m, 10.0, 3);
    return HX_OK;
}

static void free_model(model *m)
{
    device.ops->release(&device, m->d_f);
    device.ops->release(&device, m->d_u);
    free(m->k);
    free(m->modulus);
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

/* Solves from the u given (NULL: zero, or the prescribed displacements) into m->u. */
static hx_pcg_result solve(model *m, const fixture_settings *settings, const double *start)
{
    const size_t bytes = N_DOF * sizeof(double);
    const double zero[N_DOF] = {0.0};
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    fixture_solver s;
    if (!start) start = m->problem.prescribed ? m->problem.prescribed : zero;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    CHECK_OK(device.ops->upload(&device, m->d_u, start, bytes));
    CHECK_OK(hx_pcg_solve(&s.pcg, &s.op, &s.pc, m->d_f, m->d_u, &result));
    CHECK_OK(device.ops->download(&device, m->u, m->d_u, bytes));
    fixture_solver_free(&s);
    return result;
}

/* Both stopping rules hold for the true residual, and in double not one iteration earlier. */
static void check_criteria(model *m, const fixture_settings *base, const char *label)
{
    static const double tolerance[] = {1e-2, 1e-5, 1e-10};
    const double norm = load_norm(m);
    const int mixed = base->pcg.precision == HX_PRECISION_MIXED;
    const double rounding = mixed ? 1e-5 : 1e-4; /* mixed: of a true residual, in float */
    double rz;
    for (int criterion = HX_PCG_RELATIVE; criterion <= HX_PCG_ABSOLUTE; criterion++)
        for (int i = 0; i < 3; i++) {
            fixture_settings settings = *base;
            settings.pcg.criterion = (hx_pcg_criterion)criterion;
            settings.pcg.tolerance = tolerance[i];
            hx_pcg_result result = solve(m, &settings, NULL);
            double rr = residual_of(m, &rz);
            const double tested = criterion == HX_PCG_RELATIVE ? rr / norm : rz;
            CHECK(result.reason == HX_PCG_CONVERGED);
            CHECK(result.fell_back == 0 && (result.replacements > 0) == mixed);
            CHECK_MSG(tested <= tolerance[i] * (1.0 + rounding), "%s: criterion %d: %.6g over %g",
                      label, criterion, tested, tolerance[i]);
            CHECK_MSG(fabs(result.residual - rr / norm) <= rounding * result.residual + 1e-13,
                      "%s: %g, true %g", label, result.residual, rr / norm);
            settings.pcg.max_iterations = result.iterations - 1;
            result = solve(m, &settings, NULL);
            rr = residual_of(m, &rz);
            CHECK(result.reason == HX_PCG_MAX_ITER || mixed);
            CHECK(result.iterations <= settings.pcg.max_iterations);
            CHECK(result.iterations == settings.pcg.max_iterations ||
                  result.reason == HX_PCG_CONVERGED);
            CHECK_MSG(fabs(result.residual - rr / norm) <= rounding * result.residual + 1e-13,
                      "%s: %g, true %g", label, result.residual, rr / norm);
            CHECK((criterion == HX_PCG_RELATIVE ? rr / norm : rz) > tolerance[i] ||
                  result.reason == HX_PCG_CONVERGED);
        }
}

/* Every operator, layout and preconditioner gives the dense solution. */
static void check_same_answer(model *m, const char *label)
{
    static const char *const precond[] = {"jacobi", "none"};
    fixture_settings settings = fixture_defaults();
    size_t next = 0;
    int layout = 0, n_strategy = 0;
    double first = 0.0;
    while ((settings.strategy = fixture_next_strategy(&device, &next, &layout, &settings.layout)))
        for (int i = 0; i < 2; i++) {
            double compliance = 0.0;
            settings.precond = precond[i];
            const hx_pcg_result result = solve(m, &settings, NULL);
            for (int k = 0; k < N_DOF; k++) compliance += m->f[k] * m->u[k];
            if (n_strategy++ == 0) first = compliance;
            CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10,
                      "%s, %s %s, %s: %s, off by %.3g", label, settings.strategy->name,
                      hx_layout_name(settings.layout), precond[i],
                      hx_pcg_reason_name(result.reason), error_of(m));
            CHECK_REL(compliance, first, 1e-9);
            if (i == 0)
                printf("%s, %s: %d iterations", label, settings.strategy->name, result.iterations);
            if (i == 1) printf(", without a preconditioner %d\n", result.iterations);
            for (int k = 0; k < N_DOF; k++)
                if (is_fixed(m, k))
                    CHECK(m->u[k] == (m->problem.prescribed ? m->problem.prescribed[k] : 0.0));
        }
    CHECK(n_strategy > 0);
}

static void check_warm_start(model *m)
{
    fixture_settings settings = fixture_defaults();
    double before[N_DOF];
    settings.pcg.tolerance = 1e-9;
    set_modulus(m, 10.0, 3);
    const hx_pcg_result cold = solve(m, &settings, NULL);
    memcpy(before, m->u, sizeof before);
    const hx_pcg_result again = solve(m, &settings, before);
    CHECK(again.reason == HX_PCG_CONVERGED && again.iterations <= 1);
    for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] *= e % 2 ? 1.000001 : 0.999999;
    assemble(m);
    solve_dense(m);
    const hx_pcg_result fresh = solve(m, &settings, NULL);
    CHECK(error_of(m) <= 1e-8);
    const hx_pcg_result warm = solve(m, &settings, before);
    CHECK(error_of(m) <= 1e-8);
    CHECK_MSG(10 * warm.iterations < 9 * fresh.iterations, "%d against %d", warm.iterations,
              fresh.iterations);
    printf("warm start: %d iterations, %d from zero (first model: %d)\n", warm.iterations,
           fresh.iterations, cold.iterations);
    set_modulus(m, 10.0, 3);
}

/* Iterations queued past the end change nothing. */
static void check_queue(model *m)
{
    static const int every[] = {1, 7, 64};
    fixture_settings settings = fixture_defaults();
    double first[N_DOF] = {0.0};
    int n_first = 0;
    for (int limit = 0; limit < 2; limit++)
        for (int i = 0; i < 3; i++) {
            settings.pcg.tolerance = 1e-8;
            settings.pcg.max_iterations = limit ? 11 : 20000;
            settings.pcg.check_every = every[i];
            const hx_pcg_result result = solve(m, &settings, NULL);
            CHECK(result.reason == (limit ? HX_PCG_MAX_ITER : HX_PCG_CONVERGED));
            if (limit) CHECK(result.iterations == 11);
            if (i == 0) n_first = result.iterations;
            if (i == 0) memcpy(first, m->u, sizeof first);
            CHECK(result.iterations == n_first);
            for (int k = 0; k < N_DOF; k++) CHECK_ABS(m->u[k], first[k], 1e-9 * fabs(first[k]));
        }
}

static void check_reasons(model *m, const fixture_settings *base)
{
    fixture_settings settings = *base;
    const int mixed = base->pcg.precision == HX_PRECISION_MIXED;
    const double *up = m->problem.prescribed;
    const size_t bytes = N_DOF * sizeof(double);
    hx_pcg_result result;
    for (int absolute = 0; absolute < 2; absolute++)
        for (int none = 0; none < 2; none++) {
            settings.precond = none ? "none" : "jacobi";
            settings.pcg.criterion = absolute ? HX_PCG_ABSOLUTE : HX_PCG_RELATIVE;
            for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] = -1.0;
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_INDEFINITE, "%s", hx_pcg_reason_name(result.reason));
            for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));

            m->modulus[7] = NAN;
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
            for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));
            set_modulus(m, 10.0, 3);

            double f[N_DOF];
            memcpy(f, m->f, sizeof f);
            for (int k = 0; k < N_DOF; k++)
                if (!is_fixed(m, k)) f[k] = k % 2 ? NAN : INFINITY;
            CHECK_OK(device.ops->upload(&device, m->d_f, f, bytes));
            result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
            CHECK_OK(device.ops->upload(&device, m->d_f, m->f, bytes));
        }
    /* p'Kp overflows */
    double huge[N_DOF];
    for (int k = 0; k < N_DOF; k++) huge[k] = 1e9 * m->f[k];
    for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] = 1e303;
    CHECK_OK(device.ops->upload(&device, m->d_f, huge, bytes));
    settings.precond = "none";
    result = solve(m, &settings, NULL);
    CHECK_MSG(result.reason == HX_PCG_NAN, "%s", hx_pcg_reason_name(result.reason));
    for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == (up ? up[k] : 0.0));
    CHECK_OK(device.ops->upload(&device, m->d_f, m->f, bytes));
    set_modulus(m, 10.0, 3);

    settings = *base;
    settings.pcg.max_iterations = 0;
    result = solve(m, &settings, NULL);
    CHECK(result.reason == HX_PCG_MAX_ITER && result.iterations == 0);
    CHECK_REL(result.residual, 1.0, mixed ? 1e-6 : 1e-12);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_CONVERGED), "converged") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_MAX_ITER), "max_iterations") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_INDEFINITE), "indefinite") == 0);
    CHECK(strcmp(hx_pcg_reason_name(HX_PCG_NAN), "nan") == 0);
}

/* A device's operations leave every vector and the state as they are once there is a reason. */
static void check_frozen(model *m)
{
    enum { N_VECTOR = 6 }; /* r, z, p, q, u, m */
    const hx_device_ops *ops = device.ops;
    const size_t bytes = N_DOF * sizeof(double);
    const hx_pcg_state before = {.rz = 2.0,
                                 .rr = 3.0,
                                 .alpha = 0.5,
                                 .beta = 0.25,
                                 .iterations = 4,
                                 .max_iterations = 9,
                                 .reason = HX_PCG_CONVERGED};
    hx_pcg_state after;
    double *d[N_VECTOR], found[N_DOF];
    float *s[N_VECTOR]; /* the same memory as floats */
    void *d_state;
    for (int i = 0; i < N_VECTOR; i++) {
        CHECK_OK(ops->alloc(&device, bytes, &d[i]));
        CHECK_OK(ops->upload(&device, d[i], m->f, bytes));
        s[i] = (float *)d[i];
    }
    CHECK_OK(ops->alloc(&device, sizeof before, &d_state));
    CHECK_OK(ops->upload(&device, d_state, &before, sizeof before));
    for (int fused = 0; fused < 2; fused++) {
        const double *d_m = fused ? d[5] : NULL, *d_z = fused ? NULL : d[1];
        CHECK_OK(ops->pcg_alpha(&device, N_DOF, d[2], d[3], d_state));
        CHECK_OK(ops->pcg_update(&device, N_DOF, d_m, d[2], d[3], d[4], d[0], d_state));
        if (!fused) CHECK_OK(ops->pcg_beta(&device, N_DOF, d[0], d[1], d_state));
        CHECK_OK(ops->pcg_direction(&device, N_DOF, d_m, d_z, d[0], d[2], d_state));
    }
    CHECK_OK(ops->pcg_alpha_from(&device, d[3], d_state));
    CHECK_OK(ops->pcg_direction_single(&device, N_DOF, s[5], s[0], s[2], d_state));
    CHECK_OK(ops->pcg_alpha_single(&device, N_DOF, s[2], s[3], d_state));
    CHECK_OK(ops->pcg_update_single(&device, N_DOF, s[5], s[2], s[3], s[4], s[0], d_state));
    for (int i = 0; i < N_VECTOR; i++) {
        CHECK_OK(ops->download(&device, found, d[i], bytes));
        CHECK_MSG(memcmp(found, m->f, bytes) == 0, "vector %d changed", i);
        ops->release(&device, d[i]);
    }
    CHECK_OK(ops->download(&device, &after, d_state, sizeof after));
    CHECK(after.rz == 2.0 && after.rr == 3.0 && after.alpha == 0.5 && after.beta == 0.25);
    CHECK(after.iterations == 4 && after.reason == HX_PCG_CONVERGED);
    ops->release(&device, d_state);
}

/* No load: zero, at once, whatever u was. */
static void check_no_load(model *m)
{
    fixture_settings settings = fixture_defaults();
    double noise[N_DOF], f[N_DOF];
    uint64_t state = 4;
    for (int k = 0; k < N_DOF; k++) {
        noise[k] = is_fixed(m, k) ? 0.0 : fixture_uniform(&state, -1.0, 1.0);
        f[k] = is_fixed(m, k) ? 3.0 : 0.0; /* what acts on supports moves nothing */
    }
    CHECK_OK(device.ops->upload(&device, m->d_f, f, sizeof f));
    const hx_pcg_result result = solve(m, &settings, noise);
    CHECK(result.reason == HX_PCG_CONVERGED && result.iterations == 0 && result.residual == 0.0);
    for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == 0.0);
    CHECK_OK(device.ops->upload(&device, m->d_f, m->f, sizeof f));
}

/* Stiffness over nine decades: the stopping rule still holds for the true residual, and the
 * compliance is that of the dense solution. Returns the iterations. */
static int check_contrast(model *m, const fixture_settings *base)
{
    fixture_settings settings = *base;
    double compliance = 0.0, exact = 0.0, rz;
    set_modulus(m, 1e9, 8);
    settings.pcg.tolerance = 1e-9;
    const hx_pcg_result result = solve(m, &settings, NULL);
    const double residual = residual_of(m, &rz) / load_norm(m);
    for (int k = 0; k < N_DOF; k++) {
        compliance += m->f[k] * m->u[k];
        exact += m->f[k] * m->exact[k];
    }
    printf("contrast 1e9, %s: %d iterations, %d replacements, true residual %.2e, compliance off "
           "by %.1e\n",
           hx_precision_name(settings.pcg.precision), result.iterations, result.replacements,
           residual, fabs(compliance / exact - 1.0));
    CHECK(result.reason == HX_PCG_CONVERGED && result.fell_back == 0);
    CHECK_MSG(residual <= (base->pcg.precision == HX_PRECISION_MIXED ? 1.00001e-9 : 2e-9), "%g",
              residual);
    CHECK_REL(compliance, exact, 1e-6);
    set_modulus(m, 10.0, 3);
    return result.iterations;
}

static void compare_bits(model *m, const fixture_settings *settings)
{
    double first[N_DOF];
    const hx_pcg_result one = solve(m, settings, NULL);
    memcpy(first, m->u, sizeof first);
    fixture_set_threads(2);
    const hx_pcg_result two = solve(m, settings, NULL);
    fixture_set_threads(1);
    CHECK_MSG(memcmp(first, m->u, sizeof first) == 0 && one.iterations == two.iterations &&
                  one.residual == two.residual,
              "%s %s, %s: other bits with 2 threads", settings->strategy->name,
              hx_layout_name(settings->layout), hx_precision_name(settings->pcg.precision));
}

/* Operators that call themselves deterministic: the same bits on every run, for any number of
 * threads. */
static void check_same_bits(model *m)
{
    fixture_settings settings = fixture_defaults();
    size_t next = 0;
    int layout = 0;
    settings.pcg.tolerance = 1e-4;
    while ((settings.strategy = fixture_next_strategy(&device, &next, &layout, &settings.layout)))
        for (int i = 0; i < 4 && settings.strategy->deterministic; i++) {
            settings.precond = i % 2 == 0 ? "jacobi" : "none";
            settings.pcg.precision = i < 2 ? HX_PRECISION_DOUBLE : HX_PRECISION_MIXED;
            if (i >= 2 && !settings.strategy->apply_single) break;
            compare_bits(m, &settings);
        }
    if (!hx_strategy_find(device.ops->name, "ebe")->deterministic) return;
    settings = fixture_defaults();
    settings.strategy = &wrapper_single;
    settings.pcg.precision = HX_PRECISION_MIXED;
    compare_bits(m, &settings);
}

/* The next strategy of the device with a product in single precision, after the wrapper. */
static const hx_strategy *next_single(size_t *next, int *layout, hx_layout *found)
{
    const hx_strategy *strategy;
    *found = HX_LAYOUT_INTERLEAVED;
    if (*next == 0 && *layout == 0) {
        *layout = HX_N_LAYOUT + 1; /* seen; the device's come now */
        return &wrapper_single;
    }
    if (*next == 0 && *layout == HX_N_LAYOUT + 1) *layout = 0;
    while ((strategy = fixture_next_strategy(&device, next, layout, found)))
        if (strategy->apply_single) break;
    return strategy;
}

/* Mixed precision keeps what double promises, with more iterations, but not many. */
static void check_mixed(model *m, const char *label)
{
    static const char *const precond[] = {"jacobi", "none"};
    fixture_settings settings = fixture_defaults(), in_double = settings;
    size_t next = 0;
    int layout = 0;
    settings.pcg.precision = HX_PRECISION_MIXED;
    while ((settings.strategy = next_single(&next, &layout, &settings.layout))) {
        check_criteria(m, &settings, label);
        for (int i = 0; i < 2; i++) {
            settings.precond = in_double.precond = precond[i];
            const int n_double = solve(m, &in_double, NULL).iterations;
            const hx_pcg_result result = solve(m, &settings, NULL);
            CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10,
                      "%s, %s mixed, %s: %s, off by %.3g", label, settings.strategy->name,
                      precond[i], hx_pcg_reason_name(result.reason), error_of(m));
            CHECK_MSG(result.iterations <= 2 * n_double, "%s, %s mixed: %d, in double %d", label,
                      settings.strategy->name, result.iterations, n_double);
            printf("%s, %s, %s: mixed %d iterations, %d replacements%s; double %d\n", label,
                   settings.strategy->name, precond[i], result.iterations, result.replacements,
                   result.fell_back ? ", fell back" : "", n_double);
            for (int k = 0; k < N_DOF; k++)
                if (is_fixed(m, k))
                    CHECK(m->u[k] == (m->problem.prescribed ? m->problem.prescribed[k] : 0.0));
        }
        settings.precond = in_double.precond = "jacobi";
        const int n_double = check_contrast(m, &in_double);
        CHECK(check_contrast(m, &settings) <= 4 * n_double);
        check_reasons(m, &settings);
    }
}

/* A product in single precision that is wrong, and a tolerance that no true residual meets: the
 * solve is finished in double, as if it had been asked for. */
static void check_fall_back(model *m)
{
    fixture_settings settings = fixture_defaults();
    for (int i = 0; i < 2; i++) {
        settings.strategy = i == 0 ? &wrapper_wrong : &wrapper_single;
        settings.pcg.tolerance = i == 0 ? 1e-10 : 1e-18;
        settings.pcg.precision = HX_PRECISION_MIXED;
        const hx_pcg_result result = solve(m, &settings, NULL);
        CHECK_MSG(result.reason == HX_PCG_CONVERGED && result.fell_back == 1, "%s, fell back: %d",
                  hx_pcg_reason_name(result.reason), result.fell_back);
        CHECK_MSG(error_of(m) <= 1e-9, "off by %g", error_of(m));
        printf("fall-back %d: %d iterations, %d replacements\n", i, result.iterations,
               result.replacements);
        settings.pcg.max_iterations = result.iterations - 1;
        CHECK(solve(m, &settings, NULL).reason == HX_PCG_MAX_ITER);
        settings.pcg.max_iterations = fixture_defaults().pcg.max_iterations;
    }
}

/* Mixed precision is refused where it cannot be. */
static void check_refusal(model *m)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    settings.pcg.precision = HX_PRECISION_MIXED;
    settings.strategy = &wrapper_dot;
    CHECK(fixture_solver_create(&s, &device, &m->problem, &settings) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), "'dot'") != NULL, "%s", hx_error_message());
    const hx_precond_kind kind = {.name = "other", .apply = hx_precond_find("none")->apply};
    CHECK(hx_pcg_check_precision(HX_PRECISION_MIXED, &wrapper_single, &kind) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), "'other'") != NULL, "%s", hx_error_message());
    CHECK_OK(hx_pcg_check_precision(HX_PRECISION_DOUBLE, &wrapper_dot, &kind));
    CHECK_OK(hx_pcg_check_precision(HX_PRECISION_MIXED, &wrapper_single, hx_precond_find("none")));
    hx_error_clear();
}

/* One solver, two vectors in turn: what was recorded for one is not replayed on the other. */
static void check_two_vectors(model *m, hx_precision precision)
{
    const size_t bytes = N_DOF * sizeof(double);
    fixture_settings settings = fixture_defaults();
    double *d_other, u[N_DOF], zero[N_DOF] = {0.0};
    hx_pcg_result result;
    fixture_solver s;
    settings.strategy = precision == HX_PRECISION_MIXED ? &wrapper_single : NULL;
    settings.pcg.precision = precision;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(device.ops->alloc(&device, bytes, &d_other));
    for (int i = 0; i < 4; i++) {
        double *d_u = i % 2 ? d_other : m->d_u, *d_rest = i % 2 ? m->d_u : d_other;
        if (i == 2) set_modulus(m, 100.0, 5);
        CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
        CHECK_OK(hx_precond_setup(&s.pc));
        CHECK_OK(device.ops->upload(&device, d_u, zero, bytes));
        CHECK_OK(device.ops->upload(&device, d_rest, m->f, bytes));
        CHECK_OK(hx_pcg_solve(&s.pcg, &s.op, &s.pc, m->d_f, d_u, &result));
        CHECK_OK(device.ops->download(&device, m->u, d_u, bytes));
        CHECK_OK(device.ops->download(&device, u, d_rest, bytes));
        CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10);
        CHECK(memcmp(u, m->f, bytes) == 0);
    }
    device.ops->release(&device, d_other);
    fixture_solver_free(&s);
    set_modulus(m, 10.0, 3);
}

static int refuse(void)
{
    return HX_RAISE(HX_EDEVICE, "cannot record");
}

static int refuse_begin(hx_device *dev)
{
    (void)dev;
    return refuse();
}

static int accept_begin(hx_device *dev)
{
    (void)dev;
    return HX_OK;
}

static int refuse_end(hx_device *dev, void **recording)
{
    (void)dev;
    *recording = NULL;
    return refuse();
}

/* A device that fails to record, at once or at the end, runs what it is given as it is. */
static void check_no_recording(model *m)
{
    const hx_device_ops *ops = device.ops;
    hx_device_ops failing = *ops;
    fixture_settings settings = fixture_defaults();
    for (int i = 0; i < 2; i++) {
        failing.record_begin = i == 0 ? refuse_begin : accept_begin;
        failing.record_end = refuse_end;
        device.ops = &failing;
        hx_error_clear();
        const hx_pcg_result result = solve(m, &settings, NULL);
        device.ops = ops;
        CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10);
        CHECK_MSG(hx_error_message()[0] == '\0', "%s", hx_error_message());
    }
}

/* An operator that sums p'K p itself. */
static void check_dot(model *m)
{
    fixture_settings settings = fixture_defaults();
    const int n = solve(m, &settings, NULL).iterations;
    settings.strategy = &wrapper_dot;
    check_criteria(m, &settings, "p'K p by the operator");
    const hx_pcg_result result = solve(m, &settings, NULL);
    CHECK(abs(result.iterations - n) <= 2 && error_of(m) <= 1e-10);
}

int main(int argc, char **argv)
{
    static model m;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    const fixture_settings settings = fixture_defaults();
    CHECK_OK(make_model(&m, 0));
    check_criteria(&m, &settings, "loads");
    check_same_answer(&m, "loads");
    check_warm_start(&m);
    check_queue(&m);
    check_reasons(&m, &settings);
    check_no_load(&m);
    check_frozen(&m);
    check_contrast(&m, &settings);
    check_same_bits(&m);
    check_mixed(&m, "loads");
    check_fall_back(&m);
    check_refusal(&m);
    check_two_vectors(&m, HX_PRECISION_DOUBLE);
    check_two_vectors(&m, HX_PRECISION_MIXED);
    check_no_recording(&m);
    check_dot(&m);
    free_model(&m);
    CHECK_OK(make_model(&m, 1));
    check_criteria(&m, &settings, "prescribed displacements");
    check_same_answer(&m, "prescribed displacements");
    check_reasons(&m, &settings);
    check_mixed(&m, "prescribed displacements");
    check_dot(&m);
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
