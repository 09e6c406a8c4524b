/* Meshes of every kind of cell: the boxes used by tests, and the properties of their meshes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesh/hex_jacobian.h"
#include "core/mesh/mesh.h"
#include "core/mesh/mesh_check.h"
#include "core/mesh/mesh_quality.h"
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
        for (int f = 0; f < 6; f++) { /* faces are mapped to faces with the same orientation */
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
    for (int f = 0; f < 6; f++) /* all rotations together: each directed edge once */
        for (int i = 0; i < 4; i++)
            CHECK(seen[hx_hex_face[f][i]][hx_hex_face[f][(i + 1) % 4]] == 1);
}

static void test_kinds(void)
{
    enum { CELL = 3 * 4, ALL = CELL * 7 };
    /* Hexahedra, wedges, pyramids, tetrahedra. Of the 7 layers of the layered mesh, 2 have
     * hexahedra, 3 have 5 pyramids and 2 tetrahedra per cell, 1 has 6 tetrahedra per cell, and 1
     * has 2 wedges per cell. */
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

/* Faces of only one element, ascending: list[6 n_elem]; aborts at a face of three elements. */
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

/* Returns 1 if the face is in a plane of the box. */
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

/* The mesh's own list, whole and of the nodes with z <= 3. */
static void check_boundary(const hx_mesh *mesh, const char *name, int64_t n, const int64_t *single)
{
    int64_t n_face = 0, *face = NULL, n_low = 0, wrong = 0;
    uint8_t *const flag = malloc((size_t)mesh->n_node);
    if (!flag) abort();
    CHECK_OK(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    CHECK_MSG(n_face == n && memcmp(face, single, (size_t)n * sizeof *face) == 0,
              "%s: %lld faces, not %lld", name, (long long)n_face, (long long)n);
    free(face);
    for (int64_t a = 0; a < mesh->n_node; a++) flag[a] = mesh->xyz[3 * a + 2] <= 3.0;
    CHECK_OK(hx_mesh_boundary_faces(mesh, flag, &n_face, &face));
    for (int64_t i = 0; i < n; i++) {
        int is_low = 1;
        for (int k = 0; k < 4; k++)
            is_low &= flag[mesh->conn[8 * (single[i] / 6) + hx_hex_face[single[i] % 6][k]]];
        if (is_low) wrong += n_low >= n_face || face[n_low++] != single[i];
    }
    CHECK_MSG(n_low == n_face && n_low > 12 && wrong == 0, "%s: %lld of %lld", name,
              (long long)n_face, (long long)n_low);
    free(face);
    for (int64_t f = 0, at = 0; f < 6 * mesh->n_elem; f++) {
        const int is_single = at < n && single[at] == f;
        at += is_single;
        wrong += hx_mesh_face_is_inner(mesh, f) == is_single;
    }
    CHECK_MSG(wrong == 0, "%s: %lld", name, (long long)wrong);
    free(flag);
}

/* Every inner face has two elements. */
static void test_faces(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = box_of(kind, 1);
        hx_mesh mesh;
        int wrong = 0;
        CHECK_OK(mixed_create(&mesh, &box));
        mixed_turn(&mesh, 3);
        CHECK_OK(hx_mesh_shuffle(&mesh, 4));
        CHECK_OK(hx_mesh_finish(&mesh));
        int64_t *const single = malloc((size_t)mesh.n_elem * 6 * sizeof *single);
        if (!single) abort();
        const int64_t n = list_single_faces(&mesh, single);
        for (int64_t i = 0; i < n; i++) wrong += !lies_outside(&mesh, single[i]);
        CHECK_MSG(n >= 2 * (3 * 4 + 3 * 7 + 4 * 7) && wrong == 0, "%s: %d of %lld faces inside",
                  mixed_name[kind], wrong, (long long)n);
        check_boundary(&mesh, mixed_name[kind], n, single);
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
            CHECK_REL(mesh.total_volume, 72.0, 1e-13); /* no overlap and no gap */
            hx_mesh_free(&mesh);
        }
}

/* --- the element as a unit of length --- */

/* For undistorted unit cells, the mean over an element's edges by hand. */
static void test_size(void)
{
    const double edge2 = sqrt(2.0), edge3 = sqrt(3.0);
    const double wedge = (4.0 + 2.0 * edge2 + 3.0) / 9.0,
                 tetrahedron = (3.0 + 2 * edge2 + edge3) / 6;
    const double pyramid = (4.0 + 4.0 * 0.5 * edge3) / 8.0;
    const double of_five = (4.0 * (3.0 + 3.0 * edge2) / 6.0 + edge2) / 5.0;
    /* Tetrahedra at the cut faces of pyramids: their edges are 1, 1, sqrt 2, and three of sqrt 3 /
     * 2. Of the 7 layers, 2 have hexahedra, 1 wedges, 1 tetrahedra, and 3 pyramids (5/6 of the
     * volume) and these tetrahedra (1/6). */
    const double half = (2.0 + edge2 + 1.5 * edge3) / 6.0;
    const double n_half = 3.0 * 2.0, n_whole = 6.0; /* a column's tetrahedra */
    const double mixed = (n_half * half + n_whole * tetrahedron) / (n_half + n_whole);
    const double expected[MIXED_N_KIND] = {
        1.0,     wedge,
        pyramid, tetrahedron,
        of_five, (2.0 + wedge + 3.0 * 5.0 / 6.0 * pyramid + (1.0 + 3.0 / 6.0) * mixed) / 7.0};
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {.kind = (mixed_kind)kind, .n = {2, 2, 7}};
        hx_mesh mesh;
        int64_t count[HX_N_SOLID] = {0}, n = 0;
        CHECK_OK(mixed_create_shuffled(&mesh, &box));
        CHECK_REL(mesh.elem_size, expected[kind], 1e-14);
        for (int64_t e = 0; e < mesh.n_elem; e++) count[hx_cell_kind_of(mesh.conn + 8 * e)]++;
        for (int k = 0; k < HX_N_SOLID; k++) n += mesh.n_kind[k] == count[k];
        CHECK(n == HX_N_SOLID && hx_mesh_is_collapsed(&mesh) == (kind != MIXED_HEXAHEDRA));
        hx_mesh_free(&mesh);
    }
}

