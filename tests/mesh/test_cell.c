/* Cells whose corners name the same point several times: every possible way, compared with the
 * shape that follows from their faces. */
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/mesh/cell.h"
#include "core/mesh/mesh.h"
#include "tests/lib/test.h"

/* The next way to assign points to eight corners (label[a] <= 1 + the largest before it); 0 at the
 * end. Starting with all labels 0, there are 4140 ways. */
static int next_collapse(int label[8])
{
    for (int a = 7; a > 0; a--) {
        int most = 0;
        for (int b = 0; b < a; b++) most = label[b] > most ? label[b] : most;
        if (label[a] > most) continue;
        label[a]++;
        for (int b = a + 1; b < 8; b++) label[b] = 0;
        return 1;
    }
    return 0;
}

static int count_labels(const int label[8])
{
    int most = 0;
    for (int a = 0; a < 8; a++) most = label[a] > most ? label[a] : most;
    return most + 1;
}

/* A node for each label, in another order than the labels. */
static int32_t node_of(int label)
{
    return 9 + (3 * label + 5) % 8;
}

static void name_nodes(const int label[8], int32_t conn[8])
{
    for (int a = 0; a < 8; a++) conn[a] = node_of(label[a]);
}

/* edge[a][b] += 1 along each proper face; 0 if a face has the same point at opposite corners. */
static int walk_faces(const int label[8], int edge[8][8])
{
    for (int f = 0; f < 6; f++) {
        int p[4], is_named[8] = {0}, n = 0, n_step = 0;
        for (int i = 0; i < 4; i++) p[i] = label[hx_hex_face[f][i]];
        for (int i = 0; i < 4; i++) n += !is_named[p[i]]++;
        for (int i = 0; i < 4; i++) n_step += p[i] != p[(i + 1) % 4];
        if (n_step > 2 && n_step != n) return 0;
        for (int i = 0; i < 4 && n > 2; i++)
            if (p[i] != p[(i + 1) % 4]) edge[p[i]][p[(i + 1) % 4]]++;
    }
    return 1;
}

/* Finds the kind from the edges. Each edge must lie on two faces that traverse it in opposite
 * directions, and three or more edges must meet at each point. Wedges, pyramids and tetrahedra have
 * 9, 8 and 6 edges; no other solid has the same numbers of points and edges. */
static hx_cell_kind kind_by_edges(const int label[8])
{
    int edge[8][8] = {{0}}, n_edge = 0;
    const int n = count_labels(label);
    if (!walk_faces(label, edge)) return HX_CELL_OTHER;
    for (int a = 0; a < n; a++) {
        int n_at = 0;
        for (int b = 0; b < n; b++) {
            if (edge[a][b] > 1 || edge[a][b] != edge[b][a]) return HX_CELL_OTHER;
            n_at += edge[a][b];
        }
        if (n_at < 3) return HX_CELL_OTHER;
        n_edge += n_at;
    }
    n_edge /= 2;
    if (n == 8 && n_edge == 12) return HX_CELL_HEXAHEDRON;
    if (n == 6 && n_edge == 9) return HX_CELL_WEDGE;
    if (n == 5 && n_edge == 8) return HX_CELL_PYRAMID;
    return n == 4 && n_edge == 6 ? HX_CELL_TETRAHEDRON : HX_CELL_OTHER;
}

static int has_distinct(const int label[8], const int32_t conn[8])
{
    int corner[8], seen[8] = {0}, n = hx_cell_distinct(conn, corner), good;
    good = n == count_labels(label) && hx_cell_is_collapsed(conn) == (n < 8);
    for (int k = 0; good && k < n; k++) {
        good = label[corner[k]] == k; /* labels are given in the order of first corners */
        for (int a = 0; a < corner[k]; a++) good &= label[a] != label[corner[k]];
        good &= !seen[label[corner[k]]]++;
    }
    return good;
}

