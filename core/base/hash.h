/* A 128-bit hash of items in any order: each item is hashed together with its position, and the
 * hashes are added, so that threads and numbering do not matter. It is not cryptographic. */
#ifndef HX_HASH_H
#define HX_HASH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "c_linkage.h"

HX_C_BEGIN

typedef struct hx_hash {
    uint64_t a, b;
} hx_hash;

/* 32 hexadecimal digits and the terminating 0 */
enum { HX_HASH_TEXT = 33 };

static inline uint64_t hx_hash_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return h ^ (h >> 29);
}

/* Appends a value to the hash of an item; the order of the values matters. */
static inline void hx_hash_next(hx_hash *h, uint64_t v)
{
    h->a = hx_hash_mix(h->a, v);
    h->b = hx_hash_mix(h->b + 0x2545f4914f6cdd1du, v);
}

/* Appends a number; -0 counts as 0. */
static inline void hx_hash_number(hx_hash *h, double v)
{
    uint64_t bits;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    hx_hash_next(h, bits);
}

static inline void hx_hash_text(hx_hash *h, const char *text, size_t n)
{
    hx_hash_next(h, n);
    for (size_t i = 0; i < n; i++) hx_hash_next(h, (unsigned char)text[i]);
}

static inline const char *hx_hash_print(const hx_hash *h, char text[HX_HASH_TEXT])
{
    snprintf(text, HX_HASH_TEXT, "%016llx%016llx", (unsigned long long)h->a,
             (unsigned long long)h->b);
    return text;
}

HX_C_END

#endif