/* For hexahedra, bitwise the cube root of the mean volume, summed in 1024 consecutive runs of
 * elements. */
static void test_size_of_hexahedra(void)
{
    enum { N_RUN = 1024 };
    mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {12, 11, 13}, .distort = 0.2, .seed = 8};
    hx_mesh mesh;
    double volume = 0.0;
    CHECK_OK(mixed_create_shuffled(&mesh, &box));
    for (int run = 0; run < N_RUN; run++) {
        const int64_t end = mesh.n_elem * (run + 1) / N_RUN;
        double sum = 0.0;
        for (int64_t e = mesh.n_elem * run / N_RUN; e < end; e++) {
            hx_hex_map map;
            hx_hex_map_init(&map, mesh.xyz, mesh.conn + 8 * e);
            sum += hx_hex_volume(&map);
        }
        volume += sum;
    }
    CHECK(mesh.total_volume == volume);
    CHECK(mesh.elem_size == cbrt(volume / (double)mesh.n_elem));
    hx_mesh_free(&mesh);
}

/* --- quality --- */

static int make(hx_mesh *mesh, int64_t n_node, const double (*xyz)[3], int64_t n_elem,
                const int32_t (*conn)[8])
{
    double *const x = malloc((size_t)n_node * sizeof *xyz);
    int32_t *const c = malloc((size_t)n_elem * sizeof *conn);
    if (!x || !c) abort();
    memcpy(x, xyz, (size_t)n_node * sizeof *xyz);
    memcpy(c, conn, (size_t)n_elem * sizeof *conn);
    return hx_mesh_create(mesh, "made", n_node, x, n_elem, c);
}

