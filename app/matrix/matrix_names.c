/* Names of output files: each can be written, no two are the same file, and none is a file that is
 * read. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "matrix_job.h"

void hx_matrix_files(const hx_matrix_plan *plan, const char *file[HX_N_MATRIX_FILE])
{
    file[HX_MATRIX_FILE_K] = plan->output;
    file[HX_MATRIX_FILE_RHS] = plan->rhs;
    file[HX_MATRIX_FILE_FIXED] = plan->fixed;
    file[HX_MATRIX_FILE_NEAR_NULL] = plan->near_null;
    file[HX_MATRIX_FILE_ORDER] = plan->order_file;
}

/* K.npz -> K_order.npz */
int hx_matrix_name_order(hx_matrix_plan *plan)
{
    const char *const name = plan->output, *const ending = strrchr(name, '.');
    HX_TRY(hx_alloc(&plan->order_file, strlen(name) + sizeof "_order", 1, "file name"));
    sprintf(plan->order_file, "%.*s_order%s", (int)(ending - name), name, ending);
    return HX_OK;
}

void hx_matrix_output_names(const hx_matrix_plan *plan, hx_output_names *names)
{
    const char *file[HX_N_MATRIX_FILE];
    memset(names, 0, sizeof *names);
    hx_matrix_files(plan, file);
    for (int i = 0; i < HX_N_MATRIX_FILE; i++) hx_output_names_add(names, file[i]);
}

int hx_matrix_check_names(const hx_matrix_plan *plan)
{
    hx_output_names names;
    hx_matrix_output_names(plan, &names);
    HX_TRY(hx_output_names_check_input(&names, plan->config, "the config"));
    HX_TRY(hx_output_names_check_result(&names, &plan->result));
    for (size_t i = 0; i < names.n; i++) HX_TRY(hx_write_check(names.name[i]));
    return hx_output_names_check(&names);
}
