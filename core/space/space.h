/* What carries unknowns, apart from the mesh, whose cells carry densities, sets and output: the
 * points of each cell, where they lie, and the cells of each point.
 *
 * linear: the mesh's own nodes and arrays, nothing is allocated. quadratic: the same nodes, and
 * after them the middle of every edge. A cell is hex20, wedge15, pyramid13 or tet10 by the solid
 * that its hexahedron is (cell.h), so one mesh serves both, whatever its file was. spline: the
 * control points of a spline, whose image the mesh is: a hexahedron is a span, and a node lies on
 * the spline but is no point. */
#ifndef HX_SPACE_H
#define HX_SPACE_H

#include "../mesh/load_faces.h"
#include "../mesh/mesh.h"
#include "../spline/spline_cell.h"
#include "cell_rule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_ELEMENT_LINEAR,
    HX_ELEMENT_QUADRATIC,
    HX_ELEMENT_SPLINE,
    HX_N_ELEMENT
} hx_element;

/* "linear", "quadratic", "spline": the words of solver.element. */
const char *hx_element_name(hx_element element);

/* A place is an index into `point`. Of a linear space all is the mesh's, and what is said to be of
 * a quadratic one NULL or 0. A space of a spline has no edges, kinds and rule. */
typedef struct hx_space {
    const hx_mesh *mesh; /* (borrowed) */
    hx_element element;
    int64_t n_point;
    double *xyz;     /* [n_point][3] the mesh's nodes first, or control points (owned but by a
                        linear space) */
    int64_t n_place; /* sum of the cells' points */
    int n_per_cell;  /* points of every cell; 0: cell_ptr says */
    int32_t *point;  /* [n_place], corners first, or as in spline_rule.h (owned likewise, like all
                        below) */
    int64_t *point_ptr;    /* [n_point + 1] cells of each point, as in mesh.h */
    uint32_t *point_place; /* [n_place] places, ascending for each point */

    int64_t n_edge;      /* point n_node + k is the middle of edge k */
    int32_t *edge;       /* [n_edge][2] its ends, lower first, ascending */
    uint8_t *kind;       /* [n_elem] hx_cell_kind */
    int64_t *cell_ptr;   /* [n_elem + 1] first place of a cell; NULL with n_per_cell */
    int64_t *pair_ptr;   /* [n_elem + 1] squares of the numbers of points before; likewise */
    int32_t *place_cell; /* [n_place] its cell; likewise */
    hx_cell_rule *rule;  /* [HX_N_RULE] */
    int64_t n_kind[HX_N_CELL_RULE]; /* cells of each */

    const hx_spline *spline; /* of a space of a spline, else NULL (borrowed) */
    hx_spline_rule *spline_rule;
} hx_space;

/* The linear space of a finished mesh: borrows its arrays, not to be freed. */
hx_space hx_space_linear(const hx_mesh *mesh);

/* Of a finished mesh, which outlives it. Middles of edges lie where the mesh has them, the others
 * on straight edges. HX_EINPUT, with the file's numbers: a cell of no such kind, an edge with two
 * middles, a cell whose det J is not positive at its Gauss points; HX_EENV: more places than 32
 * bits count. O(n_elem), 36 bytes an edge of each cell besides while it is made. */
int hx_space_create(hx_space *space, const hx_mesh *mesh, hx_element element);

/* The space of a glued spline over its image, whose element e is the span e; both outlive it.
 * HX_EINTERNAL: the mesh is not that; HX_EENV: more places than 32 bits count. O(n_place). */
int hx_space_create_spline(hx_space *space, const hx_mesh *mesh, const hx_spline *spline);

/* Bytes that it holds besides the mesh: 0 of a linear one. */
size_t hx_space_bytes(const hx_space *space);

/* The cell of a place; a division by what is not known takes long. */
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

/* Points of a cell, at most. */
static inline int hx_space_most(const hx_space *space)
{
    if (space->n_per_cell) return space->n_per_cell;
    return space->element == HX_ELEMENT_SPLINE ? (int)HX_SPLINE_CELL_POINTS : (int)HX_RULE_POINTS;
}

