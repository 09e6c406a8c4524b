/* Geometry of one trilinear hexahedron, for validation and quality (the stiffness has its own). */
#ifndef HX_HEX_JACOBIAN_H
#define HX_HEX_JACOBIAN_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x(r, s, t) = c0 + c1 r + c2 s + c3 t + c4 rs + c5 st + c6 rt + c7 rst, r, s, t in [-1, 1]. */
typedef struct hx_hex_map {
    double c[8][3];
} hx_hex_map;

enum {
    HX_HEX_CORNERS = 8, /* points 0..7: the corners in VTK order */
    HX_HEX_POINTS = 16  /* points 8..15: the 2x2x2 Gauss points */
};

/* The map of element elem. */
void hx_hex_map_init(hx_hex_map *map, const double *xyz, const int32_t conn[8]);

/* det J at one of the 16 points (length^3); *scaled = det J / (product of the column lengths of J),
 * 1 for right angles, 0 where a column vanishes. */
double hx_hex_det(const hx_hex_map *map, int point, double *scaled);

/* Volume by the 2x2x2 Gauss rule, exact for the trilinear map. */
double hx_hex_volume(const hx_hex_map *map);

#ifdef __cplusplus
}
#endif

#endif
