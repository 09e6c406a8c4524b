#include "grow.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#undef hx_alloc /* the caller has set the mark */
#undef hx_alloc_raw
#undef hx_resize
#undef hx_resize_raw
#undef hx_grow

/* Moves n entries into `with` and stores it in *array, a pointer of any type. */
static void replace(void *array, size_t n, size_t size, void *with)
{
    void *old;
    memcpy(&old, array, sizeof old);
    if (n > 0) memcpy(with, old, n * size);
    free(old);
    memcpy(array, &with, sizeof with);
}

int hx_resize(void *array, size_t n, size_t count, size_t size, const char *what)
{
    void *larger = NULL;
    HX_TRY(hx_alloc(&larger, count, size, what));
    replace(array, n, size, larger);
    return HX_OK;
}

int hx_resize_raw(void *array, size_t n, size_t count, size_t size, const char *what)
{
    void *larger = NULL;
    HX_TRY(hx_alloc_raw(&larger, count, size, what));
    replace(array, n, size, larger);
    return HX_OK;
}

int hx_grow(void *array, size_t n, size_t *capacity, size_t size, const char *what)
{
    const size_t wanted = 2 * *capacity + 16;
    if (n < *capacity) return HX_OK;
    HX_TRY(hx_resize(array, n, wanted, size, what));
    *capacity = wanted;
    return HX_OK;
}
