/* Solid elements of mesh files: tetrahedra, wedges, pyramids and hexahedra of first and second
 * order, and their conversion to collapsed hexahedra (cell.h) in a standard numbering: tetrahedra
 * (0 1 2 2 3 3 3 3), wedges (0 1 2 2 3 4 5 5), pyramids (0 1 2 3 4 4 4 4), with 0 1 2 (3)
 * counter-clockwise seen from the other corners. In wedges that are not prisms, the shortest edge
 * along the height goes from 2 to 5. Not installed. */
#ifndef HX_SOLID_H
#define HX_SOLID_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

enum { HX_SOLID_NODES = 27, HX_SOLID_CORNERS = 8 };

/* Orders of nodes that formats use. All of them number corners in the same way, except for VTK's
 * wedge of first order, whose two triangles have the opposite orientation. Nodes on edges come in
 * VTK's order (also that of Abaqus, CalculiX and ANSYS) or in Gmsh's; the order of nodes on faces
 * and inside depends on the format. */
typedef enum {
    HX_SOLID_HEX8, /* comes first, since it is the value in a zeroed array */
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
    /* For node n_corner + i: the corners (bit k: corner k) in whose middle it lies; two corners are
     * the ends of its edge. */
    uint8_t middle_of[HX_SOLID_NODES - 5];
} hx_solid;

extern const hx_solid hx_solids[HX_N_SOLID_ID];

/* Index in node[0 .. n_node) of each corner of the collapsed hexahedron. */
const int *hx_solid_corners(hx_solid_id id);

/* The solid of first order as which a cell of a mesh is written. A collapsed cell that does not
 * have the numbering above is written as HX_SOLID_HEX8 with repeated nodes. */
hx_solid_id hx_solid_of_cell(const int32_t conn[8]);

/* Lists the corners in whose middle node k after the corners lies, for an element whose collapsed
 * hexahedron is conn[8]; returns their number. */
int hx_solid_middle(hx_solid_id id, int k, const int32_t conn[8], int32_t corner[HX_SOLID_CORNERS]);

/* Statistics of nodes of second order, for one line of the log. */
typedef struct hx_middle_survey {
    /* total number; number of nodes farther than a hundredth of the edge from its middle */
    int64_t n, n_off;
    int64_t worst_number;
    double worst; /* largest distance from the middle, relative to the edge */
} hx_middle_survey;

/* Counts the node of that number at x, in the middle of corner[n] (indices into xyz). */
void hx_survey_middle(hx_middle_survey *survey, int64_t number, const double x[3],
                      const double *xyz, int n, const int32_t *corner);

/* Returns 1 if an edge is curved, so that the mesh keeps the middles. */
int hx_survey_is_curved(const hx_middle_survey *survey);
int hx_note_middles(const hx_middle_survey *survey, const char *path, hx_notes *notes);

/* For a solid of first order: the corner of the collapsed hexahedron at each node. */
const int *hx_solid_nodes(hx_solid_id id);

/* "tetrahedron" */
const char *hx_cell_kind_name(hx_cell_kind kind);

/* A cell whose corners had another numbering in the file. */
typedef struct hx_renumbered {
    int32_t elem;
    int32_t corner[8]; /* corners as they were in the file */
    /* face[f]: row of hx_hex_face that row f has become; -1: the face is an edge or a point */
    int8_t face[6];
    int8_t mirrored; /* it was inverted */
} hx_renumbered;

typedef struct hx_renumbered_list {
    int64_t n;
    hx_renumbered *cell; /* [n] ascending (owned) */
} hx_renumbered_list;

/* Result of hx_normalize_cells. */
typedef struct hx_normalize_report {
    /* number of inverted cells of each kind; the first of them */
    int64_t n_mirrored[HX_CELL_OTHER], first_mirrored;
    int64_t bad; /* first element whose repeated nodes form no known solid, or -1 */
} hx_normalize_report;

/* Gives the collapsed cells of a raw mesh the numbering above, whatever numbering they had: bricks
 * with repeated nodes, LS-DYNA's tetrahedra (0 1 2 3 3 3 3 3), and inverted cells, which are
 * recognized by their volume. Wedges that are not prisms are turned about their height. If there is
 * a bad element, nothing is changed. O(n_elem); 64 bytes per changed cell. HX_ENOMEM. */
int hx_normalize_cells(hx_mesh *mesh, hx_renumbered_list *list, hx_normalize_report *report);

/* Returns the entry of that element, or NULL. O(log n). */
const hx_renumbered *hx_find_renumbered(const hx_renumbered_list *list, int64_t elem);

/* Accepts a zeroed list. */
void hx_renumbered_free(hx_renumbered_list *list);

/* Notes how many cells were inverted, if any. For wedges, the note has the level of_wedges. */
int hx_note_mirrored(const hx_mesh *mesh, const hx_normalize_report *report,
                     hx_note_level of_wedges, hx_notes *notes);

/* Applies hx_mesh_check_repaired to the cells that were inverted: the cells of the list, and those
 * to which hx_mesh_repair_order gave another order[n_elem] (NULL: none). */
int hx_check_repaired(const hx_mesh *mesh, const hx_renumbered_list *list, const uint8_t *order);

/* Returns HX_EINPUT with the reason why hx_normalize_cells could not convert the element. */
int hx_refuse_cell(const hx_mesh *mesh, int64_t elem);

#endif
