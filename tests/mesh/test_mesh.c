/* Meshes: validation, incidences, order, sets, boundary, quality. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/vector_unit.h"
#include "core/generate/generate.h"
#include "core/mesh/hex_jacobian.h"
#include "core/mesh/mesh.h"
#include "core/mesh/mesh_hash.h"
#include "core/mesh/mesh_quality.h"
#include "tests/lib/test.h"

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    if (!to) abort();
    memcpy(to, from, bytes);
    return to;
}

static const double cube_xyz[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int32_t cube_conn[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static int make(hx_mesh *mesh, int64_t n_node, const double *xyz, int64_t n_elem,
                const int32_t *conn)
{
    return hx_mesh_create(mesh, "made", n_node, copy_of(xyz, (size_t)n_node * 24), n_elem,
                          copy_of(conn, (size_t)n_elem * 32));
}

static void test_create(void)
{
    hx_mesh mesh;
    int32_t conn[8];
    memcpy(conn, cube_conn, sizeof conn);
    conn[5] = 8;
    CHECK_FAILS(make(&mesh, 8, cube_xyz[0], 1, conn), HX_EINPUT, "element 0 names node 8");
    conn[5] = -1;
    CHECK_FAILS(make(&mesh, 8, cube_xyz[0], 1, conn), HX_EINPUT, "element 0 names node -1");
    CHECK_FAILS(hx_mesh_create(&mesh, "none", 0, NULL, 0, NULL), HX_EINPUT, "0 elements");
    CHECK_FAILS(hx_mesh_create(&mesh, "big", 8, malloc(1), HX_MAX_ELEM + 1, malloc(1)), HX_EINPUT,
                "at most");
    CHECK_FAILS(hx_mesh_create(&mesh, "big", (int64_t)1 << 31, malloc(1), 1, malloc(1)), HX_EINPUT,
                "at most");
    CHECK(mesh.xyz == NULL && mesh.name == NULL);
    hx_mesh_free(&mesh);
    CHECK_OK(make(&mesh, 8, cube_xyz[0], 1, cube_conn));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_ABS(mesh.total_volume, 1.0, 1e-15);
    CHECK_ABS(mesh.elem_size, 1.0, 1e-15);
    CHECK(mesh.box_min[2] == 0.0 && mesh.box_max[1] == 1.0);
    CHECK(hx_mesh_bytes(&mesh) >= 8 * 24 + 32 + 9 * 8 + 32);
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINTERNAL, "twice");
    CHECK_FAILS(hx_mesh_shuffle(&mesh, 1), HX_EINTERNAL, "keeps its order");
    CHECK_FAILS(hx_mesh_reorder(&mesh), HX_EINTERNAL, "keeps its order");
    CHECK_FAILS(hx_mesh_distort(&mesh, 0.1, 1), HX_EINTERNAL, "cannot be moved");
    CHECK_FAILS(hx_mesh_add_node_set(&mesh, "late", 1, cube_conn), HX_EINTERNAL, "finished");
    hx_mesh_free(&mesh);
    hx_mesh_free(&mesh);
    hx_mesh_free(NULL);
}

/* Finishes the cube with these coordinates and corners; must fail with this text. */
static void check_refused(const double xyz[8][3], const int32_t conn[8], const char *text)
{
    hx_mesh mesh;
    CHECK_OK(make(&mesh, 8, xyz[0], 1, conn));
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, text);
    CHECK(mesh.node_elem_ptr == NULL);
    hx_mesh_free(&mesh);
}

