#include "utf8.h"

int hx_utf8_length(const char *bytes, size_t n)
{
    const unsigned char *c = (const unsigned char *)bytes;
    const int length = c[0] < 0x80   ? 1
                       : c[0] < 0xc2 ? 0
                       : c[0] < 0xe0 ? 2
                       : c[0] < 0xf0 ? 3
                       : c[0] < 0xf5 ? 4
                                     : 0;
    if ((size_t)length > n) return 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if (length < 3) return length;
    /* an encoding longer than necessary, a surrogate, or a value above U+10FFFF */
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f)) return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f)) return 0;
    return length;
}

int hx_utf8_write(uint32_t code, char *bytes)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[n] | code);
    if (n == 1) bytes[0] = (char)code;
    return n;
}
