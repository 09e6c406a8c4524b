/* All filters of the registry that map the design, in isolation: exact transposes, preserved
 * quantities, the least volume, repeated calls, and the projection. The results of `density` and
 * `helmholtz` are compared with plain sums and a dense solution.
 *
 *     test_filter_maps [cpu | cuda] */
#include "core/base/memory.h"
#include "core/design/root.h"
#include "core/design/schedule.h"
#include "tests/lib/helmholtz_check.h"

static hx_device device;

typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
    hx_design_params design;
    size_t n;
} model;

/* A distorted box whose elements grow along x by `graded`, some of them passive. */
static void make_model(model *m, const fixture_box *box, double graded, int with_passive)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    static const hx_passive_spec passive[2] = {{"core", "test", 1.0}, {"hole", "test", 0.01}};
    static const int32_t core[3] = {5, 6, 17}, hole[2] = {20, 35};
    hx_problem_params params = fixture_problem();
    CHECK_OK(fixture_box_create(&m->mesh, box));
    for (int64_t i = 0; i < m->mesh.n_node; i++) {
        double *const x = m->mesh.xyz + 3 * i;
        x[0] *= 1.0 + graded * x[0] / box->length[0];
    }
    CHECK_OK(hx_mesh_add_elem_set(&m->mesh, "core", 3, core));
    CHECK_OK(hx_mesh_add_elem_set(&m->mesh, "hole", 2, hole));
    CHECK_OK(fixture_finish(&m->mesh, FIXTURE_SHUFFLED));
    params.rho_min = 0.01;
    m->design = hx_design_defaults;
    m->design.rho_min = 0.01;
    m->design.volume_fraction = 0.5;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.passive = passive;
    params.n_passive = with_passive ? 2 : 0;
    CHECK_OK(hx_problem_create(&m->problem, &m->mesh, &params));
    m->n = (size_t)m->mesh.n_elem;
}

/* The model's design with a projection. */
static hx_design_params projected(const model *m, double beta, double eta)
{
    hx_design_params design = m->design;
    design.beta = fixture_constant(beta);
    design.eta = eta;
    return design;
}

static void free_model(model *m)
{
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

static double *new_field(size_t n, uint64_t seed, double low, double high)
{
    double *const a = malloc(n * sizeof *a);
    CHECK(a != NULL);
    for (size_t e = 0; e < n; e++) a[e] = fixture_uniform(&seed, low, high);
    return a;
}

static void forward(hx_filter *filter, size_t n, const double *rho, double *physical)
{
    double *const d_rho = fixture_put(&device, n, rho), *const d_physical =
                                                            fixture_put(&device, n, rho);
    CHECK_OK(hx_filter_forward(filter, d_rho, d_physical));
    fixture_get(&device, n, physical, d_physical);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_physical);
}

/* Call it after a forward of the same design. */
static void backward(hx_filter *filter, size_t n, const double *rho, double *dc, double *dv)
{
    double *const d_rho = fixture_put(&device, n, rho), *const d_dc = fixture_put(&device, n, dc);
    double *const d_dv = fixture_put(&device, n, dv);
    CHECK_OK(hx_filter_backward(filter, d_rho, d_dc, d_dv));
    fixture_get(&device, n, dc, d_dc);
    fixture_get(&device, n, dv, d_dv);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_dc);
    device.ops->release(&device, d_dv);
}

static void create(hx_filter *filter, const char *kind, const model *m,
                   const hx_filter_params *params)
{
    hx_filter_params with = *params;
    if (!with.design) with.design = &m->design;
    CHECK_OK(hx_filter_create(filter, hx_filter_find(kind), &device, &m->problem, &with));
    CHECK(hx_filter_maps_design(filter));
}

static double dot(size_t n, const double *a, const double *b)
{
    long double sum = 0.0L;
    for (size_t e = 0; e < n; e++) sum += (long double)a[e] * b[e];
    return (double)sum;
}

static double distance_of(const hx_mesh *mesh, size_t e, size_t i)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
        double difference = 0.0;
        for (int a = 0; a < 8; a++)
            difference += mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d] -
                          mesh->xyz[3 * (int64_t)mesh->conn[8 * i + a] + d];
        square += difference * difference / 64.0;
    }
    return sqrt(square);
}

