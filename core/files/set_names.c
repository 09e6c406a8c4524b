#include "set_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"

enum { ROOM_FOR_NUMBER = 12 };

static int is_reserved(const hx_set_name_rule *rule, const char *name)
{
    return rule->is_reserved && rule->is_reserved(name);
}

static int is_alike(const hx_set_name_rule *rule, const char *a, const char *b)
{
    return (rule->ignores_case ? strcasecmp(a, b) : strcmp(a, b)) == 0;
}

/* Returns 1 if another set has an equivalent name, or the format reserves the name. */
static int is_taken(const hx_set_name_rule *rule, const hx_set_names *names, const char *name)
{
    if (is_reserved(rule, name)) return 1;
    for (size_t i = 0; i < names->n; i++)
        if (names->name[i] && is_alike(rule, names->name[i], name)) return 1;
    return 0;
}

/* Returns 1 for the second and later bytes of a UTF-8 character. */
static int continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Builds the name with at most `most` bytes in the file, without cutting a character in two. leads:
 * prefixes "S_". */
static void clean(const hx_set_name_rule *rule, const char *from, size_t most, int leads, char *to)
{
    size_t n = 0, used = 0;
    const unsigned char *c = (const unsigned char *)from;
    if (leads || (rule->is_first && !rule->is_first(*c))) {
        to[n++] = 'S';
        to[n++] = '_';
        used = 2;
    }
    for (; *c; c++) {
        const int n_byte = rule->n_byte(*c);
        const unsigned char put = n_byte > 0 ? *c : rule->instead(*c);
        const size_t width = (size_t)rule->n_byte(put);
        if (used + width > most) break;
        used += width;
        to[n++] = (char)put;
    }
    while (*c && continues(*c) && n > 0 && continues((unsigned char)to[n - 1])) n--;
    if (*c && continues(*c) && n > 0 && (unsigned char)to[n - 1] >= 0xc0) n--;
    to[n] = '\0';
    if (n == 0) strcpy(to, "S_");
}

/* Keeps the name, or appends a number. If the result is reserved, prefixes "S_". */
static void make_unique_name(const hx_set_name_rule *rule, const hx_set_names *names,
                             const char *name, char *to, size_t n_to)
{
    clean(rule, name, rule->most, 0, to);
    if (!is_taken(rule, names, to)) return;
    clean(rule, name, rule->most - ROOM_FOR_NUMBER, 0, to);
    size_t n = strlen(to);
    snprintf(to + n, n_to - n, "_2");
    if (is_reserved(rule, to)) {
        clean(rule, name, rule->most - ROOM_FOR_NUMBER, 1, to);
        if (!is_taken(rule, names, to)) return;
        n = strlen(to);
        snprintf(to + n, n_to - n, "_2");
    }
    for (size_t k = 3; is_taken(rule, names, to); k++) snprintf(to + n, n_to - n, "_%zu", k);
}

int hx_set_names_make(const hx_mesh *mesh, const hx_set_name_rule *rule, hx_set_names *names)
{
    memset(names, 0, sizeof *names);
    HX_TRY(hx_alloc(&names->name, mesh->n_set + 1, sizeof *names->name, "names of sets"));
    names->n = mesh->n_set;
    /* Names that can stay unchanged take precedence over those that change. */
    for (int changes = 0; changes < 2; changes++)
        for (size_t i = 0; i < mesh->n_set; i++) {
            const char *const name = mesh->set[i].name;
            const size_t n_text = strlen(name) + ROOM_FOR_NUMBER + 12;
            char *text = NULL;
            if (names->name[i]) continue;
            const int rc = hx_alloc(&text, n_text, 1, "names of sets");
            if (rc < 0) hx_set_names_free(names);
            HX_TRY(rc);
            make_unique_name(rule, names, name, text, n_text);
            if (changes || strcmp(text, name) == 0)
                names->name[i] = text;
            else
                free(text);
        }
    return HX_OK;
}

void hx_set_names_free(hx_set_names *names)
{
    for (size_t i = 0; i < names->n; i++) free(names->name[i]);
    free(names->name);
    memset(names, 0, sizeof *names);
}

/* A name for a line of the log, with line breaks as \n. Of a long name, it shows the beginning, and
 * the characters from shortly before `differs` on. */