static void test_finish_refuses(void)
{
    hx_mesh mesh;
    double xyz[9][3];
    int32_t conn[8];
    memset(xyz, 0, sizeof xyz);
    memcpy(xyz, cube_xyz, sizeof cube_xyz);
    CHECK_OK(make(&mesh, 9, xyz[0], 1, cube_conn));
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "node 8 belongs to no element (1 such");
    hx_mesh_free(&mesh);

    xyz[6][1] = NAN;
    check_refused((const double(*)[3])xyz, cube_conn, "node 6 has the coordinates (1, nan, 1)");
    xyz[6][1] = INFINITY;
    check_refused((const double(*)[3])xyz, cube_conn, "node 6 has the coordinates (1, inf, 1)");

    const int32_t mirrored[8] = {4, 5, 6, 7, 0, 1, 2, 3};
    check_refused(cube_xyz, mirrored, "nodes 0-3 and 4-7 look swapped");
    CHECK(strstr(hx_error_message(), "element 0") && strstr(hx_error_message(), "-0.125"));

    memcpy(xyz, cube_xyz, sizeof cube_xyz); /* flat: zero volume */
    for (int i = 4; i < 8; i++) xyz[i][2] = 0.0;
    check_refused((const double(*)[3])xyz, cube_conn, "inverted or degenerate");
    CHECK(!strstr(hx_error_message(), "swapped"));

    memcpy(xyz, cube_xyz, sizeof cube_xyz); /* positive at the Gauss points, not at corner 6 */
    xyz[6][0] = xyz[6][1] = xyz[6][2] = 0.6;
    check_refused((const double(*)[3])xyz, cube_conn, "corner 6");

    memcpy(conn, cube_conn, sizeof conn); /* node 7 stands for node 6 too, which nothing uses */
    conn[6] = 7;
    CHECK_OK(make(&mesh, 8, cube_xyz[0], 1, conn));
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "node 6 belongs to no element");
    hx_mesh_free(&mesh);
    CHECK_OK(make(&mesh, 7, cube_xyz[0], 1, (const int32_t[8]){0, 1, 2, 3, 4, 5, 6, 6}));
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "names node 6 twice (places 6 and 7)");
    hx_mesh_free(&mesh);
    CHECK_FAILS(make(&mesh, 3, cube_xyz[0], 1, (const int32_t[8]){0, 1, 2, 2, 2, 2, 2, 2}),
                HX_EINPUT, "3 nodes");
    hx_mesh_free(&mesh);
}

/* Messages give the original numbers however the mesh was renumbered. */
static void test_original_numbers(void)
{
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            hx_mesh mesh;
            char text[64];
            CHECK_OK(hx_generate_box(&mesh, 4, 4, 4, 4, 4, 4));
            int32_t *const conn = mesh.conn + 8 * 37;
            if (kind == 0) {
                for (int i = 0; i < 4; i++) {
                    const int32_t t = conn[i];
                    conn[i] = conn[i + 4];
                    conn[i + 4] = t;
                }
                snprintf(text, sizeof text, "element 37 is inverted");
            } else if (kind == 1) {
                snprintf(text, sizeof text, "element 37 names node %d twice (places 2 and 3)",
                         conn[2]);
                conn[3] = conn[2];
            } else {
                snprintf(text, sizeof text, "node 31 has the coordinates");
                mesh.xyz[3 * 31] = NAN;
            }
            if (seed > 0) CHECK_OK(hx_mesh_shuffle(&mesh, seed));
            if (seed > 1) CHECK_OK(hx_mesh_reorder(&mesh));
            CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, text);
            CHECK(kind != 0 || strstr(hx_error_message(), "swapped"));
            hx_mesh_free(&mesh);
        }
}

static void check_incidence(const hx_mesh *mesh)
{
    int64_t wrong = mesh->node_elem_ptr[0] != 0, entries = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        int64_t k = mesh->node_elem_ptr[a];
        for (int64_t e = 0; e < mesh->n_elem; e++) /* all pairs: the brute force */
            for (int i = 0; i < 8; i++) {
                if (mesh->conn[e * 8 + i] != a) continue;
                wrong += k >= mesh->node_elem_ptr[a + 1] || mesh->node_elem[k] != e * 8 + i;
                k++;
                entries++;
            }
        wrong += k != mesh->node_elem_ptr[a + 1];
    }
    CHECK_MSG(wrong == 0 && entries == 8 * mesh->n_elem, "%lld wrong", (long long)wrong);
}

