/* Long lists of integers that are mostly 0, 1, 2, ...: numbers of nodes and elements as given in a
 * mesh file. A list is stored as a run of consecutive numbers while possible, then with 32 bits per
 * number, and with 64 bits only if necessary. */
#ifndef HX_NUMBERS_H
#define HX_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

HX_C_BEGIN

typedef struct hx_numbers {
    int64_t n, capacity;
    int64_t first;   /* if both arrays are NULL, number i is first + i */
    int32_t *narrow; /* [capacity] (owned), or NULL */
    int64_t *wide;   /* [capacity] (owned), or NULL */
} hx_numbers;

/* Appends n numbers of magnitude below 2^62 (otherwise HX_EINPUT). Amortised O(n). */
int hx_numbers_append(hx_numbers *list, int64_t n, const int64_t *number);

/* Appends the n numbers first, first + 1, ... */
int hx_numbers_append_run(hx_numbers *list, int64_t n, int64_t first);

/* Hint: makes room for n more numbers if the list is stored in an array. */
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

/* Frees the list and zeroes the struct; accepts a zeroed struct. */
void hx_numbers_free(hx_numbers *list);

/* Finds the position of a number in a list: by arithmetic for a run, by a table if the numbers are
 * dense, otherwise by hashing. */
typedef struct hx_number_index {
    const hx_numbers *list; /* (borrowed) */
    int64_t min, max;
    int32_t *place; /* [max - min + 1], or [mask + 1] slots of the hash table; -1: empty (owned) */
    uint64_t mask;  /* 0: no hash table */
    int64_t repeated; /* first position whose number occurs before, or -1 */
} hx_number_index;

/* O(n); 4 to 16 bytes per number, nothing for a run. HX_EINPUT: 2^31 numbers or more. A repeated
 * number is found at its first position. */
int hx_number_index_create(hx_number_index *index, const hx_numbers *list);
void hx_number_index_free(hx_number_index *index);

/* Returns the position of the number, or -1. */
int64_t hx_number_index_find(const hx_number_index *index, int64_t number);

HX_C_END

#endif
