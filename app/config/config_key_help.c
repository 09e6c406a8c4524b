/* Help on one key, for `hextop help KEY`. */
#include <stdio.h>
#include <string.h>

#include "config_help.h"
#include "config_schema.h"

/* A number within the key's range. */
static const char *number_example(const hx_key *key)
{
    static const struct {
        double value;
        const char *real, *whole;
    } some[] = {{0.3, "0.3", NULL}, {1.0, "1.0", "1"}, {2.0, "2.0", "2"}, {100.0, "100.0", "100"}};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        const char *const text = key->type == HX_KEY_INT ? some[i].whole : some[i].real;
        if (text && (!key->range || hx_range_holds(key->range, some[i].value))) return text;
    }
    return "1";
}

const char *hx_key_shown_example(const hx_key *key, char *text, size_t n_text)
{
    const char *word[64], *const own = hx_key_own_example(key);
    if (own) return own;
    const size_t n = hx_key_words(key, word, 64);
    const char *const last = n > 0 ? word[n > 1] : NULL; /* the first word is often the default */
    switch (key->type) {
    case HX_KEY_TEXT:
    case HX_KEY_WORD:
        if (!last) return "\"left\"";
        snprintf(text, n_text, "\"%s\"", last);
        return text;
    case HX_KEY_CHOICES:
        snprintf(text, n_text, "(\"%s\", \"%s\")", word[0], last ? last : word[0]);
        return text;
    case HX_KEY_WORDS:
        return "(\"left\", \"right\")";
    case HX_KEY_INT:
    case HX_KEY_FLOAT:
        return number_example(key);
    default:
        return hx_key_example(key);
    }
}

/* "optimization = { filter = { radius = 0.3; }; };" */
static void print_line(const char *path, const char *value)
{
    int depth = 0;
    char closing[8][8];
    printf("  example   ");
    while (*path && depth < 8) {
        const size_t n = strcspn(path, ".[");
        const int is_list = path[n] == '[', is_last = path[n] == '\0';
        printf("%.*s = ", (int)n, path);
        if (is_last) {
            printf("%s;", value);
            break;
        }
        printf(is_list ? "( { " : "{ ");
        snprintf(closing[depth++], sizeof closing[0], "%s", is_list ? " } );" : " };");
        path += n + (is_list ? 3 : 1);
    }
    while (depth > 0) printf("%s", closing[--depth]);
    printf("\n");
}

void hx_print_key(const hx_key *key)
{
    char text[256];
    const char *word[64];
    const size_t n = hx_key_words(key, word, 64);
    const char *const value = hx_key_shown_example(key, text, sizeof text);
    printf("%s: %s\n", key->path, key->help);
    printf("  type      %s\n", hx_key_type_word(key->type));
    if (key->unit) printf("  unit      %s\n", key->unit);
    if (n > 0) {
        printf("  one of    ");
        for (size_t i = 0; i < n; i++) printf("%s%s", i ? ", " : "", word[i]);
        printf("\n");
    } else if (key->range) {
        printf("  range     %s\n", key->range);
    }
    char usual[256];
    printf("  default   %s\n", hx_key_default(key, usual, sizeof usual));
    print_line(key->path, value);
    /* KEY=VALUE, with an index for an entry of a list. */
    const int needs_quotes = strpbrk(value, " \"()[]") || strchr(key->path, '[');
    printf("  argument  %s", needs_quotes ? "'" : "");
    for (const char *c = key->path; *c; c++) {
        putchar(*c);
        if (*c == '[') putchar('0');
    }
    printf("=%s%s\n", value, needs_quotes ? "'" : "");
    if (strchr(key->path, '[')) printf("            of an existing entry of the config\n");
    /* The other keys of its group. */
    char prefix[128];
    const size_t n_prefix = strlen(key->path) - strlen(hx_key_name(key));
    const char *lead = "  related   ";
    snprintf(prefix, sizeof prefix, "%.*s", n_prefix > 0 ? (int)n_prefix - 1 : 0, key->path);
    if (n_prefix == 0) return;
    for (size_t i = 0; i < hx_n_key; i++) {
        if (&hx_keys[i] == key || !hx_key_is_member(&hx_keys[i], prefix)) continue;
        printf("%s%s", lead, hx_key_name(&hx_keys[i]));
        lead = ", ";
    }
    if (lead[0] == ',') printf("\n");
}