static int same_list(const int32_t *list, int64_t n, const int32_t *orig, const int32_t *expected,
                     int64_t n_expected, int64_t n_all)
{
    int64_t wrong = n != n_expected;
    uint8_t *const flag = calloc((size_t)n_all, 1);
    for (int64_t i = 0; i < n; i++) flag[orig ? orig[list[i]] : list[i]] = 1;
    for (int64_t i = 0; i < n_expected; i++) wrong += !flag[expected[i]];
    for (int64_t i = 1; i < n; i++) wrong += list[i - 1] >= list[i];
    free(flag);
    return wrong == 0;
}

/* The renumbered mesh against the one it came from, both finished. */
static void check_same(const hx_mesh *mesh, const hx_mesh *plain)
{
    int64_t wrong = 0, moved = 0;
    uint8_t *const seen = calloc((size_t)mesh->n_node, 1);
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int32_t b = mesh->node_orig[a];
        wrong += memcmp(mesh->xyz + 3 * a, plain->xyz + 3 * b, 24) != 0 || seen[b]++;
        moved += a != b;
        wrong += hx_mesh_node_number(mesh, a) != b;
    }
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int i = 0; i < 8; i++)
            wrong +=
                mesh->node_orig[mesh->conn[8 * e + i]] != plain->conn[8 * mesh->elem_orig[e] + i];
    free(seen);
    CHECK_MSG(wrong == 0, "%lld wrong", (long long)wrong);
    CHECK(moved > mesh->n_node / 2);
    CHECK(mesh->n_set == plain->n_set);
    for (size_t s = 0; s < mesh->n_set; s++) {
        const hx_set *const a = &mesh->set[s], *const b = &plain->set[s];
        int64_t wrong_face = a->n_face != b->n_face;
        CHECK(strcmp(a->name, b->name) == 0);
        CHECK(same_list(a->node, a->n_node, mesh->node_orig, b->node, b->n_node, mesh->n_node));
        CHECK(same_list(a->elem, a->n_elem, mesh->elem_orig, b->elem, b->n_elem, mesh->n_elem));
        for (int64_t i = 0; i < a->n_face; i++) {
            const int64_t face = (int64_t)mesh->elem_orig[a->face[i] / 6] * 6 + a->face[i] % 6;
            int found = 0;
            for (int64_t j = 0; j < b->n_face; j++) found |= b->face[j] == face;
            wrong_face += !found || (i > 0 && a->face[i - 1] >= a->face[i]);
        }
        CHECK(wrong_face == 0);
    }
}

static void make_set_box(hx_mesh *mesh)
{
    const int32_t elem[5] = {7, 3, 3, 60, 7};
    const int64_t face[3] = {9 * 6 + 4, 2 * 6 + 1, 9 * 6 + 4};
    int32_t every[150];
    for (int i = 0; i < 150; i++) every[i] = i;
    CHECK_OK(hx_generate_box(mesh, 5, 4, 4, 5, 4, 4));
    CHECK_OK(hx_mesh_distort(mesh, 0.2, 5));
    CHECK_OK(hx_mesh_add_elem_set(mesh, "elements", 5, elem));
    CHECK_OK(hx_mesh_add_face_set(mesh, "faces", 3, face));
    CHECK_OK(hx_mesh_add_node_set(mesh, "all", 150, every));
    CHECK_OK(hx_mesh_add_node_set(mesh, "empty", 0, NULL));
}

/* A mesh in another order has the same hash; any changed number changes the hash. */
static void check_hashes(hx_mesh *mesh, const hx_mesh *plain)
{
    const hx_hash own = hx_mesh_hash(mesh), other = hx_mesh_hash(plain);
    const hx_hash order = hx_mesh_order_hash(mesh), straight = hx_mesh_order_hash(plain);
    CHECK(own.a == other.a && own.b == other.b);
    CHECK(order.a != straight.a && order.b != straight.b);
    for (int64_t i = 0; i < 3 * mesh->n_node; i += 7) {
        const double x = mesh->xyz[i];
        mesh->xyz[i] = nextafter(x, 10.0);
        const hx_hash moved = hx_mesh_hash(mesh);
        mesh->xyz[i] = x;
        CHECK(moved.a != own.a && moved.b != own.b);
    }
    for (int64_t i = 1; i < 8 * mesh->n_elem; i += 13) {
        const int32_t first = mesh->conn[i - 1], second = mesh->conn[i];
        mesh->conn[i - 1] = second;
        mesh->conn[i] = first;
        const hx_hash swapped = hx_mesh_hash(mesh);
        mesh->conn[i - 1] = first;
        mesh->conn[i] = second;
        CHECK(first == second || (swapped.a != own.a && swapped.b != own.b));
    }
}

