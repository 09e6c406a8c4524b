/* Marks cells of a grid and the cells near them. */
#ifndef HX_CELL_MARKS_H
#define HX_CELL_MARKS_H

#include <stdint.h>

#include "../base/c_linkage.h"

HX_C_BEGIN

/* Widens the marks of mark[n[0] n[1] n[2]], x fastest: a cell becomes 1 if a marked cell is at most
 * width[i] cells away along each axis. O(cells). */
void hx_cell_marks_widen(uint8_t *mark, const int64_t n[3], const int64_t width[3]);

/* Number of cells that a length may reach, for cells of a given size. */
int64_t hx_cell_marks_reach(double length, double size);

HX_C_END

#endif
