/* Parts and instances of an Abaqus input file. A *PART is marked and skipped; its lines are read
 * once per *INSTANCE, with that instance's numbers, names and placement. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "../mesh/set_rules.h"
#include "abaqus_reader.h"

enum { NAME_SIZE = 400, SHOWN = 60 };

/* --- parts --- */

static const hx_abaqus_part *find_part(const hx_abaqus_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_part; i++)
        if (strcasecmp(r->part[i].name, name) == 0) return &r->part[i];
    return NULL;
}

/* Skips the lines up to *END PART, in the same file. */
static int pass_part(hx_abaqus_reader *r, const char *name)
{
    const int depth = r->scan.depth;
    hx_abaqus_line kind;
    do {
        HX_TRY(hx_abaqus_scan_line(&r->scan, &kind));
        if (kind == HX_ABAQUS_END || r->scan.depth < depth)
            return HX_ABAQUS_RAISE(&r->scan, "*END PART of part '%.60s' is missing", name);
    } while (kind != HX_ABAQUS_KEYWORD || strcmp(r->scan.keyword, "ENDPART") != 0);
    if (r->scan.depth == depth) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan, "*END PART is in another file than *PART");
}

int hx_abaqus_begin_part(hx_abaqus_reader *r)
{
    const char *const given = hx_abaqus_parameter(&r->scan, "NAME");
    const char *const name = given ? given : "";
    if (r->in_part || r->in_assembly)
        return HX_ABAQUS_RAISE(&r->scan, "*PART within a part or the assembly");
    if (find_part(r, name))
        return HX_ABAQUS_RAISE(&r->scan, "a second part with the name '%.60s'", name);
    HX_TRY(hx_resize(&r->part, r->n_part, r->n_part + 1, sizeof *r->part, "parts"));
    hx_abaqus_part *const part = &r->part[r->n_part++];
    HX_TRY(hx_strdup(&part->name, name));
    HX_TRY(hx_abaqus_scan_mark(&r->scan, &part->begin));
    return pass_part(r, part->name);
}

/* Reads the marked lines, after a keyword has been read and before it is handled. */
static int read_part(hx_abaqus_reader *r, const hx_abaqus_part *part)
{
    const hx_abaqus_scan saved = r->scan;
    const int depth = r->scan.depth + 1;
    hx_abaqus_line kind;
    int rc;
    r->scan.keyword_text = NULL;
    r->scan.keyword_capacity = 0;
    r->in_part = 1;
    HX_TRY_FAIL(hx_abaqus_scan_enter(&r->scan, &part->begin));
    for (;;) {
        HX_TRY_FAIL(hx_abaqus_scan_line(&r->scan, &kind));
        if (kind == HX_ABAQUS_END || r->scan.depth < depth) {
            rc = HX_RAISE(HX_EINPUT, "%s: the file changed while it was read", r->import.path);
            goto fail;
        }
        if (kind == HX_ABAQUS_KEYWORD && strcmp(r->scan.keyword, "ENDPART") == 0) break;
        HX_TRY_FAIL(hx_abaqus_take_line(r, kind));
    }
    HX_TRY_FAIL(hx_abaqus_take_line(r, HX_ABAQUS_END));
    hx_abaqus_scan_leave(&r->scan);
fail:
    free(r->scan.keyword_text);
    r->scan.keyword_text = saved.keyword_text;
    r->scan.keyword_capacity = saved.keyword_capacity;
    r->scan.keyword = saved.keyword;
    r->scan.keyword_line = saved.keyword_line;
    memcpy(r->scan.keyword_shown, saved.keyword_shown, sizeof saved.keyword_shown);
    r->scan.n_parameter = saved.n_parameter;
    memcpy(r->scan.parameter, saved.parameter, sizeof saved.parameter);
    r->in_part = 0;
    return rc;
}

/* --- instances --- */

