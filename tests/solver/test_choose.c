/* The meaning of "auto": candidates, their order and which are excluded; preconditioners by size,
 * criterion, precision and memory; the solver that owns what was chosen.
 *
 *     test_choose [cpu | cuda] */
#include "core/multigrid/mg_params.h"
#include "core/multigrid/plan_coarse.h"
#include "core/operator/plan_operator.h"
#include "core/solver/solver.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

static hx_device device;

/* The lines reported during a choice. */
typedef struct lines {
    int n;
    char text[32][160];
} lines;

static void keep_line(void *context, const char *line)
{
    lines *l = context;
    if (l->n < 32) snprintf(l->text[l->n++], sizeof l->text[0], "%s", line);
}

static int n_with(const lines *l, const char *text)
{
    int n = 0;
    for (int i = 0; i < l->n; i++) n += strstr(l->text[i], text) != NULL;
    return n;
}

static int make(hx_mesh *mesh, hx_problem *problem, int n)
{
    static const hx_support_spec held = {
        "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    static const hx_load_spec pull = {
        "right", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.1, -1.0}, .load_case = 1};
    hx_problem_params params = hx_problem_defaults();
    params.support = &held;
    params.load = &pull;
    params.n_support = params.n_load = 1;
    HX_TRY(hx_generate_box(mesh, 2 * n, n, n, 2.0, 1.0, 1.0));
    HX_TRY(hx_mesh_finish(mesh));
    return hx_problem_create(problem, mesh, &params);
}

static const char *precond_name(const hx_choose_params *params, const hx_device_ops *ops,
                                int64_t n_elem)
{
    const hx_precond_kind *kind = hx_choose_precond(params, ops, n_elem);
    return kind ? kind->name : "none chosen";
}

static void check_preconds(void)
{
    hx_choose_params params = hx_solver_defaults().choose;
    hx_device_ops without = *device.ops;
    without.multigrid = NULL;
    CHECK(strcmp(precond_name(&params, device.ops, 1), "jacobi") == 0);
    CHECK(strcmp(precond_name(&params, device.ops, 499), "jacobi") == 0);
    CHECK(strcmp(precond_name(&params, device.ops, 500), "multigrid") == 0);
    CHECK(strcmp(precond_name(&params, &without, 2000), "jacobi") == 0);
    params.criterion = HX_PCG_ABSOLUTE;
    CHECK(strcmp(precond_name(&params, device.ops, 2000), "jacobi") == 0);
    params.criterion = HX_PCG_RELATIVE;
    params.precision = HX_PRECISION_MIXED;
    CHECK(strcmp(precond_name(&params, device.ops, 2000), "jacobi") == 0);
}

/* The mesh size on which the choice of a preconditioner is based: a box of 5 x 5 x 5 hexahedra, and
 * the same box cut into six times as many tetrahedra on the same nodes. */
static void check_sizes(void)
{
    static const struct {
        mixed_kind kind;
        int64_t linear, quadratic;
    } wanted[] = {{MIXED_HEXAHEDRA, 125, 756}, {MIXED_TETRAHEDRA, 216, 1331}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const mixed_box box = {.kind = wanted[i].kind, .n = {5, 5, 5}};
        hx_mesh mesh;
        hx_space space;
        CHECK_OK(mixed_create(&mesh, &box));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_LINEAR));
        CHECK(hx_choose_size(&space) == wanted[i].linear);
        hx_space_free(&space);
        CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
        CHECK(hx_choose_size(&space) == wanted[i].quadratic);
        hx_space_free(&space);
        hx_mesh_free(&mesh);
    }
}

/* A device that reports a given amount of free memory. */
static size_t free_bytes;

static int say_memory(hx_device *dev, size_t *n_free, size_t *n_total)
{
    (void)dev;
    *n_free = free_bytes;
    *n_total = 1u << 30;
    return HX_OK;
}