/* sum H v rho / sum H v over all pairs. */
static void check_density(const model *m, double radius, int volume_weighted)
{
    const hx_filter_params params = {.radius = radius, .volume_weighted = volume_weighted};
    double *const rho = new_field(m->n, 3, 0.01, 1.0), *const found = new_field(m->n, 4, 0.0, 1.0);
    double error = 0.0;
    hx_filter filter;
    create(&filter, "density", m, &params);
    CHECK(hx_filter_is_linear(&filter));
    forward(&filter, m->n, rho, found);
    for (size_t e = 0; e < m->n; e++) {
        long double sum = 0.0L, sum_weight = 0.0L;
        for (size_t i = 0; i < m->n; i++) {
            long double weight = radius - distance_of(&m->mesh, e, i);
            if (weight <= 0.0L) continue;
            if (volume_weighted) weight *= m->problem.volume[i];
            sum += weight * rho[i];
            sum_weight += weight;
        }
        const int is_free = !m->problem.passive.density || isnan(m->problem.passive.density[e]);
        const double exact = is_free ? (double)(sum / sum_weight) : m->problem.passive.density[e];
        test_worst(&error, fabs(found[e] / exact - 1.0));
    }
    CHECK_MSG(error <= 1e-13, "radius %g, volume weights %d: off by %.3g", radius, volume_weighted,
              error);
    hx_filter_free(&filter);
    free(rho);
    free(found);
}

/* Checks t'(F a - F b) = (F't)'(a - b) for two densities a and b strictly within the limits.
 * Filters that solve equations satisfy this only to a tolerance. */
static void check_transpose(const char *kind, const model *m, const hx_filter_params *params)
{
    const size_t n = m->n;
    double *const a = new_field(n, 11, 0.1, 1.0), *const b = new_field(n, 12, 0.1, 1.0);
    double *const fa = new_field(n, 1, 0.0, 1.0), *const fb = new_field(n, 1, 0.0, 1.0);
    double *const t = new_field(n, 13, -1.0, 3.0), *const dv = new_field(n, 14, 0.5, 1.5);
    double *const t_before = new_field(n, 13, -1.0, 3.0), *const v = new_field(n, 14, 0.5, 1.5);
    hx_filter filter;
    for (size_t e = 0; e < n; e++) /* they are not variables */
        if (m->problem.passive.density && !isnan(m->problem.passive.density[e])) a[e] = b[e];
    create(&filter, kind, m, params);
    const double tolerance = hx_filter_is_linear(&filter) ? 1e-14 : 3e-10;
    forward(&filter, n, b, fb);
    forward(&filter, n, a, fa);
    backward(&filter, n, a, t, dv);
    for (size_t e = 0; e < n; e++) {
        fa[e] -= fb[e];
        a[e] -= b[e];
    }
    const double size = sqrt(dot(n, fa, fa)) * sqrt(dot(n, t_before, t_before));
    CHECK_ABS(dot(n, fa, t_before) / size, dot(n, a, t) / size, tolerance);
    CHECK_ABS(dot(n, fa, v) / size, dot(n, a, dv) / size, tolerance);
    hx_filter_free(&filter);
    double *const all[] = {a, b, fa, fb, t, dv, t_before, v};
    for (int i = 0; i < 8; i++) free(all[i]);
}

/* Without passive elements constants are preserved, and helmholtz preserves the volume. */
static void check_kept(const char *kind, const model *m, const hx_filter_params *params,
                       int keeps_volume)
{
    const size_t n = m->n;
    double *const rho = new_field(n, 21, 0.37, 0.37), *const found = new_field(n, 1, 0.0, 1.0);
    double error = 0.0, low = 1.0, high = 0.0;
    hx_filter filter;
    create(&filter, kind, m, params);
    forward(&filter, n, rho, found);
    for (size_t e = 0; e < n; e++) test_worst(&error, fabs(found[e] - 0.37));
    CHECK_MSG(error <= 1e-9, "%s: a constant is off by %.3g", kind, error);
    uint64_t seed = 22;
    for (size_t e = 0; e < n; e++) rho[e] = fixture_uniform(&seed, 0.0, 1.0) < 0.5 ? 0.01 : 1.0;
    forward(&filter, n, rho, found);
    for (size_t e = 0; e < n; e++) {
        test_least(&low, found[e]);
        test_worst(&high, found[e]);
    }
    CHECK_MSG(low >= 0.01 && high <= 1.0 && high - low > 1e-3, "%s: %g to %g", kind, low, high);
    if (keeps_volume)
        CHECK_REL(dot(n, found, m->problem.volume), dot(n, rho, m->problem.volume), 1e-9);
    hx_filter_free(&filter);
    free(rho);
    free(found);
}

