/* Numbers and names in an Abaqus input file, which restart in each instance and in the assembly:
 * resolves words, and finds sets by their names. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"
#include "../mesh/set_rules.h"
#include "abaqus_reader.h"

enum { NAME_SIZE = 400, SHOWN = 60 };

/* --- numbers --- */

int hx_abaqus_own_number(hx_abaqus_reader *r, int is_elem, int64_t *number)
{
    const int is_own = r->scope < 0 && (r->in_assembly || r->n_instance > 0);
    /* numbers of a file without instances, or of the first instance */
    if (r->scope <= 0 && !is_own) return HX_OK;
    if (*number < 0 || *number >= HX_ABAQUS_BASE)
        return HX_ABAQUS_RAISE(&r->scan, "a number of %lld in an assembly is too large",
                               (long long)*number);
    if (is_own && is_elem) r->has_own_elem = 1;
    if (is_own && !is_elem) r->has_own_node = 1;
    *number += is_own ? HX_ABAQUS_ASSEMBLY : r->scope * HX_ABAQUS_BASE;
    return HX_OK;
}

/* A plain number outside of instances belongs to the assembly or, if there is only one instance, to
 * that. */
static int add_base(const hx_abaqus_reader *r, int scope, int is_elem, int64_t *number)
{
    const int has_own = is_elem ? r->has_own_elem : r->has_own_node;
    if (scope >= 0) *number += scope * HX_ABAQUS_BASE;
    if (scope >= 0 || (!has_own && r->n_instance < 2)) return HX_OK;
    if (!has_own)
        return HX_ABAQUS_RAISE(
            &r->scan, "%s %lld is ambiguous: there are %zu instances; write INSTANCE.%lld",
            is_elem ? "element" : "node", (long long)*number, r->n_instance, (long long)*number);
    *number += HX_ABAQUS_ASSEMBLY;
    return HX_OK;
}

static void describe_number(const void *context, int64_t number, char *text)
{
    const hx_abaqus_reader *const r = context;
    const int64_t scope = number / HX_ABAQUS_BASE, own = number % HX_ABAQUS_BASE;
    if (number < 0 || scope >= (int64_t)r->n_instance || r->n_instance < 2)
        snprintf(text, HX_NUMBER_TEXT, "%lld", (long long)(number < 0 ? number : own));
    else
        snprintf(text, HX_NUMBER_TEXT, "%.80s.%lld", r->instance[scope].name, (long long)own);
}

static int64_t shorten_number(const void *context, int64_t number)
{
    const hx_abaqus_reader *const r = context;
    const int64_t scope = number / HX_ABAQUS_BASE, own = number % HX_ABAQUS_BASE;
    if (number < 0 || (r->n_instance < 2 && scope == 0)) return number;
    return own +
           r->stride * (1 + (scope < (int64_t)r->n_instance ? scope : (int64_t)r->n_instance));
}

static int64_t largest_number(const hx_abaqus_reader *r)
{
    const hx_numbers *const list[2] = {&r->import.node_number, &r->import.elem_number};
    int64_t largest = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < list[k]->n; i++) {
            const int64_t own = hx_numbers_get(list[k], i) % HX_ABAQUS_BASE;
            if (own > largest) largest = own;
        }
    return largest;
}

int hx_abaqus_name_numbers(hx_abaqus_reader *r)
{
    if (r->n_instance == 0) return HX_OK;
    r->import.number_context = r;
    r->import.number_text = describe_number;
    if (r->n_instance < 2 && !r->has_own_node && !r->has_own_elem) return HX_OK;
    int64_t power = 10;
    while (power <= largest_number(r)) power *= 10;
    r->stride = power;
    r->import.number_short = shorten_number;
    for (size_t i = 0; r->n_instance > 1 && i < r->n_instance; i++)
        HX_TRY(hx_notes_add(r->notes, i < 8 ? HX_NOTE_INFO : HX_NOTE_DETAIL,
                            "%s: instance %s: node and element N of the instance has the number "
                            "%lld + N in the mesh",
                            r->import.path, r->instance[i].name,
                            (long long)(r->stride * ((int64_t)i + 1))));
    return HX_OK;
}