static void test_order(void)
{
    hx_mesh plain, mesh, again;
    make_set_box(&plain);
    CHECK(plain.node_orig == NULL && hx_mesh_elem_number(&plain, 5) == 5);
    CHECK_OK(hx_mesh_finish(&plain));
    check_incidence(&plain);
    for (int way = 0; way < 3; way++) {
        make_set_box(&mesh);
        if (way != 1) CHECK_OK(hx_mesh_shuffle(&mesh, 42));
        if (way != 0) CHECK_OK(hx_mesh_reorder(&mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        check_incidence(&mesh);
        check_same(&mesh, &plain);
        check_hashes(&mesh, &plain);
        CHECK_REL(mesh.total_volume, plain.total_volume, 1e-14);
        hx_mesh_free(&mesh);
    }
    make_set_box(&mesh);
    make_set_box(&again);
    CHECK_OK(hx_mesh_shuffle(&mesh, 7));
    CHECK_OK(hx_mesh_shuffle(&again, 7));
    CHECK(memcmp(mesh.conn, again.conn, (size_t)mesh.n_elem * 32) == 0);
    hx_mesh_free(&again);
    make_set_box(&again);
    CHECK_OK(hx_mesh_shuffle(&again, 8));
    CHECK(memcmp(mesh.conn, again.conn, (size_t)mesh.n_elem * 32) != 0);
    hx_mesh_free(&again);
    hx_mesh_free(&mesh);
    hx_mesh_free(&plain);
}

/* A finished mesh with its elements in four parts: the same mesh, part by part, each in its order.
 */
static void test_parts(void)
{
    hx_mesh plain, mesh, before;
    int32_t part[80];
    make_set_box(&plain);
    CHECK_OK(hx_mesh_finish(&plain));
    make_set_box(&before);
    make_set_box(&mesh);
    CHECK_FAILS(hx_mesh_part(&mesh, 4, part), HX_EINTERNAL, "not finished");
    CHECK_OK(hx_mesh_shuffle(&mesh, 42));
    CHECK_OK(hx_mesh_shuffle(&before, 42));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_finish(&before));
    for (int e = 0; e < 80; e++) part[e] = e % 3 + (e > 50);
    CHECK_OK(hx_mesh_part(&mesh, 4, part));
    check_incidence(&mesh);
    check_same(&mesh, &plain);
    check_hashes(&mesh, &plain);
    CHECK(memcmp(mesh.xyz, before.xyz, 3 * (size_t)mesh.n_node * sizeof(double)) == 0);
    CHECK(mesh.parts.n == 4 && mesh.parts.first[0] == 0 && mesh.parts.first[4] == 80);
    for (int p = 0; p < 4; p++)
        for (int64_t e = mesh.parts.first[p]; e < mesh.parts.first[p + 1]; e++) {
            const int32_t old = mesh.parts.before[e];
            CHECK(part[old] == p && mesh.elem_orig[e] == before.elem_orig[old]);
            CHECK(e == mesh.parts.first[p] || mesh.parts.before[e - 1] < old);
        }
    CHECK_FAILS(hx_mesh_part(&mesh, 4, part), HX_EINTERNAL, "in parts already");
    for (int e = 0; e < 80; e++) part[e] = 2 * (e % 2);
    CHECK_FAILS(hx_mesh_part(&before, 3, part), HX_EINPUT, "part 1 of 3 has no element");
    hx_mesh_free(&mesh);
    hx_mesh_free(&before);
    hx_mesh_free(&plain);
}

/* On a cube of 2^k elements a side a Hilbert curve goes from face to face. */
static void test_hilbert(void)
{
    hx_mesh mesh;
    int64_t jumps = 0, back = 0;
    int32_t highest = -1;
    CHECK_OK(hx_generate_box(&mesh, 16, 16, 16, 3, 3, 3));
    CHECK_OK(hx_mesh_shuffle(&mesh, 3));
    CHECK_OK(hx_mesh_reorder(&mesh));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        int common = 0;
        for (int i = 0; i < 8; i++) {
            const int32_t a = mesh.conn[8 * e + i];
            for (int j = 0; e > 0 && j < 8; j++) common += a == mesh.conn[8 * (e - 1) + j];
            back += a > highest + 1; /* nodes are numbered as they are met */
            if (a > highest) highest = a;
        }
        jumps += e > 0 && common != 4;
    }
    CHECK_MSG(jumps == 0, "%lld jumps", (long long)jumps);
    CHECK(back == 0 && highest == mesh.n_node - 1);
    hx_mesh_free(&mesh);
}