static void check_helmholtz_dense(const model *m, double radius)
{
    const hx_filter_params params = {.radius = radius};
    const size_t n = m->n;
    double *const rho = new_field(n, 31, 0.2, 1.0), *const found = new_field(n, 1, 0.0, 1.0);
    double *const expected = new_field(n, 1, 0.0, 1.0), error = 0.0;
    hx_filter filter;
    helmholtz_filter_dense(&m->problem, radius, rho, expected);
    create(&filter, "helmholtz", m, &params);
    CHECK(!hx_filter_is_linear(&filter)); /* it may overshoot on distorted meshes */
    forward(&filter, n, rho, found);
    for (size_t e = 0; e < n; e++) test_worst(&error, fabs(found[e] - expected[e]));
    /* the operator's metric is rounded to single precision */
    CHECK_MSG(error <= 3e-7, "radius %g: off by %.3g", radius, error);
    hx_filter_free(&filter);
    free(expected);
    free(rho);
    free(found);
}

/* Bitwise equal for any number of threads and for a newly created filter. */
static void check_repeats(const char *kind, const model *m)
{
    const hx_design_params design = projected(m, 4.0, 0.4);
    const hx_filter_params params = {.radius = 1.3, .design = &design};
    const size_t n = m->n;
    double *const rho = new_field(n, 41, 0.1, 1.0), *const found = new_field(n, 1, 0.0, 1.0);
    double *const first = malloc(3 * n * sizeof *first);
    for (int threads = 1; threads <= 3; threads++) {
        double *const dc = new_field(n, 42, -2.0, 0.0), *const dv = new_field(n, 43, 0.5, 1.0);
        hx_filter filter;
        fixture_set_threads(threads);
        create(&filter, kind, m, &params);
        forward(&filter, n, rho, found);
        backward(&filter, n, rho, dc, dv);
        const double *const field[3] = {found, dc, dv};
        for (size_t i = 0; i < 3; i++) {
            if (threads == 1) memcpy(first + i * n, field[i], n * sizeof *first);
            CHECK_MSG(memcmp(first + i * n, field[i], n * sizeof *first) == 0,
                      "%s, field %d, %d threads", kind, (int)i, threads);
        }
        hx_filter_free(&filter);
        free(dc);
        free(dv);
    }
    fixture_set_threads(1);
    free(rho);
    free(found);
    free(first);
}

/* dc, and dv of the problem's volume, after a forward of the design. */
static void backward_volume(hx_filter *filter, const model *m, const double *rho, double *dc,
                            double *dv)
{
    double *const d_rho = fixture_put(&device, m->n, rho), *const d_dc =
                                                               fixture_put(&device, m->n, dc);
    double *const d_dv = fixture_put(&device, m->n, dc), *const d_volume = fixture_put(
                                                             &device, m->n, m->problem.volume);
    CHECK_OK(hx_filter_forward(filter, d_rho, d_dv));
    CHECK_OK(hx_filter_backward_volume(filter, d_rho, d_volume, d_dc, d_dv));
    fixture_get(&device, m->n, dc, d_dc);
    fixture_get(&device, m->n, dv, d_dv);
    double *const all[] = {d_rho, d_dc, d_dv, d_volume};
    for (int i = 0; i < 4; i++) device.ops->release(&device, all[i]);
}

/* dc and dv of a design are bitwise equal to those computed for both fields together with the same
 * beta. */
