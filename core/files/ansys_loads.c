/* D and F of ANSYS archives: the nodes that they name, and the final value of each component. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "ansys_reader.h"
#include "mesh_import_internal.h"

/* --- which nodes --- */

/* The component of that name, without regard to case; NULL: there is none. */
static const hx_import_set *find_component(const hx_ansys_reader *r, const char *name)
{
    for (size_t i = 0; i < r->import.n_set; i++)
        if (strcasecmp(r->import.set[i]->name, name) == 0) return r->import.set[i];
    return NULL;
}

static int choose_node(hx_ansys_reader *r, int64_t node)
{
    HX_TRY(hx_grow(&r->chosen, r->n_chosen, &r->chosen_capacity, sizeof *r->chosen, "nodes"));
    r->chosen[r->n_chosen++] = node;
    return HX_OK;
}

static int choose_list(hx_ansys_reader *r, const hx_numbers *list)
{
    for (int64_t i = 0; i < list->n; i++) HX_TRY(choose_node(r, hx_numbers_get(list, i)));
    return HX_OK;
}

/* Chooses every `step`-th node of the file from `first` to `last`. */
static int choose_range(hx_ansys_reader *r, int64_t first, int64_t last, int64_t step)
{
    const hx_numbers *const all = &r->import.node_number;
    if (step < 1) step = 1;
    for (int64_t i = 0; i < all->n; i++) {
        const int64_t node = hx_numbers_get(all, i);
        if (node >= first && node <= last && (node - first) % step == 0)
            HX_TRY(choose_node(r, node));
    }
    return HX_OK;
}

/* NODE, NEND, NINC of a command, with NEND in field `end`: *known = 0 if they cannot be
 * resolved. */
static int choose_nodes(hx_ansys_reader *r, int end, int *known)
{
    char word[HX_ANSYS_WORD];
    double number, last, step;
    r->n_chosen = 0;
    *known = r->selection != HX_ANSYS_UNKNOWN;
    if (hx_ansys_is(r, 1, "ALL")) {
        if (!*known) return HX_OK;
        return choose_list(r, r->selection == HX_ANSYS_SET ? &r->selected->node
                                                           : &r->import.node_number);
    }
    hx_ansys_word(r, 1, word);
    const hx_import_set *const set = find_component(r, word);
    if (set) {
        *known = set->node.n > 0;
        return choose_list(r, &set->node);
    }
    *known = *word && hx_ansys_number(r, 1, &number) && number >= 1.0 && number < 1e15 &&
             number == floor(number) && hx_ansys_number(r, end, &last) &&
             hx_ansys_number(r, end + 1, &step);
    if (!*known) return HX_OK;
    if (last <= number || last > 1e15) return choose_node(r, (int64_t)number);
    /* the command means only the selected nodes of the range */
    *known = r->selection == HX_ANSYS_ALL;
    return *known ? choose_range(r, (int64_t)number, (int64_t)last, (int64_t)step) : HX_OK;
}

/* CMSEL,S,NAME selects the nodes of a component. */
int hx_ansys_cmsel(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    const int is_new = hx_ansys_is(r, 1, "S") || !*hx_ansys_word(r, 1, word);
    const hx_import_set *const set = find_component(r, hx_ansys_word(r, 2, word));
    r->some_elements |= !set || set->elem.n > 0;
    if (set && set->node.n == 0 && set->elem.n > 0) return HX_OK; /* selects elements */
    r->selection = is_new && set && !hx_ansys_is_nested(r) ? HX_ANSYS_SET : HX_ANSYS_UNKNOWN;
    r->selected = set;
    return HX_OK;
}

/* NSEL,ALL; other selections use criteria that this reader does not compute. */
int hx_ansys_nsel(hx_ansys_reader *r)
{
    const int is_all = hx_ansys_is(r, 1, "ALL") && !hx_ansys_is_nested(r);
    r->selection = is_all ? HX_ANSYS_ALL : HX_ANSYS_UNKNOWN;
    return HX_OK;
}

/* ESEL,ALL, the counterpart for elements. */
int hx_ansys_esel(hx_ansys_reader *r)
{
    const int is_all = hx_ansys_is_command(r, "ESEL") && hx_ansys_is(r, 1, "ALL");
    r->some_elements = !is_all || hx_ansys_is_nested(r);
    return HX_OK;
}

/* ALLSEL, which selects everything; ALLSEL,ALL,ELEM selects all elements with their nodes;
 * ALLSEL,BELOW selects entities below the selected ones. */
