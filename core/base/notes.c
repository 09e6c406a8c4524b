#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "memory.h"

int hx_notes_add(hx_notes *notes, hx_note_level level, const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (!notes) return HX_OK;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    HX_TRY(hx_resize(&notes->note, notes->n, notes->n + 1, sizeof *notes->note, "notes"));
    HX_TRY(hx_strdup(&notes->note[notes->n].text, text));
    notes->note[notes->n++].level = level;
    return HX_OK;
}

void hx_notes_free(hx_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) free(notes->note[i].text);
    free(notes->note);
    memset(notes, 0, sizeof *notes);
}