static void test_sets(void)
{
    hx_mesh mesh;
    make_set_box(&mesh);
    const int32_t bad_node[2] = {3, 150}, bad_elem[2] = {-2, 4};
    const int64_t bad_face[1] = {6 * 80};
    CHECK_FAILS(hx_mesh_add_node_set(&mesh, "n", 2, bad_node), HX_EINPUT,
                "set \"n\" names node 150, but they are 0 to 149");
    CHECK_FAILS(hx_mesh_add_elem_set(&mesh, "e", 2, bad_elem), HX_EINPUT, "names element -2");
    CHECK_FAILS(hx_mesh_add_face_set(&mesh, "f", 1, bad_face), HX_EINPUT, "480");
    CHECK_FAILS(hx_mesh_add_node_set(&mesh, "", 1, bad_node), HX_EINPUT, "needs a name");
    CHECK(hx_mesh_find_set(&mesh, "n") == NULL);
    CHECK_OK(hx_mesh_add_node_set(&mesh, "one", 8, mesh.conn + 8 * 11));   /* encloses element 11 */
    CHECK_OK(hx_mesh_add_node_set(&mesh, "seven", 7, mesh.conn + 8 * 11)); /* encloses none */
    CHECK_OK(hx_mesh_add_node_set(&mesh, "merged", 4, mesh.conn + 8 * 11));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "merged", 5, mesh.conn + 8 * 11 + 3));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "merged", 1, (const int32_t[1]){40}));
    CHECK_OK(hx_mesh_finish(&mesh));

    const hx_set *set = hx_mesh_find_set(&mesh, "elements");
    CHECK(set && set->n_elem == 3 && set->elem[0] == 3 && set->elem[1] == 7 && set->elem[2] == 60);
    CHECK(set && set->n_node == 22); /* two of the three share an edge */
    set = hx_mesh_find_set(&mesh, "faces");
    CHECK(set && set->n_face == 2 && set->face[0] == 2 * 6 + 1 && set->face[1] == 9 * 6 + 4);
    CHECK(set && set->n_node == 8 && set->n_elem == 0);
    set = hx_mesh_find_set(&mesh, "all");
    CHECK(set && set->n_node == 150 && set->n_elem == 80 && set->face == NULL);
    set = hx_mesh_find_set(&mesh, "empty");
    CHECK(set && set->n_node == 0 && set->n_elem == 0);
    set = hx_mesh_find_set(&mesh, "one");
    CHECK(set && set->n_node == 8 && set->n_elem == 1 && set->elem[0] == 11);
    set = hx_mesh_find_set(&mesh, "seven");
    CHECK(set && set->n_node == 7 && set->n_elem == 0);
    set = hx_mesh_find_set(&mesh, "merged");
    CHECK(set && set->n_elem == 2 && set->elem[0] == 11 && set->elem[1] == 40 && set->n_node == 16);
    set = hx_mesh_find_set(&mesh, "left");
    CHECK(set && set->n_node == 25 && set->n_elem == 0);
    hx_mesh_free(&mesh);
}

/* 1 if an element of the set has the node. */
static int has_member(const hx_mesh *mesh, const hx_set *set, int32_t node)
{
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        for (int64_t i = 0; i < set->n_elem; i++)
            if (set->elem[i] == (int32_t)(mesh->node_elem[k] / 8)) return 1;
    return 0;
}

