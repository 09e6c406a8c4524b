/* CAD models meshed by gmsh: touching solids, fitted shapes of faces, the kept mesh. The models are
 * made with gmsh's kernel. Skipped if gmsh is not installed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mesh/mesh_quality.h"
#include "core/mesher/cad.h"
#include "core/mesher/face_fit.h"
#include "tests/lib/test.h"

static char *folder;
static hx_gmsh_program program;

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_text(const char *name, const char *text)
{
    FILE *const f = fopen(in_folder(name), "w");
    CHECK(f != NULL);
    if (f) fputs(text, f);
    if (f) fclose(f);
}

static void make_models(void)
{
    static const char geo[] =
        "SetFactory(\"OpenCASCADE\");\n"
        "Box(1) = {0,0,0, 10,10,10};\nBox(2) = {10,0,0, 5,10,10};\nBox(3) = {2,2,2, 3,3,3};\n"
        "Save \"three.step\";\nSave \"three.brep\";\n\n"
        "Delete All;\nSetFactory(\"OpenCASCADE\");\n"
        "Cone(1) = {0,0,0, 0,3,4, 4,2};\nSphere(2) = {30,0,0, 5};\nTorus(3) = {60,0,0, 6,2};\n"
        "Cylinder(4) = {90,1,2, 1,2,2, 3};\nSave \"round.brep\";\n"
        "Delete All;\nSetFactory(\"OpenCASCADE\");\n"
        "Rectangle(1) = {0,0,0, 1,1};\nSave \"flat.brep\";\nExit;\n";
    const char *const option[] = {"make.geo", "-0", "-v", "2", NULL};
    const hx_gmsh_job job = {.folder = folder, .option = option, .what = "make.geo"};
    hx_gmsh_result result;
    write_text("make.geo", geo);
    CHECK_OK(hx_gmsh_run(&program, &job, NULL, &result));
}

static double volume_of(const hx_mesh *mesh, const char *name)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    double volume = 0.0;
    for (int64_t i = 0; set && i < set->n_elem; i++) {
        int corner[4];
        double d[3][3];
        const int32_t *const conn = mesh->conn + 8 * (size_t)set->elem[i];
        hx_cell_tetrahedron(mesh->xyz, conn, corner);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                d[k][c] = mesh->xyz[3 * (size_t)conn[corner[k + 1]] + c] -
                          mesh->xyz[3 * (size_t)conn[corner[0]] + c];
        volume += (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                   d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                   d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0])) /
                  6.0;
    }
    return volume;
}

static int read_model(const char *name, double size, hx_mesh *mesh, hx_notes *notes)
{
    const hx_model_options options = {.merge = (double)NAN, .element_size = size};
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_model_read(in_folder(name), &options, mesh, NULL, notes));
    return hx_mesh_finish(mesh);
}

static int has_note(const hx_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strstr(notes->note[i].text, text)) return 1;
    return 0;
}

/* Two boxes that touch and one inside the first: common nodes, the file's order of solids, each
 * with its volume, and faces between them that belong to both boxes. */
