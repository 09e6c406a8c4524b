/* Memory that a component of the program holds, item by item: whoever allocates memory adds items
 * to the account, and reports and memory checks use their sum. */
#ifndef HX_ACCOUNT_H
#define HX_ACCOUNT_H

#include <stddef.h>

#include "c_linkage.h"

HX_C_BEGIN

typedef struct hx_memory_item {
    const char *name; /* a string constant */
    size_t bytes;
} hx_memory_item;

enum { HX_ACCOUNT_ITEMS = 32 };

/* An account of zeros is empty. */
typedef struct hx_account {
    int n;
    hx_memory_item item[HX_ACCOUNT_ITEMS]; /* [n] in the order in which they were added first */
} hx_account;

/* Adds `bytes` to the item of that name, or appends a new item. Once all entries but one are in
 * use, further items are added to the last one, "other", so the sum remains complete. */
void hx_account_add(hx_account *account, const char *name, size_t bytes);

/* Adds each item of another account. */
void hx_account_add_all(hx_account *account, const hx_account *items);

/* Returns the item of that name, or NULL. */
const hx_memory_item *hx_account_find(const hx_account *account, const char *name);

size_t hx_account_sum(const hx_account *account);

HX_C_END

#endif
