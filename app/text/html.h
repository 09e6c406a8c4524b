/* HTML and SVG: escaped text, base64. Write errors are left to the stream. */
#ifndef HX_HTML_H
#define HX_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* Text for between tags and for attributes in "": & < > " ' as entities; bytes that are no UTF-8
 * and control characters as the replacement character. */
void hx_html_text(FILE *stream, const char *text);

/* The formatted text, escaped; at most 4 kB of it. */
void hx_html_printf(FILE *stream, const char *fmt, ...) HX_PRINTF(2, 3);

/* Base64 (RFC 4648), one line. */
void hx_base64(FILE *stream, const void *bytes, size_t n);

#endif
