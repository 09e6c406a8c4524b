/* ANSYS archives, made by hand from the documented format: each block, each message. */
#include "core/files/ansys_read.h"
#include "tests/lib/vtk_sample.h"

#define HEAD_CDB "/COM,ANSYS RELEASE 19.2\n/PREP7\nET,       1,185\n"
/* Widths 9 and 21 with 13 decimals; zeros at the end are left out as CDWRITE does. */
#define NODES                                                                                      \
    "NBLOCK,6,SOLID,        13,        12\n(3i9,6e21.13e3)\n"                                      \
    "        1        0        0\n"                                                                \
    "        2        0        0 1.0000000000000E+000\n"                                           \
    "        3        0        0 1.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        4        0        0 0.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        5        0        0 0.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        6        0        0 1.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        7        0        0 1.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "        8        0        0 0.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "       10        0        0 2.0000000000000E+000\n"                                           \
    "       11        0        0 2.0000000000000E+000 1.0000000000000E+000\n"                      \
    "       12        0        0 2.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "       13        0        0 2.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "N,R5.3,LOC,       -1,\n"
#define ELEMENT_HEAD                                                                               \
    "        1        1        1        1        0        0        0        0        8        0"
#define ELEMENTS                                                                                   \
    "EBLOCK,19,SOLID,        21,        2\n(19i9)\n" ELEMENT_HEAD                                  \
    "       20        1        2        3        4        5        6        7        "             \
    "8\n" ELEMENT_HEAD "       21        2       10       11        3        6       12       13 " \
    "       7\n       -1\n"
#define PART HEAD_CDB NODES ELEMENTS

static hx_conditions stated; /* beside the mesh that was read last */

static int read_text(const char *text, hx_mesh *mesh, hx_notes *notes)
{
    const char *path = in_folder("case.cdb");
    write_bytes(path, text, strlen(text));
    hx_conditions_free(&stated);
    return hx_ansys_read(path, mesh, &stated, notes);
}

static void check_bad(const char *text, const char *message)
{
    hx_mesh mesh;
    CHECK_FAILS(read_text(text, &mesh, NULL), HX_EINPUT, message);
    hx_mesh_free(&mesh);
}

static void check_set(const hx_mesh *mesh, const char *name, int n_node, int64_t sum, int n_elem)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    int64_t total = 0;
    CHECK_MSG(set != NULL, "no set %s", name);
    for (int64_t i = 0; set && i < set->n_node; i++)
        total += hx_mesh_node_number(mesh, set->node[i]);
    CHECK_MSG(set && set->n_node == n_node && total == sum && set->n_elem == n_elem,
              "%s: %lld nodes of sum %lld, %lld elements", name, (long long)(set ? set->n_node : 0),
              (long long)total, (long long)(set ? set->n_elem : 0));
}

static void read_good(const char *text, hx_mesh *mesh)
{
    CHECK_OK(read_text(text, mesh, NULL));
    CHECK_OK(hx_mesh_finish(mesh));
}

static void test_mesh(void)
{
    hx_mesh mesh;
    read_good(PART "CMBLOCK,WALL    ,NODE,       4  ! users node component definition\n(8i10)\n"
                   "         1         4         5         8\n"
                   "CMBLOCK,RANGE,NODE,       4\n(8i10)\n         1        -8        10       -13\n"
                   "CMBLOCK,SECOND,ELEM,       1\n(8i10)\n        21\n"
                   "CMBLOCK,BOTH,ELEMENT,       2\n(1i10)\n        20\n       -21\nFINISH\n",
              &mesh);
    CHECK(mesh.n_node == 12 && mesh.n_elem == 2);
    CHECK_REL(mesh.total_volume, 2.0, 1e-12);
    CHECK(hx_mesh_elem_number(&mesh, 1) == 21 && hx_mesh_node_number(&mesh, 11) == 13);
    check_set(&mesh, "WALL", 4, 18, 0);
    check_set(&mesh, "RANGE", 12, 36 + 46, 2);
    check_set(&mesh, "SECOND", 8, 2 + 10 + 11 + 3 + 6 + 12 + 13 + 7, 1);
    check_set(&mesh, "BOTH", 12, 82, 2);
    CHECK(stated.n_support == 0 && stated.n_force == 0 && !stated.fault);
    hx_mesh_free(&mesh);
}

/* Other widths, one integer a node, the type by ETBLOCK, a block ended by -1. */
static void test_styles(void)
{
    hx_mesh mesh;
    read_good(
        "/prep7\netblock, 1, 1\n(2i9,19a9)\n        7      185\n       -1\n"
        "nblock,3\n(1i8,3e16.9e3)\n"
        "       1 0.00000000E+000 0.00000000E+000 0.00000000E+000\n"
        "       2 2.50000000E-001 0.00000000E+000 0.00000000E+000\n"
        "       3 2.50000000E-001 1.00000000E+000\n       4-0.00000000E+000 1.00000000E+000\n"
        "       5 0.00000000E+000 0.00000000E+000 1.00000000E+000\n"
        "       6 2.50000000E-001 0.00000000E+000 1.00000000E+000\n"
        "       7 2.50000000E-001 1.00000000E+000 1.00000000E+000\n"
        "       8 0.00000000E+000 1.00000000E+000 1.00000000E+000\n      -1\n"
        "eblock,19,solid\n(19i8)\n"
        "       1       7       1       1       0       0       0       0       8       0"
        "       3       1       2       3       4       5       6       7       8\n      -1\n",
        &mesh);
    CHECK_REL(mesh.total_volume, 0.25, 1e-12);
    hx_mesh_free(&mesh);
}

