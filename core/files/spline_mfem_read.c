/* MFEM's "NURBS mesh v1.0" in the form with patches: the corners of hexahedra define the patches,
 * then knots and control points of each follow. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../spline/spline_patch.h"
#include "spline_files.h"
#include "spline_mfem_reader.h"

enum { SQUARE = 3, CUBE = 5 }; /* MFEM's numbers of geometries */

typedef hx_mfem_reader reader;

static const hx_file_number number = {"number", 8, 'f'};
static const hx_file_number integer = {"integer", 8, 'i'};

static int need_word(reader *r, const char *word)
{
    int found;
    HX_TRY(hx_file_scan_uncommented(&r->scan, &found));
    if (found && strcmp(r->scan.word, word) == 0) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "'%s' where '%s' is expected",
                         found ? hx_file_scan_shown(&r->scan) : "the end of the file", word);
}

/* --- topology --- */

static int read_dimension(reader *r)
{
    int64_t n;
    HX_TRY(hx_file_scan_count(&r->scan, "the dimension", &n));
    r->has_dimension = 1;
    if (n == 3) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "a mesh in %lld dimensions; it must have 3", (long long)n);
}

/* Reads n lines of an attribute, a geometry and vertices; keeps the vertices and, if
 * with_attribute, the attribute before them. */
static int read_cells(reader *r, const char *what, int geometry, int n_vertex, int with_attribute,
                      int64_t *n, int64_t **list)
{
    int64_t n_value;
    const int width = n_vertex + with_attribute;
    if (*list) return HX_FILE_RAISE(&r->scan, "a second section '%s'", what);
    HX_TRY(hx_file_scan_count(&r->scan, what, n));
    HX_TRY(hx_file_scan_room(&r->scan, &integer, *n, n_vertex + 2, what, &n_value));
    HX_TRY(hx_alloc(list, (size_t)*n * (size_t)width, sizeof **list, "corners of patches"));
    for (int64_t i = 0; i < *n; i++) {
        int64_t head[2], *const to = *list + i * width;
        HX_TRY(hx_file_scan_int(&r->scan, &integer, 2, head));
        if (head[1] != geometry)
            return HX_FILE_RAISE(&r->scan,
                                 "geometry %lld in '%s'; it must be %d, because patches are cubes",
                                 (long long)head[1], what, geometry);
        if (with_attribute) to[0] = head[0];
        HX_TRY(hx_file_scan_int(&r->scan, &integer, n_vertex, to + with_attribute));
    }
    return HX_OK;
}

static int skip_edges(reader *r)
{
    int64_t n, n_value;
    HX_TRY(hx_file_scan_count(&r->scan, "edges", &n));
    HX_TRY(hx_file_scan_room(&r->scan, &integer, n, 3, "edges", &n_value));
    return hx_file_scan_skip(&r->scan, &integer, n_value);
}

/* --- a patch --- */

/* Reads three coordinates and a weight per point: Cartesian, or multiplied by the weight. */
static int read_points(reader *r, hx_spline_raw *raw, int is_homogeneous, double *x, double *w)
{
    for (int64_t i = 0; i < raw->n_weight; i++) {
        double four[4];
        HX_TRY(hx_file_scan_real(&r->scan, &number, 4, four));
        w[i] = four[3];
        if (!(w[i] > 0.0))
            return HX_FILE_RAISE(
                &r->scan, "control point %lld of patch %d has weight %g; weights must be above 0",
                (long long)i, r->n_patch + 1, w[i]);
        for (int c = 0; c < 3; c++) x[3 * i + c] = is_homogeneous ? four[c] / w[i] : four[c];
    }
    return HX_OK;
}

/* Reads the word before the points, and their number. */
static int read_points_head(reader *r, hx_spline_raw *raw, int *is_homogeneous)
{
    int found;
    int64_t n = 1, n_value;
    HX_TRY(hx_file_scan_uncommented(&r->scan, &found));
    const char *const word = r->scan.word;
    *is_homogeneous =
        strcmp(word, "controlpoints") == 0 || strcmp(word, "controlpoints_homogeneous") == 0;
    if (!*is_homogeneous && strcmp(word, "controlpoints_cartesian") != 0)
        return HX_FILE_RAISE(&r->scan,
                             "'%s' where 'controlpoints_cartesian', 'controlpoints_homogeneous' or "
                             "'controlpoints' is expected",
                             hx_file_scan_shown(&r->scan));
    /* checks the size in each step, before the product can overflow */
    for (int d = 0; d < 3; d++) {
        n *= raw->n_knot[d] - raw->degree[d] - 1;
        HX_TRY(hx_file_scan_room(&r->scan, &number, n, 4, "control points", &n_value));
    }
    raw->n_weight = n;
    raw->n_coordinate = 3 * n;
    return HX_OK;
}

