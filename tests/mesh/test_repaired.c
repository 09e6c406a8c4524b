/* Inverted elements: corrected by another order of their nodes, and refused if a node lies outside
 * the elements around it, so that corrected elements would overlap others. */
#include <stdlib.h>
#include <string.h>

#include "core/mesh/mesh.h"
#include "core/mesh/mesh_check.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static int make(hx_mesh *mesh, int64_t n_node, const double (*xyz)[3], int64_t n_elem,
                const int32_t (*conn)[8])
{
    double *const x = malloc((size_t)n_node * sizeof *xyz);
    int32_t *const c = malloc((size_t)n_elem * sizeof *conn);
    if (!x || !c) abort();
    memcpy(x, xyz, (size_t)n_node * sizeof *xyz);
    memcpy(c, conn, (size_t)n_elem * sizeof *conn);
    return hx_mesh_create(mesh, "made", n_node, x, n_elem, c);
}

/* Every third cell mirrored, as written by programs with the opposite orientation; a flat cell is
 * left for hx_mesh_finish to report. */
static void test_mirrored(void)
{
    static const int exchanged[8] = {4, 5, 6, 7, 0, 1, 2, 3};
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {(mixed_kind)kind, {3, 4, 7}, {3.0, 3.0, 8.0}, 0.15, 6};
        hx_mesh mesh;
        hx_notes notes = {0};
        uint8_t *order = NULL;
        int64_t wrong = 0;
        CHECK_OK(mixed_create(&mesh, &box));
        for (int64_t e = 0; e < mesh.n_elem; e += 3) {
            int32_t conn[8];
            for (int a = 0; a < 8; a++) conn[a] = mesh.conn[8 * e + exchanged[a]];
            memcpy(mesh.conn + 8 * e, conn, sizeof conn);
        }
        CHECK_OK(hx_mesh_repair_order(&mesh, &order, &notes));
        CHECK(order != NULL && notes.n == 1 && strstr(notes.note[0].text, "element 0)"));
        for (int64_t e = 0; order && e < mesh.n_elem; e++)
            wrong += order[e] != (e % 3 == 0 ? HX_ORDER_MIRRORED : HX_ORDER_VTK);
        CHECK_MSG(wrong == 0, "%s: %lld", mixed_name[kind], (long long)wrong);
        CHECK_OK(hx_mesh_check_repaired(&mesh, order));
        free(order);
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_REL(mesh.total_volume, 72.0, 1e-13);
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
    const double flat[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    static const int32_t cell[1][8] = {{0, 1, 2, 2, 3, 3, 3, 3}};
    hx_mesh mesh;
    uint8_t *order = NULL;
    CHECK_OK(make(&mesh, 4, flat, 1, cell));
    CHECK_OK(hx_mesh_repair_order(&mesh, &order, NULL));
    CHECK(order == NULL);
    CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "element 0 is inverted or degenerate");
    CHECK(strstr(hx_error_message(), "mirrored") == NULL);
    hx_mesh_free(&mesh);
}

/* Mirrors the corners of an element. */
static void mirror_element(hx_mesh *mesh, int64_t e)
{
    int32_t conn[8];
    for (int a = 0; a < 8; a++) conn[a] = mesh->conn[8 * e + (a + 4) % 8];
    memcpy(mesh->conn + 8 * e, conn, sizeof conn);
}

/* A box of one kind of cell, whose node at (1, 1, 1) is raised by `height`. mirrored = 1: all
 * elements are mirrored. */
static void make_star(hx_mesh *mesh, int kind, double height, int mirrored, int32_t *centre)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {3, 3, 3}};
    CHECK_OK(mixed_create(mesh, &box));
    *centre = mixed_node(&box, 1, 1, 1);
    CHECK(mesh->xyz[3 * *centre] == 1.0 && mesh->xyz[3 * *centre + 2] == 1.0);
    mesh->xyz[3 * *centre + 2] += height;
    for (int64_t e = 0; mirrored && e < mesh->n_elem; e++) mirror_element(mesh, e);
}

/* A node outside the elements around it: each element inverted by it could be corrected, but would
 * then overlap its neighbours; also if the file has all other elements mirrored. */
static void test_outside(int kind, int mirrored)
{
    hx_mesh mesh;
    uint8_t *order = NULL;
    int32_t centre;
    char text[80];
    make_star(&mesh, kind, 0.2, mirrored, &centre); /* still inside */
    CHECK_OK(hx_mesh_repair_order(&mesh, &order, NULL));
    CHECK((order != NULL) == mirrored);
    if (order) CHECK_OK(hx_mesh_check_repaired(&mesh, order));
    free(order);
    hx_mesh_free(&mesh);
    make_star(&mesh, kind, 1.3, mirrored, &centre);
    CHECK_OK(hx_mesh_repair_order(&mesh, &order, NULL));
    CHECK(order != NULL);
    snprintf(text, sizeof text, "node %d at (1, 1, 2.3) seems to lie outside", (int)centre);
    CHECK_FAILS(hx_mesh_check_repaired(&mesh, order), HX_EINPUT, text);
    CHECK_MSG(strstr(hx_error_message(), "lie on the same side of the face that they share") !=
                  NULL,
              "%s", hx_error_message());
    free(order);
    hx_mesh_free(&mesh);
}

/* An element that occurs twice, once mirrored, is a different error. */
static void test_repaired_twin(void)
{
    static const double xyz[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int32_t cell[2][8] = {{0, 1, 2, 2, 3, 3, 3, 3}, {0, 2, 1, 1, 3, 3, 3, 3}};
    hx_mesh mesh;
    uint8_t *order = NULL;
    CHECK_OK(make(&mesh, 4, xyz, 2, cell));
    CHECK_OK(hx_mesh_repair_order(&mesh, &order, NULL));
    CHECK(order && order[0] == HX_ORDER_VTK && order[1] == HX_ORDER_MIRRORED);
    if (order) CHECK_OK(hx_mesh_check_repaired(&mesh, order));
    free(order);
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_FAILS(hx_mesh_check_conforming(&mesh, 0, NULL), HX_EINPUT, "have the same nodes");
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_mirrored();
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        test_outside(MIXED_TETRAHEDRA, mirrored);
        test_outside(MIXED_TETRAHEDRA_5, mirrored);
    }
    test_repaired_twin();
    TEST_END();
}
