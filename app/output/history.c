#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/atomic_file.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/base/text_stream.h"
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
    if (history->objective) fprintf(file.stream, ",%s", history->objective);
    fputs(",seconds_pcg,seconds_spmv,seconds_preconditioner,seconds_vector,seconds_compliance,"
          "seconds_filter,"
          "seconds_update,seconds_output,penalty,beta",
          file.stream);
    fputs(history->has_error ? ",pcg_error\n" : "\n", file.stream);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

static int write_text(const hx_history *history, const char *text, size_t n)
{
    hx_atomic_file file;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, history->path));
    fwrite(text, 1, n, file.stream);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

static int cannot_write(const hx_history *history)
{
    return hx_atomic_file_refuse(history->path, errno);
}

/* HX_EENV if a running hextop holds the lock that take_lock takes. */
static int check_lock(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(path, O_RDWR);
    if (fd < 0) return HX_OK; /* no older file */
    const int known = fcntl(fd, F_GETLK, &lock) == 0;
    close(fd);
    if (!known || lock.l_type == F_UNLCK) return HX_OK;
    return HX_RAISE(HX_EENV,
                    "a running hextop (process %ld) writes to '%s'; name another output.directory",
                    (long)lock.l_pid, path);
}

/* Locks the file until it is closed; a file system that does not support locks is accepted. */
static void take_lock(FILE *stream)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fileno(stream), F_SETLK, &lock) != 0) errno = 0;
}

/* Begins a file with text[n], or with its header if text is NULL. */
static int begin_file(hx_history *history, const char *path, const char *text, size_t n)
{
    HX_TRY(hx_strdup(&history->path, path));
    HX_TRY(check_lock(path));
    HX_TRY(text ? write_text(history, text, n) : write_header(history));
    HX_TRY(hx_atomic_file_grow(&history->stream, path, 1));
    take_lock(history->stream);
    return HX_OK;
}

int hx_history_open(hx_history *history, const char *path, int n_case, const char *objective,
                    int has_error)
{
    memset(history, 0, sizeof *history);
    history->n_case = n_case;
    history->objective = objective;
    history->has_error = has_error;
    return begin_file(history, path, NULL, 0);
}

int hx_history_resume(hx_history *history, const char *path, int n_case, const char *objective,
                      const char *text, size_t n)
{
    const char *const column = strstr(text, ",pcg_error"), *const end = strchr(text, '\n');
    memset(history, 0, sizeof *history);
    history->n_case = n_case;
    history->objective = objective;
    history->has_error = column && end && column < end;
    return begin_file(history, path, text, n);
}

/* Writes an error that was not estimated as an empty field. */
static void put_error(FILE *f, double error)
{
    if (error > 0.0)
        fprintf(f, ",%.6g", error);
    else
        fputc(',', f);
}

static void put_history_line(FILE *f, const hx_iteration *it, const hx_history *history,
                             double output_seconds)
{
    const int n_case = history->n_case;
    fprintf(f, "%d,%.12g,%.10g,%.8g,%.8g,%d,%.6g,%.6g", it->iteration, it->compliance, it->volume,
            it->change, it->greyness, it->pcg_iterations, it->pcg_residual, it->seconds);
    for (int c = 0; c < n_case; c++)
        fprintf(f, ",%.12g,%d", it->load_case[c].compliance, it->load_case[c].pcg.iterations);
    if (history->objective) fprintf(f, ",%.12g", it->objective);
    fprintf(f, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.10g,%.10g", it->stage[HX_STAGE_PCG],
            it->spmv_seconds, hx_stats_precond(it), hx_stats_vector(it),
            it->stage[HX_STAGE_COMPLIANCE], it->stage[HX_STAGE_FILTER], it->stage[HX_STAGE_UPDATE],
            output_seconds, it->penalty, it->beta);
    if (history->has_error) put_error(f, it->pcg_error);
    fputc('\n', f);
}

static int put_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(fd, text, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        text += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Writes the pending lines. If they do not all fit on the disk, none of them is written. */
static int flush(hx_history *history)
{
    const int fd = fileno(history->stream);
    const off_t before = lseek(fd, 0, SEEK_END);
    if (put_all(fd, history->pending, history->n_pending) == 0) {
        history->n_pending = 0;
        return HX_OK;
    }
    const int rc = cannot_write(history);
    if (before < 0 || ftruncate(fd, before) != 0) errno = 0;
    return rc;
}

int hx_history_add(hx_history *history, const hx_iteration *it, double output_seconds)
{
    char *line;
    size_t n;
    hx_text_stream text;
    HX_TRY(hx_text_stream_open(&text, "line of history.csv"));
    put_history_line(text.stream, it, history, output_seconds);
    HX_TRY(hx_text_stream_close(&text, &line, &n));
    int rc = hx_resize(&history->pending, history->n_pending, history->n_pending + n, 1,
                       "line of history.csv");
    if (rc == HX_OK) memcpy(history->pending + history->n_pending, line, n);
    if (rc == HX_OK) history->n_pending += n;
    free(line);
    return rc == HX_OK ? flush(history) : rc;
}

int hx_history_close(hx_history *history)
{
    FILE *f = history->stream;
    const int rc = f && history->n_pending > 0 ? flush(history) : HX_OK;
    history->stream = NULL;
    return f && fclose(f) != 0 ? cannot_write(history) : rc;
}

void hx_history_free(hx_history *history)
{
    if (history->stream) fclose(history->stream);
    free(history->path);
    free(history->pending);
    memset(history, 0, sizeof *history);
}
