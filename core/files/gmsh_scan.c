/* Types of elements and numbers in Gmsh files, text and binary. The file is not trusted: a count is
 * compared with the remaining bytes before it is used. */
#include <stdlib.h>
#include <string.h>

#include "gmsh_reader.h"

/* Gmsh manual, "Node ordering", and GmshDefines.h; types that no supported mesher writes are left
 * out. */
#define SOLID(number, n_node, id, name)                                                            \
    {                                                                                              \
        number, 3, n_node, 1, HX_SHAPE_OTHER, id, name                                             \
    }
#define CELL(number, dim, n_node, shape, name)                                                     \
    {                                                                                              \
        number, dim, n_node, 0, shape, HX_SOLID_HEX8, name                                         \
    }
static const hx_gmsh_type type_list[] = {
    SOLID(4, 4, HX_SOLID_TET4, "4-node tetrahedron"),
    SOLID(5, 8, HX_SOLID_HEX8, "8-node hexahedron"),
    SOLID(6, 6, HX_SOLID_WEDGE6, "6-node prism"),
    SOLID(7, 5, HX_SOLID_PYRAMID5, "5-node pyramid"),
    SOLID(11, 10, HX_SOLID_GMSH_TET10, "10-node tetrahedron"),
    SOLID(12, 27, HX_SOLID_GMSH_HEX27, "27-node hexahedron"),
    SOLID(13, 18, HX_SOLID_GMSH_WEDGE18, "18-node prism"),
    SOLID(14, 14, HX_SOLID_GMSH_PYRAMID14, "14-node pyramid"),
    SOLID(17, 20, HX_SOLID_GMSH_HEX20, "20-node hexahedron"),
    SOLID(18, 15, HX_SOLID_GMSH_WEDGE15, "15-node prism"),
    SOLID(19, 13, HX_SOLID_GMSH_PYRAMID13, "13-node pyramid"),
    CELL(1, 1, 2, HX_SHAPE_LINE, "2-node line"),
    CELL(2, 2, 3, HX_SHAPE_TRIANGLE, "3-node triangle"),
    CELL(3, 2, 4, HX_SHAPE_QUADRANGLE, "4-node quadrangle"),
    CELL(8, 1, 3, HX_SHAPE_LINE, "3-node line"),
    CELL(9, 2, 6, HX_SHAPE_TRIANGLE, "6-node triangle"),
    CELL(10, 2, 9, HX_SHAPE_QUADRANGLE, "9-node quadrangle"),
    CELL(15, 0, 1, HX_SHAPE_POINT, "point"),
    CELL(16, 2, 8, HX_SHAPE_QUADRANGLE, "8-node quadrangle"),
    CELL(20, 2, 9, HX_SHAPE_TRIANGLE, "9-node triangle"),
    CELL(21, 2, 10, HX_SHAPE_TRIANGLE, "10-node triangle"),
    CELL(26, 1, 4, HX_SHAPE_LINE, "4-node line"),
    CELL(27, 1, 5, HX_SHAPE_LINE, "5-node line"),
    CELL(28, 1, 6, HX_SHAPE_LINE, "6-node line"),
    CELL(29, 3, 20, HX_SHAPE_HIGH_ORDER, "20-node tetrahedron"),
    CELL(30, 3, 35, HX_SHAPE_HIGH_ORDER, "35-node tetrahedron"),
    CELL(36, 2, 16, HX_SHAPE_QUADRANGLE, "16-node quadrangle"),
    CELL(37, 2, 25, HX_SHAPE_QUADRANGLE, "25-node quadrangle"),
    CELL(90, 3, 40, HX_SHAPE_HIGH_ORDER, "40-node prism"),
    CELL(92, 3, 64, HX_SHAPE_HIGH_ORDER, "64-node hexahedron"),
    CELL(93, 3, 125, HX_SHAPE_HIGH_ORDER, "125-node hexahedron"),
    CELL(118, 3, 30, HX_SHAPE_HIGH_ORDER, "30-node pyramid"),
};

int hx_gmsh_find_type(hx_gmsh_reader *r, int64_t number, const hx_gmsh_type **type)
{
    for (size_t i = 0; i < sizeof type_list / sizeof type_list[0]; i++) {
        *type = &type_list[i];
        if (type_list[i].number == number) return HX_OK;
    }
    return HX_GMSH_RAISE(r, "%lld is not a known type of element", (long long)number);
}

/* --- numbers --- */

