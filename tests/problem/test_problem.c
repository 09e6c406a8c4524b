/* The mechanical problem: errors and their messages, nodal forces of every kind of load, volumes
 * and densities. */
#include "tests/lib/fixture.h"

static const unsigned fix_all = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;

/* A valid problem, which the tests modify. */
static hx_mesh mesh;
static hx_support_spec support[4];
static hx_load_spec load[4];
static hx_passive_spec passive[4];
static double weight[4];
static hx_problem_params params;

static void reset(void)
{
    const hx_problem_params solid = fixture_problem();
    params = solid;
    params.origin = "beam.cfg";
    for (int i = 0; i < 4; i++) {
        support[i] = (hx_support_spec){"left", "beam.cfg:3: supports[0]", fix_all, {0.0, 0.0, 0.0}};
        load[i] = (hx_load_spec){
            "right", "beam.cfg:5: loads[0]", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
        passive[i] = (hx_passive_spec){"core", "beam.cfg:7: passive[0]", 1.0};
        weight[i] = 1.0;
    }
    params.support = support;
    params.load = load;
    params.passive = passive;
    params.weight = weight;
    params.n_support = params.n_load = 1;
}

/* Expects an error whose message starts with the origin and contains both texts, and that nothing
 * remains allocated. */
static void expect(int line, const char *origin, const char *text, const char *more)
{
    hx_problem problem;
    memset(&problem, 0x5a, sizeof problem);
    const int rc = hx_problem_create(&problem, &mesh, &params);
    const char *message = hx_error_message();
    CHECK_MSG(rc == HX_EINPUT, "line %d: returned %d", line, rc);
    CHECK_MSG(strncmp(message, origin, strlen(origin)) == 0, "line %d: origin: %s", line, message);
    CHECK_MSG(strstr(message, text) && strstr(message, more), "line %d: text: %s", line, message);
    CHECK(!problem.cases.force && !problem.supports.fixed && !problem.volume && !problem.mesh);
    if (rc == 0) hx_problem_free(&problem);
    reset();
}

#define EXPECT(origin, text, more) expect(__LINE__, origin, text, more)

static void check_numbers(void)
{
    static const double bad_young[] = {0.0, -1.0, NAN, INFINITY};
    static const double bad_nu[] = {0.5, -1.0, 0.7, NAN};
    for (int i = 0; i < 4; i++) {
        params.young = bad_young[i];
        EXPECT("beam.cfg: material.E = ", "above 0", "out of range");
        params.poisson = bad_nu[i];
        EXPECT("beam.cfg: material.nu = ", "between -0.999 and 0.499", "out of range");
    }
}

/* Ranges of the design parameters. */
static void check_design(void)
{
    static const double bad_penalty[] = {0.5, -3.0, 100.0, NAN};
    static const double bad_rho_min[] = {0.0, 1.0, -0.1, NAN};
    static const double bad_volume[] = {1e-7, 1.01, -0.5, NAN};
    CHECK_OK(hx_design_check(&hx_design_defaults, "beam.cfg"));
    for (int i = 0; i < 4; i++) {
        hx_design_params bad = hx_design_defaults;
        bad.penalty = fixture_constant(bad_penalty[i]);
        CHECK_FAILS(hx_design_check(&bad, "beam.cfg"), HX_EINPUT,
                    "is out of range; it must be between 1 and 20");
        bad = hx_design_defaults;
        bad.rho_min = bad_rho_min[i];
        CHECK_FAILS(hx_design_check(&bad, "beam.cfg"), HX_EINPUT,
                    "is out of range; it must be between 1e-6 and 0.999");
        bad = hx_design_defaults;
        bad.volume_fraction = bad_volume[i];
        CHECK_FAILS(hx_design_check(&bad, "beam.cfg"), HX_EINPUT,
                    "beam.cfg: optimization.volume_fraction = ");
    }
}

static void check_sets(void)
{
    support[0].set = "lefy";
    EXPECT("beam.cfg:3: supports[0]: ", "no set 'lefy', did you mean 'left'?", "right-lower-edge");
    load[0].set = "rihgt";
    EXPECT("beam.cfg:5: loads[0]: ", "no set 'rihgt', did you mean 'right'?", "valid: left, right");
    params.n_passive = 1;
    passive[0].set = "cores";
    EXPECT("beam.cfg:7: passive[0]: ", "no set 'cores', did you mean 'core'?", "bottom");
    support[0].set = "zzzzzzzzzzzz";
    EXPECT("beam.cfg:3: supports[0]: ", "no set 'zzzzzzzzzzzz'; valid: left", "");
    support[0].set = "";
    EXPECT("beam.cfg:3: supports[0]: ", "no set ''", "");
    support[0].set = "empty";
    EXPECT("beam.cfg:3: supports[0]: ", "'empty' contains no node to support", "");
    load[0].set = "empty";
    EXPECT("beam.cfg:5: loads[0]: ", "'empty' contains no node for the load to act on", "");
    params.n_passive = 1;
    passive[0].set = "left";
    EXPECT("beam.cfg:7: passive[0]: ", "'left' contains no element to make passive", "");

    load[0].set = "right-lower-edge";
    load[0].kind = HX_LOAD_TRACTION;
    EXPECT("beam.cfg:5: loads[0]: ",
           "spans no boundary face (5 nodes), but a traction needs a surface",
           "use total_force or node_force");
    load[0].set = "inner-node";
    load[0].kind = HX_LOAD_PRESSURE;
    EXPECT(
        "beam.cfg:5: loads[0]: ", "spans no boundary face (1 node), but a pressure needs a surface",
        "name a set of faces");

    hx_mesh bare = mesh;
    hx_problem problem;
    bare.n_set = 0;
    CHECK_FAILS(hx_problem_create(&problem, &bare, &params), HX_EINPUT,
                "the mesh has no set 'left', there are none");
}

static void check_entries(void)
{
    params.n_support = 2;
    support[1].set = "left-bottom";
    support[1].fix = HX_FIX_Y;
    support[1].value[1] = 0.25;
    support[1].origin = "beam.cfg:4: supports[1]";
    EXPECT("beam.cfg:4: supports[1]: node ", "an earlier support prescribes y = 0",
           "this one 0.25; supports with common nodes must agree");

    params.n_passive = 1;
    passive[0].density = 1.2;
    EXPECT("beam.cfg:7: passive[0]: density = 1.2 ", "between rho_min = 0.001 (void)", "1 (solid)");
    params.n_passive = 1;
    passive[0].density = 0.0;
    EXPECT("beam.cfg:7: passive[0]: density = 0 ", "between rho_min = 0.001 (void)", "1 (solid)");
    params.n_passive = 1;
    passive[0].density = NAN;
    EXPECT("beam.cfg:7: passive[0]: density = ", "between rho_min", "");
    params.n_passive = 1;
    passive[0].set = "everything";
    EXPECT("beam.cfg: ", "every element is passive, so nothing is left to design", "");
    load[0].load_case = 0;
    EXPECT("beam.cfg:5: loads[0]: ", "case = 0 must be at least 1", "");
    load[0].load_case = -3;
    EXPECT("beam.cfg:5: loads[0]: ", "case = -3 must be at least 1", "");
    load[0].load_case = 1001;
    EXPECT("beam.cfg:5: loads[0]: ", "case = 1001 must be at most 1000", "");
    params.n_weight = 1;
    load[0].load_case = 2;
    EXPECT("beam.cfg:5: loads[0]: ", "case = 2, but weights has 1 entry", "");
    params.n_weight = 2;
    load[0].load_case = 3;
    EXPECT("beam.cfg:5: loads[0]: ", "case = 3, but weights has 2 entries", "");
    params.n_weight = 2;
    params.weight_origin = "beam.cfg:9: weights";
    EXPECT("beam.cfg:9: weights: ", "2 entries, but there is 1 load case", "");
    static const double bad_weight[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        params.n_weight = 1;
        weight[0] = bad_weight[i];
        EXPECT("beam.cfg: weights[0] = ", "must be above 0", "");
    }

    params.n_load = 2;
    load[1].load_case = 3;
    EXPECT("beam.cfg: load case 2 ", "number the cases without a gap", "has no load");
    params.n_weight = 2;
    EXPECT("weights: ", "2 entries, but there is 1 load case", "");
    load[0].value[2] = 0.0;
    EXPECT("beam.cfg: load case 1 ", "only loads of zero force", "");
    params.n_load = 0;
    EXPECT("beam.cfg: load case 1 ", "has no load: add an entry to loads",
           "a support with a value");
    load[0].set = "left";
    EXPECT("beam.cfg: load case 1 ", "acts only on fixed degrees of freedom", "move the load");
    params.n_load = 2; /* equal and opposite */
    load[1].value[2] = 1.0;
    EXPECT("beam.cfg: load case 1 ", "has loads that cancel each other", "no force acts");
}

static int is_accepted(void)
{
    hx_problem problem;
    memset(&problem, 0x5a, sizeof problem);
    const int rc = hx_problem_create(&problem, &mesh, &params);
    if (rc == HX_OK) hx_problem_free(&problem);
    return rc == HX_OK;
}

/* Support i moves its set by these values; there is no load. */
static void move(int i, const char *set, double x, double y, double z)
{
    support[i] = (hx_support_spec){set, "beam.cfg:3: supports[0]", fix_all, {x, y, z}};
    params.n_load = 0;
    if ((size_t)i >= params.n_support) params.n_support = (size_t)i + 1;
}

/* Prescribed values that form one rigid motion cause no strain, so the solution would be rounding
 * error. */
static void check_rigid_values(void)
{
    move(0, "left", 0.3, -0.2, 0.1);
    EXPECT("beam.cfg: load case 1 ", "deforms nothing", "as a rigid body");
    move(0, "left", 0.3, -0.2, 0.1);
    move(1, "right", 0.3, -0.2, 0.1);
    EXPECT("beam.cfg: load case 1 ", "deforms nothing", "as a rigid body");
    move(0, "left", 0.3, -0.2, 0.1);
    move(1, "right", 0.3, -0.2, 0.1 + 1e-9);
    CHECK_MSG(is_accepted(), "a strain of 1e-10 is one: %s", hx_error_message());
    move(0, "left", 0.3, -0.2, 0.1);
    params.n_load = 1;
    CHECK_MSG(is_accepted(), "a load deforms the part: %s", hx_error_message());
    reset();
}

/* A rotation and a translation of three corners of a box; then one corner is stretched by 1e-9. */
static void check_rotation_values(void)
{
    static const double w[3] = {0.01, -0.02, 0.03}, t[3] = {5.0, 0.0, -1.0};
    static const int at[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 2, 2}};
    static const char *const name[] = {"a", "b", "c"};
    const fixture_box box = {{4, 2, 2}, {4.0, 2.0, 2.0}, 0.0, 0};
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int k = 0; k < 3; k++) {
        const int32_t node = fixture_node(&box, at[k][0], at[k][1], at[k][2]);
        CHECK_OK(hx_mesh_add_node_set(&mesh, name[k], 1, &node));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    for (int stretched = 0; stretched < 2; stretched++) {
        reset();
        for (int k = 0; k < 3; k++) {
            const double x[3] = {at[k][0], at[k][1], at[k][2]};
            move(k, name[k], t[0] + w[1] * x[2] - w[2] * x[1], t[1] + w[2] * x[0] - w[0] * x[2],
                 t[2] + w[0] * x[1] - w[1] * x[0]);
        }
        support[1].value[0] += 1e-9 * stretched;
        if (stretched)
            CHECK_MSG(is_accepted(), "stretched: %s", hx_error_message());
        else
            EXPECT("beam.cfg: load case 1 ", "deforms nothing", "as a rigid body");
    }
    reset();
    hx_mesh_free(&mesh);
}

