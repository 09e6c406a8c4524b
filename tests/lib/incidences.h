/* Incidences that no mesh of hexahedra has: mixed cells, random ones, cells that repeat a point,
 * points in very many cells. */
#ifndef HX_TEST_INCIDENCES_H
#define HX_TEST_INCIDENCES_H

#include <stdlib.h>

#include "core/matrix/pattern.h"
#include "fixture.h"

/* Owns the arrays of `in`. */
typedef struct cells {
    hx_incidence in;
    int64_t *cell_ptr, *pair_ptr;
    int32_t *place_cell, *point;
} cells;

static inline void cells_alloc(cells *c, int64_t n_cell, int64_t most_place)
{
    c->cell_ptr = calloc((size_t)n_cell + 1, sizeof *c->cell_ptr);
    c->pair_ptr = calloc((size_t)n_cell + 1, sizeof *c->pair_ptr);
    c->place_cell = calloc((size_t)most_place + 1, sizeof *c->place_cell);
    c->point = calloc((size_t)most_place + 1, sizeof *c->point);
    if (!c->cell_ptr || !c->pair_ptr || !c->place_cell || !c->point) abort();
}

static inline void cells_free(cells *c)
{
    free(c->cell_ptr);
    free(c->pair_ptr);
    free(c->place_cell);
    free(c->point);
}

/* Cells with kinds[0], kinds[1], ... points in turn. The points of a cell are distinct and near
 * each other; some points are in many cells, and the last one is in none. n_point must be at least
 * 82. */
static inline cells cells_mixed(int64_t n_cell, int32_t n_point, int n_kind, const int *kinds)
{
    uint64_t state = 11;
    cells c;
    cells_alloc(&c, n_cell, n_cell * HX_MAX_CELL_POINT);
    for (int64_t cell = 0; cell < n_cell; cell++) {
        const int n = kinds[cell % n_kind];
        int32_t at = (int32_t)fixture_uniform(&state, 0.0, n_point - 1);
        c.cell_ptr[cell + 1] = c.cell_ptr[cell] + n;
        c.pair_ptr[cell + 1] = c.pair_ptr[cell] + n * n;
        for (int a = 0; a < n; a++) { /* steps add up to less than the number of points */
            at = (at + 1 + (int32_t)fixture_uniform(&state, 0.0, 3.0)) % (n_point - 1);
            c.point[c.cell_ptr[cell] + a] = at;
            c.place_cell[c.cell_ptr[cell] + a] = (int32_t)cell;
        }
    }
    c.in = (hx_incidence){.n_cell = n_cell,
                          .n_point = n_point,
                          .n_place = c.cell_ptr[n_cell],
                          .cell_ptr = c.cell_ptr,
                          .pair_ptr = c.pair_ptr,
                          .place_cell = c.place_cell,
                          .point = c.point};
    return c;
}

/* Like cells_mixed, with n points per cell and without pointers. */
static inline cells cells_uniform(int64_t n_cell, int32_t n_point, int n)
{
    cells c = cells_mixed(n_cell, n_point, 1, &n);
    c.in.n_per_cell = n;
    c.in.cell_ptr = NULL;
    c.in.pair_ptr = NULL;
    c.in.place_cell = NULL;
    return c;
}

/* Hexahedra of random points, so that a row has about 56 n_cell / n_point entries. */
static inline cells cells_random(int64_t n_cell, int32_t n_point)
{
    uint64_t state = 7;
    cells c = cells_uniform(n_cell, n_point, 8);
    for (int64_t k = 0; k < c.in.n_place; k++) {
        int taken;
        do {
            c.point[k] = (int32_t)fixture_uniform(&state, 0.0, n_point);
            taken = 0;
            for (int64_t other = k / 8 * 8; other < k; other++)
                taken |= c.point[other] == c.point[k];
        } while (taken);
    }
    return c;
}

/* Tetrahedra as hexahedra, corners 0, 1, 2, 2, 3, 3, 3, 3. */
static inline cells cells_collapsed(int64_t n_cell, int32_t n_point)
{
    static const int corner[8] = {0, 1, 2, 2, 3, 3, 3, 3};
    cells c = cells_uniform(n_cell, n_point, 8);
    for (int64_t cell = 0; cell < n_cell; cell++)
        for (int a = 7; a >= 0; a--) c.point[8 * cell + a] = c.point[8 * cell + corner[a]];
    return c;
}

/* Cells of n points that share point 0, and no other. */
static inline cells cells_star(int32_t n_cell, int n)
{
    cells c = cells_uniform(n_cell, (n - 1) * n_cell + HX_MAX_CELL_POINT * 4, n);
    c.in.n_point = (int64_t)(n - 1) * n_cell + 1;
    for (int32_t cell = 0; cell < n_cell; cell++)
        for (int a = 0; a < n; a++) c.point[n * cell + a] = a == 0 ? 0 : (n - 1) * cell + a;
    return c;
}

#endif
