/* The data that a reader collects from a mesh file: nodes, solids, other cells and sets, with the
 * file's numbers. */
#include "mesh_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sum.h"
#include "../mesh/mesh_check.h"
#include "../mesh/mesh_source.h"
#include "../mesh/set_rules.h"
#include "../problem/conditions.h"
#include "mesh_import_internal.h"

enum { MOST_SETS = 10000, MOST_OTHER = 100 };

int hx_import_open(hx_import *import, const char *path, hx_notes *notes)
{
    memset(import, 0, sizeof *import);
    import->notes = notes;
    return hx_strdup(&import->path, path);
}

int hx_import_place(const hx_import *import, int64_t line, int code)
{
    if (line > 0)
        hx_error_prefix("%s:%lld: ", import->path, (long long)line);
    else
        hx_error_prefix("%s: ", import->path);
    return code;
}

const char *hx_import_number_text(const hx_import *import, int64_t number, char *text)
{
    if (import->number_text)
        import->number_text(import->number_context, number, text);
    else
        snprintf(text, HX_NUMBER_TEXT, "%lld", (long long)number);
    return text;
}

/* --- adding data --- */

static int reserve_xyz(hx_import *import, int64_t n)
{
    if (n <= import->xyz_capacity) return HX_OK;
    const int64_t capacity = n > 2 * import->xyz_capacity ? n : 2 * import->xyz_capacity;
    HX_TRY(hx_resize_raw(&import->xyz, (size_t)import->n_node, (size_t)capacity,
                         3 * sizeof *import->xyz, "coordinates of nodes"));
    import->xyz_capacity = capacity;
    return HX_OK;
}

int hx_import_expect(hx_import *import, int64_t n_node, int64_t n_elem)
{
    if (import->sink) return HX_OK;
    hx_numbers_expect(&import->node_number, n_node);
    hx_numbers_expect(&import->elem_number, n_elem);
    hx_numbers_expect(&import->corner, 8 * n_elem);
    return reserve_xyz(import, import->n_node + n_node);
}

/* Adds the lines of n more entries. A file with one entry per line keeps runs of lines. If the
 * lines of earlier entries are not known, no lines are kept. */
static int add_lines(hx_numbers *lines, int64_t n_before, int64_t n, int64_t line)
{
    if (line <= 0 || lines->n != n_before) return HX_OK;
    return hx_numbers_append_run(lines, n, line);
}

static int64_t line_of(const hx_numbers *lines, int64_t n, int64_t i)
{
    return lines->n == n ? hx_numbers_get(lines, i) : 0;
}

int64_t hx_import_elem_line(const hx_import *import, int64_t elem)
{
    return line_of(&import->elem_line, import->n_elem, elem);
}

/* --- into a sink --- */

int64_t hx_import_node_line(const hx_import *import, int64_t node)
{
    return line_of(&import->node_line, import->n_node, node);
}

int hx_import_need_whole(hx_import *import, const char *why)
{
    snprintf(import->sink->why, sizeof import->sink->why, "%s", why);
    return HX_RAISE(HX_EINPUT, "%s: %s", import->path, why);
}

int hx_import_announce(hx_import *import, int64_t n_elem)
{
    char why[80];
    if (!import->sink || n_elem >= import->sink->least_elem) return HX_OK;
    snprintf(why, sizeof why, "fewer than %lld elements", (long long)import->sink->least_elem);
    return hx_import_need_whole(import, why);
}

int hx_import_flush(hx_import *import, int with_nodes)
{
    return import->sink ? import->sink->flush(import->sink, import, with_nodes) : HX_OK;
}

static int is_collapsed(const int64_t corner[8])
{
    int same = 0;
    for (int a = 1; a < 8; a++) /* NOLINTNEXTLINE(clang-analyzer-core*): 8 corners */
        for (int b = 0; b < a; b++) same |= corner[a] == corner[b];
    return same;
}

static int send_solids(hx_import *import, hx_solid_id id, int64_t n, const int64_t *number,
                       const int64_t *node, int64_t line)
{
    if (hx_solids[id].n_node != hx_solids[id].n_corner)
        return hx_import_need_whole(import, "elements of second order");
    const int rc = hx_numbers_append(&import->elem_number, n, number);
    if (rc < 0) return hx_import_place(import, line, rc);
    if (!hx_numbers_is_run(&import->elem_number))
        return hx_import_need_whole(import, "element numbers that are not consecutive");
    HX_TRY(add_lines(&import->elem_line, import->n_elem, n, line));
    if (!hx_numbers_is_run(&import->elem_line)) hx_numbers_free(&import->elem_line);
    /* send solids of first order to the sink, a few at a time */
    enum { CHUNK = 512 };
    const int *const corner = hx_solid_corners(id);
    const int n_node = hx_solids[id].n_node;
    int64_t collapsed[8 * CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK;
        for (int64_t k = 0; k < 8 * now; k++)
            collapsed[k] = node[(i + k / 8) * n_node + corner[k % 8]];
        for (int64_t k = 0; k < now && id == HX_SOLID_HEX8; k++)
            import->has_collapsed_brick |= is_collapsed(collapsed + 8 * k);
        HX_TRY(import->sink->solids(import->sink, import, now, collapsed, line));
        import->n_elem += now;
    }
    return HX_OK;
}