/* Reads a point of the axis and its direction from the last message. */
static int read_axis(double point[3])
{
    const char *text = strstr(hx_error_message(), "through (");
    return text && sscanf(text, "through (%lf, %lf, %lf)", &point[0], &point[1], &point[2]) == 3;
}

/* Supports that leave exactly one of the six rigid motions of the box [0, 4] x [0, 2] x [0, 2] +
 * shift, and supports that leave more. */
static void check_rigid_motions(const double shift[3])
{
    static const char *const line[3] = {"line-x", "line-y", "line-z"};
    char text[96];
    for (int i = 0; i < 3; i++) {
        support[0].set = "all";
        support[0].fix = fix_all & ~(1u << i);
        snprintf(text, sizeof text, "leave the model a rigid motion, a translation along %c: fix",
                 "xyz"[i]);
        load[0].value[0] = load[0].value[1] = 1.0;
        EXPECT("beam.cfg: ", text, "more");

        /* no motion along the axis; a line of nodes on it is fixed */
        params.n_support = 2;
        support[0].set = "all";
        support[0].fix = 1u << i;
        support[1].set = line[i];
        load[0].value[0] = load[0].value[1] = 1.0;
        snprintf(text, sizeof text, "a rotation about an axis along %c through (", "xyz"[i]);
        EXPECT("beam.cfg: the supports leave the model ", text, "fix more");
        double point[3] = {NAN, NAN, NAN};
        CHECK(read_axis(point));
        for (int d = 0; d < 3; d++) {
            const double middle = d != i ? 0.0 : d == 0 ? 2.0 : 1.0; /* nearest to the centre */
            const double exact = shift[d] + middle;
            CHECK_MSG(fabs(point[d] - exact) <= 1e-9 + 1e-4 * fabs(exact), "%s",
                      hx_error_message());
        }
    }
    params.n_support = 2; /* a hinge across the body */
    support[0].set = "origin";
    support[1].set = "far-corner";
    EXPECT("beam.cfg: ", "a rotation about an axis along (", "0.816, ");
    CHECK(strstr(hx_error_message(), "0.408, ") && strstr(hx_error_message(), "0.408)"));
    support[0].set = "origin";
    EXPECT("beam.cfg: ", "a rotation about", "");
    support[0].fix = HX_FIX_X;
    EXPECT("beam.cfg: ", "leave the model a rigid motion", "");
    params.n_support = 0;
    EXPECT("beam.cfg: the model has no support", "at least six degrees of freedom", "");
    support[0].fix = 0;
    EXPECT("beam.cfg: the model has no support", "", "");

    /* six fixed degrees of freedom suffice, five do not */
    hx_problem problem;
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    hx_problem_free(&problem);
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE - 1;
    EXPECT("beam.cfg: ", "a rotation about an axis along y", "");
    for (int k = 0; k < 2; k++) {
        memcpy(support, fixture_determinate, sizeof fixture_determinate);
        params.n_support = FIXTURE_N_DETERMINATE;
        support[1].fix &= k == 0 ? ~(unsigned)HX_FIX_X : ~(unsigned)HX_FIX_Z;
        EXPECT("beam.cfg: ", "a rotation about an axis along ", k == 0 ? "z through" : "x through");
    }
}

