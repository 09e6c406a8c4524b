/* Mirrored meshes of CAD models: every element and every set has its image, the sets have the
 * numbers and names of the mesh of the whole, and models whose halves differ are refused. The
 * models are made with gmsh's kernel. Skipped if gmsh is not installed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesh/load_faces.h"
#include "core/mesh/mesh_quality.h"
#include "core/mesh/point_grid.h"
#include "core/mesher/cad.h"
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

/* A plate with three bores, one of which the plane x = 0 cuts and two are images at it; a plate odd
 * at x = 0, and one that nearly has images; seven boxes. */
static const char geo[] =
    "SetFactory(\"OpenCASCADE\");\n"
    "Box(1) = {-30,-10,-5, 60,20,10};\n"
    "Cylinder(2) = {-20,0,-6, 0,0,12, 4};\nCylinder(3) = {20,0,-6, 0,0,12, 4};\n"
    "Cylinder(4) = {0,0,-6, 0,0,12, 3};\n"
    "BooleanDifference(5) = { Volume{1}; Delete; }{ Volume{2,3,4}; Delete; };\n"
    "Save \"plate.step\";\nSave \"plate.brep\";\n"
    "Rotate{ {1,2,3}, {4,5,6}, 0.7 } { Volume{5}; }\nSave \"turned.step\";\n"
    "Delete All;\nSetFactory(\"OpenCASCADE\");\n"
    "Box(1) = {-30,-10,-5, 60,20,10};\nCylinder(2) = {-20,0,-6, 0,0,12, 4};\n"
    "BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };\nSave \"odd.step\";\n"
    "Delete All;\nSetFactory(\"OpenCASCADE\");\n"
    "Box(1) = {-30,-10,-5, 60,20,10};\nCylinder(2) = {-20,0,-6, 0,0,12, 4};\n"
    "Cylinder(3) = {20.001,0,-6, 0,0,12, 4};\n"
    "BooleanDifference(5) = { Volume{1}; Delete; }{ Volume{2,3}; Delete; };\nSave \"near.step\";\n"
    "Delete All;\nSetFactory(\"OpenCASCADE\");\n"
    "Box(1) = {0,0,0, 10,10,10};\nBox(2) = {10,0,0, 5,10,10};\nBox(3) = {-5,0,0, 5,10,10};\n"
    "Box(4) = {2,1,2, 6,3,6};\nBox(5) = {2,6,2, 6,3,6};\nBox(6) = {0,0,10, 5,10,4};\n"
    "Box(7) = {5,0,10, 5,10,4};\nSave \"seven.step\";\n"
    "Delete All;\nSetFactory(\"OpenCASCADE\");\nSphere(1) = {3,2,1, 5};\nSave \"ball.brep\";\n"
    "Exit;\n";

static void make_models(void)
{
    const char *const option[] = {"make.geo", "-0", "-v", "2", NULL};
    const hx_gmsh_job job = {.folder = folder, .option = option, .what = "make.geo"};
    hx_gmsh_result result;
    FILE *const f = fopen(in_folder("make.geo"), "w");
    CHECK(f != NULL);
    if (f) fputs(geo, f);
    if (f) fclose(f);
    CHECK_OK(hx_gmsh_run(&program, &job, NULL, &result));
}

static int read_model(const char *name, hx_model_options options, hx_mesh *mesh)
{
    options.merge = (double)NAN;
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_model_read(in_folder(name), &options, mesh, NULL, NULL));
    return hx_mesh_finish(mesh);
}

/* --- images --- */

static void mirror_point(const hx_mirror_plane *plane, const double x[3], double y[3])
{
    double height = 0.0, square = 0.0;
    for (int d = 0; d < 3; d++) {
        height += (x[d] - plane->point[d]) * plane->normal[d];
        square += plane->normal[d] * plane->normal[d];
    }
    for (int d = 0; d < 3; d++) y[d] = x[d] - 2.0 * height / square * plane->normal[d];
}

