#include "solid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/hex_jacobian.h"
#include "../mesh/mesh_check.h"

/* --- orders of nodes --- */

#define EDGE(a, b) (1u << (a) | 1u << (b))
#define FACE(a, b, c, d) (EDGE(a, b) | EDGE(c, d))

#define TET10 EDGE(0, 1), EDGE(1, 2), EDGE(0, 2), EDGE(0, 3), EDGE(1, 3), EDGE(2, 3)
#define WEDGE15                                                                                    \
    EDGE(0, 1), EDGE(1, 2), EDGE(2, 0), EDGE(3, 4), EDGE(4, 5), EDGE(5, 3), EDGE(0, 3),            \
        EDGE(1, 4), EDGE(2, 5)
#define PYRAMID13                                                                                  \
    EDGE(0, 1), EDGE(1, 2), EDGE(2, 3), EDGE(3, 0), EDGE(0, 4), EDGE(1, 4), EDGE(2, 4), EDGE(3, 4)
#define HEX20                                                                                      \
    EDGE(0, 1), EDGE(1, 2), EDGE(2, 3), EDGE(3, 0), EDGE(4, 5), EDGE(5, 6), EDGE(6, 7),            \
        EDGE(7, 4), EDGE(0, 4), EDGE(1, 5), EDGE(2, 6), EDGE(3, 7)
#define GMSH_WEDGE15                                                                               \
    EDGE(0, 1), EDGE(0, 2), EDGE(0, 3), EDGE(1, 2), EDGE(1, 4), EDGE(2, 5), EDGE(3, 4),            \
        EDGE(3, 5), EDGE(4, 5)
#define GMSH_PYRAMID13                                                                             \
    EDGE(0, 1), EDGE(0, 3), EDGE(0, 4), EDGE(1, 2), EDGE(1, 4), EDGE(2, 3), EDGE(2, 4), EDGE(3, 4)
#define GMSH_HEX20                                                                                 \
    EDGE(0, 1), EDGE(0, 3), EDGE(0, 4), EDGE(1, 2), EDGE(1, 5), EDGE(2, 3), EDGE(2, 6),            \
        EDGE(3, 7), EDGE(4, 5), EDGE(4, 7), EDGE(5, 6), EDGE(6, 7)

#define BOTTOM FACE(0, 1, 2, 3)
#define TOP FACE(4, 5, 6, 7)
#define LEFT FACE(0, 3, 4, 7)
#define RIGHT FACE(1, 2, 5, 6)
#define FRONT FACE(0, 1, 4, 5)
#define BACK FACE(2, 3, 6, 7)
#define INSIDE 0xffu

/* Abaqus, "Three-dimensional solid element library"; VTK, vtkCellType.h and the figures of the
 * classes; Gmsh manual, "Node ordering". */