/* --- into the import --- */

int hx_import_add_nodes(hx_import *import, int64_t n, const int64_t *number, const double *xyz,
                        int64_t line)
{
    if (import->sink) {
        const int rc = hx_numbers_append(&import->node_number, n, number);
        if (rc < 0) return hx_import_place(import, line, rc);
        if (!hx_numbers_is_run(&import->node_number))
            return hx_import_need_whole(import, "node numbers that are not consecutive");
        HX_TRY(import->sink->nodes(import->sink, import, n, xyz));
        import->n_node += n;
        return HX_OK;
    }
    HX_TRY(reserve_xyz(import, import->n_node + n));
    HX_TRY(add_lines(&import->node_line, import->n_node, n, line));
    const int rc = hx_numbers_append(&import->node_number, n, number);
    if (rc < 0) return hx_import_place(import, line, rc);
    memcpy(import->xyz + 3 * import->n_node, xyz, (size_t)n * 3 * sizeof *xyz);
    import->n_node += n;
    return HX_OK;
}

/* Adds the corners of hexahedra, collapsed or not. */
/* Makes room for n more elements; the elements before them are hexahedra of 8 nodes. */
static int reserve_solids(hx_import *import, int64_t n)
{
    const int64_t needed = import->n_elem + n;
    if (needed <= import->solid_capacity) return HX_OK;
    const int64_t twice = 2 * import->solid_capacity, capacity = needed > twice ? needed : twice;
    HX_TRY(hx_resize(&import->solid, (size_t)import->solid_capacity, (size_t)capacity, 1,
                     "kinds of elements"));
    import->solid_capacity = capacity;
    return HX_OK;
}

/* Adds the kind of n elements and their nodes that are not corners. */
static int add_middles(hx_import *import, hx_solid_id id, int64_t n, const int64_t *node)
{
    const hx_solid *const solid = &hx_solids[id];
    const int n_middle = solid->n_node - solid->n_corner;
    if (id == HX_SOLID_HEX8 && !import->solid) return HX_OK;
    HX_TRY(reserve_solids(import, n));
    memset(import->solid + import->n_elem, id, (size_t)n);
    for (int64_t i = 0; i < n && n_middle > 0; i++)
        HX_TRY(hx_numbers_append(&import->middle, n_middle,
                                 node + i * solid->n_node + solid->n_corner));
    return HX_OK;
}

static int add_corners(hx_import *import, hx_solid_id id, int64_t n, const int64_t *node)
{
    const int *const corner = hx_solid_corners(id);
    const int n_node = hx_solids[id].n_node;
    if (id == HX_SOLID_HEX8) return hx_numbers_append(&import->corner, 8 * n, node);
    for (int64_t i = 0; i < n; i++) {
        int64_t collapsed[8];
        for (int a = 0; a < 8; a++) collapsed[a] = node[i * n_node + corner[a]];
        HX_TRY(hx_numbers_append(&import->corner, 8, collapsed));
    }
    return HX_OK;
}

int hx_import_add_solids(hx_import *import, hx_solid_id id, int64_t n, const int64_t *number,
                         const int64_t *node, int64_t line)
{
    if (import->sink) return send_solids(import, id, n, number, node, line);
    HX_TRY(add_lines(&import->elem_line, import->n_elem, n, line));
    int rc = hx_numbers_append(&import->elem_number, n, number);
    if (rc == HX_OK) rc = add_corners(import, id, n, node);
    if (rc == HX_OK) rc = add_middles(import, id, n, node);
    if (rc < 0) return hx_import_place(import, line, rc);
    import->n_elem += n;
    return HX_OK;
}

int hx_import_add_other(hx_import *import, hx_shape shape, const char *type, int64_t number,
                        int64_t line)
{
    for (size_t i = 0; i < import->n_other; i++) {
        if (import->other[i].shape != shape || strcmp(import->other[i].type, type) != 0) continue;
        import->other[i].n++;
        return HX_OK;
    }
    if (import->n_other == MOST_OTHER)
        return HX_IMPORT_RAISE(import, line, "more than %d types of elements", MOST_OTHER);
    HX_TRY(hx_resize(&import->other, import->n_other, import->n_other + 1, sizeof *import->other,
                     "types of elements"));
    hx_import_other *const other = &import->other[import->n_other];
    HX_TRY(hx_strdup(&other->type, type));
    import->n_other++;
    other->shape = shape;
    other->n = 1;
    other->number = number;
    other->line = line;
    return HX_OK;
}

