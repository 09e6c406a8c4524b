#include "set_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "load_faces.h"
#include "mesh_internal.h"
#include "region.h"

static const char lead[] = "hextop: set ";
static const char *const word[] = {[HX_SET_AND] = "and", [HX_SET_OR] = "or", [HX_SET_NOT] = "not"};

static int append_part(hx_set *set, const char *part)
{
    HX_TRY(
        hx_resize(&set->part, set->n_part, set->n_part + 1, sizeof *set->part, "parts of a set"));
    HX_TRY(hx_strdup(&set->part[set->n_part], part));
    set->n_part++;
    return HX_OK;
}

int hx_set_rules_add(hx_set_rules *rules, const char *name, hx_set_rule rule, const char *part,
                     int is_listed)
{
    const hx_stated_rule *const last = rules->n > 0 ? &rules->rule[rules->n - 1] : NULL;
    if (!last || strcmp(last->set.name, name) != 0 || last->set.rule != rule) {
        HX_TRY(hx_grow(&rules->rule, rules->n, &rules->capacity, sizeof *rules->rule,
                       "rules of sets"));
        hx_stated_rule *const made = &rules->rule[rules->n];
        memset(made, 0, sizeof *made);
        HX_TRY(hx_strdup(&made->set.name, name));
        made->set.rule = rule;
        made->is_listed = is_listed;
        rules->n++;
    }
    return append_part(&rules->rule[rules->n - 1].set, part);
}

static void shorten_name(char *text, const char *name, size_t n)
{
    if (strcmp(text, name) == 0) memmove(text, text + n, strlen(text + n) + 1);
}

void hx_set_rules_shorten(hx_set_rules *rules, const char *name, size_t n)
{
    for (size_t i = 0; i < rules->n; i++) {
        hx_set *const set = &rules->rule[i].set;
        shorten_name(set->name, name, n);
        for (size_t p = 0; p < set->n_part; p++) shorten_name(set->part[p], name, n);
    }
}

void hx_set_rules_free(hx_set_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) hx_set_free(&rules->rule[i].set);
    free(rules->rule);
    memset(rules, 0, sizeof *rules);
}

/* --- as text --- */

/* Reads a quoted name that starts at *at, and moves *at behind it. Returns 0 if there is none. */
static int take_name(const char **at, char *name)
{
    const char *from = *at;
    if (*from++ != '"') return 0;
    while (*from && *from != '"') {
        if (*from == '\\' && from[1]) from++;
        *name++ = *from++;
    }
    *name = '\0';
    *at = from + 1;
    return *from == '"';
}

/* Reads a rule's word and the blank after it. Returns HX_SET_PLAIN if there is none. */
static hx_set_rule take_word(const char **at)
{
    for (size_t i = HX_SET_AND; i <= HX_SET_NOT; i++) {
        const size_t n = strlen(word[i]);
        if (strncmp(*at, word[i], n) != 0 || (*at)[n] != ' ') continue;
        *at += n + 1;
        return (hx_set_rule)i;
    }
    return HX_SET_PLAIN;
}

int hx_set_rules_read(hx_set_rules *rules, const char *text, int *is_rule)
{
    char *name = NULL, *part = NULL;
    const char *at = text + strlen(lead);
    hx_set_rule rule = HX_SET_PLAIN;
    int rc = HX_OK;
    *is_rule = 0;
    if (strncmp(text, lead, strlen(lead)) != 0) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&name, strlen(text) + 1, 1, "the name of a set"));
    HX_TRY_FAIL(hx_alloc(&part, strlen(text) + 1, 1, "the name of a set"));
    if (!take_name(&at, name) || strncmp(at, ", ", 2) != 0) goto fail;
    at += 2;
    rule = take_word(&at);
    if (rule == HX_SET_PLAIN || !take_name(&at, part) || at[strspn(at, " \t\r")] != '\0') goto fail;
    rc = hx_set_rules_add(rules, name, rule, part, 1);
    *is_rule = rc == HX_OK;
fail:
    free(name);
    free(part);
    return rc;
}

static char *put_name(char *to, const char *name)
{
    *to++ = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    *to++ = '"';
    *to = '\0';
    return to;
}

/* Index of the set that is part p of the set; mesh->n_set if the mesh has no set of that name. */
static size_t find_part(const hx_mesh *mesh, const hx_set *set, size_t p)
{
    size_t k = 0;
    while (k < mesh->n_set && strcmp(mesh->set[k].name, set->part[p]) != 0) k++;
    return k;
}

