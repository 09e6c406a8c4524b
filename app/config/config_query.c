/* Queries about a config that has been read: which keys are given, and where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_tree.h"
#include "core/base/fit.h"
#include "core/base/memory.h"

int hx_config_is_auto(const char *name)
{
    return strcmp(name, "auto") == 0;
}

int hx_config_has_field(const hx_config *cfg, hx_config_field field)
{
    for (size_t i = 0; i < cfg->output.fields.n; i++)
        if (cfg->output.fields.word[i] == (int)field) return 1;
    return 0;
}

int hx_config_given(const hx_config *cfg, const char *key)
{
    return hx_value_find(cfg->tree, key) != NULL;
}

int hx_config_is_argument(const hx_config *cfg, const char *key)
{
    const hx_value *value = hx_value_find(cfg->tree, key);
    return value && strncmp(value->origin, HX_ARGUMENT, strlen(HX_ARGUMENT)) == 0;
}

const char *hx_config_place(const hx_config *cfg, const char *key, char *text, size_t n_text)
{
    const hx_value *value = hx_value_find(cfg->tree, key);
    hx_fit(text, n_text, "%s: %s", value ? value->origin : cfg->path, key);
    return text;
}

int hx_config_blame(const hx_config *cfg, const char *key, int code)
{
    static const char argument[] = "argument '";
    char place[HX_CONFIG_PLACE];
    const char *const said = hx_error_message();
    const size_t n = cfg->path ? strlen(cfg->path) : 0;
    if (code >= 0) return code;
    /* a key that was closer to the error has been named already */
    if (strncmp(said, argument, strlen(argument)) == 0) return code;
    if (n > 0 && strncmp(said, cfg->path, n) == 0 && said[n] == ':') return code;
    hx_error_prefix("%s: ", hx_config_place(cfg, key, place, sizeof place));
    return code;
}

int hx_config_resolve_path(const hx_config *cfg, const char *written, char **path)
{
    const char *slash = strrchr(cfg->path, '/');
    if (written[0] == '/' || !slash) return hx_strdup(path, written);
    const size_t dir = (size_t)(slash - cfg->path) + 1;
    HX_TRY(hx_alloc(path, dir + strlen(written) + 1, 1, "path"));
    memcpy(*path, cfg->path, dir);
    strcpy(*path + dir, written);
    return HX_OK;
}

int hx_config_set_word(char **word, const char *value)
{
    char *copy = NULL;
    HX_TRY(hx_strdup(&copy, value));
    free(*word);
    *word = copy;
    return HX_OK;
}
