#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static hx_log_level log_level = HX_LOG_NORMAL;
static int status_open;

void hx_log_set_level(hx_log_level level)
{
    log_level = level;
}

hx_log_level hx_log_get_level(void)
{
    return log_level;
}

int hx_log_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

static void clear_status(void)
{
    if (!status_open) return;
    fputs("\r\033[K", stdout);
    fflush(stdout);
    status_open = 0;
}

static void print_line(FILE *stream, const char *lead, const char *fmt, va_list args)
{
    clear_status();
    fputs(lead, stream);
    vfprintf(stream, fmt, args);
    fputc('\n', stream);
    fflush(stream);
}

void hx_log_info(const char *fmt, ...)
{
    if (log_level < HX_LOG_NORMAL) return;
    va_list args;
    va_start(args, fmt);
    print_line(stdout, "", fmt, args);
    va_end(args);
}

void hx_log_detail(const char *fmt, ...)
{
    if (log_level < HX_LOG_VERBOSE) return;
    va_list args;
    va_start(args, fmt);
    print_line(stdout, "", fmt, args);
    va_end(args);
}

void hx_log_status(const char *fmt, ...)
{
    if (log_level < HX_LOG_NORMAL) return;
    va_list args;
    va_start(args, fmt);
    fputs("\r\033[K", stdout);
    vfprintf(stdout, fmt, args);
    va_end(args);
    fflush(stdout);
    status_open = 1;
}

void hx_log_status_keep(void)
{
    if (!status_open) return;
    fputc('\n', stdout);
    fflush(stdout);
    status_open = 0;
}

void hx_log_warning(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    print_line(stderr, "hextop: warning: ", fmt, args);
    va_end(args);
}

void hx_log_error(int code)
{
    clear_status();
    const char *message = hx_error_message();
    fprintf(stderr, "hextop: error: %s\n", message[0] ? message : hx_error_text(code));
    if (log_level >= HX_LOG_VERBOSE)
        fprintf(stderr, "hextop: (%s, raised at %s)\n", hx_error_text(code), hx_error_where());
}

void hx_log_usage_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    print_line(stderr, "hextop: error: ", fmt, args);
    va_end(args);
}
