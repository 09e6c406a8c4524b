#include "local_patch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/krylov/pcg.h"

/* Corners of a tetrahedron in the collapsed hexahedron of a mesh. */
static const int corner_at[4] = {0, 1, 2, 4};

/* The ten points of a tetrahedron: its corners, and the middles of these edges. */
static const int edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
enum { AB = 4, AC, AD, BC, BD, CD, N_POINT = 10, N_CHILD = 8 };

/* The four children at the corners, and for each inner diagonal the four around it. */
static const int at_corner[4][4] = {
    {0, AB, AC, AD}, {AB, 1, BC, BD}, {AC, BC, 2, CD}, {AD, BD, CD, 3}};
static const int diagonal[3][2] = {{AB, CD}, {BC, AD}, {AC, BD}};
static const int around[3][4] = {{AC, BC, BD, AD}, {AB, AC, CD, BD}, {AB, BC, CD, AD}};

/* --- what acts on the whole part --- */

int hx_patch_find_held(const hx_problem *problem, int load_case, uint8_t **is_held)
{
    const int64_t n = problem->space.n_point;
    const double *const force = problem->cases.force[load_case];
    HX_TRY(hx_alloc(is_held, (size_t)n, 1, "points of a patch"));
    for (int64_t k = 0; k < n; k++)
        (*is_held)[k] = problem->supports.fixed[k] != 0 || force[3 * k] != 0.0 ||
                        force[3 * k + 1] != 0.0 || force[3 * k + 2] != 0.0;
    for (int64_t k = 0; k < problem->springs.n; k++) (*is_held)[problem->springs.dof[k] / 3] = 1;
    for (int64_t k = 0; k < problem->rigid.n_node; k++) (*is_held)[problem->rigid.node[k]] = 1;
    return HX_OK;
}

/* --- the tetrahedra that are split --- */

typedef struct choice {
    const hx_patch_source *from;
    uint8_t *is_seen; /* [n_elem] 1: chosen, 2: not (owned) */
    int32_t *elem;    /* [n] chosen tetrahedra (owned) */
    int64_t n;
    int32_t *point; /* [n_point of the source] number in the patch; -1: none (owned) */
} choice;

static void choice_free(choice *c)
{
    free(c->is_seen);
    free(c->elem);
    free(c->point);
}

static void find_points(const hx_patch_source *from, int64_t e, int32_t point[N_POINT])
{
    const int32_t *const conn = from->space->mesh->conn + 8 * e;
    for (int a = 0; a < 4; a++) point[a] = conn[corner_at[a]];
    for (int k = 0; k < 6; k++)
        point[4 + k] = (int32_t)hx_space_middle(from->space, point[edge[k][0]], point[edge[k][1]]);
}

static void offer(choice *c, int64_t e, const double centre[3], double radius)
{
    int32_t point[N_POINT];
    double x[3], square = 0.0;
    int is_held = 0;
    if (e < 0 || c->is_seen[e]) return;
    hx_mesh_centroid(c->from->space->mesh, e, x);
    for (int d = 0; d < 3; d++) square += (x[d] - centre[d]) * (x[d] - centre[d]);
    find_points(c->from, e, point);
    for (int a = 0; a < N_POINT; a++) is_held |= c->from->is_held[point[a]];
    c->is_seen[e] = is_held || square > radius * radius ? 2 : 1;
    if (c->is_seen[e] == 1) c->elem[c->n++] = (int32_t)e;
}

/* Chooses from face to face. */
static int choose(choice *c, int64_t node, double radius)
{
    const hx_mesh *const mesh = c->from->space->mesh;
    const double *const centre = mesh->xyz + 3 * node;
    HX_TRY(hx_alloc(&c->is_seen, (size_t)mesh->n_elem, 1, "patch"));
    HX_TRY(hx_alloc_raw(&c->elem, (size_t)mesh->n_elem, sizeof *c->elem, "patch"));
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        offer(c, mesh->node_elem[k] / 8, centre, radius);
    for (int64_t i = 0; i < c->n; i++)
        for (int f = 0; f < 6; f++) {
            int32_t corner[4];
            const int64_t e = c->elem[i];
            const int n = hx_cell_face(mesh->conn + 8 * e, f, corner);
            if (n >= 3) offer(c, hx_mesh_face_neighbour(mesh, e, n, corner), centre, radius);
        }
    return HX_OK;
}

