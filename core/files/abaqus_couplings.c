/* Reference nodes of an Abaqus input file: *COUPLING with *KINEMATIC or *DISTRIBUTING, *RIGID BODY,
 * and the older *KINEMATIC COUPLING. They may refer to objects defined later, so all words are
 * looked up once the file is read. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"

enum { TRANSLATIONS = 7, ALL = 63, MOST_COUPLINGS = 10000 };

static hx_abaqus_coupling *current(const hx_abaqus_reader *r)
{
    return &r->coupling[r->n_coupling - 1];
}

static int add_coupling(hx_abaqus_reader *r, const char *reference)
{
    if (!reference || !*reference)
        return HX_ABAQUS_RAISE(&r->scan, "*%s needs REF NODE=NODE", r->scan.keyword_shown);
    if (r->n_coupling == MOST_COUPLINGS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d couplings", MOST_COUPLINGS);
    HX_TRY(hx_grow(&r->coupling, r->n_coupling, &r->coupling_capacity, sizeof *r->coupling,
                   "couplings of a file"));
    hx_abaqus_coupling *const to = &r->coupling[r->n_coupling++];
    memset(to, 0, sizeof *to);
    to->line = hx_abaqus_scan_number(&r->scan);
    snprintf(to->keyword, sizeof to->keyword, "%s", r->scan.keyword_shown);
    return hx_abaqus_keep_word(r, reference, &to->reference);
}

/* Makes the set of the nodes that the data lines, or elements, name. */
static int own_set(hx_abaqus_reader *r)
{
    char name[230];
    hx_abaqus_coupling *const to = current(r);
    snprintf(name, sizeof name, "coupling-%.200s", to->reference.text);
    HX_TRY(hx_abaqus_open_set(r, HX_KIND_NODES, name, &r->set));
    to->set = r->set;
    return HX_OK;
}

/* --- *COUPLING --- */

int hx_abaqus_begin_coupling(hx_abaqus_reader *r)
{
    const char *const surface = hx_abaqus_parameter(&r->scan, "SURFACE");
    HX_TRY(add_coupling(r, hx_abaqus_parameter(&r->scan, "REFNODE")));
    if (!surface || !*surface) return HX_ABAQUS_RAISE(&r->scan, "*COUPLING needs SURFACE=NAME");
    current(r)->awaits = 1;
    if (hx_abaqus_parameter(&r->scan, "INFLUENCERADIUS"))
        current(r)->fault = "an influence radius is not read";
    if (hx_abaqus_parameter(&r->scan, "ORIENTATION"))
        current(r)->fault = "an orientation is not read";
    return hx_abaqus_keep_word(r, surface, &current(r)->members);
}

/* first component, last component */
static int components_line(hx_abaqus_reader *r, char *line)
{
    int64_t value[2] = {0, 0};
    char *field;
    for (int i = 0; i < 2 && hx_abaqus_field(&line, &field); i++)
        if (*field) HX_TRY(hx_abaqus_int(&r->scan, field, "a component", &value[i]));
    if (value[1] == 0) value[1] = value[0];
    if (value[0] < 1 || value[1] < value[0] || value[1] > 6)
        return HX_ABAQUS_RAISE(&r->scan,
                               "components %lld to %lld of a coupling; components are 1 to 6",
                               (long long)value[0], (long long)value[1]);
    for (int64_t k = value[0]; k <= value[1]; k++) current(r)->components |= 1u << (k - 1);
    return HX_OK;
}

/* *KINEMATIC and *DISTRIBUTING */
int hx_abaqus_begin_coupling_kind(hx_abaqus_reader *r)
{
    static const char *const unread[] = {"COUPLING", "WEIGHTINGMETHOD", "ROTATIONALCOUPLING"};
    const int is_rigid = strcmp(r->scan.keyword, "KINEMATIC") == 0;
    if (r->n_coupling == 0 || !current(r)->awaits)
        return HX_ABAQUS_RAISE(&r->scan, "*%s without *COUPLING before it", r->scan.keyword_shown);
    current(r)->awaits = 0;
    current(r)->is_rigid = is_rigid;
    r->data = components_line;
    for (int i = 0; i < 3 && !is_rigid; i++) {
        const char *const value = hx_abaqus_parameter(&r->scan, unread[i]);
        if (value && strcasecmp(value, "CONTINUUM") != 0 && strcasecmp(value, "UNIFORM") != 0)
            current(r)->fault = "only COUPLING=CONTINUUM with uniform weights is read";
    }
    return HX_OK;
}