static void check_volume_once(hx_filter *filter, hx_filter *other, const model *m, uint64_t seed)
{
    const size_t n = m->n, bytes = n * sizeof(double);
    double *const rho = new_field(n, seed, 0.1, 1.0), *const dc = new_field(n, seed, -2.0, 0.0);
    double *const dc_both = new_field(n, seed, -2.0, 0.0), *const dv = new_field(n, 1, 0.0, 1.0);
    double *const dv_both = new_field(n, 1, 0.0, 1.0), *const found = new_field(n, 1, 0.0, 1.0);
    memcpy(dv_both, m->problem.volume, bytes);
    other->projection.beta = filter->projection.beta;
    forward(other, n, rho, found);
    backward(other, n, rho, dc_both, dv_both);
    backward_volume(filter, m, rho, dc, dv);
    CHECK_MSG(memcmp(dc, dc_both, bytes) == 0, "%s: dc of design %d", filter->kind->name,
              (int)seed);
    CHECK_MSG(memcmp(dv, dv_both, bytes) == 0, "%s: dv of design %d", filter->kind->name,
              (int)seed);
    double *const all[] = {rho, dc, dc_both, dv, dv_both, found};
    for (int i = 0; i < 6; i++) free(all[i]);
}

/* The derivative of the volume is correct, stored or recomputed, whatever was called in between.
 * `other` has memory for two fields at a time. */
static void check_volume_kept(const char *kind, const model *m, const hx_filter_params *params)
{
    const hx_design_params steep = projected(m, 1.0, 0.5);
    hx_filter_params other_params = *params;
    hx_filter filter, other;
    hx_least_volume least;
    double mass;
    other_params.design = &steep;
    create(&filter, kind, m, params);
    create(&other, kind, m, &other_params);
    CHECK(hx_filter_kind_sums(filter.kind, params) <=
          hx_filter_kind_sums(filter.kind, &other_params));
    check_volume_once(&filter, &other, m, 51);
    CHECK(filter.keeps_dv && !other.keeps_dv);
    check_volume_once(&filter, &other, m, 52);
    double *const d_volume = fixture_put(&device, m->n, m->problem.volume);
    CHECK_OK(hx_filter_mass(&filter, d_volume, d_volume, &mass));
    check_volume_once(&filter, &other, m, 53);
    CHECK_OK(hx_least_volume_find(&least, &filter));
    check_volume_once(&filter, &other, m, 54);
    filter.projection.eta = steep.eta;
    filter.projection.beta = 4.0;
    check_volume_once(&filter, &other, m, 55);
    filter.projection.beta = 0.0;
    check_volume_once(&filter, &other, m, 56);
    check_volume_once(&filter, &other, m, 57);
    device.ops->release(&device, d_volume);
    hx_filter_free(&filter);
    hx_filter_free(&other);
}

/* The projection: fixed points, monotonicity, slope by differences, and agreement with the
 * device. */
