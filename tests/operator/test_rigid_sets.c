/* Sets that move as rigid bodies: bending in closed form, a dense model with the constraint
 * condensed, derivatives against differences, the projector, and what is refused.
 *
 *     test_rigid_sets [cpu | cuda] [quick] */
#include "core/problem/rigid_set.h"
#include "tests/lib/dense_model.h"

/* Deviation of u on a set from a rigid motion about its centre, relative to its largest entry. */
static double not_rigid(const hx_problem *problem, int i, const double *u)
{
    const hx_rigid_set *set = &problem->rigid.set[i];
    double sum[6] = {0.0}, motion[6], off = 0.0, largest = 0.0;
    for (int64_t k = 0; k < set->n; k++) {
        const int64_t a = problem->rigid.node[set->first + k];
        hx_rigid_add(set, problem->mesh->xyz + 3 * a, u + 3 * a, sum);
    }
    hx_rigid_motion(set, sum, motion);
    for (int64_t k = 0; k < set->n; k++) {
        const int64_t a = problem->rigid.node[set->first + k];
        double want[3];
        hx_rigid_apply(set, problem->mesh->xyz + 3 * a, motion, want);
        for (int c = 0; c < 3; c++) {
            test_worst(&off, fabs(u[3 * a + c] - want[c]));
            test_worst(&largest, fabs(u[3 * a + c]));
        }
    }
    return off / largest;
}

/* Pure bending of n elements of length l and height h in a row, with Poisson's ratio 0: the
 * bilinear element is too stiff by a factor of 1 + (l / h)^2 / 2 (from its strain energy in pure
 * bending), so the rigid end rotates by M L / (E I) divided by that, and its centre moves down by
 * half of that rotation times L. */
static void check_bending(const char *precond)
{
    const fixture_box box = {{6, 1, 1}, {9.0, 2.0, 1.2}, 0.0, 0};
    const double young = 50.0, moment = 0.3, length = 9.0, inertia = 2.0 * 1.2 * 1.2 * 1.2 / 12.0;
    const double angle = moment * length / (young * inertia) / (1.0 + 0.5 * 1.5 * 1.5 / 1.44);
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = "right",
                               .origin = "test",
                               .kind = HX_LOAD_REMOTE_RIGID,
                               .moment = {0.0, moment, 0.0},
                               .load_case = 1};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    settings.precond = precond;
    settings.pcg.tolerance = 1e-11;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    params.young = young;
    params.poisson = 0.0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(problem.rigid.n == 1 && problem.rigid.n_node == 4);
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.reason == HX_PCG_CONVERGED);
    double *u = malloc(3 * (size_t)mesh.n_node * sizeof *u), reaction[3];
    CHECK_OK(hx_analysis_displacement(&s.analysis, 0, u));
    for (int64_t k = 0; k < 4; k++) {
        const int64_t a = problem.rigid.node[k];
        CHECK_REL(u[3 * a + 2], -0.5 * angle * length, 1e-8);
        CHECK_REL(u[3 * a], angle * (mesh.xyz[3 * a + 2] - 0.6), 1e-8);
    }
    CHECK(not_rigid(&problem, 0, u) <= 1e-12);
    CHECK_REL(record.compliance, moment * angle, 1e-9);
    CHECK_OK(hx_analysis_reaction(&s.analysis, 0, reaction));
    for (int i = 0; i < 3; i++) CHECK_ABS(reaction[i], 0.0, 1e-9);
    free(u);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* ---- against a dense model ---- */

static const double remote_point[3] = {3.0, 0.4, -0.7}, remote_force[3] = {0.4, -0.2, 1.0},
                    remote_moment[3] = {0.1, 0.3, -0.2};

/* The model of dense_model.h with two rigid sets: the right end, with a force at a point, and one
 * inside; a traction on top, partly on the set inside. */
