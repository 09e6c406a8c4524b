/* The 0/1 design of a grey design: thresholds that preserve the volume, connected pieces. */
#include <stdlib.h>
#include <string.h>

#include "core/base/sum.h"
#include "core/design/black_white.h"
#include "core/design/hinges.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

/* Volume of the elements at or above the threshold, minus that of the grey design. */
static double excess(int n, const double *volume, const double *density, double threshold)
{
    double sum = 0.0;
    for (int e = 0; e < n; e++) sum += volume[e] * ((density[e] >= threshold) - density[e]);
    return sum;
}

/* Finds the threshold that preserves the grey design's volume. */
static int keep_volume(int n, const double *volume, const double *density, double *threshold)
{
    return hx_threshold_of_volume(n, volume, density, hx_dot(n, volume, density), threshold);
}

static void check_threshold(int n, int n_level, uint64_t seed)
{
    double volume[500] = {0.0}, density[500] = {0.0}, threshold, best = INFINITY;
    for (int e = 0; e < n; e++) {
        volume[e] = fixture_uniform(&seed, 0.5, 2.0);
        density[e] = fixture_uniform(&seed, 0.0, 1.0);
        if (n_level) density[e] = floor(density[e] * (n_level + 1)) / n_level;
        density[e] = fmin(density[e], 1.0);
    }
    CHECK_OK(keep_volume(n, volume, density, &threshold));
    for (int e = 0; e < n; e++) test_least(&best, fabs(excess(n, volume, density, density[e])));
    CHECK_ABS(fabs(excess(n, volume, density, threshold)), best, 1e-12 * n);
    if (n_level == 0) CHECK(best <= 2.0); /* at most one element */
}

static void check_thresholds(void)
{
    static const double volume[3] = {1.0, 1.0, 1.0}, solid[3] = {1.0, 1e-3, 1.0},
                        grey[3] = {0.3, 0.3, 0.3}, faint[3] = {0.0, 0.0, 0.1};
    double threshold;
    CHECK_OK(keep_volume(3, volume, solid, &threshold));
    CHECK(threshold == 1.0);
    CHECK_OK(keep_volume(3, volume, grey, &threshold));
    CHECK(threshold == 0.3); /* only all elements or none are possible: all is chosen */
    CHECK_OK(keep_volume(3, volume, faint, &threshold));
    CHECK(threshold == 0.1); /* at least one element */
    CHECK_OK(hx_threshold_of_volume(3, volume, faint, 2.0, &threshold));
    /* elements of equal density stay together; volumes 1 and 3 are equally near */
    CHECK(threshold == 0.1);
    CHECK_OK(hx_threshold_of_volume(3, volume, faint, 2.1, &threshold));
    CHECK(threshold == 0.0);
    for (int n = 1; n <= 500; n = 2 * n + 1)
        for (int n_level = 0; n_level < 6; n_level++) check_threshold(n, n_level, 17 + (uint64_t)n);
}

/* A box of 5 x 4 x 3 whose cells are solid unless their character is a dot. */
static void check_pieces(const char *const layer[3], int64_t n_by_nodes, int64_t n_by_faces,
                         fixture_order order)
{
    enum { NX = 5, NY = 4, NZ = 3, N = NX * NY * NZ };
    const fixture_box box = {{NX, NY, NZ}, {NX, NY, NZ}, 0.1, 0};
    hx_mesh mesh;
    uint8_t is_solid[N];
    double volume[N];
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, order));
    for (int64_t e = 0; e < N; e++) {
        const int64_t i = hx_mesh_elem_number(&mesh, e);
        is_solid[e] = layer[i / (NX * NY)][i % (NX * NY)] != '.';
        volume[e] = 1.0 + 1e-3 * (double)i;
    }
    for (int kind = 0; kind < 2; kind++) {
        hx_pieces pieces;
        int64_t n_elem[N] = {0};
        double sum[N] = {0.0};
        CHECK_OK(hx_pieces_create(&pieces, &mesh, is_solid, volume,
                                  kind == 0 ? HX_PIECES_BY_NODES : HX_PIECES_BY_FACES));
        CHECK_MSG(pieces.n == (kind == 0 ? n_by_nodes : n_by_faces), "%d pieces", (int)pieces.n);
        for (int64_t e = 0; e < N; e++) {
            CHECK((pieces.of[e] >= 0) == is_solid[e] && pieces.of[e] < pieces.n);
            if (!is_solid[e]) continue;
            n_elem[pieces.of[e]]++;
            sum[pieces.of[e]] += volume[e];
        }
        for (int64_t p = 0; p < pieces.n; p++) {
            CHECK(pieces.n_elem[p] == n_elem[p]);
            CHECK_REL(pieces.volume[p], sum[p], 1e-13);
            if (p > 0) CHECK(pieces.volume[p] <= pieces.volume[p - 1]);
        }
        /* cells with the same letter are one piece by faces */
        for (int64_t e = 0; kind == 1 && e < N; e++)
            for (int64_t f = 0; f < e; f++) {
                const int64_t i = hx_mesh_elem_number(&mesh, e), j = hx_mesh_elem_number(&mesh, f);
                const char a = layer[i / (NX * NY)][i % (NX * NY)];
                const char b = layer[j / (NX * NY)][j % (NX * NY)];
                if (a != '.' && b != '.') CHECK((a == b) == (pieces.of[e] == pieces.of[f]));
            }
        hx_pieces_free(&pieces);
        hx_pieces_free(&pieces);
    }
    hx_mesh_free(&mesh);
}

