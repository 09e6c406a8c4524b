/* Abaqus input files: each construct of a mesh and of its sets, and each message of the reader.
 * test_abaqus_conditions.c tests supports and forces. */
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/abaqus_write.h"
#include "core/files/mesh_files.h"
#include "tests/lib/abaqus_case.h"

/* --- mesh --- */

static void test_mesh_styles(void)
{
    hx_mesh mesh;
    read_good(ONE_HEX, &mesh);
    CHECK(mesh.n_node == 8 && mesh.n_elem == 1 && stated.n_case == 0 && !stated.fault);
    CHECK_REL(mesh.total_volume, 1.0, 1e-12);
    CHECK(hx_mesh_node_number(&mesh, 0) == 1 && hx_mesh_elem_number(&mesh, 0) == 1);
    hx_mesh_free(&mesh);

    /* Upper and lower case, blanks, comments, carriage returns, continued lines, exponents, missing
     * coordinates. */
    read_good(
        "** a comment\r\n*Heading\r\n anything, at all\r\n* node , nset = N_all\r\n"
        " 10 , 0.0D+0,0,\r\n20,1.E0,,\r\n\r\n30, 1, 1\r\n40, 0, +1.0\r\n** between\r\n"
        "50,0,0,1\r\n60,1,0,1,\r\n70,1.,1.,1.\r\n80,0,1,1\r\n"
        "*element,\r\n  type = c3d8r ,\r\n elset=\"Solid part\"\r\n"
        "7000000001, 10, 20, 30,\r\n 40, 50,\r\n60, 70, 80\r\n*SOLID SECTION, MATERIAL=M\r\n1.\r\n",
        &mesh);
    CHECK(mesh.n_node == 8 && mesh.n_elem == 1);
    CHECK_REL(mesh.total_volume, 1.0, 1e-12);
    CHECK(hx_mesh_elem_number(&mesh, 0) == 7000000001 && hx_mesh_node_number(&mesh, 7) == 80);
    check_set(&mesh, "N_all", 8, 360, 1, 0);
    check_set(&mesh, "Solid part", 8, 360, 1, 0);
    hx_mesh_free(&mesh);

    /* A superfluous comma at the end of keyword lines, before data and before another keyword. */
    read_good(ONE_HEX "*NSET, NSET=wall, \n1, 4, 5, 8\n*SOLID SECTION, MATERIAL=M,\n** none\n"
                      "*STEP,\n*STATIC\n*BOUNDARY\nwall, ENCASTRE\n*CLOAD,\n2, 3, 5.\n*END STEP\n",
              &mesh);
    check_set(&mesh, "wall", 4, 1 + 4 + 5 + 8, 0, 0);
    CHECK(stated.n_support == 12 && stated.n_force == 1 && !stated.fault);
    hx_mesh_free(&mesh);

    /* The mesh is read even if a rigid body has no reference node. */
    check_unread(ONE_HEX "*NSET, NSET=wall\n1, 4\n*RIGID BODY, NSET=wall\n", HX_UNREAD_CARRIES,
                 "case.inp:14: 1 *RIGID BODY (without REF NODE=NODE)");

    /* One instance of one part. */
    read_good("*PART, NAME=P\n" ONE_HEX "*NSET, NSET=wall, INTERNAL\n1, 4, 5, 8\n*END PART\n"
              "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=P-1, PART=P\n*END INSTANCE\n"
              "*NSET, NSET=pulled, INSTANCE=P-1\nP-1.2, 3\n*NSET, NSET=both\np-1.wall, pulled\n"
              "*END ASSEMBLY\n*STEP\n*STATIC\n*BOUNDARY\nP-1.wall, ENCASTRE\n*CLOAD\nP-1.2, 3, 5.\n"
              "*END STEP\n",
              &mesh);
    check_set(&mesh, "both", 6, 1 + 4 + 5 + 8 + 2 + 3, 0, 0);
    CHECK(stated.n_support == 12 && stated.n_force == 1 && !stated.fault);
    hx_mesh_free(&mesh);
}

