/* The terminal: plain lines, one rewritten status line, warnings and errors. Results go to stdout,
 * warnings and errors to stderr. Sinks get every line too, and can be all that does.
 *
 * Level, printing and sinks are a thread's own: two threads with a session each do not hear each
 * other. */
#ifndef HX_LOG_H
#define HX_LOG_H

#include "core/base/error.h"
#include "core/base/notes.h"

typedef enum { HX_LOG_QUIET = -1, HX_LOG_NORMAL = 0, HX_LOG_VERBOSE = 1 } hx_log_level;

/* Of the terminal. */
void hx_log_set_level(hx_log_level level);
hx_log_level hx_log_get_level(void);

typedef enum { HX_LOG_DETAIL, HX_LOG_INFO, HX_LOG_WARNING, HX_LOG_ERROR } hx_log_kind;

/* text: one line without its newline, without "hextop: warning: ", valid during the call. */
typedef void (*hx_log_line_call)(void *user, hx_log_kind kind, const char *text);
typedef void (*hx_log_status_call)(void *user, const char *text);

typedef struct hx_log_sink {
    hx_log_level level;        /* least of what it wants; the terminal's does not matter */
    hx_log_line_call line;     /* must not log */
    hx_log_status_call status; /* the status line, at each rewriting; NULL: not wanted */
    void *user;                /* (borrowed) */
} hx_log_sink;

/* A sink (copied) gets what is logged from here on. At most 8: HX_EINTERNAL. */
int hx_log_add_sink(const hx_log_sink *sink);
/* The last one added with this `user`; nothing if there is none. */
void hx_log_remove_sink(const void *user);

/* on = 0: nothing is printed, only sinks hear. Returns what it was; 1 at first. */
int hx_log_set_printing(int on);

/* 1 if somebody gets lines of this level: worth making a long text of. */
int hx_log_wants(hx_log_level level);

/* 1 if stdout is a terminal (and printed to), so that a status line can be rewritten. */
int hx_log_is_terminal(void);

/* A line on stdout, except with -q; a newline is added. */
void hx_log_info(const char *fmt, ...) HX_PRINTF(1, 2);
/* The same, only with -v. */
void hx_log_detail(const char *fmt, ...) HX_PRINTF(1, 2);
/* A line of any length, from this level on; HX_LOG_QUIET: also with -q. */
void hx_log_text(hx_log_level level, const char *text);
/* A line for sinks alone: what a terminal shows by its status line. */
void hx_log_record(const char *fmt, ...) HX_PRINTF(1, 2);
/* Rewrites the status line of a terminal; any other output clears it first. */
void hx_log_status(const char *fmt, ...) HX_PRINTF(1, 2);
/* The same with a bar of how much is done (share, 0 to 1) between lead and tail; of the tail, items
 * with two blanks between them, as many as the terminal's line has room for. */
void hx_log_progress(double share, const char *lead, const char *tail);
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
