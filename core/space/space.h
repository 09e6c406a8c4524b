/* The finite element space: points of each cell, their coordinates, and the cells of each point.
 * The mesh is separate; its cells carry densities, sets and output.
 *
 * linear: the nodes and arrays of the mesh; nothing is allocated. quadratic: the same nodes,
 * followed by the middle of every edge. A cell is hex20, wedge15, pyramid13 or tet10 according to
 * the solid that its hexahedron collapses to (cell.h), so one mesh serves both spaces, with or
 * without mid-edge nodes in its file. spline: the control points of a spline whose image is the
 * mesh: each hexahedron is a span, and a node lies on the spline but is not a point of the
 * space. */
#ifndef HX_SPACE_H
#define HX_SPACE_H

#include "../base/c_linkage.h"
#include "../mesh/load_faces.h"
#include "../mesh/mesh.h"
#include "../spline/spline_cell.h"
#include "cell_rule.h"

HX_C_BEGIN

typedef enum {
    HX_ELEMENT_LINEAR,
    HX_ELEMENT_QUADRATIC,
    HX_ELEMENT_SPLINE,
    HX_N_ELEMENT
} hx_element;

/* The values of solver.element: "linear", "quadratic", "spline". */
const char *hx_element_name(hx_element element);

/* A place is an index into `point`. A linear space borrows the mesh's arrays, and the members for
 * quadratic spaces are NULL or 0. A spline space has no edges, kinds or rules. */
typedef struct hx_space {
    const hx_mesh *mesh; /* (borrowed) */
    hx_element element;
    int64_t n_point;
    /* [n_point][3] the mesh's nodes first, or control points (owned unless the space is linear) */
    double *xyz;
    int64_t n_place; /* number of places: the sum over the cells of their numbers of points */
    int n_per_cell;  /* number of points of every cell; 0: it varies, see cell_ptr */
    /* [n_place], corners first, or in the order of spline_rule.h (owned unless linear, like all
     * below) */
    int32_t *point;
    int64_t *point_ptr;    /* [n_point + 1] start of the places of each point, like in mesh.h */
    uint32_t *point_place; /* [n_place] places, ascending for each point */

    int64_t n_edge;    /* point n_node + k is the middle of edge k */
    int32_t *edge;     /* [n_edge][2] its ends, lower first, ascending */
    uint8_t *kind;     /* [n_edge][2] its ends, lower number first, ascending */
    int64_t *cell_ptr; /* [n_elem] hx_cell_kind */
    int64_t *pair_ptr; /* [n_elem + 1] first place of a cell; NULL if n_per_cell is set */
    /* [n_elem + 1] sum of the squared numbers of points of the preceding cells; NULL if n_per_cell
     * is set */
    int32_t *place_cell;
    hx_cell_rule *rule;             /* [n_place] cell of a place; NULL if n_per_cell is set */
    int64_t n_kind[HX_N_CELL_RULE]; /* cells of each */

    const hx_spline *spline; /* spline of a spline space, else NULL (borrowed) */
    hx_spline_rule *spline_rule;
} hx_space;

/* The linear space of a finished mesh: it borrows the mesh's arrays and must not be freed. */
hx_space hx_space_linear(const hx_mesh *mesh);

/* The space of a finished mesh, which must outlive it. Mid-edge points lie where the mesh has them,
 * and on straight edges elsewhere. HX_EINPUT, with the file's numbers: a cell of an unsupported
 * kind, an edge with two mid-edge points, a cell whose det J is not positive at its Gauss points;
 * HX_EENV: more places than 32 bits can count. O(n_elem), with temporary 36 bytes per edge of each
 * cell. */
int hx_space_create(hx_space *space, const hx_mesh *mesh, hx_element element);

/* The space of a glued spline over its image, whose element e is span e; both must outlive it.
 * HX_EINTERNAL: the mesh is not that image; HX_EENV: more places than 32 bits can count.
 * O(n_place). */
int hx_space_create_spline(hx_space *space, const hx_mesh *mesh, const hx_spline *spline);

/* Bytes that it allocates in addition to the mesh: 0 if it is linear. */
size_t hx_space_bytes(const hx_space *space);

/* The cell of a place; constant divisors are fast. */
static inline int64_t hx_space_cell(const hx_space *space, int64_t place)
{
    if (space->n_per_cell == 8) return place / 8;
    return space->n_per_cell ? place / space->n_per_cell : space->place_cell[place];
}

/* The points of a cell. */
static inline const int32_t *hx_space_points(const hx_space *space, int64_t cell, int *n)
{
    if (space->n_per_cell) {
        *n = space->n_per_cell;
        return space->point + cell * space->n_per_cell;
    }
    *n = (int)(space->cell_ptr[cell + 1] - space->cell_ptr[cell]);
    return space->point + space->cell_ptr[cell];
}

