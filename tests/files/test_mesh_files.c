/* Mesh files: Gmsh files written and read back, what the checks correct and refuse.
 *     test_mesh_files */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/atomic_file.h"
#include "core/files/gmsh.h"
#include "core/files/mesh_files.h"
#include "core/files/solid.h"
#include "core/generate/generate.h"
#include "core/mesh/mesh_check.h"
#include "core/mesh/region.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static char folder[] = "/tmp/hextop_mesh_files_XXXXXX";

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

/* --- round trips --- */

/* Sets of all kinds: overlapping elements, faces, nodes, an empty one. */
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
    generate(&mesh, 5, 3, 2); /* in its own order */
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

/* Every writable format of the table reproduces the mesh and its sets. */
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

/* 1 if the face has three or four corners, all on one side of the box. */
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

/* Sets of elements, nodes and of faces of three and four corners. */
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
        if (!same || (i == 2 && !has_faces)) continue; /* nodes, with the elements they hold */
        CHECK_MSG(s->n_elem == t->n_elem, "%s: %s", a->name, name[i]);
        if (s->n_elem != t->n_elem) continue;
        CHECK(memcmp(s->node, t->node, (size_t)s->n_node * sizeof *s->node) == 0);
        CHECK(s->n_elem == 0 || memcmp(s->elem, t->elem, (size_t)s->n_elem * sizeof *s->elem) == 0);
        CHECK(t->n_face == (has_faces ? s->n_face : 0));
        if (t->n_face > 0 && t->n_face == s->n_face)
            CHECK(memcmp(s->face, t->face, (size_t)s->n_face * sizeof *s->face) == 0);
    }
}

/* Gives cells the numbering that readers give them. */
static void settle(hx_mesh *mesh)
{
    hx_renumbered_list list;
    hx_settle_report report;
    CHECK_OK(hx_settle_cells(mesh, &list, &report));
    CHECK(report.bad < 0 && report.first_mirrored < 0);
    hx_renumbered_free(&list);
}

/* From each format to the next and back to the first: the cells in their numbering, and the sets
 * (VTK has no faces, it comes last). */
