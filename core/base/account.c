#include "account.h"

#include <string.h>

static int place_of_entry(const hx_account *account, const char *name)
{
    int i = 0;
    while (i < account->n && strcmp(account->item[i].name, name) != 0) i++;
    return i;
}

void hx_account_add(hx_account *account, const char *name, size_t bytes)
{
    const int last = HX_ACCOUNT_ITEMS - 1;
    int i = place_of_entry(account, name);
    if (i == account->n && i >= last) {
        name = "other";
        i = last;
    }
    if (i == account->n) account->item[account->n++] = (hx_memory_item){name, 0};
    account->item[i].bytes += bytes;
}

void hx_account_add_all(hx_account *account, const hx_account *items)
{
    for (int i = 0; i < items->n; i++)
        hx_account_add(account, items->item[i].name, items->item[i].bytes);
}

const hx_memory_item *hx_account_find(const hx_account *account, const char *name)
{
    const int i = place_of_entry(account, name);
    return i < account->n ? &account->item[i] : NULL;
}

size_t hx_account_sum(const hx_account *account)
{
    size_t sum = 0;
    for (int i = 0; i < account->n; i++) sum += account->item[i].bytes;
    return sum;
}
