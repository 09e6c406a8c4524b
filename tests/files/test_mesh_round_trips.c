/* Meshes with sets written in every format and read back: cells of all kinds, their numbering. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/gmsh.h"
#include "core/files/mesh_files.h"
#include "core/files/solid.h"
#include "core/generate/generate.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static char folder[] = "/tmp/hextop_round_trips_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void generate(hx_mesh *mesh, int nx, int ny, int nz)
{
    hx_generate_params params;
    memset(&params, 0, sizeof params);
    params.nx = nx;
    params.ny = ny;
    params.nz = nz;
    params.distort = 0.2;
    params.seed = 5;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), mesh, &params));
}

/* Sets of all kinds: overlapping elements, faces, nodes, and an empty set. */
static void add_sets(hx_mesh *mesh)
{
    const int32_t elem[3] = {0, 3, 7}, more[2] = {3, 5}, node[4] = {0, 9, 20, 4};
    const int64_t face[4] = {0, 6 * 3 + 1, 6 * 7 + 5, 6 * 3 + 4};
    CHECK_OK(hx_mesh_add_elem_set(mesh, "three", 3, elem));
    CHECK_OK(hx_mesh_add_elem_set(mesh, "two \"quoted\"", 2, more));
    CHECK_OK(hx_mesh_add_node_set(mesh, "nodes", 4, node));
    CHECK_OK(hx_mesh_add_node_set(mesh, "three", 1, node + 2));
    CHECK_OK(hx_mesh_add_face_set(mesh, "faces", 4, face));
    CHECK_OK(hx_mesh_add_face_set(mesh, "more faces", 2, face + 1));
    CHECK_OK(hx_mesh_add_node_set(mesh, "empty", 0, NULL));
}

static void compare_sets(const hx_mesh *a, const hx_mesh *b)
{
    CHECK_MSG(a->n_set == b->n_set, "%zu and %zu sets", a->n_set, b->n_set);
    for (size_t i = 0; i < a->n_set && i < b->n_set; i++) {
        const hx_set *const s = &a->set[i], *const t = &b->set[i];
        CHECK(strcmp(s->name, t->name) == 0 || strcmp(t->name, "two 'quoted'") == 0);
        CHECK(s->n_node == t->n_node && s->n_elem == t->n_elem && s->n_face == t->n_face);
        if (s->n_node != t->n_node || s->n_elem != t->n_elem || s->n_face != t->n_face) continue;
        if (s->n_node > 0)
            CHECK(memcmp(s->node, t->node, (size_t)s->n_node * sizeof *s->node) == 0);
        if (s->n_elem > 0)
            CHECK(memcmp(s->elem, t->elem, (size_t)s->n_elem * sizeof *s->elem) == 0);
        if (s->n_face > 0)
            CHECK(memcmp(s->face, t->face, (size_t)s->n_face * sizeof *s->face) == 0);
    }
}

static void test_round_trip(int is_ascii, int is_reordered)
{
    hx_mesh mesh, again, last;
    const char *const path = in_folder("box.msh");
    generate(&mesh, 5, 3, 2);
    add_sets(&mesh);
    if (is_reordered) {
        CHECK_OK(hx_mesh_shuffle(&mesh, 11));
        CHECK_OK(hx_mesh_reorder(&mesh));
    }
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_gmsh_write(path, &mesh, is_ascii));
    hx_mesh_free(&mesh);
    generate(&mesh, 5, 3, 2); /* in the generator's order */
    add_sets(&mesh);
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int k = 0; k < 2; k++) { /* the second time from the mesh that was read */
        hx_mesh *const read = k == 0 ? &again : &last;
        CHECK_OK(hx_mesh_read(path, (double)NAN, read, NULL, NULL));
        CHECK_OK(hx_mesh_finish(read));
        CHECK(read->n_node == mesh.n_node && read->n_elem == mesh.n_elem);
        CHECK(memcmp(read->conn, mesh.conn, 8 * (size_t)mesh.n_elem * sizeof *mesh.conn) == 0);
        CHECK(memcmp(read->xyz, mesh.xyz, 3 * (size_t)mesh.n_node * sizeof *mesh.xyz) == 0);
        CHECK(hx_mesh_node_number(read, 4) == 5 && hx_mesh_elem_number(read, 4) == 5);
        compare_sets(&mesh, read);
        if (k == 0) CHECK_OK(hx_gmsh_write(path, read, !is_ascii));
    }
    hx_mesh_free(&mesh);
    hx_mesh_free(&again);
    hx_mesh_free(&last);
}

