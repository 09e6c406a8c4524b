/* The core library without the program: compliance of a solid cantilever whose tip is pulled down.
 * cc compliance.c $(pkg-config --cflags --libs hextop) -o compliance */
#include <stdio.h>

#include "hextop/design/analysis.h"
#include "hextop/generate/generate.h"
#include "hextop/registry.h"

int main(void)
{
    const hx_support_spec held = {"left", "held", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    const hx_load_spec pull = {
        "right-lower-edge", "pull", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -1.0}, .load_case = 1};
    hx_problem_params part = hx_problem_defaults();
    const hx_solver_params choose = hx_solver_defaults();
    hx_mesh mesh = {0};
    hx_problem problem = {0};
    hx_device cpu = {0};
    hx_analysis analysis = {0};
    double compliance;
    int rc;
    part.n_support = part.n_load = 1;
    part.support = &held;
    part.load = &pull;
    HX_TRY_FAIL(hx_generate_box(&mesh, 20, 4, 4, 20.0, 4.0, 4.0)); /* elements, lengths */
    HX_TRY_FAIL(hx_mesh_finish(&mesh));
    HX_TRY_FAIL(hx_problem_create(&problem, &mesh, &part));
    HX_TRY_FAIL(hx_device_open(&cpu, hx_device_find("cpu")));
    HX_TRY_FAIL(hx_analysis_open(&analysis, &cpu, &problem, &choose));
    HX_TRY_FAIL(hx_analysis_solve_density(&analysis, NULL, 3.0)); /* solid, penalty 3 */
    HX_TRY_FAIL(hx_analysis_compliance(&analysis, &compliance));
    printf("compliance %.6g after %d PCG iterations\n", compliance, analysis.record.pcg_iterations);
fail:
    if (rc < 0) fprintf(stderr, "%s\n", hx_error_message());
    hx_analysis_free(&analysis);
    hx_device_close(&cpu);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    return rc < 0;
}