/* Number of distinct nodes that two cells share. */
static int count_common(const int32_t a[8], const int32_t b[8])
{
    int corner[8], n_interface = 0;
    const int n = hx_cell_distinct(a, corner);
    for (int k = 0; k < n; k++) {
        int named = 0;
        for (int i = 0; i < 8; i++) named |= b[i] == a[corner[k]];
        n_interface += named;
    }
    return n_interface;
}

/* Finds the solid elements connected with seen[0] by at least n_least common nodes per step;
 * returns their number. */
static int64_t spread(const hx_mesh *mesh, int n_least, uint8_t *is_left, int32_t *seen)
{
    int64_t n_seen = 1;
    is_left[seen[0]] = 0;
    for (int64_t at = 0; at < n_seen; at++)
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            const int32_t *const conn = mesh->conn + 8 * (int64_t)seen[at];
            if (!is_left[e] || count_common(conn, mesh->conn + 8 * e) < n_least) continue;
            is_left[e] = 0;
            seen[n_seen++] = (int32_t)e;
        }
    return n_seen;
}

/* In conforming meshes three common nodes are a common face. */
static void check_pairs(const hx_mesh *mesh, const uint8_t *is_solid, int by_faces,
                        const char *name)
{
    const size_t n = (size_t)mesh->n_elem;
    int64_t n_piece = 0, wrong = 0;
    hx_pieces pieces;
    int32_t *const seen = malloc(n * sizeof *seen);
    uint8_t *const is_left = malloc(n);
    double *const volume = malloc(n * sizeof *volume);
    if (!seen || !is_left || !volume) abort();
    for (size_t e = 0; e < n; e++) volume[e] = 1.0;
    memcpy(is_left, is_solid, n);
    CHECK_OK(hx_pieces_create(&pieces, mesh, is_solid, volume,
                              by_faces ? HX_PIECES_BY_FACES : HX_PIECES_BY_NODES));
    for (size_t e = 0; e < n; e++) {
        if (!is_left[e]) continue;
        seen[0] = (int32_t)e;
        const int64_t n_seen = spread(mesh, by_faces ? 3 : 1, is_left, seen);
        for (int64_t at = 0; at < n_seen; at++) wrong += pieces.of[seen[at]] != pieces.of[e];
        wrong += pieces.n_elem[pieces.of[e]] != n_seen;
        n_piece++;
    }
    CHECK_MSG(wrong == 0 && pieces.n == n_piece, "%s: %lld, %d pieces, not %d", name,
              (long long)wrong, (int)pieces.n, (int)n_piece);
    free(seen);
    free(is_left);
    free(volume);
    hx_pieces_free(&pieces);
}

/* Random solid elements of every kind of cell, checked against all pairs of elements. */
static void test_kinds(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            const mixed_box box = {.kind = (mixed_kind)kind, .n = {2, 3, 5}, .distort = 0.1};
            uint64_t state = seed;
            hx_mesh mesh;
            CHECK_OK(mixed_create(&mesh, &box));
            mixed_turn(&mesh, seed);
            CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
            uint8_t *const is_solid = malloc((size_t)mesh.n_elem);
            if (!is_solid) abort();
            for (int64_t e = 0; e < mesh.n_elem; e++)
                is_solid[e] = fixture_uniform(&state, 0.0, 1.0) < 0.4;
            check_pairs(&mesh, is_solid, 0, mixed_name[kind]);
            check_pairs(&mesh, is_solid, 1, mixed_name[kind]);
            free(is_solid);
            hx_mesh_free(&mesh);
        }
}