static int read_patch_numbers(reader *r, hx_spline_raw *raw, double *knot[3], double **x,
                              double **w)
{
    int64_t n;
    int is_homogeneous;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of knot vectors", &n));
    if (n != 3)
        return HX_FILE_RAISE(&r->scan, "%lld knot vectors; a patch has three", (long long)n);
    for (int d = 0; d < 3; d++) {
        int64_t head[2], n_value;
        HX_TRY(hx_file_scan_int(&r->scan, &integer, 2, head));
        raw->degree[d] = head[0];
        if (head[0] < 0 || head[0] > 100 || head[1] < 1 || head[1] > INT32_MAX)
            return HX_FILE_RAISE(&r->scan, "a knot vector of degree %lld with %lld control %s",
                                 (long long)head[0], (long long)head[1],
                                 hx_noun(head[1], "point", "points"));
        raw->n_knot[d] = head[0] + head[1] + 1;
        HX_TRY(hx_file_scan_room(&r->scan, &number, raw->n_knot[d], 1, "knots", &n_value));
        HX_TRY(hx_alloc(&knot[d], (size_t)n_value, sizeof *knot[d], "knots"));
        HX_TRY(hx_file_scan_real(&r->scan, &number, n_value, knot[d]));
        raw->knot[d] = knot[d];
    }
    HX_TRY(need_word(r, "dimension"));
    HX_TRY(read_dimension(r));
    HX_TRY(read_points_head(r, raw, &is_homogeneous));
    HX_TRY(hx_alloc(x, (size_t)raw->n_coordinate, sizeof **x, "control points"));
    HX_TRY(hx_alloc(w, (size_t)raw->n_weight, sizeof **w, "weights of points"));
    raw->coordinate = *x;
    raw->weight = *w;
    return read_points(r, raw, is_homogeneous, *x, *w);
}

/* Reads a patch, after "knotvectors". */
static int read_patch(reader *r)
{
    hx_spline_raw raw = {0};
    double *knot[3] = {NULL, NULL, NULL}, *x = NULL, *w = NULL;
    const int64_t line = r->scan.word_line;
    if (r->n_patch == r->n_element)
        return HX_FILE_RAISE(&r->scan, "more patches than the %lld %s", (long long)r->n_element,
                             hx_noun(r->n_element, "element", "elements"));
    int rc = read_patch_numbers(r, &raw, knot, &x, &w);
    if (rc == HX_OK) {
        rc = hx_spline_patch_make(&r->patch[r->n_patch], &raw);
        if (rc < 0)
            hx_error_prefix("%s:%lld: patch %d: ", r->scan.path, (long long)line, r->n_patch + 1);
    }
    if (rc == HX_OK) r->n_patch++;
    for (int d = 0; d < 3; d++) free(knot[d]);
    free(x);
    free(w);
    return rc;
}

/* --- the file --- */

static int read_mfem_section(reader *r)
{
    const char *const word = r->scan.word;
    const int64_t line = r->scan.word_line;
    if (strcmp(word, "dimension") == 0) return read_dimension(r);
    if (strcmp(word, "elements") == 0) {
        r->element_line = line;
        HX_TRY(read_cells(r, "elements", CUBE, 8, 0, &r->n_element, &r->vertex));
        return hx_alloc(&r->patch, (size_t)r->n_element, sizeof *r->patch, "patches");
    }
    if (strcmp(word, "boundary") == 0) {
        r->boundary_line = line;
        return read_cells(r, "boundary", SQUARE, 4, 1, &r->n_boundary, &r->boundary);
    }
    if (strcmp(word, "edges") == 0) return skip_edges(r);
    if (strcmp(word, "vertices") == 0)
        return hx_file_scan_count(&r->scan, "the number of vertices", &r->n_vertex);
    if (strcmp(word, "patches") == 0) {
        r->has_patches = 1;
        return r->vertex ? HX_OK
                         : HX_FILE_RAISE(&r->scan, "'patches' before the section 'elements'");
    }
    if (strcmp(word, "knotvectors") == 0 && r->has_patches) return read_patch(r);
    if (strcmp(word, "knotvectors") == 0 || strcmp(word, "weights") == 0)
        return HX_FILE_RAISE(&r->scan,
                             "knot vectors of the whole mesh are not read; save the form with "
                             "'patches', which has the knots and control points of each patch: in "
                             "MFEM, mesh.NURBSext->PrintPatches or the miniapp that made the mesh");
    return HX_FILE_RAISE(&r->scan,
                         "section '%s' is not read; 'dimension', 'elements', 'boundary', "
                         "'edges', 'vertices' and 'patches' are",
                         hx_file_scan_shown(&r->scan));
}

static int read_mfem_file(reader *r)
{
    int found;
    char line[64];
    HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
    if (!found || strncmp(line, "MFEM NURBS mesh v1.0", 20) != 0 ||
        isalnum((unsigned char)line[20]))
        return HX_FILE_RAISE(&r->scan, "the file does not begin with 'MFEM NURBS mesh v1.0'; save "
                                       "an MFEM mesh of another version as VTK (mesh.PrintVTK)");
    for (;;) {
        HX_TRY(hx_file_scan_uncommented(&r->scan, &found));
        if (!found) break;
        HX_TRY(read_mfem_section(r));
    }
    if (!r->has_patches || r->n_element == 0)
        return HX_FILE_RAISE(&r->scan, "no patches: sections 'elements' and 'patches' are needed");
    if (r->n_patch < r->n_element)
        return HX_FILE_RAISE(&r->scan, "%d %s for %lld %s", r->n_patch,
                             hx_noun(r->n_patch, "patch", "patches"), (long long)r->n_element,
                             hx_noun(r->n_element, "element", "elements"));
    return HX_OK;
}

int hx_spline_mfem_read(const char *path, hx_spline *spline, hx_notes *notes)
{
    reader r;
    (void)notes;
    memset(&r, 0, sizeof r);
    *spline = (hx_spline){0};
    int rc = hx_file_scan_open(&r.scan, path);
    if (rc == HX_OK) rc = read_mfem_file(&r);
    if (rc == HX_OK) rc = hx_mfem_take(&r, spline);
    for (int k = 0; r.patch && k < r.n_patch; k++) hx_spline_patch_free(&r.patch[k]);
    free(r.patch);
    free(r.vertex);
    free(r.boundary);
    free(r.face);
    hx_file_scan_free(&r.scan);
    if (rc < 0) hx_spline_free(spline);
    return rc;
}
