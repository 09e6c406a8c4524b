#include "abaqus_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"
#include "../mesh/set_rules.h"
#include "abaqus_reader.h"

/* --- nodes --- */

static int node_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    int64_t number = 0;
    double x[3] = {0.0, 0.0, 0.0};
    if (!hx_abaqus_field(&line, &field)) return HX_OK;
    HX_TRY(hx_abaqus_int(&r->scan, field, "the number of a node", &number));
    for (int d = 0; d < 3 && hx_abaqus_field(&line, &field); d++)
        if (*field) HX_TRY(hx_abaqus_real(&r->scan, field, "a coordinate", &x[d]));
    HX_TRY(hx_abaqus_own_number(r, 0, &number));
    hx_abaqus_place_node(r, x);
    if (r->set) HX_TRY(hx_numbers_append(&r->set->node, 1, &number));
    return hx_import_add_nodes(&r->import, 1, &number, x, hx_abaqus_scan_number(&r->scan));
}

int hx_abaqus_refuse_input(hx_abaqus_reader *r)
{
    if (!hx_abaqus_parameter(&r->scan, "INPUT")) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan, "*%s with INPUT: use *INCLUDE, INPUT=FILE in its data",
                           r->scan.keyword_shown);
}

static int begin_node(hx_abaqus_reader *r)
{
    const char *const system = hx_abaqus_parameter(&r->scan, "SYSTEM");
    const char *const set = hx_abaqus_parameter(&r->scan, "NSET");
    if (system && strcasecmp(system, "R") != 0)
        return HX_ABAQUS_RAISE(&r->scan,
                               "*NODE with SYSTEM=%.20s; only Cartesian coordinates are "
                               "read",
                               system);
    HX_TRY(hx_abaqus_refuse_input(r));
    if (set && *set) HX_TRY(hx_abaqus_open_set(r, HX_KIND_NODES, set, &r->set));
    r->data = node_line;
    return HX_OK;
}

/* --- elements --- */

#define SOLID(name, n_node, id)                                                                    \
    {                                                                                              \
        name, n_node, 1, HX_SHAPE_OTHER, id                                                        \
    }
#define CELL(name, n_node, shape)                                                                  \
    {                                                                                              \
        name, n_node, 0, shape, HX_SOLID_HEX8                                                      \
    }
