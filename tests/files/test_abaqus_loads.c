/* Loads on faces and by mass, couplings and materials of Abaqus input files: their conversion, and
 * every message. tests/app/test_calculix_file.py compares the results with CalculiX. */
#include <math.h>

#include "core/problem/problem.h"
#include "tests/lib/abaqus_case.h"

#define STEP(data) "*STEP\n*STATIC\n" data "*END STEP\n"
#define POINT "*NODE\n99, 3., 0.5, 0.5\n98, 3., 0.5, 0.5\n*NSET, NSET=RP\n99\n"
#define RIGHT "*SURFACE, NAME=right\n2, S4\n"
#define COUPLED(kind) POINT RIGHT "*COUPLING, CONSTRAINT NAME=C, REF NODE=RP, SURFACE=right\n" kind

/* Load number i of a step. */
static const hx_file_load *load_of(int step, int i)
{
    static const hx_file_load none = {.set = NULL};
    for (int64_t k = 0; k < stated.n_load; k++)
        if (stated.load[k].load_case == step && i-- == 0) return &stated.load[k];
    CHECK_MSG(0, "step %d has no such load", step);
    return &none;
}

static int64_t count_of(int step)
{
    int64_t n = 0;
    for (int64_t k = 0; k < stated.n_load; k++) n += stated.load[k].load_case == step;
    return n;
}

static void no_fault(void)
{
    CHECK_MSG(!stated.fault && !stated.support_fault && !stated.load_fault, "%s",
              stated.fault        ? stated.fault
              : stated.load_fault ? stated.load_fault
                                  : "supports");
}

/* A load stays active until it is stated again, which replaces it, or until OP=NEW ends it. Loads
 * of one step are added. */
static void test_steps(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX RIGHT STEP("*DSLOAD\nright, P, 2.\n*DLOAD\nALL, GRAV, 9., 0., 0., -3.\n")
                  STEP("*DSLOAD\nright, P, 3.\nright, P, 4.\n")
                      STEP("*DLOAD\n, CENTRIF, 16., 1., 2., 3., 0., 0., 5.\n2, P2, 1.\n"),
              &mesh);
    no_fault();
    CHECK(stated.n_case == 3 && count_of(1) == 2 && count_of(2) == 3 && count_of(3) == 5);
    CHECK(load_of(1, 0)->kind == HX_FILE_PRESSURE && load_of(1, 0)->value[0] == 2.0);
    CHECK(strcmp(load_of(1, 0)->set, "right") == 0 && load_of(1, 1)->value[2] == -9.0);
    CHECK(load_of(2, 1)->value[0] == 3.0 && load_of(2, 2)->value[0] == 4.0);
    CHECK(load_of(3, 3)->kind == HX_FILE_CENTRIFUGAL && load_of(3, 3)->speed == 4.0);
    CHECK(load_of(3, 3)->point[1] == 2.0 && load_of(3, 3)->value[2] == 5.0);
    CHECK(strcmp(load_of(3, 4)->set, "dload-1") == 0);
    check_set(&mesh, "dload-1", 4, 6 + 11 + 12 + 7, 0, 1);
    hx_mesh_free(&mesh);
    read_good(TWO_HEX STEP("*DLOAD\nALL, P3, 1.\n, GRAV, 1., 1., 0., 0.\n")
                  STEP("*DLOAD, OP=NEW\nALL, GRAV, 2., 1., 0., 0.\n"),
              &mesh);
    no_fault();
    CHECK(count_of(1) == 2 && count_of(2) == 1 && load_of(2, 0)->value[0] == 2.0);
    hx_mesh_free(&mesh);
}

/* OP=NEW ends nothing if it follows another use of its keyword in the step, or if all loads are
 * those of the other keyword; CalculiX 2.20 behaves in the same way. */
static void test_late_new(void)
{
    static const char *const text[] = {
        TWO_HEX RIGHT STEP("*DLOAD\n1, P2, 2.\n")
            STEP("*DLOAD\n2, P2, 1.\n*DLOAD, OP=NEW\n2, P1, 3.\n"),
        TWO_HEX RIGHT STEP("*DSLOAD\nright, P, 2.\n")
            STEP("*DSLOAD\nright, P, 3.\n*DSLOAD, OP=NEW\nright, P, 4.\nright, P, 5.\n"),
        TWO_HEX RIGHT STEP("*DSLOAD\nright, P, 2.\n")
            STEP("*DSLOAD\n*DLOAD, OP=NEW\n2, P1, 1.\nALL, GRAV, 2., 1., 0., 0.\n")};
    for (int i = 0; i < 3; i++) {
        hx_mesh mesh;
        read_good(text[i], &mesh);
        no_fault();
        CHECK_MSG(count_of(1) == 1 && count_of(2) == 3, "file %d", i);
        hx_mesh_free(&mesh);
    }
}