/* --- mesh --- */

static double squared_distance(const double *xyz, int32_t a, int32_t b)
{
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
        const double step = xyz[3 * (int64_t)a + d] - xyz[3 * (int64_t)b + d];
        sum += step * step;
    }
    return sum;
}

/* child[8][4] := points (0 to 9) of the children; the shortest inner diagonal gives the best. */
static void split(const double *xyz, const int32_t point[N_POINT], int child[N_CHILD][4])
{
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (squared_distance(xyz, point[diagonal[k][0]], point[diagonal[k][1]]) <
            squared_distance(xyz, point[diagonal[best][0]], point[diagonal[best][1]]))
            best = k;
    memcpy(child, at_corner, sizeof at_corner);
    for (int i = 0; i < 4; i++) {
        int *const c = child[4 + i];
        c[0] = diagonal[best][0];
        c[1] = diagonal[best][1];
        c[2] = around[best][i];
        c[3] = around[best][(i + 1) % 4];
    }
}

/* 1 if a tetrahedron is left-handed. */
static int is_inverted(const double *xyz, const int32_t t[4])
{
    double v[3][3];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            v[i][d] = xyz[3 * (int64_t)t[i + 1] + d] - xyz[3 * (int64_t)t[0] + d];
    return v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
               v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
               v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]) <
           0.0;
}

/* Numbers the points of the chosen tetrahedra, the nodes of the patch. */
static int64_t number_points(choice *c)
{
    int64_t n = 0;
    for (int64_t k = 0; k < c->from->space->n_point; k++) c->point[k] = -1;
    for (int64_t i = 0; i < c->n; i++) {
        int32_t point[N_POINT];
        find_points(c->from, c->elem[i], point);
        for (int a = 0; a < N_POINT; a++)
            if (c->point[point[a]] < 0) c->point[point[a]] = (int32_t)n++;
    }
    return n;
}

static int make_mesh(hx_patch *p, choice *c)
{
    const hx_space *const space = c->from->space;
    double *xyz = NULL;
    int32_t *conn = NULL;
    HX_TRY(hx_alloc_raw(&c->point, (size_t)space->n_point, sizeof *c->point, "patch"));
    const int64_t n_node = number_points(c);
    HX_TRY(hx_alloc_raw(&p->root, N_CHILD * (size_t)c->n, sizeof *p->root, "patch"));
    HX_TRY(hx_alloc_raw(&xyz, 3 * (size_t)n_node, sizeof *xyz, "patch"));
    const int rc = hx_alloc_raw(&conn, 8 * N_CHILD * (size_t)c->n, sizeof *conn, "patch");
    if (rc < 0) {
        free(xyz);
        return rc;
    }
    for (int64_t k = 0; k < space->n_point; k++)
        if (c->point[k] >= 0)
            memcpy(xyz + 3 * (int64_t)c->point[k], space->xyz + 3 * k, 3 * sizeof *xyz);
    for (int64_t i = 0; i < c->n; i++) {
        int32_t point[N_POINT];
        int child[N_CHILD][4];
        find_points(c->from, c->elem[i], point);
        for (int a = 0; a < N_POINT; a++) point[a] = c->point[point[a]];
        split(xyz, point, child);
        for (int k = 0; k < N_CHILD; k++) {
            int32_t t[4], *const to = conn + 8 * (N_CHILD * i + k);
            for (int a = 0; a < 4; a++) t[a] = point[child[k][a]];
            if (is_inverted(xyz, t)) {
                const int32_t first = t[0];
                t[0] = t[1];
                t[1] = first;
            }
            to[0] = t[0];
            to[1] = t[1];
            to[2] = to[3] = t[2];
            to[4] = to[5] = to[6] = to[7] = t[3];
            p->root[N_CHILD * i + k] = c->from->root ? c->from->root[c->elem[i]] : c->elem[i];
        }
    }
    HX_TRY(hx_mesh_create(&p->mesh, "patch", n_node, xyz, N_CHILD * c->n, conn));
    HX_TRY(hx_mesh_finish(&p->mesh));
    return hx_space_create(&p->space, &p->mesh, HX_ELEMENT_QUADRATIC);
}