/* Scaled Jacobian of one cell, checked to be equal in all numberings. */
static double quality_of(int64_t n_node, const double (*xyz)[3], const int32_t conn[8],
                         double aspect)
{
    double first = NAN;
    for (int number = 0; number < 24; number++) {
        int turn[8];
        int32_t turned[1][8];
        hx_mesh mesh;
        hx_mesh_quality q;
        mixed_rotation(number, turn);
        for (int a = 0; a < 8; a++) turned[0][a] = conn[turn[a]];
        CHECK_OK(make(&mesh, n_node, xyz, 1, (const int32_t(*)[8])turned));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_measure(&mesh, &q));
        if (number == 0) first = q.min_scaled_jacobian;
        CHECK_REL(q.min_scaled_jacobian, first, 1e-14);
        CHECK_REL(q.max_aspect, aspect, 1e-14);
        CHECK(q.n_body == 1 && q.n_hinge == 0);
        hx_mesh_free(&mesh);
    }
    return first;
}

/* Equal edges: 1. Flattened by h: det and lengths by hand. */
static void test_quality(void)
{
    static const int32_t tetrahedron[8] = {0, 1, 2, 2, 3, 3, 3, 3},
                         wedge[8] = {0, 1, 2, 2, 3, 4, 5, 5}, pyramid[8] = {0, 1, 2, 3, 4, 4, 4, 4};
    const double s3 = sqrt(3.0), h = 1e-3;
    double tet[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.5 * s3, 0}, {0.5, s3 / 6, sqrt(2.0 / 3.0)}};
    const double roof[6][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.5 * s3, 0},
                               {0, 0, 1}, {1, 0, 1}, {0.5, 0.5 * s3, 1}};
    double tent[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, sqrt(0.5)}};
    CHECK_REL(quality_of(4, (const double(*)[3])tet, tetrahedron, 1.0), 1.0, 1e-14);
    CHECK_REL(quality_of(6, roof, wedge, 1.0), 1.0, 1e-14);
    CHECK_REL(quality_of(5, (const double(*)[3])tent, pyramid, 1.0), 1.0, 1e-14);
    tet[3][2] = h; /* least where two long edges meet: det = s3 / 2 h */
    const double low = sqrt(1.0 / 3.0 + h * h);
    CHECK_REL(quality_of(4, (const double(*)[3])tet, tetrahedron, 1.0 / low),
              sqrt(2.0) * 0.5 * s3 * h / low, 1e-10);
    tent[4][2] = h;
    const double slant = sqrt(0.5 + h * h);
    CHECK_REL(quality_of(5, (const double(*)[3])tent, pyramid, 1.0 / slant), sqrt(2.0) * h / slant,
              1e-10);
    tent[4][2] = 9.0; /* corners nearly at right angles do not exceed the best value */
    CHECK(quality_of(5, (const double(*)[3])tent, pyramid, sqrt(81.5)) == 1.0);
}

/* The element with the least quality by its number, and the number of poor elements. */
static void test_slivers(void)
{
    const mixed_box box = {.kind = MIXED_PYRAMIDS, .n = {3, 3, 3}};
    hx_mesh mesh;
    hx_mesh_quality q;
    CHECK_OK(mixed_create(&mesh, &box));
    /* the centre of the middle cell, which is moved towards the cell's floor */
    int64_t centre = mesh.conn[8 * (6 * 13) + 4];
    const int32_t floor = mesh.conn[8 * (6 * 13 + 4)];
    CHECK(hx_cell_kind_of(mesh.conn + 8 * (6 * 13 + 4)) == HX_CELL_PYRAMID);
    mesh.xyz[3 * centre + 2] = mesh.xyz[3 * floor + 2] + 0.01;
    CHECK_OK(hx_mesh_shuffle(&mesh, 3));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_measure(&mesh, &q));
    CHECK(q.worst_elem == 6 * 13 + 4 && q.n_poor == 1 && q.n_hinge == 0);
    CHECK_REL(q.min_scaled_jacobian, sqrt(2.0) * 0.01 / sqrt(0.5 + 1e-4), 1e-10);
    double sum = 0.0; /* element by element, as `hextop mesh` writes it */
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const double here = hx_mesh_scaled_jacobian(&mesh, e);
        CHECK((hx_mesh_elem_number(&mesh, e) == q.worst_elem) == (here == q.min_scaled_jacobian));
        CHECK(here >= q.min_scaled_jacobian);
        sum += here;
    }
    CHECK_REL(sum / (double)mesh.n_elem, q.mean_scaled_jacobian, 1e-13);
    CHECK_REL(q.min_volume, 0.01 / 3.0, 1e-10);
    hx_mesh_free(&mesh);
}

