/* Host memory: overflow-checked allocation whose error message names the purpose. */
#ifndef HX_MEMORY_H
#define HX_MEMORY_H

#include <stddef.h>

#include "error.h"

HX_C_BEGIN

/* Allocates count * size bytes, zeroed, into *(void **)out; the caller owns the memory and calls
 * free(). count = 0 gives a valid pointer. HX_ENOMEM with `what` and the number of bytes. Large
 * requests are checked against the available memory first, since the system grants more than it
 * has. */
int hx_alloc(void *out, size_t count, size_t size, const char *what);

/* Like hx_alloc without zeroing, for large arrays that are filled at once (and first touched) in
 * parallel. */
int hx_alloc_raw(void *out, size_t count, size_t size, const char *what);

/* free() for an array of that many bytes. Pages of a large array are first returned to the system
 * by all threads: in one thread that takes seconds for tens of gigabytes. p may be NULL. */
void hx_free_large(void *p, size_t bytes);

/* Duplicates a string; NULL gives NULL. */
int hx_strdup(char **out, const char *text);

/* Returns the bytes that the operating system can still provide, including limits of the cgroup and
 * of `ulimit -v`; 0 if unknown. */
size_t hx_host_memory_available(void);

/* Returns the largest resident set of this process up to now, in bytes. */
size_t hx_host_memory_peak(void);

/* Returns the current resident set of this process in bytes; 0 if unknown. */
size_t hx_host_memory_resident(void);

/* Writes text such as "1.5 GB" (powers of 1000) into a buffer of the caller and returns it. */
const char *hx_format_bytes(double bytes, char *text, size_t n_text);

HX_C_END

#ifdef HX_FAULT_INJECTION /* reports the caller as site */
#include "fault.h"
#define hx_alloc(out, count, size, what) HX_FAULT_MARK(hx_alloc)(out, count, size, what)
#define hx_alloc_raw(out, count, size, what) HX_FAULT_MARK(hx_alloc_raw)(out, count, size, what)
#define hx_strdup(out, text) HX_FAULT_MARK(hx_strdup)(out, text)
#endif

#endif
