#include "result_origin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../session/identity.h"
#include "core/base/memory.h"

/* --- settings line by line --- */

typedef struct lines {
    char *text; /* lines, each ended by a 0 (owned) */
    size_t n;
    char **line; /* [n] NULL: the other text has the same line (owned) */
} lines;

static void lines_free(lines *l)
{
    free(l->text);
    free(l->line);
}

/* Splits the text, which it takes ownership of. */
static int lines_create(lines *l, char *text)
{
    size_t most = 1;
    memset(l, 0, sizeof *l);
    l->text = text;
    for (const char *c = text; *c; c++) most += *c == '\n';
    HX_TRY(hx_alloc(&l->line, most, sizeof *l->line, "lines of a config"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) l->line[l->n++] = line;
    return HX_OK;
}

static size_t key_length(const char *line)
{
    return strcspn(line, " ");
}

/* The value of a line "key = value". */
static void copy_value(const char *line, char *to, size_t n_to)
{
    const char *const equals = strstr(line, " = ");
    snprintf(to, n_to, "%s", equals ? equals + 3 : "one more");
}

static hx_origin_key *add_key(hx_result_origin *o, const char *line)
{
    if (o->n_key++ >= HX_ORIGIN_KEYS) return NULL;
    hx_origin_key *const key = &o->key[o->n_key - 1];
    snprintf(key->key, sizeof key->key, "%.*s", (int)key_length(line), line);
    return key;
}

static void name_differences(hx_result_origin *o, lines *then, lines *now)
{
    /* Removes lines that both texts have. */
    for (size_t i = 0; i < then->n; i++)
        for (size_t k = 0; k < now->n; k++) {
            if (!now->line[k] || strcmp(then->line[i], now->line[k]) != 0) continue;
            then->line[i] = now->line[k] = NULL;
            break;
        }
    for (size_t i = 0; i < now->n; i++) {
        if (!now->line[i]) continue;
        hx_origin_key *const key = add_key(o, now->line[i]);
        const size_t n = key_length(now->line[i]);
        if (key) copy_value(now->line[i], key->now, sizeof key->now);
        for (size_t k = 0; k < then->n; k++) {
            const char *const line = then->line[k];
            if (!line || key_length(line) != n || strncmp(line, now->line[i], n) != 0) continue;
            if (key) copy_value(line, key->then, sizeof key->then);
            then->line[k] = NULL;
            break;
        }
    }
    for (size_t k = 0; k < then->n; k++) {
        if (!then->line[k]) continue;
        hx_origin_key *const key = add_key(o, then->line[k]);
        if (key) copy_value(then->line[k], key->then, sizeof key->then);
    }
}

/* --- the config of the run --- */

/* *text := settings of the config.cfg beside the file, if the file was written with these settings;
 * otherwise NULL. */
static int settings_of_then(const char *file, const hx_identity_text *was, char **text)
{
    char path[PATH_MAX], found[HX_HASH_TEXT];
    const char *const slash = strrchr(file, '/');
    hx_config cfg;
    *text = NULL;
    snprintf(path, sizeof path, "%.*sconfig.cfg", slash ? (int)(slash - file) + 1 : 0, file);
    if (access(path, R_OK) != 0) return HX_OK;
    memset(&cfg, 0, sizeof cfg);
    int rc = hx_config_read(&cfg, path, 0, NULL);
    if (rc == HX_OK) rc = hx_config_settings(&cfg, text);
    hx_config_free(&cfg);
    if (rc < 0) { /* the file is not a valid config */
        hx_error_clear();
        return HX_OK;
    }
    const hx_hash hash = hx_identity_settings(*text);
    if (strcmp(hx_hash_print(&hash, found), was->settings) == 0) return HX_OK;
    free(*text);
    *text = NULL;
    return HX_OK;
}

/* Takes ownership of the current settings. */
static int compare_settings(hx_result_origin *o, const char *file, const hx_identity_text *was,
                            char *now_text)
{
    char hash[HX_HASH_TEXT], *then_text = NULL;
    lines then = {0}, now = {0};
    int rc;
    const hx_hash own = hx_identity_settings(now_text);
    o->same_settings = strcmp(hx_hash_print(&own, hash), was->settings) == 0;
    if (o->same_settings) {
        free(now_text);
        return HX_OK;
    }
    HX_TRY_FAIL(lines_create(&now, now_text));
    HX_TRY_FAIL(settings_of_then(file, was, &then_text));
    if (!then_text) goto fail;
    HX_TRY_FAIL(lines_create(&then, then_text));
    name_differences(o, &then, &now);
fail:
    lines_free(&then);
    lines_free(&now);
    return rc;
}

/* --- all --- */

int hx_result_origin_find(hx_result_origin *o, hx_session *s, const char *file,
                          const hx_result_match *match)
{
    hx_identity_text was;
    char hash[HX_HASH_TEXT], *settings;
    memset(o, 0, sizeof *o);
    o->is_known = hx_identity_read(match->title, &was);
    if (!o->is_known) return HX_OK;
    o->same_density = strcmp(hx_hash_print(&match->values, hash), was.density) == 0;
    const hx_hash mesh = hx_session_mesh_hash(s);
    o->same_mesh = strcmp(hx_hash_print(&mesh, hash), was.mesh) == 0;
    HX_TRY(hx_session_settings(s, &settings));
    return compare_settings(o, file, &was, settings);
}

/* 1 if KEY=VALUE sets the key of a line, in which the index of an entry is left out: "loads[].set"
 * for loads[0].set. */
static int sets_key(const char *override, const char *key)
{
    while (*key && *override == *key) {
        if (*key == '[' && key[1] == ']') override += strspn(override + 1, "0123456789");
        override++;
        key++;
    }
    return !*key && override[strspn(override, " ")] == '=';
}

void hx_result_origin_excuse(hx_result_origin *o, size_t n, const char *const *override)
{
    o->is_requested = o->n_key > 0 && o->n_key <= HX_ORIGIN_KEYS;
    for (int i = 0; i < o->n_key && o->is_requested; i++) {
        size_t k = 0;
        while (k < n && !sets_key(override[k], o->key[i].key)) k++;
        o->is_requested = k < n;
    }
}

int hx_result_origin_is_off(const hx_result_origin *o)
{
    return o->is_known &&
           !(o->same_mesh && o->same_density && (o->same_settings || o->is_requested));
}

static const char *verdict(const hx_result_origin *o)
{
    if (!o->is_known) return "unknown";
    if (!o->same_density) return "changed densities";
    if (!o->same_mesh) return "another mesh";
    return o->same_settings ? "this config" : "other settings";
}

static void print_text(const hx_result_origin *o, FILE *f)
{
    if (!o->is_known) {
        fputs("unknown: the result was written by another program, or before results had hashes",
              f);
        return;
    }
    fputs(!o->same_mesh      ? "of another mesh"
          : o->same_settings ? "of this config"
                             : "of this mesh",
          f);
    if (!o->same_mesh && !o->same_settings) fputs(", and", f);
    if (o->same_mesh && !o->same_settings) fputs(" with", f);
    if (!o->same_settings) {
        fputs(" other settings", f);
        if (o->n_key > 0) {
            fputs(": ", f);
            const char *separator = "";
            for (int i = 0; i < o->n_key && i < HX_ORIGIN_KEYS; i++) {
                const hx_origin_key *const k = &o->key[i];
                fprintf(f, "%s%s = %s, here %s", separator, k->key,
                        k->then[0] ? k->then : "nothing", k->now[0] ? k->now : "nothing");
                separator = "; ";
            }
            if (o->n_key > HX_ORIGIN_KEYS) fprintf(f, "; and %d more", o->n_key - HX_ORIGIN_KEYS);
        } else {
            fputs(" (which ones is unknown without the config.cfg of that run in the same folder)",
                  f);
        }
    }
    if (!o->same_density) fputs("; its densities differ from those that the run wrote", f);
}

const char *hx_result_origin_text(const hx_result_origin *o, char text[HX_ORIGIN_TEXT])
{
    FILE *const f = fmemopen(text, HX_ORIGIN_TEXT, "w");
    text[0] = '\0';
    if (!f) return text;
    print_text(o, f);
    fclose(f);
    text[HX_ORIGIN_TEXT - 1] = '\0';
    return text;
}

void hx_result_origin_write(hx_json *json, const hx_result_origin *o)
{
    hx_json_open_object(json, "origin");
    hx_json_string(json, "verdict", verdict(o));
    if (o->is_known) {
        hx_json_bool(json, "same_mesh", o->same_mesh);
        hx_json_bool(json, "same_settings", o->same_settings);
        hx_json_bool(json, "densities_as_written", o->same_density);
        hx_json_open_array(json, "keys");
        for (int i = 0; i < o->n_key && i < HX_ORIGIN_KEYS; i++)
            hx_json_string(json, NULL, o->key[i].key);
        hx_json_close_array(json);
    }
    hx_json_close_object(json);
}
