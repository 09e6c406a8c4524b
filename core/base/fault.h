/* Faults that tests inject, at the places that all calls pass. A build with -Dfault_injection=true
 * counts the calls of each place and fails the one that it is told to; in any other build a hook is
 * the constant 0 and there is nothing of this file in the program.
 *
 * HEXTOP_FAULT="KIND SITE N HOW": the N-th call (from 1) of that kind at SITE fails; SITE "*"
 * counts all of the kind. HOW is a word of HX_FAULT_HOWS; with a "+" after it all later calls of
 * the kind fail too, wherever they are (a full disk, a lost device). HEXTOP_FAULT_LIST=FILE: at the
 * end, a line "KIND SITE CALLS" for each place, and "fired" if it was.
 *
 * A process of many runs (tests/gpu/fault_runs.c) says so before each by hx_fault_arm().
 *
 * A site is "file.c:123": where the hook stands or, of allocations, where they are asked for (file
 * names are unique in the tree). Kinds: alloc, write, sync, rename, open, folder, thread, device,
 * cuda, nan, breakdown.
 */
#ifndef HX_FAULT_H
#define HX_FAULT_H

#ifdef __cplusplus
extern "C" {
#endif

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

/* Counts a call at "file:line" (line 0: at "file"); how it shall fail, 0: it shall not. Safe in any
 * thread and within malloc(). */
int hx_fault_at(const char *kind, const char *file, int line);

/* Who asks for what the next function does, in this thread; hx_fault_marked() takes that for the
 * site, once, or else its own place. */
void hx_fault_mark(const char *file, int line);
int hx_fault_marked(const char *kind, const char *file, int line);

/* From here on as HEXTOP_FAULT=text says, NULL: none; all counts begin again. No other thread may
 * be at work. */
void hx_fault_arm(const char *text);
/* Writes the list of HEXTOP_FAULT_LIST; 1 if the fault was met, -1 where nothing can be written. */
int hx_fault_report(const char *path);

/* How this call fails: 0, or one of enum hx_fault_how. An expression, in C and CUDA C++ (host). */
#define HX_FAULT(kind) hx_fault_at(#kind, __FILE__, __LINE__)
#define HX_FAULT_MARKED(kind) hx_fault_marked(#kind, __FILE__, __LINE__)
/* function(arguments), with the mark set before. */
#define HX_FAULT_MARK(function) (hx_fault_mark(__FILE__, __LINE__), (function))

#else

#define HX_FAULT(kind) 0
#define HX_FAULT_MARKED(kind) 0

#endif

#ifdef __cplusplus
}
#endif

#endif
