/* Numbered records distributed over ranks, which any rank can request: blocks of HX_STORE_BLOCK
 * records go to the ranks in turn. The rank of a record therefore follows from its number, even
 * before the total number is known. Not installed. */
#ifndef HX_FILE_STORE_H
#define HX_FILE_STORE_H

#include "../comm/comm.h"

enum { HX_STORE_BLOCK = 1024 };

/* Records 0 .. n - 1. Once some are removed, the others are renumbered in their order. */
typedef struct hx_file_store {
    const hx_comm *comm; /* (borrowed) */
    size_t bytes;        /* per record */
    int64_t n;           /* on all ranks */
    int64_t n_own;       /* on this rank */
    size_t n_block, capacity;
    char **block; /* [n_block][HX_STORE_BLOCK * bytes] on this rank (owned, each) */
    /* [n_block][HX_STORE_BLOCK] bits; NULL: no record of the block is in a set (owned) */
    uint64_t **sets;
    /* After records were removed: the first number of each block on any rank, [blocks in total +
     * 1], and which records of a block are kept, [n_block][HX_STORE_BLOCK / 64] bits; otherwise
     * NULL (owned). */
    int64_t *first, n_first;
    uint64_t *kept;
} hx_file_store;

void hx_file_store_begin(hx_file_store *store, const hx_comm *comm, size_t bytes);

/* Accepts a zeroed store. */
void hx_file_store_free(hx_file_store *store);

/* The rank that holds the record; the number is that before any removal. */
static inline int hx_file_store_home(const hx_file_store *store, int64_t number)
{
    return (int)(number / HX_STORE_BLOCK % store->comm->size);
}

/* Appends the next n records of this rank, in the order of their numbers. */
int hx_file_store_append(hx_file_store *store, int64_t n, const void *record);

/* Puts records first .. first + n - 1, all in one local block, into set `bit`. */
int hx_file_store_mark(hx_file_store *store, int64_t first, int64_t n, int bit);

/* Removes the records whose bit of used[(n + 63) / 64] is 0. */
int hx_file_store_keep(hx_file_store *store, const uint64_t *used);

/* New number of record i after the records whose bit of `used` is 0 were removed, if i is kept;
 * `first` is that of a store after the removal. */
static inline int64_t hx_file_store_renumber(const int64_t *first, const uint64_t *used, int64_t i)
{
    const int64_t block = i / HX_STORE_BLOCK, word = i / 64;
    int64_t number = first[block];
    for (int64_t w = block * (HX_STORE_BLOCK / 64); w < word; w++)
        number += __builtin_popcountll(used[w]);
    return number + __builtin_popcountll(used[word] & (((uint64_t)1 << i % 64) - 1));
}

/* Number of local record k, and the record itself; numbers are those before any removal. */
void *hx_file_store_own(const hx_file_store *store, int64_t k, int64_t *number);

/* record[n] := the records number[n]; sets[n] := bits of the sets that contain them; either may be
 * NULL. Numbers may repeat; each is sent only once. Collective. O(n); 100 bytes for each of 262,144
 * numbers at a time. */
int hx_file_store_query(const hx_file_store *store, int64_t n, const int64_t *number, void *record,
                        uint64_t *sets);

/* old[n] := the numbers that records number[n] had before some were removed. Collective. */
int hx_file_store_query_old(const hx_file_store *store, int64_t n, const int64_t *number,
                            int64_t *old);

/* Sends item[i] of `bytes` bytes to rank home[i]. (*in)[*n_in], which the caller frees, := the
 * items sent to this rank, ordered by sender and then in the sender's order. Collective. */
int hx_file_ship(const hx_comm *comm, size_t bytes, int64_t n, const void *item,
                 const int32_t *home, int64_t *n_in, void **in);

#endif