const hx_solid hx_solids[HX_N_SOLID_ID] = {
    [HX_SOLID_HEX8] = {HX_CELL_HEXAHEDRON, 8, 8, {0}},
    [HX_SOLID_TET4] = {HX_CELL_TETRAHEDRON, 4, 4, {0}},
    [HX_SOLID_WEDGE6] = {HX_CELL_WEDGE, 6, 6, {0}},
    [HX_SOLID_PYRAMID5] = {HX_CELL_PYRAMID, 5, 5, {0}},
    [HX_SOLID_VTK_WEDGE6] = {HX_CELL_WEDGE, 6, 6, {0}},
    [HX_SOLID_TET10] = {HX_CELL_TETRAHEDRON, 10, 4, {TET10}},
    [HX_SOLID_WEDGE15] = {HX_CELL_WEDGE, 15, 6, {WEDGE15}},
    [HX_SOLID_PYRAMID13] = {HX_CELL_PYRAMID, 13, 5, {PYRAMID13}},
    [HX_SOLID_HEX20] = {HX_CELL_HEXAHEDRON, 20, 8, {HEX20}},
    [HX_SOLID_ABAQUS_HEX27] = {HX_CELL_HEXAHEDRON,
                               27,
                               8,
                               {HEX20, INSIDE, BOTTOM, TOP, FRONT, RIGHT, BACK, LEFT}},
    [HX_SOLID_VTK_WEDGE18] = {HX_CELL_WEDGE,
                              18,
                              6,
                              {WEDGE15, FACE(0, 1, 3, 4), FACE(1, 2, 4, 5), FACE(0, 2, 3, 5)}},
    [HX_SOLID_VTK_HEX24] = {HX_CELL_HEXAHEDRON, 24, 8, {HEX20, LEFT, RIGHT, FRONT, BACK}},
    [HX_SOLID_VTK_HEX27] = {HX_CELL_HEXAHEDRON,
                            27,
                            8,
                            {HEX20, LEFT, RIGHT, FRONT, BACK, BOTTOM, TOP, INSIDE}},
    [HX_SOLID_GMSH_TET10] = {HX_CELL_TETRAHEDRON,
                             10,
                             4,
                             {EDGE(0, 1), EDGE(1, 2), EDGE(0, 2), EDGE(0, 3), EDGE(2, 3),
                              EDGE(1, 3)}},
    [HX_SOLID_GMSH_WEDGE15] = {HX_CELL_WEDGE, 15, 6, {GMSH_WEDGE15}},
    [HX_SOLID_GMSH_WEDGE18] = {HX_CELL_WEDGE,
                               18,
                               6,
                               {GMSH_WEDGE15, FACE(0, 1, 3, 4), FACE(0, 2, 3, 5),
                                FACE(1, 2, 4, 5)}},
    [HX_SOLID_GMSH_PYRAMID13] = {HX_CELL_PYRAMID, 13, 5, {GMSH_PYRAMID13}},
    [HX_SOLID_GMSH_PYRAMID14] = {HX_CELL_PYRAMID, 14, 5, {GMSH_PYRAMID13, BOTTOM}},
    [HX_SOLID_GMSH_HEX20] = {HX_CELL_HEXAHEDRON, 20, 8, {GMSH_HEX20}},
    [HX_SOLID_GMSH_HEX27] = {HX_CELL_HEXAHEDRON,
                             27,
                             8,
                             {GMSH_HEX20, BOTTOM, FRONT, LEFT, RIGHT, BACK, TOP, INSIDE}},
};

const int *hx_solid_corners(hx_solid_id id)
{
    static const int vtk_wedge[8] = {0, 2, 1, 1, 3, 5, 4, 4};
    static const int corner[HX_CELL_OTHER][8] = {[HX_CELL_HEXAHEDRON] = {0, 1, 2, 3, 4, 5, 6, 7},
                                                 [HX_CELL_WEDGE] = {0, 1, 2, 2, 3, 4, 5, 5},
                                                 [HX_CELL_PYRAMID] = {0, 1, 2, 3, 4, 4, 4, 4},
                                                 [HX_CELL_TETRAHEDRON] = {0, 1, 2, 2, 3, 3, 3, 3}};
    return id == HX_SOLID_VTK_WEDGE6 ? vtk_wedge : corner[hx_solids[id].kind];
}

hx_solid_id hx_solid_of_cell(const int32_t conn[8])
{
    int corner[8];
    if (!hx_cell_is_collapsed(conn)) return HX_SOLID_HEX8;
    const int n = hx_cell_distinct(conn, corner);
    for (hx_solid_id id = HX_SOLID_TET4; id <= HX_SOLID_PYRAMID5; id++) {
        const int *const node = hx_solid_nodes(id), *const place = hx_solid_corners(id);
        int same = n == hx_solids[id].n_node;
        for (int a = 0; a < 8 && same; a++) same = conn[a] == conn[node[place[a]]];
        if (same) return id;
    }
    return HX_SOLID_HEX8;
}

const int *hx_solid_nodes(hx_solid_id id)
{
    static const int vtk_wedge[6] = {0, 2, 1, 4, 6, 5};
    static const int node[HX_CELL_OTHER][8] = {[HX_CELL_HEXAHEDRON] = {0, 1, 2, 3, 4, 5, 6, 7},
                                               [HX_CELL_WEDGE] = {0, 1, 2, 4, 5, 6},
                                               [HX_CELL_PYRAMID] = {0, 1, 2, 3, 4},
                                               [HX_CELL_TETRAHEDRON] = {0, 1, 2, 4}};
    return id == HX_SOLID_VTK_WEDGE6 ? vtk_wedge : node[hx_solids[id].kind];
}