static void test_conditions(void)
{
    hx_mesh mesh;
    read_good(PART "D,      1,UX  ,  0.00000000    ,  0.00000000\nD,      1,UY,-0.25\nD,4,ALL,0\n"
                   "D,4,ROTX,0\nF,     10,FY  , -500.000000    ,  0.00000000\nF,10,FZ,1.5\n/GO\n",
              &mesh);
    CHECK(stated.n_case == 1 && !stated.fault);
    CHECK(stated.n_support == 5 && stated.n_force == 2);
    CHECK(stated.n_support == 5 && stated.support[1].value == -0.25);
    CHECK(stated.n_force == 2 && stated.force[0].component == 1 &&
          stated.force[0].value == -500.0 && stated.force[0].load_case == 1);
    hx_mesh_free(&mesh);

    static const char *const fault[][2] = {{"SFE,21,1,PRES,0,5.\n", "SFE is not read"},
                                           {"CE,R5.0,DEFI,2,1,0.\n", "CE is not read"},
                                           {"D,WALL,UX,0\n", "is not read: of D only"},
                                           {"D,1,UX,0,,8,1\n", "is not read: a line a node"},
                                           {"D,1,UX,0,,,,UY,UZ\n", "is not read: a line a node"},
                                           {"F,1,FZ,5,,4\n", "is not read: a line a node"},
                                           {"DOMEGA,0,0,5\n", "DOMEGA is not read"},
                                           {"F,1,MX,5\n", "is not read: of F only"}};
    char text[8000];
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, fault[i][0]);
        read_good(text, &mesh);
        CHECK_MSG(stated.fault && strstr(stated.fault, fault[i][1]), "%s",
                  stated.fault ? stated.fault : "no fault");
        hx_mesh_free(&mesh);
    }
}

static void test_elements(void)
{
    static const char prism[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        3        5        6        7        7\n"
        "       -1\n";
    static const char tetra[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        3        5        5        5        5\n"
        "       -1\n";
    static const char flat[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        4        5        6        7        7\n"
        "       -1\n";
    static const char contact[] = HEAD_CDB
        "ET,2,174\n" NODES "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        4        5        6        7        8\n"
        "        1        2        1        1        0        0        0        0        4        0"
        "       30        1        2        3        4\n       -1\n"
        "EBLOCK,10,,,1\n(15i9)\n       31        2        1        1        0        1        2\n"
        "       -1\n";
    hx_mesh mesh;
    read_good(prism, &mesh);
    CHECK_REL(mesh.total_volume, 0.5, 1e-12);
    hx_mesh_free(&mesh);
    read_good(tetra, &mesh);
    CHECK_REL(mesh.total_volume, 1.0 / 6.0, 1e-12);
    hx_mesh_free(&mesh);
    check_bad(flat, "case.cdb:21: element 20 names node 7 twice and has 7 different nodes");
    check_bad("ET,1,SOLID187\n" NODES ELEMENTS, "element 20 is a ET-187 (ANSYS) of 8 nodes");
    check_bad("ET,1,186\n" NODES ELEMENTS, "SOLID185, SOLID186, SOLID187, SOLID285 and their like");
    check_bad("ET,1,999\n" NODES ELEMENTS, "ET-999");
    read_good(contact, &mesh);
    CHECK(mesh.n_elem == 1 && mesh.n_node == 8);
    hx_mesh_free(&mesh);
}

static void test_messages(void)
{
    check_bad(HEAD_CDB NODES, "no solid element among 12 nodes");
    check_bad("NBLOCK,6,SOLID\nhello\n", "case.cdb:2: 'hello' where the format of NBLOCK");
    check_bad("NBLOCK,6,SOLID\n(3i9,2e21.13e3)\n", "no three coordinates");
    check_bad("NBLOCK,6,SOLID\n(99999999i9)\n", "where the format of NBLOCK is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0 1.0000x000000E+000\n",
              "case.cdb:3: '1.0000x000000E+000' where a number is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n      1x1        0        0\n",
              "case.cdb:3: '1x1' where an integer is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0\n",
              "the file ends within NBLOCK");
    check_bad("EBLOCK,19,SOLID\n(5i9)\n", "EBLOCK with 5 fields; 19 are read");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1\n", "'A' has fewer than 2 numbers");
    check_bad(PART "CMBLOCK,A,NODE,1\n(8i10)\n        99\n", "set 'A' names node 99");
    check_bad(PART "CMBLOCK,A,NODE,1\n(8i10)\n        -5\n", "-5 ends no range of numbers");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1-999999999\n", "ends no range");
    check_bad(PART "CMBLOCK,A,LINE,2\n(8i10)\n", "CMBLOCK needs a name and NODE or ELEM");
    check_bad(PART "D,1,UX,a\n", "'a' where a number is expected");
    hx_mesh mesh;
    CHECK_FAILS(hx_ansys_read(in_folder("none.cdb"), &mesh, NULL, NULL), HX_EINPUT, "cannot read");
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_mesh();
    test_styles();
    test_conditions();
    test_elements();
    test_messages();
    remove_folder();
    TEST_END();
}
