#include "mesh_readers.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "nastran_reader.h"
#include "word_rows.h"

/* --- nodes --- */

/* Reads the integer of the field into *value. If the field is blank, it becomes 0, and the node is
 * added to `blank`. */
static int take_default(hx_nastran_reader *r, size_t field, int64_t node, hx_numbers *blank,
                        int64_t *value)
{
    if (!*hx_nastran_text(&r->scan, field)) HX_TRY(hx_numbers_append(blank, 1, &node));
    return hx_nastran_int(&r->scan, field, 0, value);
}

/* ID, CP, X1, X2, X3, CD, PS */
static int take_grid(hx_nastran_reader *r)
{
    int64_t number, system, output;
    double x[3];
    unsigned components = 0;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of a node is expected");
    HX_TRY(take_default(r, 1, r->import.n_node, &r->blank_system, &system));
    if (system != 0) HX_TRY(hx_nastran_keep_place(r, r->import.n_node, system, r->scan.line));
    for (size_t d = 0; d < 3; d++) HX_TRY(hx_nastran_real(&r->scan, 2 + d, 0.0, &x[d]));
    HX_TRY(take_default(r, 5, number, &r->blank_output, &output));
    if (output != 0) HX_TRY(hx_numbers_append(&r->turned, 1, &number));
    if (*hx_nastran_text(&r->scan, 6))
        HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, 6), &components));
    else
        HX_TRY(hx_numbers_append(&r->blank_components, 1, &number));
    if (components) HX_TRY(hx_nastran_add_support(r, 0, number, components, 0.0));
    return hx_import_add_nodes(&r->import, 1, &number, x, r->scan.line);
}

/* Blank, CP, blank, blank, blank, CD, PS: defaults of all GRIDs, whether they come before or after
 * the card */
static int take_grdset(hx_nastran_reader *r)
{
    unsigned components = 0;
    r->grid_line = r->scan.line;
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &r->grid_system));
    HX_TRY(hx_nastran_int(&r->scan, 5, 0, &r->grid_output));
    if (*hx_nastran_text(&r->scan, 6))
        HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, 6), &components));
    r->grid_components = components;
    return HX_OK;
}

static int apply_grdset(hx_nastran_reader *r)
{
    for (int64_t i = 0; r->grid_system != 0 && i < r->blank_system.n; i++)
        HX_TRY(hx_nastran_keep_place(r, hx_numbers_get(&r->blank_system, i), r->grid_system,
                                     r->grid_line));
    for (int64_t i = 0; r->grid_output != 0 && i < r->blank_output.n; i++) {
        const int64_t number = hx_numbers_get(&r->blank_output, i);
        HX_TRY(hx_numbers_append(&r->turned, 1, &number));
    }
    r->scan.line = r->grid_line; /* line number for the supports */
    for (int64_t i = 0; r->grid_components != 0 && i < r->blank_components.n; i++)
        HX_TRY(hx_nastran_add_support(r, 0, hx_numbers_get(&r->blank_components, i),
                                      (unsigned)r->grid_components, 0.0));
    return HX_OK;
}

/* --- elements --- */

typedef struct cell_type {
    const char *names;
    int n_corner, n_node;
    int is_solid;
    hx_solid_id linear, full;
    hx_shape shape;
    const int8_t *order; /* positions of all nodes in the file; NULL: in the same order */
} cell_type;

/* Edges along the height come before those of the top. */
static const int8_t hexa[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15};
static const int8_t penta[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};

#define SOLID(names, n_corner, n, linear, full, order)                                             \
    {                                                                                              \
        names, n_corner, n, 1, linear, full, HX_SHAPE_OTHER, order                                 \
    }
#define SHELL(names, n_corner, shape)                                                              \
    {                                                                                              \
        names, n_corner, n_corner, 0, HX_SOLID_HEX8, HX_SOLID_HEX8, shape, NULL                    \
    }