/* Sets of a few and of many members, which take different ways, renumbered and completed. */
static void test_set_sizes(void)
{
    enum { N = 24 };
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, N, N, N, 1.0, 1.0, 1.0));
    const int64_t n_few = 3, n_many = 300, n_node = mesh.n_node;
    const int64_t n_third = 8 * (N + 1) * (N + 1); /* 8 layers of nodes, 7 of elements */
    int32_t *number = malloc((size_t)n_node * sizeof *number);
    for (int64_t i = 0; i < n_node; i++) number[i] = (int32_t)i;
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "few elements", n_few, number));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "many elements", n_many, number));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "few nodes", 8, mesh.conn + 8 * 100));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "a third", n_third, number));
    CHECK_OK(hx_mesh_add_face_set(&mesh, "a face", 1, (const int64_t[1]){600}));
    free(number);
    CHECK_OK(hx_mesh_shuffle(&mesh, 5));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (size_t s = 0; s < mesh.n_set; s++) {
        const hx_set *set = &mesh.set[s];
        for (int64_t i = 1; i < set->n_node; i++) CHECK(set->node[i - 1] < set->node[i]);
        for (int64_t i = 1; i < set->n_elem; i++) CHECK(set->elem[i - 1] < set->elem[i]);
    }
    const char *const name[2] = {"few elements", "many elements"};
    for (int k = 0; k < 2; k++) {
        const hx_set *set = hx_mesh_find_set(&mesh, name[k]);
        CHECK(set && set->n_elem == (k == 0 ? n_few : n_many));
        int64_t n_member = 0, at = 0;
        for (int32_t a = 0; set && a < n_node; a++) {
            if (!has_member(&mesh, set, a)) continue;
            CHECK(at < set->n_node && set->node[at++] == a);
            n_member++;
        }
        CHECK(set && set->n_node == n_member);
        for (int64_t i = 0; set && i < set->n_elem; i++)
            CHECK(hx_mesh_elem_number(&mesh, set->elem[i]) < set->n_elem);
    }
    const hx_set *set = hx_mesh_find_set(&mesh, "few nodes");
    CHECK(set && set->n_elem == 1 && hx_mesh_elem_number(&mesh, set->elem[0]) == 100);
    set = hx_mesh_find_set(&mesh, "a third");
    CHECK(set && set->n_elem == 7 * N * N && set->n_node == n_third);
    set = hx_mesh_find_set(&mesh, "a face");
    CHECK(set && set->n_node == 4 && set->n_elem == 0 &&
          hx_mesh_elem_number(&mesh, set->face[0] / 6) == 100);
    hx_mesh_free(&mesh);
}

static void test_boundary(void)
{
    hx_mesh mesh;
    int64_t *face = NULL, n = 0;
    double flux = 0.0, sum[3] = {0.0, 0.0, 0.0};
    make_set_box(&mesh);
    CHECK_FAILS(hx_mesh_boundary_faces(&mesh, NULL, &n, &face), HX_EINTERNAL, "unfinished");
    CHECK_OK(hx_mesh_shuffle(&mesh, 9));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n, &face));
    CHECK(n == 2 * (5 * 4 + 4 * 4 + 5 * 4));
    for (int64_t i = 0; i < n; i++) {
        const int *const corner = hx_hex_face[face[i] % 6];
        const double *x[4];
        CHECK(i == 0 || face[i - 1] < face[i]);
        for (int c = 0; c < 4; c++) x[c] = mesh.xyz + 3 * mesh.conn[8 * (face[i] / 6) + corner[c]];
        for (int d = 0; d < 3; d++) { /* area vector of a plane face from its diagonals */
            const int p = (d + 1) % 3, q = (d + 2) % 3;
            const double area = 0.5 * ((x[2][p] - x[0][p]) * (x[3][q] - x[1][q]) -
                                       (x[2][q] - x[0][q]) * (x[3][p] - x[1][p]));
            sum[d] += area;
            flux += area * (x[0][d] + x[1][d] + x[2][d] + x[3][d]) / 4.0 / 3.0;
        }
    }
    for (int d = 0; d < 3; d++) CHECK_ABS(sum[d], 0.0, 1e-12);
    CHECK_REL(flux, 80.0, 1e-12); /* outward normals: Gauss's theorem gives the volume */
    CHECK_REL(mesh.total_volume, 80.0, 1e-13);
    free(face);
    uint8_t *const flag = calloc((size_t)mesh.n_node, 1);
    const hx_set *const left = hx_mesh_find_set(&mesh, "left");
    for (int64_t i = 0; i < left->n_node; i++) flag[left->node[i]] = 1;
    CHECK_OK(hx_mesh_boundary_faces(&mesh, flag, &n, &face));
    CHECK(n == 16);
    for (int64_t i = 0; i < n; i++) CHECK(face[i] % 6 == 0);
    free(face);
    memset(flag, 0, (size_t)mesh.n_node);
    CHECK_OK(hx_mesh_boundary_faces(&mesh, flag, &n, &face));
    CHECK(n == 0 && face != NULL);
    free(face);
    free(flag);
    hx_mesh_free(&mesh);
}

