/* The terminal: plain lines, one rewritten status line, warnings and errors. Results go to stdout,
 * warnings and errors to stderr. Sinks also receive every line, and printing can be switched off.
 *
 * Level, printing and sinks belong to a thread: two threads with a session each do not receive each
 * other's lines. */
#ifndef HX_LOG_H
#define HX_LOG_H

#include "core/base/error.h"
#include "core/base/notes.h"

typedef enum { HX_LOG_QUIET = -1, HX_LOG_NORMAL = 0, HX_LOG_VERBOSE = 1 } hx_log_level;

/* Level of the terminal. */
void hx_log_set_level(hx_log_level level);
hx_log_level hx_log_get_level(void);

typedef enum { HX_LOG_DETAIL, HX_LOG_INFO, HX_LOG_WARNING, HX_LOG_ERROR } hx_log_kind;

/* text: one line without its newline, without "hextop: warning: ", valid during the call. */
typedef void (*hx_log_line_call)(void *user, hx_log_kind kind, const char *text);
typedef void (*hx_log_status_call)(void *user, const char *text);

typedef struct hx_log_sink {
    hx_log_level level;        /* lowest level that it receives, independent of the terminal's */
    hx_log_line_call line;     /* must not log */
    hx_log_status_call status; /* called at each rewriting of the status line; NULL: not needed */
    void *user;                /* (borrowed) */
} hx_log_sink;

/* Adds a sink (copied), which receives lines logged from here on. At most 8: HX_EINTERNAL. */
int hx_log_add_sink(const hx_log_sink *sink);
/* Removes the last sink added with this `user`; nothing if there is none. */
void hx_log_remove_sink(const void *user);

/* on = 0: nothing is printed, and only sinks receive lines. Returns the previous value, which is
 * initially 1. */
int hx_log_set_printing(int on);

/* Returns 1 if the terminal or a sink receives lines of this level. If not, a long text need not be
 * made. */
int hx_log_is_on(hx_log_level level);

/* on = 1: stdout is not treated as a terminal. mpirun gives processes a terminal of its own, whatever
 * it writes to itself. */
void hx_log_set_plain(int on);

/* 1 if stdout is a terminal and printing is on, so that a status line can be rewritten. */
int hx_log_is_terminal(void);

/* Logs a line to stdout, except with -q; a newline is added. */
void hx_log_info(const char *fmt, ...) HX_PRINTF(1, 2);
/* Logs a line to stdout only with -v. */
void hx_log_detail(const char *fmt, ...) HX_PRINTF(1, 2);
/* Logs a line of any length at this level or a more verbose one; HX_LOG_QUIET: even with -q. */
void hx_log_text(hx_log_level level, const char *text);
/* Logs a line only to sinks; used if the terminal shows the same in its status line. */
void hx_log_record(const char *fmt, ...) HX_PRINTF(1, 2);
/* Rewrites the status line of a terminal; any other output clears it first. */
void hx_log_status(const char *fmt, ...) HX_PRINTF(1, 2);
/* A status line with a bar for the fraction `share` (0 to 1) between lead and tail. The tail
 * consists of items separated by two spaces; as many are shown as fit on the line. */
void hx_log_progress(double share, const char *lead, const char *tail);
/* Ends the status line so that it stays. */
void hx_log_status_keep(void);

/* "hextop: warning: ..." */
void hx_log_warning(const char *fmt, ...) HX_PRINTF(1, 2);
/* "hextop: error: MESSAGE" of the last recorded error; with -v also the code and the place. */
void hx_log_error(int code);
/* Prints "hextop: error: ..." for an error in the command line. */
void hx_log_usage_error(const char *fmt, ...) HX_PRINTF(1, 2);

/* Logs each note at its level, and frees the notes. Returns the number of warnings. */
int hx_log_notes(hx_notes *notes);

#endif
