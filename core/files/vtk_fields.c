#include "vtk_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/set_rules.h"
#include "set_classes.h"
#include "set_names.h"
#include "vtk_faces.h"
#include "vtk_stream.h"

static const size_t type_size[] = {
    [HX_VTK_F64] = 8, [HX_VTK_F32] = 4, [HX_VTK_I32] = 4, [HX_VTK_U8] = 1};

int hx_fields_add(hx_fields *fields, const hx_mesh *mesh, hx_vtk_where where, hx_vtk_type type,
                  int n_comp, const char *name, void *data)
{
    const int64_t n_whole = where == HX_VTK_POINT ? mesh->n_node : mesh->n_elem;
    const size_t n = (size_t)(fields->piece ? fields->piece->n[where] : n_whole);
    char *own_name = NULL;
    void *own_data = NULL;
    HX_TRY(hx_grow(&fields->field, fields->n, &fields->capacity, sizeof *fields->field, "fields"));
    HX_TRY(hx_strdup(&own_name, name));
    const int rc =
        fields->planning ? HX_OK : hx_alloc(&own_data, n * (size_t)n_comp, type_size[type], name);
    if (rc < 0) {
        free(own_name);
        return rc;
    }
    fields->bytes += n * (size_t)n_comp * type_size[type];
    fields->field[fields->n++] = (hx_vtk_field){own_name, where, type, n_comp, own_data};
    memcpy(data, &own_data, sizeof own_data);
    return HX_OK;
}

const char *hx_fields_case_name(const char *name, int c, char *text, size_t n_text)
{
    if (c == 0)
        snprintf(text, n_text, "%s", name);
    else
        snprintf(text, n_text, "%s_%d", name, c + 1);
    return text;
}

/* Lists the nodes for the array on points: all nodes of the set. If these would contain elements
 * that are not in the set, only nodes that do not belong to the set's elements and faces. The
 * caller frees *list. */
static int list_array_nodes(const hx_mesh *mesh, const hx_set *set, int64_t n_face, int64_t *n,
                            int32_t **list)
{
    uint8_t *flag = NULL;
    *n = set->n_node;
    HX_TRY(hx_alloc_raw(list, (size_t)*n, sizeof **list, "nodes of a set"));
    if (*n > 0) memcpy(*list, set->node, (size_t)*n * sizeof **list);
    if ((set->n_elem == 0 && n_face == 0) || !mesh->node_elem_ptr) return HX_OK;
    const int rc = hx_alloc(&flag, (size_t)mesh->n_node, 1, "flags of a set");
    if (rc < 0) {
        free(*list);
        *list = NULL;
        return rc;
    }
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    if (hx_nodes_hold_more(mesh, set, flag)) {
        hx_flag_set_nodes(mesh, set, n_face, flag, 0);
        *n = 0;
        for (int64_t i = 0; i < set->n_node; i++)
            if (flag[set->node[i]]) (*list)[(*n)++] = set->node[i];
    }
    free(flag);
    return HX_OK;
}

/* flag := 1 at items of the mesh that are in the piece of the data. */
static void flag_items(const hx_vtk_piece *piece, hx_vtk_where where, const int32_t *orig,
                       int64_t n, const int32_t *item, int32_t *flag)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t place = item[k];
        if (piece) place = (orig ? orig[place] : place) - piece->first[where];
        if (!piece || (place >= 0 && place < piece->n[where])) flag[place] = 1;
    }
}

static unsigned char underline(unsigned char c)
{
    (void)c;
    return '_';
}

/* Names that fit into HX_VTK_NAME bytes after "faces_of_". */
const hx_set_name_rule hx_vtk_name_rule = {
    .most = HX_VTK_NAME - 12, .n_byte = hx_vtk_name_bytes, .instead = underline};

/* mask[]: one bit for each face of a cell, if the cell is in the piece of the data. */
static void mask_faces(const hx_vtk_piece *piece, const hx_mesh *mesh, int64_t n_face,
                       const int64_t *face, uint8_t *mask)
{
    for (int64_t k = 0; k < n_face; k++) {
        const int64_t e = face[k] / 6;
        const int number = hx_vtk_face_number(mesh->conn + 8 * e, (int)(face[k] % 6));
        int64_t place = e;
        if (piece) place = (mesh->elem_orig ? mesh->elem_orig[e] : e) - piece->first[HX_VTK_CELL];
        if (number < 0 || (piece && (place < 0 || place >= piece->n[HX_VTK_CELL]))) continue;
        mask[place] |= (uint8_t)(1u << number);
    }
}

static int add_face_array(hx_fields *fields, const hx_mesh *mesh, const hx_set *set, int64_t n_face,
                          const char *set_name)
{
    char name[HX_VTK_NAME];
    uint8_t *mask = NULL;
    snprintf(name, sizeof name, HX_VTK_FACES_OF "%s", set_name);
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_CELL, HX_VTK_U8, 1, name, &mask));
    if (mask) mask_faces(fields->piece, mesh, n_face, set->face, mask);
    return HX_OK;
}