static void test_kind(mixed_kind kind, int is_reordered)
{
    static const char *const name[] = {"kind.msh", "kind.inp", "again.msh", "kind.vtk"};
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}, .distort = 0.15, .seed = 7};
    hx_mesh original, mesh, read;
    for (int i = 0; i < 2; i++) {
        hx_mesh *const made = i == 0 ? &original : &mesh;
        CHECK_OK(mixed_create(made, &box));
        settle(made);
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

/* --- files by hand --- */

#define NODES2                                                                                     \
    "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 "             \
    "1\n$EndNodes\n"
#define FORMAT2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define CUBE2 "$Elements\n1\n1 5 2 9 1 1 2 3 4 5 6 7 8\n$EndElements\n"
#define FORMAT4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES4                                                                                     \
    "$Nodes\n1 8 1 8\n3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n" \
    "1 1 1\n0 1 1\n$EndNodes\n"
#define CUBE4 "$Elements\n1 1 1 1\n3 1 5 1\n1 1 2 3 4 5 6 7 8\n$EndElements\n"

#define LONG "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void write_text(const char *path, const char *text)
{
    hx_atomic_file file;
    memset(&file, 0, sizeof file);
    CHECK_OK(hx_atomic_file_open(&file, path));
    fputs(text, file.stream);
    CHECK_OK(hx_atomic_file_commit(&file));
}

static const struct {
    const char *text, *message;
} bad_file[] = {
    {"$MeshFormat\n", "the file ends where the version"},
    {"$MeshFormat\nx\n", "version x of the format; 2.0 to 2.2 and 4.1 are read"},
    {"$MeshFormat\n1 0 8\n", "version 1 of the format"},
    {"$NOD\n3\n", "version 1 of the format"},
    {"$MeshFormat\n4.1 2 8\n", "file type 2 and data size 8"},
    {"$MeshFormat\n2.2 0 4\n", "real numbers of 4 bytes"},
    {"$MeshFormat\n4.1 1 8\n\x02\x02\x02\x02\n", "the number that identifies the byte order"},
    {"$MeshFormat\n4.1 0 8\n$EndMesh\n", "'$EndMesh' where $EndMeshFormat is expected"},
    {"$Comments\nno end\n", "the file ends before $EndComments"},
    {FORMAT2, "no section $Nodes: the file holds no mesh"},
    {FORMAT2 NODES2, "no section $Elements: the file holds no mesh"},
    {FORMAT2 "nonsense\n", ":4: 'nonsense' where a section such as $Elements is expected"},
    {FORMAT2 "$Nodes\n8000000\n1 0 0 0\n", "8000000 nodes do not fit into the"},
    {FORMAT2 "$Nodes\n-1\n", "the number of nodes is -1"},
    {FORMAT2 "$Nodes\n1\n1 0 x 0\n", ":6: 'x' where a number is expected"},
    {FORMAT2 NODES2 "$Elements\n1\n1 5 2 9 1 1 2 3 4 5 6 7 9\n$EndElements\n",
     ":17: element 1 names node 9, which the file does not have"},
    {FORMAT2 NODES2 "$Elements\n1\n1 77 0\n", ":17: 77 is not a known type of element"},
    {FORMAT2 NODES2 "$Elements\n1\n1 5 -2\n", "an element with -2 tags"},
    {FORMAT2 NODES2 "$Elements\n2\n1 5 0 1 2 3 4 5 6 7 8\n2 5 0 1 2 3 4 5 6 7 7\n$EndElements\n",
     "element 2 names node 7 twice"},
    {FORMAT2 "$PhysicalNames\n1\n3 1 solid\n", "a line of $PhysicalNames must be"},
    {FORMAT2 "$PhysicalNames\n1\n4 1 \"solid\"\n", "a line of $PhysicalNames must be"},
    {FORMAT2 NODES2 CUBE2 "$NodeData\n1\n", "the file ends before $EndNodeData"},
    {FORMAT2 NODES2 NODES2 CUBE2, ":17: a second node with the number 1"},
    {FORMAT4 "$Entities\n9999999 0 0 0\n", "9999999 entities do not fit into the"},
    {FORMAT4 "$Entities\n1 0 0 0\n1 0 0 0 9999999 1\n", "9999999 physical groups do not fit"},
    {FORMAT4 "$Nodes\n1 9999999 1 8\n3 1 0 8\n", "9999999 nodes do not fit into the"},
    {FORMAT4 "$Nodes\n1 2 1 8\n3 1 0 3\n1 2 3\n0 0 0\n0 0 0\n0 0 0\n",
     "a block of 3 nodes on an entity of dimension 3, but only 2 nodes are left"},
    {FORMAT4 "$Nodes\n1 2 1 8\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", "the blocks have 1 nodes fewer"},
    {FORMAT4 NODES4 "$Elements\n1 1 1 1\n3 1 5 2\n1 1 2 3 4 5 6 7 8\n",
     "a block of 2 elements, but only 1 are left"},
    {FORMAT4 NODES4 "$Elements\n1 2 1 2\n3 1 5 1\n1 1 2 3 4 5 6 7 8\n$EndElements\n",
     "the blocks have 1 elements fewer"},
    {FORMAT4 NODES4 "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 3\n$EndElements\n",
     ":27: element 1 has 3 different nodes; a solid has at least 4"},
    {FORMAT2 NODES2
     "$Elements\n1\n1 92 0 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 "
     "7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8\n$EndElements\n",
     ":17: element 1 is a 64-node hexahedron (the file has 1 of this type and 0 solids that are "
     "read); every solid "
     "element must be a tetrahedron, wedge, pyramid or hexahedron of first or second order: set "
     "Mesh.ElementOrder = 1 or 2 in gmsh"},
    {FORMAT4 NODES4 "$Elements\n1 1 1 1\n3 1 5 1\n4611686018427387904 1 2 3 4 5 6 7 8\n",
     "the number 4611686018427387904 is out of range"},
    {FORMAT2 LONG LONG LONG LONG "\n", ":4: 'xxxxxxxxxx"},
    {FORMAT2 LONG LONG LONG LONG "\n", "is too long for a word, which can have at most 255 bytes"},
};

static int read_whole(const char *path, double merge, hx_mesh *mesh, hx_notes *notes)
{
    HX_TRY(hx_mesh_read(path, merge, mesh, NULL, notes));
    HX_TRY(hx_mesh_finish(mesh));
    return hx_mesh_check_file(mesh, merge, notes);
}

static void test_bad_files(void)
{
    const char *const path = in_folder("bad.msh");
    for (size_t i = 0; i < sizeof bad_file / sizeof bad_file[0]; i++) {
        hx_mesh mesh;
        write_text(path, bad_file[i].text);
        const int rc = read_whole(path, (double)NAN, &mesh, NULL);
        CHECK_MSG(rc == HX_EINPUT && strstr(hx_error_message(), bad_file[i].message) != NULL,
                  "case %zu: %d: %s\n    expected: %s", i, rc, hx_error_message(),
                  bad_file[i].message);
        hx_mesh_free(&mesh);
    }
    hx_mesh mesh;
    const char *const nested = in_folder("folder.msh");
    CHECK(mkdir(nested, 0700) == 0);
    CHECK_FAILS(hx_mesh_read(nested, (double)NAN, &mesh, NULL, NULL), HX_EINPUT,
                "folder.msh: cannot open it: it is a folder, not a file");
    CHECK(remove(nested) == 0);
}

/* Odd but right: numbers with gaps, negative groups, sections that are passed, parameters. */
static void test_good_files(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    const char *const path = in_folder("good.msh");
    write_text(path, "$Comments\nany\n$EndComments\n" FORMAT2
                     "$PhysicalNames\n2\n2 4 \"low er\"\n3 9 \"all\"\n$EndPhysicalNames\n"
                     "$ParametricNodes\n8\n1 0 0 0 0 7\n2 1 0 0 1 7 0.5\n30 1 1 0 2 7 0.5 0.5\n"
                     "4 0 1 0 3 7\n5 0 0 1 0 1\n6 1 0 1 0 1\n7 1 1 1 0 1\n8 0 1 1 0 1\n"
                     "$EndParametricNodes\n$Periodic\n0\n$EndPeriodic\n"
                     "$Elements\n4\n7 3 2 -4 1 30 2 1 4\n8 3 3 5 1 0 5 6 7 8\n"
                     "9 5 2 9 1 1 2 30 4 5 6 7 8\n10 5 2 8 1 1 2 30 4 5 6 7 8\n$EndElements\n");
    CHECK_OK(read_whole(path, (double)NAN, &mesh, &notes));
    CHECK(mesh.n_elem == 1 && mesh.n_node == 8 && mesh.n_set == 4);
    CHECK(hx_mesh_node_number(&mesh, 2) == 30 && hx_mesh_elem_number(&mesh, 0) == 9);
    const hx_set *const lower = hx_mesh_find_set(&mesh, "low er");
    const hx_set *const upper = hx_mesh_find_set(&mesh, "surface 5");
    const hx_set *const again = hx_mesh_find_set(&mesh, "volume 8");
    CHECK(lower && lower->n_face == 1 && lower->face[0] == 4);
    CHECK(upper && upper->n_face == 1 && upper->face[0] == 5);
    CHECK(again && again->n_elem == 1 && hx_mesh_find_set(&mesh, "all")->n_elem == 1);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);

    write_text(path, FORMAT4 NODES4 CUBE4); /* no entities at all */
    CHECK_OK(read_whole(path, (double)NAN, &mesh, NULL));
    CHECK(mesh.n_elem == 1 && mesh.n_set == 0);
    hx_mesh_free(&mesh);
}

