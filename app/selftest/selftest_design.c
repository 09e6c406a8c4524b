/* Whole designs: known compliances, and the same bits in a second run and from a checkpoint. */
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/generate/generate.h"
#include "selftest_job.h"

/* --- compliances of the cantilever of P1 from an independent structured program --- */

typedef struct known {
    const char *what, *precond;
    hx_generate_params mesh;
    double compliance, tolerance, bound;
} known;

static int uniform_compliance(hx_selftest *t, const hx_problem *problem, const known *k,
                              double *found)
{
    hx_selftest_job_params params = {.filter = "none",
                                     .precond = k->precond,
                                     .tolerance = k->tolerance,
                                     .design = hx_design_defaults};
    hx_selftest_job job;
    params.design.volume_fraction = 0.3;
    params.design.rho_min = 0.1;
    int rc = hx_selftest_job_open(&job, t, problem, &params);
    if (rc >= 0) rc = hx_selftest_job_step(&job, found);
    if (rc >= 0)
        hx_selftest_note(t, "%d %s", job.analysis.record.pcg_iterations,
                         hx_noun(job.analysis.record.pcg_iterations, "iteration", "iterations"));
    hx_selftest_job_close(&job);
    return rc;
}

/* Held on the left, pulled down at the lower edge on the right; both structs are zeroed. */
static int make_cantilever(hx_mesh *mesh, hx_problem *problem, const hx_generate_params *size)
{
    const hx_support_spec support = {
        .set = "left", .origin = "selftest", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {
        "right-lower-edge", "selftest", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = hx_problem_defaults();
    params.origin = "selftest";
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    HX_TRY(hx_generate(hx_generator_find("cantilever"), mesh, size));
    HX_TRY(hx_mesh_reorder(mesh));
    HX_TRY(hx_mesh_finish(mesh));
    return hx_problem_create(problem, mesh, &params);
}

static int check_known(hx_selftest *t)
{
    static const known list[] = {
        {"cantilever, 16 elements",
         "jacobi",
         {.nx = 4, .ny = 2, .nz = 2},
         5548.982079,
         1e-12,
         1e-9},
        {"cantilever, 31,250 elements", "multigrid", {.size = 1}, 43716.711, 1e-8, 1e-7}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const known *const k = &list[i];
        const hx_precond_kind *const kind = hx_selftest_precond(t, k->precond);
        double found = NAN;
        if (!kind || (kind->runs_on && !kind->runs_on(t->parts.device))) continue;
        hx_selftest_begin(t, "%s", k->what);
        hx_mesh mesh;
        hx_problem problem;
        memset(&mesh, 0, sizeof mesh);
        memset(&problem, 0, sizeof problem);
        int rc = make_cantilever(&mesh, &problem, &k->mesh);
        if (rc >= 0) rc = uniform_compliance(t, &problem, k, &found);
        hx_problem_free(&problem);
        hx_mesh_free(&mesh);
        HX_TRY(
            hx_selftest_end(t, rc, fabs(found / k->compliance - 1.0), k->bound, "another program"));
    }
    return HX_OK;
}

/* --- the same product repeatedly: finds a machine with occasional errors --- */

enum { N_PRODUCT = 100 };

static int multiply_again(hx_selftest *t, const hx_problem *problem, double *n_other)
{
    const hx_operator_kind *const op_kind = hx_selftest_operator(t, 3, HX_ELEMENT_LINEAR);
    hx_device *const dev = &t->device;
    double *modulus = NULL, *first = NULL, *d_xy = NULL;
    hx_operator op = {0};
    int rc;
    HX_TRY_FAIL(hx_operator_create(&op, dev, op_kind, hx_layout_first(op_kind), problem, 0));
    HX_TRY_FAIL(hx_alloc(&modulus, (size_t)problem->mesh->n_elem, sizeof *modulus, "moduli"));
    HX_TRY_FAIL(hx_alloc(&first, 2 * (size_t)op.linear.n, sizeof *first, "products"));
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        modulus[e] = hx_sample_random(52, e, 1e-3, 1.0);
    HX_TRY_FAIL(hx_operator_set_modulus(&op, modulus));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, 2 * op.linear.n, &d_xy));
    const int64_t n = op.linear.n;
    const size_t bytes = (size_t)n * sizeof *first;
    for (int64_t i = 0; i < n; i++) first[i] = hx_sample_random(51, i, -1.0, 1.0);
    HX_TRY_FAIL(dev->ops->upload(dev, d_xy, first, bytes));
    for (int k = 0; k < N_PRODUCT; k++) {
        double *const to = first + (k > 0 ? n : 0);
        HX_TRY_FAIL(dev->ops->zero(dev, d_xy + n, bytes));
        HX_TRY_FAIL(hx_operator_apply(&op, d_xy, d_xy + n));
        HX_TRY_FAIL(dev->ops->download(dev, to, d_xy + n, bytes));
        *n_other += hx_selftest_other_bits(n, to, first);
    }
fail:
    dev->ops->release(dev, d_xy);
    hx_operator_free(&op);
    free(modulus);
    free(first);
    return rc;
}