static const hx_abaqus_type types[] = {
    SOLID("C3D8", 8, HX_SOLID_HEX8),        SOLID("DC3D8", 8, HX_SOLID_HEX8),
    SOLID("C3D4", 4, HX_SOLID_TET4),        SOLID("DC3D4", 4, HX_SOLID_TET4),
    SOLID("C3D6", 6, HX_SOLID_WEDGE6),      SOLID("DC3D6", 6, HX_SOLID_WEDGE6),
    SOLID("C3D5", 5, HX_SOLID_PYRAMID5),    SOLID("DC3D5", 5, HX_SOLID_PYRAMID5),
    SOLID("C3D10", 10, HX_SOLID_TET10),     SOLID("DC3D10", 10, HX_SOLID_TET10),
    CELL("C3D15V", 0, HX_SHAPE_OTHER), /* 15 to 18 nodes */
    SOLID("C3D15", 15, HX_SOLID_WEDGE15),   SOLID("DC3D15", 15, HX_SOLID_WEDGE15),
    SOLID("C3D13", 13, HX_SOLID_PYRAMID13), SOLID("C3D20", 20, HX_SOLID_HEX20),
    SOLID("DC3D20", 20, HX_SOLID_HEX20),    SOLID("C3D27", 27, HX_SOLID_ABAQUS_HEX27),
    CELL("S3", 3, HX_SHAPE_TRIANGLE),       CELL("S4", 4, HX_SHAPE_QUADRANGLE),
    CELL("S6", 6, HX_SHAPE_TRIANGLE),       CELL("S8", 8, HX_SHAPE_QUADRANGLE),
    CELL("STRI3", 3, HX_SHAPE_TRIANGLE),    CELL("STRI65", 6, HX_SHAPE_TRIANGLE),
    CELL("S9", 9, HX_SHAPE_QUADRANGLE),     CELL("M3D3", 3, HX_SHAPE_TRIANGLE),
    CELL("M3D4", 4, HX_SHAPE_QUADRANGLE),   CELL("M3D6", 6, HX_SHAPE_TRIANGLE),
    CELL("M3D8", 8, HX_SHAPE_QUADRANGLE),   CELL("M3D9", 9, HX_SHAPE_QUADRANGLE),
    CELL("SFM3D3", 3, HX_SHAPE_TRIANGLE),   CELL("SFM3D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("SFM3D6", 6, HX_SHAPE_TRIANGLE),   CELL("SFM3D8", 8, HX_SHAPE_QUADRANGLE),
    CELL("DS3", 3, HX_SHAPE_TRIANGLE),      CELL("DS4", 4, HX_SHAPE_QUADRANGLE),
    CELL("DS6", 6, HX_SHAPE_TRIANGLE),      CELL("DS8", 8, HX_SHAPE_QUADRANGLE),
    CELL("R3D3", 3, HX_SHAPE_TRIANGLE),     CELL("R3D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPS3", 3, HX_SHAPE_TRIANGLE),     CELL("CPS4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPS6", 6, HX_SHAPE_TRIANGLE),     CELL("CPS8", 8, HX_SHAPE_QUADRANGLE),
    CELL("CPE3", 3, HX_SHAPE_TRIANGLE),     CELL("CPE4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPE6", 6, HX_SHAPE_TRIANGLE),     CELL("CPE8", 8, HX_SHAPE_QUADRANGLE),
    CELL("CAX3", 3, HX_SHAPE_TRIANGLE),     CELL("CAX4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CAX6", 6, HX_SHAPE_TRIANGLE),     CELL("CAX8", 8, HX_SHAPE_QUADRANGLE),
    CELL("DCAX3", 3, HX_SHAPE_TRIANGLE),    CELL("DCAX4", 4, HX_SHAPE_QUADRANGLE),
    CELL("DCAX6", 6, HX_SHAPE_TRIANGLE),    CELL("DCAX8", 8, HX_SHAPE_QUADRANGLE),
    CELL("CPEG3", 3, HX_SHAPE_TRIANGLE),    CELL("CPEG4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPEG6", 6, HX_SHAPE_TRIANGLE),    CELL("CPEG8", 8, HX_SHAPE_QUADRANGLE),
    CELL("DC2D3", 3, HX_SHAPE_TRIANGLE),    CELL("DC2D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("DC2D6", 6, HX_SHAPE_TRIANGLE),    CELL("DC2D8", 8, HX_SHAPE_QUADRANGLE),
    CELL("T2D2", 2, HX_SHAPE_LINE),         CELL("T2D3", 3, HX_SHAPE_LINE),
    CELL("T3D2", 2, HX_SHAPE_LINE),         CELL("T3D3", 3, HX_SHAPE_LINE),
    CELL("DC1D2", 2, HX_SHAPE_LINE),        CELL("DC1D3", 3, HX_SHAPE_LINE),
    CELL("B21", 2, HX_SHAPE_LINE),          CELL("B22", 3, HX_SHAPE_LINE),
    CELL("B23", 2, HX_SHAPE_LINE),          CELL("B31", 2, HX_SHAPE_LINE),
    CELL("B32", 3, HX_SHAPE_LINE),          CELL("B33", 2, HX_SHAPE_LINE),
    CELL("PIPE31", 2, HX_SHAPE_LINE),       CELL("PIPE32", 3, HX_SHAPE_LINE),
    CELL("ELBOW31", 2, HX_SHAPE_LINE),      CELL("ELBOW32", 3, HX_SHAPE_LINE),
    CELL("FRAME3D", 2, HX_SHAPE_LINE),      CELL("SAX1", 2, HX_SHAPE_LINE),
    CELL("SAX2", 3, HX_SHAPE_LINE),         CELL("R2D2", 2, HX_SHAPE_LINE),
    CELL("RAX2", 2, HX_SHAPE_LINE),         CELL("RB2D2", 2, HX_SHAPE_LINE),
    CELL("RB3D2", 2, HX_SHAPE_LINE),        CELL("MASS", 1, HX_SHAPE_POINT),
    CELL("ROTARYI", 1, HX_SHAPE_POINT),     CELL("HEATCAP", 1, HX_SHAPE_POINT),
    CELL("SPRINGA", 2, HX_SHAPE_LINE),      CELL("SPRING1", 1, HX_SHAPE_POINT),
    CELL("SPRING2", 2, HX_SHAPE_LINE),      CELL("DASHPOTA", 2, HX_SHAPE_LINE),
    CELL("DASHPOT1", 1, HX_SHAPE_POINT),    CELL("DASHPOT2", 2, HX_SHAPE_LINE),
    CELL("GAPUNI", 2, HX_SHAPE_LINE),       CELL("GAPCYL", 2, HX_SHAPE_LINE),
    CELL("GAPSPHER", 2, HX_SHAPE_LINE),     CELL("CONN3D2", 2, HX_SHAPE_LINE),
    CELL("DCOUP3D", 1, HX_SHAPE_POINT),     CELL("", 0, HX_SHAPE_OTHER), /* the others */
};

static const hx_abaqus_type *find_type(const char *name)
{
    static const hx_abaqus_type network = CELL("D", 0, HX_SHAPE_LINE); /* for fluids, in CalculiX */
    const hx_abaqus_type *type = types;
    if (strcasecmp(name, network.name) == 0) return &network;
    while (strncasecmp(type->name, name, strlen(type->name)) != 0) type++;
    return type;
}

/* Notes type and line of a cell that is not a solid. */
static int note_cell(hx_abaqus_reader *r)
{
    size_t i = r->other_type;
    for (i = i ? i - 1 : 0; i < r->import.n_other; i++)
        if (strcmp(r->import.other[i].type, r->type_name) == 0) break;
    const int64_t type = (int64_t)i, line = r->entry_line;
    r->other_type = i + 1;
    HX_TRY(hx_numbers_append(&r->cell_type, 1, &type));
    return hx_numbers_append(&r->cell_line, 1, &line);
}

/* Adds a cell that is not a solid; a cell that bounds a solid is kept for the sets. */
static int add_abaqus_cell(hx_abaqus_reader *r)
{
    const hx_shape shape = r->type->shape;
    const int is_triangle = shape == HX_SHAPE_TRIANGLE;
    const int is_surface = is_triangle || shape == HX_SHAPE_QUADRANGLE;
    const int64_t begin = r->cell_node.n, *const number = r->entry, *const node = number + 1;
    HX_TRY(hx_import_add_other(&r->import, shape, r->type_name, *number, r->entry_line));
    if (shape >= HX_SHAPE_HIGH_ORDER) return HX_OK;
    HX_TRY(note_cell(r));
    HX_TRY(hx_numbers_append(&r->cell_number, 1, number));
    HX_TRY(hx_numbers_append(&r->cell_begin, 1, &begin));
    if (!is_surface) return hx_numbers_append(&r->cell_node, r->type->n_node, node);
    const int64_t corner[4] = {node[0], node[1], node[2], node[is_triangle ? 2 : 3]};
    return hx_numbers_append(&r->cell_node, 4, corner);
}

static int finish_entry(hx_abaqus_reader *r)
{
    r->n_entry = 0;
    if (r->set) HX_TRY(hx_numbers_append(&r->set->elem, 1, r->entry));
    if (!r->type->is_solid) return add_abaqus_cell(r);
    return hx_import_add_solids(&r->import, r->type->solid, 1, r->entry, r->entry + 1,
                                r->entry_line);
}

/* Adds their base to the numbers of the element and its nodes. */
static int own_numbers(hx_abaqus_reader *r)
{
    const int has_own_node = r->has_own_node;
    if (r->n_instance == 0 && !r->in_assembly) return HX_OK;
    for (int k = 0; k <= r->type->n_node; k++)
        if (!(r->entry_has_base >> k & 1)) HX_TRY(hx_abaqus_own_number(r, k == 0, &r->entry[k]));
    r->has_own_node = has_own_node; /* the part may have none */
    return HX_OK;
}

/* Reads one number of an element; in the assembly a node may be "INSTANCE.17". */
static int read_entry(hx_abaqus_reader *r, char *field)
{
    const int k = r->n_entry;
    hx_abaqus_reference to;
    if (k == 0) r->entry_line = hx_abaqus_scan_number(&r->scan);
    if (k == 0) r->entry_has_base = 0;
    if (k == 0 || r->n_instance == 0 || r->scope >= 0 || !strchr(field, '.'))
        return hx_abaqus_int(&r->scan, field,
                             k == 0 ? "the number of an element" : "the number of a node",
                             &r->entry[k]);
    HX_TRY(hx_abaqus_refer(r, HX_KIND_NODES, field, &to));
    if (!to.is_number)
        return HX_ABAQUS_RAISE(&r->scan, "'%.60s' where a node, INSTANCE.NUMBER, is expected",
                               field);
    r->entry[k] = to.number;
    r->entry_has_base |= (uint64_t)1 << k;
    return HX_OK;
}

/* The numbers continue over several lines until the element has all nodes of its type. */
static int element_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    while (hx_abaqus_field(&line, &field)) {
        HX_TRY(read_entry(r, field));
        if (++r->n_entry <= r->type->n_node) continue;
        HX_TRY(own_numbers(r));
        HX_TRY(finish_entry(r));
        if (hx_abaqus_field(&line, &field) && *field)
            return HX_ABAQUS_RAISE(&r->scan, "element %lld of type %s has more than %d nodes",
                                   (long long)(r->entry[0] % HX_ABAQUS_BASE), r->type_name,
                                   r->type->n_node);
        return HX_OK;
    }
    return HX_OK;
}

/* For an unknown type, each line is an element unless the line before ends with a comma. */
static int unknown_element_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    const int goes_on = r->continues;
    const size_t n = strlen(line);
    r->continues = n > 0 && line[n - 1] == ',';
    if (goes_on || !hx_abaqus_field(&line, &field)) return HX_OK;
    HX_TRY(hx_abaqus_int(&r->scan, field, "the number of an element", &r->entry[0]));
    r->entry_line = hx_abaqus_scan_number(&r->scan);
    HX_TRY(hx_abaqus_own_number(r, 1, &r->entry[0]));
    if (r->set) HX_TRY(hx_numbers_append(&r->set->elem, 1, r->entry));
    return add_abaqus_cell(r);
}

