#include "result_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/mesh_hash.h"
#include "../mesh/node_grid.h"

/* Values in place of an element's number. */
enum { NO_ELEMENT = -1, SEVERAL_ELEMENTS = -2 };

typedef struct matcher {
    const hx_mesh *mesh, *file;
    const double *original; /* vtkOriginalCellIds of the cells, or NULL */
    double tolerance;
    int32_t *number_elem; /* [n_elem] element by original number; NULL: identity (owned) */
    int32_t *elem;        /* [file->n_elem] element of each cell, or one of the above (owned) */
    double *centre;       /* [n_elem][3], once cells are searched (owned) */
    hx_node_grid grid;    /* grid of the centres (owned) */
} matcher;

/* --- places --- */

static double largest_coordinate(const hx_mesh *mesh)
{
    double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) most = fmax(most, fabs(mesh->xyz[i]));
    return most;
}

static const double *corner(const hx_mesh *mesh, int64_t e, int k)
{
    return mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + k];
}

/* Returns 1 if no coordinate differs by more than the tolerance. */
static int is_near_point(const double *x, const double *y, double tolerance)
{
    return fabs(x[0] - y[0]) <= tolerance && fabs(x[1] - y[1]) <= tolerance &&
           fabs(x[2] - y[2]) <= tolerance;
}

/* Returns 1 if each corner of the first lies on a corner of the other. */
static int is_covered(const hx_mesh *one, int64_t e, const hx_mesh *other, int64_t f,
                      double tolerance)
{
    for (int i = 0; i < 8; i++) {
        const double *const x = corner(one, e, i);
        int k = 0;
        while (k < 8 && !is_near_point(x, corner(other, f, (i + k) & 7), tolerance)) k++;
        if (k == 8) return 0;
    }
    return 1;
}

/* Compares corners as sets, because they may have another order, or occur twice. */
static int is_same_cell(const matcher *m, int64_t elem, int64_t cell)
{
    return is_covered(m->mesh, elem, m->file, cell, m->tolerance) &&
           is_covered(m->file, cell, m->mesh, elem, m->tolerance);
}

/* Centre of the bounding box of the corners: bitwise independent of their order and repetition. */
static void find_centre(const hx_mesh *mesh, int64_t e, double centre[3])
{
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < 8; k++) {
            const double x = corner(mesh, e, k)[d];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        centre[d] = 0.5 * (low + high);
    }
}

/* --- cells by number --- */

/* Returns the element of that original number if it matches the cell. */
static int32_t elem_of_number(const matcher *m, double number, int64_t cell)
{
    if (!(number >= 0.0 && number < (double)m->mesh->n_elem)) return NO_ELEMENT;
    const int64_t n = (int64_t)number;
    const int32_t e = m->number_elem ? m->number_elem[n] : (int32_t)n;
    return is_same_cell(m, e, cell) ? e : NO_ELEMENT;
}

/* Returns the number of cells that are still to be searched; *n_by_id: found by
 * vtkOriginalCellIds. */
static int64_t match_by_numbers(matcher *m, int64_t *n_by_id)
{
    const int64_t n_cell = m->file->n_elem;
    const int is_whole = n_cell == m->mesh->n_elem;
    int64_t n_left = 0, n_id = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_left, n_id)
    for (int64_t c = 0; c < n_cell; c++) {
        int32_t e = is_whole ? elem_of_number(m, (double)c, c) : NO_ELEMENT;
        if (e < 0 && m->original) {
            e = elem_of_number(m, m->original[c], c);
            n_id += e >= 0;
        }
        n_left += e < 0;
        m->elem[c] = e;
    }
    *n_by_id = n_id;
    return n_left;
}

/* --- cells by their corners --- */

typedef struct search {
    const matcher *m;
    int64_t cell;
    double centre[3], reach;
    int32_t elem;
} search;

/* The search may visit an element twice. */
static int look_at_candidate(void *context, int32_t e)
{
    search *const s = context;
    if (e == s->elem || !is_near_point(s->m->centre + 3 * (int64_t)e, s->centre, s->reach))
        return 0;
    if (!is_same_cell(s->m, e, s->cell)) return 0;
    s->elem = s->elem == NO_ELEMENT ? e : SEVERAL_ELEMENTS;
    return s->elem == SEVERAL_ELEMENTS;
}

static int32_t elem_of_corners(const matcher *m, int64_t cell)
{
    search s = {.m = m, .cell = cell, .elem = NO_ELEMENT};
    double low[3], high[3];
    s.reach = 1.5 * m->tolerance; /* includes the rounding of the centre itself */
    find_centre(m->file, cell, s.centre);
    for (int d = 0; d < 3; d++) {
        low[d] = s.centre[d] - s.reach;
        high[d] = s.centre[d] + s.reach;
    }
    (void)hx_node_grid_visit(&m->grid, low, high, look_at_candidate, &s);
    return s.elem;
}

