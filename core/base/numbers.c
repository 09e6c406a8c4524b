#include "numbers.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "names.h"
#include "random.h"

enum { FIRST_CAPACITY = 64 };

void hx_numbers_free(hx_numbers *list)
{
    free(list->narrow);
    free(list->wide);
    memset(list, 0, sizeof *list);
}

size_t hx_numbers_bytes(const hx_numbers *list)
{
    const size_t width = list->wide ? sizeof *list->wide : list->narrow ? sizeof *list->narrow : 0;
    return (size_t)list->capacity * width;
}

static int fits_narrow(int64_t number)
{
    return number >= INT32_MIN && number <= INT32_MAX;
}

void hx_numbers_expect(hx_numbers *list, int64_t n)
{
    if (hx_numbers_is_run(list) && list->n + n > list->capacity) list->capacity = list->n + n;
}

/* Provides an array for n entries in total, 64 bits wide if is_wide, and converts the existing
 * entries. */
static int make_arrays(hx_numbers *list, int64_t n, int is_wide)
{
    int32_t *narrow = NULL;
    int64_t *wide = NULL;
    const int64_t twice = 2 * list->capacity;
    const int stays = is_wide ? list->wide != NULL : list->narrow != NULL;
    if (stays && n <= list->capacity) return HX_OK;
    int64_t capacity = list->capacity;
    if (n > capacity) capacity = n > twice ? n : twice;
    if (capacity < FIRST_CAPACITY) capacity = FIRST_CAPACITY;
    if (is_wide)
        HX_TRY(hx_alloc_raw(&wide, (size_t)capacity, sizeof *wide, "numbers of a mesh file"));
    else
        HX_TRY(hx_alloc_raw(&narrow, (size_t)capacity, sizeof *narrow, "numbers of a mesh file"));
#pragma omp parallel for schedule(static) if (list->n > 65536)
    for (int64_t i = 0; i < list->n; i++) {
        if (is_wide)
            wide[i] = hx_numbers_get(list, i);
        else
            narrow[i] = (int32_t)hx_numbers_get(list, i);
    }
    free(list->narrow);
    free(list->wide);
    list->narrow = narrow;
    list->wide = wide;
    list->capacity = capacity;
    return HX_OK;
}

/* Returns 1 if number[n] = first, first + 1, ... */
static int is_run(int64_t n, const int64_t *number, int64_t first)
{
    int same = 1;
    for (int64_t i = 0; i < n && same; i++) same = number[i] - i == first;
    return same;
}

static int check_range(int64_t n, const int64_t *number)
{
    const int64_t limit = (int64_t)1 << 62;
    for (int64_t i = 0; i < n; i++)
        if (number[i] >= limit || number[i] <= -limit)
            return HX_RAISE(HX_EINPUT, "the number %lld is out of range", (long long)number[i]);
    return HX_OK;
}

int hx_numbers_append(hx_numbers *list, int64_t n, const int64_t *number)
{
    if (n <= 0) return HX_OK;
    HX_TRY(check_range(n, number));
    if (list->n == 0) list->first = number[0];
    if (hx_numbers_is_run(list) && is_run(n, number, list->first + list->n)) {
        list->n += n;
        return HX_OK;
    }
    int is_wide = list->wide != NULL;
    for (int64_t i = 0; i < n && !is_wide; i++) is_wide = !fits_narrow(number[i]);
    if (hx_numbers_is_run(list) && list->n > 0)
        is_wide |= !fits_narrow(list->first) || !fits_narrow(list->first + list->n - 1);
    HX_TRY(make_arrays(list, list->n + n, is_wide));
    if (is_wide)
        memcpy(list->wide + list->n, number, (size_t)n * sizeof *number);
    else
        for (int64_t i = 0; i < n; i++) list->narrow[list->n + i] = (int32_t)number[i];
    list->n += n;
    return HX_OK;
}

int hx_numbers_append_run(hx_numbers *list, int64_t n, int64_t first)
{
    enum { CHUNK = 1024 };
    int64_t chunk[CHUNK];
    if (n <= 0) return HX_OK;
    HX_TRY(check_range(1, &first));
    if (list->n == 0) list->first = first;
    if (hx_numbers_is_run(list) && first == list->first + list->n) {
        list->n += n;
        return HX_OK;
    }
    for (int64_t done = 0; done < n; done += CHUNK) {
        const int64_t now = n - done < CHUNK ? n - done : CHUNK;
        for (int64_t i = 0; i < now; i++) chunk[i] = first + done + i;
        HX_TRY(hx_numbers_append(list, now, chunk));
    }
    return HX_OK;
}

int hx_numbers_copy(hx_numbers *to, const hx_numbers *from)
{
    memset(to, 0, sizeof *to);
    if (!hx_numbers_is_run(from)) HX_TRY(make_arrays(to, from->n, from->wide != NULL));
    if (from->narrow) memcpy(to->narrow, from->narrow, (size_t)from->n * sizeof *from->narrow);
    if (from->wide) memcpy(to->wide, from->wide, (size_t)from->n * sizeof *from->wide);
    to->n = from->n;
    to->first = from->first;
    return HX_OK;
}

/* --- positions of numbers --- */

/* Returns the slot of the number, or the empty slot where it belongs. */
static int32_t *hash_slot(const hx_number_index *index, int64_t number)
{
    uint64_t at = hx_random_mix((uint64_t)number) & index->mask;
    while (index->place[at] >= 0 && hx_numbers_get(index->list, index->place[at]) != number)
        at = (at + 1) & index->mask;
    return &index->place[at];
}

int hx_number_index_create(hx_number_index *index, const hx_numbers *list)
{
    memset(index, 0, sizeof *index);
    index->list = list;
    index->repeated = -1;
    if (list->n > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "%lld %s or elements; at most 2^31 - 1 are supported",
                        (long long)list->n, hx_noun(list->n, "node", "nodes"));
    if (hx_numbers_is_run(list)) return HX_OK;
    int64_t min = INT64_MAX, max = INT64_MIN;
#pragma omp parallel for schedule(static) reduction(min : min) reduction(max : max)
    for (int64_t i = 0; i < list->n; i++) {
        const int64_t number = hx_numbers_get(list, i);
        if (number < min) min = number;
        if (number > max) max = number;
    }
    index->min = min;
    index->max = max;
    int64_t n_place = index->max - index->min + 1; /* below 2^63: see hx_numbers_append */
    if (n_place > 4 * list->n + 1024) {
        for (n_place = 1024; n_place < 2 * list->n;) n_place *= 2;
        index->mask = (uint64_t)n_place - 1;
    }
    HX_TRY(hx_alloc_raw(&index->place, (size_t)n_place, sizeof *index->place, "lookup of numbers"));
    memset(index->place, 0xff, (size_t)n_place * sizeof *index->place);
    for (int64_t i = 0; i < list->n; i++) {
        const int64_t number = hx_numbers_get(list, i);
        int32_t *const slot =
            index->mask ? hash_slot(index, number) : &index->place[number - index->min];
        if (*slot < 0)
            *slot = (int32_t)i;
        else if (index->repeated < 0)
            index->repeated = i;
    }
    return HX_OK;
}

int64_t hx_number_index_find(const hx_number_index *index, int64_t number)
{
    const hx_numbers *const list = index->list;
    if (hx_numbers_is_run(list))
        return number >= list->first && number - list->first < list->n ? number - list->first : -1;
    if (number < index->min || number > index->max) return -1;
    return index->mask ? *hash_slot(index, number) : index->place[number - index->min];
}

void hx_number_index_free(hx_number_index *index)
{
    free(index->place);
    memset(index, 0, sizeof *index);
}
