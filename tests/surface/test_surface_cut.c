/* Reads surface files, and cuts the enclosed volume out of cells of every kind: volumes, pieces,
 * conforming faces, no inverted tetrahedra; positions inside and outside. */
#include <unistd.h>

#include "core/mesh/mesh_quality.h"
#include "core/surface/triangle_tree.h"
#include "tests/lib/cut_case.h"

static const double pi = 3.14159265358979323846;

/* A ball of n x 2 n quadrilaterals split into triangles, with thin ones at the poles. */
static void add_ball(hx_surface *s, const double centre[3], double radius, int n)
{
    const int m = 2 * n, first = (int)s->n_vertex;
    s->xyz = realloc(s->xyz, 3 * (size_t)(first + (n - 1) * m + 2) * sizeof *s->xyz);
    s->tri = realloc(s->tri, 3 * (size_t)(s->n_tri + 2 * m * (n - 1)) * sizeof *s->tri);
    if (!s->xyz || !s->tri) abort();
    for (int i = 1; i < n; i++)
        for (int k = 0; k < m; k++) {
            const double a = pi * i / n, b = 2.0 * pi * k / m;
            const double x[3] = {sin(a) * cos(b), sin(a) * sin(b), cos(a)};
            for (int d = 0; d < 3; d++) s->xyz[3 * s->n_vertex + d] = centre[d] + radius * x[d];
            s->n_vertex++;
        }
    const int top = (int)s->n_vertex++, bottom = (int)s->n_vertex++;
    for (int d = 0; d < 3; d++) {
        s->xyz[3 * top + d] = centre[d] + (d == 2 ? radius : 0.0);
        s->xyz[3 * bottom + d] = centre[d] - (d == 2 ? radius : 0.0);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            const int up = first + (i - 1) * m, down = up + m, next = (k + 1) % m;
            if (i > 0) {
                const int32_t t[3] = {up + k, i < n - 1 ? down + next : bottom, up + next};
                memcpy(s->tri + 3 * s->n_tri++, t, sizeof t);
            }
            if (i < n - 1) {
                const int32_t t[3] = {i > 0 ? up + k : top, down + k, down + next};
                memcpy(s->tri + 3 * s->n_tri++, t, sizeof t);
            }
        }
}

/* Balls in boxes of every kind: the error decreases with the square of the cell size. */
static void test_ball(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        hx_mesh around, mesh;
        hx_surface s = {0};
        hx_cut_report r[2];
        cut_make_mesh(&around, kind, 6, 0.1);
        add_ball(&s, (double[3]){3.1, 2.9, 3.05}, 2.3, 24);
        const double volume = cut_volume_of(&s);
        double off[2];
        for (int i = 0; i < 2; i++) {
            cut_out(&mesh, &s, &around, i, &r[i]);
            CHECK(r[i].n_piece == 1 && r[i].n_moved > 0 && r[i].n_cut > 0);
            off[i] = fabs(mesh.total_volume / volume - 1.0);
            hx_mesh_free(&mesh);
        }
        CHECK_MSG(off[0] < 0.1 && off[1] < 0.3 * off[0], "kind %d: volume off by %g and %g", kind,
                  off[0], off[1]);
        hx_surface_free(&s);
        hx_mesh_free(&around);
    }
}

/* The mesh's own boundary, perturbed by single precision, and a larger surface: both give the whole
 * mesh. */
static void test_whole(void)
{
    hx_mesh around, mesh;
    cut_make_mesh(&around, MIXED_LAYERS, 6, 0.1);
    for (int i = -1; i <= 1; i++) {
        const double by = 1e-6 * i;
        hx_surface s = {0};
        hx_cut_report r;
        cut_add_box(&s, (double[3]){-by, -by, -by}, (double[3]){6.0 + by, 6.0 + by, 6.0 + by});
        cut_out(&mesh, &s, &around, 0, &r);
        CHECK_REL(mesh.total_volume, 216.0, 1e-9);
        CHECK(r.n_cut == 0);
        hx_mesh_free(&mesh);
        hx_surface_free(&s);
    }
    hx_mesh_free(&around);
}

/* The surface meets the mesh's flat side in a rim: half of a box with its faces in place. */
static void test_rim(void)
{
    hx_mesh around, mesh;
    hx_surface s = {0};
    hx_cut_report r;
    cut_make_mesh(&around, 0, 6, 0.1);
    cut_add_box(&s, (double[3]){0.0, 0.0, 0.0}, (double[3]){6.0, 3.37, 6.0});
    cut_out(&mesh, &s, &around, 0, &r);
    CHECK_REL(mesh.total_volume, 36.0 * 3.37, 5e-3);
    CHECK(mesh.box_min[1] == 0.0 && mesh.box_max[0] == 6.0 && mesh.box_max[2] == 6.0);
    CHECK_ABS(mesh.box_max[1], 3.37, 0.05);
    hx_mesh_free(&mesh);
    hx_surface_free(&s);
    hx_mesh_free(&around);
}