/* 1 if the mesh has middles of curved edges, which a quadratic space takes. */
static inline int hx_space_is_curved(const hx_space *space)
{
    return space->element == HX_ELEMENT_QUADRATIC && space->mesh->middles.n > 0;
}

/* The point in the middle of the edge between two nodes of a quadratic space, -1: no edge of a
 * cell. O(log n_edge). */
int64_t hx_space_middle(const hx_space *space, int32_t a, int32_t b);

/* det J of a quadratic cell at Gauss point q of its rule, and the place there; and with another
 * rule of its points. */
double hx_space_map(const hx_space *space, int64_t cell, int q, double at[3]);
double hx_space_map_by(const hx_space *space, int64_t cell, const hx_cell_rule *rule, int q,
                       double at[3]);

/* A cell of a space of a spline, and its map at its Gauss points. Returns the least det J. */
double hx_space_spline_cell(const hx_space *space, int64_t cell, hx_spline_cell *tables,
                            hx_spline_place *place);

/* h[i][k] = du_i / dx_k of a field u[n_point][components] (of one component h[0]) in a cell of a
 * space of a spline, where at[d] = 0 to 1 of the span lies. */
void hx_space_spline_gradient(const hx_space *space, int64_t cell, const double at[3],
                              int components, const double *u, double h[3][3]);

/* value[components] of a field u[n_point][components] in a cell of a space of a spline, and the
 * place x, where at[d] = 0 to 1 of the span lies. */
void hx_space_spline_value(const hx_space *space, int64_t cell, const double at[3], int components,
                           const double *u, double *value, double x[3]);

/* Nodal points: the nodes of the mesh and, of a quadratic space, the middles of edges, by the
 * numbers of its points. Control points are none; a spline has the nodes of its image. */
static inline int64_t hx_space_n_nodal(const hx_space *space)
{
    return space->element == HX_ELEMENT_QUADRATIC ? space->n_point : space->mesh->n_node;
}

/* The k-th incidence of nodal points; those of point i are k = first .. the return value - 1. A
 * cell may come twice. Need the lists of cells. */
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

/* The largest value of a field, and its place. */
typedef struct hx_space_largest {
    int is_set; /* 0: no cell counts */
    double value;
    double x[3];  /* length */
    int64_t node; /* node of the mesh, or the lower end of the edge; -1: inside the cell */
    int64_t end;  /* other end of the edge whose middle it is; -1: none */
    int64_t cell; /* one that has the point */
} hx_space_largest;

/* The largest of sign * u (one component), or of the length of u (three; sign is 1), over every
 * point that carries a value: nodes, and middles of edges of a quadratic space. Control points of a
 * spline carry none: its field is evaluated at the nodes and at degree + 1 even steps of each span
 * per direction, its ends included. is_counted[n_elem]: points of these cells only; NULL: of all.
 * The first of equal values counts, nodes before other points. Needs the lists of cells. O(n_point)
 * and for splines O(n_place (degree + 1)^3). */
void hx_space_find_largest(const hx_space *space, const uint8_t *is_counted, int components,
                           double sign, const double *u, hx_space_largest *largest);

/* What a value at a nodal point is made of: points and their shares, which sum to 1; of a
 * space of a spline up to HX_SPLINE_CELL_POINTS, else only the point. Returns how many. */
int hx_space_node_points(const hx_space *space, int64_t node, int32_t *point, double *share);

/* nodal[n_node][components] of u[n_point][components]. */
void hx_space_at_nodes(const hx_space *space, int components, const double *u, double *nodal);

/* The same in place: the first n_node entries of u[n_point] become those at the nodes. */
int hx_space_leave_nodes(const hx_space *space, int components, double *u);

/* A node of the mesh that is near a point: itself, an end of the edge, or one of a cell that the
 * control point acts on. */
int64_t hx_space_near_node(const hx_space *space, int64_t point);

/* body[n_point] := number of the part (0-based, by first points) that each point belongs to, as the
 * shape functions of the cells with is_there[n_elem] != 0 connect them, -1: no such cell has the
 * point; *n_body parts. Spans of a spline are connected by a common function, so over a gap of
 * fewer spans than the degree too. O(n_place). */
