/* ANSYS archives, made by hand from the documented format: each block, each message.
 * test_ansys_conditions.c tests supports and forces. */
#include "tests/lib/ansys_case.h"

static void test_mesh(void)
{
    hx_mesh mesh;
    read_good(PART "CMBLOCK,WALL    ,NODE,       4  ! users node component definition\n(8i10)\n"
                   "         1         4         5         8\n"
                   "CMBLOCK,RANGE,NODE,       4\n(8i10)\n         1        -8        10       -13\n"
                   "CMBLOCK,SIDE,AREA,       9\n(8i10)\n         1         2\n        99\n"
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

/* Other widths, one integer per node, the type by ETBLOCK, a block ended by -1. */
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
    check_bad("ET,1,SOLID285\n" NODES ELEMENTS,
              "element 20, of type SOLID285, has 8 nodes; it needs 4, or");
    check_bad("ET,1,190\n" NODES ELEMENTS,
              "SOLID185, SOLID186, SOLID187, SOLID285 and similar elements");
    check_bad("ET,1,999\n" NODES ELEMENTS, "ET-999 (ANSYS) of 8 nodes");
    read_good(contact, &mesh);
    CHECK(mesh.n_elem == 1 && mesh.n_node == 8);
    CHECK(stated.unread.n == 1 && roles_of("CONTA174") == HX_UNREAD_CARRIES);
    CHECK(stated.unread.n == 1 && stated.unread.kind[0].n == 2 && stated.unread.kind[0].line == 23);
    hx_mesh_free(&mesh);
}

/* Elements that are not solids are listed by their roles, but not elements that only mark faces. */
static void test_other_elements(void)
{
    enum { C = HX_UNREAD_CARRIES, L = HX_UNREAD_LOAD, M = HX_UNREAD_MASS };
    static const struct {
        const char *type, *word;
        int roles;
    } row[] = {
        {"181", "SHELL181", C | M}, {"PLANE182", "PLANE182", C | M}, {"188", "BEAM188", C | M},
        {"21", "MASS21", M},        {"14", "COMBIN14", C | M},       {"170", "TARGE170", C},
        {"50", "MATRIX50", C},      {"154", "SURF154", L},           {"200", "MESH200", -1},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(
            text, sizeof text,
            "%sET,2,%s\nEBLOCK,10,,,1\n(15i9)\n"
            "       90        2        1        1        0        1        2        3        4\n"
            "       -1\n",
            PART, row[i].type);
        read_good(text, &mesh);
        CHECK_MSG(mesh.n_elem == 2 && roles_of(row[i].word) == row[i].roles, "%s: roles %d",
                  row[i].word, roles_of(row[i].word));
        hx_mesh_free(&mesh);
    }
    /* A foundation stiffness is a real constant. */
    read_good(PART "ET,2,154\nRLBLOCK,       1,       2,       6,       7\n(2i8,6g16.9)\n(7g16.9)\n"
                   "       2       6  0.00000000      0.00000000      0.00000000       100.0\n"
                   "TYPE,2\nREAL,1\nEN,90,1,2,3,4\nREAL,2\nEN,91,1,2,3,4\n",
              &mesh);
    CHECK(roles_of("SURF154") == (L | C));
    hx_mesh_free(&mesh);
}

/* Two materials: a set of the elements of the second. */
static void test_two_materials(void)
{
    hx_mesh mesh;
    read_good(PART "MP,EX,1,2\nMP,EX,2,5\nMP,NUXY,2,0.1\nMAT,2\nE,2,10,11,3,6,12,13,7\n", &mesh);
    const hx_file_material *const two = &stated.material;
    CHECK(!two->fault && two->young == 2.0 && two->n_other == 1);
    CHECK(two->n_other == 1 && strcmp(two->other[0].name, "2") == 0 &&
          two->other[0].of.young == 5.0 && two->other[0].of.poisson == 0.1);
    const hx_set *const second = hx_mesh_find_set(&mesh, "material-2");
    CHECK(second && second->n_elem == 1 && two->n_other == 1 &&
          strcmp(two->other[0].set, "material-2") == 0);
    CHECK(!hx_mesh_find_set(&mesh, "material-1"));
    hx_mesh_free(&mesh);
}

static void test_materials(void)
{
    static const struct {
        const char *text, *fault;
        double young, poisson, density;
    } row[] = {
        {"MP,EX,1,2.1e5\nMP,NUXY,1,0.3\nMP,DENS,1,7.8e-9\n", NULL, 2.1e5, 0.3, 7.8e-9},
        {"MPTEMP,R5.0, 1, 1,  0.00000000    ,\n"
         "MPDATA,R5.0, 1,EX  ,       1, 1, 7.000000000E+10,\n"
         "MPDATA,R5.0, 1,NUXY,       1, 1, 0.350000000    ,\n",
         NULL, 7e10, 0.35, NAN},
        {"MPDATA,UNBL, 1,EX  ,       1, 1, 5.0,\nMPDATA,UNBL, 1,NUXY, 1, 1, 0.,\n", NULL, 5.0, 0.0,
         NAN},
        {"MP,EX,1,1\nMP,EX,1,2\nMP,PRXY,1,.25\nMP,EY,1,2\nMP,GXY,1,0.8\n", NULL, 2.0, 0.25, NAN},
        /* no element has material 2 */
        {"MP,EX,1,2\nMP,NUXY,1,0\nMP,EX,2,5\n", NULL, 2.0, 0.0, NAN},
        {"MP,EX,1,2\nMP,EY,1,3\n", "material 1 is not isotropic", 0, 0, 0},
        {"MP,EX,1,2\nMP,NUXY,1,0\nMP,GXY,1,9\n", "is not isotropic", 0, 0, 0},
        {"MP,EX,1,2,0.1\n", "material 1 depends on temperature", 0, 0, 0},
        {"MPDATA,EX,1,1,2,3\n", "depends on temperature", 0, 0, 0},
        {"MP,EX,1,YOUNG\n", "values that only ANSYS computes", 0, 0, 0},
        {"MP,EX,1,2\nMAT,7\nE,2,10,11,3,6,12,13,7\n", "material 7, which is not defined", 0, 0, 0},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, row[i].text);
        CHECK_OK(read_text(text, &mesh, NULL));
        const hx_file_material *const m = &stated.material;
        CHECK_MSG(m->name && strcmp(m->name, "1") == 0, "%s", row[i].text);
        if (row[i].fault)
            CHECK_MSG(m->fault && strstr(m->fault, row[i].fault), "%s: %s", row[i].text,
                      m->fault ? m->fault : "no fault");
        else
            CHECK_MSG(!m->fault && m->young == row[i].young && m->poisson == row[i].poisson &&
                          (m->density == row[i].density || isnan(row[i].density)),
                      "%s: %s", row[i].text, m->fault ? m->fault : "other numbers");
        hx_mesh_free(&mesh);
    }
    read_good(PART "TB,BISO,1\nTB,FCLI,1\n", &mesh);
    CHECK(!stated.material.name && roles_of("TB,BISO") == HX_UNREAD_MATERIAL &&
          stated.unread.n == 1);
    hx_mesh_free(&mesh);
}

