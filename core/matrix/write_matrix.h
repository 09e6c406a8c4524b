/* Writes matrices, vectors and lists of unknowns to files for other programs: Matrix Market text
 * (.mtx), PETSc binary files (.petsc), SciPy and NumPy archives (.npz), by the extension of the
 * name.
 *
 * Files are written as a set: they get their names when all of them are complete. Before the first
 * byte is written, free disk space is checked for all of them. An existing file is replaced only if
 * it has the format of its name. Errors of all functions are HX_EINPUT (an unknown extension, an
 * existing file of another kind, or a size that exceeds the format), HX_EIO (no space, or an error
 * of the system) and HX_ENOMEM. Encoding and writing use all threads. */
#ifndef HX_WRITE_MATRIX_H
#define HX_WRITE_MATRIX_H

#include <stdint.h>

#include "../base/atomic_file.h"

HX_C_BEGIN

/* The entries of a symmetric matrix in a file, including the diagonal. */
typedef enum { HX_HALF_BOTH, HX_HALF_LOWER, HX_HALF_UPPER } hx_half;

typedef struct hx_matrix_shape {
    int64_t n_row, n_entry; /* square; n_entry as written: only those of the half */
    hx_half half;           /* BOTH, or the half of the format */
    int wide;               /* 1: uses 64-bit indices even if 32 bits suffice (.npz) */
    /* upper bound of the digits of the rows and columns of all entries, counted from 1; 0: unknown
     * (used only to predict the size of .mtx) */
    int64_t n_digit;
} hx_matrix_shape;

/* Rows first .. first + n - 1, in order: entries ptr[i] .. ptr[i + 1] of row first + i, columns
 * ascending. */
typedef struct hx_csr_rows {
    int64_t first, n;
    const int64_t *ptr; /* [n + 1], starting at 0 */
    const int32_t *col; /* [ptr[n]] */
    const double *value;
} hx_csr_rows;

typedef struct hx_matrix_format {
    const char *ending, *name; /* ".mtx", "Matrix Market" */
    const char *load;          /* command that reads the file, one line; %s is the file name */
    hx_half half;              /* half of a symmetric matrix that a file contains */
    int64_t most_entries;      /* largest number of entries */
} hx_matrix_format;

/* Finds the format by the extension of the name. */
int hx_matrix_format_find(const char *path, const hx_matrix_format **format);

/* Checks that a file of this name can be written: extension, existing file, folder. Writes nothing.
 * Commands call it before they start long work. */
int hx_write_check(const char *path);

/* Predicts the bytes of a file of this name. The result is exact, except in .mtx for K and for
 * columns that are not known yet: there it is an upper bound of 25 bytes per value, whereas a value
 * with all its digits takes 22 on average. */
int hx_matrix_bytes_of(const char *path, const hx_matrix_shape *shape, int64_t *bytes);
/* column: NULL: not known yet. */
int hx_columns_bytes_of(const char *path, const char *name, int64_t n, int n_column,
                        const double *const *column, int64_t *bytes);
int hx_held_bytes_of(const char *path, int64_t n_row, int64_t n, const int32_t *index,
                     const double *value, int64_t *bytes);
int hx_numbers_bytes_of(const char *path, const char *name, int64_t n, const int32_t *number,
                        int64_t *bytes);

typedef struct hx_write_set hx_write_set;

typedef struct hx_write_entry {
    const char *path; /* NULL: no file */
    int64_t bytes;    /* upper bound */
} hx_write_entry;

/* Opens n files under temporary names, and removes leftovers of a killed process. HX_EIO: together
 * they need more than the free space of a disk. is_cancelled: called for each block, in any thread;
 * if it returns nonzero, writing fails; NULL: never. The caller frees *set, also after a
 * failure. */
int hx_write_set_open(hx_write_set **set, int n, const hx_write_entry *entry,
                      int (*is_cancelled)(void *context), void *context);
/* Gives all files their names, once all are complete; the last file first. */
int hx_write_set_commit(hx_write_set *set);
/* Removes files that were not committed; accepts NULL. */
void hx_write_set_free(hx_write_set *set);

typedef struct hx_matrix_writer hx_matrix_writer;

/* Writes file k of the set. Rows arrive in order, in ranges of any length, which do not affect the
 * file. The caller frees *writer before the set, also after a failure. */
int hx_matrix_writer_open(hx_matrix_writer **writer, hx_write_set *set, int k,
                          const hx_matrix_shape *shape);
int hx_matrix_writer_rows(hx_matrix_writer *writer, const hx_csr_rows *rows);
/* HX_EINTERNAL: rows or entries are missing. */
int hx_matrix_writer_close(hx_matrix_writer *writer);
/* Accepts NULL. */
void hx_matrix_writer_free(hx_matrix_writer *writer);

/* Writes column[n_column][n] as a dense matrix. .mtx and .npz (array `name`) contain an n x
 * n_column matrix; .petsc contains one vector per column, one after the other. */
int hx_write_columns(hx_write_set *set, int k, const char *name, int64_t n, int n_column,
                     const double *const *column);

/* Writes the numbers of some of n_row unknowns, ascending, and a value of each. .mtx: a sparse
 * column with an entry for each, numbers from 1; .petsc: an index set, then a vector; .npz: arrays
 * `index` and `value`. */
int hx_write_held(hx_write_set *set, int k, int64_t n_row, int64_t n, const int32_t *index,
                  const double *value);

/* Writes a list of numbers. .mtx: a dense column, numbers from 1; .petsc: an index set; .npz: the
 * array `name`. */
int hx_write_numbers(hx_write_set *set, int k, const char *name, int64_t n, const int32_t *number);

HX_C_END

#endif
