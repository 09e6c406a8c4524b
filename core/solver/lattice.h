/* Coarse spaces for any hex mesh: nested Cartesian lattices laid over it (auxiliary space; Xu,
 * Computing 56, 1996), whose cells and nodes exist where the mesh is.
 *
 * An element belongs to the cell of the finest lattice (level 0) that holds its centroid. A node of
 * the mesh takes its values from corners that all cells of its elements share: it has lattice
 * coordinates, its own ones inside a cell, moved onto the lattice plane where its elements lie on
 * both sides of it. So an element depends on the eight corners of its cell alone and a coarse
 * matrix has 27 blocks a row, whatever the mesh. That moving bends straight lines; rigid-body
 * motions stay exact because a lattice node carries a displacement and a rotation (6 degrees of
 * freedom), as the near null space asks for (Vanek, Mandel, Brezina, Computing 56, 1996):
 *
 *     u(x) = sum_j w_j (u_j + theta_j x (x - X_j) / unit),  w_j trilinear, sum_j w_j = 1.
 *
 * Level l + 1 has cells of 2 x 2 x 2 of level l. A direction of few cells stays as it is while
 * another has twice as many (hx_lattice_grid_mode): fewer would make a thin part too stiff. Two
 * cells of a direction become one, and on the next level the two layers of nodes of a single cell
 * become one layer, which stays: a wider cell would stand half empty, its far nodes all but
 * dependent on the near ones. Offsets (dx, dy, dz) in {-1, 0, 1}^3 are numbered (dz + 1) * 9 + (dy
 * + 1) * 3 + dx + 1; corners of a cell by the bits x = 1, y = 2, z = 4. */
#ifndef HX_LATTICE_H
#define HX_LATTICE_H

#include "../base/host_device.h"
#include "../mesh/mesh.h"
#include "../space/space.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_LATTICE_LEVELS = 16, HX_LATTICE_OFFSETS = 27 };
#define HX_LATTICE_CENTRE 13 /* the offset (0, 0, 0) */

/* Few motions are left on a lattice of so many nodes at most: the V-cycle visits the one below it
 * once. */
enum { HX_LATTICE_FEW = 1100 };

/* A direction from one level to the next: cells are halved in number; or two layers of nodes become
 * one; or there is one already; or several stay. */
typedef enum {
    HX_LATTICE_HALVE,
    HX_LATTICE_COLLAPSE,
    HX_LATTICE_KEEP,
    HX_LATTICE_STAY
} hx_lattice_mode;

/* Children of a node at place I lie at hx_lattice_stride * I + offset, offset in [low, high], with
 * weight 1/2 for offsets other than 0 when halved, else 1; their distance from it is offset -
 * centre steps of the finer level. */
static HX_HD int hx_lattice_stride(int mode)
{
    if (mode == HX_LATTICE_STAY) return 1;
    return mode == HX_LATTICE_HALVE ? 2 : 4; /* 4: the single place is 0, others are out of reach */
}
static HX_HD int hx_lattice_low(int mode)
{
    return mode == HX_LATTICE_HALVE ? -1 : 0;
}
static HX_HD int hx_lattice_high(int mode)
{
    return mode == HX_LATTICE_KEEP || mode == HX_LATTICE_STAY ? 0 : 1;
}
static HX_HD float hx_lattice_centre(int mode)
{
    return mode == HX_LATTICE_COLLAPSE ? 0.5f : 0.0f;
}
static HX_HD float hx_lattice_weight(int mode, int offset)
{
    return mode == HX_LATTICE_HALVE && offset != 0 ? 0.5f : 1.0f;
}

