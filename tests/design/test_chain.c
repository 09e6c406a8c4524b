/* The whole chain design -> filter -> projection -> sweep -> compliance, for every filter of the registry:
 * derivatives by each design variable against central differences of the analysis, and the volume
 * of every design of a run.
 *
 *     test_chain [cpu | cuda] [quick] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 4, NY = 3, NZ = 3, N_ELEM = NX * NY * NZ };

typedef struct model {
    const hx_filter_kind *filter;
    double beta, eta, penalty;
    int n_case, passive, volume_weighted, gravity;
    const hx_sweep_params *sweep; /* NULL: none */
    double erosion;
} model;

static const hx_support_spec support = {
    "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
/* The last load is used only with `gravity`. */
static const hx_load_spec load[4] = {
    {.set = "right",
     .origin = "test",
     .kind = HX_LOAD_TRACTION,
     .value = {0.1, 0.0, -0.3},
     .load_case = 1},
    {.set = "top", .origin = "test", .kind = HX_LOAD_PRESSURE, .value = {0.2}, .load_case = 2},
    {.set = "right",
     .origin = "test",
     .kind = HX_LOAD_NODE_FORCE,
     .value = {0.0, 0.05, 0.0},
     .load_case = 2},
    {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.1, 0.2, -0.4}, .load_case = 2}};
static const hx_passive_spec passive[2] = {{"core", "test", 1.0}, {"hole", "test", 0.01}};
static const double weight[2] = {0.7, 2.5};

/* A distorted mesh whose elements grow along x to three times their volume. */
static int make_mesh(hx_mesh *mesh)
{
    static const int32_t core[3] = {5, 6, 17}, hole[2] = {20, 35};
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.15, 1};
    HX_TRY(fixture_box_create(mesh, &box));
    for (int64_t i = 0; i < mesh->n_node; i++) mesh->xyz[3 * i] *= 1.0 + 0.5 * mesh->xyz[3 * i];
    HX_TRY(hx_mesh_add_elem_set(mesh, "core", 3, core));
    HX_TRY(hx_mesh_add_elem_set(mesh, "hole", 2, hole));
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

static void make_problem(hx_problem *problem, const hx_mesh *mesh, const model *m)
{
    hx_problem_params params = fixture_problem();
    params.young = 7.0;
    params.rho_min = 0.01;
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = m->n_case == 1 ? 1 : m->gravity ? 4 : 3;
    params.density = m->gravity ? 1.5 : 0.0;
    params.weight = weight;
    params.n_weight = (size_t)m->n_case;
    params.passive = passive;
    params.n_passive = m->passive ? 2 : 0;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static fixture_settings make_settings(const model *m)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.5;
    settings.design.penalty = fixture_constant(m->penalty);
    settings.design.rho_min = 0.01;
    settings.filter = m->filter->name;
    settings.design.beta = fixture_constant(m->beta);
    settings.design.eta = m->eta;
    settings.design.erosion = m->erosion;
    settings.filter_params =
        (hx_filter_params){.radius = 0.9, .volume_weighted = m->volume_weighted};
    settings.pcg.tolerance = 1e-13;
    return settings;
}

/* Objective and volume fraction with the density of element e changed from rho to rho + step; no
 * update is adopted. */
static double objective_at(fixture_solver *s, int64_t e, double rho, double step, double *volume)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    *volume = record.volume;
    return record.compliance;
}

static int is_passive(const hx_problem *problem, int64_t e)
{
    return problem->passive.density && !isnan(problem->passive.density[e]);
}

/* The record describes the physical design: its volume, and its greyness without passive
 * elements. */
static void check_record(fixture_solver *s, const hx_problem *problem, const hx_iteration *record)
{
    double physical[N_ELEM], mass = 0.0, grey = 0.0;
    CHECK_OK(hx_optimizer_density(&s->opt, physical));
    for (int64_t e = 0; e < N_ELEM; e++) {
        const double rho = physical[e], v = problem->volume[e];
        mass += v * rho;
        if (is_passive(problem, e))
            CHECK(rho == problem->passive.density[e]);
        else
            grey += 4.0 * v * rho * (1.0 - rho);
        CHECK(rho >= s->design.rho_min && rho <= 1.0);
    }
    CHECK_REL(record->volume, mass / problem->mesh->total_volume, 1e-12);
    CHECK_REL(record->greyness, grey / problem->design_volume, 1e-12);
}