/* A reference node keeps its supported components if they are stated again. */
static void test_renewed_reference(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX COUPLED("*KINEMATIC\n") STEP("*BOUNDARY, OP=NEW\n*BOUNDARY\n99, 1, 4\n")
                  STEP("*BOUNDARY, OP=NEW\n99, 1, 3\n*BOUNDARY\n99, 4\n"),
              &mesh);
    no_fault();
    CHECK(stated.n_rigid == 1 && stated.rigid[0].held == 15);
    hx_mesh_free(&mesh);
    read_good(TWO_HEX COUPLED("*KINEMATIC\n") "*BOUNDARY\n99, 1, 2\n99, 3, 3, 0.5\n", &mesh);
    no_fault();
    CHECK(stated.rigid[0].held == 7 && stated.rigid[0].value[2] == 0.5 &&
          stated.rigid[0].value[5] == 0);
    hx_mesh_free(&mesh);
    read_good(
        TWO_HEX COUPLED("*KINEMATIC\n") "*BOUNDARY\n99, 1, 6\n" STEP("*BOUNDARY, OP=NEW\n99, 1\n"),
        &mesh);
    no_fault();
    CHECK(stated.n_rigid == 1 && stated.rigid[0].held == 1);
    hx_mesh_free(&mesh);
}

static void check_fault(const char *text, int of_loads, const char *want)
{
    hx_mesh mesh;
    read_good(text, &mesh);
    const char *const fault = of_loads       ? stated.load_fault
                              : stated.fault ? stated.fault
                                             : stated.support_fault;
    CHECK_MSG(fault && strstr(fault, want), "%s; wanted: %s", fault ? fault : "none", want);
    if (of_loads) CHECK(!stated.fault && !stated.support_fault);
    hx_mesh_free(&mesh);
}

/* The sum of a step's pressures on a set, and of its accelerations along z. */
static double pressure_of(int step, const char *set)
{
    double sum = 0.0;
    for (int64_t k = 0; k < stated.n_load; k++)
        if (stated.load[k].load_case == step && stated.load[k].kind == HX_FILE_PRESSURE &&
            strcmp(stated.load[k].set, set) == 0)
            sum += stated.load[k].value[0];
    return sum;
}

static double gravity_of(int step)
{
    double sum = 0.0;
    for (int64_t k = 0; k < stated.n_load; k++)
        if (stated.load[k].load_case == step && stated.load[k].kind == HX_FILE_GRAVITY)
            sum += stated.load[k].value[2];
    return sum;
}

/* Single faces with the same history form one set, even if another set already has its name. */
static void test_single_faces(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX "*NSET, NSET=DLOAD-2\n1\n" STEP(
                  "*DLOAD\n1, P1, 1.\n2, P1, 1.\n1, P2, 3.\n1, P2, -2.\n2, P2, 1.\n2, P4, 7.\n")
                  STEP("*DLOAD\n2, P1, 5.\n"),
              &mesh);
    no_fault();
    check_set(&mesh, "dload-1", 10, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 11 + 12, 0, 3);
    check_set(&mesh, "dload-3", 4, 2 + 9 + 10 + 3, 0, 1);
    check_set(&mesh, "dload-4", 4, 9 + 10 + 11 + 12, 0, 1);
    CHECK(pressure_of(1, "dload-1") == 1.0 && pressure_of(2, "dload-1") == 1.0);
    CHECK(pressure_of(1, "dload-3") == 1.0 && pressure_of(2, "dload-3") == 5.0);
    CHECK(pressure_of(2, "dload-4") == 7.0 && count_of(1) == 3 && count_of(2) == 3);
    hx_mesh_free(&mesh);
    check_fault(NODES_8
                "*ELEMENT, TYPE=C3D4, ELSET=ALL\n1, 1, 2, 4, 5\n" STEP("*DLOAD\n1, P5, 1.\n"),
                1, "a pressure on side P5 of element 1, a tetrahedron, which has no such side");
    check_fault(TWO_HEX STEP("*DLOAD\n77, P1, 1.\n"), 1,
                "case.inp:20: a pressure on element 77, which is not a solid of the file");
}

