/* Makes the mesh and its sets from the contents of a VTK file, legacy or XML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "../mesh/face_match.h"
#include "../mesh/mesh_internal.h"
#include "set_kinds.h"
#include "vtk_faces.h"
#include "vtk_reader.h"

enum { MAX_SET_VALUES = HX_VTK_SET_VALUES };

int hx_vtk_check_sections(hx_vtk_reader *r)
{
    if (r->n_node >= 0 && r->n_elem >= 0 && r->has_types) return HX_OK;
    return HX_FILE_RAISE(&r->scan,
                         "no %s section; an unstructured grid has POINTS, CELLS and CELL_TYPES, "
                         "followed by its data",
                         r->n_node < 0   ? "POINTS"
                         : r->n_elem < 0 ? "CELLS"
                                         : "CELL_TYPES");
}

int hx_vtk_make_mesh(hx_vtk_reader *r)
{
    HX_TRY(hx_vtk_check_sections(r));
    if (r->elem_new && r->n_solid == 0)
        return HX_FILE_RAISE(&r->scan,
                             "no solid among %lld cells, which are points, lines and faces (gmsh "
                             "saves volumes only if a Physical Volume contains them)",
                             (long long)r->n_elem);
    if (r->wanted && r->n_elem == 0)
        return HX_FILE_RAISE(&r->scan,
                             "no cells: a run writes none if all densities are below "
                             "output.threshold; write the design with a lower output.threshold, or "
                             "none");
    const char *slash = strrchr(r->scan.path, '/');
    double *xyz = r->xyz;
    int32_t *conn = r->conn;
    r->xyz = NULL;
    r->conn = NULL;
    r->has_mesh = true;
    const int64_t n_node = r->node_new ? r->n_kept : r->n_node;
    const int rc =
        hx_mesh_create(r->mesh, slash ? slash + 1 : r->scan.path, n_node, xyz, r->n_solid, conn);
    if (rc < 0) {
        hx_error_prefix("%s: ", r->scan.path);
        return rc;
    }
    r->mesh->middles = r->middles;
    memset(&r->middles, 0, sizeof r->middles);
    r->mesh->rules = r->rules;
    memset(&r->rules, 0, sizeof r->rules);
    /* the file's numbers of the points and cells that are kept */
    for (int64_t a = 0; r->node_new && a < r->n_node; a++)
        if (r->node_new[a] >= 0) HX_TRY(hx_numbers_append(&r->mesh->node_number, 1, &a));
    if (!r->elem_new) return HX_OK;
    for (int64_t e = 0; e < r->n_elem; e++)
        if (r->elem_new[e] >= 0) HX_TRY(hx_numbers_append(&r->mesh->elem_number, 1, &e));
    int64_t n_ghost = 0;
    for (int64_t e = 0; e < r->n_elem; e++) n_ghost += r->elem_new[e] == HX_VTK_GHOST;
    if (n_ghost > 0)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_DETAIL, "%s: %lld ghost cells are left out",
                            r->scan.path, (long long)n_ghost));
    if (r->n_elem - r->n_solid == n_ghost) return HX_OK;
    return hx_notes_add(r->notes, HX_NOTE_DETAIL,
                        "%s: %lld points, lines and faces among the cells are used only for sets",
                        r->scan.path, (long long)(r->n_elem - r->n_solid - n_ghost));
}

/* --- sets from integer arrays --- */

int hx_vtk_find_value(const int32_t *list, int n, int32_t value)
{
    return (int)hx_count_below_i32(list, n, value);
}

void hx_vtk_add_value(hx_vtk_values *list, int32_t value)
{
    const int at = hx_vtk_find_value(list->value, list->n <= MAX_SET_VALUES ? list->n : 0, value);
    if (list->n > MAX_SET_VALUES || (at < list->n && list->value[at] == value)) return;
    if (list->n++ == MAX_SET_VALUES) return;
    memmove(list->value + at + 1, list->value + at,
            (size_t)(list->n - 1 - at) * sizeof *list->value);
    list->value[at] = value;
}