static void check_three(const char *name, const char *unit)
{
    static const double volume[] = {973.0, 500.0, 27.0};
    hx_mesh mesh;
    hx_notes notes = {0};
    hx_mesh_quality quality;
    int64_t n_face = 0, n_inner = 0;
    double inner = 0.0;
    CHECK_OK(read_model(name, 2.0, &mesh, &notes));
    CHECK(has_note(&notes, unit) && has_note(&notes, "3 solids") && has_note(&notes, "17 faces"));
    CHECK_OK(hx_mesh_measure(&mesh, &quality));
    CHECK_MSG(quality.n_body == 1, "%s: %lld bodies", name, (long long)quality.n_body);
    CHECK_OK(hx_mesh_check_file(&mesh, (double)NAN, NULL));
    for (int k = 0; k < 3; k++) {
        char set[16];
        snprintf(set, sizeof set, "solid-%d", k + 1);
        CHECK_REL(volume_of(&mesh, set), volume[k], 1e-9);
    }
    for (size_t i = 0; i < mesh.n_set; i++) {
        hx_face_shape shape;
        if (strncmp(mesh.set[i].name, "face-", 5) != 0) continue;
        CHECK_OK(hx_face_fit(&mesh, &mesh.set[i], &shape));
        CHECK_MSG(shape.kind == HX_FACE_PLANE, "%s", mesh.set[i].name);
        n_face++;
        n_inner += shape.is_inner;
        if (shape.is_inner) inner += shape.area;
    }
    CHECK(n_face == 17 && n_inner == 7);
    CHECK_REL(inner, 100.0 + 6.0 * 9.0, 1e-9);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

static void fit_of_kind(const hx_mesh *mesh, hx_face_kind kind, hx_face_shape *shape, int *n)
{
    *n = 0;
    for (size_t i = 0; i < mesh->n_set; i++) {
        hx_face_shape fit;
        if (strncmp(mesh->set[i].name, "face-", 5) != 0) continue;
        CHECK_OK(hx_face_fit(mesh, &mesh->set[i], &fit));
        if (fit.kind != kind) continue;
        *shape = fit;
        (*n)++;
    }
}

static void check_kinds(void)
{
    hx_mesh mesh;
    hx_face_shape shape = {0};
    int n;
    CHECK_OK(read_model("round.brep", 2.0, &mesh, NULL));
    fit_of_kind(&mesh, HX_FACE_PLANE, &shape, &n);
    CHECK_MSG(n == 4, "%d planes", n);
    fit_of_kind(&mesh, HX_FACE_OTHER, &shape, &n);
    CHECK_MSG(n == 1, "%d others", n); /* the torus */
    fit_of_kind(&mesh, HX_FACE_CYLINDER, &shape, &n);
    CHECK_MSG(n == 1 && !shape.is_hollow, "%d cylinders", n);
    CHECK_REL(shape.radius, 3.0, 1e-6);
    for (int c = 0; c < 3; c++) CHECK_ABS(shape.axis[c], (c == 0 ? 1.0 : 2.0) / 3.0, 1e-6);
    fit_of_kind(&mesh, HX_FACE_SPHERE, &shape, &n);
    CHECK_MSG(n == 1, "%d spheres", n);
    CHECK_REL(shape.radius, 5.0, 1e-6);
    CHECK_ABS(shape.center[0], 30.0, 1e-5);
    fit_of_kind(&mesh, HX_FACE_CONE, &shape, &n);
    CHECK_MSG(n == 1 && !shape.is_hollow, "%d cones", n);
    CHECK_ABS(shape.axis[1], 0.6, 1e-5);
    CHECK_ABS(shape.axis[2], 0.8, 1e-5);
    /* 4 - 2 s / 5 at the height s of the centre */
    const double s = 0.6 * shape.center[1] + 0.8 * shape.center[2];
    CHECK_REL(shape.radius, 4.0 - 0.4 * s, 1e-5);
    hx_mesh_free(&mesh);
}

/* STL text of a box: each side as two triangles, seen from outside counter-clockwise. */
static void add_stl_box(char *text, size_t n_text, const double low[3], double size)
{
    static const int side[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                   {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    for (int s = 0; s < 6; s++)
        for (int t = 0; t < 2; t++) {
            const int corner[3] = {side[s][0], side[s][t + 1], side[s][t + 2]};
            size_t n = strlen(text);
            n += (size_t)snprintf(text + n, n_text - n, "facet normal 0 0 0\nouter loop\n");
            for (int k = 0; k < 3; k++) {
                const int a = corner[k], up[3] = {a % 4 == 1 || a % 4 == 2, a % 4 >= 2, a >= 4};
                n += (size_t)snprintf(text + n, n_text - n, "vertex %g %g %g\n",
                                      low[0] + size * up[0], low[1] + size * up[1],
                                      low[2] + size * up[2]);
            }
            snprintf(text + n, n_text - n, "endloop\nendfacet\n");
        }
}

static double mean_edge(const hx_mesh *mesh, const char *name)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    double sum = 0.0;
    CHECK(set != NULL && set->n_elem > 0);
    for (int64_t i = 0; set && i < set->n_elem; i++) {
        int corner[4];
        const int32_t *const conn = mesh->conn + 8 * (size_t)set->elem[i];
        hx_cell_tetrahedron(mesh->xyz, conn, corner);
        for (int k = 0; k < 6; k++) {
            static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            const double *const a = mesh->xyz + 3 * (size_t)conn[corner[pair[k][0]]];
            const double *const b = mesh->xyz + 3 * (size_t)conn[corner[pair[k][1]]];
            sum += sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                        (a[2] - b[2]) * (a[2] - b[2])) /
                   (6.0 * (double)set->n_elem);
        }
    }
    return sum;
}

/* Two boxes that overlap, in either order; one that only touches the other's face does not cross
 * it. */
static void check_crossing_shells(void)
{
    static const double place[3][3] = {{0, 0, 0}, {0.5, 0.2, 0.2}, {1.0, 0.25, 0.25}};
    static const double edge[3] = {1.0, 1.0, 0.5};
    static char text[40000];
    hx_mesh mesh;
    for (int order = 0; order < 4; order++) {
        const int other = order < 2 ? 1 : 2, first = order % 2 ? other : 0;
        hx_notes notes = {0};
        strcpy(text, "solid a\n");
        add_stl_box(text, sizeof text, place[first], edge[first]);
        add_stl_box(text, sizeof text, place[other - first], edge[other - first]);
        strcat(text, "endsolid a\n");
        write_text("crossing.stl", text);
        const int rc = read_model("crossing.stl", 0.3, &mesh, &notes);
        CHECK_MSG((strstr(hx_error_message(), "crossing.stl: two shells cross near (") != NULL) ==
                      (other == 1),
                  "%d: %d: %s", order, rc, hx_error_message());
        CHECK(other == 2 || rc == HX_EINPUT);
        if (rc == HX_OK) hx_mesh_free(&mesh);
        hx_notes_free(&notes);
        hx_error_clear();
    }
}

/* An STL file with several shells: each solid gets elements of the requested size, also around a
 * cavity. */
static void check_shells(void)
{
    static const double place[4][3] = {{0, 0, 0}, {3, 0, 0}, {0.25, 0.25, 0.25}, {8, 0, 0}};
    static const double edge[4] = {1.0, 1.0, 0.5, 0.3};
    static const double volume[3] = {1.0 - 0.125, 1.0, 0.027};
    static char text[40000];
    hx_mesh mesh;
    hx_notes notes = {0};
    strcpy(text, "solid a\n");
    for (int i = 0; i < 4; i++) add_stl_box(text, sizeof text, place[i], edge[i]);
    strcat(text, "endsolid a\n");
    write_text("shells.stl", text);
    CHECK_OK(read_model("shells.stl", 0.15, &mesh, &notes));
    CHECK(has_note(&notes, "3 solids") && has_note(&notes, "24 faces"));
    CHECK(!has_note(&notes, "the file's triangles"));
    for (int k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "solid-%d", k + 1);
        CHECK_REL(volume_of(&mesh, name), volume[k], 1e-6);
        const double mean = mean_edge(&mesh, name);
        CHECK_MSG(mean > 0.1 && mean < 0.2, "%s: mean edge %g", name, mean);
    }
    for (size_t i = 0; i < mesh.n_set; i++) {
        hx_face_shape shape;
        if (strncmp(mesh.set[i].name, "face-", 5) != 0) continue;
        CHECK_OK(hx_face_fit(&mesh, &mesh.set[i], &shape));
        CHECK_MSG(shape.kind == HX_FACE_PLANE, "%s", mesh.set[i].name);
    }
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* Curvature refines by at most 4, and a given element size is respected. */
static void check_sizes(void)
{
    hx_mesh mesh;
    double least = INFINITY, largest = 0.0;
    CHECK_OK(read_model("round.brep", 3.0, &mesh, NULL));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        int32_t edge[12][2];
        const int n = hx_cell_edges(mesh.conn + 8 * e, edge);
        for (int k = 0; k < n; k++) {
            double square = 0.0;
            for (int c = 0; c < 3; c++) {
                const double d =
                    mesh.xyz[3 * (size_t)edge[k][0] + c] - mesh.xyz[3 * (size_t)edge[k][1] + c];
                square += d * d;
            }
            test_least(&least, sqrt(square));
            test_worst(&largest, sqrt(square));
        }
    }
    CHECK_MSG(least > 0.2 * 3.0 / 4.0 && largest < 2.5 * 3.0, "edges %g to %g", least, largest);
    hx_mesh_free(&mesh);
}

