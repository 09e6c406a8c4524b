/* Rigid motions that supports and springs leave free, body by body.
 *
 * The six rigid motions of a body about its centre (rotations scaled by its size) are restricted to
 * the fixed degrees of freedom and those with springs; a null vector of their Gram matrix is a
 * motion that nothing holds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/mesh_quality.h"
#include "problem_internal.h"
#include "rigid_body.h"
#include "symmetric.h"

/* An eigenvalue of the Gram matrix, relative to the largest, up to which its motion is free. */
static const double free_eigenvalue = 1e-10;

static void body_centre(const hx_rigid_body *body, double centre[3], double *size)
{
    *size = 0.0;
    for (int i = 0; i < 3; i++) {
        centre[i] = 0.5 * (body->lower[i] + body->upper[i]);
        *size = fmax(*size, 0.5 * (body->upper[i] - body->lower[i]));
    }
}

/* Component i of the six motions at x: translations, then rotations about x, y, z. */
static void motions(const hx_rigid_body *body, const double *x, int i, double phi[6])
{
    double centre[3], size;
    body_centre(body, centre, &size);
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    memset(phi, 0, 6 * sizeof *phi);
    phi[i] = 1.0;
    phi[3 + j] = (x[k] - centre[k]) / size; /* (omega x d)_i = omega_j d_k - omega_k d_j */
    phi[3 + k] = -(x[j] - centre[j]) / size;
}

/* Component i at x is held. */
static void add_held(const double *x, int i, hx_rigid_body *body)
{
    double phi[6];
    motions(body, x, i, phi);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) body->gram[r][c] += phi[r] * phi[c];
    body->n_fixed++;
}

/* Smallest eigenvalue and its vector of a symmetric 6 x 6 matrix. */
static double smallest_eigen(double a[6][6], double vector[6], double *largest)
{
    double v[6][6];
    hx_symmetric_rotate(6, a[0], v[0]);
    int least = 0;
    *largest = a[0][0];
    for (int i = 1; i < 6; i++) {
        if (a[i][i] < a[least][least]) least = i;
        if (a[i][i] > *largest) *largest = a[i][i];
    }
    for (int k = 0; k < 6; k++) vector[k] = v[k][least];
    return a[least][least];
}

static void describe_direction(const double d[3], char *text, size_t n_text)
{
    const double length = hx_norm3(d);
    for (int i = 0; i < 3; i++)
        if (fabs(d[i]) > 0.999 * length) {
            snprintf(text, n_text, "%c", "xyz"[i]);
            return;
        }
    snprintf(text, n_text, "(%.3g, %.3g, %.3g)", d[0] / length, d[1] / length, d[2] / length);
}

/* "translation along x" or "rotation about an axis along z through (1, 2, 3)". */
static void describe_motion(const hx_rigid_body *body, const double motion[6], char *text,
                            size_t n_text)
{
    double centre[3], size;
    char direction[64];
    const double *t = motion, *w = motion + 3;
    const double ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    body_centre(body, centre, &size);
    if (ww < 1e-8) {
        describe_direction(t, direction, sizeof direction);
        snprintf(text, n_text, "translation along %s", direction);
        return;
    }
    describe_direction(w, direction, sizeof direction);
    double point[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        point[i] = centre[i] + size * (w[j] * t[k] - w[k] * t[j]) / ww;
        if (fabs(point[i]) < 1e-9 * size) point[i] = 0.0; /* rounding */
    }
    snprintf(text, n_text, "rotation about an axis along %s through (%.6g, %.6g, %.6g)", direction,
             point[0], point[1], point[2]);
}

/* The held motions of a point that goes with a rigid set, for the bodies that it is part of. */
static void add_held_point(const hx_problem *problem, const hx_rigid_set *set,
                           const int32_t *body_of, hx_rigid_body *body)
{
    int64_t last = -1;
    for (int64_t k = 0; set->held && k < set->n; k++) {
        const int64_t of = body_of[problem->rigid.node[set->first + k]];
        if (of < 0 || of == last) continue;
        hx_rigid_body *const to = &body[last = of];
        for (int i = 0; i < 3; i++)
            if (set->held >> i & 1u) add_held(set->point, i, to);
        for (int i = 3; i < 6; i++) {
            if (!(set->held >> i & 1u)) continue;
            to->gram[i][i] += 1.0;
            to->n_fixed++;
        }
    }
}

