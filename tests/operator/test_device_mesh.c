/* The mesh on a device: one copy for all users, and the resulting account of device memory.
 *
 *     test_device_mesh [cpu | cuda] */
#include "tests/lib/fixture.h"

static hx_device device;
static const hx_device_ops *whole;
static size_t allocated;
static int n_failing; /* countdown to the allocation that fails; 0: none fails */

static int counted_alloc(hx_device *dev, size_t bytes, void *d_out)
{
    if (n_failing > 0 && --n_failing == 0) {
        memset(d_out, 0, sizeof(void *));
        return HX_RAISE(HX_ENOMEM, "as the test wants it");
    }
    allocated += bytes;
    return whole->alloc(dev, bytes, d_out);
}

static size_t mesh_bytes(const hx_mesh *mesh)
{
    return (size_t)mesh->n_node * 24 + (size_t)mesh->n_elem * 32;
}

static size_t list_bytes(const hx_mesh *mesh)
{
    return ((size_t)mesh->n_node + 1) * 8 + (size_t)mesh->n_elem * 32;
}

static void test_holders(const hx_mesh *one, const hx_mesh *two)
{
    const hx_device_mesh *a, *b, *c;
    allocated = 0;
    CHECK(hx_device_mesh_find(&device, one) == NULL);
    CHECK_OK(hx_device_mesh_take(&a, &device, one));
    CHECK_OK(hx_device_mesh_take(&b, &device, two));
    CHECK_OK(hx_device_mesh_take(&c, &device, one));
    CHECK(a == c && a != b && a->n_elem == one->n_elem && b->n_node == two->n_node);
    CHECK(allocated == mesh_bytes(one) + mesh_bytes(two));
    CHECK(!a->d_node_elem_ptr && !a->d_node_elem);
    CHECK_OK(hx_device_mesh_need_lists(&device, a));
    CHECK_OK(hx_device_mesh_need_lists(&device, c)); /* uploaded already */
    CHECK(a->d_node_elem_ptr && a->d_node_elem && !b->d_node_elem);
    CHECK(allocated == mesh_bytes(one) + mesh_bytes(two) + list_bytes(one));
    CHECK(hx_device_mesh_list_bytes(one) == list_bytes(one));
    hx_device_mesh_drop(&device, a);
    CHECK(hx_device_mesh_find(&device, one) == c);
    hx_device_mesh_drop(&device, b);
    CHECK(hx_device_mesh_find(&device, two) == NULL);
    hx_device_mesh_drop(&device, c);
    CHECK(device.mesh == NULL);
    for (int i = 1; i <= 2; i++) {
        n_failing = i;
        CHECK(hx_device_mesh_take(&a, &device, one) == HX_ENOMEM && !a && !device.mesh);
    }
    CHECK_OK(hx_device_mesh_take(&a, &device, one));
    for (int i = 1; i <= 2; i++) { /* what was uploaded before a failure is not uploaded again */
        n_failing = i;
        CHECK(hx_device_mesh_need_lists(&device, a) == HX_ENOMEM && !a->d_node_elem);
        n_failing = 0;
        allocated = 0;
    }
    n_failing = 0;
    CHECK_OK(hx_device_mesh_need_lists(&device, a));
    hx_device_mesh_drop(&device, a);
}

/* The filtered densities of a filter whose operator, if it had one, has been freed. */
static void filtered(const hx_problem *problem, int with_operator, double *out)
{
    const hx_filter_params params = {.radius = 1.0};
    const hx_filter_kind *kind = hx_filter_find("helmholtz");
    const size_t n = (size_t)problem->mesh->n_elem;
    const size_t promised = hx_filter_bytes(kind, problem, &params);
    uint64_t state = 3;
    hx_operator op = {0};
    hx_filter filter;
    if (with_operator) {
        allocated = 0;
        CHECK_OK(hx_operator_create(&op, &device, hx_operator_kind_find(whole->name, "otf"),
                                    HX_LAYOUT_INTERLEAVED, problem, 0));
        CHECK_MSG(allocated <= op.device_bytes, "operator: %zu bytes, not %zu", allocated,
                  op.device_bytes);
    }
    allocated = 0;
    CHECK_OK(hx_filter_create(&filter, kind, &device, problem, &params));
    const size_t besides = with_operator ? 0 : mesh_bytes(problem->mesh);
    CHECK_MSG(allocated <= promised + besides, "filter: %zu bytes, not %zu", allocated,
              promised + besides);
    CHECK_MSG(allocated + 4096 >= promised + besides, "filter: %zu bytes, promised %zu", allocated,
              promised + besides); /* PCG's vectors are rounded up in size */
    hx_operator_free(&op);
    for (size_t e = 0; e < n; e++) out[e] = fixture_uniform(&state, 0.1, 1.0);
    double *d_design = fixture_put(&device, n, out), *d_out = fixture_put(&device, n, out);
    CHECK_OK(hx_filter_forward(&filter, d_design, d_out));
    fixture_get(&device, n, out, d_out);
    device.ops->release(&device, d_design);
    device.ops->release(&device, d_out);
    hx_filter_free(&filter);
    CHECK(device.mesh == NULL);
}

int main(int argc, char **argv)
{
    const fixture_box box[2] = {{{9, 7, 8}, {3.0, 2.0, 2.0}, 0.15, 1},
                                {{5, 3, 3}, {2.0, 1.0, 1.0}, 0.15, 1}};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.1, -1.0}, 1};
    const int status = fixture_open_small(&device, argc, argv);
    hx_problem_params params = fixture_problem();
    hx_device_ops counting;
    hx_mesh mesh[2];
    hx_problem problem;
    if (status != 0) return status;
    whole = device.ops;
    counting = *whole;
    counting.alloc = counted_alloc;
    device.ops = &counting;
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(fixture_box_create(&mesh[i], &box[i]));
        CHECK_OK(fixture_finish(&mesh[i], FIXTURE_REORDERED));
    }
    CHECK_OK(hx_problem_create(&problem, &mesh[0], &params));
    test_holders(&mesh[0], &mesh[1]);

    const size_t n = (size_t)mesh[0].n_elem;
    double *shared = malloc(n * sizeof *shared), *alone = malloc(n * sizeof *alone);
    CHECK(shared && alone);
    filtered(&problem, 1, shared);
    filtered(&problem, 0, alone);
    CHECK(memcmp(shared, alone, n * sizeof *shared) == 0);
    free(shared);
    free(alone);

    device.ops = whole;
    hx_problem_free(&problem);
    hx_mesh_free(&mesh[0]);
    hx_mesh_free(&mesh[1]);
    hx_device_close(&device);
    TEST_END();
}
