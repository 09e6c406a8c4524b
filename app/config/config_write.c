/* The resolved config, as libconfig text and as JSON: one walk over the schema, two writers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_schema.h"
#include "core/base/atomic_file.h"
#include "core/base/text_stream.h"
#include "core/version.h"

typedef struct writer {
    /* kind: HX_KEY_GROUP or HX_KEY_LIST; name is NULL for an entry of a list */
    void (*open)(struct writer *w, hx_key_type kind, const char *name);
    void (*close)(struct writer *w, hx_key_type kind, int last);
    void (*value)(struct writer *w, const hx_key *key, const void *at);
    FILE *stream;
    int depth;
    int settings_only; /* leaves out keys that a resumed run may change */
    hx_json *json;
} writer;

/* 1 if the config has a value for the key. */
static int has_value(const hx_key *key, const void *at)
{
    switch (key->type) {
    case HX_KEY_GROUP:
        return key->offset == HX_NOWHERE || *(const int *)at;
    case HX_KEY_LIST:
        return ((const hx_config_list *)at)->n > 0;
    case HX_KEY_TEXT:
        return *(const char *const *)at != NULL;
    case HX_KEY_WORD:
        return *(const int *)at >= 0;
    case HX_KEY_INT:
    case HX_KEY_BOOL:
        return key->fallback || *(const int *)at != 0;
    case HX_KEY_FLOAT:
    case HX_KEY_VECTOR:
        return !isnan(*(const double *)at);
    case HX_KEY_NUMBERS:
        return ((const hx_config_numbers *)at)->n > 0;
    case HX_KEY_WORDS:
        return ((const hx_config_words *)at)->n > 0;
    case HX_KEY_CHOICES:
        return ((const hx_config_choices *)at)->n > 0;
    default:
        return 1;
    }
}

/* The only member of a group with a value, written as a word for the group; NULL: it is written in
 * full. */
static const hx_key *find_short_form(const hx_key *group, const char *base)
{
    const hx_key *const only =
        group->short_form ? hx_key_find(group->path, group->short_form) : NULL;
    for (size_t i = 0; only && i < hx_n_key; i++)
        if (&hx_keys[i] != only && hx_key_is_member(&hx_keys[i], group->path) &&
            has_value(&hx_keys[i], base + hx_keys[i].offset))
            return NULL;
    return only;
}

/* 1 if the key, or each member of the group, follows from optimization.minimum_length. */
static int follows_from_length(const hx_key *key)
{
    int n = 0;
    if (key->type != HX_KEY_GROUP) return key->by_length;
    for (size_t i = 0; i < hx_n_key; i++) {
        if (!hx_key_is_member(&hx_keys[i], key->path)) continue;
        if (!hx_keys[i].by_length) return 0;
        n++;
    }
    return n > 0;
}

static void write_members(writer *w, const hx_config *cfg, const char *prefix, const char *base)
{
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_key *key = &hx_keys[i];
        if (!hx_key_is_member(key, prefix)) continue;
        if (key->generator_only && !cfg->mesh.generator) continue;
        if (key->file_only && !cfg->mesh.file) continue;
        if (key->only && key->only != 1 + (int)hx_config_physics(cfg)) continue;
        if (!isnan(cfg->optimization.minimum_length) && follows_from_length(key)) continue;
        if (key->is_expert && !hx_config_given(cfg, key->path)) continue;
        /* Where the config has the value of the key; NULL for a group without a member of its
         * own. */
        const void *at = key->offset == HX_NOWHERE ? NULL : base + key->offset;
        if (!has_value(key, at) || (w->settings_only && key->is_free)) continue;
        const hx_key *const only = find_short_form(key, base);
        if (only) {
            hx_key word = *only;
            word.path = key->path;
            w->value(w, &word, base + only->offset);
        } else if (key->type == HX_KEY_GROUP) {
            w->open(w, HX_KEY_GROUP, hx_key_name(key));
            write_members(w, cfg, key->path, base);
            w->close(w, HX_KEY_GROUP, 1);
        } else if (key->type == HX_KEY_LIST) {
            const hx_config_list *list = at;
            char entry[96];
            snprintf(entry, sizeof entry, "%s[]", key->path);
            w->open(w, HX_KEY_LIST, hx_key_name(key));
            for (size_t k = 0; k < list->n; k++) {
                w->open(w, HX_KEY_GROUP, NULL);
                write_members(w, cfg, entry, (const char *)list->entry + k * key->entry_size);
                w->close(w, HX_KEY_GROUP, k + 1 == list->n ? 0 : -1);
            }
            w->close(w, HX_KEY_LIST, 1);
        } else {
            w->value(w, key, at);
        }
    }
}

