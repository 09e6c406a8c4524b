/* Faults injected by tests, at hooks that all relevant calls pass. A build with
 * -Dfault_injection=true counts the calls of each hook and makes the selected one fail. In any
 * other build a hook is the constant 0, and nothing of this file is in the program.
 *
 * HEXTOP_FAULT="KIND SITE N HOW": the N-th call (from 1) of that kind at SITE fails; SITE "*"
 * counts all calls of the kind. HOW is a word of HX_FAULT_HOWS; if "+" follows it, all later calls
 * of the kind fail at every site (a full disk, a lost device). HEXTOP_FAULT_LIST=FILE: at the end
 * of the process, writes a line "KIND SITE CALLS" for each site, and "fired" if the fault was
 * triggered.
 *
 * A process that makes several runs (tests/gpu/fault_runs.c) calls hx_fault_arm() before each of
 * them instead.
 *
 * A site is "file.c:123": the place of the hook or, for allocations, of the call that requests
 * memory (file names are unique in the tree). Kinds: alloc, write, sync, rename, open, folder,
 * thread, device, cuda, nan, breakdown. */
#ifndef HX_FAULT_H
#define HX_FAULT_H

#include "c_linkage.h"

HX_C_BEGIN

/* name, word */
#define HX_FAULT_HOWS(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(MEMORY, "memory") /* none left, on the host or the device */                                 \
    X(SHORT, "short")   /* half is written */                                                      \
    X(SPACE, "space")   /* ENOSPC */                                                               \
    X(IO, "io")         /* EIO */                                                                  \
    X(LAUNCH, "launch") /* a kernel that does not start */                                         \
    X(LOST, "lost")     /* the device is gone */                                                   \
    X(VALUE, "value")   /* a wrong number: NaN, or the breakdown of PCG */

enum hx_fault_how {
#define HX_FAULT_ENUM(name, word) HX_FAULT_##name,
    HX_FAULT_HOWS(HX_FAULT_ENUM)
#undef HX_FAULT_ENUM
};

#ifdef HX_FAULT_INJECTION

/* Counts a call at "file:line" (line 0: at "file"). Returns how the call is to fail, or 0 if it is
 * not to fail. Thread-safe, and safe within malloc(). */
int hx_fault_at(const char *kind, const char *file, int line);

/* hx_fault_mark() records the caller of the next function in this thread. hx_fault_marked() uses
 * that mark once as its site; without a mark it uses its own place. */
void hx_fault_mark(const char *file, int line);
int hx_fault_marked(const char *kind, const char *file, int line);

/* Replaces the setting by `text`, in the format of HEXTOP_FAULT; NULL: no fault. All counts restart
 * from 0. No other thread may be running. */
void hx_fault_arm(const char *text);
/* Writes the list described under HEXTOP_FAULT_LIST. Returns 1 if the fault was triggered, 0 if
 * not, and -1 if the file cannot be written. */
int hx_fault_report(const char *path);

/* How this call fails: 0 or one of enum hx_fault_how. An expression, for C and for host code in
 * CUDA C++. */
#define HX_FAULT(kind) hx_fault_at(#kind, __FILE__, __LINE__)
#define HX_FAULT_MARKED(kind) hx_fault_marked(#kind, __FILE__, __LINE__)
/* Yields `function` for a call, after marking the call's place as its site. */
#define HX_FAULT_MARK(function) (hx_fault_mark(__FILE__, __LINE__), (function))

#else

#define HX_FAULT(kind) 0
#define HX_FAULT_MARKED(kind) 0

#endif

HX_C_END

#endif