/* Elements that ANSYS integrates differently: a note, or a warning if the file has loads. Units. */
static void test_notes(void)
{
    static const struct {
        const char *text, *said;
        hx_note_level level;
    } row[] = {
        {PART, "SOLID185 (B-bar in ANSYS) are analysed with full integration", HX_NOTE_INFO},
        {PART "D,1,UX,0\n", "SOLID185 (B-bar in ANSYS)", HX_NOTE_WARNING},
        {"ET,1,185\nKEYOP,1,2,3\n" NODES ELEMENTS, "simplified enhanced strains", HX_NOTE_INFO},
        {"ET,1,186\n" NODES ELEMENTS, "SOLID186 (reduced integration in ANSYS)", HX_NOTE_INFO},
        {"ET,1,186\nkeyo,1,2,1\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,70\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,65\n" NODES ELEMENTS, "SOLID65 (extra displacement shapes", HX_NOTE_INFO},
        {"ET,1,65,1\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,5\n" NODES ELEMENTS, "SOLID5 (extra displacement shapes", HX_NOTE_INFO},
        {"/units,MKS\n" PART, "states its units, 'MKS'", HX_NOTE_INFO},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        hx_notes notes = {0};
        hx_mesh mesh;
        int is_said = 0;
        CHECK_OK(read_text(row[i].text, &mesh, &notes));
        for (size_t k = 0; k < notes.n; k++)
            if (row[i].said ? strstr(notes.note[k].text, row[i].said) != NULL &&
                                  notes.note[k].level == row[i].level
                            : strstr(notes.note[k].text, "integration") != NULL)
                is_said = 1;
        CHECK_MSG(is_said == (row[i].said != NULL), "row %zu", i);
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
}

/* The second of two bricks in every form. */
static void test_forms(void)
{
#define FIRST                                                                                      \
    "EBLOCK,19,SOLID,        20,        1\n(19i9)\n" ELEMENT_HEAD                                  \
    "       20        1        2        3        4        5        6        7        8\n"
#define SECOND "        2       10       11        3        6       12       13        7\n"
    static const char *const form[] = {
        "EBLOCK,10,,,1\n(15i9)\n       21        1        1        1        0" SECOND "-1\n",
        "EBLOCK,8,,,1\n(13i9)\n       21        1        1        1        0" SECOND "/GO\n",
        "EBLOCK,9,COMPACT,,1\n(9i9)\n       21" SECOND "       -1\n",
        "EN,21,2,10,11,3,6,12,13,7\n",
        "E,2,10,11,3,6,12,13,7\n",
        "EN,R5.5,ATTR,8,1,1,1,1,0,21,0,0,0\nEN,R5.5,NODE,2,10,11,3,6,12,13,7\nEN,R5.5,ATTR,-1,\n",
        "EN,UNBL,ATTR,8,1,1,1,1,0,21,0,0,0\nEN,UNBL,NODE,2,10,11,3,6,12,13,7\nEN,UNBL,ATTR,-1,\n",
        "*SET,N2,2\nTY=1\ntype,TY\nen,21,N2,10,11,3,6,12,13,7\n",
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        snprintf(text, sizeof text,
                 "%s       -1\n%sCMBLOCK,A,ELEM,1\n(8i10)\n        21\nD,1,UX,0\n",
                 HEAD_CDB NODES FIRST, form[i]);
        read_good(text, &mesh);
        CHECK_MSG(mesh.n_elem == 2 && hx_mesh_elem_number(&mesh, mesh.n_elem - 1) == 21, "form %zu",
                  i);
        CHECK_REL(mesh.total_volume, 2.0, 1e-12);
        CHECK(stated.n_support == 1 && stated.unread.n == 0);
        hx_mesh_free(&mesh);
    }
    check_bad(PART "EBLOCK,19,OTHER\n(19i9)\n", "EBLOCK of the form 'OTHER'");
    check_bad(PART "EBLOCK,8,,,1\n(13i9)\n       21        7        1        1        0" SECOND
                   "-1\n",
              "case.cdb:26: a second element with the number 21");
    check_bad("EBLOCK,8,,,1\n(13i9)\n       21        7        1        1        0" SECOND,
              "case.cdb:3: an element of type 1, without an ET");
}

/* For every kind of element, CDWRITE omits mid-side nodes that are 0 at the end of a record. */
static void test_short_records(void)
{
    static const struct {
        const char *type, *nodes;
        double volume;
    } row[] = {
        {"187", "        4        0       20        1        2        3        5", 1.0 / 6.0},
        {"92",
         "        8        0       20        1        2        3        5        0        0"
         "        0        0",
         1.0 / 6.0},
        {"186",
         "        8        0       20        1        2        3        4        5        6"
         "        7        8",
         1.0},
        {"95",
         "       12        0       20        1        2        3        4        5        6"
         "        7        8\n        0        0        0        0",
         1.0},
        {"90",
         "        8        0       20        1        2        3        3        5        6"
         "        7        7",
         0.5},
        {"87", "        4        0       20        1        2        3        5", 1.0 / 6.0},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text,
                 "ET,1,%s\n%sEBLOCK,19,SOLID,1,1\n(19i9)\n        1        1        1        1"
                 "        0        0        0        0%s\n       -1\n",
                 row[i].type, NODES, row[i].nodes);
        read_good(text, &mesh);
        CHECK(mesh.n_elem == 1);
        CHECK_REL(mesh.total_volume, row[i].volume, 1e-12);
        hx_mesh_free(&mesh);
    }
}