/* A pressure on a side that repeated nodes make a point or an edge; CalculiX 2.20 loads nothing. */
static void test_flat_sides(void)
{
    static const struct {
        const char *nodes, *side;
    } row[] = {
        {"1, 2, 3, 4, 5, 5, 5, 5", "P2"}, {"1, 2, 4, 4, 5, 5, 5, 5", "P2"},
        {"1, 2, 4, 4, 5, 5, 5, 5", "P5"}, {"1, 2, 4, 4, 5, 6, 8, 8", "P5"},
        {"5, 5, 5, 5, 1, 4, 3, 2", "P1"}, {"2, 1, 4, 3, 5, 5, 5, 5", "P2"},
    };
    char text[2000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text,
                 NODES_8 "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, %s\n" STEP("*DLOAD\n1, %s, 1.\n"),
                 row[i].nodes, row[i].side);
        check_fault(text, 1, "a pressure on 'dload-1', which has no faces");
    }
    read_good(NODES_8 "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1, 2, 3, 4, 5, 5, 5, 5\n" STEP(
                  "*DLOAD\n1, P1, 1.\n1, P2, 1.\n1, P3, 1.\n"),
              &mesh);
    no_fault();
    check_set(&mesh, "dload-1", 5, 1 + 2 + 3 + 4 + 5, 0, 2);
    hx_mesh_free(&mesh);
}

/* CalculiX 2.20: a member named twice is loaded twice (0.004 of the case disc-elset-member-twice),
 * and in a later step it is replaced once per mention there. */
static void test_named_twice(void)
{
    hx_mesh mesh;
#define TWICE TWO_HEX "*ELSET, ELSET=a\n2\n*ELSET, ELSET=b\n2\n*ELSET, ELSET=q\na, b, 1\n"
    read_good(TWICE STEP("*DLOAD\nq, P2, -1.\n") STEP("*DLOAD\nq, P2, -3.\n"), &mesh);
    no_fault();
    check_set(&mesh, "q.P2", 6, 5 + 6 + 7 + 8 + 11 + 12, 0, 2);
    check_set(&mesh, "dload-1", 4, 6 + 7 + 11 + 12, 0, 1);
    CHECK(pressure_of(1, "q.P2") == -1.0 && pressure_of(1, "dload-1") == -1.0);
    CHECK(pressure_of(2, "q.P2") == -3.0 && pressure_of(2, "dload-1") == -3.0 && count_of(2) == 2);
    hx_mesh_free(&mesh);
    read_good(TWICE "*SURFACE, NAME=s\n2, S2\na, S2\n2, S2\n2, S1\n" STEP("*DSLOAD\ns, P, -1.\n"),
              &mesh);
    no_fault();
    check_set(&mesh, "s", 8, 2 + 9 + 10 + 3 + 6 + 7 + 11 + 12, 0, 2);
    CHECK(pressure_of(1, "s") == -1.0 && pressure_of(1, "dload-1") == -2.0);
    check_set(&mesh, "dload-1", 4, 6 + 7 + 11 + 12, 0, 1);
    hx_mesh_free(&mesh);
    read_good(TWICE STEP("*DLOAD\nq, GRAV, 1., 0., 0., 1.\n"), &mesh);
    no_fault();
    CHECK(gravity_of(1) == 1.0 && count_of(1) == 1);
    hx_mesh_free(&mesh);
}

/* CalculiX 2.20 (-0.004 of the case disc-grav-new-direction): gravity in another direction or on
 * another set adds, equal ones replace; a second axis of rotation is refused. */
static void test_mass_loads(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX "*ELSET, ELSET=other\n1, 2\n" STEP("*DLOAD\nALL, GRAV, 1., 0., 0., 1.\n")
                  STEP("*DLOAD\nALL, GRAV, 3., 0., 0., -1.\n")
                      STEP("*DLOAD\nALL, GRAV, 5., 0., 1e-6, 2.\n")
                          STEP("*DLOAD\nother, GRAV, 7., 0., 0., 1.\n")
                              STEP("*DLOAD\nALL, GRAV, 0., 0., 0., 1.\n"),
              &mesh);
    no_fault();
    CHECK(gravity_of(1) == 1.0 && gravity_of(2) == -2.0);
    CHECK_REL(gravity_of(3), 2.0, 1e-9);
    CHECK_REL(gravity_of(4), 9.0, 1e-9);
    CHECK(gravity_of(5) == 4.0 && count_of(5) == 2);
    hx_mesh_free(&mesh);
    read_good(TWO_HEX STEP("*DLOAD\nALL, CENTRIF, 1., 0., 0., 0., 1., 0., 0.\n")
                  STEP("*DLOAD\nALL, CENTRIF, 9., 0., 0., 0., 2., 0., 0.\n"),
              &mesh);
    no_fault();
    CHECK(count_of(2) == 1 && load_of(2, 0)->speed == 3.0);
    hx_mesh_free(&mesh);
    read_good(TWO_HEX STEP("*DLOAD\nALL, CENTRIF, 1., 0., 0., 0., 1., 0., 0.\n")
                  STEP("*DLOAD\nALL, CENTRIF, 9., 0., -0., 0., 1., 0., 0.\n"),
              &mesh); /* 0 and -0 are the same point */
    no_fault();
    CHECK(count_of(2) == 1 && load_of(2, 0)->speed == 3.0);
    hx_mesh_free(&mesh);
    check_fault(TWO_HEX STEP("*DLOAD\nALL, CENTRIF, 1., 0., 0., 0., 1., 0., 0.\n")
                    STEP("*DLOAD\nALL, CENTRIF, 9., 0., 0., 0., 0., 1., 0.\n"),
                1, "a centrifugal load in addition to the one of step 1 about another axis");
}

