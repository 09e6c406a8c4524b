/* Sets made of other sets, written and read again in every format that can be written: the faces
 * and edges of each set, their area, and the resultants of loads, springs and films on it. */
#include <unistd.h>

#include "core/files/mesh_files.h"
#include "tests/lib/combined_parts.h"

static const double tolerance = 1e-13;

/* Sums of the quantities that act on a set: two loads, springs, and flux with films. */
enum { N_SUM = 10 };

static void sum_up(const double *value, size_t n, double *sum)
{
    for (int i = 0; i < 3; i++) sum[i] = 0.0;
    for (size_t k = 0; k < n; k++) sum[k % 3] += value[k];
}

static void find_sums(const space_box *b, const char *set, double sum[N_SUM])
{
    acting a;
    act(b, 1, &set, &a);
    sum_up(a.force[0], a.n, sum);
    sum_up(a.force[1], a.n, sum + 3);
    sum_up(a.spring, a.n, sum + 6);
    sum[9] = 0.0; /* flux, and the heat that the film brings from the surroundings */
    for (size_t k = 0; k < a.n; k++) sum[9] += a.flux[k];
    free_acting(&a);
}

/* Number, area and middles of a set's faces and edges. */
typedef struct extent {
    int64_t n_face, n_middle;
    double area, middle[3];
} extent;

static extent measure(const space_box *b, const char *name)
{
    extent e = {0};
    int64_t *face = NULL;
    int32_t *point = NULL;
    const hx_set *const set = hx_mesh_find_set(&b->mesh, name);
    CHECK_MSG(set != NULL, "%s: no set '%s'", b->mesh.name, name);
    if (!set) return e;
    CHECK_OK(hx_load_faces(&b->mesh, set, &e.n_face, &face));
    e.area = hx_faces_area(&b->mesh, e.n_face, face);
    free(face);
    if (b->space.element != HX_ELEMENT_QUADRATIC) return e;
    CHECK_OK(hx_space_set_middles(&b->space, set, &e.n_middle, &point));
    for (int64_t i = 0; i < e.n_middle; i++)
        for (int d = 0; d < 3; d++) e.middle[d] += b->space.xyz[3 * (int64_t)point[i] + d];
    free(point);
    return e;
}

/* .vtk and .inp allow no blanks in names. */
static const char *name_in(const space_box *b, const char *name, char text[64])
{
    snprintf(text, 64, "%s", name);
    if (hx_mesh_find_set(&b->mesh, text)) return text;
    for (char *c = text; *c; c++) *c = *c == ' ' ? '_' : *c;
    return text;
}

static void compare_set(const space_box *a, const space_box *b, const char *name, const char *way)
{
    char other[64];
    const extent one = measure(a, name), two = measure(b, name_in(b, name, other));
    const hx_set *const set = hx_mesh_find_set(&a->mesh, name);
    const hx_set *const again = hx_mesh_find_set(&b->mesh, other);
    CHECK_MSG(one.n_face == two.n_face, "%s, %s: %lld faces, was %lld", way, name,
              (long long)two.n_face, (long long)one.n_face);
    CHECK_MSG(one.n_middle == two.n_middle, "%s, %s: %lld middles of edges, was %lld", way, name,
              (long long)two.n_middle, (long long)one.n_middle);
    CHECK_REL(two.area, one.area, tolerance);
    for (int d = 0; d < 3; d++) CHECK_REL(two.middle[d], one.middle[d], tolerance);
    CHECK_MSG(again && set->n_node == again->n_node && set->n_elem == again->n_elem,
              "%s, %s: other nodes or elements", way, name);
}

static void compare_acting(const space_box *a, const space_box *b, const char *name,
                           const char *way)
{
    double one[N_SUM], two[N_SUM], scale = 0.0;
    char other[64];
    find_sums(a, name, one);
    find_sums(b, name_in(b, name, other), two);
    for (int i = 0; i < N_SUM; i++) test_worst(&scale, fabs(one[i]));
    for (int i = 0; i < N_SUM; i++)
        CHECK_MSG(fabs(one[i] - two[i]) <= tolerance * scale, "%s, %s: sum %d is %.17g, was %.17g",
                  way, name, i, two[i], one[i]);
}

