/* Thread blocks reordered for products in parts: every block occurs once, those with interface
 * points first. Also checks that all operators of GPUs support products in parts. */
#include "core/operator/block_split.h"
#include "tests/lib/fixture.h"

/* Every block occurs once, both groups are ascending, and the marked ones come first. */
static void check_split(const hx_block_split *split, int64_t n_block, const uint8_t *is_boundary)
{
    int64_t n_wrong = split->n_block != n_block, n_marked = 0;
    for (int64_t b = 0; b < n_block; b++) n_marked += is_boundary[b];
    n_wrong += split->n_boundary != n_marked;
    for (int64_t i = 0; n_wrong == 0 && i < n_block; i++) {
        const int is_first = i == 0 || i == split->n_boundary;
        n_wrong += is_boundary[split->block[i]] != (i < split->n_boundary);
        n_wrong += !is_first && split->block[i] <= split->block[i - 1];
    }
    CHECK_MSG(n_wrong == 0, "%lld blocks, %lld of the boundary", (long long)n_block,
              (long long)split->n_boundary);
}

static void check_elements(const hx_mesh *mesh, int64_t n_interface, const int32_t *interface,
                           int64_t each)
{
    const int64_t n_block = (mesh->n_elem + each - 1) / each;
    uint8_t *const mark = calloc((size_t)n_block, 1);
    hx_block_split split;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int k = 0; k < 8; k++)
            for (int64_t i = 0; i < n_interface; i++)
                mark[e / each] |= (uint8_t)(mesh->conn[8 * e + k] == interface[i]);
    CHECK_OK(hx_block_split_elements(&split, mesh, n_interface, interface, each));
    check_split(&split, n_block, mark);
    hx_block_split_free(&split);
    free(mark);
}

static void check_rows(int64_t n_point, int64_t n_interface, const int32_t *interface,
                       int components, int64_t each)
{
    const int64_t n_row = components * n_point, n_block = (n_row + each - 1) / each;
    uint8_t *const mark = calloc((size_t)n_block, 1);
    hx_block_split split;
    for (int64_t row = 0; row < n_row; row++)
        for (int64_t i = 0; i < n_interface; i++)
            mark[row / each] |= (uint8_t)(row / components == interface[i]);
    CHECK_OK(hx_block_split_rows(&split, n_point, n_interface, interface, components, each));
    check_split(&split, n_block, mark);
    hx_block_split_free(&split);
    free(mark);
}

static void check_orders(void)
{
    static const int64_t each[] = {1, 4, 16, 21, 512};
    const fixture_box box = {{7, 5, 6}, {7.0, 5.0, 6.0}, 0.0, 0};
    const int32_t interface[] = {200, 3, 77, 78, 335, 160}; /* of 336 nodes, unsorted */
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK(mesh.n_node == 336);
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        for (int64_t n = 0; n <= 6; n += 3) {
            check_elements(&mesh, n, interface, each[k]);
            check_rows(mesh.n_node, n, interface, 1, each[k]);
            check_rows(mesh.n_node, n, interface, 3, each[k]);
        }
    hx_mesh_free(&mesh);
}

static void check_operator_kind(const hx_operator_kind *op_kind)
{
    CHECK_MSG(op_kind->apply_part, "operator '%s' of a GPU has no product in parts", op_kind->name);
    CHECK_MSG(!op_kind->apply_single || op_kind->apply_part_single,
              "operator '%s' of a GPU has no product in parts in single precision", op_kind->name);
}

/* The tables of GPU operators can be read without a GPU. */
static void check_registry(void)
{
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, "cpu") == 0) continue;
        check_operator_kind(op_kind);
        if (op_kind->scalar) check_operator_kind(op_kind->scalar);
    }
}

int main(void)
{
    check_orders();
    check_registry();
    TEST_END();
}
