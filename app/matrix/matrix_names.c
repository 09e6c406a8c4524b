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

static int check_pair(const char *file, const char *other)
{
    const int meet = hx_atomic_file_meet(file, other);
    if (meet <= 0) return meet;
    if (strcmp(file, other) == 0)
        return HX_RAISE(HX_EINPUT, "'%s' is named for two files: give each a name of its own",
                        file);
    return HX_RAISE(HX_EINPUT, "'%s' and '%s' are the same file: give each a name of its own",
                    other, file);
}

int hx_matrix_check_input(const hx_matrix_plan *plan, const char *input, const char *what)
{
    const char *file[HX_N_MATRIX_FILE];
    hx_matrix_files(plan, file);
    for (int i = 0; input && i < HX_N_MATRIX_FILE; i++)
        if (file[i] && hx_atomic_file_is(file[i], input))
            return HX_RAISE(HX_EINPUT, "'%s' is %s, which is read: choose another name", file[i],
                            what);
    return HX_OK;
}

int hx_matrix_check_names(const hx_matrix_plan *plan)
{
    const char *file[HX_N_MATRIX_FILE];
    hx_matrix_files(plan, file);
    HX_TRY(hx_matrix_check_input(plan, plan->config, "the config"));
    HX_TRY(hx_matrix_check_input(plan, plan->density, "the file of --density"));
    for (int i = 0; i < HX_N_MATRIX_FILE; i++) {
        if (!file[i]) continue;
        HX_TRY(hx_write_check(file[i]));
        for (int j = 0; j < i; j++)
            if (file[j]) HX_TRY(check_pair(file[i], file[j]));
    }
    return HX_OK;
}