/* Two balls, one hollow: two pieces, the larger first. */
static void test_pieces(void)
{
    hx_mesh around, mesh;
    hx_surface s = {0};
    hx_cut_report r;
    cut_make_mesh(&around, 0, 8, 0.0);
    add_ball(&s, (double[3]){2.0, 2.0, 2.0}, 1.2, 16);
    add_ball(&s, (double[3]){5.1, 5.2, 5.3}, 2.5, 24);
    const int64_t n_tri = s.n_tri;
    add_ball(&s, (double[3]){5.1, 5.2, 5.3}, 1.0, 16);
    for (int64_t t = n_tri; t < s.n_tri; t++) {
        const int32_t kept = s.tri[3 * t];
        s.tri[3 * t] = s.tri[3 * t + 1];
        s.tri[3 * t + 1] = kept;
    }
    cut_out(&mesh, &s, &around, 1, &r);
    CHECK(r.n_piece == 2);
    CHECK_REL(mesh.total_volume, cut_volume_of(&s), 0.02);
    hx_mesh_free(&mesh);
    hx_surface_free(&s);
    cut_add_box(&s, (double[3]){20.0, 20.0, 20.0}, (double[3]){21.0, 21.0, 21.0});
    int32_t *piece = NULL;
    CHECK_FAILS(hx_cut_mesh_create(&mesh, &s, &around, 0, &piece, &r), HX_EINPUT,
                "encloses no part");
    hx_surface_free(&s);
    hx_mesh_free(&around);
}

/* Every point of a grid, including corners and points behind edges, against the distance. */
static void test_inside(void)
{
    hx_surface s = {0};
    hx_triangle_tree tree;
    double share;
    int n_in = 0;
    cut_add_box(&s, (double[3]){1.0, 1.0, 1.0}, (double[3]){3.0, 3.0, 3.0});
    CHECK_OK(hx_triangle_tree_create(&tree, &s));
    for (int i = 0; i < 9 * 9 * 9; i++) {
        const double x[3] = {0.25 + 0.5 * (i % 9), 0.25 + 0.5 * (i / 9 % 9), 0.25 + 0.5 * (i / 81)};
        const int is_in =
            x[0] > 1.0 && x[0] < 3.0 && x[1] > 1.0 && x[1] < 3.0 && x[2] > 1.0 && x[2] < 3.0;
        CHECK(hx_triangle_tree_inside(&tree, x) == is_in);
        n_in += is_in;
    }
    CHECK(n_in == 64);
    CHECK(hx_triangle_tree_crossing(&tree, (double[3]){2.0, 2.1, 2.2}, (double[3]){4.0, 2.1, 2.2},
                                    &share));
    CHECK_ABS(share, 0.5, 1e-12);
    CHECK(!hx_triangle_tree_crossing(&tree, (double[3]){2.0, 2.1, 2.2}, (double[3]){2.9, 2.1, 2.2},
                                     &share));
    hx_triangle_tree_free(&tree);
    hx_surface_free(&s);
}

static void write_text(const char *path, const char *text, size_t n)
{
    FILE *const stream = fopen(path, "wb");
    if (!stream || fwrite(text, 1, n, stream) != n || fclose(stream) != 0) abort();
}

static void expect_box(const char *path, const char *text, size_t n)
{
    hx_surface s;
    write_text(path, text, n);
    CHECK_OK(hx_surface_read(path, &s));
    CHECK(s.n_vertex == 4 && s.n_tri == 4);
    CHECK_REL(cut_volume_of(&s), 1.0, 1e-12);
    hx_surface_free(&s);
}

static void refuse(const char *path, const char *text, const char *why)
{
    hx_surface s;
    write_text(path, text, strlen(text));
    CHECK_FAILS(hx_surface_read(path, &s), HX_EINPUT, why);
    unlink(path);
}

#define CORNERS "0 0 0\n1 0 0\n0 2 0\n0 0 3\n"
#define HEAD "comment x\nelement vertex 4\nproperty float x\nproperty double y\nproperty float z\n"
#define FACE "element face 4\nproperty list uchar int vertex_indices\nend_header\n"