/* --- older forms --- */

/* Keeps a word, which is looked up once the file is read. */
static int keep_member(hx_abaqus_reader *r, const char *word)
{
    HX_TRY(hx_grow(&r->member, r->n_member, &r->member_capacity, sizeof *r->member,
                   "nodes of couplings"));
    hx_abaqus_member *const to = &r->member[r->n_member++];
    memset(to, 0, sizeof *to);
    to->set = current(r)->set;
    return hx_abaqus_keep_word(r, word, &to->word);
}

/* node or set, first component, last component */
static int kinematic_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    if (!hx_abaqus_field(&line, &field)) return HX_OK;
    HX_TRY(keep_member(r, field));
    const unsigned before = current(r)->components;
    current(r)->components = 0;
    if (*line) HX_TRY(components_line(r, line));
    if (current(r)->components == 0) current(r)->components = ALL;
    if (before != 0 && ((before ^ current(r)->components) & TRANSLATIONS) != 0)
        current(r)->fault = "its nodes follow the reference node in different components";
    return HX_OK;
}

int hx_abaqus_begin_kinematic_coupling(hx_abaqus_reader *r)
{
    HX_TRY(add_coupling(r, hx_abaqus_parameter(&r->scan, "REFNODE")));
    current(r)->is_rigid = 1;
    if (hx_abaqus_parameter(&r->scan, "ORIENTATION"))
        current(r)->fault = "an orientation is not read";
    r->data = kinematic_line;
    return own_set(r);
}

int hx_abaqus_begin_rigid_body(hx_abaqus_reader *r)
{
    const char *const nset = hx_abaqus_parameter(&r->scan, "NSET");
    const char *const elset = hx_abaqus_parameter(&r->scan, "ELSET");
    const char *const tie = hx_abaqus_parameter(&r->scan, "TIENSET");
    const char *const rotation = hx_abaqus_parameter(&r->scan, "ROTNODE");
    const char *const reference = hx_abaqus_parameter(&r->scan, "REFNODE");
    if (!reference || !*reference) /* CalculiX creates a reference node of its own */
        return hx_abaqus_unread(r, HX_UNREAD_CARRIES, "*RIGID BODY", "without REF NODE=NODE");
    HX_TRY(add_coupling(r, reference));
    current(r)->is_rigid = current(r)->is_body = 1;
    if (hx_abaqus_parameter(&r->scan, "PINNSET") ||
        hx_abaqus_parameter(&r->scan, "ANALYTICALSURFACE"))
        current(r)->fault = "a rigid body is read only with NSET, ELSET and TIE NSET";
    if (rotation && *rotation) HX_TRY(hx_abaqus_keep_word(r, rotation, &current(r)->rotation));
    HX_TRY(own_set(r));
    if (elset && *elset) HX_TRY(hx_abaqus_add_nodes_of(r, elset));
    if (nset && *nset) HX_TRY(keep_member(r, nset));
    return tie && *tie ? keep_member(r, tie) : HX_OK;
}

/* --- once the file is read --- */

/* Finds the one node that a word stands for: its number, or a set with one node. */
static int find_node(hx_abaqus_reader *r, const hx_abaqus_coupling *c, const hx_abaqus_word *word,
                     int64_t *number)
{
    hx_abaqus_reference to;
    r->member_scope = word->scope;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, word->text, &to));
    if (to.set) to.set->is_reference = 1;
    const hx_numbers *const list = to.set ? &to.set->node : NULL;
    if (!to.is_number && (!list || list->n == 0))
        return HX_IMPORT_RAISE(&r->import, word->line, "*%s: no reference node '%.60s'", c->keyword,
                               word->text);
    *number = to.is_number ? to.number : hx_numbers_get(list, 0);
    for (int64_t i = 1; list && i < list->n; i++)
        if (hx_numbers_get(list, i) != *number)
            return HX_IMPORT_RAISE(&r->import, word->line,
                                   "*%s: set '%.60s' for its reference node has more than one node",
                                   c->keyword, word->text);
    return HX_OK;
}