/* Largest number of points of a cell. */
static inline int hx_space_most(const hx_space *space)
{
    if (space->n_per_cell) return space->n_per_cell;
    return space->element == HX_ELEMENT_SPLINE ? (int)HX_SPLINE_CELL_POINTS : (int)HX_RULE_POINTS;
}

/* 1 if the mesh has curved edges, which a quadratic space uses. */
static inline int hx_space_is_curved(const hx_space *space)
{
    return space->element == HX_ELEMENT_QUADRATIC && space->mesh->middles.n > 0;
}

/* Returns the mid-edge point between two nodes of a quadratic space; -1: they are not the ends of
 * an edge. O(log n_edge). */
int64_t hx_space_middle(const hx_space *space, int32_t a, int32_t b);

/* det J and coordinates of a quadratic cell at Gauss point q of its rule. The second function takes
 * another rule for the same points. */
double hx_space_map(const hx_space *space, int64_t cell, int q, double at[3]);
double hx_space_map_by(const hx_space *space, int64_t cell, const hx_cell_rule *rule, int q,
                       double at[3]);

/* A cell of a spline space and its map at its Gauss points. Returns the smallest det J. */
double hx_space_spline_cell(const hx_space *space, int64_t cell, hx_spline_cell *tables,
                            hx_spline_place *place);

/* h[i][k] = du_i / dx_k of a field u[n_point][components] (for one component h[0]) in a cell of a
 * spline space, at the parameters at[d], from 0 to 1 within the span. */
void hx_space_spline_gradient(const hx_space *space, int64_t cell, const double at[3],
                              int components, const double *u, double h[3][3]);

/* value[components] of a field u[n_point][components] and the coordinates x in a cell of a spline
 * space, at the parameters at[d], from 0 to 1 within the span. */
void hx_space_spline_value(const hx_space *space, int64_t cell, const double at[3], int components,
                           const double *u, double *value, double x[3]);

/* Number of nodal points: the nodes of the mesh and, in a quadratic space, the mid-edge points,
 * with the numbering of the space. Control points are not nodal; a spline uses the nodes of its
 * image. */
static inline int64_t hx_space_n_nodal(const hx_space *space)
{
    return space->element == HX_ELEMENT_QUADRATIC ? space->n_point : space->mesh->n_node;
}

/* Incidences of nodal points: those of point i are k = first .. the return value - 1. A cell may
 * occur twice. Needs the lists of cells. */
static inline int64_t hx_space_nodal_cells(const hx_space *space, int64_t i, int64_t *first)
{
    const int64_t *const ptr =
        space->element == HX_ELEMENT_SPLINE ? space->mesh->node_elem_ptr : space->point_ptr;
    *first = ptr[i];
    return ptr[i + 1];
}

static inline int64_t hx_space_nodal_cell(const hx_space *space, int64_t k)
{
    if (space->element == HX_ELEMENT_SPLINE) return space->mesh->node_elem[k] / 8;
    return hx_space_cell(space, space->point_place[k]);
}

/* The largest value of a field and its location. */
typedef struct hx_space_largest {
    int is_set; /* 0: no cell counts */
    double value;
    double x[3];  /* length */
    int64_t node; /* node of the mesh, or lower end of the edge; -1: inside the cell */
    int64_t end;  /* other end of the edge, if the value is at its middle; -1: otherwise */
    int64_t cell; /* a cell that contains the point */
} hx_space_largest;

/* The largest value of sign * u (one component) or of the length of u (three components; sign is 1)
 * over all points that carry a value: nodes, and mid-edge points of a quadratic space. Control
 * points of a spline carry none: its field is evaluated at the nodes and at degree + 1 equidistant
 * parameters of each span per direction, including the ends. is_counted[n_elem]: only points of
 * these cells; NULL: all. Among equal values the first one counts, nodes before other points. Needs
 * the lists of cells. O(n_point); for splines O(n_place (degree + 1)^3). */
void hx_space_find_largest(const hx_space *space, const uint8_t *is_counted, int components,
                           double sign, const double *u, hx_space_largest *largest);

/* Interpolation of a nodal value: points and their weights, which sum to 1; up to
 * HX_SPLINE_CELL_POINTS in a spline space, otherwise only the point itself. Returns their
 * number. */
int hx_space_node_points(const hx_space *space, int64_t node, int32_t *point, double *share);

/* nodal[n_node][components] from u[n_point][components]. */
void hx_space_at_nodes(const hx_space *space, int components, const double *u, double *nodal);

/* Like hx_space_at_nodes, in place: the first n_node entries of u[n_point] become the values at the
 * nodes. */