static int has_all_parts(const hx_mesh *mesh, const hx_set *set)
{
    for (size_t p = 0; p < set->n_part; p++) {
        const size_t k = find_part(mesh, set, p);
        if (k == mesh->n_set || strcmp(mesh->set[k].name, set->name) == 0) return 0;
    }
    return set->n_part > 0;
}

/* Upper bound of the bytes of a set's lines; 0 if no lines are written for it. */
static size_t most_bytes(const hx_mesh *mesh, char *const *name, size_t i, size_t n_before)
{
    const hx_set *const set = &mesh->set[i];
    size_t n = 0;
    if (set->rule == HX_SET_PLAIN || !has_all_parts(mesh, set)) return 0;
    for (size_t p = 0; p < set->n_part; p++)
        n += n_before + sizeof lead + 16 +
             2 * (strlen(name[i]) + strlen(name[find_part(mesh, set, p)]));
    return n;
}

static char *put_lines(char *to, const hx_mesh *mesh, char *const *name, size_t i,
                       const char *before)
{
    const hx_set *const set = &mesh->set[i];
    for (size_t p = 0; p < set->n_part; p++) {
        to += sprintf(to, "%s%s", before, lead);
        to = put_name(to, name[i]);
        to += sprintf(to, ", %s ", word[set->rule]);
        to = put_name(to, name[find_part(mesh, set, p)]);
        *to++ = '\n';
    }
    *to = '\0';
    return to;
}

int hx_set_rules_text(const hx_mesh *mesh, char *const *name, const char *before, char **text)
{
    const size_t n_before = strlen(before);
    size_t n = 0;
    *text = NULL;
    for (size_t i = 0; i < mesh->n_set; i++) n += most_bytes(mesh, name, i, n_before);
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc(text, n + 1, 1, "the rules of sets"));
    char *to = *text;
    for (size_t i = 0; i < mesh->n_set; i++)
        if (most_bytes(mesh, name, i, n_before) > 0) to = put_lines(to, mesh, name, i, before);
    return HX_OK;
}

/* --- applied --- */

static hx_set *find_set(hx_mesh *mesh, const char *name)
{
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, name) == 0) return &mesh->set[i];
    return NULL;
}

static int resolve_name(const hx_mesh *mesh, char **name, hx_set_use use)
{
    char *text = NULL;
    const char *const meant = hx_mesh_name_for(mesh, *name, use);
    if (strcmp(meant, *name) == 0) return HX_OK;
    HX_TRY(hx_strdup(&text, meant));
    free(*name);
    *name = text;
    return HX_OK;
}

/* A union in a file's own format is made of node sets. If sets of several kinds share these names,
 * the union is still a node set, but its parts are the surfaces of these names. */
static int resolve_names(const hx_mesh *mesh, hx_stated_rule *stated)
{
    hx_set *const rule = &stated->set;
    if (stated->is_listed) return HX_OK;
    HX_TRY(resolve_name(mesh, &rule->name, HX_USE_NODES));
    for (size_t p = 0; p < rule->n_part; p++)
        HX_TRY(resolve_name(mesh, &rule->part[p], HX_USE_FACES));
    return HX_OK;
}

/* Returns 1 if a part has its own faces or is a combined set. */
static int has_faces(const hx_mesh *mesh, const hx_set *rule)
{
    for (size_t i = 0; i < rule->n_part; i++) {
        const hx_set *const part = hx_mesh_find_set(mesh, rule->part[i]);
        if (part && (part->n_face > 0 || part->rule != HX_SET_PLAIN)) return 1;
    }
    return 0;
}

/* *listed := the combined set as readers get it from its lists: a plain set that also contains the
 * nodes of its elements and stated faces. */
static int list_plain_nodes(const hx_mesh *mesh, const hx_set *made, hx_set *listed)
{
    uint8_t *flag = NULL;
    *listed = *made;
    listed->rule = HX_SET_PLAIN;
    listed->n_face = hx_set_stated_faces(mesh, made);
    listed->node = NULL;
    HX_TRY(
        hx_alloc_raw(&listed->node, (size_t)made->n_node, sizeof *listed->node, "nodes of a set"));
    if (made->n_node > 0)
        memcpy(listed->node, made->node, (size_t)made->n_node * sizeof *made->node);
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_node, 1, "nodes of a set"));
    const int rc = hx_set_add_member_nodes(mesh, listed, flag);
    free(flag);
    return rc;
}

