#include "vtk_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/memory.h"
#include "../base/names.h"

/* Estimates the rounding of the coordinates. In text files the number of digits shows it, unless
 * all numbers happen to need few digits. Coordinates that all fit a float were probably floats. */
static double find_precision(const hx_vtk_reader *r, int is_single, int64_t n)
{
    enum { LEAST_DIGITS = 6, MOST_DIGITS = 16 }; /* digits of "%g", and enough for any double */
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
    return fits || is_single ? fmax(precision, single) : precision;
}

int hx_vtk_check_points(hx_vtk_reader *r, int is_single)
{
    const int64_t n_value = 3 * r->n_node;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < n_value; i++)
        if (!isfinite(r->xyz[i]) && i < bad) bad = i;
    r->precision = find_precision(r, is_single, n_value);
    if (bad == INT64_MAX) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "point %lld: coordinate %c is %g, not a finite number",
                         (long long)(bad / 3), "xyz"[bad % 3], r -> xyz[bad]);
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
        return HX_FILE_RAISE(&r->scan, "%lld %s; at most %ld can be numbered", (long long)n,
                             hx_noun(n, "point", "points"), (long)INT32_MAX);
    r->n_node = n;
    if (r->import) return hx_vtk_send_points(r, type);
    if (!r->mesh) return hx_file_scan_skip(&r->scan, type, n_value);

    HX_TRY(hx_alloc_raw(&r->xyz, (size_t)n_value, sizeof *r->xyz, "coordinates"));
    r->scan.most_digits = 0;
    HX_TRY(hx_file_scan_real(&r->scan, type, n_value, r->xyz));
    return hx_vtk_check_points(r, type->kind == 'f' && type->n_byte < 8);
}

/* Stores n nodes of the cell after checking them. */
static int store_nodes(hx_vtk_reader *r, int64_t elem, int64_t n, const int64_t *node, int32_t *to)
{
    const int64_t end = r->n_node >= 0 ? r->n_node : INT32_MAX;
    for (int64_t k = 0; k < n; k++) {
        if (node[k] < 0 || node[k] >= end)
            return HX_FILE_RAISE(&r->scan, "cell %lld uses point %lld; there are points 0 to %lld",
                                 (long long)elem, (long long)node[k], (long long)end - 1);
        to[k] = (int32_t)node[k];
    }
    return HX_OK;
}

static int alloc_cells(hx_vtk_reader *r)
{
    return hx_alloc_raw(&r->conn, (size_t)r->n_elem * 8, sizeof *r->conn, "connectivity");
}

/* Makes room for cells with different numbers of nodes, n in total; the first n_done are in
 * conn. */
static int begin_mixed(hx_vtk_reader *r, int64_t n, int64_t n_done)
{
    HX_TRY(hx_alloc_raw(&r->cell_begin, (size_t)r->n_elem + 1, sizeof *r->cell_begin, "cells"));
    HX_TRY(hx_alloc_raw(&r->cell_node, (size_t)n, sizeof *r->cell_node, "nodes of cells"));
    for (int64_t e = 0; e <= r->n_elem; e++) r->cell_begin[e] = 8 * e;
    if (n_done > 0) memcpy(r->cell_node, r->conn, 8 * (size_t)n_done * sizeof *r->conn);
    free(r->conn);
    r->conn = NULL;
    return HX_OK;
}

/* Reads the n nodes of a cell of any size. */
static int read_mixed(hx_vtk_reader *r, const hx_file_number *type, int64_t elem, int64_t n)
{
    int64_t chunk[HX_VTK_CHUNK], now;
    int32_t *const to = r->cell_node + r->cell_begin[elem];
    r->cell_begin[elem + 1] = r->cell_begin[elem] + n;
    for (int64_t i = 0; i < n; i += now) {
        now = n - i < HX_VTK_CHUNK ? n - i : HX_VTK_CHUNK;
        HX_TRY(hx_file_scan_int(&r->scan, type, now, chunk));
        HX_TRY(store_nodes(r, elem, now, chunk, to + i));
    }
    return HX_OK;
}

/* Reads cells of a binary file, each with n_lead numbers (the count 8) and its nodes, as long as a
 * whole batch consists of hexahedra with valid nodes. *elem: the first cell not read. Errors are
 * left to the function that reads cell by cell. */
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

/* Versions up to 4.2: for each cell its number of nodes, then the nodes. */
static int read_cells_classic(hx_vtk_reader *r, int64_t size)
{
    const hx_file_number int32 = {"int", 4, 'i'};
    int64_t left, n, node[8];
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, &int32, size, 1, "CELLS", &left));
    if (!r->mesh) return hx_file_scan_skip(&r->scan, &int32, left);

    /* The count fits cells with 8 nodes each, so this is assumed. */
    const int64_t most = left - r->n_elem;
    const bool is_plain = left == 9 * r->n_elem && !r->is_ghost;
    HX_TRY(is_plain ? alloc_cells(r) : begin_mixed(r, most > 0 ? most : 0, 0));
    int64_t first = 0;
    if (r->conn && r->scan.is_binary) HX_TRY(read_hexahedra(r, &int32, 1, &first));
    left -= 9 * first;
    for (int64_t e = first; e < r->n_elem; e++) {
        if (left < 1)
            return HX_FILE_RAISE(&r->scan, "the %lld %s of CELLS end before cell %lld",
                                 (long long)size, hx_noun(size, "number", "numbers"), (long long)e);
        HX_TRY(hx_file_scan_int(&r->scan, &int32, 1, &n));
        left--;
        if (n < 0 || n > left)
            return HX_FILE_RAISE(&r->scan, "cell %lld has %lld %s, but %lld %s of CELLS are left",
                                 (long long)e, (long long)n, hx_noun(n, "node", "nodes"),
                                 (long long)left, hx_noun(left, "number", "numbers"));
        left -= n;
        if (n != 8 && r->conn) HX_TRY(begin_mixed(r, most, e));
        if (!r->conn) {
            if (r->cell_begin[e] + n > most)
                return HX_FILE_RAISE(&r->scan, "the %lld %s of CELLS end within cell %lld",
                                     (long long)size, hx_noun(size, "number", "numbers"),
                                     (long long)e);
            HX_TRY(read_mixed(r, &int32, e, n));
            continue;
        }
        HX_TRY(hx_file_scan_int(&r->scan, &int32, 8, node));
        HX_TRY(store_nodes(r, e, 8, node, r->conn + 8 * e));
    }
    if (left > 0)
        return HX_FILE_RAISE(&r->scan, "CELLS announces %lld %s, but its cells have %lld",
                             (long long)size, hx_noun(size, "number", "numbers"),
                             (long long)(size - left));
    return HX_OK;
}

