/* The update by optimality criteria against a bisection of the multiplier in long double.
 *
 *     test_oc [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;
static int most_passes;

enum { NX = 8, NY = 5, NZ = 4, N_ELEM = NX * NY * NZ };

typedef struct oc_case {
    const char *label;
    double volume_fraction, move, damping, rho_min;
    int passive;
    double dc_scale;   /* scale of the derivatives */
    double zero_share; /* fraction of elements with derivative 0 */
    int positive;      /* 1: some derivatives are positive, as filters can make them */
    double design_low, design_high;
    int reachable; /* 1: a step can reach the volume; 0: all densities increase; -1: all decrease */
} oc_case;

static int is_free(const hx_problem *problem, int64_t e)
{
    return !problem->passive.density || isnan(problem->passive.density[e]);
}

/* rho B^eta, B = -dc / (lambda dv), within the move limits. */
static long double updated(const hx_problem *problem, const hx_design_params *params, int64_t e,
                           double rho, double dc, long double log_lambda)
{
    const long double low = fmaxl(params->rho_min, (long double)rho - params->move);
    const long double high = fminl(1.0L, (long double)rho + params->move);
    if (!(dc < 0.0)) return low;
    const long double log_b = logl(-(long double)dc / problem->volume[e]) - log_lambda;
    const long double value = rho * expl(params->damping * log_b);
    return value < low ? low : value > high ? high : value;
}

static void reference_update(const hx_problem *problem, const hx_design_params *params,
                             const double *design, const double *dc, long double *proposal)
{
    long double low = -2000.0L, high = 2000.0L, target = 0.0L;
    for (int64_t e = 0; e < N_ELEM; e++) {
        target += (long double)params->volume_fraction * problem->volume[e];
        if (!is_free(problem, e))
            target -= (long double)problem->passive.density[e] * problem->volume[e];
    }
    for (int i = 0; i < 120; i++) {
        const long double middle = 0.5L * (low + high);
        long double volume = 0.0L;
        for (int64_t e = 0; e < N_ELEM; e++)
            if (is_free(problem, e))
                volume +=
                    problem->volume[e] * updated(problem, params, e, design[e], dc[e], middle);
        if (volume > target)
            low = middle;
        else
            high = middle;
    }
    for (int64_t e = 0; e < N_ELEM; e++)
        proposal[e] = is_free(problem, e) ? updated(problem, params, e, design[e], dc[e], high)
                                          : (long double)design[e];
}

/* Runs the update on the device with host data; returns the largest change. is_flat: NULL, or out:
 * see hx_oc_update_or_keep. */
static double update_or_keep(const hx_problem *problem, const hx_design_params *params,
                             const double *design, const double *dc, double shift, double *proposal,
                             int *is_flat)
{
    double *const d_design = fixture_put(&device, N_ELEM, design);
    double *const d_dc = fixture_put(&device, N_ELEM, dc);
    double *const d_dv = fixture_put(&device, N_ELEM, problem->volume);
    double *const d_passive =
        problem->passive.density ? fixture_put(&device, N_ELEM, problem->passive.density) : NULL;
    double *const d_proposal = fixture_put(&device, N_ELEM, proposal);
    void *d_state;
    double target = -problem->passive.mass, change = NAN;
    for (int64_t e = 0; e < N_ELEM; e++) target += params->volume_fraction * problem->volume[e];
    CHECK_OK(device.ops->alloc(&device, sizeof(hx_oc_state), &d_state));
    hx_device_oc oc = {.n = N_ELEM,
                       .move = params->move,
                       .damping = params->damping,
                       .rho_min = params->rho_min,
                       .d_design = d_design,
                       .d_dc = d_dc,
                       .d_dv = d_dv,
                       .d_passive = d_passive,
                       .d_proposal = d_proposal,
                       .d_state = d_state,
                       .shift = shift};
    if (is_flat)
        CHECK_OK(hx_oc_update_or_keep(&device, &oc, target, &change, is_flat));
    else
        CHECK_OK(hx_oc_update(&device, &oc, target, &change));
    fixture_get(&device, N_ELEM, proposal, d_proposal);
    hx_oc_state state;
    CHECK_OK(device.ops->download(&device, &state, d_state, sizeof state));
    if (state.pass > most_passes) most_passes = state.pass;
    double *const field[] = {d_design, d_dc, d_dv, d_passive, d_proposal, d_state};
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++)
        device.ops->release(&device, field[i]);
    return change;
}

static double update(const hx_problem *problem, const hx_design_params *params,
                     const double *design, const double *dc, double shift, double *proposal)
{
    return update_or_keep(problem, params, design, dc, shift, proposal, NULL);
}