static void test_couplings(void)
{
    hx_mesh mesh;
    read_good(TWO_HEX COUPLED("*KINEMATIC\n1, 6\n") "*BOUNDARY\nRP, PINNED\n99, 5, 5\n" STEP(
                  "*CLOAD\n99, 1, 1.\n99, 6, 2.\n") STEP("*CLOAD\nRP, 6, 3.\n"),
              &mesh);
    no_fault();
    CHECK(stated.n_rigid == 1 && stated.rigid[0].held == 7 + 16);
    CHECK(strcmp(stated.rigid[0].set, "right") == 0 && stated.rigid[0].point[0] == 3.0);
    CHECK(load_of(2, 0)->value[0] == 1.0 && load_of(2, 0)->moment[2] == 3.0 && count_of(2) == 1);
    hx_mesh_free(&mesh);

    read_good(TWO_HEX COUPLED("*DISTRIBUTING\n") STEP("*CLOAD\n99, 1, 1.\n"), &mesh);
    no_fault();
    CHECK(stated.n_rigid == 0 && count_of(1) == 1 && !load_of(1, 0)->equally);
    hx_mesh_free(&mesh);

    /* A rotation node, nodes from a set defined later, equal weights without faces. */
    read_good(TWO_HEX POINT "*RIGID BODY, NSET=end, REF NODE=99, ROT NODE=98\n*NSET, NSET=end\n"
                            "9, 10, 11, 12\n*BOUNDARY\n98, 1, 3\n99, 1, 3\n",
              &mesh);
    no_fault();
    CHECK(stated.n_rigid == 1 && stated.rigid[0].held == HX_FILE_HELD_ALL);
    check_set(&mesh, "coupling-99", 4, 42, 0, 0);
    hx_mesh_free(&mesh);
    read_good(TWO_HEX POINT
              "*KINEMATIC COUPLING, REF NODE=99\n9, 1, 3\n10\n*RIGID BODY, ELSET=ALL, "
              "REF NODE=98\n*SURFACE, NAME=dots, TYPE=NODE\n9\n*COUPLING, REF NODE=97, "
              "SURFACE=dots\n*DISTRIBUTING\n*NODE\n97, 1, 1, 1\n" STEP("*CLOAD\n97, 1, 1.\n"),
              &mesh);
    no_fault();
    CHECK(stated.n_rigid == 2 && stated.unread.n == 0 && load_of(1, 0)->equally);
    check_set(&mesh, "coupling-98", 12, 78, 2, 0);
    hx_mesh_free(&mesh);
}

/* CalculiX 2.20 ignores components 4 to 6 of a *RIGID BODY, whose rotations are components 1 to 3
 * of the ROT NODE; in Abaqus they are rotations of the REF NODE. */
