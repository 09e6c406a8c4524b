/* The output files: opened before the first row is made, after a check of disk space, and renamed
 * to their final names when all of them are complete. */
#include <sys/stat.h>

#include "../session/signal_hooks.h"
#include "matrix_job.h"

static int has_any(const char *const file[HX_N_MATRIX_FILE])
{
    for (int i = 0; i < HX_N_MATRIX_FILE; i++)
        if (file[i]) return 1;
    return 0;
}

int hx_matrix_open_files(hx_matrix_job *job)
{
    const hx_matrix_plan *const plan = &job->plan;
    const hx_problem *const problem = &job->session.problem;
    const hx_matrix_shape shape =
        (hx_matrix_shape){.n_row = problem->components * problem->space.n_point,
                          .n_entry = job->counts.n_number,
                          .n_digit = job->counts.n_digit,
                          .half = job->plan.half};
    const char *file[HX_N_MATRIX_FILE];
    int64_t bytes[HX_N_MATRIX_FILE] = {0};
    hx_write_entry entry[HX_N_MATRIX_FILE];
    hx_matrix_files(plan, file);
    if (plan->output) HX_TRY(hx_matrix_bytes_of(plan->output, &shape, &bytes[HX_MATRIX_FILE_K]));
    HX_TRY(hx_matrix_sides_bytes(&job->sides, &job->session.problem, plan, bytes));
    for (int i = 0; i < HX_N_MATRIX_FILE; i++) entry[i] = (hx_write_entry){file[i], bytes[i]};
    job->notes_signals = has_any(file);
    if (job->notes_signals) hx_signals_begin();
    HX_TRY(hx_write_set_open(&job->files, HX_N_MATRIX_FILE, entry, hx_signals_caught, NULL));
    if (!plan->output) return HX_OK;
    return hx_matrix_writer_open(&job->writer, job->files, HX_MATRIX_FILE_K, &shape);
}

int hx_matrix_close_files(hx_matrix_job *job)
{
    HX_TRY(hx_matrix_write_sides(&job->sides, &job->session.problem, &job->plan, job->files));
    if (job->writer) HX_TRY(hx_matrix_writer_close(job->writer));
    HX_TRY(hx_write_set_commit(job->files));
    struct stat info;
    if (job->plan.output && stat(job->plan.output, &info) == 0)
        job->file_bytes = (int64_t)info.st_size;
    return HX_OK;
}

void hx_matrix_drop_files(hx_matrix_job *job)
{
    hx_matrix_writer_free(job->writer);
    hx_write_set_free(job->files);
    job->writer = NULL;
    job->files = NULL;
}

void hx_matrix_end_signals(const hx_matrix_job *job)
{
    if (job->notes_signals) hx_signals_end();
}

int hx_matrix_go_on(const hx_matrix_job *job)
{
    if (!job->notes_signals || !hx_signals_caught(NULL)) return HX_OK;
    return HX_RAISE(HX_EIO, "a signal ended the command: no file was written");
}
