/* A sparse matrix over the points of a pattern, on a device: storage formats and the device's
 * operations (hx_device_ops.matrix).
 *
 * Row r and entry k count in the pattern (row_ptr[r] + k), i and j within the block; unknown c
 * point + i. n_dof: c n_row rows, c n_point columns. */
#ifndef HX_MATRIX_H
#define HX_MATRIX_H

#include "fill.h"
#include "form.h"
#include "pattern.h"
#include "product_part.h"

HX_C_BEGIN

typedef enum {
    HX_FORMAT_BSR,  /* blocks row by row, each row-major, with the pattern's pointers and columns */
    HX_FORMAT_BSRS, /* sliced: 32 block rows interleaved, each slice as wide as its widest row */
    HX_FORMAT_CSR,  /* rows of single values */
    /* column-major: entry k of all rows is contiguous, all rows have the same width */
    HX_FORMAT_ELL,
    HX_FORMAT_COO, /* like csr, with the row of each value instead of pointers */
    HX_N_FORMAT
} hx_format;

enum { HX_SLICE = 32 };

/* "bsr", "bsr32-sliced" ..., for reports. */
const char *hx_format_name(hx_format format);

typedef struct hx_matrix_spec {
    hx_format format;
    /* the part of the pattern. Lower: bsr keeps whole diagonal blocks; csr, ell and coo keep only
     * values up to the diagonal */
    hx_part part;
    int single;     /* 1: values rounded to float; sums are in double precision */
    int components; /* 1 or 3 */
} hx_matrix_spec;

/* Passed to kernels by value. */
typedef struct hx_matrix {
    hx_matrix_spec spec;
    hx_device_pattern pattern; /* its arrays are borrowed and must outlive the matrix */
    int64_t n_value;           /* number of stored values, including padding */
    int width;                 /* ell: values per row */
    /* csr: [n_dof + 1] first value of a row. bsrs: [n_slice + 1] first block of a slice, including
     * padding. Otherwise NULL (owned, like the next three) */
    int64_t *d_ptr;
    int32_t *d_row; /* coo: [n_value]; otherwise NULL */
    /* csr, ell, coo: [n_value] unknowns. bsrs: [n_value / c^2] points. bsr: NULL, the pattern's are
     * used. Padding: value 0 and the row's own column */
    int32_t *d_col;
    void *d_value; /* [n_value] double or float; undefined until filled */
    void *plan;    /* plan of the device's products (owned by its table) */
} hx_matrix;

/* First value of row r in formats without padding and with contiguous rows. lower: the diagonal
 * blocks lack the values above the diagonal. */
static HX_HD int64_t hx_matrix_row_begin(const int64_t *row_ptr, int64_t r, int c, int lower)
{
    return row_ptr[r] * c * c - (lower ? r * (c * (c - 1) / 2) : 0);
}

/* Index in d_value of value (i, j) of entry k of row r, which has n entries; -1: not stored. */
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

/* Rows in host memory in one layout, whatever the matrix' format: blocks row by row, row-major, in
 * double precision. */
typedef struct hx_matrix_rows {
    int64_t first, n_row;
    int64_t *ptr;  /* [n_row + 1], starting at 0 (owned) */
    int32_t *col;  /* [ptr[n_row]] points (owned) */
    double *value; /* [ptr[n_row]][c][c] (owned) */
} hx_matrix_rows;

void hx_matrix_rows_free(hx_matrix_rows *rows);

/* The cells of some points in device memory: input for the rows of a mesh that is on the device as
 * a whole. The range's points are numbered from first_point in the order of the mesh. */
typedef struct hx_device_cut {
    int64_t n_cell, first_point, n_point;
    int32_t *d_cell;   /* [n_cell] numbers in the whole mesh, ascending (owned, like all) */
    int32_t *d_point;  /* [n_cell][points per cell] */
    double *d_modulus; /* [n_cell] */
} hx_device_cut;

/* Accepts a zeroed struct. */
void hx_device_cut_free(hx_device_cut *cut, hx_device *dev);

/* Operations of a device. Memory arguments are device memory; work is queued, and functions that
 * wait say "Waits". */
