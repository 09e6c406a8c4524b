/* Fills hx_config from the tree, key by key through the schema. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/json.h"
#include "../text/log.h"
#include "config.h"
#include "config_check.h"
#include "config_schema.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/old_names.h"
#include "core/base/vector_unit.h"
#include "core/design/stress_limit.h"
#include "core/registry.h"

enum { PATH_SIZE = 256, MAX_WORD = 128 };

/* An argument that libconfig cannot read is taken as text. */
static const char *unread_argument(const hx_value *value)
{
    const int brackets =
        value->kind == HX_VALUE_STRING && value->raw && strchr("([{", value->raw[0]);
    return brackets
               ? " (a bracket or ; is missing, or numbers with and without a fraction are mixed "
                 "within [ ])"
               : "";
}

static int wrong_type(const hx_value *value, const hx_key *key, const char *shown)
{
    return hx_config_fault(value->origin, shown, "%s%s where %s is expected; for example %s = %s",
                           hx_value_kind_name(value->kind), unread_argument(value),
                           hx_key_type_name(key->type), hx_key_name(key),
                           key->fallback && !key->note && key->type != HX_KEY_TEXT &&
                                   key->type != HX_KEY_WORD
                               ? key->fallback
                               : hx_key_example(key));
}

static int check_number(const hx_value *value, const hx_key *key, const char *shown, double number)
{
    char text[40]; /* enough digits to show that the value differs from the limit */
    if (hx_range_holds(key->range, number)) return HX_OK;
    if (key->zero_unset && number == 0.0) return HX_OK;
    if (isfinite(number) && fabs(number) > HX_LARGEST_NUMBER)
        return hx_config_fault(
            value->origin, shown,
            "%g is too large to compute with; at most %g is allowed; other units would help",
            number, HX_LARGEST_NUMBER);
    if (!key->range) return hx_config_fault(value->origin, shown, "not a finite number");
    hx_format_double(number, text, sizeof text);
    return hx_config_fault(value->origin, shown, "%s is out of range; allowed is %s%s%s", text,
                           key->range, key->unit ? " " : "", key->unit ? key->unit : "");
}

static int check_word(const hx_value *value, const hx_key *key, const char *shown, const char *text)
{
    const char *word[MAX_WORD];
    char hint[512];
    const size_t n = hx_key_words(key, word, MAX_WORD);
    if (n == 0 || hx_key_word_place(key, text) >= 0) return HX_OK;
    return hx_config_fault(value->origin, shown, "unknown '%s'%s", text,
                           hx_name_hint(text, word, n, hint, sizeof hint));
}

/* Checks the text given for a key. If the key has words, the text must be one of them. */
static int find_text(const hx_value *value, const hx_key *key, const char *shown, const char **out)
{
    /* an argument such as output.directory=2024 is meant as text, not as a number */
    const int aggregate = value->kind == HX_VALUE_GROUP || value->kind == HX_VALUE_LIST;
    const char *text = value->kind == HX_VALUE_STRING ? value->text : aggregate ? NULL : value->raw;
    if (!text) return wrong_type(value, key, shown);
    if (text[0] == '\0' && (key->required || !key->note))
        return hx_config_fault(value->origin, shown,
                               "the text is empty; leave the key out for its default");
    *out = text;
    return check_word(value, key, shown, text);
}

static int read_word(const hx_value *value, const hx_key *key, const char *shown, int *out)
{
    const char *text = NULL;
    HX_TRY(find_text(value, key, shown, &text));
    *out = hx_key_word_place(key, text);
    return HX_OK;
}

static int read_int(const hx_value *value, const hx_key *key, const char *shown, int *out)
{
    /* an integer beyond 32 bits arrives as a floating-point number (hx_value_widen_integers) */
    if (value->kind == HX_VALUE_FLOAT && fabs(value->number) > 2147483647.0 &&
        value->number <= rint(value->number) && value->number >= rint(value->number))
        return hx_config_fault(value->origin, shown, "%.0f is too large; at most 2147483647",
                               value->number);
    if (value->kind != HX_VALUE_INT) return wrong_type(value, key, shown);
    HX_TRY(check_number(value, key, shown, value->number));
    if (value->integer < -2147483647 || value->integer > 2147483647)
        return hx_config_fault(value->origin, shown, "%lld is too large; at most 2147483647",
                               value->integer);
    *out = (int)value->integer;
    return HX_OK;
}

