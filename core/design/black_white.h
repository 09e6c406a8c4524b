/* The 0/1 design that a grey one stands for: its threshold, its pieces. Host, cold. */
#ifndef HX_BLACK_WHITE_H
#define HX_BLACK_WHITE_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *threshold: the density such that the elements of at least that take up the volume nearest to
 * target, of two as near the larger density; at least one element's. Volumes and densities [n]
 * are not negative; elements of equal density go together. O(n). */
int hx_threshold_of_volume(int64_t n, const double *volume, const double *density, double target,
                           double *threshold);

/* Connected pieces of the solid elements, the largest in volume first. */
typedef struct hx_pieces {
    int64_t n;       /* number of pieces */
    int32_t *of;     /* [mesh->n_elem] the element's piece, -1: void (owned) */
    int64_t *n_elem; /* [n] (owned) */
    double *volume;  /* [n] (owned) */
} hx_pieces;

/* What holds two elements together. */
typedef enum {
    HX_PIECES_BY_NODES, /* a common node, as in the stiffness matrix */
    HX_PIECES_BY_FACES  /* a common face: no hinges */
} hx_pieces_kind;

/* is_solid[n_elem] != 0; volume[n_elem]. The numbers do not depend on the number of threads.
 * O(n_elem) besides a sort of the pieces. */
int hx_pieces_create(hx_pieces *pieces, const hx_mesh *mesh, const uint8_t *is_solid,
                     const double *volume, hx_pieces_kind kind);
void hx_pieces_free(hx_pieces *pieces);

#ifdef __cplusplus
}
#endif

#endif