static void test_rotations_of_bodies(void)
{
#define END "*NSET, NSET=end\n9, 10, 11, 12\n*RIGID BODY, NSET=end, REF NODE=99"
#define BODY TWO_HEX POINT END ", ROT NODE=98\n"
#define FREE TWO_HEX POINT END "\n"
    hx_mesh mesh;
    static const char *const clear[] = {
        BODY "*BOUNDARY\n99, 1, 6\n98, 1, 3\n", BODY "*BOUNDARY\n98, 1, 6\n99, 1, 3\n",
        BODY "*BOUNDARY\n98, 1, 3\n" STEP("*BOUNDARY\n99, 1, 6\n*CLOAD\n99, 5, 0.\n"),
        FREE "*BOUNDARY\n99, ENCASTRE\n"};
    for (int i = 0; i < 4; i++) {
        read_good(clear[i], &mesh);
        no_fault();
        CHECK_MSG(stated.rigid[0].held == HX_FILE_HELD_ALL, "file %d", i);
        hx_mesh_free(&mesh);
    }
    check_fault(BODY "*BOUNDARY\n99, 4, 6\n", 0,
                "case.inp:26: a support of rotations (components 4 to 6) of node 99 of a *RIGID");
    check_fault(FREE "*BOUNDARY\n99, 1, 6\n", 0, "a support of rotations (components 4 to 6)");
    check_fault(BODY "*BOUNDARY\n98, 1, 2\n99, 4, 6\n", 0, "of node 99 of a *RIGID BODY");
    check_fault(BODY "*BOUNDARY\n98, 1, 3\n99, 5, 5, 0.1\n", 0, "of node 99 of a *RIGID BODY");
    check_fault(BODY "*BOUNDARY\n98, 4, 6\n", 0, "of node 98 of a *RIGID BODY");
    check_fault(BODY STEP("*CLOAD\n99, 5, 20.\n"), 1, "a moment (components 4 to 6) on node 99");
    check_fault(FREE STEP("*CLOAD\n99, 5, 20.\n"), 1, "use *COUPLING with *KINEMATIC");
    check_fault(BODY STEP("*CLOAD\n98, 4, 20.\n"), 1, "a moment (components 4 to 6) on node 98");
#undef FREE
#undef BODY
#undef END
}

/* CalculiX 2.20 couples only the named nodes. hextop does the same if some are mid-side nodes; for
 * a set of corners, quadratic elements couple the middles too, with a warning. */
static void test_coupled_middles(void)
{
    hx_mesh mesh;
#define TET10(set)                                                                                 \
    "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 0.5, 0, 0\n6, 0.5, 0.5, 0\n"        \
    "7, 0, 0.5, 0\n8, 0, 0, 0.5\n9, 0.5, 0, 0.5\n10, 0, 0.5, 0.5\n99, 2, 2, 2\n"                   \
    "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n*NSET, NSET=tied\n" set               \
    "\n*RIGID BODY, NSET=tied, REF NODE=99\n"
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        hx_notes notes = {0};
        CHECK_OK(read_text(is_whole ? TET10("1, 2, 3, 5, 6, 7") : TET10("1, 2, 3"), &mesh, &notes));
        CHECK(has_note(&notes, "its set lacks the mid-side nodes between its nodes") == !is_whole);
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
#undef TET10
}

