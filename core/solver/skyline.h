/* Cholesky factors of sparse symmetric positive semidefinite matrices within their envelope
 * (skyline), on the host: for the lattice that multigrid solves directly.
 *
 * Unknowns go in blocks of HX_SKYLINE_BLOCK; a block's rows reach from its own first column to the
 * last one that it or a row before it has, so that factors fill nothing but the envelope. With
 * neighbours w unknowns apart the factors take 8 n w bytes, n w^2 operations, and a solve 4 n w. */
#ifndef HX_SKYLINE_H
#define HX_SKYLINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_SKYLINE_BLOCK = 6 };

/* Share of a diagonal that is added at first, see hx_skyline_factorise. */
#define HX_SKYLINE_ADDED 3e-6

typedef struct hx_skyline {
    int64_t n, n_block;
    int64_t *end;   /* [n_block] columns of a block's rows end before it */
    int64_t *at;    /* [n_block + 1] where a block's rows begin, in entries */
    double *entry;  /* a block's rows one after the other, each from the block's first column on */
    double *scale;  /* [n] 1 / sqrt(diagonal), 0 where that is not positive */
    double *pivot;  /* [n] 1 / U[k][k], 0 where the row is left out */
    double *vector; /* [n] right-hand side and solution */
} hx_skyline;

/* last[k]: the last column that row k's upper triangle has, at least k. Entries are 0. O(n). */
int hx_skyline_create(hx_skyline *s, int64_t n, const int64_t *last);
/* Entries and operations of the factors that would be made: what they cost, nothing allocated. */
void hx_skyline_cost(int64_t n, const int64_t *last, double *n_entry, double *n_operation);

/* Where entry (row, column) of the upper triangle lies, row <= column; it is within the envelope.
 * Of a block's own rows and columns the lower triangle is there too, and not read. */
static inline double *hx_skyline_entry(const hx_skyline *s, int64_t row, int64_t column)
{
    const int64_t b = row / HX_SKYLINE_BLOCK, first = b * HX_SKYLINE_BLOCK;
    return s->entry + s->at[b] + (row - first) * (s->end[b] - first) + column - first;
}

/* The entries to 0, for another matrix. */
void hx_skyline_clear(hx_skyline *s);
/* A + D = U'U, in place, D = `added` of A's diagonal: A's entries are of single precision, and
 * noise is to stay below what makes it positive definite. With A scaled to unit diagonal a pivot
 * would be at least `added` without noise: a row and column whose pivot is below a third of it are
 * left out. Returns how many were, but for those whose diagonal is not positive: none where
 * `added` is enough. On all threads, the same bits for any number of them. */
int64_t hx_skyline_factorise(hx_skyline *s, double added);
/* Solves (A + D) x = b in place: `vector` is b before and x after, 0 where rows were left out.
 * Serial. */
void hx_skyline_solve(const hx_skyline *s);

/* Accepts a zeroed struct. */
void hx_skyline_free(hx_skyline *s);

#ifdef __cplusplus
}
#endif

#endif
