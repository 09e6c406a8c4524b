/* Cells that name a point at several of their eight corners: hexahedra collapse to wedges
 * (0 1 2 2 3 4 5 5), pyramids (0 1 2 3 4 4 4 4) and tetrahedra (0 1 2 2 3 3 3 3), in these
 * numberings or any other. Two corners are the same if they name one node, wherever the nodes lie.
 */
#ifndef HX_CELL_H
#define HX_CELL_H

#include <stdint.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"
#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#define HX_CELL_IN_LANES
#endif

HX_C_BEGIN

typedef enum hx_cell_kind {
    HX_CELL_HEXAHEDRON,
    HX_CELL_WEDGE,
    HX_CELL_PYRAMID,
    HX_CELL_TETRAHEDRON,
    HX_CELL_OTHER, /* another solid, or none */
    HX_N_SOLID = HX_CELL_OTHER
} hx_cell_kind;

/* Returns 1 if some point is named twice. */
static HX_HD int hx_cell_is_collapsed(const int32_t conn[8])
{
/* compares the first four corners with themselves, rotated, and with the others */
#ifdef HX_CELL_IN_LANES
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)conn);
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(conn + 4));
    const __m128i b1 = _mm_shuffle_epi32(b, 0x39), b2 = _mm_shuffle_epi32(b, 0x4e);
    const __m128i b3 = _mm_shuffle_epi32(b, 0x93);
    __m128i same = _mm_or_si128(_mm_cmpeq_epi32(a, b), _mm_cmpeq_epi32(a, b1));
    same = _mm_or_si128(same, _mm_or_si128(_mm_cmpeq_epi32(a, b2), _mm_cmpeq_epi32(a, b3)));
    same = _mm_or_si128(same, _mm_or_si128(_mm_cmpeq_epi32(b, b1), _mm_cmpeq_epi32(b, b2)));
    same = _mm_or_si128(same, _mm_cmpeq_epi32(a, _mm_shuffle_epi32(a, 0x39)));
    same = _mm_or_si128(same, _mm_cmpeq_epi32(a, _mm_shuffle_epi32(a, 0x4e)));
    return _mm_movemask_epi8(same) != 0;
#else
    int same = 0;
    for (int a = 1; a < 8; a++)
        for (int b = 0; b < a; b++) same |= conn[a] == conn[b];
    return same;
#endif
}

/* Lists the distinct corners in order, a repeated point by its first corner. Returns their number
 * n; corner[0 .. n) ascend. For the numberings above, these are the solid's corners in VTK's
 * order. */
static HX_HD int hx_cell_distinct(const int32_t conn[8], int corner[8])
{
    int n = 0;
    for (int a = 0; a < 8; a++) {
        int b = 0;
        while (b < a && conn[b] != conn[a]) b++;
        if (b == a) corner[n++] = a;
    }
    return n;
}

/* Bits of the corners that name the point of corner a, including a. */
static HX_HD unsigned hx_cell_corners_at(const int32_t conn[8], int a)
{
    unsigned corners = 0;
    for (int b = 0; b < 8; b++) corners |= (unsigned)(conn[b] == conn[a]) << b;
    return corners;
}

/* Returns 1 if no corner before a names its point. */
static HX_HD int hx_cell_is_first(unsigned corners, int a)
{
    return (corners & ((1u << a) - 1u)) == 0;
}

/* Weight of corner a in a cell's mean over its points: 1/n for n points, divided by the number of
 * corners that name the point. 1/8 for a hexahedron. */
static HX_HD double hx_cell_share(const int32_t conn[8], int a)
{
    int n_point = 0, n_corner = 0;
    for (int b = 0; b < 8; b++) {
        n_point += hx_cell_is_first(hx_cell_corners_at(conn, b), b);
        n_corner += conn[b] == conn[a];
    }
    return 1.0 / (double)(n_point * n_corner);
}

/* Reference coordinates of the middle: the mean over the points of the mean over their corners. 0
 * for a hexahedron, the position of the centroid in wedges and pyramids. For a tetrahedron, where
 * the position does not matter, some position inside. */
void hx_cell_middle(const int32_t conn[8], double middle[3]);

/* Lists the distinct corners of a local face (a row of hx_hex_face) around it: 4 or 3, or fewer for
 * an edge or a point of the cell. Returns their number. */
int hx_cell_face(const int32_t conn[8], int face, int32_t node[4]);

/* Returns the local face that has exactly these n corners (3 or 4, distinct, in any order); -1:
 * none. */
int hx_cell_find_face(const int32_t conn[8], int n, const int32_t *node);

/* Returns 1 if two cells name the same points, regardless of order and repetition. */
int hx_cell_has_same_points(const int32_t a[8], const int32_t b[8]);

/* Lists the edges of the cell, each once, ends ascending: 12, 9, 8 or 6. Returns their number. */
int hx_cell_edges(const int32_t conn[8], int32_t edge[12][2]);

/* Corners of a tetrahedron's points in an order for which the edges from the first point span a
 * positive volume. The numbering may be any. */
void hx_cell_tetrahedron(const double *xyz, const int32_t conn[8], int corner[4]);

/* The solid bounded by the cell's faces, without those that are an edge or a point. */
hx_cell_kind hx_cell_kind_of(const int32_t conn[8]);

/* Mean of a collapsed cell's points, each counted once; bitwise independent of their order and
 * repetition. */
void hx_cell_collapsed_centroid(const double *xyz, const int32_t conn[8], double x[3]);

/* Mean of a hexahedron's points. */
static inline void hx_cell_hexahedron_centroid(const double *xyz, const int32_t conn[8],
                                               double x[3])
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) sum[i] += xyz[3 * (int64_t)conn[a] + i];
    for (int i = 0; i < 3; i++) x[i] = 0.125 * sum[i];
}

/* Mean of the points of any cell. */
static inline void hx_cell_centroid(const double *xyz, const int32_t conn[8], double x[3])
{
    if (hx_cell_is_collapsed(conn))
        hx_cell_collapsed_centroid(xyz, conn, x);
    else
        hx_cell_hexahedron_centroid(xyz, conn, x);
}

HX_C_END

#endif