int hx_abaqus_begin_assembly(hx_abaqus_reader *r)
{
    if (r->in_part || r->in_assembly)
        return HX_ABAQUS_RAISE(&r->scan, "*ASSEMBLY within a part or the assembly");
    r->in_assembly = 1;
    return HX_OK;
}

int hx_abaqus_end_assembly(hx_abaqus_reader *r)
{
    r->in_assembly = 0;
    return HX_OK;
}

/* Rotates the current placement by an angle about an axis from a to b. */
static int turn(hx_abaqus_reader *r, const double a[3], const double b[3], double degrees)
{
    hx_abaqus_instance *const to = &r->instance[r->scope];
    const double angle = degrees * acos(-1.0) / 180.0, c = cos(angle), s = sin(angle);
    double axis[3], turned[3][3], shift[3];
    for (int i = 0; i < 3; i++) axis[i] = b[i] - a[i];
    const double length = hx_norm3(axis);
    if (!(length > 0.0))
        return HX_ABAQUS_RAISE(&r->scan,
                               "an axis of rotation of length 0: both points are (%g, %g, %g)",
                               a[0], a[1], a[2]);
    for (int i = 0; i < 3; i++) axis[i] /= length;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j; /* the third axis, different from i and j */
            const double sign = (j + 3 - i) % 3 == 1 ? -1.0 : 1.0;
            turned[i][j] = axis[i] * axis[j] * (1.0 - c) + (i == j ? c : sign * s * axis[k]);
        }
    for (int i = 0; i < 3; i++) {
        shift[i] = a[i];
        for (int j = 0; j < 3; j++) shift[i] += turned[i][j] * (to->shift[j] - a[j]);
    }
    memcpy(to->matrix, turned, sizeof turned);
    memcpy(to->shift, shift, sizeof shift);
    return HX_OK;
}

/* First line: translation. Second line: two points on an axis, and an angle in degrees. */
static int place_line(hx_abaqus_reader *r, char *line)
{
    const int n = r->n_place_line == 0 ? 3 : 7;
    double value[7] = {0.0};
    char *field;
    hx_abaqus_instance *const to = &r->instance[r->scope];
    if (r->n_place_line++ > 1)
        return HX_ABAQUS_RAISE(
            &r->scan,
            "a third data line of *INSTANCE; it has at most two, translation and rotation");
    for (int i = 0; i < n && hx_abaqus_field(&line, &field); i++)
        if (*field)
            HX_TRY(hx_abaqus_real(&r->scan, field,
                                  n == 3 ? "a translation" : "an axis and an angle", &value[i]));
    to->is_moved = 1;
    if (n == 7) return turn(r, value, value + 3, value[6]);
    memcpy(to->shift, value, sizeof to->shift);
    return HX_OK;
}

void hx_abaqus_place_node(const hx_abaqus_reader *r, double x[3])
{
    if (r->scope < 0 || !r->instance[r->scope].is_moved) return;
    const hx_abaqus_instance *const to = &r->instance[r->scope];
    const double from[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; i++)
        x[i] = to->shift[i] + to->matrix[i][0] * from[0] + to->matrix[i][1] * from[1] +
               to->matrix[i][2] * from[2];
}

static int add_instance(hx_abaqus_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_instance; i++)
        if (strcasecmp(r->instance[i].name, name) == 0)
            return HX_ABAQUS_RAISE(&r->scan, "a second instance with the name '%.60s'", name);
    if (r->n_instance == HX_ABAQUS_INSTANCES)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d instances", HX_ABAQUS_INSTANCES);
    HX_TRY(hx_resize(&r->instance, r->n_instance, r->n_instance + 1, sizeof *r->instance,
                     "instances"));
    hx_abaqus_instance *const to = &r->instance[r->n_instance++];
    for (int i = 0; i < 3; i++) to->matrix[i][i] = 1.0;
    to->line = r->scan.keyword_line;
    return hx_strdup(&to->name, name);
}

