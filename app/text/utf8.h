/* UTF-8, one character at a time (RFC 3629). */
#ifndef HX_UTF8_H
#define HX_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Number of bytes of the character at the beginning of the n > 0 bytes; 0: they do not begin with a
 * character. */
int hx_utf8_length(const char *bytes, size_t n);

/* Writes a code point that is not a surrogate; returns the number of bytes, 1 to 4. */
int hx_utf8_write(uint32_t code, char *bytes);

#endif