static int begin_element(hx_abaqus_reader *r)
{
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    const char *const set = hx_abaqus_parameter(&r->scan, "ELSET");
    if (!type || !*type)
        return HX_ABAQUS_RAISE(&r->scan, "*ELEMENT needs TYPE; for example *ELEMENT, TYPE=C3D8");
    HX_TRY(hx_abaqus_refuse_input(r));
    r->type = find_type(type);
    snprintf(r->type_name, sizeof r->type_name, "%s", type);
    for (char *c = r->type_name; *c; c++) *c = (char)toupper((unsigned char)*c);
    HX_TRY(hx_abaqus_count_formulation(r));
    r->other_type = 0;
    if (set && *set) HX_TRY(hx_abaqus_open_set(r, HX_KIND_ELEMS, set, &r->set));
    r->n_entry = 0;
    r->continues = 0;
    r->data = r->type->n_node > 0 ? element_line : unknown_element_line;
    return HX_OK;
}

static int check_entry_complete(hx_abaqus_reader *r)
{
    if (r->n_entry == 0) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan,
                           "element %lld of type %s has %d nodes before this; it needs %d",
                           (long long)r->entry[0], r->type_name, r->n_entry - 1, r->type->n_node);
}

/* --- what is not read --- */

static int refuse_keyword(hx_abaqus_reader *r)
{
    return HX_ABAQUS_RAISE(&r->scan,
                           "*%s generates nodes or elements, which is not supported; let the "
                           "program that wrote the file write them explicitly",
                           r->scan.keyword_shown);
}