static double size_of(const hx_mesh *mesh)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += (mesh->box_max[d] - mesh->box_min[d]) * (mesh->box_max[d] - mesh->box_min[d]);
    return sqrt(square);
}

static int64_t find_element(const hx_mesh *mesh, const int32_t conn[8])
{
    for (int64_t k = mesh->node_elem_ptr[conn[0]]; k < mesh->node_elem_ptr[conn[0] + 1]; k++)
        if (hx_cell_has_same_points(mesh->conn + 8 * (int64_t)(mesh->node_elem[k] / 8), conn))
            return mesh->node_elem[k] / 8;
    return -1;
}

static int by_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_i32(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A face between two elements may be named as that of either. */
static int has_face(const hx_mesh *mesh, const hx_set *set, int64_t e, int n, const int32_t node[4])
{
    const int64_t both[2] = {e, hx_mesh_face_neighbour(mesh, e, n, node)};
    for (int k = 0; k < 2 && both[k] >= 0; k++) {
        const int64_t face = 6 * both[k] + hx_cell_find_face(mesh->conn + 8 * both[k], n, node);
        if (bsearch(&face, set->face, (size_t)set->n_face, sizeof face, by_i64)) return 1;
    }
    return 0;
}

/* The set that contains the image of the first face or element of `set`; all others must have
 * their images in it. */
static const hx_set *image_of_set(const hx_mesh *mesh, const hx_set *set, const int32_t *node,
                                  const int64_t *elem)
{
    const hx_set *found = NULL;
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const other = &mesh->set[i];
        int64_t n = 0, n_other = set->n_face > 0 ? other->n_face : other->n_elem;
        if ((set->n_face > 0) != (other->n_face > 0)) continue;
        if ((strncmp(set->name, "face-", 5) == 0) != (strncmp(other->name, "face-", 5) == 0))
            continue;
        for (int64_t k = 0; k < set->n_face; k++) {
            int32_t corner[4];
            const int n_corner =
                hx_cell_face(mesh->conn + 8 * (set->face[k] / 6), (int)(set->face[k] % 6), corner);
            for (int a = 0; a < n_corner; a++) corner[a] = node[corner[a]];
            const int64_t e = elem[set->face[k] / 6];
            n += has_face(mesh, other, e, n_corner, corner);
        }
        for (int64_t k = 0; set->n_face == 0 && k < set->n_elem; k++) {
            const int32_t e = (int32_t)elem[set->elem[k]];
            n += bsearch(&e, other->elem, (size_t)other->n_elem, sizeof e, by_i32) != NULL;
        }
        if (n == 0) continue;
        CHECK_MSG(n == n_other && !found, "%s: %lld of its images are in %s with %lld", set->name,
                  (long long)n, other->name, (long long)n_other);
        found = other;
    }
    CHECK_MSG(found != NULL, "%s has no image", set->name);
    return found;
}

/* Every node, element and set has its image at the plane, to 1e-9 of the size. */
static void check_images(const char *what, const hx_mesh *mesh, const hx_mirror_plane *plane)
{
    const double size = size_of(mesh);
    hx_point_grid grid = {0};
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    int64_t *const elem = malloc((size_t)mesh->n_elem * sizeof *elem);
    int64_t n_lost = 0, n_alone = 0;
    CHECK_OK(hx_point_grid_create(&grid, mesh->n_node, mesh->xyz));
    for (int64_t i = 0; i < mesh->n_node; i++) {
        double y[3];
        mirror_point(plane, mesh->xyz + 3 * i, y);
        node[i] = (int32_t)hx_point_grid_nearest(&grid, y, 1e-9 * size);
        n_lost += node[i] < 0;
    }
    hx_point_grid_free(&grid);
    CHECK_MSG(n_lost == 0, "%s: %lld nodes without an image", what, (long long)n_lost);
    for (int64_t e = 0; e < mesh->n_elem && n_lost == 0; e++) {
        int32_t conn[8];
        for (int a = 0; a < 8; a++) conn[a] = node[mesh->conn[8 * e + a]];
        elem[e] = find_element(mesh, conn);
        n_alone += elem[e] < 0;
    }
    CHECK_MSG(n_alone == 0, "%s: %lld elements without an image", what, (long long)n_alone);
    for (size_t i = 0; i < mesh->n_set && n_lost + n_alone == 0; i++) {
        const hx_set *const image = image_of_set(mesh, &mesh->set[i], node, elem);
        if (image) CHECK(image_of_set(mesh, image, node, elem) == &mesh->set[i]);
    }
    free(node);
    free(elem);
}

