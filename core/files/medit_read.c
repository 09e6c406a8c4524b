#include "../base/names.h"
#include "mesh_readers.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "file_scan.h"
#include "mesh_import.h"

typedef struct reader {
    hx_file_scan scan;
    hx_import import;
    int has_vertices;
    int is_passing; /* to skip the numbers of a section that is not read */
    int64_t n_cell; /* cells of all kinds are numbered together, from 1 */
} reader;

/* A kind of cell. A word may have several rows; the number of nodes selects one. */
typedef struct section {
    const char *word;
    int n_node;
    int is_solid;
    hx_solid_id solid;
    hx_shape shape;
    const char *set; /* prefix of the set that a reference number stands for */
} section;

static const section sections[] = {
    {"Tetrahedra", 4, 1, HX_SOLID_TET4, HX_SHAPE_OTHER, "property"},
    {"Hexahedra", 8, 1, HX_SOLID_HEX8, HX_SHAPE_OTHER, "property"},
    {"Prisms", 6, 1, HX_SOLID_WEDGE6, HX_SHAPE_OTHER, "property"},
    {"Pentahedra", 6, 1, HX_SOLID_WEDGE6, HX_SHAPE_OTHER, "property"},
    {"Pyramids", 5, 1, HX_SOLID_PYRAMID5, HX_SHAPE_OTHER, "property"},
    {"Triangles", 3, 0, HX_SOLID_HEX8, HX_SHAPE_TRIANGLE, "surface"},
    {"Quadrilaterals", 4, 0, HX_SOLID_HEX8, HX_SHAPE_QUADRANGLE, "surface"},
    {"Edges", 2, 0, HX_SOLID_HEX8, HX_SHAPE_LINE, "curve"},
    {"TetrahedraP2", 10, 1, HX_SOLID_TET10, HX_SHAPE_OTHER, "property"},
    {"TrianglesP2", 6, 0, HX_SOLID_HEX8, HX_SHAPE_TRIANGLE, "surface"},
    {"EdgesP2", 3, 0, HX_SOLID_HEX8, HX_SHAPE_LINE, "curve"},
    /* gmsh's cells of second order, which it writes under the words of first order and in its own
     * order of nodes */
    {"Hexahedra", 20, 1, HX_SOLID_GMSH_HEX20, HX_SHAPE_OTHER, "property"},
    {"Hexahedra", 27, 1, HX_SOLID_GMSH_HEX27, HX_SHAPE_OTHER, "property"},
    {"Quadrilaterals", 8, 0, HX_SOLID_HEX8, HX_SHAPE_QUADRANGLE, "surface"},
    {"Quadrilaterals", 9, 0, HX_SOLID_HEX8, HX_SHAPE_QUADRANGLE, "surface"},
    {"Edges", 3, 0, HX_SOLID_HEX8, HX_SHAPE_LINE, "curve"},
};

static const hx_file_number integer = {"integer", 8, 'i'};
static const hx_file_number number = {"number", 8, 'f'};

static int read_vertices(reader *r)
{
    int64_t n, n_value, reference;
    double x[3];
    if (r->has_vertices) return HX_FILE_RAISE(&r->scan, "a second section Vertices");
    r->has_vertices = 1;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of vertices", &n));
    HX_TRY(hx_file_scan_room(&r->scan, &number, n, 4, "Vertices", &n_value));
    HX_TRY(hx_import_expect(&r->import, n, 0));
    for (int64_t i = 1; i <= n; i++) {
        HX_TRY(hx_file_scan_real(&r->scan, &number, 3, x));
        HX_TRY(hx_import_add_nodes(&r->import, 1, &i, x, r->scan.word_line));
        HX_TRY(hx_file_scan_int(&r->scan, &integer, 1, &reference));
    }
    return HX_OK;
}

static int add_medit_cell(reader *r, const section *s, const int64_t *node, int64_t reference)
{
    char name[48];
    hx_import_set *set;
    const int64_t cell = ++r->n_cell;
    snprintf(name, sizeof name, "%s-%lld", s->set, (long long)reference);
    HX_TRY(hx_import_set_named(&r->import, name, &set));
    if (s->is_solid) {
        HX_TRY(hx_numbers_append(&set->elem, 1, &cell));
        return hx_import_add_solids(&r->import, s->solid, 1, &cell, node, r->scan.word_line);
    }
    HX_TRY(hx_import_add_other(&r->import, s->shape, s->word, cell, r->scan.word_line));
    if (s->shape == HX_SHAPE_LINE) return hx_numbers_append(&set->node, s->n_node, node);
    const int64_t quad[4] = {node[0], node[1], node[2],
                             node[s->shape == HX_SHAPE_TRIANGLE ? 2 : 3]};
    return hx_numbers_append(&set->quad, 4, quad);
}

/* Counts the numbers in the next line; consumes nothing. */
static int count_line(reader *r, int64_t *n)
{
    const hx_file_mark begin = hx_file_scan_mark(&r->scan);
    int found = 1;
    char line[1024] = "";
    *n = 0;
    while (found && line[strspn(line, " \t\r")] == '\0')
        HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
    for (const char *c = line + strspn(line, " \t\r"); *c; c += strspn(c, " \t\r")) {
        c += strcspn(c, " \t\r");
        (*n)++;
    }
    return hx_file_scan_jump(&r->scan, begin);
}

