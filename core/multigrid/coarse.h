/* Coarse grids (`coarse`) for multigrid on any hexahedral mesh: nested Cartesian grids laid over
 * the mesh (auxiliary space method; Xu, Computing 56, 1996), whose cells and nodes exist only where
 * the mesh is.
 *
 * An element belongs to the cell of the finest coarse grid (level 0) that contains its centroid. A
 * node of the mesh is interpolated from corners that the cells of all its elements have in common.
 * It has grid coordinates: its own inside a cell, and those of a grid plane in each direction in
 * which its elements lie on both sides of that plane. An element therefore depends on the eight
 * corners of its cell only, and a coarse matrix has 27 blocks per row for any mesh. Moving nodes
 * onto planes bends straight lines; rigid-body motions nevertheless stay exact, because a coarse
 * node carries a displacement and a rotation (6 degrees of freedom), as the near-null space
 * requires (Vanek, Mandel, Brezina, Computing 56, 1996):
 *
 *     u(x) = sum_j w_j (u_j + theta_j x (x - X_j) / unit),  w_j trilinear, sum_j w_j = 1.
 *
 * Level l + 1 has cells of 2 x 2 x 2 cells of level l. A direction with few cells is not coarsened
 * while another has many more (hx_coarse_grid_mode), because fewer cells would make a thin
 * part too stiff. Two cells of a direction become one. On the level below that, the two
 * layers of nodes of the single cell become one layer, which is kept: a wider cell would be half
 * empty, and its far nodes almost linearly dependent on the near ones. Offsets (dx, dy, dz) in
 * {-1, 0, 1}^3 are numbered (dz + 1) * 9 + (dy + 1) * 3 + dx + 1; corners of a cell by the bits x =
 * 1, y = 2, z = 4. */
#ifndef HX_COARSE_H
#define HX_COARSE_H

#include "../base/host_device.h"
#include "../mesh/mesh.h"
#include "../space/space.h"

HX_C_BEGIN

enum { HX_COARSE_LEVELS = 16, HX_COARSE_OFFSETS = 27 };
#define HX_COARSE_CENTRE 13 /* the offset (0, 0, 0) */

/* How a direction changes from one level to the next: the number of cells is halved; two layers of
 * nodes collapse into one; a single layer of nodes remains; several cells remain. */
typedef enum {
    HX_COARSE_HALVE,
    HX_COARSE_COLLAPSE,
    HX_COARSE_SINGLE,
    HX_COARSE_KEEP
} hx_coarse_mode;

/* The children of a node at place I are at hx_coarse_stride * I + offset, with offset in [low,
 * high]. Their weight is 1/2 for nonzero offsets if the direction is halved, and 1 otherwise. Their
 * distance from the node is offset - centre, in steps of the finer level. */
static HX_HD int hx_coarse_stride(int mode)
{
    if (mode == HX_COARSE_KEEP) return 1;
    /* 4: the only place is 0, and others are out of reach */
    return mode == HX_COARSE_HALVE ? 2 : 4;
}
static HX_HD int hx_coarse_low(int mode)
{
    return mode == HX_COARSE_HALVE ? -1 : 0;
}
static HX_HD int hx_coarse_high(int mode)
{
    return mode == HX_COARSE_SINGLE || mode == HX_COARSE_KEEP ? 0 : 1;
}
static HX_HD float hx_coarse_centre(int mode)
{
    return mode == HX_COARSE_COLLAPSE ? 0.5f : 0.0f;
}
static HX_HD float hx_coarse_weight(int mode, int offset)
{
    return mode == HX_COARSE_HALVE && offset != 0 ? 0.5f : 1.0f;
}

typedef struct hx_coarse_level {
    /* number of nodes listed here; n_own: the first of them, whose rows are complete on this rank
     * (all nodes of a replicated level) */
    int64_t n_node, n_own;
    int64_t n_all;    /* number of nodes on all ranks; n_node for a replicated level */
    int64_t layer[3]; /* number of node places along the axes */
    /* [n_node] for a distributed mesh (mesh.h), until the level is distributed: lowest rank with an
     * element in a cell around the node; otherwise NULL */
    uint16_t *rank;
    double step[3]; /* edges of a cell divided by `unit` */
    int32_t *place; /* [n_node][3] along the axes, in cells; 0 in directions that have collapsed */
    int mode[3];    /* hx_coarse_mode of each direction, coming from level - 1 */
    int32_t *neighbour; /* [27][n_node] node at each offset; the node itself if there is none */
    int32_t *child; /* [27][n_node] child at each offset (modes above), or -1; NULL on level 0 */
    /* [8][n_node] nodes of level + 1 that the node is interpolated from, by corner of its cell
     * there; -1: weight 0; NULL on the last level */
    int32_t *parent;
    /* [n_node] for a distributed level: 1 if other ranks contribute to the row or own it; otherwise
     * NULL */
    uint8_t *divided;
    struct hx_local_level
        *local; /* data of a distributed level (interface_ops.h); NULL: the level is replicated */
} hx_coarse_level;