/* --- the mesh of the whole --- */

static void measure_set(const hx_mesh *mesh, const hx_set *set, double *measure, double centre[3])
{
    double *const volume = malloc((size_t)mesh->n_elem * sizeof *volume);
    hx_mesh_volumes(mesh, volume);
    *measure = 0.0;
    for (int d = 0; d < 3; d++) centre[d] = 0.0;
    for (int64_t k = 0; k < (set->n_face > 0 ? set->n_face : set->n_elem); k++) {
        int32_t node[8];
        double x[3] = {0.0, 0.0, 0.0}, share = 1.0;
        hx_face_point point[4];
        if (set->n_face > 0) {
            share = 0.0;
            hx_face_points(mesh, set->face[k], node, point);
            for (int p = 0; p < 4; p++) {
                const double *const a = point[p].normal;
                const double area = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
                share += area;
                for (int d = 0; d < 3; d++) x[d] += area * point[p].x[d];
            }
            for (int d = 0; d < 3; d++) x[d] /= share;
        } else {
            hx_mesh_centroid(mesh, set->elem[k], x);
            share = volume[set->elem[k]];
        }
        *measure += share;
        for (int d = 0; d < 3; d++) centre[d] += share * x[d];
    }
    for (int d = 0; d < 3; d++) centre[d] /= *measure;
    free(volume);
}

/* The mirrored mesh has the sets of the whole one: names, areas to `tolerance`, places. */
static void check_sets(const char *what, const hx_mesh *mesh, const hx_mesh *whole,
                       double tolerance)
{
    CHECK_MSG(mesh->n_set == whole->n_set, "%s: %zu sets, not %zu", what, mesh->n_set,
              whole->n_set);
    for (size_t i = 0; i < whole->n_set; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, whole->set[i].name);
        double measure[2], centre[2][3];
        CHECK_MSG(set != NULL, "%s: no set %s", what, whole->set[i].name);
        if (!set) continue;
        measure_set(mesh, set, &measure[0], centre[0]);
        measure_set(whole, &whole->set[i], &measure[1], centre[1]);
        CHECK_MSG((set->n_face > 0) == (whole->set[i].n_face > 0), "%s: %s", what, set->name);
        CHECK_REL(measure[0], measure[1], tolerance);
        for (int d = 0; d < 3; d++)
            CHECK_MSG(fabs(centre[0][d] - centre[1][d]) < 0.01 * size_of(whole),
                      "%s: %s: centre %d %g, not %g", what, set->name, d, centre[0][d],
                      centre[1][d]);
    }
}

