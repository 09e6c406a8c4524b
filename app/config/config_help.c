/* The configuration reference on a terminal: `hextop help config` and its parts. */
#include "config_help.h"

#include <stdio.h>
#include <string.h>

#include "config_schema.h"

const char *hx_key_allowed(const hx_key *key, char *text, size_t n_text)
{
    const char *word[64];
    size_t used = 0;
    const size_t n = hx_key_words(key, word, 64);
    text[0] = '\0';
    if (n > 0) {
        for (size_t i = 0; i < n && used < n_text; i++)
            used += (size_t)snprintf(text + used, n_text - used, "%s%s", i ? ", " : "", word[i]);
    } else if (key->range) {
        snprintf(text, n_text, "%s", key->range);
    }
    return text;
}

static void print_key(const hx_key *key)
{
    char values[256], fallback[128];
    if (key->type == HX_KEY_GROUP || key->type == HX_KEY_LIST) {
        printf("\n%s: %s\n", key->path, key->help);
        return;
    }
    hx_key_allowed(key, values, sizeof values);
    printf("  %s: %s\n", key->path, key->help);
    printf("      %s%s%s%s%s%s; default: %s\n", hx_key_type_word(key->type), key->unit ? ", " : "",
           key->unit ? key->unit : "", values[0] ? " (" : "", values, values[0] ? ")" : "",
           hx_key_default(key, fallback, sizeof fallback));
}

/* "loads.case" for "loads[].case" and for "loads[0].case" */
static void drop_places(const char *path, char *text, size_t n_text)
{
    size_t n = 0;
    for (; *path && n + 1 < n_text; path++) {
        if (*path == '[' && strchr(path, ']'))
            path = strchr(path, ']');
        else
            text[n++] = *path;
    }
    text[n] = '\0';
}

/* Returns 1 for the key of that name, with or without its groups, and for all keys in a group of
 * that name. */
static int is_about(const char *key, const char *requested)
{
    char path[128], topic[128];
    drop_places(key, path, sizeof path);
    drop_places(requested, topic, sizeof topic);
    const size_t n = strlen(topic);
    const char *at = path;
    while (at && n > 0) {
        /* the group may also be the end of the path */
        if (strncmp(at, topic, n) == 0 && strchr(".", at[n])) return 1;
        at = strchr(at, '.');
        if (at) at++;
    }
    return 0;
}

/* The only key with a value to which the topic refers; NULL if there is none, or more than one. */
static const hx_key *only_key(const char *topic)
{
    const hx_key *found = NULL;
    for (size_t i = 0; i < hx_n_key; i++) {
        if (!is_about(hx_keys[i].path, topic)) continue;
        if (found) return NULL;
        found = &hx_keys[i];
    }
    return found && found->type != HX_KEY_GROUP && found->type != HX_KEY_LIST ? found : NULL;
}

size_t hx_print_keys(const char *topic)
{
    size_t n = 0;
    const hx_key *const only = topic ? only_key(topic) : NULL;
    if (only) {
        hx_print_key(only);
        return 1;
    }
    if (!topic)
        printf(
            "Config keys (libconfig). A file looks like\n"
            "\n"
            "  mesh = { generator = \"cantilever\"; size = 1; };\n"
            "  supports = ( { set = \"left\"; fix = \"xyz\"; } );\n"
            "\n"
            "Units are free but must be consistent: length, force, force/length^2; the key units\n"
            "names them.\n");
    for (size_t i = 0; i < hx_n_key; i++) {
        if (topic && !is_about(hx_keys[i].path, topic)) continue;
        /* Keys of experts do not belong to the whole config, nor to a group that contains their
         * group. */
        if (hx_key_is_of_experts(&hx_keys[i]) && (!topic || strcmp(topic, "solver") == 0)) continue;
        print_key(&hx_keys[i]);
        n++;
    }
    return n;
}