/* Finds the distinct values of value[n], using HX_N_PART parts. */
static void distinct_values(int64_t n, const int32_t *value, hx_vtk_values *part,
                            hx_vtk_values *all)
{
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        const int64_t begin = hx_part_begin(n, p);
        part[p].n = 0;
        for (int64_t i = begin; i < hx_part_begin(n, p + 1); i++)
            if (i == begin || value[i] != value[i - 1]) hx_vtk_add_value(&part[p], value[i]);
    }
    all->n = 0;
    for (int p = 0; p < HX_N_PART; p++) {
        if (part[p].n > MAX_SET_VALUES) all->n = MAX_SET_VALUES + 1;
        for (int k = 0; k < part[p].n && all->n <= MAX_SET_VALUES; k++)
            hx_vtk_add_value(all, part[p].value[k]);
    }
}

/* Sorts the indices of value[n] by value, ascending; start[v] becomes the first index of value
 * v. */
static void sort_places(int64_t n, const int32_t *value, const hx_vtk_values *all, int64_t *count,
                        int64_t start[MAX_SET_VALUES + 1], int32_t *place)
{
    const int n_value = all->n;
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        int64_t *const here = count + (size_t)p * MAX_SET_VALUES;
        for (int64_t i = hx_part_begin(n, p); i < hx_part_begin(n, p + 1); i++)
            here[hx_vtk_find_value(all->value, n_value, value[i])]++;
    }
    int64_t next = 0;
    for (int v = 0; v < n_value; v++) {
        start[v] = next;
        for (int p = 0; p < HX_N_PART; p++) {
            const int64_t here = count[(size_t)p * MAX_SET_VALUES + (size_t)v];
            count[(size_t)p * MAX_SET_VALUES + (size_t)v] = next;
            next += here;
        }
    }
    start[n_value] = next;
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        int64_t *const to = count + (size_t)p * MAX_SET_VALUES;
        for (int64_t i = hx_part_begin(n, p); i < hx_part_begin(n, p + 1); i++)
            place[to[hx_vtk_find_value(all->value, n_value, value[i])]++] = (int32_t)i;
    }
}

/* Handles points of a file of second order: those that are left out are replaced by corners. */
static int add_points(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *member)
{
    int32_t *node = NULL, *edge = NULL;
    int64_t n_all = 0, n_edge = 0;
    if (!r->node_new) return hx_mesh_add_node_set(r->mesh, name, n, member);
    for (int64_t i = 0; i < n; i++)
        n_all += r->node_new[member[i]] >= 0 ? 1 : r->middle_end[r->middle[member[i]]];
    HX_TRY(hx_alloc_raw(&node, (size_t)(n_all + 2 * n), sizeof *node, "nodes of a set"));
    edge = node + n_all;
    n_all = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t kept = r->node_new[member[i]];
        const int32_t *const end = kept >= 0 ? NULL : r->middle_end + r->middle[member[i]];
        if (kept >= 0) node[n_all++] = kept;
        for (int k = 1; end && k <= end[0]; k++) node[n_all++] = end[k];
        if (end && end[0] == 2) memcpy(edge + 2 * n_edge++, end + 1, 2 * sizeof *end);
    }
    int rc = hx_mesh_add_node_set(r->mesh, name, n_all, node);
    if (rc == HX_OK && n_edge > 0) rc = hx_mesh_add_middle_set(r->mesh, name, n_edge, edge);
    free(node);
    return rc;
}

/* --- faces --- */

/* Corners of a triangle or quadrangle in the mesh; returns 0 if a corner is missing. */
static int take_face(const hx_vtk_reader *r, int64_t cell, int32_t node[4])
{
    const int32_t *const from = r->cell_node + r->cell_begin[cell];
    const int n = r->elem_new[cell] == HX_VTK_TRIANGLE ? 3 : 4;
    for (int k = 0; k < 4; k++) node[k] = r->node_new[from[k < n ? k : n - 1]];
    return node[0] >= 0 && node[1] >= 0 && node[2] >= 0 && node[3] >= 0;
}