/* Tetrahedra that share a face, an edge, a node; two on a quadrilateral, which is not a common
 * face. */
static void test_hinges(void)
{
    static const double xyz[10][3] = {{0, 0, 0}, {1, 0, 0},  {0, 1, 0},  {0, 0, 1},  {1, 1, 0},
                                      {1, 1, 1}, {0, -1, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    static const struct {
        int n_hinge, n_elem;
        int32_t corner[2][4];
    } cases[] = {{0, 2, {{0, 1, 2, 3}, {1, 4, 2, 3}}},
                 {2, 2, {{0, 1, 2, 3}, {0, 7, 6, 3}}},
                 {1, 2, {{0, 1, 2, 3}, {0, 8, 7, 9}}}};
    for (int i = 0; i < 3; i++) {
        double used[8][3];
        int32_t conn[2][8], number[10];
        int n = 0;
        hx_mesh mesh;
        hx_mesh_quality q;
        for (int a = 0; a < 10; a++) number[a] = -1;
        for (int k = 0; k < 8; k++) {
            const int32_t a = cases[i].corner[k / 4][k % 4];
            if (number[a] >= 0) continue;
            memcpy(used[n], xyz[a], sizeof used[n]);
            number[a] = n++;
        }
        for (int e = 0; e < 2; e++) {
            static const int place[8] = {0, 1, 2, 2, 3, 3, 3, 3};
            for (int a = 0; a < 8; a++) conn[e][a] = number[cases[i].corner[e][place[a]]];
        }
        CHECK_OK(make(&mesh, n, (const double(*)[3])used, 2, (const int32_t(*)[8])conn));
        mixed_turn(&mesh, 7);
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_measure(&mesh, &q));
        CHECK_MSG(q.n_hinge == cases[i].n_hinge && q.n_body == 1, "%d: %lld", i,
                  (long long)q.n_hinge);
        hx_mesh_free(&mesh);
    }
}

/* A box has no hinges, and the quality does not depend on the numbering of the corners. */
static void test_measure(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = box_of(kind, 2);
        hx_mesh_quality q[2];
        for (int turned = 0; turned < 2; turned++) {
            hx_mesh mesh;
            CHECK_OK(mixed_create(&mesh, &box));
            if (turned) mixed_turn(&mesh, 11);
            CHECK_OK(hx_mesh_finish(&mesh));
            CHECK_OK(hx_mesh_measure(&mesh, &q[turned]));
            CHECK(q[turned].n_hinge == 0 && q[turned].n_body == 1);
            CHECK(q[turned].min_scaled_jacobian > 0.1 && q[turned].max_aspect < 6.0);
            hx_mesh_free(&mesh);
        }
        CHECK_REL(q[1].min_scaled_jacobian, q[0].min_scaled_jacobian, 1e-12);
        CHECK_REL(q[1].mean_scaled_jacobian, q[0].mean_scaled_jacobian, 1e-12);
        CHECK_REL(q[1].max_aspect, q[0].max_aspect, 1e-14);
    }
}

/* --- meshes that do not fit --- */

/* Whole boxes have no errors, in any numbering. */
static void test_fits(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = box_of(kind, 5);
        hx_mesh mesh;
        hx_notes notes = {0};
        CHECK_OK(mixed_create(&mesh, &box));
        mixed_turn(&mesh, 5);
        CHECK_OK(hx_mesh_shuffle(&mesh, 5));
        CHECK_OK(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, &notes));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, &notes));
        CHECK(notes.n == 0);
        hx_mesh_free(&mesh);
    }
}

