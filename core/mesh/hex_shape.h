/* What quality and size of hexahedra are told from, several of them at a time in vector lanes. Not
 * installed. */
#ifndef HX_HEX_SHAPE_H
#define HX_HEX_SHAPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_HEX_LANES = 4 };

typedef struct hx_hex_shapes {
    double jacobian[HX_HEX_LANES]; /* the least scaled one of the corners */
    double aspect[HX_HEX_LANES];   /* longest edge over the shortest one */
    double volume[HX_HEX_LANES];
} hx_hex_shapes;

typedef struct hx_hex_sizes {
    double volume[HX_HEX_LANES];
    int are_good; /* 1: surely all maps are invertible, everywhere; 0: look at them one by one */
} hx_hex_sizes;

/* Of HX_HEX_LANES hexahedra, none of them collapsed, that follow each other in conn. The bits of
 * hx_hex_det and hx_hex_volume (hex_jacobian.h) on each vector unit, where the build itself has no
 * fused multiplications. */
void hx_hex_shapes_of(const double *xyz, const int32_t *conn, hx_hex_shapes *shapes);

/* Likewise, of cells of any kind; those that are good name no node twice. */
void hx_hex_sizes_of(const double *xyz, const int32_t *conn, hx_hex_sizes *sizes);
/* Their volumes alone: volume[HX_HEX_LANES]. */
void hx_hex_volumes_of(const double *xyz, const int32_t *conn, double *volume);

/* Centroids of as many, x[d][HX_HEX_LANES] along axis d: the bits of hx_cell_hexahedron_centroid.
 */
void hx_hex_centroids_of(const double *xyz, const int32_t *conn, double *const x[3]);
/* How far a node of each is from its centroid along each axis. */
void hx_hex_reaches_of(const double *xyz, const int32_t *conn, double reach[3][HX_HEX_LANES]);

#ifdef __cplusplus
}
#endif

#endif
