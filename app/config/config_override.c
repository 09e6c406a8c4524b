/* KEY=VALUE arguments: follows the path in the tree and replaces its end. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"
#include "core/base/memory.h"

/* One step of a path: a member's name, or the index of a list's element. */
typedef struct path_step {
    char name[64];
    size_t index;
    int is_index;
} path_step;

enum { MAX_STEP = 16 };

/* Splits "supports[0].fix" into name supports, index 0, name fix. Returns the number of steps; 0 if
 * the path is invalid. */
static int split_path(const char *path, const char *end, path_step *step)
{
    int n = 0;
    const char *c = path;
    while (c < end) {
        if (n == MAX_STEP) return 0;
        path_step *s = &step[n];
        memset(s, 0, sizeof *s);
        if (*c == '[') {
            char *after = NULL;
            if (!isdigit((unsigned char)c[1])) return 0;
            s->is_index = 1;
            s->index = (size_t)strtoul(c + 1, &after, 10);
            if (*after != ']') return 0;
            c = after + 1;
        } else {
            size_t length = 0;
            while (c < end && (isalnum((unsigned char)*c) || *c == '_' || *c == '-')) {
                if (length + 1 < sizeof s->name) s->name[length++] = *c;
                c++;
            }
            if (length == 0) return 0;
        }
        n++;
        if (c == end) break;
        if (*c == '.' && c + 1 < end && c[1] != '[')
            c++;
        else if (*c != '[')
            return 0;
    }
    return n;
}

int hx_value_of_argument(hx_value **value, const char *text, const char *origin)
{
    int rc;
    HX_TRY(hx_value_parse(value, text, origin));
    const size_t n = strlen(text);
    if (!*value && n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        /* libconfig's arrays cannot mix 0 and 0.5, but its lists can */
        char *list = NULL;
        HX_TRY(hx_strdup(&list, text));
        list[0] = '(';
        list[n - 1] = ')';
        rc = hx_value_parse(value, list, origin);
        free(list);
        if (rc < 0) return rc;
    }
    if (!*value) {
        HX_TRY(hx_value_create(value, HX_VALUE_STRING, NULL, origin));
        HX_TRY_FAIL(hx_strdup(&(*value)->text, text));
    }
    HX_TRY_FAIL(hx_strdup(&(*value)->raw, text));
    return HX_OK;
fail:
    hx_value_free(*value);
    *value = NULL;
    return rc;
}

/* Index of a step in its parent: an existing child, or parent->n if it may be appended. `shown` is
 * the path of the parent. */
static int locate(const hx_value *parent, const path_step *step, const char *shown, size_t *at)
{
    const hx_value_kind want = step->is_index ? HX_VALUE_LIST : HX_VALUE_GROUP;
    if (parent->kind != want)
        return HX_RAISE(HX_EINPUT, "%s is %s; %s", shown, hx_value_kind_name(parent->kind),
                        parent->kind == HX_VALUE_LIST ? "name an element of it by [0], [1], ..."
                                                      : "it has no such part");
    for (*at = 0; *at < parent->n; (*at)++)
        if (step->is_index ? *at == step->index : strcmp(parent->child[*at]->name, step->name) == 0)
            return HX_OK;
    if (step->is_index && step->index > parent->n)
        return HX_RAISE(HX_EINPUT, "%s has %zu %s, so the next index is [%zu]", shown, parent->n,
                        parent->n == 1 ? "entry" : "entries", parent->n);
    return HX_OK;
}

/* Walks to the parent of the last step, creating groups and lists on the way. */
static int walk_path(hx_value **parent, size_t *at, const path_step *step, int n_step, int create,
                     const char *origin)
{
    char shown[512] = "the config";
    size_t length = 0;
    for (int i = 0;; i++) {
        HX_TRY(locate(*parent, &step[i], shown, at));
        if (i + 1 == n_step) return HX_OK;
        if (*at == (*parent)->n) {
            hx_value *made = NULL;
            if (!create) return HX_OK;
            HX_TRY(hx_value_create(&made, step[i + 1].is_index ? HX_VALUE_LIST : HX_VALUE_GROUP,
                                   step[i].is_index ? NULL : step[i].name, origin));
            HX_TRY(hx_value_append(*parent, made));
        }
        const size_t room = sizeof shown - length;
        const int n = step[i].is_index
                          ? snprintf(shown + length, room, "[%zu]", step[i].index)
                          : snprintf(shown + length, room, "%s%s", i ? "." : "", step[i].name);
        if (n > 0 && (size_t)n < room) length += (size_t)n;
        *parent = (*parent)->child[*at];
    }
}

static int apply_override(hx_value *root, const char *argument, const char *origin)
{
    path_step step[MAX_STEP];
    const char *equals = strchr(argument, '=');
    if (!equals || equals == argument)
        return HX_RAISE(HX_EINPUT, "not KEY=VALUE; for example mesh.size=2");
    const int n_step = split_path(argument, equals, step);
    if (n_step == 0 || step[0].is_index)
        return HX_RAISE(HX_EINPUT, "'%.*s' is not a key; keys look like mesh.size or loads[0].case",
                        (int)(equals - argument), argument);

    hx_value *parent = root;
    size_t at = 0;
    const int removing = equals[1] == '\0';
    HX_TRY(walk_path(&parent, &at, step, n_step, !removing, origin));
    if (removing) {
        if (at < parent->n) hx_value_remove(parent, at);
        return HX_OK;
    }

    int rc;
    hx_value *value = NULL;
    HX_TRY(hx_value_of_argument(&value, equals + 1, origin));
    const path_step *last = &step[n_step - 1];
    if (!last->is_index) HX_TRY_FAIL(hx_strdup(&value->name, last->name));
    if (at == parent->n) return hx_value_append(parent, value);
    hx_value_free(parent->child[at]);
    parent->child[at] = value;
    return HX_OK;
fail:
    hx_value_free(value);
    return rc;
}

int hx_value_override(hx_value *root, const char *argument)
{
    char origin[512];
    snprintf(origin, sizeof origin, HX_ARGUMENT "%.450s%s'", argument,
             strlen(argument) > 450 ? " ..." : "");
    const int rc = apply_override(root, argument, origin);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", origin);
    return rc;
}
