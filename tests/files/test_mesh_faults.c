/* Errors in meshes from files of any format: coincident nodes, bodies that touch, cracks, hanging
 * nodes. Generated meshes have none of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/generate/generate.h"
#include "core/mesh/mesh_check.h"
#include "tests/lib/test.h"

/* --- coincident nodes --- */

/* Two boxes of n x n x n unit cubes, scaled. The second one begins at x = n + gap and y = dy. */
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
    const int32_t touching[2] = {n, n_box}; /* at one place */
    CHECK_OK(hx_mesh_add_node_set(mesh, "both", 2, touching));
}

static void test_coincident(double scale)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 4, 0.0, 0.0, scale);
    CHECK_FAILS(
        hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
        "bodies without common nodes meet at 16 pairs of equal faces (elements 3 and 64; 25 "
        "nodes coincide with another one, such as 4 and 125)");
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 0.0, NULL, &notes));
    CHECK(mesh.n_node == 250 && notes.n == 0);
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 1e-6 * scale, NULL, &notes));
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
    CHECK_OK(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, &notes));
    CHECK(notes.n == 0);
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 2e-3 * scale, NULL, &notes));
    CHECK(notes.n == 1 && mesh.n_node == 225);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* A crack: coincident nodes of one body give a warning. */
static void test_crack(void)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 4, 0.0, 0.0, 1.0);
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 1e-6, NULL, NULL));
    /* Node 4 gets a copy for element 64, so that two faces separate there. */
    double *const xyz = realloc(mesh.xyz, sizeof *xyz * 3 * 226);
    memcpy(xyz + 3 * 225, xyz + 3 * 4, 3 * sizeof *xyz);
    mesh.xyz = xyz;
    mesh.n_node = 226;
    const int64_t number = 250;
    CHECK_OK(hx_numbers_append(&mesh.node_number, 1, &number));
    for (int64_t i = 8 * 64; i < 8 * 65; i++)
        if (mesh.conn[i] == 4) mesh.conn[i] = 225;
    CHECK_OK(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, &notes));
    CHECK(notes.n == 1 && notes.note[0].level == HX_NOTE_WARNING);
    CHECK(notes.n == 1 && strstr(notes.note[0].text, "nodes 4 and 250"));
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* --- hanging nodes --- */

static void test_hanging(double dy, int hangs)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    two_boxes(&mesh, 3, 0.0, dy, 2.0);
    CHECK_OK(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, NULL));
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

/* Curved and distorted meshes without errors give no warning. */
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
        CHECK_OK(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, &notes));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_mesh_check_conforming(&mesh, 0, &notes));
        CHECK_MSG(notes.n == 0, "%s: %s", hx_generators[i]->name,
                  notes.n > 0 ? notes.note[0].text : "");
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
}

/* Moves the second of two boxes of 2 x 2 x 2 cubes: each node with integer y gets to[y]. */
static void squeeze(hx_mesh *mesh, const double to[3])
{
    for (int64_t a = 27; a < 54; a++) mesh->xyz[3 * a + 1] = to[(int)mesh->xyz[3 * a + 1]];
}

static void check_note(const hx_mesh *mesh, const char *has, const char *lacks, int helps)
{
    hx_notes notes = {0};
    int found = -1;
    CHECK_OK(hx_mesh_repair_coincident((hx_mesh *)mesh, (double)NAN, NULL, &notes));
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
    two_boxes(&mesh, 2, -2.0, 0.0, 1.0); /* the same body given twice */
    CHECK_FAILS(
        hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
        "elements 0 and 8 occupy the same place with different nodes (8 such pairs): the file "
        "contains this body twice; keep one of the two");
    CHECK_OK(hx_mesh_merge_helps(&mesh, 1e-9, &helps));
    CHECK(helps == 0);
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 2.0, 1.0); /* along an edge */
    check_note(&mesh, "no faces between them are equal; mesh.merge = 1e-09 joins the nodes",
               "crack", 1);
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 1e-9, NULL, NULL));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_mesh_check_conforming(&mesh, 0, NULL));
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 0.0, 1.0); /* two cells against one */
    squeeze(&mesh, half);
    check_note(&mesh, "are equal; merging them does not give a conforming mesh: node", "joins", 0);
    hx_mesh_free(&mesh);

    two_boxes(&mesh, 2, 0.0, 0.0, 1.0); /* equal faces beside different ones */
    squeeze(&mesh, uneven);
    CHECK_FAILS(hx_mesh_repair_coincident(&mesh, (double)NAN, NULL, NULL), HX_EINPUT,
                "meet at 2 pairs of equal faces");
    CHECK(strstr(hx_error_message(), "merging these nodes does not give a conforming mesh (node"));
    CHECK(!strstr(hx_error_message(), "joins"));
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_coincident(1.0);
    test_coincident(1e-3);
    test_crack();
    test_hanging(0.5, 1);
    test_hanging(1.0 / 3.0, 1);
    test_hanging(4.0, 0); /* no touching */
    test_hanging(3.0, 0); /* touching along an edge, conforming */
    test_generated();
    test_advice();
    TEST_END();
}
