/* A JSON emitter: commas, indentation, escaping. The caller checks the stream for write errors. */
#ifndef HX_JSON_H
#define HX_JSON_H

#include <stdint.h>
#include <stdio.h>

typedef struct hx_json {
    FILE *stream;
    int depth;
    int n_member; /* members of the open object or array so far */
} hx_json;

void hx_json_begin(hx_json *json, FILE *stream);

/* key is NULL inside an array and at the top level. */
void hx_json_open_object(hx_json *json, const char *key);
void hx_json_close_object(hx_json *json);
void hx_json_open_array(hx_json *json, const char *key);
void hx_json_close_array(hx_json *json);

/* NULL is written as null */
void hx_json_string(hx_json *json, const char *key, const char *value);
/* Writes the shortest text that reads back to the same bits; null if the value is not finite. */
void hx_json_number(hx_json *json, const char *key, double value);
void hx_json_integer(hx_json *json, const char *key, int64_t value);
void hx_json_bool(hx_json *json, const char *key, int value);
/* Writes a one-line array of numbers. */
void hx_json_numbers(hx_json *json, const char *key, size_t n, const double *value);

/* Shortest decimal text of a finite double that reads back to the same bits; returns text. */
const char *hx_format_double(double value, char *text, size_t n_text);

#endif