static void test_types(void)
{
    static const char *const hex[] = {"C3D8",   "C3D8R", "C3D8I", "C3D8H",
                                      "C3D8RH", "c3d8t", "DC3D8"};
    hx_mesh mesh;
    hx_notes notes = {0};
    char text[2000];
    for (size_t i = 0; i < sizeof hex / sizeof hex[0]; i++) {
        snprintf(text, sizeof text, "%s*ELEMENT, TYPE=%s\n1, 1, 2, 3, 4, 5, 6, 7, 8\n", NODES_8,
                 hex[i]);
        read_good(text, &mesh);
        CHECK(mesh.n_elem == 1);
        hx_mesh_free(&mesh);
    }
    CHECK_OK(read_text(NODES_8 "*ELEMENT, TYPE=C3D8R\n1, 1, 2, 3, 4, 5, 6, 7, 8\n", &mesh, &notes));
    CHECK(notes.n == 1 && strstr(notes.note[0].text, "C3D8R (reduced integration) are analysed"));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_INFO);
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);

    check_bad(
        ONE_HEX "*ELEMENT, TYPE=C3D15V\n5, 1, 2, 3, 5\n6, 1, 2, 4, 5\n",
        "case.inp:13: element 5 is a C3D15V (the file has 2 of this type and 1 solids that are "
        "read); every "
        "solid element must be a tetrahedron, wedge, pyramid or hexahedron of first or second "
        "order: C3D4, C3D5");
    check_bad(ONE_HEX "*ELEMENT, TYPE=SC8R\n3,1,2,3,4,\n5,6,7,8\n4,1,2,3,4,5,6,7,8\n",
              "element 3 is a SC8R (the file has 2");
    check_bad(ONE_HEX "*ELEMENT, TYPE=SC8R\n5, 1, 2, 3, 5\n6, 1, 2, 4, 5\n*ELSET, ELSET=A, "
                      "GENERATE\n1, 3\n",
              /* reported in preference to errors in sets of such elements */
              "element 5 is a SC8R");
    check_bad(NODES_8, "no solid element among 8 nodes");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D4\n5, 1, 2, 3, 3\n",
              "case.inp:11: element 5 has 3 different nodes; a solid has at least 4");
    check_bad(ONE_HEX "*ELEMENT, TYPE=C3D4\n5, 1, 2, 3, 3\n",
              "case.inp:13: element 5 names node 3 twice and has 3 different nodes");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D4\n5, 1, 2, 3\n",
              "element 5 of type C3D4 has 3 nodes before this; it needs 4");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D8\n5, 1, 2, 3, 4, 5, 6, 7, 7\n",
              "case.inp:11: element 5 names node 7 twice and has 7 different nodes");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D10\n5, 1, 2, 3, 5, 4, 6, 7, 8, 77, 4\n",
              "case.inp:11: element 5 names node 77, which the file does not have");
}

static void test_cells_make_sets(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX
              "*ELEMENT, TYPE=CPS4, ELSET=end\n11, 9, 10, 12, 11\n*ELEMENT, TYPE=T3D2\n"
              "12, 1, 2\n*ELSET, ELSET=mixed\n2, 11, 12\n*NSET, NSET=of_cells, ELSET=end\n"
              "*NSET, NSET=of_first\n*NSET, NSET=of_all, ELSET=ALL\n"
              "*SURFACE, NAME=shell\nend, SPOS\n*ELEMENT, TYPE=CAX4P, ELSET=cax\n"
              "13, 9, 10, 12, 11\n*ELEMENT, TYPE=S9R5, ELSET=s9\n14, 9, 10, 12, 11, 1, 1, 1, 1, "
              "1\n*ELEMENT, TYPE=B33H, ELSET=b33\n15, 9, 10\n*ELEMENT, TYPE=D, ELSET=flow\n"
              "16, 1, 0, 2\n*ELEMENT, TYPE=CPE6, ELSET=cpe\n17, 9, 10, 12, 1, 1, 1\n",
              &mesh);
    check_set(&mesh, "cax", 4, 42, 0, 1);
    check_set(&mesh, "s9", 4, 42, 0, 1);
    check_set(&mesh, "b33", 2, 19, 0, 0);
    check_set(&mesh, "cpe", 3, 9 + 10 + 12, 0, 0);
    check_set(&mesh, "end", 4, 42, 0, 1);
    check_set(&mesh, "shell", 4, 42, 0, 1);
    check_set(&mesh, "mixed", 9, 2 + 9 + 10 + 3 + 6 + 11 + 12 + 7 + 1, 1, 1);
    check_set(&mesh, "of_cells", 4, 42, 0, 0);
    check_set(&mesh, "of_all", 12, 78, 2, 0);
    check_set(&mesh, "of_first", 0, 0, 0, 0);
    hx_mesh_free(&mesh);
}