/* Returns the number of sets. */
static size_t check_model(const char *name, double size, int n_plane, const hx_mirror_plane *plane,
                          int n_found, double tolerance)
{
    hx_mesh mesh, whole;
    hx_cad_facts facts = {0};
    hx_mesh_quality quality;
    hx_model_options options = {.element_size = size, .mirrored = HX_MIRROR_ON, .facts = &facts};
    options.n_plane = n_plane;
    for (int p = 0; p < n_plane; p++) options.plane[p] = plane[p];
    CHECK_OK(read_model(name, (hx_model_options){.element_size = size}, &whole));
    CHECK_OK(read_model(name, options, &mesh));
    CHECK_MSG(facts.n_mirror == n_found, "%s: %d planes", name, facts.n_mirror);
    for (int p = 0; p < facts.n_mirror; p++) check_images(name, &mesh, &facts.mirror[p]);
    CHECK_OK(hx_mesh_measure(&mesh, &quality));
    CHECK_MSG(quality.n_body == 1, "%s: %lld bodies", name, (long long)quality.n_body);
    CHECK_REL(mesh.total_volume, whole.total_volume, tolerance);
    CHECK(mesh.n_kind[HX_CELL_TETRAHEDRON] == mesh.n_elem);
    CHECK_OK(hx_mesh_check_file(&mesh, (double)NAN, NULL));
    check_sets(name, &mesh, &whole, tolerance);
    const size_t n_set = mesh.n_set;
    hx_mesh_free(&mesh);
    hx_mesh_free(&whole);
    return n_set;
}

/* --- */

static const hx_mirror_plane at_x = {{0, 0, 0}, {2, 0, 0}}, at_y = {{1, 0, 2}, {0, -1, 0}},
                             at_five = {{5, 0, 0}, {1, 0, 0}};

static void check_planes(void)
{
    const hx_mirror_plane two[2] = {at_y, at_x};
    check_model("plate.brep", 5.0, 2, two, 2, 0.02);
    check_model("ball.brep", 2.0, 0, NULL, 3, 0.05);
    check_model("odd.step", 5.0, 0, NULL, 2, 0.02);
    /* solids that the plane cuts, that touch at it, and that are images of each other */
    check_model("seven.step", 2.5, 1, &at_five, 1, 1e-9);
    check_model("seven.step", 2.5, 0, NULL, 2, 1e-9);
}

/* Planes that are not normal to an axis. */
static void check_turned(void)
{
    const double axis[3] = {1.0 / sqrt(14.0), 2.0 / sqrt(14.0), 3.0 / sqrt(14.0)};
    const double angle = 0.7, origin[3] = {4, 5, 6};
    hx_mirror_plane plane[3];
    for (int p = 0; p < 3; p++) {
        double v[2][3]; /* the origin seen from the axis, the unit vector p */
        for (int d = 0; d < 3; d++) {
            v[0][d] = -origin[d];
            v[1][d] = d == p;
        }
        for (int k = 0; k < 2; k++) {
            double along = 0.0;
            double *const to = k == 0 ? plane[p].point : plane[p].normal;
            for (int d = 0; d < 3; d++) along += axis[d] * v[k][d];
            for (int d = 0; d < 3; d++) {
                const int i = (d + 1) % 3, j = (d + 2) % 3;
                to[d] = v[k][d] * cos(angle) + axis[d] * along * (1.0 - cos(angle)) +
                        sin(angle) * (axis[i] * v[k][j] - axis[j] * v[k][i]) +
                        (k == 0 ? origin[d] : 0.0);
            }
        }
    }
    check_model("turned.step", 5.0, 1, &plane[0], 1, 0.02);
    check_model("turned.step", 5.0, 3, plane, 3, 0.02);
}

static void check_refused(void)
{
    hx_mesh mesh;
    hx_cad_facts facts = {0};
    hx_model_options options = {.element_size = 4.0,
                                .mirrored = HX_MIRROR_ON,
                                .n_plane = 1,
                                .plane = {at_x},
                                .facts = &facts};
    CHECK_FAILS(read_model("odd.step", options, &mesh), HX_EINPUT,
                "odd.step: the halves at the plane");
    CHECK(strstr(hx_error_message(), "solid 1 has the volume") != NULL && facts.is_uneven);
    /* the volumes agree to 1e-6, the holes' centres do not */
    CHECK_FAILS(read_model("near.step", options, &mesh), HX_EINPUT, "has the ");
    options.mirrored = HX_MIRROR_TRY;
    CHECK_OK(read_model("odd.step", options, &mesh));
    CHECK(facts.n_mirror == 0);
    hx_mesh_free(&mesh);
    options.plane[0] = (hx_mirror_plane){{0, 0, 50}, {0, 0, 1}}; /* beside the part */
    options.mirrored = HX_MIRROR_ON;
    CHECK_FAILS(read_model("plate.step", options, &mesh), HX_EINPUT, "differ: solid 1");
    options.n_plane = 0;
    CHECK_FAILS(read_model("turned.step", options, &mesh), HX_EINPUT, "at none of the planes");
}