typedef struct hx_matrix_ops {
    /* bits (1u << hx_format) with products of full and of lower matrices */
    unsigned formats, lower_formats;
    unsigned single_formats; /* bits of formats that also store floats, full or lower as above */
    unsigned fills;          /* bits (1u << hx_fill) */
    unsigned builds;         /* bits (1u << hx_build) */
    int splines;             /* 1: HX_FILL_GATHER supports cells of splines */

    /* hx_pattern_build from arrays on the device. Waits. HX_EINPUT, HX_EENV like there, and if the
     * device lacks memory. Not performance-critical. */
    int (*pattern)(hx_device *dev, const hx_incidence *d_incidence, const hx_pattern_spec *spec,
                   hx_device_pattern *pattern, hx_steps *steps);

    /* P2's index stage: creates the arrays of m->spec's format from m->pattern, n_value and the
     * plan of the products, and allocates the values. After a failure the caller calls `destroy`,
     * which accepts a partial matrix. Waits. Not performance-critical. */
    int (*create)(hx_device *dev, hx_matrix *m);
    void (*destroy)(hx_device *dev, hx_matrix *m);

    /* Creates a fill of this matrix from this input, both of which must outlive it. *state holds
     * what it keeps between designs (lists, colours, the order of triplets). Waits. Not
     * performance-critical. */
    int (*fill_create)(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                       const hx_fill_input *d_input);
    /* Computes all values for the input's current modulus. Once per design. */
    int (*fill_run)(void *state);
    void (*fill_free)(void *state); /* accepts NULL */
    /* Device bytes of the fill. */
    size_t (*fill_bytes)(const void *state);
    /* Time of each step of its last run, if its steps are synchronous (fill.h); otherwise n = 0.
     * NULL: no fill has such steps. */
    void (*fill_steps)(const void *state, hx_steps *steps);
    /* Returns 0 if the fill does not read the pattern's slots, which may then be released. NULL: it
     * reads them. */
    int (*fill_reads_slots)(const void *state);

    /* y = A x, with each row summed in the order of its entries on any hardware; a lower matrix
     * represents the symmetric one. Only if all rows are present. Hot. */
    int (*multiply)(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y);
    /* Like `multiply`, and *d_sum = x'y in a fixed order. NULL: not supported. Hot. */
    int (*multiply_dot)(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                        double *d_sum);
    /* Prepares the products of a whole matrix to be divided into parts, given the interface points
     * point[n]; builds lists. NULL, as for the next entry: not supported. Waits. Not
     * performance-critical. */
    int (*divide)(hx_device *dev, hx_matrix *m, int64_t n, const int32_t *point);
    /* A part of y = A x; all parts together are bitwise the whole. Hot. */
    int (*multiply_part)(hx_device *dev, const hx_matrix *m, hx_product_part part,
                         const double *d_x, double *d_y);
    /* y = A x computed in double precision with float vectors; d_work: [2 n_dof]. NULL: not
     * supported. Hot. */
    int (*multiply_single)(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                           double *d_work);
    /* A part of multiply_single(); all parts use the same d_work. NULL: not supported. Hot. */
    int (*multiply_part_single)(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                const float *d_x, float *d_y, double *d_work);
    /* d_diag[n_dof]. Once per design. */
    int (*diagonal)(hx_device *dev, const hx_matrix *m, double *d_diag);
    /* Rows first .. first + n - 1, counted in the pattern. The caller frees *rows. Waits. */
    int (*rows)(hx_device *dev, const hx_matrix *m, int64_t first, int64_t n, hx_matrix_rows *rows);
    /* Device bytes of the plan. */
    size_t (*plan_bytes)(const hx_matrix *m);

    /* Creates a cutter, which extracts ranges from a mesh on the device that has n_per_cell points
     * in all cells (otherwise HX_EINPUT); the input must outlive it. Waits. O(n_cell). */
    int (*cutter_create)(void **cutter, hx_device *dev, const hx_fill_input *d_whole);
    /* Extracts the cells of points first .. first + n - 1. The caller frees *cut, also after a
     * failure. Waits. O(cells between the range's first and last in the mesh's order). */
    int (*cut)(void *cutter, int64_t first, int64_t n, hx_device_cut *cut);
    void (*cutter_free)(void *cutter); /* accepts NULL */
    /* Shifts the indices of a range to those of the whole: d_col[n] += first_point, d_ptr[n_row +
     * 1] += first_entry. */
    int (*shift)(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                 int64_t first_entry);

    /* Pinned host memory, for fast transfers. HX_ENOMEM. Not performance-critical. */
    int (*host_alloc)(hx_device *dev, size_t bytes, void *out);
    void (*host_release)(hx_device *dev, void *p); /* accepts NULL */
    /* Asynchronous download (`to` from host_alloc) that starts once the work queued so far has run.
     * Work that is queued later may run meanwhile and must not write d_from until fetch_wait of the
     * same slot, which waits. Slots 0 and 1. */
    int (*fetch)(hx_device *dev, int slot, void *to, const void *d_from, size_t bytes);
    int (*fetch_wait)(hx_device *dev, int slot);
} hx_matrix_ops;

/* Creates a matrix over a pattern on the device, which must outlive it. HX_EINPUT: a format whose
 * product the device does not support, or another part than the pattern's; HX_EENV: more than 32
 * bits can count. */
int hx_matrix_create(hx_matrix *m, hx_device *dev, const hx_device_pattern *pattern,
                     const hx_matrix_spec *spec);
/* Device bytes without the pattern. */
size_t hx_matrix_bytes(const hx_matrix *m, const hx_device *dev);
/* Accepts a zeroed struct. */
void hx_matrix_free(hx_matrix *m, hx_device *dev);

/* Estimates the device bytes of pattern (has_slots: including slots) and matrix for a mesh by
 * counting its neighbours. HX_ENOMEM. */
int hx_matrix_expected_bytes(const hx_incidence *incidence, const hx_matrix_spec *spec,
                             int has_slots, size_t *bytes);

HX_C_END

#endif