static size_t bytes_with(const hx_problem *problem, const hx_operator_kind *op_kind,
                         const hx_precond_kind *kind)
{
    hx_account account = {0};
    const size_t vector = 3 * (size_t)problem->mesh->n_node * sizeof(double);
    hx_operator_account(&account, problem, op_kind, hx_layout_first(op_kind));
    return hx_account_sum(&account) + hx_precond_bytes(kind, problem, device.ops, op_kind) +
           (size_t)hx_pcg_vectors(kind, 0) * vector;
}

static void check_memory(const hx_problem *problem)
{
    const hx_choose_params params = hx_solver_defaults().choose;
    const hx_operator_kind *op_kind = hx_operator_kind_find(device.ops->name, "ebe");
    const hx_precond_kind *const large = hx_precond_find("multigrid"), *const small =
                                                                           hx_precond_find(
                                                                               "jacobi");
    const hx_layout layout = hx_layout_first(op_kind);
    hx_device_ops ops = *device.ops;
    hx_device tight = device;
    const size_t most = bytes_with(problem, op_kind, large);
    const size_t least = bytes_with(problem, op_kind, small);
    const struct {
        size_t free, held;
        const hx_precond_kind *kind;
    } wanted[] = {{most, 0, large},  {most - 1, 0, small},  {most - 9, 9, large},
                  {least, 0, small}, {least - 1, 0, large}, /* refused later, by the set-up */
                  {0, 0, large} /* 0: unknown */};
    CHECK(least < most);
    ops.memory = say_memory;
    tight.ops = &ops;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const hx_precond_kind *kind = large;
        free_bytes = wanted[i].free;
        CHECK_OK(hx_choose_smaller_precond(&params, &tight, problem, op_kind, layout,
                                           wanted[i].held, &kind));
        CHECK_MSG(kind == wanted[i].kind, "%d: %s", (int)i, kind->name);
    }
}

/* Storage of the deterministic, exact operator of the device that stores least; 0 if a candidate
 * depends on the mesh through `promise`. */
static int least_stored(void)
{
    int least = INT32_MAX;
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *s = hx_operator_kinds[i];
        if (strcmp(s->device, device.ops->name) != 0 || s->error > 0.0 || !s->deterministic)
            continue;
        if (s->promise) return 0;
        if (s->bytes_per_elem < least) least = s->bytes_per_elem;
    }
    return least;
}

static void check_operators(const hx_problem *problem)
{
    hx_choose_params params = hx_solver_defaults().choose;
    const hx_precond_kind *kind = hx_precond_find("jacobi");
    static lines l;
    hx_operator op = {0};
    hx_choice choice;
    params.say = keep_line;
    params.context = &l;
    CHECK_OK(hx_choose_operator(&choice, &params, &device, problem, kind, &op));
    CHECK(strcmp(choice.op_kind->device, device.ops->name) == 0 && choice.op_kind->error == 0.0);
    CHECK(strncmp(choice.note, "auto: ", 6) == 0);
    CHECK(!op.dev || (op.op_kind == choice.op_kind && op.layout == choice.layout));
    if (strcmp(choice.note, "auto: no other can be faster") != 0)
        CHECK(n_with(&l, " ms per product") >= 1);
    hx_operator_free(&op);

    memset(&l, 0, sizeof l); /* nothing is timed */
    params.deterministic = 1;
    CHECK_OK(hx_choose_operator(&choice, &params, &device, problem, kind, &op));
    CHECK(choice.op_kind->deterministic);
    if (least_stored() > 0) CHECK(choice.op_kind->bytes_per_elem == least_stored());
    CHECK(n_with(&l, " ms per product") == 0 && !op.dev);

    params.keep_layout = 1; /* for operators that support it */
    params.layout = HX_LAYOUT_ROWMAJOR;
    memset(&l, 0, sizeof l);
    CHECK_OK(hx_choose_operator(&choice, &params, &device, problem, kind, &op));
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        char line[64];
        if (!(hx_operator_kinds[i]->layouts & HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR))) continue;
        snprintf(line, sizeof line, "%s, interleaved:", hx_operator_kinds[i]->name);
        CHECK_MSG(n_with(&l, line) == 0, "%s", line);
    }

    const hx_operator_kind *const none[] = {
        NULL}; /* operators of other devices are not used either */
    params.op_kinds = none;
    CHECK_FAILS(hx_choose_operator(&choice, &params, &device, problem, kind, &op), HX_EINPUT,
                "meets all requirements");
}

