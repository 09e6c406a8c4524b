/* Nodes and elements of an Abaqus input file. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "abaqus_reader.h"
#include "word_rows.h"

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

int hx_abaqus_begin_node(hx_abaqus_reader *r)
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

#define SOLID(names, n_node, id)                                                                   \
    {                                                                                              \
        names, n_node, 1, HX_SHAPE_OTHER, id                                                       \
    }
#define CELL(names, n_node, shape)                                                                 \
    {                                                                                              \
        names, n_node, 0, shape, HX_SOLID_HEX8                                                     \
    }
static const hx_abaqus_type types[] = {
    SOLID("C3D8", 8, HX_SOLID_HEX8),
    SOLID("DC3D8", 8, HX_SOLID_HEX8),
    SOLID("C3D4", 4, HX_SOLID_TET4),
    SOLID("DC3D4", 4, HX_SOLID_TET4),
    SOLID("C3D6", 6, HX_SOLID_WEDGE6),
    SOLID("DC3D6", 6, HX_SOLID_WEDGE6),
    SOLID("C3D5", 5, HX_SOLID_PYRAMID5),
    SOLID("DC3D5", 5, HX_SOLID_PYRAMID5),
    SOLID("C3D10", 10, HX_SOLID_TET10),
    SOLID("DC3D10", 10, HX_SOLID_TET10),
    CELL("C3D15V", 0, HX_SHAPE_OTHER), /* with 15 to 18 nodes */
    SOLID("C3D15", 15, HX_SOLID_WEDGE15),
    SOLID("DC3D15", 15, HX_SOLID_WEDGE15),
    SOLID("C3D13", 13, HX_SOLID_PYRAMID13),
    SOLID("C3D20", 20, HX_SOLID_HEX20),
    SOLID("DC3D20", 20, HX_SOLID_HEX20),
    SOLID("C3D27", 27, HX_SOLID_ABAQUS_HEX27),
    CELL("S3, STRI3, M3D3, SFM3D3, DS3, R3D3, CPS3, CPE3, CAX3, DCAX3, CPEG3, DC2D3", 3,
         HX_SHAPE_TRIANGLE),
    CELL("S4, M3D4, SFM3D4, DS4, R3D4, CPS4, CPE4, CAX4, DCAX4, CPEG4, DC2D4", 4,
         HX_SHAPE_QUADRANGLE),
    CELL("S6, STRI65, M3D6, SFM3D6, DS6, CPS6, CPE6, CAX6, DCAX6, CPEG6, DC2D6", 6,
         HX_SHAPE_TRIANGLE),
    CELL("S8, M3D8, SFM3D8, DS8, CPS8, CPE8, CAX8, DCAX8, CPEG8, DC2D8", 8, HX_SHAPE_QUADRANGLE),
    CELL("S9, M3D9", 9, HX_SHAPE_QUADRANGLE),
    CELL("T2D2, T3D2, DC1D2, B21, B23, B31, B33, PIPE31, ELBOW31, FRAME3D, SAX1, R2D2, RAX2, "
         "RB2D2, RB3D2, SPRINGA, SPRING2, DASHPOTA, DASHPOT2, GAPUNI, GAPCYL, GAPSPHER, CONN3D2",
         2, HX_SHAPE_LINE),
    CELL("T2D3, T3D3, DC1D3, B22, B32, PIPE32, ELBOW32, SAX2", 3, HX_SHAPE_LINE),
    CELL("MASS, ROTARYI, HEATCAP, SPRING1, DASHPOT1, DCOUP3D", 1, HX_SHAPE_POINT),
    CELL("D", 0, HX_SHAPE_LINE), /* for fluids, in CalculiX */
};

/* The type whose name begins with a word of the table; "D" is a whole name. */
static const hx_abaqus_type *find_type(const char *name)
{
    static const hx_abaqus_type other = CELL("", 0, HX_SHAPE_OTHER);
    char word[HX_LISTED_WORD];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (const char *at = types[i].names; hx_next_word(&at, word);)
            if (strncasecmp(word, name, strlen(word)) == 0 && (word[1] || !name[1]))
                return &types[i];
    return &other;
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
    /* note type and line of a cell that is not a solid */
    size_t i = r->other_type;
    for (i = i ? i - 1 : 0; i < r->import.n_other; i++)
        if (strcmp(r->import.other[i].type, r->type_name) == 0) break;
    const int64_t type = (int64_t)i, line = r->entry_line;
    r->other_type = i + 1;
    HX_TRY(hx_numbers_append(&r->cell_type, 1, &type));
    HX_TRY(hx_numbers_append(&r->cell_line, 1, &line));
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
        /* add the base of the current scope to the numbers of the element and its nodes */
        const int has_own_node = r->has_own_node;
        if (r->n_instance != 0 || r->in_assembly) {
            for (int k = 0; k <= r->type->n_node; k++)
                if (!(r->entry_has_base >> k & 1))
                    HX_TRY(hx_abaqus_own_number(r, k == 0, &r->entry[k]));
            /* naming a node does not show that the scope has nodes of its own */
            r->has_own_node = has_own_node;
        }
        HX_TRY(finish_entry(r));
        if (hx_abaqus_field(&line, &field) && *field)
            return HX_ABAQUS_RAISE(&r->scan, "element %lld of type %s has more than %d nodes",
                                   (long long)(r->entry[0] % HX_ABAQUS_BASE), r->type_name,
                                   r->type->n_node);
        return HX_OK;
    }
    return HX_OK;
}

/* For an unknown type, each line is an element, unless the previous line ends with a comma. */
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

int hx_abaqus_begin_element(hx_abaqus_reader *r)
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

int hx_abaqus_check_entry(hx_abaqus_reader *r)
{
    if (r->n_entry == 0) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan,
                           "element %lld of type %s has %d nodes before this; it needs %d",
                           (long long)r->entry[0], r->type_name, r->n_entry - 1, r->type->n_node);
}
