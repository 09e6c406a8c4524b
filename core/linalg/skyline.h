/* Cholesky factorization of sparse symmetric positive semidefinite matrices within their envelope
 * (skyline), on the host: for the coarse grid that multigrid solves directly.
 *
 * Unknowns are grouped in blocks of HX_SKYLINE_BLOCK. The rows of a block reach from its own first
 * column to the last column of this or any earlier row, so that fill-in stays within the envelope.
 * If neighbours are w unknowns apart, the factors need 8 n w bytes, the factorization n w^2
 * operations, and a solve 4 n w. */
#ifndef HX_SKYLINE_H
#define HX_SKYLINE_H

#include <stdint.h>

#include "../base/c_linkage.h"

HX_C_BEGIN

enum { HX_SKYLINE_BLOCK = 6 };

typedef struct hx_skyline {
    int64_t n, n_block;
    int64_t *end; /* [n_block] end of the columns of each block's rows (exclusive) */
    int64_t *at;  /* [n_block + 1] index of each block's first entry */
    /* rows of each block one after the other, each starting at the block's first column */
    double *entry;
    double *scale;  /* [n] 1 / sqrt(diagonal), 0 if the diagonal is not positive */
    double *pivot;  /* [n] 1 / U[k][k], 0 if the row is left out */
    double *vector; /* [n] right-hand side, then solution */
} hx_skyline;

/* last[k] >= k: last column of row k in the upper triangle. All entries are set to 0. O(n). */
int hx_skyline_create(hx_skyline *s, int64_t n, const int64_t *last);
/* Number of entries and operations of the factorization; allocates nothing. */
void hx_skyline_cost(int64_t n, const int64_t *last, double *n_entry, double *n_operation);

/* Address of entry (row, column) of the upper triangle, row <= column, within the envelope. Within
 * a block's own rows and columns the lower triangle is stored too, but not read. */
static inline double *hx_skyline_entry(const hx_skyline *s, int64_t row, int64_t column)
{
    const int64_t b = row / HX_SKYLINE_BLOCK, first = b * HX_SKYLINE_BLOCK;
    return s->entry + s->at[b] + (row - first) * (s->end[b] - first) + column - first;
}

/* Sets all entries to 0, for another matrix. */
void hx_skyline_clear(hx_skyline *s);
/* Factorizes A + D = U'U in place, where D is `added` times the diagonal of A. The entries of A
 * have single precision, and their noise must stay below the shift D that makes the matrix positive
 * definite. Without noise, every pivot of a matrix with unit diagonal would be at least `added`;
 * rows and columns with a pivot below a third of that are left out. Returns how many were left out,
 * not counting those whose diagonal is not positive; 0 means that `added` is large enough.
 * Multithreaded; results are bitwise independent of the number of threads. */
int64_t hx_skyline_factorise(hx_skyline *s, double added);
/* Solves (A + D) x = b in place: `vector` is b on entry and x on return, with 0 in rows that were
 * left out. Serial. */
void hx_skyline_solve(const hx_skyline *s);

/* Accepts a zeroed struct. */
void hx_skyline_free(hx_skyline *s);

HX_C_END

#endif
