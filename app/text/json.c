#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

const char *hx_format_double(double value, char *text, size_t n_text)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, n_text, "%.*g", digits, value);
        if (strtod(text, NULL) >= value && strtod(text, NULL) <= value) break;
    }
    return text;
}

/* Bytes that are not UTF-8, which a title or folder may contain, become U+FFFD. */
static void put_json_text(hx_json *json, const char *text)
{
    fputc('"', json->stream);
    size_t left = strlen(text), n;
    for (const char *c = text; left > 0; c += n, left -= n) {
        const int length = hx_utf8_length(c, left);
        n = length > 0 ? (size_t)length : 1;
        switch (*c) {
        case '"':
            fputs("\\\"", json->stream);
            break;
        case '\\':
            fputs("\\\\", json->stream);
            break;
        case '\n':
            fputs("\\n", json->stream);
            break;
        case '\t':
            fputs("\\t", json->stream);
            break;
        case '\r':
            fputs("\\r", json->stream);
            break;
        default:
            if (length == 0)
                fputs("\xef\xbf\xbd", json->stream);
            else if ((unsigned char)*c < 0x20)
                fprintf(json->stream, "\\u%04x", (unsigned)*c);
            else
                fwrite(c, 1, n, json->stream);
        }
    }
    fputc('"', json->stream);
}

static void put_key(hx_json *json, const char *key)
{
    if (json->n_member++ > 0) fputc(',', json->stream);
    if (json->depth > 0) fputc('\n', json->stream);
    fprintf(json->stream, "%*s", 2 * json->depth, "");
    if (!key) return;
    put_json_text(json, key);
    fputs(": ", json->stream);
}

static void open_with(hx_json *json, const char *key, char bracket)
{
    put_key(json, key);
    fputc(bracket, json->stream);
    json->depth++;
    json->n_member = 0;
}

static void close_with(hx_json *json, char bracket)
{
    json->depth--;
    if (json->n_member > 0) fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->stream);
    json->n_member = 1;
    if (json->depth == 0) fputc('\n', json->stream);
}

void hx_json_begin(hx_json *json, FILE *stream)
{
    json->stream = stream;
    json->depth = json->n_member = 0;
}

void hx_json_open_object(hx_json *json, const char *key)
{
    open_with(json, key, '{');
}

void hx_json_close_object(hx_json *json)
{
    close_with(json, '}');
}

void hx_json_open_array(hx_json *json, const char *key)
{
    open_with(json, key, '[');
}

void hx_json_close_array(hx_json *json)
{
    close_with(json, ']');
}

void hx_json_string(hx_json *json, const char *key, const char *value)
{
    put_key(json, key);
    if (value)
        put_json_text(json, value);
    else
        fputs("null", json->stream);
}

static void put_json_number(hx_json *json, double value)
{
    char text[32];
    fputs(isfinite(value) ? hx_format_double(value, text, sizeof text) : "null", json->stream);
}

void hx_json_number(hx_json *json, const char *key, double value)
{
    put_key(json, key);
    put_json_number(json, value);
}

void hx_json_integer(hx_json *json, const char *key, int64_t value)
{
    put_key(json, key);
    fprintf(json->stream, "%lld", (long long)value);
}

void hx_json_bool(hx_json *json, const char *key, int value)
{
    put_key(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void hx_json_numbers(hx_json *json, const char *key, size_t n, const double *value)
{
    put_key(json, key);
    fputc('[', json->stream);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) fputs(", ", json->stream);
        put_json_number(json, value[i]);
    }
    fputc(']', json->stream);
}