static void test_all(void)
{
    int label[8] = {0}, n = 0, wrong_corner = 0, wrong_kind = 0, count[5] = {0};
    do {
        int32_t conn[8];
        name_nodes(label, conn);
        const hx_cell_kind kind = hx_cell_kind_of(conn);
        wrong_corner += !has_distinct(label, conn);
        wrong_kind += kind != kind_by_edges(label);
        count[kind]++;
        n++;
    } while (next_collapse(label));
    CHECK_MSG(n == 4140, "%d", n);
    CHECK_MSG(wrong_corner == 0 && wrong_kind == 0, "%d, %d", wrong_corner, wrong_kind);
    /* Wedges: two parallel edges of one of the six faces are merged. Pyramids: one of the six
     * faces, or three edges of which no two meet or two do, in 24 ways each. */
    CHECK_MSG(count[HX_CELL_HEXAHEDRON] == 1 && count[HX_CELL_WEDGE] == 12 &&
                  count[HX_CELL_PYRAMID] == 54 && count[HX_CELL_TETRAHEDRON] == 102,
              "%d hexahedra, %d wedges, %d pyramids, %d tetrahedra", count[0], count[1], count[2],
              count[3]);
}

typedef struct named {
    hx_cell_kind kind;
    int32_t conn[8];
    int n, corner[8];
} named;

/* Cells as programs write them. The corners of the usual ones are those of the solid, in its
 * order. */
static void test_usual(void)
{
    static const named cell[] = {
        {HX_CELL_HEXAHEDRON, {7, 6, 5, 4, 3, 2, 1, 0}, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
        {HX_CELL_WEDGE, {0, 1, 2, 2, 3, 4, 5, 5}, 6, {0, 1, 2, 4, 5, 6}},
        {HX_CELL_WEDGE, {0, 1, 2, 3, 4, 4, 5, 5}, 6, {0, 1, 2, 3, 4, 6}},
        {HX_CELL_WEDGE, {9, 9, 2, 3, 8, 8, 6, 7}, 6, {0, 2, 3, 4, 6, 7}},
        {HX_CELL_PYRAMID, {0, 1, 2, 3, 4, 4, 4, 4}, 5, {0, 1, 2, 3, 4}},
        {HX_CELL_PYRAMID, {4, 1, 2, 4, 4, 6, 7, 4}, 5, {0, 1, 2, 5, 6}},
        {HX_CELL_TETRAHEDRON, {0, 1, 2, 2, 3, 3, 3, 3}, 4, {0, 1, 2, 4}},
        {HX_CELL_TETRAHEDRON, {5, 5, 5, 5, 1, 1, 2, 3}, 4, {0, 4, 6, 7}},
        {HX_CELL_OTHER, {0, 1, 2, 3, 3, 3, 3, 3}, 4, {0, 1, 2, 3}}, /* its base is no triangle */
        {HX_CELL_OTHER, {0, 1, 2, 2, 4, 5, 6, 7}, 7, {0, 1, 2, 4, 5, 6, 7}}, /* one edge */
        {HX_CELL_OTHER, {0, 0, 2, 2, 4, 4, 6, 6}, 4, {0, 2, 4, 6}},          /* flat */
        {HX_CELL_OTHER, {0, 1, 2, 3, 4, 5, 0, 7}, 7, {0, 1, 2, 3, 4, 5, 7}}, /* across the cell */
        {HX_CELL_OTHER, {0, 1, 0, 3, 4, 5, 6, 7}, 7, {0, 1, 3, 4, 5, 6, 7}}, /* across a face */
        {HX_CELL_OTHER, {3, 3, 3, 3, 3, 3, 3, 3}, 1, {0}},
    };
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        const named *const c = &cell[i];
        int corner[8];
        const int n = hx_cell_distinct(c->conn, corner), kind = (int)hx_cell_kind_of(c->conn);
        CHECK_MSG(kind == (int)c->kind && n == c->n, "cell %d: %d, %d corners", (int)i, kind, n);
        CHECK(n == c->n && memcmp(corner, c->corner, (size_t)n * sizeof *corner) == 0);
        CHECK(hx_cell_is_collapsed(c->conn) == (c->n < 8));
    }
}

enum { N_NODE = 17 };

