/* Sets and surfaces of an Abaqus input file. As in Abaqus, a set may only name sets defined above
 * it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/set_rules.h"
#include "abaqus_reader.h"
#include "abaqus_write.h"

/* Sorts a list of the set that has grown beyond the number of objects in the file, and removes
 * duplicates. Otherwise sets that name other sets could grow without bound. */
static int make_unique(hx_import_set *set, hx_numbers *list, int64_t n_all)
{
    int64_t *sorted = NULL;
    if (list->n < 1000 || list->n < 2 * n_all) return HX_OK;
    set->is_shortened = 1;
    HX_TRY(hx_alloc_raw(&sorted, (size_t)list->n, sizeof *sorted, "members of a set"));
    for (int64_t i = 0; i < list->n; i++) sorted[i] = hx_numbers_get(list, i);
    hx_sort_i64(sorted, list->n);
    const int64_t n = hx_unique_i64(sorted, list->n);
    hx_numbers_free(list);
    const int rc = hx_numbers_append(list, n, sorted);
    free(sorted);
    return rc;
}

int hx_abaqus_append_list(hx_import_set *set, hx_numbers *to, const hx_numbers *from, int64_t n_all)
{
    const int64_t n = from->n; /* `from` may be the same list */
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = hx_numbers_get(from, i);
        HX_TRY(hx_numbers_append(to, 1, &number));
    }
    return make_unique(set, to, n_all);
}

/* Number of elements of all types so far. */
static int64_t n_cell_in_all(const hx_abaqus_reader *r)
{
    int64_t n = r->import.n_elem;
    for (size_t i = 0; i < r->import.n_other; i++) n += r->import.other[i].n;
    return n;
}

static int update_node_places(hx_abaqus_reader *r)
{
    if (r->node_place.list && r->node_place.list->n == r->node_listed) return HX_OK;
    hx_number_index_free(&r->node_place);
    HX_TRY(hx_number_index_create(&r->node_place, &r->import.node_number));
    r->node_listed = r->import.node_number.n;
    return HX_OK;
}

/* Returns 1 if the file has a node or element of that number above this line. */
static int is_there(const hx_abaqus_reader *r, int is_elem, int64_t number)
{
    if (!is_elem) return hx_number_index_find(&r->node_place, number) >= 0;
    return hx_number_index_find(&r->elem_place, number) >= 0 ||
           hx_number_index_find(&r->cell_place, number) >= 0;
}

/* Appends the numbers of a list that lie in first, first + step, ... last, ascending. */
static int append_between(const hx_numbers *all, const int64_t value[3], hx_numbers *list)
{
    int64_t *found = NULL, n = 0;
    HX_TRY(hx_alloc_raw(&found, (size_t)all->n, sizeof *found, "members of a set"));
    for (int64_t i = 0; i < all->n; i++) {
        const int64_t number = hx_numbers_get(all, i);
        const uint64_t from = (uint64_t)number - (uint64_t)value[0];
        if (number < value[0] || number > value[1] || from % (uint64_t)value[2] != 0) continue;
        found[n++] = number;
    }
    hx_sort_i64(found, n);
    const int rc = hx_numbers_append(list, n, found);
    free(found);
    return rc;
}

/* Appends the numbers first, first + step, ... last that exist as nodes or elements. */
static int append_there(hx_abaqus_reader *r, int is_elem, const int64_t value[3], hx_numbers *list,
                        int64_t n_all)
{
    const hx_numbers *const own = is_elem ? &r->import.elem_number : &r->import.node_number;
    const int64_t count = (value[1] - value[0]) / value[2] + 1;
    if (value[2] == 1 && own->n > 0 && hx_numbers_is_run(own) && value[0] >= own->first &&
        value[1] < own->first + own->n)
        return hx_numbers_append_run(list, count, value[0]);
    if (count > n_all) {
        HX_TRY(append_between(own, value, list));
        return is_elem ? append_between(&r->cell_number, value, list) : HX_OK;
    }
    HX_TRY(is_elem ? hx_abaqus_update_places(r) : update_node_places(r));
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = value[0] + i * value[2];
        if (is_there(r, is_elem, number)) HX_TRY(hx_numbers_append(list, 1, &number));
    }
    return HX_OK;
}

