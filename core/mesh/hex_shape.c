#include "hex_shape.h"

#include <math.h>
#include <string.h>

#include "../base/vectorised.h"
#include "hex_jacobian.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi" /* all functions that return lanes are inlined */
#endif

enum { W = HX_HEX_LANES };

typedef double lanes __attribute__((vector_size(W * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(W * sizeof(int64_t))));

/* The map of hex_jacobian.h without its constant. */
typedef struct maps {
    lanes c[8][3];
} maps;

/* *least := the smaller of *least and *x. rise() is its counterpart for the larger one. */
HX_INLINED void lower(lanes *least, const lanes *x)
{
    const masks less = (masks)(*x < *least);
    *least = (lanes)((less & (masks)*x) | (~less & (masks)*least));
}

HX_INLINED void rise(lanes *most, const lanes *x)
{
    const masks more = (masks)(*x > *most);
    *most = (lanes)((more & (masks)*x) | (~more & (masks)*most));
}

HX_INLINED void take_root(lanes *x)
{
    double of[W];
    memcpy(of, x, sizeof of);
    for (int i = 0; i < W; i++) of[i] = sqrt(of[i]);
    memcpy(x, of, sizeof of);
}

HX_INLINED lanes dot_lanes(const lanes a[3], const lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a . (b x c) */
HX_INLINED lanes triple(const lanes a[3], const lanes b[3], const lanes c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Component d of corner a. */
HX_INLINED lanes gather_coordinate(const double *xyz, const int32_t *conn, int a, int d)
{
    const double *const x = xyz + d;
    return (lanes){x[3 * (int64_t)conn[a]], x[3 * (int64_t)conn[8 + a]],
                   x[3 * (int64_t)conn[16 + a]], x[3 * (int64_t)conn[24 + a]]};
}

/* Like hx_hex_map_init; square, unless NULL: the squared lengths of the edges along r, s and t. */
HX_INLINED void find_map(const double *xyz, const int32_t *conn, maps *m, lanes square[12])
{
    for (int i = 0; square && i < 12; i++) square[i] = (lanes){0.0};
    for (int d = 0; d < 3; d++) {
        lanes x[8];
        for (int a = 0; a < 8; a++) x[a] = gather_coordinate(xyz, conn, a, d);
        const lanes r[4] = {x[1] - x[0], x[2] - x[3], x[5] - x[4], x[6] - x[7]};
        const lanes s[4] = {x[3] - x[0], x[2] - x[1], x[7] - x[4], x[6] - x[5]};
        const lanes t[4] = {x[4] - x[0], x[5] - x[1], x[7] - x[3], x[6] - x[2]};
        for (int i = 0; square && i < 4; i++) {
            square[i] += r[i] * r[i];
            square[4 + i] += s[i] * s[i];
            square[8 + i] += t[i] * t[i];
        }
        m->c[1][d] = 0.125 * ((r[0] + r[1]) + (r[2] + r[3]));
        m->c[2][d] = 0.125 * ((s[0] + s[1]) + (s[2] + s[3]));
        m->c[3][d] = 0.125 * ((t[0] + t[1]) + (t[2] + t[3]));
        m->c[4][d] = 0.125 * ((r[1] - r[0]) + (r[3] - r[2]));
        m->c[5][d] = 0.125 * ((s[2] - s[0]) + (s[3] - s[1]));
        m->c[6][d] = 0.125 * ((r[2] - r[0]) + (r[3] - r[1]));
        m->c[7][d] = 0.125 * ((r[3] - r[2]) - (r[1] - r[0]));
    }
}

HX_INLINED lanes aspects(const lanes square[12])
{
    lanes shortest = square[0], longest = square[0];
    for (int i = 1; i < 12; i++) {
        lower(&shortest, &square[i]);
        rise(&longest, &square[i]);
    }
    lanes aspect = longest / shortest;
    take_root(&aspect);
    return aspect;
}

HX_INLINED lanes volumes(const maps *m)
{
    const lanes(*const c)[3] = m->c;
    return 8.0 *
           (triple(c[1], c[2], c[3]) +
            (triple(c[1], c[4], c[6]) + triple(c[4], c[2], c[5]) + triple(c[6], c[5], c[3])) / 3.0);
}

/* A column of J along each of four edges, from coefficients c of the map: the column's constant
 * term first, the rst term last. The edges lie at - and + of the two other directions, the first of
 * which changes fastest. */
HX_INLINED void find_columns(const lanes a[3], const lanes b[3], const lanes c[3], const lanes d[3],
                             lanes column[4][3])
{
    for (int k = 0; k < 3; k++) {
        column[0][k] = a[k] - b[k] - c[k] + d[k];
        column[1][k] = a[k] + b[k] - c[k] - d[k];
        column[2][k] = a[k] - b[k] + c[k] - d[k];
        column[3][k] = a[k] + b[k] + c[k] + d[k];
    }
}

/* Least scaled Jacobian of the corners. The columns are edges: four for each direction. */
HX_INLINED lanes jacobians(const maps *m)
{
    const lanes(*const c)[3] = m->c, zero = {0.0};
    lanes jr[4][3], js[4][3], jt[4][3], size_r[4], size_s[4], length_t[4];
    lanes lowest = zero + HUGE_VAL;
    find_columns(c[1], c[4], c[6], c[7], jr); /* by s, t */
    find_columns(c[2], c[4], c[5], c[7], js); /* by r, t */
    find_columns(c[3], c[5], c[6], c[7], jt); /* by s, r */
    for (int i = 0; i < 4; i++) {
        size_r[i] = dot_lanes(jr[i], jr[i]);
        size_s[i] = dot_lanes(js[i], js[i]);
        length_t[i] = dot_lanes(jt[i], jt[i]);
        take_root(&length_t[i]);
    }
    for (int corner = 0; corner < 8; corner++) {
        const int r = corner & 1, s = corner >> 1 & 1, t = corner >> 2;
        const int at_r = s + 2 * t, at_s = r + 2 * t, at_t = s + 2 * r;
        lanes length = size_r[at_r] * size_s[at_s];
        take_root(&length);
        length *= length_t[at_t];
        lanes scaled = triple(jr[at_r], js[at_s], jt[at_t]) / length;
        scaled = (lanes)((masks)scaled & (masks)(length > zero)); /* 0 if a column vanishes */
        lower(&lowest, &scaled);
    }
    return lowest;
}

HX_INLINED void measure_shapes_lanes(const double *xyz, const int32_t *conn, hx_hex_shapes *shapes)
{
    maps m;
    lanes square[12];
    find_map(xyz, conn, &m, square);
    const lanes jacobian = jacobians(&m), aspect = aspects(square), volume = volumes(&m);
    memcpy(shapes->jacobian, &jacobian, sizeof jacobian);
    memcpy(shapes->aspect, &aspect, sizeof aspect);
    memcpy(shapes->volume, &volume, sizeof volume);
}

HX_VERSIONS_UNFUSED(measure_shapes, (const double *xyz, const int32_t *conn, hx_hex_shapes *shapes),
                    (xyz, conn, shapes))

void hx_hex_shapes_of(const double *xyz, const int32_t *conn, hx_hex_shapes *shapes)
{
    measure_shapes(xyz, conn, shapes);
}

HX_INLINED lanes norm(const lanes a[3])
{
    lanes length = dot_lanes(a, a);
    take_root(&length);
    return length;
}

/* Upper bound of the norm, equal to it along an axis. */
HX_INLINED lanes sum_of_sizes(const lanes a[3])
{
    const masks all_but_sign = (masks){0} + INT64_MAX;
    lanes sum = {0.0};
    for (int d = 0; d < 3; d++) sum += (lanes)((masks)a[d] & all_but_sign);
    return sum;
}

/* Positive if the map is certainly invertible. Columns of J differ from those at the centre by at
 * most the lengths of the mixed terms, which bounds the change of det J. n: lengths of the map's
 * terms, or upper bounds of them. */
HX_INLINED lanes margins(const maps *m, const lanes n[8])
{
    const lanes(*const c)[3] = m->c;
    const lanes most =
        (n[1] + n[4] + n[6] + n[7]) * (n[2] + n[4] + n[5] + n[7]) * (n[3] + n[5] + n[6] + n[7]);
    return triple(c[1], c[2], c[3]) - (most - n[1] * n[2] * n[3]) - 1e-6 * most;
}

HX_INLINED int are_positive(const lanes *x)
{
    int all = 1;
    for (int i = 0; i < W; i++) all &= (*x)[i] > 0.0;
    return all;
}

/* Bounds without square roots, which are exact for bricks along the axes. */
HX_INLINED void size_lanes(const double *xyz, const int32_t *conn, hx_hex_sizes *sizes)
{
    maps m;
    lanes n[8];
    find_map(xyz, conn, &m, NULL);
    const lanes volume = volumes(&m);
    memcpy(sizes->volume, &volume, sizeof volume);
    for (int i = 1; i < 8; i++) n[i] = sum_of_sizes(m.c[i]);
    lanes margin = margins(&m, n);
    sizes->are_good = are_positive(&margin);
    if (sizes->are_good) return;
    for (int i = 1; i < 8; i++) n[i] = norm(m.c[i]);
    margin = margins(&m, n);
    sizes->are_good = are_positive(&margin);
}

HX_VERSIONS_UNFUSED(size, (const double *xyz, const int32_t *conn, hx_hex_sizes *sizes),
                    (xyz, conn, sizes))

void hx_hex_sizes_of(const double *xyz, const int32_t *conn, hx_hex_sizes *sizes)
{
    size(xyz, conn, sizes);
}

HX_INLINED void find_volumes_lanes(const double *xyz, const int32_t *conn, double *volume)
{
    maps m;
    find_map(xyz, conn, &m, NULL);
    const lanes of = volumes(&m);
    memcpy(volume, &of, sizeof of);
}

HX_VERSIONS_UNFUSED(find_volumes, (const double *xyz, const int32_t *conn, double *volume),
                    (xyz, conn, volume))

void hx_hex_volumes_of(const double *xyz, const int32_t *conn, double *volume)
{
    find_volumes(xyz, conn, volume);
}

/* Like hx_cell_hexahedron_centroid. */
HX_INLINED lanes centroid(const lanes x[8])
{
    lanes sum = {0.0};
    for (int a = 0; a < 8; a++) sum += x[a];
    return 0.125 * sum;
}

HX_INLINED void find_centroids_lanes(const double *xyz, const int32_t *conn, double *const x[3])
{
    for (int d = 0; d < 3; d++) {
        lanes corner[8];
        for (int a = 0; a < 8; a++) corner[a] = gather_coordinate(xyz, conn, a, d);
        const lanes centre = centroid(corner);
        memcpy(x[d], &centre, sizeof centre);
    }
}

HX_VERSIONS_UNFUSED(find_centroids, (const double *xyz, const int32_t *conn, double *const x[3]),
                    (xyz, conn, x))

void hx_hex_centroids_of(const double *xyz, const int32_t *conn, double *const x[3])
{
    find_centroids(xyz, conn, x);
}

HX_INLINED void find_reaches_lanes(const double *xyz, const int32_t *conn, double reach[3][W])
{
    for (int d = 0; d < 3; d++) {
        lanes corner[8];
        for (int a = 0; a < 8; a++) corner[a] = gather_coordinate(xyz, conn, a, d);
        const lanes centre = centroid(corner);
        lanes least = corner[0], most = corner[0];
        for (int a = 1; a < 8; a++) {
            lower(&least, &corner[a]);
            rise(&most, &corner[a]);
        }
        lanes far = centre - least;
        const lanes above = most - centre;
        rise(&far, &above);
        memcpy(reach[d], &far, sizeof far);
    }
}

HX_VERSIONS_UNFUSED(find_reaches, (const double *xyz, const int32_t *conn, double reach[3][W]),
                    (xyz, conn, reach))

void hx_hex_reaches_of(const double *xyz, const int32_t *conn, double reach[3][HX_HEX_LANES])
{
    find_reaches(xyz, conn, reach);
}