/* Compliance with the chosen or the named solver. */
static double compliance_of(const hx_problem *problem, const hx_solver_params *params)
{
    hx_analysis analysis;
    double compliance = NAN;
    CHECK_OK(hx_analysis_open(&analysis, &device, problem, params));
    CHECK_OK(hx_analysis_solve_density(&analysis, NULL, 3.0));
    CHECK(analysis.record.reason == HX_PCG_CONVERGED && analysis.record.pcg_iterations > 0);
    CHECK_OK(hx_analysis_compliance(&analysis, &compliance));
    hx_analysis_free(&analysis);
    return compliance;
}

/* y = K x of an operator kind with all moduli 1, with or without a plan of the problem. */
static void apply(const hx_problem *problem, const hx_operator_kind *op_kind, const double *x,
                  double *y)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    double *modulus = calloc((size_t)problem->mesh->n_elem, sizeof *modulus);
    hx_operator op;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) modulus[e] = 1.0;
    CHECK_OK(hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    double *d_x = fixture_put(&device, n, x), *d_y = fixture_put(&device, n, x);
    CHECK_OK(hx_operator_apply(&op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&op);
    free(modulus);
}

/* Lists made in advance give bitwise equal products, and are counted. */
static void check_planned_operator(hx_problem *problem, const hx_operator_kind *op_kind)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    double *const x = problem->mesh->xyz;
    double *y = calloc(n, sizeof *y), *planned = calloc(n, sizeof *planned);
    hx_operator_plan plan = {0};
    apply(problem, op_kind, x, y);
    hx_operator_plan_make(&plan, problem, op_kind);
    CHECK(plan.op_kind == op_kind && plan.lists);
    CHECK(plan.bytes > 0 && plan.bytes <= op_kind->bytes(problem->mesh, hx_layout_first(op_kind)));
    problem->operator_plan = &plan;
    CHECK(hx_operator_plan_of(problem, op_kind) == &plan && !hx_operator_plan_of(problem, NULL));
    apply(problem, op_kind, x, planned);
    CHECK(memcmp(y, planned, n * sizeof *y) == 0);
    hx_operator_plan_drop_lists(&plan);
    CHECK(hx_operator_plan_of(problem, op_kind) == &plan); /* its counts remain valid */
    apply(problem, op_kind, x, planned);
    CHECK(memcmp(y, planned, n * sizeof *y) == 0);
    problem->operator_plan = NULL;
    hx_operator_plan_free(&plan);
    free(y);
    free(planned);
}

static void check_plan(hx_problem *problem)
{
    const hx_precond_kind *const kind = hx_precond_find("multigrid");
    const hx_operator_kind *const otf = hx_operator_kind_find(device.ops->name, "otf");
    hx_solver_params params = hx_solver_defaults();
    hx_coarse_plan plan = {0};
    for (size_t i = 0; hx_operator_kinds[i]; i++)
        if (hx_operator_kinds[i]->plan &&
            strcmp(hx_operator_kinds[i]->device, device.ops->name) == 0)
            check_planned_operator(problem, hx_operator_kinds[i]);
    params.precond = kind;
    params.op_kind = otf; /* timings could choose another operator the next time */
    const double compliance = compliance_of(problem, &params);
    const size_t bytes = kind->bytes(problem, device.ops, otf);
    hx_coarse_plan_make(&plan, problem, kind, device.ops);
    CHECK(plan.draft && plan.n_cell > 0.0);
    CHECK(plan.aspect == hx_coarse_aspect(problem->mesh, &hx_mg_defaults));
    problem->coarse_plan = &plan;
    CHECK(hx_coarse_plan_aspect(problem) == plan.aspect);
    CHECK(kind->bytes(problem, device.ops, otf) == bytes);
    CHECK(compliance_of(problem, &params) == compliance);
    CHECK(!plan.draft && plan.n_cell > 0.0); /* the draft has been taken */
    CHECK(compliance_of(problem, &params) == compliance);
    problem->coarse_plan = NULL;
    hx_coarse_plan_free(&plan);
}

