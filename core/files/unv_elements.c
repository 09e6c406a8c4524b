/* Elements of universal files. */
#include <stdio.h>

#include "../base/grow.h"
#include "unv_reader.h"

typedef struct cell_type {
    int number, n_node;
    int is_solid;
    hx_solid_id solid;
    hx_shape shape;
    const char *name;
    /* positions of the solid's nodes in the file; for faces, positions of their corners; or NULL */
    const int8_t *order;
} cell_type;

/* Mid-side nodes come between the corners. */
static const int8_t tet10[] = {0, 2, 4, 9, 1, 3, 5, 6, 7, 8};
static const int8_t wedge15[] = {0, 2, 4, 9, 11, 13, 1, 3, 5, 10, 12, 14, 6, 7, 8};
static const int8_t hex20[] = {0, 2, 4,  6,  12, 14, 16, 18, 1,  3,
                               5, 7, 13, 15, 17, 19, 8,  9,  10, 11};
static const int8_t pyramid13[] = {0, 2, 4, 6, 12, 1, 3, 5, 7, 8, 9, 10, 11};
static const int8_t second[] = {0, 2, 4, 6};

#define SOLID(number, n, id, name, order)                                                          \
    {                                                                                              \
        number, n, 1, id, HX_SHAPE_OTHER, name, order                                              \
    }
#define FACE(number, n, shape, name, order)                                                        \
    {                                                                                              \
        number, n, 0, HX_SOLID_HEX8, shape, name, order                                            \
    }
static const cell_type types[] = {
    SOLID(111, 4, HX_SOLID_TET4, "linear tetrahedron", NULL),
    SOLID(112, 6, HX_SOLID_WEDGE6, "linear wedge", NULL),
    SOLID(115, 8, HX_SOLID_HEX8, "linear brick", NULL),
    SOLID(118, 10, HX_SOLID_TET10, "parabolic tetrahedron", tet10),
    SOLID(113, 15, HX_SOLID_WEDGE15, "parabolic wedge", wedge15),
    SOLID(116, 20, HX_SOLID_HEX20, "parabolic brick", hex20),
    SOLID(114, 5, HX_SOLID_PYRAMID5, "pyramid", NULL), /* Salome, Code_Aster */
    SOLID(214, 5, HX_SOLID_PYRAMID5, "pyramid", NULL), /* Gmsh */
    SOLID(314, 13, HX_SOLID_PYRAMID13, "parabolic pyramid", pyramid13),
    FACE(41, 3, HX_SHAPE_TRIANGLE, "plane triangle", NULL),
    FACE(51, 3, HX_SHAPE_TRIANGLE, "plane triangle", NULL),
    FACE(61, 3, HX_SHAPE_TRIANGLE, "flat triangle", NULL),
    FACE(74, 3, HX_SHAPE_TRIANGLE, "membrane triangle", NULL),
    FACE(91, 3, HX_SHAPE_TRIANGLE, "thin triangle", NULL),
    FACE(42, 6, HX_SHAPE_TRIANGLE, "plane triangle", second),
    FACE(52, 6, HX_SHAPE_TRIANGLE, "plane triangle", second),
    FACE(62, 6, HX_SHAPE_TRIANGLE, "flat triangle", second),
    FACE(92, 6, HX_SHAPE_TRIANGLE, "thin triangle", second),
    FACE(44, 4, HX_SHAPE_QUADRANGLE, "plane quadrangle", NULL),
    FACE(54, 4, HX_SHAPE_QUADRANGLE, "plane quadrangle", NULL),
    FACE(64, 4, HX_SHAPE_QUADRANGLE, "flat quadrangle", NULL),
    FACE(71, 4, HX_SHAPE_QUADRANGLE, "membrane quadrangle", NULL),
    FACE(94, 4, HX_SHAPE_QUADRANGLE, "thin quadrangle", NULL),
    FACE(45, 8, HX_SHAPE_QUADRANGLE, "plane quadrangle", second),
    FACE(55, 8, HX_SHAPE_QUADRANGLE, "plane quadrangle", second),
    FACE(65, 8, HX_SHAPE_QUADRANGLE, "flat quadrangle", second),
    FACE(95, 8, HX_SHAPE_QUADRANGLE, "thin quadrangle", second),
};

static const cell_type *find_type(int64_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number) return &types[i];
    return NULL;
}

static int is_line(int64_t number)
{
    return number < 40 || (number > 120 && number < 200);
}

/* Elements that are not solids, faces or bars: they always carry load or have mass. */
typedef struct other_kind {
    int first, last;
    unsigned roles;
    const char *what;
} other_kind;

static const other_kind others[] = {
    {121, 123, HX_UNREAD_CARRIES, "rigid elements"},
    {136, 139, HX_UNREAD_CARRIES, "springs"},
    {151, 152, HX_UNREAD_CARRIES, "gap elements"},
    {161, 161, HX_UNREAD_MASS, "point masses"},
    {141, 142, 0, "dampers"},
};

