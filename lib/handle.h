/* Shared by the files of the library: the handle, and entry and exit of each call. */
#ifndef HX_HANDLE_H
#define HX_HANDLE_H

#include <locale.h>

#include "app/diag/diag.h"
#include "app/output/output.h"
#include "app/output/stats.h"
#include "app/session/session.h"
#include "hextop.h"

typedef enum { HX_HANDLE_OPEN, HX_HANDLE_READY, HX_HANDLE_FAILED } hx_handle_state;

/* An array that the caller has requested. */
typedef struct hx_handle_array {
    const void *kind; /* its row in the table of arrays */
    int load_case;
    int iteration;     /* iteration of its values; -1: not filled yet */
    int64_t n, n_comp; /* rows, columns */
    void *value;       /* [n][n_comp] (owned) */
} hx_handle_array;

struct hextop {
    hx_handle_state state;
    char *path;     /* (owned) */
    hx_value *tree; /* NULL once the session is prepared (owned) */
    hx_session session;
    hx_stats stats;
    hx_diags diags;   /* warnings of the session, once it is prepared */
    hx_output output; /* set by the first VTK file; its session is NULL before */
    int analysed;     /* 1: the optimizer holds an analysed design and a proposal */
    int done;         /* 1: all iterations of the config are done */
    int running;      /* 1: within hextop_run */
    size_t n_array, capacity;
    hx_handle_array *array; /* [n_array] (owned) */
    char *summary;          /* (owned) */
    hextop_log log;
    hextop_watch watch;
    void *log_user, *watch_user; /* (borrowed) */
    int code;
    char message[HX_MESSAGE_SIZE];
    /* Settings of the calling thread that a call changes and restores. */
    locale_t locale, callers_locale; /* locale: "C", for numbers (owned) */
    int depth, threads, callers_threads, callers_printing;
};

/* Called at entry and exit of each function. hx_handle_leave stores the message of a failure and
 * returns rc. */
void hx_handle_enter(hextop *h);
int hx_handle_leave(hextop *h, int rc);

/* HX_EINPUT: no design has been analysed. */
int hx_handle_need_design(const hextop *h);

/* Opens the session up to the first design, at the first call. */
int hx_handle_prepare(hextop *h);

/* The session's summary as a text; the caller frees it. */
int hx_handle_summary(hextop *h, char **text);

#endif