static const char *const acted_on[] = {"both",      "both faces",  "mixed",      "rest",
                                       "all round", "upper front", "front faces"};

/* Writes a and reads it into b, with a space on it. */
static void pass_on(space_box *a, const char *path, int is_ascii, space_box *b)
{
    const hx_mesh_format *const format = hx_mesh_format_of_name(path);
    hx_notes notes = {0};
    const hx_mesh_write_options options = {.is_ascii = is_ascii};
    memset(b, 0, sizeof *b);
    CHECK_OK(format->write(path, &a->mesh, &options));
    CHECK_OK(hx_mesh_read(path, 0.0, &b->mesh, NULL, &notes));
    CHECK_OK(hx_mesh_finish(&b->mesh));
    CHECK(b->mesh.rules.n == 0);
    CHECK_OK(hx_space_create(&b->space, &b->mesh, a->space.element));
    hx_notes_free(&notes);
    unlink(path);
}

static void check_way(space_box *a, const char *ending, int is_ascii)
{
    char path[64], way[96];
    space_box b, c;
    snprintf(path, sizeof path, "sets_kept_%ld%s", (long)getpid(), ending);
    snprintf(way, sizeof way, "%s, %s, %s", a->mesh.name, ending, is_ascii ? "text" : "binary");
    pass_on(a, path, is_ascii, &b);
    pass_on(&b, path, is_ascii, &c); /* the sets are now in the order of the file */
    for (size_t i = 0; i < a->mesh.n_set; i++) {
        compare_set(a, &b, a->mesh.set[i].name, way);
        compare_set(a, &c, a->mesh.set[i].name, way);
    }
    for (size_t i = 0; i < sizeof acted_on / sizeof acted_on[0]; i++) {
        compare_acting(a, &b, acted_on[i], way);
        compare_acting(a, &c, acted_on[i], way);
    }
    space_box_free(&b);
    space_box_free(&c);
}

/* A face of a cell, and the cell's other nodes one by one: all nodes of the cell, but not the cell
 * itself. */
static int add_face_and_nodes(hx_mesh *mesh)
{
    const hx_set *const faces = hx_mesh_find_set(mesh, "front faces");
    const int64_t face = faces->face[0];
    const int32_t *const corner = mesh->conn + 8 * (face / 6);
    HX_TRY(hx_mesh_add_face_set(mesh, "face and nodes", 1, &face));
    for (int a = 0; a < 8; a++) {
        int is_in = 0;
        for (int k = 0; k < 4; k++) is_in |= corner[hx_hex_face[face % 6][k]] == corner[a];
        if (!is_in) HX_TRY(hx_mesh_add_node_set(mesh, "face and nodes", 1, &corner[a]));
    }
    return HX_OK;
}

static void check_box(mixed_kind kind, hx_element element)
{
    const mixed_box box = {
        .kind = kind, .n = {3, 1, kind == MIXED_LAYERS ? 5 : 2}, .length = {3.0, 1.0, 2.0}};
    space_box b;
    memset(&b, 0, sizeof b);
    CHECK_OK(mixed_create(&b.mesh, &box));
    CHECK_OK(name_parts(&b.mesh, &box));
    CHECK_OK(add_face_and_nodes(&b.mesh));
    CHECK_OK(hx_mesh_shuffle(&b.mesh, 3));
    CHECK_OK(hx_mesh_finish(&b.mesh));
    CHECK(hx_mesh_find_set(&b.mesh, "face and nodes")->n_elem == 0);
    CHECK_OK(combine(&b.mesh));
    CHECK_OK(hx_space_create(&b.space, &b.mesh, element));
    for (size_t i = 0; i < hx_n_mesh_format; i++) {
        if (!hx_mesh_can_write(&hx_mesh_formats[i])) continue;
        check_way(&b, hx_mesh_formats[i].extension, 1);
        check_way(&b, hx_mesh_formats[i].extension, 0);
    }
    space_box_free(&b);
}

int main(void)
{
    fixture_set_threads(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int element = 0; element < HX_ELEMENT_SPLINE; element++)
            check_box((mixed_kind)kind, (hx_element)element);
    TEST_END();
}
