/* UTF-8, a character at a time (RFC 3629). */
#ifndef HX_UTF8_H
#define HX_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that the n > 0 bytes begin with; 0: they begin with none. */
int hx_utf8_length(const char *bytes, size_t n);

/* Writes a code point, no surrogate; returns the number of bytes, 1 to 4. */
int hx_utf8_write(uint32_t code, char *bytes);

#endif
