/* Buffered text, numbers and identifiers of nodes and elements in the .inp files that are
 * written. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abaqus_writer.h"

enum { FIELD_SIZE = 20 };

void hx_abaqus_flush(hx_abaqus_writer *w)
{
    fwrite(w->text, 1, w->n_text, w->stream); /* errors are detected by the commit */
    w->n_text = 0;
}

static void put_bytes(hx_abaqus_writer *w, const char *text, size_t n)
{
    if (w->n_text + n > HX_ABAQUS_BUFFER) hx_abaqus_flush(w);
    memcpy(w->text + w->n_text, text, n);
    w->n_text += n;
}

void hx_abaqus_put_text(hx_abaqus_writer *w, const char *text)
{
    put_bytes(w, text, strlen(text));
}

void hx_abaqus_put_int(hx_abaqus_writer *w, int64_t value)
{
    char digit[24];
    int n = sizeof digit;
    digit[--n] = '\0';
    do {
        digit[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    hx_abaqus_put_text(w, digit + n);
}

/* CalculiX reads 20 characters of a number and refuses a truncated exponent. */
void hx_abaqus_put_real(hx_abaqus_writer *w, double value)
{
    char text[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    for (int digits = 16; n > FIELD_SIZE; digits--)
        n = snprintf(text, sizeof text, "%.*g", digits, value);
    hx_abaqus_put_text(w, text);
    if (!strpbrk(text, ".e"))
        hx_abaqus_put_text(w, "."); /* Fortran accepts 1e5 as a real number, Abaqus requires 1.e5 */
}

void hx_abaqus_put(hx_abaqus_writer *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    for (const char *at = fmt; *at;) {
        const size_t n = strcspn(at, "%");
        put_bytes(w, at, n);
        at += n;
        if (*at == '\0') break;
        if (at[1] == 's') hx_abaqus_put_text(w, va_arg(args, const char *));
        if (at[1] == 'g') hx_abaqus_put_real(w, va_arg(args, double));
        if (at[1] == 'l') hx_abaqus_put_int(w, va_arg(args, long long));
        at += at[1] == 'l' ? strlen("%lld") : strlen("%s");
    }
    va_end(args);
}

/* Numbers start from 1, unless the mesh's file had its own; middles of edges come last. */
int64_t hx_abaqus_point_number(const hx_abaqus_writer *w, int64_t point)
{
    if (point >= w->mesh->n_node) return w->first_middle + point - w->mesh->n_node;
    const int64_t orig = w->mesh->node_orig ? w->mesh->node_orig[point] : point;
    return w->own_node ? hx_numbers_get(&w->mesh->node_number, orig) : orig + 1;
}

int64_t hx_abaqus_elem_number(const hx_abaqus_writer *w, int64_t elem)
{
    const int64_t orig = w->mesh->elem_orig ? w->mesh->elem_orig[elem] : elem;
    return w->own_elem ? hx_numbers_get(&w->mesh->elem_number, orig) : orig + 1;
}
