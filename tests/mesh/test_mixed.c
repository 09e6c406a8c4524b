/* Meshes of every kind of cell: what the boxes of the tests are, and what the mesh says of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesh/mesh.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static const mixed_box part = {.n = {3, 4, 7}, .length = {3.0, 3.0, 8.0}, .distort = 0.15};

static mixed_box box_of(int kind, uint64_t seed)
{
    mixed_box box = part;
    box.kind = (mixed_kind)kind;
    box.seed = seed;
    return box;
}

/* --- the generator --- */

static void test_rotations(void)
{
    int seen[8][8] = {{0}};
    for (int number = 0; number < 24; number++) {
        int turn[8], is_named[8] = {0};
        mixed_rotation(number, turn);
        for (int a = 0; a < 8; a++) CHECK(is_named[turn[a]]++ == 0);
        seen[turn[0]][turn[1]]++;
        for (int f = 0; f < 6; f++) { /* faces become faces, the same way round */
            int n_same = 0;
            for (int g = 0; g < 6; g++)
                for (int shift = 0; shift < 4; shift++) {
                    int same = 1;
                    for (int i = 0; i < 4; i++)
                        same &= turn[hx_hex_face[f][i]] == hx_hex_face[g][(i + shift) % 4];
                    n_same += same;
                }
            CHECK(n_same == 1);
        }
    }
    for (int f = 0; f < 6; f++) /* all of them: each directed edge once */
        for (int i = 0; i < 4; i++)
            CHECK(seen[hx_hex_face[f][i]][hx_hex_face[f][(i + 1) % 4]] == 1);
}

static void test_kinds(void)
{
    enum { CELL = 3 * 4, ALL = CELL * 7 };
    /* hexahedra, wedges, pyramids, tetrahedra; in layers: 2 of the first, of 2 x 5 + 1 x 5 pyramids
     * and 2 tetrahedra at each cut face, 1 of tetrahedra, 1 of wedges */
    static const int64_t expected[MIXED_N_KIND][4] = {
        {ALL},
        {0, 2 * ALL},
        {0, 0, 6 * ALL},
        {0, 0, 0, 6 * ALL},
        {0, 0, 0, 5 * ALL},
        {2 * CELL, 2 * CELL, 3 * 5 * CELL, (3 * 2 + 6) * CELL}};
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = box_of(kind, 1);
        int64_t count[HX_CELL_OTHER + 1] = {0};
        hx_mesh mesh;
        CHECK_OK(mixed_create(&mesh, &box));
        for (int64_t e = 0; e < mesh.n_elem; e++) count[hx_cell_kind_of(mesh.conn + 8 * e)]++;
        for (int k = 0; k < 4; k++)
            CHECK_MSG(count[k] == expected[kind][k], "%s: %lld of kind %d", mixed_name[kind],
                      (long long)count[k], k);
        CHECK(count[HX_CELL_OTHER] == 0);
        hx_mesh_free(&mesh);
    }
}

/* --- faces, by sorting them all --- */

/* A face by its distinct corners, ascending; with three the first is -1. */
typedef struct sorted_face {
    int32_t node[4];
    int64_t face; /* element * 6 + local face */
} sorted_face;

static int compare_nodes(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int compare_faces(const void *a, const void *b)
{
    const sorted_face *const x = a, *const y = b;
    for (int i = 0; i < 4; i++)
        if (x->node[i] != y->node[i]) return x->node[i] < y->node[i] ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

/* 0 if the face is an edge or a point. */
static int sort_face(const hx_mesh *mesh, int64_t face, sorted_face *to)
{
    int32_t node[4];
    int n = 0;
    to->face = face;
    for (int i = 0; i < 4; i++) node[i] = mesh->conn[8 * (face / 6) + hx_hex_face[face % 6][i]];
    qsort(node, 4, sizeof *node, compare_nodes);
    to->node[0] = -1;
    for (int i = 3; i >= 0; i--)
        if (i == 3 || node[i] != node[i + 1]) to->node[3 - n++] = node[i];
    return n >= 3;
}

/* The faces that one element has, ascending: list[6 n_elem]; a face of three elements aborts. */
static int64_t list_single_faces(const hx_mesh *mesh, int64_t *list)
{
    sorted_face *const face = malloc((size_t)mesh->n_elem * 6 * sizeof *face);
    int64_t n = 0, n_single = 0;
    if (!face) abort();
    for (int64_t f = 0; f < 6 * mesh->n_elem; f++) n += sort_face(mesh, f, &face[n]);
    qsort(face, (size_t)n, sizeof *face, compare_faces);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !memcmp(face[i].node, face[end].node, sizeof face->node);)
            end++;
        CHECK_MSG(end - i <= 2, "%lld elements at a face", (long long)(end - i));
        if (end - i == 1) list[n_single++] = face[i].face;
    }
    free(face);
    for (int64_t i = 1; i < n_single; i++) /* ascending, nearly */
        for (int64_t k = i; k > 0 && list[k - 1] > list[k]; k--) {
            const int64_t other = list[k];
            list[k] = list[k - 1];
            list[k - 1] = other;
        }
    return n_single;
}

/* In a plane of the box. */
static int lies_outside(const hx_mesh *mesh, int64_t face)
{
    int found = 0;
    for (int d = 0; d < 3; d++) {
        int n_low = 0, n_high = 0;
        for (int i = 0; i < 4; i++) {
            const int32_t a = mesh->conn[8 * (face / 6) + hx_hex_face[face % 6][i]];
            n_low += mesh->xyz[3 * a + d] == 0.0;
            n_high += mesh->xyz[3 * a + d] == part.length[d];
        }
        found |= n_low == 4 || n_high == 4;
    }
    return found;
}

/* Every face inside has two elements. */
static void test_conforming(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = box_of(kind, 1);
        hx_mesh mesh;
        int wrong = 0;
        CHECK_OK(mixed_create_shuffled(&mesh, &box));
        int64_t *const single = malloc((size_t)mesh.n_elem * 6 * sizeof *single);
        if (!single) abort();
        const int64_t n = list_single_faces(&mesh, single);
        for (int64_t i = 0; i < n; i++) wrong += !lies_outside(&mesh, single[i]);
        CHECK_MSG(n >= 2 * (3 * 4 + 3 * 7 + 4 * 7) && wrong == 0, "%s: %d of %lld faces inside",
                  mixed_name[kind], wrong, (long long)n);
        free(single);
        hx_mesh_free(&mesh);
    }
}

static void test_finish(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            const mixed_box box = box_of(kind, seed);
            hx_mesh mesh;
            CHECK_OK(mixed_create(&mesh, &box));
            if (seed > 0) mixed_turn(&mesh, seed);
            CHECK_OK(hx_mesh_finish(&mesh));
            CHECK_REL(mesh.total_volume, 72.0, 1e-13); /* nothing overlaps, nothing is left out */
            hx_mesh_free(&mesh);
        }
}

int main(void)
{
    test_rotations();
    test_kinds();
    test_conforming();
    test_finish();
    TEST_END();
}