/* Nodes by N, by N of the unblocked form, and in blocks of several widths. */
static void test_nodes(void)
{
    static const char *const nodes[] = {
        "nblock,6,solid\n(1i7,2i9,6e21.13)\n"
        "      1        0        0  0.0000000000000E+00  0.0000000000000E+00  0.0000000000000E+00\n"
        "      2        0        0  2.0000000000000D+00\n"
        "      3        0        0  2.0000000000000E+00  1.0000000000000-000\n"
        "      4        0        0  0.0000000000000E+00  1.0000000000000E+00\n"
        "      5        0        0  0.0000000000000E+00  0.0000000000000E+00  1.0000000000000E+00\n"
        "      6        0        0  2.0000000000000E+00  0.0000000000000E+00  1.0000000000000E+00\n"
        "      7        0        0  2.0000000000000E+00  1.0000000000000E+00  1.0000000000000E+00\n"
        "      8        0        0  0.0000000000000E+00  1.0000000000000E+00  1.0000000000000E+00\n"
        "N,R5.3,LOC,       -1,\n",
        "N,1\nN,2,2.\nN,3,2.,1.\nN,4,,1.\nN,5,,,1.\nN,6,2.,,1.\nN,7,2.,1.,1.\nN,8,,1.,1.\n",
        "N,R5.3,LOC,1,0,0,0.\nN,R5.3,LOC,2,0,0,2.,0.,0.\nN,R5.3,LOC,3,0,0,2.,1.,0.\n"
        "N,R5.3,LOC,4,0,0,0.,1.,0.\nN,R5.3,LOC,5,0,0,0.,0.,1.\nN,R5.3,LOC,6,0,0,2.,0.,1.\n"
        "N,R5.3,LOC,7,0,0,2.,1.,1.\nN,R5.3,LOC,8,0,0,0.,1.,1.\nN,UNBL,LOC,  -1,\n",
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        snprintf(text, sizeof text, "/PREP7\nET,1,185\n%sE,1,2,3,4,5,6,7,8\n", nodes[i]);
        read_good(text, &mesh);
        CHECK_REL(mesh.total_volume, 2.0, 1e-12);
        hx_mesh_free(&mesh);
    }
    read_good("ET,1,187\n" NODES "E,1,2,3,5,0,0,0,0\nEMORE,0,4\n", &mesh);
    CHECK_REL(mesh.total_volume, 1.0 / 6.0, 1e-12);
    CHECK(mesh.n_elem == 1);
    hx_mesh_free(&mesh);
    check_bad("EMORE,1\n", "EMORE without an E or EN");
    check_bad("ET,1,185\nCSYS,1\nN,1,2.,30.\n", "case.cdb:3: N without a number, in a coordinate");
    check_bad(PART "NUMOFF,NODE,5\n", "case.cdb:24: NUMOFF or /CLEAR after nodes");
    check_bad("ET,1,185\nBLOCK,0,1,0,1,0,1\nVMESH,ALL\n", "case.cdb:3: VMESH creates or changes");
    check_bad(PART "/CLEAR\n", "NUMOFF or /CLEAR after nodes");
    check_bad("N,1,A/2\n", "'A/2' where a number is expected; only ANSYS evaluates");
    check_bad(PART "EMODIF,1,TYPE,2\n", "EMODIF creates or changes");
}

