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
#include "../base/names.h"
#include "../mesh/mesh_quality.h"
#include "problem_internal.h"
#include "rigid_body.h"

/* Extents and first points of xyz[n][3]. */
static void measure_points(int64_t n, const double *xyz, const int32_t *body_of, int64_t n_body,
                           hx_rigid_body *body)
{
    for (int64_t b = 0; b < n_body; b++) body[b].first_node = -1;
    for (int64_t point = 0; point < n; point++) {
        if (body_of[point] < 0) continue;
        hx_rigid_body *b = &body[body_of[point]];
        const double *x = xyz + 3 * point;
        for (int i = 0; i < 3; i++) {
            b->lower[i] = b->first_node < 0 ? x[i] : fmin(b->lower[i], x[i]);
            b->upper[i] = b->first_node < 0 ? x[i] : fmax(b->upper[i], x[i]);
        }
        if (b->first_node < 0) b->first_node = point;
    }
}

/* For a whole mesh, by its nodes. */
static void measure_bodies(const hx_mesh *mesh, const int32_t *body_of, int64_t n_body,
                           hx_rigid_body *body)
{
    if (n_body > 1) {
        measure_points(mesh->n_node, mesh->xyz, body_of, n_body, body);
        return;
    }
    memcpy(body->lower, mesh->box_min, sizeof body->lower); /* first_node = 0 */
    memcpy(body->upper, mesh->box_max, sizeof body->upper);
}

/* Bodies whose numbers travel together: sums gather what all processes have. */
enum { BODIES_AT_ONCE = 1 << 12 };

/* The extents in all processes of n bodies. */
static int spread_extents(const hx_reduce *reduce, int n, hx_rigid_body *body, double (*most)[6])
{
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 3; i++) {
            const int is_here = body[b].first_node >= 0;
            most[b][i] = is_here ? -body[b].lower[i] : -INFINITY;
            most[b][3 + i] = is_here ? body[b].upper[i] : -INFINITY;
        }
    HX_TRY(hx_reduce_max(reduce, 6 * n, most[0]));
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 3 && most[b][3] > -INFINITY; i++) {
            body[b].lower[i] = -most[b][i];
            body[b].upper[i] = most[b][3 + i];
        }
    return HX_OK;
}

int hx_rigid_bodies_measure(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                            hx_rigid_body *body)
{
    const hx_reduce *const reduce = hx_mesh_reduce(problem->mesh);
    double(*most)[6] = NULL;
    int rc = HX_OK;
    measure_points(problem->space.n_point, problem->space.xyz, body_of, n_body, body);
    if (!reduce) return HX_OK;
    HX_TRY(hx_alloc_raw(&most, BODIES_AT_ONCE, sizeof *most, "bodies"));
    for (int64_t b = 0; b < n_body && rc == HX_OK; b += BODIES_AT_ONCE) {
        const int64_t n = n_body - b < BODIES_AT_ONCE ? n_body - b : BODIES_AT_ONCE;
        rc = spread_extents(reduce, (int)n, body + b, most);
    }
    free(most);
    return rc;
}

int hx_rigid_bodies_sum(const hx_problem *problem, int64_t n_body, int n, double *value)
{
    const hx_reduce *const reduce = hx_mesh_reduce(problem->mesh);
    for (int64_t b = 0; reduce && b < n_body; b += BODIES_AT_ONCE) {
        const int64_t n_now = n_body - b < BODIES_AT_ONCE ? n_body - b : BODIES_AT_ONCE;
        HX_TRY(hx_reduce_sum(reduce, (int)n_now * n, value + n * b));
    }
    return HX_OK;
}

/* value[n_body][n] := the largest of all processes. */
static int take_most(const hx_problem *problem, int64_t n_body, int n, double *value)
{
    const hx_reduce *const reduce = hx_mesh_reduce(problem->mesh);
    for (int64_t b = 0; reduce && b < n_body; b += BODIES_AT_ONCE) {
        const int64_t n_now = n_body - b < BODIES_AT_ONCE ? n_body - b : BODIES_AT_ONCE;
        HX_TRY(hx_reduce_max(reduce, (int)n_now * n, value + n * b));
    }
    return HX_OK;
}

/* The first point from `point` on that is held, n if there is none. Most are not: eight at a
 * time. */
