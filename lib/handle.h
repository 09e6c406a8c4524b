/* Shared by the files of the library: the handle, and what surrounds each call. */
#ifndef HX_HANDLE_H
#define HX_HANDLE_H

#include <locale.h>

#include "app/doubt/doubt.h"
#include "app/output/output.h"
#include "app/output/stats.h"
#include "app/session/session.h"
#include "hextop.h"

typedef enum { HX_HANDLE_OPEN, HX_HANDLE_READY, HX_HANDLE_FAILED } hx_handle_state;

/* An array that was asked for. */
typedef struct hx_handle_array {
    const void *kind; /* its row of the table of arrays */
    int load_case;
    int iteration;     /* whose values it has; -1: none yet */
    int64_t n, n_comp; /* rows, columns */
    void *value;       /* [n][n_comp] (owned) */
} hx_handle_array;

struct hextop {
    hx_handle_state state;
    char *path;     /* (owned) */
    hx_value *tree; /* until it is prepared (owned) */
    hx_session session;
    hx_stats stats;
    hx_doubts doubts; /* of the session, once it is prepared */
    hx_output output; /* from the first VTK file on; session NULL until then */
    int analysed;     /* 1: the optimizer holds an analysed design, and a proposal */
    int done;         /* 1: the config asks for no more iterations */
    int running;      /* 1: within hextop_run */
    size_t n_array, capacity;
    hx_handle_array *array; /* [n_array] (owned) */
    char *summary;          /* (owned) */
    hextop_log log;
    hextop_watch watch;
    void *log_user, *watch_user; /* (borrowed) */
    int code;
    char message[2048];
    /* What a call changes of the thread, and puts back. */
    locale_t locale, callers_locale; /* locale: "C", of numbers (owned) */
    int depth, threads, callers_threads, callers_printing;
};

/* Around each call. leave keeps the message of a failure; returns rc. */
void hx_handle_enter(hextop *h);
int hx_handle_leave(hextop *h, int rc);

/* HX_EINPUT: no design was analysed yet. */
int hx_handle_need_design(const hextop *h);

/* The session's steps up to the first design, once. */
int hx_handle_prepare(hextop *h);

/* The session's summary, as a text that is the caller's to free. */
int hx_handle_summary(hextop *h, char **text);

#endif