static void check_projection(double beta, double eta)
{
    enum { N = 257 };
    const hx_projection law = {beta, eta, 0.01};
    double rho[N], passive[N], found[N], slope[N], a[N];
    CHECK_REL(hx_projection_value(&law, 0.01), 0.01, 1e-13);
    CHECK_REL(hx_projection_value(&law, 1.0), 1.0, 1e-13);
    CHECK(hx_projection_value(&law, -0.3) == hx_projection_value(&law, 0.01));
    CHECK(hx_projection_value(&law, 1.2) == hx_projection_value(&law, 1.0));
    CHECK(hx_projection_slope(&law, -0.3) == 0.0 && hx_projection_slope(&law, 1.2) == 0.0);
    CHECK(isnan(hx_projection_value(&law, NAN)));
    for (int i = 0; i < N; i++) {
        rho[i] = 0.01 + 0.99 * (i + 0.5) / N;
        passive[i] = i % 7 == 3 ? 0.25 : (double)NAN;
        a[i] = 2.0;
        const double h = 1e-4 / fmax(1.0, beta);
        const double low = hx_projection_value(&law, rho[i] - h),
                     high = hx_projection_value(&law, rho[i] + h);
        CHECK(high >= low && low >= 0.01 - 1e-15 && high <= 1.0 + 1e-15);
        slope[i] = hx_projection_slope(&law, rho[i]);
        CHECK_ABS((high - low) / (2.0 * h), slope[i], 1e-6 * fmax(1.0, beta));
        CHECK(slope[i] > 0.0);
    }
    double *const d_rho = fixture_put(&device, N, rho), *const d_a = fixture_put(&device, N, a);
    double *const d_passive = fixture_put(&device, N, passive);
    CHECK_OK(device.ops->design->project_backward(&device, N, &law, d_passive, d_rho, d_a));
    fixture_get(&device, N, a, d_a);
    CHECK_OK(device.ops->design->zero_passive(&device, N, d_passive, d_rho));
    fixture_get(&device, N, found, d_rho);
    for (int i = 0; i < N; i++) CHECK(found[i] == (i % 7 == 3 ? 0.0 : rho[i]));
    CHECK_OK(device.ops->upload(&device, d_rho, rho, sizeof rho));
    CHECK_OK(device.ops->design->project(&device, N, &law, d_passive, d_rho, d_rho));
    fixture_get(&device, N, found, d_rho);
    for (int i = 0; i < N; i++) {
        if (i % 7 == 3)
            CHECK(found[i] == 0.25 && a[i] == 0.0);
        else
            CHECK_REL(found[i], hx_projection_value(&law, rho[i]), 1e-13);
        if (i % 7 != 3) CHECK_REL(a[i], 2.0 * slope[i], 1e-12);
    }
    CHECK_OK(device.ops->design->project(&device, N, &law, NULL, d_a, d_a));
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_a);
    device.ops->release(&device, d_passive);
}

static void check_refusals(const model *m)
{
    const hx_design_params design[] = {projected(m, -1.0, 0.5), projected(m, 1e4, 0.5),
                                       projected(m, 2.0, 0.0), projected(m, 2.0, 1.0),
                                       projected(m, 2.0, 0.5)};
    const hx_filter_params bad[] = {{.radius = 0.0},
                                    {.radius = 1.0, .design = &design[0]},
                                    {.radius = 1.0, .design = &design[1]},
                                    {.radius = 1.0, .design = &design[2]},
                                    {.radius = 1.0, .design = &design[3]}};
    static const char *const text[] = {"needs a radius above 0", "beta = -1", "beta = 10000",
                                       "eta = 0 ", "eta = 1 "};
    const hx_filter_params good = {.radius = 1.0, .design = &design[4]};
    hx_filter filter;
    for (size_t k = 0; hx_filters[k]; k++) {
        const hx_filter_kind *const kind = hx_filters[k];
        for (size_t i = kind->needs_radius ? 0 : 1; i < sizeof bad / sizeof bad[0]; i++)
            if (!kind->is_heuristic)
                CHECK_FAILS(hx_filter_create(&filter, kind, &device, &m->problem, &bad[i]),
                            HX_EINPUT, text[i]);
        if (kind->is_heuristic)
            CHECK_FAILS(hx_filter_create(&filter, kind, &device, &m->problem, &good), HX_EINPUT,
                        "use \"density\" or \"helmholtz\"");
    }
    const double nan = NAN;
    double *const rho = new_field(m->n, 5, 0.1, 1.0), *const d_rho =
                                                          fixture_put(&device, m->n, rho);
    create(&filter, "helmholtz", m, &good);
    CHECK_OK(device.ops->upload(&device, d_rho + 7, &nan, sizeof nan));
    CHECK_FAILS(hx_filter_forward(&filter, d_rho, d_rho), HX_ENUMERIC, "helmholtz");
    hx_filter_free(&filter);
    device.ops->release(&device, d_rho);
    free(rho);
}

/* Finds roots of steep, flat and curved functions with few evaluations. */
static void check_root(void)
{
    for (int k = 0; k < 4; k++) {
        hx_root root = {0};
        double x = k == 3 ? 1.9 : 0.3, value = 1.0;
        int n = 0;
        for (; fabs(value) > 1e-9 && n < 60; n++) {
            value = k == 0   ? 5.0 * (x - 0.7)
                    : k == 1 ? 0.1 * (x - 0.7)
                    : k == 2 ? tanh(20.0 * (x - 0.7))
                             : exp(x) - 2.0;
            x = hx_root_next(&root, x, value);
        }
        CHECK_MSG(n <= 20, "function %d: %d evaluations", k, n);
    }
}