static void put_config_text(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(stream, "\\x%02x", (unsigned)*c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

static void put_config_number(FILE *stream, double value)
{
    char text[40];
    hx_format_double(value, text, sizeof text);
    fputs(text, stream);
    if (!strpbrk(text, ".e")) fputs(".0", stream); /* libconfig distinguishes 1 from 1.0 */
}

static void put_numbers(FILE *stream, size_t n, const double *value, int is_whole)
{
    fputc('[', stream);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) fputs(", ", stream);
        if (is_whole)
            fprintf(stream, "%.0f", value[i]);
        else
            put_config_number(stream, value[i]);
    }
    fputc(']', stream);
}

static void text_open(writer *w, hx_key_type kind, const char *name)
{
    fprintf(w->stream, "%*s", 4 * w->depth, "");
    if (name) fprintf(w->stream, "%s = ", name);
    fputs(kind == HX_KEY_LIST ? "(\n" : "{\n", w->stream);
    w->depth++;
}

/* last: 1 member of a group, 0 last entry of a list, -1 other entry of a list. */
static void text_close(writer *w, hx_key_type kind, int last)
{
    w->depth--;
    fprintf(w->stream, "%*s%c%s\n", 4 * w->depth, "", kind == HX_KEY_LIST ? ')' : '}',
            last == 1   ? ";"
            : last == 0 ? ""
                        : ",");
}

static void put_value(FILE *stream, const hx_key *key, const void *at)
{
    switch (key->type) {
    case HX_KEY_TEXT:
        put_config_text(stream, *(const char *const *)at);
        break;
    case HX_KEY_WORD:
        put_config_text(stream, hx_key_word(key, *(const int *)at));
        break;
    case HX_KEY_CHOICES: {
        const hx_config_choices *choices = at;
        fputc('(', stream);
        for (size_t i = 0; i < choices->n; i++) {
            if (i > 0) fputs(", ", stream);
            put_config_text(stream, hx_key_word(key, choices->word[i]));
        }
        fputc(')', stream);
        break;
    }
    case HX_KEY_BOOL:
        fputs(*(const int *)at ? "true" : "false", stream);
        break;
    case HX_KEY_INT:
        fprintf(stream, "%d", *(const int *)at);
        break;
    case HX_KEY_FLOAT:
        put_config_number(stream, *(const double *)at);
        break;
    case HX_KEY_VECTOR:
        put_numbers(stream, 3, at, 0);
        break;
    case HX_KEY_NUMBERS: {
        const hx_config_numbers *numbers = at;
        put_numbers(stream, numbers->n, numbers->value, key->is_whole);
        break;
    }
    default: {
        const hx_config_words *words = at;
        fputc('(', stream);
        for (size_t i = 0; i < words->n; i++) {
            if (i > 0) fputs(", ", stream);
            put_config_text(stream, words->word[i]);
        }
        fputc(')', stream);
    }
    }
}

static void text_value(writer *w, const hx_key *key, const void *at)
{
    fprintf(w->stream, "%*s%s = ", 4 * w->depth, "", hx_key_name(key));
    put_value(w->stream, key, at);
    fputs(";\n", w->stream);
}

