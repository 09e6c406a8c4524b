/* Matrices, vectors and lists of unknowns as files that other programs read: Matrix Market text
 * (.mtx), PETSc's binary files (.petsc), SciPy's and NumPy's archives (.npz). The ending of the
 * name says which.
 *
 * Files are written as a set: they appear under their names when all of them are complete. Before
 * the first byte the space on the disks is checked for all, and that a file which has a name
 * already is one of the format: no other is replaced. Errors of all: HX_EINPUT: an ending that is
 * none of these, a file of another kind, a size that the format cannot count; HX_EIO: no space, or
 * what the system says; HX_ENOMEM. Work and writing run in all threads. */
#ifndef HX_WRITE_MATRIX_H
#define HX_WRITE_MATRIX_H

#include <stdint.h>

#include "../base/atomic_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which entries a file of a symmetric matrix has, its diagonal among them. */
typedef enum { HX_HALF_BOTH, HX_HALF_LOWER, HX_HALF_UPPER } hx_half;

typedef struct hx_matrix_shape {
    int64_t n_row, n_entry; /* square; n_entry as written: those of a half alone */
    hx_half half;           /* BOTH, or that of the format */
    int wide;               /* 1: 64-bit indices also where 32 bits would do (.npz) */
    int64_t n_digit; /* of the numbers of all entries' rows and columns, from 1, at most; 0: not
                        known (.mtx, to foretell its size) */
} hx_matrix_shape;

/* Rows first .. first + n - 1, in order: entries ptr[i] .. ptr[i + 1] of row first + i, columns
 * ascending. */
typedef struct hx_csr_rows {
    int64_t first, n;
    const int64_t *ptr; /* [n + 1] from 0 */
    const int32_t *col; /* [ptr[n]] */
    const double *value;
} hx_csr_rows;

typedef struct hx_matrix_format {
    const char *ending, *name; /* ".mtx", "Matrix Market" */
    const char *load;          /* how it is read, one line; %s is the file's name */
    hx_half half;              /* the half that a file of a symmetric matrix keeps */
    int64_t most_entries;      /* that it can count */
} hx_matrix_format;

/* The format that the name's ending says. */
int hx_matrix_format_find(const char *path, const hx_matrix_format **format);

/* A file of the name can be written: the ending, what is there already, the folder. Nothing is
 * written. For commands, before anything takes time. */
int hx_write_check(const char *path);

/* Bytes that a file of the name will have: exact, but in .mtx for K and for columns that are not
 * known: there at most, 25 a value, of which one with all its digits takes 22 on average. */
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
    const char *path; /* NULL: none */
    int64_t bytes;    /* at most */
} hx_write_entry;

/* Opens n files under temporary names; what a killed process left of them is removed. HX_EIO: what
 * they take together is more than a disk has left. is_cancelled: asked for each block that is
 * written, in any thread; what is written then fails; NULL: never. *set is the caller's to free,
 * also after a failure. */
int hx_write_set_open(hx_write_set **set, int n, const hx_write_entry *entry,
                      int (*is_cancelled)(void *context), void *context);
/* All are written: they take their names, the last of them first. */
int hx_write_set_commit(hx_write_set *set);
/* Removes what was not committed; accepts NULL. */
void hx_write_set_free(hx_write_set *set);

typedef struct hx_matrix_writer hx_matrix_writer;

/* File k of the set. Rows come in one after the other, in ranges of any length: the file is the
 * same. *writer is the caller's to free, before the set and also after a failure. */
int hx_matrix_writer_open(hx_matrix_writer **writer, hx_write_set *set, int k,
                          const hx_matrix_shape *shape);
int hx_matrix_writer_rows(hx_matrix_writer *writer, const hx_csr_rows *rows);
/* HX_EINTERNAL: rows or entries are missing. */
int hx_matrix_writer_close(hx_matrix_writer *writer);
/* Accepts NULL. */
void hx_matrix_writer_free(hx_matrix_writer *writer);

/* column[n_column][n] as a dense matrix: .mtx and .npz (array `name`) n x n_column, .petsc a vector
 * a column, one after the other. */
int hx_write_columns(hx_write_set *set, int k, const char *name, int64_t n, int n_column,
                     const double *const *column);

/* Numbers of some of n_row unknowns, ascending, and a value of each: .mtx a sparse column with an
 * entry each, numbers from 1; .petsc an index set, then a vector; .npz arrays `index` and
 * `value`. */
int hx_write_held(hx_write_set *set, int k, int64_t n_row, int64_t n, const int32_t *index,
                  const double *value);

/* A list of numbers: .mtx a dense column, from 1; .petsc an index set; .npz the array `name`. */
int hx_write_numbers(hx_write_set *set, int k, const char *name, int64_t n, const int32_t *number);

#ifdef __cplusplus
}
#endif

#endif