int hx_space_bodies(const hx_space *space, const uint8_t *is_there, int32_t *body, int64_t *n_body);

/* The points that are held where a set is: its nodes and the middles below; of a spline the control
 * points of its faces, and those that its other nodes lie in. *point is the caller's to free.
 * HX_EINPUT, of a spline: a set that ends inside a side of a patch where functions reach over its
 * rim, a node that is no control point. */
int hx_space_set_points(const hx_space *space, const hx_set *set, int64_t *n, int32_t **point);

/* The middles of the edges of a set, ascending: those of its own faces if it names faces, else
 * those both of whose ends it holds; of a combined set those in all, in any, or in none of its
 * parts. None of a linear space. *point is the caller's to free. O(n_edge), and O(n) of the set. */
int hx_space_set_middles(const hx_space *space, const hx_set *set, int64_t *n, int32_t **point);

enum { HX_FACE_GAUSS = 25, HX_FACE_POINTS = 25 };

/* A face (element * 6 + local face) at its integration points: quad4 and tri3, quad8 and tri6.
 * Straight ones have the 4 of load_faces.h; with curved edges quad8 has 3x3 and tri6 6, which are
 * exact for a pressure, and at[].shape is 0. A face of a spline has its own, up to 5x5 of each.
 *
 * Degree of the integrand on a straight plane face in each of its directions (on quads and
 * collapsed triangles the area has degree 1 or 0), and of the rule that takes it:
 *
 *                                quad4, tri3       quad8                tri6
 *     traction, pressure, flux   2, 2x2: 3         2 + 1 = 3, 2x2: 3    2 (collapsed 3), 2x2: 3
 *     film N_a N_b               3, 2x2: 3         4 + 1 = 5, 3x3: 5    4, 6 points: 4
 *     spring                     2, 2x2: 3         4 + 1 = 5, 3x3: 5    4, 6 points: 4
 *     bearing (no polynomial)    2x2, 6 points     2x2                  6 points
 *
 * A warped quadrilateral has an area that is no polynomial; its rules are symmetric. */
typedef struct hx_space_face {
    int n, n_gauss;    /* points, integration points */
    int n_corner;      /* 4, or 3 of a triangle of a quadratic space */
    int has_sums;      /* no shape function is below 0: their integrals share the area */
    int32_t corner[4]; /* nodes counter-clockwise seen from outside */
    int32_t point[HX_FACE_POINTS]; /* these corners, then middles; or control points */
    double shape[HX_FACE_GAUSS][HX_FACE_POINTS];
    hx_face_point at[HX_FACE_GAUSS];
} hx_space_face;

void hx_space_face_of(const hx_space *space, int64_t face, hx_space_face *out);

/* The same with the points of curved faces on straight quad8 and tri6 too, which are exact for
 * products of two shape functions: for films and springs. */
void hx_space_face_fine(const hx_space *space, int64_t face, hx_space_face *out);

/* hx_space_face_of with 6 points on every triangle, tri3 too. They are symmetric in its corners,
 * for integrands that are no polynomials. */
void hx_space_face_symmetric(const hx_space *space, int64_t face, hx_space_face *out);

/* Their area, curved where they are. */
double hx_space_faces_area(const hx_space *space, int64_t n_face, const int64_t *face);

/* Shares of a face's area, none below 0, that have its centre where it is affine: of quad8 and tri6
 * by the diagonal of the consistent mass (Hinton, Rock, Zienkiewicz, Earthq. Eng. Struct. Dyn. 4,
 * 1976), of bilinear and spline faces their integrals. For what is lumped: springs. */
void hx_space_face_lump(const hx_space_face *face, double share[HX_FACE_POINTS]);

/* The kinds of elements, "hex8 and tet4", of a quadratic space "hex20 and tet10",
 * of a spline its degrees. Returns text. */
const char *hx_space_text(const hx_space *space, char *text, size_t n_text);

/* Accepts zeroed and linear spaces. */
void hx_space_free(hx_space *space);

#ifdef __cplusplus
}
#endif

#endif