/* Every format of the table that can be written returns the mesh, and those sets that the table
 * promises. */
static void test_formats(void)
{
    const int32_t elem[3] = {0, 3, 7}, node[4] = {0, 9, 20, 4};
    int n_written = 0;
    for (size_t i = 0; i < hx_n_mesh_format; i++) {
        const hx_mesh_format *const format = &hx_mesh_formats[i];
        const hx_mesh_write_options options = {.title = "box"};
        hx_mesh mesh, again;
        char name[32];
        if (!hx_mesh_can_write(format)) continue;
        snprintf(name, sizeof name, "box%s", format->extension);
        const char *const path = in_folder(name);
        generate(&mesh, 4, 2, 3);
        CHECK_OK(hx_mesh_add_elem_set(&mesh, "three", 3, elem));
        CHECK_OK(hx_mesh_add_node_set(&mesh, "four", 4, node));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_MSG(format->write != NULL, "%s", format->name);
        if (!format->write) continue;
        CHECK_OK(format->write(path, &mesh, &options));
        CHECK(hx_mesh_format_of_file(path) == format);
        CHECK_OK(hx_mesh_read(path, (double)NAN, &again, NULL, NULL));
        CHECK_OK(hx_mesh_finish(&again));
        CHECK(again.n_node == mesh.n_node && again.n_elem == mesh.n_elem);
        CHECK(memcmp(again.conn, mesh.conn, 8 * (size_t)mesh.n_elem * sizeof *mesh.conn) == 0);
        const hx_set *const three = hx_mesh_find_set(&again, "three");
        const hx_set *const four = hx_mesh_find_set(&again, "four");
        CHECK(three && three->n_elem == 3 && memcmp(three->elem, elem, sizeof elem) == 0);
        CHECK(four && four->n_node == 4 && four->node[3] == 20);
        remove(path);
        hx_mesh_free(&again);
        hx_mesh_free(&mesh);
        n_written++;
    }
    CHECK_MSG(n_written == 3, "%d formats written", n_written);
}

/* 1 if the face has three or four corners, all on the same side of the box. */
static int is_outside(const hx_mesh *mesh, const mixed_box *box, int64_t face)
{
    const int32_t *const conn = mesh->conn + 8 * (face / 6);
    const int *const corner = hx_hex_face[face % 6];
    int n_corner = 0, n_side = 0;
    for (int k = 0; k < 4; k++) n_corner += conn[corner[k]] != conn[corner[(k + 1) % 4]];
    for (int side = 0; side < 6; side++) {
        int n = 0;
        for (int k = 0; k < 4; k++) {
            const double x = mesh->xyz[3 * (int64_t)conn[corner[k]] + side / 2];
            n += fabs(x - (side % 2 ? box->n[side / 2] : 0.0)) < 1e-9;
        }
        n_side += n == 4;
    }
    return n_corner >= 3 && n_side > 0;
}

/* Sets of elements, of nodes, and of faces with three and four corners. */
static void add_kind_sets(hx_mesh *mesh, const mixed_box *box)
{
    const int32_t elem[3] = {0, 3, 7}, node[4] = {0, 9, 20, 4};
    int64_t face[20], n = 0, n_seen = 0;
    for (int64_t f = 0; f < 6 * mesh->n_elem && n < 20; f++)
        if (is_outside(mesh, box, f) && n_seen++ % 4 == 0) face[n++] = f;
    CHECK(n > 8);
    CHECK_OK(hx_mesh_add_elem_set(mesh, "three", 3, elem));
    CHECK_OK(hx_mesh_add_node_set(mesh, "four", 4, node));
    CHECK_OK(hx_mesh_add_face_set(mesh, "faces", n, face));
}

