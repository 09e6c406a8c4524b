#include "abaqus_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"
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
    if (r->set) HX_TRY(hx_numbers_append(&r->set->node, 1, &number));
    return hx_import_add_nodes(&r->import, 1, &number, x, hx_abaqus_scan_number(&r->scan));
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
    if (hx_abaqus_parameter(&r->scan, "INPUT"))
        return HX_ABAQUS_RAISE(&r->scan, "*NODE with INPUT: use *INCLUDE, INPUT=FILE in its data");
    if (set && *set) HX_TRY(hx_abaqus_open_set(r, set, &r->set));
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
    CELL("M3D3", 3, HX_SHAPE_TRIANGLE),     CELL("M3D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("SFM3D3", 3, HX_SHAPE_TRIANGLE),   CELL("SFM3D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("R3D3", 3, HX_SHAPE_TRIANGLE),     CELL("R3D4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPS3", 3, HX_SHAPE_TRIANGLE),     CELL("CPS4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPS6", 6, HX_SHAPE_TRIANGLE),     CELL("CPS8", 8, HX_SHAPE_QUADRANGLE),
    CELL("CPE3", 3, HX_SHAPE_TRIANGLE),     CELL("CPE4", 4, HX_SHAPE_QUADRANGLE),
    CELL("CPE6", 6, HX_SHAPE_TRIANGLE),     CELL("CPE8", 8, HX_SHAPE_QUADRANGLE),
    CELL("T3D2", 2, HX_SHAPE_LINE),         CELL("T3D3", 3, HX_SHAPE_LINE),
    CELL("B31", 2, HX_SHAPE_LINE),          CELL("B32", 3, HX_SHAPE_LINE),
    CELL("MASS", 1, HX_SHAPE_POINT),        CELL("SPRINGA", 2, HX_SHAPE_LINE),
    CELL("SPRING1", 1, HX_SHAPE_POINT),     CELL("SPRING2", 2, HX_SHAPE_LINE),
    CELL("DCOUP3D", 1, HX_SHAPE_POINT),     CELL("", 0, HX_SHAPE_OTHER), /* the others */
};

static const hx_abaqus_type *find_type(const char *name)
{
    const hx_abaqus_type *type = types;
    while (strncasecmp(type->name, name, strlen(type->name)) != 0) type++;
    return type;
}

/* A cell that is no solid; one that bounds a solid is kept for the sets. */
static int add_cell(hx_abaqus_reader *r)
{
    const hx_shape shape = r->type->shape;
    const int is_triangle = shape == HX_SHAPE_TRIANGLE;
    const int is_surface = is_triangle || shape == HX_SHAPE_QUADRANGLE;
    const int64_t begin = r->cell_node.n, *const number = r->entry, *const node = number + 1;
    HX_TRY(hx_import_add_other(&r->import, shape, r->type_name, *number, r->entry_line));
    if (shape >= HX_SHAPE_HIGH_ORDER) return HX_OK;
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
    if (!r->type->is_solid) return add_cell(r);
    return hx_import_add_solids(&r->import, r->type->solid, 1, r->entry, r->entry + 1,
                                r->entry_line);
}

/* Numbers go on over lines until the type's nodes are together. */
static int element_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    while (hx_abaqus_field(&line, &field)) {
        if (r->n_entry == 0) r->entry_line = hx_abaqus_scan_number(&r->scan);
        HX_TRY(hx_abaqus_int(&r->scan, field,
                             r->n_entry == 0 ? "the number of an element" : "the number of a node",
                             &r->entry[r->n_entry]));
        if (++r->n_entry <= r->type->n_node) continue;
        HX_TRY(finish_entry(r));
        if (hx_abaqus_field(&line, &field) && *field)
            return HX_ABAQUS_RAISE(&r->scan, "element %lld of type %s has more than %d nodes",
                                   (long long)r->entry[0], r->type_name, r->type->n_node);
        return HX_OK;
    }
    return HX_OK;
}

