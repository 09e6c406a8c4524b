#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/fit.h"

enum { MAX_SINK = 8, MAX_LINE = 2304 };

static _Thread_local hx_log_level log_level = HX_LOG_NORMAL;
static _Thread_local int silent, is_plain, status_open;
static _Thread_local hx_log_sink sinks[MAX_SINK];
static _Thread_local int n_sink;

void hx_log_set_level(hx_log_level level)
{
    log_level = level;
}

hx_log_level hx_log_get_level(void)
{
    return log_level;
}

int hx_log_add_sink(const hx_log_sink *sink)
{
    if (n_sink == MAX_SINK) return HX_RAISE(HX_EINTERNAL, "more than %d sinks of the log", n_sink);
    sinks[n_sink++] = *sink;
    return HX_OK;
}

void hx_log_remove_sink(const void *user)
{
    for (int i = n_sink - 1; i >= 0; i--) {
        if (sinks[i].user != user) continue;
        memmove(sinks + i, sinks + i + 1, (size_t)(n_sink - i - 1) * sizeof *sinks);
        n_sink--;
        return;
    }
}

int hx_log_set_printing(int on)
{
    const int was = !silent;
    silent = !on;
    return was;
}

static int prints(hx_log_level level)
{
    return !silent && log_level >= level;
}

int hx_log_is_on(hx_log_level level)
{
    for (int i = 0; i < n_sink; i++)
        if (sinks[i].level >= level) return 1;
    return prints(level);
}

void hx_log_set_plain(int on)
{
    is_plain = on;
}

int hx_log_is_terminal(void)
{
    return !silent && !is_plain && isatty(STDOUT_FILENO);
}

/* Calls the sinks once per line; text is changed during the calls and restored. */
static void tell_lines(hx_log_level level, hx_log_kind kind, char *text)
{
    for (char *line = text, *end = text; end; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end) *end = '\0';
        for (int i = 0; i < n_sink; i++)
            if (sinks[i].level >= level) sinks[i].line(sinks[i].user, kind, line);
        if (end) *end = '\n';
    }
}

static void print_line(FILE *stream, const char *lead, const char *text)
{
    if (status_open) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
        status_open = 0;
    }
    fprintf(stream, "%s%s\n", lead, text);
    fflush(stream);
}

/* Logs a line to stdout. */
static void log_formatted(hx_log_level level, const char *fmt, va_list args) HX_PRINTF(2, 0);

static void log_formatted(hx_log_level level, const char *fmt, va_list args)
{
    char line[MAX_LINE];
    if (!hx_log_is_on(level)) return;
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    tell_lines(level, level == HX_LOG_VERBOSE ? HX_LOG_DETAIL : HX_LOG_INFO, text);
    if (prints(level)) print_line(stdout, "", text);
    if (text != line) free(text);
}

void hx_log_info(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_formatted(HX_LOG_NORMAL, fmt, args);
    va_end(args);
}

void hx_log_detail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_formatted(HX_LOG_VERBOSE, fmt, args);
    va_end(args);
}

void hx_log_text(hx_log_level level, const char *text)
{
    const hx_log_kind kind = level == HX_LOG_VERBOSE ? HX_LOG_DETAIL : HX_LOG_INFO;
    for (int i = 0; i < n_sink; i++)
        if (sinks[i].level >= level) sinks[i].line(sinks[i].user, kind, text);
    if (prints(level)) print_line(stdout, "", text);
}

void hx_log_record(const char *fmt, ...)
{
    char line[MAX_LINE];
    va_list args;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    tell_lines(HX_LOG_NORMAL, HX_LOG_INFO, text);
    if (text != line) free(text);
}

