#include "cell_marks.h"

int64_t hx_cell_marks_reach(double length, double size)
{
    const double cells = length * (1.0 + 1e-9) / size;
    return cells < 1e9 ? (int64_t)cells + 1 : 1000000000;
}

/* Marks the cells of one line within `width` of a marked one. */
static void widen_line(uint8_t *mark, int64_t n, int64_t stride, int64_t width)
{
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) { /* a mark of 2 comes from a marked cell earlier in the line */
        if (mark[i * stride] == 1)
            last = i;
        else if (last >= 0 && i - last <= width)
            mark[i * stride] = 2;
    }
    last = -1;
    for (int64_t i = n - 1; i >= 0; i--) {
        if (mark[i * stride] == 1)
            last = i;
        else if (last >= 0 && last - i <= width)
            mark[i * stride] = 2;
    }
    for (int64_t i = 0; i < n; i++)
        if (mark[i * stride]) mark[i * stride] = 1;
}

/* Widens along x, y and z: a box around each cell. */
void hx_cell_marks_widen(uint8_t *mark, const int64_t n[3], const int64_t width[3])
{
    const int64_t stride[3] = {1, n[0], n[0] * n[1]};
    for (int axis = 0; axis < 3; axis++) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
#pragma omp parallel for schedule(static)
        for (int64_t line = 0; line < n[a] * n[b]; line++)
            widen_line(mark + line % n[a] * stride[a] + line / n[a] * stride[b], n[axis],
                       stride[axis], width[axis]);
    }
}
