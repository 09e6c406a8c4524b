/* One cell of each kind of solid, with its corners in every order that its own rotations allow, by
 * every rotation of the collapsed hexahedron. Nodes keep their numbers, so that results can be
 * compared entry by entry. */
#ifndef HX_TEST_NUMBERED_CELL_H
#define HX_TEST_NUMBERED_CELL_H

#include "fixture.h"
#include "mixed_mesh.h"

enum { NUMBERED_MOST = 24 };

static const char *const numbered_name[HX_N_SOLID] = {"hexahedron", "wedge", "pyramid",
                                                      "tetrahedron"};
static const int numbered_corners[HX_N_SOLID] = {8, 6, 5, 4};

/* Corners of the collapsed hexahedron, as in cell.h. */
static const int numbered_place[HX_N_SOLID][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                                  {0, 1, 2, 2, 3, 4, 5, 5},
                                                  {0, 1, 2, 3, 4, 4, 4, 4},
                                                  {0, 1, 2, 2, 3, 3, 3, 3}};

/* Corners of solids with plane faces whose opposite faces are not parallel copies: frusta of an
 * oblique quadrilateral and of a triangle, that quadrilateral with an apex, four points. */
static const double numbered_xyz[HX_N_SOLID][8][3] = {
    {{0.0, 0.0, 0.0},
     {2.0, 0.1, 0.22},
     {1.7, 1.3, 0.43},
     {0.2, 1.1, 0.24},
     {0.5, 0.3, 1.1},
     {1.7, 0.36, 1.232},
     {1.52, 1.08, 1.358},
     {0.62, 0.96, 1.244}},
    {{0.0, 0.0, 0.0},
     {2.0, 0.1, 0.2},
     {0.2, 1.1, 0.3},
     {0.5, 0.3, 1.1},
     {1.7, 0.36, 1.22},
     {0.62, 0.96, 1.28}},
    {{0.0, 0.0, 0.0}, {2.0, 0.1, 0.22}, {1.7, 1.3, 0.43}, {0.2, 1.1, 0.24}, {0.7, 0.4, 1.4}},
    {{0.0, 0.0, 0.0}, {2.0, 0.1, 0.2}, {0.2, 1.1, 0.3}, {0.7, 0.4, 1.4}}};

/* Rotation `number` of a tetrahedron, the even permutations of its corners. Returns 0 after the
 * last. */
static inline int numbered_tetrahedron(int number, int turn[8])
{
    static const int even[12][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 0, 3, 2},
                                    {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 1, 3, 0},
                                    {2, 3, 0, 1}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 2, 1, 0}};
    for (int a = 0; number < 12 && a < 4; a++) turn[a] = even[number][a];
    return number < 12;
}

/* Corner a becomes turn[a]: rotation `number` of a solid. Returns 0 after the last. */
static inline int numbered_turn(hx_cell_kind kind, int number, int turn[8])
{
    switch (kind) {
    case HX_CELL_HEXAHEDRON:
        if (number < 24) mixed_rotation(number, turn);
        return number < 24;
    case HX_CELL_WEDGE: /* rotations about its axis, and upside down */
        for (int a = 0; a < 3; a++) {
            const int at = number < 3 ? (a + number) % 3 : (6 - a + number) % 3;
            turn[a] = number < 3 ? at : 3 + at;
            turn[3 + a] = number < 3 ? 3 + at : at;
        }
        return number < 6;
    case HX_CELL_PYRAMID:
        for (int a = 0; a < 4; a++) turn[a] = (a + number) % 4;
        turn[4] = 4;
        return number < 4;
    default:
        return numbered_tetrahedron(number, turn);
    }
}

/* Renames the corners of a cell: rotation `number` of its solid, and `other` of its hexahedron. */
static inline void numbered_rename(hx_cell_kind kind, int number, int other, const int32_t *from,
                                   int32_t conn[8])
{
    int turn[8], cube[8];
    (void)numbered_turn(kind, number, turn);
    mixed_rotation(other, cube);
    for (int a = 0; a < 8; a++) conn[a] = from[turn[numbered_place[kind][cube[a]]]];
}

/* The solid's own corners of a cell that is numbered as in cell.h. */
static inline hx_cell_kind numbered_own(const int32_t conn[8], int32_t own[8])
{
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    for (int a = 0; a < 8; a++) own[numbered_place[kind][a]] = conn[a];
    return kind;
}

/* Renames every cell of a raw mesh at random; seed 0 changes nothing. */
static inline void numbered_mesh(hx_mesh *mesh, uint64_t seed)
{
    uint64_t state = seed;
    for (int64_t e = 0; seed != 0 && e < mesh->n_elem; e++) {
        int turn[8], n = 0;
        int32_t own[8];
        const hx_cell_kind kind = numbered_own(mesh->conn + 8 * e, own);
        while (numbered_turn(kind, n, turn)) n++;
        const int number = (int)(n * hx_random_unit(hx_random_next(&state)));
        const int other = (int)(24.0 * hx_random_unit(hx_random_next(&state)));
        numbered_rename(kind, number, other, own, mesh->conn + 8 * e);
    }
}

#endif
