/* The 0/1 design that corresponds to a grey design: its threshold and its connected pieces. On the
 * host, not performance-critical. */
#ifndef HX_BLACK_WHITE_H
#define HX_BLACK_WHITE_H

#include "../mesh/mesh.h"

HX_C_BEGIN

/* *threshold: density such that the elements with at least this density have the volume nearest to
 * target. If two are equally near, the larger density is returned; at least one element is
 * selected. Volumes and densities [n] must not be negative; elements of equal density are selected
 * together. O(n). */
int hx_threshold_of_volume(int64_t n, const double *volume, const double *density, double target,
                           double *threshold);

/* Connected pieces of the solid elements, the largest in volume first. */
typedef struct hx_pieces {
    int64_t n;       /* number of pieces */
    int32_t *of;     /* [mesh->n_elem] the element's piece, -1: void (owned) */
    int64_t *n_elem; /* [n] (owned) */
    double *volume;  /* [n] (owned) */
} hx_pieces;

/* What connects two elements. */
typedef enum {
    HX_PIECES_BY_NODES, /* a common node, like in the stiffness matrix */
    HX_PIECES_BY_FACES  /* a common face, so that hinges do not connect */
} hx_pieces_kind;

/* is_solid[n_elem] != 0 marks solid elements; volume[n_elem]. The numbering does not depend on the
 * number of threads. O(n_elem) plus a sort of the pieces. */
int hx_pieces_create(hx_pieces *pieces, const hx_mesh *mesh, const uint8_t *is_solid,
                     const double *volume, hx_pieces_kind kind);
void hx_pieces_free(hx_pieces *pieces);

HX_C_END

#endif
