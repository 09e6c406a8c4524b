/* Means of element fields over balls, weighted by volume: what limits on the local volume need (Wu
 * et al. 2018). By one of three methods:
 *
 * Sums over the elements whose centroids lie in the ball. Each has a weight of 1 that falls to 0
 * across an element edge h at the ball's surface, as the share of an element in the ball does, so
 * that rounding of a centroid does not decide whether it counts:
 *
 *     w(d) = (max(0, R + h/2 - d) - max(0, R - h/2 - d)) / h,
 *
 * a difference of two sums of cone.h. Their time grows with (R / h)^3.
 *
 * A Helmholtz equation (helmholtz_map.h), whose kernel exp(-d/r) / (4 pi r^2 d) has the mean square
 * distance 6 r^2; the ways to the nodes and back add 3/2 h^2. Their sum is that of a ball, 3/5 R^2,
 * with r^2 = R^2 / 10 - h^2 / 4. Its time grows with R / h at most. Its
 * kernel is highest at the centre, so the mean at a wall or strut is above that of the ball.
 *
 * Sums over blocks of k^3 elements (blocks.h), for large radii: the balls are those about the middle
 * of the block of each element, and their weight falls across an edge k h of a block. Their radius
 * is sqrt(R^2 - (k^2 - 1) h^2), which has the mean square distance of sums over elements: the softer
 * surface adds (k h)^2 / 8 per axis, and the places within a block (k^2 - 1) h^2 / 12. Centres are
 * up to sqrt(3) (k - 1) h / 2 off, so a block is at most an eighth of the radius.
 *
 * mean = D^-1 S v rho, with the symmetric S of either and D = S v (of blocks: of their volumes, and
 * each element has the mean of its block); constants are kept. */
#ifndef HX_BALL_H
#define HX_BALL_H

#include "blocks.h"
#include "cone.h"
#include "helmholtz_map.h"

HX_C_BEGIN

typedef enum { HX_BALL_SUMS, HX_BALL_HELMHOLTZ, HX_BALL_BLOCKS } hx_ball_method;

/* Radii of at most this many element edges take sums; at least of HX_BALL_BLOCK_EDGES times two, sums
 * over blocks, which are that many times smaller; below the last, a ball holds too few elements for
 * a mean. The edge is that of a cube of the mean volume. */
#define HX_BALL_MOST_EDGES 8.0
#define HX_BALL_BLOCK_EDGES 8.0
#define HX_BALL_LEAST_EDGES 1.5
#define HX_BALL_MOST_PAIRS 2e10

typedef struct hx_ball {
    hx_device *dev; /* (borrowed) */
    hx_ball_method method;
    int64_t n;             /* elements */
    double edge;           /* h */
    hx_cone outer, inner;  /* HX_BALL_SUMS: of the radii R + h/2, R - h/2 (owned) */
    double *d_volume;      /* [n] v (owned, like the next) */
    double *d_total;       /* [n] D; HX_BALL_SUMS */
    hx_helmholtz_map *map; /* HX_BALL_HELMHOLTZ (owned) */
    hx_blocks *blocks;     /* HX_BALL_BLOCKS (owned) */
} hx_ball;

/* Edge of a cube of the mean volume of the elements; the same on all ranks. */
double hx_ball_edge(const hx_problem *problem);
/* The method for a radius: by the limits above. The other is for a mean that is measured
 * once: sums over at most HX_BALL_MOST_PAIRS pairs of elements. */
hx_ball_method hx_ball_method_for(const hx_problem *problem, double radius);
hx_ball_method hx_ball_method_once(const hx_problem *problem, double radius);

/* Upper bound of the device bytes without those of the mesh (device_mesh.h). */
size_t hx_ball_bytes(const hx_problem *problem, double radius, hx_ball_method method);
/* radius: length, at least HX_BALL_LEAST_EDGES edges. The ball must not be moved afterwards. */
int hx_ball_create(hx_ball *ball, hx_device *dev, const hx_problem *problem, double radius,
                   hx_ball_method method);

/* d_mean := means of the field d_rho. d_work: a field as scratch. Deterministic; with ranks all call
 * it. No two fields may be equal. Hot. */
int hx_ball_mean(hx_ball *ball, const double *d_rho, double *d_mean, double *d_work);
/* In place: derivatives by the means become derivatives by rho. Hot. */
int hx_ball_transpose(hx_ball *ball, double *d_a, double *d_work);

/* Accepts a zeroed struct. */
void hx_ball_free(hx_ball *ball);

HX_C_END

#endif
