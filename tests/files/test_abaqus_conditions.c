/* Abaqus input files: supports and forces of the steps, and what is not read. test_abaqus.c tests
 * the mesh, its sets and the messages. */
#include "core/files/mesh_files.h"
#include "tests/lib/abaqus_case.h"

/* --- supports and forces --- */

static double value_of(const hx_mesh *mesh, const hx_file_value *list, int64_t n, int load_case,
                       int64_t number, int component)
{
    double value = NAN;
    int32_t *node = NULL;
    CHECK_OK(hx_conditions_nodes(mesh, n, list, &node));
    for (int64_t i = 0; isnan(value) && i < n; i++)
        if (list[i].load_case == load_case && list[i].component == component &&
            hx_mesh_node_number(mesh, node[i]) == number)
            value = list[i].value;
    free(node);
    return value;
}

static double force_of(const hx_mesh *mesh, int load_case, int64_t number, int component)
{
    return value_of(mesh, stated.force, stated.n_force, load_case, number, component);
}

static double support_of(const hx_mesh *mesh, int64_t number, int component)
{
    return value_of(mesh, stated.support, stated.n_support, 0, number, component);
}

/* Sums, replacements and OP=NEW as CalculiX 2.20 does them (its reactions: 8, 11, 1100). */
static const char steps[] =
    TWO_HEX "*NSET, NSET=wall\n1, 4\n*BOUNDARY\nwall, 1, 2\n5, PINNED\n8, XSYMM\n9, 4, 6\n"
            "*STEP\n*STATIC\n*BOUNDARY\n12, 3, 3, -0.25\n1, 1\n*CLOAD\n2, 1, 1.\n2, 1, 2.\n"
            "3, 1, 1.\n*CLOAD\n2, 1, 4.\n*END STEP\n"
            "*STEP\n*STATIC\n*CLOAD\n2, 1, 10.\n*END STEP\n"
            "*STEP\n*STATIC\n*CLOAD, OP=NEW\n2, 1, 100.\n*CLOAD, OP=NEW\n3, 1, 1000.\n*END STEP\n"
            "*STEP, PERTURBATION\n*STATIC\n*CLOAD\nwall, 3, 1.5D1\n*END STEP\n";

static void check_steps(const hx_mesh *mesh)
{
    CHECK(stated.n_case == 4 && !stated.fault);
    CHECK(stated.n_support == 2 * 2 + 3 + 1 + 1);
    CHECK(support_of(mesh, 1, 0) == 0.0 && support_of(mesh, 4, 1) == 0.0);
    CHECK(isnan(support_of(mesh, 4, 2)) && support_of(mesh, 5, 2) == 0.0);
    CHECK(support_of(mesh, 8, 0) == 0.0 && isnan(support_of(mesh, 8, 1)));
    CHECK(support_of(mesh, 12, 2) == -0.25 && isnan(support_of(mesh, 12, 0)));
    CHECK(stated.n_force == 2 + 2 + 2 + 2);
    CHECK(force_of(mesh, 1, 2, 0) == 7.0 && force_of(mesh, 1, 3, 0) == 1.0);
    CHECK(force_of(mesh, 2, 2, 0) == 10.0 && force_of(mesh, 2, 3, 0) == 1.0);
    CHECK(force_of(mesh, 3, 2, 0) == 100.0 && force_of(mesh, 3, 3, 0) == 1000.0);
    CHECK(force_of(mesh, 4, 1, 2) == 15.0 && force_of(mesh, 4, 4, 2) == 15.0);
}

