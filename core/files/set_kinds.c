#include "set_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

enum { MOST_SHOWN = 5, SHOWN_NAME = 200 };

typedef struct namer {
    size_t n;
    hx_kind_set *list;
    const hx_kind_words *words;
    const char *path;
    hx_notes *notes;
    hx_mesh *mesh;
    int n_noted;
} namer;

static int compare_kinds(const void *a, const void *b)
{
    const hx_kind_set *const p = a, *const q = b;
    const int order = strcmp(*p->name, *q->name);
    return order != 0 ? order : (p->kind > q->kind) - (p->kind < q->kind);
}

static int is_taken(const namer *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(*t->list[i].name, name) == 0) return 1;
    return 0;
}

/* "surface-fix", or "surface-fix-2" if another set has that name. */
static int rename_set(const namer *t, const hx_kind_set *set, const char *name)
{
    char *text = NULL;
    const char *const word = (*t->words)[set->kind];
    const size_t room = strlen(word) + strlen(name) + 32;
    HX_TRY(hx_alloc(&text, room, 1, "the name of a set"));
    const int n = snprintf(text, room, "%s-%s", word, name);
    for (int k = 2; is_taken(t, text); k++) snprintf(text + n, room - (size_t)n, "-%d", k);
    free(*set->name);
    *set->name = text;
    return HX_OK;
}

static int note(namer *t, const char *name, const char *const set[HX_N_SET_KIND])
{
    char text[HX_N_SET_KIND * (SHOWN_NAME + 40)] = "";
    size_t n = 0;
    for (int kind = 0; kind < HX_N_SET_KIND; kind++)
        if (set[kind])
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s '%.*s'", n > 0 ? ", " : "",
                                  (*t->words)[kind], SHOWN_NAME, set[kind]);
    return hx_notes_add(t->notes, t->n_noted++ < MOST_SHOWN ? HX_NOTE_INFO : HX_NOTE_DETAIL,
                        "%s: sets of different kinds are named '%.*s' and stay apart: %s", t->path,
                        SHOWN_NAME, name, text);
}

/* The sets list[begin .. end) have the same name and are sorted by kind. */
static int name_group(namer *t, size_t begin, size_t end)
{
    int rc = HX_OK;
    char *name = NULL;
    const char *set[HX_N_SET_KIND] = {NULL};
    size_t keeps = end - 1;
    while (keeps > begin && t->list[keeps].is_empty) keeps--;
    if (t->list[keeps].is_empty) keeps = end - 1;
    HX_TRY_FAIL(hx_strdup(&name, *t->list[keeps].name));
    for (size_t i = begin; i < end; i++) {
        if (i != keeps) HX_TRY_FAIL(rename_set(t, &t->list[i], name));
        set[t->list[i].kind] = *t->list[i].name;
    }
    HX_TRY_FAIL(note(t, name, set));
    for (size_t i = begin; i < end; i++)
        if (t->list[i].is_empty) set[t->list[i].kind] = NULL;
    if (t->mesh) HX_TRY_FAIL(hx_mesh_share_name(t->mesh, name, set));
fail:
    free(name);
    return rc;
}

int hx_kinds_name_apart(size_t n, hx_kind_set *list, const hx_kind_words *words, const char *path,
                        hx_notes *notes, hx_mesh *mesh)
{
    static hx_kind_words usual = {"nodes", "curve", "surface", "elements"};
    namer t = {n, list, words ? words : &usual, path, notes, mesh, 0};
    size_t end;
    if (n < 2) return HX_OK;
    qsort(list, n, sizeof *list, compare_kinds);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(*list[end].name, *list[i].name) == 0;) end++;
        if (end > i + 1) HX_TRY(name_group(&t, i, end));
    }
    return HX_OK;
}