static void compare_kind_sets(const hx_mesh *a, const hx_mesh *b, int has_faces)
{
    static const char *const name[] = {"three", "four", "faces"};
    for (int i = 0; i < 3; i++) {
        const hx_set *const s = hx_mesh_find_set(a, name[i]), *const t =
                                                                  hx_mesh_find_set(b, name[i]);
        const int same = s && t && s->n_node == t->n_node;
        CHECK_MSG(same, "%s: %s", a->name, name[i]);
        if (!same || (i == 2 && !has_faces)) continue; /* sets of nodes also have elements */
        CHECK_MSG(s->n_elem == t->n_elem, "%s: %s", a->name, name[i]);
        if (s->n_elem != t->n_elem) continue;
        CHECK(memcmp(s->node, t->node, (size_t)s->n_node * sizeof *s->node) == 0);
        CHECK(s->n_elem == 0 || memcmp(s->elem, t->elem, (size_t)s->n_elem * sizeof *s->elem) == 0);
        CHECK(t->n_face == (has_faces ? s->n_face : 0));
        if (t->n_face > 0 && t->n_face == s->n_face)
            CHECK(memcmp(s->face, t->face, (size_t)s->n_face * sizeof *s->face) == 0);
    }
}

/* Cells in the numbering that readers give them. */
static void normalize_cells(hx_mesh *mesh)
{
    hx_renumbered_list list;
    hx_normalize_report report;
    CHECK_OK(hx_normalize_cells(mesh, &list, &report));
    CHECK(report.bad < 0 && report.first_mirrored < 0);
    hx_renumbered_free(&list);
}

/* From each format to the next one and back to the first: the cells keep their numbering, and the
 * sets are the same (VTK comes last because it has no faces). */
static void test_kind(mixed_kind kind, int is_reordered)
{
    static const char *const name[] = {"kind.msh", "kind.inp", "again.msh", "kind.vtk"};
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}, .distort = 0.15, .seed = 7};
    hx_mesh original, mesh, read;
    for (int i = 0; i < 2; i++) {
        hx_mesh *const made = i == 0 ? &original : &mesh;
        CHECK_OK(mixed_create(made, &box));
        normalize_cells(made);
        add_kind_sets(made, &box);
        if (i == 1 && is_reordered) CHECK_OK(hx_mesh_shuffle(made, 11));
        CHECK_OK(hx_mesh_finish(made));
    }
    for (int i = 0; i < 4; i++) {
        const hx_mesh_format *const format = hx_mesh_format_of_name(name[i]);
        hx_notes notes = {0};
        const hx_mesh_write_options options = {.is_ascii = (int)kind % 2, .notes = &notes};
        char path[300];
        snprintf(path, sizeof path, "%s", in_folder(name[i]));
        CHECK_OK(format->write(path, &mesh, &options));
        CHECK(notes.n == (i == 1 && (kind == MIXED_PYRAMIDS || kind == MIXED_LAYERS)));
        hx_notes_free(&notes);
        CHECK_OK(hx_mesh_read(path, (double)NAN, &read, NULL, &notes));
        for (size_t k = 0; k < notes.n; k++)
            CHECK_MSG(notes.note[k].level == HX_NOTE_DETAIL, "%s", notes.note[k].text);
        CHECK_OK(hx_mesh_finish(&read));
        CHECK(read.n_node == original.n_node && read.n_elem == original.n_elem);
        CHECK_MSG(memcmp(read.conn, original.conn, 8 * (size_t)read.n_elem * sizeof *read.conn) ==
                      0,
                  "%s of %s", name[i], mixed_name[kind]);
        double off = 0.0;
        for (int64_t k = 0; k < 3 * read.n_node; k++)
            test_worst(&off, fabs(read.xyz[k] - original.xyz[k]));
        CHECK_ABS(off, 0.0, 1e-13);
        compare_kind_sets(&original, &read, i < 3);
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
        mesh = read;
        remove(path);
    }
    hx_mesh_free(&mesh);
    hx_mesh_free(&original);
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    for (int i = 0; i < 4; i++) test_round_trip(i % 2, i / 2);
    test_formats();
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int i = 0; i < 2; i++) test_kind((mixed_kind)kind, i);
    remove(in_folder("box.msh"));
    remove(folder);
    TEST_END();
}