typedef struct hx_coarse {
    /* position of the grid's corner, and edges of a cell of level 0, in units of length */
    double origin[3], size[3];
    double unit; /* length by which rotations are scaled to displacements */
    /* mean number of elements across a cell of level 0, in the direction with the most
     * (coarse_size.c) */
    double across;
    double across_next;    /* mean number in the direction with the second most */
    int n_level, n_shared; /* n_shared: number of distributed levels, which come first */
    hx_coarse_level level[HX_COARSE_LEVELS];

    int64_t n_cell;        /* number of cells of level 0 */
    int32_t *cell;         /* [n_cell][3] grid coordinates */
    int32_t *cell_corner;  /* [n_cell][8] nodes of level 0 */
    int32_t *node_cell;    /* [8][n_node of level 0] cell whose corner c is the node, or -1 */
    int32_t *cell_elem;    /* [n_elem] elements sorted by cell */
    int32_t *cell_elem_at; /* [n_cell + 1] */
    /* [n_point] points of the space, sorted by the cell of their first element */
    int32_t *cell_node;
    int32_t *cell_node_at; /* [n_cell + 1] */
    float *position;       /* [n_point][3] grid coordinates of the points of the space */
    int32_t *coloured; /* [n_cell] cells sorted by colour; cells of one colour share no corner */
    int32_t colour_at[9];
} hx_coarse;

struct hx_mg_params; /* mg_params.h */

/* `coarsening`: mean number of elements across a cell in each direction; cells are larger if some
 * elements are. params: sizes of cells and the
 * rules for thin directions; they must outlive the draft. Coarsening stops at n_last nodes or
 * fewer. O(n_elem); the result does not depend on
 * the number of threads. */
int hx_coarse_create(hx_coarse *coarse, const hx_mesh *mesh, const struct hx_mg_params *params,
                     double coarsening, int64_t n_last);
/* hx_coarse_create for the points of a space. For a spline, cells are enlarged until no basis
 * function extends over more than two of them in any direction. */
int hx_coarse_create_under(hx_coarse *coarse, const hx_space *space,
                           const struct hx_mg_params *params, double coarsening, int64_t n_last);

/* First half of hx_coarse_create_under: determines the cells and nodes of the finest coarse grid
 * and counts them, but makes no lists. Collective on a distributed mesh (mesh.h). */
typedef struct hx_coarse_draft hx_coarse_draft;
int hx_coarse_begin(hx_coarse_draft **out, const hx_space *space, const struct hx_mg_params *params,
                    double coarsening);
void hx_coarse_draft_size(const hx_coarse_draft *draft, double *n_node, double *n_cell);
/* Second half, with the same result as hx_coarse_create_under. Takes ownership of the draft, also
 * if it fails. On a distributed mesh, levels with more than `most_whole` nodes in all are listed
 * only around this rank's own elements; the last level is always complete. */
int hx_coarse_finish(hx_coarse *coarse, const hx_space *space, hx_coarse_draft *draft,
                     int64_t n_last, int64_t most_whole);
/* Accepts NULL. */
void hx_coarse_draft_free(hx_coarse_draft *draft);

/* Longest over shortest edge of the elements, averaged over a sample. */
double hx_coarse_aspect(const hx_mesh *mesh, const struct hx_mg_params *params);

/* Estimates the numbers of nodes and cells of the finest coarse grid from the mesh (for memory
 * estimates). */
void hx_coarse_estimate(const hx_mesh *mesh, const struct hx_mg_params *params, double coarsening,
                        double *n_node, double *n_cell);

/* Accepts a zeroed struct. */
void hx_coarse_free(hx_coarse *coarse);

HX_C_END

#endif
