/* Boxes of every kind of cell with a space over them, and problems with prescribed displacements on
 * the whole boundary, for tests of quadratic elements. */
#ifndef HX_TEST_SPACE_BOX_H
#define HX_TEST_SPACE_BOX_H

#include "core/space/space.h"
#include "curved.h"
#include "fixture.h"
#include "mixed_mesh.h"

/* Its parts point to each other, so it must not move. */
typedef struct space_box {
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
} space_box;

typedef void (*space_field)(const double x[3], double u[3]);

static inline void space_box_free(space_box *b)
{
    hx_problem_free(&b->problem);
    hx_space_free(&b->space);
    hx_mesh_free(&b->mesh);
}

static inline int space_on_boundary(const space_box *b, int64_t point)
{
    const double *const x = b->space.xyz + 3 * point;
    int is_on = 0;
    for (int d = 0; d < 3; d++)
        is_on |= x[d] <= b->mesh.box_min[d] + 1e-9 || x[d] >= b->mesh.box_max[d] - 1e-9;
    return is_on;
}

/* A shuffled mesh and its space; the edges follow a map, NULL: they are straight. */
static inline int space_box_bent(space_box *b, const mixed_box *box, hx_element element,
                                 curved_map map)
{
    memset(b, 0, sizeof *b);
    HX_TRY(mixed_create(&b->mesh, box));
    mixed_turn(&b->mesh, 7);
    if (map) HX_TRY(curved_bend(&b->mesh, map));
    HX_TRY(hx_mesh_shuffle(&b->mesh, 4));
    HX_TRY(hx_mesh_finish(&b->mesh));
    return hx_space_create(&b->space, &b->mesh, element);
}

static inline int space_box_mesh(space_box *b, const mixed_box *box, hx_element element)
{
    return space_box_bent(b, box, element, NULL);
}

/* Solid, with nu = 0.3 and prescribed u on the boundary. */
static inline int space_box_held(space_box *b, const mixed_box *box, hx_element element,
                                 space_field u)
{
    /* any values that are not a rigid motion */
    const hx_support_spec moved = {"origin", "test", HX_FIX_X, {1e-3}},
                          pulled = {"corner-x", "test", HX_FIX_X, {2e-3}};
    hx_support_spec held[FIXTURE_N_DETERMINATE + 2];
    hx_problem_params params = fixture_problem();
    HX_TRY(space_box_mesh(b, box, element));
    memcpy(held, fixture_determinate, sizeof fixture_determinate);
    held[0].fix = HX_FIX_Y | HX_FIX_Z;
    held[FIXTURE_N_DETERMINATE] = moved;
    held[FIXTURE_N_DETERMINATE + 1] = pulled;
    params.support = held;
    params.n_support = FIXTURE_N_DETERMINATE + 2;
    params.space = &b->space;
    HX_TRY(hx_problem_create(&b->problem, &b->mesh, &params));
    for (int64_t a = 0; a < b->space.n_point; a++) {
        if (!space_on_boundary(b, a)) continue;
        b->problem.supports.fixed[a] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
        u(b->space.xyz + 3 * a, b->problem.supports.prescribed + 3 * a);
    }
    return HX_OK;
}

/* Solves for the solid design; returns the displacements of all points. */
static inline int space_box_solve(const space_box *b, hx_device *dev, const char *op,
                                  const char *precond, double tolerance, double *u, int *iterations)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    int rc;
    settings.op_kind =
        hx_operator_kind_of(hx_operator_kind_find(dev->ops->name, op), b->problem.components);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = precond;
    settings.pcg.tolerance = tolerance;
    HX_TRY_FAIL(fixture_solver_create(&s, dev, &b->problem, &settings));
    HX_TRY_FAIL(hx_analysis_solve_density(&s.analysis, NULL, 1.0));
    CHECK_MSG(s.analysis.record.reason == HX_PCG_CONVERGED, "%s",
              hx_pcg_reason_name(s.analysis.record.reason));
    if (iterations) *iterations = s.analysis.record.pcg_iterations;
    HX_TRY_FAIL(hx_analysis_point_displacement(&s.analysis, 0, u));
fail:
    fixture_solver_free(&s);
    return rc;
}

#endif