/* For groups with one name and several dimensions, the highest keeps it, in any order of names. */
static void check_names_apart(const char *text)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    const char *const path = in_folder("apart.msh");
    write_text(path, text);
    CHECK_OK(read_whole(path, (double)NAN, &mesh, &notes));
    CHECK(mesh.n_set == 4 && mesh.n_shared == 1);
    CHECK(strcmp(hx_mesh_name_for(&mesh, "fix", HX_USE_NODES), "point-fix") == 0);
    CHECK(strcmp(hx_mesh_name_for(&mesh, "fix", HX_USE_FACES), "surface-fix") == 0);
    CHECK(strcmp(hx_mesh_name_for(&mesh, "fix", HX_USE_ELEMS), "fix") == 0);
    CHECK(strcmp(hx_mesh_name_for(&mesh, "top", HX_USE_NODES), "top") == 0);
    const hx_set *const fix = hx_mesh_find_set(&mesh, "fix");
    const hx_set *const faces = hx_mesh_find_set(&mesh, "surface-fix");
    const hx_set *const point = hx_mesh_find_set(&mesh, "point-fix");
    CHECK(fix && fix->n_elem == 1 && fix->n_face == 0);
    CHECK(faces && faces->n_face == 1 && faces->face[0] == 4 && faces->n_elem == 0);
    CHECK(faces && faces->n_node == 4);
    CHECK(point && point->n_node == 1 && point->n_elem == 0 && point->node[0] == 6);
    const hx_set *const top = hx_mesh_find_set(&mesh, "top");
    CHECK(top && top->n_face == 1 && top->face[0] == 5);
    int n_said = 0;
    for (size_t i = 0; i < notes.n; i++)
        n_said += notes.note[i].level == HX_NOTE_INFO &&
                  strstr(notes.note[i].text,
                         "apart.msh: sets of different kinds are named 'fix' and stay apart: point "
                         "'point-fix', surface 'surface-fix', volume 'fix'");
    CHECK(n_said == 1);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