/* Two box cells, one on the other, each of one kind; a corner between them is raised by `bend`. */
static void stack(hx_mesh *mesh, int lower, int upper, double bend)
{
    static const int32_t corner[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    const mixed_box box[2] = {{.kind = (mixed_kind)lower, .n = {1, 1, 2}},
                              {.kind = (mixed_kind)upper, .n = {1, 1, 2}}};
    int32_t n_node = 12;
    double *const xyz = malloc(14 * 3 * sizeof *xyz);
    mixed_cells cells = {malloc(2 * MIXED_MOST * 8 * sizeof *cells.conn), 0};
    if (!xyz || !cells.conn) abort();
    mixed_place_nodes(&box[0], xyz);
    xyz[3 * 4 + 2] += bend;
    for (int k = 0; k < 2; k++) {
        const int at[3] = {0, 0, k};
        int32_t node[9];
        for (int a = 0; a < 8; a++) node[a] = corner[a] + 4 * k;
        node[MIXED_CENTRE] = n_node;
        mixed_place_centre(node, xyz);
        mixed_put_cell(&box[k], &cells, at, node);
        n_node += box[k].kind == MIXED_PYRAMIDS;
    }
    CHECK_OK(hx_mesh_create(mesh, "stack", n_node, xyz, cells.n_elem, cells.conn));
    mixed_turn(mesh, 3);
}

/* Checks the mesh of two box cells. It must be refused with this message, or accepted with a
 * warning if parts may stay apart; text = NULL: the cells fit. */
static void check_stack(int lower, int upper, double bend, const char *text, const char *other)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    stack(&mesh, lower, upper, bend);
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_check_conforming(&mesh, 1, &notes));
    CHECK_MSG(notes.n == (text ? 1 : 0), "%s on %s", mixed_name[upper], mixed_name[lower]);
    if (!text) {
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, &notes));
    } else {
        CHECK(notes.n > 0 && notes.note[0].level == HX_NOTE_WARNING);
        CHECK_FAILS(hx_mesh_check_conforming(&mesh, 0, &notes), HX_EINPUT, text);
        CHECK_MSG(strstr(hx_error_message(), other) != NULL, "%s", hx_error_message());
    }
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* Upper faces of wedges and of six tetrahedra are cut from corner 4 to 6, of five tetrahedra from 5
 * to 7 in the lower cell. */
static void test_stacks(double bend)
{
    const char *const on_quadrilateral = "lies on a quadrilateral of element 0 (2 such triangles)";
    const char *const overlap = "overlap without being equal (4 such triangles)";
    const int quads[2] = {MIXED_HEXAHEDRA, MIXED_PYRAMIDS};
    const int triangles[3] = {MIXED_WEDGES, MIXED_TETRAHEDRA, MIXED_TETRAHEDRA_5};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) check_stack(quads[i], quads[k], bend, NULL, NULL);
    for (int k = 0; k < 3; k++) {
        check_stack(MIXED_HEXAHEDRA, triangles[k], bend, on_quadrilateral,
                    "a triangle of element 1 ");
        check_stack(MIXED_PYRAMIDS, triangles[k], bend, "a triangle of element 6 ",
                    "lies on a quadrilateral of element 5 (2 such triangles)");
        for (int i = 0; i < 3; i++)
            if ((i == 2) == (k == 2))
                check_stack(triangles[i], triangles[k], bend, NULL, NULL);
            else
                check_stack(triangles[i], triangles[k], bend, overlap, "triangles of elements");
    }
}

/* One tetrahedron on three, whose common node lies in its face at the given height. */
static void test_hanging(double height, int hangs)
{
    const double xyz[6][3] = {{0, 0, 0}, {3, 0, 0},  {0, 3, 0},
                              {0, 0, 3}, {0, 0, -3}, {1, 1, height}};
    static const int32_t conn[4][8] = {{0, 1, 2, 2, 3, 3, 3, 3},
                                       {0, 5, 1, 1, 4, 4, 4, 4},
                                       {1, 5, 2, 2, 4, 4, 4, 4},
                                       {2, 5, 0, 0, 4, 4, 4, 4}};
    hx_mesh mesh;
    CHECK_OK(make(&mesh, 6, xyz, 4, conn));
    mixed_turn(&mesh, 9);
    CHECK_OK(hx_mesh_finish(&mesh));
    if (hangs) {
        CHECK_FAILS(hx_mesh_check_conforming(&mesh, 0, NULL), HX_EINPUT,
                    "node 5 is a hanging node: it lies on a face of element 0");
    } else {
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, NULL));
    }
    hx_mesh_free(&mesh);
}