/* CalculiX includes the last number even if the steps skip it. If all existing numbers are below
 * it, CalculiX uses the largest of them instead. Abaqus does neither. */
static int check_last(hx_abaqus_reader *r, int is_elem, const int64_t value[3], int64_t base,
                      int lacks)
{
    const hx_numbers *const list[2] = {is_elem ? &r->import.elem_number : &r->import.node_number,
                                       &r->cell_number};
    int64_t largest = value[0];
    for (int k = 0; k < 1 + is_elem && lacks && value[2] > 1; k++)
        for (int64_t i = 0; i < list[k]->n; i++)
            if (hx_numbers_get(list[k], i) > largest) largest = hx_numbers_get(list[k], i);
    const int64_t last = lacks && largest < value[1] && value[2] > 1 ? largest : value[1];
    const int64_t over = (last - value[0]) % value[2];
    if (over == 0) return HX_OK;
    return HX_ABAQUS_RAISE(
        &r->scan,
        "GENERATE of set '%.60s' from %lld in steps of %lld does not end on %lld; CalculiX accepts "
        "this, Abaqus does not: end on %lld, and name %lld separately if it is meant",
        r->set->name, (long long)(value[0] - base), (long long)value[2], (long long)(last - base),
        (long long)(last - over - base), (long long)(last - base));
}

/* first, last, step. Numbers in between that do not exist are not members, as in CalculiX. */
static int generate(hx_abaqus_reader *r, int is_elem, char *line, hx_numbers *list, int64_t n_all)
{
    int64_t value[3] = {0, 0, 1};
    const int64_t before = list->n;
    char *field;
    int n = 0;
    for (; n < 3 && hx_abaqus_field(&line, &field); n++) {
        if (n == 2 && !*field) break;
        HX_TRY(hx_abaqus_int(&r->scan, field, "first, last, step", &value[n]));
    }
    if (n < 2 || value[2] < 1 || value[1] < value[0] ||
        (uint64_t)value[1] - (uint64_t)value[0] > INT64_MAX)
        return HX_ABAQUS_RAISE(
            &r->scan, "GENERATE needs first, last and step, with step > 0 and last >= first");
    char first[24];
    hx_abaqus_reference to;
    snprintf(first, sizeof first, "%lld", (long long)value[0]);
    HX_TRY(hx_abaqus_refer(r, is_elem ? HX_KIND_ELEMS : HX_KIND_NODES, first, &to));
    const int64_t base = to.number - value[0];
    value[1] = (base > 0 && value[1] >= HX_ABAQUS_BASE ? HX_ABAQUS_BASE - 1 : value[1]) + base;
    value[0] = to.number;
    HX_TRY(append_there(r, is_elem, value, list, n_all));
    const int64_t found = list->n - before, count = (value[1] - value[0]) / value[2] + 1;
    HX_TRY(check_last(r, is_elem, value, base, found < count));
    if (found < count)
        HX_TRY(hx_notes_add(
            r->notes, found > 0 ? HX_NOTE_DETAIL : HX_NOTE_WARNING,
            "%s:%lld: GENERATE of set '%.60s': only %lld of %lld numbers exist above this line",
            hx_abaqus_scan_path(&r->scan), (long long)r->scan.file[r->scan.depth - 1].line,
            r->set->name, (long long)found, (long long)count));
    return make_unique(r->set, list, n_all);
}

/* Numbers and names of sets, for nodes or elements. */
static int member_line(hx_abaqus_reader *r, char *line)
{
    const int is_elem = strcmp(r->scan.keyword, "ELSET") == 0;
    hx_numbers *const list = is_elem ? &r->set->elem : &r->set->node;
    const int64_t n_all = is_elem ? n_cell_in_all(r) : r->import.n_node;
    char *field;
    if (r->is_generated) return generate(r, is_elem, line, list, n_all);
    while (hx_abaqus_field(&line, &field)) {
        hx_abaqus_reference to;
        if (!*field) continue;
        HX_TRY(hx_abaqus_need(r, is_elem ? HX_KIND_ELEMS : HX_KIND_NODES, field, &to));
        if (to.is_number)
            HX_TRY(hx_numbers_append(list, 1, &to.number));
        else
            HX_TRY(hx_abaqus_append_list(r->set, list, is_elem ? &to.set->elem : &to.set->node,
                                         n_all));
        if (!to.is_number && !is_elem)
            HX_TRY(hx_set_rules_add(&r->import.rules, r->set->name, HX_SET_OR, to.set->name, 0));
    }
    return HX_OK;
}