/* Counts the numbers up to the next word of a section; consumes nothing. */
static int count_numbers(reader *r, int64_t *n)
{
    const hx_file_mark begin = hx_file_scan_mark(&r->scan);
    const int64_t line = r->scan.word_line;
    int found;
    for (*n = 0;; (*n)++) {
        HX_TRY(hx_file_scan_uncommented(&r->scan, &found));
        if (!found || isalpha((unsigned char)r->scan.word[0])) break;
    }
    HX_TRY(hx_file_scan_jump(&r->scan, begin));
    r->scan.word_line = line;
    return HX_OK;
}

/* Finds the row for the cells' number of nodes. A line usually has one cell, so counting one line
 * suffices; otherwise all numbers are counted. */
static int find_order(reader *r, const section **s, int64_t n_cell)
{
    int64_t n;
    HX_TRY(count_line(r, &n));
    if (n_cell == 0 || n == (*s)->n_node + 1) return HX_OK;
    HX_TRY(count_numbers(r, &n));
    if (n < n_cell * ((*s)->n_node + 1) || n % n_cell != 0 || n / n_cell > 200)
        return HX_OK; /* the error will be reported when the cells are read */
    const int64_t n_node = n / n_cell - 1;
    if (n_node == (*s)->n_node) return HX_OK;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(sections[i].word, (*s)->word) != 0 || sections[i].n_node != n_node) continue;
        *s = &sections[i];
        return HX_OK;
    }
    return HX_FILE_RAISE(&r->scan,
                         "%s of %lld %s are not read: save the mesh with elements of first or "
                         "second order (gmsh -order 2), or as .msh",
                         (*s)->word, (long long)n_node, hx_noun(n_node, "node", "nodes"));
}

static int read_cells(reader *r, const section *s)
{
    int64_t n, n_value, entry[HX_SOLID_NODES + 1];
    HX_TRY(hx_file_scan_count(&r->scan, "the number of cells", &n));
    HX_TRY(hx_file_scan_room(&r->scan, &integer, n, s->n_node + 1, s->word, &n_value));
    HX_TRY(find_order(r, &s, n));
    for (int64_t i = 0; i < n; i++) {
        HX_TRY(hx_file_scan_int(&r->scan, &integer, s->n_node + 1, entry));
        HX_TRY(add_medit_cell(r, s, entry, entry[s->n_node]));
    }
    return HX_OK;
}

/* Reads a dimension, which may follow its word directly. */
static int read_dimension(reader *r)
{
    int64_t n;
    HX_TRY(hx_file_scan_count(&r->scan, "the dimension", &n));
    if (n == 3) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "a mesh in %lld dimensions; it must have 3", (long long)n);
}

/* Returns 1 for cells of second or higher order, whose nodes programs order in different ways, and
 * for sections that state such an order: HexahedraQ2, TetrahedraP3, TetrahedraP2Ordering. */
static int is_high_order(const char *word)
{
    for (const char *c = word; *c; c++)
        if ((*c == 'P' || *c == 'Q') && isdigit((unsigned char)c[1])) return 1;
    return 0;
}

/* Reads the section that the last word opens; the numbers of other sections are skipped one by
 * one. */
static int read_medit_section(reader *r)
{
    const char *const word = r->scan.word;
    int64_t version;
    if (!isalpha((unsigned char)word[0]) && r->is_passing) return HX_OK;
    if (!isalpha((unsigned char)word[0]))
        return HX_FILE_RAISE(&r->scan,
                             "'%s' where a section is expected: the section before has more "
                             "numbers than its cells of first order need",
                             hx_file_scan_shown(&r->scan));
    r->is_passing = 0;
    if (strcasecmp(word, "MeshVersionFormatted") == 0)
        return hx_file_scan_count(&r->scan, "the version", &version);
    if (strcasecmp(word, "Dimension") == 0) return read_dimension(r);
    if (strcasecmp(word, "Vertices") == 0) return read_vertices(r);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcasecmp(word, sections[i].word) == 0) return read_cells(r, &sections[i]);
    r->is_passing = 1;
    if (!is_high_order(word)) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "%s is not read; save it as .msh, .vtu or .inp",
                         hx_file_scan_shown(&r->scan));
}

int hx_medit_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK;
    reader r;
    (void)conditions; /* the format has no conditions */
    memset(&r, 0, sizeof r);
    memset(mesh, 0, sizeof *mesh);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    HX_TRY_FAIL(hx_file_scan_open(&r.scan, path));
    int found;
    HX_TRY_FAIL(hx_file_scan_uncommented(&r.scan, &found));
    if (!found || strcasecmp(r.scan.word, "MeshVersionFormatted") != 0)
        HX_TRY_FAIL(
            HX_FILE_RAISE(&r.scan, "not a Medit file, which begins with MeshVersionFormatted"));
    while (found && strcasecmp(r.scan.word, "End") != 0) {
        HX_TRY_FAIL(read_medit_section(&r));
        HX_TRY_FAIL(hx_file_scan_uncommented(&r.scan, &found));
    }
    rc = hx_import_finish(&r.import, mesh);
fail:
    hx_file_scan_free(&r.scan);
    hx_import_free(&r.import);
    return rc;
}
