/* The dense problem of an iteration of LOBPCG (lobpcg.h), on the host. Not installed. */
#ifndef HX_LOBPCG_RITZ_H
#define HX_LOBPCG_RITZ_H

#include "lobpcg.h"

/* vectors of [X W P] */
enum { HX_RITZ_MOST = 3 * HX_LOBPCG_MOST };

/* Gram matrices and coefficients; matrices are stored row by row, without gaps. */
typedef struct hx_ritz {
    int n;                     /* vectors of S = [X W P] */
    double *k, *m;             /* [n][n] S'K S and S'M S */
    double *x;                 /* [n][n_x] coefficients of the new X */
    double *p;                 /* [n][n_p] of the new P */
    double *value;             /* [n] Ritz values, ascending */
    double *a, *b, *c, *d, *e; /* [HX_RITZ_MOST]^2 and a row, scratch */
} hx_ritz;

/* Number of doubles of all arrays, and the arrays in them. */
size_t hx_ritz_doubles(void);
void hx_ritz_place(hx_ritz *ritz, double *memory);

/* c[n_a][n_c] = a[n_a][n_b] b[n_b][n_c], or with a'[n_b][n_a]. */
void hx_ritz_multiply(int n_a, int n_b, int n_c, const double *a, const double *b, double *c);
void hx_ritz_multiply_left(int n_a, int n_b, int n_c, const double *a, const double *b, double *c);

/* x := the n_x lowest Ritz vectors. Returns 0, or -1: S has fewer independent vectors, or values
 * are not finite. */
int hx_ritz_solve(hx_ritz *ritz, int n_x);

/* p := an orthonormal basis of the parts outside X of the new vectors named in of[n_of], orthogonal
 * to all new vectors. n_old: the first n_old vectors of S are X. Returns its size. */
int hx_ritz_directions(hx_ritz *ritz, int n_x, int n_old, int n_of, const int *of);

#endif
