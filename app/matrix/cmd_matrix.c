/* hextop matrix: makes K of a config's design, times it, and writes it as a file for other
 * solvers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/progress.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/files/result_match.h"
#include "matrix_job.h"

/* Number of fills that are timed if no rows are written. */
enum { REPEATS = 5 };

/* Opens the problem. Rows follow the file's order of nodes, so the mesh is not renumbered. */
static int open_problem(hx_matrix_job *job, const hx_options *options)
{
    hx_session *const s = &job->session;
    HX_TRY(
        hx_config_read(&s->cfg, job->plan.config, options->n_argument - 1, options->argument + 1));
    HX_TRY(hx_matrix_choose_device(s));
    if (!job->plan.curve) {
        s->cfg.mesh.shuffle = 0;
        s->cfg.mesh.reorder = 0;
    }
    hx_matrix_output_names(&job->plan, &job->outputs);
    s->outputs = &job->outputs;
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    /* HX_EINPUT: a set that moves as a rigid body has its own unknowns, which are not rows of
     * K. */
    const hx_config_load *const load = s->cfg.loads.entry;
    if (s->problem.rigid.n == 0) return HX_OK;
    for (size_t i = 0; i < s->cfg.loads.n; i++)
        if (load[i].coupling == HX_COUPLING_RIGID)
            return HX_RAISE(HX_EINPUT,
                            "%s: set '%s' moves as a rigid body, which the rows of K cannot "
                            "express; use coupling = \"distributing\"",
                            load[i].origin, load[i].set);
    return HX_RAISE(HX_EINPUT,
                    "%s: a set moves as a rigid body, which the rows of K cannot express",
                    s->cfg.path);
}

/* Computes the physical densities that `hextop run` analyses first. Any operator would do; the one
 * chosen needs little memory. */
static int first_design(hx_matrix_job *job, double *penalty)
{
    hx_session *const s = &job->session;
    const int is_linear = s->problem.space.element == HX_ELEMENT_LINEAR;
    HX_TRY(hx_config_set_word(&s->cfg.solver.op, is_linear ? "otf" : "bsrsym"));
    HX_TRY(hx_config_set_word(&s->cfg.solver.preconditioner, "jacobi"));
    HX_TRY(hx_session_open_device(s));
    hx_matrix_meter_open(&job->meter, &s->device);
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_session_make_design(s));
    HX_TRY(hx_optimizer_filter(&s->opt));
    HX_TRY(hx_optimizer_density(&s->opt, job->rho));
    *penalty = s->opt.penalty.value;
    hx_session_drop_operator(s);
    hx_filter_free(&s->filter);
    return HX_OK;
}

static int result_design(hx_matrix_job *job)
{
    hx_session *const s = &job->session;
    const char *const path = job->plan.density;
    const double rho_min = s->design.rho_min;
    const hx_device_ops *ops = NULL;
    hx_result_match match;
    char count[32];
    HX_TRY(hx_result_read(path, "density", &s->mesh, rho_min, rho_min, job->rho, &match));
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        if (!(job->rho[e] >= 0.0 && job->rho[e] <= 1.0))
            return HX_RAISE(HX_EINPUT, "%s: the density of element %lld is %g, not in [0, 1]", path,
                            (long long)hx_mesh_elem_number(&s->mesh, e), job->rho[e]);
    if (match.n_missing > 0)
        hx_log_warning("%s lacks %s %s, because it was written with a threshold: their density is "
                       "taken as rho_min",
                       path, hx_format_count(match.n_missing, count, sizeof count),
                       hx_noun(match.n_missing, "element", "elements"));
    HX_TRY(hx_session_find_device(s, &ops));
    HX_TRY(hx_session_start_device(s, ops));
    hx_matrix_meter_open(&job->meter, &s->device);
    return HX_OK;
}

/* Returns 1 if a result of --bench is wrong. */
static int matrix(hx_matrix_job *job, const hx_options *options)
{
    HX_TRY(hx_matrix_plan_read(&job->plan, options));
    HX_TRY(open_problem(job, options));
    const size_t n = (size_t)job->session.mesh.n_elem;
    double penalty = job->session.design.penalty.last;
    HX_TRY(hx_alloc_raw(&job->rho, n, sizeof *job->rho, "densities"));
    HX_TRY(hx_alloc_raw(&job->modulus, n, sizeof *job->modulus, "moduli"));
    HX_TRY(job->plan.density ? result_design(job) : first_design(job, &penalty));
    hx_problem_modulus(&job->session.problem, penalty, job->rho, job->modulus);
    if (job->plan.bench)
        return hx_matrix_bench_all(&job->session.device, &job->session.problem, job->modulus,
                                   &job->meter);
    HX_TRY(hx_matrix_stages_open(&job->stages, &job->session, &job->plan));
    hx_matrix_report_sizes(job);
    HX_TRY(hx_matrix_sides_create(&job->sides, &job->session.problem, job->rho, job->modulus,
                                  &job->plan));
    /* Counts the rows, and plans their ranges. */
    const hx_problem *const problem = &job->session.problem;
    const hx_space *const space = &problem->space;
    job->cut = (hx_matrix_cut){.half = job->plan.half,
                               .components = problem->components,
                               .fixed = job->plan.eliminate ? problem->supports.fixed : NULL};
    HX_TRY(hx_alloc_raw(&job->blocks, (size_t)space->n_point, sizeof *job->blocks, "rows"));
    HX_TRY(hx_matrix_count(space, &job->cut, job->stages.part, job->blocks, &job->counts));
    HX_TRY(hx_matrix_chunks_plan(job));
    job->stages.repeats = job->chunks.is_fetched ? 1 : REPEATS;
    HX_TRY(hx_matrix_open_files(job));
    HX_TRY(hx_matrix_chunks_run(job));
    HX_TRY(hx_matrix_close_files(job));
    HX_TRY(hx_matrix_report_times(job));
    hx_matrix_report_files(job);
    return HX_OK;
}

