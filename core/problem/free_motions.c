#include "free_motions.h"

#include <stdlib.h>

#include "../base/memory.h"
#include "../mesh/mesh_quality.h"
#include "rigid_body.h"

/* v := motion `free` of a body, at its points. */
static void put_motion(const hx_problem *problem, const int32_t *body_of, int32_t b,
                       const hx_rigid_body *body, const double free_motion[6], double *v)
{
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < problem->space.n_point; p++)
        for (int i = 0; i < 3; i++) {
            const double unit[3] = {i == 0, i == 1, i == 2};
            double work[6] = {0.0}; /* component i of each of the six motions */
            v[3 * p + i] = 0.0;
            if (body_of[p] != b || problem->supports.fixed[p] >> i & 1) continue;
            hx_rigid_body_add_work(body, problem->space.xyz + 3 * p, unit, work);
            for (int k = 0; k < 6; k++) v[3 * p + i] += free_motion[k] * work[k];
        }
}

static int add_motions(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                       const hx_rigid_body *body, int most, int *n, double *motion[])
{
    int64_t n_free = 0;
    for (int64_t b = 0; b < n_body; b++) n_free += body[b].n_free;
    if (n_free > most)
        return HX_RAISE(HX_EINPUT,
                        "supports leave %lld rigid motions to the %lld bodies of the part, at most "
                        "%d are possible here: join the bodies, or add supports",
                        (long long)n_free, (long long)n_body, most);
    for (int64_t b = 0; b < n_body; b++)
        for (int k = 0; k < body[b].n_free; k++, ++*n) {
            HX_TRY(hx_alloc_raw(&motion[*n], 3 * (size_t)problem->space.n_point, sizeof *motion[*n],
                                "rigid motions"));
            put_motion(problem, body_of, (int32_t)b, &body[b], body[b].free[k], motion[*n]);
        }
    return HX_OK;
}

int hx_problem_free_motions(const hx_problem *problem, int most, int *n, double *motion[])
{
    const int64_t n_point = problem->space.n_point;
    int32_t *node_body = NULL, *body_of = NULL;
    hx_rigid_body *body = NULL;
    int64_t n_body;
    int rc;
    *n = 0;
    HX_TRY_FAIL(
        hx_alloc_raw(&node_body, (size_t)problem->mesh->n_node, sizeof *node_body, "bodies"));
    HX_TRY_FAIL(hx_mesh_bodies(problem->mesh, node_body, &n_body));
    HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)n_point, sizeof *body_of, "bodies"));
    for (int64_t p = 0; p < n_point; p++)
        body_of[p] = node_body[hx_space_near_node(&problem->space, p)];
    HX_TRY_FAIL(hx_alloc(&body, (size_t)n_body, sizeof *body, "bodies"));
    HX_TRY_FAIL(hx_rigid_bodies_measure(problem, body_of, n_body, body));
    HX_TRY_FAIL(hx_rigid_bodies_hold(problem, body_of, n_body, body));
    HX_TRY_FAIL(add_motions(problem, body_of, n_body, body, most, n, motion));
    rc = HX_OK;
fail:
    free(node_body);
    free(body_of);
    free(body);
    return rc;
}
