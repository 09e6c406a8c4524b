/* Text of any length, written as to a file. */
#ifndef HX_TEXT_STREAM_H
#define HX_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "error.h"

typedef struct hx_text_stream {
    FILE *stream; /* open for writing; the struct must not move while it is open */
    char *text;
    size_t n;
    const char *what; /* (borrowed) */
} hx_text_stream;

/* HX_ENOMEM names `what`. */
int hx_text_stream_open(hx_text_stream *s, const char *what);

/* *text := the text with a terminating 0, which the caller frees; *n := its length without the 0 (n
 * may be NULL). HX_ENOMEM with *text = NULL if any part of the text could not be stored. */
int hx_text_stream_close(hx_text_stream *s, char **text, size_t *n);

/* Accepts a zeroed or closed struct. */
void hx_text_stream_free(hx_text_stream *s);

#endif
