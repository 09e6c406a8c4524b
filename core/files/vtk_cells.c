#include "vtk_reader.h"

#include <math.h>
#include <strings.h>

#include "../base/memory.h"

/* Sizes in a binary file; VTK stores its vtkIdType as int. */
static const hx_file_number number_list[] = {
    {"unsigned_char", 1, 'u'}, {"char", 1, 'i'},
    {"signed_char", 1, 'i'},   {"unsigned_short", 2, 'u'},
    {"short", 2, 'i'},         {"unsigned_int", 4, 'u'},
    {"int", 4, 'i'},           {"unsigned_long", 8, 'u'},
    {"long", 8, 'i'},          {"vtktypeint32", 4, 'i'},
    {"vtktypeuint32", 4, 'u'}, {"vtktypeint64", 8, 'i'},
    {"vtktypeuint64", 8, 'u'}, {"vtkidtype", 4, 'i'},
    {"float", 4, 'f'},         {"double", 8, 'f'},
    {"bit", 0, 'b'},           {"string", 0, 's'},
    {"utf8_string", 0, 's'},
};

int hx_vtk_read_type(hx_file_scan *scan, const hx_file_number **type)
{
    HX_TRY(hx_file_scan_need(scan, "a type of numbers"));
    for (size_t i = 0; i < sizeof number_list / sizeof number_list[0]; i++) {
        if (strcasecmp(scan->word, number_list[i].name) == 0) {
            *type = &number_list[i];
            return HX_OK;
        }
    }
    return HX_FILE_RAISE(scan,
                         "'%s' is not a type of numbers; VTK knows double, float, int, "
                         "unsigned_char, vtktypeint64 and a few more",
                         hx_file_scan_shown(scan));
}

enum { VTK_VOXEL = 11, VTK_HEXAHEDRON = 12 };

/* For messages. */
static const char *cell_type_name(int64_t type)
{
    static const char *const name[] = {
        "VTK_EMPTY_CELL", "VTK_VERTEX",         "VTK_POLY_VERTEX", "VTK_LINE",  "VTK_POLY_LINE",
        "VTK_TRIANGLE",   "VTK_TRIANGLE_STRIP", "VTK_POLYGON",     "VTK_PIXEL", "VTK_QUAD",
        "VTK_TETRA",      "VTK_VOXEL",          "VTK_HEXAHEDRON",  "VTK_WEDGE", "VTK_PYRAMID"};
    if (type >= 0 && type < (int64_t)(sizeof name / sizeof name[0])) return name[type];
    if (type == 24) return "VTK_QUADRATIC_TETRA";
    if (type == 25) return "VTK_QUADRATIC_HEXAHEDRON";
    if (type == 29) return "VTK_TRIQUADRATIC_HEXAHEDRON";
    if (type == 72) return "VTK_LAGRANGE_HEXAHEDRON";
    return "not a hexahedron";
}

/* What writing the coordinates has left of them. Text says by its digits, of which few may also be
 * all that a number has; numbers that all fit a float have been through one. */
static double find_precision(const hx_vtk_reader *r, const hx_file_number *type, int64_t n)
{
    enum { LEAST_DIGITS = 6, MOST_DIGITS = 16 }; /* of "%g"; of a double, safely */
    const double single = 0x1p-23, full = 0x1p-50;
    int fits = 1;
    double precision = full;
    if (!r->scan.is_binary) {
        int n_digit = r->scan.most_digits;
        if (n_digit < LEAST_DIGITS) n_digit = LEAST_DIGITS;
        if (n_digit > MOST_DIGITS) n_digit = MOST_DIGITS;
        precision = pow(10.0, 1 - n_digit);
    }
#pragma omp parallel for schedule(static) reduction(& : fits)
    for (int64_t i = 0; i < n; i++) fits &= !(fabs((double)(float)r->xyz[i] - r->xyz[i]) > 0.0);
    return fits || (type->kind == 'f' && type->n_byte < 8) ? fmax(precision, single) : precision;
}

