#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

int hx_notes_add(hx_notes *notes, hx_note_level level, const char *fmt, ...)
{
    char text[512];
    hx_note *grown = NULL;
    va_list args;
    if (!notes) return HX_OK;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    HX_TRY(hx_alloc(&grown, notes->n + 1, sizeof *grown, "notes"));
    const int rc = hx_strdup(&grown[notes->n].text, text);
    if (rc < 0) {
        free(grown);
        return rc;
    }
    grown[notes->n].level = level;
    if (notes->n > 0) memcpy(grown, notes->note, notes->n * sizeof *grown);
    free(notes->note);
    notes->note = grown;
    notes->n++;
    return HX_OK;
}

void hx_notes_free(hx_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) free(notes->note[i].text);
    free(notes->note);
    memset(notes, 0, sizeof *notes);
}