/* Sizes that `hextop new` writes can be read back: three digits, close to the requested one. */
static void check_round_sizes(void)
{
    static const double size[] = {5.298273558813734, 0.0123456, 9.996, 1234.5, 100.0};
    static const double round[] = {5.3, 0.0123, 10.0, 1230.0, 100.0};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        CHECK_MSG(hx_cad_round_size(size[i]) == round[i], "%.17g: %.17g", size[i],
                  hx_cad_round_size(size[i]));
    const hx_cad_shape shape = {.volume = 3.06e6, .area = 2.3e5};
    const double chosen = hx_cad_size(&shape, 1e5);
    char text[32];
    snprintf(text, sizeof text, "%.3g", chosen);
    CHECK_MSG(strtod(text, NULL) == chosen, "%.17g", chosen);
    CHECK_REL(hx_cad_count(&shape, chosen), 1e5, 0.02);
}

static int same_mesh(const hx_mesh *a, const hx_mesh *b)
{
    return a->n_node == b->n_node && a->n_elem == b->n_elem && a->n_set == b->n_set &&
           memcmp(a->xyz, b->xyz, 24 * (size_t)a->n_node) == 0 &&
           memcmp(a->conn, b->conn, 32 * (size_t)a->n_elem) == 0;
}

static int read_keeping(double size, const char *keep, hx_mesh *mesh, int *was_kept)
{
    hx_notes notes = {0};
    const hx_model_options options = {.merge = (double)NAN, .element_size = size, .keep = keep};
    memset(mesh, 0, sizeof *mesh);
    const int rc = hx_model_read(in_folder("three.brep"), &options, mesh, NULL, &notes);
    *was_kept = has_note(&notes, "the mesh kept as");
    hx_notes_free(&notes);
    return rc;
}

