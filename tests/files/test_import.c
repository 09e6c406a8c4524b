/* From a file's numbers to a mesh: lookup, nodes and cells that are left out, sets, messages. */
#include <stdlib.h>
#include <string.h>

#include "core/files/mesh_import.h"
#include "tests/lib/test.h"

/* Two cubes side by side in x, and a node that belongs to no cube. Node k has the number
 * number_of(k). */
typedef struct sample {
    hx_import import;
    hx_mesh mesh;
    hx_notes notes;
} sample;

static const int64_t sparse = 5000000000;

static int64_t dense_number(int64_t k)
{
    return 100 - 3 * k;
}

static int64_t far_number(int64_t k)
{
    return (k * 7919 % 13) * sparse + 5;
}

static int64_t run_number(int64_t k)
{
    return k + 1;
}

static void open_sample(sample *s, int64_t (*number_of)(int64_t), int64_t first_line)
{
    static const int corner[8] = {0, 1, 4, 3, 6, 7, 10, 9}; /* of the first cube, of 3 x 2 x 2 */
    int64_t node[8], number[2] = {17, 40};
    memset(s, 0, sizeof *s);
    CHECK_OK(hx_import_open(&s->import, "dir/part.msh", &s->notes));
    for (int64_t k = 0; k < 13; k++) {
        const double stray[3] = {9.0, 9.0, 9.0};
        const double xyz[3] = {(double)(k % 3), (double)(k / 3 % 2), (double)(k / 6)};
        const int64_t node_number = number_of(k);
        CHECK_OK(hx_import_add_nodes(&s->import, 1, &node_number, k == 4 ? stray : xyz,
                                     first_line > 0 ? first_line + k : 0));
        if (k < 12) continue;
        const double missing[3] = {1.0, 1.0, 0.0}; /* the last node takes the place of node 4 */
        memcpy(s->import.xyz + 3 * k, missing, sizeof missing);
    }
    for (int e = 0; e < 2; e++) {
        for (int i = 0; i < 8; i++) node[i] = number_of(corner[i] + e == 4 ? 12 : corner[i] + e);
        CHECK_OK(hx_import_add_solids(&s->import, HX_SOLID_HEX8, 1, &number[e], node,
                                      first_line > 0 ? first_line + 20 + e : 0));
    }
}

static void free_sample(sample *s)
{
    hx_mesh_free(&s->mesh);
    hx_import_free(&s->import);
    hx_notes_free(&s->notes);
}

static int has_warning(const sample *s, const char *text)
{
    int any = 0;
    for (size_t i = 0; i < s->notes.n; i++)
        any |= s->notes.note[i].level == HX_NOTE_WARNING && strstr(s->notes.note[i].text, text);
    return any;
}

static void append(hx_numbers *list, int64_t number)
{
    CHECK_OK(hx_numbers_append(list, 1, &number));
}

static void test_numbers(int64_t (*number_of)(int64_t))
{
    sample s;
    hx_import_set *set;
    open_sample(&s, number_of, 0);
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_LINE, "line", 1, 0));
    CHECK_OK(hx_import_set_named(&s.import, "a", &set));
    append(&set->node, number_of(3));
    append(&set->node, number_of(4)); /* the stray one */
    append(&set->elem, 40);
    append(&set->elem, 41); /* a line, perhaps */
    append(&set->face_elem, 17);
    append(&set->face_local, 4);
    static const int quad[2][4] = {{2, 5, 11, 8}, {0, 1, 2, 12}}; /* x = 2; no face */
    CHECK_OK(hx_import_set_named(&s.import, "right", &set));
    for (int i = 0; i < 8; i++) append(&set->quad, number_of(quad[i / 4][i % 4]));
    CHECK_OK(hx_import_finish(&s.import, &s.mesh));
    CHECK(s.mesh.n_node == 12 && s.mesh.n_elem == 2);
    CHECK(strcmp(s.mesh.name, "part.msh") == 0);
    for (int64_t k = 0; k < 13; k++) {
        const int64_t a = hx_import_node_index(&s.import, number_of(k));
        CHECK(a == (k == 4 ? -1 : k > 4 ? k - 1 : k));
        if (a >= 0) CHECK(hx_mesh_node_number(&s.mesh, a) == number_of(k));
    }
    CHECK(hx_import_node_index(&s.import, 12345) == -1);
    CHECK(hx_import_elem_index(&s.import, 40) == 1);
    CHECK_OK(hx_mesh_reorder(&s.mesh));
    CHECK_OK(hx_mesh_shuffle(&s.mesh, 3));
    CHECK_OK(hx_mesh_finish(&s.mesh));
    CHECK_REL(s.mesh.total_volume, 2.0, 1e-14);
    int64_t sum = 0;
    for (int64_t a = 0; a < 12; a++) sum += hx_mesh_node_number(&s.mesh, a);
    for (int64_t k = 0; k < 13; k++) sum -= k == 4 ? 0 : number_of(k);
    CHECK(sum == 0);

    const hx_set *const a = hx_mesh_find_set(&s.mesh, "a");
    const hx_set *const right = hx_mesh_find_set(&s.mesh, "right");
    CHECK(a && a->n_elem == 1 && hx_mesh_elem_number(&s.mesh, a->elem[0]) == 40);
    CHECK(a && a->n_face == 1 && hx_mesh_elem_number(&s.mesh, a->face[0] / 6) == 17);
    CHECK(right && right->n_node == 4 && right->n_face == 1 && right->n_elem == 0);
    if (right && right->n_face == 1) CHECK(hx_mesh_elem_number(&s.mesh, right->face[0] / 6) == 40);
    for (int64_t i = 0; right && i < right->n_node; i++)
        CHECK_ABS(s.mesh.xyz[3 * (int64_t)right->node[i]], 2.0, 0.0);
    CHECK_MSG(s.notes.n == 5, "%zu notes", s.notes.n);
    free_sample(&s);
}

