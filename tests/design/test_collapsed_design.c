/* Collapsed cells in the design: filters against plain sums and a dense solution with an element's
 * mean over its points, quantities that they preserve, derivatives of the whole chain by each
 * density (also with self-weight) against differences, and mirrored meshes of every kind linked to
 * their images.
 *
 *     test_collapsed_design [cpu | cuda] [quick] */
#include "core/base/memory.h"
#include "tests/lib/helmholtz_check.h"
#include "tests/lib/mixed_model.h"

static hx_device device;

static mixed_box box_of(mixed_kind kind)
{
    const mixed_box box = {.kind = kind,
                           .n = {4, 2, kind == MIXED_LAYERS ? 5 : 2},
                           .length = {2.0, 1.1, 1.3},
                           .distort = 0.12,
                           .seed = 3 + (uint64_t)kind};
    return box;
}

static double *new_field(int64_t n, uint64_t seed, double low, double high)
{
    double *const a = calloc((size_t)n, sizeof *a);
    if (!a) abort();
    for (int64_t e = 0; e < n; e++) a[e] = fixture_uniform(&seed, low, high);
    return a;
}

static double dot(int64_t n, const double *a, const double *b)
{
    long double sum = 0.0L;
    for (int64_t e = 0; e < n; e++) sum += (long double)a[e] * b[e];
    return (double)sum;
}

/* Computes F a and F'b. */
static void run_filter(const mixed_model *m, const char *kind, const hx_filter_params *params,
                       const double *a, double *fa, double *b)
{
    const size_t n = (size_t)m->mesh.n_elem;
    double *const d_a = fixture_put(&device, n, a), *const d_fa = fixture_put(&device, n, a);
    double *const d_b = b ? fixture_put(&device, n, b) : NULL;
    double *const d_v = fixture_put(&device, n, m->problem.volume);
    hx_filter filter;
    CHECK_OK(hx_filter_create(&filter, hx_filter_find(kind), &device, &m->problem, params));
    CHECK_OK(hx_filter_forward(&filter, d_a, d_fa));
    fixture_get(&device, n, fa, d_fa);
    if (b) CHECK_OK(hx_filter_backward(&filter, d_a, d_b, d_v));
    if (b) fixture_get(&device, n, b, d_b);
    hx_filter_free(&filter);
    device.ops->release(&device, d_a);
    device.ops->release(&device, d_fa);
    device.ops->release(&device, d_b);
    device.ops->release(&device, d_v);
}

/* ---- filters ---- */

/* Mean of an element's distinct points. */
static void point_mean(const hx_mesh *mesh, int64_t e, double x[3])
{
    const int32_t *conn = mesh->conn + 8 * e;
    int corner[8];
    const int n = hx_cell_distinct(conn, corner);
    for (int i = 0; i < 3; i++) {
        x[i] = 0.0;
        for (int k = 0; k < n; k++) x[i] += mesh->xyz[3 * (int64_t)conn[corner[k]] + i] / n;
    }
}

static void check_density(const mixed_model *m, double radius)
{
    const hx_filter_params params = {.radius = radius, .volume_weighted = 1};
    const int64_t n = m->mesh.n_elem;
    double *const rho = new_field(n, 3, 0.1, 1.0), *const found = new_field(n, 4, 0.0, 1.0);
    double error = 0.0;
    run_filter(m, "density", &params, rho, found, NULL);
    for (int64_t e = 0; e < n; e++) {
        long double sum = 0.0L, sum_weight = 0.0L;
        double x[3], y[3];
        point_mean(&m->mesh, e, x);
        for (int64_t i = 0; i < n; i++) {
            point_mean(&m->mesh, i, y);
            const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
            const long double weight = radius - sqrt(dot(3, d, d));
            if (weight <= 0.0L) continue;
            sum += weight * m->problem.volume[i] * rho[i];
            sum_weight += weight * m->problem.volume[i];
        }
        test_worst(&error, fabs(found[e] - (double)(sum / sum_weight)));
    }
    CHECK_MSG(error <= 1e-13, "%s: density filter off by %.3g", m->mesh.name, error);
    free(rho);
    free(found);
}