/* A pin: the projector removes the rotations about the point, and is a projector. */
static void test_pin(void)
{
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params = hx_problem_defaults();
    const hx_support_spec support = {.set = NULL, .origin = "supports"};
    const hx_load_spec load = {.kind = HX_LOAD_FROM_FILE, .origin = "loads"};
    read_good(
        TWO_HEX COUPLED("*KINEMATIC\n1, 3\n") "*BOUNDARY\nRP, 1, 3\n5, 1, 3\n1, 2, 2\n8, 1, 1\n"
                                              "1, 1, 1\n" STEP("*CLOAD\n4, 3, 1.\n"),
        &mesh);
    params.support = &support;
    params.load = &load;
    params.n_support = params.n_load = 1;
    params.conditions = &stated;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    const hx_rigid_set *const set = &problem.rigid.set[0];
    CHECK(problem.rigid.n == 1 && set->n == 4 && set->held == 7);
    double trace = 0.0;
    for (int64_t k = 0; k < set->n; k++) /* trace of P = sum_a R_a free R_a', its rank */
        for (int c = 0; c < 3; c++) {
            double unit[3] = {0.0}, sum[6] = {0.0}, motion[6] = {0.0}, u[3];
            const double *const x = mesh.xyz + 3 * (int64_t)problem.rigid.node[set->first + k];
            unit[c] = 1.0;
            for (int i = 0; i < 3; i++) sum[i] = unit[i];
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                sum[3 + i] = (x[j] - set->centre[j]) * unit[l] - (x[l] - set->centre[l]) * unit[j];
            }
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++) motion[i] += set->free[i][j] * sum[j];
            for (int i = 0; i < 3; i++) { /* the point stays */
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                const double *const w = motion + 3;
                const double at = motion[i] + w[j] * (set->point[l] - set->centre[l]) -
                                  w[l] * (set->point[j] - set->centre[j]);
                CHECK_MSG(fabs(at) < 1e-12, "the point moves by %g", at);
                u[i] = motion[i] + w[j] * (x[l] - set->centre[l]) - w[l] * (x[j] - set->centre[j]);
            }
            trace += u[c];
        }
    CHECK_REL(trace, 3.0, 1e-12);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static void test_faults(void)
{
    check_unread(TWO_HEX STEP("*DLOAD\nALL, Bx, 1.\nALL, BX, 2.\n"), HX_UNREAD_LOAD,
                 "case.inp:20: 2 *DLOAD, BX (only labels P1 to P6, GRAV and CENTRIF are read)");
    check_unread(TWO_HEX RIGHT STEP("*DSLOAD\nright, TRVEC, 1., 1., 0., 0.\n"), HX_UNREAD_LOAD,
                 "1 *DSLOAD, TRVEC (only label P is read)");
    check_unread(TWO_HEX RIGHT STEP("*DSLOAD, AMPLITUDE=A\nright, P, 1.\n"), HX_UNREAD_LOAD,
                 "1 *DSLOAD, AMPLITUDE");
    check_fault(TWO_HEX STEP("*DLOAD\nnone, P1, 1.\n"), 1, "no set 'none' above this line");
    check_fault(TWO_HEX STEP("*DSLOAD\nnone, P, 1.\n"), 1, "no surface 'none' above this line");
    check_fault(TWO_HEX STEP("*DLOAD\nALL, GRAV, 9.81\n"), 1, "GRAV needs a direction");
    check_fault(TWO_HEX STEP("*DLOAD\nALL, CENTRIF, 1., 0., 0., 0.\n"), 1, "CENTRIF needs a point");
    check_fault(TWO_HEX STEP("*DLOAD\nALL, CENTRIF, -1., 0., 0., 0., 0., 0., 1.\n"), 1,
                "square of the");
    check_fault(TWO_HEX "*DLOAD\nALL, P1, 1.\n", 1, "*DLOAD outside a *STEP");
    check_fault(TWO_HEX "*ELSET, ELSET=one\n1\n" STEP("*DLOAD\none, GRAV, 1., 0., 0., 1.\n"), 1,
                "a load by mass on set 'one', which has 1 of the 2 elements");
    check_fault(TWO_HEX STEP("*DLOAD\n1, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n"), 1, "one element");
    check_fault(TWO_HEX "*NSET, NSET=dots\n1\n" STEP("*DSLOAD\ndots, P, 1.\n"), 1, "has no faces");
    check_fault(
        TWO_HEX RIGHT STEP("*DSLOAD\nright, P, 1.\n") STEP("*DLOAD\n2, P4, 1.\n"), 1,
        "a pressure on set 'dload-1' overlaps one on set 'right' that stays active from step 1");
    check_fault(TWO_HEX RIGHT STEP("*DSLOAD\nright, P, 1.\n") STEP("*DLOAD, OP=NEW\n2, P1, 1.\n"),
                1, "OP=NEW while loads by both");
    check_fault(TWO_HEX RIGHT STEP("*DLOAD\n2, P1, 1.\n")
                    STEP("*DSLOAD\nright, P, 1.\n*DLOAD, OP=NEW\n2, P2, 1.\n"),
                1, "OP=NEW after a load of the same step by the other");
    check_fault(TWO_HEX COUPLED("*KINEMATIC\n") STEP("*BOUNDARY\n99, 1, 3\n")
                    STEP("*BOUNDARY, OP=NEW\n99, 1, 2\n"),
                0, "*BOUNDARY, OP=NEW ends a support of node 99");
}

/* A coupling that is not read is listed, and it leaves no empty set. */
static void test_unread_couplings(void)
{
    enum { CARRIES = HX_UNREAD_CARRIES, SHARES = HX_UNREAD_LOAD | HX_UNREAD_SUPPORT };
    hx_mesh mesh;
    check_unread(TWO_HEX COUPLED("*KINEMATIC\n3\n"), CARRIES,
                 "case.inp:24: 1 *COUPLING (its nodes follow in some components only");
    check_unread(TWO_HEX COUPLED("*DISTRIBUTING\n1, 4\n"), SHARES,
                 "components 1 to 3 or 1 to 6 are read");
    check_unread(TWO_HEX COUPLED("*DISTRIBUTING, WEIGHTING METHOD=LINEAR\n"), SHARES,
                 "uniform weights");
    check_unread(TWO_HEX POINT "*Kinematic  Coupling, REF NODE=99\n3, 1, 2\n", CARRIES,
                 "1 *KINEMATIC COUPLING (its nodes follow");
    check_unread(TWO_HEX POINT "*KINEMATIC COUPLING, REF NODE=99\n3, 1, 3\n4, 1, 2\n", CARRIES,
                 "1 *KINEMATIC COUPLING (its nodes follow the reference node in different");
    check_unread(TWO_HEX RIGHT POINT "*COUPLING, REF NODE=RP, SURFACE=right, ORIENTATION=O\n"
                                     "*KINEMATIC\n",
                 CARRIES, "1 *COUPLING (an orientation is not read)");
    check_unread(TWO_HEX RIGHT POINT "*COUPLING, REF NODE=RP, SURFACE=right, INFLUENCE RADIUS=2.\n"
                                     "*KINEMATIC\n",
                 CARRIES, "1 *COUPLING (an influence radius is not read)");
    check_unread(TWO_HEX POINT "*NSET, NSET=two\n2, 3\n*RIGID BODY, PIN NSET=two, REF NODE=99\n",
                 CARRIES, "1 *RIGID BODY (a rigid body is read only with");
    read_good(TWO_HEX POINT "*RIGID BODY, PIN NSET=ALL, REF NODE=99\n", &mesh);
    CHECK(stated.n_rigid == 0 && !hx_mesh_find_set(&mesh, "coupling-99"));
    hx_mesh_free(&mesh);
}

