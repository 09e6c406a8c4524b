/* Host memory: overflow-checked allocation whose failure names what was wanted. */
#ifndef HX_MEMORY_H
#define HX_MEMORY_H

#include <stddef.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates count * size bytes, zeroed, into *(void **)out; the caller owns it and frees it with
 * free(). count = 0 gives a valid pointer. HX_ENOMEM names `what` and the bytes; for large arrays
 * before asking the system, which promises more than it has. */
int hx_alloc(void *out, size_t count, size_t size, const char *what);

/* As hx_alloc, not zeroed: for large arrays that are filled at once (and first touched) in
 * parallel. */
int hx_alloc_raw(void *out, size_t count, size_t size, const char *what);

/* free() of an array of so many bytes, of a large one by all threads: the system takes its pages
 * back in the thread that asks, which are seconds of tens of gigabytes. NULL is fine. */
void hx_free_large(void *p, size_t bytes);

/* Copies a string; NULL gives NULL. */
int hx_strdup(char **out, const char *text);

/* Bytes the operating system can still give (limits of the cgroup and of `ulimit -v` included); 0
 * if it does not say. */
size_t hx_host_memory_available(void);

/* Largest resident set of this process so far, in bytes. */
size_t hx_host_memory_peak(void);

/* Resident set of this process now, in bytes; 0 if the system does not say. */
size_t hx_host_memory_resident(void);

/* Writes "1.5 GB" style text (powers of 1000) into a caller's buffer; returns it. */
const char *hx_format_bytes(double bytes, char *text, size_t n_text);

#ifdef __cplusplus
}
#endif

#ifdef HX_FAULT_INJECTION /* the site is the caller's */
#include "fault.h"
#define hx_alloc(out, count, size, what) HX_FAULT_MARK(hx_alloc)(out, count, size, what)
#define hx_alloc_raw(out, count, size, what) HX_FAULT_MARK(hx_alloc_raw)(out, count, size, what)
#define hx_strdup(out, text) HX_FAULT_MARK(hx_strdup)(out, text)
#endif

#endif