/* Names of a STEP file: of a bore that the plane cuts, of one that it does not. */
static void check_names(void)
{
    static const char call[] = "cd %s && awk '/ADVANCED_FACE/ && /\\x27\\x27/ { n++; "
                               "sub(/\\x27\\x27/, \"\\x27mark \" n \"\\x27\") } { print }' "
                               "plate.step > named.step";
    char command[1200];
    snprintf(command, sizeof command, call, folder);
    CHECK(system(command) == 0);
    const size_t n_set = check_model("named.step", 5.0, 1, &at_x, 1, 0.02);
    CHECK_MSG(n_set == 1 + 9 + 9, "%zu sets", n_set); /* the solid, its faces, their names */
}

/* The kept mesh serves for the same planes only, also once the model is gone. */
static void check_kept(void)
{
    hx_mesh mesh;
    hx_cad_facts facts = {0};
    char keep[512];
    hx_model_options options = {.element_size = 6.0, .mirrored = HX_MIRROR_TRY, .facts = &facts};
    snprintf(keep, sizeof keep, "%s/kept.msh", folder);
    options.keep = keep;
    for (int turn = 0; turn < 6; turn++) {
        /* found, the same, the same after `hextop new`, at one plane, whole, found again */
        static const hx_mirror_mode mode[] = {HX_MIRROR_TRY, HX_MIRROR_TRY, HX_MIRROR_ON,
                                              HX_MIRROR_ON,  HX_MIRROR_OFF, HX_MIRROR_TRY};
        static const int n_found[] = {3, 3, 3, 1, 0, 3}, is_new[] = {1, 0, 0, 1, 1, 1};
        hx_notes notes = {0};
        int was_kept = 0;
        options.mirrored = mode[turn];
        options.n_plane = turn == 3;
        options.plane[0] = at_x;
        CHECK_OK(hx_model_read(in_folder("plate.brep"), &options, &mesh, NULL, &notes));
        for (size_t i = 0; i < notes.n; i++)
            was_kept |= strstr(notes.note[i].text, "the mesh kept as") != NULL;
        CHECK_MSG(was_kept == !is_new[turn] && facts.n_mirror == n_found[turn], "turn %d: %d, %d",
                  turn, was_kept, facts.n_mirror);
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
    CHECK(rename(in_folder("plate.brep"), in_folder("gone.brep")) == 0);
    CHECK_OK(hx_model_read(in_folder("plate.brep"), &options, &mesh, NULL, NULL));
    hx_mesh_free(&mesh);
    options.mirrored = HX_MIRROR_OFF;
    CHECK_FAILS(hx_model_read(in_folder("plate.brep"), &options, &mesh, NULL, NULL), HX_EINPUT,
                "plate.brep");
    options.mirrored = HX_MIRROR_ON;
    options.n_plane = 1;
    CHECK_FAILS(hx_model_read(in_folder("plate.brep"), &options, &mesh, NULL, NULL), HX_EINPUT,
                "plate.brep");
}

int main(void)
{
    if (hx_gmsh_find(&program) < 0) TEST_SKIP("%s", hx_error_message());
    CHECK_OK(hx_scratch_create(&folder));
    if (!folder) TEST_END();
    make_models();
    check_planes();
    check_turned();
    check_refused();
    check_names();
    check_kept();
    hx_scratch_remove(folder);
    hx_gmsh_release(&program);
    TEST_END();
}