static size_t put_shown(char *text, size_t n_text, const char *name, size_t differs)
{
    enum { HEAD = 24, BEFORE = 6, BEHIND = 12 };
    size_t n = 0;
    const size_t n_name = strlen(name);
    const size_t from = differs > HEAD + BEFORE ? differs - BEFORE : HEAD;
    for (size_t i = 0; i < n_name && n + 8 < n_text; i++) {
        unsigned char c = (unsigned char)name[i];
        const int is_end = i >= from + BEFORE + BEHIND && i + 4 < n_name;
        if (!continues(c) && (is_end || (i >= HEAD && i + 4 < from)))
            n += (size_t)snprintf(text + n, n_text - n, "...");
        if (!continues(c) && is_end) break;
        if (!continues(c) && i >= HEAD && i + 4 < from)
            for (i = from; continues((unsigned char)name[i]);) i++;
        c = (unsigned char)name[i];
        if (c == '\n')
            n += (size_t)snprintf(text + n, n_text - n, "\\n");
        else if (c < 32 || c == 127)
            n += (size_t)snprintf(text + n, n_text - n, "\\x%02x", c);
        else
            text[n++] = (char)c;
    }
    text[n] = '\0';
    return n;
}

enum { MOST_LISTED = 3 };

/* Writes "name" as "other" for a line of the log; returns its length. The shown parts include the
 * place where the names differ. If one is cut, its length is given. */
static size_t put_change(char *text, size_t n_text, const char *name, const char *other)
{
    enum { LONG = 40 };
    const size_t n_name = strlen(name), n_other = strlen(other);
    const int is_long = n_name > LONG;
    size_t differs = 0;
    while (name[differs] && name[differs] == other[differs]) differs++;
    size_t n = (size_t)snprintf(text, n_text, "\"");
    n += put_shown(text + n, n_text - n, name, differs);
    n += (size_t)snprintf(text + n, n_text - n, "\"");
    if (is_long) n += (size_t)snprintf(text + n, n_text - n, " (length %zu)", n_name);
    n += (size_t)snprintf(text + n, n_text - n, " as \"");
    n += put_shown(text + n, n_text - n, other, differs);
    n += (size_t)snprintf(text + n, n_text - n, "\"");
    if (is_long) n += (size_t)snprintf(text + n, n_text - n, " (length %zu)", n_other);
    return n;
}

/* Notes one line with the first names, and each of the other names at level detail. */
static int note_changes(const hx_mesh *mesh, const hx_set_names *names, const char *path,
                        size_t n_changed, hx_notes *notes)
{
    char list[900] = "", one[300], more[64] = ""; /* room for three names that consist of escapes */
    size_t n = 0, n_listed = 0;
    for (size_t i = 0; i < names->n && n_listed < MOST_LISTED; i++) {
        if (strcmp(names->name[i], mesh->set[i].name) == 0) continue;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s", n_listed++ > 0 ? ", " : "");
        n += put_change(list + n, sizeof list - n, mesh->set[i].name, names->name[i]);
    }
    if (n_changed > MOST_LISTED)
        snprintf(more, sizeof more, " and %zu more (-v lists them)", n_changed - MOST_LISTED);
    HX_TRY(hx_notes_add(
        notes, HX_NOTE_INFO, "%s: the name%s of %zu set%s changed, as the format requires: %s%s",
        path, n_changed == 1 ? "" : "s", n_changed, n_changed == 1 ? " is" : "s are", list, more));
    n_listed = 0;
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->name[i], mesh->set[i].name) == 0 || n_listed++ < MOST_LISTED) continue;
        (void)put_change(one, sizeof one, mesh->set[i].name, names->name[i]);
        HX_TRY(hx_notes_add(notes, HX_NOTE_DETAIL, "%s: %s", path, one));
    }
    return HX_OK;
}

int hx_set_names_note(const hx_mesh *mesh, const hx_set_name_rule *rule, const char *path,
                      hx_notes *notes)
{
    size_t n_changed = 0;
    int rc = HX_OK;
    hx_set_names names;
    HX_TRY(hx_set_names_make(mesh, rule, &names));
    for (size_t i = 0; i < names.n; i++) n_changed += strcmp(names.name[i], mesh->set[i].name) != 0;
    if (n_changed > 0) rc = note_changes(mesh, &names, path, n_changed, notes);
    hx_set_names_free(&names);
    return rc;
}