static void test_refusals(void)
{
    sample s;
    hx_import_set *set;
    const int64_t again = 17, corner[8] = {1, 2, 3, 4, 5, 6, 7, 999};
    const double xyz[3] = {0.0, 0.0, 0.0};

    open_sample(&s, run_number, 10);
    CHECK_OK(hx_import_add_solids(&s.import, HX_SOLID_HEX8, 1, &again, corner, 32));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT,
                "dir/part.msh:32: a second element with the number 17");
    free_sample(&s);

    open_sample(&s, run_number, 10);
    CHECK_OK(hx_import_add_nodes(&s.import, 1, &again, xyz, 23));
    CHECK_OK(hx_import_add_nodes(&s.import, 1, &again, xyz, 24));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT,
                "dir/part.msh:24: a second node with the number 17");
    free_sample(&s);

    open_sample(&s, run_number, 10);
    const int64_t other = 41;
    CHECK_OK(hx_import_add_solids(&s.import, HX_SOLID_HEX8, 1, &other, corner, 32));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT,
                "dir/part.msh:32: element 41 names node 999, which the file does not have");
    free_sample(&s);

    open_sample(&s, run_number, 0);
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_QUADRANGLE, "S4", 50, 0));
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_OTHER, "SC8R", 51, 0));
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_OTHER, "SC8R", 52, 0));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT,
                "dir/part.msh: element 51 is a SC8R (the file has 2 of this type and 2 solids that "
                "are read)");
    free_sample(&s);

    open_sample(&s, run_number, 0);
    s.import.order_hint = "say C3D20";
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_HIGH_ORDER, "hex64", 51, 77));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT, "say C3D20");
    free_sample(&s);

    open_sample(&s, run_number, 0);
    CHECK_OK(hx_import_set_named(&s.import, "hole", &set));
    append(&set->elem, 41);
    CHECK_OK(hx_import_finish(&s.import, &s.mesh));
    CHECK(has_warning(&s,
                      "set 'hole' names elements that the file does not have, which are left out: "
                      "1, the first is 41"));
    free_sample(&s);

    open_sample(&s, run_number, 0);
    CHECK_OK(hx_import_set_named(&s.import, "hole", &set));
    append(&set->node, 14);
    CHECK_OK(hx_import_finish(&s.import, &s.mesh));
    CHECK(has_warning(&s, "set 'hole' names nodes that the file does not have"));
    free_sample(&s);

    open_sample(&s, run_number, 0);
    CHECK_OK(hx_import_set_named(&s.import, "hole", &set));
    for (int k = 0; k < 4; k++) append(&set->quad, 14);
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT, "set 'hole' names node 14");
    free_sample(&s);

    memset(&s, 0, sizeof s);
    CHECK_OK(hx_import_open(&s.import, "empty.inp", NULL));
    CHECK_OK(hx_import_add_other(&s.import, HX_SHAPE_QUADRANGLE, "S4", 1, 0));
    CHECK_FAILS(hx_import_finish(&s.import, &s.mesh), HX_EINPUT,
                "no solid element among 0 nodes and cells such as S4");
    free_sample(&s);
}

/* A list changes its representation: a run, 32-bit numbers, 64-bit numbers. */
static void test_number_list(void)
{
    hx_numbers list = {0}, copy = {0};
    const int64_t large = INT64_MAX / 2, far = 1 - large;
    CHECK_OK(hx_numbers_append_run(&list, 1000, 5));
    CHECK_OK(hx_numbers_append_run(&list, 1000, 1005));
    CHECK(hx_numbers_is_run(&list) && hx_numbers_bytes(&list) == 0);
    CHECK_OK(hx_numbers_append_run(&list, 3000, 7));
    CHECK(list.narrow && hx_numbers_get(&list, 1999) == 2004 &&
          hx_numbers_get(&list, 4999) == 3006);
    CHECK_OK(hx_numbers_append(&list, 1, &far));
    CHECK(list.wide && hx_numbers_get(&list, 4999) == 3006 && hx_numbers_get(&list, 5000) == far);
    CHECK_OK(hx_numbers_copy(&copy, &list));
    CHECK(copy.n == 5001 && hx_numbers_get(&copy, 5000) == far && hx_numbers_get(&copy, 0) == 5);
    CHECK_FAILS(hx_numbers_append(&list, 1, &(int64_t){INT64_MAX}), HX_EINPUT, "out of range");
    hx_numbers_free(&list);
    hx_numbers_free(&copy);
}

int main(void)
{
    test_number_list();
    test_numbers(run_number);
    test_numbers(dense_number);
    test_numbers(far_number);
    test_refusals();
    TEST_END();
}
