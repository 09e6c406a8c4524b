#include "run_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../text/table.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/version.h"

static void keep_text(hx_run_log *log, const char *text)
{
    const size_t n = strlen(text) + 1;
    if (log->n + n > log->capacity) {
        const size_t capacity = 2 * (log->n + n) + 4096;
        if (hx_resize(&log->text, log->n, capacity, 1, "run.log") < 0) {
            log->lost = 1;
            return;
        }
        log->capacity = capacity;
    }
    memcpy(log->text + log->n, text, n);
    log->n += n - 1;
}

static void put_log_text(hx_run_log *log, const char *text)
{
    if (!log->stream) {
        keep_text(log, text);
        return;
    }
    if (fputs(text, log->stream) < 0) log->lost = 1;
    if (strchr(text, '\n') && fflush(log->stream) != 0) log->lost = 1;
}

/* The sink: writes lines with the same prefixes as the terminal. */
static void put_log_line(void *user, hx_log_kind kind, const char *text)
{
    if (kind == HX_LOG_WARNING) put_log_text(user, "hextop: warning: ");
    if (kind == HX_LOG_ERROR) put_log_text(user, "hextop: error: ");
    put_log_text(user, text);
    put_log_text(user, "\n");
}

/* "2026-11-22 18:30:26 +0100" */
static const char *time_text(char *text, size_t n_text)
{
    const time_t now = time(NULL);
    struct tm local;
    if (!localtime_r(&now, &local) || !strftime(text, n_text, "%Y-%m-%d %H:%M:%S %z", &local))
        snprintf(text, n_text, "unknown");
    return text;
}

/* Writes an argument quoted for a shell. */
static void put_argument(hx_run_log *log, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "+,-./:=@_%";
    char c[2] = "";
    put_log_text(log, " ");
    if (argument[0] && !argument[strspn(argument, plain)]) {
        put_log_text(log, argument);
        return;
    }
    put_log_text(log, "'");
    for (; *argument; argument++) {
        c[0] = *argument;
        put_log_text(log, *argument == '\'' ? "'\\''" : c);
    }
    put_log_text(log, "'");
}

static void put_command(hx_run_log *log, const hx_options *options)
{
    put_log_text(log, "command   hextop");
    if (options->level == HX_LOG_QUIET) put_log_text(log, " -q");
    if (options->level == HX_LOG_VERBOSE) put_log_text(log, " -v");
    put_argument(log, options->command->name);
    for (size_t i = 0; i < options->n_argument; i++) put_argument(log, options->argument[i]);
    for (size_t i = 0; i < options->command->n_option; i++) {
        if (!options->value[i]) continue;
        put_argument(log, options->command->option[i].name);
        if (options->command->option[i].kind != HX_OPTION_FLAG)
            put_argument(log, options->value[i]);
    }
    put_log_text(log, "\n");
}

/* "host, Linux 6.1.0 x86_64, 16 processors, 128 GB" */
static void put_machine(hx_run_log *log)
{
    struct utsname name;
    char text[1024], memory[32];
    const long n = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    if (uname(&name) != 0) return;
    hx_format_bytes((double)pages * (double)sysconf(_SC_PAGESIZE), memory, sizeof memory);
    snprintf(text, sizeof text, "machine   %s, %s %s %s, %ld processor%s, %s\n", name.nodename,
             name.sysname, name.release, name.machine, n, n == 1 ? "" : "s", memory);
    put_log_text(log, text);
}

int hx_run_log_begin(hx_run_log *log, const hx_options *options)
{
    char text[4096], folder[4000] = "";
    const hx_log_sink sink = {.level =
                                  options->level == HX_LOG_VERBOSE ? HX_LOG_VERBOSE : HX_LOG_NORMAL,
                              .line = put_log_line,
                              .user = log};
    memset(log, 0, sizeof *log);
    log->begin = hx_clock();
    put_log_text(log, "hextop " HX_VERSION "\n");
    put_command(log, options);
    if (getcwd(folder, sizeof folder)) {
        snprintf(text, sizeof text, "folder    %s\n", folder);
        put_log_text(log, text);
    }
    put_machine(log);
    snprintf(text, sizeof text, "started   %s\n\n", time_text(folder, sizeof folder));
    put_log_text(log, text);
    return hx_log_add_sink(&sink);
}

/* Returns 1 if the descriptor refers to that file, to which a shell may redirect the output. */
static int is_stream(int descriptor, const char *path)
{
    struct stat file, stream;
    return stat(path, &file) == 0 && fstat(descriptor, &stream) == 0 &&
           file.st_dev == stream.st_dev && file.st_ino == stream.st_ino;
}

int hx_run_log_open(hx_run_log *log, const char *path, int is_resumed)
{
    if (is_stream(STDOUT_FILENO, path) || is_stream(STDERR_FILENO, path)) return HX_OK;
    HX_TRY(hx_atomic_file_grow(&log->stream, path, is_resumed));
    if (log->text) put_log_text(log, log->text);
    free(log->text);
    log->text = NULL;
    log->n = log->capacity = 0;
    return HX_OK;
}

void hx_run_log_end(hx_run_log *log, int rc)
{
    char text[4096], now[64], seconds[32];
    hx_log_remove_sink(log);
    if (log->stream) {
        if (rc < 0) put_log_line(log, HX_LOG_ERROR, hx_error_message());
        snprintf(text, sizeof text, "\nended     %s after %s: %s\n", time_text(now, sizeof now),
                 hx_format_seconds(hx_clock() - log->begin, seconds, sizeof seconds),
                 rc == 0  ? "done"
                 : rc < 0 ? "failed"
                          : "not finished");
        put_log_text(log, text);
        if (fclose(log->stream) != 0) log->lost = 1;
        if (log->lost)
            hx_log_warning("run.log is incomplete: not all lines could be written to the disk");
    }
    free(log->text);
    memset(log, 0, sizeof *log);
}