/* --- displacements --- */

/* Barycentric coordinates of the ten points. */
static void coordinates_of(int point, double at[4])
{
    memset(at, 0, 4 * sizeof *at);
    if (point < 4) at[point] = 1.0;
    if (point >= 4) at[edge[point - 4][0]] = at[edge[point - 4][1]] = 0.5;
}

static void interpolate(const hx_patch_source *from, const int32_t point[N_POINT],
                        const double at[4], double u[3])
{
    u[0] = u[1] = u[2] = 0.0;
    for (int a = 0; a < N_POINT; a++) {
        const double shape =
            a < 4 ? at[a] * (2.0 * at[a] - 1.0) : 4.0 * at[edge[a - 4][0]] * at[edge[a - 4][1]];
        for (int d = 0; d < 3; d++) u[d] += shape * from->u[3 * (int64_t)point[a] + d];
    }
}

/* Bit a: the face opposite corner a was cut out: there is a tetrahedron behind it that was not
 * chosen. */
static unsigned cut_faces(const choice *c, int64_t e)
{
    const hx_mesh *const mesh = c->from->space->mesh;
    const int32_t *const conn = mesh->conn + 8 * e;
    unsigned cut = 0;
    for (int f = 0; f < 6; f++) {
        int32_t corner[4];
        const int n = hx_cell_face(conn, f, corner);
        if (n < 3) continue;
        const int64_t other = hx_mesh_face_neighbour(mesh, e, n, corner);
        if (other < 0 || c->is_seen[other] == 1) continue;
        for (int a = 0; a < 4; a++) {
            const int32_t node = conn[corner_at[a]];
            if (node != corner[0] && node != corner[1] && node != corner[2]) cut |= 1u << a;
        }
    }
    return cut;
}

/* Interpolates at a point of the patch between the points p and q (0 to 9) of tetrahedron e. */
static void take_point(hx_patch *patch, const hx_patch_source *from, const int32_t point[N_POINT],
                       unsigned cut, int p, int q, int64_t to)
{
    double a[4], b[4], at[4];
    coordinates_of(p, a);
    coordinates_of(q, b);
    for (int i = 0; i < 4; i++) {
        at[i] = 0.5 * (a[i] + b[i]);
        if (cut >> i & 1u && at[i] == 0.0) patch->is_held[to] = 1;
    }
    interpolate(from, point, at, patch->u + 3 * to);
}

static int take_displacements(hx_patch *p, const choice *c)
{
    HX_TRY(hx_alloc(&p->u, 3 * (size_t)p->space.n_point, sizeof *p->u, "patch"));
    HX_TRY(hx_alloc(&p->is_held, (size_t)p->space.n_point, 1, "patch"));
    for (int64_t i = 0; i < c->n; i++) {
        int32_t point[N_POINT], own[N_POINT];
        const unsigned cut = cut_faces(c, c->elem[i]);
        find_points(c->from, c->elem[i], point);
        for (int a = 0; a < N_POINT; a++) own[a] = c->point[point[a]];
        for (int a = 0; a < N_POINT; a++)
            for (int b = a; b < N_POINT; b++) {
                const int64_t to = a == b ? own[a] : hx_space_middle(&p->space, own[a], own[b]);
                if (to >= 0) take_point(p, c->from, point, cut, a, b, to);
            }
    }
    return HX_OK;
}

int hx_patch_create(hx_patch *patch, const hx_patch_source *from, int64_t node, double radius)
{
    choice c = {.from = from};
    int rc;
    memset(patch, 0, sizeof *patch);
    HX_TRY_FAIL(choose(&c, node, radius));
    if (c.n == 0) goto fail;
    HX_TRY_FAIL(make_mesh(patch, &c));
    HX_TRY_FAIL(take_displacements(patch, &c));
fail:
    choice_free(&c);
    if (rc < 0) hx_patch_free(patch);
    return rc;
}

/* --- solve --- */

