#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "grow.h"
#include "memory.h"

int hx_notes_add(hx_notes *notes, hx_note_level level, const char *fmt, ...)
{
    char line[512];
    va_list args;
    if (!notes) return HX_OK;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    int rc = hx_resize(&notes->note, notes->n, notes->n + 1, sizeof *notes->note, "notes");
    if (rc == HX_OK) rc = hx_strdup(&notes->note[notes->n].text, text);
    if (rc == HX_OK) notes->note[notes->n++].level = level;
    if (text != line) free(text);
    return rc;
}

void hx_notes_free(hx_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) free(notes->note[i].text);
    free(notes->note);
    memset(notes, 0, sizeof *notes);
}
