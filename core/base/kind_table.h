/* Checks that the const table of a kind is complete. */
#ifndef HX_KIND_TABLE_H
#define HX_KIND_TABLE_H

#include <stddef.h>

#include "c_linkage.h"

HX_C_BEGIN

typedef struct hx_kind_entry {
    const char *name;
    int is_there;
} hx_kind_entry;

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member */
#define HX_ENTRY(kind, member)                                                                     \
    {                                                                                              \
#member, (kind)->member != NULL                                                            \
    }

/* HX_EINPUT: an entry is missing; the message names it. what: "filter"; name may be NULL. */
int hx_kind_check(const char *what, const char *name, size_t n, const hx_kind_entry *entry);

HX_C_END

#endif