static int make_rigid_model(model *m, int prescribed)
{
    const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"pulled", "test", HX_FIX_X | HX_FIX_Z, {0.1, 0.0, -0.2}}};
    hx_load_spec load[3] = {
        {.set = "right", .origin = "test", .kind = HX_LOAD_REMOTE_RIGID, .load_case = 1},
        {.set = "inside",
         .origin = "test",
         .kind = HX_LOAD_REMOTE_RIGID,
         .value = {0.0, 0.0, 0.1},
         .load_case = 1},
        {"top", "test", HX_LOAD_TRACTION, {0.2, 0.1, -0.4}, 1}};
    hx_problem_params params = fixture_problem();
    int32_t inside[5], pulled[2], n = 0;
    HX_TRY(make_model(m, 0));
    hx_problem_free(&m->problem);
    /* sets must be added before a mesh is finished, so the mesh is made a second time */
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.0, 1.0}, 0.15, 1};
    hx_mesh_free(&m->mesh);
    HX_TRY(fixture_box_create(&m->mesh, &box));
    for (int i = 0; i < 5; i++) inside[n++] = fixture_node(&box, 2 + i % 2, 1, i / 2 + 1);
    for (int i = 0; i < 2; i++) pulled[i] = fixture_node(&box, 4, i, 0);
    HX_TRY(hx_mesh_add_node_set(&m->mesh, "inside", 5, inside));
    HX_TRY(hx_mesh_add_node_set(&m->mesh, "pulled", 2, pulled));
    HX_TRY(fixture_finish(&m->mesh, FIXTURE_SHUFFLED));
    memcpy(load[0].value, remote_force, sizeof remote_force);
    memcpy(load[0].moment, remote_moment, sizeof remote_moment);
    memcpy(load[0].point, remote_point, sizeof remote_point);
    params.support = support;
    params.n_support = prescribed ? 2 : 1;
    params.load = load;
    params.n_load = 3;
    HX_TRY(hx_problem_create(&m->problem, &m->mesh, &params));
    memcpy(m->f, m->problem.cases.force[0], sizeof m->f);
    HX_TRY(device.ops->upload(&device, m->d_f, m->f, sizeof m->f));
    set_modulus(m, 10.0, 3);
    return HX_OK;
}

/* exact = T v with T'K T v = T'(f - K u_p): the columns of T are the free degrees of freedom
 * outside of the sets, and six motions of each set about the origin. */
static void solve_condensed(model *m)
{
    double *t = calloc((size_t)N_DOF * N_DOF, sizeof *t), *kt = calloc((size_t)N_DOF * N_DOF, 8);
    long double *l = calloc((size_t)N_DOF * N_DOF, sizeof *l), y[N_DOF] = {0.0L};
    uint8_t in_set[N_NODE] = {0};
    int n = 0;
    double g[N_DOF];
    CHECK(t && kt && l);
    if (!t || !kt || !l) return;
    for (int i = 0; i < m->problem.rigid.n; i++) {
        const hx_rigid_set *set = &m->problem.rigid.set[i];
        for (int64_t k = 0; k < set->n; k++) {
            const int a = m->problem.rigid.node[set->first + k];
            const double *x = m->mesh.xyz + 3 * a;
            in_set[a] = 1;
            for (int c = 0; c < 3; c++) {
                const int p = (c + 1) % 3, q = (c + 2) % 3;
                t[(3 * a + c) * N_DOF + n + c] = 1.0;
                t[(3 * a + p) * N_DOF + n + 3 + c] = -x[q];
                t[(3 * a + q) * N_DOF + n + 3 + c] = x[p];
            }
        }
        n += 6;
    }
    for (int k = 0; k < N_DOF; k++)
        if (!in_set[k / 3] && !is_fixed(m, k)) t[k * N_DOF + n++] = 1.0;
    for (int r = 0; r < N_DOF; r++) {
        g[r] = m->f[r];
        for (int k = 0; k < N_DOF; k++) {
            const double entry = m->k[r * N_DOF + k];
            if (m->problem.supports.prescribed) g[r] -= entry * m->problem.supports.prescribed[k];
            for (int c = 0; c < n; c++) kt[r * N_DOF + c] += entry * t[k * N_DOF + c];
        }
    }
    /* only the resultant and moment of the forces on the right end matter, so these are replaced by
     * others with equal resultant and moment */
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < N_DOF; k++) y[r] += (long double)t[k * N_DOF + r] * g[k];
        for (int c = 0; c <= r; c++)
            for (int k = 0; k < N_DOF; k++)
                l[r * N_DOF + c] += (long double)t[k * N_DOF + r] * kt[k * N_DOF + c];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) l[i * N_DOF + j] -= l[i * N_DOF + k] * l[j * N_DOF + k];
            l[i * N_DOF + j] =
                i == j ? sqrtl(l[i * N_DOF + i]) : l[i * N_DOF + j] / l[j * N_DOF + j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) y[i] -= l[i * N_DOF + k] * y[k];
        y[i] /= l[i * N_DOF + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) y[i] -= l[k * N_DOF + i] * y[k];
        y[i] /= l[i * N_DOF + i];
    }
    for (int k = 0; k < N_DOF; k++) {
        m->exact[k] = m->problem.supports.prescribed ? m->problem.supports.prescribed[k] : 0.0;
        for (int c = 0; c < n; c++) m->exact[k] += t[k * N_DOF + c] * (double)y[c];
    }
    free(t);
    free(kt);
    free(l);
}

