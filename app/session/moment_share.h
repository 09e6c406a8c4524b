/* Nodal forces with a given moment and the sum 0, for surface_file.c: with weights w_a, the
 * weighted centroid c and d_a = x_a - c, the forces w_a theta x d_a have the smallest sum of
 * |f_a|^2 / w_a among all with the moment T theta, T = sum w_a (|d_a|^2 I - d_a d_a'). */
#ifndef HX_MOMENT_SHARE_H
#define HX_MOMENT_SHARE_H

/* All zero at first. Call the functions in this order, each for all nodes. */
typedef struct hx_moment_share {
    double weight, centroid[3]; /* until hx_moment_share_spread: sum of weight times position */
    double spread[3][3];        /* T */
    double theta[3];
} hx_moment_share;

void hx_moment_share_place(hx_moment_share *s, double weight, const double x[3]);
void hx_moment_share_centre(hx_moment_share *s);
void hx_moment_share_spread(hx_moment_share *s, double weight, const double x[3]);

/* A moment about a line that contains all nodes is left out. */
void hx_moment_share_solve(hx_moment_share *s, const double moment[3]);

/* Adds the force of a node. */
void hx_moment_share_add(const hx_moment_share *s, double weight, const double x[3], double *force);

#endif