/* 4 x 2 x 2 elements on [0, 4] x [0, 2] x [0, 2] + shift, twice: bodies 1 and 2 are disjoint. */
static int make_bodies(hx_mesh *out, const double shift[3], int n_body)
{
    const fixture_box box = {{4, 2, 2}, {4.0, 2.0, 2.0}, 0.0, 0};
    hx_mesh one;
    double *xyz;
    int32_t *conn, all[90], edge[3];
    HX_TRY(fixture_box_create(&one, &box));
    xyz = calloc((size_t)(3 * one.n_node * n_body), sizeof *xyz);
    conn = calloc((size_t)(8 * one.n_elem * n_body), sizeof *conn);
    if (!xyz || !conn) return HX_RAISE(HX_ENOMEM, "bodies");
    const int32_t n = (int32_t)one.n_node;
    for (int b = 0; b < n_body; b++) {
        for (int32_t i = 0; i < 3 * n; i++)
            xyz[3 * n * b + i] = one.xyz[i] + shift[i % 3] + (i % 3 == 0 ? 10.0 * b : 0.0);
        for (int64_t i = 0; i < 8 * one.n_elem; i++)
            conn[8 * one.n_elem * b + i] = one.conn[i] + n * b;
    }
    HX_TRY(hx_mesh_create(out, "bodies", n * n_body, xyz, one.n_elem * n_body, conn));
    for (size_t i = 0; i < one.n_set; i++) /* of the first body */
        HX_TRY(hx_mesh_add_node_set(out, one.set[i].name, one.set[i].n_node, one.set[i].node));
    for (int32_t i = 0; i < n * n_body; i++) all[i] = i;
    HX_TRY(hx_mesh_add_node_set(out, "all", n * n_body, all));
    for (int32_t i = 0; i < 5; i++) HX_TRY(hx_mesh_add_node_set(out, "line-x", 1, &all[i]));
    for (int i = 0; i < 3; i++) edge[i] = fixture_node(&box, 0, i, 0);
    HX_TRY(hx_mesh_add_node_set(out, "line-y", 3, edge));
    for (int i = 0; i < 3; i++) edge[i] = fixture_node(&box, 0, 0, i);
    HX_TRY(hx_mesh_add_node_set(out, "line-z", 3, edge));
    edge[0] = fixture_node(&box, 4, 2, 2);
    HX_TRY(hx_mesh_add_node_set(out, "far-corner", 1, edge));
    edge[0] += n;
    if (n_body > 1) HX_TRY(hx_mesh_add_node_set(out, "second-corner", 1, edge));
    hx_mesh_free(&one);
    return fixture_finish(out, FIXTURE_SHUFFLED);
}