static int check_products(hx_selftest *t)
{
    const hx_generate_params size = {.nx = 60, .ny = 30, .nz = 30};
    double n_other = 0.0;
    hx_mesh mesh;
    hx_problem problem;
    memset(&mesh, 0, sizeof mesh);
    memset(&problem, 0, sizeof problem);
    hx_selftest_begin(t, "%d products, 54,000 elements", N_PRODUCT);
    int rc = make_cantilever(&mesh, &problem, &size);
    if (rc >= 0) rc = multiply_again(t, &problem, &n_other);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    return hx_selftest_end(t, rc, n_other, 0.0, "the same bits");
}

/* --- runs of some designs --- */

enum { N_DESIGN = 5, N_SAVED = 2 };

/* Result of a run: the compliances, then the last densities. */
typedef struct trace {
    int64_t n;
    double *number; /* [n] (owned) */
} trace;

static int make_trace(trace *out, const hx_sample *s)
{
    out->n = N_DESIGN + s->mesh.n_elem;
    return hx_alloc(&out->number, (size_t)out->n, sizeof(double), "a run's numbers");
}

/* Runs designs first .. N_DESIGN - 1. path: a checkpoint is written after N_SAVED, or read before
 * if first is N_SAVED; NULL: neither. */
static int steps(hx_selftest *t, hx_selftest_job *job, int first, char *path, size_t n_path,
                 trace *out)
{
    if (path && first > 0) {
        hx_snapshot saved = {0};
        int loaded = hx_snapshot_read(&saved, path);
        if (loaded >= 0) loaded = hx_optimizer_snapshot(&job->opt, &saved);
        if (loaded >= 0) loaded = hx_snapshot_check_all(&saved);
        hx_snapshot_free(&saved);
        HX_TRY(loaded);
    }
    for (int i = first; i < N_DESIGN; i++) {
        HX_TRY(hx_selftest_job_step(job, &out->number[i]));
        if (path && first == 0 && i == N_SAVED - 1) {
            hx_snapshot image = {0};
            HX_TRY(hx_selftest_path(t, "checkpoint.state", path, n_path));
            hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE);
            int rc = hx_optimizer_snapshot(&job->opt, &image);
            if (rc >= 0) rc = hx_snapshot_write(&image, path);
            hx_snapshot_free(&image);
            HX_TRY(rc);
        }
        if (i < N_DESIGN - 1) hx_optimizer_advance(&job->opt);
    }
    return hx_optimizer_density(&job->opt, out->number + N_DESIGN);
}

static int run_design(hx_selftest *t, const hx_sample *s, const hx_selftest_job_params *params,
                      int first, char *path, size_t n_path, trace *out)
{
    hx_selftest_job job;
    int rc = hx_selftest_job_open(&job, t, &s->problem, params);
    if (rc >= 0) rc = steps(t, &job, first, path, n_path, out);
    hx_selftest_job_close(&job);
    return rc;
}

