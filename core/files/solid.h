/* Solid elements as mesh files have them: tetrahedra, wedges, pyramids and hexahedra of first and
 * second order, and how they become collapsed hexahedra (cell.h) in one numbering: tetrahedra
 * (0 1 2 2 3 3 3 3), wedges (0 1 2 2 3 4 5 5), pyramids (0 1 2 3 4 4 4 4), with 0 1 2 (3)
 * counter-clockwise seen from the other corners, of wedges that are no prisms the shortest edge
 * along the height from 2 to 5. Not installed. */
#ifndef HX_SOLID_H
#define HX_SOLID_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_SOLID_NODES = 27, HX_SOLID_CORNERS = 8 };

/* The orders of nodes that formats use. Corners are numbered alike in all, but for VTK's wedge of
 * first order, whose two triangles are turned round. Nodes on edges come in VTK's order (Abaqus,
 * CalculiX and ANSYS too), or in Gmsh's; those on faces and inside differ from format to format. */
typedef enum {
    HX_SOLID_HEX8, /* first: what a list of zeros says */
    HX_SOLID_TET4,
    HX_SOLID_WEDGE6,
    HX_SOLID_PYRAMID5,
    HX_SOLID_VTK_WEDGE6,
    HX_SOLID_TET10,
    HX_SOLID_WEDGE15,
    HX_SOLID_PYRAMID13,
    HX_SOLID_HEX20,
    HX_SOLID_ABAQUS_HEX27,
    HX_SOLID_VTK_WEDGE18,
    HX_SOLID_VTK_HEX24,
    HX_SOLID_VTK_HEX27,
    HX_SOLID_GMSH_TET10,
    HX_SOLID_GMSH_WEDGE15,
    HX_SOLID_GMSH_WEDGE18,
    HX_SOLID_GMSH_PYRAMID13,
    HX_SOLID_GMSH_PYRAMID14,
    HX_SOLID_GMSH_HEX20,
    HX_SOLID_GMSH_HEX27,
    HX_N_SOLID_ID
} hx_solid_id;

typedef struct hx_solid {
    hx_cell_kind kind;
    int n_node, n_corner;
    /* Of node n_corner + i: the corners (bit k: corner k) in whose middle it lies; two are the ends
     * of its edge. */
    uint8_t middle_of[HX_SOLID_NODES - 5];
} hx_solid;

extern const hx_solid hx_solids[HX_N_SOLID_ID];

/* Which of node[0 .. n_node) each corner of the collapsed hexahedron is. */
const int *hx_solid_corners(hx_solid_id id);

/* The solid of first order that a cell of a mesh is written as: HX_SOLID_HEX8, with repeated nodes,
 * where a collapsed one is not in the numbering above. */
hx_solid_id hx_solid_of_cell(const int32_t conn[8]);

/* The corners in whose middle node k behind the corners lies, of an element whose collapsed
 * hexahedron is conn[8]; returns how many. */
int hx_solid_middle(hx_solid_id id, int k, const int32_t conn[8], int32_t corner[HX_SOLID_CORNERS]);

/* Nodes of second order, for one line of the log. */
typedef struct hx_middle_survey {
    int64_t n, n_off; /* in all; off the middle of their edges by more than a hundredth of these */
    int64_t worst_number;
    double worst; /* largest distance from the middle, as a share of the edge */
} hx_middle_survey;

/* Counts the node of that number at x, in the middle of corner[n] (of xyz). */
void hx_survey_middle(hx_middle_survey *survey, int64_t number, const double x[3],
                      const double *xyz, int n, const int32_t *corner);

/* 1 if an edge is curved: the mesh keeps the middles. */
int hx_survey_is_curved(const hx_middle_survey *survey);
int hx_note_middles(const hx_middle_survey *survey, const char *path, hx_notes *notes);

/* Of a solid of first order: which corner of the collapsed hexahedron each node is. */
const int *hx_solid_nodes(hx_solid_id id);

/* "tetrahedron" */
const char *hx_cell_kind_name(hx_cell_kind kind);

/* A cell whose corners came in another numbering. */
typedef struct hx_renumbered {
    int32_t elem;
    int32_t corner[8]; /* as they came */
    int8_t face[6];    /* row of hx_hex_face now, of what was row f; -1: an edge or a point */
    int8_t mirrored;   /* it was inside out */
} hx_renumbered;

typedef struct hx_renumbered_list {
    int64_t n;
    hx_renumbered *cell; /* [n] ascending (owned) */
} hx_renumbered_list;

/* What hx_settle_cells met. */
typedef struct hx_settle_report {
    int64_t n_mirrored[HX_CELL_OTHER], first_mirrored; /* cells inside out, by kind; the first */
    int64_t bad; /* first element whose repeated nodes make no known solid, or -1 */
} hx_settle_report;

/* Gives the collapsed cells of a raw mesh the numbering above, whatever theirs was: bricks with
 * repeated nodes, LS-DYNA's tetrahedra (0 1 2 3 3 3 3 3), and mirrored ones where the volume says
 * so. Wedges that are no prisms are turned about their height. With a bad element nothing is
 * changed. O(n_elem); 64 bytes a changed cell. HX_ENOMEM. */
int hx_settle_cells(hx_mesh *mesh, hx_renumbered_list *list, hx_settle_report *report);

/* The entry of that element, or NULL. O(log n). */
const hx_renumbered *hx_find_renumbered(const hx_renumbered_list *list, int64_t elem);

/* Accepts a zeroed list. */
void hx_renumbered_free(hx_renumbered_list *list);

/* Says how many cells were inside out, if any; wedges at that level. */
int hx_note_mirrored(const hx_mesh *mesh, const hx_settle_report *report, hx_note_level of_wedges,
                     hx_notes *notes);

/* hx_mesh_check_mended of the cells that were inside out: those of the list, and what
 * hx_mesh_mend_order gave another order[n_elem] (NULL: nothing). */
int hx_check_mended(const hx_mesh *mesh, const hx_renumbered_list *list, const uint8_t *order);

/* HX_EINPUT: says what is wrong with the element that hx_settle_cells could not take. */
int hx_refuse_cell(const hx_mesh *mesh, int64_t elem);

#ifdef __cplusplus
}
#endif

#endif
