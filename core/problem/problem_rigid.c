/* Rigid motions that supports and springs leave free, body by body.
 *
 * Passes over the fixed degrees of freedom, those with springs and the held points of rigid sets
 * find what the rigid motions of each body move there (rigid_body.c); a motion that moves nothing
 * of that is free.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/mesh_quality.h"
#include "problem_internal.h"
#include "rigid_body.h"

/* Extents and first nodes. */
static void measure_bodies(const hx_mesh *mesh, const int32_t *body_of, int64_t n_body,
                           hx_rigid_body *body)
{
    if (n_body == 1) { /* first_node = 0 */
        memcpy(body->lower, mesh->box_min, sizeof body->lower);
        memcpy(body->upper, mesh->box_max, sizeof body->upper);
        return;
    }
    for (int64_t b = 0; b < n_body; b++) body[b].first_node = -1;
    for (int64_t node = 0; node < mesh->n_node; node++) {
        if (body_of[node] < 0) continue;
        hx_rigid_body *b = &body[body_of[node]];
        const double *x = mesh->xyz + 3 * node;
        for (int i = 0; i < 3; i++) {
            b->lower[i] = b->first_node < 0 ? x[i] : fmin(b->lower[i], x[i]);
            b->upper[i] = b->first_node < 0 ? x[i] : fmax(b->upper[i], x[i]);
        }
        if (b->first_node < 0) b->first_node = node;
    }
}

/* The first point from `point` on that is held, n where none is. Most are not: eight at a time. */
static int64_t next_held(const uint8_t *fixed, int64_t point, int64_t n)
{
    uint64_t some = 0;
    for (; point + (int64_t)sizeof some <= n && !some; point += (int64_t)sizeof some)
        memcpy(&some, fixed + point, sizeof some);
    if (some) point -= (int64_t)sizeof some;
    while (point < n && !fixed[point]) point++;
    return point;
}

/* What is held, of which bodies. */
typedef struct holds {
    const hx_problem *problem;
    const int32_t *body_of; /* [n_node] NULL: all is body 0 */
    int64_t n_point;        /* of the space, that are looked at */
    int is_own, has_others; /* own points of a window only; springs and rigid sets hold, too */
    const hx_all *all;      /* whose holds count together, NULL: these only */
} holds;

typedef void visit(const hx_mesh *mesh, int64_t near, const double *x, int i, hx_rigid_body *body);

static hx_rigid_body *body_at(const holds *h, int64_t point, int64_t *near, hx_rigid_body *body)
{
    *near = hx_space_near_node(&h->problem->space, point);
    const int32_t to = h->body_of ? h->body_of[*near] : 0;
    return to >= 0 ? &body[to] : NULL;
}

/* The held motions of a point that goes with a rigid set, for the bodies that it is part of. */
static void visit_set(const holds *h, const hx_rigid_set *set, visit *each, hx_rigid_body *body)
{
    const hx_rigid_body *last = NULL;
    for (int64_t k = 0; set->held && k < set->n; k++) {
        int64_t near;
        hx_rigid_body *const to = body_at(h, h->problem->rigid.node[set->first + k], &near, body);
        if (!to || to == last) continue;
        last = to;
        for (int i = 0; i < 6; i++)
            if (set->held >> i & 1u) each(h->problem->mesh, near, set->point, i, to);
    }
}

static void visit_point(const holds *h, int64_t point, int i, visit *each, hx_rigid_body *body)
{
    int64_t near;
    hx_rigid_body *const to = body_at(h, point, &near, body);
    if (to) each(h->problem->mesh, near, h->problem->space.xyz + 3 * point, i, to);
}

static void visit_holds(const holds *h, visit *each, hx_rigid_body *body)
{
    const hx_problem *const p = h->problem;
    const uint8_t *const fixed = p->supports.fixed;
    for (int64_t a = next_held(fixed, 0, h->n_point); a < h->n_point;
         a = next_held(fixed, a + 1, h->n_point))
        for (int i = 0; i < 3; i++)
            if (fixed[a] >> i & 1 && (!h->is_own || hx_mesh_owns_node(p->mesh, a)))
                visit_point(h, a, i, each, body);
    for (int64_t k = 0; h->has_others && k < p->springs.n; k++) { /* however soft */
        const int64_t point = p->springs.dof[k] / 3;
        if (point >= h->n_point) continue; /* the corners of its face have springs too */
        visit_point(h, point, (int)(p->springs.dof[k] % 3), each, body);
    }
    for (int i = 0; h->has_others && i < p->rigid.n; i++)
        visit_set(h, &p->rigid.set[i], each, body);
}

static int sum_counts(const hx_all *all, hx_rigid_body *body)
{
    HX_TRY(hx_all_sum_i64(all, 1, &body->n_fixed));
    HX_TRY(hx_all_sum(all, 3, body->n_held));
    return hx_all_sum(all, 9, body->mean[0]);
}

