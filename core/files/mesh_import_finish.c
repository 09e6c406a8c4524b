/* Makes the mesh from what a reader has collected. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../mesh/mesh_check.h"
#include "../mesh/mesh_source.h"
#include "../mesh/set_rules.h"
#include "mesh_import_internal.h"

/* --- other cells --- */

static const char *hint_for(const hx_import *import, hx_shape shape)
{
    const char *const hint = shape == HX_SHAPE_HIGH_ORDER ? import->order_hint : import->shape_hint;
    if (hint) return hint;
    if (shape == HX_SHAPE_HIGH_ORDER) return "mesh with elements of first or second order";
    return "mesh the whole part with these";
}

static int note_ignored(const hx_import *import)
{
    for (size_t i = 0; i < import->n_other; i++) {
        const hx_import_other *const other = &import->other[i];
        HX_TRY(hx_notes_add(
            import->notes, HX_NOTE_DETAIL,
            "%s: %lld cells of type %s are used only for sets (the first has number %s)",
            import->path, (long long)other->n, other->type,
            HX_IMPORT_NUMBER(import, other->number)));
    }
    return HX_OK;
}

/* --- corners and nodes --- */

static int build_indices(hx_import *import)
{
    int64_t line;
    HX_TRY(hx_number_index_create(&import->node_index, &import->node_number));
    HX_TRY(hx_number_index_create(&import->elem_index, &import->elem_number));
    int64_t i = import->node_index.repeated;
    if (i >= 0) {
        line = hx_import_node_line(import, i);
        return HX_IMPORT_RAISE(import, line, "a second node with the number %s",
                               HX_IMPORT_NUMBER(import, hx_numbers_get(&import->node_number, i)));
    }
    i = import->elem_index.repeated;
    if (i < 0) return HX_OK;
    line = hx_import_elem_line(import, i);
    return HX_IMPORT_RAISE(import, line, "a second element with the number %s",
                           HX_IMPORT_NUMBER(import, hx_numbers_get(&import->elem_number, i)));
}

int hx_import_no_node(const hx_import *import, int64_t line, int64_t elem, int64_t node)
{
    return HX_IMPORT_RAISE(import, line, "element %s names node %s, which the file does not have",
                           HX_IMPORT_NUMBER(import, hx_numbers_get(&import->elem_number, elem)),
                           HX_IMPORT_NUMBER(import, node));
}

/* conn := indices of the corners' nodes, in the memory of the corners if its width fits. */
static int resolve_corners(hx_import *import, int32_t **conn_out)
{
    const int64_t n = 8 * import->n_elem;
    hx_numbers *const corner = &import->corner;
    int32_t *conn = corner->narrow;
    int64_t bad = INT64_MAX;
    if (!conn) HX_TRY(hx_alloc_raw(&conn, (size_t)n, sizeof *conn, "elements of a mesh file"));
    *conn_out = conn;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = hx_number_index_find(&import->node_index, hx_numbers_get(corner, i));
        if (place >= 0)
            conn[i] = (int32_t)place;
        else if (i < bad)
            bad = i;
    }
    int rc = HX_OK;
    if (bad != INT64_MAX)
        rc = hx_import_no_node(import, hx_import_elem_line(import, bad / 8), bad / 8,
                               hx_numbers_get(corner, bad));
    corner->narrow = NULL;
    hx_numbers_free(corner);
    return rc;
}

/* Numbers the nodes that elements use in their order; -1 for the others. */
static int number_used(hx_import *import, const int32_t *conn, int64_t *n_used)
{
    uint8_t *used = NULL;
    int64_t first[HX_N_PART + 1] = {0};
    HX_TRY(hx_alloc(&used, (size_t)import->n_node, 1, "flags of nodes"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 8 * import->n_elem; i++) {
#pragma omp atomic write
        used[conn[i]] = 1;
    }
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++)
        for (int64_t a = hx_part_begin(import->n_node, p); a < hx_part_begin(import->n_node, p + 1);
             a++)
            first[p + 1] += used[a];
    for (int p = 0; p < HX_N_PART; p++) first[p + 1] += first[p];
    *n_used = first[HX_N_PART];
    int rc = HX_OK;
    if (*n_used < import->n_node)
        rc =
            hx_alloc_raw(&import->node_new, (size_t)import->n_node, sizeof(int32_t), "new numbers");
    if (import->node_new) {
#pragma omp parallel for schedule(static)
        for (int p = 0; p < HX_N_PART; p++) {
            int32_t next = (int32_t)first[p];
            for (int64_t a = hx_part_begin(import->n_node, p);
                 a < hx_part_begin(import->n_node, p + 1); a++)
                import->node_new[a] = used[a] ? next++ : -1;
        }
    }
    free(used);
    return rc;
}