static int add_nodes(hx_fields *fields, const hx_mesh *mesh, const hx_set *set, int64_t n_face,
                     const char *name)
{
    int32_t *flag = NULL, *node = NULL;
    int64_t n;
    HX_TRY(list_array_nodes(mesh, set, n_face, &n, &node));
    const int is_empty = set->n_elem == 0 && n_face == 0;
    int rc = HX_OK;
    if (n > 0 || is_empty)
        rc = hx_fields_add(fields, mesh, HX_VTK_POINT, HX_VTK_I32, 1, name, &flag);
    if (flag) flag_items(fields->piece, HX_VTK_POINT, mesh->node_orig, n, node, flag);
    free(node);
    return rc;
}

static int add_set_array(hx_fields *fields, const hx_mesh *mesh, const hx_set *set,
                         const char *set_name)
{
    char name[HX_VTK_NAME];
    int32_t *flag = NULL;
    const int64_t n_face = hx_set_stated_faces(mesh, set);
    snprintf(name, sizeof name, "set_%s", set_name);
    HX_TRY(add_nodes(fields, mesh, set, n_face, name));
    if (n_face > 0) HX_TRY(add_face_array(fields, mesh, set, n_face, set_name));
    if (set->n_elem == 0) return HX_OK;
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_CELL, HX_VTK_I32, 1, name, &flag));
    if (flag) flag_items(fields->piece, HX_VTK_CELL, mesh->elem_orig, set->n_elem, set->elem, flag);
    return HX_OK;
}

/* Adds the rules of combined sets. */
static int add_rules(hx_fields *fields, const hx_mesh *mesh, char *const *set_name)
{
    char *text = NULL, *name = NULL;
    int rc;
    HX_TRY_FAIL(hx_set_rules_text(mesh, set_name, "", &text));
    if (!text) goto fail;
    HX_TRY_FAIL(
        hx_grow(&fields->field, fields->n, &fields->capacity, sizeof *fields->field, "fields"));
    HX_TRY_FAIL(hx_strdup(&name, HX_VTK_RULES));
    const size_t n = strlen(text);
    fields->bytes += n;
    fields->field[fields->n++] = (hx_vtk_field){name, HX_VTK_FILE, HX_VTK_U8, (int)n, text};
    return HX_OK;
fail:
    free(text);
    return rc;
}

int hx_fields_add_sets(hx_fields *fields, const hx_mesh *mesh)
{
    hx_set_names names;
    HX_TRY(hx_set_names_make(mesh, &hx_vtk_name_rule, &names));
    int rc = HX_OK;
    for (size_t i = 0; i < mesh->n_set && rc == HX_OK; i++)
        rc = add_set_array(fields, mesh, &mesh->set[i], names.name[i]);
    if (rc == HX_OK) rc = add_rules(fields, mesh, names.name);
    hx_set_names_free(&names);
    return rc;
}

int hx_fields_note_sets(const hx_mesh *mesh, const char *path, hx_notes *notes)
{
    return hx_set_names_note(mesh, &hx_vtk_name_rule, path, notes);
}

/* N of "face-N" if the set has faces, otherwise 0. */
static long face_number(const hx_set *set)
{
    char *end = NULL;
    if (set->n_face == 0 || strncmp(set->name, "face-", 5) != 0) return 0;
    const long number = strtol(set->name + 5, &end, 10);
    return *end == '\0' && number > 0 && number < 1L << 24 ? number : 0;
}

/* Weight of a face of the set: one face on the boundary counts more than all faces between two
 * cells. */
static int weight_of(const hx_mesh *mesh, int64_t face)
{
    enum { CELL_FACES = 6 };
    return hx_mesh_face_is_inner(mesh, face) ? 1 : CELL_FACES + 1;
}

int hx_fields_add_faces(hx_fields *fields, const hx_mesh *mesh)
{
    float *face = NULL;
    uint8_t *most = NULL; /* weight of the set that a cell is assigned to */
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        const long number = face_number(set);
        if (number == 0) continue;
        if (!face) {
            HX_TRY(hx_fields_add(fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "face", &face));
            if (!face) return HX_OK; /* only planning */
            HX_TRY(hx_alloc(&most, (size_t)mesh->n_elem, 1, "faces of cells"));
        }
        for (int64_t k = 0; k < set->n_face;) { /* the faces of a cell are consecutive */
            const int64_t e = set->face[k] / 6;
            int weight = 0;
            for (; k < set->n_face && set->face[k] / 6 == e; k++)
                weight += weight_of(mesh, set->face[k]);
            if (weight < most[e] || (weight == most[e] && (float)number > face[e])) continue;
            most[e] = (uint8_t)weight;
            face[e] = (float)number;
        }
    }
    free(most);
    return HX_OK;
}

void hx_fields_free(hx_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        free((char *)(uintptr_t)fields->field[i].name);
        free((void *)(uintptr_t)fields->field[i].data);
    }
    free(fields->field);
    memset(fields, 0, sizeof *fields);
}