/* Resultant and moment about the point of the nodal forces on the right end. */
static void check_resultant(const model *m)
{
    const hx_set *right = hx_mesh_find_set(&m->mesh, "right");
    hx_problem_params params = fixture_problem();
    hx_problem alone;
    const hx_load_spec load = {.set = "right",
                               .origin = "test",
                               .kind = HX_LOAD_REMOTE_RIGID,
                               .value = {0.4, -0.2, 1.0},
                               .moment = {0.1, 0.3, -0.2},
                               .point = {3.0, 0.4, -0.7},
                               .load_case = 1};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    double sum[6] = {0.0};
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&alone, &m->mesh, &params));
    hx_rigid_set about = {.n = 1};
    memcpy(about.centre, remote_point, sizeof remote_point);
    for (int64_t k = 0; k < right->n_node; k++)
        hx_rigid_add(&about, m->mesh.xyz + 3 * (int64_t)right->node[k],
                     alone.cases.force[0] + 3 * (int64_t)right->node[k], sum);
    for (int i = 0; i < 3; i++) {
        CHECK_REL(sum[i], remote_force[i], 1e-12);
        CHECK_REL(sum[3 + i], remote_moment[i], 1e-11);
    }
    hx_problem_free(&alone);
}

static void check_dense_solution(model *m, const char *op_kind, const hx_precond_kind *precond)
{
    fixture_settings settings = fixture_defaults();
    settings.op_kind = hx_operator_kind_find(device.ops->name, op_kind);
    settings.precond = precond->name;
    settings.pcg.tolerance = 1e-11;
    const hx_pcg_result result = solve(m, &settings, NULL);
    CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-8, "%s: %s, off by %g",
              settings.precond, hx_pcg_reason_name(result.reason), error_of(m));
    for (int k = 0; k < 2; k++) CHECK(not_rigid(&m->problem, k, m->u) <= 1e-11);
    printf("%s, %s: %d iterations, off by %.1e\n", settings.op_kind->name, settings.precond,
           result.iterations, error_of(m));
}

static void check_dense(int prescribed)
{
    model m;
    CHECK_OK(make_rigid_model(&m, prescribed));
    CHECK(m.problem.rigid.n == 2);
    check_resultant(&m);
    solve_condensed(&m);
    for (size_t i = 0; hx_preconds[i]; i++) {
        if (hx_preconds[i]->runs_on && !hx_preconds[i]->runs_on(device.ops)) continue;
        check_dense_solution(&m, "otf", hx_preconds[i]);
        check_dense_solution(&m, "ebe", hx_preconds[i]);
    }
    fixture_settings mixed = fixture_defaults();
    fixture_solver s;
    mixed.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    mixed.pcg.precision = HX_PRECISION_MIXED;
    CHECK_FAILS(fixture_solver_create(&s, &device, &m.problem, &mixed), HX_EINPUT,
                "\"mixed\" does not support rigid couplings");
    free_model(&m);
}

/* ---- the projector ---- */

/* The projector on random vectors, for sets in space, in a plane, on a line and with one node, and
 * for a large set: bitwise equal on the CPU with one thread and with two; symmetric; other nodes
 * are unchanged. */