/* Without a negative derivative the design is kept; it is only scaled to the volume. With one, the
 * update is the usual one. */
static void check_flat(const hx_problem *problem, const hx_design_params *params, const oc_case *c,
                       const double *design)
{
    double dc[N_ELEM] = {0.0}, kept[N_ELEM], again[N_ELEM], usual[N_ELEM], error = 0.0;
    long double volume = 0.0L, wanted = 0.0L, now = 0.0L;
    int is_flat = -1;
    for (int64_t e = 0; e < N_ELEM; e++) kept[e] = again[e] = usual[e] = NAN;
    update_or_keep(problem, params, design, dc, 0.0, kept, &is_flat);
    CHECK_MSG(is_flat == 1, "%s: without derivatives", c->label);
    for (int64_t e = 0; e < N_ELEM; e++) {
        volume += (long double)problem->volume[e] * kept[e];
        now += (long double)problem->volume[e] * design[e];
        wanted += (long double)problem->volume[e] * params->volume_fraction;
    }
    CHECK_MSG(fabsl(volume / wanted - 1.0L) <= 2e-11L, "%s: volume %Lg instead of %Lg", c->label,
              volume, wanted);
    if (!problem->passive.density && fabsl(now / wanted - 1.0L) < 0.01L)
        for (int64_t e = 0; e < N_ELEM; e++)
            test_worst(&error, fabs(kept[e] - design[e] * (double)(wanted / now)));
    CHECK_MSG(error <= 1e-9, "%s: kept design off by %.3g", c->label, error);
    for (int64_t e = 0; e < N_ELEM; e++) dc[e] = -c->dc_scale * problem->volume[e] * design[e];
    update_or_keep(problem, params, design, dc, 0.0, again, &is_flat);
    CHECK_MSG(is_flat == 0, "%s: with derivatives", c->label);
    update(problem, params, design, dc, 0.0, usual);
    CHECK(memcmp(again, usual, sizeof usual) == 0);
}

/* Derivatives to which a multiple of the volume's is added, and a shift that subtracts it again. */
static void check_shift(const hx_problem *problem, const hx_design_params *params, const oc_case *c,
                        const double *design, const double *dc, const double *proposal)
{
    const double shift = 0.37 * c->dc_scale;
    double added[N_ELEM], shifted[N_ELEM], error = 0.0;
    for (int64_t e = 0; e < N_ELEM; e++) {
        added[e] = dc[e] + shift * problem->volume[e];
        shifted[e] = NAN;
    }
    update(problem, params, design, added, shift, shifted);
    for (int64_t e = 0; e < N_ELEM; e++) test_worst(&error, fabs(shifted[e] - proposal[e]));
    CHECK_MSG(error <= 1e-9, "%s: shifted, density off by %.3g", c->label, error);
}

static void check_case(const hx_mesh *mesh, const oc_case *c, uint64_t seed)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    static const hx_passive_spec passive[2] = {{"solid", "test", 1.0}, {"void", "test", 0.01}};
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    const hx_design_params limits = {.rho_min = c->rho_min,
                                     .volume_fraction = c->volume_fraction,
                                     .move = c->move,
                                     .damping = c->damping};
    double design[N_ELEM], dc[N_ELEM], proposal[N_ELEM], change = 0.0, error = 0.0;
    long double reference[N_ELEM], volume = 0.0L;
    int n_move = 0, n_inside = 0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.rho_min = c->rho_min;
    params.passive = passive;
    params.n_passive = c->passive ? 2 : 0;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    for (int64_t e = 0; e < N_ELEM; e++) {
        design[e] = fmax(c->rho_min, fixture_uniform(&seed, c->design_low, c->design_high));
        if (!is_free(&problem, e)) design[e] = (double)problem.passive.density[e];
        dc[e] = -c->dc_scale * pow(10.0, fixture_uniform(&seed, -4.0, 0.0)) * problem.volume[e];
        if (fixture_uniform(&seed, 0.0, 1.0) < c->zero_share) dc[e] = 0.0;
        if (c->positive && e % 5 == 0) dc[e] = -dc[e];
        proposal[e] = NAN;
    }
    const double returned = update(&problem, &limits, design, dc, 0.0, proposal);
    if (c->zero_share == 0.0) check_shift(&problem, &limits, c, design, dc, proposal);
    if (c->reachable > 0) check_flat(&problem, &limits, c, design);
    reference_update(&problem, &limits, design, dc, reference);
    for (int64_t e = 0; e < N_ELEM; e++) {
        const double step = proposal[e] - design[e];
        volume += (long double)problem.volume[e] * proposal[e];
        test_worst(&error, fabs((double)(proposal[e] - reference[e])));
        test_worst(&change, fabs(step));
        if (!is_free(&problem, e)) {
            CHECK_MSG(proposal[e] == design[e], "%s: passive element moved", c->label);
            continue;
        }
        CHECK_MSG(fabs(step) <= c->move + 1e-15 && proposal[e] >= c->rho_min && proposal[e] <= 1.0,
                  "%s: density %g to %g", c->label, design[e], proposal[e]);
        n_move += fabs(fabs(step) - c->move) < 1e-12;
        n_inside += fabs(step) < c->move - 1e-6 && proposal[e] > c->rho_min + 1e-6 &&
                    proposal[e] < 1.0 - 1e-6;
        if (c->reachable > 0 || dc[e] >= 0.0) continue;
        const double bound = c->reachable == 0 ? fmin(1.0, design[e] + c->move)
                                               : fmax(c->rho_min, design[e] - c->move);
        CHECK_ABS(proposal[e], bound, 1e-12);
    }
    CHECK_MSG(error <= 1e-9, "%s: density off by %.3g", c->label, error);
    CHECK_MSG(returned == change, "%s: change %g, returned %g", c->label, change, returned);
    const double fraction = (double)volume / mesh->total_volume;
    if (c->reachable > 0) {
        CHECK_MSG(fabs(fraction / c->volume_fraction - 1.0) <= 2e-11, "%s: volume fraction %.15g",
                  c->label, fraction);
        CHECK_MSG(n_inside > 0 && n_move > 0, "%s: %d inside, %d at the move limit", c->label,
                  n_inside, n_move);
    } else {
        CHECK((fraction < c->volume_fraction) == (c->reachable == 0));
    }
    printf("%-40s volume %.12f, density off by %.1e, %d of %d inside\n", c->label, fraction, error,
           n_inside, N_ELEM);
    hx_problem_free(&problem);
}

