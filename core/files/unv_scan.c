/* Universal files: lines and the numbers in them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "unv_reader.h"

int hx_unv_next_line(unv_reader *r, int *more)
{
    int found;
    HX_TRY(hx_file_scan_line(&r->scan, r->line, sizeof r->line, &found));
    if (!found) return HX_FILE_RAISE(&r->scan, "the file ends within a data set");
    const char *const text = r->line + strspn(r->line, " \t");
    *more = !(strncmp(text, "-1", 2) == 0 && text[2 + strspn(text + 2, " \t")] == '\0');
    return HX_OK;
}

int hx_unv_need_line(unv_reader *r)
{
    int more = 0;
    HX_TRY(hx_unv_next_line(r, &more));
    return more ? HX_OK : HX_FILE_RAISE(&r->scan, "the data set ends within an entry");
}

int hx_unv_take_integers(unv_reader *r, int least, int most, int64_t *value, int *n)
{
    const char *at = r->line;
    for (*n = 0; *n < most; (*n)++) {
        char *end;
        const long long parsed = strtoll(at, &end, 10);
        if (end == at || (*end && !isspace((unsigned char)*end))) break;
        if (parsed <= -(1LL << 62) || parsed >= 1LL << 62) break;
        value[*n] = parsed;
        at = end;
    }
    if (*n >= least) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "%d integers in a line that needs at least %d", *n, least);
}

int hx_unv_take_reals(unv_reader *r, const char *at, double x[3])
{
    for (char *c = r->line; *c; c++)
        if (*c == 'D' || *c == 'd') *c = 'e';
    for (int d = 0; d < 3; d++) {
        char *end;
        x[d] = strtod(at, &end);
        if (end == at) return HX_FILE_RAISE(&r->scan, "three coordinates are expected");
        at = end;
    }
    return HX_OK;
}
