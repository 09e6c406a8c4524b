/* Types of cells in a VTK file: converts the file's points to the corners of collapsed
 * hexahedra. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "vtk_reader.h"

enum { VTK_VOXEL = 11, PLACES = 32 };

/* vtkCellType.h. A voxel orders its nodes by x, y and z. */
static const struct {
    int type;
    hx_solid_id id;
} solids[] = {
    {12, HX_SOLID_HEX8},      {10, HX_SOLID_TET4},        {13, HX_SOLID_VTK_WEDGE6},
    {14, HX_SOLID_PYRAMID5},  {VTK_VOXEL, HX_SOLID_HEX8}, {24, HX_SOLID_TET10},
    {25, HX_SOLID_HEX20},     {26, HX_SOLID_WEDGE15},     {27, HX_SOLID_PYRAMID13},
    {29, HX_SOLID_VTK_HEX27}, {32, HX_SOLID_VTK_WEDGE18}, {33, HX_SOLID_VTK_HEX24},
};

/* Name of a cell type, for messages. */
static const char *type_name(int64_t type)
{
    static const char *const name[] = {
        "VTK_EMPTY_CELL", "VTK_VERTEX",         "VTK_POLY_VERTEX", "VTK_LINE",  "VTK_POLY_LINE",
        "VTK_TRIANGLE",   "VTK_TRIANGLE_STRIP", "VTK_POLYGON",     "VTK_PIXEL", "VTK_QUAD",
        "VTK_TETRA",      "VTK_VOXEL",          "VTK_HEXAHEDRON",  "VTK_WEDGE", "VTK_PYRAMID"};
    static const char *const quadratic[] = {"VTK_QUADRATIC_EDGE",       "VTK_QUADRATIC_TRIANGLE",
                                            "VTK_QUADRATIC_QUAD",       "VTK_QUADRATIC_TETRA",
                                            "VTK_QUADRATIC_HEXAHEDRON", "VTK_QUADRATIC_WEDGE",
                                            "VTK_QUADRATIC_PYRAMID"};
    if (type >= 0 && type < (int64_t)(sizeof name / sizeof name[0])) return name[type];
    if (type >= 21 && type < 28) return quadratic[type - 21];
    if (type == 29) return "VTK_TRIQUADRATIC_HEXAHEDRON";
    if (type == 42) return "VTK_POLYHEDRON";
    if (type == 72) return "VTK_LAGRANGE_HEXAHEDRON";
    return "not a solid that is read";
}

const hx_solid_id *hx_vtk_find_solid(int64_t type)
{
    for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++)
        if (solids[i].type == type) return &solids[i].id;
    return NULL;
}

const int *hx_vtk_voxel_order(int64_t type)
{
    static const int voxel[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    return type == VTK_VOXEL ? voxel : NULL;
}

/* Shape of points, lines and faces of first and second order, which bound solids; 0: another
 * cell. */
static int boundary_shape(int64_t type)
{
    static const struct {
        int8_t type, shape;
    } list[] = {
        {1, HX_VTK_DOT},      {2, HX_VTK_OTHER}, {3, HX_VTK_LINE},      {4, HX_VTK_LINE},
        {5, HX_VTK_TRIANGLE}, {6, HX_VTK_OTHER}, {7, HX_VTK_OTHER},     {8, HX_VTK_QUAD},
        {9, HX_VTK_QUAD},     {21, HX_VTK_LINE}, {22, HX_VTK_TRIANGLE}, {23, HX_VTK_QUAD},
        {28, HX_VTK_QUAD},    {30, HX_VTK_QUAD}, {34, HX_VTK_TRIANGLE},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i].type == type) return list[i].shape;
    return 0;
}

/* Marks a cell that is not an element; all cells before it were elements. */
static int leave_out_cell(hx_vtk_reader *r, int64_t cell, int shape)
{
    if (!r->elem_new) {
        HX_TRY(hx_alloc_raw(&r->elem_new, (size_t)r->n_elem, sizeof *r->elem_new, "cells"));
        for (int64_t e = 0; e < cell; e++) r->elem_new[e] = (int32_t)e;
    }
    const int64_t n = r->cell_begin[cell + 1] - r->cell_begin[cell];
    const int64_t least = shape == HX_VTK_TRIANGLE ? 3 : shape == HX_VTK_QUAD ? 4 : 0;
    r->elem_new[cell] = n < least ? HX_VTK_OTHER : shape;
    return HX_OK;
}

static int64_t elem_of(const hx_vtk_reader *r, int64_t cell)
{
    return r->elem_new ? r->elem_new[cell] : cell;
}

