/* Parts and instances of Abaqus input files: placement, numbers, names and every message. */
#include <math.h>

#include "tests/lib/abaqus_case.h"

#define PART(name, more) "*PART, NAME=" name "\n" ONE_HEX more "*END PART\n"
#define WALLS "*NSET, NSET=wall\n1, 4, 5, 8\n*SURFACE, NAME=end\n1, S4\n"

static double coordinate(const hx_mesh *mesh, int64_t number, int i)
{
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (hx_mesh_node_number(mesh, a) == number) return mesh->xyz[3 * a + i];
    return (double)NAN;
}

/* One part in three places: unmoved, translated, and translated and rotated. */
static void test_places(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    read_good(PART("P", WALLS) "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=P-1, PART=P\n*END INSTANCE\n"
                               "*INSTANCE, NAME=P-2, PART=p\n0., 0., 5.\n*END INSTANCE\n"
                               "*INSTANCE, NAME=\"Last 3.x\", PART=P\n10., 0., 0.\n"
                               "10., 0., 0., 10., 0., 2.5, 90.\n*END INSTANCE\n"
                               "*NSET, NSET=pulled, INSTANCE=P-2\n2, wall\n*NSET, NSET=pulled, "
                               "INSTANCE=p-1\n7\n*NSET, NSET=dots\nP-1.1, \"Last 3.x\".3, "
                               "\"Last 3.x.wall\"\n"
                               "*NSET, NSET=some, INSTANCE=P-2, GENERATE, UNSORTED, INTERNAL\n"
                               "2, 8, 3\n*ELSET, ELSET=pair\nP-2.ALL, P-1.1\n"
                               "*SURFACE, NAME=ends\nP-1.ALL, S1\n\"Last 3.x\".ALL, S4\n"
                               "*SURFACE, NAME=nodes, TYPE=NODE\nP-2.wall\n*END ASSEMBLY\n",
              &mesh);
    CHECK(mesh.n_node == 24 && mesh.n_elem == 3);
    CHECK(coordinate(&mesh, 13, 0) == 1.0 && coordinate(&mesh, 13, 2) == 0.0);
    CHECK(coordinate(&mesh, 23, 0) == 1.0 && coordinate(&mesh, 23, 2) == 5.0);
    CHECK_REL(coordinate(&mesh, 33, 0), 9.0, 1e-12); /* (11, 1, 0) rotated about z at x = 10 */
    CHECK_REL(coordinate(&mesh, 33, 1), 1.0, 1e-12);
    check_set(&mesh, "P-1.wall", 4, 11 + 14 + 15 + 18, 0, 0);
    check_set(&mesh, "P-2.ALL", 8, 8 * 20 + 36, 1, 0);
    check_set(&mesh, "P-2.end", 4, 4 * 20 + 2 + 3 + 6 + 7, 0, 1);
    check_set(&mesh, "pulled", 6, 17 + 22 + 4 * 20 + 18, 0, 0);
    check_set(&mesh, "dots", 6, 11 + 33 + 4 * 30 + 18, 0, 0);
    check_set(&mesh, "some", 3, 22 + 25 + 28, 0, 0);
    check_set(&mesh, "pair", 16, 8 * 30 + 72, 2, 0);
    check_set(&mesh, "ends", 8, 4 * 10 + 10 + 4 * 30 + 18, 0, 2);
    check_set(&mesh, "nodes", 4, 4 * 20 + 18, 0, 0);
    hx_mesh_free(&mesh);

    CHECK_OK(read_text(PART("P", "") "*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n*INSTANCE, NAME=B, "
                                     "PART=P\n3., 0., 0.\n*END INSTANCE\n",
                       &mesh, &notes));
    CHECK(notes.n == 2 &&
          strstr(notes.note[1].text,
                 "instance B: node and element N of the instance has the number 20 + "));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

/* The matrix of a rotation about any axis preserves the axis, and rotates by the angle. */
static void test_rotation(void)
{
    hx_mesh mesh;
    read_good(PART("P", "") "*INSTANCE, NAME=A, PART=P\n1., 2., 3.\n1., 2., 3., 2., 3., 4., 120.\n"
                            "*END INSTANCE\n",
              &mesh); /* (1, 0, 0) becomes (0, 1, 0), seen from (1, 2, 3) */
    const double want[3] = {1.0, 3.0, 3.0};
    for (int i = 0; i < 3; i++) CHECK_REL(coordinate(&mesh, 2, i), want[i], 1e-12);
    hx_mesh_free(&mesh);
}

/* One instance: its numbers are used, and its names if the assembly has no such set. */
static void test_one_instance(void)
{
    hx_mesh mesh;
    read_good(
        PART("P",
             "*NSET, NSET=Set-1\n1, 2, 3\n*NSET, NSET=own\n4\n") "*ASSEMBLY, NAME=A\n*INSTANCE, "
                                                                 "NAME=P-1, PART=P\n*END "
                                                                 "INSTANCE\n*NODE\n1, 5., 5., 5.\n"
                                                                 "*NSET, NSET=Set-1, "
                                                                 "INSTANCE=P-1\n8\n*NSET, "
                                                                 "NSET=point\n1\n*END ASSEMBLY\n",
        &mesh);
    CHECK(mesh.n_node == 8 && hx_mesh_node_number(&mesh, 7) == 8);
    check_set(&mesh, "Set-1", 1, 8, 0, 0);
    check_set(&mesh, "P-1.Set-1", 3, 6, 0, 0);
    check_set(&mesh, "own", 1, 4, 0, 0);
    check_set(&mesh, "point", 0, 0, 0, 0);
    hx_mesh_free(&mesh);
    read_good(PART("P", WALLS), &mesh); /* a single part */
    check_set(&mesh, "wall", 4, 18, 0, 0);
    hx_mesh_free(&mesh);
    read_good("*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I\n" ONE_HEX WALLS
              "*END INSTANCE\n*END ASSEMBLY\n",
              &mesh); /* a mesh of its own */
    check_set(&mesh, "wall", 4, 18, 0, 0);
    hx_mesh_free(&mesh);
    write_bytes(in_folder("part.inc"), ONE_HEX WALLS, strlen(ONE_HEX WALLS));
    read_good("*PART, NAME=P\n*INCLUDE, INPUT=part.inc\n*END PART\n*INSTANCE, NAME=A, PART=P\n"
              "*END INSTANCE\n*INSTANCE, NAME=B, PART=P\n2., 0., 0.\n*END INSTANCE\n",
              &mesh);
    check_set(&mesh, "B.wall", 4, 98, 0, 0);
    hx_mesh_free(&mesh);
}

#define TWO                                                                                        \
    PART("P", WALLS)                                                                               \
    "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n*INSTANCE, NAME=B, PART=P\n"     \
    "3., 0., 0.\n*END INSTANCE\n"

static void test_messages(void)
{
    check_bad("*PART, NAME=A\n*END PART\n*PART, NAME=B\n", "*END PART of part 'B' is missing");
    check_bad("*PART, NAME=A\n*END PART\n*PART, NAME=a\n",
              "case.inp:3: a second part with the name");
    check_bad("*PART, NAME=A\n*PART, NAME=B\n*END PART\n*INSTANCE, NAME=I, PART=A\n*END INSTANCE\n",
              "case.inp:2: *PART within a part");
    check_bad(PART("A", "") PART("B", ""), "2 parts but no *INSTANCE");
    check_bad("*INSTANCE, NAME=A\n1., 0., 0.\n",
              "case.inp:1: *END INSTANCE of instance 'A' is missing");
    check_bad("*INSTANCE, NAME=A\n*INSTANCE, NAME=B\n", "*INSTANCE within a part or an instance");
    check_bad("*INSTANCE, NAME=A, PART=P\n",
              "case.inp:1: *INSTANCE of part 'P', which is not defined");
    check_bad("*INSTANCE, NAME=A, LIBRARY=job\n", "*INSTANCE from another job's results");
    check_bad("*INSTANCE, NAME=A\n*END INSTANCE\n*INSTANCE, NAME=a\n", "a second instance with");
    check_bad("*INSTANCE, NAME=A\n0., x, 0.\n", "case.inp:2: 'x' where a translation is expected");
    check_bad("*INSTANCE, NAME=A\n0.\n1., 2., 3., 1., 2., 3., 90.\n",
              "case.inp:3: an axis of rotation of length 0");
    check_bad("*INSTANCE, NAME=A\n0.\n1., 2., 3., 1., 2., 4., 90.\n1.\n",
              "a third data line of *INSTANCE");
    check_bad(TWO "*NSET, NSET=s, INSTANCE=C\n", "case.inp:24: no instance 'C' above this line");
    check_bad(TWO "*NSET, NSET=s\nwall\n", "case.inp:25: no set 'wall' above this line");
    check_bad(TWO "*NSET, NSET=s\nA.nothing\n", "no set 'A.nothing' above this line");
    check_bad(TWO "*NSET, NSET=s\nC.wall\n",
              "no set 'C.wall' above this line, and no instance 'C'");
    check_bad(TWO "*NSET, NSET=s\n3\n",
              "node 3 is ambiguous: there are 2 instances; write INSTANCE.3");
    hx_mesh mesh;
    hx_notes notes = {0};
    CHECK_OK(read_text(TWO "*NSET, NSET=s\nB.99\n", &mesh, &notes));
    CHECK(notes.n > 0 && strstr(notes.note[notes.n - 1].text, "left out: 1, the first is B.99"));
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
    check_bad(TWO "*NSET, NSET=s\nB.wall, A.wall\n*SURFACE, NAME=t\nB.1, S7\n",
              "'S7' where a side");
    check_bad(
        "*PART, NAME=P\n" NODES_8 "*ELEMENT, TYPE=C3D8\n4,1,2,3,4,5,6,7,9\n*END PART\n"
        "*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n*INSTANCE, NAME=B, PART=P\n*END INSTANCE\n",
        "case.inp:12: element A.4 names node A.9, which the file does not have");
    check_bad("*PART, NAME=P\n*NODE\n1, x\n*END PART\n*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n",
              "case.inp:3: 'x' where a coordinate is expected");
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_places();
    test_rotation();
    test_one_instance();
    test_messages();
    remove_folder();
    TEST_END();
}