/* Text and binary, both byte orders, extra properties and elements, quadrilaterals. */
static void test_files(void)
{
    static const int side[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    static const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    static const char ply[] =
        "ply\nformat ascii 1.0\n" HEAD FACE CORNERS "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
    char stl[2048] = "solid tetrahedron\n";
    hx_surface s = {0}, again;
    for (int f = 0; f < 4; f++) {
        char *const end = stl + strlen(stl);
        snprintf(end, sizeof stl - (size_t)(end - stl),
                 "facet normal 0 0 0\nouter loop\nvertex %g %g %g\nvertex %g %g %g\nvertex %g %g "
                 "%g\nendloop\nendfacet\n",
                 x[side[f][0]][0], x[side[f][0]][1], x[side[f][0]][2], x[side[f][1]][0],
                 x[side[f][1]][1], x[side[f][1]][2], x[side[f][2]][0], x[side[f][2]][1],
                 x[side[f][2]][2]);
    }
    strcat(stl, "endsolid\n");
    expect_box("cut_text.stl", stl, strlen(stl));
    expect_box("cut_text.ply", ply, sizeof ply - 1);
    char big[1024] = "ply\nformat binary_big_endian 1.0\n" HEAD FACE;
    size_t n = strlen(big);
    for (int i = 0; i < 4; i++) {
        const unsigned char one[4][2] = {{0, 0}, {0x3f, 0x80}, {0x40, 0x00}, {0x40, 0x40}};
        const unsigned char *const fx = one[(int)x[i][0]], *const fz = one[(int)x[i][2]];
        const unsigned char two[8] = {0x40}, none[8] = {0};
        const unsigned char point[16] = {fx[0], fx[1], 0, 0};
        memcpy(big + n, point, 4);
        memcpy(big + n + 4, x[i][1] > 1.0 ? two : none, 8);
        memset(big + n + 12, 0, 4);
        memcpy(big + n + 12, fz, 2);
        n += 16;
    }
    for (int f = 0; f < 4; f++) {
        big[n++] = 3;
        for (int k = 0; k < 3; k++) {
            memset(big + n, 0, 3);
            big[n + 3] = (char)side[f][k];
            n += 4;
        }
    }
    expect_box("cut_big.ply", big, n);
    add_ball(&s, (double[3]){1.0, 2.0, 3.0}, 2.0, 12);
    for (int i = 0; i < 2; i++) {
        const char *const path = i ? "cut_ball.ply" : "cut_ball.stl";
        const hx_surface_about about = {.title = "ball"};
        CHECK_OK(hx_surface_write(path, hx_surface_format_of_name(path), &s, &about));
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hx_surface_read(i ? "cut_ball.ply" : "cut_ball.stl", &again));
        CHECK(again.n_tri == s.n_tri && again.n_vertex == s.n_vertex);
        CHECK_REL(cut_volume_of(&again), cut_volume_of(&s), i ? 1e-14 : 1e-6);
        hx_surface_free(&again);
    }
    hx_surface_free(&s);
    for (int i = 0; i < 5; i++)
        unlink((const char *const[]){"cut_text.stl", "cut_text.ply", "cut_big.ply", "cut_ball.stl",
                                     "cut_ball.ply"}[i]);
}

static void test_bad_files(void)
{
    int64_t n_open = 0;
    double point[3];
    hx_surface s = {0};
    refuse("cut_bad.stl", "solid x\nfacet normal 0 0 1\nvertex 0 0 zero\n",
           "cut_bad.stl:3: expected");
    refuse("cut_bad.stl", "solid x\nvertex 0 0 0\nendfacet\n", "a facet has 1 vertex");
    refuse("cut_bad.stl", "solid x\nendsolid\n", "no triangles");
    refuse("cut_bad.stl", "hello", "neither a text STL");
    refuse("cut_bad.ply", "hello", "not a PLY");
    refuse("cut_bad.ply", "ply\nformat ascii 1.0\n", "has no 'end_header'");
    refuse("cut_bad.ply", "ply\nformat ascii 1.0\n" HEAD FACE CORNERS "3 0 1 9\n",
           "does not exist");
    refuse("cut_bad.ply", "ply\nformat binary_little_endian 1.0\n" HEAD FACE "abc", "file ends");
    refuse("cut_bad.ply", "ply\nelement vertex 1\nproperty complex x\n", "'complex' is not a type");
    CHECK_FAILS(hx_surface_read("cut_none.stl", &s), HX_EINPUT, "cannot read");
    CHECK_FAILS(hx_surface_read("cut_none.obj", &s), HX_EINPUT, "must end in .stl or .ply");
    cut_add_box(&s, (double[3]){0.0, 0.0, 0.0}, (double[3]){2.0, 2.0, 2.0});
    CHECK_OK(hx_surface_find_open(&s, &n_open, point));
    CHECK(n_open == 0);
    s.n_tri -= 2; /* the top */
    CHECK_OK(hx_surface_find_open(&s, &n_open, point));
    CHECK(n_open == 4 && point[2] == 2.0);
    hx_surface_free(&s);
}

int main(void)
{
    fixture_set_threads(1);
    test_inside();
    test_ball();
    test_whole();
    test_rim();
    test_pieces();
    test_files();
    test_bad_files();
    TEST_END();
}
