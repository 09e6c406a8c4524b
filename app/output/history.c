#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/atomic_file.h"
#include "core/base/memory.h"
#include "stats.h"

static int write_header(const hx_history *history)
{
    hx_atomic_file file;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, history->path));
    fputs("iteration,compliance,volume,change,greyness,pcg_iterations,pcg_residual,seconds",
          file.stream);
    for (int c = 1; c <= history->n_case; c++)
        fprintf(file.stream, ",compliance_case%d,pcg_iterations_case%d", c, c);
    fputs(",seconds_pcg,seconds_spmv,seconds_preconditioner,seconds_vector,seconds_compliance,"
          "seconds_filter,"
          "seconds_update,seconds_output,penalty,beta\n",
          file.stream);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

static int cannot_write(const hx_history *history)
{
    return HX_RAISE(HX_EIO, "cannot write '%s': %s", history->path, strerror(errno));
}

/* HX_EENV if a running hextop holds the lock of take_lock. */
static int check_lock(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(path, O_RDWR);
    if (fd < 0) return HX_OK; /* no older file */
    const int known = fcntl(fd, F_GETLK, &lock) == 0;
    close(fd);
    if (!known || lock.l_type == F_UNLCK) return HX_OK;
    return HX_RAISE(HX_EENV,
                    "a running hextop (process %ld) is writing '%s'; name another output.directory",
                    (long)lock.l_pid, path);
}

/* Until the file is closed. A file system without locks does without. */
static void take_lock(FILE *stream)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fileno(stream), F_SETLK, &lock) != 0) errno = 0;
}

int hx_history_open(hx_history *history, const char *path, int n_case)
{
    memset(history, 0, sizeof *history);
    history->n_case = n_case;
    HX_TRY(hx_strdup(&history->path, path));
    HX_TRY(check_lock(path));
    HX_TRY(write_header(history));
    history->stream = fopen(path, "a");
    if (!history->stream) return cannot_write(history);
    take_lock(history->stream);
    return HX_OK;
}

int hx_history_add(hx_history *history, const hx_iteration *it, double output_seconds)
{
    FILE *f = history->stream;
    fprintf(f, "%d,%.12g,%.10g,%.8g,%.8g,%d,%.6g,%.6g", it->iteration, it->compliance, it->volume,
            it->change, it->greyness, it->pcg_iterations, it->pcg_residual, it->seconds);
    for (int c = 0; c < history->n_case; c++)
        fprintf(f, ",%.12g,%d", it->load_case[c].compliance, it->load_case[c].pcg.iterations);
    fprintf(f, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.10g,%.10g\n", it->stage[HX_STAGE_PCG],
            it->spmv_seconds, hx_stats_precond(it), hx_stats_vector(it),
            it->stage[HX_STAGE_COMPLIANCE], it->stage[HX_STAGE_FILTER], it->stage[HX_STAGE_UPDATE],
            output_seconds, it->penalty, it->beta);
    return fflush(f) != 0 || ferror(f) ? cannot_write(history) : HX_OK;
}

int hx_history_close(hx_history *history)
{
    FILE *f = history->stream;
    history->stream = NULL;
    return f && fclose(f) != 0 ? cannot_write(history) : HX_OK;
}

void hx_history_free(hx_history *history)
{
    if (history->stream) fclose(history->stream);
    free(history->path);
    memset(history, 0, sizeof *history);
}