static void test_quality(void)
{
    hx_mesh mesh;
    hx_mesh_quality q;
    double xyz[8][3];
    memcpy(xyz, cube_xyz, sizeof xyz);
    for (int i = 0; i < 8; i++) { /* sheared by 60 degrees, 3 high */
        xyz[i][0] += sqrt(3.0) * xyz[i][1];
        xyz[i][2] *= 3.0;
    }
    CHECK_OK(make(&mesh, 8, xyz[0], 1, cube_conn));
    CHECK_FAILS(hx_mesh_measure(&mesh, &q), HX_EINTERNAL, "unfinished");
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_measure(&mesh, &q));
    CHECK_REL(q.min_scaled_jacobian, 0.5, 1e-14);
    CHECK_REL(q.mean_scaled_jacobian, 0.5, 1e-14);
    CHECK_REL(q.max_aspect, 3.0, 1e-14);
    CHECK_REL(q.min_volume, 3.0, 1e-14);
    CHECK(q.n_poor == 0 && q.n_body == 1 && q.largest_body == 1 && q.n_hinge == 0);
    hx_mesh_free(&mesh);

    /* 3 x 1 x 1 cubes; one more touches the end along an edge; two apart, one of them flat */
    double at[8 * 6][3];
    int32_t conn[8 * 6];
    static const double origin[6][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0},
                                        {3, 0, 1}, {9, 0, 0}, {9, 0, 1}};
    int n = 0;
    for (int e = 0; e < 6; e++)
        for (int i = 0; i < 8; i++) {
            double x[3];
            int j = 0;
            for (int d = 0; d < 3; d++) x[d] = origin[e][d] + cube_xyz[i][d];
            if (e == 5 && i >= 4) { /* sheared to a scaled Jacobian of 0.1 / sqrt(1.01) */
                x[0] += 1.0;
                x[2] = 1.1;
            }
            while (j < n && memcmp(at[j], x, sizeof x) != 0) j++;
            if (j == n) memcpy(at[n++], x, sizeof x);
            conn[8 * e + i] = j;
        }
    CHECK_OK(make(&mesh, n, at[0], 6, conn));
    CHECK_OK(hx_mesh_shuffle(&mesh, 2));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_measure(&mesh, &q));
    CHECK(q.n_body == 2 && q.largest_body == 4);
    CHECK_MSG(q.n_hinge == 2, "%lld", (long long)q.n_hinge);
    CHECK(q.n_poor == 1 && q.worst_elem == 5 && q.aspect_elem == 5);
    CHECK_REL(q.min_scaled_jacobian, 0.1 / sqrt(1.01), 1e-12);
    CHECK_REL(q.mean_scaled_jacobian, (5.0 + 0.1 / sqrt(1.01)) / 6.0, 1e-12);
    CHECK_REL(q.max_aspect, sqrt(1.01), 1e-12);
    CHECK_REL(q.min_volume, 0.1, 1e-12);
    CHECK_REL(q.max_volume, 1.0, 1e-12);
    CHECK_REL(q.mean_volume, 5.1 / 6.0, 1e-12);
    int32_t *const body = calloc((size_t)mesh.n_node, sizeof *body);
    int64_t n_body = 0, wrong = 0;
    CHECK_OK(hx_mesh_bodies(&mesh, body, &n_body));
    for (int64_t a = 0; a < mesh.n_node; a++)
        wrong += (body[a] == body[0]) != ((mesh.xyz[3 * a] > 5) == (mesh.xyz[0] > 5));
    CHECK(n_body == 2 && wrong == 0 && body[0] == 0);
    free(body);
    hx_mesh_free(&mesh);
}