static void check_helmholtz_dense(const mixed_model *m, double radius)
{
    const hx_filter_params params = {.radius = radius};
    const int64_t n = m->mesh.n_elem;
    double *const rho = new_field(n, 31, 0.2, 1.0), *const found = new_field(n, 1, 0.0, 1.0);
    double *const expected = new_field(n, 1, 0.0, 1.0), error = 0.0;
    helmholtz_filter_dense(&m->problem, radius, rho, expected);
    run_filter(m, "helmholtz", &params, rho, found, NULL);
    for (int64_t e = 0; e < n; e++) test_worst(&error, fabs(found[e] - expected[e]));
    /* the operator's metric is rounded to single precision */
    CHECK_MSG(error <= 3e-7, "%s: helmholtz off by %.3g", m->mesh.name, error);
    free(expected);
    free(rho);
    free(found);
}

/* Constants are preserved, and helmholtz also preserves the volume; both are the transpose of their
 * derivative. */
static void check_kept(const mixed_model *m, const char *kind, const hx_filter_params *params)
{
    const int64_t n = m->mesh.n_elem;
    double *const rho = new_field(n, 21, 0.37, 0.37), *const found = new_field(n, 1, 0.0, 1.0);
    double error = 0.0;
    run_filter(m, kind, params, rho, found, NULL);
    for (int64_t e = 0; e < n; e++) test_worst(&error, fabs(found[e] - 0.37));
    CHECK_MSG(error <= 1e-9, "%s, %s: a constant is off by %.3g", m->mesh.name, kind, error);
    double *const a = new_field(n, 22, 0.4, 0.6), *const b = new_field(n, 23, -1.0, 2.0);
    double *const before = new_field(n, 23, -1.0, 2.0);
    run_filter(m, kind, params, a, found, b);
    if (strcmp(kind, "helmholtz") == 0)
        CHECK_REL(dot(n, found, m->problem.volume), dot(n, a, m->problem.volume), 1e-9);
    CHECK_REL(dot(n, a, b), dot(n, found, before), 1e-9);
    free(rho);
    free(found);
    free(a);
    free(b);
    free(before);
}

static void check_filters(mixed_kind kind)
{
    const mixed_box box = box_of(kind);
    mixed_model m;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_SHUFFLED));
    for (int i = 0; i < 2; i++) {
        const hx_filter_params params = {.radius = i == 0 ? 0.5 : 1.7};
        check_density(&m, params.radius);
        check_helmholtz_dense(&m, params.radius);
        helmholtz_check_diagonal(&device, &m.problem, params.radius, 1);
        check_kept(&m, "density", &params);
        check_kept(&m, "helmholtz", &params);
    }
    mixed_model_free(&m);
}

/* In every second wedge another edge is the one with repeated nodes; filters must not depend on
 * it. */
static void check_wedges(void)
{
    const mixed_box box = box_of(MIXED_WEDGES);
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.1, 0.0, -1.0}, 1};
    const hx_filter_params filter = {.radius = 1.7};
    double *found[2], worst = 0.0;
    mixed_model m;
    for (int other = 0; other < 2; other++) {
        hx_problem_params params = fixture_problem();
        params.support = &support, params.n_support = 1;
        params.load = &load, params.n_load = 1;
        CHECK_OK(mixed_create(&m.mesh, &box));
        for (int64_t e = 0; other && e < m.mesh.n_elem; e += 2) { /* 0 1 2 2 4 5 6 6 */
            int32_t *const c = m.mesh.conn + 8 * e;
            const int32_t next[8] = {c[1], c[2], c[0], c[0], c[5], c[6], c[4], c[4]};
            memcpy(c, next, sizeof next);
        }
        CHECK_OK(mixed_name_ends(&m.mesh, &box));
        mixed_turn(&m.mesh, 11);
        CHECK_OK(fixture_finish(&m.mesh, FIXTURE_SHUFFLED));
        CHECK_OK(hx_problem_create(&m.problem, &m.mesh, &params));
        double *const rho = new_field(m.mesh.n_elem, 31, 0.2, 1.0);
        found[other] = new_field(m.mesh.n_elem, 1, 0.0, 1.0);
        run_filter(&m, "helmholtz", &filter, rho, found[other], NULL);
        for (int64_t e = 0; other && e < m.mesh.n_elem; e++)
            test_worst(&worst, fabs(found[0][e] - found[1][e]));
        free(rho);
        mixed_model_free(&m);
    }
    CHECK_MSG(worst <= 3e-7, "%.3g", worst); /* metrics in single precision */
    free(found[0]);
    free(found[1]);
}