static int check_body(const hx_problem *problem, hx_rigid_body *body, int64_t n_body,
                      const char *origin)
{
    double motion[6], largest;
    char text[192], which[96] = "the model";
    if (n_body > 1)
        snprintf(which, sizeof which, "the body that holds node %lld (one of %lld bodies)",
                 (long long)hx_mesh_node_number(problem->mesh, body->first_node),
                 (long long)n_body);
    if (body->n_fixed == 0)
        return HX_RAISE(HX_EINPUT, "%s: %s has no support: fix at least six degrees of freedom",
                        origin, which);
    const double least = smallest_eigen(body->gram, motion, &largest);
    if (least > free_eigenvalue * largest) return HX_OK;
    describe_motion(body, motion, text, sizeof text);
    return HX_RAISE(HX_EINPUT, "%s: the supports leave %s a rigid motion, a %s: fix more", origin,
                    which, text);
}

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
static int spread_extents(const hx_all *all, int n, hx_rigid_body *body, double (*most)[6])
{
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 3; i++) {
            const int is_here = body[b].first_node >= 0;
            most[b][i] = is_here ? -body[b].lower[i] : -INFINITY;
            most[b][3 + i] = is_here ? body[b].upper[i] : -INFINITY;
        }
    HX_TRY(hx_all_most(all, 6 * n, most[0]));
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
    const hx_all *const all = hx_mesh_all(problem->mesh);
    double(*most)[6] = NULL;
    int rc = HX_OK;
    measure_points(problem->space.n_point, problem->space.xyz, body_of, n_body, body);
    if (!all) return HX_OK;
    HX_TRY(hx_alloc_raw(&most, BODIES_AT_ONCE, sizeof *most, "bodies"));
    for (int64_t b = 0; b < n_body && rc == HX_OK; b += BODIES_AT_ONCE) {
        const int64_t n = n_body - b < BODIES_AT_ONCE ? n_body - b : BODIES_AT_ONCE;
        rc = spread_extents(all, (int)n, body + b, most);
    }
    free(most);
    return rc;
}

