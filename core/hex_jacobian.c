#include "hex_jacobian.h"

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

double hx_hex_volume(const hx_hex_map *map)
{
    double volume = 0.0, scaled;
    for (int point = HX_HEX_CORNERS; point < HX_HEX_POINTS; point++)
        volume += hx_hex_det(map, point, &scaled);
    return volume;
}
