/* Meshes written as .inp and read again: sets, kinds of cells, names and numbers. */
#include "core/files/abaqus_write.h"
#include "core/files/mesh_files.h"
#include "tests/lib/abaqus_case.h"

static void check_same_list(const char *name, const void *a, int64_t n_a, const void *b,
                            int64_t n_b, size_t size)
{
    CHECK_MSG(n_a == n_b && (n_a == 0 || memcmp(a, b, (size_t)n_a * size) == 0),
              "%s: %lld and %lld members", name, (long long)n_a, (long long)n_b);
}

/* Blanks are '_' in the file. */
static const char *word_of(const char *name)
{
    static char word[64];
    snprintf(word, sizeof word, "%s", name);
    for (char *c = word; *c; c++)
        if (*c == ' ') *c = '_';
    return word;
}

static void check_same_mesh(const hx_mesh *a, const hx_mesh *b)
{
    CHECK(a->n_node == b->n_node && a->n_elem == b->n_elem && a->n_set == b->n_set);
    check_same_list("conn", a->conn, 8 * a->n_elem, b->conn, 8 * b->n_elem, sizeof *a->conn);
    double off = 0.0;
    for (int64_t i = 0; i < 3 * a->n_node; i++) test_worst(&off, fabs(a->xyz[i] - b->xyz[i]));
    CHECK_ABS(off, 0.0, 1e-13);
    for (size_t i = 0; i < a->n_set; i++) {
        const hx_set *const p = &a->set[i], *const q = find(b, word_of(p->name));
        check_same_list(p->name, p->node, p->n_node, q->node, q->n_node, sizeof *p->node);
        check_same_list(p->name, p->elem, p->n_elem, q->elem, q->n_elem, sizeof *p->elem);
        check_same_list(p->name, p->face, p->n_face, q->face, q->n_face, sizeof *p->face);
    }
}

static void make_round_mesh(hx_mesh *mesh)
{
    const int64_t face[] = {0, 7, 13, 52};
    const int32_t elem[] = {1, 4, 9, 2, 20}, node[] = {5, 17, 3};
    make_box(mesh, 4, 3, 2);
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) mesh->xyz[i] += 0.01 * sin(7.0 * (double)i);
    CHECK_OK(hx_mesh_add_face_set(mesh, "loaded", 4, face));
    CHECK_OK(hx_mesh_add_elem_set(mesh, "ring", 5, elem));
    CHECK_OK(hx_mesh_add_node_set(mesh, "dots", 3, node));
    CHECK_OK(hx_mesh_add_node_set(mesh, "mixed", 3, node));
    CHECK_OK(hx_mesh_add_elem_set(mesh, "mixed", 5, elem));
}

static void test_round_trip(void)
{
    hx_mesh original, mesh, again;
    make_round_mesh(&original);
    make_round_mesh(&mesh);
    CHECK_OK(hx_mesh_finish(&original));
    for (int order = 0; order < 2; order++) {
        if (order > 0) CHECK_OK(hx_mesh_shuffle(&mesh, 3));
        if (order > 0) CHECK_OK(hx_mesh_reorder(&mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK_OK(hx_abaqus_write(in_folder("round.inp"), &mesh, "round trip", NULL, 3.0));
        CHECK_OK(hx_abaqus_read(in_folder("round.inp"), &again, NULL, NULL));
        CHECK_OK(hx_mesh_finish(&again));
        check_same_mesh(&original, &again);
        hx_mesh_free(&again);
        hx_mesh_free(&mesh);
        make_round_mesh(&mesh);
    }
    hx_mesh_free(&mesh);
    hx_mesh_free(&original);
}

/* Numbers of the file are kept; names become single words. */
static void test_names_and_numbers(void)
{
    hx_mesh mesh, again;
    read_good("*NODE\n10,0,0,0\n20,1,0,0\n30,1,1,0\n40,0,1,0\n50,0,0,1\n60,1,0,1\n70,1,1,1\n"
              "80,0,1,1\n*ELEMENT, TYPE=C3D8\n500,10,20,30,40,50,60,70,80\n"
              "*NSET, NSET=\"a b\"\n10\n*NSET, NSET=\"a,b\"\n20\n*NSET, NSET=\"1st\"\n30\n"
              "*NSET, NSET=NALL\n40\n",
              &mesh);
    CHECK_OK(hx_abaqus_write(in_folder("names.inp"), &mesh, "", NULL, 3.0));
    CHECK_OK(hx_abaqus_read(in_folder("names.inp"), &again, NULL, NULL));
    CHECK_OK(hx_mesh_finish(&again));
    CHECK(hx_mesh_node_number(&again, 7) == 80 && hx_mesh_elem_number(&again, 0) == 500);
    check_set(&again, "a_b", 1, 10, 0, 0);
    check_set(&again, "a_b_2", 1, 20, 0, 0);
    check_set(&again, "S_1st", 1, 30, 0, 0);
    check_set(&again, "NALL_2", 1, 40, 0, 0);
    hx_mesh_free(&again);
    hx_mesh_free(&mesh);
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_round_trip();
    test_names_and_numbers();
    remove_folder();
    TEST_END();
}