/* --- nodes of elements --- */

/* Nodes of a cell that is not a solid: [begin, end) of cell_node. */
static void cell_nodes(const hx_abaqus_reader *r, int64_t cell, int64_t *begin, int64_t *end)
{
    *begin = hx_numbers_get(&r->cell_begin, cell);
    *end = cell + 1 < r->cell_begin.n ? hx_numbers_get(&r->cell_begin, cell + 1) : r->cell_node.n;
}

static int append_nodes(hx_numbers *to, const hx_numbers *from, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const int64_t number = hx_numbers_get(from, i);
        HX_TRY(hx_numbers_append(to, 1, &number));
    }
    return HX_OK;
}

/* *NSET, ELSET=NAME */
int hx_abaqus_add_nodes_of(hx_abaqus_reader *r, const char *name)
{
    char word[256];
    hx_abaqus_reference to;
    if (r->import.sink) return hx_import_need_whole(&r->import, "*NSET with ELSET");
    snprintf(word, sizeof word, "%s", name);
    HX_TRY(hx_abaqus_need(r, HX_KIND_ELEMS, word, &to));
    const hx_import_set *const named = to.set;
    if (!named)
        return HX_ABAQUS_RAISE(&r->scan, "ELSET=%.60s is a number, not the name of a set", name);
    HX_TRY(hx_abaqus_update_places(r));
    for (int64_t i = 0; i < named->elem.n; i++) {
        const int64_t number = hx_numbers_get(&named->elem, i);
        const int64_t elem = hx_number_index_find(&r->elem_place, number);
        const int64_t cell = hx_number_index_find(&r->cell_place, number);
        int64_t begin = 8 * elem, end = 8 * elem + 8;
        /* the undefined element was already reported for the element set */
        if (elem < 0 && cell < 0) continue;
        if (elem < 0) cell_nodes(r, cell, &begin, &end);
        HX_TRY(
            append_nodes(&r->set->node, elem < 0 ? &r->cell_node : &r->import.corner, begin, end));
    }
    return make_unique(r->set, &r->set->node, r->import.n_node);
}

/* INSTANCE=NAME: the members of a set of the assembly belong to that instance. */
static int find_member_scope(hx_abaqus_reader *r)
{
    const char *const name = hx_abaqus_parameter(&r->scan, "INSTANCE");
    if (!name) return HX_OK;
    for (size_t i = 0; i < r->n_instance; i++)
        if (strcasecmp(r->instance[i].name, name) == 0) r->member_scope = (int)i;
    if (r->member_scope >= 0) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan, "no instance '%.60s' above this line", name);
}

static int begin_set(hx_abaqus_reader *r, const char *key, hx_set_kind kind)
{
    const char *const name = hx_abaqus_parameter(&r->scan, key);
    if (!name || !*name)
        return HX_ABAQUS_RAISE(&r->scan, "*%s needs %s=NAME", r->scan.keyword_shown, key);
    HX_TRY(hx_abaqus_refuse_input(r));
    r->is_generated = hx_abaqus_parameter(&r->scan, "GENERATE") != NULL;
    HX_TRY(find_member_scope(r));
    return hx_abaqus_open_set(r, kind, name, &r->set);
}

/* *NSET and *ELSET */
int hx_abaqus_begin_set(hx_abaqus_reader *r)
{
    const char *const elset = hx_abaqus_parameter(&r->scan, "ELSET");
    const int is_nodes = strcmp(r->scan.keyword, "NSET") == 0;
    HX_TRY(begin_set(r, r->scan.keyword, is_nodes ? HX_KIND_NODES : HX_KIND_ELEMS));
    r->data = member_line;
    return is_nodes && elset && *elset ? hx_abaqus_add_nodes_of(r, elset) : HX_OK;
}

/* --- surfaces --- */