static int sum_reach(const hx_all *all, hx_rigid_body *body)
{
    HX_TRY(hx_all_sum(all, 3, body->sum));
    return hx_all_most(all, 3, body->reach);
}

static int least_edge(const hx_all *all, hx_rigid_body *body)
{
    double most = -body->edge;
    HX_TRY(hx_all_most(all, 1, &most));
    body->edge = -most;
    return HX_OK;
}

/* The free motions of body[n_body], whose extents are known. Fails only with `all`. */
static int judge(const holds *h, int64_t n_body, hx_rigid_body *body)
{
    int needs_edge = 0;
    visit_holds(h, hx_rigid_body_count, body);
    for (int64_t b = 0; b < n_body; b++) {
        if (h->all) HX_TRY(sum_counts(h->all, &body[b]));
        hx_rigid_body_finish_count(&body[b]);
    }
    visit_holds(h, hx_rigid_body_spread, body);
    for (int64_t b = 0; b < n_body; b++) {
        if (h->all) HX_TRY(hx_all_sum(h->all, 9, body[b].spread[0]));
        hx_rigid_body_finish_spread(&body[b]);
    }
    visit_holds(h, hx_rigid_body_reach, body);
    for (int64_t b = 0; b < n_body; b++) {
        if (h->all) HX_TRY(sum_reach(h->all, &body[b]));
        needs_edge |= hx_rigid_body_needs_edge(&body[b]);
    }
    if (needs_edge) visit_holds(h, hx_rigid_body_edge, body);
    for (int64_t b = 0; b < n_body; b++) {
        if (h->all && needs_edge) HX_TRY(least_edge(h->all, &body[b]));
        hx_rigid_body_finish(&body[b]);
    }
    return HX_OK;
}

void hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                          hx_rigid_body *body)
{
    const hx_space *const space = &problem->space;
    const holds h = {.problem = problem,
                     .body_of = body_of,
                     .n_point = space->element == HX_ELEMENT_SPLINE ? space->n_point
                                                                    : problem->mesh->n_node,
                     .has_others = 1};
    measure_bodies(problem->mesh, body_of, n_body, body);
    (void)judge(&h, n_body, body);
}

static int check_body(const hx_problem *problem, hx_rigid_body *body, int64_t n_body,
                      const char *origin)
{
    char text[192], which[96] = "the model";
    if (n_body > 1)
        snprintf(which, sizeof which, "the body that holds node %lld (one of %lld bodies)",
                 (long long)hx_mesh_node_number(problem->mesh, body->first_node),
                 (long long)n_body);
    if (body->n_fixed == 0)
        return HX_RAISE(HX_EINPUT, "%s: %s has no support: fix at least six degrees of freedom",
                        origin, which);
    if (body->n_free == 0) return HX_OK;
    hx_rigid_body_describe(body, body->free[0], text, sizeof text);
    return HX_RAISE(HX_EINPUT, "%s: the supports leave %s a rigid motion, a %s: fix more", origin,
                    which, text);
}

/* What holds own points of a window, where the mesh counts as one body. */
static int check_one_body(hx_problem *problem, const char *origin)
{
    const hx_mesh *const mesh = problem->mesh;
    const holds h = {
        .problem = problem, .n_point = mesh->n_node, .is_own = 1, .all = hx_mesh_all(mesh)};
    hx_rigid_body body = {.first_node = 0};
    problem->n_body = 1;
    measure_bodies(mesh, NULL, 1, &body);
    HX_TRY(judge(&h, 1, &body));
    return check_body(problem, &body, 1, origin);
}

int hx_problem_check_supported(hx_problem *problem, const char *origin)
{
    const hx_mesh *mesh = problem->mesh;
    int32_t *body_of = NULL;
    hx_rigid_body *body = NULL;
    int64_t n_body;
    int rc;
    if (mesh->window) return check_one_body(problem, origin);
    HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)mesh->n_node, sizeof *body_of, "bodies"));
    HX_TRY_FAIL(hx_mesh_bodies(mesh, body_of, &n_body));
    problem->n_body = n_body;
    HX_TRY_FAIL(hx_alloc(&body, (size_t)n_body, sizeof *body, "bodies"));
    hx_rigid_bodies_hold(problem, body_of, n_body, body);
    for (int64_t b = 0; b < n_body; b++) HX_TRY_FAIL(check_body(problem, &body[b], n_body, origin));
    rc = HX_OK;
fail:
    hx_free_large(body_of, (size_t)mesh->n_node * sizeof *body_of);
    free(body);
    return rc;
}

/* --- prescribed values that deform nothing --- */

/* The prescribed values of a body beside the rigid motion that fits them best. */
typedef struct fit {
    hx_rigid_body body;      /* held by all prescribed components */
    double move[3], turn[3]; /* the motion: at the means of held components; omega */
    double right_move[3], right_turn[3];
    double most, off; /* the largest value, and the largest distance from the motion */
} fit;

/* Relative to the largest value, up to which a value follows the motion. */
static const double same_motion = 1e-12;