/* There is no note about a set that has only reference nodes, whether of translations or rotations,
 * read or not. */
static void test_reference_sets(void)
{
    static const char *const body[] = {"*RIGID BODY, NSET=two, REF NODE=99, ROT NODE=98\n",
                                       "*RIGID BODY, PIN NSET=two, REF NODE=99, ROT NODE=98\n"};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        hx_mesh mesh;
        hx_notes notes = {0};
        snprintf(text, sizeof text,
                 TWO_HEX POINT "*NSET, NSET=both\n99, 98\n*NSET, NSET=two\n2, 3\n%s", body[i]);
        CHECK_OK(read_text(text, &mesh, &notes));
        CHECK(!has_note(&notes, "set 'both'") && !has_note(&notes, "set 'RP'"));
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
}

static void test_coupling_faults(void)
{
    check_fault(TWO_HEX COUPLED("*DISTRIBUTING\n") "*BOUNDARY\n99, 1\n", 0,
                "a support of node 99, the reference node of a distributing coupling");
    check_fault(TWO_HEX COUPLED("*KINEMATIC\n") "*BOUNDARY\n99, 1\n" STEP("*BOUNDARY\n99, 2\n")
                    STEP("*BOUNDARY\n99, 3\n"),
                0, "reference node 99 has other supports than in step 1");
    check_fault(TWO_HEX RIGHT "*COUPLING, REF NODE=1, SURFACE=right\n*KINEMATIC\n", 0,
                "reference node 1 belongs to an element");
    check_bad(TWO_HEX POINT "*COUPLING, REF NODE=RP, SURFACE=left\n*KINEMATIC\n",
              "case.inp:22: *COUPLING: no surface 'left'");
    check_bad(TWO_HEX RIGHT "*COUPLING, REF NODE=RP, SURFACE=right\n*KINEMATIC\n",
              "no reference node 'RP'");
    check_bad(TWO_HEX RIGHT "*COUPLING, REF NODE=77, SURFACE=right\n*KINEMATIC\n",
              "reference node 77, which the file does not have");
    check_bad(TWO_HEX RIGHT "*COUPLING, REF NODE=ALL, SURFACE=right\n*KINEMATIC\n",
              "no reference node 'ALL'");
    check_bad(TWO_HEX COUPLED(""), "*COUPLING without *KINEMATIC or *DISTRIBUTING after it");
    check_bad(TWO_HEX "*KINEMATIC\n", "*KINEMATIC without *COUPLING before it");
    check_bad(TWO_HEX "*COUPLING, SURFACE=right\n", "*COUPLING needs REF NODE=NODE");
    check_bad(TWO_HEX COUPLED("*KINEMATIC\n1, 7\n"), "components 1 to 7 of a coupling");
}

#define SECTION(set, name) "*SOLID SECTION, ELSET=" set ", MATERIAL=" name "\n"
#define STEEL "*MATERIAL, NAME=Steel\n*DENSITY\n7.85e-9\n*ELASTIC\n210000., 0.3\n"

static void check_material(const char *text, const char *want)
{
    hx_mesh mesh;
    read_good(text, &mesh);
    const hx_file_material *const m = &stated.material;
    if (want)
        CHECK_MSG(m->fault && strstr(m->fault, want), "%s; wanted: %s",
                  m->fault ? m->fault : "none", want);
    else
        CHECK_MSG(m->name && !m->fault, "%s", m->fault ? m->fault : "none");
    hx_mesh_free(&mesh);
}