/* A graded box: element volumes differ by a factor of about 80. */
static int make_mesh(hx_mesh *mesh)
{
    static const int32_t solid[4] = {0, 7, 33, 100}, hollow[3] = {50, 51, 159};
    const fixture_box box = {{NX, NY, NZ}, {1.0, 1.0, 1.0}, 0.2, 0};
    HX_TRY(fixture_box_create(mesh, &box));
    for (int64_t i = 0; i < mesh->n_node; i++) {
        double *const x = mesh->xyz + 3 * i;
        x[0] = expm1(4.0 * x[0]);
        x[2] *= 1.0 + x[2];
    }
    HX_TRY(hx_mesh_add_elem_set(mesh, "solid", 4, solid));
    HX_TRY(hx_mesh_add_elem_set(mesh, "void", 3, hollow));
    return fixture_finish(mesh, FIXTURE_SHUFFLED);
}

int main(int argc, char **argv)
{
    static const oc_case list[] = {
        {"plain", 0.4, 0.2, 0.5, 0.01, 0, 1.0, 0.0, 0, 0.2, 0.6, 1},
        {"large derivatives", 0.4, 0.2, 0.5, 0.01, 0, 1e12, 0.0, 0, 0.2, 0.6, 1},
        {"small derivatives", 0.4, 0.2, 0.5, 0.01, 0, 1e-12, 0.0, 0, 0.2, 0.6, 1},
        {"small moves", 0.4, 0.02, 0.5, 0.01, 0, 1.0, 0.0, 0, 0.39, 0.41, 1},
        {"damping 0.3, passive elements", 0.45, 0.1, 0.3, 0.01, 1, 1.0, 0.0, 0, 0.3, 0.6, 1},
        {"damping 1, passive elements", 0.45, 0.3, 1.0, 0.001, 1, 1.0, 0.0, 0, 0.0, 0.9, 1},
        {"half the derivatives zero", 0.4, 0.2, 0.5, 0.01, 0, 1.0, 0.5, 0, 0.2, 0.6, 1},
        {"some derivatives positive", 0.4, 0.2, 0.5, 0.01, 1, 1.0, 0.0, 1, 0.2, 0.6, 1},
        {"more volume than a step can add", 0.9, 0.2, 0.5, 0.01, 1, 1.0, 0.0, 0, 0.2, 0.3, 0},
        {"less volume than a step can take", 0.2, 0.1, 0.5, 0.01, 0, 1.0, 0.0, 0, 0.7, 1.0, -1},
        {"every derivative zero", 0.4, 0.2, 0.5, 0.01, 0, 1.0, 1.0, 0, 0.2, 0.6, 0},
    };
    hx_mesh mesh;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(make_mesh(&mesh));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) check_case(&mesh, &list[i], 11 + i);
    printf("at most %d passes over the elements\n", most_passes);
    CHECK(most_passes > 1 && most_passes <= 16);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