/* The motion gains the least-squares solution of what is left, 0 for motions that nothing holds. */
static void improve_fit(fit *f)
{
    const hx_rigid_body *const body = &f->body;
    for (int i = 0; i < 3; i++)
        if (body->n_held[i] > 0.0) f->move[i] += f->right_move[i] / body->n_held[i];
    for (int k = 0; k < 3; k++) {
        double sum = 0.0;
        if (!hx_rigid_body_holds_turn(body, k)) continue;
        for (int c = 0; c < 3; c++) sum += body->turn[k][c] * f->right_turn[c];
        for (int c = 0; c < 3; c++) f->turn[c] += body->turn[k][c] * sum / body->sum[k];
    }
}

static void start_pass(fit *f)
{
    memset(f->right_move, 0, sizeof f->right_move);
    memset(f->right_turn, 0, sizeof f->right_turn);
    f->most = f->off = 0.0;
}

/* Component i of a prescribed point. */
static void add_value(const double *x, int i, double value, fit *f)
{
    double row[3], left = value - f->move[i];
    hx_rigid_body_turn_at(&f->body, x, i, row);
    for (int c = 0; c < 3; c++) left -= row[c] * f->turn[c];
    f->right_move[i] += left;
    for (int c = 0; c < 3; c++) f->right_turn[c] += row[c] * left;
    f->most = fmax(f->most, fabs(value));
    f->off = fmax(f->off, fabs(left));
}

static void add_values(const hx_problem *problem, const int32_t *body_of, fit *f)
{
    const int64_t n_point = problem->space.n_point;
    const uint8_t *const fixed = problem->supports.fixed;
    for (int64_t p = next_held(fixed, 0, n_point); p < n_point;
         p = next_held(fixed, p + 1, n_point)) {
        const int32_t b = body_of ? body_of[hx_space_near_node(&problem->space, p)] : 0;
        for (int i = 0; b >= 0 && i < 3; i++)
            if (fixed[p] >> i & 1)
                add_value(problem->space.xyz + 3 * p, i, problem->supports.prescribed[3 * p + i],
                          &f[b]);
    }
}

/* Points that several windows have count several times, which changes no fit that is exact. */
static int sum_window(const hx_all *all, fit *f)
{
    double most[2] = {f->most, f->off};
    if (!all) return HX_OK;
    HX_TRY(hx_all_sum(all, 3, f->right_move));
    HX_TRY(hx_all_sum(all, 3, f->right_turn));
    HX_TRY(hx_all_most(all, 2, most));
    f->most = most[0];
    f->off = most[1];
    return HX_OK;
}

/* Each pass improves the fit by what rounding left of the one before. */
static int fit_bodies(const hx_problem *problem, const int32_t *body_of, int64_t n_body, fit *f,
                      int *is)
{
    const hx_all *const all = hx_mesh_all(problem->mesh);
    for (int pass = 0; pass < 4; pass++) {
        for (int64_t b = 0; b < n_body; b++) start_pass(&f[b]);
        add_values(problem, body_of, f);
        if (problem->mesh->window) HX_TRY(sum_window(all, f));
        for (int64_t b = 0; b < n_body && pass < 3; b++) improve_fit(&f[b]);
    }
    *is = 1;
    for (int64_t b = 0; b < n_body; b++) *is &= f[b].off <= same_motion * f[b].most;
    return HX_OK;
}

static int holds_otherwise(const hx_problem *problem)
{
    for (int i = 0; i < problem->rigid.n; i++)
        if (problem->rigid.set[i].held) return 1;
    return problem->springs.n > 0;
}

int hx_problem_is_moved_rigidly(const hx_problem *problem, int *is)
{
    const hx_mesh *const mesh = problem->mesh;
    int32_t *body_of = NULL;
    hx_rigid_body *body = NULL;
    fit *f = NULL;
    int64_t n_body = 1;
    int rc;
    *is = 0;
    if (!problem->supports.prescribed || hx_problem_is_heat(problem) || holds_otherwise(problem))
        return HX_OK;
    if (!mesh->window) {
        HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)mesh->n_node, sizeof *body_of, "bodies"));
        HX_TRY_FAIL(hx_mesh_bodies(mesh, body_of, &n_body));
    }
    HX_TRY_FAIL(hx_alloc(&body, (size_t)n_body, sizeof *body, "bodies"));
    HX_TRY_FAIL(hx_alloc(&f, (size_t)n_body, sizeof *f, "bodies"));
    measure_bodies(mesh, body_of, n_body, body);
    const holds h = {.problem = problem,
                     .body_of = body_of,
                     .n_point = problem->space.n_point,
                     .all = hx_mesh_all(mesh)};
    HX_TRY_FAIL(judge(&h, n_body, body));
    for (int64_t b = 0; b < n_body; b++) f[b].body = body[b];
    rc = fit_bodies(problem, body_of, n_body, f, is);
fail:
    hx_free_large(body_of, (size_t)mesh->n_node * sizeof *body_of);
    free(body);
    free(f);
    return rc;
}