int hx_vtk_read_points(hx_vtk_reader *r)
{
    const hx_file_number *type;
    int64_t n, n_value;
    if (r->n_node >= 0) return HX_FILE_RAISE(&r->scan, "a second POINTS section");
    HX_TRY(hx_file_scan_count(&r->scan, "the number of points", &n));
    HX_TRY(hx_vtk_read_type(&r->scan, &type));
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, type, n, 3, "POINTS", &n_value));
    if (n > INT32_MAX)
        return HX_FILE_RAISE(&r->scan, "%lld points; at most %ld can be numbered", (long long)n,
                             (long)INT32_MAX);
    r->n_node = n;
    if (!r->mesh) return hx_file_scan_skip(&r->scan, type, n_value);

    HX_TRY(hx_alloc_raw(&r->xyz, (size_t)n_value, sizeof *r->xyz, "coordinates"));
    r->scan.most_digits = 0;
    HX_TRY(hx_file_scan_real(&r->scan, type, n_value, r->xyz));
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < n_value; i++)
        if (!isfinite(r->xyz[i]) && i < bad) bad = i;
    r->precision = find_precision(r, type, n_value);
    if (bad == INT64_MAX) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "point %lld: coordinate %c is %g, not a finite number",
                         (long long)(bad / 3), "xyz"[bad % 3], r -> xyz[bad]);
}

static void note_odd_cell(hx_vtk_reader *r, int64_t elem, int64_t n)
{
    if (r->odd_elem >= 0) return;
    r->odd_elem = elem;
    r->odd_n = n;
}

static int store_nodes(hx_vtk_reader *r, int64_t elem, const int64_t *node)
{
    const int64_t end = r->n_node >= 0 ? r->n_node : INT32_MAX;
    for (int k = 0; k < 8; k++) {
        if (node[k] < 0 || node[k] >= end)
            return HX_FILE_RAISE(&r->scan, "cell %lld uses point %lld; there are points 0 to %lld",
                                 (long long)elem, (long long)node[k], (long long)end - 1);
        r->conn[8 * elem + k] = (int32_t)node[k];
    }
    return HX_OK;
}

static int alloc_cells(hx_vtk_reader *r)
{
    return hx_alloc_raw(&r->conn, (size_t)r->n_elem * 8, sizeof *r->conn, "connectivity");
}

/* Cells of a binary file, each n_lead numbers (its 8) and its nodes, as long as all of a batch are
 * hexahedra with valid nodes; *elem: the first one that was not read. What is wrong with that is
 * for who reads cell by cell. */
static int read_hexahedra(hx_vtk_reader *r, const hx_file_number *type, int n_lead, int64_t *elem)
{
    const int64_t end = r->n_node >= 0 ? r->n_node : INT32_MAX;
    const int n_byte = type->n_byte, n_record = (n_lead + 8) * n_byte;
    while (*elem < r->n_elem) {
        const unsigned char *bytes;
        int64_t n;
        int good = 1;
        HX_TRY(hx_file_scan_raw(&r->scan, n_record, r->n_elem - *elem, &bytes, &n));
        int32_t *const conn = r->conn + 8 * *elem;
#pragma omp parallel for schedule(static) reduction(& : good)
        for (int64_t e = 0; e < n; e++) {
            const unsigned char *at = bytes + e * n_record;
            for (int k = 0; k < n_lead; k++, at += n_byte)
                good &= hx_file_decode_int(at, n_byte, type->kind) == 8;
            for (int k = 0; k < 8; k++, at += n_byte) {
                const int64_t node = hx_file_decode_int(at, n_byte, type->kind);
                good &= node >= 0 && node < end;
                conn[8 * e + k] = (int32_t)node;
            }
        }
        if (!good) {
            hx_file_scan_unread(&r->scan, n_record, n);
            return HX_OK;
        }
        *elem += n;
    }
    return HX_OK;
}