/* ---- derivatives ---- */

static void make_weighted(mixed_model *m, mixed_kind kind)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load[2] = {
        {"right", "test", HX_LOAD_NODE_FORCE, {0.1, 0.05, -0.3}, 1},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.1, 0.2, -0.4}, .load_case = 1}};
    const mixed_box box = box_of(kind);
    hx_problem_params params = fixture_problem();
    params.young = 7.0;
    params.density = 1.5;
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    memset(m, 0, sizeof *m);
    CHECK_OK(mixed_create_part(&m->mesh, &box, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(&m->problem, &m->mesh, &params));
}

static double objective_at(fixture_solver *s, int64_t e, double rho, double step)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    return record.compliance;
}

static void check_derivatives(mixed_kind kind, const char *filter, int64_t n_sample)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    mixed_model m;
    double error = 0.0, largest = 0.0;
    settings.design.volume_fraction = 0.5;
    make_weighted(&m, kind);
    const int64_t n = m.mesh.n_elem;
    double *const density = new_field(n, 99, 0.15, 0.9), *const dc = new_field(n, 1, 0.0, 1.0);
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.filter = filter;
    settings.filter_params = (hx_filter_params){.radius = 0.6};
    settings.design.beta = fixture_constant(2.0);
    settings.design.eta = 0.4;
    settings.pcg.tolerance = 1e-13;
    settings.density = density;
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int64_t e = 0; e < n; e++) test_worst(&largest, fabs(dc[e]));
    for (int64_t e = 0; e < n; e += 1 + n / n_sample) {
        static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
        const double h = 2e-3;
        double c[4];
        for (int i = 0; i < 4; i++) c[i] = objective_at(&s, e, density[e], at[i] * h);
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        test_worst(&error, fabs(difference - dc[e]) / (fabs(dc[e]) + 1e-2 * largest));
    }
    CHECK_MSG(error <= 1e-6, "%s, %s: derivative off by %.3g", m.mesh.name, filter, error);
    printf("%-24s %-10s derivatives off by %.1e\n", m.mesh.name, filter, error);
    fixture_solver_free(&s);
    free(density);
    free(dc);
    mixed_model_free(&m);
}

/* ---- linked elements ---- */

/* 1 if the group of e has an element whose points' mean is the mirror image of e's. */
static int has_mirror(const hx_mesh *mesh, const hx_groups *groups, int64_t g, int32_t e, double at)
{
    double x[3], y[3];
    point_mean(mesh, e, x);
    x[0] = 2.0 * at - x[0];
    for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++) {
        point_mean(mesh, groups->member[m], y);
        if (fabs(x[0] - y[0]) + fabs(x[1] - y[1]) + fabs(x[2] - y[2]) < 1e-9) return 1;
    }
    return 0;
}

