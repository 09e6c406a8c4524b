/* What a part of the program holds in memory, item by item: who allocates adds its items, whoever
 * reports or checks takes their sum. */
#ifndef HX_ACCOUNT_H
#define HX_ACCOUNT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_memory_item {
    const char *name; /* a constant word */
    size_t bytes;
} hx_memory_item;

enum { HX_ACCOUNT_ITEMS = 32 };

/* All zero: empty. */
typedef struct hx_account {
    int n;
    hx_memory_item item[HX_ACCOUNT_ITEMS]; /* [n] in the order in which they were added first */
} hx_account;

/* Adds to the item of that name, or a new one. What comes when all places but one are taken goes to
 * the last, "other", so that no byte is lost. */
void hx_account_add(hx_account *account, const char *name, size_t bytes);

/* The item of that name, or NULL. */
const hx_memory_item *hx_account_find(const hx_account *account, const char *name);

size_t hx_account_sum(const hx_account *account);

#ifdef __cplusplus
}
#endif

#endif