/* Changes the last coordinate slightly, which no reader can detect, or cuts the file there. */
static void damage(const char *path, int cut)
{
    char line[4096];
    size_t n = 0;
    FILE *const f = fopen(path, "r+b");
    CHECK(f != NULL);
    if (!f) return;
    while (n < 10 || memcmp(line + n - 10, "\n$EndNodes", 10) != 0) {
        if (n == sizeof line) memmove(line, line + sizeof line / 2, n = sizeof line / 2);
        const int c = fgetc(f);
        if (c == EOF) break;
        line[n++] = (char)c;
    }
    const long place = ftell(f) - 10 - 8;
    fseek(f, place, SEEK_SET);
    const int c = fgetc(f);
    fseek(f, place, SEEK_SET);
    if (!cut) fputc(c ^ 1, f);
    fclose(f);
    if (cut) CHECK(truncate(path, place) == 0);
}

static void check_kept(void)
{
    hx_mesh first, other;
    int was_kept;
    char keep[512];
    snprintf(keep, sizeof keep, "%s", in_folder("deep/er/mesh.msh"));
    CHECK_OK(read_keeping(3.0, keep, &first, &was_kept));
    CHECK(!was_kept);
    for (int i = 0; i < 5; i++) {
        /* unchanged, damaged in two ways, with another size, with this size again */
        if (i == 1) damage(keep, 0);
        if (i == 2) damage(keep, 1);
        CHECK_OK(read_keeping(i == 3 ? 2.5 : 3.0, keep, &other, &was_kept));
        CHECK_MSG(was_kept == (i == 0), "step %d: kept %d", i, was_kept);
        CHECK_MSG(same_mesh(&first, &other) == (i != 3), "step %d", i);
        hx_mesh_free(&other);
    }
    hx_mesh_free(&first);
}

int main(void)
{
    hx_mesh mesh;
    check_round_sizes();
    if (hx_gmsh_find(&program) < 0) TEST_SKIP("%s", hx_error_message());
    CHECK_OK(hx_scratch_create(&folder));
    if (!folder) TEST_END();
    make_models();
    check_three("three.step", "drawn in mm");
    check_three("three.brep", "the file has no unit");
    check_kinds();
    check_sizes();
    check_shells();
    check_crossing_shells();
    check_kept();
    CHECK_FAILS(read_model("flat.brep", 0.1, &mesh, NULL), HX_EINPUT, "without a solid");
    CHECK_FAILS(read_model("three.brep", 1e-4, &mesh, NULL), HX_EINPUT, "element_size = 0.0001");
    hx_scratch_remove(folder);
    hx_gmsh_release(&program);
    TEST_END();
}
