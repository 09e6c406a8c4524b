/* Sets of an imported mesh: converts the file's numbers to nodes, elements and faces of the
 * mesh. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../mesh/face_match.h"
#include "../mesh/mesh_check.h"
#include "mesh_import_internal.h"

void hx_leave_out(hx_left_out *out, int64_t number)
{
    if (out->n++ == 0) out->first = number;
}

int hx_note_left_out(const hx_import *import, const hx_import_set *set, const hx_left_out *out,
                     int64_t n_kept)
{
    if (out->n == 0 || (set->is_reference && !out->is_missing)) return HX_OK;
    if (out->is_missing)
        return hx_notes_add(import->notes, HX_NOTE_WARNING,
                            "%s: set '%.100s' names %s, which are left out: %lld, the first is %s",
                            import->path, set->name, out->what, (long long)out->n,
                            HX_IMPORT_NUMBER(import, out->first));
    return hx_notes_add(import->notes, n_kept > 0 ? HX_NOTE_DETAIL : HX_NOTE_WARNING,
                        "%s: set '%.100s': %lld %s are left out (the first: %s)", import->path,
                        set->name, (long long)out->n, out->what,
                        HX_IMPORT_NUMBER(import, out->first));
}

int hx_import_unknown(const hx_import *import, const hx_import_set *set, int64_t number)
{
    return HX_IMPORT_RAISE(import, 0, "set '%.100s' names node %s, which the file does not have",
                           set->name, HX_IMPORT_NUMBER(import, number));
}

/* Collects the nodes of a set: those that the mesh has and, for each omitted mid-side node, both
 * ends of its edge. */
typedef struct node_list {
    int64_t n, n_middle, n_middle_corner;
    int32_t *node;
} node_list;

/* Takes entry i of the set. For a node of second order, its corners are taken only if take_corners
 * is 1. */
static void take_node(const hx_import *import, const hx_import_set *set, const hx_mesh *mesh,
                      int64_t i, int take_corners, node_list *list, hx_left_out out[2])
{
    int32_t corner[HX_SOLID_CORNERS];
    const int64_t number = hx_numbers_get(&set->node, i);
    const int64_t index = hx_import_node_index(import, number);
    if (index >= 0) {
        if (!take_corners) list->node[list->n++] = (int32_t)index;
        return;
    }
    if (hx_number_index_find(&import->node_index, number) < 0) {
        if (!take_corners) hx_leave_out(&out[1], number);
        return;
    }
    const int64_t middle = hx_import_middle(import, number);
    const int n = middle < 0 ? 0 : hx_import_middle_corners(import, mesh, middle, corner);
    if (take_corners) {
        for (int k = 0; k < n; k++) list->node[list->n++] = corner[k];
        return;
    }
    list->n_middle += n > 0;
    list->n_middle_corner += n;
    if (n == 0) hx_leave_out(&out[0], number);
}

/* Notes corners that the set did not name and that were added for nodes of second order. */
static int note_middles(const hx_import *import, const hx_import_set *set, const hx_mesh *mesh,
                        const node_list *list)
{
    uint8_t *named = NULL;
    int64_t n_more = 0;
    const int64_t n_named = list->n - list->n_middle_corner;
    HX_TRY(hx_alloc(&named, (size_t)mesh->n_node, 1, "flags of nodes"));
    for (int64_t i = 0; i < list->n; i++) {
        n_more += i >= n_named && !named[list->node[i]];
        named[list->node[i]] = 1;
    }
    free(named);
    return hx_notes_add(import->notes, n_more > 0 ? HX_NOTE_INFO : HX_NOTE_DETAIL,
                        "%s: set '%.100s': %lld mid-side nodes are replaced by the ends of their "
                        "edges, %lld of which were not in the set",
                        import->path, set->name, (long long)list->n_middle, (long long)n_more);
}

/* Adds the edges whose middles the set names. */
static int add_middles(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int32_t *end = NULL, corner[HX_SOLID_CORNERS];
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&end, 2 * (size_t)set->node.n, sizeof *end, "middles of a set"));
    for (int64_t i = 0; i < set->node.n; i++) {
        const int64_t middle = hx_import_middle(import, hx_numbers_get(&set->node, i));
        if (middle < 0 || hx_import_middle_corners(import, mesh, middle, corner) != 2) continue;
        memcpy(end + 2 * n++, corner, 2 * sizeof *end);
    }
    const int rc = hx_mesh_add_middle_set(mesh, set->name, n, end);
    free(end);
    return rc;
}

