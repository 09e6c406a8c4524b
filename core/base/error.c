#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fit.h"

static _Thread_local char error_message[HX_MESSAGE_SIZE];
static _Thread_local char error_where[256];

int hx_error_raise(int code, const char *src_file, int src_line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    hx_fit_args(error_message, sizeof error_message, fmt, args);
    va_end(args);
    const char *slash = strrchr(src_file, '/');
    snprintf(error_where, sizeof error_where, "%s:%d", slash ? slash + 1 : src_file, src_line);
    return code;
}

void hx_error_prefix(const char *fmt, ...)
{
    char prefixed[HX_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    const size_t n = hx_fit_args(prefixed, sizeof prefixed, fmt, args);
    va_end(args);
    hx_fit(prefixed + n, sizeof prefixed - n, "%s", error_message);
    memcpy(error_message, prefixed, sizeof error_message);
}

const char *hx_error_message(void)
{
    return error_message;
}

const char *hx_error_where(void)
{
    return error_where;
}

void hx_error_clear(void)
{
    error_message[0] = error_where[0] = '\0';
}

const char *hx_error_text(int code)
{
    switch (code) {
    case HX_OK:
        return "no error";
#define HX_ERROR_TEXT(name, value, exit_status, text)                                              \
    case name:                                                                                     \
        return text;
        HX_ERROR_LIST(HX_ERROR_TEXT)
#undef HX_ERROR_TEXT
    default:
        return "unknown error";
    }
}

int hx_error_exit_status(int code)
{
    /* NOLINTBEGIN(bugprone-branch-clone): one branch per code of the list */
    switch (code) {
    case HX_OK:
        return 0;
#define HX_ERROR_EXIT(name, value, exit_status, text)                                              \
    case name:                                                                                     \
        return exit_status;
        HX_ERROR_LIST(HX_ERROR_EXIT)
#undef HX_ERROR_EXIT
    default:
        return 1;
    }
    /* NOLINTEND(bugprone-branch-clone) */
}