typedef struct hx_lattice_level {
    int64_t n_node, n_own; /* n_own: the first, whose rows are complete here; all of a whole one */
    int64_t n_all;         /* of all processes; n_node of a whole one */
    int64_t layer[3];      /* places along the axes */
    uint16_t *rank;        /* [n_node] under a window (mesh.h), until the level is shared out: the
                              lowest process with an element in a cell around it; else NULL */
    double step[3];        /* edges of a cell over `unit` */
    int32_t *place;        /* [n_node][3] along the axes, in cells; 0 where a direction collapsed */
    int mode[3];           /* hx_lattice_mode of each direction, from level - 1 */
    int32_t *neighbour;    /* [27][n_node] at each offset; the node itself where there is none */
    int32_t *child;        /* [27][n_node] child at an offset (modes above), or -1; NULL: level 0 */
    int32_t *parent;       /* [8][n_node] nodes of level + 1 whose values it takes, by corner of its
                              cell there; -1: weight 0; NULL on the last level */
    uint8_t *divided; /* [n_node] of a level in shares: 1 where other processes find parts of the
                         row too, or own it; else NULL */
    struct hx_level_share
        *share; /* of several processes' level (common_ops.h); NULL: a whole one */
} hx_lattice_level;

typedef struct hx_lattice {
    double origin[3], size[3]; /* of the lattice's corner and of a cell of level 0, length */
    double unit;               /* length that makes rotations displacements */
    double across;             /* elements across a cell of level 0, in the mean; see lattice.c */
    double across_next;        /* the same in the direction that has most but one */
    int n_level, n_shared;     /* n_shared: the first levels, that lie in shares */
    hx_lattice_level level[HX_LATTICE_LEVELS];

    int64_t n_cell;        /* of level 0 */
    int32_t *cell;         /* [n_cell][3] lattice coordinates */
    int32_t *cell_corner;  /* [n_cell][8] nodes of level 0 */
    int32_t *node_cell;    /* [8][n_node of level 0] cell whose corner c the node is, or -1 */
    int32_t *cell_elem;    /* [n_elem] by cell */
    int32_t *cell_elem_at; /* [n_cell + 1] */
    int32_t *cell_node;    /* [n_point] points of the space by their first element's cell */
    int32_t *cell_node_at; /* [n_cell + 1] */
    float *position;       /* [n_point][3] lattice coordinates of the space's points */
    int32_t *coloured;     /* [n_cell] cells by colour: those of one share no corner */
    int32_t colour_at[9];
} hx_lattice;

/* `coarsening` elements a cell and direction on the mean, more where elements are larger than that.
 * Levels end at `n_last` nodes or fewer. O(n_elem), the same for any number of threads. */
int hx_lattice_create(hx_lattice *lattice, const hx_mesh *mesh, double coarsening, int64_t n_last);
/* The same under the points of a space. Of a spline cells become larger until no function reaches
 * over more than two of them. */
int hx_lattice_create_under(hx_lattice *lattice, const hx_space *space, double coarsening,
                            int64_t n_last);

/* The first half of it, collective under a window (mesh.h): the finest lattice's cells and nodes,
 * counted, but nothing listed. */
typedef struct hx_lattice_draft hx_lattice_draft;
int hx_lattice_begin(hx_lattice_draft **draft, const hx_space *space, double coarsening);
void hx_lattice_draft_size(const hx_lattice_draft *draft, double *n_node, double *n_cell);
/* The second half: the same lattice as in one; takes the draft, also when it fails. Under a window
 * large levels, of more than `most_whole` nodes in all, are listed around own elements alone; the
 * last one never is. */
int hx_lattice_finish(hx_lattice *lattice, const hx_space *space, hx_lattice_draft *draft,
                      int64_t n_last, int64_t most_whole);
/* Accepts NULL. */
void hx_lattice_draft_free(hx_lattice_draft *draft);

/* Longest over shortest edge of the elements, in the mean of a sample. */
double hx_lattice_aspect(const hx_mesh *mesh);
/* Of a mesh above this nodes smooth in lines (multigrid_lines.c), and cells mind uneven layers. */
#define HX_LATTICE_STRETCHED 6.0

/* Nodes of the finest lattice and cells, estimated from the mesh alone (for memory). */
void hx_lattice_estimate(const hx_mesh *mesh, double coarsening, double *n_node, double *n_cell);

/* Accepts a zeroed struct. */
void hx_lattice_free(hx_lattice *lattice);

#ifdef __cplusplus
}
#endif

#endif