static void check_projector(void)
{
    const fixture_box box = {{40, 40, 3}, {4.0, 4.0, 0.3}, 0.1, 1};
    static const char *const name[] = {"cube", "face", "line", "point"};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    hx_load_spec load[4];
    int32_t cube[8], line[4], point = fixture_node(&box, 30, 2, 2), *face = malloc(6000 * 4);
    int n_face = 0;
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    hx_device cpu;
    uint64_t seed = 6;
    CHECK(face != NULL);
    if (!face) return;
    CHECK_OK(hx_device_open(&cpu, hx_device_find("cpu")));
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int i = 0; i < 8; i++) cube[i] = fixture_node(&box, 5 + (i & 1), 5 + (i >> 1 & 1), i >> 2);
    for (int i = 0; i < 4; i++) {
        line[i] = fixture_node(&box, 20, 3 + i, 0); /* made collinear below */
        memcpy(mesh.xyz + 3 * line[i], (double[3]){2.0, 0.3 + 0.1 * i, 0.0}, 3 * sizeof(double));
    }
    for (int k = 0; k < 3; k++)
        for (int j = 8; j <= 40; j++)
            for (int i = 8; i <= 40; i++) face[n_face++] = fixture_node(&box, i, j, k);
    CHECK_OK(hx_mesh_add_node_set(&mesh, "cube", 8, cube));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "face", n_face, face));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "line", 4, line));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "point", 1, &point));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    for (int i = 0; i < 4; i++)
        load[i] = (hx_load_spec){.set = name[i],
                                 .origin = "test",
                                 .kind = HX_LOAD_REMOTE_RIGID,
                                 .value = {1.0, 0.0, 0.0},
                                 .load_case = 1};
    for (int i = 0; i < 4; i++) {
        const hx_set *set = hx_mesh_find_set(&mesh, name[i]); /* no moment about the line */
        for (int64_t k = 0; k < set->n_node; k++)
            for (int c = 0; c < 3; c++)
                load[i].point[c] += mesh.xyz[3 * (int64_t)set->node[k] + c] / (double)set->n_node;
    }
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 4;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(problem.rigid.n == 4);
    const size_t n = 3 * (size_t)mesh.n_node;
    double *x = malloc(n * sizeof *x), *y[3], *z = malloc(n * sizeof *z);
    uint8_t *in_set = calloc((size_t)mesh.n_node, 1);
    for (int64_t k = 0; k < problem.rigid.n_node; k++) in_set[problem.rigid.node[k]] = 1;
    for (size_t k = 0; k < n; k++) x[k] = fixture_uniform(&seed, -1.0, 1.0);
    for (size_t k = 0; k < n; k++) z[k] = fixture_uniform(&seed, -1.0, 1.0);
    for (int i = 0; i < 3; i++) { /* CPU with one thread; the device, twice */
        hx_device *dev = i == 0 ? &cpu : &device;
        hx_operator op;
        fixture_set_threads(i == 0 ? 1 : 2);
        y[i] = malloc(n * sizeof *y[i]);
        CHECK_OK(hx_operator_create(&op, dev, hx_operator_kind_find(dev->ops->name, "otf"),
                                    HX_LAYOUT_INTERLEAVED, &problem, 0));
        double *d_y = fixture_put(dev, n, x), *d_z = fixture_put(dev, n, z), left, right;
        CHECK_OK(hx_operator_project(&op, d_y));
        if (i == 1) {
            double *d_x = fixture_put(dev, n, x);
            CHECK_OK(hx_operator_project(&op, d_z));
            CHECK_OK(dev->ops->vector->dot(dev, (int64_t)n, d_x, d_z, &left));  /* x'P z */
            CHECK_OK(dev->ops->vector->dot(dev, (int64_t)n, d_y, d_z, &right)); /* x'P P z */
            CHECK_ABS(left, right, 1e-11 * (double)n);
            dev->ops->release(dev, d_x);
        }
        if (i == 2) CHECK_OK(hx_operator_project(&op, d_y));
        fixture_get(dev, n, y[i], d_y);
        dev->ops->release(dev, d_y);
        dev->ops->release(dev, d_z);
        hx_operator_free(&op);
    }
    fixture_set_threads(1);
    double off = 0.0, again = 0.0, outside = 0.0;
    for (size_t k = 0; k < n; k++) {
        test_worst(&off, fabs(y[0][k] - y[1][k]));
        test_worst(&again, fabs(y[1][k] - y[2][k]));
        if (!in_set[k / 3]) test_worst(&outside, fabs(y[1][k] - x[k]));
    }
    CHECK_MSG(off <= (device.ops == cpu.ops ? 0.0 : 1e-13), "off by %g", off);
    CHECK_MSG(again <= 1e-13, "projected twice: other by %g", again);
    CHECK(outside == 0.0);
    for (int i = 0; i < 4; i++) CHECK(not_rigid(&problem, i, y[1]) <= 1e-12);
    for (int c = 0; c < 3; c++) { /* a single node moves freely */
        const int64_t a = problem.rigid.node[problem.rigid.set[3].first];
        CHECK_ABS(y[1][3 * a + c], x[3 * a + c], 1e-15);
    }
    for (int i = 0; i < 3; i++) free(y[i]);
    free(x);
    free(z);
    free(in_set);
    free(face);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&cpu);
}

/* ---- derivatives, iterations, refusals ---- */