static void check_schedules(void)
{
    hx_schedule p = {.value = 1.0, .last = 3.0, .factor = 1.0, .step = 0.5, .every = 3};
    hx_schedule b = {.value = 1.0, .last = 12.0, .factor = 2.0, .every = 2}, none = {.value = 3.0};
    CHECK(hx_schedule_ended(&none) && !hx_schedule_advance(&none, 1) && none.value == 3.0);
    CHECK(hx_schedule_iterations(&p) == 12 && hx_schedule_iterations(&b) == 8);
    CHECK(hx_schedule_iterations(&none) == 0);
    for (int i = 1; i <= 14; i++) {
        CHECK(hx_schedule_advance(&p, 0) == (i % 3 == 0 && i <= 12));
        CHECK_REL(p.value, fmin(3.0, 1.0 + 0.5 * (i / 3)), 1e-15);
        CHECK(hx_schedule_ended(&p) == (i >= 12));
    }
    /* rises early if the design has settled */
    const double wanted[6] = {2.0, 2.0, 4.0, 8.0, 8.0, 12.0};
    for (int i = 0; i < 6; i++) {
        (void)hx_schedule_advance(&b, i == 0 || i == 3);
        CHECK(b.value == wanted[i]);
    }
    CHECK(hx_schedule_ended(&b));
}

/* Filtered volume fraction of the design whose free elements are at rho_min. */
static double least_fraction(hx_filter *filter, const model *m, double beta)
{
    const hx_problem *problem = &m->problem;
    double *const rho = malloc(m->n * sizeof *rho), mass;
    CHECK(rho != NULL);
    for (size_t e = 0; e < m->n; e++)
        rho[e] =
            isnan(problem->passive.density[e]) ? m->design.rho_min : problem->passive.density[e];
    double *const d_rho = fixture_put(&device, m->n, rho);
    double *const d_volume = fixture_put(&device, m->n, problem->volume);
    filter->projection.beta = beta;
    CHECK_OK(hx_filter_mass(filter, d_rho, d_volume, &mass));
    filter->projection.beta = filter->design->beta.value;
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_volume);
    free(rho);
    return mass / m->mesh.total_volume;
}

/* Use as a library: creating an optimizer fails below the least volume, and succeeds with the value
 * that the message gives. */
static void check_refused(const model *m, fixture_settings settings, double first, double works)
{
    fixture_solver s;
    settings.design.volume_fraction = 0.999 * first;
    CHECK_FAILS(fixture_solver_create(&s, &device, &m->problem, &settings), HX_EINPUT,
                "cannot be met: the passive elements, as filter '");
    settings.design.volume_fraction = 1.0005 * first;
    CHECK_FAILS(fixture_solver_create(&s, &device, &m->problem, &settings), HX_EINPUT,
                "leaves almost no volume to design");
    settings.design.volume_fraction = works;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    fixture_solver_free(&s);
}

/* First, lowest and highest volume while beta rises, for eta on either side of the spread
 * densities. */