const char *hx_cell_kind_name(hx_cell_kind kind)
{
    static const char *const name[] = {[HX_CELL_HEXAHEDRON] = "hexahedron",
                                       [HX_CELL_WEDGE] = "wedge",
                                       [HX_CELL_PYRAMID] = "pyramid",
                                       [HX_CELL_TETRAHEDRON] = "tetrahedron",
                                       [HX_CELL_OTHER] = "other solid"};
    return name[kind];
}

/* --- collapsed cells in any numbering --- */

/* Distinct nodes of a face, counter-clockwise seen from outside. */
typedef struct ring {
    int n;
    int32_t node[4];
} ring;

static ring ring_of(const int32_t conn[8], int face)
{
    const int *const corner = hx_hex_face[face];
    ring r = {0, {0}};
    for (int i = 0; i < 4; i++)
        if (conn[corner[i]] != conn[corner[(i + 3) % 4]]) r.node[r.n++] = conn[corner[i]];
    return r;
}

static int has_node(const ring *r, int32_t node)
{
    for (int i = 0; i < r->n; i++)
        if (r->node[i] == node) return 1;
    return 0;
}

/* Returns the first corner with that node. */
static int corner_of(const int32_t conn[8], int32_t node)
{
    int a = 0;
    while (conn[a] != node) a++;
    return a;
}

/* Finds the face with n corners from which the numbering starts, seen from inside, and starting at
 * its lowest corner; bottom and top are tried before the others, so that right numberings stay
 * unchanged. */
static ring find_base(const int32_t conn[8], int n)
{
    static const int order[6] = {4, 5, 0, 1, 2, 3};
    ring found = {0, {0}}, base = {n, {0}};
    for (int i = 0; i < 6 && found.n != n; i++) found = ring_of(conn, order[i]);
    int first = 0;
    for (int i = 1; i < n; i++)
        if (corner_of(conn, found.node[i]) < corner_of(conn, found.node[first])) first = i;
    for (int i = 0; i < n; i++) base.node[i] = found.node[(first + n - i) % n];
    return base;
}

/* The node that an edge connects to `node` and that is not in the base; -1: none. */
static int32_t opposite_of(const int32_t conn[8], const ring *base, int32_t node)
{
    for (int f = 0; f < 6; f++) {
        const ring r = ring_of(conn, f);
        for (int i = 0; i < r.n && r.n > 2; i++) {
            const int32_t next = r.node[(i + 1) % r.n], last = r.node[(i + r.n - 1) % r.n];
            if (r.node[i] != node) continue;
            if (!has_node(base, next)) return next;
            if (!has_node(base, last)) return last;
        }
    }
    return -1;
}

static void collapse(hx_solid_id id, const int32_t *node, int32_t to[8])
{
    const int *const corner = hx_solid_corners(id);
    for (int a = 0; a < 8; a++) to[a] = node[corner[a]];
}

/* LS-DYNA's tetrahedron, whose second triangle is collapsed onto its first. */
static int is_folded_tetra(const int32_t conn[8])
{
    int corner[8];
    if (hx_cell_distinct(conn, corner) != 4) return 0;
    for (int a = 4; a < 8; a++)
        if (conn[a] != conn[3]) return 0;
    return 1;
}

/* Computes the numbering of solid.h; 0: not a known solid. */
static int normalize_corners(const int32_t conn[8], int32_t to[8])
{
    static const hx_solid_id id[HX_CELL_OTHER] = {[HX_CELL_WEDGE] = HX_SOLID_WEDGE6,
                                                  [HX_CELL_PYRAMID] = HX_SOLID_PYRAMID5,
                                                  [HX_CELL_TETRAHEDRON] = HX_SOLID_TET4};
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    int32_t node[6] = {0};
    if (kind == HX_CELL_OTHER) {
        if (is_folded_tetra(conn)) collapse(HX_SOLID_TET4, conn, to);
        return is_folded_tetra(conn);
    }
    const ring base = find_base(conn, kind == HX_CELL_PYRAMID ? 4 : 3);
    memcpy(node, base.node, (size_t)base.n * sizeof *node);
    const int n_top = kind == HX_CELL_WEDGE ? 3 : 1;
    for (int i = 0; i < n_top; i++) {
        node[base.n + i] = opposite_of(conn, &base, base.node[i]);
        if (node[base.n + i] < 0) return 0;
    }
    collapse(id[kind], node, to);
    return hx_cell_kind_of(to) == kind;
}

