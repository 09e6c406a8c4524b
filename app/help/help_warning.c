#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../diag/diag.h"
#include "core/base/old_names.h"

/* 1 if the texts are equal, ignoring case; '-', '_' and blanks are equal. */
static int is_code(const char *code, const char *word)
{
    for (; *code && *word; code++, word++) {
        const int a = tolower((unsigned char)*code), b = tolower((unsigned char)*word);
        if (a != b && !(strchr("-_ ", a) && strchr("-_ ", b))) return 0;
    }
    return !*code && !*word;
}

/* Prints a line, unless the text is empty or missing. */
static void print_line(const char *what, const char *text)
{
    if (text && text[0]) printf("  %-9s %s\n", what, text);
}

/* The code that replaced this one of an earlier version; NULL: none did. */
static const char *code_now(const char *code)
{
    for (const hx_old_name *row = hx_old_names; row->old; row++)
        if (row->kind == HX_OLD_WARNING && is_code(row->old, code)) return row->now;
    return NULL;
}

int hx_print_warning(const char *code, const char *lead)
{
    const char *const now = code_now(code);
    if (now) {
        printf("%sThe warning %s is now called %s.\n\n", lead, code, now);
        return hx_print_warning(now, "");
    }
    for (int kind = 0; kind < HX_N_DIAG; kind++) {
        if (!is_code(hx_diag_table[kind].code, code)) continue;
        fputs(lead, stdout);
        const hx_diag_row *const row = &hx_diag_table[kind];
        const hx_diag_words *const words = &hx_diag_help[kind];
        printf("%s (a warning)\n", row->code);
        print_line("judged", words->number);
        print_line("warns if", words->warns);
        print_line("meaning", words->meaning);
        print_line("remedy", row->remedy[0] ? row->remedy : words->remedy);
        print_line("issued", kind == HX_DIAG_OTHER ? "at any time"
                             : kind < HX_DIAG_PCG  ? "before the first solve, by `check` and `run`"
                                                   : "for the last design, by `run`");
        return 1;
    }
    return 0;
}

void hx_print_warnings(void)
{
    printf("Warnings\n");
    for (int kind = 0; kind < HX_N_DIAG; kind++) {
        const hx_diag_words *const words = &hx_diag_help[kind];
        const char *const text = words->number && words->number[0] ? words->number : words->meaning;
        printf("  %s: %s\n", hx_diag_table[kind].code, text ? text : "");
    }
    printf("\n`hextop help CODE` prints more about a warning.\n");
}
