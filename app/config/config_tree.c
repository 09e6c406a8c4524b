#include "config_tree.h"

#include <libconfig.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_source.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/files/mesh_files.h"

const char *hx_libconfig_version(void)
{
#define VERSION_TEXT(major, minor, revision) #major "." #minor "." #revision
#define VERSION_OF(major, minor, revision) VERSION_TEXT(major, minor, revision)
    return VERSION_OF(LIBCONFIG_VER_MAJOR, LIBCONFIG_VER_MINOR, LIBCONFIG_VER_REVISION);
}

const char *hx_value_kind_name(hx_value_kind kind)
{
    switch (kind) {
    case HX_VALUE_GROUP:
        return "a group { ... }";
    case HX_VALUE_LIST:
        return "a list";
    case HX_VALUE_STRING:
        return "a string";
    case HX_VALUE_INT:
        return "an integer";
    case HX_VALUE_FLOAT:
        return "a number with a fraction";
    case HX_VALUE_BOOL:
        return "true or false";
    }
    return "a value";
}

int hx_value_create(hx_value **value, hx_value_kind kind, const char *name, const char *origin)
{
    int rc;
    HX_TRY(hx_alloc(value, 1, sizeof **value, "config value"));
    (*value)->kind = kind;
    HX_TRY_FAIL(hx_strdup(&(*value)->name, name));
    HX_TRY_FAIL(hx_strdup(&(*value)->origin, origin));
    return HX_OK;
fail:
    hx_value_free(*value);
    *value = NULL;
    return rc;
}

int hx_value_append(hx_value *parent, hx_value *child)
{
    const int rc =
        hx_grow(&parent->child, parent->n, &parent->capacity, sizeof(hx_value *), "config values");
    if (rc < 0) {
        hx_value_free(child);
        return rc;
    }
    parent->child[parent->n++] = child;
    return HX_OK;
}

void hx_value_remove(hx_value *parent, size_t index)
{
    hx_value_free(parent->child[index]);
    for (size_t i = index; i + 1 < parent->n; i++) parent->child[i] = parent->child[i + 1];
    parent->n--;
}

void hx_value_free(hx_value *value)
{
    if (!value) return;
    for (size_t i = 0; i < value->n; i++) hx_value_free(value->child[i]);
    free(value->child);
    free(value->name);
    free(value->origin);
    free(value->raw);
    free(value->text);
    free(value);
}

hx_value *hx_value_member(const hx_value *group, const char *name)
{
    for (size_t i = 0; i < group->n; i++)
        if (group->child[i]->name && strcmp(group->child[i]->name, name) == 0)
            return group->child[i];
    return NULL;
}

const hx_value *hx_value_find(const hx_value *root, const char *path)
{
    const hx_value *at = root;
    while (at && *path) {
        char name[64];
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        at = hx_value_member(at, name);
        path += path[n] ? n + 1 : n;
    }
    return at;
}

/* Creates a group with the given origin or, with src, with the file and line of that setting. This
 * is a separate function, so that the recursion for nested settings does not keep these texts on
 * the stack. */
static int create_placed(hx_value **value, const config_setting_t *setting, const char *name,
                         const hx_config_source *src, const char *origin)
{
    char place[PATH_MAX + 32];
    if (!src) return hx_value_create(value, HX_VALUE_GROUP, name, origin);
    hx_config_source_place(src, (int)config_setting_source_line(setting), place, sizeof place);
    return hx_value_create(value, HX_VALUE_GROUP, name, place);
}

/* Copies a libconfig setting into a new value. */
static int convert(hx_value **out, const config_setting_t *setting, const char *name,
                   const hx_config_source *src, const char *origin)
{
    int rc;
    hx_value *value = NULL;
    *out = NULL;
    HX_TRY(create_placed(&value, setting, name, src, origin));

    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        value->kind = HX_VALUE_INT;
        value->integer = config_setting_type(setting) == CONFIG_TYPE_INT
                             ? config_setting_get_int(setting)
                             : config_setting_get_int64(setting);
        value->number = (double)value->integer;
        break;
    case CONFIG_TYPE_FLOAT:
        value->kind = HX_VALUE_FLOAT;
        value->number = config_setting_get_float(setting);
        break;
    case CONFIG_TYPE_BOOL:
        value->kind = HX_VALUE_BOOL;
        value->integer = config_setting_get_bool(setting);
        break;
    case CONFIG_TYPE_STRING:
        value->kind = HX_VALUE_STRING;
        if (!config_setting_get_string(setting)) { /* libconfig does not check this */
            rc = HX_RAISE(HX_ENOMEM, "no memory for the texts of the config: free some");
            goto fail;
        }
        HX_TRY_FAIL(hx_strdup(&value->text, config_setting_get_string(setting)));
        break;
    default: {
        value->kind = config_setting_is_group(setting) ? HX_VALUE_GROUP : HX_VALUE_LIST;
        const int n = config_setting_length(setting);
        for (int i = 0; i < n; i++) {
            const config_setting_t *member = config_setting_get_elem(setting, (unsigned)i);
            const char *const key = config_setting_name(member);
            hx_value *child = NULL;
            if (!key && config_setting_is_group(setting)) { /* libconfig does not check this */
                rc = HX_RAISE(HX_ENOMEM, "no memory for the names of the config: free some");
                goto fail;
            }
            HX_TRY_FAIL(convert(&child, member, key, src, origin));
            HX_TRY_FAIL(hx_value_append(value, child));
        }
    }
    }
    *out = value;
    return HX_OK;