static void check_least_volume(const char *kind, const model *m, double eta)
{
    const hx_schedule beta = {.value = 1.0, .last = 20.0, .factor = 2.0, .every = 3};
    fixture_settings settings = fixture_defaults();
    settings.filter = kind;
    settings.design = m->design;
    settings.design.beta = beta;
    settings.design.eta = eta;
    settings.filter_params = (hx_filter_params){.radius = 1.4, .design = &settings.design};
    const double value[] = {1.0, 2.0, 4.0, 8.0, 16.0, 20.0};
    double fraction, low = INFINITY, high = 0.0, first = 0.0;
    hx_least_volume least;
    hx_notes notes = {0};
    hx_filter filter;
    CHECK_OK(hx_filter_create(&filter, hx_filter_find(kind), &device, &m->problem,
                              &settings.filter_params));
    CHECK_OK(hx_least_volume_find(&least, &filter));
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        fraction = least_fraction(&filter, m, value[i]);
        if (i == 0) first = fraction;
        if (fraction < low) low = fraction;
        if (fraction > high) high = fraction;
    }
    CHECK_REL(least.first.fraction, first, 1e-8);
    CHECK_REL(least.lowest.fraction, low, 1e-8);
    CHECK_REL(least.highest.fraction, high, 1e-8);
    /* the filter spreads passive densities */
    CHECK(first > 1.01 * m->problem.passive.mass / m->mesh.total_volume);
    check_refused(m, settings, first, 1.02 * high);

    settings.design.volume_fraction = 1.05 * high;
    CHECK_OK(hx_least_volume_note(&least, &filter, &notes));
    CHECK(notes.n == 1 && strstr(notes.note[0].text, "of the volume to design"));
    settings.design.volume_fraction = 1.2 * high;
    CHECK_OK(hx_least_volume_note(&least, &filter, &notes));
    CHECK(notes.n == 1);
    hx_notes_free(&notes);
    hx_filter_free(&filter);
}

enum { N_REACH = 4 };
static const double reach[N_REACH] = {0.01, 0.6, 2.0, 30.0};

/* What every filter that maps the design must satisfy. */
static void check_kind(const hx_filter_kind *kind, const model *m, model *passive,
                       const model *even)
{
    printf("%s\n", kind->name);
    for (int i = 0; i < 2 * N_REACH; i++) {
        const hx_filter_params params = {.radius = reach[i / 2], .volume_weighted = i % 2};
        const int is_linear = kind->keeps_range; /* hx_filter_is_linear without a projection */
        check_transpose(kind->name, m, &params);
        check_transpose(kind->name, passive, &params);
        if (is_linear) check_volume_kept(kind->name, m, &params);
        if (is_linear) check_volume_kept(kind->name, passive, &params);
        if (is_linear) check_volume_kept(kind->name, even, &params);
    }
    for (int weighted = 0; weighted < 2; weighted++)
        check_kept(kind->name, even,
                   &(hx_filter_params){.radius = 2.5, .volume_weighted = weighted}, 0);
    for (int i = 0; i < 3; i++) check_least_volume(kind->name, passive, 0.25 + 0.25 * i);
    check_repeats(kind->name, passive);
}

int main(int argc, char **argv)
{
    const fixture_box rough = {{6, 4, 5}, {3.0, 2.0, 2.2}, 0.2, 1};
    const fixture_box cubes = {{9, 7, 6}, {9.0, 7.0, 6.0}, 0.0, 0};
    model m, passive, even;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    make_model(&m, &rough, 1.0, 0);
    make_model(&passive, &rough, 1.0, 1);
    make_model(&even, &cubes, 0.0, 0);
    for (size_t i = 0; hx_filters[i]; i++)
        if (hx_filters[i]->maps_design) check_kind(hx_filters[i], &m, &passive, &even);
    for (int weighted = 0; weighted < 2; weighted++) {
        const double radius[3] = {1e-6, 1.1, 1e3};
        for (int i = 0; i < 3; i++) {
            const hx_filter_params params = {.radius = radius[i], .volume_weighted = weighted};
            check_density(&m, radius[i], weighted);
            check_density(&passive, radius[i], weighted);
            check_transpose("density", &m, &params);
            check_transpose("density", &passive, &params);
        }
    }
    for (int i = 0; i < N_REACH; i++) {
        check_helmholtz_dense(&m, reach[i]);
        helmholtz_check_diagonal(&device, &m.problem, reach[i], 5);
        check_kept("helmholtz", &even, &(hx_filter_params){.radius = 0.1 + 2.0 * i}, 1);
    }
    for (int i = 0; i < 3; i++) {
        check_projection(0.0, 0.5);
        check_projection(1.0, 0.3 + 0.2 * i);
        check_projection(32.0, 0.3 + 0.2 * i);
    }
    CHECK(hx_projection_slope(&(hx_projection){512.0, 0.5, 1e-6}, 1.0) > 0.0);
    check_refusals(&m);
    check_root();
    check_schedules();
    free_model(&m);
    free_model(&passive);
    free_model(&even);
    hx_device_close(&device);
    TEST_END();
}