static int refuse_type(hx_vtk_reader *r, int64_t elem, int64_t type)
{
    return HX_FILE_RAISE(
        &r->scan,
        "cell %lld is of type %lld (%s); every cell must be a tetrahedron (10), wedge (13), "
        "pyramid (14), hexahedron (12) or voxel (11), or one of second order (24 to 27, 29, 32, "
        "33); leave points, lines and faces out of the file (gmsh: one Physical Volume)",
        (long long)elem, (long long)type, type_name(type));
}

/* Nodes of the cell in the file's order; NULL with a message if their number is wrong. */
static const int32_t *nodes_of(hx_vtk_reader *r, int64_t elem, int64_t type, hx_solid_id id)
{
    const int64_t n =
        r->cell_begin ? r->cell_begin[elem + 1] - r->cell_begin[elem] : HX_SOLID_CORNERS;
    if (n == hx_solids[id].n_node)
        return r->cell_begin ? r->cell_node + r->cell_begin[elem] : r->conn + 8 * elem;
    (void)HX_FILE_RAISE(&r->scan, "cell %lld is of type %lld (%s) and has %lld %s; it must have %d",
                        (long long)elem, (long long)type, type_name(type), (long long)n,
                        hx_noun(n, "node", "nodes"), hx_solids[id].n_node);
    return NULL;
}

int hx_vtk_take_types(hx_vtk_reader *r, int64_t first, int64_t n, const int64_t *type)
{
    if (!r->conn)
        HX_TRY(hx_alloc_raw(&r->conn, (size_t)r->n_elem * 8, sizeof *r->conn, "connectivity"));
    for (int64_t k = 0; k < n; k++) {
        const int64_t e = first + k;
        const hx_solid_id *const id = hx_vtk_find_solid(type[k]);
        int32_t conn[8];
        if (r->is_ghost && r->is_ghost[e]) {
            HX_TRY(leave_out_cell(r, e, HX_VTK_GHOST));
            continue;
        }
        const int shape = id ? 0 : boundary_shape(type[k]);
        if (r->cell_begin && shape) {
            HX_TRY(leave_out_cell(r, e, shape));
            continue;
        }
        if (!id) return refuse_type(r, e, type[k]);
        const int32_t *const node = nodes_of(r, e, type[k], *id);
        if (!node) return HX_EINPUT;
        const int *const voxel = hx_vtk_voxel_order(type[k]);
        const int *const corner = voxel ? voxel : hx_solid_corners(*id);
        for (int a = 0; a < 8; a++) conn[a] = node[corner[a]];
        if (r->elem_new) r->elem_new[e] = (int32_t)r->n_solid;
        memcpy(r->conn + 8 * r->n_solid++, conn, sizeof conn);
    }
    return HX_OK;
}

/* --- second order --- */

/* A solid is identified by its number of nodes, which differs between VTK's kinds. */
static hx_solid_id vtk_solid_of(const hx_vtk_reader *r, int64_t elem)
{
    const int64_t n = r->cell_begin[elem + 1] - r->cell_begin[elem];
    for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++)
        if (hx_solids[solids[i].id].n_node == n) return solids[i].id;
    return HX_SOLID_HEX8;
}

/* The points may come after the cells, whose node numbers were then not checked. */
static int check_points(hx_vtk_reader *r)
{
    if (r->n_node < 0)
        return HX_FILE_RAISE(&r->scan, "cells of second order, or other cells that are not solids, "
                                       "before POINTS; POINTS must come first");
    for (int64_t i = 0; i < r->cell_begin[r->n_elem]; i++)
        if (r->cell_node[i] >= r->n_node)
            return HX_FILE_RAISE(&r->scan, "a cell uses point %ld; there are points 0 to %lld",
                                 (long)r->cell_node[i], (long long)r->n_node - 1);
    return HX_OK;
}

/* place[node] := element * 32 + position among its nodes after the corners, in the first element
 * that has it; -1 for other nodes; -2 for corners. */
static void place_middles(const hx_vtk_reader *r, int64_t *place)
{
    for (int64_t a = 0; a < r->n_node; a++) place[a] = -1;
    for (int64_t i = 0; i < 8 * r->n_solid; i++) place[r->conn[i]] = -2;
    for (int64_t e = 0; e < r->n_elem; e++) {
        if (elem_of(r, e) < 0) continue;
        const hx_solid *const solid = &hx_solids[vtk_solid_of(r, e)];
        const int32_t *const node = r->cell_node + r->cell_begin[e] + solid->n_corner;
        for (int k = 0; k < solid->n_node - solid->n_corner; k++)
            if (place[node[k]] == -1) place[node[k]] = e * PLACES + k;
    }
}