static void test_messages(void)
{
    check_bad(HEAD_CDB NODES, "no solid element among 12 nodes");
    check_bad("NBLOCK,6,SOLID\nhello\n", "case.cdb:2: 'hello' where the format of NBLOCK");
    check_bad("NBLOCK,6,SOLID\n(3i9,2e21.13e3)\n", "lacks three coordinates");
    check_bad("NBLOCK,6,SOLID\n(99999999i9)\n", "where the format of NBLOCK is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0 1.0000x000000E+000\n",
              "case.cdb:3: '1.0000x000000E+000' where a number is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n      1x1        0        0\n",
              "case.cdb:3: '1x1' where an integer is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0\n",
              "the file ends within NBLOCK");
    check_bad("EBLOCK,19,SOLID\n(5i9)\n", "EBLOCK with 5 fields; it must have 19");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1\n", "'A' has fewer than 2 numbers");
    check_bad(PART "CMBLOCK,A,NODE,1 $ F,10,FX,1\n(8i10)\n         1\n",
              "write each on a line of its own");
    check_warned(
        PART "CMBLOCK,A,NODE,1\n(8i10)\n        99\n",
        "set 'A' names nodes that the file does not have, which are left out: 1, the first is 99");
    check_bad(PART "CMBLOCK,A,NODE,1\n(8i10)\n        -5\n", "-5 does not end a range of numbers");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1-999999999\n", "does not end a range");
    check_bad(PART "CMBLOCK,A,FACE,2\n(8i10)\n", "CMBLOCK needs a name and NODE or ELEM");
    check_bad(PART "EN,R5.5,ATTR,99,1,1,1,1,0,21\n", "an element of 99 nodes");
    check_bad(PART "EMODIF,20,3,5\n", "EMODIF creates or changes the mesh within ANSYS");
    check_bad(PART "DBLOCK,1\n        1  UX    0.0\n", "where the format of DBLOCK is expected");
    check_bad(PART "DBLOCK,1\n-(i9,a6,2(pg16.9))\n        1\n", "node, label and value of DBLOCK");
    check_bad(PART "ET,a,185\n", "'a' where an integer is expected");
    hx_mesh mesh;
    CHECK_FAILS(hx_ansys_read(in_folder("none.cdb"), &mesh, NULL, NULL), HX_EINPUT, "cannot read");
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_mesh();
    test_styles();
    test_elements();
    test_other_elements();
    test_materials();
    test_two_materials();
    test_notes();
    test_forms();
    test_short_records();
    test_nodes();
    test_messages();
    remove_folder();
    TEST_END();
}