/* One cell in several numberings. */
static void test_twins(void)
{
    static const int32_t cell[3][8] = {
        {0, 1, 2, 2, 3, 3, 3, 3}, {0, 1, 2, 2, 4, 5, 6, 6}, {0, 1, 2, 3, 4, 4, 4, 4}};
    static const int32_t other[3][8] = {
        {3, 3, 3, 3, 0, 2, 1, 1}, {0, 4, 5, 1, 2, 6, 6, 2}, {1, 2, 3, 0, 4, 4, 4, 4}};
    static const double xyz[7][3] = {{0, 0, 0}, {1, 0, 0},   {1, 1, 0},    {0, 1, 0.7},
                                     {0, 0, 1}, {1, 0, 1.1}, {1, 1.2, 0.9}};
    for (int i = 0; i < 3; i++) {
        double used[7][3];
        int32_t conn[2][8], number[7];
        int n = 0;
        hx_mesh mesh;
        for (int a = 0; a < 7; a++) number[a] = -1;
        for (int a = 0; a < 8; a++) {
            if (number[cell[i][a]] >= 0) continue;
            memcpy(used[n], xyz[cell[i][a]], sizeof used[n]);
            number[cell[i][a]] = n++;
        }
        for (int a = 0; a < 8; a++) {
            conn[0][a] = number[cell[i][a]];
            conn[1][a] = number[other[i][a]];
        }
        CHECK_OK(make(&mesh, n, (const double(*)[3])used, 2, (const int32_t(*)[8])conn));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_FAILS(hx_mesh_check_conforming(&mesh, 0, NULL), HX_EINPUT,
                    "elements 0 and 1 have the same nodes");
        hx_mesh_free(&mesh);
    }
}

/* Two adjacent boxes whose nodes between them are duplicated. */
static void test_coincident(void)
{
    static const int faces[MIXED_N_KIND] = {1, 1, 1, 2, 2, 0};
    enum { NY = 3, NZ = 7, ALL = (NY + 1) * (NZ + 1) };
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {.kind = (mixed_kind)kind, .n = {2, NY, NZ}};
        hx_mesh one, mesh;
        hx_notes notes = {0};
        char text[80];
        CHECK_OK(mixed_create(&one, &box));
        const size_t n_xyz = 3 * (size_t)one.n_node, n_conn = 8 * (size_t)one.n_elem;
        double *const xyz = malloc(2 * n_xyz * sizeof *xyz);
        int32_t *const conn = malloc(2 * n_conn * sizeof *conn);
        if (!xyz || !conn) abort();
        memcpy(xyz, one.xyz, n_xyz * sizeof *xyz);
        memcpy(conn, one.conn, n_conn * sizeof *conn);
        for (size_t i = 0; i < n_xyz; i++) xyz[n_xyz + i] = xyz[i] + (i % 3 == 0 ? 2.0 : 0.0);
        for (size_t i = 0; i < n_conn; i++) conn[n_conn + i] = conn[i] + (int32_t)one.n_node;
        CHECK_OK(hx_mesh_create(&mesh, "two", 2 * one.n_node, xyz, 2 * one.n_elem, conn));
        mixed_turn(&mesh, 2);
        /* with MIXED_LAYERS, only the layer of tetrahedra has two triangles per cell there */
        const int n_pair = kind == MIXED_LAYERS ? NY * (NZ + 1) : NY * NZ * faces[kind];
        snprintf(text, sizeof text, "meet at %d pairs of equal faces", n_pair);
        CHECK_FAILS(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT, text);
        CHECK_OK(hx_mesh_repair_coincident(&mesh, 1e-6, NULL, &notes));
        CHECK(notes.n == 1 && mesh.n_node == 2 * one.n_node - ALL);
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, NULL));
        hx_mesh_free(&one);
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
}

int main(void)
{
    test_rotations();
    test_kinds();
    test_faces();
    test_finish();
    test_size();
    test_size_of_hexahedra();
    test_quality();
    test_slivers();
    test_hinges();
    test_measure();
    test_fits();
    test_stacks(0.0);
    test_stacks(0.1);
    test_hanging(0.0, 1);
    test_hanging(-0.1, 0);
    test_twins();
    test_coincident();
    TEST_END();
}