static double volume_of(const double *xyz, const int32_t conn[8])
{
    hx_hex_map map;
    hx_hex_map_init(&map, xyz, conn);
    return hx_hex_volume(&map);
}

/* Reverses the orientation of base and top. */
static void mirror(int32_t conn[8])
{
    int corner[8];
    int32_t node[8] = {0};
    const int n = hx_cell_distinct(conn, corner);
    for (int i = 0; i < n; i++) node[i] = conn[corner[i]];
    const int32_t one = node[1], last = n == 5 ? 3 : 2;
    node[1] = node[last];
    node[last] = one;
    if (n == 6) {
        const int32_t four = node[4];
        node[4] = node[5];
        node[5] = four;
    }
    collapse(n == 4 ? HX_SOLID_TET4 : n == 5 ? HX_SOLID_PYRAMID5 : HX_SOLID_WEDGE6, node, conn);
}

/* Edges along a wedge's height, the third of which is repeated: from corner foot[k] of the
 * hexahedron to head[k]. */
static const int wedge_foot[3] = {0, 1, 2}, wedge_head[3] = {4, 5, 6};

/* Squared length and position of each edge; bitwise independent of its direction. */
static void measure_heights(const double *xyz, const int32_t conn[8], double height[3][4])
{
    for (int k = 0; k < 3; k++) {
        const double *const x = xyz + 3 * (int64_t)conn[wedge_foot[k]];
        const double *const y = xyz + 3 * (int64_t)conn[wedge_head[k]];
        height[k][0] = 0.0;
        for (int d = 0; d < 3; d++) {
            height[k][0] += (x[d] - y[d]) * (x[d] - y[d]);
            height[k][d + 1] = x[d] + y[d];
        }
    }
}

/* Returns 1 if the edges are equal vectors up to rounding in a file: K is then exact. */
static int is_prism(const double *xyz, const int32_t conn[8])
{
    double off = 0.0, length = 0.0;
    for (int d = 0; d < 3; d++) {
        double edge[3];
        for (int k = 0; k < 3; k++)
            edge[k] = xyz[3 * (int64_t)conn[wedge_head[k]] + d] -
                      xyz[3 * (int64_t)conn[wedge_foot[k]] + d];
        off = fmax(off, fmax(fabs(edge[1] - edge[0]), fabs(edge[2] - edge[0])));
        length = fmax(length, fabs(edge[0]));
    }
    return off <= 1e-9 * length;
}

static int is_less(const double *a, const double *b, int n)
{
    int i = 0;
    while (i < n - 1 && a[i] == b[i]) i++;
    return a[i] < b[i];
}

/* The Gauss points of the hexahedron in a wedge depend on which edge along the height is repeated.
 * The shortest of the three is chosen, and among equally short ones the one with the least x, y, z,
 * so that the element does not depend on the numbering in the file. Prisms do not depend on the
 * choice and stay unchanged. */
static void turn_wedge(const double *xyz, int32_t conn[8])
{
    int32_t node[6];
    double height[3][4];
    int best = 2;
    if (is_prism(xyz, conn)) return;
    measure_heights(xyz, conn, height);
    for (int k = 0; k < 2; k++)
        if (is_less(height[k], height[best], 4)) best = k;
    for (int k = 0; k < 3; k++) {
        node[k] = conn[wedge_foot[(best + 1 + k) % 3]];
        node[3 + k] = conn[wedge_head[(best + 1 + k) % 3]];
    }
    collapse(HX_SOLID_WEDGE6, node, conn);
}