/* For kinds whose box is its own mirror image in x, groups are pairs of images without shift. */
static void check_mirrored(mixed_kind kind)
{
    static const hx_symmetry_plane plane = {"x", {2.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const hx_groups_params params = {.n_plane = 1, .plane = &plane};
    const mixed_box box = {.kind = kind, .n = {4, 3, 2}};
    mixed_model m;
    hx_groups groups;
    int64_t wrong = 0;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_SHUFFLED));
    CHECK_OK(hx_groups_create(&groups, &m.problem, &params));
    for (int64_t g = 0; g < groups.n_group; g++) {
        wrong += groups.start[g + 1] - groups.start[g] != 2;
        for (int64_t k = groups.start[g]; k < groups.start[g + 1]; k++)
            wrong += !has_mirror(&m.mesh, &groups, g, groups.member[k], 2.0);
    }
    CHECK_MSG(wrong == 0 && groups.n_member == m.mesh.n_elem && groups.n_alone == 0 &&
                  groups.n_shifted == 0,
              "%s: %d of %d groups wrong, %d elements free, %d shifted", m.mesh.name, (int)wrong,
              (int)groups.n_group, (int)groups.n_alone, (int)groups.n_shifted);
    hx_groups_free(&groups);
    mixed_model_free(&m);
}

/* Other kinds are linked to the elements that cover their images and counted as shifted, with any
 * numbering of the corners. */
static void check_shifted(mixed_kind kind)
{
    static const hx_symmetry_plane plane = {"x", {2.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const hx_groups_params params = {.n_plane = 1, .plane = &plane};
    const mixed_box box = {.kind = kind, .n = {4, 3, 5}, .distort = 0.1, .seed = 4};
    int64_t n_group[2], n_alone[2];
    double shift[2];
    for (int turned = 0; turned < 2; turned++) {
        mixed_model m;
        hx_groups groups;
        CHECK_OK(mixed_create_cantilever(&m, &box, turned ? FIXTURE_SHUFFLED : FIXTURE_REORDERED));
        CHECK_OK(hx_groups_create(&groups, &m.problem, &params));
        n_group[turned] = groups.n_group;
        n_alone[turned] = groups.n_alone;
        shift[turned] = groups.shift;
        CHECK_MSG(groups.n_member > 0.8 * (double)m.mesh.n_elem, "%s: %d of %d tied", m.mesh.name,
                  (int)groups.n_member, (int)m.mesh.n_elem);
        printf("%-24s %d groups of %d elements, %d free, shifted by %.2f\n", m.mesh.name,
               (int)groups.n_group, (int)m.mesh.n_elem, (int)groups.n_alone, groups.shift);
        hx_groups_free(&groups);
        mixed_model_free(&m);
    }
    CHECK(n_group[0] == n_group[1] && n_alone[0] == n_alone[1]);
    CHECK_ABS(shift[0], shift[1], 1e-9);
}

/* For every kind of cell a run keeps the volume and reduces the compliance. */
static void check_design(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {6, 3, 5}, .distort = 0.1, .seed = 4};
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    mixed_model m;
    double first = 0.0;
    settings.design.volume_fraction = 0.5;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_REORDERED));
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.precond = "multigrid";
    settings.filter = "density";
    settings.filter_params.radius = 1.5 * m.mesh.elem_size;
    settings.pcg.tolerance = 1e-8;
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    for (int step = 0; step < 6; step++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        CHECK(record.reason == HX_PCG_CONVERGED);
        if (step == 0) first = record.compliance;
        CHECK_ABS(record.volume, 0.5, 1e-6);
        hx_optimizer_advance(&s.opt);
    }
    CHECK_MSG(record.compliance < 0.7 * first, "%s: compliance from %g to %g", m.mesh.name, first,
              record.compliance);
    printf("%-24s compliance %.4g to %.4g, PCG %d\n", m.mesh.name, first, record.compliance,
           record.pcg_iterations);
    fixture_solver_free(&s);
    mixed_model_free(&m);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_filters((mixed_kind)kind);
    check_wedges();
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        check_derivatives((mixed_kind)kind, "density", quick ? 5 : 25);
        check_derivatives((mixed_kind)kind, "helmholtz", quick ? 5 : 25);
    }
    check_mirrored(MIXED_HEXAHEDRA);
    check_mirrored(MIXED_PYRAMIDS);
    check_mirrored(MIXED_TETRAHEDRA_5);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_shifted((mixed_kind)kind);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_design((mixed_kind)kind);
    hx_device_close(&device);
    TEST_END();
}