static int is_face(const hx_vtk_reader *r, int32_t cell)
{
    return r->elem_new[cell] == HX_VTK_TRIANGLE || r->elem_new[cell] == HX_VTK_QUAD;
}

enum { KEY_SIZE = HX_FILE_WORD_SIZE + 40 };

/* The key of a set until all sets are known: its kind, a line break, and its name; no array's name
 * contains a line break. The arrays of flags and of faces that hextop writes form one set of
 * points, cells and faces. */
static const char *key_of_set(hx_set_kind kind, const char *name, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%d\n%s", (int)kind, name);
    return key;
}

/* Makes room for n faces of one more set. */
static int add_vtk_faces(hx_vtk_reader *r, const char *name, int64_t n, hx_vtk_faces **made)
{
    HX_TRY(
        hx_grow(&r->faces, r->n_faces, &r->faces_capacity, sizeof *r->faces, "sets of a VTK file"));
    hx_vtk_faces *const faces = &r->faces[r->n_faces++];
    memset(faces, 0, sizeof *faces);
    *made = faces;
    HX_TRY(hx_strdup(&faces->name, name));
    return hx_alloc_raw(&faces->node, (size_t)n, sizeof *faces->node, "faces of a set");
}

int hx_vtk_take_faces(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value)
{
    char key[KEY_SIZE];
    int64_t n_face = 0;
    hx_vtk_faces *faces;
    if (r->middle)
        return hx_notes_add(r->notes, HX_NOTE_WARNING,
                            "%s: not read: " HX_VTK_FACES_OF "%s, whose cells are of second order; "
                            "the faces of the set are found by its nodes",
                            r->scan.path, name);
    for (int64_t i = 0; i < n; i++) n_face += __builtin_popcount((unsigned)value[i]);
    HX_TRY(add_vtk_faces(r, key_of_set(HX_KIND_NODES, name, key), n_face, &faces));
    HX_TRY(hx_alloc_raw(&faces->elem, (size_t)n_face, sizeof *faces->elem, "faces of a set"));
    for (int64_t i = 0; i < n; i++) {
        const int32_t e = r->elem_new ? r->elem_new[i] : (int32_t)i;
        for (int f = 0; e >= 0 && f < HX_VTK_CELL_FACES; f++) {
            if (!(value[i] >> f & 1)) continue;
            faces->elem[faces->n] = e;
            faces->n += hx_vtk_face_nodes(r->mesh->conn + 8 * (int64_t)e, f, faces->node[faces->n]);
        }
    }
    return HX_OK;
}

/* Converts faces given by element and number to the current local faces. */
static int make_local_faces(hx_vtk_reader *r, const hx_vtk_faces *faces)
{
    int64_t *face = NULL, n = 0;
    HX_TRY(hx_alloc_raw(&face, (size_t)faces->n, sizeof *face, "faces of a set"));
    for (int64_t i = 0; i < faces->n; i++) {
        const int32_t *const node = faces->node[i];
        const int local = hx_cell_find_face(r->mesh->conn + 8 * (int64_t)faces->elem[i],
                                            node[3] == node[2] ? 3 : 4, node);
        if (local >= 0) face[n++] = 6 * (int64_t)faces->elem[i] + local;
    }
    const int rc = hx_mesh_add_face_set(r->mesh, faces->name, n, face);
    free(face);
    return rc;
}

static int make_faces_of(hx_vtk_reader *r, const hx_vtk_faces *faces)
{
    hx_face_match match;
    if (faces->elem) return make_local_faces(r, faces);
    int rc = hx_face_match_create(&match, faces->n, r->mesh->n_node);
    for (int64_t i = 0; rc == HX_OK && i < faces->n; i++) hx_face_match_add(&match, faces->node[i]);
    if (rc == HX_OK) {
        int64_t n = 0;
        hx_face_match_find(&match, r->mesh);
        for (int64_t i = 0; i < match.n; i++)
            if (match.face[i] >= 0) match.face[n++] = match.face[i];
        if (n > 0) rc = hx_mesh_add_face_set(r->mesh, faces->name, n, match.face);
    }
    hx_face_match_free(&match);
    return rc;
}