/* Loads by mass and thermal expansion of the case. */
static int copy_case(hx_problem *to, const hx_problem *whole, int load_case, const int32_t *root)
{
    const hx_expansion_field *const source = hx_problem_expands(whole, load_case);
    if (hx_problem_body(whole, load_case)) {
        HX_TRY(hx_alloc(&to->cases.body, 1, sizeof *to->cases.body, "patch"));
        to->cases.body[0] = *hx_problem_body(whole, load_case);
    }
    if (!source) return HX_OK;
    HX_TRY(hx_alloc(&to->cases.expansion, 1, sizeof *to->cases.expansion, "patch"));
    hx_expansion_field *const field = &to->cases.expansion[0];
    *field = *source;
    field->strain = NULL;
    if (!source->strain) return HX_OK;
    HX_TRY(hx_alloc_raw(&field->strain, (size_t)to->mesh->n_elem, sizeof *field->strain, "patch"));
    for (int64_t e = 0; e < to->mesh->n_elem; e++) field->strain[e] = source->strain[root[e]];
    return HX_OK;
}

static int make_problem(hx_patch *p, const hx_problem *whole, int load_case)
{
    hx_problem_params params = hx_problem_defaults();
    hx_notes lacking = {0}; /* that nothing holds the patch, before its points are held below */
    params.origin = "patch";
    params.young = whole->young;
    params.poisson = whole->poisson;
    params.density = whole->density;
    params.expansion = whole->expansion;
    params.space = &p->space;
    params.lacking = &lacking;
    const int rc = hx_problem_create(&p->problem, &p->mesh, &params);
    hx_notes_free(&lacking);
    HX_TRY(rc);
    p->problem.multigrid = whole->multigrid;
    HX_TRY(hx_problem_copy_materials(&p->problem, whole, p->root));
    HX_TRY(copy_case(&p->problem, whole, load_case, p->root));
    hx_supports *const supports = &p->problem.supports;
    if (!supports->prescribed)
        HX_TRY(hx_alloc(&supports->prescribed, 3 * (size_t)p->space.n_point,
                        sizeof *supports->prescribed, "patch"));
    for (int64_t k = 0; k < p->space.n_point; k++) {
        if (!p->is_held[k]) continue;
        supports->fixed[k] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
        memcpy(supports->prescribed + 3 * k, p->u + 3 * k, 3 * sizeof *p->u);
    }
    return HX_OK;
}

int hx_patch_solve(hx_patch *patch, const hx_problem *whole, int load_case, hx_device *device,
                   const hx_solver_params *params)
{
    hx_analysis analysis = {0};
    int rc;
    HX_TRY_FAIL(make_problem(patch, whole, load_case));
    HX_TRY_FAIL(
        hx_alloc_raw(&patch->modulus, (size_t)patch->mesh.n_elem, sizeof *patch->modulus, "patch"));
    HX_TRY_FAIL(hx_analysis_open(&analysis, device, &patch->problem, params));
    HX_TRY_FAIL(hx_analysis_solve_density(&analysis, NULL, 1.0));
    patch->n_iteration = analysis.record.pcg_iterations;
    if (analysis.record.reason != HX_PCG_CONVERGED)
        HX_TRY_FAIL(
            HX_RAISE(HX_ENUMERIC, "the solve of %lld finer tetrahedra did not converge (%s)",
                     (long long)patch->mesh.n_elem, hx_pcg_reason_name(analysis.record.reason)));
    HX_TRY_FAIL(hx_analysis_point_displacement(&analysis, 0, patch->u));
    HX_TRY_FAIL(hx_analysis_modulus(&analysis, patch->modulus));
fail:
    hx_analysis_free(&analysis);
    return rc;
}

hx_patch_source hx_patch_as_source(const hx_patch *patch)
{
    return (hx_patch_source){&patch->space, patch->u, patch->is_held, patch->root};
}

void hx_patch_free(hx_patch *patch)
{
    hx_problem_free(&patch->problem);
    hx_space_free(&patch->space);
    hx_mesh_free(&patch->mesh);
    free(patch->u);
    free(patch->modulus);
    free(patch->is_held);
    free(patch->root);
    memset(patch, 0, sizeof *patch);
}
