/* The unit of length of STEP and IGES files, read from their text. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "cad.h"

/* --- STEP: statements "#12 = NAME(...);" --- */

enum { STATEMENT = 4096, MOST_UNITS = 64 };

typedef struct step_units {
    int n;
    long number[MOST_UNITS];
    char name[MOST_UNITS][HX_CAD_UNIT];
    char found[HX_CAD_UNIT];
} step_units;

static const struct {
    const char *word, *unit;
} prefixes[] = {{".MILLI.", "mm"}, {".CENTI.", "cm"}, {".DECI.", "dm"},
                {".MICRO.", "um"}, {".KILO.", "km"},  {".NANO.", "nm"}},
  conversions[] = {{"INCH", "in"},       {"IN", "in"},         {"FOOT", "ft"}, {"FEET", "ft"},
                   {"FT", "ft"},         {"YARD", "yd"},       {"MILE", "mi"}, {"MILLIMETRE", "mm"},
                   {"MILLIMETER", "mm"}, {"MM", "mm"},         {"METRE", "m"}, {"METER", "m"},
                   {"CENTIMETRE", "cm"}, {"CENTIMETER", "cm"}, {"MIL", "mil"}};

/* Takes the unit from a statement about a unit of length. */
static void name_unit(const char *text, char unit[HX_CAD_UNIT])
{
    const char *const conversion = strstr(text, "CONVERSION_BASED_UNIT");
    snprintf(unit, HX_CAD_UNIT, "m");
    if (conversion) {
        const char *const word = strchr(conversion, '\'');
        const size_t n = word ? strcspn(word + 1, "'") : 0;
        snprintf(unit, HX_CAD_UNIT, "%.*s", (int)(n < 24 ? n : 24), word ? word + 1 : "");
        for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
            if (strcasecmp(unit, conversions[i].word) == 0)
                snprintf(unit, HX_CAD_UNIT, "%s", conversions[i].unit);
        return;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strstr(text, prefixes[i].word)) snprintf(unit, HX_CAD_UNIT, "%s", prefixes[i].unit);
}

static void take_statement(step_units *u, const char *text, int pass)
{
    const char *const context = strstr(text, "GLOBAL_UNIT_ASSIGNED_CONTEXT");
    if (pass == 1 && context)
        for (const char *c = context; (c = strchr(c, '#')); c++) {
            const long number = strtol(c + 1, NULL, 10);
            for (int i = 0; i < u->n; i++) {
                if (u->number[i] != number) continue;
                if (u->found[0] && strcmp(u->found, u->name[i]) != 0)
                    snprintf(u->found, sizeof u->found, "several");
                else
                    snprintf(u->found, sizeof u->found, "%s", u->name[i]);
            }
        }
    if (pass == 1 || text[0] != '#' || u->n >= MOST_UNITS) return;
    const char *const length = strstr(text, "LENGTH_UNIT");
    if (!length || !strstr(text, "_UNIT(") || strstr(text, "MEASURE_WITH_UNIT")) return;
    u->number[u->n] = strtol(text + 1, NULL, 10);
    name_unit(text, u->name[u->n++]);
}

static void find_step_unit(FILE *f, char unit[HX_CAD_UNIT])
{
    step_units u = {0};
    for (int pass = 0; pass < 2; pass++) {
        rewind(f);
        /* Reads statements without blanks, cut at STATEMENT bytes; text in quotes and comments
         * is included. */
        char text[STATEMENT];
        size_t n = 0;
        int in_quotes = 0;
        for (int c = getc(f); c != EOF; c = getc(f)) {
            if (c == '\'') in_quotes = !in_quotes;
            if (c == ';' && !in_quotes) {
                text[n] = '\0';
                take_statement(&u, text, pass);
                n = 0;
            } else if (n + 1 < sizeof text && (in_quotes || !isspace(c))) {
                text[n++] = (char)c;
            }
        }
    }
    snprintf(unit, HX_CAD_UNIT, "%s", u.found);
}

/* --- IGES: the global section, of Hollerith texts --- */

enum { GLOBAL = 8192, UNIT_FLAG = 14, UNIT_NAME = 15 };

/* The next parameter, starting at *at; Hollerith texts like "4HINCH" without their prefix. */
static void next_parameter(const char *text, size_t n, size_t *at, char separator, char end,
                           char value[HX_CAD_UNIT])
{
    size_t i = *at, n_value = 0;
    while (i < n && text[i] == ' ') i++;
    size_t digits = i;
    while (digits < n && isdigit((unsigned char)text[digits])) digits++;
    if (digits > i && digits < n && text[digits] == 'H') {
        size_t length = (size_t)strtoul(text + i, NULL, 10);
        for (i = digits + 1; i < n && length > 0; i++, length--)
            if (n_value + 1 < HX_CAD_UNIT) value[n_value++] = text[i];
    }
    for (; i < n && text[i] != separator && text[i] != end; i++)
        if (n_value + 1 < HX_CAD_UNIT && text[i] != ' ') value[n_value++] = text[i];
    value[n_value] = '\0';
    *at = i < n ? i + 1 : n;
}

static void find_iges_unit(FILE *f, char unit[HX_CAD_UNIT])
{
    static const char *const by_flag[] = {"in", "in", "mm",  "",   "ft", "mi",
                                          "m",  "km", "mil", "um", "cm", "uin"};
    char text[GLOBAL], value[HX_CAD_UNIT];
    char line[256];
    size_t n = 0;
    while (fgets(line, sizeof line, f)) {
        if (strlen(line) < 73 || line[72] != 'G') continue;
        if (n + 73 > GLOBAL) break;
        memcpy(text + n, line, 72);
        n += 72;
    }
    text[n] = '\0';
    size_t at = 0;
    int flag = 1;
    char separator = ',', end = ';';
    if (n == 0) return;
    snprintf(unit, HX_CAD_UNIT, "in"); /* the default */
    if (strncmp(text, "1H", 2) == 0) separator = text[2];
    if (text[0] == separator) separator = ',';
    for (int i = 1; i <= UNIT_NAME && at < n; i++) {
        if (i == 1 && strncmp(text, "1H", 2) == 0) {
            at = 4;
            continue;
        }
        next_parameter(text, n, &at, separator, end, value);
        if (i == 2 && value[0]) end = value[0];
        if (i == UNIT_FLAG && value[0]) flag = atoi(value);
        if (i == UNIT_FLAG && flag >= 1 && flag < 12)
            snprintf(unit, HX_CAD_UNIT, "%s", by_flag[flag]);
        if (i != UNIT_NAME || flag != 3) continue;
        for (char *c = value; *c; c++) *c = (char)tolower((unsigned char)*c);
        snprintf(unit, HX_CAD_UNIT, "%s", strcmp(value, "inch") == 0 ? "in" : value);
    }
}

int hx_cad_unit(const char *path, char unit[HX_CAD_UNIT])
{
    char head[80] = "";
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    unit[0] = '\0';
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    const size_t n = fread(head, 1, sizeof head - 1, f);
    rewind(f);
    if (strstr(head, "ISO-10303-21"))
        find_step_unit(f, unit);
    else if (n > 72 && head[72] == 'S')
        find_iges_unit(f, unit);
    fclose(f);
    return HX_OK;
}