/* Numbers of a list into out[value->n]. */
static int read_numbers(const hx_value *value, const hx_key *key, const char *shown, double *out)
{
    for (size_t i = 0; i < value->n; i++) {
        const hx_value *element = value->child[i];
        if (element->kind != HX_VALUE_INT && element->kind != HX_VALUE_FLOAT)
            return hx_config_fault(
                element->origin, shown, "[%zu] is %s, not a number; for example %s = %s", i,
                hx_value_kind_name(element->kind), hx_key_name(key), hx_key_example(key));
        if (key->is_whole && element->kind != HX_VALUE_INT)
            return hx_config_fault(element->origin, shown,
                                   "[%zu] is not an integer; for example %s = %s", i,
                                   hx_key_name(key), hx_key_example(key));
        HX_TRY(check_number(element, key, shown, element->number));
        out[i] = element->number;
    }
    return HX_OK;
}

/* Numbers of a list, or of whole numbers one without brackets. */
static int read_list_of_numbers(const hx_value *value, const hx_key *key, const char *shown,
                                hx_config_numbers *out)
{
    const int is_one = key->is_whole && value->kind == HX_VALUE_INT;
    if (value->kind != HX_VALUE_LIST && !is_one) return wrong_type(value, key, shown);
    const size_t n = is_one ? 1 : value->n;
    HX_TRY(hx_alloc(&out->value, n, sizeof *out->value, "config numbers"));
    out->n = n;
    if (!is_one) return read_numbers(value, key, shown, out->value);
    out->value[0] = value->number;
    return check_number(value, key, shown, value->number);
}

static int add_word(hx_config_words *words, const char *text, size_t length)
{
    char *copy = NULL;
    HX_TRY(hx_alloc(&copy, length + 1, 1, "config words"));
    memcpy(copy, text, length);
    words->word[words->n++] = copy;
    return HX_OK;
}

static void free_words(hx_config_words *words)
{
    for (size_t i = 0; i < words->n; i++) free(words->word[i]);
    free(words->word);
    memset(words, 0, sizeof *words);
}

/* "a,b" -> two words, as in output.fields=density,displacement and in defaults. */
static int split_words(hx_config_words *words, const char *text)
{
    size_t n = 1;
    for (const char *c = text; *c; c++) n += *c == ',';
    HX_TRY(hx_alloc(&words->word, n, sizeof *words->word, "config words"));
    for (const char *c = text;; c++) {
        const size_t length = strcspn(c, ",");
        HX_TRY(add_word(words, c, length));
        c += length;
        if (!*c) return HX_OK;
    }
}

static int read_words(const hx_value *value, const hx_key *key, const char *shown,
                      hx_config_words *out)
{
    free_words(out);
    if (value->kind == HX_VALUE_STRING && value->raw) {
        HX_TRY(split_words(out, value->text));
    } else {
        if (value->kind != HX_VALUE_LIST) return wrong_type(value, key, shown);
        HX_TRY(hx_alloc(&out->word, value->n, sizeof *out->word, "config words"));
        for (size_t i = 0; i < value->n; i++) {
            if (value->child[i]->kind != HX_VALUE_STRING)
                return hx_config_fault(
                    value->child[i]->origin, shown,
                    "[%zu] is %s, not a text in quotes; for example %s = (\"a\", \"b\")", i,
                    hx_value_kind_name(value->child[i]->kind), hx_key_name(key));
            HX_TRY(add_word(out, value->child[i]->text, strlen(value->child[i]->text)));
        }
    }
    for (size_t i = 0; i < out->n; i++) HX_TRY(check_word(value, key, shown, out->word[i]));
    if (out->n == 0)
        return hx_config_fault(value->origin, shown, "the list is empty; leave the key out");
    return HX_OK;
}