/* --- names --- */

hx_import_set *hx_abaqus_find_set(const hx_abaqus_reader *r, hx_set_kind kind, const char *name)
{
    hx_import_set *found = NULL;
    for (size_t i = 0; i < r->import.n_set; i++) {
        if (strcasecmp(r->import.set[i]->name, name) != 0) continue;
        if (r->import.set[i]->kind == kind) return r->import.set[i];
        if (!found) found = r->import.set[i];
    }
    return found;
}

/* Removes quotes: "PART 1".SET, "PART 1.SET". */
static void unquote(char *word)
{
    char *to = word;
    for (const char *c = word; *c; c++)
        if (*c != '"') *to++ = *c;
    *to = '\0';
}

static int read_integer(const char *text, int64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '-' && text[0] != '+') return 0;
    *number = strtoll(text, &end, 10);
    return *end == '\0' && *number > -((int64_t)1 << 40) && *number < (int64_t)1 << 40;
}

static hx_import_set *set_of_scope(const hx_abaqus_reader *r, int scope, hx_set_kind kind,
                                   const char *name)
{
    char whole[NAME_SIZE];
    if (scope < 0) return hx_abaqus_find_set(r, kind, name);
    snprintf(whole, sizeof whole, "%s.%s", r->instance[scope].name, name);
    return hx_abaqus_find_set(r, kind, whole);
}

/* INSTANCE.REST: finds the instance with the longest matching name that has such a set or
 * number. */
static int refer_dotted(const hx_abaqus_reader *r, hx_set_kind kind, const char *word,
                        hx_abaqus_reference *to)
{
    size_t longest = 0;
    for (size_t i = 0; i < r->n_instance; i++) {
        const size_t n = strlen(r->instance[i].name);
        hx_abaqus_reference found = {0};
        if (n < longest || strncasecmp(word, r->instance[i].name, n) != 0 || word[n] != '.')
            continue;
        found.is_number = read_integer(word + n + 1, &found.number);
        found.number += (int64_t)i * HX_ABAQUS_BASE;
        found.set = found.is_number ? NULL : set_of_scope(r, (int)i, kind, word + n + 1);
        if (!found.is_number && !found.set) continue;
        longest = n;
        *to = found;
    }
    return to->is_number || to->set;
}

int hx_abaqus_refer(const hx_abaqus_reader *r, hx_set_kind kind, char *word,
                    hx_abaqus_reference *to)
{
    const int is_elem = kind == HX_KIND_ELEMS;
    const int scope = r->member_scope >= 0 ? r->member_scope : r->scope;
    memset(to, 0, sizeof *to);
    unquote(word);
    if (r->n_instance == 0 && (isdigit((unsigned char)*word) || *word == '-' || *word == '+')) {
        to->set = word[strspn(word, "0123456789")] ? hx_abaqus_find_set(r, kind, word) : NULL;
        if (to->set) return HX_OK;
        to->is_number = 1; /* a name in a file without instances, of any length */
        HX_TRY(hx_abaqus_int(&r->scan, word, "a number or the name of a set", &to->number));
        return r->has_own_node || r->has_own_elem ? add_base(r, scope, is_elem, &to->number)
                                                  : HX_OK;
    }
    to->is_number = read_integer(word, &to->number);
    if (to->is_number) return add_base(r, scope, is_elem, &to->number);
    if (scope >= 0) to->set = set_of_scope(r, scope, kind, word);
    if (!to->set && !r->in_part) to->set = hx_abaqus_find_set(r, kind, word);
    if (to->set || refer_dotted(r, kind, word, to)) return HX_OK;
    if (r->n_instance == 1) to->set = set_of_scope(r, 0, kind, word);
    return HX_OK;
}

