#include "hex_jacobian.h"

#include <math.h>

static const double corner_sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                         {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

void hx_hex_map_init(hx_hex_map *map, const double *xyz, const int32_t conn[8])
{
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++) map->c[i][d] = 0.0;
    for (int a = 0; a < 8; a++) {
        const double *const g = corner_sign[a];
        const double basis[8] = {1.0,         g[0],        g[1],        g[2],
                                 g[0] * g[1], g[1] * g[2], g[0] * g[2], g[0] * g[1] * g[2]};
        const double *const x = xyz + (size_t)conn[a] * 3;
        for (int i = 0; i < 8; i++)
            for (int d = 0; d < 3; d++) map->c[i][d] += 0.125 * basis[i] * x[d];
    }
}

double hx_hex_det(const hx_hex_map *map, int point, double *scaled)
{
    const double at = point < HX_HEX_CORNERS ? 1.0 : 0.57735026918962576451;
    const double *const g = corner_sign[point % 8];
    const double r = at * g[0], s = at * g[1], t = at * g[2];
    double jr[3], js[3], jt[3];
    for (int d = 0; d < 3; d++) {
        const double c4 = map->c[4][d], c5 = map->c[5][d], c6 = map->c[6][d], c7 = map->c[7][d];
        jr[d] = map->c[1][d] + c4 * s + c6 * t + c7 * s * t;
        js[d] = map->c[2][d] + c4 * r + c5 * t + c7 * r * t;
        jt[d] = map->c[3][d] + c5 * s + c6 * r + c7 * r * s;
    }
    const double det = jr[0] * (js[1] * jt[2] - js[2] * jt[1]) +
                       jr[1] * (js[2] * jt[0] - js[0] * jt[2]) +
                       jr[2] * (js[0] * jt[1] - js[1] * jt[0]);
    const double size = sqrt((jr[0] * jr[0] + jr[1] * jr[1] + jr[2] * jr[2]) *
                             (js[0] * js[0] + js[1] * js[1] + js[2] * js[2])) *
                        sqrt(jt[0] * jt[0] + jt[1] * jt[1] + jt[2] * jt[2]);
    *scaled = size > 0.0 ? det / size : 0.0;
    return det;
}

double hx_hex_volume(const hx_hex_map *map)
{
    double volume = 0.0, scaled;
    for (int point = HX_HEX_CORNERS; point < HX_HEX_POINTS; point++)
        volume += hx_hex_det(map, point, &scaled);
    return volume;
}
