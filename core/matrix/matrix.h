/* A sparse matrix over the points of a pattern, on a device: how its values lie, and what a device
 * does with it (hx_device_ops.matrix).
 *
 * Row r and entry k count in the pattern (row_ptr[r] + k), i and j within the block: unknown
 * c point + i. n_dof = c n_row rows, c n_point columns. */
#ifndef HX_MATRIX_H
#define HX_MATRIX_H

#include "fill.h"
#include "form.h"
#include "pattern.h"
#include "product_part.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_FORMAT_BSR,  /* blocks row by row, each row-major: pointers and columns are the pattern's */
    HX_FORMAT_BSRS, /* sliced: 32 block rows side by side, each slice as wide as its widest row */
    HX_FORMAT_CSR,  /* rows of numbers */
    HX_FORMAT_ELL,  /* column-major: entry k of all rows side by side, all rows equally wide */
    HX_FORMAT_COO,  /* as csr, with the row of each number in place of pointers */
    HX_N_FORMAT
} hx_format;

enum { HX_SLICE = 32 };

/* "bsr", "bsr32-sliced" ... for reports. */
const char *hx_format_name(hx_format format);

typedef struct hx_matrix_spec {
    hx_format format;
    hx_part part;   /* that of the pattern. Lower: bsr keeps diagonal blocks whole, csr, ell and coo
                       only numbers up to the diagonal */
    int single;     /* values rounded to float; sums are double */
    int components; /* 1 or 3 */
} hx_matrix_spec;

/* Also what kernels see of it, by value. */
typedef struct hx_matrix {
    hx_matrix_spec spec;
    hx_device_pattern pattern; /* its arrays are borrowed, and outlive the matrix */
    int64_t n_value;           /* stored, padding included */
    int width;                 /* ell: numbers of a row */
    int64_t *d_ptr; /* csr: [n_dof + 1] first number of a row. bsrs: [n_slice + 1] first block of a
                       slice, padding counted. Else NULL (owned, like the next three) */
    int32_t *d_row; /* coo: [n_value]; else NULL */
    int32_t *d_col; /* csr, ell, coo: [n_value] unknowns. bsrs: [n_value / c^2] points. bsr: NULL,
                       the pattern's. Padding: value 0 and the row's own column */
    void *d_value;  /* [n_value] double or float; undefined until filled */
    void *plan;     /* of the device's products (owned by its table) */
} hx_matrix;

/* First number of row r: all formats that store no padding and keep rows together. lower: whether
 * the diagonal blocks lack the numbers above the diagonal. */
static HX_HD int64_t hx_matrix_row_begin(const int64_t *row_ptr, int64_t r, int c, int lower)
{
    return row_ptr[r] * c * c - (lower ? r * (c * (c - 1) / 2) : 0);
}

/* Index in d_value of number (i, j) of entry k of row r, which has n entries; -1: not stored. */
static HX_HD int64_t hx_matrix_place(const hx_matrix *m, int64_t r, int n, int k, int i, int j)
{
    const int c = m->spec.components, lower = m->spec.part == HX_PART_LOWER;
    const int64_t n_dof = m->pattern.n_row * c;
    switch (m->spec.format) {
    case HX_FORMAT_BSR:
        return ((m->pattern.d_row_ptr[r] + k) * c + i) * c + j;
    case HX_FORMAT_BSRS:
        return (m->d_ptr[r / HX_SLICE] + (int64_t)HX_SLICE * k) * c * c + (i * c + j) * HX_SLICE +
               r % HX_SLICE;
    case HX_FORMAT_ELL:
        if (lower && k == n - 1 && j > i) return -1;
        return (int64_t)(c * k + j) * n_dof + c * r + i;
    default: /* csr, coo */
        if (lower && k == n - 1 && j > i) return -1;
        return hx_matrix_row_begin(m->pattern.d_row_ptr, r, c, lower) +
               (lower ? i * (c * (n - 1)) + i * (i + 1) / 2 : i * c * n) + c * k + j;
    }
}

/* Rows in the host's memory, in one form whatever the matrix' own: blocks row by row, row-major,
 * in double. */
typedef struct hx_matrix_rows {
    int64_t first, n_row;
    int64_t *ptr;  /* [n_row + 1] from 0 (owned) */
    int32_t *col;  /* [ptr[n_row]] points (owned) */
    double *value; /* [ptr[n_row]][c][c] (owned) */
} hx_matrix_rows;

void hx_matrix_rows_free(hx_matrix_rows *rows);

/* The cells of some points, in a device's memory: what rows of a mesh that lies there whole are
 * made from. Points are counted from first_point on, in the same order. */
typedef struct hx_device_cut {
    int64_t n_cell, first_point, n_point;
    int32_t *d_cell;   /* [n_cell] of the whole, ascending (owned, like all) */
    int32_t *d_point;  /* [n_cell][points of a cell] */
    double *d_modulus; /* [n_cell] */
} hx_device_cut;

/* Accepts a zeroed struct. */
void hx_device_cut_free(hx_device_cut *cut, hx_device *dev);

/* What a device does. Memory that an entry names is the device's; work is queued, and only what
 * says so waits. */
