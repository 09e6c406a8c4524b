/* Gmsh files written by hand: files that readers accept and refuse, both byte orders, orders of
 * nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/atomic_file.h"
#include "core/files/gmsh.h"
#include "core/files/mesh_files.h"
#include "core/mesh/mesh_check.h"
#include "tests/lib/test.h"

static char folder[] = "/tmp/hextop_mesh_files_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

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
    {FORMAT4 "$Nodes\n1 2 1 8\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", "the blocks have 1 node fewer"},
    {FORMAT4 NODES4 "$Elements\n1 1 1 1\n3 1 5 2\n1 1 2 3 4 5 6 7 8\n",
     "a block of 2 elements, but only 1 are left"},
    {FORMAT4 NODES4 "$Elements\n1 2 1 2\n3 1 5 1\n1 1 2 3 4 5 6 7 8\n$EndElements\n",
     "the blocks have 1 element fewer"},
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

/* Unusual but correct files: numbers with gaps, negative groups, sections that are skipped,
 * parameters. */
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

/* If groups of several dimensions share a name, the group of the highest dimension keeps it, in any
 * order of names. */
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

/* The cube in format 4.1; the nodes of surface 1 have parameters. */
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

/* A cube with its nodes in the given order, and its face x = 0 as a quadrilateral. */
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
    static const int repaired[3][8] = {
        {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 3, 2, 4, 5, 7, 6}, {4, 5, 7, 6, 0, 1, 3, 2}};
    static const int refused[2][8] = {{1, 0, 2, 3, 4, 5, 6, 7}, {0, 5, 2, 3, 4, 1, 6, 7}};
    for (int i = 0; i < 3; i++) {
        hx_mesh mesh;
        hx_notes notes = {0};
        CHECK_OK(read_ordered(repaired[i], &mesh, &notes));
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

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    test_bad_files();
    test_good_files();
    test_names_apart();
    for (int i = 0; i < 6; i++) test_binary(i % 2, 4 * (i / 2));
    test_order();
    for (int i = 0; i < 4; i++) {
        static const char *const name[4] = {"bad.msh", "good.msh", "order.msh", "binary.msh"};
        remove(in_folder(name[i]));
    }
    remove(folder);
    TEST_END();
}