static void test_sets(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX
              "*NSET, NSET=odd, GENERATE\n1, 11, 2\n*NSET, NSET=low, GENERATE\n1, 3\n5, 5,\n"
              "*NSET, NSET=Both\nodd, LOW, 12\n*NSET, NSET=low\n4\n"
              "*ELSET, ELSET=e1\n1,\n*ELSET, ELSET=e2, GENERATE\n2, 2, 1\n"
              "*ELSET, ELSET=e12\ne1, e2\n*SURFACE, TYPE=NODE, NAME=dots\nlow, 1.0\n9\n",
              &mesh);
    check_set(&mesh, "odd", 6, 36, 0, 0);
    check_set(&mesh, "low", 5, 15, 0, 0);
    check_set(&mesh, "Both", 8, 1 + 3 + 5 + 7 + 9 + 11 + 2 + 12, 0, 0);
    check_set(&mesh, "e1", 8, 36, 1, 0);
    check_set(&mesh, "e12", 12, 78, 2, 0);
    check_set(&mesh, "dots", 6, 24, 0, 0);
    hx_mesh_free(&mesh);
}

/* Numbers within GENERATE that the file does not have are not members, as in CalculiX 2.20. */
static void test_generate_gaps(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    read_good(
        "*NODE\n10, 0, 0, 0\n20, 1, 0, 0\n30, 1, 1, 0\n40, 0, 1, 0\n"
        "50, 0, 0, 1\n60, 1, 0, 1\n70, 1, 1, 1\n80, 0, 1, 1\n"
        "*ELEMENT, TYPE=C3D8\n7, 10, 20, 30, 40, 50, 60, 70, 80\n*ELEMENT, TYPE=S4\n"
        "4, 10, 20, 30, 40\n*NSET, NSET=many, GENERATE\n1, 200\n"
        "*NSET, NSET=odd, GENERATE\n30, 70, 20\n*NSET, NSET=far, GENERATE\n"
        "20, 4000000000000000, 10\n*NSET, NSET=few, GENERATE\n25, 45, 5\n"
        "*NSET, NSET=last, GENERATE\n80, 3000000000000000080, 3000000000000000000\n"
        "*ELSET, ELSET=1st, GENERATE\n1, 9\n*ELSET, ELSET=2nd\n1ST\n*NSET, NSET=5a\n5A, many\n",
        &mesh);
    check_set(&mesh, "many", 8, 360, 1, 0);
    check_set(&mesh, "odd", 3, 150, 0, 0);
    check_set(&mesh, "far", 7, 350, 0, 0);
    check_set(&mesh, "few", 2, 70, 0, 0);
    check_set(&mesh, "last", 1, 80, 0, 0);
    check_set(&mesh, "1st", 8, 360, 1, 1);
    check_set(&mesh, "2nd", 8, 360, 1, 1);
    check_set(&mesh, "5a", 8, 360, 1, 0);
    hx_mesh_free(&mesh);
    CHECK_OK(read_text(ONE_HEX "*NSET, NSET=none, GENERATE\n9, 12\n", &mesh, &notes));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    CHECK(notes.n == 1 &&
          strstr(notes.note[0].text, "case.inp:13: GENERATE of set 'none': only 0 of 4"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
    check_bad(ONE_HEX "*NSET, NSET=A\n5x\n",
              "'5x' where a number or the name of a set is expected");
}

/* A surface without sides contains the faces of its elements on the boundary of the part. */
static void test_free_surface(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX
              "*SURFACE, NAME=outside\nALL,\n*SURFACE, NAME=half, TYPE=ELEMENT\n2\n"
              "*ELEMENT, TYPE=S4, ELSET=skin\n7, 1, 4, 8, 5\n*SURFACE, NAME=both\nskin\n2,\n",
              &mesh);
    check_set(&mesh, "outside", 12, 78, 0, 10);
    check_set(&mesh, "half", 8, 2 + 9 + 10 + 3 + 6 + 11 + 12 + 7, 0, 5);
    check_set(&mesh, "both", 12, 78, 0, 6);
    hx_mesh_free(&mesh);
}

/* The sides of an Abaqus brick, as its manual draws them: S1 1-2-3-4, S2 5-8-7-6, S3 1-5-6-2,
 * S4 2-6-7-3, S5 3-7-8-4, S6 4-8-5-1. */
static void test_sides(void)
{
    static const int64_t sum[7] = {0, 10, 26, 14, 18, 22, 18};
    static const int first[7] = {0, 1, 5, 1, 2, 3, 1};
    for (int side = 1; side <= 6; side++) {
        hx_mesh mesh;
        char text[2000];
        snprintf(text, sizeof text,
                 "%s*SURFACE, TYPE=ELEMENT, NAME=face\n1, S%d\n*Surface, name=set\nALL, s%d\n",
                 ONE_HEX, side, side);
        read_good(text, &mesh);
        check_set(&mesh, "face", 4, sum[side], 0, 1);
        check_set(&mesh, "set", 4, sum[side], 0, 1);
        const hx_set *const set = find(&mesh, "face");
        CHECK(set->n_node == 4 && set->node[0] + 1 == first[side]);
        CHECK(set->n_face == 1 && set->face[0] == hx_abaqus_face[HX_CELL_HEXAHEDRON][side]);
        CHECK(hx_abaqus_side[HX_CELL_HEXAHEDRON][hx_abaqus_face[HX_CELL_HEXAHEDRON][side]] == side);
        hx_mesh_free(&mesh);
    }
}

/* Sets that name each other twice would have 2^60 members. */
static void test_growing_sets(void)
{
    char *text = malloc(100000);
    size_t n = (size_t)sprintf(text, "%s*NSET, NSET=s0\n1, 2, 3\n", ONE_HEX);
    for (int i = 1; i < 60; i++)
        n += (size_t)sprintf(text + n, "*NSET, NSET=s%d\ns%d, s%d\n", i, i - 1, i - 1);
    hx_mesh mesh;
    read_good(text, &mesh);
    check_set(&mesh, "s59", 3, 6, 0, 0);
    hx_mesh_free(&mesh);
    free(text);
}

static void test_include(void)
{
    hx_mesh mesh;
    write_bytes(in_folder("nodes.inc"), NODES_8, strlen(NODES_8));
    read_good("*INCLUDE, INPUT=nodes.inc\n*ELEMENT, TYPE=C3D8\n1,1,2,3,4,5,6,7,8\n", &mesh);
    CHECK(mesh.n_elem == 1);
    hx_mesh_free(&mesh);
    check_bad("*INCLUDE, INPUT=nowhere.inc\n", "case.inp:1: cannot read '");
    check_bad("*INCLUDE\n", "*INCLUDE needs INPUT=FILE");
    check_bad("*INCLUDE, INPUT=case.inp\n", "files include other files more than 7 levels deep");
    check_bad("*INCLUDE, INPUT=/dev/zero\n", "cannot read '/dev/zero': it is a device");
    write_bytes(in_folder("bad.inc"), "*NODE\n1, x\n", 11);
    check_bad("*INCLUDE, INPUT=bad.inc\n", "bad.inc:2: 'x' where a coordinate is expected");
}

/* Members that the file does not have are left out of sets, supports and loads with a warning, as
 * in CalculiX 2.20; if they are not named by a set, the supports or loads are refused. */
static void test_missing_members(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    CHECK_OK(read_text(ONE_HEX "*NSET, NSET=A\n1, 77, 2, 78\n*ELSET, ELSET=B\n1, 79\n"
                               "*SURFACE, NAME=C\n1, S1\n80, S2\n*SURFACE, NAME=D\nB, S1\n"
                               "*BOUNDARY\nA, 1\n*STEP\n*STATIC\n*CLOAD\nA, 3, 1.\n*DLOAD\n"
                               "B, P1, 2.\n*DSLOAD\nC, P, 2.\nD, P, 1.\n*END STEP\n",
                       &mesh, &notes));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(!stated.fault && !stated.support_fault && !stated.load_fault);
    CHECK(stated.n_support == 2 && stated.n_force == 2 && stated.n_load == 3);
    check_set(&mesh, "A", 2, 3, 0, 0);
    check_set(&mesh, "B", 8, 36, 1, 0);
    check_set(&mesh, "C", 4, 1 + 2 + 3 + 4, 0, 1);
    CHECK(has_note(&notes,
                   "case.inp: set 'A' names nodes that the file does not have, which are left "
                   "out: 2, the first is 77"));
    CHECK(has_note(&notes, "set 'B' names elements that the file does not have"));
    CHECK(has_note(&notes, "set 'C' names elements") && has_note(&notes, "set 'D' names elements"));
    for (size_t i = 0; i < notes.n; i++)
        CHECK(notes.note[i].level == HX_NOTE_WARNING ||
              !strstr(notes.note[i].text, "does not have"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

static void put_file(const char *name, const char *text)
{
    write_bytes(in_folder(name), text, strlen(text));
}

/* Paths are relative to the job's folder, as in CalculiX 2.20, else to the including file's. */
static void test_nested_include(void)
{
    static const char job[] = "*INCLUDE, INPUT=sub/a.inc\n*ELEMENT, TYPE=C3D8\n1,1,2,3,4,5,6,7,8\n";
    hx_mesh mesh;
    hx_notes notes = {0};
    CHECK(mkdir(in_folder("sub"), 0777) == 0);
    put_file("sub/a.inc", "*INCLUDE, INPUT=b.inc\n");
    CHECK_FAILS(read_text(job, &mesh, NULL), HX_EINPUT, "a.inc:1: cannot read '");
    CHECK(strstr(hx_error_message(), "/sub/b.inc' does not exist either") != NULL);
    put_file("sub/b.inc", NODES_8);
    CHECK_OK(read_text(job, &mesh, &notes));
    CHECK(has_note(&notes, "sub/a.inc:1: 'b.inc' is taken from the folder of the including file"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
    put_file("b.inc", NODES_8 "9, 7, 7, 7\n*NSET, NSET=of_job\n1\n");
    CHECK_OK(read_text(job, &mesh, &notes));
    CHECK(hx_mesh_find_set(&mesh, "of_job") && !has_note(&notes, "is taken from"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
    CHECK(remove(in_folder("sub/a.inc")) == 0 && remove(in_folder("sub/b.inc")) == 0);
    CHECK(rmdir(in_folder("sub")) == 0 && remove(in_folder("b.inc")) == 0);
}

/* Letters at the end of an element's name. */
static void test_formulations(void)
{
    static const char *const type[][2] = {{"C3D8RH", "(reduced integration, hybrid) are"},
                                          {"C3D8IH", "(incompatible modes, hybrid) are"},
                                          {"C3D8H", "(hybrid) are analysed as C3D8 with full "
                                                    "integration: other"},
                                          {"C3D8T", "are read as the plain C3D8"}};
    for (size_t i = 0; i < sizeof type / sizeof type[0]; i++) {
        char text[1000];
        hx_mesh mesh;
        hx_notes notes = {0};
        snprintf(text, sizeof text,
                 "%s*ELEMENT, TYPE=%s\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*STEP\n*STATIC\n", NODES_8,
                 type[i][0]);
        CHECK_OK(read_text(text, &mesh, &notes));
        CHECK_MSG(notes.n > 0 && strstr(notes.note[0].text, type[i][1]), "%s", type[i][0]);
        CHECK(notes.note[0].level == (i < 3 ? HX_NOTE_WARNING : HX_NOTE_DETAIL));
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
}

/* The byte-order mark that editors put before UTF-8 is not part of the first keyword. */
static void test_byte_order_mark(void)
{
    hx_mesh mesh;
    read_good("\xef\xbb\xbf" ONE_HEX, &mesh);
    CHECK(mesh.n_node == 8 && mesh.n_elem == 1);
    hx_mesh_free(&mesh);
    write_bytes(in_folder("mark"), "\xef\xbb\xbf" ONE_HEX, strlen("\xef\xbb\xbf" ONE_HEX));
    /* recognized by its first line */
    CHECK_OK(hx_mesh_read(in_folder("mark"), 0.0, &mesh, NULL, NULL));
    CHECK(mesh.n_node == 8 && mesh.n_elem == 1);
    hx_mesh_free(&mesh);
}

/* Cells with a section carry load; cells without one only mark faces. */
static void test_carriers(void)
{
    enum { CARRIES = HX_UNREAD_CARRIES, MASS = HX_UNREAD_MASS };
#define SKIN TWO_HEX "*ELEMENT, TYPE=S4R, ELSET=skin\n11, 5, 6, 7, 8\n12, 6, 11, 12, 7\n"
    check_unread(SKIN, 0, "");
    check_unread(SKIN "*SHELL SECTION, ELSET=SKIN, MATERIAL=M\n0.5\n", CARRIES | MASS,
                 "case.inp:18: 2 S4R (shells)");
    check_unread(SKIN "*MEMBRANE SECTION, ELSET=half, MATERIAL=M\n0.5\n*ELSET, ELSET=half\n12\n",
                 CARRIES | MASS, "case.inp:19: 1 S4R (shells)");
    check_unread(TWO_HEX "*ELEMENT, TYPE=MASS, ELSET=m\n7, 1\n*MASS, ELSET=m\n0.5\n"
                         "*ELEMENT, TYPE=SPRING1, ELSET=s\n8, 2\n*SPRING, ELSET=s\n1\n10.\n",
                 CARRIES | MASS, "1 MASS (point masses), 1 SPRING1 (springs, line");
    check_unread(TWO_HEX "*ELEMENT, TYPE=T3D2, ELSET=bars\n7, 1, 2\n*SOLID SECTION, ELSET=bars, "
                         "MATERIAL=M\n1.\n",
                 CARRIES | MASS, "1 T3D2 (trusses)");
    check_unread("*PART, NAME=P\n" SKIN "*SHELL SECTION, ELSET=skin, MATERIAL=M\n0.5\n*END PART\n"
                 "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=P-1, PART=P\n*END INSTANCE\n*INSTANCE, "
                 "NAME=P-2, PART=P\n5., 0., 0.\n*END INSTANCE\n*END ASSEMBLY\n",
                 CARRIES | MASS, "4 S4R (shells)");
    check_unread(
        "*PART, NAME=P\n" TWO_HEX "*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=P-1, "
        "PART=P\n*END INSTANCE\n*ELEMENT, TYPE=MASS, ELSET=m\n1, P-1.7\n*MASS, ELSET=m\n"
        "0.5\n*ELEMENT, TYPE=SPRING2, ELSET=s\n2, P-1.7, p-1.1\n*SPRING, ELSET=s\n1, 1\n1.\n"
        "*NSET, NSET=at, ELSET=m\n*END ASSEMBLY\n",
        CARRIES | MASS, "1 MASS (point masses), 1 SPRING2 (springs");
    check_unread(SKIN "*SHELL SECTION, ELSET=skin, MATERIAL=M\n0.5\n", CARRIES | MASS, "2 S4R");
    CHECK(hx_unread_ignore(&stated.unread, "s4r") && hx_unread_roles(&stated.unread) == 0);
    CHECK(!hx_unread_ignore(&stated.unread, "S4"));
#undef SKIN
}

/* --- messages --- */

static void test_messages(void)
{
    check_bad(ONE_HEX "*NODE\n3, 0, 0, 9\n", "case.inp:13: a second node with the number 3");
    check_bad(ONE_HEX "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3, 4, 5, 6, 7, 8\n",
              "case.inp:13: a second element with the number 1");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3, 4, 5, 6, 7, 88\n",
              "case.inp:11: element 1 names node 88");
    check_bad("*NODE\n1, 0, zero, 0\n", "case.inp:2: 'zero' where a coordinate is expected");
    check_bad("*NODE\n1, 0, nan, 0\n", "'nan' where a coordinate is expected");
    check_bad("*NODE\n1, 0, 1e999, 0\n", "'1e999' where a coordinate is expected");
    check_bad("*NODE\none, 0, 0, 0\n", "case.inp:2: 'one' where the number of a node is expected");
    check_bad("*NODE\n99999999999999999999, 0, 0, 0\n", "where the number of a node is expected");
    check_bad("*NODE, SYSTEM=C\n1, 0, 0, 0\n", "only Cartesian coordinates");
    check_bad(NODES_8 "*ELEMENT\n1, 1\n", "*ELEMENT needs TYPE");
    check_bad(ONE_HEX "*ELEMENT, TYPE=C3D8, INPUT=x\n", "*ELEMENT with INPUT: use *INCLUDE");
    check_bad(ONE_HEX "*NSET, NSET=a, INPUT=x\n", "*NSET with INPUT: use *INCLUDE");
    check_bad("*NODE, INPUT=x\n", "*NODE with INPUT: use *INCLUDE");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3\n*NSET, NSET=A\n1\n",
              "case.inp:12: element 1 of type C3D8 has 3 nodes before this; it needs 8");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3\n", "has 3 nodes before this; it needs 8");
    check_bad(NODES_8 "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9\n",
              "case.inp:11: element 1 of type C3D8 has more than 8 nodes");
    check_bad(ONE_HEX "*NSET\n1\n", "*NSET needs NSET=NAME");
    check_bad(ONE_HEX "*NSET, NSET=A\nB\n", "case.inp:13: no set 'B' above this line");
    check_bad(ONE_HEX "*NSET, NSET=A, GENERATE\n5, 1, 1\n", "GENERATE needs first, last and step");
    check_bad(ONE_HEX "*NSET, NSET=A, GENERATE\n1, 5, 0\n", "GENERATE needs first, last and step");
    check_bad(ONE_HEX "*SURFACE, NAME=A\n1, S7\n", "'S7' where a side of elements is expected");
    check_bad(ONE_HEX "*SURFACE, NAME=A\nNONE\n", "no set 'NONE' above this line");
    check_bad(ONE_HEX "*NSET, NSET=N\n1\n*SURFACE, NAME=A\nN\n", "set 'N' has no elements for a");
    check_bad(ONE_HEX "*STEP\n*STEP\n", "*STEP within a step");
    check_bad(ONE_HEX "*NGEN\n1, 5\n", "case.inp:12: *NGEN generates nodes or elements");
    check_bad("*INCLUDE, INPUT=x.inp,\n*NODE\n", "without a comma at the end");

    hx_mesh mesh;
    write_bytes(in_folder("zero.inp"), "*NODE\n1, 0\0, 2\n", 15);
    CHECK_FAILS(hx_abaqus_read(in_folder("zero.inp"), &mesh, NULL, NULL), HX_EINPUT, "a zero byte");
    CHECK_FAILS(hx_abaqus_read(in_folder("nowhere.inp"), &mesh, NULL, NULL), HX_EINPUT,
                "cannot read");
    CHECK_FAILS(hx_abaqus_read(folder, &mesh, NULL, NULL), HX_EINPUT, "it is a folder, not a file");
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_mesh_styles();
    test_types();
    test_cells_make_sets();
    test_sets();
    test_generate_gaps();
    test_free_surface();
    test_sides();
    test_growing_sets();
    test_missing_members();
    test_include();
    test_nested_include();
    test_formulations();
    test_byte_order_mark();
    test_carriers();
    test_messages();
    remove_folder();
    TEST_END();
}