static void test_names_apart(void)
{
    check_names_apart(FORMAT2
                      "$PhysicalNames\n4\n0 3 \"fix\"\n2 2 \"fix\"\n2 5 \"top\"\n3 1 \"fix\"\n"
                      "$EndPhysicalNames\n" NODES2
                      "$Elements\n4\n1 15 2 3 1 7\n2 3 2 2 1 1 2 3 4\n3 3 2 5 2 5 6 7 8\n"
                      "4 5 2 1 1 1 2 3 4 5 6 7 8\n$EndElements\n");
    check_names_apart(FORMAT4
                      "$PhysicalNames\n4\n3 1 \"fix\"\n2 1 \"fix\"\n0 1 \"fix\"\n2 2 \"top\"\n"
                      "$EndPhysicalNames\n"
                      "$Entities\n1 0 2 1\n1 0 0 0 1 1\n1 0 0 0 1 1 0 1 1 0\n"
                      "2 0 0 1 1 1 1 1 2 0\n1 0 0 0 1 1 1 1 1 0\n$EndEntities\n" NODES4
                      "$Elements\n4 4 1 4\n0 1 15 1\n1 7\n2 1 3 1\n2 1 2 3 4\n2 2 3 1\n"
                      "3 5 6 7 8\n3 1 5 1\n4 1 2 3 4 5 6 7 8\n$EndElements\n");
}

/* --- binary files of both byte orders --- */

static void put(FILE *f, int swap, size_t n, const void *value)
{
    const unsigned char *const byte = value;
    for (size_t i = 0; i < n; i++) fputc(byte[swap ? n - 1 - i : i], f);
}

static void put_int(FILE *f, int swap, int32_t value)
{
    put(f, swap, sizeof value, &value);
}