/* ---- hinges ---- */

/* A box of 5 x 4 x 3 as in check_pieces. */
static void check_hinges(const char *const layer[3], const hx_hinges *expected, const double *at,
                         fixture_order order)
{
    const fixture_box box = {.n = {5, 4, 3}, .length = {5.0, 4.0, 3.0}};
    uint8_t is_solid[60] = {0};
    hx_hinges found;
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, order));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&mesh, e, x);
        is_solid[e] = layer[(int)x[2]][5 * (int)x[1] + (int)x[0]] != '.';
    }
    for (int n_thread = 1; n_thread <= 2; n_thread++) {
        fixture_set_threads(n_thread);
        CHECK_OK(hx_hinges_find(&mesh, is_solid, &found));
        CHECK_MSG(found.n_edge == expected->n_edge && found.n_point == expected->n_point &&
                      found.n_place == expected->n_place && found.largest == expected->largest,
                  "%lld edges, %lld points, %lld places, %lld in the largest",
                  (long long)found.n_edge, (long long)found.n_point, (long long)found.n_place,
                  (long long)found.largest);
        CHECK((found.node >= 0) == (found.n_place > 0));
        for (int d = 0; d < 3 && found.node >= 0; d++)
            CHECK_ABS(mesh.xyz[3 * found.node + d], at[d], 1e-12);
    }
    hx_mesh_free(&mesh);
}