/* Columns of the terminal: a longer status line would wrap and could not be rewritten. */
static int terminal_width(void)
{
    struct winsize size;
    const int known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

static void tell_status(const char *text)
{
    for (int i = 0; i < n_sink; i++)
        if (sinks[i].status) sinks[i].status(sinks[i].user, text);
}

static void show_status(const char *text)
{
    if (!prints(HX_LOG_NORMAL)) return;
    printf("\r\033[K%.*s", terminal_width() - 1, text);
    fflush(stdout);
    status_open = 1;
}

void hx_log_status(const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tell_status(text);
    show_status(text);
}

/* Number of bytes of the items that fit into `room`: all of them, or those up to a double blank. */
static int fitting(const char *text, int room)
{
    int n = (int)strlen(text);
    while (n > room && n > 0) {
        n--;
        while (n > 0 && strncmp(text + n, "  ", 2) != 0) n--;
    }
    return n;
}

void hx_log_progress(double share, const char *lead, const char *tail)
{
    enum { LEAST = 10, MOST = 30 };
    char text[256], bar[MOST + 1];
    const int width = terminal_width() - 1, fifth = width / 5;
    const int n_bar = fifth < LEAST ? LEAST : fifth > MOST ? MOST : fifth;
    const int n_done = (int)(n_bar * (share < 0.0 ? 0.0 : share < 1.0 ? share : 1.0) + 0.5);
    snprintf(text, sizeof text, "%s  %s", lead, tail);
    tell_status(text);
    memset(bar, '=', (size_t)n_done);
    memset(bar + n_done, ' ', (size_t)(n_bar - n_done));
    if (n_done > 0 && n_done < n_bar) bar[n_done - 1] = '>';
    bar[n_bar] = '\0';
    const int used = snprintf(text, sizeof text, "%.80s  [%s]  ", lead, bar);
    snprintf(text + used, sizeof text - (size_t)used, "%.*s", fitting(tail, width - used), tail);
    show_status(text);
}

void hx_log_status_keep(void)
{
    if (!status_open) return;
    fputc('\n', stdout);
    fflush(stdout);
    status_open = 0;
}

/* Logs a line to stderr, at any level. */
static void complain(hx_log_kind kind, const char *lead, const char *fmt, va_list args)
    HX_PRINTF(3, 0);

static void complain(hx_log_kind kind, const char *lead, const char *fmt, va_list args)
{
    char line[MAX_LINE], *const text = hx_fit_all(line, sizeof line, fmt, args);
    tell_lines(HX_LOG_QUIET, kind, text);
    if (!silent) print_line(stderr, lead, text);
    if (text != line) free(text);
}

void hx_log_warning(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(HX_LOG_WARNING, "hextop: warning: ", fmt, args);
    va_end(args);
}

/* With -v: prints where an error was raised. */
static void say_where(const char *fmt, ...) HX_PRINTF(1, 2);

static void say_where(const char *fmt, ...)
{
    char text[MAX_LINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tell_lines(HX_LOG_VERBOSE, HX_LOG_ERROR, text);
    if (prints(HX_LOG_VERBOSE)) print_line(stderr, "hextop: ", text);
}

void hx_log_error(int code)
{
    const char *const message = hx_error_message();
    hx_log_usage_error("%s", message[0] ? message : hx_error_text(code));
    say_where("(%s, raised at %s)", hx_error_text(code), hx_error_where());
}

void hx_log_usage_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(HX_LOG_ERROR, "hextop: error: ", fmt, args);
    va_end(args);
}

int hx_log_notes(hx_notes *notes)
{
    int n_warning = 0;
    for (size_t i = 0; i < notes->n; i++) {
        const char *const text = notes->note[i].text;
        switch (notes->note[i].level) {
        case HX_NOTE_DETAIL:
            hx_log_detail("%s", text);
            break;
        case HX_NOTE_INFO:
            hx_log_info("%s", text);
            break;
        case HX_NOTE_WARNING:
            hx_log_warning("%s", text);
            n_warning++;
            break;
        }
    }
    hx_notes_free(notes);
    return n_warning;
}