/* *same := 1 if the set in the file (NULL: there is none) equals the set made by the rule. */
static int compare_sets(const hx_mesh *mesh, const hx_set *set, const hx_set *made, int is_listed,
                        int *same)
{
    static const hx_set empty;
    hx_set listed = {0};
    int rc;
    if (!set) set = &empty;
    HX_TRY_FAIL(list_plain_nodes(mesh, made, &listed));
    const size_t n_node = (size_t)set->n_node, n_face = (size_t)set->n_face;
    /* a union in the file's own format lists only nodes */
    const int are_faces = set->n_face == listed.n_face || (!is_listed && n_face == 0);
    *same = set->n_node == listed.n_node && are_faces;
    if (*same && n_node > 0) *same = memcmp(set->node, listed.node, n_node * sizeof(int32_t)) == 0;
    if (*same && n_face > 0) *same = memcmp(set->face, listed.face, n_face * sizeof(int64_t)) == 0;
fail:
    free(listed.node);
    return rc;
}

/* Replaces the set of that name by the combined set, or adds the combined set. */
static int replace_set(hx_mesh *mesh, const char *name, hx_set *made)
{
    hx_set *set = find_set(mesh, name);
    if (!set) HX_TRY(hx_mesh_append_set(mesh, name, &set));
    made->name = set->name;
    set->name = NULL;
    hx_set_free(set);
    *set = *made;
    memset(made, 0, sizeof *made);
    return HX_OK;
}

/* *done := 1 if the rule was applied. */
static int apply_rule(hx_mesh *mesh, const hx_stated_rule *stated, int *done)
{
    static const hx_region_kind kind[] = {
        [HX_SET_AND] = HX_REGION_AND, [HX_SET_OR] = HX_REGION_OR, [HX_SET_NOT] = HX_REGION_NOT};
    const hx_set *const rule = &stated->set;
    const hx_set *const set = find_set(mesh, rule->name);
    hx_set made = {0};
    int same = 0, rc;
    *done = 0;
    if (!stated->is_listed && !has_faces(mesh, rule)) return HX_OK;
    if ((set && set->rule != HX_SET_PLAIN) || !has_all_parts(mesh, rule)) return HX_OK;
    const hx_region region = {.kind = kind[rule->rule],
                              .n_operand = rule->n_part,
                              .operand = (const char *const *)rule->part};
    HX_TRY_FAIL(hx_region_make_set(mesh, rule->name, &region, &made));
    HX_TRY_FAIL(compare_sets(mesh, set, &made, stated->is_listed, &same));
    if (same) rc = replace_set(mesh, rule->name, &made);
    *done = same;
fail:
    hx_set_free(&made);
    return rc;
}

/* Returns 1 if one of the parts is made by a rule that has not been tried yet. */
static int is_waiting(const hx_set_rules *rules, const hx_set *rule)
{
    for (size_t i = 0; i < rules->n; i++) {
        const hx_stated_rule *const other = &rules->rule[i];
        if (other->is_tried || &other->set == rule) continue;
        for (size_t p = 0; p < rule->n_part; p++)
            if (strcmp(rule->part[p], other->set.name) == 0) return 1;
    }
    return 0;
}

int hx_mesh_apply_set_rules(hx_mesh *mesh)
{
    hx_set_rules *const rules = &mesh->rules;
    int goes_on = rules->n > 0;
    for (size_t i = 0; i < rules->n; i++) HX_TRY(resolve_names(mesh, &rules->rule[i]));
    while (goes_on) {
        goes_on = 0;
        for (size_t i = 0; i < rules->n; i++) {
            hx_stated_rule *const stated = &rules->rule[i];
            if (stated->is_tried || is_waiting(rules, &stated->set)) continue;
            HX_TRY(apply_rule(mesh, stated, &stated->is_done));
            stated->is_tried = goes_on = 1;
        }
    }
    /* remove the rules that have been applied */
    size_t n_left = 0;
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->rule[i].is_done)
            hx_set_free(&rules->rule[i].set);
        else
            rules->rule[n_left++] = rules->rule[i];
    }
    rules->n = n_left;
    return HX_OK;
}