/* Finds the index of each word among the words of the key; all words must be valid. */
static int find_places(const hx_config_words *words, const hx_key *key, hx_config_choices *out)
{
    HX_TRY(hx_alloc(&out->word, words->n, sizeof *out->word, "config words"));
    for (size_t i = 0; i < words->n; i++) out->word[i] = hx_key_word_place(key, words->word[i]);
    out->n = words->n;
    return HX_OK;
}

/* value = NULL: takes the default. */
static int read_choices(const hx_value *value, const hx_key *key, const char *shown,
                        hx_config_choices *out)
{
    hx_config_words words = {0};
    int rc = value ? read_words(value, key, shown, &words) : split_words(&words, key->fallback);
    if (rc == HX_OK) rc = find_places(&words, key, out);
    free_words(&words);
    return rc;
}

/* The place in the config of a key's value; NULL for a group that has no member of its own. */
static void *place_of(const hx_key *key, char *base)
{
    return key->offset == HX_NOWHERE ? NULL : base + key->offset;
}

static int set_default(const hx_key *key, char *base)
{
    if (key->is_expert) return HX_OK; /* the values of hx_mg_defaults are already set */
    void *at = place_of(key, base);
    const char *text = key->fallback;
    switch (key->type) {
    case HX_KEY_TEXT:
        return hx_config_set_word(at, text);
    case HX_KEY_WORD:
        *(int *)at = text ? hx_key_word_place(key, text) : -1;
        break;
    case HX_KEY_CHOICES:
        return read_choices(NULL, key, key->path, at);
    case HX_KEY_BOOL:
        *(int *)at = text && strcmp(text, "true") == 0;
        break;
    case HX_KEY_INT:
        *(int *)at = text ? (int)strtol(text, NULL, 10) : 0;
        break;
    case HX_KEY_FLOAT:
        *(double *)at = text ? strtod(text, NULL) : (double)NAN;
        break;
    case HX_KEY_VECTOR:
        for (int i = 0; i < 3; i++) ((double *)at)[i] = text ? 0.0 : (double)NAN;
        break;
    case HX_KEY_WORDS:
        return text ? split_words(at, text) : HX_OK;
    default:
        break;
    }
    return HX_OK;
}

static int read_group(const hx_value *group, const char *prefix, const char *shown, char *base);

/* The place where an entry was written; if an argument changed part of the entry, that argument. */
static const char *entry_origin(const hx_value *entry)
{
    for (size_t i = entry->n; i > 0; i--)
        if (entry->child[i - 1]->raw) return entry->child[i - 1]->origin;
    return entry->origin;
}

static int read_entries(const hx_value *value, const hx_key *key, const char *shown,
                        hx_config_list *list)
{
    if (value->kind != HX_VALUE_LIST) return wrong_type(value, key, shown);
    HX_TRY(hx_alloc(&list->entry, value->n, key->entry_size, "config entries"));
    for (size_t i = 0; i < value->n; i++) {
        char prefix[PATH_SIZE], name[PATH_SIZE + 24], place[HX_CONFIG_PLACE];
        char *entry = (char *)list->entry + i * key->entry_size;
        snprintf(prefix, sizeof prefix, "%s[]", key->path);
        snprintf(name, sizeof name, "%s[%zu]", shown, i);
        if (value->child[i]->kind != HX_VALUE_GROUP)
            return hx_config_fault(
                value->child[i]->origin, name, "%s%s where a group { ... } is expected",
                hx_value_kind_name(value->child[i]->kind), unread_argument(value->child[i]));
        list->n = i + 1;
        hx_fit(place, sizeof place, "%s: %s", entry_origin(value->child[i]), name);
        HX_TRY(hx_strdup((char **)(void *)entry, place));
        HX_TRY(read_group(value->child[i], prefix, name, entry));
    }
    return HX_OK;
}

