/* Operations on the rows of the schema: find a key, its words, its type, an example, its
 * default. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_schema.h"

const char *hx_key_name(const hx_key *key)
{
    const char *dot = strrchr(key->path, '.');
    return dot ? dot + 1 : key->path;
}

int hx_key_is_member(const hx_key *key, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (n == 0) return strchr(key->path, '.') == NULL;
    return strncmp(key->path, prefix, n) == 0 && key->path[n] == '.' &&
           strchr(key->path + n + 1, '.') == NULL;
}

const hx_key *hx_key_find(const char *prefix, const char *name)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (hx_key_is_member(&hx_keys[i], prefix) && strcmp(hx_key_name(&hx_keys[i]), name) == 0)
            return &hx_keys[i];
    return NULL;
}

static size_t add_word(const char **word, size_t n, size_t n_word, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word[i], text) == 0) return n;
    if (n < n_word) word[n++] = text;
    return n;
}

size_t hx_key_words(const hx_key *key, const char **word, size_t n_word)
{
    size_t n = 0;
    if (key->short_form) key = hx_key_find(key->path, key->short_form);
    for (size_t i = 0; key->word && key->word[i]; i++) n = add_word(word, n, n_word, key->word[i]);
    for (size_t i = 0; key->more_word && key->more_word(i); i++)
        n = add_word(word, n, n_word, key->more_word(i));
    return n;
}

enum { MOST_WORDS = 64 };

int hx_key_word_place(const hx_key *key, const char *text)
{
    const char *word[MOST_WORDS];
    const size_t n = hx_key_words(key, word, MOST_WORDS);
    for (size_t i = 0; i < n; i++)
        if (strcmp(word[i], text) == 0) return (int)i;
    return -1;
}

const char *hx_key_word(const hx_key *key, int place)
{
    const char *word[MOST_WORDS];
    const size_t n = hx_key_words(key, word, MOST_WORDS);
    return place >= 0 && (size_t)place < n ? word[place] : "";
}

const char *hx_config_word(const char *path, int place)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (strcmp(hx_keys[i].path, path) == 0) return hx_key_word(&hx_keys[i], place);
    return "";
}

int hx_range_holds(const char *range, double value)
{
    char *end = NULL;
    if (!isfinite(value) || fabs(value) > HX_LARGEST_NUMBER) return 0;
    if (!range) return 1;
    const double low = strtod(range + 1, &end);
    const double high = strtod(end + 1, &end);
    return (range[0] == '[' ? value >= low : value > low) &&
           (*end == ']' ? value <= high : value < high);
}

const char *hx_key_type_name(hx_key_type type)
{
    switch (type) {
    case HX_KEY_GROUP:
        return "a group { ... }";
    case HX_KEY_LIST:
        return "a list of groups ( { ... }, { ... } )";
    case HX_KEY_TEXT:
    case HX_KEY_WORD:
        return "a text in quotes";
    case HX_KEY_BOOL:
        return "true or false";
    case HX_KEY_INT:
        return "an integer";
    case HX_KEY_FLOAT:
        return "a number";
    case HX_KEY_VECTOR:
        return "a vector [x, y, z]";
    case HX_KEY_NUMBERS:
        return "a list of numbers [a, b, ...]";
    case HX_KEY_WORDS:
    case HX_KEY_CHOICES:
        return "a list of texts (\"a\", \"b\")";
    }
    return "a value";
}

const char *hx_key_type_word(hx_key_type type)
{
    static const char *const word[] = {"group",      "list",    "text",   "text",
                                       "true/false", "integer", "number", "vector",
                                       "numbers",    "texts",   "texts"};
    return word[type];
}

const char *hx_key_example(const hx_key *key)
{
    const char *const own = hx_key_own_example(key);
    if (own) return own;
    switch (key->type) {
    case HX_KEY_GROUP:
        return "{ }";
    case HX_KEY_LIST:
        return "( { } )";
    case HX_KEY_TEXT:
    case HX_KEY_WORD:
        return "\"...\"";
    case HX_KEY_BOOL:
        return "true";
    case HX_KEY_INT:
        return "1";
    case HX_KEY_FLOAT:
        return "0.3";
    case HX_KEY_VECTOR:
        return "[0.0, 0.0, 1.0]";
    case HX_KEY_NUMBERS:
        return "[1.0, 1.0]";
    case HX_KEY_WORDS:
    case HX_KEY_CHOICES:
        return "(\"density\")";
    }
    return "";
}

int hx_key_is_of_experts(const hx_key *key)
{
    static const char group[] = "solver.multigrid.";
    return strncmp(key->path, group, sizeof group - 1) == 0;
}

const void *hx_key_in_multigrid(const hx_key *key, const hx_mg_params *params)
{
    const int has_value = key->type != HX_KEY_GROUP && key->type != HX_KEY_LIST;
    if (!key->is_expert || !has_value) return NULL;
    return (const char *)params + (key->offset - offsetof(hx_config, solver.multigrid));
}

void hx_key_print_multigrid(const hx_key *key, const hx_mg_params *params, char *text,
                            size_t n_text)
{
    /* A number of hx_mg_defaults as text that the config reads. */
    const void *const at = hx_key_in_multigrid(key, params);
    const double *const value = at;
    char number[3][40];
    if (key->type == HX_KEY_INT) {
        snprintf(text, n_text, "%d", *(const int *)at);
        return;
    }
    for (int i = 0; i < (key->type == HX_KEY_VECTOR ? 3 : 1); i++) {
        hx_format_double(value[i], number[i], sizeof number[i] - 2);
        if (!strpbrk(number[i], ".e")) strcat(number[i], ".0");
    }
    if (key->type == HX_KEY_VECTOR)
        snprintf(text, n_text, "[%s, %s, %s]", number[0], number[1], number[2]);
    else
        snprintf(text, n_text, "%s", number[0]);
}

const char *hx_key_default(const hx_key *key, char *text, size_t n_text)
{
    if (hx_key_in_multigrid(key, &hx_mg_defaults))
        hx_key_print_multigrid(key, &hx_mg_defaults, text, n_text);
    else if (key->required)
        snprintf(text, n_text, "required");
    else if (key->note)
        snprintf(text, n_text, "%s", key->note);
    else if (key->fallback && (key->type == HX_KEY_TEXT || key->type == HX_KEY_WORD))
        snprintf(text, n_text, "\"%s\"", key->fallback);
    else
        snprintf(text, n_text, "%s", key->fallback ? key->fallback : "-");
    return text;
}
