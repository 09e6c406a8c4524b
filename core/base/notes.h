/* Notes of a reader besides errors: lines that the application logs. */
#ifndef HX_NOTES_H
#define HX_NOTES_H

#include <stddef.h>

#include "error.h"

HX_C_BEGIN

typedef enum { HX_NOTE_DETAIL, HX_NOTE_INFO, HX_NOTE_WARNING } hx_note_level;

typedef struct hx_note {
    hx_note_level level;
    char *text; /* one line (owned) */
} hx_note;

typedef struct hx_notes {
    size_t n;
    hx_note *note; /* [n] (owned) */
} hx_notes;

/* Adds a line. If `notes` is NULL, the line is discarded. HX_ENOMEM. */
int hx_notes_add(hx_notes *notes, hx_note_level level, const char *fmt, ...) HX_PRINTF(3, 4);

/* Accepts a zeroed struct. */
void hx_notes_free(hx_notes *notes);

HX_C_END

#endif