static int read_value(const hx_value *value, const hx_key *key, const char *shown, char *base)
{
    void *at = place_of(key, base);
    const char *text = NULL;
    switch (key->type) {
    case HX_KEY_TEXT:
        HX_TRY(find_text(value, key, shown, &text));
        return hx_config_set_word(at, text);
    case HX_KEY_WORD:
        return read_word(value, key, shown, at);
    case HX_KEY_CHOICES:
        return read_choices(value, key, shown, at);
    case HX_KEY_BOOL:
        if (value->kind != HX_VALUE_BOOL) return wrong_type(value, key, shown);
        *(int *)at = value->integer != 0;
        return HX_OK;
    case HX_KEY_INT:
        return read_int(value, key, shown, at);
    case HX_KEY_FLOAT:
        if (key->takes_auto && value->kind == HX_VALUE_STRING && hx_config_is_auto(value->text))
            return HX_OK; /* NaN, as if the key were not given */
        if (value->kind != HX_VALUE_INT && value->kind != HX_VALUE_FLOAT)
            return wrong_type(value, key, shown);
        HX_TRY(check_number(value, key, shown, value->number));
        *(double *)at = value->number;
        return HX_OK;
    case HX_KEY_VECTOR:
        if (value->kind != HX_VALUE_LIST) return wrong_type(value, key, shown);
        if (value->n != 3)
            return hx_config_fault(value->origin, shown,
                                   "%zu %s where three are expected; for example %s = %s", value->n,
                                   hx_noun(value->n, "number", "numbers"), hx_key_name(key),
                                   hx_key_example(key));
        return read_numbers(value, key, shown, at);
    case HX_KEY_NUMBERS:
        return read_list_of_numbers(value, key, shown, at);
    case HX_KEY_WORDS:
        return read_words(value, key, shown, at);
    case HX_KEY_LIST:
        return read_entries(value, key, shown, at);
    case HX_KEY_GROUP: {
        if (key->short_form && value->kind != HX_VALUE_GROUP) {
            hx_key word = *hx_key_find(key->path, key->short_form);
            word.path = key->path; /* in messages */
            HX_TRY(read_group(NULL, key->path, shown, base));
            return read_value(value, &word, shown, base);
        }
        if (value->kind != HX_VALUE_GROUP) return wrong_type(value, key, shown);
        if (at) *(int *)at = 1;
        return read_group(value, key->path, shown, base);
    }
    }
    return HX_OK;
}

static int check_unknown(const hx_value *group, const char *prefix, const char *shown)
{
    for (size_t i = 0; i < group->n; i++) {
        const char *name = group->child[i]->name, *valid[MAX_WORD];
        char hint[1024], key[PATH_SIZE], other[PATH_SIZE];
        size_t n = 0;
        if (hx_key_find(prefix, name)) continue;
        if (strcmp(prefix, "materials[]") == 0 && strcmp(name, "nu") == 0)
            return hx_config_fault(group->child[i]->origin, shown,
                                   "nu: all materials have the Poisson's ratio of material.nu; "
                                   "leave nu out");
        for (size_t k = 0; k < hx_n_key && n < MAX_WORD; k++)
            if (hx_key_is_member(&hx_keys[k], prefix)) valid[n++] = hx_key_name(&hx_keys[k]);
        snprintf(key, sizeof key, "%s%s%s", shown, shown[0] ? "." : "", name);
        /* Adds "; 'optimization.iterations' is one" if another group has a key of that name. */
        other[0] = '\0';
        for (size_t k = 0; k < hx_n_key && !other[0]; k++)
            if (strcmp(hx_key_name(&hx_keys[k]), name) == 0)
                snprintf(other, sizeof other, "; '%s' is one", hx_keys[k].path);
        return hx_config_fault(group->child[i]->origin, key, "unknown key%s%s", other,
                               hx_name_hint(name, valid, n, hint, sizeof hint));
    }
    return HX_OK;
}

/* The text of an environment variable; NULL: it is not set. Names of earlier versions are also
 * accepted, with a warning. *name: the name under which it is set. */
static const char *variable_text(const char *now, const char **name)
{
    const char *text = getenv(now);
    *name = now;
    for (size_t i = 0; !text || !text[0]; i++) {
        const char *const old = hx_name_before(HX_OLD_VARIABLE, now, i);
        if (!old) return NULL;
        text = getenv(old);
        *name = old;
    }
    if (*name != now) hx_log_warning("environment variable %s is now called %s", *name, now);
    return text;
}

