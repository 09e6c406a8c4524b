/* Elements whose centroids lie within a radius: compressed rows, found through a grid of cells. */
#ifndef HX_NEIGHBOURS_H
#define HX_NEIGHBOURS_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_neighbours {
    int64_t n;        /* elements */
    double radius;    /* length */
    double *centroid; /* [n][3] (owned) */
    int64_t *ptr;     /* [n + 1] (owned) */
    int32_t *index;   /* [ptr[n]] ascending in a row, the element itself included (owned) */
    size_t bytes;     /* host memory of all of it */
} hx_neighbours;

/* Centroids at a distance < radius. The rows are counted before they are stored: HX_ENOMEM with
 * both numbers when they would not fit. O(n * neighbours). */
int hx_neighbours_create(hx_neighbours *nb, const hx_mesh *mesh, double radius);

/* Mean row length, from a sample of elements, without building rows (for `hextop check`). */
int hx_neighbours_estimate(const hx_mesh *mesh, double radius, double *mean_neighbours);

void hx_neighbours_free(hx_neighbours *nb);

#ifdef __cplusplus
}
#endif

#endif
