/* What the files of surface_thickness.h share; not installed. */
#ifndef HX_THICKNESS_FINDER_H
#define HX_THICKNESS_FINDER_H

#include "surface_thickness.h"
#include "triangle_tree.h"

/* The way from a triangle through the part, or through the gap before it, to the opposite one. */
typedef struct hx_span {
    double length, ball;        /* ball: diameter of the largest ball around the middle */
    double centre[3], along[3]; /* along: unit vector */
    int32_t from, to;
    uint8_t is_parallel; /* 1: the normals of both ends differ by 160 degrees or more */
} hx_span;

typedef struct hx_thickness_finder {
    const hx_surface *surface;
    hx_triangle_tree tree;
    double far;         /* diagonal of the box */
    int32_t *opposite;  /* [3 n_tri] half-edges (owned) */
    hx_span *span;      /* [n_tri] by length, ascending (owned) */
    int32_t *at;        /* [n_tri] the span that begins at a triangle, -1: none (owned) */
    uint8_t *is_across; /* [n_tri] 1: a cap opposite to a cap; NULL: there are no caps (owned) */
    int64_t n;
    int32_t number; /* of the last shell */
    int32_t *seen;  /* [n_tri] number of the last shell whose surroundings have it (owned) */
    uint8_t *is_in; /* [n_tri] 1: in the ball of that shell; 2: counted (owned) */
    double *tried;  /* [n_tri] spans that begin there and are not longer are in no member (owned) */
    int32_t *queue; /* [n_tri] surroundings of the last shell (owned) */
    int32_t *stack; /* [n_tri] (owned) */
} hx_thickness_finder;

/* Returns the thickness of the member to which a span belongs; NAN: it is in none, in one that is
 * thinner elsewhere, or in one that is at least as thick as `least`. Spans are to be tried
 * in the order of their lengths. */
double hx_thickness_of_member(hx_thickness_finder *f, const hx_span *s, double least);

#endif