/* The choice predicted without a device is the actual choice; if there is no prediction, products
 * were timed. (The operator is left set up only if the fastest is the one that was timed last.) */
static void check_foreseen(const hx_problem *problem)
{
    hx_choose_params params = hx_solver_defaults().choose;
    const hx_precond_kind *kind = hx_precond_find("jacobi");
    hx_operator op = {0};
    hx_choice choice;
    for (params.deterministic = 0; params.deterministic < 2; params.deterministic++) {
        const hx_operator_kind *op_kind = hx_choose_foresee(&params, device.ops, problem);
        CHECK_OK(hx_choose_operator(&choice, &params, &device, problem, kind, &op));
        CHECK(op_kind ? op_kind == choice.op_kind : strstr(choice.note, "ms per product") != NULL);
        CHECK(op_kind || !params.deterministic);
        hx_operator_free(&op);
    }
}

static void check_solver(const hx_problem *problem)
{
    hx_solver_params params = hx_solver_defaults();
    hx_solver solver;
    params.tolerance = 1e-11;
    const double chosen = compliance_of(problem, &params);
    params.op_kind = hx_operator_kind_find(device.ops->name, "nbn");
    params.precond = hx_precond_find("block-jacobi");
    CHECK_REL(compliance_of(problem, &params), chosen, 1e-10);

    CHECK_OK(hx_solver_create(&solver, &device, problem, &params));
    CHECK(solver.op.op_kind == params.op_kind && solver.pc.kind == params.precond);
    CHECK(solver.note[0] == '\0' && solver.pcg.params.max_iterations == 10000);
    hx_solver_free(&solver);
    params.choose.preconds = &(const hx_precond_kind *){NULL};
    params.precond = NULL;
    CHECK_FAILS(hx_solver_create(&solver, &device, problem, &params), HX_EINPUT,
                "no preconditioner");
    hx_solver_free(&solver);
}

/* hx_solver_make makes the plans of a problem, and the operator and preconditioner use them. */
static void check_solver_plans(hx_problem *problem)
{
    hx_solver_params params = hx_solver_defaults();
    hx_operator_plan lists = {0};
    hx_coarse_plan coarse = {0};
    hx_solver solver = {0};
    params.op_kind = hx_operator_kind_find(device.ops->name, "nbn");
    params.precond = hx_precond_find("multigrid");
    problem->operator_plan = &lists;
    problem->coarse_plan = &coarse;
    CHECK_OK(hx_solver_choose(&solver, &device, problem, &params));
    CHECK(!solver.op.dev && !lists.mesh && !coarse.mesh); /* no memory before it is made */
    CHECK_OK(hx_solver_make(&solver, &device, problem, &params));
    CHECK(coarse.n_cell > 0.0 && !coarse.draft);
    CHECK(lists.mesh == problem->mesh && !lists.lists);
    CHECK((lists.op_kind == params.op_kind) == (params.op_kind->plan != NULL));
    const hx_memory_item *const held = hx_account_find(&solver.account, "preconditioner");
    CHECK(held &&
          held->bytes == hx_precond_bytes(params.precond, problem, device.ops, params.op_kind));
    CHECK(hx_account_find(&solver.account, "pcg") != NULL);
    CHECK(hx_account_sum(&solver.account) > solver.op.device_bytes + held->bytes);
    hx_solver_free_parts(&solver);
    CHECK(!solver.op.dev && solver.op_kind == params.op_kind);
    CHECK_OK(hx_solver_make(&solver, &device, problem, &params)); /* again */
    hx_solver_free(&solver);
    problem->operator_plan = NULL;
    problem->coarse_plan = NULL;
    hx_operator_plan_free(&lists);
    hx_coarse_plan_free(&coarse);
}

