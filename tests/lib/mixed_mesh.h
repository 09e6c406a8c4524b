/* Boxes of hexahedra, wedges, pyramids, tetrahedra, and of all of them, as collapsed hexahedra:
 * conforming meshes for tests of all rooms. */
#ifndef HX_TEST_MIXED_MESH_H
#define HX_TEST_MIXED_MESH_H

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/mesh/mesh.h"

typedef enum mixed_kind {
    MIXED_HEXAHEDRA,
    MIXED_WEDGES,       /* 2 per box cell, with triangles below and above */
    MIXED_PYRAMIDS,     /* 6 per box cell, around a node in its middle */
    MIXED_TETRAHEDRA,   /* 6 per box cell, all around one diagonal */
    MIXED_TETRAHEDRA_5, /* 5 per box cell, mirrored from cell to cell */
    /* repeated along z: hexahedra, pyramids (whose upper faces are two triangles, hence two
     * tetrahedra), tetrahedra, wedges, pyramids */
    MIXED_LAYERS,
    MIXED_N_KIND
} mixed_kind;

static const char *const mixed_name[MIXED_N_KIND] = {
    "hexahedra", "wedges", "pyramids", "tetrahedra", "tetrahedra, 5 a cell", "layers"};

/* Five layers in z have every kind of MIXED_LAYERS. */
typedef struct mixed_box {
    mixed_kind kind;
    int n[3];         /* box cells */
    double length[3]; /* 0: equal to the number of cells */
    /* largest fraction of a box cell by which inner, face and edge nodes move along these; 0.15
     * leaves every kind valid */
    double distort;
    uint64_t seed;
} mixed_box;

/* Corners of a box cell in VTK_HEXAHEDRON order; 8 is the node in its middle. */
enum { MIXED_CENTRE = 8, MIXED_MOST = 12 /* cells in a box cell: two tetrahedra at each face */ };

/* Cells under way. */
typedef struct mixed_cells {
    int32_t *conn;
    int64_t n_elem;
} mixed_cells;

/* Adds a cell with these corners, given as eight positions. */
static inline void mixed_put(mixed_cells *cells, const int32_t node[9], const int place[8])
{
    for (int a = 0; a < 8; a++) cells->conn[8 * cells->n_elem + a] = node[place[a]];
    cells->n_elem++;
}

static inline void mixed_put_tetrahedron(mixed_cells *cells, const int32_t node[9], const int p[4])
{
    const int place[8] = {p[0], p[1], p[2], p[2], p[3], p[3], p[3], p[3]};
    mixed_put(cells, node, place);
}

/* Pyramids from the centre to each face, two tetrahedra at a face that is cut along its diagonal
 * from the corner nearest to the origin; faces -z and +z as requested. */
static inline void mixed_put_pyramids(mixed_cells *cells, const int32_t node[9], const int cut[2])
{
    for (int f = 0; f < 6; f++) {
        const int *const out = hx_hex_face[f]; /* seen from the centre, reversed */
        const int base[4] = {out[0], out[3], out[2], out[1]};
        if (f >= 4 && cut[f - 4]) { /* their diagonal is 0 to 2, 4 to 6: places 0 and 2 of both */
            const int first[4] = {base[0], base[1], base[2], MIXED_CENTRE};
            const int second[4] = {base[0], base[2], base[3], MIXED_CENTRE};
            mixed_put_tetrahedron(cells, node, first);
            mixed_put_tetrahedron(cells, node, second);
            continue;
        }
        const int place[8] = {base[0],      base[1],      base[2],      base[3],
                              MIXED_CENTRE, MIXED_CENTRE, MIXED_CENTRE, MIXED_CENTRE};
        mixed_put(cells, node, place);
    }
}

static inline void mixed_put_wedges(mixed_cells *cells, const int32_t node[9])
{
    static const int wedge[2][8] = {{0, 1, 2, 2, 4, 5, 6, 6}, {0, 2, 3, 3, 4, 6, 7, 7}};
    for (int w = 0; w < 2; w++) mixed_put(cells, node, wedge[w]);
}

