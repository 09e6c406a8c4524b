#include "hex_jacobian.h"

#include "../base/vec3.h"

void hx_hex_map_init(hx_hex_map *map, const double *xyz, const int32_t conn[8])
{
    const double *x[8];
    for (int a = 0; a < 8; a++) x[a] = xyz + (size_t)conn[a] * 3;
    for (int d = 0; d < 3; d++) {
        /* edges along r, s and t: differences first, so that a translation adds no rounding */
        const double r0 = x[1][d] - x[0][d], r1 = x[2][d] - x[3][d];
        const double r2 = x[5][d] - x[4][d], r3 = x[6][d] - x[7][d];
        const double s0 = x[3][d] - x[0][d], s1 = x[2][d] - x[1][d];
        const double s2 = x[7][d] - x[4][d], s3 = x[6][d] - x[5][d];
        const double t0 = x[4][d] - x[0][d], t1 = x[5][d] - x[1][d];
        const double t2 = x[7][d] - x[3][d], t3 = x[6][d] - x[2][d];
        map->c[0][d] = 0.125 * (((x[0][d] + x[1][d]) + (x[2][d] + x[3][d])) +
                                ((x[4][d] + x[5][d]) + (x[6][d] + x[7][d])));
        map->c[1][d] = 0.125 * ((r0 + r1) + (r2 + r3));
        map->c[2][d] = 0.125 * ((s0 + s1) + (s2 + s3));
        map->c[3][d] = 0.125 * ((t0 + t1) + (t2 + t3));
        map->c[4][d] = 0.125 * ((r1 - r0) + (r3 - r2));
        map->c[5][d] = 0.125 * ((s2 - s0) + (s3 - s1));
        map->c[6][d] = 0.125 * ((r2 - r0) + (r3 - r1));
        map->c[7][d] = 0.125 * ((r3 - r2) - (r1 - r0));
    }
}

double hx_hex_volume(const hx_hex_map *map)
{
    const double(*c)[3] = map->c;
    return 8.0 * (hx_triple3(c[1], c[2], c[3]) +
                  (hx_triple3(c[1], c[4], c[6]) + hx_triple3(c[4], c[2], c[5]) +
                   hx_triple3(c[6], c[5], c[3])) /
                      3.0);
}