static int64_t next_held(const uint8_t *fixed, int64_t point, int64_t n)
{
    uint64_t some = 0;
    for (; point + (int64_t)sizeof some <= n && !some; point += (int64_t)sizeof some)
        memcpy(&some, fixed + point, sizeof some);
    if (some) point -= (int64_t)sizeof some;
    while (point < n && !fixed[point]) point++;
    return point;
}

/* The supports that are searched, and their bodies; in a distributed mesh, only those of points
 * that this process owns. */
typedef struct holds {
    const hx_problem *problem;
    const int32_t *body_of; /* [n_point of the space] NULL: all is body 0 */
    int64_t n_point;        /* number of points of the space that are searched */
} holds;

typedef void visit(const hx_mesh *mesh, int64_t near, const double *x, int i, hx_rigid_body *body);

static hx_rigid_body *body_at(const holds *h, int64_t point, int64_t *near, hx_rigid_body *body)
{
    const int32_t to = h->body_of ? h->body_of[point] : 0;
    *near = hx_space_near_node(&h->problem->space, point);
    return to >= 0 ? &body[to] : NULL;
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
        for (int i = 0; i < 3 && hx_mesh_owns_node(p->mesh, a); i++)
            if (fixed[a] >> i & 1) visit_point(h, a, i, each, body);
    for (int64_t k = 0; k < p->springs.n; k++) { /* however soft */
        const int64_t point = p->springs.dof[k] / 3;
        if (point >= h->n_point) continue; /* the corners of its face have springs too */
        visit_point(h, point, (int)(p->springs.dof[k] % 3), each, body);
    }
    /* The held motions of a point that goes with a rigid set, for the bodies that it is part
     * of. */
    for (int i = 0; i < p->rigid.n; i++) {
        const hx_rigid_set *const set = &p->rigid.set[i];
        const hx_rigid_body *last = NULL;
        for (int64_t k = 0; set->held && k < set->n; k++) {
            int64_t near;
            hx_rigid_body *const to = body_at(h, p->rigid.node[set->first + k], &near, body);
            if (!to || to == last) continue;
            last = to;
            for (int m = 0; m < 6; m++)
                if (set->held >> m & 1u) each(p->mesh, near, set->point, m, to);
        }
    }
}

/* Numbers of a body that processes add up in the first two passes. */
enum { N_COUNT = 13, N_SUM = 9 };

static int sum_counts(const hx_problem *problem, int64_t n_body, hx_rigid_body *body,
                      double (*of)[N_COUNT])
{
    for (int64_t b = 0; b < n_body; b++) {
        of[b][0] = (double)body[b].n_fixed;
        memcpy(of[b] + 1, body[b].n_held, sizeof body[b].n_held);
        memcpy(of[b] + 4, body[b].mean, sizeof body[b].mean);
    }
    HX_TRY(hx_rigid_bodies_sum(problem, n_body, N_COUNT, of[0]));
    for (int64_t b = 0; b < n_body; b++) {
        body[b].n_fixed = (int64_t)of[b][0];
        memcpy(body[b].n_held, of[b] + 1, sizeof body[b].n_held);
        memcpy(body[b].mean, of[b] + 4, sizeof body[b].mean);
    }
    return HX_OK;
}

static int sum_spreads(const hx_problem *problem, int64_t n_body, hx_rigid_body *body,
                       double (*of)[N_SUM])
{
    for (int64_t b = 0; b < n_body; b++) memcpy(of[b], body[b].spread, sizeof of[b]);
    HX_TRY(hx_rigid_bodies_sum(problem, n_body, N_SUM, of[0]));
    for (int64_t b = 0; b < n_body; b++) memcpy(body[b].spread, of[b], sizeof of[b]);
    return HX_OK;
}

static int sum_reaches(const hx_problem *problem, int64_t n_body, hx_rigid_body *body,
                       double (*of)[3])
{
    for (int64_t b = 0; b < n_body; b++) memcpy(of[b], body[b].sum, sizeof of[b]);
    HX_TRY(hx_rigid_bodies_sum(problem, n_body, 3, of[0]));
    for (int64_t b = 0; b < n_body; b++) memcpy(body[b].sum, of[b], sizeof of[b]);
    for (int64_t b = 0; b < n_body; b++) memcpy(of[b], body[b].reach, sizeof of[b]);
    HX_TRY(take_most(problem, n_body, 3, of[0]));
    for (int64_t b = 0; b < n_body; b++) memcpy(body[b].reach, of[b], sizeof of[b]);
    return HX_OK;
}