typedef struct hx_matrix_ops {
    unsigned formats, lower_formats; /* bit (1u << hx_format): multiplied in full, and as lower */
    unsigned single_formats;         /* kept as floats too, full or lower as above */
    unsigned fills;                  /* bit (1u << hx_fill) */
    unsigned builds;                 /* bit (1u << hx_build) */
    int splines;                     /* 1: gather takes the cells of splines too */

    /* hx_pattern_build from arrays on the device. Waits. HX_EINPUT, HX_EENV: as there, and where
     * the device lacks memory. Cold. */
    int (*pattern)(hx_device *dev, const hx_incidence *d_incidence, const hx_pattern_spec *spec,
                   hx_device_pattern *pattern, hx_steps *steps);

    /* P2's index stage: the arrays of m->spec's format from m->pattern, n_value, and the plan of
     * its products; values are allocated. On failure the caller calls `destroy`, which accepts a
     * half-made matrix. Waits. Cold. */
    int (*create)(hx_device *dev, hx_matrix *m);
    void (*destroy)(hx_device *dev, hx_matrix *m);

    /* A fill of this matrix from this input, which both outlive it: what it keeps from design to
     * design (lists, colours, the order of triplets) goes to *state. Waits. Cold. */
    int (*fill_create)(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                       const hx_fill_input *d_input);
    /* All values from the input's modulus as it is now. Once a design. */
    int (*fill_run)(void *state);
    void (*fill_free)(void *state); /* accepts NULL */
    /* Bytes on the device that it holds. */
    size_t (*fill_bytes)(const void *state);
    /* What its last run took, step by step, where its steps wait for each other (fill.h); else n =
     * 0. NULL: no fill does. */
    void (*fill_steps)(const void *state, hx_steps *steps);
    /* 0: it does not read the pattern's slots, which may be released. NULL: it does. */
    int (*fill_reads_slots)(const void *state);

    /* y = A x, in the order of the row, whatever runs it; a lower matrix stands for the symmetric
     * one. Only where all rows are there. Hot. */
    int (*multiply)(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y);
    /* The same, and *d_sum = x'y in a fixed order. NULL: the device has none. Hot. */
    int (*multiply_dot)(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                        double *d_sum);
    /* Makes the products of a whole matrix divisible by point[n], which other processes have too:
     * lists of its own. NULL, like the next: the device has none. Waits. Cold. */
    int (*divide)(hx_device *dev, hx_matrix *m, int64_t n, const int32_t *point);
    /* A part of y = A x; all are the whole to the bit. Hot. */
    int (*multiply_part)(hx_device *dev, const hx_matrix *m, hx_product_part part,
                         const double *d_x, double *d_y);
    /* y = A x in double from and to floats; d_work: [2 n_dof]. NULL: the device has none. Hot. */
    int (*multiply_single)(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                           double *d_work);
    /* A part of it, d_work the same in all parts. NULL: the device has none. Hot. */
    int (*multiply_part_single)(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                const float *d_x, float *d_y, double *d_work);
    /* d_diag[n_dof]. Once a design. */
    int (*diagonal)(hx_device *dev, const hx_matrix *m, double *d_diag);
    /* Rows first .. first + n - 1, counted in the pattern. *rows is the caller's to free. Waits. */
    int (*rows)(hx_device *dev, const hx_matrix *m, int64_t first, int64_t n, hx_matrix_rows *rows);
    /* Bytes of the plan. */
    size_t (*plan_bytes)(const hx_matrix *m);

    /* What cuts ranges from a mesh on the device that has n_per_cell points in all cells (else
     * HX_EINPUT); the input outlives it. Waits. O(n_cell). */
    int (*cutter_create)(void **cutter, hx_device *dev, const hx_fill_input *d_whole);
    /* The cells of points first .. first + n - 1. *cut is the caller's to free, also after a
     * failure. Waits. O(cells between the range's first and last in the mesh's order). */
    int (*cut)(void *cutter, int64_t first, int64_t n, hx_device_cut *cut);
    void (*cutter_free)(void *cutter); /* accepts NULL */
    /* A range counted as the whole does: d_col[n] += first_point, d_ptr[n_row + 1] += first_entry.
     */
    int (*shift)(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                 int64_t first_entry);

    /* Host memory that the device copies to fastest (pinned). HX_ENOMEM. Cold. */
    int (*host_alloc)(hx_device *dev, size_t bytes, void *out);
    void (*host_release)(hx_device *dev, void *p); /* accepts NULL */
    /* Download beside the queue (`to` from host_alloc), once what is queued so far has run;
     * what is queued after it may run meanwhile and must leave d_from alone until fetch_wait of
     * the same slot, which waits. Slots 0 and 1. */
    int (*fetch)(hx_device *dev, int slot, void *to, const void *d_from, size_t bytes);
    int (*fetch_wait)(hx_device *dev, int slot);
} hx_matrix_ops;

/* A matrix over a pattern on the device, which outlives it. HX_EINPUT: a format that the device
 * does not multiply, another part than the pattern's; HX_EENV: what 32 bits do not count. */
int hx_matrix_create(hx_matrix *m, hx_device *dev, const hx_device_pattern *pattern,
                     const hx_matrix_spec *spec);
/* Device bytes, the pattern left out. */
size_t hx_matrix_bytes(const hx_matrix *m, const hx_device *dev);
/* Accepts a zeroed struct. */
void hx_matrix_free(hx_matrix *m, hx_device *dev);

/* Device bytes of pattern (has_slots: slots included) and matrix that a mesh will have, from a
 * count of its neighbours. HX_ENOMEM. */
int hx_matrix_expected_bytes(const hx_incidence *incidence, const hx_matrix_spec *spec,
                             int has_slots, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
