/* Cells of a grid that are marked, and those near them. */
#ifndef HX_CELL_MARKS_H
#define HX_CELL_MARKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* mark[n[0] n[1] n[2]], x fastest: 1 where it is 1 in a cell at most width[i] cells off along each
 * axis. O(cells). */
void hx_cell_marks_widen(uint8_t *mark, const int64_t n[3], const int64_t width[3]);

/* Cells that a length may reach, of cells of a size. */
int64_t hx_cell_marks_reach(double length, double size);

#ifdef __cplusplus
}
#endif

#endif