/* Lists the corners that replace each omitted point, as the file's numbers. */
static void list_ends(hx_vtk_reader *r, const int64_t *place, hx_middle_survey *survey)
{
    int32_t at = 0;
    for (int64_t a = 0; a < r->n_node; a++) {
        int32_t corner[HX_SOLID_CORNERS];
        r->middle[a] = -1;
        if (place[a] == -1 && r->elem_new) { /* the point is on no solid, so nothing replaces it */
            r->middle[a] = at;
            r->middle_end[at++] = 0;
        }
        if (place[a] < 0) continue;
        const int64_t e = place[a] / PLACES;
        const int n = hx_solid_middle(vtk_solid_of(r, e), (int)(place[a] % PLACES),
                                      r->conn + 8 * elem_of(r, e), corner);
        hx_survey_middle(survey, a, r->xyz + 3 * a, r->xyz, n, corner);
        r->middle[a] = at;
        r->middle_end[at++] = n;
        memcpy(r->middle_end + at, corner, (size_t)n * sizeof *corner);
        at += n;
    }
}

/* Keeps the points on edges, with the ends of the edges as the file's numbers. Must be called
 * before compact(). */
static int keep_middles(hx_vtk_reader *r, int64_t n)
{
    HX_TRY(hx_middles_alloc(&r->middles, n));
    for (int64_t a = 0; a < r->n_node; a++) {
        const int32_t *const end = r->middle_end + (r->middle[a] >= 0 ? r->middle[a] : 0);
        if (r->middle[a] >= 0 && end[0] == 2) hx_middles_put(&r->middles, end + 1, r->xyz + 3 * a);
    }
    return HX_OK;
}

/* Renumbers the remaining points; moves coordinates in place. */
static void compact(hx_vtk_reader *r)
{
    int32_t next = 0;
    for (int64_t a = 0; a < r->n_node; a++) {
        r->node_new[a] = r->middle[a] >= 0 ? -1 : next;
        if (r->middle[a] >= 0) continue;
        memmove(r->xyz + 3 * (int64_t)next++, r->xyz + 3 * a, 3 * sizeof *r->xyz);
    }
    r->n_kept = next;
    for (int64_t i = 0; i < 8 * r->n_solid; i++) r->conn[i] = r->node_new[r->conn[i]];
    for (int64_t a = 0; a < r->n_node; a++) {
        int32_t *const end = r->middle_end + (r->middle[a] >= 0 ? r->middle[a] : 0);
        for (int k = 1; r->middle[a] >= 0 && k <= end[0]; k++) end[k] = r->node_new[end[k]];
    }
    for (int64_t k = 0; k < 2 * r->middles.n; k++) /* the renumbering preserves the order */
        r->middles.end[k] = r->node_new[r->middles.end[k]];
}

int hx_vtk_leave_middles(hx_vtk_reader *r)
{
    int rc = HX_OK;
    int64_t *place = NULL;
    hx_middle_survey survey = {0};
    int64_t n = 0;
    for (int64_t e = 0; r->cell_begin && e < r->n_elem; e++) {
        if (elem_of(r, e) < 0) continue;
        const hx_solid *const solid = &hx_solids[vtk_solid_of(r, e)];
        n += solid->n_node - solid->n_corner;
    }
    if (n == 0 && !r->elem_new) goto fail; /* nothing to leave out */
    HX_TRY_FAIL(check_points(r));
    const int64_t most = (n < r->n_node ? n : r->n_node) * HX_SOLID_CORNERS + r->n_node;
    if (most > INT32_MAX) {
        rc = HX_FILE_RAISE(&r->scan, "%lld %s of second order are too many", (long long)n,
                           hx_noun(n, "node", "nodes"));
        goto fail;
    }
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)r->n_node, sizeof *place, "mid-side nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&r->node_new, (size_t)r->n_node, sizeof(int32_t), "mid-side nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&r->middle, (size_t)r->n_node, sizeof(int32_t), "mid-side nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&r->middle_end, (size_t)most, sizeof(int32_t), "mid-side nodes"));
    place_middles(r, place);
    list_ends(r, place, &survey);
    if (hx_survey_is_curved(&survey)) HX_TRY_FAIL(keep_middles(r, survey.n));
    compact(r);
    if (survey.n > 0) rc = hx_note_middles(&survey, r->scan.path, r->notes);
fail:
    free(place);
    /* sets of cells that bound the solids need the points of these cells */
    if (r->elem_new) return rc;
    free(r->cell_begin);
    free(r->cell_node);
    r->cell_begin = NULL;
    r->cell_node = NULL;
    return rc;
}