/* Of a type that is not known a line is an element, if the one before does not end with a comma. */
static int unknown_element_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    const int goes_on = r->continues;
    const size_t n = strlen(line);
    r->continues = n > 0 && line[n - 1] == ',';
    if (goes_on || !hx_abaqus_field(&line, &field)) return HX_OK;
    HX_TRY(hx_abaqus_int(&r->scan, field, "the number of an element", &r->entry[0]));
    r->entry_line = hx_abaqus_scan_number(&r->scan);
    if (r->set) HX_TRY(hx_numbers_append(&r->set->elem, 1, r->entry));
    return add_cell(r);
}

static int begin_element(hx_abaqus_reader *r)
{
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    const char *const set = hx_abaqus_parameter(&r->scan, "ELSET");
    if (!type || !*type)
        return HX_ABAQUS_RAISE(&r->scan, "*ELEMENT needs TYPE; for example *ELEMENT, TYPE=C3D8");
    r->type = find_type(type);
    snprintf(r->type_name, sizeof r->type_name, "%s", type);
    for (char *c = r->type_name; *c; c++) *c = (char)toupper((unsigned char)*c);
    if (r->type->is_solid && strcmp(r->type_name, r->type->name) != 0)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_DETAIL,
                            "%s: elements of type %s are read as the plain %d-node %s, %s",
                            r->import.path, r->type_name, r->type->n_node,
                            hx_cell_kind_name(hx_solids[r->type->solid].kind), r->type->name));
    if (set && *set) HX_TRY(hx_abaqus_open_set(r, set, &r->set));
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

/* --- parts and instances --- */

static int begin_part(hx_abaqus_reader *r)
{
    if (++r->n_part > 1)
        return HX_ABAQUS_RAISE(&r->scan,
                               "a second *PART: an assembly of parts is not read; write a "
                               "flat file (in Abaqus/CAE: Model attributes, Do not use "
                               "parts and assemblies in input files)");
    return HX_OK;
}

static int moved_instance(hx_abaqus_reader *r, char *line)
{
    (void)line;
    return HX_ABAQUS_RAISE(&r->scan, "*INSTANCE moves the part; move the mesh itself, or write a "
                                     "flat file");
}

static int begin_instance(hx_abaqus_reader *r)
{
    const char *const name = hx_abaqus_parameter(&r->scan, "NAME");
    if (++r->n_instance > 1)
        return HX_ABAQUS_RAISE(&r->scan,
                               "a second *INSTANCE: an assembly is not read; write a flat "
                               "file with every node and element once");
    r->data = moved_instance;
    return hx_strdup(&r->instance, name ? name : "");
}

const char *hx_abaqus_local_name(const hx_abaqus_reader *r, const char *name)
{
    const size_t n = r->instance ? strlen(r->instance) : 0;
    if (n > 0 && strncasecmp(name, r->instance, n) == 0 && name[n] == '.') return name + n + 1;
    return name;
}

/* --- what is not read --- */

static int refuse_keyword(hx_abaqus_reader *r)
{
    return HX_ABAQUS_RAISE(&r->scan,
                           "*%s makes nodes or elements while the file is read; let the "
                           "program that wrote it write them out",
                           r->scan.keyword);
}