static void test_steps(void)
{
    hx_mesh mesh;
    for (int order = 0; order < 3; order++) {
        CHECK_OK(read_text(steps, &mesh, NULL));
        if (order > 0) CHECK_OK(hx_mesh_shuffle(&mesh, 5));
        if (order > 1) CHECK_OK(hx_mesh_reorder(&mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        check_steps(&mesh);
        hx_mesh_free(&mesh);
    }
}

/* A force on a merged node, and a support after it, keep their positions. */
static void test_merged_conditions(void)
{
    static const char split[] = NODES_8 "9, 1, 0, 0\n10, 1, 1, 0\n11, 1, 0, 1\n12, 1, 1, 1\n"
                                        "13, 2, 0, 0\n14, 2, 1, 0\n15, 2, 0, 1\n16, 2, 1, 1\n"
                                        "*ELEMENT, TYPE=C3D8\n1, 1, 2, 3, 4, 5, 6, 7, 8\n"
                                        "2, 9, 13, 14, 10, 11, 15, 16, 12\n*BOUNDARY\n16, 2, 2\n"
                                        "*STEP\n*STATIC\n*CLOAD\n12, 1, 5.\n2, 3, 7.\n*END STEP\n";
    const char *const path = in_folder("split.inp");
    hx_mesh mesh;
    write_bytes(path, split, strlen(split));
    for (int order = 0; order < 3; order++) {
        hx_conditions_free(&stated);
        CHECK_OK(hx_mesh_read(path, 1e-6, &mesh, &stated, NULL));
        if (order > 0) CHECK_OK(hx_mesh_shuffle(&mesh, 5));
        if (order > 1) CHECK_OK(hx_mesh_reorder(&mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK(mesh.n_node == 12 && stated.n_force == 2 && stated.n_support == 1);
        CHECK(force_of(&mesh, 1, 7, 0) == 5.0 && force_of(&mesh, 1, 2, 2) == 7.0);
        CHECK(support_of(&mesh, 16, 1) == 0.0);
        hx_mesh_free(&mesh);
    }
}

typedef enum { OF_ALL, OF_SUPPORTS, OF_LOADS } fault_of;

/* The mesh is read; from = "file" is refused with this text for the data concerned. */
static void check_fault(fault_of of, const char *text, const char *want)
{
    hx_mesh mesh;
    read_good(text, &mesh);
    const char *const fault[] = {stated.fault, stated.support_fault, stated.load_fault};
    for (int k = 0; k < 3; k++)
        if (k == (int)of)
            CHECK_MSG(fault[k] && strstr(fault[k], want), "fault %d: %s, wanted: %s", k,
                      fault[k] ? fault[k] : "none", want);
        else
            CHECK_MSG(!fault[k], "fault %d: %s", k, fault[k]);
    hx_mesh_free(&mesh);
}

static void test_faults(void)
{
    check_fault(OF_LOADS,
                ONE_HEX "*NODE\n99, 5, 5, 5\n*STEP\n*STATIC\n*CLOAD\n99, 1, 1.\n*END STEP\n",
                "case.inp:17: a force on node 99, which belongs to no element");
    check_fault(OF_SUPPORTS, ONE_HEX "*BOUNDARY\n99, 1\n",
                "a support on node 99, which belongs to no");
    check_fault(OF_LOADS, ONE_HEX "*STEP\n*STATIC\n*CLOAD\n1, 4, 1.\n*END STEP\n",
                "case.inp:15: a moment on node 1, which has no rotations");
    check_fault(OF_LOADS, ONE_HEX "*STEP\n*STATIC\n*CLOAD\n1, x, 1.\n*END STEP\n",
                "case.inp:15: 'x' where a component is expected");
    check_fault(OF_LOADS, ONE_HEX "*CLOAD\n1, 1, 1.\n", "case.inp:12: *CLOAD outside a *STEP");
    check_fault(OF_SUPPORTS, ONE_HEX "*BOUNDARY\nwall, 1\n",
                "case.inp:13: no set of nodes 'wall' above this line");
    check_fault(OF_SUPPORTS, ONE_HEX "*BOUNDARY\n1, NOWARP\n",
                "unknown boundary condition 'NOWARP'");
    check_fault(OF_SUPPORTS, ONE_HEX "*BOUNDARY\n1\n", "needs a component");
    check_fault(OF_SUPPORTS, ONE_HEX "*BOUNDARY\n1, 3, 2\n", "components 3 to 2");
    check_fault(OF_SUPPORTS,
                ONE_HEX "*BOUNDARY\n1, 1, 3\n*STEP\n*STATIC\n*END STEP\n*STEP\n*STATIC\n*BOUNDARY\n"
                        "2, 2\n*END STEP\n",
                "node 2 has other supports than in step 1");
}

#define STATIC(text) "*STEP\n*STATIC\n" text "*END STEP\n"

/* OP=NEW of *BOUNDARY: as in CalculiX 2.20, the resulting supports count, not the keyword
 * itself. */
static void test_renewed_supports(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    read_good(ONE_HEX STATIC("*BOUNDARY, OP=NEW\n*BOUNDARY\n1, 1, 3\n2, 2\n")
                  STATIC("*BOUNDARY, OP=NEW\n*BOUNDARY\n2, 2\n1, 1, 3\n"),
              &mesh);
    CHECK(stated.n_support == 4 && !stated.support_fault && stated.n_case == 2);
    hx_mesh_free(&mesh);
    read_good(ONE_HEX "*BOUNDARY\n1, 1, 3\n" STATIC("*BOUNDARY, OP=NEW\n2, 2\n"), &mesh);
    CHECK(stated.n_support == 1 && support_of(&mesh, 2, 1) == 0.0 && !stated.support_fault);
    hx_mesh_free(&mesh);
    check_fault(OF_SUPPORTS,
                ONE_HEX STATIC("*BOUNDARY\n1, 1, 3\n2, 2\n") STATIC("*BOUNDARY, OP=NEW\n1, 1, 3\n"),
                "case.inp:20: *BOUNDARY, OP=NEW ends a support of node 2, but all load cases");
    check_fault(OF_SUPPORTS,
                ONE_HEX STATIC("*BOUNDARY\n1, 1, 3\n") STATIC("*BOUNDARY, OP=NEW\n1, 1, 3\n2, 2\n"),
                "node 2 has other supports than in step 1");
    /* after another *BOUNDARY of the same step, OP=NEW has no effect */
    CHECK_OK(read_text(ONE_HEX STATIC("*BOUNDARY\n1, 1, 3\n")
                           STATIC("*BOUNDARY\n1, 1\n*BOUNDARY, OP=NEW\n1, 2\n"),
                       &mesh, &notes));
    CHECK(stated.n_support == 3 && !stated.support_fault);
    CHECK(has_note(&notes, "case.inp:21: *BOUNDARY, OP=NEW after another *BOUNDARY"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
    /* a last step that is not static changes no load case */
    read_good(
        ONE_HEX STATIC(
            "*BOUNDARY\n1, 1, 3\n") "*STEP\n*FREQUENCY\n5\n*BOUNDARY, OP=NEW\n2, 1\n*END STEP\n",
        &mesh);
    CHECK(stated.n_support == 3 && !stated.support_fault);
    hx_mesh_free(&mesh);
    check_fault(OF_SUPPORTS,
                ONE_HEX "*STEP\n*FREQUENCY\n5\n*BOUNDARY\n1, 1, 3\n*END STEP\n"
                        "*STEP\n*FREQUENCY\n5\n*BOUNDARY, OP=NEW\n2, 1\n*END STEP\n",
                "ends a support of node 1");
}

/* A support of a node that belongs to no element has no effect. CalculiX 2.20 accepts it. */
static void test_idle_support(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    CHECK_OK(read_text(ONE_HEX
                       "*NODE\n99, 5, 5, 5\n98, 6, 5, 5\n*BOUNDARY\n99, 1, 3\n98, 1\n1, 1, 3\n",
                       &mesh, &notes));
    CHECK(stated.n_support == 3 && !stated.support_fault);
    size_t k = 0;
    while (k < notes.n && !strstr(notes.note[k].text, "left out: 2, the first on node 99")) k++;
    CHECK(k < notes.n && notes.note[k].level == HX_NOTE_INFO);
    CHECK(k < notes.n && strstr(notes.note[k].text, "case.inp:16: supports of nodes"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

/* The list of what is not read, and the data for which from = "file" is then refused. */
static void test_unread(void)
{
    enum { CARRIES = HX_UNREAD_CARRIES, LOAD = HX_UNREAD_LOAD, STEP = HX_UNREAD_STEP };
    hx_mesh mesh;
    check_unread(ONE_HEX "*EQUATION\n2\n1, 1, 1., 2, 1, -1.\n", CARRIES,
                 "case.inp:12: 1 *EQUATION");
    check_unread(ONE_HEX "*Distributing Coupling, ELSET=D\n1, 1.\n", CARRIES,
                 "1 *DISTRIBUTING COUPLING (Abaqus and CalculiX interpret it differently");
    check_unread(ONE_HEX "*FOUNDATION\n1, F2, 100.\n*Tie, NAME=a\nb, c\n*TIE, NAME=d\ne, f\n",
                 CARRIES, "1 *FOUNDATION (elastic foundations), 2 *TIE (tied surfaces, line 14)");
    check_unread(ONE_HEX "*INITIAL CONDITIONS, TYPE=STRESS\n1, 1, 1., 0, 0, 0, 0, 0\n", LOAD,
                 "case.inp:12: 1 *INITIAL CONDITIONS, TYPE=STRESS");
    check_unread(ONE_HEX "*SURFACE, NAME=A, TYPE=Cutting Surface\n1, 2\n*SURFACE, NAME=B\n1, S1\n"
                         "*SURFACE, NAME=C, COMBINE=UNION\nA, B\n*SURFACE, NAME=D\nALL, E1\n",
                 0,
                 "1 *SURFACE, TYPE=CUTTING SURFACE, 1 *SURFACE, COMBINE (line 16), 1 *SURFACE, E1");
    check_unread(ONE_HEX "*INITIAL CONDITIONS, TYPE=TEMPERATURE\n1, 20.\n", 0, "");
    check_unread(ONE_HEX "*BOUNDARY, TYPE=VELOCITY\n1, 1, 3\n", HX_UNREAD_SUPPORT,
                 "1 *BOUNDARY, TYPE");
    CHECK(stated.n_support == 0);
    check_unread(ONE_HEX "*STEP\n*STATIC\n*CLOAD, AMPLITUDE=A\n1, 1, 1.\n*END STEP\n", LOAD,
                 "case.inp:14: 1 *CLOAD, AMPLITUDE");
    CHECK(stated.n_force == 0);
    check_unread(ONE_HEX "*BOUNDARY\n1, 1, 3\n1, 11, 11, 20.\n2, 0, 0, 1.\n*STEP\n*STATIC\n"
                         "*CLOAD\n1, 0, 1.\n1, 11, 1.\n1, 2, 1.\n*END STEP\n",
                 LOAD | HX_UNREAD_HEAT,
                 "1 *BOUNDARY, component 11 (temperatures), 1 *BOUNDARY, component 0 (line");
    CHECK(stated.n_support == 3 && stated.n_force == 1);

    /* Steps of other kinds are not load cases. */
    check_unread(ONE_HEX "*BOUNDARY\n1, 1, 3\n*STEP\n*STATIC\n*CLOAD\n2, 3, 5.\n*END STEP\n*STEP\n"
                         "*SENSITIVITY\n*DESIGNRESPONSE, NAME=R\nSTRAINENERGY\n*END STEP\n*STEP\n"
                         "*FREQUENCY\n10\n*CLOAD\n3, 3, 7.\n*BOUNDARY\n3, 3\n*END STEP\n",
                 STEP, "1 *SENSITIVITY (no static step), 1 *FREQUENCY (no static step, line 25)");
    CHECK(stated.n_case == 1 && stated.n_force == 1 && stated.n_support == 3);
    CHECK(hx_unread_refuses(&stated.unread, HX_UNREAD_OF_LOADS, 1, stated.n_case) == 0);
    check_unread(ONE_HEX "*STEP\n*FREQUENCY\n*BOUNDARY\n1, 1, 3\n*END STEP\n*STEP\n*STATIC\n"
                         "*CLOAD\n2, 3, 5.\n*END STEP\n",
                 STEP, "1 *FREQUENCY");
    CHECK(stated.n_case == 1 && stated.n_force == 1 && stated.n_support == 3);
    check_unread(ONE_HEX "*STEP\n*BUCKLE\n10\n*BOUNDARY\n1, 1, 3\n*CLOAD\n2, 3, 5.\n*END STEP\n",
                 STEP, "1 *BUCKLE");
    CHECK(stated.n_case == 0 && stated.n_force == 0 && stated.n_support == 3);
    CHECK(hx_unread_refuses(&stated.unread, HX_UNREAD_OF_LOADS, 0, 0) == STEP);
    CHECK(hx_unread_refuses(&stated.unread, HX_UNREAD_OF_SUPPORTS, 0, 0) == 0);
    check_fault(OF_LOADS,
                ONE_HEX
                "*STEP\n*FREQUENCY\n*CLOAD\n2, 3, 5.\n*END STEP\n*STEP\n*STATIC\n*END STEP\n",
                "case.inp:15: a load of step 1, which is not static, stays");

    /* A formulation that is analysed differently is a warning in a job. */
    hx_notes notes = {0};
    CHECK_OK(read_text(NODES_8 "*ELEMENT, TYPE=C3D8I\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*STEP\n*STATIC\n"
                               "*END STEP\n",
                       &mesh, &notes));
    CHECK(notes.n == 2 && notes.note[0].level == HX_NOTE_WARNING);
    CHECK(notes.n == 2 && strstr(notes.note[0].text, "C3D8I (incompatible modes) are analysed as"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

/* Materials, keywords and parameters that may affect the analysis, and harmless ones. */
static void test_unread_keywords(void)
{
    enum { CARRIES = HX_UNREAD_CARRIES, LOAD = HX_UNREAD_LOAD, SUPPORT = HX_UNREAD_SUPPORT };
    enum { MATERIAL = HX_UNREAD_MATERIAL };
#define STEEL "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.3\n"
#define SECTION "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n"
    check_unread(ONE_HEX STEEL "*plastic\n1., 0.\n*CREEP\n1., 1., 0.\n" SECTION, MATERIAL,
                 "case.inp:15: 1 *PLASTIC (not linear elastic), 1 *CREEP (not linear");
    check_unread(ONE_HEX STEEL SECTION "*MATERIAL, NAME=N\n*User  Material, CONSTANTS=1\n1.\n", 0,
                 "");
    check_unread(ONE_HEX "*MATERIAL, NAME=m\n*User  Material, CONSTANTS=1\n1.\n" SECTION, MATERIAL,
                 "1 *USER MATERIAL (not linear elastic)");
    check_unread(ONE_HEX "*Foo  Bar, X=1\n1.\n", CARRIES,
                 "case.inp:12: 1 *FOO BAR (unknown keyword)");
    check_unread(ONE_HEX "*STEP\n*STATIC\n*Foo  Bar\n1.\n*END STEP\n", LOAD | SUPPORT,
                 "case.inp:14: 1 *FOO BAR (unknown keyword");
    check_unread(ONE_HEX "*STEP, NLGEOM\n*STATIC\n*END STEP\n*STEP, NLGEOM=NO\n*STATIC\n", 0,
                 "case.inp:12: 1 *STEP, NLGEOM (small displacements");
    check_unread(ONE_HEX "*INITIAL STRAIN INCREASE\n1, 1, 1., 0, 0, 0, 0, 0\n", LOAD,
                 "1 *INITIAL STRAIN INCREASE (initial strains)");
    check_unread(ONE_HEX "*STEP\n*STATIC\n*REFINE MESH, LIMIT=1\n*END STEP\n", 0,
                 "1 *REFINE MESH (");
    check_unread(ONE_HEX "*RESTART, READ, STEP=1\n", LOAD | SUPPORT, "1 *RESTART, READ (the state");
    check_unread(ONE_HEX "*RESTART, WRITE\n*PREPRINT, ECHO=NO\n*STEP\n*STATIC\n*CONTROLS, RESET\n"
                         "*OUTPUT, FIELD\n*NODE OUTPUT\nU\n*END STEP\n",
                 0, "");
    CHECK(stated.unread.n == 0);

    /* Parameters. */
    check_unread(ONE_HEX "*BOUNDARY, FILE=x\n", SUPPORT, "case.inp:12: 1 *BOUNDARY, FILE");
    check_unread(ONE_HEX "*STEP\n*STATIC\n*CLOAD, OMEGA0=3.\n1, 1, 1.\n*END STEP\n", LOAD,
                 "1 *CLOAD, OMEGA0");
    check_unread(ONE_HEX "*STEP\n*STATIC\n*CLOAD, Time  Delay=3.\n1, 1, 1.\n*DLOAD, NEW=1\n", LOAD,
                 "1 *CLOAD, TIME DELAY, 1 *DLOAD, NEW");
    CHECK(stated.n_force == 0);
#undef STEEL
#undef SECTION
}

/* CalculiX applies an earlier load also to members that a set gets later. */
static void test_late_members(void)
{
#define LATE "*NSET, NSET=A\n1\n*STEP\n*STATIC\n"
    check_fault(OF_LOADS, ONE_HEX LATE "*CLOAD\nA, 1, 1.\n*NSET, NSET=a\n2\n",
                "case.inp:18: set 'A' gets members after a support or load used it in line 17");
    check_fault(OF_SUPPORTS, ONE_HEX LATE "*BOUNDARY\nA, 1\n*NSET, NSET=A\n2\n",
                "case.inp:18: set 'A' gets members after");
    check_fault(OF_LOADS, ONE_HEX "*STEP\n*STATIC\n*DLOAD\nALL, P1, 1.\n*ELSET, ELSET=ALL\n1\n",
                "case.inp:16: set 'ALL' gets members after");
#undef LATE
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_steps();
    test_merged_conditions();
    test_faults();
    test_renewed_supports();
    test_idle_support();
    test_unread();
    test_unread_keywords();
    test_late_members();
    remove_folder();
    TEST_END();
}