static void test_known_hinges(void)
{
    static const char empty[] = "....................";
    static const struct {
        const char *layer[3];
        hx_hinges found;
        double at[3];
    } list[] = {
        /* a bar, an L, nothing */
        {{"aaaaa...............", empty, empty}, {0, 0, 0, 0, 0}, {0}},
        {{"aaaaaa....a.........", "a...................", empty}, {0, 0, 0, 0, 0}, {0}},
        {{empty, empty, empty}, {0, 0, 0, 0, 0}, {0}},
        /* two cubes at an edge, at a point */
        {{"a.....b.............", empty, empty}, {1, 0, 1, 1, 0}, {1.0, 1.0, 0.0}},
        {{"a...................", "......b.............", empty}, {0, 1, 1, 1, 0}, {1.0, 1.0, 1.0}},
        /* a line of two edges and, apart from it, one at a point */
        {{"a.....b.............", "a.....b............c", ".............d......"},
         {2, 1, 2, 2, 0},
         {1.0, 1.0, 0.0}},
        /* a checkerboard in one layer: every inner edge, twelve places */
        {{"a.a.a.a.a.a.a.a.a.a.", empty, empty}, {12, 0, 12, 1, 0}, {1.0, 1.0, 0.0}},
        /* solid above and below the two cubes: still only an edge between them */
        {{"aa...aa.............", "a.....a.............", "aa...aa............."},
         {1, 0, 1, 1, 0},
         {1.0, 1.0, 1.0}}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (int order = 0; order < 3; order++)
            check_hinges(list[i].layer, &list[i].found, list[i].at, (fixture_order)order);
}

/* 1: nodes a and b are ends of an edge of element e, or a = b and it is one of its nodes. */
static int has_edge(const hx_mesh *mesh, int64_t e, int32_t a, int32_t b)
{
    for (int face = 0; face < 6; face++) {
        int32_t ring[4];
        const int n = hx_cell_face(mesh->conn + 8 * e, face, ring);
        for (int i = 0; n >= 3 && i < n; i++) {
            const int32_t x = ring[i], y = a == b ? x : ring[(i + 1) % n];
            if ((x == a && y == b) || (x == b && y == a)) return 1;
        }
    }
    return 0;
}

/* 1: elements x and y share a face with the nodes a and b. */
static int share_face_at(const hx_mesh *mesh, int64_t x, int64_t y, int32_t a, int32_t b)
{
    for (int face = 0; face < 6; face++) {
        int32_t ring[4];
        const int n = hx_cell_face(mesh->conn + 8 * x, face, ring);
        int n_common = 0, has_a = 0, has_b = 0;
        for (int i = 0; n >= 3 && i < n; i++) {
            int is_there = 0;
            for (int k = 0; k < 8; k++) is_there |= mesh->conn[8 * y + k] == ring[i];
            n_common += is_there;
            has_a |= ring[i] == a;
            has_b |= ring[i] == b;
        }
        if (n >= 3 && n_common == n && has_a && has_b) return 1;
    }
    return 0;
}

/* Number of groups of the solid elements around the edge from a to b, or at the node a = b, by common
 * faces there and, if `by_edges`, common edges at a. */
static int groups_around(const hx_mesh *mesh, const uint8_t *is_solid, int32_t a, int32_t b,
                         int by_edges)
{
    int64_t elem[64];
    int group[64], n = 0, n_group = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (is_solid[e] && n < 64 && has_edge(mesh, e, a, b)) elem[n++] = e;
    for (int i = 0; i < n; i++) group[i] = i;
    for (int round = 0; round < n; round++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) {
                int joined = share_face_at(mesh, elem[i], elem[k], a, b);
                for (int64_t c = 0; by_edges && !joined && c < mesh->n_node; c++)
                    joined = c != a && has_edge(mesh, elem[i], a, (int32_t)c) &&
                             has_edge(mesh, elem[k], a, (int32_t)c);
                if (joined && group[k] > group[i]) group[k] = group[i];
            }
    for (int i = 0; i < n; i++) n_group += group[i] == i;
    return n_group;
}

/* Random solids of every kind of cell against all pairs of elements. */
static void test_random_hinges(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {
            .kind = (mixed_kind)kind, .n = {3, 3, kind == MIXED_LAYERS ? 5 : 2}, .distort = 0.1};
        uint64_t state = 7;
        hx_mesh mesh;
        hx_hinges found;
        int64_t n_edge = 0, n_point = 0;
        CHECK_OK(mixed_create(&mesh, &box));
        mixed_turn(&mesh, 3);
        CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
        uint8_t *const is_solid = malloc((size_t)mesh.n_elem);
        if (!is_solid) abort();
        for (int64_t e = 0; e < mesh.n_elem; e++)
            is_solid[e] = fixture_uniform(&state, 0.0, 1.0) < 0.5;
        for (int32_t a = 0; a < mesh.n_node; a++) {
            n_point += groups_around(&mesh, is_solid, a, a, 1) > 1;
            for (int32_t b = a + 1; b < mesh.n_node; b++)
                n_edge += groups_around(&mesh, is_solid, a, b, 0) > 1;
        }
        CHECK_OK(hx_hinges_find(&mesh, is_solid, &found));
        CHECK_MSG(found.n_edge == n_edge && found.n_point == n_point && n_edge + n_point > 0,
                  "%s: %lld of %lld edges, %lld of %lld points", mixed_name[kind],
                  (long long)found.n_edge, (long long)n_edge, (long long)found.n_point,
                  (long long)n_point);
        free(is_solid);
        hx_mesh_free(&mesh);
    }
}

int main(void)
{
    /* rows along x for y = 0 to 3; layers of z */
    static const char *const full[3] = {"aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa",
                                        "aaaaaaaaaaaaaaaaaaaa"};
    static const char *const none[3] = {"....................", "....................",
                                        "...................."};
    static const char *const two[3] = {
        "aa..b"
        "aa..b"
        "....b"
        "....b",
        "....b"
        "....b"
        "....b"
        "....b",
        "....................",
    };
    /* b touches a at an edge, c touches b at a corner; d touches none */
    static const char *const hinges[3] = {"aa..."
                                          "aa..."
                                          "..b.."
                                          ".....",
                                          "....."
                                          "....."
                                          "....."
                                          "...c.",
                                          "d...."
                                          "....."
                                          "....."
                                          "...c."};
    fixture_set_threads(1);
    check_thresholds();
    for (int order = 0; order < 3; order++) {
        check_pieces(full, 1, 1, (fixture_order)order);
        check_pieces(none, 0, 0, (fixture_order)order);
        check_pieces(two, 2, 2, (fixture_order)order);
        check_pieces(hinges, 2, 4, (fixture_order)order);
    }
    test_kinds();
    test_known_hinges();
    test_random_hinges();
    TEST_END();
}