/* The mesh is fine, but supports and loads of the file are not all that acts. */
static int unread_keyword(hx_abaqus_reader *r)
{
    const char *const path = hx_abaqus_scan_path(&r->scan);
    HX_TRY(hx_import_conditions_set_fault(
        &r->conditions,
        "%s:%lld: *%s is not read: state in the config what acts on the part, instead of from = "
        "\"file\"",
        path, (long long)r->scan.keyword_line, r->scan.keyword));
    if (r->n_unread++ >= 8) return HX_OK; /* enough said */
    return hx_notes_add(r->notes, HX_NOTE_INFO, "%s:%lld: *%s is not read", path,
                        (long long)r->scan.keyword_line, r->scan.keyword);
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
    {"STEP", hx_abaqus_begin_step},
    {"ENDSTEP", hx_abaqus_begin_end_step},
    {"PART", begin_part},
    {"INSTANCE", begin_instance},
    {"NGEN", refuse_keyword},
    {"NFILL", refuse_keyword},
    {"NCOPY", refuse_keyword},
    {"NMAP", refuse_keyword},
    {"ELGEN", refuse_keyword},
    {"ELCOPY", refuse_keyword},
    {"SYSTEM", refuse_keyword},
    {"SUBMODEL", refuse_keyword},
    {"DLOAD", unread_keyword},
    {"DSLOAD", unread_keyword},
    {"TEMPERATURE", unread_keyword},
    {"TRANSFORM", unread_keyword},
    {"EQUATION", unread_keyword},
    {"MPC", unread_keyword},
    {"TIE", unread_keyword},
    {"COUPLING", unread_keyword},
    {"DISTRIBUTINGCOUPLING", unread_keyword},
    {"KINEMATICCOUPLING", unread_keyword},
    {"SHELLTOSOLIDCOUPLING", unread_keyword},
    {"RIGIDBODY", unread_keyword},
    {"CYCLICSYMMETRYMODEL", unread_keyword},
    {"CONTACT", unread_keyword},
    {"GAP", unread_keyword},
    {"CONNECTORSECTION", unread_keyword},
    {"PRE-TENSIONSECTION", unread_keyword},
    {"FOUNDATION", unread_keyword},
    {"INERTIARELIEF", unread_keyword},
    {"CONTACTPAIR", unread_keyword},
    {"EMBEDDEDELEMENT", unread_keyword},
    {"SPRING", unread_keyword},
    {"LOADCASE", unread_keyword},
    {"MODELCHANGE", unread_keyword},
    {"FREQUENCY", unread_keyword},
    {"BUCKLE", unread_keyword},
    {"DYNAMIC", unread_keyword},
    {"MODALDYNAMIC", unread_keyword},
    {"STEADYSTATEDYNAMICS", unread_keyword},
    {"HEATTRANSFER", unread_keyword},
    {"COUPLEDTEMPERATURE-DISPLACEMENT", unread_keyword},
    {"UNCOUPLEDTEMPERATURE-DISPLACEMENT", unread_keyword},
    {"VISCO", unread_keyword},
};

static int begin_keyword(hx_abaqus_reader *r)
{
    HX_TRY(check_entry_complete(r));
    r->data = NULL;
    r->set = NULL;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i].name, r->scan.keyword) == 0) return keywords[i].begin(r);
    if (r->n_skipped++ == 0)
        snprintf(r->first_skipped, sizeof r->first_skipped, "%s", r->scan.keyword);
    return HX_OK;
}

/* --- the whole --- */

static int read_lines(hx_abaqus_reader *r)
{
    for (;;) {
        hx_abaqus_line kind;
        HX_TRY(hx_abaqus_scan_line(&r->scan, &kind));
        if (kind == HX_ABAQUS_END) return check_entry_complete(r);
        if (kind == HX_ABAQUS_KEYWORD)
            HX_TRY(begin_keyword(r));
        else if (r->data)
            HX_TRY(r->data(r, r->scan.text));
    }
}

static void reader_free(hx_abaqus_reader *r)
{
    hx_abaqus_scan_free(&r->scan);
    hx_import_free(&r->import);
    hx_import_conditions_free(&r->conditions);
    hx_numbers_free(&r->cell_number);
    hx_numbers_free(&r->cell_begin);
    hx_numbers_free(&r->cell_node);
    hx_number_index_free(&r->elem_place);
    hx_number_index_free(&r->cell_place);
    free(r->instance);
}

int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc;
    hx_abaqus_reader r = {.notes = notes};
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.shape_hint = "C3D4, C3D5, C3D6, C3D8, C3D10, C3D15, C3D20 and their variants";
    HX_TRY_FAIL(hx_abaqus_scan_open(&r.scan, path));
    HX_TRY_FAIL(read_lines(&r));
    HX_TRY_FAIL(hx_abaqus_resolve_cells(&r));
    HX_TRY_FAIL(hx_import_finish(&r.import, mesh));
    HX_TRY_FAIL(hx_import_conditions_finish(&r.conditions, &r.import, mesh, conditions));
    if (r.n_skipped > 0)
        HX_TRY_FAIL(hx_notes_add(notes, HX_NOTE_DETAIL,
                                 "%s: %d keyword lines say nothing about the mesh and are passed "
                                 "over (the first: *%s)",
                                 path, r.n_skipped, r.first_skipped));
fail:
    if (rc < 0) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    reader_free(&r);
    return rc;
}
