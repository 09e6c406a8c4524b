#include "crc32.h"

/* Polynomials over GF(2) of degree below 32, with the coefficient of x^0 in the highest bit, modulo
 * the generator polynomial, whose lower coefficients are GENERATOR. */
#define GENERATOR 0xedb88320u

enum { N_SLICE = 8 };

/* table[k][b]: checksum of byte b followed by k zero bytes. One table per thread, so no lock is
 * needed. */
static _Thread_local uint32_t table[N_SLICE][256];
static _Thread_local int have_table;

static void make_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1u) ? GENERATOR : 0u);
        table[0][b] = c;
    }
    for (int k = 1; k < N_SLICE; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xffu];
    have_table = 1;
}

static uint32_t load_little(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t hx_crc32(uint32_t before, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t c = ~before;
    if (!have_table) make_table();
    for (; n >= N_SLICE; n -= N_SLICE, p += N_SLICE) { /* eight bytes per step */
        const uint32_t low = c ^ load_little(p), high = load_little(p + 4);
        c = table[7][low & 0xffu] ^ table[6][low >> 8 & 0xffu] ^ table[5][low >> 16 & 0xffu] ^
            table[4][low >> 24] ^ table[3][high & 0xffu] ^ table[2][high >> 8 & 0xffu] ^
            table[1][high >> 16 & 0xffu] ^ table[0][high >> 24];
    }
    for (; n > 0; n--, p++) c = (c >> 8) ^ table[0][(c ^ *p) & 0xffu];
    return ~c;
}

/* Returns a b modulo the generator. */
static uint32_t multiply_modulo(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = (b >> 1) ^ ((b & 1u) ? GENERATOR : 0u);
    }
    return product;
}

uint32_t hx_crc32_join(uint32_t first, uint32_t second, uint64_t n)
{
    uint32_t shift = 0x80000000u /* 1 */, power = 0x00800000u /* x^8: shift by one byte */;
    for (; n > 0; n >>= 1) {
        if (n & 1u) shift = multiply_modulo(shift, power);
        power = multiply_modulo(power, power);
    }
    return multiply_modulo(first, shift) ^ second;
}