static const cell_type types[] = {
    SOLID("CTETRA", 4, 10, HX_SOLID_TET4, HX_SOLID_TET10, NULL),
    SOLID("CHEXA", 8, 20, HX_SOLID_HEX8, HX_SOLID_HEX20, hexa),
    SOLID("CPENTA", 6, 15, HX_SOLID_WEDGE6, HX_SOLID_WEDGE15, penta),
    SOLID("CPYRAM, CPYRA", 5, 13, HX_SOLID_PYRAMID5, HX_SOLID_PYRAMID13, NULL),
    SHELL("CTRIA3, CTRIA6, CTRIAR", 3, HX_SHAPE_TRIANGLE),
    SHELL("CQUAD4, CQUAD8, CQUADR", 4, HX_SHAPE_QUADRANGLE),
};

/* Faces of shells form a set separate from that of the solids, because both may have the same
 * property number: gmsh writes the CAD model's numbers, so volume 1 and surface 1 are both property
 * 1. */
static int open_face_property(hx_nastran_reader *r, int64_t property)
{
    char name[40];
    if (r->face_set && r->last_face_property == property) return HX_OK;
    snprintf(name, sizeof name, "surface-%lld", (long long)property);
    r->last_face_property = property;
    const size_t n_before = r->import.n_set;
    HX_TRY(hx_import_set_named(&r->import, name, &r->face_set));
    if (r->import.n_set == n_before) return HX_OK;
    HX_TRY(hx_grow(&r->face_sets, r->n_face_set, &r->face_set_capacity, sizeof *r->face_sets,
                   "sets of faces"));
    r->face_sets[r->n_face_set++] = (hx_nastran_face_set){property, r->face_set};
    return HX_OK;
}

static int open_property(hx_nastran_reader *r, int64_t property)
{
    char name[40];
    if (r->set && r->last_property == property) return HX_OK;
    hx_nastran_property_name(property, name, sizeof name);
    r->last_property = property;
    const size_t n_before = r->import.n_set;
    HX_TRY(hx_import_set_named(&r->import, name, &r->set));
    return r->import.n_set == n_before ? HX_OK
                                       : hx_numbers_append(&r->solid_property, 1, &property);
}

/* gmsh writes 27 nodes for its complete hexahedra; Nastran's have 20. */
static int refuse_more(hx_nastran_reader *r, const cell_type *type, int64_t number)
{
    int n = type->n_node;
    for (size_t i = 2 + (size_t)n; i < r->scan.n_field; i++, n++) {
        const char *const text = hx_nastran_text(&r->scan, i);
        if (!*text || strspn(text, "0123456789") != strlen(text)) break;
    }
    if (n == type->n_node) return HX_OK;
    return HX_NASTRAN_RAISE(&r->scan,
                            "element %lld has %d nodes, but Nastran's %s has at most %d; in gmsh "
                            "set Mesh.SecondOrderIncomplete = 1 and Mesh.ElementOrder to at most 2",
                            (long long)number, n, r->scan.name, type->n_node);
}

/* Reads the nodes in the fields after EID and PID. *n_blank: number of nodes after the corners that
 * are missing. */
static int read_cell_nodes(hx_nastran_reader *r, const cell_type *type, int64_t *node, int *n_blank)
{
    *n_blank = 0;
    for (int k = 0; k < type->n_node; k++) {
        HX_TRY(hx_nastran_int(&r->scan, 2 + (size_t)k, 0, &node[k]));
        if (node[k] < 0 || (node[k] == 0 && k < type->n_corner))
            return HX_NASTRAN_RAISE(&r->scan, "node %d of %d is missing", k + 1, type->n_corner);
        *n_blank += node[k] == 0;
    }
    return HX_OK;
}

static int note_brick(hx_nastran_reader *r)
{
    hx_numbers *const list = &r->brick_property;
    if (list->n > 0 && hx_numbers_get(list, list->n - 1) == r->last_property) return HX_OK;
    return hx_numbers_append(list, 1, &r->last_property);
}

static int add_solid(hx_nastran_reader *r, const cell_type *type, int64_t number,
                     const int64_t *node, int n_blank)
{
    int64_t in_order[HX_SOLID_NODES];
    const int is_full = n_blank == 0 && type->n_node > type->n_corner;
    r->n_partial += n_blank > 0 && n_blank < type->n_node - type->n_corner;
    for (int k = 0; k < type->n_node; k++) in_order[k] = node[type->order ? type->order[k] : k];
    HX_TRY(hx_numbers_append(&r->set->elem, 1, &number));
    if (!is_full && (type->n_corner == 8 || type->n_corner == 6)) HX_TRY(note_brick(r));
    return hx_import_add_solids(&r->import, is_full ? type->full : type->linear, 1, &number,
                                in_order, r->scan.line);
}