static void check_derivatives(const hx_mesh *mesh, const model *m, int64_t stride)
{
    hx_problem problem;
    hx_sweep sweep = {0};
    fixture_settings settings = make_settings(m);
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], dc[N_ELEM], dv[N_ELEM], design[N_ELEM];
    uint64_t state = 99;
    make_problem(&problem, mesh, m);
    for (int e = 0; e < N_ELEM; e++) density[e] = fixture_uniform(&state, 0.15, 0.9);
    settings.density = density;
    if (m->sweep) CHECK_OK(hx_sweep_create(&sweep, mesh, m->sweep));
    settings.filter_params.sweep = m->sweep ? &sweep : NULL;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.penalty == m->penalty && record.beta == m->beta);
    check_record(&s, &problem, &record);
    fixture_get(&device, N_ELEM, dv, s.opt.d_dv);
    fixture_get(&device, N_ELEM, design, s.opt.d_design);
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));

    double error = 0.0, largest = 0.0;
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(dc[e]));
    for (int64_t e = 0; e < N_ELEM; e += stride) {
        /* the projection changes steeply within 1 / beta, a sweep within 1 / HX_SWEEP_POWER; the
         * solver of a filter leaves errors that smaller steps would enlarge */
        const double within = !m->sweep                                   ? 3e-3
                              : strcmp(m->filter->name, "helmholtz") == 0 ? 3e-4
                                                                          : 1e-4;
        const double h = within * 4.0 / fmax(4.0, m->beta);
        double c[4], v[4];
        if (is_passive(&problem, e)) { /* not a variable */
            CHECK(dv[e] == 0.0 && design[e] == problem.passive.density[e]);
            continue;
        }
        for (int i = 0; i < 4; i++) {
            static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
            c[i] = objective_at(&s, e, design[e], at[i] * h, &v[i]);
        }
        const double by_c = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        const double by_v = (v[0] - 8.0 * v[1] + 8.0 * v[2] - v[3]) / (12.0 * h);
        test_worst(&error, fabs(by_c - dc[e]));
        CHECK_MSG(fabs(by_c - dc[e]) <= 3e-7 * largest, "%s: element %d: difference %.12g, %.12g",
                  m->filter->name, (int)e, by_c, dc[e]);
        CHECK_ABS(by_v * mesh->total_volume, dv[e], 3e-7 * mesh->total_volume / N_ELEM);
    }
    printf("%-10s beta %-3g p %-3g %d cases%s%s%s%s%s%s: largest error %.1e of the largest "
           "derivative\n",
           m->filter->name, m->beta, m->penalty, m->n_case, m->passive ? ", passive" : "",
           m->volume_weighted ? ", by volume" : "", m->gravity ? ", gravity" : "",
           m->erosion > 0.0 ? ", eroded" : "", m->sweep ? ", " : "",
           m->sweep ? hx_sweep_name(m->sweep->kind) : "", error / largest);
    fixture_solver_free(&s);
    hx_sweep_free(&sweep);
    hx_problem_free(&problem);
}

/* Every design, including the first, has the prescribed volume while penalty and beta rise. The
 * objective is compared with that of the last design only if that has the same functions. */
