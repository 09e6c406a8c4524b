/* The library without the program: compliance of a solid cantilever, its tip pulled down.
 *
 *     cc compliance.c $(pkg-config --cflags --libs hextop) -o compliance */
#include <stdio.h>

#include "hextop/design/optimizer.h"
#include "hextop/generate/generate.h"
#include "hextop/registry.h"

/* One analysis; the mesh, the problem and the solver's parts are the caller's to free. */
static int analyse(hx_mesh *mesh, hx_problem *problem, hx_device *dev, hx_operator *op,
                   hx_precond *pc, hx_pcg *pcg, hx_filter *filter, hx_optimizer *opt)
{
    const hx_support_spec support = {
        .set = "left", .origin = "support", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = "right-lower-edge",
                               .origin = "load",
                               .kind = HX_LOAD_TOTAL_FORCE,
                               .value = {0.0, 0.0, -1.0},
                               .load_case = 1};
    const hx_problem_params law = {.origin = "compliance.c",
                                   .young = 1.0,
                                   .poisson = 0.3,
                                   .penalty = 3.0,
                                   .rho_min = 0.001,
                                   .volume_fraction = 1.0,
                                   .n_support = 1,
                                   .n_load = 1,
                                   .support = &support,
                                   .load = &load};
    const hx_pcg_params pcg_params = {
        .criterion = HX_PCG_RELATIVE, .tolerance = 1e-10, .max_iterations = 10000};
    const hx_filter_params no_radius = {.radius = 0.0};
    const hx_optimizer_params move = {.move = 0.2, .damping = 0.5, .warm_start = 1};
    hx_iteration result;

    HX_TRY(hx_generate_box(mesh, 20, 4, 4, 20.0, 4.0, 4.0)); /* elements, lengths */
    HX_TRY(hx_mesh_finish(mesh));
    HX_TRY(hx_problem_create(problem, mesh, &law));
    HX_TRY(hx_device_open(dev, hx_device_find("cpu")));
    HX_TRY(hx_operator_create(op, dev, hx_strategy_find("cpu", "ebe"), HX_LAYOUT_INTERLEAVED,
                              problem, 0));
    HX_TRY(hx_precond_create(pc, hx_precond_find("jacobi"), &op->linear, op));
    HX_TRY(hx_pcg_create(pcg, &pcg_params, &op->linear, pc));
    HX_TRY(hx_filter_create(filter, hx_filter_find("none"), dev, problem, &no_radius));
    HX_TRY(hx_optimizer_create(opt, &move, problem, op, pc, pcg, filter, NULL));
    HX_TRY(hx_optimizer_step(opt, &result));
    printf("compliance %.6g after %d PCG iterations\n", result.compliance, result.pcg_iterations);
    return HX_OK;
}

int main(void)
{
    hx_mesh mesh = {0};
    hx_problem problem = {0};
    hx_device dev = {0};
    hx_operator op = {0};
    hx_precond pc = {0};
    hx_pcg pcg = {0};
    hx_filter filter = {0};
    hx_optimizer opt = {0};
    const int rc = analyse(&mesh, &problem, &dev, &op, &pc, &pcg, &filter, &opt);
    if (rc < 0) fprintf(stderr, "%s\n", hx_error_message());
    hx_optimizer_free(&opt);
    hx_filter_free(&filter);
    hx_pcg_free(&pcg);
    hx_precond_free(&pc);
    hx_operator_free(&op);
    hx_device_close(&dev);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    return rc < 0;
}