static int take_least_edges(const hx_problem *problem, int64_t n_body, hx_rigid_body *body,
                            double *of)
{
    for (int64_t b = 0; b < n_body; b++) of[b] = -body[b].edge;
    HX_TRY(take_most(problem, n_body, 1, of));
    for (int64_t b = 0; b < n_body; b++) body[b].edge = -of[b];
    return HX_OK;
}

/* The passes; work[n_body * N_COUNT]: scratch of the sums over processes. */
static int judge_with(const holds *h, int64_t n_body, hx_rigid_body *body, void *work)
{
    const hx_problem *const p = h->problem;
    int needs_edge = 0;
    visit_holds(h, hx_rigid_body_count, body);
    HX_TRY(sum_counts(p, n_body, body, (double(*)[N_COUNT])work));
    for (int64_t b = 0; b < n_body; b++) hx_rigid_body_finish_count(&body[b]);
    visit_holds(h, hx_rigid_body_spread, body);
    HX_TRY(sum_spreads(p, n_body, body, (double(*)[N_SUM])work));
    for (int64_t b = 0; b < n_body; b++) hx_rigid_body_finish_spread(&body[b]);
    visit_holds(h, hx_rigid_body_reach, body);
    HX_TRY(sum_reaches(p, n_body, body, (double(*)[3])work));
    for (int64_t b = 0; b < n_body; b++) needs_edge |= hx_rigid_body_needs_edge(&body[b]);
    if (needs_edge) { /* in all processes: it depends on sums only */
        visit_holds(h, hx_rigid_body_edge, body);
        HX_TRY(take_least_edges(p, n_body, body, (double *)work));
    }
    for (int64_t b = 0; b < n_body; b++) hx_rigid_body_finish(&body[b]);
    return HX_OK;
}

/* The free motions of body[n_body], whose extents are known. Collective if the mesh is
 * distributed. */
static int judge_bodies(const holds *h, int64_t n_body, hx_rigid_body *body)
{
    double *work = NULL;
    HX_TRY(hx_alloc_raw(&work, (size_t)n_body, N_COUNT * sizeof *work, "bodies"));
    const int rc = judge_with(h, n_body, body, work);
    free(work);
    return rc;
}

int hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                         hx_rigid_body *body)
{
    const hx_space *const space = &problem->space;
    const holds h = {.problem = problem,
                     .body_of = body_of,
                     .n_point = space->element == HX_ELEMENT_SPLINE ? space->n_point
                                                                    : problem->mesh->n_node};
    return judge_bodies(&h, n_body, body);
}

static int check_body(const hx_problem *problem, hx_rigid_body *body, int64_t n_body,
                      const char *origin)
{
    char text[192], which[96] = "the model";
    if (n_body > 1)
        snprintf(which, sizeof which, "the body that holds node %lld (one of %lld %s)",
                 (long long)hx_mesh_node_number(problem->mesh, body->first_node), (long long)n_body,
                 hx_noun(n_body, "body", "bodies"));
    if (body->n_fixed == 0)
        return HX_RAISE(HX_EINPUT, "%s: %s has no support: fix at least six degrees of freedom",
                        origin, which);
    if (body->n_free == 0) return HX_OK;
    hx_rigid_body_describe(body, body->free[0], text, sizeof text);
    return HX_RAISE(HX_EINPUT, "%s: the supports leave %s a rigid motion, a %s: fix more", origin,
                    which, text);
}

/* (*of_point)[n_point], the caller's: what the nodes near the points belong to. */
static int bodies_of_points(const hx_space *space, const int32_t *body_of, int32_t **of_point)
{
    HX_TRY(hx_alloc_raw(of_point, (size_t)space->n_point, sizeof **of_point, "bodies"));
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < space->n_point; p++)
        (*of_point)[p] = body_of[hx_space_near_node(space, p)];
    return HX_OK;
}