static uint64_t decode_bits(const hx_gmsh_reader *r, const unsigned char *bytes, int n_byte)
{
    unsigned char in_order[8];
    for (int i = 0; i < n_byte; i++) in_order[i] = bytes[r->is_swapped ? n_byte - 1 - i : i];
    if (n_byte == 8) {
        uint64_t bits;
        memcpy(&bits, in_order, sizeof bits);
        return bits;
    }
    uint32_t bits;
    memcpy(&bits, in_order, sizeof bits);
    return bits;
}

int64_t hx_gmsh_decode_int(const hx_gmsh_reader *r, const unsigned char *bytes)
{
    return (int32_t)(uint32_t)decode_bits(r, bytes, 4);
}

int64_t hx_gmsh_decode_size(const hx_gmsh_reader *r, const unsigned char *bytes)
{
    return (int64_t)decode_bits(r, bytes, r->size_bytes);
}

double hx_gmsh_decode_real(const hx_gmsh_reader *r, const unsigned char *bytes)
{
    const uint64_t bits = decode_bits(r, bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int read_integers(hx_gmsh_reader *r, int64_t n, int n_byte, int64_t *value)
{
    const hx_file_number word = {"integer", 8, 'i'};
    const unsigned char *bytes;
    int64_t n_ready;
    if (!r->scan.is_binary) return hx_file_scan_int(&r->scan, &word, n, value);
    for (int64_t i = 0; i < n; i += n_ready) {
        HX_TRY(hx_file_scan_raw(&r->scan, n_byte, n - i, &bytes, &n_ready));
        for (int64_t k = 0; k < n_ready; k++)
            value[i + k] = n_byte == 4 ? hx_gmsh_decode_int(r, bytes + 4 * k)
                                       : hx_gmsh_decode_size(r, bytes + n_byte * k);
    }
    return HX_OK;
}

int hx_gmsh_ints(hx_gmsh_reader *r, int64_t n, int64_t *value)
{
    return read_integers(r, n, 4, value);
}

int hx_gmsh_sizes(hx_gmsh_reader *r, int64_t n, int64_t *value)
{
    return read_integers(r, n, r->size_bytes, value);
}

int hx_gmsh_reals(hx_gmsh_reader *r, int64_t n, double *value)
{
    const hx_file_number word = {"double", 8, 'f'};
    const unsigned char *bytes;
    int64_t n_ready;
    if (!r->scan.is_binary) return hx_file_scan_real(&r->scan, &word, n, value);
    for (int64_t i = 0; i < n; i += n_ready) {
        HX_TRY(hx_file_scan_raw(&r->scan, 8, n - i, &bytes, &n_ready));
        for (int64_t k = 0; k < n_ready; k++) value[i + k] = hx_gmsh_decode_real(r, bytes + 8 * k);
    }
    return HX_OK;
}

int hx_gmsh_check_count(hx_gmsh_reader *r, const char *what, int64_t n, int64_t n_byte,
                        int64_t n_word)
{
    const int64_t left = r->scan.size - r->scan.offset - (int64_t)r->scan.pos;
    /* A word takes at least two bytes with its blank; the last one may lack the blank. */
    const int64_t most = r->scan.is_binary ? left / n_byte : (left + 1) / (2 * n_word);
    if (n >= 0 && n <= most) return HX_OK;
    return HX_GMSH_RAISE(r,
                         "%lld %s do not fit into the remaining %lld bytes: the file is truncated "
                         "or the count is wrong",
                         (long long)n, what, (long long)left);
}

int64_t hx_gmsh_line(const hx_gmsh_reader *r)
{
    return r->scan.is_binary ? 0 : r->scan.word_line;
}

int hx_gmsh_take_other(hx_gmsh_reader *r, const hx_gmsh_type *type, int64_t number,
                       const int64_t *node, int64_t line, int64_t n_set, hx_import_set *const *set)
{
    HX_TRY(hx_import_add_other(&r->import, type->shape, type->name, number, line));
    const int is_triangle = type->shape == HX_SHAPE_TRIANGLE;
    if (is_triangle || type->shape == HX_SHAPE_QUADRANGLE) {
        const int64_t corner[4] = {node[0], node[1], node[2], node[is_triangle ? 2 : 3]};
        for (int64_t i = 0; i < n_set; i++) HX_TRY(hx_numbers_append(&set[i]->quad, 4, corner));
        return HX_OK;
    }
    for (int64_t i = 0; i < n_set; i++)
        HX_TRY(hx_numbers_append(&set[i]->node, type->n_node, node));
    return HX_OK;
}