int hx_abaqus_need(const hx_abaqus_reader *r, hx_set_kind kind, char *word, hx_abaqus_reference *to)
{
    HX_TRY(hx_abaqus_refer(r, kind, word, to));
    if (to->is_number || to->set) return HX_OK;
    const char *const dot = strchr(word, '.');
    for (size_t i = 0; dot && r->n_instance > 0 && i <= r->n_instance; i++) {
        if (i == r->n_instance)
            return HX_ABAQUS_RAISE(&r->scan,
                                   "no set '%.60s' above this line, and no instance "
                                   "'%.*s'",
                                   word, (int)(dot - word < SHOWN ? dot - word : SHOWN), word);
        const size_t n = strlen(r->instance[i].name);
        if (strncasecmp(word, r->instance[i].name, n) == 0 && word[n] == '.') break;
    }
    return HX_ABAQUS_RAISE(&r->scan, "no set '%.60s' above this line", word);
}

/* Copies a word of the file that stands for a node or a set, with its position. */
int hx_abaqus_keep_word(const hx_abaqus_reader *r, const char *word, hx_abaqus_word *to)
{
    to->scope = r->scope;
    to->line = hx_abaqus_scan_number(&r->scan);
    free(to->text);
    return hx_strdup(&to->text, word);
}

void hx_abaqus_mark_taken(const hx_abaqus_reader *r, hx_import_set *set, int is_support)
{
    *(is_support ? &set->is_held : &set->is_loaded) = 1;
    if (set->taken_line == 0) set->taken_line = r->scan.file[r->scan.depth - 1].line;
}

/* CalculiX applies earlier supports and loads also to members that a set gets later. */
static int check_taken(hx_abaqus_reader *r, const hx_import_set *set)
{
    static const char text[] = "%s:%lld: set '%.60s' gets members after a support or load used it "
                               "in line %lld: define all members first";
    const char *const path = hx_abaqus_scan_path(&r->scan);
    const long long line = r->scan.keyword_line, taken = set->taken_line;
    if (taken == 0) return HX_OK;
    HX_TRY(hx_notes_add(r->notes, HX_NOTE_WARNING, text, path, line, set->name, taken));
    if (set->is_held)
        HX_TRY(hx_set_fault(&r->conditions.support_fault, text, path, line, set->name, taken));
    if (!set->is_loaded) return HX_OK;
    return hx_set_fault(&r->conditions.load_fault, text, path, line, set->name, taken);
}

int hx_abaqus_open_set(hx_abaqus_reader *r, hx_set_kind kind, const char *name, hx_import_set **set)
{
    char whole[NAME_SIZE] = "";
    if (strlen(name) > 200)
        return HX_ABAQUS_RAISE(&r->scan, "the name of a set has %zu characters, which is too long",
                               strlen(name));
    if (r->scope >= 0 && strlen(r->instance[r->scope].name) > 150)
        return HX_ABAQUS_RAISE(&r->scan,
                               "the name of an instance has %zu characters, which is too long",
                               strlen(r->instance[r->scope].name));
    if (r->scope >= 0)
        snprintf(whole, sizeof whole, "%s.%s", r->instance[r->scope].name, name);
    else
        snprintf(whole, sizeof whole, "%s", name);
    *set = hx_abaqus_find_set(r, kind, whole);
    if (*set && ((*set)->kind == kind || r->scan.joins_names)) return check_taken(r, *set);
    /* a set of another kind has the name, perhaps in another case: use its spelling */
    return hx_import_set_of(&r->import, *set ? (*set)->name : whole, kind, set);
}

int hx_abaqus_name_sets(hx_abaqus_reader *r)
{
    uint8_t *drops = NULL; /* per set: 1 if the instance is removed from its name */
    if (r->n_instance != 1) return HX_OK;
    const size_t n = strlen(r->instance[0].name);
    HX_TRY(hx_alloc(&drops, r->import.n_set, 1, "names of sets"));
    for (size_t i = 0; i < r->import.n_set; i++) {
        const char *const name = r->import.set[i]->name;
        drops[i] = strncasecmp(name, r->instance[0].name, n) == 0 && name[n] == '.' &&
                   name[n + 1] && !hx_abaqus_find_set(r, HX_N_SET_KIND, name + n + 1);
    }
    for (size_t i = 0; i < r->import.n_set; i++) {
        char *const name = r->import.set[i]->name;
        if (!drops[i]) continue;
        hx_set_rules_shorten(&r->import.rules, name, n + 1);
        memmove(name, name + n + 1, strlen(name + n + 1) + 1);
    }
    free(drops);
    return HX_OK;
}
