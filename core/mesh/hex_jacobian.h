/* Geometry of one trilinear hexahedron, for validation and quality (the stiffness uses hex8.h). */
#ifndef HX_HEX_JACOBIAN_H
#define HX_HEX_JACOBIAN_H

#include <math.h>

#include "../base/vec3.h"
#include "hex8.h"
#include "mesh.h"

/* x(r, s, t) = c0 + c1 r + c2 s + c3 t + c4 rs + c5 st + c6 rt + c7 rst, r, s, t in [-1, 1]. */
typedef struct hx_hex_map {
    double c[8][3];
} hx_hex_map;

enum {
    HX_HEX_CORNERS = 8, /* points 0..7: the corners in VTK order */
    HX_HEX_POINTS = 16  /* points 8..15: the 2x2x2 Gauss points */
};

/* Computes the map of an element with these nodes. */
void hx_hex_map_init(hx_hex_map *map, const double *xyz, const int32_t conn[8]);

/* Reference coordinate of one of the 16 points. */
static inline double hx_hex_point(int point, int direction)
{
    const double at = point < HX_HEX_CORNERS ? 1.0 : 0.57735026918962576451;
    return at * hx_hex8_sign(point % 8, direction);
}

/* det J at one of the 16 points (length^3); size[i] = squared length of column i of J. */
static inline double hx_hex_det_columns(const hx_hex_map *map, int point, double size[3])
{
    const double r = hx_hex_point(point, 0), s = hx_hex_point(point, 1), t = hx_hex_point(point, 2);
    double jr[3], js[3], jt[3];
    for (int d = 0; d < 3; d++) {
        const double c4 = map->c[4][d], c5 = map->c[5][d], c6 = map->c[6][d], c7 = map->c[7][d];
        jr[d] = map->c[1][d] + c4 * s + c6 * t + c7 * s * t;
        js[d] = map->c[2][d] + c4 * r + c5 * t + c7 * r * t;
        jt[d] = map->c[3][d] + c5 * s + c6 * r + c7 * r * s;
    }
    size[0] = hx_dot3(jr, jr);
    size[1] = hx_dot3(js, js);
    size[2] = hx_dot3(jt, jt);
    return hx_triple3(jr, js, jt);
}

/* det J; *square = the squared product of the column lengths. */
static inline double hx_hex_det_square(const hx_hex_map *map, int point, double *square)
{
    double size[3];
    const double det = hx_hex_det_columns(map, point, size);
    *square = size[0] * size[1] * size[2];
    return det;
}

/* det J; *scaled = det J / (product of the column lengths of J): 1 for right angles, 0 if a column
 * vanishes. */
static inline double hx_hex_det(const hx_hex_map *map, int point, double *scaled)
{
    double size[3];
    const double det = hx_hex_det_columns(map, point, size);
    const double length = sqrt(size[0] * size[1]) * sqrt(size[2]);
    *scaled = length > 0.0 ? det / length : 0.0;
    return det;
}

/* Integral of det J over the element: only its terms that are even in r, s and t remain. */
double hx_hex_volume(const hx_hex_map *map);

#endif