static int match_by_corners(matcher *m)
{
    const int64_t n_elem = m->mesh->n_elem;
    if (m->tolerance > 0.25 * m->mesh->elem_size)
        return HX_RAISE(HX_EINPUT,
                        "its cells are not in the mesh's order, and its coordinates are rounded by "
                        "up to %g, too coarsely to find them among elements of size %g: write the "
                        "file with more digits, or in the mesh's order",
                        m->tolerance, m->mesh->elem_size);
    HX_TRY(hx_alloc_raw(&m->centre, 3 * (size_t)n_elem, sizeof *m->centre, "centres of elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) find_centre(m->mesh, e, m->centre + 3 * e);
    HX_TRY(hx_node_grid_create(&m->grid, n_elem, m->centre, n_elem, 16.0 * m->tolerance));
    for (int64_t e = 0; e < n_elem; e++) hx_node_grid_put(&m->grid, (int32_t)e);
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t c = 0; c < m->file->n_elem; c++)
        if (m->elem[c] < 0) m->elem[c] = elem_of_corners(m, c);
    return HX_OK;
}

/* --- what does not fit --- */

/* Largest difference in a coordinate, for the corner of `from` that is farthest from all corners of
 * `to`. */
static double one_way_deviation(const hx_mesh *from, int64_t e, const hx_mesh *to, int64_t f)
{
    double most = 0.0;
    for (int i = 0; i < 8; i++) {
        const double *const x = corner(from, e, i);
        double least = INFINITY;
        for (int k = 0; k < 8; k++) {
            const double *const y = corner(to, f, k);
            least =
                fmin(least, fmax(fabs(x[0] - y[0]), fmax(fabs(x[1] - y[1]), fabs(x[2] - y[2]))));
        }
        most = fmax(most, least);
    }
    return most;
}

static double deviation(const matcher *m, int64_t elem, int64_t cell)
{
    return fmax(one_way_deviation(m->mesh, elem, m->file, cell),
                one_way_deviation(m->file, cell, m->mesh, elem));
}

/* Finds the element with the centre nearest to that of the cell; used only for messages, so the
 * search is exhaustive. */
static int64_t nearest_elem(const matcher *m, const double centre[3])
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t e = 0; e < m->mesh->n_elem; e++) {
        double x[3], square = 0.0;
        find_centre(m->mesh, e, x);
        for (int d = 0; d < 3; d++) square += (x[d] - centre[d]) * (x[d] - centre[d]);
        if (square >= least) continue;
        least = square;
        best = e;
    }
    return best;
}

static int refuse_stranger(const matcher *m, int64_t cell)
{
    double x[3], y[3];
    find_centre(m->file, cell, x);
    const int64_t e = nearest_elem(m, x);
    find_centre(m->mesh, e, y);
    return HX_RAISE(
        HX_EINPUT,
        "cell %lld, counted from 0, with its centre at (%.9g, %.9g, %.9g), is not an "
        "element of this mesh; the nearest is element %lld at (%.9g, %.9g, %.9g), "
        "whose corners differ by up to %.3g (rounding explains %.1g): name the config or "
        "the mesh of the run that wrote the result",
        (long long)cell, x[0], x[1], x[2], (long long)hx_mesh_elem_number(m->mesh, e), y[0], y[1],
        y[2], deviation(m, e, cell), m->tolerance);
}

static int refuse_several(const matcher *m, int64_t cell)
{
    return HX_RAISE(
        HX_EINPUT,
        "cell %lld, counted from 0, matches several elements of this mesh: its coordinates are "
        "rounded by up to %.3g; write the file with more digits, or in the mesh's order",
        (long long)cell, m->tolerance);
}

static int refuse_double(const matcher *m, int64_t first, int64_t cell)
{
    return HX_RAISE(HX_EINPUT,
                    "cells %lld and %lld, counted from 0, both match element %lld of this mesh; a "
                    "result must have each element once",
                    (long long)first, (long long)cell,
                    (long long)hx_mesh_elem_number(m->mesh, m->elem[cell]));
}

/* Computes cell[] from m->elem[]. */
static int invert_match(const matcher *m, int32_t *cell)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < m->mesh->n_elem; e++) cell[e] = -1;
    for (int64_t c = 0; c < m->file->n_elem; c++) {
        const int32_t e = m->elem[c];
        if (e == NO_ELEMENT) return refuse_stranger(m, c);
        if (e == SEVERAL_ELEMENTS) return refuse_several(m, c);
        if (cell[e] >= 0) return refuse_double(m, cell[e], c);
        cell[e] = (int32_t)c;
    }
    return HX_OK;
}