int hx_space_leave_nodes(const hx_space *space, int components, double *u);

/* A node of the mesh near a point: the point itself, an end of its edge, or a node of a cell in the
 * support of the control point. */
int64_t hx_space_near_node(const hx_space *space, int64_t point);

/* body[n_point] := number of the connected part of each point (0-based, in the order of first
 * points); -1: in no cell. Only cells with is_there[n_elem] != 0 count, and the support of their
 * shape functions defines what is connected. *n_body: number of parts. Spans of a spline are
 * connected by a common function, so parts connect across a gap of fewer spans than the degree.
 * O(n_place). */
int hx_space_bodies(const hx_space *space, const uint8_t *is_there, int32_t *body, int64_t *n_body);

/* The points that a support on a set fixes: its nodes and mid-edge points; for a spline the control
 * points of its faces, and those that interpolate its other nodes. The caller frees *point.
 * HX_EINPUT, for a spline: a set that ends inside a side of a patch where functions extend beyond
 * its boundary, or a node that is not a control point. */
int hx_space_set_points(const hx_space *space, const hx_set *set, int64_t *n, int32_t **point);

/* The mid-edge points of a set, ascending: those of its faces if it names faces, otherwise those
 * with both ends in the set; for a combined set those in all, in any, or in none of its parts. None
 * in a linear space. The caller frees *point. O(n_edge), and O(n) in the size of the set. */
int hx_space_set_middles(const hx_space *space, const hx_set *set, int64_t *n, int32_t **point);

enum { HX_FACE_GAUSS = 25, HX_FACE_POINTS = 25 };

/* A face (element * 6 + local face) with its integration points: quad4 and tri3, quad8 and tri6.
 * Straight faces use the 4 points of load_faces.h. With curved edges, quad8 uses 3x3 and tri6 uses
 * 6 points, which are exact for a pressure, and at[].shape is 0. Faces of a spline have their own
 * rule with up to 5x5 points.
 *
 * Degree of the integrand in each direction on a straight plane face, and of the rule used (the
 * area element has degree 1 or 0 on quads and collapsed triangles):
 *
 *                                quad4, tri3       quad8                tri6
 *     traction, pressure, flux   2, 2x2: 3         2 + 1 = 3, 2x2: 3    2 (collapsed 3), 2x2: 3
 *     film N_a N_b               3, 2x2: 3         4 + 1 = 5, 3x3: 5    4, 6 points: 4
 *     spring                     2, 2x2: 3         4 + 1 = 5, 3x3: 5    4, 6 points: 4
 *     bearing (no polynomial)    2x2, 6 points     2x2                  6 points
 *
 * The area element of a warped quadrilateral is not a polynomial; its rules are symmetric. */
typedef struct hx_space_face {
    int n, n_gauss; /* numbers of points and of integration points */
    int n_corner;   /* 4, or 3 for a triangle of a quadratic space */
    int has_sums; /* 1: no shape function is negative, so their integrals are shares of the area */
    int32_t corner[4];             /* nodes, counter-clockwise as seen from outside */
    int32_t point[HX_FACE_POINTS]; /* these corners, then mid-edge points; or control points */
    double shape[HX_FACE_GAUSS][HX_FACE_POINTS];
    hx_face_point at[HX_FACE_GAUSS];
} hx_space_face;

void hx_space_face_of(const hx_space *space, int64_t face, hx_space_face *out);

/* Like hx_space_face_of, but straight quad8 and tri6 also get the points of curved faces, which are
 * exact for products of two shape functions; for films and springs. */
void hx_space_face_fine(const hx_space *space, int64_t face, hx_space_face *out);

/* hx_space_face_of, but with 6 points on every triangle, including tri3. The points are symmetric
 * in its corners, for integrands that are not polynomials. */
void hx_space_face_symmetric(const hx_space *space, int64_t face, hx_space_face *out);

/* Total area of the faces, with curved edges if there are any. */
double hx_space_faces_area(const hx_space *space, int64_t n_face, const int64_t *face);

/* Shares of a face's area, none negative, that preserve its centre if the face is affine: for quad8
 * and tri6 from the diagonal of the consistent mass (Hinton, Rock, Zienkiewicz, Earthq. Eng.
 * Struct. Dyn. 4, 1976), for bilinear and spline faces the integrals. For lumped quantities:
 * springs. */
void hx_space_face_lump(const hx_space_face *face, double share[HX_FACE_POINTS]);

/* Describes the element kinds: "hex8 and tet4", for a quadratic space "hex20 and tet10", for a
 * spline its degrees. Returns text. */
const char *hx_space_text(const hx_space *space, char *text, size_t n_text);

/* Accepts zeroed and linear spaces. */
void hx_space_free(hx_space *space);

HX_C_END

#endif
