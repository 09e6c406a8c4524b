/* Long lists of integers that are mostly 0, 1, 2 ...: numbers of nodes and elements as a mesh file
 * gives them. A list is kept as a run while it is one, then in 32 bits, and in 64 only if it must
 * be. */
#ifndef HX_NUMBERS_H
#define HX_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_numbers {
    int64_t n, capacity;
    int64_t first;   /* without arrays number i is first + i */
    int32_t *narrow; /* [capacity] (owned), or NULL */
    int64_t *wide;   /* [capacity] (owned), or NULL */
} hx_numbers;

/* Appends n numbers, each below 2^62 in size (else HX_EINPUT). Amortised O(n). */
int hx_numbers_append(hx_numbers *list, int64_t n, const int64_t *number);

/* Appends first, first + 1, ... */
int hx_numbers_append_run(hx_numbers *list, int64_t n, int64_t first);

/* Makes room for n more, if the list has to have arrays at all: a hint. */
void hx_numbers_expect(hx_numbers *list, int64_t n);

static inline int64_t hx_numbers_get(const hx_numbers *list, int64_t i)
{
    return list->narrow ? list->narrow[i] : list->wide ? list->wide[i] : list->first + i;
}

static inline int hx_numbers_is_run(const hx_numbers *list)
{
    return !list->narrow && !list->wide;
}

int hx_numbers_copy(hx_numbers *to, const hx_numbers *from);

size_t hx_numbers_bytes(const hx_numbers *list);

/* Accepts a zeroed list, and leaves one. */
void hx_numbers_free(hx_numbers *list);

/* Where a number stands in a list: by arithmetic in a run, by a table where the numbers lie close,
 * else by hashing. */
typedef struct hx_number_index {
    const hx_numbers *list; /* (borrowed) */
    int64_t min, max;
    int32_t *place;   /* [max - min + 1], or [mask + 1] slots of the hash; -1: none (owned) */
    uint64_t mask;    /* 0: no hash */
    int64_t repeated; /* first place whose number stands before it too, or -1 */
} hx_number_index;

/* O(n), 4 to 16 bytes a number, nothing for a run. HX_EINPUT: 2^31 numbers or more. A number that
 * is repeated is found at its first place. */
int hx_number_index_create(hx_number_index *index, const hx_numbers *list);
void hx_number_index_free(hx_number_index *index);

/* Place of the number, or -1. */
int64_t hx_number_index_find(const hx_number_index *index, int64_t number);

#ifdef __cplusplus
}
#endif

#endif
