/* Line smoothing on stretched meshes: each point is in one line, no line is longer than 64 points;
 * the factors of a line undo the product of K with motions of its points, and leave out what is
 * held; there are no lines on a mesh that is not stretched. Refreshing the eigenvalues in the
 * middle of a solve does not change its z.
 *
 *     test_multigrid_lines [cpu | cuda] */
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/box_part.h"

static hx_device device;

static const hx_support_spec clamped[] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}}};
static const hx_load_spec pulled[] = {{"right", "test", HX_LOAD_TOTAL_FORCE, {0.2, 0.1, -1.0}, 1}};

static void *take(size_t n, size_t bytes)
{
    void *const p = calloc(n, bytes);
    if (!p) abort();
    return p;
}

/* The lines, on the host. */
typedef struct listed {
    int64_t n;
    int32_t *first, *point;
} listed;

static void get_lines(const hx_multigrid *mg, listed *l)
{
    const hx_mg_lines *const lines = &mg->lines;
    const size_t first = ((size_t)lines->n + 1) * sizeof *l->first,
                 point = (size_t)lines->n_point * sizeof *l->point;
    l->n = lines->n;
    l->first = take(1, first);
    l->point = take(1, point);
    CHECK_OK(device.ops->download(&device, l->first, lines->d_first, first));
    CHECK_OK(device.ops->download(&device, l->point, lines->d_point, point));
}

static void check_lists(const listed *l, int64_t n_node, int longest)
{
    int *seen = take((size_t)n_node, sizeof *seen), most = 0;
    for (int64_t k = 0; k < l->n; k++) {
        const int length = l->first[k + 1] - l->first[k];
        CHECK(length > 0);
        most = length > most ? length : most;
    }
    CHECK(l->first[0] == 0 && l->first[l->n] == n_node);
    for (int64_t p = 0; p < n_node; p++) seen[l->point[p]]++;
    for (int64_t a = 0; a < n_node; a++) CHECK(seen[a] == 1);
    CHECK_MSG(most == longest, "longest line %d, not %d", most, longest);
    free(seen);
}

/* x is nonzero on the points of a line; y = K x there is solved with the line's factors and must
 * give x. */
static void check_line(const fixture_solver *s, const hx_problem *problem, const listed *l,
                       int64_t line)
{
    const hx_multigrid *const mg = s->pc.impl;
    const size_t n = (size_t)s->op.linear.n;
    double *x = take(n, sizeof *x), *y = take(n, sizeof *y), off = 0.0;
    float *t = take(n, sizeof *t), *d_t = NULL;
    uint64_t seed = 7 + (uint64_t)line;
    for (int32_t p = l->first[line]; p < l->first[line + 1]; p++)
        for (int i = 0; i < 3; i++)
            if (!(problem->supports.fixed[l->point[p]] >> i & 1))
                x[3 * l->point[p] + i] = fixture_uniform(&seed, -1.0, 1.0);
    double *d_x = fixture_put(&device, n, x), *d_y = fixture_put(&device, n, x);
    CHECK_OK(hx_operator_apply(&s->op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    for (int32_t p = l->first[line]; p < l->first[line + 1]; p++)
        for (int i = 0; i < 3; i++) t[3 * l->point[p] + i] = (float)y[3 * l->point[p] + i];
    CHECK_OK(hx_device_put(&device, &d_t, t, n * sizeof *t));
    CHECK_OK(mg->smoother->apply(&device, &mg->splitting, NULL, d_t));
    CHECK_OK(device.ops->download(&device, t, d_t, n * sizeof *t));
    for (size_t k = 0; k < n; k++) test_worst(&off, fabs((double)t[k] - x[k]));
    CHECK_MSG(off <= 2e-3, "line %ld off by %g", (long)line, off);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    device.ops->release(&device, d_t);
    free(x);
    free(y);
    free(t);
}

/* z is where M left it, so that PCG can continue with it. */
static void check_refreshed(fixture_solver *s)
{
    const size_t n = (size_t)s->op.linear.n;
    double *r = take(n, sizeof *r);
    float *before = take(n, sizeof *before), *after = take(n, sizeof *after);
    uint64_t seed = 11;
    for (size_t k = 0; k < n; k++) r[k] = fixture_uniform(&seed, -1.0, 1.0);
    double *d_r = fixture_put(&device, n, r);
    CHECK_OK(s->pc.kind->apply(&s->pc, d_r, NULL));
    const float *const d_z = s->pc.kind->single_z(&s->pc);
    CHECK_OK(device.ops->download(&device, before, d_z, n * sizeof *before));
    CHECK(s->pc.kind->refresh(&s->pc) == 0);
    CHECK_OK(device.ops->download(&device, after, d_z, n * sizeof *after));
    CHECK(memcmp(before, after, n * sizeof *before) == 0);
    device.ops->release(&device, d_r);
    free(r);
    free(before);
    free(after);
}

static void test_part(const box_part *part, int longest)
{
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    hx_mesh mesh;
    hx_problem problem;
    fixture_solver s;
    listed l;
    uint64_t seed = 3;
    params.support = clamped;
    params.n_support = 1;
    params.load = pulled;
    params.n_load = 1;
    CHECK_OK(box_part_create(&mesh, part));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double *modulus = take((size_t)mesh.n_elem, sizeof *modulus);
    for (int64_t e = 0; e < mesh.n_elem; e++) modulus[e] = fixture_uniform(&seed, 0.1, 1.0);
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    const hx_multigrid *const mg = s.pc.impl;
    if (longest == 0) {
        CHECK(mg->lines.n == 0 && !mg->d_none);
    } else {
        get_lines(mg, &l);
        check_lists(&l, mesh.n_node, longest);
        for (int64_t k = 0; k < l.n; k++) check_line(&s, &problem, &l, k);
        free(l.first);
        free(l.point);
    }
    check_refreshed(&s);
    fixture_solver_free(&s);
    free(modulus);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    test_part(&(box_part){.n = {6, 4, 12}, .flat = 12.0}, 13);
    test_part(&(box_part){.n = {5, 3, 9}, .flat = 9.0, .distort = 0.05}, 10);
    test_part(&(box_part){.n = {2, 2, 80}, .flat = 12.0}, 64); /* 81 points: cut */
    test_part(&(box_part){.n = {8, 6, 6}}, 0);
    hx_device_close(&device);
    TEST_END();
}