/* Reads where each cell begins. The list is kept if not all cells have 8 nodes. */
static int read_offsets(hx_vtk_reader *r, const hx_file_number *type, int64_t n_offset,
                        int64_t n_conn, int64_t *last)
{
    int64_t chunk[HX_VTK_CHUNK], previous = 0;
    for (int64_t i = 0; i < n_offset;) {
        const int64_t n = n_offset - i < HX_VTK_CHUNK ? n_offset - i : HX_VTK_CHUNK;
        HX_TRY(hx_file_scan_int(&r->scan, type, n, chunk));
        for (int64_t k = 0; k < n; k++, i++) {
            if (chunk[k] < previous || chunk[k] > n_conn || (i == 0 && chunk[k] != 0))
                return HX_FILE_RAISE(&r->scan,
                                     "offset %lld of cell %lld; offsets must ascend from 0 to %lld",
                                     (long long)chunk[k], (long long)i, (long long)n_conn);
            if (((i > 0 && chunk[k] - previous != 8) || r->is_ghost) && !r->cell_begin)
                HX_TRY(begin_mixed(r, n_conn, 0));
            if (r->cell_begin) r->cell_begin[i] = chunk[k];
            previous = chunk[k];
        }
    }
    *last = previous;
    return HX_OK;
}

/* Versions since 5.0: the start of each cell, then all nodes. */
static int read_cells_offsets(hx_vtk_reader *r, int64_t n_offset, int64_t n_conn)
{
    const hx_file_number *type;
    int64_t node[8], last;
    HX_TRY(hx_vtk_read_array_head(r, "OFFSETS", n_offset, &type));
    if (!r->mesh) {
        HX_TRY(hx_file_scan_skip(&r->scan, type, n_offset));
        HX_TRY(hx_vtk_read_array_head(r, "CONNECTIVITY", n_conn, &type));
        return hx_file_scan_skip(&r->scan, type, n_conn);
    }
    HX_TRY(read_offsets(r, type, n_offset, n_conn, &last));
    HX_TRY(hx_vtk_read_array_head(r, "CONNECTIVITY", n_conn, &type));
    if (last != n_conn)
        return HX_FILE_RAISE(&r->scan, "the last offset is %lld, but CONNECTIVITY has %lld %s",
                             (long long)last, (long long)n_conn,
                             hx_noun(n_conn, "entry", "entries"));
    if (r->cell_begin) {
        for (int64_t e = 0; e < r->n_elem; e++)
            HX_TRY(read_mixed(r, type, e, r->cell_begin[e + 1] - r->cell_begin[e]));
        return HX_OK;
    }
    HX_TRY(alloc_cells(r));
    int64_t first = 0;
    const bool is_int = type->kind == 'i' || type->kind == 'u';
    if (r->scan.is_binary && is_int) HX_TRY(read_hexahedra(r, type, 0, &first));
    for (int64_t e = first; e < r->n_elem; e++) {
        HX_TRY(hx_file_scan_int(&r->scan, type, 8, node));
        HX_TRY(store_nodes(r, e, 8, node, r->conn + 8 * e));
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
        return HX_FILE_RAISE(&r->scan, "%lld %s; at most %lld are possible", (long long)r->n_elem,
                             hx_noun(r->n_elem, "cell", "cells"), (long long)HX_MAX_ELEM);
    if (r->import) return hx_vtk_pass_cells(r, n, size);
    return has_offsets ? read_cells_offsets(r, n, size) : read_cells_classic(r, size);
}

int hx_vtk_read_cell_types(hx_vtk_reader *r)
{
    const hx_file_number int32 = {"int", 4, 'i'};
    int64_t n_type, chunk[HX_VTK_CHUNK];
    HX_TRY(hx_file_scan_count(&r->scan, "the number of cell types", &n_type));
    if (r->n_elem < 0 || n_type != r->n_elem || r->has_types)
        return HX_FILE_RAISE(&r->scan,
                             "%lld cell types after %lld cells; the file must have one section "
                             "CELLS, followed by one CELL_TYPES with the same number",
                             (long long)n_type, (long long)(r->n_elem < 0 ? 0 : r->n_elem));
    r->has_types = true;
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, &int32, n_type, 1, "CELL_TYPES", &n_type));
    if (r->import) return hx_vtk_send_cells(r, n_type);
    if (!r->mesh) return hx_file_scan_skip(&r->scan, &int32, n_type);
    for (int64_t e = 0; e < n_type;) {
        const int64_t n = n_type - e < HX_VTK_CHUNK ? n_type - e : HX_VTK_CHUNK;
        HX_TRY(hx_file_scan_int(&r->scan, &int32, n, chunk));
        HX_TRY(hx_vtk_take_types(r, e, n, chunk));
        e += n;
    }
    return hx_vtk_leave_middles(r);
}