/* body_of[n_node] */
static int hold_bodies(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                       hx_rigid_body *body)
{
    int32_t *of_point = NULL;
    measure_bodies(problem->mesh, body_of, n_body, body);
    if (problem->space.element == HX_ELEMENT_LINEAR)
        return hx_rigid_bodies_hold(problem, body_of, n_body, body);
    HX_TRY(bodies_of_points(&problem->space, body_of, &of_point));
    const int rc = hx_rigid_bodies_hold(problem, of_point, n_body, body);
    free(of_point);
    return rc;
}

int hx_problem_check_supported(hx_problem *problem, const char *origin)
{
    const hx_mesh *mesh = problem->mesh;
    int32_t *body_of = NULL;
    hx_rigid_body *body = NULL;
    int64_t n_body;
    int rc;
    /* What holds own points of a distributed mesh, where the mesh counts as one body. */
    if (mesh->ownership) {
        const holds h = {.problem = problem, .n_point = mesh->n_node};
        hx_rigid_body whole = {.first_node = 0};
        problem->n_body = 1;
        measure_bodies(mesh, NULL, 1, &whole);
        HX_TRY(judge_bodies(&h, 1, &whole));
        return check_body(problem, &whole, 1, origin);
    }
    HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)mesh->n_node, sizeof *body_of, "bodies"));
    HX_TRY_FAIL(hx_mesh_bodies(mesh, body_of, &n_body));
    problem->n_body = n_body;
    HX_TRY_FAIL(hx_alloc(&body, (size_t)n_body, sizeof *body, "bodies"));
    HX_TRY_FAIL(hold_bodies(problem, body_of, n_body, body));
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

/* Adds the least-squares solution of the remainder to the motion; 0 for motions that nothing
 * holds. */
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

/* Component i of a prescribed point, 3 to 5: a rotation. */
static void add_value(const double *x, int i, double value, fit *f)
{
    double row[3];
    hx_rigid_body_held_row(&f->body, x, i, row);
    const double moved = i < 3 ? value : value * row[i - 3];
    double left = i < 3 ? moved - f->move[i] : moved;
    for (int c = 0; c < 3; c++) left -= row[c] * f->turn[c];
    if (i < 3) f->right_move[i] += left;
    for (int c = 0; c < 3; c++) f->right_turn[c] += row[c] * left;
    f->most = fmax(f->most, fabs(moved));
    f->off = fmax(f->off, fabs(left));
}

static void add_values(const hx_problem *problem, const int32_t *body_of, fit *f)
{
    const int64_t n_point = problem->space.n_point;
    const uint8_t *const fixed = problem->supports.fixed;
    for (int64_t p = next_held(fixed, 0, n_point); p < n_point;
         p = next_held(fixed, p + 1, n_point)) {
        const int32_t b = body_of ? body_of[p] : 0;
        for (int i = 0; b >= 0 && i < 3; i++)
            if (fixed[p] >> i & 1)
                add_value(problem->space.xyz + 3 * p, i, problem->supports.prescribed[3 * p + i],
                          &f[b]);
    }
    /* The held components of the point of a rigid set, for the bodies that it is part of. */
    for (int i = 0; i < problem->rigid.n; i++) {
        const hx_rigid_set *const set = &problem->rigid.set[i];
        int32_t last = -1;
        for (int64_t k = 0; set->held && k < set->n; k++) {
            const int32_t b = body_of ? body_of[problem->rigid.node[set->first + k]] : 0;
            if (b < 0 || b == last) continue;
            last = b;
            for (int m = 0; m < 6; m++)
                if (set->held >> m & 1u) add_value(set->point, m, set->value[m], &f[b]);
        }
    }
}

/* Points that several ranks have count several times, which changes no fit that is exact. */
static int sum_fit(const hx_reduce *reduce, fit *f)
{
    double most[2] = {f->most, f->off};
    if (!reduce) return HX_OK;
    HX_TRY(hx_reduce_sum(reduce, 3, f->right_move));
    HX_TRY(hx_reduce_sum(reduce, 3, f->right_turn));
    HX_TRY(hx_reduce_max(reduce, 2, most));
    f->most = most[0];
    f->off = most[1];
    return HX_OK;
}

/* Bodies as measured, body_of[n_point]. Each pass improves the fit by what rounding left of the one
 * before. */