static void check_supports(void)
{
    static const double shift[2][3] = {{0.0, 0.0, 0.0}, {3e3, -2e3, 1e4}};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(make_bodies(&mesh, shift[i], 1));
        check_rigid_motions(shift[i]);
        hx_mesh_free(&mesh);
    }
    CHECK_OK(make_bodies(&mesh, shift[0], 2));
    support[0].set = "left"; /* of the first body only */
    EXPECT("beam.cfg: the body that holds node ", "(one of 2 bodies) has no support",
           "six degrees");
    params.n_support = 2;
    support[1].set = "second-corner";
    EXPECT("beam.cfg: the supports leave the body that holds node ", "(one of 2 bodies)",
           "a rotation about");
    /* the node in the message is in the second body, by its original number */
    long long node = 0;
    params.n_support = 1;
    CHECK(hx_problem_create(&(hx_problem){0}, &mesh, &params) == HX_EINPUT);
    CHECK(sscanf(hx_error_message(), "beam.cfg: the body that holds node %lld", &node) == 1);
    CHECK_MSG(node >= 45 && node < 90, "%s", hx_error_message());
    hx_mesh_free(&mesh);
    reset();
}

/* The box for the errors: 4 x 4 x 2 elements. */
static int make_mesh(void)
{
    static const int32_t core[8] = {0, 1, 2, 3, 16, 17, 18, 19};
    const fixture_box box = {{4, 4, 2}, {4.0, 4.0, 2.0}, 0.0, 0};
    const int32_t inner = fixture_node(&box, 2, 2, 1), edge = fixture_node(&box, 0, 1, 0);
    int32_t all[32];
    for (int32_t e = 0; e < 32; e++) all[e] = e;
    HX_TRY(fixture_box_create(&mesh, &box));
    HX_TRY(hx_mesh_add_node_set(&mesh, "empty", 0, NULL));
    HX_TRY(hx_mesh_add_node_set(&mesh, "inner-node", 1, &inner));
    HX_TRY(hx_mesh_add_node_set(&mesh, "left-bottom", 1, &edge));
    HX_TRY(hx_mesh_add_elem_set(&mesh, "core", 8, core));
    HX_TRY(hx_mesh_add_elem_set(&mesh, "part", 4, core));
    HX_TRY(hx_mesh_add_elem_set(&mesh, "everything", 32, all));
    return fixture_finish(&mesh, FIXTURE_SHUFFLED);
}