static void put_size(FILE *f, int swap, int n_byte, int64_t value)
{
    const int32_t narrow = (int32_t)value;
    if (n_byte == 4)
        put(f, swap, 4, &narrow);
    else
        put(f, swap, 8, &value);
}

static void put_corner(FILE *f, int swap, int a)
{
    const double xyz[3] = {(a + 1) / 2 % 2, a / 2 % 2, a / 4};
    for (int d = 0; d < 3; d++) put(f, swap, sizeof xyz[d], &xyz[d]);
}

/* A cube whose bottom is the surface 7, in format 2.2. */
static void write_binary_2(FILE *f, int swap)
{
    static const int32_t element[2][3] = {{3, 1, 2}, {5, 1, 2}};
    fputs("$MeshFormat\n2.2 1 8\n", f);
    put_int(f, swap, 1);
    fputs("\n$EndMeshFormat\n$Nodes\n8\n", f);
    for (int a = 0; a < 8; a++) {
        put_int(f, swap, 10 + a);
        put_corner(f, swap, a);
    }
    fputs("\n$EndNodes\n$Elements\n2\n", f);
    for (int e = 0; e < 2; e++) {
        for (int k = 0; k < 3; k++) put_int(f, swap, element[e][k]);
        put_int(f, swap, 1 + e);
        put_int(f, swap, 7 + e);
        put_int(f, swap, 1);
        for (int k = 0; k < (e == 0 ? 4 : 8); k++) put_int(f, swap, 10 + k);
    }
    fputs("\n$EndElements\n", f);
}

/* This cube in format 4.1; the nodes of surface 1 have parameters. */
static void write_binary_4(FILE *f, int swap, int n_byte)
{
    static const int64_t n_entity[4] = {0, 0, 1, 1};
    const double parameter[2] = {0.5, 0.25};
    fprintf(f, "$MeshFormat\n4.1 1 %d\n", n_byte);
    put_int(f, swap, 1);
    fputs("\n$EndMeshFormat\n$Entities\n", f);
    for (int k = 0; k < 4; k++) put_size(f, swap, n_byte, n_entity[k]);
    for (int k = 0; k < 2; k++) {
        put_int(f, swap, 1);
        put_corner(f, swap, 0);
        put_corner(f, swap, 6);
        put_size(f, swap, n_byte, 1);
        put_int(f, swap, 7 + k);
        put_size(f, swap, n_byte, 2); /* bounding entities */
        put_int(f, swap, 3);
        put_int(f, swap, -4);
    }
    fputs("\n$EndEntities\n$Nodes\n", f);
    for (int k = 0; k < 4; k++) put_size(f, swap, n_byte, k == 0 ? 2 : k == 1 ? 8 : 10 * k);
    for (int b = 0; b < 2; b++) {
        put_int(f, swap, 2 + b);
        put_int(f, swap, 1);
        put_int(f, swap, b == 0);
        put_size(f, swap, n_byte, 4);
        for (int a = 4 * b; a < 4 * b + 4; a++) put_size(f, swap, n_byte, 10 + a);
        for (int a = 4 * b; a < 4 * b + 4; a++) {
            put_corner(f, swap, a);
            for (int k = 0; k < 2 && b == 0; k++) put(f, swap, 8, &parameter[k]);
        }
    }
    fputs("\n$EndNodes\n$Elements\n", f);
    for (int k = 0; k < 4; k++) put_size(f, swap, n_byte, k < 2 ? 2 : k - 1);
    for (int b = 0; b < 2; b++) {
        put_int(f, swap, 2 + b);
        put_int(f, swap, 1);
        put_int(f, swap, b == 0 ? 3 : 5);
        put_size(f, swap, n_byte, 1);
        put_size(f, swap, n_byte, 1 + b);
        for (int k = 0; k < 4 + 4 * b; k++) put_size(f, swap, n_byte, 10 + k);
    }
    fputs("\n$EndElements\n", f);
}