/* Reads the environment variable that replaces a key; *taken = 1 if it is set and the key is not
 * given. The variable is always read, so that a wrong word is refused. */
static int read_variable(const hx_value *value, const hx_key *key, const char *shown, char *base,
                         int *taken)
{
    char origin[512];
    hx_value *said = NULL;
    int *const at = (int *)(void *)(base + key->offset);
    const char *name, *const text = variable_text(key->variable, &name);
    *taken = 0;
    if (!text) return HX_OK;
    snprintf(origin, sizeof origin, "environment variable %s='%.400s%s'", name, text,
             strlen(text) > 400 ? " ..." : "");
    HX_TRY(hx_value_of_argument(&said, text, origin));
    int rc = read_value(said, key, shown, base);
    hx_value_free(said);
    if (rc < 0) return rc;
    *taken = 1;
    if (!value) return HX_OK;
    const int variable = *at;
    rc = read_value(value, key, shown, base);
    if (rc < 0 || *at == variable) return rc;
    hx_log_warning("%s is ignored: %s sets %s", origin, value->origin, shown);
    return HX_OK;
}

int hx_config_check_variables(void)
{
    hx_config scratch; /* only receives numbers and words of the schema, which need not be freed */
    int taken;
    memset(&scratch, 0, sizeof scratch);
    for (size_t i = 0; i < hx_n_key; i++)
        if (hx_keys[i].variable)
            HX_TRY(read_variable(NULL, &hx_keys[i], hx_keys[i].path, (char *)&scratch, &taken));
    return HX_OK;
}

/* group = NULL: the group is missing, and all its keys take their defaults. */
static int read_group(const hx_value *group, const char *prefix, const char *shown, char *base)
{
    if (group) HX_TRY(check_unknown(group, prefix, shown));
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_key *key = &hx_keys[i];
        char name[PATH_SIZE];
        if (!hx_key_is_member(key, prefix)) continue;
        const hx_value *value = group ? hx_value_member(group, hx_key_name(key)) : NULL;
        snprintf(name, sizeof name, "%s%s%s", shown, shown[0] ? "." : "", hx_key_name(key));
        if (key->type == HX_KEY_GROUP && !value) {
            HX_TRY(read_group(NULL, key->path, name, base));
            continue;
        }
        int has_variable = 0;
        if (key->variable) HX_TRY(read_variable(value, key, name, base, &has_variable));
        if (has_variable) continue;
        if (value) {
            HX_TRY(read_value(value, key, name, base));
        } else {
            if (group && key->required)
                return hx_config_fault(group->origin, name,
                                       "required key is missing; for example %s = %s",
                                       hx_key_name(key), hx_key_example(key));
            HX_TRY(set_default(key, base));
        }
    }
    return HX_OK;
}

/* Takes size 1 of a generator if neither a size nor a count is given. */
static int resolve_size(hx_config *cfg)
{
    if (!cfg->mesh.generator || cfg->mesh.size > 0) return HX_OK;
    if (cfg->mesh.nx > 0 || cfg->mesh.ny > 0 || cfg->mesh.nz > 0) return HX_OK;
    if (hx_config_given(cfg, "mesh.size"))
        return hx_config_blame(cfg, "mesh.size",
                               HX_RAISE(HX_EINPUT, "0 requires nx, ny or nz, and none of them is "
                                                   "given; give one, or a size from 1 to 5"));
    cfg->mesh.size = 1;
    return HX_OK;
}

/* Copies the rules for thin directions, if any are given. */
static int take_thin(hx_config *cfg)
{
    const char *const key = "solver.multigrid.coarsening.thin";
    const hx_config_thin *const thin = cfg->solver.thin.entry;
    hx_mg_coarsening_params *const to = &cfg->solver.multigrid.coarsening;
    const size_t n = cfg->solver.thin.n;
    if (!hx_config_given(cfg, key)) return HX_OK;
    if (n == 0 || n > HX_MG_THIN_RULES)
        return hx_config_blame(cfg, key,
                               HX_RAISE(HX_EINPUT,
                                        "%zu %s; 1 to %d are allowed; leave the key out for the "
                                        "built-in rules",
                                        n, hx_noun(n, "rule", "rules"), HX_MG_THIN_RULES));
    to->n_thin = (int)n;
    for (size_t i = 0; i < n; i++) to->thin[i] = thin[i].rule;
    return HX_OK;
}