/* Checks the only other material of the file, and that its set has one element. */
static void check_other(const char *text, const char *name, const char *set, double young,
                        double density)
{
    hx_mesh mesh;
    read_good(text, &mesh);
    const hx_file_material *const m = &stated.material;
    CHECK_MSG(!m->fault && m->n_other == 1, "%s", m->fault ? m->fault : "another number");
    for (size_t i = 0; i < m->n_other; i++) {
        const hx_file_other_material *const other = &m->other[i];
        const hx_set *const found = hx_mesh_find_set(&mesh, other->set);
        CHECK_MSG(strcmp(other->name, name) == 0 && strcmp(other->set, set) == 0, "%s of %s",
                  other->name, other->set);
        CHECK(other->of.young == young && other->of.poisson == 0.3);
        CHECK(other->of.density == density || (isnan(density) && isnan(other->of.density)));
        CHECK(found && found->n_elem == 1);
    }
    hx_mesh_free(&mesh);
}

/* The material of the first element is the file's, and other sections have sets: their own, or a
 * new one if a later section takes some of their elements. */
static void check_two_materials(void)
{
    check_other(TWO_HEX "*ELSET, ELSET=b\n2\n" SECTION("ALL", "Steel") SECTION("b", "soft") STEEL
                "*MATERIAL, NAME=soft\n*ELASTIC\n1., 0.3\n",
                "soft", "b", 1.0, NAN);
    CHECK(strcmp(stated.material.name, "Steel") == 0 && stated.material.young == 210000.0);
    check_other(TWO_HEX "*ELSET, ELSET=a\n1\n" SECTION("ALL", "Steel") SECTION("a", "soft") STEEL
                "*MATERIAL, NAME=soft\n*ELASTIC\n1., 0.3\n",
                "Steel", "material-Steel", 210000.0, 7.85e-9);
    CHECK(strcmp(stated.material.name, "soft") == 0 && stated.material.young == 1.0);
    check_material(TWO_HEX "*ELSET, ELSET=b\n2\n" SECTION("ALL", "Steel") SECTION("b", "soft") STEEL
                   "*MATERIAL, NAME=soft\n*ELASTIC, TYPE=ORTHOTROPIC\n1, 2, 3\n",
                   "of the set 'b': TYPE=ORTHOTROPIC");
}

static void test_materials(void)
{
    check_material(TWO_HEX SECTION("ALL", "steel") STEEL, NULL);
    CHECK(stated.material.young == 210000.0 && stated.material.poisson == 0.3);
    CHECK(stated.material.density == 7.85e-9 && isnan(stated.material.conductivity));
    check_material(TWO_HEX SECTION("ALL", "M") "*MATERIAL, NAME=M\n*CONDUCTIVITY\n45.\n", NULL);
    CHECK(stated.material.conductivity == 45.0 && isnan(stated.material.young));
    check_material(
        TWO_HEX "*ELSET, ELSET=b\n2\n" SECTION("ALL", "Steel") SECTION("b", "other") STEEL
        "*MATERIAL, NAME=other\n*ELASTIC, TYPE=ISOTROPIC\n2.1e5, 0.3\n*DENSITY\n7.85e-9\n",
        NULL); /* the same material under another name */
    CHECK(stated.material.n_other == 0);
    check_two_materials();
    check_material(TWO_HEX "*ELSET, ELSET=b\n2\n" SECTION("b", "Steel") STEEL,
                   "element 1 has no *SOLID SECTION");
    check_material(TWO_HEX STEEL, "no *SOLID SECTION assigns a material");
    check_material(TWO_HEX SECTION("ALL", "Iron") STEEL,
                   "case.inp:17: there is no *MATERIAL named 'Iron'");
    check_material(
        TWO_HEX SECTION("ALL", "M") "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.3, 20.\n2., 0.3, 99.\n",
        "case.inp:19: *ELASTIC of material 'M', of the set 'ALL': it depends on temp");
    check_material(
        TWO_HEX SECTION("ALL", "M") "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ORTHOTROPIC\n1, 2, 3\n",
        "of the set 'ALL': TYPE=ORTHOTROPIC");
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_steps();
    test_single_faces();
    test_flat_sides();
    test_named_twice();
    test_mass_loads();
    test_couplings();
    test_rotations_of_bodies();
    test_coupled_middles();
    test_pin();
    test_late_new();
    test_renewed_reference();
    test_faults();
    test_unread_couplings();
    test_reference_sets();
    test_coupling_faults();
    test_materials();
    remove_folder();
    TEST_END();
}