typedef struct keyword {
    const char *name;
    int (*begin)(hx_abaqus_reader *r);
} keyword;

static const keyword keywords[] = {
    {"NODE", begin_node},
    {"ELEMENT", begin_element},
    {"NSET", hx_abaqus_begin_nset},
    {"ELSET", hx_abaqus_begin_elset},
    {"SURFACE", hx_abaqus_begin_surface},
    {"BOUNDARY", hx_abaqus_begin_boundary},
    {"CLOAD", hx_abaqus_begin_cload},
    {"DLOAD", hx_abaqus_begin_dload},
    {"DSLOAD", hx_abaqus_begin_dsload},
    {"COUPLING", hx_abaqus_begin_coupling},
    {"KINEMATIC", hx_abaqus_begin_kinematic},
    {"DISTRIBUTING", hx_abaqus_begin_distributing},
    {"KINEMATICCOUPLING", hx_abaqus_begin_kinematic_coupling},
    {"RIGIDBODY", hx_abaqus_begin_rigid_body},
    {"MATERIAL", hx_abaqus_begin_material},
    {"ELASTIC", hx_abaqus_begin_elastic},
    {"DENSITY", hx_abaqus_begin_density},
    {"CONDUCTIVITY", hx_abaqus_begin_conductivity},
    {"SOLIDSECTION", hx_abaqus_begin_section},
    {"STEP", hx_abaqus_begin_step},
    {"ENDSTEP", hx_abaqus_begin_end_step},
    {"PART", hx_abaqus_begin_part},
    {"ASSEMBLY", hx_abaqus_begin_assembly},
    {"ENDASSEMBLY", hx_abaqus_end_assembly},
    {"INSTANCE", hx_abaqus_begin_instance},
    {"ENDINSTANCE", hx_abaqus_end_instance},
    {"NGEN", refuse_keyword},
    {"NFILL", refuse_keyword},
    {"NCOPY", refuse_keyword},
    {"NMAP", refuse_keyword},
    {"ELGEN", refuse_keyword},
    {"ELCOPY", refuse_keyword},
    {"SYSTEM", refuse_keyword},
    {"SUBMODEL", refuse_keyword},
};