int hx_import_unread(hx_import *import, unsigned roles, const char *word, const char *what,
                     int64_t n, int64_t line)
{
    char why[120];
    snprintf(why, sizeof why, "%.80s, which is not read", word);
    if (import->sink && roles != 0) return hx_import_need_whole(import, why);
    return hx_unread_add(&import->unread, roles, word, what, n, import->path, line);
}

void hx_import_give_unread(hx_import *import, hx_conditions *conditions)
{
    if (!conditions) return;
    hx_unread_free(&conditions->unread);
    conditions->unread = import->unread;
    conditions->units = import->units;
    memset(&import->unread, 0, sizeof import->unread);
}

static int add_import_set(hx_import *import, const char *name, hx_set_kind kind,
                          hx_import_set **set)
{
    if (import->sink && import->n_set == HX_SOURCE_SETS)
        return hx_import_need_whole(import, "more than 64 sets");
    if (import->n_set == MOST_SETS)
        return HX_IMPORT_RAISE(import, 0, "more than %d sets, the last named '%.60s'", MOST_SETS,
                               name);
    if (!import->set) HX_TRY(hx_alloc(&import->set, MOST_SETS, sizeof(hx_import_set *), "sets"));
    HX_TRY(hx_alloc(set, 1, sizeof **set, "a set"));
    import->set[import->n_set++] = *set;
    (*set)->kind = kind;
    return hx_strdup(&(*set)->name, name);
}

int hx_import_set_named(hx_import *import, const char *name, hx_import_set **set)
{
    for (size_t i = 0; i < import->n_set; i++) {
        if (strcmp(import->set[i]->name, name) != 0) continue;
        *set = import->set[i];
        return HX_OK;
    }
    return add_import_set(import, name, HX_KIND_NODES, set);
}

int hx_import_set_of(hx_import *import, const char *name, hx_set_kind kind, hx_import_set **set)
{
    for (size_t i = 0; i < import->n_set; i++) {
        *set = import->set[i];
        if ((*set)->kind == kind && strcmp((*set)->name, name) == 0) return HX_OK;
    }
    return add_import_set(import, name, kind, set);
}

void hx_import_drop_set(hx_import *import, hx_import_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < import->n_set; i++)
        if (import->set[i] != set) import->set[n++] = import->set[i];
    import->n_set = n;
    hx_import_set_clear(set);
    free(set->name);
    free(set);
}

void hx_import_set_clear(hx_import_set *set)
{
    hx_numbers_free(&set->node);
    hx_numbers_free(&set->elem);
    hx_numbers_free(&set->elem_index);
    hx_numbers_free(&set->quad);
    hx_numbers_free(&set->free_elem);
    hx_numbers_free(&set->face_elem);
    hx_numbers_free(&set->face_local);
}

void hx_import_free(hx_import *import)
{
    for (size_t i = 0; i < import->n_other; i++) free(import->other[i].type);
    for (size_t i = 0; i < import->n_set; i++) {
        hx_import_set_clear(import->set[i]);
        free(import->set[i]->name);
        free(import->set[i]);
    }
    hx_set_rules_free(&import->rules);
    hx_unread_free(&import->unread);
    free(import->other);
    free(import->set);
    free(import->path);
    free(import->xyz);
    free(import->node_new);
    free(import->order);
    free(import->solid);
    free(import->middle_of_node);
    free(import->middle_place);
    free(import->middle_xyz);
    hx_renumbered_free(&import->renumbered);
    hx_numbers_free(&import->node_number);
    hx_numbers_free(&import->elem_number);
    hx_numbers_free(&import->corner);
    hx_numbers_free(&import->middle);
    hx_numbers_free(&import->node_line);
    hx_numbers_free(&import->elem_line);
    hx_number_index_free(&import->node_index);
    hx_number_index_free(&import->elem_index);
    memset(import, 0, sizeof *import);
}

/* --- numbers --- */

int64_t hx_import_short(const hx_import *import, int64_t number)
{
    return import->number_short ? import->number_short(import->number_context, number) : number;
}

int64_t hx_import_node_index(const hx_import *import, int64_t number)
{
    const int64_t place = hx_number_index_find(&import->node_index, number);
    return place >= 0 && import->node_new ? import->node_new[place] : place;
}

int64_t hx_import_elem_index(const hx_import *import, int64_t number)
{
    return hx_number_index_find(&import->elem_index, number);
}