static int take_cell(hx_nastran_reader *r, const cell_type *type)
{
    int64_t number, property, node[HX_SOLID_NODES];
    int n_blank;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of an element is expected");
    HX_TRY(hx_nastran_int(&r->scan, 1, number, &property));
    HX_TRY(read_cell_nodes(r, type, node, &n_blank));
    if (type->is_solid) {
        HX_TRY(refuse_more(r, type, number));
        HX_TRY(open_property(r, property));
        return add_solid(r, type, number, node, n_blank);
    }
    HX_TRY(open_face_property(r, property));
    const int64_t quad[4] = {node[0], node[1], node[2], node[type->n_corner - 1]};
    HX_TRY(hx_import_add_other(&r->import, type->shape, r->scan.name, number, r->scan.line));
    HX_TRY(hx_numbers_append(&r->face_set->quad, 4, quad));
    return hx_nastran_take_skin(r, property);
}

/* EID, PID: a bar. If its property has no card, as in files from gmsh, it only marks edges. */
static int take_bar(hx_nastran_reader *r)
{
    int64_t number, property;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    HX_TRY(hx_nastran_int(&r->scan, 1, number, &property));
    HX_TRY(hx_import_add_other(&r->import, HX_SHAPE_LINE, r->scan.name, number, r->scan.line));
    return hx_nastran_take_skin(r, property);
}

/* --- cards --- */

/* role: whether the card states supports or loads; errors in these do not refuse the mesh. */
typedef struct card {
    const char *names;
    int (*take)(hx_nastran_reader *r);
    unsigned role;
} card;

static const card cards[] = {
    {"GRID", take_grid, 0},
    {"GRDSET", take_grdset, 0},
    {"CORD2R, CORD2C, CORD2S", hx_nastran_take_system, 0},
    {"SPC", hx_nastran_take_spc, HX_UNREAD_SUPPORT},
    {"SPC1", hx_nastran_take_spc1, HX_UNREAD_SUPPORT},
    {"SPCADD", hx_nastran_take_spcadd, HX_UNREAD_SUPPORT},
    {"MPCADD", hx_nastran_take_mpcadd, HX_UNREAD_SUPPORT},
    {"FORCE", hx_nastran_take_force, HX_UNREAD_LOAD},
    {"PLOAD", hx_nastran_take_pload, HX_UNREAD_LOAD},
    {"PLOAD4", hx_nastran_take_pload4, HX_UNREAD_LOAD},
    {"LOAD", hx_nastran_take_load, HX_UNREAD_LOAD},
    {"MAT1", hx_nastran_take_mat1, HX_UNREAD_MATERIAL},
    {"MAT4", hx_nastran_take_mat4, HX_UNREAD_MATERIAL},
    {"PSOLID", hx_nastran_take_psolid, HX_UNREAD_MATERIAL},
    {"PLSOLID", hx_nastran_take_plsolid, HX_UNREAD_MATERIAL},
    {"PARAM", hx_nastran_take_param, 0},
    {"PSHELL, PCOMP, PCOMPG, PCOMPP, PLPLANE, PSHEAR, PBAR, PBARL, PBEAM, PBEAML, PBCOMP, PBEND, "
     "PROD, PTUBE",
     hx_nastran_take_property, 0},
    {"CBAR, CBEAM, CBEND, CROD, CTUBE, CSHEAR", take_bar, 0},
};

static int take_card(hx_nastran_reader *r)
{
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (hx_has_word(cards[i].names, r->scan.name))
            return hx_nastran_soften(r, cards[i].role, cards[i].take(r));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (hx_has_word(types[i].names, r->scan.name)) return take_cell(r, &types[i]);
    if (hx_nastran_is_other_material(r->scan.name))
        HX_TRY(hx_nastran_soften(r, HX_UNREAD_MATERIAL, hx_nastran_take_mat(r)));
    return hx_nastran_lose(r, r->scan.name);
}

