#include "unread.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fit.h"
#include "../base/grow.h"
#include "../base/memory.h"

enum { MOST_KINDS = 200 };

/* Compares without regard to case and blanks. */
static int same_word(const char *a, const char *b)
{
    for (;;) {
        while (isspace((unsigned char)*a)) a++;
        while (isspace((unsigned char)*b)) b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return 0;
        if (!*a) return 1;
        a++;
        b++;
    }
}

static hx_unread_kind *find_unread_kind(const hx_unread *list, const char *word)
{
    for (size_t i = 0; i < list->n; i++)
        if (same_word(list->kind[i].word, word)) return &list->kind[i];
    return NULL;
}

int hx_unread_add(hx_unread *list, unsigned roles, const char *word, const char *what, int64_t n,
                  const char *path, int64_t line)
{
    const char *const called = list->n < MOST_KINDS ? word : "other kinds";
    hx_unread_kind *kind = find_unread_kind(list, word);
    if (!kind) kind = find_unread_kind(list, called);
    if (!kind) {
        HX_TRY(hx_resize(&list->kind, list->n, list->n + 1, sizeof *list->kind, "unread kinds"));
        kind = &list->kind[list->n++];
        HX_TRY(hx_strdup(&kind->word, called));
        HX_TRY(hx_strdup(&kind->what, what ? what : ""));
        HX_TRY(hx_strdup(&kind->path, path));
        kind->line = line;
    }
    kind->n += n;
    kind->roles |= roles;
    return HX_OK;
}

int hx_unread_ignore(hx_unread *list, const char *word)
{
    hx_unread_kind *const kind = find_unread_kind(list, word);
    if (kind) kind->is_ignored = 1;
    return kind != NULL;
}

static int is_meant(const hx_unread *list, const hx_unread_kind *kind, unsigned roles,
                    int is_ignored)
{
    if (list->is_heat && kind->roles & HX_UNREAD_HEAT) return 0;
    return kind->is_ignored == is_ignored && (roles == 0 || (kind->roles & roles) != 0);
}

unsigned hx_unread_roles(const hx_unread *list)
{
    unsigned roles = 0;
    for (size_t i = 0; i < list->n; i++)
        if (is_meant(list, &list->kind[i], 0, 0)) roles |= list->kind[i].roles;
    return roles;
}

enum { MOST_PATH = 300 };

/* The path, or its end if it is longer than MOST_PATH; lead: what shows that. */
static const char *short_path(const char *path, const char **lead)
{
    const size_t n = strlen(path);
    *lead = n > MOST_PATH ? "..." : "";
    return n > MOST_PATH ? path + n - MOST_PATH : path;
}

/* Writes "4 S4 (shells, line 29)"; the line of the first kind is printed before the list. */
static void name_kind(const hx_unread_kind *kind, const hx_unread_kind *first, char text[600])
{
    char place[360] = "";
    const char *lead, *const path = short_path(kind->path, &lead);
    if (kind->line > 0 && strcmp(kind->path, first->path) != 0)
        snprintf(place, sizeof place, "%s%s:%lld", lead, path, (long long)kind->line);
    else if (kind->line > 0 && kind->line != first->line)
        snprintf(place, sizeof place, "line %lld", (long long)kind->line);
    const char *const comma = kind->what[0] && place[0] ? ", " : "";
    const int has_more = kind->what[0] || place[0];
    snprintf(text, 600, "%lld %.80s%s%.100s%s%s%s", (long long)kind->n, kind->word,
             has_more ? " (" : "", kind->what, comma, place, has_more ? ")" : "");
}

size_t hx_unread_text(const hx_unread *list, unsigned roles, int is_ignored, const char *lead,
                      char *text, size_t n_text)
{
    enum { ROOM = 40 }; /* for "and 123 other kinds" */
    const hx_unread_kind *first = NULL;
    size_t n = 0, n_shown = 0, used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        const hx_unread_kind *const kind = &list->kind[i];
        char name[600];
        if (!is_meant(list, kind, roles, is_ignored)) continue;
        if (n++ == 0) {
            first = kind;
            /* Writes "job.inp:29: LEAD"; returns its length, which may exceed the buffer. */
            char line[24] = "";
            const char *dots, *const path = short_path(first->path, &dots);
            if (first->line > 0) snprintf(line, sizeof line, ":%lld", (long long)first->line);
            used = (size_t)snprintf(text, n_text, "%s%s%s: %s", dots, path, line, lead);
        }
        name_kind(kind, first, name);
        if (n_shown + 1 < n || used + strlen(name) + 2 + ROOM >= n_text) continue;
        used += (size_t)snprintf(text + used, n_text - used, "%s%s", n == 1 ? "" : ", ", name);
        n_shown++;
    }
    if (n_shown < n && used < n_text)
        snprintf(text + used, n_text - used, "%s%zu other kinds", n_shown > 0 ? " and " : "",
                 n - n_shown);
    return n;
}

void hx_unread_words(const hx_unread *list, unsigned roles, char *text, size_t n_text)
{
    size_t used = hx_fit(text, n_text, "(");
    for (size_t i = 0; i < list->n; i++) {
        const hx_unread_kind *const kind = &list->kind[i];
        if (!is_meant(list, kind, roles, 0)) continue;
        used += hx_fit(text + used, n_text - used, "%s\"%s\"", used > 1 ? ", " : "", kind->word);
    }
    hx_fit(text + used, n_text - used, ")");
}

unsigned hx_unread_refuses(const hx_unread *list, hx_unread_use use, int has_mass_load, int n_case)
{
    const unsigned met = hx_unread_roles(list);
    unsigned by = HX_UNREAD_CARRIES;
    if (use == HX_UNREAD_OF_SUPPORTS) by |= HX_UNREAD_SUPPORT;
    if (use == HX_UNREAD_OF_MATERIAL) by |= HX_UNREAD_MATERIAL;
    if (use == HX_UNREAD_OF_LOADS) {
        by |= HX_UNREAD_LOAD;
        if (has_mass_load) by |= HX_UNREAD_MASS;
        if (n_case == 0) by |= HX_UNREAD_STEP;
    }
    return met & by;
}

unsigned hx_unread_all_refuse(const hx_unread *list, int has_mass_load, int n_case)
{
    unsigned roles = 0;
    for (int use = 0; use <= HX_UNREAD_OF_MATERIAL; use++)
        roles |= hx_unread_refuses(list, (hx_unread_use)use, has_mass_load, n_case);
    return roles & ~(unsigned)HX_UNREAD_STEP;
}

void hx_unread_free(hx_unread *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->kind[i].word);
        free(list->kind[i].what);
        free(list->kind[i].path);
    }
    free(list->kind);
    list->kind = NULL;
    list->n = 0;
}