static int add_nodes(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int rc = HX_OK;
    node_list list = {0, 0, 0, NULL};
    hx_left_out out[2] = {{.what = "nodes that no element uses"}, HX_MISSING_NODES};
    const size_t n = (size_t)set->node.n;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&list.node, n, sizeof *list.node, "nodes of a set"));
    for (int64_t i = 0; i < set->node.n; i++) take_node(import, set, mesh, i, 0, &list, out);
    if (list.n_middle > 0) {
        HX_TRY_FAIL(hx_resize_raw(&list.node, n, n + (size_t)list.n_middle_corner,
                                  sizeof *list.node, "nodes of a set"));
        for (int64_t i = 0; i < set->node.n; i++) take_node(import, set, mesh, i, 1, &list, out);
        HX_TRY_FAIL(note_middles(import, set, mesh, &list));
    }
    HX_TRY_FAIL(hx_mesh_add_node_set(mesh, set->name, list.n, list.node));
    if (list.n_middle > 0) HX_TRY_FAIL(add_middles(import, set, mesh));
    HX_TRY_FAIL(hx_note_left_out(import, set, &out[0], list.n));
    rc = hx_note_left_out(import, set, &out[1], list.n);
fail:
    free(list.node);
    return rc;
}

/* Elements of other types may also be members. If the file has such elements, a number that is not
 * a solid counts in out[0], otherwise in out[1]. Returns the index, or -1. */
static int64_t find_elem(const hx_import *import, int64_t number, hx_left_out out[2])
{
    const int64_t index = hx_import_elem_index(import, number);
    if (index < 0) hx_leave_out(&out[import->n_other == 0], number);
    return index;
}

static int note_elems(const hx_import *import, const hx_import_set *set, const hx_left_out out[2],
                      int64_t n_kept)
{
    HX_TRY(hx_note_left_out(import, set, &out[0], n_kept));
    return hx_note_left_out(import, set, &out[1], n_kept);
}

static int add_elems(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int rc = HX_OK;
    int32_t *elem = NULL;
    int64_t n = 0, index;
    hx_left_out out[2] = {{.what = "elements that are not solids"}, HX_MISSING_ELEMS};
    const int64_t n_all = set->elem.n + set->elem_index.n;
    if (n_all == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&elem, (size_t)n_all, sizeof *elem, "elements of a set"));
    for (int64_t i = 0; i < set->elem.n; i++) {
        index = find_elem(import, hx_numbers_get(&set->elem, i), out);
        if (index >= 0) elem[n++] = (int32_t)index;
    }
    for (int64_t i = 0; i < set->elem_index.n; i++) {
        index = hx_numbers_get(&set->elem_index, i);
        if (index < 0 || index >= import->n_elem) {
            rc = HX_RAISE(HX_EINTERNAL, "set '%.100s': no element %lld", set->name,
                          (long long)index);
            goto fail;
        }
        elem[n++] = (int32_t)index;
    }
    HX_TRY_FAIL(hx_mesh_add_elem_set(mesh, set->name, n, elem));
    rc = note_elems(import, set, out, n);
fail:
    free(elem);
    return rc;
}

/* Finds the face of the mesh that the file means, -1: it is an edge or a point; the order of the
 * element's nodes may have changed. */
static int place_face(const hx_import *import, const hx_mesh *mesh, int64_t elem, int64_t local,
                      int64_t *face)
{
    int32_t ring[4];
    static const int mirrored[6] = {0, 1, 2, 3, 5, 4};
    const hx_renumbered *const cell = hx_find_renumbered(&import->renumbered, elem);
    const int order = import->order ? import->order[elem] : HX_ORDER_VTK;
    if (local < 0 || local > 5)
        return HX_RAISE(HX_EINTERNAL, "face %lld of an element", (long long)local);
    if (cell) {
        *face = cell->face[local] < 0 ? -1 : 6 * elem + cell->face[local];
        return HX_OK;
    }
    if (order == HX_ORDER_TENSOR || order == HX_ORDER_MIRRORED_TENSOR)
        return HX_IMPORT_RAISE(
            import, 0,
            "a set names a face of element %s by number, but the nodes of the element are out of "
            "order, so the face is ambiguous; write the elements in the format's order",
            HX_IMPORT_NUMBER(import, hx_numbers_get(&import->elem_number, elem)));
    const int own = order == HX_ORDER_MIRRORED ? mirrored[local] : (int)local;
    *face = hx_cell_face(mesh->conn + 8 * elem, own, ring) < 3 ? -1 : 6 * elem + own;
    return HX_OK;
}

static int add_import_faces(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int rc = HX_OK;
    int64_t *face = NULL, n = 0, elem;
    hx_left_out out[2] = {{.what = "faces of elements that are not solids"}, HX_MISSING_ELEMS};
    hx_left_out flat = {
        "faces that repeated nodes collapse to an edge or a point, by their element,", 0, 0};
    if (set->face_elem.n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&face, (size_t)set->face_elem.n, sizeof *face, "faces of a set"));
    for (int64_t i = 0; i < set->face_elem.n; i++) {
        const int64_t local = hx_numbers_get(&set->face_local, i);
        elem = find_elem(import, hx_numbers_get(&set->face_elem, i), out);
        if (elem < 0) continue;
        HX_TRY_FAIL(place_face(import, mesh, elem, local, &face[n]));
        if (face[n] >= 0)
            n++;
        else
            hx_leave_out(&flat, hx_numbers_get(&set->face_elem, i));
    }
    HX_TRY_FAIL(hx_mesh_add_face_set(mesh, set->name, n, face));
    HX_TRY_FAIL(hx_note_left_out(import, set, &flat, n));
    rc = note_elems(import, set, out, n);