/* Values of otf, csr, bsr and bsrsym on a CPU with AVX-512, which agreed to 1e-14. With weights of
 * the filter in single precision they changed by 3e-9 and 1.2e-8; 6e-8 is allowed. */
static int check_stored(hx_selftest *t, const hx_sample *s, trace *found)
{
    const hx_selftest_job_params params = {.filter = "sensitivity",
                                           .radius = 1.5,
                                           .design = hx_selftest_half(0.0),
                                           .tolerance = 1e-13};
    const double exact = 47450.6972302162,
                 bound = 1e-9 + 0.25 * t->parts.device->design->cone_rounding;
    if (!hx_selftest_filter(t, params.filter)) return HX_OK;
    hx_selftest_begin(t, "%d designs", N_DESIGN);
    const int rc = run_design(t, s, &params, 0, NULL, 0, found);
    return hx_selftest_end(t, rc, fabs(found->number[N_DESIGN - 1] / exact - 1.0), bound,
                           "stored compliance");
}

/* Sets the threads of the host; returns the previous number. */
static int set_threads(int n)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(n);
    return before;
#else
    return n;
#endif
}

/* Compares a second run, or its end, with the first. */
static int compare_run(hx_selftest *t, const hx_sample *s, const hx_selftest_job_params *params,
                       int first, char *path, size_t n_path, const trace *once, trace *again)
{
    const int rc = run_design(t, s, params, first, path, n_path, again);
    const double n_other =
        hx_selftest_other_bits(once->n - first, once->number + first, again->number + first);
    return hx_selftest_end(t, rc, n_other, 0.0, "the same bits");
}

static int check_bits(hx_selftest *t, const hx_sample *s, trace *once, trace *again)
{
    const hx_selftest_job_params params = {.filter = "density",
                                           .radius = 1.5,
                                           .design = hx_selftest_half(2.0),
                                           .precond = "multigrid",
                                           .tolerance = 1e-6};
    const hx_precond_kind *const kind = hx_selftest_precond(t, params.precond);
    char path[400] = "";
    if (!kind || !hx_selftest_filter(t, params.filter)) return HX_OK;
    if (kind->runs_on && !kind->runs_on(t->parts.device)) return HX_OK;
    hx_selftest_begin(t, "%d designs and a checkpoint", N_DESIGN);
    const int rc = run_design(t, s, &params, 0, path, sizeof path, once);
    HX_TRY(hx_selftest_end(t, rc, 0.0, 0.0, "both end"));
    if (rc < 0) return HX_OK;
    hx_selftest_begin(t, "%d designs, again", N_DESIGN);
    HX_TRY(compare_run(t, s, &params, 0, NULL, 0, once, again));
    hx_selftest_begin(t, "%d designs, from the checkpoint", N_DESIGN);
    HX_TRY(compare_run(t, s, &params, N_SAVED, path, sizeof path, once, again));
    const int n_thread = set_threads(1);
    if (n_thread > 1) hx_selftest_begin(t, "%d designs, one thread", N_DESIGN);
    const int done = n_thread > 1 ? compare_run(t, s, &params, 0, NULL, 0, once, again) : HX_OK;
    set_threads(n_thread);
    return done;
}

int hx_selftest_design(hx_selftest *t)
{
    const hx_sample_spec box = hx_sample_box(HX_SAMPLE_HEXAHEDRA, 14, 7, 6);
    trace once = {0}, again = {0};
    hx_sample s;
    int rc;
    HX_TRY(check_known(t));
    HX_TRY(check_products(t));
    HX_TRY_FAIL(hx_sample_create(&s, &box));
    HX_TRY_FAIL(make_trace(&once, &s));
    HX_TRY_FAIL(make_trace(&again, &s));
    HX_TRY_FAIL(check_stored(t, &s, &once));
    HX_TRY_FAIL(check_bits(t, &s, &once, &again));
fail:
    free(once.number);
    free(again.number);
    hx_sample_free(&s);
    return rc;
}
