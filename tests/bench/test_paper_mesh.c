/* The meshes of `paperbench`: planned counts, volumes, and tetrahedra that fit together. */
#include <stdlib.h>
#include <string.h>

#include "../lib/test.h"
#include "papers.h"

static int64_t count_boundary(const hx_mesh *mesh)
{
    int64_t n = -1, *face = NULL;
    CHECK_OK(hx_mesh_boundary_faces(mesh, NULL, &n, &face));
    free(face);
    return n;
}

static double exact_volume(const hx_bench_plan *plan)
{
    const double pi = acos(-1.0);
    if (plan->shape == HX_BENCH_CUBE) return 1.0;
    if (plan->shape == HX_BENCH_ROD) /* the bores are polygons, so the volume is only close */
        return 20.0 * (150.0 * 350.0 - pi * (17.5 * 17.5 + 30.0 * 30.0));
    return 6.0 * 0.5 * plan->n[1] * sin(2.0 * pi / plan->n[1]) * (4.0 - 1.0);
}

/* For any kind of element, the mesh has nearly as many elements or points as requested; also tests
 * the sizes of the plan. */
static void test_part(hx_bench_shape shape, hx_bench_element element, int by_points, int64_t wanted)
{
    const int is_tet = element == HX_BENCH_TET4 || element == HX_BENCH_TET10;
    const int is_quadratic = element == HX_BENCH_HEX20 || element == HX_BENCH_TET10;
    hx_bench_plan plan, other;
    hx_bench_part part, hexahedra;
    char kinds[64];
    CHECK_OK(
        hx_bench_plan_make(&plan, shape, element, by_points ? 0 : wanted, by_points ? wanted : 0));
    const double off = (double)(by_points ? plan.n_point : plan.n_elem) / (double)wanted - 1.0;
    CHECK_MSG(fabs(off) < 0.25, "%s of %s: %g off", hx_bench_shape_name(shape),
              hx_bench_element_name(element), off);
    CHECK_OK(hx_bench_part_make(&part, &plan)); /* the function checks its counts itself */
    CHECK(part.mesh.n_kind[is_tet ? HX_CELL_TETRAHEDRON : HX_CELL_HEXAHEDRON] == part.mesh.n_elem);
    CHECK((part.space.element == HX_ELEMENT_QUADRATIC) == is_quadratic);
    if (is_quadratic)
        CHECK(strcmp(hx_space_text(&part.space, kinds, sizeof kinds), is_tet ? "tet10" : "hex20") ==
              0);
    CHECK_REL(part.mesh.total_volume, exact_volume(&plan), shape == HX_BENCH_ROD ? 0.01 : 1e-12);
    other = plan;
    other.element = HX_BENCH_HEX8;
    other.n_elem = plan.n_elem / (is_tet ? 6 : 1);
    other.n_point = part.mesh.n_node;
    CHECK_OK(hx_bench_part_make(&hexahedra, &other));
    CHECK_REL(part.mesh.total_volume, hexahedra.mesh.total_volume, 1e-12);
    /* halves of the outer faces, and no inner faces: neighbours halve a face in the same way */
    CHECK(count_boundary(&part.mesh) == (is_tet ? 2 : 1) * count_boundary(&hexahedra.mesh));
    CHECK(hx_bench_plan_is_same(&plan, &plan) &&
          hx_bench_plan_is_same(&plan, &other) == (element == HX_BENCH_HEX8));
    hx_bench_part_free(&hexahedra);
    hx_bench_part_free(&part);
}

/* Rows of P2: its counts of hexahedra, and nodes of the widest row by its formula. */
static void test_sizes(void)
{
    hx_bench_plan plan;
    hx_bench_element element;
    CHECK_OK(hx_bench_plan_make(&plan, HX_BENCH_CUBE, HX_BENCH_HEX8, 64000, 0));
    CHECK(plan.n[0] == 40 && plan.n_point == 68921);
    CHECK_REL(hx_bench_plan_size(&plan), 64000.0, 1e-15);
    CHECK_OK(hx_bench_plan_make(&plan, HX_BENCH_CUBE, HX_BENCH_HEX20, 0, 4 * 6 * 6 * 6));
    CHECK(plan.n[2] == 5 && plan.n_point == 216 + 3 * 5 * 36);
    CHECK_REL(hx_bench_plan_size(&plan), 125.0 * 400.0 / 64.0, 1e-15);
    CHECK(hx_bench_element_find("TET10", &element) && element == HX_BENCH_TET10);
    CHECK(!hx_bench_element_find("TET11", &element));
}

int main(void)
{
    static const hx_bench_shape shape[] = {HX_BENCH_CUBE, HX_BENCH_CYLINDER, HX_BENCH_ROD};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < HX_BENCH_N_ELEMENT; k++) {
            test_part(shape[i], (hx_bench_element)k, 0, 2000);
            test_part(shape[i], (hx_bench_element)k, 1, 3000);
        }
    test_sizes();
    TEST_END();
}