/* Creates the problem as it is, expecting success. */
static void create(hx_problem *problem)
{
    CHECK_OK(hx_problem_create(problem, &mesh, &params));
    reset();
}

/* Volumes, initial density, weights, supports with common nodes, the SIMP law. */
static void check_contents(void)
{
    hx_problem problem;
    double total = 0.0, mass = 0.0, rho[32], modulus[32];
    hx_design_params design = hx_design_defaults;
    design.volume_fraction = 0.5;
    params.n_passive = 2; /* where sets overlap, the later entry applies */
    passive[0].density = 0.75;
    passive[1].set = "part";
    passive[1].density = 0.25;
    params.n_support = 3;
    support[0].fix = HX_FIX_X;
    support[1].fix = HX_FIX_Y | HX_FIX_X;
    support[2].fix = HX_FIX_Z;
    support[2].value[2] = -0.5;
    params.n_load = 3;
    load[0].load_case = 2;
    params.n_weight = 2;
    weight[1] = 4.0;
    load[2].set = "top";
    load[2].load_case = 2;
    load[2].value[0] = 0.5;
    params.young = 10.0;
    create(&problem);
    CHECK(problem.cases.n == 2 && problem.cases.weight[0] == 1.0 && problem.cases.weight[1] == 4.0);
    const hx_set *left = hx_mesh_find_set(&mesh, "left");
    int64_t n_fixed = 0, n_part = 0;
    for (int64_t i = 0; i < mesh.n_node; i++) n_fixed += problem.supports.fixed[i] != 0;
    CHECK(n_fixed == left->n_node);
    for (int64_t i = 0; i < left->n_node; i++) {
        const double *value = problem.supports.prescribed + 3 * (int64_t)left->node[i];
        CHECK(problem.supports.fixed[left->node[i]] == fix_all);
        CHECK(value[0] == 0.0 && value[1] == 0.0 && value[2] == -0.5);
    }
    const double uniform = hx_design_initial_density(&design, &problem);
    for (int e = 0; e < 32; e++) {
        const int is_passive = !isnan(problem.passive.density[e]);
        const double density = is_passive ? (double)problem.passive.density[e] : uniform;
        total += problem.volume[e];
        mass += problem.volume[e] * density;
        n_part += is_passive && problem.passive.density[e] == 0.25f;
        rho[e] = 0.01 + 0.03 * e;
    }
    CHECK(problem.passive.n == 8 && n_part == 4);
    CHECK_REL(total, 32.0, 1e-13);
    CHECK_REL(mass, 0.5 * 32.0, 1e-13);
    CHECK_REL(uniform, (16.0 - 0.75 * 4.0 - 0.25 * 4.0) / 24.0, 1e-13);
    CHECK_REL(problem.design_volume, 24.0, 1e-13);
    CHECK_REL(problem.passive.mass, 4.0, 1e-13);
    hx_problem_modulus(&problem, 2.5, rho, modulus);
    for (int e = 0; e < 32; e++) CHECK_REL(modulus[e], 10.0 * pow(rho[e], 2.5), 1e-14);
    double sum[3];
    hx_problem_total_force(&problem, 0, sum);
    CHECK(sum[0] == 0.0 && sum[1] == 0.0 && fabs(sum[2] + 15.0) <= 1e-12);
    hx_problem_total_force(&problem, 1, sum);
    CHECK_ABS(sum[0], 0.5 * 25, 1e-12);
    CHECK_ABS(sum[2], -15.0 - 25.0, 1e-12);
    CHECK(hx_problem_bytes(&problem) >= 75u * 3 * 8 * 3);
    hx_problem_free(&problem);
    hx_problem_free(&problem);

    create(&problem);
    CHECK(problem.supports.prescribed == NULL && problem.passive.density == NULL);
    CHECK_REL(hx_design_initial_density(&design, &problem), 0.5, 1e-13);
    hx_problem_modulus(&problem, 3.0, rho, modulus);
    for (int e = 0; e < 32; e++) CHECK_REL(modulus[e], rho[e] * rho[e] * rho[e], 1e-15);
    hx_problem_free(&problem);

    params.n_load = 0; /* a prescribed displacement suffices as a load */
    params.n_support = 2;
    support[1].set = "right";
    support[1].fix = HX_FIX_Z;
    support[1].value[2] = 0.1;
    create(&problem);
    CHECK(problem.cases.n == 1 && problem.supports.prescribed != NULL);
    hx_problem_free(&problem);

    params.n_passive = 1; /* void may be more than half, if the free part could not hold the rest */
    passive[0].density = 0.001;
    create(&problem);
    design.volume_fraction = 0.9;
    CHECK(hx_design_initial_density(&design, &problem) == 1.0);
    hx_problem_free(&problem);
}

int main(void)
{
    fixture_set_threads(1);
    reset();
    CHECK_OK(make_mesh());
    check_numbers();
    check_design();
    check_sets();
    check_entries();
    check_contents();
    check_rigid_values();
    hx_mesh_free(&mesh);
    check_rotation_values();
    check_supports();
    TEST_END();
}