/* Appends elements of a list as faces on one side, which hx_abaqus_resolve_cells converts to local
 * faces; without a side, the cells themselves. */
static int append_faces(hx_abaqus_reader *r, const hx_numbers *elem, int side)
{
    const int64_t local = side, n = elem->n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = hx_numbers_get(elem, i);
        if (side == 0) {
            HX_TRY(hx_numbers_append(&r->set->elem, 1, &number));
            continue;
        }
        HX_TRY(hx_numbers_append(&r->set->face_elem, 1, &number));
        HX_TRY(hx_numbers_append(&r->set->face_local, 1, &local));
    }
    return HX_OK;
}

int hx_abaqus_append_side(hx_abaqus_reader *r, const hx_abaqus_reference *elem, int side)
{
    hx_numbers one = {0};
    if (elem->set && r->set->face_elem.n > 12 * r->import.n_elem + 1000)
        return HX_ABAQUS_RAISE(&r->scan, "the surface '%.60s' repeats its faces too often",
                               r->set->name);
    if (elem->set) return append_faces(r, &elem->set->elem, side);
    HX_TRY(hx_numbers_append(&one, 1, &elem->number));
    const int rc = append_faces(r, &one, side);
    hx_numbers_free(&one);
    return rc;
}

/* Records a surface, or one of its lines, that marks no face of a solid. */
static int unread_surface(hx_abaqus_reader *r, const char *how)
{
    char word[64];
    snprintf(word, sizeof word, "*SURFACE, %.30s", how);
    for (char *c = word; *c; c++) *c = (char)toupper((unsigned char)*c);
    return hx_abaqus_unread(r, 0, word, NULL);
}

/* Without a side: all boundary faces of the elements, or, for a cell that is not a solid, the cell
 * itself. */
static int append_free(hx_abaqus_reader *r, char *field)
{
    hx_abaqus_reference to;
    if (r->import.sink) return hx_import_need_whole(&r->import, "*SURFACE without sides");
    HX_TRY(hx_abaqus_need(r, HX_KIND_ELEMS, field, &to));
    if (to.is_number) return hx_numbers_append(&r->set->free_elem, 1, &to.number);
    if (to.set->elem.n == 0)
        return HX_ABAQUS_RAISE(&r->scan, "set '%.60s' has no elements for a surface", to.set->name);
    return hx_abaqus_append_list(r->set, &r->set->free_elem, &to.set->elem, n_cell_in_all(r));
}

/* element or set, S1 to S6 (for shells: SPOS, SNEG) */
static int surface_line(hx_abaqus_reader *r, char *line)
{
    char *field, *side_name = NULL;
    hx_abaqus_reference to;
    int side = -1;
    if (!hx_abaqus_field(&line, &field)) return HX_OK;
    if (hx_abaqus_field(&line, &side_name)) {
        const char digit = side_name[0] ? side_name[1] : '\0';
        if (toupper((unsigned char)side_name[0]) == 'S' && digit >= '1' && digit <= '6' &&
            side_name[2] == '\0')
            side = digit - '0';
        if (strcasecmp(side_name, "SPOS") == 0 || strcasecmp(side_name, "SNEG") == 0) side = 0;
    }
    if (!side_name || !*side_name) return append_free(r, field);
    if (side < 0 &&
        toupper((unsigned char)side_name[0]) != 'S') /* E1, END1, ...: sides of shells and beams */
        return unread_surface(r, side_name);
    if (side < 0)
        return HX_ABAQUS_RAISE(&r->scan, "'%.20s' where a side of elements is expected: S1 to S6",
                               side_name);
    HX_TRY(hx_abaqus_need(r, HX_KIND_ELEMS, field, &to));
    return hx_abaqus_append_side(r, &to, side);
}

/* For a surface of nodes, the first field; an area may follow it. */
static int surface_node_line(hx_abaqus_reader *r, char *line)
{
    char *const comma = strchr(line, ',');
    if (comma) *comma = '\0';
    return member_line(r, line);
}

