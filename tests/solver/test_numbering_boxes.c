/* The order in which elements name their corners changes no compliance: boxes of each kind of cell,
 * linear and quadratic, whose cells are renamed at random (test_numbering.c has one cell). */
#include "core/mesh/region.h"
#include "tests/lib/numbered_cell.h"
#include "tests/lib/space_box.h"

/* What the numbering may change of the compliance of a box of linear wedges distorted by 0.15,
 * which are no prisms: their points are those of a collapsed hexahedron. */
#define OF_BOX 2e-4

static hx_device device;

static int name_sides(hx_mesh *mesh)
{
    static const char *const name[4] = {"left", "right", "bottom", "top"};
    for (int k = 0; k < 4; k++) {
        hx_region plane = {.kind = HX_REGION_PLANE, .tolerance = 1e-6};
        plane.axis[k < 2 ? 0 : 2] = 1.0;
        for (int i = 0; i < 3; i++) plane.point[i] = k % 2 ? mesh->box_max[i] : mesh->box_min[i];
        HX_TRY(hx_mesh_add_region(mesh, name[k], &plane));
    }
    return HX_OK;
}

static int make_box_problem(space_box *b, hx_physics physics)
{
    const int is_heat = physics == HX_PHYSICS_HEAT;
    const hx_support_spec support = {
        "left", "test", is_heat ? HX_FIX_X : HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_spring_spec spring[2] = {{"bottom", "test", {0.2, 0.1, 0.3}, HX_SPRING_AREA},
                                      {"right", "test", {0.5, 0.2, 0.1}, HX_SPRING_TOTAL}};
    const hx_convection_spec film = {"top", "test", 0.7, 3.0};
    const hx_load_spec heat[3] = {{"right", "test", HX_LOAD_FLUX, {1.1}, 1},
                                  {NULL, "test", HX_LOAD_SOURCE, {0.6}, 1},
                                  {"bottom", "test", HX_LOAD_HEAT, {0.9}, 1}};
    const hx_load_spec force[6] = {
        {"right", "test", HX_LOAD_TRACTION, {0.1, 0.05, -0.3}, 1},
        {"top", "test", HX_LOAD_PRESSURE, {0.2}, 1},
        {"bottom", "test", HX_LOAD_TOTAL_FORCE, {0.3, 0.1, 0.2}, 1},
        {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1},
        {NULL, "test", HX_LOAD_CENTRIFUGAL, {0.1, 1.0, 0.2}, 1, {0}, {0.3, 0.1, 2.2}, 0.8},
        {"right", "test", HX_LOAD_REMOTE, {0.2, 0.1, 0.1}, 1, {0.4, 0.0, 0.3}, {4.0, 1.0, 1.0}}};
    hx_problem_params params = fixture_problem();
    params.physics = physics;
    params.conductivity = 2.0;
    params.density = 1.0;
    params.support = &support, params.n_support = 1;
    params.spring = spring, params.n_spring = is_heat ? 0 : 2;
    params.convection = &film, params.n_convection = is_heat;
    params.load = is_heat ? heat : force, params.n_load = is_heat ? 3 : 6;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* f'u of a box whose cells are renumbered according to the seed. */
static double compliance_of(const mixed_box *box, hx_element element, hx_physics physics,
                            uint64_t seed)
{
    space_box b;
    double compliance = 0.0;
    memset(&b, 0, sizeof b);
    CHECK_OK(mixed_create(&b.mesh, box));
    numbered_mesh(&b.mesh, seed);
    CHECK_OK(hx_mesh_finish(&b.mesh));
    CHECK_OK(hx_space_create(&b.space, &b.mesh, element));
    CHECK_OK(name_sides(&b.mesh));
    CHECK_OK(make_box_problem(&b, physics));
    const size_t n = (size_t)b.problem.components * (size_t)b.space.n_point;
    double *const u = malloc(2 * n * sizeof *u), *const f = u + n;
    if (!u) abort();
    CHECK_OK(space_box_solve(&b, &device, "csr", "jacobi", 1e-13, u, NULL));
    CHECK_OK(hx_problem_nodal_force(&b.problem, 0, NULL, f));
    for (size_t k = 0; k < n; k++) compliance += f[k] * u[k];
    free(u);
    space_box_free(&b);
    return compliance;
}

static void check_box(mixed_kind kind, hx_element element, hx_physics physics)
{
    const int has_wedges = kind == MIXED_WEDGES || kind == MIXED_LAYERS;
    for (int distorted = 0; distorted < 2; distorted++) {
        const mixed_box box = {.kind = kind,
                               .n = {2, 2, kind == MIXED_LAYERS ? 5 : 2},
                               .length = {2.0, 1.6, 2.3},
                               .distort = 0.15 * distorted,
                               .seed = 5};
        const int excepted = has_wedges && distorted && element == HX_ELEMENT_LINEAR;
        const double tolerance = excepted ? OF_BOX : 1e-10;
        const double first = compliance_of(&box, element, physics, 0);
        double worst = 0.0;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const double now = compliance_of(&box, element, physics, seed);
            test_worst(&worst, fabs(now - first) / fabs(first));
        }
        CHECK_MSG(worst <= tolerance, "%s %s, %s: compliance off by %.3g", hx_element_name(element),
                  mixed_name[kind], hx_physics_name(physics), worst);
        if (excepted) printf("%s, %s: %.2g\n", mixed_name[kind], hx_physics_name(physics), worst);
    }
}

int main(void)
{
    fixture_set_threads(1);
    CHECK_OK(hx_device_open(&device, hx_device_find("cpu")));
    for (int element = 0; element < HX_ELEMENT_SPLINE; element++)
        for (int physics = 0; physics < HX_N_PHYSICS; physics++)
            for (int kind = 0; kind < MIXED_N_KIND; kind++)
                check_box((mixed_kind)kind, (hx_element)element, (hx_physics)physics);
    hx_device_close(&device);
    TEST_END();
}