/* Checks solver.multigrid beyond the ranges of single keys. */
static int resolve_multigrid(hx_config *cfg)
{
    const char *member;
    char key[PATH_SIZE];
    HX_TRY(take_thin(cfg));
    const int rc = hx_mg_params_check(&cfg->solver.multigrid, &member);
    if (rc == HX_OK) return HX_OK;
    snprintf(key, sizeof key, "solver.multigrid.%s", member);
    return hx_config_blame(cfg, key, rc);
}

/* Sets the filter if the config states none: one with exact derivatives if they are needed. */
static int choose_filter(hx_config *cfg)
{
    char **const kind = &cfg->optimization.filter.kind;
    if (*kind) return HX_OK;
    return hx_config_set_word(kind, hx_config_needs_derivatives(cfg) ? "density" : "sensitivity");
}

/* A projection under stress limits, unless the config states it. */
static void choose_projection(hx_config *cfg)
{
    static const double factor = 1.29, erosion = 0.025;
    if (!hx_config_given(cfg, "optimization.projection.beta_max"))
        cfg->optimization.projection.beta_max =
            fmax(hx_config_usual_beta_max(cfg), cfg->optimization.projection.beta);
    if (!hx_config_given(cfg, "optimization.projection.factor"))
        cfg->optimization.projection.factor = factor;
    if (isnan(cfg->optimization.minimum_length) && !hx_config_sweep(cfg) &&
        !hx_config_given(cfg, "optimization.projection.erosion"))
        cfg->optimization.projection.erosion = erosion;
}

/* The exponent and its continuation, unless the config states them. */
static void choose_penalty(hx_config *cfg)
{
    const double usual = hx_config_usual_penalty(cfg);
    if (usual > hx_stress_penalty.value) choose_projection(cfg);
    if (hx_config_given(cfg, "optimization.penalty")) return;
    cfg->optimization.penalty = usual;
    if (cfg->optimization.continuation.given || !(usual > hx_stress_penalty.value)) return;
    cfg->optimization.continuation.given = 1;
    cfg->optimization.continuation.penalty_start = hx_stress_penalty.value;
    cfg->optimization.continuation.step = hx_stress_penalty.step;
    cfg->optimization.continuation.every = hx_stress_penalty.every;
}

void hx_config_solve_by_residual(hx_config *cfg)
{
    if (cfg->solver.criterion != HX_PCG_COMPLIANCE) return;
    cfg->solver.criterion = HX_PCG_RELATIVE;
    cfg->solver.tolerance = hx_pcg_tolerance(HX_PCG_RELATIVE);
}

int hx_config_from_tree(hx_config *cfg, hx_value *tree, const char *path)
{
    int rc;
    memset(cfg, 0, sizeof *cfg);
    cfg->tree = tree;
    cfg->solver.multigrid = hx_mg_defaults;
    HX_TRY_FAIL(hx_strdup(&cfg->path, path));
    /* Reads values from cfg->tree, fills in defaults, and checks them. */
    HX_TRY_FAIL(read_group(cfg->tree, "", "", (char *)cfg));
    HX_TRY_FAIL(hx_config_check_mesh(cfg));
    HX_TRY_FAIL(resolve_size(cfg));
    /* The default of the tolerance depends on the criterion. */
    if (!hx_config_given(cfg, "solver.tolerance"))
        cfg->solver.tolerance = hx_pcg_tolerance(cfg->solver.criterion);
    /* The vector unit is selected for the whole process. If one is already in use, the config
     * must not change it, because results depend on it. */
    const char *const name = hx_config_word("solver.vector_unit", cfg->solver.vector_unit);
    HX_TRY_FAIL(hx_config_blame(cfg, "solver.vector_unit", hx_vector_unit_fix(name)));
    HX_TRY_FAIL(resolve_multigrid(cfg));
    HX_TRY_FAIL(hx_config_choose_lengths(cfg));
    /* With a projection, densities oscillate if the move limit is large. */
    if (!hx_config_given(cfg, "optimization.move") && cfg->optimization.projection.given)
        cfg->optimization.move = 0.1;
    HX_TRY_FAIL(choose_filter(cfg));
    choose_penalty(cfg);
    HX_TRY_FAIL(hx_config_check(cfg));
    HX_TRY_FAIL(hx_config_check_design(cfg));
    HX_TRY_FAIL(hx_config_blame(cfg, "units",
                                hx_config_is_heat(cfg)
                                    ? hx_units_parse_heat(&cfg->units, cfg->units_text)
                                    : hx_units_parse(&cfg->units, cfg->units_text)));
    return HX_OK;
fail:
    hx_config_free(cfg);
    return rc;
}