static int count_skin(unv_reader *r, int64_t kind, const char *name, int64_t line)
{
    for (size_t i = 0; i < r->n_skin; i++) {
        if (r->skin[i].kind != kind) continue;
        r->skin[i].n++;
        return HX_OK;
    }
    HX_TRY(hx_grow(&r->skin, r->n_skin, &r->skin_capacity, sizeof *r->skin, "kinds of elements"));
    r->skin[r->n_skin++] = (unv_skin){kind, 1, line, name};
    return HX_OK;
}

static int name_element(unv_reader *r, int64_t kind, int64_t line)
{
    char word[40];
    snprintf(word, sizeof word, "element %lld", (long long)kind);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (kind >= others[i].first && kind <= others[i].last)
            return hx_import_unread(&r->import, others[i].roles, word, others[i].what, 1, line);
    return count_skin(r, kind, kind < 40 ? "bars" : "unknown elements", line);
}

/* Gmsh gives elements of second order the type of first-order elements. */
static int add_unv_face(unv_reader *r, const cell_type *type, int64_t number, int64_t n_node,
                        const int64_t *node, int64_t line)
{
    int64_t quad[4];
    const int n = type->shape == HX_SHAPE_TRIANGLE ? 3 : 4;
    for (int k = 0; k < 4; k++) {
        const int corner = k < n ? k : n - 1;
        quad[k] = node[n_node >= 2 * n ? second[corner] : corner];
    }
    HX_TRY(hx_import_add_other(&r->import, type->shape, type->name, number, line));
    HX_TRY(count_skin(r, type->number, type->name, line));
    HX_TRY(hx_numbers_append(&r->cell_number, 1, &number));
    return hx_numbers_append(&r->cell_corner, 4, quad);
}

/* Adds the nodes, of which sets are made; of a line with more than 3 nodes, only the first 3. */
static int add_line(unv_reader *r, int64_t kind, int64_t number, int64_t n, const int64_t *node,
                    int64_t line)
{
    char name[40];
    snprintf(name, sizeof name, "cell of kind %lld", (long long)kind);
    if (!is_line(kind)) return hx_import_add_other(&r->import, HX_SHAPE_OTHER, name, number, line);
    int64_t end[4];
    for (int k = 0; k < 3; k++) end[k] = node[k < n ? k : 0];
    end[3] = -1;
    HX_TRY(hx_import_add_other(&r->import, HX_SHAPE_LINE, name, number, line));
    HX_TRY(name_element(r, kind, line));
    HX_TRY(hx_numbers_append(&r->cell_number, 1, &number));
    return hx_numbers_append(&r->cell_corner, 4, end);
}

static int add_unv_cell(unv_reader *r, int64_t kind, int64_t number, int64_t n, const int64_t *node,
                        int64_t line)
{
    int64_t in_order[HX_SOLID_NODES];
    const cell_type *const type = find_type(kind);
    if (!type) return add_line(r, kind, number, n, node, line);
    if (n != type->n_node && (type->is_solid || n < type->n_node))
        return HX_FILE_RAISE(&r->scan, "element %lld, of type %s, has %lld nodes; it must have %d",
                             (long long)number, type->name, (long long)n, type->n_node);
    if (!type->is_solid) return add_unv_face(r, type, number, n, node, line);
    for (int k = 0; k < type->n_node; k++) in_order[k] = node[type->order ? type->order[k] : k];
    return hx_import_add_solids(&r->import, type->solid, 1, &number, in_order, line);
}

int hx_unv_read_elements(unv_reader *r, int64_t data_set)
{
    const int n_head = data_set == 780 ? 8 : 6;
    int more, n;
    int64_t head[UNV_MOST_NUMBERS], node[HX_SOLID_NODES];
    for (;;) {
        HX_TRY(hx_unv_next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(hx_unv_take_integers(r, n_head, n_head, head, &n));
        const int64_t line = r->scan.word_line, n_node = head[n_head - 1];
        if (n_node < 1 || n_node > 1000)
            return HX_FILE_RAISE(&r->scan, "an element of %lld nodes", (long long)n_node);
        const int is_beam = head[1] == 11 || (head[1] >= 21 && head[1] <= 24);
        if (is_beam) HX_TRY(hx_unv_need_line(r)); /* orientation and ends of the beam */
        /* node numbers, 8 per line; those after the first HX_SOLID_NODES are skipped */
        for (int64_t i = 0; i < n_node;) {
            int64_t part[UNV_MOST_NUMBERS];
            int n_part;
            const int most = n_node - i < UNV_MOST_NUMBERS ? (int)(n_node - i) : UNV_MOST_NUMBERS;
            HX_TRY(hx_unv_need_line(r));
            HX_TRY(hx_unv_take_integers(r, most, most, part, &n_part));
            for (int k = 0; k < n_part; k++, i++)
                if (i < HX_SOLID_NODES) node[i] = part[k];
        }
        HX_TRY(add_unv_cell(r, head[1], head[0], n_node, node, line));
    }
}