static int fit_bodies(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                      const hx_rigid_body *body, fit *f, int *is)
{
    const hx_reduce *const reduce = hx_mesh_reduce(problem->mesh);
    const holds h = {.problem = problem, .body_of = body_of, .n_point = problem->space.n_point};
    hx_rigid_body *held = NULL;
    HX_TRY(hx_alloc(&held, (size_t)n_body, sizeof *held, "bodies"));
    for (int64_t b = 0; b < n_body; b++) {
        memcpy(held[b].lower, body[b].lower, sizeof held[b].lower);
        memcpy(held[b].upper, body[b].upper, sizeof held[b].upper);
    }
    const int rc = judge_bodies(&h, n_body, held);
    for (int64_t b = 0; b < n_body; b++) f[b].body = held[b];
    free(held);
    if (rc < 0) return rc;
    for (int pass = 0; pass < 4; pass++) {
        for (int64_t b = 0; b < n_body; b++) {
            memset(f[b].right_move, 0, sizeof f[b].right_move);
            memset(f[b].right_turn, 0, sizeof f[b].right_turn);
            f[b].most = f[b].off = 0.0;
        }
        add_values(problem, body_of, f);
        if (problem->mesh->ownership) HX_TRY(sum_fit(reduce, f));
        for (int64_t b = 0; b < n_body && pass < 3; b++) improve_fit(&f[b]);
    }
    *is = 1;
    for (int64_t b = 0; b < n_body; b++) *is &= f[b].off <= same_motion * f[b].most;
    return HX_OK;
}

int hx_problem_is_moved_rigidly(const hx_problem *problem, int *is, int64_t *n_body)
{
    const hx_mesh *const mesh = problem->mesh;
    int32_t *body_of = NULL, *of_point = NULL;
    hx_rigid_body *body = NULL;
    fit *f = NULL;
    int rc;
    *is = 0;
    *n_body = 1;
    if (!problem->supports.prescribed || hx_problem_is_heat(problem) || problem->springs.n > 0)
        return HX_OK;
    if (!mesh->ownership) {
        HX_TRY_FAIL(hx_alloc_raw(&body_of, (size_t)mesh->n_node, sizeof *body_of, "bodies"));
        HX_TRY_FAIL(hx_mesh_bodies(mesh, body_of, n_body));
    }
    HX_TRY_FAIL(hx_alloc(&body, (size_t)*n_body, sizeof *body, "bodies"));
    HX_TRY_FAIL(hx_alloc(&f, (size_t)*n_body, sizeof *f, "bodies"));
    measure_bodies(mesh, body_of, *n_body, body);
    if (body_of) HX_TRY_FAIL(bodies_of_points(&problem->space, body_of, &of_point));
    rc = fit_bodies(problem, of_point, *n_body, body, f, is);
fail:
    hx_free_large(body_of, (size_t)mesh->n_node * sizeof *body_of);
    free(of_point);
    free(body);
    free(f);
    return rc;
}

/* For heat: whether all prescribed values of each body are equal. */
static int have_one_temperature(const hx_problem *problem, const int32_t *body_of, fit *f)
{
    const double *const value = problem->supports.prescribed;
    for (int64_t p = 0; p < problem->space.n_point; p++) {
        const int32_t b = body_of[p];
        if (b < 0 || !problem->supports.fixed[p]) continue;
        if (f[b].body.n_fixed++ == 0) f[b].move[0] = value[p];
        f[b].most = fmax(f[b].most, fabs(value[p]));
        if (fabs(value[p] - f[b].move[0]) > same_motion * f[b].most) return 0;
    }
    return problem->films.n == 0;
}

int hx_rigid_bodies_are_moved(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                              const hx_rigid_body *body, int *is)
{
    fit *f = NULL;
    int rc = HX_OK;
    *is = 0;
    if (problem->mesh->ownership || problem->space.element == HX_ELEMENT_SPLINE) return HX_OK;
    if (!problem->supports.prescribed || problem->springs.n > 0) return HX_OK;
    HX_TRY(hx_alloc(&f, (size_t)n_body, sizeof *f, "bodies"));
    if (hx_problem_is_heat(problem))
        *is = have_one_temperature(problem, body_of, f);
    else
        rc = fit_bodies(problem, body_of, n_body, body, f, is);
    free(f);
    return rc;
}
