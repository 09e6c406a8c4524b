/* Arrays that grow. */
#ifndef HX_GROW_H
#define HX_GROW_H

#include <stddef.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Moves the first n entries of *(void **)array (owned; NULL for n = 0) into a new array of count >=
 * n entries of `size` bytes, the others zeroed. HX_ENOMEM leaves the old one as it was. */
int hx_resize(void *array, size_t n, size_t count, size_t size, const char *what);

/* The same, the others not zeroed: for large arrays that are filled at once. */
int hx_resize_raw(void *array, size_t n, size_t count, size_t size, const char *what);

/* Room for one more entry after n, of *capacity: doubled where it is used up, so that n entries are
 * moved O(n) times in all. */
int hx_grow(void *array, size_t n, size_t *capacity, size_t size, const char *what);

#ifdef __cplusplus
}
#endif

#ifdef HX_FAULT_INJECTION /* the site is the caller's */
#include "fault.h"
#define hx_resize(array, n, count, size, what) HX_FAULT_MARK(hx_resize)(array, n, count, size, what)
#define hx_resize_raw(array, n, count, size, what)                                                 \
    HX_FAULT_MARK(hx_resize_raw)(array, n, count, size, what)
#define hx_grow(array, n, capacity, size, what)                                                    \
    HX_FAULT_MARK(hx_grow)(array, n, capacity, size, what)
#endif

#endif
