/* Internals of the CPU's matrices (matrix.h). */
#ifndef HX_MATRIX_CPU_H
#define HX_MATRIX_CPU_H

#include "../../matrix/matrix.h"

/* matrix_fill_cpu.c */
int hx_cpu_fill_create(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                       const hx_fill_input *d_input);
int hx_cpu_fill_run(void *state);
void hx_cpu_fill_free(void *state);
size_t hx_cpu_fill_bytes(const void *state);
void hx_cpu_fill_steps(const void *state, hx_steps *steps);

/* Bytes of gather's lists for all rows; 0 if there is not enough memory to count them.
 * O(n_place). */
size_t hx_cpu_fill_expected(const hx_incidence *incidence);

/* Tiles of the pairs (a, b) of corners, b = 0..7: entry (i, j) at tile[3 i + j][b]; for heat
 * conduction, at tile[0][b]. */
enum { HX_CELL_LANES = 8 };
typedef struct hx_cpu_tiles {
    double tile[9][HX_CELL_LANES];
} hx_cpu_tiles;

/* Computes rows[a] for each corner a in the bit set `corners` of the hexahedron x[8][3]
 * (matrix_cells_cpu.c). */
void hx_cpu_cell_tiles(const hx_form *form, const double x[24], double modulus, unsigned corners,
                       hx_cpu_tiles rows[8]);

/* Adds the tiles of a quadratic cell to the rows of its points in first .. end - 1
 * (matrix_points_cpu.c). */
void hx_cpu_add_points(const hx_matrix *m, const hx_fill_input *input, int64_t cell, int64_t first,
                       int64_t end);

/* Does the same for the cells of a spline (matrix_spline_cpu.c). */
void hx_cpu_add_spline(const hx_matrix *m, const hx_fill_input *input, int64_t e, int64_t first,
                       int64_t end);

/* The fills `triplets` and `sort` (matrix_sort_cpu.c). */
typedef struct hx_cpu_sort hx_cpu_sort;
int hx_cpu_sort_create(hx_cpu_sort **sort, const hx_matrix *m, const hx_fill_input *input,
                       int kept);
int hx_cpu_sort_run(hx_cpu_sort *sort);
void hx_cpu_sort_steps(const hx_cpu_sort *sort, hx_steps *steps);
void hx_cpu_sort_free(hx_cpu_sort *sort);
size_t hx_cpu_sort_bytes(const hx_cpu_sort *sort);

/* The product of a lower bsr matrix (matrix_lower_cpu.c). */
int hx_cpu_lower_create(const hx_matrix *m, void **plan);
void hx_cpu_lower_multiply(const hx_matrix *m, const double *x, double *y);
size_t hx_cpu_lower_bytes(const hx_matrix *m);
void hx_cpu_lower_free(void *plan);
/* Bytes that the plan of that product will take; 0 if there is not enough memory to count them.
 * Takes as long as building the plan, on one thread. */
size_t hx_cpu_lower_expected(const hx_incidence *incidence, int components);

/* Device bytes of an operator that stores this matrix (matrix_cpu.c). */
size_t hx_cpu_matrix_expected(const hx_mesh *mesh, const hx_matrix_spec *spec);
size_t hx_cpu_space_expected(const hx_space *space, const hx_matrix_spec *spec);

/* matrix_cut_cpu.c */
int hx_cpu_cutter_create(void **out, hx_device *dev, const hx_fill_input *whole);
int hx_cpu_cut(void *cutter, int64_t first, int64_t n, hx_device_cut *cut);
void hx_cpu_cutter_free(void *cutter);
int hx_cpu_shift(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                 int64_t first_entry);

/* matrix_multiply_cpu.c */
int hx_cpu_matrix_multiply(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y);
int hx_cpu_matrix_multiply_dot(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                               double *d_sum);

int hx_cpu_matrix_multiply_single(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                                  double *d_work);

/* Index of number (0, 0) of entry k in a row of n entries; *stride: distance between rows of
 * numbers. For full and lower bsr and full csr. */
static inline int64_t hx_cpu_block(const hx_matrix *m, int64_t row, int n, int k, int *stride)
{
    const int c = m->spec.components;
    const int64_t first = m->pattern.d_row_ptr[row] * c * c;
    const int csr = m->spec.format == HX_FORMAT_CSR;
    *stride = csr ? c * n : c;
    return first + (csr ? c : c * c) * (int64_t)k;
}

#endif