int hx_vtk_make_faces(hx_vtk_reader *r)
{
    for (size_t i = 0; i < r->n_faces; i++) HX_TRY(make_faces_of(r, &r->faces[i]));
    return HX_OK;
}

/* --- sets --- */

/* Adds cells to a set: elements, faces, and the points of all cells that bound elements. */
static int add_cells(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *member)
{
    int32_t *elem = NULL;
    int64_t n_elem = 0;
    int rc = HX_OK;
    if (!r->elem_new) return hx_mesh_add_elem_set(r->mesh, name, n, member);
    /* keep those of these cells that are faces */
    int64_t n_face = 0;
    hx_vtk_faces *faces;
    for (int64_t i = 0; i < n; i++) n_face += is_face(r, member[i]);
    if (n_face != 0) {
        HX_TRY(add_vtk_faces(r, name, n_face, &faces));
        for (int64_t i = 0; i < n; i++)
            if (is_face(r, member[i])) faces->n += take_face(r, member[i], faces->node[faces->n]);
    }
    HX_TRY(hx_alloc_raw(&elem, (size_t)n, sizeof *elem, "elements of a set"));
    for (int64_t i = 0; i < n && rc == HX_OK; i++) {
        const int64_t begin = r->cell_begin[member[i]], end = r->cell_begin[member[i] + 1];
        if (r->elem_new[member[i]] >= 0)
            elem[n_elem++] = r->elem_new[member[i]];
        else if (r->elem_new[member[i]] != HX_VTK_GHOST)
            rc = add_points(r, name, end - begin, r->cell_node + begin);
    }
    if (rc == HX_OK) rc = hx_mesh_add_elem_set(r->mesh, name, n_elem, elem);
    free(elem);
    return rc;
}

/* Adds the elements if there are any among the cells; otherwise the faces; otherwise lines and
 * points. */
static hx_set_kind kind_of(const hx_vtk_reader *r, int64_t n, const int32_t *member)
{
    int n_face = 0;
    if (r->where == HX_VTK_ON_POINTS) return HX_KIND_NODES;
    if (!r->elem_new) return HX_KIND_ELEMS;
    for (int64_t i = 0; i < n; i++) {
        if (r->elem_new[member[i]] >= 0) return HX_KIND_ELEMS;
        n_face += is_face(r, member[i]);
    }
    return n_face > 0 ? HX_KIND_FACES : HX_KIND_CURVES;
}

static int add_vtk_set(hx_vtk_reader *r, int is_flag, const char *name, int64_t n,
                       const int32_t *member)
{
    char key[KEY_SIZE];
    key_of_set(is_flag ? HX_KIND_NODES : kind_of(r, n, member), name, key);
    const int is_new = !hx_mesh_find_set(r->mesh, key), on_points = r->where == HX_VTK_ON_POINTS;
    const int rc = on_points ? add_points(r, key, n, member) : add_cells(r, key, n, member);
    if (rc < 0) hx_error_prefix("%s: set '%s': ", r->scan.path, name);
    if (on_points || is_new) hx_mesh_mark_skin(r->mesh, key, !on_points);
    return rc;
}

/* Gmsh's groups by their numbers, with the names that its own files would give them: "surface 7".
 * Points, curves, surfaces and volumes are numbered separately. */
static int add_groups(hx_vtk_reader *r, int32_t value, int64_t n, const int32_t *member)
{
    static const char *const word[4] = {"point", "curve", "surface", "volume"};
    int rc = HX_OK;
    int32_t *mine = NULL;
    HX_TRY(hx_alloc_raw(&mine, (size_t)n, sizeof *mine, "members of a group"));
    for (int dim = 0; dim < 4 && rc == HX_OK; dim++) {
        char name[32];
        int64_t n_mine = 0;
        for (int64_t i = 0; i < n; i++) {
            const int32_t is = r->elem_new ? r->elem_new[member[i]] : 0;
            const int of = is >= 0 ? 3 : is == HX_VTK_DOT ? 0 : is == HX_VTK_LINE ? 1 : 2;
            if (of == dim && is != HX_VTK_GHOST) mine[n_mine++] = member[i];
        }
        snprintf(name, sizeof name, "%s %ld", word[dim], (long)value);
        if (n_mine > 0) rc = add_vtk_set(r, 0, name, n_mine, mine);
    }
    free(mine);
    return rc;
}