static void test_binary(int swap, int n_byte)
{
    hx_mesh mesh;
    hx_atomic_file file;
    memset(&file, 0, sizeof file);
    CHECK_OK(hx_atomic_file_open(&file, in_folder("binary.msh")));
    if (n_byte == 0)
        write_binary_2(file.stream, swap);
    else
        write_binary_4(file.stream, swap, n_byte);
    CHECK_OK(hx_atomic_file_commit(&file));
    CHECK_OK(read_whole(in_folder("binary.msh"), (double)NAN, &mesh, NULL));
    CHECK(mesh.n_elem == 1 && mesh.n_node == 8 && mesh.n_set == 2);
    CHECK_REL(mesh.total_volume, 1.0, 1e-14);
    CHECK(hx_mesh_node_number(&mesh, 7) == 17 && hx_mesh_elem_number(&mesh, 0) == 2);
    const hx_set *const bottom = hx_mesh_find_set(&mesh, "surface 7");
    CHECK(bottom && bottom->n_face == 1 && bottom->face[0] == 4);
    CHECK(hx_mesh_find_set(&mesh, "volume 8") != NULL);
    hx_mesh_free(&mesh);
}

/* --- order of nodes --- */

/* A cube with its nodes in that order, and its face x = 0 as a quadrangle. */
static int read_ordered(const int order[8], hx_mesh *mesh, hx_notes *notes)
{
    char text[1024];
    snprintf(text, sizeof text,
             FORMAT2 NODES2 "$Elements\n2\n1 3 2 1 1 1 5 8 4\n"
                            "2 5 2 2 1 %d %d %d %d %d %d %d %d\n$EndElements\n",
             order[0] + 1, order[1] + 1, order[2] + 1, order[3] + 1, order[4] + 1, order[5] + 1,
             order[6] + 1, order[7] + 1);
    write_text(in_folder("order.msh"), text);
    return read_whole(in_folder("order.msh"), (double)NAN, mesh, notes);
}

static void test_order(void)
{
    static const int mended[3][8] = {
        {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 3, 2, 4, 5, 7, 6}, {4, 5, 7, 6, 0, 1, 3, 2}};
    static const int refused[2][8] = {{1, 0, 2, 3, 4, 5, 6, 7}, {0, 5, 2, 3, 4, 1, 6, 7}};
    for (int i = 0; i < 3; i++) {
        hx_mesh mesh;
        hx_notes notes = {0};
        CHECK_OK(read_ordered(mended[i], &mesh, &notes));
        CHECK_REL(mesh.total_volume, 1.0, 1e-14);
        const hx_set *const side = hx_mesh_find_set(&mesh, "surface 1");
        CHECK(side && side->n_face == 1 && side->n_node == 4);
        CHECK(notes.n > 0 && strstr(notes.note[notes.n - 1].text, "corrected"));
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
    for (int i = 0; i < 2; i++) {
        hx_mesh mesh;
        CHECK_FAILS(read_ordered(refused[i], &mesh, NULL), HX_EINPUT,
                    "element 2 is inverted or degenerate");
        hx_mesh_free(&mesh);
    }
}

/* --- coincident nodes --- */

/* Two boxes of nx x ny x nz unit cubes; the second begins at x = nx + gap and at dy. */
static void two_boxes(hx_mesh *mesh, int n, double gap, double dy, double scale)
{
    const int n1 = n + 1, n_box = n1 * n1 * n1;
    double *const xyz = malloc(sizeof *xyz * 6 * (size_t)n_box);
    int32_t *const conn = malloc(sizeof *conn * 16 * (size_t)(n * n * n));
    int64_t e = 0;
    for (int b = 0; b < 2; b++)
        for (int a = 0; a < n_box; a++) {
            double *const x = xyz + 3 * (b * n_box + a);
            x[0] = scale * (a % n1 + b * (n + gap));
            x[1] = scale * (a / n1 % n1 + b * dy);
            x[2] = scale * (a / (n1 * n1));
        }
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < n * n * n; i++, e++) {
            const int32_t a = b * n_box + i % n + n1 * (i / n % n) + n1 * n1 * (i / (n * n));
            const int32_t corner[8] = {
                a,           a + 1,           a + 1 + n1,           a + n1,
                a + n1 * n1, a + 1 + n1 * n1, a + 1 + n1 + n1 * n1, a + n1 + n1 * n1};
            memcpy(conn + 8 * e, corner, sizeof corner);
        }
    CHECK_OK(hx_mesh_create(mesh, "boxes", 2 * n_box, xyz, e, conn));
    const int32_t touching[2] = {n, n_box}; /* coincident */
    CHECK_OK(hx_mesh_add_node_set(mesh, "both", 2, touching));
}

