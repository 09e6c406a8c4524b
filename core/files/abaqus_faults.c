/* Records statements of an Abaqus input file that are not read, and reasons why its loads or its
 * heat data cannot be used. */
#include <stdarg.h>
#include <stdio.h>

#include "../base/memory.h"
#include "abaqus_reader.h"

int hx_abaqus_unread(hx_abaqus_reader *r, unsigned roles, const char *word, const char *what)
{
    const int64_t line = r->scan.depth > 0 ? r->scan.file[r->scan.depth - 1].line : 0;
    return hx_unread_add(&r->import.unread, roles, word, what, 1, hx_abaqus_scan_path(&r->scan),
                         line);
}

int hx_abaqus_load_fault(hx_abaqus_reader *r, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hx_set_fault(&r->conditions.load_fault, "%s:%lld: %s", hx_abaqus_scan_path(&r->scan),
                        (long long)r->scan.file[r->scan.depth - 1].line, text);
}

int hx_abaqus_heat_fault(hx_abaqus_reader *r, int64_t line, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const int is_open = line == 0 && r->scan.depth > 0;
    if (is_open) line = hx_abaqus_scan_number(&r->scan);
    return hx_set_fault(&r->heat_fault, "%.600s:%lld: %s",
                        is_open ? hx_abaqus_scan_path(&r->scan) : r->import.path, (long long)line,
                        text);
}