/* Until version 4.2: for each cell its number of nodes, then the nodes. */
static int read_cells_classic(hx_vtk_reader *r, int64_t size)
{
    const hx_file_number int32 = {"int", 4, 'i'};
    int64_t left, n, node[8];
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, &int32, size, 1, "CELLS", &left));
    if (!r->mesh) return hx_file_scan_skip(&r->scan, &int32, left);

    if (left == 9 * r->n_elem) HX_TRY(alloc_cells(r)); /* else some cell is no hexahedron */
    int64_t first = 0;
    if (r->conn && r->scan.is_binary) HX_TRY(read_hexahedra(r, &int32, 1, &first));
    left -= 9 * first;
    for (int64_t e = first; e < r->n_elem; e++) {
        if (left < 1)
            return HX_FILE_RAISE(&r->scan, "the %lld numbers of CELLS end before cell %lld",
                                 (long long)size, (long long)e);
        HX_TRY(hx_file_scan_int(&r->scan, &int32, 1, &n));
        left--;
        if (n < 0 || n > left)
            return HX_FILE_RAISE(&r->scan,
                                 "cell %lld has %lld nodes, but %lld numbers of CELLS are left",
                                 (long long)e, (long long)n, (long long)left);
        left -= n;
        if (n != 8 || !r->conn) {
            if (n != 8) note_odd_cell(r, e, n);
            HX_TRY(hx_file_scan_skip(&r->scan, &int32, n));
            continue;
        }
        HX_TRY(hx_file_scan_int(&r->scan, &int32, 8, node));
        HX_TRY(store_nodes(r, e, node));
    }
    if (left > 0)
        return HX_FILE_RAISE(&r->scan, "CELLS announces %lld numbers, its cells have %lld",
                             (long long)size, (long long)(size - left));
    return HX_OK;
}

static int read_array_head(hx_vtk_reader *r, const char *word, int64_t n,
                           const hx_file_number **type)
{
    int64_t n_value;
    HX_TRY(hx_file_scan_need(&r->scan, word));
    if (strcasecmp(r->scan.word, word) != 0)
        return HX_FILE_RAISE(&r->scan, "'%s' where %s is expected", hx_file_scan_shown(&r->scan),
                             word);
    HX_TRY(hx_vtk_read_type(&r->scan, type));
    HX_TRY(hx_file_scan_begin(&r->scan));
    return hx_file_scan_room(&r->scan, *type, n, 1, word, &n_value);
}

/* Since version 5.0: the cells' first positions, then all nodes. */
static int read_cells_offsets(hx_vtk_reader *r, int64_t n_offset, int64_t n_conn)
{
    const hx_file_number *type;
    int64_t chunk[HX_VTK_CHUNK], previous = 0;
    HX_TRY(read_array_head(r, "OFFSETS", n_offset, &type));
    if (!r->mesh) {
        HX_TRY(hx_file_scan_skip(&r->scan, type, n_offset));
        HX_TRY(read_array_head(r, "CONNECTIVITY", n_conn, &type));
        return hx_file_scan_skip(&r->scan, type, n_conn);
    }
    for (int64_t i = 0; i < n_offset;) {
        const int64_t n = n_offset - i < HX_VTK_CHUNK ? n_offset - i : HX_VTK_CHUNK;
        HX_TRY(hx_file_scan_int(&r->scan, type, n, chunk));
        for (int64_t k = 0; k < n; k++, i++) {
            if (chunk[k] < previous || chunk[k] > n_conn || (i == 0 && chunk[k] != 0))
                return HX_FILE_RAISE(&r->scan,
                                     "offset %lld of cell %lld; offsets must ascend from 0 to %lld",
                                     (long long)chunk[k], (long long)i, (long long)n_conn);
            if (i > 0 && chunk[k] - previous != 8) note_odd_cell(r, i - 1, chunk[k] - previous);
            previous = chunk[k];
        }
    }
    HX_TRY(read_array_head(r, "CONNECTIVITY", n_conn, &type));
    if (r->odd_elem >= 0) return hx_file_scan_skip(&r->scan, type, n_conn);
    if (previous != n_conn)
        return HX_FILE_RAISE(&r->scan, "the last offset is %lld, but CONNECTIVITY has %lld entries",
                             (long long)previous, (long long)n_conn);
    HX_TRY(alloc_cells(r));
    int64_t first = 0;
    const bool is_int = type->kind == 'i' || type->kind == 'u';
    if (r->scan.is_binary && is_int) HX_TRY(read_hexahedra(r, type, 0, &first));
    for (int64_t e = first; e < r->n_elem; e++) {
        HX_TRY(hx_file_scan_int(&r->scan, type, 8, chunk));
        HX_TRY(store_nodes(r, e, chunk));
    }
    return HX_OK;
}