/* A sink requires a file that contains only a mesh; other keywords request the whole mesh. */
static int check_pieces(hx_abaqus_reader *r, const keyword *k)
{
    static const char *const mesh[] = {"NODE", "ELEMENT", "NSET", "ELSET", "SURFACE"};
    char why[80];
    int is_mesh = !r->import.sink;
    for (size_t i = 0; i < sizeof mesh / sizeof mesh[0]; i++)
        is_mesh |= strcmp(k->name, mesh[i]) == 0;
    if (is_mesh) return HX_OK;
    snprintf(why, sizeof why, "*%s beside the mesh", k->name);
    return hx_import_need_whole(&r->import, why);
}

/* Handles a keyword that is not read: records it, or counts it if it has no effect. */
static int begin_unread(hx_abaqus_reader *r)
{
    int is_harmless;
    HX_TRY(hx_abaqus_begin_unread(r, &is_harmless));
    HX_TRY(hx_abaqus_begin_heat(r));
    if (is_harmless && r->n_skipped++ == 0)
        snprintf(r->first_skipped, sizeof r->first_skipped, "%.31s", r->scan.keyword_shown);
    return HX_OK;
}

/* An error in supports or loads does not refuse the mesh: it becomes a warning and refuses only the
 * file's supports or loads. */
static int soften(hx_abaqus_reader *r, int rc)
{
    enum { MOST_WARNED = 3 };
    if (rc != HX_EINPUT || r->soft == HX_ABAQUS_HARD) return rc;
    HX_TRY((r->soft == HX_ABAQUS_OF_LOADS ? hx_import_conditions_set_load_fault
                                          : hx_import_conditions_set_support_fault)(
        &r->conditions, "%s", hx_error_message()));
    if (r->n_soft++ < MOST_WARNED)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_WARNING, "%s", hx_error_message()));
    hx_error_clear();
    return HX_OK;
}

static int begin_keyword(hx_abaqus_reader *r)
{
    HX_TRY(check_entry_complete(r));
    HX_TRY(hx_abaqus_before_keyword(r));
    r->data = NULL;
    r->soft = HX_ABAQUS_HARD;
    r->set = NULL;
    r->member_scope = -1;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i].name, r->scan.keyword) == 0) {
            HX_TRY(check_pieces(r, &keywords[i]));
            return soften(r, keywords[i].begin(r));
        }
    return begin_unread(r);
}

/* --- the whole --- */

int hx_abaqus_take_line(hx_abaqus_reader *r, hx_abaqus_line kind)
{
    if (kind == HX_ABAQUS_END) return check_entry_complete(r);
    if (kind == HX_ABAQUS_KEYWORD) return begin_keyword(r);
    return r->data ? soften(r, r->data(r, r->scan.text)) : HX_OK;
}