fail:
    free(face);
    return rc;
}

/* --- faces given by their nodes --- */

static int collect_quads(const hx_import *import, const hx_import_set *set, hx_face_match *q,
                         hx_left_out *out)
{
    for (int64_t i = 0; i < set->quad.n / 4; i++) {
        int32_t node[4];
        int found = 1;
        for (int k = 0; k < 4; k++) {
            const int64_t number = hx_numbers_get(&set->quad, 4 * i + k);
            const int64_t index = hx_import_node_index(import, number);
            if (index < 0 && hx_number_index_find(&import->node_index, number) < 0)
                return hx_import_unknown(import, set, number);
            if (index < 0) found = 0;
            node[k] = (int32_t)index;
        }
        if (found)
            hx_face_match_add(q, node);
        else
            hx_leave_out(out, hx_numbers_get(&set->quad, 4 * i));
    }
    return HX_OK;
}

/* Adds the corners of triangles that are not faces of elements, such as halves of a hexahedron's
 * face, as nodes of the set. */
static int add_unmatched_triangles(const hx_import_set *set, hx_mesh *mesh, const hx_face_match *q)
{
    int32_t *node = NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < q->n; i++) n += q->face[i] < 0 && q->node[i][0] < 0 ? 3 : 0;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&node, (size_t)n, sizeof *node, "nodes of a set"));
    n = 0;
    for (int64_t i = 0; i < q->n; i++)
        for (int k = 1; k < 4 && q->face[i] < 0 && q->node[i][0] < 0; k++)
            node[n++] = q->node[i][k];
    const int rc = hx_mesh_add_node_set(mesh, set->name, n, node);
    free(node);
    return rc;
}

static int add_quads(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int rc = HX_OK;
    hx_face_match q;
    hx_left_out out = {"faces that no element has, by their first node,", 0, 0};
    if (set->quad.n == 0) return HX_OK;
    memset(&q, 0, sizeof q);
    HX_TRY_FAIL(hx_face_match_create(&q, set->quad.n / 4, mesh->n_node));
    HX_TRY_FAIL(collect_quads(import, set, &q, &out));
    hx_face_match_find(&q, mesh);
    HX_TRY_FAIL(add_unmatched_triangles(set, mesh, &q));
    int64_t n = 0;
    for (int64_t i = 0; i < q.n; i++) {
        if (q.face[i] >= 0)
            q.face[n++] = q.face[i];
        else if (q.node[i][0] >= 0)
            hx_leave_out(&out, hx_numbers_get(&mesh->node_number, q.node[i][0]));
    }
    HX_TRY_FAIL(hx_mesh_add_face_set(mesh, set->name, n, q.face));
    rc = hx_note_left_out(import, set, &out, n);
fail:
    hx_face_match_free(&q);
    return rc;
}

/* --- boundary faces of elements --- */

static int add_free(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    int rc = HX_OK;
    int64_t n = 0;
    hx_face_match q;
    hx_left_out out[2] = {{.what = "elements that are not solids"}, HX_MISSING_ELEMS};
    if (set->free_elem.n == 0) return HX_OK;
    memset(&q, 0, sizeof q);
    HX_TRY_FAIL(hx_face_match_create(&q, 6 * set->free_elem.n, mesh->n_node));
    for (int64_t i = 0; i < set->free_elem.n; i++) {
        const int64_t elem = find_elem(import, hx_numbers_get(&set->free_elem, i), out);
        for (int f = 0; f < 6 && elem >= 0; f++) {
            int32_t node[4];
            for (int k = 0; k < 4; k++) node[k] = mesh->conn[8 * elem + hx_hex_face[f][k]];
            hx_face_match_add(&q, node);
        }
    }
    hx_face_match_find(&q, mesh);
    for (int64_t i = 0; i < q.n; i++)
        if (!q.shared[i]) q.face[n++] = q.face[i];
    HX_TRY_FAIL(hx_mesh_add_face_set(mesh, set->name, n, q.face));
    rc = note_elems(import, set, out, n);
fail:
    hx_face_match_free(&q);
    return rc;
}

int hx_import_make_set(const hx_import *import, const hx_import_set *set, hx_mesh *mesh)
{
    /* A set exists even if the file gives it no member. */
    HX_TRY(hx_mesh_add_node_set(mesh, set->name, 0, NULL));
    HX_TRY(add_nodes(import, set, mesh));
    HX_TRY(add_elems(import, set, mesh));
    HX_TRY(add_import_faces(import, set, mesh));
    HX_TRY(add_quads(import, set, mesh));
    HX_TRY(add_free(import, set, mesh));
    hx_mesh_mark_skin(mesh, set->name, set->node.n == 0 && set->quad.n > 0);
    return HX_OK;
}