fail:
    hx_value_free(value);
    return rc;
}

/* The advice that is added to an error message of libconfig. */
static const char *parse_hint(const char *what)
{
    if (strstr(what, "array")) return "; in [ ] all numbers need a fraction, or none";
    if (strstr(what, "I/O")) return "; the file cannot be read";
    if (strstr(what, "duplicate")) return "; each key may be given once";
    return "; a setting is NAME = VALUE; with strings in quotes and groups in { }";
}

static int parse_source(hx_value **root, const hx_config_source *src)
{
    int rc;
    char place[PATH_MAX + 32];
    config_t config;
    /* Tests whether enough memory is available. Otherwise libconfig would end the program or
     * crash. */
    enum { BASE = 1 << 20, A_BYTE = 64 }; /* measured: up to 54 bytes per byte of text */
    void *room;
    HX_TRY(hx_alloc_raw(&room, BASE + A_BYTE * strlen(src->text), 1, "config"));
    free(room);
    config_init(&config);
    if (config_read_string(&config, src->text) == CONFIG_TRUE) {
        rc = convert(root, config_root_setting(&config), NULL, src, NULL);
    } else {
        const char *what = config_error_text(&config) ? config_error_text(&config) : "unreadable";
        rc = HX_RAISE(HX_EINPUT, "%s: %s%s",
                      hx_config_source_place(src, config_error_line(&config), place, sizeof place),
                      what, parse_hint(what));
    }
    config_destroy(&config);
    return rc;
}

/* text = NULL: the file at path. */
static int read_tree(hx_value **root, const char *text, const char *path)
{
    hx_config_source src;
    int rc = hx_config_source_open(&src, text, path);
    if (rc == HX_OK) rc = parse_source(root, &src);
    hx_config_source_free(&src);
    if (rc < 0) return rc;
    /* NOLINTNEXTLINE(clang-analyzer-core*): codes are never positive */
    free((*root)->origin);
    (*root)->origin = NULL;
    rc = hx_strdup(&(*root)->origin, path);
    if (rc < 0) {
        hx_value_free(*root);
        *root = NULL;
    }
    return rc;
}

int hx_value_read_file(hx_value **root, const char *path)
{
    *root = NULL;
    /* HX_EINPUT if the name of the file shows that it is not a config. */
    static const char *const cad[] = {".stp", ".step", ".igs", ".iges", ".stl"};
    const char *const dot = strrchr(path, '.');
    if (hx_mesh_format_of_name(path))
        return HX_RAISE(HX_EINPUT,
                        "'%s' is a mesh or a result, but a config is expected here: a text file "
                        "with mesh = { file = \"...\"; };",
                        path);
    for (size_t i = 0; dot && i < sizeof cad / sizeof cad[0]; i++)
        if (strcasecmp(dot, cad[i]) == 0)
            return HX_RAISE(HX_EINPUT,
                            "'%s' is a CAD model, but a config is expected here; `hextop new` "
                            "makes one from a CAD model",
                            path);
    return read_tree(root, NULL, path);
}

int hx_value_read_text(hx_value **root, const char *text, const char *path)
{
    *root = NULL;
    return read_tree(root, text, path);
}

int hx_value_parse(hx_value **value, const char *text, const char *origin)
{
    int rc;
    char *setting = NULL, *wide = NULL;
    config_t config;
    *value = NULL;
    HX_TRY(hx_value_check_nesting(text, origin));
    HX_TRY(hx_value_widen_integers(text, &wide));
    const size_t n = strlen(wide) + 8;
    config_init(&config);
    HX_TRY_FAIL(hx_alloc(&setting, n, 1, "config text"));
    snprintf(setting, n, "v = %s\n;", wide);
    if (config_read_string(&config, setting) == CONFIG_TRUE &&
        config_setting_length(config_root_setting(&config)) == 1)
        /* accessed by index, since after a lack of memory the setting has no name */
        rc = convert(value, config_setting_get_elem(config_root_setting(&config), 0), NULL, NULL,
                     origin);
fail:
    config_destroy(&config);
    free(setting);
    free(wide);
    return rc;
}