static int find_members(hx_abaqus_reader *r, const hx_abaqus_coupling *c, hx_import_set **set)
{
    hx_abaqus_reference to;
    *set = c->set;
    if (c->set) return HX_OK;
    r->member_scope = c->members.scope;
    HX_TRY(hx_abaqus_refer(r, HX_KIND_FACES, c->members.text, &to));
    *set = to.set;
    if (to.set) return HX_OK;
    return HX_IMPORT_RAISE(&r->import, c->line, "*%s: no surface '%.60s'", c->keyword,
                           c->members.text);
}

/* Returns the reason why the coupling cannot be read, or NULL. */
static const char *find_fault(const hx_abaqus_coupling *c)
{
    const unsigned components = c->components ? c->components : ALL;
    if (c->fault) return c->fault;
    if ((components & TRANSLATIONS) != TRANSLATIONS)
        return c->is_rigid ? "its nodes follow in some components only; all of 1 to 3 are needed"
                           : "components 1 to 3 are needed";
    if (!c->is_rigid && components != TRANSLATIONS && components != ALL)
        return "only components 1 to 3 or 1 to 6 are read";
    return NULL;
}

/* Returns the reason why the coupling cannot be used, or NULL. */
static int leaves_middles(const hx_import *import, const hx_number_index *named)
{
    static const int32_t own[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int64_t at = 0;
    int leaves = 0;
    for (int64_t e = 0; import->solid && e < import->n_elem; e++) {
        const hx_solid *const solid = &hx_solids[import->solid[e]];
        for (int k = 0; k < solid->n_node - solid->n_corner; k++) {
            int32_t corner[HX_SOLID_CORNERS];
            const int64_t middle = hx_numbers_get(&import->middle, at++);
            if (hx_solid_middle((hx_solid_id)import->solid[e], k, own, corner) != 2) continue;
            if (hx_number_index_find(named, middle) >= 0) return 0;
            const int64_t a = hx_numbers_get(&import->corner, 8 * e + corner[0]);
            const int64_t b = hx_numbers_get(&import->corner, 8 * e + corner[1]);
            leaves |= hx_number_index_find(named, a) >= 0 && hx_number_index_find(named, b) >= 0;
        }
    }
    return leaves;
}

/* Notes a node set that names only corners in a file of second order: in CalculiX, only these nodes
 * follow the reference node. */
static int note_middles(hx_abaqus_reader *r, const hx_abaqus_coupling *c, const hx_import_set *set)
{
    hx_number_index named = {0};
    if (r->import.middle.n == 0 || set->face_elem.n > 0 || set->quad.n > 0) return HX_OK;
    HX_TRY(hx_number_index_create(&named, &set->node));
    const int is_left = leaves_middles(&r->import, &named);
    hx_number_index_free(&named);
    if (!is_left) return HX_OK;
    return hx_notes_add(
        r->notes, HX_NOTE_WARNING,
        "%s:%lld: *%s: its set lacks the mid-side nodes between its nodes: quadratic elements "
        "couple these too, but CalculiX does not; add them to the set for equal results",
        r->import.path, (long long)c->line, c->keyword);
}

/* Records a coupling that is not read. One that only distributes a load has no stiffness of its
 * own. */
static int leave_out_coupling(hx_abaqus_reader *r, const hx_abaqus_coupling *c, hx_import_set *set)
{
    char word[64];
    const unsigned roles =
        c->is_rigid ? HX_UNREAD_CARRIES : (unsigned)(HX_UNREAD_LOAD | HX_UNREAD_SUPPORT);
    const int is_empty = set->node.n == 0 && set->face_elem.n == 0 && set->quad.n == 0;
    snprintf(word, sizeof word, "*%s", c->keyword);
    if (set == c->set && is_empty) hx_import_drop_set(&r->import, set);
    return hx_import_unread(&r->import, roles, word, find_fault(c), 1, c->line);
}

static int resolve(hx_abaqus_reader *r, const hx_number_index *nodes, hx_abaqus_coupling *c)
{
    hx_import_set *set;
    hx_import_coupling to = {.is_rigid = c->is_rigid,
                             .is_body = c->is_body,
                             .rotation = -1,
                             .keyword = c->keyword,
                             .line = c->line};
    if (c->awaits)
        return HX_IMPORT_RAISE(&r->import, c->line,
                               "*COUPLING without *KINEMATIC or *DISTRIBUTING after it");
    HX_TRY(find_node(r, c, &c->reference, &to.node));
    if (c->rotation.text) HX_TRY(find_node(r, c, &c->rotation, &to.rotation));
    c->node = to.node;
    c->turn = to.rotation;
    HX_TRY(find_members(r, c, &set));
    const int64_t at = hx_number_index_find(nodes, to.node);
    if (at < 0)
        return HX_IMPORT_RAISE(&r->import, c->reference.line,
                               "*%s: reference node %s, which the file does not have", c->keyword,
                               HX_IMPORT_NUMBER(&r->import, to.node));
    if (find_fault(c)) return leave_out_coupling(r, c, set);
    to.set = set;
    to.equally = set->face_elem.n == 0 && set->quad.n == 0;
    HX_TRY(note_middles(r, c, set));
    memcpy(to.point, r->import.xyz + 3 * at, sizeof to.point);
    return hx_import_conditions_couple(&r->conditions, &to);
}

static int is_reference(const hx_abaqus_reader *r, int64_t number)
{
    for (size_t i = 0; i < r->n_coupling; i++)
        if (r->coupling[i].node == number || r->coupling[i].turn == number) return 1;
    return 0;
}

int hx_abaqus_resolve_couplings(hx_abaqus_reader *r)
{
    hx_number_index nodes = {0};
    int rc = HX_OK;
    if (r->n_coupling == 0) return HX_OK;
    /* add the nodes of the older forms */
    for (size_t i = 0; i < r->n_member; i++) {
        const hx_abaqus_member *const member = &r->member[i];
        hx_abaqus_reference to;
        r->member_scope = member->word.scope;
        HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, member->word.text, &to));
        if (!to.is_number && (!to.set || to.set->node.n == 0))
            return HX_IMPORT_RAISE(&r->import, member->word.line, "no set of nodes '%.60s'",
                                   member->word.text);
        HX_TRY(to.is_number ? hx_numbers_append(&member->set->node, 1, &to.number)
                            : hx_abaqus_append_list(member->set, &member->set->node, &to.set->node,
                                                    r->import.n_node));
    }
    HX_TRY_FAIL(hx_number_index_create(&nodes, &r->import.node_number));
    for (size_t i = 0; i < r->n_coupling; i++) HX_TRY_FAIL(resolve(r, &nodes, &r->coupling[i]));
    /* mark sets of reference nodes only, whose nodes need not belong to the part */
    for (size_t i = 0; i < r->import.n_set; i++) {
        hx_import_set *const set = r->import.set[i];
        int64_t n = 0;
        if (set->node.n > 2 * (int64_t)r->n_coupling) continue;
        while (n < set->node.n && is_reference(r, hx_numbers_get(&set->node, n))) n++;
        if (n > 0 && n == set->node.n) set->is_reference = 1;
    }
fail:
    hx_number_index_free(&nodes);
    r->member_scope = -1;
    return rc;
}

void hx_abaqus_free_couplings(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_coupling; i++) {
        free(r->coupling[i].reference.text);
        free(r->coupling[i].rotation.text);
        free(r->coupling[i].members.text);
    }
    for (size_t i = 0; i < r->n_member; i++) free(r->member[i].word.text);
    free(r->coupling);
    free(r->member);
}