/* Names the faces of shells "property-7" if no solid has that property. */
static int name_face_sets(hx_nastran_reader *r)
{
    char name[40];
    for (size_t i = 0; i < r->n_face_set; i++) {
        const hx_nastran_face_set *const f = &r->face_sets[i];
        int is_taken = 0;
        hx_nastran_property_name(f->property, name, sizeof name);
        for (size_t k = 0; k < r->import.n_set && !is_taken; k++)
            is_taken = strcmp(r->import.set[k]->name, name) == 0;
        if (is_taken) {
            HX_TRY(hx_notes_add(r->notes, HX_NOTE_INFO,
                                "%s: property %lld belongs to solids and to shells: the solids are "
                                "set '%s', the faces '%s'",
                                r->import.path, (long long)f->property, name, f->set->name));
            continue;
        }
        free(f->set->name);
        HX_TRY(hx_strdup(&f->set->name, name));
    }
    return HX_OK;
}

static void nastran_reader_free(hx_nastran_reader *r)
{
    hx_nastran_free(&r->scan);
    hx_import_free(&r->import);
    hx_import_conditions_free(&r->conditions);
    hx_nastran_free_unread(r);
    hx_numbers_free(&r->turned);
    hx_number_index_free(&r->turned_index);
    hx_middle_index_free(&r->middles);
    free(r->turned_named);
    free(r->mpc_part);
    hx_numbers_free(&r->support_set);
    hx_numbers_free(&r->carrying);
    hx_numbers_free(&r->solid_property);
    hx_numbers_free(&r->psolid);
    hx_numbers_free(&r->psolid_material);
    hx_numbers_free(&r->psolid_formulation);
    hx_numbers_free(&r->brick_property);
    hx_numbers_free(&r->blank_system);
    hx_numbers_free(&r->blank_output);
    hx_numbers_free(&r->blank_components);
    hx_materials_free(&r->materials);
    free(r->face_sets);
    free(r->support);
    free(r->load);
    free(r->part);
    free(r->list);
    free(r->system);
    free(r->place);
}

int hx_nastran_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK, found = 1;
    hx_nastran_reader *r = NULL;
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    HX_TRY(hx_alloc(&r, 1, sizeof *r, "the state of a reader"));
    r->notes = notes;
    HX_TRY_FAIL(hx_import_open(&r->import, path, notes));
    r->import.shape_hint = "CTETRA, CPENTA, CPYRAM and CHEXA";
    HX_TRY_FAIL(hx_nastran_open(&r->scan, path));
    HX_TRY_FAIL(hx_nastran_read_control(r));
    while (found) {
        HX_TRY_FAIL(hx_nastran_card(&r->scan, &found));
        if (found) HX_TRY_FAIL(take_card(r));
    }
    if (r->n_partial != 0)
        HX_TRY_FAIL(hx_notes_add(
            r->notes, HX_NOTE_INFO,
            "%s: %lld elements lack some of their mid-side nodes and are read as linear elements",
            r->import.path, (long long)r->n_partial));
    HX_TRY_FAIL(name_face_sets(r));
    HX_TRY_FAIL(apply_grdset(r));
    HX_TRY_FAIL(hx_number_index_create(&r->turned_index, &r->turned));
    HX_TRY_FAIL(hx_alloc(&r->turned_named, (size_t)r->turned.n + 1, 1, "nodes of a file"));
    HX_TRY_FAIL(hx_nastran_move_nodes(r));
    HX_TRY_FAIL(hx_import_finish(&r->import, mesh));
    HX_TRY_FAIL(hx_nastran_finish(r, mesh));
    HX_TRY_FAIL(hx_nastran_use_materials(r));
    HX_TRY_FAIL(hx_nastran_name_unread(r));
    HX_TRY_FAIL(hx_nastran_name_nonlinear(r));
    HX_TRY_FAIL(hx_nastran_name_relief(r));
    HX_TRY_FAIL(hx_nastran_note_formulations(r));
    HX_TRY_FAIL(hx_import_conditions_finish(&r->conditions, &r->import, mesh, conditions));
    if (conditions) rc = hx_nastran_find_material(r, &conditions->material);
fail:
    nastran_reader_free(r);
    free(r);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}