static void test_coincident(double scale)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 4, 0.0, 0.0, scale);
    CHECK_FAILS(
        hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
        "bodies without common nodes meet at 16 pairs of equal faces (elements 3 and 64; 25 "
        "nodes coincide with another one, such as 4 and 125)");
    CHECK_OK(hx_mesh_mend_coincident(&mesh, 0.0, NULL, &notes));
    CHECK(mesh.n_node == 250 && notes.n == 0);
    CHECK_OK(hx_mesh_mend_coincident(&mesh, 1e-6 * scale, NULL, &notes));
    CHECK(mesh.n_node == 225 && notes.n == 1);
    CHECK(hx_mesh_node_number(&mesh, 125) == 126 && hx_mesh_node_number(&mesh, 224) == 249);
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.set[0].n_node == 1);
    int64_t n_face, *face;
    CHECK_OK(hx_mesh_boundary_faces(&mesh, NULL, &n_face, &face));
    CHECK(n_face == 6 * 16 * 2 - 2 * 16);
    free(face);
    CHECK_OK(hx_mesh_check_conforming(&mesh, 0, NULL));
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);

    two_boxes(&mesh, 4, 1e-3, 0.0, scale); /* apart */
    CHECK_OK(hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, &notes));
    CHECK(notes.n == 0);
    CHECK_OK(hx_mesh_mend_coincident(&mesh, 2e-3 * scale, NULL, &notes));
    CHECK(notes.n == 1 && mesh.n_node == 225);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* A crack: coincident nodes of one body are a warning. */
static void test_crack(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 4, 0.0, 0.0, 1.0);
    CHECK_OK(hx_mesh_mend_coincident(&mesh, 1e-6, NULL, NULL));
    /* Node 4 of element 64 is separated again: one corner, so that two faces no longer match. */
    double *const xyz = realloc(mesh.xyz, sizeof *xyz * 3 * 226);
    memcpy(xyz + 3 * 225, xyz + 3 * 4, 3 * sizeof *xyz);
    mesh.xyz = xyz;
    mesh.n_node = 226;
    const int64_t number = 250;
    CHECK_OK(hx_numbers_append(&mesh.node_number, 1, &number));
    for (int64_t i = 8 * 64; i < 8 * 65; i++)
        if (mesh.conn[i] == 4) mesh.conn[i] = 225;
    CHECK_OK(hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, &notes));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    CHECK(notes.n == 1 && strstr(notes.note[0].text, "nodes 4 and 250"));
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* Moves the second of two boxes of 2 x 2 x 2 cubes: y of its nodes becomes to[y]. */
static void squeeze(hx_mesh *mesh, const double to[3])
{
    for (int64_t a = 27; a < 54; a++) mesh->xyz[3 * a + 1] = to[(int)mesh->xyz[3 * a + 1]];
}

static void check_note(const hx_mesh *mesh, const char *has, const char *lacks, int helps)
{
    hx_notes notes = {0};
    int found = -1;
    CHECK_OK(hx_mesh_mend_coincident((hx_mesh *)mesh, (double)NAN, NULL, &notes));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    CHECK(notes.n == 1 && strstr(notes.note[0].text, has));
    CHECK(notes.n == 1 && !strstr(notes.note[0].text, lacks));
    CHECK_OK(hx_mesh_merge_helps(mesh, 1e-9, &found));
    CHECK(found == helps);
    hx_notes_free(&notes);
}