static int no_setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                    hx_layout layout)
{
    (void)state, (void)dev, (void)model, (void)mesh, (void)layout;
    return HX_RAISE(HX_ENOMEM, "nothing is left");
}

static hx_promise sure(const hx_mesh *mesh)
{
    (void)mesh;
    return HX_PROMISE_SURE;
}

static int no_create(hx_precond *pc)
{
    (void)pc;
    return HX_RAISE(HX_ENOMEM, "nothing is left");
}

static void no_destroy(hx_precond *pc)
{
    (void)pc;
}

static size_t some_bytes(const hx_problem *problem, const hx_device_ops *ops,
                         const hx_operator_kind *op_kind)
{
    (void)problem, (void)ops, (void)op_kind;
    return 1000;
}

/* An allocation fails although the estimate fitted: what was chosen automatically is replaced; what
 * was named is not, but the message lists what would fit. */
static void check_giving_way(const hx_problem *problem)
{
    hx_operator_kind greedy = *hx_operator_kind_find(device.ops->name, "ebe");
    const hx_operator_kind *const otf = hx_operator_kind_find(device.ops->name, "otf");
    const hx_operator_kind *const op_kinds[] = {&greedy, otf, NULL}, *const alone[] = {&greedy,
                                                                                       NULL};
    hx_precond_kind large = *hx_precond_find("jacobi");
    const hx_precond_kind *const preconds[] = {&large, hx_precond_find("jacobi"), NULL};
    hx_solver_params params = hx_solver_defaults();
    hx_solver solver;
    greedy.name = "greedy";
    greedy.setup = no_setup;
    greedy.promise = sure;
    large.name = "large";
    large.create = no_create;
    large.destroy = no_destroy;
    large.bytes = some_bytes;
    large.chosen_from = 2;
    params.choose.op_kinds = op_kinds;
    params.choose.preconds = preconds;
    CHECK_OK(hx_solver_create(&solver, &device, problem, &params));
    CHECK(solver.op.op_kind == otf && solver.pc.kind == preconds[1]);
    CHECK(strstr(solver.note, "greedy") != NULL);
    CHECK(solver.notes.n == 2 &&
          strstr(solver.notes.note[0].text, "operator greedy needs more memory than device"));
    CHECK(strstr(solver.notes.note[0].text, "(nothing is left): otf is used") != NULL);
    CHECK(strstr(solver.notes.note[1].text, "large needs more memory") != NULL);
    /* what is left was chosen, too, but nothing needs less */
    CHECK(hx_solver_take_less(&solver, &device, problem, &params, HX_ENOMEM) == 0);
    CHECK(!solver.op.dev && solver.op_kind == otf);
    hx_solver_free(&solver);

    hx_problem local = *problem; /* the other processes would keep their choice */
    local.whole = problem;
    CHECK_FAILS(hx_solver_create(&solver, &device, &local, &params), HX_ENOMEM, "nothing is left");
    CHECK(strstr(hx_error_message(), "fit") == NULL);

    params.precond = &large; /* named by the user */
    CHECK_FAILS(hx_solver_create(&solver, &device, problem, &params), HX_ENOMEM,
                "nothing is left; device");
    CHECK(strstr(hx_error_message(), "otf (") != NULL);
    params.precond = preconds[1];
    params.op_kind = &greedy;
    CHECK_FAILS(hx_solver_create(&solver, &device, problem, &params), HX_ENOMEM, "fit: ");
    CHECK(strstr(hx_error_message(), "otf (") != NULL);

    params.op_kind = NULL; /* no operator stores less */
    params.choose.op_kinds = alone;
    CHECK_FAILS(hx_solver_create(&solver, &device, problem, &params), HX_ENOMEM, "nothing is left");
}

int main(int argc, char **argv)
{
    int quick;
    hx_mesh mesh;
    hx_problem problem;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    CHECK_OK(make(&mesh, &problem, 10));
    check_preconds();
    check_sizes();
    check_memory(&problem);
    check_operators(&problem);
    check_plan(&problem);
    check_foreseen(&problem);
    check_solver(&problem);
    check_solver_plans(&problem);
    check_giving_way(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
