/* Errors: negative codes, with one message recorded where the error was found.
 *
 * A function that can fail returns 0 or a negative HX_E... code and stores its results through
 * pointers. The message is kept per thread; only the application prints it. A numerical outcome
 * (PCG that did not converge) is data, not an error. */
#ifndef HX_ERROR_H
#define HX_ERROR_H

#include "c_linkage.h"

HX_C_BEGIN

/* name of the code, value, exit status of the program, text */
#define HX_ERROR_LIST(X)                                                                           \
    X(HX_EINPUT, -1, 2, "bad input")                                                               \
    X(HX_EENV, -2, 2, "not supported on this machine")                                             \
    X(HX_EIO, -3, 1, "reading or writing failed")                                                  \
    X(HX_ENOMEM, -4, 1, "out of memory")                                                           \
    X(HX_EDEVICE, -5, 1, "the device reported an error")                                           \
    X(HX_ENUMERIC, -6, 1, "the computation broke down")                                            \
    X(HX_EINTERNAL, -7, 1, "internal error")

/* Size of a message; a longer one ends in " ...". Two paths of any length fit. */
enum { HX_MESSAGE_SIZE = 12288 };

enum hx_error {
    HX_OK = 0,
#define HX_ERROR_ENUM(code, value, exit_status, text) code = (value),
    HX_ERROR_LIST(HX_ERROR_ENUM)
#undef HX_ERROR_ENUM
};

#if defined(__GNUC__)
#define HX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define HX_PRINTF(fmt, args)
#endif

/* Records a message and the place in the source, and returns `code`. A message states what is wrong
 * and what would be right, without a trailing newline. */
int hx_error_raise(int code, const char *src_file, int src_line, const char *fmt, ...)
    HX_PRINTF(4, 5);

/* Inserts a prefix before the recorded message, in a caller that knows the file or key
 * concerned. */
void hx_error_prefix(const char *fmt, ...) HX_PRINTF(1, 2);

/* The last message of this thread ("" if none), and "file.c:123" where it was raised. */
const char *hx_error_message(void);
const char *hx_error_where(void);
void hx_error_clear(void);

/* Returns the text of a code, and the exit status of the program for it. */
const char *hx_error_text(int code);
int hx_error_exit_status(int code);

/* HX_PLACED: the call adds a place to the message and returns `code`. */
#ifndef __clang_analyzer__
#define HX_RAISE(code, ...) hx_error_raise((code), __FILE__, __LINE__, __VA_ARGS__)
#define HX_PLACED(code, call) (call)
#define HX_FAILED(rc) ((rc) < 0)
#else /* which does not see that hx_error_raise returns `code`, and that no code is positive */
#define HX_RAISE(code, ...) (hx_error_raise((code), __FILE__, __LINE__, __VA_ARGS__), (code))
#define HX_PLACED(code, call) ((call), (code))
#define HX_FAILED(rc) ((rc) != HX_OK)
#endif

/* Forwards an error. */
#define HX_TRY(call)                                                                               \
    do {                                                                                           \
        const int hx_rc_ = (call);                                                                 \
        if (HX_FAILED(hx_rc_)) return hx_rc_;                                                      \
    } while (0)

/* Forwards an error through the single "fail:" label of a constructor; needs a local "int rc". */
#define HX_TRY_FAIL(call)                                                                          \
    do {                                                                                           \
        rc = (call);                                                                               \
        if (HX_FAILED(rc)) goto fail;                                                              \
    } while (0)

HX_C_END

#endif
