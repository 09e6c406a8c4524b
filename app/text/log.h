/* The terminal: plain lines, one rewritten status line, warnings and errors. Results go to stdout,
 * warnings and errors to stderr. */
#ifndef HX_LOG_H
#define HX_LOG_H

#include "core/base/error.h"
#include "core/base/notes.h"

typedef enum { HX_LOG_QUIET = -1, HX_LOG_NORMAL = 0, HX_LOG_VERBOSE = 1 } hx_log_level;

void hx_log_set_level(hx_log_level level);
hx_log_level hx_log_get_level(void);

/* 1 if stdout is a terminal, so that a status line can be rewritten. */
int hx_log_is_terminal(void);

/* A line on stdout, except with -q; a newline is added. */
void hx_log_info(const char *fmt, ...) HX_PRINTF(1, 2);
/* The same, only with -v. */
void hx_log_detail(const char *fmt, ...) HX_PRINTF(1, 2);
/* Rewrites the status line of a terminal; any other output clears it first. */
void hx_log_status(const char *fmt, ...) HX_PRINTF(1, 2);
/* Ends the status line so that it stays. */
void hx_log_status_keep(void);

/* "hextop: warning: ..." */
void hx_log_warning(const char *fmt, ...) HX_PRINTF(1, 2);
/* "hextop: error: MESSAGE" of the last recorded error; with -v also the code and the place. */
void hx_log_error(int code);
/* "hextop: error: ..." of a fault in the command line. */
void hx_log_usage_error(const char *fmt, ...) HX_PRINTF(1, 2);

/* Each at its level; frees them. Returns how many warnings there were. */
int hx_log_notes(hx_notes *notes);

#endif