/* Merging is recommended only if it gives a conforming mesh. */
static void test_advice(void)
{
    static const double half[3] = {0.0, 0.5, 1.0}, uneven[3] = {0.0, 1.0, 1.5};
    hx_mesh mesh;
    int helps = -1;
    two_boxes(&mesh, 2, -2.0, 0.0, 1.0); /* a body given twice */
    CHECK_FAILS(
        hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
        "elements 0 and 8 occupy the same place with different nodes (8 such pairs): the file "
        "contains this body twice; keep one of the two");
    CHECK_OK(hx_mesh_merge_helps(&mesh, 1e-9, &helps));
    CHECK(helps == 0);
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 2.0, 1.0); /* along an edge */
    check_note(&mesh, "no faces between them are equal; mesh.merge = 1e-09 joins the nodes",
               "crack", 1);
    CHECK_OK(hx_mesh_mend_coincident(&mesh, 1e-9, NULL, NULL));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_check_conforming(&mesh, 0, NULL));
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 0.0, 1.0); /* two cells against one */
    squeeze(&mesh, half);
    check_note(&mesh, "are equal; merging them does not give a conforming mesh: node", "joins", 0);
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 0.0, 1.0); /* equal faces next to others */
    squeeze(&mesh, uneven);
    CHECK_FAILS(hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
                "meet at 2 pairs of equal faces");
    CHECK(strstr(hx_error_message(), "merging these nodes does not give a conforming mesh (node"));
    CHECK(!strstr(hx_error_message(), "joins"));
    hx_mesh_free(&mesh);
}

/* --- hanging nodes --- */

static void test_hanging(double dy, int hangs)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 3, 0.0, dy, 2.0);
    CHECK_OK(hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, NULL));
    CHECK_OK(hx_mesh_finish(&mesh));
    if (hangs) {
        CHECK_FAILS(hx_mesh_check_conforming(&mesh, 0, &notes), HX_EINPUT,
                    "is a hanging node: it lies on");
        CHECK_OK(hx_mesh_check_conforming(&mesh, 1, &notes));
        CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    } else {
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, &notes));
        CHECK(notes.n == 0);
    }
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* Curved and distorted meshes without errors stay unchanged. */
static void test_generated(void)
{
    for (int i = 0; hx_generators[i]; i++) {
        hx_mesh mesh;
        hx_notes notes = {0};
        hx_generate_params params;
        memset(&params, 0, sizeof params);
        params.nx = 20;
        params.distort = 0.2;
        params.seed = 3;
        CHECK_OK(hx_generate(hx_generators[i], &mesh, &params));
        CHECK_OK(hx_mesh_mend_coincident(&mesh, (double)NAN, NULL, &notes));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, &notes));
        CHECK_MSG(notes.n == 0, "%s: %s", hx_generators[i]->name,
                  notes.n > 0 ? notes.note[0].text : "");
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    for (int i = 0; i < 4; i++) test_round_trip(i % 2, i / 2);
    test_formats();
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int i = 0; i < 2; i++) test_kind((mixed_kind)kind, i);
    test_bad_files();
    test_good_files();
    test_names_apart();
    for (int i = 0; i < 6; i++) test_binary(i % 2, 4 * (i / 2));
    test_order();
    test_coincident(1.0);
    test_coincident(1e-3);
    test_crack();
    test_advice();
    test_hanging(0.5, 1);
    test_hanging(1.0 / 3.0, 1);
    test_hanging(4.0, 0); /* no touching */
    test_hanging(3.0, 0); /* along an edge, conforming */
    test_generated();
    for (int i = 0; i < 5; i++) {
        static const char *const name[5] = {"box.msh", "bad.msh", "good.msh", "order.msh",
                                            "binary.msh"};
        remove(in_folder(name[i]));
    }
    remove(folder);
    TEST_END();
}