int hx_vtk_name_sets(hx_vtk_reader *r)
{
    hx_kind_set *list = NULL;
    size_t n = 0;
    HX_TRY(hx_alloc(&list, r->mesh->n_set, sizeof *list, "sets of a file"));
    for (size_t i = 0; i < r->mesh->n_set; i++) {
        hx_set *const set = &r->mesh->set[i];
        const char *const rest = strchr(set->name, '\n');
        const hx_set_kind kind = (hx_set_kind)(set->name[0] - '0');
        if (rest) memmove(set->name, rest + 1, strlen(rest + 1) + 1);
        if (rest)
            list[n++] =
                (hx_kind_set){&set->name, kind, set->n_node + set->n_elem + set->n_face == 0};
    }
    const int rc = hx_kinds_name_apart(n, list, NULL, r->scan.path, r->notes, r->mesh);
    free(list);
    /* the order must not depend on which arrays come first */
    if (rc == HX_OK && r->mesh->n_shared > 0) hx_mesh_sort_sets(r->mesh);
    return rc;
}

int hx_vtk_is_flag(const char *name, const hx_vtk_values *all)
{
    const bool fits = all->n == 0 || (all->value[0] >= 0 && all->value[all->n - 1] <= 1);
    return fits && strncmp(name, "set_", 4) == 0 && name[4] != '\0';
}

int hx_vtk_note_no_sets(const hx_vtk_reader *r, const char *name, const char *why)
{
    return hx_notes_add(r->notes, HX_NOTE_INFO, "%s: array '%.60s' makes no sets: %s", r->scan.path,
                        name, why);
}

int hx_vtk_make_sets(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value)
{
    int rc = HX_OK;
    hx_vtk_values all, *part = NULL;
    int32_t *member = NULL;
    int64_t *count = NULL, start[MAX_SET_VALUES + 1] = {0};
    if (r->where == HX_VTK_ON_CELLS && hx_vtk_are_faces(name, n, value))
        return hx_vtk_take_faces(r, hx_vtk_faces_of(name), n, value);
    HX_TRY_FAIL(hx_alloc_raw(&part, HX_N_PART, sizeof *part, "values of sets"));
    distinct_values(n, value, part, &all);
    if (all.n > MAX_SET_VALUES) goto fail; /* neither a set nor an error */

    HX_TRY_FAIL(hx_alloc_raw(&member, (size_t)n, sizeof *member, "members of sets"));
    HX_TRY_FAIL(hx_alloc(&count, (size_t)HX_N_PART * MAX_SET_VALUES, sizeof *count, "members"));
    sort_places(n, value, &all, count, start, member);

    if (hx_vtk_is_flag(name, &all)) {
        const bool has_one = all.n > 0 && all.value[all.n - 1] == 1;
        const int64_t first = has_one ? start[all.n - 1] : n;
        HX_TRY_FAIL(add_vtk_set(r, 1, name + 4, n - first, member + first));
    } else {
        for (int v = 0; v < all.n; v++) {
            char set_name[HX_FILE_WORD_SIZE + 16];
            snprintf(set_name, sizeof set_name, "%s=%ld", name, (long)all.value[v]);
            HX_TRY_FAIL(add_vtk_set(r, 0, set_name, start[v + 1] - start[v], member + start[v]));
            if (r->where == HX_VTK_ON_CELLS && strcmp(name, "CellEntityIds") == 0)
                HX_TRY_FAIL(
                    add_groups(r, all.value[v], start[v + 1] - start[v], member + start[v]));
        }
    }

fail:
    free(part);
    free(member);
    free(count);
    return rc;
}