int hx_abaqus_begin_instance(hx_abaqus_reader *r)
{
    const char *const name = hx_abaqus_parameter(&r->scan, "NAME");
    const char *const part = hx_abaqus_parameter(&r->scan, "PART");
    if (r->in_part || r->scope >= 0)
        return HX_ABAQUS_RAISE(&r->scan, "*INSTANCE within a part or an instance");
    if (hx_abaqus_parameter(&r->scan, "LIBRARY") || hx_abaqus_parameter(&r->scan, "INSTANCE"))
        return HX_ABAQUS_RAISE(&r->scan, "*INSTANCE from another job's results is not read");
    r->placing = part ? find_part(r, part) : NULL;
    if (part && !r->placing)
        return HX_ABAQUS_RAISE(
            &r->scan, "*INSTANCE of part '%.60s', which is not defined above this line", part);
    HX_TRY(add_instance(r, name ? name : ""));
    r->scope = (int)r->n_instance - 1;
    r->n_place_line = 0;
    r->data = place_line;
    return HX_OK;
}

int hx_abaqus_before_keyword(hx_abaqus_reader *r)
{
    const hx_abaqus_part *const part = r->placing;
    r->placing = NULL;
    return part ? read_part(r, part) : HX_OK;
}

int hx_abaqus_end_instance(hx_abaqus_reader *r)
{
    r->scope = -1;
    return HX_OK;
}

int hx_abaqus_finish_parts(hx_abaqus_reader *r)
{
    if (r->in_part) return HX_OK;
    if (r->scope >= 0)
        return HX_IMPORT_RAISE(&r->import, r->instance[r->scope].line,
                               "*END INSTANCE of instance '%.60s' is missing",
                               r->instance[r->scope].name);
    if (r->n_part == 0 || r->n_instance > 0) return HX_OK;
    if (r->n_part > 1)
        return HX_IMPORT_RAISE(&r->import, 0, "%zu %s but no *INSTANCE that places one", r->n_part,
                               hx_noun(r->n_part, "part", "parts"));
    return read_part(r, &r->part[0]); /* a single part */
}

/* --- numbers --- */

int hx_abaqus_own_number(hx_abaqus_reader *r, int is_elem, int64_t *number)
{
    const int is_own = r->scope < 0 && (r->in_assembly || r->n_instance > 0);
    /* of a file without instances, or of the first instance */
    if (r->scope <= 0 && !is_own) return HX_OK;
    if (*number < 0 || *number >= HX_ABAQUS_BASE)
        return HX_ABAQUS_RAISE(&r->scan, "a number of %lld in an assembly is too large",
                               (long long)*number);
    if (is_own && is_elem) r->has_own_elem = 1;
    if (is_own && !is_elem) r->has_own_node = 1;
    *number += is_own ? HX_ABAQUS_ASSEMBLY : r->scope * HX_ABAQUS_BASE;
    return HX_OK;
}

/* A plain number outside of instances belongs to the assembly, or to the only instance. */
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

static int64_t power_above(int64_t n)
{
    int64_t power = 10;
    while (power <= n) power *= 10;
    return power;
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
    r->stride = power_above(largest_number(r));
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
        to->is_number = 1; /* of a file without instances, of any length */
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
        HX_TRY(hx_import_conditions_set_support_fault(&r->conditions, text, path, line, set->name,
                                                      taken));
    if (!set->is_loaded) return HX_OK;
    return hx_import_conditions_set_load_fault(&r->conditions, text, path, line, set->name, taken);
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
    uint8_t *drops = NULL; /* per set: 1 if its name loses the instance */
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

void hx_abaqus_free_parts(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_part; i++) {
        free(r->part[i].name);
        hx_abaqus_mark_free(&r->part[i].begin);
    }
    for (size_t i = 0; i < r->n_instance; i++) free(r->instance[i].name);
    free(r->part);
    free(r->instance);
}
