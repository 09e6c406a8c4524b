/* The configuration reference as Markdown: `hextop help --markdown` prints doc/config.md. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "config_help.h"
#include "config_schema.h"

/* A cell of a table, in which a bar would end the cell. */
static void put_cell(const char *text)
{
    printf(" ");
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
    printf(" |");
}

static void put_code(const char *text)
{
    char code[512];
    snprintf(code, sizeof code, text[0] ? "`%s`" : "%s", text);
    put_cell(code);
}

static int is_aggregate(const hx_key *key)
{
    return key->type == HX_KEY_GROUP || key->type == HX_KEY_LIST;
}

static int is_top(const hx_key *key)
{
    return !strchr(key->path, '.');
}

/* 1 if the key lies in the group or list of that name, at any depth. */
static int is_within(const hx_key *key, const char *group)
{
    const size_t n = strlen(group);
    return strncmp(key->path, group, n) == 0 && (key->path[n] == '.' || key->path[n] == '[');
}

static void put_row(const hx_key *key)
{
    char allowed[512], fallback[256], example[256];
    const int has_value = !is_aggregate(key);
    printf("|");
    put_code(key->path);
    put_cell(hx_key_type_word(key->type));
    put_cell(key->unit ? key->unit : "");
    put_cell(has_value ? hx_key_default(key, fallback, sizeof fallback) : "");
    put_cell(has_value ? hx_key_allowed(key, allowed, sizeof allowed) : "");
    put_cell(key->help);
    put_code(has_value ? hx_key_shown_example(key, example, sizeof example) : "");
    printf("\n");
}

static void put_head(void)
{
    printf("| key | type | unit | default | range or words | meaning | example |\n"
           "|---|---|---|---|---|---|---|\n");
}

void hx_print_keys_markdown(void)
{
    printf("# Configuration reference\n\n"
           "Every key of a config. `hextop help --markdown` prints this page from the table that "
           "also checks configs;\na test compares the two, so do not edit it by hand. `hextop help "
           "KEY` prints one key with an example and its\nneighbours. A path like `loads[].set` "
           "means the key `set` of each entry of the list `loads`.\n"
           "A range `(0, 1]` excludes 0 and includes 1. [Loads, supports and sets](loads.md) "
           "explains the conventions.\n\n"
           "## Top level\n\n");
    put_head();
    for (size_t i = 0; i < hx_n_key; i++)
        if (is_top(&hx_keys[i]) && !is_aggregate(&hx_keys[i])) put_row(&hx_keys[i]);
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_key *const group = &hx_keys[i];
        if (!is_top(group) || !is_aggregate(group)) continue;
        printf("\n## %s\n\n%c%s%s.\n\n", group->path, toupper((unsigned char)group->help[0]),
               group->help + 1, group->type == HX_KEY_LIST ? " (a list of groups)" : "");
        put_head();
        for (size_t k = 0; k < hx_n_key; k++)
            if (is_within(&hx_keys[k], group->path) && !hx_key_is_of_experts(&hx_keys[k]))
                put_row(&hx_keys[k]);
    }
    /* Keys of experts have a section of their own. */
    printf(
        "\n## solver.multigrid\n\nConstants of the preconditioner, for experts. "
        "[Theory](theory.md#multigrid) explains the method; `core/multigrid/mg_params.h`\nnames "
        "the measurements behind each default. A key is part of the settings of a result only if "
        "it is given.\n\n");
    put_head();
    for (size_t k = 0; k < hx_n_key; k++)
        if (hx_key_is_of_experts(&hx_keys[k])) put_row(&hx_keys[k]);
}
