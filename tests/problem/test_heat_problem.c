/* The heat problem: resultants of sources, totals and fluxes, the convection matrix, the reference
 * temperature, and errors. */
#include "core/mesh/load_faces.h"
#include "tests/lib/fixture.h"

static hx_mesh mesh;
static hx_support_spec support[2];
static hx_convection_spec film[2];
static hx_load_spec load;
static hx_problem_params params;

static void reset(void)
{
    params = fixture_problem();
    params.origin = "sink.cfg";
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 4.0;
    support[0] = (hx_support_spec){"left", "sink.cfg:3: supports[0]", HX_FIX_X, {20.0, 0.0, 0.0}};
    support[1] = (hx_support_spec){"right", "sink.cfg:4: supports[1]", HX_FIX_X, {20.0, 0.0, 0.0}};
    film[0] = (hx_convection_spec){"top", "sink.cfg:5: convection[0]", 3.0, 20.0};
    film[1] = (hx_convection_spec){"right", "sink.cfg:6: convection[1]", 2.0, 20.0};
    load = (hx_load_spec){NULL, "sink.cfg:7: loads[0]", HX_LOAD_SOURCE, {5.0, 0.0, 0.0}, 1};
    params.support = support;
    params.convection = film;
    params.load = &load;
    params.n_support = params.n_load = 1;
}

static double area_of(const char *set)
{
    int64_t n = 0, *face = NULL;
    CHECK_OK(hx_load_faces(&mesh, hx_mesh_find_set(&mesh, set), &n, &face));
    const double area = hx_faces_area(&mesh, n, face);
    free(face);
    return area;
}

/* Total heat of a load. */
static double total_of(hx_load_kind kind, const char *set, double value)
{
    hx_problem problem;
    double total[3] = {NAN, NAN, NAN};
    reset();
    params.n_convection = 2;
    load.kind = kind;
    load.set = set;
    load.value[0] = value;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    hx_problem_total_force(&problem, 0, total);
    CHECK(total[1] == 0.0 && total[2] == 0.0);
    hx_problem_free(&problem);
    return total[0];
}

static void check_loads(void)
{
    const hx_set *core = hx_mesh_find_set(&mesh, "core");
    hx_problem problem;
    double volume = 0.0;
    reset();
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    for (int64_t k = 0; k < core->n_elem; k++) volume += problem.volume[core->elem[k]];
    CHECK(problem.components == 1 && problem.least == 4.0e-3);
    hx_problem_free(&problem);
    CHECK_REL(total_of(HX_LOAD_SOURCE, NULL, 5.0), 5.0 * mesh.total_volume, 1e-12);
    CHECK_REL(total_of(HX_LOAD_SOURCE, "core", 5.0), 5.0 * volume, 1e-12);
    CHECK_REL(total_of(HX_LOAD_HEAT, "core", 7.0), 7.0, 1e-12);     /* by volume */
    CHECK_REL(total_of(HX_LOAD_HEAT, "right", 7.0), 7.0, 1e-12);    /* by area */
    CHECK_REL(total_of(HX_LOAD_HEAT, "corner-x", 7.0), 7.0, 1e-12); /* at a node */
    CHECK_REL(total_of(HX_LOAD_NODE_HEAT, "right", 7.0),
              7.0 * (double)hx_mesh_find_set(&mesh, "right")->n_node, 1e-12);
    CHECK_REL(total_of(HX_LOAD_FLUX, "right", 6.0), 6.0 * area_of("right"), 1e-12);
}

/* Rows of F sum to int h N dA, and all rows to h A; with one ambient temperature there is no force.
 * Ambients are relative to the lowest temperature, in any order. */
static void check_films(void)
{
    hx_problem problem;
    double sum = 0.0, source = 0.0;
    const double expected = 3.0 * area_of("top") + 2.0 * area_of("right");
    for (int mixed = 0; mixed < 2; mixed++) {
        reset();
        params.n_convection = 2;
        if (mixed) film[1].ambient = 50.0;
        CHECK_OK(hx_problem_create(&problem, &mesh, &params));
        CHECK(problem.is_mixed == mixed && problem.reference == 20.0);
        CHECK(problem.supports.prescribed == NULL);
        sum = source = 0.0;
        for (int64_t k = 0; k < problem.films.n; k++) {
            CHECK(k == 0 || problem.films.node[k] > problem.films.node[k - 1]);
            source += problem.films.source[k];
            for (int64_t j = problem.films.ptr[k]; j < problem.films.ptr[k + 1]; j++) {
                CHECK(j == problem.films.ptr[k] || problem.films.col[j] > problem.films.col[j - 1]);
                CHECK(problem.films.value[j] > 0.0);
                sum += problem.films.value[j];
            }
        }
        CHECK_REL(sum, expected, 1e-12);
        CHECK_ABS(source, mixed ? 60.0 * area_of("right") : 0.0, 1e-12 * expected * 50.0);
        CHECK_ABS(problem.films.offset, mixed ? 1800.0 * area_of("right") : 0.0,
                  1e-12 * expected * 900.0);
        hx_problem_free(&problem);
    }
}

static void expect(const char *text)
{
    hx_problem problem;
    CHECK_FAILS(hx_problem_create(&problem, &mesh, &params), HX_EINPUT, text);
    reset();
}

static void check_refused(void)
{
    reset();
    params.n_support = 0;
    expect("sink.cfg: the model has no prescribed temperature and no convection");
    params.conductivity = -1.0;
    expect("sink.cfg: material.conductivity = -1 is out of range; it must be above 0");
    params.conductivity = NAN;
    expect("material.conductivity = ");
    params.conductivity_min = 5.0;
    expect("must be at least 0 and below material.conductivity = 4");
    params.conductivity_min = 4.0;
    expect("material.conductivity_min = 4 is out of range");
    params.n_convection = 1;
    film[0].coefficient = 0.0;
    expect("sink.cfg:5: convection[0]: coefficient = 0 must be above 0 and finite");
    params.n_convection = 1;
    film[0].ambient = INFINITY;
    expect("sink.cfg:5: convection[0]: ambient = inf is not a finite temperature");
    params.n_convection = 1;
    film[0].set = "corner-x";
    expect("convection needs a surface");
    params.n_convection = 1;
    film[0].set = "nowhere";
    expect("sink.cfg:5: convection[0]: the mesh has no set 'nowhere'");
    support[0].value[0] = NAN;
    expect("sink.cfg:3: supports[0]: temperature = ");
    load.kind = HX_LOAD_PRESSURE;
    load.set = "right";
    expect("sink.cfg:7: loads[0]: this load does not exist for physics = \"heat\"");
    load.value[0] = INFINITY;
    expect("sink.cfg:7: loads[0]: a load of inf is not finite");
    load.kind = HX_LOAD_HEAT;
    load.set = "left";
    expect("acts only on nodes with a prescribed temperature");
    params.n_load = 0;
    expect("load case 1 has no heat: add a source, heat or flux to loads, or a second temperature");
    params.physics = HX_PHYSICS_ELASTICITY;
    expect("sink.cfg:7: loads[0]: this load does not exist for physics = \"elasticity\"");
    params.physics = HX_PHYSICS_ELASTICITY;
    params.n_convection = 1;
    expect("convection requires physics = \"heat\"");
}

int main(void)
{
    static const int32_t core[3] = {5, 6, 17};
    const fixture_box box = {{4, 3, 3}, {2.0, 1.2, 1.0}, 0.2, 1};
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "core", 3, core));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    check_loads();
    check_films();
    check_refused();
    hx_mesh_free(&mesh);
    TEST_END();
}