int hx_ansys_allsel(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    const int is_any = !*hx_ansys_word(r, 1, word) || hx_ansys_is(r, 1, "ALL");
    const int is_whole = !*hx_ansys_word(r, 2, word) || hx_ansys_is(r, 2, "ALL");
    const int is_elem = strncasecmp(word, "ELEM", 4) == 0;
    const int is_node = strncasecmp(word, "NODE", 4) == 0;
    if (!is_any || hx_ansys_is_nested(r) || !(is_whole || is_elem || is_node)) {
        r->selection = HX_ANSYS_UNKNOWN;
        r->some_elements = 1;
        return HX_OK;
    }
    r->selection = HX_ANSYS_ALL;
    if (!is_node) r->some_elements = 0;
    return HX_OK;
}

/* CM,NAME,NODE makes a component of the selected nodes. */
int hx_ansys_cm(hx_ansys_reader *r)
{
    char name[HX_ANSYS_WORD];
    hx_import_set *set;
    hx_numbers nodes = {0};
    hx_ansys_word(r, 1, name);
    if (!*name || !hx_ansys_is(r, 2, "NODE") || r->selection == HX_ANSYS_UNKNOWN ||
        hx_ansys_is_nested(r)) {
        if (r->n_lost_component++ == 0)
            snprintf(r->lost_component, sizeof r->lost_component, "%s", name);
        return HX_OK;
    }
    const hx_numbers *const from =
        r->selection == HX_ANSYS_SET ? &r->selected->node : &r->import.node_number;
    HX_TRY(hx_numbers_copy(&nodes, from));
    const hx_import_set *const known = find_component(r, name);
    const int rc = hx_import_set_named(&r->import, known ? known->name : name, &set);
    if (rc < 0) {
        hx_numbers_free(&nodes);
        return rc;
    }
    hx_import_set_clear(set);
    set->node = nodes;
    return HX_OK;
}

/* --- statements --- */

static int add_entry(hx_ansys_reader *r, int is_force, int component, hx_ansys_action action,
                     double value)
{
    for (size_t i = 0; i < r->n_chosen; i++) {
        HX_TRY(hx_grow(&r->entry, r->n_entry, &r->entry_capacity, sizeof *r->entry,
                       "supports and forces of a file"));
        r->entry[r->n_entry] = (hx_ansys_entry){
            r->chosen[i],   r->line, (int32_t)r->n_entry, (int8_t)is_force, (int8_t)component,
            (int8_t)action, value};
        if (++r->n_entry == INT32_MAX) return HX_ANSYS_RAISE(r, "too many supports and forces");
    }
    return HX_OK;
}

static unsigned role_of(int is_force)
{
    return is_force ? HX_UNREAD_LOAD : HX_UNREAD_SUPPORT;
}

/* Records labels such as "D,TEMP" of the current command. Temperatures and potentials do not
 * support anything; they act as loads, like component 11 of *BOUNDARY. */
static int lose(hx_ansys_reader *r, int is_force, const char *what)
{
    static const char *const acting[] = {"TEMP", "TBOT", "TTOP", "TE",   "VOLT", "MAG",
                                         "AX",   "AY",   "AZ",   "PRES", "CONC", "EMF"};
    char text[2 * HX_ANSYS_WORD];
    unsigned role = role_of(is_force);
    for (size_t i = 0; i < sizeof acting / sizeof acting[0]; i++)
        if (strncasecmp(what, acting[i], strlen(acting[i])) == 0) role = HX_UNREAD_LOAD;
    snprintf(text, sizeof text, "%s%s%.40s", is_force ? "F" : "D", *what == ' ' ? "" : ",", what);
    return hx_ansys_unread(r, role, text, NULL, r->line);
}

/* Supports stated after SOLVE belong to another load step, or to no step. */
static int is_late(hx_ansys_reader *r)
{
    if (r->solved) hx_ansys_note_late(r, HX_UNREAD_LOAD | HX_UNREAD_SUPPORT);
    return r->solved > 0;
}

/* Returns 0 for UX, 1 for UY, 2 for UZ, 3 for ALL; -1: another label; -2: a rotation, which solids
 * do not have. */
static int component_of(const char *label, int is_force)
{
    static const char *const name[2][4] = {{"UX", "UY", "UZ", "ALL"}, {"FX", "FY", "FZ", "ALL"}};
    for (int d = 0; d < 4; d++)
        if (strcasecmp(label, name[is_force][d]) == 0) return d;
    return !is_force && strncasecmp(label, "ROT", 3) == 0 ? -2 : -1;
}