/* Coordinates whose sums depend on the order of addition. */
static void scatter(double xyz[N_NODE][3])
{
    uint64_t state = 5;
    for (int k = 0; k < N_NODE; k++)
        for (int i = 0; i < 3; i++) {
            const double unit = hx_random_unit(hx_random_next(&state));
            xyz[k][i] = ldexp(2.0 * unit - 1.0, (int)(hx_random_next(&state) % 9));
        }
}

/* Randomly permutes the points of n labels. */
static void mix_labels(uint64_t *state, int n, const int label[8], int mixed[8])
{
    int other[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int k = n - 1; k > 0; k--) {
        const int with = (int)(hx_random_next(state) % (uint64_t)(k + 1)), last = other[k];
        other[k] = other[with];
        other[with] = last;
    }
    for (int a = 0; a < 8; a++) mixed[a] = other[label[a]];
}

/* Permutes the points of labels 0 .. n - 1: the centroid is always the same, and is their mean. */
static void test_centroid(void)
{
    double xyz[N_NODE][3], first[9][3] = {{0.0}};
    int label[8] = {0}, mixed[8], n_seen[9] = {0}, other_bits = 0;
    double worst = 0.0;
    uint64_t state = 6;
    scatter(xyz);
    do {
        int32_t conn[8];
        double x[3];
        const int n = count_labels(label);
        if (n == 8) continue;
        mix_labels(&state, n, label, mixed);
        name_nodes(mixed, conn);
        hx_cell_centroid(xyz[0], conn, x);
        if (n_seen[n]++ == 0) memcpy(first[n], x, sizeof x);
        other_bits += memcmp(first[n], x, sizeof x) != 0;
        for (int i = 0; i < 3; i++) {
            long double mean = 0.0L, size = 0.0L;
            for (int k = 0; k < n; k++) mean += (long double)xyz[node_of(k)][i] / n;
            for (int k = 0; k < n; k++) size += fabsl((long double)xyz[node_of(k)][i]) / n;
            test_worst(&worst, (double)(fabsl((long double)x[i] - mean) / size));
        }
    } while (next_collapse(label));
    CHECK(other_bits == 0);
    CHECK_ABS(worst, 0.0, 8 * 0x1p-53); /* seven roundings of a sum, one of a division */
    CHECK(n_seen[1] == 1 && n_seen[4] == 1701 && n_seen[6] == 266 && n_seen[7] == 28);
}

/* For hexahedra, the sum of the corners in their order; in a mesh, for every kind of cell. */
static void test_mesh_centroid(void)
{
    static const int32_t cell[3][8] = {
        {3, 1, 12, 7, 16, 5, 9, 2}, {4, 4, 4, 4, 6, 6, 0, 8}, {9, 2, 5, 5, 11, 10, 14, 14}};
    static const int point[3][8] = {{0}, {8, 4, 0, 6}, {14, 11, 2, 9, 10, 5}};
    static const int n_point[3] = {0, 4, 6};
    double *const xyz = malloc(sizeof(double[N_NODE][3])), x[3];
    int32_t *const conn = malloc(sizeof cell);
    hx_mesh mesh;
    if (!xyz || !conn) abort();
    scatter((double(*)[3])xyz);
    memcpy(conn, cell, sizeof cell);
    CHECK_OK(hx_mesh_create(&mesh, "three cells", N_NODE, xyz, 3, conn));
    hx_mesh_centroid(&mesh, 0, x);
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int a = 0; a < 8; a++) sum += mesh.xyz[3 * cell[0][a] + i];
        CHECK(x[i] == 0.125 * sum);
    }
    for (int e = 1; e < 3; e++) {
        hx_mesh_centroid(&mesh, e, x);
        for (int i = 0; i < 3; i++) {
            double sum = 0.0, size = 0.0;
            for (int k = 0; k < n_point[e]; k++) sum += mesh.xyz[3 * point[e][k] + i];
            for (int k = 0; k < n_point[e]; k++) size += fabs(mesh.xyz[3 * point[e][k] + i]);
            CHECK_ABS(n_point[e] * x[i], sum, 16 * 0x1p-53 * size);
        }
    }
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_all();
    test_usual();
    test_centroid();
    test_mesh_centroid();
    TEST_END();
}
