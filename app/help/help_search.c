#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../diag/diag.h"
#include "../text/commands.h"
#include "core/base/names.h"
#include "core/generate/generate.h"
#include "core/registry.h"
#include "help_words.h"

enum { LINE_WIDTH = 99, MOST_NAME = 512 };

static const char warnings[] = "Warnings", terms[] = "Terms";

/* Calls `visit` for everything that can be searched. */
typedef void (*visit_call)(void *context, const char *group, const char *name, const char *owner,
                           const char *help);

#define VISIT_ALL(list, group)                                                                     \
    for (size_t i = 0; (list)[i]; i++) visit(context, group, (list)[i]->name, NULL, (list)[i]->help)

static void visit_all(visit_call visit, void *context)
{
    for (size_t i = 0; i < hx_n_key; i++)
        visit(context, "Config keys", hx_keys[i].path, NULL, hx_keys[i].help);
    for (size_t i = 0; hx_commands[i]; i++)
        visit(context, "Commands", hx_commands[i]->name, NULL, hx_commands[i]->summary);
    for (size_t i = 0; hx_commands[i]; i++)
        for (size_t k = 0; k < hx_commands[i]->n_option; k++)
            visit(context, "Options", hx_commands[i]->option[k].name, hx_commands[i]->name,
                  hx_commands[i]->option[k].help);
    for (size_t i = 0; i < hx_n_interface; i++)
        visit(context, "Options", hx_common_options[i].name, "every command",
              hx_common_options[i].help);
    /* An operator of several devices is visited once. */
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        size_t k = 0;
        while (strcmp(hx_operator_kinds[k]->name, hx_operator_kinds[i]->name) != 0) k++;
        if (k == i)
            visit(context, "Operators (solver.operator)", hx_operator_kinds[i]->name, NULL,
                  hx_operator_kinds[i]->help);
    }
    VISIT_ALL(hx_preconds, "Preconditioners (solver.preconditioner)");
    VISIT_ALL(hx_filters, "Filters (optimization.filter.kind)");
    VISIT_ALL(hx_response_kinds, "Objectives and limits (optimization.objective)");
    VISIT_ALL(hx_updates, "Updates (optimization.update)");
    VISIT_ALL(hx_devices, "Devices (solver.device)");
    VISIT_ALL(hx_generators, "Generators (mesh.generator)");
    /* The searchable text of a warning consists of its number and its meaning. */
    for (int kind = 0; kind < HX_N_DIAG; kind++) {
        const hx_diag_words *const words = &hx_diag_help[kind];
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", words->number ? words->number : "",
                 words->number && words->number[0] ? "; " : "",
                 words->meaning ? words->meaning : "");
        visit(context, warnings, hx_diag_table[kind].code, NULL, text);
    }
    for (size_t i = 0; i < hx_n_term; i++)
        for (size_t k = 0; k < HX_TERM_NAMES && hx_terms[i].name[k]; k++)
            visit(context, terms, hx_terms[i].name[k], NULL, hx_terms[i].meaning);
    for (size_t i = 0; i < hx_n_key; i++) {
        const char *word[64];
        const size_t n = hx_keys[i].word ? hx_key_words(&hx_keys[i], word, 64) : 0;
        for (size_t k = 0; k < n; k++)
            visit(context, "Words of keys", word[k], hx_keys[i].path, hx_keys[i].help);
    }
}

/* 1 if the text contains the word, ignoring case; '-', '_' and blanks are equal. */
static int holds(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        for (; word[i] && text[i]; i++) {
            const int a = tolower((unsigned char)text[i]), b = tolower((unsigned char)word[i]);
            const int is_gap = strchr("-_ ", a) && strchr("-_ ", b);
            if (a != b && !is_gap) break;
        }
        if (!word[i]) return 1;
    }
    return 0;
}

typedef struct search {
    const char *word, *group; /* group: the group printed last */
    int in_texts;
    size_t n;
} search;

/* Returns 1 for the warning of exactly that code, or for the term, since hx_print_warning or
 * hx_print_words has already printed it. */
static int is_printed(const char *group, const char *name, const char *word)
{
    if (group == terms) return hx_term_is_named(hx_term_of(name), word);
    return group == warnings && strlen(name) == strlen(word) && holds(name, word);
}

static void print_match(void *context, const char *group, const char *name, const char *owner,
                        const char *help)
{
    search *const s = context;
    if (!holds(s->in_texts ? help : name, s->word) || is_printed(group, name, s->word)) return;
    if (s->group != group) printf("%s%s\n", s->group ? "\n" : "", group);
    s->group = group;
    const int used = printf("  %s%s%s: ", name, owner ? " of " : "", owner ? owner : "");
    const int room = LINE_WIDTH - used;
    const int is_cut = room > 20 && (int)strlen(help) > room;
    printf("%.*s%s\n", is_cut ? room - 4 : 4 * LINE_WIDTH, help, is_cut ? " ..." : "");
    s->n++;
}

size_t hx_print_found(const char *word, int in_texts)
{
    search s = {.word = word};
    if (word[0] == '\0') return 0;
    visit_all(print_match, &s);
    if (s.n == 0 && in_texts) {
        s.in_texts = 1;
        visit_all(print_match, &s);
    }
    if (s.n > 0) printf("\n`hextop help NAME` prints more about a key, a command or a warning.\n");
    return s.n;
}

static void print_other(void *context, const char *group, const char *name, const char *owner,
                        const char *help)
{
    search *const s = context;
    (void)help;
    if (strcmp(group, "Config keys") == 0 || strcmp(group, "Words of keys") == 0 || group == terms)
        return;
    if (!holds(name, s->word) || is_printed(group, name, s->word)) return;
    printf("%s%s%s%s%s", s->n++ ? ", " : "\nElsewhere: ", name, owner ? " of " : "",
           owner ? owner : "", group == warnings ? " (a warning)" : "");
}

void hx_print_elsewhere(const char *word)
{
    search s = {.word = word};
    visit_all(print_other, &s);
    if (s.n > 0) printf("\n");
}

typedef struct names {
    size_t n;
    const char *name[MOST_NAME];
} names;

static void collect(void *context, const char *group, const char *name, const char *owner,
                    const char *help)
{
    names *const all = context;
    const char *const last = strrchr(name, '.');
    const char *const text = last ? last + 1 : name;
    size_t k = 0;
    (void)group;
    (void)owner;
    (void)help;
    while (k < all->n && strcmp(all->name[k], text) != 0) k++;
    if (k == all->n && all->n < MOST_NAME) all->name[all->n++] = text;
}

void hx_help_say_near(const char *word)
{
    names all = {0};
    char near[256] = "";
    const char *const last = strrchr(word, '.'), *const text = last ? last + 1 : word;
    visit_all(collect, &all);
    for (int i = 0; i < 3; i++) {
        const char *const name = hx_nearest_name(text, all.name, all.n);
        size_t k = 0;
        if (!name) break;
        const size_t used = strlen(near);
        snprintf(near + used, sizeof near - used, "%s'%s'", used ? ", " : "", name);
        while (all.name[k] != name) k++;
        all.name[k] = all.name[--all.n];
    }
    if (near[0])
        hx_log_usage_error("nothing is named '%s'; similar names: %s", word, near);
    else
        hx_log_usage_error("no name or help text contains '%s'; `hextop help` lists commands, "
                           "`hextop help config` all keys",
                           word);
}