/* Makes a word into the group with only the member for which it stands. */
static int widen_word(hx_value *value, const hx_key *group)
{
    hx_value *member = NULL;
    HX_TRY(hx_value_create(&member, HX_VALUE_STRING, group->short_form, value->origin));
    member->text = value->text;
    member->raw = value->raw;
    value->text = value->raw = NULL;
    value->kind = HX_VALUE_GROUP;
    return hx_value_append(value, member);
}

int hx_config_override(hx_value *tree, const char *argument)
{
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_key *const key = &hx_keys[i];
        const size_t n = strlen(key->path);
        if (!key->short_form || strncmp(argument, key->path, n) != 0 || argument[n] != '.')
            continue;
        char path[PATH_SIZE];
        const char *const name = hx_key_name(key);
        snprintf(path, sizeof path, "%.*s", (int)(name > key->path ? name - key->path - 1 : 0),
                 key->path);
        const hx_value *const parent = hx_value_find(tree, path);
        hx_value *const value = parent ? hx_value_member(parent, name) : NULL;
        if (value && value->kind == HX_VALUE_STRING) HX_TRY(widen_word(value, key));
    }
    return hx_value_override(tree, argument);
}

int hx_config_read(hx_config *cfg, const char *path, size_t n_override, const char *const *override)
{
    hx_value *tree = NULL;
    memset(cfg, 0, sizeof *cfg);
    HX_TRY(hx_value_read_file(&tree, path));
    for (size_t i = 0; i < n_override; i++) {
        const int rc = hx_config_override(tree, override[i]);
        if (rc == HX_OK) continue;
        hx_value_free(tree);
        return rc;
    }
    return hx_config_from_tree(cfg, tree, path);
}

static void free_members(const char *prefix, char *base)
{
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_key *key = &hx_keys[i];
        if (!hx_key_is_member(key, prefix)) continue;
        if (key->type == HX_KEY_GROUP) {
            free_members(key->path, base);
        } else if (key->type == HX_KEY_TEXT) {
            free(*(char **)(void *)(base + key->offset));
        } else if (key->type == HX_KEY_CHOICES) {
            free(((hx_config_choices *)(void *)(base + key->offset))->word);
        } else if (key->type == HX_KEY_WORDS) {
            free_words((hx_config_words *)(void *)(base + key->offset));
        } else if (key->type == HX_KEY_NUMBERS) {
            free(((hx_config_numbers *)(void *)(base + key->offset))->value);
        } else if (key->type == HX_KEY_LIST) {
            hx_config_list *list = (hx_config_list *)(void *)(base + key->offset);
            char entry_prefix[PATH_SIZE];
            snprintf(entry_prefix, sizeof entry_prefix, "%s[]", key->path);
            for (size_t k = 0; k < list->n; k++) {
                char *entry = (char *)list->entry + k * key->entry_size;
                free(*(char **)(void *)entry);
                free_members(entry_prefix, entry);
            }
            free(list->entry);
        }
    }
}

void hx_config_free(hx_config *cfg)
{
    free_members("", (char *)cfg);
    hx_value_free(cfg->tree);
    free(cfg->path);
    memset(cfg, 0, sizeof *cfg);
}