static int is_same_face(const ring *a, const ring *b)
{
    if (a->n != b->n) return 0;
    for (int i = 0; i < a->n; i++)
        if (!has_node(b, a->node[i])) return 0;
    return 1;
}

enum { STAYS, CHANGES, MIRRORED, UNKNOWN };

/* Determines how the cell must change, and its corners after the change. */
static int look_at_cell(const hx_mesh *mesh, int64_t e, int32_t to[8])
{
    const int32_t *const conn = mesh->conn + 8 * e;
    if (!hx_cell_is_collapsed(conn)) return STAYS;
    if (!normalize_corners(conn, to)) return UNKNOWN;
    const int is_mirrored = volume_of(mesh->xyz, to) < 0.0;
    if (is_mirrored) mirror(to);
    if (hx_cell_kind_of(to) == HX_CELL_WEDGE) turn_wedge(mesh->xyz, to);
    if (is_mirrored) return MIRRORED;
    return memcmp(to, conn, 8 * sizeof *to) != 0 ? CHANGES : STAYS;
}

static void change(hx_mesh *mesh, int64_t e, int what, const int32_t to[8], hx_renumbered *cell)
{
    int32_t *const conn = mesh->conn + 8 * e;
    cell->elem = (int32_t)e;
    cell->mirrored = what == MIRRORED;
    memcpy(cell->corner, conn, sizeof cell->corner);
    for (int f = 0; f < 6; f++) {
        const ring old = ring_of(conn, f);
        cell->face[f] = -1;
        for (int g = 0; g < 6 && old.n > 2; g++) {
            const ring new = ring_of(to, g);
            if (is_same_face(&old, &new)) cell->face[f] = (int8_t)g;
        }
    }
    memcpy(conn, to, 8 * sizeof *to);
}

int hx_normalize_cells(hx_mesh *mesh, hx_renumbered_list *list, hx_normalize_report *report)
{
    int64_t n_changed = 0, bad = INT64_MAX;
    memset(list, 0, sizeof *list);
    memset(report, 0, sizeof *report);
#pragma omp parallel for schedule(static) reduction(+ : n_changed) reduction(min : bad)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int32_t to[8];
        const int what = look_at_cell(mesh, e, to);
        n_changed += what != STAYS;
        if (what == UNKNOWN && e < bad) bad = e;
    }
    report->first_mirrored = -1;
    report->bad = bad == INT64_MAX ? -1 : bad;
    if (n_changed == 0 || report->bad >= 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&list->cell, (size_t)n_changed, sizeof *list->cell, "renumbered cells"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int32_t to[8];
        const int what = look_at_cell(mesh, e, to);
        if (what == STAYS) continue;
        change(mesh, e, what, to, &list->cell[list->n++]);
        if (what != MIRRORED) continue;
        report->n_mirrored[hx_cell_kind_of(to)]++;
        if (report->first_mirrored < 0) report->first_mirrored = e;
    }
    return HX_OK;
}

const hx_renumbered *hx_find_renumbered(const hx_renumbered_list *list, int64_t elem)
{
    int64_t low = 0, high = list->n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (list->cell[middle].elem < elem)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->n && list->cell[low].elem == elem ? &list->cell[low] : NULL;
}

void hx_renumbered_free(hx_renumbered_list *list)
{
    free(list->cell);
    memset(list, 0, sizeof *list);
}

int hx_note_mirrored(const hx_mesh *mesh, const hx_normalize_report *report,
                     hx_note_level of_wedges, hx_notes *notes)
{
    const int64_t n_wedge = report->n_mirrored[HX_CELL_WEDGE];
    const int64_t n_other =
        report->n_mirrored[HX_CELL_PYRAMID] + report->n_mirrored[HX_CELL_TETRAHEDRON];
    if (n_wedge + n_other == 0) return HX_OK;
    return hx_notes_add(notes, n_other > 0 ? HX_NOTE_WARNING : of_wedges,
                        "%s: %lld tetrahedra, wedges or pyramids were inverted and have been "
                        "corrected (the first: element %lld)",
                        /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): both have 64 bits */
                        mesh->name, (long long)(n_wedge + n_other),
                        (long long)hx_mesh_elem_number(mesh, report->first_mirrored));
}