int hx_abaqus_begin_surface(hx_abaqus_reader *r)
{
    static const char *const unread[] = {"COMBINE", "CROP"};
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    const int is_node = type && strcasecmp(type, "NODE") == 0;
    char how[40];
    for (int i = 0; i < 2; i++)
        if (hx_abaqus_parameter(&r->scan, unread[i])) return unread_surface(r, unread[i]);
    /* analytical surfaces serve contact only */
    if (type && !is_node && strcasecmp(type, "ELEMENT") != 0) {
        snprintf(how, sizeof how, "TYPE=%.20s", type);
        return unread_surface(r, how);
    }
    HX_TRY(begin_set(r, "NAME", HX_KIND_FACES));
    r->is_generated = 0;
    r->data = is_node ? surface_node_line : surface_line;
    return HX_OK;
}

/* --- cells that are not solids, and sides --- */

/* Removes cells that are not solids from a set's list of elements: in surfaces they become faces,
 * elsewhere nodes. */
static int resolve_set(hx_abaqus_reader *r, hx_import_set *set, hx_numbers *elem)
{
    hx_numbers kept = {0};
    int rc = HX_OK;
    for (int64_t i = 0; i < elem->n; i++) {
        const int64_t number = hx_numbers_get(elem, i);
        const int64_t cell = hx_number_index_find(&r->cell_place, number);
        int64_t begin, end;
        if (cell < 0) {
            HX_TRY_FAIL(hx_numbers_append(&kept, 1, &number));
            continue;
        }
        cell_nodes(r, cell, &begin, &end);
        const int is_quad = end - begin == 4;
        HX_TRY_FAIL(append_nodes(is_quad ? &set->quad : &set->node, &r->cell_node, begin, end));
    }
    hx_numbers_free(elem);
    *elem = kept;
    return HX_OK;
fail:
    hx_numbers_free(&kept);
    return rc;
}

static int refuse_side(hx_abaqus_reader *r, const hx_import_set *set, int64_t number, int64_t side,
                       hx_cell_kind kind)
{
    if (set->is_of_loads)
        return hx_set_fault(
            &r->conditions.load_fault,
            "%s: a pressure on side P%lld of element %s, a %s, which has no such side",
            r->import.path, (long long)side, HX_IMPORT_NUMBER(&r->import, number),
            hx_cell_kind_name(kind));
    return HX_IMPORT_RAISE(&r->import, 0,
                           "the surface '%.60s' names side S%lld of element %s, a %s, which has no "
                           "such side",
                           set->name, (long long)side, HX_IMPORT_NUMBER(&r->import, number),
                           hx_cell_kind_name(kind));
}

/* Converts sides 1 to 6 to local faces by the kinds of their elements. */
static int resolve_sides(hx_abaqus_reader *r, hx_import_set *set)
{
    hx_numbers face = {0}, elem = {0};
    int rc = HX_OK;
    for (int64_t i = 0; i < set->face_elem.n; i++) {
        const int64_t number = hx_numbers_get(&set->face_elem, i);
        const int64_t side = hx_numbers_get(&set->face_local, i);
        const hx_cell_kind kind = hx_abaqus_kind_of(r, number);
        const int64_t local = hx_abaqus_face[kind][side];
        if (local < 0) {
            HX_TRY_FAIL(refuse_side(r, set, number, side, kind));
            continue;
        }
        HX_TRY_FAIL(hx_numbers_append(&face, 1, &local));
        HX_TRY_FAIL(hx_numbers_append(&elem, 1, &number));
    }
    hx_numbers_free(&set->face_local);
    hx_numbers_free(&set->face_elem);
    set->face_local = face;
    set->face_elem = elem;
    return HX_OK;
fail:
    hx_numbers_free(&face);
    hx_numbers_free(&elem);
    return rc;
}

int hx_abaqus_resolve_cells(hx_abaqus_reader *r)
{
    r->import.side_row = r->import.sink ? hx_abaqus_face : NULL;
    if (r->cell_number.n > 0 || r->import.solid) HX_TRY(hx_abaqus_update_places(r));
    for (size_t i = 0; i < r->import.n_set; i++) {
        hx_import_set *const set = r->import.set[i];
        if (r->cell_number.n > 0) HX_TRY(resolve_set(r, set, &set->elem));
        if (r->cell_number.n > 0) HX_TRY(resolve_set(r, set, &set->free_elem));
        if (!r->import.sink) HX_TRY(resolve_sides(r, set));
    }
    return HX_OK;
}