int hx_vtk_read_cells(hx_vtk_reader *r)
{
    int64_t n, size;
    if (r->n_elem >= 0) return HX_FILE_RAISE(&r->scan, "a second CELLS section");
    HX_TRY(hx_file_scan_count(&r->scan, "the number of cells", &n));
    HX_TRY(hx_file_scan_count(&r->scan, "the size of CELLS", &size));
    const bool has_offsets = r->major >= 5;
    r->n_elem = has_offsets && n > 0 ? n - 1 : n;
    if (r->n_elem > HX_MAX_ELEM)
        return HX_FILE_RAISE(&r->scan, "%lld cells; at most %lld are possible",
                             (long long)r->n_elem, (long long)HX_MAX_ELEM);
    return has_offsets ? read_cells_offsets(r, n, size) : read_cells_classic(r, size);
}

/* A voxel counts its nodes by x, y, z; a hexahedron goes round its lower and upper face. */
static void voxel_to_hexahedron(int32_t *conn)
{
    for (int k = 2; k < 8; k += 4) {
        const int32_t node = conn[k];
        conn[k] = conn[k + 1];
        conn[k + 1] = node;
    }
}

int hx_vtk_read_cell_types(hx_vtk_reader *r)
{
    const hx_file_number int32 = {"int", 4, 'i'};
    int64_t n_type, chunk[HX_VTK_CHUNK];
    HX_TRY(hx_file_scan_count(&r->scan, "the number of cell types", &n_type));
    if (r->n_elem < 0 || n_type != r->n_elem || r->has_types)
        return HX_FILE_RAISE(&r->scan,
                             "%lld cell types after %lld cells; one section CELLS and then "
                             "one CELL_TYPES of the same number are expected",
                             (long long)n_type, (long long)(r->n_elem < 0 ? 0 : r->n_elem));
    r->has_types = true;
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, &int32, n_type, 1, "CELL_TYPES", &n_type));
    if (!r->mesh) return hx_file_scan_skip(&r->scan, &int32, n_type);
    for (int64_t e = 0; e < n_type;) {
        const int64_t n = n_type - e < HX_VTK_CHUNK ? n_type - e : HX_VTK_CHUNK;
        HX_TRY(hx_file_scan_int(&r->scan, &int32, n, chunk));
        for (int64_t k = 0; k < n; k++, e++) {
            if (chunk[k] != VTK_HEXAHEDRON && chunk[k] != VTK_VOXEL)
                return HX_FILE_RAISE(
                    &r->scan,
                    "cell %lld is of type %lld (%s); every cell must be a "
                    "VTK_HEXAHEDRON (12) or VTK_VOXEL (11), so leave points, lines, "
                    "faces and other solids out of the file (gmsh: Recombine, one Physical Volume)",
                    (long long)e, (long long)chunk[k], cell_type_name(chunk[k]));
            if (chunk[k] == VTK_VOXEL && r->conn) voxel_to_hexahedron(r->conn + 8 * e);
        }
    }
    if (r->odd_elem >= 0)
        return HX_FILE_RAISE(&r->scan, "cell %lld is a hexahedron with %lld nodes; it must have 8",
                             (long long)r->odd_elem, (long long)r->odd_n);
    return HX_OK;
}