/* Applies the label in field k to the chosen nodes. */
static int take_label(hx_ansys_reader *r, int is_force, int k, hx_ansys_action action, double value)
{
    char label[HX_ANSYS_WORD];
    hx_ansys_word(r, k, label);
    if (!*label && action == HX_ANSYS_DELETE) snprintf(label, sizeof label, "ALL");
    const int d = component_of(label, is_force);
    const int is_all = d == 3 && (!is_force || action == HX_ANSYS_DELETE);
    if (d == -2 || (d == -1 && action == HX_ANSYS_DELETE)) return HX_OK;
    if (d == -1 || (d == 3 && !is_all)) return lose(r, is_force, label);
    for (int c = 0; c < 3; c++)
        if (is_all || c == d) HX_TRY(add_entry(r, is_force, c, action, value));
    return HX_OK;
}

/* D,node,UX,value,,NEND,NINC,UY,... and F,node,FX,value,,NEND,NINC */
int hx_ansys_condition(hx_ansys_reader *r)
{
    const int is_force = hx_ansys_is_command(r, "F");
    char word[HX_ANSYS_WORD];
    double value, imaginary;
    int known;
    const hx_ansys_cumulate *const cumulate = &r->cumulate[is_force];
    if (is_late(r)) return HX_OK;
    hx_ansys_word(r, 2, word);
    const int d = component_of(word, is_force);
    if (d == -1) return lose(r, is_force, word);
    if (hx_ansys_is_nested(r)) return lose(r, is_force, " in a branch or loop");
    HX_TRY(choose_nodes(r, 5, &known));
    if (!known) return lose(r, is_force, " of a selection");
    if (!hx_ansys_number(r, 3, &value)) return lose(r, is_force, " of a table or parameter");
    if (!hx_ansys_number(r, 4, &imaginary) || imaginary != 0.0)
        return lose(r, is_force, " with an imaginary part");
    value *= cumulate->factor;
    HX_TRY(take_label(r, is_force, 2, cumulate->action, value));
    for (int k = 7; k < 12 && !is_force; k++)
        if (*hx_ansys_word(r, k, word)) HX_TRY(take_label(r, 0, k, cumulate->action, value));
    return HX_OK;
}

/* DBLOCK,count with a format and lines of node, label, value and imaginary part; each line is
 * equivalent to a D. */
int hx_ansys_dblock(hx_ansys_reader *r)
{
    char format[HX_ANSYS_WORD], text[HX_ANSYS_WORD];
    HX_TRY(hx_ansys_need_line(r, "DBLOCK"));
    snprintf(format, sizeof format, "%s", r->text + strspn(r->text, " \t-"));
    if (format[0] != '(')
        return HX_ANSYS_RAISE(r, "'%.*s' where the format of DBLOCK is expected", HX_ANSYS_SHOWN,
                              r->text);
    for (;;) {
        long long node;
        char label[HX_ANSYS_NAME], value[HX_ANSYS_NAME], imaginary[HX_ANSYS_NAME] = "0";
        HX_TRY(hx_ansys_need_line(r, "DBLOCK"));
        if (hx_ansys_is_end(r)) return HX_OK;
        if (sscanf(r->text, "%lld %32s %32s %32s", &node, label, value, imaginary) < 3)
            return HX_ANSYS_RAISE(r, "'%.*s' where node, label and value of DBLOCK are expected",
                                  HX_ANSYS_SHOWN, r->text);
        snprintf(text, sizeof text, "D,%lld,%s,%s,%s", node, label, value, imaginary);
        r->command = text;
        const int rc = hx_ansys_condition(r);
        r->command = r->text;
        HX_TRY(rc);
    }
}

/* DDELE,node,label,NEND,NINC and FDELE */
int hx_ansys_delete(hx_ansys_reader *r)
{
    const int is_force = hx_ansys_is_command(r, "FDELE");
    int known;
    if (is_late(r)) return HX_OK;
    HX_TRY(choose_nodes(r, 3, &known));
    if (!known || hx_ansys_is_nested(r)) return lose(r, is_force, " that DELE removes");
    return take_label(r, is_force, 2, HX_ANSYS_DELETE, 0.0);
}

