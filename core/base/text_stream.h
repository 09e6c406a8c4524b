/* Text of any length, written as to a file. */
#ifndef HX_TEXT_STREAM_H
#define HX_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_text_stream {
    FILE *stream; /* write here; the struct must not move meanwhile */
    char *text;
    size_t n;
    const char *what; /* (borrowed) */
} hx_text_stream;

/* HX_ENOMEM names `what`. */
int hx_text_stream_open(hx_text_stream *s, const char *what);

/* The text, ended by a 0, is the caller's to free; its length without (n may be NULL). HX_ENOMEM if
 * any of it could not be kept, with *text = NULL. */
int hx_text_stream_close(hx_text_stream *s, char **text, size_t *n);

/* Accepts a zeroed or closed struct. */
void hx_text_stream_free(hx_text_stream *s);

#ifdef __cplusplus
}
#endif

#endif
