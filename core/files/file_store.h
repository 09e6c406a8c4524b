/* Records by number of which each of several processes has some, and which any of them can ask for:
 * blocks of a thousand to each process in turn, so that where one is follows from its number,
 * however many there will be. Not installed. */
#ifndef HX_FILE_STORE_H
#define HX_FILE_STORE_H

#include "../team/team.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_STORE_BLOCK = 1024 };

/* Records 0 .. n - 1; once some are left out, the others are numbered anew in their order. */
typedef struct hx_file_store {
    const hx_team *team; /* (borrowed) */
    size_t bytes;        /* of a record */
    int64_t n;           /* of all */
    int64_t n_own;       /* here */
    size_t n_block, capacity;
    char **block;    /* [n_block][HX_STORE_BLOCK * bytes] here (owned, each) */
    uint64_t **sets; /* [n_block][HX_STORE_BLOCK] bits; NULL: no record of it is in a set (owned) */
    /* Where some are left out: the first number of each block of all, [blocks of all + 1], and
     * which of a block's are kept, [n_block][HX_STORE_BLOCK / 64] bits; else NULL (owned). */
    int64_t *first, n_first;
    uint64_t *kept;
} hx_file_store;

void hx_file_store_begin(hx_file_store *store, const hx_team *team, size_t bytes);

/* Accepts a zeroed store. */
void hx_file_store_free(hx_file_store *store);

/* The process that has the record, before any was left out. */
static inline int hx_file_store_home(const hx_file_store *store, int64_t number)
{
    return (int)(number / HX_STORE_BLOCK % store->team->size);
}

/* The next n records of this process, in the order of their numbers. */
int hx_file_store_append(hx_file_store *store, int64_t n, const void *record);

/* Puts records first .. first + n - 1, of one block that is here, into set `bit`. */
int hx_file_store_mark(hx_file_store *store, int64_t first, int64_t n, int bit);

/* Leaves out the records whose bit of used[(n + 63) / 64] is 0. */
int hx_file_store_keep(hx_file_store *store, const uint64_t *used);

/* What record i is called once those whose bit of `used` is 0 are left out, if it is not; `first`:
 * of a store that has left them out. */
static inline int64_t hx_file_store_renumber(const int64_t *first, const uint64_t *used, int64_t i)
{
    const int64_t block = i / HX_STORE_BLOCK, word = i / 64;
    int64_t number = first[block];
    for (int64_t w = block * (HX_STORE_BLOCK / 64); w < word; w++)
        number += __builtin_popcountll(used[w]);
    return number + __builtin_popcountll(used[word] & (((uint64_t)1 << i % 64) - 1));
}

/* Record k of those here, and its number; before any was left out. */
void *hx_file_store_own(const hx_file_store *store, int64_t k, int64_t *number);

/* record[n] := those of number[n], and sets[n] the bits of the sets that they are in; NULL: not
 * wanted. Numbers may repeat, each goes on its way once. Collective. O(n), 100 bytes each of
 * 262,144 at a time. */
int hx_file_store_ask(const hx_file_store *store, int64_t n, const int64_t *number, void *record,
                      uint64_t *sets);

/* old[n] := the numbers that records number[n] had before some were left out. Collective. */
int hx_file_store_ask_old(const hx_file_store *store, int64_t n, const int64_t *number,
                          int64_t *old);

/* (*in)[*n_in], the caller's: items of `bytes` that processes have sent to this one, home[n] of
 * each, in their order. Collective. */
int hx_file_ship(const hx_team *team, size_t bytes, int64_t n, const void *item,
                 const int32_t *home, int64_t *n_in, void **in);

#ifdef __cplusplus
}
#endif

#endif