/* FCUM,REPL,factor: how a later statement combines with an earlier one. */
int hx_ansys_cum(hx_ansys_reader *r)
{
    const int is_force = hx_ansys_is_command(r, "FCUM");
    char word[HX_ANSYS_WORD];
    hx_ansys_cumulate *const c = &r->cumulate[is_force];
    hx_ansys_word(r, 1, word);
    const int adds = strncasecmp(word, "ADD", 3) == 0;
    if (*word && !adds && strncasecmp(word, "REPL", 4) != 0)
        return hx_ansys_unread(r, role_of(is_force), is_force ? "FCUM,IGNO" : "DCUM,IGNO", NULL,
                               r->line);
    if (hx_ansys_is_nested(r) || !hx_ansys_number(r, 2, &c->factor))
        return hx_ansys_unread(r, role_of(is_force), is_force ? "FCUM" : "DCUM", NULL, r->line);
    if (c->factor == 0.0) c->factor = 1.0;
    c->action = adds ? HX_ANSYS_ADD : HX_ANSYS_REPLACE;
    return HX_OK;
}

/* --- final loads and supports --- */

static int by_node(const void *a, const void *b)
{
    const hx_ansys_entry *const x = a, *const y = b;
    if (x->is_force != y->is_force) return x->is_force - y->is_force;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->component != y->component) return x->component - y->component;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int is_same_place(const hx_ansys_entry *a, const hx_ansys_entry *b)
{
    return a->is_force == b->is_force && a->node == b->node && a->component == b->component;
}

static int emit(hx_ansys_reader *r, const hx_ansys_entry *e, double value)
{
    const hx_condition condition = {.kind = e->is_force ? HX_CONDITION_FORCE : HX_CONDITION_SUPPORT,
                                    .step = e->is_force ? 1 : 0,
                                    .components = 1u << e->component,
                                    .value = value,
                                    .line = e->line};
    hx_condition *added;
    if (e->is_force && r->antype_line) return HX_OK; /* the step is not static */
    HX_TRY(hx_import_conditions_add(&r->conditions, &condition, &added));
    return hx_numbers_append(&added->node, 1, &e->node);
}

/* A node that is fully held does not depend on its coordinate system. */
static int check_rotated(hx_ansys_reader *r)
{
    hx_number_index index = {0};
    if (r->rotated.n == 0 || r->conditions.n == 0) return HX_OK;
    HX_TRY(hx_number_index_create(&index, &r->rotated));
    int rc = HX_OK;
    for (size_t i = 0; i < r->conditions.n && rc == HX_OK; i++) {
        const hx_condition *const c = &r->conditions.list[i];
        const int64_t node = hx_numbers_get(&c->node, 0);
        unsigned held = 0;
        for (size_t k = i < 2 ? 0 : i - 2; k < r->conditions.n && k < i + 3; k++)
            if (r->conditions.list[k].kind == HX_CONDITION_SUPPORT &&
                hx_numbers_get(&r->conditions.list[k].node, 0) == node &&
                r->conditions.list[k].value == 0.0)
                held |= r->conditions.list[k].components;
        const int is_free = c->kind == HX_CONDITION_FORCE || held != 7u;
        if (is_free && hx_number_index_find(&index, node) >= 0)
            rc = hx_ansys_unread(r, role_of(c->kind == HX_CONDITION_FORCE),
                                 c->kind == HX_CONDITION_FORCE ? "F of rotated nodes"
                                                               : "D of rotated nodes",
                                 NULL, c->line);
    }
    hx_number_index_free(&index);
    return rc;
}

int hx_ansys_finish_loads(hx_ansys_reader *r)
{
    if (r->n_entry > 1) qsort(r->entry, r->n_entry, sizeof *r->entry, by_node);
    for (size_t begin = 0, end; begin < r->n_entry; begin = end) {
        for (end = begin + 1; end < r->n_entry; end++)
            if (!is_same_place(&r->entry[begin], &r->entry[end])) break;
        /* combine entries [begin, end) of one component of one node, in the file's order */
        double value = 0.0;
        int holds = 0;
        for (size_t i = begin; i < end; i++) {
            const hx_ansys_entry *const e = &r->entry[i];
            const int adds = e->action == HX_ANSYS_ADD && holds;
            value = adds ? value + e->value : e->value;
            holds = e->action != HX_ANSYS_DELETE;
        }
        if (holds) HX_TRY(emit(r, &r->entry[end - 1], value));
    }
    if (r->conditions.n > 0 && !r->antype_line) r->conditions.n_step = 1;
    if (r->n_lost_component > 0)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_INFO,
                            "%s: %lld components defined by selections (CM) are not read, the "
                            "first: '%.60s'; CDWRITE writes them as CMBLOCK",
                            r->import.path, (long long)r->n_lost_component, r->lost_component));
    return check_rotated(r);
}