/* Two load cases, one of them the part's own weight, and springs on the rigid set. */
static void check_derivatives(void)
{
    enum { N = 24 };
    const fixture_box box = {{4, 3, 2}, {2.0, 1.5, 1.0}, 0.15, 1};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load[] = {
        {.set = "right",
         .origin = "test",
         .kind = HX_LOAD_REMOTE_RIGID,
         .value = {0.1, 0.0, -0.2},
         .moment = {0.3, -0.1, 0.2},
         .point = {2.5, 0.0, 0.4},
         .load_case = 1},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.3, -0.1}, .load_case = 2}};
    const hx_spring_spec spring = {"right", "test", {0.03, 0.02, 0.01}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    double density[N], dc[N];
    uint64_t state = 3;
    settings.design.volume_fraction = 0.5;
    for (int e = 0; e < N; e++) density[e] = fixture_uniform(&state, 0.2, 0.9);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    params.density = 1.0;
    params.support = &support;
    params.n_support = 1;
    params.spring = &spring;
    params.n_spring = 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int e = 0; e < N; e += 3) {
        double c[2];
        for (int i = 0; i < 2; i++) {
            const double moved = density[e] + (i ? 1e-4 : -1e-4);
            CHECK_OK(device.ops->upload(&device, s.opt.d_design + e, &moved, sizeof moved));
            CHECK_OK(hx_optimizer_step(&s.opt, &record));
            c[i] = record.compliance;
        }
        CHECK_OK(device.ops->upload(&device, s.opt.d_design + e, &density[e], sizeof(double)));
        CHECK_MSG(fabs((c[1] - c[0]) / 2e-4 - dc[e]) <= 1e-5 * fabs(dc[e]) + 1e-8,
                  "element %d: %g, %g", e, (c[1] - c[0]) / 2e-4, dc[e]);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* PCG iterations of a cantilever whose end is rigid, or takes the same force flexibly. */
static int iterations(int n, hx_load_kind kind, const char *precond)
{
    const fixture_box box = {{3 * n, n, n}, {3.0, 1.0, 1.0}, 0.1, 0};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = "right",
                               .origin = "test",
                               .kind = kind,
                               .value = {0.1, 0.0, -1.0},
                               .moment = {0.2, 0.3, 0.0},
                               .point = {4.0, 0.5, 0.5},
                               .load_case = 1};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    hx_mesh mesh;
    hx_problem problem;
    settings.precond = precond;
    settings.pcg.tolerance = 1e-8;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    return record.pcg_iterations;
}

static void check_iterations(int quick)
{
    const hx_operator_kind *const otf = hx_operator_kind_find(device.ops->name, "otf");
    const hx_precond_kind *kind;
    for (int n = 4; n <= (quick ? 8 : 16); n *= 2)
        for (size_t i = 0; (kind = fixture_next_precond(&device, otf, HX_PRECISION_DOUBLE, &i));) {
            const int rigid = iterations(n, HX_LOAD_REMOTE_RIGID, kind->name),
                      flexible = iterations(n, HX_LOAD_REMOTE, kind->name);
            printf("%d elements, %s: %d iterations with a rigid end, %d without\n", 3 * n * n * n,
                   kind->name, rigid, flexible);
            CHECK_MSG(rigid <= flexible + (kind->iterations > 0 ? 8 : flexible / 2),
                      "%s: %d iterations, %d without a rigid set", kind->name, rigid, flexible);
        }
}

static void check_refusals(void)
{
    const fixture_box box = {{2, 2, 2}, {1.0, 1.0, 1.0}, 0.0, 0};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    hx_load_spec load[2] = {{.set = "top",
                             .origin = "test",
                             .kind = HX_LOAD_REMOTE_RIGID,
                             .value = {0.0, 0.0, 1.0},
                             .load_case = 1}};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 1;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, "is fixed by a support");
    load[0].set = "right";
    load[1] = load[0];
    load[1].load_case = 2;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params)); /* the same set in two load cases */
    CHECK(problem.rigid.n == 1 && problem.rigid.n_node == 9);
    hx_problem_free(&problem);
    load[1].set = "right-lower-edge";
    load[1].point[0] = 1.0;
    load[1].point[1] = 0.5;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT,
                "also belongs to another rigid set");
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    check_bending("jacobi");
    check_bending("multigrid");
    check_dense(0);
    check_dense(1);
    check_projector();
    check_derivatives();
    check_refusals();
    check_iterations(quick);
    hx_device_close(&device);
    TEST_END();
}
