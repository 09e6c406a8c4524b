/* Quality and size of several hexahedra at a time, in vector lanes. Not installed. */
#ifndef HX_HEX_SHAPE_H
#define HX_HEX_SHAPE_H

#include <stdint.h>

enum { HX_HEX_LANES = 4 };

typedef struct hx_hex_shapes {
    double jacobian[HX_HEX_LANES]; /* least scaled Jacobian of the corners */
    double aspect[HX_HEX_LANES];   /* longest edge divided by the shortest one */
    double volume[HX_HEX_LANES];
} hx_hex_shapes;

typedef struct hx_hex_sizes {
    double volume[HX_HEX_LANES];
    /* 1: all maps are certainly invertible everywhere; 0: they must be examined one by one */
    int are_good;
} hx_hex_sizes;

/* Shapes of HX_HEX_LANES consecutive hexahedra of conn, none of them collapsed. Bitwise equal to
 * hx_hex_det and hx_hex_volume (hex_jacobian.h) with every vector unit, unless the build itself
 * uses fused multiply-adds. */
void hx_hex_shapes_of(const double *xyz, const int32_t *conn, hx_hex_shapes *shapes);

/* Sizes of HX_HEX_LANES consecutive cells of any kind; cells that are good name no node twice. */
void hx_hex_sizes_of(const double *xyz, const int32_t *conn, hx_hex_sizes *sizes);
/* Only their volumes: volume[HX_HEX_LANES]. */
void hx_hex_volumes_of(const double *xyz, const int32_t *conn, double *volume);

/* Centroids of HX_HEX_LANES consecutive hexahedra, x[d][HX_HEX_LANES] along axis d; bitwise equal
 * to hx_cell_hexahedron_centroid. */
void hx_hex_centroids_of(const double *xyz, const int32_t *conn, double *const x[3]);
/* Largest distance of a node of each hexahedron from its centroid along each axis. */
void hx_hex_reaches_of(const double *xyz, const int32_t *conn, double reach[3][HX_HEX_LANES]);

#endif