static int copy_numbers(const hx_import *import, const hx_numbers *from, hx_numbers *to)
{
    if (!import->number_short) return hx_numbers_copy(to, from);
    for (int64_t i = 0; i < from->n; i++) {
        const int64_t called = hx_import_short(import, hx_numbers_get(from, i));
        HX_TRY(hx_numbers_append(to, 1, &called));
    }
    return HX_OK;
}

int hx_import_note_dropped(const hx_import *import, int64_t n_dropped, int64_t first)
{
    if (n_dropped == 0) return HX_OK;
    return hx_notes_add(import->notes, HX_NOTE_DETAIL,
                        "%s: %lld nodes that no element uses are left out (the first has number "
                        "%s)",
                        import->path, (long long)n_dropped, HX_IMPORT_NUMBER(import, first));
}

/* Leaves out the nodes that no element uses; `number` := the mesh's numbers of the others. */
static int drop_unused(hx_import *import, int32_t *conn, int64_t *n_used, hx_numbers *number)
{
    HX_TRY(number_used(import, conn, n_used));
    const int32_t *const node_new = import->node_new;
    if (!node_new) return copy_numbers(import, &import->node_number, number);
    int64_t first_dropped = -1, n_dropped = 0; /* not counting those of second order */
    for (int64_t a = 0; a < import->n_node; a++) {
        const int64_t file_number = hx_numbers_get(&import->node_number, a);
        if (node_new[a] < 0) {
            if (import->middle_of_node && import->middle_of_node[a] >= 0) continue;
            if (n_dropped++ == 0) first_dropped = file_number;
            continue;
        }
        memmove(import->xyz + 3 * (int64_t)node_new[a], import->xyz + 3 * a,
                3 * sizeof *import->xyz);
        const int64_t called = hx_import_short(import, file_number);
        HX_TRY(hx_numbers_append(number, 1, &called));
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 8 * import->n_elem; i++) conn[i] = node_new[conn[i]];
    return hx_import_note_dropped(import, n_dropped, first_dropped);
}

/* --- the mesh --- */

static int make_import_mesh(hx_import *import, hx_mesh *mesh)
{
    int rc = HX_OK;
    int32_t *conn = NULL;
    int64_t n_used = 0;
    hx_numbers node_number = {0}, elem_number = {0};
    const char *const slash = strrchr(import->path, '/');
    HX_TRY_FAIL(resolve_corners(import, &conn));
    HX_TRY_FAIL(hx_import_list_middles(import, conn));
    HX_TRY_FAIL(drop_unused(import, conn, &n_used, &node_number));
    HX_TRY_FAIL(copy_numbers(import, &import->elem_number, &elem_number));
    if (n_used < 4) {
        rc = HX_IMPORT_RAISE(import, hx_import_elem_line(import, 0),
                             "element %s has %lld different nodes; a solid has at least 4",
                             HX_IMPORT_NUMBER(import, hx_numbers_get(&import->elem_number, 0)),
                             (long long)n_used);
        goto fail;
    }
    double *const xyz = import->xyz;
    int32_t *const taken = conn;
    import->xyz = NULL;
    import->xyz_capacity = 0;
    conn = NULL;
    rc = hx_mesh_create(mesh, slash ? slash + 1 : import->path, n_used, xyz, import->n_elem, taken);
    if (rc < 0) {
        (void)hx_import_place(import, 0, rc);
        goto fail;
    }
    mesh->node_number = node_number;
    mesh->elem_number = elem_number;
    mesh->rules = import->rules;
    memset(&import->rules, 0, sizeof import->rules);
    return HX_OK;
fail:
    free(conn);
    hx_numbers_free(&node_number);
    hx_numbers_free(&elem_number);
    return rc;
}