static int command_matrix(const hx_options *options)
{
    hx_matrix_job job;
    memset(&job, 0, sizeof job);
    const int rc = matrix(&job, options);
    /* Cleans up after an error, whose message is kept. */
    char message[HX_MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", hx_error_message());
    hx_matrix_chunks_free(&job);
    if (rc < 0 && strcmp(message, hx_error_message()) != 0) (void)HX_RAISE(rc, "%s", message);
    hx_matrix_drop_files(&job);
    hx_matrix_sides_free(&job.sides);
    free(job.rho);
    free(job.modulus);
    free(job.blocks);
    hx_matrix_plan_free(&job.plan);
    hx_matrix_meter_close(&job.meter);
    hx_session_free(&job.session);
    hx_matrix_end_signals(&job);
    return rc;
}

static const hx_option matrix_options[HX_N_MATRIX_OPTION] = {
    [HX_MATRIX_OUTPUT] = {"--output", HX_OPTION_FILE, "FILE", .letter = "-o",
                          .help = "writes K as .mtx, .petsc or .npz"},
    [HX_MATRIX_RHS] = {"--rhs", HX_OPTION_FILE, "FILE",
                       .help = "writes the loads, one column per load case"},
    [HX_MATRIX_FIXED] = {"--fixed", HX_OPTION_FILE, "FILE",
                         .help = "writes indices and values of the prescribed unknowns"},
    [HX_MATRIX_NEAR_NULL] = {"--near-null", HX_OPTION_FILE, "FILE",
                             .help = "writes the near-null space for algebraic multigrid: the six "
                                     "rigid body motions, orthonormal; for heat the constant"},
    [HX_MATRIX_SUPPORTS] = {"--supports", HX_OPTION_TEXT, "keep|eliminate", .fallback = "keep",
                            .help = "rows of prescribed unknowns: kept, or eliminated with 1 on "
                                    "the diagonal and adjusted loads"},
    [HX_MATRIX_LOWER] =
        {"--lower", HX_OPTION_FLAG, NULL,
         .help = "writes one half of K, in the convention of the format for symmetric matrices"},
    [HX_MATRIX_DENSITY] =
        {"--density", HX_OPTION_FILE, "RESULT.vtk", .note = "the config's first design",
         .help = "result whose K is written; for a .series or a folder, that of the last design"},
    [HX_MATRIX_ORDER] = {"--order", HX_OPTION_TEXT, "file|curve", .fallback = "file",
                         .help =
                             "order of the nodes: that of the mesh's file, or that of the solver"},
    [HX_MATRIX_MEMORY] =
        {"--memory", HX_OPTION_TEXT, "BYTES", .note = "the free memory",
         .help = "most memory that ranges of rows may take on the device, and as much on the host"},
    [HX_MATRIX_BUILD] = {"--build", HX_OPTION_TEXT, "three-stage|sort", .fallback = "three-stage",
                         .help = "builder of the pattern"},
    [HX_MATRIX_FILL] = {"--fill", HX_OPTION_TEXT, "NAME", .fallback = "gather",
                        .help = "method that computes the values"},
    [HX_MATRIX_BENCH] = {"--bench", HX_OPTION_TEXT, "all",
                         .help = "measures every builder, fill and format on this mesh"},
};

const hx_command hx_command_matrix = {
    .name = "matrix",
    .summary = "builds K as a sparse matrix, and times it or writes it to a file",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Makes the stiffness matrix K of the initial design of the config FILE, or of a result's\n"
        "densities, and prints its size and the time of each stage. -o writes K to a file in the "
        "format\n"
        "of its ending:\n"
        "  .mtx    Matrix Market text\n"
        "  .petsc  PETSc's binary format; with --lower the upper rows, which its sbaij matrices "
        "load\n"
        "  .npz    scipy.sparse.load_npz\n"
        "The other files may have any of these endings. Unknown 3 i + c is component c of node i,\n"
        "counted from 0, with nodes in the order of the mesh's file; for heat unknown i is the\n"
        "temperature of node i. Mid-side nodes of quadratic elements follow the corner nodes, in "
        "the\n"
        "order of the ends of their edges. --order curve takes the order of the solver, and writes "
        "it\n"
        "beside K as K_order. Springs and convection are in K. Supports are kept in K and listed "
        "by\n"
        "--fixed, or eliminated: their rows and columns are 0, their diagonal is 1, and the loads "
        "of\n"
        "--rhs take account of their displacements. Files are written range by range, and are the "
        "same\n"
        "for any --memory.\n"
        "--bench all measures instead, with nodes in the order of the solver: each builder, fill "
        "and\n"
        "format of the device on this mesh, checked against a product without a matrix. Exit "
        "status 1\n"
        "if a result is wrong.\n",
    .n_min = 1,
    .option = matrix_options,
    .n_option = HX_N_MATRIX_OPTION,
    .run = command_matrix,
};
