#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
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
    HX_PRINTF(3, 0);

static void print_line(FILE *stream, const char *lead, const char *fmt, va_list args)
{
    char text[2304];
    vsnprintf(text, sizeof text, fmt, args);
    clear_status();
    fprintf(stream, "%s%s\n", lead, text);
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

/* Columns of the terminal; a longer line would wrap and could not be rewritten. */
static int terminal_width(void)
{
    struct winsize size;
    const int known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

void hx_log_status(const char *fmt, ...)
{
    char text[256];
    if (log_level < HX_LOG_NORMAL) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    printf("\r\033[K%.*s", terminal_width() - 1, text);
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