/* On the vector unit in use, beside one after the other. */
static void check_volumes(const hx_mesh *mesh)
{
    double *const volume = calloc((size_t)mesh->n_elem, sizeof *volume), sum = 0.0, worst = 0.0;
    hx_mesh_volumes(mesh, volume);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        test_worst(&worst, fabs(volume[e] / hx_hex_volume(&map) - 1.0));
        sum += volume[e];
    }
    CHECK_MSG(worst <= 1e-14, "volumes differ by %g", worst);
    CHECK_REL(mesh->total_volume, sum, 1e-13);
    free(volume);
}

/* Elements in lanes, on each vector unit, beside one after the other. */
static void test_quality_in_lanes(void)
{
    hx_mesh mesh;
    hx_mesh_quality q, at_first;
    int64_t worst = 0;
    double sum = 0.0;
    CHECK_OK(hx_generate_box(&mesh, 30, 21, 17, 30.0, 21.0, 34.0));
    CHECK_OK(hx_mesh_distort(&mesh, 0.3, 7));
    CHECK_OK(hx_mesh_shuffle(&mesh, 3));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_measure(&mesh, &at_first));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const double here = hx_mesh_scaled_jacobian(&mesh, e);
        sum += here;
        if (here < hx_mesh_scaled_jacobian(&mesh, worst)) worst = e;
    }
    CHECK_REL(at_first.mean_scaled_jacobian, sum / (double)mesh.n_elem, 1e-13);
    CHECK_REL(at_first.min_scaled_jacobian, hx_mesh_scaled_jacobian(&mesh, worst), 1e-14);
    CHECK(at_first.worst_elem == hx_mesh_elem_number(&mesh, worst));
    CHECK_REL(at_first.mean_volume, 2.0, 1e-12);
    CHECK(at_first.n_hinge == 0 && at_first.max_aspect > 2.0);
    for (int unit = 0; unit < HX_N_VECTOR; unit++) {
        if (!hx_vector_unit_runs((hx_vector_unit)unit)) continue;
        CHECK_OK(hx_vector_unit_pin(hx_vector_unit_name((hx_vector_unit)unit)));
        CHECK_OK(hx_mesh_measure(&mesh, &q));
        CHECK(memcmp(&q, &at_first, sizeof q) == 0);
        check_volumes(&mesh);
    }
    CHECK_OK(hx_vector_unit_pin(NULL));
    hx_mesh_free(&mesh);
}

/* Two cubes whose common face has one corner torn open: no face is shared, three nodes are. */
static void test_torn_face(void)
{
    double xyz[13][3];
    int64_t n = 0, *face = NULL;
    hx_mesh mesh;
    hx_mesh_quality q;
    memcpy(xyz, cube_xyz, sizeof cube_xyz);
    for (int i = 0; i < 4; i++) {
        memcpy(xyz[8 + i], cube_xyz[4 + i], sizeof xyz[0]);
        xyz[8 + i][2] = 2.0;
    }
    memcpy(xyz[12], cube_xyz[6], sizeof xyz[0]);
    const int32_t conn[16] = {0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 12, 7, 8, 9, 10, 11};
    CHECK_OK(make(&mesh, 13, xyz[0], 2, conn));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n, &face));
    CHECK_OK(hx_mesh_measure(&mesh, &q));
    CHECK(n == 12 && q.n_hinge == 3 && q.n_body == 1);
    free(face);
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_create();
    test_finish_refuses();
    test_original_numbers();
    test_order();
    test_parts();
    test_hilbert();
    test_sets();
    test_set_sizes();
    test_boundary();
    test_quality();
    test_quality_in_lanes();
    test_torn_face();
    TEST_END();
}
