/* HTML and SVG: escaped text, base64. The caller checks the stream for write errors. */
#ifndef HX_HTML_H
#define HX_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* Writes text between tags and in attributes with "": & < > " ' become entities; bytes that are not
 * UTF-8 and control characters become the replacement character. */
void hx_html_text(FILE *stream, const char *text);

/* The formatted text, escaped; at most 4 kB of it. */
void hx_html_printf(FILE *stream, const char *fmt, ...) HX_PRINTF(2, 3);

/* Base64 (RFC 4648), one line. */
void hx_base64(FILE *stream, const void *bytes, size_t n);

#endif
