/* Arrays that grow. */
#ifndef HX_GROW_H
#define HX_GROW_H

#include <stddef.h>

#include "error.h"

/* Moves the first n entries of *(void **)array (owned; NULL for n = 0) into a new array of count >=
 * n entries of `size` bytes, the rest zeroed. On HX_ENOMEM the old array is unchanged. */
int hx_resize(void *array, size_t n, size_t count, size_t size, const char *what);

/* Like hx_resize without zeroing the rest, for large arrays that are filled at once. */
int hx_resize_raw(void *array, size_t n, size_t count, size_t size, const char *what);

/* Makes room for one more entry after n. *capacity is doubled once it is used up, so that O(n)
 * moves of entries suffice for n entries. */
int hx_grow(void *array, size_t n, size_t *capacity, size_t size, const char *what);

#ifdef HX_FAULT_INJECTION /* reports the caller as site */
#include "fault.h"
#define hx_resize(array, n, count, size, what) HX_FAULT_MARK(hx_resize)(array, n, count, size, what)
#define hx_resize_raw(array, n, count, size, what)                                                 \
    HX_FAULT_MARK(hx_resize_raw)(array, n, count, size, what)
#define hx_grow(array, n, capacity, size, what)                                                    \
    HX_FAULT_MARK(hx_grow)(array, n, capacity, size, what)
#endif

#endif