int hx_check_repaired(const hx_mesh *mesh, const hx_renumbered_list *list, const uint8_t *order)
{
    uint8_t *repaired = NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < list->n; i++) n += list->cell[i].mirrored;
    if (n == 0 && !order) return HX_OK;
    HX_TRY(hx_alloc(&repaired, (size_t)mesh->n_elem, 1, "flags of repaired elements"));
    for (int64_t e = 0; order && e < mesh->n_elem; e++) repaired[e] = order[e] != HX_ORDER_VTK;
    for (int64_t i = 0; i < list->n; i++)
        if (list->cell[i].mirrored) repaired[list->cell[i].elem] = 1;
    const int rc = hx_mesh_check_repaired(mesh, repaired);
    free(repaired);
    return rc;
}

int hx_refuse_cell(const hx_mesh *mesh, int64_t elem)
{
    const int32_t *const conn = mesh->conn + 8 * elem;
    int corner[8], again = 1;
    const int n = hx_cell_distinct(conn, corner);
    while (corner_of(conn, conn[again]) == again) again++;
    return HX_RAISE(HX_EINPUT,
                    "element %lld names node %lld twice and has %d different nodes, which do not "
                    "form a solid: a tetrahedron needs 4, a pyramid 5, a wedge 6, a hexahedron 8; "
                    "a hexahedron with repeated nodes must be one of these",
                    (long long)hx_mesh_elem_number(mesh, elem),
                    (long long)hx_mesh_node_number(mesh, conn[again]), n);
}

/* --- nodes of second order --- */

int hx_solid_middle(hx_solid_id id, int k, const int32_t conn[8], int32_t corner[HX_SOLID_CORNERS])
{
    const hx_solid *const solid = &hx_solids[id];
    const int *const place = hx_solid_corners(id);
    int n = 0;
    for (int c = 0; c < solid->n_corner; c++) {
        if (!(solid->middle_of[k] >> c & 1)) continue;
        int a = 0;
        while (place[a] != c) a++;
        corner[n++] = conn[a];
    }
    return n;
}

/* A node is noted if it is farther from the middle of its edge than this fraction of the edge's
 * length. */
static const double straight = 0.01;

void hx_survey_middle(hx_middle_survey *survey, int64_t number, const double x[3],
                      const double *xyz, int n, const int32_t *corner)
{
    double off[3], edge[3];
    survey->n++;
    if (n != 2) return; /* on a face or inside */
    for (int d = 0; d < 3; d++) {
        const double a = xyz[3 * (int64_t)corner[0] + d], b = xyz[3 * (int64_t)corner[1] + d];
        off[d] = x[d] - 0.5 * (a + b);
        edge[d] = b - a;
    }
    const double length = hx_norm3(edge), distance = length > 0.0 ? hx_norm3(off) / length : 0.0;
    /* hx_mesh_finish will refuse such a coordinate */
    const double share = isfinite(distance) ? distance : INFINITY;
    survey->n_off += share > straight;
    if (share <= survey->worst) return;
    survey->worst = share;
    survey->worst_number = number;
}

int hx_survey_is_curved(const hx_middle_survey *survey)
{
    return survey->worst > HX_STRAIGHT_EDGE;
}

int hx_note_middles(const hx_middle_survey *survey, const char *path, hx_notes *notes)
{
    char off[160] = "";
    char taken[400] = "replaces by its own, at the middles of straight edges";
    if (survey->n_off > 0)
        snprintf(off, sizeof off, ", %lld of them by more than %g of its length",
                 (long long)survey->n_off, straight);
    if (hx_survey_is_curved(survey))
        snprintf(
            taken, sizeof taken,
            "uses those on edges; they are off the middle of their edges%s (at most %.2g, node "
            "%lld): edges are straight with element = \"linear\", curved with \"quadratic\"",
            off, survey->worst, (long long)survey->worst_number);
    return hx_notes_add(notes, HX_NOTE_INFO,
                        "%s: elements of second order with %lld mid-side nodes, which element = "
                        "\"linear\" leaves out; \"quadratic\" %s",
                        path, (long long)survey->n, taken);
}