/* Gives tetrahedra, wedges and pyramids their standard numbering. */
static int normalize_import_cells(hx_import *import, hx_mesh *mesh)
{
    hx_normalize_report report;
    HX_TRY(hx_normalize_cells(mesh, &import->renumbered, &report));
    if (report.bad >= 0)
        return hx_import_place(import, hx_import_elem_line(import, report.bad),
                               hx_refuse_cell(mesh, report.bad));
    return hx_note_mirrored(mesh, &report, HX_NOTE_WARNING, import->notes);
}

static int is_empty(const hx_import_set *set)
{
    if (set->is_unmet) return 1;
    return !set->is_flushed && set->node.n + set->elem.n + set->elem_index.n + set->quad.n +
                                       set->free_elem.n + set->face_elem.n ==
                                   0;
}

int hx_import_name_apart(hx_import *import, hx_mesh *mesh)
{
    hx_kind_set *list = NULL;
    HX_TRY(hx_alloc(&list, import->n_set, sizeof *list, "sets of a file"));
    for (size_t i = 0; i < import->n_set; i++)
        list[i] =
            (hx_kind_set){&import->set[i]->name, import->set[i]->kind, is_empty(import->set[i])};
    const int rc = hx_kinds_name_apart(import->n_set, list, import->kind_words, import->path,
                                       import->notes, mesh);
    free(list);
    return rc;
}

int hx_import_check_cells(const hx_import *import)
{
    for (size_t i = 0; i < import->n_other; i++) {
        const hx_import_other *const other = &import->other[i];
        if (other->shape < HX_SHAPE_HIGH_ORDER) continue;
        return HX_IMPORT_RAISE(import, other->line,
                               "element %s is a %s (the file has %lld of this type and %lld solids "
                               "that are read); every solid element must be a tetrahedron, wedge, "
                               "pyramid or hexahedron of first or second order: %s",
                               HX_IMPORT_NUMBER(import, other->number), other->type,
                               (long long)other->n, (long long)import->n_elem,
                               hint_for(import, other->shape));
    }
    const hx_import_other *const other = import->n_other > 0 ? import->other : NULL;
    if (import->n_elem <= 0)
        return HX_IMPORT_RAISE(import, 0, "no solid element among %lld nodes%s%s%s: %s",
                               (long long)import->n_node, other ? " and cells such as " : "",
                               other ? other->type : "", other ? "" : " and no other cell",
                               import->empty_hint ? import->empty_hint : "a solid mesh is needed");
    return note_ignored(import);
}

/* Returns 1 if a part of the rule is a set that the file gives by faces. */
static int unites_faces(const hx_import *import, const hx_stated_rule *rule)
{
    for (size_t p = 0; p < rule->set.n_part; p++)
        for (size_t i = 0; i < import->n_set; i++) {
            const hx_import_set *const set = import->set[i];
            if (strcmp(set->name, rule->set.part[p]) != 0) continue;
            if (set->quad.n + set->face_elem.n + set->free_elem.n > 0) return 1;
        }
    return 0;
}

/* Combined sets require the whole mesh. */
static int need_whole_for_rules(hx_import *import)
{
    for (size_t i = 0; i < import->rules.n; i++) {
        const hx_stated_rule *const rule = &import->rules.rule[i];
        if (rule->is_listed || unites_faces(import, rule))
            return hx_import_need_whole(import, "sets that are made of other sets");
    }
    return HX_OK;
}

int hx_import_finish(hx_import *import, hx_mesh *mesh)
{
    int rc = HX_OK;
    if (import->sink) HX_TRY(need_whole_for_rules(import));
    if (import->sink) return import->sink->finish(import->sink, import);
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_import_check_cells(import));
    HX_TRY(build_indices(import));
    HX_TRY(make_import_mesh(import, mesh));
    HX_TRY_FAIL(hx_import_name_apart(import, mesh));
    HX_TRY_FAIL(normalize_import_cells(import, mesh));
    HX_TRY_FAIL(hx_mesh_repair_order(mesh, &import->order, import->notes));
    HX_TRY_FAIL(hx_check_repaired(mesh, &import->renumbered, import->order));
    HX_TRY_FAIL(hx_import_keep_middles(import, mesh));
    for (size_t i = 0; i < import->n_set; i++) {
        HX_TRY_FAIL(hx_import_make_set(import, import->set[i], mesh));
        hx_import_set_clear(import->set[i]);
    }
    return HX_OK;
fail:
    hx_mesh_free(mesh);
    return rc;
}
