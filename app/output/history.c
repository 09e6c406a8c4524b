#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../session/history_columns.h"
#include "core/base/atomic_file.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/base/text_stream.h"
#include "stats.h"

/* Fields separated by commas, without a comma before the first column of the file. */
static void put_names(FILE *f, const char *const *name, int is_first)
{
    for (; *name; name++, is_first = 0) {
        if (strcmp(*name, "pcg_error") == 0) return; /* the following depend on the config */
        fprintf(f, "%s%s", is_first ? "" : ",", *name);
    }
}

static int write_header(const hx_history *history)
{
    const hx_history_columns *const columns = &history->columns;
    hx_atomic_file file;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, history->path));
    put_names(file.stream, hx_history_first, 1);
    for (int c = 1; c <= columns->n_case; c++)
        fprintf(file.stream, ",compliance_case%d,pcg_iterations_case%d", c, c);
    if (columns->objective) fprintf(file.stream, ",%s", columns->objective);
    put_names(file.stream, hx_history_last, 0);
    if (columns->has_error) fputs(",pcg_error", file.stream);
    if (columns->has_objective) fputs(",objective", file.stream);
    if (columns->has_kkt) fputs(",kkt", file.stream);
    for (int i = 0; i < columns->n_limit; i++) fprintf(file.stream, ",%s", columns->limit[i]);
    fputc('\n', file.stream);
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

int hx_history_open(hx_history *history, const char *path, const hx_history_columns *columns)
{
    memset(history, 0, sizeof *history);
    history->columns = *columns;
    return begin_file(history, path, NULL, 0);
}

/* 1 if the header, the first line of the text, has the column. */
static int has_column(const char *text, const char *name)
{
    const char *const end = text + strcspn(text, "\n");
    const size_t n = strlen(name);
    for (const char *at = text; at < end; at += strcspn(at, ",\n") + 1)
        if (strncmp(at, name, n) == 0 && strchr(",\n", at[n])) return 1;
    return 0;
}

int hx_history_resume(hx_history *history, const char *path, const hx_history_columns *columns,
                      const char *text, size_t n)
{
    memset(history, 0, sizeof *history);
    history->columns = *columns;
    history->columns.has_error = has_column(text, "pcg_error");
    history->columns.has_objective = has_column(text, "objective");
    history->columns.has_kkt = has_column(text, "kkt");
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
    const hx_history_columns *const columns = &history->columns;
    fprintf(f, "%d,%.12g,%.10g,%.8g,%.8g,%d,%.6g,%.6g", it->iteration, it->compliance, it->volume,
            it->change, it->greyness, it->pcg_iterations, it->pcg_residual, it->seconds);
    for (int c = 0; c < columns->n_case; c++)
        fprintf(f, ",%.12g,%d", it->load_case[c].compliance, it->load_case[c].pcg.iterations);
    if (columns->objective) fprintf(f, ",%.12g", it->objective);
    fprintf(f, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.10g,%.10g", it->stage[HX_STAGE_PCG],
            it->spmv_seconds, hx_stats_precond(it), hx_stats_vector(it),
            it->stage[HX_STAGE_COMPLIANCE], it->stage[HX_STAGE_FILTER], it->stage[HX_STAGE_UPDATE],
            output_seconds, it->penalty, it->beta);
    if (columns->has_error) put_error(f, it->pcg_error);
    if (columns->has_objective) fprintf(f, ",%.12g", it->objective);
    if (columns->has_kkt) fprintf(f, ",%.6g", it->kkt);
    for (int i = 0; i < columns->n_limit; i++) fprintf(f, ",%.12g", it->response[i].value);
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