static int read_lines(hx_abaqus_reader *r)
{
    hx_abaqus_line kind = HX_ABAQUS_DATA;
    while (kind != HX_ABAQUS_END) {
        HX_TRY(hx_abaqus_scan_line(&r->scan, &kind));
        HX_TRY(hx_abaqus_take_line(r, kind));
    }
    return hx_abaqus_finish_parts(r);
}

static void abaqus_reader_free(hx_abaqus_reader *r)
{
    hx_abaqus_scan_free(&r->scan);
    hx_import_free(&r->import);
    hx_import_conditions_free(&r->conditions);
    hx_numbers_free(&r->cell_number);
    hx_numbers_free(&r->cell_begin);
    hx_numbers_free(&r->cell_node);
    hx_numbers_free(&r->cell_type);
    hx_numbers_free(&r->cell_line);
    hx_numbers_free(&r->other_step);
    hx_abaqus_free_carriers(r);
    free(r->face_load);
    hx_abaqus_free_heat(r);
    hx_number_index_free(&r->elem_place);
    hx_number_index_free(&r->cell_place);
    hx_number_index_free(&r->node_place);
    hx_abaqus_free_parts(r);
    hx_abaqus_free_couplings(r);
    hx_abaqus_free_materials(r);
}

/* Takes hextop's own comments, which state how sets are made of others. */
static int take_comment(void *context, const char *text)
{
    int is_rule;
    return hx_set_rules_read(context, text, &is_rule);
}

/* Makes the mesh from the import. */
static int make_abaqus_mesh(hx_abaqus_reader *r, hx_mesh *mesh, hx_conditions *conditions)
{
    HX_TRY(hx_import_finish(&r->import, mesh));
    if (r->import.sink) return HX_OK;
    HX_TRY(hx_import_conditions_finish(&r->conditions, &r->import, mesh, conditions));
    if (!conditions) return HX_OK;
    HX_TRY(hx_abaqus_give_heat(r, mesh, conditions));
    return hx_abaqus_find_material(r, mesh, &conditions->material);
}

static int read_abaqus_file(const char *path, hx_mesh *mesh, hx_conditions *conditions,
                            hx_import_sink *sink, hx_notes *notes)
{
    int rc;
    hx_abaqus_reader r = {.notes = notes, .scope = -1, .member_scope = -1};
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.sink = sink;
    r.import.shape_hint = "C3D4, C3D5, C3D6, C3D8, C3D10, C3D15, C3D20 and their variants";
    HX_TRY_FAIL(hx_abaqus_scan_open(&r.scan, path));
    r.scan.notes = notes;
    r.scan.comment = take_comment;
    r.scan.comment_context = &r.import.rules;
    HX_TRY_FAIL(read_lines(&r));
    HX_TRY_FAIL(hx_abaqus_name_numbers(&r));
    HX_TRY_FAIL(hx_abaqus_resolve_couplings(&r));
    HX_TRY_FAIL(hx_abaqus_list_carriers(&r));
    HX_TRY_FAIL(hx_abaqus_name_materials(&r));
    HX_TRY_FAIL(hx_abaqus_group_faces(&r));
    HX_TRY_FAIL(hx_abaqus_group_heat(&r));
    HX_TRY_FAIL(hx_abaqus_keep_static_steps(&r));
    HX_TRY_FAIL(hx_abaqus_note_formulations(&r));
    HX_TRY_FAIL(hx_abaqus_resolve_cells(&r));
    HX_TRY_FAIL(hx_abaqus_name_sets(&r));
    HX_TRY_FAIL(make_abaqus_mesh(&r, mesh, conditions));
    if (r.n_skipped > 0)
        HX_TRY_FAIL(hx_notes_add(
            notes, HX_NOTE_DETAIL,
            "%s: %d keyword lines do not concern the mesh and are skipped (the first: *%s)", path,
            r.n_skipped, r.first_skipped));
fail:
    if (rc < 0 && mesh) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    abaqus_reader_free(&r);
    return rc;
}

int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    return read_abaqus_file(path, mesh, conditions, NULL, notes);
}

int hx_abaqus_read_to(const char *path, hx_import_sink *sink, hx_notes *notes)
{
    return read_abaqus_file(path, NULL, NULL, sink, notes);
}