int hx_config_write(const hx_config *cfg, const char *path)
{
    int rc;
    hx_atomic_file file;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    fprintf(file.stream, "# %s as hextop %s resolved it; running this file repeats the run.\n",
            cfg->path, HX_VERSION);
    writer w = {.open = text_open, .close = text_close, .value = text_value, .stream = file.stream};
    write_members(&w, cfg, "", (const char *)cfg);
    HX_TRY_FAIL(hx_atomic_file_commit(&file));
    rc = HX_OK;
fail:
    hx_atomic_file_free(&file);
    return rc;
}

static void flat_open(writer *w, hx_key_type kind, const char *name)
{
    (void)kind;
    if (!name) fputs("entry\n", w->stream);
}

static void flat_close(writer *w, hx_key_type kind, int last)
{
    (void)w;
    (void)kind;
    (void)last;
}

static void flat_value(writer *w, const hx_key *key, const void *at)
{
    fprintf(w->stream, "%s = ", key->path);
    put_value(w->stream, key, at);
    fputc('\n', w->stream);
}

int hx_config_settings(const hx_config *cfg, char **text)
{
    hx_text_stream out;
    *text = NULL;
    HX_TRY(hx_text_stream_open(&out, "settings"));
    writer w = {.open = flat_open,
                .close = flat_close,
                .value = flat_value,
                .stream = out.stream,
                .settings_only = 1};
    write_members(&w, cfg, "", (const char *)cfg);
    return hx_text_stream_close(&out, text, NULL);
}

static void json_open(writer *w, hx_key_type kind, const char *name)
{
    if (kind == HX_KEY_LIST)
        hx_json_open_array(w->json, name);
    else
        hx_json_open_object(w->json, name);
}

static void json_close(writer *w, hx_key_type kind, int last)
{
    (void)last;
    if (kind == HX_KEY_LIST)
        hx_json_close_array(w->json);
    else
        hx_json_close_object(w->json);
}

static void json_value(writer *w, const hx_key *key, const void *at)
{
    const char *name = hx_key_name(key);
    switch (key->type) {
    case HX_KEY_TEXT:
        hx_json_string(w->json, name, *(const char *const *)at);
        break;
    case HX_KEY_WORD:
        hx_json_string(w->json, name, hx_key_word(key, *(const int *)at));
        break;
    case HX_KEY_CHOICES: {
        const hx_config_choices *choices = at;
        hx_json_open_array(w->json, name);
        for (size_t i = 0; i < choices->n; i++)
            hx_json_string(w->json, NULL, hx_key_word(key, choices->word[i]));
        hx_json_close_array(w->json);
        break;
    }
    case HX_KEY_BOOL:
        hx_json_bool(w->json, name, *(const int *)at);
        break;
    case HX_KEY_INT:
        hx_json_integer(w->json, name, *(const int *)at);
        break;
    case HX_KEY_FLOAT:
        hx_json_number(w->json, name, *(const double *)at);
        break;
    case HX_KEY_VECTOR:
        hx_json_numbers(w->json, name, 3, at);
        break;
    case HX_KEY_NUMBERS: {
        const hx_config_numbers *numbers = at;
        hx_json_numbers(w->json, name, numbers->n, numbers->value);
        break;
    }
    default: {
        const hx_config_words *words = at;
        hx_json_open_array(w->json, name);
        for (size_t i = 0; i < words->n; i++) hx_json_string(w->json, NULL, words->word[i]);
        hx_json_close_array(w->json);
    }
    }
}

void hx_config_write_json(const hx_config *cfg, hx_json *json, const char *key)
{
    writer w = {.open = json_open, .close = json_close, .value = json_value, .json = json};
    hx_json_open_object(json, key);
    write_members(&w, cfg, "", (const char *)cfg);
    hx_json_close_object(json);
}