int hx_rigid_bodies_sum(const hx_problem *problem, int64_t n_body, int n, double *value)
{
    const hx_all *const all = hx_mesh_all(problem->mesh);
    for (int64_t b = 0; all && b < n_body; b += BODIES_AT_ONCE) {
        const int64_t n_now = n_body - b < BODIES_AT_ONCE ? n_body - b : BODIES_AT_ONCE;
        HX_TRY(hx_all_sum(all, (int)n_now * n, value + n * b));
    }
    return HX_OK;
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

/* Component i of a point holds its body. */
static void hold_point(const hx_problem *problem, int64_t point, int i, const int32_t *body_of,
                       hx_rigid_body *body)
{
    const int32_t to = body_of[point];
    if (to >= 0) add_held(problem->space.xyz + 3 * point, i, &body[to]);
}

/* What is held of bodies in all processes. */
static int sum_held(const hx_problem *problem, int64_t n_body, hx_rigid_body *body)
{
    enum { N = 37 }; /* gram, n_fixed */
    double(*held)[N] = NULL;
    if (!hx_mesh_all(problem->mesh)) return HX_OK;
    HX_TRY(hx_alloc_raw(&held, (size_t)n_body, sizeof *held, "bodies"));
    for (int64_t b = 0; b < n_body; b++) {
        memcpy(held[b], body[b].gram, sizeof body[b].gram);
        held[b][N - 1] = (double)body[b].n_fixed;
    }
    const int rc = hx_rigid_bodies_sum(problem, n_body, N, held[0]);
    for (int64_t b = 0; b < n_body; b++) {
        memcpy(body[b].gram, held[b], sizeof body[b].gram);
        body[b].n_fixed = (int64_t)held[b][N - 1];
    }
    free(held);
    return rc;
}

int hx_rigid_bodies_hold(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                         hx_rigid_body *body)
{
    const hx_space *const space = &problem->space;
    const int64_t n_point =
        space->element == HX_ELEMENT_SPLINE ? space->n_point : problem->mesh->n_node;
    const uint8_t *const fixed = problem->supports.fixed;
    for (int64_t node = next_held(fixed, 0, n_point); node < n_point;
         node = next_held(fixed, node + 1, n_point))
        for (int i = 0; i < 3 && hx_mesh_owns_node(problem->mesh, node); i++)
            if (fixed[node] >> i & 1) hold_point(problem, node, i, body_of, body);
    for (int64_t k = 0; k < problem->springs.n; k++) { /* however soft */
        const int64_t node = problem->springs.dof[k] / 3;
        if (node >= n_point) continue; /* the corners of its face have springs too */
        hold_point(problem, node, (int)(problem->springs.dof[k] % 3), body_of, body);
    }
    for (int i = 0; i < problem->rigid.n; i++)
        add_held_point(problem, &problem->rigid.set[i], body_of, body);
    return sum_held(problem, n_body, body);
}

void hx_rigid_body_add_work(const hx_rigid_body *body, const double *x, const double *force,
                            double work[6])
{
    for (int i = 0; i < 3; i++) {
        double phi[6];
        motions(body, x, i, phi);
        for (int r = 0; r < 6; r++) work[r] += phi[r] * force[i];
    }
}

int hx_rigid_body_is_driven(const hx_rigid_body *body, const double work[6], double size)
{
    static const double rounding = 1e-6; /* of coordinates in files, too */
    double a[6][6], v[6][6], largest = 0.0;
    memcpy(a, body->gram, sizeof a);
    hx_symmetric_rotate(6, a[0], v[0]);
    for (int i = 0; i < 6; i++) largest = fmax(largest, a[i][i]);
    for (int i = 0; i < 6; i++) {
        double sum = 0.0;
        for (int k = 0; k < 6; k++) sum += v[k][i] * work[k];
        if (a[i][i] <= free_eigenvalue * largest && fabs(sum) > rounding * size) return 1;
    }
    return 0;
}

/* What holds own points of a window, where the mesh counts as one body. */
static int check_one_body(hx_problem *problem, const char *origin)
{
    const hx_mesh *const mesh = problem->mesh;
    hx_rigid_body body = {.first_node = 0};
    problem->n_body = 1;
    measure_bodies(mesh, NULL, 1, &body);
    for (int64_t node = 0; node < mesh->n_node; node++)
        for (int i = 0; hx_mesh_owns_node(mesh, node) && i < 3; i++)
            if (problem->supports.fixed[node] >> i & 1) add_held(mesh->xyz + 3 * node, i, &body);
    HX_TRY(hx_all_sum(hx_mesh_all(mesh), 36, body.gram[0]));
    HX_TRY(hx_all_sum_i64(hx_mesh_all(mesh), 1, &body.n_fixed));
    return check_body(problem, &body, 1, origin);
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
    if (mesh->window) return check_one_body(problem, origin);
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
    hx_rigid_body body;         /* its gram is that of all prescribed components */
    double motion[6], right[6]; /* coefficients of the six motions; of the normal equations */
    double most, off;           /* the largest value, and the largest distance from the motion */
} fit;

/* Relative to the largest value, up to which a value follows the motion. */
static const double same_motion = 1e-12;

/* motion += the least-squares solution of gram motion = right, 0 for motions that nothing holds. */
static void improve_fit(fit *f)
{
    double a[6][6], v[6][6], largest = 0.0;
    memcpy(a, f->body.gram, sizeof a);
    hx_symmetric_rotate(6, a[0], v[0]);
    for (int i = 0; i < 6; i++) largest = fmax(largest, a[i][i]);
    for (int i = 0; i < 6; i++) {
        double sum = 0.0;
        if (!(a[i][i] > free_eigenvalue * largest)) continue;
        for (int k = 0; k < 6; k++) sum += v[k][i] * f->right[k];
        for (int k = 0; k < 6; k++) f->motion[k] += v[k][i] * sum / a[i][i];
    }
}

static void start_pass(fit *f)
{
    memset(f->body.gram, 0, sizeof f->body.gram);
    memset(f->right, 0, sizeof f->right);
    f->most = f->off = 0.0;
}

/* Component i of a prescribed point. */
static void add_value(const double *x, int i, double value, fit *f)
{
    double phi[6], rest = value;
    motions(&f->body, x, i, phi);
    for (int k = 0; k < 6; k++) rest -= phi[k] * f->motion[k];
    for (int k = 0; k < 6; k++) f->right[k] += phi[k] * rest;
    add_held(x, i, &f->body);
    f->most = fmax(f->most, fabs(value));
    f->off = fmax(f->off, fabs(rest));
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
    HX_TRY(hx_all_sum(all, 36, f->body.gram[0]));
    HX_TRY(hx_all_sum(all, 6, f->right));
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
    for (int64_t b = 0; b < n_body; b++) f[b].body = body[b];
    rc = fit_bodies(problem, body_of, n_body, f, is);
fail:
    hx_free_large(body_of, (size_t)mesh->n_node * sizeof *body_of);
    free(body);
    free(f);
    return rc;
}

/* Of heat. */
static int have_one_temperature(const hx_problem *problem, const int32_t *body_of, fit *f)
{
    const double *const value = problem->supports.prescribed;
    for (int64_t p = 0; p < problem->space.n_point; p++) {
        const int32_t b = body_of[p];
        if (b < 0 || !problem->supports.fixed[p]) continue;
        if (f[b].body.n_fixed++ == 0) f[b].right[0] = value[p];
        f[b].most = fmax(f[b].most, fabs(value[p]));
        if (fabs(value[p] - f[b].right[0]) > same_motion * f[b].most) return 0;
    }
    return problem->films.n == 0;
}

int hx_rigid_bodies_are_moved(const hx_problem *problem, const int32_t *body_of, int64_t n_body,
                              const hx_rigid_body *body, int *is)
{
    fit *f = NULL;
    int rc = HX_OK;
    *is = 0;
    if (problem->mesh->window || problem->space.element == HX_ELEMENT_SPLINE) return HX_OK;
    if (!problem->supports.prescribed || holds_otherwise(problem)) return HX_OK;
    HX_TRY(hx_alloc(&f, (size_t)n_body, sizeof *f, "bodies"));
    if (hx_problem_is_heat(problem)) {
        *is = have_one_temperature(problem, body_of, f);
    } else {
        for (int64_t b = 0; b < n_body; b++) f[b].body = body[b];
        rc = fit_bodies(problem, body_of, n_body, f, is);
    }
    free(f);
    return rc;
}