static void check_volume(const hx_mesh *mesh, const model *m)
{
    hx_problem problem;
    fixture_settings settings = make_settings(m);
    fixture_solver s;
    int most = 0, raised = 0, is_other = 1;
    double first = 0.0, last = 0.0;
    make_problem(&problem, mesh, m);
    settings.pcg.tolerance = 1e-8;
    settings.design.penalty =
        (hx_schedule){.value = 1.0, .last = m->penalty, .factor = 1.0, .step = 0.5, .every = 3};
    if (m->beta > 0.0)
        settings.design.beta =
            (hx_schedule){.value = m->beta, .last = 24.0, .factor = 2.0, .every = 4};
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    for (int i = 1; i <= 25; i++) {
        hx_iteration record;
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        check_record(&s, &problem, &record);
        CHECK_MSG(fabs(record.volume - 0.5) <= 1e-6, "%s, beta %g: volume %.9g in iteration %d",
                  m->filter->name, record.beta, record.volume, i);
        CHECK_REL(record.penalty, fmin(m->penalty, 1.0 + 0.5 * ((i - 1) / 3)), 1e-14);
        CHECK(record.change <= 0.2 + 1e-15);
        if (record.volume_trials > most) most = record.volume_trials;
        if (record.penalty >= m->penalty && first == 0.0) first = record.compliance;
        last = record.compliance;
        raised += record.raised;
        CHECK_MSG(isinf(record.objective_change) == is_other, "beta %g, iteration %d", record.beta,
                  i);
        is_other = record.raised;
        CHECK(record.climbing == (record.penalty < m->penalty || record.beta < s.opt.beta.last));
        hx_optimizer_advance(&s.opt);
    }
    CHECK(raised == (m->beta > 0.0 ? raised : (int)ceil(2.0 * (m->penalty - 1.0))) && raised > 0);
    CHECK_MSG(m->beta > 0.0 || s.filter.kind->is_heuristic || last < first,
              "compliance %g, then %g", first, last);
    printf("%-10s beta %-3g%s: volume met, %d updates at most\n", m->filter->name, m->beta,
           m->passive ? ", passive" : "", most);
    CHECK(most <= 25);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

/* A heuristic takes no projection and has no derivatives; without a mapped design, dv is not
 * computed. */
static void check_filter(const hx_mesh *mesh, const hx_filter_kind *kind, int64_t stride)
{
    const model list[] = {
        {kind, 0.0, 0.5, 3.0, 2, 1, 0, 0},
        {kind, 0.0, 0.5, 3.0, 1, 0, 1, 0},
        {kind, 4.0, 0.5, 3.0, 2, 1, 1, 0},
        {kind, 8.0, 0.3, 1.5, 1, 0, 0, 0},
        {kind, 8.0, 0.6, 2.0, 2, 0, 0, 0},
        {kind, 3.0, 0.5, 3.0, 2, 1, 0, 0},
        {kind, 4.0, 0.5, 3.0, 2, 1, 1, 1},
        {kind, 2.0, 0.5, 3.0, 2, 1, 0, 1},
        {kind, 4.0, 0.5, 3.0, 2, 1, 1, 0, NULL, 0.15},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const hx_design_params design = fixture_projected(list[i].beta, list[i].eta);
        const hx_filter_params params = {.design = &design};
        if (kind->is_heuristic && list[i].beta > 0.0) continue;
        if (hx_filter_kind_maps_design(kind, &params)) check_derivatives(mesh, &list[i], stride);
        check_volume(mesh, &list[i]);
    }
}

/* Every sweep after every filter that maps the design, with and without projection, erosion and
 * passive elements; a heuristic is refused. */
static void check_sweeps(const hx_mesh *mesh, const hx_filter_kind *kind, int64_t stride)
{
    static const hx_sweep_params list[] = {
        {.kind = HX_SWEEP_OVERHANG,
         .angle = 45.0,
         .n_direction = 1,
         .direction = {{0.0, 0.0, 1.0}},
         .parting = {NAN}},
        {.kind = HX_SWEEP_OVERHANG,
         .angle = 40.0,
         .n_direction = 1,
         .direction = {{1.0, 0.3, -0.2}},
         .parting = {NAN}},
        {.kind = HX_SWEEP_DRAW,
         .n_direction = 1,
         .direction = {{0.0, 1.0, 0.1}},
         .parting = {0.5, 0.5, 0.5}},
        {.kind = HX_SWEEP_MILLING,
         .n_direction = 2,
         .direction = {{0.0, 0.0, 1.0}, {0.0, 1.0, 0.0}},
         .parting = {NAN}},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const model m = {kind, i % 2 ? 4.0 : 0.0, 0.5, 3.0, 2, (int)i < 3, 0, i == 2, &list[i]};
        hx_problem problem;
        hx_sweep sweep;
        hx_filter filter;
        if (!kind->is_heuristic) {
            model eroded = m;
            check_derivatives(mesh, &m, stride);
            eroded.erosion = eroded.beta > 0.0 ? 0.1 : 0.0; /* its sweep is not the last one */
            if (eroded.erosion > 0.0) check_derivatives(mesh, &eroded, stride);
            continue;
        }
        make_problem(&problem, mesh, &m);
        CHECK_OK(hx_sweep_create(&sweep, mesh, &list[i]));
        const hx_filter_params params = {.radius = 0.9, .sweep = &sweep};
        CHECK_FAILS(hx_filter_create(&filter, kind, &device, &problem, &params), HX_EINPUT,
                    hx_sweep_name(list[i].kind));
        hx_sweep_free(&sweep);
        hx_problem_free(&problem);
    }
}

int main(int argc, char **argv)
{
    hx_mesh mesh;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    CHECK_OK(make_mesh(&mesh));
    for (size_t i = 0; hx_filters[i]; i++) check_filter(&mesh, hx_filters[i], quick ? 7 : 3);
    for (size_t i = 0; hx_filters[i]; i++) check_sweeps(&mesh, hx_filters[i], quick ? 7 : 3);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