/* Tetrahedra along each path over edges from corner 0 to corner 6. */
static inline void mixed_put_tetrahedra(mixed_cells *cells, const int32_t node[9])
{
    static const int way[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                  {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
    for (int w = 0; w < 6; w++) mixed_put_tetrahedron(cells, node, way[w]);
}

static inline void mixed_put_five(mixed_cells *cells, const int32_t node[9], int mirrored)
{
    static const int corner[2][5][4] = {
        {{0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}, {0, 2, 7, 5}},
        {{1, 3, 0, 4}, {1, 2, 3, 6}, {1, 6, 4, 5}, {3, 4, 6, 7}, {1, 3, 4, 6}}};
    for (int t = 0; t < 5; t++) mixed_put_tetrahedron(cells, node, corner[mirrored][t]);
}

/* Kind of layer k; -1 for pyramids whose faces to tetrahedra and wedges are triangles. */
static inline int mixed_layer(const mixed_box *box, int k)
{
    static const int layer[5] = {MIXED_HEXAHEDRA, -1, MIXED_TETRAHEDRA, MIXED_WEDGES, -1};
    if (box->kind != MIXED_LAYERS) return box->kind;
    return layer[(k + 5) % 5];
}

static inline int mixed_has_triangles(const mixed_box *box, int k)
{
    return mixed_layer(box, k) == MIXED_TETRAHEDRA || mixed_layer(box, k) == MIXED_WEDGES;
}

static inline int32_t mixed_node(const mixed_box *box, int i, int j, int k)
{
    return (int32_t)((k * (box->n[1] + 1) + j) * (box->n[0] + 1) + i);
}

static inline void mixed_put_cell(const mixed_box *box, mixed_cells *cells, const int at[3],
                                  const int32_t node[9])
{
    static const int hexahedron[8] = {0, 1, 2, 3, 4, 5, 6, 7}, uncut[2] = {0, 0};
    const int cut[2] = {mixed_has_triangles(box, at[2] - 1), mixed_has_triangles(box, at[2] + 1)};
    switch (mixed_layer(box, at[2])) {
    case MIXED_HEXAHEDRA:
        mixed_put(cells, node, hexahedron);
        break;
    case MIXED_WEDGES:
        mixed_put_wedges(cells, node);
        break;
    case MIXED_TETRAHEDRA:
        mixed_put_tetrahedra(cells, node);
        break;
    case MIXED_TETRAHEDRA_5:
        mixed_put_five(cells, node, (at[0] + at[1] + at[2]) & 1);
        break;
    case MIXED_PYRAMIDS:
        mixed_put_pyramids(cells, node, uncut);
        break;
    default:
        mixed_put_pyramids(cells, node, cut);
    }
}

/* Nodes of the faces of the box stay in them. */
static inline void mixed_place_nodes(const mixed_box *box, double *xyz)
{
    uint64_t state = box->seed;
    for (int k = 0; k <= box->n[2]; k++)
        for (int j = 0; j <= box->n[1]; j++)
            for (int i = 0; i <= box->n[0]; i++)
                for (int d = 0; d < 3; d++) {
                    const int at[3] = {i, j, k}, n = box->n[d];
                    const double length = box->length[d] > 0.0 ? box->length[d] : n;
                    const double move =
                        box->distort * (2.0 * hx_random_unit(hx_random_next(&state)) - 1.0);
                    const int is_held = at[d] == 0 || at[d] == n;
                    xyz[3 * mixed_node(box, i, j, k) + d] =
                        is_held ? length * (at[d] / n) : length * (at[d] + move) / n;
                }
}

static inline void mixed_place_centre(const int32_t node[9], double *xyz)
{
    for (int d = 0; d < 3; d++) {
        double sum = 0.0;
        for (int a = 0; a < 8; a++) sum += xyz[3 * (int64_t)node[a] + d];
        xyz[3 * (int64_t)node[MIXED_CENTRE] + d] = 0.125 * sum;
    }
}

/* Names single nodes as sets, which fixture_determinate of fixture.h supports. */
static inline int mixed_name_corners(const mixed_box *box, hx_mesh *mesh)
{
    static const char *const name[4] = {"origin", "corner-x", "corner-y", "corner-z"};
    const int32_t node[4] = {0, mixed_node(box, box->n[0], 0, 0), mixed_node(box, 0, box->n[1], 0),
                             mixed_node(box, 0, 0, box->n[2])};
    for (int c = 0; c < 4; c++) HX_TRY(hx_mesh_add_node_set(mesh, name[c], 1, &node[c]));
    return HX_OK;
}

/* The raw mesh; the caller may shuffle, reorder and finish it. */
static inline int mixed_create(hx_mesh *mesh, const mixed_box *box)
{
    const int *const n = box->n;
    const int64_t n_corner = (int64_t)(n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    const int64_t n_cell = (int64_t)n[0] * n[1] * n[2];
    int64_t n_node = n_corner;
    double *const xyz = malloc((size_t)(n_corner + n_cell) * 3 * sizeof *xyz);
    mixed_cells cells = {malloc((size_t)n_cell * MIXED_MOST * 8 * sizeof *cells.conn), 0};
    if (!xyz || !cells.conn) abort();
    mixed_place_nodes(box, xyz);
    for (int64_t c = 0; c < n_cell; c++) {
        const int at[3] = {(int)(c % n[0]), (int)(c / n[0] % n[1]), (int)(c / n[0] / n[1])};
        const int layer = mixed_layer(box, at[2]);
        int32_t node[9];
        for (int a = 0; a < 8; a++)
            node[a] =
                mixed_node(box, at[0] + ((a + 1) >> 1) % 2, at[1] + (a >> 1) % 2, at[2] + (a >> 2));
        node[MIXED_CENTRE] = (int32_t)n_node;
        if (layer == MIXED_PYRAMIDS || layer == -1) {
            mixed_place_centre(node, xyz);
            n_node++;
        }
        mixed_put_cell(box, &cells, at, node);
    }
    HX_TRY(hx_mesh_create(mesh, mixed_name[box->kind], n_node, xyz, cells.n_elem, cells.conn));
    return mixed_name_corners(box, mesh);
}

/* Makes the mesh and finishes it, with nodes and elements in a random order. */
static inline int mixed_create_shuffled(hx_mesh *mesh, const mixed_box *box)
{
    HX_TRY(mixed_create(mesh, box));
    HX_TRY(hx_mesh_shuffle(mesh, 20 + box->seed));
    return hx_mesh_finish(mesh);
}

/* Rotation `number` (0 to 23) of a cube: corner a of a cell becomes its corner turn[a]. Corner 0
 * moves to each of the eight corners, and there are three rotations around the diagonal of each. */
static inline void mixed_rotation(int number, int turn[8])
{
    static const int next[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                   {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
    const int zero = number / 3;
    int axis[3], bits[8];
    for (int d = 0; d < 3; d++) axis[d] = next[zero][(d + number) % 3];
    for (int a = 0; a < 8; a++)
        bits[a] = (((a + 1) >> 1) & 1) | ((a >> 1) & 1) << 1 | (a >> 2) << 2;
    for (int a = 0; a < 8; a++) {
        int at = bits[zero];
        for (int d = 0; d < 3; d++)
            if (bits[a] >> d & 1) at ^= bits[zero] ^ bits[axis[d]];
        for (int b = 0; b < 8; b++)
            if (bits[b] == at) turn[a] = b;
    }
}

/* Rotates the numbering of every cell at random, before hx_mesh_finish and before face sets. */
static inline void mixed_turn(hx_mesh *mesh, uint64_t seed)
{
    uint64_t state = seed;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int turn[8];
        int32_t conn[8];
        mixed_rotation((int)(24.0 * hx_random_unit(hx_random_next(&state))), turn);
        for (int a = 0; a < 8; a++) conn[a] = mesh->conn[8 * e + turn[a]];
        memcpy(mesh->conn + 8 * e, conn, sizeof conn);
    }
}

#endif