/* --- all --- */

static int match_cells(matcher *m, int32_t *cell, hx_result_match *match)
{
    int64_t n_by_id;
    HX_TRY(hx_alloc_raw(&m->elem, (size_t)m->file->n_elem, sizeof *m->elem, "elements of cells"));
    HX_TRY(hx_mesh_invert(m->mesh->n_elem, m->mesh->elem_orig, &m->number_elem));
    const int64_t n_left = match_by_numbers(m, &n_by_id);
    if (n_left > 0) HX_TRY(match_by_corners(m));
    HX_TRY(invert_match(m, cell));
    match->n_missing = m->mesh->n_elem - m->file->n_elem;
    match->way = n_left > 0    ? HX_MATCH_BY_CORNERS
                 : n_by_id > 0 ? HX_MATCH_BY_NUMBERS
                               : HX_MATCH_IN_ORDER;
    return HX_OK;
}

int hx_result_match_cells(const hx_mesh *mesh, const hx_vtk_result *result, int32_t *cell,
                          hx_result_match *match)
{
    const double extent = fmax(largest_coordinate(mesh), largest_coordinate(&result->cells));
    matcher m = {.mesh = mesh, .file = &result->cells, .original = result->original};
    memset(match, 0, sizeof *match);
    m.tolerance = fmax(result->precision * extent, 1e-9 * mesh->elem_size);
    match->tolerance = m.tolerance;
    const int rc = match_cells(&m, cell, match);
    if (rc < 0 && m.file->n_elem != mesh->n_elem)
        hx_error_prefix("%lld %s; the mesh of this run has %lld: ", (long long)m.file->n_elem,
                        hx_noun(m.file->n_elem, "cell", "cells"), (long long)mesh->n_elem);
    hx_node_grid_free(&m.grid);
    free(m.number_elem);
    free(m.elem);
    free(m.centre);
    return rc;
}

static double least_value(int64_t n, const double *value)
{
    double least = INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least)
    for (int64_t i = 0; i < n; i++) least = fmin(least, value[i]);
    return least;
}

/* Returns why a file that lacks elements cannot be a part written with a threshold; NULL: it can.
 * vtkOriginalCellIds is no criterion, because other programs may drop it; but a part always lacks
 * the least dense elements. */
static const char *why_no_part(const hx_vtk_result *result, double least)
{
    if (result->original) return NULL;
    if (strstr(result->title, "hextop")) return "it has no vtkOriginalCellIds";
    if (least_value(result->cells.n_elem, result->value) > least * (1.0 + 1e-6)) return NULL;
    return "it has no vtkOriginalCellIds, and cells of the least density";
}

static int check_part(const hx_mesh *mesh, const hx_vtk_result *result, const int32_t *cell,
                      double least)
{
    const char *const why = why_no_part(result, least);
    double x[3];
    int64_t e = 0;
    if (!why) return HX_OK;
    while (cell[e] >= 0) e++;
    find_centre(mesh, e, x);
    return HX_RAISE(
        HX_EINPUT,
        "%lld %s; the mesh of this run has %lld: element %lld with its centre at (%.9g, %.9g, "
        "%.9g) is not in the file, and the file was not written with output.threshold (%s): name "
        "the config or the mesh of the run that wrote the result",
        (long long)result->cells.n_elem, hx_noun(result->cells.n_elem, "cell", "cells"),
        (long long)mesh->n_elem, (long long)hx_mesh_elem_number(mesh, e), x[0], x[1], x[2], why);
}

static int place_values(const hx_mesh *mesh, const hx_vtk_result *result, double least,
                        double missing, double *value, hx_result_match *match)
{
    int rc;
    int32_t *cell = NULL;
    HX_TRY(hx_alloc_raw(&cell, (size_t)mesh->n_elem, sizeof *cell, "cells of elements"));
    HX_TRY_FAIL(hx_result_match_cells(mesh, result, cell, match));
    if (match->n_missing > 0) HX_TRY_FAIL(check_part(mesh, result, cell, least));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        value[e] = cell[e] >= 0 ? result->value[cell[e]] : missing;
fail:
    free(cell);
    return rc;
}

int hx_result_read(const char *path, const char *name, const hx_mesh *mesh, double least,
                   double missing, double *value, hx_result_match *match)
{
    hx_vtk_result result;
    memset(match, 0, sizeof *match);
    HX_TRY(hx_vtk_read_result(path, name, &result));
    const int rc = place_values(mesh, &result, least, missing, value, match);
    memcpy(match->title, result.title, sizeof match->title);
    match->values = hx_mesh_values_hash(result.cells.n_elem, result.original, result.value);
    if (rc < 0) hx_error_prefix("%s: ", path);
    hx_vtk_result_free(&result);
    return rc;
}
